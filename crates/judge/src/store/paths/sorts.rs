//! The events of a history by what a model can distinguish: few sorts, so that a test is made once for
//! each.

use cat::EventSort;
use history::{EventId, Kinds};
use rustc_hash::FxHashMap;

use super::Parts;

/// The sorts of events, and the sort of each.
pub(super) fn sorts(parts: &impl Parts) -> (Vec<Vec<EventSort>>, Vec<u16>) {
    let history = parts.history();
    let trace = parts.trace();
    let mut exclusive = vec![false; if trace.pairs().is_empty() { 0 } else { trace.len() }];
    for &(store, load) in trace.pairs() {
        exclusive[store.index()] = true;
        exclusive[load.index()] = true;
    }
    let mut known: FxHashMap<(EventSort, bool), u16> = FxHashMap::default();
    let mut sorts = Vec::new();
    // The last sort of events of each kind, of which most traces have one.
    let mut last: [Option<((EventSort, bool), u16)>; 4] = [None; 4];
    let mut of = Vec::with_capacity(history.len());
    for event in history.event_ids() {
        let origin = parts.origin(event);
        let is_exclusive = exclusive.get(origin.index()).copied().unwrap_or(false);
        let key = sort_of(parts, event, origin, is_exclusive);
        let last = &mut last[usize::from(key.0.reads) | usize::from(key.0.writes) << 1];
        if let Some((same, number)) = *last
            && same == key
        {
            of.push(number);
            continue;
        }
        let number = *known.entry(key).or_insert_with(|| {
            sorts.push(halves_of(key));
            sorts.len() as u16 - 1
        });
        *last = Some((key, number));
        of.push(number);
    }
    (sorts, of)
}

/// The sort of an event, and whether it is both halves of an atomic.
fn sort_of(
    parts: &impl Parts,
    event: EventId,
    origin: EventId,
    is_exclusive: bool,
) -> (EventSort, bool) {
    let trace = parts.trace();
    let kinds = trace.kinds_of(origin);
    let is_atomic = kinds == Kinds::ALL;
    let is_write_half = parts.is_write_half(event);
    let is_read_half = is_atomic && parts.are_split() && !is_write_half;
    let fence = match trace.address_of(origin) {
        Some(_) => None,
        None => match trace.event(origin).operation {
            history::Operation::Fence { before, after } => Some((before, after)),
            _ => None,
        },
    };
    let sort = EventSort {
        reads: kinds.reads && !is_write_half,
        writes: kinds.writes && !is_read_half,
        is_atomic,
        is_exclusive,
        order: trace.access_order(origin),
        fence,
        name: trace.fence_name(origin),
    };
    (sort, is_atomic && !parts.are_split())
}

fn halves_of((sort, is_both): (EventSort, bool)) -> Vec<EventSort> {
    match is_both {
        false => vec![sort],
        true => vec![EventSort { writes: false, ..sort }, EventSort { reads: false, ..sort }],
    }
}
