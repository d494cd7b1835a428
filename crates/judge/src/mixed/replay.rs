//! Whether an order of accesses of mixed sizes is a run of the model's machine: memory is cells, and
//! a read takes each of them from the youngest write of its own thread that is still to come in the
//! order, else from memory. Linear in the number of parts.

use history::{EventId, Operation, Source};

use super::problem::MixedSizeProblem;

/// Whether the order, of all accesses, explains the history.
pub(crate) fn explains(glued: &MixedSizeProblem, order: &[EventId]) -> bool {
    let history = glued.problem.history;
    let mut position = vec![0u32; history.len()];
    for (at, event) in (1..).zip(order) {
        position[event.index()] = at;
    }
    follows_graph(glued, &position)
        && respects_cells(glued, &position)
        && values(glued, order, &position)
}

/// Whether the order follows every edge. Fences and gathering nodes stand where the last thing
/// before them stands.
fn follows_graph(glued: &MixedSizeProblem, position: &[u32]) -> bool {
    let graph = &glued.problem.graph;
    let history = glued.problem.history;
    let Ok(nodes) = graph.topological_order() else { return false };
    let mut at = vec![0u32; graph.node_count()];
    let is_access = |n| graph.event(n).is_some_and(|e| history.address_of(e).is_some());
    for n in nodes {
        if let Some(event) = graph.event(n).filter(|_| is_access(n)) {
            at[n as usize] = position[event.index()];
        }
        for to in graph.successors(n) {
            match graph.event(to).filter(|_| is_access(to)) {
                Some(event) if position[event.index()] <= at[n as usize] => return false,
                Some(_) => {}
                None => at[to as usize] = at[to as usize].max(at[n as usize]),
            }
        }
    }
    true
}

/// Whether writes come after the accesses of the same cells before them in program order, and reads
/// after such reads unless the model lets them swap.
fn respects_cells(glued: &MixedSizeProblem, position: &[u32]) -> bool {
    let parts = glued.parts();
    let swaps = glued.problem.rules.same_address_reads_swap;
    let mut last: Vec<[u32; 2]> = vec![[0; 2]; parts.address_count()];
    for thread in parts.threads() {
        for part in parts.thread_events(thread) {
            let Some(cell) = parts.address_of(part) else { continue };
            let at = position[glued.access(part).index()];
            let [reads, writes] = &mut last[cell.index()];
            let kinds = parts.kinds_of(part);
            if kinds.writes && (*reads > at || *writes > at) || kinds.reads && !swaps && *reads > at
            {
                return false;
            }
            if kinds.reads {
                *reads = (*reads).max(at);
            }
            if kinds.writes {
                *writes = (*writes).max(at);
            }
        }
        last.fill([0; 2]);
    }
    true
}

/// Whether every read, and every `final` line, finds its value.
fn values(glued: &MixedSizeProblem, order: &[EventId], position: &[u32]) -> bool {
    let parts = glued.parts();
    let buffered = own_writes(glued);
    let mut memory: Vec<(Source, u64)> =
        parts.address_ids().map(|cell| (Source::Initial, parts.address(cell).initial)).collect();
    let written = |part: EventId| parts.event(part).operation.value_written().unwrap_or_default();
    let mut sources = vec![None; if glued.problem.rules.dependencies { parts.len() } else { 0 }];
    for part in order.iter().flat_map(|&access| glued.mixed.parts_of(access)) {
        let operation = parts.event(part).operation;
        let (Some(cell), false) =
            (operation.address(), matches!(operation, Operation::Fence { .. }))
        else {
            continue;
        };
        let memory = &mut memory[cell.index()];
        if let Some(value) = operation.value_read() {
            let own = buffered[part.index()].filter(|&own| {
                position[glued.access(own).index()] > position[glued.access(part).index()]
            });
            let (source, sees) = own.map_or(*memory, |own| (Source::Write(own), written(own)));
            if sees != value {
                return false;
            }
            if let Some(entry) = sources.get_mut(part.index()) {
                *entry = Some(source);
            }
        }
        if let Some(value) = operation.value_written() {
            *memory = (Source::Write(part), value);
        }
    }
    parts.finals().iter().all(|f| memory[f.address.index()].1 == f.value)
        && (!glued.problem.rules.dependencies
            || super::problem::thin_air(glued.problem.history, glued.mixed, &sources).is_ok())
}

/// For each part, the write of its cell that comes last before it in its thread.
fn own_writes(glued: &MixedSizeProblem) -> Vec<Option<EventId>> {
    let parts = glued.parts();
    let mut own = vec![None; parts.len()];
    let mut last: Vec<Option<EventId>> = vec![None; parts.address_count()];
    for thread in parts.threads() {
        for part in parts.thread_events(thread) {
            let Some(cell) = parts.address_of(part) else { continue };
            own[part.index()] = last[cell.index()];
            if parts.kinds_of(part).writes {
                last[cell.index()] = Some(part);
            }
        }
        last.fill(None);
    }
    own
}
