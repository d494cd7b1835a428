//! Proofs of causal models, by hand: the right ones are accepted, and each part of them is needed.

use crate::common::{rejection, verdict};
use models::Model::*;

/// x is overwritten in the causal past of the last read.
const STALE: &str = "0: x := 1
                     0: x := 2
                     0: y := 1
                     1: y == 1
                     1: x == 1";

const STALE_READ: &str = r#""proof":[{"clause":[],"derived":[
    {"from":[1,1],"to":[0,1],"rule":"overwritten","graph":"global","via":[1,1],
     "path":[[[0,0],[0,1],"program-order"]]}],
    "cycle":{"graph":"global","edges":[[[1,1],[0,1],{"derived":0}],[[0,1],[0,2],"program-order"],
        [[0,2],[1,0],"reads-from"],[[1,0],[1,1],"program-order"]]}}]"#;

#[test]
fn a_stale_read_violates_cc_and_what_is_stronger() {
    for model in [Cc, Cm, Ccv] {
        assert_eq!(verdict(STALE, model, STALE_READ), Ok(()), "{model}");
    }
    // There, what was overwritten is a matter of the store order.
    assert_eq!(
        rejection(STALE, Ccm, STALE_READ),
        "step 1: [0,0] → [0,1] is not a program-order edge here"
    );
    let stored = STALE_READ
        .replace(
            r#""derived":["#,
            r#""derived":[{"from":[0,0],"to":[0,1],"rule":"store-order","graph":"global",
                "path":[[[0,0],[0,1],"program-order"]]},"#,
        )
        .replace(r#"[[[0,0],[0,1],"program-order"]]}],"#, r#"[[[0,0],[0,1],{"derived":0}]]}],"#)
        .replace(r#"[[1,1],[0,1],{"derived":0}]"#, r#"[[1,1],[0,1],{"derived":1}]"#);
    assert_eq!(verdict(STALE, Ccm, &stored), Ok(()));
    assert_eq!(verdict(STALE, Wccm, &stored), Ok(()));
}

#[test]
fn each_part_of_a_derivation_is_needed() {
    for (right, wrong, sentence) in [
        (
            r#""path":[[[0,0],[0,1],"program-order"]]"#,
            r#""path":[]"#,
            "derived edge 0, [1,1] → [0,1], does not follow by its rule",
        ),
        (
            r#""path":[[[0,0],[0,1],"program-order"]]"#,
            r#""path":[[[0,0],[0,1],"reads-from"]]"#,
            "[0,0] → [0,1] is not a reads-from edge here",
        ),
        (
            r#""path":[[[0,0],[0,1],"program-order"]]"#,
            r#""path":[[[0,0],[0,1],{"derived":0}]]"#,
            "[0,0] → [0,1] is not a derived edge here",
        ),
        (r#""from":[1,1]"#, r#""from":[1,0]"#, "derived edge 0, [1,0] → [0,1], does not follow"),
        (r#""to":[0,1]"#, r#""to":[0,2]"#, "derived edge 0, [1,1] → [0,2], does not follow"),
        ("overwritten", "conflict", "does not follow by its rule"),
        ("overwritten", "atomic", "does not follow by its rule"),
        (r#"{"derived":0}"#, r#"{"derived":1}"#, "[1,1] → [0,1] is not a derived edge here"),
        (r#""graph":"global","via""#, r#""graph":"location","via""#, "has no location graph"),
    ] {
        let broken = STALE_READ.replacen(right, wrong, 1);
        let found = rejection(STALE, Cc, &broken);
        assert!(found.contains(sentence), "{found}\nnot: {sentence}");
    }
}

#[test]
fn a_read_of_the_initial_value_is_overwritten_by_any_write_before_it() {
    let trace = "0: x := 1
                 0: y := 1
                 1: y == 1
                 1: x == 0";
    let proof = r#""proof":[{"clause":[],"derived":[
        {"from":[1,1],"to":[0,0],"rule":"overwritten","graph":"global","via":[1,1],"path":[]}],
        "cycle":{"graph":"global","edges":[[[1,1],[0,0],{"derived":0}],
            [[0,0],[0,1],"program-order"],[[0,1],[1,0],"reads-from"],
            [[1,0],[1,1],"program-order"]]}}]"#;
    for model in [Cc, Cm, Ccv, Ccm, Wccm] {
        assert_eq!(verdict(trace, model, proof), Ok(()), "{model}");
    }
}

#[test]
fn only_one_overwritten_read_may_help_in_cc() {
    let store_buffering = "0: x := 1
                           0: y == 0
                           1: y := 1
                           1: x == 0";
    let proof = r#""proof":[{"clause":[],"derived":[
        {"from":[0,1],"to":[1,0],"rule":"overwritten","graph":"global","via":[0,1],"path":[]},
        {"from":[1,1],"to":[0,0],"rule":"overwritten","graph":"global","via":[1,1],"path":[]}],
        "cycle":{"graph":"global","edges":[[[0,0],[0,1],"program-order"],[[0,1],[1,0],{"derived":0}],
            [[1,0],[1,1],"program-order"],[[1,1],[0,0],{"derived":1}]]}}]"#;
    for model in [Cc, Cm, Ccv] {
        assert!(
            rejection(store_buffering, model, proof).contains("more than one overwritten read")
        );
    }
    assert_eq!(verdict(store_buffering, Ccm, proof), Ok(()));
    assert_eq!(
        rejection(store_buffering, Wccm, proof),
        "step 1: [0,0] → [0,1] is not a program-order edge here"
    );
}

