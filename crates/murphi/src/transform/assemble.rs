//! A program put together from declarations and flat rules: the inverse of `flatten.rs`.
//!
//! ```text
//! before: start states, rules and properties, each with its own quantifiers
//! after:  var …; startstate … end; ruleset p: P do rule "store" … end; end; invariant …
//! ```

use crate::ast::{
    Declaration, DeclarationKind, Item, Program, Property, Quantifier, Rule, RuleKind,
};
use crate::source::Span;

use super::build::text;
use super::flatten::{FlatRule, Flattened};

/// What a program declares: constants, types and variables.
pub fn declarations(program: &Program) -> impl Iterator<Item = &Declaration> {
    program.items.iter().filter_map(|item| match item {
        Item::Declaration(declaration) => Some(declaration),
        _ => None,
    })
}

/// A program from its parts: constants, types, variables, then start states, rules and properties.
pub fn assembled(declarations: &[Declaration], flattened: &Flattened) -> Program {
    let mut items: Vec<Item> = Vec::new();
    let mut declarations = declarations.to_vec();
    declarations
        .sort_by_key(|declaration| matches!(declaration.kind, DeclarationKind::Variable(_)));
    items.extend(declarations.into_iter().map(Item::Declaration));
    for start in &flattened.start_states {
        let (name, body) = start.item.clone();
        let kind = RuleKind::StartState { name, body };
        items.push(in_ruleset(&start.quantifiers, kind, start.span));
    }
    items.extend(flattened.rules.iter().map(rule_item));
    for property in &flattened.properties {
        items.push(property_item(&property.quantifiers, property.item.clone(), property.span));
    }
    Program { items }
}

/// A rule as an item of a program.
pub fn rule_item(rule: &FlatRule) -> Item {
    let kind = RuleKind::Simple {
        priority: None,
        name: Some(text(&rule.name, rule.span)),
        guard: rule.guard.clone(),
        body: rule.body.clone(),
    };
    in_ruleset(&rule.quantifiers, kind, rule.span)
}

/// A property, under quantifiers, as an item of a program.
pub fn property_item(quantifiers: &[Quantifier], property: Property, span: Span) -> Item {
    in_ruleset(quantifiers, RuleKind::Property(property), span)
}

/// A rule of any kind under quantifiers, as an item of a program.
pub fn in_ruleset(quantifiers: &[Quantifier], kind: RuleKind, span: Span) -> Item {
    let rule = Rule { kind, span };
    if quantifiers.is_empty() {
        return Item::Rule(rule);
    }
    let kind = RuleKind::Ruleset { quantifiers: quantifiers.to_vec(), rules: vec![rule] };
    Item::Rule(Rule { kind, span })
}
