//! The flags of `tribunal explore`, each with the help it prints.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use explore::Deadlock;
use explore::symmetry::Symmetry;
use murphi::check::Dialect;

use super::{
    CiFlags, ClusterFlags, ColourFlag, EXIT_CODES, JsonFlag, PageFlags, QuietFlag, exit_codes,
};
use crate::units;

const EXAMPLES: &str = "\
Examples:
  tribunal explore protocol.m                     check every reachable state
  tribunal explore --const N=4 protocol.m         the same model with another constant
  tribunal explore --symmetry off protocol.m      count all states, not one of each orbit
  tribunal explore --simulate 1000000 big.m       a random walk of a million steps
  tribunal explore --search best --towards EXPR big.m   states nearest to EXPR first
  tribunal explore --compact --memory 8GiB big.m  40 bits per state; a state may be missed
  tribunal explore --checkpoint run big.m         save the search in `run`, to continue it …
  tribunal explore --resume run big.m             … with --resume
  tribunal explore --processes 4 big.m            four processes; --cluster for several machines
  tribunal explore --report bug.html protocol.m   a page with the counterexample as a chart
  tribunal explore --graph states.dot small.m     the states and steps of a small model, to draw
  tribunal explore --save bug.json protocol.m     save the counterexample …
  tribunal explore --replay bug.json protocol.m   … and check it step by step";

/// The flags with which several processes search: breadth-first, and each with its own states.
const ONE_PROCESS: [&str; 2] = ["processes", "cluster"];

const CODES: &str = exit_codes!(
    "verified: every reachable state was checked",
    "a violation or a deadlock; the counterexample is printed"
);

const VERDICTS: &str = "\
Verdicts:
  verified   every reachable state was visited: every invariant holds, no rule fails, no state is a
             deadlock, and from every state each liveness condition can be reached. With --compact
             the report gives the probability that a state was missed.
  violation  an invariant is broken, or a rule fails. The counterexample is printed from the start
             state on, one rule per step, with the variables that each step changed; breadth-first
             search finds a shortest one. For a liveness property the counterexample ends in a state
             from which the condition cannot be reached, and the report lists the rules that can
             still fire.
  deadlock   the model reaches a state without successors (see --deadlock).
  undecided  no violation was found, but not every state was visited: time, memory or --bound
             ended the search, or it was a random walk.";

/// Check every reachable state of a Murphi model: invariants, assertions, deadlock, liveness.
///
/// The model is a Murphi file as CMurphi and Rumur read it; Tribunal compiles it to machine code in
/// memory, in milliseconds. States that differ only by a permutation of scalarset members count as
/// one. To check a protocol against a memory model, use `tribunal verify`.
#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES)]
#[command(after_long_help = format!("{VERDICTS}\n\n{EXAMPLES}\n\n{CODES}"))]
pub(crate) struct ExploreArguments {
    #[command(flatten)]
    pub(crate) language: LanguageFlags,

    /// Maximum depth of recursion; exceeding it is a run-time error of the model [default: 1000].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    #[arg(hide_short_help = true)]
    pub(crate) call_limit: Option<u64>,

    /// Treat a subrange or enumeration as a scalarset (symmetry reduction). May be repeated.
    ///
    /// The model must use the type symmetrically: compare its members for equality, store them, index
    /// with them and iterate over them, and nothing else. Any other use is reported with its line.
    #[arg(long, value_name = "TYPE", hide_short_help = true)]
    pub(crate) symmetric: Vec<String>,

    /// Check that a state in which EXPR holds can be reached from every reachable state. May be
    /// repeated.
    ///
    /// Like `liveness EXPR` in the model.
    #[arg(long, value_name = "EXPR")]
    pub(crate) liveness: Vec<String>,

