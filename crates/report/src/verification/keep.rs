//! Files to go on with after an alarm: the run, its memory trace, the certificate and a picture; and
//! the commands that take it from there.

use std::path::Path;

use conform::report::{Open, Report, Run};
use conform::{EventNames, MOST_ALARMS, MemoryModel};
use evidence::{Evidence, Verdict};

use super::{can_be_assumed, json};
use crate::explain;

/// The flag that assumes what can be assumed.
pub(crate) const ASSUME: &str = "--assume data-independence";

const RUN: &str = "run.json";
const COMPOSED: &str = "composed.m";
const TRACE: &str = "trace.trace";
const CERTIFICATE: &str = "certificate.jsonl";
const PICTURE: &str = "why.svg";

/// A file to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its name.
    pub name: &'static str,
    /// The content of the file.
    pub text: String,
}

/// The files of a verification; none if there is no run.
pub fn files(report: &Report) -> Vec<File> {
    let file = |name, text| File { name, text };
    let Some(run) = shown(report) else { return Vec::new() };
    let mut files = vec![file(RUN, json::for_replay(report) + "\n")];
    if let Some(composed) = &run.composed {
        files.push(file(COMPOSED, composed.clone()));
    }
    if let Some(memory) = report.memory() {
        let certificate = &memory.certificate;
        files.push(file(TRACE, memory.trace.clone()));
        files.push(file(CERTIFICATE, certificate.to_json(&memory.history) + "\n"));
        if let Evidence::Violation(proof) = &certificate.evidence {
            files.push(file(PICTURE, explain::svg(&memory.history, certificate.model, proof)));
        }
    }
    files
}

/// The run, if there is one.
fn shown(report: &Report) -> Option<&Run> {
    report.run().filter(|run| run.finding.counterexample.is_some())
}

/// The next commands, with files that are saved in this directory. `file` is the name of the
/// protocol.
pub fn from_files(report: &Report, file: &str, directory: &Path) -> Vec<String> {
    let Some(run) = shown(report) else { return Vec::new() };
    let place = |name: &str| directory.join(name).display().to_string();
    let kept = place(RUN);
    let composed = run.composed.as_ref().map(|_| place(COMPOSED));
    let mut commands = vec![
        format!("tribunal verify {} --replay {kept} {file}", asked_again(report)),
        format!("tribunal explore --replay {kept} {}", composed.as_deref().unwrap_or(file)),
    ];
    if let Some(memory) = report.memory() {
        let (trace, certificate) = (place(TRACE), place(CERTIFICATE));
        let model = memory.certificate.model;
        // Without the flag, a value that was never stored is malformed input.
        let flag = if memory.thin_air { " --thin-air violation" } else { "" };
        commands.push(format!("tribunal check --model {model}{flag} {trace}"));
        commands.push(format!("tribunal certify{flag} {trace} {certificate}"));
        if let Evidence::Violation(_) = &memory.certificate.evidence {
            commands.push(format!("tribunal explain --model {model}{flag} {trace}"));
            commands
                .push(format!("open {} in a browser (a picture of the violation)", place(PICTURE)));
        }
    }
    commands
}

/// The next commands without saved files. `file` is the name of the protocol.
pub fn go_on(report: &Report, file: &str) -> Vec<String> {
    let again = asked_again(report);
    let mut commands = Vec::new();
    let is_false_alarm = matches!(report.verdict, Verdict::Undecided(Open::FalseAlarm(_)));
    if is_false_alarm && report.options.pass_over <= MOST_ALARMS {
        let flag = match report.options.memory_model {
            MemoryModel::Sc => "--witness none",
            MemoryModel::Tso => "--continue",
        };
        commands.push(format!("tribunal verify {again} {flag} {file}"));
    }
    if shown(report).is_some() {
        commands.push(format!("tribunal verify {again} --out DIR {file}"));
    }
    if can_be_assumed(report.not_established()) {
        commands.push(format!("tribunal verify {again} {ASSUME} {file}"));
    }
    commands
}

/// The flags that repeat the question.
fn asked_again(report: &Report) -> String {
    let options = &report.options;
    let mut flags = format!("--model {}", options.memory_model.name());
    for (name, value) in &options.language.constants {
        flags.push_str(&format!(" --const {name}={value}"));
    }
    let (events, usual) = (&options.events, EventNames::default());
    let given = [
        ("load", Some(&events.load), Some(&usual.load)),
        ("store", Some(&events.store), Some(&usual.store)),
        ("commit", events.commit.as_ref(), usual.commit.as_ref()),
    ];
    for (flag, name, usual) in given {
        if let Some(name) = name.filter(|&name| Some(name) != usual) {
            flags.push_str(&format!(" --{flag} {name}"));
        }
    }
    if options.assume_independence {
        flags.push_str(&format!(" {ASSUME}"));
    }
    flags
}
