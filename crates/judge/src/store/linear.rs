//! The linear check, for histories whose write order is known: rules A1–A7 of
//! efficient-tso-verification (§4.1), for every store model.
//!
//! The order of an address is known when `order` and `final` lines, together with what the threads
//! saw of it, leave only one: a complete `order` line, a single writer, one write. Each write then
//! gets one edge to the next (A6) and so do its readers (A7); a topological sort finds the witness
//! or the cycle. O(n), and complete.

use history::EventId;

use super::graph::{EdgeId, NodeId, Origin, node};
use super::problem::Problem;

/// The writes of every address in their only order, or an address that has more than one.
pub(crate) fn known_order(problem: &Problem) -> Result<Vec<Vec<EventId>>, history::AddressId> {
    let history = problem.history;
    let mut indegree = vec![0u32; history.len()];
    for (_, to) in known_edges(problem) {
        indegree[to.index()] += 1;
    }
    let mut orders = Vec::with_capacity(history.address_count());
    for address in history.address_ids() {
        let writes = &history.address(address).writes;
        let mut order: Vec<EventId> = Vec::with_capacity(writes.len());
        let mut ready: Vec<EventId> =
            writes.iter().copied().filter(|w| indegree[w.index()] == 0).collect();
        while let [next] = ready[..] {
            ready.clear();
            order.push(next);
            for edge in problem.graph.out(node(next)) {
                if let Some(to) = known_target(problem, edge) {
                    indegree[to.index()] -= 1;
                    if indegree[to.index()] == 0 {
                        ready.push(to);
                    }
                }
            }
        }
        if order.len() < writes.len() {
            return Err(address);
        }
        orders.push(order);
    }
    Ok(orders)
}

/// Edges between writes that are known before any inference.
fn known_edges<'p>(problem: &'p Problem) -> impl Iterator<Item = (NodeId, EventId)> + 'p {
    (0..problem.graph.edge_count() as EdgeId)
        .filter_map(|e| known_target(problem, e).map(|to| (problem.graph.from(e), to)))
}

fn known_target(problem: &Problem, edge: EdgeId) -> Option<EventId> {
    let known =
        matches!(problem.graph.origin(edge), Some(Origin::Given | Origin::Coherence { .. }));
    known.then(|| problem.graph.event(problem.graph.to(edge))).flatten()
}

/// Decides a problem whose write orders are known: a total order of the nodes, or a cycle.
pub(crate) fn decide(
    problem: &mut Problem,
    orders: &[Vec<EventId>],
) -> Result<Vec<NodeId>, Vec<EdgeId>> {
    for order in orders {
        for pair in order.windows(2) {
            overwrite(problem, pair[0], pair[1]);
        }
    }
    problem.graph.topological_order()
}

/// Adds the order of some writes of one address, with the from-reads that follow.
pub(crate) fn assume_order(problem: &mut Problem, writes: &[EventId]) {
    for pair in writes.windows(2) {
        problem.graph.infer(pair[0], pair[1], Origin::Given);
        overwrite(problem, pair[0], pair[1]);
    }
}

fn overwrite(problem: &mut Problem, source: EventId, next: EventId) {
    for read in problem.latest(problem.readers.of(source)) {
        if read != next {
            problem.graph.infer(read, next, Origin::Overwrites { source });
        }
    }
}
