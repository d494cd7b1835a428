//! Runs that give the reads of a program their values, from the strongest machine to pure chance.
//!
//! A program is a history whose reads do not mean anything yet. A run says what each read
//! returned and in which order the writes of each address became visible, as far as its machine
//! has such an order.

use history::{Event, EventId, History, Operation, Source, Value};
use models::Model;

use crate::machine::{Machine, Step};
use chance::Rng;

/// What happened in a run.
pub(crate) struct Outcome {
    /// What each event returned; 0 for those that do not read.
    pub(crate) returned: Vec<Value>,
    /// The writes of each address, in order.
    pub(crate) write_orders: Vec<Vec<EventId>>,
}

impl Outcome {
    fn of(program: &History) -> Self {
        Self {
            returned: vec![0; program.len()],
            write_orders: vec![Vec::new(); program.address_count()],
        }
    }

    /// The value of a write of the address of an event.
    fn value(program: &History, event: Event, source: Source) -> Value {
        match (source, event.address()) {
            (Source::Write(write), _) => program.event(write).operation.value_written(),
            (Source::Initial, Some(address)) => Some(program.address(address).initial),
            (Source::Initial, None) => None,
        }
        .unwrap_or(0)
    }
}

/// A random walk of a store-buffer machine.
pub(crate) fn machine_run(rng: &mut Rng, program: &History, model: Model) -> Outcome {
    let machine = Machine::new(program, model);
    let mut outcome = Outcome::of(program);
    let mut state = machine.start();
    loop {
        let steps = eager_steps(rng, machine.steps(&state));
        let Some(&step) = rng.pick(&steps) else { return outcome };
        if let (Step::Perform(event), Some(value)) = (step, machine.returns(&state, step)) {
            outcome.returned[event.index()] = value;
        }
        if let Some(write) = machine.reaches_memory(step)
            && let Some(address) = program.event(write).address()
        {
            outcome.write_orders[address.index()].push(write);
        }
        state = machine.after(&state, step);
    }
}

/// The steps without those that drain, mostly, where there are others: writes that stay pending
/// for long are what makes the machines differ.
fn eager_steps(rng: &mut Rng, steps: Vec<Step>) -> Vec<Step> {
    let performing: Vec<Step> =
        steps.iter().copied().filter(|step| matches!(step, Step::Perform(_))).collect();
    if performing.is_empty() || rng.percent(30) { steps } else { performing }
}

/// Performs events in any order that keeps program order where two events are of one address. A
/// read may return an old value, but none older than its thread has seen at that address.
pub(crate) fn per_location_run(rng: &mut Rng, program: &History) -> Outcome {
    let mut outcome = Outcome::of(program);
    let mut waiting: Vec<EventId> = program.event_ids().collect();
    let mut seen = vec![vec![0; program.address_count()]; program.thread_count()];
    while !waiting.is_empty() {
        let ready: Vec<EventId> = waiting
            .iter()
            .copied()
            .filter(|&e| {
                !waiting.iter().any(|&earlier| {
                    program.program_order(earlier, e)
                        && program.event(earlier).address() == program.event(e).address()
                })
            })
            .collect();
        let Some(&id) = rng.pick(&ready) else { break };
        waiting.retain(|&e| e != id);
        let event = program.event(id);
        let Some(address) = event.address() else { continue };
        let order = &mut outcome.write_orders[address.index()];
        let seen = &mut seen[event.thread.index()][address.index()];
        if event.is_read() {
            // Place 0 is the initial write. An atomic must read the last one.
            let oldest = if event.is_atomic() { order.len() } else { *seen };
            *seen = oldest + rng.below(order.len() + 1 - oldest);
            let source = match *seen {
                0 => Source::Initial,
                place => Source::Write(order[place - 1]),
            };
            outcome.returned[id.index()] = Outcome::value(program, event, source);
        }
        if event.is_write() {
            order.push(id);
            *seen = order.len();
        }
    }
    outcome
}

/// A thread's copy of the memory.
#[derive(Clone)]
struct Replica {
    /// The writes it has heard of, as bits.
    heard: u64,
    /// What each address holds: a write and its number in the order of issue.
    holds: Vec<(Source, usize)>,
}

/// Each thread reads and writes its own copy; writes reach the other copies in any order in which
/// causes come before effects.
pub(crate) fn replica_run(rng: &mut Rng, program: &History, convergent: bool) -> Outcome {
    let mut outcome = Outcome::of(program);
    let nothing = Replica { heard: 0, holds: vec![(Source::Initial, 0); program.address_count()] };
    let mut replicas = vec![nothing; program.thread_count()];
    // Each issued write with all that its thread had heard of.
    let mut issued: Vec<(EventId, u64)> = Vec::new();
    let mut waiting: Vec<EventId> = program.event_ids().collect();
    loop {
        let next: Vec<EventId> = program
            .threads()
            .filter_map(|t| waiting.iter().copied().find(|&e| program.event(e).thread == t))
            .collect();
        let Some(&id) = rng.pick(&next) else { return outcome };
        waiting.retain(|&e| e != id);
        let event = program.event(id);
        let replica = &mut replicas[event.thread.index()];
        for _ in 0..rng.below(3) {
            hear(rng, program, replica, &issued, convergent);
        }
        let Some(address) = event.address() else { continue };
        if event.is_read() {
            let (source, _) = replica.holds[address.index()];
            outcome.returned[id.index()] = Outcome::value(program, event, source);
        }
        if event.is_write() {
            replica.heard |= 1 << id.index();
            issued.push((id, replica.heard));
            replica.holds[address.index()] = (Source::Write(id), issued.len());
            outcome.write_orders[address.index()].push(id);
        }
    }
}

/// Lets a replica hear of one write whose causes it has heard of.
fn hear(
    rng: &mut Rng,
    program: &History,
    replica: &mut Replica,
    issued: &[(EventId, u64)],
    convergent: bool,
) {
    let news: Vec<usize> = (0..issued.len())
        .filter(|&i| {
            let (write, causes) = issued[i];
            let unheard = causes & !replica.heard;
            unheard == 1 << write.index()
        })
        .collect();
    let Some(&number) = rng.pick(&news) else { return };
    let (write, _) = issued[number];
    replica.heard |= 1 << write.index();
    if let Some(address) = program.event(write).address() {
        let held = &mut replica.holds[address.index()];
        if !convergent || held.1 <= number {
            *held = (Source::Write(write), number + 1);
        }
    }
}

/// Each read returns any value its address ever has.
pub(crate) fn chance_run(rng: &mut Rng, program: &History) -> Outcome {
    let mut outcome = Outcome::of(program);
    for id in program.event_ids() {
        let event = program.event(id);
        let Some(address) = event.address() else { continue };
        let mut sources = vec![Source::Initial];
        sources.extend(program.address(address).writes.iter().map(|&w| Source::Write(w)));
        if let (true, Some(&source)) = (event.is_read(), rng.pick(&sources)) {
            outcome.returned[id.index()] = Outcome::value(program, event, source);
        }
        if let Operation::Write { .. } | Operation::ReadModifyWrite { .. } = event.operation {
            outcome.write_orders[address.index()].push(id);
        }
    }
    for order in &mut outcome.write_orders {
        rng.shuffle(order);
    }
    outcome
}
