//! The commands, one file each.

pub(crate) mod axe;
pub(crate) mod certify;
pub(crate) mod check;
mod cluster;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod explain;
pub(crate) mod explore;
pub(crate) mod generate;
pub(crate) mod hunt;
pub(crate) mod litmus;
mod live;
pub(crate) mod man;
pub(crate) mod models;
mod record;
pub(crate) mod run;
pub(crate) mod shrink;
mod subject;
pub(crate) mod verify;

use std::io::Write;

use judge::Budget;
use report::count;

use crate::arguments::LimitFlags;
use crate::interrupt::Interrupt;

/// Prints a remark on standard error; a failure to do so is ignored.
fn remark(sentence: &str) {
    let _ = writeln!(std::io::stderr(), "tribunal: {sentence}");
}

/// The budget of one judgement, from now on.
fn budget(limits: &LimitFlags, interrupt: &Interrupt) -> Budget {
    limits.limits().budget(&interrupt.flag())
}
