//! The threads that run a test, batch by batch.
//!
//! A batch is some thousand runs, each on its own instance. The workers prepares the instances, runs
//! them at the [`Timing`] they were given, and counts what they yielded, each thread a share. Between
//! these phases threads wait for each other at a barrier that sleeps, two times a batch; within the
//! runs nobody waits for anybody.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Barrier, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

use chance::Rng;

use crate::arch::{Code, now, warm_line};
use crate::cores;
use crate::entropy::OutcomeSample;
use crate::host::stopped;
use crate::job::{Job, Word};
use crate::memory::Memory;
use crate::tally::Tally;
use crate::timing::{Cost, Lines, Timing, TimingTuner, Warm};

/// Bytes of a cache line.
pub(crate) const LINE: usize = 64;

/// Ticks between the agreement on a start and the start.
const MARGIN: u64 = 20_000;

/// The distance between the values of two runs, by which values of different runs are distinguished.
pub(crate) const BASE: u64 = 1 << 32;

/// The number of ticks for which a thread waits actively, before it yields, when the start is far
/// away.
const PATIENCE: u64 = 1 << 22;

/// One run of this many is timed.
const MEASURED: usize = 8;

/// After this number of abandoned runs, the rest of a batch is abandoned, too.
const FUTILE: usize = 32;

/// Different outcomes that a thread keeps before it hands them over.
const HANDFUL: usize = 512;

/// The number of batches after which a thread hands over its counts.
const REPORT: u64 = 32;

/// What to run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Order<'a> {
    pub(crate) job: &'a Job,
    /// The core of each thread.
    pub(crate) cores: &'a [usize],
    pub(crate) runs: u64,
    /// The number of instances: a power of two.
    pub(crate) instances: usize,
    /// Run `i` of a batch is on instance `i * stride`, round and round: an odd number.
    pub(crate) stride: usize,
    /// The number of the first run, for the base of its values.
    pub(crate) first: u64,
    pub(crate) seed: u64,
    /// Any of these ends it.
    pub(crate) stops: [&'a AtomicBool; 2],
}

/// What all threads of a workers share.
struct Workers<'a, 'p> {
    order: Order<'a>,
    memory: Memory,
    barrier: Barrier,
    /// The batch whose plan is ready.
    ready: AtomicU64,
    /// The time of a run for the slowest thread.
    cost: AtomicU64,
    /// How mixed the outcomes of the last batch were, each thread's part added, in millibits.
    mixed: AtomicU64,
    plan: Mutex<Plan<'p>>,
    /// What each thread's runs returned.
    results: Vec<RwLock<Vec<u64>>>,
}

/// The batch at hand, as its last arrival at the barrier has planned it.
struct Plan<'p> {
    batch: Batch,
    /// When its runs begin.
    start: u64,
    paces: Vec<Timing>,
    tuner: &'p mut TimingTuner,
    random: Rng,
}

/// Which runs a batch has: `count` of them from the `first` on.
#[derive(Clone, Copy)]
struct Batch {
    number: u64,
    first: u64,
    count: usize,
}

/// Runs the job, and sends counts as they arrive.
pub(crate) fn run(order: Order<'_>, tuner: &mut TimingTuner, sender: &Sender<Tally>) {
    let threads = order.job.threads.len();
    assert!(order.job.threads.iter().all(|code| code.reach() <= order.job.instance));
    let result = |code: &Code| RwLock::new(vec![0; code.results() * order.instances]);
    let plan = Plan {
        batch: Batch { number: 0, first: order.first, count: 0 },
        start: 0,
        paces: Vec::new(),
        tuner,
        random: Rng::new(order.seed),
    };
    let workers = Workers {
        order,
        memory: Memory::new(order.instances * order.job.instance),
        barrier: Barrier::new(threads),
        ready: AtomicU64::new(0),
        cost: AtomicU64::new(0),
        mixed: AtomicU64::new(0),
        plan: Mutex::new(plan),
        results: order.job.threads.iter().map(result).collect(),
    };
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (workers, sender) = (&workers, sender.clone());
            scope.spawn(move || workers.work(thread, &sender));
        }
    });
}

