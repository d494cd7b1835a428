//! Execution of statements.

use super::error::RuntimeErrorKind;
use super::expression::{Execution, Stop};
use super::memory::{Address, room_of_position};
use crate::ir::{Binder, Expression, Place, Put, Statement, StatementKind, TypeKind};
use crate::source::Span;
use crate::value::Value;

/// How a statement ended.
pub(super) enum Flow {
    /// Go on with the next one.
    Next,
    /// Leave the function or rule, with a value and where it was written.
    Return(Option<(Value, Span)>),
}

impl<'m> Execution<'m> {
    /// Executes statements in order until one of them returns.
    pub(super) fn block(&mut self, statements: &'m [Statement]) -> Result<Flow, Stop> {
        for statement in statements {
            let flow = self.statement(statement)?;
            if matches!(flow, Flow::Return(_)) {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    fn statement(&mut self, statement: &'m Statement) -> Result<Flow, Stop> {
        let span = statement.span;
        match &statement.kind {
            StatementKind::Assign(assign) => {
                let target = self.address(&assign.target)?;
                let value = match assign.copies_undefined {
                    true => self.evaluate_or_undefined(&assign.value)?,
                    false => self.evaluate(&assign.value)?,
                };
                self.admit(&value, assign.target.ty, assign.value.span)?;
                self.write(&target, value, assign.target.span)?;
            }
            StatementKind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    if self.truth(condition)? {
                        return self.block(body);
                    }
                }
                return self.block(otherwise);
            }
            StatementKind::Switch { value, cases, otherwise } => {
                let value = self.evaluate_to_compare(value)?;
                for (candidates, body) in cases {
                    for candidate in candidates {
                        if self.evaluate_to_compare(candidate)? == value {
                            return self.block(body);
                        }
                    }
                }
                return self.block(otherwise);
            }
            StatementKind::For { binder, body, runs_all: false } => {
                for value in self.domain(binder)? {
                    self.bind(binder.local, value);
                    let flow = self.block(body)?;
                    if matches!(flow, Flow::Return(_)) {
                        return Ok(flow);
                    }
                }
            }
            StatementKind::For { binder, body, runs_all: true } => {
                return self.run_all(binder, body);
            }
            StatementKind::While { condition, body } => {
                return self.repeat(condition, body, span);
            }
            StatementKind::Alias { local, target, body } => {
                self.bind_alias(*local, target)?;
                return self.block(body);
            }
            StatementKind::Call(call) => {
                self.call(call)?;
            }
            StatementKind::Return(None) => return Ok(Flow::Return(None)),
            StatementKind::Return(Some(value)) => {
                let result = self.evaluate_to_hand_on(value)?;
                return Ok(Flow::Return(Some((result, value.span))));
            }
            StatementKind::Clear(place) => {
                let address = self.address(place)?;
                self.write(&address, Value::least(self.model, place.ty), place.span)?;
            }
            StatementKind::Undefine(place) => {
                let address = self.address(place)?;
                self.write(&address, Value::undefined(self.model, place.ty), place.span)?;
            }
            StatementKind::Error(message) => {
                return Err(self.fail(RuntimeErrorKind::ErrorStatement, span, message.clone()));
            }
            StatementKind::Assert { condition, message } => {
                if !self.truth(condition)? {
                    let message = match message {
                        Some(message) => format!("assertion failed: {message}"),
                        None => "assertion failed".to_owned(),
                    };
                    return Err(self.fail(RuntimeErrorKind::AssertionFailed, span, message));
                }
            }
            StatementKind::Assume(condition) => {
                if !self.truth(condition)? {
                    return Err(Stop::Excluded);
                }
            }
            StatementKind::Cover { condition, number } => {
                if self.truth(condition)? {
                    self.covered.push(*number);
                }
            }
            StatementKind::Put(Put::Text(text)) => self.output.push_str(text),
            StatementKind::Put(Put::Value(value)) => {
                let result = self.evaluate_or_undefined(value)?;
                self.output.push_str(&result.render(self.model, value.ty));
            }
            StatementKind::MultisetAdd { value, multiset } => {
                self.add_element(value, multiset, span)?;
            }
            StatementKind::MultisetRemove { position, multiset } => {
                let at = self.number(position)?;
                let address = self.address(multiset)?;
                let at = self.occupied(&address, at, position.span)?;
                let values = self.elements(&address, multiset.span)?;
                values[room_of_position(at)] = Value::Removed(None);
            }
            StatementKind::MultisetRemoveWhere { binder, condition } => {
                let mut removed = Vec::new();
                let address = self.filter(binder, condition, |room| removed.push(room))?;
                let values = self.elements(&address, binder.span)?;
                for room in removed {
                    // The condition may itself have emptied the multiset.
                    if let Some(value) = values.get_mut(room) {
                        *value = Value::Removed(None);
                    }
                }
            }
        }
        Ok(Flow::Next)
    }

    /// Runs all rounds of a loop. What one of them excludes or returns takes effect after the last.
    fn run_all(&mut self, binder: &'m Binder, body: &'m [Statement]) -> Result<Flow, Stop> {
        let (mut end, mut excluded) = (Flow::Next, false);
        for value in self.domain(binder)? {
            self.bind(binder.local, value);
            match self.unless_excluded(|this| this.block(body))? {
                Some(Flow::Next) => {}
                Some(returned) => end = returned,
                None => excluded = true,
            }
        }
        match excluded {
            true => Err(Stop::Excluded),
            false => Ok(end),
        }
    }

    fn repeat(
        &mut self,
        condition: &'m Expression,
        body: &'m [Statement],
        span: Span,
    ) -> Result<Flow, Stop> {
        let limit = self.model.loop_limit;
        let mut rounds = 0;
        while self.truth(condition)? {
            if rounds == limit {
                let message = format!("this loop has not ended after {limit} iterations");
                return Err(self.fail(RuntimeErrorKind::LoopLimit, span, message));
            }
            rounds += 1;
            let flow = self.block(body)?;
            if matches!(flow, Flow::Return(_)) {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    fn add_element(
        &mut self,
        value: &'m Expression,
        multiset: &'m Place,
        span: Span,
    ) -> Result<(), Stop> {
        let element = self.evaluate_to_hand_on(value)?;
        let address = self.address(multiset)?;
        let TypeKind::Multiset { capacity, element: ty } = *self.model.kind(multiset.ty) else {
            unreachable!("elements are added to a multiset");
        };
        self.admit(&element, ty, value.span)?;
        let values = self.elements(&address, multiset.span)?;
        // A room of its own first, so that gaps are filled only when they have to be.
        if values.len() < capacity as usize {
            values.push(element);
        } else if let Some(gap) = values.iter_mut().find(|at| **at == Value::Removed(None)) {
            *gap = Value::Removed(Some(Box::new(element)));
        } else {
            let name = self.memory.render(&address);
            let plural = if capacity == 1 { "" } else { "s" };
            let message = format!("`{name}` is full: it already has {capacity} element{plural}");
            return Err(self.fail(RuntimeErrorKind::MultisetFull, span, message));
        }
        Ok(())
    }

    /// The elements of the multiset at an address, to be changed.
    fn elements(&mut self, address: &Address, span: Span) -> Result<&mut Vec<Value>, Stop> {
        // Asked first, because a failure needs to look at the memory again.
        self.rooms(address, span)?;
        match self.memory.write(address) {
            Ok(Value::Multiset(values)) => Ok(values),
            _ => unreachable!("the address was found to be a multiset"),
        }
    }
}
