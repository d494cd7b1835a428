//! The complete search: SAT modulo acyclicity over what saturation left open.
//!
//! A SAT solver proposes an assignment of the choices created so far; the edges it activates are
//! checked for cycles. Cycles become clauses, several at a time, and the solver learns from them.
//! Without a cycle a proposal (`propose.rs`) completes the assignment to an order of all writes:
//! without a cycle it is a witness, and the pairs of writes on its cycles become new choices. Where
//! the proposal has no short cycle, the greedy guess is asked, which names the pairs of writes it got
//! stuck on. So only pairs that matter ever get a variable, and the guess is the solver's initial
//! phase.
//!
//! The log of cycles and learned clauses is the proof when no assignment is left. Complete for
//! every store model, with repeated values too; worst case exponential, as it must be (checking
//! is NP-complete).
//!
//! Everything that grows with the search is counted: choices, clauses, what the solver learns, and
//! the log. Where that exceeds the budget the search ends without an answer.

use std::cell::Cell;

use batsat::{Callbacks, ClauseKind, Lit, Solver, SolverInterface, SolverOpts, Var, lbool};
use evidence::{Proof, Step, Why};
use history::{EventId, Source};

use super::choices::{
    BYTES_A_CANDIDATE, ChoiceId, Choices, Chosen, Combined, Conflict, Hop, Made, bytes_of_clause,
};
use super::clocks::Clocks;
use super::cycles::cycles;
use super::linearize::{BacktrackLimit, accesses, linearize};
use super::problem::Problem;
use super::propose::{self, Proposal, Proposer};
use crate::{Budget, Stats};

/// How many cycles to learn from at a time.
const CYCLES_A_ROUND: usize = 1000;

/// The solver forgets learned clauses beyond a third of its clauses; it starts without any here,
/// so it is asked to keep this many at least.
pub(crate) const KEEP_LEARNED: i32 = 20_000;

/// How many proposals are made before the guess: long traces need a dozen.
const MOST_PROPOSALS: usize = 64;

/// How many proposals may be no better than one before.
const PATIENCE: u32 = 4;

/// The answer of a search.
pub(crate) enum Found {
    /// A total order of all accesses.
    Order(Vec<EventId>),
    /// There is none.
    Nothing(Proof),
    /// The time ran out.
    Spent,
    /// The choices, or what was learned about them, would not fit the memory.
    TooLarge,
}

/// Searches a saturated problem.
pub(crate) fn search(
    problem: &Problem,
    clocks: &Clocks,
    budget: &Budget,
    stats: &mut Stats,
) -> Found {
    let Some(mut search) = Search::new(problem, clocks, budget) else { return Found::TooLarge };
    let found = search.run();
    stats.decisions = search.solver.num_decisions();
    stats.conflicts = search.solver.num_conflicts();
    match found {
        Some(Some(order)) => Found::Order(order),
        Some(None) => {
            search.take_learned();
            Found::Nothing(search.choices.proof(search.log))
        }
        None if search.solver.cb().is_too_large() => Found::TooLarge,
        None => Found::Spent,
    }
}

/// A total order of all accesses by proposals alone. Nothing is known if there is none. The source of
/// every read must be known.
pub(crate) fn by_proposals(
    problem: &Problem,
    clocks: &Clocks,
    budget: &Budget,
) -> Option<Vec<EventId>> {
    Search::new(problem, clocks, budget)?.propose_while_it_helps()
}

/// Receives what the solver learns, and stops it.
pub(crate) struct Log {
    budget: Budget,
    learned: Vec<Vec<Lit>>,
    /// About what the search has taken so far.
    bytes: usize,
    calls: Cell<u32>,
    stopped: Cell<bool>,
}

impl Log {
    pub(crate) fn new(budget: Budget) -> Self {
        let (calls, stopped) = (Cell::new(0), Cell::new(false));
        Self { budget, learned: Vec::new(), bytes: 0, calls, stopped }
    }

    pub(crate) fn is_too_large(&self) -> bool {
        !self.budget.allows(self.bytes)
    }

    /// What the solver has learned since the last call.
    pub(crate) fn take_learned(&mut self) -> Vec<Vec<Lit>> {
        std::mem::take(&mut self.learned)
    }

    /// Whether the budget is spent, in time or memory.
    pub(crate) fn is_spent(&self) -> bool {
        self.budget.is_spent() || self.is_too_large()
    }

    /// The search has taken so many bytes more.
    pub(crate) fn charge(&mut self, bytes: usize) {
        self.bytes += bytes;
    }
}

impl Callbacks for Log {
    fn on_new_clause(&mut self, clause: &[Lit], kind: ClauseKind) {
        if kind == ClauseKind::Learnt {
            self.bytes += bytes_of_clause(clause.len());
            self.learned.push(clause.to_vec());
        }
    }

