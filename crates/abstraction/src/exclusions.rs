//! What a processor does at one address at a time.
//!
//! Addresses have to do with each other where a processor does one thing at a time: a guard asks
//! whether there is an address at which it is waiting. That there are never two is an
//! [`Exclusion`]. It is a claim about two addresses and hardly anything else, so it is shown by
//! itself ([`exclusion_program`]: two addresses, and of the state only what it speaks of), and then
//! strengthens the rules for other addresses as a lemma does.
//!
//! Transformation T16 of docs/abstraction.md.
//!
//! ```text
//! found:   rule "load" forall b: Address do c[p][b] != Waiting end & …
//! claimed: forall p: P; a, b: Address do a != b -> !(c[p][a] = Waiting & c[p][b] = Waiting) end
//! used:    rule "answer, a = Other" … & forall b: Address do c[p][b] != Waiting end ==> …
//! ```

use std::fmt;

use murphi::ast::{
    BinaryOperator, Declaration, DeclarationKind, Expression, ExpressionKind, Item, Program,
    Property, PropertyKind, Quantifier, Statement, StatementKind,
};
use murphi::diagnostic::Diagnostic;
use murphi::print::print_expression;
use murphi::source::Span;
use murphi::transform::{
    FlatRule, Substitution, and, assembled, binary, bodies_mut, conjuncts, declarations, each_part,
    flatten_all, implies, is_place, name, named_type, names, nested, not, parts, property_item,
    quantifier, root, same, text, type_name,
};

use crate::abstraction::Options;
use crate::one_address::{abstracted, without_stored};
use crate::types::Types;
use crate::{Lemma, RunTimeErrors};

/// A condition that a processor satisfies at one address at a time.
#[derive(Debug, Clone)]
pub struct Exclusion {
    /// The condition, over `processor` and `address`.
    condition: Expression,
    /// The name and type of the processor in the condition.
    processor: Quantifier,
    /// The name of the address in the condition.
    address: String,
}

/// Candidates for exclusions: the conditions that guards of a program require of some address.
pub fn possible_exclusions(program: &Program, address: &str) -> Vec<Exclusion> {
    let Ok(prepared) = without_stored(program, address) else { return Vec::new() };
    let types = Types::new(&prepared);
    let mut found: Vec<Exclusion> = Vec::new();
    for rule in &prepared.rules {
        let Some(guard) = &rule.guard else { continue };
        each_part(guard, &mut |part| {
            let Some(exclusion) = exclusion(&types, rule, part) else { return };
            if !found.iter().any(|known| same(&known.general(), &exclusion.general())) {
                found.push(exclusion);
            }
        });
    }
    found
}

/// A program with two addresses that stand for any number, restricted to the state that the
/// exclusions mention. If its invariants hold for any number of processors, so do the exclusions.
pub fn exclusion_program(
    program: &Program,
    address: &str,
    exclusions: &[Exclusion],
) -> Result<Program, Vec<Diagnostic>> {
    let mut prepared = without_stored(program, address)?;
    let types = Types::new(&prepared);
    let read = exclusions.iter().flat_map(|exclusion| outer_places(&exclusion.condition));
    let is_of_state = |place: &&Expression| root(place).is_some_and(|name| types.is_global(name));
    let only: Vec<Expression> = read.filter(is_of_state).cloned().collect();
    let mut flattened = flatten_all(&prepared.program)?;
    // The protocol's own properties are not part of this claim, and may need all of its state.
    flattened.properties.clear();
    for rule in &mut flattened.rules {
        rule.body.statements = without_claims(&rule.body.statements);
    }
    for start in &mut flattened.start_states {
        start.item.1.statements = without_claims(&start.item.1.statements);
    }
    let declarations: Vec<_> = declarations(&prepared.program).cloned().collect();
    let mut stripped = assembled(&declarations, &flattened);
    for (number, exclusion) in exclusions.iter().enumerate() {
        let called = format!("one address at a time, {}", number + 1);
        let property = Property {
            kind: PropertyKind::Assertion,
            message: Some(text(&called, Span::default())),
            condition: exclusion.claim(address),
        };
        stripped.items.push(property_item(&[], property, Span::default()));
    }
    prepared.program = stripped;
    prepared.rules = flattened.rules;
    let roots: Vec<String> = only.iter().filter_map(root).map(str::to_owned).collect();
    let errors = RunTimeErrors::Ignored;
    let options = Options { sets: false, only: Some(only), errors, ..Options::default() };
    let mut program = abstracted(&prepared, &options, address)?;
    program.items.retain_mut(|item| match item {
        Item::Declaration(Declaration { kind: DeclarationKind::Variable(variables), .. }) => {
            variables.names.retain(|name| roots.contains(&name.text));
            !variables.names.is_empty()
        }
        _ => true,
    });
    Ok(program)
}

