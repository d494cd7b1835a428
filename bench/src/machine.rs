//! A memory to record traces from: one memory behind a store buffer a thread, and a random
//! scheduler.
//!
//! With buffers of no places the traces are sequentially consistent by construction, with longer
//! ones they satisfy tso. Every write has a value of its own, as in efficient-tso-verification (§5)
//! and gradual-consistency-checking (§5). A [`Fault`] breaks one read, so that traces violate a
//! model in one place only. Events are made one at a time: ten million of them need no memory.

use std::collections::VecDeque;

use oracle::Rng;

/// What a thread did, as a trace shows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Access {
    /// Reads.
    Read { address: usize, value: u64 },
    /// Writes.
    Write { address: usize, value: u64 },
    /// Reads and writes at once.
    Atomic { address: usize, read: u64, write: u64 },
    /// A full fence.
    Fence,
}

/// One event of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Recorded {
    /// Who.
    pub(crate) thread: usize,
    /// What.
    pub(crate) access: Access,
}

/// How often each kind of instruction is drawn, as weights.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mix {
    /// Reads.
    pub(crate) loads: usize,
    /// Writes.
    pub(crate) stores: usize,
    /// Read-modify-writes.
    pub(crate) atomics: usize,
    /// Full fences.
    pub(crate) fences: usize,
}

impl Mix {
    /// The mix of efficient-tso-verification (§5): 33.3 % loads, 33.3 % stores, 30 % atomics and
    /// 1.7 % fences. The remaining 1.7 % are "others", which leave no event of memory in a trace:
    /// they are left out, and the sizes of traces count what is recorded.
    pub(crate) const TSOTOOL: Mix = Mix { loads: 333, stores: 333, atomics: 300, fences: 17 };

    /// Reads and writes, as in gradual-consistency-checking (§5).
    pub(crate) const READS_AND_WRITES: Mix = Mix { loads: 1, stores: 1, atomics: 0, fences: 0 };

    /// Mostly writes that nobody reads.
    pub(crate) const MOSTLY_WRITES: Mix = Mix { loads: 1, stores: 4, atomics: 0, fences: 0 };
}

/// The places of a store buffer that make a machine tso; see [`Shape::buffer`].
pub(crate) const TSO_BUFFER: usize = 8;

/// What one wrong read returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// What its thread saw last at the address, though others wrote it since: an invalidation that
    /// was missed. Each address on its own looks right; only causality shows it.
    MissedInvalidation,
    /// What an atomic of its own thread replaced long ago: no model allows it.
    Replaced,
}

/// What to record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Events in all.
    pub(crate) events: usize,
    /// Threads; each has its share of the events.
    pub(crate) threads: usize,
    /// Addresses.
    pub(crate) addresses: usize,
    /// How often each kind of instruction is drawn.
    pub(crate) mix: Mix,
    /// Places in the store buffer of a thread; none makes the memory sequentially consistent.
    pub(crate) buffer: usize,
    /// A read that goes wrong.
    pub(crate) fault: Option<Fault>,
}

impl Shape {
    /// A valid trace with the mix of efficient-tso-verification.
    pub(crate) fn tsotool(events: usize, threads: usize, addresses: usize, buffer: usize) -> Self {
        Self { events, threads, addresses, mix: Mix::TSOTOOL, buffer, fault: None }
    }

    /// The same with a fault.
    pub(crate) fn with_fault(self, fault: Fault) -> Self {
        Self { fault: Some(fault), ..self }
    }
}

#[derive(Clone, Copy)]
enum Instruction {
    Load,
    Store,
    Atomic,
    Fence,
}

struct Thread {
    label: usize,
    remaining: usize,
    /// An instruction that waits for the buffer, with its address.
    next: Option<(Instruction, usize)>,
    buffer: VecDeque<(usize, u64)>,
}

/// A running machine: an iterator over the events it records.
pub(crate) struct Machine {
    shape: Shape,
    rng: Rng,
    memory: Vec<u64>,
    running: Vec<Thread>,
    recorded: usize,
    last_value: u64,
    seen: Observations,
}

