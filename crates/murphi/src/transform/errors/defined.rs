//! Places of the state that are never undefined once a start state has run.
//!
//! A path is a place without the values of its indices (`identity.rs`). A path stays defined if no rule can make it undefined: no rule undefines it or a place that it is
//! part of, and whatever is copied to it, alone or as part of a record or array, comes from a path
//! that stays defined. The greatest set of such paths is found by taking out what breaks that, until
//! nothing does. **(E3)** If all places of such a path are defined after each start state, they are
//! defined always, also between two statements of a rule; by induction on the statements of a run,
//! since each of them leaves every place of the set defined.
//!
//! That they are defined after each start state is asserted there, so nothing rests on guessing it;
//! paths that some start state does not evidently define are not tried.

use std::collections::HashSet;

use crate::ast::{
    Domain, Expression, ExpressionKind, Quantifier, Statement, StatementKind, TypeExpression,
    TypeKind,
};
use crate::source::Span;
use crate::transform::build::{
    expression, field, index, name, not, not_taken, quantified, quantifier,
};
use crate::transform::declarations::{Declarations, Scope};
use crate::transform::flatten::Flattened;
use crate::transform::identity::{Path, Step, path};
use crate::transform::visit::{each_statement, root};

use super::{Context, Errors, check};

/// Whether a place is a part of the state.
pub(super) fn is_of_state(context: &Context, place: &Expression) -> bool {
    root(place).is_some_and(|name| !context.scope.contains_key(name))
}

/// The paths that stay defined, if start states define them.
pub(super) fn always_defined(declarations: &Declarations, program: &Flattened) -> HashSet<Path> {
    let mut found: HashSet<Path> = HashSet::new();
    for (name, ty) in declarations.state() {
        simple_paths(declarations, vec![Step::Name(name.clone())], ty, &mut found);
    }
    for start in &program.start_states {
        let assigned = assigned(&start.item.1.statements);
        found.retain(|path| assigned.iter().any(|prefix| path.starts_with(prefix)));
    }
    loop {
        let before = found.len();
        for rule in &program.rules {
            let variables = Context::of(&[], Some(&rule.body)).variables;
            take_out(declarations, &variables, &rule.body.statements, &mut found);
        }
        if found.len() == before {
            return found;
        }
    }
}

/// The simple paths of a type. What is in multisets is not followed.
fn simple_paths(
    declarations: &Declarations,
    path: Path,
    ty: &TypeExpression,
    found: &mut HashSet<Path>,
) {
    let longer = |step: Step| {
        let mut longer = path.clone();
        longer.push(step);
        longer
    };
    match &declarations.resolve(ty).kind {
        TypeKind::Record(fields) => {
            for each in fields {
                for name in &each.names {
                    let path = longer(Step::Field(name.text.clone()));
                    simple_paths(declarations, path, &each.ty, found);
                }
            }
        }
        TypeKind::Array { element, .. } => {
            simple_paths(declarations, longer(Step::Element), element, found);
        }
        TypeKind::Multiset { .. } => {}
        _ => {
            found.insert(path);
        }
    }
}

/// The paths of which statements give every place a value: each index is the variable of a loop that
/// goes through all of them. What comes under a condition does not count, nor what is undefined later.
fn assigned(statements: &[Statement]) -> Vec<Path> {
    let mut found = Vec::new();
    gather_assigned(statements, &mut Vec::new(), &mut found);
    found
}

fn gather_assigned(statements: &[Statement], loops: &mut Vec<String>, found: &mut Vec<Path>) {
    for statement in statements {
        match &statement.kind {
            StatementKind::Assign { value, .. }
                if matches!(value.kind, ExpressionKind::Undefined) => {}
            StatementKind::Assign { target: place, .. } | StatementKind::Clear(place)
                if goes_through_all(place, &mut loops.clone()) =>
            {
                found.push(path(place));
            }
            StatementKind::Undefine(place) => {
                let undefined = path(place);
                found.retain(|path| !path.starts_with(&undefined));
            }
            StatementKind::For { quantifiers, body } => {
                let outer = loops.len();
                let whole =
                    quantifiers.iter().filter(|each| matches!(each.domain, Domain::Type(_)));
                loops.extend(whole.map(|each| each.name.text.clone()));
                gather_assigned(body, loops, found);
                loops.truncate(outer);
            }
            _ => {}
        }
    }
}

