//! coherence: every location on its own is sequentially consistent, and nothing else is promised.
//!
//! Given a run of each thread (see [`crate::runs`]), locations have nothing to do with each other:
//! each is a machine that performs its accesses one at a time, those of a thread in order, and the
//! outcomes of the test are the product of theirs. Outcomes of a location depend only on what the
//! runs do there and are computed once for each such choice.

use rustc_hash::FxHashMap;

use crate::diagram::{Diagrams, NONE, Set, UNIT};
use crate::runs::{self, Access, Run, Runs};
use crate::search::{self, Limits, Machine, Numbered, Stopped, Successor};
use crate::test::{Litmus, LocationId};
use crate::variables::Variables;
use crate::witness::{self, Execution, MachineStep};

/// The outcomes of a test, and how they come about.
pub(crate) struct Coherent {
    runs: Runs,
    pub(crate) outcomes: Set,
    pub(crate) states: u64,
}

impl Coherent {
    /// Whether runs were left out because they go around a loop too often.
    pub(crate) fn is_cut(&self) -> bool {
        self.runs.cut
    }

    /// An execution that has this outcome.
    pub(crate) fn execution(
        &self,
        test: &Litmus,
        variables: &Variables,
        outcome: &dyn Fn(u32) -> u64,
        finals: &[(LocationId, u64)],
    ) -> Result<Option<Execution>, Stopped> {
        let mut diagrams = Diagrams::default();
        let mut solver = Solver::new(test, variables);
        let projections = solver.projections(&self.runs);
        let limits = Limits::NONE;
        let mut choice = first(&self.runs);
        while let Some(indices) = choice {
            let set = solver.choice(&self.runs, &projections, &indices, &mut diagrams, &limits)?;
            if diagrams.contains(set, outcome) {
                return solver.execution(&self.runs, &indices, outcome, finals);
            }
            choice = next(indices, &self.runs);
        }
        Ok(None)
    }
}

/// The accesses of the threads to one location: for each thread, the number of a sequence.
type Choice = (LocationId, Vec<u32>);

struct Solver<'a> {
    test: &'a Litmus,
    variables: &'a Variables,
    sequences: Numbered<Vec<Access>>,
    known: FxHashMap<Choice, Set>,
    states: u64,
}

/// Outcomes of a test.
pub(crate) fn explore(
    test: &Litmus,
    variables: &Variables,
    diagrams: &mut Diagrams,
    limits: &Limits<'_>,
) -> Result<Coherent, Stopped> {
    let mut runs = runs::all(test, variables, limits)?;
    runs.threads.iter_mut().for_each(runs::distinct);
    let mut solver = Solver::new(test, variables);
    let projections = solver.projections(&runs);
    let mut outcomes = NONE;
    let mut choice = first(&runs);
    while let Some(indices) = choice {
        let set = solver.choice(&runs, &projections, &indices, diagrams, limits)?;
        outcomes = diagrams.union(outcomes, set);
        limits.check(solver.states, diagrams.bytes())?;
        choice = next(indices, &runs);
    }
    Ok(Coherent { runs, outcomes, states: solver.states })
}

/// The first choice of a run for each thread, if every thread has one.
fn first(runs: &Runs) -> Option<Vec<usize>> {
    let all = runs.threads.iter().all(|runs| !runs.is_empty());
    all.then(|| vec![0; runs.threads.len()])
}

/// The choice after this one, counting with as many digits in each place as there are runs.
fn next(mut indices: Vec<usize>, runs: &Runs) -> Option<Vec<usize>> {
    for (index, runs) in indices.iter_mut().zip(&runs.threads) {
        *index += 1;
        if *index < runs.len() {
            return Some(indices);
        }
        *index = 0;
    }
    None
}

impl<'a> Solver<'a> {
    fn new(test: &'a Litmus, variables: &'a Variables) -> Self {
        let (sequences, known) = (Numbered::default(), FxHashMap::default());
        Solver { test, variables, sequences, known, states: 0 }
    }

    /// For each thread, run and location, the number of the sequence of accesses.
    fn projections(&mut self, runs: &Runs) -> Vec<Vec<Vec<u32>>> {
        let locations = self.test.locations.len() as u32;
        let mut project = |run: &Run| -> Vec<u32> {
            let each = (0..locations).map(|id| runs::projected(run, LocationId(id)));
            each.map(|sequence| self.sequences.id(sequence)).collect()
        };
        let threads = runs.threads.iter();
        threads.map(|runs| runs.iter().map(&mut project).collect()).collect()
    }

    /// The outcomes of one choice of runs.
    fn choice(
        &mut self,
        runs: &Runs,
        projections: &[Vec<Vec<u32>>],
        indices: &[usize],
        diagrams: &mut Diagrams,
        limits: &Limits<'_>,
    ) -> Result<Set, Stopped> {
        let mut outcomes = UNIT;
        for id in 0..self.test.locations.len() {
            let sequences = indices.iter().zip(projections);
            let sequences = sequences.map(|(&run, projections)| projections[run][id]).collect();
            let here = self.location((LocationId(id as u32), sequences), diagrams, limits)?;
            outcomes = diagrams.product(outcomes, here);
            if outcomes == NONE {
                return Ok(NONE);
            }
        }
        for (&run, runs) in indices.iter().zip(&runs.threads) {
            for &(variable, value) in &runs[run].settled {
                outcomes = diagrams.with(outcomes, variable, value);
            }
        }
        Ok(outcomes)
    }

