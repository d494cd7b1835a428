//! How many pairs of writes the causal models leave open (gradual-consistency-checking, §5.1), and
//! what it costs to compute that: our engine next to the paper's Datalog in clingo.

use std::ffi::OsString;
use std::fs;
use std::io;

use history::History;
use judge::{Budget, Engine, Judgement, Outcome, judge};
use models::Model;

use crate::child::{End, Usage};
use crate::clock::cpu_seconds;
use crate::context::Context;
use crate::datalog::{read_answer, write_program};
use crate::gradual::{ADDRESSES, small};
use crate::machine::{Fault, Mix, Shape};
use crate::report::Section;
use crate::statistics::{mean, median};
use crate::table::{Table, dash, ratio, seconds};
use crate::traces::history;

/// Both tables.
pub(crate) fn report(context: &Context, section: &mut Section) -> io::Result<()> {
    shares(context, section);
    weaker_models(context, section);
    datalog(context, section)
}

fn verdict(history: &History, model: Model) -> Judgement {
    judge(history, model, Engine::Auto, &Budget::unlimited())
}

/// The share of open pairs, in percent; `None` if the engine does not count them.
fn share(history: &History, model: Model) -> Option<f64> {
    // The search always saturates first, where `auto` may find a total order without.
    let stats = judge(history, model, Engine::Sat, &Budget::unlimited()).stats;
    let (pairs, open) = (stats.write_pairs?, stats.unordered_write_pairs?);
    (pairs > 0).then(|| 100.0 * open as f64 / pairs as f64)
}

fn shares(context: &Context, section: &mut Section) {
    let histories = context.seeds(200, 20);
    section.heading("Pairs of writes left open");
    section.paragraph(format!(
        "{histories} valid histories of 200 operations on 4 threads: the mean share of pairs of \
         writes of one address that a model leaves unordered. The paper has 6.6 % for ccm and \
         57.75 % for ccv, on histories from gem5 whose number of addresses it does not give. A \
         dash: the engine does not count them."
    ));
    let mut table = Table::new(["addresses", "ccv", "ccm", "wccm", "sc, saturated", "ccv / ccm"]);
    for addresses in [2, 5, 10, 20, 50] {
        context.progress(format!("open pairs: {addresses} addresses"));
        let mix = Mix::READS_AND_WRITES;
        let shape = Shape { events: 200, threads: 4, addresses, mix, buffer: 0, fault: None };
        let sample: Vec<History> = (0..histories).map(|seed| history(shape, seed)).collect();
        let mean_share = |model: Model| {
            let shares: Vec<f64> = sample.iter().filter_map(|h| share(h, model)).collect();
            mean(&shares).filter(|_| shares.len() == sample.len())
        };
        let models = [Model::Ccv, Model::Ccm, Model::Wccm, Model::Sc].map(mean_share);
        let percent = |share: Option<f64>| share.map_or_else(dash, |s| format!("{s:.1} %"));
        let cells = models.map(percent).into_iter().chain([ratio(models[0], models[1])]);
        table.row([addresses.to_string()].into_iter().chain(cells));
    }
    section.table(&table);
}

/// How many violations of sc a weaker model finds already.
fn weaker_models(context: &Context, section: &mut Section) {
    let wanted = context.seeds(100, 20) as usize;
    context.progress("violations that weaker models find");
    let violates = |history: &History, model: Model| {
        matches!(verdict(history, model).outcome, Outcome::Broken(_))
    };
    let fault = Some(Fault::MissedInvalidation);
    let violations: Vec<History> = (0..50 * wanted as u64)
        .map(|seed| small(100 + 100 * (seed as usize % 4), 2 + seed as usize % 7, fault, seed))
        .filter(|history| violates(history, Model::Sc))
        .take(wanted)
        .collect();
    let found = |models: &[Model]| {
        violations.iter().filter(|h| models.iter().any(|m| violates(h, *m))).count() * 100
            / violations.len().max(1)
    };
    section.paragraph(format!(
        "Of {} violations of sc (100–400 operations, 2–8 threads), {} % violate ccm and {} % violate \
         cc or ccv already (the paper: all, and 50 %).",
        violations.len(),
        found(&[Model::Ccm]),
        found(&[Model::Cc, Model::Ccv]),
    ));
}

