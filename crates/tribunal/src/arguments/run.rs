//! The flags of `tribunal run`, each with the help it prints.

use std::time::Duration;

use clap::Args;
use history::Format;
use stress::TargetName;

use super::{
    BugFlags, ColourFlag, DeadlockChoice, EXIT_CODES, JsonFlag, OutFlag, PromiseArgument,
    ProtocolFlags, QuietFlag, TimeoutFlag, format_parser, promise_parser,
};
use crate::units;

const EXAMPLES: &str = "\
Examples:
  tribunal run sb.program --on machine:tso --traces 1000 --check sc
  tribunal run sb.program --on machine:rmo --exhaustive
  tribunal run sb.program --on \"exec:python3 examples/tso_target.py\" --check tso
  tribunal run sb.program --on host --check tso           what this machine does
  tribunal run sb.program --on protocol.m --const AddressCount=2 --check sc
  tribunal run --on protocol.m --traces 1000 | tribunal check --model sc -
  tribunal run --on protocol.m --check tso --traces 100000
  tribunal run --on protocol.m --check sc --first -o bad.trace
  tribunal run --on protocol.m --const N=4 --operations 500 --seed 7 -o run.trace
  tribunal run --on protocol.m --check sc --budget 60s    as many traces as a minute has";

/// Execute something at random and record traces.
///
/// A program (`tribunal generate program` makes some) is run on a reference machine, by a command or
/// by a protocol, and each different outcome is written as a trace; with --check it is judged and
/// counted instead.
///
/// A Murphi protocol calls `Load(p, a, v)` and `Store(p, a, v)` where its processors load and store,
/// as `tribunal verify` wants it. Without a program it is walked at random: any rule that applies
/// may fire, so the clients of the protocol do whatever it lets them do. Every store has a value of
/// its own. The traces depend on nothing but the protocol and the seed.
///
/// With --check every trace is judged at once, and only the first violating one is shown. What is
/// wrong with the protocol itself (an invariant, an assertion, a deadlock) is reported, too.
#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES, after_long_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"))]
pub(crate) struct RunArguments {
    /// The file of test programs, text or JSON; `-` is standard input. A protocol needs none.
    pub(crate) program: Option<String>,

    /// What to run it on.
    ///
    /// `machine:sc`, `machine:tso`, `machine:pso`, `machine:wmo`, `machine:rmo` are reference
    /// machines; `exec:COMMAND` is any command that reads a program as JSON and prints traces;
    /// PROTOCOL.m is a Murphi protocol (`-`: from standard input); `host` is this machine.
    #[arg(long, value_name = "TARGET")]
    pub(crate) on: TargetName,

    /// How many traces, or how many runs of each program [default: 100, on the host a million; with
    /// --budget, as many as there is time for].
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) traces: Option<u64>,

    /// How many loads and stores a trace has.
    ///
    /// Less where nothing leads on.
    #[arg(long, value_name = "N", default_value_t = 64)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub(crate) operations: u64,

    /// Other seeds give other traces.
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,

    /// Judge every trace by this model, a name or a file that ends in .cat, instead of writing all of
    /// them.
    #[arg(long, value_name = "MODEL", value_parser = promise_parser(), ignore_case = true)]
    pub(crate) check: Option<PromiseArgument>,

    /// With --check: stop at the first violating trace.
    #[arg(long, requires = "check")]
    pub(crate) first: bool,

    /// Write the order in which stores counted as `order` lines: that of `Commit` if the protocol
    /// calls it, else that of `Store`.
    ///
    /// Traces are then judged in linear time, relative to that order.
    #[arg(long)]
    pub(crate) order: bool,

    /// Write the rules that were fired into the trace, as comments.
    #[arg(long, conflicts_with = "format")]
    pub(crate) steps: bool,

    /// Let every step that is possible be equally likely in every trace.
    ///
    /// By default each trace has preferences of its own, so that some messages are late and some
    /// lines stay long in a cache.
    #[arg(long)]
    pub(crate) uniform: bool,

    /// What counts as a deadlock of the protocol [default: stuttering].
    #[arg(long, value_name = "WHAT")]
    pub(crate) deadlock: Option<DeadlockChoice>,

    /// Run a program on a machine in every possible way, instead of at random.
    #[arg(long, conflicts_with = "bug")]
    pub(crate) exhaustive: bool,

    #[command(flatten)]
    pub(crate) bug: BugFlags,

    #[command(flatten)]
    pub(crate) timeout: TimeoutFlag,

    #[command(flatten)]
    pub(crate) protocol: ProtocolFlags,

    /// The time for all traces: 500ms, 60s, 5m, 1h.
    #[arg(long, value_name = "TIME", value_parser = units::time)]
    pub(crate) budget: Option<Duration>,

    /// How many traces to record at once; all cores if not said. The traces do not depend on it.
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,

    /// The format of the traces.
    #[arg(long, value_name = "FORMAT", value_parser = format_parser())]
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
    /// The number of workers.
    pub(crate) fn workers(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        self.jobs.map_or_else(all, usize::from)
    }
}
