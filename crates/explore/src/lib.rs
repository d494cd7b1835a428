//! Which states can it reach? Packed states, symmetry, the visited set, search, counterexamples.
//!
//! [`explore`] runs a model (any [`Machine`]) from its start states and
//! answers with an [`Exploration`]: a verdict, totals, and, if something is wrong, the way there.
//! The same model gives the same answer, counterexample included, for any number of threads.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use tribunal_explore::{BitCodec, Identity, Options, System, Verdict, explore};
//! use murphi::layout::Leaf;
//! use murphi::machine::{Check, Firing, Machine, Outcome, Successors};
//!
//! /// Counts from 0 to 9 and starts again.
//! struct Clock;
//!
//! fn step(out: &mut Successors, value: u8) {
//!     out.firings.push(Firing { rule: 0, instance: 0, outcome: Outcome::Done });
//!     out.states.extend([value, 0, 0, 0, 0, 0, 0, 0]);
//! }
//!
//! impl Machine for Clock {
//!     fn start(&mut self, out: &mut Successors) {
//!         step(out, 0);
//!     }
//!     fn expand(&mut self, state: &[u8], out: &mut Successors) {
//!         step(out, (state[0] + 1) % 10);
//!     }
//!     fn check(&mut self, _state: &[u8]) -> Check {
//!         Check::Holds
//!     }
//!     fn covered(&self) -> &[bool] {
//!         &[]
//!     }
//! }
//!
//! let codec = BitCodec::of_leaves(&[Leaf { offset: 0, width: 1, bits: 4, ty: None }]);
//! let system =
//!     System { machine: || Clock, codec: &codec, reduction: &Identity, state_size: 8, rules: 1 };
//! let result = explore(&Options::default(), &system, &mut |_| (), &AtomicBool::new(false));
//! assert_eq!(result.verdict, Verdict::Holds(()));
//! assert_eq!((result.states, result.rules_fired, result.depth), (10, 10, 9));
//! ```

mod arena;
mod asked;
mod best;
mod bfs;
mod block;
mod cluster_search;
mod compact;
mod counterexample;
mod dfs;
mod disk;
mod engine;
mod exchange;
mod files;
mod finding;
mod free_memory;
mod growth;
mod hash;
mod job;
mod journal;
mod led;
mod level_file;
mod levels;
mod link;
mod liveness;
mod memory;
mod options;
pub mod pack;
mod reduction;
mod region;
mod rendezvous;
mod replay;
pub mod report;
mod result;
mod runner;
mod signatures;
mod simulate;
mod state_graph;
mod stop;
mod storage;
mod store;
pub mod symmetry;
mod totals;
mod towards;
mod tree;
mod units;
mod visited;
mod watch;
mod worker;

use std::sync::atomic::AtomicBool;

use murphi::machine::Machine;

pub use ::cluster::Cluster;
pub use asked::Asked;
pub use disk::{CheckpointFolder, SearchIdentity, Unusable, resumable, usable};
pub use engine::{Bare, Engine, Hook};
pub use free_memory::default_budget;
pub use growth::{Depths, Growth, Size, Timeline};
pub use job::{Event, Loaded, Question, Refused, WALK, build, cluster_identity, digest};
pub use journal::Journal;
pub use led::{dismiss, serve};
pub use native::CodeCache;
pub use options::{Checkpointing, Deadlock, Disk, Levels, Options, StateForm, Strategy};
pub use pack::{BitCodec, Codec};
pub use reduction::{Identity, Reduction, Renaming, Successor};
pub use region::Region;
pub use replay::{Recorded, RecordedStart, RecordedStep, Refuted, read_recorded, read_run, replay};
pub use report::{Contradiction, Report};
pub use result::{
    Checkpoint, Exploration, Liveness, Nearest, PassedOver, Progress, Reason, Step, Verdict,
    ViolatingRun, Violation,
};
pub use state_graph::{GraphState, GraphStep, NoGraph, StateGraph, StateProblem, StepEnd};
pub use stop::Stop;
pub use towards::Distance;
pub use units::Units;

