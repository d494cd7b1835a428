//! What may be done with something undefined, kind by kind and construct by construct: the table of
//! docs/murphi.md. Each case was tried with CMurphi 5.4.9. Native code and the reference interpreter
//! must agree about each of them.

use crate::support::Both;
use murphi::check::{Dialect, Options, Reading};
use murphi::machine::Outcome;

/// Variables that nothing is assigned to, and functions of them. `p` is a member of S.
const DECLARATIONS: &str = "
    type S: scalarset(2); E: enum { A, B }; U: union { S, E }; R: 0..2;
      Rec: record s: S; u: U; e: E; r: R; b: boolean; end;
    var s, s2: S; u, u2: U; e, e2: E; r: R; b: boolean; rec, rec2: Rec; at: array [S] of S;
      by_s: array [S] of boolean; by_u: array [U] of boolean; by_e: array [E] of boolean;
      ms: multiset [2] of S; mu: multiset [2] of U; me: multiset [2] of E; mr: multiset [2] of R;
      mb: multiset [2] of boolean; mrec: multiset [2] of Rec; yes: boolean; out: 0..9;
    function fs(x: S): S; begin return x; end;
    function fu(x: U): U; begin return x; end;
    function fe(x: E): E; begin return x; end;
    function fr(x: R): R; begin return x; end;
    function fb(x: boolean): boolean; begin return x; end;
    function us(x: S): R; begin if isundefined(x) then return 1; else return 2; end; end;
    function uu(x: U): R; begin if isundefined(x) then return 1; else return 2; end; end;
    function ue(x: E): R; begin if isundefined(x) then return 1; else return 2; end; end;
    function ur(x: R): R; begin if isundefined(x) then return 1; else return 2; end; end;
    function ub(x: boolean): R; begin if isundefined(x) then return 1; else return 2; end; end;
    procedure vs(var x: S); begin if isundefined(x) then out := 1; else out := 2; end; end;
    procedure ve(var x: E); begin if isundefined(x) then out := 1; else out := 2; end; end;";

/// What a case comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comes {
    /// `out` is 1: the condition is true, what was looked at is undefined.
    True,
    /// `out` is 2.
    False,
    /// A run-time error.
    Error,
}
use Comes::{Error, False, True};

/// Runs a statement with `p` bound to each member of S.
fn run(statement: &str, dialect: Dialect, reading: Reading) -> Comes {
    let text = format!(
        "{DECLARATIONS}
        ruleset p: S do startstate begin
          yes := true; out := 0; undefine ms; undefine mu; undefine me; undefine mr; undefine mb;
          undefine mrec;
          {statement}
        end; end;
        rule true ==> begin end;"
    );
    let options = Options { dialect, reading, ..Options::default() };
    let mut both = Both::of("undefined.m", &text, &options);
    let started = both.start();
    let out = both.interpreter.layout().globals.last().copied().expect("`out` is the last");
    let ends = started.firings.iter().enumerate().map(|(number, firing)| match firing.outcome {
        // A slot holds one more than the number.
        Outcome::Done if started.state(number)[out as usize] == 2 => True,
        Outcome::Done => False,
        _ => Error,
    });
    let ends: Vec<Comes> = ends.collect();
    assert!(ends.iter().all(|end| *end == ends[0]), "{statement}: {ends:?}");
    ends[0]
}

fn require(cases: &[(&str, Comes)]) {
    for &(statement, expected) in cases {
        let found = run(statement, Dialect::CMurphi, Reading::Whole);
        assert_eq!(found, expected, "{statement}");
    }
}

/// `if condition then out := 1; else out := 2; end;` for each.
fn require_conditions(cases: &[(&str, Comes)]) {
    for &(condition, expected) in cases {
        let statement = format!("if {condition} then out := 1; else out := 2; end;");
        require(&[(&statement, expected)]);
    }
}

