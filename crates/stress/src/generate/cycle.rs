//! Litmus tests from cycles of edges, in the manner of diy (Alglave, Maranget, Sarkar, Sewell:
//! Fences in weak memory models, CAV 2010).
//!
//! The accesses of the test are what the edges join. An external edge goes to the next thread, a
//! program-order edge between different places to the next place. The accesses of a place follow
//! each other in the cycle; along them writes write 1, 2, … in coherence order, and a read returns
//! the last of these before it. That outcome is the one the test is about: it can be seen only if
//! some edge of the cycle is not kept.

use std::fmt;
use std::str::FromStr;

use history::{AccessOrder, AddressLabel, FenceName, Kinds, Value};

use super::classic;
use super::edge::{Access, Edge, UnknownEdge};
use super::mark::{Dialect, Mark};
use super::place_name;
use crate::condition::{Condition, Test};
use crate::program::{Action, Instruction, Place, Program};

/// The most edges of a cycle.
const MAX_EDGES: usize = 1000;

/// A cycle of edges, each beginning where the one before it ended.
///
/// ```
/// use tribunal_stress::Cycle;
///
/// let test = "PodWR Fre PodWR Fre".parse::<Cycle>()?.test();
/// assert_eq!(
///     test.to_string(),
///     "program SB
/// 0: M[x] := 1
/// 0: M[y] ? as a
/// 1: M[y] := 1
/// 1: M[x] ? as b
/// exists a == 0, b == 0
/// end
/// "
/// );
/// # Ok::<(), tribunal_stress::CycleError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Cycle {
    edges: Vec<Edge>,
}

/// Why edges are no cycle that a test can be made of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CycleError {
    /// There are none, or more than `MAX_EDGES`.
    Length(usize),
    /// One of them is unknown.
    Edge(UnknownEdge),
    /// Two that follow each other do not meet.
    Apart(Edge, Edge),
    /// Two that follow each other annotate the access between them differently.
    Marks(Edge, Edge),
    /// It stays in one thread.
    OneThread,
    /// It leaves a place once and never comes back.
    OnePlace,
    /// It stays at one place and has no program order.
    Unordered,
}

impl fmt::Display for CycleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = |access| match access {
            Access::Read => "a read",
            Access::Write => "a write",
        };
        match self {
            CycleError::Length(0) => write!(f, "a cycle needs edges: \"PodWR Fre PodWR Fre\""),
            CycleError::Length(_) => write!(f, "a cycle has at most {MAX_EDGES} edges"),
            CycleError::Edge(edge) => write!(f, "{edge}"),
            CycleError::Apart(first, second) => write!(
                f,
                "{first} ends at {}, but {second} after it begins at {}",
                word(first.to()),
                word(second.from())
            ),
            CycleError::Marks(first, second) => write!(
                f,
                "{first} and {second} after it annotate the access between them differently: the \
                 last letter of the first has to be the first of the second"
            ),
            CycleError::OneThread => write!(
                f,
                "a cycle must go through at least two threads: it needs two of Rfe, Fre and Coe"
            ),
            CycleError::OnePlace => write!(
                f,
                "the cycle changes the address only once (edges with d for \"different\"), so it \
                 cannot return to its start"
            ),
            CycleError::Unordered => {
                write!(
                    f,
                    "the cycle has one address and no program order, so no execution can show it"
                )
            }
        }
    }
}

impl std::error::Error for CycleError {}

impl FromStr for Cycle {
    type Err = CycleError;

    fn from_str(text: &str) -> Result<Self, CycleError> {
        let edges = text.split_whitespace().map(|name| name.parse().map_err(CycleError::Edge));
        Cycle::new(edges.collect::<Result<_, _>>()?)
    }
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, edge) in self.edges.iter().enumerate() {
            write!(f, "{}{edge}", if at == 0 { "" } else { " " })?;
        }
        Ok(())
    }
}

impl Cycle {
    /// The cycle of these edges.
    pub fn new(edges: Vec<Edge>) -> Result<Self, CycleError> {
        if edges.is_empty() || edges.len() > MAX_EDGES {
            return Err(CycleError::Length(edges.len()));
        }
        for (at, &first) in edges.iter().enumerate() {
            let second = edges[(at + 1) % edges.len()];
            if first.to() != second.from() {
                return Err(CycleError::Apart(first, second));
            }
            if first.marks[1] != second.marks[0] {
                return Err(CycleError::Marks(first, second));
            }
        }
        let count = |holds: fn(&Edge) -> bool| edges.iter().filter(|edge| holds(edge)).count();
        if count(|edge| edge.is_external()) < 2 {
            return Err(CycleError::OneThread);
        }
        match count(|edge| edge.changes_place()) {
            1 => Err(CycleError::OnePlace),
            0 if count(|edge| edge.link().is_some()) == 0 => Err(CycleError::Unordered),
            _ => Ok(Cycle { edges }),
        }
    }

    /// Its edges.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// What diy calls the test: `SB+mfence+po`.
    pub fn name(&self) -> String {
        self.name_in(Dialect::Arm)
    }

    /// The name with the letters of an architecture's tests.
    pub(crate) fn name_in(&self, dialect: Dialect) -> String {
        classic::name(&self.begun_with_a_thread(), dialect)
    }

    /// The same cycle, starting with the first access of a thread.
    pub(crate) fn starting_at_a_thread(&self) -> Cycle {
        Cycle { edges: self.begun_with_a_thread() }
    }

    /// The edges, from the first access of a thread on: where they are written so, as they are.
    fn begun_with_a_thread(&self) -> Vec<Edge> {
        self.rotated(Edge::is_external).0
    }

