//! `tribunal completions`: what a shell needs to complete commands, flags and their values.

use clap::CommandFactory;

use crate::arguments::{Arguments, CompletionsArguments};
use crate::ending::{Ending, Failure};
use crate::interrupt::Interrupt;
use crate::output;

pub(crate) fn run(
    arguments: &CompletionsArguments,
    interrupt: &Interrupt,
) -> Result<Ending, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "tribunal", &mut script);
    let script = String::from_utf8_lossy(&script);
    output::deliver(&script, arguments.out.output.as_deref(), Ending::NoViolation, interrupt)
}
