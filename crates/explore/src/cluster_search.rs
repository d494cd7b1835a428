//! Breadth-first search in several processes.
//!
//! The search is the one of one process (`bfs.rs`, `worker.rs`): every state belongs to the worker that
//! its hash names, only that workers are threads of several processes and reach each other through a
//! cluster. What is found does not depend on the number of workers, so neither does it depend on the
//! number of processes: all add up the same counts, agree on the least finding, and follow its way
//! back together, each among its own states. Every process comes to the same answer.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use cluster::{Cluster, Lost, Member, Share, WINDOW};
use murphi::machine::Machine;
use serde::{Deserialize, Serialize};

use crate::System;
use crate::bfs::start;
use crate::counterexample::{self, Predecessor, least_predecessor};
use crate::exchange::own_bytes;
use crate::finding::{Finding, Kind};
use crate::hash::{self, Partition};
use crate::link::{Link, Message, Round, Unsent, within};
use crate::memory::Meter;
use crate::pack::Codec;
use crate::reduction::Reduction;
use crate::rendezvous::Broken;
use crate::result::{Exploration, PassedOver, Progress, Reason, Verdict};
use crate::runner::Runner;
use crate::storage::Storage;
use crate::store::{Store, StoreError};
use crate::totals::{Totals, WorkerTotals};
use crate::visited::VisitedSet;
use crate::watch::{Caller, Watch};
use crate::worker::{Peers, Shared, Worker, workers};

/// Bytes that may be under way to or from a worker, about, and bytes of a message at least and at
/// most.
const UNDER_WAY: usize = 4 << 20;
const MESSAGE: (usize, usize) = (2 << 10, 64 << 10);
/// What timely allocates at a time for each connection of a thread.
const SLAB: usize = 1 << 20;

/// Bytes of a full message between workers of a cluster: whole records.
fn message_size(workers: usize, record: usize) -> usize {
    let bytes = (UNDER_WAY / (2 * WINDOW * workers)).clamp(MESSAGE.0, MESSAGE.1);
    within((usize::MAX, bytes), record) * record
}

/// Bytes of all buffers of a process.
fn buffer_bytes(cluster: &Cluster, workers: usize, record: usize) -> u64 {
    let messages = 2 * WINDOW * workers * message_size(workers, record);
    let slabs = 2 * SLAB * (cluster.processes() - 1);
    (cluster.threads() * (own_bytes(record) + messages + slabs)) as u64
}

/// A worker's connection to those of all processes.
struct ClusterLink<'a> {
    member: &'a Member,
    watch: &'a Watch,
    meter: &'a Meter,
    /// Whether this worker tells what its process has done.
    reports: bool,
}

impl From<Lost> for Broken {
    fn from(_: Lost) -> Self {
        Broken
    }
}

impl Link for ClusterLink<'_> {
    fn try_send(&self, to: usize, message: Message) -> Result<(), Unsent> {
        // Of the end of a level, timely knows.
        let Message::Records(records) = message else { return Ok(()) };
        match self.member.try_send(to, records) {
            Ok(None) => Ok(()),
            Ok(Some(records)) => Err(Unsent::Full(Message::Records(records))),
            Err(Lost) => Err(Unsent::Broken),
        }
    }

    fn try_receive(&self) -> Result<Option<Vec<u8>>, Broken> {
        if self.reports {
            self.member.report(|| self.watch.share(self.meter));
        }
        Ok(self.member.receive()?)
    }

    fn wait(&self) -> Result<(), Broken> {
        Ok(self.member.wait()?)
    }

    fn rest_of_level(&self) -> Result<Option<Vec<u8>>, Broken> {
        let records = self.member.rest_of_level()?;
        self.watch.hear(self.share_stop(self.watch.stop_code()));
        Ok(records)
    }

    fn meet(&self, _level: u32, own: Round) -> Result<Round, Broken> {
        let rounds: Vec<Round> = gather(self.member, &own)?;
        Ok(Round::sum(rounds))
    }

    fn share_stop(&self, own: Option<u8>) -> Option<u8> {
        self.member.share_stop(own)
    }

    fn message_size(&self, record: usize) -> usize {
        message_size(self.member.workers(), record)
    }
}

/// What every worker says, in the order of workers.
fn gather<T: Serialize + for<'a> Deserialize<'a>>(
    member: &Member,
    own: &T,
) -> Result<Vec<T>, Broken> {
    // All processes are the same program, so they understand each other.
    let note = serde_json::to_vec(own).map_err(|_| Broken)?;
    let notes = member.gather(note)?;
    notes.iter().map(|note| serde_json::from_slice(note).map_err(|_| Broken)).collect()
}

