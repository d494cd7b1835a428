//! Store models: sc, tso, pso, wmo, rmo, coherence.
//!
//! Cheapest first: where the write order is known the linear check decides; else the recorded order
//! is tried as a witness; else, where values repeat, runs of the machine are searched for a while;
//! else saturation infers what it can, a greedy guess tries to complete it, and only what is left
//! open is searched. All engines but the recorded order and the runs work on one
//! [`Problem`](problem::Problem): the history with its graph of what must come before what.

pub(crate) mod by_shape;
mod chains;
pub(crate) mod choices;
mod clocks;
pub(crate) mod coherence;
pub(crate) mod cycles;
mod enumerate;
mod frontier_state;
mod frontiers;
pub(crate) mod graph;
mod guess;
mod linear;
mod linearize;
mod locations;
mod nodes;
mod order_check;
mod paths;
pub(crate) mod problem;
pub(crate) mod program_order;
mod propose;
pub(crate) mod recorded;
pub(crate) mod refute;
mod saturate;
pub(crate) mod search;
mod simulated_order;
mod split_atomics;
mod subsets;
#[cfg(test)]
mod thin_tests;
mod traced;

use evidence::{Proof, Witness};
use history::{EventId, History};
use models::{Keeps, Model, StoreRules};

use self::chains::Chains;
use self::clocks::Clocks;
use self::frontiers::Explored;
use self::linearize::BacktrackLimit;
use self::problem::Problem;
use self::recorded::Recorded;
use self::saturate::{Saturation, Stopped};
use self::search::{Found, by_proposals};
use crate::verdict::undecided;
use crate::{Budget, DecidedBy, Engine, Judgement, Outcome, Reason, Stats};

/// Clocks with a chain for each thread and address may take so many bytes.
const MOST_CLOCKS: usize = 1 << 24;

/// Up to so many threads, a guess takes less time than proposals do.
const FEW_THREADS: usize = 32;

/// Where values repeat, so many states of the machine are visited before anything else is tried.
const MOST_STATES: usize = 1_000_000;

/// Decides whether `history` satisfies a store model.
pub(crate) fn decide(
    history: &History,
    model: Model,
    rules: StoreRules,
    engine: Engine,
    budget: &Budget,
) -> Judgement {
    decide_with(history, model, rules, engine, budget, MOST_CLOCKS)
}

fn decide_with(
    history: &History,
    model: Model,
    rules: StoreRules,
    engine: Engine,
    budget: &Budget,
    most_clocks: usize,
) -> Judgement {
    let mut check = Check { model, stats: Stats::default(), exhausted: None };
    check.stats.write_pairs = Some(write_pairs(history));
    // Where the write order is known, the linear check is complete.
    let may_be_linear = || linear::may_be_known(history) && history.is_unambiguous();
    if engine == Engine::Recorded || engine == Engine::Auto && !may_be_linear() {
        if let Some(Recorded { order, .. }) = recorded::explain(history, &rules) {
            return check.consistent(order, DecidedBy::Recorded);
        }
        if engine == Engine::Recorded {
            let why = "the recorded order is not a witness; use --engine auto";
            return check.verdict(undecided(Reason::Engine(why.into()), ""), DecidedBy::Recorded);
        }
    }
    if engine == Engine::Frontiers
        && let Some(judgement) = check.frontiers(history, &rules, budget)
    {
        return judgement;
    }
    if engine == Engine::Auto
        && !history.is_unambiguous()
        && let Some(order) = run_of_machine(history, &rules, budget)
    {
        return check.consistent(order, DecidedBy::Frontiers);
    }
    let guesses = matches!(engine, Engine::Auto | Engine::Saturation);
    let thin = guesses && Chains::would_be_too_many(history, &rules, most_clocks);
    if thin && !rules.global && history.is_unambiguous() {
        // Where clocks are thin, saturation would not say how much the trace leaves open either.
        if let Some(order) = locations::order(history, &rules) {
            return check.consistent(order, DecidedBy::TotalOrder);
        }
    }
    let problem = match Problem::new(history, rules, thin) {
        Ok(problem) => problem,
        Err(proof) => {
            let by =
                if engine == Engine::Linear { DecidedBy::Linear } else { DecidedBy::Saturation };
            return check.verdict(Outcome::Broken(proof), by);
        }
    };
    match engine {
        Engine::Linear => check.linear(problem),
        _ => check.saturated(problem, engine, budget),
    }
}

