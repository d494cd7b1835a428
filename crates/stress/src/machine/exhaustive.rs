//! Every run of a machine: all outcomes of a small program under a model.
//!
//! The state of a run is which accesses were performed, which write is in memory at each place,
//! and which write each read saw; each state is visited once. Values are worked out at the end,
//! so that a load may take the value of its thread's atomic before that is known (rmo lets it).
//! Whether a compare-and-swap writes is guessed at the beginning, because that decides who waits
//! for it, and runs in which the guess turns out wrong do not count: one that does not write is a
//! load. Under rmo, no value may be its own cause, which is checked at the end, too.
//!
//! Exponential in the number of accesses: a dozen take milliseconds.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use history::{Kinds, Value};
use rustc_hash::FxHashSet;

use super::rules::{AccessRole, MemoryModel, waits};
use crate::outcome::Outcome;
use crate::program::{Action, Program};
use crate::target::{RunResult, Runs, Target, TargetError};

/// The most accesses of a program.
const MAX_ACCESSES: usize = 64;

/// The most compare-and-swaps of a program.
const MAX_GUESSES: usize = 16;

/// A machine that runs programs in every possible way.
#[derive(Clone, Copy, Debug)]
pub struct Exhaustive {
    model: MemoryModel,
    states: usize,
}

impl Exhaustive {
    /// The states it visits before it gives up by default.
    pub const DEFAULT_STATES: usize = 4_000_000;

    /// A machine that gives up after so many states.
    pub fn new(model: MemoryModel, states: usize) -> Self {
        Exhaustive { model, states }
    }

    /// All outcomes of a program, memory at the end included.
    pub fn outcomes(
        &self,
        program: &Program,
        stop: &AtomicBool,
    ) -> Result<BTreeSet<Outcome>, TargetError> {
        program.check()?;
        let accesses = program.threads.iter().flatten().filter(|i| i.action.place().is_some());
        let guesses = |action: Action| matches!(action, Action::CompareAndSwap { .. });
        let guessed = program.threads.iter().flatten().filter(|i| guesses(i.action)).count();
        if accesses.count() > MAX_ACCESSES || guessed > MAX_GUESSES {
            return Err(TargetError::Unsuitable(format!(
                "--exhaustive takes programs of at most {MAX_ACCESSES} accesses and {MAX_GUESSES} \
                 compare-and-swaps"
            )));
        }
        let mut found = BTreeSet::new();
        let mut left = self.states;
        for guess in 0..1u32 << guessed {
            let guessed = Guessed::new(program, self.model, guess);
            guessed.explore(&mut found, &mut left, stop)?;
        }
        Ok(found)
    }
}

impl Target for Exhaustive {
    /// Hands over every outcome once, however many runs were asked for.
    fn run(
        &mut self,
        program: &Program,
        runs: Runs<'_>,
        receive: &mut dyn FnMut(RunResult) -> ControlFlow<()>,
    ) -> Result<(), TargetError> {
        for outcome in self.outcomes(program, runs.stop)? {
            if receive(RunResult::Outcome(outcome, 1)).is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// An access of a program in which it is known which compare-and-swaps write.
struct Access {
    action: Action,
    place: usize,
    kinds: Kinds,
    party: AccessRole,
    /// What it waits for, as bits.
    waits: u64,
    /// The last earlier write of its place in its thread.
    own_write: Option<u8>,
    /// The reads it depends on, as bits.
    depends_on: u64,
}

/// A program whose compare-and-swaps write or do not, as guessed.
struct Guessed<'p> {
    program: &'p Program,
    model: MemoryModel,
    accesses: Vec<Access>,
}

/// What is in memory, or was read, before anything was written.
const INITIAL: u8 = u8::MAX;

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    performed: u64,
    /// The write in memory at each place.
    memory: Vec<u8>,
    /// The write that each access read, if it did.
    sources: Vec<u8>,
}

fn bit(access: usize) -> u64 {
    1 << access
}

impl<'p> Guessed<'p> {
    fn new(program: &'p Program, model: MemoryModel, guess: u32) -> Self {
        let mut guessed = Guessed { program, model, accesses: Vec::new() };
        let mut number = 0;
        for instructions in &program.threads {
            let first = guessed.accesses.len();
            let mut fences: Vec<(usize, Kinds, Kinds)> = Vec::new();
            let mut numbers = Vec::new();
            for instruction in instructions {
                let at = guessed.accesses.len();
                numbers.push(at);
                let kinds = match instruction.action {
                    Action::Fence { before, after } => {
                        fences.push((at, before, after));
                        continue;
                    }
                    Action::Load { .. } => Kinds::READS,
                    Action::Store { .. } => Kinds::WRITES,
                    Action::Swap { .. } | Action::FetchAdd { .. } => Kinds::ALL,
                    Action::CompareAndSwap { .. } => {
                        number += 1;
                        if guess >> (number - 1) & 1 == 1 { Kinds::ALL } else { Kinds::READS }
                    }
                };
                let depends_on = instruction.depends_on.iter();
                let depends_on = depends_on.fold(0, |bits, &on| bits | bit(numbers[on as usize]));
                let party = AccessRole { kinds, order: instruction.order };
                guessed.access(first, instruction.action, party, depends_on, &fences);
            }
        }
        guessed
    }

