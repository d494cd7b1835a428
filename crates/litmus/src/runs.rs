//! What one thread may do, whatever memory returns to it.
//!
//! Where nothing orders accesses of different locations, a thread cannot be run along one order of
//! events. But what a read returns matters to the rest of its thread only if an instruction uses
//! it. So a run guesses the values of reads that are used, and no others; along it, every access
//! has a known place and, but for atomic instructions, writes a known value.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use crate::compute::{self, Cells};
use crate::flow;
use crate::lower::{self, CELLS, Cell, Change, Step, Target};
use crate::search::{Limits, Stopped};
use crate::test::{Fence, Litmus, LocationId, Size};
use crate::variables::Variables;

/// One way through a thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct Run {
    /// Its accesses, in program order.
    pub(crate) accesses: Vec<Access>,
    /// Its fences, each with the number of accesses before it.
    pub(crate) fences: Vec<(usize, Fence)>,
    /// Variables whose value does not depend on unguessed reads.
    pub(crate) settled: Vec<(u32, u64)>,
}

/// One access of a run.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Access {
    pub(crate) at: LocationId,
    pub(crate) action: Action,
    /// The value that it must read, if that was guessed.
    pub(crate) guess: Option<u64>,
    /// Variables that it settles, with the registers whose values they take.
    pub(crate) settles: Vec<(Cell, u32)>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Action {
    Write(u64),
    /// With the registers before it, as far as it reads them.
    Load {
        to: Cell,
        size: Size,
        cells: Cells,
    },
    Modify {
        change: Change,
        size: Size,
        cells: Cells,
    },
}

/// Values that each location may hold.
pub(crate) type Values = Vec<BTreeSet<u64>>;

/// All runs of all threads.
pub(crate) struct Runs {
    pub(crate) threads: Vec<Vec<Run>>,
    /// Whether runs were left out because they go around a loop too often.
    pub(crate) cut: bool,
}

/// The largest number of backward jumps of a run; herd7's default.
pub(crate) const UNROLL: u32 = 2;
/// Steps without an access after which a thread is given up.
const PATIENCE: u32 = 1_000_000;
/// No more runs of one thread than this.
const MAX_RUNS: usize = 1 << 20;

/// The runs of every thread. Values are guessed from the least sets that have the initial values
/// and everything that is written by a run with such guesses; a value is as many writes away from
/// the initial ones as a test has at most, so that many rounds suffice.
pub(crate) fn all(
    test: &Litmus,
    variables: &Variables,
    limits: &Limits<'_>,
) -> Result<Runs, Stopped> {
    let mut values: Values =
        lower::initial_memory(test).into_iter().map(|value| BTreeSet::from([value])).collect();
    let threads: Vec<Thread<'_>> =
        (0..test.threads.len()).map(|thread| Thread::new(test, variables, thread)).collect();
    let writes = threads.iter().flat_map(|thread| &thread.steps);
    let writes = writes.filter(|step| matches!(step, Step::Store { .. } | Step::Modify { .. }));
    let jumps_back = threads.iter().any(|thread| thread.jumps_back());
    let rounds = writes.count() * if jumps_back { 1 + UNROLL as usize } else { 1 };
    for _ in 0..rounds {
        let runs = round(&threads, &values, limits)?;
        let before: usize = values.iter().map(BTreeSet::len).sum();
        for access in runs.threads.iter().flatten().flat_map(|run| &run.accesses) {
            let written: Vec<u64> = match access.guess {
                Some(read) => access.written(read, variables).into_iter().collect(),
                None => {
                    let reads = values[access.at.0 as usize].iter();
                    reads.filter_map(|&read| access.written(read, variables)).collect()
                }
            };
            values[access.at.0 as usize].extend(written);
        }
        if values.iter().map(BTreeSet::len).sum::<usize>() == before {
            return Ok(runs);
        }
    }
    round(&threads, &values, limits)
}

