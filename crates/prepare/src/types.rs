//! Which types processors occur in.

use std::ops::Deref;

use murphi::ast::{Domain, Program, Quantifier, TypeExpression, TypeKind, Variables};
use murphi::transform::{Declarations, named_type, quantifier};

/// The declared types of a program, one of which is the type of processors.
#[derive(Debug, Clone, Default)]
pub struct ProcessorTypes {
    declarations: Declarations,
    processor: String,
}

/// The name of the type of counters after they became sets. Either all elements of such a set are
/// defined, or none is.
pub(crate) fn counted_type(processor: &str) -> String {
    format!("{processor}Set")
}

impl Deref for ProcessorTypes {
    type Target = Declarations;

    fn deref(&self) -> &Declarations {
        &self.declarations
    }
}

impl ProcessorTypes {
    /// The types of a program with this type of processors.
    pub fn new(program: &Program, processor: &str) -> Self {
        let declarations = Declarations::new(program, processor);
        ProcessorTypes { declarations, processor: processor.to_owned() }
    }

    /// Whether a type is that of counters (sets after preparation).
    pub fn is_counted(&self, ty: &TypeExpression) -> bool {
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

    /// Whether a type is the type of processors.
    pub fn is_processor(&self, ty: &TypeExpression) -> bool {
        matches!(&self.resolve(ty).kind, TypeKind::Named(name) if name.text == self.processor)
    }

    /// Whether processors occur in values of a type, not only as indices.
    pub fn stores_processors(&self, ty: &TypeExpression) -> bool {
        self.is_processor(ty)
            || self.parts_of(ty).into_iter().any(|part| self.stores_processors(part))
    }

    /// Whether a type mentions processors at all.
    pub fn mentions_processors(&self, ty: &TypeExpression) -> bool {
        let is_index = matches!(&self.resolve(ty).kind,
            TypeKind::Array { index, .. } if self.is_processor(index));
        is_index
            || self.is_processor(ty)
            || self.parts_of(ty).into_iter().any(|part| self.mentions_processors(part))
    }

    /// The types of the components of a type.
    fn parts_of<'a>(&'a self, ty: &'a TypeExpression) -> Vec<&'a TypeExpression> {
        match &self.resolve(ty).kind {
            TypeKind::Record(fields) => fields.iter().map(|field| &field.ty).collect(),
            TypeKind::Array { element, .. } | TypeKind::Multiset { element, .. } => vec![element],
            TypeKind::Union(members) => members.iter().collect(),
            _ => Vec::new(),
        }
    }

    /// The number of places of the state that store processors; a place in an array counts twice.
    pub(crate) fn stored_places(&self) -> usize {
        self.state_types().map(|ty| self.places_in(ty)).sum()
    }

    fn places_in(&self, ty: &TypeExpression) -> usize {
        if self.is_processor(ty) {
            return 1;
        }
        match &self.resolve(ty).kind {
            TypeKind::Record(fields) => {
                let places = |field: &Variables| field.names.len() * self.places_in(&field.ty);
                fields.iter().map(places).sum()
            }
            TypeKind::Array { element, .. } => 2 * self.places_in(element),
            _ => 0,
        }
    }

    /// Whether a quantifier ranges over processors.
    pub fn over_processors(&self, quantifier: &Quantifier) -> bool {
        matches!(&quantifier.domain, Domain::Type(ty) if self.is_processor(ty))
    }

    /// A quantifier over processors.
    pub fn processor_quantifier(&self, variable: &str) -> Quantifier {
        quantifier(variable, named_type(&self.processor, Default::default()))
    }
}
