//! Attempts to make `verify` call a memory protocol right that is not, or show a run that it does
//! not have: random protocols, judged by brute force over all their traces up to a length.
//!
//! `TRIBUNAL_SECONDS` or `TRIBUNAL_TRIALS` make a campaign of it, `TRIBUNAL_WORKERS` is with how many
//! threads, and `FIRST_SEED` repeats one. A seed names a protocol.

mod brute_force;
mod comparison;
mod machine;
mod mix;
mod protocol;
mod sabotage;
mod shapes;
mod twists;

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use brute_force::{Found, Known, Limits, Wanted};
use chance::Rng;
use comparison::{Answer, Said, ask};
use machine::{Event, Trace};
use mix::{Mix, kinds, treats_values_alike};
use protocol::{Protocol, Reader};
use sabotage::Sabotage;
use tribunal_conform::MemoryModel;

/// How long a slice takes.
const SLICE: Duration = Duration::from_secs(6);

/// How far brute force looks.
const LIMITS: Limits = Limits {
    events: 6,
    pairs: 4_000,
    runs: 5_000,
    wanted: Wanted::Settled,
    symmetric: false,
    differentiated: false,
};

/// Among so many protocols that a mistake is about there is one that shows it.
const NOTICED: usize = 40;

/// A number from the environment.
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|number| number.parse().ok())
}

/// The protocol of a seed.
fn random(seed: u64) -> Protocol {
    let mut rng = Rng::numbered(17, seed);
    let mut protocol = shapes::shape(&mut rng);
    twists::twist(&mut rng, &mut protocol);
    protocol
}

/// What brute force finds with so many values.
fn searched(protocol: &Protocol, values: usize, wanted: Wanted, known: &mut Known) -> Found {
    let text = protocol.text(Reader::BruteForce, values);
    let differentiated = wanted != Wanted::NotTso && treats_values_alike(protocol);
    let limits = Limits { wanted, symmetric: protocol.symmetric, differentiated, ..LIMITS };
    match brute_force::interpreter(&text) {
        Ok(interpreter) => brute_force::search(&interpreter, limits, known),
        Err(why) => panic!("{why}:\n{text}"),
    }
}

/// What brute force finds about sequential consistency. What is said about that is about any number
/// of values.
fn judged(protocol: &Protocol, known: &mut Known) -> Found {
    let values = match treats_values_alike(protocol) {
        true => protocol.value_count.max(3),
        false => protocol.value_count,
    };
    let wanted = if protocol.commits { Wanted::Settled } else { Wanted::NotSc };
    searched(protocol, values, wanted, known)
}

/// Tries one protocol. Returns what is wrong.
fn examine(seed: u64, sabotage: Sabotage, known: &mut Known, mix: &mut Mix) -> Vec<String> {
    let before = Instant::now();
    let protocol = random(seed);
    let found = judged(&protocol, known);
    mix.made(&protocol, &found);
    mix.truth += before.elapsed();
    let before = Instant::now();
    let mut wrong = Vec::new();
    let mut compare = |memory_model, forbidden: &Option<Trace>| {
        let Said { answer, wrong: why, claim } = ask(&protocol, memory_model, sabotage);
        let why = match (answer, forbidden) {
            (Answer::Verified, Some(trace)) => Some(format!("verified, but:\n{}", trace.text())),
            _ => why,
        };
        let (is_broken, is_wrong) = (forbidden.is_some(), why.is_some());
        match memory_model {
            MemoryModel::Sc => mix.said(&protocol, answer, is_broken, is_wrong),
            MemoryModel::Tso => mix.tso.said(answer, is_broken, is_wrong),
        }
        if let Some(claim) = claim {
            *mix.claims.entry(format!("{memory_model:?}: {answer:?} by: {claim}")).or_default() +=
                1;
        }
        wrong.extend(why.map(|why| {
            let (kinds, text) =
                (kinds(&protocol), protocol.text(Reader::Verify, protocol.value_count));
            format!(
                "FIRST_SEED={seed} TRIBUNAL_TRIALS=1, {memory_model:?}, {kinds:?}: {why}\n{text}"
            )
        }));
    };
    // What is said about a protocol that is right, as far as is known, can be wrong in one way only:
    // by a violation that is made up. It is asked less often.
    let is_asked = found.not_sc.is_some() || seed.is_multiple_of(3);
    if is_asked {
        compare(MemoryModel::Sc, &found.not_sc);
    }
    // With more values than the model has, more may be forbidden.
    if is_asked && seed.is_multiple_of(4) {
        let found = searched(&protocol, protocol.value_count, Wanted::NotTso, known);
        compare(MemoryModel::Tso, &found.not_tso);
    }
    mix.answers += before.elapsed();
    wrong
}