/// The clocks of a problem that is saturated already.
fn saturated_again<'p, 'h>(
    problem: &'p mut Problem<'h>,
    budget: &Budget,
) -> Result<Saturation<'p, 'h>, Stopped> {
    let order = problem.graph.topological_order().map_err(Stopped::Cycle)?;
    saturate::saturate(problem, &order, budget)
}

/// A witness by the machine of sc, which every store model allows, or by that of tso for models that
/// allow what it allows; as far as a limited search finds one.
fn run_of_machine(history: &History, rules: &StoreRules, budget: &Budget) -> Option<Vec<EventId>> {
    if !frontiers::applies(history) {
        return None;
    }
    // A visit looks at every thread.
    let most = MOST_STATES * 8 / (8 + history.thread_count()) + 4 * history.len();
    let run = |buffered| match frontiers::explore(history, buffered, most, budget) {
        Explored::Order(order) => Some(order),
        Explored::Nothing(_) | Explored::Spent | Explored::TooLarge => None,
    };
    run(false).or_else(|| has_buffers(rules).then(|| run(true)).flatten())
}

/// Whether a model allows at least what store buffers do.
pub(crate) fn has_buffers(rules: &StoreRules) -> bool {
    rules.global && rules.write_read == Keeps::Never && !rules.own_reads_visible
}

/// Unordered pairs of writes of one address.
fn write_pairs(history: &History) -> u64 {
    history
        .address_ids()
        .map(|a| history.address(a).writes.len() as u64)
        .map(|n| n * n.saturating_sub(1) / 2)
        .sum()
}

/// A check under way.
struct Check {
    model: Model,
    stats: Stats,
    /// So many states of the machine were visited, and no run comes through.
    exhausted: Option<usize>,
}

impl Check {
    fn verdict(&self, outcome: Outcome, decided_by: DecidedBy) -> Judgement {
        Judgement { model: self.model, outcome, decided_by, stats: self.stats }
    }

    fn violation(&self, proof: Proof, decided_by: DecidedBy) -> Judgement {
        self.verdict(Outcome::Broken(proof), decided_by)
    }

    fn consistent(&self, order: Vec<EventId>, decided_by: DecidedBy) -> Judgement {
        self.verdict(Outcome::Holds(Witness::Order(order)), decided_by)
    }

    /// Runs of the machine, asked for by name. Nothing if there is no run: then a search writes the
    /// proof.
    fn frontiers(
        &mut self,
        history: &History,
        rules: &StoreRules,
        budget: &Budget,
    ) -> Option<Judgement> {
        let by = DecidedBy::Frontiers;
        let buffered = match self.model {
            Model::Sc => false,
            Model::Tso => true,
            _ => has_buffers(rules),
        };
        let because = |why: &str| undecided(Reason::Engine(why.into()), "");
        if !frontiers::applies(history) {
            let why = "the engine `frontiers` does not support times and `order` lines; use \
                       --engine auto";
            return Some(self.verdict(because(why), by));
        }
        match frontiers::explore(history, buffered, usize::MAX, budget) {
            Explored::Order(order) => Some(self.consistent(order, by)),
            Explored::Spent => Some(self.found(Found::Spent, by)),
            Explored::TooLarge => Some(self.found(Found::TooLarge, by)),
            Explored::Nothing(_) if !matches!(self.model, Model::Sc | Model::Tso) => {
                let why = "no run of the machine of sc or tso explains the trace, but the model \
                           allows more; use --engine auto";
                Some(self.verdict(because(why), by))
            }
            Explored::Nothing(states) => {
                self.exhausted = Some(states);
                None
            }
        }
    }

    /// The linear engine, asked for by name.
    fn linear(&mut self, problem: Problem) -> Judgement {
        if !problem.history.is_unambiguous() {
            let why = "a value was written more than once, so reads-from is not known; use \
                       --engine auto";
            return self.verdict(undecided(Reason::Engine(why.into()), ""), DecidedBy::Linear);
        }
        match linear::known_order(&problem) {
            Ok(orders) => self.known(problem, &orders),
            Err(address) => {
                // What is known may contradict itself, and then that is the answer.
                if let Err(cycle) = problem.graph.topological_order() {
                    return self.violation(refute::refute(&problem, &cycle), DecidedBy::Linear);
                }
                let label = &problem.history.address(address).label;
                let why = format!(
                    "the engine `linear` needs the coherence order of M[{label}]; add an `order` \
                     line, or use --engine auto"
                );
                self.verdict(undecided(Reason::Engine(why), ""), DecidedBy::Linear)
            }
        }
    }

