//! Banks, Elver, Hoffmann, Sarkar, Jackson, Nagarajan: Verification of a Lazy Cache Coherence
//! Protocol against a Weak Memory Model (FMCAD 2017).

use models::Model::{Cc, Ccv, Pso, Sc, Tso, Wccm};

use super::assert_verdicts;

/// Allowed by TSO, though TSO-LB, which propagates stores in batches, does not show it.
#[test]
fn figure_3_is_tso_but_not_sc() {
    let figure = "
        1: x := 1
        1: a := 1
        1: y == 0
        1: y == 1
        1: b == 0
        2: y := 1
        2: b := 1
        2: x == 0
        2: x == 1
        2: a == 0";
    assert_verdicts(figure, &[Tso, Pso, Ccv, Cc, Wccm], &[Sc]);
}
