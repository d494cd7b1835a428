//! Histories judged by a model that is a file of the user.
//!
//! A model whose conditions have the shape of the built-in ones (`cat::Shape`) is decided by their
//! engines, at any length. Every other model of the cat language is decided by the search of `cat`,
//! over who read from whom and the orders of writes; what it finds is confirmed by the definition of
//! the language before it is believed. The search is for litmus tests and short traces; for a longer
//! one the answer is "undecided", at once and with the condition that made it so.

use std::path::Path;

use cat::{Answer, CatError, CatModel, Effort, Refutation, Shape, Witness, meets, solve};
use evidence::{Proof, Verdict};
use history::History;

use crate::{Budget, DecidedBy, Reason, Undecided, mixed, store};

/// The longest history that the search of `cat` is tried on.
const MOST_EVENTS: usize = 500;

/// A model and the file that it was read from.
#[derive(Debug)]
pub struct ModelFile {
    /// The path as it was given.
    pub path: String,
    /// The model.
    pub model: CatModel,
    /// Its shape, or the number of a condition that is of another.
    pub(crate) shape: Result<Shape, usize>,
}

impl ModelFile {
    /// A model and the path it is known by.
    pub fn new(path: String, model: CatModel) -> Self {
        let shape = model.shape();
        ModelFile { path, model, shape }
    }

    /// The model of a file, or the shipped one of this name if there is no such file: `tso.cat`.
    pub fn open(path: &Path) -> Result<Self, CatError> {
        let shown = path.display().to_string();
        let model = match shown.strip_suffix(".cat").and_then(CatModel::shipped) {
            Some(model) if !path.exists() => model,
            _ => CatModel::open(path)?,
        };
        Ok(Self::new(shown, model))
    }

    /// A shipped model by its name: `rvwmo`.
    pub fn shipped(name: &str) -> Option<Self> {
        Some(Self::new(name.to_owned(), CatModel::shipped(name)?))
    }
}

/// What was found out about a history: how it can be explained, that it cannot, or why that is not
/// known.
pub type FileOutcome = Verdict<Witness, Refutation, Undecided>;

/// A verdict by a file and what gave it.
#[derive(Clone, Debug)]
pub struct FileJudgement {
    /// The verdict.
    pub outcome: FileOutcome,
    /// The engine.
    pub decided_by: DecidedBy,
    /// Of a violation found by the engines for long traces: why, as cycles. Its edges are those of
    /// the conditions of the file; a step along program order is one that the file keeps.
    pub proof: Option<Proof>,
}

/// Whether a history satisfies the model of a file.
///
/// ```
/// use tribunal_judge::{Budget, ModelFile, judge_by_file};
///
/// let history = history::parse_text("0: x := 1\n0: y == 0\n1: y := 1\n1: x == 0")?;
/// let model = cat::CatModel::from_text("my.cat", "acyclic po | rf | co | fr as interleaving")?;
/// let file = ModelFile::new("my.cat".to_owned(), model);
/// let judgement = judge_by_file(&history, &file, &Budget::unlimited());
/// assert_eq!(judgement.outcome.of_trace(), "violation");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn judge_by_file(history: &History, file: &ModelFile, budget: &Budget) -> FileJudgement {
    if let Some(parts) = history.mixed() {
        return mixed::by_file::decide(history, parts, file, budget);
    }
    let by_shape = file
        .shape
        .as_ref()
        .ok()
        .and_then(|shape| store::by_shape::decide(history, &file.model, shape, budget));
    let short = history.len() <= MOST_EVENTS;
    match by_shape {
        Some(FileJudgement { outcome: Verdict::Broken(refutation), decided_by, proof })
            if short =>
        {
            let outcome = Verdict::Broken(narrowed(history, &file.model, refutation));
            FileJudgement { outcome, decided_by, proof }
        }
        Some(judgement) if !short || !matches!(judgement.outcome, Verdict::Undecided(_)) => {
            judgement
        }
        _ if short => FileJudgement {
            outcome: by_search(history, &file.model, budget),
            decided_by: DecidedBy::Choices,
            proof: None,
        },
        _ => FileJudgement {
            outcome: too_long(history, file),
            decided_by: DecidedBy::Choices,
            proof: None,
        },
    }
}

/// A refutation that names fewer axioms, if the search over all choices finds one soon.
fn narrowed(history: &History, model: &CatModel, found: Refutation) -> Refutation {
    const SOON: u64 = 100;
    match solve(model, history, |effort| effort.evaluations < SOON) {
        Answer::Violation(refutation) => refutation,
        Answer::Consistent(_) | Answer::Undecided(_) => found,
    }
}

/// Any model, by the search over who read what and the orders of writes.
pub(crate) fn by_search(history: &History, model: &CatModel, budget: &Budget) -> FileOutcome {
    let open = |reason, established| Verdict::Undecided(Undecided { reason, established });
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

/// No engine takes this model at this length.
fn too_long(history: &History, file: &ModelFile) -> FileOutcome {
    let length = history.len();
    let sentence = match &file.shape {
        Err(number) => {
            let axiom = file.model.axioms().nth(*number);
            let name = axiom.map_or(String::new(), |axiom| {
                format!("`{}` ({})", axiom.name, file.model.line_of(axiom.place))
            });
            format!(
                "{name} is not of the form that is decided for long traces; such models are \
                 decided for up to {MOST_EVENTS} events, and this trace has {length}"
            )
        }
        Ok(shape) if !shape.location_orders_halves && has_atomics(history) => format!(
            "the trace has atomics and the model does not say that their read comes before their \
             write (`| amo` in the condition on locations); such models are decided for up to \
             {MOST_EVENTS} events, and this trace has {length}"
        ),
        Ok(_) => format!(
            "what the model keeps of program order on this trace is not of the form that is \
             decided for long traces; others are for up to {MOST_EVENTS} events, and this one has \
             {length}"
        ),
    };
    Verdict::Undecided(Undecided { reason: Reason::Engine(sentence), established: String::new() })
}

fn has_atomics(history: &History) -> bool {
    history.event_ids().any(|event| history.event(event).is_atomic())
}