    fn known(&mut self, mut problem: Problem, orders: &[Vec<EventId>]) -> Judgement {
        self.stats.unordered_write_pairs = Some(0);
        match linear::decide(&mut problem, orders) {
            Ok(nodes) => self.consistent(linearize::accesses(&problem, &nodes), DecidedBy::Linear),
            Err(cycle) => self.violation(refute::refute(&problem, &cycle), DecidedBy::Linear),
        }
    }

    /// Saturation, then what the engine does with what is left.
    fn saturated(&mut self, mut problem: Problem, engine: Engine, budget: &Budget) -> Judgement {
        let unambiguous = problem.history.is_unambiguous();
        if engine == Engine::Auto
            && unambiguous
            && linear::may_be_known(problem.history)
            && let Ok(orders) = linear::known_order(&problem)
        {
            return self.known(problem, &orders);
        }
        let simulated_order = match simulated_order::simulate(&problem) {
            Ok(simulated_order) => simulated_order,
            Err(cycle) => return self.stopped(&problem, Stopped::Cycle(cycle)),
        };
        let guesses = unambiguous && matches!(engine, Engine::Auto | Engine::Saturation);
        if guesses && simulated_order.reads_are_right && saturate::is_costly(&problem) {
            let order = linearize::accesses(&problem, &simulated_order.order);
            return self.consistent(order, DecidedBy::TotalOrder);
        }
        let saturation = match saturate::saturate(&mut problem, &simulated_order.order, budget) {
            Ok(saturation) => saturation,
            Err(stopped) => return self.stopped(&problem, stopped),
        };
        drop(simulated_order);
        self.stats.inferred_edges = saturation.problem.graph.inferred_count() as u64;
        let ordered = saturation.clocks.ordered_pairs(saturation.problem.history);
        if !saturation.problem.thin {
            self.stats.unordered_write_pairs =
                self.stats.write_pairs.map(|all| all.saturating_sub(ordered));
        }
        if !guesses {
            let clocks = saturation.clocks;
            return self.search(problem, clocks, engine, unambiguous, budget);
        }
        // A guess infers much where threads are many, and too little where chains are thin.
        if saturation.problem.thin {
            // What is left to propose is little, and the clocks are most of what a problem takes.
            let clocks = saturation.clocks.forgotten();
            if let Some(order) = by_proposals(&problem, &clocks, budget) {
                return self.consistent(order, DecidedBy::TotalOrder);
            }
            drop(clocks);
            return match saturated_again(&mut problem, budget).map(|s| guess::guess(s, budget)) {
                Ok(Some(order)) => self.consistent(order, DecidedBy::TotalOrder),
                Ok(None) => self.after_the_guess(problem, engine, budget),
                Err(stopped) => self.stopped(&problem, stopped),
            };
        }
        let proposes = saturation.problem.history.thread_count() > FEW_THREADS;
        let proposed =
            proposes.then(|| by_proposals(saturation.problem, &saturation.clocks, budget));
        if let Some(order) = proposed.flatten().or_else(|| guess::guess(saturation, budget)) {
            return self.consistent(order, DecidedBy::TotalOrder);
        }
        self.after_the_guess(problem, engine, budget)
    }

    /// The guess has failed and spent the clocks; the problem is saturated already.
    fn after_the_guess(
        &mut self,
        mut problem: Problem,
        engine: Engine,
        budget: &Budget,
    ) -> Judgement {
        match saturated_again(&mut problem, budget) {
            Ok(saturation) => {
                let clocks = saturation.clocks;
                self.search(problem, clocks, engine, true, budget)
            }
            Err(stopped) => self.stopped(&problem, stopped),
        }
    }

    fn stopped(&mut self, problem: &Problem, stopped: Stopped) -> Judgement {
        match stopped {
            Stopped::Cycle(cycle) => {
                self.violation(refute::refute(problem, &cycle), DecidedBy::Saturation)
            }
            Stopped::Time => self.verdict(undecided(Reason::Time, ""), DecidedBy::Saturation),
            Stopped::Memory => self.verdict(undecided(Reason::Memory, ""), DecidedBy::Saturation),
        }
    }