#[test]
fn comparing() {
    require_conditions(&[
        ("s = s", True),
        ("s != s", False),
        ("s = s2", True),
        ("s = p", False),
        ("p = s", False),
        ("s != p", True),
        ("u = u", True),
        ("u != u2", False),
        ("u = p", False),
        ("u = A", False),
        ("u != A", True),
        ("u = s", True),
        ("e = e", Error),
        ("e = A", Error),
        ("A != e", Error),
        ("u = e", Error),
        ("r = r", Error),
        ("r = 1", Error),
        ("r < 1", Error),
        ("b = b", Error),
        ("b", Error),
        ("b & false", Error),
        ("false & b", False),
    ]);
    require(&[
        ("u := p; if u = s then out := 1; else out := 2; end;", False),
        ("u := A; if u = s then out := 1; else out := 2; end;", False),
        ("u := A; if u = e then out := 1; else out := 2; end;", Error),
        ("e := A; if u = e then out := 1; else out := 2; end;", False),
        ("s := p; undefine s; if s = p then out := 1; else out := 2; end;", False),
    ]);
}

#[test]
fn comparing_what_is_part_of_something_or_computed() {
    require_conditions(&[
        ("rec.s = p", False),
        ("rec.e = A", Error),
        ("at[p] = p", False),
        ("(yes ? s : p) = p", False),
        ("(yes ? p : s) = p", True),
        ("fs(s) = fs(s)", True),
        ("fs(s) != p", True),
        ("fu(u) = A", False),
        ("fe(e) = A", Error),
        ("forall q: S do s != q end", True),
        ("exists q: S do s = q end", False),
        ("exists q: S do e = A end", Error),
        ("rec = rec2", True),
        ("isundefined(s) & isundefined(e) & isundefined(rec.b)", True),
    ]);
    require(&[
        ("alias x: s do if x = p then out := 1; else out := 2; end; end;", False),
        ("alias x: e do if x = A then out := 1; else out := 2; end; end;", Error),
        ("out := 2; for q: S do if s = q then out := 1; end; end;", False),
        ("while s = p do out := 1; end; out := 2;", False),
        ("assert s != p; out := 1;", True),
        ("assert e != A; out := 1;", Error),
    ]);
}

#[test]
fn switching_and_membership() {
    require(&[
        ("switch s case p: out := 1; else out := 2; end;", False),
        ("switch s case s2: out := 1; else out := 2; end;", True),
        ("switch p case s: out := 1; else out := 2; end;", False),
        ("switch u case A: out := 1; else out := 2; end;", False),
        ("switch u case u2: out := 1; else out := 2; end;", True),
        ("switch e case A: out := 1; else out := 2; end;", Error),
        ("switch r case 1: out := 1; else out := 2; end;", Error),
        ("switch b case true: out := 1; else out := 2; end;", Error),
    ]);
    require_conditions(&[
        ("ismember(u, S)", False),
        ("ismember(u, E)", False),
        ("ismember(s, S)", False),
    ]);
}

#[test]
fn indexing() {
    require(&[
        ("by_s[s] := true; out := 1;", Error),
        ("by_u[u] := true; out := 1;", Error),
        ("by_e[e] := true; out := 1;", Error),
        ("by_s[fs(s)] := true; out := 1;", Error),
        ("by_s[yes ? s : p] := true; out := 1;", Error),
        ("by_u[s] := true; out := 1;", Error),
        ("by_s[p] := true; by_s[s2] := by_s[p]; out := 1;", Error),
    ]);
    require_conditions(&[("by_s[s]", Error), ("at[s] = p", Error), ("at[at[p]] = p", Error)]);
}

#[test]
fn copying() {
    let copied = |name: &str, value: &str| {
        format!("{name} := {value}; if isundefined({name}) then out := 1; else out := 2; end;")
    };
    let cases = [
        ("rec.s", "s", True),
        ("rec.u", "u", True),
        ("rec.e", "e", True),
        ("rec.r", "r", True),
        ("rec.b", "b", True),
        ("u", "s", True),
        ("s", "u", True),
        ("u", "e", True),
        ("e", "u", True),
        ("rec.s", "fs(s)", True),
        ("rec.u", "fu(u)", True),
        ("rec.e", "fe(e)", True),
        ("rec.r", "fr(r)", Error),
        ("rec.b", "fb(b)", Error),
        ("u", "fs(s)", True),
        ("rec.s", "yes ? s : p", True),
    ];
    for (name, value, expected) in cases {
        require(&[(&copied(name, value), expected)]);
    }
    require(&[(
        "rec2 := rec; if isundefined(rec2.e) & isundefined(rec2.s) then out := 1; end;",
        True,
    )]);
}

