//! A search whose states go to disk finds what a search in memory finds, and goes on from a
//! checkpoint as if nothing had happened. What was damaged is refused.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use crate::toys::{self, *};
use murphi::check;
use murphi::interpret::Interpreter;
use murphi::machine::Outcome;
use murphi::source::Source;
use proptest::prelude::{ProptestConfig, prop_assert_eq, proptest};
use tribunal_explore::symmetry::Symmetry;
use tribunal_explore::{
    Bare, Checkpointing, Disk, Engine, Exploration, Identity, Options, Reason, SearchIdentity,
    StateForm, Verdict, resumable, usable,
};

/// A directory that is removed when it is dropped.
pub(crate) struct Directory(pub(crate) PathBuf);

impl Directory {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let name = format!("tribunal-disk-{}-{}", std::process::id(), NUMBER.fetch_add(1, Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("a directory can be made");
        Directory(path)
    }

    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.0).expect("it is there");
        let mut files: Vec<PathBuf> =
            entries.map(|entry| entry.expect("it is there").path()).collect();
        files.sort();
        files
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// So many threads, and so many states in memory.
pub(crate) fn on_disk(directory: &Path, threads: usize, states: u64) -> Options {
    let disk =
        Disk { directory: directory.to_owned(), checkpoint: None, most_in_memory: Some(states) };
    Options { disk: Some(disk), ..toys::threads(threads) }
}

/// The same with checkpoints after each level, up to `depth`.
pub(crate) fn keeping(options: &Options, resume: bool, depth: Option<u32>) -> Options {
    let mut options = options.clone();
    let disk = options.disk.as_mut().expect("it is on disk");
    disk.checkpoint = Some(Checkpointing {
        directory: disk.directory.clone(),
        every: Duration::ZERO,
        resume,
        identity: identity("1"),
        keep: false,
    });
    options.depth = depth;
    options
}

pub(crate) fn identity(value: &str) -> SearchIdentity {
    vec![("model".to_owned(), "toy".to_owned()), ("constants".to_owned(), value.to_owned())]
}

/// What must not depend on where states are.
pub(crate) fn found(exploration: &Exploration) -> Exploration {
    Exploration { disk_bytes: None, checkpoint: None, ..essence(exploration) }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn random_graphs_are_searched_as_in_memory(graph in graphs()) {
        let expected = found(&explore_graph(&graph, &toys::threads(1)));
        let directory = Directory::new();
        for (threads, states) in [(1, 1), (1, 4), (2, 10), (3, 1000)] {
            let options = on_disk(&directory.0, threads, states);
            prop_assert_eq!(&found(&explore_graph(&graph, &options)), &expected);
        }
        assert!(directory.files().is_empty());
    }

    #[test]
    fn random_graphs_are_searched_in_pieces(graph in graphs(), depth in 0..6u32) {
        let expected = found(&explore_graph(&graph, &toys::threads(1)));
        let directory = Directory::new();
        let mut options = on_disk(&directory.0, 2, 5);
        let mut last = explore_graph(&graph, &keeping(&options, false, Some(depth)));
        for (piece, threads) in [1, 3, 2].into_iter().enumerate() {
            if !matches!(last.verdict, Verdict::Undecided(_)) {
                break;
            }
            let level = last.checkpoint.as_ref().expect("there is a checkpoint").level;
            prop_assert_eq!(level, depth + piece as u32);
            resumable(&directory.0, &identity("1")).unwrap();
            options.threads = threads;
            let depth = (piece < 2).then_some(level + 1);
            last = explore_graph(&graph, &keeping(&options, true, depth));
        }
        prop_assert_eq!(&found(&last), &expected);
        // Once there is an answer, nothing is left but the lock.
        prop_assert_eq!(directory.files().len(), 1);
    }
}

fn cases() -> u32 {
    std::env::var("TRIBUNAL_TRIALS").ok().and_then(|text| text.parse().ok()).unwrap_or(40)
}

#[test]
fn a_grid_is_searched_within_its_memory() {
    let directory = Directory::new();
    for threads in [1, 2] {
        let grid = Grid::new(6, 8);
        let memory = 2 << 20;
        let options = Options { memory: Some(memory), ..on_disk(&directory.0, threads, u64::MAX) };
        let found = explore_grid(&grid, &Identity, &options);
        assert_eq!(found.verdict, Verdict::Holds(()));
        assert_eq!((found.states, found.depth), (8u64.pow(6), 6 * 7));
        assert_eq!(found.rules_fired, 6 * 8u64.pow(6));
        assert!(found.bytes <= memory, "{} bytes", found.bytes);
        // A packed state has 18 bits. Blocks are small with so little memory, which costs a little.
        let on_disk = found.disk_bytes_per_state().unwrap();
        assert!(on_disk > 1.0 && on_disk <= 3.0 + 2.25, "{on_disk} bytes a state on disk");
    }
}

#[test]
fn a_chain_is_followed_to_its_end_and_back() {
    let length = 300;
    let edge = |vertex: u32| vec![(0, Outcome::Done, (vertex + 1).min(length))];
    let graph = Graph {
        starts: vec![(0, Outcome::Done)],
        edges: (0..=length).map(edge).collect(),
        ..Graph::default()
    };
    let directory = Directory::new();
    let expected = found(&explore_graph(&graph, &toys::threads(1)));
    let options = on_disk(&directory.0, 2, 7);
    assert_eq!(found(&explore_graph(&graph, &options)), expected);
    let kept = explore_graph(&graph, &keeping(&options, false, None));
    assert_eq!(found(&kept), expected);
}

#[test]
fn shipped_protocols_and_broken_ones_are_searched_as_in_memory() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols");
    let models = |folder: &Path| {
        let entries = fs::read_dir(folder).expect("the protocols are there");
        let paths = entries.map(|entry| entry.expect("it is there").path());
        paths.filter(|path| path.extension().is_some_and(|end| end == "m")).collect::<Vec<_>>()
    };
    let mut paths = models(&folder);
    paths.extend(models(&folder.join("broken")));
    paths.sort();
    let (mut broken, mut spilled) = (0, 0);
    let directory = Directory::new();
    for path in &paths {
        let text = fs::read_to_string(path).unwrap();
        let source = Source { name: path.display().to_string(), text };
        let model = murphi::load(source, &check::Options::default()).expect("it is right").model;
        let interpreter = Interpreter::new(Arc::new(model)).expect("it can be run");
        let engine = Engine::new(&interpreter);
        let explore = |options: &Options, form: StateForm| {
            // A number, so that all searches end at the same level.
            let options = Options { states: Some(4000), form, ..options.clone() };
            let how = (&options, Symmetry::Full);
            let never = AtomicBool::new(false);
            engine.explore(&interpreter, how, &Bare, &mut |_| (), &never)
        };
        for form in [StateForm::Flat, StateForm::Tree] {
            let expected = found(&explore(&toys::threads(1), form));
            let disk = explore(&on_disk(&directory.0, 2, 150), form);
            assert_eq!(found(&disk), expected, "{} {form:?}", path.display());
            broken += usize::from(matches!(disk.verdict, Verdict::Broken(_)));
            spilled += usize::from(disk.disk_bytes > Some(0));
        }
    }
    assert!(paths.len() > 50 && broken > 30 && spilled > 60, "{broken} {spilled} {}", paths.len());
}