/// What a campaign found.
#[derive(Default)]
struct Campaign {
    seeds: u64,
    mix: Mix,
    wrong: Vec<String>,
}

/// Tries protocols from a seed on until there are enough or there is no more time.
fn campaign(first: u64, trials: u64, time: Duration, workers: u64) -> Campaign {
    let (started, next) = (Instant::now(), AtomicU64::new(0));
    let work = || {
        let (mut known, mut own) = (Known::default(), Campaign::default());
        while started.elapsed() < time {
            let number = next.fetch_add(1, Relaxed);
            if number >= trials {
                break;
            }
            let seed = first.wrapping_add(number);
            own.wrong.extend(examine(seed, Sabotage::Nothing, &mut known, &mut own.mix));
            own.seeds += 1;
            if number % 5_000 == 4_999 {
                println!("{number} done after {:.0} s", started.elapsed().as_secs_f64());
            }
        }
        own
    };
    let mut all = Campaign::default();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers.max(1)).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            let own = worker.join().expect("a worker does not panic");
            all.seeds += own.seeds;
            all.mix.add(&own.mix);
            all.wrong.extend(own.wrong);
        }
    });
    all
}

#[test]
fn no_protocol_with_a_forbidden_trace_is_verified_and_no_violation_is_made_up() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |time| time.as_micros() as u64);
    let first = number("FIRST_SEED").unwrap_or(now);
    let (seconds, trials) = (number("TRIBUNAL_SECONDS"), number("TRIBUNAL_TRIALS"));
    let time = match (seconds, trials) {
        (Some(seconds), _) => Duration::from_secs(seconds),
        (None, Some(_)) => Duration::MAX,
        (None, None) => SLICE,
    };
    println!("FIRST_SEED={first}");
    let started = Instant::now();
    let workers = number("TRIBUNAL_WORKERS").unwrap_or(1);
    let Campaign { seeds, mix, wrong } = campaign(first, trials.unwrap_or(u64::MAX), time, workers);
    println!("{seeds} seeds in {:.1} s\n{mix}", started.elapsed().as_secs_f64());
    let shown = &wrong[..wrong.len().min(20)];
    assert!(wrong.is_empty(), "{} wrong answers:\n{}", wrong.len(), shown.join("\n"));
}

#[test]
fn every_kind_of_protocol_is_made_and_is_often_wrong() {
    let (mut known, mut mix) = (Known::default(), Mix::default());
    for seed in 0..Mix::FIXED {
        let protocol = random(seed);
        let found = judged(&protocol, &mut known);
        mix.made(&protocol, &found);
    }
    println!("{mix}");
    mix.is_aimed_well();
}

#[test]
fn mistakes_on_purpose_are_noticed() {
    for sabotage in Sabotage::ALL {
        let mut known = Known::default();
        let mut is_noticed = |seed: &u64| {
            let found = examine(*seed, sabotage, &mut known, &mut Mix::default());
            found.iter().any(|why| why.contains("verified, but"))
        };
        let concerned = (0..).filter(|&seed| sabotage.concerns(&random(seed))).take(NOTICED);
        let noticed = concerned.into_iter().find(|seed| is_noticed(seed));
        println!("{sabotage:?} is noticed by the protocol of seed {noticed:?}");
        assert!(noticed.is_some(), "{sabotage:?} is not noticed by the first {NOTICED}");
    }
}

#[test]
fn the_machines_agree_with_the_definitions_of_the_models() {
    let mut seen = [0; 4];
    for seed in 0..1_500 {
        let mut rng = Rng::numbered(3, seed);
        let mut trace = Trace::default();
        for address in 0..2 {
            trace.begin(address, 0);
        }
        for _ in 0..4 + rng.below(3) {
            let processor = rng.below(3) as u8;
            let (address, is_store) = (rng.below(2) as u8, rng.percent(45));
            let value = u8::from(is_store) + rng.below(2) as u8;
            trace.push(Event { processor, is_store, address, value });
        }
        // What nobody has stored is no trace for the definitions.
        let Ok(history) = history::parse_text(&trace.text()) else { continue };
        for (queues, model) in [(false, models::Model::Sc), (true, models::Model::Tso)] {
            let allowed = machine::allows(&trace, queues);
            assert_eq!(allowed, oracle::allows(&history, model), "{model}:\n{}", trace.text());
            seen[2 * usize::from(queues) + usize::from(allowed)] += 1;
        }
    }
    assert!(seen.iter().all(|&count| count > 50), "{seen:?}");
}
