//! Commands as targets: the example in Python, and everything a command may do wrong.

#![cfg(unix)]

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use history::History;
use judge::{Budget, Engine, judge};
use models::Model;
use tribunal_stress::{
    Exec, Knobs, Program, RunResult, Runs, Target, TargetError, TargetName, UnknownTarget,
    parse_programs,
};

fn program(text: &str) -> Program {
    parse_programs("test", text).unwrap().remove(0).program
}

fn run(exec: &mut Exec, program: &Program, count: u64) -> Result<Vec<History>, TargetError> {
    let mut traces = Vec::new();
    let runs = Runs { count, seed: 5, stop: &AtomicBool::new(false) };
    exec.run(program, runs, &mut |ran| {
        traces.push(match ran {
            RunResult::Outcome(outcome, _) => program.history(&outcome).unwrap(),
            RunResult::Recorded(history) => *history,
            RunResult::Unfinished(_) => panic!("a command that does not end is an error"),
        });
        ControlFlow::Continue(())
    })?;
    Ok(traces)
}

/// What a command does wrong, run for one program that stores and loads.
fn misbehaves(exec: Exec) -> String {
    match run(&mut { exec }, &program("0: x := 1\n0: x ?"), 1) {
        Err(TargetError::Misbehaved(what)) => what,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_example_in_python_is_a_tso_machine() {
    let python = std::process::Command::new("python3").arg("--version").output();
    if !python.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: no python3");
        return;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/tso_target.py");
    let mut exec =
        Exec::new(format!("exec python3 '{script}'")).with_timeout(Duration::from_secs(60));
    let knobs = Knobs { dependencies: 20, ..Knobs::default() };
    let program = knobs.program(3).unwrap();
    let traces = run(&mut exec, &program, 40).unwrap();
    assert_eq!(traces.len(), 40);
    let consistent = |history: &History, model| {
        let verdict = judge(history, model, Engine::Auto, &Budget::unlimited());
        matches!(verdict.outcome, judge::Outcome::Holds(_))
    };
    assert!(traces.iter().all(|history| consistent(history, Model::Tso)));
    assert!(!traces.iter().all(|history| consistent(history, Model::Sc)));
    let again = run(&mut exec, &program, 40).unwrap();
    assert_eq!(traces, again);
}

#[test]
fn a_command_gets_the_program_and_may_answer_as_it_likes() {
    let text = "init x == 7\n0: <x ? 7; x := 1>\n1: x ?\n1: sync";
    let answer = r#"read order; case "$order" in
        '{"tribunal":1,"runs":2,"seed":5,"program":{"places":[{"addr":"x","initial":7,'*) ;;
        *) exit 9 ;;
    esac"#;
    let trace = "init x == 7\\n0: <x == 7; x := 1>\\n1: x == 7\\n1: sync\\ncheck\\n";
    let other = "1: x == 1\\n1: sync\\n0: x == 3\\ninit x == 7\\ncheck\\n";
    let mut exec = Exec::new(format!("{answer}; printf '# two\\n{trace}{other}'"));
    // The second trace has a read of a value nobody wrote: that is the target's doing.
    assert_eq!(run(&mut exec, &program(text), 2).unwrap().len(), 2);
    let json = r#"{"thread":0,"op":"write","addr":"x","value":1}\n{"op":"end"}\n"#;
    let mut exec = Exec::new(format!("printf '\\n {json}'"));
    assert_eq!(run(&mut exec, &program("0: x := 1"), 1).unwrap().len(), 1);
}

#[test]
fn what_a_trace_says_beyond_its_reads_is_kept() {
    let program = program("0: x ? as a\n0: y := 1 dep a");
    let said = |trace: &str| {
        let trace = format!("0: x == 0\\n0: y := 1\\n{trace}check\\n");
        let mut exec = Exec::new(format!("printf '{trace}'"));
        run(&mut exec, &program, 1).unwrap().remove(0)
    };
    // The dependencies of the program count, whether the target repeats them or not.
    assert_eq!(said("").dependencies().len(), 1);
    assert_eq!(said("final x == 0\\nfinal y == 1\\n").finals().len(), 2);
    assert_eq!(said("final y == 1\\n").finals().len(), 1);
    assert_eq!(said("order y: 0 < 1\\n").orders().len(), 1);
}

