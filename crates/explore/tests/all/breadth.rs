//! Breadth-first search finds what a plain search finds, with any number of threads.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::toys::{self, *};
use murphi::machine::Outcome;
use proptest::prelude::{ProptestConfig, prop_assert_eq, proptest};
use tribunal_explore::{Deadlock, Identity, Options, Reason, System, Verdict, Violation};

#[test]
fn a_grid_has_as_many_states_as_its_volume() {
    for threads in [1, 2, 3, 8] {
        let found = explore_grid(&Grid::new(5, 6), &Identity, &toys::threads(threads));
        assert_eq!(found.verdict, Verdict::Holds(()));
        assert_eq!((found.states, found.rules_fired), (6u64.pow(5), 5 * 6u64.pow(5)));
        assert_eq!(found.depth, 25);
        assert_eq!(found.firings, [5 * 6u64.pow(5)]);
        assert_eq!(found.covered, [false, true]);
    }
}

#[test]
fn a_symmetric_grid_has_as_many_states_as_multisets() {
    for threads in [1, 2, 3, 8] {
        let grid = Grid { wraps: false, ..Grid::new(6, 5) };
        let options = Options { deadlock: Deadlock::Off, ..toys::threads(threads) };
        let found = explore_grid(&grid, &Sorted(6), &options);
        assert_eq!(found.verdict, Verdict::Holds(()));
        // 6 of 5 with repetition: 10 choose 4.
        assert_eq!((found.states, found.depth), (210, 24));
    }
}

#[test]
fn a_counterexample_is_shortest_and_never_renames() {
    let mut first = None;
    for threads in [1, 2, 3, 8] {
        let grid = Grid { forbidden: Some(3), ..Grid::new(5, 5) };
        let found = explore_grid(&grid, &Sorted(5), &toys::threads(threads));
        assert_eq!(found.violation(), Some(Violation::Broken { property: 0 }));
        let steps = found.counterexample();
        assert_eq!(steps.len(), 1 + 5 * 3);
        for pair in steps.windows(2) {
            let mut next = pair[0].state.clone();
            next[pair[1].instance as usize] += 1;
            assert_eq!(next, pair[1].state);
        }
        assert_eq!(steps[15].state[..5], [3; 5]);
        assert_eq!(*first.get_or_insert(steps.to_vec()), steps);
    }
}

#[test]
fn a_de_bruijn_graph_is_as_deep_as_its_words_are_long() {
    for threads in [1, 2, 3, 8] {
        let found = explore_graph(&de_bruijn(14), &toys::threads(threads));
        assert_eq!(found.verdict, Verdict::Holds(()));
        assert_eq!((found.states, found.rules_fired, found.depth), (1 << 14, 1 << 15, 14));
        assert_eq!(found.firings, [1 << 14, 1 << 14, 0, 0]);
    }
}

#[test]
fn the_way_to_a_word_spells_it() {
    let mut graph = de_bruijn(10);
    graph.broken.insert(0b1100101101);
    let found = explore_graph(&graph, &toys::threads(2));
    let rules: Vec<u32> = found.counterexample()[1..].iter().map(|step| step.rule).collect();
    assert_eq!(rules, [1, 1, 0, 0, 1, 0, 1, 1, 0, 1]);
}

#[test]
fn a_long_chain_is_followed_to_its_end_and_back() {
    let length = 20_000;
    let edge = |vertex: u32| vec![(0, Outcome::Done, (vertex + 1).min(length))];
    let graph = Graph {
        starts: vec![(0, Outcome::Done)],
        edges: (0..=length).map(edge).collect(),
        ..Graph::default()
    };
    let found = explore_graph(&graph, &toys::threads(1));
    assert_eq!(found.violation(), Some(Violation::Deadlock));
    assert_eq!((found.states, found.depth), (length as u64 + 1, length));
    assert_eq!(found.counterexample().len(), length as usize + 1);
}

