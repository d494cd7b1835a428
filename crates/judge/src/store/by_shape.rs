//! Long histories judged by a model file that has the shape of the built-in models.
//!
//! What the file keeps of program order becomes the fixed edges of a problem (`paths`), and the
//! engines of the store models decide it: saturation, the guess, the search. Atomics are one event
//! where the model treats their halves alike, else two (`halves`). Where a value was written more
//! than once, what depends on who read what is left out of the fixed edges, so that what the engines
//! refute is refuted and what they allow is not yet allowed. Every witness is therefore checked once
//! more, axiom by axiom and with all reads settled, by a linear pass that knows nothing of how it
//! was found. The order of the lines is tried first, as for the built-in models.

mod execution;

use cat::{CatModel, HalvesOrder, Refutation, Shape, Witness};
use evidence::file::{self, FileEvidence};
use evidence::{Node, Proof, Step, Verdict, Why};
use history::{EventId, History, Kinds, Mixed, Source};
use models::{Keeps, Model, StoreRules};

use self::execution::Execution;
use super::chains::Chains;
use super::coherence::SeenOrder;
use super::graph::{EdgeSink, FixedEdges};
use super::paths::{Parts, PreservedOrder};
use super::problem::{Problem, rules_find};
use super::program_order::{effective, kept_program_order, real_time, visible_reads};
use super::split_atomics::SplitAtomics;
use super::traced::traced;
use super::{Check, MOST_CLOCKS, locations, recorded};
use crate::{
    Budget, DecidedBy, Engine, FileJudgement, FileOutcome, Outcome, Reason, Stats, Undecided,
};

/// The verdict of the engines for long histories; `None` if they cannot judge this history by this
/// model. The history may be the parts of accesses of mixed sizes.
pub(crate) fn decide(
    history: &History,
    mixed: Option<&Mixed>,
    model: &CatModel,
    shape: &Shape,
    budget: &Budget,
) -> Option<FileJudgement> {
    let mut atomics = history.event_ids().filter(|&e| history.kinds_of(e) == Kinds::ALL).peekable();
    let has_atomics = atomics.peek().is_some();
    let is_of_shape = match shape.halves {
        HalvesOrder::Location => true,
        // The engines would have to know that no atomic reads what it writes.
        HalvesOrder::Global => {
            mixed.is_none()
                && !atomics.any(|atomic| history.sources(atomic).contains(&Source::Write(atomic)))
                || !has_atomics
        }
        HalvesOrder::Open => !has_atomics,
    };
    if !is_of_shape {
        return None;
    }
    let halves_are_one = shape.global.as_ref().is_none_or(|global| global.halves_are_one);
    let as_one = shape.atomicity.is_some() && halves_are_one;
    let is_plain = history.pairs().is_empty() && (!has_atomics || as_one);
    if is_plain {
        return Question::new(history, mixed, model, shape, &Whole(history))?.decide(budget);
    }
    if shape.thin_air.is_some() {
        return None;
    }
    let halves = SplitAtomics::new(history, shape.atomicity)?;
    let split = Split { trace: history, halves: &halves };
    Question::new(history, mixed, model, shape, &split)?.decide(budget)
}

/// Events as the trace has them.
struct Whole<'h>(&'h History);

impl Parts for Whole<'_> {
    fn history(&self) -> &History {
        self.0
    }
    fn trace(&self) -> &History {
        self.0
    }
    fn origin(&self, event: EventId) -> EventId {
        event
    }
    fn become_of(&self, origin: EventId) -> (EventId, usize) {
        (origin, 1)
    }
    fn are_split(&self) -> bool {
        false
    }
    fn is_write_half(&self, _: EventId) -> bool {
        false
    }
}

/// Events with their atomics in halves.
struct Split<'h> {
    trace: &'h History,
    halves: &'h SplitAtomics,
}

impl Parts for Split<'_> {
    fn history(&self) -> &History {
        &self.halves.history
    }
    fn trace(&self) -> &History {
        self.trace
    }
    fn origin(&self, event: EventId) -> EventId {
        self.halves.origin(event)
    }
    fn become_of(&self, origin: EventId) -> (EventId, usize) {
        let is_atomic = self.trace.kinds_of(origin) == Kinds::ALL;
        (self.halves.first(origin), if is_atomic { 2 } else { 1 })
    }
    fn are_split(&self) -> bool {
        true
    }
    fn is_write_half(&self, event: EventId) -> bool {
        self.halves.is_write_half(event)
    }
}

