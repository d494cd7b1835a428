//! Expressions, by precedence climbing.
//!
//! From loose to tight: `?:`, `->`, `||`, `&&`, `|`, `^`, `&`, `!`, comparisons, shifts, sums,
//! products, signs and `~`. `!` is looser than comparison: `!a = b` is `!(a = b)`. As in the
//! grammars of both tools, an operand that begins with `!` takes in everything that is tighter
//! than `!`, wherever it stands: `a = !b = c` is `a = (!(b = c))`. `?:`, `->` and comparisons do
//! not chain.
//!
//! A chain of more than [`BALANCED`] of the same logical operator becomes a balanced tree rather
//! than a leaning one, which means the same (also in the order of evaluation) and is not high.

use super::precedence::Precedence;
use super::{Failed, NESTING, Parsed, Parser, begins_item};
use crate::ast::{
    BinaryOperator, Call, Domain, Expression, ExpressionKind, Quantifier, UnaryOperator,
};
use crate::diagnostic::Diagnostic;
use crate::lex::TokenKind;
use crate::source::Span;

/// How long a chain of a logical operator may lean to the left.
const BALANCED: usize = 64;

/// The operators between operands.
const BINARY: &[(TokenKind, BinaryOperator)] = &[
    (TokenKind::Arrow, BinaryOperator::Implies),
    (TokenKind::OrOr, BinaryOperator::LogicalOr),
    (TokenKind::AndAnd, BinaryOperator::LogicalAnd),
    (TokenKind::Or, BinaryOperator::Or),
    (TokenKind::Caret, BinaryOperator::Xor),
    (TokenKind::And, BinaryOperator::And),
    (TokenKind::Equal, BinaryOperator::Equal),
    (TokenKind::EqualEqual, BinaryOperator::Equal),
    (TokenKind::NotEqual, BinaryOperator::NotEqual),
    (TokenKind::Less, BinaryOperator::Less),
    (TokenKind::LessOrEqual, BinaryOperator::LessOrEqual),
    (TokenKind::Greater, BinaryOperator::Greater),
    (TokenKind::GreaterOrEqual, BinaryOperator::GreaterOrEqual),
    (TokenKind::ShiftLeft, BinaryOperator::ShiftLeft),
    (TokenKind::ShiftRight, BinaryOperator::ShiftRight),
    (TokenKind::Plus, BinaryOperator::Add),
    (TokenKind::Minus, BinaryOperator::Subtract),
    (TokenKind::Star, BinaryOperator::Multiply),
    (TokenKind::Slash, BinaryOperator::Divide),
    (TokenKind::Percent, BinaryOperator::Remainder),
];

/// The operators before an operand.
const UNARY: &[(TokenKind, UnaryOperator)] = &[
    (TokenKind::Not, UnaryOperator::Not),
    (TokenKind::Plus, UnaryOperator::Plus),
    (TokenKind::Minus, UnaryOperator::Negate),
    (TokenKind::Tilde, UnaryOperator::Complement),
];

/// The least integer without its sign.
const LEAST: &str = "9223372036854775808";

/// An expression with its height.
struct Operand {
    expression: Expression,
    height: u32,
}

/// An operator whose right operand is still being read.
enum Pending {
    Unary(UnaryOperator, Span),
    Binary(BinaryOperator, Operand),
    /// One logical operator, between operands of which the last is still to come.
    Logical(BinaryOperator, Vec<Operand>),
    /// `a ? b :`
    Conditional(Operand, Operand),
}

impl Pending {
    fn precedence(&self) -> Precedence {
        match self {
            Pending::Unary(operator, _) => Precedence::of_unary(*operator),
            Pending::Binary(operator, _) | Pending::Logical(operator, _) => {
                Precedence::of(*operator)
            }
            Pending::Conditional(..) => Precedence::Conditional,
        }
    }
}

/// An operator after an operand.
#[derive(Clone, Copy)]
enum Infix {
    Binary(BinaryOperator),
    Question,
}

impl Infix {
    fn precedence(self) -> Precedence {
        match self {
            Infix::Binary(operator) => Precedence::of(operator),
            Infix::Question => Precedence::Conditional,
        }
    }
}

fn infix(kind: TokenKind) -> Option<Infix> {
    if kind == TokenKind::Question {
        return Some(Infix::Question);
    }
    let (_, operator) = BINARY.iter().find(|entry| entry.0 == kind)?;
    Some(Infix::Binary(*operator))
}

fn prefix(kind: TokenKind) -> Option<UnaryOperator> {
    let (_, operator) = UNARY.iter().find(|entry| entry.0 == kind)?;
    Some(*operator)
}

