//! Store models on accesses of mixed sizes that overlap.
//!
//! A history of mixed sizes is judged in two forms. Its *parts* are a plain history over cells, which
//! forgets that the parts of an access happen at one point. Whatever is impossible there is
//! impossible, so the engines for plain addresses refute long traces, and a witness of the parts is
//! often one of the accesses: that is checked, never believed. Its *glued* form has one node for an
//! access and is decided by saturation and search, complete, for thousands of accesses.
//!
//! Cheapest first: the recorded order, the parts, the glued form.

pub(crate) mod by_file;
mod choices;
mod problem;
mod replay;
mod saturate;
mod search;
mod translate;

use evidence::{Proof, Witness};
use history::{EventId, History, Mixed};
use models::{Model, StoreRules};

use self::problem::MixedSizeProblem;
use self::saturate::{Reach, Stopped};
use crate::store::search::Found;
use crate::store::{self, refute};
use crate::verdict::undecided;
use crate::{Budget, DecidedBy, Engine, Judgement, Outcome, Reason, Stats};

/// Decides whether a history of mixed sizes satisfies a store model.
pub(crate) fn decide(
    history: &History,
    mixed: &Mixed,
    model: Model,
    rules: StoreRules,
    engine: Engine,
    budget: &Budget,
) -> Judgement {
    let stats = Stats { write_pairs: Some(write_pairs(mixed)), ..Stats::default() };
    let mut check = Check { history, mixed, model, rules, stats };
    let mut glued = match MixedSizeProblem::new(history, mixed, rules.of_mixed_sizes()) {
        Ok(glued) => glued,
        Err(proof) => return check.violation(proof, DecidedBy::Saturation),
    };
    if matches!(engine, Engine::Auto | Engine::Recorded) {
        if let Some(order) = check.recorded(&glued) {
            return check.consistent(order, DecidedBy::Recorded);
        }
        if engine == Engine::Recorded {
            let why = "the recorded order is not a witness; use --engine auto";
            return check.undecided(Reason::Engine(why.into()), DecidedBy::Recorded);
        }
    }
    match engine {
        Engine::Linear | Engine::Enumerate | Engine::Subsets | Engine::Frontiers => {
            let name = engine.name();
            let why = format!(
                "the engine {name} does not support overlapping accesses of different sizes; use \
                 auto, recorded, saturation or sat"
            );
            return check.undecided(Reason::Engine(why), DecidedBy::Saturation);
        }
        Engine::Auto | Engine::Saturation => {
            if let Some(judgement) = check.by_parts(&glued, budget) {
                return judgement;
            }
        }
        Engine::Recorded | Engine::Sat => {}
    }
    check.glued(&mut glued, engine, budget)
}

/// Unordered pairs of writes of one cell.
fn write_pairs(mixed: &Mixed) -> u64 {
    let parts = mixed.parts();
    let counts = parts.address_ids().map(|cell| parts.address(cell).writes.len() as u64);
    counts.map(|n| n * n.saturating_sub(1) / 2).sum()
}

struct Check<'h> {
    history: &'h History,
    mixed: &'h Mixed,
    model: Model,
    rules: StoreRules,
    stats: Stats,
}

impl Check<'_> {
    fn verdict(&self, outcome: Outcome, decided_by: DecidedBy) -> Judgement {
        Judgement { model: self.model, outcome, decided_by, stats: self.stats }
    }

    fn violation(&self, proof: Proof, by: DecidedBy) -> Judgement {
        self.verdict(Outcome::Broken(proof), by)
    }

    fn consistent(&self, order: Vec<EventId>, by: DecidedBy) -> Judgement {
        self.verdict(Outcome::Holds(Witness::Order(order)), by)
    }

    fn undecided(&self, reason: Reason, by: DecidedBy) -> Judgement {
        self.verdict(undecided(reason, ""), by)
    }

    /// The recorded order itself, or what store buffers of parts make of it.
    fn recorded(&self, glued: &MixedSizeProblem) -> Option<Vec<EventId>> {
        let mut order = self.history.recorded_order();
        order.retain(|&event| self.history.address_of(event).is_some());
        if replay::explains(glued, &order) {
            return Some(order);
        }
        let parts = store::recorded::explain(self.mixed.parts(), &self.rules)?.order;
        self.of_parts(glued, &parts)
    }

    /// An order of accesses that follows an order of their parts, if that explains the history: an
    /// access stands where its last part does, or where its first does.
    fn of_parts(&self, glued: &MixedSizeProblem, parts: &[EventId]) -> Option<Vec<EventId>> {
        let once = |parts: &mut dyn Iterator<Item = &EventId>| {
            let mut seen = vec![false; self.history.len()];
            let accesses = parts.map(|&part| self.mixed.access_of(part));
            accesses
                .filter(|access| !std::mem::replace(&mut seen[access.index()], true))
                .collect::<Vec<_>>()
        };
        let firsts = once(&mut parts.iter());
        let mut lasts = once(&mut parts.iter().rev());
        lasts.reverse();
        [lasts, firsts].into_iter().find(|order| replay::explains(glued, order))
    }

    /// What the engines for plain addresses say about the parts, in polynomial time.
    fn by_parts(&self, glued: &MixedSizeProblem, budget: &Budget) -> Option<Judgement> {
        let parts = self.mixed.parts();
        let said = store::decide(parts, self.model, self.rules, Engine::Saturation, budget);
        let by = said.decided_by;
        match said.outcome {
            Outcome::Broken(proof) => {
                let proof = translate::of_accesses(self.history, self.mixed, proof);
                Some(self.violation(proof, by))
            }
            Outcome::Holds(Witness::Order(order)) => {
                self.of_parts(glued, &order).map(|order| self.consistent(order, by))
            }
            Outcome::Holds(_) | Outcome::Undecided(_) => None,
        }
    }

    fn glued(
        &mut self,
        glued: &mut MixedSizeProblem,
        engine: Engine,
        budget: &Budget,
    ) -> Judgement {
        let by = DecidedBy::Saturation;
        if !budget.allows(Reach::bytes(glued.problem.graph.node_count()).saturating_mul(2)) {
            return self.undecided(Reason::Memory, by);
        }
        let reach = match saturate::saturate(glued, budget) {
            Ok(reach) => reach,
            Err(Stopped::Cycle(cycle)) => {
                return self.violation(refute::refute(&glued.problem, &cycle), by);
            }
            Err(Stopped::Time) => return self.undecided(Reason::Time, by),
        };
        self.stats.inferred_edges = glued.problem.graph.inferred_count() as u64;
        if engine == Engine::Saturation {
            let why = "saturation found no violation, and no total order was found; use --engine \
                       auto";
            return self.undecided(Reason::Engine(why.into()), by);
        }
        match search::search(glued, &reach, budget, &mut self.stats) {
            Found::Order(order) => self.consistent(order, DecidedBy::Sat),
            Found::Nothing(proof) => self.violation(proof, DecidedBy::Sat),
            Found::Spent => self.undecided(Reason::Time, DecidedBy::Sat),
            Found::TooLarge => self.undecided(Reason::Memory, DecidedBy::Sat),
        }
    }
}
