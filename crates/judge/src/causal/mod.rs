//! Causal models: cc, ccv, cm, ccm, wccm (Zennou, Bouajjani, Enea, Erradi: Gradual Consistency
//! Checking of Sequential Consistency and TSO, CAV 2019, sections 3 and 4), with read-modify-writes,
//! fences, `order` and `final` lines, and repeated values.
//!
//! For a given reads-from each model is a least fixpoint and a question of acyclicity, and
//! polynomial. `check` answers it on flat vector clocks: near-linear in the events for each
//! model, O(n·k) with k threads as long as fixpoints are reached in a few rounds; its table has the
//! costs. What it builds on, from the bottom up:
//!
//! * `operations`: reads and writes, threads, and the chains of writes that clocks count;
//! * `kept`: what of program order a model keeps, as lanes, and the scopes of happens-before;
//! * `relation`, `clocks`: relations as layers of edges, swept lane by lane, and their clocks;
//! * `frontier`: what each read knows of its address that its source does not;
//! * `observe`, `strands`, `view`: happens-before of one thread, one number a write, and its view;
//! * `store_order`, `readers`, `pairs`: the partial store orders pww and wpww, their from-reads, and
//!   how many pairs they leave open;
//! * `atomic`, `fronts`, `whole`: nothing between a read-modify-write and what it read, and the end of it.
//!
//! Where values repeat, `search` looks for a choice of reads-from, with `guess` and `candidate_filter`
//! for advice. A violation comes with its derivation (`explain`), consistency with what the
//! model's definition asks for (`witness`); a certificate has a run of a store model in its place, if
//! one is soon found (`stronger`).

mod atomic;
mod candidate_filter;
mod check;
mod choices;
mod clocks;
mod explain;
mod frontier;
mod fronts;
mod guess;
mod observe;
mod operations;
mod pairs;
mod program_order;
mod queue;
mod readers;
mod relation;
mod search;
mod store_order;
mod strands;
mod stronger;
mod view;
mod whole;
mod witness;

use evidence::{Proof, Step, Why};
use history::History;
use models::{CausalRules, Model};

use self::check::Problem;
use self::choices::has_thin_air;
use self::pairs::all_pairs;
use self::search::{Found, search};
pub(crate) use self::stronger::run_of_a_stronger_model;
use self::witness::witness;
use crate::verdict::undecided;
use crate::{Budget, DecidedBy, Judgement, Outcome, Stats};

/// Decides whether a history satisfies a causal model.
pub(crate) fn decide(
    history: &History,
    model: Model,
    rules: CausalRules,
    budget: &Budget,
) -> Judgement {
    let mut stats = Stats::default();
    let outcome = if has_thin_air(history) {
        Outcome::Broken(no_candidate())
    } else {
        let problem = Problem::new(history, rules);
        stats.write_pairs = problem.orders_writes().then(|| all_pairs(&problem.ops));
        let (found, effort) = search(&problem, budget);
        (stats.decisions, stats.conflicts) = (effort.decisions, effort.conflicts);
        match found {
            Found::Choice(reads_from, established) => {
                stats.inferred_edges = established.derived;
                stats.unordered_write_pairs = established.pairs.map(|pairs| pairs.unordered);
                Outcome::Holds(witness(&problem, &reads_from, established))
            }
            Found::Refuted(proof) => Outcome::Broken(proof),
            Found::Spent(reason) => undecided(reason, refuted(stats.conflicts)),
        }
    };
    Judgement { model, outcome, decided_by: DecidedBy::Causal, stats }
}

/// What a search that ran out of time knows.
fn refuted(conflicts: u64) -> String {
    match conflicts {
        0 => String::new(),
        1 => "one combination of what was read is refuted".to_owned(),
        _ => format!("{conflicts} combinations of what was read are refuted"),
    }
}

/// That every reader has a candidate is an axiom; where there is none, it is the empty clause.
fn no_candidate() -> Proof {
    Proof { steps: vec![Step { clause: Vec::new(), why: Why::Propagation }] }
}
