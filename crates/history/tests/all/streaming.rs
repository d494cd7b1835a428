//! A trace is handed out before anything further is read: the producer may be waiting for it.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

use tribunal_history::{Format, ReadOptions, TraceReader, unpack};

/// Delivers pieces, one a read, and insists that nobody asks for one before it may be asked for.
struct Producer {
    pieces: Vec<Vec<u8>>,
    delivered: usize,
    allowed: Rc<Cell<usize>>,
}

impl Read for Producer {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        assert!(self.delivered < self.allowed.get(), "read on before the trace was handed out");
        let Some(piece) = self.pieces.get_mut(self.delivered) else { return Ok(0) };
        let length = piece.len().min(buffer.len());
        buffer[..length].copy_from_slice(&piece[..length]);
        piece.drain(..length);
        if piece.is_empty() {
            self.delivered += 1;
        }
        Ok(length)
    }
}

/// Feeds traces piece by piece, each piece only when the trace before it has been handed out.
fn feed(traces: &[&[u8]], format: Format, whole: bool) {
    let allowed = Rc::new(Cell::new(0));
    let cut = |trace: &&[u8]| -> Vec<Vec<u8>> {
        if whole { vec![trace.to_vec()] } else { trace.iter().map(|&byte| vec![byte]).collect() }
    };
    let pieces: Vec<Vec<Vec<u8>>> = traces.iter().map(cut).collect();
    let ends: Vec<usize> = pieces
        .iter()
        .scan(0, |total, pieces| {
            *total += pieces.len();
            Some(*total)
        })
        .collect();
    let pieces = pieces.into_iter().flatten().collect();
    let producer = Producer { pieces, delivered: 0, allowed: Rc::clone(&allowed) };
    let options = ReadOptions { format, ..ReadOptions::default() };
    let mut reader = TraceReader::new(producer, "pipe", options);
    for end in ends {
        allowed.set(end);
        assert!(reader.next_trace().unwrap().is_some());
    }
    allowed.set(usize::MAX);
    assert!(reader.next_trace().unwrap().is_none());
}

#[test]
fn the_last_letter_of_check_ends_a_trace() {
    let traces: [&[u8]; 4] = [
        b"0: M[x] := 1\n1: M[x] == 1 @ 10:20\ncheck",
        b"\n0: M[x] := 1 # 2\n  check",
        b"check",
        b" 1: fence r,w check",
    ];
    feed(&traces, Format::Text, true);
    feed(&traces, Format::Text, false);
}

#[test]
fn the_end_of_the_line_ends_a_trace_of_json_lines() {
    let traces: [&[u8]; 3] = [
        b"{\"thread\":0,\"op\":\"sync\"}\n{\"op\":\"end\"}\n",
        b"{\"op\":\"end\"}\n",
        b"\n {\"op\":\"end\"} \r\n",
    ];
    feed(&traces, Format::JsonLines, true);
    feed(&traces, Format::JsonLines, false);
}

#[test]
fn a_trace_that_makes_no_sense_is_refused_at_once_too() {
    for piece in ["0: x == 1 check", "0: x == 1\ncheck"] {
        let pieces = vec![piece.as_bytes().to_vec()];
        let producer = Producer { pieces, delivered: 0, allowed: Rc::new(Cell::new(1)) };
        let mut reader = TraceReader::new(producer, "pipe", ReadOptions::default());
        let error = reader.next_trace().unwrap_err();
        let shown = error.render(false);
        assert!(shown.contains(&format!("1 | {}\n", piece.lines().next().unwrap())), "{shown}");
    }
}

#[test]
fn looking_for_packed_data_does_not_wait_for_more_than_is_needed() {
    struct Once(Option<&'static [u8]>);
    impl Read for Once {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let piece = self.0.take().expect("read on before the trace was handed out");
            let (now, later) = piece.split_at(piece.len().min(buffer.len()));
            buffer[..now.len()].copy_from_slice(now);
            self.0 = Some(later).filter(|later| !later.is_empty());
            Ok(now.len())
        }
    }
    for trace in ["check", "0: x := 1 check", " check", "\ncheck", "(", "P", "P*", "(\u{b5}"] {
        let input = unpack(Once(Some(trace.as_bytes())));
        let mut reader = TraceReader::new(input, "pipe", ReadOptions::default());
        if trace.ends_with("check") {
            assert!(reader.next_trace().unwrap().is_some());
        }
    }
}

#[test]
fn the_pieces_in_which_an_input_arrives_do_not_matter() {
    struct Pieces<'b>(&'b [u8], usize);
    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = buffer.len().min(self.1);
            self.0.read(&mut buffer[..length])
        }
    }
    let text: String = (0..12_000)
        .map(|n| format!("{}: M[name_{n}] := {n} # {}\n", n % 5, "é".repeat(n % 40)))
        .chain(["check 0: x = 1\n0: sync".to_string()])
        .collect();
    let json: String = (0..12_000)
        .map(|n| format!("{{\"thread\":{},\"op\":\"write\",\"addr\":{n},\"value\":1}}\n", n % 5))
        .chain(["{\"op\":\"end\"}\n{\"op\":\"read\",\"thread\":0}\n".to_string()])
        .collect();
    for (input, format) in [(text, Format::Text), (json, Format::JsonLines)] {
        let options = ReadOptions { format, ..ReadOptions::default() };
        let all = |size| -> Vec<_> {
            TraceReader::new(Pieces(input.as_bytes(), size), "pipe", options).collect()
        };
        let whole = all(usize::MAX);
        assert!(matches!(&*whole, [Ok(history), Err(_)] if history.len() == 12_000));
        for size in [1, 7, 4096, 16_384, 16_385, 40_000] {
            assert!(all(size) == whole, "in pieces of {size}");
        }
    }
}

#[test]
fn a_read_that_was_interrupted_is_tried_again() {
    struct Interrupted(bool, &'static [u8]);
    impl Read for Interrupted {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0 = !self.0;
            if self.0 { Err(io::ErrorKind::Interrupted.into()) } else { self.1.read(buffer) }
        }
    }
    let input = unpack(Interrupted(false, b"0: x := 1\n0: x == 1\ncheck\n"));
    let mut reader = TraceReader::new(input, "pipe", ReadOptions::default());
    assert_eq!(reader.next_trace().unwrap().unwrap().len(), 2);
}

#[test]
fn an_input_that_fails_is_an_error_and_never_a_shorter_trace() {
    struct Failing(&'static [u8]);
    impl Read for Failing {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match self.0.read(buffer) {
                Ok(0) => Err(io::Error::other("the cable is out")),
                other => other,
            }
        }
    }
    for (text, format, place) in [
        ("0: x := 1\n0: y := 12", Format::Text, "2:11"),
        ("0: x := 1\n0: y", Format::Text, "2:5"),
        ("0: x := 1\n", Format::Text, "2:1"),
        ("", Format::Text, "1:1"),
        ("{\"thread\":0,\"op\":\"sync\"}", Format::JsonLines, "1:25"),
        ("{\"thread\":0,\"op\"", Format::JsonLines, "1:17"),
    ] {
        let options = ReadOptions { format, ..ReadOptions::default() };
        let mut reader = TraceReader::new(Failing(text.as_bytes()), "pipe", options);
        let error = reader.next_trace().unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("pipe:{place}: cannot read the file any further: the cable is out")
        );
    }
    let mut reader = TraceReader::new(Failing(b"check"), "pipe", ReadOptions::default());
    assert!(reader.next_trace().unwrap().is_some(), "what was complete is handed out");
    assert!(reader.next_trace().is_err());
}
