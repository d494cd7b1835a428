//! All outcomes of a machine: its states as a graph, and what can still come of each of them.
//!
//! A transition may settle variables of the outcome: a register that nothing will read or change
//! any more. A state forgets what is settled, so that runs which differ only in what they have
//! seen, and not in what they can still do, meet. The outcomes of a state, as far as they are still
//! open, are then the union over its transitions of what each settles and what its target leaves
//! open; [`crate::diagram`] keeps such sets. The work is one pass forward over the states and one
//! back, whatever the number of executions; loops of a machine are components of the graph, whose
//! states have the same outcomes, because nothing is settled on the way around.

use rustc_hash::FxHashMap;

use crate::diagram::{Diagrams, NONE, Set, UNIT};

/// A machine that runs a test.
pub(crate) trait Machine {
    /// The number of numbers in a state.
    fn width(&self) -> usize;
    /// How it begins.
    fn initial(&mut self) -> Result<Successor, Stopped>;
    /// Where it can go from here.
    fn successors(&mut self, state: &[u32], out: &mut Vec<Successor>) -> Result<(), Stopped>;
    /// The memory in use besides the states, in bytes (estimate).
    fn bytes(&self) -> usize;
    /// If nothing is left to do: the variables that are settled by the end itself.
    fn finish(&self, state: &[u32]) -> Option<Vec<(u32, u64)>>;
}

/// A state, with the values that were settled on the way to it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Successor {
    pub(crate) state: Vec<u32>,
    pub(crate) settled: Vec<(u32, u64)>,
    /// The steps on the way, if the machine records them.
    pub(crate) events: Vec<crate::witness::MachineStep>,
}

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stopped {
    /// The user or the time limit has stopped it.
    Asked {
        /// States seen so far.
        states: u64,
    },
    /// It would need more memory than it may use.
    Memory {
        /// States seen so far.
        states: u64,
    },
    /// A thread accesses an address that is not one of a location.
    Fault {
        /// Which thread.
        thread: usize,
        /// The address.
        address: u64,
    },
    /// A thread accesses a part of a location, unaligned or under a model that cannot judge that.
    Mixed {
        /// Which thread.
        thread: usize,
        /// The location.
        location: crate::test::LocationId,
    },
    /// A thread has an endless loop without memory accesses.
    Endless {
        /// Which thread.
        thread: usize,
    },
    /// Its runs are too many to go through one by one.
    Runs {
        /// Which thread.
        thread: usize,
    },
    /// The claim of the test holds in all runs that go around loops a few times; longer runs were not
    /// enumerated.
    Unrolled,
}

/// The limits of a search.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// The memory limit in bytes (estimate).
    pub memory: Option<usize>,
    /// Asked now and then, with the number of states seen; false ends the work.
    pub go_on: &'a dyn Fn(u64) -> bool,
}

impl Limits<'_> {
    /// No limits.
    pub const NONE: Limits<'static> = Limits { memory: None, go_on: &|_| true };

    /// Whether to stop, given states and bytes so far.
    pub(crate) fn check(&self, states: u64, bytes: usize) -> Result<(), Stopped> {
        if self.memory.is_some_and(|memory| bytes > memory) {
            return Err(Stopped::Memory { states });
        }
        if (self.go_on)(states) { Ok(()) } else { Err(Stopped::Asked { states }) }
    }
}

/// The number of states between two checks of the limits.
const PERIOD: usize = 1 << 8;

/// The states of a machine with their outcomes.
pub(crate) struct Explored {
    states: States,
    /// The values that are settled before the first state.
    initially: Vec<(u32, u64)>,
    /// For each state, the outcomes that are still open.
    open: Vec<Set>,
    /// All outcomes.
    pub(crate) outcomes: Set,
}

