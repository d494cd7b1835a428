//! A test bench that judges as it simulates: a toy memory with a store buffer for each core runs
//! random loads and stores, and every one of them goes to a session, which says at once when the
//! cores have seen what tso does not allow. The simulation may run for as long as one likes: what can
//! no longer matter is forgotten.
//!
//!     cargo run --release --example test_bench            the buffers are right
//!     cargo run --release --example test_bench -- bug     a load overlooks its own core's buffer

use std::collections::VecDeque;
use std::error::Error;
use std::process::ExitCode;

use tribunal::chance::Rng;
use tribunal::history::write_text;
use tribunal::{Budget, Limits, Model, Session, ShrinkOptions, Violation, shrink};

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

/// Simulates, and tells the session what the cores see, until it knows of a violation.
fn simulate(session: &mut Session, bug: bool) {
    let (mut rng, mut simulator) = (Rng::new(1), Simulator::new(bug));
    for step in 1..=100_000 {
        let (core, address) = (rng.below(CORES), rng.below(ADDRESSES));
        match rng.below(3) {
            0 => simulator.drain(core),
            1 => {
                simulator.store(core, address, step);
                session.store(core as u64, address as u64, step);
            }
            _ => {
                let value = simulator.load(core, address);
                session.load(core as u64, address as u64, value);
            }
        }
        if session.violation().is_some() {
            return;
        }
    }
}

/// Prints the smallest part of a violation.
fn report(violation: &Violation) -> Result<(), Box<dyn Error>> {
    let Violation { history, proof, events } = violation;
    let options = ShrinkOptions::default();
    let part = shrink(history, Model::Tso, proof, options, &Budget::unlimited());
    println!("after {events} events, these violate tso:");
    write_text(&part.history, &mut std::io::stdout())?;
    Ok(())
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let bug = std::env::args().nth(1).is_some_and(|argument| argument == "bug");
    let mut session = Session::new(Model::Tso, Limits::default());
    simulate(&mut session, bug);
    let finished = session.finish();
    match finished.verdict.broken() {
        Some(violation) => report(violation)?,
        None => println!("{} events: {}", finished.events, finished.verdict.of_trace()),
    }
    let is_broken = finished.verdict.broken().is_some();
    Ok(if is_broken { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
