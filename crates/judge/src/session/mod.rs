//! A history that is judged while it grows.
//!
//! Events come in the order in which they were recorded. As long as that order explains them, every
//! read finds its value in memory and a `Session` holds little more than that memory. Where it does
//! not, the last events are opened again (`explain.rs`), more are waited for, and the open part
//! is explained by a store buffer machine or by the engines; what has its place in that explanation
//! for good is closed, and the rest stays open. So "consistent" always means that there is a witness,
//! made of parts that follow each other.
//!
//! A violation is said only if it is one of everything that has come: not of the open part behind
//! what was closed, which might have been closed otherwise, but of the recent events alone, with the
//! reads left out whose write may have been forgotten (`recent.rs`). What is neither explained nor
//! certain is undecided, and says since when.
//!
//! Cost: a few nanoseconds an event while the recorded order explains them, and below a microsecond
//! with store buffers. Memory: the recent events, and the open ones, up to the limit.

mod explain;
mod recent;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use evidence::{Proof, Verdict};
use history::{AddressId, AddressLabel, History, Kinds, Operation, Times, Value};
use models::{Model, Rules, StoreRules};
use rustc_hash::FxHashMap;

use self::recent::{Item, Recent};
use crate::{Limits, Reason, Undecided};

/// What a session may take when nothing is said.
const DEFAULT_MEMORY: usize = 1 << 30;

/// How much is kept, opened and tried at a time, in events.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    /// Recent events that are kept.
    recent: usize,
    /// Events that may be open.
    open: usize,
    /// Replayed events that are opened again at first.
    reopened: usize,
    /// How many more are waited for before the open part is tried again: at first, and at most.
    first_wait: usize,
    wait: usize,
    /// Recent events that are searched for a violation.
    searched: usize,
    /// The last events, which stay open until more have come: many more than store buffers hold.
    kept_open: usize,
    /// Stores of each thread that may be in its buffer although they are older than that.
    pending: usize,
}

impl Sizes {
    fn of(memory: usize) -> Self {
        Sizes {
            recent: (memory / 512).clamp(1 << 10, (1 << 18) - 1),
            open: (memory / 1024).clamp(1 << 10, 1 << 24),
            reopened: 256,
            first_wait: 64,
            wait: 1 << 15,
            searched: 1 << 16,
            kept_open: 1 << 14,
            pending: 64,
        }
    }
}

/// How things stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// There is a witness for everything that has come.
    Explained,
    /// There is a witness for all but so many events, and more may come that explains them.
    Open(usize),
    /// Some event is not explained, it is not certain that it cannot be, and what would tell has
    /// been forgotten. Violations are still looked for.
    Unexplained,
    /// What has come violates the model, whatever is still to come.
    Violation,
}

/// A violation that is certain.
#[derive(Clone, Debug)]
pub struct Violation {
    /// Events that violate the model on their own: some of those that came, with their lines.
    pub history: History,
    /// Why they do.
    pub proof: Proof,
    /// How many events had come when that was known.
    pub events: u64,
}

/// The end of a session.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The model.
    pub model: Model,
    /// The answer.
    pub verdict: Verdict<(), Box<Violation>, Undecided>,
    /// How many events, threads and addresses there were.
    pub events: u64,
    /// Threads that did something.
    pub threads: usize,
    /// Addresses that were named.
    pub addresses: usize,
}

/// How far a session has come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    model: Model,
    pub(crate) events: u64,
    consistent: u64,
    threads: usize,
    addresses: usize,
}

impl Progress {
    /// The answer of a session that ends here although more events were to come.
    pub(crate) fn interrupted(self) -> Finished {
        let established = match self.consistent {
            0 => String::new(),
            1 => "the first event is consistent".to_owned(),
            events => format!("the first {events} events are consistent"),
        };
        self.finished(Verdict::Undecided(Undecided { reason: Reason::Interrupted, established }))
    }

    fn finished(self, verdict: Verdict<(), Box<Violation>, Undecided>) -> Finished {
        let Self { model, events, threads, addresses, .. } = self;
        Finished { model, verdict, events, threads, addresses }
    }
}

