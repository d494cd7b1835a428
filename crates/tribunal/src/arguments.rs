//! The command line: every command and every flag, each declared once, with the help it prints.
//!
//! Lists of models and engines in the help come from their tables.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use history::{CommitOptions, DiscardedAmo, Format, ThinAir, Xlen};
use judge::{Engine, Limits, ModelFile, Promise};
use models::Model;

use crate::ending::Failure;
use crate::units;

mod ci;
mod explore;
mod generate;
mod hunt;
mod litmus;
mod packages;
mod page;
mod protocol;
mod run;
mod verify;

pub(crate) use ci::{Annotate, CiFlags};
pub(crate) use explore::{
    DeadlockChoice, DialectChoice, ExploreArguments, LanguageFlags, SearchChoice, SearchFlags,
    SymmetryChoice,
};
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
pub(crate) use verify::{AssumptionChoice, MemoryModelChoice, VerifyArguments, WitnessChoice};

const MODELS_EXAMPLES: &str = "\
Examples:
  tribunal models                                  the table
  tribunal models --separate tso pso               a test that pso allows and tso forbids
  tribunal models --separate tso.cat my.cat        what a change of a model file changes";

const TOUR: &str = "\
A tour:
  tribunal check --model tso run.trace            is the trace allowed by TSO?
  tribunal check --model gradual run.trace        which is the strongest model that allows it?
  simulator | tribunal check --json -             one verdict a line, as soon as a trace ends
  tribunal shrink --model tso run.trace           the few lines that break the promise
  tribunal explain --model tso -o why.html run.trace   why, as a page to look around in
  tribunal check --certificate proof.jsonl run.trace
  tribunal certify run.trace proof.jsonl          check the evidence with a small kernel
  tribunal models                                 what each model promises
  tribunal explore protocol.m                     model-check a Murphi model
  tribunal verify --model sc protocol.m           does it implement its memory model?
  tribunal hunt --on host --model tso --time 60s  does this machine keep to TSO?
  tribunal generate program --cycles 6            every litmus test of up to six edges
  tribunal run --on protocol.m --check sc         do random runs of it keep the promise?
  tribunal litmus --model tso SB.litmus           which outcomes can this test have?

A trace is text, one event a line (gzip and zstd are read as they are; `-` is standard input):
  0: M[x] := 1                thread 0 writes 1 to x
  0: sync                     a full fence; also: fence w,r
  0: M[y] == 0                reads 0
  1: <M[y] == 0; M[y] := 7>   atomic read-modify-write
  check                       ends a trace; a file may hold many";

const EXIT_CODES: &str = "\
Exit codes:
  0    the promise is kept: every trace consistent, the model verified, the
       certificate holds
  1    it is broken: a violation, a counterexample, a certificate that does not hold
  2    the question could not be asked: bad usage, bad input
  3    undecided: a budget ran out and nothing was found broken
  130  interrupted by Ctrl-C; what was found so far is printed first";

/// Decides whether a recorded execution of a shared memory is allowed by a memory model.
///
/// An execution is a set of events, a memory model says which orders between them must hold, and
/// the question is whether those orders can all hold at once. The answer comes with evidence: an
/// order that explains every read, or a cycle that shows there is none.
#[derive(Parser, Debug)]
#[command(name = "tribunal", version, long_version = packages::VERSION, after_help = EXIT_CODES)]
#[command(after_long_help = format!("{TOUR}\n\n{EXIT_CODES}"))]
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

/// Judge recorded traces.
///
/// Prints one line for each trace and model, in order, each as soon as it is known; for a
/// violation also why. Used as a co-process, it answers each trace when its `check` arrives.
#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES, after_long_help = format!("{CHECK_EXAMPLES}\n\n{EXIT_CODES}"))]
pub(crate) struct CheckArguments {
    /// The models to judge by, comma-separated: names, or files that end in .cat.
    ///
    /// A file defines a model of your own in the cat language (docs/cat.md). `gradual` reports the strongest models that hold: it judges from the strongest to the
    /// weakest and skips what is implied. It counts as a violation only when no model holds.
    #[arg(short, long, value_name = "MODEL", default_value = "sc", value_delimiter = ',')]
    #[arg(value_parser = model_or_file_parser(), ignore_case = true)]
    pub(crate) model: Vec<ModelArgument>,

