//! The effect of addresses and of threads on one size of trace.

use std::io;

use models::Model;

use super::{
    ADDRESSES, AXE_MODELS, Files, Job, SizeLimits, THREADS, announce, axe, in_turns, operations,
    time, time_or_reason,
};
use crate::axis::{Axis, Scale, Unit, bytes, count};
use crate::chart::{Chart, Line};
use crate::child::Usage;
use crate::context::{Checked, Context};
use crate::report::Section;
use crate::table::{Table, dash, ratio, times};

const MODELS: [Model; 7] =
    [Model::Sc, Model::Tso, Model::Pso, Model::Rmo, Model::Coherence, Model::Ccv, Model::Ccm];

/// What is varied.
struct Sweep {
    name: &'static str,
    /// Each value with the shape it stands for: threads and addresses.
    places: Vec<(usize, (usize, usize))>,
    /// Ratios worth naming below the table.
    named: Vec<(usize, usize)>,
}

/// Both sweeps.
pub(super) fn report(
    context: &Context,
    section: &mut Section,
    patience: &SizeLimits,
) -> io::Result<()> {
    let events = context.pick(256 << 10, 16 << 10);
    let addresses = context.pick(vec![4, 16, 64, 256, 4096, 100_000], vec![4, 256, 10_000]);
    let threads = context.pick(vec![2, 4, 8, 16, 32, 64, 128, 256], vec![2, 16, 128]);
    let over_addresses = Sweep {
        name: "addresses",
        places: addresses.into_iter().map(|a| (a, (THREADS, a))).collect(),
        named: vec![(4, 256)],
    };
    let over_threads = Sweep {
        name: "threads",
        named: threads.windows(2).map(|pair| (pair[0], pair[1])).collect(),
        places: threads.into_iter().map(|t| (t, (t, ADDRESSES))).collect(),
    };
    for sweep in [over_addresses, over_threads] {
        measure(context, section, &sweep, events, patience)?;
    }
    Ok(())
}

fn measure(
    context: &Context,
    section: &mut Section,
    sweep: &Sweep,
    events: usize,
    patience: &SizeLimits,
) -> io::Result<()> {
    let mut rows: Vec<Row> = Vec::new();
    let mut axe_tires = [false; AXE_MODELS.len()];
    // A model that takes too long at 16 threads and 256 addresses may be fast on fewer; one that
    // took too long in this sweep will not get faster on more.
    let slow = MODELS.map(|model| !patience.allows(model, events));
    let mut tires = [false; MODELS.len()];
    for &(value, (threads, addresses)) in &sweep.places {
        announce(context, &operations(events), &format!("{value} {}", sweep.name));
        let mut files = Files::new(context, events, threads, addresses);
        let mut jobs = Vec::new();
        for (m, model) in MODELS.into_iter().enumerate() {
            let at_usual_shape = threads >= THREADS && addresses >= ADDRESSES;
            let skipped = tires[m] || (slow[m] && at_usual_shape);
            let file = files.valid(model)?;
            jobs.push((!skipped).then_some(Job { model, file }));
        }
        let row = in_turns(context, &jobs, context.pick(2, 1))?;
        for (tires, checked) in tires.iter_mut().zip(&row) {
            *tires |= checked.as_ref().is_some_and(|c| !c.usage.answered());
        }
        let mut theirs = Vec::new();
        for (a, model) in AXE_MODELS.into_iter().enumerate() {
            let usage =
                if axe_tires[a] { None } else { axe(context, model, &files.valid(model)?)? };
            axe_tires[a] |= usage.is_some_and(|usage| !usage.answered());
            theirs.push(usage);
        }
        rows.push((value, row, theirs));
    }
    section.heading(&format!("Over {}", sweep.name));
    section.paragraph(format!("{} a trace; time, and peak memory of tso.", operations(events)));
    section.table(&table(sweep, &rows));
    named_ratios(section, sweep, &rows);
    section.plot(&format!("growth-{}", sweep.name), &chart(sweep, &rows, events));
    Ok(())
}

