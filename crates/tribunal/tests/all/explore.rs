//! `tribunal explore`: verdicts, counterexamples, exit codes, JSON, budgets, bad input.

use crate::common::*;
use crate::explore_limits::MANY;
use crate::printed::assert_printed;
use serde_json::Value;

/// A lock for a few processes, with a bug when `Checked` is false.
pub(crate) const LOCK: &str = r#"const
  N : 3;
  Checked : true;
type
  Process : scalarset(N);
var
  inside : array [Process] of boolean;
  entered : 0..N;

ruleset p : Process do
  rule "enter"
    !inside[p] & (!Checked | entered = 0)
  ==>
  begin
    inside[p] := true;
    entered := entered + 1;
  end;

  rule "leave"
    inside[p]
  ==>
  begin
    inside[p] := false;
    entered := entered - 1;
  end;
end;

startstate "outside"
begin
  for p : Process do inside[p] := false; end;
  entered := 0;
end;

invariant "mutual exclusion"
  forall p : Process do forall q : Process do
    p != q -> !(inside[p] & inside[q])
  end end;
"#;

/// Counts to a limit and stops there; what happens then depends on the test.
pub(crate) const COUNTER: &str = r#"const Limit : 5;
var n : 0..Limit;
startstate begin n := 0; end;
rule "count" n < Limit ==> begin n := n + 1; end;
"#;

pub(crate) fn explore(model: &str, flags: &[&str]) -> Ran {
    run_with(model, &[&["explore"], flags, &["-"]].concat())
}

/// The JSON object of an exploration.
pub(crate) fn json(model: &str, flags: &[&str]) -> Value {
    let ran = explore(model, &[&["--json"], flags].concat());
    assert_eq!(ran.lines().len(), 1, "{ran:?}");
    ran.json().remove(0)
}

#[test]
fn a_model_that_keeps_its_promise_is_verified_and_exits_0() {
    let ran = explore(LOCK, &["--jobs", "1"]);
    assert_printed(
        &ran.stdout,
        "<stdin>: verified: 1 invariant holds, no deadlock
  2 states, 4 rules fired, depth 1, [..] s
  symmetry full, breadth-first, 1 thread
",
    );
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_violation_is_shown_step_by_step_with_what_breaks_it() {
    let ran = explore(LOCK, &["--const", "Checked=false", "--jobs", "1"]);
    assert_printed(
        &ran.stdout,
        r#"<stdin>: violation after 2 steps: invariant "mutual exclusion" does not hold
  3 states, [..] rules fired, depth 2, [..] s
  symmetry full, breadth-first, 1 thread, Checked = false

start "outside"
    inside[Process_1..Process_3] = false
    entered = 0
 1. rule "enter"  p = Process_1
    inside[Process_1]: false → true
    entered: 0 → 1
 2. rule "enter"  p = Process_2
    inside[Process_2]: false → true
    entered: 1 → 2

error: invariant "mutual exclusion" does not hold with p = Process_1, q = Process_2
  --> <stdin>:36:5
   |
36 |     p != q -> !(inside[p] & inside[q])
   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
where inside[p] = true, inside[q] = true
"#,
    );
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(1), ""));
}

#[test]
fn the_part_of_an_invariant_that_breaks_is_underlined_with_its_variables() {
    let broken = LOCK.replace("Checked : true", "Checked : false");
    let underlined = |invariant: &str| {
        let ran = explore(&format!("{broken}invariant \"other\"\n  {invariant};\n"), &[]);
        let (_, end) = ran.stdout.split_once("\nerror: invariant ").unwrap();
        let lines: Vec<&str> = end.lines().collect();
        let width = lines[4].chars().filter(|&c| c == '^').count();
        let start = lines[4].chars().position(|c| c == '^').unwrap();
        let part: String = lines[3].chars().skip(start).take(width).collect();
        (lines[0].to_owned(), part)
    };
    let (with, part) = underlined("entered < 3 & (true -> forall p : Process do !inside[p] end)");
    assert_eq!(with, "\"other\" does not hold with p = Process_1");
    assert!(part.contains("inside[p]"), "{part}");
    let (with, part) = underlined("!exists p : Process do entered > 5 | inside[p] end");
    assert_eq!(with, "\"other\" does not hold with p = Process_1");
    assert_eq!(part, "inside[p]");
    let (with, part) = underlined("entered <= 3 & entered < 1");
    assert_eq!((&*with, &*part), ("\"other\" does not hold", "entered < 1"));
}

