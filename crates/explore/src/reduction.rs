//! What a search asks of symmetry reduction: one state to stand for all that are like it.
//!
//! The search is generic over it, so that without symmetry nothing is done at all: where a
//! reduction turns out to be trivial, [`Identity`] takes its place.

use crate::symmetry::Permutation;
use crate::units::Units;

/// Chooses a representative of each class of equivalent states.
pub trait Reduction: Sync {
    /// What a thread needs while it computes representatives.
    type Scratch: Send;

    /// Room to compute in, for one thread.
    fn scratch(&self) -> Self::Scratch;

    /// Replaces a state by the representative of its class.
    fn canonicalize(&self, scratch: &mut Self::Scratch, state: &mut [u8]);

    /// The same, and says by which renaming of members; nothing if nobody is renamed.
    fn canonicalize_tracked(
        &self,
        scratch: &mut Self::Scratch,
        state: &mut [u8],
    ) -> Option<Permutation> {
        self.canonicalize(scratch, state);
        None
    }

    /// Remembers a representative whose successors come next. All words of eight bytes in which it
    /// differs from the one that was remembered before are among `changed`, if that is given.
    fn expand(
        &self,
        _scratch: &mut Self::Scratch,
        _representative: &[u8],
        _changed: Option<&[u32]>,
    ) {
    }

    /// The representative of the class of a state, most likely a successor of the representative
    /// that was remembered last. It may replace the state. With it, words of eight bytes among
    /// which are all in which it differs from that representative, if that is known. The words in
    /// which the state itself differs from that representative are `changed`, if that is given.
    fn canonical_successor<'s>(
        &self,
        scratch: &'s mut Self::Scratch,
        state: &'s mut [u8],
        _changed: Option<&'s [u32]>,
    ) -> (&'s [u8], Option<&'s [u32]>) {
        self.canonicalize(scratch, state);
        (state, None)
    }

    /// Like [`Reduction::canonical_successor`], but where members are to be renamed, it may say so
    /// instead: [`Reduction::rename`] does it then.
    fn successor<'s>(
        &self,
        scratch: &'s mut Self::Scratch,
        state: &'s mut [u8],
        changed: Option<&'s [u32]>,
    ) -> Successor<'s> {
        let (state, changed) = self.canonical_successor(scratch, state, changed);
        Successor::Representative { state, changed }
    }

    /// Renames the members of the state that [`Reduction::successor`] was asked for last, where it
    /// said that they are to be renamed.
    fn rename<'s>(&self, _scratch: &'s mut Self::Scratch) -> &'s [u8] {
        &[]
    }

    /// The parts of a state of so many bytes that stay whole when members are renamed.
    fn units(&self, state_size: usize) -> Units {
        Units::whole(state_size)
    }

    /// Whether a state differs from a representative in nothing but the order of multisets, which
    /// means nothing. The words of eight bytes in which it differs are `changed`, if that is given.
    fn only_reorders(
        &self,
        _scratch: &mut Self::Scratch,
        _representative: &[u8],
        _state: &[u8],
        _changed: Option<&[u32]>,
    ) -> bool {
        false
    }

    /// Whether every state stands for itself.
    fn is_trivial(&self) -> bool {
        false
    }
}

/// What stands for a successor.
#[derive(Debug)]
pub enum Successor<'s> {
    /// This state, which differs from the one before in no other words than these, if they are
    /// known.
    Representative {
        /// The representative.
        state: &'s [u8],
        /// Words of eight bytes.
        changed: Option<&'s [u32]>,
    },
    /// A state whose members are to be renamed.
    Renamed(Renaming<'s>),
}

/// A state and how its members are to be renamed.
#[derive(Debug)]
pub struct Renaming<'s> {
    /// The state; its multisets are in order, as long as nobody is renamed.
    pub(crate) state: &'s [u8],
    /// Words of eight bytes, among which are all in which it differs from the state before.
    pub(crate) changed: &'s [u32],
    /// For each member whom it becomes, and for nobody.
    pub(crate) image: &'s [u32],
}

/// Every state stands for itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct Identity;

impl Reduction for Identity {
    type Scratch = ();

    fn scratch(&self) {}

    #[inline(always)]
    fn canonicalize(&self, _scratch: &mut (), _state: &mut [u8]) {}

    #[inline(always)]
    fn canonical_successor<'s>(
        &self,
        _scratch: &'s mut (),
        state: &'s mut [u8],
        changed: Option<&'s [u32]>,
    ) -> (&'s [u8], Option<&'s [u32]>) {
        (state, changed)
    }

    fn is_trivial(&self) -> bool {
        true
    }
}
