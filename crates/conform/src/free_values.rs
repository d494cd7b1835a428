//! Decides from the source whether every store can have a distinct value.
//!
//! A rule chooses a value by a parameter that ranges over all values. The value is free if it
//! reaches at most one store: then each store of a run can be given any value, independently of the
//! others. This is evident if a store takes the parameter itself, directly or passed by value, at
//! most once on every path through the rule and not in a loop; then no value that is kept in the
//! state is ever stored. Diagnostics point to each exception: two stores of one parameter in a
//! rule; a store of a value from memory or from a buffer, of a value that the guard fixes for a
//! parameter, or of a value that a start state chose. Whether such a value is really stored twice
//! is then decided by a search (`stored_once.rs`). The cost is linear in the size of the model.

use murphi::diagnostic::Diagnostic;
use murphi::ir::{
    AliasTarget, Argument, Assign, Base, Binder, Call, Domain, Expression, ExpressionKind,
    Function, LocalId, Parameter, Place, Put, Statement, StatementKind, Step, Storage,
};
use murphi::source::Span;

use crate::events::Protocol;
use crate::foundations::{Foundation, Unestablished};

/// The stores whose values are not evidently free, with their places.
pub(crate) fn doubts(protocol: &Protocol) -> Vec<Unestablished> {
    let model = &*protocol.model;
    let mut analysis = Analysis { summaries: Vec::new(), chosen: Vec::new(), found: Vec::new() };
    for (number, function) in model.functions.iter().enumerate() {
        analysis.chosen = by_value(function);
        let mut stored = analysis.block(&function.body);
        if number == protocol.store.id.0 as usize {
            analysis.after(&mut stored, Stored(vec![STORED_VALUE]), function.span);
        }
        analysis.summaries.push(stored);
    }
    for (rule, chosen) in model.rules.iter().zip(&protocol.treatment.chosen) {
        analysis.chosen.clone_from(chosen);
        let mut stored = analysis.parameters(&rule.parameters);
        if let Some(guard) = &rule.guard {
            let next = analysis.expression(guard);
            analysis.after(&mut stored, next, guard.span);
        }
        let next = analysis.block(&rule.body);
        analysis.after(&mut stored, next, rule.span);
    }
    // A value that a start state chooses is an initial value, and is not chosen for a store.
    analysis.chosen.clear();
    for rule in &model.start_states {
        analysis.parameters(&rule.parameters);
        analysis.block(&rule.body);
    }
    let mut found = analysis.found;
    found.sort_by_key(|(span, _)| (span.start, span.end));
    found.dedup();
    found.into_iter().map(|(span, why)| doubt(span, why)).collect()
}

/// The parameter of the marking procedure that has the value.
const STORED_VALUE: LocalId = LocalId(2);

/// The parameters that a function takes by value; they are never assigned.
fn by_value(function: &Function) -> Vec<LocalId> {
    let parameters = function.frame.locals.iter().take(function.parameters).enumerate();
    let own = parameters.filter(|(_, local)| local.storage == Storage::Own);
    own.map(|(number, _)| LocalId(number as u32)).collect()
}

/// Why a value may not be free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    /// It is not a parameter that the rule chooses.
    Kept,
    /// The parameter may be stored more than once.
    OwnRun,
}

fn doubt(span: Span, why: Why) -> Unestablished {
    let reason = match why {
        Why::Kept => "the value may be in the memory already, or be stored again later",
        Why::OwnRun => "the value may be stored more than once",
    };
    let message = format!("not established: every store can have a distinct value; here {reason}");
    let help = "choose the value by a parameter of the rule that stores it, and store it once";
    let diagnostic = Diagnostic::warning(span, message).help(help);
    Unestablished { about: Foundation::FreeValues, diagnostic }
}

/// The locals that are stored on some path.
#[derive(Debug, Clone, Default)]
struct Stored(Vec<LocalId>);

