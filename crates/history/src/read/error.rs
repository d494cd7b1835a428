//! What is wrong with an input, where, and how to mend it.
//!
//! An [`InputError`] prints as one line, `file:line:column: message`, for scripts; for people,
//! [`InputError::render`] shows the source line with the offending text underlined. Lines of any
//! length and bytes of any kind are shown safely: a window around the place, control characters
//! replaced.

use std::fmt::{self, Write};

use diagnostics::excerpt::{Excerpt, Marks};

use crate::build_error::BuildErrorKind;

/// Something wrong with an input, and its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InputError {
    /// The file, as the user named it.
    pub file: String,
    /// The line, from 1; 0 if the error concerns the file as a whole.
    pub line: u64,
    /// The column, from 1; 0 if the error concerns the file as a whole.
    pub column: u64,
    details: Box<Details>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Details {
    kind: InputErrorKind,
    help: Option<&'static str>,
    excerpt: Option<Excerpt>,
}

/// The ways in which an input can be wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // the fields are named in the sentence each variant prints
pub enum InputErrorKind {
    CannotOpen { reason: Box<str> },
    CannotRead { reason: Box<str> },
    Unexpected { expected: Box<str>, found: Box<str> },
    NumberTooLarge,
    NumberTooWide,
    NumberTooLong { limit: usize },
    NameTooLong { limit: usize },
    LineTooLong { limit: usize },
    Repeated { what: &'static str },
    Json { reason: Box<str> },
    UnknownField { field: Box<str> },
    MissingOperation,
    MissingField { operation: &'static str, field: &'static str },
    ForeignField { operation: &'static str, field: &'static str },
    SecondTrace,
    NoEvents,
    Senseless(BuildErrorKind),
    Other { reason: Box<str> },
}

impl fmt::Display for InputErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use InputErrorKind::*;
        match self {
            CannotOpen { reason } => write!(f, "cannot open the file: {reason}"),
            CannotRead { reason } => write!(f, "cannot read the file any further: {reason}"),
            Unexpected { expected, found } => write!(f, "expected {expected}, found {found}"),
            NumberTooLarge => write!(f, "the number does not fit 64 bits"),
            NumberTooWide => write!(f, "the number does not fit 128 bits"),
            NumberTooLong { limit } => write!(f, "the number has more than {limit} digits"),
            NameTooLong { limit } => write!(f, "the name has more than {limit} characters"),
            LineTooLong { limit } => write!(f, "the line has more than {limit} bytes"),
            Repeated { what } => write!(f, "a second {what} for one event"),
            Json { reason } => write!(f, "not a valid JSON object: {reason}"),
            UnknownField { field } => write!(f, "unknown field `{field}`"),
            MissingOperation => write!(f, "a line needs an `op`"),
            MissingField { operation, field } => write!(f, "`{operation}` needs a `{field}`"),
            ForeignField { operation, field } => write!(f, "`{operation}` takes no `{field}`"),
            SecondTrace => write!(f, "a second trace; only one was expected"),
            NoEvents => write!(f, "the input contains no events"),
            Senseless(kind) => write!(f, "{kind}"),
            Other { reason } => f.write_str(reason),
        }
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let InputError { file, line, column, details } = self;
        match line {
            0 => write!(f, "{file}: {}", details.kind),
            _ => write!(f, "{file}:{line}:{column}: {}", details.kind),
        }
    }
}

impl std::error::Error for InputError {}

impl InputError {
    /// An error that concerns the file as a whole.
    pub(crate) fn of_file(file: &str, kind: InputErrorKind) -> Self {
        let details = Details { kind, help: None, excerpt: None };
        Self { file: file.into(), line: 0, column: 0, details: Box::new(details) }
    }

    /// That no trace of a file has an event.
    pub fn no_events(file: &str) -> Self {
        let help = "an empty file may mean that the recorder failed; --allow-empty accepts it";
        Self::of_file(file, InputErrorKind::NoEvents).with_help(Some(help))
    }

    /// An error at a place.
    pub(super) fn at(file: &str, line: u64, column: u64, kind: InputErrorKind) -> Self {
        let details = Details { kind, help: None, excerpt: None };
        Self { file: file.into(), line, column, details: Box::new(details) }
    }

