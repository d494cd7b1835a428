//! Several processes find what one finds: counts, verdicts, and the steps of counterexamples. Here
//! each process is a thread with connections of its own, so that many models can be tried.

#![allow(clippy::unwrap_used)] // a test may fail

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::disk::{self, Directory, identity, keeping, on_disk};
use crate::toys::{self, *};
use ::cluster::{Cluster, Plan, Secret};
use murphi::check;
use murphi::goal::Goals;
use murphi::interpret::Interpreter;
use murphi::source::Source;
use proptest::prelude::{ProptestConfig, prop_assert, prop_assert_eq, proptest};
use tribunal_explore::symmetry::Symmetry;
use tribunal_explore::{
    Bare, Engine, Exploration, Liveness, Options, Reason, StateForm, Verdict, resumable,
};

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
                is_led: false,
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
pub(crate) fn together<T: Send>(
    (processes, threads): (usize, usize),
    options: &Options,
    explore: impl Fn(&Options) -> T + Sync,
) -> Vec<T> {
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
        for form in [StateForm::Flat, StateForm::Tree] {
            let expected = Options { form, ..toys::threads(1) };
            let expected = essence(&explore_graph(&graph, &expected));
            let options = &Options { form, ..toys::threads(threads) };
            let shape = (processes, threads);
            let found = together(shape, options, |options| explore_graph(&graph, options));
            for found in found {
                prop_assert_eq!(essence(&found), expected.clone());
            }
        }
    }

    /// The same with the states of each process on disk.
    #[test]
    fn processes_find_on_disk_what_one_finds(graph in graphs(), processes in 1_usize..4, threads in 1_usize..3) {
        let expected = disk::found(&explore_graph(&graph, &toys::threads(1)));
        let directory = Directory::new();
        let options = &on_disk(&directory.0, threads, 4 * threads as u64);
        let found = together((processes, threads), options, |options| explore_graph(&graph, options));
        for found in found {
            prop_assert_eq!(disk::found(&found), expected.clone());
        }
        prop_assert!(directory.files().is_empty());
    }

    /// A search in pieces, each with another number of processes: two, then one without a cluster, then
    /// three.
    #[test]
    fn processes_go_on_from_checkpoints(graph in graphs(), depth in 0..6u32) {
        let expected = disk::found(&explore_graph(&graph, &toys::threads(1)));
        let directory = Directory::new();
        let mut last = None;
        let shapes = [Some((2, 1)), None, Some((3, 2)), None, Some((2, 2))];
        for (level, (piece, shape)) in (depth..).zip(shapes.into_iter().enumerate()) {
            let threads = shape.map_or(2, |(_, threads)| threads);
            let until = (piece < 4).then_some(level);
            let options = keeping(&on_disk(&directory.0, threads, 5), piece > 0, until);
            let found = match shape {
                Some(shape) => together(shape, &options, |options| explore_graph(&graph, options)),
                None => vec![explore_graph(&graph, &options)],
            };
            for other in &found[1..] {
                prop_assert_eq!(disk::found(other), disk::found(&found[0]));
            }
            let found = found.into_iter().next().unwrap();
            let is_open = matches!(found.verdict, Verdict::Undecided(_));
            if is_open {
                prop_assert_eq!(found.checkpoint.as_ref().map(|saved| saved.level), Some(level));
                resumable(&directory.0, &identity("1")).unwrap();
            }
            last = Some(found);
            if !is_open {
                break;
            }
        }
        prop_assert_eq!(last.map(|last| disk::found(&last)), Some(expected));
        // Once there is an answer, nothing is left but the lock.
        prop_assert_eq!(directory.files().len(), 1);
    }
}

fn protocol(name: &str, constants: &[(&str, &str)]) -> Interpreter {
    protocol_with(name, constants, "")
}

/// A shipped protocol, with more text below it.
pub(crate) fn protocol_with(name: &str, constants: &[(&str, &str)], more: &str) -> Interpreter {
    let path = format!("{}/../../protocols/{name}.m", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap() + more;
    let source = Source { name: name.to_owned(), text };
    let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let language = check::Options {
        constants: constants.iter().map(pair).collect(),
        ..check::Options::default()
    };
    let model = murphi::load(source, &language).unwrap().model;
    Interpreter::new(Arc::new(model)).unwrap()
}

/// The files of a folder of shipped protocols.
fn shipped(folder: &str) -> Vec<String> {
    let path = format!("{}/../../protocols/{folder}", env!("CARGO_MANIFEST_DIR"));
    let files = std::fs::read_dir(path).unwrap().map(|file| file.unwrap().path());
    let models = files.filter(|path| path.extension().is_some_and(|ending| ending == "m"));
    let name = |path: std::path::PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
    let mut names: Vec<String> = models.map(|path| format!("{folder}{}", name(path))).collect();
    names.sort();
    names
}

/// All shipped protocols of at most some thousand states, and all broken ones with a counterexample
/// within them, stored flat and as trees.
#[test]
fn protocols_have_the_states_and_counterexamples_of_one_process() {
    let mut compared = 0;
    for name in [shipped(""), shipped("broken/")].concat() {
        let interpreter = protocol(&name, &[]);
        let engine = Engine::new(&interpreter);
        let explore = |options: &Options| {
            let goals = Goals::of(interpreter.model()).expect("there are few");
            let options = Options { goals, ..options.clone() };
            let how = (&options, Symmetry::Full);
            engine.explore(&interpreter, how, &Bare, &mut |_| (), &AtomicBool::new(false))
        };
        let few = Options { states: Some(7000), ..toys::threads(1) };
        if matches!(explore(&few).verdict, Verdict::Undecided(_)) {
            continue;
        }
        compared += 1;
        let (flat, tree) = (StateForm::Flat, StateForm::Tree);
        for (shape, form) in [((2, 1), flat), ((4, 1), tree), ((2, 2), tree)] {
            let how = |threads| Options { form, ..toys::threads(threads) };
            let expected = timeless(&explore(&how(1)));
            for found in together(shape, &how(shape.1), explore) {
                assert_eq!(timeless(&found), expected, "{name} with {shape:?}, {form:?}");
            }
        }
    }
    assert!(compared > 40, "{compared} protocols are small");
}

/// What must not depend on how long liveness took, either.
fn timeless(exploration: &Exploration) -> Exploration {
    let liveness = match &exploration.liveness {
        Liveness::Holds { .. } => Liveness::Holds { seconds: 0.0 },
        other => other.clone(),
    };
    Exploration { liveness, ..essence(exploration) }
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

/// A directory that is not the same for all is noticed before the search begins.
#[test]
fn a_directory_that_is_not_shared_is_refused() {
    let interpreter = protocol("mi", &[]);
    let engine = Engine::new(&interpreter);
    let directories = [Directory::new(), Directory::new()];
    let found = together((2, 1), &toys::threads(1), |options| {
        let process = options.cluster.as_ref().unwrap().process();
        let directory = &directories[process].0;
        let kept = keeping(&on_disk(directory, 1, 5), false, None);
        let options = Options { cluster: options.cluster.clone(), ..kept };
        let how = (&options, Symmetry::Full);
        engine.explore(&interpreter, how, &Bare, &mut |_| (), &AtomicBool::new(false))
    });
    for found in found {
        let Verdict::Undecided(Reason::Disk(why)) = &found.verdict else { panic!("{found:?}") };
        assert!(why.contains("do not see the same files"), "{why}");
    }
}

fn cases() -> u32 {
    std::env::var("TRIBUNAL_TRIALS").ok().and_then(|text| text.parse().ok()).unwrap_or(6)
}
