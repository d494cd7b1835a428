//! `tribunal explore --replay`: counterexamples are evidence, and tampered ones are not.

use crate::common::*;

/// Messages in a multiset, a chosen one at a time; the third request breaks the invariant.
const REQUESTS: &str = r#"const N : 2; Most : 3;
type
  Node : scalarset(N);
  Kind : enum { Get, Grant };
  Message : record kind : Kind; from : Node; end;
var
  net : multiset [Most] of Message;
  served : 0..Most;

ruleset n : Node do
  rule "send"
    MultisetCount(m : net, true) < Most
  ==>
  var message : Message;
  begin
    message.kind := Get;
    message.from := n;
    MultisetAdd(message, net);
  end;
end;

choose m : net do
  rule "serve"
    net[m].kind = Get
  ==>
  begin
    served := served + 1;
    MultisetRemove(m, net);
  end;
end;

startstate "quiet"
begin
  undefine net;
  served := 0;
end;

invariant "few" served < 2;
"#;

const DEADLOCK: &str = r#"var n : 0..3;
startstate "zero" begin n := 0; end;
rule "up" n < 3 ==> begin n := n + 1; end;
rule "idle" n = 3 ==> begin n := 3; end;
"#;

const FAILING: &str = r#"var n : 0..3;
startstate begin n := 0; end;
rule "up" true ==> begin n := n + 1; end;
"#;

/// Saves the counterexample of a model; returns the names of the model and the counterexample.
fn saved(test: &str, model: &str, flags: &[&str]) -> (String, String) {
    let directory = directory(test);
    let model = file(&directory, "model.m", model);
    let trace = directory.join("trace.json").to_str().unwrap().to_owned();
    let ran = run(&[&["explore", "--quiet", "--save", &trace, &model], flags].concat());
    assert_eq!(ran.code, Some(1), "{ran:?}");
    (model, trace)
}

fn replay(model: &str, trace: &str) -> Ran {
    run(&["explore", "--replay", trace, model])
}

/// Replays a counterexample after this change to its text.
fn tampered(model: &str, trace: &str, from: &str, to: &str) -> Ran {
    let text = std::fs::read_to_string(trace).unwrap();
    assert!(text.contains(from), "{from} is not in {text}");
    let other = format!("{trace}.tampered");
    std::fs::write(&other, text.replacen(from, to, 1)).unwrap();
    replay(model, &other)
}

#[track_caller]
fn assert_rejected(ran: &Ran, reason: &str) {
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.contains(": counterexample rejected ("), "{}", ran.stdout);
    assert!(ran.stdout.contains(reason), "{}", ran.stdout);
}

#[test]
fn a_saved_counterexample_holds() {
    let (model, trace) = saved("replay-requests", REQUESTS, &[]);
    let ran = replay(&model, &trace);
    let line =
        format!("{trace}: {model}: counterexample confirmed: violation: few after 4 steps\n");
    assert_eq!((ran.stdout, ran.code), (line, Some(0)));
}

#[test]
fn what_json_prints_can_be_replayed_also_with_whole_states() {
    let directory = directory("replay-json");
    let model = file(&directory, "requests.m", REQUESTS);
    for flags in [&[][..], &["--trace-all"], &["--search", "dfs"], &["--simulate", "10000"]] {
        let ran = run(&[&["explore", "--json", &model], flags].concat());
        assert_eq!(ran.code, Some(1), "{ran:?}");
        let trace = file(&directory, "trace.json", ran.stdout);
        let ran = run(&["explore", "--json", "--replay", &trace, &model]);
        assert_eq!(ran.code, Some(0), "{flags:?}: {ran:?}");
        assert_eq!(ran.json()[0]["holds"], true);
    }
}

#[test]
fn constants_are_taken_from_the_counterexample() {
    let (model, trace) = saved("replay-constants", REQUESTS, &["--const", "N=1"]);
    assert_eq!(replay(&model, &trace).code, Some(0));
    let (model, trace) = saved("replay-constants", FAILING, &[]);
    assert_eq!(replay(&model, &trace).code, Some(0));
}

