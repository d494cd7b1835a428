//! Breadth-first search, level by level, with many threads that share nothing but channels.
//!
//! Every state belongs to the worker that its hash names (`worker.rs`). Properties of a state are
//! looked at when its turn to be expanded comes, where it is unpacked anyway; a state that an
//! assumption excludes is then dropped and not counted.
//!
//! Results do not depend on the number of threads. When something wrong is found, the level is
//! finished, as far as is needed: once a property is broken, the rest is only looked at; once a
//! rule failed or a state cannot be left, the rest is expanded but nothing more is stored. Then
//! the least finding is reported, with totals up to this level. Broken properties may also be
//! passed over: they are kept with their levels, and their ways are found after the search.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use murphi::goal::Goals;
use murphi::machine::{Machine, Outcome};

use crate::System;
use crate::counterexample;
use crate::disk::Checkpoints;
use crate::exchange::reserve_buffers;
use crate::finding::{Finding, Kind};
use crate::hash::{self, Partition};
use crate::liveness;
use crate::memory::Meter;
use crate::options::StateForm;
use crate::pack::Codec;
use crate::reduction::Reduction;
use crate::result::{Exploration, Liveness, PassedOver, Reason, Verdict, ViolatingRun, Violation};
use crate::runner::{Rules, Runner};
use crate::storage::Storage;
use crate::store::{Store, StoreError};
use crate::tree::Tree;
use crate::units::Units;
use crate::visited::{Order, VisitedSet};
use crate::watch::{Caller, Watch};
use crate::worker::{Count, Shared, Worker, workers};

/// From how many bytes of a packed state on states are stored as trees.
const LARGE: usize = 96;

/// Breadth-first search with the exact visited set.
pub(crate) fn explore<M, F, C, R>(
    system: &System<'_, F, C, R>,
    units: Units,
    caller: &mut Caller,
) -> Exploration
where
    M: Machine,
    F: Fn() -> M + Sync,
    C: Codec,
    R: Reduction,
{
    let packed = system.codec.packed_size();
    let workers = crate::threads(caller.options, packed);
    let meter = Arc::new(Meter::new(caller.options.memory));
    let as_tree = match caller.options.form {
        StateForm::BySize => packed >= LARGE,
        StateForm::Flat => false,
        StateForm::Tree => true,
    };
    if as_tree && let Ok(tree) = Tree::new(system.state_size, units, system.codec, workers, &meter)
    {
        let &System { ref machine, reduction, state_size, rules, .. } = system;
        let system = System { machine, codec: &tree, reduction, state_size, rules };
        return search_stored(&system, caller, workers, &meter, Order::Inserted);
    }
    search_stored(system, caller, workers, &meter, Order::Shards)
}

/// Breadth-first search with visited sets, whatever the form of states.
fn search_stored<M, F, C, R>(
    system: &System<'_, F, C, R>,
    caller: &mut Caller,
    workers: usize,
    meter: &Arc<Meter>,
    order: Order,
) -> Exploration
where
    M: Machine,
    F: Fn() -> M + Sync,
    C: Storage,
    R: Reduction,
{
    let stored = system.codec.stored_size();
    let partition = VisitedSet::partition(workers);
    let stores = (0..workers)
        .map(|worker| VisitedSet::new(stored, partition, worker, Arc::clone(meter)))
        .map(|store| store.map(|store| store.read_in(order)))
        .collect();
    search(system, caller, stores, partition, meter, None)
}