    fn stop(&self) -> bool {
        self.calls.set(self.calls.get().wrapping_add(1));
        if self.calls.get().is_multiple_of(256) && self.budget.is_spent() || self.is_too_large() {
            self.stopped.set(true);
        }
        self.stopped.get()
    }
}

/// What a proposal says about the choices made.
enum Proposed {
    /// They can be completed.
    Order(Vec<EventId>),
    /// They contradict each other.
    Contradictions(Vec<Conflict>),
    /// They contradict choices that were proposed, and made for that.
    Cycles(Vec<Conflict>),
}

struct Search<'p, 'h> {
    choices: Choices<'p, 'h>,
    solver: Solver<Log>,
    log: Vec<Step>,
    /// Nothing if proposals do not fit the budget.
    proposer: Option<Proposer>,
}

/// The solver's variables are the choices, in order; its default phase is false, the guess.
fn lit(made: Made) -> Lit {
    Lit::new(Var::unsafe_from_idx(made.choice as u32), made.value)
}

impl<'p, 'h> Search<'p, 'h> {
    /// A search with nothing chosen; nothing if it does not fit the budget.
    fn new(problem: &'p Problem<'h>, clocks: &'p Clocks, budget: &Budget) -> Option<Self> {
        let choices = Choices::new(problem, clocks, budget)?;
        let options = SolverOpts { min_learnts_lim: KEEP_LEARNED, ..SolverOpts::default() };
        let mut log = Log::new(budget.clone());
        let bytes = problem.graph.node_count() * propose::BYTES_A_NODE;
        let proposer = budget.allows(bytes).then(|| Proposer::new(&choices));
        if proposer.is_some() {
            log.charge(bytes);
        }
        Some(Self { choices, solver: Solver::new(options, log), log: Vec::new(), proposer })
    }

    /// Proposes orders of all writes as long as there are fewer and fewer cycles.
    fn propose_while_it_helps(&mut self) -> Option<Vec<EventId>> {
        let mut least = usize::MAX;
        let mut patience = PATIENCE;
        for _ in 0..MOST_PROPOSALS {
            if self.solver.solve_limited(&[]) != lbool::TRUE {
                return None;
            }
            let (combined, sources) = self.chosen().ok()?;
            let conflicts = match self.propose(&combined, &sources)? {
                Proposed::Order(order) => return Some(order),
                Proposed::Contradictions(conflicts) => conflicts,
                Proposed::Cycles(conflicts) => {
                    if conflicts.len() >= least {
                        patience = patience.checked_sub(1)?;
                    }
                    least = least.min(conflicts.len());
                    conflicts
                }
            };
            if !self.learn(conflicts) || self.solver.cb().is_spent() {
                return None;
            }
        }
        None
    }

    /// `Some(order)`, `Some(None)` if there is none, `None` if the budget ran out.
    fn run(&mut self) -> Option<Option<Vec<EventId>>> {
        self.new_variables();
        let readers: Vec<_> = self.choices.readers().collect();
        for clause in readers {
            if !self.add(&clause) {
                return Some(None);
            }
        }
        loop {
            match self.solver.solve_limited(&[]) {
                result if result == lbool::FALSE => return Some(None),
                result if result == lbool::TRUE => {}
                _ => return None,
            }
            self.take_learned();
            match self.try_model() {
                Ok(order) => return Some(Some(order)),
                Err(conflicts) => {
                    if !self.learn(conflicts) {
                        return Some(None);
                    }
                }
            }
            if self.solver.cb().budget.is_spent() || self.solver.cb().is_too_large() {
                return None;
            }
        }
    }

    fn new_variables(&mut self) {
        while (self.solver.num_vars() as usize) < self.choices.len() {
            self.solver.new_var_default();
            self.solver.cb_mut().bytes += BYTES_A_CANDIDATE;
        }
    }

    fn add(&mut self, clause: &[Made]) -> bool {
        let mut lits: Vec<Lit> = clause.iter().map(|&m| lit(m)).collect();
        self.solver.add_clause_reuse(&mut lits)
    }

    /// Moves what the solver has learned to the log.
    fn take_learned(&mut self) {
        for clause in std::mem::take(&mut self.solver.cb_mut().learned) {
            let literal = |l: &Lit| {
                let made = Made { choice: l.var().idx() as ChoiceId, value: l.sign() };
                self.choices.literal(made)
            };
            let clause = clause.iter().map(literal).collect();
            self.log.push(Step { clause, why: Why::Propagation });
        }
    }

    /// Adds what conflicts say; false if that leaves no assignment.
    fn learn(&mut self, conflicts: Vec<Conflict>) -> bool {
        conflicts.into_iter().all(|conflict| {
            self.solver.cb_mut().bytes += conflict.bytes();
            self.log.extend(conflict.steps);
            self.add(&conflict.clause)
        })
    }

