//! The typed model: a Murphi program after names, types and constants are resolved.
//!
//! This is what the reference interpreter executes and what the native compiler translates, so it
//! is also where the meaning of the language is written down ([`meaning`]). Everything that can be
//! decided before a run has been decided here: names are ids, rulesets are flattened into the
//! parameters of their rules, quantifiers have domains, and every conversion between types is a
//! node.

mod expressions;
pub mod meaning;
mod statements;
mod types;

use std::sync::Arc;

use crate::check;
use crate::source::{Source, Span};

pub use expressions::{Argument, Base, Call, Expression, ExpressionKind, Operator, Place, Step};
pub use statements::{Assign, Put, Statement, StatementKind};
pub use types::{Field, Simple, Type, TypeId, TypeKind};

/// Names a state variable of [`Model::globals`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GlobalId(pub u32);

/// Names a local of the [`Frame`] it occurs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalId(pub u32);

/// Names a function or procedure of [`Model::functions`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionId(pub u32);

/// A whole program, ready to run.
#[derive(Debug, Clone)]
pub struct Model {
    /// The text it came from: spans point into it.
    pub source: Arc<Source>,
    /// How the text was read: whoever reads it again in the same way gets the same model.
    pub language: check::Options,
    /// All types. [`Model::BOOLEAN`] and [`Model::INTEGER`] are always there.
    pub types: Vec<Type>,
    /// The state variables, in the order of their declaration.
    pub globals: Vec<Variable>,
    /// Functions and procedures. A function calls only functions before it, unless it is recursive.
    pub functions: Vec<Function>,
    /// The rules, rulesets flattened, in the order of the source.
    pub rules: Vec<Rule>,
    /// The start states: rules without a guard that run on the all-undefined state.
    pub start_states: Vec<Rule>,
    /// Invariants, assumptions, covers and liveness properties at the top level.
    pub properties: Vec<Property>,
    /// The `cover` statements in rules and functions, in the order of the source.
    pub covers: Vec<Cover>,
    /// How many rounds a `while` loop may take.
    pub loop_limit: u64,
    /// How many calls of [recursive](Function::is_recursive) functions may be open at once.
    pub call_limit: u64,
    /// Whether undefined is a value of its own of every scalarset and union, as in CMurphi, or an
    /// error wherever it is read, as in Rumur ([`Model::has_undefined_value`]).
    pub undefined_members: bool,
    /// The scalarsets whose members are distinguished by their order, with where that shows: states
    /// that differ by a permutation of their members may have different futures.
    pub ordered: Vec<Ordered>,
    /// Loops whose order may show and that only bodies of rules run, by where their variables are
    /// bound: a search can run such a rule with these loops in every order and compare.
    pub tried: Vec<Span>,
    /// Whether the order of the elements of multisets may show. Then that order is part of a state,
    /// and all scalarsets are [`ordered`](Model::ordered): renaming their members would change it.
    pub elements_have_order: bool,
    /// Scalarsets that are written as subranges or, if it says so, as enumerations: undefined values
    /// of theirs are those of what is written.
    pub recast: Vec<(TypeId, bool)>,
}

/// A `cover` statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cover {
    /// Its text, or `Cover statement N` if it has none.
    pub name: String,
    /// Where it was written.
    pub span: Span,
}

/// A place where the order of the members of a scalarset may show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ordered {
    /// The scalarset.
    pub scalarset: TypeId,
    /// Where.
    pub span: Span,
    /// Whether that is the code of a start state. Rules then still commute with renaming: a search may
    /// take states that differ by a renaming for one, though not every renaming of a start state is
    /// one.
    pub at_start: bool,
    /// Whether that is one of the loops that can be [tried](Model::tried).
    pub tried: bool,
}

impl Model {
    /// Whether the order of the members of a scalarset may show in rules or properties; with `trying`,
    /// outside of the loops that can be [tried](Model::tried).
    pub fn is_ordered(&self, scalarset: TypeId, trying: bool) -> bool {
        let passed_over = |it: &Ordered| it.at_start || trying && it.tried;
        self.ordered.iter().any(|it| it.scalarset == scalarset && !passed_over(it))
    }
}

/// A state variable.
#[derive(Debug, Clone)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: TypeId,
    /// Where it was declared.
    pub span: Span,
}

