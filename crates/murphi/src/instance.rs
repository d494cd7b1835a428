//! Which rule with which parameters: the numbers of rule instances.
//!
//! A rule stands for one instance per combination of its `Each` parameters. An instance is a
//! number whose digits, the outermost parameter first, count the values of the parameters from the
//! first of their domains; the radix of a digit is the size of the type or the range, or the
//! capacity of the multiset (so that numbers do not depend on the state; positions that are not
//! occupied are numbers of no instance). Everything here is linear in the number of parameters.

use crate::interpret;
use crate::ir::{
    Binder, Domain, Expression, ExpressionKind, Frame, Model, Parameter, Property, Rule, TypeKind,
};
use crate::value::{State, render_simple};

/// What the instances of a rule and those of a property have in common.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'m> {
    /// All locals.
    pub frame: &'m Frame,
    /// What is bound around the rule or property, outermost first.
    pub parameters: &'m [Parameter],
}

impl<'m> From<&'m Rule> for Scope<'m> {
    fn from(rule: &'m Rule) -> Self {
        Scope { frame: &rule.frame, parameters: &rule.parameters }
    }
}

impl<'m> From<&'m Property> for Scope<'m> {
    fn from(property: &'m Property) -> Self {
        Scope { frame: &property.frame, parameters: &property.parameters }
    }
}

/// For each `Each` parameter, outermost first, how many values it has. A range that is not
/// constant, or whose step does not lead from its first to its last value, has none.
pub fn radices(model: &Model, parameters: &[Parameter]) -> Vec<u64> {
    binders(parameters).map(|binder| radix(model, binder)).collect()
}

/// How many instances there are, if that is a 64-bit number.
pub fn count(model: &Model, parameters: &[Parameter]) -> Option<u64> {
    let mut product = Some(1u64);
    for radix in binders(parameters).map(|binder| radix(model, binder)) {
        if radix == 0 {
            return Some(0);
        }
        product = product.and_then(|product| product.checked_mul(radix));
    }
    product
}

/// The values of the `Each` parameters in an instance below [`count`], outermost first.
pub fn decode(model: &Model, parameters: &[Parameter], instance: u64) -> Vec<i64> {
    values(model, parameters, instance).collect()
}

/// The same, one after the other.
pub(crate) fn values<'m>(
    model: &'m Model,
    parameters: &'m [Parameter],
    instance: u64,
) -> impl Iterator<Item = i64> + 'm {
    // How many instances have the same values up to here.
    let mut block = count(model, parameters).unwrap_or(0).max(1);
    binders(parameters).map(move |binder| {
        let above = block;
        block = (block / radix(model, binder).max(1)).max(1);
        value(model, binder, instance % above / block)
    })
}

/// The instance with these values of the `Each` parameters, outermost first; `None` if a value
/// is not in its domain.
pub fn encode(model: &Model, parameters: &[Parameter], values: &[i64]) -> Option<u64> {
    let mut instance = 0u64;
    let mut given = values.iter();
    for binder in binders(parameters) {
        let digit = digit(model, binder, *given.next()?)?;
        instance = instance.checked_mul(radix(model, binder))?.checked_add(digit)?;
    }
    given.next().is_none().then_some(instance)
}

/// What is bound for each instance, outermost first.
pub fn binders(parameters: &[Parameter]) -> impl Iterator<Item = &Binder> {
    parameters.iter().filter_map(|parameter| match parameter {
        Parameter::Each(binder) => Some(binder),
        Parameter::Alias { .. } => None,
    })
}

/// The `Each` parameters of an instance for people: names and values. What `choose` has chosen is
/// shown with its contents in `state`, or as its position if there is no such element.
pub fn bindings<'m>(
    model: &'m Model,
    scope: impl Into<Scope<'m>>,
    instance: u64,
    state: &State,
) -> Vec<(String, String)> {
    let scope = scope.into();
    let values = decode(model, scope.parameters, instance);
    let chosen = interpret::chosen_elements(model, scope, instance, state);
    let parts = binders(scope.parameters).zip(values).zip(chosen);
    let render = |((binder, value), chosen): ((&Binder, i64), Option<String>)| {
        let local = &scope.frame.locals[binder.local.0 as usize];
        let value = match (&binder.domain, chosen) {
            (_, Some(element)) => element,
            (Domain::Type(ty), None) => render_simple(model, *ty, value),
            (_, None) => render_simple(model, local.ty, value),
        };
        (local.name.clone(), value)
    };
    parts.map(render).collect()
}

/// The parameters of a property, each with the only value it has in an instance.
pub fn fixed(model: &Model, property: &Property, instance: u64) -> Vec<Parameter> {
    let mut values = values(model, &property.parameters, instance);
    let mut parameters = property.parameters.clone();
    for parameter in &mut parameters {
        if let (Parameter::Each(binder), span) = (parameter, property.span) {
            let value = values.next().unwrap_or_default();
            let constant = |value| {
                let kind = ExpressionKind::Constant(value);
                Box::new(Expression { kind, ty: Model::INTEGER, span })
            };
            let (from, to, by) = (constant(value), constant(value), constant(1));
            binder.domain = Domain::Range { from, to, by };
        }
    }
    parameters
}

fn radix(model: &Model, binder: &Binder) -> u64 {
    match &binder.domain {
        Domain::Type(ty) => model.count(*ty),
        Domain::Range { .. } => range(binder).map_or(0, |(first, last, by)| {
            let beyond = if by > 0 { first > last } else { first < last };
            match beyond || by == 0 {
                true => 0,
                false => (last.abs_diff(first) / by.unsigned_abs()).saturating_add(1),
            }
        }),
        Domain::Multiset(place) => match model.kind(place.ty) {
            TypeKind::Multiset { capacity, .. } => u64::from(*capacity),
            _ => 0,
        },
    }
}

/// The value with the number `digit` in a domain.
fn value(model: &Model, binder: &Binder, digit: u64) -> i64 {
    match &binder.domain {
        Domain::Type(ty) => model.lowest(*ty).wrapping_add_unsigned(digit),
        Domain::Range { .. } => {
            let (first, _, by) = range(binder).unwrap_or((0, 0, 1));
            first.wrapping_add(by.wrapping_mul(digit as i64))
        }
        Domain::Multiset(_) => digit as i64,
    }
}

/// The number of a value in a domain.
fn digit(model: &Model, binder: &Binder, wanted: i64) -> Option<u64> {
    let (first, by) = match &binder.domain {
        Domain::Type(ty) => (model.lowest(*ty), 1),
        Domain::Range { .. } => range(binder).map(|(first, _, by)| (first, by))?,
        Domain::Multiset(_) => (0, 1),
    };
    let ahead = i128::from(wanted) - i128::from(first);
    let by = i128::from(by);
    let digit = u64::try_from(ahead.checked_div(by)?).ok()?;
    (ahead % by == 0 && digit < radix(model, binder)).then_some(digit)
}

/// First value, last value and step of a constant range.
fn range(binder: &Binder) -> Option<(i64, i64, i64)> {
    match &binder.domain {
        Domain::Range { from, to, by } => Some((constant(from)?, constant(to)?, constant(by)?)),
        _ => None,
    }
}

fn constant(expression: &Expression) -> Option<i64> {
    match &expression.kind {
        ExpressionKind::Constant(value) => Some(*value),
        ExpressionKind::Negate(operand) => constant(operand)?.checked_neg(),
        _ => None,
    }
}
