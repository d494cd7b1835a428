//! Traces as they come, judged as they come: one thread reads, several judge, and the caller gets
//! one answer for each trace and model, in order, each as soon as all before it are there.
//!
//! Whoever waits at the other end of a pipe is answered before more input is waited for. What is
//! made of an answer (a text, a count) is made in the thread that judged, so that it is done side by
//! side, too.

mod under_way;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use evidence::{AnyCertificate, Certificate, Evidence, FileCertificate, Verdict};
use history::{
    BuildErrorKind, Format, History, InputError, InputErrorKind, ReadOptions, TraceReader,
};
use models::Model;
use pipeline::{Closed, Pipeline, Questions};

pub use self::under_way::{Interrupted, UnderWay};
use crate::causal::run_of_a_stronger_model;
use crate::{
    Engine, FileJudgement, Gradual, Judgement, Limits, ModelFile, Reason, Undecided, judge,
    judge_by_file, judge_gradually,
};

/// What is asked about every trace.
#[derive(Clone, Debug)]
pub enum Asked {
    /// Whether this model holds.
    Model(Model),
    /// Whether the model of a file holds.
    File(Arc<ModelFile>),
    /// Which models hold.
    Gradual,
}

impl Asked {
    /// Its name on the command line: that of the model, the path of its file, or `gradual`.
    pub fn name(&self) -> &str {
        match self {
            Asked::Model(model) => model.name(),
            Asked::File(file) => &file.path,
            Asked::Gradual => "gradual",
        }
    }
}

/// What is called the same is the same question: a file is read once.
impl PartialEq for Asked {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Asked {}

/// A trace of a file.
#[derive(Clone, Debug)]
pub struct Trace {
    /// What messages call the file.
    pub file: Arc<str>,
    /// Its number in the file, from 1.
    pub number: u64,
    /// What was observed.
    pub history: History,
}

/// What was found out.
#[derive(Clone, Debug)]
pub enum Answer {
    /// About one model.
    Model(Judgement),
    /// About the model of a file.
    File(FileJudgement),
    /// About all of them.
    Gradual(Gradual),
}

/// One answer about one trace.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The trace.
    pub trace: Arc<Trace>,
    /// What was asked.
    pub asked: Asked,
    /// What was found out.
    pub answer: Answer,
    /// What it took.
    pub time: Duration,
}

impl Judged {
    /// The answer alone.
    pub fn verdict(&self) -> Verdict<(), (), ()> {
        match &self.answer {
            Answer::Model(judgement) => judgement.outcome.bare(),
            Answer::File(judgement) => judgement.outcome.bare(),
            Answer::Gradual(gradual) => gradual.verdict(),
        }
    }

    /// The time in microseconds.
    pub fn micros(&self) -> u64 {
        u64::try_from(self.time.as_micros()).unwrap_or(u64::MAX)
    }

    /// The certificates of what was decided: of everything but some verdicts by files. Evidence that
    /// is quick to check is looked for within what the judgement has left of these limits, and until
    /// `stop` is set.
    pub fn certificates(self, limits: &Limits, stop: &Arc<AtomicBool>) -> Vec<AnyCertificate> {
        let budget = limits.rest(self.time, stop);
        let trace = self.trace.number;
        let judgements = match (self.answer, &self.asked) {
            (Answer::Model(judgement), _) => vec![judgement],
            (Answer::Gradual(gradual), _) => gradual.judgements,
            (Answer::File(judgement), Asked::File(file)) => {
                let certified = judgement.evidence.map(|evidence| FileCertificate {
                    trace,
                    model: file.path.clone(),
                    digest: file.model.digest(),
                    evidence,
                });
                return certified.map(AnyCertificate::File).into_iter().collect();
            }
            (Answer::File(_), _) => Vec::new(),
        };
        let history = &self.trace.history;
        let certified = judgements.into_iter().filter_map(|judgement| {
            let model = judgement.model;
            let mut evidence = judgement.outcome.into_evidence()?;
            if let Evidence::Consistent(_) = evidence
                && let Some(run) = run_of_a_stronger_model(history, model, &budget)
            {
                evidence = Evidence::Consistent(run);
            }
            Some(AnyCertificate::Model(Certificate { trace, model, evidence }))
        });
        certified.collect()
    }

    /// Why there is a verdict and nothing that the kernel could check.
    pub fn why_no_certificate(&self) -> Option<&'static str> {
        let Answer::File(FileJudgement { outcome, evidence: None, .. }) = &self.answer else {
            return None;
        };
        match (outcome, self.trace.history.mixed()) {
            (Verdict::Undecided(_), _) => None,
            (_, Some(_)) => Some(
                "certificates for model files support accesses of mixed sizes for short traces only",
            ),
            (_, None) => Some("the verdict needed a search that is too large to be certified"),
        }
    }
}

