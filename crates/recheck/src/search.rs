//! Every state of a program, breadth first, by the reference interpreter.
//!
//! It is written to be read. States are numbered in the order in which they are found. A round takes
//! some of the states that nobody has looked at; each thread looks at its share of them: at every
//! invariant and every instance of every rule. Meanwhile the set of states does not change, so that
//! the threads share nothing that one of them writes. At the end of the round the states that were not
//! in the set are added to it, in the order of the states that they follow, so that nothing depends on
//! the number of threads. No symmetry, no packing.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

use murphi::interpret::Interpreter;
use murphi::machine::{Check, Machine, Outcome, Successors};

use crate::states::States;

/// How many states a thread looks at in a round.
const SHARE: usize = 4096;

/// When to give up, and on how many threads to work until then.
pub struct Limits<'a> {
    /// On how many threads.
    pub threads: usize,
    /// In how many bytes at most.
    pub memory: Option<u64>,
    /// When this is set.
    pub interrupt: &'a AtomicBool,
    /// Hears which program is searched, how many states there are, and how many of them have been
    /// looked at.
    pub listener: &'a mut dyn FnMut(&str, u64, u64),
}

/// Why a search gave up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The memory was used up.
    Memory,
    /// It was interrupted.
    Interrupted,
}

/// What a search that did not visit every state found.
pub(crate) enum Stop {
    /// Something is wrong.
    Wrong(String),
    /// So many states were looked at.
    Ended(Ended, u64),
}

/// Visits every state, and says how many there are if nothing is wrong in any.
pub(crate) fn search(
    interpreter: Interpreter,
    name: &str,
    limits: &mut Limits<'_>,
) -> Result<u64, Stop> {
    let size = interpreter.layout().size as usize;
    let mut states = States::new(size);
    let (mut visited, mut excluded) = (0, 0);
    let mut look = Look::new(&interpreter);
    look.start(&states)?;
    look.found.all().for_each(|state| states.insert(state));
    while visited < states.len() {
        let last = states.len().min(visited + SHARE * limits.threads.max(1));
        for share in round(&interpreter, &states, visited..last, limits)? {
            excluded += share.excluded;
            share.found.all().for_each(|state| states.insert(state));
        }
        visited = last;
        (limits.listener)(name, states.len() as u64, visited as u64);
        if limits.memory.is_some_and(|most| states.bytes() > most) {
            return Err(Stop::Ended(Ended::Memory, visited as u64));
        }
    }
    match visited - excluded {
        0 => Err(Stop::Wrong("there is no start state, so that nothing is shown".to_owned())),
        states => Ok(states as u64),
    }
}

/// Looks at the states with these numbers, each thread at some of them.
fn round(
    interpreter: &Interpreter,
    states: &States,
    numbers: std::ops::Range<usize>,
    limits: &Limits<'_>,
) -> Result<Vec<Look>, Stop> {
    let share = numbers.len().div_ceil(limits.threads.max(1));
    let (first, interrupt) = (numbers.start, limits.interrupt);
    let at = |thread: usize| (numbers.start + thread * share).min(numbers.end);
    let look = |thread: usize| {
        let mut look = Look::new(interpreter);
        for number in at(thread)..at(thread + 1) {
            if interrupt.load(Relaxed) {
                return Err(Stop::Ended(Ended::Interrupted, first as u64));
            }
            look.at(states.get(number), states)?;
        }
        Ok(look)
    };
    let look = &look;
    thread::scope(|scope| {
        let spawn = |thread: usize| scope.spawn(move || look(thread));
        let others: Vec<_> = (1..limits.threads).map(spawn).collect();
        let mut looks = vec![look(0)?];
        for thread in others {
            looks.push(thread.join().expect("a search does not panic")?);
        }
        Ok(looks)
    })
}

/// What one thread has found in a round.
struct Look {
    interpreter: Interpreter,
    next: Successors,
    /// The states that are not in the set of states.
    found: States,
    /// How many states an assumption excludes.
    excluded: usize,
}

impl Look {
    fn new(interpreter: &Interpreter) -> Look {
        let size = interpreter.layout().size as usize;
        let (interpreter, next) = (interpreter.clone(), Successors::new(size));
        Look { interpreter, next, found: States::new(size), excluded: 0 }
    }

    fn start(&mut self, states: &States) -> Result<(), Stop> {
        Machine::start(&mut self.interpreter, &mut self.next);
        self.take_successors(states, true)
    }

    /// Looks at a state: at its invariants, and at what follows it.
    fn at(&mut self, state: &[u8], states: &States) -> Result<(), Stop> {
        match self.interpreter.check(state) {
            Check::Holds => self.interpreter.expand(state, &mut self.next),
            Check::Excluded => self.excluded += 1,
            Check::Broken(property) | Check::Failed(property) => {
                let property = &self.interpreter.model().properties[property as usize].name;
                return Err(Stop::Wrong(format!("invariant \"{property}\" does not hold")));
            }
        }
        self.take_successors(states, false)
    }

    fn take_successors(&mut self, states: &States, is_start: bool) -> Result<(), Stop> {
        for (number, firing) in self.next.firings.iter().enumerate() {
            match firing.outcome {
                Outcome::Excluded => {}
                Outcome::Done => {
                    let state = self.next.state(number);
                    if !states.contains(state) {
                        self.found.insert(state);
                    }
                }
                Outcome::Failed | Outcome::GuardFailed => {
                    let model = self.interpreter.model();
                    let rules = if is_start { &model.start_states } else { &model.rules };
                    let name = &rules[firing.rule as usize].name;
                    return Err(Stop::Wrong(format!("rule \"{name}\" fails")));
                }
            }
        }
        self.next.clear();
        Ok(())
    }
}