impl Machine {
    /// A machine with everything at 0; the same shape and seed record the same trace.
    pub(crate) fn new(shape: Shape, seed: u64) -> Self {
        let share =
            |t| shape.events / shape.threads + usize::from(t < shape.events % shape.threads);
        let running = (0..shape.threads).filter(|&t| share(t) > 0).map(|label| Thread {
            label,
            remaining: share(label),
            next: None,
            buffer: VecDeque::new(),
        });
        Self {
            rng: Rng::new(seed),
            memory: vec![0; shape.addresses],
            running: running.collect(),
            recorded: 0,
            last_value: 0,
            seen: Observations::new(&shape),
            shape,
        }
    }

    /// The thread in this place of the list makes a step; some steps only drain a buffer.
    fn step(&mut self, at: usize) -> Option<Access> {
        let (instruction, address) = match self.running[at].next {
            Some(waiting) => waiting,
            None => (self.draw(), self.rng.below(self.shape.addresses)),
        };
        let waiting = self.running[at].buffer.len();
        let blocked = match instruction {
            Instruction::Load => false,
            Instruction::Store => waiting > 0 && waiting == self.shape.buffer,
            Instruction::Atomic | Instruction::Fence => waiting > 0,
        };
        if blocked || (waiting > 0 && self.rng.percent(50)) {
            self.drain(at);
            self.running[at].next = Some((instruction, address));
            return None;
        }
        self.running[at].next = None;
        Some(match instruction {
            Instruction::Load => self.load(at, address),
            Instruction::Store => self.store(at, address),
            Instruction::Atomic => self.atomic(at, address),
            Instruction::Fence => Access::Fence,
        })
    }

    fn draw(&mut self) -> Instruction {
        let Mix { loads, stores, atomics, fences } = self.shape.mix;
        let drawn = self.rng.below(loads + stores + atomics + fences);
        match drawn {
            _ if drawn < loads => Instruction::Load,
            _ if drawn < loads + stores => Instruction::Store,
            _ if drawn < loads + stores + atomics => Instruction::Atomic,
            _ => Instruction::Fence,
        }
    }

    fn drain(&mut self, at: usize) {
        if let Some((address, value)) = self.running[at].buffer.pop_front() {
            self.land(address, value);
        }
    }

    fn land(&mut self, address: usize, value: u64) {
        self.memory[address] = value;
        self.seen.landed(address, self.recorded);
    }

    fn fresh(&mut self) -> u64 {
        self.last_value += 1;
        self.last_value
    }

    fn load(&mut self, at: usize, address: usize) -> Access {
        let thread = &self.running[at];
        let forwarded = thread.buffer.iter().rev().find(|entry| entry.0 == address);
        let value = match forwarded {
            Some(entry) => entry.1,
            None => {
                let value = self.memory[address];
                let now = self.recorded;
                self.seen.instead(&self.shape, thread.label, address, value, now).unwrap_or(value)
            }
        };
        self.seen.access(thread.label, address, value);
        Access::Read { address, value }
    }

    fn store(&mut self, at: usize, address: usize) -> Access {
        let value = self.fresh();
        if self.shape.buffer == 0 {
            self.land(address, value);
        } else {
            self.running[at].buffer.push_back((address, value));
        }
        self.seen.access(self.running[at].label, address, value);
        Access::Write { address, value }
    }

    fn atomic(&mut self, at: usize, address: usize) -> Access {
        let read = self.memory[address];
        let write = self.fresh();
        self.land(address, write);
        let label = self.running[at].label;
        self.seen.access(label, address, write);
        self.seen.replaced(&self.shape, label, address, read, self.recorded);
        Access::Atomic { address, read, write }
    }
}

impl Iterator for Machine {
    type Item = Recorded;

    fn next(&mut self) -> Option<Recorded> {
        while !self.running.is_empty() {
            let at = self.rng.below(self.running.len());
            let Some(access) = self.step(at) else { continue };
            self.recorded += 1;
            let thread = &mut self.running[at];
            thread.remaining -= 1;
            let recorded = Recorded { thread: thread.label, access };
            if thread.remaining == 0 {
                self.running.swap_remove(at);
            }
            return Some(recorded);
        }
        None
    }
}

/// What threads saw, as far as a fault needs it; nothing is kept for a machine without one.
struct Observations {
    pending: Option<Fault>,
    /// For each thread and address: the value it saw last, or the one that an atomic replaced.
    values: Vec<Option<u64>>,
    /// When each address was written last.
    landed: Vec<usize>,
}

impl Observations {
    fn new(shape: &Shape) -> Self {
        let (values, landed) = match shape.fault {
            Some(_) => (vec![None; shape.threads * shape.addresses], vec![0; shape.addresses]),
            None => (Vec::new(), Vec::new()),
        };
        Self { pending: shape.fault, values, landed }
    }

