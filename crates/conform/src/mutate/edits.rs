//! Enumerates every single change of a program, in the order of its text.
//!
//! Each function here takes a part of the tree and calls `emit` with each changed version of the
//! part; the caller inserts it into a copy of the surrounding tree. Recursion follows the tree,
//! whose height the parser bounds; a change costs a copy of its surroundings.

use murphi::ast::{
    BinaryOperator, Body, Call, Domain, Expression, ExpressionKind, Function, FunctionDefinition,
    Item, Program, Quantifier, Rule, RuleKind, Statement, StatementKind, TypeExpression, TypeKind,
    UnaryOperator,
};
use murphi::source::Span;

use super::vocabulary::{Slot, Vocabulary, last_name};
use super::{Operator, Replacement};
use crate::events::{COMMIT, EventNames};

/// A change: what and where.
#[derive(Debug, Clone)]
pub(super) struct Edit {
    pub(super) operator: Operator,
    pub(super) span: Span,
    pub(super) place: String,
    pub(super) replacement: Option<Replacement>,
}

/// Calls `emit` with every change and the changed program.
pub(super) fn enumerate(
    program: &Program,
    events: &EventNames,
    emit: &mut dyn FnMut(Edit, Program),
) {
    let editor = Editor { vocabulary: Vocabulary::of(program), events };
    for (at, item) in program.items.iter().enumerate() {
        let mut put = |edit: Edit, item: Item| {
            let mut changed = program.clone();
            changed.items[at] = item;
            emit(edit, changed);
        };
        match item {
            Item::Declaration(_) => {}
            Item::Function(function) => {
                editor.function(function, &mut |edit, changed| put(edit, Item::Function(changed)));
            }
            Item::Rule(rule) => {
                let scope = Scope::default();
                editor.rule(rule, &scope, &mut |edit, changed| put(edit, Item::Rule(changed)));
            }
        }
    }
}

/// The current rule or function, with its parameters.
#[derive(Debug, Clone, Default)]
struct Scope {
    place: String,
    /// Names with the names of their types, innermost last.
    parameters: Vec<(String, String)>,
}

impl Scope {
    fn edit(&self, operator: Operator, span: Span) -> Edit {
        Edit { operator, span, place: self.place.clone(), replacement: None }
    }

    fn replacing(&self, operator: Operator, span: Span, from: &str, to: &str) -> Edit {
        let replacement = Some(Replacement { from: from.to_owned(), to: to.to_owned() });
        Edit { replacement, ..self.edit(operator, span) }
    }

    fn bind(&mut self, name: &str, ty: &TypeExpression) {
        // A name with a structural type still hides an outer one.
        let ty = match &ty.kind {
            TypeKind::Named(ty) => ty.text.clone(),
            _ => String::new(),
        };
        self.parameters.retain(|(known, _)| known != name);
        self.parameters.push((name.to_owned(), ty));
    }

    fn with(&self, quantifiers: &[Quantifier]) -> Scope {
        let mut scope = self.clone();
        for Quantifier { name, domain, .. } in quantifiers {
            match domain {
                Domain::Type(ty) => scope.bind(&name.text, ty),
                Domain::Range { .. } => scope.parameters.retain(|(known, _)| *known != name.text),
            }
        }
        scope
    }

    fn without(&self, names: impl Iterator<Item = String>) -> Scope {
        let mut scope = self.clone();
        for name in names {
            scope.parameters.retain(|(known, _)| *known != name);
        }
        scope
    }

    /// The other parameters of the same type.
    fn alternatives(&self, name: &str) -> Vec<&str> {
        let known = self.parameters.iter().find(|(known, _)| known == name);
        let Some((_, ty)) = known.filter(|(_, ty)| !ty.is_empty()) else { return Vec::new() };
        let others = self.parameters.iter().filter(|(other, of)| of == ty && other != name);
        others.map(|(other, _)| other.as_str()).collect()
    }
}

struct Editor<'a> {
    vocabulary: Vocabulary,
    events: &'a EventNames,
}

