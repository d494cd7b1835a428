//! Traces in: any format, any packing, one trace at a time.
//!
//! [`open`] finds the bytes, a [`TraceReader`] makes histories of them. Reading is streaming: a
//! trace is handed out as soon as its last byte has arrived, and nothing is remembered of it. What
//! is kept of the input is a window of bounded size; what is kept of the trace is bounded by
//! [`ReadOptions::memory`].

mod commits;
mod error;
mod format;
mod jsonl;
mod open;
mod text;
mod tracegen;
mod window;

use std::io::Read;

pub use commits::{CommitOptions, DiscardedAmo};
pub use error::{InputError, InputErrorKind};
pub use format::{Format, UnknownFormat};
pub use open::{Traces, is_complete, open, shown, traces, unpack};

use crate::build_error::{BuildError, BuildErrorKind};
use crate::builder::{Builder, ThinAir};
use crate::history::History;
use crate::lexicon::is_name_byte;
use crate::misaligned::Misaligned;
use error::printable;
use format::Reader;
use window::{Place, REASON, Window};

/// How to read traces.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ReadOptions {
    /// The format they are in.
    pub format: Format,
    /// What a read of a value nobody wrote is.
    pub thin_air: ThinAir,
    /// The most bytes one trace may take, about; no limit if `None`.
    pub memory: Option<usize>,
    /// Whether `v0` and `M[0]` are one address, as Axe has it, rather than a name and a number.
    pub axe_addresses: bool,
    /// What a misaligned access is.
    pub misaligned: Misaligned,
    /// How logs of commits are read.
    pub commits: CommitOptions,
}

impl ReadOptions {
    /// The same for this file, in this format or, where none is said, in the one that the name of
    /// the file suggests.
    pub fn of_file(self, file: &str, format: Option<Format>) -> Self {
        Self { format: format.unwrap_or_else(|| Format::guess(file)), ..self }
    }

    fn builder(&self) -> Builder {
        self.memory.map_or_else(Builder::new, Builder::with_memory_limit)
    }
}

/// Reads traces one by one. After an error it stops, since what follows could not be trusted, unless
/// it is asked to go on behind the trace that the error is about ([`TraceReader::skip_trace`]).
///
/// ```
/// use tribunal_history::{ReadOptions, TraceReader};
///
/// let input = "0: M[x] := 1\ncheck\n1: M[y] := 2\n1: M[y] == 2\ncheck\n".as_bytes();
/// let mut reader = TraceReader::new(input, "example", ReadOptions::default());
/// let mut lengths = Vec::new();
/// while let Some(history) = reader.next_trace()? {
///     lengths.push(history.len());
/// }
/// assert_eq!(lengths, [1, 2]);
/// # Ok::<(), tribunal_history::InputError>(())
/// ```
pub struct TraceReader<R: Read> {
    reader: Reader<R>,
    stopped: bool,
}

impl<R: Read> TraceReader<R> {
    /// Reads from an input; `name` is what diagnostics call it.
    pub fn new(input: R, name: &str, options: ReadOptions) -> Self {
        let input = Input { window: Window::new(input), file: name.into(), options, workers: 1 };
        Self { reader: Reader::new(input), stopped: false }
    }

    /// Reads large traces on so many threads. What is read is the same for any number of them, but
    /// more of the input is asked for than the next trace needs: this is for files, not for a
    /// producer who waits for an answer.
    ///
    /// ```
    /// use tribunal_history::{ReadOptions, TraceReader};
    ///
    /// let input: String = (1..300_000).map(|value| format!("0: M[x] := {value}\n")).collect();
    /// let reader = TraceReader::new(input.as_bytes(), "example", ReadOptions::default());
    /// let history = reader.with_workers(2).next_trace()?;
    /// assert_eq!(history.map(|history| history.len()), Some(299_999));
    /// # Ok::<(), tribunal_history::InputError>(())
    /// ```
    pub fn with_workers(mut self, workers: usize) -> Self {
        self.reader.set_workers(workers);
        self
    }

    /// The next trace; `None` at the end of the input and after an error.
    pub fn next_trace(&mut self) -> Result<Option<History>, InputError> {
        if self.stopped {
            return Ok(None);
        }
        let trace = self.reader.next_trace();
        self.stopped = !matches!(trace, Ok(Some(_)));
        trace
    }

