//! `forall` and `exists`: for the concrete processors, and for the others as far as is known.
//!
//! Transformation T11 of docs/abstraction.md, and C1 in claims.
//!
//! ```text
//! in a guard:   forall q: P do c[q] = I end   becomes the same, of the concrete ones
//! in a guard:   exists q: P do c[q] = I end   becomes   true
//! in a claim:   exists q: P do c[q] = I end   becomes the same, of the concrete ones
//! ```

use murphi::ast::{BinaryOperator, Domain, Expression, Quantifier};
use murphi::transform::{and, binary, bind, boolean, is_false, is_true, names, or, quantified};

use super::instance::{Instance, Mode, Obstacle, ProcessorKind, Step};

impl Instance<'_> {
    pub(super) fn quantified(
        &mut self,
        all: bool,
        quantifiers: &[Quantifier],
        condition: &Expression,
        mode: Mode,
    ) -> Step<Expression> {
        let Some((first, rest)) = quantifiers.split_first() else {
            return self.condition(condition, mode);
        };
        let inner = match rest.is_empty() {
            true => condition.clone(),
            false => quantified(all, rest.to_vec(), condition.clone()),
        };
        let bounded = match self.bounded(first, mode.strict()) {
            Ok(bounded) => bounded,
            Err(Obstacle::Refuse(problem)) => return Err(Obstacle::Refuse(problem)),
            Err(stop) => {
                self.weakened = true;
                return match mode {
                    Mode::Weaker | Mode::Stronger => Ok(self.unknown(mode, condition.span)),
                    Mode::Probe | Mode::Exact => Err(stop),
                };
            }
        };
        let first = &bounded;
        let outer = self.scope.clone();
        bind(&mut self.scope, std::slice::from_ref(first));
        self.bound.push(first.name.text.clone());
        let result = match self.types.over_processors(first) {
            true => self.over_processors(all, first, &inner, mode),
            false => self
                .condition(&inner, mode)
                .map(|inner| quantified(all, vec![first.clone()], inner)),
        };
        self.bound.pop();
        self.scope = outer;
        // The condition differs for each value of the variable: one choice stands for all of them.
        let is_own = |stop: &Obstacle| match stop {
            Obstacle::Bound(_) => true,
            Obstacle::Split(stored) => names(stored).contains(&first.name.text),
            _ => false,
        };
        match result {
            Err(stop) if mode == Mode::Exact && is_own(&stop) => {
                let whole = quantified(all, vec![first.clone()], inner);
                self.chosen_truth(&whole)
            }
            Err(stop @ Obstacle::Split(_)) if is_own(&stop) => Err(Obstacle::Unknown),
            // The range may be empty, and then the condition is not evaluated and there is no
            // error.
            Err(Obstacle::Undefined) if matches!(first.domain, Domain::Range { .. }) => {
                Ok(boolean(all, condition.span))
            }
            other => other,
        }
    }

    /// A quantifier whose bounds are abstracted.
    pub(super) fn bounded(&mut self, quantifier: &Quantifier, mode: Mode) -> Step<Quantifier> {
        let mut quantifier = quantifier.clone();
        if let Domain::Range { from, to, by } = &mut quantifier.domain {
            for bound in [from, to].into_iter().chain(by) {
                *bound = self.value(bound, mode)?;
            }
        }
        Ok(quantifier)
    }

    /// `forall` or `exists` over all processors.
    fn over_processors(
        &mut self,
        all: bool,
        quantifier: &Quantifier,
        inner: &Expression,
        mode: Mode,
    ) -> Step<Expression> {
        let variable = quantifier.name.text.clone();
        let shadowed = self.processor_kinds.insert(variable.clone(), ProcessorKind::Outside);
        let result = self.of_all(all, quantifier, inner, mode);
        self.restore(&variable, shadowed);
        result
    }

    /// The condition for a variable that stands for an abstract processor.
    fn of_all(
        &mut self,
        all: bool,
        quantifier: &Quantifier,
        inner: &Expression,
        mode: Mode,
    ) -> Step<Expression> {
        let variable = &quantifier.name.text;
        // A claim about all processors is one about the concrete ones of every view. Membership of
        // an abstract processor in a set is an over-approximation, with which the claim would only
        // fail more often.
        let exact = match all {
            true if self.restricts && mode == Mode::Weaker => None,
            true => self.all_others(variable, inner),
            false => self.some_others(variable, inner),
        };
        let restricts =
            self.restricts && matches!((all, mode), (false, Mode::Weaker) | (true, Mode::Stronger));
        if let Some(exact) = exact {
            let concrete = self.of_concrete(variable, inner, mode, restricts)?;
            let concrete = quantified(all, vec![quantifier.clone()], concrete);
            return Ok(if all { and(concrete, exact) } else { or(concrete, exact) });
        }
        let others = self.of_others(all, quantifier, inner, mode, restricts)?;
        let concrete = self.of_concrete(variable, inner, mode, restricts)?;
        let concrete = quantified(all, vec![quantifier.clone()], concrete);
        Ok(match (others, all) {
            (None, _) => concrete,
            // The condition of a concrete processor may be undefined, which is an error.
            (Some(others), true) if is_false(&others) && !is_true(&concrete) => {
                binary(BinaryOperator::And, concrete, others)
            }
            (Some(others), false) if is_true(&others) && !is_false(&concrete) => {
                binary(BinaryOperator::Or, concrete, others)
            }
            (Some(others), true) => and(concrete, others),
            (Some(others), false) => or(concrete, others),
        })
    }

    /// The condition for abstract processors, if it is not implied by that for the concrete ones.
    fn of_others(
        &mut self,
        all: bool,
        quantifier: &Quantifier,
        inner: &Expression,
        mode: Mode,
        restricts: bool,
    ) -> Step<Option<Expression>> {
        // Whether the condition for abstract processors is decided without any choice.
        let is_neutral = match self.condition(inner, Mode::Probe) {
            Ok(known) if all => is_true(&known),
            Ok(known) => is_false(&known),
            Err(Obstacle::Refuse(problem)) => return Err(Obstacle::Refuse(problem)),
            Err(_) => false,
        };
        match (mode, all) {
            _ if is_neutral => Ok(None),
            _ if restricts => {
                self.restricted = true;
                Ok(None)
            }
            // There may be no abstract processor.
            (Mode::Weaker, true) | (Mode::Stronger, false) => {
                self.weakened = true;
                Ok(None)
            }
            (Mode::Weaker | Mode::Stronger, _) => self.condition(inner, mode).map(Some),
            (Mode::Probe, _) => Err(Obstacle::Unknown),
            (Mode::Exact, _) => {
                let whole = quantified(all, vec![quantifier.clone()], inner.clone());
                let own = self.bound.pop();
                let chosen = self.chosen_truth(&whole);
                self.bound.extend(own);
                chosen.map(Some)
            }
        }
    }

    /// The condition for a concrete processor.
    fn of_concrete(
        &mut self,
        variable: &str,
        inner: &Expression,
        mode: Mode,
        restricts: bool,
    ) -> Step<Expression> {
        self.processor_kinds.insert(variable.to_owned(), ProcessorKind::Concrete);
        // A claim about the concrete processors alone must not depend on unknown values.
        let mode = if restricts { mode.flipped() } else { mode };
        let outer = self.restricts;
        self.restricts &= !restricts;
        let concrete = self.condition(inner, mode);
        self.restricts = outer;
        concrete
    }

    pub(super) fn restore(&mut self, variable: &str, shadowed: Option<ProcessorKind>) {
        match shadowed {
            Some(processor_kinds) => {
                self.processor_kinds.insert(variable.to_owned(), processor_kinds)
            }
            None => self.processor_kinds.remove(variable),
        };
    }
}
