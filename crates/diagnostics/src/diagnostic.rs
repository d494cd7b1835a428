//! What is wrong, where, and what to do about it.
//!
//! [`Diagnostic::render`] shows the line with the offending text underlined. Lines of any length
//! and content are fit for a terminal: long ones are cut around the span, tabs are expanded, and
//! what is not printable is escaped. A span over several lines is shown by its first.

use std::fmt::Write as _;

use crate::excerpt::{Excerpt, Marks};
use crate::source::{Source, Span};

/// One error, warning or note about the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// The text to underline.
    pub span: Span,
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// What was expected, or what to do.
    pub help: Option<String>,
    /// Other places that belong to it, such as an earlier declaration.
    pub related: Vec<(Span, String)>,
}

/// How bad a diagnostic is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// The model cannot be used.
    Error,
    /// The model can be used, but this looks like a mistake.
    Warning,
}

impl Diagnostic {
    /// An error.
    pub fn error(span: Span, message: impl Into<String>) -> Self {
        Diagnostic {
            severity: Severity::Error,
            span,
            message: message.into(),
            help: None,
            related: Vec::new(),
        }
    }

    /// A warning.
    pub fn warning(span: Span, message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(span, message) }
    }

    /// The same, with what to do about it.
    pub fn help(self, help: impl Into<String>) -> Self {
        Diagnostic { help: Some(help.into()), ..self }
    }

    /// The same, with another place that belongs to it.
    pub fn related(mut self, span: Span, note: impl Into<String>) -> Self {
        self.related.push((span, note.into()));
        self
    }
}

impl Diagnostic {
    /// The diagnostic for people:
    ///
    /// ```
    /// use tribunal_diagnostics::{diagnostic::Diagnostic, source::{Source, Span}};
    ///
    /// let source = Source { name: "lock.m".into(), text: "var x: bool;".into() };
    /// let problem = Diagnostic::error(Span { start: 7, end: 11 }, "unknown type `bool`");
    /// assert_eq!(
    ///     problem.help("did you mean `boolean`?").render(&source, false),
    ///     "\
    /// error: unknown type `bool`
    ///  --> lock.m:1:8
    ///   |
    /// 1 | var x: bool;
    ///   |        ^^^^
    ///   = help: did you mean `boolean`?
    /// "
    /// );
    /// ```
    pub fn render(&self, source: &Source, colour: bool) -> String {
        let style = if colour { Style::COLOURED } else { Style::PLAIN };
        let (word, mark) = match self.severity {
            Severity::Error => ("error", style.error),
            Severity::Warning => ("warning", style.warning),
        };
        let Style { bold, off, .. } = style;
        let mut text = format!("{mark}{word}{off}{bold}: {}{off}\n", printable(&self.message));
        let margin = self.margin(source);
        excerpt(&mut text, source, self.span, margin, style, ('^', mark));
        if let Some(help) = &self.help {
            let _ = writeln!(text, "{:margin$} {bold}= help:{off} {}", "", printable(help));
        }
        for (span, note) in &self.related {
            let _ = writeln!(text, "{bold}note: {}{off}", printable(note));
            excerpt(&mut text, source, *span, margin, style, ('-', style.note));
        }
        text
    }

    /// The width of the widest line number to be shown.
    fn margin(&self, source: &Source) -> usize {
        let spans = self.related.iter().map(|related| related.0).chain([self.span]);
        let last = spans.map(|span| source.position(span.start).0).max();
        last.unwrap_or(1).to_string().len()
    }
}

/// The escape sequences to write with.
#[derive(Clone, Copy)]
struct Style {
    bold: &'static str,
    error: &'static str,
    warning: &'static str,
    note: &'static str,
    off: &'static str,
}

impl Style {
    const PLAIN: Style = Style { bold: "", error: "", warning: "", note: "", off: "" };
    const COLOURED: Style = Style {
        bold: "\x1b[1m",
        error: "\x1b[1;31m",
        warning: "\x1b[1;33m",
        note: "\x1b[1;34m",
        off: "\x1b[0m",
    };
}

/// Writes where a span is, and its line with the span underlined.
fn excerpt(
    text: &mut String,
    source: &Source,
    span: Span,
    margin: usize,
    style: Style,
    (underline, mark): (char, &str),
) {
    let (number, column) = source.position(span.start);
    let _ = writeln!(text, "{:margin$}--> {}:{number}:{column}", "", source.name);
    let marks = Marks { sign: underline, label: "", colour: (mark, style.off) };
    window(source, span).draw(text, number as u64, margin, marks);
}

