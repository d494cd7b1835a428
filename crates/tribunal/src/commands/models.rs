//! `tribunal models`: the table of models.

use crate::arguments::ModelsArguments;
use crate::ending::{Ending, Failure};
use crate::interrupt::Interrupt;
use crate::output;

pub(crate) fn run(arguments: &ModelsArguments, interrupt: &Interrupt) -> Result<Ending, Failure> {
    let text = if arguments.json.json { report::models_json() } else { report::models_table() };
    output::deliver(&text, None, Ending::Kept, interrupt)
}
