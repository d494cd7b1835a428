//! sc, tso and pso as machines: threads, store buffers, one memory.
//!
//! * **sc**: every access goes to memory at once.
//! * **tso**: a write waits in the thread's buffer, first in, first out; a read takes the newest
//!   write of its address from the own buffer, else what memory holds. `mfence` and atomic
//!   instructions wait for the buffer to drain. This is x86-TSO (Owens, Sarkar, Sewell 2009).
//! * **pso**: a buffer for each address. An atomic instruction waits for the writes of its own
//!   address only, as SPARC has it; `sfence` keeps later writes behind earlier ones.
//!
//! Not every order of steps is tried. A step that cannot be distinguished from doing it later is done
//! at once and alone: putting a write into the buffer, passing a fence, and any access to a
//! location that no other thread can interfere with any more. These are persistent sets (Godefroid
//! 1996), which keep every final state.

use crate::compute::{self, Cells};
use crate::flow::{self, FlowFacts, Locations};
use crate::lower::{self, CELLS, Step, Target};
use crate::search::{Machine, Numbered, Stopped, Successor};
use crate::test::{Fence, Litmus, LocationId, Size};
use crate::variables::Variables;
use crate::witness::MachineStep;

/// Which machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Style {
    Sc,
    Tso,
    Pso,
}

/// A write that waits, or a barrier that later writes may not pass.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Waiting {
    Write(LocationId, u64),
    Barrier,
}

/// A thread between two accesses. Registers that do not matter any more hold 0.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Thread {
    step: u32,
    cells: Cells,
    buffer: Vec<Waiting>,
}

/// The future accesses of a thread.
#[derive(Clone, Copy, Default)]
struct FutureAccesses {
    reads: Locations,
    writes: Locations,
}

struct Program {
    steps: Vec<Step>,
    rest: Vec<FlowFacts>,
}

/// Steps without an access after which a thread is given up.
const PATIENCE: u32 = 1_000_000;
/// Steps done at once after which a state is kept, so that going in circles is noticed.
const CHAIN: u32 = 64;

pub(crate) struct Buffers<'a> {
    test: &'a Litmus,
    variables: Variables,
    style: Style,
    /// Whether to record_steps what happens.
    records_steps: bool,
    programs: Vec<Program>,
    threads: Vec<Numbered<Thread>>,
    memories: Numbered<Vec<u64>>,
    observed: Locations,
    /// The size of the stored thread states in bytes (estimate).
    kept: usize,
}

/// A state being changed.
struct StateDraft {
    ids: Vec<u32>,
    settled: Vec<(u32, u64)>,
    events: Vec<MachineStep>,
}

/// Something a thread can do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Move {
    /// The next step of the program.
    Step,
    /// The write at this place of the buffer reaches memory.
    Commit(usize),
}

impl<'a> Buffers<'a> {
    pub(crate) fn new(test: &'a Litmus, variables: Variables, style: Style) -> Self {
        let program = |(thread, code)| {
            let steps = lower::steps(code);
            let rest = flow::rest(&steps, variables.observed_cells(thread));
            Program { steps, rest }
        };
        let programs = test.threads.iter().enumerate().map(program).collect();
        let observed = variables.memory.iter().map(|&(id, _)| flow::bit(id));
        let observed = observed.fold(0, |all, bit| all | bit);
        Buffers {
            test,
            variables,
            style,
            records_steps: false,
            programs,
            threads: test.threads.iter().map(|_| Numbered::default()).collect(),
            memories: Numbered::default(),
            observed,
            kept: 0,
        }
    }

    /// From now on, arrivals record_steps what happened on the way. Numbers of states stay the same.
    pub(crate) fn record_steps(&mut self) {
        self.records_steps = true;
    }

    fn thread(&self, moving: &[u32], thread: usize) -> &Thread {
        self.threads[thread].get(moving[thread])
    }

    fn memory(&self, moving: &[u32]) -> &Vec<u64> {
        self.memories.get(moving[self.programs.len()])
    }

    fn interest(&self, ids: &[u32], thread: usize) -> FutureAccesses {
        let state = self.thread(ids, thread);
        let rest = self.programs[thread].rest[state.step as usize];
        let mut interest = FutureAccesses { reads: rest.reads, writes: rest.writes };
        for waiting in &state.buffer {
            if let Waiting::Write(at, _) = waiting {
                interest.writes |= flow::bit(*at);
            }
        }
        interest
    }

