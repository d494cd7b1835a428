//! Native code and the reference interpreter agree: on random models and random states, on what is
//! reachable in them, and on the first thousands of states of every protocol.

use std::collections::{HashSet, VecDeque};
use std::path::{Path, PathBuf};

use crate::support::Both;
use murphi::check::{Options, Reading};
use murphi::machine::Outcome;
use murphi::random::{self, Random};

/// Follows up to `limit` states breadth first, comparing everything.
pub(crate) fn explore(both: &mut Both, limit: usize) -> usize {
    let mut seen: HashSet<Vec<u8>> = HashSet::new();
    let mut pending: VecDeque<Vec<u8>> = VecDeque::new();
    let mut batch = both.start();
    loop {
        for (number, firing) in batch.firings.iter().enumerate() {
            let state = batch.state(number);
            if firing.outcome == Outcome::Done && seen.insert(state.to_vec()) {
                pending.push_back(state.to_vec());
            }
        }
        match pending.pop_front() {
            Some(state) if seen.len() < limit => {
                both.check(&state);
                batch = both.expand(&state);
                let mut packed = vec![0; both.program.packed_size()];
                both.program.pack(&state, &mut packed);
                let mut unpacked = vec![0; state.len()];
                both.program.unpack(&packed, &mut unpacked);
                assert_eq!(unpacked, state);
            }
            _ => return seen.len(),
        }
    }
}

/// Compares both machines of a random model. Says whether it could be compiled.
fn compare_random_model(seed: u64, states: usize) -> bool {
    let text = random::source(seed);
    let outcome = std::panic::catch_unwind(|| {
        let Some(mut both) = Both::unless_refused("random.m", &text, &random::options()) else {
            return false;
        };
        explore(&mut both, states);
        let mut random = Random::new(seed);
        for _ in 0..states {
            let state = random::state(&both.model, &mut random);
            let bytes = state.encode(&both.model, both.interpreter.layout());
            both.check(&bytes);
            both.expand(&bytes);
        }
        true
    });
    outcome.unwrap_or_else(|panic| {
        eprintln!("seed {seed}:\n{text}");
        std::panic::resume_unwind(panic);
    })
}

/// All models in a folder of `protocols`.
fn protocols(folder: &str) -> Vec<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols").join(folder);
    let files = std::fs::read_dir(path).expect("the repository has protocols");
    let mut files: Vec<PathBuf> =
        files.map(|file| file.expect("the folder can be read").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "m"));
    files.sort();
    files
}

#[test]
fn random_models_behave_alike() {
    let from_environment = |name: &str, otherwise: u64| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
    };
    let first = from_environment("FIRST_SEED", 0);
    let count = from_environment("SEEDS", 300);
    let compared = (first..first + count).filter(|&seed| compare_random_model(seed, 20)).count();
    assert!(compared as u64 * 100 >= count * 97, "{compared} of {count}");
}

#[test]
fn a_switch_on_something_undefined_that_a_function_hands_on_fails() {
    for (statement, fails) in [
        ("switch f() case a0: n := 5; else n := 7; end;", true),
        ("switch x case f(): n := 5; else n := 7; end;", true),
        ("switch f() case f(): n := 5; else n := 7; end;", true),
        ("switch (n = 0 ? f() : a0) case a0: n := 5; else n := 7; end;", true),
        ("for i: e do switch i case f(): n := 5; else n := 7; end; end;", true),
        ("switch x case a0, f(): n := 5; else n := 7; end;", false),
        ("switch u() case w: n := 5; case u(): n := 6; else n := 7; end;", false),
        ("x := f();", false),
    ] {
        let text = format!(
            "type e: enum {{ a0, a1 }}; s: scalarset(2);
             var v: e; x: e; w: s; o: s; n: 0..9;
             function f(): e; begin n := 1; return v; end;
             function u(): s; begin return o; end;
             ruleset p: s do
             startstate begin clear n; x := a0; w := p; end;
             end;
             rule n = 0 ==> begin {statement} end;"
        );
        let language = Options { reading: Reading::Whole, ..Options::default() };
        let mut both = Both::of("switch.m", &text, &language);
        let start = both.start();
        let state = start.state(0).to_vec();
        let found = both.expand(&state);
        let failed = found.firings.iter().any(|firing| firing.outcome == Outcome::Failed);
        assert_eq!((found.firings.len(), failed), (1, fails), "{statement}");
    }
    // Where this was found.
    assert!(compare_random_model(778_872, 20));
}

#[test]
fn protocols_behave_alike() {
    for file in protocols("").into_iter().chain(protocols("broken")) {
        let text = std::fs::read_to_string(&file).expect("the protocol can be read");
        let name = file.display().to_string();
        let mut both = Both::of(&name, &text, &Options::default());
        assert!(explore(&mut both, 300) > 10, "{name}");
    }
}
