//! Lemmas as text: what a user gives, and what a certificate keeps.
//!
//! ```text
//! invariant "lemma for store" forall n: Node; v: Value; m: Node do cache[m].state = Invalid end;
//! ```
//!
//! Whatever is read here, crate `abstraction` claims it before it is used, so that a lemma that is
//! misread is a lemma that fails or does not help, and never one that is believed.

use std::collections::HashSet;

use abstraction::{FlatRule, Lemma, Prepared};
use murphi::ast::{BinaryOperator, Expression, ExpressionKind, Item, Quantifier, Rule, RuleKind};
use murphi::diagnostic::Diagnostic;
use murphi::parse::parse;
use murphi::source::{Source, Span};
use murphi::transform::{
    ExpressionId, Interner, Substitution, and, conjuncts, implies, name, rule_title, type_name,
};

const HELP: &str = "write `invariant \"lemma for RULE\" forall n: Node do … end;`";

/// Reads lemmas: invariants `"lemma for RULE"`, each with the quantifiers of the rule first, by
/// name, then those of its witnesses. `a != b -> …` around what is claimed may be left out for
/// witnesses, which are different from all others of their type anyway.
pub fn read_lemmas(source: &Source, prepared: &Prepared) -> Result<Vec<Lemma>, Vec<Diagnostic>> {
    let (program, problems) = parse(source);
    let Some(program) = program else { return Err(problems) };
    let mut lemmas = Vec::new();
    let mut problems = Vec::new();
    let titles: Vec<String> =
        prepared.rules.iter().map(|rule| rule_title(&prepared.rules, rule)).collect();
    for item in &program.items {
        match read_lemma(item, prepared, &titles) {
            Ok(lemma) => lemmas.push(lemma),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(lemmas) } else { Err(problems) }
}

/// The rule that an invariant is a lemma for.
fn rule_of<'a>(
    title: Option<&str>,
    span: Span,
    prepared: &'a Prepared,
    titles: &[String],
) -> Result<&'a FlatRule, Diagnostic> {
    let Some(title) = title.and_then(|title| title.strip_prefix("lemma for ")) else {
        let message = "the name of this invariant does not say for which rule it is a lemma";
        return Err(Diagnostic::error(span, message).help(HELP));
    };
    if let Some(found) = titles.iter().position(|known| known == title.trim()) {
        return Ok(&prepared.rules[found]);
    }
    if prepared.rules.iter().any(|rule| rule.name == title.trim()) {
        let message = format!("there are several rules \"{title}\"");
        let help = format!("number it: \"lemma for {title} #2\" is for the second");
        return Err(Diagnostic::error(span, message).help(&help));
    }
    let message = format!("the protocol has no rule \"{title}\"");
    Err(Diagnostic::error(span, message).help(HELP))
}

fn read_lemma(item: &Item, prepared: &Prepared, titles: &[String]) -> Result<Lemma, Diagnostic> {
    let Item::Rule(Rule { kind: RuleKind::Property(property), span }) = item else {
        let span = match item {
            Item::Declaration(declaration) => declaration.span,
            Item::Function(function) => function.span,
            Item::Rule(rule) => rule.span,
        };
        return Err(Diagnostic::error(span, "a file of lemmas contains invariants only").help(HELP));
    };
    let title = property.message.as_ref().map(|text| text.text.as_str());
    let rule = rule_of(title, *span, prepared, titles)?;
    let (bound, condition) = opened(&property.condition);
    let own = rule.quantifiers.len();
    let of_rule = bound.iter().zip(&rule.quantifiers);
    if bound.len() < own || !of_rule.clone().all(|(bound, of_rule)| same_type(bound, of_rule)) {
        let wanted: Vec<&str> =
            rule.quantifiers.iter().map(|each| each.name.text.as_str()).collect();
        let message = format!(
            "a lemma for this rule begins with `forall` over its parameters, {}",
            wanted.join(", ")
        );
        return Err(Diagnostic::error(property.condition.span, message).help(HELP));
    }
    // In the names of the rule.
    let mut renamed = Substitution::default();
    let mut taken: HashSet<&str> = HashSet::new();
    for (bound, of_rule) in of_rule {
        renamed.insert(&bound.name.text, name(&of_rule.name.text, bound.span));
        taken.insert(&of_rule.name.text);
    }
    let mut witnesses = Vec::new();
    for witness in &bound[own..] {
        let mut witness = witness.clone();
        let mut wish = witness.name.text.clone();
        while taken.contains(wish.as_str()) {
            wish.push_str("_2");
        }
        renamed.insert(&witness.name.text, name(&wish, witness.span));
        witness.name.text = wish;
        witnesses.push(witness);
    }
    let condition = without_guard(renamed.expression(&condition), rule);
    Ok(Lemma { rule: rule.id, witnesses, condition })
}

/// The condition without what the guard of the rule says before the arrow: a lemma is about the
/// rule where it applies, and what is not known there would make it say nothing.
fn without_guard(condition: Expression, rule: &FlatRule) -> Expression {
    let ExpressionKind::Binary(BinaryOperator::Implies, before, behind) = &condition.kind else {
        return condition;
    };
    let Some(guard) = &rule.guard else { return condition };
    let mut ids = Interner::default();
    let said: HashSet<ExpressionId> =
        conjuncts(guard).into_iter().map(|part| ids.id(part)).collect();
    let all = conjuncts(before);
    let rest = all.iter().filter(|part| !said.contains(&ids.id(part)));
    let rest: Vec<Expression> = rest.map(|part| (*part).clone()).collect();
    if all.len() - rest.len() < said.len() {
        return condition;
    }
    match rest.into_iter().reduce(and) {
        Some(rest) => implies(rest, (**behind).clone()),
        None => (**behind).clone(),
    }
}

/// The quantifiers at the front of a claim, and what is claimed under them.
fn opened(claim: &Expression) -> (Vec<Quantifier>, Expression) {
    let mut bound = Vec::new();
    let mut inner = claim;
    while let ExpressionKind::Quantified { all: true, quantifiers, condition } = &inner.kind {
        bound.extend(quantifiers.iter().cloned());
        inner = condition;
    }
    (bound, inner.clone())
}

fn same_type(left: &Quantifier, right: &Quantifier) -> bool {
    type_name(left).is_some() && type_name(left) == type_name(right)
}
