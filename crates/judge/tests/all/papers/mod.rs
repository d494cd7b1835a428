//! The claims of the papers, as tests: one module a paper, one test a figure or lemma.

mod efficient_tso_verification;
mod framework_for_consistency_algorithms;
mod gradual_consistency_checking;
mod tso_cc_verification;

use certify::certify;
use evidence::{Certificate, Evidence};
use history::History;
use models::Model;
use tribunal_judge::{Budget, Engine, Judgement, Outcome, judge};

/// The verdict of the default engine, with its evidence checked by the kernel.
fn verdict(history: &History, model: Model) -> Judgement {
    verdict_by(history, model, Engine::Auto)
}

fn verdict_by(history: &History, model: Model, engine: Engine) -> Judgement {
    let verdict = judge(history, model, engine, &Budget::unlimited());
    let evidence = match verdict.outcome.clone() {
        Outcome::Holds(witness) => Evidence::Consistent(witness),
        Outcome::Broken(proof) => Evidence::Violation(proof),
        Outcome::Undecided(_) => return verdict,
    };
    if let Err(rejection) = certify(history, &Certificate { trace: 1, model, evidence }) {
        panic!("the kernel rejects the evidence under {model}: {rejection}");
    }
    verdict
}

fn parse(text: &str) -> History {
    history::parse_text(text).unwrap_or_else(|error| panic!("{}", error.render(false)))
}

/// Asserts which models allow a history and which do not.
fn assert_verdicts(text: &str, allowed: &[Model], forbidden: &[Model]) {
    let history = parse(text);
    for (models, expected) in [(allowed, true), (forbidden, false)] {
        for &model in models {
            let outcome = verdict(&history, model).outcome;
            let consistent = matches!(outcome, Outcome::Holds(_));
            assert_eq!(consistent, expected, "{model} gives {outcome:?} for\n{text}");
        }
    }
}