fn round(threads: &[Thread<'_>], values: &Values, limits: &Limits<'_>) -> Result<Runs, Stopped> {
    let mut all = Runs { threads: Vec::new(), cut: false };
    for thread in threads {
        let (runs, cut) = thread.runs(values, limits)?;
        all.threads.push(runs);
        all.cut |= cut;
    }
    Ok(all)
}

impl Access {
    /// The value that it writes after reading this one.
    pub(crate) fn written(&self, read: u64, variables: &Variables) -> Option<u64> {
        match self.action {
            Action::Write(value) => Some(value),
            Action::Load { .. } => None,
            Action::Modify { change, size, mut cells } => {
                let written = compute::modify(&mut cells, change, read, size);
                Some(fit(variables, self.at, written, size))
            }
        }
    }

    /// The values that it settles after reading this one.
    pub(crate) fn settle(&self, read: u64, variables: &Variables) -> Vec<(u32, u64)> {
        let mut after = [0; CELLS];
        match self.action {
            Action::Write(_) => {}
            Action::Load { to, size, cells } => {
                after = cells;
                compute::set(&mut after, to, read, size);
            }
            Action::Modify { change, size, cells } => {
                after = cells;
                compute::modify(&mut after, change, read, size);
            }
        }
        let value = |cell: Cell, variable| variables.cut(variable, after[cell as usize]);
        self.settles.iter().map(|&(cell, variable)| (variable, value(cell, variable))).collect()
    }
}

fn fit(variables: &Variables, at: LocationId, value: u64, size: Size) -> u64 {
    variables.locations[at.0 as usize].size.min(size).cut(value)
}

/// A thread to be run.
struct Thread<'a> {
    test: &'a Litmus,
    variables: &'a Variables,
    index: usize,
    steps: Vec<Step>,
    /// For each step, the registers that instructions may read before they are overwritten.
    read: Vec<u32>,
}

/// A run that has not ended.
#[derive(Clone)]
struct Partial {
    run: Run,
    step: u32,
    cells: Cells,
    /// For each register, the access without a guess that it was last changed by.
    unknown: [Option<usize>; CELLS],
    jumped_back: u32,
}

impl<'a> Thread<'a> {
    fn new(test: &'a Litmus, variables: &'a Variables, index: usize) -> Self {
        let steps = lower::steps(&test.threads[index]);
        // If nothing is observed, the live registers are those that instructions read.
        let read = flow::rest(&steps, 0).iter().map(|rest| rest.live).collect();
        Thread { test, variables, index, steps, read }
    }

    fn jumps_back(&self) -> bool {
        let mut steps = self.steps.iter().enumerate();
        steps.any(|(index, step)| match step {
            Step::Jump { target, .. } => *target as usize <= index,
            _ => false,
        })
    }

    /// All runs, and whether some were cut short.
    fn runs(&self, values: &Values, limits: &Limits<'_>) -> Result<(Vec<Run>, bool), Stopped> {
        let start = Partial {
            run: Run::default(),
            step: 0,
            cells: lower::initial_cells(&self.test.threads[self.index]),
            unknown: [None; CELLS],
            jumped_back: 0,
        };
        let (mut finished, mut cut) = (Vec::new(), false);
        let mut pending = vec![start];
        while let Some(mut partial) = pending.pop() {
            limits.check(finished.len() as u64, 0)?;
            if !self.to_access(&mut partial)? {
                cut = true;
                continue;
            }
            if self.steps[partial.step as usize] == Step::End {
                finished.push(self.finish(partial));
            } else {
                self.access(partial, values, &mut pending)?;
            }
            if finished.len() + pending.len() > MAX_RUNS {
                return Err(Stopped::Runs { thread: self.index });
            }
        }
        Ok((finished, cut))
    }

    /// Goes on to the next access or the end; false if that is too far around a loop.
    fn to_access(&self, partial: &mut Partial) -> Result<bool, Stopped> {
        for _ in 0..PATIENCE {
            let step = self.steps[partial.step as usize];
            let before = partial.step;
            if let Step::Fence(fence) = step {
                partial.run.fences.push((partial.run.accesses.len(), fence));
                partial.step += 1;
            } else if compute::run(&mut partial.cells, &step, &mut partial.step) {
                let changed = compute::changes(&step);
                for (cell, unknown) in partial.unknown.iter_mut().enumerate() {
                    if changed & (1 << cell) != 0 {
                        *unknown = None;
                    }
                }
            } else {
                return Ok(true);
            }
            if partial.step <= before {
                partial.jumped_back += 1;
                if partial.jumped_back > UNROLL {
                    return Ok(false);
                }
            }
        }
        Err(Stopped::Endless { thread: self.index })
    }

