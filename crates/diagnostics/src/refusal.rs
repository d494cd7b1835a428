//! Why a text is not taken: what is wrong with it, place by place, and a sentence that sums it up.

use std::fmt;

use crate::diagnostic::{Diagnostic, Severity};
use crate::source::Source;

/// Why a text is not taken.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// The text.
    pub source: Source,
    /// What is wrong with it, place by place; perhaps nothing but the sentence can be said.
    pub problems: Vec<Diagnostic>,
    /// All of it in a sentence.
    pub sentence: String,
}

impl Refusal {
    /// These problems, summed up as `2 errors in protocol.m`.
    pub fn of(source: &Source, problems: Vec<Diagnostic>) -> Refusal {
        let errors = problems.iter().filter(|one| one.severity == Severity::Error).count();
        let s = if errors == 1 { "" } else { "s" };
        let sentence = format!("{errors} error{s} in {}", source.name);
        Refusal { source: source.clone(), problems, sentence }
    }

    /// A sentence about the whole text: `protocol.m: a state is too large`.
    pub fn whole(source: &Source, sentence: impl fmt::Display) -> Refusal {
        let sentence = format!("{}: {sentence}", source.name);
        Refusal { source: source.clone(), problems: Vec::new(), sentence }
    }

    /// The problems with their places underlined, each line ended by a newline.
    pub fn render(&self, colour: bool) -> String {
        self.problems.iter().map(|one| one.render(&self.source, colour)).collect()
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

impl std::error::Error for Refusal {}
