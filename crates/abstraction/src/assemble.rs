//! Assembles the abstract program. Concrete processors become a scalarset, and references to processors a
//! union of that scalarset with `Other`, and with `Named` if one more processor is known by name.

use murphi::ast::{
    Declaration, DeclarationKind, ExpressionKind, Item, Program, Property, RuleKind,
    TypeExpression, TypeKind,
};
use murphi::source::Span;
use murphi::transform::{
    expression, identifier, in_ruleset, named_type, names, property_item, text,
};

use crate::abstraction::{Built, NAMED, OTHER};
use crate::types::Types;
use crate::{Prepared, View};

/// The parts of an abstract program, besides its declarations.
#[derive(Debug, Clone, Default)]
pub(crate) struct Parts {
    pub(crate) starts: Vec<Built>,
    pub(crate) rules: Vec<Built>,
    pub(crate) properties: Vec<Property>,
}

/// Assembles the abstract program.
pub(crate) fn assemble(prepared: &Prepared, types: &Types, parts: &Parts) -> Program {
    let retyping = Retyping::new(types, &prepared.processor.name);
    let mut items = declarations(prepared, &retyping);
    for start in &parts.starts {
        let body = retyped_body(&retyping, start);
        let kind = RuleKind::StartState { name: Some(text(&start.name, start.span)), body };
        items.push(in_ruleset(&start.quantifiers, kind, start.span));
    }
    for rule in &parts.rules {
        let kind = RuleKind::Simple {
            priority: None,
            name: Some(text(&rule.name, rule.span)),
            guard: rule.guard.clone(),
            body: retyped_body(&retyping, rule),
        };
        items.push(in_ruleset(&rule.quantifiers, kind, rule.span));
    }
    for property in &parts.properties {
        items.push(property_item(&[], property.clone(), Span::default()));
    }
    Program { items }
}

fn retyped_body(retyping: &Retyping<'_>, rule: &Built) -> murphi::ast::Body {
    let mut body = rule.body.clone();
    for declaration in &mut body.declarations {
        if let DeclarationKind::Variable(variables) = &mut declaration.kind {
            retyping.retype(&mut variables.ty);
        }
    }
    body
}

fn declarations(prepared: &Prepared, retyping: &Retyping<'_>) -> Vec<Item> {
    let View { concrete, named } = retyping.types.view();
    let span = prepared.processor.span;
    let mut constants = Vec::new();
    let mut others = Vec::new();
    let mut sized: Vec<String> = prepared.processor.size.iter().cloned().collect();
    for item in &prepared.program.items {
        let Item::Declaration(declaration) = item else { continue };
        let mut declaration = declaration.clone();
        match &mut declaration.kind {
            DeclarationKind::Constant { names: declared, value } => {
                // The number of processors has no meaning in the abstraction.
                if names(value).iter().any(|name| sized.contains(name)) {
                    sized.extend(declared.iter().map(|name| name.text.clone()));
                }
                declared.retain(|name| !sized.contains(&name.text));
                if !declared.is_empty() {
                    constants.push(declaration);
                }
                continue;
            }
            DeclarationKind::Type { names, definition }
                if names.iter().any(|name| name.text == prepared.processor.name) =>
            {
                let many = ExpressionKind::Integer(i64::try_from(concrete).unwrap_or(i64::MAX));
                definition.kind = TypeKind::Scalarset(Box::new(expression(many, span)));
                let or = |name: &str, ty: &str, more: &str| {
                    let kind = TypeKind::Enumeration(vec![identifier(more, span)]);
                    let more = TypeExpression { kind, span };
                    let kind = TypeKind::Union(vec![named_type(ty, span), more]);
                    let definition = TypeExpression { kind, span };
                    let names = vec![identifier(name, span)];
                    Declaration { kind: DeclarationKind::Type { names, definition }, span }
                };
                others.push(declaration);
                others.push(or(&retyping.indexing, &prepared.processor.name, OTHER));
                if named {
                    others.push(or(&retyping.stored, &retyping.indexing, NAMED));
                }
                continue;
            }
            // A second name for the type of processors: quantifiers and indices use it.
            DeclarationKind::Type { definition, .. } if retyping.types.is_processor(definition) => {
            }
            DeclarationKind::Type { definition, .. } => retyping.retype(definition),
            DeclarationKind::Variable(variables) => retyping.retype(&mut variables.ty),
        }
        others.push(declaration);
    }
    constants.into_iter().chain(others).map(Item::Declaration).collect()
}

/// Translates types to those of the abstraction.
struct Retyping<'t> {
    types: &'t Types,
    /// The type of stored references: a processor, `Other`, or `Named` if there is one.
    stored: String,
    /// The index type of sets: a processor, or `Other` for all that are not concrete.
    indexing: String,
}

impl<'t> Retyping<'t> {
    fn new(types: &'t Types, processor: &str) -> Self {
        let indexing = format!("{processor}Or{OTHER}");
        let stored =
            if types.has_named() { format!("{indexing}Or{NAMED}") } else { indexing.clone() };
        Retyping { types, stored, indexing }
    }

    fn retype(&self, ty: &mut TypeExpression) {
        if self.types.is_processor(ty) {
            *ty = named_type(&self.stored, ty.span);
            return;
        }
        // A set has one more element, which says whether any abstract processor is in it.
        let is_set = self.types.is_set(ty);
        match &mut ty.kind {
            TypeKind::Record(fields) => {
                fields.iter_mut().for_each(|field| self.retype(&mut field.ty));
            }
            TypeKind::Array { .. } if is_set => {
                if let TypeKind::Array { index, .. } = &mut ty.kind {
                    **index = named_type(&self.indexing, index.span);
                }
            }
            TypeKind::Array { element, .. } | TypeKind::Multiset { element, .. } => {
                self.retype(element);
            }
            _ => {}
        }
    }
}