    fn at(&mut self, thread: usize, address: usize) -> &mut Option<u64> {
        let addresses = self.landed.len();
        &mut self.values[thread * addresses + address]
    }

    fn landed(&mut self, address: usize, now: usize) {
        if self.pending.is_some() {
            self.landed[address] = now;
        }
    }

    fn access(&mut self, thread: usize, address: usize, value: u64) {
        if self.pending == Some(Fault::MissedInvalidation) {
            *self.at(thread, address) = Some(value);
        }
    }

    /// Remembers what atomics of the first half replaced.
    fn replaced(&mut self, shape: &Shape, thread: usize, address: usize, read: u64, now: usize) {
        if self.pending == Some(Fault::Replaced) && now < shape.events / 2 {
            *self.at(thread, address) = Some(read);
        }
    }

    /// What a faulty read returns instead of `value`; `None` if it is not time for the fault.
    ///
    /// A missed invalidation waits until the write it misses is old enough for its thread to have
    /// heard of it another way, and grows less particular towards the end of the trace.
    fn instead(
        &mut self,
        shape: &Shape,
        thread: usize,
        address: usize,
        value: u64,
        now: usize,
    ) -> Option<u64> {
        let fault = self.pending?;
        let tenths = now * 10 / shape.events;
        let stale = (*self.at(thread, address)).filter(|&stale| stale != value)?;
        let ready = match fault {
            Fault::Replaced => tenths >= 8,
            Fault::MissedInvalidation => {
                tenths >= 9 || (tenths >= 7 && now - self.landed[address] >= 32 * shape.threads)
            }
        };
        if !ready {
            return None;
        }
        self.pending = None;
        Some(stale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traces::history;
    use judge::{Budget, Engine, Outcome, judge};
    use models::Model;

    fn small(buffer: usize, seed: u64) -> (Shape, u64) {
        (Shape::tsotool(400, 4, 8, buffer), seed)
    }

    fn satisfies((shape, seed): (Shape, u64), model: Model) -> bool {
        let verdict = judge(&history(shape, seed), model, Engine::Auto, &Budget::unlimited());
        matches!(verdict.outcome, Outcome::Holds(_))
    }

    #[test]
    fn a_machine_without_buffers_is_sequentially_consistent() {
        assert!((0..10).all(|seed| satisfies(small(0, seed), Model::Sc)));
    }

    #[test]
    fn a_machine_with_buffers_satisfies_tso_and_shows_that_it_is_not_sequential() {
        assert!((0..10).all(|seed| satisfies(small(TSO_BUFFER, seed), Model::Tso)));
        assert!((0..10).any(|seed| !satisfies(small(TSO_BUFFER, seed), Model::Sc)));
    }

    #[test]
    fn a_read_of_what_its_own_atomic_replaced_violates_every_model() {
        for model in Model::ALL {
            let faulty = Shape::tsotool(2000, 4, 8, 0).with_fault(Fault::Replaced);
            assert!((0..5).all(|seed| !satisfies((faulty, seed), model)), "{model}");
        }
    }

    #[test]
    fn a_missed_invalidation_violates_tso_but_not_coherence() {
        let faulty = Shape::tsotool(4000, 4, 64, 0).with_fault(Fault::MissedInvalidation);
        assert!((0..5).all(|seed| !satisfies((faulty, seed), Model::Tso)));
        assert!((0..5).all(|seed| satisfies((faulty, seed), Model::Coherence)));
    }

    #[test]
    fn the_mix_is_that_of_the_paper() {
        let trace: Vec<Recorded> = Machine::new(Shape::tsotool(100_000, 8, 64, 8), 1).collect();
        let share = |kind: fn(&Access) -> bool| {
            trace.iter().filter(|r| kind(&r.access)).count() as f64 / trace.len() as f64
        };
        assert!((share(|a| matches!(a, Access::Read { .. })) - 0.339).abs() < 0.01);
        assert!((share(|a| matches!(a, Access::Write { .. })) - 0.339).abs() < 0.01);
        assert!((share(|a| matches!(a, Access::Atomic { .. })) - 0.305).abs() < 0.01);
        assert!((share(|a| matches!(a, Access::Fence)) - 0.017).abs() < 0.003);
    }
}
