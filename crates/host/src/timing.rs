//! When threads start a run, and with which caches, so that races really meet.
//!
//! Threads do not wait for each other. Before a batch they agree on a time, and run `i` of the
//! batch begins at that time plus `i` windows, by the time-stamp counter that all cores share. A
//! thread that the system has put aside is late, goes on at once, and is on time again a few runs
//! later; nobody spins for it. That is why a loaded machine makes races rarer but never slow.
//!
//! The window is what a run costs, with a little room, as measured on the way; a run during which
//! the system put the thread aside counts for little.
//!
//! How far apart threads must be for their accesses to cross, and whose cache must hold which
//! line, nobody knows in advance. That is a [`Setting`], which holds for a batch. A batch shows how
//! mixed its outcomes were (`entropy.rs`); some batches try something new, the others go on with
//! what mixed best so far, or with something near it.

use chance::Rng;

/// The plan of one thread for one batch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timing {
    /// Ticks between the starts of two runs.
    pub(crate) window: u64,
    /// Ticks this thread starts after the agreed time.
    pub(crate) offset: u64,
    /// Ticks of jitter at most: a power of two less one.
    pub(crate) jitter: u64,
    /// How the cache lines of a run are treated before it.
    pub(crate) lines: Lines,
}

/// How a thread prepares the lines of a run, two bits for each line: see [`Warm::of`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lines {
    /// The same delay in all runs.
    Fixed(u64),
    /// At random.
    Random,
}

/// How a thread prepares the cache for an access to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Warm {
    /// Leaves it as it is.
    Not,
    /// Asks for it for reading.
    Read,
    /// Asks for it for writing.
    Write,
    /// Pushes it out.
    Flush,
}

impl Warm {
    /// What two bits stand for.
    #[inline]
    pub(crate) fn of(bits: u64) -> Warm {
        [Warm::Not, Warm::Read, Warm::Write, Warm::Flush][bits as usize & 3]
    }
}

/// Lines of an instance that are prepared; there are two bits for each.
pub(crate) const PREPARED: usize = 32;

/// Offsets to draw from, in ticks: mostly close together.
const OFFSETS: [u64; 8] = [0, 0, 16, 32, 64, 128, 256, 512];

/// Jitter to draw from.
const JITTERS: [u64; 4] = [0, 15, 63, 255];

/// Ticks that a window has at least.
const NARROWEST: u64 = 64;

/// The percentage of batches that try a new setting.
const CURIOSITY: u32 = 20;

/// Settings that are remembered.
const REMEMBERED: usize = 8;

/// How threads are set against each other in a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Setting {
    jitter: u64,
    /// For each thread, its offset and how it prepares lines.
    threads: Vec<(u64, Lines)>,
}

/// A setting that was tried, and how well outcomes mixed.
#[derive(Debug)]
struct TriedSetting {
    setting: Setting,
    /// In relation to all batches at that time: 1 is as usual.
    merit: f64,
}

/// Chooses the timing of batches.
#[derive(Debug)]
pub(crate) struct TimingTuner {
    /// The time of a run, in ticks.
    cost: u64,
    /// How mixed the outcomes of a batch are, usually.
    usual: f64,
    /// The best settings so far, best first.
    best: Vec<TriedSetting>,
    /// The setting of the batch under way.
    current: Option<Setting>,
}

impl TimingTuner {
    pub(crate) fn new() -> Self {
        TimingTuner { cost: 256, usual: 0.0, best: Vec::new(), current: None }
    }

    /// Prepares for the batches of another test: the usual results are unknown again. The setting
    /// that worked for one test is tried first for the next.
    pub(crate) fn turn_to_another_test(&mut self) {
        self.usual = 0.0;
        self.current = None;
        for tried in &mut self.best {
            tried.merit = 1.0;
        }
    }

    /// The plans of all threads for the next batch.
    pub(crate) fn plan(&mut self, threads: usize, random: &mut Rng) -> Vec<Timing> {
        let fitting = self.best.iter().filter(|tried| tried.setting.threads.len() == threads);
        let count = fitting.clone().count();
        let setting = if count == 0 || random.percent(CURIOSITY) {
            Setting::random(threads, random)
        } else {
            // The best mostly, and the others now and then.
            let which = random.below(count).min(random.below(count)).min(random.below(count));
            let chosen = fitting.map(|tried| &tried.setting).nth(which);
            let mut setting = chosen.expect("one of so many").clone();
            if random.percent(30) {
                setting.vary(random);
            }
            setting
        };
        let jitter = setting.jitter;
        let window = NARROWEST.max(self.cost + self.cost / 4 + jitter);
        let timing = |&(offset, lines): &(u64, Lines)| Timing { window, offset, jitter, lines };
        let paces = setting.threads.iter().map(timing).collect();
        self.current = Some(setting);
        paces
    }

