//! From a thousand operations to ten million: time and memory of every model, their exponents, and
//! another checker on the same files where there is one.

use std::collections::BTreeMap;
use std::io;

use super::{
    ADDRESSES, AXE_MODELS, Files, Job, MODELS, SizeLimits, THREADS, announce, axe, in_turns,
    operations,
};
use crate::axis::{Axis, Scale, Unit, count};
use crate::chart::{Chart, Line, Point};
use crate::child::Usage;
use crate::context::Context;
use crate::report::Section;
use crate::statistics::exponent;
use crate::table::{Table, dash, ratio};

/// Below this size, starting a process is a large part of the time.
const EXPONENT_FROM: usize = 16 << 10;

/// Who checks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Checker {
    Tribunal,
    Axe,
}

/// Measurements by checker, place of the model in [`MODELS`], and size.
struct Sizes {
    sizes: Vec<usize>,
    runs: BTreeMap<(Checker, usize, usize), Usage>,
}

/// The tables and plots of time and memory.
pub(super) fn report(context: &Context, section: &mut Section) -> io::Result<SizeLimits> {
    let sizes = measure(context)?;
    section.heading("Over operations");
    time_table(section, &sizes);
    section.plot("growth-time", &chart(&sizes, "time of a check", Unit::Seconds, Usage::cpu));
    memory_table(section, &sizes);
    let peak = |usage: &Usage| usage.peak as f64;
    section.plot("growth-memory", &chart(&sizes, "peak memory of a check", Unit::Bytes, peak));
    axe_table(context, section, &sizes);
    Ok(sizes.patience())
}

fn measure(context: &Context) -> io::Result<Sizes> {
    let kilo: &[usize] = context.pick(&[1, 4, 16, 64, 256, 512, 1024, 10_240], &[1, 4, 16, 32, 64]);
    let sizes: Vec<usize> = kilo.iter().map(|n| n << 10).collect();
    let mut found = Sizes { sizes, runs: BTreeMap::new() };
    for (place, &size) in found.sizes.clone().iter().enumerate() {
        let mut files = Files::new(context, size, THREADS, ADDRESSES);
        let before = place.checked_sub(1).map(|p| found.sizes[p]);
        let mut jobs = Vec::new();
        for (m, model) in MODELS.into_iter().enumerate() {
            let worth = found.worth_trying(context, (Checker::Tribunal, m), before, size);
            jobs.push(if worth { Some(Job { model, file: files.valid(model)? }) } else { None });
        }
        announce(context, "valid traces", &operations(size));
        let repetitions = if size > 2 << 20 { 1 } else { context.pick(3, 1) };
        for (m, checked) in in_turns(context, &jobs, repetitions)?.into_iter().enumerate() {
            if let Some(checked) = checked {
                found.runs.insert((Checker::Tribunal, m, size), checked.usage);
            }
        }
        for (m, model) in MODELS.into_iter().enumerate() {
            if AXE_MODELS.contains(&model)
                && found.worth_trying(context, (Checker::Axe, m), before, size)
                && let Some(usage) = axe(context, model, &files.valid(model)?)?
            {
                found.runs.insert((Checker::Axe, m, size), usage);
            }
        }
    }
    Ok(found)
}

impl Sizes {
    fn get(&self, checker: Checker, model: usize, size: usize) -> Option<&Usage> {
        self.runs.get(&(checker, model, size))
    }

    /// The run, if it gave an answer.
    fn answered(&self, checker: Checker, model: usize, size: usize) -> Option<&Usage> {
        self.get(checker, model, size).filter(|usage| usage.answered())
    }

    /// Whether a check was fast enough on the size before to be worth a measurement on this one.
    fn worth_trying(
        &self,
        context: &Context,
        (checker, model): (Checker, usize),
        before: Option<usize>,
        size: usize,
    ) -> bool {
        let Some(before) = before else { return true };
        let Some(usage) = self.answered(checker, model, before) else { return false };
        usage.cpu() * (size as f64 / before as f64) <= context.limit() as f64
    }

    fn cell(
        &self,
        checker: Checker,
        model: usize,
        size: usize,
        show: fn(&Usage) -> String,
    ) -> String {
        match self.get(checker, model, size) {
            None => dash(),
            Some(usage) => usage.failure().unwrap_or_else(|| show(usage)),
        }
    }

    /// From which size on each model gave no answer.
    fn patience(&self) -> SizeLimits {
        let too_large = MODELS.into_iter().enumerate().filter_map(|(m, model)| {
            let failed = |size: &&usize| self.answered(Checker::Tribunal, m, **size).is_none();
            Some((model, *self.sizes.iter().find(failed)?))
        });
        SizeLimits { too_large: too_large.collect() }
    }

    /// The ratio of two sizes' times.
    fn growth(&self, checker: Checker, model: usize, from: usize, to: usize) -> String {
        let time = |size| self.answered(checker, model, size).map(Usage::cpu);
        ratio(time(to), time(from))
    }

    fn exponent(&self, checker: Checker, model: usize) -> Option<f64> {
        let sizes = self.sizes.iter().filter(|size| **size >= EXPONENT_FROM);
        let points: Vec<(f64, f64)> = sizes
            .filter_map(|&size| Some((size as f64, self.answered(checker, model, size)?.cpu())))
            .collect();
        exponent(&points)
    }

    /// Neighbouring sizes whose ratio is worth a column: the last doubling, and the last step.
    fn steps(&self) -> Vec<(usize, usize)> {
        let pairs: Vec<(usize, usize)> = self.sizes.windows(2).map(|p| (p[0], p[1])).collect();
        let doubling = pairs.iter().rfind(|(from, to)| *to == 2 * from).copied();
        let mut steps: Vec<(usize, usize)> =
            doubling.into_iter().chain(pairs.last().copied()).collect();
        steps.dedup();
        steps
    }
}

