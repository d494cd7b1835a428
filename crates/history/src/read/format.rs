//! The formats of traces, a row each. Names, help texts, the guess from the name of a file, readers
//! and writers are all taken from this table: to add a format, write its reader (and its writer, if
//! it has one) and add a row.

use std::fmt;
use std::io::{self, Read, Write};
use std::str::FromStr;

use super::commits::{Gem5Reader, M3Reader, RvfiReader, SpikeReader, WhisperReader};
use super::error::InputError;
use super::jsonl::JsonLinesReader;
use super::text::TextReader;
use super::tracegen::TracegenReader;
use super::{Input, Piece};
use crate::build_error::BuildError;
use crate::builder::Builder;
use crate::event::EventId;
use crate::history::History;
use crate::write::{json_lines, text};

/// How a trace is written down, its events in the given order.
type Writer = fn(&History, Vec<EventId>, &mut dyn Write) -> io::Result<()>;

/// What is known of a format.
struct Row {
    name: &'static str,
    /// Other names.
    also: &'static [&'static str],
    /// What the names of files in this format end in.
    endings: &'static [&'static str],
    summary: &'static str,
    writer: Option<Writer>,
}

macro_rules! formats {
    ($($(#[$about:meta])* $format:ident = $name:literal {
        also: $also:expr, endings: $endings:expr, summary: $summary:expr,
        reader: $reader:ident, writer: $writer:expr,
    })*) => {
        /// A way to write traces down.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
        pub enum Format {
            $($(#[$about])* $format,)*
        }

        impl Format {
            /// Every format.
            pub const ALL: &'static [Format] = &[$(Format::$format),*];

            const fn row(self) -> &'static Row {
                match self {
                    $(Format::$format => &Row {
                        name: $name,
                        also: &$also,
                        endings: &$endings,
                        summary: $summary,
                        writer: $writer,
                    },)*
                }
            }
        }

        /// The reader of a format.
        pub(super) enum Reader<R: Read> {
            $($format($reader<R>),)*
        }

        impl<R: Read> Reader<R> {
            pub(super) fn new(input: Input<R>) -> Self {
                match input.options.format {
                    $(Format::$format => Reader::$format($reader::new(input)),)*
                }
            }

            pub(super) fn next_trace(&mut self) -> Result<Option<History>, InputError> {
                match self {
                    $(Reader::$format(reader) => reader.next_trace(),)*
                }
            }

            /// Reads on in a trace that is handed over in pieces.
            pub(super) fn next_piece(&mut self, builder: &mut Builder) -> Result<Piece, InputError> {
                match self {
                    $(Reader::$format(reader) => reader.next_piece(builder),)*
                }
            }

            /// An error about a line of the trace under way.
            pub(super) fn unfinished(&mut self, error: BuildError) -> InputError {
                match self {
                    $(Reader::$format(reader) => reader.input().unfinished(error),)*
                }
            }

            /// How many threads may read a large trace.
            pub(super) fn set_workers(&mut self, workers: usize) {
                match self {
                    $(Reader::$format(reader) => reader.input().workers = workers,)*
                }
            }

            /// How many bytes have been looked at.
            pub(super) fn offset(&mut self) -> u64 {
                match self {
                    $(Reader::$format(reader) => reader.input().window.place().offset,)*
                }
            }

            /// Whether the input is known to have ended.
            pub(super) fn has_ended(&mut self) -> bool {
                match self {
                    $(Reader::$format(reader) => reader.input().window.has_ended(),)*
                }
            }

            /// Skips what is left of a trace that could not be read; false if its end is not found.
            pub(super) fn skip_trace(&mut self) -> bool {
                match self {
                    $(Reader::$format(reader) => reader.skip_trace(),)*
                }
            }
        }
    };
}

formats! {
    /// The trace text format, a superset of what Axe reads: `0: M[x] := 1`.
    #[default]
    Text = "text" {
        also: ["axe"], endings: [], summary: "events as text, a superset of the format of axe",
        reader: TextReader, writer: Some(|history, order, out| text(history, order, out)),
    }
    /// One JSON object an event: `{"thread":0,"op":"write","addr":"x","value":1}`.
    JsonLines = "jsonl" {
        also: [], endings: [".jsonl", ".ndjson", ".json"], summary: "JSON Lines: one JSON object \
                                                                     for each event",
        reader: JsonLinesReader, writer: Some(|history, order, out| json_lines(history, order, out)),
    }
    /// What the trace generator of Rocket Chip and Chipyard prints: `0: load-req 0x8 #1 @64`. Only
    /// read, never written.
    Tracegen = "tracegen" {
        also: [], endings: [], summary: "output of the trace generator of Rocket Chip and Chipyard",
        reader: TracegenReader, writer: None,
    }
    /// Commit logs of Spike: `core   0: 3 0x80000010 (0x0005a503) x10 0x1 mem 0x80002000`. Only read,
    /// never written.
    Spike = "spike" {
        also: [], endings: [".log"], summary: "commit logs of Spike (spike --log-commits)",
        reader: SpikeReader, writer: None,
    }
    /// What RVFI tracers print: columns as of Ibex, commits as of CVA6, or signals by name. Only
    /// read, never written.
    Rvfi = "rvfi" {
        also: [], endings: [], summary: "output of RVFI tracers (Ibex, CVA6, or signals by name)",
        reader: RvfiReader, writer: None,
    }
    /// The trace and the memory events of Whisper. Only read, never written.
    Whisper = "whisper" {
        also: [], endings: [], summary: "instruction trace or memory events of Whisper",
        reader: WhisperReader, writer: None,
    }
    /// The events of m3, the Memory Marionette Model. Only read, never written.
    M3 = "m3" {
        also: [], endings: [], summary: "events of m3, the Memory Marionette Model",
        reader: M3Reader, writer: None,
    }
    /// What gem5 prints of executed instructions: `2500: system.cpu0: T0 : 0x10094 : sw a5, 0(a4) :
    /// MemWrite : D=0x2a A=0x80002000`. Only read, never written.
    Gem5 = "gem5" {
        also: [], endings: [], summary: "execution log of gem5 for RISC-V (--debug-flags=Exec)",
        reader: Gem5Reader, writer: None,
    }
}

impl Format {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// What it is, in a few words.
    pub fn summary(self) -> &'static str {
        self.row().summary
    }

    /// Whether traces are written in it, and not only read.
    pub fn is_written(self) -> bool {
        self.row().writer.is_some()
    }

    /// Whether it is a log of committed RISC-V instructions, to which [`CommitOptions`] apply.
    ///
    /// [`CommitOptions`]: crate::CommitOptions
    pub fn is_commit_log(self) -> bool {
        matches!(self, Format::Spike | Format::Rvfi | Format::Whisper | Format::M3)
    }

    /// The format that the name of a file suggests.
    ///
    /// ```
    /// use tribunal_history::Format;
    ///
    /// assert_eq!(Format::guess("run.jsonl.gz"), Format::JsonLines);
    /// assert_eq!(Format::guess("run.axe"), Format::Text);
    /// ```
    pub fn guess(path: &str) -> Format {
        let name = path.to_ascii_lowercase();
        let name = [".gz", ".zst"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
        let suits = |format: &Format| format.row().endings.iter().any(|end| name.ends_with(end));
        Format::ALL.iter().copied().find(suits).unwrap_or_default()
    }

    /// Writes a trace in this format, thread by thread.
    ///
    /// ```
    /// use tribunal_history::{Format, parse_text};
    ///
    /// let mut lines = Vec::new();
    /// Format::Text.write(&parse_text("0: x := 1").unwrap(), &mut lines).unwrap();
    /// assert_eq!(lines, b"0: M[x] := 1\ncheck\n");
    /// ```
    pub fn write(self, history: &History, out: &mut dyn Write) -> io::Result<()> {
        self.write_in(history, history.event_ids().collect(), out)
    }

    /// Writes a trace in this format, its events in the order in which they were recorded.
    pub fn write_recorded(self, history: &History, out: &mut dyn Write) -> io::Result<()> {
        self.write_in(history, history.recorded_order(), out)
    }

    fn write_in(
        self,
        history: &History,
        order: Vec<EventId>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        match self.row().writer {
            Some(write) => write(history, order, out),
            None => Err(io::Error::other(format!("cannot write traces as {self}"))),
        }
    }

    /// A trace in this format, thread by thread; empty if traces are not written in it.
    pub fn text(self, history: &History) -> String {
        in_memory(|out| self.write(history, out))
    }

    /// A trace in this format, in recorded order; empty if traces are not written in it.
    pub fn recorded_text(self, history: &History) -> String {
        in_memory(|out| self.write_recorded(history, out))
    }
}

fn in_memory(write: impl Fn(&mut Vec<u8>) -> io::Result<()>) -> String {
    let mut text = Vec::new();
    // Nothing else can go wrong in memory.
    let _ = write(&mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// A name that no format has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownFormat(String);

impl fmt::Display for UnknownFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown trace format `{}`; the formats are ", self.0)?;
        for (at, format) in Format::ALL.iter().enumerate() {
            match at {
                0 => {}
                at if at + 1 == Format::ALL.len() => f.write_str(" and ")?,
                _ => f.write_str(", ")?,
            }
            write!(f, "`{format}`")?;
            if let [first, ..] = format.row().also {
                write!(f, " (or `{first}`)")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for UnknownFormat {}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        let lower = name.to_ascii_lowercase();
        let is_called = |format: &Format| {
            let Row { name, also, .. } = format.row();
            *name == lower || also.contains(&&*lower)
        };
        Format::ALL.iter().copied().find(is_called).ok_or_else(|| UnknownFormat(name.into()))
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_of_one_format_and_an_unknown_one_is_reported_all() {
        for &format in Format::ALL {
            assert_eq!(format.to_string().to_uppercase().parse(), Ok(format));
            assert!(!format.summary().is_empty());
        }
        assert_eq!(
            "xml".parse::<Format>().unwrap_err().to_string(),
            "unknown trace format `xml`; the formats are `text` (or `axe`), `jsonl`, `tracegen`, \
             `spike`, `rvfi`, `whisper`, `m3` and `gem5`"
        );
    }

    #[test]
    fn what_is_written_is_read_again() {
        let history = crate::parse_text("0: x := 1 as a\n1: x == 1\nfinal x == 1").unwrap();
        for &format in Format::ALL.iter().filter(|format| format.is_written()) {
            let text = format.text(&history);
            let options = crate::ReadOptions { format, ..crate::ReadOptions::default() };
            let again = crate::TraceReader::new(text.as_bytes(), "again", options).next();
            assert_eq!(again.unwrap().unwrap(), history, "{format}");
        }
        assert_eq!(
            Format::Tracegen.write(&history, &mut Vec::new()).unwrap_err().to_string(),
            "cannot write traces as tracegen"
        );
    }
}
