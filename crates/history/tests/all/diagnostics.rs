//! What a person sees when a trace is wrong, to the letter.

use tribunal_history::{Format, InputError, ReadOptions, TraceReader, open, parse_text};

/// The diagnostic of the first error in a text.
fn complaint(input: impl AsRef<[u8]>, format: Format) -> InputError {
    let options = ReadOptions { format, ..ReadOptions::default() };
    let mut reader = TraceReader::new(input.as_ref(), "t", options);
    loop {
        match reader.next_trace() {
            Ok(Some(_)) => {}
            Ok(None) => panic!("nothing is wrong with this trace"),
            Err(error) => return error,
        }
    }
}

#[track_caller]
fn text(input: impl AsRef<[u8]>, expected: &str) {
    assert_eq!(complaint(input, Format::Text).render(false).trim_end(), expected.trim());
}

#[track_caller]
fn json(input: impl AsRef<[u8]>, expected: &str) {
    assert_eq!(complaint(input, Format::JsonLines).render(false).trim_end(), expected.trim());
}

#[test]
fn a_line_without_a_thread() {
    text(
        "0: M[x] := 1\nM[x] := 2\n",
        "
t:2:1: expected a thread number, `init`, `final`, `order` or `check`, found `M`
  |
2 | M[x] := 2
  | ^ expected a thread number, `init`, `final`, `order` or `check`
  = help: a trace is made of lines like `0: M[x] := 1` and ends with `check`",
    );
}

#[test]
fn a_misspelled_keyword() {
    text(
        "0: M[x] := 1\n  chekc\n",
        "
t:2:3: expected a thread number, `init`, `final`, `order` or `check`, found `chekc`
  |
2 |   chekc
  |   ^^^^^ expected a thread number, `init`, `final`, `order` or `check`
  = help: a trace is made of lines like `0: M[x] := 1` and ends with `check`",
    );
}

#[test]
fn a_missing_colon() {
    text(
        "0 M[x] := 1",
        "
t:1:3: expected `:` after the thread number, found `M`
  |
1 | 0 M[x] := 1
  |   ^ expected `:` after the thread number
  = help: a trace is made of lines like `0: M[x] := 1` and ends with `check`",
    );
}

#[test]
fn no_operation() {
    text(
        "0: ?",
        "
t:1:4: expected an operation, found `?`
  |
1 | 0: ?
  |    ^ expected an operation
  = help: an operation is a write `M[x] := 1`, a read `M[x] == 1`, an atomic `<M[x] == 0; M[x] := 1>`, \
`sync` or `fence w,r`",
    );
}

#[test]
fn neither_read_nor_write() {
    text(
        "0: M[x] = 1",
        "
t:1:9: expected `==` or `:=`, found `=`
  |
1 | 0: M[x] = 1
  |         ^ expected `==` or `:=`
  = help: `M[x] == 1` is a read that returned 1, `M[x] := 1` is a write",
    );
}

#[test]
fn a_negative_value() {
    text(
        "0: M[x] := -1",
        "
t:1:12: expected a value, found `-`
  |
1 | 0: M[x] := -1
  |            ^ expected a value
  = help: values are numbers from 0 to 2^64 - 1, decimal or hexadecimal with 0x",
    );
}

#[test]
fn a_value_past_64_bits() {
    text(
        "0: M[x] := 18446744073709551616 # 2^64",
        "
t:1:12: the number does not fit 64 bits
  |
1 | 0: M[x] := 18446744073709551616 # 2^64
  |            ^^^^^^^^^^^^^^^^^^^^",
    );
    text(
        "0: M[0x1ffffffffffffffff] := 1",
        "
t:1:6: the number does not fit 64 bits
  |
1 | 0: M[0x1ffffffffffffffff] := 1
  |      ^^^^^^^^^^^^^^^^^^^",
    );
}

#[test]
fn an_empty_hexadecimal_number() {
    text(
        "0: x := 0x",
        "
t:1:11: expected hexadecimal digits after `0x`, found the end of the input
  |
1 | 0: x := 0x
  |           ^ expected hexadecimal digits after `0x`
  = help: values are numbers from 0 to 2^64 - 1, decimal or hexadecimal with 0x",
    );
}

