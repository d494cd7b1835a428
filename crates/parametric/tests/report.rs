//! What is reported for any number of processors: every verdict with its evidence.

use conform::{MemoryModel, Options};
use evidence::Verdict;
use explore::{Deadlock, Stop};
use murphi::source::Source;
use tribunal_parametric::report::{Open, Report};
use tribunal_parametric::{Answer, AnswerReport, Question, answer, plan};

fn protocol(name: &str) -> Source {
    let path = format!("{}/../../protocols/{name}.m", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("the protocol is there");
    Source { name: format!("{name}.m"), text }
}

/// What is answered about a protocol, and how many certificates and abstractions there are.
fn answered(name: &str, memory_model: Option<MemoryModel>, concrete: Option<u64>) -> AnswerReport {
    let mut options = Options::default();
    options.search.deadlock = Deadlock::Off;
    let source = protocol(name);
    let question = Question {
        source: &source,
        options: &options,
        memory_model,
        processors: None,
        concrete,
        named: true,
        lemmas: None,
    };
    let plan = plan(&question).expect("there is a plan");
    let found = answer(&question, &plan, Some(50), &mut |_, _| (), &Stop::after(None));
    let found: Answer = found.expect("there is an answer");
    let is_verified = found.certificate(&question, &plan).expect("it can be made").is_some();
    let AnswerReport::AnyNumber(report) = &found.report else {
        assert!(!is_verified && found.abstractions(&question).is_empty());
        return found.report;
    };
    assert_eq!(is_verified, matches!(report.verdict, Verdict::Holds(())));
    found.report
}

fn own_claims(name: &str, concrete: Option<u64>) -> Box<Report> {
    match answered(name, None, concrete) {
        AnswerReport::AnyNumber(report) => report,
        AnswerReport::Memory(report) => panic!("{}", report.sentence),
    }
}

#[test]
fn a_verified_protocol_has_lemmas_and_an_audit() {
    let report = own_claims("german", None);
    assert!(matches!(report.verdict, Verdict::Holds(())), "{}", report.sentence);
    assert!(
        report.sentence.starts_with("2 invariants hold for any number of processors, 2 or more")
    );
    assert_eq!(report.claims.len(), 1);
    assert!(report.claims[0].holds == Some(true) && !report.claims[0].lemmas.is_empty());
    assert!(report.audit.expect("it was tried out").steps >= 50);
}

#[test]
fn a_broken_protocol_has_a_run_of_an_instance() {
    let report = own_claims("broken/german-write-back-lost", None);
    let Verdict::Broken(broken) = &report.verdict else { panic!("{}", report.sentence) };
    let run = broken.finding.counterexample.as_ref().expect("there is a run");
    assert_eq!((broken.processors, run.steps.len()), (2, 10));
    assert!(report.audit.is_none());
}

#[test]
fn a_missing_lemma_comes_with_the_run_that_it_would_exclude() {
    let report = own_claims("mcs-lock", Some(2));
    let Verdict::Undecided(Open::Missing(Some(missing))) = &report.verdict else {
        panic!("{}", report.sentence)
    };
    assert!(missing.finding.is_some() && missing.wider == 3, "{missing:?}");
}

#[test]
fn a_violation_of_the_memory_model_is_one_of_the_protocol_with_so_many_processors() {
    let told = answered("broken/mi-stale-put-taken", Some(MemoryModel::Sc), None);
    let AnswerReport::Memory(report) = told else { panic!("it is about the memory model") };
    assert_eq!((report.verdict_name(), report.sizes.processors), ("violation", 2));
    assert!(report.memory().is_some());
}
