//! Murphi models and litmus tests: what the command prints with `--json`, as text for `json.loads`.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyModule, PyTuple};
use tribunal::Source;
use tribunal::conform::report::Unanswered;
use tribunal::conform::{self, MemoryModel};
use tribunal::diagnostics::Refusal;
use tribunal::explore::{Asked, Deadlock, Loaded, Question, Stop};
use tribunal::litmus::{Answer, Limits, LitmusModel, Style, parse};
use tribunal::murphi::check::{Options as Language, Reading};
use tribunal::parametric::{self, AnswerReport};
use tribunal::report::{any_number, exploration, verification};

use crate::errors::{input_error, refused, value_error};
use crate::traces::time;
use crate::work::work;

/// The functions about protocols and litmus tests.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    function!(module, c"explore", |py, (
        text: String, name: String, constants: BTreeMap<String, String>,
        seconds: Option<f64>, memory: Option<u64>, jobs: Option<usize>,
    )| explore(py, Source { name, text }, constants, seconds, (memory, jobs)));
    function!(module, c"verify", |py, (
        text: String, name: String, model: Option<String>, any_processors: bool,
        constants: BTreeMap<String, String>, seconds: Option<f64>,
    )| verify(py, Source { name, text }, model, any_processors, constants, seconds));
    function!(module, c"litmus", |py, (
        text: String, name: String, models: Vec<String>, seconds: Option<f64>,
    )| litmus(py, Source { name, text }, &models, seconds));
    Ok(())
}

/// Why there is no answer.
enum ProtocolFailure {
    Refused(Box<Refusal>),
    Other(String),
}

impl ProtocolFailure {
    fn exception(&self, py: Python<'_>) -> PyErr {
        match self {
            ProtocolFailure::Refused(refusal) => refused(py, refusal),
            ProtocolFailure::Other(sentence) => value_error(sentence),
        }
    }
}

fn language(constants: BTreeMap<String, String>) -> Language {
    Language { constants: constants.into_iter().collect(), ..Language::default() }
}

/// Visits every state of a Murphi model.
fn explore(
    py: Python<'_>,
    source: Source,
    constants: BTreeMap<String, String>,
    seconds: Option<f64>,
    (memory, jobs): (Option<u64>, Option<usize>),
) -> PyResult<String> {
    let limit = seconds.map(time).transpose()?;
    let found = work(py, move |stop| {
        let language = Language { reading: Reading::Whole, ..language(constants) };
        let model = Loaded::read(&source, &language, &Asked::default())
            .map_err(|refusal| ProtocolFailure::Refused(Box::new(refusal)))?;
        let mut question = Question::default();
        question.options.time = limit;
        question.options.memory = memory.or(question.options.memory);
        question.options.threads = jobs.unwrap_or(question.options.threads);
        let report = model.explore(&question, &mut |_| (), &stop);
        let report = report.map_err(|wrong| ProtocolFailure::Other(wrong.to_string()))?;
        Ok::<_, ProtocolFailure>(exploration::json::object(&report))
    })?;
    found.map_err(|why| why.exception(py))
}

/// Verifies a protocol against its memory model, or for any number of processors.
fn verify(
    py: Python<'_>,
    source: Source,
    model: Option<String>,
    any_processors: bool,
    constants: BTreeMap<String, String>,
    seconds: Option<f64>,
) -> PyResult<String> {
    let limit = seconds.map(time).transpose()?;
    let memory_model = match model.as_deref() {
        None if any_processors => None,
        Some("sc") | None => Some(MemoryModel::Sc),
        Some("tso") => Some(MemoryModel::Tso),
        Some(other) => {
            return Err(value_error(format!(
                "a protocol is verified against sc or tso, not {other}"
            )));
        }
    };
    let found = work(py, move |flag| {
        let mut options =
            conform::Options { language: language(constants), ..conform::Options::default() };
        options.memory_model = memory_model.unwrap_or(MemoryModel::Sc);
        let stop = Stop::after(limit);
        stopping(&flag, &stop, || match any_processors {
            true => for_any(&source, &options, memory_model, &stop),
            false => for_few(&source, &options, &stop),
        })
    })?;
    found.map_err(|why| why.exception(py))
}