#[test]
fn the_end_in_the_middle() {
    text(
        "0: M[x] := 1\n0: M[x",
        "
t:2:7: expected `]`, found the end of the input
  |
2 | 0: M[x
  |       ^ expected `]`
  = help: an address is `M[0]`, `M[0x10]`, `M[x]`, or `x` for short",
    );
}

#[test]
fn brackets_that_do_not_match() {
    text(
        "0: <M[x] == 0; M[x] := 1}",
        "
t:1:25: expected `>`, found `}`
  |
1 | 0: <M[x] == 0; M[x] := 1}
  |                         ^ expected `>`
  = help: a read-modify-write is `<M[x] == 0; M[x] := 1>` or the same in braces",
    );
}

#[test]
fn an_atomic_of_two_addresses() {
    text(
        "0: <M[x] == 0; M[y] := 1>",
        "
t:1:16: a read-modify-write reads and writes one address; these are two
  |
1 | 0: <M[x] == 0; M[y] := 1>
  |                ^^^^",
    );
}

#[test]
fn a_fence_of_nothing_known() {
    text(
        "0: fence x,r",
        "
t:1:10: expected `r`, `w` or `rw`, found `x`
  |
1 | 0: fence x,r
  |          ^ expected `r`, `w` or `rw`
  = help: `fence w,r` keeps earlier writes before later reads; `sync` keeps everything",
    );
}

#[test]
fn an_unknown_suffix() {
    text(
        "0: x := 1 at 5",
        "
t:1:11: expected `@`, `as`, `dep`, an annotation or the next event, found `at`
  |
1 | 0: x := 1 at 5
  |           ^^ expected `@`, `as`, `dep`, an annotation or the next event
  = help: an event may be followed by `@ begin:end`, `as name`, `dep name,name` (or `addr`, `data`, `ctrl`), `acq`, `rel`, `acqrel`, `sc` and `pair name`",
    );
}

#[test]
fn a_second_time_or_name() {
    text(
        "0: x := 1 @ 1:2 @ 3:4",
        "
t:1:17: a second time for one event
  |
1 | 0: x := 1 @ 1:2 @ 3:4
  |                 ^",
    );
    text(
        "0: x := 1 as a as b",
        "
t:1:16: a second name for one event
  |
1 | 0: x := 1 as a as b
  |                ^^",
    );
}

#[test]
fn times_that_run_backwards() {
    text(
        "0: x := 1 @ 20 : 10\n",
        "
t:1:11: the event ends before it begins
  |
1 | 0: x := 1 @ 20 : 10
  |           ^^^^^^^^^",
    );
}

#[test]
fn a_name_that_is_taken() {
    text(
        "0: x := 1 as a\n1: x := 2 as a",
        "
t:2:14: the name `a` is already taken in this trace
  |
2 | 1: x := 2 as a
  |              ^",
    );
}

#[test]
fn a_dependency_on_nothing_earlier() {
    text(
        "0: x == 0 as a\n0: y := 1 dep a,later\n0: z == 0 as later",
        "
t:2:17: no earlier event is named `later`
  |
2 | 0: y := 1 dep a,later
  |                 ^^^^^",
    );
}

#[test]
fn a_second_init_or_final_that_says_something_else() {
    text(
        "init M[x] == 1 init M[x] == 2",
        "
t:1:16: a second `init` of M[x]
  |
1 | init M[x] == 1 init M[x] == 2
  |                ^^^^^^^^^^^^^^",
    );
    text(
        "0: x := 1\nfinal M[x] == 0\n  final x == 1",
        "
t:3:3: a second `final` of M[x]
  |
3 |   final x == 1
  |   ^^^^^^^^^^^^",
    );
}

#[test]
fn a_read_of_a_value_nobody_wrote_is_shown_with_its_line() {
    text(
        "0: M[x] := 1\n\n\t1: M[x] == 2 # why?\n0: M[y] := 1\ncheck\n",
        "
t:3:2: reads 2 from M[x], but 2 was never written there (--thin-air violation reports this as a violation)
  |
3 |  1: M[x] == 2 # why?
  |  ^^^^^^^^^^^^",
    );
}

