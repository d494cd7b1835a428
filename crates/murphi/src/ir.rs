//! The typed model: a Murphi program after names, types and constants are resolved.
//!
//! This is what the reference interpreter executes and what the native compiler translates, so it
//! is also where the meaning of the language is written down. Everything that can be decided
//! before a run has been decided here: names are ids, rulesets are flattened into the parameters
//! of their rules, quantifiers have domains, and every conversion between types is a node.
//!
//! # Values
//!
//! A *simple* value is an integer: the number itself for ranges; 0 (false) and 1 (true) for
//! booleans; the position in the declaration, from 0, for enumerations and scalarsets; the
//! position in the concatenation of the members, from 0, for unions; the position in the multiset,
//! from 0, for what `choose` binds. [`Simple::lowest`] and [`Simple::count`] give its domain.
//! Arithmetic is done on 64-bit integers, and overflow is a run-time error.
//!
//! Every simple variable may also be *undefined*, and is until something is assigned to it: so are
//! the local variables of a rule, a function or a procedure at each entry. `clear` gives the
//! lowest value (of every component; a multiset becomes empty), `undefine` makes undefined (of
//! every component; a multiset becomes empty).
//!
//! # Multisets
//!
//! In a state, a multiset of n elements has them at the positions 0 … n−1; guards and properties
//! see no other. While a rule or a start state runs, positions are stable: a removed element leaves
//! a gap, and every other element stays where it is. What is then read, written or removed at the
//! position of the gap, directly or through an alias or a `var` parameter that was bound before, is
//! a run-time error. Filters (`MultisetCount`, `MultisetRemovePred`), comparisons and `put` pass
//! over gaps. A copy of a multiset has the gaps of the original. When the rule ends, the gaps are
//! closed.
//!
//! A new element is put behind the last room that was used, or, if there is none behind it, into
//! the first gap. It is at a position of its own all the same, which is equal to no other and which
//! only filters find: a reference to what was removed does not come to mean what was added. So
//! nothing shows in which order a multiset keeps its elements, which symmetry reduction relies on.
//! (What is assigned to or cleared as a whole begins anew at position 0, whatever is bound to it.)
//!
//! # Run-time errors
//!
//! Reading an undefined simple value (except by `isundefined`, and by assignments with
//! [`Assign::copies_undefined`]); an index that is undefined or outside the index type; assigning
//! or passing a value outside the domain of its type; division or remainder by zero; overflow;
//! `error`; a failed `assert`; `MultisetAdd` to a full multiset; a multiset position that is not
//! occupied; a `for` whose step is 0 or leads away; a `while` that runs for more than
//! [`Model::loop_limit`] rounds in one execution; a function that ends without `return`. A `switch` without a matching
//! case and without `else` does nothing.
//!
//! `&`, `|`, `->` and `?:` evaluate their right operands only when needed, from left to right;
//! all other operands and arguments are evaluated from left to right. `forall` and `exists` over
//! ranges, enumerations and booleans go through their domain in ascending order and stop at the
//! first value that decides.
//!
//! # What has no order
//!
//! Members of a scalarset and elements of a multiset have no order ([`Model::is_unordered`]), so
//! nothing that a program does may depend on one:
//!
//! - `forall` and `exists` evaluate their condition for every member. An error of any member is an
//!   error. Otherwise, a member that decides does so, whatever the `assume` of a function excludes
//!   for another; and if none decides, what is excluded for one member is excluded.
//! - Filters of multisets evaluate their condition for every element: an error of any is an error,
//!   otherwise what is excluded for one is excluded.
//! - A property is evaluated for all its instances: an error of any is an error, otherwise the
//!   instance that does not hold (of a cover: that holds) decides, otherwise what is excluded for
//!   one is excluded.
//! - A `for` whose rounds come out the same in every order is run in ascending order. If one of its
//!   rounds may return or be excluded, all rounds are run
//!   ([`For::runs_all`](StatementKind::For)): an error of any is an error, otherwise what is
//!   excluded in one is excluded, otherwise a round that returns does. All other loops run in
//!   ascending order and end at a `return` or an `assume` that does not hold; the scalarsets whose
//!   order may show in them are [`Model::ordered`], and are not a symmetry of the program.

use std::sync::Arc;

use crate::source::{Source, Span};

