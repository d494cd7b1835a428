//! The traces of the corpora are read, all of them.

use std::path::Path;

use oracle::{large_corpus, small_corpus};
use tribunal_history::{ReadOptions, TraceReader, open};

/// How many traces a file holds.
fn count(path: &Path) -> usize {
    let path = path.to_str().expect("the corpus has a plain name");
    let options = ReadOptions { axe_addresses: true, ..ReadOptions::default() };
    let reader = TraceReader::new(open(path).expect("the file is there"), path, options);
    let traces = reader.map(|trace| trace.unwrap_or_else(|e| panic!("{}", e.render(false))));
    traces.filter(|history| !history.is_empty()).count()
}

#[test]
fn the_traces_of_the_repository() {
    assert_eq!(count(&small_corpus("traces/litmus/tests.axe")), 20);
}

#[test]
fn the_litmus_traces_of_axe() {
    if let Some(path) = large_corpus("traces/litmus/tests.axe") {
        assert_eq!(count(&path), 199);
    }
}

#[test]
fn the_random_traces_of_axe() {
    if let Some(path) = large_corpus("traces/random/tests.axe") {
        assert_eq!(count(&path), 2000);
    }
}