    /// The outcomes at one location.
    fn location(
        &mut self,
        choice: Choice,
        diagrams: &mut Diagrams,
        limits: &Limits<'_>,
    ) -> Result<Set, Stopped> {
        if let Some(&known) = self.known.get(&choice) {
            return Ok(known);
        }
        let sequences = choice.1.iter().map(|&id| self.sequences.get(id).clone()).collect();
        let mut machine = Location::new(self.test, self.variables, choice.0, sequences);
        let explored = search::explore(&mut machine, diagrams, limits)?;
        self.states += explored.len() as u64;
        self.known.insert(choice, explored.outcomes);
        Ok(explored.outcomes)
    }
}

impl Solver<'_> {
    /// An execution of one choice of runs with this outcome.
    fn execution(
        &self,
        runs: &Runs,
        indices: &[usize],
        outcome: &dyn Fn(u32) -> u64,
        finals: &[(LocationId, u64)],
    ) -> Result<Option<Execution>, Stopped> {
        let chosen: Vec<&Run> =
            indices.iter().zip(&runs.threads).map(|(&run, runs)| &runs[run]).collect();
        let mut happened = Vec::new();
        for at in (0..self.test.locations.len() as u32).map(LocationId) {
            let sequences = chosen.iter().map(|run| runs::projected(run, at)).collect();
            let mut machine = Location::new(self.test, self.variables, at, sequences);
            let mut diagrams = Diagrams::default();
            let explored = search::explore(&mut machine, &mut diagrams, &Limits::NONE)?;
            machine.records_steps = true;
            let Some(here) = explored.run(&mut machine, &diagrams, outcome)? else {
                return Ok(None);
            };
            happened.push(here);
        }
        let threads: Vec<_> = chosen.iter().map(|run| places(run)).collect();
        Ok(witness::merged(self.test, &threads, &happened, finals))
    }
}

/// Where a run goes, with its fences.
fn places(run: &Run) -> Vec<Result<LocationId, crate::test::Fence>> {
    let mut places = Vec::new();
    let mut fences = run.fences.iter().peekable();
    for number in 0..=run.accesses.len() {
        while let Some((_, fence)) = fences.next_if(|(before, _)| *before == number) {
            places.push(Err(*fence));
        }
        places.extend(run.accesses.get(number).map(|access| Ok(access.at)));
    }
    places
}

/// One location with the accesses of the threads. A state is the progress of each thread, and the
/// value of the location.
struct Location<'a> {
    variables: &'a Variables,
    at: LocationId,
    initial: u64,
    sequences: Vec<Vec<Access>>,
    values: Numbered<u64>,
    records_steps: bool,
}

impl<'a> Location<'a> {
    fn new(
        test: &Litmus,
        variables: &'a Variables,
        at: LocationId,
        sequences: Vec<Vec<Access>>,
    ) -> Self {
        let initial = crate::lower::initial_memory(test)[at.0 as usize];
        Location {
            variables,
            at,
            initial,
            sequences,
            values: Numbered::default(),
            records_steps: false,
        }
    }
}

impl Machine for Location<'_> {
    fn bytes(&self) -> usize {
        self.values.len() * 32
    }

    fn width(&self) -> usize {
        self.sequences.len() + 1
    }

    fn initial(&mut self) -> Result<Successor, Stopped> {
        let mut state = vec![0; self.sequences.len()];
        state.push(self.values.id(self.initial));
        Ok(Successor { state, ..Successor::default() })
    }

    fn successors(&mut self, state: &[u32], out: &mut Vec<Successor>) -> Result<(), Stopped> {
        let threads = self.sequences.len();
        let held = *self.values.get(state[threads]);
        for thread in 0..threads {
            let Some(access) = self.sequences[thread].get(state[thread] as usize) else { continue };
            if access.guess.is_some_and(|guess| guess != held) {
                continue;
            }
            let written = access.written(held, self.variables);
            let mut arrival = Successor {
                state: state.to_vec(),
                settled: access.settle(held, self.variables),
                events: Vec::new(),
            };
            if self.records_steps {
                let (at, read) = (self.at, held);
                arrival.events.push(match (&access.action, written) {
                    (runs::Action::Write(value), _) => {
                        MachineStep::Wrote { thread, at, value: *value }
                    }
                    (_, Some(written)) => MachineStep::Modified { thread, at, read, written },
                    (_, None) => MachineStep::Read { thread, at, value: read },
                });
            }
            arrival.state[thread] += 1;
            arrival.state[threads] = self.values.id(written.unwrap_or(held));
            out.push(arrival);
        }
        Ok(())
    }

    fn finish(&self, state: &[u32]) -> Option<Vec<(u32, u64)>> {
        let done =
            |(sequence, &position): (&Vec<Access>, &u32)| position as usize == sequence.len();
        if !self.sequences.iter().zip(state).all(done) {
            return None;
        }
        let held = *self.values.get(state[self.sequences.len()]);
        let observed = self.variables.memory.iter().filter(|(id, _)| *id == self.at);
        Some(
            observed.map(|&(_, variable)| (variable, self.variables.cut(variable, held))).collect(),
        )
    }
}