impl Workers<'_, '_> {
    /// The work of one thread.
    fn work(&self, thread: usize, sender: &Sender<Tally>) {
        cores::pin(self.order.cores[thread]);
        let (mut tally, mut sample) = (Tally::default(), OutcomeSample::default());
        let mut random = Rng::new(self.order.seed ^ (thread as u64 + 1) << 40);
        let mut batch = Batch { number: 0, first: self.order.first, count: 0 };
        self.reset(thread, self.after(batch));
        loop {
            let (next, start, timing) = self.agree(thread, batch);
            batch = next;
            if batch.count == 0 {
                break;
            }
            self.race(thread, batch, start, timing, &mut random);
            self.barrier.wait();
            self.count(thread, batch, &mut tally, &mut sample);
            self.reset(thread, self.after(batch));
            if tally.len() >= HANDFUL || batch.number.is_multiple_of(REPORT) {
                // Nobody listens any more when the receiver has had enough.
                let _ = sender.send(std::mem::take(&mut tally));
            }
        }
        let _ = sender.send(tally);
    }

    /// The batch after this one, unless a stop is set.
    fn after(&self, batch: Batch) -> Batch {
        let first = batch.first + batch.count as u64;
        let left = self.order.first + self.order.runs - first;
        let count = left.min(self.order.instances as u64) as usize;
        Batch { number: batch.number + 1, first, count }
    }

    /// Waits until all are done with a batch, and agrees with them on the next and its start.
    fn agree(&self, thread: usize, batch: Batch) -> (Batch, u64, Timing) {
        let next = self.after(batch);
        if self.barrier.wait().is_leader() {
            let stop = stopped(&self.order.stops);
            let cost = self.cost.swap(0, Ordering::Relaxed);
            let mixed = self.mixed.swap(0, Ordering::Relaxed);
            let mut plan = locked(&self.plan);
            plan.batch = Batch { count: if stop { 0 } else { next.count }, ..next };
            plan.advance(self.order.job.threads.len(), cost, mixed as f64);
            plan.start = now() + MARGIN;
            self.ready.store(next.number, Ordering::Release);
        }
        while self.ready.load(Ordering::Acquire) != next.number {
            std::thread::yield_now();
        }
        let plan = locked(&self.plan);
        (plan.batch, plan.start, plan.paces[thread])
    }

    /// The runs of a batch that a thread prepares and counts: the same instances in every batch,
    /// even in a shorter last one, since a thread may prepare the next batch while others still
    /// count this one.
    fn part(&self, thread: usize, count: usize) -> std::ops::Range<usize> {
        let (threads, all) = (self.order.job.threads.len(), self.order.instances);
        (all * thread / threads).min(count)..(all * (thread + 1) / threads).min(count)
    }

    /// Where the instance of a run begins.
    fn instance(&self, run: usize) -> usize {
        let number = run.wrapping_mul(self.order.stride) & (self.order.instances - 1);
        number * self.order.job.instance
    }

    /// The base of the values of a run.
    fn base(&self, batch: Batch, run: usize) -> u64 {
        if self.order.job.based { (batch.first + run as u64 + 1).wrapping_mul(BASE) } else { 0 }
    }

    /// Gives every word its initial value for a thread's part of a batch.
    fn reset(&self, thread: usize, batch: Batch) {
        for run in self.part(thread, batch.count) {
            let (instance, base) = (self.instance(run), self.base(batch, run));
            for word in &self.order.job.words {
                self.memory.set(instance + word.offset, base.wrapping_add(word.initial));
            }
        }
    }