/// A value, our checks and the other checker's.
type Row = (usize, Vec<Option<Checked>>, Vec<Option<Usage>>);

fn table(sweep: &Sweep, rows: &[Row]) -> Table {
    let with_axe = rows.iter().any(|row| row.2.iter().any(Option::is_some));
    let axe_names = AXE_MODELS.iter().filter(|_| with_axe).map(|m| format!("axe {}", m.name()));
    let head = [sweep.name.to_owned()]
        .into_iter()
        .chain(MODELS.iter().map(|m| m.name().to_owned()))
        .chain(["memory".to_owned()])
        .chain(axe_names);
    let mut table = Table::new(head);
    let show = |usage: &Usage| usage.failure().unwrap_or_else(|| Unit::Seconds.show(usage.cpu()));
    for (value, row, theirs) in rows {
        let tso = MODELS.iter().position(|m| *m == Model::Tso);
        let peak = tso.and_then(|at| row[at].as_ref());
        let peak = peak.map_or_else(dash, |checked| bytes(checked.usage.peak as f64));
        let axe_cells = theirs.iter().filter(|_| with_axe);
        let cells = row
            .iter()
            .map(time_or_reason)
            .chain([peak])
            .chain(axe_cells.map(|usage| usage.as_ref().map_or_else(dash, show)));
        table.row([count(*value as f64)].into_iter().chain(cells));
    }
    table
}

/// The ratios that the sweep is about, and the largest of each model.
fn named_ratios(section: &mut Section, sweep: &Sweep, rows: &[Row]) {
    let at = |value: usize, m: usize| {
        rows.iter().find(|row| row.0 == value).and_then(|row| time(row.1.get(m)?))
    };
    let head = ["step".to_owned()].into_iter().chain(MODELS.map(|m| m.name().to_owned()));
    let mut table = Table::new(head);
    let mut largest: Vec<Option<f64>> = vec![None; MODELS.len()];
    for &(from, to) in &sweep.named {
        let pairs = (0..MODELS.len()).map(|m| (at(to, m), at(from, m)));
        for (largest, pair) in largest.iter_mut().zip(pairs.clone()) {
            if let (Some(a), Some(b)) = pair {
                *largest = Some(largest.map_or(a / b, |before| before.max(a / b)));
            }
        }
        let name = format!("{} → {}", count(from as f64), count(to as f64));
        table.row([name].into_iter().chain(pairs.map(|(a, b)| ratio(a, b))));
    }
    if sweep.named.len() > 1 {
        let worst = largest.into_iter().map(|factor| factor.map_or_else(dash, times));
        table.row(["largest".to_owned()].into_iter().chain(worst));
    }
    section.table(&table);
}

fn chart(sweep: &Sweep, rows: &[Row], events: usize) -> Chart {
    let ours = MODELS.iter().enumerate().map(|(m, model)| {
        let at = |row: &Row| Some((row.0 as f64, time(row.1.get(m)?)?));
        Line::new(model.name(), rows.iter().filter_map(at))
    });
    let theirs = AXE_MODELS.iter().enumerate().map(|(a, model)| {
        let at = |row: &Row| {
            let usage = row.2.get(a)?.as_ref().filter(|usage| usage.answered())?;
            Some((row.0 as f64, usage.cpu()))
        };
        let line = Line::new(format!("axe {}", model.name()), rows.iter().filter_map(at));
        Line { dashed: true, ..line }
    });
    Chart {
        title: format!("{}: effect of {}", operations(events), sweep.name),
        x: Axis::new(sweep.name, Scale::Logarithmic, Unit::Count),
        y: Axis::new("time", Scale::Logarithmic, Unit::Seconds),
        lines: ours.chain(theirs).filter(|line| !line.points.is_empty()).collect(),
    }
}
