//! What is written is read again as it was.

use crate::common::trace;
use proptest::prelude::*;
use tribunal_history::{
    EventId, Format, History, ReadOptions, ThinAir, TraceReader, parse_text, write_jsonl,
    write_text,
};

fn text(history: &History) -> Vec<u8> {
    let mut text = Vec::new();
    write_text(history, &mut text).unwrap();
    text
}

fn jsonl(history: &History) -> Vec<u8> {
    let mut lines = Vec::new();
    write_jsonl(history, &mut lines).unwrap();
    lines
}

/// The one trace of an input.
fn read(input: &[u8], format: Format) -> History {
    let options = ReadOptions { format, ..ReadOptions::default() };
    let mut reader = TraceReader::new(input, "written", options);
    let trace = reader.next_trace().unwrap_or_else(|error| panic!("{}", error.render(false)));
    assert!(reader.next_trace().unwrap().is_none());
    trace.unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn text_says_everything(trace in trace()) {
        let history = trace.history();
        prop_assert_eq!(&read(&text(&history), Format::Text), &history);
    }

    #[test]
    fn json_lines_say_everything(trace in trace()) {
        let history = trace.history();
        prop_assert_eq!(&read(&jsonl(&history), Format::JsonLines), &history);
    }

    #[test]
    fn text_and_json_lines_say_the_same(trace in trace()) {
        let history = trace.history();
        let by_text = text(&read(&jsonl(&history), Format::JsonLines));
        prop_assert_eq!(&by_text, &text(&history));
        let by_json = jsonl(&read(&text(&history), Format::Text));
        prop_assert_eq!(String::from_utf8(by_json).unwrap(), String::from_utf8(jsonl(&history)).unwrap());
    }
}

#[test]
fn the_text_of_everything() {
    let written = "\
init M[x] == 5
init M[17] == 18446744073709551615
1: M[x] == 5 as a @ 1:2
1: <M[17] == 18446744073709551615; M[17] := 3> dep a @ :7
1: fence w,r as f @ 8:
0: sync
0: M[x] := 1
0: M[x] := 2 as b
0: fence rw,-
final M[x] == 2
order M[x]: 5 < 1 < b
order M[17]: 3
check
";
    assert_eq!(String::from_utf8(text(&parse_text(written).unwrap())).unwrap(), written);
}

#[test]
fn the_json_lines_of_everything() {
    let history = parse_text(
        "init M[x] == 5
         1: M[x] == 5 as a @ 1:2
         1: <M[17] == 0; M[17] := 3> dep a @ :7
         1: fence w,r as f @ 8:
         0: sync
         0: M[x] := 1
         0: M[x] := 2 as b
         final M[x] == 2
         order M[x]: 5 < 1 < b",
    );
    let expected = r#"{"op":"init","addr":"x","value":5}
{"thread":1,"op":"read","addr":"x","value":5,"begin":1,"end":2,"name":"a"}
{"thread":1,"op":"rmw","addr":17,"read":0,"value":3,"end":7,"deps":["a"]}
{"thread":1,"op":"fence","before":"w","after":"r","begin":8,"name":"f"}
{"thread":0,"op":"fence","before":"rw","after":"rw"}
{"thread":0,"op":"write","addr":"x","value":1}
{"thread":0,"op":"write","addr":"x","value":2,"name":"b"}
{"op":"final","addr":"x","value":2}
{"op":"order","addr":"x","values":[5,1,"b"]}
{"op":"end"}
"#;
    assert_eq!(String::from_utf8(jsonl(&history.unwrap())).unwrap(), expected);
}

#[test]
fn json_lines_are_read_as_documented() {
    let lines = r#"
{"thread":0,"op":"write","addr":"x","value":1}
  {"op":"read","thread":0,"value":1,"addr":"\u0078"}
{"thread":0,"op":"rmw","addr":"0x10","read":0,"value":1,"name":"a"}
{"thread":0,"op":"read","addr":"16","value":1}
{"thread":0,"op":"read","addr":16,"value":1,"deps":["a","a"]}
{"thread":0,"op":"sync"}
{"thread":0,"op":"fence"}
{"thread":0,"op":"fence","after":"w"}
{"thread":0,"op":"fence","before":"r","after":"wr","deps":[]}
{"op":"order","addr":"x","values":[0,1]}
"#;
    let expected = parse_text(
        "0: x := 1  0: x == 1  0: <M[16] == 0; M[16] := 1> as a  0: M[16] == 1
         0: M[16] == 1 dep a  0: sync  0: sync  0: fence rw,w  0: fence r,rw
         order x: 0 < 1",
    );
    assert_eq!(read(lines.as_bytes(), Format::JsonLines), expected.unwrap());
}

#[test]
fn json_traces_end_as_text_traces_do() {
    let lengths = |lines: &str| -> Vec<usize> {
        let options = ReadOptions { format: Format::JsonLines, ..ReadOptions::default() };
        TraceReader::new(lines.as_bytes(), "test", options).map(|t| t.unwrap().len()).collect()
    };
    let (sync, end) = ("{\"thread\":0,\"op\":\"sync\"}\n", "{\"op\":\"end\"}\n");
    assert_eq!(lengths(""), [0]);
    assert_eq!(lengths(sync), [1]);
    assert_eq!(lengths(sync.trim()), [1]);
    assert_eq!(lengths(&format!("{sync}{end}")), [1]);
    assert_eq!(lengths(&format!("{sync}{end}\n \n\r\n")), [1]);
    assert_eq!(lengths(&format!("{end}{end}{sync}{sync}")), [0, 0, 2]);
}

#[test]
fn thin_air_values_survive_the_journey() {
    let options = ReadOptions { thin_air: ThinAir::Violation, ..ReadOptions::default() };
    let read = |text: &[u8]| TraceReader::new(text, "t", options).next_trace().unwrap().unwrap();
    let history = read(b"0: x == 9\nfinal y == 3");
    assert_eq!(read(&text(&history)), history);
}

#[test]
fn equality_looks_past_lines_and_the_numbers_of_addresses_only() {
    let history = |text: &str| parse_text(text).unwrap();
    let interleaved = history("0: x := 1\n1: z := 2\n0: y := 1\n1: y == 1\ninit x == 3");
    let in_turn = history("init x == 3 0: x := 1 0: y := 1 1: z := 2 1: y == 1");
    assert_ne!(interleaved.event(EventId::new(1)), in_turn.event(EventId::new(1)));
    assert_eq!(interleaved, in_turn);
    for (a, b) in [
        ("0: x := 1", "1: x := 1"),
        ("0: x := 1", "0: y := 1"),
        ("0: x := 1", "0: x := 2"),
        ("0: x := 1", "0: x := 1 as a"),
        ("0: x := 1", "0: x := 1 @ 1:"),
        ("0: x == 0 as a 0: y := 1", "0: x == 0 as a 0: y := 1 dep a"),
        ("0: x := 1", "init x == 0 0: x := 1"),
        ("0: x := 1", "0: x := 1 final x == 1"),
        ("0: x := 1 0: x := 2", "0: x := 1 0: x := 2 order x: 1 < 2"),
        ("0: x := 1 0: y := 1", "0: x := 1 1: y := 1"),
        ("0: x == 0", "0: x := 0"),
    ] {
        assert_ne!(history(a), history(b), "{a} and {b}");
    }
}