/// Breadth-first search with any kind of store, one for each worker, and with checkpoints, if they are
/// asked for.
pub(crate) fn search<M, F, C, R, S>(
    system: &System<'_, F, C, R>,
    caller: &mut Caller,
    stores: Result<Vec<S>, StoreError>,
    partition: Partition,
    meter: &Meter,
    checkpoints: Option<&Checkpoints>,
) -> Exploration
where
    M: Machine,
    F: Fn() -> M + Sync,
    C: Storage,
    R: Reduction,
    S: Store,
{
    let started = Instant::now();
    let watch = Watch::new(partition.workers, started);
    let begun = checkpoints.and_then(Checkpoints::begun);
    let mut totals = Totals::new(system.rules);
    if let Some(begun) = begun {
        totals.covered.clone_from(&begun.covered);
    }
    let mut passed_over: Vec<PassedOver> = Vec::new();
    let mut liveness = Liveness::Open;
    let stores = stores.and_then(|mut stores| {
        reserve_buffers(meter, partition, system.codec.stored_size() + 1)?;
        if begun.is_some() {
            return Ok(stores);
        }
        let mut runner = Runner::obeying(system, watch.halt());
        totals.finding = watch.watch_over(caller, meter, || {
            let finding = start(&mut runner, &mut stores, partition, &watch)?;
            runner.count(meter)?;
            Ok::<_, StoreError>(finding)
        })?;
        Ok(stores)
    });
    let mut runner = Runner::new(system);
    match stores {
        Err(error) => watch.fail(error),
        Ok(_) if totals.finding.is_some() => {}
        Ok(stores) => {
            let mut workers = workers(caller.options, system, stores, partition, (&watch, meter));
            if let Some(begun) = begun {
                workers.iter_mut().for_each(|worker| worker.resume(begun));
            }
            let shared = Shared::new(partition.workers, checkpoints);
            let mut workers = run(workers, &shared, || watch.watch(caller, meter));
            let ended = watch.stopped() || workers.iter().any(|worker| worker.bounded);
            if let Some(checkpoints) = checkpoints.filter(|_| ended) {
                save(&mut workers, checkpoints, &watch);
            }
            let mut stores = totals.collect(workers, caller.options.pass_over);
            if totals.finding.is_none() && !totals.bounded && !watch.stopped() {
                liveness = totals.liveness(system, caller, &stores, (partition, &watch, meter));
            }
            for (level, finding) in std::mem::take(&mut totals.passed_over) {
                let stored = &finding.stored;
                match counterexample::way_back(&mut runner, &mut stores, partition, level, stored) {
                    Ok(way) => {
                        let (run, _) = counterexample::steps(&mut runner, &way, &finding);
                        passed_over.push(PassedOver { property: finding.rule, run });
                    }
                    Err(error) => watch.fail(error),
                }
            }
            if let Some(finding) = totals.finding.take() {
                let (depth, stored) = (totals.level, &finding.stored);
                let way =
                    counterexample::way_back(&mut runner, &mut stores, partition, depth, stored);
                match way {
                    Ok(way) => (totals.way, totals.finding) = (way, Some(finding)),
                    // A finding that cannot be shown is none.
                    Err(error) => watch.fail(error),
                }
            }
        }
    }
    let stopped = watch.reason().filter(|_| !matches!(liveness, Liveness::Ended(_)));
    let mut exploration = totals.exploration(stopped);
    exploration.liveness = liveness;
    if let Some(finding) = &totals.finding {
        let (steps, instance) = counterexample::steps(&mut runner, &totals.way, finding);
        let instance = match totals.goal {
            Some(goal) => goal_here(&mut runner, &caller.options.goals, goal),
            None => instance,
        };
        let violation = finding.violation(instance);
        exploration.verdict = Verdict::Broken(ViolatingRun { violation, steps });
    } else if let Some(first) = passed_over.first() {
        let violation = Violation::Broken { property: first.property };
        let steps = first.run.clone();
        exploration.verdict = Verdict::Broken(ViolatingRun { violation, steps });
    }
    exploration.passed_over = passed_over;
    exploration.bytes = meter.peak();
    exploration.seconds = started.elapsed().as_secs_f64();
    exploration
}

