//! Runs litmus tests on this machine, one after the other: each takes all cores.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Instant;

use ::host::{Host, Observed};
use evidence::Verdict;
use litmus::Unanswered;
use models::Model;
use report::ci::{Case, Complaint};
use stress::Runs;

use super::super::remark;
use super::{Cell, LitmusQuestion, Records, Test};
use crate::ending::{Ending, Failure};
use crate::input;
use crate::output::Output;
use crate::progress::Progress;

pub(super) fn run_all(
    tests: &[Arc<Test>],
    asking: &LitmusQuestion,
    host: &mut Host,
    progress: &Progress,
    output: &mut Output,
    records: &mut Records<'_>,
) -> Result<Ending, Failure> {
    let mut ending = Ending::NoViolation;
    for test in tests {
        if asking.interrupt.happened() {
            break;
        }
        let start = Instant::now();
        let observed = observe(test, asking, host, progress, records);
        progress.hide();
        let (file, json) = (input::shown(&test.file), asking.arguments.json.json);
        ending = ending.and(match observed {
            Ok(observed) => {
                observed.write(file, json, output.writer()).map_err(Failure::of_stdout)?;
                if !asking.arguments.quiet.quiet {
                    observed.remarks().iter().for_each(|sentence| remark(sentence));
                }
                let cell = observed.shown(file).filter(|_| asking.page_wanted);
                let cell = cell.map(|answer| cell_of_host(test, answer));
                let case = case(file, test, &observed).took(start.elapsed());
                records.add(asking.cases_wanted.then_some(&case), cell);
                Ending::of(&observed.verdict())
            }
            Err((why, model, ended)) => {
                let unanswered = Unanswered {
                    file,
                    micros: litmus::micros(start.elapsed()),
                    seconds: start.elapsed().as_secs_f64(),
                    model: model.map(Model::name),
                    memory_model: model.map(Model::name),
                    on: Some("host"),
                    test: &test.litmus.name,
                    verdict: "undecided",
                    why: &why,
                };
                complain(&unanswered, json && ended != Ending::BadRequest, output.writer())
                    .map_err(Failure::of_stdout)?;
                let complaint = match ended {
                    Ending::BadRequest => Complaint::malformed(&why, String::new()),
                    _ => Complaint::undecided(&why, String::new()),
                };
                let name = format!("{} on host", test.litmus.name);
                let case = Case::failed(file, name, complaint).took(start.elapsed());
                let cell = cell_of_host(test, serde_json::json!({ "why": why }));
                records.add(Some(&case), Some(cell));
                ended
            }
        });
        output.flush()?;
    }
    Ok(ending)
}

/// The observed outcomes, for the page.
fn cell_of_host(test: &Arc<Test>, answer: serde_json::Value) -> Cell {
    Cell { test: Arc::clone(test), column: "host".to_owned(), answer }
}

/// The observed outcomes, for CI systems.
fn case(file: &str, test: &Test, observed: &Observed<'_>) -> Case {
    let mut text = Vec::new();
    observed.write(file, false, &mut text).expect("a vector takes everything");
    let text = String::from_utf8_lossy(&text).into_owned();
    let complaint = match observed.verdict() {
        Verdict::Holds(()) => None,
        Verdict::Broken(()) => {
            let sentence = "this machine showed a state that the test or a model forbids";
            Some(Complaint::violation(sentence, text))
        }
        Verdict::Undecided(()) => {
            let sentence = "the time limit was reached before all runs were done";
            Some(Complaint::undecided(sentence, text))
        }
    };
    Case { complaint, ..Case::passed(file, format!("{} on host", test.litmus.name)) }
}

/// Prints why there is no answer about a test; with --json as an object, if the question is only
/// undecided.
fn complain(unanswered: &Unanswered<'_>, json: bool, out: &mut dyn Write) -> io::Result<()> {
    if json {
        writeln!(out, "{}", unanswered.json())?;
    }
    let Unanswered { file, test, why, .. } = unanswered;
    match unanswered.model {
        Some(model) => remark(&format!("{file}: {test} under {model}: {why}")),
        None => remark(&format!("{file}: {test} was not run: {why}")),
    }
    Ok(())
}

/// Enumerates outcomes under the models, then runs the test; an error names the model that could
/// not be enumerated.
fn observe<'a>(
    test: &'a Arc<Test>,
    asking: &LitmusQuestion,
    host: &mut Host,
    progress: &Progress,
    records: &mut Records<'_>,
) -> Result<Observed<'a>, (String, Option<Model>, Ending)> {
    let (arguments, litmus) = (&asking.arguments, &test.litmus);
    let mut allowed = Vec::new();
    if !litmus.architecture.is_x86() {
        let why = format!("the test is for {}, and this machine is an x86", litmus.architecture);
        return Err((why, None, Ending::BadRequest));
    }
    for asked in asking.models(test) {
        let Some(model) = asked.machine() else {
            let why = "with --on host, --model takes sc, tso, pso or coherence";
            return Err((why.to_owned(), None, Ending::BadRequest));
        };
        let answer = asking.answer(test, asked);
        records.add(None, asking.cell(test, &answer));
        match answer.found {
            Ok((found, _)) => allowed.push((model, found)),
            Err(stopped) => {
                let (why, ending) = asking.why_stopped(&stopped);
                return Err((why, Some(model), ending));
            }
        }
    }
    let (threads, cores) = (litmus.threads.len(), host.cores().len());
    if threads > cores && !arguments.quiet.quiet {
        progress.hide();
        remark(&format!(
            "{}: the test has {threads} threads and this machine {cores} cores, so not all \
             threads run at the same time",
            litmus.name
        ));
    }
    let stop = asking.interrupt.flag();
    let runs = Runs { count: arguments.runs, seed: arguments.seed, stop: &stop };
    let mut watch = |done| {
        asking.reporter.say(|| format!("{} on this machine: {done} runs", litmus.name));
    };
    Observed::run(host, litmus, allowed, runs, arguments.limits.budget, &mut watch)
        .map_err(|why| (why.to_string(), None, Ending::BadRequest))
}
