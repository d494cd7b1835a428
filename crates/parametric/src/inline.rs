//! Functions and procedures, put where they are called.
//!
//! What is left is a program of rules alone, in which every processor that a statement speaks of is
//! a parameter, a loop variable or something stored: the form that is abstracted. A parameter by
//! value is replaced by its argument if that keeps its value throughout, and is a variable of the
//! rule otherwise. A call that changes what is read before it in the same expression is refused.

use std::collections::{HashMap, HashSet};

use murphi::ast::{
    Body, Branch, Call, Declaration, DeclarationKind, Expression, ExpressionKind, Function,
    FunctionDefinition, Item, Name, Program, Statement, StatementKind, TypeExpression, TypeKind,
    Variables,
};
use murphi::diagnostic::Diagnostic;
use murphi::source::Span;

use crate::returns::without_returns;
use crate::substitute::Substitution;
use crate::syntax::{
    assign, changed, each_expression, each_part, each_statement, expression, identifier, name,
    names, rebuilt, root, statement,
};
use crate::types::{Scope, Types, bind};

/// Puts functions where they are called.
pub(crate) struct Inliner<'p> {
    types: &'p Types,
    functions: HashMap<String, Callee>,
}

/// A function with nothing left to inline in it.
#[derive(Debug, Clone)]
struct Callee {
    parameters: Vec<(String, bool, TypeExpression)>,
    result: Option<TypeExpression>,
    body: Body,
    /// What it returns, if that is all it does.
    value: Option<Expression>,
    /// The roots of what it changes, its parameters included.
    writes: HashSet<String>,
    span: Span,
}

/// The rule that is worked on.
struct Place {
    /// Names that are bound around.
    scope: Scope,
    /// Variables of the rule.
    variables: Vec<Declaration>,
    in_loop: bool,
}

type Result<T> = std::result::Result<T, Diagnostic>;

impl<'p> Inliner<'p> {
    pub(crate) fn new(program: &Program, types: &'p Types) -> Result<Self> {
        let mut inliner = Inliner { types, functions: HashMap::new() };
        for item in &program.items {
            if let Item::Function(function) = item {
                let callee = inliner.callee(function)?;
                inliner.functions.insert(function.name.text.clone(), callee);
            }
        }
        Ok(inliner)
    }

    /// The body of a rule, with these names bound around it.
    pub(crate) fn body(&self, around: &Scope, body: &Body) -> Result<Body> {
        let mut place = Place { scope: around.clone(), variables: Vec::new(), in_loop: false };
        for declaration in &body.declarations {
            self.declare(&mut place.scope, declaration)?;
        }
        let statements = without_returns(&body.statements);
        let statements = self.statements(&mut place, &statements)?;
        let mut declarations = body.declarations.clone();
        declarations.append(&mut place.variables);
        Ok(Body { declarations, statements })
    }

    /// A guard or the condition of a property.
    pub(crate) fn condition(&self, around: &Scope, condition: &Expression) -> Result<Expression> {
        let mut place = Place { scope: around.clone(), variables: Vec::new(), in_loop: false };
        self.evaluated(&mut place, condition, &mut None)
    }

    fn declare(&self, scope: &mut Scope, declaration: &Declaration) -> Result<()> {
        match &declaration.kind {
            DeclarationKind::Variable(Variables { names, ty }) => {
                for name in names {
                    scope.insert(name.text.clone(), ty.clone());
                }
                Ok(())
            }
            _ => Err(Diagnostic::error(
                declaration.span,
                "a constant or type of a rule or function is not understood for any number of \
                 processors",
            )
            .help("declare it at the top")),
        }
    }