#[test]
fn an_order_of_a_value_written_twice() {
    text(
        "0: x := 1 0: x := 1 0: x := 2\norder x: 1 < 2",
        "
t:2:1: `order` names the value 1, which was written to M[x] more than once; name the \
writes with `as` and use the names here
  |
2 | order x: 1 < 2
  | ^^^^^^^^^^^^^^",
    );
}

#[test]
fn bytes_that_are_no_text() {
    text(
        b"0: M[x\xff] := 1",
        "
t:1:7: expected `]`, found the byte 0xff
  |
1 | 0: M[x\u{fffd}] := 1
  |       ^ expected `]`
  = help: an address is `M[0]`, `M[0x10]`, `M[x]`, or `x` for short",
    );
    text(
        b"0: \0",
        "
t:1:4: expected an operation, found the byte 0x00
  |
1 | 0: \u{fffd}
  |    ^ expected an operation
  = help: an operation is a write `M[x] := 1`, a read `M[x] == 1`, an atomic `<M[x] == 0; M[x] := 1>`, \
`sync` or `fence w,r`",
    );
    text(
        "0: größe := 1",
        "
t:1:6: expected `==` or `:=`, found `ö`
  |
1 | 0: größe := 1
  |      ^ expected `==` or `:=`
  = help: `M[x] == 1` is a read that returned 1, `M[x] := 1` is a write",
    );
}

#[test]
fn a_long_line_is_shown_around_the_place() {
    let long =
        format!("{}0: M[x] = 1 {}", "0: M[x] := 1 ".repeat(20_000), "# and so on ".repeat(40));
    text(
        long,
        "
t:1:260009: expected `==` or `:=`, found `=`
  |
1 | …0: M[x] := 1 0: M[x] := 1 0: M[x] := 1 0: M[x] := 1 0: M[x] = 1 # and so on # and so on \
# and so on # and so o…
  |                                                              ^ expected `==` or `:=`
  = help: `M[x] == 1` is a read that returned 1, `M[x] := 1` is a write",
    );
}

#[test]
fn a_line_long_past_is_named_without_being_shown() {
    let long = format!("0: M[x] == 9\n{}check\n", "0: M[x] := 1\n".repeat(20_000));
    text(
        long,
        "t:1:1: reads 9 from M[x], but 9 was never written there (--thin-air violation reports this as a violation)",
    );
}

#[test]
fn a_second_trace_where_one_is_wanted() {
    let error = parse_text("0: x := 1\ncheck\n\n0: x := 1").unwrap_err();
    assert_eq!(error.to_string(), "trace:4:1: a second trace; only one was expected");
}

#[test]
fn a_file_that_is_not_there() {
    let error = open("no/such/file.axe").err().unwrap();
    assert_eq!(
        error.to_string(),
        "no/such/file.axe: cannot open the file: No such file or directory (os error 2)"
    );
    assert_eq!(error.render(false), format!("{error}\n"));
    assert_eq!(open(".").err().unwrap().to_string(), ".: cannot open the file: is a directory");
}

#[test]
fn colour_is_only_paint() {
    let error = parse_text("0: M[x] = 1").unwrap_err();
    let painted = error.render(true);
    assert!(painted.contains("\x1b[1;31m^ expected"));
    let plain = painted.replace("\x1b[1;31m", "").replace("\x1b[1m", "").replace("\x1b[0m", "");
    assert_eq!(plain, error.render(false));
}

