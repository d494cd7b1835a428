//! Proofs of store models, by hand: the right ones are accepted, and each part of them is needed.

use crate::common::{rejection, verdict};
use models::Model::*;

const STORE_BUFFERING: &str = "0: x := 1
                               0: y == 0
                               1: y := 1
                               1: x == 0";

const STORE_BUFFERING_CYCLE: &str = r#""proof":[{"clause":[],"cycle":{"graph":"global","edges":[
    [[0,0],[0,1],"program-order"],[[0,1],[1,0],"from-read"],
    [[1,0],[1,1],"program-order"],[[1,1],[0,0],"from-read"]]}}]"#;

#[test]
fn store_buffering_violates_sc() {
    assert_eq!(verdict(STORE_BUFFERING, Sc, STORE_BUFFERING_CYCLE), Ok(()));
    assert_eq!(
        rejection(STORE_BUFFERING, Tso, STORE_BUFFERING_CYCLE),
        "step 1: [0,0] → [0,1] is not a program-order edge here"
    );
    assert_eq!(
        rejection(STORE_BUFFERING, Coherence, STORE_BUFFERING_CYCLE),
        "step 1: coherence has no global graph"
    );
}

#[test]
fn fences_restore_the_cycle_under_tso() {
    let trace = "0: x := 1
                 0: fence w,r
                 0: y == 0
                 1: y := 1
                 1: sync
                 1: x == 0";
    let cycle = r#""proof":[{"clause":[],"cycle":{"graph":"global","edges":[
        [[0,0],[0,2],"fence"],[[0,2],[1,0],"from-read"],
        [[1,0],[1,2],"fence"],[[1,2],[0,0],"from-read"]]}}]"#;
    assert_eq!(verdict(trace, Tso, cycle), Ok(()));
    assert_eq!(verdict(trace, Rmo, cycle), Ok(()));
    let weaker = trace.replace("fence w,r", "fence w,w");
    assert!(rejection(&weaker, Tso, cycle).contains("[0,0] → [0,2] is not a fence edge here"));
}

#[test]
fn a_fence_orders_only_what_it_stands_between() {
    let trace = "0: sync
                 0: x := 1
                 0: y == 0
                 0: sync
                 1: sync
                 1: y := 1
                 1: x == 0";
    let cycle = r#""proof":[{"clause":[],"cycle":{"graph":"global","edges":[
        [[0,1],[0,2],"fence"],[[0,2],[1,1],"from-read"],
        [[1,1],[1,2],"fence"],[[1,2],[0,1],"from-read"]]}}]"#;
    assert_eq!(rejection(trace, Tso, cycle), "step 1: [0,1] → [0,2] is not a fence edge here");
}

#[test]
fn a_read_from_the_store_buffer_is_no_global_edge() {
    let trace = "0: x := 1
                 0: x == 1
                 0: y == 0
                 1: y := 1
                 1: y == 1
                 1: x == 0";
    let cycle = r#""proof":[{"clause":[],"cycle":{"graph":"global","edges":[
        [[0,0],[0,1],"reads-from"],[[0,1],[0,2],"program-order"],[[0,2],[1,0],"from-read"],
        [[1,0],[1,1],"reads-from"],[[1,1],[1,2],"program-order"],[[1,2],[0,0],"from-read"]]}}]"#;
    assert_eq!(verdict(trace, Sc, cycle), Ok(()));
    assert_eq!(rejection(trace, Tso, cycle), "step 1: [0,0] → [0,1] is not a reads-from edge here");
}

