//! Models as files: every verdict has a certificate that the kernel accepts, and none that was
//! tampered with is.

use cat::{CatModel, Witness, meets};
use certify::certify_by_file;
use certify::file::certify_as_long;
use evidence::file::{Execution, FileEvidence, FileProof, FileWhy};
use evidence::{FileCertificate, Literal, Verdict};
use history::{EventId, History, Source};
use oracle::{Rng, Shape, annotated, random_histories, text};
use tribunal_judge::{Budget, DecidedBy, FileJudgement, ModelFile, judge_by_file};

/// How many histories of each shape are tried; `TRIBUNAL_TRIALS` overrides it for long runs.
fn trials() -> u64 {
    std::env::var("TRIBUNAL_TRIALS").ok().and_then(|n| n.parse().ok()).unwrap_or(15)
}

fn files() -> Vec<ModelFile> {
    cat::shipped_models().map(|name| ModelFile::shipped(name).expect("it is shipped")).collect()
}

fn histories() -> impl Iterator<Item = (u64, History)> {
    let marked = |(seed, history): (u64, History)| match seed % 3 {
        0 => (seed, history),
        _ => (seed, annotated(&mut Rng::new(seed), &history)),
    };
    let of = move |shape| -> Vec<(u64, History)> {
        random_histories(&shape, 0..trials()).map(marked).collect()
    };
    Shape::all().into_iter().flat_map(of)
}

fn certificate(file: &ModelFile, evidence: FileEvidence) -> FileCertificate {
    let (model, digest) = (file.path.clone(), file.model.digest());
    FileCertificate { trace: 1, model, digest, evidence }
}

fn judged(history: &History, file: &ModelFile) -> FileJudgement {
    judge_by_file(history, file, &Budget::unlimited())
}

#[test]
fn every_verdict_is_certified() {
    let files = files();
    // For each model: witnesses, proofs, enumerations of what the engines for long traces and of what
    // the search found.
    let mut kinds = vec![[0u64; 4]; files.len()];
    for (seed, history) in histories() {
        for (file, kinds) in files.iter().zip(&mut kinds) {
            let judgement = judged(&history, file);
            let message = || format!("{}, seed {seed}:\n{}", file.path, text(&history));
            let evidence = judgement.evidence.unwrap_or_else(|| panic!("none, {}", message()));
            kinds[match &evidence {
                FileEvidence::Consistent(_) => 0,
                FileEvidence::Violation(_) => 1,
                FileEvidence::Enumeration if judgement.decided_by != DecidedBy::Choices => 2,
                FileEvidence::Enumeration => 3,
            }] += 1;
            let claims = matches!(evidence, FileEvidence::Consistent(_));
            assert_eq!(claims, matches!(judgement.outcome, Verdict::Holds(_)), "{}", message());
            let certificate = certificate(file, evidence);
            let line = certificate.to_json(&history);
            assert_eq!(FileCertificate::from_json(&line, &history).as_ref(), Ok(&certificate));
            if let Err(rejection) = certify_by_file(&history, &file.model, &certificate) {
                panic!("{rejection}: {line}\n{}", message());
            }
        }
    }
    println!("{:?}", files.iter().map(|file| &file.path).zip(&kinds).collect::<Vec<_>>());
    for (file, [witnesses, proofs, by_engines, by_search]) in files.iter().zip(&kinds) {
        assert!(*witnesses > trials(), "{}: {kinds:?}", file.path);
        // Nearly all that the engines refute has a proof.
        let is_shaped = file.model.shape().is_ok();
        assert!(!is_shaped || *proofs > 15 * by_engines, "{}: {kinds:?}", file.path);
        assert!(proofs + by_engines + by_search > trials(), "{}: {kinds:?}", file.path);
    }
}

