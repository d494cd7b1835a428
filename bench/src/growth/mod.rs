//! Growth: time and memory of the real command on trace files, from a thousand operations to ten
//! million; over addresses and threads; and next to what belongs to a check: reading the file,
//! certifying the answer, traces that violate, traces that poll.
//!
//! Each measurement is a process of its own (see `child.rs`): CPU time of user and system, and the
//! most memory it held. Repetitions take turns, and the median is shown.

mod companions;
mod sizes;
mod sweeps;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use models::Model;

use crate::axis::count;
use crate::child::Usage;
use crate::context::{Checked, Context};
use crate::machine::{Fault, Machine, Shape, TSO_BUFFER};
use crate::report::Section;
use crate::table::{dash, seconds};
use crate::traces::trace_file;

/// The models, strongest first within their families.
const MODELS: [Model; 11] = [
    Model::Sc,
    Model::Tso,
    Model::Pso,
    Model::Wmo,
    Model::Rmo,
    Model::Coherence,
    Model::Cc,
    Model::Ccv,
    Model::Cm,
    Model::Ccm,
    Model::Wccm,
];

/// Those that the other checker knows too.
const AXE_MODELS: [Model; 4] = [Model::Sc, Model::Tso, Model::Pso, Model::Wmo];

const THREADS: usize = 16;
const ADDRESSES: usize = 256;

/// Measures all of it.
pub(crate) fn run(context: &Context) -> io::Result<Section> {
    let mut section = Section::new("growth", "Growth: time and memory of the command");
    section.paragraph(format!(
        "`tribunal check --jobs 1` on trace files, with the instruction mix of \
         efficient-tso-verification; {THREADS} threads and {ADDRESSES} addresses unless said \
         otherwise. sc, cc, ccv, cm and ccm judge traces of a sequentially consistent machine, the \
         others traces of one with store buffers; all are valid unless said otherwise. \
         Files hold events in the order in which they were recorded. A \
         measurement is ended after {} s of CPU time; a dash means that it would have taken longer, \
         going by the one before.",
        context.limit()
    ));
    let patience = sizes::report(context, &mut section)?;
    sweeps::report(context, &mut section, &patience)?;
    companions::report(context, &mut section, &patience)?;
    Ok(section)
}

/// Which machine makes valid traces for a model: the strongest that shows what the model allows.
fn buffer_for(model: Model) -> usize {
    match model {
        Model::Sc | Model::Cc | Model::Ccv | Model::Cm | Model::Ccm => 0,
        Model::Tso | Model::Pso | Model::Wmo | Model::Rmo | Model::Coherence | Model::Wccm => {
            TSO_BUFFER
        }
    }
}

/// A fault that the model sees, and the hardest one of those we have: models that keep order across
/// addresses are given a missed invalidation, which shows only across addresses.
fn fault_for(model: Model) -> Fault {
    match model {
        Model::Pso | Model::Wmo | Model::Rmo | Model::Coherence => Fault::Replaced,
        _ => Fault::MissedInvalidation,
    }
}

/// Trace files of one shape, made when they are first asked for.
struct Files<'a> {
    context: &'a Context,
    shape: Shape,
    made: Vec<PathBuf>,
}

impl<'a> Files<'a> {
    fn new(context: &'a Context, events: usize, threads: usize, addresses: usize) -> Self {
        let shape = Shape::tsotool(events, threads, addresses, 0);
        Self { context, shape, made: Vec::new() }
    }

    /// A valid trace for the model.
    fn valid(&mut self, model: Model) -> io::Result<PathBuf> {
        self.file(buffer_for(model), None)
    }

    /// A violating trace for the model.
    fn violating(&mut self, model: Model) -> io::Result<PathBuf> {
        self.file(buffer_for(model), Some(fault_for(model)))
    }

    fn file(&mut self, buffer: usize, fault: Option<Fault>) -> io::Result<PathBuf> {
        let shape = Shape { buffer, fault, ..self.shape };
        let Shape { events, threads, addresses, .. } = shape;
        let name = format!("{events}-{threads}-{addresses}-{buffer}-{fault:?}.trace");
        let path = self.context.file(&name);
        if !self.made.contains(&path) {
            trace_file(&path, Machine::new(shape, 1))?;
            self.made.push(path.clone());
        }
        Ok(path)
    }
}

impl Drop for Files<'_> {
    fn drop(&mut self) {
        for file in &self.made {
            // The folder goes at the end of the run anyway.
            let _ = fs::remove_file(file);
        }
    }
}

/// A check to be measured.
struct Job {
    model: Model,
    file: PathBuf,
}

/// Measures checks in turns, each so many times; the median of each. A check that gave no answer is
/// not repeated; one that is not worth it has no job, and no result.
fn in_turns(
    context: &Context,
    jobs: &[Option<Job>],
    repetitions: usize,
) -> io::Result<Vec<Option<Checked>>> {
    let mut runs: Vec<Vec<Usage>> = vec![Vec::new(); jobs.len()];
    let mut last: Vec<Option<Checked>> = vec![None; jobs.len()];
    for _ in 0..repetitions {
        for (at, job) in jobs.iter().enumerate() {
            let Some(Job { model, file }) = job else { continue };
            if runs[at].last().is_some_and(|usage| !usage.answered()) {
                continue;
            }
            let checked = context.check(*model, file)?;
            runs[at].push(checked.usage);
            last[at] = Some(checked);
        }
    }
    let middle = |(runs, last): (Vec<Usage>, Option<Checked>)| {
        Some(Checked { usage: Usage::middle(&runs)?, ..last? })
    };
    Ok(runs.into_iter().zip(last).map(middle).collect())
}

/// From which size on a model takes too long on valid traces, so that it need not be shown again.
#[derive(Default)]
struct SizeLimits {
    too_large: Vec<(Model, usize)>,
}

impl SizeLimits {
    /// Whether the model is worth a measurement on this many events.
    fn allows(&self, model: Model, events: usize) -> bool {
        !self.too_large.iter().any(|(m, size)| *m == model && events >= *size)
    }
}

/// The CPU time of a check that gave an answer.
fn time(checked: &Option<Checked>) -> Option<f64> {
    checked.as_ref().filter(|c| c.usage.answered()).map(|c| c.usage.cpu())
}

/// The CPU time of a check, or why there is none.
fn time_or_reason(checked: &Option<Checked>) -> String {
    match checked {
        Some(checked) => {
            checked.usage.failure().unwrap_or_else(|| seconds(Some(checked.usage.cpu())))
        }
        None => dash(),
    }
}

/// Reports what is measured.
fn announce(context: &Context, what: &str, shape: &str) {
    context.progress(format!("growth: {what}, {shape}"));
}

/// A size in words.
fn operations(events: usize) -> String {
    format!("{} operations", count(events as f64))
}

/// Measures `axe check`, if there is one.
fn axe(context: &Context, model: Model, file: &Path) -> io::Result<Option<Usage>> {
    let Some(axe) = &context.axe else { return Ok(None) };
    let words =
        vec![axe.clone().into(), "check".into(), model.name().to_uppercase().into(), file.into()];
    context.measure(words).map(Some)
}
