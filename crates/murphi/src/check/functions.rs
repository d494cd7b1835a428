//! Functions and procedures: signatures, bodies, recursion, and what they change.
//!
//! Conditions of rules and properties must not change the state, so for each function it is found
//! out whether it does, itself or by those it calls. A `var` parameter changes what is passed for
//! it; everything else that is not a local of its own is the state.

use std::collections::BTreeSet;

use super::scope::{Access, Root, Scope, Symbol};
use super::{Checker, LocalInfo};
use crate::ast::{self, FunctionDefinition};
use crate::diagnostic::{Diagnostic, Severity};
use crate::ir::{Function, Simple, Statement, StatementKind, Storage, TypeId};
use crate::source::Span;

/// How many functions may be in the middle of a call at once.
const LONGEST_CHAIN: usize = 100;

/// What a call needs to know about a function.
#[derive(Debug)]
pub(super) struct Signature {
    /// Its name.
    pub(super) name: String,
    /// Where that was declared.
    pub(super) span: Span,
    /// Its parameters.
    pub(super) parameters: Vec<ParameterSignature>,
    /// The type of its result; `None` for a procedure.
    pub(super) result: Option<TypeId>,
    /// Whether something is wrong with it, so that calls of it are not complained about.
    pub(super) broken: bool,
    /// What it changes and calls.
    pub(super) effects: Effects,
    /// The names its parameters declare, members of their enumerations included.
    scope: Scope,
}

/// A parameter.
#[derive(Debug, Clone)]
pub(super) struct ParameterSignature {
    /// Its name.
    pub(super) name: String,
    /// Its type.
    pub(super) ty: TypeId,
    /// Whether it is a `var` parameter.
    pub(super) by_reference: bool,
}

/// What a piece of code changes, besides its own locals.
#[derive(Debug, Default)]
pub(super) struct Effects {
    /// Where it changes the state, if it does.
    pub(super) state: Option<Span>,
    /// Which parameters it changes.
    pub(super) parameters: BTreeSet<usize>,
    /// Whom it calls.
    pub(super) calls: Vec<CallSite>,
}

/// A call.
#[derive(Debug)]
pub(super) struct CallSite {
    /// Who is called, by the order of the source.
    pub(super) callee: usize,
    /// Where.
    pub(super) span: Span,
    /// For each argument that is passed by reference, what it belongs to.
    pub(super) references: Vec<Option<Root>>,
}

impl Effects {
    /// Notes a change.
    pub(super) fn writes(&mut self, root: Root, span: Span) {
        match root {
            Root::State => {
                self.state.get_or_insert(span);
            }
            Root::Parameter(parameter) => {
                self.parameters.insert(parameter);
            }
            Root::Own => {}
        }
    }
}