    /// How to decide.
    ///
    /// All engines agree wherever two of them decide. Causal models have one way to be decided,
    /// whatever the engine.
    #[arg(long, value_name = "ENGINE", default_value = "auto")]
    #[arg(value_parser = engine_parser(), ignore_case = true)]
    pub(crate) engine: Engine,

    /// Write the evidence of every verdict to this file, for `tribunal certify`.
    ///
    /// One JSON object a line for each trace and model that was decided. The file appears when
    /// the run ends, also when it is interrupted.
    #[arg(long, value_name = "FILE")]
    pub(crate) certificate: Option<PathBuf>,

    /// Write a page for each violation to this directory, and an index.html that lists them.
    ///
    /// Each page is one HTML file that opens from disk: the cycle as a picture, the argument step by
    /// step, the whole trace, the smallest part that still violates the model, and the certificate
    /// (docs/reports.md). The first 1,000 violations get a page; the index lists them all.
    #[arg(long, value_name = "DIR")]
    pub(crate) report: Option<PathBuf>,

    /// Say what it took: write pairs, inferred edges, decisions, conflicts.
    ///
    /// `--stats full` adds to --json the witness of a consistent trace: a total order, as
    /// [thread, index] pairs.
    #[arg(long, value_name = "full", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "brief")]
    pub(crate) stats: Option<Stats>,

    /// Accept a file without a single event.
    ///
    /// Without this flag such a file is an error (exit code 2), so that a recorder that died is not
    /// a test that passed.
    #[arg(long)]
    pub(crate) allow_empty: bool,

    /// Judge traces while they grow, in bounded memory, and end at the first violation.
    ///
    /// Events are taken in the order of their lines, one event a line, and forgotten when they can no
    /// longer matter. A violation is reported as soon as it is certain, and ends the run with exit
    /// code 1. Where the order of the lines does not explain the trace, memory grows up to --memory,
    /// and then the trace is undecided (docs/live.md).
    #[arg(long, conflicts_with_all = ["certificate", "report", "engine", "stats", "keep_going", "expect_traces"])]
    pub(crate) live: bool,

    /// Judge the traces behind one that makes no sense.
    ///
    /// Without this flag such a trace ends its file. With it the trace is reported as malformed, what
    /// follows the line that ends it is judged, and the exit code is 2 (1 if a violation is found).
    #[arg(long)]
    pub(crate) keep_going: bool,

    /// Fail, with exit code 2, unless there are exactly this many traces in all files.
    #[arg(long, value_name = "N")]
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
    #[command(flatten)]
    pub(crate) ci: CiFlags,

    /// The trace files; `-` is standard input.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<String>,
}

const CHECK_EXAMPLES: &str = "\
Examples:
  tribunal check run.trace                        sequential consistency
  tribunal check --model tso,pso --json *.trace   two models, one JSON object a line
  tribunal check --model gradual run.trace        the strongest model that holds
  tribunal check --model my.cat run.trace         a model of your own
  tribunal check --report pages --model tso t.trace  a page for each violation, to look around in
  tribunal check --budget 10s --stats hard.trace  give up after ten seconds a trace";

/// Verify a certificate with a small independent checker.
///
/// Reads a trace file and the certificate file that `tribunal check --certificate` wrote for it,
/// and checks every line of evidence against its trace: witnesses are replayed, proofs are checked
/// step by step. The checker shares no code with the engines.
///
/// Or reads a protocol and the certificate that `tribunal verify --any-processors --certificate`
/// wrote for it: derives the abstract programs again from the protocol, compares them, and visits all
/// their states with the reference interpreter.
#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct CertifyArguments {
    /// The trace file, or the protocol; `-` is standard input.
    #[arg(value_name = "TRACE|PROTOCOL.m")]
    pub(crate) trace: String,
    /// The certificate file.
    pub(crate) certificate: PathBuf,

    /// For certificates about a model file: where the file is, if not where they say.
    ///
    /// They hold for the text of the file that was judged by, and are rejected for any other.
    #[arg(short, long, value_name = "FILE.cat")]
    pub(crate) model: Option<String>,

    /// For a protocol: the time for the check: 500ms, 60s, 5m, 1h. What is not decided by then is
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