impl Explored {
    /// The number of states.
    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }

    /// What happens on the way to an outcome, which must be one of [`Explored::outcomes`].
    pub(crate) fn run<M: Machine>(
        &self,
        machine: &mut M,
        diagrams: &Diagrams,
        outcome: &dyn Fn(u32) -> u64,
    ) -> Result<Option<Vec<crate::witness::MachineStep>>, Stopped> {
        let agrees = |settled: &[(u32, u64)]| {
            settled.iter().all(|&(variable, value)| outcome(variable) == value)
        };
        let start = machine.initial()?;
        if !agrees(&self.initially) {
            return Ok(None);
        }
        // Depth first along states from which the outcome is still possible. Only states of a loop
        // can be a detour.
        let mut seen = rustc_hash::FxHashSet::default();
        let mut path: Vec<(Successor, Vec<Successor>)> = Vec::new();
        let mut next = Some(start);
        loop {
            let Some(arrival) = next.take() else {
                let Some((_, rest)) = path.last_mut() else { return Ok(None) };
                next = rest.pop();
                if next.is_none() {
                    path.pop();
                }
                continue;
            };
            let Some(id) = self.states.find(&arrival.state) else { continue };
            let possible = diagrams.contains(self.open[id as usize], outcome);
            if !possible || !agrees(&arrival.settled) || !seen.insert(id) {
                continue;
            }
            let mut successors = Vec::new();
            if let Some(settled) = machine.finish(&arrival.state) {
                if agrees(&settled) {
                    path.push((arrival, successors));
                    break;
                }
                continue;
            }
            machine.successors(&arrival.state, &mut successors)?;
            successors.reverse();
            path.push((arrival, successors));
        }
        Ok(Some(path.into_iter().flat_map(|(arrival, _)| arrival.events).collect()))
    }
}

/// A transition: where to, and which part of [`Graph::settled`] it settles.
struct Edge {
    to: u32,
    settled: (u32, u32),
}

struct Graph {
    states: States,
    edges: Vec<Edge>,
    /// Where the edges of each state begin; one more entry than states.
    first: Vec<u32>,
    settled: Vec<(u32, u64)>,
}

/// Visits all states and computes the outcomes of each.
pub(crate) fn explore<M: Machine>(
    machine: &mut M,
    diagrams: &mut Diagrams,
    limits: &Limits<'_>,
) -> Result<Explored, Stopped> {
    let start = machine.initial()?;
    let initially = start.settled.clone();
    let graph = forward(machine, start, diagrams, limits)?;
    let open = backward(machine, &graph, diagrams, limits)?;
    let outcomes = settle(diagrams, &initially, open[0]);
    Ok(Explored { states: graph.states, initially, open, outcomes })
}

fn forward<M: Machine>(
    machine: &mut M,
    start: Successor,
    diagrams: &Diagrams,
    limits: &Limits<'_>,
) -> Result<Graph, Stopped> {
    let states = States::new(machine.width());
    let mut graph = Graph { states, edges: Vec::new(), first: vec![0], settled: Vec::new() };
    graph.states.insert(&start.state);
    let mut out = Vec::new();
    let mut current = Vec::new();
    let mut index = 0;
    while index < graph.states.len() {
        if index.is_multiple_of(PERIOD) {
            let bytes = diagrams.bytes() + graph.bytes() + machine.bytes();
            limits.check(graph.states.len() as u64, bytes)?;
        }
        current.clear();
        current.extend_from_slice(graph.states.get(index));
        out.clear();
        machine.successors(&current, &mut out)?;
        for arrival in &out {
            let to = graph.states.insert(&arrival.state);
            let start = graph.settled.len() as u32;
            graph.settled.extend_from_slice(&arrival.settled);
            graph.edges.push(Edge { to, settled: (start, graph.settled.len() as u32) });
        }
        graph.first.push(graph.edges.len() as u32);
        index += 1;
    }
    Ok(graph)
}

impl Graph {
    fn bytes(&self) -> usize {
        self.states.bytes() + self.edges.len() * 12 + self.first.len() * 8 + self.settled.len() * 16
    }

    fn edges(&self, state: u32) -> &[Edge] {
        let state = state as usize;
        &self.edges[self.first[state] as usize..self.first[state + 1] as usize]
    }
}

fn settle(diagrams: &mut Diagrams, settled: &[(u32, u64)], set: Set) -> Set {
    settled.iter().fold(set, |set, &(variable, value)| diagrams.with(set, variable, value))
}

/// Tarjan's algorithm: components come after those they lead to, so that what a component leads to
/// is known when it is complete.
fn backward<M: Machine>(
    machine: &M,
    graph: &Graph,
    diagrams: &mut Diagrams,
    limits: &Limits<'_>,
) -> Result<Vec<Set>, Stopped> {
    const UNSEEN: u32 = u32::MAX;
    let count = graph.states.len();
    let mut open = vec![NONE; count];
    let mut number = vec![UNSEEN; count];
    let mut low = vec![0_u32; count];
    let mut complete = vec![false; count];
    let mut waiting: Vec<u32> = Vec::new();
    let mut calls: Vec<(u32, u32)> = vec![(0, 0)];
    let mut numbered = 0;
    while let Some(&mut (state, ref mut edge)) = calls.last_mut() {
        let here = state as usize;
        if *edge == 0 && number[here] == UNSEEN {
            (number[here], low[here]) = (numbered, numbered);
            numbered += 1;
            waiting.push(state);
        }
        if let Some(next) = graph.edges(state).get(*edge as usize) {
            *edge += 1;
            let to = next.to as usize;
            if number[to] == UNSEEN {
                calls.push((next.to, 0));
            } else if !complete[to] {
                low[here] = low[here].min(number[to]);
            }
            continue;
        }
        calls.pop();
        if let Some(&(parent, _)) = calls.last() {
            let parent = parent as usize;
            low[parent] = low[parent].min(low[here]);
        }
        if low[here] == number[here] {
            let start = waiting.iter().rposition(|&other| other == state).unwrap_or(0);
            component(machine, graph, diagrams, &waiting[start..], &complete, &mut open);
            for done in waiting.drain(start..) {
                complete[done as usize] = true;
            }
            if (numbered as usize).is_multiple_of(PERIOD) {
                let bytes = diagrams.bytes() + graph.bytes() + machine.bytes() + count * 16;
                limits.check(count as u64, bytes)?;
            }
        }
    }
    Ok(open)
}

