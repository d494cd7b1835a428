//! `tribunal models`: prints the table of models or the text of a shipped model file, describes a
//! model file, or separates two models.

use std::path::Path;

use hunt::separate;
use judge::ModelFile;
use models::Model;

use crate::arguments::ModelsArguments;
use crate::ending::{Ending, Failure};
use crate::interrupt::Interrupt;
use crate::output;

pub(crate) fn run(arguments: &ModelsArguments, interrupt: &Interrupt) -> Result<Ending, Failure> {
    let as_json = arguments.json.json;
    if let Some(name) = &arguments.name {
        let text = if as_json {
            report::model_file_json(&known(name)?)
        } else if name.ends_with(".cat") {
            report::model_file_text(&known(name)?)
        } else {
            cat::shipped_text(name).ok_or_else(|| unknown(name))?.to_owned()
        };
        return output::deliver(&text, None, Ending::NoViolation, interrupt);
    }
    if let [first, second] = &arguments.separate[..] {
        return separation(arguments, [first, second], interrupt);
    }
    let text = if as_json { report::models_json() } else { report::models_table() };
    output::deliver(&text, None, Ending::NoViolation, interrupt)
}

fn separation(
    arguments: &ModelsArguments,
    names: [&String; 2],
    interrupt: &Interrupt,
) -> Result<Ending, Failure> {
    let comparable = |name: &str| {
        model(name)?.ok_or_else(|| {
            let known: Vec<&str> = cat::shipped_models().collect();
            let known = known.join(", ");
            Failure::Usage(format!(
                "cannot separate `{name}`: it has no model file. Use one of {known}, or a file that \
                 ends in .cat"
            ))
        })
    };
    let first = comparable(names[0])?;
    let second = comparable(names[1])?;
    interrupt.listen(|| {});
    let found = separate(&first, &second, arguments.size.into(), |_| !interrupt.happened());
    let names = names.map(String::as_str);
    let text = if arguments.json.json { found.to_json(names) } else { found.to_text(names) };
    let ending = if interrupt.happened() { Ending::Interrupted } else { Ending::NoViolation };
    output::deliver(&text, None, ending, interrupt)
}

/// A shipped model by its name, or a model file; nothing if no model file has this name.
fn model(name: &str) -> Result<Option<ModelFile>, Failure> {
    if !name.ends_with(".cat") {
        return Ok(ModelFile::shipped(&name.to_ascii_lowercase()));
    }
    let opened = ModelFile::open(Path::new(name));
    opened.map(Some).map_err(|error| Failure::Model(Box::new(error)))
}

fn known(name: &str) -> Result<ModelFile, Failure> {
    model(name)?.ok_or_else(|| unknown(name))
}

fn unknown(name: &str) -> Failure {
    Failure::Usage(match name.parse::<Model>() {
        Ok(_) => format!("`{name}` is built in and has no model file"),
        Err(_) => format!("unknown model file `{name}`; `tribunal models` lists them"),
    })
}