/// Each thread sees the other's write before its own, and agrees with itself.
const TWO_ORDERS: &str = "0: x := 1
                          0: x == 2
                          1: x := 2
                          1: x == 1";

#[test]
fn conflicting_writes_have_one_order_in_ccv() {
    let proof = r#""proof":[{"clause":[],"derived":[
        {"from":[0,0],"to":[1,0],"rule":"conflict","graph":"global","via":[0,1],
         "path":[[[0,0],[0,1],"program-order"]]},
        {"from":[1,0],"to":[0,0],"rule":"conflict","graph":"global","via":[1,1],
         "path":[[[1,0],[1,1],"program-order"]]}],
        "cycle":{"graph":"global","edges":[[[0,0],[1,0],{"derived":0}],[[1,0],[0,0],{"derived":1}]]}}]"#;
    assert_eq!(verdict(TWO_ORDERS, Ccv, proof), Ok(()));
    assert_eq!(verdict(TWO_ORDERS, Ccm, proof), Ok(()));
    assert!(rejection(TWO_ORDERS, Cc, proof).contains("does not follow by its rule"));
    assert!(rejection(TWO_ORDERS, Cm, proof).contains("does not follow by its rule"));
    // It satisfies cm, indeed.
    let views = r#""kind":"views","reads":[],"views":[[[0,0],[1,0],[0,1]],[[1,0],[0,0],[1,1]]]"#;
    assert_eq!(verdict(TWO_ORDERS, Cm, views), Ok(()));
}

/// Thread 1 observes 1 after its own 2, and then 2 again.
const BACK_AND_FORTH: &str = "0: x := 1
                              0: y := 1
                              1: x := 2
                              1: x == 1
                              1: y == 1
                              1: x == 2";

const OBSERVED: &str = r#""proof":[{"clause":[],"derived":[
    {"from":[1,0],"to":[0,0],"rule":"observed","graph":"global","scope":[1,3],"via":[1,1],
     "path":[[[1,0],[1,1],"program-order"]]},
    {"from":[0,0],"to":[1,0],"rule":"observed","graph":"global","scope":[1,3],"via":[1,3],
     "path":[[[0,0],[1,1],"reads-from"],[[1,1],[1,3],"program-order"]]}],
    "cycle":{"graph":"global","edges":[[[1,0],[0,0],{"derived":0}],[[0,0],[1,0],{"derived":1}]]}}]"#;

