//! Positions of a multiset that are used where the order of its elements shows.
//!
//! A position means an element only in the multiset that it was chosen from. In another multiset of the
//! same type, compared with a position in another one, or after the multiset was given new contents as
//! a whole, it picks what happens to be at the same place of the order, and elements have none. That
//! the multisets are the same must be evident: the same variable, fields, constant indices, and indices
//! that cannot have changed since; in the condition of a filter that calls nothing, the same text, as
//! far as no name of it is bound again there.

use std::collections::HashMap;

use super::path::{Meaning, Meanings, Path, Root, has_part, meanings, path};
use crate::ir::{
    AliasTarget, Base, Binder, Call, Domain, Expression, ExpressionKind, Frame, LocalId, Model,
    Parameter, Place, Rule, Simple, Statement, StatementKind, Step, TypeId,
};
use crate::source::Span;
use crate::walk::{self, Visitor};

/// A multiset, or something with one, that is given new contents as a whole.
#[derive(Clone, Copy)]
struct Renewed {
    /// The state variable it belongs to, if that is known.
    global: Option<u32>,
    ty: TypeId,
    span: Span,
}

/// What functions renew, themselves or by those they call.
pub(super) struct Renewals(Vec<Vec<Renewed>>);

impl Renewals {
    pub(super) fn of(model: &Model) -> Renewals {
        let mut renewals = Renewals(vec![Vec::new(); model.functions.len()]);
        // A function calls only functions before it, unless it is recursive.
        let mut is_complete = false;
        while !is_complete {
            is_complete = true;
            for (number, function) in model.functions.iter().enumerate() {
                let mut renewed = renewals.by(&function.body);
                if function.is_recursive {
                    renewed.sort_by_key(|it| (it.global, it.ty, it.span.start));
                    renewed.dedup_by_key(|it| (it.global, it.ty));
                    is_complete &= renewed.len() == renewals.0[number].len();
                }
                renewals.0[number] = renewed;
            }
        }
        renewals
    }

    fn by(&self, statements: &[Statement]) -> Vec<Renewed> {
        let mut collector = Collector { renewals: self, renewed: Vec::new() };
        walk::statements(statements, &mut collector);
        collector.renewed
    }
}

struct Collector<'r> {
    renewals: &'r Renewals,
    renewed: Vec<Renewed>,
}

impl Visitor for Collector<'_> {
    fn statement(&mut self, statement: &Statement) {
        let place = match &statement.kind {
            StatementKind::Assign(assign) => &assign.target,
            StatementKind::Clear(place) | StatementKind::Undefine(place) => place,
            _ => return,
        };
        let global = match place.base {
            Base::Global(global) => Some(global.0),
            Base::Local(_) => None,
        };
        self.renewed.push(Renewed { global, ty: place.ty, span: statement.span });
    }

    fn call(&mut self, call: &Call) {
        self.renewed.extend(&self.renewals.0[call.function.0 as usize]);
    }
}

/// Where positions of a rule are used so that the order of elements shows.
pub(super) fn in_rule(model: &Model, rule: &Rule, renewals: &Renewals) -> Option<Span> {
    let mut positions = Positions::of(model, &rule.frame, 0);
    let mut chosen = Vec::new();
    for parameter in &rule.parameters {
        match parameter {
            Parameter::Each(binder) => {
                positions.bind(binder, None);
                if let Domain::Multiset(place) = &binder.domain {
                    chosen.push(place);
                }
            }
            Parameter::Alias { local, target } => positions.alias(*local, target),
        }
    }
    walk::parameters(&rule.parameters, &mut positions);
    rule.guard.iter().for_each(|guard| walk::expression(guard, &mut positions));
    walk::statements(&rule.body, &mut positions);
    let renewed = renewals.by(&rule.body);
    let shows = chosen.iter().find_map(|place| {
        let global = match place.base {
            Base::Global(global) => Some(global.0),
            Base::Local(_) => None,
        };
        let meets = |it: &&Renewed| {
            let apart = matches!((global, it.global), (Some(one), Some(other)) if one != other);
            !apart && has_part(model, it.ty, place.ty)
        };
        renewed.iter().find(meets).map(|it| it.span)
    });
    positions.found.or(shows)
}

/// Where positions are used so that the order of elements shows, in statements of a function.
pub(super) fn in_function(
    model: &Model,
    (frame, parameters): (&Frame, usize),
    body: &[Statement],
) -> Option<Span> {
    let mut positions = Positions::of(model, frame, parameters);
    walk::statements(body, &mut positions);
    positions.found
}

/// Where positions are used so that the order of elements shows, in a condition.
pub(super) fn in_condition(
    model: &Model,
    frame: &Frame,
    parameters: &[Parameter],
    condition: &Expression,
) -> Option<Span> {
    let mut positions = Positions::of(model, frame, 0);
    for parameter in parameters {
        match parameter {
            Parameter::Each(binder) => positions.bind(binder, None),
            Parameter::Alias { local, target } => positions.alias(*local, target),
        }
    }
    walk::expression(condition, &mut positions);
    positions.found
}

/// The multiset that a position was chosen from.
#[derive(Clone, PartialEq, Eq)]
struct Origin {
    path: Option<Path>,
    /// Its text, where nothing can have changed since.
    text: Option<String>,
}

struct Positions<'m> {
    model: &'m Model,
    frame: &'m Frame,
    meanings: Meanings,
    origins: HashMap<LocalId, Origin>,
    found: Option<Span>,
}