/// The witness that an execution is.
fn witness_of(history: &History, execution: &Execution) -> Option<Witness> {
    let mut write_orders = vec![Vec::new(); history.address_count()];
    let mut seen = vec![false; history.len()];
    for &event in execution.order.iter().rev() {
        if !std::mem::replace(&mut seen[event.index()], true) && history.kinds_of(event).writes {
            write_orders[history.address_of(event)?.index()].push(event);
        }
    }
    write_orders.iter_mut().for_each(|order| order.reverse());
    let reads = history.event_ids().filter(|&event| history.kinds_of(event).reads);
    let source = |read| {
        let chosen = execution.reads.iter().find(|(each, _)| *each == read).map(|each| each.1);
        Some((read, chosen.or(history.only_source(read))?))
    };
    Some(Witness { reads_from: reads.map(source).collect::<Option<_>>()?, write_orders })
}

/// One small change to an execution.
fn changed(rng: &mut Rng, history: &History, execution: &Execution) -> Execution {
    let mut execution = execution.clone();
    let order = &mut execution.order;
    match rng.below(5) {
        0 if !execution.reads.is_empty() => {
            let at = rng.below(execution.reads.len());
            let (read, source) = &mut execution.reads[at];
            let candidates = history.sources(*read);
            *source = candidates[rng.below(candidates.len())];
        }
        1 if !order.is_empty() => {
            order.remove(rng.below(order.len()));
        }
        2 if !order.is_empty() => {
            let twice = order[rng.below(order.len())];
            order.insert(rng.below(order.len()), twice);
        }
        _ if order.len() > 1 => {
            let (a, b) = (rng.below(order.len()), rng.below(order.len()));
            order.swap(a, b);
        }
        _ => {}
    }
    execution
}

/// Where an atomic is split, what the thread itself wrote to the address has to be excluded, among more
/// events than all of which are tried.
#[test]
fn a_split_atomic_of_a_long_trace_is_certified() {
    let mut lines = vec!["0: x := 1", "0: <x == 1; x := 2> as a", "0: x := 3", "1: x := 4"];
    lines.extend(["2: x == 1", "2: x == 4", "2: x == 2", "2: y == 0"]);
    let rest: Vec<String> = (0..800).map(|at| format!("3: z := {}", at + 1)).collect();
    lines.extend(rest.iter().map(String::as_str));
    let history = history::parse_text(&lines.join("\n")).unwrap();
    for name in ["aarch64", "aarch64-2020", "rvwmo"] {
        let file = ModelFile::shipped(name).unwrap();
        let judgement = judged(&history, &file);
        assert!(matches!(judgement.outcome, Verdict::Broken(_)), "{name}: {judgement:?}");
        let evidence = judgement.evidence.unwrap_or_else(|| panic!("{name}: no evidence"));
        certify_by_file(&history, &file.model, &certificate(&file, evidence)).unwrap();
    }
}

#[test]
fn changed_witnesses_are_accepted_only_if_they_are_right() {
    let files = files();
    let (mut accepted, mut rejected, mut long) = (0u64, 0u64, [0u64; 2]);
    for (seed, history) in histories() {
        let rng = &mut Rng::new(seed ^ 0x0dd);
        for file in &files {
            let judgement = judged(&history, file);
            let Some(FileEvidence::Consistent(execution)) = judgement.evidence else { continue };
            let as_long = certify_as_long(&history, &file.model, &execution);
            long[usize::from(as_long.is_ok())] += 1;
            // What the engines for long traces found can be checked at any length.
            let by_engines = judgement.decided_by != DecidedBy::Choices;
            let message = || format!("{}, seed {seed}:\n{}", file.path, text(&history));
            assert!(!by_engines || as_long.is_ok(), "{as_long:?} {}", message());
            for _ in 0..4 {
                let execution = changed(rng, &history, &execution);
                let is_right = witness_of(&history, &execution)
                    .is_some_and(|witness| meets(&file.model, &history, &witness));
                let evidence = FileEvidence::Consistent(execution.clone());
                let holds =
                    certify_by_file(&history, &file.model, &certificate(file, evidence)).is_ok();
                let as_long = certify_as_long(&history, &file.model, &execution).is_ok();
                assert!(is_right || !holds && !as_long, "{execution:?}\n{}", message());
                *(if holds { &mut accepted } else { &mut rejected }) += 1;
            }
        }
    }
    println!("accepted {accepted}, rejected {rejected}, as long {long:?}");
    assert!(accepted > trials() && rejected > trials(), "{accepted} {rejected}");
    assert!(long[1] > long[0], "{long:?}");
}

