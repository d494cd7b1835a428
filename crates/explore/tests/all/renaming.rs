//! Renaming members of scalarsets and running rules may be exchanged.
//!
//! This is what symmetry reduction rests on, asked of random programs that use every construct of the
//! language, in random states: what a program does in a renamed state is, renamed, what it does in the
//! state. Scalarsets whose order may show ([`Model::ordered`]) are not renamed. The renaming is by
//! definition (`symmetry_support.rs`) and shares nothing with the reduction. A long run:
//! `TRIBUNAL_TRIALS=100000 FIRST_SEED=0`.

use std::sync::Arc;

use crate::symmetric_programs::{first_seed, number};
use crate::symmetry_support::{
    Oracle, Permutations, Random, Value, random_permutations, shuffled, sorted,
};
use murphi::interpret::Interpreter;
use murphi::ir::Model;
use murphi::machine::{Check, Machine, Outcome, Successors};
use murphi::random;
use murphi::source::Source;

/// States of each program that are looked at.
const STATES: usize = 12;

/// What kinds of programs and steps there were.
#[derive(Debug, Default)]
struct Mix {
    programs: usize,
    /// Those with a scalarset whose order may show.
    ordered: usize,
    /// Those with a scalarset to rename.
    renamed: usize,
    steps: usize,
    failures: usize,
    excluded: usize,
    broken: usize,
}

/// What a program does in a state: outcomes with the states they lead to, in no order, and what is
/// said of its properties.
#[derive(Debug, PartialEq, Eq)]
struct Deeds {
    steps: Vec<(u32, u8, Vec<Value>)>,
    check: Option<Check>,
    covered: Vec<bool>,
}

fn load(text: &str) -> Arc<Model> {
    let source = Source { name: "random.m".to_owned(), text: text.to_owned() };
    let options = random::options();
    Arc::new(murphi::load(source, &options).expect("random programs are programs").model)
}

/// What a program does from its start, or in a state, with members renamed afterwards.
fn deeds(
    interpreter: &Interpreter,
    state: Option<&[u8]>,
    oracle: &Oracle<'_>,
    renaming: Option<&Permutations>,
) -> Deeds {
    let mut machine = interpreter.clone();
    let mut batch = Successors::new(oracle.layout.size as usize);
    match state {
        Some(state) => machine.expand(state, &mut batch),
        None => Machine::start(&mut machine, &mut batch),
    }
    let check = state.map(|state| machine.check(state));
    let mut steps: Vec<_> = batch
        .firings
        .iter()
        .enumerate()
        .map(|(number, firing)| {
            let after = match firing.outcome {
                Outcome::Done => {
                    let values = oracle.decode(batch.state(number));
                    sorted(&renaming.map_or(values.clone(), |by| oracle.permute(&values, by)))
                }
                _ => Vec::new(),
            };
            (firing.rule, firing.outcome as u8, after)
        })
        .collect();
    steps.sort();
    Deeds { steps, check, covered: machine.covered().to_vec() }
}

fn examine(seed: u64, mix: &mut Mix) -> Result<(), String> {
    let text = random::source(seed);
    let model = load(&text);
    let interpreter = Interpreter::new(model.clone()).map_err(|why| format!("{why:?}"))?;
    let layout = interpreter.layout().clone();
    let oracle = Oracle { model: &model, layout: &layout };
    let scalarsets = oracle.scalarsets();
    mix.programs += 1;
    mix.ordered += usize::from(model.ordered.iter().any(|ordered| !ordered.at_start));
    if scalarsets.is_empty() {
        return Ok(());
    }
    mix.renamed += 1;
    let mut values = random::Random::new(seed);
    let random = &mut Random(seed | 1);
    let renaming = random_permutations(&scalarsets, random);
    let start = deeds(&interpreter, None, &oracle, Some(&renaming));
    // Start states may show the order: then a renamed start state need not be one.
    let shows_at_start = model.ordered.iter().any(|ordered| ordered.at_start);
    if !shows_at_start && start != deeds(&interpreter, None, &oracle, None) {
        return Err(format!("start states of {text}"));
    }
    for _ in 0..STATES {
        let state = random::state(&model, &mut values).encode(&model, &layout);
        let renaming = random_permutations(&scalarsets, random);
        let renamed = oracle.permute(&oracle.decode(&state), &renaming);
        let renamed = oracle.encode(&shuffled(&renamed, random));
        let expected = deeds(&interpreter, Some(&state), &oracle, Some(&renaming));
        let found = deeds(&interpreter, Some(&renamed), &oracle, None);
        let of =
            |outcome: Outcome| expected.steps.iter().filter(|step| step.1 == outcome as u8).count();
        mix.steps += expected.steps.len();
        mix.failures += of(Outcome::Failed) + of(Outcome::GuardFailed);
        mix.excluded += of(Outcome::Excluded);
        mix.broken += usize::from(matches!(expected.check, Some(Check::Broken(_))));
        if expected != found {
            return Err(difference(&text, &expected, &found));
        }
    }
    Ok(())
}

fn difference(text: &str, expected: &Deeds, found: &Deeds) -> String {
    let missing = |from: &Deeds, other: &Deeds| {
        let mut others = other.steps.clone();
        let mut missing = from.steps.clone();
        missing.retain(|step| match others.iter().position(|other| other == step) {
            Some(at) => {
                others.swap_remove(at);
                false
            }
            None => true,
        });
        missing
    };
    format!(
        "{text}\nbefore renaming only: {:?} {:?} {:?}\nafter renaming only: {:?} {:?} {:?}",
        missing(expected, found),
        expected.check,
        expected.covered,
        missing(found, expected),
        found.check,
        found.covered,
    )
}

#[test]
fn what_a_random_program_does_can_be_renamed() {
    let (trials, first) = (number("TRIBUNAL_TRIALS", 300), first_seed());
    let mut mix = Mix::default();
    for seed in (0..trials).map(|trial| first.wrapping_add(trial)) {
        if let Err(why) = examine(seed, &mut mix) {
            panic!("FIRST_SEED={seed} TRIBUNAL_TRIALS=1: {why}");
        }
    }
    eprintln!("FIRST_SEED={first}: {mix:?}");
    assert!(mix.renamed * 4 > mix.programs, "few programs are renamed: {mix:?}");
    assert!(mix.failures > 0 && mix.excluded > 0 && mix.broken > 0, "{mix:?}");
}
