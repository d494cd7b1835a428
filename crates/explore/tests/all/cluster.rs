//! Several processes find what one finds: counts, verdicts, and the steps of counterexamples. Here
//! each process is a thread with connections of its own, so that many models can be tried.

#![allow(clippy::unwrap_used)] // a test may fail

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::toys::{self, *};
use ::cluster::{Cluster, Plan, Secret};
use murphi::check;
use murphi::interpret::Interpreter;
use murphi::source::Source;
use proptest::prelude::{ProptestConfig, prop_assert_eq, proptest};
use tribunal_explore::symmetry::Symmetry;
use tribunal_explore::{Bare, Engine, Exploration, Options, Reason, Verdict};

/// So many processes that have found each other, with so many threads each.
fn clusters(processes: usize, threads: usize) -> Vec<Cluster> {
    let listener = |_| std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let listeners: Vec<_> = (0..processes).map(listener).collect();
    let address = |listener: &std::net::TcpListener| listener.local_addr().unwrap().to_string();
    let addresses: Vec<String> = listeners.iter().map(address).collect();
    std::thread::scope(|scope| {
        let join = |(process, listener)| {
            let plan = Plan {
                process,
                addresses: addresses.clone(),
                threads,
                secret: Secret::of_file(b"a secret of the tests").unwrap(),
                identity: Vec::new(),
                listener: Some(listener),
                patience: Duration::from_secs(60),
            };
            scope.spawn(|| ::cluster::connect(plan, &|_| (), &AtomicBool::new(false)).unwrap())
        };
        let joining: Vec<_> = listeners.into_iter().enumerate().map(join).collect();
        joining.into_iter().map(|joining| joining.join().unwrap()).collect()
    })
}

/// What each of several processes finds.
fn together(
    (processes, threads): (usize, usize),
    options: &Options,
    explore: impl Fn(&Options) -> Exploration + Sync,
) -> Vec<Exploration> {
    let clusters = clusters(processes, threads);
    std::thread::scope(|scope| {
        let search = |cluster: Cluster| {
            let options = Options { cluster: Some(cluster), ..options.clone() };
            let explore = &explore;
            scope.spawn(move || explore(&options))
        };
        let searching: Vec<_> = clusters.into_iter().map(search).collect();
        searching.into_iter().map(|searching| searching.join().unwrap()).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    /// Random graphs with broken states, failing rules and dead ends: every process tells what one
    /// process alone tells.
    #[test]
    fn processes_find_what_one_finds(graph in graphs(), processes in 1_usize..4, threads in 1_usize..3) {
        let expected = essence(&explore_graph(&graph, &toys::threads(1)));
        let options = &toys::threads(threads);
        let found = together((processes, threads), options, |options| explore_graph(&graph, options));
        for found in found {
            prop_assert_eq!(essence(&found), expected.clone());
        }
    }
}

fn protocol(name: &str, constants: &[(&str, &str)]) -> Interpreter {
    let path = format!("{}/../../protocols/{name}.m", env!("CARGO_MANIFEST_DIR"));
    let source = Source { name: name.to_owned(), text: std::fs::read_to_string(path).unwrap() };
    let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let language = check::Options {
        constants: constants.iter().map(pair).collect(),
        ..check::Options::default()
    };
    let model = murphi::load(source, &language).unwrap().model;
    Interpreter::new(Arc::new(model)).unwrap()
}

/// All shipped protocols of at most some thousand states, and broken ones.
#[test]
fn protocols_have_the_states_and_counterexamples_of_one_process() {
    let names = ["german", "mi", "peterson", "broken/german-grants-before-acks"];
    for name in names {
        let interpreter = protocol(name, &[]);
        let engine = Engine::new(&interpreter);
        let explore = |options: &Options| {
            let how = (options, Symmetry::Full);
            engine.explore(&interpreter, how, &Bare, &mut |_| (), &AtomicBool::new(false))
        };
        let expected = essence(&explore(&toys::threads(1)));
        for shape in [(2, 1), (4, 1), (2, 2)] {
            for found in together(shape, &toys::threads(shape.1), explore) {
                assert_eq!(essence(&found), expected, "{name} with {shape:?}");
            }
        }
    }
}

/// Whoever runs out of memory ends all, and each says why.
#[test]
fn a_process_without_memory_ends_all() {
    let interpreter = protocol("peterson", &[("N", "5")]);
    let engine = Engine::new(&interpreter);
    let options = Options { memory: Some(5 << 20), ..toys::threads(1) };
    let found = together((2, 1), &options, |options| {
        let how = (options, Symmetry::Off);
        engine.explore(&interpreter, how, &Bare, &mut |_| (), &AtomicBool::new(false))
    });
    for found in found {
        assert_eq!(found.verdict, Verdict::Undecided(Reason::Memory));
        assert!(found.states > 1000);
    }
}

fn cases() -> u32 {
    std::env::var("TRIBUNAL_TRIALS").ok().and_then(|text| text.parse().ok()).unwrap_or(6)
}