/// One small change to a proof.
fn tampered(rng: &mut Rng, history: &History, proof: &FileProof) -> FileProof {
    let mut proof = proof.clone();
    let at = rng.below(proof.steps.len());
    if rng.below(6) == 0 && proof.steps.len() > 1 {
        proof.steps.remove(at);
        return proof;
    }
    let step = &mut proof.steps[at];
    match (&mut step.why, rng.below(7)) {
        (FileWhy::Axiom { links, .. }, 0) => {
            links.remove(rng.below(links.len()));
        }
        (FileWhy::Axiom { links, .. }, 1) => {
            let at = rng.below(links.len());
            links[at].through.clear();
        }
        (FileWhy::Axiom { axiom, .. }, 2) => *axiom = rng.below(3),
        (FileWhy::Axiom { links, .. }, 3) => {
            let (at, other) = (rng.below(links.len()), EventId::new(rng.below(history.len())));
            let next = (at + 1) % links.len();
            links[at].to = evidence::Node::Event(other);
            links[next].from = evidence::Node::Event(other);
        }
        (_, 4) => {
            step.clause.pop();
        }
        (_, 5) => {
            let swapped = |literal: Literal| literal.negated();
            step.clause = step.clause.iter().copied().map(swapped).collect();
        }
        (why, _) => *why = FileWhy::Propagation,
    }
    proof
}

#[test]
fn no_proof_shows_what_is_not_so() {
    let files = files();
    let (mut tried, mut accepted) = (0u64, 0u64);
    for (seed, history) in histories() {
        let rng = &mut Rng::new(seed ^ 0xf00);
        let judgements: Vec<FileJudgement> =
            files.iter().map(|file| judged(&history, file)).collect();
        // The proofs that there are, under every model that they are no proofs of.
        for (weaker, judgement) in files.iter().zip(&judgements) {
            if !matches!(judgement.outcome, Verdict::Holds(_)) {
                continue;
            }
            let message = || format!("{}, seed {seed}:\n{}", weaker.path, text(&history));
            let enumeration = certificate(weaker, FileEvidence::Enumeration);
            assert!(
                certify_by_file(&history, &weaker.model, &enumeration).is_err(),
                "{}",
                message()
            );
            for stronger in &judgements {
                let Some(FileEvidence::Violation(proof)) = &stronger.evidence else { continue };
                for change in 0..3 {
                    let proof = match change {
                        0 => proof.clone(),
                        _ => tampered(rng, &history, proof),
                    };
                    tried += 1;
                    let forged = certificate(weaker, FileEvidence::Violation(proof.clone()));
                    let result = certify_by_file(&history, &weaker.model, &forged);
                    assert!(result.is_err(), "{proof:?}\n{}", message());
                }
            }
        }
        // Tampered proofs of what is so: most have a hole.
        for (file, judgement) in files.iter().zip(&judgements) {
            let Some(FileEvidence::Violation(proof)) = &judgement.evidence else { continue };
            let forged = certificate(file, FileEvidence::Violation(tampered(rng, &history, proof)));
            accepted += u64::from(certify_by_file(&history, &file.model, &forged).is_ok());
        }
    }
    println!("tried {tried}, accepted of what is so {accepted}");
    assert!(tried > 20 * trials(), "{tried}");
}

