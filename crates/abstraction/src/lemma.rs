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

use murphi::ast::{BinaryOperator, Domain, Expression, ExpressionKind, Item, Quantifier, RuleKind};
use murphi::diagnostic::Diagnostic;
use murphi::parse::parse;
use murphi::print::print_expression;
use murphi::source::Source;
use murphi::transform::{
    ExpressionId, FlatRule, Interner, Scope, Substitution, and, binary, bind, boolean, conjuncts,
    each_expression, each_part, implies, name, names, nested, not_taken, type_name,
};

use prepare::RESERVED;

use crate::types::Types;
use crate::{Lemma, Prepared};

/// That the witnesses are different from each other and from the parameters of the same type.
fn distinct(lemma: &Lemma, rule: &FlatRule) -> Expression {
    let span = lemma.condition.span;
    let mut condition = boolean(true, span);
    let all: Vec<&Quantifier> = rule.quantifiers.iter().chain(&lemma.witnesses).collect();
    for (at, right) in all.iter().enumerate().skip(rule.quantifiers.len()) {
        for left in &all[..at] {
            if same_type(left, right) {
                let (left, right) = (name(&left.name.text, span), name(&right.name.text, span));
                let different = binary(BinaryOperator::NotEqual, left, right);
                condition = and(condition, different);
            }
        }
    }
    condition
}

fn same_type(left: &Quantifier, right: &Quantifier) -> bool {
    type_name(left).is_some() && type_name(left) == type_name(right)
}

/// The lemma with names of its own: no witness, and nothing that its condition binds, is called like
/// something that is declared or that the rule speaks of. Its claim says it under the guard of the
/// rule, where each name must mean the same as in the rule.
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

/// What a lemma adds to the guard of its rule.
pub(crate) fn strengthening(lemma: &Lemma, rule: &FlatRule) -> Expression {
    let inner = implies(distinct(lemma, rule), lemma.condition.clone());
    nested(&lemma.witnesses, inner)
}

/// The simple places of a rule's own that a lemma speaks of and the rule reads as well. What one of
/// them says of such a place may follow from what the other says.
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

/// What a lemma claims of every state.
pub(crate) fn claim(lemma: &Lemma, rule: &FlatRule) -> Expression {
    let guard = rule.guard.clone().unwrap_or_else(|| boolean(true, lemma.condition.span));
    let inner = implies(and(distinct(lemma, rule), guard), lemma.condition.clone());
    let all: Vec<Quantifier> = rule.quantifiers.iter().chain(&lemma.witnesses).cloned().collect();
    nested(&all, inner)
}

impl Lemma {
    /// The lemma as Murphi, in the form that [`read_lemmas`] reads.
    pub fn to_murphi(&self, prepared: &Prepared) -> String {
        let Some(rule) = prepared.rules.get(self.rule.0) else { return String::new() };
        let whole = nested(&rule.quantifiers, strengthening(self, rule));
        let title = rule.name.replace('\\', "\\\\").replace('"', "\\\"");
        format!("invariant \"lemma for {title}\"\n  {};\n", print_expression(&whole))
    }
}

/// Reads lemmas: invariants `"lemma for RULE"`, each with the quantifiers of the rule first, by
/// name, then those of its witnesses. `a != b -> …` around what is claimed may be left out for
/// witnesses, which are different from all others of their type anyway.
pub fn read_lemmas(source: &Source, prepared: &Prepared) -> Result<Vec<Lemma>, Vec<Diagnostic>> {
    let (program, problems) = parse(source);
    let Some(program) = program else { return Err(problems) };
    let mut lemmas = Vec::new();
    let mut problems = Vec::new();
    for item in &program.items {
        match read_lemma(item, prepared) {
            Ok(lemma) => lemmas.push(lemma),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(lemmas) } else { Err(problems) }
}

fn read_lemma(item: &Item, prepared: &Prepared) -> Result<Lemma, Diagnostic> {
    let help = "write `invariant \"lemma for RULE\" forall n: Node do … end;`";
    let Item::Rule(murphi::ast::Rule { kind: RuleKind::Property(property), span }) = item else {
        let span = match item {
            Item::Declaration(declaration) => declaration.span,
            Item::Function(function) => function.span,
            Item::Rule(rule) => rule.span,
        };
        return Err(Diagnostic::error(span, "only lemmas may stand here").help(help));
    };
    let title = property.message.as_ref().and_then(|text| text.text.strip_prefix("lemma for "));
    let Some(title) = title else {
        let message = "this invariant does not say which rule it is a lemma for";
        return Err(Diagnostic::error(*span, message).help(help));
    };
    let mut found = prepared.rules.iter().filter(|rule| rule.name == title.trim());
    let Some(rule) = found.next() else {
        let message = format!("there is no rule \"{title}\"");
        return Err(Diagnostic::error(*span, message).help(help));
    };
    if found.next().is_some() {
        let message = format!("there are several rules \"{title}\"");
        return Err(Diagnostic::error(*span, message).help("give the rule a name of its own"));
    }
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
        return Err(Diagnostic::error(property.condition.span, message).help(help));
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
