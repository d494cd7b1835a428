//! What each thread may do, whatever memory returns to it: its runs, put together by their shape.
//!
//! A run guesses what every read returns and whether every store-conditional succeeds. Most runs
//! differ in values only: the same events at the same places with the same dependencies. These are
//! one [`Shape`] with a list of [`Valuation`]s, so that who reads from whom is decided once for all
//! of them.
//!
//! Values are guessed from the least sets that have the initial values and everything that is
//! written by a run with such guesses; a value is as many writes away from the initial ones as the
//! threads have at most, so that many rounds suffice.

use std::collections::BTreeSet;

use cat::{Action, Atomicity, CatEvent, Link};
use history::{AccessOrder, DependencyKind};
use rustc_hash::FxHashMap;

use super::cells::{Bytes, Cells};
use super::thread::{
    Events, MOST_EVENTS, Operand, Program, Registers, Request, Sources, ThreadAction,
};
use crate::lower;
use crate::runs::UNROLL;
use crate::search::{Limits, Stopped};
use crate::test::{Location, Size};

/// Steps without an access after which a thread is given up.
const PATIENCE: u32 = 1_000_000;
/// No more runs of one thread than this.
const MAX_RUNS: usize = 1 << 18;

/// The events of a run without their values.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Shape {
    pub(crate) events: Vec<ShapeEvent>,
    /// How they belong together, by their numbers.
    pub(crate) links: Vec<(ShapeLink, u8, u8)>,
}

/// What [`Link`] says, in an order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum ShapeLink {
    Dependency(DependencyKind),
    Atomic,
    Exclusive,
}

impl ShapeLink {
    pub(crate) fn link(self) -> Link {
        match self {
            ShapeLink::Dependency(kind) => Link::Dependency(kind),
            ShapeLink::Atomic => Link::Atomic,
            ShapeLink::Exclusive => Link::Exclusive,
        }
    }
}

/// An event of a run without its value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct ShapeEvent {
    pub(crate) instruction: u32,
    pub(crate) action: ShapeAction,
    pub(crate) at: Option<Bytes>,
    pub(crate) order: Option<AccessOrder>,
    pub(crate) atomicity: u8,
    pub(crate) returns_nothing: bool,
}

/// What [`Action`] says, in a form that can be compared and hashed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum ShapeAction {
    Read,
    Write,
    Update,
    Fence(history::Kinds, history::Kinds, Option<history::FenceName>),
}

const SINGLE: u8 = 0;
const ATOMIC: u8 = 1;
const EXCLUSIVE: u8 = 2;

impl ShapeEvent {
    fn access(request: &Request, at: Bytes, instruction: u32, action: ShapeAction) -> Self {
        ShapeEvent {
            instruction,
            action,
            at: Some(at),
            order: request.order,
            atomicity: SINGLE,
            returns_nothing: false,
        }
    }

    /// The event in the terms of models, as far as it is about a cell.
    pub(crate) fn event(&self, thread: u32, cell: Option<usize>) -> CatEvent {
        let action = match self.action {
            ShapeAction::Read => Action::Read,
            ShapeAction::Write => Action::Write,
            ShapeAction::Update => Action::Update,
            ShapeAction::Fence(before, after, name) => Action::Fence { before, after, name },
        };
        CatEvent {
            order: self.order,
            atomicity: match self.atomicity {
                ATOMIC => Atomicity::Atomic,
                EXCLUSIVE => Atomicity::Exclusive,
                _ => Atomicity::Single,
            },
            returns_nothing: self.returns_nothing,
            ..CatEvent::new(thread, self.instruction, action, cell)
        }
    }

    pub(crate) fn is_write(&self) -> bool {
        matches!(self.action, ShapeAction::Write | ShapeAction::Update)
    }
}

/// The values of a run.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Valuation {
    /// What each event reads, and what it writes; 0 for what it does not do.
    pub(crate) read: Vec<u64>,
    pub(crate) written: Vec<u64>,
    /// The registers at the end that are observed.
    pub(crate) registers: Vec<u64>,
}

/// A shape with all its valuations.
pub(crate) struct Shaped {
    pub(crate) shape: Shape,
    pub(crate) valuations: Vec<Valuation>,
}

/// What all threads may do.
pub(crate) struct Shapes {
    pub(crate) threads: Vec<Vec<Shaped>>,
    /// Where their accesses cut the locations.
    pub(crate) cells: Cells,
    /// Whether runs were left out because they go around a loop too often.
    pub(crate) cut: bool,
}