    /// How many bytes of the input belong to the traces so far.
    pub fn offset(&mut self) -> u64 {
        self.reader.offset()
    }

    /// Whether the last trace was ended by the end of the input, as far as that is known without
    /// waiting for more input. A trace that its own last line ends may be followed by others.
    pub fn has_ended(&mut self) -> bool {
        self.reader.has_ended()
    }

    /// After an error: skips what is left of its trace, so that the next one can be read. False if
    /// the end of the trace is not found, and then there is no next one.
    ///
    /// ```
    /// use tribunal_history::{ReadOptions, TraceReader};
    ///
    /// let input = "0: M[x] = 1\n0: M[y] := 2\ncheck\n1: M[y] := 2\ncheck\n".as_bytes();
    /// let mut reader = TraceReader::new(input, "example", ReadOptions::default());
    /// assert_eq!(reader.next_trace().unwrap_err().line, 1);
    /// assert!(reader.skip_trace());
    /// assert_eq!(reader.next_trace()?.map(|history| history.len()), Some(1));
    /// # Ok::<(), tribunal_history::InputError>(())
    /// ```
    pub fn skip_trace(&mut self) -> bool {
        self.stopped = !self.reader.skip_trace();
        !self.stopped
    }
}

/// How far a trace has been read that is handed over in pieces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Piece {
    /// There is more to come, but the input may have to be waited for.
    Some,
    /// The trace has ended.
    Last,
    /// There is no further trace.
    None,
}

impl<R: Read> TraceReader<R> {
    /// Reads on in the trace under way as far as it can be had without waiting, at least one event.
    /// Every event is on a line of its own, and takes effect without a look at the next line.
    ///
    /// ```
    /// use tribunal_history::{Builder, Piece, ReadOptions, TraceReader};
    ///
    /// let input = "0: M[x] := 1\n1: M[x] == 1\n".as_bytes();
    /// let mut reader = TraceReader::new(input, "example", ReadOptions::default());
    /// let (mut builder, mut events) = (Builder::new(), Vec::new());
    /// while reader.next_piece(&mut builder)? == Piece::Some {
    ///     builder.hand_over(|event| events.push(event)).unwrap();
    /// }
    /// assert_eq!(events[1].thread, 1);
    /// # Ok::<(), tribunal_history::InputError>(())
    /// ```
    pub fn next_piece(&mut self, builder: &mut Builder) -> Result<Piece, InputError> {
        let piece = self.reader.next_piece(builder);
        self.stopped = !matches!(piece, Ok(Piece::Some | Piece::Last));
        piece
    }

    /// An error about something that turned out to make no sense when it was handed over.
    pub fn senseless(&mut self, error: BuildError) -> InputError {
        self.reader.unfinished(error)
    }
}

impl<R: Read> Iterator for TraceReader<R> {
    type Item = Result<History, InputError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_trace().transpose()
    }
}

/// Reads one trace in the text format; its `check` may be missing.
///
/// ```
/// let history = tribunal_history::parse_text("0: x := 1\n1: x == 1 @ 10:20").unwrap();
/// assert_eq!(history.thread_count(), 2);
/// assert!(history.has_times());
/// ```
pub fn parse_text(text: &str) -> Result<History, InputError> {
    let mut reader = TraceReader::new(text.as_bytes(), "trace", ReadOptions::default());
    let first = reader.next_trace()?;
    match (first, reader.next_trace()?) {
        (Some(history), None) => Ok(history),
        (_, second) => {
            let events = second.iter().flat_map(|history| history.events());
            let line = events.map(|event| u64::from(event.line)).min();
            let line = line.unwrap_or(text.lines().count() as u64);
            Err(InputError::at("trace", line, 1, InputErrorKind::SecondTrace))
        }
    }
}

/// A piece of the input.
#[derive(Clone, Copy, Debug)]
struct Token {
    place: Place,
    length: usize,
}

/// What the readers of all formats share: the bytes, and how to complain about them.
struct Input<R> {
    window: Window<R>,
    file: String,
    options: ReadOptions,
    /// How many threads may read and index a large trace.
    workers: usize,
}

impl<R: Read> Input<R> {
    /// A builder of the next trace.
    fn builder(&self) -> Builder {
        self.options.builder().with_workers(self.workers)
    }

    /// An error about a piece of the input.
    #[cold]
    fn error(&mut self, token: Token, kind: InputErrorKind) -> InputError {
        self.window.read_on(token.place);
        self.error_within(REASON, token, kind)
    }

