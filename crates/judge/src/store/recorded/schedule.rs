//! What has to happen by when, if loads take effect where they were recorded.
//!
//! From the recorded order and from who read what follow, for each write: the first event before
//! which it must have reached the memory (its deadline), and until when its value must stay there.
//! The deadline is the first of: a read of it in another thread, a later read of its own thread that
//! sees another value at its address, a fence or an atomic that its thread's stores are kept before,
//! and the deadline of whatever must not overtake it.

use history::{EventId, History, Operation, Source};
use models::{Keeps, StoreRules};
use rustc_hash::FxHashMap;

/// No event, and a deadline that never comes.
pub(super) const NEVER: u32 = u32::MAX;

/// Rounds in which deadlines are derived from each other.
const ROUNDS: usize = 6;

/// How many writes of its address are looked at on either side of one whose deadline has changed.
const NEAR: usize = 32;

/// The recorded order with what follows from it.
pub(super) struct Schedule {
    pub(super) order: Vec<EventId>,
    /// The place of each event in that order.
    pub(super) position: Vec<u32>,
    /// What each event read, by index: a write, or [`NEVER`] for the initial value.
    pub(super) source: Vec<u32>,
    /// For each access the last earlier write of its thread to its address.
    pub(super) own: Vec<u32>,
    /// For each write the next write of its thread to its address.
    pub(super) next_own: Vec<u32>,
    /// Before which place in the order each write must have reached the memory.
    pub(super) deadline: Vec<u32>,
    /// Which writes others read.
    is_seen: Vec<bool>,
    /// The place of the last read of each write.
    pub(super) last_read: Vec<u32>,
    /// How many events read each write, and how many the initial value of each address.
    pub(super) readers: Vec<u32>,
    pub(super) initial_readers: Vec<u32>,
    /// The writes of each address, first deadline first.
    pub(super) by_deadline: Vec<Vec<u32>>,
    /// Whether these are in order, and kept so.
    is_sorted: bool,
    /// Which writes of its thread go before it: those of a lower number.
    pub(super) epoch: Vec<u32>,
    /// For each write the one before it in its thread.
    previous: Vec<u32>,
    /// For the first read behind a fence that stores are kept before: that fence.
    pub(super) fence: Vec<u32>,
    /// Writes that must wait for others, as earlier passes have shown.
    pub(super) waits_for: FxHashMap<u32, Vec<u32>>,
    /// Forwarded reads take effect with their store: every read follows what it read.
    pub(super) reads_follow: bool,
}

impl Schedule {
    /// The schedule of a recorded order, unless a value was read before it was written.
    pub(super) fn new(history: &History, rules: &StoreRules, order: Vec<EventId>) -> Option<Self> {
        let mut position = vec![0u32; history.len()];
        for (at, event) in (0..).zip(&order) {
            position[event.index()] = at;
        }
        let own = own_writes(history);
        let source = sources(history, &order, &position, &own)?;
        let mut next_own = vec![NEVER; history.len()];
        for event in history.event_ids().filter(|&event| history.kinds_of(event).writes) {
            let own = own[event.index()];
            if own != NEVER {
                next_own[own as usize] = event.index() as u32;
            }
        }
        let mut schedule = Self {
            deadline: vec![NEVER; history.len()],
            is_seen: vec![false; history.len()],
            last_read: vec![0; history.len()],
            readers: vec![0; history.len()],
            initial_readers: vec![0; history.address_count()],
            by_deadline: Vec::new(),
            is_sorted: false,
            epoch: vec![0; history.len()],
            previous: vec![NEVER; history.len()],
            fence: vec![NEVER; history.len()],
            waits_for: FxHashMap::default(),
            reads_follow: !rules.global,
            order,
            position,
            source,
            own,
            next_own,
        };
        schedule.count_readers(history);
        schedule.finals(history);
        schedule.epochs(history, rules.write_write == Keeps::Always && rules.global);
        schedule.in_threads(history);
        schedule.by_deadline = history
            .address_ids()
            .map(|address| {
                let writes = history.address(address).writes.iter();
                writes.map(|write| write.index() as u32).collect()
            })
            .collect();
        let all = history.address_ids().map(|address| address.index()).collect();
        schedule.derive(history, all);
        Some(schedule)
    }

