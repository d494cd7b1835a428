//! The flags of `tribunal run`, each with the help it prints.

use std::time::Duration;

use clap::Args;
use history::Format;
use stress::TargetName;

use super::values::{format_parser, single_model_parser};
use super::{
    BugFlags, ColourFlag, DeadlockChoice, EXIT_CODES, JsonFlag, OutFlag, ProtocolFlags, QuietFlag,
    SingleModel, TimeoutFlag, exit_codes,
};
use crate::units;

const EXAMPLES: &str = "\
Examples:
  tribunal run sb.program --on machine:tso --traces 1000 --check sc
  tribunal run sb.program --on machine:rmo --exhaustive
  tribunal run sb.program --on \"exec:python3 examples/tso_target.py\" --check tso
  tribunal run sb.program --on host --check tso           on the cores of this machine
  tribunal run sb.program --on protocol.m --const AddressCount=2 --check sc
  tribunal run --on protocol.m --traces 1000 | tribunal check --model sc -
  tribunal run --on protocol.m --check tso --traces 100000
  tribunal run --on protocol.m --check sc --first -o bad.trace
  tribunal run --on protocol.m --const N=4 --operations 500 --seed 7 -o run.trace
  tribunal run --on protocol.m --check sc --budget 60s    as many traces as fit in a minute";

const CODES: &str = exit_codes!(
    "traces were written; with --check, the model allows all of them",
    "with --check: a violation; also: the protocol breaks an invariant, or the target failed"
);

/// Run test programs, or walk a protocol at random, and record traces.
///
/// A test program (`tribunal generate program` makes some) runs on a reference machine, on this
/// machine, in a command of yours or in a Murphi protocol. Each distinct outcome is written as a trace;
/// with --check, outcomes are checked and counted instead.
///
/// A Murphi protocol without a test program is walked at random: at each step some enabled rule fires.
/// The protocol must call `Load(p, a, v)` and `Store(p, a, v)` where its processors load and store, as
/// for `tribunal verify` (docs/run.md). Every store has a distinct value. The traces depend only on the
/// protocol and the seed.
///
/// With --check every trace is checked at once, and the first violation is shown. Errors of the
/// protocol itself (an invariant, an assertion, a deadlock) are reported, too.
#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES, after_long_help = format!("{EXAMPLES}\n\n{CODES}"))]
pub(crate) struct RunArguments {
    /// File of test programs, text or JSON; `-` is standard input. Optional for a protocol.
    pub(crate) program: Option<String>,

    /// Target to run on: host, machine:MODEL, exec:COMMAND or PROTOCOL.m.
    ///
    /// `host` is the cores of this machine (x86-64 under Linux). `machine:MODEL` is a reference machine:
    /// sc, tso, pso, wmo, rmo, rvwmo or aarch64. `exec:COMMAND` is a command that reads a program as
    /// JSON and prints traces (docs/targets.md). PROTOCOL.m is a Murphi protocol; `-` reads one from
    /// standard input.
    #[arg(long, value_name = "TARGET")]
    pub(crate) on: TargetName,

    /// Number of traces, or of runs of each program [default: 100; on the host 1,000,000; with
    /// --budget, as many as fit].
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    #[arg(alias = "runs")]
    pub(crate) traces: Option<u64>,

    /// Protocol walks: loads and stores per trace; fewer if the walk reaches a deadlock [default: 64].
    #[arg(long, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub(crate) operations: Option<u64>,

    /// Random seed: other seeds give other traces.
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,

    /// Check every trace against this model (a name, or a .cat file) instead of writing it.
    #[arg(alias = "model")]
    #[arg(long, value_name = "MODEL", value_parser = single_model_parser(), ignore_case = true)]
    pub(crate) check: Option<SingleModel>,

    /// Protocol walks with --check: stop at the first trace that violates the model.
    #[arg(long, requires = "check")]
    pub(crate) first: bool,

    /// Protocol walks: write the coherence order as `order` lines (the order of `Commit`, else of
    /// `Store`).
    ///
    /// Traces are then checked in linear time, relative to that order.
    #[arg(long, hide_short_help = true)]
    pub(crate) order: bool,

    /// Protocol walks: write the fired rules into the trace, as comments.
    #[arg(long, conflicts_with_all = ["format", "check"], hide_short_help = true)]
    pub(crate) steps: bool,

    /// Protocol walks: choose uniformly among the enabled rules.
    ///
    /// By default each walk prefers some rules over others, so that some messages arrive late and some
    /// lines stay in a cache for a long time.
    #[arg(long, hide_short_help = true)]
    pub(crate) uniform: bool,

    /// Protocol walks: what counts as a deadlock of the protocol [default: stuttering].
    #[arg(long, value_name = "WHAT", hide_short_help = true)]
    pub(crate) deadlock: Option<DeadlockChoice>,

    /// On a reference machine: enumerate every outcome of the program, instead of running at random.
    #[arg(long, conflicts_with = "bug")]
    pub(crate) exhaustive: bool,

    #[command(flatten)]
    pub(crate) bug: BugFlags,

    #[command(flatten)]
    pub(crate) protocol: ProtocolFlags,

    #[command(flatten)]
    pub(crate) timeout: TimeoutFlag,

    /// Time limit for all traces: 500ms, 60s, 5m, 1h.
    #[arg(alias = "time")]
    #[arg(long, value_name = "TIME", value_parser = units::time)]
    pub(crate) budget: Option<Duration>,

    /// Number of worker threads [default: all cores]; the traces do not depend on it.
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,

    /// Format of the traces that are written.
    #[arg(long, value_name = "FORMAT", value_parser = format_parser(), alias = "to")]
    pub(crate) format: Option<Format>,

    #[command(flatten)]
    pub(crate) out: OutFlag,
    #[command(flatten)]
    pub(crate) json: JsonFlag,
    #[command(flatten)]
    pub(crate) quiet: QuietFlag,
    #[command(flatten)]
    pub(crate) colour: ColourFlag,
}

impl RunArguments {
    /// The number of loads and stores per trace of a walk.
    pub(crate) fn operations(&self) -> u64 {
        self.operations.unwrap_or(64)
    }

    /// The number of workers.
    pub(crate) fn workers(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        self.jobs.map_or_else(all, usize::from)
    }
}
