//! The store models by definition: is there a reads-from and a write order under which the
//! location graph and the global graph are acyclic?
//!
//! Tried are all of them. The location graph relates accesses of one address only, so it is
//! judged address by address: [`explanations`] lists every reads-from and write order of one
//! address that it allows, and [`allows`] combines one of each address in every possible way to
//! judge the global graph. Exponential in everything. A read-modify-write is one node.

use history::{AddressId, AddressLabel, Event, EventId, History, Kinds, Source};
use models::{Keeps, StoreRules};

use crate::combinations::combinations;
use crate::relation::Relation;

/// What may have happened at one address.
struct Explanation {
    reads_from: Relation,
    /// What the global graph has of it: visible rf ∪ ww ∪ fr.
    global: Relation,
}

/// Whether the history satisfies the store model.
pub(crate) fn allows(history: &History, rules: &StoreRules) -> bool {
    let everywhere: Vec<Vec<Explanation>> =
        history.address_ids().map(|x| explanations(history, rules, x)).collect();
    if everywhere.iter().any(Vec::is_empty) {
        return false;
    }
    if !rules.global {
        return true;
    }
    let kept = kept_order(history, rules);
    let dependencies = dependency_order(history);
    let counts: Vec<usize> = everywhere.iter().map(Vec::len).collect();
    combinations(&counts).any(|choice| {
        let mut global = kept;
        let mut thin_air = dependencies;
        for (explanations, &chosen) in everywhere.iter().zip(&choice) {
            global = global.or(&explanations[chosen].global);
            thin_air = thin_air.or(&explanations[chosen].reads_from);
        }
        global.is_acyclic() && (!rules.dependencies || thin_air.is_acyclic())
    })
}

/// Every choice of reads-from and write order of one address whose location graph is acyclic and
/// which the `final` and `order` lines of the address admit.
fn explanations(history: &History, rules: &StoreRules, address: AddressId) -> Vec<Explanation> {
    let location = location_order(history, rules, address);
    let readers: Vec<EventId> = history
        .event_ids()
        .filter(|&e| history.event(e).is_read() && history.event(e).address() == Some(address))
        .collect();
    let counts: Vec<usize> = readers.iter().map(|&r| history.sources(r).len()).collect();
    let mut orders = write_orders(history, address);
    orders.retain(|order| is_as_observed(history, address, order));
    let mut found = Vec::new();
    for choice in combinations(&counts) {
        let reads: Vec<(EventId, Source)> =
            readers.iter().zip(&choice).map(|(&r, &c)| (r, history.sources(r)[c])).collect();
        let reads_from = reads_from(history.len(), &reads);
        let visible = reads_from.only(|write, read| {
            let is_own =
                history.thread_of(EventId::new(write)) == history.thread_of(EventId::new(read));
            rules.own_reads_visible || !is_own
        });
        for order in &orders {
            let overwrites = overwrites(history.len(), &reads, order);
            if location.or(&reads_from).or(&overwrites).is_acyclic() {
                found.push(Explanation { reads_from, global: visible.or(&overwrites) });
            }
        }
    }
    found
}

/// Every order of the writes of an address that keeps the program order of each thread; any other
/// closes a cycle with po-loc, in every model.
fn write_orders(history: &History, address: AddressId) -> Vec<Vec<EventId>> {
    let writes = &history.address(address).writes;
    let mut orders: Vec<Vec<EventId>> = vec![Vec::new()];
    for _ in writes {
        let mut longer = Vec::new();
        for order in &orders {
            let left = || writes.iter().filter(|w| !order.contains(w));
            for &next in left().filter(|&&w| !left().any(|&v| history.program_order(v, w))) {
                longer.push([order.as_slice(), &[next]].concat());
            }
        }
        orders = longer;
    }
    orders
}

/// Whether an order of the writes of an address agrees with its `final` and `order` lines.
fn is_as_observed(history: &History, address: AddressId, order: &[EventId]) -> bool {
    let last = order.last().map_or(Source::Initial, |&w| Source::Write(w));
    let place = |source: &Source| match source {
        Source::Initial => 0,
        Source::Write(w) => 1 + order.iter().position(|o| o == w).unwrap_or(order.len()),
    };
    history.finals().iter().filter(|f| f.address == address).all(|f| f.sources.contains(&last))
        && history
            .orders()
            .iter()
            .filter(|chain| chain.address == address)
            .all(|chain| chain.writes.is_sorted_by_key(place))
}

/// rf: from each write to its readers. Nothing comes before the initial write, so it can be in no
/// cycle and is no node.
pub(crate) fn reads_from(size: usize, reads: &[(EventId, Source)]) -> Relation {
    let mut relation = Relation::empty(size);
    for &(read, source) in reads {
        if let Source::Write(write) = source {
            relation.add(write.index(), read.index());
        }
    }
    relation
}

