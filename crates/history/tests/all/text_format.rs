//! What the text format says, one sentence a test.

use tribunal_history::{
    AccessOrder, AddressLabel, DependencyKind, EventId, FenceName, History, Kinds, Operation,
    ReadOptions, Source, ThinAir, Times, TraceReader, parse_text,
};

fn parse(text: &str) -> History {
    parse_text(text).unwrap_or_else(|error| panic!("{}", error.render(false)))
}

fn traces(text: &str) -> Vec<usize> {
    let reader = TraceReader::new(text.as_bytes(), "test", ReadOptions::default());
    reader.map(|trace| trace.expect("every trace is well-formed").len()).collect()
}

/// The operation of an event, its address by label.
fn shown(history: &History, event: usize) -> String {
    let event = history.event(EventId::new(event));
    let label = event.address().map(|address| history.address(address).label.to_string());
    let label = label.unwrap_or_default();
    match event.operation {
        Operation::Read { value, .. } => format!("{label} == {value}"),
        Operation::Write { value, .. } => format!("{label} := {value}"),
        Operation::ReadModifyWrite { read, write, .. } => format!("{label} == {read} := {write}"),
        Operation::Fence { before, after } => {
            format!("fence {},{}", before.letters(), after.letters())
        }
    }
}

#[test]
fn the_example_of_the_documentation_is_read() {
    let history = parse(
        "# a comment
         0: M[x] := 1                     # thread 0 writes 1 to x
         0: sync                          # full fence
         0: M[y] == 0                     # reads 0
         1: <M[y] == 0; M[y] := 7>        # atomic read-modify-write
         1: M[x] == 5        @ 100 : 120  # optional begin and end time
         2: M[x] == 1 as a                # names the event
         2: M[y] := 2 dep a               # so that a later one can depend on it
         init M[x] == 5                   # initial value
         final M[y] == 2                  # value at the end
         order M[y]: 7 < 2                # observed write order of y
         check                            # ends a trace
        ",
    );
    assert_eq!(history.len(), 7);
    assert_eq!(history.thread_count(), 3);
    assert_eq!(history.address_count(), 2);
    let x = history.address_by_label(&AddressLabel::Name("x".into())).unwrap();
    assert_eq!(history.address(x).initial, 5);
    assert_eq!(history.times(EventId::new(4)), Times { begin: Some(100), end: Some(120) });
    assert_eq!(history.dependencies(), [(EventId::new(6), EventId::new(5))]);
    assert_eq!(history.name(EventId::new(5)), Some("a"));
    assert_eq!(history.finals()[0].sources, [Source::Write(EventId::new(6))]);
    let order = [Source::Write(EventId::new(3)), Source::Write(EventId::new(6))];
    assert_eq!(history.orders()[0].writes, order);
    assert_eq!(history.event(EventId::new(3)).line, 5);
}

#[test]
fn every_kind_of_operation_is_read() {
    let history = parse(
        "0: M[1] := 2  0: M[0x10] == 0  0: x := 3  0: x == 3
         0: {x == 3; x := 4}  0: < M [ x ] == 4 ; x := 5 >
         0: sync  0: fence w,r  0: fence rw , w  0: fence wr,r",
    );
    let operations: Vec<_> = (0..history.len()).map(|event| shown(&history, event)).collect();
    assert_eq!(
        operations,
        [
            "1 := 2",
            "16 == 0",
            "x := 3",
            "x == 3",
            "x == 3 := 4",
            "x == 4 := 5",
            "fence rw,rw",
            "fence w,r",
            "fence rw,w",
            "fence rw,r",
        ]
    );
}

#[test]
fn line_ends_are_blanks_like_any_other() {
    let history = parse("0\n:\nM\n[\nx\n]\n:=\n1\n1:x==1 1: x ==1# said so\n@\n5\n:7 as a");
    assert_eq!(history.len(), 3);
    assert_eq!(history.times(EventId::new(2)), Times { begin: Some(5), end: Some(7) });
    assert_eq!(history.name(EventId::new(2)), Some("a"));
}

#[test]
fn blanks_are_optional_where_nothing_is_glued_together() {
    let history = parse("0:M[0]:=1 1:{M[0]==1;M[0]:=2}2:v0:=1 2:sync finalM[0]==2 check");
    assert_eq!(history.len(), 4);
    assert_eq!(history.finals().len(), 1);
}

#[test]
fn lines_may_end_like_on_windows() {
    assert_eq!(traces("0: M[x] := 1 @ 3:\r\n1: M[x] == 1\r\ncheck\r\n"), [2]);
}

#[test]
fn a_byte_order_mark_is_not_part_of_the_trace() {
    assert_eq!(traces("\u{feff}0: x := 1\ncheck\n\u{20}"), [1]);
}

