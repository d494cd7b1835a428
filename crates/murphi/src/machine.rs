//! What an exploration asks of a model: its start states, the successors of a state, whether a
//! state keeps its properties; and how states are packed. Two things answer: the reference
//! interpreter, and native code.
//!
//! States are byte strings laid out by [`Layout`](crate::layout::Layout). An instance of a rule is
//! a number: the values of its `Each` parameters, each counted from the first of its domain, as
//! the digits of a mixed-radix number whose first digit is the outermost parameter. The radix of a
//! parameter is the size of its type or range, or the capacity of its multiset. See
//! [`instance`](crate::instance).

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// How running one rule ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Outcome {
    /// It led to a state.
    Done = 0,
    /// A run-time error: a failed assertion, `error`, a value out of range, …. The interpreter
    /// says which.
    Failed = 1,
    /// An `assume` in it did not hold: there is no successor.
    Excluded = 2,
    /// Evaluating the guard (or a parameter) failed, so it is not known whether the rule applies.
    GuardFailed = 3,
}

/// A rule that was run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Firing {
    /// Which rule of the model (or which start state).
    pub rule: u32,
    /// With which parameters.
    pub instance: u64,
    /// How it ended.
    pub outcome: Outcome,
}

/// A batch of rules that were run and the states they led to.
#[derive(Debug, Clone)]
pub struct Successors {
    /// Size of a state in bytes.
    pub size: usize,
    /// `firings.len()` states of `size` bytes each. What a rule that did not end with
    /// [`Outcome::Done`] left there means nothing.
    pub states: Vec<u8>,
    /// What was run, in the order of rules and instances.
    pub firings: Vec<Firing>,
    /// For each firing, the [lines](line_bits) of the state that it may have changed, a bit each. A
    /// machine that does not know them adds none, so that there are fewer of these than firings.
    pub written: Vec<u64>,
}

/// A state is at most 64 *lines* of as many bytes, of which this is the binary logarithm: a word of
/// eight bytes, unless that is too little.
pub fn line_bits(state_size: usize) -> u32 {
    let last_byte = state_size.saturating_sub(1);
    (usize::BITS - (last_byte / 64).leading_zeros()).max(3)
}

/// The [lines](line_bits) of some bytes of a state, a bit each.
pub fn lines(offset: usize, length: usize, line_bits: u32) -> u64 {
    match length {
        0 => 0,
        _ => {
            let (first, last) = (offset >> line_bits, (offset + length - 1) >> line_bits);
            (u64::MAX << first) & (u64::MAX >> (63 - last))
        }
    }
}

impl Successors {
    /// An empty batch of states of this size.
    pub fn new(size: usize) -> Self {
        Successors { size, states: Vec::new(), firings: Vec::new(), written: Vec::new() }
    }

    /// Forgets everything but keeps the room.
    pub fn clear(&mut self) {
        self.states.clear();
        self.firings.clear();
        self.written.clear();
    }

    /// The [lines](line_bits) that a firing may have changed, if they are known.
    #[inline(always)]
    pub fn written(&self, firing: usize) -> Option<u64> {
        (self.written.len() == self.firings.len()).then(|| self.written[firing])
    }

    /// Adds this batch to `out` in portions: whenever that has `most` firings (at least 1), it is
    /// handed to `full` and emptied.
    pub fn hand_on(
        &self,
        most: usize,
        out: &mut Successors,
        full: &mut dyn FnMut(&mut Successors),
    ) {
        for (number, firing) in self.firings.iter().enumerate() {
            if out.firings.len() >= most.max(1) {
                full(out);
                out.clear();
            }
            if let Some(written) = self.written(number)
                && out.written.len() == out.firings.len()
            {
                out.written.push(written);
            }
            out.firings.push(*firing);
            out.states.extend_from_slice(self.state(number));
        }
    }

    /// The state that a firing led to.
    pub fn state(&self, firing: usize) -> &[u8] {
        &self.states[firing * self.size..(firing + 1) * self.size]
    }
}

/// What a look at the properties of a state found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// Every invariant and every assumption holds.
    Holds,
    /// An assumption does not hold (and no invariant was looked at): the state does not count.
    Excluded,
    /// The invariant with this number among [`Model::properties`](crate::ir::Model::properties)
    /// does not hold.
    Broken(u32),
    /// Evaluating the property with this number ended in a run-time error.
    Failed(u32),
}

/// A model that can be run. One for each thread.
pub trait Machine: Send {
    /// Runs every start state.
    fn start(&mut self, out: &mut Successors);

    /// Runs every rule that applies in `state`, with all its parameters, appending to `out`.
    fn expand(&mut self, state: &[u8], out: &mut Successors);

    /// Looks at assumptions, then invariants, in the order of the source. Covers that hold are
    /// noted.
    fn check(&mut self, state: &[u8]) -> Check;

    /// For each property, whether it is a cover that has held in a state given to `check`; then,
    /// for each `cover` statement, whether it was reached with its condition true.
    fn covered(&self) -> &[bool];

