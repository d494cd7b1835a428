//! A result never says more than was established: no answer where nothing was asked, an answer to
//! every trace of a co-process, and no flag that has no effect.

use crate::common::{directory, file, run, run_with};

#[test]
fn a_co_process_answers_malformed_traces_and_goes_on() {
    let traces = "0: M[x] == 7\ncheck\n0: M[x] := 1\n0: M[x] == 1\ncheck\n";
    let ran = run_with(traces, &["check", "--json", "-"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let answers = ran.json();
    assert_eq!(answers[0]["verdict"], "malformed", "{ran:?}");
    assert_eq!(answers[1]["verdict"], "consistent", "{ran:?}");
}

#[test]
fn an_empty_input_has_no_verdict() {
    for text in ["", "check\n", "# nothing\ncheck\n"] {
        let path = file(&directory("established-empty"), "empty.trace", text);
        let ran = run(&["check", &path]);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert_eq!(ran.stdout, "", "{ran:?}");
    }
    let ran = run_with("", &["check", "-"]);
    assert_eq!((ran.code, &*ran.stdout), (Some(2), ""), "{ran:?}");
    let later = "check\n0: M[x] := 1\ncheck\n";
    assert_eq!(run_with(later, &["check", "-"]).lines().len(), 2);
}

#[test]
fn expected_answers_are_as_many_as_traces() {
    let folder = directory("established-axe");
    let traces = file(&folder, "two.trace", "0: M[x] := 1\ncheck\n0: M[x] := 1\ncheck\n");
    let one = file(&folder, "one.expected", "OK\n");
    let ran = run(&["axe", "test", "SC", &traces, &one]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("has 1 answer, but"), "{ran:?}");
}

#[test]
fn a_protocol_that_breaks_an_invariant_is_not_said_to_be_allowed() {
    let file = "protocols/broken/msi-upgrade-keeps-its-copy.m";
    let ran = run(&["run", "--on", file, "--check", "sc", "--jobs", "1"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.lines()[0].contains("protocol error: invariant"), "{ran:?}");
    assert!(ran.stdout.contains("  no violation of sc in 100 traces\n"), "{ran:?}");
}

#[test]
fn numbers_that_name_nothing_are_refused() {
    let mutants = ["verify", "--model", "sc", "--mutants", "--mutant", "9999"];
    let ran = run(&[&mutants[..], &["crates/conform/tests/models/cells.m"]].concat());
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("--mutant 9999 does not exist"), "{ran:?}");
    let ran = run(&["generate", "program", "--cycles", "2"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let ran = run(&["check", "--memory", "8", "examples/store-buffering.trace"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("`8` has no unit; write 8GiB or 8MiB"), "{ran:?}");
    let ran = run(&["check", "--trace", "9", "examples/store-buffering.trace"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
}

#[test]
fn a_hunt_without_a_run_is_not_a_pass() {
    let folder = directory("established-hunt").display().to_string();
    let ran =
        run(&["hunt", "--on", "exec:false", "--model", "tso", "--tests", "3", "--out", &folder]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("target failure: the target exited with status 1"), "{ran:?}");
    assert!(ran.stdout.contains("litmus tests: 0 of "), "{ran:?}");
}

#[test]
fn a_target_that_fails_is_in_the_headline_and_in_the_exit_code() {
    let ran = run(&["run", "examples/sb.program", "--on", "exec:false", "--check", "tso"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.lines()[0].contains("0 runs, 0 distinct outcomes, the target failed"), "{ran:?}");
}

#[test]
fn a_file_of_another_kind_is_answered_with_the_command_that_reads_it() {
    for (arguments, hint) in [
        (&["check", "protocols/german.m"][..], "use `tribunal explore protocols/german.m`"),
        (&["check", "examples/sb.program"], "use `tribunal run examples/sb.program --on TARGET`"),
        (&["shrink", "-m", "sc", "examples/litmus/SB.litmus"], "use `tribunal litmus "),
        (&["explore", "examples/iriw.trace"], "use `tribunal check examples/iriw.trace`"),
        (&["verify", "-m", "sc", "models/tso.cat"], "use `--model models/tso.cat`"),
        (&["litmus", "protocols/german.m"], "use `tribunal explore protocols/german.m`"),
        (&["run", "examples/iriw.trace", "--on", "machine:tso"], "use `tribunal check "),
    ] {
        let ran = run(arguments);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(
            ran.stderr.contains(&format!("hint: {} is named like", named(arguments))),
            "{ran:?}"
        );
        assert!(ran.stderr.contains(hint), "{ran:?}");
    }
    let wrong = file(&directory("established-kind"), "wrong.trace", "0: M[x] = 1\n");
    assert!(!run(&["check", &wrong]).stderr.contains("hint:"));
    assert!(!run(&["check", "nosuch.m"]).stderr.contains("hint:"));
}

/// The file among the arguments of a command.
fn named<'a>(arguments: &[&'a str]) -> &'a str {
    arguments.iter().copied().find(|argument| argument.contains('/')).expect("a path")
}

#[test]
fn flags_without_an_effect_are_refused() {
    for (arguments, needs) in [
        (
            &["run", "examples/sb.program", "--on", "machine:tso", "--operations", "9"][..],
            "PROTOCOL.m",
        ),
        (&["run", "--on", "protocols/mi.m", "--exhaustive"], "machine:MODEL"),
        (&["run", "examples/sb.program", "--on", "machine:tso", "--const", "N=2"], "PROTOCOL.m"),
        (&["hunt", "--on", "machine:tso", "--model", "tso", "--weight", "a=1"], "PROTOCOL.m"),
        (&["verify", "--model", "tso", "--witness", "none", "protocols/mi.m"], "--model sc"),
        (&["verify", "--model", "sc", "--exact", "protocols/mi.m"], "--model tso"),
        (&["check", "--shared-only", "examples/iriw.trace"], "a commit log"),
        (&["check", "--model", "rvwmo", "--engine", "sat", "examples/iriw.trace"], "engines"),
        (&["hunt", "--on", "machine:tso", "--model", "tso", "--timeout", "1s"], "exec:COMMAND"),
    ] {
        let ran = run(arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?}: {ran:?}");
        assert!(ran.stderr.contains("has no effect here: it needs"), "{ran:?}");
        assert!(ran.stderr.contains(needs), "{ran:?}");
    }
    for arguments in [
        &["explore", "--seed", "1", "protocols/mi.m"][..],
        &["explore", "--list-constants", "--json", "protocols/mi.m"],
        &["generate", "program", "--cycles", "4", "--threads", "3"],
        &["litmus", "--to", "riscv", "--budget", "1s", "examples/litmus/SB.litmus"],
        &["hunt", "--on", "machine:tso", "--model", "tso", "--bug", "lost-store", "--rate", "7"],
    ] {
        assert_eq!(run(arguments).code, Some(2), "{arguments:?}");
    }
    let (folder, trace) = (directory("without-effect"), "examples/store-buffering.trace");
    let proof = folder.join("sb.proof").display().to_string();
    run(&["check", "--quiet", "--model", "tso", "--certificate", &proof, trace]);
    for (flags, why) in [
        (["--budget", "1s"], "it needs a certificate of a protocol"),
        (["--model", "models/tso.cat"], "no certificate is about a model file"),
    ] {
        let ran = run(&[&["certify"], &flags[..], &[trace, &proof]].concat());
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains(why), "{ran:?}");
    }
}

#[test]
fn a_question_that_is_not_complete_says_what_to_ask() {
    let ran = run(&["verify", "protocols/mi.m"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("verify --any-processors protocols/mi.m"), "{ran:?}");
    let ran = run(&["explore", "--model", "sc", "protocols/mi.m"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("tribunal verify --model sc protocols/mi.m"), "{ran:?}");
    let ran = run(&["explore", "--const", "N=1", "protocols/mi.m"]);
    assert!(ran.stderr.contains("its constants are "), "{ran:?}");
}

#[test]
fn conveniences_print_less_or_stop_early() {
    let traces = "examples/store-buffering.trace";
    let ran = run(&["check", "--model", "tso", "--only-violations", "--quiet", traces]);
    assert_eq!((ran.code, ran.lines().len()), (Some(1), 1), "{ran:?}");
    let ran = run(&["check", "--model", "sc", "--first", "--quiet", traces]);
    assert_eq!((ran.code, ran.lines().len()), (Some(1), 1), "{ran:?}");
    let ran = run(&["check", "--model", "tso", "--trace", "1", "--quiet", traces]);
    assert_eq!((ran.code, ran.lines().len()), (Some(0), 1), "{ran:?}");
    let ran = run(&["litmus", "--summary", "--model", "sc,tso", "examples/litmus/SB.litmus"]);
    assert!(
        ran.lines()[1].ends_with("SB: tso: Ok: Sometimes (1 positive, 3 negative states)"),
        "{ran:?}"
    );
    assert!(run(&["litmus", "--summary", "examples/litmus"]).lines().len() > 10);
    let ran = run(&["explore", "--list-constants", "protocols/mi.m"]);
    assert!(ran.stdout.contains("ProcessorCount = "), "{ran:?}");
}

#[test]
fn short_help_fits_a_screen() {
    for command in [
        "check", "certify", "shrink", "explain", "models", "convert", "explore", "verify", "run",
        "litmus", "hunt",
    ] {
        let lines = run(&[command, "-h"]).lines().len();
        assert!(lines <= 50, "{command} -h has {lines} lines");
        assert!(run(&[command, "--help"]).stdout.contains("Examples:"), "{command}");
    }
    for command in [
        &["generate"][..],
        &["generate", "program"],
        &["generate", "trace"],
        &["generate", "hard"],
        &["axe"],
        &["axe", "check"],
        &["axe", "test"],
    ] {
        let lines = run(&[command, &["-h"]].concat()).lines().len();
        assert!(lines <= 50, "{command:?} -h has {lines} lines");
        let help = run(&[command, &["--help"]].concat()).stdout;
        assert!(help.contains("Examples:") && help.contains("Exit codes"), "{command:?}");
    }
}