    /// Check only the syntax and types of the model: exit code 2 if there are errors, else 0.
    ///
    /// With --json, print one object for each error and warning, with its line and column, for
    /// editors.
    #[arg(long, conflicts_with_all = ["replay", "save", "report", "simulate", "compact"])]
    #[arg(hide_short_help = true)]
    pub(crate) check_only: bool,

    /// A memory model: `verify` checks it, and the error message says so.
    #[arg(short, long, value_name = "MODEL", hide = true)]
    pub(crate) model: Option<String>,

    #[command(flatten)]
    pub(crate) search: SearchFlags,
    #[command(flatten)]
    pub(crate) limits: ExploreLimitFlags,
    #[command(flatten)]
    pub(crate) cluster: ClusterFlags,
    #[command(flatten)]
    pub(crate) evidence: EvidenceFlags,
    #[command(flatten)]
    pub(crate) page: PageFlags,

    /// Write the graph of all states to FILE, for Graphviz (.dot) or as JSON (.json).
    ///
    /// For models of up to 10,000 states, without symmetry reduction. Nodes show the variables that
    /// differ between states; edges show the rule and its parameters. With --bound, only states up to
    /// that depth.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    #[arg(conflicts_with_all = ["replay", "check_only", "list_constants", "simulate"])]
    #[arg(conflicts_with_all = ONE_PROCESS)]
    pub(crate) graph: Option<PathBuf>,

    /// List the constants of the model, for --const, and stop.
    #[arg(long)]
    pub(crate) list_constants: bool,

    /// List every rule with the number of times it fired.
    ///
    /// Rules that never fire are always listed.
    #[arg(long)]
    pub(crate) coverage: bool,

    #[command(flatten)]
    pub(crate) json: JsonFlag,
    #[command(flatten)]
    pub(crate) quiet: QuietFlag,
    #[command(flatten)]
    pub(crate) colour: ColourFlag,

    /// Murphi model; `-` is standard input.
    #[arg(value_name = "MODEL.m")]
    pub(crate) file: String,

    #[command(flatten)]
    pub(crate) ci: CiFlags,
}

/// How the model is read.
#[derive(Args, Debug, Clone)]
pub(crate) struct LanguageFlags {
    /// Override a constant of the model. May be repeated.
    #[arg(short = 'D', long = "const", value_name = "NAME=VALUE", value_parser = constant)]
    pub(crate) constants: Vec<(String, String)>,

    /// Murphi dialect to follow where CMurphi and Rumur differ (docs/murphi.md) [default: cmurphi].
    #[arg(long, value_name = "DIALECT", hide_short_help = true)]
    pub(crate) dialect: Option<DialectChoice>,

    /// Maximum number of iterations of a `while` loop; exceeding it is a run-time error of the model
    /// [default: 1000].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    #[arg(hide_short_help = true)]
    pub(crate) loop_limit: Option<u64>,
}

/// The order of the search, and which states it visits.
#[derive(Args, Debug, Clone)]
pub(crate) struct SearchFlags {
    /// Symmetry reduction by scalarsets.
    #[arg(long, value_name = "WHAT", default_value = "full")]
    pub(crate) symmetry: SymmetryChoice,

    /// What counts as a deadlock [default: stuttering].
    #[arg(long, value_name = "WHAT")]
    pub(crate) deadlock: Option<DeadlockChoice>,

    /// The order of the search.
    #[arg(long, value_name = "ORDER", default_value = "bfs", conflicts_with = "simulate")]
    pub(crate) search: SearchChoice,

    /// With --search best: the condition to search towards, such as one under which you suspect a bug.
    ///
    /// The distance of a state is the number of parts of EXPR that do not hold: `&` and `forall` add
    /// the distances of their parts, `|` and `exists` take the smallest. The search ends at a violation,
    /// not where EXPR holds.
    #[arg(long, value_name = "EXPR", conflicts_with = "simulate", conflicts_with_all = ONE_PROCESS)]
    pub(crate) towards: Option<String>,