/// The smallest sub-trace that still violates a model.
///
/// Prints it in the text format, or as JSON Lines with --json: dropping any one of its lines leaves
/// something consistent or malformed. Exits 1 when there was a violation to shrink, 0 when the
/// trace is consistent. When --budget runs out, prints the smallest found so far and says so.
#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct ShrinkArguments {
    #[command(flatten)]
    pub(crate) subject: SubjectFlags,

    #[command(flatten)]
    pub(crate) out: OutFlag,
    #[command(flatten)]
    pub(crate) json: JsonFlag,

    /// Keep, with every read, all writes it may have read from.
    ///
    /// Matters only where a value was written twice to an address. The sub-trace is then wrong only
    /// if the whole trace is, but may be longer.
    #[arg(long)]
    pub(crate) keep_sources: bool,
}

/// A picture of why a trace violates a model.
///
/// Explains the first violating trace of the file, or the one asked for with --trace: as text,
/// as a Graphviz graph, as an SVG picture, or as an HTML page with the whole trace in it. Exits 1
/// when there was a violation to explain, 0 when everything is consistent; a page then plays the
/// order that explains the first trace.
#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct ExplainArguments {
    #[command(flatten)]
    pub(crate) subject: SubjectFlags,

    #[command(flatten)]
    pub(crate) out: OutFlag,
    #[command(flatten)]
    pub(crate) colour: ColourFlag,

    /// What to write; if not said, what the name of the file ends in: .txt, .dot, .svg or .html.
    #[arg(long, value_name = "KIND")]
    pub(crate) to: Option<Picture>,

    /// Shrink the trace first and explain what is left.
    #[arg(long)]
    pub(crate) shrink: bool,
}

/// The models: what each keeps of program order, and which implies which.
///
/// With --separate: the smallest litmus test that one model allows and the other forbids, in both
/// directions, as a trace and as a litmus test.
#[derive(Args, Debug)]
#[command(after_long_help = MODELS_EXAMPLES)]
pub(crate) struct ModelsArguments {
    /// Print the text of this model: one of those that come as files, `tso` and `rvwmo` for example.
    #[arg(conflicts_with_all = ["json", "separate"])]
    pub(crate) name: Option<String>,

    /// Find the smallest litmus tests that tell two models apart: names, or files that end in .cat.
    #[arg(long, num_args = 2, value_names = ["MODEL", "MODEL"])]
    pub(crate) separate: Vec<String>,

    /// With --separate: the most edges of a cycle that a test is made of.
    #[arg(long, value_name = "N", default_value_t = 6, requires = "separate")]
    #[arg(value_parser = clap::value_parser!(u8).range(2..=stress::MAX_CYCLE_SIZE as i64))]
    pub(crate) size: u8,

    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

/// Convert between trace formats.
#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct ConvertArguments {
    /// The format to write.
    #[arg(long, value_name = "FORMAT", value_parser = format_parser())]
    pub(crate) to: Format,

    #[command(flatten)]
    pub(crate) out: OutFlag,
    #[command(flatten)]
    pub(crate) input: InputFlags,
    #[command(flatten)]
    pub(crate) memory: MemoryFlag,

    /// The trace file; `-` is standard input.
    pub(crate) file: String,
}

/// Drop-in for `axe`: prints `OK` or `NO` per trace.
#[derive(Subcommand, Debug)]
pub(crate) enum AxeCommand {
    Check(AxeCheckArguments),
    Test(AxeTestArguments),
}

/// Print `OK` or `NO` for each trace, in order, as soon as it ends.
///
/// As with axe, the exit code is 0 for both answers; it is 2 for bad input, and 3 when --budget
/// ran out, which is the only way to get no answer.
#[derive(Args, Debug)]
pub(crate) struct AxeCheckArguments {
    #[command(flatten)]
    pub(crate) axe: AxeFlags,
}

/// Compare the answers with a file of expected ones.
///
/// The expected file has a line `OK` or `NO` for each trace, perhaps with a name after it. Stops
/// at the first difference and exits 1.
#[derive(Args, Debug)]
pub(crate) struct AxeTestArguments {
    #[command(flatten)]
    pub(crate) axe: AxeFlags,

    /// The expected answers.
    pub(crate) expected: PathBuf,
}

