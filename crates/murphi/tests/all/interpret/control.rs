//! What statements mean.

use tribunal_murphi::interpret::End;

use super::{after, interpreter, start};

#[test]
fn everything_is_undefined_until_it_is_assigned() {
    let lines = after("var x: 0..3; b: boolean;", "b := true;");
    assert_eq!(lines, ["x = undefined", "b = true"]);
}

#[test]
fn clear_gives_the_least_value_and_undefine_takes_it_away() {
    let declarations = "var r: record a: 2..4; b: enum { first, second }; end; x: -2..2; y: 0..1;";
    let lines = after(declarations, "clear r; clear x; y := 1; undefine y;");
    assert_eq!(lines, ["r.a = 2", "r.b = first", "x = -2", "y = undefined"]);
}

#[test]
fn assigning_undefined_makes_undefined() {
    assert_eq!(after("var x: 0..3;", "x := 1; x := undefined;"), ["x = undefined"]);
}

#[test]
fn assigning_an_undefined_variable_copies_its_undefinedness() {
    assert_eq!(after("var x: 0..3; y: 0..3;", "x := 1; x := y;")[0], "x = undefined");
}

#[test]
fn records_and_arrays_are_copied_whole() {
    let declarations =
        "type a: array [0..1] of 0..3; r: record e: a; f: boolean; end; var x, y: r;";
    let lines = after(declarations, "x.e[1] := 2; y.f := true; y := x; x.e[1] := 0;");
    assert_eq!(lines[3..], ["y.e[0] = undefined", "y.e[1] = 2", "y.f = undefined"]);
}

#[test]
fn the_first_branch_that_holds_is_taken() {
    let body = "x := 1; if x = 0 then x := 5; elsif x = 1 then x := 6; elsif true then x := 7;
        else x := 8; end;";
    assert_eq!(after("var x: 0..9;", body), ["x = 6"]);
}

#[test]
fn a_switch_takes_the_first_case_with_an_equal_value() {
    let switch = "switch x case 1, 2: y := 10; case 2: y := 20; else y := 30; end;";
    for (x, y) in [(1, 10), (2, 10), (3, 30)] {
        let body = format!("x := {x}; {switch}");
        assert_eq!(after("var x: 0..9; y: 0..99;", &body)[1], format!("y = {y}"));
    }
}

#[test]
fn a_switch_without_a_matching_case_does_nothing() {
    let body = "x := 3; switch x case 1: x := 9; end;";
    assert_eq!(after("var x: 0..9;", body), ["x = 3"]);
}

#[test]
fn the_bounds_of_a_loop_are_fixed_before_its_first_round() {
    let body = "n := 3; c := 0; for i := 1 to n do n := 9; c := c + i; end;";
    assert_eq!(after("var n: 0..9; c: 0..99;", body), ["n = 9", "c = 6"]);
}

#[test]
fn loops_count_down_with_a_negative_step_and_may_be_empty() {
    let body = "log := 0; for i := 5 to 1 by -2 do log := log * 10 + i; end;
        for i := 5 to 1 do log := 0; end;";
    assert_eq!(after("var log: 0..999;", body), ["log = 531"]);
}

#[test]
fn a_loop_ends_at_the_greatest_integer() {
    let end = "9223372036854775806";
    let body = format!("c := 0; for i := {end} to {end} + 1 do c := c + 1; end;");
    assert_eq!(after("var c: 0..9;", &body), ["c = 2"]);
}

#[test]
fn while_repeats_as_long_as_its_condition_holds() {
    assert_eq!(after("var x: 0..9;", "x := 0; while x < 7 do x := x + 2; end;"), ["x = 8"]);
}

#[test]
fn an_alias_keeps_the_place_it_was_bound_to() {
    let declarations = "var a: array [0..2] of 0..9; i: 0..2;";
    let lines = after(declarations, "i := 1; alias e: a[i] do i := 2; e := 7; end;");
    assert_eq!(lines[..3], ["a[0] = undefined", "a[1] = 7", "a[2] = undefined"]);
}

#[test]
fn an_alias_of_an_expression_keeps_its_value() {
    let lines = after("var x: 0..9;", "x := 1; alias y: x + 1 do x := 5; x := y; end;");
    assert_eq!(lines, ["x = 2"]);
}

#[test]
fn var_parameters_are_the_callers_variables_and_others_are_copies() {
    let declarations = "type t: array [0..1] of 0..9; var x: t; y: t;
      procedure change(var a: t; b: t); begin a[0] := 8; a[1] := b[1]; end;";
    let lines = after(declarations, "x[1] := 1; y := x; change(x, x); change(y, x);");
    assert_eq!(lines, ["x[0] = 8", "x[1] = 1", "y[0] = 8", "y[1] = 1"]);
}

#[test]
fn the_indices_of_a_target_are_evaluated_before_the_value() {
    let declarations = "var a: array [0..3] of 0..9; i: 0..3;
      function next(): 0..9; begin i := i + 1; return i; end;";
    let lines = after(declarations, "i := 0; a[i] := next();");
    assert_eq!(lines[0], "a[0] = 1");
}

#[test]
fn return_leaves_loops_and_rules() {
    let declarations = "type i: 0..3; var x: i;
      function find(): i; begin for j: i do if j = 2 then return j; end; end; end;";
    assert_eq!(after(declarations, "x := find(); return; x := 0;"), ["x = 2"]);
}

#[test]
fn locals_are_undefined_at_each_entry() {
    let declarations = "var fresh: boolean;
      procedure once(); var l: 0..3; begin fresh := isundefined(l); l := 1; end;";
    assert_eq!(after(declarations, "once(); once();"), ["fresh = true"]);
}

#[test]
fn an_assumption_that_fails_excludes_the_state() {
    let (_, run) = start("var x: 0..3;", "x := 1; assume x = 2;");
    assert_eq!(run.end, End::Excluded);
}

#[test]
fn put_prints_texts_and_values_also_undefined_ones() {
    let declarations = "var x: 0..3; c: enum { red, green };";
    let (_, run) = start(declarations, "c := green; put \"c is \"; put c; put x; put 1 + 1;");
    assert_eq!(run.output, "c is greenundefined2");
}

#[test]
fn a_rule_without_a_guard_always_applies() {
    let interpreter = interpreter(
        "var x: 0..3;
         startstate begin x := 0; end;
         rule \"step\" begin x := (x + 1) % 4; end;",
    );
    let End::Done(state) = interpreter.start(0, 0).end else { panic!("it starts") };
    assert_eq!(interpreter.enabled(&state, 0, 0), Ok(true));
}
