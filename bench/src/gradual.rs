//! gradual-consistency-checking, Figures 4–6: saturation and enumeration, saturation and SAT, and
//! the plain SAT encoding, on small histories of reads and writes; and how many pairs of writes the
//! causal models leave open.
//!
//! The paper's histories come from cache protocols in gem5. Ours come from a memory with a random
//! scheduler, and from one that misses an invalidation, with the paper's numbers of operations and
//! threads. The paper does not say how many addresses it used.

use std::io;
use std::time::{Duration, Instant};

use history::History;
use judge::{Budget, Engine, Outcome, judge};
use models::Model;

use crate::axis::{Axis, Scale, Unit};
use crate::chart::{Chart, Line, Point};
use crate::clock::cpu_seconds;
use crate::context::Context;
use crate::machine::{Fault, Mix, Shape};
use crate::open_pairs;
use crate::plain_sat::{self, Answer};
use crate::report::Section;
use crate::statistics::mean;
use crate::table::{Table, dash, ratio, seconds};
use crate::traces::history;

/// How many addresses the histories use.
pub(crate) const ADDRESSES: usize = 10;

/// A way to decide.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Method {
    Enumeration,
    Search,
    Auto,
    Plain,
}

impl Method {
    const ALL: [Method; 4] = [Method::Enumeration, Method::Search, Method::Auto, Method::Plain];

    fn name(self) -> &'static str {
        match self {
            Method::Enumeration => "saturation + enumeration",
            Method::Search => "saturation + SAT",
            Method::Auto => "auto",
            Method::Plain => "plain SAT",
        }
    }

    /// Whether the model holds, `None` if the time ran out; and the seconds it took.
    fn decide(self, history: &History, model: Model, limit: Duration) -> (Option<bool>, f64) {
        let engine = match self {
            Method::Enumeration => Engine::Enumerate,
            Method::Search => Engine::Sat,
            Method::Auto => Engine::Auto,
            Method::Plain => {
                let deadline = Instant::now() + limit;
                let (answer, time) = cpu_seconds(|| plain_sat::decide(history, model, deadline));
                let holds = match answer {
                    Answer::Consistent => Some(true),
                    Answer::Violation => Some(false),
                    Answer::OutOfTime => None,
                };
                return (holds, time);
            }
        };
        let budget = Budget::unlimited().with_time(limit);
        let (verdict, time) = cpu_seconds(|| judge(history, model, engine, &budget));
        let holds = match verdict.outcome {
            Outcome::Holds(_) => Some(true),
            Outcome::Broken(_) => Some(false),
            Outcome::Undecided(_) => None,
        };
        (holds, time)
    }
}

/// The times of one way at one place of a sweep.
#[derive(Clone, Debug, Default)]
struct Times {
    seconds: Vec<f64>,
    ended: usize,
}

/// What is varied: the figure it belongs to, the axis, and the histories at each place.
struct Sweep {
    file: &'static str,
    title: &'static str,
    axis: &'static str,
    model: Model,
    places: Vec<(usize, Vec<History>)>,
}

/// Measures all of it.
pub(crate) fn run(context: &Context) -> io::Result<Section> {
    let mut section = Section::new(
        "gradual",
        "Saturation, enumeration and SAT (gradual-consistency-checking, Figs. 4–6)",
    );
    let seeds = context.seeds(20, 3);
    let limit = Duration::from_secs(context.limit().min(10));
    section.paragraph(format!(
        "Histories of reads and writes on {ADDRESSES} addresses, every value written once, \
         {seeds} at each place (the paper: 200). The mean time of a check, in this process; a \
         check is ended after {} s and counts as that, and a way that was ended on more than half \
         of the histories of a place is not tried on larger ones. *Plain SAT* is the standard \
         encoding without saturation, on the same solver (batsat) as *saturation + SAT*, and is \
         given a third of the histories.",
        limit.as_secs()
    ));
    let mut disagreements = 0;
    for sweep in sweeps(seeds) {
        disagreements += measure(context, &mut section, &sweep, limit);
    }
    section.paragraph(format!("Verdicts in which two ways disagreed: {disagreements}."));
    open_pairs::report(context, &mut section)?;
    Ok(section)
}

/// A valid history, or one in which an invalidation was missed.
pub(crate) fn small(operations: usize, threads: usize, fault: Option<Fault>, seed: u64) -> History {
    let mix = Mix::READS_AND_WRITES;
    let shape = Shape { events: operations, threads, addresses: ADDRESSES, mix, buffer: 0, fault };
    history(shape, seed)
}

fn sweeps(seeds: u64) -> Vec<Sweep> {
    let valid = |operations: usize, threads: usize| -> Vec<History> {
        (0..seeds).map(|seed| small(operations, threads, None, seed)).collect()
    };
    let by_operations = || (1..=5).map(|i| (100 * i, valid(100 * i, 4))).collect();
    let by_threads = || (2..=6).map(|t| (t, valid(50 * t, t))).collect();
    let violating = |model| (2..=8).step_by(2).map(|t| (t, violations(t, seeds, model))).collect();
    let sweep = |file, title, axis, model, places| Sweep { file, title, axis, model, places };
    let (sc, tso) = (Model::Sc, Model::Tso);
    vec![
        sweep("fig4a", "Figure 4a: sc, valid, 4 threads", "operations", sc, by_operations()),
        sweep("fig4b", "Figure 4b: sc, valid, 50 operations a thread", "threads", sc, by_threads()),
        sweep("fig5", "Figure 5: sc, violating, 100–400 operations", "threads", sc, violating(sc)),
        sweep("fig6a", "Figure 6a: tso, valid, 4 threads", "operations", tso, by_operations()),
        sweep(
            "fig6b",
            "Figure 6b: tso, valid, 50 operations a thread",
            "threads",
            tso,
            by_threads(),
        ),
        sweep(
            "tso-violating",
            "tso, violating, 100–400 operations",
            "threads",
            tso,
            violating(tso),
        ),
    ]
}

