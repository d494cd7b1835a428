//! The smallest litmus test that one model allows and another forbids, from cycles of edges.
//!
//! Cycles are tried from the smallest to the largest, each as the trace of its outcome, under both
//! models. There are far more edges than distinguish any two models: every kind of fence, dependency and
//! annotation between every two accesses, at one place or two. So each edge is looked at first on its
//! own: what both models say of it where the other threads of a small cycle are fully fenced, or not at
//! all. Of those that look alike the simplest stands for the others. That loses tests in which two such
//! edges differ only together, so "nothing found" speaks of the tests that were tried.

use std::collections::BTreeSet;

use history::AccessOrder;
use judge::{Budget, ModelFile, judge_by_file};
use stress::{
    Access, Assembly, Communication, Cycle, Edge, Link, MAX_CYCLE_SIZE, Mark, Relation, cycles,
};

/// What distinguishes two models, in each direction.
#[derive(Debug)]
pub struct Separation {
    /// The test that the first allows and the second forbids, then the other way round.
    pub tests: [Option<Separating>; 2],
    /// The number of tests that were tried.
    pub tried: u64,
    /// The most edges that cycles had.
    pub size: usize,
}

impl Separation {
    /// For people: for each direction the test, as a trace and as a litmus test, or that none was found.
    pub fn to_text(&self, names: [&str; 2]) -> String {
        let mut text = String::new();
        for (test, [allows, forbids]) in self.directions(names) {
            let head = format!("allowed by {allows}, forbidden by {forbids}");
            match test {
                None => text += &format!("{head}: no test found{}\n", self.limit()),
                Some(Separating { cycle, litmus }) => {
                    let edges = cycle.edges().len();
                    text += &format!("{head}: {}, {edges} edges: {cycle}\n", cycle.name());
                    text += &format!("\nas a trace:\n\n{}\n", indented(&cycle.trace()));
                    if let Some(litmus) = litmus {
                        text += &format!("as a litmus test:\n\n{}\n", indented(litmus));
                    }
                }
            }
        }
        text
    }

    /// The result as one line of JSON for each direction.
    pub fn to_json(&self, names: [&str; 2]) -> String {
        let mut text = String::new();
        for (test, [allows, forbids]) in self.directions(names) {
            let line = Line {
                allows,
                forbids,
                name: test.map(|test| test.cycle.name()),
                cycle: test.map(|test| test.cycle.to_string()),
                trace: test.map(|test| test.cycle.trace()),
                litmus: test.and_then(|test| test.litmus.as_deref()),
                tests: self.tried,
                size: self.size,
            };
            text += &crate::json_line(&line);
            text.push('\n');
        }
        text
    }

    fn directions<'a>(
        &'a self,
        [first, second]: [&'a str; 2],
    ) -> [(Option<&'a Separating>, [&'a str; 2]); 2] {
        let [one, other] = &self.tests;
        [(one.as_ref(), [first, second]), (other.as_ref(), [second, first])]
    }

    fn limit(&self) -> String {
        format!(" among cycles of up to {} edges ({} tests tried)", self.size, self.tried)
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}\n")).collect()
}

/// The report on one direction.
#[derive(serde::Serialize)]
struct Line<'a> {
    allows: &'a str,
    forbids: &'a str,
    name: Option<String>,
    cycle: Option<String>,
    trace: Option<String>,
    litmus: Option<&'a str>,
    tests: u64,
    size: usize,
}

/// A test that distinguishes two models.
#[derive(Debug)]
pub struct Separating {
    /// Its cycle.
    pub cycle: Cycle,
    /// The test, for an architecture that has its instructions.
    pub litmus: Option<String>,
}

