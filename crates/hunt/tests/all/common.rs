//! What the tests of campaigns share.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use models::Model;
use stress::{Machine, Target, TargetError};
use tribunal_hunt::{
    Abilities, BoxedTarget, Campaign, CampaignEvent, KnownShapes, PendingTests, Plan, TargetSupply,
    TestOptions, TestOutcome,
};

pub(crate) fn plan(seed: u64) -> Plan {
    Plan::new(TestOptions { seed, ..TestOptions::default() }, Abilities::machine(4)).unwrap()
}

pub(crate) fn campaign(model: Model, tests: u64, jobs: usize) -> Campaign {
    Campaign {
        model: model.into(),
        target: "test".into(),
        plan: plan(0),
        first: 0,
        until: Some(tests),
        jobs,
    }
}

pub(crate) fn each<T: Target + Clone + Send + Sync + 'static>(target: T) -> TargetSupply {
    TargetSupply::Each(Box::new(move || Ok(Box::new(target.clone()) as BoxedTarget)))
}

pub(crate) fn machine(machine: Machine) -> TargetSupply {
    each(machine)
}

/// All that is settled, in order; up to the first finding if asked so.
pub(crate) fn settle(campaign: &Campaign, supply: &TargetSupply, first: bool) -> Vec<TestOutcome> {
    let mut all = Vec::new();
    let run: Result<(), TargetError> = campaign.run(supply, &KnownShapes::default(), &mut |beat| {
        if let CampaignEvent::TestOutcome(settled) = beat {
            let found = !settled.findings.is_empty();
            all.push(*settled);
            if found && first {
                return ControlFlow::Break(PendingTests::Drop);
            }
        }
        ControlFlow::Continue(())
    });
    run.unwrap();
    all
}

/// A fresh directory for the files of one test.
pub(crate) fn directory(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = std::fs::remove_dir_all(&path);
    path
}