/// 0 → 1 ⟲, and 1 has nothing else.
fn spinning() -> Graph {
    Graph {
        starts: vec![(0, Outcome::Done)],
        edges: vec![vec![(0, Outcome::Done, 1)], vec![(1, Outcome::Done, 1)]],
        ..Graph::default()
    }
}

#[test]
fn a_state_that_only_leads_to_itself_is_a_deadlock_if_stuttering_counts() {
    let found = |deadlock| explore_graph(&spinning(), &Options { deadlock, ..Options::default() });
    assert_eq!(found(Deadlock::Off).verdict, Verdict::Holds(()));
    assert_eq!(found(Deadlock::Stuck).verdict, Verdict::Holds(()));
    assert_eq!(found(Deadlock::Stuttering).violation(), Some(Violation::Deadlock));
}

#[test]
fn a_state_without_rules_is_a_deadlock_unless_that_is_off() {
    let mut graph = spinning();
    graph.edges[1].clear();
    let found = |deadlock| explore_graph(&graph, &Options { deadlock, ..Options::default() });
    assert_eq!(found(Deadlock::Off).verdict, Verdict::Holds(()));
    assert_eq!(found(Deadlock::Stuck).violation(), Some(Violation::Deadlock));
    assert_eq!(found(Deadlock::Stuttering).violation(), Some(Violation::Deadlock));
}

#[test]
fn a_rule_that_an_assumption_ends_neither_counts_nor_leaves() {
    let mut graph = spinning();
    graph.edges[1] = vec![(1, Outcome::Excluded, 0)];
    let found = explore_graph(&graph, &Options::default());
    assert_eq!(found.violation(), Some(Violation::Deadlock));
    let options = Options { deadlock: Deadlock::Off, ..Options::default() };
    let found = explore_graph(&graph, &options);
    assert_eq!((found.states, found.rules_fired), (2, 1));
}

#[test]
fn a_state_that_an_assumption_excludes_is_neither_counted_nor_expanded() {
    let mut graph = spinning();
    graph.excluded.insert(1);
    let found = explore_graph(&graph, &Options::default());
    assert_eq!(found.verdict, Verdict::Holds(()));
    assert_eq!((found.states, found.rules_fired, found.depth), (1, 1, 0));
}

#[test]
fn a_failing_start_state_is_a_violation_without_a_way() {
    let mut graph = spinning();
    graph.starts.push((0, Outcome::Failed));
    let found = explore_graph(&graph, &Options::default());
    let failed = Violation::StartFailed { rule: 1, instance: 0 };
    assert_eq!(found.violation(), Some(failed));
    assert!(found.counterexample().is_empty());
}

#[test]
fn a_failing_rule_and_a_failing_guard_are_told_apart() {
    for (outcome, expected) in [
        (Outcome::Failed, Violation::RuleFailed { rule: 3, instance: 1 }),
        (Outcome::GuardFailed, Violation::GuardFailed { rule: 3, instance: 1 }),
    ] {
        let mut graph = spinning();
        graph.edges[1].push((3, outcome, 0));
        let found = explore_graph(&graph, &Options::default());
        assert_eq!(found.violation(), Some(expected));
        assert_eq!(found.counterexample().len(), 2);
    }
}

#[test]
fn states_at_the_bound_are_looked_at_but_not_expanded() {
    let grid = Grid { forbidden: Some(2), ..Grid::new(3, 9) };
    let bound =
        |depth| explore_grid(&grid, &Identity, &Options { depth: Some(depth), ..toys::threads(2) });
    let found = bound(5);
    assert_eq!(found.verdict, Verdict::Undecided(Reason::Depth));
    // Points of the grid at distance at most 5: 8 choose 3.
    assert_eq!((found.states, found.depth), (56, 5));
    assert_eq!(bound(6).violation(), Some(Violation::Broken { property: 0 }));
}

