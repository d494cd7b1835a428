//! `tribunal hunt`.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::*;

/// Hunts with these arguments in a folder.
fn hunt(folder: &Path, arguments: &[&str]) -> Ran {
    let folder = folder.to_str().unwrap();
    run(&[&["hunt", "--out", folder], arguments].concat())
}

/// The directories of findings, in order.
fn findings(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder.join("findings")).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_unstable();
    names
}

const TSO_UNDER_SC: [&str; 4] = ["--on", "machine:tso", "--model", "sc"];

#[test]
fn the_machine_of_tso_keeps_to_tso() {
    let folder = directory("hunt-tso");
    let ran = hunt(&folder, &["--on", "machine:tso", "--model", "tso", "--tests", "50"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.starts_with("machine:tso: tso: no violation found\n  50 tests, "));
    assert!(ran.stdout.contains("exercised") && ran.stdout.contains("litmus tests: "));
    assert!(findings(&folder).is_empty());
    let summary = fs::read_to_string(folder.join("summary.txt")).unwrap();
    assert!(summary.contains("Program-order edges (number of tests)\n"));
}

#[test]
fn a_finding_has_everything_and_other_commands_agree() {
    let folder = directory("hunt-first");
    let ran = hunt(&folder, &[&TSO_UNDER_SC[..], &["--first"]].concat());
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stdout.starts_with("found SB: 4 of "), "{}", ran.stdout);
    assert_eq!(findings(&folder), ["001-SB"]);
    let finding = folder.join("findings/001-SB");
    let path = |name: &str| finding.join(name).to_str().unwrap().to_owned();
    for name in ["program.txt", "program.json", "why.txt", "why.svg", "finding.json"] {
        assert!(!fs::read_to_string(path(name)).unwrap().is_empty(), "{name}");
    }
    let certified = run(&["certify", &path("minimal.trace"), &path("certificate.jsonl")]);
    assert_eq!(certified.code, Some(0), "{}", certified.stdout);
    for trace in ["run.trace", "minimal.trace"] {
        let checked = run(&["check", "-q", "--model", "sc,tso", &path(trace)]);
        assert!(checked.stdout.contains("sc: violation"), "{}", checked.stdout);
        assert!(checked.stdout.contains("tso: consistent"), "{}", checked.stdout);
    }
}

#[test]
fn every_bug_of_the_machine_of_tso_is_found_at_once() {
    for bug in ["lost-store", "stale-read", "reordered-drain", "broken-forwarding", "torn-atomic"] {
        let folder = directory(&format!("hunt-{bug}"));
        let asked = ["--on", "machine:tso", "--bug", bug, "--model", "tso", "--first", "--json"];
        let ran = hunt(&folder, &asked);
        assert_eq!(ran.code, Some(1), "{bug}: {}", ran.stderr);
        let lines = ran.json();
        assert_eq!(
            (&lines[0]["event"], &lines[1]["event"]),
            (&"finding".into(), &"summary".into())
        );
        assert!(lines[0]["events"].as_u64().unwrap() <= 8, "{}", lines[0]);
        assert_eq!(lines[0]["certified"], true, "{}", lines[0]);
        assert_eq!(lines[1]["verdict"], "violation");
    }
}

#[test]
fn the_same_command_goes_on_and_another_is_refused() {
    let folder = directory("hunt-again");
    let tests = |number: &'static str| [&TSO_UNDER_SC[..], &["--tests", number]].concat();
    let first = hunt(&folder, &tests("20"));
    assert_eq!(first.code, Some(1));
    let known = findings(&folder);
    let second = hunt(&folder, &tests("40"));
    assert_eq!(second.code, Some(1));
    assert!(second.stderr.contains("at test 20"), "{}", second.stderr);
    assert!(second.stdout.contains("  40 tests, "), "{}", second.stdout);
    assert!(findings(&folder).starts_with(&known));
    let other = hunt(&folder, &["--on", "machine:tso", "--model", "tso", "--tests", "40"]);
    assert_eq!(other.code, Some(2));
    assert!(other.stderr.contains("--model was sc and is now tso"), "{}", other.stderr);
}

/// Starts a hunt without an end and returns when it has reported some findings.
fn started(folder: &Path, enough: usize) -> (std::process::Child, Vec<String>) {
    let folder = folder.to_str().unwrap();
    let mut child = tribunal(&[&["hunt", "--out", folder, "--json"], &TSO_UNDER_SC[..]].concat())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
    let paths = lines.take(enough).map(|line| {
        let line: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
        line["path"].as_str().unwrap().to_owned()
    });
    let paths = paths.collect();
    (child, paths)
}