impl Editor<'_> {
    fn is_event(&self, name: &str) -> bool {
        let EventNames { load, store, commit } = self.events;
        name == load || name == store || name == commit.as_deref().unwrap_or(COMMIT)
    }

    fn function(&self, function: &Function, emit: &mut dyn FnMut(Edit, Function)) {
        let FunctionDefinition::Body(body) = &function.definition else { return };
        if self.is_event(&function.name.text) {
            return;
        }
        let word = if function.result.is_some() { "function" } else { "procedure" };
        let place = format!("{word} `{}`", function.name.text);
        let mut scope = Scope { place, parameters: Vec::new() };
        for parameter in &function.parameters {
            for name in &parameter.names {
                scope.bind(&name.text, &parameter.ty);
            }
        }
        self.body(body, &scope, &mut |edit, body| {
            let definition = FunctionDefinition::Body(body);
            emit(edit, Function { definition, ..function.clone() });
        });
    }

    fn body(&self, body: &Body, scope: &Scope, emit: &mut dyn FnMut(Edit, Body)) {
        self.block(&body.statements, scope, &mut |edit, statements| {
            emit(edit, Body { declarations: body.declarations.clone(), statements });
        });
    }

    // Rules.

    fn rule(&self, rule: &Rule, scope: &Scope, emit: &mut dyn FnMut(Edit, Rule)) {
        let span = rule.span;
        match &rule.kind {
            RuleKind::StartState { .. } | RuleKind::Property(_) => {}
            RuleKind::Simple { priority, name, guard, body } => {
                let called = name.as_ref().map(|name| format!("rule \"{}\"", name.text));
                let place = called.unwrap_or_else(|| "a rule without a name".to_owned());
                let scope = Scope { place, ..scope.clone() };
                let with = |guard: Option<Expression>, body: Body| Rule {
                    kind: RuleKind::Simple { priority: *priority, name: name.clone(), guard, body },
                    span,
                };
                if let Some(guard) = guard {
                    weaken(guard, &scope, &mut |edit, guard| emit(edit, with(guard, body.clone())));
                }
                self.body(body, &scope, &mut |edit, body| emit(edit, with(guard.clone(), body)));
            }
            RuleKind::Ruleset { quantifiers, rules } => {
                self.rules(rules, &scope.with(quantifiers), &mut |edit, rules| {
                    let kind = RuleKind::Ruleset { quantifiers: quantifiers.clone(), rules };
                    emit(edit, Rule { kind, span });
                });
            }
            RuleKind::Alias { aliases, rules } => {
                let names = aliases.iter().map(|alias| alias.name.text.clone());
                self.rules(rules, &scope.without(names), &mut |edit, rules| {
                    let kind = RuleKind::Alias { aliases: aliases.clone(), rules };
                    emit(edit, Rule { kind, span });
                });
            }
            RuleKind::Choose { name, multiset, rules } => {
                let scope = scope.without([name.text.clone()].into_iter());
                self.rules(rules, &scope, &mut |edit, rules| {
                    let (name, multiset) = (name.clone(), multiset.clone());
                    emit(edit, Rule { kind: RuleKind::Choose { name, multiset, rules }, span });
                });
            }
        }
    }

    fn rules(&self, rules: &[Rule], scope: &Scope, emit: &mut dyn FnMut(Edit, Vec<Rule>)) {
        for (at, rule) in rules.iter().enumerate() {
            self.rule(rule, scope, &mut |edit, rule| {
                let mut changed = rules.to_vec();
                changed[at] = rule;
                emit(edit, changed);
            });
        }
    }

    // Statements.

    fn block(
        &self,
        block: &[Statement],
        scope: &Scope,
        emit: &mut dyn FnMut(Edit, Vec<Statement>),
    ) {
        for (at, statement) in block.iter().enumerate() {
            self.statement(statement, scope, &mut |edit, replacement| {
                let mut changed = block[..at].to_vec();
                changed.extend(replacement);
                changed.extend_from_slice(&block[at + 1..]);
                emit(edit, changed);
            });
        }
    }

    /// The changes of a statement, each of which may be any number of statements.
    fn statement(
        &self,
        statement: &Statement,
        scope: &Scope,
        emit: &mut dyn FnMut(Edit, Vec<Statement>),
    ) {
        let span = statement.span;
        let mut put = |edit: Edit, kind: StatementKind| emit(edit, vec![Statement { kind, span }]);
        match &statement.kind {
            StatementKind::Assign { target, value } => {
                let slot = last_name(target).map(Slot::Place);
                let others = slot.map(|slot| self.vocabulary.alternatives(slot, value));
                for other in others.unwrap_or_default() {
                    let from = name_of(value).unwrap_or_default();
                    let edit = scope.replacing(Operator::ReplaceConstant, span, from, &other);
                    let value = Expression { kind: ExpressionKind::Name(other), span: value.span };
                    put(edit, StatementKind::Assign { target: target.clone(), value });
                }
                reindex(target, scope, span, &mut |edit, target| {
                    put(edit, StatementKind::Assign { target, value: value.clone() });
                });
            }
            StatementKind::Call(call) if self.is_event(&call.name.text) => return,
            StatementKind::Call(call) => {
                self.arguments(call, scope, span, &mut |edit, call| {
                    put(edit, StatementKind::Call(call));
                });
            }
            StatementKind::Clear(place) => reindex(place, scope, span, &mut |edit, place| {
                put(edit, StatementKind::Clear(place));
            }),
            StatementKind::Undefine(place) => reindex(place, scope, span, &mut |edit, place| {
                put(edit, StatementKind::Undefine(place));
            }),
            StatementKind::MultisetAdd { value, multiset } => {
                reindex(multiset, scope, span, &mut |edit, multiset| {
                    put(edit, StatementKind::MultisetAdd { value: value.clone(), multiset });
                });
            }
            StatementKind::MultisetRemove { .. } | StatementKind::MultisetRemoveWhere(_) => {}
            StatementKind::If { .. } => return self.branches(statement, scope, emit),
            StatementKind::Switch { .. } => return self.cases(statement, scope, emit),
            StatementKind::For { quantifiers, body } => {
                return self.block(body, &scope.with(quantifiers), &mut |edit, body| {
                    put(edit, StatementKind::For { quantifiers: quantifiers.clone(), body });
                });
            }
            StatementKind::While { condition, body } => {
                return self.block(body, scope, &mut |edit, body| {
                    put(edit, StatementKind::While { condition: condition.clone(), body });
                });
            }
            StatementKind::Alias { aliases, body } => {
                let names = aliases.iter().map(|alias| alias.name.text.clone());
                return self.block(body, &scope.without(names), &mut |edit, body| {
                    put(edit, StatementKind::Alias { aliases: aliases.clone(), body });
                });
            }
            StatementKind::Return(_)
            | StatementKind::Error(_)
            | StatementKind::Property(_)
            | StatementKind::PutText(_)
            | StatementKind::Put(_) => return,
        }
        emit(scope.edit(Operator::DeleteStatement, span), Vec::new());
    }

    /// Other constants and other parameters in a call.
    fn arguments(&self, call: &Call, scope: &Scope, span: Span, emit: &mut dyn FnMut(Edit, Call)) {
        for (at, argument) in call.arguments.iter().enumerate() {
            let Some(from) = name_of(argument) else { continue };
            let mut put = |operator: Operator, to: &str| {
                let mut changed = call.clone();
                changed.arguments[at].kind = ExpressionKind::Name(to.to_owned());
                emit(scope.replacing(operator, span, from, to), changed);
            };
            let slot = Slot::Argument(call.name.text.clone(), at);
            for other in self.vocabulary.alternatives(slot, argument) {
                put(Operator::ReplaceConstant, &other);
            }
            for other in scope.alternatives(from) {
                put(Operator::ReplaceParameter, other);
            }
        }
    }

    fn branches(
        &self,
        statement: &Statement,
        scope: &Scope,
        emit: &mut dyn FnMut(Edit, Vec<Statement>),
    ) {
        let StatementKind::If { branches, otherwise } = &statement.kind else { return };
        let span = statement.span;
        let mut put = |edit: Edit, branches, otherwise| {
            emit(edit, vec![Statement { kind: StatementKind::If { branches, otherwise }, span }]);
        };
        for (at, branch) in branches.iter().enumerate() {
            let place = branch.condition.span;
            let mut negated = branches.clone();
            negated[at].condition = negation(&branch.condition);
            put(scope.edit(Operator::NegateCondition, place), negated, otherwise.clone());
            self.block(&branch.body, scope, &mut |edit, body| {
                let mut changed = branches.clone();
                changed[at].body = body;
                put(edit, changed, otherwise.clone());
            });
        }
        if let Some(body) = otherwise {
            self.block(body, scope, &mut |edit, body| put(edit, branches.clone(), Some(body)));
            if let Some(place) = self.worth_dropping(body, true) {
                put(scope.edit(Operator::DropElse, place), branches.clone(), None);
            }
        }
        for (at, branch) in branches.iter().enumerate() {
            let is_last = at + 1 == branches.len() && otherwise.is_none();
            if self.worth_dropping(&branch.body, is_last).is_none() {
                continue;
            }
            let edit = scope.edit(Operator::DropBranch, branch.condition.span);
            let mut rest = branches.clone();
            rest.remove(at);
            if rest.is_empty() {
                emit(edit, otherwise.clone().unwrap_or_default());
            } else {
                let kind = StatementKind::If { branches: rest, otherwise: otherwise.clone() };
                emit(edit, vec![Statement { kind, span }]);
            }
        }
    }

    fn cases(
        &self,
        statement: &Statement,
        scope: &Scope,
        emit: &mut dyn FnMut(Edit, Vec<Statement>),
    ) {
        let StatementKind::Switch { value, cases, otherwise } = &statement.kind else { return };
        let span = statement.span;
        let mut put = |edit: Edit, cases, otherwise| {
            let kind = StatementKind::Switch { value: value.clone(), cases, otherwise };
            emit(edit, vec![Statement { kind, span }]);
        };
        for (at, case) in cases.iter().enumerate() {
            self.block(&case.body, scope, &mut |edit, body| {
                let mut changed = cases.clone();
                changed[at].body = body;
                put(edit, changed, otherwise.clone());
            });
            if self.worth_dropping(&case.body, otherwise.is_none()).is_some() {
                let mut rest = cases.clone();
                rest.remove(at);
                put(scope.edit(Operator::DropCase, case.span), rest, otherwise.clone());
            }
        }
        if let Some(body) = otherwise {
            self.block(body, scope, &mut |edit, body| put(edit, cases.clone(), Some(body)));
            if let Some(place) = self.worth_dropping(body, true) {
                put(scope.edit(Operator::DropElse, place), cases.clone(), None);
            }
        }
    }

    /// The first statement of a guarded block that does more than check a property or mark an
    /// event. `None` if `to_nothing` (without the block nothing is executed instead) and deleting
    /// its only statement is the same change.
    fn worth_dropping(&self, block: &[Statement], to_nothing: bool) -> Option<Span> {
        let is_simple = |statement: &Statement| {
            !matches!(
                statement.kind,
                StatementKind::If { .. }
                    | StatementKind::Switch { .. }
                    | StatementKind::For { .. }
                    | StatementKind::While { .. }
                    | StatementKind::Alias { .. }
                    | StatementKind::Return(_)
            )
        };
        if to_nothing && block.len() == 1 && block.iter().all(is_simple) {
            return None;
        }
        let mut block = block.iter();
        let found = block.find(|statement| match &statement.kind {
            StatementKind::Call(call) => !self.is_event(&call.name.text),
            StatementKind::Error(_)
            | StatementKind::Property(_)
            | StatementKind::PutText(_)
            | StatementKind::Put(_) => false,
            _ => true,
        });
        found.map(|statement| statement.span)
    }
}

