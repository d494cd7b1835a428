//! Causal models.

mod atomic;
mod check;
mod clocks;
mod explain;
mod kept;
mod observe;
mod operations;
mod paths;
mod relation;
mod store_order;

use evidence::{Proof, Step, Why, Witness};
use history::History;
use models::{CausalRules, Model};

use crate::{Budget, DecidedBy, Outcome, Stats, Undecided, Verdict};
use check::{Problem, Stop, check};
use operations::ReadsFrom;

pub(crate) fn decide(
    history: &History,
    model: Model,
    rules: CausalRules,
    budget: &Budget,
) -> Verdict {
    let problem = Problem::new(history, rules);
    let rf = ReadsFrom::certain(history, &problem.ops);
    let outcome = match check(&problem, &rf, budget) {
        Ok(_) => Outcome::Consistent(Witness::Choices(vec![])),
        Err(Stop::Broken(lemma)) => Outcome::Violation(Proof {
            steps: vec![Step {
                clause: lemma.clause,
                why: Why::Derivation { derived: lemma.derived, cycle: lemma.cycle },
            }],
        }),
        Err(Stop::Spent(reason)) => {
            Outcome::Undecided(Undecided { reason, established: String::new() })
        }
    };
    Verdict { model, outcome, decided_by: DecidedBy::Causal, stats: Stats::default() }
}
