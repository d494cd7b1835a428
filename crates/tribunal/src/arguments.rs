//! The command line: every command and every flag, each declared once, with the help it prints.
//!
//! Lists of models and engines in the help come from their tables.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use history::ThinAir;
use judge::Engine;
use models::Model;

use crate::units;

mod ci;
mod cluster;
mod effect;
mod explore;
mod flags;
mod generate;
mod hunt;
mod litmus;
mod packages;
mod page;
mod protocol;
mod run;
mod values;
mod verify;

pub(crate) use ci::{Annotate, CiFlags};
pub(crate) use cluster::ClusterFlags;
pub(crate) use effect::{Given, refuse_without_effect};
pub(crate) use explore::{
    DeadlockChoice, DialectChoice, ExploreArguments, LanguageFlags, SearchChoice, SearchFlags,
    SymmetryChoice,
};
pub(crate) use flags::*;
pub(crate) use generate::{
    BugFlags, GenerateCommand, GenerateHardArguments, GenerateProgramArguments,
    GenerateTraceArguments, KnobFlags,
};
pub(crate) use hunt::HuntArguments;
pub(crate) use litmus::{LitmusArguments, LitmusModelArgument};
pub(crate) use packages::{CompletionsArguments, ManArguments};
pub(crate) use page::PageFlags;
pub(crate) use protocol::{EventFlags, ProtocolFlags};
pub(crate) use run::RunArguments;
pub(crate) use values::{ConvertTo, ModelArgument, SingleModel};
use values::{axe_model, convert_parser, engine_parser, model_or_file_parser, thin_air_parser};
pub(crate) use verify::{AssumptionChoice, MemoryModelChoice, VerifyArguments, WitnessChoice};

const MODELS_EXAMPLES: &str = "\
Examples:
  tribunal models                                  the table of all models
  tribunal models rvwmo                            the file that defines rvwmo
  tribunal models my.cat                           is my file a model, and for which traces?
  tribunal models --separate tso pso               a litmus test that pso allows and tso forbids
  tribunal models --separate tso.cat my.cat        the effect of a change to a model file";

const MODELS_CODES: &str =
    writing_codes!("printed; with --separate also if no test separates the models");

const TOUR: &str = "\
You have a trace (loads and stores of an execution, with the values read):
  tribunal check --model tso run.trace            does TSO allow it?
  tribunal check --model gradual run.trace        which is the strongest model that allows it?
  simulator | tribunal check --json -             one verdict per line, as soon as a trace ends
  tribunal shrink --model tso run.trace           the few events that violate TSO
  tribunal explain --model tso -o why.html run.trace   why they violate it: text, picture or page
  tribunal check --certificate proof.jsonl run.trace
  tribunal certify run.trace proof.jsonl          check the evidence with a small independent checker

You have a protocol (a Murphi model):
  tribunal explore protocol.m                     check its invariants in every reachable state
  tribunal verify --model sc protocol.m           does it implement sequential consistency?
  tribunal verify --any-processors protocol.m     prove its invariants for any number of processors
  tribunal run --on protocol.m --check sc         test random runs of it

You have a machine, or study memory models:
  tribunal hunt --on host --model tso --time 60s  does this machine violate TSO?
  tribunal litmus --model tso SB.litmus           which outcomes does TSO allow?
  tribunal generate program --cycles 6            litmus tests from all cycles of up to six edges
  tribunal models                                 what each model guarantees

A trace is text, one event per line (gzip and zstd files work, too; `-` is standard input):
  0: M[x] := 1                thread 0 writes 1 to x
  0: sync                     a full fence; also: fence w,r
  0: M[y] == 0                reads 0
  1: <M[y] == 0; M[y] := 7>   atomic read-modify-write
  check                       ends a trace; a file may hold many";

/// The exit codes of a command, for its long help: the meanings of 0 and 1.
macro_rules! exit_codes {
    ($zero:literal, $one:literal) => {
        concat!(
            "Exit codes:\n  0    ",
            $zero,
            "\n  1    ",
            $one,
            "\n  2    bad usage or bad input; the message says where",
            "\n  3    undecided: a limit was reached, or an assumption is not established; no \
             violation found",
            "\n  130  interrupted by Ctrl-C; results so far are printed first"
        )
    };
}
pub(crate) use exit_codes;

