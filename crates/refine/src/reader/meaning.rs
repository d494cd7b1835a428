//! The meaning of the numbers in a state: 0 is undefined, and the others are the values of a type in
//! order. For a union they are the values of its members one after the other; for processors, some values
//! may be abstract.

use abstraction::{NAMED as NAMED_NAME, OTHER as OTHER_NAME};
use murphi::ir::{Model, Simple, TypeId};
use rustc_hash::FxHashMap;

use super::label::{MOST_CONSTANTS, NAMED_NUMBER, Raw};

/// What a reader needs to know of abstract processors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AbstractProcessors<'a> {
    /// The type of processors.
    pub(crate) processor: &'a str,
}

/// Numbers for the names of scalarsets.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names(FxHashMap<String, u8>);

impl Names {
    /// The number of a scalarset.
    pub(super) fn number(&mut self, name: &str) -> u8 {
        let next = self.0.len().min(usize::from(u8::MAX)) as u8;
        *self.0.entry(name.to_owned()).or_insert(next)
    }
}

/// The meaning of the numbers in a slot of a simple type: undefined, then its values in order.
pub(super) fn meaning(
    model: &Model,
    ty: TypeId,
    outside: Option<AbstractProcessors<'_>>,
    names: &mut Names,
) -> Vec<Raw> {
    let mut meanings = vec![Raw::Undefined];
    let mut constants = 0;
    push_meanings(model, ty, outside, names, &mut constants, &mut meanings);
    meanings
}

fn push_meanings(
    model: &Model,
    ty: TypeId,
    outside: Option<AbstractProcessors<'_>>,
    names: &mut Names,
    constants: &mut u8,
    meanings: &mut Vec<Raw>,
) {
    let is_outside = |members: &[String], called: &str| outside.is_some() && members == [called];
    match model.simple(ty) {
        Some(Simple::Scalarset(size)) => {
            let name = model.types[ty.0 as usize].name.clone().unwrap_or_default();
            let set = names.number(&name);
            meanings.extend((0..u64::from(*size)).map(|value| Raw::Member(set, value)));
        }
        Some(Simple::Union(members)) => {
            for &member in members {
                push_meanings(model, member, outside, names, constants, meanings);
            }
        }
        Some(Simple::Enumeration(members)) if is_outside(members, OTHER_NAME) => {
            meanings.push(Raw::Other);
        }
        Some(Simple::Enumeration(members)) if is_outside(members, NAMED_NAME) => {
            let set = names.number(outside.map_or("", |outside| outside.processor));
            meanings.push(Raw::Member(set, NAMED_NUMBER));
        }
        _ => {
            for _ in 0..model.count(ty).min(MOST_CONSTANTS as u64) {
                meanings.push(Raw::Constant((*constants).min(MOST_CONSTANTS as u8 - 1)));
                *constants = constants.saturating_add(1);
            }
        }
    }
}
