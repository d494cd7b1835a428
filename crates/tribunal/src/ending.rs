//! How a run ends: the exit codes of docs/interface.md, and the failures that prevent an answer.

use std::fmt;
use std::io;
use std::process::ExitCode;

use cat::CatError;
use evidence::Verdict;
use history::{BuildErrorKind, InputError, InputErrorKind};
use murphi::Refusal;

use crate::interrupt::Interrupt;
use crate::kind::Kind;

/// How a run ended, in increasing order of precedence: [`Ending::and`] keeps the later one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Ending {
    /// No violation: consistent, verified, or accepted.
    NoViolation,
    /// A limit was reached, and no violation was found.
    Undecided,
    /// Bad usage or bad input.
    BadRequest,
    /// A violation, a counterexample or a rejected certificate.
    Violation,
    /// Ctrl-C.
    Interrupted,
}

impl Ending {
    /// The exit code.
    pub(crate) fn code(self) -> u8 {
        match self {
            Ending::NoViolation => 0,
            Ending::Violation => 1,
            Ending::BadRequest => 2,
            Ending::Undecided => 3,
            Ending::Interrupted => 130,
        }
    }

    /// The ending with this exit code.
    pub(crate) fn of_code(code: u8) -> Option<Ending> {
        use Ending::{BadRequest, Interrupted, NoViolation, Undecided, Violation};
        let all = [NoViolation, Undecided, BadRequest, Violation, Interrupted];
        all.into_iter().find(|ending| ending.code() == code)
    }

    /// The ending of a run with this verdict.
    pub(crate) fn of<H, B, U>(verdict: &Verdict<H, B, U>) -> Ending {
        match verdict {
            Verdict::Holds(_) => Ending::NoViolation,
            Verdict::Broken(_) => Ending::Violation,
            Verdict::Undecided(_) => Ending::Undecided,
        }
    }

    /// The same, or `Interrupted` if Ctrl-C may be the reason for an undecided verdict.
    pub(crate) fn unless_interrupted(self, interrupt: &Interrupt) -> Ending {
        match self {
            Ending::Undecided if interrupt.happened() => Ending::Interrupted,
            ending => ending,
        }
    }

    /// The ending with the higher precedence.
    pub(crate) fn and(self, other: Ending) -> Ending {
        self.max(other)
    }
}

impl From<Ending> for ExitCode {
    fn from(ending: Ending) -> Self {
        ExitCode::from(ending.code())
    }
}

/// What prevents an answer.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A trace that cannot be read.
    Input(InputError),
    /// A test program that cannot be read.
    Program(InputError),
    /// A model with errors, and whether to print them in colours.
    Refused(Box<Refusal>, bool),
    /// A file of a memory model that cannot be read.
    Model(Box<CatError>),
    /// A request that cannot be met; the sentence says why, and what to do instead.
    Usage(String),
    /// A limit was reached; the sentence says which.
    Budget(String),
    /// A file that cannot be read or written.
    File {
        /// Its name.
        name: String,
        /// The action that failed: `read`, `write`.
        action: &'static str,
        /// The error.
        error: io::Error,
    },
    /// The reader of standard output has closed it. No message is printed.
    BrokenPipe,
}

impl Failure {
    /// The failure behind an error of standard output.
    pub(crate) fn of_stdout(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::BrokenPipe,
            _ => Failure::File { name: "standard output".to_owned(), action: "write", error },
        }
    }

    /// The ending of a run with this failure: a limit that was reached while reading leaves the
    /// question undecided; everything else is bad input.
    pub(crate) fn ending(&self) -> Ending {
        match self {
            Failure::Input(error) | Failure::Program(error) => of_input(error),
            Failure::Budget(_) => Ending::Undecided,
            Failure::Usage(_) | Failure::Refused(..) | Failure::Model(_) | Failure::File { .. } => {
                Ending::BadRequest
            }
            Failure::BrokenPipe => Ending::NoViolation,
        }
    }

    /// The message for standard error.
    pub(crate) fn render(&self, colour: bool) -> String {
        match self {
            Failure::Input(error) => unreadable(error, Kind::Trace, colour),
            Failure::Program(error) => unreadable(error, Kind::Program, colour),
            Failure::Refused(refusal, colour) => {
                let hint = Kind::Model.hint(&refusal.source.name);
                format!("{}tribunal: {refusal}\n{hint}", refusal.render(*colour))
            }
            Failure::Model(error) => error.render(colour),
            Failure::BrokenPipe => String::new(),
            Failure::Usage(_) | Failure::Budget(_) | Failure::File { .. } => {
                format!("tribunal: {self}\n")
            }
        }
    }
}

/// The message about a file that cannot be read as this kind.
pub(crate) fn unreadable(error: &InputError, kind: Kind, colour: bool) -> String {
    let hint = if error.line > 0 { kind.hint(&error.file) } else { String::new() };
    error.render(colour) + &hint
}

/// The ending of a run with this input.
pub(crate) fn of_input(error: &InputError) -> Ending {
    match error.kind() {
        InputErrorKind::Senseless(BuildErrorKind::MemoryBudget { .. }) => Ending::Undecided,
        _ => Ending::BadRequest,
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Input(error) | Failure::Program(error) => write!(f, "{error}"),
            Failure::Refused(refusal, _) => write!(f, "{refusal}"),
            Failure::Model(error) => write!(f, "{error}"),
            Failure::Usage(sentence) | Failure::Budget(sentence) => f.write_str(sentence),
            Failure::File { name, action, error } => write!(f, "cannot {action} {name}: {error}"),
            Failure::BrokenPipe => f.write_str("broken pipe"),
        }
    }
}

impl std::error::Error for Failure {}

impl From<InputError> for Failure {
    fn from(error: InputError) -> Self {
        Failure::Input(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_input_outweighs_undecided_and_a_violation_outweighs_both() {
        assert_eq!(Ending::Undecided.and(Ending::Violation).code(), 1);
        assert_eq!(Ending::NoViolation.and(Ending::Undecided).code(), 3);
        assert_eq!(Ending::BadRequest.and(Ending::Undecided).code(), 2);
        assert_eq!(Ending::BadRequest.and(Ending::Violation).code(), 1);
    }
}
