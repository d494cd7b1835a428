//! Traces: judged, certified, shrunk, from bytes in any format, from files, or from columns.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyModule, PyTuple};
use tribunal::evidence::{Certificate, FileCertificate, Verdict as Found};
use tribunal::history::{
    Builder, Format, History, InputError, Kinds, Operation, ReadOptions, ThinAir, TraceReader,
    write_text,
};
use tribunal::judge::stream::{Answer, Asked, Judged, Trace};
use tribunal::judge::{
    AnyModel, Engine, Limits, ModelFile, ShrinkOptions, judge, judge_by_file, judge_gradually,
    shrink as smallest,
};
use tribunal::report::check::{Style, lines, trace_pages};
use tribunal::report::{ci, explain};

use crate::capsule::{CapsuleValue, held, hold};
use crate::errors::{unreadable, value_error};
use crate::work::work;

impl CapsuleValue for Judged {
    const NAME: &'static std::ffi::CStr = c"tribunal.verdict";
}

/// The functions about traces. What is asked of a verdict are functions of its capsule.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    function!(module, c"check", |py, (
        data: Vec<u8>, name: String, format: String, models: Vec<String>, engine: String,
        seconds: Option<f64>, memory: Option<usize>, thin_air: String,
    )| {
        let how = CheckOptions::new(&engine, seconds, memory, &thin_air)?;
        check(py, Input { data, name, format: format_named(&format)? }, &models, how)
    });
    function!(module, c"check_columns", |py, (
        threads: Bound<'_, PyAny>, kinds: Bound<'_, PyAny>, addresses: Bound<'_, PyAny>,
        values: Bound<'_, PyAny>, written: Option<Bound<'_, PyAny>>, models: Vec<String>,
        engine: String, seconds: Option<f64>, memory: Option<usize>, thin_air: String,
    )| {
        let columns = Columns {
            threads: column(py, &threads)?,
            kinds: column(py, &kinds)?,
            addresses: column(py, &addresses)?,
            values: column(py, &values)?,
            written: written.map(|written| column(py, &written)).transpose()?,
        };
        check_columns(py, columns, &models, CheckOptions::new(&engine, seconds, memory, &thin_air)?)
    });
    function!(module, c"shrink", |py, (
        data: Vec<u8>, name: String, format: String, model: String,
        seconds: Option<f64>, memory: Option<usize>, thin_air: String,
    )| {
        let how = CheckOptions::new("auto", seconds, memory, &thin_air)?;
        shrink(py, Input { data, name, format: format_named(&format)? }, memory_model(&model)?, how)
    });
    function!(module, c"certify", |py, (
        data: Vec<u8>, name: String, format: String, certificate: String, thin_air: String,
    )| {
        let how = CheckOptions::new("auto", None, None, &thin_air)?;
        certify(py, Input { data, name, format: format_named(&format)? }, certificate, how)
    });
    function!(module, c"verdict_name", |_py, (verdict: Bound<'_, PyAny>)| {
        Ok::<_, PyErr>(held::<Judged>(&verdict)?.verdict().of_trace())
    });
    function!(module, c"verdict_json", |_py, (verdict: Bound<'_, PyAny>)| {
        let style = Style { json: true, witness: true, stats: true, ..Style::default() };
        Ok::<_, PyErr>(lines(held(&verdict)?, style).trim_end().to_owned())
    });
    function!(module, c"verdict_line", |_py, (verdict: Bound<'_, PyAny>)| {
        let style = Style { quiet: true, ..Style::default() };
        Ok::<_, PyErr>(lines(held(&verdict)?, style).trim_end().to_owned())
    });
    function!(module, c"verdict_certificate", |py, (verdict: Bound<'_, PyAny>)| {
        let judged = held::<Judged>(&verdict)?.clone();
        work(py, move |stop| certificate_of(&judged, &stop))
    });
    function!(module, c"verdict_explanation", |_py, (verdict: Bound<'_, PyAny>)| {
        Ok::<_, PyErr>(explanation(held(&verdict)?))
    });
    function!(module, c"verdict_svg", |_py, (verdict: Bound<'_, PyAny>)| {
        Ok::<_, PyErr>(svg(held(&verdict)?))
    });
    function!(module, c"verdict_page", |py, (verdict: Bound<'_, PyAny>)| {
        let judged = held::<Judged>(&verdict)?.clone();
        work(py, move |stop| page(&judged, &stop))
    });
    Ok(())
}

