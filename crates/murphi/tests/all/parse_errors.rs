//! What the parser says about texts that are no programs.

use tribunal_murphi::parse::parse;
use tribunal_murphi::source::Source;

fn source(text: &str) -> Source {
    Source { name: "m.m".to_string(), text: text.to_string() }
}

fn rendered(text: &str) -> String {
    let source = source(text);
    let (program, problems) = parse(&source);
    assert_eq!(program, None);
    problems.iter().map(|problem| problem.render(&source, false)).collect()
}

/// Each problem as `line:column message` and, after a bar, what to do.
fn brief(text: &str) -> Vec<String> {
    let source = source(text);
    let brief = parse(&source).1.into_iter().map(|problem| {
        let (line, column) = source.position(problem.span.start);
        let help = problem.help.map(|help| format!(" | {help}")).unwrap_or_default();
        format!("{line}:{column} {}{help}", problem.message)
    });
    brief.collect()
}

#[test]
fn a_wrong_word_is_underlined_and_the_right_one_named() {
    let text = "rule \"r\"\n  x = 1 ==>\nbegin\n  if x = 1 do\n    y := 2;\n  end;\nend;\n";
    assert_eq!(
        rendered(text),
        "\
error: expected `then`, found `do`
 --> m.m:4:12
  |
4 |   if x = 1 do
  |            ^^
"
    );
}

#[test]
fn several_errors_are_reported_in_one_run() {
    assert_eq!(
        rendered("rule begin\n  x = 1;\n  y := 2\n  z := 3;\nend;\n"),
        "\
error: expected `:=`, found `=`
 --> m.m:2:5
  |
2 |   x = 1;
  |     ^
  = help: assignment is written `:=`; `=` compares
error: expected `;`, found `z`
 --> m.m:4:3
  |
4 |   z := 3;
  |   ^
note: a `;` is missing after this
 --> m.m:3:8
  |
3 |   y := 2
  |        -
"
    );
}

#[test]
fn a_missing_end_is_traced_back_by_its_indentation() {
    let text = "rule begin\n  if a then\n    x := 1;\nend;\n\nrule begin\nend;\n";
    assert_eq!(
        rendered(text),
        "\
error: expected `end` or `endrule`, found `rule`
 --> m.m:6:1
  |
6 | rule begin
  | ^^^^
note: this `rule` is not closed
 --> m.m:1:1
  |
1 | rule begin
  | ----
note: the `end` of this `if` may be missing
 --> m.m:2:3
  |
2 |   if a then
  |   --
note: it was closed by this `end`, which is indented less
 --> m.m:4:1
  |
4 | end;
  | ---
"
    );
}

#[test]
fn else_if_is_explained_when_an_end_is_missing() {
    let text = "rule begin\n  if a then x := 1\n  else if b then y := 1 end;\nend;\n";
    assert_eq!(
        rendered(text),
        "\
error: expected `end` or `endrule`, found the end of the file
 --> m.m:4:5
  |
4 | end;
  |     ^
note: this `rule` is not closed
 --> m.m:1:1
  |
1 | rule begin
  | ----
note: `else if` starts a new `if` that needs its own `end`; `elsif` does not
 --> m.m:3:3
  |
3 |   else if b then y := 1 end;
  |   -------
"
    );
}

