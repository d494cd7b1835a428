//! What is wrong, where, and what to do about it.

use crate::source::Span;

/// One thing to tell a designer about the source.
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
