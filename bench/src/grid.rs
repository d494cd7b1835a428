//! efficient-tso-verification, Figures 6–8: how often the heuristic total order succeeds, and how
//! the time of a check grows with operations, threads and addresses.
//!
//! Traces come from a machine with store buffers (for tso) and without (for sc), so every one is
//! valid; whoever decides it by search instead of by a guessed order is a failure of the heuristic.
//! Histories are built thread by thread, so that nothing shows in which order threads took turns.
//! Times are of the check alone, in this process.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use judge::{Budget, DecidedBy, Engine, Outcome, judge};
use models::Model;

use crate::axis::{Axis, Scale, Unit, count};
use crate::chart::{Chart, Line};
use crate::clock::cpu_seconds;
use crate::context::Context;
use crate::machine::{Shape, TSO_BUFFER};
use crate::report::Section;
use crate::statistics::{mean, median};
use crate::table::{Table, dash, ratio, seconds, times};
use crate::traces::history;

/// Where a trace lies in the grid: operations, threads, addresses.
type Cell = (usize, usize, usize);

/// One check.
#[derive(Clone, Copy, Debug)]
struct Trial {
    seconds: f64,
    guessed: bool,
    decided: bool,
    valid: bool,
}

struct Grid {
    operations: Vec<usize>,
    threads: Vec<usize>,
    addresses: Vec<usize>,
    trials: BTreeMap<Cell, Vec<Trial>>,
}

/// Measures the grid for tso and sc.
pub(crate) fn run(context: &Context) -> io::Result<Section> {
    let mut section =
        Section::new("grid", "The total-order heuristic (efficient-tso-verification, Figs. 6–8)");
    let seeds = context.seeds(4, 1);
    section.paragraph(format!(
        "Random traces, 33.3 % loads, 33.3 % stores, 30 % atomics, 1.7 % fences; the paper's 1.7 % \
         \"others\" leave no event and are left out. Traces a cell: {seeds} (the paper: 32), all \
         valid by construction. Threads are given one after another, without their interleaving. \
         Times are of the check alone, without parsing."
    ));
    for (model, buffer) in [(Model::Tso, TSO_BUFFER), (Model::Sc, 0)] {
        let grid = measure(context, model, buffer, seeds);
        section.heading(&format!("{} traces", model.name()));
        success(&mut section, &grid, model);
        analysis_time(&mut section, &grid, model);
        effects(&mut section, &grid, model);
        outliers(&mut section, &grid);
    }
    Ok(section)
}

fn measure(context: &Context, model: Model, buffer: usize, seeds: u64) -> Grid {
    let kilo = |sizes: &[usize]| sizes.iter().map(|n| n << 10).collect();
    let mut grid = Grid {
        operations: context.pick(kilo(&[64, 128, 256]), kilo(&[8, 16, 32])),
        threads: vec![2, 4, 8, 16],
        addresses: vec![4, 16, 64, 256],
        trials: BTreeMap::new(),
    };
    // Seeds outermost, so that a busy minute of the machine does not fall on one cell.
    for seed in 0..seeds {
        for cell in grid.cells() {
            let (operations, threads, addresses) = cell;
            context.progress(format!(
                "grid {model}: {} operations, {threads} threads, {addresses} addresses, seed {seed}",
                count(operations as f64)
            ));
            let history = history(Shape::tsotool(operations, threads, addresses, buffer), seed);
            let budget = Budget::unlimited().with_time(Duration::from_secs(context.limit()));
            let (verdict, seconds) = cpu_seconds(|| judge(&history, model, Engine::Auto, &budget));
            grid.trials.entry(cell).or_default().push(Trial {
                seconds,
                guessed: matches!(verdict.decided_by, DecidedBy::TotalOrder | DecidedBy::Linear),
                decided: !matches!(verdict.outcome, Outcome::Undecided(_)),
                valid: matches!(verdict.outcome, Outcome::Holds(_)),
            });
        }
    }
    grid
}

impl Grid {
    fn cells(&self) -> Vec<Cell> {
        let mut cells = Vec::new();
        for &n in &self.operations {
            for &p in &self.threads {
                cells.extend(self.addresses.iter().map(|&a| (n, p, a)));
            }
        }
        cells
    }

