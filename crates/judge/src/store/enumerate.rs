//! Enumeration: Algorithms 1 and 2 of gradual-consistency-checking, for every store model.
//!
//! "For each store order that extends the partial one, check acyclicity": a depth-first walk over
//! the open pairs of writes (and over what ambiguous readers read), in a fixed order, that turns
//! back as soon as the edges chosen so far close a cycle. The partial store order is that of
//! saturation, which contains pww (for sc) and wpww (for tso), so the walk is the papers' on a
//! smaller tree. What a cycle rests on decides how far to turn back, and makes the walk a proof:
//! two refuted branches resolve to a clause about the choices above them.
//!
//! Complete; exponential in the number of open pairs. For comparison and for small histories.

use evidence::{Step, Why};
use history::{EventId, Source};

use super::choices::{ChoiceId, Choices, Combined, Made, bytes_of_clause};
use super::clocks::Clocks;
use super::cycles::cycles;
use super::linearize::{BacktrackLimit, linearize};
use super::problem::Problem;
use super::search::Found;
use crate::{Budget, Stats};

/// More open pairs than this are not enumerated.
const MOST_PAIRS: usize = 100_000;

/// Enumerates the store orders of a saturated problem. `None` if there are too many open pairs to
/// begin.
pub(crate) fn enumerate(
    problem: &Problem,
    clocks: &Clocks,
    budget: &Budget,
    stats: &mut Stats,
) -> Option<Found> {
    if stats.unordered_write_pairs.is_some_and(|open| open > MOST_PAIRS as u64) {
        return None;
    }
    let Some(mut choices) = Choices::new(problem, clocks, budget) else {
        return Some(Found::TooLarge);
    };
    for address in problem.history.address_ids() {
        let chains = clocks.chains.of_address(problem.history, address);
        for &write in &problem.history.address(address).writes {
            for chain in chains.clone() {
                for &other in &chain.writes[clocks.open_with(problem.history, write, chain)] {
                    choices.order(write.min(other), write.max(other));
                }
            }
        }
    }
    let values = vec![None; choices.len()];
    let walk = Walk { choices, values, log: Vec::new(), bytes: 0, branches: Vec::new() };
    Some(walk.run(budget, stats))
}

/// A choice on the current branch.
struct Branch {
    made: Made,
    /// Why the other value is impossible, if it has been refuted: a clause that holds its
    /// negation.
    other_refuted: Option<Vec<Made>>,
}

struct Walk<'p, 'h> {
    choices: Choices<'p, 'h>,
    values: Vec<Option<bool>>,
    branches: Vec<Branch>,
    log: Vec<Step>,
    /// About what the log takes.
    bytes: usize,
}

impl Walk<'_, '_> {
    fn run(mut self, budget: &Budget, stats: &mut Stats) -> Found {
        loop {
            if budget.is_spent() {
                return Found::Spent;
            }
            if !budget.allows(self.bytes) {
                return Found::TooLarge;
            }
            match self.check() {
                Err(clause) => {
                    stats.conflicts += 1;
                    if !self.turn_back(clause) {
                        return Found::Nothing(self.choices.proof(self.log));
                    }
                }
                Ok(()) => {
                    let Some(open) = self.next_open() else {
                        return Found::Order(self.witness());
                    };
                    stats.decisions += 1;
                    self.make(open);
                }
            }
        }
    }

    /// The first open choice. Readers come first: each reads from its first candidate, then from
    /// the next, and from one only.
    fn next_open(&self) -> Option<Made> {
        let choice = self.values.iter().position(Option::is_none)?;
        let reads_already = |c: &Vec<Made>| c.iter().any(|m| self.values[m.choice] == Some(true));
        let candidates = self.choices.readers().find(|c| c.iter().any(|m| m.choice == choice));
        Some(Made { choice, value: candidates.is_some_and(|c| !reads_already(&c)) })
    }

    fn make(&mut self, made: Made) {
        self.values[made.choice] = Some(made.value);
        self.branches.push(Branch { made, other_refuted: None });
    }

    /// Whether the choices so far are possible; otherwise a clause that they violate.
    fn check(&mut self) -> Result<(), Vec<Made>> {
        let readers: Vec<Vec<Made>> = self.choices.readers().collect();
        for clause in readers {
            if clause.iter().all(|m| self.values[m.choice] == Some(false)) {
                return Err(clause);
            }
        }
        let sources: Vec<Option<Source>> = self.sources();
        let values = &self.values;
        let chosen = self.choices.chosen(&|c: ChoiceId| values[c], &sources);
        let conflict = match chosen {
            Err(conflict) => conflict,
            Ok(chosen) => {
                let combined = Combined::new(&self.choices.problem.graph, chosen);
                match cycles(&combined, 1).first() {
                    None => return Ok(()),
                    Some(cycle) => self.choices.conflict_of(cycle),
                }
            }
        };
        self.bytes += conflict.bytes();
        self.log.extend(conflict.steps);
        Err(conflict.clause)
    }

    fn sources(&self) -> Vec<Option<Source>> {
        let values = &self.values;
        self.choices.sources(&|c: ChoiceId| values[c])
    }

    /// Undoes choices until one of the clause has its other value left to try. False if none has.
    fn turn_back(&mut self, mut clause: Vec<Made>) -> bool {
        while let Some(branch) = self.branches.pop() {
            self.values[branch.made.choice] = None;
            if !clause.contains(&branch.made.negated()) {
                continue;
            }
            let Some(other) = branch.other_refuted else {
                let made = branch.made.negated();
                self.values[made.choice] = Some(made.value);
                self.branches.push(Branch { made, other_refuted: Some(clause) });
                return true;
            };
            clause.extend(other);
            clause.retain(|m| m.choice != branch.made.choice);
            clause.sort_unstable();
            clause.dedup();
            let literals = clause.iter().map(|&m| self.choices.literal(m)).collect();
            self.bytes += bytes_of_clause(clause.len());
            self.log.push(Step { clause: literals, why: Why::Propagation });
        }
        false
    }

    /// All pairs are ordered: the total order they leave.
    fn witness(&mut self) -> Vec<EventId> {
        let sources = self.sources();
        let values = &self.values;
        let chosen = self
            .choices
            .chosen(&|c: ChoiceId| values[c], &sources)
            .unwrap_or_else(|_| unreachable!("this assignment has just been checked"));
        let combined = Combined::new(&self.choices.problem.graph, chosen);
        linearize(self.choices.problem, &combined, &sources, BacktrackLimit::Short)
            .unwrap_or_else(|_| unreachable!("a complete store order leaves nothing to guess"))
    }
}
