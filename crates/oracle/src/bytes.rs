//! The store models on accesses of mixed sizes, by definition and byte by byte.
//!
//! A byte is a location: it has its own writes in their own order, and each read of it its own
//! source. The location graph is judged for every byte. An access is one node of the global graph,
//! which joins what all bytes say. `coherence` gets a global graph here, too, of reads that overlap,
//! rf between threads, ww and fr: without it an access could be torn apart.
//!
//! Tried are all orders of all writes, and for each all sources of all bytes. Nothing here knows of
//! cells; engines and kernel do.

use std::collections::BTreeSet;

use history::{AddressLabel, EventId, History, Source};
use models::{Keeps, StoreRules};

use crate::combinations::combinations;
use crate::relation::Relation;
use crate::store;

/// Whether a history of mixed sizes satisfies the store model.
pub(crate) fn allows(history: &History, rules: &StoreRules) -> bool {
    let kept = match rules.global {
        true => store::kept_order(history, rules),
        false => {
            let reads = StoreRules { read_read: Keeps::SameAddress, ..NOTHING };
            store::program_order_where(history, |a, b| store::keeps(history, &reads, a, b))
        }
    };
    let bytes: Vec<Byte> = all_bytes(history).map(|byte| Byte::new(history, byte)).collect();
    let writes = history.event_ids().filter(|&e| history.kinds_of(e).writes).collect();
    let global = Graphs { global: kept, thin_air: store::dependency_order(history) };
    write_orders(history, writes).iter().any(|order| {
        let explanations = bytes.iter().map(|byte| byte.explanations(history, rules, order));
        let explanations: Vec<Vec<Graphs>> = explanations.collect();
        some_combination(&global, &explanations, rules.dependencies)
    })
}

/// A row that keeps nothing.
const NOTHING: StoreRules = StoreRules {
    read_read: Keeps::Never,
    read_write: Keeps::Never,
    write_read: Keeps::Never,
    write_write: Keeps::Never,
    times: false,
    dependencies: false,
    own_reads_visible: false,
    same_address_reads_swap: false,
    global: true,
};

/// What one explanation of a byte, or of several, says about nodes.
#[derive(Clone, Copy)]
struct Graphs {
    global: Relation,
    thin_air: Relation,
}

/// Whether one explanation of each byte can be chosen such that all graphs are acyclic.
fn some_combination(so_far: &Graphs, bytes: &[Vec<Graphs>], dependencies: bool) -> bool {
    if !so_far.global.is_acyclic() || dependencies && !so_far.thin_air.is_acyclic() {
        return false;
    }
    let Some((first, rest)) = bytes.split_first() else { return true };
    first.iter().any(|byte| {
        let joined = Graphs {
            global: so_far.global.or(&byte.global),
            thin_air: so_far.thin_air.or(&byte.thin_air),
        };
        some_combination(&joined, rest, dependencies)
    })
}

/// Every byte (or plain address) that somebody accesses or a `final` line speaks of.
fn all_bytes(history: &History) -> impl Iterator<Item = Place> {
    let accessed = history.event_ids().filter_map(|e| history.address_of(e));
    let said = history.finals().iter().map(|f| f.address);
    let places = accessed.chain(said).flat_map(|address| {
        let label = history.address(address).label.clone();
        match label {
            AddressLabel::Bytes(range) => {
                (range.start()..=range.last()).map(Place::Byte).collect::<Vec<_>>()
            }
            label => vec![Place::Plain(label)],
        }
    });
    places.collect::<BTreeSet<_>>().into_iter()
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Byte(u64),
    Plain(AddressLabel),
}

impl Place {
    /// What a value of an address says of this place, if the address covers it.
    fn of(&self, label: &AddressLabel, value: u128) -> Option<u128> {
        match (self, label) {
            (Place::Byte(byte), AddressLabel::Bytes(range)) => (range.start()..=range.last())
                .contains(byte)
                .then(|| value >> (8 * (byte - range.start())) & 0xff),
            (Place::Plain(own), label) => (own == label).then_some(value),
            (Place::Byte(_), _) => None,
        }
    }
}