/// What a worker says when the search is over.
#[derive(Serialize, Deserialize)]
struct Ended {
    totals: WorkerTotals,
    /// Why it stopped, and the most memory of its process, if it speaks for it.
    stop: Option<u8>,
    bytes: u64,
}

/// What all workers know at the end.
struct Conclusion {
    totals: Totals,
    /// What was passed over, each with its way.
    passed_over: Vec<(Finding, Vec<Vec<u8>>)>,
    stop: Option<u8>,
    bytes: u64,
}

/// Breadth-first search in several processes, with the states in memory.
pub(crate) fn explore<M, F, C, R>(
    cluster: &Cluster,
    system: &System<'_, F, C, R>,
    caller: &mut Caller,
) -> Exploration
where
    M: Machine,
    F: Fn() -> M + Sync,
    C: Codec,
    R: Reduction,
{
    let started = Instant::now();
    let threads = cluster.threads();
    let partition = VisitedSet::partition(threads * cluster.processes());
    let first = cluster.process() * threads;
    let meter = &Arc::new(Meter::new(caller.options.memory));
    let watch = &Watch::new(threads, started);
    let stored = system.codec.stored_size();
    let mut progress = |own: &Progress| (caller.progress)(&together(own, cluster));
    let (options, interrupt) = (caller.options, caller.interrupt);
    let caller = &mut Caller { options, progress: &mut progress, interrupt };
    let stores = reserve(cluster, partition, stored, meter).and_then(|()| {
        let store = |worker| VisitedSet::new(stored, partition, first + worker, Arc::clone(meter));
        (0..threads).map(store).collect::<Result<Vec<_>, _>>()
    });
    let Ok(mut stores) = stores else {
        // The other processes notice that this one has gone.
        let verdict = Verdict::Undecided(Reason::Memory);
        return Exploration { verdict, ..Exploration::nothing(system.rules) };
    };
    let mut runner = Runner::obeying(system, watch.halt());
    let failed = watch.watch_over(caller, meter, || {
        let failed = start(&mut runner, &mut stores, (partition, first), watch)?;
        runner.count(meter)?;
        Ok::<_, StoreError>(failed)
    });
    let (shared, pass_over) = (&Shared::new(None), options.pass_over);
    let mut workers = workers(options, system, stores, (partition, first), (watch, meter));
    match failed {
        Err(error) => watch.fail(error),
        Ok(None) => {}
        Ok(Some(finding)) => {
            // All processes find the same, and meet before the first level only.
            shared.found.store(2, Relaxed);
            workers[0].tally.finding = Some(finding);
        }
    }
    let ended = std::thread::scope(|scope| {
        let mut handles = Vec::with_capacity(threads);
        for (mut worker, seat) in workers.into_iter().zip(cluster.seats()) {
            handles.push(scope.spawn(move || {
                let _ended = worker.watch.worker();
                let _guard = Abandon(cluster);
                let member = seat.take();
                let reports = worker.exchange.here == 0;
                let link = ClusterLink { member: &member, watch, meter, reports };
                let concluded = worker
                    .run(&Peers::new(shared, &link, stored))
                    .and_then(|()| conclude(&mut worker, system, &link, partition, pass_over));
                if concluded.is_ok() {
                    // Whoever is late has all it needs.
                    let _ = member.leave();
                }
                (concluded.ok(), worker.established, worker.level)
            }));
        }
        watch.watch(caller, meter);
        let join = |handle: std::thread::ScopedJoinHandle<'_, _>| match handle.join() {
            Ok(ended) => ended,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        handles.into_iter().map(join).collect::<Vec<_>>()
    });
    cluster.finish();
    let mut exploration = match ended.into_iter().next() {
        Some((Some(conclusion), ..)) => {
            watch.hear(conclusion.stop);
            let runner = &mut Runner::new(system);
            let passed_over = conclusion.passed_over.iter().map(|(finding, way)| {
                let (run, _) = counterexample::steps(runner, way, finding);
                PassedOver { property: finding.rule, run }
            });
            let passed_over = passed_over.collect();
            let totals = conclusion.totals;
            let found = totals.conclude(runner, &options.goals, passed_over, watch.reason());
            Exploration { bytes: conclusion.bytes, ..found }
        }
        lost => {
            let (established, level) =
                lost.map(|(_, round, level)| (round, level)).unwrap_or_default();
            let reason = cluster.loss().map_or(Reason::Interrupted, Reason::Lost);
            Exploration {
                verdict: Verdict::Undecided(watch.reason().unwrap_or(reason)),
                states: established.states.saturating_sub(established.excluded),
                rules_fired: established.fired,
                depth: level,
                bytes: meter.peak(),
                ..Exploration::nothing(system.rules)
            }
        }
    };
    exploration.seconds = started.elapsed().as_secs_f64();
    exploration
}