    /// The edges of the solver's assignment, and who read what; or what is wrong with it.
    fn chosen(&mut self) -> Result<(Combined<'p>, Vec<Option<Source>>), Vec<Conflict>> {
        let values: Vec<bool> = (0..self.choices.len())
            .map(|c| self.solver.value_lit(lit(Made { choice: c, value: true })) == lbool::TRUE)
            .collect();
        let value = |c: ChoiceId| Some(values[c]);
        let sources: Vec<Option<Source>> = self.choices.sources(&value);
        let chosen = self.choices.chosen(&value, &sources).map_err(|conflict| vec![conflict])?;
        // The edges of an assignment go with it, but have to fit as well.
        let log = self.solver.cb_mut();
        if !log.budget.allows(log.bytes + chosen.len() * 2 * size_of::<Chosen>()) {
            log.bytes = usize::MAX;
            return Err(Vec::new());
        }
        Ok((Combined::new(&self.choices.problem.graph, chosen), sources))
    }

    /// Completes the solver's assignment by a proposal. Nothing if no short cycle is wrong with it.
    fn propose(&mut self, combined: &Combined, sources: &[Option<Source>]) -> Option<Proposed> {
        let proposer = self.proposer.as_mut()?;
        match proposer.propose(&self.choices, combined, sources, CYCLES_A_ROUND) {
            Proposal::Witness(nodes) => {
                Some(Proposed::Order(accesses(self.choices.problem, &nodes)))
            }
            Proposal::Contradictions(cycles) => {
                Some(Proposed::Contradictions(self.conflicts_of(&cycles)))
            }
            Proposal::Cycles(cycles) if cycles.is_empty() => None,
            Proposal::Cycles(mut cycles) => {
                for cycle in &mut cycles {
                    self.choices.choose_proposed(cycle);
                }
                self.new_variables();
                Some(Proposed::Cycles(self.conflicts_of(&cycles)))
            }
        }
    }

    fn conflicts_of(&mut self, cycles: &[Vec<Hop>]) -> Vec<Conflict> {
        cycles.iter().map(|cycle| self.choices.conflict_of(cycle)).collect()
    }

    /// Completes the solver's assignment to a total order, or says what is wrong with it. No
    /// conflict at all means that new choices were created.
    fn try_model(&mut self) -> Result<Vec<EventId>, Vec<Conflict>> {
        let (combined, sources) = self.chosen()?;
        match self.propose(&combined, &sources) {
            Some(Proposed::Order(order)) => return Ok(order),
            Some(Proposed::Contradictions(conflicts) | Proposed::Cycles(conflicts)) => {
                return Err(conflicts);
            }
            None => {}
        }
        let found = cycles(&combined, CYCLES_A_ROUND);
        if !found.is_empty() {
            return Err(self.conflicts_of(&found));
        }
        let stuck =
            match linearize(self.choices.problem, &combined, &sources, BacktrackLimit::Short) {
                Ok(order) => return Ok(order),
                Err(stuck) => stuck,
            };
        // At least one of these pairs is open: were all decided, the readers of the current writes
        // would come before the writes they hold up, and the graph would have a cycle.
        let before = self.choices.len();
        for (current, held_up) in stuck {
            self.choices.order(current, held_up);
        }
        debug_assert!(self.choices.len() > before, "stuck without an open pair");
        self.new_variables();
        Err(Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use certify::certify;
    use evidence::{Certificate, Evidence, Witness};
    use models::{Model, Rules};
    use oracle::{Shape, random_histories, text};

    use super::by_proposals;
    use crate::Budget;
    use crate::store::problem::Problem;
    use crate::store::saturate::saturate;
    use crate::store::simulated_order::simulate;

    #[test]
    fn an_order_found_by_proposals_is_a_witness() {
        let budget = Budget::unlimited();
        let (mut witnesses, mut mended) = (0, 0);
        for shape in Shape::all() {
            for (seed, history) in random_histories(&shape, 0..1_000) {
                if !history.is_unambiguous() {
                    continue;
                }
                for model in Model::ALL {
                    let Rules::Store(rules) = model.rules() else { continue };
                    let Ok(mut problem) = Problem::new(&history, rules, false) else { continue };
                    let Ok(simulated) = simulate(&problem) else { continue };
                    let Ok(saturation) = saturate(&mut problem, &simulated.order, &budget) else {
                        continue;
                    };
                    let found = by_proposals(saturation.problem, &saturation.clocks, &budget);
                    let Some(order) = found else { continue };
                    witnesses += 1;
                    mended += usize::from(!simulated.reads_are_right);
                    let evidence = Evidence::Consistent(Witness::Order(order));
                    if let Err(why) = certify(&history, &Certificate { trace: 1, model, evidence })
                    {
                        panic!("{model}, seed {seed}: {why}\n{}", text(&history));
                    }
                }
            }
        }
        assert!(witnesses > 1_000, "{witnesses}");
        assert!(mended > 100, "{mended}");
    }
}