    fn callee(&self, function: &Function) -> Result<Callee> {
        let FunctionDefinition::Body(body) = &function.definition else {
            return Err(Diagnostic::error(function.span, "foreign code cannot be looked into"));
        };
        let parameters: Vec<(String, bool, TypeExpression)> = function
            .parameters
            .iter()
            .flat_map(|parameter| {
                let each =
                    |name: &Name| (name.text.clone(), parameter.by_reference, parameter.ty.clone());
                parameter.names.iter().map(each)
            })
            .collect();
        let scope: Scope =
            parameters.iter().map(|(name, _, ty)| (name.clone(), ty.clone())).collect();
        let body = self.body(&scope, body)?;
        let value = match (&function.result, body.declarations.is_empty()) {
            (Some(ty), true) => {
                returned(&body.statements).filter(|value| self.is_of(&scope, value, ty))
            }
            _ => None,
        };
        let mut writes = HashSet::new();
        each_statement(&body.statements, &mut |statement| {
            writes.extend(changed(statement).and_then(root).map(str::to_owned));
        });
        let result = function.result.clone();
        Ok(Callee { parameters, result, body, value, writes, span: function.span })
    }

    fn statements(&self, place: &mut Place, statements: &[Statement]) -> Result<Vec<Statement>> {
        let mut done = Vec::new();
        for statement in statements {
            self.statement(place, statement, &mut done)?;
        }
        Ok(done)
    }

    fn statement(
        &self,
        place: &mut Place,
        whole: &Statement,
        done: &mut Vec<Statement>,
    ) -> Result<()> {
        let span = whole.span;
        let mut before = Some(Vec::new());
        let kind = match &whole.kind {
            StatementKind::Call(call) => {
                let arguments = self.arguments(place, call, &mut before)?;
                done.append(&mut before.unwrap_or_default());
                let call = Call { name: call.name.clone(), arguments };
                let (statements, _) = self.call(place, &call, span)?;
                done.extend(statements);
                return Ok(());
            }
            StatementKind::Assign { target, value } => {
                let target = self.evaluated(place, target, &mut before)?;
                let first = before.as_ref().map_or(0, Vec::len);
                let value = self.evaluated(place, value, &mut before)?;
                let hoisted = before.as_deref().unwrap_or_default();
                undisturbed(&index_names(&target), &hoisted[first..], span)?;
                undisturbed(&names(&value), &hoisted[..first], span)?;
                StatementKind::Assign { target, value }
            }
            StatementKind::If { branches, otherwise } => {
                let mut made = Vec::new();
                let mut lazily = None;
                for (number, branch) in branches.iter().enumerate() {
                    let hoist = if number == 0 { &mut before } else { &mut lazily };
                    let condition = self.evaluated(place, &branch.condition, hoist)?;
                    made.push(Branch { condition, body: self.statements(place, &branch.body)? });
                }
                let otherwise = match otherwise {
                    Some(body) => Some(self.statements(place, body)?),
                    None => None,
                };
                StatementKind::If { branches: made, otherwise }
            }
            StatementKind::Switch { value, cases, otherwise } => {
                let value = self.evaluated(place, value, &mut before)?;
                let mut made = Vec::new();
                for case in cases {
                    let mut case = case.clone();
                    case.body = self.statements(place, &case.body)?;
                    made.push(case);
                }
                let otherwise = match otherwise {
                    Some(body) => Some(self.statements(place, body)?),
                    None => None,
                };
                StatementKind::Switch { value, cases: made, otherwise }
            }
            StatementKind::For { quantifiers, body } => {
                let (outer, was_in_loop) = (place.scope.clone(), place.in_loop);
                bind(&mut place.scope, quantifiers);
                place.in_loop = true;
                let body = self.statements(place, body);
                (place.scope, place.in_loop) = (outer, was_in_loop);
                StatementKind::For { quantifiers: quantifiers.clone(), body: body? }
            }
            StatementKind::While { condition, body } => {
                let condition = self.evaluated(place, condition, &mut None)?;
                let was_in_loop = std::mem::replace(&mut place.in_loop, true);
                let body = self.statements(place, body);
                place.in_loop = was_in_loop;
                StatementKind::While { condition, body: body? }
            }
            StatementKind::Alias { aliases, body } => {
                let mut substitution = Substitution::default();
                for alias in aliases {
                    let value = substitution.expression(&alias.value);
                    let value = self.evaluated(place, &value, &mut before)?;
                    let scope = place.scope.clone();
                    let mut trial = Place { scope, variables: Vec::new(), in_loop: false };
                    let writes = written(&self.statements(&mut trial, body)?);
                    if index_names(&value).iter().any(|name| writes.contains(name)) {
                        let message = "this alias is indexed by something that changes meanwhile";
                        return Err(Diagnostic::error(alias.value.span, message)
                            .help("write the place out where it is used"));
                    }
                    substitution.insert(&alias.name.text, value);
                }
                done.append(&mut before.unwrap_or_default());
                let body = substitution.statements(body);
                done.extend(self.statements(place, &body)?);
                return Ok(());
            }
            StatementKind::Return(Some(value)) => {
                StatementKind::Return(Some(self.evaluated(place, value, &mut before)?))
            }
            StatementKind::Property(property) => {
                let mut property = property.clone();
                property.condition = self.evaluated(place, &property.condition, &mut None)?;
                StatementKind::Property(property)
            }
            StatementKind::Undefine(target) => {
                StatementKind::Undefine(self.evaluated(place, target, &mut before)?)
            }
            StatementKind::Clear(target) => {
                StatementKind::Clear(self.evaluated(place, target, &mut before)?)
            }
            StatementKind::MultisetAdd { value, multiset } => StatementKind::MultisetAdd {
                value: self.evaluated(place, value, &mut before)?,
                multiset: multiset.clone(),
            },
            // They change nothing.
            StatementKind::Put(_) | StatementKind::PutText(_) => return Ok(()),
            other => {
                let mut has_call = false;
                each_expression(std::slice::from_ref(whole), &mut |part| {
                    has_call |= matches!(part.kind, ExpressionKind::Call(_));
                });
                if has_call {
                    return Err(not_understood(span));
                }
                other.clone()
            }
        };
        done.append(&mut before.unwrap_or_default());
        done.push(Statement { kind, span });
        Ok(())
    }