#[test]
fn json_that_is_none() {
    json(
        "{\"op\":\"end\"}\n\n{\"thread\":0,\"op\":}\n",
        "
t:3:18: not a valid JSON object: expected value
  |
3 | {\"thread\":0,\"op\":}
  |                  ^",
    );
    json(
        "[1]",
        "
t:1:1: not a valid JSON object: invalid type: sequence, expected an object
  |
1 | [1]
  | ^",
    );
    json(
        "{\"op\":\"end\"",
        "
t:1:11: not a valid JSON object: EOF while parsing an object
  |
1 | {\"op\":\"end\"
  |           ^",
    );
}

#[test]
fn a_field_of_the_wrong_type() {
    json(
        r#"{"thread":0,"op":"write","addr":"x","value":"1"}"#,
        r#"
t:1:45: expected a number from 0 to 2^64 - 1, found `"1"`
  |
1 | {"thread":0,"op":"write","addr":"x","value":"1"}
  |                                             ^^^ expected a number from 0 to 2^64 - 1"#,
    );
    json(
        r#"{"thread":-1,"op":"write","addr":"x","value":1}"#,
        r#"
t:1:11: expected a number from 0 to 2^64 - 1, found `-1`
  |
1 | {"thread":-1,"op":"write","addr":"x","value":1}
  |           ^^ expected a number from 0 to 2^64 - 1"#,
    );
    json(
        r#"{"thread":0,"op":"read","addr":"a b","value":0}"#,
        r#"
t:1:32: expected an address: a number or a name, found `"a b"`
  |
1 | {"thread":0,"op":"read","addr":"a b","value":0}
  |                                ^^^^^ expected an address: a number or a name"#,
    );
    json(
        r#"{"thread":0,"op":"read","addr":"x","value":0,"deps":"a"}"#,
        r#"
t:1:53: expected a list, found `"a"`
  |
1 | {"thread":0,"op":"read","addr":"x","value":0,"deps":"a"}
  |                                                     ^^^ expected a list"#,
    );
    json(
        r#"{"op":1}"#,
        r#"
t:1:7: expected the name of an operation, found `1`
  |
1 | {"op":1}
  |       ^ expected the name of an operation"#,
    );
}

#[test]
fn a_field_unknown_missing_foreign_or_repeated() {
    json(
        r#"{"thread":0,"op":"write","größe":"ö","val":1}"#,
        r#"
t:1:27: unknown field `größe`
  |
1 | {"thread":0,"op":"write","größe":"ö","val":1}
  |                           ^^^^^
  = help: the fields are `thread`, `op`, `addr`, `value`, `read`, `before`, `after`, `begin`, `end`, `name`, `deps`, `values`, `order`, `pair`, `fence`, `size`, `pc`, `insn` and `cycle`"#,
    );
    json(
        r#"  {"thread":0,"op":"write","addr":"x"}"#,
        r#"
t:1:3: `write` needs a `value`
  |
1 |   {"thread":0,"op":"write","addr":"x"}
  |   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^"#,
    );
    json(
        r#"{"thread":0,"op":"sync","value":1}"#,
        r#"
t:1:33: `sync` takes no `value`
  |
1 | {"thread":0,"op":"sync","value":1}
  |                                 ^"#,
    );
    json(
        r#"{"op":"end","op":"end"}"#,
        r#"
t:1:18: not a valid JSON object: the field `op` is given twice
  |
1 | {"op":"end","op":"end"}
  |                  ^^^^^"#,
    );
    json(
        r#"{"addr":1}"#,
        r#"
t:1:1: a line needs an `op`
  |
1 | {"addr":1}
  | ^^^^^^^^^^"#,
    );
}

#[test]
fn an_unknown_operation() {
    json(
        r#"{"thread":0,"op":"store"}"#,
        r#"
t:1:18: expected `write`, `read`, `rmw`, `fence`, `sync`, `init`, `final`, `order` or `end`, found `"store"`
  |
1 | {"thread":0,"op":"store"}
  |                  ^^^^^^^ expected `write`, `read`, `rmw`, `fence`, `sync`, `init`, `final`, `order` or `end`"#,
    );
}

#[test]
fn json_that_makes_no_sense() {
    json(
        r#"{"thread":0,"op":"read","addr":"x","value":0,"deps":["later"]}"#,
        r#"
t:1:54: no earlier event is named `later`
  |
1 | {"thread":0,"op":"read","addr":"x","value":0,"deps":["later"]}
  |                                                      ^^^^^^^"#,
    );
    json(
        r#"{"thread":0,"op":"read","addr":"x","value":0,"begin":5,"end":4}"#,
        r#"
t:1:62: the event ends before it begins
  |
1 | {"thread":0,"op":"read","addr":"x","value":0,"begin":5,"end":4}
  |                                                              ^"#,
    );
    json(
        "\n{\"thread\":0,\"op\":\"read\",\"addr\":\"x\",\"value\":7}\n",
        r#"
t:2:1: reads 7 from M[x], but 7 was never written there (--thin-air violation reports this as a violation)
  |
2 | {"thread":0,"op":"read","addr":"x","value":7}
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^"#,
    );
}
