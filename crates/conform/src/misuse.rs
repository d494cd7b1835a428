//! Finds a wrong commit in a trace: one that is not of the oldest pending store of its processor.
//!
//! Every store of the trace has a distinct value, so a commit identifies its store. The first wrong
//! commit is reported as a sentence: the calls in the protocol are wrong, so an observer's answer
//! that relies on them means nothing.

use crate::trace::{Commit, MemoryEvent, MemoryTrace};
use crate::verify::MemoryModel;

/// The first commit of a trace that is not of a pending store, or not of the oldest one, as a
/// sentence. For total store order, the stores of a processor are committed in program order; for
/// sequential consistency, its stores to each address.
pub(crate) fn find(trace: &MemoryTrace, memory_model: MemoryModel) -> Option<String> {
    let mut pending: Vec<&MemoryEvent> = Vec::new();
    let mut stored = 0;
    for (number, commit) in trace.commits.iter().enumerate() {
        let new = trace.events.iter().take(commit.after).skip(stored);
        pending.extend(new.filter(|event| event.is_store));
        stored = stored.max(commit.after);
        let is_own = |event: &MemoryEvent| {
            event.processor == commit.processor
                && (event.address == commit.address || memory_model == MemoryModel::Tso)
        };
        match pending.iter().position(|event| is_own(event)) {
            Some(oldest) if is_of(commit, pending[oldest]) => drop(pending.remove(oldest)),
            oldest => {
                let oldest = oldest.map(|oldest| pending[oldest]);
                return Some(sentence(trace, number, oldest, &pending));
            }
        }
    }
    None
}

/// Whether a commit is of this store.
fn is_of(commit: &Commit, event: &MemoryEvent) -> bool {
    let Commit { processor, address, value, .. } = commit;
    event.is_store
        && (&event.processor, &event.address, event.value) == (processor, address, *value)
}

fn sentence(
    trace: &MemoryTrace,
    number: usize,
    oldest: Option<&MemoryEvent>,
    pending: &[&MemoryEvent],
) -> String {
    let commit = &trace.commits[number];
    let Commit { processor, address, value, after, .. } = commit;
    let store = format!("a store of {processor} to {address}");
    if let Some(oldest) = oldest
        && pending.iter().any(|event| is_of(commit, event))
    {
        return format!(
            "{store} is committed before an older one of {processor} to {}",
            oldest.address
        );
    }
    let same = |other: &&Commit| {
        (&other.processor, &other.address, other.value) == (processor, address, *value)
    };
    let (before, later) = trace.events.split_at((*after).min(trace.events.len()));
    let is_stored = before.iter().any(|event| is_of(commit, event));
    if is_stored && trace.commits[..number].iter().any(|other| same(&other)) {
        return format!("{store} is committed twice");
    }
    if later.iter().any(|event| is_of(commit, event)) {
        return format!("{store} is committed before it is stored");
    }
    let elsewhere = before.iter().find(|event| event.is_store && event.value == *value);
    match elsewhere {
        Some(event) if event.address == *address => {
            format!("{processor} commits a store of {} to {address}", event.processor)
        }
        _ => format!("{store} is committed, but was never stored"),
    }
}