#[test]
fn a_thread_observes_one_order_in_cm() {
    assert_eq!(verdict(BACK_AND_FORTH, Cm, OBSERVED), Ok(()));
    assert_eq!(verdict(BACK_AND_FORTH, Ccm, OBSERVED), Ok(()));
    assert!(rejection(BACK_AND_FORTH, Cc, OBSERVED).contains("does not follow by its rule"));
    for (right, wrong, sentence) in [
        // The second read comes after this operation.
        (r#""scope":[1,3],"via":[1,3]"#, r#""scope":[1,1],"via":[1,3]"#, "derived edge 1"),
        (r#""scope":[1,3],"via":[1,1]"#, r#""via":[1,1]"#, "derived edge 0"),
        (r#""via":[1,1]"#, r#""via":[1,3]"#, "derived edge 0"),
    ] {
        let found = rejection(BACK_AND_FORTH, Cm, &OBSERVED.replacen(right, wrong, 1));
        assert!(found.contains(sentence), "{found}\nnot: {sentence}");
    }
}

#[test]
fn what_two_threads_observe_does_not_add_up_in_cm() {
    let proof = r#""proof":[{"clause":[],"derived":[
        {"from":[0,0],"to":[1,0],"rule":"observed","graph":"global","scope":[0,1],"via":[0,1],
         "path":[[[0,0],[0,1],"program-order"]]},
        {"from":[1,0],"to":[0,0],"rule":"observed","graph":"global","scope":[1,1],"via":[1,1],
         "path":[[[1,0],[1,1],"program-order"]]}],
        "cycle":{"graph":"global","edges":[[[0,0],[1,0],{"derived":0}],[[1,0],[0,0],{"derived":1}]]}}]"#;
    assert_eq!(
        rejection(TWO_ORDERS, Cm, proof),
        "step 1: a cycle of cm mixes what two threads observed"
    );
    assert_eq!(verdict(TWO_ORDERS, Ccm, proof), Ok(()));
}

/// Thread 2 sees 1 before 2 and then 3; thread 3 sees 3 before 1 and never hears of 2.
const APART: &str = "0: x := 1
                     0: x := 2
                     1: x := 3
                     2: x == 2
                     2: x == 3
                     3: x == 3
                     3: x == 1";

#[test]
fn what_one_thread_observes_overwrites_nothing_for_another() {
    assert_eq!(verdict(APART, Cm, r#""kind":"choices","reads":[]"#), Ok(()));
    let observed = r#"{"from":[0,1],"to":[1,0],"rule":"observed","graph":"global","scope":[2,1],
        "via":[2,1],"path":[[[0,1],[2,0],"reads-from"],[[2,0],[2,1],"program-order"]]}"#;
    let cycle = |overwritten: &str, edges: &str| {
        format!(
            r#""proof":[{{"clause":[],"derived":[{observed},{overwritten}],
            "cycle":{{"graph":"global","edges":[{edges}[[1,0],[3,0],"reads-from"],
                [[3,0],[3,1],"program-order"]]}}}}]"#
        )
    };
    // In the cycle.
    let proof = cycle(
        r#"{"from":[3,1],"to":[0,1],"rule":"overwritten","graph":"global","via":[3,1],
            "path":[[[0,0],[0,1],"program-order"]]}"#,
        r#"[[3,1],[0,1],{"derived":1}],[[0,1],[1,0],{"derived":0}],"#,
    );
    assert_eq!(rejection(APART, Cm, &proof), "step 1: [0,1] → [1,0] is not a derived edge here");
    // In the premise.
    let proof = cycle(
        r#"{"from":[3,1],"to":[1,0],"rule":"overwritten","graph":"global","via":[3,1],
            "path":[[[0,0],[0,1],"program-order"],[[0,1],[1,0],{"derived":0}]]}"#,
        r#"[[3,1],[1,0],{"derived":1}],"#,
    );
    assert_eq!(rejection(APART, Cm, &proof), "step 1: [0,1] → [1,0] is not a derived edge here");
}

