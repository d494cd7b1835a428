//! Manovit, Hangal: Efficient Algorithms for Verifying Memory Consistency (SPAA 2005).

use models::Model::{self, Pso, Sc, Tso};
use tribunal_judge::{DecidedBy, Engine, Outcome};

use super::{assert_verdicts, parse, verdict_by};

/// P2's second load sees its own store of B although P1's came between, by way of A.
#[test]
fn figure_2_is_a_tso_violation_found_by_saturation() {
    let figure = "
        1: B := 91
        1: A := 1
        1: A == 2
        2: A := 2
        3: B := 92
        3: A == 2
        3: B == 92
        4: B == 92
        4: B == 91";
    // The figure's P1 reads A=2 after writing A=1, so A=2 is the later write; P3 reads A=2 and
    // then B=92, its own; P4 sees B=92 before B=91.
    assert_verdicts(figure, &[], &[Tso, Sc]);
    let found = verdict_by(&parse(figure), Tso, Engine::Saturation);
    assert_eq!(found.decided_by, DecidedBy::Saturation);
    assert!(matches!(found.outcome, Outcome::Broken(_)));
}

/// Fig. 5: either of two stores of B may be the survivor, and both are read after A=1; both are
/// stored before A=2. So A=1 comes before A=2, which saturation does not see.
const FIGURE_5: &str = "
    0: B := 3
    0: p := 1
    1: B := 4
    1: q := 1
    2: p == 1
    2: q == 1
    2: A := 2
    3: A := 1
    3: s := 1
    4: s == 1
    4: B == 3
    5: s == 1
    5: B == 4";

/// Fig. 5 and its mirror image: two stores of C come before A=1 as well, and two loads of C after
/// A=2. Now neither order of A will do.
const MIRRORED: &str = "
    0: B := 3
    0: p := 1
    1: B := 4
    1: q := 1
    2: p == 1
    2: q == 1
    2: A := 2
    2: w := 1
    6: C := 3
    6: t := 1
    7: C := 4
    7: u := 1
    3: t == 1
    3: u == 1
    3: A := 1
    3: s := 1
    4: s == 1
    4: B == 3
    5: s == 1
    5: B == 4
    8: w == 1
    8: C == 3
    9: w == 1
    9: C == 4";

#[test]
fn figure_5_leaves_a_pair_of_stores_open() {
    let history = parse(FIGURE_5);
    for model in [Sc, Tso] {
        let verdict = verdict_by(&history, model, Engine::Saturation);
        assert!(verdict.stats.unordered_write_pairs.is_some_and(|open| open >= 1));
        assert!(!matches!(verdict.outcome, Outcome::Broken(_)));
    }
    assert_verdicts(FIGURE_5, &[Sc, Tso, Pso], &[]);
}

#[test]
fn the_mirrored_figure_5_is_missed_by_saturation_and_caught_by_every_complete_engine() {
    let history = parse(MIRRORED);
    for model in [Model::Sc, Model::Tso] {
        let missed = verdict_by(&history, model, Engine::Saturation);
        assert!(matches!(missed.outcome, Outcome::Undecided(_)), "{model}: {:?}", missed.outcome);
        for engine in [Engine::Auto, Engine::Sat, Engine::Enumerate, Engine::Subsets] {
            let verdict = verdict_by(&history, model, engine);
            assert!(
                matches!(verdict.outcome, Outcome::Broken(_)),
                "{engine:?} under {model}: {:?}",
                verdict.outcome
            );
        }
    }
}