    /// Walk at random for STEPS steps instead of visiting every state.
    ///
    /// Finds bugs in models that are too large to search; proves nothing (exit code 3 without a bug).
    #[arg(long, value_name = "STEPS", value_parser = clap::value_parser!(u64).range(1..))]
    #[arg(conflicts_with_all = ["compact", "disk"], conflicts_with_all = ONE_PROCESS)]
    pub(crate) simulate: Option<u64>,

    /// Random seed of --simulate.
    #[arg(long, value_name = "S", default_value_t = 0, requires = "simulate")]
    pub(crate) seed: u64,

    /// Search up to DEPTH steps from a start state (0: start states only).
    ///
    /// With --simulate: the length of one walk, at least 1 [default: 10000].
    #[arg(long, value_name = "DEPTH")]
    pub(crate) bound: Option<u64>,

    /// Hash compaction: store a hash of each state instead of the state [default: 40 bits].
    ///
    /// Two states with the same hash count as one, so a state can be missed. The report gives the
    /// probability. The frontier is kept in temporary files.
    #[arg(long, value_name = "BITS", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "40", value_parser = clap::value_parser!(u8).range(40..=64))]
    #[arg(conflicts_with = "search", conflicts_with_all = ONE_PROCESS)]
    pub(crate) compact: Option<u8>,

    /// Move states to temporary files in DIR when memory is full; the search stays exact.
    ///
    /// With --compact, the directory of its temporary files [default: the system's].
    #[arg(long, value_name = "DIR")]
    pub(crate) disk: Option<PathBuf>,

    /// Save the search in DIR after each level, so that --resume can continue it.
    ///
    /// The search can be continued after a crash, Ctrl-C, or a time, memory or disk limit. States that
    /// do not fit into memory are also stored in DIR. Once there is a verdict, the saved search is
    /// removed.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["compact", "simulate"])]
    pub(crate) checkpoint: Option<PathBuf>,

    /// With --checkpoint or --resume: minimum time between two saves: 30s, 10m [default: 1s].
    #[arg(long, value_name = "TIME", value_parser = units::time, hide_short_help = true)]
    pub(crate) every: Option<Duration>,

    /// Continue the search that --checkpoint saved in DIR.
    ///
    /// Further checkpoints are saved in DIR, too. The model, its constants and all other flags must be
    /// the same; only --jobs, --memory, --disk, --budget, --bound and --every may differ.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["checkpoint", "compact", "simulate"])]
    pub(crate) resume: Option<PathBuf>,
}

/// The limits of an exploration.
#[derive(Args, Debug, Clone)]
pub(crate) struct ExploreLimitFlags {
    /// Number of worker threads [default: all cores]; the result does not depend on it.
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,

    /// Time limit of the search: 500ms, 60s, 5m, 1h.
    #[arg(long, value_name = "TIME", value_parser = units::time)]
    pub(crate) budget: Option<Duration>,

    /// Memory limit of the search: 512MiB, 8GiB [default: four fifths of free memory].
    #[arg(long, value_name = "SIZE", value_parser = units::size)]
    pub(crate) memory: Option<usize>,
}

impl ExploreLimitFlags {
    /// The number of threads of each of several processes.
    pub(crate) fn threads_of_each(&self, processes: usize) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        self.jobs.map_or_else(|| (all() / processes).max(1), usize::from)
    }
}

/// How counterexamples are shown and saved.
#[derive(Args, Debug, Clone)]
pub(crate) struct EvidenceFlags {
    /// Show the whole state after each step of a counterexample, not only what changed.
    #[arg(long, hide_short_help = true)]
    pub(crate) trace_all: bool,

    /// Show the value of EXPR at each step of a counterexample. May be repeated.
    #[arg(long, value_name = "EXPR", hide_short_help = true)]
    pub(crate) show: Vec<String>,

    /// Hide variables in a counterexample: `cache`, `cache[Proc_1].data`; `*` hides all. May be
    /// repeated.
    #[arg(long, value_name = "PLACE", hide_short_help = true)]
    pub(crate) hide: Vec<String>,

