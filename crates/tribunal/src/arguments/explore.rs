//! The flags of `tribunal explore`, each with the help it prints.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use explore::Deadlock;
use explore::symmetry::Symmetry;
use murphi::check::Dialect;

use super::{ColourFlag, EXIT_CODES, JsonFlag, QuietFlag};
use crate::units;

const EXAMPLES: &str = "\
Examples:
  tribunal explore protocol.m                     every reachable state
  tribunal explore --const N=4 protocol.m         the same model with another constant
  tribunal explore --symmetry off protocol.m      count states as they are, not orbits
  tribunal explore --simulate 1000000 big.m       a random walk of a million steps
  tribunal explore --compact --memory 8GiB big.m  40 bits a state, with a known small risk
  tribunal explore --save bug.json protocol.m     keep the counterexample ...
  tribunal explore --replay bug.json protocol.m   ... and check it step by step";

const VERDICTS: &str = "\
Verdicts:
  verified   every state that can be reached was visited; every invariant holds in each, no rule
             fails, no state is a deadlock, and what the liveness properties ask for can be reached
             from each. With --compact the report says how likely it is
             that a state was overlooked.
  violation  a run of the model breaks an invariant or fails in a rule. The run is printed: from
             the start state, one rule a step, with what each step changed. Breadth-first search
             finds a shortest one.
             A liveness property is broken by a run to a state from which it can never hold; what
             can still happen there is printed, too.
  deadlock   a run of the model ends in a state that nothing leads out of (see --deadlock).
  undecided  nothing was found broken, but not every state was visited: time, memory or --bound
             ended the search, or it was a random walk.";

/// Model-check a Murphi model: invariants, assertions, deadlock.
///
/// Visits every state that the model can reach from its start states and checks it. The model is
/// a Murphi file as CMurphi and Rumur read it; it is compiled to machine code on the spot, so
/// there is nothing to generate and nothing to wait for. States that differ only in the names of
/// scalarset members count as one.
#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES)]
#[command(after_long_help = format!("{VERDICTS}\n\n{EXAMPLES}\n\n{EXIT_CODES}"))]
pub(crate) struct ExploreArguments {
    #[command(flatten)]
    pub(crate) language: LanguageFlags,

    /// How many calls of functions that call themselves may be open before they count as endless
    /// [default: 1000].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub(crate) call_limit: Option<u64>,

    /// Treat a subrange or enumeration as a scalarset, if it is used as one: its members are
    /// compared for equality, stored, indexed with and gone through, and nothing else. May be
    /// repeated.
    #[arg(long, value_name = "TYPE")]
    pub(crate) symmetric: Vec<String>,

    /// Ask whether a state with this condition stays within reach of every state, as
    /// `liveness EXPR` in the model does. May be repeated.
    #[arg(long, value_name = "EXPR")]
    pub(crate) liveness: Vec<String>,

    #[command(flatten)]
    pub(crate) search: SearchFlags,
    #[command(flatten)]
    pub(crate) limits: ExploreLimitFlags,
    #[command(flatten)]
    pub(crate) evidence: EvidenceFlags,

    /// List all rules with how often each fired.
    ///
    /// Rules that never fired are named without it, too.
    #[arg(long)]
    pub(crate) coverage: bool,

    #[command(flatten)]
    pub(crate) json: JsonFlag,
    #[command(flatten)]
    pub(crate) quiet: QuietFlag,
    #[command(flatten)]
    pub(crate) colour: ColourFlag,

    /// The model; `-` is standard input.
    #[arg(value_name = "MODEL.m")]
    pub(crate) file: String,
}

/// How the model is read.
#[derive(Args, Debug, Clone)]
pub(crate) struct LanguageFlags {
    /// Give a constant of the model another value. May be repeated.
    #[arg(short = 'D', long = "const", value_name = "NAME=VALUE", value_parser = constant)]
    pub(crate) constants: Vec<(String, String)>,

    /// Whose reading of the language counts where the two differ (see docs/murphi.md).
    #[arg(long, value_name = "DIALECT")]
    pub(crate) dialect: Option<DialectChoice>,

    /// How many rounds a `while` loop may take before it counts as endless [default: 1000].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) loop_limit: Option<u64>,
}

/// Which states are visited, and in which order.
#[derive(Args, Debug, Clone)]
pub(crate) struct SearchFlags {
    /// Whether states that differ only in names of scalarset members are one.
    #[arg(long, value_name = "WHAT", default_value = "full")]
    pub(crate) symmetry: SymmetryChoice,

    /// What counts as a deadlock [default: stuttering].
    #[arg(long, value_name = "WHAT")]
    pub(crate) deadlock: Option<DeadlockChoice>,

