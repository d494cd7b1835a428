//! Attempts to make the abstraction call something safe that is not.

mod examine;
mod hostile;
mod judge;
mod sketch;

use chance::Rng;
use examine::{Mix, Plan, examine, reduced};
use judge::{Found, Said, instance, read, said};
use tribunal_parametric::find_processor;

#[test]
fn what_fails_with_more_processors_is_not_called_safe() {
    let mut wrong = Vec::new();
    for each in hostile::all() {
        let program = read(&each.text);
        let processor = find_processor(&program, None).expect("there are processors");
        let found = instance(&program, &processor, each.fails_with);
        if !matches!(found, Found::Wrong(_)) {
            wrong.push(format!("{}: {found:?} with {}", each.name, each.fails_with));
        }
        for concrete in 1..=3 {
            let said = said(&program, concrete, |_| Vec::new());
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

#[test]
fn random_programs_are_not_called_safe_if_they_are_not() {
    let (trials, first) = (number("TRIBUNAL_TRIALS", 60), number("FIRST_SEED", 0));
    let mut mix = Mix::default();
    for seed in first..first + trials {
        let mut rng = Rng::numbered(11, seed);
        let sketch = sketch::random(&mut rng);
        let plan = Plan {
            concrete: if rng.percent(35) { 1 } else { 2 },
            lemmas: rng.bits(),
            verify: rng.percent(12),
        };
        if let Err(why) = examine(&sketch, plan, &mut mix) {
            let (sketch, why) = reduced(&sketch, plan, why);
            panic!("seed {seed}, {plan:?}: {why}\n{}", sketch.text());
        }
        if (seed + 1) % 500 == 0 {
            eprintln!("seed {seed}: {mix:?}");
        }
    }
    eprintln!("{mix:?}");
    let wrong: usize = mix.wrong_first_with.iter().sum();
    assert!(mix.safe * 20 > mix.programs, "hardly any is called safe: {mix:?}");
    assert!(wrong * 20 > mix.programs, "hardly any is wrong: {mix:?}");
    assert!(mix.refused * 10 < mix.programs * 9, "most are refused: {mix:?}");
}
