//! Random histories for proptest, made so that shrinking makes sense of them.
//!
//! A case is a list of events in the order of an interleaving. A read says how many writes back
//! it looks: none is what sequential consistency returns, and what shrinking strives for; looking
//! back past the first write wraps around to writes still to come. Every list is a well-formed
//! history, so that shrinking can leave out anything.

use history::{AddressId, History, Kinds, Operation, ThinAir, Times, Value};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::shape::Shape;
use crate::sketch::{Place, Sketch, SketchAddress, SketchThread, Step, returning};

/// An event before anything refers to it. Zeros are the simplest.
#[derive(Clone, Debug)]
struct Draft {
    thread: usize,
    address: usize,
    /// Below 100; decides what it is, see [`Draft::operation`].
    kind: u32,
    /// How many writes back a read looks.
    back: usize,
    /// What a write writes where values repeat, and which kind of fence it is.
    flavour: usize,
    /// How many reads back it depends on.
    depends: Option<usize>,
    /// How long after the event before it it begins, and how long it takes.
    times: Option<(u64, u64)>,
}

/// What is said about an address besides events.
#[derive(Clone, Debug)]
struct Remarks {
    initial: Option<Value>,
    /// How many writes before the last one the `final` line sees.
    end: Option<usize>,
    /// Two of its writes, the first said to be earlier.
    order: Option<(usize, usize)>,
}

/// Histories of a shape. Shares of the shape are kept; its runs and thin-air reads are not, since
/// reads get their values by looking back.
pub fn strategy(shape: Shape) -> impl Strategy<Value = History> {
    let drafts = vec(draft(&shape), 1..=shape.events);
    let remarks = vec(remarks(&shape), shape.addresses);
    let few_values = share(shape.repeated, Just(())).prop_map(|few| few.is_some());
    (drafts, remarks, few_values).prop_map(move |(drafts, remarks, few_values)| {
        sketch(&shape, &drafts, &remarks, few_values)
            .build(ThinAir::Malformed)
            .expect("every list of drafts is a well-formed history")
    })
}

/// `None`, or with this share in percent what the strategy gives.
fn share<S: Strategy>(percent: u32, strategy: S) -> impl Strategy<Value = Option<S::Value>>
where
    S::Value: Clone,
{
    proptest::option::weighted(f64::from(percent) / 100.0, strategy)
}

fn draft(shape: &Shape) -> impl Strategy<Value = Draft> + use<> {
    let back = prop_oneof![3 => Just(0_usize), 1 => 1..4_usize];
    let depends = share(shape.dependencies, 0..2_usize);
    let times = share(shape.times, (0..3_u64, 0..4_u64));
    (0..shape.threads, 0..shape.addresses, 0..100_u32, back, 0..18_usize, depends, times).prop_map(
        |(thread, address, kind, back, flavour, depends, times)| Draft {
            thread,
            address,
            kind,
            back,
            flavour,
            depends,
            times,
        },
    )
}

fn remarks(shape: &Shape) -> impl Strategy<Value = Remarks> + use<> {
    (
        share(shape.initials, 1..3_u64),
        share(shape.finals, prop_oneof![3 => Just(0_usize), 1 => 1..4_usize]),
        share(shape.orders, (0..4_usize, 0..4_usize)),
    )
        .prop_map(|(initial, end, order)| Remarks { initial, end, order })
}

impl Draft {
    /// What the event does, given the value it would write. The likeliest are the simplest: kinds
    /// go from reads and writes to atomics to fences.
    fn operation(&self, shape: &Shape, value: Value) -> Operation {
        let address = AddressId::new(self.address);
        let accesses = 100 - shape.atomics - shape.fences;
        if self.kind < accesses / 2 {
            Operation::Write { address, value }
        } else if self.kind < accesses {
            Operation::Read { address, value: 0 }
        } else if self.kind < accesses + shape.atomics {
            Operation::ReadModifyWrite { address, read: 0, write: value }
        } else {
            self.fence()
        }
    }

    fn fence(&self) -> Operation {
        const KINDS: [Kinds; 3] = [Kinds::ALL, Kinds::WRITES, Kinds::READS];
        // Half of the flavours are `sync`.
        let flavour = self.flavour.saturating_sub(9);
        Operation::Fence { before: KINDS[flavour / 3], after: KINDS[flavour % 3] }
    }
}