impl Shapes {
    /// Whether an access is of several cells.
    pub(crate) fn is_divided(&self) -> bool {
        let mut events = self.threads.iter().flatten().flat_map(|shaped| &shaped.shape.events);
        events.any(|event| event.at.is_some_and(|bytes| self.cells.of(bytes).count() > 1))
    }
}

/// A thread with what is observed of it.
pub(crate) struct Observed {
    pub(crate) program: Box<dyn Program>,
    /// The registers that a state shows.
    pub(crate) registers: Vec<usize>,
}

/// The shapes of all threads.
pub(crate) fn all(
    threads: &[Observed],
    locations: &[Location],
    mut cells: Cells,
    initial: &[u64],
    limits: &Limits<'_>,
) -> Result<Shapes, Stopped> {
    loop {
        let found = all_with(threads, locations, initial, &cells, limits)?;
        let events = found.threads.iter().flatten().flat_map(|shaped| &shaped.shape.events);
        let cut = cells.cut_by(&events.filter_map(|event| event.at).collect());
        if cut == cells {
            return Ok(found);
        }
        cells = cut;
    }
}

/// The shapes of all threads, with values guessed for these cells.
fn all_with(
    threads: &[Observed],
    locations: &[Location],
    initial: &[u64],
    cells: &Cells,
    limits: &Limits<'_>,
) -> Result<Shapes, Stopped> {
    let first = |cell: &Bytes| BTreeSet::from([cells.value(*cell, initial)]);
    let mut values: Vec<BTreeSet<u64>> = cells.all.iter().map(first).collect();
    let mut rounds = 0;
    loop {
        let mut found = Shapes { threads: Vec::new(), cells: cells.clone(), cut: false };
        for (thread, observed) in threads.iter().enumerate() {
            let values = &values;
            let runner = Runner { observed, thread, locations, cells, values, limits };
            let (shapes, cut) = runner.runs()?;
            found.threads.push(shapes);
            found.cut |= cut;
        }
        let before: usize = values.iter().map(BTreeSet::len).sum();
        for shaped in found.threads.iter().flatten() {
            let events = shaped.shape.events.iter().enumerate().filter(|(_, each)| each.is_write());
            for (at, bytes) in events.filter_map(|(at, each)| Some((at, each.at?))) {
                let inside = |&cell: &usize| bytes.contains(cells.all[cell]);
                for cell in cells.of(bytes).filter(inside) {
                    let part = |each: &Valuation| bytes.cut(each.written[at], cells.all[cell]);
                    values[cell].extend(shaped.valuations.iter().map(part));
                }
            }
        }
        let unchanged = values.iter().map(BTreeSet::len).sum::<usize>() == before;
        if unchanged || rounds == most_writes(&found) {
            return Ok(found);
        }
        rounds += 1;
    }
}

/// How many writes an execution has at most.
fn most_writes(shapes: &Shapes) -> usize {
    let writes = |shaped: &Shaped| shaped.shape.events.iter().filter(|e| e.is_write()).count();
    let most = |shapes: &Vec<Shaped>| shapes.iter().map(writes).max().unwrap_or(0);
    shapes.threads.iter().map(most).sum()
}

struct Runner<'a> {
    observed: &'a Observed,
    thread: usize,
    locations: &'a [Location],
    cells: &'a Cells,
    /// What each cell may hold.
    values: &'a [BTreeSet<u64>],
    limits: &'a Limits<'a>,
}

/// A run that has not ended.
#[derive(Clone)]
struct Partial {
    step: u32,
    registers: Registers,
    shape: Shape,
    values: Valuation,
    /// What the branches so far depend on.
    control: Events,
    /// What the writes since the first picked one wrote to, and what picked where and what.
    picked: Vec<(Bytes, Events)>,
    /// The exclusive load that a store-conditional would be paired with.
    reserved: Option<usize>,
    /// How often it has gone around a loop in a way that memory decided, and how often in all.
    jumped_back: u32,
    turns: u32,
    /// Whether memory has decided something since it last jumped back: a branch, or whether a
    /// store-conditional succeeded.
    is_decided_by_memory: bool,
}

impl Partial {
    fn link(&mut self, kind: DependencyKind, events: Events) {
        let to = self.shape.events.len() as u8;
        for from in (0..to).filter(|&from| events & (1 << from) != 0) {
            self.shape.links.push((ShapeLink::Dependency(kind), from, to));
        }
    }

