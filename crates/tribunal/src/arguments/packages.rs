//! The flags of `tribunal completions` and `tribunal man`, and what `--version` prints.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

use super::OutFlag;

/// The version, and what was built, by what.
pub(crate) const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\ncommit: ",
    env!("TRIBUNAL_BUILD_COMMIT"),
    "\ntarget: ",
    env!("TRIBUNAL_BUILD_TARGET"),
    "\nprofile: ",
    env!("TRIBUNAL_BUILD_PROFILE"),
    "\ncompiler: ",
    env!("TRIBUNAL_BUILD_COMPILER"),
);

/// Print what a shell needs to complete commands and flags.
///
/// For bash: tribunal completions bash > /etc/bash_completion.d/tribunal
#[derive(Args, Debug)]
pub(crate) struct CompletionsArguments {
    #[command(flatten)]
    pub(crate) out: OutFlag,

    /// The shell.
    pub(crate) shell: Shell,
}

/// Write a manual page for each command.
///
/// Then `man -l DIR/tribunal-check.1` shows one; in a directory `man1` of your MANPATH, `man
/// tribunal-check` finds it.
#[derive(Args, Debug)]
pub(crate) struct ManArguments {
    /// The directory for the pages; it is made if it does not exist.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
}
