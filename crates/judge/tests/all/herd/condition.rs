//! Conditions on final states: a quantifier and a proposition over places.

use std::collections::BTreeSet;

use history::Value;

use super::tokens::{Place, Tokens};

/// How a condition speaks of the reachable states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Quantifier {
    Exists,
    NotExists,
    ForAll,
}

impl Quantifier {
    /// What herd7 calls a test with this quantifier.
    pub(crate) fn kind(self) -> &'static str {
        match self {
            Quantifier::Exists => "Allowed",
            Quantifier::NotExists => "Forbidden",
            Quantifier::ForAll => "Required",
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Proposition {
    Equals(Place, Value),
    Not(Box<Proposition>),
    And(Box<Proposition>, Box<Proposition>),
    Or(Box<Proposition>, Box<Proposition>),
    Implies(Box<Proposition>, Box<Proposition>),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Condition {
    pub(crate) quantifier: Quantifier,
    pub(crate) proposition: Proposition,
}

impl Condition {
    pub(crate) fn parse(text: &str) -> Result<Condition, String> {
        let mut tokens = Tokens::new(text);
        let condition = Condition::read(&mut tokens)?;
        tokens.end()?;
        Ok(condition)
    }

    pub(crate) fn read(tokens: &mut Tokens<'_>) -> Result<Condition, String> {
        let quantifier = if tokens.accept("~") {
            tokens.expect("exists")?;
            Quantifier::NotExists
        } else if tokens.accept("exists") {
            Quantifier::Exists
        } else {
            tokens.expect("forall")?;
            Quantifier::ForAll
        };
        Ok(Condition { quantifier, proposition: implication(tokens)? })
    }
}

/// How often a proposition holds, state by state, in herd7's word for it. The quantifier does not
/// matter: `~exists P` is also observed `Never` when no state meets P.
pub(crate) fn observation(states: impl Iterator<Item = bool>) -> &'static str {
    let (mut some, mut all) = (false, true);
    for holds in states {
        some |= holds;
        all &= holds;
    }
    match (some, all) {
        (false, _) => "Never",
        (true, false) => "Sometimes",
        (true, true) => "Always",
    }
}

impl Proposition {
    pub(crate) fn holds(&self, value: &dyn Fn(&Place) -> Value) -> bool {
        match self {
            Proposition::Equals(place, expected) => value(place) == *expected,
            Proposition::Not(p) => !p.holds(value),
            Proposition::And(p, q) => p.holds(value) && q.holds(value),
            Proposition::Or(p, q) => p.holds(value) || q.holds(value),
            Proposition::Implies(p, q) => !p.holds(value) || q.holds(value),
        }
    }

    /// Adds the places it speaks of.
    pub(crate) fn places(&self, into: &mut BTreeSet<Place>) {
        match self {
            Proposition::Equals(place, _) => {
                into.insert(place.clone());
            }
            Proposition::Not(p) => p.places(into),
            Proposition::And(p, q) | Proposition::Or(p, q) | Proposition::Implies(p, q) => {
                p.places(into);
                q.places(into);
            }
        }
    }
}

fn implication(tokens: &mut Tokens<'_>) -> Result<Proposition, String> {
    let left = disjunction(tokens)?;
    if tokens.accept("=>") {
        return Ok(Proposition::Implies(left.into(), implication(tokens)?.into()));
    }
    Ok(left)
}

fn disjunction(tokens: &mut Tokens<'_>) -> Result<Proposition, String> {
    let mut left = conjunction(tokens)?;
    while tokens.accept("\\/") {
        left = Proposition::Or(left.into(), conjunction(tokens)?.into());
    }
    Ok(left)
}

fn conjunction(tokens: &mut Tokens<'_>) -> Result<Proposition, String> {
    let mut left = atom(tokens)?;
    while tokens.accept("/\\") {
        left = Proposition::And(left.into(), atom(tokens)?.into());
    }
    Ok(left)
}

fn atom(tokens: &mut Tokens<'_>) -> Result<Proposition, String> {
    if tokens.accept("not") {
        return Ok(Proposition::Not(atom(tokens)?.into()));
    }
    if tokens.accept("(") {
        let inner = implication(tokens)?;
        tokens.expect(")")?;
        return Ok(inner);
    }
    let place = tokens.place()?;
    tokens.expect("=")?;
    Ok(Proposition::Equals(place, tokens.value()?))
}