    /// Updates the time of a run and the merit of the setting from the last batch.
    pub(crate) fn learn(&mut self, cost: u64, mixed: f64) {
        self.cost = (3 * self.cost + cost) / 4;
        let Some(setting) = self.current.take() else { return };
        self.usual = match self.usual {
            0.0 => mixed,
            usual => (15.0 * usual + mixed) / 16.0,
        };
        let merit = if self.usual > 0.0 { mixed / self.usual } else { 1.0 };
        match self.best.iter_mut().find(|tried| tried.setting == setting) {
            // A batch that mixed badly may have been disturbed; one that mixed well was not.
            Some(tried) if merit < tried.merit => tried.merit = (7.0 * tried.merit + merit) / 8.0,
            Some(tried) => tried.merit = (tried.merit + merit) / 2.0,
            None => self.best.push(TriedSetting { setting, merit }),
        }
        self.best.sort_by(|one, other| other.merit.total_cmp(&one.merit));
        self.best.truncate(REMEMBERED);
    }
}

impl Setting {
    fn random(threads: usize, random: &mut Rng) -> Self {
        let jitter = JITTERS[random.below(JITTERS.len())];
        let lines = lines(threads, random);
        let offset = |random: &mut Rng| OFFSETS[random.below(OFFSETS.len())];
        let threads = lines.into_iter().map(|lines| (offset(random), lines)).collect();
        Setting { jitter, threads }
    }

    /// Changes one thing a little.
    fn vary(&mut self, random: &mut Rng) {
        match random.below(8) {
            0 => self.jitter = JITTERS[random.below(JITTERS.len())],
            1 => {
                let lines = lines(self.threads.len(), random);
                for (thread, lines) in self.threads.iter_mut().zip(lines) {
                    thread.1 = lines;
                }
            }
            _ => {
                let which = random.below(self.threads.len());
                let offset = &mut self.threads[which].0;
                let step = 4 << random.below(4);
                *offset = if random.percent(50) { *offset + step } else { offset.abs_diff(step) };
            }
        }
        // Only differences matter.
        let least = self.threads.iter().map(|thread| thread.0).min().unwrap_or_default();
        self.threads.iter_mut().for_each(|thread| thread.0 -= least);
    }
}

/// How each of some threads prepares lines: all alike, at random, or each line by one of them, which
/// makes loads of that thread fast and stores of the others slow.
fn lines(threads: usize, random: &mut Rng) -> Vec<Lines> {
    const READ: u64 = 0x5555_5555_5555_5555;
    match random.below(8) {
        0 => vec![Lines::Fixed(0); threads],
        1 => vec![Lines::Random; threads],
        2 => vec![Lines::Fixed(READ * random.below(4) as u64); threads],
        _ => {
            let way = if random.percent(75) { Warm::Write } else { Warm::Read } as u64;
            let mut bits = vec![0; threads];
            for line in 0..PREPARED {
                bits[random.below(threads)] |= way << (2 * line);
            }
            bits.into_iter().map(Lines::Fixed).collect()
        }
    }
}

/// The time of a run for one thread, estimated from a few runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    ticks: u64,
}

impl Cost {
    /// A first guess.
    pub(crate) fn new() -> Self {
        Cost { ticks: 256 }
    }

    /// Adds a measured run. A run that took very long was interrupted, and counts like one of twice
    /// the expected time.
    pub(crate) fn add(&mut self, ticks: u64) {
        let ticks = ticks.min(2 * self.ticks + 64);
        self.ticks = (15 * self.ticks + ticks) / 16;
    }

    /// The estimate.
    pub(crate) fn ticks(self) -> u64 {
        self.ticks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where one setting mixes better than all others, most batches come to have it.
    #[test]
    fn what_mixes_well_is_done_often() {
        let mut tuner = TimingTuner::new();
        let mut random = Rng::new(5);
        let near = |paces: &[Timing]| paces[0].offset.abs_diff(paces[1].offset + 100) < 20;
        let mut hits = [0, 0];
        for batch in 0..2000 {
            let good = near(&tuner.plan(2, &mut random));
            hits[batch / 1000] += usize::from(good);
            tuner.learn(300, if good { 1.0 } else { 0.2 });
        }
        assert!(hits[1] > 500, "{hits:?}");
    }
}
