//! `tribunal check --live`: judges traces while they grow, up to the first violation.

use evidence::Verdict;
use history::{InputError, TraceReader};
use judge::live::LiveJob;
use judge::stream::Asked;
use models::Model;
use report::check::{Style, Tally, live_lines};
use report::ci;

use crate::arguments::{CheckArguments, ModelArgument, SingleModel};
use crate::cases::Cases;
use crate::ending::{Ending, Failure};
use crate::input::shown;
use crate::interrupt::Interrupt;
use crate::output::{self, Output};

pub(crate) fn run(
    arguments: &CheckArguments,
    cases: &mut Cases,
    interrupt: &Interrupt,
) -> Result<Ending, Failure> {
    let watch = LiveJob {
        models: models(arguments)?,
        limits: arguments.limits.limits(),
        thin_air: arguments.input.thin_air,
        stop: interrupt.flag(),
    };
    let style = Style {
        json: arguments.json.json,
        quiet: arguments.quiet.quiet,
        colour: output::colours(arguments.colour, &std::io::stdout()),
        ..Style::default()
    };
    let (mut output, mut tally, mut printed) = (Output::stdout(), Tally::default(), Ok(()));
    for file in &arguments.files {
        let options = arguments.input.options(file, &arguments.limits.memory);
        let name = shown(file);
        let mut reader = TraceReader::new(history::open(file)?, name, options);
        let events = watch.follow(&mut reader, |watched| {
            tally.add(Asked::Model(watched.finished.model), watched.finished.verdict.bare());
            if cases.are_wanted() {
                cases.add(&ci::watched(name, &watched));
            }
            let lines = live_lines(name, &watched, style);
            if printed.is_ok() {
                printed = output.print(&lines).and_then(|()| output.flush());
            }
        })?;
        std::mem::replace(&mut printed, Ok(()))?;
        if matches!(tally.verdict(), Verdict::Broken(())) {
            break;
        }
        if events == 0 && !arguments.allow_empty {
            return Err(InputError::no_events(name).into());
        }
    }
    Ok(Ending::of(&tally.verdict()))
}

/// The models; only built-in ones are supported.
fn models(arguments: &CheckArguments) -> Result<Vec<Model>, Failure> {
    let model = |model: &ModelArgument| match model {
        ModelArgument::One(SingleModel::Model(model)) => Ok(*model),
        ModelArgument::Gradual | ModelArgument::One(_) => {
            let sentence = "--live supports the built-in models only; name one of them, or check \
                            without --live";
            Err(Failure::Usage(sentence.to_owned()))
        }
    };
    let mut models = Vec::new();
    for model in arguments.model.iter().map(model) {
        let model = model?;
        if !models.contains(&model) {
            models.push(model);
        }
    }
    Ok(models)
}
