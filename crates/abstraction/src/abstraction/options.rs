//! The options of an abstraction: its view, the claims that are included, and what is known already.

use murphi::ast::Expression;
use murphi::check::Dialect;

use crate::{Lemma, View};

/// How to abstract.
#[derive(Debug, Clone)]
pub struct Options {
    /// What is kept of processors.
    pub view: View,
    /// Invariants that are not to be claimed, by name.
    pub leave_out: Vec<String>,
    /// Whether it is kept of a set (an array of booleans) if any of the others is in it.
    pub sets: bool,
    /// What is kept of the state, if not all: these places, whatever their indices.
    pub only: Option<Vec<Expression>>,
    /// Facts that are known to hold. They strengthen rules like lemmas, and are not claimed.
    pub proved: Vec<Lemma>,
    /// What becomes of run-time errors.
    pub errors: RunTimeErrors,
    /// Whether copying an undefined value is one of them.
    pub dialect: Dialect,
}

/// What becomes of run-time errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RunTimeErrors {
    /// That there are none is claimed.
    #[default]
    Claimed,
    /// A step that fails is taken not to happen: what is claimed is about runs without errors.
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
