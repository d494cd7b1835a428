//! `tribunal hunt`: a campaign against a target, and the folder it leaves.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

use hunt::{Beat, Campaign, Folder, FolderError, Kept, Ledger, Leftovers, Plan, Summary, Supply};
use serde_json::{Map, Value, json};
use stress::{TargetError, TargetName};

use super::remark;
use crate::arguments::{EventFlags, HuntArguments, ProtocolFlags};
use crate::ending::{Ending, Failure};
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::progress::{Progress, Teller};

mod target;

use target::Quarry;

pub(crate) fn run(arguments: &HuntArguments, interrupt: &Interrupt) -> Result<Ending, Failure> {
    let Quarry { name, abilities, supply } = match target::find(arguments)? {
        Ok(quarry) => quarry,
        Err(ending) => return Ok(ending),
    };
    let plan = Plan::new(arguments.wishes(), abilities)
        .map_err(|error| Failure::Usage(error.to_string()))?;
    let path = arguments.out.clone().unwrap_or_else(|| default_folder(&name, arguments));
    let folder = Folder::open(&path, options(arguments, &name)).map_err(refused)?;
    let ledger = Ledger::new(folder, arguments.model, &name, arguments.seed).map_err(refused)?;
    let campaign = Campaign {
        model: arguments.model,
        target: name,
        plan,
        first: ledger.state().next,
        until: arguments.tests,
        jobs: arguments.jobs.count(),
    };
    let mut session = Session {
        arguments,
        interrupt,
        campaign: &campaign,
        ledger,
        output: Output::stdout(),
        started: Instant::now(),
        failure: None,
    };
    session.greet();
    session.hunt(&supply)?;
    session.finish()
}

/// So many tests that the target cannot run, and no other, are enough.
const PATIENCE: u64 = 100;

/// A hunt under way.
struct Session<'a> {
    arguments: &'a HuntArguments,
    interrupt: &'a Interrupt,
    campaign: &'a Campaign,
    ledger: Ledger,
    output: Output,
    started: Instant,
    failure: Option<Failure>,
}

impl Session<'_> {
    /// Says if this goes on with an earlier hunt.
    fn greet(&self) {
        let state = self.ledger.state();
        if state.next > 0 && !self.arguments.quiet.quiet {
            let (folder, kept) = (self.ledger.folder().path().display(), self.ledger.kept().len());
            remark(&format!(
                "going on with {folder} at test {} ({kept} findings so far)",
                state.next
            ));
        }
    }

    fn hunt(&mut self, supply: &Supply) -> Result<(), Failure> {
        self.interrupt.listen(|| ());
        let progress = Progress::start(self.arguments.quiet.quiet);
        let teller = progress.teller();
        let known = self.ledger.known();
        let campaign = self.campaign;
        let ended = campaign.run(supply, &known, &mut |beat| {
            let received = match beat {
                Beat::Settled(settled) => match self.ledger.enter(*settled, &known) {
                    Ok(new) => self.report(&new, &progress),
                    Err(error) => Err(refused(error)),
                },
                Beat::Pulse => self.ledger.tick().map(|()| false).map_err(refused),
            };
            self.tell(&teller);
            match received {
                Err(failure) => {
                    self.failure.get_or_insert(failure);
                    ControlFlow::Break(Leftovers::Drop)
                }
                Ok(_) if self.nothing_suits() => ControlFlow::Break(Leftovers::Drop),
                Ok(true) if self.arguments.first => ControlFlow::Break(Leftovers::Drop),
                Ok(_) if self.is_over() => ControlFlow::Break(Leftovers::Keep),
                Ok(_) => ControlFlow::Continue(()),
            }
        });
        drop(progress);
        ended.map_err(unavailable)
    }

    fn is_over(&self) -> bool {
        self.interrupt.happened()
            || self.arguments.time.is_some_and(|time| self.started.elapsed() >= time)
    }

    /// Whether the target has refused every test so far, and too many to go on; says so.
    fn nothing_suits(&mut self) -> bool {
        let state = self.ledger.state();
        let hopeless = state.totals.tests == 0 && state.totals.unsuitable >= PATIENCE;
        if let (true, Some(why)) = (hopeless, &state.unsuitable) {
            let sentence = format!("{} cannot run these tests: {why}", self.campaign.target);
            self.failure.get_or_insert(Failure::Usage(sentence));
        }
        hopeless
    }

    /// Prints what was found for the first time; whether there was something.
    fn report(&mut self, new: &[Kept], progress: &Progress) -> Result<bool, Failure> {
        for kept in new {
            progress.hide();
            let line = match self.arguments.json.json {
                true => {
                    let mut row = serde_json::to_value(kept).unwrap_or_default();
                    row["event"] = json!("finding");
                    row["folder"] = json!(self.ledger.folder().path().join(&kept.path));
                    row.to_string()
                }
                false => format!("found {}", self.summary().line(kept)),
            };
            self.output.print(&(line + "\n"))?;
        }
        if !new.is_empty() {
            self.output.flush()?;
        }
        Ok(!new.is_empty())
    }

    fn tell(&self, teller: &Teller) {
        let state = self.ledger.state();
        let totals = &state.totals;
        teller.say(|| {
            let seconds = self.started.elapsed().as_secs_f64().max(1e-3);
            let rate = totals.operations as f64 / (seconds + self.ledger.seconds().1);
            format!(
                "{} tests, {} operations ({:.0} a second), {} distinct outcomes, {} violations of \
                 {} shapes",
                totals.tests,
                totals.operations,
                rate,
                totals.outcomes,
                totals.violations,
                state.shapes.len(),
            )
        });
    }

    fn summary(&self) -> Summary<'_> {
        let Campaign { plan, target, model, .. } = self.campaign;
        Summary::new(&self.ledger, plan, target, model.name())
    }

    /// Saves everything, and says what came of it.
    fn finish(mut self) -> Result<Ending, Failure> {
        self.ledger.save().map_err(refused)?;
        if let Some(failure) = self.failure.take()
            && !matches!(failure, Failure::BrokenPipe)
        {
            return Err(failure);
        }
        let summary = self.summary();
        let folder = self.ledger.folder();
        folder.replace("summary.txt", &summary.full()).map_err(refused)?;
        folder.replace("summary.json", &(summary.json() + "\n")).map_err(refused)?;
        let text = match self.arguments.json.json {
            true => summary.json() + "\n",
            false => format!("{}  everything is in {}\n", summary.brief(), folder.path().display()),
        };
        let ending = match () {
            () if self.interrupt.happened() => Ending::Interrupted,
            () if !self.ledger.kept().is_empty() => Ending::Broken,
            () if self.ledger.state().totals.undecided > 0 => Ending::Undecided,
            () => Ending::Kept,
        };
        match self.output.print(&text).and_then(|()| self.output.flush()) {
            Ok(()) | Err(Failure::BrokenPipe) => Ok(ending),
            Err(failure) => Err(failure),
        }
    }
}

