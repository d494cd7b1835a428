//! `tribunal verify --any-processors`: does it hold for any number of processors?
//!
//! What is done about it is decided, carried out and confirmed by crate `parametric`; here flags
//! become a question, and what came of it is printed and kept.

use std::path::Path;

use conform::Options;
use evidence::Verdict;
use explore::{CheckpointFolder, Journal};
use murphi::source::Source;
use parametric::report::Open;
use parametric::{Answer, AnswerReport, EmittedAbstraction, Plan, Question, Unanswered, answer};
use report::any_number::{json, text};
use report::{ci, run};

use super::{PageFile, conclude, deliver, every, in_colours, open, refused, was_stopped};
use crate::arguments::VerifyArguments;
use crate::cases::Cases;
use crate::commands::explore::model;
use crate::ending::{Ending, Failure};
use crate::interrupt::Interrupt;
use crate::output;
use crate::progress::Progress;

pub(super) fn run(
    arguments: &VerifyArguments,
    source: &Source,
    (options, folder): (&Options, Option<CheckpointFolder>),
    cases: &mut Cases,
    interrupt: &Interrupt,
) -> Result<Ending, Failure> {
    let any = &arguments.any;
    let lemmas = any.lemmas.as_deref().map(model::read_source).transpose()?;
    let question = Question {
        source,
        options,
        memory_model: arguments.model.map(Into::into),
        processors: any.processors.as_deref(),
        concrete: any.concrete,
        named: !any.no_name,
        lemmas: lemmas.as_ref(),
    };
    let failure = |why| match why {
        Unanswered::Refused(why) => model::refused(why.refusal(source), arguments.colour),
        Unanswered::NotConfirmed(why) => refused(arguments, source, why),
    };
    let plan = parametric::plan(&question).map_err(|why| failure(Unanswered::Refused(why)))?;
    model::warn(&plan.warnings, source, arguments.quiet.quiet, arguments.colour);
    if any.plan {
        return output::deliver(&format!("{plan}\n"), None, Ending::NoViolation, interrupt);
    }
    let page = PageFile::open(arguments, source, &options.language, interrupt)?;
    let stop = interrupt.stop(arguments.limits.budget);
    let progress = Progress::start(arguments.quiet.quiet);
    let reporter = progress.reporter();
    let mut listener = |what: &str, now: &explore::Progress| {
        reporter.say(|| format!("{what}: {now}"));
    };
    let found = answer(&question, &plan, any.audit, &mut listener, &stop);
    drop(progress);
    let found = found.map_err(failure)?;
    let (is_undecided, is_ended) = match &found.report {
        AnswerReport::Memory(report) => (
            matches!(report.verdict, Verdict::Undecided(_)),
            matches!(report.verdict, Verdict::Undecided(conform::report::Open::Ended(_))),
        ),
        AnswerReport::AnyNumber(report) => (
            matches!(report.verdict, Verdict::Undecided(_)),
            matches!(report.verdict, Verdict::Undecided(Open::Ended(_))),
        ),
    };
    let is_open = is_ended || is_undecided && was_stopped(&stop);
    if let Some(journal) = &options.search.journal {
        // What could not be synced is written all the same.
        let _ = journal.sync();
    }
    conclude(arguments, folder, is_open);
    if let Some(path) = &any.certificate {
        certify(&question, &plan, &found, path, interrupt)?;
    }
    if let Some(path) = &any.emit_abstraction {
        emit(&found.abstractions(&question), path, interrupt)?;
    }
    let report = match &found.report {
        AnswerReport::Memory(report) => {
            page.write(|model, lanes| run::verified(report, model, lanes))?;
            return deliver(arguments, report, &[], cases, interrupt);
        }
        AnswerReport::AnyNumber(report) => report,
    };
    page.write(|model, lanes| {
        run::any_number(report, &found.abstractions(&question), model, lanes)
    })?;
    if cases.are_wanted() {
        cases.add_only(ci::any_number(report));
    }
    let text = match arguments.json.json {
        true => json::object(report) + "\n",
        false => {
            let detail = text::Detail {
                quiet: arguments.quiet.quiet,
                lemmas: any.print_lemmas,
                colour: in_colours(arguments),
            };
            text::report(report, detail)
        }
    };
    let ending = Ending::of(&report.verdict).unless_interrupted(interrupt);
    output::deliver(&text, None, ending, interrupt)
}

/// Opens the folder of checkpoints, if there is to be one, with what was found before.
pub(super) fn folder(
    arguments: &VerifyArguments,
    source: &Source,
    options: &mut Options,
) -> Result<Option<CheckpointFolder>, Failure> {
    let Some(directory) = arguments.checkpoint.as_ref().or(arguments.resume.as_ref()) else {
        return Ok(None);
    };
    let any = &arguments.any;
    let lemmas = any.lemmas.as_deref().map(model::read_source).transpose()?;
    let shown = |value: Option<u64>| value.map_or(String::new(), |value| value.to_string());
    let claims = if arguments.model.is_none() { "invariants" } else { "memory model" };
    let mut identity = conform::identity(source, options);
    let own = [
        ("--any-processors", true.to_string()),
        ("--processors", any.processors.clone().unwrap_or_default()),
        ("claims", claims.to_owned()),
        ("--concrete", shown(any.concrete)),
        ("--no-name", any.no_name.to_string()),
        ("--audit", shown(any.audit)),
        ("--lemmas", lemmas.map_or(String::new(), |one| explore::digest(one.text.as_bytes()))),
    ];
    identity.extend(own.map(|(name, value)| (name.to_owned(), value)));
    let is_begun = arguments.resume.is_some();
    let folder = open(directory, is_begun, &identity)?;
    let journal = match is_begun {
        true => Journal::resume(directory, every(arguments)),
        false => Journal::begin(directory, every(arguments)),
    };
    options.search.journal = Some(journal.map_err(|why| Failure::Usage(why.to_string()))?);
    Ok(Some(folder))
}

/// Writes the certificate.
fn certify(
    question: &Question<'_>,
    plan: &Plan,
    found: &Answer,
    path: &Path,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let bug = |why: String| {
        let advice = "this is a bug in tribunal, please report it with the model";
        Failure::Usage(format!("the certificate cannot be written: {why}; {advice}"))
    };
    match found.certificate(question, plan).map_err(bug)? {
        Some(certificate) => {
            let text = certificate.write().map_err(|error| bug(error.to_string()))?;
            output::save(path, &text, interrupt)
        }
        None => Ok(()),
    }
}

/// Writes the abstractions: the first to this file, the others to numbered files beside it.
fn emit(
    abstractions: &[EmittedAbstraction],
    path: &Path,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    for (number, EmittedAbstraction { text, .. }) in abstractions.iter().enumerate() {
        let mut path = path.to_owned();
        if number > 0 {
            let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
            path.set_file_name(format!("{}-{}.m", stem.unwrap_or_default(), number + 1));
        }
        output::save(&path, text, interrupt)?;
    }
    Ok(())
}