    fn access(
        &mut self,
        first: usize,
        action: Action,
        party: AccessRole,
        depends_on: u64,
        fences: &[(usize, Kinds, Kinds)],
    ) {
        let kinds = party.kinds;
        let place = action.place().unwrap_or_default() as usize;
        let mut held = if self.model.keeps_dependencies() { depends_on } else { 0 };
        let mut own_write = None;
        for (at, earlier) in self.accesses.iter().enumerate().skip(first) {
            let same_place = earlier.place == place;
            let fenced = fences.iter().any(|&(fence, before, after)| {
                at < fence && before.meets(earlier.kinds) && after.meets(kinds)
            });
            if fenced || waits(self.model, earlier.party, party, same_place) {
                held |= bit(at);
            }
            if self.model.settles_addresses()
                && (kinds.writes || same_place && earlier.kinds.writes)
            {
                held |= earlier.depends_on;
            }
            if same_place && earlier.kinds.writes {
                own_write = Some(at as u8);
            }
        }
        let waits = held;
        self.accesses.push(Access { action, place, kinds, party, waits, own_write, depends_on });
    }

    /// Adds the outcomes of all runs.
    fn explore(
        &self,
        found: &mut BTreeSet<Outcome>,
        left: &mut usize,
        stop: &AtomicBool,
    ) -> Result<(), TargetError> {
        let start = State {
            performed: 0,
            memory: vec![INITIAL; self.program.places.len()],
            sources: vec![INITIAL; self.accesses.len()],
        };
        let mut visited = FxHashSet::default();
        let mut unexplored = vec![start];
        while let Some(state) = unexplored.pop() {
            let ready = (0..self.accesses.len()).filter(|&at| {
                state.performed & bit(at) == 0 && self.accesses[at].waits & !state.performed == 0
            });
            let mut ended = true;
            for at in ready {
                ended = false;
                let next = self.after(&state, at);
                if visited.insert(next.clone()) {
                    unexplored.push(next);
                }
            }
            if ended {
                found.extend(self.outcome(&state));
            }
            *left = left.checked_sub(1).ok_or_else(|| {
                TargetError::Unsuitable("the program has too many runs to try them all".to_owned())
            })?;
            if stop.load(Ordering::Relaxed) {
                break;
            }
        }
        Ok(())
    }

    fn after(&self, state: &State, at: usize) -> State {
        let mut next = state.clone();
        let access = &self.accesses[at];
        next.performed |= bit(at);
        if access.kinds.reads {
            let pending = access.own_write.filter(|&own| state.performed & bit(own.into()) == 0);
            next.sources[at] = pending.unwrap_or(state.memory[access.place]);
        }
        if access.kinds.writes {
            next.memory[access.place] = at as u8;
        }
        next
    }

    /// What the reads of a finished run returned, unless the run does not count.
    fn outcome(&self, state: &State) -> Option<Outcome> {
        if self.model == MemoryModel::Rmo && !self.has_causes(state) {
            return None;
        }
        let read = |at: usize| {
            let place = self.accesses[at].place;
            self.value(state, place, state.sources[at])
        };
        for (at, access) in self.accesses.iter().enumerate() {
            if let Action::CompareAndSwap { expected, .. } = access.action
                && access.kinds.writes != (read(at) == expected)
            {
                return None;
            }
        }
        let readers = (0..self.accesses.len()).filter(|&at| self.accesses[at].kinds.reads);
        let places = state.memory.iter().enumerate();
        Some(Outcome {
            reads: readers.map(read).collect(),
            finals: Some(places.map(|(place, &at)| self.value(state, place, at)).collect()),
        })
    }

    /// What a write wrote: an atomic's value is found by going back along what was read.
    fn value(&self, state: &State, place: usize, mut write: u8) -> Value {
        let mut added: Value = 0;
        loop {
            if write == INITIAL {
                return self.program.places[place].initial.wrapping_add(added);
            }
            match self.accesses[usize::from(write)].action {
                Action::FetchAdd { amount, .. } => {
                    added = added.wrapping_add(amount);
                    write = state.sources[usize::from(write)];
                }
                action => {
                    let value = match action {
                        Action::CompareAndSwap { new, .. } => new,
                        action => action.written(0).unwrap_or_default(),
                    };
                    return value.wrapping_add(added);
                }
            }
        }
    }

    /// Whether what was read from what, with the dependencies, closes no cycle: takes accesses away
    /// whose causes are gone until none is left.
    fn has_causes(&self, state: &State) -> bool {
        let all: u64 = (0..self.accesses.len()).fold(0, |bits, at| bits | bit(at));
        let mut gone: u64 = 0;
        loop {
            let mut more = gone;
            for (at, access) in self.accesses.iter().enumerate() {
                let source = match state.sources[at] {
                    INITIAL => 0,
                    write => bit(write.into()),
                };
                if (access.depends_on | source) & !gone == 0 {
                    more |= bit(at);
                }
            }
            if more == gone {
                return gone == all;
            }
            gone = more;
        }
    }
}