/// Counts the buffers of this process.
fn reserve(
    cluster: &Cluster,
    partition: Partition,
    stored: usize,
    meter: &Meter,
) -> Result<(), StoreError> {
    match meter.take(buffer_bytes(cluster, partition.workers, stored + 1)) {
        true => Ok(()),
        false => Err(StoreError::Memory),
    }
}

/// What all processes have done, as far as this one knows.
fn together(own: &Progress, cluster: &Cluster) -> Progress {
    cluster.put_share(Share {
        states: own.states,
        rules_fired: own.rules_fired,
        expanded: own.states - own.frontier,
        bytes: own.bytes,
    });
    let processes = cluster.shares();
    let sum = |of: fn(&Share) -> u64| processes.iter().map(of).sum::<u64>();
    let states = sum(|share| share.states);
    Progress {
        states,
        rules_fired: sum(|share| share.rules_fired),
        frontier: states.saturating_sub(sum(|share| share.expanded)),
        bytes: sum(|share| share.bytes),
        processes,
        ..own.clone()
    }
}

/// Tells the other processes, when dropped by a panic, that this one is lost.
struct Abandon<'a>(&'a Cluster);

impl Drop for Abandon<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.abandon();
        }
    }
}

/// After the search: all workers learn what all have found, and follow the ways to it.
fn conclude<M, F, C, R>(
    worker: &mut Worker<'_, M, C, R, VisitedSet>,
    system: &System<'_, F, C, R>,
    link: &ClusterLink<'_>,
    partition: Partition,
    pass_over: usize,
) -> Result<Conclusion, Broken>
where
    M: Machine,
    F: Fn() -> M,
    C: Storage,
    R: Reduction,
{
    let own = Ended {
        totals: WorkerTotals::of(worker),
        stop: link.watch.stop_code(),
        bytes: if link.reports { link.meter.peak() } else { 0 },
    };
    let ended = gather(link.member, &own)?;
    let stop = ended.iter().find_map(|ended| ended.stop);
    let bytes = ended.iter().map(|ended| ended.bytes).sum();
    let mut totals = Totals::new(system.rules);
    totals.add(ended.into_iter().map(|ended| ended.totals), pass_over);
    let mut runner = Runner::new(system);
    let mut way = |level: u32, finding: &Finding| {
        let store = &mut worker.exchange.store;
        way_back(&mut runner, store, link.member, partition, (level, &finding.stored))
    };
    let mut passed_over = Vec::new();
    for (level, finding) in std::mem::take(&mut totals.passed_over) {
        let way = way(level, &finding)?;
        passed_over.push((finding, way));
    }
    if let Some(finding) = totals.finding.as_ref().filter(|found| found.kind != Kind::StartFailed) {
        totals.way = way(totals.level, finding)?;
    }
    Ok(Conclusion { totals, passed_over, stop, bytes })
}

/// The representatives on the way to a state, as [`counterexample::way_back`] finds them: each worker
/// looks among its own states, and the least predecessor of all is taken.
fn way_back<M: Machine, C: Storage, R: Reduction>(
    runner: &mut Runner<'_, M, C, R>,
    store: &mut VisitedSet,
    member: &Member,
    partition: Partition,
    (depth, stored): (u32, &[u8]),
) -> Result<Vec<Vec<u8>>, Broken> {
    let mut way = vec![stored.to_vec()];
    for depth in (0..depth).rev() {
        let target = way.last().expect("never empty").clone();
        let hash = hash::hash(&target, hash::PLACE);
        let own = match partition.owner(hash) == member.number() {
            true => store.hint_of(&target, hash).ok().flatten(),
            false => None,
        };
        let hint = gather(member, &own)?.into_iter().flatten().next();
        let mut best: Option<Predecessor> = None;
        // The visited set has its states in memory, where nothing fails.
        let _ = least_predecessor(runner, store, (depth, hint), &target, &mut best);
        match gather(member, &best)?.into_iter().flatten().min() {
            Some(least) => way.push(least.stored),
            // Only if the machine does not do the same thing twice.
            None => break,
        }
    }
    way.reverse();
    Ok(way)
}
