//! `tribunal verify`: verdicts, what is reported about them, and what is kept.

use crate::common::{Ran, directory, file, run};

/// Caches that are memory itself. `@` is what a load takes.
fn cells(loaded: &str) -> String {
    format!(
        "type P: scalarset(2); A: scalarset(2); V: 0..1;
         var memory, old: array [A] of V;
         procedure Load(p: P; a: A; v: V); begin end;
         procedure Store(p: P; a: A; v: V); begin end;
         ruleset a: A do ruleset p: P do
           ruleset v: V do
             rule \"store\" begin old[a] := memory[a]; memory[a] := v; Store(p, a, v); end;
           end;
           rule \"load\" begin Load(p, a, {loaded}[a]); end;
         end; end;
         startstate begin for a: A do memory[a] := 0; old[a] := 0; end; end;"
    )
}

fn verify(test: &str, text: &str, flags: &[&str]) -> Ran {
    let directory = directory(test);
    let model = file(&directory, "m.m", text);
    let out = directory.join("out");
    let flags: Vec<&str> = flags
        .iter()
        .map(|&flag| if flag == "OUT" { out.to_str().unwrap() } else { flag })
        .collect();
    run(&[&["verify", "--jobs", "1"], &flags[..], &[&model]].concat())
}

#[test]
fn memory_itself_is_sequentially_consistent() {
    let ran = verify("verify-cells", &cells("memory"), &["--model", "sc"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let lines = ran.lines();
    assert!(
        lines[0].ends_with("m.m: verified: sequentially consistent for 2 processors, 2 addresses"),
        "{ran:?}"
    );
    assert!(ran.stdout.contains("no ordering cycle through 2 processors and 2 addresses: proved"));
    assert!(ran.stdout.contains("(simple witness)"), "{ran:?}");
    assert!(ran.stdout.contains("data independence: shown from the source"), "{ran:?}");
}

#[test]
fn a_stale_load_is_refuted_by_run_trace_and_cycle() {
    let ran = verify("verify-stale", &cells("old"), &["--model", "sc"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.lines()[0].contains(": violation: not sequentially consistent after 2 steps"));
    assert!(ran.stdout.contains(" 1. rule \"store\""), "{ran:?}");
    assert!(ran.stdout.contains("Cycle found by the observer:"), "{ran:?}");
    assert!(ran.stdout.contains("certified"), "{ran:?}");
    assert!(!ran.stdout.contains("tribunal_"), "the observer is not the protocol: {ran:?}");
}

#[test]
fn quiet_is_one_line() {
    let ran = verify("verify-quiet", &cells("old"), &["--model", "sc", "--quiet"]);
    assert_eq!((ran.code, ran.lines().len()), (Some(1), 1), "{ran:?}");
    assert_eq!(ran.stderr, "");
}

#[test]
fn json_has_lemmas_counterexample_trace_and_cycle() {
    let ran = verify("verify-json", &cells("old"), &["--model", "sc", "--json"]);
    let object = &ran.json()[0];
    assert_eq!(object["verdict"], "violation");
    assert_eq!(object["memory_model"], "sc");
    assert_eq!(object["lemmas"][0]["holds"], false);
    assert_eq!(object["counterexample"][0]["rule"], "store");
    assert_eq!(object["cycle"][0]["because"], "program-order");
    let trace = object["trace"].as_array().unwrap();
    assert!(trace.iter().any(|line| line.as_str().unwrap().contains(":=")), "{trace:?}");
    assert!(object["warnings"].as_array().unwrap().is_empty());
}

#[test]
fn everything_that_is_kept_can_be_checked_again() {
    let thin_air = cells("memory").replace("Store(p, a, v);", "");
    for (test, text) in [("verify-out", cells("old")), ("verify-thin-air", thin_air)] {
        check_again(&verify(test, &text, &["--model", "sc", "--out", "OUT"]));
    }
}

/// Runs the commands that a report ends with.
fn check_again(ran: &Ran) {
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let (_, rest) = ran.stdout.split_once("Next steps:\n").unwrap();
    let mut commands = 0;
    for line in rest.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if words[0] != "tribunal" {
            continue;
        }
        let again = run(&words[1..]);
        let expected = if matches!(words[1], "check" | "explain") { 1 } else { 0 };
        assert_eq!(again.code, Some(expected), "{line}: {again:?}");
        commands += 1;
    }
    assert_eq!(commands, 5, "{rest}");
}

#[test]
fn a_counterexample_of_another_protocol_does_not_hold() {
    let flags = ["--model", "sc", "--out", "OUT"];
    let ran = verify("verify-replay", &cells("old"), &flags);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let place = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("verify-replay");
    let repaired = file(&place, "repaired.m", cells("memory"));
    let recorded = place.join("out/run.json");
    let again = run(&["verify", "--replay", recorded.to_str().unwrap(), &repaired]);
    assert_eq!(again.code, Some(1), "{again:?}");
    assert!(again.stdout.contains("counterexample rejected"), "{again:?}");
}

#[test]
fn composed_models_are_plain_murphi_and_explored_as_such() {
    let flags = ["--model", "sc", "--emit", "OUT"];
    let ran = verify("verify-emit", &cells("old"), &flags);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let place = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("verify-emit/out");
    for number in [1, 2] {
        let model = place.join(format!("lemma-{number}.m"));
        let again = run(&["explore", "--deadlock", "off", model.to_str().unwrap()]);
        assert_eq!(again.code, Some(1), "{again:?}");
        assert!(again.stdout.contains("no ordering cycle"), "{again:?}");
    }
}

#[test]
fn a_protocol_without_events_is_reported_where_to_put_them() {
    let text = "var n: 0..1; startstate n := 0; end; rule n := 1 - n; end;";
    let ran = verify("verify-no-events", text, &["--model", "sc"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
    assert!(ran.stderr.contains("the protocol has no procedure `Load`"), "{ran:?}");
    assert!(ran.stderr.contains("call it where a load takes effect"), "{ran:?}");
}

#[test]
fn events_may_have_other_names() {
    let text = cells("memory").replace("Load(", "Take(").replace("Store(", "Give(");
    let flags = ["--model", "tso", "--load", "Take", "--store", "Give", "--quiet"];
    let ran = verify("verify-names", &text, &flags);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn what_only_another_order_of_stores_explains_is_a_false_alarm() {
    // A store happens long before it is written to memory, in any order.
    let text = "type P: scalarset(2); A: scalarset(1); V: 0..1;
        var memory: array [A] of V; waits: array [P] of record a: A; v: V; end;
        procedure Load(p: P; a: A; v: V); begin end;
        procedure Store(p: P; a: A; v: V); begin end;
        ruleset p: P do
          ruleset a: A; v: V do
            rule \"store\" isundefined(waits[p].a) ==>
              begin waits[p].a := a; waits[p].v := v; Store(p, a, v); end;
          end;
          rule \"arrive\" !isundefined(waits[p].a) ==>
            begin memory[waits[p].a] := waits[p].v; undefine waits[p]; end;
          ruleset a: A do
            rule \"load\" isundefined(waits[p].a) ==> begin Load(p, a, memory[a]); end;
          end;
        end;
        startstate begin for a: A do memory[a] := 0; end; undefine waits; end;";
    let ran = verify("verify-false-alarm", text, &["--model", "sc"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.lines()[0].contains(": false alarm: the run after"), "{ran:?}");
    assert!(ran.stdout.contains("sc: consistent"), "{ran:?}");
    assert!(ran.stdout.contains("--witness none"), "{ran:?}");
    let ran = verify("verify-false-alarm-json", text, &["--model", "sc", "--json"]);
    assert_eq!(ran.json()[0]["verdict"], "false-alarm");
}

/// Store buffers of one place that forward; `commit` is what is marked when a store leaves one.
fn store_buffers(commit: &str) -> String {
    format!(
        "type P: scalarset(2); A: scalarset(2); V: scalarset(2);
         var memory: array [A] of V; waits: array [P] of record a: A; v: V; end;
         procedure Load(p: P; a: A; v: V); begin end;
         procedure Store(p: P; a: A; v: V); begin end;
         procedure Commit(p: P; a: A; v: V); begin end;
         ruleset p: P do
           ruleset a: A; v: V do
             rule \"store\" isundefined(waits[p].a) ==>
               begin waits[p].a := a; waits[p].v := v; Store(p, a, v); end;
           end;
           rule \"arrive\" !isundefined(waits[p].a) ==>
             begin memory[waits[p].a] := waits[p].v; {commit} undefine waits[p]; end;
           ruleset a: A do
             rule \"load\" isundefined(waits[p].a) ==> begin Load(p, a, memory[a]); end;
             rule \"load early\" !isundefined(waits[p].a) ==>
               begin Load(p, a, waits[p].a = a ? waits[p].v : memory[a]); end;
           end;
         end;
         ruleset v: V do startstate begin
           for a: A do memory[a] := v; end; undefine waits;
         end; end;"
    )
}

const COMMIT: &str = "Commit(p, waits[p].a, waits[p].v);";

#[test]
fn store_buffers_are_refuted_for_any_number_of_processors_as_for_two() {
    let text = store_buffers(COMMIT);
    for flags in [&["--model", "sc"][..], &["--model", "sc", "--any-processors"]] {
        let ran = verify("verify-store-buffers", &text, &[flags, &["--quiet"]].concat());
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stdout.contains("violation: not sequentially consistent after"), "{ran:?}");
    }
    let ran = verify("verify-store-buffers-tso", &text, &["--model", "tso", "--quiet"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn a_store_that_is_committed_twice_is_named_and_nothing_is_decided() {
    let text = store_buffers(&[COMMIT, COMMIT].concat());
    let ran = verify("verify-committed-twice", &text, &["--model", "tso"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let line = ran.lines()[0];
    assert!(line.contains(": undecided: a store of P_"), "{ran:?}");
    assert!(line.contains("is committed twice after 2 steps"), "{ran:?}");
    let ran = verify("verify-committed-twice-json", &text, &["--model", "tso", "--json"]);
    assert_eq!(ran.json()[0]["verdict"], "undecided");
}

#[test]
fn an_invariant_of_its_own_that_a_protocol_breaks_is_reported_as_such() {
    let text = cells("memory") + " invariant \"never 1\" forall a: A do memory[a] = 0 end;";
    let ran = verify("verify-broken", &text, &["--model", "sc", "--json"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let object = &ran.json()[0];
    assert_eq!(object["verdict"], "broken");
    assert_eq!(object["property"], "never 1");
}

#[test]
fn time_that_runs_out_leaves_the_question_open() {
    let ran = run(&["verify", "--model", "sc", "--budget", "1ms", "--quiet", "protocols/msi.m"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(
        ran.stdout.contains("undecided: the time limit was reached (raise --budget)"),
        "{ran:?}"
    );
}

#[test]
fn mutants_are_reported_with_their_fates() {
    let ran = verify("verify-mutants", &cells("memory"), &["--model", "sc", "--mutants"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.lines()[0].contains(" mutants: "), "{ran:?}");
    let flags = ["--model", "sc", "--mutants", "--json"];
    let ran = verify("verify-mutants-json", &cells("memory"), &flags);
    let object = &ran.json()[0];
    let total = object["totals"]["mutants"].as_u64().unwrap();
    assert_eq!(object["mutants"].as_array().unwrap().len() as u64, total);
}

#[test]
fn some_mutants_can_be_tried_alone() {
    let flags = ["--model", "sc", "--mutants", "--survivors", "--mutant", "2", "--json"];
    let ran = verify("verify-mutant", &cells("memory"), &flags);
    let object = &ran.json()[0];
    let mutants = object["mutants"].as_array().unwrap().iter();
    let numbers: Vec<u64> = mutants.map(|mutant| mutant["number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [2], "{ran:?}");
    let ran = verify("verify-mutant-alone", &cells("memory"), &["--model", "sc", "--mutant", "2"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
}

#[test]
fn a_run_that_went_on_can_be_checked_again() {
    let directory = directory("verify-goes-on");
    let out = directory.join("out");
    let model = "protocols/broken/tso-cc-no-self-invalidation.m";
    let flags = ["--model", "tso", "--jobs", "1", "--out", out.to_str().unwrap(), model];
    check_again(&run(&[&["verify"], &flags[..]].concat()));
}

#[test]
fn a_mark_of_commits_can_be_left_aside() {
    let lazy = ["verify", "--model", "sc", "--jobs", "1", "--lemma", "1", "--quiet"];
    let ran = run(&[&lazy[..], &["--commit", "none", "protocols/lazy-caching.m"]].concat());
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stdout.contains("but not in the assumed store order (simple witness)"), "{ran:?}");
}

#[test]
fn a_memory_model_must_be_named() {
    let ran = run(&["verify", "protocols/msi.m"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("--model"), "{ran:?}");
}

#[test]
fn the_report_names_the_limit_of_skipped_runs_that_witness_none_raises() {
    let cells = "crates/conform/tests/models/cells.m";
    let plain = ["verify", "--model", "sc", "--jobs", "1", cells];
    let skipped = "false alarms: up to 1,000 runs that the memory model allows are skipped";
    assert!(!run(&plain).stdout.contains("false alarms:"));
    for flag in [&["--witness", "none"][..], &["--continue"]] {
        let ran = run(&[&plain[..], flag].concat());
        assert!(ran.stdout.contains(skipped), "{ran:?}");
    }
}
