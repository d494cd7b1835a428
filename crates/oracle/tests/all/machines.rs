//! Each model is defined twice: by axioms, and by a machine. On random histories the two agree.

use history::{History, parse_text};
use models::Model;
use tribunal_oracle::{Shape, allows, machine_allows, random_histories, smallest, text};

const MACHINES: [Model; 3] = [Model::Sc, Model::Tso, Model::Pso];

/// Histories of each shape.
const SEEDS: u64 = 6_000;

#[test]
fn the_machines_and_the_axioms_agree_on_random_histories() {
    let disagree = |h: &History, model| allows(h, model) != machine_allows(h, model);
    for shape in Shape::all().into_iter().chain([Shape::thin_air()]) {
        for (seed, history) in random_histories(&shape, 0..SEEDS) {
            for model in MACHINES {
                if disagree(&history, model) {
                    let small = smallest(&history, |h| disagree(h, model));
                    let verdict = allows(&small, model);
                    panic!(
                        "the axioms of {model} say {verdict}, {} seed {seed}:\n{}",
                        shape.name,
                        text(&small)
                    );
                }
            }
        }
    }
}

#[test]
fn under_pso_an_atomic_does_not_wait_for_writes_of_other_addresses() {
    let history = parse_text(
        "0: M[x] := 1
         0: <M[y] == 0; M[y] := 1>
         1: M[y] == 1
         1: M[x] == 0",
    )
    .unwrap();
    assert!(machine_allows(&history, Model::Pso));
    assert!(!machine_allows(&history, Model::Tso));
}

#[test]
fn under_pso_a_fence_before_reads_does_not_order_writes() {
    let history = parse_text(
        "0: M[x] := 1
         0: fence w,r
         0: M[y] := 1
         1: M[y] == 1
         1: M[x] == 0",
    )
    .unwrap();
    assert!(machine_allows(&history, Model::Pso));
    assert!(!machine_allows(&history, Model::Tso));
}

#[test]
fn under_pso_a_fence_before_writes_orders_writes_only() {
    let message_passing = parse_text(
        "0: M[x] := 1
         0: fence w,w
         0: M[y] := 1
         1: M[y] == 1
         1: M[x] == 0",
    )
    .unwrap();
    let store_buffering = parse_text(
        "0: M[x] := 1
         0: fence w,w
         0: M[y] == 0
         1: M[y] := 1
         1: fence w,w
         1: M[x] == 0",
    )
    .unwrap();
    assert!(!machine_allows(&message_passing, Model::Pso));
    assert!(machine_allows(&store_buffering, Model::Pso));
}
