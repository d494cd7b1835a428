//! Lemmas: what they claim, and how they strengthen a rule.
//!
//! Transformation T14 of docs/abstraction.md; lemma L5 there says why the same fact may be claimed and
//! used at once. The lemma `forall p, q: q != p -> c[q] = I`
//! for a rule of p with the guard g:
//!
//! ```text
//! claimed:  invariant forall p: P do forall q: P do q != p & g -> c[q] = I end end
//! used:     rule "…, p = Other"  g' & forall q: P do c[q] = I end ==> …
//! ```

use std::collections::HashSet;

use murphi::ast::{BinaryOperator, Domain, Expression, ExpressionKind, Quantifier};
use murphi::transform::{
    ExpressionId, FlatRule, Interner, Scope, Substitution, and, binary, bind, boolean,
    each_expression, each_part, implies, name, names, nested, not_taken, type_name,
};

use prepare::RESERVED;

use crate::Lemma;
use crate::types::Types;

/// The witnesses are distinct from each other and from the parameters of the same type.
fn distinct(lemma: &Lemma, rule: &FlatRule) -> Expression {
    let span = lemma.condition.span;
    let mut condition = boolean(true, span);
    let all: Vec<&Quantifier> = rule.quantifiers.iter().chain(&lemma.witnesses).collect();
    for (at, right) in all.iter().enumerate().skip(rule.quantifiers.len()) {
        for left in &all[..at] {
            if type_name(left).is_some() && type_name(left) == type_name(right) {
                let (left, right) = (name(&left.name.text, span), name(&right.name.text, span));
                let different = binary(BinaryOperator::NotEqual, left, right);
                condition = and(condition, different);
            }
        }
    }
    condition
}

/// The lemma with fresh names for its witnesses and bound variables, so that no declaration or name
/// of the rule is captured. The claim contains the guard of the rule, in which each name must keep
/// its meaning.
pub(crate) fn with_own_names(lemma: &Lemma, rule: &FlatRule, types: &Types) -> Lemma {
    let mut taken: HashSet<String> = types.declared().cloned().collect();
    taken.extend(RESERVED.iter().map(|&name| name.to_owned()));
    taken.extend(rule.quantifiers.iter().map(|each| each.name.text.clone()));
    taken.extend(rule.guard.iter().flat_map(names));
    let mut apart = Substitution::default();
    let mut witnesses = lemma.witnesses.clone();
    for witness in &mut witnesses {
        if let Domain::Range { from, to, by } = &mut witness.domain {
            for bound in [from, to].into_iter().chain(by) {
                *bound = apart.expression(bound);
            }
        }
        let own = not_taken(&witness.name.text, |wish| taken.contains(wish));
        apart.insert(&witness.name.text, name(&own, witness.span));
        taken.insert(own.clone());
        witness.name.text = own;
    }
    apart.avoid(taken);
    Lemma { rule: lemma.rule, witnesses, condition: apart.expression(&lemma.condition) }
}

/// The condition that a lemma adds to the guard of its rule.
pub(crate) fn strengthening(lemma: &Lemma, rule: &FlatRule) -> Expression {
    let inner = implies(distinct(lemma, rule), lemma.condition.clone());
    nested(&lemma.witnesses, inner)
}

/// The simple places that both a lemma and its rule read, with the rule's parameters as indices.
/// What one says about such a place may follow from the other.
pub(crate) fn places_in_common(lemma: &Lemma, rule: &FlatRule, types: &Types) -> Vec<Expression> {
    let mut scope = Scope::new();
    bind(&mut scope, &rule.quantifiers);
    let mut ids = Interner::default();
    let mut read: HashSet<ExpressionId> = HashSet::new();
    let mut note = |part: &Expression| {
        if matches!(part.kind, ExpressionKind::Field(..) | ExpressionKind::Index(..)) {
            read.insert(ids.id(part));
        }
    };
    if let Some(guard) = &rule.guard {
        each_part(guard, &mut note);
    }
    each_expression(&rule.body.statements, &mut note);
    let is_bound = |name: &String| lemma.witnesses.iter().any(|each| each.name.text == *name);
    let mut found: Vec<Expression> = Vec::new();
    each_part(&lemma.condition, &mut |part| {
        let is_simple = types.of(&scope, part).is_some_and(|ty| types.is_simple(&ty));
        // Each of them once.
        if is_simple && !names(part).iter().any(is_bound) && read.remove(&ids.id(part)) {
            found.push(part.clone());
        }
    });
    found
}

/// The invariant that a lemma claims.
pub(crate) fn claim(lemma: &Lemma, rule: &FlatRule) -> Expression {
    let guard = rule.guard.clone().unwrap_or_else(|| boolean(true, lemma.condition.span));
    let inner = implies(and(distinct(lemma, rule), guard), lemma.condition.clone());
    let all: Vec<Quantifier> = rule.quantifiers.iter().chain(&lemma.witnesses).cloned().collect();
    nested(&all, inner)
}
