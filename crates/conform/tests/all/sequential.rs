//! "Verifying sequential consistency … by model checking": its example and its claims.

use crate::support::{self, constants, model, verified};
use judge::Outcome;
use murphi::source::Source;
use tribunal_conform::{MemoryModel, MemoryTrace, Options, Sizes, Unknown, Verdict, ViolationKind};

fn sc(overrides: &[(&str, &str)]) -> Options {
    Options { memory_model: MemoryModel::Sc, ..constants(overrides) }
}

/// A model of this folder with something in its text replaced.
fn changed(name: &str, from: &str, to: &str) -> Source {
    let source = model(name);
    assert!(source.text.contains(from), "{from}");
    Source { text: source.text.replace(from, to), ..source }
}

/// A trace with processors and addresses numbered as they appear: which members of a scalarset
/// play a part is left open.
fn shape(trace: &MemoryTrace) -> Vec<String> {
    let (mut threads, mut addresses) = (Vec::new(), Vec::new());
    let lines = trace.events.iter().map(|event| {
        let thread = place(&mut threads, event.thread);
        let address = place(&mut addresses, event.address.clone());
        let sign = if event.is_store { ":=" } else { "==" };
        format!("{thread}: M[{address}] {sign} {}", event.value)
    });
    lines.collect()
}

/// Where something is in a list, to which it is added if it is not there.
fn place<T: PartialEq>(list: &mut Vec<T>, item: T) -> usize {
    list.iter().position(|known| *known == item).unwrap_or_else(|| {
        list.push(item);
        list.len() - 1
    })
}

#[test]
fn the_example_of_figure_1_is_verified_for_two_processors_and_two_locations() {
    let found = verified(&model("piranha"), &sc(&[]));
    assert!(matches!(found.verdict, Verdict::Holds(())), "{:?}", found.verdict);
    let names: Vec<&str> = found.lemmas.iter().map(|lemma| &*lemma.name).collect();
    assert_eq!(
        names,
        [
            "no ordering cycle through 1 processor and 1 address",
            "no ordering cycle through 2 processors and 2 addresses",
            "invariants, assertions and deadlock freedom of the protocol"
        ]
    );
    assert_eq!(found.sizes, Sizes { processors: 2, addresses: 2, values: 2 });
    assert!(found.independent, "{:?}", found.warnings);
}

#[test]
fn the_error_of_section_8_is_found_with_its_twelve_events_and_its_cycle() {
    let options = Options { only: Some(2), ..sc(&[("ForgetsOwner", "false")]) };
    let found = verified(&model("piranha"), &options);
    let Verdict::Broken(ViolationKind::MemoryModel(counterexample)) = &found.verdict else {
        panic!("{:?}", found.verdict)
    };
    assert_eq!(counterexample.claim, "no ordering cycle through 2 processors and 2 addresses");
    // The start state and twelve events.
    assert_eq!(counterexample.run.len(), 1 + 12);
    // Which of the two processors is ahead does not matter.
    let mut events = shape(&counterexample.trace);
    events.sort_by_key(|event| event.starts_with('1'));
    assert_eq!(events, ["0: M[0] := 1", "0: M[1] == 0", "1: M[1] := 2", "1: M[0] == 0"]);
    let cycle = counterexample.cycle.as_ref().expect("there is a nice cycle");
    // A cycle begins anywhere.
    assert_eq!(cycle.parts.len(), 2);
    for &(first, second) in &cycle.parts {
        let (first, second) =
            (&counterexample.trace.events[first], &counterexample.trace.events[second]);
        assert_eq!((first.is_store, second.is_store), (true, false));
        assert_eq!(first.thread, second.thread);
    }
    let described = cycle.describe(&counterexample.trace);
    assert!(described[0].ends_with("== 0 in program order"), "{}", described[0]);
    assert!(described[1].contains(" in the order of Addr_"), "{}", described[1]);
}

#[test]
fn the_error_of_section_8_shows_at_one_location_already_after_ten_events() {
    let found = verified(&model("piranha"), &sc(&[("ForgetsOwner", "false")]));
    let Verdict::Broken(ViolationKind::MemoryModel(counterexample)) = &found.verdict else {
        panic!("{:?}", found.verdict)
    };
    assert_eq!(counterexample.claim, "no ordering cycle through 1 processor and 1 address");
    assert_eq!(counterexample.run.len(), 1 + 10);
    assert_eq!(shape(&counterexample.trace), ["0: M[0] := 1", "0: M[0] == 0"]);
}

