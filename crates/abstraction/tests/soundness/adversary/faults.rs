//! Rules that go wrong: by an assertion, by an error in the body that has no other effect, by an
//! error in the guard.
//!
//! They ask a question of a state and change nothing that another rule reads, so that several of
//! them can be asked in one search. What they write, if anything, is `noted` and `mark`.

use super::program::Rule;
use super::words::{Bound, Sort, Words};

/// In which way a program may go wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Kind {
    /// An invariant.
    Invariant,
    /// An assertion in a rule, or `error`.
    Assertion,
    /// An error in a statement that does nothing else.
    EffectlessError,
    /// An error in a statement that writes something as well.
    ErrorWithEffect,
    /// An error in a guard about up to two processors.
    GuardOfFew,
    /// An error in a guard about three or four.
    GuardOfMany,
    /// An error in the rules themselves, with nothing added.
    Bare,
}

impl Words<'_> {
    /// A rule that may go wrong, and how.
    pub(crate) fn question(&mut self) -> (Kind, Rule) {
        match self.rng.below(10) {
            0..2 => (Kind::Assertion, self.asserting()),
            2..5 => (Kind::EffectlessError, self.failing(false)),
            5 => (Kind::ErrorWithEffect, self.failing(true)),
            _ => self.failing_guard(),
        }
    }

    fn parameters(&mut self, weights: [usize; 5]) -> Vec<Bound> {
        let mut at = self.rng.below(weights.iter().sum());
        let mut count = 0;
        while at >= weights[count] {
            at -= weights[count];
            count += 1;
        }
        ["p", "q", "r", "z"][..count]
            .iter()
            .map(|name| ((*name).to_owned(), Sort::Processor))
            .collect()
    }

    fn rule(&mut self, parameters: &[Bound], guard: Vec<String>, body: Vec<String>) -> Rule {
        let parameters = parameters.iter().map(|(name, _)| format!("{name}: P")).collect();
        Rule { name: "x".to_owned(), parameters, guard, locals: Vec::new(), body }
    }

    /// What is written where nobody reads it.
    fn effect(&mut self, parameters: &[Bound]) -> String {
        match parameters.first() {
            Some((name, _)) if self.rng.percent(60) => format!("mark[{name}] := true;"),
            _ => "noted := true;".to_owned(),
        }
    }

    /// That these are different, now and then not all of them.
    fn different(&mut self, parameters: &[Bound]) -> Vec<String> {
        let mut found = Vec::new();
        for (at, (left, _)) in parameters.iter().enumerate() {
            for (right, _) in &parameters[at + 1..] {
                if self.rng.percent(92) {
                    found.push(format!("{left} != {right}"));
                }
            }
        }
        self.rng.shuffle(&mut found);
        found
    }

    /// A rule that asserts a claim, or says `error` if it does not hold.
    fn asserting(&mut self) -> Rule {
        let parameters = self.parameters([6, 3, 2, 0, 0]);
        let claim = match parameters.is_empty() || self.rng.percent(30) {
            true => self.claim_alone(),
            false => self.claim(&parameters, 3),
        };
        let guard = if self.rng.percent(30) { vec![self.atom(&parameters)] } else { Vec::new() };
        let mut body = match self.rng.below(6) {
            0 => vec![format!("if !({claim}) then error \"e\"; end;")],
            1 => vec![format!("if {claim} then noted := false; else error \"e\"; end;")],
            2 => vec![format!("for y: P do assert {claim} \"a\"; end;")],
            _ => vec![format!("assert {claim} \"a\";")],
        };
        if self.rng.percent(30) {
            let effect = self.effect(&parameters);
            body.insert(self.rng.below(2), effect);
        }
        self.rule(&parameters, guard, body)
    }

    /// A rule with a statement that may fail.
    fn failing(&mut self, with_effect: bool) -> Rule {
        let parameters = self.parameters([4, 4, 3, 2, 0]);
        let mut guard = self.different(&parameters);
        if self.rng.percent(25) {
            guard.push(self.atom(&parameters));
        }
        let statement = self.failing_statement(&parameters);
        let mut rule = self.rule(&parameters, guard, vec![statement.0]);
        rule.locals.extend(statement.1);
        if with_effect {
            let effect = self.effect(&parameters);
            rule.body.insert(self.rng.below(2), effect);
        }
        rule
    }

    /// A rule with a guard that may fail.
    fn failing_guard(&mut self) -> (Kind, Rule) {
        let parameters = self.parameters([2, 3, 4, 8, 2]);
        let mut guard = self.different(&parameters);
        let fault = self.fault(&parameters);
        guard.push(fault);
        match self.rng.below(8) {
            0 => guard.push("false".to_owned()),
            1 if !parameters.is_empty() => guard.push("p != p".to_owned()),
            2 => guard.push(self.atom(&parameters)),
            3 => {
                let at = self.rng.below(guard.len());
                let atom = self.atom(&parameters);
                guard.insert(at, atom);
            }
            _ => {}
        }
        let body = match self.rng.percent(70) {
            true => vec![self.effect(&parameters)],
            false => Vec::new(),
        };
        let kind = if parameters.len() > 2 { Kind::GuardOfMany } else { Kind::GuardOfFew };
        (kind, self.rule(&parameters, guard, body))
    }

    /// Adds something that may fail to a rule.
    pub(crate) fn with_fault(&mut self, rule: &mut Rule) {
        if self.rng.percent(50) {
            return;
        }
        let parameters: Vec<Bound> = rule
            .parameters
            .iter()
            .filter_map(|each| each.strip_suffix(": P"))
            .map(|name| (name.to_owned(), Sort::Processor))
            .collect();
        if self.rng.percent(40) {
            let fault = self.fault(&parameters);
            let at = self.rng.below(rule.guard.len() + 1);
            rule.guard.insert(at, fault);
            return;
        }
        let (statement, local) = self.failing_statement(&parameters);
        let at = self.rng.below(rule.body.len() + 1);
        rule.body.insert(at, statement);
        rule.locals.extend(local);
    }
}