/// The exit codes of a command that only writes, for its long help: the meaning of 0.
macro_rules! writing_codes {
    ($zero:literal) => {
        concat!(
            "Exit codes:\n  0    ",
            $zero,
            "\n  2    bad usage or bad input; the message says where",
            "\n  130  interrupted by Ctrl-C"
        )
    };
}
pub(crate) use writing_codes;

/// The exit codes of such a command in one line.
pub(crate) const WRITING_CODES: &str =
    "Exit codes: 0 written, 2 bad usage or input, 130 interrupted.
--help explains every option and has examples.";

/// The exit codes in one line, for short help.
pub(crate) const EXIT_CODES: &str =
    "Exit codes: 0 no violation, 1 violation, 2 bad usage or input, 3 undecided, 130 interrupted.
--help explains every option and has examples.";

const ALL_EXIT_CODES: &str = exit_codes!(
    "no violation: every trace is consistent, the model is verified, the certificate holds",
    "a violation, a counterexample, or a rejected certificate"
);

/// Checks executions and protocols against memory consistency models.
///
/// Given a trace, Tribunal decides whether a memory model (SC, TSO, RVWMO, …) allows it. Given a
/// protocol as a Murphi model, it checks every reachable state, or proves the protocol for any
/// number of processors. Each answer comes with evidence that an independent checker can check.
#[derive(Parser, Debug)]
#[command(name = "tribunal", version, long_version = packages::VERSION, after_help = EXIT_CODES)]
#[command(after_long_help = format!("{TOUR}\n\n{ALL_EXIT_CODES}"))]
#[command(arg_required_else_help = true, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    Check(CheckArguments),
    Certify(CertifyArguments),
    Shrink(ShrinkArguments),
    Explain(ExplainArguments),
    Models(ModelsArguments),
    Convert(ConvertArguments),
    Explore(ExploreArguments),
    Verify(VerifyArguments),
    Run(RunArguments),
    Litmus(LitmusArguments),
    Hunt(HuntArguments),
    #[command(subcommand)]
    Generate(GenerateCommand),
    #[command(subcommand)]
    Axe(AxeCommand),
    Completions(CompletionsArguments),
    Man(ManArguments),
}

/// Decide whether memory models allow recorded traces.
///
/// A trace lists the loads and stores of each thread, with the values that were read. The verdict is
/// `consistent` (some order of the events explains every read and obeys the model), `violation` (no
/// order does; the cycle that is printed shows why) or `undecided`. Each line has the verdict on one
/// trace and model, in the order of the traces, and is printed as soon as the verdict is known.
///
/// With `-` as the file, each trace on standard input is answered as soon as its last line (`check`)
/// arrives, even a malformed one, so that a simulator can run Tribunal as a co-process.
#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES, after_long_help = format!("{CHECK_EXAMPLES}\n\n{CHECK_CODES}"))]
pub(crate) struct CheckArguments {
    /// Memory models to check against, comma-separated: names, or model files (.cat).
    ///
    /// A .cat file defines a model of your own (docs/cat.md). `gradual` reports the strongest models
    /// that allow the trace; it is a violation only if no model does.
    #[arg(short, long, value_name = "MODEL", default_value = "sc", value_delimiter = ',')]
    #[arg(value_parser = model_or_file_parser(), ignore_case = true)]
    pub(crate) model: Vec<ModelArgument>,

    /// The decision procedure; `auto` is right unless you compare procedures.
    ///
    /// Wherever two engines decide, they agree. The choice applies to the store models (sc, tso, pso,
    /// wmo, rmo, coherence); causal models and model files have one procedure each.
    #[arg(long, value_name = "ENGINE", default_value = "auto", hide_short_help = true)]
    #[arg(value_parser = engine_parser(), ignore_case = true)]
    pub(crate) engine: Engine,

    /// Write the evidence for every verdict to FILE, for `tribunal certify`.
    ///
    /// One JSON object per line, for each trace and model that was decided. The file is written when
    /// the run ends or is interrupted.
    #[arg(long, value_name = "FILE")]
    pub(crate) certificate: Option<PathBuf>,

