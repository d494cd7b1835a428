//! The complete search: SAT modulo acyclicity over what saturation left open.
//!
//! A SAT solver proposes an assignment of the choices created so far; the edges it activates are
//! checked for cycles. Cycles become clauses, several at a time, and the solver learns from them.
//! Without a cycle the greedy guess tries to complete the assignment to a total order: success is
//! a witness; failure names the pairs of writes it got stuck on, which become new choices. So
//! only pairs that matter ever get a variable, and the guess is the solver's initial phase.
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
    BYTES_A_CANDIDATE, ChoiceId, Choices, Chosen, Combined, Conflict, Made, bytes_of_clause,
};
use super::clocks::Clocks;
use super::cycles::cycles;
use super::linearize::{BacktrackLimit, linearize};
use super::problem::Problem;
use crate::{Budget, Stats};

/// How many cycles to learn from at a time.
const CYCLES_A_ROUND: usize = 1000;

/// The solver forgets learned clauses beyond a third of its clauses; it starts without any here,
/// so it is asked to keep this many at least.
pub(crate) const KEEP_LEARNED: i32 = 20_000;

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
    let Some(choices) = Choices::new(problem, clocks, budget) else { return Found::TooLarge };
    let mut search = Search {
        choices,
        solver: Solver::new(
            SolverOpts { min_learnts_lim: KEEP_LEARNED, ..SolverOpts::default() },
            Log::new(budget.clone()),
        ),
        log: Vec::new(),
    };
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

struct Search<'p, 'h> {
    choices: Choices<'p, 'h>,
    solver: Solver<Log>,
    log: Vec<Step>,
}

/// The solver's variables are the choices, in order; its default phase is false, the guess.
fn lit(made: Made) -> Lit {
    Lit::new(Var::unsafe_from_idx(made.choice as u32), made.value)
}

impl Search<'_, '_> {
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
                    for conflict in conflicts {
                        self.solver.cb_mut().bytes += conflict.bytes();
                        self.log.extend(conflict.steps);
                        if !self.add(&conflict.clause) {
                            return Some(None);
                        }
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

    /// Completes the solver's assignment to a total order, or says what is wrong with it. No
    /// conflict at all means that new choices were created.
    fn try_model(&mut self) -> Result<Vec<EventId>, Vec<Conflict>> {
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
        let combined = Combined::new(&self.choices.problem.graph, chosen);
        let found = cycles(&combined, CYCLES_A_ROUND);
        if !found.is_empty() {
            return Err(found.iter().map(|cycle| self.choices.conflict_of(cycle)).collect());
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
