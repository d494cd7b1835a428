//! "Verification of a lazy cache coherence protocol against a weak memory model": TSO-LB.

use std::collections::HashSet;

use crate::support::{self, constants, model, protocol, verified};
use explore::Step;
use explore::symmetry::{Canonicalizer, Scratch, Symmetry};
use judge::Outcome;
use murphi::instance;
use murphi::interpret::{End, Interpreter};
use murphi::source::Source;
use murphi::value::State;
use tribunal_conform::{MemoryModel, Options, Unknown, Verdict, Verification, ViolationKind};

fn tso(overrides: &[(&str, &str)]) -> Options {
    Options { memory_model: MemoryModel::Tso, ..constants(overrides) }
}

#[test]
fn the_lazy_strategy_raises_a_false_alarm_that_the_exact_one_does_not() {
    let found = verified(&model("load-buffers"), &tso(&[]));
    assert!(matches!(found.verdict, Verdict::Holds(())), "{:?}", found.verdict);
    let [lazy, exact, _] = &found.lemmas[..] else { panic!("{:?}", found.lemmas.len()) };
    assert!(matches!(lazy.exploration.verdict, explore::Verdict::Broken(_)));
    assert_eq!(exact.exploration.verdict, explore::Verdict::Holds(()));
}

#[test]
fn bringing_one_address_up_to_date_breaks_message_passing() {
    let found = verified(&model("load-buffers"), &tso(&[("Whole", "false")]));
    let Verdict::Broken(ViolationKind::MemoryModel(counterexample)) = &found.verdict else {
        panic!("{:?}", found.verdict);
    };
    assert!(matches!(counterexample.judged.outcome, Outcome::Broken(_)));
    assert_eq!(counterexample.trace.events.len(), 4);
}

#[test]
fn figure_3_is_allowed_by_tso_but_not_by_tso_lb() {
    let found = verified(&model("figure-3"), &Options { exact: true, protocol: false, ..tso(&[]) });
    let Verdict::Undecided(Unknown::FalseAlarm(counterexample)) = &found.verdict else {
        panic!("{:?}", found.verdict);
    };
    assert!(matches!(counterexample.judged.outcome, Outcome::Holds(_)));
    let loads = counterexample.trace.events.iter().filter(|event| !event.is_store);
    let seen: Vec<(u64, bool)> = loads.map(|event| (event.thread, event.value != 0)).collect();
    let of = |thread: u64| -> Vec<bool> {
        seen.iter().filter(|load| load.0 == thread).map(|load| load.1).collect()
    };
    assert_eq!((of(1), of(2)), (vec![false, true, false], vec![false, true, false]));
}

#[test]
fn values_may_be_interchangeable() {
    let found = verified(&model("unordered-stores"), &tso(&[]));
    let Verdict::Broken(ViolationKind::MemoryModel(counterexample)) = &found.verdict else {
        panic!("{:?}", found.verdict)
    };
    assert_eq!(counterexample.claim, "TSO-LB allows the value of every load");
    assert!(matches!(counterexample.judged.outcome, Outcome::Broken(_)));

    let source = model("load-buffers");
    let text = source.text.replace("Value: 0..Values - 1;", "Value: scalarset(Values);");
    let text = text.replace("startstate\n", "ruleset v: Value do startstate\n");
    let text = text.replace("global[a] := 0; end;", "global[a] := v; end;");
    let text =
        text.replace("local[p] := global; end;\nend;", "local[p] := global; end;\nend; end;");
    let symmetric = verified(&Source { text, ..source }, &tso(&[]));
    assert!(matches!(symmetric.verdict, Verdict::Holds(())), "{:?}", symmetric.verdict);
    let ordered = verified(&model("load-buffers"), &tso(&[]));
    let states = |found: &Verification| found.lemmas[1].exploration.states;
    assert!(states(&symmetric) < states(&ordered));
}

#[test]
fn store_buffers_are_followed_by_their_commits() {
    let buffers = [("Waits", "false"), ("Forwards", "true")];
    // By the order of stores, a store that is overtaken on its way to memory is an alarm.
    let found = verified(&model("delayed-stores"), &tso(&buffers));
    assert!(
        matches!(found.verdict, Verdict::Undecided(Unknown::FalseAlarm(_))),
        "{:?}",
        found.verdict
    );
    let committed = support::with_commits(model("delayed-stores"));
    let found = verified(&committed, &tso(&buffers));
    assert!(matches!(found.verdict, Verdict::Holds(())), "{:?}", found.verdict);
    // A processor that does not see its own store is wrong.
    let found = verified(&committed, &tso(&[("Waits", "false")]));
    let Verdict::Broken(ViolationKind::MemoryModel(counterexample)) = &found.verdict else {
        panic!("{:?}", found.verdict)
    };
    assert_eq!(counterexample.trace.events.len(), 2);
}

#[test]
fn tso_cc_without_self_invalidation_breaks_message_passing() {
    let found = verified(&protocol("broken/tso-cc-no-self-invalidation"), &tso(&[]));
    let Verdict::Broken(ViolationKind::MemoryModel(found_run)) = &found.verdict else {
        panic!("{:?}", found.verdict)
    };
    // The nearest alarm is allowed with another order of the stores: it is seen only later.
    let lemma = &found.lemmas[found_run.lemma];
    let nearest = lemma.exploration.counterexample();
    assert!(nearest.len() < found_run.run.len());
    assert_eq!(nearest[..], found_run.run[..nearest.len()]);
    assert_is_run(&lemma.interpreter, &found_run.run);
    let claims = lemma.interpreter.model().properties.iter();
    let claim = claims.clone().position(|claim| claim.name == found_run.claim).expect("its name");
    let last = state(&lemma.interpreter, found_run.run.last().expect("it has steps"));
    assert!(matches!(lemma.interpreter.check_property(&last, claim), Ok(Some(_))));
    // Each event is at a step of the run that calls for it.
    assert!(found_run.trace.events.iter().all(|event| event.step < found_run.run.len()));
    assert!(found_run.trace.events.windows(2).all(|pair| pair[0].step <= pair[1].step));
}

