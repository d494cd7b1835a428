//! The models that can be asked for: machines of the built-in ones, and files of cat.

use std::path::Path;
use std::sync::Arc;

use cat::{CatError, CatModel};
use models::Model;

use crate::outcomes::MODELS;
use crate::test::Architecture;

/// A model to enumerate outcomes under.
#[derive(Clone, Debug)]
pub struct LitmusModel {
    name: String,
    machine: Option<Model>,
    file: Arc<CatModel>,
}

impl LitmusModel {
    /// The model of a name: one of the models that are shipped as files. Some of them are also
    /// machines, which are faster and know x86 only.
    ///
    /// ```
    /// use tribunal_litmus::LitmusModel;
    ///
    /// assert!(LitmusModel::named("rvwmo").is_some_and(|model| model.machine().is_none()));
    /// assert!(LitmusModel::named("tso").is_some_and(|model| model.machine().is_some()));
    /// assert!(LitmusModel::named("no such model").is_none());
    /// ```
    pub fn named(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let file = Arc::new(CatModel::shipped(&name)?);
        let machine = MODELS.iter().copied().find(|model| model.name() == name);
        Some(LitmusModel { name, machine, file })
    }

    /// The model of a file, with the name of the file.
    pub fn open(path: &Path) -> Result<Self, CatError> {
        let name = path.display().to_string();
        Ok(LitmusModel { name, machine: None, file: Arc::new(CatModel::open(path)?) })
    }

    /// The names of the models that need no file.
    pub fn names() -> impl Iterator<Item = &'static str> {
        cat::shipped_models()
    }

    /// The model that the architecture guarantees.
    pub fn of_architecture(architecture: Architecture) -> Self {
        let name = match architecture {
            Architecture::X86 | Architecture::X86_64 => "tso",
            Architecture::RiscV => "rvwmo",
            Architecture::AArch64 => "aarch64",
        };
        Self::named(name).expect("it is shipped")
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The built-in model that is a machine for x86, if it is one.
    pub fn machine(&self) -> Option<Model> {
        self.machine
    }

    /// The model as a file.
    pub fn file(&self) -> &CatModel {
        &self.file
    }
}
