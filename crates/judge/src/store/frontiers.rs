//! Frontiers: a search over how far each thread is and what each address holds.
//!
//! Where values repeat, who read from whom is not known, and a search over that has a choice for
//! every read. The machine of sc or tso needs no such choice: a read fits or does not fit what memory
//! holds. So this engine runs the machine, as checkers of linearizability do (Wing and Gong 1993,
//! Lowe 2017): depth-first over the writes that may reach memory next, with memory of the states from
//! which the end cannot be reached. Under tso a state also has the writes that each thread has issued
//! and memory has not seen: a range of the thread.
//!
//! What cannot do harm is done at once and is no choice: a read that fits (moving it forward changes
//! nothing for others), a fence whose writes are through, an atomic that writes what it read, and
//! under tso a write that enters its buffer. Of the writes that may come next, first those that
//! somebody waits for, then those of the thread with the most to do; or the one that was recorded
//! first. Attempts are limited and repeated with doubled limits and other tie-breaks, and states that
//! are known to be dead stay known, so the search is complete.
//!
//! Cost: at most the product of the lengths of the threads, times what memory can hold. It is the
//! engine for few threads or few values. States are known by 128 bits of hash, so exhaustion alone is
//! not called a violation: a proof is searched for, knowing that there is one.

use history::{EventId, History, Operation};
use rustc_hash::{FxHashMap, FxHashSet};

use super::frontier_state::{Machine, State};
use crate::Budget;

/// States that the first attempt visits at most, beside those it takes to come through.
const FIRST_ATTEMPT: usize = 2_000;

/// About what a dead state takes.
const BYTES_A_STATE: usize = 40;

/// The answer of the search.
pub(crate) enum Explored {
    /// The accesses in an order that the machine performs.
    Order(Vec<EventId>),
    /// No run of the machine performs them all; so many states are dead.
    Nothing(usize),
    /// The time, or the number of states that was asked for, ran out.
    Spent,
    /// The dead states would not fit the memory.
    TooLarge,
}

/// Whether the engine knows how to treat this history: clocks and observed write orders restrict runs
/// in ways that it does not look at, and so do accesses that overlap partly.
pub(crate) fn applies(history: &History) -> bool {
    !history.has_times() && history.orders().is_empty() && history.mixed().is_none()
}

/// Searches for a run of the machine of sc, or of tso with store buffers. No more than about
/// `most` states are visited.
pub(crate) fn explore(history: &History, buffered: bool, most: usize, budget: &Budget) -> Explored {
    let machine = Machine::new(history, buffered);
    let bytes = history.len() * size_of::<Frame>() + machine.bytes();
    if !budget.allows(bytes) {
        return Explored::TooLarge;
    }
    let mut search = Search {
        start: State::new(&machine),
        machine,
        dead: FxHashSet::default(),
        visited: 0,
        bytes,
        budget,
    };
    search.run(history, most)
}

/// Which write comes first.
#[derive(Clone, Copy)]
enum Guide {
    /// The one that most threads wait for, then that of the thread with the most to do; ties by a
    /// number that differs from attempt to attempt.
    Need(u64),
    /// The one that was recorded first.
    Recorded,
}

/// How an attempt ended.
enum Attempt {
    Through(Vec<u32>),
    Exhausted,
    Limit,
    Spent,
    TooLarge,
}

struct Search<'b> {
    machine: Machine,
    start: State,
    dead: FxHashSet<u128>,
    visited: usize,
    bytes: usize,
    budget: &'b Budget,
}

/// A state on the current path, and what was not tried in it yet.
struct Frame {
    key: u128,
    /// Threads whose write may come next, the best last.
    options: Vec<u32>,
    /// How the state before it is had again.
    undo: super::frontier_state::Undo,
}