/// Does something that looks at `stop`, which Ctrl-C (the flag) ends as the time does.
fn stopping<T>(flag: &AtomicBool, stop: &Stop, job: impl FnOnce() -> T) -> T {
    /// Also when the job panics.
    struct Ended<'a>(&'a AtomicBool);
    impl Drop for Ended<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !ended.load(Ordering::SeqCst) {
                if flag.load(Ordering::SeqCst) {
                    stop.shared().store(true, Ordering::SeqCst);
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let _ended = Ended(&ended);
        job()
    })
}

fn for_few(
    source: &Source,
    options: &conform::Options,
    stop: &Stop,
) -> Result<String, ProtocolFailure> {
    let report = conform::report::answer(source, options, &mut |_, _| (), stop);
    let report = report.map_err(|why| unanswered(source, why))?;
    Ok(verification::json::object(&report))
}

fn unanswered(source: &Source, why: Unanswered) -> ProtocolFailure {
    match why {
        Unanswered::Refused(why) => ProtocolFailure::Refused(Box::new(why.refusal(source))),
        why => ProtocolFailure::Other(why.to_string()),
    }
}

fn for_any(
    source: &Source,
    options: &conform::Options,
    memory_model: Option<MemoryModel>,
    stop: &Stop,
) -> Result<String, ProtocolFailure> {
    let mut options = options.clone();
    options.search.deadlock = Deadlock::Off;
    let question = parametric::Question {
        source,
        options: &options,
        memory_model,
        processors: None,
        concrete: None,
        named: true,
        lemmas: None,
    };
    let refused =
        |why: parametric::Failure| ProtocolFailure::Refused(Box::new(why.refusal(source)));
    let plan = parametric::plan(&question).map_err(refused)?;
    let found = parametric::answer(&question, &plan, None, &mut |_, _| (), stop);
    let found = found.map_err(|why| match why {
        parametric::Unanswered::Refused(why) => refused(why),
        parametric::Unanswered::NotConfirmed(why) => unanswered(source, why),
    })?;
    Ok(match &found.report {
        AnswerReport::Memory(report) => verification::json::object(report),
        AnswerReport::AnyNumber(report) => any_number::json::object(report),
    })
}

/// All outcomes of a litmus test under models, one line of JSON each.
fn litmus(
    py: Python<'_>,
    source: Source,
    models: &[String],
    seconds: Option<f64>,
) -> PyResult<Vec<String>> {
    let limit = seconds.map(time).transpose()?;
    let test = parse(&source.text).map_err(|problem| {
        let (line, column) = source.position(problem.span.start);
        let place = (line as u64, column as u64);
        input_error(py, &problem.render(&source, false), &source.name, place)
    })?;
    let named = |name: &String| match name.ends_with(".cat") {
        true => LitmusModel::open(name.as_ref()).map_err(|error| value_error(error.render(false))),
        false => LitmusModel::named(&name.to_ascii_lowercase())
            .ok_or_else(|| value_error(format!("unknown model `{name}`"))),
    };
    let mut asked = models.iter().map(named).collect::<PyResult<Vec<_>>>()?;
    if asked.is_empty() {
        asked.push(LitmusModel::of_architecture(test.architecture));
    }
    let found = work(py, move |stop| {
        let start = std::time::Instant::now();
        let go_on =
            |_| !stop.load(Ordering::SeqCst) && limit.is_none_or(|limit| start.elapsed() < limit);
        let limits = Limits { memory: None, go_on: &go_on };
        let answer = |model: LitmusModel| {
            let answer = Answer::of(&test, model, &limits);
            if let Err(stopped) = &answer.found {
                return Err(stopped.to_string());
            }
            let mut line = Vec::new();
            let style = Style { json: true, ..Style::default() };
            answer.write(&source.name, style, &mut line).map_err(|error| error.to_string())?;
            Ok(String::from_utf8_lossy(&line).trim_end().to_owned())
        };
        asked.into_iter().map(answer).collect::<Result<Vec<_>, String>>()
    })?;
    found.map_err(value_error)
}
