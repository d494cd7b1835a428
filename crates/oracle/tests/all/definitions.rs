//! Small histories whose verdicts follow from the definitions by hand, one for each thing that a
//! definition mentions.

use history::{ReadOptions, ThinAir, TraceReader, parse_text};
use models::Model;
use tribunal_oracle::allows;

/// Asserts which models allow a history: these, in the order of the table, and no others.
#[track_caller]
fn is_allowed_by(text: &str, models: &str) {
    let history = parse_text(text).expect("a trace");
    let names: Vec<&str> =
        Model::ALL.into_iter().filter(|&model| allows(&history, model)).map(Model::name).collect();
    assert_eq!(names.join(" "), models, "{text}");
}

const ALL: &str = "sc tso pso wmo rmo coherence ccm wccm cm ccv cc";

#[test]
fn a_store_buffer_lets_reads_overtake_writes() {
    is_allowed_by(
        "0: M[x] := 1
         0: M[y] == 0
         1: M[y] := 1
         1: M[x] == 0",
        "tso pso wmo rmo coherence wccm cm ccv cc",
    );
}

#[test]
fn a_full_fence_stops_them_where_there_is_a_global_order() {
    is_allowed_by(
        "0: M[x] := 1
         0: sync
         0: M[y] == 0
         1: M[y] := 1
         1: fence w,r
         1: M[x] == 0",
        "coherence cm ccv cc",
    );
}

#[test]
fn a_fence_of_other_kinds_does_not() {
    is_allowed_by(
        "0: M[x] := 1
         0: fence w,w
         0: M[y] == 0
         1: M[y] := 1
         1: fence r,rw
         1: M[x] == 0",
        "tso pso wmo rmo coherence wccm cm ccv cc",
    );
}

#[test]
fn an_atomic_is_a_fence_in_tso_and_pso_only() {
    is_allowed_by(
        "0: <M[x] == 0; M[x] := 1>
         0: M[y] == 0
         1: <M[y] == 0; M[y] := 1>
         1: M[x] == 0",
        "wmo rmo coherence wccm cm ccv cc",
    );
}

#[test]
fn pso_lets_writes_swap() {
    is_allowed_by(
        "0: M[x] := 1
         0: M[y] := 1
         1: M[y] == 1
         1: M[x] == 0",
        "pso wmo rmo coherence",
    );
}

#[test]
fn wmo_lets_reads_swap_unless_times_say_otherwise() {
    is_allowed_by(
        "0: M[x] := 1
         0: fence w,w
         0: M[y] := 1
         1: M[y] == 1 @ 10 : 20
         1: M[x] == 0 @ 20 : 30",
        "wmo rmo coherence",
    );
    is_allowed_by(
        "0: M[x] := 1
         0: fence w,w
         0: M[y] := 1
         1: M[y] == 1 @ 10 : 20
         1: M[x] == 0 @ 21 : 30",
        "rmo coherence",
    );
}

#[test]
fn rmo_lets_reads_swap_unless_a_dependency_says_otherwise() {
    is_allowed_by(
        "0: M[x] := 1
         0: fence w,w
         0: M[y] := 1
         1: M[y] == 1 as a
         1: M[x] == 0 dep a",
        "wmo coherence",
    );
}

#[test]
fn a_value_out_of_thin_air_needs_a_dependency_to_be_forbidden() {
    is_allowed_by(
        "0: M[x] == 1
         0: M[y] := 1
         1: M[y] == 1
         1: M[x] := 1",
        "wmo rmo coherence",
    );
    is_allowed_by(
        "0: M[x] == 1 as a
         0: M[y] := 1 dep a
         1: M[y] == 1 as b
         1: M[x] := 1 dep b",
        "wmo coherence",
    );
}

#[test]
fn dependencies_and_reads_from_of_the_own_thread_close_a_cycle_too() {
    is_allowed_by(
        "0: M[x] == 1 as a
         0: M[y] := 1 dep a
         0: M[y] == 1 as b
         0: M[z] := 1 dep b
         1: M[z] == 1 as c
         1: M[x] := 1 dep c",
        "wmo coherence",
    );
}

#[test]
fn only_rmo_lets_reads_of_one_address_swap() {
    is_allowed_by(
        "init M[x] == 5
         0: M[x] := 1
         1: M[x] == 1
         1: M[x] == 5",
        "rmo",
    );
    is_allowed_by(
        "0: M[x] := 1
         1: M[x] == 1
         1: <M[x] == 0; M[x] := 2>",
        "",
    );
}

#[test]
fn nothing_comes_between_the_halves_of_an_atomic() {
    is_allowed_by(
        "0: <M[x] == 0; M[x] := 1>
         1: <M[x] == 0; M[x] := 2>",
        "cm cc",
    );
    is_allowed_by(
        "0: <M[x] == 0; M[x] := 1>
         1: <M[x] == 1; M[x] := 2>",
        ALL,
    );
}

#[test]
fn the_last_write_wrote_the_final_value() {
    is_allowed_by(
        "0: M[x] := 1
         0: M[x] := 2
         final M[x] == 1",
        "cm cc",
    );
    is_allowed_by(
        "0: M[x] := 1
         final M[x] == 0",
        "cm cc",
    );
    is_allowed_by(
        "0: M[x] == 0
         final M[x] == 0",
        ALL,
    );
}

#[test]
fn an_order_line_orders_writes() {
    is_allowed_by(
        "0: M[x] := 1
         1: M[x] := 2
         2: M[x] == 1
         2: M[x] == 2
         order M[x]: 0 < 1 < 2",
        ALL,
    );
    is_allowed_by(
        "0: M[x] := 1
         1: M[x] := 2
         2: M[x] == 1
         2: M[x] == 2
         order M[x]: 2 < 1",
        "rmo cm cc",
    );
    is_allowed_by(
        "0: M[x] := 1
         order M[x]: 1 < 0",
        "cm cc",
    );
}

#[test]
fn a_repeated_value_may_come_from_any_of_its_writes() {
    is_allowed_by(
        "0: M[x] := 1
         0: M[x] := 2
         1: M[x] := 1
         2: M[x] == 2
         2: M[x] == 1",
        ALL,
    );
    is_allowed_by(
        "0: M[x] := 1
         0: M[x] := 2
         1: M[x] := 1
         2: M[x] == 2
         2: M[x] == 1
         2: M[x] == 2",
        "rmo cc",
    );
}

#[test]
fn nobody_reads_the_future_of_its_own_thread() {
    is_allowed_by(
        "0: M[x] == 1
         0: M[x] := 1",
        "",
    );
    is_allowed_by("0: <M[x] == 1; M[x] := 1>", "");
}

#[test]
fn a_final_value_nobody_wrote_violates_every_model() {
    let text = "0: M[x] := 1\nfinal M[x] == 7\n";
    let options = ReadOptions { thin_air: ThinAir::Violation, ..ReadOptions::default() };
    let mut reader = TraceReader::new(text.as_bytes(), "final", options);
    let history = reader.next_trace().unwrap().unwrap();
    assert!(Model::ALL.into_iter().all(|model| !allows(&history, model)));
}
