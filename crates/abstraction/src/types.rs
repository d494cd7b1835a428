//! What is kept of processors and of the state.

use std::ops::Deref;

use murphi::ast::{Program, TypeExpression};
use murphi::transform::{Path, Step, overlap};
use prepare::ProcessorTypes;

use crate::View;

/// The declared names of a program, and what of it is in view.
#[derive(Debug, Clone, Default)]
pub(crate) struct Types {
    declared: ProcessorTypes,
    /// Whether arrays of booleans by processor are not treated as sets.
    setless: bool,
    /// What is kept of processors.
    view: View,
    /// Paths of what is kept of the state, if not all is.
    only: Option<Vec<Path>>,
}

impl Deref for Types {
    type Target = ProcessorTypes;

    fn deref(&self) -> &ProcessorTypes {
        &self.declared
    }
}

impl Types {
    pub(crate) fn new(program: &Program, processor: &str) -> Self {
        Types { declared: ProcessorTypes::new(program, processor), ..Types::default() }
    }

    /// Without sets: of an array of booleans nothing is kept for what is not concrete.
    pub(crate) fn without_sets(self) -> Self {
        Types { setless: true, ..self }
    }

    /// With only some paths of the state.
    pub(crate) fn with_only(self, only: Vec<Path>) -> Self {
        Types { only: Some(only), ..self }
    }

    /// Whether only a part of the state is kept.
    pub(crate) fn leaves_something_out(&self) -> bool {
        self.only.is_some()
    }

    /// Whether nothing at a path of the state is kept.
    pub(crate) fn leaves_out(&self, path: &[Step]) -> bool {
        let Some(only) = &self.only else { return false };
        matches!(path.first(), Some(Step::Name(root)) if self.is_global(root))
            && !only.iter().any(|kept| overlap(kept, path))
    }

    /// With these processors in view.
    pub(crate) fn with_view(self, view: View) -> Self {
        Types { view, ..self }
    }

    /// What is kept of processors.
    pub(crate) fn view(&self) -> View {
        self.view
    }

    /// Whether one processor more is known by its name.
    pub(crate) fn has_named(&self) -> bool {
        self.view.named
    }

    pub(crate) fn concrete(&self) -> u64 {
        self.view.concrete
    }

    /// Whether a type is a set of processors, of which it is kept whether any other is in it.
    pub(crate) fn is_set(&self, ty: &TypeExpression) -> bool {
        let is_set = |(index, element)| self.is_processor(&index) && self.is_boolean(&element);
        !self.setless && self.array(ty).is_some_and(is_set)
    }
}
