//! JSON of what is printed: one object in one line.

use serde::Serialize;

/// The memory model of the question, under both of its names. `memory_model` means the same in
/// every command; `model` is older, and is the Murphi file if there is one.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct MemoryModelName<'a> {
    model: &'a str,
    memory_model: &'a str,
}

impl<'a> MemoryModelName<'a> {
    pub(crate) fn new(name: &'a str) -> Self {
        MemoryModelName { model: name, memory_model: name }
    }
}

/// The Murphi file of the question, under both of its names: `file` means the same in every
/// command.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ModelFileName<'a> {
    model: &'a str,
    file: &'a str,
}

impl<'a> ModelFileName<'a> {
    pub(crate) fn new(name: &'a str) -> Self {
        ModelFileName { model: name, file: name }
    }
}

/// The time of a check, in both of its units.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct CheckTime {
    micros: u64,
    seconds: f64,
}

impl CheckTime {
    pub(crate) fn micros(micros: u64) -> Self {
        CheckTime { micros, seconds: micros as f64 / 1e6 }
    }
}

/// Something as JSON in one line, without the newline.
pub(crate) fn line(value: &impl Serialize) -> String {
    // Reports have strings for keys, and no value that cannot be serialised.
    serde_json::to_string(value).expect("a report has a JSON form")
}
