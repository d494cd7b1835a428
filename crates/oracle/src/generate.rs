//! Random histories: a random program and a run that gives its reads their values, or a pattern
//! that the models are known to differ in; what else a trace can say; and then perhaps one value
//! changed. So most are consistent with something, and most of the others only just not.

use std::ops::Range;

use history::{AddressId, EventId, History, Kinds, Operation, ThinAir, Times, Value};
use models::Model;

use crate::classic::random_classic;
use crate::cycle::random_cycle;
use crate::mirror::random_mirror;
use crate::runs::{Outcome, chance_run, machine_run, per_location_run, replica_run};
use crate::shape::{Origin, Shape};
use crate::sketch::{Place, Sketch, SketchAddress, SketchThread, Step, returning};
use chance::Rng;

/// A value that no program writes.
const UNWRITTEN: Value = 99;

/// A random history of a shape.
///
/// ```
/// use tribunal_oracle::{Rng, Shape, random_history};
///
/// let history = random_history(&mut Rng::new(1), &Shape::plain());
/// assert!(history.len() <= 8 && history.is_unambiguous());
/// ```
pub fn random_history(rng: &mut Rng, shape: &Shape) -> History {
    let mut sketch = random_sketch(rng, shape);
    add_dependencies(rng, shape, &mut sketch);
    add_times(rng, shape, &mut sketch);
    if rng.percent(shape.mutated) {
        change_a_value(rng, &mut sketch);
    }
    if rng.percent(shape.thin_air) {
        make_thin_air(rng, &mut sketch);
    }
    let thin_air = if shape.thin_air > 0 { ThinAir::Violation } else { ThinAir::Malformed };
    sketch.build(thin_air).expect("a random history is well-formed")
}

/// A history for each seed of a range, with the seed to print when a test fails on it.
pub fn random_histories(shape: &Shape, seeds: Range<u64>) -> impl Iterator<Item = (u64, History)> {
    seeds.map(|seed| (seed, random_history(&mut Rng::new(seed), shape)))
}

fn random_sketch(rng: &mut Rng, shape: &Shape) -> Sketch {
    match shape.origins[rng.below(shape.origins.len())] {
        Origin::Sc => random_run(rng, shape, |rng, p| machine_run(rng, p, Model::Sc)),
        Origin::Tso => random_run(rng, shape, |rng, p| machine_run(rng, p, Model::Tso)),
        Origin::Pso => random_run(rng, shape, |rng, p| machine_run(rng, p, Model::Pso)),
        Origin::PerLocation => random_run(rng, shape, per_location_run),
        Origin::Replicas => random_run(rng, shape, |rng, p| replica_run(rng, p, false)),
        Origin::ConvergentReplicas => random_run(rng, shape, |rng, p| replica_run(rng, p, true)),
        Origin::Chance => random_run(rng, shape, chance_run),
        Origin::Cycle => random_cycle(rng, shape),
        Origin::Mirror => random_mirror(rng, shape),
        Origin::Classic => random_classic(rng, shape),
    }
}

/// A random program and a run of it.
fn random_run(
    rng: &mut Rng,
    shape: &Shape,
    run: impl FnOnce(&mut Rng, &History) -> Outcome,
) -> Sketch {
    let mut sketch = random_program(rng, shape);
    let program = sketch.build(ThinAir::Violation).expect("a random program is well-formed");
    let outcome = run(rng, &program);
    for (event, place) in sketch.places().into_iter().enumerate() {
        let step = sketch.step_mut(place);
        step.operation = returning(step.operation, outcome.returned[event]);
    }
    add_ends_and_orders(rng, shape, &mut sketch, &program, &outcome);
    sketch
}

/// Threads, events, addresses and initial values; reads return 0 for now.
fn random_program(rng: &mut Rng, shape: &Shape) -> Sketch {
    let few_values = rng.percent(shape.repeated);
    let addresses = random_count(rng, shape.addresses);
    let threads = random_count(rng, shape.threads);
    let mut sketch = Sketch {
        addresses: address_table(rng, shape, addresses, few_values),
        threads: empty_threads(threads),
    };
    // Threads that mostly read and threads that mostly write make more of a history than threads
    // that do a little of both.
    let writing: Vec<u32> = (0..threads).map(|_| [15, 45, 75][rng.below(3)]).collect();
    let events = if rng.percent(10) { 1 + rng.below(shape.events) } else { shape.events };
    for event in 0..events {
        let value = if few_values { 1 + rng.below(2) as Value } else { 1 + event as Value };
        let thread = rng.below(threads);
        let steps = &mut sketch.threads[thread].steps;
        let last = steps.last().and_then(|step| step.operation.address());
        let address = random_address(rng, sketch.addresses.len(), last);
        let operation = random_operation(rng, shape, writing[thread], address, value);
        steps.push(Step::new(operation));
    }
    sketch.threads.retain(|thread| !thread.steps.is_empty());
    sketch
}

/// How many threads or addresses: two most of the time, since two are enough to disagree.
fn random_count(rng: &mut Rng, maximum: usize) -> usize {
    let count = if rng.percent(60) { 2 } else { 1 + rng.below(maximum) };
    count.min(maximum)
}

/// So many addresses, some with an initial value.
pub(crate) fn address_table(
    rng: &mut Rng,
    shape: &Shape,
    count: usize,
    few_values: bool,
) -> Vec<SketchAddress> {
    let mut addresses: Vec<SketchAddress> = (0..count).map(SketchAddress::numbered).collect();
    for address in &mut addresses {
        if rng.percent(shape.initials) {
            address.initial = Some(if few_values { 1 + rng.below(2) as Value } else { 50 });
        }
    }
    addresses
}