/// What both axe commands take.
#[derive(Args, Debug)]
pub(crate) struct AxeFlags {
    /// SC, TSO, PSO, WMO, or any other model of `tribunal models`.
    #[arg(value_parser = axe_model)]
    pub(crate) model: Model,

    /// The trace file; `-` is standard input.
    pub(crate) file: String,

    /// Assume a global clock. Accepted for compatibility: only axe's POW model looks at it.
    #[arg(short = 'g')]
    pub(crate) global_clock: bool,

    /// Ignore timestamps.
    #[arg(short = 'i')]
    pub(crate) ignore_times: bool,

    /// What a read of a value that nobody wrote is.
    #[arg(long, value_name = "WHAT", default_value = "malformed", value_parser = thin_air_parser())]
    pub(crate) thin_air: ThinAir,

    #[command(flatten)]
    pub(crate) limits: LimitFlags,
    #[command(flatten)]
    pub(crate) jobs: JobFlag,
}

/// One trace and one model, for the commands that look at a single violation.
#[derive(Args, Debug)]
pub(crate) struct SubjectFlags {
    /// The model: a name, or a file that ends in .cat.
    #[arg(short, long, value_name = "MODEL", required = true)]
    #[arg(value_parser = promise_parser(), ignore_case = true)]
    pub(crate) model: PromiseArgument,

    /// Which trace of the file, from 1; the first that violates the model if not said.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) trace: Option<u64>,

    #[command(flatten)]
    pub(crate) input: InputFlags,
    #[command(flatten)]
    pub(crate) limits: LimitFlags,

    #[command(flatten)]
    pub(crate) quiet: QuietFlag,

    /// The trace file; `-` is standard input.
    pub(crate) file: String,
}

/// How traces are read.
#[derive(Args, Debug, Clone)]
pub(crate) struct InputFlags {
    /// The format of the traces; if not said, jsonl or spike (.log) where the file is called so,
    /// else text.
    #[arg(long, visible_alias = "from", value_name = "FORMAT")]
    #[arg(value_parser = input_format_parser())]
    pub(crate) format: Option<Format>,

    /// What a read of a value that nobody wrote is.
    #[arg(long, value_name = "WHAT", default_value = "malformed", value_parser = thin_air_parser())]
    pub(crate) thin_air: ThinAir,

    #[command(flatten)]
    pub(crate) commits: CommitFlags,
}

/// How logs of commits are read.
#[derive(Args, Debug, Clone, Copy)]
pub(crate) struct CommitFlags {
    /// Commit logs: leave out memory that only one hart touches or nobody writes.
    ///
    /// The verdict stays the same; what is left out is checked while reading.
    #[arg(long)]
    pub(crate) shared_only: bool,

    /// Commit logs: keep what the first hart did before a second one began.
    ///
    /// Without this flag, what it did up to its last full fence is skipped, and what it stored is
    /// what memory held at first.
    #[arg(long)]
    pub(crate) keep_prefix: bool,

    /// Commit logs: what an AMO has read that writes no register.
    #[arg(long, value_name = "WHAT", value_parser = discarded_amo_parser())]
    pub(crate) discarded_amo: Option<DiscardedAmo>,

    /// Commit logs: take the results of instructions that are not known to depend on nothing.
    #[arg(long)]
    pub(crate) skip_unknown: bool,

    /// Commit logs: the width of registers; if not said, that of the program counters in the log.
    #[arg(long, value_name = "BITS", value_parser = xlen_parser())]
    pub(crate) xlen: Option<Xlen>,
}

impl CommitFlags {
    /// The same for the library.
    pub(crate) fn options(self) -> CommitOptions {
        CommitOptions {
            shared_only: self.shared_only,
            keep_prefix: self.keep_prefix,
            skip_unknown: self.skip_unknown,
            discarded_amo: self.discarded_amo.unwrap_or_default(),
            xlen: self.xlen,
        }
    }
}

/// How long and how large a check may get.
#[derive(Args, Debug, Clone)]
pub(crate) struct LimitFlags {
    /// The time for each trace and model: 500ms, 60s, 5m, 1h. What is not decided by then is
    /// reported as undecided.
    #[arg(long, value_name = "TIME", value_parser = units::time)]
    pub(crate) budget: Option<Duration>,

    #[command(flatten)]
    pub(crate) memory: MemoryFlag,
}