/// Looks for the smallest tests of at most `size` edges. `go_on` is called with how many were tried and ends
/// the search by `false`.
///
/// ```
/// use judge::ModelFile;
/// use tribunal_hunt::separate;
///
/// let [sc, tso] = ["sc", "tso"].map(|name| ModelFile::shipped(name).expect("it is shipped"));
/// let found = separate(&sc, &tso, 4, |_| true);
/// let name = |test: &Option<tribunal_hunt::Separating>| test.as_ref().map(|it| it.cycle.name());
/// assert_eq!(name(&found.tests[0]), None);
/// assert_eq!(name(&found.tests[1]).as_deref(), Some("SB"));
/// ```
pub fn separate(
    first: &ModelFile,
    second: &ModelFile,
    size: usize,
    go_on: impl FnMut(u64) -> bool,
) -> Separation {
    let size = size.min(MAX_CYCLE_SIZE);
    let mut search = Search { models: [first, second], tried: 0, go_on, stopped: false };
    let edges = search.vocabulary();
    let mut best: [Option<Cycle>; 2] = [None, None];
    for cycle in cycles(&edges, size) {
        let length = |cycle: &Cycle| cycle.edges().len();
        let is_late =
            |best: &Option<Cycle>| best.as_ref().is_some_and(|best| length(best) < length(&cycle));
        if best.iter().all(is_late) || search.stopped {
            break;
        }
        let [by_first, by_second] = search.verdicts(&cycle);
        let direction = match (by_first, by_second) {
            (true, false) => 0,
            (false, true) => 1,
            _ => continue,
        };
        let simplest = best[direction].as_ref().is_none_or(|best| cost(&cycle) < cost(best));
        if simplest {
            best[direction] = Some(cycle);
        }
    }
    let tests = best.map(|cycle| cycle.map(|cycle| Separating { litmus: litmus(&cycle), cycle }));
    Separation { tests, tried: search.tried, size }
}

/// Few edges first, then few that are more than program order and communication, few threads, and few
/// places that are written twice, which a test sees only at its end.
fn cost(cycle: &Cycle) -> (usize, usize, usize, usize, String) {
    let edges = cycle.edges();
    let is_special = |edge: &&Edge| {
        edge.link().is_some_and(|link| link != Link::Plain)
            || edge.is_atomic()
            || edge.marks != [Mark::PLAIN; 2] && !edge.is_external()
    };
    let special = edges.iter().filter(is_special).count();
    let threads = edges.iter().filter(|edge| edge.is_external()).count();
    let is_coherence = |edge: &&Edge| {
        matches!(edge.relation, Relation::Communicates { how: Communication::Coherence, .. })
    };
    let overwrites = edges.iter().filter(is_coherence).count();
    (edges.len(), special, threads, overwrites, cycle.name())
}

/// The test for the first architecture that has all of its edges, or that can do without.
fn litmus(cycle: &Cycle) -> Option<String> {
    let all = [Assembly::X86, Assembly::RiscV, Assembly::AArch64];
    let has_all = |&each: &Assembly| cycle.native(each).is_ok_and(|native| native == *cycle);
    let assembly = all
        .into_iter()
        .find(has_all)
        .or_else(|| all.into_iter().rev().find(|&each| cycle.litmus(each).is_ok()))?;
    cycle.litmus(assembly).ok()
}

struct Search<'m, G> {
    models: [&'m ModelFile; 2],
    tried: u64,
    go_on: G,
    stopped: bool,
}

