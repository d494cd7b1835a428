//! One thread's machine with the room it works in: a state, and the batch of its successors.
//!
//! Successors come in portions of about a megabyte, so that a state with very many of them, or
//! very large ones, takes no more memory than others.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use murphi::machine::{Check, Firing, Machine, Outcome, Step, Successors};

use crate::System;
use crate::memory::Meter;
use crate::reduction::{Reduction, Successor};
use crate::storage::Storage;
use crate::store::StoreError;
use crate::symmetry::{Permutation, changed_words, changed_words_in};

/// Bytes of a portion, unless a single state has more.
const PORTION: usize = 1 << 20;

/// A machine, the state it is in, and where its rules lead from there.
pub(crate) struct Runner<'a, M, C: Storage, R: Reduction> {
    pub(crate) machine: M,
    /// The unpacked state.
    pub(crate) state: Vec<u8>,
    /// Whether it is the one that was loaded last.
    is_loaded: bool,
    /// What was found by the last call of `start` or `expand`.
    pub(crate) successors: Successors,
    packer: Packer<'a, C, R>,
    /// How many firings a portion has at most.
    most: usize,
    /// Bytes that the meter knows of.
    metered: usize,
}

/// Turns states into packed representatives.
struct Packer<'a, C: Storage, R: Reduction> {
    codec: &'a C,
    reduction: &'a R,
    scratch: R::Scratch,
    storing: C::Scratch,
    /// The words in which a successor differs from the state, and which successor that is.
    changed: Vec<u32>,
    changed_by: Option<usize>,
}

/// Some of the rules that were run in a state.
pub(crate) struct Portion<'a, 'b, C: Storage, R: Reduction> {
    /// The state they were run in.
    state: &'a [u8],
    /// Whether the words that a rule has changed are looked for, since whoever stores the successor
    /// asks for them: the state is the one that was loaded last.
    by_words: bool,
    successors: &'a mut Successors,
    packer: &'a mut Packer<'b, C, R>,
}

/// Which rules to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rules {
    /// The start states.
    Start,
    /// Those that apply in the state.
    Applying,
}

impl<'a, M: Machine, C: Storage, R: Reduction> Runner<'a, M, C, R> {
    pub(crate) fn new<F: Fn() -> M>(system: &System<'a, F, C, R>) -> Self {
        let (codec, reduction) = (system.codec, system.reduction);
        Runner {
            machine: (system.machine)(),
            state: vec![0; system.state_size],
            is_loaded: false,
            successors: Successors::new(system.state_size),
            packer: Packer {
                codec,
                reduction,
                scratch: reduction.scratch(),
                storing: codec.scratch(),
                changed: Vec::new(),
                changed_by: None,
            },
            most: (PORTION / (system.state_size + size_of::<Firing>())).max(1),
            metered: 0,
        }
    }

    /// A runner that stops when a flag is set.
    pub(crate) fn obeying<F: Fn() -> M>(
        system: &System<'a, F, C, R>,
        stop: &Arc<AtomicBool>,
    ) -> Self {
        let mut runner = Runner::new(system);
        runner.machine.obey(stop);
        runner
    }

    /// Counts the memory of this runner, as far as it has grown since it was last counted.
    #[inline(always)]
    pub(crate) fn count(&mut self, meter: &Meter) -> Result<(), StoreError> {
        let firings = self.successors.firings.capacity() * size_of::<Firing>();
        let written = self.successors.written.capacity() * size_of::<u64>();
        let bytes = self.successors.states.capacity() + firings + written;
        match bytes > self.metered {
            true => self.count_anew(bytes, meter),
            false => Ok(()),
        }
    }

    #[cold]
    fn count_anew(&mut self, bytes: usize, meter: &Meter) -> Result<(), StoreError> {
        let own = match self.metered {
            0 => self.machine.footprint() + self.state.len(),
            _ => 0,
        };
        let more = bytes - self.metered + own;
        self.metered = bytes;
        match meter.take(more as u64) {
            true => Ok(()),
            false => Err(StoreError::Memory),
        }
    }

    /// Bytes of a stored state.
    pub(crate) fn packed_size(&self) -> usize {
        self.packer.codec.stored_size()
    }