impl Checker<'_> {
    /// Declares a function, without looking at its body.
    pub(super) fn signature(&mut self, function: &ast::Function) {
        if let FunctionDefinition::External(_) = function.definition {
            self.unsupported(function.name.span, "functions in foreign code (`externfun`)");
        }
        self.scopes.push();
        let mut parameters = Vec::new();
        let mut broken = matches!(function.definition, FunctionDefinition::External(_));
        for group in &function.parameters {
            let ty = self.type_expression(&group.ty, None);
            for name in &group.names {
                let Ok(ty) = ty else {
                    broken = true;
                    self.declare(name, Symbol::Broken);
                    continue;
                };
                let local = crate::ir::LocalId(parameters.len() as u32);
                self.declare(name, Symbol::Local(local));
                let by_reference = group.by_reference;
                parameters.push(ParameterSignature { name: name.text.clone(), ty, by_reference });
            }
        }
        let result = function.result.as_ref().map(|result| self.type_expression(result, None));
        let scope = self.scopes.pop();
        let result = match result {
            Some(Err(_)) => {
                broken = true;
                None
            }
            Some(Ok(ty)) => Some(ty),
            None => None,
        };
        self.declare(&function.name, Symbol::Function(self.signatures.len()));
        self.signatures.push(Signature {
            name: function.name.text.clone(),
            span: function.name.span,
            parameters,
            result,
            broken,
            effects: Effects::default(),
            scope,
        });
    }

    /// Checks the body of a function.
    pub(super) fn function(&mut self, index: usize, function: &ast::Function) {
        let FunctionDefinition::Body(written) = &function.definition else {
            return;
        };
        let signature = &mut self.signatures[index];
        let scope = std::mem::take(&mut signature.scope);
        let parameters = signature.parameters.clone();
        self.result = signature.result;
        for (index, parameter) in parameters.iter().enumerate() {
            let (storage, access, root) = match parameter.by_reference {
                true => (Storage::Reference, Access::Writable, Root::Parameter(index)),
                false => (Storage::Own, Access::ByValue, Root::Own),
            };
            self.add_local(&parameter.name, parameter.ty, storage, LocalInfo { access, root });
        }
        self.scopes.reenter(scope);
        self.scopes.push();
        self.local_declarations(&written.declarations);
        let body = self.statements(&written.statements);
        self.scopes.pop();
        self.scopes.pop();
        self.check_returns(function, &body);
        self.result = None;
        self.locals.clear();
        self.signatures[index].effects = std::mem::take(&mut self.effects);
        self.model.functions.push(Function {
            name: function.name.text.clone(),
            frame: std::mem::take(&mut self.frame),
            parameters: parameters.len(),
            result: self.signatures[index].result,
            body,
            span: function.name.span,
        });
    }

    fn check_returns(&mut self, function: &ast::Function, body: &[Statement]) {
        if self.result.is_none() || self.is_left(body) {
            return;
        }
        let name = &function.name.text;
        if !returns(body) {
            let message = format!("the function `{name}` never returns a value");
            let broken = self.diagnostics.iter().any(|found| {
                found.severity == Severity::Error
                    && function.span.start <= found.span.start
                    && found.span.end <= function.span.end
            });
            // The `return` may be missing here only because there is something wrong with it.
            if !broken {
                self.error(Diagnostic::error(function.name.span, message));
            }
            return;
        }
        let message = format!("the function `{name}` may end without returning a value");
        let help = "if it does, that is an error at run time";
        self.warn(Diagnostic::warning(function.name.span, message).help(help));
    }

    /// Whether the end of some statements cannot be reached.
    fn is_left(&self, statements: &[Statement]) -> bool {
        statements.iter().any(|statement| match &statement.kind {
            StatementKind::Return(_) | StatementKind::Error(_) => true,
            StatementKind::If { branches, otherwise } => {
                branches.iter().all(|(_, body)| self.is_left(body)) && self.is_left(otherwise)
            }
            StatementKind::Switch { value, cases, otherwise } => {
                let all = cases.iter().all(|(_, body)| self.is_left(body));
                let values = cases.iter().flat_map(|(values, _)| values);
                all && (self.is_left(otherwise) || self.covers(value.ty, values))
            }
            StatementKind::Alias { body, .. } => self.is_left(body),
            _ => false,
        })
    }

    /// Whether the values of some cases are all there are.
    fn covers<'e>(
        &self,
        ty: TypeId,
        values: impl Iterator<Item = &'e crate::ir::Expression>,
    ) -> bool {
        if matches!(self.model.simple(ty), Some(Simple::Integer) | None) {
            return false;
        }
        let known: BTreeSet<i64> = values.filter_map(super::constants::value_of).collect();
        known.len() as u64 >= self.model.count(ty)
    }

    /// Refuses recursion, then adds to the effects of each function those of its callees.
    pub(super) fn spread_effects(&mut self) {
        let order = match self.callees_before_callers() {
            Ok(order) => order,
            Err(cycle) => {
                self.report_recursion(&cycle);
                return;
            }
        };
        self.limit_chains(&order);
        for &caller in &order {
            let calls = std::mem::take(&mut self.signatures[caller].effects.calls);
            for call in &calls {
                for (root, span) in self.changes(call) {
                    self.signatures[caller].effects.writes(root, span);
                }
            }
            self.signatures[caller].effects.calls = calls;
        }
        if let Some(order) = &self.order {
            let mut numbered: Vec<(u32, Function)> =
                order.iter().copied().zip(std::mem::take(&mut self.model.functions)).collect();
            numbered.sort_by_key(|(number, _)| *number);
            self.model.functions = numbered.into_iter().map(|(_, function)| function).collect();
        }
    }

    /// Refuses long chains of calls: every call takes stack, also where the model is run.
    fn limit_chains(&mut self, callees_first: &[usize]) {
        let mut length = vec![1; self.signatures.len()];
        let mut too_long = None;
        for &caller in callees_first {
            for call in &self.signatures[caller].effects.calls {
                length[caller] = length[caller].max(length[call.callee] + 1);
                if length[caller] > LONGEST_CHAIN && too_long.is_none() {
                    too_long = Some(call.span);
                }
            }
        }
        if let Some(span) = too_long {
            let message = format!("functions call each other more than {LONGEST_CHAIN} deep");
            self.error(Diagnostic::error(span, message).help("call fewer functions in a row"));
        }
    }

    /// For each function, the most bytes that it and what it calls need at the same time, if each
    /// needs `own` of them.
    pub(super) fn calls_in_bytes(&self, own: impl Fn(usize) -> u64) -> Vec<u64> {
        let mut bytes = vec![0; self.signatures.len()];
        // Recursion has been reported.
        for caller in self.callees_before_callers().unwrap_or_default() {
            let calls = self.signatures[caller].effects.calls.iter();
            let deepest = calls.map(|call| bytes[call.callee]).max().unwrap_or(0);
            bytes[caller] = own(caller) + deepest;
        }
        bytes
    }

    /// What a call changes, and where.
    fn changes(&self, call: &CallSite) -> Vec<(Root, Span)> {
        let effects = &self.signatures[call.callee].effects;
        let state = effects.state.map(|span| (Root::State, span));
        let passed = effects.parameters.iter().filter_map(|&parameter| {
            let root = call.references.get(parameter).copied().flatten()?;
            Some((root, call.span))
        });
        state.into_iter().chain(passed).collect()
    }

    /// The number of each function if callees come before callers and that is not the order of the
    /// source.
    pub(super) fn callees_first(&self) -> Option<Vec<u32>> {
        let broken =
            self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
        if broken || self.order.is_some() {
            return None;
        }
        let order = self.callees_before_callers().ok()?;
        if order.is_sorted() {
            return None;
        }
        let mut numbers = vec![0; order.len()];
        for (number, &function) in order.iter().enumerate() {
            numbers[function] = number as u32;
        }
        Some(numbers)
    }

    /// All functions, callees first and otherwise in the order of the source; or a cycle of calls:
    /// each function and the place where it calls the next one.
    fn callees_before_callers(&self) -> Result<Vec<usize>, Vec<(usize, Span)>> {
        let mut order = Vec::new();
        let mut done = vec![false; self.signatures.len()];
        for root in 0..self.signatures.len() {
            // Each function on the path, and which of its calls is followed next.
            let mut path: Vec<(usize, usize)> = vec![(root, 0)];
            while let Some((function, next)) = path.last_mut() {
                let function = *function;
                if done[function] {
                    path.pop();
                    continue;
                }
                let Some(call) = self.signatures[function].effects.calls.get(*next) else {
                    done[function] = true;
                    order.push(function);
                    path.pop();
                    continue;
                };
                *next += 1;
                if let Some(start) = path.iter().position(|&(other, _)| other == call.callee) {
                    let cycle = path[start..].iter().map(|&(function, next)| {
                        (function, self.signatures[function].effects.calls[next - 1].span)
                    });
                    return Err(cycle.collect());
                }
                path.push((call.callee, 0));
            }
        }
        Ok(order)
    }

    fn report_recursion(&mut self, cycle: &[(usize, Span)]) {
        let name = |function: usize| self.signatures[function].name.as_str();
        let Some(&(first, span)) = cycle.first() else {
            return;
        };
        let mut message = format!("recursion is not supported: `{}` calls ", name(first));
        if cycle.len() == 1 {
            message.push_str("itself");
        } else {
            let others = cycle[1..].iter().map(|&(function, _)| format!("`{}`", name(function)));
            let chain: Vec<String> = others.chain([format!("`{}`", name(first))]).collect();
            message.push_str(&chain.join(", which calls "));
        }
        let mut diagnostic = Diagnostic::error(span, message);
        for &(function, span) in &cycle[1..] {
            diagnostic = diagnostic.related(span, format!("the call in `{}`", name(function)));
        }
        self.error(diagnostic);
    }

    /// Checks something that must not change the state: `what` names it.
    pub(super) fn unchanging<T>(&mut self, what: &str, check: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::take(&mut self.effects);
        let result = check(self);
        let effects = std::mem::replace(&mut self.effects, before);
        for call in &effects.calls {
            let changes = self.changes(call);
            let Some(&(_, span)) = changes.iter().find(|(root, _)| *root == Root::State) else {
                continue;
            };
            let name = &self.signatures[call.callee].name;
            let message = format!("{what} must not change the state, but `{name}` does");
            let diagnostic = Diagnostic::error(call.span, message);
            self.error(match span == call.span {
                true => diagnostic,
                false => diagnostic.related(span, "the state is changed here"),
            });
        }
        result
    }
}

/// Whether there is a `return` with a value somewhere.
fn returns(statements: &[Statement]) -> bool {
    statements.iter().any(|statement| match &statement.kind {
        StatementKind::Return(value) => value.is_some(),
        StatementKind::If { branches, otherwise } => {
            branches.iter().any(|(_, body)| returns(body)) || returns(otherwise)
        }
        StatementKind::Switch { cases, otherwise, .. } => {
            cases.iter().any(|(_, body)| returns(body)) || returns(otherwise)
        }
        StatementKind::For { body, .. }
        | StatementKind::While { body, .. }
        | StatementKind::Alias { body, .. } => returns(body),
        _ => false,
    })
}
