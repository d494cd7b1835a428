//! What is wrong with a text as JSON, for editors: one object a line for each error and warning.

use diagnostics::Refusal;
use diagnostics::diagnostic::{Diagnostic, Severity};
use diagnostics::source::{Source, Span};
use serde::Serialize;

#[derive(Serialize)]
struct Object<'a> {
    file: &'a str,
    severity: &'static str,
    #[serde(flatten)]
    range: Range,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related: Vec<Related<'a>>,
}

/// Lines and columns from 1, in characters; the end is behind the last character.
#[derive(Serialize)]
struct Range {
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
}

#[derive(Serialize)]
struct Related<'a> {
    #[serde(flatten)]
    range: Range,
    message: &'a str,
}

/// Errors and warnings of a text, one JSON object a line.
pub fn diagnostics_json(source: &Source, diagnostics: &[Diagnostic]) -> String {
    let object = |diagnostic: &Diagnostic| {
        let object = Object {
            file: &source.name,
            severity: match diagnostic.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            },
            range: range(source, diagnostic.span),
            message: &diagnostic.message,
            help: diagnostic.help.as_deref(),
            related: (diagnostic.related.iter())
                .map(|(span, note)| Related { range: range(source, *span), message: note })
                .collect(),
        };
        crate::json::line(&object) + "\n"
    };
    diagnostics.iter().map(object).collect()
}

/// A refusal as JSON, one object per line. A problem with the text as a whole has the place of its
/// beginning.
pub fn refusal_json(refusal: &Refusal) -> String {
    if !refusal.problems.is_empty() {
        return diagnostics_json(&refusal.source, &refusal.problems);
    }
    let whole = Diagnostic::error(Span::default(), &refusal.sentence);
    diagnostics_json(&refusal.source, &[whole])
}

fn range(source: &Source, span: Span) -> Range {
    let (line, column) = source.position(span.start);
    let (end_line, end_column) = source.position(span.end.max(span.start));
    Range { line, column, end_line, end_column }
}
