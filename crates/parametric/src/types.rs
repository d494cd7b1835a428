//! What is of which type, as far as abstraction asks: from the declarations of a checked program.

use std::collections::{HashMap, HashSet};

use murphi::ast::{
    Declaration, DeclarationKind, Domain, Expression, ExpressionKind, Item, Program, Quantifier,
    TypeExpression, TypeKind,
};

use crate::View;
use crate::syntax::{named_type, quantifier};

/// The declared names of a program.
#[derive(Debug, Clone, Default)]
pub(crate) struct Types {
    named: HashMap<String, TypeExpression>,
    globals: HashMap<String, TypeExpression>,
    /// Members of enumerations, by the name of their type if it has one.
    members: HashMap<String, TypeExpression>,
    constants: HashSet<String>,
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

/// The types of what is bound in a rule: parameters, loop variables, local variables.
pub(crate) type Scope = HashMap<String, TypeExpression>;

impl Types {
    pub(crate) fn new(program: &Program, processor: &str) -> Self {
        let mut types = Types { processor: processor.to_owned(), ..Types::default() };
        for item in &program.items {
            if let Item::Declaration(declaration) = item {
                types.declare(declaration);
            }
        }
        types
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
            match self.named.get(&name.text) {
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

    fn declare(&mut self, declaration: &Declaration) {
        match &declaration.kind {
            DeclarationKind::Constant { names, .. } => {
                self.constants.extend(names.iter().map(|name| name.text.clone()));
            }
            DeclarationKind::Type { names, definition } => {
                for name in names {
                    self.named.insert(name.text.clone(), definition.clone());
                    let known = named_type(&name.text, name.span);
                    self.enumerate(definition, &known);
                }
            }
            DeclarationKind::Variable(variables) => {
                self.enumerate(&variables.ty, &variables.ty);
                for name in &variables.names {
                    self.globals.insert(name.text.clone(), variables.ty.clone());
                }
            }
        }
    }

    /// Notes the members of enumerations in a type.
    fn enumerate(&mut self, ty: &TypeExpression, known_as: &TypeExpression) {
        match &ty.kind {
            TypeKind::Enumeration(members) => {
                for member in members {
                    self.members.entry(member.text.clone()).or_insert_with(|| known_as.clone());
                }
            }
            TypeKind::Record(fields) => {
                fields.iter().for_each(|field| self.enumerate(&field.ty, &field.ty));
            }
            TypeKind::Array { index, element } => {
                self.enumerate(index, index);
                self.enumerate(element, element);
            }
            TypeKind::Multiset { element, .. } => self.enumerate(element, element),
            TypeKind::Union(members) => {
                members.iter().for_each(|member| self.enumerate(member, member));
            }
            _ => {}
        }
    }

    /// What a type is once names are followed; the type of processors stays a name.
    pub(crate) fn resolve<'a>(&'a self, ty: &'a TypeExpression) -> &'a TypeExpression {
        let mut ty = ty;
        while let TypeKind::Named(name) = &ty.kind {
            match self.named.get(&name.text) {
                Some(next) if name.text != self.processor => ty = next,
                _ => break,
            }
        }
        ty
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
        self.globals.values().map(|ty| self.places_in(ty)).sum()
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

    /// Whether a name is a state variable.
    pub(crate) fn is_global(&self, name: &str) -> bool {
        self.globals.contains_key(name)
    }

    /// Whether a name is a member of an enumeration.
    pub(crate) fn is_member(&self, name: &str) -> bool {
        self.members.contains_key(name)
    }

    /// Whether a type is simple: one value rather than several.
    pub(crate) fn is_simple(&self, ty: &TypeExpression) -> bool {
        !matches!(
            self.resolve(ty).kind,
            TypeKind::Record(_) | TypeKind::Array { .. } | TypeKind::Multiset { .. }
        )
    }

    /// The type of a place, a parameter or the member of an enumeration.
    pub(crate) fn of(&self, scope: &Scope, place: &Expression) -> Option<TypeExpression> {
        match &place.kind {
            ExpressionKind::Name(name) => {
                let declared = scope.get(name).or_else(|| self.globals.get(name));
                declared.or_else(|| self.members.get(name)).cloned().or_else(|| {
                    matches!(name.as_str(), "true" | "false")
                        .then(|| named_type("boolean", place.span))
                })
            }
            ExpressionKind::Field(record, field) => {
                let record = self.of(scope, record)?;
                let TypeKind::Record(fields) = &self.resolve(&record).kind else { return None };
                let found = fields
                    .iter()
                    .find(|fields| fields.names.iter().any(|name| name.text == field.text));
                found.map(|fields| fields.ty.clone())
            }
            ExpressionKind::Index(array, _) => {
                let array = self.of(scope, array)?;
                match &self.resolve(&array).kind {
                    TypeKind::Array { element, .. } | TypeKind::Multiset { element, .. } => {
                        Some((**element).clone())
                    }
                    _ => None,
                }
            }
            ExpressionKind::Conditional(_, left, right) => {
                self.of(scope, left).or_else(|| self.of(scope, right))
            }
            ExpressionKind::Unary(murphi::ast::UnaryOperator::Not, _)
            | ExpressionKind::Quantified { .. }
            | ExpressionKind::IsUndefined(_)
            | ExpressionKind::IsMember(..) => Some(named_type("boolean", place.span)),
            _ => None,
        }
    }

    /// The fields of a record type.
    pub(crate) fn fields(&self, ty: &TypeExpression) -> Option<Vec<(String, TypeExpression)>> {
        let TypeKind::Record(fields) = &self.resolve(ty).kind else { return None };
        let each = fields
            .iter()
            .flat_map(|field| field.names.iter().map(|name| (name.text.clone(), field.ty.clone())));
        Some(each.collect())
    }

    /// What the index of an array must be, and its elements.
    pub(crate) fn array(&self, ty: &TypeExpression) -> Option<(TypeExpression, TypeExpression)> {
        match &self.resolve(ty).kind {
            TypeKind::Array { index, element } => Some(((**index).clone(), (**element).clone())),
            _ => None,
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

    /// Every name that is declared.
    pub(crate) fn declared(&self) -> impl Iterator<Item = &String> {
        let types = self.named.keys().chain(self.globals.keys());
        types.chain(self.members.keys()).chain(&self.constants)
    }
}

/// Adds what quantifiers bind to a scope. Ranges have a type only if they are types.
pub(crate) fn bind(scope: &mut Scope, quantifiers: &[Quantifier]) {
    for quantifier in quantifiers {
        match &quantifier.domain {
            Domain::Type(ty) => {
                scope.insert(quantifier.name.text.clone(), ty.clone());
            }
            Domain::Range { from, to, .. } => {
                let kind = TypeKind::Range(Box::new(from.clone()), Box::new(to.clone()));
                let ty = TypeExpression { kind, span: quantifier.span };
                scope.insert(quantifier.name.text.clone(), ty);
            }
        }
    }
}
