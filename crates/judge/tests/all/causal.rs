//! Causal models: verdicts against the definitions, evidence against the kernel, and what the
//! evidence looks like.

use std::sync::Arc;
use std::time::Duration;

use evidence::{
    AnyCertificate, Because, Certificate, Cycle, Derived, Evidence, Proof, Rule, Why, Witness,
};
use history::{History, ThinAir, parse_text};
use models::Model;
use oracle::{Rng, Shape, allows, random_histories, text};
use tribunal_judge::stream::{Answer, Asked, Judged, Trace};
use tribunal_judge::{Budget, DecidedBy, Engine, Judgement, Limits, Outcome, Reason, judge};

const MODELS: [Model; 5] = [Model::Cc, Model::Ccv, Model::Cm, Model::Ccm, Model::Wccm];

/// The verdict, with evidence that the kernel accepts.
fn certified(history: &History, model: Model) -> Judgement {
    let verdict = judge(history, model, Engine::Auto, &Budget::unlimited());
    let evidence = match verdict.outcome.clone() {
        Outcome::Holds(witness) => Evidence::Consistent(witness),
        Outcome::Broken(proof) => Evidence::Violation(proof),
        Outcome::Undecided(undecided) => panic!("{model}: {undecided:?}\n{}", text(history)),
    };
    let certificate = Certificate { trace: 1, model, evidence };
    if let Err(rejection) = certify::certify(history, &certificate) {
        panic!("{model}: {rejection}\n{:#?}\n{}", verdict.outcome, text(history));
    }
    assert_eq!(verdict.decided_by, DecidedBy::Causal);
    verdict
}

fn is_consistent(history: &History, model: Model) -> bool {
    matches!(certified(history, model).outcome, Outcome::Holds(_))
}

fn parse(trace: &str) -> History {
    parse_text(trace).expect("the trace is well-formed")
}

fn proof(history: &History, model: Model) -> Proof {
    match certified(history, model).outcome {
        Outcome::Broken(proof) => proof,
        other => panic!("{model}: {other:?}"),
    }
}

fn witness(history: &History, model: Model) -> Witness {
    match certified(history, model).outcome {
        Outcome::Holds(witness) => witness,
        other => panic!("{model}: {other:?}"),
    }
}

/// The only derivation of a proof of one step.
fn derivation(history: &History, model: Model) -> (Vec<Derived>, Cycle) {
    let proof = proof(history, model);
    assert_eq!(proof.steps.len(), 1, "{proof:#?}");
    match proof.steps.into_iter().next().map(|step| step.why) {
        Some(Why::Derivation { derived, cycle }) => (derived, cycle),
        other => panic!("{other:?}"),
    }
}

fn rules(derived: &[Derived]) -> Vec<Rule> {
    derived.iter().map(|edge| edge.rule).collect()
}

/// How many random histories of each shape to try; `TRIBUNAL_TRIALS` overrides it for long runs.
fn trials() -> u64 {
    std::env::var("TRIBUNAL_TRIALS").ok().and_then(|n| n.parse().ok()).unwrap_or(120)
}

#[test]
fn verdicts_agree_with_the_definitions_and_the_kernel_with_the_evidence() {
    for shape in Shape::all().into_iter().chain([Shape::thin_air()]) {
        for (seed, history) in random_histories(&shape, 0..trials()) {
            for model in MODELS {
                let expected = allows(&history, model);
                assert_eq!(
                    is_consistent(&history, model),
                    expected,
                    "{} {seed} {model}\n{}",
                    shape.name,
                    text(&history)
                );
            }
        }
    }
}

#[test]
fn verdicts_agree_with_the_definitions_on_longer_histories_of_unique_values() {
    for shape in [Shape::plain(), Shape::causal(), Shape::atomics(), Shape::fences()] {
        for (seed, history) in random_histories(&shape.with_events(13), 0..trials()) {
            for model in MODELS {
                let expected = allows(&history, model);
                assert_eq!(is_consistent(&history, model), expected, "{seed} {model}");
            }
        }
    }
}