    /// Adds an event with its dependencies, and returns its number. What picked its address is as a
    /// branch to it and to all that follows, what picked its data as a branch to it alone.
    fn push(&mut self, event: ShapeEvent, address: Sources, data: Sources) -> usize {
        self.control |= address.picked;
        self.link(DependencyKind::Address, address.carried);
        self.link(DependencyKind::Data, data.carried);
        self.link(DependencyKind::Control, self.control | data.picked);
        self.shape.events.push(event);
        self.values.read.push(0);
        self.values.written.push(0);
        self.shape.events.len() - 1
    }

    /// What a read returns depends on it, and on what picked the last writes of its thread to what it
    /// reads: a pick dependency goes on through memory. If the read acquires, what follows is ordered
    /// after it, and writes are ordered after what it was picked by.
    fn read(&mut self, read: ShapeEvent, by: usize) -> Sources {
        let picked = read.at.map_or(0, |at| self.picks_at(at));
        if read.order.is_some() {
            self.control |= picked;
        }
        Sources { picked, ..Sources::event(by) }
    }

    /// What picked the last writes to some bytes.
    fn picks_at(&self, bytes: Bytes) -> Events {
        let mut picked = 0;
        let meets = |at: &Bytes| {
            (at.at, at.start < bytes.end(), bytes.start < at.end()) == (bytes.at, true, true)
        };
        for (at, picks) in self.picked.iter().rev().filter(|(at, _)| meets(at)) {
            picked |= picks;
            if at.start <= bytes.start && bytes.end() <= at.end() {
                break;
            }
        }
        picked
    }

    /// A write to some bytes, and what picked it.
    fn wrote(&mut self, at: Bytes, picked: Events) {
        if picked != 0 || !self.picked.is_empty() {
            self.picked.push((at, picked));
        }
    }
}

