//! Abstractions of the protocols we ship: what they are made of, what holds of them, and what other
//! tools say.

use std::process::Command;
use std::sync::atomic::AtomicBool;

use crate::support::{abstracted, parsed, protocol, runnable};
use conform::MemoryModel;
use explore::symmetry::{Canonicalizer, Symmetry};
use explore::{Deadlock, Exploration, System, Verdict};
use murphi::ast::Program;
use murphi::print::print;
use murphi::source::Source;
use parametric::{emit, with_ranges};
use recheck::read_lemmas;
use tribunal_abstraction::{
    Fixed, Lemma, Options, Prepared, abstraction, prepare, with_processors,
};

fn explored(program: &Program, deadlock: Deadlock) -> Exploration {
    let interpreter = runnable(program);
    let (model, layout) = (interpreter.model(), interpreter.layout());
    let compiled = native::Program::compile(model, layout).expect("this host runs native code");
    let reduction = Canonicalizer::new(model, layout, Symmetry::Full);
    let system = System {
        machine: || compiled.machine(),
        codec: &*compiled,
        reduction: &reduction,
        state_size: layout.size as usize,
        rules: model.rules.len(),
    };
    let options = explore::Options { deadlock, ..explore::Options::default() };
    explore::explore(&options, &system, &mut |_| (), &AtomicBool::new(false))
}

fn german_lemmas(prepared: &Prepared) -> Vec<Lemma> {
    let text = include_str!("../german.lemmas.m").to_owned();
    let source = Source { name: "german.lemmas.m".into(), text };
    read_lemmas(&source, prepared).expect("they are lemmas")
}

#[test]
fn bits_of_numbers_are_compared_as_numbers() {
    for condition in ["(k & m) = n", "n != (k | m)", "(k & m) = (n & t[m])", "t[k & m] = n"] {
        let text = format!(
            "type P: scalarset(3); var k, m, n: 0..7; t: array [0..7] of 0..7; st: array [P] of 0..1;
             startstate begin k := 3; m := 1; n := 1; for i: 0..7 do t[i] := 0; end;
               for p: P do st[p] := 0; end; end;
             ruleset p: P do rule \"go\" {condition} ==> begin st[p] := 1; end; end;
             rule \"less\" begin n := 0; undefine t[n]; end;"
        );
        let source = Source { name: "bits.m".into(), text };
        let prepared = prepare(&parsed(&source), None).expect("it can be prepared");
        let made = abstraction(&prepared, &Options::default(), &[]).expect("it can be abstracted");
        assert!(!matches!(explored(&made.program, Deadlock::Off).verdict, Verdict::Undecided(_)));
    }
}

#[test]
fn german_holds_for_any_number_of_caches_with_four_lemmas() {
    let prepared = prepare(&parsed(&protocol("german")), None).expect("it can be prepared");
    let lemmas = german_lemmas(&prepared);
    let made = abstraction(&prepared, &Options::default(), &lemmas).expect("it can be abstracted");
    assert_eq!(made.claims.len(), 4);
    let found = explored(&made.program, Deadlock::Off);
    assert!(matches!(found.verdict, Verdict::Holds(())), "{:?}", found.verdict);
    let portable = explored(&with_ranges(&made, &prepared), Deadlock::Off);
    assert!(matches!(portable.verdict, Verdict::Holds(())));
    // Ranges have no symmetry, so there are more states of the same.
    assert!(portable.states > found.states);
    // Without one of them it does not hold, or not evidently.
    for gone in 0..lemmas.len() {
        let mut fewer = lemmas.clone();
        fewer.remove(gone);
        let made = abstraction(&prepared, &Options::default(), &fewer).expect("as before");
        let found = explored(&made.program, Deadlock::Off);
        assert!(matches!(found.verdict, Verdict::Broken(_)), "without lemma {gone}");
    }
}