/// ww ∪ fr for one order of the writes of an address.
pub(crate) fn overwrites(size: usize, reads: &[(EventId, Source)], order: &[EventId]) -> Relation {
    let mut relation = Relation::empty(size);
    for (i, earlier) in order.iter().enumerate() {
        for later in &order[i + 1..] {
            relation.add(earlier.index(), later.index());
        }
    }
    for &(read, source) in reads {
        let overwritten_by = match source {
            Source::Initial => order,
            Source::Write(write) => match order.iter().position(|&w| w == write) {
                Some(place) => &order[place + 1..],
                None => &[],
            },
        };
        for write in overwritten_by.iter().filter(|&&write| write != read) {
            relation.add(read.index(), write.index());
        }
    }
    relation
}

/// po-loc of one address, without pairs of pure reads where the model lets them swap.
fn location_order(history: &History, rules: &StoreRules, address: AddressId) -> Relation {
    program_order_where(history, |a, b| {
        a.address() == Some(address)
            && b.address() == Some(address)
            && (a.is_write() || b.is_write() || !rules.same_address_reads_swap)
    })
}

/// What the global graph has of program order: by the table, by fences, by times and by
/// dependencies.
pub(crate) fn kept_order(history: &History, rules: &StoreRules) -> Relation {
    let by_table = program_order_where(history, |a, b| keeps(history, rules, a, b));
    let by_fence = fence_order(history);
    let mut kept = by_table.or(&by_fence);
    if rules.times {
        kept = kept.or(&time_order(history));
    }
    if rules.dependencies {
        kept = kept.or(&dependency_order(history));
    }
    kept
}

/// Whether the table keeps the order of two accesses of a thread: some role of the first (read or
/// write; a read-modify-write is both) before some role of the second.
pub(crate) fn keeps(history: &History, rules: &StoreRules, a: &Event, b: &Event) -> bool {
    let kept = |keeps: Keeps| match keeps {
        Keeps::Always => true,
        Keeps::SameAddress => overlap(history, a, b),
        Keeps::Never => false,
    };
    a.is_read() && b.is_read() && kept(rules.read_read)
        || a.is_read() && b.is_write() && kept(rules.read_write)
        || a.is_write() && b.is_read() && kept(rules.write_read)
        || a.is_write() && b.is_write() && kept(rules.write_write)
}

/// Whether two accesses have an address in common, or a byte.
fn overlap(history: &History, a: &Event, b: &Event) -> bool {
    let label = |event: &Event| event.address().map(|address| &history.address(address).label);
    match (label(a), label(b)) {
        (Some(AddressLabel::Bytes(a)), Some(AddressLabel::Bytes(b))) => a.overlaps(*b),
        _ => a.address() == b.address(),
    }
}

/// Pairs with a fence between them that orders accesses of their kinds.
fn fence_order(history: &History) -> Relation {
    Relation::of(history.len(), |a, b| {
        let kinds = |event| history.kinds_of(EventId::new(event));
        fence_between(history, a, kinds(a), b, kinds(b))
    })
}

/// Whether a fence between two events of a thread orders accesses of these kinds.
pub(crate) fn fence_between(
    history: &History,
    a: usize,
    kinds_of_a: Kinds,
    b: usize,
    kinds_of_b: Kinds,
) -> bool {
    a < b
        && history.thread_of(EventId::new(a)) == history.thread_of(EventId::new(b))
        && history.events_in(a..b).any(|event| match event.operation {
            history::Operation::Fence { before, after } => {
                kinds_of_a.meets(before) && kinds_of_b.meets(after)
            }
            _ => false,
        })
}

/// A read, and an access of its thread after it that began after it had ended.
fn time_order(history: &History) -> Relation {
    Relation::of(history.len(), |a, b| {
        let (first, second) = (history.event(EventId::new(a)), history.event(EventId::new(b)));
        let end = history.times(EventId::new(a)).end;
        let begin = history.times(EventId::new(b)).begin;
        a < b
            && first.thread == second.thread
            && first.is_read()
            && !second.is_fence()
            && end.zip(begin).is_some_and(|(end, begin)| end < begin)
    })
}

/// A read, and what declares to depend on it.
pub(crate) fn dependency_order(history: &History) -> Relation {
    let mut relation = Relation::empty(history.len());
    for &(dependent, read) in history.dependencies() {
        relation.add(read.index(), dependent.index());
    }
    relation
}

/// Pairs of accesses of a thread, in program order, that satisfy a predicate.
pub(crate) fn program_order_where(
    history: &History,
    holds: impl Fn(&Event, &Event) -> bool,
) -> Relation {
    Relation::of(history.len(), |a, b| {
        let (first, second) = (history.event(EventId::new(a)), history.event(EventId::new(b)));
        a < b && first.thread == second.thread && holds(&first, &second)
    })
}
