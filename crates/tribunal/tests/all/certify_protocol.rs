//! `tribunal certify PROTOCOL.m FILE`: certificates of verdicts for any number of processors.

use std::path::Path;

use crate::common::{Ran, directory, file, run};

/// Whoever takes the lock knows that it was free.
const LOCK: &str = "
    const N: 2;
    type P: scalarset(N);
    var inside: array [P] of boolean; free: boolean;
    startstate begin for p: P do inside[p] := false; end; free := true; end;
    ruleset p: P do
      rule \"enter\" free ==> begin inside[p] := true; free := false; end;
      rule \"leave\" inside[p] ==> begin inside[p] := false; free := true; end;
    end;
    invariant \"alone\" forall p: P do forall q: P do p != q -> !(inside[p] & inside[q]) end end;";

/// A protocol in a folder of its own, and where the certificate of its verdict would be.
fn lock(test: &str, text: &str) -> (String, String) {
    let directory = directory(test);
    let certificate = directory.join("lock.proof").to_str().unwrap().to_owned();
    (file(&directory, "lock.m", text), certificate)
}

fn verify(flags: &[&str], model: &str) -> Ran {
    run(&[&["verify", "--any-processors", "--jobs", "1"][..], flags, &[model]].concat())
}

fn certify(flags: &[&str], model: &str, certificate: &str) -> Ran {
    run(&[&["certify"][..], flags, &[model, certificate]].concat())
}

/// A protocol and the certificate of its verdict.
fn certified(test: &str) -> (String, String) {
    let (model, certificate) = lock(test, LOCK);
    let ran = verify(&["--certificate", &certificate], &model);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    (model, certificate)
}

#[test]
fn what_was_verified_is_certified() {
    let (model, certificate) = certified("certify-lock");
    let ran = certify(&[], &model, &certificate);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let expected = "certificate holds: 1 invariant holds for any number of processors, 2 or more";
    assert_eq!(ran.lines()[0], format!("{model}: {expected}"));
    let ran = certify(&["--json"], &model, &certificate);
    let json = &ran.json()[0];
    assert_eq!((ran.code, &json["holds"]), (Some(0), &true.into()), "{ran:?}");
    assert_eq!(json["processors"], 2, "{ran:?}");
    assert_eq!(json["claims"][0]["claim"], "invariants and assertions of the protocol", "{ran:?}");
}

#[test]
fn what_the_protocol_was_read_with_is_reported_with_the_claim() {
    let model = LOCK.replace("const N: 2;", "const N: 2; Guests: 9;");
    let model = model.replace("free ==> begin", "free | Guests > 1 ==> begin");
    let directory = directory("certify-lock-constants");
    let model = file(&directory, "lock.m", &model);
    let certificate = directory.join("lock.proof").to_str().unwrap().to_owned();
    let flags = ["verify", "--any-processors", "--const", "Guests=1", "--dialect", "rumur"];
    let ran = run(&[&flags[..], &["--jobs", "1", "--certificate", &certificate, &model]].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let ran = run(&["certify", "--quiet", &model, &certificate]);
    let expected = ", 2 or more, with --const Guests=1 --dialect rumur";
    assert!(ran.lines()[0].ends_with(expected), "{ran:?}");
    let ran = run(&["certify", "--json", &model, &certificate]);
    assert_eq!(ran.json()[0]["flags"][0], "--const Guests=1", "{ran:?}");
}

#[test]
fn what_was_changed_is_rejected_with_the_reason() {
    let (model, certificate) = certified("certify-lock-changed");
    let text = std::fs::read_to_string(&certificate).unwrap();
    // The abstract program never leaves.
    std::fs::write(&certificate, text.replacen("inside[p] ==>", "false ==>", 1)).unwrap();
    assert_ne!(std::fs::read_to_string(&certificate).unwrap(), text);
    let ran = certify(&[], &model, &certificate);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("certificate rejected: "), "{ran:?}");
    std::fs::write(&certificate, text).unwrap();
    let other = LOCK.replace("inside[p] ==>", "inside[p] & !free ==>");
    let (other, _) = lock("certify-lock-other", &other);
    let ran = certify(&[], &other, &certificate);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.ends_with("the certificate is about another protocol\n"), "{ran:?}");
    let ran = certify(&["--json"], &other, &certificate);
    assert_eq!(ran.json()[0]["holds"], false, "{ran:?}");
}

#[test]
fn what_is_no_certificate_is_refused_and_what_takes_too_long_is_not_checked() {
    let (model, certificate) = certified("certify-lock-malformed");
    let text = std::fs::read_to_string(&certificate).unwrap();
    let ran = certify(&["--budget", "0s"], &model, &certificate);
    assert!(matches!(ran.code, Some(0 | 3)), "{ran:?}");
    let ran = certify(&["--memory", "200B"], &model, &certificate);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(
        ran.stdout.contains("certificate not checked: the memory limit was reached"),
        "{ran:?}"
    );
    assert!(ran.stdout.contains(": no error in "), "{ran:?}");
    let ran = run(&["certify", "--json", "--memory", "200B", &model, &certificate]);
    assert!(ran.json()[0]["visited"].as_u64() > Some(0), "{ran:?}");
    std::fs::write(&certificate, text.replacen("\"version\":1", "\"version\":9", 1)).unwrap();
    let ran = certify(&[], &model, &certificate);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("lock.proof:1: "), "{ran:?}");
}

#[test]
fn the_answer_does_not_depend_on_the_number_of_threads() {
    let directory = directory("certify-threads");
    let certificate = directory.join("german.proof").to_str().unwrap().to_owned();
    let flags = ["verify", "--any-processors", "--jobs", "1", "--certificate", &certificate];
    let german = "protocols/german.m";
    assert_eq!(run(&[&flags[..], &[german]].concat()).code, Some(0));
    let alone = run(&["certify", "--jobs", "1", german, &certificate]);
    assert!(alone.stdout.contains(": 18,216 states visited, 2 claims and 6 lemmas"), "{alone:?}");
    assert_eq!(run(&["certify", "--jobs", "3", german, &certificate]).stdout, alone.stdout);
}

#[test]
fn there_is_no_certificate_of_what_is_not_verified() {
    let broken = LOCK.replace("free := false;", "");
    let (model, certificate) = lock("certify-broken", &broken);
    let ran = verify(&["--certificate", &certificate], &model);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(!Path::new(&certificate).exists(), "{ran:?}");
}

#[test]
fn an_audit_says_how_far_it_went() {
    let (model, _) = lock("audit-lock", LOCK);
    let ran = verify(&["--audit", "100"], &model);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(
        ran.lines()[0].contains("; instances with up to 7 processors were searched exhaustively: "),
        "{ran:?}"
    );
    assert!(
        ran.stdout.contains("audit: 100 random steps of instances with up to 7 processors"),
        "{ran:?}"
    );
    let ran = verify(&["--audit", "100", "--json"], &model);
    let audit = &ran.json()[0]["audit"];
    assert_eq!((&audit["steps"], &audit["searched"]), (&100.into(), &7.into()), "{ran:?}");
}
