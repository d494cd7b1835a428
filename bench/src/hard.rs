//! Hard histories and many small ones: 3-SAT at its hardest ratio as executions
//! (framework-for-consistency-algorithms, Figs. 1 and 2), dense histories with many open pairs of
//! writes, and a file of a hundred thousand litmus-size traces.

use std::fs;
use std::io;
use std::time::Duration;

use history::History;
use judge::{Budget, Engine, Judgement, Outcome, judge};
use models::Model;
use oracle::{Formula, SharedLiterals};

use crate::axis::{Axis, Scale, Unit, count};
use crate::chart::{Chart, Line, Point};
use crate::clock::cpu_seconds;
use crate::context::Context;
use crate::machine::{Mix, Shape, TSO_BUFFER};
use crate::report::Section;
use crate::statistics::median;
use crate::table::{Table, dash, ratio, seconds};
use crate::traces::{history, litmus_file};

/// Measures all of it.
pub(crate) fn run(context: &Context) -> io::Result<Section> {
    let mut section = Section::new("hard", "Hard histories, and many small ones");
    formulas(context, &mut section);
    dense(context, &mut section);
    litmus(context, &mut section)?;
    Ok(section)
}

/// Seconds for one check.
fn limit(context: &Context) -> u64 {
    context.limit().min(20)
}

fn decide(context: &Context, history: &History, model: Model) -> (Judgement, f64) {
    let limit = Duration::from_secs(limit(context));
    let budget = Budget::unlimited().with_time(limit);
    cpu_seconds(|| judge(history, model, Engine::Auto, &budget))
}

/// Random formulas at the ratio where half of them are satisfiable.
fn formulas(context: &Context, section: &mut Section) {
    let seeds = context.seeds(3, 2);
    section.heading("3-SAT at ratio 4.3");
    section.paragraph(format!(
        "{seeds} random formulas of each size as histories (sc: Fig. 1 of the paper; tso and pso: \
         Fig. 2): consistent iff satisfiable. Median and slowest check, in this process; a \
         check is ended after {} s, and a model that was ended on more than half of the formulas of \
         a size is not tried on larger ones.",
        limit(context)
    ));
    let models = [Model::Sc, Model::Tso, Model::Pso];
    let mut table = Table::new([
        "variables",
        "clauses",
        "model",
        "events",
        "consistent",
        "violations",
        "undecided",
        "median",
        "slowest",
        "× median",
    ]);
    let mut lines = models.map(|model| Line::new(model.name(), []));
    let mut above = [None; 3];
    let mut given_up = [false; 3];
    for variables in context.pick(vec![10, 20, 30, 40, 50, 75, 100], vec![10, 20, 30]) {
        let clauses = (variables * 43usize).div_ceil(10);
        for (m, model) in models.into_iter().enumerate() {
            if given_up[m] {
                continue;
            }
            context.progress(format!("3-SAT: {variables} variables, {model}"));
            let trials: Vec<(History, Judgement, f64)> = (0..seeds)
                .map(|seed| {
                    let formula = Formula::random(variables, clauses, seed);
                    let history = formula.history(model, SharedLiterals::No);
                    let (verdict, time) = decide(context, &history, model);
                    (history, verdict, time)
                })
                .collect();
            let tally =
                |is: fn(&Outcome) -> bool| trials.iter().filter(|t| is(&t.1.outcome)).count();
            let undecided = tally(|o| matches!(o, Outcome::Undecided(_)));
            let times: Vec<f64> = trials.iter().map(|t| t.2).collect();
            let middle = median(&times);
            let slowest = times.iter().copied().fold(0.0, f64::max);
            lines[m].points.push(Point {
                x: variables as f64,
                y: middle.unwrap_or(0.0),
                at_least: undecided > 0,
            });
            table.row([
                variables.to_string(),
                clauses.to_string(),
                model.name().to_owned(),
                trials.first().map_or_else(dash, |t| t.0.len().to_string()),
                tally(|o| matches!(o, Outcome::Holds(_))).to_string(),
                tally(|o| matches!(o, Outcome::Broken(_))).to_string(),
                undecided.to_string(),
                seconds(middle),
                seconds(Some(slowest)),
                ratio(middle, above[m]),
            ]);
            above[m] = middle;
            given_up[m] = 2 * undecided > trials.len();
        }
    }
    section.table(&table);
    section.plot(
        "hard-3sat",
        &Chart {
            title: "3-SAT at ratio 4.3 as histories, median".to_owned(),
            x: Axis::new("variables", Scale::Linear, Unit::Count),
            y: Axis::new("CPU time", Scale::Logarithmic, Unit::Seconds),
            lines: lines.into(),
        },
    );
}

