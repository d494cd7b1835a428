//! Making a history smaller while something stays true of it: how a failing test shows its
//! smallest case.

use history::{History, Operation, ThinAir, Times};

use crate::sketch::{Place, Sketch};

/// The smallest history that can be reached from this one by leaving things out, one at a time,
/// such that `holds` stays true: events, halves of atomics, `init`, `final` and `order` lines,
/// dependencies, times.
///
/// A read keeps at least one candidate source, unless some read of the given history has none.
pub fn smallest(history: &History, holds: impl Fn(&History) -> bool) -> History {
    let has_thin_air =
        history.event_ids().any(|e| history.event(e).is_read() && history.sources(e).is_empty())
            || history.finals().iter().any(|f| f.sources.is_empty());
    let thin_air = if has_thin_air { ThinAir::Violation } else { ThinAir::Malformed };
    let mut best = history.clone();
    'smaller: loop {
        for sketch in simplifications(&Sketch::of(&best)) {
            if let Ok(smaller) = sketch.build(thin_air)
                && holds(&smaller)
            {
                best = smaller;
                continue 'smaller;
            }
        }
        return best;
    }
}

/// Everything that is one thing less, the biggest things first.
fn simplifications(sketch: &Sketch) -> Vec<Sketch> {
    let mut all: Vec<Sketch> =
        sketch.places().into_iter().map(|place| without_event(sketch, place)).collect();
    for number in 0..sketch.addresses.len() {
        all.extend(simpler_address(sketch, number));
    }
    for place in sketch.places() {
        all.extend(simpler_event(sketch, place));
    }
    all
}

fn without_event(sketch: &Sketch, gone: Place) -> Sketch {
    let mut smaller = sketch.clone();
    let steps = &mut smaller.threads[gone.thread].steps;
    steps.remove(gone.index);
    for step in steps {
        step.depends_on.retain(|&read| read != gone.index);
        for read in &mut step.depends_on {
            *read -= usize::from(*read > gone.index);
        }
    }
    for chain in smaller.addresses.iter_mut().flat_map(|address| &mut address.orders) {
        chain.retain(|&write| write != Some(gone));
        for write in chain.iter_mut().flatten() {
            let moves = write.thread == gone.thread && write.index > gone.index;
            write.index -= usize::from(moves);
        }
    }
    smaller
}

fn simpler_address(sketch: &Sketch, number: usize) -> Vec<Sketch> {
    let mut all = Vec::new();
    let address = &sketch.addresses[number];
    let mut with = |change: &dyn Fn(&mut Sketch)| {
        let mut smaller = sketch.clone();
        change(&mut smaller);
        all.push(smaller);
    };
    if address.initial.is_some() {
        with(&|s| s.addresses[number].initial = None);
    }
    if address.end.is_some() {
        with(&|s| s.addresses[number].end = None);
    }
    for line in 0..address.orders.len() {
        with(&|s| {
            s.addresses[number].orders.remove(line);
        });
        for place in 0..address.orders[line].len() {
            with(&|s| {
                s.addresses[number].orders[line].remove(place);
            });
        }
    }
    all
}

fn simpler_event(sketch: &Sketch, place: Place) -> Vec<Sketch> {
    let mut all = Vec::new();
    let step = sketch.step(place);
    let mut with = |change: &dyn Fn(&mut Sketch)| {
        let mut smaller = sketch.clone();
        change(&mut smaller);
        all.push(smaller);
    };
    if let Operation::ReadModifyWrite { address, read, write } = step.operation {
        with(&|s| s.step_mut(place).operation = Operation::Write { address, value: write });
        with(&|s| s.step_mut(place).operation = Operation::Read { address, value: read });
    }
    if step.times != Times::default() {
        with(&|s| s.step_mut(place).times = Times::default());
    }
    for dependency in 0..step.depends_on.len() {
        with(&|s| {
            s.step_mut(place).depends_on.remove(dependency);
        });
    }
    all
}
