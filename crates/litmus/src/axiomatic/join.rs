//! Runs of all threads put together: which of them are executions that a model allows, and the
//! final states they end in.
//!
//! For every combination of [shapes](super::shapes) there is one list of events. Reads are given
//! their writes one by one. After each choice two things can end a branch: no valuation of some
//! thread has the values that its reads are given any more, or an axiom of the model is broken
//! whatever the rest turns out to be. With all reads decided, the registers are known, and for every
//! choice of last writes that would make a new state, `cat` is asked whether some order of writes
//! goes with it. So executions that differ in the order of writes only, and end in a state that is
//! known, are not looked for.

use std::collections::BTreeMap;

use cat::{Candidates, CatEvent, CatModel, Choice, Execution, Knowledge};

use super::cells::{Bytes, Cells};
use super::risc::Risc;
use super::shapes::{self, Observed, ShapeLink, Shaped, Valuation};
use super::x86::X86;
use crate::lower;
use crate::search::{Limits, Stopped};
use crate::test::{Litmus, Place};
use crate::variables::Variables;

/// An execution that the model allows: its events, what was chosen, and the values.
#[derive(Clone, Debug)]
pub struct Reached {
    /// The events.
    pub execution: Execution,
    /// Who read from whom, and the order of writes.
    pub choice: Choice,
    /// For each event what its access reads and what it writes.
    pub values: Vec<(Option<u64>, Option<u64>)>,
    /// For each event the bytes of its access, if not all accesses are of whole locations.
    pub(crate) bytes: Vec<Option<Bytes>>,
}

/// All outcomes, by the values of the observed places.
pub(crate) struct Found {
    pub(crate) states: BTreeMap<Vec<u64>, Reached>,
    /// Whether loops were followed less often than they can be.
    pub(crate) cut: bool,
    /// How many choices were looked at.
    pub(crate) looked_at: u64,
}

/// Finds the outcomes of a test under a model.
pub(crate) fn explore(
    test: &Litmus,
    model: &CatModel,
    variables: &Variables,
    limits: &Limits<'_>,
) -> Result<Found, Stopped> {
    let initial = lower::initial_memory(test);
    let threads: Vec<Observed> =
        (0..test.threads.len()).map(|thread| observed_thread(test, variables, thread)).collect();
    let observed = variables.memory.iter().map(|&(id, _)| id);
    let cells = Cells::whole(&test.locations, &variables.locations, observed);
    let shapes = shapes::all(&threads, &test.locations, cells, &initial, limits)?;
    let whole = |cell: &&Bytes| shapes.cells.location(shapes.cells.location_of(**cell)) == **cell;
    let is_whole = |cell: &&Bytes| !shapes.is_divided() || whole(cell);
    if let Some(&cell) = shapes.cells.all.iter().find(|cell| !is_whole(cell))
        && model.location_axiom().is_none()
        && model.shape().is_err()
    {
        return Err(Stopped::Mixed { thread: 0, location: shapes.cells.location_of(cell) });
    }
    let mut found = Found { states: BTreeMap::new(), cut: shapes.cut, looked_at: 0 };
    let mut chosen = vec![0; shapes.threads.len()];
    if shapes.threads.iter().any(Vec::is_empty) {
        return Ok(found);
    }
    loop {
        let combination: Vec<&Shaped> =
            shapes.threads.iter().zip(&chosen).map(|(shapes, &at)| &shapes[at]).collect();
        Join::new(variables, &initial, &shapes.cells, combination)
            .run(model, limits, &mut found)?;
        let next = (0..chosen.len()).find(|&at| chosen[at] + 1 < shapes.threads[at].len());
        let Some(next) = next else { return Ok(found) };
        chosen[next] += 1;
        chosen[..next].fill(0);
    }
}

fn observed_thread(test: &Litmus, variables: &Variables, thread: usize) -> Observed {
    let code = &test.threads[thread];
    let registers = variables.places.iter().filter_map(|place| match *place {
        Place::Register(of, register) if of as usize == thread => Some(register.0 as usize),
        _ => None,
    });
    Observed {
        program: match test.architecture.is_x86() {
            true => Box::new(X86::new(code)),
            false => Box::new(Risc::new(code, test.architecture)),
        },
        registers: registers.collect(),
    }
}

/// One shape of every thread, as one execution.
struct Join<'a> {
    variables: &'a Variables,
    initial: &'a [u64],
    cells: &'a Cells,
    shapes: Vec<&'a Shaped>,
    execution: Execution,
    /// For each event its thread and its number there; none for initial writes.
    origins: Vec<Option<(usize, usize)>>,
}