/// `hunt-results/host-tso`.
fn default_folder(target: &str, arguments: &HuntArguments) -> PathBuf {
    let bug = arguments.bug.bug.map_or(String::new(), |bug| format!("-{bug}"));
    let name = format!("{target}{bug}-{}", arguments.model);
    let letter = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
    let name: String = name.chars().map(letter).take(80).collect();
    PathBuf::from("hunt-results").join(name)
}

/// What makes a hunt the same hunt: all that says which tests are run, where and by what they are
/// judged. When to stop is not part of it.
fn options(arguments: &HuntArguments, target: &str) -> Map<String, Value> {
    let tuning = &arguments.tuning;
    let bug = arguments.bug.bug;
    let options = json!({
        "--on": target,
        "--model": arguments.model.name(),
        "--seed": arguments.seed,
        "--bug": bug.map(|bug| bug.to_string()),
        "--rate": bug.map(|_| arguments.bug.rate),
        "--threads": tuning.threads,
        "--instructions": tuning.instructions,
        "--places": tuning.places,
        "--mix": tuning.mix.map(|mix| mix.to_string()),
        "--litmus": tuning.litmus,
        "--runs": tuning.runs,
    });
    match options {
        Value::Object(mut options) => {
            if let TargetName::Protocol(_) = arguments.on {
                let ProtocolFlags { language, values, weights, events, commit } =
                    &arguments.protocol;
                let EventFlags { load, store } = events;
                let constants = language.constants.iter();
                let constants: Vec<_> =
                    constants.map(|(name, value)| format!("{name}={value}")).collect();
                options.insert("--const".to_owned(), json!(constants.join(" ")));
                options.insert("--values".to_owned(), json!(values));
                // Folders of hunts without weights know of none.
                if !weights.is_empty() {
                    let weights = weights.iter().map(|(rule, factor)| format!("{rule}={factor}"));
                    let weights = weights.collect::<Vec<_>>().join(", ");
                    options.insert("--weight".to_owned(), json!(weights));
                }
                options.insert("--load".to_owned(), json!(load));
                options.insert("--store".to_owned(), json!(store));
                options.insert("--commit".to_owned(), json!(commit));
            }
            options
        }
        _ => Map::new(),
    }
}

fn refused(error: FolderError) -> Failure {
    Failure::Usage(error.to_string())
}

fn unavailable(error: TargetError) -> Failure {
    Failure::Usage(error.to_string())
}