impl Search<'_> {
    fn run(&mut self, history: &History, most: usize) -> Explored {
        let mut limit = FIRST_ATTEMPT + 2 * history.len();
        for number in 0.. {
            let guide = match number {
                1 => Guide::Recorded,
                number => Guide::Need(number),
            };
            let limit_now = limit.min(most.saturating_sub(self.visited));
            match self.attempt(guide, limit_now) {
                Attempt::Through(threads) => return Explored::Order(self.order(&threads)),
                Attempt::Exhausted => return Explored::Nothing(self.dead.len()),
                Attempt::Spent => return Explored::Spent,
                Attempt::TooLarge => return Explored::TooLarge,
                Attempt::Limit if self.visited >= most => return Explored::Spent,
                Attempt::Limit => {}
            }
            if number > 0 {
                limit = limit.saturating_mul(2);
            }
        }
        Explored::Spent
    }

    /// Depth-first from the start. The result is the thread of each write, in order.
    fn attempt(&mut self, guide: Guide, limit: usize) -> Attempt {
        let mut state = self.start.clone();
        let mut path: Vec<u32> = Vec::new();
        let mut frames: Vec<Frame> = Vec::new();
        let mut visited = 0;
        let undo = state.settle_all(&self.machine);
        if state.is_through(&self.machine) {
            return Attempt::Through(path);
        }
        frames.push(Frame { key: state.key(), options: self.options(&state, guide), undo });
        while let Some(frame) = frames.last_mut() {
            let Some(thread) = frame.options.pop() else {
                self.dead.insert(frame.key);
                if let Some(frame) = frames.pop() {
                    state.take_back(&self.machine, frame.undo);
                }
                path.pop();
                continue;
            };
            visited += 1;
            self.visited += 1;
            if visited > limit {
                return Attempt::Limit;
            }
            if visited.is_multiple_of(1024) {
                if self.budget.is_spent() {
                    return Attempt::Spent;
                }
                if !self.budget.allows(self.bytes + self.dead.len() * BYTES_A_STATE) {
                    return Attempt::TooLarge;
                }
            }
            let undo = state.write(&self.machine, thread as usize);
            path.push(thread);
            if state.is_through(&self.machine) {
                return Attempt::Through(path);
            }
            if self.dead.contains(&state.key()) || state.is_hopeless(&self.machine) {
                state.take_back(&self.machine, undo);
                path.pop();
                continue;
            }
            let options = self.options(&state, guide);
            frames.push(Frame { key: state.key(), options, undo });
        }
        Attempt::Exhausted
    }

    /// The threads whose write may come next, the best last.
    fn options(&self, state: &State, guide: Guide) -> Vec<u32> {
        let mut options: Vec<(u64, u32)> = Vec::new();
        let waited_for = |class| match guide {
            Guide::Need(_) => state.waiting_for(&self.machine, class),
            Guide::Recorded => 0,
        };
        for thread in 0..self.machine.threads() {
            let Some(step) = state.next_write(&self.machine, thread) else { continue };
            let rank = match guide {
                Guide::Recorded => u64::MAX - u64::from(self.machine.line(step)),
                Guide::Need(seed) => {
                    let need = waited_for(self.machine.written(step)) as u64;
                    let left = state.left(&self.machine, thread) as u64;
                    let noise = if seed == 0 { 0 } else { scramble(seed, step as u64) & 0xf };
                    need << 40 | (left + (left * noise) / 16) << 8
                }
            };
            options.push((rank, thread as u32));
        }
        options.sort_unstable();
        options.into_iter().map(|(_, thread)| thread).collect()
    }

    /// The accesses in the order in which they are performed when these threads write one by one.
    fn order(&self, threads: &[u32]) -> Vec<EventId> {
        let mut state = self.start.clone();
        let mut order = Vec::new();
        state.settle_all_into(&self.machine, &mut order);
        for &thread in threads {
            state.write_into(&self.machine, thread as usize, &mut order);
        }
        order
    }
}

/// A number that looks random.
pub(super) fn scramble(seed: u64, value: u64) -> u64 {
    let mut mixed = value.wrapping_add(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// What an access does, with values known by their class: an address and a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    Read {
        class: u32,
    },
    Write {
        class: u32,
    },
    Atomic {
        read: u32,
        written: u32,
    },
    /// A fence that reads wait at until writes are through.
    Fence,
}

/// The steps of all threads, thread by thread, and the classes of values.
pub(super) struct Steps {
    pub(super) steps: Vec<(Step, EventId)>,
    /// `starts[t]..starts[t + 1]` are the steps of thread `t`.
    pub(super) starts: Vec<u32>,
    /// The address of each class.
    pub(super) address: Vec<u32>,
    /// The class that each address has at first, and the one it must have at last.
    pub(super) initial: Vec<u32>,
    pub(super) last: Vec<Option<u32>>,
}

impl Steps {
    pub(super) fn new(history: &History, buffered: bool) -> Self {
        let mut classes = Classes::default();
        let initial = history
            .address_ids()
            .map(|id| classes.of(id.index(), history.address(id).initial))
            .collect();
        let mut steps = Vec::with_capacity(history.len());
        let mut starts = vec![0];
        for thread in history.threads() {
            for event in history.thread_events(thread) {
                let step = match history.event(event).operation {
                    Operation::Read { address, value } => {
                        Step::Read { class: classes.of(address.index(), value) }
                    }
                    Operation::Write { address, value } => {
                        Step::Write { class: classes.of(address.index(), value) }
                    }
                    Operation::ReadModifyWrite { address, read, write } => Step::Atomic {
                        read: classes.of(address.index(), read),
                        written: classes.of(address.index(), write),
                    },
                    Operation::Fence { before, after } => {
                        if !(buffered && before.writes && after.reads) {
                            continue;
                        }
                        Step::Fence
                    }
                };
                steps.push((step, event));
            }
            starts.push(steps.len() as u32);
        }
        let mut last = vec![None; history.address_count()];
        for f in history.finals() {
            last[f.address.index()] = Some(classes.of(f.address.index(), f.value));
        }
        Self { steps, starts, address: classes.address, initial, last }
    }
}

#[derive(Default)]
struct Classes {
    known: FxHashMap<(usize, u64), u32>,
    address: Vec<u32>,
}

impl Classes {
    fn of(&mut self, address: usize, value: u64) -> u32 {
        let new = self.address.len() as u32;
        let class = *self.known.entry((address, value)).or_insert(new);
        if class == new {
            self.address.push(address as u32);
        }
        class
    }
}
