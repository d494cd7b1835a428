//! The classification of a mutant by the answers of the three checks.

use super::answer::Answer;

/// The answers of the three checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Findings {
    /// The invariants, assertions and run-time errors of the program.
    pub claims: Answer,
    /// Deadlocks of the program without its properties.
    pub deadlock: Answer,
    /// The memory model, without the properties.
    pub memory_model: Answer,
    /// The number of states, if all were visited.
    pub states: Option<u64>,
    /// The rules that fire in the protocol and not in this program, if all states were visited.
    pub silenced: Vec<String>,
    /// Whether the totals and firings equal those of the protocol.
    pub same_totals: bool,
}

/// The classification of a mutant. If several checks detect it, the first in this order counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// It is not a valid program, for this reason.
    Refused(String),
    /// It violates this invariant of the protocol.
    KilledByInvariant(String),
    /// An assertion fails, or there is another run-time error.
    KilledByError(String),
    /// It has a deadlock.
    KilledByDeadlock,
    /// It violates this claim of the observer of the memory model. If the text says that the trace
    /// is allowed ([`Answer::Alarm`]), it is open whether another trace violates the memory model.
    KilledByMemoryModel(String),
    /// It passes every check, and its totals equal those of the protocol.
    LooksEquivalent,
    /// It passes every check, and behaves differently.
    Survived,
    /// No check detects it, but not every check was completed.
    Undecided(String),
}

impl Fate {
    /// The classification that these answers give.
    pub fn of(findings: &Findings) -> Fate {
        let answers = [&findings.claims, &findings.deadlock, &findings.memory_model];
        let mut unknown = None;
        for answer in answers {
            match answer {
                Answer::Invariant(name) => return Fate::KilledByInvariant(name.clone()),
                Answer::Error(message) => return Fate::KilledByError(message.clone()),
                Answer::Deadlock => return Fate::KilledByDeadlock,
                Answer::Violation(claim) => return Fate::KilledByMemoryModel(claim.clone()),
                Answer::Alarm(claim) => {
                    return Fate::KilledByMemoryModel(format!(
                        "{claim} (false alarm: the memory model allows the trace)"
                    ));
                }
                Answer::Unknown(why) => unknown = unknown.or(Some(why)),
                Answer::Passes | Answer::NotAsked => {}
            }
        }
        match unknown {
            Some(why) => Fate::Undecided(why.clone()),
            None if findings.same_totals => Fate::LooksEquivalent,
            None => Fate::Survived,
        }
    }

    /// The name in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Fate::Refused(_) => "refused",
            Fate::KilledByInvariant(_) => "killed-by-invariant",
            Fate::KilledByError(_) => "killed-by-error",
            Fate::KilledByDeadlock => "killed-by-deadlock",
            Fate::KilledByMemoryModel(_) => "killed-by-memory-model",
            Fate::LooksEquivalent => "looks-equivalent",
            Fate::Survived => "survived",
            Fate::Undecided(_) => "undecided",
        }
    }

    /// The details, if the name does not say everything.
    pub fn why(&self) -> Option<&str> {
        match self {
            Fate::Refused(why)
            | Fate::KilledByInvariant(why)
            | Fate::KilledByError(why)
            | Fate::KilledByMemoryModel(why)
            | Fate::Undecided(why) => Some(why),
            Fate::KilledByDeadlock | Fate::LooksEquivalent | Fate::Survived => None,
        }
    }

    /// Whether some check detects the mutant.
    pub fn is_killed(&self) -> bool {
        matches!(
            self,
            Fate::KilledByInvariant(_)
                | Fate::KilledByError(_)
                | Fate::KilledByDeadlock
                | Fate::KilledByMemoryModel(_)
        )
    }
}
