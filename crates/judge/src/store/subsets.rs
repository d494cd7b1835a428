//! The O*(2^k) dynamic programme of framework-for-consistency-algorithms (§3.2), restricted to
//! what saturation leaves open.
//!
//! k counts the writes with at least one open pair. A *snapshot order* on a set V of them says:
//! the writes outside V come first, unordered, then V in some total order. T\[V\] is true iff some
//! snapshot order on V is acyclic with the graph. Lemma 5 adds writes one by one as the new least
//! of V: T\[V ∪ {v}\] if T\[V\] and the *coherence graph* of V and v is acyclic, which does not
//! depend on the order within V. The sets are walked breadth-first from the empty one, so only
//! sets that some snapshot order reaches are visited. The lemma's proof treats the saturated graph
//! like program order, so restricting the programme to open writes keeps it right.
//!
//! One global graph suffices: saturation has put what the location condition asks of ww into it.

use history::EventId;
use rustc_hash::FxHashMap;

use super::clocks::Clocks;
use super::graph::NodeId;
use super::problem::Problem;
use crate::Budget;

/// The most open writes to try: the table is indexed by sets of them.
pub(crate) const MOST_OPEN_WRITES: usize = 26;

/// The answer of the programme.
pub(crate) enum Table {
    /// T\[all\] is true: the open writes in an order that works.
    Order(Vec<EventId>),
    /// T\[all\] is false: a violation.
    Nothing,
    /// Too many open writes: so many.
    TooMany(usize),
    /// The time ran out.
    Spent,
    /// The sets would not fit the memory.
    TooLarge,
}

/// Writes with at least one open pair.
fn open_writes(problem: &Problem, clocks: &Clocks) -> Vec<EventId> {
    let mut open = Vec::new();
    for address in problem.history.address_ids() {
        let chains = clocks.chains.of_address(problem.history, address);
        let is_open = |w: &EventId| {
            chains.clone().any(|c| !clocks.open_with(problem.history, *w, c).is_empty())
        };
        open.extend(problem.history.address(address).writes.iter().copied().filter(is_open));
    }
    open
}

/// Runs the programme on a saturated problem with unambiguous reads.
pub(crate) fn subsets(problem: &Problem, clocks: &Clocks, budget: &Budget) -> Table {
    let open = open_writes(problem, clocks);
    if open.len() > MOST_OPEN_WRITES {
        return Table::TooMany(open.len());
    }
    let all: u32 = ((1u64 << open.len()) - 1) as u32;
    let coherence = CoherenceGraph::new(problem, &open);
    // V → the write that was added last, which is the least of V.
    let mut table: FxHashMap<u32, u8> = FxHashMap::default();
    let mut layer = vec![0u32];
    for _ in 0..open.len() {
        let mut next = Vec::new();
        for &v in &layer {
            if budget.is_spent() {
                return Table::Spent;
            }
            if !budget.allows(table.len() * 16) {
                return Table::TooLarge;
            }
            for i in 0..open.len() {
                let grown = v | 1 << i;
                if grown != v && !table.contains_key(&grown) && coherence.is_acyclic(v, i) {
                    table.insert(grown, i as u8);
                    next.push(grown);
                }
            }
        }
        layer = next;
    }
    if all != 0 && !table.contains_key(&all) {
        return Table::Nothing;
    }
    let mut order = Vec::with_capacity(open.len());
    let mut rest = all;
    while rest != 0 {
        let least = table[&rest];
        order.push(open[least as usize]);
        rest &= !(1 << least);
    }
    Table::Order(order)
}

/// The graphs G\[V, v\] of Definition 4, built implicitly.
struct CoherenceGraph<'p, 'h> {
    problem: &'p Problem<'h>,
    open: Vec<EventId>,
    /// The index of each node among the open writes, or none.
    index_of: Vec<Option<u8>>,
    /// For each open write, the open writes of its address.
    same_address: Vec<u32>,
    /// For each node, the open write it reads from.
    reads: Vec<Option<u8>>,
    indegree: Vec<u32>,
}

impl<'p, 'h> CoherenceGraph<'p, 'h> {
    fn new(problem: &'p Problem<'h>, open: &[EventId]) -> Self {
        let nodes = problem.graph.node_count();
        let mut index_of = vec![None; nodes];
        for (i, w) in open.iter().enumerate() {
            index_of[w.index()] = Some(i as u8);
        }
        let address = |w: &EventId| problem.history.event(*w).address();
        let same_address = open
            .iter()
            .map(|w| {
                let same = open.iter().enumerate().filter(|(_, v)| address(v) == address(w));
                same.fold(0, |set, (i, _)| set | 1 << i)
            })
            .collect();
        let mut reads = vec![None; nodes];
        for (read, source) in problem.sources.iter().enumerate() {
            if let Some(history::Source::Write(w)) = source {
                reads[read] = index_of[w.index()];
            }
        }
        let mut indegree = vec![0; nodes];
        for n in 0..nodes as NodeId {
            for edge in problem.graph.out(n) {
                indegree[problem.graph.to(edge) as usize] += 1;
            }
        }
        Self { problem, open: open.to_vec(), index_of, same_address, reads, indegree }
    }

    /// The open writes that open write `i` precedes in r\[V, v\].
    fn after(&self, i: usize, set: u32, least: usize) -> u32 {
        if i == least {
            set
        } else if set >> i & 1 == 1 {
            0
        } else {
            set | 1 << least
        }
    }

    /// Kahn's algorithm on the saturated graph with r\[V, v\] and cf\[V, v\] on top.
    fn is_acyclic(&self, set: u32, least: usize) -> bool {
        let mut indegree = self.indegree.clone();
        let nodes = indegree.len();
        let extra = |n: usize| -> u32 {
            let ordered = self.index_of[n].map_or(0, |i| self.after(usize::from(i), set, least));
            let read = self.reads[n].map_or(0, |i| {
                self.after(usize::from(i), set, least) & self.same_address[usize::from(i)]
            });
            // A read-modify-write does not come before itself.
            (ordered | read) & !self.index_of[n].map_or(0, |i| 1 << i)
        };
        for n in 0..nodes {
            let mut targets = extra(n);
            while targets != 0 {
                indegree[self.open[targets.trailing_zeros() as usize].index()] += 1;
                targets &= targets - 1;
            }
        }
        let mut ready: Vec<NodeId> =
            (0..nodes as NodeId).filter(|&n| indegree[n as usize] == 0).collect();
        let mut emitted = 0;
        while let Some(n) = ready.pop() {
            emitted += 1;
            let mut release = |to: usize| {
                indegree[to] -= 1;
                if indegree[to] == 0 {
                    ready.push(to as NodeId);
                }
            };
            let mut targets = extra(n as usize);
            while targets != 0 {
                release(self.open[targets.trailing_zeros() as usize].index());
                targets &= targets - 1;
            }
            for edge in self.problem.graph.out(n) {
                release(self.problem.graph.to(edge) as usize);
            }
        }
        emitted == nodes
    }
}