/// The evidence for `certify`, as JSON Lines; nothing if nothing was decided.
fn certificate_of(judged: &Judged, stop: &Arc<AtomicBool>) -> Option<String> {
    let history = &judged.trace.history;
    let certificates = judged.clone().certificates(&Limits::default(), stop);
    let lines: Vec<String> =
        certificates.iter().map(|certificate| certificate.to_json(history) + "\n").collect();
    (!lines.is_empty()).then(|| lines.concat())
}

/// Why: the events that matter and the argument, or why nothing is known; of a consistent trace a
/// sentence.
fn explanation(judged: &Judged) -> String {
    match ci::judged(judged).complaint {
        Some(complaint) if complaint.text.is_empty() => complaint.message,
        Some(complaint) => complaint.text,
        None => lines(judged, Style { quiet: true, ..Style::default() }),
    }
}

/// The picture of a violation; nothing if there is none.
fn svg(judged: &Judged) -> Option<String> {
    let history = &judged.trace.history;
    match (&judged.answer, &judged.asked) {
        (Answer::Model(judgement), _) => {
            let proof = judgement.outcome.broken()?;
            Some(explain::svg(history, judgement.model, proof))
        }
        (Answer::File(judgement), Asked::File(file)) => {
            judgement.outcome.broken()?;
            let (rules, proof) = explain::FileRules::new(history, file, judgement);
            Some(explain::svg(history, &rules, &proof))
        }
        _ => None,
    }
}

/// The page of a trace, as `tribunal explain -o why.html` writes it; nothing if nothing was decided.
fn page(judged: &Judged, stop: &Arc<AtomicBool>) -> Option<String> {
    let pages = trace_pages(judged, &Limits::default(), stop);
    pages.into_iter().next().map(|page| page.html)
}

/// What is asked, by its name on the command line.
fn asked(model: &str) -> PyResult<Asked> {
    if model.eq_ignore_ascii_case("gradual") {
        return Ok(Asked::Gradual);
    }
    Ok(match memory_model(model)? {
        AnyModel::Model(model) => Asked::Model(model),
        AnyModel::File(file) => Asked::File(file),
    })
}

/// A model by its name or its file.
pub(crate) fn memory_model(name: &str) -> PyResult<AnyModel> {
    if name.ends_with(".cat") {
        let file = ModelFile::open(name.as_ref());
        return Ok(file.map_err(|error| value_error(error.render(false)))?.into());
    }
    let name = name.to_ascii_lowercase();
    match name.parse() {
        Ok(model) => Ok(AnyModel::Model(model)),
        Err(unknown) => match ModelFile::shipped(&name) {
            Some(file) => Ok(file.into()),
            None => Err(value_error::<tribunal::models::UnknownModel>(unknown)),
        },
    }
}

/// How traces are read and judged.
#[derive(Clone, Copy)]
struct CheckOptions {
    engine: Engine,
    limits: Limits,
    thin_air: ThinAir,
}

impl CheckOptions {
    fn new(
        engine: &str,
        seconds: Option<f64>,
        memory: Option<usize>,
        thin_air: &str,
    ) -> PyResult<CheckOptions> {
        let thin_air = match thin_air {
            "malformed" => ThinAir::Malformed,
            "violation" => ThinAir::Violation,
            other => {
                return Err(value_error(format!(
                    "thin_air is `malformed` or `violation`, not {other:?}"
                )));
            }
        };
        let limits = Limits { time: seconds.map(time).transpose()?, memory };
        Ok(CheckOptions {
            engine: engine.parse().map_err(value_error::<tribunal::judge::UnknownEngine>)?,
            limits,
            thin_air,
        })
    }
}

/// A time in seconds.
pub(crate) fn time(seconds: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(seconds).map_err(value_error)
}

/// Traces as they are given.
struct Input {
    data: Vec<u8>,
    name: String,
    format: Format,
}

impl Input {
    /// All traces of it.
    fn read(&self, how: CheckOptions) -> Result<Vec<History>, InputError> {
        let options = ReadOptions {
            format: self.format,
            thin_air: how.thin_air,
            memory: how.limits.memory,
            ..ReadOptions::default()
        };
        TraceReader::new(&self.data[..], &self.name, options).collect()
    }
}