#[test]
fn the_graphs_of_wccm_do_not_mix_before_the_store_order() {
    let trace = "0: x := 1
                 1: x := 2
                 1: x == 1
                 2: x == 1
                 order x: 1 < 2";
    let proof = |graph: &str| {
        format!(
            r#""proof":[{{"clause":[],"derived":[
            {{"from":[1,0],"to":[0,0],"rule":"observed","graph":"location","scope":[1,1],
              "via":[1,1],"path":[[[1,0],[1,1],"program-order"]]}},
            {{"from":[1,0],"to":[0,0],"rule":"conflict","graph":"{graph}","via":[2,0],
              "path":[[[1,0],[0,0],{{"derived":0}}],[[0,0],[2,0],"reads-from"]]}}],
            "cycle":{{"graph":"global","edges":[[[1,0],[0,0],{{"derived":1}}],
                [[0,0],[1,0],"write-order"]]}}}}]"#
        )
    };
    assert_eq!(verdict(trace, Wccm, &proof("location")), Ok(()));
    assert_eq!(
        rejection(trace, Wccm, &proof("global")),
        "step 1: [1,0] → [0,0] is not a derived edge here"
    );
}

#[test]
fn an_observation_is_made_within_its_scope() {
    let trace = format!("{BACK_AND_FORTH}\n1: y == 1");
    // A later scope sees all of an earlier one, but not the other way round.
    let through_derived = |first: &str, second: &str| {
        format!(
            r#""proof":[{{"clause":[],"derived":[
            {{"from":[1,0],"to":[0,0],"rule":"observed","graph":"global","scope":{first},"via":[1,1],
             "path":[[[1,0],[1,1],"program-order"]]}},
            {{"from":[0,0],"to":[1,0],"rule":"observed","graph":"global","scope":{second},"via":[1,3],
             "path":[[[0,0],[0,1],"program-order"],[[0,1],[1,2],"reads-from"],
                     [[1,2],[1,3],"program-order"]]}},
            {{"from":[1,0],"to":[0,0],"rule":"observed","graph":"global","scope":{second},"via":[1,1],
             "path":[[[1,0],[0,0],{{"derived":0}}],[[0,0],[1,1],"reads-from"]]}}],
            "cycle":{{"graph":"global","edges":[[[1,0],[0,0],{{"derived":2}}],
                [[0,0],[1,0],{{"derived":1}}]]}}}}]"#
        )
    };
    assert_eq!(verdict(&trace, Cm, &through_derived("[1,3]", "[1,4]")), Ok(()));
    assert_eq!(
        rejection(&trace, Cm, &through_derived("[1,4]", "[1,3]")),
        "step 1: [1,0] → [0,0] is not a derived edge here"
    );
}

#[test]
fn atomicity_counts_where_writes_are_ordered() {
    let trace = "0: <x == 0; x := 1>
                 1: <x == 0; x := 2>";
    let proof = r#""proof":[{"clause":[],"derived":[
        {"from":[0,0],"to":[1,0],"rule":"atomic","graph":"global","via":[0,0],"path":[]},
        {"from":[1,0],"to":[0,0],"rule":"atomic","graph":"global","via":[1,0],
         "path":[[{"initial":"x"},[0,0],"program-order"]]}],
        "cycle":{"graph":"global","edges":[[[0,0],[1,0],{"derived":0}],[[1,0],[0,0],{"derived":1}]]}}]"#;
    for model in [Ccv, Ccm, Wccm] {
        assert_eq!(verdict(trace, model, proof), Ok(()), "{model}");
    }
    for model in [Cc, Cm] {
        assert!(rejection(trace, model, proof).contains("does not follow by its rule"), "{model}");
        assert_eq!(verdict(trace, model, r#""kind":"choices","reads":[]"#), Ok(()));
    }
    let itself = r#""proof":[{"clause":[],"derived":[
        {"from":[0,0],"to":[0,0],"rule":"atomic","graph":"global","via":[0,0],
         "path":[[{"initial":"x"},[0,0],"program-order"]]}],
        "cycle":{"graph":"global","edges":[[[0,0],[0,0],{"derived":0}]]}}]"#;
    assert!(rejection(trace, Ccv, itself).contains("derived edge 0"));
    let unread = trace.replace("1: <x == 0", "1: <x == 1");
    assert!(rejection(&unread, Ccv, proof).contains("derived edge 1"));
}

