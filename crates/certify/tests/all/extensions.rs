//! Orders that the relation of a causal model is part of, as evidence for `ccv`, `ccm` and `wccm`: some
//! are accepted iff the definition holds, and none is accepted against it.

use crate::common::{self, choices, claim, permutations, rejection, shown, verdict};
use evidence::{Evidence, Reader, Witness};
use history::{EventId, History, Source};
use models::Model;
use oracle::{Rng, Shape, random_history};
use tribunal_certify::certify;

/// All accesses; a read-modify-write twice.
fn operations(history: &History) -> Vec<EventId> {
    let halves = |e: EventId| match history.event(e) {
        event if event.is_fence() => 0,
        event if event.is_atomic() => 2,
        _ => 1,
    };
    history.event_ids().flat_map(|e| std::iter::repeat_n(e, halves(e))).collect()
}

fn accepts(
    history: &History,
    model: Model,
    orders: &[Vec<EventId>],
    atomicity: &[(EventId, EventId)],
    reads: &[(Reader, Source)],
) -> bool {
    let (orders, atomicity, reads) = (orders.to_vec(), atomicity.to_vec(), reads.to_vec());
    let witness = Witness::Extensions { orders, atomicity, reads };
    certify(history, &claim(model, Evidence::Consistent(witness))).is_ok()
}

/// The pairs of writes of one address that follow each other in an order.
fn pairs_of_writes(history: &History, order: &[EventId]) -> Vec<(EventId, EventId)> {
    let writes: Vec<EventId> =
        order.iter().copied().filter(|&e| history.event(e).is_write()).collect();
    let mut pairs = Vec::new();
    for (at, &a) in writes.iter().enumerate() {
        for &b in writes[at + 1..].iter().filter(|&&b| b != a) {
            if history.event(a).address() == history.event(b).address() {
                pairs.push((a, b));
            }
        }
    }
    pairs
}

/// The same for all places at which the writes of read-modify-writes stand.
fn atomicities(history: &History, order: &[EventId]) -> Vec<Vec<(EventId, EventId)>> {
    let is_atomic = history.events().any(|event| event.is_atomic());
    // The place of a write is its last one.
    let last = |e: EventId| order.iter().rposition(|&o| o == e);
    let mut pairs = pairs_of_writes(history, order);
    pairs.retain(|&(a, b)| last(a) < last(b));
    match is_atomic {
        false => vec![Vec::new()],
        // Each set of pairs, as far as there are few.
        true => (0..1usize << pairs.len().min(6))
            .map(|set| {
                let is_in = |at: &usize| set >> at & 1 == 1;
                (0..pairs.len()).filter(is_in).map(|at| pairs[at]).collect()
            })
            .collect(),
    }
}

#[test]
fn a_history_satisfies_the_model_iff_an_order_of_its_operations_shows_it() {
    let mut decided = [[[0u64; 2]; 2]; 2];
    for shape in Shape::all() {
        let shape = shape.with_events(5);
        for seed in 0..common::effort(60) {
            let history = random_history(&mut Rng::new(seed), &shape);
            let operations = operations(&history);
            if operations.len() > 6 {
                continue;
            }
            let is_atomic = history.events().any(|event| event.is_atomic());
            let orders = permutations(&operations);
            for (at, model) in [Model::Ccv, Model::Ccm].into_iter().enumerate() {
                let allowed = oracle::allows(&history, model);
                let shown_by = choices(&history).iter().any(|reads| {
                    orders.iter().any(|order| {
                        let order = std::slice::from_ref(order);
                        let mut added = atomicities(&history, &order[0]).into_iter();
                        added.any(|added| accepts(&history, model, order, &added, reads))
                    })
                });
                let place = || format!("{model} {} {seed}:\n{}", shape.name, shown(&history));
                assert_eq!(shown_by, allowed, "{}", place());
                decided[at][usize::from(is_atomic)][usize::from(allowed)] += 1;
            }
        }
    }
    println!("{decided:?}");
    assert!(decided.iter().flatten().flatten().all(|&times| times > 10), "{decided:?}");
}

