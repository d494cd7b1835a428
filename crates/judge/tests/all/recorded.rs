//! The recorded order is a hint: true, false or missing, it changes no verdict, and what it explains
//! the kernel accepts.

use certify::certify;
use evidence::{Certificate, Evidence};
use history::{History, parse_text};
use models::Model;
use oracle::{Shape, allows, random_histories, text};
use tribunal_judge::{Budget, Engine, Outcome, judge};

const STORE_MODELS: [Model; 6] =
    [Model::Sc, Model::Tso, Model::Pso, Model::Wmo, Model::Rmo, Model::Coherence];

/// How many random histories of each shape to try; `TRIBUNAL_TRIALS` overrides it for long runs.
fn trials() -> u64 {
    std::env::var("TRIBUNAL_TRIALS").ok().and_then(|n| n.parse().ok()).unwrap_or(2_500)
}

/// The same history, recorded in a random order that keeps the order of each thread.
pub(crate) fn interleaved(history: &History, seed: u64) -> History {
    let text = text(history);
    let mut threads: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut others = Vec::new();
    for line in text.lines() {
        match line.split_once(':') {
            Some((thread, _)) if thread.bytes().all(|byte| byte.is_ascii_digit()) => {
                match threads.iter_mut().find(|(known, _)| *known == thread) {
                    Some((_, events)) => events.push(line),
                    None => threads.push((thread, vec![line])),
                }
            }
            _ => others.push(line),
        }
    }
    threads.iter_mut().for_each(|(_, events)| events.reverse());
    let mut random = seed;
    let mut lines = Vec::new();
    while !threads.is_empty() {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let thread = (random >> 33) as usize % threads.len();
        lines.extend(threads[thread].1.pop());
        threads.retain(|(_, events)| !events.is_empty());
    }
    // `check` ends the trace.
    let end = others.iter().position(|line| *line == "check").unwrap_or(others.len());
    let (before, end) = others.split_at(end);
    let all: Vec<&str> = lines.into_iter().chain(before.iter().chain(end).copied()).collect();
    parse_text(&all.join("\n")).unwrap()
}

#[test]
fn no_order_of_the_lines_changes_a_verdict() {
    let (mut explained, mut consistent) = ([0; 6], [0; 6]);
    for shape in Shape::all() {
        for (seed, history) in random_histories(&shape, 0..trials()) {
            let history = match text(&history).contains("check") {
                true => interleaved(&history, seed),
                false => continue,
            };
            for (at, model) in STORE_MODELS.into_iter().enumerate() {
                let allowed = allows(&history, model);
                consistent[at] += u32::from(allowed);
                let judged = judge(&history, model, Engine::Recorded, &Budget::unlimited());
                let Outcome::Holds(witness) = judged.outcome else { continue };
                explained[at] += 1;
                assert!(allowed, "{model}, seed {seed}:\n{}", text(&history));
                let evidence = Evidence::Consistent(witness);
                let certificate = Certificate { trace: 1, model, evidence };
                if let Err(why) = certify(&history, &certificate) {
                    let shown = certificate.to_json(&history);
                    panic!("{model}, seed {seed}: {why}\n{}\n{shown}", text(&history));
                }
            }
        }
    }
    // Orders of every kind are met: some explain, by replay alone (sc) and by buffers, some do not.
    println!("explained {explained:?} of {consistent:?}");
    let shares = explained.iter().zip(&consistent).map(|(part, all)| 100 * part / all);
    assert!(shares.clone().all(|share| share > 5), "{explained:?} of {consistent:?}");
    assert!(shares.into_iter().all(|share| share < 95), "{explained:?} of {consistent:?}");
    assert!(explained[1] > explained[0] + 50, "store buffers explain more: {explained:?}");
}
