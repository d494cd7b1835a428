//! An execution that meets a model: who read from whom, and the order of the writes of each address.

use history::{EventId, Source};

use crate::execution::{Execution, Knowledge, Translated};

/// All choices of an execution, by the places of its events in the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// Each read, and the write that its value came from.
    pub reads_from: Vec<(usize, usize)>,
    /// For each address its writes, the earliest first, without the initial one.
    pub write_orders: Vec<Vec<usize>>,
}

impl Choice {
    /// What agrees with what is known, with what is open settled in some way.
    pub(crate) fn of(execution: &Execution, knowledge: &Knowledge) -> Self {
        let reads_from = execution.sources.iter().filter_map(|(read, sources)| {
            let mut possible = sources.iter();
            let write = possible.find(|&&write| knowledge.reads_from.may.has(write, *read))?;
            Some((*read, *write))
        });
        // Any linear extension: a write comes next if all that must precede it have come. With the
        // number of its predecessors as the key, each comes after them.
        let order = |mut writes: Vec<usize>| {
            let all = writes.clone();
            writes.sort_by_key(|&write| {
                all.iter().filter(|&&other| knowledge.coherence.must.has(other, write)).count()
            });
            writes.retain(|&write| !execution.events[write].is_initial());
            writes
        };
        Choice {
            reads_from: reads_from.collect(),
            write_orders: execution.writes().into_iter().map(order).collect(),
        }
    }
}

/// What is to be believed about a history for it to satisfy a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Witness {
    /// Each read, and where its value came from.
    pub reads_from: Vec<(EventId, Source)>,
    /// For each address its writes, the earliest first, without the initial one.
    pub write_orders: Vec<Vec<EventId>>,
}

impl Witness {
    /// A choice in the terms of the history.
    pub(crate) fn of(translated: &Translated, choice: &Choice) -> Self {
        let origin = |at: usize| translated.origins[at];
        let reads = choice.reads_from.iter().filter_map(|&(read, write)| {
            Some((origin(read)?, origin(write).map_or(Source::Initial, Source::Write)))
        });
        let orders = choice.write_orders.iter();
        Witness {
            reads_from: reads.collect(),
            write_orders: orders
                .map(|order| order.iter().filter_map(|&write| origin(write)).collect())
                .collect(),
        }
    }
}
