//! Histories of two threads that do the same and see the same of each other.
//!
//! Whatever order two such threads put their writes into, the other order is as good: so both are,
//! or neither is. Where neither is, no write order that all reads force on its own shows the
//! violation, and the models that go by such orders miss it.

use history::{AddressId, Operation, Value};

use crate::generate::{address_table, empty_threads, random_address, random_operation};
use crate::shape::Shape;
use crate::sketch::{Place, Sketch, Step, returning};
use chance::Rng;

/// A random history of two threads that mirror each other.
pub(crate) fn random_mirror(rng: &mut Rng, shape: &Shape) -> Sketch {
    let few_values = rng.percent(shape.repeated);
    let addresses = 1 + rng.below(shape.addresses);
    let mut sketch = Sketch {
        addresses: address_table(rng, shape, addresses, few_values),
        threads: empty_threads(2),
    };
    let length = (shape.events / 2).max(1);
    let mut last = None;
    for index in 0..length {
        let address = random_address(rng, addresses, last);
        last = Some(address);
        let value = if few_values { 1 } else { 1 + index as Value };
        let operation = random_operation(rng, shape, 45, address, value);
        sketch.threads[0].steps.push(Step::new(operation));
        sketch.threads[1].steps.push(Step::new(mirrored(operation, length)));
    }
    for index in 0..length {
        give_values(rng, &mut sketch, index);
    }
    sketch
}

/// The same operation with another value to write.
fn mirrored(operation: Operation, length: usize) -> Operation {
    match operation {
        Operation::Write { address, value } => {
            Operation::Write { address, value: value + length as Value }
        }
        Operation::ReadModifyWrite { address, read, write } => {
            Operation::ReadModifyWrite { address, read, write: write + length as Value }
        }
        other => other,
    }
}

/// Lets the two reads at a place of the threads return the initial value, or what some write of
/// their own thread or of the other wrote.
fn give_values(rng: &mut Rng, sketch: &mut Sketch, index: usize) {
    let Some(address) = sketch.threads[0].steps[index].operation.address() else { return };
    let mut choices = vec![[sketch.addresses[address.index()].initial_value(); 2]];
    for (own, other) in writes_of(sketch, 0, address).into_iter().zip(writes_of(sketch, 1, address))
    {
        choices.push([own, other]);
        choices.push([other, own]);
    }
    let values = choices[rng.below(choices.len())];
    for (thread, value) in values.into_iter().enumerate() {
        let step = sketch.step_mut(Place { thread, index });
        step.operation = returning(step.operation, value);
    }
}

/// What a thread writes to an address.
fn writes_of(sketch: &Sketch, thread: usize, address: AddressId) -> Vec<Value> {
    let writes = sketch.writes(address.index());
    writes.iter().filter(|(place, _)| place.thread == thread).map(|&(_, value)| value).collect()
}
