//! An adversary: random programs with random claims, errors and lemmas, aimed at what the
//! abstraction could miss, and the truth about them by exhaustive search of instances with 2 to 7
//! processors.
//!
//! ```text
//! cargo test --release -p tribunal-abstraction --test soundness adversary -- --nocapture
//! ```
//!
//! The seed is new each time and is printed. `ADVERSARY_SEED` repeats a run,
//! `ADVERSARY_FAMILIES` says how many families of programs are tried (each has about ten programs),
//! `ADVERSARY_FIRST` the number of the first, `TRIBUNAL_WORKERS` with how many threads, and
//! `ADVERSARY_SHOW` how many wrong answers are made smaller and shown. A seed and a number name a
//! family.

mod claims;
mod dynamics;
mod errors;
mod examine;
mod family;
mod faults;
mod features;
mod lemmas;
mod mix;
mod program;
mod truth;
mod words;

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use chance::Rng;
use examine::{Wrong, examine, reduced};
use mix::Mix;
use tribunal_abstraction::find_processor;

use crate::judge::{Found, instance, read};
use crate::number;
use crate::sabotage::Sabotage;

/// A seed that was not used before.
pub(crate) fn new_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(1, |now| now.as_nanos() as u64) % 1_000_000_007
}

/// A wrong answer as a file for the folder of hostile programs.
fn shown(wrong: &Wrong) -> String {
    let Wrong { program, kind, way, least, why } = wrong;
    let least = least.map_or_else(String::new, |least| format!("-- fails with {least}\n"));
    let lemmas = program.lemmas.iter().map(|lemma| format!("-- given: {lemma}\n"));
    let lemmas: String = lemmas.collect();
    format!("-- {kind:?}, {way:?}: {why}\n{least}{lemmas}{}", program.text())
}

/// Makes a family and asks about its members.
fn run_family(seed: u64, number: u64, sabotage: Sabotage, mix: &mut Mix) -> Vec<Wrong> {
    let mut rng = Rng::numbered(seed, number);
    let before = Instant::now();
    let members = family::random(&mut rng);
    mix.families += 1;
    mix.truth += before.elapsed();
    let before = Instant::now();
    let mut wrong = Vec::new();
    for member in members {
        wrong.extend(examine(&member, sabotage, &mut rng, mix));
    }
    mix.answers += before.elapsed();
    wrong
}

/// Runs families, shows the first wrong answers, and counts all.
fn run(seed: u64, families: u64) -> (Mix, usize) {
    let (most, first) = (number("ADVERSARY_SHOW", 5) as usize, number("ADVERSARY_FIRST", 0));
    let (next, wrong) = (AtomicU64::new(0), AtomicUsize::new(0));
    let work = || {
        let mut mix = Mix::default();
        loop {
            let number = next.fetch_add(1, Relaxed);
            if number >= families {
                return mix;
            }
            for found in run_family(seed, first + number, Sabotage::Nothing, &mut mix) {
                if wrong.fetch_add(1, Relaxed) < most {
                    eprintln!("family {}:\n{}", first + number, shown(&reduced(&found)));
                }
            }
            if (number + 1) % 1_000 == 0 {
                eprintln!("after {} families, of one worker: {mix}", number + 1);
            }
        }
    };
    let mut all = Mix::default();
    std::thread::scope(|scope| {
        let workers = number("TRIBUNAL_WORKERS", 1).max(1);
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            all.add(&worker.join().expect("a worker does not panic"));
        }
    });
    eprintln!("{all}");
    (all, wrong.into_inner())
}

#[test]
fn adversary_finds_no_broken_program_that_is_verified() {
    let seed = number("ADVERSARY_SEED", new_seed());
    let families = number("ADVERSARY_FAMILIES", 40);
    eprintln!("ADVERSARY_SEED={seed} ADVERSARY_FAMILIES={families}");
    let (_, wrong) = run(seed, families);
    assert_eq!(wrong, 0, "wrong answers with ADVERSARY_SEED={seed}, shown above");
}

#[test]
fn adversary_makes_programs_of_every_kind() {
    let mut mix = Mix::default();
    for number in 0..Mix::FIXED {
        run_family(1, number, Sabotage::Nothing, &mut mix);
    }
    eprintln!("{mix}");
    mix.is_aimed_well();
}

/// The truth is found with states sorted by processors. Without any exchange of processors, and by
/// another engine, it must be the same.
#[test]
fn the_truth_of_the_adversary_is_that_of_a_plain_search() {
    let seed = number("ADVERSARY_SEED", new_seed());
    eprintln!("ADVERSARY_SEED={seed}");
    let mut compared = [0, 0];
    for number in 0..12 {
        for member in family::random(&mut Rng::numbered(seed, number)) {
            let text = member.program.text();
            let program = read(&text);
            let processor = find_processor(&program, Some("P")).expect("there are processors");
            for count in 2..=4.min(member.known_to) {
                let is_broken = member.broken.least_from(count) == Some(count);
                match instance(&program, &processor, count) {
                    Found::TooLarge => continue,
                    found => assert_eq!(
                        matches!(found, Found::Wrong(_)),
                        is_broken,
                        "family {number} with {count}: {found:?}\n{text}"
                    ),
                }
                compared[usize::from(is_broken)] += 1;
            }
        }
    }
    assert!(compared.iter().all(|&count| count > 5), "little was compared: {compared:?}");
}

/// Among so many families there is one that shows a mistake.
const NOTICED: u64 = 25;

#[test]
fn mistakes_on_purpose_are_noticed_by_the_adversary() {
    for sabotage in Sabotage::ALL {
        let is_noticed = |number: &u64| {
            let found = run_family(1, *number, sabotage, &mut Mix::default());
            found.iter().any(|wrong| wrong.why.contains("verified"))
        };
        let noticed = (0..NOTICED).find(is_noticed);
        eprintln!("{sabotage:?} is noticed by family {noticed:?}");
        assert!(noticed.is_some(), "{sabotage:?} is not noticed");
    }
}