#[test]
fn no_derived_edge_is_its_own_premise() {
    let trace = "0: x := 1
                 1: <x == 1; x := 2>
                 2: x := 3
                 order x: 3 < 1 < 2";
    assert_eq!(verdict(trace, Ccv, r#""kind":"choices","reads":[]"#), Ok(()));
    let proof = r#""proof":[{"clause":[],"derived":[
        {"from":[1,0],"to":[2,0],"rule":"atomic","graph":"global","via":[1,0],
         "path":[[[0,0],{"read_of":[1,0]},"reads-from"],
                 [{"read_of":[1,0]},[1,0],"program-order"],[[1,0],[2,0],{"derived":0}]]}],
        "cycle":{"graph":"global","edges":[[[1,0],[2,0],{"derived":0}],[[2,0],[1,0],"write-order"]]}}]"#;
    assert_eq!(rejection(trace, Ccv, proof), "step 1: [1,0] → [2,0] is not a derived edge here");
}

#[test]
fn atomicity_works_backwards_too() {
    // x := 1 comes before the atomic that read x == 2, so before x := 2; likewise y := 2.
    let trace = "0: y := 1
                 0: x := 1
                 1: x := 2
                 1: y := 2
                 2: <x == 2; x := 3>
                 3: <y == 1; y := 3>
                 order x: 1 < 3
                 order y: 2 < 3";
    let proof = r#""proof":[{"clause":[],"derived":[
        {"from":[0,1],"to":[1,0],"rule":"atomic","graph":"global","via":[2,0],
         "path":[[[0,1],[2,0],"write-order"]]},
        {"from":[1,1],"to":[0,0],"rule":"atomic","graph":"global","via":[3,0],
         "path":[[[1,1],[3,0],"write-order"]]}],
        "cycle":{"graph":"global","edges":[[[0,0],[0,1],"program-order"],
            [[0,1],[1,0],{"derived":0}],[[1,0],[1,1],"program-order"],
            [[1,1],[0,0],{"derived":1}]]}}]"#;
    let choices = r#""kind":"choices","reads":[]"#;
    for model in [Ccv, Ccm, Wccm] {
        assert_eq!(verdict(trace, model, proof), Ok(()), "{model}");
        assert!(rejection(trace, model, choices).contains("has a cycle"), "{model}");
    }
    let one_line = trace.replace("order y: 2 < 3", "");
    for model in [Ccv, Ccm, Wccm] {
        assert_eq!(verdict(&one_line, model, choices), Ok(()), "{model}");
        assert!(rejection(&one_line, model, proof).contains("not a write-order edge"), "{model}");
    }
}

#[test]
fn order_lines_count_where_writes_are_ordered() {
    let trace = "0: x := 1
                 0: x := 2
                 order x: 2 < 1";
    let proof = r#""proof":[{"clause":[],"derived":[],"cycle":{"graph":"global","edges":[
        [[0,0],[0,1],"program-order"],[[0,1],[0,0],"write-order"]]}}]"#;
    for model in [Ccv, Ccm, Wccm] {
        assert_eq!(verdict(trace, model, proof), Ok(()), "{model}");
    }
    for model in [Cc, Cm] {
        assert!(rejection(trace, model, proof).contains("not a write-order edge here"), "{model}");
    }
}

#[test]
fn fences_and_graphs_matter_in_wccm() {
    let trace = "0: x := 1
                 0: sync
                 0: y == 0
                 1: y := 1
                 1: sync
                 1: x == 0";
    let proof = |because: &str, graph: &str| {
        format!(
            r#""proof":[{{"clause":[],"derived":[
            {{"from":[0,2],"to":[1,0],"rule":"overwritten","graph":"global","via":[0,2],"path":[]}},
            {{"from":[1,2],"to":[0,0],"rule":"overwritten","graph":"global","via":[1,2],"path":[]}}],
            "cycle":{{"graph":"{graph}","edges":[
                [[0,0],[0,2],"{because}"],[[0,2],[1,0],{{"derived":0}}],
                [[1,0],[1,2],"{because}"],[[1,2],[0,0],{{"derived":1}}]]}}}}]"#
        )
    };
    assert_eq!(verdict(trace, Wccm, &proof("fence", "global")), Ok(()));
    assert!(rejection(trace, Wccm, &proof("fence", "location")).contains("not a fence edge here"));
    assert!(
        rejection(trace, Wccm, &proof("program-order", "global")).contains("not a program-order")
    );
    assert_eq!(verdict(trace, Ccm, &proof("program-order", "global")), Ok(()));
    assert!(rejection(trace, Ccm, &proof("fence", "global")).contains("not a fence edge here"));
}

