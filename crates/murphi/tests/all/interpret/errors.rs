//! Every way to fail at run time, with its words and the text it points at.

use tribunal_murphi::diagnostic::Severity;
use tribunal_murphi::interpret::RuntimeErrorKind::{self, *};

use super::failure;

/// Fails like this, saying that, about this piece of the source.
fn fails(declarations: &str, body: &str, kind: RuntimeErrorKind, message: &str, about: &str) {
    let (error, underlined) = failure(declarations, body);
    let found = (error.kind, error.message.as_str(), underlined.as_str());
    assert_eq!(found, (kind, message, about), "{body}");
}

#[test]
fn reading_an_undefined_variable() {
    let declarations = "type p: scalarset(2); var a: array [p] of record b: 0..3; end; x: 0..3;";
    let body = "for i: p do x := a[i].b + 1; end;";
    fails(declarations, body, Undefined, "`a[p_1].b` is undefined", "a[i].b");
    fails("var x: 0..3;", "if x = 1 then return; end;", Undefined, "`x` is undefined", "x");
}

#[test]
fn an_index_that_is_undefined() {
    let declarations = "var a: array [0..3] of boolean; i: 0..3;";
    fails(declarations, "a[i] := true;", Undefined, "`i` is undefined", "i");
}

#[test]
fn an_index_outside_the_index_type() {
    let declarations = "var a: array [0..4] of 0..9; i: 0..9;";
    let body = "i := 4; a[i + 1] := 0;";
    fails(declarations, body, IndexOutside, "index 5 is outside 0..4", "i + 1");
}

#[test]
fn assigning_a_value_outside_the_type() {
    let body = "x := 4; x := x + 1;";
    fails("var x: 0..4;", body, ValueOutside, "value 5 is outside 0..4", "x + 1");
}

#[test]
fn passing_a_value_outside_the_type_of_the_parameter() {
    let declarations = "var x: 0..9; procedure p(a: 0..4); begin end;";
    fails(declarations, "x := 7; p(x);", ValueOutside, "value 7 is outside 0..4", "x");
}

#[test]
fn returning_a_value_outside_the_type_of_the_result() {
    let declarations = "var x: 0..9; function f(): 0..4; begin return x; end;";
    fails(declarations, "x := 7; x := f();", ValueOutside, "value 7 is outside 0..4", "x");
}

#[test]
fn using_a_union_value_as_one_of_another_type() {
    let declarations = "type p: scalarset(2); h: enum { home }; u: union { p, h };
        var x: u; y: h;";
    let body = "for i: p do x := i; end; y := x;";
    fails(declarations, body, NotAMember, "p_2 is not a value of h", "x");
}

#[test]
fn dividing_by_zero() {
    let declarations = "var x: 0..9;";
    fails(declarations, "x := 0; x := 7 / x;", DivisionByZero, "7 / 0 divides by zero", "7 / x");
    fails(declarations, "x := 0; x := 7 % x;", DivisionByZero, "7 % 0 divides by zero", "7 % x");
}

#[test]
fn results_that_do_not_fit_in_64_bits() {
    let big = "4611686018427387904";
    let declarations = format!("var x: 0..{big};");
    let check = |expression: &str, message: &str| {
        let body = format!("x := {big}; x := {expression};");
        fails(&declarations, &body, Overflow, message, expression);
    };
    check("x + x", &format!("{big} + {big} does not fit in 64 bits"));
    check("x * 2", &format!("{big} * 2 does not fit in 64 bits"));
    check("0 - x - x - x", &format!("-9223372036854775808 - {big} does not fit in 64 bits"));
    let body = format!("x := {big}; x := -(0 - x - x);");
    fails(
        &declarations,
        &body,
        Overflow,
        "-(-9223372036854775808) does not fit in 64 bits",
        "-(0 - x - x)",
    );
    let body = format!("x := {big}; x := (0 - x - x) / (0 - 1);");
    let (error, _) = failure(&declarations, &body);
    assert_eq!(error.message, "-9223372036854775808 / -1 does not fit in 64 bits");
}

#[test]
fn the_error_statement() {
    let error = "error \"this cannot be\"";
    fails("var x: 0..1;", &format!("{error};"), ErrorStatement, "this cannot be", error);
}

#[test]
fn an_assertion_that_does_not_hold() {
    let declarations = "var x: 0..1;";
    let (error, _) = failure(declarations, "x := 0; assert x = 1 \"x is one\";");
    assert_eq!(
        (error.kind, error.message.as_str()),
        (AssertionFailed, "assertion failed: x is one")
    );
    let (error, _) = failure(declarations, "x := 0; assert x = 1;");
    assert_eq!((error.kind, error.message.as_str()), (AssertionFailed, "assertion failed"));
}

#[test]
fn adding_to_a_full_multiset() {
    let declarations = "var m: multiset [1] of 0..3; x: 0..3;";
    let (error, _) = failure(declarations, "x := 1; MultisetAdd(x, m); MultisetAdd(x, m);");
    let found = (error.kind, error.message.as_str());
    assert_eq!(found, (MultisetFull, "`m` is full: it already has 1 element"));
}

#[test]
fn a_range_with_step_zero() {
    let body = "x := 0; for i := 1 to 3 by x do end;";
    fails("var x: 0..3;", body, StepZero, "the range 1 to 3 by 0 never ends", "x");
}

#[test]
fn a_range_that_leads_away() {
    let body = "x := 1; for i := x to 3 by -1 do end;";
    let message = "the step -1 leads away from 3, beginning at 1";
    let (error, _) = failure("var x: 0..3;", body);
    assert_eq!((error.kind, error.message.as_str()), (StepLeadsAway, message));
}

#[test]
fn a_loop_with_too_many_rounds() {
    let (error, _) = failure("var x: 0..1;", "while true do x := 1; end;");
    assert_eq!(error.kind, LoopLimit);
    assert_eq!(error.message, "this loop has not ended after 1000 iterations");
}

#[test]
fn a_function_that_ends_without_return() {
    let declarations = "var x: 0..3;
        function f(): 0..3; begin if x = 1 then return 1; end; end;";
    let message = "function `f` ended without `return`";
    fails(declarations, "x := 0; x := f();", NoReturn, message, "f");
}

#[test]
fn an_error_names_the_functions_around_it_and_becomes_a_diagnostic() {
    let declarations = "var x: 0..3; a: array [0..3] of 0..3;
        function inner(i: 0..9): 0..3; begin return a[i]; end;
        function outer(): 0..3; begin return inner(x + 4); end;";
    let (error, underlined) = failure(declarations, "x := 1; x := outer();");
    assert_eq!(error.message, "index 5 is outside 0..3");
    assert_eq!(underlined, "i");
    let names: Vec<&str> = error.calls.iter().map(|call| call.function.as_str()).collect();
    assert_eq!(names, ["outer", "inner"]);
    let diagnostic = error.diagnostic();
    assert_eq!(diagnostic.severity, Severity::Error);
    assert_eq!(diagnostic.message, error.message);
    let related: Vec<&str> =
        diagnostic.related.iter().map(|(_, message)| message.as_str()).collect();
    assert_eq!(related, ["in `inner`, called here", "in `outer`, called here"]);
}
