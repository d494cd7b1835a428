//! Calls of functions and procedures.

use super::functions::CallSite;
use super::scope::Symbol;
use super::{Check, Checker, Reported};
use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::ir::{Argument, Call, Expression, ExpressionKind, FunctionId, StatementKind, TypeId};
use crate::source::Span;

impl Checker<'_> {
    /// A call whose result is used.
    pub(super) fn call_expression(&mut self, call: &ast::Call, span: Span) -> Check<Expression> {
        let (call, result) = self.call(call, span)?;
        if let Some(ty) = result {
            return Ok(Expression { kind: ExpressionKind::Call(call), ty, span });
        }
        let text = self.text(span);
        let message = format!("`{text}` has no value: it calls a procedure");
        Err(self.error(Diagnostic::error(span, message)))
    }

    /// A call as a statement. CMurphi wants a procedure here, Rumur lets a result be dropped.
    pub(super) fn call_statement(&mut self, call: &ast::Call, span: Span) -> Check<StatementKind> {
        let (call, _) = self.call(call, span)?;
        Ok(StatementKind::Call(call))
    }

    fn call(&mut self, call: &ast::Call, span: Span) -> Check<(Call, Option<TypeId>)> {
        let Some(callee) = self.callee(&call.name) else {
            // The arguments may hold mistakes of their own.
            for argument in &call.arguments {
                if argument.kind != ast::ExpressionKind::Undefined {
                    let _ = self.expression(argument);
                }
            }
            return Err(Reported);
        };
        let wanted = self.signatures[callee].parameters.len();
        let found = call.arguments.len();
        if wanted != found {
            let name = &call.name.text;
            let message = format!("`{name}` takes {}, not {found}", arguments(wanted));
            let declared = self.signatures[callee].span;
            let diagnostic = Diagnostic::error(call.name.span, message);
            return Err(self.error(diagnostic.related(declared, "declared here")));
        }
        let mut arguments = Vec::with_capacity(found);
        let mut references = Vec::with_capacity(found);
        for (index, argument) in call.arguments.iter().enumerate() {
            let argument = self.argument(callee, index, argument);
            references.push(match &argument {
                Ok(Argument::Reference(place)) => Some(self.root(place)),
                _ => None,
            });
            arguments.push(argument);
        }
        self.effects.calls.push(CallSite { callee, span: call.name.span, references });
        let arguments = arguments.into_iter().collect::<Check<Vec<_>>>()?;
        let function = FunctionId(self.order.as_ref().map_or(callee as u32, |order| order[callee]));
        Ok((Call { function, arguments, span }, self.signatures[callee].result))
    }

    /// The function that is called, or `None` if something is wrong with the name.
    fn callee(&mut self, name: &ast::Name) -> Option<usize> {
        let entry = self.scopes.find(&name.text);
        let diagnostic = match entry.map(|entry| entry.symbol) {
            Some(Symbol::Function(callee)) => {
                return (!self.signatures[callee].broken).then_some(callee);
            }
            Some(Symbol::Broken) => return None,
            Some(_) => {
                let message = format!("`{}` is not a function or procedure", name.text);
                Diagnostic::error(name.span, message)
            }
            None => {
                let is_function = |symbol| matches!(symbol, Symbol::Function(_));
                let message = format!("unknown function or procedure `{}`", name.text);
                self.unknown(&name.text, name.span, message, is_function);
                return None;
            }
        };
        self.error(diagnostic);
        None
    }

    fn argument(
        &mut self,
        callee: usize,
        index: usize,
        written: &ast::Expression,
    ) -> Check<Argument> {
        let parameter = self.signatures[callee].parameters[index].clone();
        match parameter.by_reference {
            true => self.reference(&parameter.name, parameter.ty, written),
            false => self.value_argument(&parameter.name, parameter.ty, written),
        }
    }

    fn reference(
        &mut self,
        name: &str,
        wanted: TypeId,
        written: &ast::Expression,
    ) -> Check<Argument> {
        let designator = matches!(
            written.kind,
            ast::ExpressionKind::Name(_)
                | ast::ExpressionKind::Field(..)
                | ast::ExpressionKind::Index(..)
        );
        if !designator {
            let message = format!("only a variable can be passed for `var {name}`");
            return Err(self.error(Diagnostic::error(written.span, message)));
        }
        let place = self.place(written)?;
        self.require_writable(&place, &format!("pass {{}} for `var {name}`"))?;
        if self.same_type(place.ty, wanted) {
            return Ok(Argument::Reference(place));
        }
        let message = format!(
            "`var {name}` is of type `{}`, but this is of type `{}`",
            self.type_name(wanted),
            self.type_name(place.ty)
        );
        let help = "an argument passed by reference must have exactly the type of the parameter";
        Err(self.error(Diagnostic::error(written.span, message).help(help)))
    }

    fn value_argument(
        &mut self,
        name: &str,
        wanted: TypeId,
        written: &ast::Expression,
    ) -> Check<Argument> {
        let span = written.span;
        if written.kind == ast::ExpressionKind::Undefined {
            let kind = ExpressionKind::Undefined;
            return Ok(Argument::Value(Expression { kind, ty: wanted, span }));
        }
        let value = self.expression(written)?;
        let value = self.fit(value, wanted, |found, wanted| {
            format!("cannot pass a value of `{found}` for `{name}`, which is of type `{wanted}`")
        })?;
        self.warn_of_value_outside(&value, wanted, "this argument");
        Ok(Argument::Value(value))
    }
}

fn arguments(count: usize) -> String {
    match count {
        0 => "no arguments".to_owned(),
        1 => "1 argument".to_owned(),
        _ => format!("{count} arguments"),
    }
}
