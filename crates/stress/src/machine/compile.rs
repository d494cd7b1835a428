//! A program as the random machine runs it: the accesses of each thread, and for each which of the
//! 64 before it it waits for.
//!
//! Fences are gone: they only make later accesses wait. A thread performs nothing that lies 64
//! accesses or more after its first unperformed one, so a word of bits is all there is to know.
//! Computing the masks costs O(64) an access; for sc there is nothing to compute.

use history::{Kinds, Value};

use super::rules::{AccessRole, MemoryModel, waits};
use crate::program::{Action, Instruction, Program};

/// How far a thread can look ahead.
pub(super) const WINDOW: usize = 64;

/// No earlier write.
pub(super) const NONE: u32 = u32::MAX;

/// An access of a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) action: Action,
    pub(super) place: u32,
    /// Where its value goes among the reads of the outcome.
    pub(super) read: u32,
    /// The last earlier write of its place in its thread, by index among the accesses.
    pub(super) own_write: u32,
}

/// A program, ready to run.
#[derive(Debug)]
pub(super) struct Compiled {
    /// The accesses of all threads, one after the other.
    pub(super) accesses: Vec<Access>,
    /// Where each thread's accesses begin; one more than there are threads.
    pub(super) starts: Vec<usize>,
    /// For each access, what it waits for: the highest bit is the access before it.
    pub(super) waits: Vec<u64>,
    /// The same, as if stores did not wait for earlier stores.
    pub(super) waits_but_for_stores: Vec<u64>,
    pub(super) initial: Vec<Value>,
    /// How many values the outcome has.
    pub(super) reads: usize,
}

/// What an instruction counts as. A compare-and-swap counts as a write, as processors have it: they
/// know what came of it only when it is done.
fn kinds(action: Action) -> Kinds {
    match action {
        Action::Load { .. } => Kinds::READS,
        Action::Store { .. } => Kinds::WRITES,
        Action::Fence { .. } => Kinds::NONE,
        Action::Swap { .. } | Action::FetchAdd { .. } | Action::CompareAndSwap { .. } => Kinds::ALL,
    }
}

impl Compiled {
    pub(super) fn new(program: &Program, model: MemoryModel) -> Self {
        let mut compiled = Compiled {
            accesses: Vec::with_capacity(program.len()),
            starts: vec![0],
            waits: Vec::new(),
            waits_but_for_stores: Vec::new(),
            initial: program.places.iter().map(|place| place.initial).collect(),
            reads: 0,
        };
        let mut own_writes = vec![(NONE, NONE); program.places.len()];
        for (thread, instructions) in (0..).zip(&program.threads) {
            let first = compiled.accesses.len();
            for instruction in instructions {
                compiled.access(instruction.action, thread, first, &mut own_writes);
            }
            if model != MemoryModel::Sc {
                compiled.wait(instructions, model);
            }
            compiled.starts.push(compiled.accesses.len());
        }
        compiled
    }

    fn access(&mut self, action: Action, thread: u32, first: usize, own_writes: &mut [(u32, u32)]) {
        let Some(place) = action.place() else { return };
        let own = &mut own_writes[place as usize];
        let own_write = if own.0 == thread { own.1 } else { NONE };
        if kinds(action).writes {
            *own = (thread, (self.accesses.len() - first) as u32);
        }
        self.accesses.push(Access { action, place, read: self.reads as u32, own_write });
        self.reads += usize::from(action.reads());
    }

    /// What each access of a thread waits for.
    fn wait(&mut self, instructions: &[Instruction], model: MemoryModel) {
        let mut numbers = Vec::with_capacity(instructions.len());
        let mut accesses = 0usize;
        for instruction in instructions {
            numbers.push(accesses);
            accesses += usize::from(instruction.action.place().is_some());
        }
        for (index, later) in instructions.iter().enumerate() {
            let Some(place) = later.action.place() else { continue };
            let (mut all, mut but_for_stores) = (0, 0);
            let kinds_later = kinds(later.action);
            let party_later = AccessRole { kinds: kinds_later, order: later.order };
            let mut addresses = 0;
            let mut fenced = Kinds::NONE;
            let bit = |earlier: usize| {
                let back = numbers[index] - numbers[earlier];
                if back <= WINDOW { 1 << (WINDOW - back) } else { 0 }
            };
            for (at, earlier) in instructions[..index].iter().enumerate().rev() {
                if numbers[index] - numbers[at] > WINDOW {
                    break;
                }
                let Some(earlier_place) = earlier.action.place() else {
                    if let Action::Fence { before, after } = earlier.action
                        && after.meets(kinds_later)
                    {
                        fenced = fenced.union(before);
                    }
                    continue;
                };
                let kinds_earlier = kinds(earlier.action);
                let party_earlier = AccessRole { kinds: kinds_earlier, order: earlier.order };
                if kinds_later.writes && model.settles_addresses() {
                    let causes = earlier.depends_on.iter();
                    addresses |= causes.fold(0, |mask, &cause| mask | bit(cause as usize));
                }
                let same_place = place == earlier_place;
                let needs_result = same_place && takes_result(earlier.action);
                if waits(model, party_earlier, party_later, same_place)
                    || fenced.meets(kinds_earlier)
                    || needs_result
                {
                    all |= bit(at);
                    if kinds_earlier.reads || kinds_later.reads {
                        but_for_stores |= bit(at);
                    }
                }
            }
            if model.keeps_dependencies() {
                let causes = depends(instructions, index);
                let causes = causes.fold(addresses, |mask, cause| mask | bit(cause as usize));
                all |= causes;
                but_for_stores |= causes;
            }
            self.waits.push(all);
            self.waits_but_for_stores.push(but_for_stores);
        }
    }
}

/// Whether a later load cannot take the value of this one before it is performed: what it writes
/// depends on what it reads.
fn takes_result(action: Action) -> bool {
    matches!(action, Action::FetchAdd { .. } | Action::CompareAndSwap { .. })
}

/// What an instruction must wait for for the sake of dependencies: its own, and, if it is
/// a load, those of the store it might take its value from, so that no value is its own cause.
fn depends(instructions: &[Instruction], index: usize) -> impl Iterator<Item = u32> + '_ {
    let place = instructions[index].action.place();
    let source = instructions[..index]
        .iter()
        .rev()
        .take(2 * WINDOW)
        .find(|earlier| earlier.action.place() == place && kinds(earlier.action).writes);
    let forwarded = source.filter(|_| !kinds(instructions[index].action).writes);
    let forwarded = forwarded.into_iter().flat_map(|earlier| &earlier.depends_on);
    instructions[index].depends_on.iter().chain(forwarded).copied()
}