#[test]
fn a_read_of_ones_own_future_violates_wccm() {
    let trace = "0: x == 1
                 0: x := 1";
    let proof = |graph: &str| {
        format!(
            r#""proof":[{{"clause":[],"derived":[],"cycle":{{"graph":"{graph}","edges":[
            [[0,0],[0,1],"program-order"],[[0,1],[0,0],"reads-from"]]}}}}]"#
        )
    };
    assert_eq!(verdict(trace, Wccm, &proof("location")), Ok(()));
    assert_eq!(verdict(trace, Wccm, &proof("global")), Ok(()));
    assert_eq!(verdict(trace, Cc, &proof("global")), Ok(()));
    // A read of the past is no edge of wccm: it may come from the store buffer.
    let forwarded = "0: x := 1
                     0: x == 1";
    let proof = r#""proof":[{"clause":[],"derived":[],"cycle":{"graph":"global","edges":[
        [[0,0],[0,1],"reads-from"],[[0,1],[0,0],"program-order"]]}}]"#;
    assert!(rejection(forwarded, Wccm, proof).contains("is not a reads-from edge"));
}

/// The last read of thread 1 has two candidates, and both are overwritten in its past.
const TWO_CANDIDATES: &str = "0: x := 1
                              0: x := 2
                              0: y := 1
                              1: y == 1
                              1: z == 1
                              1: x == 1
                              2: x := 1
                              2: x := 3
                              2: z := 1";

const BY_CASES: &str = r#""proof":[
    {"clause":[{"not_reads":[[1,2],[0,0]]}],"derived":[
        {"from":[1,2],"to":[0,1],"rule":"overwritten","graph":"global","via":[1,2],
         "path":[[[0,0],[0,1],"program-order"]]}],
     "cycle":{"graph":"global","edges":[[[1,2],[0,1],{"derived":0}],[[0,1],[0,2],"program-order"],
        [[0,2],[1,0],"reads-from"],[[1,0],[1,2],"program-order"]]}},
    {"clause":[{"not_reads":[[1,2],[2,0]]}],"derived":[
        {"from":[1,2],"to":[2,1],"rule":"overwritten","graph":"global","via":[1,2],
         "path":[[[2,0],[2,1],"program-order"]]}],
     "cycle":{"graph":"global","edges":[[[1,2],[2,1],{"derived":0}],[[2,1],[2,2],"program-order"],
        [[2,2],[1,1],"reads-from"],[[1,1],[1,2],"program-order"]]}},
    {"clause":[],"propagation":true}]"#;

#[test]
fn each_candidate_is_refuted_in_turn() {
    assert_eq!(verdict(TWO_CANDIDATES, Cc, BY_CASES), Ok(()));
    let third = format!("{TWO_CANDIDATES}\n3: x := 1");
    assert_eq!(
        rejection(&third, Cc, BY_CASES),
        "step 3: unit propagation does not reach a contradiction"
    );
    let unassumed = BY_CASES.replacen(r#"{"not_reads":[[1,2],[0,0]]}"#, "", 1);
    assert_eq!(
        rejection(TWO_CANDIDATES, Cc, &unassumed),
        "step 1: derived edge 0, [1,2] → [0,1], does not follow by its rule"
    );
}

#[test]
fn the_order_of_writes_is_nothing_to_assume() {
    let proof = r#""proof":[{"clause":[{"before":[[0,0],[0,1]]}],"propagation":true},
        {"clause":[],"propagation":true}]"#;
    assert!(rejection(STALE, Ccm, proof).contains("a proof for ccm may assume reads-from only"));
}