#[test]
fn quiet_leaves_the_verdict() {
    let ran = explore(LOCK, &["--quiet", "--const", "Checked=false"]);
    let line = "<stdin>: violation after 2 steps: invariant \"mutual exclusion\" does not hold\n";
    assert_eq!(ran.stdout, line);
}

#[test]
fn trace_all_shows_the_whole_state_after_each_step() {
    let ran = explore(LOCK, &["-D", "Checked=false", "--trace-all"]);
    assert_eq!(ran.stdout.matches("inside[Process_3] = false").count(), 2, "{}", ran.stdout);
}

#[test]
fn colours_are_for_those_who_ask() {
    let ran = explore(LOCK, &["--color", "always"]);
    assert!(ran.stdout.contains("\x1b[32mverified\x1b[0m"), "{}", ran.stdout);
    let ran = explore(LOCK, &[]);
    assert!(!ran.stdout.contains('\x1b'));
}

#[test]
fn a_deadlock_is_a_state_that_nothing_leads_out_of() {
    let ran = explore(COUNTER, &[]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stdout.starts_with("<stdin>: deadlock after 5 steps: no rule is enabled\n"));

    let ran = explore(COUNTER, &["--deadlock", "off"]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.stdout.starts_with("<stdin>: verified\n  6 states, 5 rules fired, depth 5"));
}

#[test]
fn a_rule_that_changes_nothing_is_a_way_out_only_where_that_is_asked_for() {
    let idle = format!("{COUNTER}rule \"idle\" true ==> begin end;");
    assert_eq!(explore(&idle, &["--deadlock", "stuck"]).code, Some(0));
    for stuttering in [&["--deadlock", "stuttering"][..], &[]] {
        let ran = explore(&idle, stuttering);
        assert_eq!(ran.code, Some(1));
        let first =
            "<stdin>: deadlock after 5 steps: every enabled rule leaves the state unchanged\n";
        assert!(ran.stdout.starts_with(first), "{}", ran.stdout);
        assert!(ran.stdout.contains("rule \"idle\" is enabled but leaves the state unchanged\n"));
    }
}

#[test]
fn a_run_time_error_is_shown_with_its_source_its_rule_and_its_calls() {
    let model = r#"type Slot : 0..3;
var next : Slot;
function step(more : Slot) : Slot;
begin
  return next + more;
end;
startstate "empty" begin next := 0; end;
ruleset more : 1..2 do
  rule "advance" true ==> begin next := step(more); end;
end;
"#;
    let ran = explore(model, &["--jobs", "1"]);
    assert_eq!(ran.code, Some(1));
    assert_printed(
        &ran.stdout,
        r#"<stdin>: violation after 2 steps: rule "advance" fails: value 4 is outside 0..3
  3 states, 2 rules fired, depth 1, [..]
  symmetry full, breadth-first, 1 thread

start "empty"
    next = 0
 1. rule "advance"  more = 2
    next: 0 → 2
 2. rule "advance"  more = 2
    fails: value 4 is outside 0..3

error: value 4 is outside 0..3
 --> <stdin>:5:10
  |
5 |   return next + more;
  |          ^^^^^^^^^^^
note: in `step`, called here
 --> <stdin>:9:41
  |
9 |   rule "advance" true ==> begin next := step(more); end;
  |                                         ----------
note: in rule "advance" with more = 2
 --> <stdin>:9:3
  |
9 |   rule "advance" true ==> begin next := step(more); end;
  |   -----------------------------------------------------
"#,
    );
}

#[test]
fn failing_start_states_guards_and_properties_are_distinguished() {
    let violation = |model: &str| {
        let ran = explore(model, &["--quiet"]);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        ran.stdout
    };
    let start = format!("{COUNTER}startstate \"bad\" begin n := Limit + 1; end;");
    let text = violation(&start);
    let expected = "<stdin>: violation in a start state: start state \"bad\" fails: ";
    assert!(text.starts_with(expected), "{text}");

    let declarations = "var n, m : 0..3; startstate begin n := 0; undefine m; end;";
    let guard = format!("{declarations} rule \"look\" m = 1 ==> begin n := 1; end;");
    let text = violation(&guard);
    let expected = "<stdin>: violation after 1 step: evaluating the guard of rule \"look\" fails: ";
    assert!(text.starts_with(expected), "{text}");

    let property = format!(
        "{declarations} rule \"flip\" true ==> begin n := 1 - n; end; invariant \"seen\" m = 1;"
    );
    let text = violation(&property);
    let expected = "<stdin>: violation in a start state: invariant \"seen\" cannot be evaluated: ";
    assert!(text.starts_with(expected), "{text}");
}