    fn search(
        &mut self,
        problem: Problem,
        clocks: Clocks,
        engine: Engine,
        unambiguous: bool,
        budget: &Budget,
    ) -> Judgement {
        match engine {
            Engine::Saturation => {
                let why = "saturation found no violation, and no total order was found";
                let reason = Reason::Engine(format!("{why}; use --engine auto"));
                self.verdict(undecided(reason, self.established()), DecidedBy::Saturation)
            }
            Engine::Enumerate => {
                match enumerate::enumerate(&problem, &clocks, budget, &mut self.stats) {
                    Some(found) => self.found(found, DecidedBy::Enumerate),
                    None => {
                        let reason = Reason::Engine(
                            "too many unordered pairs of writes to enumerate; use --engine auto"
                                .into(),
                        );
                        self.verdict(undecided(reason, self.established()), DecidedBy::Enumerate)
                    }
                }
            }
            Engine::Subsets => self.subsets(problem, &clocks, unambiguous, budget),
            Engine::Frontiers => {
                let found = search::search(&problem, &clocks, budget, &mut self.stats);
                self.found(found, DecidedBy::Frontiers)
            }
            Engine::Auto | Engine::Recorded | Engine::Linear | Engine::Sat => {
                let found = search::search(&problem, &clocks, budget, &mut self.stats);
                self.found(found, DecidedBy::Sat)
            }
        }
    }

    fn found(&self, found: Found, by: DecidedBy) -> Judgement {
        match found {
            Found::Order(order) => self.consistent(order, by),
            Found::Nothing(proof) => self.violation(proof, by),
            Found::Spent => self.verdict(undecided(Reason::Time, self.established()), by),
            Found::TooLarge => self.verdict(undecided(Reason::Memory, self.established()), by),
        }
    }

    /// The dynamic programme. It answers without saying why, so a search writes the proof.
    fn subsets(
        &mut self,
        mut problem: Problem,
        clocks: &Clocks,
        unambiguous: bool,
        budget: &Budget,
    ) -> Judgement {
        let by = DecidedBy::Subsets;
        if !unambiguous {
            let why = "the engine `subsets` needs unique values, so that reads-from is known; use \
                       --engine auto";
            return self.verdict(undecided(Reason::Engine(why.into()), self.established()), by);
        }
        match subsets::subsets(&problem, clocks, budget) {
            subsets::Table::Order(open) => {
                for address in problem.history.address_ids() {
                    let at = |w: &&EventId| problem.history.event(**w).address() == Some(address);
                    let writes: Vec<EventId> = open.iter().filter(at).copied().collect();
                    linear::assume_order(&mut problem, &writes);
                }
                let order = linearize::linearize(
                    &problem,
                    &problem.graph,
                    &problem.sources,
                    BacktrackLimit::Long,
                );
                let order = order.unwrap_or_else(|_| unreachable!("the programme found an order"));
                self.consistent(order, by)
            }
            subsets::Table::Nothing => {
                let found = search::search(&problem, clocks, budget, &mut self.stats);
                debug_assert!(!matches!(found, Found::Order(_)), "the engines disagree");
                self.found(found, by)
            }
            subsets::Table::TooMany(open) => {
                let why = format!(
                    "the engine `subsets` would need 2^{open} sets for {open} unordered writes \
                     (the limit is 2^{}); use --engine sat",
                    subsets::MOST_OPEN_WRITES
                );
                self.verdict(undecided(Reason::Engine(why), self.established()), by)
            }
            subsets::Table::Spent => self.found(Found::Spent, by),
            subsets::Table::TooLarge => self.found(Found::TooLarge, by),
        }
    }

    /// What saturation has established, as a sentence.
    fn established(&self) -> String {
        if let Some(states) = self.exhausted {
            return format!(
                "no run of the machine explains the trace ({states} states were visited), but no \
                 proof of that was found"
            );
        }
        match (self.stats.write_pairs, self.stats.unordered_write_pairs) {
            (Some(all), Some(open)) => format!(
                "saturation found no violation and ordered {} of {all} pairs of writes",
                all - open
            ),
            _ => String::new(),
        }
    }
}
