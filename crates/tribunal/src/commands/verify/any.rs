//! `tribunal verify --any-processors`: does it hold for any number of processors?
//!
//! What is done about it is decided and carried out by crate `parametric`; here flags become a
//! question, and what came of it a report.

use std::path::Path;

use murphi::check;
use murphi::diagnostic::Diagnostic;
use murphi::source::Source;
use parametric::{Audit, End, Found, Outcome, Plan, Shown};
use refine::Unrunnable;
use report::any_number::{self as told, json, text};

use super::stop::Stop;
use super::{Question, no_start, refused};
use crate::commands::explore::model;
use crate::commands::remark;
use crate::ending::{Ending, Failure};
use crate::interrupt::Interrupt;
use crate::output::{self, Saved};
use crate::progress::Progress;

mod tell;

pub(super) fn run(question: &Question<'_>, interrupt: &Interrupt) -> Result<Ending, Failure> {
    let any = &question.arguments.any;
    let lemmas = any.lemmas.as_deref().map(model::read_source).transpose()?;
    let asked = parametric::Question {
        source: question.source,
        options: question.options,
        memory_model: question.arguments.model.map(super::memory_model),
        processors: any.processors.as_deref(),
        concrete: any.concrete,
        named: !any.no_name,
        lemmas: lemmas.as_ref(),
    };
    let plan = match parametric::plan(&asked) {
        Ok(plan) => plan,
        Err(why) => return unsuitable(question, why, interrupt),
    };
    warn(question, &plan.warnings);
    if any.plan {
        return output::deliver(&format!("{plan}\n"), None, Ending::Kept, interrupt);
    }
    let stop = Stop::new(question.arguments.limits.budget, interrupt);
    let progress = Progress::start(question.arguments.quiet.quiet);
    let teller = progress.teller();
    let mut listener = |what: &str, now: &explore::Progress| {
        teller.say(|| format!("{what}: {now}"));
    };
    let outcome = parametric::carry_out(&asked, &plan, &mut listener, stop.flag());
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(why) => {
            drop(progress);
            return unsuitable(question, why, interrupt);
        }
    };
    let audit = any
        .audit
        .filter(|_| outcome.holds(&plan))
        .map(|steps| parametric::audit(&asked, &outcome, steps, &mut listener, stop.flag()));
    drop(progress);
    if !matches!(audit, Some(Err(_))) {
        certify(&asked, &plan, &outcome, any.certificate.as_deref(), interrupt)?;
    }
    report(question, &plan, &outcome, audit, stop.timed_out(), interrupt)
}

/// Writes what the verdict rests on, where that is asked for.
fn certify(
    asked: &parametric::Question<'_>,
    plan: &Plan,
    outcome: &Outcome,
    path: Option<&Path>,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    let bug = |why: String| {
        let advice = "this is a bug in tribunal, please report it with the model";
        Failure::Usage(format!("the certificate cannot be made: {why}; {advice}"))
    };
    let Some(certificate) = parametric::certificate(asked, plan, outcome).map_err(bug)? else {
        return Ok(());
    };
    let mut file = Saved::create(path, interrupt)?;
    file.write(certificate.write().map_err(|error| bug(error.to_string()))?.as_bytes())?;
    file.finish()
}

