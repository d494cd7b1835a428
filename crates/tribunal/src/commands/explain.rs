//! `tribunal explain`: why a trace violates a model, as text, graph or picture.

use std::path::Path;

use evidence::Proof;
use history::History;
use judge::{Budget, Promise, ShrinkOptions, judge_by_file};
use report::explain::{self, FileRules, Told};

use super::shrink::shrunk;
use super::{budget, subject};
use crate::arguments::{ExplainArguments, Picture};
use crate::ending::{Ending, Failure};
use crate::interrupt::Interrupt;
use crate::output;

pub(crate) fn run(arguments: &ExplainArguments, interrupt: &Interrupt) -> Result<Ending, Failure> {
    let out = arguments.out.output.as_deref();
    let picture = picture(arguments.to, out)?;
    let flags = &arguments.subject;
    let subject = match subject::find(flags, interrupt)? {
        Ok(subject) => subject,
        Err(ending) => return Ok(ending),
    };
    let colour = out.is_none() && output::colours(arguments.colour, &std::io::stdout());
    let budget = budget(&flags.limits, interrupt);
    let text = if arguments.shrink {
        let shrunk = shrunk(&subject, flags, ShrinkOptions::default(), interrupt);
        told(&shrunk.history, &subject.model, &shrunk.proof, &budget, picture, colour)
    } else {
        told(&subject.history, &subject.model, &subject.proof, &budget, picture, colour)
    };
    let ending = if interrupt.happened() { Ending::Interrupted } else { Ending::Broken };
    output::deliver(&text, out, ending, interrupt)
}

/// The explanation; of a model file with the lines that keep order.
fn told(
    history: &History,
    model: &Promise,
    proof: &Proof,
    budget: &Budget,
    picture: Picture,
    colour: bool,
) -> String {
    match model {
        Promise::Model(model) => draw(history, Told::Model(*model), proof, picture, colour),
        Promise::File(file) => {
            let judgement = judge_by_file(history, file, budget);
            let (rules, proof) = FileRules::new(history, file, &judgement);
            draw(history, Told::File(&rules), &proof, picture, colour)
        }
    }
}

fn draw(
    history: &History,
    model: Told<'_>,
    proof: &Proof,
    picture: Picture,
    colour: bool,
) -> String {
    match picture {
        Picture::Text => explain::text(history, model, proof, colour),
        Picture::Dot => explain::dot(history, model, proof),
        Picture::Svg => explain::svg(history, model, proof),
    }
}

/// What to draw: as asked, else as the name of the file says.
fn picture(asked: Option<Picture>, out: Option<&Path>) -> Result<Picture, Failure> {
    if let Some(picture) = asked {
        return Ok(picture);
    }
    let extension = out.and_then(Path::extension).and_then(|e| e.to_str()).unwrap_or("txt");
    match &*extension.to_ascii_lowercase() {
        "txt" => Ok(Picture::Text),
        "dot" | "gv" => Ok(Picture::Dot),
        "svg" => Ok(Picture::Svg),
        "html" | "htm" => Err(Failure::Usage(
            "HTML explanations are not there yet; use a .svg file, which any browser shows".into(),
        )),
        other => Err(Failure::Usage(format!(
            "no explanation is written as .{other}; use .txt, .dot or .svg, or say --to"
        ))),
    }
}
