//! One run of a machine at random.
//!
//! A step performs one access: a thread is drawn, and of the accesses it may perform the last one
//! within a drawn distance of its first unperformed one. How often the thread changes, and how far
//! it looks ahead, is drawn anew for every run, so that some runs are nearly sequential and others
//! hardly at all. A step costs a few nanoseconds; nothing is allocated.

use history::Value;

use super::bug::Bug;
use super::compile::{Access, Compiled, NONE, WINDOW};
use crate::outcome::Outcome;
use crate::program::Action;
use chance::Rng;

/// A thread in the middle of a run.
#[derive(Clone, Copy, Default)]
struct Thread {
    /// Its first unperformed access, by index among all.
    base: usize,
    end: usize,
    /// Which accesses from there on have been performed.
    performed: u64,
    /// The write of an atomic that was torn: its index among all accesses, and what it writes.
    torn: Option<(usize, Value)>,
    /// Its first access that is not recorded yet, by index among all.
    unrecorded: usize,
}

/// Runs of one program.
pub(super) struct Walk<'p> {
    program: &'p Compiled,
    /// The accesses a thread may look ahead; 1 is program order.
    reach: usize,
    fault: Option<Fault>,
    memory: Vec<Value>,
    /// What was in memory before the last write.
    before: Vec<Value>,
    reads: Vec<Value>,
    threads: Vec<Thread>,
    running: Vec<u32>,
    /// Whose turn it was, an entry for each access in the order in which they retired, if a recorder
    /// is attached.
    turns: Option<Vec<u32>>,
}

/// A bug and how often it strikes: so many times in 2^32.
#[derive(Clone, Copy)]
pub(super) struct Fault {
    pub(super) bug: Bug,
    pub(super) chance: u32,
}

/// A number below `limit`, by a multiplication instead of a division.
#[inline]
fn below(rng: &mut Rng, limit: usize) -> usize {
    ((u128::from(rng.bits()) * limit as u128) >> 64) as usize
}

impl<'p> Walk<'p> {
    pub(super) fn new(program: &'p Compiled, in_order: bool, fault: Option<Fault>) -> Self {
        Walk {
            program,
            reach: if in_order { 1 } else { WINDOW },
            fault,
            memory: Vec::new(),
            before: Vec::new(),
            reads: vec![0; program.reads],
            threads: Vec::new(),
            running: Vec::new(),
            turns: None,
        }
    }

    /// One run with a recorder attached, as the trace port of a core has one: it sees accesses
    /// retire, in program order, loads and atomics when they have been performed, stores while they
    /// may still be in the buffer. Gives the thread of each access in that order.
    pub(super) fn record(&mut self, rng: &mut Rng) -> (Outcome, Vec<u32>) {
        self.turns = Some(Vec::with_capacity(self.program.accesses.len()));
        let outcome = self.run(rng);
        (outcome, self.turns.take().unwrap_or_default())
    }

    /// One run.
    pub(super) fn run(&mut self, rng: &mut Rng) -> Outcome {
        self.start();
        let switches = [1, 2, 4, 16][below(rng, 4)];
        let ahead = self.reach.min([2, 4, 8, 24][below(rng, 4)]);
        let mut at = usize::MAX;
        while !self.running.is_empty() {
            if at >= self.running.len() || below(rng, switches) == 0 {
                at = below(rng, self.running.len());
            }
            let thread = self.running[at] as usize;
            if self.step(rng, thread, ahead) {
                at = usize::MAX;
            }
            if self.threads[thread].base == self.threads[thread].end {
                self.running.retain(|&running| running as usize != thread);
            }
        }
        Outcome { reads: self.reads.clone(), finals: Some(self.memory.clone()) }
    }

    fn start(&mut self) {
        self.memory.clone_from(&self.program.initial);
        self.before.clone_from(&self.program.initial);
        let starts = self.program.starts.windows(2);
        self.threads.clear();
        self.threads.extend(starts.map(|pair| Thread {
            base: pair[0],
            end: pair[1],
            unrecorded: pair[0],
            ..Thread::default()
        }));
        self.running.clear();
        let threads = (0..).zip(&self.threads);
        self.running.extend(threads.filter(|(_, t)| t.base < t.end).map(|(number, _)| number));
    }

    /// Whether the bug strikes now.
    #[inline]
    fn strikes(&self, rng: &mut Rng, bug: Bug) -> bool {
        match self.fault {
            Some(fault) if fault.bug == bug => (rng.bits() >> 32) < u64::from(fault.chance),
            _ => false,
        }
    }

