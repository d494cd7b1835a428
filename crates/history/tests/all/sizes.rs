//! Accesses of sizes: what is read, what is refused, and how overlapping ones are taken apart.

use oracle::random_sized_history;
use tribunal_history::{
    AddressLabel, ByteRange, EventId, Format, History, Lines, ReadOptions, Source, TraceReader,
    parse_text, write_jsonl, write_text,
};

fn read(input: &str, format: Format) -> Result<History, String> {
    let options = ReadOptions { format, ..ReadOptions::default() };
    let mut reader = TraceReader::new(input.as_bytes(), "t", options);
    match reader.next_trace() {
        Ok(history) => Ok(history.unwrap()),
        Err(error) => Err(error.render(false).trim_end().to_owned()),
    }
}

fn text(history: &History) -> String {
    let mut text = Vec::new();
    write_text(history, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

/// The parts of every event: cell, value read, value written.
fn parts(history: &History) -> Vec<Vec<String>> {
    let mixed = history.mixed().unwrap();
    let show = |part| {
        let event = mixed.parts().event(part);
        let label = event.address().map(|a| mixed.parts().address(a).label.to_string());
        let read = event.operation.value_read().map(|value| format!(" == {value:#x}"));
        let written = event.operation.value_written().map(|value| format!(" := {value:#x}"));
        [label, read, written].into_iter().flatten().collect()
    };
    history.event_ids().map(|e| mixed.parts_of(e).map(show).collect()).collect()
}

#[test]
fn overlapping_accesses_are_taken_apart_where_some_access_ends() {
    let history = parse_text(
        "0: M[0x1000:8] := 0x8877665544332211
         1: M[0x1002:2] == 0x4433
         1: M[0x1000:1] == 0x11
         1: <M[0x1003:1] == 0x44; M[0x1003:1] := 0x99>",
    )
    .unwrap();
    assert_eq!(
        parts(&history),
        [
            vec![
                "0x1000:1 := 0x11",
                "0x1001:1 := 0x22",
                "0x1002:1 := 0x33",
                "0x1003:1 := 0x44",
                "0x1004:4 := 0x88776655"
            ],
            vec!["0x1002:1 == 0x33", "0x1003:1 == 0x44"],
            vec!["0x1000:1 == 0x11"],
            vec!["0x1003:1 == 0x44 := 0x99"],
        ]
    );
    let mixed = history.mixed().unwrap();
    let write = EventId::new(0);
    assert_eq!(mixed.parts().sources(EventId::new(6)), [Source::Write(EventId::new(3))]);
    assert_eq!(mixed.access_of(EventId::new(6)), EventId::new(1));
    assert_eq!(history.sources(EventId::new(1)), [Source::Write(write)]);
}

#[test]
fn accesses_that_agree_in_address_and_size_are_plain() {
    let sized = "0: M[0x1000:4] := 1\n1: M[0x1000:4] == 1\n1: M[0x1004:2] == 0";
    let history = parse_text(sized).unwrap();
    assert!(history.mixed().is_none());
    assert_eq!(history.only_source(EventId::new(1)), Some(Source::Write(EventId::new(0))));
    assert_eq!(history.only_source(EventId::new(2)), Some(Source::Initial));
    assert_eq!(history.bytes_of(EventId::new(0)), ByteRange::new(0x1000, 4));
}

#[test]
fn initial_and_final_values_are_those_of_bytes() {
    let history = parse_text(
        "init M[0x10:8] == 0x0807060504030201
         0: M[0x12:2] == 0x0403
         0: M[0x12:2] := 0
         final M[0x10:4] == 0x0201",
    )
    .unwrap();
    // A `final` line of four bytes over an access of two: cells of two bytes.
    let cells: Vec<_> = history.mixed().unwrap().parts().finals().to_vec();
    assert_eq!(cells.iter().map(|f| f.value).collect::<Vec<_>>(), [0x0201, 0]);
    let plain = parse_text("init M[0x10:8] == 0x0807060504030201\n0: M[0x12:2] == 0x0403").unwrap();
    assert!(plain.mixed().is_none());
    let label = AddressLabel::Bytes(ByteRange::new(0x12, 2).unwrap());
    assert_eq!(plain.address(plain.address_by_label(&label).unwrap()).initial, 0x0403);
}

#[test]
fn sixteen_bytes_keep_their_upper_half() {
    let line =
        "0: M[0x10:16] := 0x000102030405060708090a0b0c0d0e0f\n1: M[0x18:8] == 0x0001020304050607";
    let history = parse_text(line).unwrap();
    let upper = history.mixed().unwrap();
    assert_eq!(parts(&history)[0], ["0x10:8 := 0x8090a0b0c0d0e0f", "0x18:8 := 0x1020304050607"]);
    assert_eq!(upper.parts().sources(EventId::new(2)), [Source::Write(EventId::new(1))]);
    assert_eq!(
        history.wide_value_written(EventId::new(0)),
        Some(0x000102030405060708090a0b0c0d0e0f)
    );
    assert_eq!(parse_text(&text(&history)).unwrap(), history);
}

#[test]
fn text_and_json_lines_say_the_same_of_sizes() {
    let lines = concat!(
        "{\"op\":\"init\",\"addr\":4096,\"size\":2,\"value\":7}\n",
        "{\"thread\":0,\"op\":\"write\",\"addr\":\"0x1000\",\"size\":4,\"value\":1}\n",
        "{\"thread\":0,\"op\":\"write\",\"addr\":8192,\"size\":16,",
        "\"value\":\"0x10000000000000002\"}\n",
        "{\"thread\":1,\"op\":\"rmw\",\"addr\":4096,\"size\":1,\"read\":1,\"value\":2}\n",
    );
    let history = read(lines, Format::JsonLines).unwrap();
    assert_eq!(
        text(&history),
        "init M[0x1000:2] == 7\n\
         init M[0x1000:4] == 7\n\
         init M[0x1000:1] == 7\n\
         0: M[0x1000:4] := 1\n\
         0: M[0x2000:16] := 0x10000000000000002\n\
         1: <M[0x1000:1] == 1; M[0x1000:1] := 2>\n\
         check\n"
    );
    let mut again = Vec::new();
    write_jsonl(&history, &mut again).unwrap();
    assert_eq!(read(&String::from_utf8(again).unwrap(), Format::JsonLines).unwrap(), history);
}

#[track_caller]
fn refused(input: &str, format: Format, expected: &str) {
    assert_eq!(read(input, format).unwrap_err(), expected.trim());
}

#[test]
fn what_makes_no_sense_is_refused_with_its_place() {
    refused(
        "0: M[0x1000:17] := 1\n",
        Format::Text,
        "
t:1:6: an access of 17 bytes; sizes are from 1 to 16 bytes
  |
1 | 0: M[0x1000:17] := 1
  |      ^^^^^^^^^
",
    );
    refused(
        "0: M[0xffffffffffffffff:2] := 1\n",
        Format::Text,
        "
t:1:6: 2 bytes at 0xffffffffffffffff would go past the last byte, 2^64 - 1
  |
1 | 0: M[0xffffffffffffffff:2] := 1
  |      ^^^^^^^^^^^^^^^^^^^^
",
    );
    refused(
        "0: M[16:1] := 256\n",
        Format::Text,
        "
t:1:1: 0x100 does not fit the byte of M[0x10:1]
  |
1 | 0: M[16:1] := 256
  | ^
",
    );
    refused(
        "{\"thread\":0,\"op\":\"write\",\"addr\":\"x\",\"size\":4,\"value\":1}\n",
        Format::JsonLines,
        "
t:1:33: expected a number, since there is a size in bytes, found `\"x\"`
  |
1 | {\"thread\":0,\"op\":\"write\",\"addr\":\"x\",\"size\":4,\"value\":1}
  |                                 ^^^ expected a number, since there is a size in bytes
",
    );
    for (input, sentence) in [
        ("0: M[0x10] := 1\n0: M[0xc:8] := 1", "M[0x10] has no size, and it is a part of M[0xc:8]"),
        ("0: M[0x10:2] := 0x0102\n1: M[0x11:1] == 2", "reads 0x2 from the byte M[0x11:1]"),
        (
            "0: M[0x10:2] := 1\n0: M[0x11:1] := 1\nfinal M[0x10:1] == 2",
            "the final value of the byte M[0x10:1] is 0x2",
        ),
        ("init M[0x10:2] == 1\ninit M[0x10:1] == 2\n0: M[0x10:1] == 1", "a second `init`"),
        ("init M[0x10:16] == 1", "at most 8 bytes"),
        ("0: M[0x10:0] := 1", "an access of 0 bytes"),
        ("0: M[x:4] := 1", "expected `]`"),
        ("0: M[0x10:16] := 0x100000000000000000000000000000000", "does not fit 128 bits"),
    ] {
        let error = read(input, Format::Text).unwrap_err();
        assert!(error.contains(sentence), "{input}\n{error}");
    }
}

#[test]
fn what_is_written_is_read_again_as_it_was() {
    for seed in 0..2000 {
        let history = random_sized_history(seed);
        let again = parse_text(&text(&history)).unwrap();
        assert_eq!(again, history, "seed {seed}:\n{}", text(&history));
        let mut lines = Vec::new();
        write_jsonl(&history, &mut lines).unwrap();
        let again = read(std::str::from_utf8(&lines).unwrap(), Format::JsonLines).unwrap();
        assert_eq!(again, history, "seed {seed}:\n{}", text(&history));
    }
}

#[test]
fn sub_histories_are_what_reading_the_rest_gives() {
    let mut outcomes = [0; 3];
    for seed in 0..2000 {
        let history = random_sized_history(seed);
        let mut rng = oracle::Rng::new(seed);
        let keep: Vec<bool> = history.event_ids().map(|_| rng.percent(75)).collect();
        let kept = history.retain(|e| keep[e.index()], Lines::None);
        // The lines of what goes, taken out of the text.
        let whole = text(&history);
        let mut events = keep.iter();
        let rest: Vec<&str> = whole
            .lines()
            .filter(|line| match line.as_bytes()[0] {
                b'0'..=b'9' => *events.next().unwrap(),
                first => first == b'i',
            })
            .collect();
        let depends_on_nothing = |line: &&str| !line.contains(" dep ");
        match (kept, parse_text(&rest.join("\n"))) {
            (Ok(kept), Ok(read)) if rest.iter().all(depends_on_nothing) => {
                let lines = |h: &History| {
                    let text = text(h);
                    let events = text.lines().filter(|line| !line.starts_with("init"));
                    events.map(str::to_owned).collect::<Vec<_>>()
                };
                assert_eq!(lines(&kept), lines(&read), "seed {seed}:\n{whole}");
                let sources = |h: &History| -> Vec<Vec<Source>> {
                    h.event_ids().map(|e| h.sources(e).to_vec()).collect()
                };
                assert_eq!(sources(&kept), sources(&read), "seed {seed}:\n{whole}");
                outcomes[0] += 1;
            }
            (Err(_), Err(_)) => outcomes[1] += 1,
            (Ok(_), _) if !rest.iter().all(depends_on_nothing) => outcomes[2] += 1,
            (kept, read) => panic!("seed {seed}: {kept:?}\n{read:?}\n{whole}"),
        }
    }
    assert!(outcomes.iter().all(|&count| count > 50), "{outcomes:?}");
}
