//! Fresh values: how a recorded protocol gets them.
//!
//! A parameter of a rule that may have any value would range over all of them, and there are many.
//! Instead it takes the value of a hidden variable, which the caller sets before every step. A
//! parameter that only names an existing value (`cache[p].data = v`) is unchanged. Start states use
//! the lowest value.

use murphi::ir::{
    AliasTarget, Base, Binder, Domain, Expression, ExpressionKind, GlobalId, LocalId, Model,
    Operator, Parameter, Place, Rule, Storage, TypeId, Variable,
};
use murphi::source::Span;

use crate::independence::is_local;

/// Replaces parameters that range over all values by hidden variables. Returns, for each rule, how
/// many it takes, and the hidden variables.
pub(super) fn let_values_in(
    model: &mut Model,
    value: TypeId,
    prefix: &str,
) -> (Vec<usize>, Vec<GlobalId>) {
    let taken: Vec<Vec<LocalId>> =
        model.rules.iter().map(|rule| free_values(rule, value)).collect();
    let most = taken.iter().map(Vec::len).max().unwrap_or(0);
    let mut offered = Vec::new();
    for number in 0..most {
        offered.push(GlobalId(model.globals.len() as u32));
        let name = format!("{prefix}offered_{number}");
        model.globals.push(Variable { name, ty: value, span: Span::default() });
    }
    for (rule, locals) in model.rules.iter_mut().zip(&taken) {
        let sources = offered.iter().map(|&global| read(global, value));
        bind(rule, locals.iter().copied().zip(sources));
    }
    let lowest = ExpressionKind::Constant(model.lowest(value));
    let lowest = Expression { kind: lowest, ty: value, span: Span::default() };
    for rule in &mut model.start_states {
        let locals = free_values(rule, value);
        bind(rule, locals.into_iter().zip(std::iter::repeat(lowest.clone())));
    }
    (taken.iter().map(Vec::len).collect(), offered)
}

/// The parameters of a rule that may have any value.
fn free_values(rule: &Rule, value: TypeId) -> Vec<LocalId> {
    let free = rule.parameters.iter().filter_map(|parameter| match parameter {
        Parameter::Each(Binder { local, domain: Domain::Type(ty), .. }) if *ty == value => {
            let names = |guard: &Expression| names_value(guard, *local);
            (!rule.guard.as_ref().is_some_and(names)).then_some(*local)
        }
        _ => None,
    });
    free.collect()
}

/// Whether a guard fixes the value of a parameter to that of a place.
fn names_value(guard: &Expression, local: LocalId) -> bool {
    match &guard.kind {
        ExpressionKind::Binary(Operator::And, left, right) => {
            names_value(left, local) || names_value(right, local)
        }
        ExpressionKind::Binary(Operator::Equal, left, right) => {
            is_local(left, local) || is_local(right, local)
        }
        _ => false,
    }
}

/// Binds parameters to these values, before all others so that guards are evaluated as early as
/// before.
fn bind(rule: &mut Rule, bound: impl Iterator<Item = (LocalId, Expression)>) {
    for (local, source) in bound {
        rule.frame.locals[local.0 as usize].storage = Storage::Own;
        rule.parameters.retain(
            |parameter| !matches!(parameter, Parameter::Each(binder) if binder.local == local),
        );
        let target = AliasTarget::Value(source);
        rule.parameters.insert(0, Parameter::Alias { local, target });
    }
}

fn read(global: GlobalId, ty: TypeId) -> Expression {
    let span = Span::default();
    let place = Place { base: Base::Global(global), steps: Vec::new(), ty, span };
    Expression { kind: ExpressionKind::Read(place), ty, span }
}
