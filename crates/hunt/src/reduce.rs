//! What a minimal violation comes down to: the same cycle in as few events as possible.
//!
//! A part of a run keeps events that take no part in the cycle and only say something about those
//! that do: a read that shows which of two writes came first, the write whose value a read on the
//! cycle returned, the other half of an atomic. Here such events give way to what they say:
//!
//! - *an order*: where the accesses of a place, in the whole run and on their own, allow only one
//!   order of two writes, that order is written down, and whatever showed it may go;
//! - *a beginning*: a write that comes before all others of its place that are kept becomes the
//!   initial value, if nobody reads what was there before;
//! - *a half*: an atomic becomes a plain read or a plain write.
//!
//! Each step only takes constraints away from a run that keeps the model: what is left violates the
//! model only if the run does, given that the accesses of each place are coherent, which is asked
//! before (a run that is not coherent is left as it is). So store buffering is found as such,
//! whatever its reads happened to return. Costs a judgement of a handful of events for each try.

use evidence::{Proof, Verdict};
use history::{AddressId, AddressLabel, Builder, History, Operation, ThinAir, Value, WriteName};
use judge::{AnyModel, Budget, Engine, Outcome, Shrunk, judge};
use models::{Model, implies};

/// More events than these are not worth the time.
const MOST: usize = 24;

/// The reduced form of a part of a run that violates a model; whether it says more than the part.
pub(crate) fn reduce(
    run: &History,
    shrunk: Shrunk,
    memory_model: &AnyModel,
    budget: &Budget,
) -> (Shrunk, bool) {
    let part = &shrunk.history;
    let fits = memory_model.model().is_some_and(|model| implies(model, Model::Coherence))
        && run.is_unambiguous()
        && !run.has_times()
        && run.orders().is_empty()
        && part.dependencies().is_empty()
        && part.len() <= MOST;
    let Some(sketch) = fits.then(|| EditableHistory::of(part, run, budget)).flatten() else {
        return (shrunk, false);
    };
    let mut search = Search { best: sketch.clone(), found: None, memory_model, budget };
    if !search.attempt(sketch) {
        return (shrunk, false);
    }
    while search.best.smaller().into_iter().any(|sketch| search.attempt(sketch)) {}
    match search.found {
        Some((history, proof)) if history.len() < part.len() || search.best.halved => {
            (Shrunk { history, proof, ..shrunk }, true)
        }
        _ => (shrunk, false),
    }
}

/// A history that can be changed.
#[derive(Clone)]
struct EditableHistory {
    /// Thread, operation and line of each event; addresses are those of the part.
    events: Vec<(u64, Operation, u32)>,
    places: Vec<(AddressLabel, Value)>,
    finals: Vec<(AddressId, Value)>,
    /// Writes of a place, by value, of which the first came before the second.
    before: Vec<(AddressId, Value, Value)>,
    /// Whether an atomic has become a plain access.
    halved: bool,
}

impl EditableHistory {
    /// The part, with the orders that the run shows; `None` if the run is not even coherent.
    fn of(part: &History, run: &History, budget: &Budget) -> Option<EditableHistory> {
        let events = part.event_ids().map(|id| {
            let event = part.event(id);
            (part.thread_label(part.thread_of(id)), event.operation, event.line)
        });
        let place = |id| (part.address(id).label.clone(), part.address(id).initial);
        let mut sketch = EditableHistory {
            events: events.collect(),
            places: part.address_ids().map(place).collect(),
            finals: part.finals().iter().map(|last| (last.address, last.value)).collect(),
            before: Vec::new(),
            halved: false,
        };
        for address in part.address_ids() {
            let of_run = run.address_by_label(&part.address(address).label)?;
            let written = sketch.written(address);
            if written.is_empty() {
                continue;
            }
            let alone = AddressHistory { run, address: of_run, budget };
            if !alone.allows(&[])? {
                return None;
            }
            for &one in &written {
                for &other in written.iter().filter(|&&other| other != one) {
                    if !alone.allows(&[other, one])? {
                        sketch.before.push((address, one, other));
                    }
                }
            }
        }
        Some(sketch)
    }

