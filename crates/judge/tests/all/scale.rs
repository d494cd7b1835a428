//! What only shows on larger traces: more chains than a word has bits, clocks too wide to keep,
//! long chains of atomics, polling. One memory made the traces, so every store model allows them;
//! with one read changed, the engines must agree. The kernel checks every verdict.

use certify::certify;
use evidence::{Certificate, Evidence};
use history::{AddressLabel, Builder, History, Operation, ThinAir, Value};
use models::Model;
use oracle::Rng;
use tribunal_judge::{Budget, Engine, Outcome, judge};

const STORE_MODELS: [Model; 6] =
    [Model::Sc, Model::Tso, Model::Pso, Model::Wmo, Model::Rmo, Model::Coherence];

struct Size {
    events: usize,
    threads: usize,
    addresses: usize,
}

/// A trace of one sequential memory. If asked to, the middlemost read of a value that somebody
/// wrote returns what the address held before that.
fn trace(size: &Size, seed: u64, stale: bool) -> History {
    let mut rng = Rng::new(seed);
    let mut builder = Builder::new();
    let addresses: Vec<_> =
        (0..size.addresses).map(|a| builder.address(&AddressLabel::Number(a as u64))).collect();
    let mut memory: Vec<(Value, Value)> = vec![(0, 0); size.addresses];
    let mut stale = stale;
    for event in 0..size.events {
        let at = rng.below(size.addresses);
        let address = addresses[at];
        let fresh = event as Value + 1;
        let (before, now) = memory[at];
        let operation = match rng.below(100) {
            0..30 => Operation::ReadModifyWrite { address, read: now, write: fresh },
            30..32 => Operation::SYNC,
            32..66 => {
                let late = stale && event > size.events / 2 && before != now;
                stale &= !late;
                Operation::Read { address, value: if late { before } else { now } }
            }
            _ => Operation::Write { address, value: fresh },
        };
        if operation.value_written().is_some() {
            memory[at] = (now, fresh);
        }
        let thread = rng.below(size.threads) as u64;
        builder.event(thread, operation, event as u32 + 1).expect("within the limits");
    }
    builder.finish(ThinAir::Malformed).expect("a memory returns what was written")
}

/// Whether a history satisfies a model, once the kernel has accepted the evidence.
fn certified(history: &History, model: Model, engine: Engine) -> bool {
    let evidence = match judge(history, model, engine, &Budget::unlimited()).outcome {
        Outcome::Holds(witness) => Evidence::Consistent(witness),
        Outcome::Broken(proof) => Evidence::Violation(proof),
        Outcome::Undecided(_) => panic!("{engine:?} is undecided under {model}"),
    };
    let consistent = matches!(evidence, Evidence::Consistent(_));
    let certificate = Certificate { trace: 1, model, evidence };
    if let Err(rejection) = certify(history, &certificate) {
        panic!("the kernel rejects what {engine:?} says under {model}: {rejection}");
    }
    consistent
}

fn sizes() -> [Size; 4] {
    [
        Size { events: 3_000, threads: 4, addresses: 2 },
        Size { events: 3_000, threads: 50, addresses: 8 },
        Size { events: 4_000, threads: 100, addresses: 64 },
        // More chains of a thread and an address than wide clocks have room for.
        Size { events: 8_000, threads: 16, addresses: 256 },
    ]
}

#[test]
fn valid_traces_are_consistent_whatever_their_shape() {
    for (seed, size) in (0..).zip(sizes()) {
        let history = trace(&size, seed, false);
        for model in STORE_MODELS {
            assert!(certified(&history, model, Engine::Auto), "{model}, size {seed}");
        }
    }
}

#[test]
fn the_engines_agree_about_a_stale_read() {
    let mut violations = 0;
    for (number, size) in sizes().into_iter().enumerate() {
        for seed in 0..4 {
            let history = trace(&size, seed, true);
            let answers = STORE_MODELS.map(|model| certified(&history, model, Engine::Auto));
            for (model, answer) in STORE_MODELS.into_iter().zip(answers) {
                violations += usize::from(!answer);
                if number < 2 {
                    let sat = certified(&history, model, Engine::Sat);
                    assert_eq!(sat, answer, "{model}, size {number}, seed {seed}");
                }
            }
            for weaker in answers[..4].windows(2) {
                assert!(
                    !weaker[0] || weaker[1],
                    "sc, tso, pso, wmo: what one allows, the next does"
                );
            }
        }
    }
    assert!(violations > 10, "some of these must be violations: {violations}");
}

#[test]
fn pollers_do_not_slow_each_other_down() {
    let mut builder = Builder::new();
    let flag = builder.address(&AddressLabel::Number(0));
    for round in 0..200u32 {
        for poll in 0..1_400u32 {
            let read = Operation::Read { address: flag, value: Value::from(round) };
            builder.event(u64::from(poll % 7), read, round + 1).expect("within the limits");
        }
        // Two threads take turns, so that the write order is not known from the start.
        let write = Operation::Write { address: flag, value: Value::from(round) + 1 };
        builder.event(7 + u64::from(round % 2), write, round + 1).expect("within the limits");
    }
    let history = builder.finish(ThinAir::Malformed).expect("the flag holds what was written");
    let start = std::time::Instant::now();
    for model in STORE_MODELS {
        assert!(certified(&history, model, Engine::Auto), "{model}");
    }
    // Generous, for loaded machines; quadratic in the pollers it would take minutes.
    assert!(start.elapsed().as_secs() < 60);
}