/// A checkpoint of a grid with several runs.
fn grid_checkpoint(directory: &Directory) -> Exploration {
    let options = keeping(&on_disk(&directory.0, 2, 100), false, Some(9));
    let found = explore_grid(&Grid::new(4, 5), &Identity, &options);
    assert_eq!(found.verdict, Verdict::Undecided(Reason::Depth));
    assert_eq!(found.checkpoint.as_ref().map(|checkpoint| checkpoint.level), Some(9));
    found
}

#[test]
fn a_damaged_checkpoint_is_refused() {
    let directory = Directory::new();
    grid_checkpoint(&directory);
    let refused = || resumable(&directory.0, &identity("1")).is_err();
    assert!(!refused());
    let files: Vec<PathBuf> =
        directory.files().into_iter().filter(|path| !path.ends_with("lock")).collect();
    assert!(files.len() >= 3, "{files:?}");
    for path in &files {
        let whole = fs::read(path).unwrap();
        let step = (whole.len() / 150).max(1);
        for at in (0..whole.len()).step_by(step) {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << (at % 8);
            fs::write(path, &bytes).unwrap();
            assert!(refused(), "{} with byte {at} changed", path.display());
        }
        for length in (0..whole.len()).step_by(4 * step) {
            fs::write(path, &whole[..length]).unwrap();
            assert!(refused(), "{} cut off at {length}", path.display());
        }
        fs::remove_file(path).unwrap();
        assert!(refused(), "{} removed", path.display());
        fs::write(path, &whole).unwrap();
    }
    assert!(!refused());
}

#[test]
fn a_run_that_is_damaged_later_ends_the_search_undecided() {
    let directory = Directory::new();
    grid_checkpoint(&directory);
    let is_run = |path: &&PathBuf| path.extension().is_some_and(|end| end == "states");
    let files = directory.files();
    let path = files.iter().filter(is_run).max_by_key(|path| fs::metadata(path).unwrap().len());
    let path = path.expect("there is a run");
    let mut bytes = fs::read(path).unwrap();
    bytes[20] ^= 4;
    fs::write(path, &bytes).unwrap();
    let options = keeping(&on_disk(&directory.0, 2, 100), true, None);
    let found = explore_grid(&Grid::new(4, 5), &Identity, &options);
    let Verdict::Undecided(Reason::Disk(message)) = &found.verdict else {
        panic!("{:?}", found.verdict)
    };
    assert!(message.contains("is damaged: a checksum does not match"), "{message}");
}

#[test]
fn a_checkpoint_of_another_search_is_refused_with_the_difference() {
    let directory = Directory::new();
    grid_checkpoint(&directory);
    let refused = resumable(&directory.0, &identity("2")).unwrap_err().to_string();
    assert!(refused.contains("constants was 1 and is 2"), "{refused}");
    let refused = usable(&directory.0).unwrap_err().to_string();
    assert!(
        refused.contains("holds the checkpoint of a search; continue it with --resume"),
        "{refused}"
    );
    let empty = Directory::new();
    assert!(usable(&empty.0).is_ok());
    let refused = resumable(&empty.0, &identity("1")).unwrap_err().to_string();
    assert!(refused.contains("holds no checkpoint"), "{refused}");
}

#[test]
fn a_search_that_was_killed_leaves_files_that_the_next_one_removes() {
    let directory = Directory::new();
    grid_checkpoint(&directory);
    let stray = directory.0.join("run-000999.states");
    fs::write(&stray, "half a run").unwrap();
    let options = keeping(&on_disk(&directory.0, 1, 100), true, None);
    let found = explore_grid(&Grid::new(4, 5), &Identity, &options);
    assert_eq!((found.verdict, found.states), (Verdict::Holds(()), 625));
    assert!(!stray.exists());
}