/// A history that is judged while it grows.
///
/// ```
/// use tribunal_judge::{Limits, Session, Status};
///
/// let mut session = Session::new(models::Model::Sc, Limits::default());
/// session.store(0, 0x10, 1);
/// assert_eq!(session.load(1, 0x10, 1), Status::Explained);
/// session.load(1, 0x10, 0);
/// assert_eq!(session.ask(), Status::Violation);
/// let violation = session.violation().unwrap();
/// assert_eq!(violation.history.len(), 3);
/// ```
#[derive(Debug)]
pub struct Session {
    model: Model,
    rules: Option<StoreRules>,
    limits: Limits,
    /// What is left of the time for all questions together, if that is limited.
    left: Option<Duration>,
    stop: Arc<AtomicBool>,
    sizes: Sizes,
    threads: Vec<u64>,
    thread_ids: FxHashMap<u64, u32>,
    addresses: Vec<Place>,
    address_ids: FxHashMap<AddressLabel, u32>,
    numbered: FxHashMap<u64, u32>,
    /// What memory holds after everything that is closed.
    memory: Vec<Value>,
    recent: Recent,
    /// The events that have no place in the witness yet, as they were recorded.
    open: Vec<Item>,
    /// So many of the last events were replayed one by one since something was closed otherwise.
    replayed: usize,
    /// When the open part is tried next, and how many more events are waited for after that.
    next_try: usize,
    wait: usize,
    /// Why not everything is explained, if that is so for good, and at which event that began.
    unexplained: Option<(Loss, u64)>,
    /// How many events had come when there was last a witness for all of them, if there is none now.
    consistent: u64,
    /// How many events had come when a violation was last looked for among the recent ones.
    searched: u64,
    violation: Option<Box<Violation>>,
}

/// What is known of an address.
#[derive(Clone, Debug)]
struct Place {
    label: AddressLabel,
    initial: Value,
    is_used: bool,
}

/// Why not everything can be explained any more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Loss {
    /// The open part cannot follow what was closed before it.
    BlockedPairs,
    /// The open part is too large.
    Memory,
    /// An engine gave up.
    Time,
    /// There are accesses of sizes, which may overlap.
    Sizes,
}

impl Session {
    /// An empty history, to be judged by this model. The time limit is for each question to the
    /// engines; the memory limit is for the session.
    pub fn new(model: Model, limits: Limits) -> Self {
        Self::with_sizes(model, limits, Sizes::of(limits.memory.unwrap_or(DEFAULT_MEMORY)))
    }

    fn with_sizes(model: Model, limits: Limits, sizes: Sizes) -> Self {
        let rules = match model.rules() {
            Rules::Store(rules) => Some(rules),
            Rules::Causal(_) => None,
        };
        Self {
            model,
            rules,
            limits,
            left: None,
            stop: Arc::default(),
            sizes,
            threads: Vec::new(),
            thread_ids: FxHashMap::default(),
            addresses: Vec::new(),
            address_ids: FxHashMap::default(),
            numbered: FxHashMap::default(),
            memory: Vec::new(),
            recent: Recent::default(),
            open: Vec::new(),
            replayed: 0,
            next_try: 0,
            wait: sizes.first_wait,
            unexplained: None,
            consistent: 0,
            searched: 0,
            violation: None,
        }
    }

    /// The same session, whose questions to the engines end when `stop` is set.
    pub fn with_stop(self, stop: Arc<AtomicBool>) -> Self {
        Self { stop, ..self }
    }

    /// The same session with so much time for all questions to the engines together; time that passes
    /// while nothing is asked does not count. Beyond it, what is not explained is undecided.
    pub fn with_total_time(self, time: Duration) -> Self {
        Self { left: Some(time), ..self }
    }

    /// A thread read this value.
    pub fn load(&mut self, thread: u64, address: u64, value: Value) -> Status {
        let address = self.numbered(address);
        self.event(thread, Operation::Read { address, value }, Times::default(), self.next_line())
    }

    /// A thread wrote this value.
    pub fn store(&mut self, thread: u64, address: u64, value: Value) -> Status {
        let address = self.numbered(address);
        self.event(thread, Operation::Write { address, value }, Times::default(), self.next_line())
    }

    /// A thread read a value and wrote another one, at once.
    pub fn rmw(&mut self, thread: u64, address: u64, read: Value, write: Value) -> Status {
        let address = self.numbered(address);
        let operation = Operation::ReadModifyWrite { address, read, write };
        self.event(thread, operation, Times::default(), self.next_line())
    }

    /// A fence that keeps accesses of one kind before those of another.
    pub fn fence(&mut self, thread: u64, before: Kinds, after: Kinds) -> Status {
        let operation = Operation::Fence { before, after };
        self.event(thread, operation, Times::default(), self.next_line())
    }

