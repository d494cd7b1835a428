//! Recognises counters of processors: variables whose type is a range from 0 to the number of
//! processors, or close to it.
//!
//! The end of such a range is the constant that is the size of the scalarset, possibly through
//! other constants, plus or minus a number. A larger range does no harm. A range to one less has
//! room for all but one processor, and the rule must show that one is left out; a smaller range is
//! not a counter.

use std::collections::{HashMap, HashSet};

use murphi::ast::{
    BinaryOperator, Declaration, DeclarationKind, Domain, Expression, ExpressionKind, Quantifier,
    TypeExpression, TypeKind,
};
use murphi::transform::{is_place, names};

use super::{Context, Result, Sets, refused};
use crate::processor::Processor;

/// The values of the constants.
pub(super) fn constants(declarations: &[Declaration]) -> HashMap<String, Expression> {
    let mut found = HashMap::new();
    for declaration in declarations {
        if let DeclarationKind::Constant { names, value } = &declaration.kind {
            found.extend(names.iter().map(|name| (name.text.clone(), value.clone())));
        }
    }
    found
}

/// The constants on which the number of processors depends, and those that depend on it.
pub(super) fn sized_constants(
    declarations: &[Declaration],
    constants: &HashMap<String, Expression>,
    processor: &Processor,
) -> HashSet<String> {
    let mut sized: HashSet<String> = HashSet::new();
    let mut pending = processor.depends_on.clone();
    while let Some(name) = pending.pop() {
        if let Some(value) = constants.get(&name)
            && sized.insert(name)
        {
            pending.extend(names(value));
        }
    }
    for declaration in declarations {
        if let DeclarationKind::Constant { names: declared, value } = &declaration.kind
            && names(value).iter().any(|name| sized.contains(name))
        {
            sized.extend(declared.iter().map(|name| name.text.clone()));
        }
    }
    sized
}

/// The number of processors that a counter can count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Capacity {
    ForAll,
    /// One of them is never counted: an assertion says that it is a parameter of the rule.
    ForAllButOne,
}

impl Sets<'_> {
    /// The capacity of a type, if it is a type of counters.
    pub(super) fn room(&self, ty: &TypeExpression) -> Option<Capacity> {
        match &self.types.resolve(ty).kind {
            TypeKind::Range(low, high) if matches!(low.kind, ExpressionKind::Integer(0)) => {
                self.room_up_to(high)
            }
            _ => None,
        }
    }

    fn room_up_to(&self, high: &Expression) -> Option<Capacity> {
        match &high.kind {
            ExpressionKind::Name(name) if self.size == Some(name.as_str()) => {
                Some(Capacity::ForAll)
            }
            ExpressionKind::Name(name) => self.room_up_to(self.constants.get(name)?),
            ExpressionKind::Binary(operator, left, right) => {
                let ExpressionKind::Integer(number) = right.kind else { return None };
                match (operator, self.room_up_to(left)?, number) {
                    (BinaryOperator::Add, room, 0..) => Some(room),
                    (BinaryOperator::Subtract, Capacity::ForAll, 1) => Some(Capacity::ForAllButOne),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The capacity of a place, if it is a counter.
    pub(super) fn room_of(&self, context: &Context, place: &Expression) -> Option<Capacity> {
        if !is_place(place) {
            return None;
        }
        self.room(&self.types.of(&context.scope, place)?)
    }

    pub(super) fn is_counter(&self, context: &Context, place: &Expression) -> bool {
        self.room_of(context, place).is_some()
    }

    /// Refuses variables that range over the values of a counter.
    pub(super) fn no_counters(&self, quantifiers: &[Quantifier]) -> Result<()> {
        let is_counter = |each: &&Quantifier| match &each.domain {
            Domain::Type(ty) => self.room(ty).is_some(),
            Domain::Range { .. } => false,
        };
        match quantifiers.iter().find(is_counter) {
            Some(quantifier) => Err(refused(quantifier.span)),
            None => Ok(()),
        }
    }
}
