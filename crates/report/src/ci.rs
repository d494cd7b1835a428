//! What came of questions in the words of continuous integration: cases that passed, failed or
//! could not be decided, as JUnit XML ([`Junit`]) and as annotations of lines ([`github`],
//! [`CodeQuality`]).
//!
//! A violation is a failure. What is undecided or could not be asked is an error, not a skipped
//! case: most systems show skipped cases in green, and nothing was shown to hold.
//!
//! ```
//! use tribunal_report::ci::{Case, Complaint, Junit};
//!
//! let mut junit = Junit::new("tribunal check");
//! junit.add(&Case::passed("a.trace", "trace 1: sc"));
//! let complaint = Complaint::violation("a cycle of 4 events", "…".to_owned());
//! junit.add(&Case::failed("a.trace", "trace 2: sc", complaint));
//! assert!(junit.text().contains("tests=\"2\" failures=\"1\" errors=\"0\""));
//! ```

mod annotations;
mod cases;
mod junit;

use std::time::Duration;

use diagnostics::diagnostic::{Diagnostic, Severity};
use diagnostics::source::Source;

pub use annotations::{CodeQuality, github};
pub use cases::{any_number, exploration, interrupted, judged, unread, verification, watched};
pub use junit::Junit;

/// One question with its answer.
#[derive(Clone, Debug)]
pub struct Case {
    /// The subject: a trace file, a model, a litmus test, a target.
    pub subject: String,
    /// The question: `trace 2: tso`.
    pub name: String,
    /// The time that the answer took.
    pub time: Duration,
    /// The complaint, unless the case passed.
    pub complaint: Option<Complaint>,
}

/// The complaint of a case that did not pass.
#[derive(Clone, Debug)]
pub struct Complaint {
    /// What kind of thing it is.
    pub kind: Kind,
    /// In a sentence.
    pub message: String,
    /// The whole explanation.
    pub text: String,
    /// Where it shows.
    pub places: Vec<Place>,
}

/// What can be wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A violation: a failure.
    Violation,
    /// Nothing is known: an error.
    Undecided,
    /// The question makes no sense: an error.
    Malformed,
}

/// A place in a file, with a message if it is more specific than the complaint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The file, as the user named it.
    pub file: String,
    /// The line, from 1.
    pub line: u64,
    /// The column, from 1, if it is known.
    pub column: Option<u64>,
    /// The message about this place.
    pub message: Option<String>,
}

impl Case {
    /// No violation.
    pub fn passed(subject: impl Into<String>, name: impl Into<String>) -> Case {
        let (subject, name) = (subject.into(), name.into());
        Case { subject, name, time: Duration::ZERO, complaint: None }
    }

    /// Something is wrong.
    pub fn failed(
        subject: impl Into<String>,
        name: impl Into<String>,
        complaint: Complaint,
    ) -> Case {
        Case { complaint: Some(complaint), ..Case::passed(subject, name) }
    }

    /// The case with this time.
    pub fn took(self, time: Duration) -> Case {
        Case { time, ..self }
    }
}

impl Complaint {
    /// A violation.
    pub fn violation(message: impl Into<String>, text: String) -> Complaint {
        Complaint { kind: Kind::Violation, message: message.into(), text, places: Vec::new() }
    }

    /// Nothing is known.
    pub fn undecided(message: impl Into<String>, text: String) -> Complaint {
        Complaint { kind: Kind::Undecided, ..Complaint::violation(message, text) }
    }

    /// The question makes no sense.
    pub fn malformed(message: impl Into<String>, text: String) -> Complaint {
        Complaint { kind: Kind::Malformed, ..Complaint::violation(message, text) }
    }

    /// The complaint at a line of a file; without a place if there is no line.
    pub fn at(mut self, file: &str, line: Option<u64>, column: Option<u64>) -> Complaint {
        if let Some(line) = line.filter(|&line| line > 0) {
            let column = column.filter(|&column| column > 0);
            self.places.push(Place { file: file.to_owned(), line, column, message: None });
        }
        self
    }

    /// The complaint at the places of these errors, each with its message.
    pub fn at_each(mut self, source: &Source, problems: &[Diagnostic]) -> Complaint {
        for problem in problems.iter().filter(|problem| problem.severity == Severity::Error) {
            let (line, column) = source.position(problem.span.start);
            self.places.push(Place {
                file: source.name.clone(),
                line: line as u64,
                column: Some(column as u64),
                message: Some(problem.message.clone()),
            });
        }
        self
    }
}

impl Kind {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Violation => "violation",
            Kind::Undecided => "undecided",
            Kind::Malformed => "malformed",
        }
    }
}