    /// The edges from one after such an edge on, and by how much they were rotated.
    fn rotated(&self, after: impl Fn(Edge) -> bool) -> (Vec<Edge>, usize) {
        let last = self.edges.len() - 1;
        let before = |at: usize| self.edges[if at == 0 { last } else { at - 1 }];
        let start = (0..self.edges.len()).find(|&at| after(before(at))).unwrap_or(0);
        let mut edges = self.edges.clone();
        edges.rotate_left(start);
        (edges, start)
    }

    /// What of the cycle a program cannot say, if there is something: exclusive pairs, fences that are
    /// more than sets of accesses, dependencies that are less than one of an address.
    pub fn beyond_programs(&self) -> Option<Edge> {
        use super::edge::{Link, Relation};
        self.edges.iter().copied().find(|edge| match edge.relation {
            Relation::Exclusive => true,
            Relation::Program { link, .. } => matches!(
                link,
                Link::ControlIsb
                    | Link::ControlFenceI
                    | Link::Named(FenceName::Tso | FenceName::Instructions | FenceName::Isb)
            ),
            _ => false,
        })
    }

    /// The test of the cycle: a program and the outcome that shows the cycle.
    pub fn test(&self) -> Test {
        let cycle = self.starting_at_a_thread();
        let (places, values) = cycle.places_and_values();
        let mut maker =
            TestBuilder { program: Program::default(), condition: Condition::default() };
        maker.program.name = cycle.name();
        maker.threads(&cycle.edges, &places, &values);
        maker.finals(&cycle.edges, &places, &values);
        Test { program: maker.program, condition: Some(maker.condition) }
    }

    /// For each access from which an edge starts: its place, and the value that it reads or writes.
    pub(crate) fn places_and_values(&self) -> (Vec<u32>, Vec<Value>) {
        let count = self.edges.len();
        let changes = self.edges.iter().filter(|edge| edge.changes_place()).count().max(1) as u32;
        let mut places = Vec::with_capacity(count);
        let mut place = 0;
        for edge in &self.edges {
            places.push(place);
            place = (place + u32::from(edge.changes_place())) % changes;
        }
        let starts_order = |edge: Edge| match changes {
            1 => edge.link().is_some(),
            _ => edge.changes_place(),
        };
        let (rotated, start) = self.rotated(starts_order);
        let mut values = vec![0; count];
        let mut written = 0;
        for (at, edge) in rotated.iter().enumerate() {
            written += u64::from(edge.from() == Access::Write);
            values[(at + start) % count] = written;
            if edge.changes_place() {
                written = 0;
            }
        }
        (places, values)
    }
}

/// A test being made.
struct TestBuilder {
    program: Program,
    condition: Condition,
}

impl TestBuilder {
    fn threads(&mut self, edges: &[Edge], places: &[u32], values: &[Value]) {
        let count = places.iter().max().map_or(0, |&place| place + 1);
        self.program.places =
            (0..count).map(|place| named_place(place_name(place as usize), place)).collect();
        let mut thread = Vec::new();
        let mut at = 0;
        while at < edges.len() {
            let (place, value) = (places[at], values[at]);
            let (action, read, last) = match (edges[at].from(), edges[at]) {
                (_, edge) if edge.is_atomic() => {
                    (Action::Swap { place, value: values[at + 1] }, Some(value), at + 1)
                }
                (Access::Read, _) => (Action::Load { place }, Some(value), at),
                (Access::Write, _) => (Action::Store { place, value }, None, at),
            };
            let before = at.checked_sub(1).and_then(|before| edges[before].link());
            let depends_on = match before.and_then(|link| link.dependency()) {
                // A fence of the link stands between the two.
                Some(_) => vec![self.last_reader(&thread)],
                None => Vec::new(),
            };
            if let Some(value) = read {
                let number = self.program.threads.len() as u32;
                self.condition.reads.push((number, thread.len() as u32, value));
            }
            let order = both(edges[at].marks[0], edges[last].marks[0]);
            thread.push(Instruction { action, depends_on, order });
            let fence = edges[last].link().and_then(|link| link.fence());
            if let Some((before, after)) =
                fence.filter(|&fence| fence != (Kinds::NONE, Kinds::NONE))
            {
                thread.push(Instruction::plain(Action::Fence { before, after }));
            }
            if edges[last].is_external() {
                self.program.threads.push(std::mem::take(&mut thread));
            }
            at = last + 1;
        }
    }

    /// The last instruction of a thread that reads.
    fn last_reader(&self, thread: &[Instruction]) -> u32 {
        thread.iter().rposition(|instruction| instruction.action.reads()).unwrap_or(0) as u32
    }

    /// What places hold at the end that were written more than once.
    fn finals(&mut self, edges: &[Edge], places: &[u32], values: &[Value]) {
        self.condition.finals = finals(edges, places, values);
    }
}

/// How an access is annotated whose read and write are annotated so.
fn both(read: Mark, write: Mark) -> Option<AccessOrder> {
    match (read.0, write.0) {
        (Some(one), Some(other)) if one != other => Some(AccessOrder::AcquireRelease),
        (one, other) => one.or(other),
    }
}

/// The places that were written more than once, with what each holds at the end.
pub(crate) fn finals(edges: &[Edge], places: &[u32], values: &[Value]) -> Vec<(u32, Value)> {
    let count = places.iter().max().map_or(0, |&place| place + 1);
    let last = |place: u32| {
        let writes = (0..edges.len())
            .filter(|&at| places[at] == place && edges[at].from() == Access::Write)
            .map(|at| values[at]);
        writes.max().filter(|&last| last > 1).map(|last| (place, last))
    };
    (0..count).filter_map(last).collect()
}

fn named_place(name: String, line: u32) -> Place {
    Place { label: AddressLabel::Name(name.into()), initial: 0, line, word: 0 }
}
