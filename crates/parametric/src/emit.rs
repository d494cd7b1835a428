//! The abstract program, put together: for this toolkit with a scalarset and a union, for others
//! with ranges.

use std::fmt::Write as _;

use murphi::ast::{
    Declaration, DeclarationKind, ExpressionKind, Item, Program, Property, RuleKind,
    TypeExpression, TypeKind,
};
use murphi::print::{print, print_expression};
use murphi::source::Span;

use crate::abstraction::{Built, OTHER, is_set_type};
use crate::prepare::{in_ruleset, property_item};
use crate::syntax::{expression, identifier, named_type, names, text};
use crate::types::Types;
use crate::{Abstraction, Prepared};

/// What an abstract program consists of, besides declarations.
#[derive(Debug, Clone, Default)]
pub(crate) struct Parts {
    pub(crate) starts: Vec<Built>,
    pub(crate) rules: Vec<Built>,
    pub(crate) properties: Vec<Property>,
}

/// The program with a union, and the one with ranges.
pub(crate) fn assemble(
    prepared: &Prepared,
    types: &Types,
    concrete: u64,
    parts: &Parts,
) -> (Program, Program) {
    let stored = format!("{}Or{OTHER}", prepared.processor.name);
    let build = |portable: bool| {
        let mut items = declarations(prepared, types, concrete, &stored, portable);
        for start in &parts.starts {
            let body = retyped_body(types, start, &stored);
            let kind = RuleKind::StartState { name: Some(text(&start.name, start.span)), body };
            items.push(in_ruleset(&start.quantifiers, kind, start.span));
        }
        for rule in &parts.rules {
            let kind = RuleKind::Simple {
                priority: None,
                name: Some(text(&rule.name, rule.span)),
                guard: rule.guard.clone(),
                body: retyped_body(types, rule, &stored),
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

fn retyped_body(types: &Types, rule: &Built, stored: &str) -> murphi::ast::Body {
    let mut body = rule.body.clone();
    for declaration in &mut body.declarations {
        if let DeclarationKind::Variable(variables) = &mut declaration.kind {
            retype(types, &mut variables.ty, stored);
        }
    }
    body
}

fn declarations(
    prepared: &Prepared,
    types: &Types,
    concrete: u64,
    stored: &str,
    portable: bool,
) -> Vec<Item> {
    let span = prepared.processor.span;
    let number = |value: u64| {
        let value = i64::try_from(value).unwrap_or(i64::MAX);
        Box::new(expression(ExpressionKind::Integer(value), span))
    };
    let mut constants = Vec::new();
    let mut others = Vec::new();
    let mut sized: Vec<String> = prepared.processor.size.iter().cloned().collect();
    if portable {
        let value = *number(concrete + 1);
        let names = vec![identifier(OTHER, span)];
        let kind = DeclarationKind::Constant { names, value };
        constants.push(Declaration { kind, span });
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
                let kind = match portable {
                    true => TypeKind::Range(number(1), number(concrete + 1)),
                    false => TypeKind::Union(vec![
                        named_type(&prepared.processor.name, span),
                        TypeExpression {
                            kind: TypeKind::Enumeration(vec![identifier(OTHER, span)]),
                            span,
                        },
                    ]),
                };
                others.push(declaration.clone());
                let definition = TypeExpression { kind, span };
                let names = vec![identifier(stored, span)];
                let kind = DeclarationKind::Type { names, definition };
                others.push(Declaration { kind, span });
                continue;
            }
            DeclarationKind::Type { definition, .. } => retype(types, definition, stored),
            DeclarationKind::Variable(variables) => retype(types, &mut variables.ty, stored),
        }
        others.push(declaration);
    }
    constants.into_iter().chain(others).map(Item::Declaration).collect()
}

/// The type of what is stored: a processor may be `Other`.
fn retype(types: &Types, ty: &mut TypeExpression, stored: &str) {
    if types.is_processor(ty) {
        *ty = named_type(stored, ty.span);
        return;
    }
    // One more element of a set says whether any other processor is in it.
    let is_set = is_set_type(types, ty);
    match &mut ty.kind {
        TypeKind::Record(fields) => {
            fields.iter_mut().for_each(|field| retype(types, &mut field.ty, stored));
        }
        TypeKind::Array { .. } if is_set => {
            if let TypeKind::Array { index, .. } = &mut ty.kind {
                **index = named_type(stored, index.span);
            }
        }
        TypeKind::Array { element, .. } | TypeKind::Multiset { element, .. } => {
            retype(types, element, stored);
        }
        _ => {}
    }
}

/// The abstract program as a text that any Murphi tool reads, with comments on what is abstract.
pub fn emit(abstraction: &Abstraction, prepared: &Prepared, origin: &str) -> String {
    let processor = &prepared.processor.name;
    let mut text = format!(
        "-- {} for any number of processors: those of type {processor} stay as they are, and\n\
         -- {OTHER} stands for all others. What belongs to {OTHER} is not kept; a parameter of a\n\
         -- rule stands for what is read of it. If everything here holds, it holds of the model\n\
         -- with any number of processors.\n\n",
        single_line(origin)
    );
    for line in print(&abstraction.portable).lines() {
        let trimmed = line.trim_start();
        if let Some(title) = trimmed.strip_prefix("rule ")
            && let Some(rule) = abstraction.rules.iter().find(|rule| title == quoted(&rule.name))
        {
            let indent = &line[..line.len() - trimmed.len()];
            for choice in &rule.choices {
                let names = choice.parameters();
                if !names.is_empty() {
                    let stands_for = single_line(&print_expression(&choice.stands_for));
                    let _ = writeln!(text, "{indent}-- {}: {stands_for}", names.join(", "));
                }
            }
        }
        let _ = writeln!(text, "{line}");
    }
    text
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
}

fn single_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}
