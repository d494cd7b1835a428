//! The store models as machines, and the replay of an order of events on them.
//!
//! Each store model is also an abstract machine: one memory, and threads that perform their events
//! one at a time. A read is performed when it takes its value, a write when it reaches the memory,
//! a read-modify-write does both at once. An order of all events (fences have no place of their
//! own) is a run of the machine if every thread performed its events as the machine lets it, and
//! every read took the value it returned.
//!
//! * **sc**: each thread performs its events in program order. A read takes what the memory holds.
//! * **tso**: each thread has a store buffer, first in, first out. A write waits in it until it is
//!   performed; meanwhile later reads of the thread may be performed. A read takes the newest write
//!   of its address from its own buffer, else what the memory holds. A read-modify-write waits for
//!   the buffer to drain and nothing of its thread passes it.
//! * **pso**: as tso, with a buffer per address: writes of different addresses may pass each other.
//! * **wmo**: as pso, and reads, too, may be passed by what follows them in program order, unless
//!   it is of the same address, or the clock says that it began after the read had ended.
//! * **rmo**: everything may pass everything, except that an event waits for the reads it depends
//!   on, and a write for all earlier accesses of its address; a read may be passed by another
//!   read of its address. No value may be a cause of itself: what was read from what, with the
//!   declared dependencies, closes no cycle.
//! * **coherence**: one sc machine for every address, each on its own.
//!
//! In all but coherence an event waits for what a fence between them orders before it.
//!
//! An order is a run of a model's machine with the observed values iff the reads-from relation and
//! the write order that it induces satisfy the model's axioms: what must wait is the kept program
//! order, a read from memory sees the last write in the write order, and so the order extends the
//! global graph; that a read prefers its own buffer, and that writes wait for earlier accesses of
//! their address, is the location graph. A test holds the two definitions together.
//!
//! The replay makes two passes, O(n) in all (O(n log n) with times): thread by thread in program
//! order, what waits is performed later; then along the order, what every read takes.

use history::{EventId, History, Operation, Source, ThreadId, Value};
use models::{Keeps, StoreRules};

use crate::names;
use crate::rejection::Fault;

/// Checks that the order is a run of the model's machine that explains the history.
pub(crate) fn replay(history: &History, rules: StoreRules, order: &[EventId]) -> Result<(), Fault> {
    let position = positions(history, order)?;
    let run = Run { history, rules, position };
    let own_write = run.threads()?;
    run.dependencies()?;
    let reads_from = run.values(order, &own_write)?;
    run.order_lines()?;
    run.thin_air(&reads_from)
}

/// Where each event stands in an order that must hold every access exactly once. Fences get no
/// meaningful position.
pub(crate) fn positions(history: &History, order: &[EventId]) -> Result<Vec<usize>, Fault> {
    const NOWHERE: usize = usize::MAX;
    let mut position = vec![NOWHERE; history.len()];
    for (place, &e) in order.iter().enumerate() {
        if history.event(e).is_fence() {
            return Err(Fault::Fence { event: names::event(history, e) });
        }
        if position[e.index()] != NOWHERE {
            return Err(Fault::Twice { event: names::event(history, e) });
        }
        position[e.index()] = place;
    }
    let missing = history
        .event_ids()
        .find(|e| position[e.index()] == NOWHERE && !history.event(*e).is_fence());
    missing.map_or(Ok(position), |e| Err(Fault::Missing { event: names::event(history, e) }))
}

/// What an access counts as; a read-modify-write counts as both.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Read,
    Write,
}

/// The roles of an operation.
pub(crate) fn roles(operation: &Operation) -> impl Iterator<Item = Role> + use<> {
    let kinds = operation.kinds();
    kinds.reads.then_some(Role::Read).into_iter().chain(kinds.writes.then_some(Role::Write))
}

/// The model's row: how much of program order it keeps from one role to another.
pub(crate) fn table(rules: &StoreRules, earlier: Role, later: Role) -> Keeps {
    match (earlier, later) {
        (Role::Read, Role::Read) => rules.read_read,
        (Role::Read, Role::Write) => rules.read_write,
        (Role::Write, Role::Read) => rules.write_read,
        (Role::Write, Role::Write) => rules.write_write,
    }
}

/// Which earlier accesses of its thread an access waits for.
fn waits(rules: &StoreRules, earlier: Role, later: Role) -> Keeps {
    if !rules.global {
        return Keeps::SameAddress;
    }
    let may_pass_at_one_address = match (earlier, later) {
        (Role::Write, Role::Read) => true,
        (Role::Read, Role::Read) => rules.same_address_reads_swap,
        (_, Role::Write) => false,
    };
    match table(rules, earlier, later) {
        Keeps::Never if !may_pass_at_one_address => Keeps::SameAddress,
        kept => kept,
    }
}