    /// The values that are written to a place.
    fn written(&self, address: AddressId) -> Vec<Value> {
        let here = self.events.iter().filter(|event| event.1.address() == Some(address));
        here.filter_map(|event| event.1.value_written()).collect()
    }

    /// Whether someone takes this value from a place.
    fn is_taken(&self, address: AddressId, value: Value) -> bool {
        let reads = |event: &(u64, Operation, u32)| {
            event.1.address() == Some(address) && event.1.value_read() == Some(value)
        };
        self.events.iter().any(reads) || self.finals.contains(&(address, value))
    }

    fn build(&self) -> Option<History> {
        let mut builder = Builder::new();
        let mut addresses = Vec::new();
        for (place, (label, initial)) in self.places.iter().enumerate() {
            let place = AddressId::new(place);
            let used = self.events.iter().any(|event| event.1.address() == Some(place))
                || self.finals.iter().any(|last| last.0 == place);
            if !used {
                addresses.push(None);
                continue;
            }
            let address = builder.address(label);
            addresses.push(Some(address));
            if *initial != 0 {
                builder.initial(address, *initial, 0).ok()?;
            }
        }
        let to = |address: AddressId| addresses[address.index()];
        for &(thread, operation, line) in &self.events {
            let operation = match operation.address() {
                Some(address) => moved(operation, to(address)?),
                None => operation,
            };
            builder.event(thread, operation, line).ok()?;
        }
        for &(address, value) in &self.finals {
            builder.final_value(to(address)?, value, 0).ok()?;
        }
        for (address, chain) in self.chains() {
            let writes = chain.into_iter().map(WriteName::Value).collect();
            builder.order(to(address)?, writes, 0);
        }
        builder.finish(ThinAir::Malformed).ok()
    }

    /// The orders, as one line for each place where they say all.
    fn chains(&self) -> Vec<(AddressId, Vec<Value>)> {
        let mut chains = Vec::new();
        for place in (0..self.places.len()).map(AddressId::new) {
            let pairs: Vec<(Value, Value)> = self
                .before
                .iter()
                .filter(|pair| pair.0 == place)
                .map(|pair| (pair.1, pair.2))
                .collect();
            let mut values = self.written(place);
            let earlier = |value: Value| pairs.iter().filter(|pair| pair.1 == value).count();
            values.sort_by_key(|&value| earlier(value));
            let total = values.windows(2).all(|two| pairs.contains(&(two[0], two[1])));
            match total && values.len() > 1 {
                true => chains.push((place, values)),
                false => {
                    chains.extend(pairs.into_iter().map(|(one, other)| (place, vec![one, other])))
                }
            }
        }
        chains
    }

    /// The history without an event and the facts about its write.
    fn without(&self, event: usize) -> EditableHistory {
        let mut less = self.clone();
        let (_, operation, _) = less.events.remove(event);
        less.forget(operation);
        less
    }

    /// All sketches that say a little less, those with fewer events first.
    fn smaller(&self) -> Vec<EditableHistory> {
        let events = 0..self.events.len();
        let mut all: Vec<EditableHistory> =
            events.clone().rev().map(|event| self.without(event)).collect();
        all.extend(events.clone().flat_map(|event| self.halves(event)));
        all.extend(events.filter_map(|event| self.begun_with(event)));
        all.extend((0..self.before.len()).rev().map(|pair| {
            let mut sketch = self.clone();
            sketch.before.remove(pair);
            sketch
        }));
        all.extend((0..self.finals.len()).rev().map(|last| {
            let mut sketch = self.clone();
            sketch.finals.remove(last);
            sketch
        }));
        all
    }

