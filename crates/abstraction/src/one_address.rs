//! One address that stands for any number of them.
//!
//! A claim about one address at a time needs only one in view. What happens to the others is
//! over-approximated as it is for processors: the same construction, with addresses in the place of
//! processors and one of them concrete. What is left of a rule for another address is what it does to
//! the state that is not by address, under the part of its guard that is not about that address.
//!
//! The result is a program with one address, of which processors can be abstracted in their turn:
//! every step of the protocol, seen with any one address in view, is a step of it or changes nothing
//! there, whatever the number of processors. If it keeps its promise, so does the protocol with any
//! number of addresses. That it does not says nothing.
//!
//! Addresses have to do with each other where a processor does one thing at a time: a guard asks
//! whether there is an address at which it is waiting. That there are never two is an
//! [`Exclusion`]. It is a claim about two addresses and hardly anything else, so it is shown by
//! itself ([`exclusion_program`]: two addresses, and of the state only what it speaks of), and then
//! taken for granted.
//!
//! Transformations T15 and T16 of docs/abstraction.md.

use std::fmt;

use murphi::ast::{
    Declaration, DeclarationKind, Domain, Expression, ExpressionKind, Item, Program, Property,
    PropertyKind, Quantifier, Statement, StatementKind,
};
use murphi::diagnostic::Diagnostic;
use murphi::print::print_expression;
use murphi::source::Span;
use murphi::transform::{
    FlatRule, Substitution, and, assembled, binary, bodies_mut, declarations, each_part,
    flatten_all, implies, name, named_type, names, not, parts, property_item, quantified,
    quantifier, root, same, text,
};

use crate::abstraction::{OTHER, Options, abstraction};
use crate::lemma::conjuncts;
use crate::types::Types;
use crate::{Abstraction, Lemma, Prepared, RunTimeErrors, View, prepare};

/// That something holds of a processor at one address at a time.
#[derive(Debug, Clone)]
pub struct Exclusion {
    /// What, over `processor` and `address`.
    condition: Expression,
    /// The name of the processor in it, with its type.
    processor: Quantifier,
    /// The name of the address in it.
    address: String,
}

/// A program in which one address stands for any number of them. `address` is the type of addresses,
/// a scalarset, of which none may be stored. The exclusions must hold.
pub fn one_address(
    program: &Program,
    address: &str,
    exclusions: &[Exclusion],
) -> Result<Program, Vec<Diagnostic>> {
    let (prepared, options) = by_address(program, address, exclusions)?;
    abstracted(&prepared, &options, address)
}

/// A program prepared for the abstraction of its addresses, and how one of them is to stand for all:
/// for crate `refine`, which finds lemmas about one address. What comes of it is the program
/// ([`of_one_address`]).
pub fn by_address(
    program: &Program,
    address: &str,
    exclusions: &[Exclusion],
) -> Result<(Prepared, Options), Vec<Diagnostic>> {
    let prepared = without_stored(program, address)?;
    let proved = exclusions.iter().flat_map(|exclusion| {
        prepared.rules.iter().filter_map(|rule| lemma(exclusion, rule, address))
    });
    let proved = proved.collect();
    let options = Options {
        view: View { concrete: 1, named: false },
        sets: false,
        proved,
        errors: RunTimeErrors::Ignored,
        ..Options::default()
    };
    Ok((prepared, options))
}

/// What a processor may do at one address at a time, going by the guards of a program: whatever is
/// asked for of some address.
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

/// A program with two addresses that stand for any number, and only the state that the exclusions
/// speak of. If its invariants hold for any number of processors, so do the exclusions.
pub fn exclusion_program(
    program: &Program,
    address: &str,
    exclusions: &[Exclusion],
) -> Result<Program, Vec<Diagnostic>> {
    let mut prepared = without_stored(program, address)?;
    let types = Types::new(&prepared);
    let mut only = Vec::new();
    for exclusion in exclusions {
        gather_places(&types, &exclusion.condition, &mut only);
    }
    let mut flattened = flatten_all(&prepared.program)?;
    // What the protocol claims is not the question, and may need all of its state.
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
            condition: claim(exclusion, address),
        };
        stripped.items.push(property_item(&[], property, Span::default()));
    }
    prepared.program = stripped;
    prepared.rules = flattened.rules;
    let roots: Vec<String> = only.iter().filter_map(root).map(str::to_owned).collect();
    let errors = RunTimeErrors::Ignored;
    let options = Options { sets: false, only: Some(only), errors, ..Options::default() };
    let mut program = abstracted(&prepared, &options, address)?;
    for item in &mut program.items {
        if let Item::Declaration(Declaration {
            kind: DeclarationKind::Variable(variables), ..
        }) = item
        {
            variables.names.retain(|name| roots.contains(&name.text));
        }
    }
    program.items.retain(|item| match item {
        Item::Declaration(Declaration { kind: DeclarationKind::Variable(variables), .. }) => {
            !variables.names.is_empty()
        }
        _ => true,
    });
    Ok(program)
}