    fn location(&self, thread: usize, cells: &Cells, at: Target) -> Result<LocationId, Stopped> {
        match at {
            Target::Location(id) => Ok(id),
            Target::Computed(memory) => {
                let address = compute::address(cells, memory);
                let found = lower::location_at(address, &self.test.locations);
                found.ok_or(Stopped::Fault { thread, address })
            }
        }
    }

    /// Whether the next step of a thread can be taken, and the location it accesses.
    fn ready(
        &self,
        ids: &[u32],
        thread: usize,
    ) -> Result<Option<(Step, Option<LocationId>)>, Stopped> {
        let state = self.thread(ids, thread);
        let step = self.programs[thread].steps[state.step as usize];
        let at = match step {
            Step::Load { at, .. } | Step::Store { at, .. } | Step::Modify { at, .. } => {
                Some(self.location(thread, &state.cells, at)?)
            }
            _ => None,
        };
        let writes_to = |id: LocationId| {
            move |waiting: &Waiting| match waiting {
                Waiting::Write(at, _) => *at == id,
                Waiting::Barrier => true,
            }
        };
        let ready = match (step, at) {
            (Step::End, _) => false,
            (Step::Fence(Fence::Full), _) => state.buffer.is_empty(),
            (Step::Modify { .. }, Some(id)) => match self.style {
                Style::Sc | Style::Tso => state.buffer.is_empty(),
                Style::Pso => !state.buffer.iter().any(writes_to(id)),
            },
            _ => true,
        };
        Ok(ready.then_some((step, at)))
    }

    /// The writes of a buffer that may reach memory next.
    fn committable(&self, ids: &[u32], thread: usize) -> Vec<(usize, LocationId)> {
        let buffer = &self.thread(ids, thread).buffer;
        let mut found: Vec<(usize, LocationId)> = Vec::new();
        for (index, waiting) in buffer.iter().enumerate() {
            let Waiting::Write(at, _) = *waiting else { break };
            if !found.iter().any(|&(_, known)| known == at) {
                found.push((index, at));
            }
            if self.style != Style::Pso {
                break;
            }
        }
        found
    }

    /// A move that need not be interleaved with others, if there is one.
    fn alone(&self, ids: &[u32]) -> Result<Option<(usize, Move)>, Stopped> {
        let threads = self.programs.len();
        let interests: Vec<FutureAccesses> =
            (0..threads).map(|thread| self.interest(ids, thread)).collect();
        for thread in 0..threads {
            let others = interests.iter().enumerate().filter(|&(other, _)| other != thread);
            let others = others.fold(FutureAccesses::default(), |all, (_, one)| FutureAccesses {
                reads: all.reads | one.reads,
                writes: all.writes | one.writes,
            });
            // Writes leave before others enter, so that a buffer does not grow for nothing.
            for (index, at) in self.committable(ids, thread) {
                let at = flow::bit(at);
                let unseen = (others.reads | interests[thread].reads | self.observed) & at == 0;
                if unseen || (others.reads | others.writes) & at == 0 {
                    return Ok(Some((thread, Move::Commit(index))));
                }
            }
            if let Some((step, at)) = self.ready(ids, thread)? {
                let at = at.map_or(0, flow::bit);
                let alone = match step {
                    Step::Load { .. } => others.writes & at == 0,
                    Step::Store { .. } if self.style != Style::Sc => true,
                    Step::Store { .. } | Step::Modify { .. } => {
                        (others.reads | others.writes) & at == 0
                    }
                    _ => true,
                };
                if alone {
                    return Ok(Some((thread, Move::Step)));
                }
            }
        }
        Ok(None)
    }

    fn perform(
        &mut self,
        moving: &mut StateDraft,
        thread: usize,
        what: Move,
    ) -> Result<(), Stopped> {
        match what {
            Move::Step => self.step(moving, thread),
            Move::Commit(index) => {
                self.commit(moving, thread, index);
                Ok(())
            }
        }
    }

