//! The answer to one question about a program, and how a search determines it.

use std::fmt;

use explore::{Exploration, Reason, Violation};
use murphi::interpret::Interpreter;

use crate::run::failure;

/// The answer to one question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The check passes.
    Passes,
    /// The invariant with this name is violated.
    Invariant(String),
    /// An assertion or another run-time check fails, with this message.
    Error(String),
    /// There is a deadlock.
    Deadlock,
    /// The memory model is violated: this claim of the observer fails.
    Violation(String),
    /// This claim of the observer fails, but the memory model allows the trace: the mutant no
    /// longer satisfies the claim by which the protocol was verified.
    Alarm(String),
    /// A limit was reached, or another reason prevented an answer.
    Unknown(String),
    /// The protocol itself does not pass this check.
    NotAsked,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Passes => f.write_str("passes"),
            Answer::Invariant(name) => write!(f, "violates `{name}`"),
            Answer::Error(why) | Answer::Unknown(why) => f.write_str(why),
            Answer::Deadlock => f.write_str("deadlocks"),
            Answer::Violation(claim) => write!(f, "violates the memory model: `{claim}`"),
            Answer::Alarm(claim) => write!(f, "false alarm: `{claim}`"),
            Answer::NotAsked => f.write_str("not checked"),
        }
    }
}

impl Answer {
    /// Whether this answer kills a mutant.
    pub(super) fn kills(&self) -> bool {
        !matches!(self, Answer::Passes | Answer::Unknown(_) | Answer::NotAsked)
    }
}

/// The answer that a search of a program without observers gives.
pub(super) fn answer(interpreter: &Interpreter, exploration: &Exploration) -> Answer {
    match &exploration.verdict {
        explore::Verdict::Holds(()) if exploration.states == 0 => {
            Answer::Unknown("no start state".to_owned())
        }
        explore::Verdict::Holds(()) => Answer::Passes,
        explore::Verdict::Undecided(reason) => Answer::Unknown(because(reason)),
        explore::Verdict::Broken(run) => match run.violation {
            Violation::Deadlock => Answer::Deadlock,
            Violation::Broken { property } => {
                Answer::Invariant(interpreter.model().properties[property as usize].name.clone())
            }
            _ => {
                let error = failure(interpreter, exploration);
                Answer::Error(error.map_or("a run-time error".to_owned(), |error| error.message))
            }
        },
    }
}

/// Why a search was not completed.
pub(super) fn because(reason: &Reason) -> String {
    match reason {
        Reason::Time => "the time limit was reached".to_owned(),
        Reason::Memory => "the memory limit was reached".to_owned(),
        Reason::Depth => "the depth bound was reached".to_owned(),
        Reason::Interrupted => "interrupted".to_owned(),
        Reason::Simulated => "a random walk does not visit every state".to_owned(),
        Reason::Disk(message) => message.clone(),
        Reason::Lost(loss) => format!("process {} was lost", loss.process),
    }
}
