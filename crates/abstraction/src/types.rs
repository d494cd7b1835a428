//! Which types processors occur in, and what is kept of them and of the state.

use std::ops::Deref;

use murphi::ast::{Domain, Program, Quantifier, TypeExpression, TypeKind};
use murphi::transform::{Declarations, named_type, quantifier};

use crate::View;

/// The declared names of a program, and what of it is in view.
#[derive(Debug, Clone, Default)]
pub(crate) struct Types {
    declarations: Declarations,
    processor: String,
    /// Whether arrays of booleans by processor are not treated as sets.
    setless: bool,
    /// What is kept of processors.
    view: View,
    /// Paths of what is kept of the state, if not all is.
    only: Option<Vec<Vec<String>>>,
}

/// What the type of counters is called once they are sets. Either all elements of such a set are
/// defined, or none is.
pub(crate) fn counted_type(processor: &str) -> String {
    format!("{processor}Set")
}

impl Deref for Types {
    type Target = Declarations;

    fn deref(&self) -> &Declarations {
        &self.declarations
    }
}

impl Types {
    pub(crate) fn new(program: &Program, processor: &str) -> Self {
        let declarations = Declarations::new(program, processor);
        Types { declarations, processor: processor.to_owned(), ..Types::default() }
    }

    /// Without sets: of an array of booleans nothing is kept for what is not concrete.
    pub(crate) fn without_sets(self) -> Self {
        Types { setless: true, ..self }
    }

    /// With only some paths of the state.
    pub(crate) fn with_only(self, only: Vec<Vec<String>>) -> Self {
        Types { only: Some(only), ..self }
    }

    /// Whether only a part of the state is kept.
    pub(crate) fn leaves_something_out(&self) -> bool {
        self.only.is_some()
    }

    /// Whether nothing at a path of the state is kept.
    pub(crate) fn leaves_out(&self, path: &[String]) -> bool {
        let Some(only) = &self.only else { return false };
        let overlaps = |kept: &Vec<String>| kept.iter().zip(path).all(|(kept, path)| kept == path);
        path.first().is_some_and(|root| self.is_global(root)) && !only.iter().any(overlaps)
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

    /// Whether a type is that of counters.
    pub(crate) fn is_counted(&self, ty: &TypeExpression) -> bool {
        let counted = counted_type(&self.processor);
        let mut ty = ty;
        while let TypeKind::Named(name) = &ty.kind {
            match self.definition(&name.text) {
                _ if name.text == counted => return true,
                Some(next) if name.text != self.processor => ty = next,
                _ => return false,
            }
        }
        false
    }

    pub(crate) fn has_sets(&self) -> bool {
        !self.setless
    }

    pub(crate) fn is_processor(&self, ty: &TypeExpression) -> bool {
        matches!(&self.resolve(ty).kind, TypeKind::Named(name) if name.text == self.processor)
    }

    /// Whether processors occur in values of a type, not only as indices.
    pub(crate) fn stores_processors(&self, ty: &TypeExpression) -> bool {
        if self.is_processor(ty) {
            return true;
        }
        match &self.resolve(ty).kind {
            TypeKind::Record(fields) => {
                fields.iter().any(|field| self.stores_processors(&field.ty))
            }
            TypeKind::Array { element, .. } | TypeKind::Multiset { element, .. } => {
                self.stores_processors(element)
            }
            TypeKind::Union(members) => members.iter().any(|member| self.stores_processors(member)),
            _ => false,
        }
    }

    /// In how many places of the state processors are stored; those of an array count twice.
    pub(crate) fn stored_places(&self) -> usize {
        self.state_types().map(|ty| self.places_in(ty)).sum()
    }

    fn places_in(&self, ty: &TypeExpression) -> usize {
        if self.is_processor(ty) {
            return 1;
        }
        match &self.resolve(ty).kind {
            TypeKind::Record(fields) => {
                let places =
                    |field: &murphi::ast::Variables| field.names.len() * self.places_in(&field.ty);
                fields.iter().map(places).sum()
            }
            TypeKind::Array { element, .. } => 2 * self.places_in(element),
            _ => 0,
        }
    }

    /// Whether a type mentions processors at all.
    pub(crate) fn mentions_processors(&self, ty: &TypeExpression) -> bool {
        if self.is_processor(ty) {
            return true;
        }
        match &self.resolve(ty).kind {
            TypeKind::Record(fields) => {
                fields.iter().any(|field| self.mentions_processors(&field.ty))
            }
            TypeKind::Array { index, element } => {
                self.is_processor(index) || self.mentions_processors(element)
            }
            TypeKind::Multiset { element, .. } => self.mentions_processors(element),
            TypeKind::Union(members) => {
                members.iter().any(|member| self.mentions_processors(member))
            }
            _ => false,
        }
    }

    /// Whether a quantifier goes through the processors.
    pub(crate) fn over_processors(&self, quantifier: &Quantifier) -> bool {
        matches!(&quantifier.domain, Domain::Type(ty) if self.is_processor(ty))
    }

    /// A quantifier over processors.
    pub(crate) fn processor_quantifier(&self, variable: &str) -> Quantifier {
        quantifier(variable, named_type(&self.processor, Default::default()))
    }
}