#[test]
fn a_cover_that_no_state_reaches_is_a_violation() {
    let model = format!("{COUNTER}cover \"all\" n = Limit; cover \"none\" n < 0;");
    let ran = explore(&model, &["--deadlock", "off"]);
    assert_eq!(ran.code, Some(1));
    let first = "<stdin>: violation: cover \"none\" holds in no state\n";
    assert!(ran.stdout.starts_with(first), "{}", ran.stdout);
}

/// Counts to four, where it stays, or goes back to the start before.
const STAYS: &str = "var n: 0..4; at: enum { way, away };
startstate \"zero\" begin n := 0; at := way; end;
rule \"up\" n < 4 ==> begin n := n + 1; end;
rule \"back\" n > 0 & n < 3 ==> begin n := 0; end;
rule \"turn\" n > 2 ==> begin at := at = way ? away : way; end;
";

#[test]
fn liveness_that_is_not_checked_is_not_called_verified() {
    let model = format!("{STAYS}liveness \"returns\" n = 4;");
    let undecided = |flags: &[&str], why: &str| {
        let ran = explore(&model, &[flags, &["--deadlock", "off"]].concat());
        assert_eq!(ran.code, Some(3), "{ran:?}");
        let first = format!("<stdin>: undecided: {why}\n");
        assert!(ran.stdout.starts_with(&first), "{}", ran.stdout);
    };
    let name = "liveness \"returns\" is not checked";
    let kept = format!("{name}: --compact does not store the states; all other properties hold");
    undecided(&["--compact"], &kept);
    let first =
        format!("{name}: only breadth-first search decides liveness; all other properties hold");
    undecided(&["--search", "dfs"], &first);
    let bound = format!("the search stopped at distance 2 (--bound); no violation found; {name}");
    undecided(&["--bound", "2"], &bound);
    let walks = format!("a random walk does not visit every state; no violation found; {name}");
    undecided(&["--simulate", "100"], &walks);

    let ran = explore(&model, &["--deadlock", "off"]);
    let first = "<stdin>: verified: 1 liveness property holds\n";
    assert!(ran.code == Some(0) && ran.stdout.starts_with(first), "{ran:?}");
}

