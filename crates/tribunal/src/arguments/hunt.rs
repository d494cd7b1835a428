//! The flags of `tribunal hunt`, each with the help it prints.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use stress::{Mix, TargetName};

use super::generate::BugFlags;
use super::values::single_model_parser;
use super::{
    CiFlags, ColourFlag, EXIT_CODES, JobFlag, JsonFlag, ProtocolFlags, QuietFlag, SingleModel,
    TimeoutFlag, exit_codes,
};
use crate::units;

const EXAMPLES: &str = "\
Examples:
  tribunal hunt --on host --model tso --time 8h        does this CPU violate TSO?
  tribunal hunt --on host --model sc --first           see store buffering on this CPU
  tribunal hunt --on machine:tso --bug lost-store --model tso --first
  tribunal hunt --on 'exec:./simulator -q' --model pso --tests 10000 --jobs 4
  tribunal hunt --on host --model tso --mix tsotool --threads 2 --out overnight
  tribunal hunt --on protocol.m --const N=3 --model sc --time 10m

Results: the folder of --out has, for each finding, the program, the run, the few events that
violate the model, a certificate for `tribunal certify`, and a picture. A shape such as
`Wa1 Rb0 | Wb1 Ra0` abbreviates a trace: thread 0 writes 1 to a and reads 0 from b, thread 1
writes 1 to b and reads 0 from a; final values follow a semicolon. Repeating the command
continues the hunt where it stopped, even after a crash.";

const CODES: &str = exit_codes!(
    "no violation found (which proves nothing: hunting is testing)",
    "the folder has a finding: a violation, or a target that failed"
);

/// Test a machine, simulator or protocol with generated programs until a violation is found.
///
/// Generates racy test programs (litmus tests and random ones), runs each many times on the target,
/// and checks every distinct outcome against the memory model. A violation is shrunk to the few events
/// that matter, explained and saved; violations of the same shape are one finding. A hunt ends by
/// --time, --tests, --first or Ctrl-C, and then reports what was found and what was not exercised.
#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES, after_long_help = format!("{EXAMPLES}\n\n{CODES}"))]
pub(crate) struct HuntArguments {
    /// Target to test: host, machine:MODEL, exec:COMMAND or PROTOCOL.m.
    ///
    /// `host` is the cores of this machine (x86-64 under Linux). `machine:MODEL` is a reference machine:
    /// sc, tso, pso, wmo, rmo, rvwmo or aarch64. `exec:COMMAND` is a command that reads a program as
    /// JSON and prints traces (docs/targets.md). PROTOCOL.m is a Murphi protocol that calls `Load` and
    /// `Store` (docs/run.md).
    #[arg(long, value_name = "TARGET")]
    pub(crate) on: TargetName,

    /// Memory model that the target must satisfy: a name, or a model file (.cat).
    #[arg(short, long, value_name = "MODEL", value_parser = single_model_parser(), ignore_case = true)]
    #[arg(alias = "check")]
    pub(crate) model: SingleModel,

    /// Stop after this time: 60s, 5m, 8h.
    #[arg(alias = "budget")]
    #[arg(long, value_name = "TIME", value_parser = units::time)]
    pub(crate) time: Option<Duration>,

    /// Stop after N tests, including those of earlier runs of the same hunt.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) tests: Option<u64>,

    /// Stop at the first new finding.
    #[arg(long)]
    pub(crate) first: bool,

    /// Folder for the results [default: hunt-results/TARGET-MODEL].
    #[arg(short, long, value_name = "DIR", alias = "output")]
    pub(crate) out: Option<PathBuf>,

    /// Random seed: other seeds give other tests.
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) bug: BugFlags,
    #[command(flatten)]
    pub(crate) tuning: TuningFlags,
    #[command(flatten)]
    pub(crate) protocol: ProtocolFlags,

    #[command(flatten)]
    pub(crate) timeout: TimeoutFlag,

    #[command(flatten)]
    pub(crate) jobs: JobFlag,
    #[command(flatten)]
    pub(crate) json: JsonFlag,
    #[command(flatten)]
    pub(crate) quiet: QuietFlag,
    #[command(flatten)]
    pub(crate) colour: ColourFlag,
    #[command(flatten)]
    pub(crate) ci: CiFlags,
}

/// The options of the tests; options that are not given vary from test to test.
#[derive(Args, Debug, Clone, Copy)]
#[command(next_help_heading = "Tests")]
pub(crate) struct TuningFlags {
    /// Number of threads of each test [default: 2 to 4, at most the cores of the host].
    #[arg(short, long, value_name = "N")]
    pub(crate) threads: Option<usize>,

    /// Number of instructions of each thread of a random program [default: 3 to 32].
    #[arg(short, long, value_name = "N")]
    pub(crate) instructions: Option<usize>,

    /// Number of addresses of a random program [default: 2 to 8].
    #[arg(short, long, value_name = "N", alias = "addresses")]
    pub(crate) places: Option<usize>,

    /// Instruction mix of random programs: `racy`, `tsotool`, `plain`, or weights such as
    /// load=4,store=4,swap=1,add=1,cas=1,sync=1,fence=1.
    #[arg(long, value_name = "MIX")]
    pub(crate) mix: Option<Mix>,

    /// Percentage of tests that are litmus tests.
    #[arg(long, value_name = "PERCENT", default_value_t = hunt::TestOptions::LITMUS)]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=100))]
    pub(crate) litmus: u32,

    /// Number of runs of each test [default: depends on the target].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) runs: Option<u64>,
}

impl HuntArguments {
    /// The options of the tests, for the library.
    pub(crate) fn wishes(&self) -> hunt::TestOptions {
        let TuningFlags { threads, instructions, places, mix, litmus, runs } = self.tuning;
        hunt::TestOptions { seed: self.seed, threads, instructions, places, mix, litmus, runs }
    }
}