/// Valid histories in which most writes are never read.
fn dense(context: &Context, section: &mut Section) {
    let seeds = context.seeds(5, 2);
    section.heading("Dense valid histories");
    section.paragraph(
        "16 threads on 2 addresses, four writes to a read, so that most writes are never read and \
         nothing says where they belong. Median and slowest check.",
    );
    let mut table = Table::new([
        "events",
        "model",
        "open pairs",
        "decided by",
        "conflicts",
        "median",
        "slowest",
        "× median",
    ]);
    let mut above = [None; 2];
    for events in context.pick(vec![500, 1000, 2000, 4000, 8000], vec![500, 1000]) {
        for (m, (model, buffer)) in
            [(Model::Sc, 0), (Model::Tso, TSO_BUFFER)].into_iter().enumerate()
        {
            context.progress(format!("dense: {events} events, {model}"));
            let mix = Mix::MOSTLY_WRITES;
            let shape = Shape { events, threads: 16, addresses: 2, mix, buffer, fault: None };
            let trials: Vec<(Judgement, f64)> =
                (0..seeds).map(|seed| decide(context, &history(shape, seed), model)).collect();
            let times: Vec<f64> = trials.iter().map(|t| t.1).collect();
            let open: Option<Vec<f64>> =
                trials.iter().map(|t| t.0.stats.unordered_write_pairs.map(|o| o as f64)).collect();
            let conflicts: Vec<f64> = trials.iter().map(|t| t.0.stats.conflicts as f64).collect();
            let mut by: Vec<String> = trials.iter().map(decided_by).collect();
            by.sort_unstable();
            by.dedup();
            let whole = |values: &[f64]| median(values).map_or_else(dash, |v| format!("{v:.0}"));
            let middle = median(&times);
            table.row([
                events.to_string(),
                model.name().to_owned(),
                open.map_or_else(dash, |open| whole(&open)),
                by.join(", "),
                whole(&conflicts),
                seconds(middle),
                seconds(Some(times.iter().copied().fold(0.0, f64::max))),
                ratio(middle, above[m]),
            ]);
            above[m] = middle;
        }
    }
    section.table(&table);
}

fn decided_by((verdict, _): &(Judgement, f64)) -> String {
    match verdict.outcome {
        Outcome::Undecided(_) => "undecided".to_owned(),
        Outcome::Broken(_) => "VIOLATION".to_owned(),
        Outcome::Holds(_) => verdict.decided_by.to_string(),
    }
}

/// One file of many small traces, with one worker and with two.
fn litmus(context: &Context, section: &mut Section) -> io::Result<()> {
    let traces = context.pick(100_000, 5_000);
    section.heading("Many small traces");
    let file = context.file("litmus.trace");
    litmus_file(&file, traces)?;
    let lines = fs::read_to_string(&file)?.lines().count();
    section.paragraph(format!(
        "One file of {} traces of 6 to 12 events ({} lines), valid and violating, through \
         `tribunal check --json --quiet`.",
        count(traces as f64),
        count(lines as f64)
    ));
    let mut table =
        Table::new(["model", "jobs", "clock", "CPU", "a trace", "peak memory", "clock, × jobs 1"]);
    for model in [Model::Sc, Model::Tso, Model::Rmo, Model::Ccm] {
        let mut alone = None;
        for jobs in ["1", "2"] {
            context.progress(format!("litmus: {model}, {jobs} jobs"));
            let usage = context.check_with(model, &file, &["--jobs", jobs])?.usage;
            if let Some(failure) = usage.failure() {
                table.row([model.name(), jobs, &failure, "–", "–", "–", "–"]);
                continue;
            }
            table.row([
                model.name().to_owned(),
                jobs.to_owned(),
                seconds(Some(usage.wall)),
                seconds(Some(usage.cpu())),
                seconds(Some(usage.cpu() / traces as f64)),
                Unit::Bytes.show(usage.peak as f64),
                ratio(Some(usage.wall), alone),
            ]);
            alone = alone.or(Some(usage.wall));
        }
    }
    section.table(&table);
    fs::remove_file(file)
}