    /// Stores that need not reach the memory. None where forwarded reads wait for their store:
    /// they would have to wait as well.
    pub(super) fn pending(&self, history: &History) -> Vec<EventId> {
        if self.reads_follow {
            return Vec::new();
        }
        let is_pending = |event: &EventId| {
            history.kinds_of(*event).writes && self.deadline[event.index()] == NEVER
        };
        history.event_ids().filter(is_pending).collect()
    }

    /// Learns that the first write belongs before the second. Gives the addresses whose writes have
    /// moved among those by deadline, and how far forward.
    pub(super) fn learn(
        &mut self,
        history: &History,
        first: u32,
        second: u32,
    ) -> Vec<(usize, usize)> {
        self.waits_for.entry(second).or_default().push(first);
        let earlier = vec![(first, self.deadline[second as usize])];
        let mut moved = self.bring_forward(history, earlier);
        let mut fresh = 0;
        for _ in 0..ROUNDS {
            let mut earlier = Vec::new();
            for &(address, place) in &moved[fresh..] {
                self.near(history, address, place, &mut earlier);
            }
            fresh = moved.len();
            moved.extend(self.bring_forward(history, earlier));
        }
        moved
    }

    /// Who is read how often and how long, and what reads alone say about deadlines.
    fn count_readers(&mut self, history: &History) {
        for (at, &event) in (0..).zip(&self.order) {
            let read = event.index();
            if !history.kinds_of(event).reads {
                continue;
            }
            let Some(address) = history.address_of(event) else { continue };
            let source = self.source[read];
            match source {
                NEVER => self.initial_readers[address.index()] += 1,
                write => {
                    let write = write as usize;
                    self.readers[write] += 1;
                    self.last_read[write] = at;
                    let is_own = history.thread_of(EventId::new(write)) == history.thread_of(event);
                    if !is_own || history.kinds_of(event).writes {
                        self.deadline[write] = self.deadline[write].min(at);
                        self.is_seen[write] = true;
                    }
                }
            }
            // It did not see the last write of its own thread in the buffer.
            let own = self.own[read];
            if own != NEVER && own != source {
                self.deadline[own as usize] = self.deadline[own as usize].min(at);
            }
        }
    }

    /// A `final` line reads its write behind the last event, by when all others have to be gone.
    fn finals(&mut self, history: &History) {
        let end = self.order.len() as u32;
        for f in history.finals() {
            let writes = f.sources.iter().filter_map(|source| match source {
                Source::Write(write) => Some(write.index()),
                Source::Initial => None,
            });
            match writes.max_by_key(|&write| self.position[write]) {
                Some(last) => {
                    self.readers[last] += 1;
                    self.last_read[last] = end;
                }
                None => self.initial_readers[f.address.index()] += 1,
            }
            for write in &history.address(f.address).writes {
                let deadline = &mut self.deadline[write.index()];
                *deadline = end.min(*deadline);
            }
        }
    }

    /// Which stores of a thread wait for which, and which reads for them.
    fn epochs(&mut self, history: &History, in_order: bool) {
        for thread in history.threads() {
            let (mut epoch, mut fence, mut previous) = (0, NEVER, NEVER);
            for event in history.thread_events(thread) {
                self.epoch[event.index()] = epoch;
                let kinds = history.kinds_of(event);
                if kinds.writes {
                    self.previous[event.index()] = previous;
                    previous = event.index() as u32;
                }
                if kinds.reads {
                    self.fence[event.index()] = std::mem::replace(&mut fence, NEVER);
                }
                let mut starts_epoch = in_order && kinds.writes;
                if !kinds.reads
                    && !kinds.writes
                    && let Operation::Fence { before, after } = history.event(event).operation
                {
                    if before.writes && after.reads {
                        fence = event.index() as u32;
                    }
                    starts_epoch |= before.writes && after.writes;
                }
                epoch += u32::from(starts_epoch);
            }
        }
    }

