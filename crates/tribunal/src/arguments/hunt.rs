//! The flags of `tribunal hunt`, each with the help it prints.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use stress::{Mix, TargetName};

use super::generate::BugFlags;
use super::{
    CiFlags, ColourFlag, EXIT_CODES, JobFlag, JsonFlag, PromiseArgument, ProtocolFlags, QuietFlag,
    TimeoutFlag, promise_parser,
};
use crate::units;

const EXAMPLES: &str = "\
Examples:
  tribunal hunt --on host --model tso --time 8h        does this CPU keep to TSO?
  tribunal hunt --on host --model sc --first           what store buffers look like
  tribunal hunt --on machine:tso --bug lost-store --model tso --first
  tribunal hunt --on 'exec:./simulator -q' --model pso --tests 10000 --jobs 4
  tribunal hunt --on host --model tso --mix tsotool --threads 2 --out overnight
  tribunal hunt --on protocol.m --const N=3 --model sc --time 10m

The folder has, for each finding, the program, the run, the few events that break the promise, a
certificate for `tribunal certify` and a picture. The same command again goes on where it stopped,
also after a crash.";

/// Generate, run, judge, shrink, explain, until told to stop.
///
/// Makes racy test programs (litmus tests in turn, and random ones), runs each many times on the
/// target, and judges every different outcome. What the model does not allow is shrunk to the few
/// events that matter; findings of the same shape are one finding. Stops at --time, --tests,
/// --first or Ctrl-C, then says what was found and what was not exercised. Exits 1 when the folder
/// has a finding.
#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES, after_long_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"))]
pub(crate) struct HuntArguments {
    /// What to run tests on.
    ///
    /// `host` is this machine's cores; `machine:sc`, `machine:tso`, `machine:pso`, `machine:wmo`
    /// and `machine:rmo` are reference machines; `exec:COMMAND` is any command that reads a
    /// program and prints traces; PROTOCOL.m is a Murphi protocol that marks its loads and stores.
    #[arg(long, value_name = "TARGET")]
    pub(crate) on: TargetName,

    /// The model that it is to keep to: a name, or a file that ends in .cat.
    #[arg(short, long, value_name = "MODEL", value_parser = promise_parser(), ignore_case = true)]
    pub(crate) model: PromiseArgument,

    /// Stop after this time: 60s, 5m, 8h.
    #[arg(long, value_name = "TIME", value_parser = units::time)]
    pub(crate) time: Option<Duration>,

    /// Stop when so many tests have been run, those of earlier runs of the same hunt included.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) tests: Option<u64>,

    /// Stop at the first new finding.
    #[arg(long)]
    pub(crate) first: bool,

    /// The folder for what is found [default: hunt-results/TARGET-MODEL].
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Other seeds give other tests.
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

/// What the tests look like; what is not said varies from test to test.
#[derive(Args, Debug, Clone, Copy)]
#[command(next_help_heading = "Tests")]
pub(crate) struct TuningFlags {
    /// Threads of each test [default: 2 up to 4, or to the cores of the host].
    #[arg(short, long, value_name = "N")]
    pub(crate) threads: Option<usize>,

    /// Instructions of each thread of a random program [default: 3 to 32].
    #[arg(short, long, value_name = "N")]
    pub(crate) instructions: Option<usize>,

    /// Places of a random program [default: 2 to 8].
    #[arg(short, long, value_name = "N")]
    pub(crate) places: Option<usize>,

    /// How often random programs have which instruction: `racy`, `tsotool`, `plain`, or weights
    /// like load=4,store=4,swap=1,add=1,cas=1,sync=1,fence=1.
    #[arg(long, value_name = "MIX")]
    pub(crate) mix: Option<Mix>,

    /// How many tests, in percent, are litmus tests.
    #[arg(long, value_name = "PERCENT", default_value_t = hunt::Wishes::LITMUS)]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=100))]
    pub(crate) litmus: u32,

    /// How often each test is run [default: as often as suits the target].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) runs: Option<u64>,
}

impl HuntArguments {
    /// What is wished of the tests.
    pub(crate) fn wishes(&self) -> hunt::Wishes {
        let TuningFlags { threads, instructions, places, mix, litmus, runs } = self.tuning;
        hunt::Wishes { seed: self.seed, threads, instructions, places, mix, litmus, runs }
    }
}