#[test]
fn a_history_satisfies_wccm_iff_two_orders_of_its_operations_show_it() {
    let mut decided = [[0u64; 2]; 2];
    for shape in Shape::all() {
        let shape = shape.with_events(4);
        for seed in 0..common::effort(100) {
            let history = random_history(&mut Rng::new(seed), &shape);
            let operations = operations(&history);
            if operations.len() > 4 {
                continue;
            }
            let is_atomic = history.events().any(|event| event.is_atomic());
            let allowed = oracle::allows(&history, Model::Wccm);
            let orders = permutations(&operations);
            let shown_by = choices(&history).iter().any(|reads| {
                let pairs = orders.iter().flat_map(|a| orders.iter().map(move |b| (a, b)));
                pairs.into_iter().any(|(first, second)| {
                    let orders = [first.clone(), second.clone()];
                    let mut added = atomicities(&history, first).into_iter();
                    added.any(|added| accepts(&history, Model::Wccm, &orders, &added, reads))
                })
            });
            let place = || format!("{} {seed}:\n{}", shape.name, shown(&history));
            assert_eq!(shown_by, allowed, "{}", place());
            decided[usize::from(is_atomic)][usize::from(allowed)] += 1;
        }
    }
    println!("{decided:?}");
    assert!(decided.iter().flatten().all(|&times| times > 10), "{decided:?}");
}

/// Larger histories: random orders that extend program order and reads-from where they can, with random
/// pairs, show nothing that is not so.
#[test]
fn no_order_is_accepted_against_a_violation() {
    let (mut refused, mut accepted) = (0u64, 0u64);
    for shape in Shape::all() {
        let shape = shape.with_events(9);
        for seed in 0..common::effort(150) {
            let mut rng = Rng::new(seed);
            let history = random_history(&mut rng, &shape);
            for model in [Model::Ccv, Model::Ccm, Model::Wccm] {
                let allowed = oracle::allows(&history, model);
                for reads in choices(&history).into_iter().take(4) {
                    for _ in 0..6 {
                        let sides = if model == Model::Wccm { 2 } else { 1 };
                        let orders: Vec<Vec<EventId>> =
                            (0..sides).map(|_| plausible(&history, &reads, &mut rng)).collect();
                        let mut pairs = pairs_of_writes(&history, &orders[0]);
                        let share = rng.below(4) as u32 * 33;
                        pairs.retain(|_| rng.percent(share));
                        let is_accepted = accepts(&history, model, &orders, &pairs, &reads);
                        let place = || format!("{model} {} {seed}", shape.name);
                        assert!(allowed || !is_accepted, "{}:\n{}", place(), shown(&history));
                        refused += u64::from(!allowed);
                        accepted += u64::from(is_accepted);
                    }
                }
            }
        }
    }
    println!("{refused} orders of violations rejected, {accepted} others accepted");
    assert!(refused > 1000 && accepted > 300);
}

/// A random order in which, mostly, a thread goes on where nothing that it reads is still to come.
fn plausible(history: &History, reads: &[(Reader, Source)], rng: &mut Rng) -> Vec<EventId> {
    let mut threads: Vec<Vec<EventId>> = history
        .threads()
        .map(|thread| {
            let of_thread = |&e: &EventId| history.event(e).thread == thread;
            operations(history).into_iter().filter(of_thread).rev().collect()
        })
        .collect();
    let mut order: Vec<EventId> = Vec::new();
    while threads.iter().any(|left| !left.is_empty()) {
        let waits = |left: &Vec<EventId>, order: &[EventId]| {
            let Some(&next) = left.last() else { return true };
            let chosen = reads.iter().find(|(reader, _)| *reader == Reader::Event(next));
            let source = chosen.map(|&(_, source)| source);
            let source = source.or_else(|| history.sources(next).first().copied());
            matches!(source, Some(Source::Write(w)) if w != next && !order.contains(&w))
        };
        let ready: Vec<usize> =
            (0..threads.len()).filter(|&t| !waits(&threads[t], &order)).collect();
        let some: Vec<usize> = (0..threads.len()).filter(|&t| !threads[t].is_empty()).collect();
        let from = if ready.is_empty() || rng.percent(3) { &some } else { &ready };
        let thread = from[rng.below(from.len())];
        order.extend(threads[thread].pop());
    }
    order
}