#[test]
fn each_edge_of_the_cycle_is_needed() {
    for (edge, sentence) in [
        (
            r#"[[0,0],[0,1],"program-order"],"#,
            "an edge ends at [0,0], but the next begins at [0,1]",
        ),
        (r#"[[0,1],[1,0],"from-read"],"#, "an edge ends at [0,1], but the next begins at [1,0]"),
        (r#",[[1,1],[0,0],"from-read"]"#, "an edge ends at [1,1], but the next begins at [0,0]"),
    ] {
        let broken = STORE_BUFFERING_CYCLE.replace(edge, "");
        assert_eq!(rejection(STORE_BUFFERING, Sc, &broken), format!("step 1: {sentence}"));
    }
}

#[test]
fn each_reason_must_be_the_right_one() {
    for (wrong, right) in [("from-read", "reads-from"), ("program-order", "fence")] {
        for other in [right, "write-order", "dependency", "time"] {
            let broken = STORE_BUFFERING_CYCLE.replacen(wrong, other, 1);
            assert!(rejection(STORE_BUFFERING, Sc, &broken).contains("edge here"));
        }
    }
}

#[test]
fn a_proof_ends_in_the_empty_clause() {
    assert_eq!(
        rejection(STORE_BUFFERING, Sc, r#""proof":[]"#),
        "the proof does not end in the empty clause"
    );
    assert_eq!(
        rejection(
            STORE_BUFFERING,
            Sc,
            r#""proof":[{"clause":[],"cycle":{"graph":"global","edges":[]}}]"#
        ),
        "step 1: a cycle without edges"
    );
    assert_eq!(
        rejection(STORE_BUFFERING, Sc, r#""proof":[{"clause":[],"propagation":true}]"#),
        "step 1: unit propagation does not reach a contradiction"
    );
}

/// Whichever of the two writes came first, someone saw the other order.
const TWO_ORDERS: &str = "0: x := 1
                          1: x := 2
                          2: x == 1
                          2: x == 2
                          3: x == 2
                          3: x == 1";

/// A lemma a side: were 2 before 1, thread 2 would be a cycle; were 1 before 2, thread 3.
const BOTH_SIDES: &str = r#""proof":[
    {"clause":[{"before":[[0,0],[1,0]]}],"cycle":{"graph":"location","edges":[
        [[2,1],[0,0],"from-read"],[[0,0],[2,0],"reads-from"],[[2,0],[2,1],"program-order"]]}},
    {"clause":[{"before":[[1,0],[0,0]]}],"cycle":{"graph":"location","edges":[
        [[3,1],[1,0],"from-read"],[[1,0],[3,0],"reads-from"],[[3,0],[3,1],"program-order"]]}},
    {"clause":[],"propagation":true}]"#;

#[test]
fn two_lemmas_and_propagation_refute_both_orders() {
    for model in [Sc, Tso, Pso, Wmo, Coherence] {
        assert_eq!(verdict(TWO_ORDERS, model, BOTH_SIDES), Ok(()), "{model}");
    }
    // Same-address reads swap.
    assert!(rejection(TWO_ORDERS, Rmo, BOTH_SIDES).contains("not a program-order edge here"));
}

#[test]
fn a_clause_that_assumes_nothing_shows_nothing() {
    let without = BOTH_SIDES.replacen(r#"{"before":[[0,0],[1,0]]}"#, "", 1);
    assert_eq!(
        rejection(TWO_ORDERS, Sc, &without),
        "step 1: [2,1] → [0,0] is not a from-read edge here"
    );
    let reversed =
        BOTH_SIDES.replacen(r#"{"before":[[0,0],[1,0]]}"#, r#"{"before":[[1,0],[0,0]]}"#, 1);
    assert!(rejection(TWO_ORDERS, Sc, &reversed).starts_with("step 1: [2,1] → [0,0]"));
}

#[test]
fn a_proved_literal_may_be_used_in_a_later_cycle() {
    let lemma_then_cycle = r#""proof":[
        {"clause":[{"before":[[0,0],[1,0]]}],"cycle":{"graph":"location","edges":[
            [[2,1],[0,0],"from-read"],[[0,0],[2,0],"reads-from"],[[2,0],[2,1],"program-order"]]}},
        {"clause":[],"cycle":{"graph":"location","edges":[
            [[3,1],[1,0],"from-read"],[[1,0],[3,0],"reads-from"],[[3,0],[3,1],"program-order"]]}}]"#;
    assert_eq!(verdict(TWO_ORDERS, Sc, lemma_then_cycle), Ok(()));
}

#[test]
fn only_writes_of_one_address_have_an_order() {
    let trace = "0: x := 1
                 1: y := 1
                 1: x == 1";
    for pair in ["[[0,0],[1,0]]", "[[0,0],[0,0]]", "[[0,0],[1,1]]"] {
        let proof = format!(
            r#""proof":[{{"clause":[{{"before":{pair}}}],"propagation":true}},{{"clause":[],"propagation":true}}]"#
        );
        assert!(rejection(trace, Sc, &proof).contains("are not two writes of one address"));
    }
}

/// Both candidates of the read in thread 2 are impossible, unless writes pass each other.
const AMBIGUOUS: &str = "0: y := 1
                         0: x := 1
                         1: y := 2
                         1: x := 1
                         2: x == 1
                         2: y == 0";

const BY_CASES: &str = r#""proof":[
    {"clause":[{"not_reads":[[2,0],[0,1]]}],"cycle":{"graph":"global","edges":[
        [[0,0],[0,1],"program-order"],[[0,1],[2,0],"reads-from"],
        [[2,0],[2,1],"program-order"],[[2,1],[0,0],"from-read"]]}},
    {"clause":[{"not_reads":[[2,0],[1,1]]}],"cycle":{"graph":"global","edges":[
        [[1,0],[1,1],"program-order"],[[1,1],[2,0],"reads-from"],
        [[2,0],[2,1],"program-order"],[[2,1],[1,0],"from-read"]]}},
    {"clause":[],"propagation":true}]"#;

#[test]
fn a_reader_read_from_one_of_its_candidates() {
    assert_eq!(verdict(AMBIGUOUS, Sc, BY_CASES), Ok(()));
    assert_eq!(verdict(AMBIGUOUS, Tso, BY_CASES), Ok(()));
    assert!(rejection(AMBIGUOUS, Pso, BY_CASES).contains("not a program-order edge here"));
    let third = format!("{AMBIGUOUS}\n3: x := 1");
    assert_eq!(
        rejection(&third, Sc, BY_CASES),
        "step 3: unit propagation does not reach a contradiction"
    );
}

#[test]
fn an_assumed_read_is_assumed_by_its_clause_only() {
    let unassumed = BY_CASES.replacen(r#"{"not_reads":[[2,0],[0,1]]}"#, "", 1);
    assert_eq!(
        rejection(AMBIGUOUS, Sc, &unassumed),
        "step 1: [0,1] → [2,0] is not a reads-from edge here"
    );
}

#[test]
fn candidates_are_writes_of_the_value() {
    let proof = |literal: &str| {
        format!(
            r#""proof":[{{"clause":[{literal}],"propagation":true}},{{"clause":[],"propagation":true}}]"#
        )
    };
    let reject = |literal: &str| rejection(AMBIGUOUS, Sc, &proof(literal));
    assert!(reject(r#"{"reads":[[2,0],[1,0]]}"#).contains("cannot have read from [1,0]"));
    assert!(reject(r#"{"reads":[[2,0],"initial"]}"#).contains("cannot have read from the initial"));
    assert!(reject(r#"{"reads":[[0,0],[1,1]]}"#).contains("[0,0] is not a read"));
    assert!(
        reject(r#"{"reads":[{"final":"x"},[1,1]]}"#).contains("`final` line of M[x] is not a read")
    );
}

#[test]
fn an_atomic_admits_no_write_between_it_and_what_it_read() {
    let trace = "0: <x == 0; x := 1>
                 1: <x == 0; x := 2>";
    let proof = r#""proof":[{"clause":[],"cycle":{"graph":"location","edges":[
        [[0,0],[1,0],"from-read"],[[1,0],[0,0],"from-read"]]}}]"#;
    for model in [Sc, Tso, Pso, Wmo, Rmo, Coherence] {
        assert_eq!(verdict(trace, model, proof), Ok(()), "{model}");
    }
    let itself = r#""proof":[{"clause":[],"cycle":{"graph":"location","edges":[
        [[0,0],[0,0],"from-read"]]}}]"#;
    assert!(rejection(trace, Sc, itself).contains("is not a from-read edge"));
}

#[test]
fn nothing_comes_before_the_initial_write() {
    let trace = "0: x := 1
                 order x: 1 < 0";
    let proof = r#""proof":[{"clause":[],"cycle":{"graph":"location","edges":[
        [[0,0],{"initial":"x"},"write-order"],[{"initial":"x"},[0,0],"write-order"]]}}]"#;
    assert_eq!(verdict(trace, Coherence, proof), Ok(()));
    let trace = "0: x := 1
                 final x == 0";
    assert_eq!(verdict(trace, Coherence, proof), Ok(()));
    let trace = "0: x := 1";
    assert!(rejection(trace, Coherence, proof).contains("not a write-order edge here"));
}

