//! Random well-typed models and random states, for tests that compare two ways to do the same.
//!
//! [`source`] writes Murphi text from a typed grammar, so that a test which loads and runs it
//! exercises the lexer, the parser, the checker and whatever runs the result. The same seed gives
//! the same text. Programs are small (states below about a hundred slots, loops of a few rounds)
//! and use every construct of the language. They are mostly sensible: start states define most
//! variables and assigned values mostly fit, so that rules get somewhere, but every run-time error
//! happens now and then. Some functions call themselves, often without end, so that programs are run
//! with a small call limit. Rules that choose from multisets remove and add several elements, before
//! and after they use positions and aliases of them.
//!
//! This is always compiled, though only tests use it: behind a feature, everything that depends on
//! this crate would be built once for the command and once more for the tests. The linker leaves it
//! out of the command.

mod expression;
mod program;
mod statement;
#[cfg(test)]
mod tests;
mod types;

use crate::check::{Options, Reading};
use crate::ir::{Model, TypeId, TypeKind};
use crate::value::{State, Value};

/// A small deterministic source of random numbers.
#[derive(Debug, Clone)]
pub struct Random(chance::Rng);

impl Random {
    /// Equal seeds give equal sequences.
    pub fn new(seed: u64) -> Self {
        Random(chance::Rng::new(seed))
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0.bits()
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound)
    }

    /// A number from `low` to `high`, both included, which are not all 64-bit integers.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        let count = u128::from(high.abs_diff(low)) + 1;
        low.wrapping_add_unsigned((u128::from(self.bits()) % count) as u64)
    }

    /// True in so many of a hundred cases.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.bits() % 100 < percent
    }

    /// One of some things, if there are any.
    pub fn pick<'a, T>(&mut self, things: &'a [T]) -> Option<&'a T> {
        self.0.pick(things)
    }
}

/// A random program. Equal seeds give equal programs.
pub fn source(seed: u64) -> String {
    program::write(Random::new(seed))
}

/// How random programs are read: all of the language, with loops and calls that end soon.
pub fn options() -> Options {
    Options { loop_limit: 20, call_limit: 3, reading: Reading::Whole, ..Options::default() }
}

/// A random state of a model: any well-formed one, reachable or not. About a tenth of the simple
/// variables are undefined, and a third of those that have undefined among their values.
pub fn state(model: &Model, random: &mut Random) -> State {
    State(model.globals.iter().map(|global| value(model, global.ty, random)).collect())
}

/// A random value of a type.
pub fn value(model: &Model, ty: TypeId, random: &mut Random) -> Value {
    match model.kind(ty) {
        TypeKind::Simple(_) => Value::Simple(simple(model, ty, random)),
        TypeKind::Record(fields) => {
            Value::Record(fields.iter().map(|field| value(model, field.ty, random)).collect())
        }
        TypeKind::Array { index, element } => {
            Value::Array((0..model.count(*index)).map(|_| value(model, *element, random)).collect())
        }
        TypeKind::Multiset { capacity, element } => {
            let length = random.below(*capacity as usize + 1);
            Value::Multiset((0..length).map(|_| value(model, *element, random)).collect())
        }
    }
}

fn simple(model: &Model, ty: TypeId, random: &mut Random) -> Option<i64> {
    let (low, count) = (model.lowest(ty), model.count(ty));
    let percent = if model.has_undefined_value(ty) { 33 } else { 10 };
    if random.chance(percent) || count == 0 {
        return None;
    }
    let high = low.wrapping_add_unsigned(count - 1);
    Some(match random.below(4) {
        // The ends are where errors of one hide.
        0 if count > 4 => low + random.below(3) as i64,
        1 if count > 4 => high - random.below(3) as i64,
        _ => random.between(low, high),
    })
}