/// Writes a checkpoint of the level in which a search was ended.
fn save<M: Machine, C: Storage, R: Reduction, S: Store>(
    workers: &mut [Worker<'_, M, C, R, S>],
    checkpoints: &Checkpoints,
    watch: &Watch,
) {
    let Some(level) = workers.first().and_then(|worker| worker.begun.then_some(worker.level))
    else {
        return;
    };
    if checkpoints.keeper().level() == Some(level) {
        return;
    }
    let saved = workers.iter_mut().try_for_each(|worker| worker.give_part(checkpoints));
    if let Err(error) = saved.and_then(|()| checkpoints.commit(level)) {
        // The one before is still there, and named in the report.
        watch.fail(error);
    }
}

/// The instance of a liveness property at the end of a run, where the runner is, that is called
/// `goal` in the names of the representative.
fn goal_here<M: Machine, C: Storage, R: Reduction>(
    runner: &mut Runner<'_, M, C, R>,
    goals: &Goals,
    goal: usize,
) -> u64 {
    let renaming = runner.canonicalize();
    let image = |number: usize| match &renaming {
        Some(renaming) => goals.image(number, |ty, member| renaming.image(ty, member)),
        None => number,
    };
    let here = (0..goals.len()).find(|&number| image(number) == goal);
    goals.get(here.unwrap_or(goal)).instance
}

/// Runs the start states and stores where they lead. Returns the first that failed.
fn start<M: Machine, C: Storage, R: Reduction, S: Store>(
    runner: &mut Runner<'_, M, C, R>,
    stores: &mut [S],
    partition: Partition,
    watch: &Watch,
) -> Result<Option<Finding>, StoreError> {
    let packed_size = runner.packed_size();
    let mut record = vec![0; packed_size + 1];
    let found = runner.find(Rules::Start, |portion, number| {
        let firing = portion.firings()[number];
        if watch.stopped() {
            return None;
        }
        match firing.outcome {
            Outcome::Done => {
                let packed = portion.pack(number, &mut record[..packed_size]);
                let stored = packed.and_then(|()| {
                    let hash = hash::hash(&record[..packed_size], hash::PLACE);
                    stores[partition.owner(hash)].insert(&record, &[hash])
                });
                stored.err().map(|error| {
                    watch.halt().store(true, Relaxed);
                    Err(error)
                })
            }
            Outcome::Excluded => None,
            Outcome::Failed | Outcome::GuardFailed => Some(Ok(Finding {
                kind: Kind::StartFailed,
                packed: Vec::new(),
                rule: firing.rule,
                instance: firing.instance,
                stored: Vec::new(),
            })),
        }
    });
    found.transpose()
}

/// Runs all workers to their end while this thread does `meanwhile`.
fn run<'a, M, C, R, S>(
    workers: Vec<Worker<'a, M, C, R, S>>,
    shared: &Shared<'_>,
    meanwhile: impl FnOnce(),
) -> Vec<Worker<'a, M, C, R, S>>
where
    M: Machine,
    C: Storage,
    R: Reduction,
    S: Store,
{
    std::thread::scope(|scope| {
        let spawn = |mut worker: Worker<'a, M, C, R, S>| {
            scope.spawn(move || {
                let _ended = worker.watch.worker();
                let _guard = shared.rendezvous.guard();
                // A broken rendezvous is another worker's panic, which is passed on below.
                let _ = worker.run(shared);
                worker
            })
        };
        let handles: Vec<_> = workers.into_iter().map(spawn).collect();
        meanwhile();
        let join = |handle: std::thread::ScopedJoinHandle<'_, _>| match handle.join() {
            Ok(worker) => worker,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        handles.into_iter().map(join).collect()
    })
}

/// What all workers together have found.
struct Totals {
    count: Count,
    depth: u32,
    /// The last level that was searched.
    level: u32,
    bounded: bool,
    covered: Vec<bool>,
    finding: Option<Finding>,
    /// What was passed over, with its level.
    passed_over: BTreeSet<(u32, Finding)>,
    /// The representatives on the way to the finding.
    way: Vec<Vec<u8>>,
    /// If the finding is that a goal is out of reach, its number.
    goal: Option<usize>,
}