    /// A thread performs an access; whether it is time for another thread.
    fn step(&mut self, rng: &mut Rng, number: usize, ahead: usize) -> bool {
        let position = self.choose(rng, number, ahead);
        let thread = self.threads[number];
        let index = thread.base + position;
        let access = self.program.accesses[index];
        if let Some((_, value)) = thread.torn.filter(|&(torn, _)| torn == index) {
            self.write(access.place, value);
            self.threads[number].torn = None;
        } else if self.perform(rng, number, access, index) {
            return true;
        }
        let thread = &mut self.threads[number];
        thread.performed |= 1 << position;
        let done = thread.performed.trailing_ones();
        thread.performed = thread.performed.checked_shr(done).unwrap_or(0);
        thread.base += done as usize;
        if self.turns.is_some() {
            self.retire(number, index);
        }
        false
    }

    /// Records what has retired now that this access was performed.
    fn retire(&mut self, number: usize, latest: usize) {
        let (Some(turns), thread) = (&mut self.turns, &mut self.threads[number]) else { return };
        while thread.unrecorded < thread.end {
            let next = thread.unrecorded;
            let performed = next < thread.base || thread.performed >> (next - thread.base) & 1 == 1;
            let is_store = matches!(self.program.accesses[next].action, Action::Store { .. });
            if !(performed || is_store && next < latest) {
                break;
            }
            turns.push(number as u32);
            thread.unrecorded += 1;
        }
    }

    /// Which access of a thread to perform, as its distance from the first unperformed one.
    #[inline]
    fn choose(&self, rng: &mut Rng, number: usize, ahead: usize) -> usize {
        let thread = &self.threads[number];
        let far = ahead.min(thread.end - thread.base);
        if far == 1 {
            return 0;
        }
        let mut position = below(rng, far);
        while position > 0 && !self.may_perform(rng, thread, position) {
            position -= 1;
        }
        position
    }

    #[inline]
    fn may_perform(&self, rng: &mut Rng, thread: &Thread, position: usize) -> bool {
        let index = thread.base + position;
        if thread.performed >> position & 1 == 1 {
            return false;
        }
        let unperformed = |waits: u64| waits >> (WINDOW - position) & !thread.performed;
        if unperformed(self.program.waits[index]) == 0 {
            return true;
        }
        // Stores that have to wait for nothing but earlier stores may slip past them.
        self.fault.is_some_and(|fault| fault.bug == Bug::ReorderedDrain)
            && matches!(self.program.accesses[index].action, Action::Store { .. })
            && unperformed(self.program.waits_but_for_stores[index]) == 0
            && self.strikes(rng, Bug::ReorderedDrain)
    }

    #[inline]
    fn write(&mut self, place: u32, value: Value) {
        let memory = &mut self.memory[place as usize];
        self.before[place as usize] = std::mem::replace(memory, value);
    }

    /// What a load takes: the value of its thread's own store if that is still to be performed,
    /// else what is in memory.
    #[inline]
    fn load(&self, rng: &mut Rng, number: usize, access: Access) -> Value {
        let thread = &self.threads[number];
        let own = self.program.starts[number] + access.own_write as usize;
        if access.own_write != NONE && own >= thread.base {
            let pending = thread.performed >> (own - thread.base) & 1 == 0;
            if pending && !self.strikes(rng, Bug::BrokenForwarding) {
                return self.program.accesses[own].action.written(0).unwrap_or_default();
            }
        }
        match self.strikes(rng, Bug::StaleRead) {
            true => self.before[access.place as usize],
            false => self.memory[access.place as usize],
        }
    }

    /// Performs an access; true if only half of it, the atomic being torn.
    #[inline]
    fn perform(&mut self, rng: &mut Rng, number: usize, access: Access, index: usize) -> bool {
        match access.action {
            Action::Load { .. } => {
                self.reads[access.read as usize] = self.load(rng, number, access);
            }
            Action::Store { place, value } => {
                if !self.strikes(rng, Bug::LostStore) {
                    self.write(place, value);
                }
            }
            action => {
                let read = self.memory[access.place as usize];
                self.reads[access.read as usize] = read;
                let Some(written) = action.written(read) else { return false };
                if self.strikes(rng, Bug::TornAtomic) {
                    self.threads[number].torn = Some((index, written));
                    return true;
                }
                self.write(access.place, written);
            }
        }
        false
    }
}
