//! The flags of commands that write an HTML page about a protocol.

use std::path::PathBuf;

use clap::Args;
use report::run::Lanes;

/// The page about the result.
#[derive(Args, Debug, Clone)]
pub(crate) struct PageFlags {
    /// Write the result as an HTML page to this file: the counterexample as a message-sequence chart
    /// to step through, and how often each rule fired.
    ///
    /// The page is one file that opens from disk (docs/reports.md). It states which type it took for
    /// the processors and which variables for messages; --lanes and --messages override this choice.
    #[arg(long, value_name = "FILE.html", conflicts_with = "replay")]
    pub(crate) report: Option<PathBuf>,

    /// With --report: the type whose members are the lanes of the chart [default: the one that indexes
    /// most variables].
    #[arg(long, value_name = "TYPE", requires = "report", hide_short_help = true)]
    pub(crate) lanes: Option<String>,

    /// With --report: the variables that hold messages, comma-separated [default: those that can be
    /// empty and that more than one lane uses].
    #[arg(
        long,
        value_name = "VARIABLE",
        requires = "report",
        hide_short_help = true,
        value_delimiter = ','
    )]
    pub(crate) messages: Vec<String>,
}

impl PageFlags {
    /// The choice of lanes and messages, for the library.
    pub(crate) fn lanes(&self) -> Lanes {
        Lanes { processors: self.lanes.clone(), messages: self.messages.clone() }
    }
}
