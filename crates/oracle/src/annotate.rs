//! Histories with annotations: what instructions say beyond reading and writing, at random.

use chance::Rng;
use history::{
    AccessOrder, Builder, DependencyKind, Draft, EventId, FenceName, History, Operation, Source,
    ThinAir, WriteName,
};

/// The same history with some accesses annotated, some dependencies by kind, some fences by name and
/// some pairs of load-reserved and store-conditional.
pub fn annotated(rng: &mut Rng, history: &History) -> History {
    let mut builder = Builder::new();
    for address in history.address_ids() {
        let entry = history.address(address);
        builder.address(&entry.label);
        if let Some(line) = entry.init_line {
            builder.initial(address, entry.initial, line).expect("said once");
        }
    }
    let mut reads: Vec<EventId> = Vec::new();
    for thread in history.threads() {
        reads.clear();
        for id in history.thread_events(thread) {
            let draft = add_event(rng, history, id, &mut builder);
            builder.name(draft, &name(id)).expect("names are numbers");
            builder.times(draft, history.times(id)).expect("as before");
            add_relations(rng, history, id, draft, &reads, &mut builder);
            if history.kinds_of(id).reads {
                reads.push(id);
            }
        }
    }
    for line in history.finals() {
        builder.final_value(line.address, line.value, line.line).expect("said once");
    }
    for chain in history.orders() {
        let initial = history.address(chain.address).initial;
        let write = |source: &Source| match source {
            Source::Initial => WriteName::Value(initial),
            Source::Write(write) => WriteName::Name(name(*write).into()),
        };
        builder.order(chain.address, chain.writes.iter().map(write).collect(), chain.line);
    }
    builder.finish(ThinAir::Violation).expect("nothing was taken away")
}

fn name(id: EventId) -> String {
    format!("e{}", id.index())
}

fn add_event(rng: &mut Rng, history: &History, id: EventId, builder: &mut Builder) -> Draft {
    let event = history.event(id);
    let thread = history.thread_label(event.thread);
    if event.is_fence() && rng.percent(50) {
        let name = FenceName::ALL[rng.below(FenceName::ALL.len())];
        return builder.fence(thread, name, event.line).expect("as before");
    }
    let draft = builder.event(thread, event.operation, event.line).expect("as before");
    if !event.is_fence() && rng.percent(30) {
        let order = AccessOrder::ALL[rng.below(AccessOrder::ALL.len())];
        builder.annotate(draft, order).expect("an access");
    }
    draft
}

fn add_relations(
    rng: &mut Rng,
    history: &History,
    id: EventId,
    draft: Draft,
    reads: &[EventId],
    builder: &mut Builder,
) {
    for &read in reads {
        if rng.percent(15) {
            let kind = DependencyKind::ALL[rng.below(3)];
            builder.dependency_of_kind(draft, &name(read), kind).expect("an earlier read");
        }
    }
    let is_write = matches!(history.event(id).operation, Operation::Write { .. });
    if is_write && rng.percent(60) {
        // The last read of the address, if it is a plain one without a partner.
        let load =
            reads.iter().rev().find(|&&read| history.address_of(read) == history.address_of(id));
        if let Some(&load) = load {
            let _ = builder.pair(draft, &name(load));
        }
    }
}
