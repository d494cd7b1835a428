//! The syntax tree: a Murphi program as it was written, before any name is looked up.
//!
//! One tree covers what CMurphi and Rumur accept. Spellings that mean the same (`end` and
//! `endrule`, `==` and `=`, `∀` and `forall`, a message before or after a condition) are one node;
//! whatever a later stage might want to underline has a [`Span`].
//!
//! The height of a tree is bounded by the parser, so recursion over it is safe.

use crate::source::Span;

/// A whole program: declarations, functions and rules in the order of the source.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Program {
    /// Everything at the top level. Rumur lets the kinds mix; CMurphi wants declarations first,
    /// then functions, then rules.
    pub items: Vec<Item>,
}

/// Something at the top level.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// A constant, type or variable.
    Declaration(Declaration),
    /// A function or procedure.
    Function(Function),
    /// A rule, start state, property, or a group of them.
    Rule(Rule),
}

/// An identifier. Identifiers are case-sensitive, except that `true`, `false` and `boolean` may be
/// written in any case: their text is always lower-case here.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Name {
    /// What it says.
    pub text: String,
    /// Where.
    pub span: Span,
}

/// A quoted text: the name of a rule, a message, a file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Text {
    /// What it says, without the quotes and with `\"`, `\\`, `\n`, `\t` resolved.
    pub text: String,
    /// Where, quotes included.
    pub span: Span,
}

/// A declaration of names that share a type or value.
#[derive(Debug, Clone, PartialEq)]
pub struct Declaration {
    /// What is declared.
    pub kind: DeclarationKind,
    /// From the first name to the end of the type or value.
    pub span: Span,
}

/// The kinds of declarations.
#[derive(Debug, Clone, PartialEq)]
pub enum DeclarationKind {
    /// `const a, b: value`.
    Constant {
        /// The names; CMurphi allows one.
        names: Vec<Name>,
        /// Their value.
        value: Expression,
    },
    /// `type a, b: type`.
    Type {
        /// The names; CMurphi allows one.
        names: Vec<Name>,
        /// What they stand for.
        definition: TypeExpression,
    },
    /// `var a, b: type`.
    Variable(Variables),
}

/// Names of the same type: variables or fields.
#[derive(Debug, Clone, PartialEq)]
pub struct Variables {
    /// The names.
    pub names: Vec<Name>,
    /// Their type.
    pub ty: TypeExpression,
}

/// A type as it was written.
#[derive(Debug, Clone, PartialEq)]
pub struct TypeExpression {
    /// What it says.
    pub kind: TypeKind,
    /// Where.
    pub span: Span,
}

/// The kinds of type expressions.
#[derive(Debug, Clone, PartialEq)]
pub enum TypeKind {
    /// A type declared elsewhere, or `boolean`.
    Named(Name),
    /// `low .. high`.
    Range(Box<Expression>, Box<Expression>),
    /// `enum { a, b }`.
    Enumeration(Vec<Name>),
    /// `record … end`.
    Record(Vec<Variables>),
    /// `array [index] of element`.
    Array {
        /// The index type.
        index: Box<TypeExpression>,
        /// The type of the elements.
        element: Box<TypeExpression>,
    },
    /// `multiset [capacity] of element`.
    Multiset {
        /// How many elements there may be.
        capacity: Box<Expression>,
        /// The type of the elements.
        element: Box<TypeExpression>,
    },
    /// `scalarset (size)`.
    Scalarset(Box<Expression>),
    /// `union { A, B }`: names, scalarsets or enumerations in CMurphi.
    Union(Vec<TypeExpression>),
    /// `real (digits, exponent)`: not supported by anything after the parser.
    Real(Box<Expression>, Box<Expression>),
}

/// A function or procedure.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: Name,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// The type of the result; `None` for a procedure.
    pub result: Option<TypeExpression>,
    /// What it does.
    pub definition: FunctionDefinition,
    /// From the keyword to `end`.
    pub span: Span,
}

/// What a function does.
#[derive(Debug, Clone, PartialEq)]
pub enum FunctionDefinition {
    /// Declarations and statements.
    Body(Body),
    /// `externfun` or `externproc`: foreign code, in the named file if any.
    External(Option<Text>),
}

/// Parameters of a function that share a type.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Whether `var` was said: by reference rather than by value.
    pub by_reference: bool,
    /// The names.
    pub names: Vec<Name>,
    /// Their type.
    pub ty: TypeExpression,
    /// From `var` or the first name to the end of the type.
    pub span: Span,
}

