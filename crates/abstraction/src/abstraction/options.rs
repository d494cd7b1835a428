//! The options of an abstraction: its view, the claims that are included, and what is known already.

use murphi::ast::Expression;
use murphi::check::Dialect;

use crate::{Lemma, View};

/// The options of an abstraction.
#[derive(Debug, Clone)]
pub struct Options {
    /// The processors that are kept.
    pub view: View,
    /// The names of invariants that are not claimed.
    pub leave_out: Vec<String>,
    /// Whether sets (arrays of booleans indexed by processors) keep whether an abstract processor
    /// is in them.
    pub sets: bool,
    /// The places that are kept, with any indices; `None` keeps the whole state.
    pub only: Option<Vec<Expression>>,
    /// Facts that are known to hold. They strengthen rules like lemmas, and are not claimed.
    pub proved: Vec<Lemma>,
    /// How run-time errors are treated.
    pub errors: RunTimeErrors,
    /// The dialect; it decides whether copying an undefined value is an error.
    pub dialect: Dialect,
}

/// How run-time errors are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RunTimeErrors {
    /// Their absence is claimed.
    #[default]
    Claimed,
    /// A step that fails is disabled: the claims are about runs without errors.
    Ignored,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            view: View { concrete: 2, named: false },
            leave_out: Vec::new(),
            sets: true,
            only: None,
            proved: Vec::new(),
            errors: RunTimeErrors::Claimed,
            dialect: Dialect::default(),
        }
    }
}