/// Whether a token may follow the first name of an expression that goes on.
pub(super) fn continues_expression(kind: TokenKind) -> bool {
    infix(kind).is_some()
        || matches!(
            kind,
            TokenKind::DotDot
                | TokenKind::Dot
                | TokenKind::OpenBracket
                | TokenKind::OpenParenthesis
        )
}

// Operators.

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Parsed<Expression> {
        let operand = self.nested(Self::operators)?;
        self.height = self.height.max(operand.height);
        Ok(operand.expression)
    }

    pub(super) fn begins_expression(&self) -> bool {
        prefix(self.kind()).is_some()
            || matches!(
                self.kind(),
                TokenKind::Name
                    | TokenKind::Integer
                    | TokenKind::Real
                    | TokenKind::OpenParenthesis
                    | TokenKind::Forall
                    | TokenKind::Exists
                    | TokenKind::IsUndefined
                    | TokenKind::Undefined
            )
    }

    /// Does something that may read expressions; the height of the highest comes back with it.
    fn measured<T>(&mut self, what: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<(T, u32)> {
        let outside = std::mem::take(&mut self.height);
        let result = what(self);
        let inside = std::mem::replace(&mut self.height, outside);
        Ok((result?, inside))
    }

    fn operators(&mut self) -> Parsed<Operand> {
        let mut pending = Vec::new();
        loop {
            while let Some(operator) = prefix(self.kind()) {
                pending.push(Pending::Unary(operator, self.advance()));
            }
            let (expression, inside) = match self.least_integer(&mut pending) {
                Some(least) => (least, 0),
                None => self.measured(Self::primary)?,
            };
            let mut operand = Operand { expression, height: inside + 1 };
            let Some(infix) = infix(self.kind()) else {
                while let Some(operator) = pending.pop() {
                    operand = self.apply(operator, operand)?;
                }
                return Ok(operand);
            };
            let operand = self.apply_tighter(&mut pending, operand, infix.precedence())?;
            self.advance();
            self.push(&mut pending, operand, infix)?;
        }
    }

    /// `-9223372036854775808`, which is a number although what follows the sign is not.
    fn least_integer(&mut self, pending: &mut Vec<Pending>) -> Option<Expression> {
        let is_least = self.is(TokenKind::Integer) && self.says(self.span()) == LEAST;
        let negated = |last: &mut Pending| matches!(last, Pending::Unary(UnaryOperator::Negate, _));
        match is_least.then(|| pending.pop_if(negated)).flatten()? {
            Pending::Unary(_, sign) => {
                let kind = ExpressionKind::Integer(i64::MIN);
                Some(Expression { kind, span: sign.to(self.advance()) })
            }
            _ => None,
        }
    }

    /// Applies the pending operators that bind an operand tighter than what comes after it.
    fn apply_tighter(
        &mut self,
        pending: &mut Vec<Pending>,
        mut operand: Operand,
        after: Precedence,
    ) -> Parsed<Operand> {
        // Logical operators are alone at their precedence: an equal one goes on with the run.
        let binds = |before: &mut Pending| {
            before.precedence() > after
                || before.precedence() == after && !matches!(before, Pending::Logical(..))
        };
        while let Some(operator) = pending.pop_if(binds) {
            if operator.precedence() == after && !after.chains() {
                let problem = self.does_not_chain(after);
                return self.fail(problem);
            }
            operand = self.apply(operator, operand)?;
        }
        Ok(operand)
    }

    /// Makes an operator pending that was just read after its left operand.
    fn push(&mut self, pending: &mut Vec<Pending>, left: Operand, infix: Infix) -> Parsed<()> {
        match infix {
            Infix::Question => {
                let (expression, height) = self.measured(Self::expression)?;
                self.expect(TokenKind::Colon)?;
                pending.push(Pending::Conditional(left, Operand { expression, height }));
            }
            Infix::Binary(operator) if is_logical(operator) => match pending.last_mut() {
                Some(Pending::Logical(same, operands)) if *same == operator => operands.push(left),
                _ => pending.push(Pending::Logical(operator, vec![left])),
            },
            Infix::Binary(operator) => pending.push(Pending::Binary(operator, left)),
        }
        Ok(())
    }

    fn apply(&mut self, operator: Pending, last: Operand) -> Parsed<Operand> {
        let operand = match operator {
            Pending::Unary(operator, span) => {
                self.no_undefined(&last)?;
                let span = span.to(last.expression.span);
                let kind = ExpressionKind::Unary(operator, Box::new(last.expression));
                Operand { expression: Expression { kind, span }, height: last.height + 1 }
            }
            Pending::Binary(operator, left) => {
                self.no_undefined(&left)?;
                self.no_undefined(&last)?;
                binary(operator, left, last)
            }
            Pending::Logical(operator, mut operands) => {
                operands.push(last);
                for operand in &operands {
                    self.no_undefined(operand)?;
                }
                logical(operator, operands)
            }
            Pending::Conditional(condition, then) => {
                let height = condition.height.max(then.height).max(last.height) + 1;
                let span = condition.expression.span.to(last.expression.span);
                let [condition, then, last] =
                    [condition, then, last].map(|operand| Box::new(operand.expression));
                let kind = ExpressionKind::Conditional(condition, then, last);
                Operand { expression: Expression { kind, span }, height }
            }
        };
        if operand.height > NESTING { self.too_deep() } else { Ok(operand) }
    }

    fn does_not_chain(&self, precedence: Precedence) -> Diagnostic {
        let (message, help) = match precedence {
            Precedence::Comparison => {
                ("comparisons do not chain", "write `a < b & b < c`, or use parentheses")
            }
            Precedence::Implication => {
                ("`->` does not chain", "use parentheses: `a -> (b -> c)` or `(a -> b) -> c`")
            }
            _ => ("`?:` does not chain", "use parentheses: `a ? b : (c ? d : e)`"),
        };
        Diagnostic::error(self.span(), message).help(help)
    }

    fn no_undefined(&mut self, operand: &Operand) -> Parsed<()> {
        if operand.expression.kind != ExpressionKind::Undefined {
            return Ok(());
        }
        let problem =
            Diagnostic::error(operand.expression.span, "`undefined` cannot be an operand")
                .help("test with `isundefined(x)`");
        self.fail(problem)
    }
}

