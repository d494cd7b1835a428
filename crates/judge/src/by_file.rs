//! Histories judged by a model that is a file of the user.
//!
//! A model whose conditions have the shape of the built-in ones (`cat::Shape`) is decided by their
//! engines, at any length. Every other model of the cat language is decided by the search of `cat`,
//! over who read from whom and the orders of writes; what it finds is confirmed by the definition of
//! the language before it is believed. The search is for litmus tests and short traces; for a longer
//! one the answer is "undecided", at once and with the condition that made it so.

use std::path::Path;

use cat::{
    Answer, CatError, CatModel, Effort, HalvesOrder, Refutation, Shape, Witness, meets, solve,
};
use evidence::file::{Execution, FileEvidence};
use evidence::{Proof, Verdict};
use history::{History, Kinds};

use crate::{Budget, DecidedBy, Reason, Undecided, mixed, store};

/// A violation by a search of more branches than this has no certificate.
const MOST_BRANCHES: u64 = 200;
/// And of more events than this.
const MOST_ENUMERATED: usize = 40;

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
        let model = CatModel::named(&shown)?;
        Ok(Self::new(shown, model))
    }

    /// A shipped model by its name: `rvwmo`.
    pub fn shipped(name: &str) -> Option<Self> {
        Some(Self::new(name.to_owned(), CatModel::shipped(name)?))
    }

    /// Which traces the model decides.
    pub fn reach(&self) -> Reach {
        match self.shape.as_ref().map(|shape| shape.halves) {
            Ok(HalvesOrder::Location) => Reach::AnyLength,
            Ok(HalvesOrder::Global) => Reach::AnyLengthUnlessRewritten,
            Ok(HalvesOrder::Open) => Reach::AnyLengthWithoutAtomics,
            Err(axiom) => Reach::Short(*axiom),
        }
    }
}

/// Which traces a model file decides, as far as the file alone says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Traces of any length, with the engines of the built-in models.
    AnyLength,
    /// The same for traces in which no atomic writes the value that it reads; with such, short ones.
    AnyLengthUnlessRewritten,
    /// The same for traces without atomics; with them, short ones.
    AnyLengthWithoutAtomics,
    /// Traces of at most [`Reach::MOST_EVENTS`] events: the axiom of this number has another form.
    Short(usize),
}

impl Reach {
    /// The longest history that the search of `cat` is tried on.
    pub const MOST_EVENTS: usize = 500;
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
    /// What a certificate says, if there is something that the kernel can check.
    pub evidence: Option<FileEvidence>,
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
        .and_then(|shape| store::by_shape::decide(history, None, &file.model, shape, budget));
    let short = history.len() <= Reach::MOST_EVENTS;
    match by_shape {
        Some(mut judgement) if !short || !matches!(judgement.outcome, Verdict::Undecided(_)) => {
            if let (Verdict::Broken(refutation), true) = (&mut judgement.outcome, short) {
                narrow(history, &file.model, refutation);
            }
            judgement.evidence =
                judgement.evidence.or_else(|| by_trying(history, &judgement.outcome));
            judgement
        }
        _ => {
            let outcome = match short {
                true => by_search(history, file, budget),
                false => too_long(history, file),
            };
            let evidence = by_trying(history, &outcome);
            FileJudgement { outcome, decided_by: DecidedBy::Choices, proof: None, evidence }
        }
    }
}

/// Evidence that is no more than the verdict: an execution, or that all of them can be tried.
pub(crate) fn by_trying(history: &History, outcome: &FileOutcome) -> Option<FileEvidence> {
    match outcome {
        Verdict::Holds(witness) => {
            // The order of writes is all that counts; reads stand before them.
            let reads = history.event_ids().filter(|&e| history.kinds_of(e) == Kinds::READS);
            let order = reads.chain(witness.write_orders.iter().flatten().copied()).collect();
            let open = witness.reads_from.iter().copied();
            let open = open.filter(|&(read, _)| history.only_source(read).is_none());
            Some(FileEvidence::Consistent(Execution { order, reads: open.collect() }))
        }
        // The kernel tries choices one after the other, without the foresight of the search.
        Verdict::Broken(refutation)
            if refutation.branches <= MOST_BRANCHES && history.len() <= MOST_ENUMERATED =>
        {
            Some(FileEvidence::Enumeration)
        }
        Verdict::Broken(_) => None,
        Verdict::Undecided(_) => None,
    }
}

