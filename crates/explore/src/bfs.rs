//! Breadth-first search, level by level, with many threads that share nothing but channels.
//!
//! Every state belongs to the worker that its hash names (`worker.rs`). Properties of a state are
//! looked at when its turn to be expanded comes, where it is unpacked anyway; a state that an
//! assumption excludes is then dropped and not counted.
//!
//! Results do not depend on the number of threads, nor on how many of them search a level
//! (`levels.rs`). When something wrong is found, the level is finished, as far as is needed: once a
//! property is broken, the rest is only looked at; once a rule failed or a state cannot be left, the
//! rest is expanded but nothing more is stored. Then the least finding is reported, with totals up to
//! this level. Broken properties may also be passed over: they are kept with their levels, and their
//! ways are found after the search.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use murphi::machine::{Machine, Outcome};

use crate::System;
use crate::counterexample;
use crate::disk::Checkpoints;
use crate::exchange::reserve_buffers;
use crate::finding::{Finding, Kind};
use crate::hash::{self, Partition};
use crate::levels::run;
use crate::memory::Meter;
use crate::pack::Codec;
use crate::reduction::Reduction;
use crate::result::{Exploration, Liveness, PassedOver};
use crate::runner::{Rules, Runner};
use crate::storage::Storage;
use crate::store::{Store, StoreError};
use crate::totals::{Totals, WorkerTotals};
use crate::tree::Tree;
use crate::units::Units;
use crate::visited::VisitedSet;
use crate::watch::{Caller, Watch};
use crate::worker::{Shared, Worker, workers};

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
    if caller.options.form.is_tree(packed)
        && let Ok(tree) = Tree::new(system.state_size, units, system.codec, workers, &meter)
    {
        let &System { ref machine, reduction, state_size, rules, .. } = system;
        let system = System { machine, codec: &tree, reduction, state_size, rules };
        return search_stored(&system, caller, workers, &meter);
    }
    search_stored(system, caller, workers, &meter)
}

/// Breadth-first search with visited sets, whatever the form of states.
fn search_stored<M, F, C, R>(
    system: &System<'_, F, C, R>,
    caller: &mut Caller,
    workers: usize,
    meter: &Arc<Meter>,
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
        .map(|store| store.map(VisitedSet::read_as_added))
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
            let finding = start(&mut runner, &mut stores, (partition, 0), &watch)?;
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
            let mut workers =
                workers(caller.options, system, stores, (partition, 0), (&watch, meter));
            if let Some(begun) = begun {
                workers.iter_mut().for_each(|worker| worker.resume(begun));
            }
            let shared = Shared::new(checkpoints);
            let levels = caller.options.levels;
            let mut workers = run(workers, levels, &shared, || watch.watch(caller, meter));
            let ended = watch.stopped() || workers.iter().any(|worker| worker.bounded);
            if let Some(checkpoints) = checkpoints.filter(|_| ended) {
                save(&mut workers, checkpoints, &watch);
            }
            totals.add(workers.iter_mut().map(WorkerTotals::of), caller.options.pass_over);
            let mut stores: Vec<S> =
                workers.into_iter().map(|worker| worker.exchange.store).collect();
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
    let goals = &caller.options.goals;
    let mut exploration = totals.conclude(&mut runner, goals, passed_over, stopped);
    exploration.liveness = liveness;
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
    let parts: Result<_, _> = workers.iter_mut().map(|worker| worker.part(checkpoints)).collect();
    if let Err(error) = parts.and_then(|parts| checkpoints.commit(level, parts)) {
        // The one before is still there, and named in the report.
        watch.fail(error);
    }
}

/// Runs the start states and stores where they lead, if the workers of this process, the first of
/// which has the number `first`, own it. Returns the first start state that failed.
pub(crate) fn start<M: Machine, C: Storage, R: Reduction, S: Store>(
    runner: &mut Runner<'_, M, C, R>,
    stores: &mut [S],
    (partition, first): (Partition, usize),
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
                    let here = partition.owner(hash).checked_sub(first);
                    match here.and_then(|here| stores.get_mut(here)) {
                        Some(store) => store.insert(&record, &[hash]),
                        None => Ok(0),
                    }
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
