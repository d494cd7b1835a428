//! `tribunal check` at the end of a pipe: answers at once, Ctrl-C, readers who go away.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use crate::common::*;

/// A started command with the lines it prints.
struct Conversation {
    child: Child,
    answers: BufReader<std::process::ChildStdout>,
}

impl Conversation {
    fn start(arguments: &[&str]) -> Self {
        let mut child = spawn(arguments);
        let answers = BufReader::new(child.stdout.take().unwrap());
        Self { child, answers }
    }

    fn say(&mut self, text: &str) {
        let stdin = self.child.stdin.as_mut().unwrap();
        stdin.write_all(text.as_bytes()).unwrap();
        stdin.flush().unwrap();
    }

    fn hear(&mut self) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        line
    }

    fn end(mut self) -> (Option<i32>, String) {
        drop(self.child.stdin.take());
        let mut rest = String::new();
        self.answers.read_to_string(&mut rest).unwrap();
        (self.child.wait().unwrap().code(), rest)
    }
}

#[test]
fn each_trace_is_answered_before_the_next_is_sent() {
    for jobs in ["1", "4"] {
        let mut talk = Conversation::start(&["check", "--json", "--model", "sc", "-j", jobs, "-"]);
        for round in 1..=20 {
            let (trace, verdict) = match round % 2 {
                0 => (CONSISTENT, "consistent"),
                _ => (STORE_BUFFERING, "violation"),
            };
            talk.say(trace);
            let answer: serde_json::Value = serde_json::from_str(&talk.hear()).unwrap();
            assert_eq!(answer["trace"], round);
            assert_eq!(answer["verdict"], verdict);
        }
        assert_eq!(talk.end(), (Some(1), String::new()));
    }
}

#[test]
fn check_without_a_newline_after_it_is_answered_too() {
    let mut talk = Conversation::start(&["axe", "check", "SC", "-"]);
    talk.say(CONSISTENT.trim_end());
    assert_eq!(talk.hear(), "OK\n");
    talk.say("\n");
    talk.say(STALE_READ);
    assert_eq!(talk.hear(), "NO\n");
    assert_eq!(talk.end(), (Some(0), String::new()));
}

/// The certificate of a file with as many traces, line by line.
fn certificate_of(trace: &str, directory: &std::path::Path) -> Vec<String> {
    let path = directory.join("proof.jsonl");
    run(&["check", "-q", "--certificate", path.to_str().unwrap(), trace]);
    std::fs::read_to_string(path).unwrap().lines().map(|line| format!("{line}\n")).collect()
}

#[test]
fn each_certificate_is_checked_before_the_next_is_sent() {
    let directory = directory("certify-stream");
    let trace = file(&directory, "t.trace", [CONSISTENT, STORE_BUFFERING].concat().repeat(5));
    let mut talk = Conversation::start(&["certify", "-j", "2", &trace, "-"]);
    for (n, line) in certificate_of(&trace, &directory).iter().enumerate() {
        talk.say(line);
        let answer = talk.hear();
        assert!(answer.starts_with(&format!("{trace} #{}: sc: ", n + 1)), "{answer}");
        assert!(answer.ends_with(" certificate holds\n"), "{answer}");
    }
    assert_eq!(talk.end(), (Some(0), String::new()));
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_certify_with_130_after_what_was_found() {
    let directory = directory("certify-ctrl-c");
    let trace = file(&directory, "t.trace", CONSISTENT.repeat(2));
    let mut talk = Conversation::start(&["certify", &trace, "-"]);
    talk.say(&certificate_of(&trace, &directory)[0]);
    assert!(talk.hear().ends_with("certificate holds\n"));
    press_ctrl_c(&talk.child);
    assert_eq!(wait_up_to_ten_seconds(&mut talk.child), Some(130));
    let mut errors = String::new();
    talk.child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert_eq!(errors, "tribunal: interrupted; 1 certificate checked\n");
}

/// A Ctrl-C in the middle of many small traces: whole lines, one for each trace judged, a
/// certificate for each, and a line for each that was begun and not judged.
#[cfg(unix)]
#[test]
fn ctrl_c_among_many_traces_keeps_verdicts_and_certificates_in_step() {
    let directory = directory("ctrl-c-many");
    let certificate = directory.join("proof.jsonl");
    let path = certificate.to_str().unwrap();
    let mut talk = Conversation::start(&["check", "-q", "--certificate", path, "-"]);
    let many = [CONSISTENT, STORE_BUFFERING].concat().repeat(500);
    talk.say(&many);
    let mut heard = vec![talk.hear()];
    press_ctrl_c(&talk.child);
    let mut rest = String::new();
    talk.answers.read_to_string(&mut rest).unwrap();
    assert_eq!(wait_up_to_ten_seconds(&mut talk.child), Some(130));
    heard.extend(rest.lines().map(|line| format!("{line}\n")));
    heard.retain(|line| !line.contains(": sc: undecided: interrupted; "));
    let lines = std::fs::read_to_string(&certificate).unwrap();
    assert_eq!(lines.lines().count(), heard.len());
    for (line, verdict) in lines.lines().zip(&heard) {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(verdict.starts_with(&format!("<stdin> #{}: sc: ", line["trace"])), "{verdict}");
    }
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 1, "no temporary file stays");
}

