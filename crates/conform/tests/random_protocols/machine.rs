//! Is a small trace allowed? The machines that define sequential consistency and total store order,
//! run in every way.
//!
//! Written for this comparison, with nothing of the engines in it: a trace is a list of events for
//! each processor, and a machine is a memory and, for total store order, a queue of stores for each
//! processor. An address whose first value is not known takes the one that is read first.

use rustc_hash::FxHashSet;

/// The most processors, and the most addresses.
const MOST: usize = 4;

/// A load or a store. Everything is a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Event {
    pub(crate) processor: u8,
    pub(crate) is_store: bool,
    pub(crate) address: u8,
    pub(crate) value: u8,
}

/// What each processor did in program order, and the first values that are known.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Trace {
    /// By processors, and those of one in its order.
    events: Vec<Event>,
    first: [Option<u8>; MOST],
}

impl Trace {
    pub(crate) fn length(&self) -> usize {
        self.events.len()
    }

    /// Adds an event, after all others of its processor.
    pub(crate) fn push(&mut self, event: Event) {
        let at = self.events.partition_point(|other| other.processor <= event.processor);
        self.events.insert(at, event);
    }

    /// Says what an address holds at first.
    pub(crate) fn begin(&mut self, address: u8, value: u8) {
        self.first[usize::from(address)] = Some(value);
    }

    /// Whether a load shows the same as the last event of its processor.
    pub(crate) fn repeats(&self, load: Event) -> bool {
        let end = self.events.partition_point(|other| other.processor <= load.processor);
        let last = self.events[..end].last();
        !load.is_store && last.is_some_and(|last| Event { is_store: false, ..*last } == load)
    }

    /// Whether its first processor and its first address are those with the least number. (Only what
    /// the first processor did first is looked at, so that it is asked of traces of one event.)
    pub(crate) fn begins_with_the_first(&self) -> bool {
        match &self.events[..] {
            [one] => one.processor == 1 && one.address == 1,
            _ => true,
        }
    }

    /// Whether no two stores to an address store the same, and none what it held at first.
    pub(crate) fn is_differentiated(&self) -> bool {
        let stores = || self.events.iter().filter(|event| event.is_store);
        stores().enumerate().all(|(at, event)| {
            let is_same =
                |other: &Event| other.address == event.address && other.value == event.value;
            self.first[usize::from(event.address)] != Some(event.value)
                && !stores().skip(at + 1).any(is_same)
        })
    }

    /// In the text format.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for (address, value) in self.first.iter().enumerate() {
            if let Some(value) = value {
                text += &format!("init M[{address}] == {value}\n");
            }
        }
        for Event { processor, is_store, address, value } in &self.events {
            let sign = if *is_store { ":=" } else { "==" };
            text += &format!("{processor}: M[{address}] {sign} {value}\n");
        }
        text
    }

    /// Where the events of each processor end.
    fn ends(&self) -> [usize; MOST] {
        std::array::from_fn(|at| {
            self.events.partition_point(|event| usize::from(event.processor) <= at)
        })
    }
}

/// Where a machine is: which event each processor does next, which it has not yet drained beyond, and
/// what memory holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Machine {
    next: [usize; MOST],
    drained: [usize; MOST],
    memory: [Option<u8>; MOST],
}

/// Whether a run of the machine without queues, or with them, has this trace.
pub(crate) fn allows(trace: &Trace, queues: bool) -> bool {
    let ends = trace.ends();
    let begins = std::array::from_fn(|at| if at == 0 { 0 } else { ends[at - 1] });
    let start = Machine { next: begins, drained: begins, memory: trace.first };
    let mut known = FxHashSet::default();
    known.insert(start);
    let mut open = vec![start];
    while let Some(machine) = open.pop() {
        if machine.next == ends {
            return true;
        }
        for (at, &end) in ends.iter().enumerate() {
            let drains = machine.drain(at, trace);
            let does = (machine.next[at] < end).then(|| machine.event(at, trace, queues));
            for next in drains.into_iter().chain(does.flatten()) {
                if known.insert(next) {
                    open.push(next);
                }
            }
        }
    }
    false
}

impl Machine {
    /// The stores of a processor that have not drained, the oldest first.
    fn queue<'t>(
        &self,
        at: usize,
        trace: &'t Trace,
    ) -> impl DoubleEndedIterator<Item = (usize, &'t Event)> {
        let from = self.drained[at];
        let events = trace.events[from..self.next[at]].iter().enumerate();
        events
            .filter(|(_, event)| event.is_store)
            .map(move |(number, event)| (from + number, event))
    }

    /// The oldest store of a processor reaches memory.
    fn drain(&self, at: usize, trace: &Trace) -> Option<Machine> {
        let (number, store) = self.queue(at, trace).next()?;
        let mut next = *self;
        next.drained[at] = number + 1;
        next.memory[usize::from(store.address)] = Some(store.value);
        Some(next)
    }

    /// A processor does its next event; nothing if it loads another value.
    fn event(&self, at: usize, trace: &Trace, queues: bool) -> Option<Machine> {
        let event = trace.events[self.next[at]];
        let mut next = *self;
        next.next[at] += 1;
        let place = usize::from(event.address);
        if event.is_store {
            if !queues {
                next.drained[at] = next.next[at];
                next.memory[place] = Some(event.value);
            }
            return Some(next);
        }
        let own = self.queue(at, trace).rev().find(|(_, store)| store.address == event.address);
        let seen = own.map(|(_, store)| store.value).or(self.memory[place]);
        if seen.is_none() {
            next.memory[place] = Some(event.value);
        }
        seen.is_none_or(|seen| seen == event.value).then_some(next)
    }
}
