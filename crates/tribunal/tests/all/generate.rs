//! `tribunal generate`, and `tribunal run` with programs on machines and commands.

use crate::common::*;

const SB: &str = "0: x := 1\n0: y ? as a\n1: y := 1\n1: x ? as b\nexists a == 0, b == 0\n";

#[test]
fn programs_are_the_same_for_the_same_seed_and_can_be_read_again() {
    let text = run(&["generate", "program", "--count", "3", "--seed", "9"]);
    assert_eq!(text.code, Some(0), "{}", text.stderr);
    assert_eq!(text.stdout.matches("\nend\n").count(), 3);
    assert!(text.stdout.contains("program random-9\n") && text.stdout.contains("random-11\n"));
    let again = run(&["generate", "program", "--count", "3", "--seed", "9"]);
    assert_eq!(text.stdout, again.stdout);
    let json = run(&["generate", "program", "--count", "3", "--seed", "9", "--json"]);
    assert_eq!(json.json().len(), 3);
    let run_on = |programs: &str| {
        run_with(programs, &["run", "-", "--on", "machine:tso", "--traces", "3"]).stdout
    };
    assert_eq!(run_on(&text.stdout), run_on(&json.stdout));
}

#[test]
fn litmus_tests_come_from_cycles() {
    let ran = run(&["generate", "program", "--cycle", "PodWR Fre MFencedWR Fre", "--json"]);
    assert_eq!(ran.json()[0]["name"], "SB+mfence+po");
    let ran = run(&["generate", "program", "--cycles", "6"]);
    assert_eq!(ran.stdout.matches("exists ").count(), 26);
    let edges = "PodWR,MFencedWR Fre";
    let ran = run(&["generate", "program", "--cycles", "4", "--edges", edges]);
    assert_eq!(ran.stdout.matches("program SB").count(), 3);
    let wrong = run(&["generate", "program", "--cycle", "PodWR Fro"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains("unknown edge `Fro`"), "{}", wrong.stderr);
}

#[test]
fn traces_of_a_machine_satisfy_its_model_unless_it_has_a_bug() {
    let check = |arguments: &[&str], model: &str| {
        let mut all = vec!["generate", "trace", "--count", "20"];
        all.extend(arguments);
        let traces = run(&all);
        assert_eq!(traces.code, Some(0), "{}", traces.stderr);
        run_with(&traces.stdout, &["check", "--quiet", "--model", model, "-"])
    };
    assert_eq!(check(&["--machine", "tso"], "tso").code, Some(0));
    assert_eq!(check(&["--machine", "tso"], "sc").code, Some(1));
    assert_eq!(check(&["--machine", "sc"], "sc").code, Some(0));
    assert_eq!(check(&["--machine", "tso", "--bug", "stale-read"], "tso").code, Some(1));
    let wrong = run(&["generate", "trace", "--machine", "sc", "--bug", "broken-forwarding"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains("no store buffers"), "{}", wrong.stderr);
}

#[test]
fn hard_histories_are_judged_as_their_formulas() {
    // Few clauses are nearly always satisfiable, many never.
    for (ratio, code) in [("1", 0), ("12", 1)] {
        for model in ["sc", "tso"] {
            let arguments = ["generate", "hard", "--variables", "8", "--ratio", ratio];
            let ran = run(&[&arguments[..], &["--model", model, "--seed", "4"]].concat());
            let checked = run_with(&ran.stdout, &["check", "--quiet", "--model", model, "-"]);
            assert_eq!(checked.code, Some(code), "{model} {ratio}");
        }
    }
}

#[test]
fn a_program_is_run_judged_and_counted() {
    let arguments = ["run", "-", "--on", "machine:tso", "--traces", "2000", "--check", "sc"];
    let ran = run_with(SB, &arguments);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let expected = "program: 2000 runs, 4 distinct outcomes, 1 violates sc\n";
    assert!(ran.stdout.starts_with(expected), "{}", ran.stdout);
    let ran = run_with(SB, &[&arguments[..], &["--json"]].concat());
    let outcomes = ran.json()[0]["outcomes"].as_array().unwrap().clone();
    assert_eq!(outcomes[0]["exists"], true);
    assert_eq!(outcomes[0]["verdict"], "violation");
    let count = |row: &serde_json::Value| row["count"].as_u64().unwrap();
    assert_eq!(outcomes.iter().map(count).sum::<u64>(), 2000);
    let ran = run_with(SB, &["run", "-", "--on", "machine:sc", "--exhaustive", "--check", "sc"]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.stdout.starts_with("program: 3 runs, 3 distinct outcomes, all satisfy sc"));
    let ran = run_with(SB, &["run", "-", "--on", "machine:tso", "--exhaustive"]);
    let checked = run_with(&ran.stdout, &["check", "--quiet", "--model", "tso", "-"]);
    assert_eq!((checked.code, checked.lines().len()), (Some(0), 4));
}

#[cfg(unix)]
#[test]
fn a_command_is_a_target_and_one_that_misbehaves_is_a_finding() {
    let good = "exec:printf '0: x := 1\\n0: y == 0\\n1: y := 1\\n1: x == 0\\ncheck\\n'";
    let ran = run_with(SB, &["run", "-", "--on", good, "--check", "sc"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stdout.contains("1 violates sc"), "{}", ran.stdout);
    assert_eq!(run_with(SB, &["run", "-", "--on", good, "--check", "tso"]).code, Some(0));
    let ran = run_with(SB, &["run", "-", "--on", "exec:echo help >&2; exit 7"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("exited with status 7") && ran.stderr.contains("  help"));
    let ran = run_with(SB, &["run", "-", "--on", "exec:sleep 100", "--timeout", "200ms"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("did not finish within 200ms"), "{}", ran.stderr);
}

#[test]
fn what_cannot_be_run_is_said() {
    for (arguments, sentence) in [
        (
            vec!["run", "-", "--on", "machine:arm"],
            "the machines are sc, tso, pso, wmo, rmo, rvwmo and aarch64",
        ),
        (vec!["run", "-", "--on", "nothing"], "`exec:COMMAND`"),
        (vec!["run", "--on", "machine:sc"], "missing PROGRAM"),
        (
            vec!["run", "-", "--on", "protocols/msi.m"],
            "change the constant of the protocol with --const",
        ),
        (vec!["run", "-", "--on", "exec:true", "--exhaustive"], "it needs --on machine:MODEL"),
    ] {
        let ran = run_with(SB, &arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?}");
        assert!(ran.stderr.contains(sentence), "{arguments:?}: {}", ran.stderr);
    }
    let ran = run_with("0: x = 1\n", &["run", "-", "--on", "machine:sc"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.starts_with("<stdin>:1:6: expected `?` or `:=`"), "{}", ran.stderr);
    assert_eq!(run_with("", &["run", "-", "--on", "machine:sc"]).code, Some(2));
    assert_eq!(run_with([0xff, 0xfe], &["run", "-", "--on", "machine:sc"]).code, Some(2));
}

#[test]
fn the_output_of_the_trace_generator_is_checked_and_converted() {
    let log = "\
0: store-req 1 0x8 #0 @1\n0: load-req 0x10 #1 @2\n0: resp 0 #0 @9\n0: resp 0 #1 @9\n\
1: store-req 1 0x10 #0 @1\n1: load-req 0x8 #1 @2\n1: resp 0 #0 @9\n1: resp 0 #1 @9\n\
Completed after 10 cycles\n";
    let ran = run_with(log, &["check", "--quiet", "--format", "tracegen", "-m", "sc,tso", "-"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.lines()[0].contains("sc: violation") && ran.lines()[1].contains("tso: consistent"));
    let ran = run_with(log, &["convert", "--from", "tracegen", "--to", "text", "-"]);
    assert!(ran.stdout.starts_with("0: M[8] := 1 @ 1:\n0: M[16] == 0 @ 2:9\n"), "{}", ran.stdout);
    assert_eq!(run_with(log, &["convert", "--to", "tracegen", "-"]).code, Some(2));
}

/// A store of another core between a load-reserve and its store-conditional, which stand apart; and
/// swaps that pass messages without fences and with them.
#[test]
fn the_output_of_the_trace_generator_is_checked_by_rvwmo() {
    let check = |log: &str, models: &str| {
        run_with(log, &["check", "--quiet", "--format", "tracegen", "-m", models, "-"])
    };
    let pair = "\
0: load-reserve-req 0x8 #0 @1\n0: resp 0 #0 @2\n0: load-req 0x10 #1 @3\n0: resp 0 #1 @4\n\
0: store-cond-req 9 0x8 #2 @5\n0: resp 0 #2 @6\n0: load-req 0x8 #3 @7\n0: resp 9 #3 @8\n";
    assert_eq!(check(pair, "rvwmo").code, Some(0));
    assert_eq!(check(pair, "wmo").code, Some(3), "a built-in model does not know pairs");
    let between = format!(
        "{pair}1: store-req 5 0x8 #0 @5\n1: load-req 0x8 #1 @6\n1: resp 5 #1 @7\n\
         1: load-req 0x8 #2 @8\n1: resp 9 #2 @9\n"
    );
    assert_eq!(check(&between, "rvwmo").code, Some(1));
    let passing = |fence: bool| {
        let fence = |core: u64| match fence {
            true => format!("{core}: fence-req @3\n{core}: fence-resp @4\n"),
            false => String::new(),
        };
        format!(
            "0: store-req 1 0x8 #0 @1\n0: resp 0 #0 @2\n{}0: swap-req 1 0x10 #1 @5\n\
             0: resp 0 #1 @6\n1: swap-req 2 0x10 #0 @1\n1: resp 1 #0 @2\n{}\
             1: load-req 0x8 #1 @5\n1: resp 0 #1 @6\n",
            fence(0),
            fence(1)
        )
    };
    assert_eq!(check(&passing(false), "rvwmo").code, Some(0));
    assert_eq!(check(&passing(true), "rvwmo").code, Some(1));
}
