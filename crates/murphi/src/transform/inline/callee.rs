//! What is kept of a function for its calls: its body with nothing left to inline in it, what it
//! changes, and, if all it does is to return something, that as one expression.
//!
//! Functions only call those before them, so each is prepared once. An expression in place of a call
//! must not skip a check: where a parameter or the result is of a range that its value might not be
//! in, the function is not such an expression.

use std::collections::HashSet;

use crate::ast::{
    Body, Call, DeclarationKind, Expression, ExpressionKind, Function, FunctionDefinition,
    Statement, StatementKind, TypeExpression, TypeKind,
};
use crate::diagnostic::Diagnostic;
use crate::source::Span;

use super::{Inliner, Result};
use crate::transform::declarations::Scope;
use crate::transform::effects::written;
use crate::transform::substitute::Substitution;
use crate::transform::{each_statement, expression, name, not_taken};

/// A function with nothing left to inline in it.
#[derive(Debug, Clone)]
pub(super) struct Callee {
    pub(super) parameters: Vec<Parameter>,
    pub(super) result: Option<TypeExpression>,
    pub(super) body: Body,
    /// What it returns, if that is all it does.
    pub(super) value: Option<Expression>,
    /// The roots of what it changes, its parameters included.
    pub(super) writes: HashSet<String>,
    pub(super) span: Span,
}

/// A parameter of a function.
#[derive(Debug, Clone)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) by_reference: bool,
    pub(super) ty: TypeExpression,
}

impl Inliner<'_> {
    pub(super) fn callee(&self, function: &Function) -> Result<Callee> {
        let FunctionDefinition::Body(body) = &function.definition else {
            return Err(Diagnostic::error(
                function.span,
                "foreign code (`externfun`) cannot be inlined",
            ));
        };
        let mut parameters = parameters(function);
        let body = self.with_own_names(&mut parameters, body);
        let scope: Scope =
            parameters.iter().map(|each| (each.name.clone(), each.ty.clone())).collect();
        let body = self.body(&scope, &body)?;
        let value = match (&function.result, body.declarations.is_empty()) {
            (Some(ty), true) => {
                returned(&body.statements).filter(|_| self.returns(&scope, &body, ty))
            }
            _ => None,
        };
        let writes = written(&body.statements);
        let result = function.result.clone();
        Ok(Callee { parameters, result, body, value, writes, span: function.span })
    }

    /// The body of a function in which nothing hides what is declared: what comes in by calls speaks
    /// of that.
    fn with_own_names(&self, parameters: &mut [Parameter], body: &Body) -> Body {
        let mut apart = Substitution::default();
        let mut taken: HashSet<String> = self.types.declared().cloned().collect();
        let mut own = |hiding: &mut String| {
            let wish = not_taken(hiding, |wish| taken.contains(wish));
            apart.insert(hiding, name(&wish, Span::default()));
            taken.insert(wish.clone());
            *hiding = wish;
        };
        parameters.iter_mut().for_each(|parameter| own(&mut parameter.name));
        let mut declarations = body.declarations.clone();
        for declaration in &mut declarations {
            if let DeclarationKind::Variable(variables) = &mut declaration.kind {
                variables.names.iter_mut().for_each(|name| own(&mut name.text));
            }
        }
        apart.avoid(taken);
        Body { declarations, statements: apart.statements(&body.statements) }
    }

    /// The function that is called.
    pub(super) fn found(&self, call: &Call) -> Result<&Callee> {
        self.functions.get(&call.name.text).ok_or_else(|| {
            let message = format!("unknown function `{}`", call.name.text);
            Diagnostic::error(call.name.span, message)
        })
    }

    /// Whether everything that a function returns belongs to its type.
    fn returns(&self, scope: &Scope, body: &Body, ty: &TypeExpression) -> bool {
        let mut fits = true;
        each_statement(&body.statements, &mut |statement| {
            if let StatementKind::Return(Some(value)) = &statement.kind {
                fits &= !self.narrows(scope, value, ty);
            }
        });
        fits
    }

    /// Whether something of this type might not take all values of an expression. The checker has
    /// compared a number with it, but not one that is chosen by a condition.
    pub(super) fn narrows(&self, scope: &Scope, value: &Expression, ty: &TypeExpression) -> bool {
        !matches!(value.kind, ExpressionKind::Integer(_)) && self.may_not_be(scope, value, ty)
    }

    /// Whether an expression, by its type alone, may have a value that is not of another type.
    fn may_not_be(&self, scope: &Scope, value: &Expression, ty: &TypeExpression) -> bool {
        if let ExpressionKind::Conditional(_, left, right) = &value.kind {
            return self.may_not_be(scope, left, ty) || self.may_not_be(scope, right, ty);
        }
        let wanted = &self.types.resolve(ty).kind;
        let found = self.types.of(scope, value);
        match found.as_ref().map(|found| &self.types.resolve(found).kind) {
            // A union has members that the type may not have.
            Some(found @ TypeKind::Union(_)) => found != wanted,
            Some(found) => matches!(wanted, TypeKind::Range(..)) && found != wanted,
            None => matches!(wanted, TypeKind::Range(..)),
        }
    }
}

fn parameters(function: &Function) -> Vec<Parameter> {
    let mut found = Vec::new();
    for parameter in &function.parameters {
        found.extend(parameter.names.iter().map(|name| Parameter {
            name: name.text.clone(),
            by_reference: parameter.by_reference,
            ty: parameter.ty.clone(),
        }));
    }
    found
}

/// What statements return, as one expression.
fn returned(statements: &[Statement]) -> Option<Expression> {
    let (first, rest) = statements.split_first()?;
    match &first.kind {
        StatementKind::Return(Some(value)) => Some(value.clone()),
        StatementKind::If { branches, otherwise } => {
            let mut value = match otherwise {
                Some(otherwise) => returned(otherwise)?,
                None => returned(rest)?,
            };
            for branch in branches.iter().rev() {
                let then = returned(&branch.body)?;
                let parts = [branch.condition.clone(), then, value].map(Box::new);
                let [condition, then, otherwise] = parts;
                let kind = ExpressionKind::Conditional(condition, then, otherwise);
                value = expression(kind, first.span);
            }
            Some(value)
        }
        _ => None,
    }
}