#[test]
fn evidence_for_longer_histories_is_accepted() {
    for shape in Shape::all() {
        for (_, history) in random_histories(&shape.with_events(40), 0..trials() / 3) {
            for model in MODELS {
                certified(&history, model);
            }
        }
    }
}

#[test]
fn implications_hold_on_longer_histories() {
    for (seed, history) in random_histories(&Shape::rich().with_events(24), 0..trials() * 2) {
        let [cc, ccv, cm, ccm, wccm] = MODELS.map(|model| is_consistent(&history, model));
        let implications = [(ccm, cm), (ccm, ccv), (ccm, wccm), (cm, cc), (ccv, cc)];
        assert!(implications.iter().all(|&(a, b)| !a || b), "{seed}\n{}", text(&history));
    }
}

#[test]
fn a_stale_read_is_reported_in_the_words_of_each_model() {
    let history = parse(
        "0: x := 1
         0: x := 2
         0: y := 1
         1: y == 1
         1: x == 1",
    );
    let words = MODELS.map(|model| rules(&derivation(&history, model).0));
    assert_eq!(words[0], [Rule::Overwritten]);
    assert_eq!(words[1], [Rule::Conflict]);
    assert_eq!(words[2], [Rule::Observed]);
    assert_eq!(words[3], [Rule::StoreOrder, Rule::Overwritten]);
    assert_eq!(words[4], [Rule::Observed]);
}

#[test]
fn causality_that_goes_around_is_a_cycle_without_derived_edges() {
    let history = parse(
        "0: x == 1
         0: y := 1
         1: y == 1
         1: x := 1",
    );
    for model in MODELS {
        let (derived, cycle) = derivation(&history, model);
        assert!(derived.is_empty());
        let because: Vec<Because> = cycle.edges.iter().map(|edge| edge.because).collect();
        use Because::{ProgramOrder, ReadsFrom};
        assert_eq!(because.len(), 4);
        assert_eq!(because.iter().filter(|b| **b == ProgramOrder).count(), 2);
        assert_eq!(because.iter().filter(|b| **b == ReadsFrom).count(), 2);
    }
}

#[test]
fn a_read_from_the_future_violates_every_model() {
    for trace in ["0: x == 1\n0: x := 1", "0: <x == 1; x := 1>"] {
        for model in MODELS {
            let (derived, cycle) = derivation(&parse(trace), model);
            assert!(derived.is_empty() && cycle.edges.len() == 2, "{model}: {cycle:?}");
        }
    }
}

#[test]
fn what_one_thread_observes_is_derived_step_by_step() {
    // Reading z = 0 and then y = 1 puts x := 1 after x := 2; reading x = 2 puts it before.
    let history = parse(
        "0: z := 1
         0: x := 1
         0: y := 1
         1: x := 2
         1: z == 0
         1: y == 1
         1: x == 2",
    );
    let (derived, cycle) = derivation(&history, Model::Cm);
    assert_eq!(rules(&derived), [Rule::Observed, Rule::Observed]);
    assert_eq!(cycle.edges.len(), 2);
    assert!(derived[1].path.iter().any(|edge| edge.because == Because::Derived(0)));
}

#[test]
fn two_read_modify_writes_of_one_write_violate_what_orders_writes() {
    let history = parse(
        "0: <x == 0; x := 1>
         1: <x == 0; x := 2>",
    );
    let [cc, ccv, cm, ccm, wccm] = MODELS.map(|model| is_consistent(&history, model));
    assert!(cc && cm && !ccv && !ccm && !wccm);
    assert_eq!(rules(&derivation(&history, Model::Ccv).0), [Rule::Atomic, Rule::Atomic]);
}

