//! The parameters of a rule as a plan: how many instances there are, and how early each conjunct
//! of the guard can be evaluated.
//!
//! A conjunct is evaluated as soon as the parameters it mentions are bound, so that one which does
//! not hold skips all instances below. Conjuncts stay in their order, and so do errors: a conjunct
//! that fails early fails for exactly the instances below, which is right only if these are all
//! combinations of the remaining parameters and binding them cannot fail. So no conjunct is moved
//! across a `choose`, or across an alias that might fail.

use murphi::instance;
use murphi::ir::{
    AliasTarget, Base, Domain, Expression, ExpressionKind, Frame, LocalId, Model, Operator,
    Parameter, Place, Rule, Step, Storage, TypeId, TypeKind,
};

use super::operand::Bounds;
use crate::Error;
use crate::facts::{Facts, Knowledge};
use murphi::walk::{self, Visitor};

/// The instances of a rule or property.
pub(super) struct InstanceSpace {
    /// For each `Each` parameter, how many values it has.
    pub(super) radices: Vec<u64>,
    /// For each `Each` parameter, how many instances there are below one of its values.
    pub(super) weights: Vec<u64>,
}

impl InstanceSpace {
    /// The instances of the rule or property of this name.
    pub(super) fn of(model: &Model, name: &str, parameters: &[Parameter]) -> Result<Self, Error> {
        if instance::count(model, parameters).is_none() {
            return Err(Error::TooManyInstances(name.to_owned()));
        }
        let radices = instance::radices(model, parameters);
        let mut weights = vec![1u64; radices.len()];
        for number in (1..radices.len()).rev() {
            weights[number - 1] = weights[number].saturating_mul(radices[number]);
        }
        Ok(InstanceSpace { radices, weights })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.radices.contains(&0)
    }

    /// How many instances there are below a choice of the first `digits` parameters.
    pub(super) fn instances_below(&self, digits: usize) -> u64 {
        match digits {
            0 => self.radices.iter().product(),
            _ => self.weights[digits - 1],
        }
    }
}

/// What evaluating the parameters and the guard of a rule may do.
pub(super) fn facts_before_body(knowledge: &Knowledge, rule: &Rule) -> Facts {
    let parameters = knowledge.parameters(&rule.frame, &rule.parameters);
    match &rule.guard {
        None => parameters,
        Some(guard) => parameters.and(knowledge.expression(&rule.frame, guard)),
    }
}

/// The conjuncts of a guard, each with how many parameters are bound before it.
pub(super) fn place_conjuncts<'m>(
    model: &Model,
    frame: &Frame,
    parameters: &[Parameter],
    guard: &'m Expression,
) -> Vec<(usize, &'m Expression)> {
    let fixed = |parameter: &Parameter| match parameter {
        Parameter::Each(binder) => !matches!(binder.domain, Domain::Multiset(_)),
        Parameter::Alias { target: AliasTarget::Place(place), .. } => {
            cannot_fail(model, frame, place)
        }
        Parameter::Alias { target: AliasTarget::Value(_), .. } => false,
    };
    let trailing = parameters.iter().rev().take_while(|parameter| fixed(parameter)).count();
    let mut earliest = parameters.len() - trailing;
    let mut placed = Vec::new();
    for conjunct in conjuncts(guard) {
        let mut mentioned = Mentioned { parameters, last: 0 };
        walk::expression(conjunct, &mut mentioned);
        earliest = earliest.max(mentioned.last);
        placed.push((earliest, conjunct));
    }
    placed
}

/// The operands of nested `&`, in order.
fn conjuncts(guard: &Expression) -> Vec<&Expression> {
    let mut conjuncts = Vec::new();
    let mut pending = vec![guard];
    while let Some(expression) = pending.pop() {
        match &expression.kind {
            ExpressionKind::Binary(Operator::And, left, right) => {
                pending.push(right);
                pending.push(left);
            }
            _ => conjuncts.push(expression),
        }
    }
    conjuncts
}

/// How many parameters must be bound before something can be evaluated.
struct Mentioned<'a> {
    parameters: &'a [Parameter],
    last: usize,
}

impl Visitor for Mentioned<'_> {
    fn place(&mut self, place: &Place) {
        if let Base::Local(local) = place.base {
            let binds = |parameter: &Parameter| bound_local(parameter) == local;
            if let Some(number) = self.parameters.iter().position(binds) {
                self.last = self.last.max(number + 1);
            }
        }
    }
}

fn bound_local(parameter: &Parameter) -> LocalId {
    match parameter {
        Parameter::Each(binder) => binder.local,
        Parameter::Alias { local, .. } => *local,
    }
}

/// Whether following a place cannot end in a run-time error: all indices are constants or bound
/// variables of the index type.
pub(super) fn cannot_fail(model: &Model, frame: &Frame, place: &Place) -> bool {
    let mut ty = match place.base {
        Base::Global(global) => model.globals[global.0 as usize].ty,
        Base::Local(local) => frame.locals[local.0 as usize].ty,
    };
    for step in &place.steps {
        ty = match (step, model.kind(ty)) {
            (Step::Field(field), TypeKind::Record(fields)) => fields[*field].ty,
            (Step::Index(expression), TypeKind::Array { index, element })
                if is_within(model, frame, expression, *index) =>
            {
                *element
            }
            _ => return false,
        };
    }
    true
}

fn is_within(model: &Model, frame: &Frame, expression: &Expression, index: TypeId) -> bool {
    let domain = Bounds::of(model, index);
    match &expression.kind {
        ExpressionKind::Constant(value) => domain.contains(*value),
        ExpressionKind::Read(Place { base: Base::Local(local), .. }) => {
            let local = &frame.locals[local.0 as usize];
            local.storage == Storage::Bound && Bounds::of(model, local.ty).within(domain)
        }
        _ => false,
    }
}
