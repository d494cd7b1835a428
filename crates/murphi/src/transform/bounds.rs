//! The least and greatest value that a number may have, from the types of what it is computed from.
//!
//! Used to leave out checks that cannot fail, and to count the values of a type. Bounds of constants are their values; whatever is not
//! understood may be any 64-bit number.

use crate::ast::{
    BinaryOperator, Domain, Expression, ExpressionKind, TypeExpression, TypeKind, UnaryOperator,
};

use super::declarations::{Declarations, Scope};

/// Least and greatest value, both included.
pub(super) type Bounds = (i128, i128);

/// Any number.
const ANY: Bounds = (i64::MIN as i128, i64::MAX as i128);

/// Whether every value fits in 64 bits.
pub(super) fn is_number((low, high): Bounds) -> bool {
    ANY.0 <= low && high <= ANY.1
}

/// The bounds of a number.
pub(super) fn bounds(declarations: &Declarations, scope: &Scope, whole: &Expression) -> Bounds {
    let of = |part: &Expression| bounds(declarations, scope, part);
    match &whole.kind {
        ExpressionKind::Integer(value) => (i128::from(*value), i128::from(*value)),
        ExpressionKind::Name(name) if !scope.contains_key(name) => {
            match declarations.constant(name) {
                Some(value) => of(value),
                None => of_place(declarations, scope, whole),
            }
        }
        ExpressionKind::Unary(UnaryOperator::Plus, inner) => of(inner),
        ExpressionKind::Unary(UnaryOperator::Negate, inner) => {
            let (low, high) = of(inner);
            (-high, -low)
        }
        ExpressionKind::Conditional(_, left, right) => {
            let (left, right) = (of(left), of(right));
            (left.0.min(right.0), left.1.max(right.1))
        }
        ExpressionKind::Binary(operator, left, right) => computed(*operator, of(left), of(right)),
        ExpressionKind::MultisetCount(filter) => {
            let capacity = declarations.of(scope, &filter.multiset).and_then(|ty| {
                match &declarations.resolve(&ty).kind {
                    TypeKind::Multiset { capacity, .. } => Some(of(capacity).1),
                    _ => None,
                }
            });
            (0, capacity.unwrap_or(ANY.1))
        }
        _ => of_place(declarations, scope, whole),
    }
}

/// The bounds of what a type has, if it is a range.
pub(super) fn of_type(declarations: &Declarations, ty: &TypeExpression) -> Option<Bounds> {
    match &declarations.resolve(ty).kind {
        TypeKind::Range(low, high) => {
            let nothing = Scope::new();
            let of = |end: &Expression| bounds(declarations, &nothing, end);
            // What a loop goes through may begin at its upper end.
            let (low, high) = (of(low), of(high));
            Some((low.0.min(high.0), low.1.max(high.1)))
        }
        _ => None,
    }
}

fn of_place(declarations: &Declarations, scope: &Scope, place: &Expression) -> Bounds {
    let ty = declarations.of(scope, place);
    ty.and_then(|ty| of_type(declarations, &ty)).unwrap_or(ANY)
}

fn computed(operator: BinaryOperator, left: Bounds, right: Bounds) -> Bounds {
    let corners = |of: fn(i128, i128) -> i128| {
        let all =
            [of(left.0, right.0), of(left.0, right.1), of(left.1, right.0), of(left.1, right.1)];
        let least = all.into_iter().fold(all[0], i128::min);
        let greatest = all.into_iter().fold(all[0], i128::max);
        (least, greatest)
    };
    // Bounds may have left the 64 bits on the way: then nothing is known any more.
    if !is_number(left) || !is_number(right) {
        return (ANY.0 * 2, ANY.1 * 2);
    }
    match operator {
        BinaryOperator::Add => corners(|left, right| left + right),
        BinaryOperator::Subtract => corners(|left, right| left - right),
        BinaryOperator::Multiply => corners(|left, right| left * right),
        BinaryOperator::Divide | BinaryOperator::Remainder => {
            let most = left.0.abs().max(left.1.abs());
            (-most, most)
        }
        _ => ANY,
    }
}

impl Declarations {
    /// How many values a bound variable goes through, if that is constant.
    pub fn count(&self, domain: &Domain) -> Option<u64> {
        let single = |(low, high): Bounds| (low == high).then_some(low);
        let span = |low: i128, high: i128| u64::try_from((high - low + 1).max(0)).ok();
        let constant = |value: &Expression| single(bounds(self, &Scope::new(), value));
        match domain {
            Domain::Range { from, to, by } => {
                let step = by.as_ref().map_or(Some(1), constant)?;
                (step == 1).then(|| span(constant(from)?, constant(to)?)).flatten()
            }
            Domain::Type(ty) => match &self.resolve(ty).kind {
                TypeKind::Named(name) => (name.text == "boolean").then_some(2),
                TypeKind::Enumeration(members) => u64::try_from(members.len()).ok(),
                TypeKind::Range(low, high) => span(constant(low)?, constant(high)?),
                TypeKind::Scalarset(size) => u64::try_from(constant(size)?).ok(),
                _ => None,
            },
        }
    }
}