#[test]
fn a_write_cannot_come_between_a_row_of_read_modify_writes() {
    // Thread 1 has seen its own 9 between 1 and 3.
    let history = parse(
        "0: x := 1
         0: <x == 1; x := 2>
         0: <x == 2; x := 3>
         1: x == 1
         1: x := 9
         1: x == 3",
    );
    for model in [Model::Ccv, Model::Ccm, Model::Wccm] {
        let (derived, _) = derivation(&history, model);
        assert_eq!(derived.iter().filter(|edge| edge.rule == Rule::Atomic).count(), 2, "{model}");
    }
    assert!(is_consistent(&history, Model::Cm));
}

#[test]
fn a_fence_makes_wccm_see_program_order_again() {
    let store_buffers = |fence: &str| {
        parse(&format!(
            "0: x := 1
             {fence}
             0: y == 0
             1: y := 1
             1: sync
             1: x == 0"
        ))
    };
    assert!(is_consistent(&store_buffers(""), Model::Wccm));
    assert!(is_consistent(&store_buffers("0: fence r,rw"), Model::Wccm));
    assert!(!is_consistent(&store_buffers("0: fence w,r"), Model::Wccm));
    let (_, cycle) = derivation(&store_buffers("0: sync"), Model::Wccm);
    assert_eq!(cycle.edges.iter().filter(|edge| edge.because == Because::Fence).count(), 2);
}

#[test]
fn order_and_final_lines_speak_to_the_models_that_order_writes() {
    let history = parse(
        "0: x := 1
         0: x := 2
         final x == 1",
    );
    let [cc, ccv, cm, ccm, wccm] = MODELS.map(|model| is_consistent(&history, model));
    assert!(cc && cm && !ccv && !ccm && !wccm);
    let (derived, cycle) = derivation(&history, Model::Ccv);
    assert!(derived.is_empty());
    assert!(cycle.edges.iter().any(|edge| edge.because == Because::WriteOrder));
    let before_initial = parse(
        "0: x := 1
         order x: 1 < 0",
    );
    assert!(!is_consistent(&before_initial, Model::Ccm));
    assert!(is_consistent(&before_initial, Model::Cm));
}

#[test]
fn witnesses_are_arbitrations_views_extensions_or_choices() {
    let history = parse(
        "0: x := 1
         0: y == 0
         1: y := 1
         1: x == 1",
    );
    assert!(matches!(witness(&history, Model::Cc), Witness::Choices(reads) if reads.is_empty()));
    assert!(
        matches!(witness(&history, Model::Ccv), Witness::Arbitration { order, .. } if order.len() == 4)
    );
    let Witness::Views { views, .. } = witness(&history, Model::Cm) else { panic!("no views") };
    assert_eq!(views.iter().map(Vec::len).collect::<Vec<_>>(), [2, 3]);
    for (model, lengths) in [(Model::Ccm, &[4][..]), (Model::Wccm, &[4, 4])] {
        let Witness::Extensions { orders, atomicity, .. } = witness(&history, model) else {
            panic!("no orders")
        };
        assert_eq!(orders.iter().map(Vec::len).collect::<Vec<_>>(), lengths);
        assert!(atomicity.is_empty());
    }
}

/// The read of 0 comes before x := 7, the write of 5 after it: `cm` does not ask for atomicity, and
/// no view has one place for both.
#[test]
fn a_read_modify_write_that_cm_takes_apart_has_no_view() {
    let history = parse(
        "0: x := 7
         0: y := 1
         1: <x == 0; x := 5>
         1: y == 1
         1: x == 5",
    );
    assert!(matches!(witness(&history, Model::Cm), Witness::Choices(_)));
}

#[test]
fn repeated_values_are_a_choice() {
    // The first x := 1 is overwritten in the past of the read, the second is not.
    let history = parse(
        "0: x := 1
         0: x := 2
         0: y := 1
         1: y == 1
         1: x == 1
         2: x := 1",
    );
    for model in MODELS {
        assert!(is_consistent(&history, model), "{model}");
    }
    let Witness::Extensions { reads, .. } = witness(&history, Model::Ccm) else {
        panic!("no orders")
    };
    assert_eq!(reads.len(), 1);
}

