//! Every step of a protocol, looked at with any two processors in view, is a step of the
//! abstraction or changes nothing there: what everything rests on, tried out.

use crate::support::{abstracted, parsed, protocol};
use murphi::ast::Program;
use murphi::interpret::End;
use parametric::Simulation;
use tribunal_abstraction::{
    Abstraction, Options, Prepared, RuleId, RunTimeErrors, View, abstraction, one_address,
    possible_exclusions, prepare,
};

/// A few thousand steps at random, by a generator that is the same everywhere.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound.max(1)
    }
}

/// With two processors in view, and with two and one more that is known by its name.
fn every_step_is_seen(program: &Program, processor: &str, processors: u64, steps: usize) {
    let prepared = prepare(program, Some(processor)).expect("it can be prepared");
    for named in [false, true] {
        let how = Options { view: View { concrete: 2, named }, ..Options::default() };
        let made = abstraction(&prepared, &how, &[]).expect("it can be abstracted");
        if let Some(unseen) = unseen_step(&prepared, &made, processors, steps) {
            panic!("{unseen}");
        }
    }
}

/// A step that the abstraction does not have, if there is one.
fn unseen_step(
    prepared: &Prepared,
    made: &Abstraction,
    processors: u64,
    steps: usize,
) -> Option<String> {
    unseen_step_of(&simulation(prepared, made, processors), steps)
}

fn simulation<'a>(
    prepared: &'a Prepared,
    made: &'a Abstraction,
    processors: u64,
) -> Simulation<'a> {
    Simulation::new(prepared, made, processors, &Default::default()).expect("it can be run")
}

/// The same among random steps of an instance.
fn unseen_step_of(simulation: &Simulation<'_>, steps: usize) -> Option<String> {
    let starts = match simulation.starts() {
        Ok(starts) => starts,
        Err(unseen) => return Some(format!("{unseen:?}")),
    };
    let mut dice = Dice(steps as u64);
    let mut state = starts[0].clone();
    for step in 0..steps {
        let next = simulation.steps(&state);
        if next.is_empty() || step % 60 == 59 {
            state = starts[dice.below(starts.len() as u64) as usize].clone();
            continue;
        }
        let (rule, end) = &next[dice.below(next.len() as u64) as usize];
        if let Err(unseen) = simulation.sees(&state, *rule, end) {
            return Some(format!("{unseen:?}"));
        }
        let End::Done(after) = end else { panic!("rule {rule} fails: {end:?}") };
        state = after.clone();
    }
    None
}

#[test]
fn without_a_rule_of_others_a_step_is_not_seen() {
    let (prepared, made) = abstracted(&parsed(&protocol("german")), Some("Node"));
    for gone in 0..made.rules.len() {
        let mut made = made.clone();
        let wanted = if made.rules[gone].others.is_empty() { continue } else { Some(gone) };
        // What copies nothing is one of the cases that never happen.
        if made.rules[gone].choices.iter().any(|choice| choice.fixed.is_some()) {
            continue;
        }
        for origin in &mut made.origins {
            if origin.1 == wanted {
                origin.0 = RuleId(usize::MAX);
            }
        }
        assert!(unseen_step(&prepared, &made, 3, 600).is_some(), "{}", made.rules[gone].name);
    }
}

#[test]
fn every_step_of_german_is_seen() {
    every_step_is_seen(&parsed(&protocol("german")), "Node", 3, 400);
    every_step_is_seen(&parsed(&protocol("german")), "Node", 4, 200);
}

#[test]
fn every_step_of_flash_is_seen() {
    every_step_is_seen(&parsed(&protocol("flash")), "Remote", 3, 300);
    every_step_is_seen(&parsed(&protocol("flash")), "Remote", 4, 100);
}

#[test]
fn every_step_of_msi_is_seen() {
    every_step_is_seen(&parsed(&protocol("msi")), "Processor", 3, 250);
    every_step_is_seen(&parsed(&protocol("msi")), "Processor", 4, 80);
}

#[test]
fn every_step_of_mesi_is_seen() {
    every_step_is_seen(&parsed(&protocol("mesi")), "Processor", 3, 250);
}

#[test]
fn every_step_of_piranha_is_seen() {
    every_step_is_seen(&parsed(&protocol("piranha")), "Processor", 3, 150);
}

#[test]
fn every_step_of_tso_cc_is_seen() {
    every_step_is_seen(&parsed(&protocol("tso-cc")), "Processor", 3, 200);
}

#[test]
fn every_step_beside_an_observer_is_seen() {
    let options = conform::Options::default();
    let composed = conform::composed_programs(&protocol("msi"), &options);
    let composed = composed.expect("it marks its loads and stores");
    every_step_is_seen(&composed.programs[0].1, &composed.processor, 3, 120);
    let tso = conform::MemoryModel::Tso;
    let options = conform::Options { memory_model: tso, ..options };
    let composed = conform::composed_programs(&protocol("tso-cc"), &options);
    let composed = composed.expect("it marks its loads and stores");
    every_step_is_seen(&composed.programs[0].1, &composed.processor, 3, 120);
}

#[test]
fn every_step_of_moesi_is_seen() {
    every_step_is_seen(&parsed(&protocol("moesi")), "Processor", 3, 250);
    every_step_is_seen(&parsed(&protocol("moesi")), "Processor", 4, 60);
}

/// How one address is kept in view.
fn of_one_address() -> Options {
    let view = View { concrete: 1, named: false };
    Options { view, sets: false, errors: RunTimeErrors::Ignored, ..Options::default() }
}

/// Two addresses, each of them in view, and the other one gone.
#[test]
fn every_step_is_seen_with_one_address_in_view() {
    for name in ["msi", "mesi", "moesi"] {
        let options = conform::Options::default();
        let composed = conform::composed_programs(&protocol(name), &options);
        let composed = composed.expect("it marks its loads and stores");
        let (_, program) = composed.by_address.last().expect("its data is independent");
        let prepared = prepare(program, Some(&composed.address)).expect("it can be prepared");
        let made = abstraction(&prepared, &of_one_address(), &[]).expect("it can be abstracted");
        assert_eq!(unseen_step_of(&simulation(&prepared, &made, 2), 400), None, "{name}");
    }
}

/// What one address stands for is also seen under the exclusions that it is given.
#[test]
fn exclusions_exclude_no_step() {
    let options = conform::Options::default();
    let composed = conform::composed_programs(&protocol("mesi"), &options);
    let composed = composed.expect("it marks its loads and stores");
    let (_, program) = composed.by_address.last().expect("its data is independent");
    let exclusions = possible_exclusions(program, &composed.address);
    assert_eq!(exclusions.len(), 2, "loads that miss, and stores that miss");
    let one = one_address(program, &composed.address, &exclusions, options.language.dialect)
        .expect("none is stored");
    let without = one_address(program, &composed.address, &[], options.language.dialect)
        .expect("none is stored");
    assert_ne!(one, without, "they say something");
    let prepared = prepare(program, Some(&composed.address)).expect("it can be prepared");
    let mut made = abstraction(&prepared, &of_one_address(), &[]).expect("it can be abstracted");
    made.program = one;
    assert_eq!(unseen_step_of(&simulation(&prepared, &made, 2), 400), None);
}