#[test]
fn times_may_lack_an_end_or_a_beginning_and_have_blanks_inside() {
    for (text, begin, end) in [
        ("@ 100:110", Some(100), Some(110)),
        ("@ :1", None, Some(1)),
        ("@ 2:", Some(2), None),
        ("@ 100 : 120", Some(100), Some(120)),
        ("@ 100 :", Some(100), None),
        ("@100:120", Some(100), Some(120)),
        ("@ : ", None, None),
        ("@ 0x10:0x20", Some(16), Some(32)),
    ] {
        for rest in ["", "\n", "\n1: y := 1\n", " # comment\n", "\ncheck"] {
            let history = parse(&format!("0: x := 1 {text}{rest}"));
            assert_eq!(history.times(EventId::new(0)), Times { begin, end }, "{text}{rest}");
        }
    }
}

#[test]
fn a_number_on_the_next_line_is_a_thread_and_no_end_time() {
    let history = parse("0: x := 1 @ 2:\n1: y := 1");
    assert_eq!(history.len(), 2);
    assert_eq!(history.times(EventId::new(0)), Times { begin: Some(2), end: None });
}

#[test]
fn a_number_with_a_colon_of_its_own_is_a_thread_and_no_end_time() {
    for text in ["0: x := 1 @ 2: 1: y := 1", "0: x := 1 @ 2:1 : y := 1", "0: x := 1 @ 2: 1: y:=1"] {
        let history = parse(text);
        assert_eq!(history.len(), 2, "{text}");
        assert_eq!(history.times(EventId::new(0)), Times { begin: Some(2), end: None });
        assert_eq!(history.thread_label(history.event(EventId::new(1)).thread), 1);
    }
}

#[test]
fn suffixes_come_in_any_order() {
    let history = parse(
        "0: x == 0 as a 0: x == 0 as b
         0: y := 1 @ 1:2 dep a as c dep b
         0: z := 1 dep a,b , a as d @ 3:",
    );
    let (a, b) = (EventId::new(0), EventId::new(1));
    assert_eq!(history.dependencies_of(EventId::new(2)).collect::<Vec<_>>(), [a, b]);
    assert_eq!(history.dependencies_of(EventId::new(3)).collect::<Vec<_>>(), [a, b]);
    assert_eq!(history.name(EventId::new(2)), Some("c"));
    assert_eq!(history.times(EventId::new(3)), Times { begin: Some(3), end: None });
}

#[test]
fn a_name_may_be_a_word_of_the_format() {
    let history = parse(
        "0: M[check] := 1  0: M[sync] := 1  0: M[M] := 1  0: M := 2  0: M[fence] == 0 as dep
         0: init := 1 dep dep as as  0: order := 1  0: final == 0  0: r.s$t'u_9 := 1",
    );
    assert_eq!(history.len(), 9);
    assert_eq!(history.address_count(), 8, "M[M] and M are one address");
}

#[test]
fn decimal_and_hexadecimal_spellings_are_one_address() {
    let history = parse("0: M[16] := 1\n1: M[0x10] == 1\n1: M[0X10] == 1\n1: M[016] == 1");
    assert_eq!(history.address_count(), 1);
}

#[test]
fn numbers_reach_to_64_bits() {
    let history = parse("18446744073709551615: M[0xffffffffffffffff] := 18446744073709551615");
    assert_eq!(history.thread_label(history.event(EventId::new(0)).thread), u64::MAX);
    assert_eq!(shown(&history, 0), "18446744073709551615 := 18446744073709551615");
}

#[test]
fn v0_is_a_name_unless_addresses_are_as_axe_has_them() {
    let text = "0: v0 := 1\n1: M[0] == 0\n1: M[v0] == 1\n1: v == 0";
    assert_eq!(parse(text).address_count(), 3);
    let options = ReadOptions { axe_addresses: true, ..ReadOptions::default() };
    let mut reader = TraceReader::new(text.as_bytes(), "test", options);
    assert_eq!(reader.next_trace().unwrap().unwrap().address_count(), 2);
}

#[test]
fn order_lines_name_writes_by_value_or_by_name() {
    let history = parse(
        "order M[y]: 0 < 7 < 2 < a
         0: y := 7  0: y := 2  1: y := 5 as a  1: y := 5",
    );
    let write = |event| Source::Write(EventId::new(event));
    let expected = [Source::Initial, write(0), write(1), write(2)];
    assert_eq!(history.orders()[0].writes, expected);
}

#[test]
fn a_file_without_check_is_one_trace() {
    assert_eq!(traces("0: x := 1"), [1]);
    assert_eq!(traces(""), [0]);
    assert_eq!(traces("# nothing"), [0]);
}

