//! Why an invariant does not hold in a state: for which values of its quantified variables, and
//! which part of it.
//!
//! The condition is opened from the outside. A `forall` becomes a parameter of the property, so
//! that the interpreter names the first value that breaks it; of a conjunction, the part that
//! breaks is kept. What is left is still broken, and is the least piece of source to underline.
//! Each opening evaluates the property anew, which for one state is nothing.

use std::sync::Arc;

use murphi::interpret::{FailedInstance, Interpreter};
use murphi::ir::{Expression, ExpressionKind as Kind, Model, Operator, Parameter, Property};
use murphi::source::Span;
use murphi::value::State;

use super::values;

/// How often a condition is opened at most.
const OPENINGS: usize = 64;

/// What breaks a property.
pub(super) struct Broken {
    /// Variables of quantifiers and rulesets with the values that break it.
    pub(super) bindings: Vec<(String, String)>,
    /// The part of the condition that does not hold for them.
    pub(super) span: Span,
    /// What stands in that part, with what it holds.
    pub(super) values: Vec<(String, String)>,
}

/// Finds what breaks a property in a state that breaks it; `None` if it does not.
pub(super) fn find(interpreter: &Interpreter, state: &State, property: usize) -> Option<Broken> {
    let mut court = PropertyEvaluator { model: Model::clone(interpreter.model()), state };
    let mut current = court.model.properties[property].clone();
    let mut breach = court.breach(&current)?;
    for _ in 0..OPENINGS {
        // Opening can run into an error that the whole condition was spared. Then this is enough.
        let opened = opened(&current).into_iter();
        let Some((next, found)) =
            opened.filter_map(|next| court.breach(&next).map(|found| (next, found))).next()
        else {
            break;
        };
        (current, breach) = (next, found);
    }
    let values = values::of(interpreter.model(), state, &current, breach.instance);
    let span = shown(&current.condition, &interpreter.model().source.text);
    Some(Broken { bindings: breach.bindings, span, values })
}

/// What of a broken condition to underline: only one line can be, so of an implication that is
/// longer its right operand, which is false.
fn shown(condition: &Expression, source: &str) -> Span {
    let mut shown = condition;
    while let Kind::Binary(Operator::Implies, _, right) = &shown.kind {
        let (start, end) = (shown.span.start as usize, shown.span.end as usize);
        match source.get(start..end) {
            Some(text) if text.contains('\n') => shown = right,
            _ => break,
        }
    }
    shown.span
}

/// Evaluates properties that are not in the model.
struct PropertyEvaluator<'s> {
    model: Model,
    state: &'s State,
}

impl PropertyEvaluator<'_> {
    fn breach(&mut self, property: &Property) -> Option<FailedInstance> {
        self.model.properties = vec![property.clone()];
        let interpreter = Interpreter::new(Arc::new(self.model.clone())).ok()?;
        interpreter.check_property(self.state, 0).ok()?
    }
}

/// The ways to open a condition once: if it is broken, one of them is.
fn opened(property: &Property) -> Vec<Property> {
    let with = |(parameter, condition): (Option<Parameter>, Expression)| {
        let mut opened = property.clone();
        opened.parameters.extend(parameter);
        opened.condition = condition;
        opened
    };
    openings(&property.condition).into_iter().map(with).collect()
}

fn openings(condition: &Expression) -> Vec<(Option<Parameter>, Expression)> {
    match &condition.kind {
        Kind::Quantified { all: true, binder, condition } => {
            let parameter = Parameter::Each(binder.clone());
            match is_constant(&parameter) {
                true => vec![(Some(parameter), Expression::clone(condition))],
                false => Vec::new(),
            }
        }
        Kind::Binary(Operator::And, left, right) => {
            vec![(None, Expression::clone(left)), (None, Expression::clone(right))]
        }
        // The variables of the right operand do not occur in the left one.
        Kind::Binary(Operator::Implies, left, right) => {
            let under = |(parameter, right): (Option<Parameter>, Expression)| {
                let (ty, span) = (condition.ty, condition.span);
                let kind = Kind::Binary(Operator::Implies, left.clone(), Box::new(right));
                (parameter, Expression { kind, ty, span })
            };
            openings(right).into_iter().map(under).collect()
        }
        Kind::Not(inner) => denied(inner),
        _ => Vec::new(),
    }
}

/// The ways to open `!inner`.
fn denied(inner: &Expression) -> Vec<(Option<Parameter>, Expression)> {
    let not = |expression: &Expression| Expression {
        kind: Kind::Not(Box::new(expression.clone())),
        ty: expression.ty,
        span: expression.span,
    };
    match &inner.kind {
        Kind::Quantified { all: false, binder, condition } => {
            let parameter = Parameter::Each(binder.clone());
            match is_constant(&parameter) {
                true => vec![(Some(parameter), not(condition))],
                false => Vec::new(),
            }
        }
        Kind::Binary(Operator::Or, left, right) => vec![(None, not(left)), (None, not(right))],
        Kind::Not(inner) => vec![(None, Expression::clone(inner))],
        _ => Vec::new(),
    }
}

/// Whether the values of a parameter do not depend on the state.
fn is_constant(parameter: &Parameter) -> bool {
    let Parameter::Each(binder) = parameter else { return false };
    match &binder.domain {
        murphi::ir::Domain::Type(_) => true,
        murphi::ir::Domain::Range { from, to, by } => {
            let constant = |e: &Expression| matches!(e.kind, Kind::Constant(_));
            constant(from) && constant(to) && constant(by)
        }
        murphi::ir::Domain::Multiset(_) => true,
    }
}
