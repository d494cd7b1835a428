//! The two definitions of each store model agree: a history satisfies the axioms iff some order of
//! its events is a run of the machine. Every order of many small histories is replayed.

use crate::common::{self, claim, shown};
use evidence::{Evidence, Witness};
use history::{EventId, History};
use models::Model;
use oracle::{Rng, Shape, random_history};
use tribunal_certify::certify;

/// Whether the machine has a run among all orders of the accesses.
fn some_order_is_a_run(history: &History, model: Model) -> bool {
    let accesses: Vec<EventId> =
        history.event_ids().filter(|&e| !history.event(e).is_fence()).collect();
    common::permutations(&accesses).into_iter().any(|order| {
        let evidence = Evidence::Consistent(Witness::Order(order));
        certify(history, &claim(model, evidence)).is_ok()
    })
}

#[test]
fn a_history_satisfies_the_axioms_iff_the_machine_has_a_run() {
    let mut decided = [[0; 2]; 6];
    let shapes = [Shape::thin_air().with_events(4)]
        .into_iter()
        .chain(Shape::all().map(|shape| shape.with_events(5)));
    for shape in shapes {
        for seed in 0..common::effort(120) {
            let history = random_history(&mut Rng::new(seed), &shape);
            let stores = Model::ALL.into_iter().filter(|model| model.store_rules().is_some());
            for (row, model) in stores.enumerate() {
                let allowed = oracle::allows(&history, model);
                let runs = some_order_is_a_run(&history, model);
                assert_eq!(runs, allowed, "{model}, {} {seed}:\n{}", shape.name, shown(&history));
                decided[row][usize::from(allowed)] += 1;
            }
        }
    }
    // The comparison means something: every model had both verdicts, often.
    assert!(decided.iter().flatten().all(|&times| times > 100), "{decided:?}");
    println!("{decided:?}");
}
