//! Traces that are handed over in pieces: nothing is waited for that is not needed.

use std::io::{self, Read};

use tribunal_history::{Builder, Format, Piece, ReadOptions, TraceReader};

/// An input that must not be asked again once it has given what it has.
struct Once(Option<&'static str>);

impl Read for Once {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let text = self.0.take().expect("the producer may be waiting for an answer");
        buffer[..text.len()].copy_from_slice(text.as_bytes());
        Ok(text.len())
    }
}

#[test]
fn an_event_counts_as_soon_as_its_line_ends() {
    let cases = [
        ("0: M[x] := 1\n", Format::Text),
        ("0: M[x] := 1\n1: M[x] == 1 @ 3:4\n", Format::Text),
        ("# begun\n0: sync  # fence\n\n# a remark\n  \n", Format::Text),
        ("{\"op\":\"write\",\"thread\":0,\"addr\":\"x\",\"value\":1}\n", Format::JsonLines),
    ];
    for (text, format) in cases {
        let options = ReadOptions { format, ..ReadOptions::default() };
        let mut reader = TraceReader::new(Once(Some(text)), "test", options);
        let (mut builder, mut events) = (Builder::new(), 0);
        assert_eq!(reader.next_piece(&mut builder), Ok(Piece::Some), "{text}");
        builder.hand_over(|_| events += 1).unwrap();
        let lines = text.lines().filter(|line| line.contains(['=', '{']) || line.contains("sync"));
        assert_eq!(events, lines.count(), "{text}");
    }
}