#[test]
fn slips_in_statements() {
    for (text, expected) in [
        ("x := ;", "1:11 expected an expression, found `;`"),
        ("y := (1 + 2;", "1:17 expected `)`, found `;`"),
        ("z := a[1, 2];", "1:14 expected `]`, found `,` | write `a[i][j]` for `a[i, j]`"),
        ("p(a b);", "1:10 expected `,` or `)`, found `b`"),
        ("if then x := 1; end", "1:9 expected an expression, found `then`"),
        ("if a x := 1; end", "1:11 expected `then`, found `x`"),
        (
            "for i in T do end",
            "1:12 expected `:` or `:=`, found `in` | a bound variable ranges over a type: `x: T`",
        ),
        (
            "for i: T, j: U do end",
            "1:14 expected `;`, found `,` | quantifiers are separated by `;`",
        ),
        ("while x then end", "1:14 expected `do`, found `then`"),
        (
            "f(x).y := 3;",
            "1:10 the result of a call cannot be indexed or selected from | name the result first: `alias x: f(…) do … end`",
        ),
        ("x += 1", "1:8 expected `:=`, found `+` | write `x := x + 1` for `x += 1`"),
        ("x: T; y := 1", "1:7 expected `:=`, found `:` | declarations come before `begin`"),
        (
            "begin y := 1; begin z := 1",
            "1:20 expected a statement, found `begin` | `begin` comes once, after the declarations and before the statements",
        ),
        (
            "x := 1; var y: T; y := 1",
            "1:14 expected a statement, found `var` | declarations come before `begin`",
        ),
        (
            "if a then x := 1 elseif b then y := 1 end",
            "1:23 expected `;`, found `elseif` | write `elsif`",
        ),
        (
            "if a then else x := 1; else y := 1; end",
            "1:29 expected `end`, found `else` | nothing but `end` can follow `else`",
        ),
        ("for i: T do x := 1; endif", "1:26 expected `end` or `endfor`, found `endif`"),
        (
            "switch x do case 1: end",
            "1:15 expected `case`, found `do` | `case` directly follows the value",
        ),
        ("switch x case 1; y := 1 end", "1:21 expected `,` or `:`, found `;`"),
        ("alias a: x, b: y do end", "1:16 expected `;`, found `,` | aliases are separated by `;`"),
        ("error x", "1:12 expected a string in quotes, found `x`"),
        ("clear 1", "1:12 expected a name, found `1`"),
        ("y := 1 // one", "1:14 expected an expression, found `/` | comments begin with `--`"),
        ("// one", "1:6 expected a statement, found `/` | comments begin with `--`"),
        ("{ y := 1", "1:6 expected a statement, found `{` | blocks are closed by `end`"),
        ("y := 'a", "1:11 unexpected character `'` | strings are quoted with `\"`"),
        (
            "y := größe",
            "1:11 `größe` is not a name | names are made of the letters a to z, digits and `_`, a letter first",
        ),
        (
            "_y := 1",
            "1:6 `_y` is not a name | names are made of the letters a to z, digits and `_`, a letter first",
        ),
        (
            "y := 9223372036854775808",
            "1:11 the number `9223372036854775808` is too large | the largest is 2^63 - 1",
        ),
        ("MultisetAdd(a)", "1:19 expected `,`, found `)`"),
        ("MultisetRemovePred(i, m)", "1:26 expected `:`, found `,`"),
    ] {
        let text = format!("rule {text}\nend;");
        assert_eq!(brief(&text)[0], expected, "{text}");
    }
}

#[test]
fn one_slip_gives_one_message() {
    for text in [
        "rule if a x := 1; end; y := 2; end;",
        "rule if a = then x := 1; elsif b then y := 1 end; end;",
        "rule for i in T do x := 1; if y then z := 1; end; end; end;",
        "rule x := forall i: T do ) end; y := 2; end; rule end;",
        "rule x = = 1 ==> y := 1; end; invariant z;",
        "rule \"r\" x = 1 begin y := 1; end; rule end;",
        "rule switch x case 1; y := 1; case 2: z := 1; else end; end;",
        "ruleset i: T do rule x ==> begin y := 1; end; end; end; rule end;",
        "function if(x: T): T; var y: T; begin return x; end; rule end;",
        "function f(x: T, y: U): T; var z: T; begin return x; end; rule end;",
        "function f(x T): T; var y: T; begin return x; end; rule end;",
        "procedure p x: T); begin y := 1; end;",
        "invariant forall i: T do (x end; invariant y;",
        "type T: record a: T; b = U; c: array [T] of T; end; U: T;",
        "type E: enum { a b c d };",
        "var to: boolean; x: T; rule end;",
        "var x: T = 1; y: U; rule end;",
        "x := 1; rule end;",
        "rule x := €; end;",
        "rule /* end",
        "alias a: do rule end; end; rule end;",
        "invariant a and b; rule end;",
    ] {
        assert_eq!(brief(text).len(), 1, "{text}\n{:?}", brief(text));
    }
}

