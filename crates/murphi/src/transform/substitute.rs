//! Expressions in place of names, in expressions and statements.
//!
//! What is bound inside keeps its meaning: a bound variable hides the name, and is given another
//! name where it would capture one of those that come in.

use std::collections::HashMap;

use crate::ast::{
    Expression, ExpressionKind, MultisetFilter, Quantifier, Statement, StatementKind,
};
use crate::transform::{Part, names, not_taken, parts_mut, rebuilt};

/// What to put in place of which names.
#[derive(Debug, Clone, Default)]
pub struct Substitution {
    values: HashMap<String, Expression>,
    /// Names that are bound outside, which nothing inside is to hide.
    avoided: Vec<String>,
}

impl Substitution {
    /// Puts a value in place of a name.
    pub fn insert(&mut self, name: &str, value: Expression) {
        self.values.insert(name.to_owned(), value);
    }

    /// Whether something comes in place of this name.
    pub fn replaces(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// Lets nothing that is bound inside have one of these names.
    pub fn avoid(&mut self, names: impl IntoIterator<Item = String>) {
        self.avoided.extend(names);
    }

    /// An expression with the values in it.
    pub fn expression(&self, whole: &Expression) -> Expression {
        if self.values.is_empty() && self.avoided.is_empty() {
            return whole.clone();
        }
        match &whole.kind {
            ExpressionKind::Name(name) => match self.values.get(name) {
                Some(value) => Expression { kind: value.kind.clone(), span: whole.span },
                None => whole.clone(),
            },
            ExpressionKind::Quantified { all, quantifiers, condition } => {
                let (quantifiers, inner) = self.under(quantifiers);
                let condition = Box::new(inner.expression(condition));
                let kind = ExpressionKind::Quantified { all: *all, quantifiers, condition };
                Expression { kind, span: whole.span }
            }
            ExpressionKind::MultisetCount(filter) => {
                let kind = ExpressionKind::MultisetCount(self.filter(filter));
                Expression { kind, span: whole.span }
            }
            _ => rebuilt(whole, &mut |part| self.expression(part)),
        }
    }

    /// Statements with the values in them.
    pub fn statements(&self, statements: &[Statement]) -> Vec<Statement> {
        statements.iter().map(|statement| self.statement(statement)).collect()
    }

    fn statement(&self, whole: &Statement) -> Statement {
        match &whole.kind {
            StatementKind::For { quantifiers, body } => {
                let (quantifiers, inner) = self.under(quantifiers);
                let kind = StatementKind::For { quantifiers, body: inner.statements(body) };
                Statement { kind, span: whole.span }
            }
            StatementKind::Alias { aliases, body } => {
                let mut inner = self.clone();
                let mut aliases = aliases.clone();
                for alias in &mut aliases {
                    alias.value = inner.expression(&alias.value);
                    alias.name.text = inner.bind(&alias.name.text);
                }
                let kind = StatementKind::Alias { aliases, body: inner.statements(body) };
                Statement { kind, span: whole.span }
            }
            StatementKind::MultisetRemoveWhere(filter) => {
                let kind = StatementKind::MultisetRemoveWhere(self.filter(filter));
                Statement { kind, span: whole.span }
            }
            _ => {
                let mut done = whole.clone();
                for part in parts_mut(&mut done) {
                    match part {
                        Part::Expression(own) => *own = self.expression(own),
                        Part::Body(body) => *body = self.statements(body),
                    }
                }
                done
            }
        }
    }

    fn filter(&self, filter: &MultisetFilter) -> MultisetFilter {
        let mut inner = self.clone();
        let mut name = filter.name.clone();
        name.text = inner.bind(&name.text);
        MultisetFilter {
            name,
            multiset: Box::new(self.expression(&filter.multiset)),
            condition: Box::new(inner.expression(&filter.condition)),
        }
    }

    /// The quantifiers with their bounds done, and what holds under them.
    fn under(&self, quantifiers: &[Quantifier]) -> (Vec<Quantifier>, Substitution) {
        let mut inner = self.clone();
        let mut done = Vec::new();
        for quantifier in quantifiers {
            let mut quantifier = quantifier.clone();
            if let crate::ast::Domain::Range { from, to, by } = &mut quantifier.domain {
                *from = inner.expression(from);
                *to = inner.expression(to);
                *by = by.as_ref().map(|by| inner.expression(by));
            }
            quantifier.name.text = inner.bind(&quantifier.name.text);
            done.push(quantifier);
        }
        (done, inner)
    }

    /// Binds a name, and gives the one to use for it.
    fn bind(&mut self, name: &str) -> String {
        self.values.remove(name);
        let mut coming: Vec<String> = self.values.values().flat_map(names).collect();
        coming.extend(self.avoided.iter().cloned());
        if !coming.iter().any(|other| other == name) {
            self.avoided.push(name.to_owned());
            return name.to_owned();
        }
        let fresh = not_taken(name, |wish| {
            coming.iter().any(|other| other == wish) || self.values.contains_key(wish)
        });
        let value = Expression {
            kind: ExpressionKind::Name(fresh.clone()),
            span: crate::source::Span::default(),
        };
        self.values.insert(name.to_owned(), value);
        self.avoided.push(fresh.clone());
        fresh
    }
}
