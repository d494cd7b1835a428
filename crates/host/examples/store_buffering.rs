//! How often this machine shows the relaxed outcome of store buffering, and how fast.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use stress::{Action, Instruction, Place, Program, RunResult, Runs, Target};

fn main() {
    let thread = |mine, other| {
        let store = Action::Store { place: mine, value: 1 };
        let load = Action::Load { place: other };
        vec![Instruction::plain(store), Instruction::plain(load)]
    };
    let program = Program {
        name: "SB".into(),
        places: vec![Place::named("x", 0), Place::named("y", 1)],
        threads: vec![thread(0, 1), thread(1, 0)],
    };
    let stop = AtomicBool::new(false);
    let runs = Runs { count: 1_000_000, seed: 1, stop: &stop };
    let started = Instant::now();
    let mut counts = std::collections::BTreeMap::<_, u64>::new();
    let mut host = tribunal_host::Host::new().expect("two cores");
    let received = host.run(&program, runs, &mut |ran| {
        if let RunResult::Outcome(outcome, times) = ran {
            *counts.entry(outcome.reads).or_default() += times;
        }
        ControlFlow::Continue(())
    });
    received.expect("the host runs store buffering");
    for (reads, times) in counts {
        println!("{times:8} {reads:?}");
    }
    println!("{:.2} s", started.elapsed().as_secs_f64());
    println!("{host:?}");
}
