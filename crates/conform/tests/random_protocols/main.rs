//! Attempts to make `verify` call a memory protocol right that is not, or show a run that it does
//! not have: random protocols, judged by brute force over all their traces up to a length.
//!
//! `TRIBUNAL_SECONDS` or `TRIBUNAL_TRIALS` make a campaign of it, and `FIRST_SEED` repeats one.

mod brute_force;
mod comparison;
mod machine;
mod mix;
mod protocol;
mod shapes;
mod twists;

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use brute_force::{Found, Known, Limits};
use chance::Rng;
use comparison::{Answer, Said, ask};
use machine::{Event, Trace};
use mix::{HARD, Mix, kinds, treats_values_alike};
use protocol::{Protocol, Reader};
use tribunal_conform::MemoryModel;

/// How long a slice takes.
const SLICE: Duration = Duration::from_secs(6);

/// How far brute force looks.
const LIMITS: Limits = Limits { events: 6, pairs: 3_000 };

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
fn searched(protocol: &Protocol, values: usize, limits: Limits, known: &mut Known) -> Found {
    let text = protocol.text(Reader::BruteForce, values);
    match brute_force::interpreter(&text) {
        Ok(interpreter) => brute_force::search(&interpreter, limits, known),
        Err(why) => panic!("{why}:\n{text}"),
    }
}

/// Tries one protocol. Returns what is wrong.
fn examine(seed: u64, known: &mut Known, mix: &mut Mix) -> Vec<String> {
    let protocol = random(seed);
    // What is said about sequential consistency is about any number of values.
    let values = match treats_values_alike(&protocol) {
        true => protocol.value_count.max(3),
        false => protocol.value_count,
    };
    let found = searched(&protocol, values, LIMITS, known);
    mix.count("programs");
    mix.count(format!("shape: {}", protocol.shape));
    for kind in kinds(&protocol) {
        mix.count(format!("kind: {kind}"));
        if found.not_sc.is_some() {
            mix.count(format!("not sc: {kind}"));
        }
    }
    if protocol.commits && found.not_sc.is_some() && !found.settled {
        mix.count("not sc: only while stores are pending");
    }
    let mut wrong = Vec::new();
    wrong.extend(compare(seed, &protocol, MemoryModel::Sc, &found, mix));
    // With more values than the model has, more may be forbidden.
    if seed.is_multiple_of(4) {
        let found = match values == protocol.value_count {
            true => found,
            false => searched(&protocol, protocol.value_count, LIMITS, known),
        };
        wrong.extend(compare(seed, &protocol, MemoryModel::Tso, &found, mix));
    }
    wrong
}

/// What `verify` says beside what was found.
fn compare(
    seed: u64,
    protocol: &Protocol,
    memory_model: MemoryModel,
    found: &Found,
    mix: &mut Mix,
) -> Option<String> {
    let (name, forbidden) = match memory_model {
        MemoryModel::Sc => ("sc", &found.not_sc),
        MemoryModel::Tso => ("tso", &found.not_tso),
    };
    let Said { answer, wrong, claim } = ask(protocol, memory_model);
    let truth = match (forbidden, found.complete) {
        (Some(_), _) => "a trace is forbidden",
        (None, true) => "no short trace is forbidden",
        (None, false) => "nothing found in time",
    };
    mix.count(format!("{name}: {answer:?}, {truth}"));
    if let Some(claim) = claim {
        mix.count(format!("{name}: {answer:?} by: {claim}"));
    }
    let wrong = match (answer, forbidden) {
        (Answer::Verified, Some(trace)) => format!("verified, but:\n{}", trace.text()),
        _ => wrong?,
    };
    let kinds = kinds(protocol).join(", ");
    mix.count(format!("wrong {name} {answer:?}: {kinds}"));
    let text = protocol.text(Reader::Verify, protocol.value_count);
    Some(format!("seed {seed}, {name}, {} ({kinds}): {wrong}\n{text}", protocol.shape))
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
    let (mut known, mut mix) = (Known::default(), Mix::default());
    let mut wrong = Vec::new();
    let mut seed = first;
    while seed - first < trials.unwrap_or(u64::MAX) && started.elapsed() < time {
        wrong.extend(examine(seed, &mut known, &mut mix));
        seed += 1;
    }
    println!("{} seeds in {:.1} s", seed - first, started.elapsed().as_secs_f64());
    println!("{}", mix.report());
    let shown = &wrong[..wrong.len().min(20)];
    assert!(wrong.is_empty(), "{} wrong answers:\n{}", wrong.len(), shown.join("\n"));
}

#[test]
fn every_kind_of_protocol_is_made_and_is_sometimes_wrong() {
    let (mut known, mut mix) = (Known::default(), Mix::default());
    let limits = Limits { events: 4, pairs: 400 };
    for seed in 0..400 {
        let protocol = random(seed);
        let found = searched(&protocol, protocol.value_count, limits, &mut known);
        mix.count("programs");
        for kind in kinds(&protocol) {
            mix.count(format!("kind: {kind}"));
            if found.not_sc.is_some() {
                mix.count(format!("not sc: {kind}"));
            }
        }
        if protocol.commits && found.not_sc.is_some() && !found.settled {
            mix.count("not sc: only while stores are pending");
        }
    }
    println!("{}", mix.report());
    for kind in HARD {
        assert!(mix.of(&format!("kind: {kind}")) > 2, "{kind} is rare\n{}", mix.report());
        assert!(mix.of(&format!("not sc: {kind}")) > 0, "{kind} is right\n{}", mix.report());
    }
    assert!(mix.of("not sc: only while stores are pending") > 2, "{}", mix.report());
    assert!(2 * mix.of("not sc: equal start") < mix.of("programs"), "{}", mix.report());
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
