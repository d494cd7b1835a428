//! Small machines with known state spaces, and the plainest possible search to compare with.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use murphi::layout::Leaf;
use murphi::machine::{Check, Firing, Machine, Outcome, Successors};
use proptest::prelude::*;
use tribunal_explore::{BitCodec, Exploration, Identity, Levels, Options, Reduction, Step, System};

/// A codec for `slots` slots of one byte each, of which `bits` are used.
pub(crate) fn bytes(slots: u32, bits: u32) -> BitCodec {
    let leaf = |offset| Leaf { offset, width: 1, bits, ty: None };
    BitCodec::of_leaves(&(0..slots).map(leaf).collect::<Vec<_>>())
}

/// A codec for one slot of 32 bits.
pub(crate) fn number() -> BitCodec {
    BitCodec::of_leaves(&[Leaf { offset: 0, width: 4, bits: 32, ty: None }])
}

pub(crate) fn push(out: &mut Successors, rule: u32, instance: u64, outcome: Outcome, state: &[u8]) {
    out.firings.push(Firing { rule, instance, outcome });
    let end = out.states.len() + out.size;
    out.states.extend_from_slice(state);
    out.states.resize(end, 0);
}

/// A graph given by its edges. A state is a vertex.
#[derive(Debug, Clone, Default)]
pub(crate) struct Graph {
    pub(crate) starts: Vec<(u32, Outcome)>,
    /// For each vertex: the rule, how it ends, and where it leads.
    pub(crate) edges: Vec<Vec<(u32, Outcome, u32)>>,
    pub(crate) broken: HashSet<u32>,
    pub(crate) excluded: HashSet<u32>,
}

#[derive(Debug, Clone)]
pub(crate) struct GraphMachine(pub(crate) Arc<Graph>);

pub(crate) fn vertex(state: &[u8]) -> u32 {
    u32::from_le_bytes(state[..4].try_into().expect("four bytes"))
}

impl Machine for GraphMachine {
    fn start(&mut self, out: &mut Successors) {
        for (rule, &(to, outcome)) in self.0.starts.iter().enumerate() {
            push(out, rule as u32, 0, outcome, &to.to_le_bytes());
        }
    }

    fn expand(&mut self, state: &[u8], out: &mut Successors) {
        let edges = &self.0.edges[vertex(state) as usize];
        for (instance, &(rule, outcome, to)) in edges.iter().enumerate() {
            push(out, rule, instance as u64, outcome, &to.to_le_bytes());
        }
    }

    fn check(&mut self, state: &[u8]) -> Check {
        match vertex(state) {
            vertex if self.0.excluded.contains(&vertex) => Check::Excluded,
            vertex if self.0.broken.contains(&vertex) => Check::Broken(0),
            _ => Check::Holds,
        }
    }

    fn covered(&self) -> &[bool] {
        &[]
    }
}

/// `counters` counters from 0 to `side`−1. Rule 0 counts one of them up; with `wraps`, from the
/// greatest value back to 0. The property that no state has all counters at `forbidden` is
/// number 0; number 1 is a cover, that the first counter is 1.
#[derive(Debug, Clone)]
pub(crate) struct Grid {
    pub(crate) counters: usize,
    pub(crate) side: u8,
    pub(crate) wraps: bool,
    pub(crate) forbidden: Option<u8>,
    pub(crate) covered: [bool; 2],
}

impl Grid {
    pub(crate) fn new(counters: usize, side: u8) -> Self {
        Grid { counters, side, wraps: true, forbidden: None, covered: [false; 2] }
    }

    pub(crate) fn size(&self) -> usize {
        self.counters.next_multiple_of(8)
    }
}

impl Machine for Grid {
    fn start(&mut self, out: &mut Successors) {
        push(out, 0, 0, Outcome::Done, &vec![0; self.size()]);
    }

    fn expand(&mut self, state: &[u8], out: &mut Successors) {
        for counter in 0..self.counters {
            if state[counter] + 1 < self.side || self.wraps {
                let at = out.states.len() + counter;
                push(out, 0, counter as u64, Outcome::Done, state);
                out.states[at] = (state[counter] + 1) % self.side;
            }
        }
    }

    fn check(&mut self, state: &[u8]) -> Check {
        self.covered[1] |= state[0] == 1;
        match self.forbidden {
            Some(value) if state[..self.counters].iter().all(|&counter| counter == value) => {
                Check::Broken(0)
            }
            _ => Check::Holds,
        }
    }

    fn covered(&self) -> &[bool] {
        &self.covered
    }
}

/// All counters of a [`Grid`] are alike.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sorted(pub(crate) usize);

impl Reduction for Sorted {
    type Scratch = ();

    fn scratch(&self) {}

    fn canonicalize(&self, _: &mut (), state: &mut [u8]) {
        state[..self.0].sort_unstable();
    }
}

pub(crate) fn explore_graph(graph: &Graph, options: &Options) -> Exploration {
    let graph = Arc::new(graph.clone());
    let machine = move || GraphMachine(graph.clone());
    let (codec, reduction) = (number(), &Identity);
    let system = System { machine, codec: &codec, reduction, state_size: 8, rules: 4 };
    tribunal_explore::explore(options, &system, &mut |_| (), &AtomicBool::new(false))
}