/// What is being done, for those who watch.
#[derive(Clone, Copy, Debug)]
pub enum Stage<'a> {
    /// A file is opened.
    Reading(&'a str),
    /// A trace is judged.
    Judging(&'a Trace),
}

impl fmt::Display for Stage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stage::Reading(file) => write!(f, "reading {file}"),
            Stage::Judging(Trace { file, number, history }) => {
                let plural = if history.len() == 1 { "" } else { "s" };
                write!(f, "judging {file} #{number} ({} event{plural})", history.len())
            }
        }
    }
}

/// Which traces to judge, and how.
///
/// ```
/// use tribunal_judge::stream::{Asked, Job};
///
/// let folder = std::env::temp_dir().join("tribunal-stream-example.trace");
/// std::fs::write(&folder, "0: x := 1\n1: x == 1\ncheck\n0: x := 1\n1: x == 1\n1: x == 0\n")?;
/// let mut job = Job::new(vec![folder.display().to_string()]);
/// job.asked = vec![Asked::Model(models::Model::Sc)];
/// let mut answers = job.start(|_| (), |judged| judged.verdict().of_trace());
/// assert_eq!(answers.wait().unwrap().unwrap(), "consistent");
/// assert_eq!(answers.wait().unwrap().unwrap(), "violation");
/// assert!(answers.wait().is_none());
/// # std::fs::remove_file(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Job {
    /// The files; `-` is standard input.
    pub files: Vec<String>,
    /// Their format; what the name of each suggests if `None`.
    pub format: Option<Format>,
    /// How they are read.
    pub options: ReadOptions,
    /// What is asked about every trace. What is asked twice is answered once.
    pub asked: Vec<Asked>,
    /// How to decide.
    pub engine: Engine,
    /// Whether the times of events count for nothing.
    pub without_times: bool,
    /// Whether a file without an event is no error.
    pub allow_empty: bool,
    /// Whether the traces behind one that makes no sense are judged.
    pub keep_going: bool,
    /// The only trace of each file that is judged, by its number from 1; `None` for all.
    pub only: Option<u64>,
    /// How long and how large each judgement may get.
    pub limits: Limits,
    /// How many threads judge.
    pub jobs: usize,
    /// Set from outside when no more answers are wanted.
    pub stop: Arc<AtomicBool>,
    /// Where to note what was begun, for a caller who takes note of each answer there. What is
    /// undecided because of the stop is an answer then.
    pub under_way: Option<UnderWay>,
}

impl Job {
    /// These files by sequential consistency, one at a time, with no limits.
    pub fn new(files: Vec<String>) -> Self {
        Job {
            files,
            format: None,
            options: ReadOptions::default(),
            asked: vec![Asked::Model(Model::Sc)],
            engine: Engine::Auto,
            without_times: false,
            allow_empty: false,
            keep_going: false,
            only: None,
            limits: Limits::default(),
            jobs: 1,
            stop: Arc::default(),
            under_way: None,
        }
    }

    /// Starts reading and judging. Each answer is what `make` makes of it. A trace that is larger
    /// than the memory budget is unread and does not keep the next one from being judged; nor does,
    /// with [`Job::keep_going`], one that makes no sense. A file that cannot be read any further does
    /// not keep the next file from being read.
    pub fn start<T: Send + 'static>(
        self,
        watch: impl Fn(Stage<'_>) + Send + Sync + 'static,
        make: impl Fn(Judged) -> T + Send + Sync + 'static,
    ) -> Answers<T> {
        let watch = Arc::new(watch);
        let (reading, judging) = (self.clone(), self);
        let seen = Arc::clone(&watch);
        Pipeline::start(
            judging.jobs,
            move |questions| reading.read(questions, &*seen),
            move |question: Question| match question.0 {
                Ok((trace, asked)) => {
                    watch(Stage::Judging(&trace));
                    if let Some(under_way) = &judging.under_way {
                        under_way.begins(&trace.file, trace.number);
                    }
                    judging.judge(trace, asked).map(|judged| Ok(make(judged)))
                }
                Err(error) => Some(Err(error)),
            },
        )
    }