    /// The order of the search.
    #[arg(long, value_name = "ORDER", default_value = "bfs", conflicts_with = "simulate")]
    pub(crate) search: SearchChoice,

    /// Walk at random for this many steps instead of visiting every state.
    ///
    /// Finds bugs of models that are too large to be searched; verifies nothing.
    #[arg(long, value_name = "STEPS", value_parser = clap::value_parser!(u64).range(1..))]
    #[arg(conflicts_with_all = ["compact", "disk"])]
    pub(crate) simulate: Option<u64>,

    /// The seed of --simulate: other seeds give other walks.
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,

    /// Look no further than this many steps from a start state; 0 looks at the start states only.
    /// With --simulate, the length of one walk, at least 1 [default: 10000].
    #[arg(long, value_name = "DEPTH")]
    pub(crate) bound: Option<u64>,

    /// Remember a hash of each state instead of the state; 40 bits if not said.
    ///
    /// Two states with the same hash count as one, so that states can be overlooked. The report
    /// says how likely that is. The states themselves are kept in temporary files.
    #[arg(long, value_name = "BITS", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "40", value_parser = clap::value_parser!(u8).range(40..=64))]
    #[arg(conflicts_with = "search")]
    pub(crate) compact: Option<u8>,

    /// The directory for the temporary files of --compact; the system's if not said.
    #[arg(long, value_name = "DIR", requires = "compact")]
    pub(crate) disk: Option<PathBuf>,
}

/// How long and how large an exploration may get.
#[derive(Args, Debug, Clone)]
pub(crate) struct ExploreLimitFlags {
    /// How many threads search; all cores if not said. States, rules fired and verdict do not
    /// depend on it.
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,

    /// The time for the search: 500ms, 60s, 5m, 1h.
    #[arg(long, value_name = "TIME", value_parser = units::time)]
    pub(crate) budget: Option<Duration>,

    /// The memory for the search: 512MiB, 8GiB, 200MB; four fifths of what is free if not said.
    #[arg(long, value_name = "SIZE", value_parser = units::size)]
    pub(crate) memory: Option<usize>,
}

impl ExploreLimitFlags {
    /// The number of threads.
    pub(crate) fn threads(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        self.jobs.map_or_else(all, usize::from)
    }
}

/// What is kept of a counterexample.
#[derive(Args, Debug, Clone)]
pub(crate) struct EvidenceFlags {
    /// Show the whole state after each step of a counterexample, not only what changed.
    #[arg(long)]
    pub(crate) trace_all: bool,

    /// Show the value of this expression at each step of a counterexample. May be repeated.
    #[arg(long, value_name = "EXPR")]
    pub(crate) show: Vec<String>,

    /// Leave these variables out of a counterexample: `cache`, `cache[Proc_1]`, `cache[Proc_1].data`;
    /// `*` leaves out all, so that only what --show asks for is left. May be repeated.
    #[arg(long, value_name = "PLACE")]
    pub(crate) hide: Vec<String>,

    /// Save the result as JSON, the counterexample included, for --replay.
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,

    /// Check a counterexample instead of searching: a file of --save, or what --json printed.
    ///
    /// Runs it step by step in the reference interpreter, which shares no code with the search:
    /// each rule must apply and change what is recorded, and the end must be as wrong as it is
    /// said to be. Constants, dialect and loop limit are taken from the file unless given. Exits
    /// 0 if the counterexample is one, and 1 if it is not.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["simulate", "bound", "compact", "disk"])]
    #[arg(conflicts_with_all = ["save", "coverage", "budget", "memory"])]
    pub(crate) replay: Option<String>,
}

/// Whose reading of the language counts.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DialectChoice {
    /// That of CMurphi, and what only Rumur accepts as Rumur means it. The default.
    Cmurphi,
    /// That of Rumur.
    Rumur,
}

/// Whether symmetry is used.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SymmetryChoice {
    /// One state of each orbit is visited, exactly.
    Full,
    /// States are visited as they are. Multisets stay unordered.
    Off,
}

/// What counts as a deadlock.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DeadlockChoice {
    /// Nothing.
    Off,
    /// A state in which no rule applies.
    Stuck,
    /// A state that no rule leads out of, also when some apply.
    Stuttering,
}

/// The order of the search.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SearchChoice {
    /// Breadth first: counterexamples are as short as possible.
    Bfs,
    /// Depth first.
    Dfs,
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
    /// The choice of this name.
    pub(crate) fn of_name(name: &str) -> Result<Self, String> {
        Self::from_str(name, true)
    }
}

impl DeadlockChoice {
    /// The choice of this name.
    pub(crate) fn of_name(name: &str) -> Result<Self, String> {
        Self::from_str(name, true)
    }
}

/// Reads `NAME=VALUE`.
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