    /// What deadlines say about each other, beginning with those of these addresses, as far as a
    /// number of rounds finds it.
    fn derive(&mut self, history: &History, mut addresses: Vec<usize>) {
        for _ in 0..ROUNDS {
            let mut earlier = Vec::new();
            for address in addresses {
                self.at_address(history, address, &mut earlier);
            }
            let moved = self.bring_forward(history, earlier);
            addresses = moved.into_iter().map(|(address, _)| address).collect();
            addresses.sort_unstable();
            addresses.dedup();
        }
        addresses.into_iter().for_each(|address| self.sort(address));
        self.is_sorted = true;
    }

    fn sort(&mut self, address: usize) {
        // Few have moved since the last time, and this sort merges what is in order already.
        self.by_deadline[address].sort_by_key(|&write| self.deadline[write as usize]);
    }

    fn at_address(&mut self, history: &History, address: usize, earlier: &mut Vec<(u32, u32)>) {
        self.sort(address);
        self.in_between(history, &self.by_deadline[address], earlier);
    }

    /// The same for the writes near one that has moved.
    fn near(&self, history: &History, address: usize, place: usize, earlier: &mut Vec<(u32, u32)>) {
        let writes = &self.by_deadline[address];
        let (start, end) = (place.saturating_sub(NEAR), writes.len().min(place + NEAR));
        self.in_between(history, &writes[start..end], earlier);
    }

    /// From the first read of a write in another thread to its last read, its address holds it. What
    /// is due in between has to go before it.
    fn in_between(&self, history: &History, writes: &[u32], earlier: &mut Vec<(u32, u32)>) {
        let (mut from, mut to) = (0, 0);
        for &write in writes {
            let deadline = self.deadline[write as usize];
            // An atomic has its place, which may be that of the last read.
            let is_atomic = history.kinds_of(EventId::new(write as usize)).reads;
            if deadline > from && deadline <= to && !is_atomic {
                earlier.push((write, from));
            } else if self.is_seen[write as usize] {
                (from, to) = (deadline, self.last_read[write as usize]);
            }
        }
    }

    /// Makes deadlines earlier, with those of whatever must not be overtaken. Gives the address of
    /// each write that this concerns, and its new place if those of the address are sorted.
    fn bring_forward(
        &mut self,
        history: &History,
        mut earlier: Vec<(u32, u32)>,
    ) -> Vec<(usize, usize)> {
        let mut moved = Vec::new();
        while let Some((write, by)) = earlier.pop() {
            let at = write as usize;
            if self.deadline[at] <= by || history.kinds_of(EventId::new(at)).reads {
                continue;
            }
            if let Some(address) = history.address_of(EventId::new(at)) {
                moved.push((address.index(), self.new_place(address.index(), write, by)));
            }
            self.deadline[at] = by;
            if self.own[at] != NEVER {
                earlier.push((self.own[at], by));
            }
            // The stores of the epoch before; those push their own.
            let mut before = self.previous[at];
            while before != NEVER && self.epoch[before as usize] == self.epoch[at] {
                before = self.previous[before as usize];
            }
            let epoch = if before == NEVER { 0 } else { self.epoch[before as usize] };
            while before != NEVER && self.epoch[before as usize] == epoch {
                earlier.push((before, by));
                before = self.previous[before as usize];
            }
        }
        moved
    }

