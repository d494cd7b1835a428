//! The folder of a campaign: what was reported is there, and the same campaign goes on.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use models::Model;
use serde_json::{Map, Value, json};
use stress::{Machine, MemoryModel, Program, RunResult, Runs, Target, TargetError};
use tribunal_hunt::{
    Campaign, CampaignEvent, CampaignLog, Folder, FolderError, PendingTests, SavedFinding, Summary,
    TargetSupply,
};

use crate::common::{campaign, directory, each, machine};

fn options(model: &str) -> Map<String, Value> {
    json!({ "--model": model, "--seed": 0 }).as_object().unwrap().clone()
}

fn open(path: &Path) -> CampaignLog {
    let folder = Folder::open(path, options("sc")).unwrap();
    CampaignLog::new(folder, &Model::Sc.into(), "test", 0).unwrap()
}

/// Hunts and returns what was reported as new; ended after this many tests as if by Ctrl-C.
fn hunt(
    log: &mut CampaignLog,
    campaign: &Campaign,
    supply: &TargetSupply,
    stop_after: usize,
) -> Vec<SavedFinding> {
    let known = log.known();
    let (mut new, mut settled) = (Vec::new(), 0);
    let run = campaign.run(supply, &known, &mut |beat| {
        if let CampaignEvent::TestOutcome(test) = beat {
            new.extend(log.enter(*test, &known).unwrap());
            settled += 1;
        }
        match settled < stop_after {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(PendingTests::Drop),
        }
    });
    run.unwrap();
    log.save().unwrap();
    new
}

fn tso_under_sc(first: u64, until: u64) -> (Campaign, TargetSupply) {
    let campaign = Campaign { first, ..campaign(Model::Sc, until, 2) };
    (campaign, machine(Machine::new(MemoryModel::Tso)))
}

#[test]
fn a_campaign_that_was_stopped_goes_on_and_comes_to_the_same() {
    let path = directory("log-whole");
    let mut whole = open(&path);
    let (all, supply) = tso_under_sc(0, 60);
    let expected = hunt(&mut whole, &all, &supply, usize::MAX);
    assert!(expected.len() > 1, "{expected:?}");
    for kept in &expected {
        assert!(path.join(&kept.path).join("why.svg").exists(), "{kept:?}");
    }

    let path = directory("log-parts");
    let mut first = open(&path);
    let mut reported = hunt(&mut first, &all, &supply, 25);
    assert_eq!(first.state().next, 25);
    drop(first);
    let mut second = open(&path);
    assert_eq!(second.kept(), reported);
    let (rest, supply) = tso_under_sc(second.state().next, 60);
    reported.extend(hunt(&mut second, &rest, &supply, usize::MAX));
    assert_eq!(reported, expected);
    assert_eq!(second.state().totals, whole.state().totals);
    assert_eq!(second.state().shapes, whole.state().shapes);
    assert_eq!(second.state().coverage, whole.state().coverage);
}

#[test]
fn what_a_killed_process_left_is_cleared_up_and_nothing_reported_is_lost() {
    let path = directory("log-killed");
    let (all, supply) = tso_under_sc(0, 60);
    let mut log = open(&path);
    let before = fs::read(path.join("hunt.json")).unwrap();
    let reported = hunt(&mut log, &all, &supply, usize::MAX);
    drop(log);
    // The counts are as old as they can be, and a finding was half-written.
    fs::write(path.join("hunt.json"), before).unwrap();
    fs::create_dir(path.join("findings/.99")).unwrap();
    fs::write(path.join("findings/.99/why.txt"), "half").unwrap();
    let mut again = open(&path);
    assert_eq!(again.kept(), reported);
    assert!(!path.join("findings/.99").exists());
    assert_eq!(again.state().next, 0);
    assert_eq!(hunt(&mut again, &all, &supply, usize::MAX), [], "all of them are known");
}

#[test]
fn a_folder_of_another_hunt_is_refused_with_what_differs() {
    let path = directory("log-different");
    drop(open(&path));
    let error = Folder::open(&path, options("tso")).unwrap_err();
    let FolderError::Different(_, differences) = &error else { panic!("{error}") };
    assert_eq!(*differences, [("--model".into(), "sc".into(), "tso".into())]);
    let open = open(&path);
    let busy = Folder::open(&path, options("sc")).unwrap_err();
    assert!(matches!(busy, FolderError::Busy(_)), "{busy}");
    drop(open);
    fs::write(path.join("hunt.json"), "{}").unwrap();
    let malformed = Folder::open(&path, options("sc")).unwrap_err();
    assert!(matches!(malformed, FolderError::Malformed(..)), "{malformed}");
    fs::remove_file(path.join("hunt.json")).unwrap();
    fs::write(path.join("thesis.tex"), "").unwrap();
    let foreign = Folder::open(&path, options("sc")).unwrap_err();
    assert!(matches!(foreign, FolderError::Foreign(_)), "{foreign}");
}

/// A target that crashes on every third program, with a number that differs.
#[derive(Clone)]
struct Crashes;

impl Target for Crashes {
    fn run(
        &mut self,
        program: &Program,
        runs: Runs<'_>,
        receive: &mut dyn FnMut(RunResult) -> ControlFlow<()>,
    ) -> Result<(), TargetError> {
        match runs.seed % 3 {
            0 => Err(TargetError::Misbehaved(format!("it crashed: process {}", runs.seed))),
            1 => Err(TargetError::Unsuitable("it has a fence".into())),
            _ => Machine::new(MemoryModel::Sc).run(program, runs, receive),
        }
    }
}

#[test]
fn a_target_that_crashes_is_one_finding_with_its_input() {
    let path = directory("log-crashes");
    let mut log = open(&path);
    let campaign = campaign(Model::Sc, 30, 2);
    let reported = hunt(&mut log, &campaign, &each(Crashes), usize::MAX);
    assert_eq!(reported.len(), 1, "{reported:?}");
    assert_eq!(reported[0].kind, "misbehaved");
    let file = |name: &str| fs::read_to_string(path.join(&reported[0].path).join(name)).unwrap();
    assert!(file("what.txt").starts_with("it crashed: process"));
    let planned = campaign.plan.test(reported[0].test);
    assert_eq!(file("program.txt"), planned.test.to_string());
    let totals = &log.state().totals;
    assert!(totals.misbehaved > 1 && totals.unsuitable > 1);
    let summary = Summary::new(&log, &campaign.plan, "test", "sc").brief();
    assert!(summary.contains("cannot run on this target: it has a fence"), "{summary}");
}

#[test]
fn a_target_that_cannot_be_used_ends_the_campaign() {
    let supply = TargetSupply::Each(Box::new(|| Err(TargetError::Unavailable("no cores".into()))));
    let ended = campaign(Model::Sc, 30, 2).run(
        &supply,
        &tribunal_hunt::KnownShapes::default(),
        &mut |_| ControlFlow::Continue(()),
    );
    assert_eq!(ended, Err(TargetError::Unavailable("no cores".into())));
}