/// The program prepared for the abstraction of addresses, if none of them is stored.
fn without_stored(program: &Program, address: &str) -> Result<Prepared, Vec<Diagnostic>> {
    let prepared = prepare(program, Some(address))?;
    let types = Types::new(&prepared);
    for item in &prepared.program.items {
        if let Item::Declaration(Declaration { kind: DeclarationKind::Variable(variables), span }) =
            item
            && types.stores_processors(&variables.ty)
        {
            let message = "an address is stored here, so one address cannot stand for the others";
            return Err(vec![Diagnostic::error(*span, message)]);
        }
    }
    Ok(prepared)
}

fn abstracted(
    prepared: &Prepared,
    options: &Options,
    address: &str,
) -> Result<Program, Vec<Diagnostic>> {
    Ok(of_one_address(abstraction(prepared, options, &[])?, address))
}

/// The program in which one address stands for all. What was claimed of that address, lemmas
/// included, are its invariants.
pub fn of_one_address(abstraction: Abstraction, address: &str) -> Program {
    let mut program = abstraction.program;
    // Nothing is stored, so nothing is of this type.
    let stored = format!("{address}Or{OTHER}");
    program.items.retain(|item| match item {
        Item::Declaration(Declaration { kind: DeclarationKind::Type { names, .. }, .. }) => {
            names.iter().all(|name| name.text != stored)
        }
        _ => true,
    });
    program
}

/// `exists a: Address do condition` about one processor of the rule, as an exclusion; `forall` asks
/// for the opposite.
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
    /// The condition, in names that do not depend on where it was found.
    fn general(&self) -> Expression {
        let named = |text: &str| name(text, Span::default());
        told(self, &named("processor"), &named("address"))
    }
}

/// The condition of a processor and an address.
fn told(exclusion: &Exclusion, processor: &Expression, address: &Expression) -> Expression {
    let mut substitution = Substitution::default();
    substitution.insert(&exclusion.processor.name.text, processor.clone());
    substitution.insert(&exclusion.address, address.clone());
    substitution.expression(&exclusion.condition)
}

/// That it does not hold at two addresses.
fn not_both(exclusion: &Exclusion, processor: &str, left: &str, right: &str) -> Expression {
    let named = |text: &str| name(text, Span::default());
    let of = |address: &str| told(exclusion, &named(processor), &named(address));
    not(and(of(left), of(right)))
}

/// An exclusion as an invariant.
fn claim(exclusion: &Exclusion, address: &str) -> Expression {
    let span = Span::default();
    let (left, right) = ("one_address", "another_address");
    let different =
        binary(murphi::ast::BinaryOperator::NotEqual, name(left, span), name(right, span));
    let processor = exclusion.processor.clone();
    let inner = implies(different, not_both(exclusion, &processor.name.text, left, right));
    let over = |variable: &str| quantifier(variable, named_type(address, span));
    [processor, over(left), over(right)]
        .into_iter()
        .rev()
        .fold(inner, |inner, each| quantified(true, vec![each], inner))
}

/// What an exclusion says of a rule of one processor and one address.
fn lemma(exclusion: &Exclusion, rule: &FlatRule, address: &str) -> Option<Lemma> {
    let is_over = |each: &&Quantifier, ty: &str| match &each.domain {
        Domain::Type(found) => matches!(&found.kind,
            murphi::ast::TypeKind::Named(name) if name.text == ty),
        Domain::Range { .. } => false,
    };
    let Domain::Type(processor) = &exclusion.processor.domain else { return None };
    let murphi::ast::TypeKind::Named(processor) = &processor.kind else { return None };
    let mut own = rule.quantifiers.iter().filter(|each| is_over(each, &processor.text));
    let mut at = rule.quantifiers.iter().filter(|each| is_over(each, address));
    let (own, at) = (own.next()?, at.next()?);
    let witness = "another_address";
    let named = |text: &str| name(text, Span::default());
    let here = told(exclusion, &named(&own.name.text), &named(&at.name.text));
    let guard = rule.guard.as_ref().map(conjuncts).unwrap_or_default();
    // What the guard says is so wherever the rule applies, but is not known of another address.
    let condition = match guard.iter().any(|part| same(part, &here)) {
        true => not(told(exclusion, &named(&own.name.text), &named(witness))),
        false => not_both(exclusion, &own.name.text, &at.name.text, witness),
    };
    let witnesses = vec![quantifier(witness, named_type(address, Span::default()))];
    Some(Lemma { rule: rule.id, witnesses, condition })
}

/// The places of the state that an expression reads.
fn gather_places(types: &Types, whole: &Expression, found: &mut Vec<Expression>) {
    match &whole.kind {
        ExpressionKind::Name(_) | ExpressionKind::Field(..) | ExpressionKind::Index(..) => {
            if root(whole).is_some_and(|name| types.is_global(name)) {
                found.push(whole.clone());
            }
        }
        _ => parts(whole).into_iter().for_each(|part| gather_places(types, part, found)),
    }
}

/// Statements without errors and assertions: they go on where the others would end.
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
