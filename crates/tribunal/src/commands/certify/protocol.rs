//! `tribunal certify PROTOCOL.m FILE`: the certificate of a verdict for any number of processors.
//!
//! Crate `recheck` derives the abstract programs again and visits all their states with the
//! reference interpreter; here files are read, and what came of it is reported.

use std::io::Read;
use std::path::Path;

use recheck::{
    Certificate, Checked, Ended, Holds, Limits, Partial, Question, Verdict, check, is_certificate,
};
use report::exploration::text::counted;
use serde_json::{Value, json};

use crate::arguments::CertifyArguments;
use crate::commands::explore::model::{read_source, read_text};
use crate::commands::verify::stop::Stop;
use crate::ending::{Ending, Failure};
use crate::input;
use crate::interrupt::Interrupt;
use crate::output;
use crate::progress::Progress;

/// How much of a file is read to see which kind of certificate it is.
const BEGINNING: u64 = 64;

/// Whether a file is a certificate of this kind, going by how it begins.
pub(super) fn is_asked(certificate: &Path) -> bool {
    let name = certificate.to_string_lossy();
    // Standard input can be read once only.
    if name == "-" {
        return false;
    }
    let mut beginning = Vec::new();
    let read = history::open(&name).map(|file| file.take(BEGINNING).read_to_end(&mut beginning));
    read.is_ok() && String::from_utf8_lossy(&beginning).contains("\"certificate\"")
}

pub(super) fn run(arguments: &CertifyArguments, interrupt: &Interrupt) -> Result<Ending, Failure> {
    let file = arguments.certificate.to_string_lossy();
    let text = read_text(&file)?;
    let malformed = |reason: String| Failure::Usage(format!("{}:{reason}", input::shown(&file)));
    if !is_certificate(&text) {
        return Err(malformed("1: this is no certificate".to_owned()));
    }
    let certificate = Certificate::read(&text).map_err(|why| malformed(why.to_string()))?;
    let protocol = read_source(&arguments.trace)?;
    let stop = Stop::new(arguments.budget, interrupt);
    let progress = Progress::start(arguments.quiet.quiet);
    let teller = progress.teller();
    let mut listener = |claim: &str, states: u64, visited: u64| {
        teller.say(|| format!("{claim}: {visited} of {} visited", counted(states, "state")));
    };
    let memory = arguments.memory.memory.map(|bytes| bytes as u64);
    let threads = arguments.jobs.count();
    let mut limits = Limits { threads, memory, interrupt: stop.flag(), listener: &mut listener };
    let verdict = check(&protocol.text, &certificate, &mut limits);
    drop(progress);
    let ending = match &verdict {
        Verdict::Holds(_) => Ending::Kept,
        Verdict::Rejected(_) => Ending::Broken,
        Verdict::Ended(_) if interrupt.happened() => Ending::Interrupted,
        Verdict::Ended(_) => Ending::Undecided,
    };
    let name = input::shown(&arguments.trace);
    let report = match arguments.json.json {
        true => format!("{}\n", object(name, &certificate.question, &verdict)),
        false => sentence(name, &certificate.question, &verdict, arguments.quiet.quiet),
    };
    output::deliver(&report, None, ending, interrupt)
}

fn reason(ended: Ended) -> &'static str {
    match ended {
        Ended::Memory => "the memory ran out (see --memory)",
        Ended::Interrupted => "time ran out (see --budget), or it was interrupted",
    }
}

fn sentence(name: &str, question: &Question, verdict: &Verdict, quiet: bool) -> String {
    let holds = match verdict {
        Verdict::Holds(holds) => holds,
        Verdict::Rejected(why) => return format!("{name}: certificate does not hold: {why}\n"),
        Verdict::Ended(partial) => return not_checked(name, partial, quiet),
    };
    let mut text = format!("{name}: certificate holds: {}\n", shown(question, holds));
    if !quiet {
        if let Some(values) = holds.values {
            text += &format!("  for {}, compared as they are\n", counted(values, "value"));
        }
        text += &all_visited(&holds.checked);
    }
    text
}

fn not_checked(name: &str, partial: &Partial, quiet: bool) -> String {
    let mut text = format!("{name}: certificate not checked: {}\n", reason(partial.ended));
    if !quiet {
        text += &all_visited(&partial.checked);
        let visited = counted(partial.visited, "state");
        text += &format!("  {}: nothing wrong in {visited}, not all visited\n", partial.claim);
    }
    text
}

/// The programs of which all states were visited.
fn all_visited(checked: &[Checked]) -> String {
    let line = |checked: &Checked| {
        format!(
            "  {}: {} visited, {} and {}\n",
            checked.claim,
            counted(checked.states, "state"),
            counted(checked.claims() as u64, "claim"),
            counted(checked.lemmas as u64, "lemma")
        )
    };
    checked.iter().map(line).collect()
}

/// What is shown, for how many processors and addresses.
fn shown(question: &Question, holds: &Holds) -> String {
    let what = match (question.memory_model.as_deref(), question.only) {
        (Some("tso"), _) => "implements total store order".to_owned(),
        (Some(_), Some(only)) => format!("no nice cycle of {}", counted(only, "processor")),
        (Some(_), None) => "sequentially consistent".to_owned(),
        (None, _) => {
            let own = holds.checked.iter().map(Checked::claims);
            match own.sum::<usize>() {
                1 => "1 invariant holds".to_owned(),
                many => format!("{many} invariants hold"),
            }
        }
    };
    let addresses = match (&question.memory_model, holds.addresses) {
        (None, _) => String::new(),
        (Some(_), Some(1)) => ", and 1 address".to_owned(),
        (Some(_), Some(many)) => format!(", and {many} addresses"),
        (Some(_), None) => ", and any number of addresses".to_owned(),
    };
    let assuming = match holds.assuming.is_empty() {
        true => "",
        false => ", assuming data independence",
    };
    // A claim about the protocol with other constants is another claim.
    let flags = question.flags();
    let flags = match flags.is_empty() {
        true => String::new(),
        false => format!(", with {}", flags.join(" ")),
    };
    let many = holds.processors;
    format!("{what} for any number of processors, {many} or more{addresses}{assuming}{flags}")
}

fn object(name: &str, question: &Question, verdict: &Verdict) -> Value {
    let mut object = json!({"file": name, "memory_model": question.memory_model});
    match verdict {
        Verdict::Holds(holds) => {
            object["holds"] = json!(true);
            object["processors"] = json!(holds.processors);
            object["addresses"] = json!(holds.addresses);
            object["values"] = json!(holds.values);
            object["assuming"] = json!(holds.assuming);
            object["flags"] = json!(question.flags());
            object["claims"] = claims(&holds.checked);
        }
        Verdict::Rejected(why) => {
            object["holds"] = json!(false);
            object["reason"] = json!(why);
        }
        Verdict::Ended(partial) => {
            object["holds"] = Value::Null;
            object["reason"] = json!(reason(partial.ended));
            object["claims"] = claims(&partial.checked);
            object["claim"] = json!(partial.claim);
            object["visited"] = json!(partial.visited);
        }
    }
    object
}

fn claims(checked: &[Checked]) -> Value {
    let claim = |checked: &Checked| {
        json!({
            "claim": checked.claim,
            "states": checked.states,
            "invariants": checked.invariants,
            "lemmas": checked.lemmas,
            "checks": checked.checks,
        })
    };
    checked.iter().map(claim).collect()
}