/// Fig. 1d of Gradual Consistency Checking: ccm, and of no stronger model.
const FIGURE_1D: &str = "0: x := 1
                         0: y == 0
                         0: y := 1
                         0: x == 1
                         1: x := 2
                         1: y == 0
                         1: y := 2
                         1: x == 2";

const OF_1D: &str = r#""kind":"extensions","atomicity":[],"reads":[],
    "orders":[[[0,0],[0,1],[1,0],[1,1],[0,2],[0,3],[1,2],[1,3]]]"#;

#[test]
fn an_order_that_is_changed_is_rejected_with_the_reason() {
    assert_eq!(verdict(FIGURE_1D, Model::Ccm, OF_1D), Ok(()));
    for (right, wrong, sentence) in [
        ("[0,0],[0,1]", "[0,1],[0,0]", "[0,0] must be performed before [0,1], by program order"),
        (
            "[0,1],[1,0],[1,1],[0,2]",
            "[0,1],[0,2],[1,0],[1,1]",
            "[1,1] must be performed before [0,2], by what it overwrites",
        ),
        (",[1,3]", "", "[1,3] is never performed"),
        (",[1,3]", ",[1,3],[1,3]", "[1,3] is performed twice"),
        ("[[[0,0]", "[[],[[0,0]", "the model needs orders of its operations: 1, not 2"),
    ] {
        assert_eq!(rejection(FIGURE_1D, Model::Ccm, &OF_1D.replacen(right, wrong, 1)), sentence);
    }
    assert!(rejection(FIGURE_1D, Model::Cm, OF_1D).contains("cm takes no evidence of this kind"));
}

#[test]
fn atomicity_that_is_left_out_or_made_up_is_rejected() {
    // What 1 writes comes after what it reads, so nothing of 0 may come in between.
    let trace = "0: x := 1
                 0: y := 1
                 1: <y == 1; y := 2>
                 2: y == 2
                 2: y := 3";
    let with = |atomicity: &str, order: &str| {
        format!(r#""kind":"extensions","atomicity":[{atomicity}],"reads":[],"orders":[[{order}]]"#)
    };
    let order = "[0,0],[0,1],[1,0],[1,0],[2,0],[2,1]";
    assert_eq!(verdict(trace, Model::Ccm, &with("", order)), Ok(()));
    assert_eq!(verdict(trace, Model::Ccv, &with("[[0,1],[2,1]]", order)), Ok(()));
    assert_eq!(
        rejection(trace, Model::Ccm, &with("[[2,1],[0,1]]", order)),
        "[2,1] must be performed before [0,1], by what the certificate adds"
    );
    assert_eq!(
        rejection(trace, Model::Ccm, &with("[[2,0],[0,1]]", order)),
        "[2,0] and [0,1] are not two writes of one address; they have no order"
    );
    // y := 3 comes after y := 1, so after what updates that; the order says nothing of it.
    let trace = "0: y := 1
                 1: <y == 1; y := 2>
                 2: y == 1
                 2: y := 3";
    let order = "[0,0],[1,0],[2,0],[1,0],[2,1]";
    assert_eq!(verdict(trace, Model::Ccm, &with("[[1,0],[2,1]]", order)), Ok(()));
    assert_eq!(
        rejection(trace, Model::Ccm, &with("", order)),
        "nothing keeps [2,1] from coming between [1,0] and the write that it read"
    );
}

#[test]
fn what_a_thread_observed_is_followed() {
    // Thread 1 reads 2 after 1, thread 2 reads 1 after 2.
    let trace = "0: x := 1
                 3: x := 2
                 1: x == 1
                 1: x == 2
                 2: x == 2
                 2: x == 1";
    let order = |order: &str| {
        format!(r#""kind":"extensions","atomicity":[],"reads":[],"orders":[[{order}]]"#)
    };
    for writes in ["[0,0],[3,0]", "[3,0],[0,0]"] {
        let order = order(&format!("{writes},[1,0],[1,1],[2,0],[2,1]"));
        assert!(verdict(trace, Model::Ccm, &order).is_err());
        assert!(verdict(trace, Model::Ccv, &order).is_err());
    }
}