    /// An expression without calls. What has to be done first goes to `before`; where there is no
    /// such place, nothing may have to be done.
    fn evaluated(
        &self,
        place: &mut Place,
        whole: &Expression,
        before: &mut Option<Vec<Statement>>,
    ) -> Result<Expression> {
        use murphi::ast::BinaryOperator as B;
        if let ExpressionKind::Call(call) = &whole.kind {
            let arguments = self.arguments(place, call, before)?;
            let callee = self.found(call)?;
            let mut fits = callee.parameters.iter().zip(&arguments);
            if let Some(value) = &callee.value
                && !fits.any(|((_, _, ty), argument)| self.narrows(&place.scope, argument, ty))
            {
                let mut substitution = Substitution::default();
                substitution.avoid(place.scope.keys().cloned());
                for ((parameter, ..), argument) in callee.parameters.iter().zip(arguments) {
                    substitution.insert(parameter, argument);
                }
                let value = substitution.expression(value);
                return Ok(Expression { kind: value.kind, span: whole.span });
            }
            let Some(before) = before else { return Err(not_understood(whole.span)) };
            let call = Call { name: call.name.clone(), arguments };
            let (statements, result) = self.call(place, &call, whole.span)?;
            before.extend(statements);
            return result.ok_or_else(|| not_understood(whole.span));
        }
        // Only what is evaluated in any case may be done before.
        let mut problem = None;
        let is_lazy = matches!(
            &whole.kind,
            ExpressionKind::Binary(B::And | B::Or | B::Implies | B::LogicalAnd | B::LogicalOr, ..)
                | ExpressionKind::Conditional(..)
                | ExpressionKind::Quantified { .. }
                | ExpressionKind::MultisetCount(_)
        );
        let outer = place.scope.clone();
        if let ExpressionKind::Quantified { quantifiers, .. } = &whole.kind {
            bind(&mut place.scope, quantifiers);
        }
        let mut earlier: Vec<String> = Vec::new();
        let done = rebuilt(whole, &mut |part| {
            let result = match is_lazy {
                true => self.evaluated(place, part, &mut None),
                false => self.evaluated_after(&mut earlier, place, part, before),
            };
            result.unwrap_or_else(|found| {
                problem.get_or_insert(found);
                part.clone()
            })
        });
        place.scope = outer;
        match problem {
            Some(problem) => Err(problem),
            None => Ok(done),
        }
    }

