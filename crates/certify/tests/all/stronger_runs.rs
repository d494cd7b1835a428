//! A run of sc or tso as evidence for a causal model: accepted only where the model holds, and for
//! every run of a model that implies it.

use crate::common::{self, claim, permutations, shown};
use evidence::{Evidence, Witness};
use history::{EventId, History};
use models::{Model, implies};
use oracle::{Rng, Shape, random_history};
use tribunal_certify::certify;

const CAUSAL: [Model; 5] = [Model::Cc, Model::Ccv, Model::Cm, Model::Ccm, Model::Wccm];

fn accepts(history: &History, model: Model, order: &[EventId]) -> bool {
    certify(history, &claim(model, Evidence::Consistent(Witness::Order(order.to_vec())))).is_ok()
}

/// All orders of small histories: none shows what is not so, and every run of sc shows all five
/// models, every run of tso those that it implies.
#[test]
fn an_order_shows_a_causal_model_iff_it_is_a_run_of_one_that_implies_it() {
    let (mut shown_by, mut refused) = ([0u64; 5], 0u64);
    for shape in Shape::all() {
        let shape = shape.with_events(5);
        for seed in 0..common::effort(60) {
            let history = random_history(&mut Rng::new(seed), &shape);
            let accesses: Vec<EventId> =
                history.event_ids().filter(|&e| !history.event(e).is_fence()).collect();
            let allowed = CAUSAL.map(|model| oracle::allows(&history, model));
            for order in permutations(&accesses) {
                let [sc, tso] =
                    [Model::Sc, Model::Tso].map(|model| accepts(&history, model, &order));
                for (at, model) in CAUSAL.into_iter().enumerate() {
                    let accepted = accepts(&history, model, &order);
                    let place = || format!("{model} {} {seed}:\n{}", shape.name, shown(&history));
                    assert!(!accepted || allowed[at], "{}", place());
                    let is_run = sc || tso && implies(Model::Tso, model);
                    assert_eq!(accepted, is_run, "{}", place());
                    shown_by[at] += u64::from(accepted);
                    refused += u64::from(!accepted && !allowed[at]);
                }
            }
        }
    }
    println!("{shown_by:?} accepted, {refused} orders of violations rejected");
    assert!(shown_by.iter().all(|&times| times > 500) && refused > 1000);
}