/// Reports what came of it.
fn report(
    question: &Question<'_>,
    plan: &Plan,
    outcome: &Outcome,
    audit: Option<Result<Audit, String>>,
    timed_out: bool,
    interrupt: &Interrupt,
) -> Result<Ending, Failure> {
    let shown = &outcome.shown;
    let told = match &outcome.end {
        End::NoStart if outcome.open.is_empty() => return Err(no_start(question.source)),
        End::NoStart => tell::not_established(question, tell::asked(question, shown), outcome),
        End::Found(Found::Memory { source, options, verification }) => {
            let constants = options.language.constants.clone();
            let language = check::Options { constants, ..question.language.clone() };
            let again = Question { source, language: &language, options, ..*question };
            let tale = super::tell::tell(&again, verification, timed_out)?;
            return super::deliver(question, tale.verification, Vec::new(), interrupt);
        }
        End::Found(Found::Own { processors, interpreter, exploration }) => {
            let run = explore::report::told(interpreter, exploration, false);
            let run = run.map_err(super::tell::contradiction)?;
            tell::violation(question, shown, *processors, run)
        }
        End::Unconfirmed { processors } => tell::unconfirmed(question, shown, *processors),
        End::Claims => {
            emit(question, shown, interrupt)?;
            let mut told = tell::tell(question, plan, outcome, timed_out)?;
            if let Some(audit) = audit {
                tell::audit(&mut told, audit);
            }
            told
        }
    };
    deliver(question, &told, interrupt)
}

/// Says what may be wrong with the protocol.
fn warn(question: &Question<'_>, warnings: &[Diagnostic]) {
    if !question.arguments.quiet.quiet {
        let colour = output::colours(question.arguments.colour, &std::io::stderr());
        model::complain(warnings, question.source, colour);
    }
}

/// Says what is wrong with a text.
fn complain(question: &Question<'_>, source: &Source, problems: &[Diagnostic]) -> Ending {
    let colour = output::colours(question.arguments.colour, &std::io::stderr());
    model::complain(problems, source, colour);
    remark(&model::verdict_on(problems, source));
    Ending::Unasked
}

/// Says why the protocol cannot be abstracted.
fn unsuitable(
    question: &Question<'_>,
    why: parametric::Failure,
    interrupt: &Interrupt,
) -> Result<Ending, Failure> {
    match why {
        parametric::Failure::Composition(why) => refused(question, why, interrupt),
        parametric::Failure::Unsuitable(source, problems)
        | parametric::Failure::Lemmas(source, problems) => {
            Ok(complain(question, &source, &problems))
        }
        parametric::Failure::Unrunnable(Unrunnable::Refused(source, problems)) => {
            let colour = output::colours(question.arguments.colour, &std::io::stderr());
            model::complain(&problems, &source, colour);
            remark("an instance of the protocol, or its abstraction, is refused");
            Ok(Ending::Unasked)
        }
        parametric::Failure::Unrunnable(Unrunnable::TooLarge) => {
            let sentence = "a state is too large; make the model smaller";
            Err(Failure::Usage(format!("{}: {sentence}", question.source.name)))
        }
    }
}

/// Writes the abstractions.
fn emit(question: &Question<'_>, shown: &[Shown], interrupt: &Interrupt) -> Result<(), Failure> {
    let Some(path) = &question.arguments.any.emit_abstraction else { return Ok(()) };
    let abstracted =
        shown.iter().filter_map(|shown| Some((&shown.claim, shown.found.abstraction.as_ref()?)));
    for (number, (claim, abstraction)) in abstracted.enumerate() {
        let text = parametric::emit(abstraction, &claim.prepared, &question.source.name);
        let mut path = path.clone();
        if number > 0 {
            let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
            path.set_file_name(format!("{}-{}.m", stem.unwrap_or_default(), number + 1));
        }
        let mut file = Saved::create(&path, interrupt)?;
        file.write(text.as_bytes())?;
        file.finish()?;
    }
    Ok(())
}

fn deliver(
    question: &Question<'_>,
    shown: &told::AnyNumber,
    interrupt: &Interrupt,
) -> Result<Ending, Failure> {
    let arguments = question.arguments;
    let report = match arguments.json.json {
        true => json::object(shown) + "\n",
        false => text::report(shown, arguments.quiet.quiet, question.colour),
    };
    let ending = match shown.verdict {
        told::Verdict::Verified => Ending::Kept,
        told::Verdict::Violation => Ending::Broken,
        told::Verdict::Undecided if interrupt.happened() => Ending::Interrupted,
        told::Verdict::Undecided => Ending::Undecided,
    };
    output::deliver(&report, None, ending, interrupt)
}