    /// Save the result and its counterexample as JSON, for --replay.
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,

    /// Check a counterexample (a file of --save or --json) instead of searching.
    ///
    /// Runs the counterexample step by step in the reference interpreter, which shares no code with
    /// the search: each rule must be enabled and change what is recorded, and the last state must
    /// have the recorded violation. Constants, dialect and loop limit are taken from the file unless
    /// given. Exits 0 if the counterexample is confirmed, and 1 if it is not.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["simulate", "bound", "compact", "disk"])]
    #[arg(conflicts_with_all = ["checkpoint", "every", "resume"])]
    #[arg(conflicts_with_all = ["save", "coverage", "budget", "memory", "processes", "cluster"])]
    pub(crate) replay: Option<String>,
}

/// The dialect of Murphi.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DialectChoice {
    /// CMurphi; extensions that only Rumur has behave as in Rumur.
    Cmurphi,
    /// Rumur.
    Rumur,
}

/// The symmetry reduction.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SymmetryChoice {
    /// Visit one state of each orbit (exact symmetry reduction).
    Full,
    /// Visit every state (multisets are still treated as unordered).
    Off,
}

/// What counts as a deadlock.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DeadlockChoice {
    /// Do not check for deadlocks.
    Off,
    /// A state in which no rule is enabled.
    Stuck,
    /// A state in which every enabled rule, if any, leaves the state unchanged.
    Stuttering,
}

/// The order of the search.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SearchChoice {
    /// Breadth-first: counterexamples are as short as possible.
    Bfs,
    /// Depth-first.
    Dfs,
    /// Best-first: states nearest to the condition of --towards first, on one thread.
    Best,
}

impl From<DialectChoice> for Dialect {
    fn from(choice: DialectChoice) -> Self {
        match choice {
            DialectChoice::Cmurphi => Dialect::CMurphi,
            DialectChoice::Rumur => Dialect::Rumur,
        }
    }
}

impl From<SymmetryChoice> for Symmetry {
    fn from(choice: SymmetryChoice) -> Self {
        match choice {
            SymmetryChoice::Full => Symmetry::Full,
            SymmetryChoice::Off => Symmetry::Off,
        }
    }
}

impl From<DeadlockChoice> for Deadlock {
    fn from(choice: DeadlockChoice) -> Self {
        match choice {
            DeadlockChoice::Off => Deadlock::Off,
            DeadlockChoice::Stuck => Deadlock::Stuck,
            DeadlockChoice::Stuttering => Deadlock::Stuttering,
        }
    }
}

impl DialectChoice {
    /// The choice with this name.
    pub(crate) fn of_name(name: &str) -> Result<Self, String> {
        Self::from_str(name, true)
    }
}

impl DeadlockChoice {
    /// The choice with this name.
    pub(crate) fn of_name(name: &str) -> Result<Self, String> {
        Self::from_str(name, true)
    }
}

/// Parses `NAME=VALUE`.
fn constant(text: &str) -> Result<(String, String), String> {
    let is_name = |text: &str| {
        !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let parts = text.split_once('=').map(|(name, value)| (name.trim(), value.trim()));
    match parts {
        Some((name, value)) if is_name(name) && is_name(value.trim_start_matches('-')) => {
            Ok((name.to_owned(), value.to_owned()))
        }
        _ => Err(format!("`{text}` is not NAME=VALUE, such as Processes=3")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_a_name_and_a_value() {
        assert_eq!(constant("N=4"), Ok(("N".to_owned(), "4".to_owned())));
        assert_eq!(constant("low = -3"), Ok(("low".to_owned(), "-3".to_owned())));
        for text in ["N", "=4", "N=", "N=-", "a b=1", "N=4=5"] {
            assert!(constant(text).is_err(), "{text}");
        }
    }
}
