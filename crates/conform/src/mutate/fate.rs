//! What became of a mutant, by its answers to the three questions.

use super::answer::Answer;

/// The answers to the three questions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Findings {
    /// The invariants, assertions and run-time errors of the program as it is.
    pub claims: Answer,
    /// Deadlocks of the program without its claims.
    pub deadlock: Answer,
    /// The memory model, without the claims.
    pub memory_model: Answer,
    /// How many states the program has, if all were visited.
    pub states: Option<u64>,
    /// The rules that the protocol runs and this program does not, if all states were visited.
    pub silenced: Vec<String>,
    /// Whether totals and firings are those of the protocol.
    pub same_totals: bool,
}

/// What became of a mutant. If several questions notice it, the first of these counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// It is no program: this is wrong with it.
    Refused(String),
    /// An invariant of the protocol is broken.
    KilledByInvariant(String),
    /// An assertion fails, or there is another run-time error.
    KilledByError(String),
    /// It has a deadlock.
    KilledByDeadlock,
    /// It breaks this claim of the observer of the memory model. If the text says that the trace is
    /// allowed ([`Answer::Alarm`]), whether another trace violates the memory model is open.
    KilledByMemoryModel(String),
    /// It passes everything, and its totals are those of the protocol.
    LooksEquivalent,
    /// It passes everything, and behaves differently.
    Survived,
    /// Nothing wrong was found, but not every question was answered.
    Undecided(String),
}

impl Fate {
    /// What these findings mean.
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

    /// Its name in JSON.
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

    /// What it comes from, if it is not plain from its name.
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

    /// Whether some question noticed the mutant.
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
