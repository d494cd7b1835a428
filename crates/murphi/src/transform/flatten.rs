//! The rules of a program, one by one, with all that is bound around them.
//!
//! Transformation T1 of docs/abstraction.md.
//!
//! ```text
//! before: ruleset p: P do alias c: cache[p] do rule c.state = I ==> … end end
//! after:  ruleset p: P do rule cache[p].state = I ==> … end
//! ```

use std::collections::HashSet;

use crate::ast::{
    Body, DeclarationKind, Expression, ExpressionKind, Item, Program, Property, Quantifier, Rule,
    RuleKind, Text,
};
use crate::diagnostic::Diagnostic;
use crate::source::Span;

use crate::transform::build::not_taken;
use crate::transform::declarations::Declarations;
use crate::transform::substitute::Substitution;

/// Names a rule: its number in the order of the source, rulesets flattened, start states and
/// properties not counted. The number of the rule in the checked model as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleId(pub usize);

/// A rule with the parameters of all rulesets around it.
#[derive(Debug, Clone)]
pub struct FlatRule {
    /// Its number.
    pub id: RuleId,
    /// Its name, or `rule` and its number.
    pub name: String,
    /// The parameters, outermost first.
    pub quantifiers: Vec<Quantifier>,
    /// The condition, if there is one.
    pub guard: Option<Expression>,
    /// What it does.
    pub body: Body,
    /// Where it stands.
    pub span: Span,
}

/// A start state or a property with the parameters around it.
#[derive(Debug, Clone)]
pub struct Flat<T> {
    /// The parameters, outermost first.
    pub quantifiers: Vec<Quantifier>,
    /// The start state or the property.
    pub item: T,
    /// Where it stands.
    pub span: Span,
}

/// All rules, start states and properties of a program.
#[derive(Debug, Clone, Default)]
pub struct Flattened {
    /// The rules, by their ids.
    pub rules: Vec<FlatRule>,
    /// The start states: their names and what they do.
    pub start_states: Vec<Flat<(Option<Text>, Body)>>,
    /// The invariants and other properties.
    pub properties: Vec<Flat<Property>>,
}

/// The rules of a program, rulesets flattened. Aliases around rules are replaced by what they stand
/// for; `choose` is refused.
pub fn flatten(program: &Program) -> Result<Vec<FlatRule>, Vec<Diagnostic>> {
    flatten_all(program).map(|flattened| flattened.rules)
}

/// All rules, start states and properties, rulesets flattened.
pub fn flatten_all(program: &Program) -> Result<Flattened, Vec<Diagnostic>> {
    let mut flattened = Flattened::default();
    let mut problems = Vec::new();
    let declarations = Declarations::new(program, "");
    let declared: HashSet<&str> = declarations.declared().map(String::as_str).collect();
    for item in &program.items {
        if let Item::Rule(rule) = item {
            gather(rule, &[], &Substitution::default(), &mut flattened, &mut problems);
        }
    }
    for rule in &flattened.rules {
        nothing_hidden(&declared, &rule.quantifiers, Some(&rule.body), &mut problems);
    }
    for start in &flattened.start_states {
        nothing_hidden(&declared, &start.quantifiers, Some(&start.item.1), &mut problems);
    }
    for property in &flattened.properties {
        nothing_hidden(&declared, &property.quantifiers, None, &mut problems);
    }
    if problems.is_empty() { Ok(flattened) } else { Err(problems) }
}

/// Parameters and variables of a rule have names of their own.
fn nothing_hidden(
    declared: &HashSet<&str>,
    quantifiers: &[Quantifier],
    body: Option<&Body>,
    problems: &mut Vec<Diagnostic>,
) {
    let mut taken: HashSet<&str> = declared.clone();
    let declarations = body.into_iter().flat_map(|body| &body.declarations);
    let variables = declarations.filter_map(|declaration| match &declaration.kind {
        DeclarationKind::Variable(variables) => Some(&variables.names),
        _ => None,
    });
    let parameters = quantifiers.iter().map(|quantifier| &quantifier.name);
    for name in parameters.chain(variables.flatten()) {
        if !taken.insert(&name.text) {
            let message = format!("`{}` hides an outer declaration of the same name", name.text);
            let help = "give it another name";
            problems.push(Diagnostic::error(name.span, message).help(help));
        }
    }
}