impl<G: FnMut(u64) -> bool> Search<'_, G> {
    /// Whether each model allows the outcome of a cycle. Small traces are always decided.
    fn verdicts(&mut self, cycle: &Cycle) -> [bool; 2] {
        self.tried += 1;
        self.stopped |= !(self.go_on)(self.tried);
        let history = cycle.history();
        self.models.map(|model| {
            judge_by_file(&history, model, &Budget::unlimited()).outcome.of_trace() != "violation"
        })
    }

    /// The edges that are worth putting into cycles.
    fn vocabulary(&mut self) -> Vec<Edge> {
        let mut chosen: Vec<Edge> = Vec::new();
        let mut seen: BTreeSet<(Access, Access, bool, Vec<[bool; 2]>)> = BTreeSet::new();
        for edge in program_edges() {
            let signature = self.signature(edge);
            let is_new = seen.insert((edge.from(), edge.to(), edge.changes_place(), signature));
            if is_new {
                chosen.push(edge);
            }
        }
        let marks: BTreeSet<(Access, Mark)> = chosen
            .iter()
            .flat_map(|edge| [(edge.from(), edge.marks[0]), (edge.to(), edge.marks[1])])
            .collect();
        let plain = communications()
            .into_iter()
            .chain([Relation::Exchange, Relation::Exclusive].map(Into::into));
        for edge in plain {
            for &(from, first) in &marks {
                for &(to, second) in &marks {
                    if from == edge.from() && to == edge.to() {
                        chosen.push(edge.marked([first, second]));
                    }
                }
            }
        }
        chosen
    }

    /// What both models say of an edge in small cycles whose other threads are fenced, or are not.
    fn signature(&mut self, edge: Edge) -> Vec<[bool; 2]> {
        let mut signature = Vec::new();
        for before in communications().into_iter().filter(|each| each.to() == edge.from()) {
            for after in communications().into_iter().filter(|each| each.from() == edge.to()) {
                let before = before.marked([Mark::PLAIN, edge.marks[0]]);
                let after = after.marked([edge.marks[1], Mark::PLAIN]);
                for link in [Link::Sync, Link::Plain] {
                    let same_place = !edge.changes_place();
                    let (from, to) = (after.to(), before.from());
                    let other = Relation::Program { link, same_place, from, to }.into();
                    if let Ok(cycle) = Cycle::new(vec![edge, after, other, before]) {
                        signature.push(self.verdicts(&cycle));
                    }
                }
            }
        }
        signature
    }
}

/// Communication between threads.
fn communications() -> [Edge; 3] {
    use Communication::{Coherence, FromRead, ReadsFrom};
    [ReadsFrom, FromRead, Coherence]
        .map(|how| Relation::Communicates { how, external: true }.into())
}

/// Every edge within a thread, the simplest first: plain, annotated, dependencies, fences, and
/// communication of a thread with itself.
fn program_edges() -> Vec<Edge> {
    const ENDS: [Access; 2] = [Access::Read, Access::Write];
    let mut edges: Vec<Edge> = Vec::new();
    let mut add = |link: Link, marks: &dyn Fn(Access) -> Vec<Mark>| {
        for same_place in [false, true] {
            for (from, to) in ENDS.into_iter().flat_map(|from| ENDS.map(|to| (from, to))) {
                let reads = from == Access::Read || link.dependency().is_none();
                if !reads || link == Link::Data && to == Access::Read {
                    continue;
                }
                let edge: Edge = Relation::Program { link, same_place, from, to }.into();
                for first in marks(from) {
                    edges.extend(marks(to).into_iter().map(|second| edge.marked([first, second])));
                }
            }
        }
    };
    let plain = |_: Access| vec![Mark::PLAIN];
    add(Link::Plain, &plain);
    add(Link::Plain, &|access| {
        let orders = [AccessOrder::Acquire, AccessOrder::AcquirePc, AccessOrder::Release];
        let marks = orders.into_iter().map(|order| Mark(Some(order)));
        [Mark::PLAIN].into_iter().chain(marks).filter(|mark| mark.suits(access)).collect()
    });
    let dependencies =
        [Link::Address, Link::Data, Link::Control, Link::ControlIsb, Link::ControlFenceI];
    dependencies.into_iter().for_each(|link| add(link, &plain));
    [Link::MFence, Link::SFence, Link::LFence].into_iter().for_each(|link| add(link, &plain));
    for (before, after) in (0..3).flat_map(|before| (0..3).map(move |after| (before, after))) {
        add(Link::Fence(before, after), &plain);
    }
    Link::FENCES.into_iter().for_each(|name| add(Link::Named(name), &plain));
    edges.extend(communications().map(|edge| match edge.relation {
        Relation::Communicates { how, .. } => {
            Relation::Communicates { how, external: false }.into()
        }
        _ => edge,
    }));
    edges
}
