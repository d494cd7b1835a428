//! A walk over a piece of the typed model that shows a visitor everything in it once.
//!
//! Recursion follows the nesting of the source, which the parser limits. Calls are shown but not
//! followed.

use crate::ir::{
    AliasTarget, Argument, Binder, Call, Domain, Expression, ExpressionKind, LocalId, Parameter,
    Place, Put, Statement, StatementKind, Step,
};

/// What wants to be shown the parts of a model. Every part is shown before what is inside it.
pub trait Visitor {
    /// A statement, of any kind.
    fn statement(&mut self, _statement: &Statement) {}
    /// An expression, of any kind.
    fn expression(&mut self, _expression: &Expression) {}
    /// A place, for whatever purpose.
    fn place(&mut self, _place: &Place) {}
    /// A place that a statement changes; it is shown as a place too.
    fn written(&mut self, _place: &Place) {}
    /// A call, in a statement or an expression.
    fn call(&mut self, _call: &Call) {}
    /// An alias, of a rule or a statement.
    fn alias(&mut self, _local: LocalId, _target: &AliasTarget) {}
}

/// Shows what is in it.
pub fn statements(statements: &[Statement], visitor: &mut dyn Visitor) {
    for each in statements {
        visitor.statement(each);
        statement(each, visitor);
    }
}

/// Shows what is in it.
pub fn parameters(parameters: &[Parameter], visitor: &mut dyn Visitor) {
    for parameter in parameters {
        match parameter {
            Parameter::Each(each) => binder(each, visitor),
            Parameter::Alias { local, target } => alias(*local, target, visitor),
        }
    }
}

fn statement(statement: &Statement, visitor: &mut dyn Visitor) {
    match &statement.kind {
        StatementKind::Assign(assign) => {
            written(&assign.target, visitor);
            expression(&assign.value, visitor);
        }
        StatementKind::If { branches, otherwise } => {
            for (condition, body) in branches {
                expression(condition, visitor);
                statements(body, visitor);
            }
            statements(otherwise, visitor);
        }
        StatementKind::Switch { value, cases, otherwise } => {
            expression(value, visitor);
            for (candidates, body) in cases {
                candidates.iter().for_each(|candidate| expression(candidate, visitor));
                statements(body, visitor);
            }
            statements(otherwise, visitor);
        }
        StatementKind::For { binder: variable, body, .. } => {
            binder(variable, visitor);
            statements(body, visitor);
        }
        StatementKind::While { condition, body } => {
            expression(condition, visitor);
            statements(body, visitor);
        }
        StatementKind::Alias { local, target, body } => {
            alias(*local, target, visitor);
            statements(body, visitor);
        }
        StatementKind::Call(each) => call(each, visitor),
        StatementKind::Return(Some(value)) | StatementKind::Put(Put::Value(value)) => {
            expression(value, visitor);
        }
        StatementKind::Return(None) | StatementKind::Error(_) => {}
        StatementKind::Put(Put::Text(_)) => {}
        StatementKind::Clear(target) | StatementKind::Undefine(target) => written(target, visitor),
        StatementKind::Assert { condition, .. }
        | StatementKind::Assume(condition)
        | StatementKind::Cover { condition, .. } => expression(condition, visitor),
        StatementKind::MultisetAdd { value, multiset } => {
            expression(value, visitor);
            written(multiset, visitor);
        }
        StatementKind::MultisetRemove { position, multiset } => {
            expression(position, visitor);
            written(multiset, visitor);
        }
        StatementKind::MultisetRemoveWhere { binder, condition } => {
            if let Domain::Multiset(multiset) = &binder.domain {
                written(multiset, visitor);
            }
            expression(condition, visitor);
        }
    }
}

/// Shows what is in it.
pub fn expression(each: &Expression, visitor: &mut dyn Visitor) {
    visitor.expression(each);
    match &each.kind {
        ExpressionKind::Constant(_) | ExpressionKind::Undefined => {}
        ExpressionKind::Read(read) | ExpressionKind::IsUndefined(read) => place(read, visitor),
        ExpressionKind::Not(operand)
        | ExpressionKind::Negate(operand)
        | ExpressionKind::Complement(operand)
        | ExpressionKind::Convert(operand)
        | ExpressionKind::IsMember { value: operand, .. } => expression(operand, visitor),
        ExpressionKind::Binary(_, left, right) | ExpressionKind::Same { left, right, .. } => {
            expression(left, visitor);
            expression(right, visitor);
        }
        ExpressionKind::Conditional(condition, yes, no) => {
            for part in [condition, yes, no] {
                expression(part, visitor);
            }
        }
        ExpressionKind::Quantified { binder: variable, condition, .. }
        | ExpressionKind::MultisetCount { binder: variable, condition } => {
            binder(variable, visitor);
            expression(condition, visitor);
        }
        ExpressionKind::Call(each) => call(each, visitor),
    }
}

/// Shows what is in it.
pub fn place(place: &Place, visitor: &mut dyn Visitor) {
    visitor.place(place);
    for step in &place.steps {
        match step {
            Step::Field(_) => {}
            Step::Index(index) | Step::Element(index) => expression(index, visitor),
        }
    }
}

fn written(target: &Place, visitor: &mut dyn Visitor) {
    visitor.written(target);
    place(target, visitor);
}

fn alias(local: LocalId, target: &AliasTarget, visitor: &mut dyn Visitor) {
    visitor.alias(local, target);
    match target {
        AliasTarget::Place(target) => place(target, visitor),
        AliasTarget::Value(value) => expression(value, visitor),
    }
}

fn binder(binder: &Binder, visitor: &mut dyn Visitor) {
    match &binder.domain {
        Domain::Type(_) => {}
        Domain::Range { from, to, by } => {
            for part in [from, to, by] {
                expression(part, visitor);
            }
        }
        Domain::Multiset(multiset) => place(multiset, visitor),
    }
}

fn call(call: &Call, visitor: &mut dyn Visitor) {
    visitor.call(call);
    for argument in &call.arguments {
        match argument {
            Argument::Value(value) => expression(value, visitor),
            Argument::Reference(target) => place(target, visitor),
        }
    }
}