#[test]
fn evidence_for_a_violation_is_accepted_by_the_kernel() {
    let found = verified(&model("piranha"), &sc(&[("ForgetsOwner", "false")]));
    let Verdict::Broken(ViolationKind::MemoryModel(counterexample)) = &found.verdict else {
        panic!("{:?}", found.verdict)
    };
    let Outcome::Broken(proof) = &counterexample.judged.outcome else { panic!("a violation") };
    let history = history::parse_text(&counterexample.trace.text(false)).expect("it is a trace");
    let certificate = evidence::Certificate {
        trace: 1,
        model: counterexample.judged.model,
        evidence: evidence::Evidence::Violation(proof.clone()),
    };
    assert!(certify::certify(&history, &certificate).is_ok());
}

#[test]
fn observers_add_at_most_a_factor_of_two_and_three_for_each_k() {
    let off = explore::symmetry::Symmetry::Off;
    let three = Options { symmetry: off, ..sc(&[("Values", "3")]) };
    let found = verified(&model("piranha"), &three);
    let states = |lemma: usize| found.lemmas[lemma].exploration.states;
    let alone = states(2);
    // Without symmetry every way to give out the parts is searched: 4 for a cycle of one processor,
    // 2 for one of two, since its turns are the same.
    assert!(states(0) <= 4 * 6 * alone, "{} and {alone}", states(0));
    assert!(states(1) <= 2 * 36 * alone, "{} and {alone}", states(1));
}

#[test]
fn without_scalarsets_all_ways_to_give_out_the_parts_are_searched() {
    let found = verified(&model("cells"), &sc(&[]));
    assert!(matches!(found.verdict, Verdict::Holds(())), "{:?}", found.verdict);

    // Only processor 2 and only address 2 are wrong.
    let broken = changed(
        "cells",
        "rule \"load\" memory[a] = v ==>",
        "rule \"stale\" p = 2 & a = 2 & !isundefined(old) & old = v ==> begin Load(p, a, v); end;
         rule \"keep\" p = 2 ==> begin old := memory[2]; end;
         rule \"load\" memory[a] = v ==>",
    );
    let text = broken.text.replace("memory: array", "old: Value; memory: array");
    let broken = Source { text, ..broken };
    let found = verified(&broken, &sc(&[]));
    let Verdict::Broken(ViolationKind::MemoryModel(counterexample)) = &found.verdict else {
        panic!("{:?}", found.verdict)
    };
    assert!(counterexample.trace.events.iter().any(|event| event.address == "2"));
}

#[test]
fn an_order_of_stores_other_than_the_temporal_one_is_a_false_alarm() {
    let found = verified(&model("delayed-stores"), &sc(&[]));
    let Verdict::Undecided(Unknown::FalseAlarm(counterexample)) = &found.verdict else {
        panic!("{:?}", found.verdict)
    };
    assert!(matches!(counterexample.judged.outcome, Outcome::Holds(_)));
    // With the temporal order, the trace is refused.
    let history = history::parse_text(&counterexample.trace.text(true)).expect("it is a trace");
    let budget = judge::Budget::unlimited();
    let relative = judge::judge(&history, models::Model::Sc, judge::Engine::Auto, &budget);
    assert!(matches!(relative.outcome, Outcome::Broken(_)));

    // Others are passed over, as many as is said.
    let patient = Options { pass_over: 3, ..sc(&[]) };
    let found = verified(&model("delayed-stores"), &patient);
    assert!(
        matches!(found.verdict, Verdict::Undecided(Unknown::FalseAlarm(_))),
        "{:?}",
        found.verdict
    );
    let last = found.lemmas.last().expect("there is one");
    assert_eq!((last.passed_over, last.exploration.passed_over.len()), (3, 3));
}

#[test]
fn a_violation_behind_a_false_alarm_is_found() {
    // In one mode stores overtake each other on their way to memory, which is allowed. In the other
    // an old value is loaded, but only after a while.
    let text = "
        type Proc: scalarset(2); Addr: scalarset(1); Value: 0..1;
        var memory, old: array [Addr] of Value; late: boolean; age: 0..6;
          waits: array [Proc] of record a: Addr; v: Value; end;
        procedure Load(p: Proc; a: Addr; v: Value); begin end;
        procedure Store(p: Proc; a: Addr; v: Value); begin end;
        startstate begin
          for a: Addr do memory[a] := 0; old[a] := 0; end; age := 0; late := false;
        end;
        rule \"late\" age = 0 ==> begin late := true; end;
        rule \"age\" !late & age < 6 ==> begin age := age + 1; end;
        ruleset p: Proc; a: Addr do
          ruleset v: Value do
            rule \"store\" late & isundefined(waits[p].a) ==>
            begin waits[p].a := a; waits[p].v := v; Store(p, a, v); end;
            rule \"store at once\" !late ==>
            begin old[a] := memory[a]; memory[a] := v; Store(p, a, v); end;
          end;
          rule \"arrive\" !isundefined(waits[p].a) & waits[p].a = a ==>
          begin memory[a] := waits[p].v; undefine waits[p]; end;
          rule \"load\" isundefined(waits[p].a) ==> begin Load(p, a, memory[a]); end;
          rule \"load old\" age = 6 ==> begin Load(p, a, old[a]); end;
        end;";
    let source = Source { name: "modes.m".to_owned(), text: text.to_owned() };
    let found = verified(&source, &Options { pass_over: 0, ..sc(&[]) });
    assert!(
        matches!(found.verdict, Verdict::Undecided(Unknown::FalseAlarm(_))),
        "{:?}",
        found.verdict
    );
    let found = verified(&source, &sc(&[]));
    let Verdict::Broken(ViolationKind::MemoryModel(counterexample)) = &found.verdict else {
        panic!("{:?}", found.verdict)
    };
    assert!(found.lemmas[counterexample.lemma].passed_over > 0);
}

