//! What counts processors: anything whose type is a range from 0 to the number of processors, or
//! close to it.
//!
//! The end of such a range is the constant that is the size of the scalarset, however many constants
//! lie between, give or take a number. More room than needed does no harm. One less is room for all
//! but one processor, and whoever counts must show that one is left out; less than that is no
//! counter.

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

/// The constants that the number of processors depends on, and those that depend on it.
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

/// For how many processors a counter has room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Capacity {
    ForAll,
    /// One of them is never counted: an assertion says that this is one that the rule speaks of.
    ForAllButOne,
}

impl Sets<'_> {
    /// For how many processors something of a type has room, if it is a counter.
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

    /// For how many processors a place has room, if it is a counter.
    pub(super) fn room_of(&self, context: &Context, place: &Expression) -> Option<Capacity> {
        if !is_place(place) {
            return None;
        }
        self.room(&self.types.of(&context.scope, place)?)
    }

    pub(super) fn is_counter(&self, context: &Context, place: &Expression) -> bool {
        self.room_of(context, place).is_some()
    }

    /// No variable goes through all that a counter may be.
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
