//! Is a goal within reach of every state? Decided after a search that has stored all states.
//!
//! `liveness c` claims that from every reachable state some run leads to a state with c (AG EF c).
//! There is a bit for each state and each goal: set, if the goal is known to be within reach. First
//! it is set where a goal holds. Then states are gone through again and again, and a state whose bit
//! is missing gets it if a successor has it. No edges are stored: the successors of a state are made
//! and looked up again. Nobody's bit is ever taken back, so threads need not wait for each other, and
//! when nothing changes any more, the bits are the least fixpoint, whatever the order was: a goal is
//! out of reach of exactly the states without its bit.
//!
//! The order decides how often states are gone through. Runs towards a goal go on to deeper levels
//! or back to earlier ones, so levels are taken from the last to the first and then from the first
//! to the last, in turn; and where a state has a successor that is not known either, that one is
//! followed for some steps (`chase`), and what is found is carried back along the way.
//!
//! This is so where all states are in the memory of one process. On disk and in several processes
//! workers ask each other (`together.rs`).
//!
//! With symmetry the states are representatives. Rules and conditions treat members of a scalarset
//! alike (`check/order.rs` of the `murphi` crate finds where they may not, and the symmetry leaves
//! such scalarsets alone), so a state reaches goal g exactly if its renamed state reaches the
//! renamed goal. A successor is replaced by its representative, and the renaming that does it says
//! which of its bits stands for g.

mod bits;
mod chase;
mod located;
mod states;
mod together;
mod waiting;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use murphi::goal::Goals;
use murphi::machine::{Check, Machine, Outcome};
use serde::{Deserialize, Serialize};

use crate::System;
use crate::finding::{Finding, Kind};
use crate::hash::Partition;
use crate::memory::Meter;
use crate::reduction::Reduction;
use crate::runner::{Rules, Runner};
use crate::storage::Storage;
use crate::store::{Numbered, Store, StoreError};
use crate::symmetry::Permutation;
use crate::watch::Watch;
use bits::Bits;
use states::{Run, States};

pub(crate) use located::{AtHand, InMemory, Located, Order, Questions, Reader, StatePlace};
pub(crate) use together::{Seat, check as check_together};

/// What is asked, and where.
pub(crate) struct Question<'a> {
    pub(crate) goals: &'a Goals,
    pub(crate) partition: Partition,
    pub(crate) depth: u32,
    pub(crate) threads: usize,
    pub(crate) watch: &'a Watch,
    pub(crate) meter: &'a Meter,
}

/// A state from which a goal is out of reach, or in which a goal cannot be evaluated. The first one is
/// the least.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Found {
    pub(crate) level: u32,
    pub(crate) finding: Finding,
    /// The number of the goal, in the names of the representative.
    pub(crate) goal: usize,
}

/// What all threads share.
struct Shared<'a> {
    question: &'a Question<'a>,
    states: States<'a>,
    bits: Bits,
    /// The states whose successors were made in this sweep.
    looked: Bits,
    /// Stretches of states, level by level.
    runs: Vec<Run>,
    /// The next stretch of this sweep.
    next: AtomicUsize,
    changed: AtomicBool,
    failed: Mutex<Option<Found>>,
}

