//! `tribunal explain`: explains why a trace violates a model, as text, JSON, graph, picture or
//! page.

use std::path::Path;

use evidence::Proof;
use history::History;
use judge::stream::{Judged, Trace};
use judge::{AnyModel, Budget, Limits, ShrinkOptions, judge_by_file};
use report::check::{Style, lines, trace_pages};
use report::explain::{self, ExplainedModel, FileRules};

use super::budget;
use super::shrink::shrunk;
use super::subject::{self, NoViolationFound};
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
        Err(NoViolationFound { ending, consistent: Some(judged) }) if picture == Picture::Html => {
            let page = page(&judged, flags, interrupt);
            return output::deliver(&page, out, ending, interrupt);
        }
        Err(NoViolationFound { ending, consistent: Some(judged) }) if picture == Picture::Json => {
            let style = Style { json: true, ..Style::default() };
            return output::deliver(&lines(&judged, style), out, ending, interrupt);
        }
        Err(unbroken) => return Ok(unbroken.ending),
    };
    let options = ExplanationOptions {
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
            render(&shrunk.history, &subject.model, &shrunk.proof, &budget, options)
        }
        (_, false) => render(subject.history(), &subject.model, &subject.proof, &budget, options),
    };
    let ending = if interrupt.happened() { Ending::Interrupted } else { Ending::Violation };
    output::deliver(&text, out, ending, interrupt)
}

/// The page about a judged trace.
fn page(judged: &Judged, flags: &SubjectFlags, interrupt: &Interrupt) -> String {
    let progress = Progress::start(flags.quiet.quiet);
    progress.reporter().say(|| "looking for the smallest part that violates the model".to_owned());
    interrupt.listen(|| ());
    let limits = flags.limits.limits();
    let time = limits.time.map(|time| time.saturating_sub(judged.time));
    let pages = trace_pages(judged, &Limits { time, ..limits }, &interrupt.flag());
    pages.into_iter().next().map(|page| page.html).unwrap_or_default()
}

/// The format of an explanation, and the trace that it is about.
#[derive(Clone, Copy)]
struct ExplanationOptions<'a> {
    picture: Picture,
    colour: bool,
    file: &'a str,
    trace: u64,
}

/// Writes the explanation; for a model file, with the lines that order events.
fn render(
    history: &History,
    model: &AnyModel,
    proof: &Proof,
    budget: &Budget,
    options: ExplanationOptions<'_>,
) -> String {
    match model {
        AnyModel::Model(model) => draw(history, ExplainedModel::Model(*model), proof, options),
        AnyModel::File(file) => {
            let judgement = judge_by_file(history, file, budget);
            let (rules, proof) = FileRules::new(history, file, &judgement);
            draw(history, ExplainedModel::File(&rules), &proof, options)
        }
    }
}

fn draw(
    history: &History,
    model: ExplainedModel<'_>,
    proof: &Proof,
    options: ExplanationOptions<'_>,
) -> String {
    match options.picture {
        Picture::Text => explain::text(history, model, proof, options.colour),
        Picture::Json => explain::json(history, model, proof, (options.file, options.trace)) + "\n",
        Picture::Dot => explain::dot(history, model, proof),
        Picture::Svg | Picture::Html => explain::svg(history, model, proof),
    }
}

/// The format: the requested one, or else by the ending of the file name.
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
