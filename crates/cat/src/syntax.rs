//! A cat model as it is written: the syntax tree of its files, one list of lines. Names are not
//! looked up yet. Every evaluator of the language starts here.

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
pub struct Name {
    /// The name.
    pub text: String,
    /// Where it stands.
    pub place: Place,
}

/// One line of a model.
#[derive(Debug, Clone)]
pub enum Instruction {
    /// `let a = … and b = …`, or `let rec …`.
    Let {
        /// Whether it is `let rec`.
        recursive: bool,
        /// What is defined.
        bindings: Vec<Binding>,
    },
    /// `acyclic r as name` and its relatives.
    Axiom(AxiomSyntax),
}

/// `name = body`, or `name(parameters) = body`.
#[derive(Debug, Clone)]
pub struct Binding {
    /// What is defined.
    pub name: Name,
    /// `None` for a value; a function may have no parameters.
    pub parameters: Option<Vec<Name>>,
    /// What it means.
    pub body: Expression,
}

/// A condition that every execution has to meet.
#[derive(Debug, Clone)]
pub struct AxiomSyntax {
    /// What is asked.
    pub test: Test,
    /// `~acyclic`: the condition must not hold.
    pub negated: bool,
    /// Of which relation or set.
    pub body: Expression,
    /// The name behind `as`.
    pub name: Option<String>,
    /// Where it stands.
    pub place: Place,
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
pub struct Expression {
    /// What it is.
    pub kind: ExpressionKind,
    /// Where it stands.
    pub place: Place,
}

/// What an expression is.
#[derive(Debug, Clone)]
pub enum ExpressionKind {
    /// `po`
    Name(String),
    /// `0` or `{}`: the empty relation or set.
    Empty,
    /// `_`: all events.
    Universe,
    /// `[S]`: the identity on a set.
    Identity(Box<Expression>),
    /// `r+` and the like.
    Unary(Unary, Box<Expression>),
    /// Two operands or more, so that a long union is no deep tree; grouped to the left.
    Binary(Binary, Vec<Expression>),
    /// `f(a, b)` or `f a`.
    Apply {
        /// The function.
        function: Name,
        /// Its arguments.
        arguments: Vec<Expression>,
    },
    /// `let x = … in e`.
    Let {
        /// Whether it is `let rec`.
        recursive: bool,
        /// What is defined.
        bindings: Vec<Binding>,
        /// Where it may be used.
        body: Box<Expression>,
    },
    /// `try a with b`: `b` where `a` uses a name that is not defined.
    Try {
        /// What is tried.
        first: Box<Expression>,
        /// What is taken instead.
        otherwise: Box<Expression>,
    },
}

/// An operator on one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unary {
    /// `~r`
    Complement,
    /// `r^-1`
    Inverse,
    /// `r+`
    Plus,
    /// `r*`
    Star,
    /// `r?`
    Optional,
}

/// An operator on two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binary {
    /// `a | b`
    Union,
    /// `a & b`
    Intersection,
    /// `a \ b`
    Difference,
    /// `a ; b`
    Sequence,
    /// `a * b`
    Product,
}
