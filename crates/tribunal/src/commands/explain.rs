//! `tribunal explain`: why a trace violates a model, as text, JSON, graph, picture or page.

use std::path::Path;

use evidence::Proof;
use history::History;
use judge::stream::{Judged, Trace};
use judge::{AnyModel, Budget, ShrinkOptions, judge_by_file};
use report::check::{Style, lines, trace_pages};
use report::explain::{self, ExplainedModel, FileRules};

use super::budget;
use super::shrink::shrunk;
use super::subject::{self, Unbroken};
use crate::arguments::{ExplainArguments, Picture, SubjectFlags};
use crate::ending::{Ending, Failure};
use crate::interrupt::Interrupt;
use crate::output;
use crate::progress::Progress;

pub(crate) fn run(arguments: &ExplainArguments, interrupt: &Interrupt) -> Result<Ending, Failure> {
    let out = arguments.out.output.as_deref();
    let asked = arguments.to.or(arguments.json.then_some(Picture::Json));
    let picture = picture(asked, out)?;
    let flags = &arguments.subject;
    let subject = match subject::find(flags, interrupt)? {
        Ok(subject) => subject,
        Err(Unbroken { ending, consistent: Some(judged) }) if picture == Picture::Html => {
            let page = page(&judged, flags, interrupt);
            return output::deliver(&page, out, ending, interrupt);
        }
        Err(Unbroken { ending, consistent: Some(judged) }) if picture == Picture::Json => {
            let style = Style { json: true, ..Style::default() };
            return output::deliver(&lines(&judged, style), out, ending, interrupt);
        }
        Err(unbroken) => return Ok(unbroken.ending),
    };
    let look = Look {
        picture,
        colour: out.is_none() && output::colours(arguments.colour, &std::io::stdout()),
        file: &subject.judged.trace.file,
        trace: subject.judged.trace.number,
    };
    let budget = budget(&flags.limits, interrupt);
    let text = match (picture, arguments.shrink) {
        (Picture::Html, false) => page(&subject.judged, flags, interrupt),
        (Picture::Html, true) => {
            let shrunk = shrunk(&subject, flags, ShrinkOptions::default(), interrupt);
            let Trace { file, number, .. } = &*subject.judged.trace;
            let trace = Trace { file: file.clone(), number: *number, history: shrunk.history };
            page(&subject::judged(trace, &subject.model, &budget), flags, interrupt)
        }
        (_, true) => {
            let shrunk = shrunk(&subject, flags, ShrinkOptions::default(), interrupt);
            render(&shrunk.history, &subject.model, &shrunk.proof, &budget, look)
        }
        (_, false) => render(subject.history(), &subject.model, &subject.proof, &budget, look),
    };
    let ending = if interrupt.happened() { Ending::Interrupted } else { Ending::Violation };
    output::deliver(&text, out, ending, interrupt)
}

/// The page about a judged trace.
fn page(judged: &Judged, flags: &SubjectFlags, interrupt: &Interrupt) -> String {
    let progress = Progress::start(flags.quiet.quiet);
    progress.reporter().say(|| "looking for the smallest part that violates the model".to_owned());
    interrupt.listen(|| ());
    let pages = trace_pages(judged, &flags.limits.limits(), &interrupt.flag());
    pages.into_iter().next().map(|page| page.html).unwrap_or_default()
}

/// How an explanation is printed, and which trace it is about.
#[derive(Clone, Copy)]
struct Look<'a> {
    picture: Picture,
    colour: bool,
    file: &'a str,
    trace: u64,
}

/// The explanation; of a model file with the lines that keep order.
fn render(
    history: &History,
    model: &AnyModel,
    proof: &Proof,
    budget: &Budget,
    look: Look<'_>,
) -> String {
    match model {
        AnyModel::Model(model) => draw(history, ExplainedModel::Model(*model), proof, look),
        AnyModel::File(file) => {
            let judgement = judge_by_file(history, file, budget);
            let (rules, proof) = FileRules::new(history, file, &judgement);
            draw(history, ExplainedModel::File(&rules), &proof, look)
        }
    }
}

fn draw(history: &History, model: ExplainedModel<'_>, proof: &Proof, look: Look<'_>) -> String {
    match look.picture {
        Picture::Text => explain::text(history, model, proof, look.colour),
        Picture::Json => explain::json(history, model, proof, (look.file, look.trace)) + "\n",
        Picture::Dot => explain::dot(history, model, proof),
        Picture::Svg | Picture::Html => explain::svg(history, model, proof),
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
        "html" | "htm" => Ok(Picture::Html),
        "json" => Ok(Picture::Json),
        other => Err(Failure::Usage(format!(
            "cannot write an explanation as .{other}: use .txt, .dot, .svg, .html or .json, or give --to"
        ))),
    }
}
