//! `tribunal man`: a manual page for each command, made from the help of its flags.

use std::path::Path;

use clap::CommandFactory;
use clap_mangen::Man;

use crate::arguments::{Arguments, ManArguments};
use crate::ending::{Ending, Failure};
use crate::interrupt::Interrupt;
use crate::output::Saved;

pub(crate) fn run(arguments: &ManArguments, interrupt: &Interrupt) -> Result<Ending, Failure> {
    let directory = &arguments.directory;
    std::fs::create_dir_all(directory).map_err(|error| Failure::File {
        name: directory.display().to_string(),
        action: "create",
        error,
    })?;
    let mut command = Arguments::command().disable_help_subcommand(true);
    command.build();
    let mut commands = vec![command];
    // Subcommands are added to the list; there are few.
    while let Some(command) = commands.pop() {
        commands.extend(command.get_subcommands().filter(|below| !below.is_hide_set()).cloned());
        write(directory, command, interrupt)?;
    }
    Ok(Ending::NoViolation)
}

/// Writes the page of one command: tribunal-generate-trace.1.
fn write(directory: &Path, command: clap::Command, interrupt: &Interrupt) -> Result<(), Failure> {
    let man = Man::new(command.version(env!("CARGO_PKG_VERSION")));
    let mut file = Saved::create(&directory.join(man.get_filename()), interrupt)?;
    let rendered = man.render(&mut file.writer());
    rendered.map_err(|error| file.failure(error))?;
    file.finish()
}
