//! Sets of processors. Of an array of booleans, one for each processor, the abstraction keeps the
//! elements of the concrete processors, and one more that says whether any other processor is in
//! the set. So whether a set is empty is known, and sets can be copied.
//!
//! Transformation T10 of docs/abstraction.md.
//!
//! ```text
//! before: exists q: P do sharers[q] end
//! after:  (exists q: P do sharers[q] end) | sharers[Other]
//! ```

use murphi::ast::{BinaryOperator, Expression, ExpressionKind, UnaryOperator};
use murphi::transform::{and, implies, index, is_false, is_true, name, names, not, or};

use super::instance::{Instance, Mode, OTHER};
use super::places::Visibility;

impl Instance<'_> {
    /// Whether a place is a set of processors.
    pub(super) fn is_set(&self, place: &Expression) -> bool {
        self.types.of(&self.scope, place).is_some_and(|ty| self.types.is_set(&ty))
    }

    /// Whether some abstract processor satisfies a condition, if that is known exactly. The
    /// variable stands for such a processor.
    pub(super) fn some_others(&mut self, variable: &str, inner: &Expression) -> Option<Expression> {
        use BinaryOperator as B;
        if let Some(set) = self.membership(variable, inner) {
            return Some(set);
        }
        if let Some(known) = self.known_of_all(variable, inner)
            && is_false(&known)
        {
            return Some(known);
        }
        match &inner.kind {
            ExpressionKind::Binary(B::Or | B::LogicalOr, left, right) => {
                Some(or(self.some_others(variable, left)?, self.some_others(variable, right)?))
            }
            ExpressionKind::Binary(B::And | B::LogicalAnd, left, right) => {
                if let Some(known) = self.known_of_all(variable, left) {
                    return Some(and(known, self.some_others(variable, right)?));
                }
                let known = self.known_of_all(variable, right)?;
                Some(and(self.some_others(variable, left)?, known))
            }
            ExpressionKind::Unary(UnaryOperator::Not, inner) => {
                Some(not(self.all_others(variable, inner)?))
            }
            _ => None,
        }
    }

    /// Whether all abstract processors satisfy a condition, if that is known exactly.
    pub(super) fn all_others(&mut self, variable: &str, inner: &Expression) -> Option<Expression> {
        use BinaryOperator as B;
        if let Some(known) = self.known_of_all(variable, inner)
            && is_true(&known)
        {
            return Some(known);
        }
        match &inner.kind {
            ExpressionKind::Unary(UnaryOperator::Not, inner) => {
                Some(not(self.some_others(variable, inner)?))
            }
            ExpressionKind::Binary(B::And | B::LogicalAnd, left, right) => {
                Some(and(self.all_others(variable, left)?, self.all_others(variable, right)?))
            }
            ExpressionKind::Binary(B::Implies, left, right) => {
                if let Some(known) = self.known_of_all(variable, left) {
                    return Some(implies(known, self.all_others(variable, right)?));
                }
                let known = self.known_of_all(variable, right)?;
                Some(or(not(self.some_others(variable, left)?), known))
            }
            ExpressionKind::Binary(B::Or | B::LogicalOr, left, right) => {
                if let Some(known) = self.known_of_all(variable, left) {
                    return Some(or(known, self.all_others(variable, right)?));
                }
                let known = self.known_of_all(variable, right)?;
                Some(or(self.all_others(variable, left)?, known))
            }
            _ => None,
        }
    }

    /// A condition that is known and has the same value for all abstract processors.
    fn known_of_all(&mut self, variable: &str, condition: &Expression) -> Option<Expression> {
        let known = self.condition(condition, Mode::Probe).ok()?;
        (!names(&known).iter().any(|name| name == variable)).then_some(known)
    }

    /// `set[variable]`: whether an abstract processor is in the set.
    fn membership(&mut self, variable: &str, inner: &Expression) -> Option<Expression> {
        let ExpressionKind::Index(set, at) = &inner.kind else { return None };
        let is_variable = matches!(&at.kind, ExpressionKind::Name(name) if name == variable);
        if !is_variable || !self.is_set(set) || names(set).iter().any(|name| name == variable) {
            return None;
        }
        match self.place(set, Mode::Probe) {
            Ok(Visibility::Visible(set)) => Some(index(set, name(OTHER, inner.span))),
            _ => None,
        }
    }
}
