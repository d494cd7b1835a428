//! Run-time errors as assertions: every way in which a statement, a guard or a property can go wrong
//! becomes a condition that is asserted before it.
//!
//! A transformation that leaves out what looks as if it had no effect leaves out its errors as well:
//! an argument that nobody uses may be outside the type of its parameter, and the condition of an
//! empty `if` may divide by zero. After this pass only assertions fail, and those are never left out.
//!
//! For an expression `e`, `Errors::evaluates` gives a condition ok(e) such that
//!
//! * **(E1)** evaluating ok(e) never fails: each part of it is evaluated only if the parts before
//!   it say that this part can be;
//! * **(E2)** if ok(e) is true, evaluating `e` does not fail.
//!
//! Both by induction on `e`; `expressions.rs` has one line for each kind. The converse of (E2) holds
//! but for quantifiers over ranges, enumerations and booleans, which end at the first value that
//! decides: there ok(e) asks for every value. A program may therefore be called wrong for an error
//! that the order of values avoids, never right for one that happens.
//!
//! Before: `t[n] := x / y`, with `t: array [0..3] of 0..9`
//! After: `assert !isundefined(n) & n <= 3 & !isundefined(x) & !isundefined(y) & y != 0 & …;` and
//! the statement.
//!
//! Calls and aliases must be gone (see [`super::Inliner`], which keeps what arguments and aliases
//! evaluate as `put` statements). What cannot be said as a condition is refused: a number that may not fit in 64 bits,
//! and an element of a multiset that may have been removed.

mod defined;
mod expressions;
mod statements;

use std::collections::{HashMap, HashSet};

use crate::ast::{Body, Expression, Property, PropertyKind, Quantifier, Statement, StatementKind};
use crate::check::Dialect;
use crate::diagnostic::Diagnostic;
use crate::source::Span;

use super::build::{is_true, statement, text};
use super::declarations::{Declarations, Scope, bind, bind_variables, local_variables};
use super::flatten::Flattened;
use super::identity::Path;

/// A program in which only assertions fail.
#[derive(Debug, Clone)]
pub struct Checked {
    /// Rules and start states, with a check before every statement that may fail.
    pub program: Flattened,
    /// For each rule, when its guard can be evaluated.
    pub guards: Vec<Expression>,
    /// For each property, when its condition can be evaluated.
    pub properties: Vec<Expression>,
}

/// Makes the errors of a program explicit. Its rules call no functions.
pub fn explicit_errors(
    declarations: &Declarations,
    program: &Flattened,
    dialect: Dialect,
) -> Result<Checked, Vec<Diagnostic>> {
    let defined = defined::always_defined(declarations, program);
    let errors = Errors { declarations, defined, dialect };
    let mut checked =
        Checked { program: program.clone(), guards: Vec::new(), properties: Vec::new() };
    let mut problems = Vec::new();
    for rule in &mut checked.program.rules {
        let mut context = Context::of(&rule.quantifiers, None);
        let guard = rule.guard.as_ref().map(|guard| errors.evaluates(&mut context, guard));
        checked.guards.push(kept(guard, rule.span, &mut problems));
        let mut context = Context::of(&rule.quantifiers, Some(&rule.body));
        match errors.statements(&mut context, &rule.body.statements) {
            Ok(statements) => rule.body.statements = statements,
            Err(problem) => problems.push(problem),
        }
    }
    for start in &mut checked.program.start_states {
        let body = &mut start.item.1;
        let mut context = Context::of(&start.quantifiers, Some(body));
        match errors.statements(&mut context, &body.statements) {
            Ok(statements) => {
                body.statements = statements;
                body.statements.extend(errors.begins_defined(start.span));
            }
            Err(problem) => problems.push(problem),
        }
    }
    for property in &program.properties {
        let mut context = Context::of(&property.quantifiers, None);
        let condition = errors.evaluates(&mut context, &property.item.condition);
        checked.properties.push(kept(Some(condition), property.span, &mut problems));
    }
    if problems.is_empty() { Ok(checked) } else { Err(problems) }
}

fn kept(
    condition: Option<Result<Expression, Diagnostic>>,
    span: Span,
    problems: &mut Vec<Diagnostic>,
) -> Expression {
    match condition {
        Some(Ok(condition)) => condition,
        Some(Err(problem)) => {
            problems.push(problem);
            super::build::boolean(true, span)
        }
        None => super::build::boolean(true, span),
    }
}

/// Leaves out `put` statements that cannot fail.
pub fn without_idle_puts(declarations: &Declarations, program: &mut Flattened) {
    let (defined, dialect) = (HashSet::new(), Dialect::default());
    let errors = Errors { declarations, defined, dialect };
    for rule in &mut program.rules {
        let context = Context::of(&rule.quantifiers, Some(&rule.body));
        rule.body.statements = errors.without_idle_puts(&context, &rule.body.statements);
    }
    for start in &mut program.start_states {
        let body = &mut start.item.1;
        let context = Context::of(&start.quantifiers, Some(body));
        body.statements = errors.without_idle_puts(&context, &body.statements);
    }
}

/// Says when expressions and statements can be evaluated.
#[derive(Debug)]
struct Errors<'d> {
    declarations: &'d Declarations,
    /// Places of the state that are defined from the start states on.
    defined: HashSet<Path>,
    /// Whether copying an undefined value is an error.
    dialect: Dialect,
}

/// What is bound where something is evaluated.
#[derive(Debug, Clone, Default)]
struct Context {
    /// The types of all that is bound.
    scope: Scope,
    /// Local variables: they may be undefined. Whatever else is bound has a value.
    variables: HashSet<String>,
    /// The variables of multiset filters, with the multiset they go through.
    positions: HashMap<String, Expression>,
}

impl Context {
    /// Within the quantifiers of a rule or property, and with the variables of a body.
    fn of(quantifiers: &[Quantifier], body: Option<&Body>) -> Context {
        let mut context = Context::default();
        bind(&mut context.scope, quantifiers);
        if let Some(Body { declarations, .. }) = body {
            bind_variables(&mut context.scope, declarations);
            let names = local_variables(declarations).map(|(name, _)| name.text.clone());
            context.variables.extend(names);
        }
        context
    }
}

/// An assertion that what follows does not fail, if there is something to assert.
fn check(condition: Expression, span: Span) -> Option<Statement> {
    if is_true(&condition) {
        return None;
    }
    let message = Some(text("this can be evaluated", span));
    let property = Property { kind: PropertyKind::Check, message, condition };
    Some(statement(StatementKind::Property(property), span))
}
