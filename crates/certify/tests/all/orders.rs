//! Orders as witnesses of store models: runs of their machines are accepted, anything else is
//! rejected with the reason.

use crate::common::{rejection, verdict};
use models::Model::{self, *};

const STORE_BUFFERING: &str = "0: x := 1
                               0: y == 0
                               1: y := 1
                               1: x == 0";

#[test]
fn store_buffering_is_a_run_of_tso_but_not_of_sc() {
    let order = r#""witness":[[0,1],[1,1],[0,0],[1,0]]"#;
    for model in [Tso, Pso, Wmo, Rmo, Coherence] {
        assert_eq!(verdict(STORE_BUFFERING, model, order), Ok(()), "{model}");
    }
    assert_eq!(
        rejection(STORE_BUFFERING, Sc, order),
        "[0,0] must be performed before [0,1], by program order"
    );
}

#[test]
fn a_read_after_the_write_sees_it() {
    let order = r#""witness":[[0,1],[0,0],[1,1],[1,0]]"#;
    assert_eq!(
        rejection(STORE_BUFFERING, Tso, order),
        "[1,1] would read 1 at its position, not the value it returned"
    );
}

#[test]
fn every_access_is_performed_exactly_once() {
    let order = r#""witness":[[0,1],[1,1],[0,0]]"#;
    assert_eq!(rejection(STORE_BUFFERING, Tso, order), "[1,0] is never performed");
    let order = r#""witness":[[0,1],[1,1],[0,0],[1,0],[0,0]]"#;
    assert_eq!(rejection(STORE_BUFFERING, Tso, order), "[0,0] is performed twice");
}

const FENCED: &str = "0: x := 1
                      0: fence w,r
                      0: y == 0
                      1: y := 1
                      1: sync
                      1: x == 0";

#[test]
fn a_fence_drains_the_store_buffer() {
    let order = r#""witness":[[0,2],[1,2],[0,0],[1,0]]"#;
    for model in [Tso, Pso, Wmo, Rmo] {
        assert_eq!(
            rejection(FENCED, model, order),
            "[0,0] must be performed before [0,2], by a fence"
        );
    }
    assert_eq!(verdict(FENCED, Coherence, order), Ok(()));
    let order = r#""witness":[[0,1],[0,2],[1,2],[0,0],[1,0]]"#;
    assert_eq!(rejection(FENCED, Tso, order), "[0,1] is a fence; only accesses are performed");
}

const MESSAGE_PASSING: &str = "0: x := 1
                               0: y := 1
                               1: y == 1
                               1: x == 0";

#[test]
fn writes_pass_each_other_in_pso_and_reads_in_wmo() {
    let writes_swapped = r#""witness":[[0,1],[1,0],[1,1],[0,0]]"#;
    assert!(rejection(MESSAGE_PASSING, Tso, writes_swapped).contains("by program order"));
    assert_eq!(verdict(MESSAGE_PASSING, Pso, writes_swapped), Ok(()));
    let reads_swapped = r#""witness":[[1,1],[0,0],[0,1],[1,0]]"#;
    assert!(rejection(MESSAGE_PASSING, Pso, reads_swapped).contains("by program order"));
    assert_eq!(verdict(MESSAGE_PASSING, Wmo, reads_swapped), Ok(()));
}

#[test]
fn the_clock_orders_a_read_before_what_began_after_it_ended() {
    let trace = "0: x := 1
                 0: fence w,w
                 0: y := 1
                 1: y == 1 @ 10 : 20
                 1: x == 0 @ 21 : 30";
    let order = r#""witness":[[1,1],[0,0],[0,2],[1,0]]"#;
    assert_eq!(rejection(trace, Wmo, order), "[1,0] must be performed before [1,1], by time");
    assert_eq!(verdict(&trace.replace("21", "20"), Wmo, order), Ok(()));
    assert_eq!(verdict(trace, Rmo, order), Ok(()));
}

const LOAD_BUFFERING: &str = "0: x == 1 as a
                              0: y := 1 dep a
                              1: y == 1 as b
                              1: x := 1 dep b";

#[test]
fn dependencies_hold_in_rmo() {
    let order = r#""witness":[[0,1],[1,0],[1,1],[0,0]]"#;
    assert_eq!(
        rejection(LOAD_BUFFERING, Rmo, order),
        "[0,0] must be performed before [0,1], by a dependency"
    );
    let independent = LOAD_BUFFERING.replace(" dep a", "");
    assert_eq!(verdict(&independent, Rmo, order), Ok(()));
}

#[test]
fn a_value_of_ones_own_future_is_out_of_thin_air() {
    // The forwarded write is in no global order, so only the thin-air graph sees the cycle.
    let trace = "0: x == 1 as a
                 0: y := 1 dep a
                 0: y == 1 as b
                 0: z := 1 dep b
                 1: z == 1
                 1: x := 1";
    let order = r#""witness":[[0,2],[0,3],[1,0],[1,1],[0,0],[0,1]]"#;
    assert_eq!(verdict(trace, Rmo, order), Ok(()));
    let caused =
        trace.replace("1: z == 1", "1: z == 1 as c").replace("1: x := 1", "1: x := 1 dep c");
    assert_eq!(
        rejection(&caused, Rmo, order),
        "a value out of thin air: dependencies and reads-from form a cycle"
    );
}

