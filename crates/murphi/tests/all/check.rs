//! What is a program and what is not: every model in `tests/check` with what is said about it.
//!
//! `accepted` are programs about which there is nothing to say, `warned` have warnings only, and
//! `refused` have errors. What is expected stands at the end of a model, in lines that begin with
//! `--!`; a first line `--! options A=1 B=true` chooses constants. The rest of `check*.rs` looks
//! into the typed models.

use std::fs;
use std::path::{Path, PathBuf};

use tribunal_murphi::check::{Options, load};
use tribunal_murphi::diagnostic::Severity;
use tribunal_murphi::source::Source;

/// A model and what is expected to be said about it.
struct Case {
    name: String,
    text: String,
    options: Options,
    expected: String,
}

fn cases(folder: &str) -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/check").join(folder);
    let entries = fs::read_dir(&folder).expect("the folder of models is part of the tests");
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.expect("it can be read").path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "there are no models in {}", folder.display());
    paths.iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> Case {
    let name = path.file_name().expect("a file has a name").to_string_lossy().into_owned();
    let whole = fs::read_to_string(path).expect("it is text");
    let at = whole.find("--!").unwrap_or(whole.len());
    let mut options = Options::default();
    let mut expected = String::new();
    for line in whole[at..].lines() {
        let line = line.strip_prefix("--!").expect("nothing follows what is expected");
        match line.strip_prefix(" options ") {
            Some(chosen) => options.constants.extend(chosen.split(' ').map(|constant| {
                let (name, value) = constant.split_once('=').expect("a constant has a value");
                (name.to_owned(), value.to_owned())
            })),
            None => expected += &format!("{}\n", line.strip_prefix(' ').unwrap_or(line)),
        }
    }
    Case { name, text: whole[..at].to_owned(), options, expected }
}

/// What is said about a model, and whether it is refused.
fn said(case: &Case) -> (String, bool) {
    let source = Source { name: case.name.clone(), text: case.text.clone() };
    let (found, refused) = match load(source.clone(), &case.options) {
        Ok(checked) => (checked.warnings, false),
        Err(found) => (found, true),
    };
    let worst = found.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    assert_eq!(worst, refused, "{}: refused exactly if there is an error", case.name);
    (found.iter().map(|diagnostic| diagnostic.render(&source, false)).collect(), refused)
}

fn check_folder(folder: &str, refused: bool) {
    let mut wrong = String::new();
    for case in cases(folder) {
        let (text, is_refused) = said(&case);
        if text.trim_end() != case.expected.trim_end() || is_refused != refused {
            wrong +=
                &format!("\n{folder}/{}\nexpected:\n{}\nfound:\n{text}", case.name, case.expected);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn nothing_is_said_about_good_programs() {
    check_folder("accepted", false);
}

#[test]
fn what_looks_like_a_mistake_is_pointed_out() {
    check_folder("warned", false);
}

#[test]
fn what_is_wrong_is_refused_with_its_place_and_reason() {
    check_folder("refused", true);
}

#[test]
fn whatever_is_cut_off_is_answered_without_a_panic() {
    for case in cases("accepted").iter().chain(&cases("refused")) {
        for (end, _) in case.text.char_indices().step_by(7) {
            let text = case.text[..end].to_owned();
            let source = Source { name: case.name.clone(), text };
            let _ = load(source, &case.options);
        }
    }
}

#[test]
fn whatever_is_missing_is_answered_without_a_panic() {
    for case in cases("accepted") {
        let lines: Vec<&str> = case.text.lines().collect();
        for missing in 0..lines.len() {
            let kept = lines.iter().enumerate().filter(|(at, _)| *at != missing);
            let text: Vec<&str> = kept.map(|(_, line)| *line).collect();
            let source = Source { name: case.name.clone(), text: text.join("\n") };
            let _ = load(source, &case.options);
        }
    }
}

#[test]
fn little_is_said_about_the_protocols() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols");
    let (mut seen, mut complaints) = (0, String::new());
    for folder in [folder.join("broken"), folder] {
        for entry in fs::read_dir(&folder).expect("the repository has protocols") {
            let path = entry.expect("it can be read").path();
            if path.extension().is_some_and(|extension| extension == "m") {
                let (text, refused) = said(&Case { expected: String::new(), ..read(&path) });
                // Its bus writes back the copy of whoever has one: of one processor at most, but that
                // is what its invariants are for.
                let writes_back = path.display().to_string().contains("msi-store-buffer");
                if refused || text.is_empty() == writes_back {
                    complaints += &format!("{}:\n{text}", path.display());
                }
                seen += 1;
            }
        }
    }
    assert!(complaints.is_empty(), "{complaints}");
    assert!(seen > 10);
}