    fn step(&mut self, moving: &mut StateDraft, thread: usize) -> Result<(), Stopped> {
        let Some((step, at)) = self.ready(&moving.ids, thread)? else { return Ok(()) };
        let mut state = self.thread(&moving.ids, thread).clone();
        let before = state.step;
        state.step += 1;
        match (step, at) {
            (Step::Load { to, size, .. }, Some(at)) => {
                let value = self.seen(moving, &state, at);
                compute::set(&mut state.cells, to, value, size);
                self.record_step(moving, MachineStep::Read { thread, at, value });
            }
            (Step::Store { from, size, .. }, Some(at)) => {
                let value = self.fit(at, compute::value(&state.cells, from), size);
                self.record_step(moving, MachineStep::Wrote { thread, at, value });
                if self.style == Style::Sc {
                    self.write(moving, at, value);
                    self.record_step(moving, MachineStep::Reached { thread, at });
                } else {
                    self.enqueue(&mut state.buffer, Waiting::Write(at, value));
                }
            }
            (Step::Modify { change, size, .. }, Some(at)) => {
                let read = self.memory(&moving.ids)[at.0 as usize];
                let written = compute::modify(&mut state.cells, change, read, size);
                let written = self.fit(at, written, size);
                self.write(moving, at, written);
                self.record_step(moving, MachineStep::Modified { thread, at, read, written });
            }
            (Step::Fence(fence), _) => {
                if fence == Fence::Store && self.style == Style::Pso {
                    self.enqueue(&mut state.buffer, Waiting::Barrier);
                }
                self.record_step(moving, MachineStep::Fenced { thread, fence });
            }
            _ => {}
        }
        self.settle(moving, thread, before, state)
    }

    /// The part of a value that an access of this size keeps.
    fn fit(&self, at: LocationId, value: u64, size: Size) -> u64 {
        self.variables.locations[at.0 as usize].size.min(size).cut(value)
    }

    /// The value that a read returns.
    fn seen(&self, moving: &StateDraft, state: &Thread, at: LocationId) -> u64 {
        let own = state.buffer.iter().rev().find_map(|waiting| match *waiting {
            Waiting::Write(to, value) if to == at => Some(value),
            _ => None,
        });
        own.unwrap_or_else(|| self.memory(&moving.ids)[at.0 as usize])
    }

    /// Puts something into a buffer, in the one order in which it is kept: where writes of
    /// different addresses may pass each other, they stand by address.
    fn enqueue(&self, buffer: &mut Vec<Waiting>, waiting: Waiting) {
        let place = match waiting {
            Waiting::Barrier => {
                if matches!(buffer.last(), None | Some(Waiting::Barrier)) {
                    return;
                }
                buffer.len()
            }
            Waiting::Write(to, _) if self.style == Style::Pso => {
                let after = |known: &Waiting| match known {
                    Waiting::Barrier => true,
                    Waiting::Write(at, _) => *at <= to,
                };
                buffer.iter().rposition(after).map_or(0, |index| index + 1)
            }
            Waiting::Write(..) => buffer.len(),
        };
        buffer.insert(place, waiting);
    }

    fn commit(&mut self, moving: &mut StateDraft, thread: usize, index: usize) {
        let mut state = self.thread(&moving.ids, thread).clone();
        if let Waiting::Write(at, value) = state.buffer.remove(index) {
            self.write(moving, at, value);
            self.record_step(moving, MachineStep::Reached { thread, at });
        }
        if state.buffer.first() == Some(&Waiting::Barrier) {
            state.buffer.remove(0);
        }
        moving.ids[thread] = self.keep(thread, state);
    }

    /// The number of a thread's state.
    fn keep(&mut self, thread: usize, state: Thread) -> u32 {
        let (known, waiting) = (self.threads[thread].len(), state.buffer.len());
        let id = self.threads[thread].id(state);
        if self.threads[thread].len() > known {
            self.kept += 2 * (size_of::<Thread>() + waiting * size_of::<Waiting>() + 32);
        }
        id
    }

    fn write(&mut self, moving: &mut StateDraft, at: LocationId, value: u64) {
        let mut memory = self.memory(&moving.ids).clone();
        memory[at.0 as usize] = value;
        let threads = self.programs.len();
        moving.ids[threads] = self.memories.id(memory);
    }

    fn record_step(&self, moving: &mut StateDraft, happened: MachineStep) {
        if self.records_steps {
            moving.events.push(happened);
        }
    }

