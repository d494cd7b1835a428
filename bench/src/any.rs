//! `tribunal verify --any-processors` on the protocols of this project: what it takes to find the
//! lemmas, and what it takes to check the proof, beside another model checker on the same file.
//!
//! The proof is a search of the strengthened abstraction, which `--emit-abstraction` writes as plain
//! Murphi. Ours explores that file without symmetry, as the other does, with one thread each.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use serde_json::Value;

use crate::axis;
use crate::child::Usage;
use crate::context::{Context, workspace};
use crate::explore::checkers::{Checker, Explored, Run, present};
use crate::explore::sizes::Size;
use crate::report::Section;
use crate::table::{Table, dash, ratio, seconds};
use crate::verify::ask;

/// What is verified.
struct Question {
    protocol: &'static str,
    /// The memory model; the protocol's own claims if there is none.
    model: Option<&'static str>,
    constants: &'static [(&'static str, u64)],
    /// Whether a quick run measures it.
    quick: bool,
}

const fn question(
    protocol: &'static str,
    model: Option<&'static str>,
    constants: &'static [(&'static str, u64)],
    quick: bool,
) -> Question {
    Question { protocol, model, constants, quick }
}

const QUESTIONS: &[Question] = &[
    question("german", None, &[], true),
    question("flash", None, &[], false),
    question("mi", Some("sc"), &[], true),
    question("msi", Some("sc"), &[], false),
    question("mesi", Some("sc"), &[], false),
    question("moesi", Some("sc"), &[], false),
    question("piranha", Some("sc"), &[("QueueLength", 1)], false),
    question("piranha", Some("sc"), &[("QueueLength", 2)], false),
    question("tso-cc", None, &[("AddressCount", 1)], false),
    question("tso-cc", Some("tso"), &[("AddressCount", 1)], false),
    question("tso-cc", Some("tso"), &[], false),
];

/// Measures all of it.
pub(crate) fn run(context: &Context) -> io::Result<Section> {
    let mut section = Section::new("any", "For any number of processors");
    let checkers = present(context);
    section.paragraph(
        "*CPU* is what it takes from the protocol to the answer, with all cores; *states* are those \
         of the last search, which is the proof, with symmetry. *Checked again* is the emitted \
         abstraction, explored without symmetry and with one thread, in seconds of CPU time: by \
         ours, and by Rumur where it finishes; *factor* is how many times as long Rumur takes. If \
         there are several claims, the numbers of states, lemmas and rounds are sums, and the first \
         is the one that is checked again.",
    );
    let mut table = Table::new([
        "protocol",
        "claim",
        "verdict",
        "lemmas",
        "rounds",
        "CPU",
        "memory",
        "states",
        "checked again",
        "ours",
        "rumur",
        "factor",
    ]);
    let questions = QUESTIONS.iter().filter(|asked| asked.quick || !context.settings.quick);
    for asked in questions {
        let emitted = context.file("abstraction.m");
        let (usage, said) = verify(context, asked, &emitted)?;
        let verdict = said["verdict"].as_str().unwrap_or("no answer").to_owned();
        context.progress(format!("any {} {}: {verdict}", asked.protocol, claim(asked)));
        let is_verified = verdict == "verified";
        let again = |is_ours: bool| match is_verified {
            true => explored(context, &checkers, &emitted, is_ours),
            false => Ok(None),
        };
        let (ours, rumur) = (again(true)?, again(false)?);
        let exploring = |run: &Option<Explored>| run.as_ref().map(|run| run.exploring);
        let sum = |key: &str| count(&said, key).filter(|_| is_verified).map_or_else(dash, shown);
        table.row([
            asked.protocol.to_owned(),
            claim(asked),
            verdict,
            sum("lemmas"),
            sum("rounds"),
            seconds(Some(usage.cpu())),
            axis::bytes(usage.peak as f64),
            sum("states"),
            agreed(ours.as_ref(), rumur.as_ref()),
            seconds(exploring(&ours)),
            seconds(exploring(&rumur)),
            ratio(exploring(&rumur), exploring(&ours)),
        ]);
    }
    section.table(&table);
    Ok(section)
}

/// What is claimed, and what is not the default.
fn claim(asked: &Question) -> String {
    let constants = asked.constants.iter().map(|(name, value)| format!("{name}={value}"));
    let words = std::iter::once(asked.model.unwrap_or("invariants").to_owned()).chain(constants);
    words.collect::<Vec<_>>().join(" ")
}

fn shown(number: u64) -> String {
    axis::count(number as f64)
}

fn verify(context: &Context, asked: &Question, emitted: &Path) -> io::Result<(Usage, Value)> {
    let file = workspace().join(format!("protocols/{}.m", asked.protocol));
    let mut command = vec!["verify", "--any-processors"];
    command.extend(asked.model.iter().flat_map(|model| ["--model", model]));
    let rest: Vec<OsString> = vec!["--emit-abstraction".into(), emitted.into(), file.into()];
    ask(context, asked.constants, &command, rest)
}

/// The sum over all claims of a number, or of the lengths of a list.
fn count(said: &Value, key: &str) -> Option<u64> {
    let of = |claim: &Value| match &claim[key] {
        Value::Array(list) => Some(list.len() as u64),
        number => number.as_u64(),
    };
    said["claims"].as_array()?.iter().map(of).sum()
}

/// The emitted abstraction, explored by ours or by Rumur.
fn explored(
    context: &Context,
    checkers: &[Checker],
    emitted: &Path,
    is_ours: bool,
) -> io::Result<Option<Explored>> {
    let name = if is_ours { "tribunal" } else { "rumur" };
    let Some(checker) = checkers.iter().find(|checker| checker.name() == name) else {
        return Ok(None);
    };
    let size = Size {
        model: "abstraction".to_owned(),
        file: emitted.to_owned(),
        constants: Vec::new(),
        states: 0,
    };
    let run = Run { size: &size, symmetry: false, threads: 1, deadlock: false };
    let explored = checker.explore(context, &run)?;
    context.progress(format!("  checked again by {name}: {}", explored.is_some()));
    Ok(explored)
}

/// How many states the emitted abstraction has, if both find nothing wrong and say the same.
fn agreed(ours: Option<&Explored>, rumur: Option<&Explored>) -> String {
    match (ours, rumur) {
        (Some(ours), Some(rumur)) if ours.states != rumur.states => "DIFFERENT".to_owned(),
        (ours, rumur) if ours.into_iter().chain(rumur).any(|run| !run.verdict) => {
            "WRONG".to_owned()
        }
        (Some(ours), Some(_)) => format!("{}, both", shown(ours.states)),
        (Some(ours), None) => format!("{}, ours only", shown(ours.states)),
        (None, Some(rumur)) => format!("{}, rumur only", shown(rumur.states)),
        (None, None) => dash(),
    }
}
