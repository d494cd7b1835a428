//! Random histories of mixed sizes: runs of machines that forward bytes from store buffers, and near
//! misses.
//!
//! A few threads access a few bytes with accesses of different sizes, most of them aligned. Stores
//! wait in the buffer of their thread and leave it in order, or past each other where they do not
//! overlap. A load takes each byte from the youngest store of its own buffer, else from memory; some
//! loads take some bytes from a memory of the past, which is what broken machines do. Small values
//! repeat, so that the source of a byte is often open.

use history::{
    AddressId, Builder, ByteRange, DependencyKind, Draft, History, Kinds, Operation, ThinAir,
    Times, WriteName,
};

use crate::Rng;

const BASE: u64 = 0x100;

/// A random history of mixed sizes: up to eight events, at most five of them writes.
pub fn random_sized_history(seed: u64) -> History {
    for attempt in 0.. {
        let mut machine = Machine::new(Rng::numbered(seed, attempt));
        machine.run();
        // A byte of the past may be one that its new neighbours were never seen with.
        if let Ok(history) = machine.builder.finish(ThinAir::Malformed)
            && history.mixed().is_some()
        {
            return history;
        }
    }
    unreachable!("attempts do not end")
}

struct Store {
    event: Option<Draft>,
    range: ByteRange,
    value: u128,
}

struct Machine {
    rng: Rng,
    builder: Builder,
    bytes: u64,
    /// The memory after each change.
    memories: Vec<Vec<u8>>,
    buffers: Vec<Vec<Store>>,
    /// Named writes, in the order in which they reached memory.
    drained: Vec<(ByteRange, String)>,
    readers: Vec<Vec<String>>,
    next_value: u128,
    unique: bool,
    /// How often a load takes bytes of the past.
    stale: u32,
    /// Whether stores wait at all, and whether they may pass each other.
    buffered: bool,
    reorders: bool,
    clock: u64,
    timed: bool,
}

impl Machine {
    fn new(mut rng: Rng) -> Self {
        let threads = 1 + rng.below(3);
        let bytes = [2, 4, 4, 8, 17][rng.below(5)];
        let stale = [0, 20, 50][rng.below(3)];
        Self {
            builder: Builder::new(),
            bytes,
            memories: vec![vec![0; bytes as usize]],
            buffers: (0..threads).map(|_| Vec::new()).collect(),
            drained: Vec::new(),
            readers: vec![Vec::new(); threads],
            next_value: 0,
            unique: rng.percent(50),
            stale,
            buffered: rng.percent(70),
            reorders: rng.percent(40),
            clock: 0,
            timed: rng.percent(15),
            rng,
        }
    }

    fn run(&mut self) {
        self.say_initial();
        let (mut writes, events) = (0, 3 + self.rng.below(6));
        let mut said = 0;
        while said < events {
            let thread = self.rng.below(self.buffers.len());
            if self.rng.percent(35) {
                self.drain(thread);
                continue;
            }
            let kind = self.rng.below(100);
            match kind {
                0..45 => self.load(thread),
                45..85 if writes < 5 => self.store(thread),
                85..93 if writes < 5 => self.exchange(thread),
                _ if kind >= 93 => self.fence(thread),
                _ => self.load(thread),
            }
            writes += usize::from((45..93).contains(&kind));
            said += 1;
        }
        for thread in 0..self.buffers.len() {
            self.drain_all(thread);
        }
        self.say_final();
        self.say_order();
    }

    fn memory(&self) -> &[u8] {
        self.memories.last().map_or(&[], |memory| memory)
    }

    /// Some bytes; most accesses are aligned.
    fn range(&mut self) -> ByteRange {
        loop {
            let size = [1, 1, 2, 2, 4, 8, 16, 3][self.rng.below(8)];
            let start = BASE + self.rng.below(self.bytes as usize) as u64;
            let inside = start + u64::from(size) <= BASE + self.bytes;
            let range = ByteRange::new(start, size)
                .filter(|range| inside && (range.is_aligned() || self.rng.percent(10)));
            if let Some(range) = range {
                return range;
            }
        }
    }

    fn value(&mut self, range: ByteRange) -> u128 {
        self.next_value += 1;
        let byte = if self.unique { self.next_value } else { 1 + self.rng.below(2) as u128 };
        let mut value = 0;
        for at in 0..range.size() {
            let byte = if self.unique || self.rng.percent(70) { byte } else { 0 };
            value |= byte << (8 * at);
        }
        value
    }

    fn say_initial(&mut self) {
        while self.rng.percent(15) {
            let range = self.range();
            if range.size() > 8 {
                continue;
            }
            let value = self.value(range);
            let address = self.builder.address_of_bytes(range);
            let mut memory = self.memory().to_vec();
            let untouched = read(&memory, range) == 0;
            if untouched && self.builder.initial(address, value as u64, 0).is_ok() {
                write(&mut memory, range, value);
                self.memories = vec![memory];
            }
            break;
        }
    }

    fn say_final(&mut self) {
        if self.rng.percent(20) {
            let range = self.range();
            if range.size() <= 8 {
                let memory = if self.rng.percent(70) {
                    self.memories.len() - 1
                } else {
                    self.rng.below(self.memories.len())
                };
                let value = read(&self.memories[memory], range);
                let address = self.builder.address_of_bytes(range);
                let _ = self.builder.final_value(address, value as u64, 0);
            }
        }
    }

    fn address(&mut self, range: ByteRange) -> AddressId {
        self.builder.address_of_bytes(range)
    }

