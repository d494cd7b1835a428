//! The flags of `tribunal litmus`, each with the help it prints.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use models::Model;
use stress::TargetName;

use super::{EXIT_CODES, JobFlag, JsonFlag, LimitFlags, QuietFlag};

const EXAMPLES: &str = "\
Examples:
  tribunal litmus SB.litmus                        outcomes on an x86
  tribunal litmus --model sc,tso,pso *.litmus      several models, one answer each
  tribunal litmus --json --witness SB.litmus       with an execution for every outcome
  tribunal litmus @all                             the tests that the file `all` lists
  tribunal litmus --on host SB.litmus              how often each outcome comes on this machine
  tribunal litmus --on host --model sc SB.litmus   … and whether sc allows them";

const CONDITIONS: &str = "\
Conditions:
  `forall` and `~exists` are promises: one that is broken (`No`) ends the run with exit code 1.
  `exists` is a question: `Ok` and `No` are both answers, and the exit code is 0.";

/// The outcomes of herdtools litmus tests, in theory and on this machine.
///
/// Reads tests for X86 (destination first) and X86_64 (source first), enumerates every final state
/// that a memory model allows, and prints them as herd7 does. All states are found, however many
/// executions lead to them; after `Positive`, `Negative` and `Observation` stand numbers of states,
/// where herd7 counts executions.
///
/// With --on host each test is run on the cores of this machine instead, and how often each state
/// was seen is printed as litmus7 does. What was seen is compared with what the models allow: a
/// state outside tso on an x86 is a finding, and the exit code is 1.
#[derive(Args, Debug, Clone)]
#[command(after_help = EXIT_CODES)]
#[command(after_long_help = format!("{CONDITIONS}\n\n{EXAMPLES}\n\n{EXIT_CODES}"))]
pub(crate) struct LitmusArguments {
    /// The models, comma-separated.
    ///
    /// `tso` is what x86 promises. If several are asked for, a line `Model` stands above each
    /// answer.
    #[arg(short, long, value_name = "MODEL", default_value = "tso", value_delimiter = ',')]
    #[arg(value_parser = model_parser(), ignore_case = true)]
    pub(crate) model: Vec<Model>,

    /// Run the tests: `host` is the cores of this machine.
    ///
    /// What comes is compared with each --model. Where a test has more threads than there are
    /// cores, threads share cores, and only some of them race at a time.
    #[arg(long, value_name = "TARGET", conflicts_with = "witness")]
    pub(crate) on: Option<TargetName>,

    /// With --on: how often each test is run.
    #[arg(long, value_name = "N", default_value_t = 1_000_000, requires = "on")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) runs: u64,

    /// With --on: other seeds give other paces and layouts.
    #[arg(long, value_name = "S", default_value_t = 0, requires = "on")]
    pub(crate) seed: u64,

    /// Show an execution for every state, as a trace below it.
    ///
    /// Each is replayed by the kernel of `tribunal certify` before it is shown, and can be given to
    /// `tribunal check`. With --json, `trace` has it as text and `witness` the order in which its
    /// events are performed.
    #[arg(long)]
    pub(crate) witness: bool,

    #[command(flatten)]
    pub(crate) limits: LimitFlags,
    #[command(flatten)]
    pub(crate) jobs: JobFlag,
    #[command(flatten)]
    pub(crate) json: JsonFlag,
    #[command(flatten)]
    pub(crate) quiet: QuietFlag,

    /// The tests; `-` is standard input, `@FILE` stands for the tests that a file lists.
    #[arg(value_name = "FILE.litmus", required = true)]
    pub(crate) files: Vec<String>,
}

fn model_parser() -> impl TypedValueParser<Value = Model> {
    let models = litmus::MODELS.iter();
    let values = models.map(|model| PossibleValue::new(model.name()).help(model.summary()));
    PossibleValuesParser::new(values).try_map(|name| name.parse())
}