/// Local declarations and statements.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Body {
    /// The declarations before `begin`.
    pub declarations: Vec<Declaration>,
    /// The statements.
    pub statements: Vec<Statement>,
}

/// A rule, start state, property, or a group of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// What it is.
    pub kind: RuleKind,
    /// From the keyword to the end.
    pub span: Span,
}

/// The kinds of rules.
#[derive(Debug, Clone, PartialEq)]
pub enum RuleKind {
    /// `startstate "name" … end`.
    StartState {
        /// Its name.
        name: Option<Text>,
        /// What it does.
        body: Body,
    },
    /// `rule "name" guard ==> … end`.
    Simple {
        /// CMurphi's priority, a number before the name.
        priority: Option<Number>,
        /// Its name.
        name: Option<Text>,
        /// Its condition.
        guard: Option<Expression>,
        /// What it does.
        body: Body,
    },
    /// `ruleset x: T; y: U do … end`.
    Ruleset {
        /// The parameters.
        quantifiers: Vec<Quantifier>,
        /// What they hold for.
        rules: Vec<Rule>,
    },
    /// `alias x: e; y: f do … end`.
    Alias {
        /// The names and what they stand for.
        aliases: Vec<Alias>,
        /// Where they hold.
        rules: Vec<Rule>,
    },
    /// `choose x: m do … end`.
    Choose {
        /// The variable.
        name: Name,
        /// The multiset it goes through.
        multiset: Expression,
        /// What it holds for.
        rules: Vec<Rule>,
    },
    /// `invariant "name" condition` and its kin.
    Property(Property),
}

/// A literal number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Number {
    /// Its value.
    pub value: i64,
    /// Where it was written.
    pub span: Span,
}

/// A claim, as a rule or as a statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Property {
    /// What is claimed.
    pub kind: PropertyKind,
    /// Its name, or the message if it fails; before or after the condition.
    pub message: Option<Text>,
    /// The condition.
    pub condition: Expression,
}

/// The kinds of properties.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PropertyKind {
    /// `assert` in a statement, `invariant` at the top level; Rumur takes either word in either
    /// place, and so do we.
    Assertion,
    /// An assertion that what follows can be evaluated, made by
    /// [`explicit_errors`](crate::transform::explicit_errors). It is written `assert`, and nothing
    /// that is read has it.
    Check,
    /// `assume`.
    Assumption,
    /// `cover`.
    Cover,
    /// `liveness`.
    Liveness,
}

/// A variable that goes through a domain.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantifier {
    /// The variable.
    pub name: Name,
    /// What it goes through.
    pub domain: Domain,
    /// From the name to the end of the domain.
    pub span: Span,
}

/// What a quantified variable goes through.
#[derive(Debug, Clone, PartialEq)]
pub enum Domain {
    /// `x: T`. A range type `a .. b` is a type here too.
    Type(TypeExpression),
    /// `x := from to to by by`.
    Range {
        /// The first value.
        from: Expression,
        /// The last value.
        to: Expression,
        /// The step.
        by: Option<Expression>,
    },
}

/// A name for an expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Alias {
    /// The name.
    pub name: Name,
    /// What it stands for: a place or a value.
    pub value: Expression,
}

/// A statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// What it does.
    pub kind: StatementKind,
    /// Where it was written.
    pub span: Span,
}

/// The kinds of statements.
#[derive(Debug, Clone, PartialEq)]
pub enum StatementKind {
    /// `target := value`; the value may be [`ExpressionKind::Undefined`].
    Assign {
        /// A designator.
        target: Expression,
        /// What it becomes.
        value: Expression,
    },
    /// `if`, `elsif` and `else`.
    If {
        /// The conditions and what they guard; at least one.
        branches: Vec<Branch>,
        /// What `else` guards.
        otherwise: Option<Vec<Statement>>,
    },
    /// `switch`.
    Switch {
        /// The value to compare.
        value: Expression,
        /// The cases.
        cases: Vec<Case>,
        /// What `else` guards.
        otherwise: Option<Vec<Statement>>,
    },
    /// `for x: T; y: U do … end`: nested, the first outermost.
    For {
        /// The variables; at least one.
        quantifiers: Vec<Quantifier>,
        /// What is repeated.
        body: Vec<Statement>,
    },
    /// `while`.
    While {
        /// The condition.
        condition: Expression,
        /// What is repeated.
        body: Vec<Statement>,
    },
    /// `alias x: e; y: f do … end`.
    Alias {
        /// The names and what they stand for.
        aliases: Vec<Alias>,
        /// Where they hold.
        body: Vec<Statement>,
    },
    /// `p(a, b)`.
    Call(Call),
    /// `return`, perhaps with a value.
    Return(Option<Expression>),
    /// `clear place`.
    Clear(Expression),
    /// `undefine place`.
    Undefine(Expression),
    /// `error "message"`.
    Error(Text),
    /// `assert`, `assume`, `cover`, `liveness`.
    Property(Property),
    /// `put "text"`.
    PutText(Text),
    /// `put value`.
    Put(Expression),
    /// `MultisetAdd(value, multiset)`.
    MultisetAdd {
        /// The new element.
        value: Expression,
        /// Where to.
        multiset: Expression,
    },
    /// `MultisetRemove(position, multiset)`.
    MultisetRemove {
        /// Which.
        position: Expression,
        /// From where.
        multiset: Expression,
    },
    /// `MultisetRemovePred(x: m, condition)`.
    MultisetRemoveWhere(MultisetFilter),
}

