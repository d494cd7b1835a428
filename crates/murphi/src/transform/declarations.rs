//! What is of which type, as far as transformations of the syntax tree ask: from the declarations of
//! a checked program.

use std::collections::{HashMap, HashSet};

use crate::ast::{
    BinaryOperator, Declaration, DeclarationKind, Domain, Expression, ExpressionKind, Item, Name,
    Program, Quantifier, TypeExpression, TypeKind, UnaryOperator,
};

use super::build::named_type;

/// The declared names of a program.
#[derive(Debug, Clone, Default)]
pub struct Declarations {
    named: HashMap<String, TypeExpression>,
    globals: HashMap<String, TypeExpression>,
    /// Members of enumerations, by the name of their type if it has one.
    members: HashMap<String, TypeExpression>,
    constants: HashMap<String, Expression>,
    /// A type that is known by its name alone.
    opaque: String,
}

/// The types of what is bound in a rule: parameters, loop variables, local variables.
pub type Scope = HashMap<String, TypeExpression>;

impl Declarations {
    /// What a program declares. The type `opaque` is not looked into: it stays a name.
    pub fn new(program: &Program, opaque: &str) -> Self {
        let mut declarations =
            Declarations { opaque: opaque.to_owned(), ..Declarations::default() };
        for item in &program.items {
            if let Item::Declaration(declaration) = item {
                declarations.declare(declaration);
            }
        }
        declarations
    }

    /// The same, but that nothing is known of the values of some constants.
    pub fn forgetting(&self, constants: &HashSet<String>) -> Declarations {
        let mut less = self.clone();
        less.constants.retain(|name, _| !constants.contains(name));
        less
    }

    fn declare(&mut self, declaration: &Declaration) {
        match &declaration.kind {
            DeclarationKind::Constant { names, value } => {
                let each = names.iter().map(|name| (name.text.clone(), value.clone()));
                self.constants.extend(each);
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

    /// What a type is once names are followed; the opaque type stays a name.
    pub fn resolve<'a>(&'a self, ty: &'a TypeExpression) -> &'a TypeExpression {
        let mut ty = ty;
        while let TypeKind::Named(name) = &ty.kind {
            match self.named.get(&name.text) {
                Some(next) if name.text != self.opaque => ty = next,
                _ => break,
            }
        }
        ty
    }

    /// Whether a type is the one that is known by its name alone.
    pub fn is_opaque(&self, ty: &TypeExpression) -> bool {
        matches!(&self.resolve(ty).kind, TypeKind::Named(name) if name.text == self.opaque)
    }

    /// What a type is declared to be.
    pub fn definition(&self, name: &str) -> Option<&TypeExpression> {
        self.named.get(name)
    }

    /// The types of the state variables.
    pub fn state_types(&self) -> impl Iterator<Item = &TypeExpression> {
        self.globals.values()
    }

    /// The state variables and their types.
    pub fn state(&self) -> impl Iterator<Item = (&String, &TypeExpression)> {
        self.globals.iter()
    }

    /// What a constant is declared to be.
    pub fn constant(&self, name: &str) -> Option<&Expression> {
        self.constants.get(name)
    }

    /// Whether a name is a state variable.
    pub fn is_global(&self, name: &str) -> bool {
        self.globals.contains_key(name)
    }

    /// Whether a name is a member of an enumeration.
    pub fn is_member(&self, name: &str) -> bool {
        self.members.contains_key(name)
    }

    /// Whether a type is that of conditions.
    pub fn is_boolean(&self, ty: &TypeExpression) -> bool {
        matches!(&self.resolve(ty).kind, TypeKind::Named(name) if name.text == "boolean")
    }

    /// Whether a type is simple: one value rather than several.
    pub fn is_simple(&self, ty: &TypeExpression) -> bool {
        !matches!(
            self.resolve(ty).kind,
            TypeKind::Record(_) | TypeKind::Array { .. } | TypeKind::Multiset { .. }
        )
    }

    /// The type of a place, a parameter or the member of an enumeration.
    pub fn of(&self, scope: &Scope, place: &Expression) -> Option<TypeExpression> {
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
            ExpressionKind::Unary(UnaryOperator::Not, _)
            | ExpressionKind::Quantified { .. }
            | ExpressionKind::IsUndefined(_)
            | ExpressionKind::IsMember(..) => Some(named_type("boolean", place.span)),
            _ => None,
        }
    }

    /// Whether an expression is evidently a number: `&` and `|` are operators on numbers as well.
    pub fn is_number(&self, scope: &Scope, whole: &Expression) -> bool {
        use BinaryOperator as B;
        match &whole.kind {
            ExpressionKind::Integer(_) | ExpressionKind::MultisetCount(_) => true,
            ExpressionKind::Unary(operator, _) => *operator != UnaryOperator::Not,
            ExpressionKind::Binary(B::And | B::Or, left, right) => {
                self.is_number(scope, left) || self.is_number(scope, right)
            }
            ExpressionKind::Binary(operator, ..) => matches!(
                operator,
                B::Add
                    | B::Subtract
                    | B::Multiply
                    | B::Divide
                    | B::Remainder
                    | B::Xor
                    | B::ShiftLeft
                    | B::ShiftRight
            ),
            ExpressionKind::Name(name) if self.constants.contains_key(name) => {
                !scope.contains_key(name) && self.is_number(scope, &self.constants[name])
            }
            _ => self
                .of(scope, whole)
                .is_some_and(|ty| matches!(self.resolve(&ty).kind, TypeKind::Range(..))),
        }
    }

    /// The fields of a record type.
    pub fn fields(&self, ty: &TypeExpression) -> Option<Vec<(String, TypeExpression)>> {
        let TypeKind::Record(fields) = &self.resolve(ty).kind else { return None };
        let each = fields
            .iter()
            .flat_map(|field| field.names.iter().map(|name| (name.text.clone(), field.ty.clone())));
        Some(each.collect())
    }

    /// What the index of an array must be, and its elements.
    pub fn array(&self, ty: &TypeExpression) -> Option<(TypeExpression, TypeExpression)> {
        match &self.resolve(ty).kind {
            TypeKind::Array { index, element } => Some(((**index).clone(), (**element).clone())),
            _ => None,
        }
    }

    /// Every name that is declared.
    pub fn declared(&self) -> impl Iterator<Item = &String> {
        let types = self.named.keys().chain(self.globals.keys());
        types.chain(self.members.keys()).chain(self.constants.keys())
    }
}

/// Adds local variables to a scope.
pub fn bind_variables(scope: &mut Scope, declarations: &[Declaration]) {
    for (name, ty) in local_variables(declarations) {
        scope.insert(name.text.clone(), ty.clone());
    }
}

/// Local variables with their types.
pub fn local_variables(
    declarations: &[Declaration],
) -> impl Iterator<Item = (&Name, &TypeExpression)> {
    let variables = declarations.iter().filter_map(|declaration| match &declaration.kind {
        DeclarationKind::Variable(variables) => Some(variables),
        _ => None,
    });
    variables.flat_map(|variables| variables.names.iter().map(|name| (name, &variables.ty)))
}

/// The name of the type that a variable goes through.
pub fn type_name(quantifier: &Quantifier) -> Option<&str> {
    match &quantifier.domain {
        Domain::Type(TypeExpression { kind: TypeKind::Named(name), .. }) => Some(&name.text),
        _ => None,
    }
}

/// Adds what quantifiers bind to a scope. Ranges have a type only if they are types.
pub fn bind(scope: &mut Scope, quantifiers: &[Quantifier]) {
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

#[cfg(test)]
mod tests;