fn time_table(section: &mut Section, sizes: &Sizes) {
    let steps = sizes.steps();
    let head = ["model".to_owned()]
        .into_iter()
        .chain(sizes.sizes.iter().map(|s| count(*s as f64)))
        .chain(steps.iter().map(|(a, b)| format!("{} → {}", count(*a as f64), count(*b as f64))))
        .chain(["exponent".to_owned()]);
    let mut table = Table::new(head);
    for (m, model) in MODELS.into_iter().enumerate() {
        let show = |usage: &Usage| Unit::Seconds.show(usage.cpu());
        let cells = sizes.sizes.iter().map(|&s| sizes.cell(Checker::Tribunal, m, s, show));
        let growth = steps.iter().map(|&(a, b)| sizes.growth(Checker::Tribunal, m, a, b));
        let fit = sizes.exponent(Checker::Tribunal, m).map_or_else(dash, |e| format!("{e:.2}"));
        table.row([model.name().to_owned()].into_iter().chain(cells).chain(growth).chain([fit]));
    }
    section.paragraph(format!(
        "Time of a check with reading the file, over operations. The exponent is fitted from {} on.",
        count(EXPONENT_FROM as f64)
    ));
    section.table(&table);
}

fn memory_table(section: &mut Section, sizes: &Sizes) {
    let last = sizes.sizes.iter().rev();
    let head = ["model".to_owned()]
        .into_iter()
        .chain(sizes.sizes.iter().map(|s| count(*s as f64)))
        .chain(["bytes an event, at the largest".to_owned()]);
    let mut table = Table::new(head);
    for (m, model) in MODELS.into_iter().enumerate() {
        let show = |usage: &Usage| Unit::Bytes.show(usage.peak as f64);
        let cells = sizes.sizes.iter().map(|&s| sizes.cell(Checker::Tribunal, m, s, show));
        let largest = last.clone().find_map(|&size| {
            Some(sizes.answered(Checker::Tribunal, m, size)?.peak as f64 / size as f64)
        });
        let each = largest.map_or_else(dash, |bytes| format!("{bytes:.0}"));
        table.row([model.name().to_owned()].into_iter().chain(cells).chain([each]));
    }
    section.paragraph(format!(
        "Peak memory of the process, reading the file included. For comparison, 64 + 8 × {THREADS} \
         threads = {} bytes an event.",
        64 + 8 * THREADS
    ));
    section.table(&table);
}

fn chart(sizes: &Sizes, what: &str, unit: Unit, value: fn(&Usage) -> f64) -> Chart {
    let line = |checker: Checker, m: usize, name: String| Line {
        name,
        points: sizes
            .sizes
            .iter()
            .filter_map(|&size| {
                let usage = sizes.get(checker, m, size)?;
                Some(Point { x: size as f64, y: value(usage), at_least: !usage.answered() })
            })
            .collect(),
        dashed: checker == Checker::Axe,
    };
    let ours =
        MODELS.iter().enumerate().map(|(m, model)| (Checker::Tribunal, m, model.name().into()));
    let theirs = MODELS
        .iter()
        .enumerate()
        .map(|(m, model)| (Checker::Axe, m, format!("axe {}", model.name())));
    let lines = ours.chain(theirs).map(|(checker, m, name)| line(checker, m, name));
    Chart {
        title: format!("{what}, {THREADS} threads, {ADDRESSES} addresses"),
        x: Axis::new("operations", Scale::Logarithmic, Unit::Count),
        y: Axis::new(what.split(' ').next().unwrap_or(what), Scale::Logarithmic, unit),
        lines: lines.filter(|line| !line.points.is_empty()).collect(),
    }
}

fn axe_table(context: &Context, section: &mut Section, sizes: &Sizes) {
    if context.axe.is_none() {
        section.paragraph("No `axe` on the PATH: nothing to compare with.");
        return;
    }
    section
        .paragraph("`axe check` on the same files, and its time and memory as multiples of ours.");
    let mut table = Table::new(["model", "operations", "axe", "× ours", "memory", "× ours"]);
    for (m, model) in MODELS.into_iter().enumerate() {
        for &size in &sizes.sizes {
            let Some(usage) = sizes.get(Checker::Axe, m, size) else { continue };
            let ours = sizes.answered(Checker::Tribunal, m, size);
            let theirs = usage.answered().then_some(usage);
            table.row([
                model.name().to_owned(),
                count(size as f64),
                sizes.cell(Checker::Axe, m, size, |usage| Unit::Seconds.show(usage.cpu())),
                ratio(theirs.map(Usage::cpu), ours.map(Usage::cpu)),
                Unit::Bytes.show(usage.peak as f64),
                ratio(theirs.map(|u| u.peak as f64), ours.map(|u| u.peak as f64)),
            ]);
        }
    }
    section.table(&table);
}

#[cfg(test)]
mod tests {
    use super::*;
    use models::Model;

    #[test]
    fn ratios_are_shown_for_the_last_doubling_and_the_last_step() {
        let sizes = Sizes { sizes: vec![1, 4, 8, 80], runs: BTreeMap::new() };
        assert_eq!(sizes.steps(), [(4, 8), (8, 80)]);
    }

    #[test]
    fn every_model_is_measured_once() {
        for model in Model::ALL {
            assert_eq!(MODELS.iter().filter(|m| **m == model).count(), 1, "{model}");
        }
    }
}
