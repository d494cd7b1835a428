//! `tribunal models`: the table of models, or the text of one that is a file.

use crate::arguments::ModelsArguments;
use crate::ending::{Ending, Failure};
use crate::interrupt::Interrupt;
use crate::output;

pub(crate) fn run(arguments: &ModelsArguments, interrupt: &Interrupt) -> Result<Ending, Failure> {
    if let Some(name) = &arguments.name {
        let sentence = || format!("no model file is called `{name}`; `tribunal models` lists them");
        let text = cat::shipped_text(name).ok_or_else(|| Failure::Usage(sentence()))?;
        return output::deliver(text, None, Ending::Kept, interrupt);
    }
    let text = if arguments.json.json { report::models_json() } else { report::models_table() };
    output::deliver(&text, None, Ending::Kept, interrupt)
}