impl Totals {
    fn new(rules: usize) -> Self {
        Totals {
            count: Count { firings: vec![0; rules], ..Count::default() },
            depth: 0,
            level: 0,
            bounded: false,
            covered: Vec::new(),
            finding: None,
            passed_over: BTreeSet::new(),
            way: Vec::new(),
            goal: None,
        }
    }

    /// Adds up what workers found, and returns their stores. So many of what they passed over are
    /// kept.
    fn collect<M: Machine, C: Storage, R: Reduction, S>(
        &mut self,
        mut workers: Vec<Worker<'_, M, C, R, S>>,
        pass_over: usize,
    ) -> Vec<S> {
        for worker in &mut workers {
            self.passed_over.append(&mut worker.passed_over);
            if let Some(finding) = &worker.tally.finding {
                finding.clone().keep_least(&mut self.finding);
            }
        }
        while self.passed_over.len() > pass_over {
            self.passed_over.pop_last();
        }
        let mut stores = Vec::with_capacity(workers.len());
        for worker in workers {
            let fired = match self.finding {
                Some(_) => &worker.before,
                None => &worker.tally.count,
            };
            self.count.stored += match self.finding {
                Some(_) => worker.through_level,
                None => worker.tally.count.stored,
            };
            self.count.excluded += worker.tally.count.excluded;
            self.count.fired += fired.fired;
            for (sum, firings) in self.count.firings.iter_mut().zip(&fired.firings) {
                *sum += firings;
            }
            self.depth = self.depth.max(worker.deepest);
            self.level = worker.level;
            self.bounded = worker.bounded;
            let covered = worker.runner.machine.covered();
            self.covered.resize(self.covered.len().max(covered.len()), false);
            for (any, &covered) in self.covered.iter_mut().zip(covered) {
                *any |= covered;
            }
            stores.push(worker.exchange.store);
        }
        stores
    }

    /// After a search that has visited every state: whether each of them has all goals within
    /// reach. If one has not, it is the finding.
    fn liveness<M, F, C, R, S>(
        &mut self,
        system: &System<'_, F, C, R>,
        caller: &mut Caller,
        stores: &[S],
        (partition, watch, meter): (Partition, &Watch, &Meter),
    ) -> Liveness
    where
        M: Machine,
        F: Fn() -> M + Sync,
        C: Storage,
        R: Reduction,
        S: Store,
    {
        let goals = &caller.options.goals;
        let numbered: Option<Vec<_>> = stores.iter().map(Store::numbered).collect();
        let Some(numbered) = numbered.filter(|_| !goals.is_empty()) else {
            return Liveness::Open;
        };
        let since = Instant::now();
        let (depth, threads) = (self.level, partition.workers);
        let question = liveness::Question { goals, partition, depth, threads, watch, meter };
        let found =
            watch.watch_over(caller, meter, || liveness::check(system, &numbered, &question));
        match found {
            Ok(Some(found)) => {
                self.level = found.level;
                self.goal = (found.finding.kind == Kind::OutOfReach).then_some(found.goal);
                self.finding = Some(found.finding);
                return Liveness::Open;
            }
            Ok(None) => {}
            Err(error) => watch.fail(error),
        }
        match watch.reason() {
            Some(reason) => Liveness::Ended(reason),
            None => Liveness::Holds { seconds: since.elapsed().as_secs_f64() },
        }
    }

    /// The totals; the verdict as if nothing was found.
    fn exploration(&self, stopped: Option<Reason>) -> Exploration {
        let reason = stopped.or(self.bounded.then_some(Reason::Depth));
        Exploration {
            verdict: reason.map_or(Verdict::Holds(()), Verdict::Undecided),
            states: self.count.stored - self.count.excluded,
            rules_fired: self.count.fired,
            depth: self.depth,
            covered: self.covered.clone(),
            firings: self.count.firings.clone(),
            ..Exploration::nothing(0)
        }
    }
}
