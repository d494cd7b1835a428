//! States with very many or very large successors, and expansions that take for ever.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::toys::{self, bytes};
use murphi::machine::{Check, Machine, Outcome, Successors};
use tribunal_explore::{
    Exploration, Identity, Options, Reason, Strategy, System, Verdict, explore,
};

/// From a state that is all zeros, or as a start state, to each of `wide` others, which all lead
/// back. `largest` is the largest batch that it was left with.
#[derive(Clone)]
struct Fan {
    wide: u32,
    size: usize,
    largest: Arc<AtomicUsize>,
}

impl Fan {
    fn new(wide: u32, size: usize) -> Self {
        Fan { wide, size, largest: Arc::default() }
    }

    fn leaf(&self, number: u32) -> Vec<u8> {
        let mut leaf = vec![0; self.size];
        leaf[..4].copy_from_slice(&(number + 1).to_le_bytes());
        leaf[self.size - 1] = 1;
        leaf
    }
}

impl Machine for Fan {
    fn start(&mut self, out: &mut Successors) {
        toys::push(out, 0, 0, Outcome::Done, &vec![0; self.size]);
    }

    fn expand(&mut self, state: &[u8], out: &mut Successors) {
        self.run_in_portions(Some(state), usize::MAX, out, &mut |_| ());
    }

    fn check(&mut self, _state: &[u8]) -> Check {
        Check::Holds
    }

    fn covered(&self) -> &[bool] {
        &[]
    }

    fn run_in_portions(
        &mut self,
        state: Option<&[u8]>,
        most: usize,
        out: &mut Successors,
        full: &mut dyn FnMut(&mut Successors),
    ) {
        let Some(state) = state else { return self.start(out) };
        let wide = if state.iter().all(|&byte| byte == 0) { self.wide } else { 1 };
        for number in 0..wide {
            if out.firings.len() == most {
                full(out);
                out.clear();
            }
            let successor = if wide > 1 { self.leaf(number) } else { vec![0; self.size] };
            toys::push(out, 0, u64::from(number), Outcome::Done, &successor);
            self.largest.fetch_max(out.states.len(), Relaxed);
        }
    }
}

fn explore_fan(fan: &Fan, options: &Options) -> Exploration {
    let codec = bytes(fan.size as u32, 8);
    let machine = || fan.clone();
    let (reduction, state_size) = (&Identity, fan.size);
    let system = System { machine, codec: &codec, reduction, state_size, rules: 1 };
    explore(options, &system, &mut |_| (), &AtomicBool::new(false))
}

#[test]
fn many_successors_are_taken_in_portions_by_every_strategy() {
    for strategy in [Strategy::Breadth, Strategy::Depth, Strategy::Compact { bits: 64 }] {
        for threads in [1, 2, 3, 8] {
            let fan = Fan::new(200_000, 16);
            let found = explore_fan(&fan, &Options { strategy, ..toys::threads(threads) });
            assert_eq!(found.verdict, Verdict::Holds(()), "{strategy:?}");
            assert_eq!((found.states, found.rules_fired, found.depth), (200_001, 400_000, 1));
            assert!(fan.largest.load(Relaxed) <= 1 << 20, "{strategy:?}");
        }
    }
}

#[test]
fn a_few_states_of_four_megabytes_fit_in_a_budget_for_a_few() {
    let fan = Fan::new(3, 4 << 20);
    let options = Options { memory: Some(100 << 20), ..toys::threads(1) };
    let found = explore_fan(&fan, &options);
    assert_eq!((found.verdict, found.states), (Verdict::Holds(()), 4));
    assert!(found.bytes <= 100 << 20);
}

#[test]
fn a_random_walk_does_not_take_more_memory_than_it_may() {
    let strategy = Strategy::Simulate { steps: 1000, seed: 1, length: 100 };
    let options = Options { strategy, memory: Some(1 << 20), ..toys::threads(1) };
    let fan = Fan::new(100, 1 << 16);
    assert_eq!(explore_fan(&fan, &options).verdict, Verdict::Undecided(Reason::Memory));
    assert!(fan.largest.load(Relaxed) <= 1 << 20);
}

#[test]
fn there_are_no_more_threads_than_the_memory_for_their_messages_allows() {
    let of = |threads, memory, packed| {
        let options = Options { memory: Some(memory), ..toys::threads(threads) };
        tribunal_explore::threads(&options, packed)
    };
    assert_eq!(of(8, 1 << 30, 20), 8);
    assert_eq!(of(5000, 64 << 30, 20), tribunal_explore::MOST_THREADS);
    assert!(of(5000, 256 << 20, 20) < 64);
    assert_eq!(of(8, 1 << 20, 1 << 20), 1);
    let options = Options { memory: Some(64 << 20), ..toys::threads(5000) };
    assert_eq!(explore_fan(&Fan::new(1000, 16), &options).states, 1001);
}

/// Its start states, rules or properties take for ever, unless it is told to stop.
#[derive(Clone)]
struct Endless {
    place: Place,
    stop: Arc<AtomicBool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Start,
    Rules,
    Properties,
}

impl Endless {
    fn wait(&self, place: Place) {
        let started = Instant::now();
        while self.place == place && !self.stop.load(Relaxed) {
            assert!(started.elapsed() < Duration::from_secs(20), "{place:?} was not told to stop");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Machine for Endless {
    fn start(&mut self, out: &mut Successors) {
        self.wait(Place::Start);
        toys::push(out, 0, 0, Outcome::Done, &[0; 8]);
    }

    fn expand(&mut self, state: &[u8], out: &mut Successors) {
        self.wait(Place::Rules);
        // What is cut short means nothing.
        toys::push(out, 0, 0, Outcome::Failed, state);
    }

    fn check(&mut self, _state: &[u8]) -> Check {
        self.wait(Place::Properties);
        if self.place == Place::Properties { Check::Failed(0) } else { Check::Holds }
    }

    fn covered(&self) -> &[bool] {
        &[]
    }

    fn obey(&mut self, stop: &Arc<AtomicBool>) {
        self.stop = Arc::clone(stop);
    }
}

#[test]
fn a_budget_and_an_interrupt_are_seen_within_one_expansion() {
    let walk = Strategy::Simulate { steps: 1000, seed: 1, length: 100 };
    for strategy in [Strategy::Breadth, Strategy::Depth, Strategy::Compact { bits: 64 }, walk] {
        for place in [Place::Start, Place::Rules, Place::Properties] {
            for time in [Some(Duration::from_millis(30)), None] {
                let codec = bytes(8, 8);
                let machine = || Endless { place, stop: Arc::default() };
                let system = System {
                    machine,
                    codec: &codec,
                    reduction: &Identity,
                    state_size: 8,
                    rules: 1,
                };
                let options = Options { strategy, time, ..toys::threads(2) };
                let interrupt = AtomicBool::new(time.is_none());
                let found = explore(&options, &system, &mut |_| (), &interrupt);
                let reason = if time.is_some() { Reason::Time } else { Reason::Interrupted };
                assert_eq!(found.verdict, Verdict::Undecided(reason), "{strategy:?} {place:?}");
            }
        }
    }
}