    fn event(&mut self, thread: usize, operation: Operation, upper: [u128; 2]) -> Draft {
        let event = self.builder.event(thread as u64, operation, 0).expect("a value of its size");
        let [read, written] = upper.map(|value| (value >> 64) as u64);
        self.builder.upper_bytes(event, read, written).expect("a value of its size");
        if self.timed && self.rng.percent(60) {
            self.clock += self.rng.below(3) as u64;
            let end = self.clock + self.rng.below(4) as u64;
            let times = Times { begin: Some(self.clock), end: Some(end) };
            self.builder.times(event, times).expect("it ends after it began");
        }
        if !self.readers[thread].is_empty() && self.rng.percent(25) {
            let at = self.rng.below(self.readers[thread].len());
            let name = self.readers[thread][at].clone();
            let kind = DependencyKind::Address;
            self.builder.dependency_of_kind(event, &name, kind).expect("an earlier read");
        }
        event
    }

    fn name(&mut self, thread: usize, event: Draft) {
        if self.rng.percent(30) {
            let name = format!("r{thread}_{}", self.readers[thread].len());
            self.builder.name(event, &name).expect("a new name");
            self.readers[thread].push(name);
        }
    }

    /// What a load of a thread sees.
    fn seen(&mut self, thread: usize, range: ByteRange) -> u128 {
        let old = self.rng.below(self.memories.len());
        let stale = self.rng.percent(self.stale);
        let mut bytes = self.memory().to_vec();
        for (at, byte) in bytes.iter_mut().enumerate() {
            if stale && self.rng.percent(60) {
                *byte = self.memories[old][at];
            }
        }
        let ignores_buffer = stale && self.rng.percent(20);
        for store in self.buffers[thread].iter().filter(|_| !ignores_buffer) {
            write(&mut bytes, store.range, store.value);
        }
        read(&bytes, range)
    }

    fn load(&mut self, thread: usize) {
        let range = self.range();
        let seen = self.seen(thread, range);
        let address = self.address(range);
        let event = self.event(thread, Operation::Read { address, value: seen as u64 }, [seen, 0]);
        self.name(thread, event);
    }

    fn store(&mut self, thread: usize) {
        let range = self.range();
        let value = self.value(range);
        let address = self.address(range);
        let event =
            self.event(thread, Operation::Write { address, value: value as u64 }, [0, value]);
        self.buffers[thread].push(Store { event: Some(event), range, value });
        if !self.buffered {
            self.drain_all(thread);
        }
    }

    fn exchange(&mut self, thread: usize) {
        self.drain_all(thread);
        let range = self.range();
        let (seen, value) = (self.seen(thread, range), self.value(range));
        let address = self.address(range);
        let operation =
            Operation::ReadModifyWrite { address, read: seen as u64, write: value as u64 };
        let event = self.event(thread, operation, [seen, value]);
        self.name(thread, event);
        self.buffers[thread].push(Store { event: None, range, value });
        self.drain_all(thread);
    }

    fn fence(&mut self, thread: usize) {
        let kinds = [Kinds::READS, Kinds::WRITES, Kinds::ALL];
        let (before, after) = (kinds[self.rng.below(3)], kinds[self.rng.below(3)]);
        let operation =
            if self.rng.percent(60) { Operation::SYNC } else { Operation::Fence { before, after } };
        self.event(thread, operation, [0, 0]);
        self.drain_all(thread);
    }

    /// A store leaves its buffer: the oldest, or one that overlaps no older one.
    fn drain(&mut self, thread: usize) {
        let buffer = &self.buffers[thread];
        if buffer.is_empty() {
            return;
        }
        let chosen = if self.reorders { self.rng.below(buffer.len()) } else { 0 };
        let free = !buffer[..chosen].iter().any(|s| s.range.overlaps(buffer[chosen].range));
        let Store { event, range, value } =
            self.buffers[thread].remove(if free { chosen } else { 0 });
        let mut memory = self.memory().to_vec();
        write(&mut memory, range, value);
        self.memories.push(memory);
        let name = format!("w{}", self.memories.len());
        if let Some(event) = event
            && self.rng.percent(30)
            && self.builder.name(event, &name).is_ok()
        {
            self.drained.push((range, name));
        }
    }

    /// An `order` line about two writes of the same bytes, mostly as they left their buffers.
    fn say_order(&mut self) {
        let Some((last, name)) = self.drained.pop() else { return };
        let Some((_, first)) = self.drained.iter().find(|(range, _)| *range == last) else {
            return;
        };
        let mut names = [first, &name].map(|name| WriteName::Name(name.as_str().into()));
        if self.rng.percent(30) {
            names.reverse();
        }
        let address = self.builder.address_of_bytes(last);
        self.builder.order(address, names.into(), 0);
    }

    fn drain_all(&mut self, thread: usize) {
        while !self.buffers[thread].is_empty() {
            self.drain(thread);
        }
    }
}

fn read(memory: &[u8], range: ByteRange) -> u128 {
    let first = (range.start() - BASE) as usize;
    let bytes = memory[first..first + usize::from(range.size())].iter();
    bytes.rev().fold(0, |value, &byte| value << 8 | u128::from(byte))
}

fn write(memory: &mut [u8], range: ByteRange, value: u128) {
    let first = (range.start() - BASE) as usize;
    let bytes = &mut memory[first..first + usize::from(range.size())];
    for (byte, new) in bytes.iter_mut().zip(value.to_le_bytes()) {
        *byte = new;
    }
}
