//! A call as statements: the body of the function with its parameters replaced.
//!
//! A parameter by value is replaced by its argument if that keeps its value throughout, and is a
//! variable of the rule otherwise; one by reference is the place that it is given, which must stay
//! the same place. Variables of the function become variables of the rule, undefined anew in each
//! round of a loop, and one more holds the result.

use std::collections::HashSet;

use crate::ast::{
    Call, Declaration, DeclarationKind, Expression, Statement, StatementKind, TypeExpression,
    Variables,
};
use crate::diagnostic::Diagnostic;
use crate::source::Span;

use super::callee::{Callee, Parameter};
use super::{Inliner, Place, Result, touched};
use crate::transform::effects::is_moved;
use crate::transform::substitute::Substitution;
use crate::transform::{
    assign, each_statement, identifier, name, names, not_taken, root, statement,
};

impl Inliner<'_> {
    /// What a call does, and the variable that holds its result.
    pub(super) fn call(
        &self,
        place: &mut Place,
        call: &Call,
        span: Span,
    ) -> Result<(Vec<Statement>, Option<Expression>)> {
        let callee = self.found(call)?;
        let mut done = Vec::new();
        let mut substitution = Substitution::default();
        substitution.avoid(place.scope.keys().cloned());
        let writes = all_writes(callee, call);
        for (parameter, argument) in callee.parameters.iter().zip(&call.arguments) {
            done.extend(touched(argument));
            let value = match self.needs_variable(place, callee, parameter, argument, &writes)? {
                true => {
                    let variable = self.variable(place, &parameter.name, &parameter.ty);
                    let target = name(&variable, argument.span);
                    done.push(assign(target.clone(), argument.clone(), span));
                    target
                }
                false => argument.clone(),
            };
            substitution.insert(&parameter.name, value);
        }
        self.locals(place, callee, span, &mut substitution, &mut done);
        let mut statements = substitution.statements(&callee.body.statements);
        let result = self.result(place, callee, call, span, &mut statements);
        no_return(&statements, callee.span)?;
        done.extend(statements);
        Ok((done, result))
    }

    /// Whether a parameter must be a variable because its argument may change meanwhile, or it
    /// itself does, or because assigning to it is a check.
    fn needs_variable(
        &self,
        place: &Place,
        callee: &Callee,
        parameter: &Parameter,
        argument: &Expression,
        writes: &HashSet<String>,
    ) -> Result<bool> {
        if parameter.by_reference {
            if is_moved(argument, writes) {
                let message = "the index of this argument changes during the call";
                return Err(Diagnostic::error(argument.span, message));
            }
            return Ok(false);
        }
        let changes = names(argument).iter().any(|name| writes.contains(name))
            || callee.writes.contains(&parameter.name);
        Ok(changes || self.narrows(&place.scope, argument, &parameter.ty))
    }

    /// Makes variables of the rule of those of a function.
    fn locals(
        &self,
        place: &mut Place,
        callee: &Callee,
        span: Span,
        substitution: &mut Substitution,
        done: &mut Vec<Statement>,
    ) {
        for declaration in &callee.body.declarations {
            let DeclarationKind::Variable(Variables { names, ty }) = &declaration.kind else {
                continue;
            };
            for local in names {
                let variable = self.variable(place, &local.text, ty);
                let target = name(&variable, local.span);
                if place.in_loop {
                    done.push(statement(StatementKind::Undefine(target.clone()), span));
                }
                substitution.insert(&local.text, target);
            }
        }
    }

    /// Puts a variable in place of the `return` at the end of a body.
    fn result(
        &self,
        place: &mut Place,
        callee: &Callee,
        call: &Call,
        span: Span,
        statements: &mut Vec<Statement>,
    ) -> Option<Expression> {
        let is_return = |last: &mut Statement| matches!(last.kind, StatementKind::Return(_));
        let StatementKind::Return(value) = statements.pop_if(is_return)?.kind else { return None };
        let (value, ty) = (value?, callee.result.as_ref()?);
        let variable = name(&self.variable(place, &call.name.text, ty), span);
        statements.push(assign(variable.clone(), value, span));
        Some(variable)
    }

    /// A new variable of the rule.
    fn variable(&self, place: &mut Place, wish: &str, ty: &TypeExpression) -> String {
        let variable = not_taken(wish, |name| {
            place.scope.contains_key(name) || self.types.declared().any(|other| other == name)
        });
        place.scope.insert(variable.clone(), ty.clone());
        let variables = Variables { names: vec![identifier(&variable, ty.span)], ty: ty.clone() };
        let kind = DeclarationKind::Variable(variables);
        place.variables.push(Declaration { kind, span: ty.span });
        variable
    }
}

/// The roots of what a call changes, in terms of the caller.
fn all_writes(callee: &Callee, call: &Call) -> HashSet<String> {
    let mut writes = callee.writes.clone();
    for (parameter, argument) in callee.parameters.iter().zip(&call.arguments) {
        let is_written = writes.remove(&parameter.name);
        if is_written && parameter.by_reference {
            writes.extend(root(argument).map(str::to_owned));
        }
    }
    writes
}

fn no_return(statements: &[Statement], span: Span) -> Result<()> {
    let mut returns = false;
    each_statement(statements, &mut |statement| {
        returns |= matches!(statement.kind, StatementKind::Return(_));
    });
    if !returns {
        return Ok(());
    }
    let message = "an early `return` is not supported for any number of processors";
    let help = "write an `if` with `else` instead of returning early";
    Err(Diagnostic::error(span, message).help(help))
}