impl<'m> Positions<'m> {
    fn of(model: &'m Model, frame: &'m Frame, parameters: usize) -> Self {
        let mut meanings = meanings(frame, parameters, &[]);
        // An alias keeps its place, whatever that is, so it is a variable of its own until it is
        // bound to a path that cannot change.
        for (number, meaning) in meanings.iter_mut().enumerate() {
            if let Meaning::Place(path) = meaning {
                *path = Path::of(Root::Local(number as u32));
            }
        }
        Positions { model, frame, meanings, origins: HashMap::new(), found: None }
    }

    fn path(&self, place: &Place) -> Option<Path> {
        path(place, &self.meanings).filter(Path::is_the_same_in_all_rounds)
    }

    fn text(&self, span: Span) -> &str {
        &self.model.source.text[span.start as usize..span.end as usize]
    }

    /// A position is bound, for the condition of a filter or for a whole rule.
    fn bind(&mut self, binder: &Binder, condition: Option<&Expression>) {
        let Domain::Multiset(place) = &binder.domain else { return };
        let text = self.text(place.span);
        let means_the_same = condition.is_some_and(|condition| {
            let mut within = Within { frame: self.frame, calls: false, binds: Vec::new() };
            walk::expression(condition, &mut within);
            !within.calls && !words(text).any(|word| within.binds.contains(&word))
        });
        let text = means_the_same.then(|| text.to_owned());
        self.origins.insert(binder.local, Origin { path: self.path(place), text });
    }

    fn origin(&self, position: &Expression) -> Option<&Origin> {
        match &position.kind {
            ExpressionKind::Read(Place { base: Base::Local(local), steps, .. })
                if steps.is_empty() =>
            {
                self.origins.get(local)
            }
            _ => None,
        }
    }

    fn require(&mut self, evident: bool, span: Span) {
        if !evident && self.found.is_none() {
            self.found = Some(span);
        }
    }

    /// A position is used in the multiset that is at the first `steps` steps of a place.
    fn used(&mut self, position: &Expression, place: &Place, steps: usize) {
        let whole = Place { steps: place.steps[..steps].to_vec(), ..place.clone() };
        let path = self.path(&whole);
        let evident = self.origin(position).is_some_and(|origin| {
            let same_path = path.is_some() && origin.path == path;
            let same_text = origin.text.as_ref().is_some_and(|text| {
                self.text(place.span)
                    .strip_prefix(text.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.trim_start().starts_with('['))
            });
            same_path || same_text
        });
        self.require(evident, position.span);
    }

    fn compared(&mut self, left: &Expression, right: &Expression) {
        if matches!(self.model.simple(left.ty), Some(Simple::Position { .. })) {
            let origins = (self.origin(left), self.origin(right));
            let evident = match origins {
                (Some(one), Some(other)) => {
                    one.path.is_some() && one.path == other.path || is_same_local(left, right)
                }
                _ => false,
            };
            self.require(evident, left.span);
        }
    }
}

fn is_same_local(left: &Expression, right: &Expression) -> bool {
    match (&left.kind, &right.kind) {
        (ExpressionKind::Read(left), ExpressionKind::Read(right)) => left.base == right.base,
        _ => false,
    }
}

impl Visitor for Positions<'_> {
    fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::MultisetRemove { position, multiset } => {
                self.used(position, multiset, multiset.steps.len());
            }
            StatementKind::MultisetRemoveWhere { binder, condition } => {
                self.bind(binder, Some(condition));
            }
            StatementKind::Switch { value, cases, .. } => {
                let candidates = cases.iter().flat_map(|(candidates, _)| candidates);
                candidates.for_each(|candidate| self.compared(value, candidate));
            }
            _ => {}
        }
    }

    fn expression(&mut self, expression: &Expression) {
        match &expression.kind {
            ExpressionKind::MultisetCount { binder, condition } => {
                self.bind(binder, Some(condition));
            }
            ExpressionKind::Binary(_, left, right) => self.compared(left, right),
            _ => {}
        }
    }

    fn place(&mut self, place: &Place) {
        for (number, step) in place.steps.iter().enumerate() {
            if let Step::Element(position) = step {
                self.used(position, place, number);
            }
        }
    }

    fn alias(&mut self, local: LocalId, target: &AliasTarget) {
        match target {
            AliasTarget::Value(value) => {
                if let Some(origin) = self.origin(value).cloned() {
                    self.origins.insert(local, origin);
                }
            }
            // With indices that cannot change, an alias is another name of the same path.
            AliasTarget::Place(place) => {
                if let Some(path) = self.path(place) {
                    self.meanings[local.0 as usize] = Meaning::Place(path);
                }
            }
        }
    }
}

/// What is in a condition.
struct Within<'m> {
    frame: &'m Frame,
    calls: bool,
    /// The names of the variables that are bound in it.
    binds: Vec<&'m str>,
}

impl Visitor for Within<'_> {
    fn call(&mut self, _call: &Call) {
        self.calls = true;
    }

    fn expression(&mut self, expression: &Expression) {
        if let ExpressionKind::Quantified { binder, .. }
        | ExpressionKind::MultisetCount { binder, .. } = &expression.kind
        {
            self.binds.push(&self.frame.locals[binder.local.0 as usize].name);
        }
    }
}

/// The names in a text, and its numbers.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
}
