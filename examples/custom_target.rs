//! A hunt on a target of one's own: a memory that is sequentially consistent, but for a store that
//! gets lost now and then. The campaign makes test programs, runs each many times, judges every
//! different outcome, shrinks what the model does not allow, and tells findings apart by shape.
//!
//!     cargo run --release --example custom_target

use std::error::Error;
use std::ops::ControlFlow;

use tribunal::Model;
use tribunal::chance::Rng;
use tribunal::hunt::{
    Abilities, Campaign, CampaignEvent, KnownShapes, Plan, TargetSupply, TestOptions,
};
use tribunal::stress::{Action, Outcome, Program, RunResult, Runs, Target, TargetError};

/// Runs one instruction at a time, of a thread that is drawn at random.
struct Forgetful;

impl Target for Forgetful {
    fn run(
        &mut self,
        program: &Program,
        runs: Runs<'_>,
        receive: &mut dyn FnMut(RunResult) -> ControlFlow<()>,
    ) -> Result<(), TargetError> {
        let mut rng = Rng::new(runs.seed);
        for _ in 0..runs.count {
            if receive(RunResult::Outcome(once(program, &mut rng)?, 1)).is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// One run: what each read returned, thread by thread.
fn once(program: &Program, rng: &mut Rng) -> Result<Outcome, TargetError> {
    let mut memory: Vec<u64> = program.places.iter().map(|place| place.initial).collect();
    let mut next = vec![0; program.threads.len()];
    let mut reads = vec![Vec::new(); program.threads.len()];
    loop {
        let left = |&thread: &usize| next[thread] < program.threads[thread].len();
        let ready: Vec<usize> = (0..next.len()).filter(left).collect();
        if ready.is_empty() {
            let finals = Some(memory);
            return Ok(Outcome { reads: reads.concat(), finals });
        }
        let thread = ready[rng.below(ready.len())];
        match program.threads[thread][next[thread]].action {
            Action::Load { place } => reads[thread].push(memory[place as usize]),
            Action::Store { .. } if rng.below(50) == 0 => {} // the bug
            Action::Store { place, value } => memory[place as usize] = value,
            Action::Fence { .. } => {}
            _ => return Err(TargetError::Unsuitable("this memory has no atomics".to_owned())),
        }
        next[thread] += 1;
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let abilities = Abilities { atomics: false, random_runs: 200, ..Abilities::machine(3) };
    let campaign = Campaign {
        model: Model::Sc.into(),
        target: "forgetful".into(),
        plan: Plan::new(TestOptions::default(), abilities)?,
        first: 0,
        until: Some(200),
        jobs: 2,
    };
    let supply = TargetSupply::Each(Box::new(|| Ok(Box::new(Forgetful))));
    let known = KnownShapes::default();
    campaign.run(&supply, &known, &mut |beat| {
        if let CampaignEvent::TestOutcome(settled) = beat {
            for finding in settled.findings.into_iter().filter(|one| !known.has(&one.shape)) {
                println!("{}: {}", finding.name, finding.shape);
                known.add(&finding.shape);
            }
        }
        ControlFlow::Continue(())
    })?;
    Ok(())
}
