//! Whole explorations under symmetry, against the orbits of all reachable states by definition.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use crate::symmetry_support::Oracle;
use murphi::check::Options;
use murphi::interpret::Interpreter;
use murphi::ir::Model;
use murphi::machine::{Machine, Outcome, Successors};
use murphi::source::Source;
use tribunal_explore::symmetry::{Canonicalizer, Scratch, Symmetry};

fn load(file: &str, constants: &[(&str, &str)]) -> Arc<Model> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols").join(file);
    let text = std::fs::read_to_string(path).expect("the protocol can be read");
    let constants =
        constants.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    let options = Options { constants, ..Options::default() };
    let source = Source { name: file.to_string(), text };
    Arc::new(murphi::load(source, &options).expect("the protocol is right").model)
}

/// All states that are reached when each is replaced by its canonical form.
fn reachable(model: &Arc<Model>, symmetry: Symmetry) -> HashSet<Vec<u8>> {
    let mut machine = Interpreter::new(model.clone()).expect("the protocol can be run");
    let layout = machine.layout().clone();
    let canonicalizer = Canonicalizer::new(model, &layout, symmetry);
    let scratch = &mut Scratch::new(&canonicalizer);
    let mut seen = HashSet::new();
    let mut pending = Vec::new();
    let mut batch = Successors::new(layout.size as usize);
    Machine::start(&mut machine, &mut batch);
    loop {
        for (number, firing) in batch.firings.iter().enumerate() {
            assert_eq!(firing.outcome, Outcome::Done);
            let mut state = batch.state(number).to_vec();
            canonicalizer.canonicalize(scratch, &mut state);
            if seen.insert(state.clone()) {
                pending.push(state);
            }
        }
        batch.clear();
        match pending.pop() {
            Some(state) => machine.expand(&state, &mut batch),
            None => return seen,
        }
    }
}

/// How many orbits are reached: by exploring canonical states, and by definition.
fn orbits(file: &str, constants: &[(&str, &str)]) -> usize {
    let model = load(file, constants);
    let canonical = reachable(&model, Symmetry::Full);
    let all = reachable(&model, Symmetry::Off);
    let layout = murphi::layout::Layout::of(&model).expect("the protocol is small");
    let oracle = Oracle { model: &model, layout: &layout };
    let least: HashSet<_> = all.iter().map(|state| oracle.least(&oracle.decode(state))).collect();
    assert_eq!(canonical.len(), least.len(), "{file}");
    canonical.len()
}

#[test]
fn the_queue_lock_reaches_as_many_orbits_as_it_has() {
    orbits("mcs-lock.m", &[("N", "3")]);
}

#[test]
fn german_reaches_as_many_orbits_as_it_has() {
    orbits("german.m", &[("NodeCount", "2"), ("ValueCount", "2")]);
}

#[test]
fn a_network_of_slots_and_a_multiset_have_the_same_orbits() {
    let constants = [("ProcessorCount", "2"), ("ValueCount", "2")];
    assert_eq!(orbits("msi.m", &constants), orbits("msi-multiset.m", &constants));
}