/// `exists a: Address do condition` about one processor of the rule, as an exclusion; from
/// `forall`, the negation of its condition.
fn exclusion(types: &Types, rule: &FlatRule, whole: &Expression) -> Option<Exclusion> {
    let ExpressionKind::Quantified { all, quantifiers, condition } = &whole.kind else {
        return None;
    };
    let condition = if *all { not((**condition).clone()) } else { (**condition).clone() };
    let [bound] = quantifiers.as_slice() else { return None };
    if !types.over_processors(bound) {
        return None;
    }
    let mentioned = names(&condition);
    let mut parameters = rule.quantifiers.iter().filter(|each| mentioned.contains(&each.name.text));
    let processor = parameters.next()?.clone();
    if parameters.next().is_some() || types.over_processors(&processor) {
        return None;
    }
    let address = bound.name.text.clone();
    Some(Exclusion { condition, processor, address })
}

/// The condition, over `processor` and `address`.
impl fmt::Display for Exclusion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", print_expression(&self.general()))
    }
}

impl Exclusion {
    /// The condition with names that do not depend on the rule in which it was found.
    fn general(&self) -> Expression {
        self.of("processor", "address")
    }

    /// The condition, for a processor and an address.
    fn of(&self, processor: &str, address: &str) -> Expression {
        let mut substitution = Substitution::default();
        substitution.insert(&self.processor.name.text, name(processor, Span::default()));
        substitution.insert(&self.address, name(address, Span::default()));
        substitution.expression(&self.condition)
    }

    /// "The condition does not hold at both addresses."
    fn not_both(&self, processor: &str, left: &str, right: &str) -> Expression {
        not(and(self.of(processor, left), self.of(processor, right)))
    }

    /// The exclusion as an invariant.
    fn claim(&self, address: &str) -> Expression {
        let span = Span::default();
        let (left, right) = ("one_address", "another_address");
        let different = binary(BinaryOperator::NotEqual, name(left, span), name(right, span));
        let processor = self.processor.clone();
        let inner = implies(different, self.not_both(&processor.name.text, left, right));
        let over = |variable: &str| quantifier(variable, named_type(address, span));
        nested(&[processor, over(left), over(right)], inner)
    }

    /// The lemma that the exclusion gives for a rule with one processor and one address.
    pub(crate) fn lemma(&self, rule: &FlatRule, address: &str) -> Option<Lemma> {
        let over = |ty: &str| {
            let mut own = rule.quantifiers.iter().filter(|each| type_name(each) == Some(ty));
            own.next().map(|each| each.name.text.as_str())
        };
        let (own, at) = (over(type_name(&self.processor)?)?, over(address)?);
        let witness = "another_address";
        let here = self.of(own, at);
        let guard = rule.guard.as_ref().map(conjuncts).unwrap_or_default();
        // The guard holds whenever the rule is enabled, but says nothing about another address.
        let condition = match guard.iter().any(|part| same(part, &here)) {
            true => not(self.of(own, witness)),
            false => self.not_both(own, at, witness),
        };
        let witnesses = vec![quantifier(witness, named_type(address, Span::default()))];
        Some(Lemma { rule: rule.id, witnesses, condition })
    }
}

/// The places that an expression reads, except those in their indices.
fn outer_places(whole: &Expression) -> Vec<&Expression> {
    match is_place(whole) {
        true => vec![whole],
        false => parts(whole).into_iter().flat_map(outer_places).collect(),
    }
}

/// Statements without errors and assertions: execution continues where they would end it.
fn without_claims(statements: &[Statement]) -> Vec<Statement> {
    let is_claim = |statement: &Statement| match &statement.kind {
        StatementKind::Error(_) => true,
        StatementKind::Property(property) => property.kind != PropertyKind::Cover,
        _ => false,
    };
    let kept = statements.iter().filter(|statement| !is_claim(statement)).cloned();
    let pruned = |mut statement: Statement| {
        bodies_mut(&mut statement).for_each(|body| *body = without_claims(body));
        statement
    };
    kept.map(pruned).collect()
}
