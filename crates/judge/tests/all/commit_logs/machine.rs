//! A small RISC-V machine that writes commit logs in the style of Spike: several harts, each with a
//! buffer of stores that leave it in any order but for one address, and faults to switch on.
//!
//! It encodes and runs its programs itself and shares nothing with the decoder of the readers.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use oracle::Rng;

/// An instruction. Registers by number; branches go to an instruction by its number.
#[derive(Clone, Copy, Debug)]
pub(super) enum Op {
    Lui(u32, u32),
    Addi(u32, u32, i32),
    Add(u32, u32, u32),
    Xor(u32, u32, u32),
    /// Bytes, register, base, offset.
    Load(u32, u32, u32, i32),
    Store(u32, u32, u32, i32),
    /// Before and after: reads 2, writes 1.
    Fence(u32, u32),
    Bne(u32, u32, usize),
    /// `amoadd.w` with annotation: acquire 2, release 1.
    AmoAdd(u32, u32, u32, u32),
    LoadReserved(u32, u32),
    StoreConditional(u32, u32, u32),
}

/// What the machine does wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    None,
    /// Fences do not wait for the store buffer.
    FenceIgnored,
    /// Loads may return what memory held some stores ago.
    StaleLoads,
}

#[derive(Default)]
struct Hart {
    next: usize,
    registers: [u64; 32],
    buffer: Vec<(u64, u32, u64)>,
    /// The address that is reserved, and how often it had been written.
    reserved: Option<(u64, usize)>,
}

/// The machine.
pub(super) struct Machine {
    harts: Vec<Hart>,
    programs: Vec<Vec<Op>>,
    /// By eight bytes, all that they held, the latest last.
    memory: BTreeMap<u64, Vec<u64>>,
    /// Which of these a hart has seen.
    seen: BTreeMap<(usize, u64), usize>,
    fault: Fault,
    rng: Rng,
    pub(super) log: String,
}

impl Op {
    fn word(self, at: usize) -> u32 {
        let signed = |value: i32, bits: u32| value as u32 & ((1 << bits) - 1);
        let width = |bytes: u32| bytes.trailing_zeros();
        match self {
            Op::Lui(rd, upper) => 0x37 | rd << 7 | upper << 12,
            Op::Addi(rd, rs1, value) => 0x13 | rd << 7 | rs1 << 15 | signed(value, 12) << 20,
            Op::Add(rd, rs1, rs2) => 0x33 | rd << 7 | rs1 << 15 | rs2 << 20,
            Op::Xor(rd, rs1, rs2) => 0x4033 | rd << 7 | rs1 << 15 | rs2 << 20,
            Op::Load(bytes, rd, rs1, offset) => {
                0x03 | rd << 7 | width(bytes) << 12 | rs1 << 15 | signed(offset, 12) << 20
            }
            Op::Store(bytes, rs2, rs1, offset) => {
                let offset = signed(offset, 12);
                0x23 | (offset & 31) << 7
                    | width(bytes) << 12
                    | rs1 << 15
                    | rs2 << 20
                    | (offset >> 5) << 25
            }
            Op::Fence(before, after) => 0x0f | after << 20 | before << 24,
            Op::Bne(rs1, rs2, to) => {
                let offset = signed((to as i32 - at as i32) * 4, 13);
                0x1063
                    | (offset >> 11 & 1) << 7
                    | (offset >> 1 & 15) << 8
                    | rs1 << 15
                    | rs2 << 20
                    | (offset >> 5 & 63) << 25
                    | (offset >> 12 & 1) << 31
            }
            Op::AmoAdd(rd, rs2, rs1, order) => {
                0x202f | rd << 7 | rs1 << 15 | rs2 << 20 | order << 25
            }
            Op::LoadReserved(rd, rs1) => 0x1000_202f | rd << 7 | rs1 << 15,
            Op::StoreConditional(rd, rs2, rs1) => 0x1800_202f | rd << 7 | rs1 << 15 | rs2 << 20,
        }
    }
}

fn low(value: u64, bytes: u32) -> u64 {
    if bytes == 8 { value } else { value & ((1 << (8 * bytes)) - 1) }
}

fn extended(value: u64, bytes: u32) -> u64 {
    let shift = 64 - 8 * bytes;
    (((value << shift) as i64) >> shift) as u64
}

impl Machine {
    pub(super) fn new(programs: Vec<Vec<Op>>, fault: Fault, seed: u64) -> Self {
        let harts = programs.iter().map(|_| Hart::default()).collect();
        let (memory, seen) = (BTreeMap::new(), BTreeMap::new());
        Machine { harts, programs, memory, seen, fault, rng: Rng::new(seed), log: String::new() }
    }

    /// Runs until all harts are done, or for so many steps.
    pub(super) fn run(mut self, steps: usize) -> String {
        for _ in 0..steps {
            let hart = self.rng.below(self.harts.len());
            let done = self.harts[hart].next >= self.programs[hart].len();
            let waiting = !self.harts[hart].buffer.is_empty();
            match (done, waiting) {
                (true, true) => self.drain(hart),
                (true, false) if self.is_over() => break,
                (true, false) => {}
                (false, true) if self.rng.percent(30) => self.drain(hart),
                (false, _) => self.step(hart),
            }
        }
        self.log
    }

    fn is_over(&self) -> bool {
        let mut harts = self.harts.iter().zip(&self.programs);
        harts.all(|(hart, program)| hart.next >= program.len() && hart.buffer.is_empty())
    }