fn format_named(name: &str) -> PyResult<Format> {
    name.parse().map_err(value_error::<tribunal::history::UnknownFormat>)
}

fn judge_all(
    histories: Vec<History>,
    asked: &[Asked],
    name: &str,
    how: CheckOptions,
    stop: &Arc<AtomicBool>,
) -> Vec<Judged> {
    let mut all = Vec::new();
    for (number, history) in histories.into_iter().enumerate() {
        let trace = Arc::new(Trace { file: name.into(), number: number as u64 + 1, history });
        for asked in asked {
            let (start, budget) = (Instant::now(), how.limits.budget(stop));
            let history = &trace.history;
            let answer = match asked {
                Asked::Model(model) => Answer::Model(judge(history, *model, how.engine, &budget)),
                Asked::File(file) => Answer::File(judge_by_file(history, file, &budget)),
                Asked::Gradual => Answer::Gradual(judge_gradually(|model| {
                    judge(history, model, how.engine, &budget)
                })),
            };
            let (trace, asked) = (Arc::clone(&trace), asked.clone());
            all.push(Judged { trace, asked, answer, time: start.elapsed() });
        }
    }
    all
}

/// Capsules with the verdicts.
fn verdicts(py: Python<'_>, all: Vec<Judged>) -> PyResult<Vec<Py<PyAny>>> {
    all.into_iter().map(|judged| hold(py, judged)).collect()
}

fn asked_all(models: &[String]) -> PyResult<Vec<Asked>> {
    models.iter().map(|model| asked(model)).collect()
}

/// Judges all traces of an input: one verdict for each trace and model.
fn check(
    py: Python<'_>,
    input: Input,
    models: &[String],
    how: CheckOptions,
) -> PyResult<Vec<Py<PyAny>>> {
    let asked = asked_all(models)?;
    let judged = work(py, move |stop| {
        let histories = input.read(how)?;
        if histories.iter().all(|history| history.is_empty()) {
            return Err(InputError::no_events(&input.name));
        }
        Ok(judge_all(histories, &asked, &input.name, how, &stop))
    })?;
    verdicts(py, judged.map_err(|error| unreadable(py, &error))?)
}

/// A column of numbers, copied at once.
fn column<T: pyo3::buffer::Element>(py: Python<'_>, object: &Bound<'_, PyAny>) -> PyResult<Vec<T>> {
    PyBuffer::<T>::get(object)?.to_vec(py)
}

/// Judges one trace that is given as columns: an event a row.
fn check_columns(
    py: Python<'_>,
    columns: Columns,
    models: &[String],
    how: CheckOptions,
) -> PyResult<Vec<Py<PyAny>>> {
    let asked = asked_all(models)?;
    columns.check()?;
    let judged = work(py, move |stop| {
        let history = columns.history(how)?;
        Ok::<_, String>(judge_all(vec![history], &asked, "columns", how, &stop))
    })?;
    verdicts(py, judged.map_err(PyValueError::new_err)?)
}

/// Columns of equal length.
struct Columns {
    threads: Vec<u64>,
    /// 0 load, 1 store, 2 atomic, 3 full fence.
    kinds: Vec<u8>,
    addresses: Vec<u64>,
    values: Vec<u64>,
    written: Option<Vec<u64>>,
}

impl Columns {
    fn check(&self) -> PyResult<()> {
        let length = self.threads.len();
        let written = self.written.as_ref().map_or(length, Vec::len);
        for (name, found) in [
            ("kinds", self.kinds.len()),
            ("addresses", self.addresses.len()),
            ("values", self.values.len()),
            ("written", written),
        ] {
            if found != length {
                let sentence = format!("{name} has {found} rows and threads has {length}");
                return Err(PyValueError::new_err(sentence));
            }
        }
        if length == 0 {
            return Err(PyValueError::new_err("the trace has no events"));
        }
        if let Some(row) = self.kinds.iter().position(|&kind| kind > 3) {
            let kind = self.kinds[row];
            let sentence =
                format!("row {row}: kind {kind} is none of 0 load, 1 store, 2 atomic, 3 fence");
            return Err(PyValueError::new_err(sentence));
        }
        match (self.kinds.iter().position(|&kind| kind == 2), &self.written) {
            (Some(row), None) => {
                let sentence =
                    format!("row {row} is an atomic: the column `written` says what atomics write");
                Err(PyValueError::new_err(sentence))
            }
            _ => Ok(()),
        }
    }

