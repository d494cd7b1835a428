//! What the variables in a condition hold, for the values of its parameters that break it.
//!
//! The interpreter is asked by a rule that prints them, run in the state. Left out is what depends
//! on variables of quantifiers inside the condition: it has no one value.

use std::sync::Arc;

use murphi::instance;
use murphi::interpret::{End, Interpreter};
use murphi::ir::{
    Argument, Base, Expression, ExpressionKind as Kind, LocalId, Model, Parameter, Place, Property,
    Put, Rule, Statement, StatementKind, Step,
};
use murphi::source::Span;
use murphi::value::State;

/// How many are reported at most, and how long what they are called may be.
const MOST: usize = 8;
const LONGEST: usize = 48;

/// Places and calls in the condition of a property, as the source writes them, with their values
/// in an instance of the property.
pub(super) fn of(
    model: &Model,
    state: &State,
    property: &Property,
    at: u64,
) -> Vec<(String, String)> {
    let mut asked = Vec::new();
    collect(&property.condition, &mut asked);
    let known = known_locals(property);
    let mut reported: Vec<(String, String)> = Vec::new();
    for expression in asked.into_iter().filter(|asked| is_known(asked, &known)) {
        let name = text(model, expression.span);
        if reported.len() == MOST
            || name.len() > LONGEST
            || reported.iter().any(|(t, _)| *t == name)
        {
            continue;
        }
        if let Some(value) = value(model, state, property, at, expression) {
            reported.push((name, value));
        }
    }
    reported
}

/// The expressions worth reporting: what is stored, and what functions say about it.
fn collect<'e>(expression: &'e Expression, found: &mut Vec<&'e Expression>) {
    match &expression.kind {
        Kind::Read(_) | Kind::Call(_) => found.push(expression),
        Kind::Not(inner) | Kind::Negate(inner) | Kind::Complement(inner) | Kind::Convert(inner) => {
            collect(inner, found);
        }
        Kind::IsMember { value, .. } => collect(value, found),
        Kind::Binary(_, left, right) | Kind::Same { left, right, .. } => {
            collect(left, found);
            collect(right, found);
        }
        Kind::Conditional(condition, left, right) => {
            collect(condition, found);
            collect(left, found);
            collect(right, found);
        }
        Kind::Constant(_)
        | Kind::Undefined
        | Kind::Quantified { .. }
        | Kind::IsUndefined(_)
        | Kind::MultisetCount { .. } => {}
    }
}

/// The locals that have a value before the condition is evaluated.
fn known_locals(property: &Property) -> Vec<LocalId> {
    let local = |parameter: &Parameter| match parameter {
        Parameter::Each(binder) => binder.local,
        Parameter::Alias { local, .. } => *local,
    };
    property.parameters.iter().map(local).collect()
}

/// Whether an expression has a value here, and one that is not reported already: parameters are.
fn is_known(expression: &Expression, known: &[LocalId]) -> bool {
    match &expression.kind {
        Kind::Read(Place { base: Base::Local(_), steps, .. }) if steps.is_empty() => false,
        _ => uses_only(expression, known),
    }
}

fn uses_only(expression: &Expression, known: &[LocalId]) -> bool {
    let both = |left, right| uses_only(left, known) && uses_only(right, known);
    match &expression.kind {
        Kind::Constant(_) | Kind::Undefined => true,
        Kind::Read(place) | Kind::IsUndefined(place) => place_uses_only(place, known),
        Kind::Not(inner) | Kind::Negate(inner) | Kind::Complement(inner) | Kind::Convert(inner) => {
            uses_only(inner, known)
        }
        Kind::IsMember { value, .. } => uses_only(value, known),
        Kind::Binary(_, left, right) | Kind::Same { left, right, .. } => both(left, right),
        Kind::Conditional(condition, left, right) => {
            uses_only(condition, known) && both(left, right)
        }
        Kind::Call(call) => call.arguments.iter().all(|argument| match argument {
            Argument::Value(value) => uses_only(value, known),
            Argument::Reference(place) => place_uses_only(place, known),
        }),
        Kind::Quantified { .. } | Kind::MultisetCount { .. } => false,
    }
}

fn place_uses_only(place: &Place, known: &[LocalId]) -> bool {
    let base = match place.base {
        Base::Global(_) => true,
        Base::Local(local) => known.contains(&local),
    };
    base && place.steps.iter().all(|step| match step {
        Step::Field(_) => true,
        Step::Index(index) | Step::Element(index) => uses_only(index, known),
    })
}

/// What the source says there, in one line.
fn text(model: &Model, span: Span) -> String {
    let text = model.source.text.get(span.start as usize..span.end as usize).unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The value of an expression in an instance of a property, as it is written.
fn value(
    model: &Model,
    state: &State,
    property: &Property,
    at: u64,
    expression: &Expression,
) -> Option<String> {
    let put = StatementKind::Put(Put::Value(expression.clone()));
    let rule = Rule {
        name: String::new(),
        frame: property.frame.clone(),
        parameters: instance::fixed(model, property, at),
        guard: None,
        priority: 0,
        body: vec![Statement { kind: put, span: expression.span }],
        span: expression.span,
    };
    let asking = Model { rules: vec![rule], properties: Vec::new(), ..model.clone() };
    let interpreter = Interpreter::new(Arc::new(asking)).ok()?;
    let run = interpreter.run_rule(state, 0, 0);
    let shown = run.output.trim();
    let is_short = !shown.is_empty() && shown.len() <= LONGEST && !shown.contains('\n');
    (matches!(run.end, End::Done(_)) && is_short).then(|| shown.to_owned())
}
