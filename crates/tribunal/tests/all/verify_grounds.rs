//! `tribunal verify`: what a verdict rests on is in the verdict, in the exit code and in JSON.

use crate::common::{Ran, directory, file, root, run};

/// A store of what the address held before its last store is dropped.
const LOOKS_AT_VALUES: &str = "crates/conform/tests/models/looks-at-values.m";

fn verify(test: &str, text: &str, flags: &[&str]) -> Ran {
    let model = file(&directory(test), "m.m", text);
    run(&[&["verify", "--jobs", "1", "--deadlock", "off"], flags, &[&model]].concat())
}

/// A memory that begins as given, with a copy of each address that loads may take.
fn memory(values: &str, start: &str) -> String {
    format!(
        "type P: scalarset(2); A: scalarset(2); V: {values}; var memory, copy: array [A] of V;
         procedure Load(p: P; a: A; v: V); begin end; procedure Store(p: P; a: A; v: V); begin end;
         ruleset p: P; a: A do rule \"load\" begin Load(p, a, memory[a]); end;
           rule \"load copy\" !isundefined(copy[a]) ==> begin Load(p, a, copy[a]); end; end;
         ruleset p: P; a: A; v: V do
           rule \"store\" begin memory[a] := v; undefine copy[a]; Store(p, a, v); end; end;
         {start}"
    )
}

fn begins_with(memory: &str, copy: &str) -> String {
    format!("for a: A do memory[a] := {memory}; copy[a] := {copy}; end; end;")
}

#[test]
fn what_is_not_established_leaves_the_question_open_and_names_the_place() {
    let ran = run(&["verify", "--model", "sc", "--jobs", "1", LOOKS_AT_VALUES]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let verdict = ran.lines()[0].to_owned();
    assert!(verdict.contains(": undecided: data independence is not established"), "{ran:?}");
    assert!(verdict.contains("looks-at-values.m:26:8"), "{ran:?}");
    assert!(ran.stderr.contains("26 |     if v != memory[a] -> v != before[a] then"), "{ran:?}");
    assert!(ran.stdout.contains("--assume data-independence"), "{ran:?}");

    let ran = run(&["verify", "--model", "sc", "--jobs", "1", "--quiet", LOOKS_AT_VALUES]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(3), ""), "{ran:?}");
    assert_eq!(ran.lines(), [verdict]);

    let ran = run(&["verify", "--model", "sc", "--jobs", "1", "--json", LOOKS_AT_VALUES]);
    let object = &ran.json()[0];
    assert_eq!((ran.code, &object["verdict"]), (Some(3), &"undecided".into()), "{ran:?}");
    assert_eq!(object["not_established"][0]["what"], "data-independence");
    let place = object["not_established"][0]["place"].as_str().unwrap();
    assert!(place.ends_with("looks-at-values.m:26:8"), "{place}");
    assert_eq!(object["independent"], false);
    assert!(object["assuming"].as_array().unwrap().is_empty());
    assert_eq!(object["lemmas"][0]["holds"], true);
}