/// A history and a model, with what the model keeps on it.
struct Question<'a, P> {
    trace: &'a History,
    /// What the events are parts of.
    mixed: Option<&'a Mixed>,
    model: &'a CatModel,
    shape: &'a Shape,
    parts: &'a P,
    kept: PreservedOrder<'a>,
    /// What is kept by kinds, as edges.
    table: StoreRules,
    /// What the engines may assume.
    rules: StoreRules,
    /// Whether it is known who read what, in the trace and in the history.
    is_unambiguous: bool,
}

impl<'a, P: Parts> Question<'a, P> {
    fn new(
        trace: &'a History,
        mixed: Option<&'a Mixed>,
        model: &'a CatModel,
        shape: &'a Shape,
        parts: &'a P,
    ) -> Option<Self> {
        let (paths, own_reads) = match &shape.global {
            Some(global) => (&global.kept[..], global.own_reads),
            None => (&[][..], true),
        };
        let kept = PreservedOrder::new(model, paths, own_reads, parts)?;
        let only_locations = StoreRules { global: false, ..kept.table };
        let rules = if shape.global.is_some() { kept.table } else { only_locations };
        let rules = StoreRules {
            same_address_reads_swap: shape.location_swaps_reads,
            dependencies: shape.thin_air.is_some(),
            ..rules
        };
        let table = effective(rules);
        let mut rules = rules;
        if parts.are_split() {
            // The writing half of an atomic counts as a reader to the engines, and is none.
            rules.read_read = Keeps::Never;
        }
        let is_unambiguous =
            trace.is_unambiguous() && (!parts.are_split() || parts.history().is_unambiguous());
        Some(Question { trace, mixed, model, shape, parts, kept, table, rules, is_unambiguous })
    }

    fn decide(&self, budget: &Budget) -> Option<FileJudgement> {
        let history = self.parts.history();
        if let Some(judgement) = self.recorded() {
            return Some(judgement);
        }
        let thin = Chains::would_be_too_many(history, &self.rules, MOST_CLOCKS);
        if thin
            && !self.rules.global
            && self.is_unambiguous
            && let Some(order) = locations::order(history, &self.rules)
            && let Some(judgement) = self.met(order, DecidedBy::TotalOrder)
        {
            return Some(judgement);
        }
        let fixed = |sources: &[Option<Source>]| self.fixed(sources).seal();
        let follows = !thin && !self.parts.are_split();
        let found = |order: &SeenOrder| follows && rules_find(history, &self.table, order);
        let problem = Problem::with_fixed(history, self.rules, thin, found, fixed);
        let judgement = match problem {
            Ok(problem) => {
                let mut check =
                    Check { model: Model::Sc, stats: Stats::default(), exhausted: None };
                check.saturated(problem, Engine::Auto, budget)
            }
            Err(proof) => {
                return Some(self.violation(proof, DecidedBy::Saturation));
            }
        };
        let decided_by = judgement.decided_by;
        let outcome = match judgement.outcome {
            Outcome::Holds(evidence::Witness::Order(order)) => match self.met(order, decided_by) {
                Some(judgement) => return Some(judgement),
                None if self.is_settled() => {
                    let sentence = "the engines and the check of their witness disagree: this \
                                        is a bug in tribunal";
                    open(Reason::Engine(sentence.to_owned()))
                }
                None => {
                    let sentence = "a value was written more than once, and what the model \
                                        keeps depends on which write was read";
                    open(Reason::Engine(sentence.to_owned()))
                }
            },
            Outcome::Holds(_) => return None,
            Outcome::Broken(proof) => return Some(self.violation(proof, decided_by)),
            Outcome::Undecided(undecided) => Verdict::Undecided(undecided),
        };
        Some(FileJudgement { outcome, decided_by, proof: None, evidence: None })
    }

    /// The recorded order as a witness, if it meets the model.
    fn recorded(&self) -> Option<FileJudgement> {
        let order = recorded::explain(self.parts.history(), &self.rules)?.order;
        self.met(order, DecidedBy::Recorded)
    }

    /// An order as a witness, if it meets the model.
    fn met(&self, order: Vec<EventId>, decided_by: DecidedBy) -> Option<FileJudgement> {
        let (order, execution) = self.execution_that_meets(order)?;
        let witness = self.witness(execution);
        let evidence = Some(FileEvidence::Consistent(self.evidence(order, &witness)));
        let outcome = Verdict::Holds(witness);
        Some(FileJudgement { outcome, decided_by, proof: None, evidence })
    }

