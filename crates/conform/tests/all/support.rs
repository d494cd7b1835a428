//! Models and options for tests.

use std::sync::atomic::AtomicBool;

use murphi::source::Source;
use tribunal_conform::{Options, Verification, verify};

/// A model of this folder.
pub(crate) fn model(name: &str) -> Source {
    let path = format!("{}/tests/models/{name}.m", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("the model is there");
    Source { name: format!("{name}.m"), text }
}

/// A protocol of the project.
#[allow(dead_code)] // each test file has its own copy of this one
pub(crate) fn protocol(name: &str) -> Source {
    let path = format!("{}/../../protocols/{name}.m", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("the protocol is there");
    Source { name: format!("{name}.m"), text }
}

/// Options with other constants.
pub(crate) fn constants(overrides: &[(&str, &str)]) -> Options {
    let mut options = Options::default();
    let pairs = overrides.iter().map(|(name, value)| (name.to_string(), value.to_string()));
    options.language.constants = pairs.collect();
    options
}

/// What verification answers.
pub(crate) fn verified(source: &Source, options: &Options) -> Verification {
    match verify(source, options, &mut |_, _| (), &AtomicBool::new(false)) {
        Ok(found) => found,
        Err(failure) => panic!("{failure:#?}"),
    }
}

/// `delayed-stores` with a mark where a store reaches memory.
pub(crate) fn with_commits(source: Source) -> Source {
    let declared = "procedure Commit(p: Proc; a: Addr; v: Value); begin end;\n\nstartstate";
    let text = source.text.replacen("startstate", declared, 1);
    let marked = "    Commit(p, waiting[p].a, waiting[p].v);\n    undefine waiting[p];";
    let text = text.replace("    undefine waiting[p];", marked);
    assert_eq!(text.matches("Commit(").count(), 2);
    Source { text, ..source }
}
