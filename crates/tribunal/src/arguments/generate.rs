//! The flags of `tribunal generate`, each with the help it prints.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use models::Model;
use stress::{Assembly, Bug, Cycle, Edge, Knobs, MAX_CYCLE_SIZE, Machine, MemoryModel, Mix};

use super::{JsonFlag, OutFlag, QuietFlag};

const PROGRAM_EXAMPLES: &str = "\
Examples:
  tribunal generate program --threads 4 --instructions 100 --seed 7
  tribunal generate program --count 1000 --mix tsotool --json -o programs.jsonl
  tribunal generate program --cycle \"PodWR Fre PodWR Fre\"        the store-buffering test
  tribunal generate program --cycles 6                           SB, MP, IRIW, … every one
  tribunal generate program --cycles 6 --edges \"PodWR MFencedWR Fre Rfe PodRR\"
  tribunal generate program --cycle \"PodWWPL RfeLA PodRRAP Fre\" --litmus aarch64";

const TRACE_EXAMPLES: &str = "\
Examples:
  tribunal generate trace --machine tso --count 100 | tribunal check --model sc,tso -
  tribunal generate trace --machine tso --bug lost-store --count 100 | tribunal check -m tso -";

const HARD_EXAMPLES: &str = "\
Examples:
  tribunal generate hard --variables 20 | tribunal check --model sc -
  tribunal generate hard --model tso --variables 50 --ratio 3.5 --seed 9 -o hard.trace";

/// Make test programs, traces of reference machines, and hard histories.
#[derive(Subcommand, Debug)]
pub(crate) enum GenerateCommand {
    Program(GenerateProgramArguments),
    Trace(GenerateTraceArguments),
    Hard(GenerateHardArguments),
}

/// Test programs: at random, or litmus tests from cycles of edges.
///
/// Prints programs as text, or one a line as JSON. A litmus test says with `exists` which outcome
/// it is about. The same flags and seed give the same bytes.
#[derive(Args, Debug)]
#[command(after_long_help = PROGRAM_EXAMPLES)]
pub(crate) struct GenerateProgramArguments {
    /// The litmus test of this cycle of edges, with the names of diy.
    ///
    /// PodWR goes from a write to a later read of another place (PosWR: of the same), MFencedWR
    /// has a fence between them, DpAddrdR a dependency; Rfe, Fre and Coe go to another thread: from
    /// a write to a read of it, from a read to what overwrites it, from a write to the next. Letters at
    /// the end annotate both ends: PodWWPL goes from a plain write to one that releases.
    #[arg(long, value_name = "EDGES", conflicts_with_all = ["cycles", "count"])]
    pub(crate) cycle: Option<Cycle>,

    /// The litmus tests of all cycles of at most this many edges.
    #[arg(long, value_name = "N", conflicts_with = "count")]
    #[arg(value_parser = clap::value_parser!(u8).range(2..=MAX_CYCLE_SIZE as i64))]
    pub(crate) cycles: Option<u8>,

    /// With --cycles: the edges to make them of [default: PodRR PodRW PodWR PodWW Rfe Fre Coe].
    #[arg(long, value_name = "EDGES", requires = "cycles", value_parser = edges)]
    pub(crate) edges: Option<Edges>,

    /// Write litmus tests for this architecture, as herdtools and `tribunal litmus` read them, instead of
    /// programs: x86, riscv or aarch64.
    ///
    /// A fence that it does not have becomes the weakest of its own that orders as much.
    #[arg(long, value_name = "ARCHITECTURE", conflicts_with_all = ["json", "count"])]
    pub(crate) litmus: Option<Assembly>,

    #[command(flatten)]
    pub(crate) knobs: KnobFlags,
    #[command(flatten)]
    pub(crate) out: OutFlag,
    #[command(flatten)]
    pub(crate) json: JsonFlag,
    #[command(flatten)]
    pub(crate) quiet: QuietFlag,
}

/// Traces of random programs on a reference machine.
///
/// The traces of a machine satisfy its model by construction, and often no stronger one, unless
/// it has a bug.
#[derive(Args, Debug)]
#[command(after_long_help = TRACE_EXAMPLES)]
pub(crate) struct GenerateTraceArguments {
    /// The machine.
    #[arg(short, long, value_name = "MODEL", default_value = "tso", ignore_case = true)]
    #[arg(value_parser = machine_parser())]
    pub(crate) machine: MemoryModel,

    /// How often each program is run; each different outcome is printed once.
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) runs: u64,

    /// Write events in the order in which the machine retired them, as a recorder would, instead of
    /// thread by thread.
    ///
    /// Loads and atomics retire when they have been performed, stores while they may still be in the
    /// store buffer; within a thread that is program order. Each run is printed, one trace a run.
    #[arg(long)]
    pub(crate) recorded: bool,

    #[command(flatten)]
    pub(crate) bug: BugFlags,
    #[command(flatten)]
    pub(crate) knobs: KnobFlags,
    #[command(flatten)]
    pub(crate) out: OutFlag,
    #[command(flatten)]
    pub(crate) json: JsonFlag,
    #[command(flatten)]
    pub(crate) quiet: QuietFlag,
}