/// So many threads with nothing to do yet.
pub(crate) fn empty_threads(count: usize) -> Vec<SketchThread> {
    (0..count).map(|label| SketchThread { label: label as u64, steps: Vec::new() }).collect()
}

/// An address, mostly another than the last one of the thread: most of what models differ in is
/// about two addresses.
pub(crate) fn random_address(
    rng: &mut Rng,
    addresses: usize,
    last: Option<AddressId>,
) -> AddressId {
    let address = AddressId::new(rng.below(addresses));
    if Some(address) == last && rng.percent(60) {
        return AddressId::new((address.index() + 1) % addresses);
    }
    address
}

/// An access of an address or a fence; a write with this probability, if neither atomic nor fence.
pub(crate) fn random_operation(
    rng: &mut Rng,
    shape: &Shape,
    writing: u32,
    address: AddressId,
    value: Value,
) -> Operation {
    let dice = rng.below(100) as u32;
    if dice < shape.fences {
        random_fence(rng)
    } else if dice < shape.fences + shape.atomics {
        Operation::ReadModifyWrite { address, read: 0, write: value }
    } else if rng.percent(writing) {
        Operation::Write { address, value }
    } else {
        Operation::Read { address, value: 0 }
    }
}

/// `sync`, or any other fence.
pub(crate) fn random_fence(rng: &mut Rng) -> Operation {
    const KINDS: [Kinds; 3] = [Kinds::READS, Kinds::WRITES, Kinds::ALL];
    if rng.percent(35) {
        return Operation::SYNC;
    }
    Operation::Fence { before: KINDS[rng.below(3)], after: KINDS[rng.below(3)] }
}

/// `final` and `order` lines as the run has them; an order names some of the writes, and is now
/// and then wrong.
fn add_ends_and_orders(
    rng: &mut Rng,
    shape: &Shape,
    sketch: &mut Sketch,
    program: &History,
    outcome: &Outcome,
) {
    for number in 0..sketch.addresses.len() {
        let Some(id) = program.address_by_label(&sketch.addresses[number].label) else { continue };
        let order = &outcome.write_orders[id.index()];
        if rng.percent(shape.finals) {
            let last = order.last().and_then(|&w| program.event(w).operation.value_written());
            let initial = sketch.addresses[number].initial_value();
            sketch.addresses[number].end = Some(last.unwrap_or(initial));
        }
        if rng.percent(shape.orders) && !order.is_empty() {
            let chain = random_chain(rng, sketch, number, program, order);
            sketch.addresses[number].orders.push(chain);
        }
    }
}

fn random_chain(
    rng: &mut Rng,
    sketch: &Sketch,
    address: usize,
    program: &History,
    order: &[EventId],
) -> Vec<Option<Place>> {
    let place = |write: EventId| Place {
        thread: program.event(write).thread.index(),
        index: program.event(write).index as usize,
    };
    let mut chain: Vec<Option<Place>> = Vec::new();
    let initial = sketch.addresses[address].initial_value();
    let is_named_by_value =
        sketch.values(address).iter().filter(|&&value| value == initial).count() == 1;
    if is_named_by_value && rng.percent(20) {
        chain.push(None);
    }
    chain.extend(order.iter().filter(|_| rng.percent(75)).map(|&write| Some(place(write))));
    if chain.len() >= 2 && rng.percent(20) {
        let first = rng.below(chain.len() - 1);
        chain.swap(first, first + 1);
    }
    chain
}

fn add_dependencies(rng: &mut Rng, shape: &Shape, sketch: &mut Sketch) {
    for place in sketch.places() {
        let reads: Vec<usize> = (0..place.index)
            .filter(|&index| sketch.step(Place { index, ..place }).operation.kinds().reads)
            .collect();
        if rng.percent(shape.dependencies)
            && let Some(&read) = rng.pick(&reads)
        {
            sketch.step_mut(place).depends_on.push(read);
        }
    }
}

/// Times by a clock that runs along program order, with intervals that overlap now and then and
/// ends that are now and then unknown.
fn add_times(rng: &mut Rng, shape: &Shape, sketch: &mut Sketch) {
    for thread in &mut sketch.threads {
        let mut clock = 0;
        for step in &mut thread.steps {
            clock += 10 * rng.below(3) as u64;
            let end = clock + 10 * rng.below(4) as u64;
            if rng.percent(shape.times) {
                step.times = Times {
                    begin: (!rng.percent(15)).then_some(clock),
                    end: (!rng.percent(15)).then_some(end),
                };
            }
        }
    }
}

/// Lets a read or a `final` line see another of the values its address has.
fn change_a_value(rng: &mut Rng, sketch: &mut Sketch) {
    let readers: Vec<Place> = sketch
        .places()
        .into_iter()
        .filter(|&place| sketch.step(place).operation.kinds().reads)
        .collect();
    let ends: Vec<usize> =
        (0..sketch.addresses.len()).filter(|&x| sketch.addresses[x].end.is_some()).collect();
    if let (Some(&address), true) = (rng.pick(&ends), rng.percent(30)) {
        sketch.addresses[address].end = rng.pick(&sketch.values(address)).copied();
    } else if let Some(&place) = rng.pick(&readers)
        && let Some(address) = sketch.step(place).operation.address()
        && let Some(&value) = rng.pick(&sketch.values(address.index()))
    {
        let step = sketch.step_mut(place);
        step.operation = returning(step.operation, value);
    }
}

fn make_thin_air(rng: &mut Rng, sketch: &mut Sketch) {
    let places = sketch.places();
    if let Some(&place) = rng.pick(&places) {
        let step = sketch.step_mut(place);
        step.operation = returning(step.operation, UNWRITTEN);
    }
}
