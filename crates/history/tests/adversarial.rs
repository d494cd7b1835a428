//! Inputs made to break the reader: all of them end in an error with a place, in little memory.
//!
//! The inputs are generated as they are read and most never end, so a reader that collects first
//! and looks later would not come back.
//!
//! A program of its own, apart from the other tests: it looks at the most memory the process ever
//! had.

#![allow(clippy::unwrap_used)] // a test may fail

use std::io::{self, Read};

use tribunal_history::{Format, InputError, ReadOptions, TraceReader};

/// A beginning, then a pattern for ever; `%` in the pattern counts up.
struct Endless {
    pending: Vec<u8>,
    at: usize,
    pattern: String,
    count: u64,
    delivered: u64,
}

impl Endless {
    fn new(beginning: &str, pattern: &str) -> Self {
        let pattern = pattern.to_string();
        Self { pending: beginning.into(), at: 0, pattern, count: 0, delivered: 0 }
    }
}

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.pending.len() {
            self.pending.clear();
            self.at = 0;
            let counts = self.pattern.contains('%');
            while self.pending.len() < 4096 {
                if counts {
                    let text = self.pattern.replace('%', &self.count.to_string());
                    self.pending.extend_from_slice(text.as_bytes());
                    self.count += 1;
                } else {
                    self.pending.extend_from_slice(self.pattern.as_bytes());
                }
            }
        }
        let length = (&self.pending[self.at..]).read(buffer)?;
        self.at += length;
        self.delivered += length as u64;
        assert!(self.delivered < 1 << 28, "this much should have been enough for an error");
        Ok(length)
    }
}

/// The error that reading ends in; `memory` bounds each trace.
fn error(input: impl Read, format: Format, memory: Option<usize>) -> InputError {
    let options = ReadOptions { format, memory, ..ReadOptions::default() };
    let mut reader = TraceReader::new(input, "bad", options);
    let error = loop {
        match reader.next_trace() {
            Ok(Some(_)) => {}
            Ok(None) => panic!("no error in a bad input"),
            Err(error) => break error,
        }
    };
    assert!(error.line > 0 && error.column > 0, "{error}");
    assert!(error.to_string().len() < 400 && error.render(true).len() < 2000);
    assert!(reader.next_trace().unwrap().is_none());
    assert_little_memory();
    error
}

fn endless(beginning: &str, pattern: &str) -> String {
    error(Endless::new(beginning, pattern), Format::Text, None).to_string()
}

fn endless_json(beginning: &str, pattern: &str) -> String {
    error(Endless::new(beginning, pattern), Format::JsonLines, None).to_string()
}

/// Checks the peak memory of this process, where the system reports it.
fn assert_little_memory() {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return };
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = peak.and_then(|peak| peak.trim().strip_suffix(" kB")?.trim().parse().ok());
    let kilobytes: u64 = kilobytes.unwrap_or(0);
    assert!(kilobytes < 300 << 10, "{kilobytes} kB");
}

#[test]
fn endless_letters_brackets_and_digits() {
    let statement = "expected a thread number, `init`, `final`, `order` or `check`";
    let long = "a".repeat(40);
    assert_eq!(endless("", "a"), format!("bad:1:1: {statement}, found `{long}…`"));
    assert_eq!(endless("", "["), format!("bad:1:1: {statement}, found `[`"));
    assert_eq!(endless("0: ", "["), "bad:1:4: expected an operation, found `[`");
    assert_eq!(endless("0: M", "["), "bad:1:6: expected an address, found `[`");
    assert_eq!(endless("0: ", "{"), "bad:1:5: expected an address, found `{`");
    assert_eq!(endless("", "7"), "bad:1:1: the number does not fit 64 bits");
    assert_eq!(endless("", "0"), "bad:1:1: the number has more than 128 digits");
    assert_eq!(endless("0: M[0x", "0"), "bad:1:6: the number has more than 128 digits");
    assert_eq!(endless("", "\0"), format!("bad:1:1: {statement}, found the byte 0x00"));
}

#[test]
fn endless_names() {
    assert_eq!(endless("0: M[", "n"), "bad:1:6: the name has more than 4096 characters");
    assert_eq!(endless("0: sync as ", "n"), "bad:1:12: the name has more than 4096 characters");
    assert_eq!(endless("0: x == 0 dep ", "n."), "bad:1:15: the name has more than 4096 characters");
    assert_eq!(endless("order M[x]: ", "n"), "bad:1:13: the name has more than 4096 characters");
}