#[test]
fn when_every_choice_is_refuted_the_lemmas_propagate_to_the_empty_clause() {
    let history = parse(
        "0: x := 1
         0: x := 2
         0: y := 1
         1: x := 1
         1: x := 3
         1: y == 1
         1: x == 1",
    );
    for model in MODELS {
        let proof = proof(&history, model);
        let lemmas = proof.steps.iter().filter(|s| matches!(s.why, Why::Derivation { .. })).count();
        assert_eq!(lemmas, 2, "{model}: {proof:#?}");
        let last = proof.steps.last().expect("a proof has steps");
        assert_eq!((last.clause.len(), &last.why), (0, &Why::Propagation));
    }
}

#[test]
fn a_value_out_of_thin_air_has_an_axiom_for_a_proof() {
    let mut builder = history::Builder::new();
    let x = builder.address(&history::AddressLabel::Name("x".into()));
    let read = history::Operation::Read { address: x, value: 1 };
    builder.event(0, read, 1).expect("one event fits");
    let history = builder.finish(ThinAir::Violation).expect("thin air is allowed");
    for model in MODELS {
        let proof = proof(&history, model);
        assert!(matches!(&proof.steps[..], [step] if step.why == Why::Propagation));
    }
}

#[test]
fn nothing_happened_and_that_is_fine() {
    for trace in ["", "0: sync", "0: x := 1", "init x == 3\n7: x == 3"] {
        for model in MODELS {
            assert!(is_consistent(&parse(trace), model), "{model}: {trace}");
        }
    }
}

/// An interleaving of random accesses, in which every read returns what memory holds.
fn interleaving(events: u64, threads: usize, addresses: usize, atomics: u32) -> History {
    use history::{AddressLabel, Builder, Operation};
    let mut rng = Rng::new(events);
    let mut builder = Builder::new();
    let labels = (0..addresses as u64).map(AddressLabel::Number);
    let ids: Vec<_> = labels.map(|label| builder.address(&label)).collect();
    let mut memory = vec![0; addresses];
    for value in 1..=events {
        let at = rng.below(addresses);
        let address = ids[at];
        let operation = if rng.percent(atomics) {
            let read = std::mem::replace(&mut memory[at], value);
            Operation::ReadModifyWrite { address, read, write: value }
        } else if rng.percent(50) {
            memory[at] = value;
            Operation::Write { address, value }
        } else {
            Operation::Read { address, value: memory[at] }
        };
        builder.event(rng.below(threads) as u64, operation, value as u32).expect("it fits");
    }
    builder.finish(ThinAir::Malformed).expect("every value read was written")
}

#[test]
fn long_interleavings_satisfy_every_model() {
    for atomics in [0, 25] {
        let history = interleaving(3_000, 8, 12, atomics);
        for model in MODELS {
            assert!(is_consistent(&history, model), "{model}");
        }
    }
}

#[test]
fn saturation_orders_at_least_what_the_partial_store_order_does() {
    let open = |history: &History, model: Model| {
        let verdict = judge(history, model, Engine::Auto, &Budget::unlimited());
        match verdict.outcome {
            Outcome::Holds(_) => verdict.stats.unordered_write_pairs,
            _ => None,
        }
    };
    for (seed, history) in random_histories(&Shape::plain().with_events(20), 0..150) {
        for (store, causal) in [(Model::Sc, Model::Ccm), (Model::Tso, Model::Wccm)] {
            if let (Some(store), Some(causal)) = (open(&history, store), open(&history, causal)) {
                assert!(store <= causal, "{seed}: {store} {causal}\n{}", text(&history));
            }
        }
    }
}