impl Stored {
    /// Merges two alternative paths.
    fn or(&mut self, other: Stored) {
        for local in other.0 {
            if !self.0.contains(&local) {
                self.0.push(local);
            }
        }
    }
}

struct Analysis {
    /// For each function so far, the parameters that it stores.
    summaries: Vec<Stored>,
    /// The values that may be stored: parameters that the rule chooses, or that the function takes
    /// by value.
    chosen: Vec<LocalId>,
    found: Vec<(Span, Why)>,
}

impl Analysis {
    /// The locals that a sequence of two parts stores; the second part is at this place.
    fn after(&mut self, first: &mut Stored, next: Stored, span: Span) {
        if next.0.iter().any(|local| first.0.contains(local)) {
            self.found.push((span, Why::OwnRun));
        }
        first.or(next);
    }

    /// The locals that a repeated part stores.
    fn repeated(&mut self, once: Stored, span: Span) -> Stored {
        if !once.0.is_empty() {
            self.found.push((span, Why::OwnRun));
        }
        once
    }

    fn block(&mut self, statements: &[Statement]) -> Stored {
        let mut stored = Stored::default();
        for statement in statements {
            let next = self.statement(statement);
            self.after(&mut stored, next, statement.span);
        }
        stored
    }

    fn statement(&mut self, statement: &Statement) -> Stored {
        match &statement.kind {
            StatementKind::If { branches, otherwise } => {
                let (mut conditions, mut ways) = (Stored::default(), self.block(otherwise));
                for (condition, body) in branches {
                    let next = self.expression(condition);
                    self.after(&mut conditions, next, condition.span);
                    ways.or(self.block(body));
                }
                self.after(&mut conditions, ways, statement.span);
                conditions
            }
            StatementKind::Switch { value, cases, otherwise } => {
                let (mut conditions, mut ways) = (self.expression(value), self.block(otherwise));
                for (values, body) in cases {
                    let next = self.all(values.iter());
                    self.after(&mut conditions, next, statement.span);
                    ways.or(self.block(body));
                }
                self.after(&mut conditions, ways, statement.span);
                conditions
            }
            StatementKind::For { binder, body, .. } => {
                let mut stored = self.domain(binder);
                let next = self.block(body);
                let next = self.repeated(next, statement.span);
                self.after(&mut stored, next, statement.span);
                stored
            }
            StatementKind::While { condition, body } => {
                let mut stored = self.expression(condition);
                let next = self.block(body);
                self.after(&mut stored, next, statement.span);
                self.repeated(stored, statement.span)
            }
            StatementKind::Alias { target, body, .. } => {
                let mut stored = self.alias(target);
                let next = self.block(body);
                self.after(&mut stored, next, statement.span);
                stored
            }
            StatementKind::MultisetRemoveWhere { binder, condition } => {
                let mut stored = self.domain(binder);
                let next = self.expression(condition);
                let next = self.repeated(next, condition.span);
                self.after(&mut stored, next, statement.span);
                stored
            }
            other => self.simple(other),
        }
    }

    /// The locals that a statement without nested statements stores.
    fn simple(&mut self, statement: &StatementKind) -> Stored {
        match statement {
            StatementKind::Assign(Assign { target, value, .. }) => self.both(target, value),
            StatementKind::MultisetAdd { value, multiset } => self.both(multiset, value),
            StatementKind::MultisetRemove { position, multiset } => self.both(multiset, position),
            StatementKind::Call(call) => self.call(call),
            StatementKind::Return(Some(value)) | StatementKind::Put(Put::Value(value)) => {
                self.expression(value)
            }
            StatementKind::Assert { condition, .. }
            | StatementKind::Assume(condition)
            | StatementKind::Cover { condition, .. } => self.expression(condition),
            StatementKind::Clear(place) | StatementKind::Undefine(place) => self.place(place),
            _ => Stored::default(),
        }
    }

    fn both(&mut self, place: &Place, value: &Expression) -> Stored {
        let mut stored = self.place(place);
        let next = self.expression(value);
        self.after(&mut stored, next, value.span);
        stored
    }