/// Takes a refutation that names fewer axioms, if the search over all choices finds one soon.
fn narrow(history: &History, model: &CatModel, found: &mut Refutation) {
    const SOON: u64 = 100;
    if let Answer::Violation(refutation) = solve(model, history, |effort| effort.evaluations < SOON)
    {
        *found = refutation;
    }
}

/// What the search may do where no time is given: so many attempts, times the cube of the events.
/// That is some minutes.
const MOST_WORK: u128 = 300_000_000_000;

/// Any model, by the search over who read what and the orders of writes.
pub(crate) fn by_search(history: &History, file: &ModelFile, budget: &Budget) -> FileOutcome {
    let model = &file.model;
    let open = |reason, established| Verdict::Undecided(Undecided { reason, established });
    let size = (history.len() + history.address_count()).max(1) as u128;
    let is_too_much = |effort: &Effort| {
        !budget.has_deadline() && u128::from(effort.evaluations) * size.pow(3) > MOST_WORK
    };
    let go_on =
        |effort: &Effort| !budget.is_spent() && budget.allows(effort.bytes) && !is_too_much(effort);
    match solve(model, history, go_on) {
        Answer::Consistent(witness) if meets(model, history, &witness) => Verdict::Holds(witness),
        Answer::Consistent(_) => {
            let sentence =
                "the search and the definition of the model disagree: this is a bug in tribunal";
            open(Reason::Engine(sentence.to_owned()), String::new())
        }
        Answer::Violation(refutation) => Verdict::Broken(refutation),
        Answer::Undecided(effort) => {
            let reason = match budget.allows(effort.bytes) {
                false => Reason::Memory,
                true if is_too_much(&effort) && !budget.is_spent() => {
                    let why = why_not_by_shape(history, file);
                    Reason::Engine(format!("{why}; give the search more time with --budget"))
                }
                true => Reason::Time,
            };
            open(
                reason,
                format!(
                    "{} combinations of reads-from and coherence orders tried",
                    effort.evaluations
                ),
            )
        }
    }
}

/// No engine takes this model at this length.
fn too_long(history: &History, file: &ModelFile) -> FileOutcome {
    let sentence = format!(
        "{}; such models are decided for traces of up to {} events, and this one has {}",
        why_not_by_shape(history, file),
        Reach::MOST_EVENTS,
        history.len()
    );
    Verdict::Undecided(Undecided { reason: Reason::Engine(sentence), established: String::new() })
}

/// Why the engines for long traces do not decide: the condition that is of another form, or what is
/// on the trace.
fn why_not_by_shape(history: &History, file: &ModelFile) -> String {
    match file.reach() {
        Reach::Short(number) => {
            let axiom = file.model.axioms().nth(number);
            let name = axiom.map_or(String::new(), |axiom| {
                format!("`{}` ({})", axiom.name, file.model.line_of(axiom.place))
            });
            format!("{name} is not of the form that can be decided for long traces")
        }
        Reach::AnyLengthWithoutAtomics if has_atomics(history) => {
            "the trace has atomics and no condition says that their read comes before their write \
             (`| amo` in the condition on locations)"
                .to_owned()
        }
        Reach::AnyLengthUnlessRewritten if has_atomics(history) => {
            "the trace has an atomic that writes what it reads, and the condition on locations does \
             not say that its read comes first (`| amo`)"
                .to_owned()
        }
        _ => "the preserved program order on this trace is not of the form that can be \
                  decided for long traces"
            .to_owned(),
    }
}

fn has_atomics(history: &History) -> bool {
    history.event_ids().any(|event| history.event(event).is_atomic())
}
