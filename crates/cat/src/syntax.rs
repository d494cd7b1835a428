//! A cat model as it is written.

use diagnostics::source::Span;

/// A place in one of the files of a model: which file, and where in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Place {
    /// The number of the file, in the order in which files were included; 0 is the model itself.
    pub file: u32,
    /// Where in the file.
    pub span: Span,
}

/// A name with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) place: Place,
}

/// One line of a model.
#[derive(Debug, Clone)]
pub(crate) enum Instruction {
    /// `let a = … and b = …`, or `let rec …`.
    Let { recursive: bool, bindings: Vec<Binding> },
    /// `acyclic r as name` and its relatives.
    Axiom(AxiomSyntax),
}

/// `name = body`, or `name(parameters) = body`.
#[derive(Debug, Clone)]
pub(crate) struct Binding {
    pub(crate) name: Name,
    /// `None` for a value; a function may have no parameters.
    pub(crate) parameters: Option<Vec<Name>>,
    pub(crate) body: Expression,
}

/// A condition that every execution has to meet.
#[derive(Debug, Clone)]
pub(crate) struct AxiomSyntax {
    pub(crate) test: Test,
    /// `~acyclic`: the condition must not hold.
    pub(crate) negated: bool,
    pub(crate) body: Expression,
    pub(crate) name: Option<String>,
    pub(crate) place: Place,
}

/// What an axiom asks of a relation or a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Test {
    /// No cycle.
    Acyclic,
    /// No element is related to itself.
    Irreflexive,
    /// No element or pair at all.
    Empty,
}

impl Test {
    /// The keyword.
    pub fn word(self) -> &'static str {
        match self {
            Test::Acyclic => "acyclic",
            Test::Irreflexive => "irreflexive",
            Test::Empty => "empty",
        }
    }
}

/// An expression with its place.
#[derive(Debug, Clone)]
pub(crate) struct Expression {
    pub(crate) kind: ExpressionKind,
    pub(crate) place: Place,
}

#[derive(Debug, Clone)]
pub(crate) enum ExpressionKind {
    /// `po`
    Name(String),
    /// `0` or `{}`: the empty relation or set.
    Empty,
    /// `_`: all events.
    Universe,
    /// `[S]`: the identity on a set.
    Identity(Box<Expression>),
    Unary(Unary, Box<Expression>),
    /// Two operands or more, so that a long union is no deep tree; grouped to the left.
    Binary(Binary, Vec<Expression>),
    /// `f(a, b)` or `f a`.
    Apply {
        function: Name,
        arguments: Vec<Expression>,
    },
    /// `let x = … in e`.
    Let {
        recursive: bool,
        bindings: Vec<Binding>,
        body: Box<Expression>,
    },
    /// `try a with b`: `b` where `a` uses a name that is not defined.
    Try {
        first: Box<Expression>,
        otherwise: Box<Expression>,
    },
}

/// An operator on one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unary {
    Complement,
    Inverse,
    Plus,
    Star,
    Optional,
}

/// An operator on two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Binary {
    Union,
    Intersection,
    Difference,
    Sequence,
    Product,
}
