//! Files for going on: the composed models, and for an alarm the run, its memory trace, the
//! certificate and a picture.

use std::path::{Path, PathBuf};

use evidence::Evidence;
use report::explain;
use report::verification::json;

use super::tell::{Tale, asked_again};
use super::{Question, shown};
use crate::ending::Failure;
use crate::interrupt::Interrupt;
use crate::output::Saved;

/// Makes sure that there is a directory.
pub(super) fn create(directory: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(directory).map_err(|error| Failure::File {
        name: shown(directory),
        action: "create",
        error,
    })
}

/// Writes the composed models.
pub(super) fn emit(
    directory: &Path,
    composed: &[(String, String)],
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    create(directory)?;
    for (number, (name, text)) in composed.iter().enumerate() {
        let path = directory.join(format!("lemma-{}.m", number + 1));
        write(&path, &format!("-- {name}\n{text}"), interrupt)?;
    }
    Ok(())
}

/// Writes what was found, and says which commands take it from there.
pub(super) fn keep(
    question: &Question<'_>,
    tale: &Tale,
    directory: &Path,
    interrupt: &Interrupt,
) -> Result<Vec<String>, Failure> {
    let mut commands = Vec::new();
    if tale.verification.counterexample.is_none() {
        return Ok(commands);
    }
    let place = |name: &str| -> PathBuf { directory.join(name) };
    let run = place("run.json");
    write(&run, &(for_replay(&json::object(&tale.verification)) + "\n"), interrupt)?;
    let file = &question.arguments.file;
    let again = format!("tribunal verify {} --replay {}", asked_again(question), shown(&run));
    commands.push(format!("{again} {file}"));
    match &tale.composed {
        Some(text) => {
            let composed = place("composed.m");
            write(&composed, text, interrupt)?;
            commands.push(format!(
                "tribunal explore --replay {} {}",
                shown(&run),
                shown(&composed)
            ));
        }
        None => commands.push(format!("tribunal explore --replay {} {file}", shown(&run))),
    }
    if let Some(judged) = &tale.judged {
        let (trace, certificate) = (place("trace.trace"), place("certificate.jsonl"));
        let model = judged.certificate.model;
        write(&trace, &judged.trace, interrupt)?;
        let line = judged.certificate.to_json(&judged.history) + "\n";
        write(&certificate, &line, interrupt)?;
        // A value that nobody stored is malformed input unless it is said to be a violation.
        let flag = match history::parse_text(&judged.trace) {
            Ok(_) => "",
            Err(_) => " --thin-air violation",
        };
        commands.push(format!("tribunal check --model {model}{flag} {}", shown(&trace)));
        commands.push(format!("tribunal certify{flag} {} {}", shown(&trace), shown(&certificate)));
        if let Evidence::Violation(proof) = &judged.certificate.evidence {
            let why = place("why.svg");
            write(&why, &explain::svg(&judged.history, model, proof), interrupt)?;
            commands.push(format!("tribunal explain --model {model}{flag} {}", shown(&trace)));
            commands.push(format!("open {} in a browser", shown(&why)));
        }
    }
    Ok(commands)
}

/// What `--replay` reads: a run is a violation or a deadlock, whatever it means for memory.
pub(super) fn for_replay(object: &str) -> String {
    let Ok(mut value) = serde_json::from_str::<serde_json::Value>(object) else {
        return object.to_owned();
    };
    let replayable = match value["kind"].as_str() {
        Some("deadlock") => "deadlock",
        Some(_) => "violation",
        None => return object.to_owned(),
    };
    value["verdict"] = replayable.into();
    value.to_string()
}

fn write(path: &Path, text: &str, interrupt: &Interrupt) -> Result<(), Failure> {
    let mut file = Saved::create(path, interrupt)?;
    file.write(text.as_bytes())?;
    file.finish()
}
