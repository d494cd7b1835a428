//! Ctrl-C during `tribunal check`: what was begun has its line, and the files are complete.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Command};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use crate::common::*;

/// How soon the command has to end. A busy machine is slower than the second that we promise.
const SOON: Duration = Duration::from_secs(5);

/// A started command whose input stays open.
struct Checked {
    child: Child,
    /// Dropped to close the input.
    input: Sender<()>,
    answers: BufReader<ChildStdout>,
}

impl Checked {
    /// Sends a trace, waits for its answer, and sends the beginning of the next.
    fn start(arguments: &[&str], next: &str) -> Self {
        let mut child = spawn(arguments);
        let mut input = child.stdin.take().unwrap();
        input.write_all(CONSISTENT.as_bytes()).unwrap();
        input.flush().unwrap();
        let mut answers = BufReader::new(child.stdout.take().unwrap());
        let mut first = String::new();
        answers.read_line(&mut first).unwrap();
        assert!(first.contains("consistent"), "{first}");
        let next = next.to_owned();
        let (sender, closes) = channel();
        // The command may read no more than it needs.
        std::thread::spawn(move || {
            let _ = input.write_all(next.as_bytes()).and_then(|()| input.flush());
            let _ = closes.recv();
        });
        std::thread::sleep(Duration::from_millis(500));
        Self { child, input: sender, answers }
    }

    /// Presses Ctrl-C. Gives the rest of the answers.
    fn interrupt(mut self) -> Ran {
        let before = Instant::now();
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
        let (mut stdout, mut stderr) = (String::new(), String::new());
        self.answers.read_to_string(&mut stdout).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        let code = self.child.wait().unwrap().code();
        assert!(before.elapsed() < SOON, "{:?}", before.elapsed());
        drop(self.input);
        Ran { stdout, stderr, code }
    }
}

/// A trace without its end: all of it in recorded order, or not.
const OPEN: &str = "0: M[x] := 1\n1: M[x] == 1\n0: M[y] := 2\n";

/// A trace that a search does not decide in any time a test can take.
fn hard() -> String {
    let ran = run(&["generate", "hard", "--variables", "300"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran.stdout
}

#[test]
fn the_open_trace_of_live_has_its_line_while_the_pipe_is_silent() {
    let live = ["check", "--live", "--model", "sc,tso", "-q", "-"];
    let ran = Checked::start(&live, OPEN).interrupt();
    assert_eq!(ran.code, Some(130));
    let lines = ran.lines();
    // The second line about the first trace may come with the first one, or later.
    let open: Vec<_> = lines.iter().filter(|line| line.starts_with("<stdin> #2: ")).collect();
    for (line, model) in open.iter().zip(["sc", "tso"]) {
        assert!(line.starts_with(&format!("<stdin> #2: {model}: undecided (live, 3 events, ")));
        assert!(line.ends_with("): interrupted; the first 3 events are consistent"), "{line}");
    }
    assert_eq!(open.len(), 2, "{lines:?}");
    let summary = "tribunal: interrupted; sc: 2 traces: 1 consistent, 0 violations, 1 undecided; \
                   tso: 2 traces: 1 consistent, 0 violations, 1 undecided\n";
    assert_eq!(ran.stderr, summary);
}

#[test]
fn what_the_recorded_order_does_not_explain_is_not_called_consistent() {
    // The last event reads what nobody has written yet.
    let waiting = format!("{OPEN}0: M[x] := 3\n1: M[x] == 9\n");
    let ran = Checked::start(&["check", "--live", "--json", "-"], &waiting).interrupt();
    assert_eq!(ran.code, Some(130));
    let [open] = &ran.json()[..] else { panic!("{}", ran.stdout) };
    assert_eq!(open["trace"], 2);
    assert_eq!(open["verdict"], "undecided");
    assert_eq!(open["reason"], "interrupted");
    assert_eq!(
        (&open["events"], &open["threads"], &open["addresses"]),
        (&5.into(), &2.into(), &2.into())
    );
    assert_eq!(open["established"], "the first 4 events are consistent");
}

#[test]
fn a_trace_without_an_event_has_no_line() {
    for live in [&["check", "--live", "-"][..], &["check", "-"]] {
        let ran = Checked::start(live, "\n").interrupt();
        assert_eq!((ran.code, &*ran.stdout), (Some(130), ""));
        assert_eq!(ran.stderr, "tribunal: interrupted; sc: 1 trace: 1 consistent, 0 violations\n");
    }
}

#[test]
fn a_search_of_live_is_interrupted() {
    let directory = directory("interrupted-live-search");
    let xml = directory.join("x.xml").display().to_string();
    let ran = Checked::start(&["check", "--live", "--junit", &xml, "-"], &hard()).interrupt();
    assert_eq!(ran.code, Some(130));
    assert!(ran.stdout.starts_with("<stdin> #2: sc: undecided (live, "), "{}", ran.stdout);
    assert!(ran.stdout.contains("): interrupted; the first "), "{}", ran.stdout);
    let xml = std::fs::read_to_string(xml).unwrap();
    assert!(xml.contains("trace 2: sc") && xml.trim_end().ends_with("</testsuites>"), "{xml}");
}

#[test]
fn a_trace_that_a_co_process_reads_or_judges_has_its_line() {
    let directory = directory("interrupted-co-process");
    let xml = directory.join("x.xml").display().to_string();
    let certificate = directory.join("proof.jsonl").display().to_string();
    let files = ["--junit", &xml, "--certificate", &certificate];
    for (next, established) in [(OPEN.to_owned(), "its end was not read"), (hard(), "")] {
        let check = [&["check", "-q", "--model", "sc"][..], &files, &["-"]].concat();
        let ran = Checked::start(&check, &next).interrupt();
        assert_eq!(ran.code, Some(130));
        let [line] = ran.lines()[..] else { panic!("{}", ran.stdout) };
        assert!(line.starts_with("<stdin> #2: sc: undecided"), "{line}");
        assert!(line.contains(": interrupted"), "{line}");
        assert!(line.ends_with(established), "{line}");
        let summary = "interrupted; sc: 2 traces: 1 consistent, 0 violations, 1 undecided\n";
        assert_eq!(ran.stderr, format!("tribunal: {summary}"));
        let lines = std::fs::read_to_string(&certificate).unwrap();
        assert_eq!(lines.lines().count(), 1);
        let xml = std::fs::read_to_string(&xml).unwrap();
        assert!(xml.contains("trace 2: sc") && xml.trim_end().ends_with("</testsuites>"), "{xml}");
    }
}

#[test]
fn every_model_of_an_interrupted_trace_has_a_line() {
    let check = ["check", "--jobs", "1", "--json", "--model", "sc,tso", "-"];
    let ran = Checked::start(&check, &hard()).interrupt();
    assert_eq!(ran.code, Some(130));
    let open: Vec<_> = ran.json().into_iter().filter(|object| object["trace"] == 2).collect();
    let models: Vec<_> = open.iter().map(|object| &object["model"]).collect();
    assert_eq!(models, ["sc", "tso"]);
    assert!(open.iter().all(|object| object["verdict"] == "undecided"), "{open:?}");
    assert!(open.iter().all(|object| object["reason"] == "interrupted"), "{open:?}");
}