#[test]
fn endless_lines_of_json() {
    let too_long = "the line has more than 1048576 bytes";
    for pattern in ["a", "[", "{\"a\":", "7", " ", "\"", "\\", "\0"] {
        assert_eq!(endless_json("", pattern), format!("bad:1:1: {too_long}"), "{pattern}");
        let open = "{\"op\":\"order\",\"addr\":\"x\",\"values\":";
        assert_eq!(endless_json(open, pattern), format!("bad:1:1: {too_long}"), "{pattern}");
    }
    assert_eq!(endless_json("{\"op\":\"end\"}\n", " "), format!("bad:2:1: {too_long}"));
}

#[test]
fn deep_nesting_on_one_line() {
    let complaint = |line: String| error(line.as_bytes(), Format::JsonLines, None).to_string();
    let (open, close) = ("[".repeat(100_000), "]".repeat(100_000));
    let message = complaint(format!("{{\"op\":{open}"));
    assert_eq!(message, "bad:1:100006: not a valid JSON object: EOF while parsing a list");
    let message = complaint(format!("{{\"op\":{open}1{close}}}"));
    assert!(message.starts_with("bad:1:7: expected the name of an operation, found `[[["));
    let message = complaint(format!("{{\"thread\":0,\"op\":\"sync\",\"deps\":{open}1{close}}}"));
    assert!(message.starts_with("bad:1:33: expected a name, found `[[["), "{message}");
    let message = complaint(format!("{{\"x\":{}", "{\"a\":".repeat(100_000)));
    assert_eq!(message, "bad:1:500005: not a valid JSON object: EOF while parsing a value");
}

#[test]
fn endless_traces_stop_at_the_memory_budget() {
    for pattern in [
        "0: M[0] := 1 ",
        "0: M[%] := 1\n",
        "0: M[name_number_%] := 1\n",
        "0: M[0] == 0 as event_%\n",
        "0: M[0] := 1 @ %:\n",
        "init M[%] == 1\n",
        "final M[%] == 0 ",
        "order M[%]: 0\n",
        "0: fence r,w\n",
    ] {
        let error = error(Endless::new("", pattern), Format::Text, Some(4 << 20));
        let message = error.to_string();
        assert!(
            message.ends_with("the trace does not fit the memory limit of 4 MiB (raise --memory)"),
            "{message}"
        );
    }
    for (beginning, pattern) in [
        ("order M[x]: 1", " < %"),
        ("order M[x]: 1", " < name_%"),
        ("0: x == 0 as a 0: x == 0 dep a", " , a"),
        ("0: x == 0 as a 0: x == 0", " dep a"),
    ] {
        let error = error(Endless::new(beginning, pattern), Format::Text, Some(4 << 20));
        let message = error.to_string();
        assert!(
            message.ends_with("the trace does not fit the memory limit of 4 MiB (raise --memory)"),
            "{message}"
        );
    }
    for pattern in [
        "{\"thread\":0,\"op\":\"write\",\"addr\":%,\"value\":%}\n",
        "{\"thread\":0,\"op\":\"read\",\"addr\":\"x\",\"value\":0,\"name\":\"n%\"}\n",
        "{\"op\":\"init\",\"addr\":%,\"value\":1}\n",
        "{\"op\":\"order\",\"addr\":%,\"values\":[1,2,3]}\n",
    ] {
        let error = error(Endless::new("", pattern), Format::JsonLines, Some(4 << 20));
        let message = error.to_string();
        assert!(
            message.ends_with("the trace does not fit the memory limit of 4 MiB (raise --memory)"),
            "{message}"
        );
    }
}

#[test]
fn a_million_threads() {
    let message = endless("", "%: M[0] := 1 ");
    assert!(message.ends_with("more than 65536 threads in one trace"), "{message}");
    let message = endless_json("", "{\"thread\":%,\"op\":\"sync\"}\n");
    assert_eq!(message, "bad:65537:11: more than 65536 threads in one trace");
}