    /// Write a page for each violation to this directory, and an index.html that lists them.
    ///
    /// Each page is one HTML file that opens from disk: the cycle as a picture, the argument step by
    /// step, the whole trace, the smallest part that still violates the model, and the certificate
    /// (docs/reports.md). The first 1,000 violations get a page; the index lists them all.
    #[arg(long, value_name = "DIR")]
    pub(crate) report: Option<PathBuf>,

    /// Print statistics of the decision: write pairs, inferred edges, decisions, conflicts.
    ///
    /// With --json, `--stats full` adds the witness of a consistent trace: a total order, as
    /// [thread, index] pairs.
    #[arg(long, value_name = "full", num_args = 0..=1, require_equals = true)]
    #[arg(hide_short_help = true)]
    #[arg(default_missing_value = "brief")]
    pub(crate) stats: Option<Stats>,

    /// Accept input without a single event.
    ///
    /// By default such input is an error (exit code 2), so that a recorder that failed does not look
    /// like a test that passed.
    #[arg(long, hide_short_help = true)]
    pub(crate) allow_empty: bool,

    /// Check a trace while it is being written, in bounded memory; stop at the first violation.
    ///
    /// Reads one event per line and discards events that can no longer matter. A violation is reported
    /// as soon as it is certain, and ends the run with exit code 1. If the order of the lines does not
    /// explain the trace, memory grows up to --memory, and then the trace is undecided (docs/live.md).
    #[arg(long, conflicts_with_all = ["certificate", "report", "engine", "stats", "keep_going", "expect_traces"])]
    pub(crate) live: bool,

    /// After a malformed trace, continue with the next trace of the file.
    ///
    /// Each malformed trace is reported, and the exit code is 2 (1 if there is a violation). By default
    /// the rest of the file is skipped; traces on standard input are always continued.
    #[arg(long, hide_short_help = true)]
    pub(crate) keep_going: bool,

    /// Print only traces that violate a model, are undecided or malformed.
    #[arg(long, conflicts_with = "live")]
    pub(crate) only_violations: bool,

    /// Stop at the first violation.
    #[arg(long, conflicts_with_all = ["live", "expect_traces"])]
    pub(crate) first: bool,

    /// Check only the trace with this number in each file, from 1.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    #[arg(conflicts_with_all = ["live", "expect_traces", "certificate"])]
    pub(crate) trace: Option<u64>,

    /// Exit with code 2 unless the files contain exactly N traces.
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub(crate) expect_traces: Option<u64>,

    #[command(flatten)]
    pub(crate) input: InputFlags,
    #[command(flatten)]
    pub(crate) limits: LimitFlags,
    #[command(flatten)]
    pub(crate) jobs: JobFlag,
    #[command(flatten)]
    pub(crate) json: JsonFlag,
    #[command(flatten)]
    pub(crate) quiet: QuietFlag,
    #[command(flatten)]
    pub(crate) colour: ColourFlag,

    /// Trace files; `-` is standard input.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<String>,

    #[command(flatten)]
    pub(crate) ci: CiFlags,
}

const CHECK_EXAMPLES: &str = "\
Examples:
  tribunal check run.trace                        sequential consistency
  tribunal check --model tso,pso --json *.trace   two models, one JSON object per line
  tribunal check --model gradual run.trace        the strongest model that allows the trace
  tribunal check --model my.cat run.trace         a model of your own
  tribunal check --report pages --model tso t.trace  an interactive page for each violation
  tribunal check --model rvwmo spike.log          a commit log of a RISC-V simulator
  tribunal check --budget 10s --stats hard.trace  at most ten seconds for each trace
  simulator | tribunal check --json -             one answer per line, as soon as a trace ends";

const CHECK_CODES: &str = exit_codes!("every trace is consistent", "some trace violates a model");

/// Check certificates with a small independent checker.
///
/// A certificate is the evidence for a verdict. Given a trace file and the certificate that `tribunal
/// check --certificate` wrote for it, every verdict is checked against its trace: witnesses are
/// replayed, proofs are checked step by step. The checker shares no code with the engines of `check`.
///
/// Given a protocol and the certificate that `tribunal verify --any-processors --certificate` wrote
/// for it, the abstract programs are derived from the protocol again and compared, and all their
/// states are visited with the reference interpreter.
#[derive(Args, Debug)]
#[command(after_help = CERTIFY_SHORT_CODES)]
#[command(after_long_help = format!("{CERTIFY_EXAMPLES}\n\n{CERTIFY_CODES}"))]
pub(crate) struct CertifyArguments {
    /// Trace file, or protocol; `-` is standard input.
    #[arg(value_name = "TRACE|PROTOCOL.m")]
    pub(crate) trace: String,
    /// Certificate file.
    pub(crate) certificate: PathBuf,