fn gather(
    rule: &Rule,
    around: &[Quantifier],
    aliases: &Substitution,
    found: &mut Flattened,
    problems: &mut Vec<Diagnostic>,
) {
    let quantifiers = around.to_vec();
    let meant = |body: &Body, problems: &mut Vec<Diagnostic>| {
        for declaration in &body.declarations {
            let DeclarationKind::Variable(variables) = &declaration.kind else { continue };
            for name in variables.names.iter().filter(|name| aliases.replaces(&name.text)) {
                let message = format!("`{}` hides an alias of this name", name.text);
                let help = "give it another name";
                problems.push(Diagnostic::error(name.span, message).help(help));
            }
        }
        let declarations = body.declarations.clone();
        Body { declarations, statements: aliases.statements(&body.statements) }
    };
    match &rule.kind {
        RuleKind::StartState { name, body } => {
            let item = (name.clone(), meant(body, problems));
            found.start_states.push(Flat { quantifiers, item, span: rule.span });
        }
        RuleKind::Simple { name, guard, body, .. } => {
            let id = RuleId(found.rules.len());
            let name = match name {
                Some(name) => name.text.clone(),
                None => format!("rule {}", id.0),
            };
            let guard = guard.as_ref().map(|guard| aliases.expression(guard));
            let body = meant(body, problems);
            found.rules.push(FlatRule { id, name, quantifiers, guard, body, span: rule.span });
        }
        RuleKind::Ruleset { quantifiers: more, rules } => {
            let quantifiers: Vec<Quantifier> = around.iter().chain(more).cloned().collect();
            for rule in rules {
                gather(rule, &quantifiers, aliases, found, problems);
            }
        }
        RuleKind::Alias { aliases: more, rules } => {
            let mut inner = aliases.clone();
            for alias in more {
                let value = inner.expression(&alias.value);
                let bound: Vec<&str> =
                    around.iter().map(|quantifier| quantifier.name.text.as_str()).collect();
                if !has_steady_indices(&value, &bound) {
                    let message = "this alias cannot be expanded";
                    let help = "index it by parameters of rulesets only";
                    problems.push(Diagnostic::error(alias.value.span, message).help(help));
                }
                inner.insert(&alias.name.text, value);
            }
            for rule in rules {
                gather(rule, around, &inner, found, problems);
            }
        }
        RuleKind::Choose { .. } => {
            let message = "`choose` is not supported for any number of processors";
            let help = "keep messages in arrays instead of multisets";
            problems.push(Diagnostic::error(rule.span, message).help(help));
        }
        RuleKind::Property(property) => {
            let mut item = property.clone();
            item.condition = aliases.expression(&property.condition);
            found.properties.push(Flat { quantifiers, item, span: rule.span });
        }
    }
}

/// Whether a place is the same place whenever it is looked at: every index is a number or one of
/// the names that do not change.
fn has_steady_indices(place: &Expression, steady: &[&str]) -> bool {
    match &place.kind {
        ExpressionKind::Name(_) | ExpressionKind::Integer(_) => true,
        ExpressionKind::Field(inner, _) => has_steady_indices(inner, steady),
        ExpressionKind::Index(array, at) => {
            let is_steady = match &at.kind {
                ExpressionKind::Integer(_) => true,
                ExpressionKind::Name(name) => steady.contains(&name.as_str()),
                _ => false,
            };
            is_steady && has_steady_indices(array, steady)
        }
        _ => false,
    }
}

/// What distinguishes a rule from all others: its name, with its number if there are several of that name.
pub fn rule_title(rules: &[FlatRule], rule: &FlatRule) -> String {
    let mut alike = rules.iter().filter(|other| other.name == rule.name).map(|other| other.id);
    let before = alike.by_ref().take_while(|other| *other != rule.id).count();
    if before == 0 && alike.next().is_none() {
        return rule.name.clone();
    }
    let title = format!("{} #{}", rule.name, before + 1);
    not_taken(&title, |wish| rules.iter().any(|other| other.name == wish))
}
