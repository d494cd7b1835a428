//! Depth-first search, hash compaction and random walks find what breadth-first search finds.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::toys::{self, *};
use murphi::machine::Outcome;
use proptest::prelude::{ProptestConfig, prop_assert, prop_assert_eq, proptest};
use tribunal_explore::{
    Deadlock, Identity, Options, Reason, Strategy, System, Verdict, Violation, explore,
};

fn depth_first() -> Options {
    Options { strategy: Strategy::Depth, ..Options::default() }
}

fn compact(threads: usize, bits: u32) -> Options {
    Options { strategy: Strategy::Compact { bits }, ..toys::threads(threads) }
}

fn walks(threads: usize, steps: u64, seed: u64, length: u64) -> Options {
    Options { strategy: Strategy::Simulate { steps, seed, length }, ..toys::threads(threads) }
}

#[test]
fn depth_first_search_visits_a_whole_grid() {
    let found = explore_grid(&Grid::new(5, 6), &Identity, &depth_first());
    assert_eq!(found.verdict, Verdict::Holds(()));
    assert_eq!((found.states, found.rules_fired), (6u64.pow(5), 5 * 6u64.pow(5)));
    assert!(found.depth >= 25);
    assert_eq!(found.covered, [false, true]);
}

#[test]
fn depth_first_search_follows_the_first_rule_first() {
    let mut graph = de_bruijn(6);
    graph.broken.insert(0b000001);
    graph.broken.insert(0b100000);
    let found = explore_graph(&graph, &depth_first());
    let rules: Vec<u32> = found.counterexample()[1..].iter().map(|step| step.rule).collect();
    assert_eq!(rules, [1]);
}

#[test]
fn depth_first_search_goes_as_deep_as_a_chain() {
    let length = 1_000_000;
    let edge = |vertex: u32| vec![(0, Outcome::Done, (vertex + 1).min(length))];
    let graph = Graph {
        starts: vec![(0, Outcome::Done)],
        edges: (0..=length).map(edge).collect(),
        ..Graph::default()
    };
    let found = explore_graph(&graph, &depth_first());
    assert_eq!((found.violation(), found.depth), (Some(Violation::Deadlock), length));
    assert_eq!(found.counterexample().len(), length as usize + 1);
}

#[test]
fn depth_first_search_keeps_its_budgets() {
    let grid = Grid::new(6, 20);
    let memory = Options { memory: Some(3_000_000), ..depth_first() };
    let found = explore_grid(&grid, &Identity, &memory);
    assert_eq!(found.verdict, Verdict::Undecided(Reason::Memory));
    assert!(found.bytes <= 3_000_000 && found.states > 10_000);
    let time = Options { time: Some(Duration::from_millis(20)), ..depth_first() };
    let found = explore_grid(&grid, &Identity, &time);
    assert_eq!(found.verdict, Verdict::Undecided(Reason::Time));
    let depth = Options { depth: Some(10), ..depth_first() };
    let found = explore_grid(&grid, &Identity, &depth);
    assert_eq!((found.verdict, found.depth), (Verdict::Undecided(Reason::Depth), 10));
}

#[test]
fn compaction_visits_a_whole_grid_in_less_memory_and_tells_the_risk() {
    for threads in [1, 2, 3, 8] {
        let grid = Grid::new(24, 2);
        let half = Options { depth: Some(6), ..compact(threads, 64) };
        let found = explore_grid(&grid, &Identity, &half);
        assert_eq!(found.verdict, Verdict::Undecided(Reason::Depth));
        // Words of 24 bits with at most six ones.
        assert_eq!((found.states, found.depth), (190_051, 6));
        let probability = found.omission_probability.unwrap();
        assert!(probability > 0.0 && probability < 1e-11, "{probability}");
    }
}

#[test]
fn a_million_signatures_of_48_bits_take_less_than_nine_bytes_each() {
    let found = explore_grid(&Grid::new(6, 10), &Identity, &compact(1, 48));
    assert_eq!((found.verdict.clone(), found.states), (Verdict::Holds(()), 1_000_000));
    let bytes = found.bytes_per_state();
    assert!(bytes < 9.0, "{bytes}");
}

#[test]
fn compaction_finds_the_same_counterexample_with_any_number_of_threads() {
    let grid = Grid { forbidden: Some(3), ..Grid::new(5, 5) };
    let one = explore_grid(&grid, &Sorted(5), &compact(1, 56));
    assert_eq!(one.violation(), Some(Violation::Broken { property: 0 }));
    assert_eq!(one.counterexample().len(), 16);
    for threads in [2, 3, 8] {
        let other = explore_grid(&grid, &Sorted(5), &compact(threads, 56));
        assert_eq!(essence(&one), essence(&other));
    }
}