#[test]
fn a_search_ends_with_the_level_in_which_there_are_states_enough_however_many_threads_there_are() {
    // Points of the grid at distance at most 4 are 35, at most 5 are 56.
    for threads in [1, 2, 3] {
        for (states, expected) in [(35, (35, 4)), (36, (56, 5)), (56, (56, 5))] {
            let options = Options { states: Some(states), ..toys::threads(threads) };
            let found = explore_grid(&Grid::new(3, 9), &Identity, &options);
            assert_eq!(found.verdict, Verdict::Undecided(Reason::Depth));
            assert_eq!((found.states, found.depth), expected, "{threads} threads");
        }
    }
    let enough = Options { states: Some(1001), ..toys::threads(2) };
    assert_eq!(explore_grid(&Grid::new(3, 9), &Identity, &enough).verdict, Verdict::Holds(()));
}

#[test]
fn a_memory_budget_is_kept() {
    for threads in [1, 3] {
        let options = Options { memory: Some(3_000_000), ..toys::threads(threads) };
        let found = explore_grid(&Grid::new(6, 20), &Identity, &options);
        assert_eq!(found.verdict, Verdict::Undecided(Reason::Memory));
        assert!(found.bytes <= 3_000_000);
        assert!(found.states > 100_000, "{}", found.states);
    }
}

#[test]
fn a_time_budget_is_kept() {
    let options = Options { time: Some(Duration::from_millis(50)), ..toys::threads(2) };
    let found = explore_grid(&Grid::new(8, 30), &Identity, &options);
    assert_eq!(found.verdict, Verdict::Undecided(Reason::Time));
    assert!(found.states > 0);
    assert!(found.seconds < 5.0);
}

#[test]
fn an_interrupt_ends_it_with_totals_and_progress_was_reported() {
    let (codec, interrupt) = (bytes(8, 5), AtomicBool::new(false));
    let machine = || Grid::new(8, 30);
    let system = System { machine, codec: &codec, reduction: &Identity, state_size: 8, rules: 1 };
    let mut reports = 0;
    let mut progress = |report: &tribunal_explore::Progress| {
        reports += 1;
        assert!(report.states > 0 && report.rules_fired > 0 && report.frontier > 0);
        assert!(report.bytes > 0 && report.rate > 0.0 && report.seconds > 0.0);
        interrupt.store(reports == 2, Ordering::Relaxed);
    };
    let found = tribunal_explore::explore(&toys::threads(2), &system, &mut progress, &interrupt);
    assert_eq!(found.verdict, Verdict::Undecided(Reason::Interrupted));
    assert!(found.states > 0 && found.rules_fired > found.states);
}

#[test]
fn a_million_states_take_no_more_than_eight_bytes_on_top_of_each() {
    for threads in [1, 2] {
        let found = explore_grid(&Grid::new(6, 10), &Identity, &toys::threads(threads));
        assert_eq!(found.states, 1_000_000);
        let packed = 3.0;
        let extra = found.bytes_per_state() - packed;
        assert!(extra <= 8.0, "{extra} bytes with {threads} threads");
    }
}

#[test]
fn a_model_without_variables_has_one_state() {
    let graph = Graph {
        starts: vec![(0, Outcome::Done)],
        edges: vec![vec![(0, Outcome::Done, 0)]],
        ..Graph::default()
    };
    let codec = tribunal_explore::BitCodec::of_leaves(&[]);
    let graph = std::sync::Arc::new(graph);
    let machine = || GraphMachine(graph.clone());
    let system = System { machine, codec: &codec, reduction: &Identity, state_size: 8, rules: 1 };
    let interrupt = AtomicBool::new(false);
    let found = tribunal_explore::explore(&toys::threads(2), &system, &mut |_| (), &interrupt);
    assert_eq!((found.violation(), found.states), (Some(Violation::Deadlock), 1));
}

