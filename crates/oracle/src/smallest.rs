//! Making a history smaller while something stays true of it: how a failing test shows its
//! smallest case.

use history::{EventId, History, Operation, ThinAir, Times, Value};

use crate::sketch::{Place, Sketch, SketchAddress, returning};

/// The smallest history that can be reached from this one by leaving things out, one at a time,
/// such that `holds` stays true: events, halves of atomics, `init`, `final` and `order` lines,
/// dependencies, times. What is left is renumbered.
///
/// A read keeps at least one candidate source, unless some read of the given history has none.
///
/// ```
/// use models::Model;
/// use tribunal_oracle::{allows, smallest, text};
///
/// let history = history::parse_text(
///     "0: M[y] := 7
///      0: M[x] := 8
///      4: M[x] == 8
///      4: M[y] == 7
///      4: M[x] == 0",
/// )?;
/// let small = smallest(&history, |h| !allows(h, Model::Cc));
/// assert_eq!(text(&small), "0: M[x] := 1\n1: M[x] == 1\n1: M[x] == 0\ncheck\n");
/// # Ok::<(), history::InputError>(())
/// ```
pub fn smallest(history: &History, holds: impl Fn(&History) -> bool) -> History {
    let thin_air = thin_air_of(history);
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

/// How a history that is part of this one is to be built.
pub(crate) fn thin_air_of(history: &History) -> ThinAir {
    let is_unexplained = |e: EventId| history.event(e).is_read() && history.sources(e).is_empty();
    if history.event_ids().any(is_unexplained)
        || history.finals().iter().any(|f| f.sources.is_empty())
    {
        ThinAir::Violation
    } else {
        ThinAir::Malformed
    }
}

/// Everything that is one thing less, the biggest things first; in the end, the same with smaller
/// numbers.
pub(crate) fn simplifications(sketch: &Sketch) -> Vec<Sketch> {
    let mut all: Vec<Sketch> =
        sketch.places().into_iter().map(|place| without_event(sketch, place)).collect();
    for number in 0..sketch.addresses.len() {
        all.extend(simpler_address(sketch, number));
    }
    for place in sketch.places() {
        all.extend(simpler_event(sketch, place));
    }
    let renumbered = renumbered(sketch);
    if renumbered != *sketch {
        all.push(renumbered);
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
        with(&|s| forget_initial(s, number));
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

/// Leaves out an `init` line; who saw its value, and nobody else's, sees 0 instead.
fn forget_initial(sketch: &mut Sketch, number: usize) {
    let old = sketch.addresses[number].initial_value();
    sketch.addresses[number].initial = None;
    if sketch.writes(number).iter().any(|&(_, value)| value == old) {
        return;
    }
    for place in sketch.places() {
        let step = sketch.step_mut(place);
        if step.operation.address().is_some_and(|address| address.index() == number)
            && step.operation.value_read() == Some(old)
        {
            step.operation = returning(step.operation, 0);
        }
    }
    let end = &mut sketch.addresses[number].end;
    *end = end.map(|value| if value == old { 0 } else { value });
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

/// The same history with threads 0, 1, …, addresses x, y, … and values 1, 2, … as they come.
fn renumbered(sketch: &Sketch) -> Sketch {
    let mut tidy = sketch.clone();
    for (label, thread) in tidy.threads.iter_mut().enumerate() {
        thread.label = label as u64;
    }
    for (number, address) in tidy.addresses.iter_mut().enumerate() {
        address.label = SketchAddress::numbered(number).label;
    }
    for address in 0..tidy.addresses.len() {
        renumber_values(&mut tidy, address);
    }
    tidy
}

/// Gives the values that are written to an address new names; the initial value keeps its own.
fn renumber_values(sketch: &mut Sketch, address: usize) {
    let initial = sketch.addresses[address].initial_value();
    let mut old_values: Vec<Value> = Vec::new();
    for (_, value) in sketch.writes(address) {
        if value != initial && !old_values.contains(&value) {
            old_values.push(value);
        }
    }
    let new_values: Vec<Value> = (1..).filter(|&v| v != initial).take(old_values.len()).collect();
    let renamed = |value: Value| match old_values.iter().position(|&old| old == value) {
        Some(place) => new_values[place],
        None => value,
    };
    for place in sketch.places() {
        let step = sketch.step_mut(place);
        step.operation = match step.operation {
            Operation::Read { address: a, value } if a.index() == address => {
                Operation::Read { address: a, value: renamed(value) }
            }
            Operation::Write { address: a, value } if a.index() == address => {
                Operation::Write { address: a, value: renamed(value) }
            }
            Operation::ReadModifyWrite { address: a, read, write } if a.index() == address => {
                let (read, write) = (renamed(read), renamed(write));
                Operation::ReadModifyWrite { address: a, read, write }
            }
            other => other,
        };
    }
    let end = &mut sketch.addresses[address].end;
    *end = end.map(renamed);
}
