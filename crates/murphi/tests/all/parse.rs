//! What the parser takes: every variant of the syntax that CMurphi or Rumur accept.
//!
//! Each row is a text and how the printer writes it back, so a row shows how the text was read.

use std::path::Path;

use tribunal_murphi::ast::Program;
use tribunal_murphi::parse::{NESTING, parse};
use tribunal_murphi::print::print;
use tribunal_murphi::source::Source;

fn source(text: &str) -> Source {
    Source { name: "m.m".to_string(), text: text.to_string() }
}

fn read(text: &str) -> Program {
    let source = source(text);
    let (program, problems) = parse(&source);
    let problems: String = problems.iter().map(|one| one.render(&source, false)).collect();
    assert_eq!(problems, "", "in\n{text}");
    program.expect("there are no problems")
}

/// The program in the form of the printer, its lines joined.
fn printed(text: &str) -> String {
    let text = print(&read(text));
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The tree without its spans.
fn shape(program: &Program) -> String {
    let mut shape = String::new();
    let text = format!("{program:?}");
    let mut rest = text.as_str();
    while let Some(at) = rest.find("Span { start: ") {
        shape.push_str(&rest[..at]);
        rest = &rest[at..];
        rest = &rest[rest.find('}').expect("a span is closed") + 1..];
    }
    shape + rest
}

/// How an expression is read: as a guard, with all the parentheses the printer needs.
fn expression(text: &str) -> String {
    let text = printed(&format!("invariant {text}"));
    text.trim_start_matches("invariant ").trim_end_matches(';').to_string()
}

#[track_caller]
fn same(one: &str, other: &str) {
    assert_eq!(printed(one), printed(other), "{one}\n{other}");
}

#[test]
fn declarations() {
    for (text, expected) in [
        ("const N: 3;", "const N: 3;"),
        ("const N: 3 M: N + 1", "const N: 3; M: N + 1;"),
        ("const A, B,: 0x1F;", "const A, B: 31;"),
        ("CONST Log: 1; in: 2; until: 3;", "const Log: 1; in: 2; until: 3;"),
        ("type T: boolean; type U: BOOLEAN;", "type T: boolean; U: boolean;"),
        ("type T: 0..N-1; U: -1 .. (a ? 1 : 2)", "type T: 0..N - 1; U: -1..a ? 1 : 2;"),
        ("type E: enum { a, b, };", "type E: enum { a, b };"),
        ("type E: enum {};", "type E: enum { };"),
        ("type S: Scalarset(N);", "type S: scalarset(N);"),
        (
            "type U: union{S, E, enum{c}, scalarset(2)};",
            "type U: union { S, E, enum { c }, scalarset(2) };",
        ),
        ("type M: multiset[N] of T;", "type M: multiset [N] of T;"),
        ("type R: real(4, 99);", "type R: real(4, 99);"),
        (
            "type A: array[T] of array [0..1] of boolean",
            "type A: array [T] of array [0..1] of boolean;",
        ),
        ("type R: record a, b: T; c: 0..3 end", "type R: record a, b: T; c: 0..3; end;"),
        ("type R: Record a: T b: U EndRecord;", "type R: record a: T; b: U; end;"),
        ("type R: record end;", "type R: record end;"),
        (
            "type union: T; multiset: T; real: U; var x: union; y: multiset; z: real;",
            "type union: T; multiset: T; real: U; var x: union; y: multiset; z: real;",
        ),
        (
            "var x, y: T; cover: boolean; choose, assume: T",
            "var x, y: T; cover: boolean; choose, assume: T;",
        ),
        ("var x: T const N: 1 var y: T", "var x: T; const N: 1; var y: T;"),
        ("", ""),
        (";;", ""),
    ] {
        assert_eq!(printed(text), expected);
    }
}

#[test]
fn functions_and_procedures() {
    for (text, expected) in [
        ("function f(): T; begin return 1; end;", "function f(): T; begin return 1; end;"),
        (
            "function f(x: T; var y, z: U;): T; var l: T; begin end;",
            "function f(x: T; var y, z: U): T; var l: T; begin end;",
        ),
        ("procedure p(); x := 1 endprocedure;", "procedure p(); begin x := 1; end;"),
        (
            "procedure p(x: T y: U) var z: T z := x end",
            "procedure p(x: T; y: U); var z: T; begin z := x; end;",
        ),
        (
            "function f(): T return 1; endprocedure function g() end",
            "function f(): T; begin return 1; end; procedure g(); begin end;",
        ),
        ("procedure p(): T; begin end;", "function p(): T; begin end;"),
        (
            "externfun f(x: T): U \"f.h\"; externproc p() ;",
            "externfun f(x: T): U \"f.h\"; externproc p();",
        ),
        (
            "var externfun: T; procedure externproc(); begin end;",
            "var externfun: T; procedure externproc(); begin end;",
        ),
    ] {
        assert_eq!(printed(text), expected);
    }
}

#[test]
fn rules() {
    for (text, expected) in [
        ("rule end", "rule begin end;"),
        ("rule x := 1; end", "rule begin x := 1; end;"),
        ("rule \"r\" begin x := 1 endrule", "rule \"r\" begin x := 1; end;"),
        ("rule x = 1 ==> end; rule end", "rule x = 1 ==> begin end; rule begin end;"),
        ("rule end rule x ==> end", "rule begin end; rule x ==> begin end;"),
        (
            "rule \"r\" x ⇒ var y: T; const z: 1; begin end",
            "rule \"r\" x ==> var y: T; const z: 1; begin end;",
        ),
        ("rule var y: T; begin end", "rule var y: T; begin end;"),
        ("rule 3 \"r\" x ==> end", "rule 3 \"r\" x ==> begin end;"),
        ("rule 3 x ==> end", "rule 3 x ==> begin end;"),
        ("rule 3 (x) ==> end", "rule 3 x ==> begin end;"),
        ("rule 3 = x ==> end", "rule (3 = x) ==> begin end;"),
        (
            "rule forall i := 0 to 3 do a[i] end ==> end",
            "rule forall i := 0 to 3 do a[i] end ==> begin end;",
        ),
        ("startstate x := 1 end", "startstate begin x := 1; end;"),
        (
            "Startstate \"s\" var i: T; Begin EndStartState;",
            "startstate \"s\" var i: T; begin end;",
        ),
        ("startstate “s” end", "startstate \"s\" begin end;"),
        (
            "ruleset i: T; j := 0 to 3 by 2 do rule end; end",
            "ruleset i: T; j := 0 to 3 by 2 do rule begin end; end;",
        ),
        ("ruleset i: 0..3 do endruleset", "ruleset i: 0..3 do end;"),
        ("ruleset i: T : rule end end", "ruleset i: T do rule begin end; end;"),
        (
            "alias a: x[1]; b: f(3); do rule end endalias",
            "alias a: x[1]; b: f(3) do rule begin end; end;",
        ),
        ("alias a: x b: y do end", "alias a: x; b: y do end;"),
        ("alias a, b: x do end", "alias a: x; b: x do end;"),
        ("choose m: net[n] do rule end endchoose", "choose m: net[n] do rule begin end; end;"),
        (
            "ruleset i: T do startstate end; invariant x; end;",
            "ruleset i: T do startstate begin end; invariant x; end;",
        ),
        (
            "rule end var x: T function f() end rule end",
            "rule begin end; var x: T; procedure f(); begin end; rule begin end;",
        ),
    ] {
        assert_eq!(printed(text), expected);
    }
}

#[test]
fn properties() {
    for (text, expected) in [
        ("invariant x", "invariant x;"),
        ("invariant \"i\" x;", "invariant \"i\" x;"),
        ("invariant x \"i\"", "invariant \"i\" x;"),
        ("assert \"i\" x", "invariant \"i\" x;"),
        ("assume x \"a\"", "assume \"a\" x;"),
        ("cover (x)", "cover x;"),
        ("liveness \"l\" x cover y invariant z", "liveness \"l\" x; cover y; invariant z;"),
        ("invariant x startstate end", "invariant x; startstate begin end;"),
    ] {
        assert_eq!(printed(text), expected);
    }
}

#[test]
fn statements() {
    for (text, expected) in [
        ("x := 1; y.z[3] ≔ 2;;", "x := 1; y.z[3] := 2;"),
        ("; x := 1", "x := 1;"),
        ("x := undefined; p(Undefined, 1)", "x := undefined; p(undefined, 1);"),
        ("if a then endif", "if a then end;"),
        (
            "if a then x := 1 elsif b then y := 2; else z := 3 end",
            "if a then x := 1; elsif b then y := 2; else z := 3; end;",
        ),
        (
            "switch x case 1, 2: y := 1 case 3: else z := 1 endswitch",
            "switch x case 1, 2: y := 1; case 3: else z := 1; end;",
        ),
        ("switch x end", "switch x end;"),
        (
            "switch x ? 1 : 2 case (a ? 1 : 2): case b ? 1 : 2: end",
            "switch x ? 1 : 2 case a ? 1 : 2: case b ? 1 : 2: end;",
        ),
        (
            "for i: T do end; for i := 1 to N by -1 do x := i endfor",
            "for i: T do end; for i := 1 to N by -1 do x := i; end;",
        ),
        ("for i: T; j: U do end", "for i: T; j: U do end;"),
        ("for i: T : x := 1 end", "for i: T do x := 1; end;"),
        ("while a do endwhile; while b : x := 1 end", "while a do end; while b do x := 1; end;"),
        ("alias a: x; b: y do a := b endalias", "alias a: x; b: y do a := b; end;"),
        ("alias a: x : end", "alias a: x do end;"),
        ("p(); q(a, b,)", "p(); q(a, b);"),
        ("return; return x + 1; return", "return; return x + 1; return;"),
        ("clear x; undefine x[1]; error \"e\"", "clear x; undefine x[1]; error \"e\";"),
        ("put \"a\\\"b\"; put x", "put \"a\\\"b\"; put x;"),
        ("assert x; assert x \"m\"; assert \"m\" x", "assert x; assert x \"m\"; assert x \"m\";"),
        (
            "assume x; cover \"c\" x; liveness x; invariant y",
            "assume x; cover x \"c\"; liveness x; assert y;",
        ),
        (
            "assume := 1; cover.x := 2; liveness[3] := 1",
            "assume := 1; cover.x := 2; liveness[3] := 1;",
        ),
        (
            "MULTISETADD(m, net[n]); MultisetRemove(i, net)",
            "MultisetAdd(m, net[n]); MultisetRemove(i, net);",
        ),
        ("multisetremovepred(i: net, net[i].x = 1)", "MultisetRemovePred(i: net, net[i].x = 1);"),
        ("-- comment\nx := 1 /* and\n another ** / */; y := 2 -- end", "x := 1; y := 2;"),
    ] {
        assert_eq!(
            printed(&format!("rule begin {text}\nend")),
            format!("rule begin {expected} end;")
        );
    }
}

#[test]
fn expressions_by_precedence() {
    for (text, expected) in [
        ("!a = b", "!a = b"),
        ("(!a) = b", "(!a) = b"),
        ("!(a = b)", "!a = b"),
        ("a = !b = c", "a = (!b = c)"),
        ("a + !b + c", "a + (!b + c)"),
        ("!a & b", "!a & b"),
        ("!(a & b)", "!(a & b)"),
        ("!!a", "! !a"),
        ("- -a", "- -a"),
        ("a - -1 - +2", "a - -1 - +2"),
        ("(a - b) - c", "a - b - c"),
        ("a - (b - c)", "a - (b - c)"),
        ("-a * b", "-a * b"),
        ("-(a * b)", "-(a * b)"),
        ("a * -b * c", "a * -b * c"),
        ("(a | b) & c | d & e", "(a | b) & c | d & e"),
        ("(a & b) | c", "a & b | c"),
        ("a & b -> c | d", "a & b -> c | d"),
        ("(a -> b) ? c : d -> e", "a -> b ? c : d -> e"),
        ("a ? b ? c : d : e", "a ? b ? c : d : e"),
        ("a ? b : (c ? d : e)", "a ? b : (c ? d : e)"),
        ("a || b && c | d", "a || b && c | d"),
        ("a && (b | c)", "a && b | c"),
        ("(a && b) | c", "(a && b) | c"),
        ("a ∧ b ∨ ¬c", "a && b || !c"),
        ("a == b", "a = b"),
        ("a ≤ b & c ≥ d & e ≠ f", "a <= b & c >= d & e != f"),
        ("a → b", "a -> b"),
        ("a × b ÷ c ∕ d − e", "a * b / c / d - e"),
        ("~x & 15 ^ y << 1 + 2 >> 3", "~x & 15 ^ y << 1 + 2 >> 3"),
        ("~-x * y", "~ -x * y"),
        ("(x & y) = 3", "(x & y) = 3"),
        ("1 + 2 * 3 % 4 / 5 < 6", "1 + 2 * 3 % 4 / 5 < 6"),
        ("a.b[c + 1].d[e][f]", "a.b[c + 1].d[e][f]"),
        ("TRUE & False", "true & false"),
        ("isundefined(a[1].b)", "isundefined(a[1].b)"),
        ("IsMember(a, T) | ismember(f(x), 0..3)", "ismember(a, T) | ismember(f(x), 0..3)"),
        ("multisetcount(i: m, m[i] = 1) > 0", "MultisetCount(i: m, m[i] = 1) > 0"),
        (
            "forall i: T do exists j := 0 to 3 do a[i] = j endexists endforall",
            "forall i: T do exists j := 0 to 3 do a[i] = j end end",
        ),
        ("∀ i: T do ∃ j: U do a end end", "forall i: T do exists j: U do a end end"),
        ("forall i: T; j: 0..1 : a end", "forall i: T; j: 0..1 do a end"),
        ("log(1.5) + in + undefinedx", "log(1.5) + in + undefinedx"),
        ("choose & cover & union[1]", "choose & cover & union[1]"),
    ] {
        assert_eq!(expression(text), expected, "{text}");
    }
}

#[test]
fn spans_cover_what_was_written() {
    let text = "rule \"r\" (a + b) * c = 1 ==> x := f(1) end;";
    let program = format!("{:?}", read(text));
    for piece in ["(a + b) * c = 1", "(a + b) * c", "(a + b)", "x := f(1)", "f(1)", "\"r\""] {
        let start = text.find(piece).expect("it is in the text");
        let span = format!("Span {{ start: {start}, end: {} }}", start + piece.len());
        assert!(program.contains(&span), "{piece}: {span}\n{program}");
    }
    assert!(program.contains(&format!("Span {{ start: 0, end: {} }}", text.len() - 1)));
}

#[test]
fn carriage_returns_and_a_byte_order_mark_are_blanks() {
    same("\u{FEFF}var x: T;\r\nrule\r\nend;\r\n", "var x: T; rule end;");
}

#[test]
fn long_chains_are_read_and_deep_nesting_is_refused() {
    for length in [2, 63, 64, 65, 66, 127, 128, 129, 4095, 100_000] {
        let program = read(&format!("invariant {}", vec!["x"; length].join(" & ")));
        assert_eq!(shape(&read(&print(&program))), shape(&program), "{length}");
    }

    let ends = "end ".repeat(5000);
    for deep in [
        format!("invariant {}x{}", "(".repeat(5000), ")".repeat(5000)),
        format!("invariant {}x", "!".repeat(5000)),
        format!("invariant {}", vec!["x"; 5000].join(" + ")),
        format!("invariant x{}", "[1]".repeat(5000)),
        format!("invariant {}x{}", "a[".repeat(5000), "]".repeat(5000)),
        format!("invariant {}x", "x ? 1 : (".repeat(5000)),
        format!("invariant {}x", "x ? ".repeat(5000)),
        format!("invariant {}x {ends}", "forall i: T do ".repeat(5000)),
        format!("rule {} {ends} end", "if x then ".repeat(5000)),
        format!("rule {} {ends} end", "switch x case 1: ".repeat(5000)),
        format!("{} {ends}", "ruleset i: T do ".repeat(5000)),
        format!("type T: {}", "array [T] of ".repeat(5000)),
        format!("type T: {} {ends}", "record a: ".repeat(5000)),
        format!("invariant forall {} i: T do x end", "i: T; ".repeat(5000)),
    ] {
        let (program, problems) = parse(&source(&deep));
        assert_eq!(program, None);
        let messages: Vec<&str> = problems.iter().map(|one| one.message.as_str()).collect();
        assert_eq!(messages, [format!("this is nested more than {NESTING} levels deep")]);
    }
}

#[test]
fn nesting_just_below_the_limit_is_fine() {
    let depth = NESTING as usize - 10;
    let open = "(a -> b || c && d | e ^ f & g = h << i + j * ";
    read(&format!("invariant {}x{}", open.repeat(15), ")".repeat(15)));
    read(&format!("invariant {}x{}", "(".repeat(depth), ")".repeat(depth)));
    read(&format!("rule {} {} end", "if x then ".repeat(depth), "end; ".repeat(depth)));
}

#[test]
fn our_protocols_survive_printing() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols");
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the folder is there") {
            let path = entry.expect("the folder is readable").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "m") {
                let text = std::fs::read_to_string(&path).expect("the file is text");
                let program = read(&text);
                assert_eq!(shape(&read(&print(&program))), shape(&program), "{}", path.display());
            }
        }
    }
}

#[test]
fn two_thousand_lines_take_little_time() {
    let rule = "rule \"r\" x[i].y = 1 & forall j: T do j != i -> !z[j] end ==>
begin
  x[i].y := f(x[i].y, 3) + 1;
  if a then
    clear z;
  end;
end;
";
    let text = rule.repeat(2000 / rule.lines().count());
    let start = std::time::Instant::now();
    let program = read(&text);
    let elapsed = start.elapsed();
    assert!(elapsed.as_millis() < 500, "{elapsed:?}");
    println!("{} rules in {elapsed:?}", program.items.len());
}

#[test]
fn signs_in_a_row_are_printed_without_nesting() {
    let text = format!("rule {}x = 0 ==> begin end;", "- ".repeat(150));
    assert_eq!(printed(&printed(&text)), printed(&text));
    assert_eq!(shape(&read(&printed(&text))), shape(&read(&text)));
}
