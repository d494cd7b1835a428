//! The flags of `tribunal litmus`, each with the help it prints.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use models::Model;
use stress::{Assembly, TargetName};

use super::values::shipped_title;
use super::{CiFlags, EXIT_CODES, JobFlag, JsonFlag, LimitFlags, QuietFlag, exit_codes};

const EXAMPLES: &str = "\
Examples:
  tribunal litmus SB.litmus                        outcomes that the architecture allows
  tribunal litmus --model sc,tso,pso *.litmus      several models, one answer each
  tribunal litmus --model my.cat *.litmus          a model of your own
  tribunal litmus --json --witness SB.litmus       with an execution for every outcome
  tribunal litmus @all                             the tests that the file `all` lists
  tribunal litmus --to aarch64 MP+fence.w.w+addr.litmus   translate to another architecture
  tribunal litmus --on host SB.litmus              how often each outcome occurs on this machine
  tribunal litmus --on host --model sc SB.litmus   … and which of them sc forbids
  tribunal litmus --model sc,tso --report litmus.html examples/litmus   a page with a table";

const CODES: &str = exit_codes!(
    "every `forall` and `~exists` holds, and the host shows no forbidden outcome",
    "a `forall` or `~exists` fails, or the host shows a forbidden outcome"
);

const CONDITIONS: &str = "\
Conditions:
  `forall` and `~exists` are claims: if one is false (`No`), the exit code is 1.
  `exists` is a question: `Ok` (some outcome meets it) and `No` both have exit code 0.";

/// List the outcomes of herdtools litmus tests under a memory model, or run them on this machine.
///
/// Reads tests for X86 (destination first), X86_64 (source first), RISCV and AArch64, enumerates every
/// final state that a memory model allows, and prints them in the layout of herd7. `Positive`,
/// `Negative` and `Observation` count final states, where herd7 counts executions.
///
/// With --on host each test is run on the cores of this machine, and the number of times each final
/// state was seen is printed in the layout of litmus7. The states are compared with those that the
/// models allow: a state that the model forbids is a violation.
#[derive(Args, Debug, Clone)]
#[command(after_help = EXIT_CODES)]
#[command(after_long_help = format!("{CONDITIONS}\n\n{EXAMPLES}\n\n{CODES}"))]
pub(crate) struct LitmusArguments {
    /// Memory models, comma-separated: names, or model files (.cat) [default: by architecture].
    ///
    /// The default is `tso` for x86, `rvwmo` for RISC-V, `aarch64` for AArch64. A .cat file defines a
    /// model of your own (docs/cat.md). With several models, a line `Model` precedes each answer.
    #[arg(short, long, value_name = "MODEL", value_delimiter = ',')]
    #[arg(value_parser = NameOrFile(PossibleValuesParser::new(names())), ignore_case = true)]
    pub(crate) model: Vec<LitmusModelArgument>,

    /// Run the tests on a target instead of enumerating outcomes: `host`, the cores of this machine.
    ///
    /// The observed states are compared with each --model. If a test has more threads than the machine has
    /// cores, only some of its threads run at the same time.
    #[arg(long, value_name = "TARGET", conflicts_with = "witness")]
    pub(crate) on: Option<TargetName>,

    /// With --on: number of runs of each test.
    #[arg(long, value_name = "N", default_value_t = 1_000_000, requires = "on")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) runs: u64,

    /// With --on: random seed of timing and memory layout.
    #[arg(long, value_name = "S", default_value_t = 0, requires = "on")]
    pub(crate) seed: u64,

    /// Print an execution for every outcome, as a trace.
    ///
    /// Each execution is checked by the independent checker of `tribunal certify` before it is printed,
    /// and is a valid input of `tribunal check`. With --json, `trace` is its text, and `witness` the
    /// order in which its events are performed.
    #[arg(long)]
    pub(crate) witness: bool,

    /// Translate each test to another architecture: x86, riscv or aarch64.
    ///
    /// The test must name the cycle that it was made from (`Orig=` or the quoted line). A fence that the
    /// new architecture lacks becomes its weakest fence of at least the same strength.
    #[arg(long, value_name = "ARCHITECTURE", conflicts_with_all = ["on", "witness", "model", "json"])]
    pub(crate) to: Option<Assembly>,

    /// Print one line for each test and model: whether the outcomes satisfy the condition never,
    /// sometimes or always, and the number of positive and negative states.
    #[arg(long, conflicts_with_all = ["json", "witness", "on", "to"])]
    pub(crate) summary: bool,

    /// Write a page with all answers: tests and models as a table, each cell with an execution.
    ///
    /// One HTML file that opens from disk (docs/reports.md). Tests on which the models differ come first;
    /// with --on host, one column has the outcomes observed on this machine.
    #[arg(long, value_name = "FILE.html", conflicts_with = "to")]
    pub(crate) report: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) limits: LimitFlags,
    #[command(flatten)]
    pub(crate) jobs: JobFlag,
    #[command(flatten)]
    pub(crate) json: JsonFlag,
    #[command(flatten)]
    pub(crate) quiet: QuietFlag,

    /// Litmus tests: files, folders of .litmus files, `@FILE` for a list of files; `-` is standard
    /// input.
    #[arg(value_name = "FILE.litmus", required = true)]
    pub(crate) files: Vec<String>,

    #[command(flatten)]
    pub(crate) ci: CiFlags,
}

/// A memory model, by name or file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum LitmusModelArgument {
    /// A model that comes with Tribunal.
    Named(String),
    /// A model file.
    File(PathBuf),
}

/// Parses names of models; a name that ends in `.cat` is a file.
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
        let about = match name.parse::<Model>() {
            Ok(model) => model.summary().to_owned(),
            Err(_) => shipped_title(name),
        };
        PossibleValue::new(name).help(about)
    })
}
