//! Every execution of a small history, one by one.

use history::{EventId, History, Source};
use tribunal_cat::{CatModel, Witness, meets};

/// Whether some execution of the history meets the model, by trying each.
pub(crate) fn some_execution_meets(model: &CatModel, history: &History) -> bool {
    let mut found = false;
    each_reads_from(history, &mut Vec::new(), &mut |reads_from| {
        each_orders(history, &mut Vec::new(), &mut |write_orders| {
            let witness =
                Witness { reads_from: reads_from.to_vec(), write_orders: write_orders.to_vec() };
            found = found || meets(model, history, &witness);
        });
    });
    found
}

fn each_reads_from(
    history: &History,
    so_far: &mut Vec<(EventId, Source)>,
    each: &mut impl FnMut(&[(EventId, Source)]),
) {
    let mut readers = history.event_ids().filter(|&id| history.event(id).is_read());
    let Some(read) = readers.nth(so_far.len()) else { return each(so_far) };
    for &source in history.sources(read) {
        so_far.push((read, source));
        each_reads_from(history, so_far, each);
        so_far.pop();
    }
}

fn each_orders(
    history: &History,
    so_far: &mut Vec<Vec<EventId>>,
    each: &mut impl FnMut(&[Vec<EventId>]),
) {
    let Some(address) = history.address_ids().nth(so_far.len()) else { return each(so_far) };
    for order in permutations(&history.address(address).writes) {
        so_far.push(order);
        each_orders(history, so_far, each);
        so_far.pop();
    }
}

fn permutations(items: &[EventId]) -> Vec<Vec<EventId>> {
    let Some((&first, rest)) = items.split_first() else { return vec![Vec::new()] };
    let mut all = Vec::new();
    for shorter in permutations(rest) {
        for at in 0..=shorter.len() {
            let mut longer = shorter.clone();
            longer.insert(at, first);
            all.push(longer);
        }
    }
    all
}
