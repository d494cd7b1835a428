//! Several searches, one after the other, by the processes of a cluster.
//!
//! A verification is a procedure whose next search depends on what the searches before it found, on the
//! clock and on the judge of memory traces. So one process follows it, the first; the others serve: they
//! hear which program is searched next, search it together with the first one, forget what came of it,
//! and wait for the next. Nothing depends on processes taking the same decisions.
//!
//! A program is sent as its text, with how it is read. The first process reads it again before it sends
//! it: a search of a model that is not the one of its text, or that needs more than a text (an observer
//! around its machines, an order of its own), is made by the first process alone, with the same result.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ::cluster::{Cluster, Lost};
use murphi::check::{self, Dialect, Reading};
use murphi::interpret::Interpreter;
use murphi::ir::Model;
use murphi::source::Source;
use murphi::symmetric::Symmetric;
use native::CodeCache;
use serde::{Deserialize, Serialize};

use crate::disk::SearchIdentity;
use crate::job::digest;
use crate::options::{Checkpointing, Deadlock, Disk, Options, Strategy};
use crate::symmetry::Symmetry;
use crate::{Bare, Engine};

/// What the first process says.
#[derive(Serialize, Deserialize)]
enum Order {
    /// Search this.
    Search(Box<Task>),
    /// It is over, and this is the exit code of all.
    End { code: u8 },
}

/// A search, as far as it does not depend on the process.
#[derive(Serialize, Deserialize)]
struct Task {
    program: Program,
    symmetry: bool,
    deadlock: String,
    depth: Option<u32>,
    states: Option<u64>,
    pass_over: usize,
    on_disk: bool,
    checkpoint: Option<Kept>,
}

/// A program as it is sent.
#[derive(Serialize, Deserialize)]
struct Program {
    name: String,
    text: String,
    constants: Vec<(String, String)>,
    follows_rumur: bool,
    loop_limit: u64,
    call_limit: u64,
    whole: bool,
    vouched: Option<String>,
    symmetric: Vec<(String, bool)>,
    /// Tells its model from others.
    digest: String,
}

/// Checkpoints of a search.
#[derive(Serialize, Deserialize)]
struct Kept {
    /// The directory in that of all checkpoints.
    name: String,
    every: Duration,
    resume: bool,
    identity: SearchIdentity,
    keep: bool,
}

const DEADLOCKS: [Deadlock; 3] = [Deadlock::Off, Deadlock::Stuck, Deadlock::Stuttering];

impl Program {
    fn of(model: &Model) -> Self {
        let check::Options {
            constants,
            dialect,
            loop_limit,
            call_limit,
            reading,
            vouched,
            symmetric,
        } = &model.language;
        let symmetric = symmetric.iter().map(|ty| (ty.name.clone(), ty.is_enumeration)).collect();
        Program {
            name: model.source.name.clone(),
            text: model.source.text.clone(),
            constants: constants.clone(),
            follows_rumur: *dialect == Dialect::Rumur,
            loop_limit: *loop_limit,
            call_limit: *call_limit,
            whole: *reading == Reading::Whole,
            vouched: vouched.clone(),
            symmetric,
            digest: digest_of(model),
        }
    }

    /// What runs it; nothing if its model is another one.
    fn interpreter(&self) -> Option<Interpreter> {
        let source = Source { name: self.name.clone(), text: self.text.clone() };
        let symmetric = |(name, is_enumeration): &(String, bool)| {
            let (name, is_enumeration) = (name.clone(), *is_enumeration);
            Symmetric { name, is_enumeration }
        };
        let language = check::Options {
            constants: self.constants.clone(),
            dialect: if self.follows_rumur { Dialect::Rumur } else { Dialect::CMurphi },
            loop_limit: self.loop_limit,
            call_limit: self.call_limit,
            reading: if self.whole { Reading::Whole } else { Reading::Strict },
            vouched: self.vouched.clone(),
            symmetric: self.symmetric.iter().map(symmetric).collect(),
        };
        let model = murphi::load(source, &language).ok()?.model;
        match digest_of(&model) == self.digest {
            true => Interpreter::new(Arc::new(model)).ok(),
            false => None,
        }
    }
}