    /// Makes an access, with every guess if it needs one.
    fn access(
        &self,
        mut partial: Partial,
        values: &Values,
        pending: &mut Vec<Partial>,
    ) -> Result<(), Stopped> {
        let step = self.steps[partial.step as usize];
        let (target, action) = match step {
            Step::Load { to, at, size } => {
                (at, Action::Load { to, size, cells: part(&partial.cells, 1 << to) })
            }
            Step::Modify { change, at, size } => {
                let cells = part(&partial.cells, compute::uses(&step).0);
                (at, Action::Modify { change, size, cells })
            }
            Step::Store { at, .. } => (at, Action::Write(0)),
            _ => return Ok(()),
        };
        let at = self.location(&partial.cells, target)?;
        partial.step += 1;
        if let Step::Store { from, size, .. } = step {
            let value = fit(self.variables, at, compute::value(&partial.cells, from), size);
            let action = Action::Write(value);
            let access = Access { at, action, guess: None, settles: Vec::new() };
            partial.run.accesses.push(access);
            pending.push(partial);
            return Ok(());
        }
        let changed = compute::changes(&step);
        if changed & self.read[partial.step as usize] == 0 {
            let number = partial.run.accesses.len();
            for (cell, unknown) in partial.unknown.iter_mut().enumerate() {
                if changed & (1 << cell) != 0 {
                    *unknown = Some(number);
                }
            }
            partial.run.accesses.push(Access { at, action, guess: None, settles: Vec::new() });
            pending.push(partial);
            return Ok(());
        }
        for &value in &values[at.0 as usize] {
            let mut guessed = partial.clone();
            match action {
                Action::Load { to, size, .. } => compute::set(&mut guessed.cells, to, value, size),
                Action::Modify { change, size, .. } => {
                    compute::modify(&mut guessed.cells, change, value, size);
                }
                Action::Write(_) => {}
            }
            for (cell, unknown) in guessed.unknown.iter_mut().enumerate() {
                if changed & (1 << cell) != 0 {
                    *unknown = None;
                }
            }
            let action = action.clone();
            guessed.run.accesses.push(Access {
                at,
                action,
                guess: Some(value),
                settles: Vec::new(),
            });
            pending.push(guessed);
        }
        Ok(())
    }

    fn location(&self, cells: &Cells, at: Target) -> Result<LocationId, Stopped> {
        match at {
            Target::Location(id) => Ok(id),
            Target::Computed(memory) => {
                let address = compute::address(cells, memory);
                let found = lower::location_at(address, &self.test.locations);
                found.ok_or(Stopped::Fault { thread: self.index, address })
            }
        }
    }

    /// Settles the observed registers.
    fn finish(&self, partial: Partial) -> Run {
        let mut run = partial.run;
        let observed = self.variables.observed_cells(self.index);
        for cell in (0..CELLS as Cell).filter(|cell| observed & (1 << cell) != 0) {
            let variable = self.variables.cell(self.index, cell);
            match partial.unknown[cell as usize] {
                Some(access) => run.accesses[access].settles.push((cell, variable)),
                None => {
                    let value = self.variables.cut(variable, partial.cells[cell as usize]);
                    run.settled.push((variable, value));
                }
            }
        }
        run
    }
}

/// A subset of the registers, so that accesses with the same effect are equal.
fn part(cells: &Cells, wanted: u32) -> Cells {
    let mut part = *cells;
    for (cell, value) in part.iter_mut().enumerate() {
        if wanted & (1 << cell) == 0 {
            *value = 0;
        }
    }
    part
}

/// The accesses of a run to one location, in order.
pub(crate) fn projected(run: &Run, at: LocationId) -> Vec<Access> {
    run.accesses.iter().filter(|access| access.at == at).cloned().collect()
}

/// Removes runs that are equal for every observer.
pub(crate) fn distinct(runs: &mut Vec<Run>) {
    let mut seen = FxHashSet::default();
    runs.retain(|run| seen.insert((run.accesses.clone(), run.settled.clone())));
}