#[test]
fn tso_cc_with_self_invalidation_is_allowed_one_address() {
    let small = [("AddressCount", "1")];
    let found = verified(&protocol("tso-cc"), &tso(&small));
    assert!(matches!(found.verdict, Verdict::Holds(())), "{:?}", found.verdict);
}

#[test]
fn an_order_of_commits_that_is_not_program_order_is_seen_by_going_on() {
    let broken = protocol("broken/msi-store-buffer-drains-out-of-order");
    let found = verified(&broken, &tso(&[]));
    let Verdict::Broken(ViolationKind::MemoryModel(found_run)) = &found.verdict else {
        panic!("{:?}", found.verdict)
    };
    assert_eq!(found_run.claim, "stores are committed in program order");
    assert_is_run(&found.lemmas[found_run.lemma].interpreter, &found_run.run);
    // Without marks the temporal order of the stores is what is asked about.
    let mut unmarked = tso(&[]);
    unmarked.events.commit = Some("none".to_owned());
    let found = verified(&protocol("msi-store-buffer"), &unmarked);
    assert!(
        matches!(found.verdict, Verdict::Undecided(Unknown::FalseAlarm(_))),
        "{:?}",
        found.verdict
    );
    let found = verified(&protocol("msi-store-buffer"), &tso(&[]));
    assert!(matches!(found.verdict, Verdict::Holds(())), "{:?}", found.verdict);
}

fn state(interpreter: &Interpreter, step: &Step) -> State {
    State::decode(interpreter.model(), interpreter.layout(), &step.state).expect("it is a state")
}

/// Every step is what the rule makes of the state before.
fn assert_is_run(interpreter: &Interpreter, run: &[Step]) {
    for pair in run.windows(2) {
        let before = state(interpreter, &pair[0]);
        let ran = interpreter.run_rule(&before, pair[1].rule as usize, pair[1].instance);
        let End::Done(after) = ran.end else { panic!("{:?}", ran.end) };
        let sorted = |state: &State| state.sorted(interpreter.model(), interpreter.layout());
        assert_eq!(sorted(&after), sorted(&state(interpreter, &pair[1])));
    }
}

/// How many states a model has that differ by more than the names of members, by a search that visits
/// all states and reduces nothing.
fn orbits(interpreter: &Interpreter) -> usize {
    let (model, layout) = (interpreter.model(), interpreter.layout());
    let reduction = Canonicalizer::new(model, layout, Symmetry::Full);
    let mut scratch = Scratch::new(&reduction);
    let (mut seen, mut orbits, mut open) = (HashSet::new(), HashSet::new(), Vec::new());
    let mut take = |end: End, open: &mut Vec<State>| {
        let End::Done(state) = end else { return };
        let mut bytes = state.sorted(model, layout).encode(model, layout);
        if seen.insert(bytes.clone()) {
            reduction.canonicalize(&mut scratch, &mut bytes);
            orbits.insert(bytes);
            open.push(state);
        }
    };
    for (number, rule) in model.start_states.iter().enumerate() {
        for at in 0..instance::count(model, &rule.parameters).expect("it is small") {
            take(interpreter.start(number, at).end, &mut open);
        }
    }
    while let Some(state) = open.pop() {
        for (number, rule) in model.rules.iter().enumerate() {
            for at in 0..instance::count(model, &rule.parameters).expect("it is small") {
                take(interpreter.run_rule(&state, number, at).end, &mut open);
            }
        }
    }
    orbits.len()
}

#[test]
fn the_order_of_buffers_does_not_show() {
    // The exact observer goes through its sets of buffers one by one, and vouches that the order does
    // not matter. If it did, a search with symmetry would not visit each orbit once.
    let exact = Options { exact: true, protocol: false, ..tso(&[]) };
    let source = model("load-buffers");
    let unordered = source.text.replace("Value: 0..Values - 1;", "Value: scalarset(Values);");
    let unordered = unordered.replace("startstate\n", "ruleset v: Value do startstate\n");
    let unordered = unordered.replace("global[a] := 0; end;", "global[a] := v; end;");
    let (before, after) = unordered.split_once("end;\nend;\n").expect("a start state");
    let unordered = format!("{before}end;\nend;\nend;\n{after}");
    let committed = support::with_commits(model("delayed-stores"));
    for (source, options) in [
        (Source { text: unordered, ..source.clone() }, exact.clone()),
        (source.clone(), exact.clone()),
        (
            source,
            Options {
                exact: true,
                protocol: false,
                ..tso(&[("Processors", "3"), ("Addresses", "1")])
            },
        ),
        (committed, exact),
    ] {
        let found = verified(&source, &options);
        let [lemma] = &found.lemmas[..] else { panic!("{:?}", found.lemmas.len()) };
        let exploration = &lemma.exploration;
        assert_eq!(exploration.verdict, explore::Verdict::Holds(()), "{:?}", found.verdict);
        // Members are distinguished by nothing.
        assert!(
            lemma.interpreter.model().ordered.is_empty(),
            "{:?}",
            lemma.interpreter.model().ordered
        );
        assert_eq!(exploration.states as usize, orbits(&lemma.interpreter));
    }
}