/// Whether each index of a place is another one of these variables.
fn goes_through_all(place: &Expression, loops: &mut Vec<String>) -> bool {
    match &place.kind {
        ExpressionKind::Name(_) => true,
        ExpressionKind::Field(inner, _) => goes_through_all(inner, loops),
        ExpressionKind::Index(inner, at) => {
            let ExpressionKind::Name(variable) = &at.kind else { return false };
            let Some(number) = loops.iter().position(|each| each == variable) else { return false };
            loops.remove(number);
            goes_through_all(inner, loops)
        }
        _ => false,
    }
}

/// What is copied to a place.
enum Copied {
    /// Something with a value: computed, bound or constant.
    Value,
    /// What the state has at a path.
    State(Path),
    /// Something that may be undefined.
    Unknown,
}

fn copied(declarations: &Declarations, variables: &HashSet<String>, value: &Expression) -> Copied {
    match root(value) {
        _ if matches!(value.kind, ExpressionKind::Undefined) => Copied::Unknown,
        Some(name) if variables.contains(name) => Copied::Unknown,
        Some(name) if declarations.is_global(name) => Copied::State(path(value)),
        _ => Copied::Value,
    }
}

/// Takes out what statements may make undefined.
fn take_out(
    declarations: &Declarations,
    variables: &HashSet<String>,
    statements: &[Statement],
    found: &mut HashSet<Path>,
) {
    each_statement(statements, &mut |statement| match &statement.kind {
        StatementKind::Undefine(place) => {
            let undefined = path(place);
            found.retain(|path| !path.starts_with(&undefined));
        }
        StatementKind::Assign { target, value } => {
            let to = path(target);
            let copied = copied(declarations, variables, value);
            let stays = |path: &Path| {
                let Some(rest) = path.strip_prefix(to.as_slice()) else { return true };
                match &copied {
                    Copied::Value => rest.is_empty(),
                    Copied::State(from) => found.contains(&[from.as_slice(), rest].concat()),
                    Copied::Unknown => false,
                }
            };
            let kept: HashSet<Path> = found.iter().filter(|path| stays(path)).cloned().collect();
            *found = kept;
        }
        _ => {}
    });
}

impl Errors<'_> {
    /// Asserts that what is taken to be always defined is so after a start state.
    pub(super) fn begins_defined(&self, span: Span) -> Vec<Statement> {
        let mut paths: Vec<&Path> = self.defined.iter().collect();
        paths.sort();
        paths.into_iter().filter_map(|path| check(self.is_defined(path, span)?, span)).collect()
    }

    /// That all places of a path are defined.
    fn is_defined(&self, path: &Path, span: Span) -> Option<Expression> {
        let (Step::Name(first), steps) = path.split_first()? else { return None };
        let mut place = name(first, span);
        let mut bound: Vec<Quantifier> = Vec::new();
        for step in steps {
            if let Step::Field(part) = step {
                place = field(place, part);
                continue;
            }
            let ty = self.declarations.of(&Scope::new(), &place)?;
            let (at, _) = self.declarations.array(&ty)?;
            let variable = not_taken(&format!("index_{}", bound.len() + 1), |wish| {
                self.declarations.declared().any(|name| name == wish)
            });
            place = index(place, name(&variable, span));
            bound.push(quantifier(&variable, at));
        }
        let is_undefined = expression(ExpressionKind::IsUndefined(Box::new(place)), span);
        let inner = not(is_undefined);
        Some(bound.into_iter().rev().fold(inner, |inner, each| quantified(true, vec![each], inner)))
    }
}