/// The event of a set that is performed last.
#[derive(Clone, Copy, Default)]
struct Last(Option<(usize, EventId)>);

impl Last {
    fn join(&mut self, other: Last) {
        self.0 = self.0.max(other.0);
    }
}

/// The last-performed reads and writes among some earlier events.
#[derive(Clone, Copy, Default)]
struct Earlier {
    reads: Last,
    writes: Last,
}

impl Earlier {
    fn of(&mut self, role: Role) -> &mut Last {
        match role {
            Role::Read => &mut self.reads,
            Role::Write => &mut self.writes,
        }
    }
}

/// What the walk along a thread remembers of an address.
#[derive(Clone, Copy, Default)]
struct AtAddress {
    /// The thread this was written for; older entries are stale.
    thread: Option<ThreadId>,
    earlier: Earlier,
    write: Option<EventId>,
}

struct Run<'a> {
    history: &'a History,
    rules: StoreRules,
    position: Vec<usize>,
}

impl Run<'_> {
    fn last(&self, event: EventId) -> Last {
        Last(Some((self.position[event.index()], event)))
    }

    fn must_follow(&self, event: EventId, last: Last, why: &'static str) -> Result<(), Fault> {
        match last.0 {
            Some((position, earlier)) if position > self.position[event.index()] => {
                let name = |e| names::event(self.history, e);
                Err(Fault::OutOfOrder { earlier: name(earlier), later: name(event), why })
            }
            _ => Ok(()),
        }
    }

    /// Every thread in program order: each access is performed after those it waits for. Returns,
    /// for each access, the last earlier write of its address in its own thread.
    fn threads(&self) -> Result<Vec<Option<EventId>>, Fault> {
        let mut own_write = vec![None; self.history.len()];
        let mut addresses = vec![AtAddress::default(); self.history.address_count()];
        for thread in self.history.threads() {
            self.thread(thread, &mut addresses, &mut own_write)?;
            if self.rules.times && self.history.has_times() {
                self.times(thread)?;
            }
        }
        Ok(own_write)
    }

    fn thread(
        &self,
        thread: ThreadId,
        addresses: &mut [AtAddress],
        own_write: &mut [Option<EventId>],
    ) -> Result<(), Fault> {
        let mut anywhere = Earlier::default();
        // What later reads and later writes wait for because of fences so far.
        let mut fenced = Earlier::default();
        for e in self.history.thread_events(thread) {
            let operation = &self.history.event(e).operation;
            if let Operation::Fence { before, after } = *operation {
                let mut held = Last::default();
                held.join(if before.reads { anywhere.reads } else { Last::default() });
                held.join(if before.writes { anywhere.writes } else { Last::default() });
                fenced.reads.join(if after.reads { held } else { Last::default() });
                fenced.writes.join(if after.writes { held } else { Last::default() });
                continue;
            }
            let Some(address) = operation.address() else { continue };
            let here = &mut addresses[address.index()];
            if here.thread != Some(thread) {
                *here = AtAddress { thread: Some(thread), ..AtAddress::default() };
            }
            for later in roles(operation) {
                for earlier in [Role::Read, Role::Write] {
                    let held = match waits(&self.rules, earlier, later) {
                        Keeps::Always => *anywhere.of(earlier),
                        Keeps::SameAddress => *here.earlier.of(earlier),
                        Keeps::Never => Last::default(),
                    };
                    self.must_follow(e, held, "program order")?;
                }
                if self.rules.global {
                    self.must_follow(e, *fenced.of(later), "a fence")?;
                }
            }
            own_write[e.index()] = here.write;
            for role in roles(operation) {
                anywhere.of(role).join(self.last(e));
                here.earlier.of(role).join(self.last(e));
            }
            if operation.kinds().writes {
                here.write = Some(e);
            }
        }
        Ok(())
    }

    /// A read that ended before a later access of its thread began is performed before it.
    fn times(&self, thread: ThreadId) -> Result<(), Fault> {
        let end = |e| self.history.times(e).end.filter(|_| self.history.event(e).is_read());
        let mut ends: Vec<u64> = self.history.thread_events(thread).filter_map(end).collect();
        ends.sort_unstable();
        ends.dedup();
        let mut ended = PrefixLast::new(ends.len());
        for e in self.history.thread_events(thread) {
            if self.history.event(e).is_fence() {
                continue;
            }
            if let Some(begin) = self.history.times(e).begin {
                let before = ends.partition_point(|&end| end < begin);
                self.must_follow(e, ended.among_first(before), "time")?;
            }
            if let Some(end) = end(e) {
                ended.add(ends.partition_point(|&other| other < end), self.last(e));
            }
        }
        Ok(())
    }

    fn dependencies(&self) -> Result<(), Fault> {
        if !self.rules.dependencies {
            return Ok(());
        }
        let mut accesses = self
            .history
            .dependencies()
            .iter()
            .filter(|(dependent, _)| !self.history.event(*dependent).is_fence());
        accesses.try_for_each(|&(dependent, read)| {
            self.must_follow(dependent, self.last(read), "a dependency")
        })
    }

    /// Runs the memory along the order: what each read takes must be what it returned. Returns
    /// where each read took its value.
    fn values(
        &self,
        order: &[EventId],
        own_write: &[Option<EventId>],
    ) -> Result<Vec<Source>, Fault> {
        let mut memory = vec![Source::Initial; self.history.address_count()];
        let mut reads_from = vec![Source::Initial; self.history.len()];
        for (now, &e) in order.iter().enumerate() {
            let operation = &self.history.event(e).operation;
            let Some(address) = operation.address() else { continue };
            if let Some(returned) = operation.value_read() {
                // Writes of one address leave a thread in program order, so if its newest earlier
                // write is in the memory already, so are all others.
                let source = match own_write[e.index()] {
                    Some(write) if self.position[write.index()] > now => Source::Write(write),
                    _ => memory[address.index()],
                };
                let sees = self.value(address, source);
                if sees != returned {
                    return Err(Fault::WrongValue { event: names::event(self.history, e), sees });
                }
                reads_from[e.index()] = source;
            }
            if operation.kinds().writes {
                memory[address.index()] = Source::Write(e);
            }
        }
        for f in self.history.finals() {
            if self.value(f.address, memory[f.address.index()]) != f.value {
                let address = self.history.address(f.address).label.clone();
                return Err(Fault::WrongFinal { address });
            }
        }
        Ok(reads_from)
    }

    fn value(&self, address: history::AddressId, source: Source) -> Value {
        let initial = self.history.address(address).initial;
        match source {
            Source::Initial => initial,
            Source::Write(write) => {
                self.history.event(write).operation.value_written().unwrap_or(initial)
            }
        }
    }

    fn order_lines(&self) -> Result<(), Fault> {
        follows_order_lines(self.history, &self.position)
    }

    /// `rmo`: dependencies and reads-from close no cycle. Takes events away that wait for nothing,
    /// until none is left.
    fn thin_air(&self, reads_from: &[Source]) -> Result<(), Fault> {
        if !self.rules.dependencies {
            return Ok(());
        }
        let mut causes: Vec<(EventId, EventId)> = self
            .history
            .dependencies()
            .iter()
            .map(|&(dependent, read)| (read, dependent))
            .collect();
        for (e, source) in self.history.event_ids().zip(reads_from) {
            if let Source::Write(write) = *source {
                causes.push((write, e));
            }
        }
        causes.sort_unstable();
        let mut waiting = vec![0usize; self.history.len()];
        for (_, effect) in &causes {
            waiting[effect.index()] += 1;
        }
        let mut free: Vec<EventId> =
            self.history.event_ids().filter(|e| waiting[e.index()] == 0).collect();
        let mut left = self.history.len();
        while let Some(cause) = free.pop() {
            left -= 1;
            let first = causes.partition_point(|&(c, _)| c < cause);
            for &(_, effect) in causes[first..].iter().take_while(|&&(c, _)| c == cause) {
                waiting[effect.index()] -= 1;
                if waiting[effect.index()] == 0 {
                    free.push(effect);
                }
            }
        }
        if left == 0 { Ok(()) } else { Err(Fault::OutOfThinAir) }
    }
}