#[test]
fn a_certificate_is_about_one_text() {
    let history = history::parse_text("0: x := 1\n0: y == 0\n1: y := 1\n1: x == 0").unwrap();
    let of = |text: &str| {
        ModelFile::new("my.cat".to_owned(), CatModel::from_text("my.cat", text).unwrap())
    };
    let sc = of("acyclic po | rf | co | fr as interleaving");
    let same = of("acyclic po | rf | co | fr as interleaving\n");
    let evidence = judged(&history, &sc).evidence.unwrap();
    let certificate = certificate(&sc, evidence);
    assert_eq!(certify_by_file(&history, &sc.model, &certificate), Ok(()));
    let rejection = certify_by_file(&history, &same.model, &certificate).unwrap_err();
    assert_eq!(
        rejection.to_string(),
        "the certificate is about another version of my.cat than the file that was read"
    );
}

#[test]
fn sources_are_compared_with_the_trace() {
    let history = history::parse_text("0: x := 1\n0: x := 1\n1: x == 1").unwrap();
    let file = ModelFile::shipped("sc").unwrap();
    let Some(FileEvidence::Consistent(execution)) = judged(&history, &file).evidence else {
        panic!("it is consistent")
    };
    assert_eq!(execution.reads.len(), 1);
    for reads in [vec![], vec![(EventId::new(2), Source::Initial)], execution.reads.repeat(2)] {
        let evidence = FileEvidence::Consistent(Execution { reads, ..execution.clone() });
        let rejected = certify_by_file(&history, &file.model, &certificate(&file, evidence));
        assert!(rejected.is_err());
    }
}

/// Accesses of mixed sizes: every verdict is certified in terms of parts, and a claim about a history
/// that the model allows is rejected, whatever the proof.
#[test]
fn verdicts_about_mixed_sizes_are_certified() {
    let files = files();
    let mut kinds = vec![[0u64; 3]; files.len()];
    let (mut open, mut foreign) = (0u64, 0u64);
    for seed in 0..8 * trials() {
        let history = oracle::random_sized_history(seed);
        let judgements: Vec<FileJudgement> =
            files.iter().map(|file| judged(&history, file)).collect();
        for (file, (judgement, kinds)) in files.iter().zip(judgements.iter().zip(&mut kinds)) {
            let message = || format!("{}, seed {seed}:\n{}", file.path, text(&history));
            let Some(evidence) = judgement.evidence.clone() else {
                open += u64::from(!matches!(judgement.outcome, Verdict::Undecided(_)));
                continue;
            };
            kinds[match &evidence {
                FileEvidence::Consistent(_) => 0,
                FileEvidence::Violation(_) => 1,
                FileEvidence::Enumeration => 2,
            }] += 1;
            let certificate = certificate(file, evidence);
            let line = certificate.to_json(&history);
            assert_eq!(FileCertificate::from_json(&line, &history).as_ref(), Ok(&certificate));
            if let Err(rejection) = certify_by_file(&history, &file.model, &certificate) {
                panic!("{rejection}: {line}\n{}", message());
            }
        }
        let allowing =
            files.iter().zip(&judgements).filter(|(_, j)| j.outcome.of_trace() == "consistent");
        for (file, _) in allowing {
            let claims = judgements.iter().filter_map(|judgement| judgement.evidence.clone());
            let claims = claims.filter(|claim| matches!(claim, FileEvidence::Violation(_)));
            for claim in claims.chain((seed % 8 == 0).then_some(FileEvidence::Enumeration)) {
                foreign += 1;
                let wrong = certificate(file, claim);
                let certified = certify_by_file(&history, &file.model, &wrong);
                assert!(certified.is_err(), "{}, seed {seed}:\n{}", file.path, text(&history));
            }
        }
    }
    println!(
        "{:?}, {open} open, {foreign} rejected",
        files.iter().map(|f| &f.path).zip(&kinds).collect::<Vec<_>>()
    );
    for (file, [witnesses, proofs, enumerations]) in files.iter().zip(&kinds) {
        // `aarch64` and `ra` are not judged on mixed sizes; verdicts by `rmo` have no certificate.
        if !["aarch64", "ra", "rmo"].contains(&file.path.as_str()) {
            assert!(*witnesses > trials(), "{}: {kinds:?}", file.path);
            assert!(proofs + enumerations > trials() / 3, "{}: {kinds:?}", file.path);
        }
    }
    assert!(foreign > 5 * trials(), "{foreign}");
}

