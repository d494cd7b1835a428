//! The flags of `tribunal completions` and `tribunal man`, and what `--version` prints.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

use super::OutFlag;

/// The version, with the commit, the target, the profile and the compiler of the build.
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

/// Print a script with which a shell completes commands and flags.
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
/// `man -l DIR/tribunal-check.1` then shows the page of `check`. If DIR is a directory `man1` of your
/// MANPATH, `man tribunal-check` finds it.
#[derive(Args, Debug)]
pub(crate) struct ManArguments {
    /// The directory for the pages; it is created if it does not exist.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
}