#[test]
fn order_lines_are_transitive_and_a_final_line_names_the_last() {
    let trace = "0: x := 1
                 1: x := 2
                 2: x := 3
                 3: x == 3
                 3: x == 1
                 order x: 1 < 2 < 3";
    let proof = r#""proof":[{"clause":[],"cycle":{"graph":"location","edges":[
        [[2,0],[3,0],"reads-from"],[[3,0],[3,1],"program-order"],[[3,1],[2,0],"from-read"]]}}]"#;
    assert_eq!(verdict(trace, Sc, proof), Ok(()));
    assert_eq!(verdict(&trace.replace("order x: 1 < 2 < 3", "final x == 3"), Sc, proof), Ok(()));
    assert!(
        rejection(&trace.replace("order x: 1 < 2 < 3", "order x: 3 < 2 < 1"), Sc, proof)
            .contains("[3,1] → [2,0] is not a from-read edge here")
    );
    assert!(
        rejection(&trace.replace("order x: 1 < 2 < 3", ""), Sc, proof)
            .contains("[3,1] → [2,0] is not a from-read edge here")
    );
}

#[test]
fn times_count_in_wmo_and_dependencies_in_rmo() {
    let trace = "0: x := 1
                 0: sync
                 0: y := 1
                 1: y == 1 as a @ 10 : 20
                 1: x == 0 dep a @ 30 : 40";
    let proof = |because: &str| {
        format!(
            r#""proof":[{{"clause":[],"cycle":{{"graph":"global","edges":[
            [[0,0],[0,2],"fence"],[[0,2],[1,0],"reads-from"],
            [[1,0],[1,1],"{because}"],[[1,1],[0,0],"from-read"]]}}}}]"#
        )
    };
    assert_eq!(verdict(trace, Wmo, &proof("time")), Ok(()));
    assert_eq!(verdict(trace, Rmo, &proof("dependency")), Ok(()));
    assert_eq!(verdict(trace, Tso, &proof("program-order")), Ok(()));
    for (model, because) in [
        (Wmo, "dependency"),
        (Wmo, "program-order"),
        (Rmo, "time"),
        (Rmo, "program-order"),
        (Tso, "time"),
        (Tso, "dependency"),
    ] {
        let sentence = rejection(trace, model, &proof(because));
        assert!(sentence.contains("[1,0] → [1,1] is no"), "{model} {because}: {sentence}");
    }
}

#[test]
fn values_out_of_thin_air_violate_rmo() {
    let trace = "0: x == 1 as a
                 0: y := 1 dep a
                 1: y == 1 as b
                 1: x := 1 dep b";
    let proof = r#""proof":[{"clause":[],"cycle":{"graph":"thin-air","edges":[
        [[0,0],[0,1],"dependency"],[[0,1],[1,0],"reads-from"],
        [[1,0],[1,1],"dependency"],[[1,1],[0,0],"reads-from"]]}}]"#;
    assert_eq!(verdict(trace, Rmo, proof), Ok(()));
    assert!(rejection(trace, Wmo, proof).contains("wmo has no thin-air graph"));
}

#[test]
fn a_derivation_says_nothing_about_a_store_model() {
    let proof = STORE_BUFFERING_CYCLE.replace(r#""clause":[],"#, r#""clause":[],"derived":[],"#);
    assert!(rejection(STORE_BUFFERING, Sc, &proof).contains("sc takes no evidence of this kind"));
}
