//! Invariants that ask for some processor, by witnesses: `witness/holds` is verified and certified,
//! `witness/open` is not called verified.

#![allow(clippy::unwrap_used)] // a test may fail

use std::sync::atomic::AtomicBool;

use conform::Options;
use explore::Deadlock;
use murphi::source::Source;
use recheck::{Certificate, Limits, Verdict, check};
use tribunal_parametric::{End, Outcome, Plan, Question, carry_out, certificate, plan};

/// The models of a folder.
fn models(folder: &str) -> Vec<Source> {
    let folder = format!("{}/tests/witness/{folder}", env!("CARGO_MANIFEST_DIR"));
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let read = |path: std::path::PathBuf| Source {
        name: path.file_name().unwrap().to_string_lossy().into_owned(),
        text: std::fs::read_to_string(&path).unwrap(),
    };
    let mut models: Vec<Source> = files.map(read).collect();
    models.sort_by(|left, right| left.name.cmp(&right.name));
    assert!(models.len() > 1, "most of them are gone");
    models
}

fn shipped(name: &str) -> Source {
    let path = format!("{}/../../protocols/{name}.m", env!("CARGO_MANIFEST_DIR"));
    Source { name: format!("{name}.m"), text: std::fs::read_to_string(path).unwrap() }
}

/// What comes of a model's own claims, and what `then` makes of it.
fn asked<T>(source: &Source, then: impl FnOnce(&Question<'_>, &Plan, &Outcome) -> T) -> T {
    let mut options = Options::default();
    options.search.deadlock = Deadlock::Off;
    let question = Question {
        source,
        options: &options,
        memory_model: None,
        processors: None,
        concrete: None,
        named: true,
        lemmas: None,
    };
    let plan = plan(&question).expect("it can be abstracted");
    let never = AtomicBool::new(false);
    let outcome = carry_out(&question, &plan, &mut |_, _| (), &never).expect("it can be searched");
    then(&question, &plan, &outcome)
}

/// The certificate of a model that is verified, with how many witnesses.
fn certified(source: &Source) -> (Certificate, usize) {
    asked(source, |question, plan, outcome| {
        assert!(outcome.holds(plan), "{}: {:?}", source.name, outcome.shown[0].found.left_out);
        let made = certificate(question, plan, outcome).expect("it can be derived again");
        (made.expect("it is verified"), outcome.shown[0].witnesses.len())
    })
}

fn checked(source: &Source, certificate: &Certificate) -> Verdict {
    let interrupt = AtomicBool::new(false);
    let limits = &mut Limits {
        memory: None,
        threads: 1,
        interrupt: &interrupt,
        listener: &mut |_, _, _| (),
    };
    let again = Certificate::read(&certificate.write().unwrap()).expect("it can be read again");
    check(&source.text, &again, limits)
}

#[test]
fn what_has_a_witness_is_verified_and_certified() {
    for source in models("holds").into_iter().chain([shipped("mi")]) {
        let (certificate, witnesses) = certified(&source);
        assert!(witnesses > 0, "{} needs a witness", source.name);
        let verdict = checked(&source, &certificate);
        assert!(matches!(verdict, Verdict::Holds(_)), "{}: {verdict:?}", source.name);
    }
}

#[test]
fn what_has_none_is_left_open_and_never_called_broken_without_a_run() {
    for source in models("open") {
        asked(&source, |_, plan, outcome| {
            assert!(!outcome.holds(plan), "{} is called verified", source.name);
            assert!(matches!(outcome.end, End::Claims | End::Found(_)), "{}", source.name);
            let open = &outcome.shown[0].found.left_out;
            assert!(open.iter().all(|name| !name.contains("witness")), "{open:?}");
        });
    }
}

#[test]
fn a_certificate_with_other_witnesses_is_rejected() {
    let source = models("holds").remove(0);
    let (original, _) = certified(&source);
    let forged = |change: &dyn Fn(&mut Certificate)| {
        let mut forged = original.clone();
        change(&mut forged);
        assert_ne!(forged, original);
        let derived = recheck::certificate(forged.question.clone(), &forged.proofs);
        for forged in std::iter::once(forged).chain(derived) {
            let verdict = checked(&source, &forged);
            assert!(matches!(verdict, Verdict::Broken(_)), "{verdict:?}");
        }
    };
    forged(&|it| it.proofs[0].witnesses.clear());
    forged(&|it| it.proofs[0].witnesses[0].site = 1);
    forged(&|it| it.proofs[0].witnesses[0].set = Some("true".to_owned()));
    forged(&|it| it.proofs[0].witnesses[0].invariant = "another".to_owned());
}
