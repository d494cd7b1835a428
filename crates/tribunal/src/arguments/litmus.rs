//! The flags of `tribunal litmus`, each with the help it prints.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use models::Model;
use stress::{Assembly, TargetName};

use super::{CiFlags, EXIT_CODES, JobFlag, JsonFlag, LimitFlags, QuietFlag};

const EXAMPLES: &str = "\
Examples:
  tribunal litmus SB.litmus                        outcomes on an x86
  tribunal litmus --model sc,tso,pso *.litmus      several models, one answer each
  tribunal litmus --model my.cat *.litmus          a model of your own
  tribunal litmus --json --witness SB.litmus       with an execution for every outcome
  tribunal litmus @all                             the tests that the file `all` lists
  tribunal litmus --to aarch64 MP+fence.w.w+addr.litmus   the same cycle for another architecture
  tribunal litmus --on host SB.litmus              how often each outcome comes on this machine
  tribunal litmus --on host --model sc SB.litmus   … and whether sc allows them";

const CONDITIONS: &str = "\
Conditions:
  `forall` and `~exists` are promises: one that is broken (`No`) ends the run with exit code 1.
  `exists` is a question: `Ok` and `No` are both answers, and the exit code is 0.";

/// The outcomes of herdtools litmus tests, in theory and on this machine.
///
/// Reads tests for X86 (destination first), X86_64 (source first), RISCV and AArch64, enumerates every
/// final state that a memory model allows, and prints them as herd7 does. All states are found, however many
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
    /// The models, comma-separated: names, or files that end in .cat [default: what the architecture promises].
    ///
    /// What is promised is `tso` for x86, `rvwmo` for RISC-V, `aarch64` for AArch64. A file defines a
    /// model of your own in the cat language (docs/cat.md). If several are asked for, a line `Model`
    /// stands above each answer.
    #[arg(short, long, value_name = "MODEL", value_delimiter = ',')]
    #[arg(value_parser = NameOrFile(PossibleValuesParser::new(names())), ignore_case = true)]
    pub(crate) model: Vec<LitmusModelArgument>,

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

    /// Write each test for another architecture, from the cycle that it names (`Orig=` or the quoted
    /// line), instead of answering it: x86, riscv or aarch64.
    ///
    /// A fence that it does not have becomes the weakest of its own that orders as much.
    #[arg(long, value_name = "ARCHITECTURE", conflicts_with_all = ["on", "witness", "model", "json"])]
    pub(crate) to: Option<Assembly>,

    #[command(flatten)]
    pub(crate) limits: LimitFlags,
    #[command(flatten)]
    pub(crate) jobs: JobFlag,
    #[command(flatten)]
    pub(crate) json: JsonFlag,
    #[command(flatten)]
    pub(crate) quiet: QuietFlag,
    #[command(flatten)]
    pub(crate) ci: CiFlags,

    /// The tests; `-` is standard input, `@FILE` stands for the tests that a file lists.
    #[arg(value_name = "FILE.litmus", required = true)]
    pub(crate) files: Vec<String>,
}

/// A model to enumerate under.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum LitmusModelArgument {
    /// One that is shipped.
    Named(String),
    /// The file of a model.
    File(PathBuf),
}

/// Reads the names of models, and takes what ends in `.cat` for a file.
#[derive(Clone)]
struct NameOrFile(PossibleValuesParser);

impl TypedValueParser for NameOrFile {
    type Value = LitmusModelArgument;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<LitmusModelArgument, clap::Error> {
        if value.as_encoded_bytes().ends_with(b".cat") {
            return Ok(LitmusModelArgument::File(value.into()));
        }
        let name = self.0.parse_ref(command, argument, value)?;
        Ok(LitmusModelArgument::Named(name.to_ascii_lowercase()))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        self.0.possible_values()
    }
}

fn names() -> impl Iterator<Item = PossibleValue> {
    litmus::LitmusModel::names().map(|name| {
        let value = PossibleValue::new(name);
        match name.parse::<Model>() {
            Ok(model) => value.help(model.summary()),
            Err(_) => value,
        }
    })
}
