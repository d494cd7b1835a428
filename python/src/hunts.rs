//! Hunts whose target is a Python callable: it gets a test program and returns the traces of its
//! runs.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyModule, PyTuple};
use tribunal::history::{Format, ReadOptions, ThinAir, TraceReader};
use tribunal::hunt::{
    Abilities, Campaign, CampaignEvent, KnownShapes, PendingTests, Plan, TargetSupply, TestOptions,
};
use tribunal::judge::AnyModel;
use tribunal::stress::{Program, RunResult, Runs, Target, TargetError};

use crate::errors::value_error;
use crate::traces::memory_model;
use crate::work::work;

/// A callable as a target. What it raises ends the hunt.
struct Callable {
    call: Py<PyAny>,
    raised: Arc<Mutex<Option<PyErr>>>,
}

impl Callable {
    /// The traces of some runs of a program, as text.
    fn traces(&self, order: String) -> Result<Vec<u8>, TargetError> {
        let called = Python::attach(|py| {
            let returned = self.call.bind(py).call1((order,))?;
            returned.extract::<Vec<u8>>()
        });
        called.map_err(|error| {
            let sentence = error.to_string();
            let mut raised = self.raised.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            raised.get_or_insert(error);
            TargetError::Unavailable(sentence)
        })
    }
}

impl Target for Callable {
    fn run(
        &mut self,
        program: &Program,
        runs: Runs<'_>,
        receive: &mut dyn FnMut(RunResult) -> ControlFlow<()>,
    ) -> Result<(), TargetError> {
        let text = self.traces(program.order(runs.count, runs.seed))?;
        let first = text.iter().find(|byte| !byte.is_ascii_whitespace());
        let options = ReadOptions {
            format: if first == Some(&b'{') { Format::JsonLines } else { Format::Text },
            thin_air: ThinAir::Violation,
            memory: Some(1 << 30),
            ..ReadOptions::default()
        };
        for trace in TraceReader::new(&text[..], "target", options) {
            let history = trace.map_err(|error| TargetError::Misbehaved(error.to_string()))?;
            if runs.stop.load(Ordering::SeqCst)
                || receive(RunResult::Recorded(Box::new(history))).is_break()
            {
                break;
            }
        }
        Ok(())
    }
}

/// What Python gets of a finding: its name, its shape, the program, the minimal trace, why.
type FindingFields = (String, String, String, String, String);

/// The function that hunts.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    function!(module, c"hunt", |py, (
        call: Py<PyAny>, model: String, tests: u64, seed: u64, threads: usize, atomics: bool,
        runs: u64, first: bool,
    )| {
        let wanted = HuntOptions { tests, seed, threads, atomics, runs, first };
        hunt(py, call, memory_model(&model)?, wanted)
    });
    Ok(())
}

/// What is wanted of a hunt.
struct HuntOptions {
    tests: u64,
    seed: u64,
    threads: usize,
    atomics: bool,
    runs: u64,
    first: bool,
}

/// Generates tests, has the callable run them, judges, shrinks and explains.
fn hunt(
    py: Python<'_>,
    call: Py<PyAny>,
    model: AnyModel,
    wanted: HuntOptions,
) -> PyResult<Vec<FindingFields>> {
    let HuntOptions { tests, seed, threads, atomics, runs, first } = wanted;
    let abilities =
        Abilities { atomics, litmus_runs: runs, random_runs: runs, ..Abilities::machine(threads) };
    let wishes = TestOptions { seed, ..TestOptions::default() };
    let campaign = Campaign {
        model,
        target: "python".into(),
        plan: Plan::new(wishes, abilities).map_err(value_error)?,
        first: 0,
        until: Some(tests),
        jobs: 1,
    };
    let raised = Arc::new(Mutex::new(None));
    let target = Callable { call, raised: Arc::clone(&raised) };
    let found = work(py, move |stop: Arc<AtomicBool>| {
        let supply = TargetSupply::Shared(Mutex::new(Box::new(target)));
        let (known, mut found) = (KnownShapes::default(), Vec::new());
        let ended = campaign.run(&supply, &known, &mut |beat| {
            if let CampaignEvent::TestOutcome(settled) = beat {
                for finding in settled.findings.into_iter().filter(|one| !known.has(&one.shape)) {
                    known.add(&finding.shape);
                    let file = |name| finding.files.iter().find(|file| file.0 == name);
                    let text = |name| file(name).map_or_else(String::new, |file| file.1.clone());
                    let why = if file("why.txt").is_some() { "why.txt" } else { "what.txt" };
                    let texts = (text("program.txt"), text("minimal.trace"), text(why));
                    found.push((finding.name, finding.shape, texts.0, texts.1, texts.2));
                }
            }
            match stop.load(Ordering::SeqCst) || first && !found.is_empty() {
                true => ControlFlow::Break(PendingTests::Drop),
                false => ControlFlow::Continue(()),
            }
        });
        ended.map(|()| found).map_err(|error| error.to_string())
    })?;
    if let Some(error) = raised.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take() {
        return Err(error);
    }
    found.map_err(value_error)
}
