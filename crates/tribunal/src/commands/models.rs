//! `tribunal models`: the table of models, the text of one that is a file, and what distinguishes two.

use std::path::Path;

use hunt::separate;
use judge::ModelFile;

use crate::arguments::ModelsArguments;
use crate::ending::{Ending, Failure};
use crate::interrupt::Interrupt;
use crate::output;

pub(crate) fn run(arguments: &ModelsArguments, interrupt: &Interrupt) -> Result<Ending, Failure> {
    if let Some(name) = &arguments.name {
        let sentence = || format!("there is no model file `{name}`; `tribunal models` lists them");
        let text = cat::shipped_text(name).ok_or_else(|| Failure::Usage(sentence()))?;
        return output::deliver(text, None, Ending::NoViolation, interrupt);
    }
    if let [first, second] = &arguments.separate[..] {
        return separation(arguments, [first, second], interrupt);
    }
    let text = if arguments.json.json { report::models_json() } else { report::models_table() };
    output::deliver(&text, None, Ending::NoViolation, interrupt)
}

fn separation(
    arguments: &ModelsArguments,
    names: [&String; 2],
    interrupt: &Interrupt,
) -> Result<Ending, Failure> {
    let first = model(names[0])?;
    let second = model(names[1])?;
    interrupt.listen(|| {});
    let found = separate(&first, &second, arguments.size.into(), |_| !interrupt.happened());
    let names = names.map(String::as_str);
    let text = if arguments.json.json { found.to_json(names) } else { found.to_text(names) };
    let ending = if interrupt.happened() { Ending::Interrupted } else { Ending::NoViolation };
    output::deliver(&text, None, ending, interrupt)
}

/// A shipped model by its name, or that of a file.
fn model(name: &str) -> Result<ModelFile, Failure> {
    if name.ends_with(".cat") {
        return ModelFile::open(Path::new(name)).map_err(|error| Failure::Model(Box::new(error)));
    }
    ModelFile::shipped(&name.to_ascii_lowercase()).ok_or_else(|| {
        let known: Vec<&str> = cat::shipped_models().collect();
        let known = known.join(", ");
        Failure::Usage(format!(
            "cannot separate `{name}`: it has no model file. Use one of {known}, or a file that \
             ends in .cat"
        ))
    })
}
