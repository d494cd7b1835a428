//! How long canonicalisation takes, for the shapes that protocols have.
//!
//! `cargo run --release -p tribunal-explore --example symmetry [SHAPE | MODEL.m NAME=VALUE …]`: for
//! a model, the successors of its first canonical states; for each shape, a walk that changes a
//! slot or two of a canonical state at a time, as rules do. Prints nanoseconds per state and which
//! step decided how often.

#[allow(dead_code)] // the tests use the rest
#[path = "../tests/all/symmetry_support.rs"]
mod symmetry_support;

use std::collections::{HashSet, VecDeque};
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use murphi::interpret::Interpreter;
use murphi::ir::{Model, TypeKind};
use murphi::machine::{Machine, Successors};
use murphi::source::Source;
use symmetry_support::{Oracle, Random, Types, Value};
use tribunal_explore::symmetry::{Canonicalizer, Scratch, Symmetry};

const STATES: usize = 20_000;
const ROUNDS: usize = 20;
/// How many states are timed together.
const STRETCH: usize = 200;
/// How many canonical states of a model to expand at most.
const MODEL_STATES: usize = 30_000;

fn main() {
    let wanted = std::env::args().nth(1);
    if let Some(path) = wanted.as_ref().filter(|wanted| wanted.ends_with(".m")) {
        return measure_model(path, std::env::args().skip(2));
    }
    for (name, types, calm) in shapes() {
        if wanted.as_ref().is_none_or(|wanted| name.contains(wanted.as_str())) {
            measure(name, &types, calm);
        }
    }
}

/// Names, types, and how many percent of the slots have their lowest value.
fn shapes() -> Vec<(&'static str, Types, u64)> {
    vec![
        ("german, 5 nodes", german(5, false), 60),
        ("german, 5 nodes, scalarset data", german(5, true), 60),
        ("german, 8 nodes", german(8, false), 60),
        ("directory, 2 addresses, 4 nodes", directory(2, 4), 60),
        ("queue lock, 5 processes", queue_lock(5), 40),
        ("multiset of 10 messages, 4 nodes", network(4, 10), 50),
        ("multiset of 40 messages, 4 nodes", network(4, 40), 50),
        ("slots of messages, 4 nodes", slots(4), 60),
        ("random graphs, 8 nodes", relation(8), 50),
    ]
}

fn german(nodes: u32, symmetric_data: bool) -> Types {
    let mut types = Types::new();
    let node = types.scalarset(nodes);
    let data = if symmetric_data { types.scalarset(2) } else { types.range(0, 1) };
    let (state, command) = (types.enumeration(3), types.enumeration(7));
    let cache = types.record(&[state, data]);
    let channel = types.record(&[command, data]);
    for element in [cache, channel, channel, channel, Model::BOOLEAN, Model::BOOLEAN] {
        let array = types.array(node, element);
        types.global(array);
    }
    for ty in [Model::BOOLEAN, command, node, data, data] {
        types.global(ty);
    }
    types
}

fn directory(addresses: u32, nodes: u32) -> Types {
    let mut types = Types::new();
    let (address, node) = (types.scalarset(addresses), types.scalarset(nodes));
    let state = types.enumeration(5);
    let line = types.record(&[state, Model::BOOLEAN]);
    let lines = types.array(address, line);
    let caches = types.array(node, lines);
    let sharers = types.array(node, Model::BOOLEAN);
    let entry = types.record(&[state, node, sharers]);
    let directory = types.array(address, entry);
    types.global(caches);
    types.global(directory);
    types
}

fn queue_lock(processes: u32) -> Types {
    let mut types = Types::new();
    let process = types.scalarset(processes);
    let (place, nil) = (types.enumeration(8), types.enumeration(1));
    let pointer = types.union(&[nil, process]);
    let local = types.record(&[place, pointer, pointer, Model::BOOLEAN]);
    let locals = types.array(process, local);
    types.global(locals);
    types.global(pointer);
    types
}

fn network(nodes: u32, capacity: u32) -> Types {
    let mut types = Types::new();
    let (node, home) = (types.scalarset(nodes), types.enumeration(1));
    let any = types.union(&[home, node]);
    let (kind, state, value) = (types.enumeration(9), types.enumeration(6), types.range(0, 1));
    let message = types.record(&[kind, any, any, value]);
    let network = types.multiset(capacity, message);
    let cache = types.record(&[state, value]);
    let caches = types.array(node, cache);
    types.global(network);
    types.global(caches);
    types.global(any);
    types
}

fn slots(nodes: u32) -> Types {
    let mut types = Types::new();
    let (node, home) = (types.scalarset(nodes), types.enumeration(1));
    let any = types.union(&[home, node]);
    let (kind, state, value) = (types.enumeration(9), types.enumeration(6), types.range(0, 1));
    let message = types.record(&[kind, any, value]);
    let slot = types.range(0, 2);
    let queue = types.array(slot, message);
    let queues = types.array(node, queue);
    let cache = types.record(&[state, value]);
    let caches = types.array(node, cache);
    types.global(queues);
    types.global(caches);
    types.global(any);
    types
}

fn relation(nodes: u32) -> Types {
    let mut types = Types::new();
    let node = types.scalarset(nodes);
    let row = types.array(node, Model::BOOLEAN);
    let matrix = types.array(node, row);
    types.global(matrix);
    types
}

