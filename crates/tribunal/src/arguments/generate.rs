//! The flags of `tribunal generate`, each with the help it prints.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use models::Model;
use stress::{Assembly, Bug, Cycle, Edge, Knobs, MAX_CYCLE_SIZE, Machine, MemoryModel, Mix};

use super::{JsonFlag, OutFlag, QuietFlag, WRITING_CODES, writing_codes};

const PROGRAM_EXAMPLES: &str = "\
Examples:
  tribunal generate program --threads 4 --instructions 100 --seed 7
  tribunal generate program --count 1000 --mix tsotool --json -o programs.jsonl
  tribunal generate program --cycle \"PodWR Fre PodWR Fre\"        the store-buffering test
  tribunal generate program --cycles 6                           SB, MP, IRIW, … every one
  tribunal generate program --cycles 6 --edges \"PodWR MFencedWR Fre Rfe PodRR\"
  tribunal generate program --cycle \"PodWWPL RfeLA PodRRAP Fre\" --litmus aarch64
  tribunal generate program --packets m5out/cpu.monitor.trc.gz --window 50   accesses of a workload";

const TRACE_EXAMPLES: &str = "\
Examples:
  tribunal generate trace --machine tso --count 100 | tribunal check --model sc,tso -
  tribunal generate trace --machine tso --bug lost-store --count 100 | tribunal check -m tso -";

const HARD_EXAMPLES: &str = "\
Examples:
  tribunal generate hard --variables 20 | tribunal check --model sc -
  tribunal generate hard --model tso --variables 50 --ratio 3.5 --seed 9 -o hard.trace";

const EXAMPLES: &str = "\
Examples:
  tribunal generate program --cycles 6            every litmus test of up to six edges
  tribunal generate program --count 100           random test programs, for `tribunal run`
  tribunal generate trace --machine tso --count 100 | tribunal check --model sc,tso -
  tribunal generate hard --variables 20           a trace that is hard to decide";

const CODES: &str = writing_codes!("everything was written");

/// Generate test programs, traces of reference machines, or hard histories.
#[derive(Subcommand, Debug)]
#[command(after_help = WRITING_CODES, after_long_help = format!("{EXAMPLES}\n\n{CODES}"))]
pub(crate) enum GenerateCommand {
    Program(GenerateProgramArguments),
    Trace(GenerateTraceArguments),
    Hard(GenerateHardArguments),
}

/// Generate test programs: random ones, litmus tests from cycles of edges, or the accesses of a gem5
/// packet trace.
///
/// Prints programs as text, or as JSON with one program per line, for `tribunal run` and your own test
/// bench (docs/programs.md). A litmus test ends with `exists` and its target outcome. The same options
/// and seed give the same programs.
#[derive(Args, Debug)]
#[command(after_help = WRITING_CODES, after_long_help = format!("{PROGRAM_EXAMPLES}\n\n{CODES}"))]
pub(crate) struct GenerateProgramArguments {
    /// Generate the litmus test of this cycle of edges, named as in diy.
    ///
    /// PodWR goes from a write to a later read of another address of the same thread (PosWR: of the same
    /// address), MFencedWR has a fence between them, DpAddrdR a dependency. Rfe, Fre and Coe go to
    /// another thread: from a write to a read of it, from a read to a write that overwrites its value,
    /// from a write to the next write. Letters at the end annotate both ends: PodWWPL goes from a plain
    /// write to a release.
    #[arg(long, value_name = "EDGES", conflicts_with_all = ["cycles", "count"])]
    pub(crate) cycle: Option<Cycle>,

    /// Generate the litmus tests of all cycles of up to N edges.
    #[arg(long, value_name = "N", conflicts_with = "count")]
    #[arg(value_parser = clap::value_parser!(u8).range(2..=MAX_CYCLE_SIZE as i64))]
    pub(crate) cycles: Option<u8>,

    /// With --cycles: the edges to use [default: PodRR PodRW PodWR PodWW Rfe Fre Coe].
    #[arg(long, value_name = "EDGES", requires = "cycles", value_parser = edges)]
    pub(crate) edges: Option<Edges>,

    /// Write herdtools litmus tests for an architecture (x86, riscv, aarch64) instead of programs.
    ///
    /// A fence that the architecture lacks becomes its weakest fence of at least the same strength.
    #[arg(long, value_name = "ARCHITECTURE", conflicts_with_all = ["json", "count"])]
    pub(crate) litmus: Option<Assembly>,

    /// Generate programs with the loads and stores of a gem5 packet trace (MemTrace).
    ///
    /// A packet trace records no data, so it cannot be checked; its accesses can be run again on another
    /// target (docs/commit-logs.md). Each window of packets in which requestors race gives one program.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["cycle", "cycles", "litmus", "count"])]
    #[arg(hide_short_help = true)]
    pub(crate) packets: Option<String>,

    /// With --packets: number of packets in each window.
    #[arg(long, value_name = "N", default_value_t = 100, requires = "packets")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    #[arg(hide_short_help = true)]
    pub(crate) window: u32,

