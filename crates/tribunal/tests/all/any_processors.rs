//! `tribunal verify --any-processors`: verdicts, lemmas, and what other tools say about the
//! abstraction.

use std::process::Command;

use crate::common::{Ran, directory, file, run};

fn protocol(name: &str) -> String {
    format!("{}/../../protocols/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn verify(model: &str, flags: &[&str]) -> Ran {
    run(&[&["verify", "--any-processors", "--jobs", "1"], flags, &[model]].concat())
}

/// Whoever takes the lock knows that it was free; `latest` is who has it.
const LOCK: &str = "
    const N: 2;
    type P: scalarset(N);
    var inside: array [P] of boolean; free: boolean;
    startstate begin for p: P do inside[p] := false; end; free := true; end;
    ruleset p: P do
      rule \"enter\" free ==> begin inside[p] := true; free := false; end;
      rule \"leave\" inside[p] ==> begin inside[p] := false; free := true; end;
    end;
    invariant \"alone\" forall p: P do forall q: P do p != q -> !(inside[p] & inside[q]) end end;";

#[test]
fn german_holds_for_any_number_and_its_lemmas_are_enough() {
    let directory = directory("any-german");
    let abstraction = directory.join("any.m");
    let emit = ["--emit-abstraction", abstraction.to_str().unwrap()];
    let ran = verify(&protocol("german.m"), &emit);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(
        ran.lines()[0]
            .ends_with("verified: 2 invariants hold for any number of processors, 2 or more"),
        "{ran:?}"
    );
    // What was printed as lemmas can be given, and then nothing has to be found.
    let lemmas = ran.stdout.split_once("Lemmas for").unwrap().1.split_once('\n').unwrap().1;
    let lemmas = file(&directory, "lemmas.m", lemmas);
    let again = verify(&protocol("german.m"), &["--lemmas", &lemmas]);
    assert_eq!(again.code, Some(0), "{again:?}");
    assert!(again.stdout.contains("found in 1 refinement round\n"), "{again:?}");
    assert!(again.stdout.contains("-- given by --lemmas"), "{again:?}");
    let alone = run(&["explore", "--quiet", "--deadlock", "off", abstraction.to_str().unwrap()]);
    assert_eq!(alone.code, Some(0), "the abstraction is a model like any other: {alone:?}");
    agrees_with_rumur(&directory, abstraction.to_str().unwrap());
}

/// Rumur, where it is installed, finds nothing wrong with an abstraction.
fn agrees_with_rumur(directory: &std::path::Path, abstraction: &str) {
    let (source, binary) = (directory.join("any.c"), directory.join("any"));
    let flags = ["--symmetry-reduction", "off", "--deadlock-detection", "off", "--output"];
    let written = Command::new("rumur").args(flags).arg(&source).arg(abstraction).output();
    let Ok(written) = written else {
        eprintln!("rumur is not installed: its word is not asked for");
        return;
    };
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-mcx16", "-o"]).arg(&binary).arg(&source);
    let compiled = compiler.args(["-lpthread", "-latomic"]).output();
    let Ok(compiled) = compiled else { return };
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let checked = Command::new(&binary).output().unwrap();
    let said = String::from_utf8_lossy(&checked.stdout);
    assert!(checked.status.success() && said.contains("No error found"), "{said}");
}

#[test]
fn a_broken_protocol_is_refuted_by_a_run_with_a_definite_number_of_processors() {
    let ran = verify(&protocol("broken/german-grants-before-acks.m"), &[]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let first = &ran.lines()[0];
    assert!(first.contains("violation: with 2 processors, after "), "{ran:?}");
    assert!(first.ends_with("invariant \"single writer\" does not hold"), "{ran:?}");
    assert!(ran.stdout.contains("Counterexample with 2 processors:"), "{ran:?}");
    assert!(!ran.stdout.contains("Other"), "it is a run of the protocol: {ran:?}");
}

#[test]
fn a_small_lock_is_found_out_at_once() {
    let model = file(&directory("any-lock"), "lock.m", LOCK);
    let ran = verify(&model, &["--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let object: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(object["verdict"], "verified");
    assert_eq!(object["processor_type"], "P");
    assert_eq!(object["concrete"], 2);
    assert_eq!(object["memory_model"], serde_json::Value::Null);
    let claim = &object["claims"][0];
    assert_eq!(claim["holds"], true);
    assert_eq!(claim["minimal"], true);
    let lemmas = claim["lemmas"].as_array().unwrap();
    assert!(lemmas.iter().any(|lemma| lemma["rule"] == "leave"), "{object}");
    assert!(lemmas.iter().all(|lemma| lemma["called_for"].is_string()), "{object}");
}

/// Whoever is inside may be one of the others, so a witness is kept: the one who entered.
#[test]
fn an_invariant_that_asks_for_some_processor_is_verified_by_a_witness() {
    let text = "
        type P: scalarset(2); Whereabouts: enum { outside, inside };
        var place: array [P] of Whereabouts; free: boolean;
        startstate begin for p: P do place[p] := outside; end; free := true; end;
        ruleset p: P do
          rule \"enter\" free ==> begin place[p] := inside; free := false; end;
          rule \"leave\" place[p] = inside ==> begin place[p] := outside; free := true; end;
        end;
        invariant \"nobody is inside\" free -> forall p: P do place[p] = outside end;
        invariant \"somebody is inside\" free | exists p: P do place[p] = inside end;";
    let model = file(&directory("any-some"), "lock.m", text);
    let ran = verify(&model, &["--quiet"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let said = "verified: 2 invariants hold for any number of processors, 2 or more";
    assert!(ran.lines()[0].ends_with(said), "{ran:?}");
}

/// Of two who hold a lamp the later one is the witness, and puts it down first.
#[test]
fn an_invariant_that_asks_for_some_processor_without_a_witness_is_left_open() {
    let text = "
        type P: scalarset(3); Lamp: enum { Off, On };
        var lamp: array [P] of Lamp; first: P; second: P;
        startstate begin for q: P do lamp[q] := Off; end; undefine first; undefine second; end;
        ruleset p: P do
          rule \"take\" isundefined(first) ==> begin first := p; lamp[p] := On; end;
          rule \"help\" !isundefined(first) & isundefined(second) & lamp[p] = Off ==>
            begin second := p; lamp[p] := On; end;
          rule \"leave\" !isundefined(second) & second = p ==>
            begin lamp[p] := Off; undefine second; end;
        end;
        invariant \"somebody holds a lamp\" isundefined(first) | exists q: P do lamp[q] = On end;";
    let model = file(&directory("any-none"), "lamp.m", text);
    let ran = verify(&model, &[]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stdout.contains("undecided: \"somebody holds a lamp\""), "{ran:?}");
}

#[test]
fn what_will_be_done_can_be_read_before_it_is_done() {
    let ran = verify(&protocol("german.m"), &["--plan"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(
        ran.lines()[..3],
        [
            "1. Prove for any number of processors: invariants and assertions of the protocol.",
            "   Abstraction: 2 concrete processors, Other for the rest.",
            "   If a lemma is missing: 3 concrete processors, Other for the rest.",
        ],
        "{ran:?}"
    );
    let tso = verify(&protocol("tso-cc.m"), &["--model", "tso", "--plan"]);
    assert!(tso.lines()[0].starts_with("1. Search instances with 2 and 3 processors"), "{tso:?}");
    assert!(tso.stdout.contains("with lemmas found in the instance with 3 processors"), "{tso:?}");
    let sc = verify(&protocol("mi.m"), &["--model", "sc", "--plan"]);
    assert!(
        sc.lines()[0].starts_with("1. Prove for any number of processors and addresses"),
        "{sc:?}"
    );
}

#[test]
fn that_nothing_can_happen_is_a_violation_only_if_it_is_asked_for() {
    let rests = "
        type P: scalarset(2);
        var done: array [P] of boolean;
        startstate begin for p: P do done[p] := false; end; end;
        ruleset p: P do rule \"finish\" !done[p] ==> begin done[p] := true; end; end;
        invariant \"a claim\" forall p: P do done[p] | !done[p] end;";
    let model = file(&directory("any-rests"), "rests.m", rests);
    let ran = verify(&model, &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    for asked in ["stuttering", "stuck"] {
        let ran = verify(&model, &["--deadlock", asked]);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stdout.contains("violation: with 2 processors"), "{ran:?}");
    }
}

#[test]
fn a_lock_that_lets_everybody_in_is_refuted() {
    let text = LOCK.replace("free := false; end", "end");
    let model = file(&directory("any-open-lock"), "lock.m", &text);
    let ran = verify(&model, &["--json"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let object: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(object["verdict"], "violation");
    assert_eq!(object["processors"], 2);
    assert_eq!(object["property"], "alone");
    assert_eq!(object["counterexample"].as_array().unwrap().len(), 2, "{object}");
}

#[test]
fn a_wrong_lemma_is_noticed() {
    let directory = directory("any-wrong-lemma");
    let model = file(&directory, "lock.m", LOCK);
    let wrong = "invariant \"lemma for leave\" forall p: P do free end;";
    let ran = verify(&model, &["--lemmas", &file(&directory, "lemmas.m", wrong)]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.lines()[0].contains("undecided: a lemma is missing"), "{ran:?}");
    let unknown = "invariant \"lemma for jump\" forall p: P do free end;";
    let ran = verify(&model, &["--lemmas", &file(&directory, "unknown.m", unknown)]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("the protocol has no rule \"jump\""), "{ran:?}");
}

#[test]
fn what_cannot_be_abstracted_is_refused_with_its_place() {
    let text = LOCK.replace("scalarset(N)", "0..N-1");
    let model = file(&directory("any-range"), "lock.m", &text);
    let ran = verify(&model, &[]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("no type of processors found"), "{ran:?}");
    let ran = verify(&model, &["--processors", "Q"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let ran = run(&["verify", "--concrete", "3", &model]);
    assert_eq!(ran.code, Some(2), "it takes --any-processors: {ran:?}");
}

#[test]
fn a_budget_leaves_it_undecided() {
    let ran = verify(&protocol("flash.m"), &["--budget", "1ms"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.lines()[0].contains(": undecided: "), "{ran:?}");
}

/// A memory that is never late, and in which addresses have nothing to do with each other.
const MEMORY: &str = "
    type P: scalarset(2); A: scalarset(2); V: scalarset(2);
    var memory: array [A] of V;
    procedure Load(p: P; a: A; v: V); begin end;
    procedure Store(p: P; a: A; v: V); begin end;
    ruleset v: V do startstate begin for a: A do memory[a] := v; end; end; end;
    ruleset p: P; a: A do
      rule \"load\" begin Load(p, a, memory[a]); end;
      ruleset v: V do rule \"store\" begin memory[a] := v; Store(p, a, v); end; end;
    end;";

#[test]
fn where_loads_are_timely_there_may_be_any_number_of_addresses() {
    let directory = directory("any-addresses");
    let model = file(&directory, "memory.m", MEMORY);
    let ran = verify(&model, &["--model", "sc"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let first = &ran.lines()[0];
    assert!(first.ends_with("2 or more, and any number of addresses"), "{ran:?}");
    assert!(
        ran.stdout.contains("every load returns the current value of its address: proved"),
        "{ran:?}"
    );
    // A cycle of one length is looked for as ever.
    let ran = verify(&model, &["--model", "sc", "--lemma", "1", "--quiet"]);
    assert!(ran.lines()[0].ends_with("2 or more, and 2 addresses"), "{ran:?}");
}

#[test]
fn a_load_may_take_what_was_there_a_moment_ago_but_not_before_that() {
    let directory = directory("any-addresses-late");
    // What is fetched is taken later, and the processor does nothing else meanwhile.
    let late = MEMORY
        .replace("var memory", "var fetched: array [P] of array [A] of V; memory")
        .replace(
            "memory[a] := v; end; end; end;",
            "memory[a] := v; for p: P do undefine fetched[p][a]; end; end; end; end;",
        )
        .replace(
            "rule \"load\" begin Load(p, a, memory[a]); end;",
            "rule \"fetch\" forall b: A do isundefined(fetched[p][b]) end
             ==> begin fetched[p][a] := memory[a]; end;
             rule \"load\" !isundefined(fetched[p][a])
             ==> begin Load(p, a, fetched[p][a]); undefine fetched[p][a]; end;",
        )
        .replace("rule \"store\"", "rule \"store\" !isundefined(fetched[p][a]) | WAITING ==>");
    let waits = "forall b: A do isundefined(fetched[p][b]) end";
    let model =
        file(&directory, "late.m", late.replace("!isundefined(fetched[p][a]) | WAITING", waits));
    let ran = verify(&model, &["--model", "sc"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.lines()[0].ends_with("any number of addresses"), "{ran:?}");
    assert!(ran.stdout.contains("since the processor's last event: proved"), "{ran:?}");
    // One that stores before it takes what it fetched is not sequentially consistent.
    let hasty = late.replace("!isundefined(fetched[p][a]) | WAITING", "true");
    let model = file(&directory, "hasty.m", &hasty);
    let ran = verify(&model, &["--model", "sc", "--quiet"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.lines()[0].contains("violation: not sequentially consistent"), "{ran:?}");
}

#[test]
fn an_early_return_is_understood() {
    let ran =
        verify(&protocol("broken/mi-early-forward-dropped.m"), &["--quiet", "--deadlock", "stuck"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.lines()[0].contains("violation: with 2 processors"), "{ran:?}");
}

/// A memory that begins with some value, and what a store does to it.
fn memory(start: &str, kept: &str) -> String {
    format!(
        "const N: 2; AddressCount: 2; ValueCount: 2;
         type P: scalarset(N); Address: scalarset(AddressCount); Value: 0..ValueCount - 1;
         var memory: array [Address] of Value;
         procedure Load(p: P; a: Address; v: Value); begin end;
         procedure Store(p: P; a: Address; v: Value); begin end;
         startstate begin for a: Address do memory[a] := {start}; end; end;
         ruleset p: P; a: Address do
           rule \"load\" true ==> begin Load(p, a, memory[a]); end;
           ruleset v: Value do
             rule \"store\" true ==> begin Store(p, a, v); {kept} end;
           end;
         end;"
    )
}

#[test]
fn a_memory_may_begin_with_any_value() {
    let directory = directory("any-start");
    let model = file(&directory, "memory.m", memory("ValueCount - 1", "memory[a] := v;"));
    let ran = verify(&model, &["--model", "sc"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:?}");
}

#[test]
fn what_begins_nowhere_is_not_called_verified() {
    let directory = directory("any-no-start");
    let text = memory("0", "memory[a] := v;")
        .replace("startstate begin", "startstate begin assume false;");
    let model = file(&directory, "memory.m", text);
    let ran = verify(&model, &["--model", "sc"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("the protocol has no start state"), "{ran:?}");
}

#[test]
fn where_data_is_not_independent_it_is_said_how_many_values_there_are() {
    let directory = directory("any-not-independent");
    let kept = "if v = 0 then memory[a] := 0; else memory[a] := v; end;";
    let model = file(&directory, "memory.m", memory("0", kept));
    let ran = verify(&model, &["--model", "sc"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("data independence is not established"), "{ran:?}");
    assert!(
        ran.stdout.contains("for the 2 values of the protocol (no data independence needed)"),
        "{ran:?}"
    );
}

#[test]
fn an_assumption_is_no_claim_and_without_a_start_state_nothing_is_verified() {
    let directory = directory("any-assumption");
    let assumes = |condition: &str| file(&directory, "m.m", format!("{LOCK} assume {condition};"));
    let ran = verify(&assumes("forall p: P do inside[p] -> !free end"), &["--quiet"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.lines()[0].contains(": verified: 1 invariant holds for any number"), "{ran:?}");
    let ran = verify(&assumes("false"), &[]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(
        ran.stderr
            .contains("the protocol has no start state (it declares none, or its assumptions"),
        "{ran:?}"
    );
}