    /// Runs the batch.
    fn race(&self, thread: usize, batch: Batch, start: u64, timing: Timing, random: &mut Rng) {
        let code = &self.order.job.threads[thread];
        let mut results = write(&self.results[thread]);
        let width = code.results();
        let mut cost = Cost::new();
        let mut given_up = 0;
        for run in 0..batch.count {
            let measured = run % MEASURED == 0;
            let mut ticks = if measured { now() } else { 0 };
            let instance = self.instance(run);
            let bits = random.bits();
            self.warm(instance, timing.lines, bits);
            let begin = start + timing.offset + run as u64 * timing.window;
            ticks = if measured { now() - ticks } else { 0 };
            wait_for(begin + (bits >> 32 & timing.jitter));
            let began = if measured { now() } else { 0 };
            let (memory, base) = (self.memory.address(instance), self.base(batch, run));
            // SAFETY: the memory has `instances` instances of `instance` bytes, no less than the
            // code reaches, and lives as long as the workers; nothing accesses it but atomics and
            // such code.
            unsafe { code.run(memory, base, &mut results[run * width..]) };
            if code.loops() && Job::gave_up(code, &results[run * width..][..width]) {
                given_up += 1;
                if given_up == FUTILE {
                    // The thread that is waited for is not running: the rest of the runs counts as
                    // abandoned, too.
                    results[run * width..batch.count * width].fill(1);
                    break;
                }
            }
            if measured {
                cost.add(ticks + (now() - began));
            }
        }
        self.cost.fetch_max(cost.ticks(), Ordering::Relaxed);
    }

    /// Prepares the caches for a run.
    #[inline]
    fn warm(&self, instance: usize, lines: Lines, random: u64) {
        let mut bits = match lines {
            Lines::Fixed(bits) => bits,
            Lines::Random => random,
        };
        for line in &self.order.job.lines {
            warm_line(&self.memory, instance + line, Warm::of(bits));
            bits >>= 2;
        }
    }

    /// Counts a thread's part of the results of a batch.
    fn count(&self, thread: usize, batch: Batch, tally: &mut Tally, sample: &mut OutcomeSample) {
        let job = self.order.job;
        let results: Vec<_> = self.results.iter().map(read).collect();
        let mut values = Vec::with_capacity(job.yields());
        for run in self.part(thread, batch.count) {
            let (instance, base) = (self.instance(run), self.base(batch, run));
            values.clear();
            let mut given_up = false;
            for (code, results) in job.threads.iter().zip(&results) {
                let width = code.results();
                let results = &results[run * width..][..width];
                given_up |= Job::gave_up(code, results);
                values.extend_from_slice(results);
            }
            if given_up {
                tally.given_up += 1;
                continue;
            }
            let word = |word: &Word| self.memory.get(instance + word.offset);
            values.extend(job.words.iter().map(word));
            for value in &mut values {
                *value = value.wrapping_sub(base);
            }
            tally.add(&values);
            sample.add(&values);
        }
        self.mixed.fetch_add((1000.0 * sample.take()) as u64, Ordering::Relaxed);
    }
}

impl Plan<'_> {
    /// Learns from the last batch, if there was one, and plans the next.
    fn advance(&mut self, threads: usize, cost: u64, mixed: f64) {
        if cost > 0 {
            self.tuner.learn(cost, mixed);
        }
        self.paces = self.tuner.plan(threads, &mut self.random);
    }
}

/// Waits for a time.
#[inline]
fn wait_for(time: u64) {
    let mut seen = now();
    while seen < time {
        if time - seen > PATIENCE {
            std::thread::yield_now();
        }
        seen = now();
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read(results: &RwLock<Vec<u64>>) -> RwLockReadGuard<'_, Vec<u64>> {
    results.read().unwrap_or_else(PoisonError::into_inner)
}

fn write(results: &RwLock<Vec<u64>>) -> std::sync::RwLockWriteGuard<'_, Vec<u64>> {
    results.write().unwrap_or_else(PoisonError::into_inner)
}
