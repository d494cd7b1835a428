//! Coverage: what was exercised is counted, and what was not is named.

use models::Model;
use stress::{Machine, MemoryModel};
use tribunal_hunt::{
    Abilities, COMMUNICATIONS, Campaign, Coverage, PAIRS, Plan, TestOptions, WAYS,
};

use crate::common::{campaign, machine, settle};

fn covered(campaign: &Campaign) -> Coverage {
    let settled = settle(campaign, &machine(Machine::new(MemoryModel::Tso)), false);
    let mut coverage = Coverage::default();
    settled.iter().for_each(|settled| coverage.add(&settled.coverage));
    coverage
}

#[test]
fn a_campaign_of_plain_programs_exercises_plain_edges_only() {
    let wishes =
        TestOptions { mix: Some("plain".parse().unwrap()), litmus: 0, ..TestOptions::default() };
    let plan = Plan::new(wishes, Abilities { dependencies: false, ..Abilities::machine(2) });
    let coverage = covered(&Campaign { plan: plan.unwrap(), ..campaign(Model::Tso, 40, 2) });
    for (row, name) in coverage.communication.iter().zip(COMMUNICATIONS) {
        assert!(row[0] > 0, "{name} {}", WAYS[0]);
        assert_eq!(row[1..4], [0, 0, 0], "{name}");
    }
    for (row, name) in coverage.program_order.iter().zip(PAIRS) {
        assert!(row[0] > 0, "{name}");
        assert_eq!(row[1..], [0, 0], "{name}");
    }
    assert!(coverage.litmus.is_empty());
}

#[test]
fn the_outcome_of_store_buffering_is_seen_and_that_of_message_passing_is_not() {
    let wishes = TestOptions { litmus: 100, ..TestOptions::default() };
    let plan = Plan::new(wishes, Abilities::machine(2)).unwrap();
    let count = plan.litmus().len() as u64;
    let coverage = covered(&Campaign { plan, ..campaign(Model::Tso, count, 2) });
    let row = |name: &str| coverage.litmus[name];
    assert!(row("SB").seen > 0 && row("SB").runs >= row("SB").seen);
    assert_eq!((row("MP").seen, row("SB+mfences").seen, row("CoRR").seen), (0, 0, 0));
    assert!(row("MP").runs > 0 && row("SB+mfences").runs > 0);
    assert!(coverage.program_order[2][1] > 0, "PodWR with a fence");
}

#[test]
fn everything_a_machine_can_do_is_exercised_soon() {
    let coverage = covered(&campaign(Model::Tso, 300, 2));
    assert!(coverage.communication.as_flattened().iter().all(|&count| count > 0));
    assert!(coverage.program_order.as_flattened().iter().all(|&count| count > 0));
}
