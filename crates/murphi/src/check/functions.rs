//! Functions and procedures: signatures, bodies, recursion, and what they change.
//!
//! Conditions of rules and properties must not change the state, so for each function it is found
//! out whether it does, itself or by those it calls. A `var` parameter changes what is passed for
//! it; everything else that is not a local of its own is the state.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::recursion::{self, Component};
use super::scope::{Access, Root, Scope, Symbol};
use super::{Checker, LocalInfo, Reading};
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
        // A parameter does not hide the type of the result.
        let result = function.result.as_ref().map(|result| self.type_expression(result, None));
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
            // Known when all functions have been looked at.
            is_recursive: false,
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
        let help = "that would be a run-time error";
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
        let has_more = self.model.has_undefined_value(ty);
        if has_more || matches!(self.model.simple(ty), Some(Simple::Integer) | None) {
            return false;
        }
        let known: BTreeSet<i64> = values.filter_map(super::constants::value_of).collect();
        known.len() as u64 >= self.model.count(ty)
    }

    /// Finds recursion, then adds to the effects of each function those of its callees.
    pub(super) fn spread_effects(&mut self) {
        let components = self.components();
        let recursive = components.iter().filter(|component| component.is_recursive);
        for function in recursive.flat_map(|component| &component.functions) {
            if let Some(function) = self.model.functions.get_mut(*function) {
                function.is_recursive = true;
            }
        }
        if self.options.reading == Reading::Strict
            && let Some(cycle) = components.iter().find(|component| component.is_recursive)
        {
            return self.report_recursion(&cycle.functions);
        }
        self.limit_chains(&components);
        for component in &components {
            while self.spread_effects_in(component) && component.is_recursive {}
        }
        if let Some(order) = &self.order {
            let mut numbered: Vec<(u32, Function)> =
                order.iter().copied().zip(std::mem::take(&mut self.model.functions)).collect();
            numbered.sort_by_key(|(number, _)| *number);
            self.model.functions = numbered.into_iter().map(|(_, function)| function).collect();
        }
    }

    /// Adds to the effects of some functions those of their callees. Says whether there were more.
    fn spread_effects_in(&mut self, component: &Component) -> bool {
        let mut more = false;
        for &caller in &component.functions {
            let calls = std::mem::take(&mut self.signatures[caller].effects.calls);
            let extent = |effects: &Effects| (effects.state.is_some(), effects.parameters.len());
            let before = extent(&self.signatures[caller].effects);
            for call in &calls {
                for (root, span) in self.changes(call) {
                    self.signatures[caller].effects.writes(root, span);
                }
            }
            self.signatures[caller].effects.calls = calls;
            more |= before != extent(&self.signatures[caller].effects);
        }
        more
    }

    /// Functions by who calls whom, callees first.
    fn components(&self) -> Vec<Component> {
        let calls = self.signatures.iter().map(|signature| {
            signature.effects.calls.iter().map(|call| call.callee).collect::<Vec<usize>>()
        });
        recursion::components(&calls.collect::<Vec<_>>())
    }

    /// Refuses long chains of calls: every call takes stack, also where the model is run. How often
    /// functions may call themselves is limited when they run.
    fn limit_chains(&mut self, components: &[Component]) {
        let mut length = vec![1; self.signatures.len()];
        let mut too_long = None;
        for component in components {
            let mut longest = 1;
            for caller in &component.functions {
                for call in &self.signatures[*caller].effects.calls {
                    if component.functions.contains(&call.callee) {
                        continue;
                    }
                    longest = longest.max(length[call.callee] + 1);
                    if longest > LONGEST_CHAIN && too_long.is_none() {
                        too_long = Some(call.span);
                    }
                }
            }
            component.functions.iter().for_each(|&function| length[function] = longest);
        }
        if let Some(span) = too_long {
            let message = format!("functions call each other more than {LONGEST_CHAIN} deep");
            self.error(Diagnostic::error(span, message).help("use a shorter chain of calls"));
        }
    }

    /// For each function, the most bytes that it and what it calls need at the same time, if each
    /// needs `own` of them, and if it calls itself, once.
    pub(super) fn calls_in_bytes(&self, own: impl Fn(usize) -> u64) -> Vec<u64> {
        let mut bytes = vec![0; self.signatures.len()];
        for component in self.components() {
            let functions = &component.functions;
            let calls = functions.iter().flat_map(|&caller| &self.signatures[caller].effects.calls);
            let deepest = calls.map(|call| bytes[call.callee]).max().unwrap_or(0);
            let together: u64 = functions.iter().map(|&function| own(function)).sum();
            functions.iter().for_each(|&function| bytes[function] = together + deepest);
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
        let components = self.components();
        let order: Vec<usize> =
            components.into_iter().flat_map(|component| component.functions).collect();
        if order.is_sorted() {
            return None;
        }
        let mut numbers = vec![0; order.len()];
        for (number, &function) in order.iter().enumerate() {
            numbers[function] = number as u32;
        }
        Some(numbers)
    }

    /// Refuses recursion. The functions call each other in a circle.
    fn report_recursion(&mut self, functions: &[usize]) {
        let cycle = self.cycle(functions);
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
        let help = "`tribunal explore` supports recursion; `tribunal verify` does not";
        let mut diagnostic = Diagnostic::error(span, message).help(help);
        for &(function, span) in &cycle[1..] {
            diagnostic = diagnostic.related(span, format!("the call in `{}`", name(function)));
        }
        self.error(diagnostic);
    }

    /// A shortest circle of calls from the first of some functions that call each other: each
    /// function and the place where it calls the next one.
    fn cycle(&self, functions: &[usize]) -> Vec<(usize, Span)> {
        let Some(&first) = functions.first() else { return Vec::new() };
        // How each function was reached, and by which call.
        let mut reached: BTreeMap<usize, (usize, Span)> = BTreeMap::new();
        let mut open = VecDeque::from([first]);
        while let Some(caller) = open.pop_front() {
            for call in &self.signatures[caller].effects.calls {
                if functions.contains(&call.callee) && !reached.contains_key(&call.callee) {
                    reached.insert(call.callee, (caller, call.span));
                    open.push_back(call.callee);
                }
            }
        }
        let mut cycle = Vec::new();
        let mut at = first;
        while let Some(&(caller, span)) = reached.get(&at) {
            cycle.push((caller, span));
            at = caller;
            if at == first {
                break;
            }
        }
        cycle.reverse();
        cycle
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
