//! Attempts to make the abstraction call something safe that is not.

mod adversary;
mod copies;
mod examine;
mod hostile;
mod judge;
mod sabotage;
mod sketch;
mod words;

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use adversary::new_seed;
use chance::Rng;
use examine::{Mix, Plan, examine, reduced};
use judge::{Found, Said, abstracted, by_the_loop, instance, read, said, source};
use recheck::read_lemmas;
use refine::{Verdict, Verification};
use sabotage::Sabotage;
use sketch::Sketch;
use tribunal_abstraction::{View, find_processor, prepare};

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
        for (concrete, named) in (1..=3).flat_map(|count| [(count, false), (count, true)]) {
            let view = View { concrete, named };
            let given = |prepared: &_| {
                read_lemmas(&source(&each.given), prepared).expect("they are lemmas")
            };
            let said = said(&program, view, Sabotage::Nothing, given);
            println!("{} with {view:?}: {said:?}", each.name);
            if matches!(said, Said::Holds) {
                wrong.push(format!("{} is called safe with {view:?}", each.name));
            }
            if let Said::Broken(why) = said {
                wrong.push(format!("{} becomes no program with {view:?}: {why}", each.name));
            }
        }
        let Ok(prepared) = prepare(&program, Some("P")) else { continue };
        for (concrete, named) in [(2, false), (2, true), (3, false)] {
            let given = read_lemmas(&source(&each.given), &prepared).expect("they are lemmas");
            let found = by_the_loop(&prepared, View { concrete, named }, given);
            let is_verified = |found: &Verification| {
                matches!(found.verdict, Verdict::Holds(())) && found.left_out.is_empty()
            };
            if found.is_ok_and(|found| is_verified(&found)) {
                wrong.push(format!("{} is verified with {concrete}", each.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_would_depend_on_the_number_of_processors_is_refused() {
    let refused = |types: &str, rules: &str| {
        let text = format!(
            "const N: 3; M: N - 1;
             type {types}
             var st: array [P] of boolean; owner: P; level: 0..4; next: array [P] of P;
             startstate begin for p: P do st[p] := false; end; level := 0; end;
             ruleset p: P do rule \"come\" !st[p] ==> begin st[p] := true; end; end;
             {rules}"
        );
        match abstracted(&read(&text), View { concrete: 2, named: false }, |_| Vec::new()) {
            Ok(_) => panic!("this should be refused:\n{text}"),
            Err(why) => why,
        }
    };
    let plain = "P: scalarset(N);";
    for (types, rules, words) in [
        // What the size is computed from is as much a number of processors as the size.
        ("P: scalarset(M + 1);", "invariant \"x\" level <= M;", "depends on the number"),
        (plain, "ruleset i: 1..N do rule level = i ==> begin level := 0; end; end;", "the number"),
        (plain, "invariant \"x\" forall i: 1..N do level < i end;", "depends on the number"),
        (plain, "rule begin for i: 1..M do level := i; end; end;", "depends on the number"),
        (plain, "rule var i: 1..N; begin i := 1; level := i; end;", "depends on the number"),
        ("P, Q: scalarset(N);", "", "shares its declaration"),
        (plain, "ruleset p: P; level: 0..1 do rule begin st[p] := level = 0; end; end;", "hides"),
        (plain, "rule begin if st = st then level := 0; end; end;", "as a whole"),
        (
            plain,
            "ruleset p: P; q: P do rule begin owner := (st[p] ? p : q); end; end;",
            "chooses between two processors",
        ),
    ] {
        let why = refused(types, rules);
        assert!(why.contains(words), "{rules}: {why}");
    }
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
    let view = View { concrete, named: Rng::numbered(12, seed).percent(50) };
    let plan = Plan { view, lemmas: rng.bits(), verify: rng.percent(25), sabotage };
    (sketch, plan)
}

/// Where to look for a program that shows a mistake, and among how many.
const NOTICED: [(Sabotage, u64, u64); 4] = [
    (Sabotage::UncheckedLemmas, 180, 40),
    (Sabotage::DroppedAssertions, 0, 80),
    (Sabotage::SilentOthers, 0, 20),
    (Sabotage::IdleOthers, 0, 20),
];

#[test]
fn mistakes_that_are_made_on_purpose_are_noticed() {
    for (sabotage, first, count) in NOTICED {
        let is_noticed = |seed: &u64| {
            let (sketch, plan) = planned(*seed);
            let plan = Plan { sabotage, verify: false, ..plan };
            let found = examine(&sketch, plan, &mut Mix::default());
            let words = ["called safe", "is not seen"];
            matches!(found, Err(why) if words.iter().any(|words| why.contains(words)))
        };
        let noticed = (first..first + count).find(is_noticed);
        eprintln!("{sabotage:?} is noticed by program {noticed:?}");
        assert!(noticed.is_some(), "{sabotage:?} is not noticed");
    }
}

/// Looks at the programs of these seeds, and says what is wrong.
fn campaign(seeds: std::ops::Range<u64>) -> (Mix, Vec<String>) {
    let (next, first) = (AtomicU64::new(seeds.start), seeds.start);
    let work = || {
        let (mut mix, mut wrong) = (Mix::default(), Vec::new());
        loop {
            let seed = next.fetch_add(1, Relaxed);
            if seed >= seeds.end || wrong.len() > 5 {
                return (mix, wrong);
            }
            let (sketch, plan) = planned(seed);
            if let Err(why) = examine(&sketch, plan, &mut mix) {
                let (sketch, why) = reduced(&sketch, plan, why);
                let message = format!("FIRST_SEED={seed}, {plan:?}: {why}\n{}", sketch.text());
                eprintln!("{message}");
                wrong.push(message);
            }
            if (seed - first + 1) % 1_000 == 0 {
                eprintln!("seed {seed}, of one worker: {mix:?}");
            }
        }
    };
    let (mut mix, mut wrong) = (Mix::default(), Vec::new());
    std::thread::scope(|scope| {
        let workers = number("TRIBUNAL_WORKERS", 1).max(1);
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            let (own, found) = worker.join().expect("a worker does not panic");
            mix.add(&own);
            wrong.extend(found);
        }
    });
    (mix, wrong)
}

#[test]
fn random_programs_are_not_called_safe_if_they_are_not() {
    let (trials, first) = (number("TRIBUNAL_TRIALS", 60), number("FIRST_SEED", new_seed()));
    eprintln!("FIRST_SEED={first} TRIBUNAL_TRIALS={trials}");
    let (mix, wrong) = campaign(first..first + trials);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    eprintln!("{mix:?}");
}

#[test]
fn random_programs_are_safe_wrong_and_refused() {
    let mix = campaign(0..60).0;
    let wrong: usize = mix.wrong_first_with.iter().sum();
    assert!(mix.safe * 20 > mix.programs, "hardly any is called safe: {mix:?}");
    assert!(wrong * 20 > mix.programs, "hardly any is wrong: {mix:?}");
    assert!(mix.refused * 10 < mix.programs * 7, "most are refused: {mix:?}");
}
