//! Statements.

use super::{AliasTarget, Binder, Call, Expression, LocalId, Place};
use crate::source::Span;

/// A statement.
#[derive(Debug, Clone)]
pub struct Statement {
    /// What it does.
    pub kind: StatementKind,
    /// Where it was written.
    pub span: Span,
}

/// An assignment.
#[derive(Debug, Clone)]
pub struct Assign {
    /// Where to.
    pub target: Place,
    /// What: of a type that means the same as the target's. A record or array is copied whole,
    /// undefined components included.
    pub value: Expression,
    /// Whether `value` is a [`Read`](super::ExpressionKind::Read) of a simple place whose undefinedness is
    /// copied rather than an error: what CMurphi does, and Rumur does not.
    pub copies_undefined: bool,
}

/// The kinds of statements.
#[derive(Debug, Clone)]
pub enum StatementKind {
    /// `target := value`. The target's indices are evaluated before the value.
    Assign(Assign),
    /// `if`, `elsif` and `else`.
    If {
        /// The conditions and what they guard.
        branches: Vec<(Expression, Vec<Statement>)>,
        /// What is done if none holds.
        otherwise: Vec<Statement>,
    },
    /// `switch`. The first case with an equal value is taken; values are evaluated in order.
    Switch {
        /// The value to compare.
        value: Expression,
        /// The cases: values and what they guard.
        cases: Vec<(Vec<Expression>, Vec<Statement>)>,
        /// What is done if none matches.
        otherwise: Vec<Statement>,
    },
    /// `for`. Bounds are evaluated once, before the first round.
    For {
        /// The variable.
        binder: Binder,
        /// What is repeated.
        body: Vec<Statement>,
        /// Whether it goes through a domain without an order, and a round may end the loop by a
        /// `return` or an `assume`. Either takes effect after all rounds have been run, so that it
        /// hides the error of none; what is excluded in one round is excluded, whatever another
        /// returns. A loop with a `return` writes nothing that outlives a round, and all its returns
        /// give the same.
        runs_all: bool,
    },
    /// `while`.
    While {
        /// The condition.
        condition: Expression,
        /// What is repeated.
        body: Vec<Statement>,
    },
    /// `alias` around statements.
    Alias {
        /// The local that stands for it.
        local: LocalId,
        /// What it stands for.
        target: AliasTarget,
        /// The statements.
        body: Vec<Statement>,
    },
    /// A procedure, or a function whose result is dropped.
    Call(Call),
    /// `return`, with a value in a function. In a rule it ends the rule.
    Return(Option<Expression>),
    /// `clear`.
    Clear(Place),
    /// `undefine`.
    Undefine(Place),
    /// `error`.
    Error(String),
    /// `assert`.
    Assert {
        /// What must hold.
        condition: Expression,
        /// What to say if it does not.
        message: Option<String>,
    },
    /// `assume`: if it does not hold, the state this rule would lead to is not considered.
    Assume(Expression),
    /// `cover` inside a rule: it is reached in some run of it with the condition true.
    Cover {
        /// What must be true once.
        condition: Expression,
        /// Its number in [`Model::covers`](super::Model::covers).
        number: usize,
    },
    /// `put`: printed only when a counterexample is replayed.
    Put(Put),
    /// `MultisetAdd(value, multiset)`.
    MultisetAdd {
        /// The new element: copied whole.
        value: Expression,
        /// Where to.
        multiset: Place,
    },
    /// `MultisetRemove(position, multiset)`: all other elements keep their positions.
    MultisetRemove {
        /// Which.
        position: Expression,
        /// From where.
        multiset: Place,
    },
    /// `MultisetRemovePred(x: m, condition)`: the condition is evaluated for every element of the
    /// multiset as it was, then those that satisfy it are removed.
    MultisetRemoveWhere {
        /// The positions to look at.
        binder: Binder,
        /// Which of them to remove.
        condition: Expression,
    },
}

/// What `put` prints.
#[derive(Debug, Clone)]
pub enum Put {
    /// A text.
    Text(String),
    /// A value.
    Value(Expression),
}