/// Gives the states of a component their outcomes.
fn component<M: Machine>(
    machine: &M,
    graph: &Graph,
    diagrams: &mut Diagrams,
    members: &[u32],
    complete: &[bool],
    open: &mut [Set],
) {
    let mut outcomes = NONE;
    for &member in members {
        if let Some(settled) = machine.finish(graph.states.get(member as usize)) {
            let end = settle(diagrams, &settled, UNIT);
            outcomes = diagrams.union(outcomes, end);
        }
        for edge in graph.edges(member) {
            if complete[edge.to as usize] {
                let (start, end) = (edge.settled.0 as usize, edge.settled.1 as usize);
                let through = settle(diagrams, &graph.settled[start..end], open[edge.to as usize]);
                outcomes = diagrams.union(outcomes, through);
            }
        }
    }
    for &member in members {
        open[member as usize] = outcomes;
    }
}

/// States of one width, numbered in the order in which they came.
struct States {
    width: usize,
    numbers: Vec<u32>,
    /// Open addressing: one more than the number of a state, or 0.
    table: Vec<u32>,
}

impl States {
    fn new(width: usize) -> Self {
        States { width: width.max(1), numbers: Vec::new(), table: vec![0; 1 << 10] }
    }

    fn len(&self) -> usize {
        self.numbers.len() / self.width
    }

    fn get(&self, index: usize) -> &[u32] {
        &self.numbers[index * self.width..(index + 1) * self.width]
    }

    fn bytes(&self) -> usize {
        (self.numbers.capacity() + self.table.len()) * 4
    }

    fn slot(&self, state: &[u32]) -> usize {
        let mask = self.table.len() - 1;
        let mut slot = hash(state) as usize & mask;
        while self.table[slot] != 0 && self.get(self.table[slot] as usize - 1) != state {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn find(&self, state: &[u32]) -> Option<u32> {
        self.table[self.slot(state)].checked_sub(1)
    }

    fn insert(&mut self, state: &[u32]) -> u32 {
        if let Some(known) = self.find(state) {
            return known;
        }
        if (self.len() + 1) * 2 > self.table.len() {
            self.grow();
        }
        let id = self.len() as u32;
        let slot = self.slot(state);
        self.numbers.extend_from_slice(state);
        self.table[slot] = id + 1;
        id
    }

    fn grow(&mut self) {
        self.table = vec![0; self.table.len() * 2];
        for id in 0..self.len() {
            let mask = self.table.len() - 1;
            let mut slot = hash(self.get(id)) as usize & mask;
            while self.table[slot] != 0 {
                slot = (slot + 1) & mask;
            }
            self.table[slot] = id as u32 + 1;
        }
    }
}

fn hash(state: &[u32]) -> u64 {
    let mut hash = 0x9E37_79B9_7F4A_7C15_u64;
    for &number in state {
        hash = (hash ^ u64::from(number)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
        hash ^= hash >> 32;
    }
    hash
}

/// Things that are numbered in the order in which they come.
pub(crate) struct Numbered<T> {
    things: Vec<T>,
    ids: FxHashMap<T, u32>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Numbered { things: Vec::new(), ids: FxHashMap::default() }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Numbered<T> {
    pub(crate) fn id(&mut self, thing: T) -> u32 {
        if let Some(&id) = self.ids.get(&thing) {
            return id;
        }
        let id = self.things.len() as u32;
        self.things.push(thing.clone());
        self.ids.insert(thing, id);
        id
    }

    pub(crate) fn len(&self) -> usize {
        self.things.len()
    }

    pub(crate) fn get(&self, id: u32) -> &T {
        &self.things[id as usize]
    }
}
