//! Where tests find traces and litmus tests with answers that no engine computed.
//!
//! The small corpus is part of the repository (`corpus/`, written and answered by hand): a test
//! that does not find it fails. The large one has the same layout and is not: it is looked for in
//! the folder that `TRIBUNAL_CORPUS` names, or else beside the project, and a test that does not
//! find it says so and goes on. What it says is printed past the capture of the test harness, so
//! that a run shows what was not compared.

use std::io::Write;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A file or folder of the small corpus.
///
/// # Panics
///
/// Panics if it is absent: it is part of the repository.
pub fn small_corpus(name: &str) -> PathBuf {
    let path = root().join("corpus").join(name);
    assert!(path.exists(), "{} is absent, but part of the repository", path.display());
    path
}

/// A file or folder of the large corpus; nothing, with a message, where it is absent.
pub fn large_corpus(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("TRIBUNAL_CORPUS").map(PathBuf::from);
    let path = folder.unwrap_or_else(|| root().join("../shared/corpus")).join(name);
    if path.exists() {
        return Some(path);
    }
    let _ = writeln!(std::io::stderr(), "skipped: the large corpus has no {name} here");
    None
}

/// A file or folder of the small corpus, and that of the large one where there is one.
///
/// # Panics
///
/// Panics if the small corpus lacks it.
pub fn corpora(name: &str) -> Vec<PathBuf> {
    [small_corpus(name)].into_iter().chain(large_corpus(name)).collect()
}