    /// Path of the .cat file, for certificates about a model file that has moved.
    ///
    /// The certificate records the path of the file, and is rejected if its text has changed.
    #[arg(short, long, value_name = "FILE.cat")]
    pub(crate) model: Option<String>,

    /// Time limit for the certificate of a protocol: 500ms, 60s, 5m, 1h. Beyond it the certificate is
    /// reported as not checked.
    #[arg(long, value_name = "TIME", value_parser = units::time)]
    pub(crate) budget: Option<Duration>,
    #[command(flatten)]
    pub(crate) input: InputFlags,
    #[command(flatten)]
    pub(crate) memory: MemoryFlag,
    #[command(flatten)]
    pub(crate) jobs: JobFlag,
    #[command(flatten)]
    pub(crate) json: JsonFlag,
    #[command(flatten)]
    pub(crate) quiet: QuietFlag,
}

const CERTIFY_EXAMPLES: &str = "\
Examples:
  tribunal check --model tso --certificate proof.jsonl run.trace
  tribunal certify run.trace proof.jsonl
  tribunal verify --any-processors --certificate german.proof german.m
  tribunal certify german.m german.proof";

/// The exit codes of `certify` in one line.
const CERTIFY_SHORT_CODES: &str =
    "Exit codes: 0 certificates hold, 1 a certificate is rejected, 2 bad usage or input, 3 not \
     checked, 130 interrupted.
--help explains every option and has examples.";

const CERTIFY_CODES: &str = exit_codes!("every certificate holds", "some certificate is rejected");

/// Print a minimal part of a trace that still violates a model.
///
/// The result is a trace, as text or (with --json) as JSON Lines. It is minimal: without any one of
/// its lines it is consistent or malformed. If --budget ends the search, the smallest violating part
/// found so far is printed, with a remark.
#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES)]
#[command(after_long_help = format!("{SHRINK_EXAMPLES}\n\n{SHRINK_CODES}"))]
pub(crate) struct ShrinkArguments {
    #[command(flatten)]
    pub(crate) subject: SubjectFlags,

    #[command(flatten)]
    pub(crate) out: OutFlag,
    #[command(flatten)]
    pub(crate) json: JsonFlag,

    /// Keep all writes that a read may have read from.
    ///
    /// Matters only if a value was written twice to an address: then the violation of the printed part
    /// implies that of the whole trace, but the part may be longer.
    #[arg(long)]
    pub(crate) keep_sources: bool,
}

const SHRINK_EXAMPLES: &str = "\
Examples:
  tribunal shrink --model tso run.trace                  the first violating trace, shrunk
  tribunal shrink --model tso --trace 7 -o small.trace run.trace";

const SHRINK_CODES: &str =
    exit_codes!("the trace is consistent: nothing to shrink", "a violation was shrunk");

/// Explain why a trace violates a model, as text, a picture or a page.
///
/// Explains the first violating trace of the file, or trace --trace: which events form a cycle, and
/// which rule of the model orders each pair. The output is text, JSON, a Graphviz graph, an SVG
/// picture, or an HTML page with the whole trace. For a consistent trace, the page shows an order of
/// the events that explains every read, and the JSON is the verdict of `tribunal check --json`.
#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES)]
#[command(after_long_help = format!("{EXPLAIN_EXAMPLES}\n\n{EXPLAIN_CODES}"))]
pub(crate) struct ExplainArguments {
    #[command(flatten)]
    pub(crate) subject: SubjectFlags,

    #[command(flatten)]
    pub(crate) out: OutFlag,
    #[command(flatten)]
    pub(crate) colour: ColourFlag,

    /// Output format [default: by the ending of --output: .txt, .dot, .svg, .html or .json; else text].
    #[arg(long, value_name = "KIND")]
    pub(crate) to: Option<Picture>,

    /// Print one JSON object, like `--to json` (fields: docs/interface.md).
    #[arg(long, conflicts_with = "to")]
    pub(crate) json: bool,