#[test]
#[should_panic(expected = "expected in this test")]
fn a_panic_in_one_worker_ends_all() {
    struct Fragile(Grid);
    impl murphi::machine::Machine for Fragile {
        fn start(&mut self, out: &mut murphi::machine::Successors) {
            self.0.start(out);
        }
        fn expand(&mut self, state: &[u8], out: &mut murphi::machine::Successors) {
            assert!(state[..4] != [3; 4], "expected in this test");
            self.0.expand(state, out);
        }
        fn check(&mut self, state: &[u8]) -> murphi::machine::Check {
            self.0.check(state)
        }
        fn covered(&self) -> &[bool] {
            &[]
        }
    }
    let codec = bytes(4, 4);
    let machine = || Fragile(Grid::new(4, 12));
    let system = System { machine, codec: &codec, reduction: &Identity, state_size: 8, rules: 1 };
    let interrupt = AtomicBool::new(false);
    tribunal_explore::explore(&toys::threads(3), &system, &mut |_| (), &interrupt);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn random_graphs_are_searched_as_plainly_as_can_be(graph in graphs()) {
        let expected = plain_search(&graph);
        let found = explore_graph(&graph, &toys::threads(1));
        prop_assert_eq!((found.states, found.rules_fired, found.depth),
            (expected.states, expected.fired, expected.depth));
        prop_assert_eq!(&found.depths.states, &expected.by_depth);
        match expected.wrong {
            None => prop_assert_eq!(&found.verdict, &Verdict::Holds(())),
            Some((depth, broken)) => {
                prop_assert_eq!(found.counterexample().len() as u32, depth + 1);
                let property = Some(Violation::Broken { property: 0 });
                prop_assert_eq!(found.violation() == property, broken);
                assert_is_path(&graph, &found);
            }
        }
        for threads in [2, 3, 8] {
            let other = explore_graph(&graph, &toys::threads(threads));
            prop_assert_eq!(essence(&found), essence(&other), "with {} threads", threads);
        }
    }

    #[test]
    fn what_is_passed_over_is_the_nearest_broken_vertices(mut graph in graphs(), most in 1usize..4) {
        graph.edges.iter_mut().flatten().for_each(|edge| edge.1 = Outcome::Done);
        let passing = |threads: usize| {
            let options = Options { deadlock: Deadlock::Off, ..toys::threads(threads) };
            explore_graph(&graph, &Options { pass_over: most, ..options })
        };
        let found = passing(1);
        let distances = distances_to_broken(&graph);
        // The level in which there are enough is finished, and of what was found the nearest count.
        let noted: Vec<(usize, u32)> = found.passed_over.iter().map(|passed| {
            let last = passed.run.last().expect("a start state at least");
            (passed.run.len() - 1, vertex(&last.state))
        }).collect();
        prop_assert_eq!(&noted, &distances[..most.min(distances.len())]);
        for passed in &found.passed_over {
            assert_leads(&graph, &passed.run);
        }
        let is_broken = found.violation() == Some(Violation::Broken { property: 0 });
        prop_assert_eq!(is_broken, !distances.is_empty());
        for threads in [2, 8] {
            prop_assert_eq!(essence(&found), essence(&passing(threads)), "{} threads", threads);
        }
    }
}

/// The broken vertices that can be reached without another one on the way, with how far they are.
fn distances_to_broken(graph: &Graph) -> Vec<(usize, u32)> {
    let mut seen: HashSet<u32> = HashSet::new();
    let mut level: Vec<u32> = graph.starts.iter().map(|start| start.0).collect();
    let mut found = Vec::new();
    for distance in 0.. {
        level.sort_unstable();
        level.dedup();
        level.retain(|vertex| seen.insert(*vertex) && !graph.excluded.contains(vertex));
        if level.is_empty() {
            break;
        }
        let (broken, whole): (Vec<u32>, Vec<u32>) =
            level.iter().partition(|vertex| graph.broken.contains(vertex));
        found.extend(broken.into_iter().map(|vertex| (distance, vertex)));
        let next = whole.iter().flat_map(|&vertex| &graph.edges[vertex as usize]);
        level = next.map(|edge| edge.2).collect();
    }
    found
}