#[test]
fn a_wrong_lemma_is_found_out() {
    let prepared = prepare(&parsed(&protocol("german")), None).expect("it can be prepared");
    let text = "invariant \"lemma for store\" forall n: Node; v: Value do !exclusive_granted end;";
    let source = Source { name: "wrong.m".into(), text: text.into() };
    let mut lemmas = german_lemmas(&prepared);
    lemmas.extend(read_lemmas(&source, &prepared).expect("it is a lemma"));
    let made = abstraction(&prepared, &Options::default(), &lemmas).expect("it can be abstracted");
    let interpreter = runnable(&made.program);
    match explored(&made.program, Deadlock::Off).violation() {
        Some(explore::Violation::Broken { property }) => {
            let broken = &interpreter.model().properties[property as usize].name;
            assert_eq!(*broken, made.claims[4]);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_broken_protocol_stays_broken() {
    let source = protocol("broken/german-grants-before-acks");
    let prepared = prepare(&parsed(&source), None).expect("it can be prepared");
    let lemmas = german_lemmas(&prepared);
    let made = abstraction(&prepared, &Options::default(), &lemmas).expect("it can be abstracted");
    let found = explored(&made.program, Deadlock::Off);
    assert!(matches!(found.verdict, Verdict::Broken(_)));
}

#[test]
fn preparing_keeps_what_a_protocol_does() {
    for name in ["german", "flash", "msi", "mesi"] {
        let program = parsed(&protocol(name));
        let prepared = prepare(&program, None).expect("it can be prepared");
        let few = |program: &Program| with_processors(program, &prepared.processor, 2);
        let before = explored(&few(&program), Deadlock::Stuck);
        let after = explored(&few(&prepared.program), Deadlock::Stuck);
        assert!(matches!(before.verdict, Verdict::Holds(())), "{name}");
        assert!(matches!(after.verdict, Verdict::Holds(())), "{name}");
        // With two processors a counter says which one it counts.
        assert_eq!(before.states, after.states, "{name}");
    }
}

#[test]
fn what_an_instance_chooses_stands_for_what_the_rule_reads() {
    let (_, made) = abstracted(&parsed(&protocol("german")), None);
    let names: Vec<&str> = made.rules.iter().map(|rule| rule.name.as_str()).collect();
    assert!(names.contains(&"store, n = Other"), "{names:?}");
    // What belongs to the cache alone does not show.
    assert!(!names.contains(&"cache takes a shared copy, n = Other"));
    let collects = made
        .rules
        .iter()
        .filter(|rule| rule.name.starts_with("home collects an acknowledgement, n = Other"));
    let data: Vec<_> = collects
        .flat_map(|rule| &rule.choices)
        .filter(|choice| murphi::print::print_expression(&choice.stands_for) == "channel3[n].data")
        .collect();
    assert_eq!(data.len(), 2);
    assert!(data[0].name.is_some() && data[0].initial);
    assert_eq!(data[1].fixed, Some(Fixed::Undefined));
}

/// Every protocol by itself, and with the observers of the memory model it is for.
fn programs() -> Vec<(String, Program, Option<String>)> {
    let mut all = Vec::new();
    for name in ["german", "flash", "msi", "mesi", "piranha", "tso-cc"] {
        all.push((name.to_owned(), parsed(&protocol(name)), None));
    }
    let sc = conform::Options::default();
    let tso = conform::Options { memory_model: MemoryModel::Tso, ..sc.clone() };
    for (name, options) in [("msi", &sc), ("mesi", &sc), ("piranha", &sc), ("tso-cc", &tso)] {
        let composed = conform::composed_programs(&protocol(name), options);
        let composed = composed.expect("it marks its loads and stores");
        // The exact observer of tso keeps multisets that a loop cannot go through.
        let count = if name == "tso-cc" { 1 } else { composed.programs.len() };
        for (claim, program) in composed.programs.into_iter().take(count) {
            all.push((format!("{name}: {claim}"), program, Some(composed.processor.clone())));
        }
    }
    all
}

#[test]
fn every_protocol_is_abstracted_alone_and_with_its_observers() {
    let rumur = Command::new("rumur").arg("--version").output().is_ok();
    for (name, program, processor) in programs() {
        let (prepared, made) = abstracted(&program, processor.as_deref());
        let text = emit(&made, &prepared, &name);
        for text in [print(&made.program), text.clone()] {
            let source = Source { name: name.clone(), text };
            let checked = murphi::load(source.clone(), &murphi::check::Options::default());
            if let Err(problems) = checked {
                panic!("{name}: {}", problems[0].render(&source, false));
            }
        }
        if rumur {
            let folder = std::env::temp_dir().join(format!("abstraction-{}", std::process::id()));
            std::fs::create_dir_all(&folder).expect("there is room");
            let (model, code) = (folder.join("model.m"), folder.join("model.c"));
            std::fs::write(&model, &text).expect("there is room");
            let said = Command::new("rumur").arg("-o").arg(&code).arg(&model).output();
            let said = said.expect("it has just run");
            let error = String::from_utf8_lossy(&said.stderr).into_owned();
            std::fs::remove_dir_all(&folder).expect("it is ours");
            assert!(said.status.success(), "{name}: {error}");
        }
    }
}
