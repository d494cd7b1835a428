//! `tribunal certify PROTOCOL.m FILE`: the certificate of a verdict for any number of processors.
//!
//! Crate `recheck` derives the abstract programs again and visits all their states with the
//! reference interpreter; here files are read, and what came of it is printed.

use std::io::Read;
use std::path::Path;

use explore::report::counted;
use recheck::{Certificate, Limits, check, is_certificate};
use report::certificate::{json, text};

use crate::arguments::CertifyArguments;
use crate::commands::explore::model::{read_source, read_text};
use crate::ending::{Ending, Failure};
use crate::input;
use crate::interrupt::Interrupt;
use crate::output;
use crate::progress::Progress;

/// How many bytes are read to recognise the kind of a certificate.
const BEGINNING: u64 = 64;

/// Whether a file starts like a certificate of this kind.
pub(super) fn is_asked(certificate: &Path) -> bool {
    let name = certificate.to_string_lossy();
    // Standard input can be read only once.
    if name == "-" {
        return false;
    }
    let mut beginning = Vec::new();
    let read = history::open(&name).map(|file| file.take(BEGINNING).read_to_end(&mut beginning));
    read.is_ok() && String::from_utf8_lossy(&beginning).contains("\"certificate\"")
}

pub(super) fn run(arguments: &CertifyArguments, interrupt: &Interrupt) -> Result<Ending, Failure> {
    let file = arguments.certificate.to_string_lossy();
    let contents = read_text(&file)?;
    let malformed = |reason: String| Failure::Usage(format!("{}:{reason}", input::shown(&file)));
    if !is_certificate(&contents) {
        return Err(malformed(
            "1: not a certificate of `tribunal verify --any-processors --certificate`".to_owned(),
        ));
    }
    let certificate = Certificate::read(&contents).map_err(|why| malformed(why.to_string()))?;
    let protocol = read_source(&arguments.trace)?;
    let stop = interrupt.stop(arguments.budget);
    let progress = Progress::start(arguments.quiet.quiet);
    let reporter = progress.reporter();
    let mut listener = |claim: &str, states: u64, visited: u64| {
        reporter.say(|| format!("{claim}: {visited} of {} visited", counted(states, "state")));
    };
    let memory = arguments.memory.memory.map(|bytes| bytes as u64);
    let threads = arguments.jobs.count();
    let mut limits = Limits { threads, memory, interrupt: stop.flag(), listener: &mut listener };
    let verdict = check(&protocol.text, &certificate, &mut limits);
    drop(progress);
    let report = match arguments.json.json {
        true => json(&protocol.name, &certificate.question, &verdict) + "\n",
        false => text(&protocol.name, &certificate.question, &verdict, arguments.quiet.quiet),
    };
    let ending = Ending::of(&verdict).unless_interrupted(interrupt);
    output::deliver(&report, None, ending, interrupt)
}