/// The valuations of each thread that are still possible, by their numbers.
type Possible = Vec<Vec<u32>>;

/// A branch: how many reads are decided, what is known, what is still possible.
struct Branch {
    decided: usize,
    knowledge: Knowledge,
    possible: Possible,
    reads_from: Vec<(usize, usize)>,
}

impl<'a> Join<'a> {
    fn new(
        variables: &'a Variables,
        initial: &'a [u64],
        cells: &'a Cells,
        shapes: Vec<&'a Shaped>,
    ) -> Self {
        let count = cells.all.len();
        let mut join = Join {
            variables,
            initial,
            cells,
            execution: Execution {
                events: (0..count).map(CatEvent::initial).collect(),
                ..Execution::default()
            },
            origins: vec![None; count],
            shapes,
        };
        let mut wholes: Vec<usize> = (0..count).collect();
        for (thread, shaped) in join.shapes.iter().enumerate() {
            // The events of each access: one for each of its cells.
            let mut parts = Vec::with_capacity(shaped.shape.events.len());
            for (number, event) in shaped.shape.events.iter().enumerate() {
                let first = join.origins.len();
                let cells: Vec<Option<usize>> = match event.at {
                    Some(bytes) => cells.of(bytes).map(Some).collect(),
                    None => vec![None],
                };
                for cell in cells {
                    join.execution.events.push(event.event(thread as u32, cell));
                    join.origins.push(Some((thread, number)));
                    wholes.push(first);
                }
                parts.push(first..join.origins.len());
            }
            for &(link, from, to) in &shaped.shape.links {
                for from in parts[usize::from(from)].clone() {
                    for to in parts[usize::from(to)].clone() {
                        let address = |at: usize| join.execution.events[at].address;
                        let joins = match link {
                            ShapeLink::Dependency(_) => true,
                            ShapeLink::Atomic | ShapeLink::Exclusive => {
                                address(from) == address(to)
                            }
                        };
                        if joins {
                            join.execution.links.push((link.link(), from, to));
                        }
                    }
                }
            }
        }
        if wholes.iter().enumerate().any(|(at, &whole)| at != whole) {
            join.execution.wholes = wholes;
        }
        join.execution.sources = join.sources();
        join
    }

    /// The bytes of the access that an event is of.
    fn bytes(&self, event: usize) -> Option<Bytes> {
        match self.origins[event] {
            None => self.cells.all.get(event).copied(),
            Some((thread, number)) => self.shapes[thread].shape.events[number].at,
        }
    }

    /// What an event has of a value of its access: the bytes of its cell.
    fn cut(&self, event: usize, value: u64) -> u64 {
        match (self.bytes(event), self.execution.events[event].address) {
            (Some(bytes), Some(cell)) => bytes.cut(value, self.cells.all[cell]),
            _ => value,
        }
    }

    /// What an initial event writes.
    fn initial_value(&self, event: usize) -> u64 {
        self.cells.value(self.cells.all[event], self.initial)
    }

    /// The reads, each with the writes whose value it may have.
    fn sources(&self) -> Vec<(usize, Vec<usize>)> {
        let events = &self.execution.events;
        let reads = (0..events.len()).filter(|&at| events[at].is_read());
        let possible: Possible = self.everything();
        let of = |read: usize| {
            let candidates = (0..events.len()).filter(|&write| {
                write != read
                    && events[write].is_write()
                    && events[write].address == events[read].address
                    && self.may_agree(&possible, read, write)
            });
            (read, candidates.collect())
        };
        reads.map(of).collect()
    }

    fn everything(&self) -> Possible {
        self.shapes.iter().map(|shaped| (0..shaped.valuations.len() as u32).collect()).collect()
    }

    /// Whether some possible value of a write is a possible value of a read.
    fn may_agree(&self, possible: &Possible, read: usize, write: usize) -> bool {
        let Some((thread, number)) = self.origins[read] else { return false };
        if let Some((other, wrote)) = self.origins[write]
            && other == thread
        {
            let mut valuations = self.valuations(possible, thread);
            return valuations.any(|each| {
                self.cut(read, each.read[number]) == self.cut(write, each.written[wrote])
            });
        }
        let written: Vec<u64> = self.written(possible, write);
        let mut valuations = self.valuations(possible, thread);
        valuations.any(|each| written.contains(&self.cut(read, each.read[number])))
    }