/// Who reads and writes a byte, and what.
struct Byte {
    place: Place,
    initial: u128,
    reads: Vec<(EventId, u128)>,
    writes: Vec<(EventId, u128)>,
    last: Vec<u128>,
}

impl Byte {
    fn new(history: &History, place: Place) -> Self {
        let label = |address| &history.address(address).label;
        let at = |e: EventId, value: Option<u128>| {
            let value = place.of(label(history.address_of(e)?), value?)?;
            Some((e, value))
        };
        let said = |address| {
            let address = history.address(address);
            address.init_line.and_then(|_| place.of(&address.label, address.initial.into()))
        };
        let initial = history.address_ids().find_map(said).unwrap_or(0);
        let reads = history.event_ids().filter_map(|e| at(e, history.wide_value_read(e)));
        let writes = history.event_ids().filter_map(|e| at(e, history.wide_value_written(e)));
        let last =
            history.finals().iter().filter_map(|f| place.of(label(f.address), f.value.into()));
        let (reads, writes, last) = (reads.collect(), writes.collect(), last.collect());
        Self { initial, reads, writes, last, place }
    }

    /// Every choice of sources whose location graph is acyclic, given an order of all writes.
    fn explanations(&self, history: &History, rules: &StoreRules, all: &[EventId]) -> Vec<Graphs> {
        let own = |e: &&EventId| self.writes.iter().any(|(write, _)| write == *e);
        let order: Vec<EventId> = all.iter().filter(own).copied().collect();
        let written = |e: EventId| self.writes.iter().find(|w| w.0 == e).map(|w| w.1);
        let last = order.last().map_or(Some(self.initial), |&write| written(write));
        if self.last.iter().any(|&value| Some(value) != last) {
            return Vec::new();
        }
        let location = self.location_order(history, rules);
        let sources: Vec<Vec<Source>> = self.reads.iter().map(|&(_, v)| self.sources(v)).collect();
        let counts: Vec<usize> = sources.iter().map(Vec::len).collect();
        let mut found = Vec::new();
        for choice in combinations(&counts) {
            let reads: Vec<(EventId, Source)> = (0..choice.len())
                .map(|reader| (self.reads[reader].0, sources[reader][choice[reader]]))
                .collect();
            let reads_from = store::reads_from(history.len(), &reads);
            let overwrites = store::overwrites(history.len(), &reads, &order);
            if !location.or(&reads_from).or(&overwrites).is_acyclic() {
                continue;
            }
            let visible = reads_from.only(|write, read| {
                let thread = |e| history.thread_of(EventId::new(e));
                rules.global && rules.own_reads_visible || thread(write) != thread(read)
            });
            found.push(Graphs { global: visible.or(&overwrites), thin_air: reads_from });
        }
        found
    }

    fn sources(&self, value: u128) -> Vec<Source> {
        let writes = self.writes.iter().filter(|w| w.1 == value).map(|w| Source::Write(w.0));
        (self.initial == value).then_some(Source::Initial).into_iter().chain(writes).collect()
    }

    fn location_order(&self, history: &History, rules: &StoreRules) -> Relation {
        let accesses = |address| {
            let label = &history.address(address).label;
            self.place.of(label, 0).is_some()
        };
        store::program_order_where(history, |a, b| {
            a.address().is_some_and(accesses)
                && b.address().is_some_and(accesses)
                && (a.is_write() || b.is_write() || !rules.same_address_reads_swap)
        })
    }
}

/// Every order of all writes that agrees with the `order` lines.
fn write_orders(history: &History, writes: Vec<EventId>) -> Vec<Vec<EventId>> {
    let mut orders: Vec<Vec<EventId>> = vec![Vec::new()];
    for _ in &writes {
        let longer = orders.iter().flat_map(|order| {
            let left = writes.iter().filter(|w| !order.contains(w));
            left.map(|&next| [order.as_slice(), &[next]].concat())
        });
        orders = longer.collect();
    }
    orders.retain(|order| {
        history.orders().iter().all(|chain| {
            chain.writes.is_sorted_by_key(|source| match source {
                Source::Initial => 0,
                Source::Write(write) => {
                    1 + order.iter().position(|w| w == write).unwrap_or(order.len())
                }
            })
        })
    });
    orders
}
