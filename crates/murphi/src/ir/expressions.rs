//! Places, expressions and calls.

use super::{Binder, FunctionId, GlobalId, LocalId, TypeId};
use crate::source::Span;

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
    /// Its type. Integer arithmetic has [`Model::INTEGER`](super::Model::INTEGER).
    pub ty: TypeId,
    /// Where it was written.
    pub span: Span,
}

/// The kinds of expressions.
#[derive(Debug, Clone)]
pub enum ExpressionKind {
    /// A value known from the start.
    Constant(i64),
    /// What a place holds. Simple and undefined is an error unless undefined is a value of the type;
    /// records and arrays are taken as they are.
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
