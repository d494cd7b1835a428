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
use crate::disk::Checkpoints;
use crate::exchange::own_bytes;
use crate::finding::{Finding, Kind};
use crate::hash::{self, Partition};
use crate::link::{Link, Message, Round, Unsent, gather, within};
use crate::liveness::{self, Found};
use crate::memory::Meter;
use crate::options::Options;
use crate::pack::Codec;
use crate::reduction::Reduction;
use crate::rendezvous::Broken;
use crate::result::{Exploration, Liveness, PassedOver, Progress, Reason, Verdict};
use crate::runner::Runner;
use crate::storage::Storage;
use crate::store::{Store, StoreError};
use crate::totals::{Totals, WorkerTotals};
use crate::tree::{Tree, TreeStore};
use crate::units::Units;
use crate::visited::VisitedSet;
use crate::watch::{Caller, Watch};
use crate::worker::{Peers, Shared, Worker, workers};

/// Bytes that may be under way to or from a worker, about, and bytes of a message at least and at
/// most.
const UNDER_WAY: usize = 4 << 20;
const MESSAGE: (usize, usize) = (2 << 10, 64 << 10);
/// How many memories of parts a worker has that keeps trees.
const CONVERTERS: usize = 3;
/// What timely allocates at a time for each connection of a thread.
const SLAB: usize = 1 << 20;

/// Bytes of a full message between workers of a cluster: whole records.
fn message_size(workers: usize, record: usize) -> usize {
    let bytes = (UNDER_WAY / (2 * WINDOW * workers)).clamp(MESSAGE.0, MESSAGE.1);
    within((usize::MAX, bytes), record) * record
}

/// Bytes of all buffers of a process.
pub(crate) fn buffer_bytes(cluster: &Cluster, workers: usize, record: usize) -> u64 {
    let messages = 2 * WINDOW * workers * message_size(workers, record);
    let slabs = 2 * SLAB * (cluster.processes() - 1);
    (cluster.threads() * (own_bytes(record) + messages + slabs)) as u64
}

/// A worker's connection to those of all processes.
struct ClusterLink<'a> {
    member: &'a Member,
    watch: &'a Watch,
    meter: &'a Meter,
    /// Whether this worker reports the progress of its process.
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
        Ok(Round::sum(gather(self, &own)?))
    }

    fn gather(&self, note: Vec<u8>) -> Result<Vec<Vec<u8>>, Broken> {
        Ok(self.member.gather(note)?)
    }

    fn enter_level(&self, level: u32) {
        self.member.enter_level(level);
    }

    fn share_stop(&self, own: Option<u8>) -> Option<u8> {
        self.member.share_stop(own)
    }

    fn message_size(&self, record: usize) -> usize {
        message_size(self.member.workers(), record)
    }
}

/// What a worker says before the search begins.
#[derive(Serialize, Deserialize)]
struct Ready {
    /// Whether its process can begin.
    can_begin: bool,
    /// Bytes of a packed state.
    packed: usize,
    /// The level and the states of the checkpoint from which it goes on.
    begun: Option<(u32, u64)>,
    /// What the first process has written to the directory of checkpoints.
    word: String,
}

/// What a worker says when the search is over.
#[derive(Serialize, Deserialize)]
struct Ended {
    totals: WorkerTotals,
    /// Why it stopped, the message of a file that failed, and, if it speaks for its process, the most
    /// memory of it and the bytes of its states on disk.
    stop: Option<u8>,
    message: String,
    bytes: u64,
    disk_bytes: Option<u64>,
}

/// What all workers know at the end.
struct Conclusion {
    totals: Totals,
    /// What was passed over, each with its way.
    passed_over: Vec<(Finding, Vec<Vec<u8>>)>,
    bytes: u64,
    disk_bytes: Option<u64>,
    liveness: Liveness,
}

/// Where the states of this process are.
pub(crate) struct States<'a> {
    pub(crate) partition: Partition,
    pub(crate) meter: &'a Meter,
    pub(crate) checkpoints: Option<&'a Checkpoints>,
    /// How much is on disk.
    pub(crate) disk_bytes: &'a (dyn Fn() -> Option<u64> + Sync),
}

/// What every worker has to know at the end of a search.
struct Ending<'a> {
    options: &'a Options,
    states: &'a States<'a>,
    /// Threads of this process.
    threads: usize,
}

