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

use cat::{CatError, CatModel};
use evidence::file::FileEvidence;
use evidence::{Certificate, CertificateError, Evidence, FileCertificate, Subject, Verdict};
use history::{Format, History, InputError, ReadOptions, TraceReader};
use pipeline::{Closed, Pipeline, Questions};

use crate::{Fault, Rejection, certify_by_file, certify_within};

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
    /// The file of the model that certificates about model files are about, if it is not where they
    /// say.
    pub model: Option<String>,
    /// How many threads check.
    pub jobs: usize,
}

/// What came of one certificate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The number of its trace.
    pub trace: u64,
    /// Its model.
    pub model: Subject,
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
    /// The file of a model cannot be read.
    Model(Box<CatError>),
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
            Problem::Model(error) => error.fmt(f),
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
pub struct Question(Task);

#[derive(Debug)]
enum Task {
    /// With its trace, and its model if that is a file.
    Check(Line, Option<Arc<History>>, Option<Arc<CatModel>>),
    Ready(Result<Answer, Problem>),
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
    /// Starts reading and checking; `watch` is called with the number of each trace.
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
                drop(questions.ask(Question(Task::Ready(last)), 0));
            },
            move |question: Question| match question.0 {
                Task::Check(line, history, file) => {
                    watch(line.trace);
                    let found = finding(line, history.as_deref(), file.as_deref(), memory);
                    Some(found.map(Answer::Finding))
                }
                Task::Ready(answer) => Some(answer),
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
        let mut files: Vec<(String, Arc<CatModel>)> = Vec::new();
        let (mut asked, mut covered) = (false, 0);
        while let Some(line) = certificates.next_line()? {
            if line.trace < traces.number {
                let reason = "the certificates are not in the order of the traces";
                return Err(line.unreadable(reason).into());
            }
            asked = true;
            covered += usize::from(line.trace > traces.number);
            let history = traces.advance_to(line.trace)?;
            let load = history.as_ref().map_or(0, |history| history.len()) + line.text.len() / 8;
            let file = match &line.model {
                Subject::Model(_) => None,
                Subject::File { name, .. } => Some(self.model_file(name, &mut files)?),
            };
            questions.ask(Question(Task::Check(line, history, file)), load)?;
        }
        if !asked {
            return Err(certificates
                .unreadable(
                    "the file contains no certificates; `tribunal check --certificate FILE` \
                     writes them",
                )
                .into());
        }
        if self.model.is_some() && files.is_empty() {
            return Err(certificates
                .unreadable("no certificate is about a model file, so --model has no effect")
                .into());
        }
        let traces = traces.count_rest()?;
        Ok(Some(Answer::Bare { traces, bare: traces.saturating_sub(covered) }))
    }

    /// The model that certificates call so, which is read once.
    fn model_file(
        &self,
        name: &str,
        files: &mut Vec<(String, Arc<CatModel>)>,
    ) -> Result<Arc<CatModel>, Problem> {
        if let Some((_, model)) = files.iter().find(|(known, _)| known == name) {
            return Ok(Arc::clone(model));
        }
        let model = CatModel::named(self.model.as_deref().unwrap_or(name));
        let model = Arc::new(model.map_err(|error| Problem::Model(Box::new(error)))?);
        files.push((name.to_owned(), Arc::clone(&model)));
        Ok(model)
    }
}

/// Checks a line.
fn finding(
    line: Line,
    history: Option<&History>,
    file: Option<&CatModel>,
    memory: usize,
) -> Result<Finding, Problem> {
    let Some(history) = history else {
        return unusable(line, |line| format!("the file has no trace {}", line.trace));
    };
    let read = match file {
        None => Certificate::from_json(&line.text, history).map(Claim::Built),
        Some(model) => FileCertificate::from_json(&line.text, history)
            .map(|certificate| Claim::File(certificate, model)),
    };
    let certificate = match read {
        Ok(certificate) => certificate,
        Err(CertificateError { message }) => return unusable(line, |_| message),
    };
    let Line { trace, model, .. } = line;
    let claim = certificate.claim();
    let result = match certificate.check(history, memory) {
        Ok(()) => Verdict::Holds(()),
        Err(rejection) if says_nothing(&rejection.fault) => {
            Verdict::Undecided(rejection.to_string())
        }
        Err(rejection) => Verdict::Broken(rejection.to_string()),
    };
    Ok(Finding { trace, model, claim: Some(claim), result })
}

/// A line that cannot be compared with its trace.
fn unusable(line: Line, reason: impl FnOnce(&Line) -> String) -> Result<Finding, Problem> {
    // A line that is not valid JSON has no fields to check. Its beginning does not show it.
    Certificate::header(&line.text).map_err(|error| line.unreadable(&error.message))?;
    let result = Verdict::Broken(reason(&line));
    Ok(Finding { trace: line.trace, model: line.model, claim: None, result })
}

/// Whether a fault says nothing about the certificate: it is the check that has limits.
fn says_nothing(fault: &Fault) -> bool {
    use Fault::{NotEvaluated, TooLarge, TooManyExecutions};
    matches!(fault, TooLarge { .. } | NotEvaluated { .. } | TooManyExecutions { .. })
}

/// A certificate of either kind, with its model if that is a file.
enum Claim<'a> {
    Built(Certificate),
    File(FileCertificate, &'a CatModel),
}

impl Claim<'_> {
    fn claim(&self) -> &'static str {
        match self {
            Claim::Built(Certificate { evidence: Evidence::Consistent(_), .. })
            | Claim::File(FileCertificate { evidence: FileEvidence::Consistent(_), .. }, _) => {
                "consistent"
            }
            Claim::Built(_) | Claim::File(..) => "violation",
        }
    }

    fn check(&self, history: &History, memory: usize) -> Result<(), Rejection> {
        match self {
            Claim::Built(certificate) => certify_within(history, certificate, memory),
            Claim::File(certificate, model) => certify_by_file(history, model, certificate),
        }
    }
}

/// A line of a certificate file.
#[derive(Debug)]
struct Line {
    /// Which trace it is about, and which model.
    trace: u64,
    model: Subject,
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
        let no_text = |_| self.unreadable("not a certificate: the line is not text");
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
