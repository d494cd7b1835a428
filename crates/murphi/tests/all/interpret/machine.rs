//! The interpreter as a machine on bytes: instances, guards, properties.

use std::sync::Arc;

use tribunal_murphi::instance;
use tribunal_murphi::interpret::{End, Interpreter, RuntimeErrorKind, Unrunnable};
use tribunal_murphi::machine::{Check, Machine, Outcome, Successors};
use tribunal_murphi::value::State;

use super::interpreter;

/// The state that the first start state leads to.
fn started(interpreter: &Interpreter) -> State {
    match interpreter.start(0, 0).end {
        End::Done(state) => state,
        end => panic!("{end:?}"),
    }
}

/// What the machine does in its first state: rule, instance and outcome.
fn firings(interpreter: &mut Interpreter) -> Vec<(u32, u64, Outcome)> {
    let bytes = started(interpreter).encode(interpreter.model(), interpreter.layout());
    let mut out = Successors::new(bytes.len());
    interpreter.expand(&bytes, &mut out);
    assert_eq!(out.states.len(), out.firings.len() * out.size);
    out.firings.iter().map(|firing| (firing.rule, firing.instance, firing.outcome)).collect()
}

const RULESETS: &str = "type p: scalarset(3); c: enum { red, green };
    var x: 0..3;
    startstate begin x := 0; end;
    ruleset i: p; j := -1 to 4 by 2; k: c do
      rule \"step\" j != 1 & k = green ==> begin x := 1; end;
    end;";

#[test]
fn instances_are_numbers_with_the_outermost_parameter_first() {
    let interpreter = interpreter(RULESETS);
    let parameters = &interpreter.model().rules[0].parameters;
    let model = interpreter.model();
    assert_eq!(instance::radices(model, parameters), [3, 3, 2]);
    assert_eq!(instance::count(model, parameters), Some(18));
    assert_eq!(instance::decode(model, parameters, 9), [1, 1, 1]);
    for number in 0..18 {
        let values = instance::decode(model, parameters, number);
        assert_eq!(instance::encode(model, parameters, &values), Some(number));
    }
    assert_eq!(instance::encode(model, parameters, &[0, 0, 0]), None);
    assert_eq!(instance::encode(model, parameters, &[3, 1, 0]), None);
    assert_eq!(instance::encode(model, parameters, &[0, 1]), None);
}

/// What running the instances of the first rule one by one gives.
fn one_by_one(interpreter: &Interpreter) -> Vec<(u32, u64, Outcome)> {
    let (state, model) = (started(interpreter), interpreter.model());
    let count =
        instance::count(model, &model.rules[0].parameters).expect("instances can be counted");
    let outcome = |number: u64| match interpreter.run_rule(&state, 0, number).end {
        End::Disabled => None,
        End::Done(_) => Some(Outcome::Done),
        End::Excluded => Some(Outcome::Excluded),
        End::GuardFailed(_) => Some(Outcome::GuardFailed),
        End::Failed(_) => Some(Outcome::Failed),
    };
    (0..count).filter_map(|number| Some((0, number, outcome(number)?))).collect()
}

#[test]
fn instances_that_are_passed_over_do_not_apply() {
    let declarations = "type p: scalarset(3); c: 0..2; var t: array [c] of boolean; n: array [c] of c;
        bag: multiset [3] of c; who: p;
        function odd(k: c): boolean; begin assume k != 2; return k = 1; end;
        ruleset q: p do startstate begin t[0] := true; t[1] := false; n[0] := 0; n[1] := 2; who := q;
          MultisetAdd(1, bag); MultisetAdd(0, bag); end; end;";
    let of = |header: &str, guard: &str| {
        format!("{declarations} {header} rule {guard} ==> begin t[2] := true; end; end;")
    };
    let rulesets = "ruleset i: p; j: c; k: c do";
    let aliases = "ruleset j: c do alias m: n[n[j]] do ruleset k: c do";
    let chosen = "ruleset j: c do choose l: bag do ruleset k: c do";
    for (header, ends, guards) in [
        (
            rulesets,
            "",
            &[
                "i = who & t[j] & n[k] = 0",
                "t[j] & i = who & t[k]",
                "t[0] & (t[1] & t[2]) & t[k]",
                "j = 1 & (t[k] | t[j]) & i = who",
                "odd(j) & odd(k) & i = who",
                "t[k] & j = 0",
                "false & t[k]",
                "t[0]",
                "exists l: c do l = j & n[l] = 2 end & k = 0",
                "!(t[0] & t[k])",
            ][..],
        ),
        (aliases, "end; end;", &["j = 1 & k = 1", "m = 0 & t[k]", "k = 1 & m = 0"]),
        (chosen, "end; end;", &["j = 1 & k = 1", "bag[l] = j & t[k]", "t[k] & j = 0"]),
    ] {
        for guard in guards {
            let text = of(header, guard) + ends;
            let mut interpreter = interpreter(&text);
            let expected = one_by_one(&interpreter);
            assert_eq!(firings(&mut interpreter), expected, "{header} {guard}");
        }
    }
}