    /// An execution in the terms of the trace, with an order of all accesses that shows it.
    fn evidence(&self, mut order: Vec<EventId>, witness: &Witness) -> file::Execution {
        if self.parts.are_split() {
            order.iter_mut().for_each(|event| *event = self.parts.origin(*event));
        }
        let is_open = |&(read, _): &(EventId, Source)| self.trace.only_source(read).is_none();
        let reads = match self.is_unambiguous {
            true => Vec::new(),
            false => witness.reads_from.iter().copied().filter(is_open).collect(),
        };
        file::Execution { order, reads }
    }

    fn violation(&self, proof: Proof, decided_by: DecidedBy) -> FileJudgement {
        let outcome = Verdict::Broken(self.refutation(&proof));
        let traced = traced((self.trace, self.mixed), self.model, self.shape, self.parts, &proof);
        let evidence = traced.map(FileEvidence::Violation);
        FileJudgement { outcome, decided_by, proof: self.of_trace(proof), evidence }
    }

    /// A proof in terms of the trace. Where atomics are two events that is its last cycle, if that
    /// rests on no assumptions, without the steps from one half to the other.
    fn of_trace(&self, proof: Proof) -> Option<Proof> {
        if !self.parts.are_split() {
            return Some(proof);
        }
        let Step { clause, why: Why::Cycle(mut cycle) } = proof.steps.into_iter().next_back()?
        else {
            return None;
        };
        let of_trace = |node: Node| match node {
            Node::Event(event) => Node::Event(self.parts.origin(event)),
            other => other,
        };
        for edge in &mut cycle.edges {
            (edge.from, edge.to) = (of_trace(edge.from), of_trace(edge.to));
        }
        cycle.edges.retain(|edge| edge.from != edge.to);
        let last = Step { clause, why: Why::Cycle(cycle) };
        last.clause.is_empty().then(|| Proof { steps: vec![last] })
    }

    /// Whether all that the model keeps was known to the engines.
    fn is_settled(&self) -> bool {
        self.is_unambiguous || !self.kept.depends_on_reads() && !self.parts.are_split()
    }

    /// The fixed edges, given who read what.
    fn fixed(&self, sources: &[Option<Source>]) -> FixedEdges {
        let history = self.parts.history();
        let mut graph = FixedEdges::new(history);
        self.kept_edges(&mut graph, sources);
        visible_reads(&mut graph, history, &self.table, sources);
        graph
    }

    /// What is kept of program order, of dependencies and of time.
    fn kept_edges(&self, graph: &mut impl EdgeSink, sources: &[Option<Source>]) {
        let history = self.parts.history();
        kept_program_order(graph, history, &self.table, &(&self.kept, history));
        if self.kept.real_time {
            real_time(graph, history);
        }
        self.kept.walk_paths(graph, self.parts, sources);
    }

    /// The axioms that a proof is about.
    fn refutation(&self, proof: &Proof) -> Refutation {
        let is_location = |why: &Why| matches!(why, Why::Cycle(cycle) if cycle.graph == evidence::Graph::Location);
        let only_location =
            !proof.steps.is_empty() && proof.steps.iter().all(|step| is_location(&step.why));
        let has_why = proof.steps.iter().any(|step| matches!(step.why, Why::Cycle(_)));
        let global = self.shape.global.as_ref().map(|global| global.axiom);
        let mut axioms = self.shape.location_axioms();
        if !only_location {
            axioms.extend(global);
        }
        if !only_location && self.kept.has_pairs() {
            axioms.extend(self.shape.atomicity.map(|atomicity| atomicity.axiom));
        }
        if !has_why {
            axioms.clear();
        }
        axioms.sort_unstable();
        axioms.dedup();
        Refutation { axioms, branches: proof.steps.len() as u64 }
    }

    /// The execution in terms of the trace.
    fn witness(&self, execution: Execution) -> Witness {
        let history = self.parts.history();
        let origin = |event| self.parts.origin(event);
        let reads = self.trace.event_ids().filter(|&event| self.trace.kinds_of(event).reads);
        let reads_from = reads.filter_map(|read| {
            let source = match execution.sources[self.parts.become_of(read).0.index()]? {
                Source::Initial => Source::Initial,
                Source::Write(write) => Source::Write(origin(write)),
            };
            Some((read, source))
        });
        debug_assert_eq!(execution.writes.len(), history.address_count());
        let reads_from = reads_from.collect();
        let mut write_orders = execution.writes;
        if self.parts.are_split() {
            write_orders.iter_mut().flatten().for_each(|write| *write = origin(*write));
        }
        Witness { reads_from, write_orders }
    }
}

fn open(reason: Reason) -> FileOutcome {
    Verdict::Undecided(Undecided { reason, established: String::new() })
}