    /// Trials of all cells that fit.
    fn trials(&self, fits: impl Fn(Cell) -> bool) -> Vec<Trial> {
        let fitting = self.trials.iter().filter(|(cell, _)| fits(**cell));
        fitting.flat_map(|(_, trials)| trials).copied().collect()
    }

    fn mean_seconds(&self, fits: impl Fn(Cell) -> bool) -> Option<f64> {
        mean(&self.trials(fits).iter().map(|t| t.seconds).collect::<Vec<_>>())
    }

    /// In how many of a hundred trials the heuristic found a total order.
    fn success(&self, fits: impl Fn(Cell) -> bool) -> Option<f64> {
        let guessed = |t: &Trial| if t.guessed && t.valid { 100.0 } else { 0.0 };
        mean(&self.trials(fits).iter().map(guessed).collect::<Vec<_>>())
    }

    /// The size Figures 6 and 7 are about.
    fn middle_size(&self) -> usize {
        self.operations[self.operations.len() / 2]
    }
}

/// Figure 6.
fn success(section: &mut Section, grid: &Grid, model: Model) {
    let size = grid.middle_size();
    let head = ["threads \\ addresses".to_owned()].into_iter();
    let mut table = Table::new(head.chain(grid.addresses.iter().map(usize::to_string)));
    let percent = |value: Option<f64>| value.map_or_else(dash, |v| format!("{v:.0} %"));
    for &p in &grid.threads {
        let cells = grid.addresses.iter().map(|&a| percent(grid.success(|c| (c.1, c.2) == (p, a))));
        table.row([p.to_string()].into_iter().chain(cells));
    }
    let all = grid.success(|_| true).unwrap_or(0.0);
    section.paragraph(format!(
        "**Figure 6**: traces in which a guessed total order was valid, over all sizes of the \
         grid; {all:.1} % in all. The paper's Figure 6 (n = 128K) is a bar chart whose values its \
         text does not give, so there is no number to put beside ours; it says that the heuristic \
         succeeds less often when there are few addresses for the threads."
    ));
    section.table(&table);
    let lines = grid.threads.iter().map(|&p| {
        let at = |&a: &usize| Some((a as f64, grid.success(|c| c == (size, p, a))?));
        Line::new(format!("{p} threads"), grid.addresses.iter().filter_map(at))
    });
    section.plot(
        &format!("fig6-success-{}", model.name()),
        &Chart {
            title: format!("{model}: valid total order found, n = {}", count(size as f64)),
            x: Axis::new("addresses", Scale::Logarithmic, Unit::Count),
            y: Axis::new("traces", Scale::Linear, Unit::Percent),
            lines: lines.collect(),
        },
    );
}

/// Figure 7.
fn analysis_time(section: &mut Section, grid: &Grid, model: Model) {
    let size = grid.middle_size();
    let head = ["threads \\ addresses".to_owned()].into_iter();
    let last = ["last / first".to_owned()];
    let mut table = Table::new(head.chain(grid.addresses.iter().map(usize::to_string)).chain(last));
    for &p in &grid.threads {
        let times: Vec<Option<f64>> =
            grid.addresses.iter().map(|&a| grid.mean_seconds(|c| c == (size, p, a))).collect();
        let growth = ratio(times.last().copied().flatten(), times[0]);
        let cells = times.into_iter().map(seconds).chain([growth]);
        table.row([p.to_string()].into_iter().chain(cells));
    }
    section.paragraph(format!("**Figure 7**: mean time of a check, n = {}.", count(size as f64)));
    section.table(&table);
    let lines = grid.threads.iter().map(|&p| {
        let at = |&a: &usize| Some((a as f64, grid.mean_seconds(|c| c == (size, p, a))?));
        Line::new(format!("{p} threads"), grid.addresses.iter().filter_map(at))
    });
    section.plot(
        &format!("fig7-time-{}", model.name()),
        &Chart {
            title: format!("{model}: time of a check, n = {}", count(size as f64)),
            x: Axis::new("addresses", Scale::Logarithmic, Unit::Count),
            y: Axis::new("CPU time", Scale::Logarithmic, Unit::Seconds),
            lines: lines.collect(),
        },
    );
}

