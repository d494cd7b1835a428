//! How a search grew: states by depth, and states and memory over time, for plots. All of it is bounded,
//! whatever the search: once there are too many entries, neighbours become one.

use serde::{Deserialize, Serialize};

/// The most entries that are kept of each.
const MOST: usize = 512;

/// How many states are how far from the start states.
///
/// ```
/// let mut depths = tribunal_explore::Depths::default();
/// (0..2000).for_each(|depth| depths.push(depth, 1));
/// assert_eq!((depths.levels, depths.states[0]), (4, 4));
/// assert_eq!(depths.states.iter().sum::<u64>(), 2000);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Depths {
    /// The depth of the first entry.
    pub first: u32,
    /// The states before it.
    pub before: u64,
    /// How many levels an entry stands for.
    pub levels: u32,
    /// The states of each entry. Those that an assumption excludes are not counted.
    pub states: Vec<u64>,
}

impl Default for Depths {
    fn default() -> Self {
        Depths { first: 0, before: 0, levels: 1, states: Vec::new() }
    }
}

impl Depths {
    /// Adds a level, which is the next.
    pub fn push(&mut self, depth: u32, states: u64) {
        if self.states.is_empty() {
            self.first = depth;
        }
        let entry = ((depth - self.first) / self.levels) as usize;
        if entry >= MOST {
            self.states = self.states.chunks(2).map(|pair| pair.iter().sum()).collect();
            self.levels = self.levels.saturating_mul(2);
            return self.push(depth, states);
        }
        if entry >= self.states.len() {
            self.states.resize(entry + 1, 0);
        }
        self.states[entry] += states;
    }

    /// Makes the sum what it is to be, which is less if assumptions exclude states of the last level,
    /// and more if some of the level after it are known.
    pub(crate) fn adjust(&mut self, sum: u64, after: u32) {
        let so_far = self.before + self.states.iter().sum::<u64>();
        match self.states.last_mut() {
            Some(last) if sum < so_far => *last = last.saturating_sub(so_far - sum),
            _ if sum > so_far => self.push(after, sum - so_far),
            _ => {}
        }
        while self.states.last() == Some(&0) {
            self.states.pop();
        }
    }
}

/// What there was at a time of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    /// States found so far.
    pub states: u64,
    /// Memory in use, in bytes.
    pub bytes: u64,
}

/// States and memory over time.
pub type Growth = Timeline<Size>;

/// Something that is looked at now and then: seconds and what there was, in the order of time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timeline<T> {
    samples: Vec<(f64, T)>,
    /// Samples are at least so many seconds apart.
    apart: f64,
}

impl<T> Default for Timeline<T> {
    fn default() -> Self {
        Timeline { samples: Vec::new(), apart: 0.0 }
    }
}

impl<T: Clone> Timeline<T> {
    /// Adds a sample that is later than the others, unless the last is too near.
    pub fn push(&mut self, seconds: f64, sample: T) {
        if self.samples.last().is_some_and(|(last, _)| seconds < last + self.apart) {
            return;
        }
        self.samples.push((seconds, sample));
        if self.samples.len() > MOST {
            let mut keep = false;
            self.samples.retain(|_| {
                keep = !keep;
                keep
            });
            self.apart = 2.0 * seconds / MOST as f64;
        }
    }

    /// The samples.
    pub fn samples(&self) -> &[(f64, T)] {
        &self.samples
    }

    /// The samples of both and the end, in the order of time.
    pub fn together(&self, other: &Self, end: (f64, T)) -> Vec<(f64, T)> {
        let mut samples = [&self.samples[..], &other.samples].concat();
        samples.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        samples.retain(|(seconds, _)| *seconds < end.0);
        samples.push(end);
        samples
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_samples_are_thinned_evenly() {
        let mut timeline = Timeline::default();
        (0..100_000).for_each(|at| timeline.push(f64::from(at), at));
        let samples = timeline.samples();
        assert!(samples.len() <= MOST && samples.len() > MOST / 4, "{}", samples.len());
        let gaps = samples.windows(2).map(|pair| pair[1].0 - pair[0].0);
        let widest = gaps.fold(0.0, f64::max);
        assert!(widest < 100_000.0 / 100.0, "{widest}");
        let all = timeline.together(&Timeline::default(), (100_000.0, 100_000));
        assert_eq!(all.last(), Some(&(100_000.0, 100_000)));
    }

    #[test]
    fn excluded_states_are_taken_off_their_level() {
        let mut depths = Depths::default();
        depths.push(3, 5);
        depths.adjust(3, 4);
        depths.adjust(4, 4);
        assert_eq!((depths.first, &depths.states[..]), (3, &[3, 1][..]));
    }
}
