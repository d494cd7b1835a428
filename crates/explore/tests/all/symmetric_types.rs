//! Subranges that are treated as scalarsets: random programs, some of which order their members,
//! name them or compute with them. Those are refused; of the others, the program as it is written and
//! as it is treated have as many states and the same kind of verdict by brute force, and a search with
//! symmetry visits as many states as there are orbits.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::brute_force::{self, Found, Kind};
use crate::liveness;
use crate::symmetric_programs::{first_seed, number};
use murphi::check::{Options as Language, Reading};
use murphi::interpret::Interpreter;
use murphi::random::Random;
use murphi::source::Source;
use murphi::symmetric::treat;
use tribunal_explore::symmetry::Symmetry;
use tribunal_explore::{Bare, BitCodec, Deadlock, Engine, Options};

/// What is not symmetric, or only looks as if it were.
const ODD: [&str; 9] = [
    "if p = 1 then n := 0; end; ",
    "if p < q then n := 0; end; ",
    "st[1] := 0; ",
    "owner := 2; ",
    "for r: P do if st[r] = 0 then owner := r; end; end; ",
    "for r: P do st[r] := 0; end; ",
    "if forall r: P do st[r] = 0 end then n := 2; end; ",
    "if owner = p then n := 1; end; ",
    "if who != q then n := 1; end; ",
];

/// A random program whose processors are numbers.
fn program(seed: u64) -> String {
    let random = &mut Random::new(seed);
    let size = 2 + random.below(2);
    let mut text = String::new();
    for line in liveness::program(seed).lines().filter(|line| !line.contains("liveness")) {
        let mut line = line.to_owned();
        if line.starts_with("type") {
            line = format!("type P: 1..{size};");
        }
        line = line.replace("who: U;", "who: P;").replace("who := none;", "undefine who;");
        if line.contains("begin") && line.starts_with("ruleset") && random.chance(20) {
            let odd = ODD[random.below(ODD.len())];
            line = line.replacen("begin ", &format!("begin {odd}"), 1);
        }
        text += &(line + "\n");
    }
    text
}

fn interpreter(source: Source, language: &Language) -> Interpreter {
    let checked = murphi::load(source.clone(), language);
    let checked = checked.unwrap_or_else(|errors| panic!("{errors:?}\n{}", source.text));
    Interpreter::new(Arc::new(checked.model)).expect("it is small")
}

/// How many programs were of which kind.
#[derive(Debug, Default)]
struct Mix {
    refused: u64,
    too_large: u64,
    verified: u64,
    wrong: u64,
    /// With fewer orbits than states.
    reduced: u64,
}

fn compare(seeds: std::ops::Range<u64>) -> Mix {
    let mut mix = Mix::default();
    for seed in seeds {
        let text = program(seed);
        let source = Source { name: "random.m".to_owned(), text: text.clone() };
        let language = Language { reading: Reading::Whole, ..Language::default() };
        let written = interpreter(source.clone(), &language);
        let Ok(treated) = treat(&source, &["P".to_owned()], &language) else {
            mix.refused += 1;
            continue;
        };
        let language = Language { symmetric: treated.types, ..language };
        let treated = interpreter(treated.source, &language);
        let of = |interpreter: &Interpreter| brute_force::search(interpreter, Deadlock::Off, 1000);
        let (Some(as_written), Some(as_treated)) = (of(&written), of(&treated)) else {
            mix.too_large += 1;
            continue;
        };
        let both = |found: &Found| (found.kind, found.states);
        assert_eq!(both(&as_written), both(&as_treated), "seed {seed}\n{text}");
        let full = search(&treated);
        if as_written.kind == Kind::Verified {
            assert_eq!(full.states, as_treated.orbits as u64, "seed {seed}\n{text}");
            assert!(full.violation().is_none(), "seed {seed}: {:?}\n{text}", full.verdict);
            mix.verified += 1;
            mix.reduced += u64::from(as_treated.orbits < as_treated.states);
        } else {
            assert!(full.violation().is_some(), "seed {seed}\n{text}");
            mix.wrong += 1;
        }
    }
    mix
}

fn search(interpreter: &Interpreter) -> tribunal_explore::Exploration {
    let (model, layout) = (interpreter.model(), interpreter.layout());
    let codec = BitCodec::new(model, layout);
    let engine = Engine::Interpreted(Box::new(interpreter.clone()), codec, native::Error::Stopped);
    let options = Options { deadlock: Deadlock::Off, ..Options::default() };
    let how = (&options, Symmetry::Full);
    engine.explore(interpreter, how, &Bare, &mut |_| (), &AtomicBool::new(false))
}

#[test]
fn random_subranges_that_pass_are_scalarsets() {
    let (first, trials) = (first_seed(), number("TRIBUNAL_TRIALS", 150));
    println!("FIRST_SEED={first} TRIBUNAL_TRIALS={trials}");
    println!("{:?}", compare(first..first + trials));
}

#[test]
fn random_subranges_are_of_every_kind() {
    let mix = compare(0..300);
    assert!(mix.refused > 30 && mix.verified > 50 && mix.wrong > 30 && mix.reduced > 25, "{mix:?}");
}