#[test]
fn what_is_out_of_reach_is_reported_with_what_can_still_happen() {
    let ran = explore(STAYS, &["--liveness", "n = 0"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let first = "<stdin>: violation after 3 steps: liveness \"n = 0\" can never hold again\n";
    assert!(ran.stdout.starts_with(first), "{}", ran.stdout);
    let region = "From the last state 4 states can be reached; in none of them does the condition hold:\n  \
                  rules that still fire: \"up\", \"turn\"\n\n\
                  error: liveness \"n = 0\" can never hold again\n";
    assert!(ran.stdout.contains(region), "{}", ran.stdout);

    let found =
        json(STAYS, &["--liveness", "n = 0", "--liveness", "ruleset k: 0..1 do n = 4 * k end"]);
    assert_eq!((&found["verdict"], &found["kind"]), (&"violation".into(), &"liveness".into()));
    assert_eq!(found["region"]["states"], 4);
    assert_eq!(found["region"]["complete"], true);
    assert_eq!(found["liveness"].as_array().map(Vec::len), Some(2));

    let ran = explore(STAYS, &["--liveness", "n = zero"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("zero"), "{}", ran.stderr);
}

#[test]
fn a_counterexample_shows_what_is_asked_for_and_hides_the_rest() {
    let flags = ["--liveness", "n = 0", "--show", "n > 2", "--hide", "n"];
    let ran = explore(STAYS, &flags);
    assert!(ran.stdout.contains(" 3. rule \"up\"\n    n > 2 = true\n"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("n: "), "{}", ran.stdout);
    let found = json(STAYS, &flags);
    assert_eq!(found["start"]["watched"], serde_json::json!({"n > 2": "false"}));
    assert_eq!(found["counterexample"][2]["watched"], serde_json::json!({"n > 2": "true"}));
    assert_eq!(found["counterexample"][2]["changed"], serde_json::json!({"n": "3"}));
}

/// A lock for processors that are numbers; `EXTRA` is a place for what treats one of them otherwise.
const NUMBERED: &str = "const N: 3; type Proc: 1..N; var has: array [Proc] of boolean; last: Proc;
startstate begin for p: Proc do has[p] := false; end; undefine last; end;
ruleset p: Proc do
  rule \"take\" forall q: Proc do !has[q] end ==> begin has[p] := true; last := p; end;
  rule \"give back\" has[p] ==> begin has[p] := false; EXTRA end;
end;
";

#[test]
fn a_subrange_that_is_used_as_a_scalarset_can_be_treated_as_one() {
    let model = NUMBERED.replace("EXTRA", "");
    let ran = explore(&model, &[]);
    assert!(ran.stdout.contains("  7 states, "), "{}", ran.stdout);
    assert!(ran.stderr.contains("--symmetric Proc"), "{}", ran.stderr);
    let ran = explore(&model, &["--symmetric", "Proc"]);
    assert!(ran.stdout.contains("  3 states, "), "{}", ran.stdout);
    assert!(!ran.stderr.contains("--symmetric"), "{}", ran.stderr);
    for (extra, wrong) in [
        ("if p = 1 then undefine last; end;", "5:57"),
        ("if p < N then undefine last; end;", "5:57"),
        ("last := 3;", "5:62"),
        ("for q: Proc do if has[q] then last := q; end; has[q] := false; end;", "5:84"),
    ] {
        let ran = explore(&NUMBERED.replace("EXTRA", extra), &["--symmetric", "Proc"]);
        assert_eq!(ran.code, Some(2), "{extra}: {ran:?}");
        let said = "`Proc` is not used symmetrically: ";
        assert!(ran.stderr.contains(said) && ran.stderr.contains(&format!(":{wrong}")), "{ran:?}");
    }
    // To compare an undefined number stays an error.
    let undefined = NUMBERED.replace("EXTRA", "undefine last; if last = p then last := p; end;");
    let ran = explore(&undefined, &["--symmetric", "Proc"]);
    assert!(ran.code == Some(1) && ran.stdout.contains("undefined"), "{ran:?}");
}

#[test]
fn a_constant_that_is_given_twice_is_recorded_once() {
    let found = json(LOCK, &["--const", "N=3", "--const", "N=2", "--const", "Checked=false"]);
    assert_eq!(found["constants"], serde_json::json!({"Checked": "false", "N": "2"}));
    let ran = explore(LOCK, &["--const", "N=3", "--const", "N=2", "--json"]);
    assert_eq!(ran.stdout.matches("\"N\":").count(), 1, "{}", ran.stdout);
}

#[test]
fn json_has_the_fields_of_the_contract() {
    let found = json(LOCK, &["--const", "Checked=false", "--const", "N=2"]);
    assert_eq!(found["model"], "<stdin>");
    assert_eq!(found["verdict"], "violation");
    assert_eq!(found["property"], "mutual exclusion");
    assert!(found["states"].is_u64() && found["rules_fired"].is_u64());
    assert_eq!(found["depth"], 2);
    assert!(found["seconds"].is_f64() && found["bytes_per_state"].is_f64());
    assert_eq!(found["constants"], serde_json::json!({"Checked": "false", "N": "2"}));
    assert_eq!(
        found["counterexample"],
        serde_json::json!([
            {
                "rule": "enter", "bindings": {"p": "Process_1"},
                "changed": {"inside[Process_1]": "true", "entered": "1"},
            },
            {
                "rule": "enter", "bindings": {"p": "Process_2"},
                "changed": {"inside[Process_2]": "true", "entered": "2"},
            },
        ])
    );
    assert_eq!(found["start"]["state"]["inside[Process_2]"], "false");
    assert_eq!(found["rule_coverage"][1]["rule"], "leave");

    let verified = json(LOCK, &[]);
    assert_eq!((&verified["verdict"], &verified["states"]), (&"verified".into(), &2.into()));
    assert!(verified.get("property").is_none() && verified.get("counterexample").is_none());
    assert_eq!(json(LOCK, &["--symmetry", "off"])["states"], 4);
    assert_eq!(json(LOCK, &["--symmetry", "off", "--const", "N=6"])["states"], 7);
    assert_eq!(json(COUNTER, &[])["verdict"], "deadlock");
}

/// Two of the messages of three processes are taken in one step, and something is done with them.
fn taking_two(body: &str) -> String {
    format!(
        r#"type Process : scalarset(3);
var net : multiset [3] of Process; owner : Process; kept : Process; spare : Process;
startstate begin for p : Process do MultisetAdd(p, net); end; undefine owner; end;
ruleset p : Process do
  rule isundefined(owner) ==> begin owner := p; end;
end;
choose i : net do choose j : net do alias a : net[i] do alias b : net[j] do
  rule "take" !isundefined(owner) & i != j & a = owner ==> begin {body} end;
end; end; end; end;
ruleset p : Process do
  invariant "the owner is taken" MultisetCount(k : net, net[k] = p) <= 1
    & (MultisetCount(k : net, true) = 1 -> MultisetCount(k : net, net[k] = owner) = 0);
end;"#
    )
}

#[test]
fn removals_from_a_multiset_have_the_same_verdict_with_and_without_symmetry() {
    let bodies = [
        ("MultisetRemove(i, net); MultisetRemove(j, net);", "verified"),
        ("MultisetRemove(j, net); MultisetRemove(i, net);", "verified"),
        ("MultisetRemove(i, net); kept := b; MultisetRemove(j, net);", "verified"),
        ("MultisetRemove(j, net); MultisetRemove(i, net); kept := b;", "violation"),
        // The room that is used again is that of one or the other, as the elements are sorted.
        (
            "kept := b; MultisetRemove(i, net); MultisetRemove(j, net);
          MultisetAdd(kept, net); assert MultisetCount(k : net, k = i | k = j) = 0;
          spare := net[i];",
            "violation",
        ),
        (
            "kept := b; MultisetRemove(i, net); MultisetRemove(j, net);
          MultisetAdd(kept, net); assert MultisetCount(k : net, k = i | k = j) = 0;",
            "verified",
        ),
    ];
    for (body, verdict) in bodies {
        for symmetry in ["full", "off"] {
            let flags = ["--symmetry", symmetry, "--deadlock", "off"];
            assert_eq!(json(&taking_two(body), &flags)["verdict"], verdict, "{symmetry}: {body}");
        }
    }
}

#[test]
fn rules_that_never_fire_are_named_and_coverage_lists_all() {
    let model = format!("{COUNTER}rule \"never\" n > Limit ==> begin n := 0; end;");
    let ran = explore(&model, &["--deadlock", "off", "--coverage"]);
    assert!(ran.stdout.contains("\n  rule that never fires: \"never\"\n"), "{}", ran.stdout);
    let table = "\n  fired  rule\n      5  \"count\"\n      0  \"never\"\n";
    assert!(ran.stdout.ends_with(table), "{}", ran.stdout);
}

#[test]
fn every_error_of_a_model_is_shown_underlined() {
    let model =
        "var n : 0..3; m : bool;\nstartstate begin n := tru; end;\nrule n = 0 ==> begin end;\n";
    let ran = explore(model, &[]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
    assert!(ran.stderr.contains("m : bool;\n"), "{}", ran.stderr);
    assert!(ran.stderr.contains("n := tru;"), "{}", ran.stderr);
    assert!(ran.stderr.contains("^^^"), "{}", ran.stderr);
    assert!(ran.stderr.ends_with("tribunal: 2 errors in <stdin>\n"), "{}", ran.stderr);
}

#[test]
fn bad_usage_and_missing_files_exit_2() {
    let unknown = explore(LOCK, &["--const", "Nobody=3"]);
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.stderr.contains("Nobody"), "{}", unknown.stderr);
    for flags in [
        &["--const", "N"][..],
        &["--deadlock", "maybe"],
        &["--compact=7"],
        &["--simulate", "10", "--compact"],
        &["--disk", "no/such/directory"],
        &["--compact", "--disk", "no/such/directory"],
    ] {
        assert_eq!(explore(LOCK, flags).code, Some(2), "{flags:?}");
    }
    let ran = run(&["explore", "no-such.m"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("no-such.m"), "{}", ran.stderr);
}

#[test]
fn a_packed_model_is_read_as_it_is() {
    use std::io::Write;
    let directory = directory("packed-model");
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(LOCK.as_bytes()).unwrap();
    let model = file(&directory, "lock.m.gz", packed.finish().unwrap());
    assert_eq!(run(&["explore", &model]).code, Some(0));
}

#[test]
fn a_random_walk_finds_what_is_wrong_and_verifies_nothing() {
    let ran = explore(LOCK, &["--simulate", "1000", "--seed", "7"]);
    assert_eq!(ran.code, Some(3));
    assert!(ran.stdout.contains("random walk, seed 7"), "{}", ran.stdout);
    let flags = ["--const", "Checked=false", "--simulate", "1000", "--seed", "7"];
    let ran = explore(LOCK, &flags);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stdout.contains("invariant \"mutual exclusion\" does not hold"));
    let without_time = |ran: Ran| ran.lines()[3..].join("\n");
    assert_eq!(without_time(ran), without_time(explore(LOCK, &flags)));
}

#[test]
fn depth_first_and_hashed_searches_agree_on_the_counts() {
    let small = MANY.replace("20", "10");
    for flags in [&[][..], &["--search", "dfs"], &["--compact"], &["--compact", "64"]] {
        let found = json(&small, flags);
        let counts = (&found["verdict"], &found["states"], &found["rules_fired"]);
        assert_eq!(counts, (&"verified".into(), &1024.into(), &10240.into()), "{flags:?}");
    }
    let compact = json(&small, &["--compact"]);
    let probability = compact["omission_probability"].as_f64().unwrap();
    assert!((0.0..1e-3).contains(&probability), "{probability}");
}

#[test]
fn the_answer_does_not_depend_on_the_number_of_threads() {
    let broken = LOCK.replace("Checked : true", "Checked : false").replace("N : 3", "N : 7");
    let without_threads = |model: &str, jobs: &str| {
        let mut found = json(model, &["--jobs", jobs]);
        for field in ["seconds", "bytes_per_state", "jobs"] {
            found.as_object_mut().unwrap().remove(field);
        }
        found
    };
    for model in [&broken, &LOCK.replace("N : 3", "N : 7"), &MANY.replace("20", "12")] {
        let one = without_threads(model, "1");
        assert_eq!(one, without_threads(model, "2"));
        assert_eq!(one, without_threads(model, "3"));
        assert_eq!(one, without_threads(model, "8"));
    }
}

#[cfg(unix)]
#[test]
fn without_a_start_state_nothing_is_verified() {
    let nowhere = format!("{COUNTER} assume \"nothing\" false; invariant \"wrong\" false;");
    let reason = "the model has no start state (it declares none, or its assumptions exclude all)";
    let ran = explore(&nowhere, &["--quiet", "--deadlock", "off"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.lines()[0].ends_with(&format!(": undecided: {reason}")), "{ran:?}");
    assert_eq!(json(&nowhere, &["--deadlock", "off"])["reason"], reason);
    let excluded = COUNTER.replace("n := 0; end;", "n := 0; assume n = 1; end;");
    assert_eq!(explore(&excluded, &["--search", "dfs"]).code, Some(3));
}

#[test]
fn a_run_in_which_the_order_of_elements_shows_is_reported_and_replayed() {
    let model = r#"
        type P : scalarset(2);
        var one, two : multiset [2] of P; bad : boolean;
        startstate begin undefine one; undefine two; bad := false; end;
        ruleset p : P do
          rule "one" MultisetCount(i : one, true) = 0 ==> begin MultisetAdd(p, one); end;
          rule "two" MultisetCount(i : two, two[i] = p) = 0 ==> begin MultisetAdd(p, two); end;
        end;
        choose i : one do
          rule "look" MultisetCount(j : two, true) = 2 & two[i] != one[i] ==> begin bad := true; end;
        end;
        invariant "as added" !bad;"#;
    let found = directory("order-of-elements").join("found.json");
    let found = found.to_str().unwrap();
    for flags in [["--symmetry", "full"], ["--symmetry", "off"], ["--search", "dfs"]] {
        let ran = explore(model, &[&flags[..], &["--quiet", "--save", found]].concat());
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert_eq!(explore(model, &["--replay", found]).code, Some(0), "{flags:?}");
    }
}

#[test]
fn an_error_in_a_condition_of_the_command_line_is_not_placed_in_the_model() {
    let model = "protocols/german.m";
    let ran = run(&["explore", "--search", "best", "--towards", "nobody = 1", model]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("`nobody` is not declared"), "{}", ran.stderr);
    assert!(ran.stderr.contains("--> protocols/german.m with --towards:"), "{}", ran.stderr);
}
