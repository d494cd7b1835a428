//! Histories around a critical cycle, as in litmus tests (Alglave, Maranget, Sarkar, Sewell:
//! Litmus: running tests against hardware, TACAS 2011).
//!
//! Each thread has two accesses in program order, and its second is seen to come before the first
//! of the next thread. Together the accesses come before themselves, which sequential consistency
//! forbids, and the models differ in what they make of it.

use history::{AddressId, Operation, Value};

use crate::generate::{address_table, empty_threads};
use crate::perturb::{Values, blur};
use crate::shape::Shape;
use crate::sketch::{Sketch, SketchThread, Step};
use chance::Rng;

/// How an access of one thread is seen to come before one of the next, on the same address.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Communication {
    /// A write, and a read of its value.
    ReadsFrom,
    /// A read, and a write that it did not see.
    FromRead,
    /// A write, and a write that came later, according to a `final` or `order` line or two reads of another
    /// thread.
    Overwrites,
}

use Communication::{FromRead, Overwrites, ReadsFrom};

/// A random history around a random cycle.
pub(crate) fn random_cycle(rng: &mut Rng, shape: &Shape) -> Sketch {
    let few_values = rng.percent(shape.repeated);
    let length = [2, 2, 2, 3, 3, 4][rng.below(6)].min(shape.threads).min(shape.events / 2);
    let mut sketch = Sketch {
        addresses: address_table(rng, shape, shape.addresses, few_values),
        threads: empty_threads(length),
    };
    let mut values = Values::new(few_values);
    let links = add_links(rng, &mut sketch, &mut values);
    merge_accesses(rng, &mut sketch);
    for (address, earlier, later) in links {
        show_order(rng, shape, &mut sketch, address, earlier, later);
    }
    blur(rng, shape, &mut sketch, &mut values);
    sketch.threads.retain(|thread| !thread.steps.is_empty());
    sketch
}

/// Fills each thread with its two accesses. Returns the pairs of values that are to be seen to
/// overwrite each other, with their addresses.
fn add_links(
    rng: &mut Rng,
    sketch: &mut Sketch,
    values: &mut Values,
) -> Vec<(AddressId, Value, Value)> {
    let length = sketch.threads.len();
    let mut overwriting = Vec::new();
    let mut address = AddressId::new(rng.below(sketch.addresses.len()));
    for thread in 0..length {
        let link = [ReadsFrom, ReadsFrom, FromRead, FromRead, Overwrites][rng.below(5)];
        let (earlier, later) = (values.next(rng), values.next(rng));
        let initial = sketch.addresses[address.index()].initial_value();
        let (second, first) = match link {
            ReadsFrom => (
                Operation::Write { address, value: earlier },
                Operation::Read { address, value: earlier },
            ),
            FromRead => (
                Operation::Read { address, value: initial },
                Operation::Write { address, value: later },
            ),
            Overwrites => {
                overwriting.push((address, earlier, later));
                (
                    Operation::Write { address, value: earlier },
                    Operation::Write { address, value: later },
                )
            }
        };
        sketch.threads[thread].steps.push(Step::new(second));
        sketch.threads[(thread + 1) % length].steps.insert(0, Step::new(first));
        if rng.percent(85) {
            let another = address.index() + 1 + rng.below(sketch.addresses.len().max(2) - 1);
            address = AddressId::new(another % sketch.addresses.len());
        }
    }
    overwriting
}

/// Two writes of one address in a thread may as well be one.
fn merge_accesses(rng: &mut Rng, sketch: &mut Sketch) {
    for thread in &mut sketch.threads {
        if let [first, second] = thread.steps.as_slice()
            && first.operation.address() == second.operation.address()
            && !first.operation.kinds().reads
            && !second.operation.kinds().reads
            && rng.percent(80)
        {
            thread.steps.remove(0);
        }
    }
}

/// Records that one value of an address came before another, if there is room for it.
fn show_order(
    rng: &mut Rng,
    shape: &Shape,
    sketch: &mut Sketch,
    address: AddressId,
    earlier: Value,
    later: Value,
) {
    let writes = sketch.writes(address.index());
    let place = |value| writes.iter().find(|&&(_, v)| v == value).map(|&(place, _)| place);
    let (Some(first), Some(second)) = (place(earlier), place(later)) else { return };
    let has_room = sketch.places().len() + 2 <= shape.events;
    let entry = &mut sketch.addresses[address.index()];
    if shape.finals > 0 && rng.percent(50) {
        entry.end = Some(later);
    } else if shape.orders > 0 && first != second && rng.percent(50) {
        entry.orders.push(vec![Some(first), Some(second)]);
    } else if has_room && sketch.threads.len() < shape.threads {
        let read = |value| Step::new(Operation::Read { address, value });
        let label = sketch.threads.len() as u64;
        let steps = vec![read(earlier), read(later)];
        sketch.threads.push(SketchThread { label, steps });
    }
}