    /// With an atomic as a plain read, and as a plain write.
    fn halves(&self, event: usize) -> Vec<EditableHistory> {
        let whole = self.events[event].1;
        let Operation::ReadModifyWrite { address, read, write } = whole else {
            return Vec::new();
        };
        let mut reads = self.clone();
        reads.halved = true;
        let mut writes = reads.clone();
        reads.forget(whole);
        reads.events[event].1 = Operation::Read { address, value: read };
        writes.events[event].1 = Operation::Write { address, value: write };
        vec![reads, writes]
    }

    /// The history with the first write of a place as its initial value, if no read returns the
    /// former initial value.
    fn begun_with(&self, event: usize) -> Option<EditableHistory> {
        let operation = self.events[event].1;
        let (address, value) = (operation.address()?, operation.value_written()?);
        let written = self.written(address);
        let mut others = written.iter().filter(|&&other| other != value);
        if !others.all(|&other| self.before.contains(&(address, value, other))) {
            return None;
        }
        let mut sketch = self.without(event);
        let initial = std::mem::replace(&mut sketch.places[address.index()].1, value);
        (!sketch.is_taken(address, initial)).then_some(sketch)
    }

    /// Removes the orders of the writes of an operation.
    fn forget(&mut self, operation: Operation) {
        if let (Some(address), Some(value)) = (operation.address(), operation.value_written()) {
            self.before.retain(|&(place, one, other)| {
                place != address || (one != value && other != value)
            });
        }
    }
}

fn moved(operation: Operation, address: AddressId) -> Operation {
    match operation {
        Operation::Read { value, .. } => Operation::Read { address, value },
        Operation::Write { value, .. } => Operation::Write { address, value },
        Operation::ReadModifyWrite { read, write, .. } => {
            Operation::ReadModifyWrite { address, read, write }
        }
        Operation::Fence { .. } => operation,
    }
}

/// The accesses of one place in a run, on their own.
struct AddressHistory<'a> {
    run: &'a History,
    address: AddressId,
    budget: &'a Budget,
}

impl AddressHistory<'_> {
    /// Whether they are coherent with these writes in this order; `None` if that is not known.
    fn allows(&self, order: &[Value]) -> Option<bool> {
        let mut builder = Builder::new();
        let place = self.run.address(self.address);
        let address = builder.address(&place.label);
        builder.initial(address, place.initial, 0).ok()?;
        for id in self.run.event_ids().filter(|&id| self.run.address_of(id) == Some(self.address)) {
            let thread = self.run.thread_label(self.run.thread_of(id));
            builder.event(thread, moved(self.run.event(id).operation, address), 0).ok()?;
        }
        for last in self.run.finals().iter().filter(|last| last.address == self.address) {
            builder.final_value(address, last.value, 0).ok()?;
        }
        if !order.is_empty() {
            builder.order(address, order.iter().map(|&value| WriteName::Value(value)).collect(), 0);
        }
        let history = builder.finish(ThinAir::Violation).ok()?;
        match judge(&history, Model::Coherence, Engine::Auto, self.budget).outcome {
            Outcome::Holds(_) => Some(true),
            Outcome::Broken(_) => Some(false),
            Outcome::Undecided(_) => None,
        }
    }
}

/// The best sketch so far.
struct Search<'a> {
    best: EditableHistory,
    found: Option<(History, Proof)>,
    memory_model: &'a AnyModel,
    budget: &'a Budget,
}

impl Search<'_> {
    /// Whether a sketch violates the model; if so, it is the best.
    fn attempt(&mut self, sketch: EditableHistory) -> bool {
        if self.budget.is_spent() {
            return false;
        }
        let Some(history) = sketch.build() else { return false };
        let refuted = self.memory_model.refute(&history, Engine::Auto, self.budget);
        let Verdict::Broken(proof) = refuted else { return false };
        self.best = sketch;
        self.found = Some((history, proof));
        true
    }
}

#[cfg(test)]
mod tests;
