//! What expressions mean.

use super::{after, integer, truth};

#[test]
fn division_is_towards_zero_and_the_remainder_has_the_sign_of_the_left() {
    assert_eq!(integer("7 / 2"), "3");
    assert_eq!(integer("(-7) / 2"), "-3");
    assert_eq!(integer("(-7) % 2"), "-1");
    assert_eq!(integer("7 % (-2)"), "1");
}

#[test]
fn multiplication_binds_tighter_than_addition() {
    assert_eq!(integer("2 + 3 * 4 - 1"), "13");
}

#[test]
fn the_conditional_evaluates_only_the_branch_it_takes() {
    assert_eq!(integer("true ? 1 : 1 / 0"), "1");
    assert_eq!(integer("false ? 1 / 0 : 2"), "2");
}

#[test]
fn conjunction_disjunction_and_implication_stop_when_they_are_decided() {
    let undefined = "var b: boolean;";
    assert!(!truth(undefined, "", "false & b"));
    assert!(truth(undefined, "", "true | b"));
    assert!(truth(undefined, "", "false -> b"));
}

#[test]
fn quantifiers_stop_at_the_first_value_that_decides() {
    let array = "var a: array [0..3] of boolean;";
    let known = "a[0] := true; a[1] := false;";
    assert!(!truth(array, known, "forall i: 0..3 do a[i] end"));
    assert!(truth(array, known, "exists i: 0..3 do !a[i] end"));
}

#[test]
fn quantifiers_go_through_ranges_with_steps() {
    assert!(truth("", "", "exists i := 1 to 9 by 4 do i = 9 end"));
    assert!(!truth("", "", "exists i := 1 to 8 by 4 do i = 8 end"));
    assert!(truth("", "", "forall i := 1 to 0 do false end"));
    assert!(truth("", "", "exists i := 3 to 1 by -1 do i = 2 end"));
}

#[test]
fn enumerations_are_ordered_by_their_declaration_and_compare_by_member() {
    let colours = "var c: enum { red, green, blue };";
    assert!(truth(colours, "c := green;", "c = green & c != red"));
}

#[test]
fn records_are_compared_component_by_component_with_undefined_ones() {
    let records = "type r: record a: 0..3; b: 0..3; end; var x: r; y: r;";
    assert!(truth(records, "x.a := 1; y.a := 1;", "x = y"));
    assert!(truth(records, "x.a := 1; y.a := 1; y.b := 0;", "x != y"));
    assert!(truth(records, "", "x = y"));
}

#[test]
fn being_undefined_can_be_asked_without_an_error() {
    let x = "var x: 0..3;";
    assert!(truth(x, "", "isundefined(x)"));
    assert!(!truth(x, "x := 0;", "isundefined(x)"));
}

const NODES: &str = "type
  proc: scalarset(2);
  home: enum { directory, memory };
  node: union { proc, home };
var n: node; h: home; p: array [proc] of boolean;";

#[test]
fn a_union_value_belongs_to_one_member() {
    assert!(truth(NODES, "n := memory;", "ismember(n, home) & !ismember(n, proc)"));
    assert!(truth(NODES, "for i: proc do n := i; end;", "ismember(n, proc)"));
}

#[test]
fn values_are_converted_between_a_union_and_its_members() {
    let lines = after(NODES, "n := memory; h := n;");
    assert_eq!(lines[..2], ["n = memory", "h = memory"]);
    assert!(truth(NODES, "n := memory; h := memory;", "n = h"));
    assert!(truth(NODES, "n := directory; h := memory;", "n != h"));
}

#[test]
fn an_array_over_a_union_has_an_element_for_each_value() {
    let array = format!("{NODES} a: array [node] of 0..9;");
    let lines = after(&array, "for i: proc do a[i] := 1; end; a[memory] := 2;");
    let elements = ["a[proc_1] = 1", "a[proc_2] = 1", "a[directory] = undefined", "a[memory] = 2"];
    assert_eq!(lines[4..], elements);
}

#[test]
fn arrays_start_at_the_first_index_of_their_type() {
    let lines = after("var a: array [-1..1] of 5..7;", "for i: -1..1 do a[i] := 6 + i; end;");
    assert_eq!(lines, ["a[-1] = 5", "a[0] = 6", "a[1] = 7"]);
}

#[test]
fn functions_get_undefined_arguments_as_they_are() {
    let function = "function known(x: 0..3): boolean; begin return !isundefined(x); end;";
    let declarations = format!("var u: 0..3; r: boolean; {function}");
    assert_eq!(after(&declarations, "r := known(u);")[1], "r = false");
    assert_eq!(after(&declarations, "r := known(undefined);")[1], "r = false");
    assert_eq!(after(&declarations, "r := known(2);")[1], "r = true");
}

#[test]
fn operands_are_evaluated_from_left_to_right() {
    let declarations = "var log: 0..999; r: 0..9;
      function note(digit: 0..9): 0..9;
      begin log := log * 10 + digit; return digit; end;";
    let lines = after(declarations, "log := 0; r := note(1) + note(2) * note(3);");
    assert_eq!(lines, ["log = 123", "r = 7"]);
}

#[test]
fn bits_are_those_of_64_bit_integers_and_what_is_shifted_out_is_dropped() {
    let declarations = "var x: -8..8; r: boolean;";
    for condition in [
        "~x = -6",
        "(x ^ 3) = 6",
        "(x << 2) = 20",
        "(x >> 1) = 2",
        "((-x) >> 1) = -3",
        "(x << -1) = 2",
        "(x >> -1) = 10",
        "(x << 64) = 0",
        "((-x) >> 64) = 0",
        "(1 << 63) < 0",
    ] {
        let lines = after(declarations, &format!("x := 5; r := {condition};"));
        assert_eq!(lines[1], "r = true", "{condition}");
    }
}