#[test]
fn bindings_are_named_in_the_words_of_the_source() {
    let interpreter = interpreter(RULESETS);
    let bindings = interpreter.bindings(&started(&interpreter), 0, 9);
    let expected = [("i", "p_2"), ("j", "1"), ("k", "green")];
    assert_eq!(bindings, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
}

#[test]
fn only_instances_whose_guard_holds_are_run() {
    let found = firings(&mut interpreter(RULESETS));
    let instances: Vec<u64> = found.iter().map(|&(_, instance, _)| instance).collect();
    assert_eq!(instances, [1, 5, 7, 11, 13, 17]);
}

const CHOICE: &str = "type message: record kind: enum { get, put_ }; at: 0..3; end;
    var net: array [0..1] of multiset [3] of message; m: message; sum: 0..9;
    startstate begin
      m.kind := put_; m.at := 2; MultisetAdd(m, net[1]);
      m.kind := get; m.at := 1; MultisetAdd(m, net[1]); MultisetAdd(m, net[0]);
    end;
    ruleset i: 0..1 do choose x: net[i] do
      rule \"take\" true ==> begin MultisetRemove(x, net[i]); end;
    end; end;";

#[test]
fn choose_has_an_instance_for_each_element_that_is_there() {
    let found = firings(&mut interpreter(CHOICE));
    let done = Outcome::Done;
    assert_eq!(found, [(0, 0, done), (0, 3, done), (0, 4, done)]);
}

#[test]
fn what_was_chosen_is_shown_with_its_contents() {
    let interpreter = interpreter(CHOICE);
    let bindings = interpreter.bindings(&started(&interpreter), 0, 3);
    let expected = [("i", "1"), ("x", "{kind: put_, at: 2}")];
    assert_eq!(bindings, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
}

#[test]
fn removing_an_element_moves_the_later_ones_up() {
    let interpreter = interpreter(CHOICE);
    let before = started(&interpreter);
    let End::Done(after) = interpreter.run_rule(&before, 0, 3).end else { panic!("it runs") };
    let changes = before.changes(&after, interpreter.model());
    assert_eq!(changes.len(), 1);
    assert_eq!(changes[0].to_string(), "net[1]: -{kind: put_, at: 2}");
    let listing = after.listing(interpreter.model());
    assert_eq!(listing[1], ("net[1]{0}".to_owned(), "{kind: get, at: 1}".to_owned()));
}

#[test]
fn an_element_that_was_removed_cannot_be_used() {
    let interpreter = interpreter(
        "var m: multiset [2] of 0..3; x: 0..3;
         startstate begin x := 1; MultisetAdd(x, m); end;
         choose i: m do
           rule \"twice\" true ==> begin MultisetRemove(i, m); x := m[i] + 1; end;
         end;",
    );
    let End::Failed(error) = interpreter.run_rule(&started(&interpreter), 0, 0).end else {
        panic!("it fails")
    };
    assert_eq!(error.kind, RuntimeErrorKind::PositionEmpty);
    assert_eq!(error.message, "`m{0}` has been removed from its multiset");
}

#[test]
fn each_outcome_is_distinguished() {
    let mut interpreter = interpreter(
        "var x: 0..3; u: 0..3;
         startstate begin x := 0; end;
         rule \"never\" x = 1 ==> begin end;
         rule \"done\" x = 0 ==> begin x := 1; end;
         rule \"fails\" true ==> begin error \"no\"; end;
         rule \"excluded\" true ==> begin assume x = 1; end;
         rule \"guard\" u = 1 ==> begin end;",
    );
    let found = firings(&mut interpreter);
    let expected = [
        (1, Outcome::Done),
        (2, Outcome::Failed),
        (3, Outcome::Excluded),
        (4, Outcome::GuardFailed),
    ];
    assert_eq!(found, expected.map(|(rule, outcome)| (rule, 0, outcome)));
}

#[test]
fn an_alias_around_a_rule_that_cannot_be_bound_fails_like_a_guard() {
    let mut interpreter = interpreter(
        "var a: array [0..1] of boolean; u: 0..1;
         startstate begin a[0] := true; end;
         alias e: a[u] do rule \"r\" true ==> begin e := false; end; end;",
    );
    assert_eq!(firings(&mut interpreter), [(0, 0, Outcome::GuardFailed)]);
    let error = interpreter.enabled(&started(&interpreter), 0, 0);
    assert_eq!(error.map_err(|error| error.message), Err("`u` is undefined".to_owned()));
}

#[test]
fn every_start_state_runs_with_every_parameter() {
    let mut interpreter = interpreter(
        "var x: 0..9;
         ruleset i: 0..2 do startstate begin x := i; end; end;
         startstate begin x := 9; end;
         rule begin end;",
    );
    let mut out = Successors::new(interpreter.layout().size as usize);
    Machine::start(&mut interpreter, &mut out);
    let found: Vec<(u32, u64)> =
        out.firings.iter().map(|firing| (firing.rule, firing.instance)).collect();
    assert_eq!(found, [(0, 0), (0, 1), (0, 2), (1, 0)]);
    let values = (0..4).map(|firing| {
        let state = State::decode(interpreter.model(), interpreter.layout(), out.state(firing));
        state.expect("a machine makes states").listing(interpreter.model()).remove(0).1
    });
    assert_eq!(values.collect::<Vec<_>>(), ["0", "1", "2", "9"]);
}

/// Checks the first state of a model with this start and these properties.
fn checked(start: &str, properties: &str) -> (Check, Vec<bool>) {
    let mut interpreter = interpreter(&format!(
        "var x: 0..3; u: 0..3; startstate begin {start} end; rule begin end; {properties}"
    ));
    let bytes = started(&interpreter).encode(interpreter.model(), interpreter.layout());
    let check = interpreter.check(&bytes);
    (check, interpreter.covered().to_vec())
}

#[test]
fn the_first_invariant_that_does_not_hold_is_named() {
    let properties = "invariant x < 2; invariant x = 1; invariant x = 2;";
    assert_eq!(checked("x := 1;", properties).0, Check::Broken(2));
    assert_eq!(checked("x := 0;", properties).0, Check::Broken(1));
    assert_eq!(checked("x := 0;", "invariant x < 2;").0, Check::Holds);
}

#[test]
fn assumptions_come_before_invariants() {
    let properties = "invariant x = 2; assume x = 1;";
    assert_eq!(checked("x := 0;", properties).0, Check::Excluded);
    assert_eq!(checked("x := 1;", properties).0, Check::Broken(0));
}

#[test]
fn a_property_that_cannot_be_evaluated_is_named() {
    assert_eq!(checked("x := 0;", "invariant x = 0; invariant u = 0;").0, Check::Failed(1));
}

#[test]
fn covers_that_hold_are_noted() {
    let (check, covered) = checked("x := 1;", "cover x = 1; cover x = 2; invariant true;");
    assert_eq!((check, covered), (Check::Holds, vec![true, false, false]));
}

#[test]
fn a_broken_property_reports_the_parameters_that_break_it() {
    let interpreter = interpreter(
        "type p: scalarset(3); var a: array [p] of boolean;
         startstate begin for i: p do a[i] := true; end; end;
         rule begin end;
         ruleset i: p; j: p do invariant \"agree\" i = j | a[i] != a[j]; end;",
    );
    let state = started(&interpreter);
    let breach = interpreter.check_property(&state, 0).expect("it can be evaluated");
    let breach = breach.expect("it is broken");
    assert_eq!(breach.instance, 1);
    let expected = [("i", "p_1"), ("j", "p_2")];
    assert_eq!(breach.bindings, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
}

#[test]
fn numbers_of_instances_that_cannot_be_counted_are_refused() {
    let mut model = interpreter(RULESETS).model().as_ref().clone();
    let parameters = &mut model.rules[0].parameters;
    *parameters = std::iter::repeat_n(parameters[0].clone(), 41).collect();
    let refused = Interpreter::new(Arc::new(model)).expect_err("3 to the 41st is beyond 64 bits");
    assert_eq!(refused, Unrunnable::TooManyInstances("step".to_owned()));
}
