//! `tribunal certify`: every line of a certificate file against its trace.
//!
//! Both files are read once, side by side: the certificates are in the order of the traces, as
//! `tribunal check` writes them. A line that cannot be read at all ends the run; one that speaks
//! of events or traces that are not there does not hold.

use std::io::{BufRead, BufReader, Lines, Read};

use evidence::{Certificate, Evidence};
use history::History;
use models::Model;
use serde_json::json;

use super::{count, remark};
use crate::arguments::CertifyArguments;
use crate::ending::{Ending, Failure};
use crate::input::{self, Traces};
use crate::output::Output;
use crate::progress::Progress;

pub(crate) fn run(arguments: &CertifyArguments) -> Result<Ending, Failure> {
    let options = arguments.input.options(&arguments.trace, &arguments.memory);
    let traces = input::traces(&arguments.trace, options)?;
    let mut session = Session {
        arguments,
        traces: Numbered { traces, number: 0, current: None },
        certificates: CertificateLines::open(&arguments.certificate.to_string_lossy())?,
        output: Output::stdout(),
        ending: Ending::Kept,
        checked: 0,
        covered: 0,
    };
    match session.certify_all() {
        Ok(()) => session.last_words(),
        // Not every certificate was looked at, so nothing better than "undecided" can be said.
        Err(Failure::BrokenPipe) => Ok(session.ending.and(Ending::Undecided)),
        Err(failure) => Err(failure),
    }
}

/// A certificate file held against a trace file.
struct Session<'a> {
    arguments: &'a CertifyArguments,
    traces: Numbered,
    certificates: CertificateLines,
    output: Output,
    ending: Ending,
    /// Certificates so far.
    checked: usize,
    /// Traces that have one.
    covered: usize,
}

impl Session<'_> {
    fn certify_all(&mut self) -> Result<(), Failure> {
        let progress = Progress::start(self.arguments.quiet.quiet);
        while let Some(line) = self.certificates.next_line()? {
            let (trace, model) = Certificate::header(&line)
                .map_err(|error| self.certificates.unreadable(&error.message))?;
            if trace < self.traces.number {
                let reason = "the certificates are not in the order of traces";
                return Err(self.certificates.unreadable(reason));
            }
            self.checked += 1;
            self.covered += usize::from(trace > self.traces.number);
            progress.teller().say(|| format!("certifying trace {trace}"));
            let finding = Finding::of(&line, trace, model, self.traces.advance_to(trace)?);
            if finding.rejection.is_some() {
                self.ending = self.ending.and(Ending::Broken);
            }
            progress.hide();
            self.output.print(&finding.render(self.arguments))?;
            self.output.flush()?;
        }
        Ok(())
    }

    /// Says what was not certified.
    fn last_words(mut self) -> Result<Ending, Failure> {
        if self.checked == 0 {
            return Err(self.certificates.unreadable("there are no certificates in this file"));
        }
        if !self.arguments.quiet.quiet {
            let total = self.traces.count_rest()?;
            if self.covered < total {
                let bare = total - self.covered;
                remark(&format!("{bare} of {} without certificate", count(total, "trace")));
            }
        }
        Ok(self.ending)
    }
}

/// What came of one certificate.
struct Finding {
    trace: u64,
    model: Model,
    /// `consistent` or `violation`, if that much can be read.
    claim: Option<&'static str>,
    rejection: Option<String>,
}

impl Finding {
    fn of(line: &str, trace: u64, model: Model, history: Option<&History>) -> Self {
        let mut finding = Finding { trace, model, claim: None, rejection: None };
        let Some(history) = history else {
            finding.rejection = Some(format!("the file has no trace {trace}"));
            return finding;
        };
        match Certificate::from_json(line, history) {
            Ok(certificate) => {
                finding.claim = Some(match certificate.evidence {
                    Evidence::Consistent(_) => "consistent",
                    Evidence::Violation(_) => "violation",
                });
                let rejection = certify::certify(history, &certificate).err();
                finding.rejection = rejection.map(|rejection| rejection.to_string());
            }
            Err(error) => finding.rejection = Some(error.message),
        }
        finding
    }

    fn render(&self, arguments: &CertifyArguments) -> String {
        let Finding { trace, model, claim, rejection } = self;
        let file = input::shown(&arguments.trace);
        if arguments.json.json {
            let mut object = json!({"file": file, "trace": trace, "model": model.name()});
            object["verdict"] = json!(claim);
            object["holds"] = json!(rejection.is_none());
            if let Some(reason) = rejection {
                object["reason"] = json!(reason);
            }
            return format!("{object}\n");
        }
        let claim = claim.map_or(String::new(), |claim| format!(" {claim}:"));
        match rejection {
            None => format!("{file} #{trace}: {model}:{claim} certificate holds\n"),
            Some(reason) => {
                format!("{file} #{trace}: {model}:{claim} certificate rejected: {reason}\n")
            }
        }
    }
}

/// The traces of a file with the number of the latest.
struct Numbered {
    traces: Traces,
    number: u64,
    current: Option<History>,
}

impl Numbered {
    /// The trace of this number, which is the latest or a later one.
    fn advance_to(&mut self, number: u64) -> Result<Option<&History>, Failure> {
        while self.number < number {
            self.current = self.traces.next_trace()?;
            if self.current.is_none() {
                return Ok(None);
            }
            self.number += 1;
        }
        Ok(self.current.as_ref())
    }

    /// How many traces there are in all.
    fn count_rest(&mut self) -> Result<usize, Failure> {
        while self.traces.next_trace()?.is_some() {
            self.number += 1;
        }
        Ok(usize::try_from(self.number).unwrap_or(usize::MAX))
    }
}

/// The lines of a certificate file.
struct CertificateLines {
    lines: Lines<BufReader<Box<dyn Read + Send>>>,
    file: String,
    number: usize,
}

impl CertificateLines {
    fn open(file: &str) -> Result<Self, Failure> {
        let lines = BufReader::new(history::open(file)?).lines();
        Ok(Self { lines, file: file.to_owned(), number: 0 })
    }

    /// The next line that is not blank.
    fn next_line(&mut self) -> Result<Option<String>, Failure> {
        loop {
            self.number += 1;
            match self.lines.next() {
                None => return Ok(None),
                Some(Ok(line)) if line.trim().is_empty() => {}
                Some(Ok(line)) => return Ok(Some(line)),
                Some(Err(error)) => return Err(self.unreadable(&error.to_string())),
            }
        }
    }

    fn unreadable(&self, reason: &str) -> Failure {
        Failure::Usage(format!("{}:{}: {reason}", input::shown(&self.file), self.number))
    }
}