/// All states of a search in this process.
pub(crate) enum Kept<'a> {
    /// In memory.
    Numbered(Vec<&'a dyn Numbered>),
    /// On disk, of some workers at least.
    Located(Vec<Box<dyn Located + 'a>>),
}

impl<'a> Kept<'a> {
    /// Those of these stores, up to the last level; nothing if they do not keep them.
    pub(crate) fn of<S: Store>(stores: &'a [S], depth: u32) -> Option<Self> {
        let numbered: Option<Vec<_>> = stores.iter().map(Store::numbered).collect();
        let located =
            || -> Option<Vec<_>> { stores.iter().map(|store| store.located(depth)).collect() };
        numbered.map(Kept::Numbered).or_else(|| Some(Kept::Located(located()?)))
    }

    /// Looks for the first state from which a goal is out of reach. What stops early is noted in the
    /// watch.
    pub(crate) fn check<M, F, C, R>(
        self,
        system: &System<'_, F, C, R>,
        question: &Question<'_>,
    ) -> Result<Option<Found>, StoreError>
    where
        M: Machine,
        F: Fn() -> M + Sync,
        C: Storage,
        R: Reduction,
    {
        match self {
            Kept::Numbered(stores) => check(system, &stores, question),
            Kept::Located(stores) => Ok(together::check_here(system, stores, question)),
        }
    }
}

/// Looks for the first state from which a goal is out of reach, among states in memory.
fn check<M, F, C, R>(
    system: &System<'_, F, C, R>,
    stores: &[&dyn Numbered],
    question: &Question<'_>,
) -> Result<Option<Found>, StoreError>
where
    M: Machine,
    F: Fn() -> M + Sync,
    C: Storage,
    R: Reduction,
{
    let states = States::new(stores, question.partition);
    let bits = Bits::new(states.count(), question.goals.len(), question.meter)?;
    let looked = Bits::new(states.count(), 1, question.meter)?;
    let runs = states.runs(question.depth);
    let shared = Shared {
        question,
        states,
        bits,
        looked,
        runs,
        next: AtomicUsize::new(0),
        changed: AtomicBool::new(false),
        failed: Mutex::new(None),
    };
    in_parallel(system, &shared, Order::First, |worker, run| worker.note_goals(run));
    let failed = shared.failed.lock().unwrap_or_else(PoisonError::into_inner).take();
    if failed.is_some() || question.watch.stopped() {
        shared.free();
        return Ok(failed);
    }
    let mut order = Order::Deepest;
    loop {
        shared.changed.store(false, Relaxed);
        shared.looked.clear();
        in_parallel(system, &shared, order, |worker, run| worker.sweep(run));
        if !shared.changed.load(Relaxed) || question.watch.stopped() {
            break;
        }
        order = order.reversed();
    }
    let found = match question.watch.stopped() {
        true => None,
        false => Worker::new(system, &shared).first_out_of_reach(),
    };
    shared.free();
    // What was cut short means nothing.
    Ok(found.filter(|_| !question.watch.stopped()))
}

impl Shared<'_> {
    /// Gives the room of the bits back.
    fn free(self) {
        self.bits.free(self.question.meter);
        self.looked.free(self.question.meter);
    }
}

