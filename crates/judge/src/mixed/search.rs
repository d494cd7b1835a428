//! The complete search for histories of mixed sizes: SAT modulo acyclicity over what saturation left
//! open, as `store/search.rs`. Every pair of overlapping writes has a choice here, so an assignment
//! without a cycle is a total order.

use batsat::{Lit, Solver, SolverInterface, SolverOpts, Var, lbool};
use evidence::{Step, Why};
use history::EventId;

use super::choices::Choices;
use super::problem::MixedSizeProblem;
use super::saturate::Reach;
use crate::store::choices::{BYTES_A_CANDIDATE, ChoiceId, Combined, Conflict, Made};
use crate::store::cycles::cycles;
use crate::store::graph::NodeId;
use crate::store::search::{Found, KEEP_LEARNED, Log};
use crate::{Budget, Stats};

/// How many cycles to learn from at a time.
const CYCLES_A_ROUND: usize = 1000;

/// Searches a saturated problem.
pub(crate) fn search(
    glued: &MixedSizeProblem,
    reach: &Reach,
    budget: &Budget,
    stats: &mut Stats,
) -> Found {
    let Some(choices) = Choices::new(glued, reach) else { return Found::TooLarge };
    let options = SolverOpts { min_learnts_lim: KEEP_LEARNED, ..SolverOpts::default() };
    let solver = Solver::new(options, Log::new(budget.clone()));
    let mut search = Search { choices, solver, log: Vec::new() };
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

struct Search<'p, 'h> {
    choices: Choices<'p, 'h>,
    solver: Solver<Log>,
    log: Vec<Step>,
}

fn lit(made: Made) -> Lit {
    Lit::new(Var::unsafe_from_idx(made.choice as u32), made.value)
}

impl Search<'_, '_> {
    /// `Some(order)`, `Some(None)` if there is none, `None` if the budget ran out.
    fn run(&mut self) -> Option<Option<Vec<EventId>>> {
        while (self.solver.num_vars() as usize) < self.choices.len() {
            self.solver.new_var_default();
            self.solver.cb_mut().charge(BYTES_A_CANDIDATE);
        }
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
                        self.solver.cb_mut().charge(conflict.bytes());
                        self.log.extend(conflict.steps);
                        if !self.add(&conflict.clause) {
                            return Some(None);
                        }
                    }
                }
            }
            if self.solver.cb().is_spent() {
                return None;
            }
        }
    }

    fn add(&mut self, clause: &[Made]) -> bool {
        let mut lits: Vec<Lit> = clause.iter().map(|&m| lit(m)).collect();
        self.solver.add_clause_reuse(&mut lits)
    }

    /// Moves what the solver has learned to the log.
    fn take_learned(&mut self) {
        for clause in self.solver.cb_mut().take_learned() {
            let literal = |l: &Lit| {
                let made = Made { choice: l.var().idx() as ChoiceId, value: l.sign() };
                self.choices.literal(made)
            };
            let clause = clause.iter().map(literal).collect();
            self.log.push(Step { clause, why: Why::Propagation });
        }
    }

    /// The total order that the solver's assignment gives, or what is wrong with it.
    fn try_model(&mut self) -> Result<Vec<EventId>, Vec<Conflict>> {
        let values: Vec<bool> = (0..self.choices.len())
            .map(|c| self.solver.value_lit(lit(Made { choice: c, value: true })) == lbool::TRUE)
            .collect();
        let chosen = self.choices.chosen(&|c| values[c]).map_err(|conflict| vec![conflict])?;
        let combined = Combined::new(&self.choices.glued.problem.graph, chosen);
        let found = cycles(&combined, CYCLES_A_ROUND);
        if !found.is_empty() {
            return Err(found.iter().map(|cycle| self.choices.conflict_of(cycle)).collect());
        }
        Ok(total_order(self.choices.glued, &combined))
    }
}

/// The accesses in an order that every edge follows; there is no cycle.
fn total_order(glued: &MixedSizeProblem, edges: &Combined) -> Vec<EventId> {
    let graph = edges.graph;
    let mut indegree = graph.indegrees();
    for edge in &edges.chosen {
        indegree[edge.to as usize] += 1;
    }
    let mut order: Vec<NodeId> =
        (0..graph.node_count() as NodeId).filter(|&n| indegree[n as usize] == 0).collect();
    let mut done = 0;
    while done < order.len() {
        let n = order[done];
        done += 1;
        let chosen = edges.chosen_from(n).iter().map(|edge| edge.to);
        for to in graph.successors(n).chain(chosen) {
            indegree[to as usize] -= 1;
            if indegree[to as usize] == 0 {
                order.push(to);
            }
        }
    }
    let history = glued.problem.history;
    let events = order.into_iter().filter_map(|n| graph.event(n));
    events.filter(|&event| history.address_of(event).is_some()).collect()
}
