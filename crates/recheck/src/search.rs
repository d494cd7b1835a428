//! A breadth-first search of all states of a program, by the reference interpreter.
//!
//! It is written to be read. States are numbered in the order in which they are found. In each
//! round, the threads share a range of states that have not been expanded; each thread evaluates
//! every invariant and every instance of every rule in its states. The set of states does not
//! change meanwhile, so that no thread writes what another one reads. At the end of the round, new
//! states are added in the order of their predecessors, so that the result does not depend on the
//! number of threads. Of each orbit, one state is visited and all are counted (`symmetry.rs`).
//! States are not packed.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

use murphi::interpret::Interpreter;
use murphi::machine::{Check, Machine, Outcome, Successors};

use crate::states::States;
use crate::symmetry::{PermutationBuffer, Symmetry};

/// The number of states of each thread in a round.
const SHARE: usize = 4096;

/// The limits of a search, and its number of threads.
pub struct Limits<'a> {
    /// The number of threads.
    pub threads: usize,
    /// The memory limit in bytes.
    pub memory: Option<u64>,
    /// Setting this ends the search.
    pub interrupt: &'a AtomicBool,
    /// Is called with the name of the program, the number of states found, and the number visited.
    pub listener: &'a mut dyn FnMut(&str, u64, u64),
}

/// The limit that ended a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The memory limit was reached.
    Memory,
    /// It was interrupted.
    Interrupted,
}

/// Why a search did not visit every state.
pub(crate) enum Stop {
    /// A violation.
    Wrong(String),
    /// A limit was reached after this number of states.
    Ended(Ended, u64),
}

/// Visits every state. Returns their number if there is no violation.
pub(crate) fn search(
    interpreter: Interpreter,
    name: &str,
    limits: &mut Limits<'_>,
) -> Result<u64, Stop> {
    let symmetry = Symmetry::of(interpreter.model(), interpreter.layout());
    search_by(&interpreter, &symmetry, name, limits)
}

fn search_by(
    interpreter: &Interpreter,
    symmetry: &Symmetry,
    name: &str,
    limits: &mut Limits<'_>,
) -> Result<u64, Stop> {
    let mut states = States::new(interpreter.layout().size as usize);
    let (mut visited, mut stood_for) = (0, 0);
    let mut look = RoundFindings::new(interpreter, symmetry);
    look.start(&states)?;
    look.found.all().for_each(|state| states.insert(state));
    while visited < states.len() {
        let last = states.len().min(visited + SHARE * limits.threads.max(1));
        for share in round(interpreter, symmetry, &states, visited..last, limits)? {
            stood_for += share.stood_for;
            share.found.all().for_each(|state| states.insert(state));
        }
        visited = last;
        (limits.listener)(name, states.len() as u64, visited as u64);
        if limits.memory.is_some_and(|most| states.bytes() > most) {
            return Err(Stop::Ended(Ended::Memory, visited as u64));
        }
    }
    match stood_for {
        0 => Err(Stop::Wrong(
            "the abstract program has no start state, so the proof is vacuous".to_owned(),
        )),
        states => Ok(states),
    }
}

/// Expands the states with these numbers on all threads.
fn round<'a>(
    interpreter: &Interpreter,
    symmetry: &'a Symmetry,
    states: &States,
    numbers: std::ops::Range<usize>,
    limits: &Limits<'_>,
) -> Result<Vec<RoundFindings<'a>>, Stop> {
    let share = numbers.len().div_ceil(limits.threads.max(1));
    let (first, interrupt) = (numbers.start, limits.interrupt);
    let at = |thread: usize| (numbers.start + thread * share).min(numbers.end);
    let look = |thread: usize| {
        let mut look = RoundFindings::new(interpreter, symmetry);
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

/// The result of one thread in a round.
struct RoundFindings<'a> {
    interpreter: Interpreter,
    symmetry: &'a Symmetry,
    next: Successors,
    /// The states that are new.
    found: States,
    /// The number of states in the orbits of the visited ones, without those that an assumption
    /// excludes.
    stood_for: u64,
    room: PermutationBuffer,
}

