//! Best-first search visits what other searches visit, nearest to a condition first.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use evidence::Verdict;
use murphi::check;
use murphi::source::Source;
use tribunal_explore::{Asked, Loaded, Options, Question, Report, Strategy};

/// Five counters that go up and down; what is wrong is in one corner.
const COUNTERS: &str = "
    type P: scalarset(3); N: 0..7;
    var x: array [P] of N; y: N; z: N;
    startstate begin for p: P do x[p] := 0; end; y := 0; z := 0; end;
    ruleset p: P do
      rule \"up\" x[p] < 7 ==> begin x[p] := x[p] + 1; end;
      rule \"down\" x[p] > 0 ==> begin x[p] := x[p] - 1; end;
    end;
    rule \"y\" y < 7 ==> begin y := y + 1; end;
    rule \"z\" z < 7 ==> begin z := z + 1; end;
    rule \"back\" y = 7 | z = 7 ==> begin y := 0; z := 0; end;
    invariant \"corner\" !(y = 6 & z = 5 & exists p: P do x[p] = 4 end);";

fn loaded(name: &str, text: &str, towards: Option<&str>) -> Loaded {
    let source = Source { name: name.to_owned(), text: text.to_owned() };
    let asked = Asked { towards: towards.map(str::to_owned), ..Asked::default() };
    Loaded::read(&source, &check::Options::default(), &asked).expect("it is right")
}

fn explore(model: &Loaded, strategy: Strategy) -> Report {
    let question =
        Question { options: Options { strategy, ..Options::default() }, ..Question::default() };
    model.explore(&question, &mut |_| (), &AtomicBool::new(false)).expect("it is confirmed")
}

#[test]
fn a_condition_leads_to_what_is_wrong_in_few_states() {
    let steps = "y >= 2 & y >= 4 & y >= 6 & z >= 1 & z >= 3 & z >= 5 & \
                 exists p: P do x[p] >= 2 & x[p] >= 4 end";
    let breadth = explore(&loaded("m.m", COUNTERS, None), Strategy::Breadth);
    let best = explore(&loaded("m.m", COUNTERS, Some(steps)), Strategy::Best);
    let corner = |report: &Report| report.finding().expect("it is wrong").broken.property.clone();
    assert_eq!((corner(&best), corner(&breadth)), ("corner".to_owned(), "corner".to_owned()));
    let (few, many) = (best.totals.states, breadth.totals.states);
    assert!(10 * few < many, "{few} {many}");
    assert_eq!(best.totals.nearest.expect("it is known").distance, 0);
    assert_eq!(best.settings.towards.as_deref(), Some(steps));
    let again = explore(&loaded("m.m", COUNTERS, Some(steps)), Strategy::Best);
    assert_eq!(again.totals.states, few);
}

#[test]
fn the_distance_adds_up_what_is_missing() {
    let nothing_wrong = COUNTERS.replace("y = 6 &", "y = 6 & y = 5 &");
    let least = |condition: &str| {
        let report = explore(&loaded("m.m", &nothing_wrong, Some(condition)), Strategy::Best);
        assert!(matches!(report.verdict, Verdict::Holds(())), "{condition}");
        report.totals.nearest.expect("it is known").distance
    };
    for (condition, expected) in [
        ("y = 6 & z = 5", 0),
        ("y = 1 & y = 2", 1),
        ("y = 1 & y = 2 & y = 3", 2),
        ("y = 1 & (y = 2 | z = 3)", 0),
        ("!(y != 1 | y != 2)", 1),
        ("y = 1 -> y = 2", 0),
        ("!(y = 1 -> y = 1)", 1),
        ("forall p: P do x[p] = 7 end", 0),
        ("forall p: P do x[p] = 7 & x[p] = 6 end", 3),
        ("exists p: P do x[p] = 7 & x[p] = 6 end", 1),
        ("forall p: P do exists q: P do p != q & x[q] = 3 & x[p] = x[q] & x[p] = 2 end end", 3),
        ("forall p: P do forall q: P do p = q | x[p] != x[q] end end", 0),
        ("forall i: 0..3 do y = i end", 3),
    ] {
        assert_eq!(least(condition), expected, "{condition}");
    }
}

#[test]
fn all_states_are_visited_if_nothing_is_wrong() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols");
    for (file, condition) in [
        ("peterson.m", "false"),
        ("mcs-lock.m", "forall p: Process do blocked[p] end"),
        ("mi.m", "true"),
    ] {
        let text = std::fs::read_to_string(folder.join(file)).expect("the protocol is there");
        let totals = |towards: Option<&str>, strategy: Strategy| {
            let report = explore(&loaded(file, &text, towards), strategy);
            (report.totals.states, report.totals.rules_fired, report.rules)
        };
        let best = totals(Some(condition), Strategy::Best);
        assert_eq!(best, totals(None, Strategy::Breadth), "{file}");
    }
}

#[test]
fn broken_protocols_are_found_broken() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols/broken");
    for (file, condition) in [
        ("mcs-lock-split-swap.m", "exists p: Process do blocked[p] end"),
        ("peterson-one-level-short.m", "true"),
        ("german-grants-before-acks.m", "false"),
    ] {
        let text = std::fs::read_to_string(folder.join(file)).expect("the protocol is there");
        let report = explore(&loaded(file, &text, Some(condition)), Strategy::Best);
        assert!(report.finding().is_some(), "{file}");
    }
}

#[test]
fn a_condition_that_makes_no_sense_is_refused() {
    let source = Source { name: "m.m".to_owned(), text: COUNTERS.to_owned() };
    for condition in ["nobody = 3", "y +", "y", "true; invariant false; var q: boolean"] {
        let asked = Asked { towards: Some(condition.to_owned()), ..Asked::default() };
        let refused = Loaded::read(&source, &check::Options::default(), &asked);
        assert!(refused.is_err(), "{condition}");
    }
}
