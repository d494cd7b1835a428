//! How many instructions a second the machines run: `cargo run --release --example speed`.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use tribunal_stress::{Cycle, Knobs, Machine, MemoryModel, Program, Runs, Target};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let litmus = "PodWR Fre PodWR Fre".parse::<Cycle>()?.test().program;
    let random = Knobs::default().program(1)?;
    let large = Knobs { instructions: 100_000, places: 256, ..Knobs::default() }.program(1)?;
    for (name, program) in [("SB", &litmus), ("random", &random), ("large", &large)] {
        for &model in MemoryModel::ALL {
            println!("{name:7} {model:4} {:6.1} million a second", speed(program, model)?);
        }
    }
    Ok(())
}

fn speed(program: &Program, model: MemoryModel) -> Result<f64, Box<dyn std::error::Error>> {
    let count = 20_000_000 / program.len() as u64;
    let begun = Instant::now();
    let runs = Runs { count, seed: 1, stop: &AtomicBool::new(false) };
    Machine::new(model).run(program, runs, &mut |_| ControlFlow::Continue(()))?;
    Ok((count * program.len() as u64) as f64 / begun.elapsed().as_secs_f64() / 1e6)
}