fn sketch(shape: &Shape, drafts: &[Draft], remarks: &[Remarks], few_values: bool) -> Sketch {
    let mut sketch = Sketch::default();
    for (number, remarks) in remarks.iter().enumerate() {
        let mut address = SketchAddress::numbered(number);
        address.initial = remarks.initial.map(|value| if few_values { value } else { 49 + value });
        sketch.addresses.push(address);
    }
    sketch.threads = (0..shape.threads)
        .map(|thread| SketchThread { label: thread as u64, steps: Vec::new() })
        .collect();
    let places: Vec<Place> = drafts
        .iter()
        .enumerate()
        .map(|(number, draft)| {
            let value = if few_values { 1 + draft.flavour as u64 % 2 } else { 1 + number as u64 };
            let steps = &mut sketch.threads[draft.thread].steps;
            steps.push(Step::new(draft.operation(shape, value)));
            Place { thread: draft.thread, index: steps.len() - 1 }
        })
        .collect();
    look_back(&mut sketch, drafts, &places);
    add_dependencies_and_times(&mut sketch, drafts, &places);
    for (number, remarks) in remarks.iter().enumerate() {
        add_remarks(&mut sketch, number, remarks, &places);
    }
    sketch
}

/// The values an address has in the order of an interleaving, the initial one first, and how many
/// of them are there before each event.
fn values_in_order(sketch: &Sketch, address: usize, places: &[Place]) -> (Vec<Value>, Vec<usize>) {
    let mut values = vec![sketch.addresses[address].initial_value()];
    let mut counts = Vec::with_capacity(places.len());
    for &place in places {
        counts.push(values.len());
        let operation = sketch.step(place).operation;
        if operation.address() == Some(AddressId::new(address)) {
            values.extend(operation.value_written());
        }
    }
    (values, counts)
}

/// Gives every read its value.
fn look_back(sketch: &mut Sketch, drafts: &[Draft], places: &[Place]) {
    for address in 0..sketch.addresses.len() {
        let (values, counts) = values_in_order(sketch, address, places);
        for ((draft, &place), count) in drafts.iter().zip(places).zip(counts) {
            let step = sketch.step_mut(place);
            if step.operation.address() == Some(AddressId::new(address)) {
                let seen = (count - 1 + values.len() - draft.back % values.len()) % values.len();
                step.operation = returning(step.operation, values[seen]);
            }
        }
    }
}

fn add_dependencies_and_times(sketch: &mut Sketch, drafts: &[Draft], places: &[Place]) {
    let mut clocks = vec![0; sketch.threads.len()];
    for (draft, &place) in drafts.iter().zip(places) {
        let reads: Vec<usize> = (0..place.index)
            .rev()
            .filter(|&index| sketch.step(Place { index, ..place }).operation.kinds().reads)
            .collect();
        let step = sketch.step_mut(place);
        step.depends_on.extend(draft.depends.and_then(|back| reads.get(back)));
        if let Some((wait, duration)) = draft.times {
            let begin = clocks[place.thread] + 10 * wait;
            clocks[place.thread] = begin;
            step.times = Times { begin: Some(begin), end: Some(begin + 10 * duration) };
        }
    }
}

fn add_remarks(sketch: &mut Sketch, address: usize, remarks: &Remarks, places: &[Place]) {
    let (values, _) = values_in_order(sketch, address, places);
    let is_mentioned = places
        .iter()
        .any(|&place| sketch.step(place).operation.address() == Some(AddressId::new(address)));
    if !is_mentioned {
        sketch.addresses[address].initial = None;
        return;
    }
    sketch.addresses[address].end =
        remarks.end.map(|back| values[values.len() - 1 - back % values.len()]);
    let writes = sketch.writes(address);
    if let Some((first, second)) = remarks.order
        && let (Some(&(earlier, _)), Some(&(later, _))) = (writes.get(first), writes.get(second))
        && earlier != later
    {
        sketch.addresses[address].orders.push(vec![Some(earlier), Some(later)]);
    }
}