#[cfg(unix)]
fn press_ctrl_c(child: &Child) {
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(status.unwrap().success());
}

#[cfg(unix)]
fn wait_up_to_ten_seconds(child: &mut Child) -> Option<i32> {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(10) {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    panic!("still running");
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_with_130_and_saves_what_was_found() {
    let directory = directory("ctrl-c");
    let certificate = directory.join("proof.jsonl");
    let path = certificate.to_str().unwrap();
    let mut talk = Conversation::start(&["check", "-q", "--certificate", path, "-"]);
    talk.say(CONSISTENT);
    talk.say(STORE_BUFFERING);
    assert!(talk.hear().contains("#1: sc: consistent"));
    assert!(talk.hear().contains("#2: sc: violation"));
    talk.say("0: M[x] := 1\n");
    assert!(!certificate.exists(), "the file appears when the run ends");
    std::thread::sleep(Duration::from_millis(500));
    press_ctrl_c(&talk.child);
    assert_eq!(wait_up_to_ten_seconds(&mut talk.child), Some(130));
    let lines = std::fs::read_to_string(&certificate).unwrap();
    assert_eq!(lines.lines().count(), 2);
    assert!(lines.ends_with("}\n"));
    let left: Vec<_> = std::fs::read_dir(&directory).unwrap().collect();
    assert_eq!(left.len(), 1, "no temporary file stays");
    let mut errors = String::new();
    talk.child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    let summary = "interrupted; sc: 3 traces: 1 consistent, 1 violation, 1 undecided";
    assert!(errors.contains(summary), "{errors}");
}

#[cfg(unix)]
#[test]
fn ctrl_c_while_reading_ends_the_other_commands_at_once() {
    for arguments in [&["shrink", "--model", "sc", "-"][..], &["convert", "--to", "jsonl", "-"]] {
        let mut child = spawn(arguments);
        std::thread::sleep(Duration::from_millis(300));
        press_ctrl_c(&child);
        assert_eq!(wait_up_to_ten_seconds(&mut child), Some(130), "{arguments:?}");
    }
}

#[test]
fn a_reader_who_goes_away_ends_it_quietly() {
    let directory = directory("broken-pipe");
    let many = file(&directory, "many.trace", STORE_BUFFERING.repeat(5_000));
    let certificate = file(&directory, "lines", certificate_of(&many, &directory).concat());
    for arguments in [
        &["check", "--json", &many][..],
        &["check", &many],
        &["axe", "check", "SC", &many],
        &["convert", "--to", "jsonl", &many],
        &["certify", &many, &certificate],
    ] {
        let mut child = spawn(arguments);
        let mut answers = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        answers.read_line(&mut line).unwrap();
        drop(answers);
        let ran = finish(child);
        assert_eq!(ran.stderr, "", "{arguments:?}");
        assert!(matches!(ran.code, Some(0 | 1 | 3)), "{arguments:?}: {:?}", ran.code);
    }
}
