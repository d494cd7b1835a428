//! A program without its own properties.
//!
//! Whether the memory model or the deadlock check detects a mutant must not depend on whether an
//! assertion stops the mutant first. So these checks are made on the program without its
//! invariants, assertions and `error` statements: the behaviour of a machine built from it.
//! Assumptions stay, and so do `error` statements of functions, which stand in the place of a
//! result.

use murphi::ast::{
    Body, FunctionDefinition, Item, Program, PropertyKind, Rule, RuleKind, Statement, StatementKind,
};

/// The program without its properties.
pub fn without_claims(program: &Program) -> Program {
    let mut program = program.clone();
    for item in &mut program.items {
        if let Item::Function(function) = item
            && let FunctionDefinition::Body(body) = &mut function.definition
        {
            block(&mut body.statements, function.result.is_none());
        }
    }
    let kept = program.items.into_iter().filter_map(|item| match item {
        Item::Rule(rule) => self::rule(rule).map(Item::Rule),
        other => Some(other),
    });
    program.items = kept.collect();
    program
}

fn rule(rule: Rule) -> Option<Rule> {
    let span = rule.span;
    let kept = |rules: Vec<Rule>| {
        let rules: Vec<Rule> = rules.into_iter().filter_map(self::rule).collect();
        (!rules.is_empty()).then_some(rules)
    };
    let without = |mut body: Body| {
        block(&mut body.statements, true);
        body
    };
    let kind = match rule.kind {
        RuleKind::Property(property) if property.kind != PropertyKind::Assumption => return None,
        RuleKind::Property(property) => RuleKind::Property(property),
        RuleKind::StartState { name, body } => RuleKind::StartState { name, body: without(body) },
        RuleKind::Simple { priority, name, guard, body } => {
            RuleKind::Simple { priority, name, guard, body: without(body) }
        }
        RuleKind::Ruleset { quantifiers, rules } => {
            RuleKind::Ruleset { quantifiers, rules: kept(rules)? }
        }
        RuleKind::Alias { aliases, rules } => RuleKind::Alias { aliases, rules: kept(rules)? },
        RuleKind::Choose { name, multiset, rules } => {
            RuleKind::Choose { name, multiset, rules: kept(rules)? }
        }
    };
    Some(Rule { kind, span })
}

fn block(statements: &mut Vec<Statement>, errors: bool) {
    statements.retain(|statement| match &statement.kind {
        StatementKind::Property(property) => property.kind == PropertyKind::Assumption,
        StatementKind::Error(_) => !errors,
        _ => true,
    });
    for statement in statements {
        match &mut statement.kind {
            StatementKind::If { branches, otherwise } => {
                let bodies = branches.iter_mut().map(|branch| &mut branch.body);
                bodies.chain(otherwise).for_each(|body| block(body, errors));
            }
            StatementKind::Switch { cases, otherwise, .. } => {
                let bodies = cases.iter_mut().map(|case| &mut case.body);
                bodies.chain(otherwise).for_each(|body| block(body, errors));
            }
            StatementKind::For { body, .. }
            | StatementKind::While { body, .. }
            | StatementKind::Alias { body, .. } => block(body, errors),
            _ => {}
        }
    }
}
