//! What Rocket Chip's trace generator prints, as traces.

use tribunal_history::{Format, History, InputError, ReadOptions, TraceReader, write_text};

fn read(input: &str) -> Result<Vec<History>, InputError> {
    let options = ReadOptions { format: Format::Tracegen, ..ReadOptions::default() };
    TraceReader::new(input.as_bytes(), "t", options).collect()
}

fn text(histories: &[History]) -> String {
    let mut text = Vec::new();
    for history in histories {
        write_text(history, &mut text).unwrap();
    }
    String::from_utf8(text).unwrap()
}

#[test]
fn requests_and_responses_become_events() {
    let input = "\
using random seed 1
 0: store-req                    5 0x0000000008 #7 @56
1: load-req 0x0000000008 #0 @64
0: resp 0 #7 @70
1: resp                    5 #0 @81
0: fence-req @71
0: fence-resp @90
1: swap-req 3 0x8 #0 @104
1: resp 5 #0 @120
FINISHED 2
Completed after 190 cycles
";
    assert_eq!(
        text(&read(input).unwrap()),
        "0: M[8] := 5 @ 56:
0: sync @ 71:90
1: M[8] == 5 @ 64:81
1: <M[8] == 5; M[8] := 3> @ 104:
check
"
    );
}

#[test]
fn program_order_is_the_order_of_requests_and_tags_are_used_again() {
    let input = "\
0: load-req 0x10 #1 @1
0: load-req 0x18 #2 @2
0: resp 0 #2 @5
0: load-req 0x20 #2 @6
0: resp 0 #2 @7
0: resp 0 #1 @9
";
    let events = "0: M[16] == 0 @ 1:9\n0: M[24] == 0 @ 2:5\n0: M[32] == 0 @ 6:7\ncheck\n";
    assert_eq!(text(&read(input).unwrap()), events);
}

#[test]
fn a_store_conditional_that_succeeds_makes_an_atomic_of_its_load() {
    let pair = |answer: u64| {
        format!(
            "0: load-reserve-req 0x8 #1 @1\n0: store-cond-req 9 0x8 #2 @4\n\
             0: resp 0 #1 @3\n0: resp {answer} #2 @8\n"
        )
    };
    let read_one = |input: &str| text(&read(input).unwrap());
    assert_eq!(read_one(&pair(0)), "0: <M[8] == 0; M[8] := 9> @ 1:\ncheck\n");
    assert_eq!(read_one(&pair(1)), "0: M[8] == 0 @ 1:3\ncheck\n");
    assert_eq!(
        read_one("0: load-reserve-req 0x8 #1 @1\n0: resp 0 #1 @3\n"),
        "0: M[8] == 0 @ 1:3\ncheck\n"
    );
}

#[test]
fn a_store_conditional_behind_other_requests_is_paired_with_its_load() {
    let pair = |answer: u64| {
        format!(
            "0: load-reserve-req 0x8 #1 @1\n0: resp 0 #1 @3\n0: load-req 0x10 #2 @4\n\
             0: store-cond-req 9 0x8 #3 @5\n0: resp 0 #2 @8\n0: resp {answer} #3 @9\n"
        )
    };
    let read_one = |input: &str| text(&read(input).unwrap());
    assert_eq!(
        read_one(&pair(0)),
        "0: M[8] == 0 as lr0 @ 1:3\n0: M[16] == 0 @ 4:8\n0: M[8] := 9 pair lr0 @ 5:\ncheck\n"
    );
    assert_eq!(read_one(&pair(1)), "0: M[8] == 0 @ 1:3\n0: M[16] == 0 @ 4:8\ncheck\n");
}

#[test]
fn what_was_not_answered_is_left_out_but_for_stores() {
    let input = "\
0: store-req 4 0x8 #1 @1
0: load-req 0x8 #2 @2
0: swap-req 7 0x8 #3 @3
0: fence-req @4
1: load-req 0x8 #1 @5
1: resp 4 #1 @9
";
    assert_eq!(text(&read(input).unwrap()), "0: M[8] := 4 @ 1:\n1: M[8] == 4 @ 5:9\ncheck\n");
}

#[test]
fn a_file_may_hold_several_traces_and_noise() {
    let one = "0: store-req 4 0x8 #1 @1\n0: resp 0 #1 @2\n";
    let input = format!("{one}Completed after 9 cycles\nnoise\n12 bytes\n{one}Completed\nbye\n");
    assert_eq!(read(&input).unwrap().len(), 2);
    assert_eq!(read("").unwrap().len(), 0);
    assert_eq!(read("just noise\n").unwrap().len(), 0);
}

#[test]
fn mistakes_are_reported_with_their_place() {
    for (input, expected) in [
        ("0: loadreq 0x8 #1 @1", "t:1:4: expected `load-req`"),
        (
            "0: load-req #1 @1",
            "t:1:13: expected an address, `#` and a tag, `@` and a time, found `#`",
        ),
        ("0: store-req 5 0x8 #1 1", "t:1:23: expected a value, an address"),
        ("0: fence-req 5", "t:1:14: expected `@` and a time, found `5`"),
        ("0: resp 5 #1 @1", "t:1:4: core 0 has no pending request with tag 1"),
        ("0: fence-resp @1", "t:1:4: core 0 has no pending fence"),
        (
            "0: load-req 0x8 #1 @1\n0: load-req 0x8 #1 @1",
            "t:2:4: core 0 already has a pending request",
        ),
        ("0: store-cond-req 1 0x8 #1 @1", "t:1:4: core 0 has no load-reserve"),
        (
            "0: load-reserve-req 0x8 #1 @1\n0: store-cond-req 1 0x10 #2 @1",
            "t:2:4: the load-reserve has another address",
        ),
        (
            "0: load-req 0x8 #1 @1\n0: resp 3 #1 @2",
            "t:1:1: reads 3 from M[8], but 3 was never written there",
        ),
        ("0: load-req 0x8 #1 @5\n0: resp 0 #1 @2", "t:1:1: "),
        ("0: load-req 0x8 #1 @1 extra", "t:1:23: expected"),
    ] {
        let error = read(input).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{input}: {error}");
    }
    let long = format!("0: {}", "x".repeat(5000));
    assert!(read(&long).unwrap_err().to_string().contains("more than 4096 bytes"));
}

#[test]
fn the_budget_of_memory_is_kept() {
    let options =
        ReadOptions { format: Format::Tracegen, memory: Some(10_000), ..ReadOptions::default() };
    let input: String = (0..10_000).map(|i| format!("0: store-req {i} 0x8 #{i} @{i}\n")).collect();
    let mut reader = TraceReader::new(input.as_bytes(), "t", options);
    assert!(reader.next_trace().unwrap_err().to_string().contains("memory"));
}
