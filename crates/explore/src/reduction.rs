//! What a search asks of symmetry reduction: one state to stand for all that are like it.
//!
//! The search is generic over it, so that without symmetry nothing is done at all: where a
//! reduction turns out to be trivial, [`Identity`] takes its place.

use crate::symmetry::Permutation;

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

    /// Remembers a representative whose successors come next.
    fn expand(&self, _scratch: &mut Self::Scratch, _representative: &[u8]) {}

    /// The representative of the class of a state, most likely a successor of the representative
    /// that was remembered last. It may replace the state. With it, words of eight bytes among
    /// which are all in which it differs from that representative, if that is known.
    fn canonical_successor<'s>(
        &self,
        scratch: &'s mut Self::Scratch,
        state: &'s mut [u8],
    ) -> (&'s [u8], Option<&'s [u32]>) {
        self.canonicalize(scratch, state);
        (state, None)
    }

    /// Whether a state differs from a representative in nothing but the order of multisets, which
    /// means nothing.
    fn only_reorders(
        &self,
        _scratch: &mut Self::Scratch,
        _representative: &[u8],
        _state: &[u8],
    ) -> bool {
        false
    }

    /// Whether every state stands for itself.
    fn is_trivial(&self) -> bool {
        false
    }
}

/// Every state stands for itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct Identity;

impl Reduction for Identity {
    type Scratch = ();

    fn scratch(&self) {}

    #[inline(always)]
    fn canonicalize(&self, _scratch: &mut (), _state: &mut [u8]) {}

    fn is_trivial(&self) -> bool {
        true
    }
}
