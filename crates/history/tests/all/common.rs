//! Random histories, as a producer of traces could have made them.

use proptest::collection::vec;
use proptest::prelude::*;
use tribunal_history::{
    AccessOrder, AddressLabel, Builder, DependencyKind, Draft, FenceName, History, Kinds,
    Operation, ThinAir, Times, WriteName,
};

/// What one event is made of; what does not apply to its kind is ignored.
#[derive(Clone, Debug)]
pub(crate) struct Recipe {
    thread: usize,
    kind: u8,
    address: usize,
    value: u64,
    /// Which of the values ever written is read, and which earlier reads are depended on.
    choices: [usize; 2],
    times: (Option<u64>, Option<u64>),
    named: bool,
    /// How it is annotated: an access order, a fence by its name, a pair with an earlier load.
    annotation: usize,
}

/// A whole trace.
#[derive(Clone, Debug)]
pub(crate) struct Trace {
    events: Vec<Recipe>,
    initial: Vec<Option<u64>>,
    finals: Vec<Option<usize>>,
    orders: Vec<(usize, Vec<usize>)>,
}

const THREADS: [u64; 4] = [0, 7, 1, u64::MAX];

fn labels() -> [AddressLabel; 5] {
    [
        AddressLabel::Number(0),
        AddressLabel::Name("v0".into()),
        AddressLabel::Name("M".into()),
        AddressLabel::Number(u64::MAX),
        AddressLabel::Name("check_.$'9".into()),
    ]
}

fn recipe() -> impl Strategy<Value = Recipe> {
    let time = || proptest::option::weighted(0.2, 0..100u64);
    let value = prop_oneof![0..6u64, Just(u64::MAX), any::<u64>()];
    let choices = [any::<prop::sample::Index>(), any::<prop::sample::Index>()];
    let who = (0..THREADS.len(), 0..10u8, 0..labels().len());
    (who, value, choices, (time(), time()), any::<bool>(), 0..24usize).prop_map(
        |((thread, kind, address), value, choices, times, named, annotation)| {
            let choices = choices.map(|choice| choice.index(1 << 20));
            Recipe { thread, kind, address, value, choices, times, named, annotation }
        },
    )
}

/// Traces that are well-formed.
pub(crate) fn trace() -> impl Strategy<Value = Trace> {
    let count = labels().len();
    (
        vec(recipe(), 0..30),
        vec(proptest::option::of(0..3u64), count),
        vec(proptest::option::weighted(0.3, 0..1000usize), count),
        vec((0..count, vec(0..1000usize, 1..5)), 0..3),
    )
        .prop_map(|(events, initial, finals, orders)| Trace {
            events,
            initial,
            finals,
            orders,
        })
}

impl Recipe {
    fn writes(&self) -> bool {
        matches!(self.kind, 4..=8)
    }

    fn operation(&self, builder: &mut Builder, values: &[Vec<u64>]) -> Operation {
        let address = builder.address(&labels()[self.address]);
        let known = &values[self.address];
        let read = known[self.choices[0] % known.len()];
        let kinds = [Kinds::READS, Kinds::WRITES, Kinds::ALL, Kinds::NONE];
        match self.kind {
            0..=3 => Operation::Read { address, value: read },
            4..=6 => Operation::Write { address, value: self.value },
            7..=8 => Operation::ReadModifyWrite { address, read, write: self.value },
            _ => Operation::Fence {
                before: kinds[self.choices[0] % 4],
                after: kinds[self.choices[1] % 4],
            },
        }
    }
}

impl Trace {
    /// The history of the trace.
    pub(crate) fn history(&self) -> History {
        let mut builder = Builder::new();
        let mut values: Vec<Vec<u64>> = self.initial.iter().map(|v| vec![v.unwrap_or(0)]).collect();
        for event in self.events.iter().filter(|event| event.writes()) {
            values[event.address].push(event.value);
        }
        let mut readers: Vec<Vec<String>> = vec![Vec::new(); THREADS.len()];
        let mut writers: Vec<Vec<WriteName>> = values.iter().map(|v| unique(v)).collect();
        for (line, recipe) in self.events.iter().enumerate() {
            self.say_event(recipe, line, &mut builder, &values, &mut readers, &mut writers);
        }
        for (a, initial) in self.initial.iter().enumerate() {
            if let &Some(value) = initial {
                let address = builder.address(&labels()[a]);
                builder.initial(address, value, 0).unwrap();
            }
        }
        for (a, choice) in self.finals.iter().enumerate() {
            if let &Some(choice) = choice {
                let address = builder.address(&labels()[a]);
                let value = values[a][choice % values[a].len()];
                builder.final_value(address, value, 0).unwrap();
            }
        }
        for (a, choices) in &self.orders {
            let address = builder.address(&labels()[*a]);
            builder.order(address, chain(&writers[*a], choices), 0);
        }
        builder.finish(ThinAir::Malformed).unwrap()
    }

    fn say_event(
        &self,
        recipe: &Recipe,
        line: usize,
        builder: &mut Builder,
        values: &[Vec<u64>],
        readers: &mut [Vec<String>],
        writers: &mut [Vec<WriteName>],
    ) {
        let operation = recipe.operation(builder, values);
        let (thread, number) = (THREADS[recipe.thread], line as u32 + 1);
        let fence = FenceName::ALL.get(recipe.annotation).filter(|_| operation.address().is_none());
        let event: Draft = match fence {
            Some(&name) => builder.fence(thread, name, number).unwrap(),
            None => builder.event(thread, operation, number).unwrap(),
        };
        if let (Some(&order), Some(_)) =
            (AccessOrder::ALL.get(recipe.annotation), operation.address())
        {
            builder.annotate(event, order).unwrap();
        }
        let (begin, end) = recipe.times;
        let end = end.map(|end| end + begin.unwrap_or(0));
        if begin.is_some() || end.is_some() {
            builder.times(event, Times { begin, end }).unwrap();
        }
        let earlier = &mut readers[recipe.thread];
        if !earlier.is_empty() && recipe.choices[1].is_multiple_of(3) {
            for choice in recipe.choices {
                let kind = DependencyKind::ALL[choice % 7 % 3];
                let name = &earlier[choice % earlier.len()];
                builder.dependency_of_kind(event, name, kind).unwrap();
            }
        }
        if recipe.annotation > 12 {
            // Most of these are no pair, which is refused.
            for name in earlier.iter() {
                if builder.pair(event, name).is_ok() {
                    break;
                }
            }
        }
        if recipe.named {
            let name = format!("e{line}");
            builder.name(event, &name).unwrap();
            if operation.value_read().is_some() {
                earlier.push(name.clone());
            }
            if let Some(value) = operation.value_written() {
                let writers = &mut writers[recipe.address];
                writers.retain(|writer| *writer != WriteName::Value(value));
                writers.push(WriteName::Name(name.into()));
            }
        }
    }
}

/// The values that stand once, as names of writes.
fn unique(values: &[u64]) -> Vec<WriteName> {
    let count = |value| values.iter().filter(|&&v| v == value).count();
    values.iter().filter(|&&v| count(v) == 1).map(|&v| WriteName::Value(v)).collect()
}

/// Some of the writers, none twice.
fn chain(writers: &[WriteName], choices: &[usize]) -> Vec<WriteName> {
    let mut chain: Vec<WriteName> = Vec::new();
    for &choice in choices {
        if let Some(writer) = writers.get(choice % writers.len().max(1))
            && !chain.contains(writer)
        {
            chain.push(writer.clone());
        }
    }
    chain
}
