//! The abstract program, part by part: start states, rules, properties, lemmas, and checks that
//! guards and properties can be evaluated.
//!
//! Nothing is decided here but what becomes a part: `rule.rs` makes the instances of a rule (T8 to
//! T13 of docs/abstraction.md), `properties.rs` what is claimed of every state (C1, T14). All that is
//! refused is gathered, so that a user sees it at once.

use murphi::ast::{Property, PropertyKind};
use murphi::diagnostic::Diagnostic;
use murphi::transform::{Checked, Flat, FlatRule};

use super::options::Options;
use super::properties::{Claim, Claimed, lemma_claim};
use super::rule::{Built, Source, instances};
use crate::assemble::{Parts, assemble};
use crate::types::Types;
use crate::{Abstraction, Lemma, Prepared, lemma};

/// An abstract program under construction.
pub(super) struct Construction<'a> {
    types: &'a Types,
    options: &'a Options,
    lemmas: &'a [Lemma],
    parts: Parts,
    /// The claims that guards and properties can be evaluated.
    checks: Vec<Property>,
    /// The result so far, except for its program.
    made: Abstraction,
    problems: Vec<Diagnostic>,
}

impl<'a> Construction<'a> {
    pub(super) fn new(types: &'a Types, options: &'a Options, lemmas: &'a [Lemma]) -> Self {
        let made = Abstraction { view: options.view, ..Abstraction::default() };
        let (parts, checks, problems) = (Parts::default(), Vec::new(), Vec::new());
        Construction { types, options, lemmas, parts, checks, made, problems }
    }

    /// Unwraps a part; if it was refused, records the diagnostic.
    fn accepted<T>(&mut self, made: Result<T, Diagnostic>) -> Option<T> {
        made.map_err(|problem| self.problems.push(problem)).ok()
    }

    pub(super) fn start_states(&mut self, checked: &Checked) {
        for start in &checked.program.start_states {
            let source = Source {
                name: start.item.0.as_ref().map_or("start", |name| &name.text),
                quantifiers: &start.quantifiers,
                guard: None,
                chosen: &[],
                body: &start.item.1,
                span: start.span,
                is_start: true,
            };
            let built = self.accepted(instances(self.types, &source, &[]));
            self.parts.starts.extend(built.into_iter().flatten());
        }
    }

    pub(super) fn rules(&mut self, checked: &Checked) {
        for (rule, evaluates) in checked.program.rules.iter().zip(&checked.guards) {
            let Some(built) = self.rule(rule) else { continue };
            if !evaluates_guard(self.types, rule, &built) {
                let name = format!("the guard of \"{}\" can be evaluated", rule.name);
                let name = name.replace('"', "'");
                self.check(&Claim::evaluates(name, &rule.quantifiers, evaluates, rule.span));
            }
            for each in &built {
                let number = each.is_abstract().then_some(self.made.rules.len());
                self.made.origins.push((rule.id, number));
                self.made.rules.extend(number.map(|_| each.described(rule.id)));
            }
            self.parts.rules.extend(built);
        }
    }

    /// Abstracts a rule, using all proved facts about it.
    fn rule(&mut self, rule: &FlatRule) -> Option<Vec<Built>> {
        let of_rule = |lemma: &&Lemma| lemma.rule == rule.id;
        let proved = || self.options.proved.iter().filter(of_rule);
        let used = self.lemmas.iter().filter(of_rule).chain(proved());
        let strengthening: Vec<_> = used.map(|lemma| lemma::strengthening(lemma, rule)).collect();
        let chosen: Vec<_> =
            proved().flat_map(|lemma| lemma::places_in_common(lemma, rule, self.types)).collect();
        let source = Source {
            name: &rule.name,
            quantifiers: &rule.quantifiers,
            guard: rule.guard.as_ref(),
            chosen: &chosen,
            body: &rule.body,
            span: rule.span,
            is_start: false,
        };
        self.accepted(instances(self.types, &source, &strengthening))
    }

    fn check(&mut self, claim: &Claim<'_>) {
        let made = self.accepted(claim.made(self.types));
        self.checks.extend(made.and_then(|made| made.property));
    }

    pub(super) fn properties(&mut self, prepared: &Prepared, checked: &Checked) {
        for (number, property) in checked.program.properties.iter().enumerate() {
            let name = property.item.message.as_ref().map(|name| name.text.clone());
            let name = name.unwrap_or_else(|| format!("Invariant {number}"));
            if matches!(property.item.kind, PropertyKind::Cover | PropertyKind::Liveness) {
                let message = format!("\"{name}\" is not an invariant, and is not checked");
                self.made.notes.push(Diagnostic::warning(property.span, message));
                continue;
            }
            let (quantifiers, evaluates) = (&property.quantifiers, &checked.properties[number]);
            let evaluated = format!("'{name}' can be evaluated");
            self.check(&Claim::evaluates(evaluated, quantifiers, evaluates, property.span));
            if self.options.leave_out.contains(&name) || prepared.is_witnessed(&name) {
                continue;
            }
            let is_by_witnesses = prepared.is_by_witnesses(&name);
            self.property(name, is_by_witnesses, property);
        }
    }

    /// Abstracts a property, and records whether it was strengthened.
    fn property(
        &mut self,
        name: String,
        is_stronger: bool,
        Flat { quantifiers, item, span, .. }: &Flat<Property>,
    ) {
        let (condition, kind, span) = (&item.condition, item.kind, *span);
        let claim = Claim { kind, name: name.clone(), quantifiers, condition, span };
        if let Some(Claimed { property, strengthened }) = self.accepted(claim.made(self.types)) {
            if (strengthened || is_stronger) && kind == PropertyKind::Assertion {
                self.made.strengthened.push(name);
            }
            self.parts.properties.extend(property);
        }
    }

    /// Adds the claims of the lemmas.
    pub(super) fn lemmas(&mut self, prepared: &Prepared) {
        for (number, lemma) in self.lemmas.iter().enumerate() {
            let made = lemma_claim(self.types, prepared, lemma, number);
            if let Some((name, property)) = self.accepted(made) {
                self.made.claims.push(name);
                self.parts.properties.extend(property);
            }
        }
    }

    /// The abstraction, or the diagnostics.
    pub(super) fn finished(mut self, prepared: &Prepared) -> Result<Abstraction, Vec<Diagnostic>> {
        if !self.problems.is_empty() {
            return Err(self.problems);
        }
        let named = |check: &Property| check.message.as_ref().map(|name| name.text.clone());
        self.made.checks = self.checks.iter().filter_map(named).collect();
        self.parts.properties.extend(self.checks);
        let program = assemble(prepared, self.types, &self.parts);
        Ok(Abstraction { program, ..self.made })
    }
}

/// Whether a rule's guard is evaluated unchanged for all its processors: then an error in it occurs
/// without a separate check.
fn evaluates_guard(types: &Types, rule: &FlatRule, built: &[Built]) -> bool {
    let processors = rule.quantifiers.iter().filter(|each| types.over_processors(each)).count();
    let is_whole = |built: &Built| built.others.is_empty() && built.keeps_guard;
    processors as u64 <= types.concrete() && built.iter().any(is_whole)
}