    /// Asks everything about every trace of every file.
    fn read<T>(&self, questions: &mut Asking<T>, watch: &dyn Fn(Stage<'_>))
    where
        T: Send + 'static,
    {
        for file in &self.files {
            watch(Stage::Reading(history::shown(file)));
            if self.read_file(file, questions).is_err() {
                return;
            }
        }
    }

    fn read_file<T>(&self, file: &str, questions: &mut Asking<T>) -> Result<(), Closed>
    where
        T: Send + 'static,
    {
        questions.hand_out();
        let opened = history::open(file);
        let options = self.options.of_file(file, self.format);
        // What is written at the moment is read no farther than to the end of a trace.
        let workers = if history::is_complete(file) { self.jobs } else { 1 };
        let file: Arc<str> = history::shown(file).into();
        let unread =
            |number, error| Question(Err(UnreadableTrace { file: file.clone(), number, error }));
        let input = match opened {
            Ok(input) => questions.patient(input),
            Err(error) => return questions.ask(unread(None, error), 0),
        };
        let under_way = self.under_way.clone().unwrap_or_default();
        let input = under_way.opens(&file, input);
        let come = Arc::clone(&input.come);
        // Traces without events that came first: nothing is said of them if nothing else comes.
        let mut held: Vec<Arc<Trace>> = Vec::new();
        let mut is_empty = true;
        let mut traces = TraceReader::new(input, &file, options).with_workers(workers);
        for number in 1.. {
            if self.under_way.is_some() && self.only.is_none_or(|only| only == number) {
                under_way.reads(number, self.distinct().collect(), traces.offset(), &come);
            }
            let trace = traces.next_trace();
            under_way.has_read();
            let history = match trace {
                Ok(Some(history)) if self.without_times => history.without_times(),
                Ok(Some(history)) => history,
                Ok(None) => break,
                Err(error) => {
                    let goes_on = self.keep_going || is_too_large(&error);
                    for trace in held.drain(..) {
                        self.ask(&trace, questions)?;
                    }
                    questions.ask(unread(Some(number), error), 0)?;
                    if goes_on && traces.skip_trace() {
                        is_empty = false;
                        continue;
                    }
                    return Ok(());
                }
            };
            is_empty &= history.is_empty();
            if self.only.is_some_and(|only| only != number) {
                continue;
            }
            let trace = Arc::new(Trace { file: file.clone(), number, history });
            // Who sends traces one by one waits for an answer to each.
            let waits = self.keep_going && !traces.has_ended();
            if is_empty && !self.allow_empty && !waits {
                held.push(trace);
                continue;
            }
            for trace in held.drain(..).chain([trace]) {
                self.ask(&trace, questions)?;
            }
        }
        match is_empty && !self.allow_empty {
            true => questions.ask(unread(None, InputError::no_events(&file)), 0),
            false => Ok(()),
        }
    }

    /// Asks everything about a trace.
    fn ask<T>(&self, trace: &Arc<Trace>, questions: &mut Asking<T>) -> Result<(), Closed>
    where
        T: Send + 'static,
    {
        let load = trace.history.len();
        if let Some(under_way) = &self.under_way {
            under_way.asks(trace.number, load, self.distinct().collect());
        }
        self.distinct()
            .try_for_each(|asked| questions.ask(Question(Ok((Arc::clone(trace), asked))), load))
    }

    /// What is asked, without repetitions.
    pub fn distinct(&self) -> impl Iterator<Item = Asked> + '_ {
        let asked = &self.asked;
        asked.iter().enumerate().filter(|(i, a)| !asked[..*i].contains(a)).map(|(_, a)| a.clone())
    }

    /// The answer; `None` if it was not found because nobody wants it any more.
    fn judge(&self, trace: Arc<Trace>, asked: Asked) -> Option<Judged> {
        let start = Instant::now();
        let by = |model| judge(&trace.history, model, self.engine, &self.limits.budget(&self.stop));
        let answer = match &asked {
            Asked::Model(model) => Answer::Model(by(*model)),
            Asked::File(file) => {
                let budget = self.limits.budget(&self.stop);
                Answer::File(judge_by_file(&trace.history, file, &budget))
            }
            Asked::Gradual => Answer::Gradual(judge_gradually(by)),
        };
        let mut judged = Judged { trace, asked, answer, time: start.elapsed() };
        let undecided = matches!(judged.verdict(), Verdict::Undecided(()));
        if undecided && self.stop.load(Ordering::SeqCst) {
            self.under_way.as_ref()?;
            judged.answer.was_interrupted();
        }
        Some(judged)
    }
}

impl Answer {
    /// What is undecided is so because of an interruption, whatever else was about to end it.
    fn was_interrupted(&mut self) {
        if let Answer::Model(Judgement {
            outcome: Verdict::Undecided(Undecided { reason, .. }),
            ..
        })
        | Answer::File(FileJudgement {
            outcome: Verdict::Undecided(Undecided { reason, .. }),
            ..
        }) = self
        {
            *reason = Reason::Interrupted;
        }
    }
}

/// A trace, or a file, that could not be read.
#[derive(Clone, Debug)]
pub struct UnreadableTrace {
    /// What messages call the file.
    pub file: Arc<str>,
    /// The number of the trace, from 1; `None` if the error concerns the file.
    pub number: Option<u64>,
    /// What is wrong with it.
    pub error: InputError,
}

impl UnreadableTrace {
    /// Whether there is nothing wrong with the trace but that it does not fit the memory budget.
    pub fn is_too_large(&self) -> bool {
        is_too_large(&self.error)
    }
}

fn is_too_large(error: &InputError) -> bool {
    matches!(error.kind(), InputErrorKind::Senseless(BuildErrorKind::MemoryBudget { .. }))
}

/// A trace and what is asked about it, or what could not be read.
#[derive(Debug)]
pub struct Question(Result<(Arc<Trace>, Asked), UnreadableTrace>);

/// Where the reader asks.
type Asking<T> = Questions<Question, Result<T, UnreadableTrace>>;

/// The answers as they come, and what could not be read.
pub type Answers<T> = Pipeline<Question, Result<T, UnreadableTrace>>;