    fn valuations<'b>(
        &'b self,
        possible: &'b Possible,
        thread: usize,
    ) -> impl Iterator<Item = &'b Valuation> + 'b {
        let all = &self.shapes[thread].valuations;
        possible[thread].iter().map(move |&at| &all[at as usize])
    }

    /// The values that a write may still have.
    fn written(&self, possible: &Possible, write: usize) -> Vec<u64> {
        let mut values: Vec<u64> = match self.origins[write] {
            None => vec![self.initial_value(write)],
            Some((thread, number)) => {
                let valuations = self.valuations(possible, thread);
                valuations.map(|each| self.cut(write, each.written[number])).collect()
            }
        };
        values.sort_unstable();
        values.dedup();
        values
    }

    fn run(&self, model: &CatModel, limits: &Limits<'_>, found: &mut Found) -> Result<(), Stopped> {
        if self.execution.sources.iter().any(|(_, writes)| writes.is_empty()) {
            return Ok(());
        }
        let mut candidates = Candidates::new(model, &self.execution);
        let start = Branch {
            decided: 0,
            knowledge: candidates.start(),
            possible: self.everything(),
            reads_from: Vec::new(),
        };
        let mut branches = vec![start];
        while let Some(branch) = branches.pop() {
            found.looked_at += 1;
            limits.check(found.looked_at, 0)?;
            if candidates.is_refuted(&branch.knowledge) {
                continue;
            }
            let Some((read, writes)) = self.execution.sources.get(branch.decided) else {
                self.finish(&branch, &mut candidates, limits, found)?;
                continue;
            };
            for &write in writes.iter().rev() {
                let mut reads_from = branch.reads_from.clone();
                reads_from.push((*read, write));
                let mut possible = branch.possible.clone();
                if !self.narrow(&mut possible, &reads_from) {
                    continue;
                }
                branches.push(Branch {
                    decided: branch.decided + 1,
                    knowledge: candidates.read_from(&branch.knowledge, *read, write),
                    possible,
                    reads_from,
                });
            }
        }
        Ok(())
    }

    /// Leaves out valuations that do not go with who reads from whom; false if a thread has none
    /// left.
    fn narrow(&self, possible: &mut Possible, reads_from: &[(usize, usize)]) -> bool {
        loop {
            let mut changed = false;
            for &(read, write) in reads_from {
                changed |= self.narrow_by(possible, read, write);
                if possible.iter().any(Vec::is_empty) {
                    return false;
                }
            }
            if !changed {
                return true;
            }
        }
    }

    /// The same for one read; whether any was left out.
    fn narrow_by(&self, possible: &mut Possible, read: usize, write: usize) -> bool {
        let Some((thread, number)) = self.origins[read] else { return false };
        let before: usize = possible.iter().map(Vec::len).sum();
        let values = |thread: usize| &self.shapes[thread].valuations;
        match self.origins[write] {
            Some((other, wrote)) if other == thread => {
                possible[thread].retain(|&at| {
                    let each = &values(thread)[at as usize];
                    self.cut(read, each.read[number]) == self.cut(write, each.written[wrote])
                });
            }
            origin => {
                let written = self.written(possible, write);
                possible[thread].retain(|&at| {
                    written.contains(&self.cut(read, values(thread)[at as usize].read[number]))
                });
                if let Some((other, wrote)) = origin {
                    let valuations = self.valuations(possible, thread);
                    let returned: Vec<u64> =
                        valuations.map(|each| self.cut(read, each.read[number])).collect();
                    possible[other].retain(|&at| {
                        returned
                            .contains(&self.cut(write, values(other)[at as usize].written[wrote]))
                    });
                }
            }
        }
        possible.iter().map(Vec::len).sum::<usize>() != before
    }

    /// All reads are decided: every way to choose the valuations, and the last writes.
    fn finish(
        &self,
        branch: &Branch,
        candidates: &mut Candidates<'_>,
        limits: &Limits<'_>,
        found: &mut Found,
    ) -> Result<(), Stopped> {
        let mut chosen = vec![0; branch.possible.len()];
        loop {
            let valuations: Vec<&Valuation> = (0..chosen.len())
                .map(|thread| {
                    let at = branch.possible[thread][chosen[thread]];
                    &self.shapes[thread].valuations[at as usize]
                })
                .collect();
            if branch.reads_from.iter().all(|&(read, write)| {
                self.read_value(&valuations, read) == self.written_value(&valuations, write)
            }) {
                self.last_writes(branch, &valuations, candidates, limits, found)?;
            }
            let next = (0..chosen.len()).find(|&at| chosen[at] + 1 < branch.possible[at].len());
            let Some(next) = next else { return Ok(()) };
            chosen[next] += 1;
            chosen[..next].fill(0);
        }
    }

    fn read_value(&self, valuations: &[&Valuation], event: usize) -> u64 {
        let whole =
            self.origins[event].map_or(0, |(thread, number)| valuations[thread].read[number]);
        self.cut(event, whole)
    }

    fn written_value(&self, valuations: &[&Valuation], event: usize) -> u64 {
        match self.origins[event] {
            None => self.initial_value(event),
            Some((thread, number)) => self.cut(event, valuations[thread].written[number]),
        }
    }

    /// Every choice of last writes of the observed locations that makes a new state.
    fn last_writes(
        &self,
        branch: &Branch,
        valuations: &[&Valuation],
        candidates: &mut Candidates<'_>,
        limits: &Limits<'_>,
        found: &mut Found,
    ) -> Result<(), Stopped> {
        let locations = self.variables.memory.iter().map(|&(id, _)| self.cells.location(id));
        let observed: Vec<usize> = locations.flat_map(|bytes| self.cells.of(bytes)).collect();
        let options: Vec<Vec<usize>> = observed.iter().map(|&at| self.may_be_last(at)).collect();
        let mut chosen = vec![0; options.len()];
        loop {
            let last: Vec<usize> = options.iter().zip(&chosen).map(|(of, &at)| of[at]).collect();
            let state = self.state(valuations, &observed, &last);
            if !found.states.contains_key(&state) {
                let knowledge = last.iter().try_fold(branch.knowledge.clone(), |so_far, &write| {
                    candidates.last(&so_far, write)
                });
                if let Some(knowledge) = knowledge {
                    found.looked_at += 1;
                    let so_far = found.looked_at;
                    let go_on = |effort: &cat::Effort| {
                        limits.check(so_far + effort.evaluations, effort.bytes).is_ok()
                    };
                    let completed = candidates.complete(knowledge, go_on);
                    let completed = completed.map_err(|_| Stopped::Asked { states: so_far })?;
                    if let Some(choice) = completed {
                        found.states.insert(state, self.reached(valuations, choice));
                    }
                }
            }
            let next = (0..chosen.len()).find(|&at| chosen[at] + 1 < options[at].len());
            let Some(next) = next else { return Ok(()) };
            chosen[next] += 1;
            chosen[..next].fill(0);
        }
    }

    /// The writes of a cell that may be the last: any but the initial one, if there are others.
    fn may_be_last(&self, cell: usize) -> Vec<usize> {
        let writes: Vec<usize> = (self.cells.all.len()..self.origins.len())
            .filter(|&at| {
                let event = &self.execution.events[at];
                event.is_write() && event.address == Some(cell)
            })
            .collect();
        if writes.is_empty() { vec![cell] } else { writes }
    }

    /// The values of the observed places.
    fn state(&self, valuations: &[&Valuation], observed: &[usize], last: &[usize]) -> Vec<u64> {
        let mut next = vec![0; valuations.len()];
        let value = |place: &Place| match *place {
            Place::Register(thread, _) => {
                let thread = thread as usize;
                next[thread] += 1;
                valuations[thread].registers[next[thread] - 1]
            }
            Place::Memory(id) => {
                let whole = self.cells.location(id);
                let cells = observed.iter().zip(last);
                let cells = cells.filter(|(cell, _)| whole.contains(self.cells.all[**cell]));
                cells.fold(0, |value, (&cell, &write)| {
                    value | whole.place(self.written_value(valuations, write), self.cells.all[cell])
                })
            }
        };
        let values = self.variables.places.iter().map(value);
        let kinds = self.variables.kinds.iter();
        values.zip(kinds).map(|(value, kind)| kind.size.cut(value)).collect()
    }

    fn reached(&self, valuations: &[&Valuation], choice: Choice) -> Reached {
        let value = |(at, event): (usize, &CatEvent)| match self.origins[at] {
            None => (None, Some(self.initial_value(at))),
            Some((thread, number)) => {
                let read = event.is_read().then(|| valuations[thread].read[number]);
                (read, event.is_write().then(|| valuations[thread].written[number]))
            }
        };
        let values = self.execution.events.iter().enumerate().map(value).collect();
        let bytes = match self.cells.are_whole() {
            true => Vec::new(),
            false => (0..self.execution.events.len()).map(|at| self.bytes(at)).collect(),
        };
        Reached { execution: self.execution.clone(), choice, values, bytes }
    }
}
