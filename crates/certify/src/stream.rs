//! A file of certificates against its file of traces, line by line. No part of the kernel: what is
//! here reads, hands out and compares numbers; whether a certificate holds is decided by
//! [`certify_within`].
//!
//! Both files are read once, side by side: the certificates are in the order of the traces, as
//! `tribunal check` writes them. A line that cannot be read at all ends the run; one that speaks of
//! events or traces that are not there does not hold. One thread reads, several check, and the
//! findings come in the order of the lines.

use std::fmt;
use std::io::{BufRead, BufReader, Read};
use std::sync::Arc;

use evidence::{Certificate, Evidence, Verdict};
use history::{Format, History, InputError, ReadOptions, TraceReader};
use models::Model;
use pipeline::{Closed, Pipeline, Questions};

use crate::{Fault, certify_within};

/// How much more memory than its text the evidence of a line may take, about.
const EVIDENCE: usize = 8;

/// Which files to compare, and how.
#[derive(Clone, Debug)]
pub struct Job {
    /// The file of traces; `-` is standard input.
    pub traces: String,
    /// The file of certificates.
    pub certificates: String,
    /// The format of the traces; what the name of the file suggests if `None`.
    pub format: Option<Format>,
    /// How traces are read. Their limit of memory is that of a line and of a check, too.
    pub options: ReadOptions,
    /// How many threads check.
    pub jobs: usize,
}

/// What came of one certificate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The number of its trace.
    pub trace: u64,
    /// Its model.
    pub model: Model,
    /// `consistent` or `violation`, if that much can be read.
    pub claim: Option<&'static str>,
    /// Whether it shows what it claims; if not, why not; or why there was not enough memory to find
    /// out.
    pub result: Verdict<(), String, String>,
}

/// What comes out of a job, in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// What came of a line.
    Finding(Finding),
    /// After the last line: how many traces there are, and how many of them have no certificate.
    Bare {
        /// Traces in all.
        traces: usize,
        /// Traces without a certificate.
        bare: usize,
    },
}

/// Why a job ended early.
#[derive(Clone, Debug)]
pub enum Problem {
    /// A file cannot be opened, or a trace cannot be read.
    Input(InputError),
    /// A line is no certificate.
    Line {
        /// What the file is called.
        file: Arc<str>,
        /// The number of the line.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A line is longer than the memory allows.
    TooLong {
        /// What the file is called.
        file: Arc<str>,
        /// The number of the line.
        line: usize,
        /// The most bytes a line may have.
        longest: u64,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Input(error) => error.fmt(f),
            Problem::Line { file, line, reason } => write!(f, "{file}:{line}: {reason}"),
            Problem::TooLong { file, line, longest } => write!(
                f,
                "{file}:{line}: the line is longer than the {longest} bytes that --memory allows"
            ),
        }
    }
}

impl std::error::Error for Problem {}

impl From<InputError> for Problem {
    fn from(error: InputError) -> Self {
        Problem::Input(error)
    }
}

/// Findings as they come; the last answer may be the reason why there are no more.
pub type Answers = Pipeline<Question, Result<Answer, Problem>>;

/// Where the reader asks.
type Asking = Questions<Question, Result<Answer, Problem>>;

/// A line and its trace, or something to hand on when all before it is checked.
#[derive(Debug)]
pub struct Question(Asked);

#[derive(Debug)]
enum Asked {
    Check(Line, Option<Arc<History>>),
    Told(Result<Answer, Problem>),
}

/// Why no more is read.
enum Stop {
    Closed,
    Problem(Problem),
}

impl From<Closed> for Stop {
    fn from(_: Closed) -> Self {
        Stop::Closed
    }
}

impl<P: Into<Problem>> From<P> for Stop {
    fn from(problem: P) -> Self {
        Stop::Problem(problem.into())
    }
}

impl Job {
    /// Starts reading and checking; `watch` is told the number of each trace.
    pub fn start(self, watch: impl Fn(u64) + Send + Sync + 'static) -> Answers {
        let memory = self.options.memory.unwrap_or(usize::MAX);
        Pipeline::start(
            self.jobs,
            move |questions| {
                let last = match self.read(questions) {
                    Ok(Some(bare)) => Ok(bare),
                    Err(Stop::Problem(problem)) => Err(problem),
                    Ok(None) | Err(Stop::Closed) => return,
                };
                drop(questions.ask(Question(Asked::Told(last)), 0));
            },
            move |question: Question| match question.0 {
                Asked::Check(line, history) => {
                    watch(line.trace);
                    Some(finding(line, history.as_deref(), memory).map(Answer::Finding))
                }
                Asked::Told(answer) => Some(answer),
            },
        )
    }

    /// Asks about every line of the certificate file. Returns how many traces have none.
    fn read(&self, questions: &mut Asking) -> Result<Option<Answer>, Stop> {
        let mut certificates = Lines::open(questions, &self.certificates, self.options.memory)?;
        questions.hand_out();
        let input: Box<dyn Read + Send> = Box::new(questions.patient(history::open(&self.traces)?));
        let options = self.options.of_file(&self.traces, self.format);
        let traces = TraceReader::new(input, history::shown(&self.traces), options);
        let mut traces = Numbered { traces, number: 0, current: None };
        let (mut asked, mut covered) = (false, 0);
        while let Some(line) = certificates.next_line()? {
            if line.trace < traces.number {
                let reason = "the certificates are not in the order of traces";
                return Err(line.unreadable(reason).into());
            }
            asked = true;
            covered += usize::from(line.trace > traces.number);
            let history = traces.advance_to(line.trace)?;
            let load = history.as_ref().map_or(0, |history| history.len()) + line.text.len() / 8;
            questions.ask(Question(Asked::Check(line, history)), load)?;
        }
        if !asked {
            return Err(certificates.unreadable("there are no certificates in this file").into());
        }
        let traces = traces.count_rest()?;
        Ok(Some(Answer::Bare { traces, bare: traces.saturating_sub(covered) }))
    }
}