    /// Moves a write to its place among those of its address by an earlier deadline.
    fn new_place(&mut self, address: usize, write: u32, by: u32) -> usize {
        if !self.is_sorted {
            return 0;
        }
        let (writes, deadline) = (&mut self.by_deadline[address], &self.deadline);
        let old = deadline[write as usize];
        let first = writes.partition_point(|&other| deadline[other as usize] < old);
        let Some(same) = writes[first..].iter().position(|&other| other == write) else {
            return first;
        };
        let place = writes[..first].partition_point(|&other| deadline[other as usize] <= by);
        writes[place..=first + same].rotate_right(1);
        place
    }

    /// What fences, atomics and the order of stores say about deadlines.
    fn in_threads(&mut self, history: &History) {
        for thread in history.threads() {
            // Walking back: when earlier stores are due at the latest, and the first deadline of the
            // epoch, which becomes that of all earlier ones.
            let (mut due, mut first, mut epoch) = (NEVER, NEVER, u32::MAX);
            let mut next_read = NEVER;
            for event in history.thread_events(thread).rev() {
                let at = event.index();
                if self.epoch[at] != epoch {
                    epoch = self.epoch[at];
                    due = due.min(first);
                }
                let kinds = history.kinds_of(event);
                if kinds.reads {
                    next_read = self.position[at];
                }
                if kinds.writes {
                    let by = if kinds.reads { self.position[at] } else { due };
                    self.deadline[at] = self.deadline[at].min(by);
                    self.overtaken(at);
                    first = first.min(self.deadline[at]);
                } else if !kinds.reads
                    && let Operation::Fence { before, after } = history.event(event).operation
                    && before.writes
                    && after.reads
                {
                    due = due.min(next_read);
                }
            }
        }
    }

    /// The thread's last write of the same address is not overtaken by this one.
    fn overtaken(&mut self, write: usize) {
        let own = self.own[write];
        if own != NEVER {
            let deadline = self.deadline[write];
            self.deadline[own as usize] = self.deadline[own as usize].min(deadline);
        }
    }
}

/// For each access the last earlier write of its thread to its address.
fn own_writes(history: &History) -> Vec<u32> {
    let mut own = vec![NEVER; history.len()];
    let mut last = vec![(NEVER, NEVER); history.address_count()];
    for thread in history.threads() {
        let number = thread.index() as u32;
        for event in history.thread_events(thread) {
            let Some(address) = history.address_of(event) else { continue };
            let last = &mut last[address.index()];
            if last.0 == number {
                own[event.index()] = last.1;
            }
            if history.kinds_of(event).writes {
                *last = (number, event.index() as u32);
            }
        }
    }
    own
}

/// What each event read. Where several writes have the value, the last one of its own thread, or
/// the one that was recorded last. `None` if a value was read before it was written.
fn sources(
    history: &History,
    order: &[EventId],
    position: &[u32],
    own: &[u32],
) -> Option<Vec<u32>> {
    let mut source = vec![NEVER; history.len()];
    let mut latest: FxHashMap<(usize, u64), u32> = FxHashMap::default();
    let unambiguous = history.is_unambiguous();
    for (at, &event) in (0..).zip(order) {
        let operation = history.event(event).operation;
        let Some(address) = operation.address().map(|address| address.index()) else { continue };
        if let Some(value) = operation.value_read() {
            source[event.index()] = match history.only_source(event) {
                Some(Source::Initial) => NEVER,
                Some(Source::Write(write)) if position[write.index()] < at => write.index() as u32,
                Some(Source::Write(_)) => return None,
                None if sees_own(history, own[event.index()], value) => own[event.index()],
                None => match latest.get(&(address, value)) {
                    Some(&write) => write,
                    None if history.sources(event).contains(&Source::Initial) => NEVER,
                    None => return None,
                },
            };
        }
        if let Some(value) = operation.value_written().filter(|_| !unambiguous) {
            latest.insert((address, value), event.index() as u32);
        }
    }
    Some(source)
}

fn sees_own(history: &History, own: u32, value: u64) -> bool {
    own != NEVER
        && history.event(EventId::new(own as usize)).operation.value_written() == Some(value)
}