    /// An error about `length` bytes at byte `at` of a line: for readers of other inputs, so that
    /// all diagnostics look alike. A line of number 0 is the file as a whole.
    ///
    /// ```
    /// use tribunal_history::{InputError, InputErrorKind};
    ///
    /// let kind = InputErrorKind::Other { reason: "there is no place `z`".into() };
    /// let error = InputError::in_line("sb.program", 3, "0: M[z] ?", (5, 1), kind);
    /// assert_eq!(error.to_string(), "sb.program:3:6: there is no place `z`");
    /// ```
    pub fn in_line(
        file: &str,
        number: u64,
        line: &str,
        (at, length): (usize, usize),
        kind: InputErrorKind,
    ) -> Self {
        let before = line.get(..at).unwrap_or(line);
        let column = before.chars().count() as u64 + 1;
        let excerpt = excerpt(line.as_bytes(), false, at, length);
        let excerpt = Some(excerpt).filter(|_| number > 0);
        InputError::at(file, number, column, kind).with_excerpt(excerpt)
    }

    /// The same error, with a remedy.
    pub fn with_help(mut self, help: Option<&'static str>) -> Self {
        self.details.help = help;
        self
    }

    /// The same error, with the line it is about.
    pub(super) fn with_excerpt(mut self, excerpt: Option<Excerpt>) -> Self {
        self.details.excerpt = excerpt;
        self
    }

    /// What is wrong.
    pub fn kind(&self) -> &InputErrorKind {
        &self.details.kind
    }

    /// The full diagnostic: the message, the source line with the offending text underlined (where
    /// the line is still at hand), what was expected there, and a remedy. Ends with a line end.
    ///
    /// ```
    /// let error = tribunal_history::parse_text("0: M[x] = 1").unwrap_err();
    /// assert_eq!(
    ///     error.render(false),
    ///     "trace:1:9: expected `==` or `:=`, found `=`
    ///   |
    /// 1 | 0: M[x] = 1
    ///   |         ^ expected `==` or `:=`
    ///   = help: `M[x] == 1` is a read that returned 1, `M[x] := 1` is a write
    /// "
    /// );
    /// ```
    pub fn render(&self, colour: bool) -> String {
        let (bold, red, off) =
            if colour { ("\x1b[1m", "\x1b[1;31m", "\x1b[0m") } else { ("", "", "") };
        let mut text = format!("{bold}{self}{off}\n");
        let margin = self.line.to_string().len();
        if let Some(excerpt) = &self.details.excerpt {
            let label = match &self.details.kind {
                InputErrorKind::Unexpected { expected, .. } => format!(" expected {expected}"),
                _ => String::new(),
            };
            let marks = Marks { sign: '^', label: &label, colour: (red, off) };
            excerpt.draw(&mut text, self.line, margin, marks);
        }
        if let Some(help) = self.details.help {
            let _ = writeln!(text, "{:margin$} = help: {help}", "");
        }
        text
    }
}

/// The surroundings of `length` bytes at `at` in a line, of which `cut` says whether the beginning
/// is missing.
pub(super) fn excerpt(line: &[u8], cut: bool, at: usize, length: usize) -> Excerpt {
    const BEFORE: usize = 60;
    const SHOWN: usize = 110;
    let line = line.trim_ascii_end();
    let at = at.min(line.len());
    let start = if line.len() <= SHOWN { 0 } else { at.saturating_sub(BEFORE) };
    let end = line.len().min(start + SHOWN);
    let marked_end = end.min(at + length);
    let mut text = String::new();
    if cut || start > 0 {
        text.push('…');
    }
    text.push_str(&printable(&line[start..at]));
    let indent = text.chars().count();
    text.push_str(&printable(&line[at..marked_end]));
    let marked = (text.chars().count() - indent).max(1);
    text.push_str(&printable(&line[marked_end..end]));
    if end < line.len() {
        text.push('…');
    }
    Excerpt { text, indent, marked }
}

/// The bytes as text that does nothing to a terminal but fill one cell a character.
pub(super) fn printable(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes)
        .chars()
        .map(|c| match c {
            '\t' => ' ',
            c if c.is_control() => char::REPLACEMENT_CHARACTER,
            c => c,
        })
        .collect()
}