    fn next_line(&self) -> u32 {
        u32::try_from(self.recent.come() + 1).unwrap_or(u32::MAX)
    }

    /// The address of this label, new or known.
    pub fn address(&mut self, label: &AddressLabel) -> AddressId {
        match (label, self.address_ids.get(label)) {
            (AddressLabel::Number(number), _) => self.numbered(*number),
            (_, Some(&known)) => AddressId::new(known as usize),
            (_, None) => {
                let id = self.new_address(label.clone());
                self.address_ids.insert(label.clone(), id.index() as u32);
                id
            }
        }
    }

    fn numbered(&mut self, number: u64) -> AddressId {
        if let Some(&known) = self.numbered.get(&number) {
            return AddressId::new(known as usize);
        }
        let id = self.new_address(AddressLabel::Number(number));
        self.numbered.insert(number, id.index() as u32);
        id
    }

    fn new_address(&mut self, label: AddressLabel) -> AddressId {
        let id = AddressId::new(self.addresses.len());
        if matches!(label, AddressLabel::Bytes(_)) {
            self.lose(Loss::Sizes);
        }
        self.addresses.push(Place { label, initial: 0, is_used: false });
        self.memory.push(0);
        id
    }

    /// Says what an address held at first, 0 if nothing is said. False if it has been accessed
    /// already: then it is too late to say so.
    pub fn initial(&mut self, address: AddressId, value: Value) -> bool {
        let place = &mut self.addresses[address.index()];
        if place.is_used {
            return place.initial == value;
        }
        place.initial = value;
        self.memory[address.index()] = value;
        true
    }

    /// The next event, in the order in which they were recorded.
    #[inline]
    pub fn event(&mut self, thread: u64, operation: Operation, times: Times, line: u32) -> Status {
        if self.violation.is_some() {
            return Status::Violation;
        }
        let thread = self.thread(thread);
        let mut item = Item::new(thread, operation, times, line);
        if let Some(address) = item.address() {
            self.addresses[address].is_used = true;
        }
        let is_replayed = self.open.is_empty() && self.unexplained.is_none();
        if is_replayed && !(self.has_clocks() && item.has_times()) && self.replays(&mut item) {
            self.replayed += 1;
            self.recent.push(item);
            if self.recent.len() > self.sizes.recent {
                self.forget();
            }
            return Status::Explained;
        }
        self.unreplayed(item)
    }

    /// Whether the model looks at clocks, which may contradict the recorded order.
    fn has_clocks(&self) -> bool {
        self.rules.is_some_and(|rules| rules.times)
    }

    #[inline]
    fn thread(&mut self, label: u64) -> u32 {
        if self.threads.get(label as usize) == Some(&label) {
            return label as u32;
        }
        let new = self.threads.len() as u32;
        let id = *self.thread_ids.entry(label).or_insert(new);
        if id == new {
            self.threads.push(label);
        }
        id
    }

    /// Lets an event take effect where it stands, if it fits.
    #[inline]
    fn replays(&mut self, item: &mut Item) -> bool {
        let Some(address) = item.address() else { return true };
        let memory = &mut self.memory[address];
        if item.reads() && item.read != *memory {
            return false;
        }
        if item.writes() {
            item.replaced = std::mem::replace(memory, item.written);
        }
        true
    }

    #[cold]
    fn forget(&mut self) {
        self.recent.forget(self.sizes.recent / 4, self.addresses.len());
        self.replayed = self.replayed.min(self.recent.len());
    }

    /// The status so far, without a further check.
    pub fn status(&self) -> Status {
        match () {
            () if self.violation.is_some() => Status::Violation,
            () if self.unexplained.is_some() => Status::Unexplained,
            () if self.open.is_empty() => Status::Explained,
            () => Status::Open(self.open.len()),
        }
    }

    /// The violation, if there is one for certain.
    pub fn violation(&self) -> Option<&Violation> {
        self.violation.as_deref()
    }

    /// How many events have come.
    pub fn events(&self) -> u64 {
        self.recent.come()
    }

    /// The first so many events are consistent: there was a witness for all that had come by then.
    pub fn consistent(&self) -> u64 {
        match self.open.is_empty() && self.unexplained.is_none() {
            true => self.recent.come(),
            false => self.consistent,
        }
    }

    pub(crate) fn progress(&self) -> Progress {
        Progress {
            model: self.model,
            events: self.recent.come(),
            consistent: self.consistent(),
            threads: self.threads.len(),
            addresses: self.addresses.len(),
        }
    }
}