#[test]
fn a_deadlock_is_replayed_by_its_definition() {
    let (model, trace) = saved("replay-deadlock", DEADLOCK, &[]);
    assert_eq!(replay(&model, &trace).code, Some(0));
    let ran = run(&["explore", "--deadlock", "stuck", "--replay", &trace, &model]);
    assert_rejected(&ran, "the end: rule \"idle\" is enabled");
    let text = std::fs::read_to_string(&trace).unwrap();
    let last = text.rfind(",{\"rule\":\"up\"").unwrap();
    let end = text[last..].find(']').unwrap() + last;
    let shortened = format!("{}{}", &text[..last], &text[end..]);
    std::fs::write(&trace, shortened).unwrap();
    assert_rejected(&replay(&model, &trace), "the end: rule \"up\" is enabled");
}

#[test]
fn a_failing_rule_is_replayed_with_its_message() {
    let (model, trace) = saved("replay-failing", FAILING, &[]);
    assert_eq!(replay(&model, &trace).code, Some(0));
    let ran = tampered(&model, &trace, "\"property\":\"", "\"property\":\"not ");
    assert_rejected(&ran, "step 4: rule \"up\": it fails with ");
}

#[test]
fn a_tampered_counterexample_is_rejected_with_the_place_and_the_reason() {
    let (model, trace) = saved("replay-tampered", REQUESTS, &[]);
    let tampered = |from: &str, to: &str| tampered(&model, &trace, from, to);
    let ran = tampered("\"served\":\"1\"", "\"served\":\"2\"");
    assert_rejected(&ran, "served becomes 1, but 2 is recorded");
    assert_rejected(&tampered("\"served\":\"0\"", "\"served\":\"1\""), "): the start: ");
    assert_rejected(&tampered("\"rule\":\"send\"", "\"rule\":\"serve\""), "step 1: ");
    assert_rejected(&tampered("\"rule\":\"send\"", "\"rule\":\"lose\""), "no rule \"lose\"");
    assert_rejected(
        &tampered("\"n\":\"Node_1\"", "\"n\":\"Node_3\""),
        "no instance with n = Node_3",
    );
    assert_rejected(&tampered("\"property\":\"few\"", "\"property\":\"many\""), "\"many\"");
    assert_rejected(&tampered("\"quiet\"", "\"loud\""), "): the start: ");
}

#[test]
fn a_repaired_model_no_longer_has_the_counterexample() {
    let (model, trace) = saved("replay-repaired", REQUESTS, &[]);
    std::fs::write(&model, REQUESTS.replace("served < 2", "served < 3")).unwrap();
    assert_rejected(&replay(&model, &trace), "the end: invariant \"few\" holds");
}

#[test]
fn what_is_no_counterexample_exits_2() {
    let directory = directory("replay-nothing");
    let model = file(&directory, "model.m", DEADLOCK);
    let verified = run(&["explore", "--json", "--deadlock", "off", &model]);
    let trace = file(&directory, "verified.json", verified.stdout);
    let ran = replay(&model, &trace);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("no counterexample to replay: the verdict is \"verified\""),
        "{}",
        ran.stderr
    );
    let trace = file(&directory, "empty.json", "");
    assert_eq!(replay(&model, &trace).code, Some(2));
    assert_eq!(run(&["explore", "--replay", "-", "-"]).code, Some(2));
}

/// Goes on for ever, but not back.
const CAUGHT: &str = "type P: scalarset(2); var n: array [P] of 0..3;
startstate begin for p: P do n[p] := 0; end; end;
ruleset p: P do rule \"count\" begin n[p] := n[p] = 3 ? 2 : n[p] + 1; end; end;
";

#[test]
fn what_is_out_of_reach_is_confirmed_by_all_that_follows() {
    let each = "ruleset p: P do n[p] = 1 end";
    let (model, saved) = saved("replay-liveness", CAUGHT, &["--liveness", each]);
    let ran = run(&["explore", "--replay", &saved, &model]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("counterexample confirmed: "), "{ran:?}");
    let repaired = CAUGHT.replace("? 2 :", "? 0 :");
    let repaired = file(&directory("replay-liveness-repaired"), "model.m", repaired);
    let ran = run(&["explore", "--replay", &saved, &repaired]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("the end: liveness"), "{ran:?}");
    assert!(ran.stdout.contains("can still be reached"), "{ran:?}");
}
