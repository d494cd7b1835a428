//! Zennou, Bouajjani, Enea, Erradi: Gradual Consistency Checking (CAV 2019).

use evidence::{Because, Node, Rule, Why};
use models::Model::{Cc, Ccm, Ccv, Cm, Sc, Tso, Wccm};
use tribunal_judge::Outcome;

use super::{assert_verdicts, parse, verdict};

#[test]
fn figure_1a_is_cm_but_not_ccv() {
    let figure = "
        0: x := 1
        0: x == 2
        1: x := 2
        1: x == 1";
    assert_verdicts(figure, &[Cc, Cm], &[Ccv, Ccm, Wccm, Tso, Sc]);
}

#[test]
fn figure_1b_is_ccv_and_tso_but_not_cm() {
    let figure = "
        0: z := 1
        0: x := 1
        0: y := 1
        1: x := 2
        1: z == 0
        1: y == 1
        1: x == 2";
    assert_verdicts(figure, &[Cc, Ccv, Tso, Wccm], &[Cm, Ccm, Sc]);
}

/// The paper's text defines cc by acyclicity of po ∪ wr ∪ rw[co]. That is stronger than cc as the
/// figure needs it: here x=1 is read after x was overwritten in program order, and so is y=1, which
/// closes such a cycle, and yet the paper (rightly) calls the history cm and ccv.
#[test]
fn figure_1c_is_cm_and_ccv_but_not_ccm() {
    let figure = "
        0: x := 1
        0: x := 2
        0: y == 1
        1: y := 1
        1: y := 2
        1: x == 1";
    assert_verdicts(figure, &[Cc, Cm, Ccv], &[Ccm, Sc]);
}

#[test]
fn figure_1d_is_ccm_but_not_sc() {
    let figure = "
        0: x := 1
        0: y == 0
        0: y := 1
        0: x == 1
        1: x := 2
        1: y == 0
        1: y := 2
        1: x == 2";
    assert_verdicts(figure, &[Cc, Cm, Ccv, Ccm, Wccm], &[Sc]);
}

/// Independent reads of independent writes. The paper says ccm and wccm allow it. With initial
/// writes first in program order, as the paper assumes, they do not: the initial write of y comes
/// before y := 1 in the partial store order, so the read of y=0 comes before y := 1, and likewise
/// for x; with rf and program order that is a cycle.
#[test]
fn figure_3_violates_ccm_and_wccm_by_the_definitions() {
    let figure = "
        0: x := 1
        1: y := 1
        2: x == 1
        2: y == 0
        3: y == 1
        3: x == 0";
    assert_verdicts(figure, &[Cc, Cm, Ccv], &[Ccm, Wccm, Tso, Sc]);
    let history = parse(figure);
    for model in [Ccm, Wccm] {
        let Outcome::Broken(proof) = verdict(&history, model).outcome else {
            panic!("{model} allows it")
        };
        let Some(Why::Derivation { derived, cycle }) = proof.steps.last().map(|s| &s.why) else {
            panic!("{model} gives no derivation")
        };
        assert!(derived.iter().all(|d| d.rule == Rule::Overwritten && d.path.len() <= 1));
        let words: Vec<Because> = cycle.edges.iter().map(|e| e.because).collect();
        assert_eq!(words.iter().filter(|w| **w == Because::ProgramOrder).count(), 2, "{cycle:?}");
        assert_eq!(words.iter().filter(|w| **w == Because::ReadsFrom).count(), 2, "{cycle:?}");
        assert_eq!(words.len(), 6, "{cycle:?}");
        assert!(cycle.edges.iter().all(|e| matches!(e.from, Node::Event(_))));
    }
}