impl<'a> RoundFindings<'a> {
    fn new(interpreter: &Interpreter, symmetry: &'a Symmetry) -> RoundFindings<'a> {
        let size = interpreter.layout().size as usize;
        let (interpreter, next) = (interpreter.clone(), Successors::new(size));
        let (found, room) = (States::new(size), PermutationBuffer::new(size));
        RoundFindings { interpreter, symmetry, next, found, stood_for: 0, room }
    }

    fn start(&mut self, states: &States) -> Result<(), Stop> {
        Machine::start(&mut self.interpreter, &mut self.next);
        self.take_successors(states, true)
    }

    /// Visits a state: evaluates its invariants and expands it.
    fn at(&mut self, state: &[u8], states: &States) -> Result<(), Stop> {
        match self.interpreter.check(state) {
            Check::Holds => {
                self.stood_for += self.symmetry.size(state, &mut self.room);
                self.interpreter.expand(state, &mut self.next);
            }
            Check::Excluded => {}
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
                    if states.contains(state) {
                        continue;
                    }
                    let least = self.symmetry.least(state, &mut self.room);
                    if !states.contains(least) {
                        self.found.insert(least);
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// Processors that take a lock with a number, in whatever order they come, and refer to each other.
    fn locks(claim: &str) -> Interpreter {
        let text = format!(
            "type P: scalarset(3); R: union {{ P, enum {{ Other }} }};
             var st: array [P] of 0..2; next: array [P] of R; lock: R; origin: array [P] of array [P] of boolean;
             startstate begin for p: P do st[p] := 0; next[p] := Other; for q: P do origin[p][q] := false; end; end;
               undefine lock; end;
             ruleset p: P do
               rule \"take\" isundefined(lock) ==> begin lock := p; st[p] := 1; end;
               rule \"drop\" !isundefined(lock) & lock = p ==> begin lock := Other; st[p] := 2; end;
             end;
             ruleset p: P; q: P do
               rule \"pass\" p != q & !isundefined(lock) & lock = p ==>
               begin lock := q; next[p] := q; origin[q][p] := true; end;
             end;
             {claim}"
        );
        let source = murphi::source::Source { name: "locks.m".to_owned(), text };
        let checked = murphi::load(source, &murphi::check::Options::default()).expect("a program");
        Interpreter::new(Arc::new(checked.model)).expect("a small state")
    }

    fn found(interpreter: &Interpreter, symmetry: &Symmetry) -> (Result<u64, String>, u64) {
        let mut looked_at = 0;
        let mut listener = |_: &str, _: u64, visited: u64| looked_at = visited;
        let interrupt = AtomicBool::new(false);
        let (threads, memory) = (1, None);
        let mut limits = Limits { threads, memory, interrupt: &interrupt, listener: &mut listener };
        let states = search_by(interpreter, symmetry, "locks", &mut limits);
        let states = states.map_err(|stop| match stop {
            Stop::Wrong(why) => why,
            Stop::Ended(..) => "it was not interrupted".to_owned(),
        });
        (states, looked_at)
    }

    #[test]
    fn all_states_are_counted_and_one_of_those_that_differ_by_names_is_looked_at() {
        let interpreter = locks("invariant \"true\" true;");
        let symmetry = Symmetry::of(interpreter.model(), interpreter.layout());
        let (all, each) = found(&interpreter, &Symmetry::none());
        let (counted, looked_at) = found(&interpreter, &symmetry);
        assert_eq!(counted, all);
        assert_eq!(all.expect("nothing is wrong"), each);
        assert!(looked_at * 5 < each, "{looked_at} of {each}");
    }

    #[test]
    fn what_is_wrong_with_some_names_is_found() {
        let claim = "invariant \"no circle\" forall p: P do forall q: P do
            !(origin[p][q] & origin[q][p] & st[p] = 2) end end;";
        let interpreter = locks(claim);
        let symmetry = Symmetry::of(interpreter.model(), interpreter.layout());
        let broken = Err("invariant \"no circle\" does not hold".to_owned());
        assert_eq!(found(&interpreter, &Symmetry::none()).0, broken);
        assert_eq!(found(&interpreter, &symmetry).0, broken);
    }

    #[test]
    fn members_whose_order_shows_are_not_exchanged() {
        let text = "type P: scalarset(3); var st: array [P] of 0..2; last: P;
            startstate begin for p: P do st[p] := 0; last := p; end; end;
            ruleset p: P do rule \"go\" st[p] = 0 ==> begin st[p] := 1; end; end;";
        let source = murphi::source::Source { name: "order.m".into(), text: text.into() };
        let checked = murphi::load(source, &murphi::check::Options::default()).expect("a program");
        let interpreter = Interpreter::new(Arc::new(checked.model)).expect("a small state");
        let symmetry = Symmetry::of(interpreter.model(), interpreter.layout());
        assert_eq!(found(&interpreter, &symmetry), (Ok(8), 8));
    }
}
