//! What the operations on multisets mean.

use tribunal_murphi::interpret::{End, Interpreter, RuntimeErrorKind};

use crate::{after, interpreter, truth};

const BAG: &str = "var m: multiset [4] of 0..9; x: 0..9; c: 0..9;";

/// Statements that add these numbers to `m`.
fn with(numbers: &[i64]) -> String {
    let mut body = String::from("undefine m;");
    for number in numbers {
        body += &format!(" x := {number}; MultisetAdd(x, m);");
    }
    body
}

#[test]
fn elements_are_added_at_the_end() {
    assert_eq!(after(BAG, &with(&[3, 1]))[..2], ["m{0} = 3", "m{1} = 1"]);
}

#[test]
fn elements_are_counted_by_a_condition() {
    let body = with(&[3, 1, 4, 1]) + " c := MultisetCount(i: m, m[i] = 1);";
    assert!(after(BAG, &body).contains(&"c = 2".to_owned()));
}

#[test]
fn all_elements_that_satisfy_a_condition_are_removed_and_the_others_keep_their_order() {
    let body = with(&[3, 1, 4, 1]) + " MultisetRemovePred(i: m, m[i] = 1);";
    assert_eq!(after(BAG, &body)[..2], ["m{0} = 3", "m{1} = 4"]);
}

#[test]
fn clearing_and_undefining_a_multiset_empties_it() {
    assert_eq!(after(BAG, &(with(&[3, 1]) + " clear m;"))[0], "m = empty");
    assert_eq!(after(BAG, &(with(&[3, 1]) + " undefine m;"))[0], "m = empty");
}

#[test]
fn multisets_are_compared_without_regard_to_order() {
    let bags = "type bag: multiset [3] of 0..9; var m: bag; n: bag; x: 0..9;";
    let add = |numbers: &[i64], bag: &str| -> String {
        let add = numbers.iter().map(|n| format!("x := {n}; MultisetAdd(x, {bag}); "));
        add.collect()
    };
    assert!(truth(bags, &(add(&[1, 2], "m") + &add(&[2, 1], "n")), "m = n"));
    assert!(truth(bags, &(add(&[1, 1, 2], "m") + &add(&[2, 2, 1], "n")), "m != n"));
}

#[test]
fn elements_are_copied_whole_with_their_undefined_components() {
    let declarations = "type r: record a: 0..3; b: 0..3; end; var m: multiset [2] of r; x: r;";
    let lines = after(declarations, "x.a := 1; MultisetAdd(x, m); x.a := 2;");
    assert_eq!(lines[0], "m{0} = {a: 1, b: undefined}");
}

#[test]
fn an_alias_stands_for_a_position_and_fails_when_there_is_no_element_any_more() {
    let model = |body: &str| {
        interpreter(&format!(
            "var m: multiset [2] of 0..9; x: 0..9;
             startstate begin x := 3; MultisetAdd(x, m); x := 4; MultisetAdd(x, m); end;
             choose i: m do alias e: m[i] do rule \"take\" begin {body} end; end; end;"
        ))
    };
    let run = |interpreter: &Interpreter, instance: u64| {
        let End::Done(state) = interpreter.start(0, 0).end else { panic!("it starts") };
        interpreter.run_rule(&state, 0, instance).end
    };
    let taking = model("MultisetRemove(i, m); x := e;");
    let End::Done(state) = run(&taking, 0) else { panic!("the other element moved up") };
    assert_eq!(state.listing(taking.model())[1].1, "4");
    let End::Failed(error) = run(&taking, 1) else { panic!("there is no other element") };
    assert_eq!(error.kind, RuntimeErrorKind::PositionEmpty);
    assert_eq!(error.message, "`m{1}` has been removed from its multiset");
}