pub(crate) fn explore_grid<R: Reduction>(
    grid: &Grid,
    reduction: &R,
    options: &Options,
) -> Exploration {
    let bits = 8 - (grid.side - 1).leading_zeros();
    let codec = bytes(grid.counters as u32, bits);
    let (machine, state_size) = (|| grid.clone(), grid.size());
    let system = System { machine, codec: &codec, reduction, state_size, rules: 1 };
    tribunal_explore::explore(options, &system, &mut |_| (), &AtomicBool::new(false))
}

/// Options with so many threads.
pub(crate) fn threads(threads: usize) -> Options {
    Options { threads, levels: Levels::ByTurns, ..Options::default() }
}

/// What a search of a graph is expected to find.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Expected {
    pub(crate) states: u64,
    pub(crate) fired: u64,
    pub(crate) depth: u32,
    pub(crate) by_depth: Vec<u64>,
    /// The vertices of the first level with something wrong, and whether a property is.
    pub(crate) wrong: Option<(u32, bool)>,
}

/// Level by level with a set of vertices, stopping after the first level with something wrong.
pub(crate) fn plain_search(graph: &Graph) -> Expected {
    let starts = graph.starts.iter().filter(|start| start.1 == Outcome::Done);
    let mut level: Vec<u32> = starts.map(|start| start.0).collect();
    let mut seen: HashSet<u32> = level.iter().copied().collect();
    level.sort_unstable();
    level.dedup();
    let mut expected = Expected { states: 0, fired: 0, depth: 0, by_depth: vec![], wrong: None };
    for depth in 0.. {
        level.retain(|vertex| !graph.excluded.contains(vertex));
        if level.is_empty() {
            break;
        }
        expected.states += level.len() as u64;
        expected.by_depth.push(level.len() as u64);
        expected.depth = depth;
        let mut next = Vec::new();
        let mut fired = 0;
        let mut failed = false;
        for &vertex in &level {
            let edges = &graph.edges[vertex as usize];
            let mut leaves = false;
            for &(_, outcome, to) in edges {
                failed |= matches!(outcome, Outcome::Failed | Outcome::GuardFailed);
                leaves |= matches!(outcome, Outcome::Failed | Outcome::GuardFailed);
                if outcome == Outcome::Done {
                    fired += 1;
                    leaves |= to != vertex;
                    if seen.insert(to) {
                        next.push(to);
                    }
                }
            }
            failed |= !leaves;
        }
        let broken = level.iter().any(|vertex| graph.broken.contains(vertex));
        if broken || failed {
            expected.wrong = Some((depth, broken));
            break;
        }
        expected.fired += fired;
        level = next;
    }
    expected
}

/// Everything that must not depend on the number of threads.
pub(crate) fn essence(exploration: &Exploration) -> Exploration {
    let exploration = exploration.clone();
    let growth = tribunal_explore::Growth::default();
    Exploration { seconds: 0.0, bytes: 0, omission_probability: None, growth, ..exploration }
}

/// Every word of `length` bits leads to two others: the de Bruijn graph.
pub(crate) fn de_bruijn(length: u32) -> Graph {
    let mask = (1 << length) - 1;
    let next = |word: u32, bit| (bit, Outcome::Done, (word << 1 | bit) & mask);
    Graph {
        starts: vec![(0, Outcome::Done)],
        edges: (0..1u32 << length).map(|word| vec![next(word, 0), next(word, 1)]).collect(),
        ..Graph::default()
    }
}

pub(crate) fn outcomes() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        40 => Just(Outcome::Done),
        2 => Just(Outcome::Excluded),
        1 => Just(Outcome::Failed),
        1 => Just(Outcome::GuardFailed),
    ]
}

pub(crate) fn graphs() -> impl Strategy<Value = Graph> {
    (2u32..60).prop_flat_map(|vertices| {
        let edge = (0..4u32, outcomes(), 0..vertices);
        let edges = prop::collection::vec(prop::collection::vec(edge, 1..4), vertices as usize);
        let some = || prop::collection::vec(0..vertices, 0..3);
        let starts = prop::collection::vec((0..vertices, Just(Outcome::Done)), 1..3);
        (starts, edges, some(), some()).prop_map(|(starts, edges, broken, excluded)| Graph {
            starts,
            edges,
            broken: HashSet::from_iter(broken),
            excluded: HashSet::from_iter(excluded),
        })
    })
}

/// Each step of a counterexample is an edge, and no state on it is excluded.
pub(crate) fn assert_is_path(graph: &Graph, found: &Exploration) {
    assert_leads(graph, found.counterexample());
}

/// The same of any run.
pub(crate) fn assert_leads(graph: &Graph, steps: &[Step]) {
    let start = &graph.starts[steps[0].rule as usize];
    assert_eq!(start.0, vertex(&steps[0].state));
    for pair in steps.windows(2) {
        let edges = &graph.edges[vertex(&pair[0].state) as usize];
        let expected = (pair[1].rule, Outcome::Done, vertex(&pair[1].state));
        assert_eq!(edges[pair[1].instance as usize], expected);
    }
    assert!(steps.iter().all(|step| !graph.excluded.contains(&vertex(&step.state))));
}
