//! `tribunal certify`: every line of a certificate file against its trace, or the certificate of a
//! protocol (`protocol.rs`); the file says which.
//!
//! Both files are read once, side by side: the certificates are in the order of the traces, as
//! `tribunal check` writes them. A line that cannot be read at all ends the run; one that speaks
//! of events or traces that are not there does not hold. One thread reads, `--jobs` threads check,
//! this one prints.

use std::sync::Arc;

use certify::{Fault, certify_within};
use evidence::{Certificate, Evidence};
use history::History;
use models::Model;
use serde_json::json;

use super::{count, remark};
use crate::arguments::CertifyArguments;
use crate::ending::{Ending, Failure};
use crate::input;
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::pipeline::{Closed, Pipeline, Questions};
use crate::progress::{Progress, Teller};
use files::{CertificateLines, Line, Numbered};

mod files;
mod protocol;

pub(crate) fn run(arguments: CertifyArguments, interrupt: &Interrupt) -> Result<Ending, Failure> {
    if protocol::is_asked(&arguments.certificate) {
        return protocol::run(&arguments, interrupt);
    }
    let progress = Progress::start(arguments.quiet.quiet);
    let checker = Checker {
        file: input::shown(&arguments.trace).to_owned(),
        json: arguments.json.json,
        memory: arguments.memory.memory.unwrap_or(usize::MAX),
        teller: progress.teller(),
    };
    let replies = Pipeline::start(
        arguments.jobs.count(),
        interrupt,
        move |questions| match read(&arguments, questions) {
            Ok(last_words) => drop(questions.ask(Question::LastWords(last_words), 0)),
            Err(Stop::Closed) => {}
            Err(Stop::Failure(failure)) => drop(questions.ask(Question::Failure(failure), 0)),
        },
        move |question| checker.answer(question),
    );
    let mut ending = Ending::Kept;
    let mut checked = 0;
    let printed = print_all(replies, &progress, &mut ending, &mut checked);
    drop(progress);
    match printed {
        Ok(()) if interrupt.happened() => {
            remark(&format!("interrupted; {} checked", count(checked, "certificate")));
            Ok(Ending::Interrupted)
        }
        Ok(()) => Ok(ending),
        // Not every certificate was looked at, so nothing better than "undecided" can be said.
        Err(Failure::BrokenPipe) => Ok(ending.and(Ending::Undecided)),
        Err(failure) => Err(failure),
    }
}

/// Something to find out, or to say when all before it is printed.
enum Question {
    Check { line: Line, history: Option<Arc<History>> },
    Failure(Failure),
    LastWords(Option<String>),
}

/// What is printed.
enum Reply {
    Checked { ending: Ending, text: String },
    Failure(Failure),
    LastWords(Option<String>),
}

/// Why no more is read.
enum Stop {
    Closed,
    Failure(Failure),
}

impl From<Closed> for Stop {
    fn from(_: Closed) -> Self {
        Stop::Closed
    }
}

impl<F: Into<Failure>> From<F> for Stop {
    fn from(failure: F) -> Self {
        Stop::Failure(failure.into())
    }
}

/// Asks about every line of the certificate file. Returns what is to be said about the traces that
/// have none.
fn read(
    arguments: &CertifyArguments,
    questions: &mut Questions<Question, Reply>,
) -> Result<Option<String>, Stop> {
    let memory = arguments.memory.memory;
    let mut certificates = CertificateLines::open(questions, &arguments.certificate, memory)?;
    let options = arguments.input.options(&arguments.trace, &arguments.memory);
    let mut traces = Numbered::new(input::traces_to_ask(questions, &arguments.trace, options)?);
    let (mut asked, mut covered) = (false, 0);
    while let Some(line) = certificates.next_line()? {
        if line.trace < traces.number {
            return Err(line.unreadable("the certificates are not in the order of traces").into());
        }
        asked = true;
        covered += usize::from(line.trace > traces.number);
        let history = traces.advance_to(line.trace)?;
        let load = history.as_ref().map_or(0, |history| history.len()) + line.text.len() / 8;
        questions.ask(Question::Check { line, history }, load)?;
    }
    if !asked {
        return Err(certificates.unreadable("there are no certificates in this file").into());
    }
    if arguments.quiet.quiet {
        return Ok(None);
    }
    let total = traces.count_rest()?;
    let bare = total.saturating_sub(covered);
    let sentence = || format!("{bare} of {} without certificate", count(total, "trace"));
    Ok((bare > 0).then(sentence))
}

/// What the workers share.
struct Checker {
    file: String,
    json: bool,
    memory: usize,
    teller: Teller,
}

