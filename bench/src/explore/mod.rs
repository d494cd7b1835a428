//! `tribunal explore` beside the model checkers a designer would otherwise use.
//!
//! The models are those of `protocols/`, at the sizes of `protocols/expected.tsv`. Each is explored
//! by every checker there is, with symmetry off and on, with one thread and with all; the largest
//! sizes by ours only. Rates are states a second of the exploration alone: of CPU time with one
//! thread, of the clock with several. The total includes what comes before it: generating and
//! compiling a checker for the others, compiling in-process for ours. Every checker must say the same: a different
//! verdict, or without symmetry a different number of states, is reported as such.

pub(crate) mod checkers;
pub(crate) mod sizes;

use std::io;

use crate::context::Context;
use crate::report::Section;
use crate::table::{Table, dash, ratio, seconds, times};

use checkers::{Checker, Explored, Run};
use sizes::Size;

/// Measures all of it.
pub(crate) fn run(context: &Context) -> io::Result<Section> {
    let mut section = Section::new("explore", "Murphi models beside other model checkers");
    let checkers = checkers::present(context);
    let names: Vec<&str> = checkers.iter().map(|checker| checker.name()).collect();
    section.paragraph(format!(
        "Checkers in this run: {}. Rumur's checker is compiled with `-O3 -march=native`. *Rate* is \
         thousand states a second of the exploration alone (of CPU time with one thread, of the \
         clock with several), *first* the seconds until it can begin, \
         *total* the seconds on the clock from the source to the verdict. Bytes a state are what \
         the checker says for ours, and peak memory by states for the others. One thread, unless \
         the heading says otherwise.",
        names.join(", ")
    ));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let sizes = sizes::to_compare(context)?;
    let off = sweep(context, &checkers, &sizes, (false, 1, true))?;
    add_table(&mut section, "Without symmetry", &off, Some(6.0));
    let full = sweep(context, &checkers, &sizes, (true, 1, true))?;
    add_table(&mut section, "With symmetry", &full, Some(5.0));
    if cores > 1 {
        for (symmetry, single) in [(false, &off), (true, &full)] {
            let many = sweep(context, &checkers, &sizes, (symmetry, cores, true))?;
            let with = if symmetry { "with" } else { "without" };
            threads(&mut section, &format!("{cores} threads, {with} symmetry"), single, &many);
        }
    }
    let large = sizes::large(context)?;
    let one = sweep(context, &checkers[..1], &large, (false, 1, true))?;
    add_table(&mut section, "Large sizes, ours only", &one, None);
    if cores > 1 {
        let many = sweep(context, &checkers[..1], &large, (false, cores, true))?;
        threads(&mut section, &format!("{cores} threads, large sizes"), &one, &many);
    }
    Ok(section)
}

/// What every checker did on one size.
pub(crate) struct Row {
    size: Size,
    /// In the order of the checkers; `None` where it refused or did not finish.
    runs: Vec<(&'static str, Option<Explored>)>,
}

/// Explores all sizes with all checkers: with or without symmetry, on so many threads, looking for
/// deadlocks or not.
pub(crate) fn sweep(
    context: &Context,
    checkers: &[Checker],
    sizes: &[Size],
    (symmetry, threads, deadlock): (bool, usize, bool),
) -> io::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for size in sizes {
        let mut runs = Vec::new();
        for checker in checkers {
            let explored = checker.explore(context, &Run { size, symmetry, threads, deadlock })?;
            context.progress(format!(
                "{} {}, symmetry {}, {threads} threads: {}",
                checker.name(),
                size.title(),
                if symmetry { "on" } else { "off" },
                explored.as_ref().map_or_else(
                    || "no result".to_owned(),
                    |run| format!("{} states, {:.0} thousand/s", run.states, run.rate() / 1e3)
                )
            ));
            runs.push((checker.name(), explored));
        }
        rows.push(Row { size: size.clone(), runs });
    }
    Ok(rows)
}

/// A table of one sweep, with the ratio of our rate to each other checker's, and how far it is from
/// the factor to Rumur that is aimed at.
pub(crate) fn add_table(section: &mut Section, heading: &str, rows: &[Row], bar: Option<f64>) {
    section.heading(heading);
    let mut table = Table::new([
        "model",
        "checker",
        "states",
        "rules fired",
        "rate",
        "ours / its",
        "first",
        "total",
        "bytes a state",
    ]);
    let mut least: Option<(f64, String)> = None;
    for row in rows {
        let ours = row.runs.first().and_then(|(_, run)| run.as_ref());
        for (name, run) in &row.runs {
            let Some(run) = run else {
                let mut cells = vec![row.size.title(), (*name).to_owned()];
                cells.resize(9, dash());
                table.row(cells);
                continue;
            };
            let factor = ours.map(|ours| ours.rate() / run.rate());
            if let (Some(factor), "rumur") = (factor, *name)
                && least.as_ref().is_none_or(|(least, _)| factor < *least)
            {
                least = Some((factor, row.size.title()));
            }
            table.row([
                row.size.title(),
                (*name).to_owned(),
                agreed(ours, run),
                run.rules_fired.to_string(),
                format!("{:.0}", run.rate() / 1e3),
                ratio(ours.map(Explored::rate), Some(run.rate())),
                seconds(Some(run.before)),
                seconds(Some(run.total)),
                format!("{:.1}", run.bytes_per_state),
            ]);
        }
    }
    section.table(&table);
    if let (Some((factor, title)), Some(bar)) = (least, bar) {
        section.paragraph(format!(
            "Least factor to Rumur: {} ({title}); the aim is at least {}.",
            times(factor),
            times(bar)
        ));
    }
}

/// The number of states, marked where it differs from ours though it must not.
fn agreed(ours: Option<&Explored>, run: &Explored) -> String {
    let differs = ours.is_some_and(|ours| {
        ours.verdict != run.verdict
            || !run.symmetry && (ours.states, ours.rules_fired) != (run.states, run.rules_fired)
    });
    format!("{}{}", run.states, if differs { " **differs**" } else { "" })
}

/// How much faster each checker is with all threads, on the clock.
fn threads(section: &mut Section, heading: &str, single: &[Row], many: &[Row]) {
    section.heading(heading);
    let mut table = Table::new(["model", "checker", "rate", "to one thread", "ours / its"]);
    for (one, all) in single.iter().zip(many) {
        let ours = all.runs.first().and_then(|(_, run)| run.as_ref()).map(Explored::rate);
        for ((name, before), (_, after)) in one.runs.iter().zip(&all.runs) {
            let rate = after.as_ref().map(Explored::rate);
            table.row([
                one.size.title(),
                (*name).to_owned(),
                rate.map_or_else(dash, |rate| format!("{:.0}", rate / 1e3)),
                ratio(rate, before.as_ref().map(Explored::rate_on_the_clock)),
                ratio(ours, rate),
            ]);
        }
    }
    section.table(&table);
}