/// Breadth-first search in several processes, with the states in memory: large ones as trees.
pub(crate) fn explore<M, F, C, R>(
    cluster: &Cluster,
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
    let threads = cluster.threads();
    let partition = VisitedSet::partition(threads * cluster.processes());
    let meter = &Arc::new(Meter::new(caller.options.memory));
    let states = States { partition, meter, checkpoints: None, disk_bytes: &|| None };
    let packed = system.codec.packed_size();
    if !caller.options.form.is_tree(packed) {
        let first = cluster.process() * threads;
        let store = |worker| VisitedSet::new(packed, partition, first + worker, Arc::clone(meter));
        let stores = (0..threads).map(store).collect();
        return search(cluster, system, caller, stores, &states);
    }
    let &System { ref machine, codec, reduction, state_size, rules } = system;
    // Where trees find no room, the search ends before it begins.
    let room = Tree::new(state_size, units, codec, CONVERTERS * threads, meter);
    match &room {
        Ok(tree) => {
            let stores = (0..threads).map(|_| TreeStore::new(tree, meter)).collect();
            let system =
                System { machine, codec: &tree.packed_storage(), reduction, state_size, rules };
            search(cluster, &system, caller, stores, &states)
        }
        Err(_) => {
            let stores: Result<Vec<VisitedSet>, _> = Err(StoreError::Memory);
            search(cluster, system, caller, stores, &states)
        }
    }
}