/// A history that is consistent iff a random 3-SAT formula is satisfiable.
///
/// About 4.3 clauses a variable make the hardest ones; with fewer, most are consistent, with more,
/// most are not.
#[derive(Args, Debug)]
#[command(after_long_help = HARD_EXAMPLES)]
pub(crate) struct GenerateHardArguments {
    /// Variables of the formula.
    #[arg(long, value_name = "N", default_value_t = 20)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) variables: u32,

    /// Clauses for each variable.
    #[arg(long, value_name = "R", default_value_t = 4.3)]
    pub(crate) ratio: f64,

    /// The model that it is hard for.
    #[arg(short, long, value_name = "MODEL", default_value = "sc", value_parser = hard_parser())]
    pub(crate) model: Model,

    /// Other seeds give other formulas.
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) out: OutFlag,
    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

/// A bug to inject.
#[derive(Args, Debug, Clone, Copy)]
pub(crate) struct BugFlags {
    /// A fault to inject into the machine, for testing checkers.
    #[arg(long, value_name = "BUG", value_parser = bug_parser())]
    pub(crate) bug: Option<Bug>,

    /// How often the bug strikes where it can, from 0 to 1.
    #[arg(long, value_name = "RATE", default_value_t = Machine::DEFAULT_RATE, requires = "bug")]
    pub(crate) rate: f64,
}

/// What random programs look like.
#[derive(Args, Debug, Clone, Copy)]
#[command(next_help_heading = "Random programs")]
pub(crate) struct KnobFlags {
    /// How many programs, with consecutive seeds.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: u64,

    /// The seed of the first program.
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,

    /// Threads.
    #[arg(short, long, value_name = "N", default_value_t = Knobs::default().threads)]
    pub(crate) threads: usize,

    /// Instructions of each thread.
    #[arg(short, long, visible_alias = "operations", value_name = "N")]
    #[arg(default_value_t = Knobs::default().instructions)]
    pub(crate) instructions: usize,

    /// Places, each a word of memory.
    #[arg(short, long, visible_alias = "addresses", value_name = "N")]
    #[arg(default_value_t = Knobs::default().places)]
    pub(crate) places: usize,

    /// Places in a cache line, 1 to 8; more than one is false sharing.
    #[arg(long, value_name = "N", default_value_t = Knobs::default().places_per_line)]
    pub(crate) per_line: usize,

    /// How often which instruction is drawn: `racy`, `tsotool`, `plain`, or weights of load, store,
    /// swap, add (fetch-and-add), cas (compare-and-swap), sync and fence: load=4,store=4,sync=1.
    #[arg(long, value_name = "MIX", default_value_t = Knobs::default().mix)]
    pub(crate) mix: Mix,

    /// How often, in percent, an access stays in the cache line of the one before it.
    #[arg(long, value_name = "PERCENT", default_value_t = Knobs::default().locality)]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=100))]
    pub(crate) locality: u32,

    /// How many instructions of one kind follow each other, on average.
    #[arg(long, value_name = "N", default_value_t = Knobs::default().burst)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) burst: u32,

    /// How many instructions, in percent, depend on an earlier read of their thread.
    #[arg(long, value_name = "PERCENT", default_value_t = Knobs::default().dependencies)]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=100))]
    pub(crate) dependencies: u32,

    /// How many accesses, in percent, are annotated: loads acquire, stores release, atomics do either or
    /// both.
    #[arg(long, value_name = "PERCENT", default_value_t = Knobs::default().annotations)]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=100))]
    pub(crate) annotations: u32,
}

impl KnobFlags {
    /// The knobs, as turned.
    pub(crate) fn knobs(&self) -> Knobs {
        Knobs {
            threads: self.threads,
            instructions: self.instructions,
            places: self.places,
            places_per_line: self.per_line,
            mix: self.mix,
            locality: self.locality,
            burst: self.burst,
            dependencies: self.dependencies,
            annotations: self.annotations,
        }
    }
}

/// A list of edges.
#[derive(Clone, Debug)]
pub(crate) struct Edges(pub(crate) Vec<Edge>);

fn edges(text: &str) -> Result<Edges, String> {
    let edges = text.split([' ', ',']).filter(|name| !name.is_empty()).map(str::parse::<Edge>);
    edges.collect::<Result<_, _>>().map(Edges).map_err(|unknown| unknown.to_string())
}

fn machine_parser() -> impl TypedValueParser<Value = MemoryModel> {
    let value = |machine: MemoryModel| PossibleValue::new(machine.name()).help(machine.summary());
    PossibleValuesParser::new(MemoryModel::ALL.iter().copied().map(value))
        .try_map(|name| name.parse())
}

fn bug_parser() -> impl TypedValueParser<Value = Bug> {
    let values = Bug::ALL.iter().map(|&(_, name, help)| PossibleValue::new(name).help(help));
    PossibleValuesParser::new(values).try_map(|name| name.parse())
}

fn hard_parser() -> impl TypedValueParser<Value = Model> {
    PossibleValuesParser::new(["sc", "tso", "pso"]).try_map(|name| name.parse())
}
