//! What one thread's accesses to one address say about the order of its writes.
//!
//! The location condition, acyclic(po-loc ∪ rf ∪ ww ∪ fr), needs no graph of its own. Walk a
//! thread along one address and note the *version* each access saw or made; the condition holds
//! iff ww orders every such pair of versions as the thread saw them (CoWW, CoWR, CoRW, CoRR).
//! Consecutive pairs suffice, because ww is total; `rmo` has no CoRR, so there a read is compared
//! with the writes around it. This is rule R5 (A5) and more. O(n).

use evidence::{Because, Cycle, Edge, Graph as Which, Node};
use history::{EventId, History, Source};
use models::StoreRules;

/// `before` comes before `after` in ww, because `first` and `second`, of one thread and one
/// address and in this program order, saw or made them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SeenOrder {
    pub(crate) before: EventId,
    pub(crate) after: EventId,
    pub(crate) first: EventId,
    pub(crate) second: EventId,
}

/// What an access saw or made.
#[derive(Clone, Copy)]
struct Version {
    source: Source,
    by: EventId,
}

/// Calls `f` with each order that coherence forces, or finds a cycle in the location graph.
pub(crate) fn seen_orders(
    history: &History,
    rules: &StoreRules,
    sources: &[Option<Source>],
    mut f: impl FnMut(SeenOrder),
) -> Result<(), Cycle> {
    // Per address: the last version seen or made, and under `rmo` the last one made together
    // with the reads since.
    let mut last: Vec<Option<Version>> = vec![None; history.address_count()];
    let mut reads_since: Vec<Vec<Version>> = vec![Vec::new(); history.address_count()];
    let mut touched = Vec::new();
    for thread in history.threads() {
        for id in history.thread_events(thread) {
            let event = history.event(id);
            let Some(address) = event.address().map(|a| a.index()) else { continue };
            touched.push(address);
            let swaps = rules.same_address_reads_swap && !event.is_write();
            if let Some(source) = sources[id.index()] {
                if let Source::Write(write) = source
                    && (write == id || history.program_order(id, write))
                {
                    return Err(reads_the_future(id, write));
                }
                let seen = Version { source, by: id };
                if let Some(before) = last[address] {
                    compare(before, seen)?.map(&mut f);
                }
                if swaps {
                    reads_since[address].push(seen);
                } else {
                    for before in reads_since[address].drain(..) {
                        compare(before, seen)?.map(&mut f);
                    }
                    last[address] = Some(seen);
                }
            }
            if event.is_write() {
                let made = Version { source: Source::Write(id), by: id };
                for before in reads_since[address].drain(..).chain(last[address]) {
                    compare(before, made)?.map(&mut f);
                }
                last[address] = Some(made);
            }
        }
        for address in touched.drain(..) {
            last[address] = None;
            reads_since[address].clear();
        }
    }
    Ok(())
}

/// The order that two versions seen one after the other force, if any; a cycle if none will do.
fn compare(before: Version, after: Version) -> Result<Option<SeenOrder>, Cycle> {
    match (before.source, after.source) {
        (b, a) if b == a => Ok(None),
        (Source::Initial, _) => Ok(None),
        (Source::Write(seen), Source::Initial) => Err(seen_again(seen, before.by, after.by)),
        (Source::Write(b), Source::Write(a)) => {
            Ok(Some(SeenOrder { before: b, after: a, first: before.by, second: after.by }))
        }
    }
}

fn edge(from: EventId, to: EventId, because: Because) -> Edge {
    Edge { from: Node::Event(from), to: Node::Event(to), because }
}

/// A read that takes its value from a later write of its own thread, or from itself.
fn reads_the_future(read: EventId, write: EventId) -> Cycle {
    let mut edges = vec![edge(write, read, Because::ReadsFrom)];
    if write != read {
        edges.push(edge(read, write, Because::ProgramOrder));
    }
    Cycle { graph: Which::Location, edges }
}

/// The cycle that closes if `before` does not come first: were it after, `second`, which saw
/// `after`, would come before it too.
fn seen_again(before: EventId, first: EventId, second: EventId) -> Cycle {
    // second –fr→ before (–rf→ first, if first only saw it) –po→ second
    let mut edges = vec![edge(second, before, Because::FromRead)];
    if first != before {
        edges.push(edge(before, first, Because::ReadsFrom));
    }
    edges.push(edge(first, second, Because::ProgramOrder));
    Cycle { graph: Which::Location, edges }
}

/// The cycle in the location graph that closes if the order is the other way round.
pub(crate) fn refutation(order: &SeenOrder) -> Cycle {
    let SeenOrder { before, after, first, second } = *order;
    if after != second {
        return seen_again(before, first, second);
    }
    // `second` made `after`: after –ww→ before (–rf→ first) –po→ after. One access may have seen
    // and made both (a read-modify-write): then ww and rf close the cycle.
    let mut edges = vec![edge(after, before, Because::WriteOrder)];
    if first != before {
        edges.push(edge(before, first, Because::ReadsFrom));
    }
    if first != second {
        edges.push(edge(first, second, Because::ProgramOrder));
    }
    Cycle { graph: Which::Location, edges }
}