/// A condition and what it guards.
#[derive(Debug, Clone, PartialEq)]
pub struct Branch {
    /// The condition.
    pub condition: Expression,
    /// What it guards.
    pub body: Vec<Statement>,
}

/// A case of a `switch`.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// The values it is for.
    pub values: Vec<Expression>,
    /// What is done.
    pub body: Vec<Statement>,
    /// From `case` to the colon.
    pub span: Span,
}

/// `(x: m, condition)`: the positions of a multiset whose elements satisfy a condition.
#[derive(Debug, Clone, PartialEq)]
pub struct MultisetFilter {
    /// The variable.
    pub name: Name,
    /// The multiset.
    pub multiset: Box<Expression>,
    /// The condition.
    pub condition: Box<Expression>,
}

/// A call of a function or procedure.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Its name.
    pub name: Name,
    /// The arguments; [`ExpressionKind::Undefined`] may be one.
    pub arguments: Vec<Expression>,
}

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    /// What it says.
    pub kind: ExpressionKind,
    /// Where; parentheses around it are included.
    pub span: Span,
}

/// The kinds of expressions. The designators are `Name`, `Field` and `Index`.
#[derive(Debug, Clone, PartialEq)]
pub enum ExpressionKind {
    /// A number.
    Integer(i64),
    /// A number with a decimal point, as written: not supported by anything after the parser.
    Real(String),
    /// A constant, member of an enumeration, variable, parameter, alias, `true` or `false`.
    Name(String),
    /// `record.field`.
    Field(Box<Expression>, Name),
    /// `array[index]`, or a multiset at a position.
    Index(Box<Expression>, Box<Expression>),
    /// `undefined`: means something only as an argument or as an assigned value. The parser
    /// refuses it as an operand and nowhere else.
    Undefined,
    /// `f(a, b)`.
    Call(Call),
    /// `a`, changed by an operator before it.
    Unary(UnaryOperator, Box<Expression>),
    /// `a op b`.
    Binary(BinaryOperator, Box<Expression>, Box<Expression>),
    /// `c ? a : b`.
    Conditional(Box<Expression>, Box<Expression>, Box<Expression>),
    /// `forall x: T; y: U do c end` and `exists`: nested, the first outermost.
    Quantified {
        /// `forall` rather than `exists`.
        all: bool,
        /// The variables; at least one.
        quantifiers: Vec<Quantifier>,
        /// The condition.
        condition: Box<Expression>,
    },
    /// `isundefined(place)`.
    IsUndefined(Box<Expression>),
    /// `ismember(value, T)`.
    IsMember(Box<Expression>, Box<TypeExpression>),
    /// `MultisetCount(x: m, condition)`.
    MultisetCount(MultisetFilter),
}

/// Operators before their operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnaryOperator {
    /// `!`
    Not,
    /// `+`
    Plus,
    /// `-`
    Negate,
    /// Rumur's `~`
    Complement,
}

/// Operators between two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinaryOperator {
    /// `->`
    Implies,
    /// `||`, of booleans only
    LogicalOr,
    /// `&&`, of booleans only
    LogicalAnd,
    /// `|`, of booleans, or bitwise of numbers as in Rumur
    Or,
    /// `^`, bitwise of numbers
    Xor,
    /// `&`, of booleans, or bitwise of numbers as in Rumur
    And,
    /// `=`, also written `==`
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
    /// `<<`
    ShiftLeft,
    /// `>>`
    ShiftRight,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Remainder,
}