// Expressions.

fn name_of(expression: &Expression) -> Option<&str> {
    match &expression.kind {
        ExpressionKind::Name(name) => Some(name),
        _ => None,
    }
}

/// The guard without each of its conjuncts; `None` stands for an empty guard.
fn weaken(guard: &Expression, scope: &Scope, emit: &mut dyn FnMut(Edit, Option<Expression>)) {
    let mut conjuncts = Vec::new();
    flatten(guard, &mut conjuncts);
    for (at, conjunct) in conjuncts.iter().enumerate() {
        let rest = conjuncts.iter().enumerate().filter(|(other, _)| *other != at);
        let rest = rest.map(|(_, conjunct)| (*conjunct).clone()).reduce(|left, right| {
            let span = left.span.to(right.span);
            let kind = ExpressionKind::Binary(BinaryOperator::And, Box::new(left), Box::new(right));
            Expression { kind, span }
        });
        emit(scope.edit(Operator::WeakenGuard, conjunct.span), rest);
    }
}

fn flatten<'e>(expression: &'e Expression, conjuncts: &mut Vec<&'e Expression>) {
    match &expression.kind {
        ExpressionKind::Binary(BinaryOperator::And | BinaryOperator::LogicalAnd, left, right) => {
            flatten(left, conjuncts);
            flatten(right, conjuncts);
        }
        _ => conjuncts.push(expression),
    }
}

