//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use models::Model;

use crate::generated::model::Knobs;

/// Measures Tribunal: the papers' figures, growth in time and memory, hard histories.
///
/// Each part prints how far it is, writes its plots to `bench/plots/` and replaces its section of
/// `bench/RESULTS.md`; the other sections stay. What people say about the numbers is in
/// `bench/where-we-lose.md`, which is included as it is.
#[derive(Parser, Debug)]
#[command(name = "tribunal-bench", after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  cargo run --release -p tribunal-bench -- all              everything; about 25 minutes
  cargo run --release -p tribunal-bench -- all --quick      small sizes, about two minutes
  cargo run --release -p tribunal-bench -- grid --seeds 32  as many traces as the paper
  cargo run --release -p tribunal-bench -- try --events 100000 --model sc,tso
  cargo run --release -p tribunal-bench -- trace --events 1000000 --buffer 8 -o tso.trace

Compared with where they are on the PATH: clingo (Debian: gringo), axe, rumur (Debian: rumur; needs gcc)
and CMurphi's mu (needs g++).";

/// What to measure.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// All parts but `any`, one after the other.
    All(RunFlags),
    /// The total-order heuristic: efficient-tso-verification, Figures 6-8.
    Grid(RunFlags),
    /// Saturation, enumeration, SAT, Datalog: gradual-consistency-checking, Figures 4-6.
    Gradual(RunFlags),
    /// Time and memory of the command, from a thousand operations to ten million.
    Growth(RunFlags),
    /// Histories from 3-SAT, dense histories, a hundred thousand litmus-size traces.
    Hard(RunFlags),
    /// Murphi models, beside Rumur and CMurphi where they are installed.
    Explore(RunFlags),
    /// Random models with large states, beside the same.
    Generated(RunFlags),
    /// States on disk and in several processes, beside the same search in memory.
    Beyond(RunFlags),
    /// Protocols and their memory models: what an observer costs in states.
    Verify(RunFlags),
    /// Protocols for any number of processors, and their proofs beside Rumur; takes an hour or more,
    /// and is not part of `all`.
    Any(RunFlags),
    /// Write RESULTS.html anew, from RESULTS.md and the plots, without measuring.
    Page {
        /// The folder; `bench` of the workspace if not said.
        folder: Option<PathBuf>,
    },
    /// Judge one recorded trace in this process and say what it took.
    Try(TryFlags),
    /// Write one recorded trace to a file, for a profiler or another checker.
    Trace(TraceFlags),
    /// Write one random Murphi model in the style of generated directories to a file.
    Model(ModelFlags),
    /// Read a trace file and do nothing with it; measured by `growth`.
    #[command(hide = true)]
    Read {
        /// The file.
        file: PathBuf,
    },
    /// Run a program within limits and print what it took; used by all parts.
    #[command(hide = true)]
    Supervise(SuperviseFlags),
}

/// What all parts take.
#[derive(Args, Debug, Clone)]
pub(crate) struct RunFlags {
    /// Small sizes and few repetitions; results go to the folder `bench-quick` of the build.
    #[arg(long)]
    pub(crate) quick: bool,

    /// How many random traces of each kind; each part has its own number if not said.
    #[arg(long, value_name = "N")]
    pub(crate) seeds: Option<u64>,

    /// Seconds of CPU time after which a measurement is ended: 60 if not said (`any`: 1,800), 10 with
    /// --quick.
    #[arg(long, value_name = "SECONDS")]
    pub(crate) limit: Option<u64>,

    /// Where RESULTS.md and plots go; `bench` of the workspace if not said.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,

    /// The tribunal to measure; built from this workspace if not said.
    #[arg(long, value_name = "PATH")]
    pub(crate) tribunal: Option<PathBuf>,
}

/// The shape of a recorded trace.
#[derive(Args, Debug, Clone)]
pub(crate) struct ShapeFlags {
    /// Events in all.
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = at_least_one)]
    pub(crate) events: usize,
    /// Threads.
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = at_least_one)]
    pub(crate) threads: usize,
    /// Addresses.
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = at_least_one)]
    pub(crate) addresses: usize,
    /// Places in the store buffer of a thread: 0 for sequential consistency, 8 for tso.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) buffer: usize,
    /// Let one late read miss an invalidation.
    #[arg(long)]
    pub(crate) faulty: bool,
    /// The seed.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
}

/// What `try` takes.
#[derive(Args, Debug, Clone)]
pub(crate) struct TryFlags {
    #[command(flatten)]
    pub(crate) shape: ShapeFlags,
    /// The models, comma-separated.
    #[arg(short, long, value_name = "MODEL", default_value = "sc", value_delimiter = ',')]
    pub(crate) model: Vec<Model>,
    /// The engine.
    #[arg(long, value_name = "ENGINE", default_value = "auto")]
    pub(crate) engine: judge::Engine,
}

/// What `trace` takes.
#[derive(Args, Debug, Clone)]
pub(crate) struct TraceFlags {
    #[command(flatten)]
    pub(crate) shape: ShapeFlags,
    /// Seven threads that spin on a flag instead; of the other flags only --events counts.
    #[arg(long)]
    pub(crate) polling: bool,
    /// Where to write.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
}

/// What `model` takes.
#[derive(Args, Debug, Clone)]
pub(crate) struct ModelFlags {
    /// The seed.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Caches of each class, comma-separated; one or two classes.
    #[arg(long, value_name = "N", default_value = "3", value_delimiter = ',')]
    pub(crate) caches: Vec<usize>,
    /// Values of a cache line.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = at_least_one)]
    pub(crate) values: usize,
    /// Kinds of requests.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = at_least_one)]
    pub(crate) requests: usize,
    /// Fields of a cache line that are noted and rarely looked at.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) fields: usize,
    /// Room in networks beyond what is needed.
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub(crate) slack: usize,
    /// States of a machine in the source: 230 make about 12,000 lines.
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = at_least_one)]
    pub(crate) states: usize,
    /// Where to write.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
}

impl ModelFlags {
    /// The size of the model.
    pub(crate) fn knobs(&self) -> Knobs {
        Knobs {
            seed: self.seed,
            caches: self.caches.clone(),
            values: self.values,
            requests: self.requests,
            fields: self.fields,
            slack: self.slack,
            states: self.states,
        }
    }
}

/// What the supervisor takes.
#[derive(Args, Debug, Clone)]
pub(crate) struct SuperviseFlags {
    /// Seconds of CPU time.
    #[arg(long)]
    pub(crate) seconds: u64,
    /// Bytes of address space.
    #[arg(long)]
    pub(crate) memory: u64,
    /// Where the program's output goes.
    #[arg(long)]
    pub(crate) output: PathBuf,
    /// The program and its arguments.
    #[arg(last = true)]
    pub(crate) words: Vec<OsString>,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("must be at least 1".to_owned()),
        Ok(number) => Ok(number),
        Err(error) => Err(format!("{error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_declaration_of_the_command_line_is_sound() {
        Arguments::command().debug_assert();
    }
}