#[test]
fn a_quarter_gigabyte_of_comment_is_still_a_comment() {
    let comment = io::repeat(b'#').take(1 << 28);
    let text = b"0: x := 1 ".chain(comment).chain(&b"\n0: x = 1"[..]);
    let error = error(text, Format::Text, None);
    assert_eq!(error.to_string(), "bad:2:6: expected `==` or `:=`, found `=`");
}

#[test]
fn a_place_far_along_a_line() {
    let comment = io::repeat(b' ').take(1 << 23);
    let text = b"0: x := 1".chain(comment).chain(&b"?"[..]);
    let error = error(text, Format::Text, None);
    assert_eq!((error.line, error.column), (1, 9 + (1 << 23) + 1));
    let marked = error.render(false);
    let shown = marked.lines().nth(2).unwrap();
    assert!(shown.starts_with("1 | …  ") && shown.ends_with(" ?"), "{shown}");
}

#[test]
fn blanks_between_a_word_and_what_belongs_to_it() {
    let blanks = || io::repeat(b'\n').take(1 << 20);
    let text = b"0: M".chain(blanks()).chain(&b"[x] := 1 as a @ 5"[..]).chain(blanks());
    let text = text.chain(&b": 7 0: x = 2"[..]);
    let error = error(text, Format::Text, None);
    assert_eq!(error.to_string(), "bad:2097153:10: expected `==` or `:=`, found `=`");
}

#[test]
fn noise() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for round in 0..2000 {
        let mut noise = Vec::new();
        for _ in 0..64 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            noise.extend_from_slice(&state.to_le_bytes());
        }
        noise[0] = noise[0].max(1);
        if round % 2 == 0 {
            let few = b"0123456789:=M[]<>{};@# \ncheckinitfinalorderasdep,rwsync\xff\"";
            noise.iter_mut().for_each(|byte| *byte = few[usize::from(*byte) % few.len()]);
        }
        for format in [Format::Text, Format::JsonLines] {
            let options = ReadOptions { format, ..ReadOptions::default() };
            for trace in TraceReader::new(&noise[..], "noise", options) {
                if let Err(error) = trace {
                    assert!(error.line > 0 && !error.render(true).is_empty());
                }
            }
        }
    }
}

const EVERYTHING: &str = "init M[x] == 5
0: M[x] := 1 as b
0: fence w,r
1: <M[0x11] == 0; M[17] := 3> @ 5 : 7
1: x == 5 as a @ :9
1: sync dep a
final M[x] == 1
order M[x]: 5 < b
check
";

const EVERYTHING_JSON: &str = r#"{"op":"init","addr":"x","value":5}
{"thread":0,"op":"write","addr":"x","value":1,"name":"b"}
{"thread":0,"op":"fence","before":"w","after":"r"}
{"thread":1,"op":"rmw","addr":"0x11","read":0,"value":3,"begin":5,"end":7}
{"thread":1,"op":"read","addr":"x","value":5,"end":9,"name":"a"}
{"thread":1,"op":"sync","deps":["a"]}
{"op":"final","addr":"x","value":1}
{"op":"order","addr":"x","values":[5,"b"]}
{"op":"end"}
"#;

/// Reads every trace; errors must have their place inside the input.
fn survey(input: &[u8], format: Format) {
    let options = ReadOptions { format, ..ReadOptions::default() };
    for trace in TraceReader::new(input, "t", options) {
        if let Err(error) = trace {
            let lines = input.iter().filter(|&&byte| byte == b'\n').count() as u64 + 1;
            assert!((1..=lines).contains(&error.line), "{error}");
            assert!((1..=input.len() as u64 + 1).contains(&error.column), "{error}");
            error.render(false);
        }
    }
}

#[test]
fn whatever_is_cut_off_or_out_or_changed() {
    for (everything, format) in [(EVERYTHING, Format::Text), (EVERYTHING_JSON, Format::JsonLines)] {
        let whole = everything.as_bytes();
        survey(whole, format);
        for at in 0..whole.len() {
            survey(&whole[..at], format);
            survey(&[&whole[..at], &whole[at + 1..]].concat(), format);
            for byte in [0, b'\n', b' ', b'#', b'0', b'a', b'"', b'{', b':', b'=', 0x80, 0xff] {
                let mut changed = whole.to_vec();
                changed[at] = byte;
                survey(&changed, format);
            }
        }
    }
}
