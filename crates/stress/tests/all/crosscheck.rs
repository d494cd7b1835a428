//! What verification says about a protocol and what its traces say must agree: the part of the
//! cross-check that takes seconds. The whole is `examples/crosscheck.rs`, and what came of it is in
//! protocols/CROSSCHECK.md.

use std::path::Path;

use crate::both_halves::{Answers, Asked, Verified, ask};
use conform::EventNames;
use conform::mutate::mutants;
use models::Model;
use murphi::ast::Program;
use murphi::parse::parse;
use murphi::source::Source;

fn read(file: &str) -> (Source, Program) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols").join(file);
    let source = Source { name: file.to_owned(), text: std::fs::read_to_string(path).unwrap() };
    let program = parse(&source).0.unwrap();
    (source, program)
}

fn asked(model: Model, processors: u64, addresses: u64) -> Asked {
    let constants = [("ProcessorCount", processors), ("AddressCount", addresses)];
    let constants = constants.map(|(name, count)| (name.to_owned(), count.to_string()));
    Asked {
        model,
        constants: constants.into(),
        traces: 100,
        more: 4000,
        memory: 32 << 20,
        ..Asked::default()
    }
}

fn both(file: &str, asked: &Asked) -> Answers {
    ask(file, &read(file).1, asked).unwrap()
}

#[test]
fn protocols_and_broken_variants_are_judged_alike_by_both_halves() {
    let cases = [
        ("mi.m", Model::Sc, (3, 1), Verified::Holds),
        ("msi.m", Model::Sc, (2, 1), Verified::Holds),
        ("piranha.m", Model::Sc, (2, 2), Verified::Holds),
        ("msi-store-buffer.m", Model::Tso, (2, 1), Verified::Holds),
        ("broken/mi-stale-put-taken.m", Model::Sc, (3, 1), Verified::Violated),
        ("broken/mesi-dirty-eviction-taken-for-clean.m", Model::Sc, (2, 1), Verified::Violated),
        ("broken/piranha-owner-not-cleared.m", Model::Sc, (2, 2), Verified::Violated),
        ("broken/lazy-caching-own-stores-not-awaited.m", Model::Sc, (2, 1), Verified::Violated),
        ("broken/msi-store-buffer-no-forwarding.m", Model::Tso, (2, 1), Verified::Violated),
        ("broken/tso-cc-write-back-lost.m", Model::Tso, (2, 1), Verified::Violated),
    ];
    for (file, model, (processors, addresses), expected) in cases {
        let answers = both(file, &asked(model, processors, addresses));
        assert_eq!(answers.verified, expected, "{file}");
        assert_eq!(answers.agree(), Some(true), "{file}, {} traces", answers.traces.count);
    }
}

#[test]
fn mutants_are_judged_alike_by_both_halves() {
    let (source, program) = read("msi-store-buffer.m");
    let asked = asked(Model::Tso, 2, 1);
    let mut violated = 0;
    for mutant in mutants(&program, &EventNames::default()) {
        let Some(answers) = ask("mutant", &mutant.program, &asked) else { continue };
        let what = mutant.describe(&source);
        let run = answers.objection.as_ref().map_or("", |objection| &objection.trace);
        assert_ne!(answers.agree(), Some(false), "{}: {what}\n{run}", mutant.number);
        assert_ne!(answers.verified, Verified::Broken, "{}: {what}", mutant.number);
        violated += u64::from(answers.verified == Verified::Violated);
    }
    assert!(violated >= 10, "only {violated} mutants violate the model");
}
