//! Random histories, as a producer of traces could have made them.

use proptest::collection::vec;
use proptest::prelude::*;
use tribunal_history::{
    AddressLabel, Builder, Draft, History, Kinds, Operation, ThinAir, Times, WriteName,
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
    (0..THREADS.len(), 0..10u8, 0..labels().len(), value, choices, (time(), time()), any::<bool>())
        .prop_map(|(thread, kind, address, value, choices, times, named)| {
            let choices = choices.map(|choice| choice.index(1 << 20));
            Recipe { thread, kind, address, value, choices, times, named }
        })
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
        let event: Draft =
            builder.event(THREADS[recipe.thread], operation, line as u32 + 1).unwrap();
        let (begin, end) = recipe.times;
        let end = end.map(|end| end + begin.unwrap_or(0));
        if begin.is_some() || end.is_some() {
            builder.times(event, Times { begin, end }).unwrap();
        }
        let earlier = &mut readers[recipe.thread];
        if !earlier.is_empty() && recipe.choices[1].is_multiple_of(3) {
            for choice in recipe.choices {
                builder.dependency(event, &earlier[choice % earlier.len()]).unwrap();
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