    /// Shrink the trace first, and explain the smaller one.
    #[arg(long)]
    pub(crate) shrink: bool,
}

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  tribunal explain --model tso run.trace                 in words
  tribunal explain --model tso --shrink -o why.svg run.trace   as a picture
  tribunal explain --model tso -o why.html run.trace     as a page with the whole trace
  tribunal explain --model tso --json run.trace          for scripts";

const EXPLAIN_CODES: &str =
    exit_codes!("the trace is consistent: nothing to explain", "a violation was explained");

/// List the memory models: what each guarantees, and which implies which.
///
/// With a NAME, print the model file of that name; with a file, its conditions and the length of the
/// traces that it can judge. With --separate, find the smallest litmus tests that one model allows and
/// the other forbids, in both directions.
#[derive(Args, Debug)]
#[command(after_help = WRITING_CODES, after_long_help = format!("{MODELS_EXAMPLES}\n\n{MODELS_CODES}"))]
pub(crate) struct ModelsArguments {
    /// Print the model file of this name, such as `rvwmo`, or describe a .cat file.
    ///
    /// A file is read and checked; the description has its conditions with their places, and says
    /// whether traces of any length can be judged by it. With --json, a name is described, too.
    #[arg(conflicts_with = "separate")]
    pub(crate) name: Option<String>,

    /// Find the smallest litmus tests that one model allows and the other forbids.
    ///
    /// Each model is a name or a .cat file. Both directions are tried, and each test is printed as a
    /// trace and as a litmus test.
    #[arg(long, num_args = 2, value_names = ["MODEL", "MODEL"])]
    pub(crate) separate: Vec<String>,

    /// With --separate: try tests made from cycles of up to N edges.
    #[arg(long, value_name = "N", default_value_t = 6, requires = "separate")]
    #[arg(value_parser = clap::value_parser!(u8).range(2..=stress::MAX_CYCLE_SIZE as i64))]
    pub(crate) size: u8,

    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

/// Convert traces between formats, and litmus tests to test programs and back.
///
/// A litmus test (herdtools, for x86, RISC-V and AArch64) is input for `tribunal litmus` and herd7,
/// which enumerate its outcomes; a test program (docs/programs.md) is input for `tribunal run`. If a
/// test has a feature that the output format lacks, the error names the feature.
#[derive(Args, Debug)]
#[command(after_help = WRITING_CODES)]
#[command(after_long_help = format!("{CONVERT_EXAMPLES}\n\n{CONVERT_CODES}"))]
pub(crate) struct ConvertArguments {
    /// Output format.
    #[arg(long, value_name = "FORMAT", value_parser = convert_parser())]
    pub(crate) to: ConvertTo,

    #[command(flatten)]
    pub(crate) out: OutFlag,
    #[command(flatten)]
    pub(crate) input: InputFlags,
    #[command(flatten)]
    pub(crate) memory: MemoryFlag,

    /// Trace file, litmus test or test program; `-` is standard input.
    pub(crate) file: String,
}

const CONVERT_EXAMPLES: &str = "\
Examples:
  tribunal convert --to text spike.log                   a commit log as a readable trace
  tribunal convert --to jsonl -o run.jsonl run.trace
  tribunal convert --to program SB.litmus                for `tribunal run`
  tribunal convert --to riscv sb.program                 for `tribunal litmus` and herd7";

const CONVERT_CODES: &str = writing_codes!("everything was converted");

const AXE_EXAMPLES: &str = "\
Examples:
  tribunal axe check TSO run.axe                   one line, OK or NO, for each trace
  simulator | tribunal axe check WMO -             as a co-process
  tribunal axe check -i SC run.axe                 ignore the timestamps of the trace
  tribunal axe test TSO run.axe expected.txt       compare with a file of OK and NO

Exit codes of `axe check` (as in axe, a violation is not an error):
  0    every trace was answered, OK or NO
  2    bad usage or bad input; the message says where
  3    a trace is undecided: --budget or --memory was reached
  130  interrupted by Ctrl-C

Exit codes of `axe test`:
  0    all answers are as expected
  1    an answer differs
  2    bad usage or bad input, or the numbers of answers and traces differ
  3    a trace is undecided
  130  interrupted by Ctrl-C";

/// Drop-in replacement for `axe check` and `axe test`: print `OK` or `NO` for each trace.
#[derive(Subcommand, Debug)]
#[command(after_long_help = AXE_EXAMPLES)]
pub(crate) enum AxeCommand {
    Check(AxeCheckArguments),
    Test(AxeTestArguments),
}

/// Print `OK` (consistent) or `NO` (violation) for each trace, in order, as soon as it ends.
///
/// As with axe, the exit code is 0 for both answers. It is 2 for bad input, and 3 if --budget or
/// --memory left a trace undecided.
#[derive(Args, Debug)]
#[command(after_long_help = AXE_EXAMPLES)]
pub(crate) struct AxeCheckArguments {
    #[command(flatten)]
    pub(crate) axe: AxeFlags,
}

/// Compare the answers of `axe check` with a file of expected answers.
///
/// The file has one line `OK` or `NO` for each trace, optionally followed by a name. The test stops at
/// the first difference, with exit code 1. Too few or too many answers are an error (exit code 2).
#[derive(Args, Debug)]
#[command(after_long_help = AXE_EXAMPLES)]
pub(crate) struct AxeTestArguments {
    #[command(flatten)]
    pub(crate) axe: AxeFlags,

