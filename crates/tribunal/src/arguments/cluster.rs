//! The flags of searches in several processes, each with the help it prints.

use std::path::PathBuf;

use clap::Args;

/// The processes of a search.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct ClusterFlags {
    /// Search with N processes on this machine, to try out --cluster.
    ///
    /// The result does not depend on N. Each process has --jobs threads [default: the cores, divided by
    /// N] and --memory [default: four fifths of free memory, divided by N].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    #[arg(hide_short_help = true)]
    pub(crate) processes: Option<u16>,

    /// Search with the processes listed in FILE, one line host:port for each (docs/cluster.md).
    ///
    /// Start the same command on each host, each with its own --process. Process 0 prints the report;
    /// all processes end with its exit code. --memory may differ between processes; --jobs must be the
    /// same for all. If a process is lost, the others end with exit code 3; with --checkpoint in a
    /// directory that all processes share, --resume continues the search.
    #[arg(long, value_name = "FILE", conflicts_with = "processes", requires_all = ["process", "secret"])]
    #[arg(hide_short_help = true)]
    pub(crate) cluster: Option<PathBuf>,

    /// With --cluster: number of this process: the index of its line in FILE, from 0.
    #[arg(long, value_name = "I", requires = "cluster", hide_short_help = true)]
    pub(crate) process: Option<usize>,

    /// With --cluster: a file with a secret of at least 16 characters, the same for all processes.
    ///
    /// Processes prove to each other that they know the secret; a process that does not is refused.
    /// The data that processes exchange is not encrypted.
    #[arg(long, value_name = "FILE", requires = "cluster", hide_short_help = true)]
    pub(crate) secret: Option<PathBuf>,

    /// The number of a process that --processes has started.
    #[arg(long, value_name = "I", hide = true, conflicts_with_all = ["cluster", "processes"])]
    pub(crate) member: Option<usize>,

    /// The number of processes that --processes has started.
    #[arg(long, value_name = "N", hide = true, requires = "member")]
    pub(crate) members: Option<u16>,
}

impl ClusterFlags {
    /// Whether another process prints the report.
    pub(crate) fn is_follower(&self) -> bool {
        self.member.or(self.process).is_some_and(|process| process > 0)
    }

    /// The number of processes on this machine, as far as is known.
    pub(crate) fn on_this_machine(&self) -> usize {
        self.processes.or(self.members).map_or(1, usize::from)
    }

    /// Whether several processes search.
    pub(crate) fn is_asked_for(&self) -> bool {
        self.processes.is_some() || self.cluster.is_some() || self.member.is_some()
    }
}