#[test]
fn slips_at_the_top_level() {
    for (text, expected) in [
        (
            "x := 1;",
            "1:1 expected a declaration, function or rule, found `x` | variables are declared after `var`, and statements are part of rules",
        ),
        ("rule end; end;", "1:11 this `end` closes nothing"),
        (
            "begin end",
            "1:1 expected a declaration, function or rule, found `begin` | is the header of a rule or function missing?",
        ),
        ("rule \"r\" x = 1 begin end", "1:16 expected `==>`, found `begin`"),
        (
            "rule \"r\" ==> end",
            "1:10 expected a condition, found `==>` | without a condition, leave out `==>`",
        ),
        ("rule var x: T; y := 1; end", "1:16 expected `begin` after the declarations, found `y`"),
        ("rule x ==> y := 1 invariant z", "1:19 expected `end` or `endrule`, found `invariant`"),
        ("rule \"r\nend", "1:6 this string is not closed | end it with `\"` on the same line"),
        ("rule /* r", "1:6 this comment is not closed | end it with `*/`"),
        (
            "var to: T",
            "1:5 expected a name, found the keyword `to` | choose another name; keywords are not case-sensitive",
        ),
        (
            "var x = 3;",
            "1:7 expected `:`, found `=` | a variable gets its initial value in a `startstate`",
        ),
        (
            "var x: T := 3;",
            "1:10 expected `;`, found `:=` | a variable gets its initial value in a `startstate`",
        ),
        ("var x T;", "1:7 expected `:`, found `T`"),
        ("var x: ;", "1:8 expected a type, found `;`"),
        ("var : T;", "1:5 this declaration has no names | write a name before the `:`"),
        ("const N = 3;", "1:9 expected `:`, found `=` | write `name: value`"),
        ("type T: 0 to 3;", "1:11 expected `..`, found `to`"),
        (
            "type T: enum { a b };",
            "1:18 expected `,` or `}`, found `b` | members of an enumeration are separated by `,`",
        ),
        ("type T: array [U] V;", "1:19 expected `of`, found `V`"),
        ("type T: array U of V;", "1:15 expected `[`, found `U`"),
        (
            "function f(x: T, y: U): T; end",
            "1:16 expected `;`, found `,` | parameters of different types are separated by `;`",
        ),
        (
            "pctl [x until <= 3 y] > 0.5;",
            "1:1 `pctl` properties are not supported | properties are `invariant`, `assume`, `cover` and `liveness`",
        ),
        ("ruleset i: T rule end end", "1:14 expected `do`, found `rule`"),
        ("startstate x := 1", "1:18 expected `end` or `endstartstate`, found the end of the file"),
        ("rule € end", "1:6 unexpected character `€`"),
    ] {
        assert_eq!(brief(text), [expected], "{text}");
    }
}

#[test]
fn slips_in_expressions() {
    for (text, expected) in [
        ("a = b = c", "1:17 comparisons do not chain | write `a < b & b < c`, or use parentheses"),
        (
            "a -> b -> c",
            "1:18 `->` does not chain | use parentheses: `a -> (b -> c)` or `(a -> b) -> c`",
        ),
        ("a ? b : c ? d : e", "1:21 `?:` does not chain | use parentheses: `a ? b : (c ? d : e)`"),
        ("a ? b", "1:16 expected `:`, found the end of the file"),
        ("x = undefined", "1:15 `undefined` cannot be an operand | test with `isundefined(x)`"),
        ("a and b", "1:13 expected `;`, found `and` | conjunction is written `&`"),
        ("a <> b", "1:14 expected an expression, found `>` | inequality is written `!=`"),
        (
            "a => b",
            "1:14 expected an expression, found `>` | a guard is followed by `==>`, and implication is written `->`",
        ),
        ("a := b", "1:13 expected `;`, found `:=` | values are compared with `=`; `:=` assigns"),
        ("not a", "1:15 expected `;`, found `a` | negation is written `!`"),
        (
            "a ==> b",
            "1:13 expected `;`, found `==>` | `==>` belongs to a rule; implication is written `->`",
        ),
        (
            "f(x)[1]",
            "1:15 the result of a call cannot be indexed or selected from | name the result first: `alias x: f(…) do … end`",
        ),
        ("isundefined(1)", "1:23 expected a name, found `1`"),
        ("forall i do a end", "1:20 expected `:` or `:=`, found `do`"),
        ("forall i: T a end", "1:23 expected `do`, found `a`"),
        ("forall i: T do a", "1:27 expected `end` or `endforall`, found the end of the file"),
        ("\"a\" ", "1:14 expected an expression, found the end of the file"),
        ("(a", "1:13 expected `)`, found the end of the file"),
        ("ismember(a)", "1:21 expected `,`, found `)`"),
    ] {
        assert_eq!(brief(&format!("invariant {text}")), [expected], "{text}");
    }
}

#[test]
fn after_fifty_errors_the_parser_gives_up() {
    let text = format!("rule {} end", "x := ; ".repeat(1000));
    let problems = brief(&text);
    assert_eq!(problems.len(), 51);
    assert!(problems[50].ends_with("more than 50 errors; the rest is not shown"));

    let problems = brief(&"# x ".repeat(1000));
    assert_eq!(problems.len(), 51);
    assert!(problems[50].ends_with("more than 50 errors; the rest is not shown"));
}