#[test]
fn commits_give_the_order_in_which_stores_count() {
    let committed = support::with_commits(model("delayed-stores"));
    let found = verified(&committed, &sc(&[]));
    assert!(matches!(found.verdict, Verdict::Holds(())), "{:?}", found.verdict);
    let found = verified(&committed, &sc(&[("Waits", "false"), ("Forwards", "true")]));
    let Verdict::Broken(ViolationKind::MemoryModel(counterexample)) = &found.verdict else {
        panic!("{:?}", found.verdict)
    };
    assert_eq!(counterexample.claim, "no ordering cycle through 2 processors and 2 addresses");
    // Which of the two processors is ahead does not matter.
    let mut events = shape(&counterexample.trace);
    events.sort_by_key(|event| event.starts_with('1'));
    assert_eq!(events, ["0: M[0] := 1", "0: M[1] == 0", "1: M[1] := 2", "1: M[0] == 0"]);
}

#[test]
fn a_value_that_is_loaded_before_it_is_stored_is_a_violation() {
    let found = verified(&model("early-loads"), &sc(&[]));
    let Verdict::Broken(ViolationKind::MemoryModel(counterexample)) = &found.verdict else {
        panic!("{:?}", found.verdict)
    };
    assert_eq!(counterexample.claim, "every load returns a value that was stored before");
}

#[test]
fn scalarsets_of_values_and_messages_in_multisets_are_followed_into_the_trace() {
    let found = verified(&model("unordered-stores"), &sc(&[]));
    let Verdict::Broken(ViolationKind::MemoryModel(counterexample)) = &found.verdict else {
        panic!("{:?}", found.verdict)
    };
    assert_eq!(shape(&counterexample.trace), ["0: M[0] := 1", "0: M[0] == 0"]);
    let longer = Options { only: Some(2), ..sc(&[]) };
    let found = verified(&model("unordered-stores"), &longer);
    assert!(
        matches!(found.verdict, Verdict::Broken(ViolationKind::MemoryModel(_))),
        "{:?}",
        found.verdict
    );
}

#[test]
fn first_values_may_be_others_than_the_lowest() {
    let found = verified(&model("cells"), &sc(&[("First", "1")]));
    assert!(matches!(found.verdict, Verdict::Holds(())), "{:?}", found.verdict);
}

#[test]
fn a_protocol_that_excludes_all_its_start_states_begins_nowhere() {
    let source =
        changed("cells", "memory[a] := First; end;", "memory[a] := First; end; assume false;");
    let found = verified(&source, &sc(&[]));
    assert!(matches!(found.verdict, Verdict::Undecided(Unknown::NoStart)), "{:?}", found.verdict);
}

#[test]
fn a_lemma_that_there_is_not_cannot_be_asked_for() {
    let options = Options { only: Some(3), ..sc(&[]) };
    let stop = std::sync::atomic::AtomicBool::new(false);
    let refused = tribunal_conform::verify(&model("cells"), &options, &mut |_, _| (), &stop);
    assert!(matches!(refused, Err(tribunal_conform::Failure::Unsuitable(_))));
}

#[test]
fn compositions_are_plain_models_that_can_be_written_out() {
    let lemmas = tribunal_conform::compositions(&model("cells"), &sc(&[("Addresses", "3")]))
        .expect("it is suitable");
    assert_eq!(lemmas.len(), 2);
    let (name, text) = &lemmas[1];
    assert_eq!(name, "no ordering cycle through 2 processors and 2 addresses");
    assert!(text.contains("Addresses: 3;"), "{text}");
    assert!(text.contains("Value: 0..2;"), "{text}");
    assert!(text.contains("tribunal_store(p, a, v);"), "{text}");
    let source = Source { name: "lemma.m".to_owned(), text: text.clone() };
    let checked = murphi::load(source, &murphi::check::Options::default());
    let model = checked.expect("it is a program").model;
    // The rules are those of the protocol.
    let rules: Vec<&str> = model.rules.iter().map(|rule| &*rule.name).collect();
    assert_eq!(rules, ["load", "store"]);
}