#[test]
fn a_blank_rest_after_check_is_no_trace() {
    assert_eq!(traces("0: x := 1 check"), [1]);
    assert_eq!(traces("0: x := 1 check\n# the end \n \n"), [1]);
    assert_eq!(traces("0: x := 1 check 0: x := 1"), [1, 1]);
}

#[test]
fn an_empty_trace_is_a_trace() {
    assert_eq!(traces("check"), [0]);
    assert_eq!(traces("check check 0: x := 1 check"), [0, 0, 1]);
}

#[test]
fn thin_air_reads_are_kept_when_they_are_violations() {
    let options = ReadOptions { thin_air: ThinAir::Violation, ..ReadOptions::default() };
    let text = "0: x == 3 check final x == 4";
    let mut reader = TraceReader::new(text.as_bytes(), "test", options);
    let history = reader.next_trace().unwrap().unwrap();
    assert!(history.sources(EventId::new(0)).is_empty());
    let history = reader.next_trace().unwrap().unwrap();
    assert!(history.finals()[0].sources.is_empty());
}

#[test]
fn invalid_utf8_in_a_comment_is_nobodys_business() {
    let text = b"0: x := 1 # caf\xe9 \xff\xfe\ncheck";
    let mut reader = TraceReader::new(&text[..], "test", ReadOptions::default());
    assert_eq!(reader.next_trace().unwrap().unwrap().len(), 1);
}

#[test]
fn a_fence_may_order_nothing() {
    let history = parse("0: fence -,r");
    let expected = Operation::Fence { before: Kinds::NONE, after: Kinds::READS };
    assert_eq!(history.event(EventId::new(0)).operation, expected);
}

#[test]
fn the_reader_stops_after_an_error() {
    let text = "0: x := check 0: x := 1 check";
    let mut reader = TraceReader::new(text.as_bytes(), "test", ReadOptions::default());
    assert!(reader.next_trace().is_err());
    assert!(reader.next_trace().unwrap().is_none());
    assert!(reader.next().is_none());
}

#[test]
fn annotations_pairs_kinds_of_dependencies_and_named_fences() {
    let text = "0: M[x] == 0 acq as l\n0: M[x] := 1 rel pair l\n0: dmb.ld\n0: fence.tso\n\
                0: M[y] := 2 acqrel dep l data l\n0: M[isb] := 3 ctrl l\n0: isb\ncheck\n";
    let history = parse_text(text).unwrap();
    let event = EventId::new;
    assert_eq!(history.access_order(event(0)), Some(AccessOrder::Acquire));
    assert_eq!(history.access_order(event(5)), None);
    assert_eq!(history.pairs(), [(event(1), event(0))]);
    assert_eq!(history.fence_name(event(2)), Some(FenceName::DmbLd));
    assert_eq!(history.fence_name(event(6)), Some(FenceName::Isb));
    assert_eq!(history.dependencies().len(), 2);
    let kinds: Vec<_> = history.kinds_of_dependency(0).iter().collect();
    assert_eq!(kinds, [DependencyKind::Address, DependencyKind::Data]);
    let kinds: Vec<_> = history.kinds_of_dependency(1).iter().collect();
    assert_eq!(kinds, [DependencyKind::Control]);
    let mut written = Vec::new();
    tribunal_history::write_text(&history, &mut written).unwrap();
    assert_eq!(String::from_utf8(written).unwrap(), text);
    let mut lines = Vec::new();
    tribunal_history::write_jsonl(&history, &mut lines).unwrap();
    assert_eq!(
        String::from_utf8(lines).unwrap().lines().nth(1).unwrap(),
        r#"{"thread":0,"op":"write","addr":"x","value":1,"order":"rel","pair":"l"}"#
    );
}

#[test]
fn pairs_that_are_none() {
    for (text, why) in [
        ("0: x == 0 as l\n0: y := 1 pair l", "reads another address"),
        ("0: x == 0 as l\n1: x := 1 pair l", "another thread"),
        ("0: x == 0 as l\n0: x == 0 pair l", "a plain write to a plain read"),
        ("0: x == 0 as l\n0: x := 1 pair l\n0: x := 2 pair l", "already belongs to a pair"),
        ("0: x := 1 pair l", "no earlier event"),
        ("0: sync acq", "this is a fence"),
        ("0: x := 1 acq rel", "a second annotation"),
    ] {
        let error = parse_text(text).unwrap_err().to_string();
        assert!(error.contains(why), "{text}: {error}");
    }
}

#[test]
fn the_same_init_or_final_may_be_said_twice() {
    let twice = "init x == 1\ninit x == 1\n0: x == 1\nfinal x == 1\nfinal x == 1";
    let once = "init x == 1\n0: x == 1\nfinal x == 1";
    assert_eq!(parse_text(twice).unwrap(), parse_text(once).unwrap());
}
