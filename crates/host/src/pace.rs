//! When threads start a run, so that races really meet.
//!
//! Threads do not wait for each other. Before a batch they agree on a time, and run `i` of the
//! batch begins at that time plus `i` windows, by the time-stamp counter that all cores share. A
//! thread that the system has put aside is late, goes on at once, and is on time again a few runs
//! later; nobody spins for it. That is why a loaded machine makes races rarer but never slow.
//!
//! The window is what a run costs, with a little room, as measured on the way; a run during which
//! the system put the thread aside counts for little. Within it each thread starts a little later or earlier, by offsets that change from batch
//! to batch and jitter that changes from run to run, since nobody knows in advance how far apart
//! two threads must be for their stores and loads to cross.

use stress::Rng;

/// The plan of one thread for one batch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// Ticks between the starts of two runs.
    pub(crate) window: u64,
    /// Ticks this thread starts after the agreed time.
    pub(crate) offset: u64,
    /// Ticks of jitter at most: a power of two less one.
    pub(crate) jitter: u64,
    /// What it does to the lines of a run before it, in so many of 4 cases.
    pub(crate) warm: Warm,
}

/// How a thread prepares the cache for a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Warm {
    /// Leaves it as it is.
    Not,
    /// Asks for all lines for reading.
    Read,
    /// Asks for all lines for writing.
    Write,
    /// Pushes all lines out.
    Flush,
    /// One of these for each line, at random.
    Mixed,
}

const WARMS: [Warm; 6] =
    [Warm::Not, Warm::Mixed, Warm::Read, Warm::Mixed, Warm::Write, Warm::Flush];

/// Offsets to draw from, in ticks: mostly close together.
const OFFSETS: [u64; 8] = [0, 0, 16, 32, 64, 128, 256, 512];

/// Jitter to draw from.
const JITTERS: [u64; 4] = [0, 15, 63, 255];

/// Ticks that a window has at least.
const NARROWEST: u64 = 64;

/// Chooses the pace of batches.
#[derive(Debug)]
pub(crate) struct Pacer {
    /// What a run costs, in ticks.
    cost: u64,
}

impl Pacer {
    pub(crate) fn new() -> Self {
        Pacer { cost: 256 }
    }

    /// The plans of all threads for the next batch.
    pub(crate) fn plan(&self, threads: usize, random: &mut Rng) -> Vec<Pace> {
        let pick = |random: &mut Rng, from: &[u64]| from[random.below(from.len())];
        let jitter = pick(random, &JITTERS);
        let warm = WARMS[random.below(WARMS.len())];
        let window = NARROWEST.max(self.cost + self.cost / 4 + jitter);
        let pace = |_| Pace { window, offset: pick(random, &OFFSETS), jitter, warm };
        (0..threads).map(pace).collect()
    }

    /// Learns what runs of the last batch cost.
    pub(crate) fn learn(&mut self, cost: u64) {
        self.cost = (3 * self.cost + cost) / 4;
    }
}

/// What a run costs one thread, estimated from a few.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    ticks: u64,
}

impl Cost {
    /// A first guess.
    pub(crate) fn new() -> Self {
        Cost { ticks: 256 }
    }

    /// One run took so many ticks. A run that took very long was interrupted, and moves the
    /// estimate no further than one that took twice as long as expected.
    pub(crate) fn add(&mut self, ticks: u64) {
        let ticks = ticks.min(2 * self.ticks + 64);
        self.ticks = (15 * self.ticks + ticks) / 16;
    }

    /// The estimate.
    pub(crate) fn ticks(self) -> u64 {
        self.ticks
    }
}
