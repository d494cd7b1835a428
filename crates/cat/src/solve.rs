//! Is there a way to settle who read from whom, and the orders of writes, that meets every axiom?
//!
//! A search over the choices that the history leaves open: first who read what where several writes
//! have the value, then the order of two writes of an address. After each choice the axioms are
//! evaluated with what is known ([`Evaluation`]): if one is broken whatever the rest turns out to
//! be, the choice is taken back; if all are met whatever the rest turns out to be, any rest will do.
//! Complete, and exponential in the number of choices at worst: for litmus tests and traces of some
//! tens of events. It takes any model of the language.

use history::History;

use crate::bounds::{AxiomStatus, Evaluation};
use crate::choices::{last, read_from, refine, starts};
use crate::execution::{Execution, Knowledge, MixedSizeRules, Translated};
use crate::load::CatModel;
use crate::witness::{Choice, Witness};

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
    let translated = Translated::of(history);
    let mut search = Search::new(model, &translated.execution);
    let found = search.run(starts(&translated.execution), go_on);
    match found {
        Found::Met(knowledge) => {
            let choice = Choice::of(&translated.execution, &knowledge);
            Answer::Consistent(Witness::of(&translated, &choice))
        }
        Found::Nothing => {
            let axioms = (0..search.blamed.len()).filter(|&at| search.blamed[at]).collect();
            Answer::Violation(Refutation { axioms, branches: search.branches })
        }
        Found::Stopped => Answer::Undecided(search.effort),
    }
}

/// The executions of given events that a model allows, for whoever makes some of the choices: which
/// write a read took its value from, and which write of an address is the last. What is left is
/// searched for.
///
/// ```
/// use tribunal_cat::{Action, Candidates, CatEvent, CatModel, Execution};
///
/// // Two writes of an address by one thread, and a read behind them.
/// let write = |at| CatEvent::new(0, at, Action::Write, Some(0));
/// let read = CatEvent::new(0, 2, Action::Read, Some(0));
/// let execution = Execution {
///     events: vec![CatEvent::initial(0), write(0), write(1), read],
///     sources: vec![(3, vec![0, 1, 2])],
///     ..Execution::default()
/// };
/// let model = CatModel::shipped("coherence").expect("it is shipped");
/// let mut candidates = Candidates::new(&model, &execution);
/// let start = candidates.start();
/// let allows = |candidates: &mut Candidates<'_>, write| {
///     let read = candidates.read_from(&start, 3, write);
///     candidates.complete(read, |_| true).is_ok_and(|found| found.is_some())
/// };
/// assert!(!allows(&mut candidates, 1));
/// assert!(allows(&mut candidates, 2));
/// ```
pub struct Candidates<'a> {
    search: Search<'a>,
    writes: Vec<Vec<usize>>,
}

impl<'a> Candidates<'a> {
    /// With nothing chosen.
    pub fn new(model: &'a CatModel, execution: &'a Execution) -> Self {
        Candidates { search: Search::new(model, execution), writes: execution.writes() }
    }

    /// What is known before any choice: that initial writes come first. What the execution says
    /// about last writes and the order of writes is not looked at here.
    pub fn start(&self) -> Knowledge {
        let plain = Execution {
            events: self.search.execution.events.clone(),
            sources: self.search.execution.sources.clone(),
            ..Execution::default()
        };
        starts(&plain).pop().unwrap_or_else(|| Knowledge::nothing(plain.size()))
    }

    /// The same, and a read took its value from a write.
    pub fn read_from(&self, knowledge: &Knowledge, read: usize, write: usize) -> Knowledge {
        let sources = &self.search.execution.sources;
        let sources = sources.iter().find(|(each, _)| *each == read).map(|(_, sources)| sources);
        read_from(sources.map_or(&[], Vec::as_slice), knowledge, read, write)
    }

    /// The same, and a write is the last of its address; `None` if it cannot be.
    pub fn last(&self, knowledge: &Knowledge, write: usize) -> Option<Knowledge> {
        let address = self.search.execution.events[write].address?;
        last(&self.writes[address], knowledge, write)
    }

    /// Whether no execution with what is known is allowed, as far as that can be determined at once.
    pub fn is_refuted(&mut self, knowledge: &Knowledge) -> bool {
        self.search.evaluation.standings(knowledge).contains(&AxiomStatus::Broken)
    }

    /// An execution with what is known that the model allows, if there is one. `go_on` is asked
    /// before each evaluation of the axioms, and ends the search by `false`.
    pub fn complete(
        &mut self,
        knowledge: Knowledge,
        go_on: impl FnMut(&Effort) -> bool,
    ) -> Result<Option<Choice>, Effort> {
        match self.search.run(vec![knowledge], go_on) {
            Found::Met(knowledge) => Ok(Some(Choice::of(self.search.execution, &knowledge))),
            Found::Nothing => Ok(None),
            Found::Stopped => Err(self.search.effort),
        }
    }
}

/// How a model is about whole accesses, where these are several events.
pub(crate) fn mixed_sizes(model: &CatModel, execution: &Execution) -> MixedSizeRules {
    let location = if execution.wholes.is_empty() { None } else { model.location_axiom() };
    MixedSizeRules { location, own_steps_reach_reads: model.own_steps_reach_reads() }
}

enum Found {
    Met(Knowledge),
    Nothing,
    Stopped,
}

struct Search<'a> {
    evaluation: Evaluation<'a>,
    execution: &'a Execution,
    effort: Effort,
    /// The axioms that ended a branch.
    blamed: Vec<bool>,
    branches: u64,
}

impl<'a> Search<'a> {
    fn new(model: &'a CatModel, execution: &'a Execution) -> Self {
        Search {
            evaluation: Evaluation::new(&model.graph, execution, mixed_sizes(model, execution)),
            execution,
            effort: Effort::default(),
            blamed: vec![false; model.graph.axioms.len()],
            branches: 0,
        }
    }

    /// Depth first, with a list of what is still to be tried.
    fn run(
        &mut self,
        mut untried: Vec<Knowledge>,
        mut go_on: impl FnMut(&Effort) -> bool,
    ) -> Found {
        untried.reverse();
        while let Some(knowledge) = untried.pop() {
            self.effort.bytes = (untried.len() + 1) * knowledge.bytes();
            if !go_on(&self.effort) {
                return Found::Stopped;
            }
            self.effort.evaluations += 1;
            let standings = self.evaluation.standings(&knowledge);
            if let Some(broken) = standings.iter().position(|each| *each == AxiomStatus::Broken) {
                self.blamed[broken] = true;
                self.branches += 1;
                continue;
            }
            if standings.iter().all(|each| *each == AxiomStatus::Met) {
                return Found::Met(knowledge);
            }
            // With all choices made, bounds are values and no axiom is open.
            untried.extend(refine(self.execution, &knowledge).into_iter().rev());
        }
        Found::Nothing
    }
}
