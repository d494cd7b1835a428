//! Flags that several commands share, each declared once.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use history::{CommitOptions, DiscardedAmo, Format, Misaligned, ThinAir, Xlen};
use judge::Limits;

use super::SingleModel;
use super::values::{
    discarded_amo_parser, input_format_parser, misaligned_parser, single_model_parser,
    thin_air_parser, xlen_parser,
};
use crate::units;

/// The heading of flags that belong to no group: clap keeps the heading of a group for all flags
/// after it.
const NO_HEADING: Option<&str> = None;

/// One trace and one model, for the commands that look at a single violation.
#[derive(Args, Debug)]
pub(crate) struct SubjectFlags {
    /// Memory model: a name, or a model file (.cat).
    #[arg(short, long, value_name = "MODEL", required = true)]
    #[arg(value_parser = single_model_parser(), ignore_case = true)]
    pub(crate) model: SingleModel,

    /// Number of the trace in the file, from 1 [default: the first that violates the model].
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
    /// Format of the traces [default: by the file name: jsonl, spike for .log, else text].
    #[arg(long, visible_alias = "from", value_name = "FORMAT")]
    #[arg(value_parser = input_format_parser())]
    pub(crate) format: Option<Format>,

    /// How to treat a read of a value that was never written.
    #[arg(long, value_name = "WHAT", default_value = "malformed", value_parser = thin_air_parser())]
    #[arg(hide_short_help = true)]
    pub(crate) thin_air: ThinAir,

    /// How to treat a misaligned load or store.
    ///
    /// With `split`, it becomes one access for each byte, from the lowest address on. Read-modify-writes
    /// and pairs of load-reserved and store-conditional always remain one access.
    #[arg(long, value_name = "HOW", default_value = "atomic", value_parser = misaligned_parser())]
    #[arg(hide_short_help = true)]
    pub(crate) misaligned: Misaligned,

    #[command(flatten)]
    pub(crate) commits: CommitFlags,
}

/// How logs of commits are read.
#[derive(Args, Debug, Clone, Copy)]
#[command(next_help_heading = "Commit logs")]
pub(crate) struct CommitFlags {
    /// Leave out memory that only one hart accesses, or that is never written.
    ///
    /// The verdict stays the same: accesses that are left out are checked while reading.
    #[arg(long, hide_short_help = true)]
    pub(crate) shared_only: bool,

    /// Keep the events of the first hart before a second hart starts.
    ///
    /// By default the events of the first hart up to its last full fence in that phase are dropped, and
    /// the values that they stored become the initial memory.
    #[arg(long, hide_short_help = true)]
    pub(crate) keep_prefix: bool,

    /// How to treat an AMO whose result is discarded (written to x0) [default: report an error].
    #[arg(long, value_name = "WHAT", value_parser = discarded_amo_parser(), hide_short_help = true)]
    pub(crate) discarded_amo: Option<DiscardedAmo>,

    /// Assume that results of unknown instructions depend on no earlier load.
    #[arg(long, hide_short_help = true)]
    pub(crate) skip_unknown: bool,

    /// Register width in bits [default: the width of the program counters in the log].
    #[arg(long, value_name = "BITS", value_parser = xlen_parser(), hide_short_help = true)]
    pub(crate) xlen: Option<Xlen>,
}

impl CommitFlags {
    /// The options of the library.
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

/// The limits of a check.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = NO_HEADING)]
pub(crate) struct LimitFlags {
    /// Time limit for each trace and model (500ms, 60s, 5m, 1h); beyond it the verdict is undecided.
    #[arg(long, value_name = "TIME", value_parser = units::time)]
    pub(crate) budget: Option<Duration>,

    #[command(flatten)]
    pub(crate) memory: MemoryFlag,
}

impl LimitFlags {
    /// The limits of the library.
    pub(crate) fn limits(&self) -> Limits {
        Limits { time: self.budget, memory: self.memory.memory }
    }
}

/// The memory limit of a trace and its tables.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = NO_HEADING)]
pub(crate) struct MemoryFlag {
    /// Memory limit for each trace, and for the tables of each check (512MiB, 8GiB).
    #[arg(long, value_name = "SIZE", value_parser = units::size, default_value = "8GiB")]
    pub(crate) memory: Option<usize>,
}

/// The number of traces that are judged at the same time.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = NO_HEADING)]
pub(crate) struct JobFlag {
    /// Number of worker threads [default: all cores]; the output does not depend on it.
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

/// The time limit of a command that is a target.
#[derive(Args, Debug, Clone, Copy)]
#[command(next_help_heading = NO_HEADING)]
pub(crate) struct TimeoutFlag {
    /// With exec: time limit for the command to finish all runs of one program.
    #[arg(long, value_name = "TIME", value_parser = units::time, default_value = "10s")]
    pub(crate) timeout: Duration,
}

/// JSON output.
#[derive(Args, Debug, Clone, Copy)]
#[command(next_help_heading = NO_HEADING)]
pub(crate) struct JsonFlag {
    /// Print JSON, one object per line (fields: docs/interface.md).
    #[arg(long)]
    pub(crate) json: bool,
}

impl JsonFlag {
    /// The format of traces.
    pub(crate) fn trace_format(self) -> Format {
        if self.json { Format::JsonLines } else { Format::Text }
    }
}

/// Output of results only.
#[derive(Args, Debug, Clone, Copy)]
#[command(next_help_heading = NO_HEADING)]
pub(crate) struct QuietFlag {
    /// Print results only: no explanations, progress or remarks.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Colours of the output.
#[derive(Args, Debug, Clone, Copy)]
#[command(next_help_heading = NO_HEADING)]
pub(crate) struct ColourFlag {
    /// When to use colours; the variable NO_COLOR is respected.
    #[arg(long, value_name = "WHEN", default_value = "auto", hide_short_help = true)]
    pub(crate) color: Colour,
}

/// Output to a file.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = NO_HEADING)]
pub(crate) struct OutFlag {
    /// Write to this file instead of standard output.
    #[arg(short, long, value_name = "OUT", alias = "out")]
    pub(crate) output: Option<PathBuf>,
}

/// When to use colours.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Colour {
    /// Only on a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}
