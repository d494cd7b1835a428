//! What names stand for, scope by scope.
//!
//! A name may be declared once in a scope and again in an inner one, where it hides the outer
//! one, as in both tools. Members of enumerations belong to the scope their type is written in.

use std::collections::BTreeMap;

use crate::ir::{GlobalId, LocalId, TypeId};
use crate::source::Span;

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Symbol {
    /// A constant, or a member of an enumeration.
    Constant {
        /// Its type.
        ty: TypeId,
        /// Its value.
        value: i64,
    },
    /// A type.
    Type(TypeId),
    /// A state variable.
    Global(GlobalId),
    /// A local of the frame being built.
    Local(LocalId),
    /// A function or procedure, by its place in the source.
    Function(usize),
    /// Something whose declaration is wrong: uses of it are not complained about.
    Broken,
}

/// What may be done with a local.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// It may be assigned to.
    Writable,
    /// It may not: it goes through a domain.
    LoopVariable,
    /// It may not: it was passed by value.
    ByValue,
    /// It may not: it stands for a value, or for something read-only.
    AliasOfValue,
}

/// What a change of a local would change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Root {
    /// The state.
    State,
    /// What was passed for this parameter.
    Parameter(usize),
    /// Only itself.
    Own,
}

/// A declared name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    /// What it stands for.
    pub(super) symbol: Symbol,
    /// Where it was declared; `None` if it is built in.
    pub(super) span: Option<Span>,
}

/// The names of one scope.
pub(super) type Scope = BTreeMap<String, Entry>;

/// The scopes around a place in the source, outermost first.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    levels: Vec<Scope>,
}

impl Scopes {
    /// Enters a scope.
    pub(super) fn push(&mut self) {
        self.levels.push(Scope::new());
    }

    /// Enters a scope that was left before.
    pub(super) fn reenter(&mut self, scope: Scope) {
        self.levels.push(scope);
    }

    /// Leaves a scope.
    pub(super) fn pop(&mut self) -> Scope {
        self.levels.pop().unwrap_or_default()
    }

    /// Declares a name in the innermost scope. If it is already declared there, that stays, and
    /// its place is the answer.
    pub(super) fn declare(
        &mut self,
        name: &str,
        symbol: Symbol,
        span: Option<Span>,
    ) -> Option<Option<Span>> {
        let scope = self.levels.last_mut()?;
        if let Some(earlier) = scope.get(name) {
            return Some(earlier.span);
        }
        scope.insert(name.to_owned(), Entry { symbol, span });
        None
    }

    /// What a name stands for here.
    pub(super) fn find(&self, name: &str) -> Option<Entry> {
        self.levels.iter().rev().find_map(|scope| scope.get(name)).copied()
    }

    /// What a name stood for outside the innermost scope.
    pub(super) fn find_outside(&self, name: &str) -> Option<Entry> {
        let outer = &self.levels[..self.levels.len().saturating_sub(1)];
        outer.iter().rev().find_map(|scope| scope.get(name)).copied()
    }

    /// All names that can be used here and what they stand for, innermost first.
    pub(super) fn visible(&self) -> impl Iterator<Item = (&str, Entry)> {
        let names = self.levels.iter().rev().flatten();
        names.map(|(name, &entry)| (name.as_str(), entry))
    }
}
