//! The linear check, for histories whose write order is known: rules A1–A7 of
//! efficient-tso-verification (§4.1), for every store model.
//!
//! The order of an address is known when `order` and `final` lines, together with what the threads
//! saw of it, leave only one: a complete `order` line, a single writer, one write. Each write then
//! gets one edge to the next (A6) and so do its readers (A7); a topological sort finds the witness
//! or the cycle. O(n), and complete.

use history::{AddressId, EventId, History};

use super::coherence::{SeenOrder, seen_orders};
use super::graph::{EdgeId, NodeId, Origin};
use super::problem::Problem;

/// The writes of every address in their only order, or an address that has more than one.
pub(crate) fn known_order(problem: &Problem) -> Result<Vec<Vec<EventId>>, AddressId> {
    let history = problem.history;
    let known = known_pairs(problem);
    let mut indegree = vec![0u32; history.len()];
    for &(_, after) in &known {
        indegree[after.index()] += 1;
    }
    let after = |write: EventId| {
        let start = known.partition_point(|&(before, _)| before < write);
        known[start..].iter().take_while(move |pair| pair.0 == write).map(|pair| pair.1)
    };
    let mut orders = Vec::with_capacity(history.address_count());
    for address in history.address_ids() {
        let writes = &history.address(address).writes;
        let mut order: Vec<EventId> = Vec::with_capacity(writes.len());
        let mut ready: Vec<EventId> =
            writes.iter().copied().filter(|w| indegree[w.index()] == 0).collect();
        while let [next] = ready[..] {
            ready.clear();
            order.push(next);
            for to in after(next) {
                indegree[to.index()] -= 1;
                if indegree[to.index()] == 0 {
                    ready.push(to);
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

/// Pairs of writes whose order is known before any inference, sorted: what `order` and `final`
/// lines say, and what the threads saw.
fn known_pairs(problem: &Problem) -> Vec<(EventId, EventId)> {
    let mut pairs = Vec::new();
    for edge in problem.graph.inferred_edges() {
        if problem.graph.origin(edge) == Some(Origin::Given)
            && let Some(before) = problem.graph.event(problem.graph.from(edge))
            && let Some(after) = problem.graph.event(problem.graph.to(edge))
        {
            pairs.push((before, after));
        }
    }
    let seen = |order: SeenOrder| pairs.push((order.before, order.after));
    // What the threads saw contradicts nothing: the problem was prepared from it.
    let _ = seen_orders(problem.history, &problem.rules, &problem.sources, seen);
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// Whether it is worth asking for the known order: it may be known everywhere only if every
/// address has one writing thread or an `order` line.
pub(crate) fn may_be_known(history: &History) -> bool {
    let mut has_order_line = vec![false; history.address_count()];
    for chain in history.orders() {
        has_order_line[chain.address.index()] = true;
    }
    history.address_ids().all(|address| {
        let writes = &history.address(address).writes;
        let one_writer = match writes[..] {
            [first, .., last] => history.thread_of(first) == history.thread_of(last),
            _ => true,
        };
        one_writer || has_order_line[address.index()]
    })
}

/// Decides a problem whose write orders are known: a total order of the nodes, or a cycle.
pub(crate) fn decide(
    problem: &mut Problem,
    orders: &[Vec<EventId>],
) -> Result<Vec<NodeId>, Vec<EdgeId>> {
    let graph = &mut problem.graph;
    let seen = |SeenOrder { before, after, first, second }| {
        graph.infer(before, after, Origin::Coherence { first, second });
    };
    // As above.
    let _ = seen_orders(problem.history, &problem.rules, &problem.sources, seen);
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
    for i in 0..problem.readers.of(source).len() {
        let read = problem.readers.of(source)[i];
        if read != next {
            problem.graph.infer(read, next, Origin::Overwrites { source });
        }
    }
}
