//! `tribunal check`: verdicts, exit codes, JSON, several files and models, bad input.

use std::io::Write;

use crate::common::*;

#[test]
fn a_consistent_trace_exits_0_and_a_violation_1() {
    let ran = run_with(CONSISTENT, &["check", "-"]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.stdout.starts_with("<stdin> #1: sc: consistent (decided by "), "{}", ran.stdout);

    let ran = run_with(STORE_BUFFERING, &["check", "-"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stdout.starts_with("<stdin> #1: sc: violation (decided by "), "{}", ran.stdout);
}

#[test]
fn a_violation_is_shown_with_its_cycle_unless_quiet() {
    let ran = run_with(STORE_BUFFERING, &["check", "-"]);
    assert_eq!(
        ran.lines()[1..],
        [
            "  line 1  0: M[x] := 1  -- program-order -->",
            "  line 2  0: M[y] == 0  -- from-read -->",
            "  line 3  1: M[y] := 1  -- program-order -->",
            "  line 4  1: M[x] == 0  -- from-read --> line 1",
        ]
    );
    let ran = run_with(STORE_BUFFERING, &["check", "--quiet", "-"]);
    assert_eq!(ran.lines().len(), 1);
}

#[test]
fn each_model_asked_for_gets_its_line_once() {
    let ran = run_with(STORE_BUFFERING, &["check", "-q", "--model", "SC,tso,sc,Coherence", "-"]);
    assert_eq!(ran.code, Some(1));
    let verdicts: Vec<_> = ran.lines().iter().map(|l| l.split(" (").next().unwrap()).collect();
    assert_eq!(
        verdicts,
        [
            "<stdin> #1: sc: violation",
            "<stdin> #1: tso: consistent",
            "<stdin> #1: coherence: consistent"
        ]
    );
}

#[test]
fn json_has_the_fields_of_the_contract() {
    let ran = run_with(STORE_BUFFERING, &["check", "--json", "--model", "sc,tso", "-"]);
    let verdicts = ran.json();
    let [sc, tso] = &verdicts[..] else { panic!("{}", ran.stdout) };
    assert_eq!(sc["file"], "<stdin>");
    assert_eq!(sc["trace"], 1);
    assert_eq!(sc["model"], "sc");
    assert_eq!(sc["verdict"], "violation");
    assert_eq!(
        (&sc["events"], &sc["threads"], &sc["addresses"]),
        (&4.into(), &2.into(), &2.into())
    );
    assert!(sc["micros"].is_u64() && sc["decided_by"].is_string());
    assert!(sc["write_pairs"].is_u64() && sc["unordered_write_pairs"].is_u64());
    let cycle = sc["cycle"].as_array().unwrap();
    assert_eq!(cycle[0]["from"], serde_json::json!({"thread": 0, "index": 0, "line": 1}));
    assert_eq!(cycle[0]["because"], "program-order");
    assert_eq!(cycle.last().unwrap()["to"], cycle[0]["from"]);
    assert_eq!(tso["verdict"], "consistent");
    assert!(tso.get("cycle").is_none() && tso.get("witness").is_none());
}

#[test]
fn stats_full_adds_the_witness_and_does_not_swallow_the_file() {
    let directory = directory("stats");
    let trace = file(&directory, "sb.trace", STORE_BUFFERING);
    let ran = run(&["check", "--json", "--model", "tso", "--stats", "full", &trace]);
    let verdict = &ran.json()[0];
    assert_eq!(verdict["witness"].as_array().unwrap().len(), 4);
    assert!(verdict["decisions"].is_u64());

    let ran = run(&["check", "--json", "--model", "tso", "--stats", &trace]);
    assert!(ran.json()[0].get("witness").is_none());
    let ran = run(&["check", "--model", "tso", "--stats", &trace]);
    assert!(ran.lines()[1].contains("write pairs"), "{}", ran.stdout);
}

#[test]
fn several_files_are_judged_in_their_order_whatever_the_number_of_jobs() {
    let directory = directory("several");
    let one = file(&directory, "one.trace", CONSISTENT.repeat(20));
    let two = file(&directory, "two.trace", STORE_BUFFERING.repeat(20));
    for jobs in ["1", "4"] {
        let ran = run(&["check", "--json", "--jobs", jobs, &one, &two]);
        assert_eq!(ran.code, Some(1));
        let verdicts = ran.json();
        assert_eq!(verdicts.len(), 40);
        for (i, verdict) in verdicts.iter().enumerate() {
            assert_eq!(verdict["file"], if i < 20 { &*one } else { &*two });
            assert_eq!(verdict["trace"], i as u64 % 20 + 1);
            assert_eq!(verdict["verdict"], if i < 20 { "consistent" } else { "violation" });
        }
        assert!(ran.stderr.contains("sc: 40 traces: 20 consistent, 20 violations"));
    }
}

#[test]
fn the_output_is_the_same_for_every_number_of_jobs() {
    let input = [CONSISTENT, STORE_BUFFERING, STALE_READ].concat().repeat(30);
    let without_times = |jobs: &str| {
        let ran = run_with(&input, &["check", "-m", "sc,tso", "--jobs", jobs, "-"]);
        let strip = |line: &str| line.split(" events, ").next().unwrap().to_owned();
        ran.stdout.lines().map(strip).collect::<Vec<_>>()
    };
    assert_eq!(without_times("1"), without_times("7"));
}

#[test]
fn gzip_and_json_lines_are_read_as_they_are() {
    let directory = directory("packed");
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(STORE_BUFFERING.as_bytes()).unwrap();
    let packed = file(&directory, "sb.trace.gz", encoder.finish().unwrap());
    assert_eq!(run(&["check", &packed]).code, Some(1));

    let lines = "{\"thread\":0,\"op\":\"write\",\"addr\":\"x\",\"value\":1}\n\
                 {\"thread\":1,\"op\":\"read\",\"addr\":\"x\",\"value\":1}\n";
    let named = file(&directory, "t.jsonl", lines);
    assert_eq!(run(&["check", &named]).code, Some(0));
    assert_eq!(run_with(lines, &["check", "--format", "jsonl", "-"]).code, Some(0));
    assert_eq!(run_with(lines, &["check", "-"]).code, Some(2));
}

#[test]
fn bad_input_exits_2_with_its_place_and_keeps_what_was_judged() {
    let directory = directory("bad-input");
    let bad = file(&directory, "bad.trace", format!("{CONSISTENT}0: M[x] = 1\ncheck\n"));
    let good = file(&directory, "good.trace", CONSISTENT);
    let ran = run(&["check", "-q", &bad, &good]);
    assert_eq!(ran.code, Some(2));
    assert_eq!(ran.lines().len(), 2, "the trace before it, and the file after it");
    assert!(ran.stderr.starts_with(&format!("{bad}:6:9: ")), "{}", ran.stderr);
    assert!(ran.stderr.contains("6 | 0: M[x] = 1\n"), "{}", ran.stderr);
}

#[test]
fn a_missing_file_is_bad_input() {
    let ran = run(&["check", "no-such-file.trace"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.starts_with("no-such-file.trace: cannot open"), "{}", ran.stderr);
}

#[test]
fn a_value_that_nobody_wrote_is_malformed_unless_said_otherwise() {
    let trace = "0: M[x] == 7\ncheck\n";
    let ran = run_with(trace, &["check", "-"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("7 was never written"), "{}", ran.stderr);
    let ran = run_with(trace, &["check", "--thin-air", "violation", "-"]);
    assert_eq!(ran.code, Some(1));
    assert_eq!(ran.lines()[1], "  line 1  0: M[x] == 7  reads a value that was never written");
}

#[test]
fn bad_usage_exits_2_and_names_what_there_is() {
    let ran = run(&["check", "--model", "tsox", "t"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("coherence") && ran.stderr.contains("gradual"), "{}", ran.stderr);
    for arguments in [
        &["check"][..],
        &["check", "--budget", "soon", "t"],
        &["check", "-j", "0", "t"],
        &["judge"],
        &[],
    ] {
        assert_eq!(run(arguments).code, Some(2), "{arguments:?}");
    }
}

/// Two threads write x, and nothing says which was first.
const OPEN_PAIR: &str = "0: M[x] := 1\n1: M[x] := 2\n2: M[x] == 1\n3: M[x] == 2\ncheck\n";

#[test]
fn undecided_exits_3_unless_something_is_broken() {
    let ran = run_with(OPEN_PAIR, &["check", "--engine", "linear", "-"]);
    assert_eq!(ran.code, Some(3), "{}", ran.stdout);
    assert!(ran.stdout.contains("sc: undecided ("), "{}", ran.stdout);

    let both = [OPEN_PAIR, STORE_BUFFERING].concat();
    let ran = run_with(both, &["check", "--engine", "linear", "-"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stdout);
}

#[test]
fn a_trace_that_does_not_fit_the_memory_is_undecided() {
    let long: String = (0..50_000).map(|i| format!("0: M[x] := {i}\n")).collect();
    let ran = run_with(&long, &["check", "--memory", "100KiB", "-"]);
    assert_eq!(ran.code, Some(3));
    assert!(ran.stdout.starts_with("<stdin> #1: sc: undecided: the trace"), "{}", ran.stdout);
    assert!(ran.stderr.contains("does not fit the memory limit"), "{}", ran.stderr);
    let ran = run_with(format!("{STALE_READ}{long}"), &["check", "-q", "--memory", "100KiB", "-"]);
    assert_eq!(ran.code, Some(1), "the first trace was judged");
}

#[test]
fn gradual_names_the_strongest_models_that_hold() {
    let ran = run_with(
        [CONSISTENT, STORE_BUFFERING, STALE_READ].concat(),
        &["check", "--model", "gradual", "-"],
    );
    assert_eq!(ran.code, Some(1), "nothing allows the third");
    let lines = ran.lines();
    assert_eq!(lines[0], "<stdin> #1: gradual: strongest model that allows the trace: sc");
    assert!(lines[1].starts_with(
        "<stdin> #2: gradual: strongest models that allow the trace: tso, cm; violated: sc, ccm"
    ));
    assert!(lines[2].starts_with("<stdin> #3: gradual: no model allows the trace; violated: sc, "));

    let ran = run_with(STORE_BUFFERING, &["check", "--json", "--model", "gradual", "-"]);
    assert_eq!(ran.code, Some(0));
    let verdict = &ran.json()[0];
    assert_eq!(verdict["strongest"], serde_json::json!(["tso", "cm"]));
    assert_eq!(verdict["violated"], serde_json::json!(["sc", "ccm"]));
    assert_eq!(verdict["verdict"], "consistent");
}

#[test]
fn colour_is_for_terminals_or_on_demand() {
    assert!(!run_with(STALE_READ, &["check", "-"]).stdout.contains('\x1b'));
    let ran = run_with(STALE_READ, &["check", "--color", "always", "-"]);
    assert!(ran.stdout.contains("\x1b[1;31mviolation\x1b[0m"));
}

#[test]
fn an_input_without_events_is_an_error_unless_it_is_allowed() {
    for input in ["", "# the simulator died\n", "check\ncheck\n"] {
        let ran = run_with(input, &["check", "-"]);
        assert_eq!(ran.code, Some(2), "{input:?}");
        assert!(ran.stderr.contains("the input contains no events"), "{}", ran.stderr);
        assert!(ran.stderr.contains("--allow-empty"), "{}", ran.stderr);
        assert_eq!(run_with(input, &["check", "--allow-empty", "-"]).code, Some(0), "{input:?}");
    }
    // A trace without events among others is not an empty file.
    assert_eq!(run_with(format!("check\n{CONSISTENT}"), &["check", "-"]).code, Some(0));
}

/// A trace that is malformed in its middle, one that is when it ends, and two good ones.
const AMONG_OTHERS: &str = "\
0: M[x] = 1
0: M[check] := 2
0: M[y] := 2
check
0: M[x] := 1
1: M[x] == 1
check
0: M[x] == 7
check
0: M[x] := 1
1: M[x] == 1
1: M[x] == 0
check
";

#[test]
fn one_malformed_trace_ends_its_file_unless_check_keeps_going() {
    let path = file(&directory("check-malformed"), "among.trace", AMONG_OTHERS);
    let ran = run(&["check", "-q", &path]);
    assert_eq!((ran.code, &*ran.stdout), (Some(2), ""));
    let ran = run_with(AMONG_OTHERS, &["check", "-q", "--keep-going", "-"]);
    assert_eq!(ran.code, Some(1), "a violation outweighs malformed input");
    let said: Vec<&str> = ran.stdout.lines().map(|l| l.split(" (").next().unwrap()).collect();
    assert_eq!(
        said,
        [
            "<stdin> #1: malformed",
            "<stdin> #2: sc: consistent",
            "<stdin> #3: malformed",
            "<stdin> #4: sc: violation"
        ]
    );
    assert!(ran.stderr.contains("1:9: expected `==` or `:=`"), "{}", ran.stderr);
    let without_violation = AMONG_OTHERS.replace("1: M[x] == 0\n", "");
    assert_eq!(run_with(without_violation, &["check", "-q", "--keep-going", "-"]).code, Some(2));
}

#[test]
fn in_json_every_trace_has_an_answer() {
    let ran = run_with(AMONG_OTHERS, &["check", "--json", "--keep-going", "-"]);
    let verdicts: Vec<_> = ran.json().into_iter().map(|object| object["verdict"].clone()).collect();
    assert_eq!(verdicts, ["malformed", "consistent", "malformed", "violation"]);
    let jsonl = "{\"op\":\"read\"}\n{\"op\":\"end\"}\n{\"op\":\"write\",\"thread\":0,\"addr\":\"x\",\"value\":1}\n";
    let ran = run_with(jsonl, &["check", "--format", "jsonl", "--json", "--keep-going", "-"]);
    let objects = ran.json();
    assert_eq!(objects[0]["message"], "`read` needs a `thread`");
    assert_eq!((&objects[0]["line"], &objects[1]["verdict"]), (&1.into(), &"consistent".into()));
}

#[test]
fn a_trace_over_the_memory_budget_is_undecided_and_the_next_is_judged() {
    let long: String = (0..2_000).map(|i| format!("0: M[x] := {i}\n")).collect();
    let input = format!("{long}check\n{CONSISTENT}");
    let ran = run_with(&input, &["check", "-q", "--model", "sc,tso", "--memory", "20KiB", "-"]);
    assert_eq!(ran.code, Some(3), "{}{}", ran.stdout, ran.stderr);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert!(lines[0].starts_with("<stdin> #1: sc: undecided: the trace does not fit"), "{lines:?}");
    assert!(lines[1].starts_with("<stdin> #1: tso: undecided"), "{lines:?}");
    assert!(lines[2].starts_with("<stdin> #2: sc: consistent"), "{lines:?}");
}

#[test]
fn the_number_of_traces_can_be_expected() {
    let two = [CONSISTENT, CONSISTENT].concat();
    let ran = run_with(&two, &["check", "--expect-traces", "2", "--model", "sc,tso", "-"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let ran = run_with(&two, &["check", "--expect-traces", "3", "-"]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("expected 3 traces (--expect-traces), found 2 traces"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_violation_outweighs_a_file_that_is_not_there_and_both_are_reported() {
    let ran = run_with(STORE_BUFFERING, &["check", "-q", "-", "/nonexistent.trace"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stdout.contains("violation"), "{}", ran.stdout);
    assert!(ran.stderr.contains("nonexistent.trace"), "{}", ran.stderr);
}

#[test]
fn help_teaches_and_lists_the_exit_codes() {
    let ran = run(&["--help"]);
    assert_eq!(ran.code, Some(0));
    for part in ["You have a trace", "Exit codes:", "130", "shrink", "gradual"] {
        assert!(ran.stdout.contains(part), "{part}");
    }
    let ran = run(&["check", "--help"]);
    for part in ["Examples:", "FIFO store buffer", "saturation", "coherence", "--thin-air"] {
        assert!(ran.stdout.contains(part), "{part}");
    }
}