fn negation(condition: &Expression) -> Expression {
    match &condition.kind {
        ExpressionKind::Unary(UnaryOperator::Not, inner) => (**inner).clone(),
        _ => {
            let inner = Box::new(condition.clone());
            let kind = ExpressionKind::Unary(UnaryOperator::Not, inner);
            Expression { kind, span: condition.span }
        }
    }
}

/// The designator with each index parameter replaced by another one.
fn reindex(place: &Expression, scope: &Scope, span: Span, emit: &mut dyn FnMut(Edit, Expression)) {
    match &place.kind {
        ExpressionKind::Field(record, field) => {
            reindex(record, scope, span, &mut |edit, record| {
                let kind = ExpressionKind::Field(Box::new(record), field.clone());
                emit(edit, Expression { kind, span: place.span });
            });
        }
        ExpressionKind::Index(array, index) => {
            reindex(array, scope, span, &mut |edit, array| {
                let kind = ExpressionKind::Index(Box::new(array), index.clone());
                emit(edit, Expression { kind, span: place.span });
            });
            let Some(from) = name_of(index) else { return };
            for to in scope.alternatives(from) {
                let other =
                    Expression { kind: ExpressionKind::Name(to.to_owned()), span: index.span };
                let kind = ExpressionKind::Index(array.clone(), Box::new(other));
                let edit = scope.replacing(Operator::ReplaceParameter, span, from, to);
                emit(edit, Expression { kind, span: place.span });
            }
        }
        _ => {}
    }
}