    fn history(&self, how: CheckOptions) -> Result<History, String> {
        let mut builder = how.limits.memory.map_or_else(Builder::new, Builder::with_memory_limit);
        for row in 0..self.threads.len() {
            let (thread, value) = (self.threads[row], self.values[row]);
            let line = u32::try_from(row + 1).unwrap_or(u32::MAX);
            let operation = match self.kinds[row] {
                3 => Operation::Fence { before: Kinds::ALL, after: Kinds::ALL },
                kind => {
                    let address = builder.address_numbered(self.addresses[row]);
                    match (kind, &self.written) {
                        (0, _) => Operation::Read { address, value },
                        (2, Some(written)) => {
                            Operation::ReadModifyWrite { address, read: value, write: written[row] }
                        }
                        _ => Operation::Write { address, value },
                    }
                }
            };
            builder
                .event(thread, operation, line)
                .map_err(|error| format!("row {row}: {}", error.kind))?;
        }
        builder.finish(how.thin_air).map_err(|error| match error.line {
            0 => error.kind.to_string(),
            line => format!("row {}: {}", line - 1, error.kind),
        })
    }
}

/// The smallest part of the first violating trace, as text; nothing if none violates the model.
fn shrink(
    py: Python<'_>,
    input: Input,
    memory_model: AnyModel,
    how: CheckOptions,
) -> PyResult<Option<String>> {
    let shrunk = work(py, move |stop| {
        for history in input.read(how)? {
            let budget = how.limits.budget(&stop);
            if let Found::Broken(proof) = memory_model.refute(&history, Engine::Auto, &budget) {
                let options = ShrinkOptions::default();
                let part = smallest(&history, memory_model.clone(), &proof, options, &budget);
                let mut text = Vec::new();
                let written = write_text(&part.history, &mut text);
                return Ok(written.ok().map(|()| String::from_utf8_lossy(&text).into_owned()));
            }
        }
        Ok(None)
    })?;
    shrunk.map_err(|error: InputError| unreadable(py, &error))
}

/// Checks evidence with the kernel: for each line of the certificate the trace, the model and why it
/// is rejected, if it is.
fn certify(
    py: Python<'_>,
    input: Input,
    certificate: String,
    how: CheckOptions,
) -> PyResult<Checked> {
    let found = work(py, move |_| {
        let histories = input.read(how)?;
        Ok(checked(&histories, &certificate))
    })?;
    found.map_err(|error: InputError| unreadable(py, &error))?.map_err(value_error)
}

type Checked = Vec<(u64, String, Option<String>)>;

fn checked(histories: &[History], certificate: &str) -> Result<Checked, String> {
    let mut all = Vec::new();
    for line in certificate.lines().filter(|line| !line.trim().is_empty()) {
        let trace =
            serde_json::from_str::<serde_json::Value>(line).map_err(|error| error.to_string())?;
        let number = trace["trace"].as_u64().ok_or("a certificate names no trace")?;
        let at = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        let history = at.and_then(|at| histories.get(at));
        let history = history.ok_or_else(|| format!("the input has no trace {number}"))?;
        let (model, rejected) = match trace.get("digest") {
            None => by_model(history, line)?,
            Some(_) => by_file(history, line)?,
        };
        all.push((number, model, rejected));
    }
    Ok(all)
}

fn by_model(history: &History, line: &str) -> Result<(String, Option<String>), String> {
    let read = Certificate::from_json(line, history).map_err(|error| error.to_string())?;
    let rejected = tribunal::certify(history, &read).err();
    Ok((read.model.name().to_owned(), rejected.map(|why| why.to_string())))
}

fn by_file(history: &History, line: &str) -> Result<(String, Option<String>), String> {
    let read = FileCertificate::from_json(line, history).map_err(|error| error.to_string())?;
    let file = match ModelFile::shipped(&read.model) {
        Some(file) => file,
        None => ModelFile::open(read.model.as_ref()).map_err(|error| error.render(false))?,
    };
    let rejected = tribunal::certify::certify_by_file(history, &file.model, &read).err();
    Ok((read.model.clone(), rejected.map(|why| why.to_string())))
}
