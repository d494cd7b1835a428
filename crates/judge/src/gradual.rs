//! The strongest models that a history satisfies.
//!
//! Models are judged from the strongest to the weakest. One that holds settles every weaker one,
//! one that is violated every stronger one, so that a consistent trace costs one judgement and
//! most others a few.

use crate::{Judgement, Outcome};
use models::{Model, implies, strongest_first};

/// What is known of a model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Known {
    Nothing,
    Holds,
    Violated,
    Undecided,
}

/// The models that hold, and those that do not.
#[derive(Clone, Debug)]
pub struct Gradual {
    known: Vec<(Model, Known)>,
    /// The judgements that were asked for, in the order of asking.
    pub judgements: Vec<Judgement>,
}

/// Judges as few models as settle all.
///
/// ```
/// use models::Model;
/// use tribunal_judge::{Budget, Engine, judge, judge_gradually};
///
/// let history = history::parse_text("0: x := 1\n0: y == 0\n1: y := 1\n1: x == 0")?;
/// let budget = Budget::unlimited();
/// let gradual = judge_gradually(|model| judge(&history, model, Engine::Auto, &budget));
/// assert!(gradual.strongest().contains(&Model::Tso));
/// assert_eq!(gradual.violated(), [Model::Sc, Model::Ccm]);
/// # Ok::<(), history::InputError>(())
/// ```
pub fn judge_gradually(mut judge: impl FnMut(Model) -> Judgement) -> Gradual {
    let known = strongest_first().into_iter().map(|m| (m, Known::Nothing)).collect();
    let mut gradual = Gradual { known, judgements: Vec::new() };
    while let Some(model) = gradual.next_to_judge() {
        let verdict = judge(model);
        gradual.learn(model, &verdict.outcome);
        gradual.judgements.push(verdict);
    }
    gradual
}

impl Gradual {
    fn learn(&mut self, model: Model, outcome: &Outcome) {
        for (other, known) in &mut self.known {
            match outcome {
                Outcome::Holds(_) if implies(model, *other) => *known = Known::Holds,
                Outcome::Broken(_) if implies(*other, model) => *known = Known::Violated,
                Outcome::Undecided(_) if model == *other => *known = Known::Undecided,
                _ => {}
            }
        }
    }

    fn next_to_judge(&self) -> Option<Model> {
        self.having(Known::Nothing).next()
    }

    fn having(&self, wanted: Known) -> impl Iterator<Item = Model> + '_ {
        self.known.iter().filter(move |(_, known)| *known == wanted).map(|(model, _)| *model)
    }

    /// The models that hold and are implied by no other that holds.
    pub fn strongest(&self) -> Vec<Model> {
        let beaten = |m: Model| self.having(Known::Holds).any(|s| s != m && implies(s, m));
        self.having(Known::Holds).filter(|&m| !beaten(m)).collect()
    }

    /// Broken when no model holds; undecided while a model that might hold is not beaten by one
    /// that does.
    pub fn verdict(&self) -> evidence::Verdict<(), (), ()> {
        match (self.undecided().is_empty(), self.strongest().is_empty()) {
            (false, _) => evidence::Verdict::Undecided(()),
            (true, false) => evidence::Verdict::Holds(()),
            (true, true) => evidence::Verdict::Broken(()),
        }
    }

    /// The models that are violated.
    pub fn violated(&self) -> Vec<Model> {
        self.having(Known::Violated).collect()
    }

    /// The models of which nothing is known.
    pub fn undecided(&self) -> Vec<Model> {
        self.having(Known::Undecided).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DecidedBy, Reason, Stats, Undecided};
    use evidence::{Proof, Witness};

    fn verdict(model: Model, outcome: Outcome) -> Judgement {
        Judgement { model, outcome, decided_by: DecidedBy::Causal, stats: Stats::default() }
    }

    fn consistent(model: Model) -> Judgement {
        verdict(model, Outcome::Holds(Witness::Order(Vec::new())))
    }

    fn violation(model: Model) -> Judgement {
        verdict(model, Outcome::Broken(Proof::default()))
    }

    fn undecided(model: Model) -> Judgement {
        let undecided = Undecided { reason: Reason::Time, established: String::new() };
        verdict(model, Outcome::Undecided(undecided))
    }

    #[test]
    fn a_consistent_history_is_judged_once() {
        let gradual = judge_gradually(consistent);
        assert_eq!(gradual.strongest(), [Model::Sc]);
        assert_eq!(gradual.judgements.len(), 1);
    }

    #[test]
    fn incomparable_models_that_hold_are_all_named() {
        let holds = [Model::Pso, Model::Cm];
        let gradual = judge_gradually(|m| match holds.iter().any(|&h| implies(h, m)) {
            true => consistent(m),
            false => violation(m),
        });
        assert_eq!(gradual.strongest(), [Model::Pso, Model::Cm]);
        assert!(gradual.violated().contains(&Model::Tso));
    }

    #[test]
    fn a_violated_weak_model_settles_an_undecided_strong_one() {
        let gradual = judge_gradually(|m| match m {
            Model::Cc => violation(m),
            Model::Coherence | Model::Rmo => consistent(m),
            _ => undecided(m),
        });
        assert!(gradual.violated().contains(&Model::Sc));
        assert_eq!(gradual.undecided(), [Model::Pso, Model::Wmo]);
    }
}
