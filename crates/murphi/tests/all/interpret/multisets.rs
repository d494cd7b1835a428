//! What the operations on multisets mean.

use tribunal_murphi::interpret::{End, Interpreter, RuntimeErrorKind};

use super::{after, interpreter, truth};

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

/// Where two elements are chosen from 3, 4 and 5 in a multiset of four, and their aliases `a`
/// and `b` are used.
fn choosing(body: &str) -> Interpreter {
    interpreter(&format!(
        "var m: multiset [4] of 0..9; x: 0..9; c: 0..9;
         procedure touch(var e: 0..9); begin e := 9; end;
         procedure drop_all(var e: 0..9); begin MultisetRemovePred(k: m, true); e := 9; end;
         startstate begin {} undefine x; c := 0; end;
         choose i: m do choose j: m do alias a: m[i] do alias b: m[j] do
           rule \"take\" begin {body} end;
         end; end; end; end;",
        with(&[3, 4, 5])
    ))
}

/// What the rule does to the elements at two positions.
fn taking(interpreter: &Interpreter, one: u64, other: u64) -> End {
    let End::Done(state) = interpreter.start(0, 0).end else { panic!("it starts") };
    interpreter.run_rule(&state, 0, one * 4 + other).end
}

fn listed(interpreter: &Interpreter, end: End) -> Vec<String> {
    let End::Done(state) = end else { panic!("{end:?}") };
    let lines = state.listing(interpreter.model()).into_iter();
    lines.map(|(path, value)| format!("{path} = {value}")).collect()
}

fn error(end: End) -> (RuntimeErrorKind, String) {
    let End::Failed(error) = end else { panic!("{end:?}") };
    (error.kind, error.message)
}

#[test]
fn two_removals_remove_the_two_elements_that_were_chosen() {
    let model = choosing("if i != j then MultisetRemove(i, m); MultisetRemove(j, m); end;");
    for (one, other, left) in [(0, 1, 5), (1, 0, 5), (0, 2, 4), (2, 0, 4), (1, 2, 3), (2, 1, 3)] {
        assert_eq!(listed(&model, taking(&model, one, other))[0], format!("m{{0}} = {left}"));
    }
}

#[test]
fn an_alias_of_another_element_still_names_it_after_a_removal() {
    let model = choosing("MultisetRemove(i, m); x := b; b := 7; c := m[j];");
    let lines = listed(&model, taking(&model, 0, 2));
    assert_eq!(lines, ["m{0} = 4", "m{1} = 7", "x = 5", "c = 7"]);
}

#[test]
fn an_element_that_was_removed_is_not_used_again() {
    let gone = (RuntimeErrorKind::PositionEmpty, "`m{1}` has been removed from its multiset");
    let uses = [
        "x := a;",
        "x := m[i];",
        "a := 1;",
        "undefine a;",
        "if isundefined(a) then x := 1; end;",
        "touch(a);",
        "MultisetRemove(i, m);",
        "MultisetAdd(a, m);",
        "alias e: a do x := 1; end;",
        "MultisetAdd(c, m); MultisetAdd(c, m); x := a;",
    ];
    for use_of_it in uses {
        let model = choosing(&format!("MultisetRemove(i, m); {use_of_it}"));
        let (kind, message) = error(taking(&model, 1, 0));
        assert_eq!((kind, message.as_str()), gone, "{use_of_it}");
    }
    let model = choosing("drop_all(a);");
    assert_eq!(error(taking(&model, 1, 0)), (gone.0, gone.1.to_owned()));
}

#[test]
fn filters_and_comparisons_pass_over_gaps() {
    let model = choosing(
        "MultisetRemove(i, m); c := MultisetCount(k: m, m[k] > 3);
         MultisetRemovePred(k: m, m[k] = 5);",
    );
    let lines = listed(&model, taking(&model, 1, 0));
    assert_eq!(lines, ["m{0} = 3", "x = undefined", "c = 1"]);
    let bags = "type bag: multiset [3] of 0..9; var m: bag; n: bag; x: 0..9; same: boolean;";
    let add = "x := 1; MultisetAdd(x, m); x := 2; MultisetAdd(x, m); MultisetAdd(x, n);";
    let remove = "MultisetRemovePred(k: m, m[k] = 1); same := m = n;";
    assert!(truth(bags, &format!("{add} {remove}"), "same & m = n"));
}

#[test]
fn what_is_added_after_a_removal_has_a_position_of_its_own() {
    // There is one room left for the first; the second takes the room of what was removed.
    let model = choosing(
        "MultisetRemove(i, m); MultisetAdd(c, m); c := 1; MultisetAdd(c, m);
         x := MultisetCount(k: m, k != i & k != j); c := m[j];",
    );
    for (one, other) in [(0, 1), (1, 0), (0, 2), (2, 1)] {
        let lines = listed(&model, taking(&model, one, other));
        assert_eq!(lines.len(), 6, "{lines:?}");
        assert_eq!(lines[4..], ["x = 3".to_owned(), format!("c = {}", other + 3)]);
    }
    let model = choosing("MultisetRemove(i, m); for k: 0..2 do MultisetAdd(c, m); end;");
    let full = "`m` is full: it already has 4 elements".to_owned();
    assert_eq!(error(taking(&model, 0, 0)), (RuntimeErrorKind::MultisetFull, full));
    // What was added can be removed again, and its room be used again.
    let model = choosing(
        "MultisetRemove(i, m);
         for k: 0..5 do
           MultisetAdd(c, m); x := k; MultisetAdd(x, m); MultisetRemovePred(e: m, m[e] = 0);
           MultisetRemovePred(e: m, m[e] = k);
         end;",
    );
    let lines = listed(&model, taking(&model, 1, 0));
    assert_eq!(lines, ["m = empty", "x = 5", "c = 0"]);
}

#[test]
fn a_copy_of_a_multiset_keeps_the_positions_of_its_elements() {
    let model = interpreter(
        "type bag: multiset [3] of 0..9; var m: bag; n: bag; x: 0..9;
         startstate begin for k: 0..2 do x := k + 3; MultisetAdd(x, m); end; end;
         choose i: m do choose j: m do
           rule \"copy\" begin MultisetRemove(i, m); n := m; x := n[j]; end;
         end; end;",
    );
    let End::Done(state) = model.start(0, 0).end else { panic!("it starts") };
    let lines = listed(&model, model.run_rule(&state, 0, 2).end);
    assert_eq!(lines, ["m{0} = 4", "m{1} = 5", "n{0} = 4", "n{1} = 5", "x = 5"]);
    let (kind, message) = error(model.run_rule(&state, 0, 4).end);
    assert_eq!(kind, RuntimeErrorKind::PositionEmpty);
    assert_eq!(message, "`n{1}` has been removed from its multiset");
}
