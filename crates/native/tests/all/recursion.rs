//! Functions that call themselves, and rules with priorities.

use crate::differential::explore;
use crate::support::Both;
use murphi::check::{Options, Reading};
use murphi::machine::{Check, Outcome, Successors};

fn options() -> Options {
    Options { reading: Reading::Whole, ..Options::default() }
}

/// The outcomes of the start states, and the value of the last variable, a byte, after the first.
fn started(text: &str, options: &Options) -> (Vec<Outcome>, i64) {
    let mut both = Both::of("recursion.m", text, options);
    let started: Successors = both.start();
    let at = both.interpreter.layout().globals.last().copied().expect("there are variables");
    let slot = started.state(0)[at as usize];
    (started.firings.iter().map(|firing| firing.outcome).collect(), i64::from(slot) - 1)
}

#[test]
fn a_function_calls_itself_with_its_own_parameters_and_variables() {
    let text = "
        type N: 0..200;
        var x: N;
        function sum(n: N): N; var below: N; begin
          if n = 0 then return 0; end;
          below := sum(n - 1);
          return below + n;
        end;
        function even(n: N): boolean; begin if n = 0 then return true; end; return odd(n - 1); end;
        function odd(n: N): boolean; begin if n = 0 then return false; end; return even(n - 1); end;
        startstate begin x := sum(10); if even(x) then x := 1; elsif odd(x) then x := x + 1; end; end;
        rule true ==> begin end;";
    assert_eq!(started(text, &options()), (vec![Outcome::Done], 56));
}

#[test]
fn references_and_large_locals_of_each_call_are_its_own() {
    let text = "
        type N: 0..40; T: array [0..2000] of N;
        var t: T; x: N;
        procedure fill(n: N; var out: T); var mine: T; begin
          for i: 0..2000 do mine[i] := n; end;
          if n > 0 then fill(n - 1, out); end;
          for i: 0..2000 do if mine[i] != n then error \"overwritten\"; end; end;
          out[n] := mine[n];
        end;
        startstate begin clear t; fill(30, t); x := t[30]; end;
        rule true ==> begin end;";
    assert_eq!(started(text, &options()), (vec![Outcome::Done], 30));
}

#[test]
fn more_open_calls_than_the_limit_are_an_error_and_as_many_are_none() {
    let text = |depth: u64| {
        format!(
            "const D: {depth};
            type N: 0..D;
            var x: 0..1;
            procedure down(n: N); begin if n > 0 then down(n - 1); end; end;
            startstate begin down(D); x := 1; end;
            rule true ==> begin end;"
        )
    };
    for limit in [1, 2, 33, 1000, 10_000] {
        let options = Options { call_limit: limit, ..options() };
        assert_eq!(started(&text(limit - 1), &options).0, [Outcome::Done], "{limit}");
        assert_eq!(started(&text(limit), &options).0, [Outcome::Failed], "{limit}");
    }
}

#[test]
fn calls_are_counted_anew_after_what_fails_or_is_excluded() {
    let text = "
        type N: 0..5; P: scalarset(3);
        var x: N; t: array [P] of boolean;
        function deep(n: N): boolean; begin
          assume n != 4;
          if n > 0 then return deep(n - 1); end;
          return true;
        end;
        startstate begin x := 3; for p: P do t[p] := true; end; end;
        rule \"fine\" deep(x) ==> begin x := 3; end;
        rule \"excluded\" exists p: P do t[p] & deep(4) end ==> begin x := 4; end;
        rule \"fails\" deep(5) ==> begin x := 5; end;
        invariant \"always\" deep(3);";
    let mut both = Both::of("recursion.m", text, &Options { call_limit: 4, ..options() });
    let first = both.start();
    for _ in 0..3 {
        let next = both.expand(first.state(0));
        let outcomes: Vec<Outcome> = next.firings.iter().map(|firing| firing.outcome).collect();
        assert_eq!(outcomes, [Outcome::Done, Outcome::Excluded, Outcome::Excluded]);
        assert_eq!(both.check(first.state(0)), Check::Holds);
    }
}

#[test]
fn in_each_state_only_the_rules_with_the_least_number_fire() {
    let text = "
        var x: 0..9;
        ruleset n: 0..1 do startstate begin x := n; end; end;
        rule 7 \"last\" true ==> begin x := 7; end;
        rule 3 \"second\" x = 0 ==> begin x := 3; end;
        ruleset n: 4..6 do rule 3 \"also second\" x = 0 ==> begin x := n; end; end;
        rule \"first\" x = 3 ==> begin x := 0; end;
        rule 1 \"an error in a condition\" x = 1 & 1 / (x - 1) = 0 ==> begin x := 9; end;
        rule 8 \"an error that is not reached\" true ==> begin x := 10; end;";
    let mut both = Both::of("priorities.m", text, &options());
    let start = both.start();
    let fired = |batch: &Successors| -> Vec<(u32, Outcome)> {
        batch.firings.iter().map(|firing| (firing.rule, firing.outcome)).collect()
    };
    let zero = both.expand(start.state(0));
    let done = Outcome::Done;
    assert_eq!(fired(&zero), [(1, done), (2, done), (2, done), (2, done)]);
    let three = both.expand(zero.state(0));
    assert_eq!(fired(&three), [(3, done)]);
    let one = both.expand(start.state(1));
    assert_eq!(fired(&one), [(0, done), (4, Outcome::GuardFailed)]);
}

/// CMurphi 5.4.9 visits 51 states of this program, and 192 without the numbers.
#[test]
fn a_program_with_priorities_has_as_many_states_as_in_cmurphi() {
    let text = "
        type P: 1..3;
        var a: array [P] of 0..3; t: 0..2;
        startstate begin for i: P do a[i] := 0; end; t := 0; end;
        ruleset i: P do
          rule 2 \"step\" a[i] < 3 ==> begin a[i] := a[i] + 1; end;
          rule 1 \"both\" a[i] = 2 & t < 2 ==> begin t := t + 1; a[i] := 3; end;
        end;
        rule \"urgent\" a[1] = 3 & t > 0 ==> begin t := t - 1; a[1] := 0; end;
        rule 5 \"reset\" true ==> begin a[2] := 0; end;";
    let states = |text: &str| explore(&mut Both::of("priorities.m", text, &options()), 1000);
    assert_eq!(states(text), 51);
    let without = ["rule 1", "rule 2", "rule 5"];
    let without = without.iter().fold(text.to_owned(), |text, rule| text.replace(rule, "rule"));
    assert_eq!(states(&without), 192);
}