/// All threads take one stretch of states after the other.
fn in_parallel<M, F, C, R>(
    system: &System<'_, F, C, R>,
    shared: &Shared<'_>,
    order: Order,
    work: impl Fn(&mut Worker<'_, '_, M, C, R>, &Run) + Sync,
) where
    M: Machine,
    F: Fn() -> M + Sync,
    C: Storage,
    R: Reduction,
{
    shared.next.store(0, Relaxed);
    let run = || {
        let mut worker = Worker::new(system, shared);
        loop {
            let number = shared.next.fetch_add(1, Relaxed);
            let Some(last) = shared.runs.len().checked_sub(number + 1) else { break };
            if shared.question.watch.stopped() {
                break;
            }
            let number = if order == Order::Deepest { last } else { number };
            work(&mut worker, &shared.runs[number]);
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (1..shared.question.threads).map(|_| scope.spawn(run)).collect();
        run();
        for thread in threads {
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
}

/// A step from a state to another.
struct Onward {
    /// The number of the other.
    state: u64,
    /// Who became whom.
    renaming: Option<Permutation>,
}

impl Onward {
    /// Which bit there stands for a goal here.
    #[inline(always)]
    fn image(&self, goals: &Goals, goal: usize) -> usize {
        goal_image(goals, self.renaming.as_ref(), goal)
    }
}

/// Which goal a goal becomes by a renaming of members.
#[inline(always)]
fn goal_image(goals: &Goals, renaming: Option<&Permutation>, goal: usize) -> usize {
    match renaming {
        Some(renaming) => goals.image(goal, |ty, member| renaming.image(ty, member)),
        None => goal,
    }
}

/// Something that is wrong with the state that was loaded last.
fn finding_of<M: Machine, C: Storage, R: Reduction>(
    runner: &Runner<'_, M, C, R>,
    goals: &Goals,
    kind: Kind,
    stored: &[u8],
    goal: usize,
) -> Finding {
    let (packed, rule) = (runner.packed(stored), goals.get(goal).property);
    Finding { kind, packed, rule, instance: 0, stored: stored.to_vec() }
}

/// One thread.
struct Worker<'w, 's, M, C: Storage, R: Reduction> {
    shared: &'w Shared<'w>,
    runner: Runner<'s, M, C, R>,
    reached: Vec<bool>,
    /// A packed successor.
    packed: Vec<u8>,
    /// Whether renaming members turns goals into others.
    tracks: bool,
}

impl<'w, 's, M: Machine, C: Storage, R: Reduction> Worker<'w, 's, M, C, R> {
    fn new<F: Fn() -> M>(system: &System<'s, F, C, R>, shared: &'w Shared<'w>) -> Self {
        let question = shared.question;
        let runner = Runner::obeying(system, question.watch.halt());
        let reached = vec![false; question.goals.len()];
        let packed = vec![0; runner.packed_size()];
        let tracks = question.goals.name_members();
        Worker { shared, runner, reached, packed, tracks }
    }

    /// Goes to a state. Says whether it counts.
    fn load(&mut self, packed: &[u8]) -> bool {
        self.runner.load(packed);
        !self.shared.question.goals.has_assumptions() || self.runner.check() != Check::Excluded
    }

    /// Sets the bits of goals that hold.
    fn note_goals(&mut self, run: &Run) {
        let shared = self.shared;
        for number in run.numbers.clone() {
            let packed = shared.states.state(run, number);
            if !self.load(packed) {
                continue;
            }
            if let Err(goal) = self.runner.machine.goals(&self.runner.state, &mut self.reached) {
                if !shared.question.watch.stopped() {
                    self.fail(run.level, packed, goal);
                }
                continue;
            }
            for (goal, &reached) in self.reached.iter().enumerate() {
                if reached {
                    shared.bits.set(shared.states.number(run, number), goal);
                }
            }
        }
    }

    /// Keeps the first state in which a goal cannot be evaluated.
    #[cold]
    fn fail(&self, level: u32, packed: &[u8], goal: usize) {
        let goals = self.shared.question.goals;
        let finding = finding_of(&self.runner, goals, Kind::PropertyFailed, packed, goal);
        let found = Found { level, finding, goal };
        let mut failed = self.shared.failed.lock().unwrap_or_else(PoisonError::into_inner);
        if failed.as_ref().is_none_or(|failed| found < *failed) {
            *failed = Some(found);
        }
    }

    /// Goes through some states once.
    fn sweep(&mut self, run: &Run) {
        let shared = self.shared;
        for number in run.numbers.clone() {
            let at = shared.states.number(run, number);
            if !shared.bits.all(at) && !shared.looked.has(at, 0) {
                self.chase(at, shared.states.state(run, number));
            }
        }
    }

    /// Sets the bits of a state that its successors have. If some are missing still, says where to
    /// look next: the first successor that misses some, too.
    fn look(&mut self, at: u64, packed: &[u8]) -> Option<Onward> {
        if !self.load(packed) {
            return None;
        }
        let Worker { shared, runner, packed, tracks, .. } = self;
        let shared: &Shared<'_> = shared;
        let Shared { question, states, bits, .. } = shared;
        let goals = question.goals;
        shared.looked.set(at, 0);
        let mut missing: Vec<usize> = bits.missing(at).collect();
        let mut onward = None;
        let tracks = *tracks;
        runner.run(Rules::Applying, |portion| {
            for firing in 0..portion.firings().len() {
                if missing.is_empty() {
                    return;
                }
                if portion.firings()[firing].outcome != Outcome::Done || !portion.changes(firing) {
                    continue;
                }
                let renaming = match tracks {
                    true => portion.pack_tracked(firing, packed),
                    false => portion.pack(firing, packed).map(|()| None),
                };
                let renaming = match renaming {
                    Ok(renaming) => renaming,
                    Err(error) => {
                        question.watch.fail(error);
                        return;
                    }
                };
                let Some(state) = states.find(packed) else { continue };
                let edge = Onward { state, renaming };
                missing.retain(|&goal| {
                    let is_reached = bits.has(state, edge.image(goals, goal));
                    if is_reached {
                        bits.set(at, goal);
                        shared.changed.store(true, Relaxed);
                    }
                    !is_reached
                });
                if onward.is_none() && !bits.all(state) && !shared.looked.has(state, 0) {
                    onward = Some(edge);
                }
            }
        });
        onward.filter(|_| !missing.is_empty())
    }

    /// The first state of the least level from which a goal is out of reach.
    fn first_out_of_reach(&mut self) -> Option<Found> {
        let shared = self.shared;
        let mut best: Option<Found> = None;
        for run in &shared.runs {
            if best.as_ref().is_some_and(|best| best.level < run.level) {
                break;
            }
            for number in run.numbers.clone() {
                let Some(goal) = shared.bits.missing(shared.states.number(run, number)).next()
                else {
                    continue;
                };
                let packed = shared.states.state(run, number);
                if !self.load(packed) {
                    continue;
                }
                let goals = shared.question.goals;
                let finding = finding_of(&self.runner, goals, Kind::OutOfReach, packed, goal);
                if best.as_ref().is_none_or(|best| finding < best.finding) {
                    best = Some(Found { level: run.level, finding, goal });
                }
            }
        }
        best
    }
}
