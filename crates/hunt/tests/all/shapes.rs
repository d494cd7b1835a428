//! Shapes: equal for traces that differ in names only, and called as litmus tests are called.

use history::parse_text;
use tribunal_hunt::{name, shape};

fn shape_of(text: &str) -> String {
    shape(&parse_text(text).unwrap())
}

fn name_of(text: &str) -> String {
    name(&parse_text(text).unwrap())
}

#[test]
fn names_of_threads_places_and_values_do_not_matter() {
    let one = "0: x := 1\n0: y := 1\n1: y == 1\n1: x == 0";
    let other = "init M[77] == 3\n9: M[5] == 4\n9: M[77] == 3\n2: M[77] := 8\n2: M[5] := 4";
    assert_eq!(shape_of(one), "Wa1 Wb1 | Rb1 Ra0");
    assert_eq!(shape_of(one), shape_of(other));
}

#[test]
fn what_differs_in_more_than_names_has_another_shape() {
    let traces = [
        "0: x := 1\n0: y == 0\n1: y := 1\n1: x == 0",
        "0: x := 1\n0: sync\n0: y == 0\n1: y := 1\n1: x == 0",
        "0: x := 1\n0: fence w,r\n0: y == 0\n1: y := 1\n1: x == 0",
        "0: x := 1\n0: y == 0\n1: <y == 0; y := 1>\n1: x == 0",
        "0: x := 1\n0: x == 0\n1: y := 1\n1: y == 0",
        "0: x := 1\n0: x := 2\nfinal x == 1",
        "0: x := 1\n0: x := 2\nfinal x == 2",
        "0: x := 1\n0: x := 2\n0: x := 3\norder x: 2 < 1",
        "0: x == 1 as a\n0: y := 1 dep a\n1: y == 1\n1: x := 1",
        "0: x == 1\n0: y := 1\n1: y == 1\n1: x := 1",
    ];
    let mut shapes: Vec<String> = traces.iter().map(|text| shape_of(text)).collect();
    shapes.sort_unstable();
    shapes.dedup();
    assert_eq!(shapes.len(), traces.len(), "{shapes:#?}");
}

/// All orders of the threads of a litmus test, and all of the names of its places, are one shape.
#[test]
fn every_renaming_of_a_litmus_test_has_its_shape() {
    let threads = [
        "{0}: {x} := 1",
        "{1}: {x} == 1\n{1}: {y} == 0",
        "{2}: {y} := 1",
        "{3}: {y} == 1\n{3}: {x} == 0",
    ];
    let text = threads.join("\n");
    let mut shapes = Vec::new();
    for (a, b, c, d) in [(0, 1, 2, 3), (3, 2, 1, 0), (1, 3, 0, 2), (9, 4, 7, 1), (2, 0, 3, 1)] {
        for (x, y) in [("x", "y"), ("y", "x"), ("M[8]", "M[4]")] {
            let mut renamed = text.clone();
            for (from, to) in [("{0}", a), ("{1}", b), ("{2}", c), ("{3}", d)] {
                renamed = renamed.replace(from, &to.to_string());
            }
            shapes.push(shape_of(&renamed.replace("{x}", x).replace("{y}", y)));
        }
    }
    shapes.dedup();
    assert_eq!(shapes.len(), 1, "{shapes:?}");
    assert_eq!(
        name_of(
            &text
                .replace("{0}", "0")
                .replace("{1}", "1")
                .replace("{2}", "2")
                .replace("{3}", "3")
                .replace("{x}", "x")
                .replace("{y}", "y")
        ),
        "IRIW"
    );
}

#[test]
fn classical_shapes_have_their_names() {
    for (text, name) in [
        ("0: x := 1\n0: y == 0\n1: y := 1\n1: x == 0", "SB"),
        ("0: x := 1\n0: sync\n0: y == 0\n1: y := 1\n1: sync\n1: x == 0", "SB+mfences"),
        ("0: x == 1\n0: y := 1\n1: y == 1\n1: x := 1", "LB"),
        ("0: x := 1\n0: y := 1\n1: y := 2\n1: x == 0\nfinal y == 2", "R"),
        ("0: x := 1\n0: y := 2\n1: y := 1\n1: x := 2\nfinal x == 1\nfinal y == 1", "2+2W"),
        ("0: x := 1\n1: x == 1\n1: x == 0", "CoRR"),
        ("0: x := 1\n0: x == 0", "CoWR"),
        ("0: x := 1\n0: x := 2\nfinal x == 1", "CoWW"),
        ("0: <x == 0; x := 1>\n1: <x == 0; x := 2>", "lost-update"),
        ("0: x := 1\n0: x := 2\n1: x == 2\n1: x == 1", "WW+RR"),
    ] {
        assert_eq!(name_of(text), name, "{text}");
    }
}