fn is_logical(operator: BinaryOperator) -> bool {
    use BinaryOperator::{And, LogicalAnd, LogicalOr, Or};
    matches!(operator, And | Or | LogicalAnd | LogicalOr)
}

fn binary(operator: BinaryOperator, left: Operand, right: Operand) -> Operand {
    let height = left.height.max(right.height) + 1;
    let span = left.expression.span.to(right.expression.span);
    let (left, right) = (Box::new(left.expression), Box::new(right.expression));
    let kind = ExpressionKind::Binary(operator, left, right);
    Operand { expression: Expression { kind, span }, height }
}

/// Operands joined by one operator: from the left, or in pairs of pairs if there are many.
/// Printed, the pairs are in parentheses except for the first, so the chain that is read again is
/// short and gives the same tree.
fn logical(operator: BinaryOperator, mut operands: Vec<Operand>) -> Operand {
    if operands.len() > BALANCED {
        while operands.len() > 1 {
            operands = in_pairs(operator, operands);
        }
    }
    let joined = operands.into_iter().reduce(|left, right| binary(operator, left, right));
    joined.expect("a run has at least two operands")
}

fn in_pairs(operator: BinaryOperator, operands: Vec<Operand>) -> Vec<Operand> {
    let mut pairs = Vec::with_capacity(operands.len().div_ceil(2));
    let mut rest = operands.into_iter();
    while let Some(left) = rest.next() {
        pairs.push(match rest.next() {
            Some(right) => binary(operator, left, right),
            None => left,
        });
    }
    pairs
}

// Operands.

