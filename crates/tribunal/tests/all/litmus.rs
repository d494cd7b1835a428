//! `tribunal litmus` as its users see it.

use crate::common::{run, run_with};
use crate::printed::assert_printed;

const SB: &str = "examples/litmus/SB.litmus";

#[test]
fn the_layout_is_that_of_herd7() {
    let ran = run(&["litmus", "--model", "TSO", SB]);
    let (shown, time) = ran.stdout.split_once("Time SB ").unwrap();
    assert!(time.trim().parse::<f64>().is_ok(), "{time}");
    assert_eq!(
        shown,
        r#"Test SB Allowed
States 4
0:rax=0; 1:rax=0;
0:rax=0; 1:rax=1;
0:rax=1; 1:rax=0;
0:rax=1; 1:rax=1;
Ok
Witnesses
Positive: 1 Negative: 3
Condition exists (0:rax=0 /\ 1:rax=0)
Observation SB Sometimes 1 3
"#
    );
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_question_ends_well_either_way_and_a_broken_promise_does_not() {
    let code = |arguments: &[&str]| run(&[&["litmus"], arguments].concat()).code;
    assert_eq!(code(&["--model", "sc", SB]), Some(0));
    assert_eq!(code(&["examples/litmus/SB+mfences.litmus"]), Some(0));
    assert_eq!(code(&["--model", "coherence", "examples/litmus/SB+mfences.litmus"]), Some(1));
    assert_eq!(code(&["examples/litmus/counter.litmus"]), Some(1));
    assert_eq!(code(&["no such file"]), Some(2));
    assert_eq!(code(&["--model", "ccm", SB]), Some(2));
    assert_eq!(code(&["--model", "no-such-model", SB]), Some(2));
}

#[test]
fn for_a_forbidden_test_the_witnesses_speak_for_the_condition() {
    let ran = run(&["litmus", "--model", "pso", "examples/litmus/MP.litmus"]);
    assert!(ran.stdout.contains("Test MP Forbidden\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("No\nWitnesses\nPositive: 3 Negative: 1\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("Observation MP Sometimes 1 3\n"), "{}", ran.stdout);
}

#[test]
fn every_state_of_every_example_has_an_execution_that_check_accepts() {
    let models = ["sc", "tso", "pso", "coherence"];
    let asked = models.join(",");
    let ran = run(&["litmus", "--json", "--witness", "--model", &asked, "@examples/litmus/all"]);
    let answers = ran.json();
    assert_eq!(answers.len(), 13 * models.len());
    for model in models {
        let of_model = answers.iter().filter(|answer| answer["model"] == model);
        let states = of_model.flat_map(|answer| answer["states"].as_array().unwrap());
        let traces: String = states.map(|state| state["trace"].as_str().unwrap()).collect();
        let checked = run_with(traces, &["check", "--model", model, "-"]);
        assert_eq!(checked.code, Some(0), "{model}: {}", checked.stdout);
    }
}

#[test]
fn a_test_that_cannot_be_read_does_not_keep_the_others_from_being_answered() {
    let wrong = "PPC MP\n{ }\n";
    let ran = run_with(wrong, &["litmus", "-", SB]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stdout.contains("Observation SB Sometimes 1 3"), "{}", ran.stdout);
    assert_printed(
        &ran.stderr,
        "\
error: tests for PPC are not supported
 --> <stdin>:1:1
  |
1 | PPC MP
  | ^^^
  = help: the architectures are X86, X86_64, RISCV and AArch64
",
    );
}

#[test]
fn what_does_not_fit_a_budget_is_undecided() {
    let endless = "X86_64 endless\n{ }\n P0 ;\n L: incl %eax ;\n movl %eax,(x) ;\n jmp L ;\n\
                   exists (x=1)\n";
    let ran = run_with(endless, &["litmus", "--budget", "200ms", "-"]);
    assert_eq!(ran.code, Some(3));
    assert!(ran.stderr.contains("the time limit was reached after"), "{}", ran.stderr);
    let mut asked = vec!["litmus", "--budget", "200ms", "--json", "-"];
    let alone = run_with(endless, &asked);
    if races_here() {
        asked.splice(1..1, ["--on", "host"]);
    }
    for ran in [alone, run_with(endless, &asked)] {
        assert_eq!(ran.code, Some(3), "{ran:?}");
        let [answer] = &ran.json()[..] else { panic!("one object: {ran:?}") };
        assert_eq!((&answer["test"], &answer["model"]), (&"endless".into(), &"tso".into()));
        assert_eq!(answer["verdict"], "undecided");
        let why = answer["why"].as_str().unwrap();
        assert!(why.starts_with("the time limit was reached after"), "{why}");
    }
}

#[test]
fn a_claim_is_undecided_while_a_loop_has_longer_runs() {
    let spin = "AArch64 spin\n{ 0:X1=x; 1:X1=x; }\n P0 | P1 ;\n MOV W0,#1 | L: ;\n STR W0,[X1] | LDR W0,[X1] ;\n  \
                | CBZ W0,L ;\nforall (1:X0=1)\n";
    let ran = run_with(spin, &["litmus", "-"]);
    assert!(ran.stdout.contains("\nLoop Ok\n"), "{}", ran.stdout);
    assert!(ran.stderr.contains("undecided: the claim holds in all runs that were enumerated"));
    assert_eq!(ran.code, Some(3));
    let ran = run_with(spin, &["litmus", "--json", "-"]);
    assert!(
        ran.stdout.contains(r#""verdict":"undecided","why":"the claim holds"#),
        "{}",
        ran.stdout
    );
    assert_eq!(ran.code, Some(3));
    // Machines follow loops to their end.
    let ran = run(&["litmus", "examples/litmus/MP+spin.litmus"]);
    assert!(ran.stdout.contains("\nOk\n") && ran.stderr.is_empty());
    assert_eq!(ran.code, Some(0));
}

#[test]
fn an_address_that_is_none_is_reported() {
    let text = "X86_64 astray\n{ 0:rax=5; x=0; }\n P0 ;\n movl $1,(%rax) ;\nexists (x=1)\n";
    let ran = run_with(text, &["litmus", "-"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("thread 0 accesses 0x5, which is not"), "{}", ran.stderr);
}

/// Whether this machine can run races; says why if it cannot.
fn races_here() -> bool {
    let ran = run(&["litmus", "--on", "host", "--runs", "1", SB]);
    if ran.code == Some(2) {
        eprintln!("skipped: {}", ran.stderr);
    }
    ran.code != Some(2)
}

#[test]
fn on_the_host_the_layout_is_that_of_litmus7() {
    if !races_here() {
        return;
    }
    let ran = run(&["litmus", "--on", "host", "--runs", "20000", "examples/litmus/MP.litmus"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{}", ran.stdout);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    let states = lines.iter().filter(|line| line.contains(":>")).count();
    assert_eq!(lines[0], "Test MP Forbidden");
    assert_eq!(lines[1], format!("Histogram ({states} states)"));
    let counts = lines[2..2 + states].iter().map(|line| {
        let (count, state) = line.split_once(":>").unwrap();
        assert!(state.starts_with("1:EAX="), "{line}");
        count.trim().parse::<u64>().unwrap()
    });
    assert_eq!(counts.sum::<u64>(), 20_000);
    let rest = &lines[2 + states..];
    assert_eq!(rest[..4], ["Ok", "", "Witnesses", "Positive: 20000, Negative: 0"]);
    assert!(rest[4].starts_with("Condition ~exists (") && rest[4].ends_with(") is validated"));
    assert_eq!(rest[5], "Observation MP Never 0 20000");
    assert!(rest[6].starts_with("Time MP 0."), "{}", rest[6]);
    assert_eq!(rest[7], format!("Compared MP tso Ok: {states} of 3 states seen"));
}

#[test]
fn a_state_that_the_model_does_not_allow_is_a_finding() {
    if !races_here() {
        return;
    }
    let always = "X86_64 always\n{ }\n P0 | P1 ;\n movl $1,(x) | movl $1,(y) ;\n\
                  exists (x=1 /\\ y=1)\n";
    let ran = run_with(always, &["litmus", "--on", "host", "--runs", "1000", "--json", "-"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let answer = &ran.json()[0];
    assert_eq!((&answer["runs"], &answer["observation"]), (&1000.into(), &"Always".into()));
    assert_eq!(answer["compared"][0]["verdict"], "consistent");
    // How soon store buffers show depends on how busy the machine is; that they do, does not.
    let mut seen = false;
    for seed in ["1", "2", "3", "4", "5", "6"] {
        let asked = ["litmus", "--on", "host", "--model", "sc,tso", "--json", "--seed", seed, SB];
        let ran = run(&asked);
        let answer = &ran.json()[0];
        let (sc, tso) = (&answer["compared"][0], &answer["compared"][1]);
        assert_eq!(tso["verdict"], "consistent", "{answer}");
        if sc["verdict"] == "violation" {
            assert_eq!(ran.code, Some(1));
            assert_eq!(sc["outside"][0]["0:rax"], 0);
            seen = true;
            break;
        }
        assert_eq!(ran.code, Some(0));
    }
    assert!(seen, "six million runs of SB, and no store buffer showed");
}

#[test]
fn other_targets_do_not_run_litmus_tests() {
    let ran = run(&["litmus", "--on", "machine:tso", SB]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("cannot run litmus tests; use --on host"), "{}", ran.stderr);
}
