//! The folders under `tests/traces` name what is expected of the traces in them: `tso-not-sc` holds
//! histories that tso allows and sc does not. Adding a case is dropping in a file.

use std::fs;
use std::path::{Path, PathBuf};

use models::{IMPLICATIONS, Model};
use tribunal_judge::{Budget, Engine, Outcome, judge};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces")
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// The two models that a folder's name puts apart.
fn expectation(folder: &Path) -> (Model, Model) {
    let name = folder.file_name().unwrap().to_str().unwrap();
    let (allows, forbids) =
        name.split_once("-not-").expect("folders are called ALLOWS-not-FORBIDS");
    (allows.parse().unwrap(), forbids.parse().unwrap())
}

fn allows(trace: &Path, model: Model) -> bool {
    let text = fs::read_to_string(trace).unwrap();
    let history = history::parse_text(&text).unwrap_or_else(|e| panic!("{}", e.render(false)));
    match judge(&history, model, Engine::Auto, &Budget::unlimited()).outcome {
        Outcome::Holds(_) => true,
        Outcome::Broken(_) => false,
        Outcome::Undecided(undecided) => panic!("{}: {undecided:?}", trace.display()),
    }
}

#[test]
fn every_trace_is_allowed_and_forbidden_as_its_folder_says() {
    for folder in entries(&folder()) {
        let (allowing, forbidding) = expectation(&folder);
        for trace in entries(&folder) {
            assert!(allows(&trace, allowing), "{allowing} forbids {}", trace.display());
            assert!(!allows(&trace, forbidding), "{forbidding} allows {}", trace.display());
        }
    }
}

#[test]
fn every_strict_implication_has_a_trace_that_separates_the_two() {
    let separated: Vec<(Model, Model)> =
        entries(&folder()).iter().map(|folder| expectation(folder)).collect();
    for implication in IMPLICATIONS {
        let pair = (implication.weaker, implication.stronger);
        assert!(separated.contains(&pair), "no trace is {} but not {}", pair.0, pair.1);
    }
}
