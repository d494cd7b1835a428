//! The `tribunal` command.

mod arguments;
mod cases;
mod commands;
mod ending;
mod input;
mod interrupt;
mod kind;
mod output;
mod progress;
mod units;

use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

use arguments::{Arguments, AxeCommand, Colour, ColourFlag, Command, Given};
use ending::{Ending, Failure};
use interrupt::Interrupt;

/// Proofs for any number of processors allocate and free many syntax trees; the allocator of the C
/// library took a quarter of their time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    end_on_panic();
    let matches = Arguments::command().get_matches_from(arguments::command_line());
    let arguments = Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let interrupt = Interrupt::install();
    let ended = match arguments::refuse_without_effect(&arguments, &matches) {
        Ok(()) => run(arguments.command, &Given::of(&matches), &interrupt),
        Err(why) => Err(Failure::Usage(why.to_string())),
    };
    match ended {
        Ok(ending) => ending.into(),
        Err(failure) => {
            let flag = ColourFlag { color: Colour::Auto };
            let colour = output::colours(flag, &std::io::stderr());
            let _ = std::io::stderr().write_all(failure.render(colour).as_bytes());
            failure.ending().into()
        }
    }
}

fn run(command: Command, given: &Given<'_>, interrupt: &Interrupt) -> Result<Ending, Failure> {
    match command {
        Command::Check(arguments) => commands::check::run(arguments, interrupt),
        Command::Certify(arguments) => commands::certify::run(arguments, given, interrupt),
        Command::Shrink(arguments) => commands::shrink::run(&arguments, interrupt),
        Command::Explain(arguments) => commands::explain::run(&arguments, interrupt),
        Command::Models(arguments) => commands::models::run(&arguments, interrupt),
        Command::Convert(arguments) => commands::convert::run(&arguments, interrupt),
        Command::Explore(arguments) => commands::explore::run(&arguments, interrupt),
        Command::Verify(arguments) => commands::verify::run(&arguments, interrupt),
        Command::Hunt(arguments) => commands::hunt::run(&arguments, interrupt),
        Command::Generate(command) => commands::generate::run(&command, interrupt),
        Command::Run(arguments) => commands::run::run(&arguments, interrupt),
        Command::Litmus(arguments) => commands::litmus::run(&arguments, interrupt),
        Command::Completions(arguments) => commands::completions::run(&arguments, interrupt),
        Command::Man(arguments) => commands::man::run(&arguments, interrupt),
        Command::Axe(AxeCommand::Check(arguments)) => {
            commands::axe::check(&arguments.axe, interrupt)
        }
        Command::Axe(AxeCommand::Test(arguments)) => commands::axe::test(&arguments, interrupt),
    }
}

/// A panic in any thread ends the process: other threads would wait for its answer forever.
fn end_on_panic() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        report(panic);
        std::process::exit(101);
    }));
}