impl LimitFlags {
    /// The same for the library.
    pub(crate) fn limits(&self) -> Limits {
        Limits { time: self.budget, memory: self.memory.memory }
    }
}

/// How large a trace and its tables may get.
#[derive(Args, Debug, Clone)]
pub(crate) struct MemoryFlag {
    /// The memory for each trace, and for the tables of each check: 512MiB, 8GiB, 200MB.
    #[arg(long, value_name = "SIZE", value_parser = units::size, default_value = "8GiB")]
    pub(crate) memory: Option<usize>,
}

/// How many traces to judge at once.
#[derive(Args, Debug, Clone)]
pub(crate) struct JobFlag {
    /// How many traces to judge at once; all cores if not said. The order of the output stays
    /// that of the traces.
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,
}

impl JobFlag {
    /// The number of workers.
    pub(crate) fn count(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        self.jobs.map_or_else(all, usize::from)
    }
}

/// How long a command that is a target may take.
#[derive(Args, Debug, Clone, Copy)]
pub(crate) struct TimeoutFlag {
    /// With exec: the time that the command has for a program and all its runs.
    #[arg(long, value_name = "TIME", value_parser = units::time, default_value = "10s")]
    pub(crate) timeout: Duration,
}

/// Results for programs.
#[derive(Args, Debug, Clone, Copy)]
pub(crate) struct JsonFlag {
    /// One JSON object a line on standard output.
    #[arg(long)]
    pub(crate) json: bool,
}

impl JsonFlag {
    /// The format of traces.
    pub(crate) fn trace_format(self) -> Format {
        if self.json { Format::JsonLines } else { Format::Text }
    }
}

/// Results only.
#[derive(Args, Debug, Clone, Copy)]
pub(crate) struct QuietFlag {
    /// Results only: no explanations, no progress, no remarks.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Results in colour.
#[derive(Args, Debug, Clone, Copy)]
pub(crate) struct ColourFlag {
    /// When to use colours; NO_COLOR is respected.
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Colour,
}

/// Results in a file.
#[derive(Args, Debug, Clone)]
pub(crate) struct OutFlag {
    /// Where to write, instead of standard output.
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
}

/// When to use colours.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Colour {
    /// On a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// How much to say about what a check took.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stats {
    /// The numbers.
    #[value(hide = true)]
    Brief,
    /// The numbers, and the witness in --json.
    Full,
}

/// What `explain` writes.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Picture {
    /// Prose and a cycle.
    #[value(alias = "txt")]
    Text,
    /// A Graphviz graph.
    Dot,
    /// A picture.
    Svg,
    /// A page to look around in: one file, which any browser opens.
    #[value(alias = "htm")]
    Html,
}

/// The command line as given, with `--stats full` read as `--stats=full` and `--compact 40` as
/// `--compact=40`: the value is optional, and `--stats FILE` must not take the file for it.
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

fn model_values() -> Vec<PossibleValue> {
    Model::ALL.map(|m| PossibleValue::new(m.name()).help(m.summary())).to_vec()
}

/// What `check` is asked to judge by.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum ModelArgument {
    /// A model.
    One(PromiseArgument),
    /// The strongest models that hold.
    Gradual,
}

/// A model by its name or its file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum PromiseArgument {
    /// A built-in model.
    Model(Model),
    /// The file of a model.
    File(PathBuf),
    /// A model that comes as a file with the program.
    Shipped(&'static str),
}

impl PromiseArgument {
    /// The model, its file read.
    pub(crate) fn promise(&self) -> Result<Promise, Failure> {
        match self {
            PromiseArgument::Model(model) => Ok(Promise::Model(*model)),
            PromiseArgument::File(path) => match ModelFile::open(path) {
                Ok(file) => Ok(file.into()),
                Err(error) => Err(Failure::Model(Box::new(error))),
            },
            PromiseArgument::Shipped(name) => match ModelFile::shipped(name) {
                Some(file) => Ok(file.into()),
                None => Err(Failure::Usage(format!("unknown model `{name}`"))),
            },
        }
    }

    fn named(name: &str) -> Result<Self, models::UnknownModel> {
        match shipped_models().find(|shipped| *shipped == name) {
            Some(shipped) => Ok(PromiseArgument::Shipped(shipped)),
            None => name.parse().map(PromiseArgument::Model),
        }
    }
}

