//! Histories judged by a model that is a file of the user.
//!
//! Any model of the cat language is decided by the search of `cat`, over who read from whom and the
//! orders of writes. What it finds is confirmed by the definition of the language before it is
//! believed. The search is for litmus tests and short traces; for a longer one the answer is
//! "undecided", at once and with the reason.

use cat::{Answer, CatModel, Effort, Refutation, Witness, meets, solve};
use evidence::Verdict;
use history::History;

use crate::{Budget, Reason, Undecided};

/// The longest history that is tried.
const MOST_EVENTS: usize = 500;

/// A model and the file that it was read from.
#[derive(Debug)]
pub struct ModelFile {
    /// The path as it was given.
    pub path: String,
    /// The model.
    pub model: CatModel,
}

/// What was found out about a history: how it can be explained, that it cannot, or why that is not
/// known.
pub type FileOutcome = Verdict<Witness, Refutation, Undecided>;

/// Whether a history satisfies the model of a file.
///
/// ```
/// use tribunal_judge::{Budget, judge_by_file};
///
/// let history = history::parse_text("0: x := 1\n0: y == 0\n1: y := 1\n1: x == 0")?;
/// let model = cat::CatModel::from_text("my.cat", "acyclic po | rf | co | fr as interleaving")?;
/// assert_eq!(judge_by_file(&history, &model, &Budget::unlimited()).of_trace(), "violation");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn judge_by_file(history: &History, model: &CatModel, budget: &Budget) -> FileOutcome {
    let open = |reason, established| Verdict::Undecided(Undecided { reason, established });
    if history.len() > MOST_EVENTS {
        let sentence = format!(
            "models from files are decided for traces of up to {MOST_EVENTS} events, and this one has {}",
            history.len()
        );
        return open(Reason::Engine(sentence), String::new());
    }
    let go_on = |effort: &Effort| !budget.is_spent() && budget.allows(effort.bytes);
    match solve(model, history, go_on) {
        Answer::Consistent(witness) if meets(model, history, &witness) => Verdict::Holds(witness),
        Answer::Consistent(_) => {
            let sentence =
                "the search and the definition of the model disagree: this is a bug in tribunal";
            open(Reason::Engine(sentence.to_owned()), String::new())
        }
        Answer::Violation(refutation) => Verdict::Broken(refutation),
        Answer::Undecided(effort) => {
            let reason = if budget.allows(effort.bytes) { Reason::Time } else { Reason::Memory };
            open(reason, format!("{} combinations of choices tried", effort.evaluations))
        }
    }
}