/// Our time for ccm next to clingo's.
fn datalog(context: &Context, section: &mut Section) -> io::Result<()> {
    section.heading("The partial store order in Datalog");
    let Some(clingo) = &context.clingo else {
        section.paragraph("Skipped: there is no `clingo` on the PATH (Debian: `gringo`).");
        context.progress("Datalog skipped: no clingo on the PATH");
        return Ok(());
    };
    section.paragraph(format!(
        "The paper computes the partial store order pww of ccm by a logic program in clingo. Here \
         clingo runs [our program](src/pww.lp) for it, and `tribunal check --model ccm` the same \
         histories (4 threads, {ADDRESSES} addresses); both as programs of their own, CPU time \
         with start-up, median. *Check alone* is ours without start-up and parsing."
    ));
    let mut table = Table::new(
        ["operations", "clingo", "tribunal", "check alone", "clingo / tribunal", "answers agree"]
            .map(str::to_owned),
    );
    let repetitions = context.pick(3, 1);
    for operations in context.pick(vec![100, 200, 300, 400, 500], vec![50, 100]) {
        context.progress(format!("Datalog: {operations} operations"));
        let row = compare(context, clingo.into(), operations, repetitions)?;
        let show = |time: f64, ended: bool| {
            if ended { format!("≥ {}", seconds(Some(time))) } else { seconds(Some(time)) }
        };
        table.row([
            operations.to_string(),
            show(row.clingo, row.ended),
            seconds(Some(row.tribunal)),
            seconds(Some(row.check)),
            ratio(Some(row.clingo), Some(row.tribunal)),
            row.agreement,
        ]);
        if row.ended {
            break;
        }
    }
    section.table(&table);
    Ok(())
}

struct Comparison {
    clingo: f64,
    tribunal: f64,
    check: f64,
    ended: bool,
    agreement: String,
}

fn compare(
    context: &Context,
    clingo: OsString,
    operations: usize,
    repetitions: u64,
) -> io::Result<Comparison> {
    let (program, trace) = (context.file("pww.lp"), context.file("pww.trace"));
    let (mut theirs, mut ours, mut alone) = (Vec::new(), Vec::new(), Vec::new());
    let mut agreement = "yes";
    for seed in 0..repetitions {
        let history = small(operations, 4, None, seed);
        write_program(&history, &program)?;
        history::write_text(&history, &mut fs::File::create(&trace)?)?;
        let words = vec![clingo.clone(), "--verbose=0".into(), program.clone().into()];
        let usage = context.measure(words)?;
        theirs.push(usage.cpu());
        // How clingo says that it found an answer set, and that it is the only one.
        let solved = matches!(usage.end, End::Exit(10 | 30));
        if solved {
            let answer = read_answer(&history, &fs::read_to_string(context.output())?);
            let verdict = verdict(&history, Model::Ccm);
            let violation = matches!(verdict.outcome, Outcome::Broken(_));
            let same_count =
                verdict.stats.unordered_write_pairs.is_none_or(|open| open == answer.open);
            if violation != answer.violation || (!violation && !same_count) {
                agreement = "NO";
            }
        } else {
            agreement = "–";
        }
        let checked: Usage = context.check(Model::Ccm, &trace)?.usage;
        ours.push(checked.cpu());
        alone.push(cpu_seconds(|| verdict(&history, Model::Ccm)).1);
    }
    let middle = |times: &[f64]| median(times).unwrap_or(0.0);
    Ok(Comparison {
        clingo: middle(&theirs),
        tribunal: middle(&ours),
        check: middle(&alone),
        ended: agreement == "–",
        agreement: agreement.to_owned(),
    })
}