/// Checks a line.
fn finding(line: Line, history: Option<&History>, memory: usize) -> Result<Finding, Problem> {
    let (trace, model) = (line.trace, line.model);
    let finding = |claim, result| Ok(Finding { trace, model, claim, result });
    let certificate = match history.map(|history| Certificate::from_json(&line.text, history)) {
        Some(Ok(certificate)) => certificate,
        unusable => {
            // A line that is not valid JSON has no fields to check. Its beginning does not show it.
            Certificate::header(&line.text).map_err(|error| line.unreadable(&error.message))?;
            let reason = match unusable {
                Some(Err(error)) => error.message,
                _ => format!("the file has no trace {trace}"),
            };
            return finding(None, Verdict::Broken(reason));
        }
    };
    drop(line);
    let claim = match certificate.evidence {
        Evidence::Consistent(_) => "consistent",
        Evidence::Violation(_) => "violation",
    };
    let checked = history.map_or(Ok(()), |history| certify_within(history, &certificate, memory));
    let result = match checked {
        Ok(()) => Verdict::Holds(()),
        Err(rejection) if matches!(rejection.fault, Fault::TooLarge { .. }) => {
            Verdict::Undecided(rejection.to_string())
        }
        Err(rejection) => Verdict::Broken(rejection.to_string()),
    };
    finding(Some(claim), result)
}

/// A line of a certificate file.
#[derive(Debug)]
struct Line {
    /// Which trace it is about, and which model.
    trace: u64,
    model: Model,
    text: String,
    file: Arc<str>,
    number: usize,
}

impl Line {
    /// This line is no certificate.
    fn unreadable(&self, reason: &str) -> Problem {
        Problem::Line { file: self.file.clone(), line: self.number, reason: reason.to_owned() }
    }
}

/// The lines of a certificate file.
struct Lines {
    input: BufReader<Box<dyn Read + Send>>,
    file: Arc<str>,
    /// The line read last.
    number: usize,
    /// The most bytes a line may have.
    longest: u64,
}

impl Lines {
    fn open(questions: &Asking, file: &str, memory: Option<usize>) -> Result<Self, Problem> {
        let input: Box<dyn Read + Send> = Box::new(questions.patient(history::open(file)?));
        let input = BufReader::with_capacity(1 << 16, input);
        let longest = memory.map_or(u64::MAX, |bytes| (bytes / EVIDENCE) as u64);
        Ok(Self { input, file: history::shown(file).into(), number: 0, longest })
    }

    /// The next line that is not blank, if it begins like a certificate.
    fn next_line(&mut self) -> Result<Option<Line>, Problem> {
        loop {
            self.number += 1;
            let Some(text) = self.next_text()? else { return Ok(None) };
            if text.trim().is_empty() {
                continue;
            }
            let (file, number) = (Arc::clone(&self.file), self.number);
            return match Certificate::quick_header(&text) {
                Ok((trace, model)) => Ok(Some(Line { trace, model, text, file, number })),
                Err(error) => Err(self.unreadable(&error.message)),
            };
        }
    }

    fn next_text(&mut self) -> Result<Option<String>, Problem> {
        let mut text = Vec::new();
        let mut limited = (&mut self.input).take(self.longest.saturating_add(1));
        let read = limited.read_until(b'\n', &mut text);
        read.map_err(|error| self.unreadable(&error.to_string()))?;
        if text.len() as u64 > self.longest {
            let (file, line, longest) = (self.file.clone(), self.number, self.longest);
            return Err(Problem::TooLong { file, line, longest });
        }
        if text.is_empty() {
            return Ok(None);
        }
        if text.last() == Some(&b'\n') {
            text.pop();
        }
        let no_text = |_| self.unreadable("this is not a certificate: it is not text");
        String::from_utf8(text).map(Some).map_err(no_text)
    }

    /// The line read last is no certificate.
    fn unreadable(&self, reason: &str) -> Problem {
        Problem::Line { file: self.file.clone(), line: self.number, reason: reason.to_owned() }
    }
}

/// The traces of a file with the number of the latest.
struct Numbered {
    traces: history::Traces,
    number: u64,
    current: Option<Arc<History>>,
}

impl Numbered {
    /// The trace of this number, which is the latest or a later one.
    fn advance_to(&mut self, number: u64) -> Result<Option<Arc<History>>, InputError> {
        while self.number < number {
            // Before the next, so that no two are in memory.
            self.current = None;
            self.current = self.traces.next_trace()?.map(Arc::new);
            if self.current.is_none() {
                return Ok(None);
            }
            self.number += 1;
        }
        Ok(self.current.clone())
    }

    /// How many traces there are in all.
    fn count_rest(&mut self) -> Result<usize, InputError> {
        self.current = None;
        while self.traces.next_trace()?.is_some() {
            self.number += 1;
        }
        Ok(usize::try_from(self.number).unwrap_or(usize::MAX))
    }
}