/// Figure 8: the effect of n, p and a, averaged as in the paper.
fn effects(section: &mut Section, grid: &Grid, model: Model) {
    section.paragraph(
        "**Figure 8**: mean time over n (averaged over addresses), over p (averaged over \
         addresses) and over a (averaged over threads), with the ratio to the row above.",
    );
    let n: fn(Cell) -> usize = |cell| cell.0;
    let p: fn(Cell) -> usize = |cell| cell.1;
    let a: fn(Cell) -> usize = |cell| cell.2;
    let views = [
        ("operations", n, &grid.operations, "threads", p, &grid.threads),
        ("threads", p, &grid.threads, "operations", n, &grid.operations),
        ("addresses", a, &grid.addresses, "operations", n, &grid.operations),
    ];
    for (name, over, values, other, line, kinds) in views {
        let at = |x: usize, kind: usize| grid.mean_seconds(|c| over(c) == x && line(c) == kind);
        let mut table = Table::new([name.to_owned()].into_iter().chain(
            kinds.iter().flat_map(|&k| [format!("{other}: {}", count(k as f64)), "×".into()]),
        ));
        let mut above: Option<usize> = None;
        for &x in values {
            let cells = kinds.iter().flat_map(|&kind| {
                let here = at(x, kind);
                [seconds(here), ratio(here, above.and_then(|above| at(above, kind)))]
            });
            table.row([count(x as f64)].into_iter().chain(cells));
            above = Some(x);
        }
        section.table(&table);
        let lines = kinds.iter().map(|&kind| {
            let points = values.iter().filter_map(|&x| Some((x as f64, at(x, kind)?)));
            let name = format!("{} {other}", count(kind as f64));
            Line::new(name, points)
        });
        section.plot(
            &format!("fig8-{name}-{}", model.name()),
            &Chart {
                title: format!("{model}: effect of {name}"),
                x: Axis::new(name, Scale::Logarithmic, Unit::Count),
                y: Axis::new("CPU time", Scale::Logarithmic, Unit::Seconds),
                lines: lines.collect(),
            },
        );
    }
}

/// The slowest trace next to its neighbours, and what went undecided.
fn outliers(section: &mut Section, grid: &Grid) {
    let all = grid.trials(|_| true);
    let undecided = all.iter().filter(|t| !t.decided).count();
    let wrong = all.iter().filter(|t| t.decided && !t.valid).count();
    let mut text =
        format!("{} traces, {undecided} undecided, {wrong} called violations. ", all.len());
    if let Some((cell, factor)) = worst(grid) {
        let (n, p, a) = cell;
        text += &format!(
            "The slowest trace for its place (n = {}, {p} threads, {a} addresses) took {} times \
             what an operation takes in the median of the neighbouring cells.",
            count(n as f64),
            times(factor).trim_start_matches('×'),
        );
    }
    section.paragraph(text);
}

/// The largest ratio of a trace's time an operation to the median of the cells one step away.
fn worst(grid: &Grid) -> Option<(Cell, f64)> {
    let step = |values: &[usize], from: usize, to: usize| {
        let place = |v| values.iter().position(|x| *x == v).unwrap_or(0);
        place(from).abs_diff(place(to))
    };
    let each = |cell: Cell| grid.mean_seconds(|c| c == cell).map(|s| s / cell.0 as f64);
    let ratios = grid.trials.iter().filter_map(|(&cell, trials)| {
        let near = |c: &Cell| {
            let steps = step(&grid.operations, c.0, cell.0)
                + step(&grid.threads, c.1, cell.1)
                + step(&grid.addresses, c.2, cell.2);
            steps == 1
        };
        let neighbours: Vec<f64> = grid.cells().into_iter().filter(near).filter_map(each).collect();
        let slowest = trials.iter().map(|t| t.seconds / cell.0 as f64).fold(0.0, f64::max);
        Some((cell, slowest / median(&neighbours)?))
    });
    ratios.max_by(|a, b| a.1.total_cmp(&b.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_cell_is_compared_to_its_neighbours() {
        let mut grid = Grid {
            operations: vec![10, 20],
            threads: vec![2, 4],
            addresses: vec![1],
            trials: BTreeMap::new(),
        };
        for cell in grid.cells() {
            let slow = if cell == (20, 4, 1) { 3.0 } else { 1.0 };
            let seconds = slow * cell.0 as f64;
            let trial = Trial { seconds, guessed: true, decided: true, valid: true };
            grid.trials.insert(cell, vec![trial]);
        }
        assert_eq!(worst(&grid), Some(((20, 4, 1), 3.0)));
        assert_eq!(grid.success(|_| true), Some(100.0));
    }
}