#[test]
fn passing() {
    require(&[
        ("out := us(s);", True),
        ("out := uu(u);", True),
        ("out := ue(e);", True),
        ("out := ur(r);", True),
        ("out := ub(b);", True),
        ("out := us(fs(s));", True),
        ("out := ue(fe(e));", True),
        ("out := uu(s);", True),
        ("out := us(u);", True),
        ("out := uu(e);", Error),
        ("out := ue(u);", True),
        ("out := us(yes ? s : s2);", True),
        ("out := us(undefined);", True),
        ("vs(s);", True),
        ("ve(e);", True),
        ("put s; put u; put e; put r; put b; put rec; out := 1;", True),
    ]);
}

#[test]
fn adding_to_multisets() {
    let counted = |statement: &str, count: &str| {
        format!("{statement} if MultisetCount({count}) = 1 then out := 1; else out := 2; end;")
    };
    let cases = [
        ("MultisetAdd(s, ms);", "i: ms, true", True),
        ("MultisetAdd(u, mu);", "i: mu, true", True),
        ("MultisetAdd(e, me);", "i: me, true", True),
        ("MultisetAdd(r, mr);", "i: mr, true", Error),
        ("MultisetAdd(b, mb);", "i: mb, true", Error),
        ("MultisetAdd(rec, mrec);", "i: mrec, true", True),
        ("MultisetAdd(s, ms);", "i: ms, ms[i] != p", True),
        ("MultisetAdd(rec, mrec);", "i: mrec, mrec[i].s = s", True),
        ("MultisetAdd(rec, mrec);", "i: mrec, mrec[i].e = A", Error),
        ("MultisetAdd(e, me);", "i: me, me[i] = A", Error),
    ];
    for (statement, count, expected) in cases {
        require(&[(&counted(statement, count), expected)]);
    }
}

/// Rumur takes neither unions nor multisets; the rest was tried with Rumur 2022.08.20.
#[test]
fn the_dialect_of_rumur_and_the_strict_reading_read_nothing_undefined() {
    let compared = [
        "if s = s2 then out := 1; else out := 2; end;",
        "if s != p then out := 1; else out := 2; end;",
        "if u = A then out := 1; else out := 2; end;",
        "if ismember(u, S) then out := 1; else out := 2; end;",
        "switch s case p: out := 1; else out := 2; end;",
        "rec.s := fs(s); out := 1;",
        "rec.s := (yes ? s : p); out := 1;",
        "MultisetAdd(s, ms); out := 1;",
        "if exists q: S do s = q end then out := 1; else out := 2; end;",
    ];
    for statement in compared {
        assert_eq!(run(statement, Dialect::Rumur, Reading::Whole), Error, "{statement}");
        assert_eq!(run(statement, Dialect::CMurphi, Reading::Strict), Error, "{statement}");
        assert_ne!(run(statement, Dialect::CMurphi, Reading::Whole), Error, "{statement}");
    }
    let copied = "rec.s := s; if isundefined(rec.s) then out := 1; else out := 2; end;";
    assert_eq!(run(copied, Dialect::Rumur, Reading::Whole), Error);
    assert_eq!(run(copied, Dialect::CMurphi, Reading::Strict), True);
    let passed = [
        "out := us(s);",
        "out := ue(e);",
        "vs(s);",
        "put s; out := 1;",
        "rec2 := rec; out := 1;",
        "if rec = rec2 then out := 1; else out := 2; end;",
    ];
    for statement in passed {
        assert_eq!(run(statement, Dialect::Rumur, Reading::Whole), True, "{statement}");
    }
}