#[test]
fn a_spent_budget_leaves_the_question_open() {
    let history = interleaving(2_000, 4, 4, 0);
    for model in MODELS {
        let no_time = Budget::unlimited().with_time(Duration::ZERO);
        let no_room = Budget::unlimited().with_memory(1_000);
        for (budget, reason) in [(no_time, Reason::Time), (no_room, Reason::Memory)] {
            match judge(&history, model, Engine::Auto, &budget).outcome {
                Outcome::Undecided(undecided) => assert_eq!(undecided.reason, reason, "{model}"),
                other => panic!("{model}: {other:?}"),
            }
        }
    }
}

/// A certificate of consistency has a run of sc or tso if the order of the lines or saturation gives
/// one, and else what the check found; the kernel accepts either.
#[test]
fn certificates_are_runs_of_stronger_models_where_there_are_any() {
    let (mut runs, mut others) = ([0u64; 5], [0u64; 5]);
    for shape in Shape::all() {
        for (seed, history) in random_histories(&shape, 0..40) {
            for (at, model) in MODELS.into_iter().enumerate() {
                let judgement = judge(&history, model, Engine::Auto, &Budget::unlimited());
                let Outcome::Holds(_) = judgement.outcome else { continue };
                let (file, history) = ("trace".into(), history.clone());
                let judged = Judged {
                    trace: Arc::new(Trace { file, number: 1, history }),
                    asked: Asked::Model(model),
                    answer: Answer::Model(judgement),
                    time: Duration::ZERO,
                };
                let history = Arc::clone(&judged.trace);
                let history = &history.history;
                let certificates = judged.certificates(&Limits::default(), &Arc::default());
                let [AnyCertificate::Model(certificate)] = &certificates[..] else {
                    panic!("{model}, seed {seed}: {certificates:?}");
                };
                if let Err(rejection) = certify::certify(history, certificate) {
                    panic!("{model}, seed {seed}: {rejection}\n{}", text(history));
                }
                match certificate.evidence {
                    Evidence::Consistent(Witness::Order(_)) => {
                        runs[at] += 1;
                        let stronger = match model {
                            Model::Cm | Model::Ccm => Model::Sc,
                            _ => Model::Tso,
                        };
                        assert!(allows(history, stronger), "{model}, seed {seed}");
                    }
                    _ => others[at] += 1,
                }
            }
        }
    }
    println!("{runs:?} runs, {others:?} others");
    assert!(runs.iter().all(|&times| times > 50), "{runs:?} {others:?}");
    assert!(others.iter().all(|&times| times > 2), "{runs:?} {others:?}");
}

/// What a check has left of its time, and an interruption, end the search for evidence that is quick
/// to check; what the check found remains.
#[test]
fn a_run_of_a_stronger_model_is_looked_for_within_the_budget() {
    let history = parse_text("0: x := 1\n0: y == 1\n1: y := 1\n1: x == 1").unwrap();
    let outcome = judge(&history, Model::Cm, Engine::Auto, &Budget::unlimited());
    let judged = Judged {
        trace: Arc::new(Trace { file: "trace".into(), number: 1, history }),
        asked: Asked::Model(Model::Cm),
        answer: Answer::Model(outcome),
        time: Duration::from_secs(2),
    };
    let limits = |seconds| Limits { time: Some(Duration::from_secs(seconds)), memory: None };
    let is_run = |limits: Limits, stop: bool| {
        let certificates = judged.clone().certificates(&limits, &Arc::new(stop.into()));
        let [AnyCertificate::Model(certificate)] = &certificates[..] else {
            panic!("{certificates:?}");
        };
        let trace = &judged.trace.history;
        assert!(certify::certify(trace, certificate).is_ok());
        matches!(certificate.evidence, Evidence::Consistent(Witness::Order(_)))
    };
    assert!(is_run(Limits::default(), false) && is_run(limits(60), false));
    assert!(!is_run(limits(1), false), "the check took all its time");
    assert!(!is_run(Limits::default(), true), "interrupted");
}