fn digest_of(model: &Model) -> String {
    digest(format!("{model:?}").as_bytes())
}

impl Task {
    /// A search, unless it needs more than a text.
    fn of(model: &Model, options: &Options, symmetry: Symmetry) -> Option<Task> {
        let Options { strategy, deadlock, depth, states, pass_over, ref goals, .. } = *options;
        if strategy != Strategy::Breadth || !goals.is_empty() {
            return None;
        }
        let program = Program::of(model);
        program.interpreter()?;
        let kept = options.disk.as_ref().and_then(|disk| disk.checkpoint.as_ref());
        let checkpoint = match kept {
            None => None,
            Some(kept) => Some(Kept {
                name: kept.directory.file_name()?.to_str()?.to_owned(),
                every: kept.every,
                resume: kept.resume,
                identity: kept.identity.clone(),
                keep: kept.keep,
            }),
        };
        Some(Task {
            program,
            symmetry: symmetry == Symmetry::Full,
            deadlock: deadlock.name().to_owned(),
            depth,
            states,
            pass_over,
            on_disk: options.disk.is_some(),
            checkpoint,
        })
    }

    /// How this process makes the search.
    fn options(&self, cluster: &Cluster, own: &Options) -> Option<Options> {
        let disk = match (self.on_disk, &own.disk) {
            (false, _) => None,
            (true, Some(own)) => {
                let own_checkpoints = own.checkpoint.as_ref();
                let checkpoint = match &self.checkpoint {
                    None => None,
                    Some(kept) => Some(Checkpointing {
                        directory: own_checkpoints?.directory.join(&kept.name),
                        every: kept.every,
                        resume: kept.resume,
                        identity: kept.identity.clone(),
                        keep: kept.keep,
                    }),
                };
                Some(Disk { checkpoint, ..own.clone() })
            }
            (true, None) => return None,
        };
        Some(Options {
            strategy: Strategy::Breadth,
            deadlock: DEADLOCKS.into_iter().find(|one| one.name() == self.deadlock)?,
            depth: self.depth,
            states: self.states,
            pass_over: self.pass_over,
            disk,
            cluster: Some(cluster.clone()),
            time: None,
            ..own.clone()
        })
    }
}

/// In the first process of a cluster that it leads: has the others take part in a search. Says whether
/// they do; if not, the search is made alone.
pub(crate) fn invite(
    cluster: &Cluster,
    model: &Model,
    options: &Options,
    symmetry: Symmetry,
) -> bool {
    let Some(task) = Task::of(model, options, symmetry) else { return false };
    // If a process is lost, the search ends at once, and says so.
    let _ = say(cluster, &Order::Search(Box::new(task)));
    true
}

fn say(cluster: &Cluster, order: &Order) -> Result<(), Lost> {
    let message = serde_json::to_vec(order).map_err(|_| Lost)?;
    cluster.tell(&message)
}

/// In the first process: tells the others that all is over, and leaves together with them.
pub fn dismiss(cluster: &Cluster, code: u8) {
    if cluster.loss().is_none() && say(cluster, &Order::End { code }).is_ok() {
        cluster.part();
    }
}

/// In another process: takes part in all searches of the first one, and returns its exit code. `own`
/// says how much memory this process has, and where its files are.
pub fn serve(cluster: &Cluster, own: &Options, interrupt: &AtomicBool) -> Result<u8, Lost> {
    let code = CodeCache::default();
    loop {
        let order: Order = serde_json::from_slice(&cluster.hear()?).map_err(|_| Lost)?;
        let task = match order {
            Order::Search(task) => task,
            Order::End { code } => {
                cluster.part();
                return Ok(code);
            }
        };
        let (Some(interpreter), Some(options)) =
            (task.program.interpreter(), task.options(cluster, own))
        else {
            // The others must not wait for this process.
            cluster.abandon();
            return Err(Lost);
        };
        let symmetry = if task.symmetry { Symmetry::Full } else { Symmetry::Off };
        let engine = Engine::sharing(&interpreter, &code);
        let how = (&options, symmetry);
        engine.explore(&interpreter, how, &Bare, &mut |_| (), interrupt);
        if cluster.loss().is_some() {
            return Err(Lost);
        }
    }
}
