//! A total order of all accesses as a witness: who read what in it, and whether that meets every
//! axiom of a model file.
//!
//! The check knows nothing of how the order was found, and says yes for one of two reasons.
//!
//! * The order is a run of a memory (`rf`, `co` and `fr` follow it, and no write comes between what
//!   an atomic read and what it wrote), each thread saw the versions of each address in their order
//!   (the condition on locations), and all that the model keeps follows the order, too (no cycle in
//!   the global graph). Three passes, O(n), without a graph.
//! * Or the order only says who read what and how writes are ordered: a recorded order need not
//!   follow all that the model keeps. Then the graph of that execution is made and sorted.

use evidence::Because;
use history::{EventId, Kinds, Source};

use super::Question;
use crate::store::graph::{EdgeSink, node};
use crate::store::order_check::OrderCheck;
use crate::store::paths::Parts;
use crate::store::problem::thin_air;

/// Who read what, and the writes of each address in order.
pub(super) struct Execution {
    pub(super) sources: Vec<Option<Source>>,
    pub(super) writes: Vec<Vec<EventId>>,
    /// Every read saw what its address held, or a write of its own thread that is still to come
    /// and need not come first; every atomic saw what its address held.
    is_run: bool,
}

impl<P: Parts> Question<'_, P> {
    /// The execution that an order of all accesses says, if it meets every axiom, with an order that
    /// its global graph follows: this one, or another.
    pub(super) fn execution_that_meets(
        &self,
        order: Vec<EventId>,
    ) -> Option<(Vec<EventId>, Execution)> {
        let mut check = OrderCheck::new(self.parts.history(), &order)?;
        let execution = self.execution(&order, &check)?;
        let sources = &execution.sources;
        let others_are_met = self.is_of_the_trace(&execution, &check)
            && self.is_coherent(sources, &check)
            && (self.shape.thin_air.is_none() || thin_air(self.parts.history(), sources).is_ok());
        if !others_are_met {
            return None;
        }
        if execution.is_run {
            self.kept_edges(&mut check, sources);
            if check.holds() {
                return Some((order, execution));
            }
        }
        let order = self.another_order(&execution)?;
        Some((order, execution))
    }

    /// What an order says: a read that may have read several writes sees the last write of its own
    /// thread if that is still to come, else the last in the order. Nothing if a fence is in it.
    fn execution(&self, order: &[EventId], check: &OrderCheck) -> Option<Execution> {
        let history = self.parts.history();
        let early = if self.is_unambiguous { Vec::new() } else { self.early(check) };
        let room = |address| Vec::with_capacity(history.address(address).writes.len());
        let mut execution = Execution {
            sources: vec![None; history.len()],
            writes: history.address_ids().map(room).collect(),
            is_run: true,
        };
        for &event in order {
            let kinds = history.kinds_of(event);
            let writes = &mut execution.writes[history.address_of(event)?.index()];
            if kinds.reads {
                let memory = writes.last().copied().map_or(Source::Initial, Source::Write);
                let source = history.only_source(event).unwrap_or_else(|| {
                    early.get(event.index()).copied().flatten().map_or(memory, Source::Write)
                });
                execution.sources[event.index()] = Some(source);
                if source != memory {
                    execution.is_run &= self.may_be_early(event, source, check);
                }
            }
            if kinds.writes {
                writes.push(event);
            }
        }
        Some(execution)
    }

    /// Whether a read may come before the write it read: then what overwrites that write comes later
    /// still.
    fn may_be_early(&self, read: EventId, source: Source, check: &OrderCheck) -> bool {
        let history = self.parts.history();
        let Source::Write(write) = source else { return false };
        !self.table.own_reads_visible
            && !history.kinds_of(read).writes
            && history.thread_of(write) == history.thread_of(read)
            && check.is_before(read, write)
    }

    /// For each read that may have read several writes: the last one of its own thread, if that is
    /// still to come when it reads.
    fn early(&self, check: &OrderCheck) -> Vec<Option<EventId>> {
        let history = self.parts.history();
        let mut own: Vec<Option<EventId>> = vec![None; history.address_count()];
        let mut early: Vec<Option<EventId>> = vec![None; history.len()];
        for thread in history.threads() {
            own.fill(None);
            for event in history.thread_events(thread) {
                let Some(address) = history.address_of(event) else { continue };
                let kinds = history.kinds_of(event);
                if kinds.reads && history.only_source(event).is_none() {
                    let later = |&write: &EventId| check.is_before(event, write);
                    early[event.index()] = own[address.index()].filter(later);
                }
                if kinds.writes {
                    own[address.index()] = Some(event);
                }
            }
        }
        early
    }

    /// Whether reads saw values of the trace, halves of atomics and pairs agree on what they saw, and
    /// `order` and `final` lines are respected.
    fn is_of_the_trace(&self, execution: &Execution, check: &OrderCheck) -> bool {
        let history = self.parts.history();
        let Execution { sources, writes, .. } = execution;
        let is_candidate = |read: EventId| {
            sources[read.index()].is_some_and(|source| history.sources(read).contains(&source))
        };
        let mut reads = history.event_ids().filter(|&event| history.kinds_of(event).reads);
        let halves_agree = |event: EventId| {
            !self.parts.is_write_half(event)
                || !history.kinds_of(event).reads
                || sources[event.index()] == sources[event.index() - 1]
        };
        let pairs_agree = self.trace.pairs().iter().all(|&(store, load)| {
            let (store, load) = (self.parts.become_of(store).0, self.parts.become_of(load).0);
            !history.kinds_of(store).reads || sources[store.index()] == sources[load.index()]
        });
        let orders = history.orders().iter().all(|chain| {
            let is_in_order = |pair: &[Source]| check.place_of(pair[0]) < check.place_of(pair[1]);
            chain.writes.windows(2).all(is_in_order)
        });
        let finals = history.finals().iter().all(|line| {
            let last = writes[line.address.index()].last();
            line.sources.contains(&last.map_or(Source::Initial, |&write| Source::Write(write)))
        });
        (self.is_unambiguous || reads.all(is_candidate))
            && (!self.parts.are_split() || history.event_ids().all(halves_agree))
            && pairs_agree
            && orders
            && finals
    }

    /// Whether each thread saw the versions of each address in their order: none comes before one
    /// that it saw or made earlier, and what it makes comes after all of them. Where reads of one
    /// address swap, a read is compared with what the thread made only.
    fn is_coherent(&self, sources: &[Option<Source>], check: &OrderCheck) -> bool {
        let history = self.parts.history();
        let mut seen = vec![Seen::default(); history.address_count()];
        for thread in history.threads() {
            let number = thread.index() as u32 + 1;
            for event in history.thread_events(thread) {
                let Some(address) = history.address_of(event) else { continue };
                let kinds = history.kinds_of(event);
                let seen = &mut seen[address.index()];
                if seen.thread != number {
                    *seen = Seen { thread: number, ..Seen::default() };
                }
                if kinds.reads {
                    let Some(source) = sources[event.index()] else { return false };
                    let version = check.place_of(source);
                    let swaps = self.rules.same_address_reads_swap && !kinds.writes;
                    if version < seen.version || !swaps && version < seen.swapping {
                        return false;
                    }
                    match swaps {
                        true => seen.swapping = seen.swapping.max(version),
                        false => seen.version = version,
                    }
                }
                if kinds.writes {
                    let version = check.place_of(Source::Write(event));
                    if version <= seen.version.max(seen.swapping) {
                        return false;
                    }
                    *seen = Seen { version, swapping: 0, ..*seen };
                }
            }
        }
        true
    }

    /// An order of all accesses that the global graph of an execution follows, if there is one and
    /// atomics are whole.
    fn another_order(&self, execution: &Execution) -> Option<Vec<EventId>> {
        let history = self.parts.history();
        let Execution { sources, writes, .. } = execution;
        let mut places = vec![0u32; history.len()];
        for (at, &write) in writes.iter().flat_map(|order| (1..).zip(order)) {
            places[write.index()] = at;
        }
        let place = |source: Source| match source {
            Source::Initial => 0,
            Source::Write(write) => places[write.index()] as usize,
        };
        let mut graph = self.fixed(sources);
        for pair in writes.iter().flat_map(|order| order.windows(2)) {
            graph.fix(node(pair[0]), node(pair[1]), Because::WriteOrder);
        }
        for read in history.event_ids().filter(|&event| history.kinds_of(event).reads) {
            let (source, address) = (sources[read.index()]?, history.address_of(read)?);
            let writes = &writes[address.index()];
            if history.kinds_of(read) == Kinds::ALL {
                // Nothing of another thread comes between what an atomic read and what it wrote.
                let own = place(Source::Write(read));
                let between = writes.get(place(source)..own.checked_sub(1)?)?;
                if between.iter().any(|&w| history.thread_of(w) != history.thread_of(read)) {
                    return None;
                }
            }
            let next = writes[place(source)..].iter().find(|&&write| write != read);
            if let Some(&next) = next {
                graph.fix(node(read), node(next), Because::FromRead);
            }
        }
        let graph = graph.seal();
        let events = graph.topological_order().ok()?.into_iter().filter_map(|n| graph.event(n));
        Some(events.filter(|&event| history.address_of(event).is_some()).collect())
    }
}

/// What a thread knows of an address, as places in the order.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// The thread, from 1.
    thread: u32,
    /// The last version that it made, or saw by a read that does not swap.
    version: u32,
    /// The latest version that it has seen since by reads that do.
    swapping: u32,
}