    /// A store reaches memory: any that no earlier one of the same eight bytes stands before.
    fn drain(&mut self, hart: usize) {
        let length = self.harts[hart].buffer.len();
        let mut at = self.rng.below(length);
        let place = self.harts[hart].buffer[at].0 >> 3;
        at = self.harts[hart].buffer.iter().position(|each| each.0 >> 3 == place).unwrap_or(at);
        let (address, bytes, value) = self.harts[hart].buffer.remove(at);
        self.write(hart, address, bytes, value);
    }

    fn drain_all(&mut self, hart: usize) {
        while !self.harts[hart].buffer.is_empty() {
            self.drain(hart);
        }
    }

    fn write(&mut self, hart: usize, address: u64, bytes: u32, value: u64) {
        let versions = self.memory.entry(address >> 3).or_insert_with(|| vec![0]);
        let old = versions.last().copied().unwrap_or(0);
        let shift = 8 * (address & 7);
        let mask = low(u64::MAX, bytes) << shift;
        versions.push(old & !mask | value << shift & mask);
        self.seen.insert((hart, address >> 3), versions.len() - 1);
    }

    /// What a load returns: the latest own store in the buffer, else memory.
    fn read(&mut self, hart: usize, address: u64, bytes: u32) -> u64 {
        let key = (hart, address >> 3);
        let versions = self.memory.entry(address >> 3).or_insert_with(|| vec![0]);
        let stale = match self.fault {
            Fault::StaleLoads => self.rng.percent(60),
            Fault::None | Fault::FenceIgnored => false,
        };
        let oldest = self.seen.get(&key).copied().unwrap_or(0);
        let version = if stale { oldest } else { versions.len() - 1 };
        let mut whole = versions[version];
        let newest = self.seen.entry(key).or_insert(0);
        *newest = version.max(*newest);
        for &(at, size, value) in &self.harts[hart].buffer {
            if at >> 3 == address >> 3 {
                let shift = 8 * (at & 7);
                let mask = low(u64::MAX, size) << shift;
                whole = whole & !mask | value << shift & mask;
            }
        }
        low(whole >> (8 * (address & 7)), bytes)
    }

    fn step(&mut self, hart: usize) {
        let at = self.harts[hart].next;
        let op = self.programs[hart][at];
        let pc = 0x1000_0000 + (hart as u64) * 0x1000 + at as u64 * 4;
        let register = |number: u32| self.harts[hart].registers[number as usize];
        let address = |base: u32, offset: i32| register(base).wrapping_add_signed(offset.into());
        let mut next = at + 1;
        let mut result = None;
        let mut memory = String::new();
        match op {
            Op::Lui(rd, upper) => result = Some((rd, extended(u64::from(upper) << 12, 4))),
            Op::Addi(rd, rs1, value) => {
                result = Some((rd, register(rs1).wrapping_add_signed(value.into())));
            }
            Op::Add(rd, a, b) => result = Some((rd, register(a).wrapping_add(register(b)))),
            Op::Xor(rd, a, b) => result = Some((rd, register(a) ^ register(b))),
            Op::Load(bytes, rd, base, offset) => {
                let address = address(base, offset);
                result = Some((rd, extended(self.read(hart, address, bytes), bytes)));
                let _ = write!(memory, " mem {address:#018x}");
            }
            Op::Store(bytes, source, base, offset) => {
                let (address, value) = (address(base, offset), low(register(source), bytes));
                self.harts[hart].buffer.push((address, bytes, value));
                let digits = 2 + 2 * bytes as usize;
                let _ = write!(memory, " mem {address:#018x} {value:#0digits$x}");
            }
            Op::Fence(before, after) => {
                if self.fault != Fault::FenceIgnored && before & 1 != 0 && after != 0 {
                    self.drain_all(hart);
                }
            }
            Op::Bne(a, b, to) => {
                if register(a) != register(b) {
                    next = to;
                }
            }
            Op::AmoAdd(rd, source, base, _) => {
                let (address, operand) = (register(base), register(source));
                self.drain_all(hart);
                let old = self.latest(address);
                let new = low(old.wrapping_add(operand), 4);
                self.write(hart, address, 4, new);
                result = Some((rd, extended(old, 4)));
                let _ = write!(memory, " mem {address:#018x} mem {address:#018x} {new:#010x}");
            }
            Op::LoadReserved(rd, base) => {
                let address = register(base);
                self.drain_all(hart);
                let old = self.latest(address);
                result = Some((rd, extended(old, 4)));
                self.harts[hart].reserved = Some((address, self.versions(address)));
                let _ = write!(memory, " mem {address:#018x}");
            }
            Op::StoreConditional(rd, source, base) => {
                let (address, value) = (register(base), low(register(source), 4));
                self.drain_all(hart);
                let reserved = self.harts[hart].reserved.take();
                let succeeds = reserved == Some((address, self.versions(address)));
                if succeeds {
                    self.write(hart, address, 4, value);
                    let _ = write!(memory, " mem {address:#018x} {value:#010x}");
                }
                result = Some((rd, u64::from(!succeeds)));
            }
        }
        let _ = write!(self.log, "core{hart:4}: 3 {pc:#018x} ({:#010x})", op.word(at));
        if let Some((rd, value)) = result.filter(|&(rd, _)| rd != 0) {
            self.harts[hart].registers[rd as usize] = value;
            let _ = write!(self.log, " x{rd:<2} {value:#018x}");
        }
        self.log += &memory;
        self.log.push('\n');
        self.harts[hart].next = next;
    }

    /// The latest word at an address, and how often it has changed.
    fn latest(&self, address: u64) -> u64 {
        let versions = self.memory.get(&(address >> 3));
        let whole = versions.and_then(|all| all.last()).copied().unwrap_or(0);
        low(whole >> (8 * (address & 7)), 4)
    }

    fn versions(&self, address: u64) -> usize {
        self.memory.get(&(address >> 3)).map_or(0, Vec::len)
    }
}
