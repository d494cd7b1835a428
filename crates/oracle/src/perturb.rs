//! Blurring a pattern: atomics for reads and writes, fences between them, other events around
//! them. What a clean pattern shows, a blurred one may still show, or only just not.

use history::{AddressId, Operation, Value};

use crate::generate::{random_fence, random_operation};
use crate::shape::Shape;
use crate::sketch::{Place, Sketch, Step, returning};
use chance::Rng;

/// Values for writes: each a new one, or one of two.
pub(crate) struct Values {
    few: bool,
    written: Value,
}

impl Values {
    pub(crate) fn new(few: bool) -> Self {
        Values { few, written: 0 }
    }

    pub(crate) fn next(&mut self, rng: &mut Rng) -> Value {
        self.written += 1;
        if self.few { 1 + rng.below(2) as Value } else { self.written }
    }
}

/// Blurs a pattern in the ways and to the size that a shape allows.
pub(crate) fn blur(rng: &mut Rng, shape: &Shape, sketch: &mut Sketch, values: &mut Values) {
    make_atomics(rng, shape, sketch, values);
    if shape.fences > 0 && rng.percent(40) {
        add_fences(rng, shape, sketch);
    }
    add_noise(rng, shape, sketch, values);
}

/// Makes some of the accesses read-modify-writes.
fn make_atomics(rng: &mut Rng, shape: &Shape, sketch: &mut Sketch, values: &mut Values) {
    for place in sketch.places() {
        if !rng.percent(shape.atomics) {
            continue;
        }
        let operation = sketch.step(place).operation;
        sketch.step_mut(place).operation = match operation {
            Operation::Read { address, value } => {
                Operation::ReadModifyWrite { address, read: value, write: values.next(rng) }
            }
            Operation::Write { address, value } => {
                let seen = sketch.values(address.index());
                let read = seen[rng.below(seen.len())];
                Operation::ReadModifyWrite { address, read, write: value }
            }
            other => other,
        };
    }
}

/// Puts a fence between any two accesses of a thread, as far as there is room, half of them just
/// strong enough to order the two.
fn add_fences(rng: &mut Rng, shape: &Shape, sketch: &mut Sketch) {
    for place in sketch.places().into_iter().rev().filter(|place| place.index > 0) {
        if sketch.places().len() < shape.events {
            let kinds = |index| sketch.step(Place { index, ..place }).operation.kinds();
            let exact =
                Operation::Fence { before: kinds(place.index - 1), after: kinds(place.index) };
            let fence = if rng.percent(50) { exact } else { random_fence(rng) };
            insert(sketch, place, fence);
        }
    }
}

/// Puts random events anywhere, as many as there is room for or fewer. Their reads return any
/// value of their address.
fn add_noise(rng: &mut Rng, shape: &Shape, sketch: &mut Sketch, values: &mut Values) {
    let room = shape.events.saturating_sub(sketch.places().len());
    for _ in 0..rng.below(room + 1) {
        let address = AddressId::new(rng.below(sketch.addresses.len()));
        let value = values.next(rng);
        let operation = random_operation(rng, shape, 50, address, value);
        let seen = sketch.values(address.index());
        let operation = returning(operation, seen[rng.below(seen.len())]);
        let thread = rng.below(sketch.threads.len());
        let index = rng.below(sketch.threads[thread].steps.len() + 1);
        insert(sketch, Place { thread, index }, operation);
    }
}

/// Inserts an event; what `order` lines name moves along.
fn insert(sketch: &mut Sketch, at: Place, operation: Operation) {
    sketch.threads[at.thread].steps.insert(at.index, Step::new(operation));
    for chain in sketch.addresses.iter_mut().flat_map(|address| &mut address.orders) {
        for write in chain.iter_mut().flatten() {
            write.index += usize::from(write.thread == at.thread && write.index >= at.index);
        }
    }
}
