//! What a trace says of pairs of events: dependencies, atomics, pairs, times.

use cat::Step;
use history::{DependencyKind, EventId, History, Source};

use super::Parts;

/// What a trace says of pairs of events, in terms of the events that are judged.
pub(super) struct RecordedPairs {
    /// By kind of dependency, pairs (dependent, read), sorted.
    dependencies: [Vec<(EventId, EventId)>; 3],
    /// Pairs (store-conditional, load-reserved), sorted.
    pairs: Vec<(EventId, EventId)>,
    /// Pairs (writing half, reading half), sorted.
    pub(super) atomics: Vec<(EventId, EventId)>,
    pub(super) has_times: bool,
}

impl RecordedPairs {
    pub(super) fn new(parts: &impl Parts) -> Self {
        let trace = parts.trace();
        let mut dependencies = [const { Vec::new() }; 3];
        for (at, &(to, from)) in trace.dependencies().iter().enumerate() {
            let (first, count) = parts.become_of(to);
            for kind in trace.kinds_of_dependency(at).iter() {
                for half in 0..count {
                    let to = EventId::new(first.index() + half);
                    dependencies[kind as usize].push((to, parts.become_of(from).0));
                }
            }
        }
        dependencies.iter_mut().for_each(|list| list.sort_unstable());
        let first = |event| parts.become_of(event).0;
        let pairs = trace.pairs().iter().map(|&(to, from)| (first(to), first(from))).collect();
        let mut atomics = Vec::new();
        if parts.are_split() {
            let halves = parts.history().event_ids().filter(|&event| parts.is_write_half(event));
            atomics.extend(halves.map(|event| (event, EventId::new(event.index() - 1))));
        }
        RecordedPairs { dependencies, pairs, atomics, has_times: trace.has_times() }
    }

    pub(super) fn of_kind(&self, kind: DependencyKind) -> &[(EventId, EventId)] {
        &self.dependencies[kind as usize]
    }

    /// Whether no two events are related by a step.
    pub(super) fn is_empty(&self, step: Step) -> bool {
        match step {
            Step::Dependency(kind) => self.of_kind(kind).is_empty(),
            Step::Exclusive => self.pairs.is_empty(),
            Step::Atomic | Step::AtomicBack => self.atomics.is_empty(),
            Step::InTime | Step::RealTime => !self.has_times,
            _ => false,
        }
    }

    /// The events from which a step that is no program order leads to this one.
    pub(super) fn before(
        &self,
        step: Step,
        event: EventId,
        sources: &[Option<Source>],
        history: &History,
    ) -> Vec<EventId> {
        let list = match step {
            Step::Dependency(kind) => self.of_kind(kind),
            Step::Exclusive => &self.pairs,
            Step::Atomic => &self.atomics,
            Step::ReadsOwn => {
                // A read of a later write of its own thread breaks coherence anyway.
                return match sources[event.index()] {
                    Some(Source::Write(write)) if history.program_order(write, event) => {
                        vec![write]
                    }
                    _ => Vec::new(),
                };
            }
            _ => return Vec::new(),
        };
        let start = list.partition_point(|&(to, _)| to < event);
        let these = list[start..].iter().take_while(|&&(to, _)| to == event);
        these.map(|&(_, from)| from).collect()
    }
}
