//! Properties of every state: what is claimed of the concrete processors.
//!
//! Invariants, lemmas, and that guards and properties can be evaluated. Statement C1 of
//! docs/abstraction.md for all of them, T14 for lemmas.
//!
//! ```text
//! before: ruleset p: P do invariant "single" forall q: P do p != q -> c[p] = I | c[q] = I end; end;
//! after:  invariant "single" forall p: P do forall q: P do p != q -> c[p] = I | c[q] = I end end;
//! ```

use murphi::ast::{Expression, Property, PropertyKind, Quantifier};
use murphi::diagnostic::Diagnostic;
use murphi::source::Span;
use murphi::transform::{is_true, quantified, text};

use super::instance::{Instance, Mode};
use super::width;
use crate::types::Types;
use crate::{Lemma, Options, Prepared, View, lemma};

/// A property that is claimed of the concrete processors.
pub(super) struct Claim<'a> {
    pub(super) kind: PropertyKind,
    pub(super) name: String,
    pub(super) quantifiers: &'a [Quantifier],
    pub(super) condition: &'a Expression,
    pub(super) span: Span,
}

/// The result of abstracting a claim.
pub(super) struct Claimed {
    /// The property; `None` if it is vacuous for the concrete processors.
    pub(super) property: Option<Property>,
    /// Whether it was strengthened.
    pub(super) strengthened: bool,
}

impl Claim<'_> {
    /// The claim that a condition can be evaluated.
    pub(super) fn evaluates<'a>(
        name: String,
        quantifiers: &'a [Quantifier],
        condition: &'a Expression,
        span: Span,
    ) -> Claim<'a> {
        Claim { kind: PropertyKind::Check, name, quantifiers, condition, span }
    }

    /// The claim for the concrete processors.
    pub(super) fn made(&self, types: &Types) -> Result<Claimed, Diagnostic> {
        let mut instance = Instance::new(types, Vec::new());
        instance.restricts = self.kind != PropertyKind::Assumption;
        let whole = quantified(true, self.quantifiers.to_vec(), self.condition.clone());
        let condition = instance.condition(&whole, Mode::Weaker);
        let condition = condition.map_err(|stop| stop.diagnostic(self.span))?;
        let says_something = !is_true(&condition);
        let message = Some(text(&self.name, self.span));
        let property = Property { kind: self.kind, message, condition };
        let property = says_something.then_some(property);
        Ok(Claimed { property, strengthened: instance.restricted })
    }
}

/// The claim of a lemma, and its name.
pub(super) fn lemma_claim(
    types: &Types,
    prepared: &Prepared,
    lemma: &Lemma,
    number: usize,
) -> Result<(String, Option<Property>), Diagnostic> {
    let Some(rule) = prepared.rules.get(lemma.rule.0) else {
        let message =
            format!("a lemma is for rule {}, which the protocol does not have", lemma.rule.0);
        return Err(Diagnostic::error(lemma.condition.span, message));
    };
    let name = format!("lemma {} for \"{}\"", number + 1, rule.name).replace('"', "'");
    let whole = lemma::claim(lemma, rule);
    width::within(types, &whole)?;
    let claim = Claim {
        kind: PropertyKind::Assertion,
        name: name.clone(),
        quantifiers: &[],
        condition: &whole,
        span: lemma.condition.span,
    };
    Ok((name, claim.made(types)?.property))
}

/// Decides which lemmas are about few enough processors to be claimed in a view.
#[derive(Debug)]
pub struct Claimable {
    types: Types,
}

impl Claimable {
    /// For lemmas about a program in a view.
    pub fn new(prepared: &Prepared, view: View) -> Claimable {
        let options = Options { view, ..Options::default() };
        Claimable { types: Types::in_view(prepared, &options) }
    }

    /// Whether a lemma can be claimed.
    pub fn allows(&self, prepared: &Prepared, lemma: &Lemma) -> bool {
        let rule = prepared.rules.get(lemma.rule.0);
        let claim = |rule| lemma::claim(lemma, rule);
        rule.is_some_and(|rule| width::within(&self.types, &claim(rule)).is_ok())
    }
}