/// Characters kept before the span when a line is cut.
const BEFORE: usize = 60;
/// Characters of a line that are shown.
const SHOWN: usize = 110;

/// The line of a span, or what of it fits.
fn window(source: &Source, span: Span) -> Excerpt {
    let (line, line_start) = source.line_at(span.start);
    let line: Vec<(usize, char)> = line.char_indices().collect();
    let index_of = |offset: u32| {
        let within = (offset as usize).saturating_sub(line_start);
        line.partition_point(|&(at, _)| at < within)
    };
    let (from, to) = (index_of(span.start), index_of(span.end.max(span.start)));
    let start = if line.len() <= SHOWN { 0 } else { from.saturating_sub(BEFORE) };
    let end = line.len().min(start + SHOWN);
    let mut text = String::new();
    if start > 0 {
        text.push('…');
    }
    show(&mut text, &line[start..from.min(end)]);
    let indent = text.chars().count();
    show(&mut text, &line[from.min(end)..to.min(end)]);
    let marked = (text.chars().count() - indent).max(1);
    show(&mut text, &line[to.min(end)..end]);
    text.truncate(text.trim_end().len());
    if end < line.len() {
        text.push('…');
    }
    Excerpt { text, indent, marked }
}

/// Appends characters so that each fills as many cells as are counted.
fn show(text: &mut String, characters: &[(usize, char)]) {
    for &(_, character) in characters {
        match character {
            '\t' => text.push_str("    "),
            character => push_printable(text, character),
        }
    }
}

/// A text that does nothing to a terminal but fill it.
fn printable(text: &str) -> String {
    let mut printable = String::with_capacity(text.len());
    for character in text.chars() {
        push_printable(&mut printable, character);
    }
    printable
}

fn push_printable(text: &mut String, character: char) {
    if character.is_control() || is_invisible(character) {
        text.extend(character.escape_unicode());
    } else {
        text.push(character);
    }
}

/// Characters that change how others are shown: marks of direction, joiners, byte order marks.
fn is_invisible(character: char) -> bool {
    matches!(character, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source {
        Source { name: "m.m".to_string(), text: text.to_string() }
    }

    fn find(source: &Source, text: &str) -> Span {
        let start = source.text.find(text).expect("the text is in the source");
        Span { start: start as u32, end: (start + text.len()) as u32 }
    }

    #[test]
    fn a_tab_is_four_blanks_and_a_long_span_ends_with_its_line() {
        let source = source("one\n\tif x\n\tthen\n");
        let problem = Diagnostic::warning(find(&source, "if x\n\tthen"), "odd");
        assert_eq!(
            problem.render(&source, false),
            "warning: odd\n --> m.m:2:2\n  |\n2 |     if x\n  |     ^^^^\n"
        );
    }

    #[test]
    fn a_long_line_is_cut_around_the_span() {
        let source = source(&format!("{}HERE{}", "a".repeat(500), "b".repeat(500)));
        let text = Diagnostic::error(find(&source, "HERE"), "long").render(&source, false);
        let lines: Vec<&str> = text.lines().collect();
        let shown = format!("1 | …{}HERE{}…", "a".repeat(60), "b".repeat(46));
        assert_eq!(lines[3], shown);
        assert_eq!(lines[4], format!("  | {}^^^^", " ".repeat(61)));
    }

    #[test]
    fn related_places_follow_with_the_same_margin() {
        let source = source(&"a\n".repeat(11));
        let problem = Diagnostic::error(Span { start: 20, end: 21 }, "twice")
            .related(Span { start: 0, end: 1 }, "first here");
        assert_eq!(
            problem.render(&source, false),
            "\
error: twice
  --> m.m:11:1
   |
11 | a
   | ^
note: first here
  --> m.m:1:1
   |
 1 | a
   | -
"
        );
    }

    #[test]
    fn nothing_reaches_the_terminal_but_text() {
        let source = source("x\u{1b}[2Jy\u{202E}z");
        let problem = Diagnostic::error(find(&source, "y"), "bad \u{7}");
        let text = problem.render(&source, false);
        assert!(text.chars().all(|character| character == '\n' || !character.is_control()));
        assert!(text.contains("x\\u{1b}[2Jy\\u{202e}z"));
        assert!(problem.render(&source, true).starts_with("\x1b[1;31merror\x1b[0m"));
    }

    #[test]
    fn spans_outside_the_source_are_shown_at_its_end() {
        let source = source("abc");
        for span in
            [Span { start: 3, end: 3 }, Span { start: 99, end: 2 }, Span { start: 1, end: 99 }]
        {
            assert!(Diagnostic::error(span, "far").render(&source, false).contains("1 | abc"));
        }
    }
}
