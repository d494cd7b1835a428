//! A test bench that judges as it simulates: a toy memory with a store buffer for each core runs
//! random loads and stores, the bench records what the cores see, and every window of a hundred
//! operations is judged at once. Each window begins with empty buffers, so that it is a history of
//! its own.
//!
//!     cargo run --release --example test_bench            the buffers are right
//!     cargo run --release --example test_bench -- bug     a load overlooks its own core's buffer

use std::collections::VecDeque;
use std::error::Error;
use std::process::ExitCode;

use tribunal::chance::Rng;
use tribunal::history::{BuildError, Operation, ThinAir, write_text};
use tribunal::{Budget, Builder, Engine, History, Model, Outcome, ShrinkOptions, judge, shrink};

const CORES: usize = 3;
const ADDRESSES: usize = 2;

/// The memory under test.
struct Simulator {
    memory: [u64; ADDRESSES],
    buffers: [VecDeque<(usize, u64)>; CORES],
    bug: bool,
}

impl Simulator {
    fn new(bug: bool) -> Self {
        Simulator { memory: [0; ADDRESSES], buffers: Default::default(), bug }
    }

    fn store(&mut self, core: usize, address: usize, value: u64) {
        self.buffers[core].push_back((address, value));
    }

    fn load(&self, core: usize, address: usize) -> u64 {
        let mut own = self.buffers[core].iter().rev().filter(|_| !self.bug);
        let buffered = own.find(|(to, _)| *to == address);
        buffered.map_or(self.memory[address], |&(_, value)| value)
    }

    fn drain(&mut self, core: usize) {
        if let Some((address, value)) = self.buffers[core].pop_front() {
            self.memory[address] = value;
        }
    }
}

/// Simulates a window, and records it.
fn window(seed: u64, bug: bool) -> Result<History, BuildError> {
    let (mut rng, mut simulator, mut trace) = (Rng::new(seed), Simulator::new(bug), Builder::new());
    for step in 1..=100 {
        let (core, address) = (rng.below(CORES), rng.below(ADDRESSES));
        let place = trace.address_numbered(address as u64);
        let operation = match rng.below(3) {
            0 => {
                simulator.drain(core);
                continue;
            }
            1 => {
                simulator.store(core, address, step);
                Operation::Write { address: place, value: step }
            }
            _ => Operation::Read { address: place, value: simulator.load(core, address) },
        };
        trace.event(core as u64, operation, step as u32)?;
    }
    trace.finish(ThinAir::Violation)
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let bug = std::env::args().nth(1).is_some_and(|argument| argument == "bug");
    let budget = Budget::unlimited();
    for seed in 0..1000 {
        let history = window(seed, bug)?;
        let verdict = judge(&history, Model::Tso, Engine::Auto, &budget);
        if let Outcome::Broken(proof) = verdict.outcome {
            let part = shrink(&history, Model::Tso, &proof, ShrinkOptions::default(), &budget);
            println!("window {seed} violates tso:");
            write_text(&part.history, &mut std::io::stdout())?;
            return Ok(ExitCode::FAILURE);
        }
    }
    println!("1000 windows, all allowed by tso");
    Ok(ExitCode::SUCCESS)
}
