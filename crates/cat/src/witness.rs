//! An execution that meets a model: who read from whom, and the order of the writes of each address.

use history::{EventId, Source};

use crate::execution::{Execution, Knowledge};

/// What is to be believed about a history for it to satisfy a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Witness {
    /// Each read, and where its value came from.
    pub reads_from: Vec<(EventId, Source)>,
    /// For each address its writes, the earliest first, without the initial one.
    pub write_orders: Vec<Vec<EventId>>,
}

/// A witness that agrees with what is known, in which what is open is settled in some way.
pub(crate) fn witness(execution: &Execution<'_>, knowledge: &Knowledge) -> Witness {
    let event = |at: usize| execution.events[at].event;
    let reads = execution.sources().into_iter().filter_map(|(read, sources)| {
        let write = sources.into_iter().find(|&write| knowledge.reads_from.may.has(write, read))?;
        Some((event(read)?, event(write).map_or(Source::Initial, Source::Write)))
    });
    // Any linear extension: a write comes next if all that must precede it have come. With the
    // number of its predecessors as the key, each comes after them.
    let order = |mut writes: Vec<usize>| {
        let all = writes.clone();
        writes.sort_by_key(|&write| {
            all.iter().filter(|&&other| knowledge.coherence.must.has(other, write)).count()
        });
        writes.into_iter().filter_map(event).collect()
    };
    Witness {
        reads_from: reads.collect(),
        write_orders: execution.writes().into_iter().map(order).collect(),
    }
}
