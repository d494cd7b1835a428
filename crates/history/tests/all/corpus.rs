//! The traces that come with Axe are read, all of them.

use std::path::Path;

use tribunal_history::{ReadOptions, TraceReader, open};

/// How many traces a file of the corpus holds; `None` where there is no corpus.
fn count(folder: &str) -> Option<usize> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2)?;
    let path = root.join("../shared/corpus/traces").join(folder).join("tests.axe");
    if !path.exists() {
        eprintln!("skipped: there is no {}", path.display());
        return None;
    }
    let path = path.to_str()?;
    let options = ReadOptions { axe_addresses: true, ..ReadOptions::default() };
    let reader = TraceReader::new(open(path).expect("the file is there"), path, options);
    let traces = reader.map(|trace| trace.unwrap_or_else(|e| panic!("{}", e.render(false))));
    Some(traces.filter(|history| !history.is_empty()).count())
}

#[test]
fn the_litmus_traces() {
    if let Some(count) = count("litmus") {
        assert_eq!(count, 199);
    }
}

#[test]
fn the_random_traces() {
    if let Some(count) = count("random") {
        assert_eq!(count, 2000);
    }
}