    /// The locals that a call stores: the parameters of the callee become arguments.
    fn call(&mut self, call: &Call) -> Stored {
        let mut stored = Stored::default();
        let handed_on = self.summaries[call.function.0 as usize].clone();
        for (number, argument) in call.arguments.iter().enumerate() {
            let next = match argument {
                Argument::Value(value) => self.expression(value),
                Argument::Reference(place) => self.place(place),
            };
            self.after(&mut stored, next, call.span);
            if !handed_on.0.contains(&LocalId(number as u32)) {
                continue;
            }
            let Argument::Value(value) = argument else { continue };
            match plain_local(value).filter(|local| self.chosen.contains(local)) {
                Some(local) => self.after(&mut stored, Stored(vec![local]), value.span),
                None => self.found.push((value.span, Why::Kept)),
            }
        }
        stored
    }

    fn expression(&mut self, expression: &Expression) -> Stored {
        match &expression.kind {
            ExpressionKind::Constant(_) | ExpressionKind::Undefined => Stored::default(),
            ExpressionKind::Read(place) | ExpressionKind::IsUndefined(place) => self.place(place),
            ExpressionKind::Not(inner)
            | ExpressionKind::Negate(inner)
            | ExpressionKind::Complement(inner)
            | ExpressionKind::Convert(inner)
            | ExpressionKind::IsMember { value: inner, .. } => self.expression(inner),
            ExpressionKind::Binary(_, left, right) | ExpressionKind::Same { left, right, .. } => {
                self.all([&**left, &**right].into_iter())
            }
            ExpressionKind::Conditional(condition, left, right) => {
                let mut stored = self.expression(condition);
                let mut ways = self.expression(left);
                ways.or(self.expression(right));
                self.after(&mut stored, ways, expression.span);
                stored
            }
            ExpressionKind::Quantified { binder, condition, .. }
            | ExpressionKind::MultisetCount { binder, condition } => {
                let mut stored = self.domain(binder);
                let next = self.expression(condition);
                let next = self.repeated(next, condition.span);
                self.after(&mut stored, next, expression.span);
                stored
            }
            ExpressionKind::Call(call) => self.call(call),
        }
    }

    /// The locals that a sequence of expressions stores.
    fn all<'e>(&mut self, expressions: impl Iterator<Item = &'e Expression>) -> Stored {
        let mut stored = Stored::default();
        for expression in expressions {
            let next = self.expression(expression);
            self.after(&mut stored, next, expression.span);
        }
        stored
    }

    fn place(&mut self, place: &Place) -> Stored {
        let indices = place.steps.iter().filter_map(|step| match step {
            Step::Field(_) => None,
            Step::Index(index) | Step::Element(index) => Some(index),
        });
        self.all(indices)
    }

    fn alias(&mut self, target: &AliasTarget) -> Stored {
        match target {
            AliasTarget::Place(place) => self.place(place),
            AliasTarget::Value(value) => self.expression(value),
        }
    }

    fn domain(&mut self, binder: &Binder) -> Stored {
        match &binder.domain {
            Domain::Type(_) => Stored::default(),
            Domain::Range { from, to, by } => self.all([&**from, &**to, &**by].into_iter()),
            Domain::Multiset(place) => self.place(place),
        }
    }

    fn parameters(&mut self, parameters: &[Parameter]) -> Stored {
        let mut stored = Stored::default();
        for parameter in parameters {
            let next = match parameter {
                Parameter::Each(binder) => self.domain(binder),
                Parameter::Alias { target, .. } => self.alias(target),
            };
            stored.or(next);
        }
        stored
    }
}

/// The local, if an expression consists of it alone.
fn plain_local(expression: &Expression) -> Option<LocalId> {
    match &expression.kind {
        ExpressionKind::Read(Place { base: Base::Local(local), steps, .. }) if steps.is_empty() => {
            Some(*local)
        }
        _ => None,
    }
}