/// Explores a model with the interpreter and measures on the successors it computes.
fn measure_model(path: &str, constants: impl Iterator<Item = String>) {
    let text = std::fs::read_to_string(path).expect("the model can be read");
    let mut options = murphi::check::Options::default();
    for constant in constants {
        let (name, value) = constant.split_once('=').expect("NAME=VALUE");
        options.constants.push((name.to_string(), value.to_string()));
    }
    let source = Source { name: path.to_string(), text };
    let model = Arc::new(murphi::load(source, &options).expect("the model is right").model);
    let mut machine = Interpreter::new(model.clone()).expect("the model can be run");
    let layout = machine.layout().clone();
    let canonicalizer = Canonicalizer::new(&model, &layout, Symmetry::Full);
    let scratch = &mut Scratch::new(&canonicalizer);
    let mut seen = HashSet::new();
    let mut queue = VecDeque::new();
    let mut states = Vec::new();
    let mut batch = Successors::new(layout.size as usize);
    Machine::start(&mut machine, &mut batch);
    loop {
        for firing in 0..batch.firings.len() {
            let mut state = batch.state(firing).to_vec();
            states.extend_from_slice(&state);
            canonicalizer.canonicalize(scratch, &mut state);
            if seen.insert(state.clone()) {
                queue.push_back(state);
            }
        }
        batch.clear();
        match queue.pop_front() {
            Some(state) if seen.len() < MODEL_STATES => machine.expand(&state, &mut batch),
            Some(_) => break,
            None => {
                println!("{} canonical states in all", seen.len());
                break;
            }
        }
    }
    time(path, canonicalizer, &states, layout.size as usize);
}

fn measure(name: &str, types: &Types, calm: u64) {
    let layout = types.layout();
    let oracle = Oracle { model: &types.model, layout: &layout };
    let canonicalizer = Canonicalizer::new(&types.model, &layout, Symmetry::Full);
    let states = walk(&oracle, &canonicalizer, &mut Scratch::new(&canonicalizer), calm);
    time(name, canonicalizer, &states, layout.size as usize);
}

/// With the tables that small states have, and without.
fn time(name: &str, canonicalizer: Canonicalizer, states: &[u8], size: usize) {
    time_one(name, &canonicalizer, states, size);
    time_one("  without tables", &canonicalizer.without_tables(), states, size);
}

fn time_one(name: &str, canonicalizer: &Canonicalizer, states: &[u8], size: usize) {
    let scratch = &mut Scratch::new(canonicalizer);
    let mut work = vec![0; states.len()];
    let count = states.len() / size;
    // The best time for each stretch: what else the machine does is left out.
    let mut best = vec![Duration::MAX; count.div_ceil(STRETCH)];
    for _ in 0..ROUNDS {
        work.copy_from_slice(states);
        for (stretch, best) in work.chunks_mut(STRETCH * size).zip(&mut best) {
            let started = Instant::now();
            for state in stretch.chunks_exact_mut(size) {
                canonicalizer.canonicalize(scratch, state);
            }
            *best = started.elapsed().min(*best);
        }
        black_box(&work);
    }
    let best = best.iter().sum::<Duration>().as_nanos() as f64 / count as f64;
    let decided = scratch.decided;
    let share = |part: u64| part as f64 * 100.0 / (count * ROUNDS) as f64;
    println!(
        "{name:34} {size:4} bytes {best:7.0} ns   keys {:5.1} %, rows {:5.1} %, colours {:5.1} %, \
         twins {:5.1} %, search {:5.1} %, {:.2} leaves",
        share(decided.by_keys),
        share(decided.by_rows),
        share(decided.by_colours),
        share(decided.by_twins),
        share(decided.by_search),
        share(decided.leaves) / 100.0,
    );
}

/// States one after the other, each a small change away from the canonical form of one before.
fn walk(
    oracle: &Oracle,
    canonicalizer: &Canonicalizer,
    scratch: &mut Scratch,
    calm: u64,
) -> Vec<u8> {
    let random = &mut Random(4711);
    let mut states = Vec::new();
    let mut current = oracle.random(random, 9);
    for _ in 0..60 {
        change(oracle, &mut current, random, calm);
    }
    for _ in 0..STATES {
        let mut state = oracle.encode(&current);
        canonicalizer.canonicalize(scratch, &mut state);
        current = oracle.decode(&state);
        change(oracle, &mut current, random, calm);
        states.extend(oracle.encode(&current));
    }
    states
}

/// Gives two random parts of the state other values.
fn change(oracle: &Oracle, values: &mut [Value], random: &mut Random, calm: u64) {
    for _ in 0..2 {
        let variable = random.below(values.len() as u64) as usize;
        let ty = oracle.model.globals[variable].ty;
        change_value(oracle, ty, &mut values[variable], random, calm);
    }
}

fn change_value(
    oracle: &Oracle,
    ty: murphi::ir::TypeId,
    value: &mut Value,
    random: &mut Random,
    calm: u64,
) {
    match (oracle.model.kind(ty), value) {
        (TypeKind::Simple(_), Value::Simple(number)) => {
            *number = match random.below(100) < calm {
                true => 1,
                false => 1 + random.below(oracle.model.count(ty)),
            };
        }
        (TypeKind::Record(fields), Value::Parts(parts)) => {
            for (field, part) in fields.iter().zip(parts) {
                change_value(oracle, field.ty, part, random, calm);
            }
        }
        (TypeKind::Array { element, .. }, Value::Parts(parts)) => {
            let index = random.below(parts.len() as u64) as usize;
            change_value(oracle, *element, &mut parts[index], random, calm);
        }
        (TypeKind::Multiset { capacity, element }, Value::Multiset(parts)) => {
            // Messages come and go; the network stays about full.
            if parts.len() as u32 == *capacity {
                parts.remove(random.below(parts.len() as u64) as usize);
            } else {
                let mut part = oracle.lowest(*element);
                change_value(oracle, *element, &mut part, random, calm / 2);
                parts.push(part);
            }
        }
        _ => unreachable!("a value of another type"),
    }
}
