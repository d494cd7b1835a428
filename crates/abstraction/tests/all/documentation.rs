//! docs/abstraction.md says where each of its numbered statements is in the code: the files and
//! tests that it names exist, and no source file of the trusted crates is left out.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A row of the table: numbers, code, tests.
struct Row {
    numbers: Vec<String>,
    code: String,
    tests: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn document() -> String {
    fs::read_to_string(root().join("docs/abstraction.md")).expect("the document is there")
}

fn rows(document: &str) -> Vec<Row> {
    let (_, table) = document.split_once("| | code | test |").expect("there is a table");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [numbers, code, tests] = cells.as_slice() else { panic!("{line}") };
        let numbers = numbers.split(", ").map(str::to_owned).collect();
        Row { numbers, code: (*code).to_owned(), tests: (*tests).to_owned() }
    };
    rows.map(row).collect()
}

/// The files and folders in a text, each in backticks, the first with its whole path and the others
/// in the folder that was named last.
fn files(text: &str) -> Vec<PathBuf> {
    let mut folder = PathBuf::new();
    let mut found = Vec::new();
    let quoted = text.split('`').skip(1).step_by(2);
    for path in quoted.filter(|quoted| quoted.ends_with(".rs") || quoted.ends_with('/')) {
        if let Some((whole, _)) = path.strip_prefix("crates/").and(path.rsplit_once('/')) {
            folder = PathBuf::from(whole);
            found.push(PathBuf::from(path));
        } else {
            found.push(folder.join(path));
        }
    }
    found
}

/// The line about files that make no transformation.
fn helpers(document: &str) -> Vec<PathBuf> {
    let line = document.lines().find(|line| line.starts_with("Helpers, "));
    line.expect("helpers are named").split("; ").flat_map(files).collect()
}

/// All Rust files in a folder, by their paths from the root.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(root().join(folder)).expect("the folder is there") {
        let path = folder.join(entry.expect("it can be listed").file_name());
        match root().join(&path).is_dir() {
            true => sources(&path, found),
            false => found.push(path),
        }
    }
}

#[test]
fn every_file_that_is_named_exists() {
    let document = document();
    let of_rows = rows(&document).into_iter().flat_map(|row| files(&row.code));
    let named: Vec<PathBuf> = of_rows.chain(helpers(&document)).collect();
    assert!(named.len() > 40, "only {} are named", named.len());
    for path in named {
        assert!(root().join(&path).exists(), "{} does not exist", path.display());
    }
}

#[test]
fn every_source_file_is_named() {
    let document = document();
    let of_rows = rows(&document).into_iter().flat_map(|row| files(&row.code));
    let named: Vec<PathBuf> = of_rows.chain(helpers(&document)).collect();
    let mut all = Vec::new();
    for folder in ["crates/abstraction/src", "crates/prepare/src", "crates/murphi/src/transform"] {
        sources(Path::new(folder), &mut all);
    }
    assert!(all.len() > 50, "only {} were found", all.len());
    for path in all.iter().filter(|path| !path.ends_with("tests.rs")) {
        let is_named = named.iter().any(|named| path.starts_with(named));
        assert!(is_named, "{} is not in docs/abstraction.md, \"Where to find it\"", path.display());
    }
}

#[test]
fn every_numbered_statement_is_in_the_table() {
    let document = document();
    let listed: BTreeSet<String> =
        rows(&document).into_iter().flat_map(|row| row.numbers).collect();
    let bold = document.split("**").skip(1).step_by(2);
    let number = |bold: &str| -> Option<String> {
        let (number, _) = bold.split_once('.')?;
        let (kind, digits) = number.split_at_checked(1)?;
        let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
        ("TEWCL".contains(kind) && is_number).then(|| number.to_owned())
    };
    let stated: BTreeSet<String> = bold.filter_map(number).collect();
    assert!(stated.len() > 20, "only {stated:?} are stated");
    assert_eq!(stated, listed);
}

#[test]
fn every_test_that_is_named_exists() {
    let mut hostile = 0;
    for row in rows(&document()) {
        for group in row.tests.split("; ") {
            let tests = root().join("crates/abstraction/tests");
            let paths: Vec<PathBuf> = if let Some(names) = group.strip_prefix("hostile/") {
                let model = |name: &str| tests.join(format!("soundness/hostile/{name}.m"));
                names.split(", ").map(model).collect()
            } else if let Some(module) = group.strip_prefix("all/") {
                let module = module.split(':').next().unwrap_or_default();
                vec![tests.join(format!("all/{module}.rs"))]
            } else if group == "adversary" {
                vec![tests.join("soundness/adversary")]
            } else {
                files(group).into_iter().map(|path| root().join(path)).collect()
            };
            assert!(!paths.is_empty(), "{:?}: {group}", row.numbers);
            hostile += usize::from(group.starts_with("hostile/")) * paths.len();
            for path in paths {
                assert!(path.exists(), "{:?}: {} does not exist", row.numbers, path.display());
            }
        }
    }
    assert!(hostile > 20, "only {hostile} hostile models are named");
}
