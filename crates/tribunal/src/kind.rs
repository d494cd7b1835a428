//! The kind of a file, by its name: if a command cannot read a file because the file is of another
//! kind, a line of help says which command reads it.

use std::path::Path;

/// What a file contains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Traces.
    Trace,
    /// A Murphi model.
    Model,
    /// A litmus test.
    Litmus,
    /// Test programs.
    Program,
    /// A memory model.
    ModelFile,
}

/// The endings of file names, with the kind that they stand for.
const ENDINGS: [(&str, Kind); 8] = [
    ("m", Kind::Model),
    ("litmus", Kind::Litmus),
    ("program", Kind::Program),
    ("cat", Kind::ModelFile),
    ("trace", Kind::Trace),
    ("axe", Kind::Trace),
    ("jsonl", Kind::Trace),
    ("log", Kind::Trace),
];

impl Kind {
    /// The kind that the name of a file stands for.
    fn of(file: &str) -> Option<Kind> {
        let ending = Path::new(file).extension()?.to_str()?;
        ENDINGS.iter().find(|(known, _)| *known == ending).map(|&(_, kind)| kind)
    }

    /// What the file is, and the command that reads it.
    fn advice(self, file: &str) -> String {
        match self {
            Kind::Trace => format!("a trace; use `tribunal check {file}`"),
            Kind::Model => {
                format!("a Murphi model; use `tribunal explore {file}` or `tribunal verify {file}`")
            }
            Kind::Litmus => format!("a litmus test; use `tribunal litmus {file}`"),
            Kind::Program => format!("a test program; use `tribunal run {file} --on TARGET`"),
            Kind::ModelFile => format!("a memory model; use `--model {file}`"),
        }
    }

    /// A hint about a file that cannot be read as this kind; empty if the name of the file does not
    /// stand for another one.
    pub(crate) fn hint(self, file: &str) -> String {
        match Kind::of(file).filter(|kind| *kind != self) {
            Some(kind) => format!("hint: {file} is named like {}\n", kind.advice(file)),
            None => String::new(),
        }
    }
}