#[test]
fn a_directory_that_does_not_exist_is_a_reason_not_to_decide() {
    let directory = Some(std::env::temp_dir().join("tribunal-no-such-directory"));
    let options = Options { directory, ..compact(2, 64) };
    let found = explore_grid(&Grid::new(3, 3), &Identity, &options);
    assert!(matches!(found.verdict, Verdict::Undecided(Reason::Disk(_))), "{:?}", found.verdict);
}

#[test]
fn walks_take_exactly_the_steps_they_are_given() {
    let mut first = None;
    for threads in [1, 2, 3, 8] {
        let found = explore_grid(&Grid::new(5, 6), &Identity, &walks(threads, 1_234, 7, 100));
        assert_eq!(found.verdict, Verdict::Undecided(Reason::Simulated));
        assert_eq!((found.rules_fired, found.depth), (1_234, 100));
        assert_eq!(found.covered, [false, true]);
        assert_eq!(essence(&found), *first.get_or_insert(essence(&found)));
    }
}

#[test]
fn a_walk_into_a_violation_is_the_same_for_any_number_of_threads() {
    let grid = Grid { forbidden: Some(1), ..Grid::new(4, 3) };
    let mut first = None;
    for threads in [1, 2, 3, 8] {
        let found = explore_grid(&grid, &Identity, &walks(threads, 100_000, 1, 20));
        assert_eq!(found.violation(), Some(Violation::Broken { property: 0 }));
        let steps = found.counterexample();
        assert_eq!(steps.last().unwrap().state[..4], [1; 4]);
        for pair in steps.windows(2) {
            let mut next = pair[0].state.clone();
            let counter = &mut next[pair[1].instance as usize];
            *counter = (*counter + 1) % 3;
            assert_eq!(next, pair[1].state);
        }
        assert_eq!(essence(&found), *first.get_or_insert(essence(&found)));
    }
    let other = explore_grid(&grid, &Identity, &walks(1, 100_000, 2, 20));
    assert_ne!(essence(&other), first.unwrap());
}

#[test]
fn walks_end_where_there_is_nothing_to_walk() {
    let graph = Graph {
        starts: vec![(0, Outcome::Done)],
        edges: vec![vec![(0, Outcome::Done, 0)]],
        ..Graph::default()
    };
    let options = Options { deadlock: Deadlock::Off, ..walks(2, 1000, 0, 10) };
    let found = explore_graph(&graph, &options);
    assert_eq!(found.verdict, Verdict::Undecided(Reason::Simulated));
    assert_eq!(found.rules_fired, 0);
    let found = explore_graph(&graph, &walks(2, 1000, 0, 10));
    assert_eq!(found.violation(), Some(Violation::Deadlock));
}

#[test]
fn an_interrupt_ends_every_strategy() {
    let codec = bytes(8, 5);
    let machine = || Grid::new(8, 30);
    let system = System { machine, codec: &codec, reduction: &Identity, state_size: 8, rules: 1 };
    for options in [depth_first(), compact(2, 64), walks(2, u64::MAX, 0, 1_000_000)] {
        let interrupt = AtomicBool::new(false);
        let mut progress = |_: &_| interrupt.store(true, Ordering::Relaxed);
        let found = explore(&options, &system, &mut progress, &interrupt);
        assert_eq!(found.verdict, Verdict::Undecided(Reason::Interrupted));
        assert!(found.states > 0 && found.rules_fired > 0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn random_graphs_are_searched_alike(graph in graphs()) {
        let exact = explore_graph(&graph, &Options::default());
        let compacted = explore_graph(&graph, &compact(1, 40));
        prop_assert_eq!(essence(&compacted), essence(&explore_graph(&graph, &compact(3, 40))));
        prop_assert_eq!((exact.states, exact.rules_fired, exact.depth, exact.violation()),
            (compacted.states, compacted.rules_fired, compacted.depth, compacted.violation()));
        // Of several shortest ways another may be chosen.
        prop_assert_eq!(exact.verdict.bare(), compacted.verdict.bare());
        prop_assert_eq!(exact.counterexample().len(), compacted.counterexample().len());
        let deep = explore_graph(&graph, &depth_first());
        prop_assert_eq!(exact.verdict == Verdict::Holds(()), deep.verdict == Verdict::Holds(()));
        if exact.verdict == Verdict::Holds(()) {
            prop_assert_eq!((exact.states, exact.rules_fired, &exact.firings),
                (deep.states, deep.rules_fired, &deep.firings));
        } else {
            assert_is_path(&graph, &deep);
            prop_assert!(exact.counterexample().len() <= deep.counterexample().len());
        }
        let walked = explore_graph(&graph, &walks(1, 200, 5, 20));
        if !matches!(walked.verdict, Verdict::Undecided(_)) {
            assert_is_path(&graph, &walked);
            prop_assert!(exact.verdict != Verdict::Holds(()));
        }
        prop_assert_eq!(essence(&walked), essence(&explore_graph(&graph, &walks(3, 200, 5, 20))));
    }
}