    /// Goes to a stored state.
    #[inline(always)]
    pub(crate) fn load(&mut self, packed: &[u8]) {
        let Packer { codec, storing, reduction, scratch, .. } = &mut self.packer;
        let changed = match self.is_loaded {
            true => codec.advance(storing, packed, &mut self.state),
            false => {
                codec.load(storing, packed, &mut self.state);
                None
            }
        };
        reduction.expand(scratch, &self.state, changed);
        self.is_loaded = true;
    }

    /// Goes to a state.
    pub(crate) fn go_to(&mut self, state: &[u8]) {
        self.is_loaded = false;
        self.state.copy_from_slice(state);
    }

    /// The hint of the state that was loaded last, given as it is stored.
    #[inline(always)]
    pub(crate) fn hint(&self, stored: &[u8]) -> u8 {
        self.packer.codec.hint(&self.packer.storing, stored)
    }

    /// Whether the hint of a state is that of the hash of its stored form.
    pub(crate) fn hints_by_hash(&self) -> bool {
        self.packer.codec.hints_by_hash()
    }

    /// The packed state that was loaded last, given as it is stored.
    pub(crate) fn packed(&self, stored: &[u8]) -> Vec<u8> {
        self.packer.codec.packed(&self.packer.storing, stored)
    }

    /// Looks at the properties of the state.
    #[inline(always)]
    pub(crate) fn check(&mut self) -> Check {
        self.machine.check(&self.state)
    }

    /// Runs rules and takes what they led to, portion by portion.
    #[inline(always)]
    pub(crate) fn run(&mut self, rules: Rules, mut take: impl FnMut(&mut Portion<'_, 'a, C, R>)) {
        let Runner { machine, state, successors, packer, most, .. } = self;
        successors.clear();
        let by_words = C::BY_WORDS && self.is_loaded && rules == Rules::Applying;
        let from = (rules == Rules::Applying).then_some(&state[..]);
        let mut full = |successors: &mut Successors| {
            packer.changed_by = None;
            take(&mut Portion { state, by_words, successors, packer });
        };
        machine.run_in_portions(from, *most, successors, &mut full);
        full(successors);
    }

    /// Runs rules and keeps all that they led to, which are at most `most` bytes. Says whether
    /// that was all.
    pub(crate) fn run_whole(&mut self, rules: Rules, most: usize) -> bool {
        let Runner { machine, state, successors, .. } = self;
        successors.clear();
        let most = (most / (state.len() + size_of::<Firing>())).max(1);
        let from = (rules == Rules::Applying).then_some(&state[..]);
        let mut whole = true;
        machine.run_in_portions(from, most, successors, &mut |_| whole = false);
        whole
    }

    /// The first thing that `look` finds among what rules led to.
    pub(crate) fn find<T>(
        &mut self,
        rules: Rules,
        mut look: impl FnMut(&mut Portion<'_, 'a, C, R>, usize) -> Option<T>,
    ) -> Option<T> {
        let mut found = None;
        self.run(rules, |portion| {
            let mut firings = 0..portion.firings().len();
            if found.is_none() {
                found = firings.find_map(|firing| look(portion, firing));
            }
        });
        found
    }

    /// Whether a rule has changed the state.
    pub(crate) fn changes(&self, firing: usize) -> bool {
        self.successors.state(firing) != &self.state[..]
    }

    /// The successors that are states.
    pub(crate) fn done(&self) -> impl Iterator<Item = usize> {
        let firings = self.successors.firings.iter().enumerate();
        firings.filter(|(_, firing)| firing.outcome == Outcome::Done).map(|(number, _)| number)
    }

    /// Replaces the state by its representative; says who became whom.
    pub(crate) fn canonicalize(&mut self) -> Option<Permutation> {
        self.is_loaded = false;
        let Packer { reduction, scratch, .. } = &mut self.packer;
        reduction.canonicalize_tracked(scratch, &mut self.state)
    }

    /// Goes to a successor.
    pub(crate) fn follow(&mut self, firing: usize) {
        self.is_loaded = false;
        self.state.copy_from_slice(self.successors.state(firing));
    }
}