/// The shipped models that are no built-in ones.
fn shipped_models() -> impl Iterator<Item = &'static str> {
    cat::shipped_models().filter(|name| name.parse::<Model>().is_err())
}

/// Reads the names of models, and takes what ends in `.cat` for a file.
#[derive(Clone)]
struct ModelOrFile(PossibleValuesParser);

fn model_or_file_parser() -> impl TypedValueParser<Value = ModelArgument> {
    let gradual = PossibleValue::new("gradual").help("the strongest of them that hold");
    ModelOrFile(PossibleValuesParser::new(promise_values().chain([gradual])))
}

/// The same without `gradual`.
fn promise_parser() -> impl TypedValueParser<Value = PromiseArgument> {
    let one = |argument| match argument {
        ModelArgument::One(promise) => Ok(promise),
        ModelArgument::Gradual => Err("one model is needed"),
    };
    ModelOrFile(PossibleValuesParser::new(promise_values())).try_map(one)
}

fn promise_values() -> impl Iterator<Item = PossibleValue> {
    let shipped = shipped_models().map(|name| PossibleValue::new(name).help("see docs/cat.md"));
    model_values().into_iter().chain(shipped)
}

impl TypedValueParser for ModelOrFile {
    type Value = ModelArgument;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<ModelArgument, clap::Error> {
        if value.as_encoded_bytes().ends_with(b".cat") {
            return Ok(ModelArgument::One(PromiseArgument::File(value.into())));
        }
        let names = self.0.clone().try_map(|name| match &*name.to_ascii_lowercase() {
            "gradual" => Ok(ModelArgument::Gradual),
            name => PromiseArgument::named(name).map(ModelArgument::One),
        });
        names.parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        self.0.possible_values()
    }
}

fn engine_parser() -> impl TypedValueParser<Value = Engine> {
    let rows = Engine::ALL.iter();
    let values = rows.map(|&(_, name, help)| PossibleValue::new(name).help(help));
    PossibleValuesParser::new(values).try_map(|name| name.parse())
}

/// Formats that can be written.
fn format_parser() -> impl TypedValueParser<Value = Format> {
    let written = Format::ALL.iter().filter(|format| format.is_written());
    PossibleValuesParser::new(written.map(|format| format.name())).try_map(|name| name.parse())
}

/// Formats that can be read, which are more than can be written.
fn input_format_parser() -> impl TypedValueParser<Value = Format> {
    let all = Format::ALL.iter();
    let values = all.map(|format| PossibleValue::new(format.name()).help(format.summary()));
    PossibleValuesParser::new(values).try_map(|name| name.parse())
}

fn thin_air_parser() -> impl TypedValueParser<Value = ThinAir> {
    let malformed = PossibleValue::new("malformed").help("bad input");
    let violation = PossibleValue::new("violation").help("a violation of every model");
    PossibleValuesParser::new([malformed, violation]).map(|name| match &*name {
        "violation" => ThinAir::Violation,
        _ => ThinAir::Malformed,
    })
}

fn discarded_amo_parser() -> impl TypedValueParser<Value = DiscardedAmo> {
    let recorded = PossibleValue::new("recorded").help("what the log has last for its address");
    let store = PossibleValue::new("store").help("nothing: it counts as a store");
    PossibleValuesParser::new([recorded, store]).map(|name| match &*name {
        "store" => DiscardedAmo::Store,
        _ => DiscardedAmo::Recorded,
    })
}

fn xlen_parser() -> impl TypedValueParser<Value = Xlen> {
    PossibleValuesParser::new(["32", "64"]).map(|bits| match &*bits {
        "32" => Xlen::Rv32,
        _ => Xlen::Rv64,
    })
}

fn axe_model(name: &str) -> Result<Model, String> {
    if name.eq_ignore_ascii_case("pow") {
        let advice = "axe's POW is not among the models here; the nearest weaker-than-TSO ones are";
        return Err(format!("{advice} wmo and rmo"));
    }
    name.parse().map_err(|unknown: models::UnknownModel| unknown.to_string())
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
    fn optional_values_are_told_from_files() {
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
            [Model::Sc, Model::Tso].map(|model| ModelArgument::One(PromiseArgument::Model(model)))
        );
    }
}