    #[command(flatten)]
    pub(crate) knobs: KnobFlags,
    #[command(flatten)]
    pub(crate) out: OutFlag,
    #[command(flatten)]
    pub(crate) json: JsonFlag,
    #[command(flatten)]
    pub(crate) quiet: QuietFlag,
}

/// Generate traces: random programs, run on a reference machine.
///
/// The traces satisfy the model of the machine by construction, and often no stronger model. With
/// --bug, some traces violate the model, to test checkers.
#[derive(Args, Debug)]
#[command(after_help = WRITING_CODES, after_long_help = format!("{TRACE_EXAMPLES}\n\n{CODES}"))]
pub(crate) struct GenerateTraceArguments {
    /// Reference machine, named after its memory model.
    #[arg(short, long, value_name = "MODEL", default_value = "tso", ignore_case = true)]
    #[arg(alias = "model")]
    #[arg(value_parser = machine_parser())]
    pub(crate) machine: MemoryModel,

    /// Number of runs of each program; each distinct outcome is printed once.
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) runs: u64,

    /// Write events in the order in which they retire, as a recorder would, not thread by thread.
    ///
    /// Loads and atomics retire when they are performed, stores while they may still be in the store
    /// buffer; within a thread this is program order. Every run is printed as one trace.
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

/// Generate a hard trace: consistent iff a random 3-SAT formula is satisfiable.
///
/// A benchmark for checkers. About 4.3 clauses for each variable are hardest; with fewer, most traces
/// are consistent, with more, most are violations.
#[derive(Args, Debug)]
#[command(after_help = WRITING_CODES, after_long_help = format!("{HARD_EXAMPLES}\n\n{CODES}"))]
pub(crate) struct GenerateHardArguments {
    /// Number of variables of the formula.
    #[arg(long, value_name = "N", default_value_t = 20)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) variables: u32,

    /// Number of clauses for each variable.
    #[arg(long, value_name = "R", default_value_t = 4.3)]
    pub(crate) ratio: f64,

    /// Memory model that the trace is hard for.
    #[arg(short, long, value_name = "MODEL", default_value = "sc", value_parser = hard_parser())]
    pub(crate) model: Model,

    /// Random seed.
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) out: OutFlag,
    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

/// The bug to inject.
#[derive(Args, Debug, Clone, Copy)]
pub(crate) struct BugFlags {
    /// Fault to inject into the reference machine, to test checkers.
    #[arg(long, value_name = "BUG", value_parser = bug_parser())]
    pub(crate) bug: Option<Bug>,

    /// Probability, from 0 to 1, that the bug occurs at each opportunity.
    #[arg(long, value_name = "RATE", default_value_t = Machine::DEFAULT_RATE, requires = "bug")]
    pub(crate) rate: f64,
}

/// The options of random programs.
#[derive(Args, Debug, Clone, Copy)]
#[command(next_help_heading = "Random programs")]
pub(crate) struct KnobFlags {
    /// Number of programs, with consecutive seeds.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: u64,

    /// Random seed of the first program.
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,

    /// Number of threads.
    #[arg(short, long, value_name = "N", default_value_t = Knobs::default().threads)]
    pub(crate) threads: usize,

    /// Number of instructions of each thread.
    #[arg(short, long, visible_alias = "operations", value_name = "N")]
    #[arg(default_value_t = Knobs::default().instructions)]
    pub(crate) instructions: usize,

    /// Number of addresses, each a word of memory.
    #[arg(short, long, visible_alias = "addresses", value_name = "N")]
    #[arg(default_value_t = Knobs::default().places)]
    pub(crate) places: usize,

    /// Addresses in a cache line, 1 to 8; more than 1 gives false sharing.
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "N", default_value_t = Knobs::default().places_per_line)]
    pub(crate) per_line: usize,

    /// Instruction mix: `racy`, `tsotool`, `plain`, or weights such as load=4,store=4,sync=1.
    ///
    /// Weights exist for load, store, swap, add (fetch-and-add), cas (compare-and-swap), sync and fence.
    #[arg(long, value_name = "MIX", default_value_t = Knobs::default().mix)]
    pub(crate) mix: Mix,

    /// Percentage of accesses that stay in the cache line of the previous access.
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "PERCENT", default_value_t = Knobs::default().locality)]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=100))]
    pub(crate) locality: u32,

    /// Average number of consecutive instructions of one kind.
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "N", default_value_t = Knobs::default().burst)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) burst: u32,

    /// Percentage of instructions that depend on an earlier read of their thread.
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "PERCENT", default_value_t = Knobs::default().dependencies)]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=100))]
    pub(crate) dependencies: u32,

    /// Percentage of annotated accesses: acquire loads, release stores, atomics with either or both.
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "PERCENT", default_value_t = Knobs::default().annotations)]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=100))]
    pub(crate) annotations: u32,
}

impl KnobFlags {
    /// The options of the generator.
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
