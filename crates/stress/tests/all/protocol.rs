//! Protocols walked at random: what the traces of the shipped ones say, and what they do not say.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use conform::{EventKind, RecordOptions, record};
use judge::{Budget, Engine, Outcome, judge};
use models::Model;
use murphi::instance::bindings;
use murphi::source::Source;
use murphi::value::State;
use tribunal_stress::protocol::{
    Broken, Ending, Plan, Protocol, ScheduledStep, Step, TraceWriter, Walk, WalkJob, walk_all,
};

fn source(file: &str) -> Source {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols").join(file);
    Source { name: file.to_owned(), text: std::fs::read_to_string(path).unwrap() }
}

fn protocol_of(source: &Source, constants: &[(&str, &str)]) -> Protocol {
    let mut options = RecordOptions::default();
    let constants = constants.iter().map(|(name, value)| (name.to_string(), value.to_string()));
    options.language.constants = constants.collect();
    Protocol::new(record(source, &options).unwrap()).unwrap()
}

fn protocol(file: &str, constants: &[(&str, &str)]) -> Protocol {
    protocol_of(&source(file), constants)
}

/// How many of the first `count` traces violate the model, up to the first that does.
fn traces_to_violation(protocol: &Protocol, model: Model, count: u64) -> Option<u64> {
    let scribe = TraceWriter::new(protocol);
    let violates = |walk: Walk| {
        let history = scribe.history(&walk, false).unwrap();
        let verdict = judge(&history, model, Engine::Auto, &Budget::unlimited());
        matches!(verdict.outcome, Outcome::Broken(_))
    };
    let stop = AtomicBool::new(false);
    let (mut tried, mut found) = (0, false);
    let fleet = WalkJob { count, jobs: 2, stop: &stop };
    walk_all(protocol, &Plan::default(), fleet, violates, &mut |violates| {
        tried += 1;
        found = violates;
        if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    found.then_some(tried)
}

const TWO: [(&str, &str); 2] = [("ProcessorCount", "2"), ("AddressCount", "2")];

#[test]
fn traces_of_correct_protocols_are_what_their_memory_model_allows() {
    for file in ["mi.m", "msi.m", "mesi.m", "moesi.m", "piranha.m", "lazy-caching.m"] {
        let found = traces_to_violation(&protocol(file, &TWO), Model::Sc, 100);
        assert_eq!(found, None, "{file} is sequentially consistent");
    }
    for file in ["msi-store-buffer.m", "tso-cc.m"] {
        let found = traces_to_violation(&protocol(file, &TWO), Model::Tso, 100);
        assert_eq!(found, None, "{file} keeps total store order");
    }
    let buffered = protocol("msi-store-buffer.m", &TWO);
    let found = traces_to_violation(&buffered, Model::Sc, 100);
    assert!(found.is_some(), "store buffers are not sequentially consistent");
}

/// A step may have many loads if they are in a function whose value is used.
#[test]
fn loads_in_functions_are_recorded() {
    let text = "
        type P: scalarset(2); A: scalarset(2); V: scalarset(2);
        var memory: array [A] of V; sum: V;
        procedure Load(p: P; a: A; v: V); begin end;
        procedure Store(p: P; a: A; v: V); begin end;
        function get(p: P; a: A): V; begin Load(p, a, memory[a]); return memory[a]; end;
        ruleset v: V do startstate begin
          for a: A do memory[a] := v; end; sum := v;
        end; end;
        ruleset p: P; a: A; v: V do
          rule \"store\" begin memory[a] := v; Store(p, a, v); end;
        end;
        ruleset p: P; a: A; b: A do
          rule \"load twice\" begin sum := get(p, a); sum := get(p, b); end;
        end;";
    let protocol = protocol_of(&Source { name: "twice.m".into(), text: text.into() }, &[]);
    let stop = AtomicBool::new(false);
    let mut broken = Vec::new();
    let fleet = WalkJob { count: 5, jobs: 1, stop: &stop };
    walk_all(&protocol, &Plan::default(), fleet, |walk: Walk| walk.broken.is_some(), &mut |is| {
        broken.push(is);
        ControlFlow::Continue(())
    });
    assert_eq!(broken, [false; 5]);
}

#[test]
fn traces_of_broken_protocols_violate_their_memory_model() {
    let sc = ["piranha-owner-not-cleared", "lazy-caching-own-stores-not-awaited"];
    let tso = [
        "msi-store-buffer-no-forwarding",
        "msi-store-buffer-drains-out-of-order",
        "tso-cc-no-self-invalidation",
        "tso-cc-write-back-lost",
    ];
    let sc = sc.map(|name| (name, Model::Sc));
    for (name, model) in sc.into_iter().chain(tso.map(|name| (name, Model::Tso))) {
        let protocol = protocol(&format!("broken/{name}.m"), &TWO);
        let found = traces_to_violation(&protocol, model, 4000);
        println!("{name}: {found:?} traces");
        assert!(found.is_some(), "{name} is not caught");
    }
}

#[test]
fn a_walk_depends_on_nothing_but_the_seed_and_its_number() {
    let protocol = protocol("msi.m", &TWO);
    let scribe = TraceWriter::new(&protocol);
    let texts = |seed: u64, jobs: usize| {
        let plan = Plan { operations: 20, seed, ..Plan::default() };
        let stop = AtomicBool::new(false);
        let mut all = String::new();
        let make = |walk: Walk| {
            let mut text = String::new();
            scribe.text(&walk, true, &mut text);
            text
        };
        let fleet = WalkJob { count: 50, jobs, stop: &stop };
        walk_all(&protocol, &plan, fleet, make, &mut |text: String| {
            all.push_str(&text);
            ControlFlow::Continue(())
        });
        all
    };
    assert_eq!(texts(1, 1), texts(1, 3));
    assert_ne!(texts(1, 1), texts(2, 1));
    assert_eq!(texts(1, 1).matches("check").count(), 50);
}

#[test]
fn every_store_has_a_value_of_its_own() {
    let protocol = protocol("mesi.m", &TWO);
    let mut walker = protocol.walker();
    for number in 0..20 {
        let walk = walker.walk(&Plan::default(), number);
        let stores = walk.events.iter().filter(|event| event.kind == EventKind::Store);
        let mut values: Vec<u64> = stores.map(|event| event.value).collect();
        let all = values.len();
        values.sort_unstable();
        values.dedup();
        assert_eq!(values.len(), all);
        assert!(!values.contains(&0), "0 is what was there at first");
    }
}

#[test]
fn the_text_of_a_walk_reads_as_its_history() {
    let protocol = protocol("msi.m", &TWO);
    let scribe = TraceWriter::new(&protocol);
    let plan = Plan { steps: true, ..Plan::default() };
    for number in 0..20 {
        let walk = protocol.walker().walk(&plan, number);
        let mut text = String::new();
        scribe.text(&walk, true, &mut text);
        let read = history::parse_text(&text).unwrap();
        let made = scribe.history(&walk, true).unwrap();
        let mut texts = [Vec::new(), Vec::new()];
        history::write_text(&read, &mut texts[0]).unwrap();
        history::write_text(&made, &mut texts[1]).unwrap();
        assert_eq!(String::from_utf8_lossy(&texts[0]), String::from_utf8_lossy(&texts[1]));
    }
}

const EVENTS: &str = "
    type Proc: scalarset(2); Addr: 0..1; Value: 0..1;
    var memory: array [Addr] of Value;
    procedure Load(p: Proc; a: Addr; v: Value); begin end;
    procedure Store(p: Proc; a: Addr; v: Value); begin end;
    startstate begin for a: Addr do memory[a] := 0; end; end;";

fn written(rules: &str) -> Protocol {
    protocol_of(&Source { name: "test.m".into(), text: format!("{EVENTS}{rules}") }, &[])
}

#[test]
fn events_of_one_step_are_kept_in_their_order() {
    let protocol = written(
        "ruleset p: Proc; v: Value do rule begin
           for a: Addr do Load(p, a, memory[a]); memory[a] := v; Store(p, a, v); end;
           Load(p, 0, memory[0]);
         end; end;",
    );
    let walk = protocol.walker().walk(&Plan { operations: 10, ..Plan::default() }, 0);
    let kinds: Vec<_> = walk.events.iter().map(|event| (event.kind, event.address)).collect();
    let (load, store) = (EventKind::Load, EventKind::Store);
    let step = [(load, 0), (store, 0), (load, 1), (store, 1), (load, 0)];
    assert_eq!(kinds, [step, step].concat());
    let values: Vec<u64> = walk.events.iter().map(|event| event.value).collect();
    assert_eq!(values, [0, 1, 0, 1, 1, 1, 2, 1, 2, 2]);
}

#[test]
fn a_value_that_a_guard_names_is_the_one_that_is_there() {
    let protocol = written(
        "ruleset p: Proc; a: Addr; v: Value do
           rule memory[a] = v ==> begin Load(p, a, v); end;
           rule begin Store(p, a, v); memory[a] := v; end;
         end;",
    );
    assert!(protocol.recording().independent);
    assert_eq!(traces_to_violation(&protocol, Model::Sc, 50), None);
    let mut walker = protocol.walker();
    let mut events = (0..20).flat_map(|number| walker.walk(&Plan::default(), number).events);
    assert!(events.any(|event| event.kind == EventKind::Load && event.value > 0));
}

#[test]
fn values_stay_as_they_are_where_the_protocol_looks_at_them() {
    let protocol = written(
        "ruleset p: Proc; a: Addr; v: Value do
           rule memory[a] != v ==> begin memory[a] := v; Store(p, a, v); end;
         end;",
    );
    let recording = protocol.recording();
    assert!(!recording.independent && !recording.fresh);
    assert_eq!(recording.values, 2);
    let walk = protocol.walker().walk(&Plan::default(), 0);
    assert!(walk.events.iter().all(|event| event.value < 2));
}

#[test]
fn what_is_wrong_with_the_protocol_itself_is_noted() {
    let stuck = written(
        "ruleset p: Proc; v: Value do
           rule memory[0] = memory[1] ==> begin memory[0] := v; Store(p, 0, v); end;
         end;",
    );
    // The guard looks at values, so there are two of them, and 0 over 0 leads nowhere.
    let walk = stuck.walker().walk(&Plan::default(), 0);
    assert_eq!(walk.broken.unwrap().0, Broken::Deadlock);
    let claims = written(
        "ruleset p: Proc; a: Addr; v: Value do rule begin memory[a] := v; Store(p, a, v); end; end;
         ruleset p: Proc do rule begin error \"not yet\"; end; end;",
    );
    let walk = claims.walker().walk(&Plan::default(), 0);
    let (broken, _) = walk.broken.unwrap();
    assert!(claims.explain(&broken).contains("not yet"), "{}", claims.explain(&broken));
    assert_eq!(walk.events.len(), 64, "the walk goes on");
}

#[test]
fn a_store_that_is_committed_for_ever_does_not_keep_a_walk_going() {
    let mut source = source("lazy-caching.m");
    source.text = source.text.replace("    remove_out(p);\n", "");
    let walk = protocol_of(&source, &TWO).walker().walk(&Plan::default(), 0);
    assert_eq!(walk.ending, Ending::Idle);
    let commits = walk.events.iter().filter(|event| event.kind == EventKind::Commit).count();
    assert!(commits > 10 * (walk.events.len() - commits), "it commits and commits: {commits}");
}

#[test]
fn an_event_without_an_address_is_an_error_of_the_protocol() {
    let protocol = written(
        "var last: Addr;
         ruleset p: Proc; a: Addr; v: Value do rule begin memory[a] := v; Store(p, a, v); end; end;
         ruleset p: Proc do rule begin Load(p, last, memory[0]); end; end;",
    );
    let walk = protocol.walker().walk(&Plan::default(), 0);
    let (broken, _) = walk.broken.unwrap();
    assert!(protocol.explain(&broken).contains("address that is defined"));
    assert!(walk.events.iter().all(|event| event.kind == EventKind::Store));
}

#[test]
fn rules_can_be_favoured_or_ruled_out() {
    let fired = |weights: &[(&str, f64)]| {
        let mut protocol = protocol("tso-cc.m", &TWO);
        for &(rule, factor) in weights {
            protocol.favour(rule, factor).unwrap();
        }
        let rules = &protocol.recording().interpreter.model().rules;
        let plan = Plan { steps: true, ..Plan::default() };
        let mut walker = protocol.walker();
        let walks = (0..50).map(|number| walker.walk(&plan, number));
        let steps: Vec<u32> = walks.flat_map(|walk| walk.steps).map(|step| step.rule).collect();
        let count = |name: &str| {
            let counted = steps.iter().filter(|rule| rules[**rule as usize].name == name);
            counted.count()
        };
        (count("evict M"), count("evict E"), count("drop a shared copy, silently"))
    };
    let usual = fired(&[]);
    let (modified, exclusive, shared) = fired(&[("evict*", 0.0), ("drop*", 100.0)]);
    assert_eq!((modified, exclusive), (0, 0));
    assert!(shared > 2 * usual.2, "{shared}, usually {}", usual.2);
    let (modified, exclusive, _) = fired(&[("evict*", 0.0), ("evict M", 1.0)]);
    assert!(modified > 0 && exclusive == 0, "the last one counts");
}

#[test]
fn what_is_held_back_finds_what_needs_time() {
    let mut survives = protocol("broken/tso-cc-read-only-copy-survives.m", &TWO);
    survives.favour("drop a shared copy, silently", 0.0).unwrap();
    assert!(traces_to_violation(&survives, Model::Tso, 500).is_some());
    let mut right = protocol("tso-cc.m", &TWO);
    right.favour("drop a shared copy, silently", 0.0).unwrap();
    assert_eq!(traces_to_violation(&right, Model::Tso, 200), None);
}

#[test]
fn a_walk_can_be_taken_again_by_its_steps() {
    let protocol = protocol("msi-store-buffer.m", &TWO);
    let interpreter = &protocol.recording().interpreter;
    let (model, layout) = (interpreter.model(), interpreter.layout());
    let called = |step: &Step| {
        let from = State::decode(model, layout, &step.from).unwrap();
        let rule = &model.rules[step.rule as usize];
        ScheduledStep { rule: step.rule, parameters: bindings(model, rule, step.instance, &from) }
    };
    let plan = Plan { steps: true, ..Plan::default() };
    let mut walker = protocol.walker();
    for number in 0..20 {
        let walk = walker.walk(&plan, number);
        let mut steps: Vec<ScheduledStep> = walk.steps.iter().map(called).collect();
        let again = walker.retrace(&steps).unwrap();
        assert_eq!((again.events, again.length), (walk.events, walk.length));
        // A step that is not possible is named: nobody has stored anything at first.
        let commit = model.rules.iter().position(|rule| rule.name.starts_with("write the oldest"));
        let parameters = steps[0].parameters.clone();
        steps.insert(0, ScheduledStep { rule: commit.unwrap() as u32, parameters });
        assert_eq!(walker.retrace(&steps).unwrap_err(), 0);
    }
}