/// Names a type of [`Model::types`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeId(pub u32);

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
    /// All types. [`Model::BOOLEAN`] and [`Model::INTEGER`] are always there.
    pub types: Vec<Type>,
    /// The state variables, in the order of their declaration.
    pub globals: Vec<Variable>,
    /// Functions and procedures. A function calls only functions before it: recursion is refused.
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
    /// The scalarsets whose members are told apart by their order, with where that shows: states
    /// that differ by a permutation of their members may have different futures.
    pub ordered: Vec<Ordered>,
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
}

/// A type, with the name it was declared by if any.
#[derive(Debug, Clone)]
pub struct Type {
    /// The declared name; members of a scalarset print as `Name_1`, `Name_2`, ….
    pub name: Option<String>,
    /// What it is.
    pub kind: TypeKind,
}

/// The kinds of types.
#[derive(Debug, Clone)]
pub enum TypeKind {
    /// Everything that is one integer at run time.
    Simple(Simple),
    /// A record, its fields in the order of their declaration.
    Record(Vec<Field>),
    /// An array over a simple index type.
    Array {
        /// The index type, always simple.
        index: TypeId,
        /// The type of the elements.
        element: TypeId,
    },
    /// An unordered collection with a greatest size. Which position an element has carries no
    /// meaning, and canonical states keep elements sorted.
    Multiset {
        /// The greatest number of elements.
        capacity: u32,
        /// The type of the elements.
        element: TypeId,
    },
}

/// The simple types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Simple {
    /// `false` and `true`.
    Boolean,
    /// The integers of a subrange, both ends included.
    Range {
        /// Its least value.
        low: i64,
        /// Its greatest value; never below `low`.
        high: i64,
    },
    /// The type of integer expressions and constants: all 64-bit integers. No variable has it.
    Integer,
    /// An enumeration with its members.
    Enumeration(Vec<String>),
    /// A scalarset with its number of members. Two scalarset types are different symmetries, also
    /// when they have the same size.
    Scalarset(u32),
    /// A union of enumerations and scalarsets, in the order of the declaration.
    Union(Vec<TypeId>),
    /// The positions of a multiset: the type of what `choose` and the multiset operations bind.
    Position {
        /// The multiset type.
        multiset: TypeId,
    },
}

/// A field of a record.
#[derive(Debug, Clone)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: TypeId,
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

/// Something stored: a variable, or a part of it.
#[derive(Debug, Clone)]
pub struct Place {
    /// Where to start.
    pub base: Base,
    /// Which way to go from there.
    pub steps: Vec<Step>,
    /// The type of what is there.
    pub ty: TypeId,
    /// Where it was written.
    pub span: Span,
}

/// Where a place starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// At a state variable.
    Global(GlobalId),
    /// At a local of the frame.
    Local(LocalId),
}

/// One step into a place.
#[derive(Debug, Clone)]
pub enum Step {
    /// The field with this number.
    Field(usize),
    /// The element of an array. The expression has a simple type whose values mean the same as
    /// those of the index type (conversions are explicit); it may be outside for integers.
    Index(Expression),
    /// The element at a position of a multiset.
    Element(Expression),
}

/// An expression.
#[derive(Debug, Clone)]
pub struct Expression {
    /// What it computes.
    pub kind: ExpressionKind,
    /// Its type. Integer arithmetic has [`Model::INTEGER`].
    pub ty: TypeId,
    /// Where it was written.
    pub span: Span,
}

/// The kinds of expressions.
#[derive(Debug, Clone)]
pub enum ExpressionKind {
    /// A value known from the start.
    Constant(i64),
    /// What a place holds. Simple and undefined is an error; records and arrays are taken as they are.
    Read(Place),
    /// The literal `undefined` as an argument or an assigned value; of any type.
    Undefined,
    /// `!a`.
    Not(Box<Expression>),
    /// `-a`.
    Negate(Box<Expression>),
    /// Bitwise complement (Rumur's `~`).
    Complement(Box<Expression>),
    /// `a op b` on simple values of the same meaning.
    Binary(Operator, Box<Expression>, Box<Expression>),
    /// `a = b` or `a != b` of records or arrays of the same type, component by component in order:
    /// undefined components are equal to undefined ones only, and no error. Multisets are
    /// compared as multisets.
    Same {
        /// `=` rather than `!=`.
        equal: bool,
        /// The left operand.
        left: Box<Expression>,
        /// The right operand.
        right: Box<Expression>,
    },
    /// `c ? a : b`.
    Conditional(Box<Expression>, Box<Expression>, Box<Expression>),
    /// `forall` and `exists`.
    Quantified {
        /// `forall` rather than `exists`.
        all: bool,
        /// The variable.
        binder: Binder,
        /// The condition.
        condition: Box<Expression>,
    },
    /// The result of a function.
    Call(Call),
    /// `isundefined(x)` of a simple place.
    IsUndefined(Place),
    /// `ismember(x, T)`: whether the union value belongs to that member of the union.
    IsMember {
        /// The value, of a union type (or of a member type, when it is known from the start).
        value: Box<Expression>,
        /// The enumeration or scalarset.
        member: TypeId,
    },
    /// A value of one simple type as one of another ([`Expression::ty`]): between a union and its
    /// members, or between unions. A value the target does not have is a run-time error. Between
    /// ranges, integers and subranges nothing needs converting.
    Convert(Box<Expression>),
    /// `MultisetCount(x: m, condition)`.
    MultisetCount {
        /// The positions to look at.
        binder: Binder,
        /// Which of them to count.
        condition: Box<Expression>,
    },
}