/// Whether the positions of writes agree with the `order` lines; nothing comes before the initial
/// write.
pub(crate) fn follows_order_lines(history: &History, position: &[usize]) -> Result<(), Fault> {
    for line in history.orders() {
        let follows = line.writes.windows(2).all(|pair| match (pair[0], pair[1]) {
            (_, Source::Initial) => false,
            (Source::Initial, _) => true,
            (Source::Write(a), Source::Write(b)) => position[a.index()] < position[b.index()],
        });
        if !follows {
            let address = history.address(line.address).label.clone();
            return Err(Fault::AgainstOrderLine { address });
        }
    }
    Ok(())
}

/// The last-performed event among the first k of a list, as events are added anywhere in it
/// (Fenwick's tree, with maximum for sum).
struct PrefixLast(Vec<Last>);

impl PrefixLast {
    fn new(length: usize) -> Self {
        Self(vec![Last::default(); length + 1])
    }

    fn add(&mut self, index: usize, last: Last) {
        let mut node = index + 1;
        while node < self.0.len() {
            self.0[node].join(last);
            node += node & node.wrapping_neg();
        }
    }

    fn among_first(&self, count: usize) -> Last {
        let (mut last, mut node) = (Last::default(), count);
        while node > 0 {
            last.join(self.0[node]);
            node -= node & node.wrapping_neg();
        }
        last
    }
}
