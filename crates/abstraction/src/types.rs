//! The types of a protocol as the abstraction sees them: which are processors, and which parts of the
//! state belong to processors, refer to them, or are sets of them.

use std::ops::Deref;

use murphi::ast::TypeExpression;
use murphi::transform::{Path, Step, overlap, path};
use prepare::{Prepared, ProcessorTypes};

use crate::{Options, View};

/// The declared names of a program, and the view of the abstraction.
#[derive(Debug, Clone)]
pub(crate) struct Types {
    declared: ProcessorTypes,
    /// Whether arrays of booleans indexed by processors are treated as sets.
    sets: bool,
    /// The processors that are kept.
    view: View,
    /// The paths of the part of the state that is kept, if not all of it is.
    only: Option<Vec<Path>>,
}

impl Deref for Types {
    type Target = ProcessorTypes;

    fn deref(&self) -> &ProcessorTypes {
        &self.declared
    }
}

impl Types {
    /// The types of a program, with an empty view.
    pub(crate) fn new(prepared: &Prepared) -> Self {
        Types { declared: prepared.types(), sets: true, view: View::default(), only: None }
    }

    /// The types of a program, with the view of the options.
    pub(crate) fn in_view(prepared: &Prepared, options: &Options) -> Self {
        let only = options.only.as_ref().map(|only| only.iter().map(path).collect());
        Types { declared: prepared.types(), sets: options.sets, view: options.view, only }
    }

    /// Whether only a part of the state is kept.
    pub(crate) fn leaves_something_out(&self) -> bool {
        self.only.is_some()
    }

    /// Whether nothing at this path of the state is kept.
    pub(crate) fn leaves_out(&self, path: &[Step]) -> bool {
        let Some(only) = &self.only else { return false };
        matches!(path.first(), Some(Step::Name(root)) if self.is_global(root))
            && !only.iter().any(|kept| overlap(kept, path))
    }

    /// The processors that are kept.
    pub(crate) fn view(&self) -> View {
        self.view
    }

    /// Whether one more processor is known by name.
    pub(crate) fn has_named(&self) -> bool {
        self.view.named
    }

    pub(crate) fn concrete(&self) -> u64 {
        self.view.concrete
    }

    /// Whether a type is a set of processors, so that the abstraction keeps whether an abstract one
    /// is in it.
    pub(crate) fn is_set(&self, ty: &TypeExpression) -> bool {
        let is_set = |(index, element)| self.is_processor(&index) && self.is_boolean(&element);
        self.sets && self.array(ty).is_some_and(is_set)
    }
}