    /// Computes until the next access, settles what can be, and forgets what does not matter.
    fn settle(
        &mut self,
        moving: &mut StateDraft,
        thread: usize,
        before: u32,
        mut state: Thread,
    ) -> Result<(), Stopped> {
        let program = &self.programs[thread];
        let mut patience = PATIENCE;
        while compute::run(&mut state.cells, &program.steps[state.step as usize], &mut state.step) {
            patience -= 1;
            if patience == 0 {
                return Err(Stopped::Endless { thread });
            }
        }
        let rest = program.rest[state.step as usize];
        let earlier = match before {
            u32::MAX => 0,
            before => program.rest[before as usize].settled,
        };
        for cell in 0..CELLS as u8 {
            if rest.settled & !earlier & (1 << cell) != 0 {
                let variable = self.variables.cell(thread, cell);
                moving
                    .settled
                    .push((variable, self.variables.cut(variable, state.cells[cell as usize])));
            }
            if rest.live & !rest.settled & (1 << cell) == 0 {
                state.cells[cell as usize] = 0;
            }
        }
        moving.ids[thread] = self.keep(thread, state);
        Ok(())
    }

    /// Drops values in memory that no thread will read.
    fn forget(&mut self, ids: &mut [u32]) {
        let threads = self.programs.len();
        let mut wanted = self.observed;
        for thread in 0..threads {
            wanted |= self.interest(ids, thread).reads;
        }
        let memory = self.memory(ids);
        let dead = |(index, value): (usize, &u64)| {
            *value != 0 && wanted & flow::bit(LocationId(index as u32)) == 0
        };
        if memory.iter().enumerate().any(dead) {
            let mut memory = memory.clone();
            for (index, value) in memory.iter_mut().enumerate() {
                if wanted & flow::bit(LocationId(index as u32)) == 0 {
                    *value = 0;
                }
            }
            ids[threads] = self.memories.id(memory);
        }
    }

    /// Does what can be done alone.
    fn arrive(&mut self, mut moving: StateDraft) -> Result<Successor, Stopped> {
        for _ in 0..CHAIN {
            let Some((thread, what)) = self.alone(&moving.ids)? else { break };
            self.perform(&mut moving, thread, what)?;
        }
        self.forget(&mut moving.ids);
        Ok(Successor { state: moving.ids, settled: moving.settled, events: moving.events })
    }
}

impl Machine for Buffers<'_> {
    fn bytes(&self) -> usize {
        let memory = 2 * (32 + 8 * self.test.locations.len());
        self.kept + self.memories.len() * memory
    }

    fn width(&self) -> usize {
        self.programs.len() + 1
    }

    fn initial(&mut self) -> Result<Successor, Stopped> {
        let threads = self.programs.len();
        let memory = self.memories.id(lower::initial_memory(self.test));
        let mut moving =
            StateDraft { ids: vec![0; threads + 1], settled: Vec::new(), events: Vec::new() };
        moving.ids[threads] = memory;
        for thread in 0..threads {
            let cells = lower::initial_cells(&self.test.threads[thread]);
            let state = Thread { step: 0, cells, buffer: Vec::new() };
            self.settle(&mut moving, thread, u32::MAX, state)?;
        }
        self.arrive(moving)
    }

    fn successors(&mut self, state: &[u32], out: &mut Vec<Successor>) -> Result<(), Stopped> {
        let mut moves = Vec::new();
        match self.alone(state)? {
            Some(alone) => moves.push(alone),
            None => {
                for thread in 0..self.programs.len() {
                    if self.ready(state, thread)?.is_some() {
                        moves.push((thread, Move::Step));
                    }
                    let commits = self.committable(state, thread).into_iter();
                    moves.extend(commits.map(|(index, _)| (thread, Move::Commit(index))));
                }
            }
        }
        for (thread, what) in moves {
            let mut moving =
                StateDraft { ids: state.to_vec(), settled: Vec::new(), events: Vec::new() };
            self.perform(&mut moving, thread, what)?;
            out.push(self.arrive(moving)?);
        }
        Ok(())
    }

    fn finish(&self, state: &[u32]) -> Option<Vec<(u32, u64)>> {
        let ended = |thread: usize| {
            let at = self.thread(state, thread);
            at.buffer.is_empty() && self.programs[thread].steps[at.step as usize] == Step::End
        };
        if !(0..self.programs.len()).all(ended) {
            return None;
        }
        let memory = self.memory(state);
        let settled =
            self.variables.memory.iter().map(|&(id, variable)| {
                (variable, self.variables.cut(variable, memory[id.0 as usize]))
            });
        Some(settled.collect())
    }
}
