//! Models and options for tests.

use std::sync::atomic::AtomicBool;

use tribunal_conform::{Options, Verification, verify};
use murphi::source::Source;

/// A model of this folder.
pub fn model(name: &str) -> Source {
    let path = format!("{}/tests/models/{name}.m", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("the model is there");
    Source { name: format!("{name}.m"), text }
}

/// Options with other constants.
pub fn constants(overrides: &[(&str, &str)]) -> Options {
    let mut options = Options::default();
    let pairs = overrides.iter().map(|(name, value)| (name.to_string(), value.to_string()));
    options.language.constants = pairs.collect();
    options
}

/// What verification answers.
pub fn verified(source: &Source, options: &Options) -> Verification {
    match verify(source, options, &mut |_, _| (), &AtomicBool::new(false)) {
        Ok(found) => found,
        Err(failure) => panic!("{failure:#?}"),
    }
}