    /// File of expected answers.
    pub(crate) expected: PathBuf,
}

/// The flags of both axe commands.
#[derive(Args, Debug)]
pub(crate) struct AxeFlags {
    /// Model: SC, TSO, PSO, WMO, or any other built-in model.
    #[arg(value_parser = axe_model)]
    pub(crate) model: Model,

    /// The trace file; `-` is standard input.
    pub(crate) file: String,

    /// Assume a global clock (accepted for compatibility; only axe's POW model uses it).
    #[arg(short = 'g')]
    pub(crate) global_clock: bool,

    /// Ignore timestamps.
    #[arg(short = 'i')]
    pub(crate) ignore_times: bool,

    /// How to treat a read of a value that was never written.
    #[arg(long, value_name = "WHAT", default_value = "malformed", value_parser = thin_air_parser())]
    pub(crate) thin_air: ThinAir,

    #[command(flatten)]
    pub(crate) limits: LimitFlags,
    #[command(flatten)]
    pub(crate) jobs: JobFlag,
}

/// How many statistics to print.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stats {
    /// Statistics only.
    #[value(hide = true)]
    Brief,
    /// Statistics and, with --json, the witness.
    Full,
}

/// The formats of `explain`.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Picture {
    /// Text.
    #[value(alias = "txt")]
    Text,
    /// Graphviz.
    Dot,
    /// SVG picture.
    Svg,
    /// Interactive HTML page: one file that any browser opens.
    #[value(alias = "htm")]
    Html,
    /// One JSON object.
    Json,
}

/// The arguments of the process, with `--stats full` rewritten to `--stats=full` and `--compact 40`
/// to `--compact=40`: the value is optional, and `--stats FILE` must not consume the file.
pub(crate) fn command_line() -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::new();
    for argument in std::env::args_os() {
        match joined.last_mut() {
            Some(last) if is_value(last, &argument) => {
                last.push("=");
                last.push(argument);
            }
            _ => joined.push(argument),
        }
    }
    joined
}

/// Whether an argument is the optional value of the flag before it.
fn is_value(flag: &OsStr, argument: &OsStr) -> bool {
    let number = || argument.as_encoded_bytes().iter().all(u8::is_ascii_digit);
    match flag.as_encoded_bytes() {
        b"--stats" => argument == "full",
        b"--compact" => !argument.is_empty() && number(),
        _ => false,
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

    #[test]
    fn optional_values_are_distinguished_from_files() {
        let is_value = |flag: &str, argument: &str| is_value(flag.as_ref(), argument.as_ref());
        assert!(is_value("--stats", "full") && is_value("--compact", "40"));
        assert!(!is_value("--compact", "big.m") && !is_value("--jobs", "4"));
    }

    #[test]
    fn models_are_read_in_any_case_and_comma_separated() {
        let parsed = Arguments::try_parse_from(["tribunal", "check", "-m", "SC,Tso", "t"]).unwrap();
        let Command::Check(check) = parsed.command else { panic!() };
        assert_eq!(
            check.model,
            [Model::Sc, Model::Tso].map(|model| ModelArgument::One(SingleModel::Model(model)))
        );
    }
}