    /// An expression that is evaluated after those that read `earlier`.
    fn evaluated_after(
        &self,
        earlier: &mut Vec<String>,
        place: &mut Place,
        whole: &Expression,
        before: &mut Option<Vec<Statement>>,
    ) -> Result<Expression> {
        let first = before.as_ref().map_or(0, Vec::len);
        let done = self.evaluated(place, whole, before)?;
        let hoisted = before.as_deref().unwrap_or_default();
        undisturbed(earlier, &hoisted[first..], whole.span)?;
        earlier.extend(names(&done));
        Ok(done)
    }

    fn arguments(
        &self,
        place: &mut Place,
        call: &Call,
        before: &mut Option<Vec<Statement>>,
    ) -> Result<Vec<Expression>> {
        let mut earlier = Vec::new();
        let mut done = Vec::new();
        for argument in &call.arguments {
            done.push(self.evaluated_after(&mut earlier, place, argument, before)?);
        }
        Ok(done)
    }

    fn found(&self, call: &Call) -> Result<&Callee> {
        self.functions.get(&call.name.text).ok_or_else(|| {
            let message = format!("there is no function `{}`", call.name.text);
            Diagnostic::error(call.name.span, message)
        })
    }

    /// What a call does, and the variable that holds its result.
    fn call(
        &self,
        place: &mut Place,
        call: &Call,
        span: Span,
    ) -> Result<(Vec<Statement>, Option<Expression>)> {
        let callee = self.found(call)?.clone();
        let mut done = Vec::new();
        let mut substitution = Substitution::default();
        substitution.avoid(place.scope.keys().cloned());
        let writes = self.all_writes(&callee, call);
        for ((parameter, by_reference, ty), argument) in
            callee.parameters.iter().zip(&call.arguments)
        {
            let reads = names(argument);
            let moves = match by_reference {
                true => index_names(argument).iter().any(|name| writes.contains(name)),
                false => {
                    reads.iter().any(|name| writes.contains(name))
                        || callee.writes.contains(parameter)
                }
            };
            if *by_reference && moves {
                let message = "this argument is indexed by something that changes meanwhile";
                return Err(Diagnostic::error(argument.span, message));
            }
            let is_used = mentions(&callee.body.statements, parameter);
            if moves || (!by_reference && is_used && self.narrows(&place.scope, argument, ty)) {
                let variable = self.variable(place, parameter, ty);
                let target = name(&variable, argument.span);
                done.push(assign(target.clone(), argument.clone(), span));
                substitution.insert(parameter, target);
            } else {
                substitution.insert(parameter, argument.clone());
            }
        }
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
        let mut statements = substitution.statements(&callee.body.statements);
        let mut result = None;
        if let Some(Statement { kind: StatementKind::Return(value), .. }) = statements.last() {
            let value = value.clone();
            statements.pop();
            if let (Some(value), Some(ty)) = (value, &callee.result) {
                let variable = self.variable(place, &call.name.text, ty);
                statements.push(assign(name(&variable, span), value, span));
                result = Some(name(&variable, span));
            }
        }
        let mut returns = false;
        each_statement(&statements, &mut |statement| {
            returns |= matches!(statement.kind, StatementKind::Return(_));
        });
        if returns {
            let message =
                "a `return` before the end is not understood for any number of processors";
            return Err(Diagnostic::error(callee.span, message)
                .help("write an `if` with `else` instead of returning early"));
        }
        done.extend(statements);
        Ok((done, result))
    }

