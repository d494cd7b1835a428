//! Is there a way to settle who read from whom, and the orders of writes, that meets every axiom?
//!
//! A search over the choices that the history leaves open: first who read what where several writes
//! have the value, then the order of two writes of an address. After each choice the axioms are
//! evaluated with what is known ([`Evaluation`]): if one is broken whatever the rest turns out to
//! be, the choice is taken back; if all are met whatever the rest turns out to be, any rest will do.
//! Complete, and exponential in the number of choices at worst: for litmus tests and traces of some
//! tens of events. It takes any model of the language.

use history::History;

use crate::bits::Matrix;
use crate::bounds::{Evaluation, Standing};
use crate::execution::{Bounds, Execution, Knowledge};
use crate::load::CatModel;
use crate::witness::{Witness, witness};

/// What the search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The history satisfies the model, as this shows.
    Consistent(Witness),
    /// It does not.
    Violation(Refutation),
    /// The search was ended before it found anything.
    Undecided(Effort),
}

/// What a search has taken so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Effort {
    /// How often the axioms were evaluated.
    pub evaluations: u64,
    /// The bytes of what is still to be tried.
    pub bytes: usize,
}

/// Why a history violates a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refutation {
    /// The numbers of the axioms that ended a branch of the search, in order. If there is one of
    /// them, no choice meets it; if there are several, no choice meets all of them.
    pub axioms: Vec<usize>,
    /// How many ways to settle the open choices were ruled out, each by one of the axioms.
    pub branches: u64,
}

/// Whether a history satisfies a model. `go_on` is asked before each evaluation of the axioms, and
/// ends the search by `false`.
///
/// ```
/// use tribunal_cat::{Answer, CatModel, solve};
///
/// let history = history::parse_text("0: M[x] := 1\n0: M[y] == 0\n1: M[y] := 1\n1: M[x] == 0")?;
/// let sc = CatModel::from_text("sc.cat", "acyclic po | rf | co | fr")?;
/// assert!(matches!(solve(&sc, &history, |_| true), Answer::Violation(_)));
/// let coherence = CatModel::from_text("coherence.cat", "acyclic po-loc | rf | co | fr")?;
/// let answer = solve(&coherence, &history, |effort| effort.evaluations < 1_000);
/// assert!(matches!(answer, Answer::Consistent(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn solve(model: &CatModel, history: &History, go_on: impl FnMut(&Effort) -> bool) -> Answer {
    let execution = Execution::new(history);
    let mut search = Search {
        evaluation: Evaluation::new(&model.graph, &execution),
        execution: &execution,
        effort: Effort::default(),
        blamed: vec![false; model.graph.axioms.len()],
        branches: 0,
    };
    let found = search.run(go_on);
    let Search { effort, blamed, branches, .. } = search;
    match found {
        Found::Met(knowledge) => Answer::Consistent(witness(&execution, &knowledge)),
        Found::Nothing => {
            let axioms = (0..blamed.len()).filter(|&at| blamed[at]).collect();
            Answer::Violation(Refutation { axioms, branches })
        }
        Found::Stopped => Answer::Undecided(effort),
    }
}

enum Found {
    Met(Knowledge),
    Nothing,
    Stopped,
}

struct Search<'a> {
    evaluation: Evaluation<'a>,
    execution: &'a Execution<'a>,
    effort: Effort,
    /// The axioms that ended a branch.
    blamed: Vec<bool>,
    branches: u64,
}

impl Search<'_> {
    /// Depth first, with a list of what is still to be tried.
    fn run(&mut self, mut go_on: impl FnMut(&Effort) -> bool) -> Found {
        let mut untried = starts(self.execution);
        untried.reverse();
        while let Some(knowledge) = untried.pop() {
            self.effort.bytes = (untried.len() + 1) * knowledge.bytes();
            if !go_on(&self.effort) {
                return Found::Stopped;
            }
            self.effort.evaluations += 1;
            let standings = self.evaluation.standings(&knowledge);
            if let Some(broken) = standings.iter().position(|each| *each == Standing::Broken) {
                self.blamed[broken] = true;
                self.branches += 1;
                continue;
            }
            if standings.iter().all(|each| *each == Standing::Met) {
                return Found::Met(knowledge);
            }
            // With all choices made, bounds are values and no axiom is open.
            untried.extend(refine(self.execution, &knowledge).into_iter().rev());
        }
        Found::Nothing
    }
}

/// What the history says, once for each way in which its `final` lines may be meant; none if it
/// contradicts itself.
fn starts(execution: &Execution<'_>) -> Vec<Knowledge> {
    let size = execution.size();
    let mut reads_from = Bounds { must: Matrix::empty(size), may: Matrix::empty(size) };
    for (read, sources) in execution.sources() {
        for &write in &sources {
            reads_from.may.insert(write, read);
        }
        match sources[..] {
            [only] => reads_from.must.insert(only, read),
            // A value that nobody wrote: no execution has it.
            [] => return Vec::new(),
            _ => {}
        }
    }
    let mut coherence = Bounds { must: Matrix::empty(size), may: Matrix::empty(size) };
    let writes = execution.writes();
    for of_address in &writes {
        for &a in of_address {
            of_address.iter().filter(|&&b| a != b).for_each(|&b| coherence.may.insert(a, b));
        }
    }
    let mut all = vec![Knowledge { reads_from, coherence }];
    for (before, after) in execution.known_coherence() {
        all = all.into_iter().filter_map(|each| order(each, before, after)).collect();
    }
    for (address, candidates) in execution.last_writes() {
        let mut further = Vec::new();
        for knowledge in &all {
            for &last in &candidates {
                let mut others = writes[address].iter().filter(|&&write| write != last);
                let start = Some(knowledge.clone());
                further.extend(
                    others
                        .try_fold(start, |so_far, &write| {
                            Some(so_far.and_then(|so_far| order(so_far, write, last)))
                        })
                        .flatten(),
                );
            }
        }
        all = further;
    }
    all
}

/// The same with one write before another, and what follows from that; `None` if it cannot be.
fn order(mut knowledge: Knowledge, before: usize, after: usize) -> Option<Knowledge> {
    let coherence = &mut knowledge.coherence;
    if coherence.must.has(before, after) {
        return Some(knowledge);
    }
    if !coherence.may.has(before, after) {
        return None;
    }
    coherence.must.insert(before, after);
    coherence.must = coherence.must.closure();
    if !coherence.must.is_irreflexive() {
        return None;
    }
    for (a, b) in coherence.must.inverse().pairs() {
        coherence.may.remove(a, b);
    }
    Some(knowledge)
}

/// The first open choice, made in every way; nothing if all are made.
fn refine(execution: &Execution<'_>, knowledge: &Knowledge) -> Vec<Knowledge> {
    let open_read = execution.sources().into_iter().find_map(|(read, sources)| {
        let open = !sources.iter().any(|&write| knowledge.reads_from.must.has(write, read));
        open.then_some((read, sources))
    });
    if let Some((read, sources)) = open_read {
        let choose = |&chosen: &usize| {
            let mut settled = knowledge.clone();
            for &write in sources.iter().filter(|&&write| write != chosen) {
                settled.reads_from.may.remove(write, read);
            }
            settled.reads_from.must.insert(chosen, read);
            settled
        };
        return sources.iter().map(choose).collect();
    }
    let open_pair =
        knowledge.coherence.may.pairs().find(|&(a, b)| !knowledge.coherence.must.has(a, b));
    let Some((a, b)) = open_pair else { return Vec::new() };
    [(a, b), (b, a)].into_iter().filter_map(|(a, b)| order(knowledge.clone(), a, b)).collect()
}
