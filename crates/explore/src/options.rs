//! How to explore: the choices that a user makes.

use std::path::PathBuf;
use std::time::Duration;

use cluster::Cluster;
use murphi::goal::Goals;

use crate::disk::SearchIdentity;
use crate::journal::Journal;
use crate::towards::Distance;

/// What to explore, how, and how far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// In which order.
    pub strategy: Strategy,
    /// With how many threads; at least 1. Depth-first and best-first search have one always.
    pub threads: usize,
    /// What counts as a deadlock.
    pub deadlock: Deadlock,
    /// How long at most.
    pub time: Option<Duration>,
    /// In how many bytes at most.
    pub memory: Option<u64>,
    /// How many rules to fire in a row at most. States this far are looked at but not expanded.
    pub depth: Option<u32>,
    /// After how many states to stop, breadth first: the level in which there are as many is looked
    /// at and not expanded. It is a number and not a time, so that a search that ends early is the
    /// same every time.
    pub states: Option<u64>,
    /// How many states in which a property is broken to pass over, breadth first: they are noted and
    /// not expanded, and the search goes on until the end of the level in which there are as many.
    /// With 0 the first one ends the search.
    pub pass_over: usize,
    /// What has to stay within reach of every state. A breadth-first search that keeps whole states
    /// decides it at its end.
    pub goals: Goals,
    /// Where temporary files of a search with signatures go; `None` is the system's place for them.
    pub directory: Option<PathBuf>,
    /// What a best-first search goes towards.
    pub towards: Option<Distance>,
    /// If states may go to disk, breadth first, where.
    pub disk: Option<Disk>,
    /// In which form states are stored, breadth first. Nothing that is found depends on it.
    pub form: StateForm,
    /// Who searches a level, breadth first, if there are several threads. Nothing that is found depends
    /// on it.
    pub levels: Levels,
    /// The processes that search together, breadth first, if there are several. Each has so many threads
    /// and so much memory.
    pub cluster: Option<Cluster>,
    /// Where what is found is noted, and what was found before.
    pub journal: Option<Journal>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            strategy: Strategy::Breadth,
            threads: 1,
            deadlock: Deadlock::Stuttering,
            time: None,
            memory: None,
            depth: None,
            states: None,
            pass_over: 0,
            goals: Goals::default(),
            directory: None,
            towards: None,
            disk: None,
            form: StateForm::BySize,
            levels: Levels::ByWork,
            cluster: None,
            journal: None,
        }
    }
}

/// Where states are when they do not fit into memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disk {
    /// The directory of temporary files, and of states unless there are checkpoints.
    pub directory: PathBuf,
    /// Where states and counts are kept so that the search can go on from there.
    pub checkpoint: Option<Checkpointing>,
    /// How many states are in memory at most, beside the budget. Nothing that is found depends on
    /// it.
    pub most_in_memory: Option<u64>,
}

/// How a search keeps checkpoints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpointing {
    /// Where.
    pub directory: PathBuf,
    /// How much time passes at least between two of them. They are written at the end of a level.
    pub every: Duration,
    /// Whether to go on from the one that is there.
    pub resume: bool,
    /// What is asked, as names and values; one that was written for something else is refused.
    pub identity: SearchIdentity,
    /// Whether the last one stays when the search is over, for a question that takes more searches.
    pub keep: bool,
}

/// Which levels of a breadth-first search are shared among threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Levels {
    /// Those that are worth it; one thread searches the others.
    #[default]
    ByWork,
    /// Two out of four, however small they are: for tests.
    ByTurns,
}

/// In which form states are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StateForm {
    /// Small states flat, large ones as trees.
    #[default]
    BySize,
    /// As packed bytes.
    Flat,
    /// As trees of parts that states share.
    Tree,
}

impl StateForm {
    /// From how many bytes of a packed state on states are large.
    const LARGE: usize = 96;

    /// Whether states of which packed ones have so many bytes are stored as trees.
    pub(crate) fn is_tree(self, packed: usize) -> bool {
        match self {
            StateForm::BySize => packed >= StateForm::LARGE,
            StateForm::Flat => false,
            StateForm::Tree => true,
        }
    }
}

/// In which order states are visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// Breadth-first: the shortest counterexample.
    Breadth,
    /// Breadth-first with hash compaction: only signatures of states are kept in memory, the
    /// states themselves on disk. Some states may be missed, with a small probability that is
    /// reported.
    Compact {
        /// Bits of a signature, 40 to 64.
        bits: u32,
    },
    /// Depth-first: deep at once.
    Depth,
    /// Best-first: nearest to a condition first, on one thread.
    Best,
    /// Random walks.
    Simulate {
        /// How many rules to run in all walks together.
        steps: u64,
        /// Other seeds give other walks.
        seed: u64,
        /// How many rules to run in one walk.
        length: u64,
    },
}

/// What counts as a deadlock. The names are Rumur's; CMurphi's deadlock is `Stuttering`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deadlock {
    /// Nothing.
    Off,
    /// A state in which no rule applies.
    Stuck,
    /// A state that no rule changes. Both peers compare the state that was expanded with what the
    /// rule made of it, before either is replaced by a representative: a rule that only renames
    /// members of a scalarset does change the state.
    Stuttering,
}

impl Deadlock {
    /// The name that commands and files use.
    pub fn name(self) -> &'static str {
        match self {
            Deadlock::Off => "off",
            Deadlock::Stuck => "stuck",
            Deadlock::Stuttering => "stuttering",
        }
    }
}
