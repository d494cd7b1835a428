//! The language: what is read, what it means, and what is refused at which place.

use tribunal_cat::{Answer, CatModel, shipped_models, solve};

/// Whether a model allows store buffering, message passing and a read of an own store.
fn allows(model: &str, trace: &str) -> bool {
    let model = CatModel::from_text("m.cat", model).unwrap_or_else(|error| panic!("{error}"));
    let history = history::parse_text(trace).expect("the trace is well-formed");
    matches!(solve(&model, &history, |effort| effort.evaluations < 100_000), Answer::Consistent(_))
}

const STORE_BUFFERING: &str = "0: M[x] := 1\n0: M[y] == 0\n1: M[y] := 1\n1: M[x] == 0";
const MESSAGE_PASSING: &str = "0: M[x] := 1\n0: M[y] := 1\n1: M[y] == 1\n1: M[x] == 0";

#[test]
fn every_shipped_model_is_read() {
    assert!(shipped_models().len() >= 8);
    for name in shipped_models() {
        assert!(CatModel::shipped(name).is_some_and(|model| model.axioms().len() > 0), "{name}");
    }
}

#[test]
fn difference_binds_tighter_than_sequence_and_union_is_loosest() {
    // `[W] ; po \ po-loc` keeps only pairs of different addresses.
    let model = "let kept = [W] ; po \\ po-loc ; [W] | [R] ; po ; [R]
                 acyclic kept | rf | co | fr";
    assert!(!allows(model, MESSAGE_PASSING));
    assert!(allows(model, STORE_BUFFERING));
}

#[test]
fn a_star_is_a_product_before_an_operand_and_a_closure_elsewhere() {
    let model =
        "let kept = po & (W * W | R * R) let all = (kept | rf | co | fr)* acyclic all \\ id";
    assert!(!allows(model, MESSAGE_PASSING));
    assert!(allows(model, STORE_BUFFERING));
}

#[test]
fn recursion_is_the_least_solution() {
    let model = "let rec before = po | rf | co | fr | before ; before irreflexive before as sc";
    assert!(!allows(model, STORE_BUFFERING));
    assert!(allows(model, "0: M[x] := 1\n1: M[x] == 1"));
    // Two relations and a set that are defined by each other.
    let model =
        "let rec a = [S] ; po | b and b = rf | a ; b and S = W | range(a) acyclic a | co | fr";
    assert!(!allows(model, MESSAGE_PASSING));
}

#[test]
fn functions_see_what_was_defined_before_them() {
    let model = "let kept = po let f(r) = r | kept let kept = 0 acyclic f(rf | co) | fr";
    assert!(!allows(model, STORE_BUFFERING));
}

#[test]
fn what_prints_is_passed_over_and_what_is_tried_may_be_missing() {
    let model = "X86 TSO
        include \"cos.cat\"
        let mfence = try fencerel(MFENCE) with 0
        let odd = try fencerel(NO.SUCH.FENCE) with 0
        show mfence, odd
        show po \\ id as order
        flag ~empty odd as strange
        acyclic po | rf | co | fr as sc";
    assert!(!allows(model, STORE_BUFFERING));
}

#[test]
fn old_names_of_filters_and_fences_can_be_included() {
    let model = "include \"filters.cat\" include \"x86fences.cat\"
        acyclic WW(po) | RM(po) | mfence | rfe | co | fr";
    assert!(allows(model, STORE_BUFFERING));
    assert!(!allows(model, MESSAGE_PASSING));
    let fenced = STORE_BUFFERING
        .replace("0: M[y]", "0: sync\n0: M[y]")
        .replace("1: M[x]", "1: sync\n1: M[x]");
    assert!(!allows(model, &fenced));
}

#[test]
fn a_negated_condition_asks_for_the_opposite() {
    assert!(allows("~empty rf as something-is-read acyclic po-loc | rf", MESSAGE_PASSING));
    assert!(!allows("~empty rf & int as own-read acyclic po-loc | rf", MESSAGE_PASSING));
}

#[test]
fn mistakes_are_reported_at_their_place() {
    let cases = [
        ("acyclic po | R", "m.cat:1:14: expected a relation, found a set"),
        ("let a = W ; R\nacyclic a", "m.cat:1:9: expected a relation, found a set"),
        ("acyclic [po]", "m.cat:1:10: expected a set, found a relation"),
        ("let a = po", "m.cat:1:1: this model has no condition, so it would allow every execution"),
        ("acyclic po |", "m.cat:1:13: expected a set or a relation, found the end of the file"),
        ("acyclic (po", "m.cat:1:12: expected `)`, found the end of the file"),
        (
            "let rec a = po \\ a acyclic a",
            "m.cat:1:18: a recursive definition may not negate or subtract what it defines",
        ),
        ("let f(x) = x acyclic f", "m.cat:1:22: `f` is a function; it needs arguments in brackets"),
        ("let f(x) = x acyclic f(po, rf)", "m.cat:1:22: `f` takes 1 arguments, not 2"),
        ("acyclic po rf", "m.cat:1:9: `po` is not a function"),
        (
            "include \"nowhere.cat\" acyclic po",
            "m.cat:1:9: the included file `nowhere.cat` does not exist",
        ),
        ("if \"variant\" acyclic po end", "m.cat:1:1: conditions on variants are not supported"),
        ("enum e = 'a || 'b", "m.cat:1:1: enumerations are not supported"),
        (
            "with gmo from linearisations(M, po) acyclic gmo",
            "m.cat:1:15: only `with co from generate_cos(…)` is supported",
        ),
    ];
    for (text, expected) in cases {
        let error = CatModel::from_text("m.cat", text).expect_err(text);
        assert_eq!(error.to_string(), expected, "{text}");
    }
}

#[test]
fn long_and_deep_models_are_read_or_refused() {
    let wide = format!("acyclic po{}", " | po".repeat(10_000));
    assert!(CatModel::from_text("m.cat", &wide).is_ok());
    let deep = format!("acyclic {}po{}", "(".repeat(100_000), ")".repeat(100_000));
    let error = CatModel::from_text("m.cat", &deep).expect_err("it is too deep");
    assert!(error.to_string().contains("levels deep"), "{error}");
    let mut doubling = String::from("let f0(x) = x | x\n");
    for level in 1..60 {
        let before = level - 1;
        doubling += &format!("let f{level}(x) = f{before}(f{before}(x))\n");
    }
    let error =
        CatModel::from_text("m.cat", &(doubling + "acyclic f59(po)")).expect_err("it explodes");
    assert!(
        error.to_string().contains("expand too far") || error.to_string().contains("levels"),
        "{error}"
    );
}

/// Published files begin with a licence; the title says the architecture, which counts where accesses are
/// of mixed sizes.
#[test]
fn a_title_may_stand_behind_a_comment() {
    let reaches = |head: &str| {
        let text = format!("{head}\nacyclic po | rf | co | fr");
        CatModel::from_text("my.cat", &text).unwrap().own_steps_reach_reads()
    };
    assert!(!reaches("AArch64 \"a model\""));
    assert!(!reaches("(* A licence. *)\n\nAArch64 \"a model\""));
    assert!(!reaches("(* A licence. *)\n\"ARMv8 AArch64\""));
    assert!(reaches("(* AArch64 *)\nRISCV \"a model\""));
    assert!(reaches(""));
}
