//! Common lines are read by a separate scanner, whose results must not differ.
//!
//! Whatever arrives byte by byte is never seen a line at a time, so reading an input in one piece
//! and in pieces of one byte compares the two scanners.

use std::io::{self, Read};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use tribunal_history::{History, InputError, ReadOptions, ThinAir, TraceReader};

struct OneByOne<'b>(&'b [u8]);

impl Read for OneByOne<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = buffer.len().min(1);
        self.0.read(&mut buffer[..length])
    }
}

type Traces = Vec<Result<(History, Vec<u32>), InputError>>;

/// Every trace with the lines of its events, and the error at the end.
fn read_all(input: impl Read, options: ReadOptions) -> Traces {
    TraceReader::new(input, "trace", options)
        .map(|trace| {
            let history = trace?;
            let lines = history.events().map(|event| event.line).collect();
            Ok((history, lines))
        })
        .collect()
}

fn reads_the_same(text: &[u8], options: ReadOptions) {
    let (whole, pieces) = (read_all(text, options), read_all(OneByOne(text), options));
    assert!(whole == pieces, "{}", String::from_utf8_lossy(text));
    let shown = |traces: &Traces| -> Vec<String> {
        traces.iter().filter_map(|trace| Some(trace.as_ref().err()?.render(false))).collect()
    };
    assert_eq!(shown(&whole), shown(&pieces));
}

const THREADS: &[&str] = &[
    "0",
    "1",
    "12",
    "007",
    "12345678",
    "123456789012345",
    "1234567890123456",
    "18446744073709551615",
    "18446744073709551616",
    "0x1f",
    "",
];
const COLONS: &[&str] = &[": ", ": ", ": ", ":", " : ", ":  ", ":\t", " ", ":\n"];
const ADDRESSES: &[&str] = &[
    "M[0]",
    "M[200]",
    "M[4096]",
    "M[0x10]",
    "M[16]",
    "M[x]",
    "x",
    "v0",
    "M",
    "M[ 1]",
    "M [1]",
    "M[1",
    "M[]",
    "M[1x]",
    "sync",
    "fence",
    "M[00000000001]",
    "synchronous",
    "_a.$'9",
    "é",
];
const RELATIONS: &[&str] = &[" := ", " == ", ":=", "==", " = ", " : ", " :=\n", " =="];
const VALUES: &[&str] = &[
    "0",
    "1",
    "2",
    "123456",
    "12345678",
    "123456789",
    "1234567890123456",
    "0x2",
    "99999999",
    "18446744073709551615",
    "18446744073709551616",
    "1x",
    "x",
    "",
];
const SUFFIXES: &[&str] = &[
    "",
    "",
    "",
    "",
    " @ 1:2",
    " @ 5:",
    "@:7",
    " @ 9:3",
    " @ :",
    " @ 12345678:123456789",
    "\n@ 1:2",
    " as a",
    "\nas b",
    " dep a",
    " acq",
    "\nrel",
    "\nctrl a",
    " data a",
    " sc as d",
    "\npair a",
    " # comment",
    " @ 1",
    " @ 1:2 @ 3:4",
    " @ 1:2 as c",
    " @ 1:\n",
    " @ 1 : 2 ",
    "  ",
];
const ENDS: &[&str] = &["\n", "\n", "\n", "\n", "\r\n", " \n", "\n\n", " ", "", "\ncheck\n"];

fn access() -> impl Strategy<Value = String> {
    (select(ADDRESSES), select(RELATIONS), select(VALUES))
        .prop_map(|(address, relation, value)| format!("{address}{relation}{value}"))
}

fn atomic() -> impl Strategy<Value = String> {
    let address = || select(&ADDRESSES[..8]);
    let brackets = select(&[("<", ">"), ("{ ", "}"), ("{", " }"), ("<", "}")][..]);
    (brackets, address(), address(), any::<bool>(), select(VALUES), select(VALUES)).prop_map(
        |((open, close), address, other, same, read, write)| {
            let other = if same { address } else { other };
            format!("{open}{address} == {read}; {other} := {write}{close}")
        },
    )
}

fn operation() -> impl Strategy<Value = String> {
    const FENCES: &[&str] = &[
        "sync",
        "sync ",
        "syncs",
        "fence r,w",
        "fence -,rw",
        "sync\t",
        "isb",
        "dmb.ld",
        "fence.tso",
        "isb := 1",
    ];
    prop_oneof![4 => access(), 2 => atomic(), 1 => select(FENCES).prop_map(String::from)]
}

fn line() -> impl Strategy<Value = String> {
    let event = (select(THREADS), select(COLONS), operation(), select(SUFFIXES), select(ENDS))
        .prop_map(|(thread, colon, operation, suffix, end)| {
            format!("{thread}{colon}{operation}{suffix}{end}")
        });
    let plain =
        (0..20u32, 0..9u32, any::<bool>(), 0..4u64).prop_map(|(thread, a, write, value)| {
            format!("{thread}: M[{a}] {} {value}\n", if write { ":=" } else { "==" })
        });
    const OTHERS: &[&str] =
        &["init M[x] == 1\n", "final M[0] == 0\n", "order x: 0 < 1\n", "check\n", "# c\n"];
    prop_oneof![4 => event, 12 => plain, 1 => select(OTHERS).prop_map(String::from)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn lines_read_at_a_glance_and_byte_by_byte(
        lines in vec(line(), 1..12),
        changes in vec((any::<Index>(), any::<Index>()), 0..2),
        malformed in any::<bool>(),
        axe_addresses in any::<bool>(),
        memory in prop_oneof![4 => Just(None), 1 => (0..3000usize).prop_map(Some)],
    ) {
        let mut text = lines.concat().into_bytes();
        for (at, to) in changes {
            let byte = b"0123456789:=M[]<>{};@# \n\tcaxd\r\xff"[to.index(31)];
            let at = at.index(text.len());
            text[at] = byte;
        }
        let thin_air = if malformed { ThinAir::Malformed } else { ThinAir::Violation };
        let options = ReadOptions { thin_air, axe_addresses, memory, ..ReadOptions::default() };
        reads_the_same(&text, options);
    }
}

#[test]
fn numbers_of_every_length() {
    let mut text = String::new();
    for digits in 1..=19 {
        let number = &"1234567890123456789"[..digits];
        text += &format!("{number}: M[{number}] := {number} @ {number}:{number}\n");
    }
    let options = ReadOptions::default();
    reads_the_same(text.as_bytes(), options);
    let (history, lines) = read_all(text.as_bytes(), options).remove(0).unwrap();
    assert_eq!((history.len(), history.thread_count(), history.address_count()), (19, 19, 19));
    assert_eq!(lines, (1..=19).collect::<Vec<u32>>());
    assert_eq!(history.thread_label(history.threads().last().unwrap()), 1234567890123456789);
}

#[test]
fn a_suffix_on_the_next_line_belongs_to_the_event() {
    let text =
        "0: M[1] := 1\n@ 3:4\n0: M[1] := 2\nas b\n0: M[1] == 1 @ 5:\n6: M[1] == 1\n6: sync\n";
    reads_the_same(text.as_bytes(), ReadOptions::default());
    let (history, _) = read_all(text.as_bytes(), ReadOptions::default()).remove(0).unwrap();
    let ends: Vec<_> = history.event_ids().map(|event| history.times(event).end).collect();
    assert_eq!(ends, [Some(4), None, None, None, None]);
    assert_eq!(history.event_ids().filter_map(|event| history.name(event)).count(), 1);
}
