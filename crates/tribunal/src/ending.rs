//! How a run ends: the exit codes of docs/interface.md, and what can keep a command from its answer.

use std::fmt;
use std::io;
use std::process::ExitCode;

use cat::CatError;
use evidence::Verdict;
use history::{BuildErrorKind, InputError, InputErrorKind};
use murphi::Refusal;

use crate::interrupt::Interrupt;

/// How a run ended. Declared from mild to grave: of several, [`Ending::and`] keeps the gravest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Ending {
    /// No violation: consistent, verified, or accepted.
    NoViolation,
    /// A budget ran out, and nothing was found broken.
    Undecided,
    /// The question could not be asked.
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

    /// How a run ends whose answer is this verdict, whatever its evidence.
    pub(crate) fn of<H, B, U>(verdict: &Verdict<H, B, U>) -> Ending {
        match verdict {
            Verdict::Holds(_) => Ending::NoViolation,
            Verdict::Broken(_) => Ending::Violation,
            Verdict::Undecided(_) => Ending::Undecided,
        }
    }

    /// The same if Ctrl-C may be why there is no answer.
    pub(crate) fn unless_interrupted(self, interrupt: &Interrupt) -> Ending {
        match self {
            Ending::Undecided if interrupt.happened() => Ending::Interrupted,
            ending => ending,
        }
    }

    /// The graver of the two.
    pub(crate) fn and(self, other: Ending) -> Ending {
        self.max(other)
    }
}

impl From<Ending> for ExitCode {
    fn from(ending: Ending) -> Self {
        ExitCode::from(ending.code())
    }
}

/// What keeps a command from its answer.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A trace that cannot be read.
    Input(InputError),
    /// A model that is not taken, and whether to say so in colours.
    Refused(Box<Refusal>, bool),
    /// A file of a memory model that cannot be read.
    Model(Box<CatError>),
    /// A request that makes no sense; the sentence says why and what to do instead.
    Usage(String),
    /// Something that does not fit a budget; the sentence says what and which.
    Budget(String),
    /// A file that cannot be read or written.
    File {
        /// Its name.
        name: String,
        /// What was tried: `read`, `write`.
        action: &'static str,
        /// What came of it.
        error: io::Error,
    },
    /// Whoever read standard output has gone away. Not worth a word.
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

    /// How a run ends that meets this failure: a budget that ran out while reading leaves the
    /// question undecided, anything else keeps it from being asked.
    pub(crate) fn ending(&self) -> Ending {
        match self {
            Failure::Input(error) => of_input(error),
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
            Failure::Input(error) => error.render(colour),
            Failure::Refused(refusal, colour) => {
                format!("{}tribunal: {refusal}\n", refusal.render(*colour))
            }
            Failure::Model(error) => error.render(colour),
            Failure::BrokenPipe => String::new(),
            Failure::Usage(_) | Failure::Budget(_) | Failure::File { .. } => {
                format!("tribunal: {self}\n")
            }
        }
    }
}

/// How a run ends that meets this input.
pub(crate) fn of_input(error: &InputError) -> Ending {
    match error.kind() {
        InputErrorKind::Senseless(BuildErrorKind::MemoryBudget { .. }) => Ending::Undecided,
        _ => Ending::BadRequest,
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Input(error) => write!(f, "{error}"),
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
