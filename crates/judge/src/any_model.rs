//! The models that a history can be judged by, of either kind: a built-in one, or the model of
//! a file.

use std::fmt;
use std::sync::Arc;

use evidence::{Proof, Verdict};
use history::History;
use models::Model;

use crate::{Budget, Engine, ModelFile, Undecided, judge, judge_by_file};

/// A built-in model, or the model of a file.
///
/// ```
/// use tribunal_judge::{Budget, Engine, ModelFile, AnyModel};
///
/// let history = history::parse_text("0: x := 1 \n0: y := 1 rel\n1: y == 1 acq\n1: x == 0")?;
/// let wmo = AnyModel::from(models::Model::Wmo);
/// let rvwmo = AnyModel::from(ModelFile::shipped("rvwmo").expect("it is shipped"));
/// let refutes = |memory_model: &AnyModel| {
///     memory_model.refute(&history, Engine::Auto, &Budget::unlimited()).of_trace()
/// };
/// assert_eq!([refutes(&wmo), refutes(&rvwmo)], ["consistent", "violation"]);
/// # Ok::<(), history::InputError>(())
/// ```
#[derive(Clone, Debug)]
pub enum AnyModel {
    /// A built-in model.
    Model(Model),
    /// The model of a file.
    File(Arc<ModelFile>),
}

/// That a model allows a history; a proof that it does not, without steps where a search over all
/// executions of a model file found it; or why that is not known.
pub type Refuted = Verdict<(), Proof, Undecided>;

impl AnyModel {
    /// Its name on the command line: that of the model, or the path of its file.
    pub fn name(&self) -> &str {
        match self {
            AnyModel::Model(model) => model.name(),
            AnyModel::File(file) => &file.path,
        }
    }

    /// The built-in model.
    pub fn model(&self) -> Option<Model> {
        match self {
            AnyModel::Model(model) => Some(*model),
            AnyModel::File(_) => None,
        }
    }

    /// Whether a history keeps it, without the witness. The engine is for built-in models.
    pub fn refute(&self, history: &History, engine: Engine, budget: &Budget) -> Refuted {
        match self {
            AnyModel::Model(model) => match judge(history, *model, engine, budget).outcome {
                Verdict::Holds(_) => Verdict::Holds(()),
                Verdict::Broken(proof) => Verdict::Broken(proof),
                Verdict::Undecided(undecided) => Verdict::Undecided(undecided),
            },
            AnyModel::File(file) => {
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

impl From<Model> for AnyModel {
    fn from(model: Model) -> Self {
        AnyModel::Model(model)
    }
}

impl From<ModelFile> for AnyModel {
    fn from(file: ModelFile) -> Self {
        AnyModel::File(Arc::new(file))
    }
}

impl From<&AnyModel> for AnyModel {
    fn from(memory_model: &AnyModel) -> Self {
        memory_model.clone()
    }
}

impl fmt::Display for AnyModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