    /// The roots of what a call changes, in terms of the caller.
    fn all_writes(&self, callee: &Callee, call: &Call) -> HashSet<String> {
        let mut writes = callee.writes.clone();
        for ((parameter, by_reference, _), argument) in
            callee.parameters.iter().zip(&call.arguments)
        {
            let is_written = writes.remove(parameter);
            if is_written && *by_reference {
                writes.extend(root(argument).map(str::to_owned));
            }
        }
        writes
    }

    /// Whether a parameter of this type might not take all values of an argument.
    fn narrows(&self, scope: &Scope, argument: &Expression, ty: &TypeExpression) -> bool {
        let TypeKind::Range(..) = &self.types.resolve(ty).kind else { return false };
        if matches!(argument.kind, ExpressionKind::Integer(_)) {
            return false;
        }
        match self.types.of(scope, argument) {
            Some(found) => self.types.resolve(&found).kind != self.types.resolve(ty).kind,
            None => true,
        }
    }

    /// Whether everything that an expression may be belongs to a type.
    fn is_of(&self, scope: &Scope, value: &Expression, ty: &TypeExpression) -> bool {
        match &value.kind {
            ExpressionKind::Conditional(_, left, right) => {
                self.is_of(scope, left, ty) && self.is_of(scope, right, ty)
            }
            _ => !self.narrows(scope, value, ty),
        }
    }

    /// A new variable of the rule.
    fn variable(&self, place: &mut Place, wish: &str, ty: &TypeExpression) -> String {
        let is_taken = |name: &str| {
            place.scope.contains_key(name) || self.types.declared().any(|other| other == name)
        };
        let mut fresh = wish.to_owned();
        let mut number = 2;
        while is_taken(&fresh) {
            fresh = format!("{wish}_{number}");
            number += 1;
        }
        place.scope.insert(fresh.clone(), ty.clone());
        let variables = Variables { names: vec![identifier(&fresh, ty.span)], ty: ty.clone() };
        let kind = DeclarationKind::Variable(variables);
        place.variables.push(Declaration { kind, span: ty.span });
        fresh
    }
}

/// Nothing that was read is changed by statements that come to stand before it.
fn undisturbed(read: &[String], hoisted: &[Statement], span: Span) -> Result<()> {
    let writes = written(hoisted);
    match read.iter().find(|name| writes.contains(*name)) {
        Some(name) => {
            let message = format!("this changes `{name}`, which is read beside it");
            let help = "call the function in an assignment of its own";
            Err(Diagnostic::error(span, message).help(help))
        }
        None => Ok(()),
    }
}

fn not_understood(span: Span) -> Diagnostic {
    Diagnostic::error(span, "this call cannot be replaced by what the function returns")
        .help("let the function consist of `return` and `if`, or call it in an assignment")
}

fn mentions(statements: &[Statement], wanted: &str) -> bool {
    let mut found = false;
    each_expression(statements, &mut |part| {
        found |= matches!(&part.kind, ExpressionKind::Name(name) if name == wanted);
    });
    found
}

/// The roots of all that statements change.
fn written(statements: &[Statement]) -> HashSet<String> {
    let mut writes = HashSet::new();
    each_statement(statements, &mut |statement| {
        writes.extend(changed(statement).and_then(root).map(str::to_owned));
    });
    writes
}

/// The names in the indices of a place.
fn index_names(place: &Expression) -> Vec<String> {
    let mut found = Vec::new();
    each_part(place, &mut |part| {
        if let ExpressionKind::Index(_, at) = &part.kind {
            found.extend(names(at));
        }
    });
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
