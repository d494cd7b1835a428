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

mod cells;

use history::{AddressId, EventId, History, Kinds, Operation, Source, ThreadId, Value};
use models::{Keeps, StoreRules};

use crate::names;
use crate::rejection::Fault;

/// Checks that the order is a run of the model's machine that explains the history.
pub(crate) fn replay(history: &History, rules: StoreRules, order: &[EventId]) -> Result<(), Fault> {
    let position = positions(history, order)?;
    if let Some(mixed) = history.mixed() {
        let run = Run { history, rules: rules.of_mixed_sizes(), position };
        return run.of_mixed_sizes(mixed, order);
    }
    let run = Run { history, rules, position };
    let own_write = run.threads()?;
    run.dependencies()?;
    let reads_from = run.values(order, &own_write)?;
    run.order_lines()?;
    run.thin_air(&reads_from)
}

/// Where each event stands in an order that must hold every access exactly once. Fences get no
/// meaningful position.
pub(crate) fn positions(history: &History, order: &[EventId]) -> Result<Vec<u32>, Fault> {
    const NOWHERE: u32 = u32::MAX;
    let mut position = vec![NOWHERE; history.len()];
    // No event stands twice, so places are counted as far as events, for which 32 bits suffice.
    for (place, &e) in (0..NOWHERE).zip(order) {
        if history.address_of(e).is_none() {
            return Err(Fault::Fence { event: names::event(history, e) });
        }
        if position[e.index()] != NOWHERE {
            return Err(Fault::Twice { event: names::event(history, e) });
        }
        position[e.index()] = place;
    }
    let missing = history
        .event_ids()
        .find(|e| position[e.index()] == NOWHERE && history.address_of(*e).is_some());
    missing.map_or(Ok(position), |e| Err(Fault::Missing { event: names::event(history, e) }))
}

/// What an access counts as; a read-modify-write counts as both.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Read,
    Write,
}

/// The roles of an event of these kinds.
pub(crate) fn roles(kinds: Kinds) -> impl Iterator<Item = Role> {
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
    if rules.global { buffered_waits(rules, earlier, later) } else { Keeps::SameAddress }
}

/// The same on a machine in which reads may pass writes.
fn buffered_waits(rules: &StoreRules, earlier: Role, later: Role) -> Keeps {
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
struct Last(Option<(u32, EventId)>);

impl Last {
    fn join(&mut self, other: Last) {
        self.0 = self.0.max(other.0);
    }
}

/// The last-performed reads and writes among some earlier events.
#[derive(Clone, Copy, Default)]
struct LastPerformed {
    reads: Last,
    writes: Last,
}

impl LastPerformed {
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
    earlier: LastPerformed,
    write: Option<EventId>,
}

struct Run<'a> {
    history: &'a History,
    rules: StoreRules,
    position: Vec<u32>,
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
        let mut anywhere = LastPerformed::default();
        // What later reads and later writes wait for because of fences so far.
        let mut fenced = LastPerformed::default();
        for e in self.history.thread_events(thread) {
            let Some(address) = self.history.address_of(e) else {
                self.fence(e, anywhere, &mut fenced);
                continue;
            };
            let kinds = self.history.kinds_of(e);
            let here = &mut addresses[address.index()];
            if here.thread != Some(thread) {
                *here = AtAddress { thread: Some(thread), ..AtAddress::default() };
            }
            for later in roles(kinds) {
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
            for role in roles(kinds) {
                anywhere.of(role).join(self.last(e));
                here.earlier.of(role).join(self.last(e));
            }
            if kinds.writes {
                here.write = Some(e);
            }
        }
        Ok(())
    }

    /// What later accesses wait for because of this fence.
    fn fence(&self, fence: EventId, anywhere: LastPerformed, fenced: &mut LastPerformed) {
        let Operation::Fence { before, after } = self.history.event(fence).operation else {
            return;
        };
        let mut held = Last::default();
        held.join(if before.reads { anywhere.reads } else { Last::default() });
        held.join(if before.writes { anywhere.writes } else { Last::default() });
        fenced.reads.join(if after.reads { held } else { Last::default() });
        fenced.writes.join(if after.writes { held } else { Last::default() });
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
    /// where each read took its value, for the model that asks for it again.
    fn values(
        &self,
        order: &[EventId],
        own_write: &[Option<EventId>],
    ) -> Result<Vec<Source>, Fault> {
        let initial = |a: AddressId| (Source::Initial, self.history.address(a).initial);
        let mut memory: Vec<(Source, Value)> = self.history.address_ids().map(initial).collect();
        let wanted = if self.rules.dependencies { self.history.len() } else { 0 };
        let mut reads_from = vec![Source::Initial; wanted];
        for &e in order {
            let operation = self.history.event(e).operation;
            let Some(address) = operation.address() else { continue };
            let memory = &mut memory[address.index()];
            if let Some(returned) = operation.value_read() {
                let (source, sees) = self.in_buffer(e, own_write[e.index()]).unwrap_or(*memory);
                if sees != returned {
                    return Err(Fault::WrongValue { event: names::event(self.history, e), sees });
                }
                if let Some(reads_from) = reads_from.get_mut(e.index()) {
                    *reads_from = source;
                }
            }
            if let Some(written) = operation.value_written() {
                *memory = (Source::Write(e), written);
            }
        }
        for f in self.history.finals() {
            if memory[f.address.index()].1 != f.value {
                let address = self.history.address(f.address).label.clone();
                return Err(Fault::WrongFinal { address });
            }
        }
        Ok(reads_from)
    }

    /// What a read finds in its thread's buffer, given the thread's newest earlier write of its
    /// address. Writes of one address leave a thread in program order, so if that one is in the
    /// memory already, so are all others.
    fn in_buffer(&self, read: EventId, own: Option<EventId>) -> Option<(Source, Value)> {
        let write = own?;
        if self.position[write.index()] < self.position[read.index()] {
            return None;
        }
        let value = self.history.event(write).operation.value_written()?;
        Some((Source::Write(write), value))
    }

    fn order_lines(&self) -> Result<(), Fault> {
        follows_order_lines(self.history, &self.position)
    }

    /// `rmo`: dependencies and reads-from close no cycle. Takes events away that wait for nothing,
    /// until none is left.
    fn thin_air(&self, reads_from: &[Source]) -> Result<(), Fault> {
        let reads = self.history.event_ids().zip(reads_from);
        self.no_cause_of_itself(reads.filter_map(|(e, source)| match *source {
            Source::Write(write) => Some((write, e)),
            Source::Initial => None,
        }))
    }

    /// `rmo`: dependencies and these pairs (write, read of it) close no cycle.
    fn no_cause_of_itself(
        &self,
        reads: impl Iterator<Item = (EventId, EventId)>,
    ) -> Result<(), Fault> {
        if !self.rules.dependencies {
            return Ok(());
        }
        let mut causes: Vec<(EventId, EventId)> = self
            .history
            .dependencies()
            .iter()
            .map(|&(dependent, read)| (read, dependent))
            .collect();
        causes.extend(reads);
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
pub(crate) fn follows_order_lines(history: &History, position: &[u32]) -> Result<(), Fault> {
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
