//! A few processors as they are, and one that stands for all others.

use murphi::diagnostic::Diagnostic;
use murphi::source::Span;

use crate::{Abstraction, Lemma, Prepared};

/// How to abstract.
#[derive(Debug, Clone)]
pub struct Options {
    /// How many processors stay as they are.
    pub concrete: u64,
    /// Invariants that are not to be claimed, by name.
    pub leave_out: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Options { concrete: 2, leave_out: Vec::new() }
    }
}

/// Abstracts a program, or says why that would not be sound.
pub fn abstraction(
    prepared: &Prepared,
    options: &Options,
    lemmas: &[Lemma],
) -> Result<Abstraction, Vec<Diagnostic>> {
    let _ = (prepared, options, lemmas);
    Err(vec![Diagnostic::error(Span::default(), "abstraction is under construction")])
}
