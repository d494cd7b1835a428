//! Rules, start states and properties, with the rulesets around them flattened into each.
//!
//! While the rules of a ruleset are checked, its parameters are the first locals of the frame being
//! built, and each rule adds its own behind them; when a rule is done, its frame is copied and cut
//! back to the parameters.

use super::constants::value_of;
use super::functions::Effects;
use super::{Check, Checker, Reading};
use crate::ast::{self, Item, RuleKind};
use crate::diagnostic::Diagnostic;
use crate::instance;
use crate::ir::{Binder, Domain, Expression, Parameter, Property, PropertyKind, Rule, Statement};
use crate::source::Span;

/// The most instances a rule may have.
const MOST_INSTANCES: u64 = 1 << 32;

/// How many rules, start states and properties without a name there have been. CMurphi counts from
/// 0, each kind for itself.
#[derive(Debug, Default)]
pub(super) struct Unnamed {
    rules: usize,
    start_states: usize,
    invariants: usize,
    assumptions: usize,
    covers: usize,
    liveness: usize,
}

/// Whether a program has a start state, and whether it has a rule.
pub(super) fn kinds(program: &ast::Program) -> (bool, bool) {
    let mut found = (false, false);
    let mut open: Vec<&ast::Rule> = Vec::new();
    for item in &program.items {
        if let Item::Rule(rule) = item {
            open.push(rule);
        }
    }
    while let Some(rule) = open.pop() {
        match &rule.kind {
            RuleKind::StartState { .. } => found.0 = true,
            RuleKind::Simple { .. } => found.1 = true,
            RuleKind::Ruleset { rules, .. }
            | RuleKind::Alias { rules, .. }
            | RuleKind::Choose { rules, .. } => open.extend(rules),
            RuleKind::Property(_) => {}
        }
    }
    found
}