/// Breadth-first search in several processes with any kind of store, one for each worker of this one.
pub(crate) fn search<M, F, C, R, S>(
    cluster: &Cluster,
    system: &System<'_, F, C, R>,
    caller: &mut Caller,
    stores: Result<Vec<S>, StoreError>,
    states: &States<'_>,
) -> Exploration
where
    M: Machine,
    F: Fn() -> M + Sync,
    C: Storage,
    R: Reduction,
    S: Store,
{
    let started = Instant::now();
    let &States { partition, meter, checkpoints, .. } = states;
    let threads = cluster.threads();
    let first = cluster.process() * threads;
    let watch = &Watch::new(threads, started);
    let stored = system.codec.stored_size();
    let mut progress = |own: &Progress| (caller.progress)(&together(own, cluster));
    let (options, interrupt) = (caller.options, caller.interrupt);
    let caller = &mut Caller { options, progress: &mut progress, interrupt };
    let stores = reserve(cluster, partition, stored, meter).and(stores);
    let mut found = None;
    let stores = stores.and_then(|mut stores| {
        if checkpoints.is_none_or(|checkpoints| checkpoints.begun().is_none()) {
            let mut runner = Runner::obeying(system, watch.halt());
            found = watch.watch_over(caller, meter, || {
                let failed = start(&mut runner, &mut stores, (partition, first), watch)?;
                runner.count(meter)?;
                Ok::<_, StoreError>(failed)
            })?;
        }
        Ok(stores)
    });
    let shared = &Shared::new(checkpoints);
    let ending = &Ending { options, states, threads };
    let stores = stores.map_err(|error| watch.fail(error)).unwrap_or_default();
    let mut workers = workers(options, system, stores, (partition, first), (watch, meter));
    if let Some(begun) = checkpoints.and_then(Checkpoints::begun) {
        workers.iter_mut().for_each(|worker| worker.resume(begun));
    }
    if let (Some(finding), Some(worker)) = (found, workers.first_mut()) {
        // All processes find the same, and meet before the first level only.
        shared.found.store(2, Relaxed);
        worker.tally.finding = Some(finding);
    }
    let ended = std::thread::scope(|scope| {
        let mut handles = Vec::with_capacity(threads);
        let mut workers = workers.into_iter();
        let seats = cluster.seats();
        let has_begun = !seats.is_empty();
        for (here, seat) in seats.into_iter().enumerate() {
            let worker = workers.next();
            handles.push(scope.spawn(move || {
                let _ended = watch.worker();
                let _guard = Abandon(cluster);
                let member = seat.take();
                let link = ClusterLink { member: &member, watch, meter, reports: here == 0 };
                let peers = &Peers::new(shared, &link, stored);
                let ended = take_part(worker, system, (peers, &link), ending);
                if ended.0.is_ok() {
                    // Whoever is late has all it needs.
                    let _ = member.leave();
                }
                ended
            }));
        }
        if has_begun {
            watch.watch(caller, meter);
        }
        let join = |handle: std::thread::ScopedJoinHandle<'_, _>| match handle.join() {
            Ok(ended) => ended,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        handles.into_iter().map(join).collect::<Vec<_>>()
    });
    cluster.finish();
    let mut exploration = match ended.into_iter().next() {
        Some((Ok(Some(conclusion)), ..)) => {
            let liveness = conclusion.liveness;
            let ended = watch.reason().filter(|_| !matches!(liveness, Liveness::Ended(_)));
            let runner = &mut Runner::new(system);
            let passed_over = conclusion.passed_over.iter().map(|(finding, way)| {
                let (run, _) = counterexample::steps(runner, way, finding);
                PassedOver { property: finding.rule, run }
            });
            let passed_over = passed_over.collect();
            let totals = conclusion.totals;
            let found = totals.conclude(runner, &options.goals, passed_over, ended);
            let (bytes, disk_bytes) = (conclusion.bytes, conclusion.disk_bytes);
            Exploration { bytes, disk_bytes, liveness, ..found }
        }
        ended => {
            let (established, level) =
                ended.map(|(_, round, level)| (round, level)).unwrap_or_default();
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

/// What came of the part of a worker, what all workers had established, and in which level. There is
/// no conclusion if some process could not begin.
type TookPart = (Result<Option<Conclusion>, Broken>, Round, u32);

/// Searches as one of all workers, if all processes can begin; there is no worker if this one cannot.
fn take_part<M, F, C, R, S>(
    worker: Option<Worker<'_, M, C, R, S>>,
    system: &System<'_, F, C, R>,
    (peers, link): (&Peers<'_>, &ClusterLink<'_>),
    ending: &Ending<'_>,
) -> TookPart
where
    M: Machine,
    F: Fn() -> M,
    C: Storage,
    R: Reduction,
    S: Store,
{
    let can_begin = match are_ready(link, system.codec.stored_size(), ending.states.checkpoints) {
        Ok(can_begin) => can_begin,
        Err(broken) => return (Err(broken), Round::default(), 0),
    };
    let Some(mut worker) = worker.filter(|_| can_begin) else {
        return (Ok(None), Round::default(), 0);
    };
    let searched = worker.run(peers);
    let concluded = searched.and_then(|()| conclude(&mut worker, system, (peers, link), ending));
    (concluded.map(Some), worker.established, worker.level)
}

/// Whether all processes can begin, from the same checkpoint if from one. They share the directory of
/// checkpoints: the first process leaves a word there, which the others have to find.
fn are_ready(
    link: &ClusterLink<'_>,
    packed: usize,
    checkpoints: Option<&Checkpoints>,
) -> Result<bool, Broken> {
    let watch = link.watch;
    let is_first = link.member.number() == 0;
    let word = match checkpoints.filter(|_| is_first).map(Checkpoints::leave_word) {
        Some(Ok(word)) => word,
        Some(Err(error)) => {
            watch.fail(error);
            String::new()
        }
        None => String::new(),
    };
    let begun = checkpoints.and_then(Checkpoints::place_of_begun);
    let own = Ready { can_begin: watch.stop_code().is_none(), packed, begun, word };
    let all: Vec<Ready> = gather(link, &own)?;
    if all.iter().all(|ready| ready.can_begin) {
        let word = all.first().map_or("", |first| &first.word[..]);
        let sees_same = |ready: &Ready| ready.begun == own.begun;
        let finds = |checkpoints: &Checkpoints| checkpoints.finds_word(word);
        let why = if all.iter().any(|ready| ready.packed != packed) {
            Some("the processes do not store states in the same way")
        } else if !all.iter().all(sees_same) || !checkpoints.is_none_or(finds) {
            Some(
                "the processes do not see the same files in the directory of the checkpoint; use a \
                 directory that all of them share",
            )
        } else {
            None
        };
        if let Some(why) = why {
            watch.fail(StoreError::Disk(std::io::Error::other(why)));
        }
    }
    let has_stopped = agree_on_stop(link)?;
    if is_first {
        checkpoints.inspect(|checkpoints| checkpoints.remove_word());
    }
    Ok(!has_stopped)
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

/// After the search: all workers learn what all have found, decide about liveness, and follow the ways
/// to what is wrong.
fn conclude<M, F, C, R, S>(
    worker: &mut Worker<'_, M, C, R, S>,
    system: &System<'_, F, C, R>,
    (peers, link): (&Peers<'_>, &ClusterLink<'_>),
    ending: &Ending<'_>,
) -> Result<Conclusion, Broken>
where
    M: Machine,
    F: Fn() -> M,
    C: Storage,
    R: Reduction,
    S: Store,
{
    let Ending { options, states, .. } = ending;
    // What one cannot go on without ends all of them, so that they do the same from here on.
    let is_ended = agree_on_stop(link)? || worker.bounded;
    if is_ended {
        worker.save_last(peers)?;
    }
    let own = Ended {
        totals: WorkerTotals::of(worker),
        stop: link.watch.stop_code(),
        message: link.watch.disk_message(),
        bytes: if link.reports { link.meter.peak() } else { 0 },
        disk_bytes: (states.disk_bytes)().filter(|_| link.reports),
    };
    let ended: Vec<Ended> = gather(link, &own)?;
    if let Some((stop, ended)) = ended.iter().find_map(|ended| Some((ended.stop?, ended))) {
        link.watch.hear_of(stop, &ended.message);
    }
    let bytes = ended.iter().map(|ended| ended.bytes).sum();
    let disk_bytes = ended.iter().filter_map(|ended| ended.disk_bytes).reduce(|a, b| a + b);
    let mut totals = Totals::new(system.rules);
    if let Some(begun) = states.checkpoints.and_then(Checkpoints::begun) {
        totals.covered.clone_from(&begun.covered);
    }
    totals.add(ended.into_iter().map(|ended| ended.totals), options.pass_over);
    let is_over = totals.finding.is_none() && !is_ended;
    let liveness = match is_over && !options.goals.is_empty() {
        true => decide_liveness(worker, system, link, ending, &mut totals)?,
        false => Liveness::Open,
    };
    let mut runner = Runner::new(system);
    let mut way = |level: u32, finding: &Finding| {
        let store = &mut worker.exchange.store;
        way_back(&mut runner, store, link, states.partition, (level, &finding.stored))
    };
    let mut passed_over = Vec::new();
    for (level, finding) in std::mem::take(&mut totals.passed_over) {
        if let Some(way) = way(level, &finding)? {
            passed_over.push((finding, way));
        }
    }
    if let Some(finding) = totals.finding.take_if(|found| found.kind != Kind::StartFailed) {
        // A finding that cannot be shown is none.
        if let Some(way) = way(totals.level, &finding)? {
            (totals.way, totals.finding) = (way, Some(finding));
        }
    }
    Ok(Conclusion { totals, passed_over, bytes, disk_bytes, liveness })
}

/// Whether a process has a reason to stop; then all have it.
fn agree_on_stop(link: &ClusterLink<'_>) -> Result<bool, Broken> {
    let watch = link.watch;
    let own = watch.stop_code().map(|stop| (stop, watch.disk_message()));
    let all: Vec<Option<(u8, String)>> = gather(link, &own)?;
    match all.into_iter().flatten().next() {
        Some((stop, message)) => {
            watch.hear_of(stop, &message);
            Ok(true)
        }
        None => Ok(false),
    }
}

/// Decides about liveness, together with all workers.
fn decide_liveness<M, F, C, R, S>(
    worker: &Worker<'_, M, C, R, S>,
    system: &System<'_, F, C, R>,
    link: &ClusterLink<'_>,
    &Ending { options, states, threads }: &Ending<'_>,
    totals: &mut Totals,
) -> Result<Liveness, Broken>
where
    M: Machine,
    F: Fn() -> M,
    C: Storage,
    R: Reduction,
    S: Store,
{
    let (since, watch, depth) = (Instant::now(), link.watch, totals.level);
    let Some(located) = worker.exchange.store.located(depth) else {
        return Ok(Liveness::Open);
    };
    let (goals, partition, meter) = (&options.goals, states.partition, link.meter);
    let question = liveness::Question { goals, partition, depth, threads, watch, meter };
    let seat = liveness::Seat { number: worker.exchange.number, link };
    let found = liveness::check_together(system, located, seat, &question)?;
    let found: Vec<Option<Found>> = gather(link, &found)?;
    let ended = match agree_on_stop(link)? {
        true => watch.reason(),
        false => None,
    };
    Ok(totals.conclude_liveness(found.into_iter().flatten().min(), ended, since))
}

/// The representatives on the way to a state, as [`counterexample::way_back`] finds them: each worker
/// looks among its own states, and the least predecessor of all is taken. Nothing if a worker cannot
/// read its states.
fn way_back<M: Machine, C: Storage, R: Reduction, S: Store>(
    runner: &mut Runner<'_, M, C, R>,
    store: &mut S,
    link: &ClusterLink<'_>,
    partition: Partition,
    (depth, stored): (u32, &[u8]),
) -> Result<Option<Vec<Vec<u8>>>, Broken> {
    let mut way = vec![stored.to_vec()];
    let mut failed = None;
    for depth in (0..depth).rev() {
        let target = way.last().expect("never empty").clone();
        let hash = hash::hash(&target, hash::PLACE);
        let own = match partition.owner(hash) == link.member.number() {
            true => store.hint_of(&target, hash),
            false => Ok(None),
        };
        let own = own.map_err(|error| failed = Some(error)).ok().flatten();
        let hint = gather(link, &own)?.into_iter().flatten().next();
        let mut best: Option<Predecessor> = None;
        let looked = least_predecessor(runner, store, (depth, hint), &target, &mut best);
        failed = looked.err().or(failed);
        match gather(link, &best)?.into_iter().flatten().min() {
            Some(least) => way.push(least.stored),
            // Only if the machine does not do the same thing twice.
            None => break,
        }
    }
    let has_failed = failed.is_some();
    if let Some(error) = failed {
        link.watch.fail(error);
    }
    if gather(link, &has_failed)?.contains(&true) {
        agree_on_stop(link)?;
        return Ok(None);
    }
    way.reverse();
    Ok(Some(way))
}
