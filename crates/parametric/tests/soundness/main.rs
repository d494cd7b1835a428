//! Attempts to make the abstraction call something safe that is not.

mod examine;
mod hostile;
mod judge;
mod sketch;

use chance::Rng;
use examine::{Mix, Plan, examine, reduced};
use judge::{Found, Sabotage, Said, instance, read, said};
use sketch::Sketch;
use tribunal_parametric::find_processor;

#[test]
fn what_fails_with_more_processors_is_not_called_safe() {
    let mut wrong = Vec::new();
    for each in hostile::all() {
        let program = read(&each.text);
        let processor = find_processor(&program, Some("P")).expect("there are processors");
        let found = instance(&program, &processor, each.fails_with);
        if !matches!(found, Found::Wrong(_)) {
            wrong.push(format!("{}: {found:?} with {}", each.name, each.fails_with));
        }
        for concrete in 1..=3 {
            let said = said(&program, concrete, Sabotage::Nothing, |_| Vec::new());
            println!("{} with {concrete}: {said:?}", each.name);
            if matches!(said, Said::Holds) {
                wrong.push(format!("{} is called safe with {concrete}", each.name));
            }
            if let Said::Broken(why) = said {
                wrong.push(format!("{} becomes no program with {concrete}: {why}", each.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// How many random programs are tried; `TRIBUNAL_TRIALS` overrides it for long runs, and
/// `FIRST_SEED` begins elsewhere.
fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|number| number.parse().ok()).unwrap_or(otherwise)
}

/// A program, and what is done with it.
fn planned(seed: u64) -> (Sketch, Plan) {
    let mut rng = Rng::numbered(11, seed);
    let concrete = if rng.percent(20) { 1 } else { 2 };
    let sketch = sketch::random(&mut rng, concrete);
    let sabotage = Sabotage::Nothing;
    let plan = Plan { concrete, lemmas: rng.bits(), verify: rng.percent(25), sabotage };
    (sketch, plan)
}

#[test]
fn mistakes_that_are_made_on_purpose_are_noticed() {
    for sabotage in [Sabotage::UncheckedLemmas, Sabotage::SilentOthers] {
        let is_noticed = |seed: u64| {
            let (sketch, plan) = planned(seed);
            let plan = Plan { sabotage, verify: false, ..plan };
            examine(&sketch, plan, &mut Mix::default()).is_err()
        };
        let first = (0..300).find(|&seed| is_noticed(seed));
        eprintln!("{sabotage:?} is noticed by program {first:?}");
        assert!(first.is_some(), "{sabotage:?} is not noticed");
    }
}

#[test]
fn random_programs_are_not_called_safe_if_they_are_not() {
    let (trials, first) = (number("TRIBUNAL_TRIALS", 60), number("FIRST_SEED", 0));
    let mut mix = Mix::default();
    let mut wrong = Vec::new();
    for seed in first..first + trials {
        let (sketch, plan) = planned(seed);
        if let Err(why) = examine(&sketch, plan, &mut mix) {
            let (sketch, why) = reduced(&sketch, plan, why);
            wrong.push(format!("seed {seed}, {plan:?}: {why}\n{}", sketch.text()));
            if wrong.len() > 5 {
                break;
            }
        }
        if (seed + 1) % 500 == 0 {
            eprintln!("seed {seed}: {mix:?}");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    eprintln!("{mix:?}");
    let wrong: usize = mix.wrong_first_with.iter().sum();
    assert!(mix.safe * 20 > mix.programs, "hardly any is called safe: {mix:?}");
    assert!(wrong * 20 > mix.programs, "hardly any is wrong: {mix:?}");
    assert!(mix.refused * 10 < mix.programs * 7, "most are refused: {mix:?}");
}
