//! Every step of a protocol, looked at with any two processors in view, is a step of the
//! abstraction or changes nothing there: what everything rests on, tried out.

use crate::starts::starts;
use crate::support::{abstracted, parsed, protocol, runnable};
use murphi::ast::Program;
use murphi::instance;
use murphi::interpret::{End, Interpreter};
use murphi::value::State;
use tribunal_abstraction::{
    Abstraction, Options, Prepared, RuleId, View, abstraction, one_address, possible_exclusions,
    prepare, project, with_processors,
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

/// All successors of a state, with their rules.
fn successors(machine: &Interpreter, state: &State) -> Vec<(usize, State)> {
    let model = machine.model();
    let mut found = Vec::new();
    for (number, rule) in model.rules.iter().enumerate() {
        for instance in 0..instance::count(model, &rule.parameters).unwrap_or(0) {
            match machine.run_rule(state, number, instance).end {
                End::Done(next) => found.push((number, next)),
                End::Failed(error) | End::GuardFailed(error) => panic!("{error:?}"),
                End::Disabled | End::Excluded => {}
            }
        }
    }
    found
}

/// Whether the abstraction of a rule leads from one state to the other.
fn leads(
    machine: &Interpreter,
    made: &Abstraction,
    rule: RuleId,
    from: &State,
    to: &State,
) -> bool {
    let model = machine.model();
    let own = made.origins.iter().enumerate().filter(|(_, (origin, _))| *origin == rule);
    own.map(|(number, _)| number).any(|number| {
        let parameters = &model.rules[number].parameters;
        (0..instance::count(model, parameters).unwrap_or(0)).any(|instance| {
            matches!(machine.run_rule(from, number, instance).end, End::Done(next) if next == *to)
        })
    })
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
    let count = processors as usize;
    let longer = |view: &Vec<usize>| -> Vec<Vec<usize>> {
        let others = (0..count).filter(|next| !view.contains(next));
        others.map(|next| [view.clone(), vec![next]].concat()).collect()
    };
    let mut views: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..2 + usize::from(made.view.named) {
        views = views.iter().flat_map(longer).collect();
    }
    unseen_step_of(prepared, made, processors, &views, steps)
}

/// The same for these views.
fn unseen_step_of(
    prepared: &Prepared,
    made: &Abstraction,
    processors: u64,
    views: &[Vec<usize>],
    steps: usize,
) -> Option<String> {
    let processor = &prepared.processor.name;
    let concrete = runnable(&with_processors(&prepared.program, &prepared.processor, processors));
    let abstracted = runnable(&made.program);
    assert_eq!(abstracted.model().rules.len(), made.origins.len());
    let seen = |state: &State, view: &[usize]| {
        let (view, named) = view.split_at(made.view.concrete as usize);
        let named = named.first().copied();
        project(concrete.model(), abstracted.model(), processor, view, named, state)
    };
    let abstract_starts = starts(&abstracted);
    let concrete_starts = starts(&concrete);
    for start in &concrete_starts {
        for view in views {
            assert!(abstract_starts.contains(&seen(start, view)), "a start state is not seen");
        }
    }
    let mut dice = Dice(steps as u64);
    let mut state = concrete_starts[0].clone();
    for step in 0..steps {
        let next = successors(&concrete, &state);
        if next.is_empty() || step % 60 == 59 {
            state = concrete_starts[dice.below(concrete_starts.len() as u64) as usize].clone();
            continue;
        }
        let (rule, after) = next[dice.below(next.len() as u64) as usize].clone();
        for view in views {
            let (from, to) = (seen(&state, view), seen(&after, view));
            if from != to && !leads(&abstracted, made, RuleId(rule), &from, &to) {
                let name = &concrete.model().rules[rule].name;
                return Some(format!(
                    "\"{name}\" is not seen with {view:?} in view\n{from:?}\n{to:?}"
                ));
            }
        }
        state = after;
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

/// Two addresses, each of them in view, and the other one gone.
#[test]
fn every_step_is_seen_with_one_address_in_view() {
    for name in ["msi", "mesi", "moesi"] {
        let options = conform::Options::default();
        let composed = conform::composed_programs(&protocol(name), &options);
        let composed = composed.expect("it marks its loads and stores");
        let (_, program) = composed.by_address.last().expect("its data is independent");
        let prepared = prepare(program, Some(&composed.address)).expect("it can be prepared");
        let how =
            Options { view: View { concrete: 1, named: false }, sets: false, ..Options::default() };
        let made = abstraction(&prepared, &how, &[]).expect("it can be abstracted");
        let unseen = unseen_step_of(&prepared, &made, 2, &[vec![0], vec![1]], 400);
        assert_eq!(unseen, None, "{name}");
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
    let one = one_address(program, &composed.address, &exclusions).expect("none is stored");
    let without = one_address(program, &composed.address, &[]).expect("none is stored");
    assert_ne!(one, without, "they say something");
    let prepared = prepare(program, Some(&composed.address)).expect("it can be prepared");
    let how =
        Options { view: View { concrete: 1, named: false }, sets: false, ..Options::default() };
    let mut made = abstraction(&prepared, &how, &[]).expect("it can be abstracted");
    made.program = one;
    assert_eq!(unseen_step_of(&prepared, &made, 2, &[vec![0], vec![1]], 400), None);
}