impl Parser<'_> {
    fn primary(&mut self) -> Parsed<Expression> {
        let start = self.span();
        let kind = match self.kind() {
            TokenKind::Integer => ExpressionKind::Integer(self.number()?.value),
            TokenKind::Real => {
                self.advance();
                ExpressionKind::Real(self.says(start).to_string())
            }
            TokenKind::Undefined => {
                self.advance();
                ExpressionKind::Undefined
            }
            TokenKind::OpenParenthesis => {
                self.advance();
                let inner = self.expression()?;
                self.expect(TokenKind::CloseParenthesis)?;
                inner.kind
            }
            TokenKind::Forall | TokenKind::Exists => self.quantified()?,
            TokenKind::IsUndefined => {
                self.advance();
                self.expect(TokenKind::OpenParenthesis)?;
                let place = self.designator()?;
                self.expect(TokenKind::CloseParenthesis)?;
                ExpressionKind::IsUndefined(Box::new(place))
            }
            TokenKind::Name if self.token(1).kind == TokenKind::OpenParenthesis => self.call()?,
            TokenKind::Name => return self.designator(),
            _ => return self.unexpected("an expression"),
        };
        Ok(Expression { kind, span: self.since(start) })
    }

    fn call(&mut self) -> Parsed<ExpressionKind> {
        if self.is_word("ismember") {
            return self.is_member();
        }
        if self.is_word("MultisetCount") {
            return Ok(ExpressionKind::MultisetCount(self.multiset_filter()?));
        }
        let name = self.name()?;
        let arguments = self.arguments()?;
        self.no_parts()?;
        Ok(ExpressionKind::Call(Call { name, arguments }))
    }

    /// Nothing can be selected from the result of a call.
    pub(super) fn no_parts(&mut self) -> Parsed<()> {
        if !matches!(self.kind(), TokenKind::Dot | TokenKind::OpenBracket) {
            return Ok(());
        }
        let problem = Diagnostic::error(
            self.span(),
            "the result of a call cannot be indexed or selected from",
        )
        .help("name the result first: `alias x: f(…) do … end`");
        self.fail(problem)
    }

    fn is_member(&mut self) -> Parsed<ExpressionKind> {
        self.advance();
        self.expect(TokenKind::OpenParenthesis)?;
        let value = Box::new(self.expression()?);
        self.expect(TokenKind::Comma)?;
        let member = Box::new(self.type_expression()?);
        self.expect(TokenKind::CloseParenthesis)?;
        Ok(ExpressionKind::IsMember(value, member))
    }

    /// `(a, b)`.
    pub(super) fn arguments(&mut self) -> Parsed<Vec<Expression>> {
        self.expect(TokenKind::OpenParenthesis)?;
        let arguments = self.expressions(TokenKind::CloseParenthesis)?;
        self.expect(TokenKind::CloseParenthesis)?;
        Ok(arguments)
    }

    /// Expressions up to a token; Rumur takes a comma after the last.
    pub(super) fn expressions(&mut self, closer: TokenKind) -> Parsed<Vec<Expression>> {
        let mut expressions = Vec::new();
        while !self.is(closer) {
            expressions.push(self.expression()?);
            if !self.take(TokenKind::Comma) {
                break;
            }
        }
        if self.is(closer) {
            return Ok(expressions);
        }
        self.unexpected(&format!("`,` or {}", closer.expected()))
    }

    /// A name with selections of fields and elements.
    pub(super) fn designator(&mut self) -> Parsed<Expression> {
        let (place, height) = self.measured(Self::selections)?;
        self.height = self.height.max(height);
        Ok(place)
    }

    fn selections(&mut self) -> Parsed<Expression> {
        let name = self.name()?;
        let start = name.span;
        let mut place = Expression { kind: ExpressionKind::Name(name.text), span: start };
        loop {
            let kind = if self.take(TokenKind::Dot) {
                ExpressionKind::Field(Box::new(place), self.name()?)
            } else if self.take(TokenKind::OpenBracket) {
                let index = self.expression()?;
                self.close_index()?;
                ExpressionKind::Index(Box::new(place), Box::new(index))
            } else {
                return Ok(place);
            };
            place = Expression { kind, span: self.since(start) };
            self.height += 1;
            if self.height > NESTING {
                return self.too_deep();
            }
        }
    }

    fn close_index(&mut self) -> Parsed<()> {
        if self.is(TokenKind::Comma) {
            let problem = self.expected("`]`").help("write `a[i][j]` for `a[i, j]`");
            return self.fail(problem);
        }
        self.expect(TokenKind::CloseBracket)?;
        Ok(())
    }

    /// `forall x: T do … end`.
    fn quantified(&mut self) -> Parsed<ExpressionKind> {
        let opener = self.token(0);
        self.advance();
        let quantifiers = self.header(TokenKind::Do, Self::quantifiers);
        let condition = self.block(opener, |parser| {
            let condition = parser.expression();
            if condition.is_err() {
                parser.skip_to(|kind| {
                    kind.is_end()
                        || begins_item(kind)
                        || matches!(kind, TokenKind::Semicolon | TokenKind::Then | TokenKind::Do)
                });
            }
            condition.ok()
        });
        let Some(condition) = condition else { return Err(Failed) };
        let all = opener.kind == TokenKind::Forall;
        Ok(ExpressionKind::Quantified { all, quantifiers, condition: Box::new(condition) })
    }

    /// `x: T; y := a to b by c`. Rumur allows several only in rulesets.
    pub(super) fn quantifiers(&mut self) -> Parsed<Vec<Quantifier>> {
        let mut quantifiers = vec![self.quantifier()?];
        while self.wrong_comma("quantifiers are separated by `;`")
            || self.take(TokenKind::Semicolon)
        {
            self.skip_semicolons();
            if quantifiers.len() >= NESTING as usize {
                return self.too_deep();
            }
            quantifiers.push(self.quantifier()?);
        }
        Ok(quantifiers)
    }

    fn quantifier(&mut self) -> Parsed<Quantifier> {
        let name = self.name()?;
        let domain = if self.take(TokenKind::Assign) {
            let from = self.expression()?;
            self.expect(TokenKind::To)?;
            let to = self.expression()?;
            let by = if self.take(TokenKind::By) { Some(self.expression()?) } else { None };
            Domain::Range { from, to, by }
        } else if self.take(TokenKind::Colon) {
            Domain::Type(self.type_expression()?)
        } else {
            return self.unexpected("`:` or `:=`");
        };
        let span = self.since(name.span);
        Ok(Quantifier { name, domain, span })
    }
}
