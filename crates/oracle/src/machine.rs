//! Three machines that define `sc`, `tso` and `pso` by what they can do, and a search through
//! everything they can do.
//!
//! A thread performs its events in program order. Under `sc` a write goes straight to memory.
//! Under `tso` and `pso` it is pending until it drains to memory on its own; a read takes the value
//! of the latest pending write of its address and thread, or else what memory holds. Pending
//! writes of a thread drain first in, first out, under `pso` only where they are of one address. A
//! read-modify-write reads and writes memory at once: under `tso` when no write of its thread is
//! pending, under `pso` when none of its address is.
//!
//! A fence never waits; what comes after it does. Reads of memory are performed in order and
//! before all later writes anyway, so what a fence can add is this: with writes before and reads
//! after it, a later read waits until the earlier writes have drained; with writes before and
//! after it, a later write drains after the earlier ones.
//!
//! The search visits each state once: which events were performed, which writes are in memory, and
//! what memory holds.

use history::{Event, EventId, History, Operation, Source, Value};
use models::Model;
use rustc_hash::FxHashSet;

/// Whether some run of the machine of `sc`, `tso` or `pso` has every read return what the history
/// says, and ends as its `final` and `order` lines say.
///
/// ```
/// use models::Model;
/// use tribunal_oracle::machine_allows;
///
/// let store_buffering = history::parse_text(
///     "0: M[x] := 1
///      0: M[y] == 0
///      1: M[y] := 1
///      1: M[x] == 0",
/// )?;
/// assert!(machine_allows(&store_buffering, Model::Tso));
/// assert!(!machine_allows(&store_buffering, Model::Sc));
/// # Ok::<(), history::InputError>(())
/// ```
///
/// # Panics
///
/// If the model is none of the three, or the history has more than 64 events.
pub fn machine_allows(history: &History, model: Model) -> bool {
    let machine = Machine::new(history, model);
    let mut unexplored = vec![machine.start()];
    let mut visited = FxHashSet::default();
    while let Some(state) = unexplored.pop() {
        let steps = machine.steps(&state);
        if steps.is_empty() && machine.ends_as_observed(&state) {
            return true;
        }
        for step in steps {
            if machine.is_as_observed(&state, step) {
                let next = machine.after(&state, step);
                if visited.insert(next.clone()) {
                    unexplored.push(next);
                }
            }
        }
    }
    false
}

/// A machine and the program it runs: the events of a history, whose reads may return anything.
pub(crate) struct Machine<'h> {
    history: &'h History,
    model: Model,
}

/// What the machine has done so far. Sets of events are sets of bits.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct State {
    performed: u64,
    in_memory: u64,
    memory: Vec<Value>,
}

/// What the machine can do next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// A thread performs its next event.
    Perform(EventId),
    /// A pending write goes to memory.
    Drain(EventId),
}

fn bit(event: EventId) -> u64 {
    1 << event.index()
}

impl<'h> Machine<'h> {
    pub(crate) fn new(history: &'h History, model: Model) -> Self {
        assert!(history.len() <= 64, "the machine takes at most 64 events, not {}", history.len());
        assert!(matches!(model, Model::Sc | Model::Tso | Model::Pso), "no machine for {model}");
        Self { history, model }
    }

    pub(crate) fn start(&self) -> State {
        let memory = self.history.address_ids().map(|x| self.history.address(x).initial).collect();
        State { performed: 0, in_memory: 0, memory }
    }

    /// Everything the machine can do in a state; nothing once every event is performed and every
    /// write drained, and only then: the first pending write of a thread can always drain.
    pub(crate) fn steps(&self, state: &State) -> Vec<Step> {
        let mut steps = Vec::new();
        for thread in self.history.threads() {
            let next = self.history.thread_events(thread).find(|&e| state.performed & bit(e) == 0);
            steps.extend(next.filter(|&e| self.may_perform(state, e)).map(Step::Perform));
        }
        let pending = self.history.event_ids().filter(|&e| self.is_pending(state, e));
        steps.extend(pending.filter(|&e| self.may_drain(state, e)).map(Step::Drain));
        steps
    }

    fn event(&self, id: EventId) -> Event {
        self.history.event(id)
    }

    fn is_pending(&self, state: &State, event: EventId) -> bool {
        self.event(event).is_write() && (state.performed & !state.in_memory) & bit(event) != 0
    }