impl Checker<'_> {
    /// A rule or a group of them.
    pub(super) fn rule(&mut self, rule: &ast::Rule) {
        let parameters = self.parameters.len();
        let locals = self.frame.locals.len();
        self.scopes.push();
        match &rule.kind {
            RuleKind::StartState { name, body } => self.start_state(name.as_ref(), body, rule.span),
            RuleKind::Simple { priority, name, guard, body } => {
                let priority = priority.as_ref().map_or(0, |priority| self.priority(priority));
                let condition = guard.as_ref();
                self.simple_rule(name.as_ref(), condition, priority, body, rule.span);
            }
            RuleKind::Ruleset { quantifiers, rules } => {
                for quantifier in quantifiers {
                    let binder = self.quantifier(quantifier);
                    if let Ok(binder) = binder.and_then(|binder| self.require_constant(binder)) {
                        self.parameters.push(Parameter::Each(binder));
                    }
                }
                self.inner_rules(rules);
            }
            RuleKind::Alias { aliases, rules } => {
                for alias in aliases {
                    let bound = self.unchanging("an alias around rules", |it| it.alias(alias));
                    if let Ok(Some((local, target))) = bound {
                        self.parameters.push(Parameter::Alias { local, target });
                    }
                }
                self.inner_rules(rules);
            }
            RuleKind::Choose { name, multiset, rules } => {
                let binder = self.unchanging("a `choose`", |it| it.multiset_binder(name, multiset));
                if let Ok(binder) = binder {
                    self.parameters.push(Parameter::Each(binder));
                }
                self.inner_rules(rules);
            }
            RuleKind::Property(property) => self.property(property, rule.span),
        }
        self.scopes.pop();
        // Only of functions is it kept what they change.
        self.effects = Effects::default();
        self.parameters.truncate(parameters);
        self.frame.locals.truncate(locals);
        self.locals.truncate(locals);
    }

    fn inner_rules(&mut self, rules: &[ast::Rule]) {
        for rule in rules {
            self.rule(rule);
        }
    }

    /// The range of a ruleset must not depend on the state.
    fn require_constant(&mut self, binder: Binder) -> Check<Binder> {
        let Domain::Range { from, to, by } = &binder.domain else {
            return Ok(binder);
        };
        let open = [from, to, by].into_iter().find(|part| value_of(part).is_none());
        let Some(part) = open else {
            return Ok(binder);
        };
        let message = "the range of a ruleset must be constant";
        let help = "use a constant range that covers all values, and put the restriction into the \
                    guard";
        Err(self.error(Diagnostic::error(part.span, message).help(help)))
    }

    fn start_state(&mut self, name: Option<&ast::Text>, body: &ast::Body, span: Span) {
        let count = &mut self.unnamed.start_states;
        let name = named(name, "Startstate", count);
        let body = self.body(body);
        self.require_countable(&name, span);
        let rule = self.finished(name, None, body, span);
        self.model.start_states.push(rule);
    }

    fn simple_rule(
        &mut self,
        name: Option<&ast::Text>,
        guard: Option<&ast::Expression>,
        priority: u64,
        body: &ast::Body,
        span: Span,
    ) {
        let name = named(name, "Rule", &mut self.unnamed.rules);
        const WHAT: &str = "the condition of a rule";
        let guard = guard.map(|guard| self.unchanging(WHAT, |it| it.condition(guard, WHAT)));
        let body = self.body(body);
        self.require_countable(&name, span);
        if let Ok(guard) = guard.transpose() {
            let rule = self.finished(name, guard, body, span);
            self.model.rules.push(Rule { priority, ..rule });
        }
    }

    /// The number of a priority. The least is the most urgent, and what a rule without has.
    fn priority(&mut self, written: &ast::Number) -> u64 {
        if self.options.reading == Reading::Strict {
            let help = "`tribunal explore` supports priorities; `tribunal verify` does not";
            let message = "priorities of rules are not supported";
            self.error(Diagnostic::error(written.span, message).help(help));
        }
        written.value.unsigned_abs()
    }

    fn body(&mut self, body: &ast::Body) -> Vec<Statement> {
        self.scopes.push();
        self.local_declarations(&body.declarations);
        let statements = self.statements(&body.statements);
        self.scopes.pop();
        statements
    }

    fn finished(
        &mut self,
        name: String,
        guard: Option<Expression>,
        body: Vec<Statement>,
        span: Span,
    ) -> Rule {
        let (frame, parameters) = (self.frame.clone(), self.parameters.clone());
        Rule { name, frame, parameters, guard, priority: 0, body, span }
    }

    fn property(&mut self, property: &ast::Property, span: Span) {
        let counts = &mut self.unnamed;
        let (kind, what, word, count) = match property.kind {
            ast::PropertyKind::Assertion | ast::PropertyKind::Check => {
                (PropertyKind::Invariant, "an invariant", "Invariant", &mut counts.invariants)
            }
            ast::PropertyKind::Assumption => {
                (PropertyKind::Assumption, "an assumption", "Assumption", &mut counts.assumptions)
            }
            ast::PropertyKind::Cover => {
                (PropertyKind::Cover, "the condition of a cover", "Cover", &mut counts.covers)
            }
            ast::PropertyKind::Liveness => {
                (PropertyKind::Liveness, "a liveness property", "Liveness", &mut counts.liveness)
            }
        };
        let name = named(property.message.as_ref(), word, count);
        let condition = self.unchanging(what, |it| it.condition(&property.condition, what));
        self.require_countable(&name, span);
        let Ok(condition) = condition else {
            return;
        };
        let (frame, parameters) = (self.frame.clone(), self.parameters.clone());
        self.model.properties.push(Property { name, kind, parameters, frame, condition, span });
    }

    /// A rule for each of a billion values of a parameter is no model to be checked.
    fn require_countable(&mut self, name: &str, span: Span) {
        let count = instance::count(&self.model, &self.parameters);
        if count.is_some_and(|count| count <= MOST_INSTANCES) {
            return;
        }
        let message = format!("`{name}` has more than {MOST_INSTANCES} instances");
        let help = "an instance is a choice of values for the parameters of the rulesets around it";
        let first = instance::binders(&self.parameters).next();
        let span = first.map_or(span, |binder| binder.span);
        self.error(Diagnostic::error(span, message).help(help));
    }
}

/// The name of a rule, or a number if it has none.
fn named(name: Option<&ast::Text>, word: &str, count: &mut usize) -> String {
    if let Some(name) = name {
        return name.text.clone();
    }
    *count += 1;
    format!("{word} {}", *count - 1)
}