impl Runner<'_> {
    /// All runs by their shapes, and whether some were cut short.
    fn runs(&self) -> Result<(Vec<Shaped>, bool), Stopped> {
        let start = Partial {
            step: 0,
            registers: self.observed.program.start(),
            shape: Shape::default(),
            values: Valuation::default(),
            control: 0,
            picked: Vec::new(),
            reserved: None,
            jumped_back: 0,
            turns: 0,
            is_decided_by_memory: false,
        };
        let mut found: Vec<Shaped> = Vec::new();
        let mut numbers: FxHashMap<Shape, usize> = FxHashMap::default();
        let (mut pending, mut runs, mut cut) = (vec![start], 0, false);
        while let Some(partial) = pending.pop() {
            self.limits.check(runs as u64, 0)?;
            let Some((partial, act)) = self.to_access(partial)? else {
                cut = true;
                continue;
            };
            if let ThreadAction::End = act {
                runs += 1;
                self.finish(partial, &mut found, &mut numbers);
            } else {
                self.access(partial, act, &mut pending)?;
            }
            if runs + pending.len() > MAX_RUNS {
                return Err(Stopped::Runs { thread: self.thread });
            }
        }
        Ok((found, cut))
    }

    fn finish(
        &self,
        partial: Partial,
        found: &mut Vec<Shaped>,
        numbers: &mut FxHashMap<Shape, usize>,
    ) {
        let Partial { shape, mut values, registers, .. } = partial;
        let observed = self.observed.registers.iter();
        values.registers = observed.map(|&register| registers.values[register]).collect();
        let next = found.len();
        let number = *numbers.entry(shape.clone()).or_insert(next);
        if number == next {
            found.push(Shaped { shape, valuations: Vec::new() });
        }
        found[number].valuations.push(values);
    }

    /// Goes on to the next access or the end; `None` if that is too far around a loop. Turns that
    /// the registers alone decide, as those of a loop that counts, are not limited: there is one way
    /// to go on.
    fn to_access(&self, mut partial: Partial) -> Result<Option<(Partial, ThreadAction)>, Stopped> {
        for _ in 0..PATIENCE {
            let act = self.observed.program.act(partial.step, &mut partial.registers);
            let next = match act {
                ThreadAction::Computed { next } => next,
                ThreadAction::Branched { sources, next } => {
                    partial.control |= sources.all();
                    partial.is_decided_by_memory |= sources.all() != 0;
                    next
                }
                ThreadAction::Fence { before, after, name } => {
                    if !self.has_room(&partial)? {
                        return Ok(None);
                    }
                    let event = ShapeEvent {
                        instruction: partial.shape.events.len() as u32,
                        action: ShapeAction::Fence(before, after, name),
                        at: None,
                        order: None,
                        atomicity: SINGLE,
                        returns_nothing: false,
                    };
                    partial.push(event, Sources::NONE, Sources::NONE);
                    partial.step + 1
                }
                ThreadAction::End => return Ok(Some((partial, act))),
                _ => return Ok(self.has_room(&partial)?.then_some((partial, act))),
            };
            if next <= partial.step {
                partial.turns += 1;
                partial.jumped_back += u32::from(std::mem::take(&mut partial.is_decided_by_memory));
                if partial.jumped_back > UNROLL {
                    return Ok(None);
                }
            }
            partial.step = next;
        }
        Err(Stopped::Endless { thread: self.thread })
    }

    /// Whether there is room for one more access; if there is none because of a loop, the run is cut
    /// short.
    fn has_room(&self, partial: &Partial) -> Result<bool, Stopped> {
        match partial.shape.events.len() + 2 > MOST_EVENTS {
            true if partial.turns > UNROLL => Ok(false),
            true => Err(Stopped::Runs { thread: self.thread }),
            false => Ok(true),
        }
    }

    /// The bytes of a request, which must be those of one location.
    fn location(&self, request: &Request) -> Result<Bytes, Stopped> {
        let address = request.address.value;
        let fault = Stopped::Fault { thread: self.thread, address };
        let Some((location, offset)) = lower::location_around(address, self.locations) else {
            return Err(fault);
        };
        let whole = self.cells.location(location);
        if self.observed.program.ignores_sizes() {
            return if offset == 0 { Ok(whole) } else { Err(fault) };
        }
        let start = whole.start + u16::from(offset);
        let bytes = Bytes { at: whole.at, start, size: (request.size.bits() / 8) as u8 };
        if bytes.end() > self.cells.end(whole.at) {
            return Err(fault);
        }
        if !start.is_multiple_of(u16::from(bytes.size)) {
            return Err(Stopped::Mixed { thread: self.thread, location });
        }
        Ok(bytes)
    }

    /// What some bytes may hold: every combination of what their cells may.
    fn guesses(&self, bytes: Bytes) -> Result<Vec<u64>, Stopped> {
        let mut guesses = vec![0];
        for number in self.cells.of(bytes) {
            let cell = self.cells.all[number];
            // A cell that is only partly read will be cut, and then all is done again.
            let start = cell.start.max(bytes.start);
            let size = (cell.end().min(bytes.end()) - start) as u8;
            let part = Bytes { start, size, ..cell };
            let parts: BTreeSet<u64> =
                self.values[number].iter().map(|&value| cell.cut(value, part)).collect();
            let joined = guesses
                .iter()
                .flat_map(|&low| parts.iter().map(move |&value| low | bytes.place(value, part)));
            guesses = joined.collect();
            if guesses.len() > MAX_RUNS {
                return Err(Stopped::Runs { thread: self.thread });
            }
        }
        Ok(guesses)
    }

    /// Makes an access, with every guess that it needs.
    fn access(
        &self,
        mut partial: Partial,
        act: ThreadAction,
        pending: &mut Vec<Partial>,
    ) -> Result<(), Stopped> {
        let instruction = partial.shape.events.len() as u32;
        let step = partial.step;
        partial.step += 1;
        match act {
            ThreadAction::Load { request, exclusive } => {
                let at = self.location(&request)?;
                let mut event = ShapeEvent::access(&request, at, instruction, ShapeAction::Read);
                if exclusive {
                    event.atomicity = EXCLUSIVE;
                }
                let by = partial.push(event, request.address.sources, Sources::NONE);
                if exclusive {
                    partial.reserved = Some(by);
                }
                let from = partial.read(event, by);
                for value in self.guesses(at)? {
                    let mut guessed = partial.clone();
                    guessed.values.read[by] = value;
                    self.observed.program.loaded(step, &mut guessed.registers, value, from);
                    pending.push(guessed);
                }
            }
            ThreadAction::Store { request, value } => {
                let at = self.location(&request)?;
                let event = ShapeEvent::access(&request, at, instruction, ShapeAction::Write);
                self.write(&mut partial, event, &request, value);
                pending.push(partial);
            }
            ThreadAction::StoreConditional { request, value } => {
                let at = self.location(&request)?;
                partial.is_decided_by_memory = true;
                let mut failed = partial.clone();
                failed.reserved = None;
                self.observed.program.stored(step, &mut failed.registers, None);
                pending.push(failed);
                let load = partial.reserved.take();
                let is_pair = |load: &usize| partial.shape.events[*load].at == Some(at);
                if let Some(load) = load.filter(is_pair) {
                    let mut event =
                        ShapeEvent::access(&request, at, instruction, ShapeAction::Write);
                    event.atomicity = EXCLUSIVE;
                    let by = self.write(&mut partial, event, &request, value);
                    partial.shape.links.push((ShapeLink::Exclusive, load as u8, by as u8));
                    self.observed.program.stored(step, &mut partial.registers, Some(by));
                    pending.push(partial);
                }
            }
            ThreadAction::Modify { request, returns_nothing } => {
                let at = self.location(&request)?;
                let program = &self.observed.program;
                let by = partial.shape.events.len();
                let from = Sources { picked: partial.picks_at(at), ..Sources::event(by) };
                let atomic = ShapeEvent {
                    atomicity: ATOMIC,
                    returns_nothing,
                    ..ShapeEvent::access(&request, at, instruction, ShapeAction::Read)
                };
                for value in self.guesses(at)? {
                    let mut guessed = partial.clone();
                    let written = program.modified(step, &mut guessed.registers, value, from);
                    self.modify(&mut guessed, &request, atomic, value, written);
                    pending.push(guessed);
                    let mut guessed = partial.clone();
                    let registers = &mut guessed.registers;
                    if let Some(written) = program.modified_otherwise(step, registers, value, from)
                    {
                        self.modify(&mut guessed, &request, atomic, value, Some(written));
                        pending.push(guessed);
                    }
                }
            }
            ThreadAction::Computed { .. }
            | ThreadAction::Branched { .. }
            | ThreadAction::Fence { .. }
            | ThreadAction::End => {}
        }
        Ok(())
    }

    fn write(
        &self,
        partial: &mut Partial,
        event: ShapeEvent,
        request: &Request,
        value: Operand,
    ) -> usize {
        let by = partial.push(event, request.address.sources, value.sources);
        let at = event.at.expect("a write has a place");
        partial.wrote(at, request.address.sources.picked | value.sources.picked);
        partial.values.written[by] = fit(at, request.size, value.value);
        by
    }

    /// An atomic that reads this value, given as its read: one event, or two halves.
    fn modify(
        &self,
        partial: &mut Partial,
        request: &Request,
        atomic: ShapeEvent,
        value: u64,
        written: Option<Operand>,
    ) {
        let address = request.address.sources;
        if let (true, Some(written)) = (self.observed.program.has_atomics_as_one(), written) {
            let update = ShapeEvent { action: ShapeAction::Update, ..atomic };
            let by = self.write(partial, update, request, written);
            partial.values.read[by] = value;
            return;
        }
        // On Arm, where atomics are two halves, one that returns nothing does not acquire.
        let order = atomic.order.and_then(reading_half).filter(|_| !atomic.returns_nothing);
        let read = ShapeEvent { order, ..atomic };
        let by = partial.push(read, address, Sources::NONE);
        partial.read(read, by);
        partial.values.read[by] = value;
        let Some(written) = written else { return };
        // The halves belong together without a dependency between them.
        let order = atomic.order.and_then(writing_half);
        let action = ShapeAction::Write;
        let write = ShapeEvent { action, order, returns_nothing: false, ..atomic };
        let to = self.write(partial, write, request, written);
        partial.shape.links.push((ShapeLink::Atomic, by as u8, to as u8));
    }
}

/// As much of a value as an access of this size writes to these bytes.
fn fit(at: Bytes, size: Size, value: u64) -> u64 {
    let value = size.cut(value);
    value & (u64::MAX >> (64 - 8 * u32::from(at.size)))
}

/// How the read of an atomic is ordered: what acquires is the read.
fn reading_half(order: AccessOrder) -> Option<AccessOrder> {
    match order {
        AccessOrder::Release => None,
        AccessOrder::AcquireRelease => Some(AccessOrder::Acquire),
        other => Some(other),
    }
}

/// How the write of an atomic is ordered: what releases is the write.
fn writing_half(order: AccessOrder) -> Option<AccessOrder> {
    match order {
        AccessOrder::Acquire | AccessOrder::AcquirePc => None,
        AccessOrder::AcquireRelease => Some(AccessOrder::Release),
        other => Some(other),
    }
}
