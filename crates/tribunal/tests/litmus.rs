//! `tribunal litmus` as its users see it.

#![allow(clippy::unwrap_used)] // a test may fail

mod common;

use common::{run, run_with};

const SB: &str = "examples/litmus/SB.litmus";

#[test]
fn the_layout_is_that_of_herd7() {
    let ran = run(&["litmus", "--model", "TSO", SB]);
    // The condition has a backslash, which is not one of a path.
    snapbox::Assert::new().normalize_paths(false).eq(
        ran.stdout,
        snapbox::str![[r#"
Test SB Allowed
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
Time SB [..]


"#]],
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
    assert_eq!(code(&["--model", "rmo", SB]), Some(2));
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
    snapbox::assert_data_eq!(
        ran.stderr,
        snapbox::str![[r#"
error: tests for PPC are not supported
 --> <stdin>:1:1
  |
1 | PPC MP
  | ^^^
  = help: the architectures are X86 and X86_64

"#]]
    );
}

#[test]
fn what_does_not_fit_a_budget_is_undecided() {
    let endless = "X86_64 endless\n{ }\n P0 ;\n L: incl %eax ;\n movl %eax,(x) ;\n jmp L ;\n\
                   exists (x=1)\n";
    let ran = run_with(endless, &["litmus", "--budget", "200ms", "-"]);
    assert_eq!(ran.code, Some(3));
    assert!(ran.stderr.contains("the time ran out after"), "{}", ran.stderr);
}

#[test]
fn an_address_that_is_none_is_told() {
    let text = "X86_64 astray\n{ 0:rax=5; }\n P0 ;\n movl $1,(%rax) ;\nexists (x=1)\n";
    let ran = run_with(text, &["litmus", "-"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("thread 0 accesses 0x5, which is not"), "{}", ran.stderr);
}
