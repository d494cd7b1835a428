//! From a program to the form that is abstracted: rules without functions, counters as sets, flags
//! as errors, no name that hides another. Each step keeps what the program does, errors included.
//!
//! Transformations T1 to T6 of docs/abstraction.md, in this order.

use murphi::ast::{
    Declaration, DeclarationKind, Item, Program, Property, Quantifier, Rule, RuleKind,
};
use murphi::diagnostic::Diagnostic;
use murphi::source::Span;
use murphi::transform::{
    FlatRule, Flattened, Inliner, Scope, bind, flatten_all, names_apart, text, without_idle_puts,
};

use crate::Prepared;
use crate::counters::counters_to_sets;
use crate::flags::flags_to_errors;
use crate::implications::comparisons_to_implications;
use crate::processor::find_processor;
use crate::types::Types;

/// Brings a program into the form that is abstracted. `processor` is the name of the type of
/// processors, if it is known. The program must be one that `murphi::check` accepts.
pub fn prepare(program: &Program, processor: Option<&str>) -> Result<Prepared, Vec<Diagnostic>> {
    let one = |problem: Diagnostic| vec![problem];
    let processor = find_processor(program, processor).map_err(one)?;
    let types = Types::new(program, &processor.name);
    let mut flattened = flatten_all(program)?;
    names_apart(&mut flattened, &types);
    inline(program, &types, &mut flattened).map_err(one)?;
    without_idle_puts(&types, &mut flattened);
    flags_to_errors(&mut flattened, &types);
    let mut declarations: Vec<Declaration> = program
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Declaration(declaration) => Some(declaration.clone()),
            _ => None,
        })
        .collect();
    counters_to_sets(&mut declarations, &mut flattened, &types, &processor).map_err(one)?;
    comparisons_to_implications(&mut flattened);
    let program = assembled(&declarations, &flattened);
    Ok(Prepared { program, processor, rules: flattened.rules, notes: Vec::new() })
}

fn inline(program: &Program, types: &Types, flattened: &mut Flattened) -> Result<(), Diagnostic> {
    let inliner = Inliner::new(program, types)?;
    let around = |quantifiers: &[Quantifier]| {
        let mut scope = Scope::new();
        bind(&mut scope, quantifiers);
        scope
    };
    for rule in &mut flattened.rules {
        let scope = around(&rule.quantifiers);
        rule.body = inliner.body(&scope, &rule.body)?;
        if let Some(guard) = &mut rule.guard {
            *guard = inliner.condition(&scope, guard)?;
        }
    }
    for start in &mut flattened.start_states {
        start.item.1 = inliner.body(&around(&start.quantifiers), &start.item.1)?;
    }
    for property in &mut flattened.properties {
        let scope = around(&property.quantifiers);
        property.item.condition = inliner.condition(&scope, &property.item.condition)?;
    }
    Ok(())
}

/// A program from its parts: constants, types, variables, then start states, rules and properties.
pub(crate) fn assembled(declarations: &[Declaration], flattened: &Flattened) -> Program {
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

pub(crate) fn rule_item(rule: &FlatRule) -> Item {
    let kind = RuleKind::Simple {
        priority: None,
        name: Some(text(&rule.name, rule.span)),
        guard: rule.guard.clone(),
        body: rule.body.clone(),
    };
    in_ruleset(&rule.quantifiers, kind, rule.span)
}

pub(crate) fn property_item(quantifiers: &[Quantifier], property: Property, span: Span) -> Item {
    in_ruleset(quantifiers, RuleKind::Property(property), span)
}

pub(crate) fn in_ruleset(quantifiers: &[Quantifier], kind: RuleKind, span: Span) -> Item {
    let rule = Rule { kind, span };
    if quantifiers.is_empty() {
        return Item::Rule(rule);
    }
    let kind = RuleKind::Ruleset { quantifiers: quantifiers.to_vec(), rules: vec![rule] };
    Item::Rule(Rule { kind, span })
}