/// Operators between two simple values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operator {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`, towards zero
    Divide,
    /// `%`, with the sign of the left operand
    Remainder,
    /// Rumur's bitwise `&`
    BitAnd,
    /// Rumur's bitwise `|`
    BitOr,
    /// Rumur's bitwise `^`
    BitXor,
    /// Rumur's `<<`
    ShiftLeft,
    /// Rumur's `>>`
    ShiftRight,
    /// `&`
    And,
    /// `|`
    Or,
    /// `->`
    Implies,
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

/// A call of a function or procedure.
#[derive(Debug, Clone)]
pub struct Call {
    /// Which.
    pub function: FunctionId,
    /// One for each parameter.
    pub arguments: Vec<Argument>,
    /// Where it was written.
    pub span: Span,
}

/// An argument.
#[derive(Debug, Clone)]
pub enum Argument {
    /// By value. A [`ExpressionKind::Read`] of a simple place passes undefined on as undefined; a
    /// value outside the domain of the parameter is an error.
    Value(Expression),
    /// By reference. The type of the place is the type of the parameter.
    Reference(Place),
}

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
    /// Whether `value` is a [`ExpressionKind::Read`] of a simple place whose undefinedness is
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
        /// Its number in [`Model::covers`].
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

impl Model {
    /// The type of conditions.
    pub const BOOLEAN: TypeId = TypeId(0);
    /// The type of integer expressions.
    pub const INTEGER: TypeId = TypeId(1);

    /// What a type is.
    pub fn kind(&self, ty: TypeId) -> &TypeKind {
        &self.types[ty.0 as usize].kind
    }

    /// The simple type behind an id, if it is simple.
    pub fn simple(&self, ty: TypeId) -> Option<&Simple> {
        match self.kind(ty) {
            TypeKind::Simple(simple) => Some(simple),
            _ => None,
        }
    }

    /// The least value of a simple type; 0 for records, arrays, multisets and plain integers.
    pub fn lowest(&self, ty: TypeId) -> i64 {
        match self.simple(ty) {
            Some(Simple::Range { low, .. }) => *low,
            _ => 0,
        }
    }

    /// How many values a simple type has; 0 for records, arrays, multisets and plain integers.
    pub fn count(&self, ty: TypeId) -> u64 {
        match self.simple(ty) {
            None | Some(Simple::Integer) => 0,
            Some(Simple::Boolean) => 2,
            Some(Simple::Range { low, high }) => high.abs_diff(*low).saturating_add(1),
            Some(Simple::Enumeration(members)) => members.len() as u64,
            Some(Simple::Scalarset(size)) => u64::from(*size),
            Some(Simple::Union(members)) => members.iter().map(|&member| self.count(member)).sum(),
            Some(Simple::Position { multiset }) => match self.kind(*multiset) {
                TypeKind::Multiset { capacity, .. } => u64::from(*capacity),
                _ => 0,
            },
        }
    }

    /// Whether values of the type have no order: a scalarset, or a union with one, of at least two
    /// members.
    pub fn is_unordered(&self, ty: TypeId) -> bool {
        match self.simple(ty) {
            Some(Simple::Scalarset(size)) => *size > 1,
            Some(Simple::Union(members)) => members.iter().any(|&member| self.is_unordered(member)),
            _ => false,
        }
    }

    /// Where the values of `member` begin among those of `union`.
    pub fn union_offset(&self, union: TypeId, member: TypeId) -> Option<i64> {
        let Some(Simple::Union(members)) = self.simple(union) else {
            return None;
        };
        let mut offset = 0;
        for &candidate in members {
            if candidate == member {
                return Some(offset);
            }
            offset += self.count(candidate) as i64;
        }
        None
    }
}