#[test]
fn whatever_a_command_does_wrong_is_said() {
    let good = "printf '0: x := 1\\n0: x == 1\\ncheck\\n'";
    for (command, what) in [
        ("true", "the target printed no trace"),
        ("echo oops >&2; exit 3", "the target exited with status 3\nlast lines of its standard"),
        ("kill -SEGV $$", "the target was killed by signal 11"),
        ("echo garbage", "the target printed something that is not a trace:\noutput:1:1: expected"),
        ("head -c 5000 /dev/urandom | od -c", "the target printed something that is not a trace"),
        (
            "printf '0: x := 1\\ncheck\\n'",
            "not a run of the program: thread 0 has only 1 events, fewer than the program has instructions",
        ),
        ("printf '0: x := 2\\n0: x == 2\\ncheck\\n'", "line 1 is not instruction 0 of thread 0"),
        ("printf '0: x := 1\\n0: y == 0\\ncheck\\n'", "line 2 is not instruction 1 of thread 0"),
        (
            "printf '0: x := 1\\n0: x == 1\\n0: x == 1\\ncheck\\n'",
            "line 3 is beyond the last instruction of thread 0",
        ),
        ("printf '0: x := 1\\n0: x == 1\\n7: sync\\ncheck\\n'", "the program has no thread 7"),
        (&format!("{good}; exit 4"), "the target exited with status 4"),
        ("not-a-command-at-all", "the target exited with status 127"),
    ] {
        let said = misbehaves(Exec::new(command));
        assert!(said.contains(what), "{command}: {said}");
    }
    let said = misbehaves(Exec::new("echo oops >&2; exit 3"));
    assert!(said.ends_with("standard error:\n  oops"), "{said}");
}

#[test]
fn a_command_that_hangs_or_floods_is_ended_with_all_it_started() {
    let marker = std::env::temp_dir().join(format!("tribunal-exec-{}", std::process::id()));
    let _ = std::fs::remove_file(&marker);
    let started = Instant::now();
    let hangs = format!("(sleep 2; touch '{}') & sleep 1000", marker.display());
    let said = misbehaves(Exec::new(hangs).with_timeout(Duration::from_millis(300)));
    assert!(
        said.starts_with("the target did not finish within 300ms (--timeout), after 0 traces"),
        "{said}"
    );
    let flood = Exec::new("yes '0: x := 1'").with_output(1 << 20);
    assert_eq!(misbehaves(flood), "the target printed more than 1048576 bytes");
    let mutters = Exec::new("yes >&2").with_timeout(Duration::from_millis(300));
    let said = misbehaves(mutters);
    assert!(said.contains("did not finish") && said.lines().count() <= 12, "{said}");
    // One that leaves its group keeps its output open, but not us.
    let leaves = Exec::new("setsid sleep 20 & exit 0").with_timeout(Duration::from_millis(300));
    assert!(misbehaves(leaves).contains("did not finish within"));
    assert!(started.elapsed() < Duration::from_secs(10));
    std::thread::sleep(Duration::from_millis(2300));
    assert!(!marker.exists(), "what a command started outlives it");
}

#[test]
fn runs_end_when_nobody_wants_more() {
    let endless = "while :; do printf '0: x := 1\\ncheck\\n'; done";
    let mut exec = Exec::new(endless);
    let program = program("0: x := 1");
    let mut traces = 0;
    let runs = Runs { count: 1, seed: 0, stop: &AtomicBool::new(false) };
    let ran = exec.run(&program, runs, &mut |_| {
        traces += 1;
        if traces == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!((ran, traces), (Ok(()), 3));
    let stopped = AtomicBool::new(true);
    let runs = Runs { count: 1, seed: 0, stop: &stopped };
    assert_eq!(exec.run(&program, runs, &mut |_| panic!("nothing was wanted")), Ok(()));
}

#[test]
fn targets_are_named_and_a_wrong_name_says_which_there_are() {
    for name in ["host", "machine:sc", "machine:rmo", "exec:./sim --fast", "a/b.m", "-"] {
        assert_eq!(name.parse::<TargetName>().unwrap().to_string(), name);
    }
    let wrong = |name: &str| name.parse::<TargetName>().unwrap_err().to_string();
    assert!(wrong("simulator").contains("`host`, `machine:sc`"));
    assert!(
        wrong("machine:x86").contains("the machines are sc, tso, pso, wmo, rmo, rvwmo and aarch64")
    );
    assert_eq!("exec: ".parse::<TargetName>(), Err(UnknownTarget::Command));
}
