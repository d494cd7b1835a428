//! How a search keeps states: as packed bytes, or as trees of shared parts.
//!
//! The *stored form* of a state is a string of bytes of one length, and two states are equal
//! exactly if their stored forms are. That is all that the visited set, the frontier and the
//! messages between workers know. Small states are stored as they are packed: any [`Codec`] is a
//! storage. Large ones are stored as [trees](crate::tree), where the stored form is the root, and
//! what it costs to store a state grows with what differs from the state that was loaded before.

use murphi::machine::Step;

use crate::hash;
use crate::pack::Codec;
use crate::reduction::Renaming;
use crate::store::StoreError;

/// A way to keep states.
pub(crate) trait Storage: Sync {
    /// Whether storing a state costs less if it is known which words have changed.
    const BY_WORDS: bool;

    /// What a thread needs while it stores and loads.
    type Scratch: Send;

    /// Room to work in, for one thread.
    fn scratch(&self) -> Self::Scratch;

    /// Bytes of a stored state.
    fn stored_size(&self) -> usize;

    /// Stores a state. All words of eight bytes in which it differs from the state that was loaded
    /// last are among `changed`, if that is given.
    fn store(
        &self,
        scratch: &mut Self::Scratch,
        state: &[u8],
        changed: Option<&[u32]>,
        stored: &mut [u8],
    ) -> Result<(), StoreError>;

    /// Stores a state whose members are renamed, if what it becomes is known from before, and says
    /// whether it was. If not, [`Storage::store_whole`] follows.
    fn store_renamed(
        &self,
        _scratch: &mut Self::Scratch,
        _renaming: &Renaming<'_>,
        _stored: &mut [u8],
    ) -> Result<bool, StoreError> {
        Ok(false)
    }

    /// Stores the state that [`Storage::store_renamed`] was asked for last, renamed.
    fn store_whole(
        &self,
        scratch: &mut Self::Scratch,
        state: &[u8],
        stored: &mut [u8],
    ) -> Result<(), StoreError> {
        self.store(scratch, state, None, stored)
    }

    /// Stores the state that a step led to, unless it is the one before, and says whether it is
    /// another; the step begins at the state that was loaded last, given as it is stored. Nothing is
    /// said if this storage does not do that at once.
    fn store_step(
        &self,
        _scratch: &mut Self::Scratch,
        _step: &Step<'_>,
        _stored: &mut [u8],
    ) -> Option<bool> {
        None
    }

    /// Loads a state, whose padding is zero and stays so.
    fn load(&self, scratch: &mut Self::Scratch, stored: &[u8], state: &mut [u8]);

    /// Loads a state into `state`, which is the one that was loaded last. Says words of eight bytes
    /// among which are all that have changed, if that is known.
    fn advance<'s>(
        &self,
        scratch: &'s mut Self::Scratch,
        stored: &[u8],
        state: &mut [u8],
    ) -> Option<&'s [u32]> {
        self.load(scratch, stored, state);
        None
    }

    /// The hint of the state that was loaded last: a byte that depends on the state only, not on
    /// threads.
    fn hint(&self, scratch: &Self::Scratch, stored: &[u8]) -> u8;

    /// Whether hints are those of the hash of the stored form.
    fn hints_by_hash(&self) -> bool;

    /// The packed state that was loaded last: unlike its stored form, it depends on the state only,
    /// so it can be used to put states in order.
    fn packed(&self, scratch: &Self::Scratch, stored: &[u8]) -> Vec<u8>;
}

/// States are stored as they are packed.
impl<C: Codec> Storage for C {
    const BY_WORDS: bool = false;

    type Scratch = ();

    fn scratch(&self) {}

    #[inline(always)]
    fn stored_size(&self) -> usize {
        self.packed_size()
    }

    #[inline(always)]
    fn store(
        &self,
        _: &mut (),
        state: &[u8],
        _: Option<&[u32]>,
        stored: &mut [u8],
    ) -> Result<(), StoreError> {
        self.pack(state, stored);
        Ok(())
    }

    #[inline(always)]
    fn store_step(&self, _: &mut (), step: &Step<'_>, stored: &mut [u8]) -> Option<bool> {
        Some(self.pack_step(step, stored))
    }

    #[inline(always)]
    fn load(&self, _: &mut (), stored: &[u8], state: &mut [u8]) {
        self.unpack(stored, state);
    }

    #[inline(always)]
    fn hint(&self, _: &(), stored: &[u8]) -> u8 {
        hash::hint(hash::hash(stored, hash::PLACE))
    }

    fn hints_by_hash(&self) -> bool {
        true
    }

    fn packed(&self, _: &(), stored: &[u8]) -> Vec<u8> {
        stored.to_vec()
    }
}