impl<C: Storage, R: Reduction> Portion<'_, '_, C, R> {
    /// What was run.
    #[inline(always)]
    pub(crate) fn firings(&self) -> &[Firing] {
        &self.successors.firings
    }

    /// The packed state in which they were run, given as it is stored.
    pub(crate) fn packed(&self, stored: &[u8]) -> Vec<u8> {
        self.packer.codec.packed(&self.packer.storing, stored)
    }

    /// The state that a firing led to.
    pub(crate) fn successor(&self, firing: usize) -> &[u8] {
        self.successors.state(firing)
    }

    /// Stores the representative of a successor of the state that was loaded last, given as it is
    /// stored, unless the rule has not changed it. Says whether the rule has, and then whether by more
    /// than the order of multisets, if that is asked. The successor may be overwritten.
    #[inline(always)]
    pub(crate) fn store(
        &mut self,
        firing: usize,
        stored_before: &[u8],
        asks: bool,
        stored: &mut [u8],
    ) -> Result<Option<bool>, StoreError> {
        let Packer { codec, reduction, storing, .. } = &mut *self.packer;
        if reduction.is_trivial() {
            let step = Step {
                before: self.state,
                packed: stored_before,
                after: self.successors.state(firing),
                written: self.successors.written(firing),
            };
            if let Some(changes) = codec.store_step(storing, &step, stored) {
                return Ok(changes.then_some(true));
            }
        }
        if !self.changes(firing) {
            return Ok(None);
        }
        let leaves = !asks || self.leaves(firing);
        self.pack(firing, stored)?;
        Ok(Some(leaves))
    }

    /// Whether a rule has changed the state.
    #[inline(always)]
    pub(crate) fn changes(&mut self, firing: usize) -> bool {
        let (before, after) = (self.state, self.successors.state(firing));
        if !self.by_words {
            return before != after;
        }
        let Packer { changed, changed_by, .. } = &mut *self.packer;
        changed.clear();
        match self.successors.written(firing) {
            Some(lines) => changed_words_in(lines, before, after, changed),
            None => changed_words(before, after, changed),
        }
        *changed_by = Some(firing);
        !changed.is_empty()
    }

    /// Whether a rule has changed the state, which is a representative, by more than the order of
    /// multisets.
    #[inline(always)]
    pub(crate) fn leaves(&mut self, firing: usize) -> bool {
        let Packer { reduction, scratch, changed, changed_by, .. } = &mut *self.packer;
        let changed = (*changed_by == Some(firing)).then_some(&changed[..]);
        !reduction.only_reorders(scratch, self.state, self.successors.state(firing), changed)
    }

    /// Stores the representative of a successor in `packed`, and says who became whom.
    pub(crate) fn pack_tracked(
        &mut self,
        firing: usize,
        packed: &mut [u8],
    ) -> Result<Option<Permutation>, StoreError> {
        let size = self.successors.size;
        let state = &mut self.successors.states[firing * size..(firing + 1) * size];
        let Packer { codec, reduction, scratch, storing, .. } = &mut *self.packer;
        let renaming = reduction.canonicalize_tracked(scratch, state);
        codec.store(storing, state, None, packed)?;
        Ok(renaming)
    }

    /// Stores the representative of a successor in `packed`; the successor may be overwritten.
    #[inline(always)]
    pub(crate) fn pack(&mut self, firing: usize, packed: &mut [u8]) -> Result<(), StoreError> {
        let size = self.successors.size;
        let state = &mut self.successors.states[firing * size..(firing + 1) * size];
        let Packer { codec, reduction, scratch, storing, changed, changed_by } = &mut *self.packer;
        let changed = changed_by.take().filter(|&by| by == firing).map(|_| &changed[..]);
        match reduction.successor(scratch, state, changed) {
            Successor::Representative { state, changed } => {
                return codec.store(storing, state, changed, packed);
            }
            Successor::Renamed(renaming) => {
                if codec.store_renamed(storing, &renaming, packed)? {
                    return Ok(());
                }
            }
        }
        codec.store_whole(storing, reduction.rename(scratch), packed)
    }
}
