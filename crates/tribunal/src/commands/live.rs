//! `tribunal check --live`: judges traces while they grow, up to the first violation.

use std::sync::Arc;

use evidence::Verdict;
use history::{InputError, TraceReader};
use judge::live::LiveJob;
use judge::stream::Asked;
use models::Model;
use report::check::{Style, Tally, live_lines};
use report::ci;

use super::remark;
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
    let models = models(arguments)?;
    let job = || LiveJob {
        models: models.clone(),
        limits: arguments.limits.limits(),
        thin_air: arguments.input.thin_air,
        stop: Arc::default(),
    };
    let style = Style {
        json: arguments.json.json,
        quiet: arguments.quiet.quiet,
        colour: output::colours(arguments.colour, &std::io::stdout()),
        ..Style::default()
    };
    let (mut output, mut tally) = (Output::stdout(), Tally::default());
    for file in &arguments.files {
        let options = arguments.input.options(file, &arguments.limits.memory);
        let name = shown(file);
        let reader = TraceReader::new(history::open(file)?, name, options);
        let mut answers = job().start(reader);
        interrupt.listen(answers.stopper());
        if interrupt.happened() {
            answers.stopper()();
        }
        while let Some(watched) = answers.wait() {
            tally.add(Asked::Model(watched.finished.model), watched.finished.verdict.bare());
            if cases.are_wanted() {
                cases.add(&ci::watched(name, &watched));
            }
            output.print(&live_lines(name, &watched, style)).and_then(|()| output.flush())?;
        }
        if interrupt.happened() {
            remark(&format!("interrupted; {}", tally.summary()));
            return Ok(Ending::Interrupted);
        }
        let events = answers.events()?;
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