impl Checker {
    fn answer(&self, question: Question) -> Option<Reply> {
        let (line, history) = match question {
            Question::Check { line, history } => (line, history),
            Question::Failure(failure) => return Some(Reply::Failure(failure)),
            Question::LastWords(sentence) => return Some(Reply::LastWords(sentence)),
        };
        self.teller.say(|| format!("certifying trace {}", line.trace));
        Some(match self.finding(line, history.as_deref()) {
            Ok(finding) => Reply::Checked { ending: finding.ending(), text: self.render(&finding) },
            Err(failure) => Reply::Failure(failure),
        })
    }

    fn finding(&self, line: Line, history: Option<&History>) -> Result<Finding, Failure> {
        let (trace, model) = (line.trace, line.model);
        let finding = |claim, result| Ok(Finding { trace, model, claim, result });
        let certificate = match history.map(|history| Certificate::from_json(&line.text, history)) {
            Some(Ok(certificate)) => certificate,
            unusable => {
                // Of a line that is no JSON nothing can be said. Its beginning does not show that.
                Certificate::header(&line.text).map_err(|error| line.unreadable(&error.message))?;
                let reason = match unusable {
                    Some(Err(error)) => error.message,
                    _ => format!("the file has no trace {trace}"),
                };
                return finding(None, CheckResult::Rejected(reason));
            }
        };
        drop(line);
        let claim = match certificate.evidence {
            Evidence::Consistent(_) => "consistent",
            Evidence::Violation(_) => "violation",
        };
        let checked =
            history.map_or(Ok(()), |history| certify_within(history, &certificate, self.memory));
        let result = match checked {
            Ok(()) => CheckResult::Holds,
            Err(rejection) if matches!(rejection.fault, Fault::TooLarge { .. }) => {
                CheckResult::Unchecked(rejection.to_string())
            }
            Err(rejection) => CheckResult::Rejected(rejection.to_string()),
        };
        finding(Some(claim), result)
    }

    fn render(&self, finding: &Finding) -> String {
        let Finding { trace, model, claim, result } = finding;
        let file = &self.file;
        if self.json {
            let mut object = json!({"file": file, "trace": trace, "model": model.name()});
            object["verdict"] = json!(claim);
            let (holds, reason) = match result {
                CheckResult::Holds => (Some(true), None),
                CheckResult::Rejected(reason) => (Some(false), Some(reason)),
                CheckResult::Unchecked(reason) => (None, Some(reason)),
            };
            object["holds"] = json!(holds);
            if let Some(reason) = reason {
                object["reason"] = json!(reason);
            }
            return format!("{object}\n");
        }
        let claim = claim.map_or(String::new(), |claim| format!(" {claim}:"));
        let result = match result {
            CheckResult::Holds => "holds".to_owned(),
            CheckResult::Rejected(reason) => format!("rejected: {reason}"),
            CheckResult::Unchecked(reason) => format!("not checked: {reason} (see --memory)"),
        };
        format!("{file} #{trace}: {model}:{claim} certificate {result}\n")
    }
}

/// What came of one certificate.
struct Finding {
    trace: u64,
    model: Model,
    /// `consistent` or `violation`, if that much can be read.
    claim: Option<&'static str>,
    result: CheckResult,
}

/// Whether a certificate shows what it claims; if not, why not.
enum CheckResult {
    Holds,
    Rejected(String),
    /// There was not enough memory to find out.
    Unchecked(String),
}

impl Finding {
    fn ending(&self) -> Ending {
        match self.result {
            CheckResult::Holds => Ending::Kept,
            CheckResult::Rejected(_) => Ending::Broken,
            CheckResult::Unchecked(_) => Ending::Undecided,
        }
    }
}

/// Prints replies as they come, and notes how they end and how many there are.
fn print_all(
    mut replies: Pipeline<Question, Reply>,
    progress: &Progress,
    ending: &mut Ending,
    checked: &mut usize,
) -> Result<(), Failure> {
    let mut output = Output::stdout();
    let mut print = |reply, output: &mut Output| match reply {
        Reply::Checked { ending: found, text } => {
            *ending = ending.and(found);
            *checked += 1;
            progress.hide();
            output.print(&text)
        }
        Reply::Failure(failure) => output.flush().and(Err(failure)),
        Reply::LastWords(sentence) => {
            output.flush()?;
            progress.hide();
            sentence.iter().for_each(|sentence| remark(sentence));
            Ok(())
        }
    };
    loop {
        let reply = match replies.ready() {
            Some(reply) => Some(reply),
            None => {
                output.flush()?;
                replies.wait()
            }
        };
        match reply {
            Some(reply) => print(reply, &mut output)?,
            None => break,
        }
    }
    for reply in replies.leftovers() {
        print(reply, &mut output)?;
    }
    output.flush()
}
