//! The largest number of events of a step of a protocol, according to its source: the size of the
//! recorder's array.
//!
//! A branch counts as its longest alternative, a loop as its body times its largest number of
//! iterations, and a call as its function. Functions only call earlier ones.

use murphi::ir::{
    Binder, Call, Domain, ExpressionKind, FunctionId, Model, Statement, StatementKind, TypeKind,
};

use crate::events::{Marker, Protocol};

/// The largest number of events of one step that are recorded.
const MOST_EVENTS: u64 = 1024;

/// The largest number of events of a step. Loops without an evident bound get [`MOST_EVENTS`], and
/// so do protocols in which a function with events returns a value: it may be called in any
/// expression.
pub(super) fn most_events(protocol: &Protocol) -> u64 {
    let model = &*protocol.model;
    let markers = [Some(&protocol.load), Some(&protocol.store), protocol.commit.as_ref()];
    let is_marker =
        |id: usize| markers.iter().flatten().any(|marker: &&Marker| marker.id.0 as usize == id);
    let mut of_function = Vec::with_capacity(model.functions.len());
    for (id, function) in model.functions.iter().enumerate() {
        let inside = Counting { model, of_function: &of_function }.block(&function.body);
        let events = inside.saturating_add(u64::from(is_marker(id)));
        if function.result.is_some() && events > 0 {
            return MOST_EVENTS;
        }
        of_function.push(events);
    }
    let counting = Counting { model, of_function: &of_function };
    let rules = model.rules.iter().chain(&model.start_states);
    rules.map(|rule| counting.block(&rule.body)).max().unwrap_or(0).clamp(1, MOST_EVENTS)
}

/// Counts the events of statements.
struct Counting<'a> {
    model: &'a Model,
    of_function: &'a [u64],
}

impl Counting<'_> {
    fn block(&self, statements: &[Statement]) -> u64 {
        let counts = statements.iter().map(|statement| self.statement(statement));
        counts.fold(0, u64::saturating_add)
    }

    fn statement(&self, statement: &Statement) -> u64 {
        match &statement.kind {
            StatementKind::Call(Call { function: FunctionId(id), .. }) => {
                self.of_function[*id as usize]
            }
            StatementKind::If { branches, otherwise } => {
                self.longest(branches.iter().map(|(_, body)| body), otherwise)
            }
            StatementKind::Switch { cases, otherwise, .. } => {
                self.longest(cases.iter().map(|(_, body)| body), otherwise)
            }
            StatementKind::For { binder, body, .. } => {
                self.block(body).saturating_mul(self.rounds(binder))
            }
            StatementKind::While { body, .. } => self.block(body).saturating_mul(MOST_EVENTS),
            StatementKind::Alias { body, .. } => self.block(body),
            _ => 0,
        }
    }

    fn longest<'s>(
        &self,
        bodies: impl Iterator<Item = &'s Vec<Statement>>,
        otherwise: &[Statement],
    ) -> u64 {
        bodies.map(|body| self.block(body)).fold(self.block(otherwise), u64::max)
    }

    fn rounds(&self, binder: &Binder) -> u64 {
        match &binder.domain {
            Domain::Type(ty) => self.model.count(*ty),
            Domain::Range { from, to, .. } => match (&from.kind, &to.kind) {
                (ExpressionKind::Constant(from), ExpressionKind::Constant(to)) => {
                    to.abs_diff(*from).saturating_add(1)
                }
                _ => MOST_EVENTS,
            },
            Domain::Multiset(place) => match self.model.kind(place.ty) {
                TypeKind::Multiset { capacity, .. } => u64::from(*capacity),
                _ => MOST_EVENTS,
            },
        }
    }
}
