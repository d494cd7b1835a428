//! A trace that is judged while it grows: functions of a capsule with a [`TestBench`].

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyModule, PyTuple};
use testbench::{Misuse as Wrong, Settings, TestBench, TraceStatus};
use tribunal::history::Kinds;
use tribunal::judge::{AnyModel, Limits};

use crate::capsule::{CapsuleValue, held, hold};
use crate::errors::{Misuse, value_error};
use crate::traces::{memory_model, time};

/// A session. Threads of Python may share it.
struct Session(Mutex<TestBench>);

impl CapsuleValue for Session {
    const NAME: &'static std::ffi::CStr = c"tribunal.session";
}

/// The functions about sessions.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    function!(module, c"session_open", |py, (
        model: String, threads: u32, value_bits: u32, seconds: Option<f64>, memory: Option<usize>,
    )| hold(py, open(&model, threads, value_bits, seconds, memory)?));
    function!(module, c"session_initial", |py, (
        session: Bound<'_, PyAny>, address: u64, value: u64,
    )| with(py, &session, |bench| bench.initial(address, value))?.map_err(misuse));
    function!(module, c"session_load", |py, (
        session: Bound<'_, PyAny>, thread: u32, address: u64, value: u64, time: u64,
    )| status(with(py, &session, |bench| bench.load(thread, address, value, time))?));
    function!(module, c"session_store", |py, (
        session: Bound<'_, PyAny>, thread: u32, address: u64, value: u64, time: u64,
    )| status(with(py, &session, |bench| bench.store(thread, address, value, time))?));
    function!(module, c"session_atomic", |py, (
        session: Bound<'_, PyAny>, thread: u32, address: u64, read: u64, written: u64, time: u64,
    )| status(with(py, &session, |bench| bench.atomic(thread, address, (read, written), time))?));
    function!(module, c"session_fence", |py, (
        session: Bound<'_, PyAny>, thread: u32, before: String, after: String, time: u64,
    )| {
        let (before, after) = (kinds(&before)?, kinds(&after)?);
        status(with(py, &session, |bench| bench.fence(thread, before, after, time))?)
    });
    function!(module, c"session_ask", |py, (session: Bound<'_, PyAny>)| {
        status(with(py, &session, TestBench::ask)?)
    });
    function!(module, c"session_finish", |py, (session: Bound<'_, PyAny>)| {
        with(py, &session, |bench| bench.finish().name())
    });
    function!(module, c"session_status", |py, (session: Bound<'_, PyAny>)| {
        with(py, &session, |bench| bench.standing().name())
    });
    function!(module, c"session_events", |py, (session: Bound<'_, PyAny>)| {
        with(py, &session, |bench| bench.events())
    });
    function!(module, c"session_explanation", |py, (session: Bound<'_, PyAny>)| {
        with(py, &session, |bench| bench.explanation())
    });
    Ok(())
}

fn open(
    model: &str,
    threads: u32,
    value_bits: u32,
    seconds: Option<f64>,
    memory: Option<usize>,
) -> PyResult<Session> {
    let AnyModel::Model(model) = memory_model(model)? else {
        let sentence = "a session judges by the built-in models; for model files use check";
        return Err(value_error(sentence));
    };
    let limits = Limits { time: seconds.map(time).transpose()?, memory };
    let bench = TestBench::new(model, Settings { threads, value_bits, limits }).map_err(misuse)?;
    Ok(Session(Mutex::new(bench)))
}

/// With the session, and without the GIL: another thread may hold it for long.
fn with<T: Send>(
    py: Python<'_>,
    session: &Bound<'_, PyAny>,
    call: impl FnOnce(&mut TestBench) -> T + Send,
) -> PyResult<T> {
    let Session(bench) = held(session)?;
    Ok(py.detach(|| call(&mut bench.lock().unwrap_or_else(PoisonError::into_inner))))
}

fn status(standing: Result<TraceStatus, Wrong>) -> PyResult<&'static str> {
    standing.map(TraceStatus::name).map_err(misuse)
}

fn misuse(wrong: Wrong) -> PyErr {
    Misuse::new_err(wrong.to_string())
}

fn kinds(letters: &str) -> PyResult<Kinds> {
    match letters {
        "r" => Ok(Kinds::READS),
        "w" => Ok(Kinds::WRITES),
        "rw" => Ok(Kinds::ALL),
        other => Err(value_error(format!("a fence orders \"r\", \"w\" or \"rw\", not {other:?}"))),
    }
}