use watch::Caller;

/// A model that can be explored.
#[derive(Debug, Clone, Copy)]
pub struct System<'a, F, C, R> {
    /// Makes a machine for each thread.
    pub machine: F,
    /// How states are stored.
    pub codec: &'a C,
    /// Which states are alike.
    pub reduction: &'a R,
    /// Bytes of an unpacked state.
    pub state_size: usize,
    /// How many rules the model has.
    pub rules: usize,
}

/// Explores the states of `system`.
///
/// `progress` is called about ten times a second. Setting `interrupt` ends the exploration with
/// the totals so far.
pub fn explore<M, F, C, R>(
    options: &Options,
    system: &System<'_, F, C, R>,
    progress: &mut dyn FnMut(&Progress),
    interrupt: &AtomicBool,
) -> Exploration
where
    M: Machine,
    F: Fn() -> M + Sync,
    C: Codec,
    R: Reduction,
{
    let caller = &mut Caller { options, progress, interrupt };
    let &System { ref machine, codec, reduction, state_size, rules } = system;
    // The searches below are compiled once for all kinds of machines.
    let boxed = || -> Box<dyn Machine + '_> { Box::new(machine()) };
    let machine: &MakeMachine<'_> = &boxed;
    let units = reduction.units(state_size);
    match reduction.is_trivial() {
        true => {
            let reduction = &Identity;
            search(&System { machine, codec, reduction, state_size, rules }, units, caller)
        }
        false => search(&System { machine, codec, reduction, state_size, rules }, units, caller),
    }
}

/// Makes a machine of whatever kind.
type MakeMachine<'a> = dyn Fn() -> Box<dyn Machine + 'a> + Sync + 'a;

fn search<M, F, C, R>(
    system: &System<'_, F, C, R>,
    units: Units,
    caller: &mut Caller,
) -> Exploration
where
    M: Machine,
    F: Fn() -> M + Sync,
    C: Codec,
    R: Reduction,
{
    match caller.options.strategy {
        Strategy::Breadth => match (&caller.options.cluster, &caller.options.disk) {
            (Some(cluster), Some(disk)) => {
                disk::explore_together((disk, cluster), system, &units, caller)
            }
            (Some(cluster), None) => cluster_search::explore(cluster, system, units, caller),
            (None, Some(disk)) => disk::explore(disk, system, &units, caller),
            (None, None) => bfs::explore(system, units, caller),
        },
        Strategy::Compact { bits } => compact::explore(bits, system, caller),
        Strategy::Depth => dfs::explore(system, caller),
        Strategy::Best => match &caller.options.towards {
            Some(distance) => best::explore(distance, system, caller),
            None => bfs::explore(system, units, caller),
        },
        Strategy::Simulate { steps, seed, length } => {
            simulate::explore(simulate::Plan { steps, seed, length }, system, caller)
        }
    }
}

/// With how many threads a breadth-first search runs that is asked for `options.threads`, if a
/// packed state has so many bytes: fewer where the messages between so many threads would take
/// more than a quarter of the memory, and never more than [`MOST_THREADS`].
pub fn threads(options: &Options, packed_size: usize) -> usize {
    if let Some(cluster) = &options.cluster {
        // All processes have the same number, which was agreed on.
        return cluster.threads();
    }
    let most = options.memory.unwrap_or(u64::MAX) / 4;
    let limit = if options.disk.is_some() { disk::SHARDS } else { MOST_THREADS };
    let mut threads = options.threads.clamp(1, limit);
    while threads > 1 && exchange::buffer_bytes(threads, packed_size + 1) > most {
        threads /= 2;
    }
    threads
}

/// The most threads of a breadth-first search.
pub const MOST_THREADS: usize = 256;