#[test]
fn changed_witnesses_of_mixed_sizes_are_accepted_only_if_they_are_right() {
    let files = files();
    let (mut accepted, mut rejected) = (0u64, 0u64);
    for seed in 0..8 * trials() {
        let history = oracle::random_sized_history(seed);
        let parts = history.mixed().unwrap().parts();
        let rng = &mut Rng::new(seed ^ 0x51e);
        for file in &files {
            let Some(FileEvidence::Consistent(execution)) = judged(&history, file).evidence else {
                continue;
            };
            let execution = changed(rng, parts, &execution);
            let wrong = certificate(file, FileEvidence::Consistent(execution.clone()));
            if certify_by_file(&history, &file.model, &wrong).is_ok() {
                accepted += 1;
                let witness = witness_of(parts, &execution).expect("all reads have sources");
                let right = meets(&file.model, &history, &witness);
                assert!(right, "{}, seed {seed}:\n{}", file.path, text(&history));
            } else {
                rejected += 1;
            }
        }
    }
    println!("{accepted} accepted, {rejected} rejected");
    assert!(accepted > trials() && rejected > trials());
}

/// The parts of an access are not in program order: nothing leads from the write of an atomic of
/// several cells back to its read, and a path that stops at a part does not reach another one.
#[test]
fn an_access_of_several_cells_is_one_access() {
    // An atomic waits for the stores before it, and nothing behind it waits for its own store.
    let text = "let ppo = [R] ; po ; [M] | [W] ; po ; [W] | [W] ; po ; [R & X]
        let barriers = po ; [F] ; po
        acyclic po-loc | amo | rf | co | fr as location
        empty rmw & (fre ; coe) as atomicity
        acyclic ppo | barriers | amo | rfe | co | fr as global";
    // A store that orders what is around it: not what is before it and one of its parts.
    let around = "acyclic po-loc | rf | co | fr as location
        acyclic [R] ; po ; [W] ; po ; [W] | po ; [F] ; po | rfe | co | fr as global";
    let file =
        |text| ModelFile::new("my.cat".to_owned(), CatModel::from_text("my.cat", text).unwrap());
    let sc = || ModelFile::shipped("sc").unwrap();
    let buffering = "1: <M[0x10:2] == 0; M[0x10:2] := 0x0101>
        1: M[0x20:1] == 0
        0: M[0x20:1] := 1
        0: sync
        0: M[0x10:";
    let loads = "0: M[0x20:1] == 1
        0: M[0x10:2] := 0x0101
        1: M[0x11:1] == 1
        1: sync
        1: M[0x20:1] := 1";
    let overwritten = "1: M[0x12:2] := 0x0102
        1: <M[0x12:2] == 0x0103; M[0x12:2] := 0x0101>
        0: M[0x11:4] := 0x01020302
        1: M[0x11:4] := 0x01020202
        final M[0x12:1] == 1";
    for (file, trace, expected) in [
        (file(text), format!("{buffering}2] == 0"), "consistent"),
        (file(text), format!("{buffering}1] == 0"), "consistent"),
        (sc(), format!("{buffering}1] == 0"), "violation"),
        (file(around), loads.to_owned(), "consistent"),
        (sc(), loads.to_owned(), "violation"),
        (sc(), overwritten.to_owned(), "violation"),
    ] {
        let history = history::parse_text(&trace).unwrap();
        let judgement = judged(&history, &file);
        assert_eq!(judgement.outcome.of_trace(), expected, "{}:\n{trace}", file.path);
        let evidence = judgement.evidence.unwrap_or_else(|| panic!("no evidence:\n{trace}"));
        let certificate = certificate(&file, evidence);
        let certified = certify_by_file(&history, &file.model, &certificate);
        assert_eq!(certified.map_err(|rejection| rejection.to_string()), Ok(()), "{trace}");
    }
}
