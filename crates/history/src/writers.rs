//! Who wrote which value where, in classes that readers share: a history in which a thousand reads
//! may each have seen a thousand writes stays linear.

use crate::event::{AddressId, Event, EventId, Source, Value};
use crate::history::Address;
use crate::labels::LabelMap;

/// The writes of a history, by address and value.
pub(crate) struct Writers {
    class_of: LabelMap<(AddressId, Value), u32>,
    /// `starts[c]..starts[c + 1]` are the sources of class `c`; class 0 is empty.
    pub(crate) starts: Vec<u32>,
    pub(crate) sources: Vec<Source>,
}

impl Writers {
    pub(crate) fn new(events: &[Event], addresses: &[Address]) -> Self {
        let writes: usize = addresses.iter().map(|address| 1 + address.writes.len()).sum();
        let mut class_of = LabelMap::with_capacity_and_hasher(writes, Default::default());
        let mut lengths: Vec<u32> = vec![0];
        let classes: Vec<u32> = all_writes(events, addresses)
            .map(|(address, value, _)| {
                let class = *class_of.entry((address, value)).or_insert_with(|| {
                    lengths.push(0);
                    (lengths.len() - 1) as u32
                });
                lengths[class as usize] += 1;
                class
            })
            .collect();
        let starts = running_sums(&lengths);
        let mut next = starts.clone();
        let mut sources = vec![Source::Initial; classes.len()];
        for (class, (_, _, source)) in classes.into_iter().zip(all_writes(events, addresses)) {
            let at = &mut next[class as usize];
            sources[*at as usize] = source;
            *at += 1;
        }
        Self { class_of, starts, sources }
    }

    /// The class of a value of an address; 0 if nobody wrote it.
    pub(crate) fn class(&self, address: AddressId, value: Value) -> u32 {
        self.class_of.get(&(address, value)).copied().unwrap_or(0)
    }

    /// Who wrote a value to an address.
    pub(crate) fn of(&self, address: AddressId, value: Value) -> &[Source] {
        let class = self.class(address, value) as usize;
        &self.sources[self.starts[class] as usize..self.starts[class + 1] as usize]
    }
}

/// The initial writes, then the others.
fn all_writes(
    events: &[Event],
    addresses: &[Address],
) -> impl Iterator<Item = (AddressId, Value, Source)> {
    let initial = addresses
        .iter()
        .enumerate()
        .map(|(a, address)| (AddressId::new(a), address.initial, Source::Initial));
    let written = events.iter().enumerate().filter_map(|(e, event)| {
        let value = event.operation.value_written()?;
        Some((event.address()?, value, Source::Write(EventId::new(e))))
    });
    initial.chain(written)
}

/// Where each of consecutive ranges of these lengths starts, and where the last one ends.
fn running_sums(lengths: &[u32]) -> Vec<u32> {
    let mut starts = Vec::with_capacity(lengths.len() + 1);
    let mut total = 0;
    starts.push(0);
    for length in lengths {
        total += length;
        starts.push(total);
    }
    starts
}