    /// For each of the model's [`Goals`](crate::goal::Goals), whether it holds in a state; or the
    /// number of one that cannot be evaluated there. Whoever has no goals need not say more.
    fn goals(&mut self, state: &[u8], reached: &mut [bool]) -> Result<(), usize> {
        let _ = state;
        reached.fill(false);
        Ok(())
    }

    /// Like `expand`, or `start` where there is no state, but in portions: whenever the batch has
    /// `most` firings (at least 1) it is handed to `full`, and emptied afterwards. What is left in
    /// the batch is the last portion.
    fn run_in_portions(
        &mut self,
        state: Option<&[u8]>,
        most: usize,
        out: &mut Successors,
        full: &mut dyn FnMut(&mut Successors),
    ) {
        // All of it is the last portion.
        let _ = (most, full);
        match state {
            Some(state) => self.expand(state, out),
            None => self.start(out),
        }
    }

    /// From now on, whatever is being run ends soon after this flag is set, and what it has found
    /// since then means nothing.
    fn obey(&mut self, stop: &Arc<AtomicBool>) {
        let _ = stop;
    }

    /// Bytes that the machine holds for itself, if that may be many.
    fn footprint(&self) -> usize {
        0
    }
}

/// A machine of whatever kind. A call is for a whole state, so that it costs next to nothing that
/// the kind is found out when it runs; and a search is compiled once and not for each kind.
impl Machine for Box<dyn Machine + '_> {
    fn start(&mut self, out: &mut Successors) {
        (**self).start(out);
    }

    fn expand(&mut self, state: &[u8], out: &mut Successors) {
        (**self).expand(state, out);
    }

    fn check(&mut self, state: &[u8]) -> Check {
        (**self).check(state)
    }

    fn covered(&self) -> &[bool] {
        (**self).covered()
    }

    fn goals(&mut self, state: &[u8], reached: &mut [bool]) -> Result<(), usize> {
        (**self).goals(state, reached)
    }

    fn run_in_portions(
        &mut self,
        state: Option<&[u8]>,
        most: usize,
        out: &mut Successors,
        full: &mut dyn FnMut(&mut Successors),
    ) {
        (**self).run_in_portions(state, most, out, full);
    }

    fn obey(&mut self, stop: &Arc<AtomicBool>) {
        (**self).obey(stop);
    }

    fn footprint(&self) -> usize {
        (**self).footprint()
    }
}

/// What a rule has made of a state.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// The state in which the rule was run.
    pub before: &'a [u8],
    /// The same, packed.
    pub packed: &'a [u8],
    /// The state that it led to.
    pub after: &'a [u8],
    /// The [lines](line_bits) in which the two may differ, a bit each, if they are known.
    pub written: Option<u64>,
}

/// Turns states into packed states and back.
pub trait Codec: Sync {
    /// Bytes of a packed state.
    fn packed_size(&self) -> usize;

    /// Packs `state` into exactly [`Codec::packed_size`] bytes.
    fn pack(&self, state: &[u8], packed: &mut [u8]);

    /// Writes every slot of `state`, whose padding is zero and stays so.
    fn unpack(&self, packed: &[u8], state: &mut [u8]);

    /// Packs the state that a step led to, unless it is the one before. Says whether it is another.
    #[inline]
    fn pack_step(&self, step: &Step<'_>, packed: &mut [u8]) -> bool {
        let changes = step.before != step.after;
        if changes {
            self.pack(step.after, packed);
        }
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_has_at_most_64_lines_and_no_more_bytes_in_each_than_needed() {
        for size in [0, 1, 64, 511, 512, 513, 4096, 4097, 8192, 8193, 1 << 24] {
            let bits = line_bits(size);
            assert!(bits >= 3 && size <= 64 << bits, "{size}");
            assert!(bits == 3 || size > 64 << (bits - 1), "{size}");
        }
    }

    #[test]
    fn the_lines_of_bytes_are_those_from_the_first_byte_to_the_last() {
        assert_eq!(lines(8, 16, 3), 6);
        assert_eq!(lines(0, 64, 6), 1);
        assert_eq!(lines(63, 2, 6), 3);
        assert_eq!(lines(64, 1, 6), 2);
        assert_eq!(lines(4095, 1, 6), 1 << 63);
        assert_eq!(lines(0, 4096, 6), u64::MAX);
        assert_eq!(lines(100, 0, 6), 0);
    }

    #[test]
    fn what_is_known_of_a_batch_is_handed_on_with_it() {
        let firing = |rule| Firing { rule, instance: 0, outcome: Outcome::Done };
        let mut batch = Successors::new(0);
        batch.firings.extend([firing(0), firing(1)]);
        assert_eq!(batch.written(0), None);
        batch.written.extend([5, 7]);
        let mut out = Successors::new(0);
        batch.hand_on(9, &mut out, &mut |_| ());
        assert_eq!((out.written(0), out.written(1)), (Some(5), Some(7)));
        // Nothing is known of the first firing, so nothing is said of any.
        let mut mixed = Successors::new(0);
        mixed.firings.push(firing(2));
        batch.hand_on(9, &mut mixed, &mut |_| ());
        assert_eq!((mixed.firings.len(), mixed.written(1)), (3, None));
    }
}