    /// An error about a piece of the input, shown up to so many bytes after its start.
    fn error_within(&self, shown: usize, token: Token, kind: InputErrorKind) -> InputError {
        let Token { place, length } = token;
        let Some(line) = self.window.line_around(place, shown) else {
            return InputError::at(&self.file, place.line, place.column(), kind);
        };
        let at = (place.offset - line.offset) as usize;
        let cut = line.offset > place.line_offset;
        let column = match std::str::from_utf8(&line.bytes[..at]) {
            Ok(before) if !cut => before.chars().count() as u64 + 1,
            _ => place.column(),
        };
        let excerpt = error::excerpt(line.bytes, cut, at, length);
        InputError::at(&self.file, place.line, column, kind).with_excerpt(Some(excerpt))
    }

    /// What comes next is not what was expected, or the input failed.
    #[cold]
    fn unexpected(&mut self, expected: &str, help: &'static str) -> InputError {
        self.unexpected_at(self.window.place(), expected, help)
    }

    #[cold]
    fn unexpected_at(&mut self, place: Place, expected: &str, help: &'static str) -> InputError {
        if let Some(failure) = self.failure() {
            return failure;
        }
        self.window.read_on(place);
        let (found, length) = describe(self.window.bytes(place, FOUND_LIMIT + 1));
        let kind = InputErrorKind::Unexpected { expected: expected.into(), found };
        self.error(Token { place, length }, kind).with_help(Some(help))
    }

    /// What kept the input from being read any further, if anything did.
    fn failure(&mut self) -> Option<InputError> {
        let reason = self.window.take_failure()?.to_string().into();
        let place = self.window.place();
        Some(self.error(Token { place, length: 1 }, InputErrorKind::CannotRead { reason }))
    }

    /// A piece of the input is spelled right but makes no sense.
    #[cold]
    fn senseless(&mut self, token: Token, kind: BuildErrorKind) -> InputError {
        self.error(token, InputErrorKind::Senseless(kind))
    }

    /// The history of a trace that has ended.
    fn finish(&mut self, builder: Builder) -> Result<History, InputError> {
        let ReadOptions { thin_air, misaligned, memory, .. } = self.options;
        misaligned.finish(builder, thin_air, memory).map_err(|error| self.unfinished(error))
    }

    /// A line, perhaps long past, turned out to make no sense. Nothing is read to say so: the trace
    /// has ended, and its producer may be waiting.
    #[cold]
    fn unfinished(&mut self, error: BuildError) -> InputError {
        let line = u64::from(error.line);
        let kind = InputErrorKind::Senseless(error.kind);
        let Some(start) = self.window.start_of_line(line) else {
            return InputError::at(&self.file, line, 1, kind);
        };
        let shown = self.window.since(start);
        let (indent, length) = self.window.line_around(start, shown).map_or((0, 0), |line| {
            let code = line.bytes.split(|&byte| byte == b'#').next().unwrap_or_default();
            let code = code.trim_ascii_end();
            let trimmed = code.trim_ascii_start().len();
            (code.len() - trimmed, trimmed)
        });
        let place = Place { offset: start.offset + indent as u64, ..start };
        self.error_within(shown - indent, Token { place, length }, kind)
    }
}

/// The most bytes of the input that a message quotes.
const FOUND_LIMIT: usize = 40;

/// What stands at the beginning of these bytes, and how long it is.
fn describe(bytes: &[u8]) -> (Box<str>, usize) {
    let Some(&first) = bytes.first() else { return ("the end of the input".into(), 1) };
    let word = bytes.iter().take_while(|&&byte| is_name_byte(byte)).count();
    match word {
        0 => {}
        length if length > FOUND_LIMIT => {
            return (format!("`{}…`", printable(&bytes[..FOUND_LIMIT])).into(), length);
        }
        length => return (format!("`{}`", printable(&bytes[..length])).into(), length),
    }
    let character = bytes
        .utf8_chunks()
        .next()
        .and_then(|chunk| chunk.valid().chars().next())
        .filter(|c| !c.is_control());
    match character {
        Some(c) => (format!("`{c}`").into(), c.len_utf8()),
        None if first == b'\n' => ("the end of the line".into(), 1),
        None => (format!("the byte 0x{first:02x}").into(), 1),
    }
}
