//! What a history is judged by, where either kind of model will do: a built-in one, or the model of
//! a file.

use std::fmt;
use std::sync::Arc;

use evidence::{Proof, Verdict};
use history::History;
use models::Model;

use crate::{Budget, Engine, ModelFile, Undecided, judge, judge_by_file};

/// A model of either kind.
///
/// ```
/// use tribunal_judge::{Budget, Engine, ModelFile, Promise};
///
/// let history = history::parse_text("0: x := 1 \n0: y := 1 rel\n1: y == 1 acq\n1: x == 0")?;
/// let wmo = Promise::from(models::Model::Wmo);
/// let rvwmo = Promise::from(ModelFile::shipped("rvwmo").expect("it is shipped"));
/// let refutes = |promise: &Promise| {
///     promise.refute(&history, Engine::Auto, &Budget::unlimited()).of_trace()
/// };
/// assert_eq!([refutes(&wmo), refutes(&rvwmo)], ["consistent", "violation"]);
/// # Ok::<(), history::InputError>(())
/// ```
#[derive(Clone, Debug)]
pub enum Promise {
    /// A built-in model.
    Model(Model),
    /// The model of a file.
    File(Arc<ModelFile>),
}

/// That a history keeps a promise; a proof that it does not, without steps where a search over all
/// executions of a model file found it; or why that is not known.
pub type Refuted = Verdict<(), Proof, Undecided>;

impl Promise {
    /// Its name on the command line: that of the model, or the path of its file.
    pub fn name(&self) -> &str {
        match self {
            Promise::Model(model) => model.name(),
            Promise::File(file) => &file.path,
        }
    }

    /// The built-in model.
    pub fn model(&self) -> Option<Model> {
        match self {
            Promise::Model(model) => Some(*model),
            Promise::File(_) => None,
        }
    }

    /// Whether a history keeps it, without the witness. The engine is for built-in models.
    pub fn refute(&self, history: &History, engine: Engine, budget: &Budget) -> Refuted {
        match self {
            Promise::Model(model) => match judge(history, *model, engine, budget).outcome {
                Verdict::Holds(_) => Verdict::Holds(()),
                Verdict::Broken(proof) => Verdict::Broken(proof),
                Verdict::Undecided(undecided) => Verdict::Undecided(undecided),
            },
            Promise::File(file) => {
                let judgement = judge_by_file(history, file, budget);
                match judgement.outcome {
                    Verdict::Holds(_) => Verdict::Holds(()),
                    Verdict::Broken(_) => Verdict::Broken(judgement.proof.unwrap_or_default()),
                    Verdict::Undecided(undecided) => Verdict::Undecided(undecided),
                }
            }
        }
    }
}

impl From<Model> for Promise {
    fn from(model: Model) -> Self {
        Promise::Model(model)
    }
}

impl From<ModelFile> for Promise {
    fn from(file: ModelFile) -> Self {
        Promise::File(Arc::new(file))
    }
}

impl From<&Promise> for Promise {
    fn from(promise: &Promise) -> Self {
        promise.clone()
    }
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