#[test]
fn a_read_prefers_its_own_store_buffer() {
    let trace = "0: x := 1
                 0: x == 1
                 1: x := 2
                 1: x == 2";
    assert_eq!(verdict(trace, Tso, r#""witness":[[0,1],[1,1],[0,0],[1,0]]"#), Ok(()));
    // With 2 in the memory and 1 in the buffer, a read returns 1.
    let trace = "0: x := 1
                 0: x == 2
                 1: x := 2";
    assert_eq!(
        rejection(trace, Tso, r#""witness":[[1,0],[0,1],[0,0]]"#),
        "[0,1] would read 1 at its position, not the value it returned"
    );
    assert_eq!(verdict(trace, Tso, r#""witness":[[0,0],[1,0],[0,1]]"#), Ok(()));
}

#[test]
fn nothing_passes_an_atomic_in_tso_but_reads_do_in_rmo() {
    let trace = "0: <x == 0; x := 1>
                 0: y == 0
                 1: <y == 0; y := 1>
                 1: x == 0";
    let order = r#""witness":[[0,1],[1,1],[0,0],[1,0]]"#;
    for model in [Sc, Tso, Pso] {
        assert!(rejection(trace, model, order).contains("by program order"), "{model}");
    }
    for model in [Wmo, Rmo, Coherence] {
        assert_eq!(verdict(trace, model, order), Ok(()), "{model}");
    }
}

#[test]
fn an_atomic_reads_what_it_overwrites() {
    let trace = "0: <x == 0; x := 1>
                 1: x := 2";
    assert_eq!(verdict(trace, Sc, r#""witness":[[0,0],[1,0]]"#), Ok(()));
    assert_eq!(
        rejection(trace, Sc, r#""witness":[[1,0],[0,0]]"#),
        "[0,0] would read 2 at its position, not the value it returned"
    );
}

#[test]
fn same_address_reads_swap_in_rmo_only() {
    let trace = "0: x := 1
                 1: x == 1
                 1: x == 0";
    let order = r#""witness":[[1,1],[0,0],[1,0]]"#;
    assert_eq!(verdict(trace, Rmo, order), Ok(()));
    for model in [Sc, Tso, Pso, Wmo, Coherence] {
        assert!(rejection(trace, model, order).contains("by program order"), "{model}");
    }
}

#[test]
fn each_address_is_on_its_own_in_coherence() {
    let trace = "0: x := 1
                 0: y := 1
                 1: y == 1
                 1: sync
                 1: x == 0";
    let order = r#""witness":[[0,1],[1,0],[1,2],[0,0]]"#;
    assert_eq!(verdict(trace, Coherence, order), Ok(()));
    assert!(rejection(trace, Tso, order).contains("by program order"));
}

#[test]
fn final_and_order_lines_are_about_the_order_of_writes() {
    let trace = "0: x := 1
                 1: x := 2
                 final x == 1";
    assert_eq!(verdict(trace, Sc, r#""witness":[[1,0],[0,0]]"#), Ok(()));
    assert_eq!(
        rejection(trace, Sc, r#""witness":[[0,0],[1,0]]"#),
        "the last write of M[x] is not the one its `final` line names"
    );
    let trace = "0: x := 1
                 1: x := 2
                 order x: 0 < 2 < 1";
    assert_eq!(verdict(trace, Sc, r#""witness":[[1,0],[0,0]]"#), Ok(()));
    assert_eq!(
        rejection(trace, Sc, r#""witness":[[0,0],[1,0]]"#),
        "the writes of M[x] do not follow its `order` line"
    );
    let trace = "0: x := 1
                 order x: 1 < 0";
    assert!(rejection(trace, Sc, r#""witness":[[0,0]]"#).contains("`order` line"));
}

#[test]
fn the_order_settles_which_of_two_equal_writes_was_read() {
    let trace = "0: x := 1
                 0: y := 1
                 1: x := 1
                 2: x == 1
                 2: y == 0";
    assert_eq!(verdict(trace, Sc, r#""witness":[[1,0],[2,0],[2,1],[0,0],[0,1]]"#), Ok(()));
    assert!(
        rejection(trace, Sc, r#""witness":[[0,0],[0,1],[2,0],[2,1],[1,0]]"#)
            .contains("[2,1] would read 1")
    );
}

/// Both reads come first: a run of tso, which cc, ccv and wccm follow from, and not of sc.
#[test]
fn an_order_shows_the_causal_models_that_its_store_model_implies() {
    let run = r#""witness":[[0,1],[1,1],[0,0],[1,0]]"#;
    for model in [Model::Cc, Model::Ccv, Model::Wccm] {
        assert_eq!(verdict(STORE_BUFFERING, model, run), Ok(()), "{model}");
        let no_run = run.replace("[0,1],[1,1],[0,0],[1,0]", "[0,0],[0,1],[1,0],[1,1]");
        assert_ne!(verdict(STORE_BUFFERING, model, &no_run), Ok(()), "{model}");
    }
    for model in [Model::Cm, Model::Ccm] {
        let sentence = rejection(STORE_BUFFERING, model, run);
        assert!(sentence.contains("by program order"), "{model}: {sentence}");
    }
}

#[test]
fn choices_say_nothing_about_a_store_model() {
    assert!(
        rejection(STORE_BUFFERING, Tso, r#""kind":"choices","reads":[]"#)
            .contains("tso takes no evidence of this kind")
    );
}
