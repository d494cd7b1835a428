//! Which operators bind tighter than which: the table of CMurphi, with the operators of Rumur at
//! the places they have there. The parser and the printer read it.

use crate::ast::{BinaryOperator, UnaryOperator};

/// How tight an operator binds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Precedence {
    /// `?:`
    Conditional,
    /// `->`
    Implication,
    /// `||`
    LogicalOr,
    /// `&&`
    LogicalAnd,
    /// `|`
    Or,
    /// `^`
    Xor,
    /// `&`
    And,
    /// `!`
    Not,
    /// `=`, `!=`, `<`, `<=`, `>`, `>=`
    Comparison,
    /// `<<`, `>>`
    Shift,
    /// `+`, `-`
    Sum,
    /// `*`, `/`, `%`
    Product,
    /// Signs and `~`
    Sign,
    /// Everything that is closed
    Closed,
}

impl Precedence {
    /// That of an operator between operands.
    pub(crate) fn of(operator: BinaryOperator) -> Self {
        match operator {
            BinaryOperator::Implies => Precedence::Implication,
            BinaryOperator::LogicalOr => Precedence::LogicalOr,
            BinaryOperator::LogicalAnd => Precedence::LogicalAnd,
            BinaryOperator::Or => Precedence::Or,
            BinaryOperator::Xor => Precedence::Xor,
            BinaryOperator::And => Precedence::And,
            BinaryOperator::Equal
            | BinaryOperator::NotEqual
            | BinaryOperator::Less
            | BinaryOperator::LessOrEqual
            | BinaryOperator::Greater
            | BinaryOperator::GreaterOrEqual => Precedence::Comparison,
            BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight => Precedence::Shift,
            BinaryOperator::Add | BinaryOperator::Subtract => Precedence::Sum,
            BinaryOperator::Multiply | BinaryOperator::Divide | BinaryOperator::Remainder => {
                Precedence::Product
            }
        }
    }

    /// That of an operator before an operand.
    pub(crate) fn of_unary(operator: UnaryOperator) -> Self {
        match operator {
            UnaryOperator::Not => Precedence::Not,
            _ => Precedence::Sign,
        }
    }

    /// Whether operators of this precedence can follow each other without parentheses.
    pub(crate) fn chains(self) -> bool {
        !matches!(self, Precedence::Conditional | Precedence::Implication | Precedence::Comparison)
    }

    /// The next tighter one.
    pub(crate) fn tighter(self) -> Self {
        match self {
            Precedence::Conditional => Precedence::Implication,
            Precedence::Implication => Precedence::LogicalOr,
            Precedence::LogicalOr => Precedence::LogicalAnd,
            Precedence::LogicalAnd => Precedence::Or,
            Precedence::Or => Precedence::Xor,
            Precedence::Xor => Precedence::And,
            Precedence::And => Precedence::Not,
            Precedence::Not => Precedence::Comparison,
            Precedence::Comparison => Precedence::Shift,
            Precedence::Shift => Precedence::Sum,
            Precedence::Sum => Precedence::Product,
            Precedence::Product => Precedence::Sign,
            Precedence::Sign | Precedence::Closed => Precedence::Closed,
        }
    }
}