#[test]
fn a_hunt_that_is_killed_loses_nothing_that_it_reported() {
    let folder = directory("hunt-killed");
    let (mut child, reported) = started(&folder, 3);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(reported.len(), 3);
    for path in &reported {
        for name in ["minimal.trace", "certificate.jsonl", "why.svg", "finding.json"] {
            assert!(folder.join(path).join(name).exists(), "{path}/{name}");
        }
    }
    let before = findings(&folder);
    let again = hunt(&folder, &[&TSO_UNDER_SC[..], &["--json", "--tests", "60"]].concat());
    assert_eq!(again.code, Some(1), "{}", again.stderr);
    let summary = again.json().pop().unwrap();
    let shapes: Vec<_> =
        summary["findings"].as_array().unwrap().iter().map(|f| &f["shape"]).collect();
    let mut distinct = shapes.clone();
    distinct.sort_by_key(|shape| shape.to_string());
    distinct.dedup();
    assert_eq!(distinct.len(), shapes.len(), "no shape is kept twice");
    let whole = before.into_iter().filter(|name| !name.starts_with('.')).collect::<Vec<_>>();
    assert!(findings(&folder).starts_with(&whole));
}

#[cfg(unix)]
#[test]
fn ctrl_c_saves_what_there_is_and_exits_130() {
    let folder = directory("hunt-interrupted");
    let (child, reported) = started(&folder, 1);
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
    let summary = fs::read_to_string(folder.join("summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(summary["findings"][0]["path"], *reported[0]);
    assert!(folder.join("hunt.json").exists() && folder.join("summary.txt").exists());
}

#[test]
fn what_makes_no_sense_is_refused_with_the_remedy() {
    for (arguments, sentence) in [
        (&["--on", "host", "--bug", "lost-store", "--model", "tso"][..], "--on machine:MODEL"),
        (&["--on", "machine:sc", "--bug", "reordered-drain", "--model", "sc"], "no store buffers"),
        (&["--on", "machine:arm", "--model", "sc"], "unknown machine `arm`"),
        (&["--on", "machine:sc", "--model", "sc", "--threads", "0"], "1 to"),
    ] {
        let folder = directory("hunt-senseless");
        let ran = hunt(&folder, arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?}");
        assert!(ran.stderr.contains(sentence), "{}", ran.stderr);
    }
}

#[test]
fn the_host_keeps_to_tso_and_is_not_sc() {
    let folder = directory("hunt-host-sc");
    // How soon the store buffers show depends on how loaded the machine is, but show they do.
    let asked = ["--on", "host", "--model", "sc", "--threads", "2", "--first", "--time", "120s"];
    let ran = hunt(&folder, &asked);
    if ran.code == Some(2) {
        eprintln!("skipped: {}", ran.stderr);
        return;
    }
    assert_eq!(ran.code, Some(1), "{}{}", ran.stdout, ran.stderr);
    let minimal = fs::read_dir(folder.join("findings")).unwrap().next().unwrap().unwrap();
    let minimal = minimal.path().join("minimal.trace").to_str().unwrap().to_owned();
    let checked = run(&["check", "-q", "--model", "sc,tso", &minimal]);
    assert!(checked.stdout.contains("sc: violation"), "{}", checked.stdout);
    assert!(checked.stdout.contains("tso: consistent"), "{}", checked.stdout);
    if cfg!(target_arch = "x86_64") {
        let folder = directory("hunt-host-tso");
        let ran = hunt(&folder, &["--on", "host", "--model", "tso", "--time", "3s"]);
        assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    }
}

#[test]
fn a_protocol_is_hunted_with_programs_that_fit_it() {
    let folder = directory("hunt-protocol");
    let sound = ["--on", "protocols/piranha.m", "--model", "sc", "--tests", "10"];
    let ran = hunt(&folder, &sound);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("no violation found\n  10 tests, "), "{}", ran.stdout);
    assert!(!ran.stdout.contains("cannot run on this target"), "{}", ran.stdout);
    let other = hunt(&folder, &[&sound[..], &["--const", "ProcessorCount=3"]].concat());
    assert_eq!(other.code, Some(2), "another size is another hunt");
    let folder = directory("hunt-protocol-broken");
    let file = "protocols/broken/tso-cc-write-back-lost.m";
    let ran = hunt(&folder, &["--on", file, "--model", "tso", "--first"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stdout.starts_with("found Co"), "{}", ran.stdout);
}