/// Histories that violate the model, of 100 to 400 operations in turn.
fn violations(threads: usize, wanted: u64, model: Model) -> Vec<History> {
    let candidates = (0..50 * wanted).map(|seed| {
        small(100 * (1 + seed as usize % 4), threads, Some(Fault::MissedInvalidation), seed)
    });
    let violates = |history: &History| {
        let limit = Duration::from_secs(10);
        Method::Auto.decide(history, model, limit).0 == Some(false)
    };
    candidates.filter(violates).take(wanted as usize).collect()
}

/// Measures one sweep; returns how many verdicts two ways disagreed on.
fn measure(context: &Context, section: &mut Section, sweep: &Sweep, limit: Duration) -> usize {
    let mut disagreements = 0;
    let mut given_up = [false; Method::ALL.len()];
    let mut rows: Vec<(usize, Vec<Option<Times>>)> = Vec::new();
    // The first check of a way pays for fresh memory and cold caches.
    if let Some(first) = sweep.places.first().and_then(|(_, histories)| histories.first()) {
        for way in Method::ALL {
            way.decide(first, sweep.model, limit);
        }
    }
    for (place, histories) in &sweep.places {
        context.progress(format!("{}: {place} {}", sweep.title, sweep.axis));
        let mut times = vec![Times::default(); Method::ALL.len()];
        for (number, history) in histories.iter().enumerate() {
            let mut verdicts = Vec::new();
            for (w, way) in Method::ALL.into_iter().enumerate() {
                if given_up[w] || (way == Method::Plain && number % 3 != 0) {
                    continue;
                }
                let (holds, spent) = way.decide(history, sweep.model, limit);
                times[w].seconds.push(spent);
                times[w].ended += usize::from(holds.is_none());
                verdicts.extend(holds);
            }
            disagreements += usize::from(verdicts.windows(2).any(|pair| pair[0] != pair[1]));
        }
        for (w, way) in times.iter().enumerate() {
            given_up[w] |= 2 * way.ended > way.seconds.len();
        }
        let tried = times.into_iter().map(|t| (!t.seconds.is_empty()).then_some(t));
        rows.push((*place, tried.collect()));
    }
    section.heading(sweep.title);
    section.table(&table(sweep, &rows));
    section.plot(&format!("gradual-{}", sweep.file), &chart(sweep, &rows));
    disagreements
}

fn table(sweep: &Sweep, rows: &[(usize, Vec<Option<Times>>)]) -> Table {
    let names = Method::ALL.map(|way| way.name().to_owned());
    let last = ["plain / saturation + SAT".to_owned()];
    let mut table = Table::new([sweep.axis.to_owned()].into_iter().chain(names).chain(last));
    for (place, times) in rows {
        let means: Vec<Option<f64>> =
            times.iter().map(|t| t.as_ref().and_then(|t| mean(&t.seconds))).collect();
        let cells = times.iter().zip(&means).map(|(t, mean)| match t {
            Some(t) if t.ended > 0 => {
                format!("≥ {} ({} of {} ended)", seconds(*mean), t.ended, t.seconds.len())
            }
            Some(_) => seconds(*mean),
            None => dash(),
        });
        let gain = ratio(means[Method::Plain as usize], means[Method::Search as usize]);
        table.row([place.to_string()].into_iter().chain(cells).chain([gain]));
    }
    table
}

fn chart(sweep: &Sweep, rows: &[(usize, Vec<Option<Times>>)]) -> Chart {
    let lines = Method::ALL.into_iter().enumerate().map(|(w, way)| Line {
        name: way.name().to_owned(),
        points: rows
            .iter()
            .filter_map(|(place, times)| {
                let times = times[w].as_ref()?;
                let y = mean(&times.seconds)?;
                Some(Point { x: *place as f64, y, at_least: times.ended > 0 })
            })
            .collect(),
        dashed: way == Method::Plain,
    });
    Chart {
        title: sweep.title.to_owned(),
        x: Axis::new(sweep.axis, Scale::Linear, Unit::Count),
        y: Axis::new("CPU time", Scale::Logarithmic, Unit::Seconds),
        lines: lines.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ways_agree_on_small_histories() {
        for seed in 0..6 {
            let fault = (seed % 2 == 1).then_some(Fault::MissedInvalidation);
            let history = small(60, 3, fault, seed);
            for model in [Model::Sc, Model::Tso] {
                let limit = Duration::from_secs(60);
                let verdicts = Method::ALL.map(|way| way.decide(&history, model, limit).0);
                assert!(verdicts.iter().all(|v| v.is_some() && *v == verdicts[0]), "{verdicts:?}");
            }
        }
    }

    #[test]
    fn violating_histories_violate() {
        let found = violations(4, 3, Model::Tso);
        assert_eq!(found.len(), 3);
    }
}
