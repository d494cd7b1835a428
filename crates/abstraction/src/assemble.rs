//! The abstract program, put together: for this toolkit with a scalarset and a union, for others
//! with ranges.

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

/// What an abstract program consists of, besides declarations.
#[derive(Debug, Clone, Default)]
pub(crate) struct Parts {
    pub(crate) starts: Vec<Built>,
    pub(crate) rules: Vec<Built>,
    pub(crate) properties: Vec<Property>,
}

/// The program with a union, and the one with ranges.
pub(crate) fn assemble(prepared: &Prepared, types: &Types, parts: &Parts) -> (Program, Program) {
    let retyping = Retyping::new(types, &prepared.processor.name);
    let build = |portable: bool| {
        let mut items = declarations(prepared, &retyping, portable);
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
    };
    (build(false), build(true))
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

fn declarations(prepared: &Prepared, retyping: &Retyping<'_>, portable: bool) -> Vec<Item> {
    let View { concrete, named } = retyping.types.view();
    let span = prepared.processor.span;
    let number = |value: u64| {
        let value = i64::try_from(value).unwrap_or(i64::MAX);
        Box::new(expression(ExpressionKind::Integer(value), span))
    };
    let mut constants = Vec::new();
    let mut others = Vec::new();
    let mut sized: Vec<String> = prepared.processor.size.iter().cloned().collect();
    if portable {
        let outside = [OTHER].into_iter().chain(named.then_some(NAMED));
        for (called, value) in outside.zip(concrete + 1..) {
            let (names, value) = (vec![identifier(called, span)], *number(value));
            constants.push(Declaration { kind: DeclarationKind::Constant { names, value }, span });
        }
    }
    for item in &prepared.program.items {
        let Item::Declaration(declaration) = item else { continue };
        let mut declaration = declaration.clone();
        match &mut declaration.kind {
            DeclarationKind::Constant { names: declared, value } => {
                // How many processors there are has no meaning any more.
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
                definition.kind = match portable {
                    true => TypeKind::Range(number(1), number(concrete)),
                    false => TypeKind::Scalarset(number(concrete)),
                };
                let declared = |called: &str, kind: TypeKind| {
                    let names = vec![identifier(called, span)];
                    let definition = TypeExpression { kind, span };
                    Declaration { kind: DeclarationKind::Type { names, definition }, span }
                };
                let only = |called: &str| {
                    let kind = TypeKind::Enumeration(vec![identifier(called, span)]);
                    TypeExpression { kind, span }
                };
                let or = |ty: &str, more: TypeExpression, last: u64| match portable {
                    true => TypeKind::Range(number(1), number(last)),
                    false => TypeKind::Union(vec![named_type(ty, span), more]),
                };
                let indexing = or(&prepared.processor.name, only(OTHER), concrete + 1);
                others.push(declaration.clone());
                others.push(declared(&retyping.indexing, indexing));
                if named {
                    let stored = or(&retyping.indexing, only(NAMED), concrete + 2);
                    others.push(declared(&retyping.stored, stored));
                }
                continue;
            }
            // Another name for processors is what quantifiers and indices speak of.
            DeclarationKind::Type { definition, .. } if retyping.types.is_processor(definition) => {
            }
            DeclarationKind::Type { definition, .. } => retyping.retype(definition),
            DeclarationKind::Variable(variables) => retyping.retype(&mut variables.ty),
        }
        others.push(declaration);
    }
    constants.into_iter().chain(others).map(Item::Declaration).collect()
}

/// Types of the abstraction.
struct Retyping<'t> {
    types: &'t Types,
    /// What is stored: a processor, `Other`, or the one with a name if there is one.
    stored: String,
    /// What sets are indexed by: a processor, or `Other` for all that are not concrete.
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
        // One more element of a set says whether any other processor is in it.
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
