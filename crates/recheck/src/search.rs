//! Every state of a program, breadth first, by the reference interpreter.
//!
//! It is written to be read: a set of states, a queue, and in each state every invariant and every
//! instance of every rule. No symmetry, no packing, one thread.

use std::collections::{HashSet, VecDeque};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use murphi::interpret::Interpreter;
use murphi::machine::{Check, Machine, Outcome, Successors};

/// What a state costs beyond its bytes, in the set and in the queue.
const STATE: u64 = 64;

/// When to give up.
pub struct Limits<'a> {
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
    Ended(Ended),
}

/// Visits every state, and says how many there are if nothing is wrong in any.
pub(crate) fn search(
    mut interpreter: Interpreter,
    name: &str,
    limits: &mut Limits<'_>,
) -> Result<u64, Stop> {
    let model = interpreter.model().clone();
    let size = interpreter.layout().size as usize;
    let mut seen: HashSet<Rc<[u8]>> = HashSet::new();
    let mut queue: VecDeque<Rc<[u8]>> = VecDeque::new();
    let mut next = Successors::new(size);
    let mut visited = 0;
    let mut excluded = 0;
    Machine::start(&mut interpreter, &mut next);
    let mut is_start = true;
    loop {
        for (number, firing) in next.firings.iter().enumerate() {
            let rule = firing.rule as usize;
            match firing.outcome {
                Outcome::Excluded => {}
                Outcome::Done => {
                    let state: Rc<[u8]> = next.state(number).into();
                    if seen.insert(Rc::clone(&state)) {
                        queue.push_back(state);
                    }
                }
                Outcome::Failed | Outcome::GuardFailed => {
                    let rules = if is_start { &model.start_states } else { &model.rules };
                    return Err(Stop::Wrong(format!("rule \"{}\" fails", rules[rule].name)));
                }
            }
        }
        is_start = false;
        next.clear();
        let Some(state) = queue.pop_front() else { break };
        visited += 1;
        match interpreter.check(&state) {
            Check::Holds => interpreter.expand(&state, &mut next),
            Check::Excluded => excluded += 1,
            Check::Broken(property) | Check::Failed(property) => {
                let property = &model.properties[property as usize].name;
                return Err(Stop::Wrong(format!("invariant \"{property}\" does not hold")));
            }
        }
        let states = seen.len() as u64;
        (limits.listener)(name, states, visited);
        if limits.interrupt.load(Relaxed) {
            return Err(Stop::Ended(Ended::Interrupted));
        }
        if limits.memory.is_some_and(|most| states * (size as u64 + STATE) > most) {
            return Err(Stop::Ended(Ended::Memory));
        }
    }
    match visited - excluded {
        0 => Err(Stop::Wrong("there is no start state, so that nothing is shown".to_owned())),
        states => Ok(states),
    }
}
