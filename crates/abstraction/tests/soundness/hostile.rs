//! Programs that are wrong with a certain number of processors and right with fewer: each file of
//! `hostile/` says in its second line with how many, and perhaps in a third the lemmas that a user
//! gives for it.

use std::fs;

/// A program, and with how many processors something is wrong in it.
pub(crate) struct Hostile {
    pub(crate) name: String,
    pub(crate) fails_with: u64,
    /// Lemmas, as Murphi.
    pub(crate) given: String,
    pub(crate) text: String,
}

pub(crate) fn all() -> Vec<Hostile> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/soundness/hostile");
    let mut found = Vec::new();
    for file in fs::read_dir(folder).expect("the folder is there") {
        let path = file.expect("it can be listed").path();
        let text = fs::read_to_string(&path).expect("it is a text");
        let count = text.lines().find_map(|line| line.strip_prefix("-- fails with "));
        let fails_with = count.and_then(|count| count.parse().ok()).expect("it says when");
        let given = text.lines().filter_map(|line| line.strip_prefix("-- given: ")).collect();
        found.push(Hostile { name: path.display().to_string(), fails_with, given, text });
    }
    found.sort_by(|left, right| left.name.cmp(&right.name));
    assert!(found.len() > 10, "most of them are gone");
    found
}