/// The locals of a rule, a property or a function: variables, parameters, aliases, loop variables.
#[derive(Debug, Clone, Default)]
pub struct Frame {
    /// The locals; a [`LocalId`] is an index into them.
    pub locals: Vec<Local>,
}

/// A local.
#[derive(Debug, Clone)]
pub struct Local {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: TypeId,
    /// How it holds its value.
    pub storage: Storage,
}

/// How a local holds its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// It has room of its own in the frame: `var` declarations and by-value parameters (which
    /// may be undefined, and are never assigned to), and the value of an alias to an expression.
    Own,
    /// It stands for a place elsewhere: `var` parameters, aliases. Its indices are evaluated when
    /// it is bound.
    Reference,
    /// A defined simple value that never changes: parameters of rulesets, variables of `for`,
    /// `forall`, `exists`, `choose`.
    Bound,
}

/// A function or procedure.
#[derive(Debug, Clone)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Parameters first, then its other locals.
    pub frame: Frame,
    /// How many of the locals are parameters: [`Storage::Own`] by value, [`Storage::Reference`]
    /// for `var`.
    pub parameters: usize,
    /// The type of the result; `None` for a procedure.
    pub result: Option<TypeId>,
    /// What it does.
    pub body: Vec<Statement>,
    /// Whether it calls itself, perhaps through others.
    pub is_recursive: bool,
    /// Where its name was declared.
    pub span: Span,
}

/// A rule with the parameters of the rulesets around it.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Its name as in the source, or `Rule N` if it has none.
    pub name: String,
    /// Parameters and everything else that is local to it.
    pub frame: Frame,
    /// What is bound around it, outermost first.
    pub parameters: Vec<Parameter>,
    /// Its condition; `None` is always true.
    pub guard: Option<Expression>,
    /// It fires only where no rule with a lower number has an instance whose condition holds.
    pub priority: u64,
    /// What it does.
    pub body: Vec<Statement>,
    /// Where it was declared.
    pub span: Span,
}

/// What a ruleset, a rule-level alias or a `choose` binds.
#[derive(Debug, Clone)]
pub enum Parameter {
    /// `ruleset x: T` or `choose x: m`: one instance of the rule for each value. Ranges of
    /// rulesets are constant.
    Each(Binder),
    /// `alias x: place`.
    Alias {
        /// The local that stands for it.
        local: LocalId,
        /// What it stands for.
        target: AliasTarget,
    },
}

/// What an alias stands for.
#[derive(Debug, Clone)]
pub enum AliasTarget {
    /// A place: the local is a [`Storage::Reference`].
    Place(Place),
    /// A value: the local is [`Storage::Own`].
    Value(Expression),
}

/// A variable that goes through a domain.
#[derive(Debug, Clone)]
pub struct Binder {
    /// The local, a [`Storage::Bound`].
    pub local: LocalId,
    /// What it goes through.
    pub domain: Domain,
    /// Where it was written.
    pub span: Span,
}

/// What a bound variable goes through.
#[derive(Debug, Clone)]
pub enum Domain {
    /// All values of a simple type, ascending.
    Type(TypeId),
    /// From, to (included) and step; nothing if the end is already passed and the step leads on.
    Range {
        /// The first value.
        from: Box<Expression>,
        /// The last value.
        to: Box<Expression>,
        /// The step; 1 unless said.
        by: Box<Expression>,
    },
    /// The occupied positions of a multiset, ascending. Only `choose` and the filters of
    /// multisets go through them.
    Multiset(Place),
}

/// A property at the top level.
#[derive(Debug, Clone)]
pub struct Property {
    /// Its name, or `Invariant N` and so on if it has none.
    pub name: String,
    /// What it claims.
    pub kind: PropertyKind,
    /// Parameters of rulesets around it, bound like those of a rule: it is claimed for each.
    pub parameters: Vec<Parameter>,
    /// Its locals.
    pub frame: Frame,
    /// The condition.
    pub condition: Expression,
    /// Where it was declared.
    pub span: Span,
}

/// The kinds of properties.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PropertyKind {
    /// Holds in every state.
    Invariant,
    /// States where it does not hold are not considered at all.
    Assumption,
    /// Holds in some state.
    Cover,
    /// From every state, a state where it holds can be reached.
    Liveness,
}