    /// The pending writes of the thread of an event, before it in program order.
    fn pending_before(&self, state: &State, event: EventId) -> impl Iterator<Item = EventId> {
        let thread = self.event(event).thread;
        self.history
            .thread_events(thread)
            .take_while(move |&e| e < event)
            .filter(move |&e| self.is_pending(state, e))
    }

    fn may_perform(&self, state: &State, event: EventId) -> bool {
        match self.event(event).operation {
            Operation::Write { .. } | Operation::Fence { .. } => true,
            Operation::Read { .. } => {
                !self.pending_before(state, event).any(|w| self.is_fenced_read(w, event))
            }
            Operation::ReadModifyWrite { .. } => {
                self.may_drain(state, event)
                    && !self.pending_before(state, event).any(|w| self.is_fenced_read(w, event))
            }
        }
    }

    /// Whether no earlier pending write of the thread must go to memory before this one.
    fn may_drain(&self, state: &State, write: EventId) -> bool {
        !self.pending_before(state, write).any(|earlier| {
            self.model == Model::Tso
                || self.event(earlier).address() == self.event(write).address()
                || self.is_fenced_write(earlier, write)
        })
    }

    /// Whether a fence between a write and a later read makes the read wait for the write.
    fn is_fenced_read(&self, write: EventId, read: EventId) -> bool {
        self.events_between(write, read).any(|event| {
            matches!(event.operation, Operation::Fence { before, after } if before.writes && after.reads)
        })
    }

    /// Whether a fence between two writes makes the later wait for the earlier.
    fn is_fenced_write(&self, earlier: EventId, later: EventId) -> bool {
        self.events_between(earlier, later).any(|event| {
            matches!(event.operation, Operation::Fence { before, after } if before.writes && after.writes)
        })
    }

    fn events_between(&self, earlier: EventId, later: EventId) -> impl Iterator<Item = Event> {
        self.history.events_in(earlier.index() + 1..later.index())
    }

    /// The value that a step takes from a pending write or from memory, if it reads.
    pub(crate) fn returns(&self, state: &State, step: Step) -> Option<Value> {
        let Step::Perform(id) = step else { return None };
        let address = self.event(id).address().filter(|_| self.event(id).is_read())?;
        let forwarded = self
            .pending_before(state, id)
            .filter(|&w| self.event(w).address() == Some(address))
            .last()
            .and_then(|w| self.event(w).operation.value_written());
        Some(forwarded.unwrap_or(state.memory[address.index()]))
    }

    /// The write that a step puts into memory.
    pub(crate) fn reaches_memory(&self, step: Step) -> Option<EventId> {
        match step {
            Step::Drain(write) => Some(write),
            Step::Perform(id) => {
                let at_once = self.model == Model::Sc || self.event(id).is_atomic();
                (self.event(id).is_write() && at_once).then_some(id)
            }
        }
    }

    pub(crate) fn after(&self, state: &State, step: Step) -> State {
        let mut next = state.clone();
        if let Step::Perform(id) = step {
            next.performed |= bit(id);
        }
        if let Some(write) = self.reaches_memory(step) {
            next.in_memory |= bit(write);
            let event = self.event(write);
            if let (Some(address), Some(value)) = (event.address(), event.operation.value_written())
            {
                next.memory[address.index()] = value;
            }
        }
        next
    }

    /// Whether a step returns what the history says it returned, and breaks no `order` line.
    fn is_as_observed(&self, state: &State, step: Step) -> bool {
        let returns_it = match step {
            Step::Perform(id) => self.returns(state, step) == self.event(id).operation.value_read(),
            Step::Drain(_) => true,
        };
        returns_it && self.is_in_observed_order(state, step)
    }

    /// Whether what a step puts into memory comes after all that `order` lines have before it.
    fn is_in_observed_order(&self, state: &State, step: Step) -> bool {
        let Some(write) = self.reaches_memory(step) else { return true };
        self.history.orders().iter().all(|chain| {
            let place = chain.writes.iter().position(|&w| w == Source::Write(write)).unwrap_or(0);
            chain.writes[..place].iter().all(|earlier| match earlier {
                Source::Initial => true,
                Source::Write(earlier) => state.in_memory & bit(*earlier) != 0,
            })
        })
    }

    /// Whether memory ends as the `final` lines say, and no `order` line has anything before the
    /// initial write.
    fn ends_as_observed(&self, state: &State) -> bool {
        self.history.finals().iter().all(|f| state.memory[f.address.index()] == f.value)
            && self
                .history
                .orders()
                .iter()
                .all(|chain| !chain.writes.iter().skip(1).any(|&write| write == Source::Initial))
    }
}