#[test]
fn what_is_assumed_is_in_the_verdict() {
    let assume = ["verify", "--model", "sc", "--jobs", "1", "--assume", "data-independence"];
    let ran = run(&[&assume[..], &["--quiet", LOOKS_AT_VALUES]].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let verdict = ": verified: sequentially consistent for 2 processors, 2 addresses, assuming data \
                   independence\n";
    assert!(ran.stdout.ends_with(verdict), "{ran:?}");
    let ran = run(&[&assume[..], &["--json", LOOKS_AT_VALUES]].concat());
    let object = &ran.json()[0];
    assert_eq!((ran.code, &object["verdict"]), (Some(0), &"verified".into()), "{ran:?}");
    assert_eq!(object["assuming"], serde_json::json!(["data-independence"]));
    assert!(object["sentence"].as_str().unwrap().contains("assuming data independence"));
    // What needs no assumption is not said to rest on one.
    let ran = run(&[&assume[..], &["--quiet", "crates/conform/tests/models/cells.m"]].concat());
    let verdict = ": verified: sequentially consistent for 2 processors, 2 addresses\n";
    assert!(ran.stdout.ends_with(verdict), "{ran:?}");
    let ran = run(&["verify", "--model", "sc", "--assume", "luck", LOOKS_AT_VALUES]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
}

#[test]
fn values_are_compared_as_they_are_for_tso() {
    let ran = run(&["verify", "--model", "tso", "--jobs", "1", "--quiet", LOOKS_AT_VALUES]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.contains(": violation: violates total store order"), "{ran:?}");
}

#[test]
fn a_violation_needs_nothing_to_rest_on() {
    let source = std::fs::read_to_string(root().join(LOOKS_AT_VALUES)).unwrap();
    let stale = source.replace("Load(p, a, memory[a])", "Load(p, a, before[a])");
    for flags in [&["--model", "sc"][..], &["--model", "sc", "--assume", "data-independence"]] {
        let ran = verify("verify-stale-values", &stale, flags);
        assert_eq!(ran.code, Some(1), "{ran:?}");
    }
}

#[test]
fn all_addresses_may_begin_with_any_value() {
    let text = memory("0..3", &format!("startstate begin {}", begins_with("3", "3")));
    for model in ["sc", "tso"] {
        let ran = verify("verify-begins-with-3", &text, &["--model", model]);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:?}");
        let ran = verify("verify-begins-with-3", &text, &["--model", model, "--any-processors"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
}

#[test]
fn start_states_that_are_left_out_leave_the_question_open() {
    let start = format!("ruleset v: V; w: V do startstate begin {} end;", begins_with("v", "w"));
    let named = format!("startstate begin {}", begins_with("0", "1"));
    for (values, start) in [("scalarset(2)", &start), ("0..1", &start), ("0..1", &named)] {
        let text = memory(values, start);
        for model in ["sc", "tso"] {
            for more in [&[][..], &["--assume", "data-independence"], &["--any-processors"]] {
                let flags = [&["--model", model, "--json"], more].concat();
                let ran = verify("verify-left-out", &text, &flags);
                let object = &ran.json()[0];
                let what = &object["not_established"][0]["what"];
                assert_eq!((ran.code, what), (Some(3), &"start-states".into()), "{ran:?}");
                assert_eq!(object["verdict"], "undecided");
            }
        }
    }
}

#[test]
fn errors_are_reported_at_lines_of_the_protocol() {
    let start = format!("startstate begin {}", begins_with("0", "0"));
    // With its own values, with none, and only with others than its own.
    let fails = memory("0..1", &start).replace("undefine copy[a];", "assert p != p;");
    let nothing = memory("0..1", &start).replace("undefine copy[a];", "undefine memory[a];");
    let others = memory("0..1", &start).replace("undefine copy[a];", "assert v < 2;");
    let timely = others.replace("assert v < 2;", "assert v < 2; undefine copy[a];");
    for (text, code, sentence) in [
        (fails, 1, "m.m:6:"),
        (nothing, 1, "m.m:3:"),
        (
            others,
            3,
            "an observer failed on a value that the protocol does not have: assertion failed",
        ),
        (timely, 0, "scope: 2 processors, 2 addresses, 2 values"),
    ] {
        let ran = verify("verify-errors", &text, &["--model", "sc"]);
        assert_eq!(ran.code, Some(code), "{ran:?}");
        assert!(ran.stdout.contains(sentence), "{ran:?}");
        let mut places = ran.stdout.split("m.m:").skip(1);
        let lines = text.lines().count() as u64;
        let is_own = |place: &str| {
            let line: String = place.chars().take_while(char::is_ascii_digit).collect();
            line.parse::<u64>().is_ok_and(|line| line <= lines) || line.is_empty()
        };
        assert!(places.all(is_own), "{ran:?}");
    }
}

#[test]
fn what_is_not_established_is_reported_for_any_number_of_processors() {
    let any = ["verify", "--model", "sc", "--jobs", "1", "--any-processors", "--budget", "60s"];
    let ran = run(&[&any[..], &["--quiet", LOOKS_AT_VALUES]].concat());
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stdout.contains("looks-at-values.m:26:8"), "{ran:?}");
    let ran = run(&[&any[..], &["--json", LOOKS_AT_VALUES]].concat());
    let object = &ran.json()[0];
    assert_eq!(object["not_established"][0]["what"], "data-independence", "{ran:?}");
    let assume = ["--assume", "data-independence", "--json", LOOKS_AT_VALUES];
    let ran = run(&[&any[..], &assume].concat());
    let object = &ran.json()[0];
    assert_eq!((ran.code, &object["verdict"]), (Some(0), &"verified".into()), "{ran:?}");
    assert_eq!(object["assuming"], serde_json::json!(["data-independence"]));
}

/// A memory that is as it should be, with a claim of its own.
fn claiming(claim: &str) -> String {
    memory("0..1", &format!("startstate begin {} {claim}", begins_with("0", "0")))
}

#[test]
fn what_is_never_reached_breaks_the_protocol() {
    let never = claiming("cover \"no copy at all\" exists a: A do isundefined(memory[a]) end;");
    for model in ["sc", "tso"] {
        let ran = verify("verify-cover", &never, &["--model", model]);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        let verdict = ": broken: cover \"no copy at all\" holds in no state";
        assert!(ran.lines()[0].ends_with(verdict), "{ran:?}");
        assert!(
            ran.stdout.contains("invariants and assertions of the protocol: violated"),
            "{ran:?}"
        );
    }
    let reached = claiming("cover \"no copy\" exists a: A do isundefined(copy[a]) end;");
    let ran = verify("verify-covered", &reached, &["--model", "sc", "--quiet"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn what_is_not_checked_is_in_the_verdict() {
    let text = claiming("liveness \"changes\" false; liveness \"again\" false;");
    let ran = verify("verify-liveness", &text, &["--model", "sc", "--quiet"]);
    let verdict = ": verified: sequentially consistent for 2 processors, 2 addresses; liveness \
                   \"changes\" and liveness \"again\" are not checked\n";
    assert!(ran.code == Some(0) && ran.stdout.ends_with(verdict), "{ran:?}");

    let text = "const N: 2; type P: scalarset(N); var on: array [P] of boolean;
        startstate begin for p: P do on[p] := false; end; end;
        ruleset p: P do rule \"turn\" begin on[p] := !on[p]; end; end;
        invariant \"defined\" forall p: P do !isundefined(on[p]) end; cover \"never\" false;";
    let ran = verify("verify-any-cover", text, &["--any-processors", "--quiet"]);
    let verdict = "processors, 2 or more; cover \"never\" is not checked\n";
    assert!(ran.code == Some(0) && ran.stdout.ends_with(verdict), "{ran:?}");
}

#[test]
fn a_protocol_without_loads_or_without_stores_is_not_verified() {
    let text =
        memory("scalarset(2)", "ruleset v: V do startstate ") + &begins_with("v", "v") + " end;";
    let model = ["--model", "sc", "--quiet"];
    assert_eq!(verify("verify-events", &text, &model).code, Some(0));
    let no_loads = text.replace("begin Load(p, a, memory[a]); end", "begin end");
    let no_loads = no_loads.replace("begin Load(p, a, copy[a]); end", "begin end");
    let stores = "begin memory[a] := v; undefine copy[a]; Store(p, a, v); end";
    let no_stores = text.replace(stores, "begin copy[a] := memory[a]; end");
    for (name, text) in [("Load", no_loads), ("Store", no_stores)] {
        let ran = verify(&format!("verify-no-{name}"), &text, &model);
        assert_eq!(ran.code, Some(3), "{ran:?}");
        let said = format!(": undecided: `{name}` is never called");
        assert!(ran.stdout.contains(&said), "{ran:?}");
        let any = [&model[..], &["--any-processors"]].concat();
        let ran = verify(&format!("verify-any-no-{name}"), &text, &any);
        assert!(ran.code == Some(3) && ran.stdout.contains("is never called"), "{ran:?}");
    }
}
