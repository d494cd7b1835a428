//! Trees in a store, packed states outside.
//!
//! Numbers of parts mean something within one process only. So processes that search together send
//! each other packed states, and every process keeps those that it owns as [trees](super): a
//! [`TreeStore`] turns packed states into roots on their way in, and roots into packed states on
//! their way out. What comes in one after the other are mostly successors of the same states, so
//! each state is compared with the one before it, and only leaves that differ are numbered.
//!
//! [`Packed`] is the storage of such a search, and of one with states on disk: states as they are
//! packed, but with the hints of trees, so that the same one of several counterexamples is found as
//! in the memory of one process.

use std::cell::RefCell;
use std::sync::Arc;

use super::{LEAF, Scratch, Tree, mixed, words_of};
use crate::hash::{self, Partition};
use crate::liveness::{AtHand, InMemory, Located, Order, Questions, Reader, StatePlace};
use crate::memory::Meter;
use crate::pack::Codec;
use crate::storage::Storage;
use crate::store::{Store, StoreError};
use crate::units::Units;
use crate::visited::VisitedSet;
use crate::watch::Watch;

/// Shards of the set of roots of a worker.
const SHARDS: usize = 32;

/// The states of a worker, as trees.
pub(crate) struct TreeStore<'a, C> {
    tree: &'a Tree<'a, C>,
    roots: VisitedSet,
    packed: usize,
    incoming: Converter,
    outgoing: Converter,
    /// Room for records of roots, and their hashes.
    records: Vec<u8>,
    hashes: Vec<u64>,
}

/// Turns packed states into roots or back. It remembers the state before.
#[derive(Debug)]
struct Converter {
    scratch: Scratch,
    state: Vec<u8>,
}

impl Converter {
    fn new<C: Codec>(tree: &Tree<'_, C>) -> Self {
        Converter { scratch: tree.scratch(), state: vec![0; tree.state_size] }
    }

    /// Writes the root of a packed state.
    fn store<C: Codec>(
        &mut self,
        tree: &Tree<'_, C>,
        packed: &[u8],
        root: &mut [u8],
    ) -> Result<(), StoreError> {
        tree.codec.unpack(packed, &mut self.state);
        tree.store(&mut self.scratch, &self.state, None, root)?;
        tree.replace(&mut self.scratch, root);
        Ok(())
    }

    /// Writes the packed state of a root.
    fn load<C: Codec>(&mut self, tree: &Tree<'_, C>, root: &[u8], packed: &mut [u8]) {
        tree.replace(&mut self.scratch, root);
        tree.codec.pack(&self.scratch.state, packed);
    }

    /// Appends the packed states of roots.
    fn load_all<C: Codec>(&mut self, tree: &Tree<'_, C>, roots: &[u8], states: &mut Vec<u8>) {
        let size = tree.codec.packed_size();
        for root in roots.chunks_exact(tree.stored_size()) {
            let start = states.len();
            states.resize(start + size, 0);
            self.load(tree, root, &mut states[start..]);
        }
    }
}

impl<'a, C: Codec> TreeStore<'a, C> {
    /// An empty one.
    pub(crate) fn new(tree: &'a Tree<'a, C>, meter: &Arc<Meter>) -> Result<Self, StoreError> {
        // All of its states are those of this worker.
        let partition = Partition { workers: 1, shards: SHARDS };
        let roots = VisitedSet::new(tree.stored_size(), partition, 0, Arc::clone(meter))?;
        Ok(TreeStore {
            tree,
            roots: roots.read_as_added(),
            packed: tree.codec.packed_size(),
            incoming: Converter::new(tree),
            outgoing: Converter::new(tree),
            records: Vec::new(),
            hashes: Vec::new(),
        })
    }
}

impl<C: Codec> Store for TreeStore<'_, C> {
    fn insert(&mut self, records: &[u8], _hashes: &[u64]) -> Result<u64, StoreError> {
        let root = self.tree.stored_size();
        self.records.clear();
        self.hashes.clear();
        for record in records.chunks_exact(self.packed + 1) {
            let (packed, hint) = record.split_at(self.packed);
            let start = self.records.len();
            self.records.resize(start + root, 0);
            self.incoming.store(self.tree, packed, &mut self.records[start..])?;
            self.hashes.push(hash::hash(&self.records[start..], hash::PLACE));
            self.records.extend_from_slice(hint);
        }
        self.roots.insert(&self.records, &self.hashes)
    }

    fn next_level(&mut self, watch: &Watch) -> Result<u64, StoreError> {
        self.roots.next_level(watch)
    }

    fn read(&mut self, most: usize, states: &mut Vec<u8>) -> Result<usize, StoreError> {
        self.records.clear();
        let count = self.roots.read(most, &mut self.records)?;
        self.outgoing.load_all(self.tree, &self.records, states);
        Ok(count)
    }

    fn candidates(
        &mut self,
        depth: u32,
        hint: Option<u8>,
        visit: &mut dyn FnMut(&[u8]),
    ) -> Result<(), StoreError> {
        let TreeStore { tree, roots, packed, outgoing, .. } = self;
        let mut state = vec![0; *packed];
        roots.candidates(depth, None, &mut |root| {
            outgoing.load(tree, root, &mut state);
            let own = hash::hint(hash::hash(&state, hash::PLACE));
            if hint.is_none_or(|hint| hint == own) {
                visit(&state);
            }
        })
    }

    fn hint_of(&self, packed: &[u8], _hash: u64) -> Result<Option<u8>, StoreError> {
        let mut root = vec![0; self.tree.stored_size()];
        Converter::new(self.tree).store(self.tree, packed, &mut root)?;
        self.roots.hint_of(&root, hash::hash(&root, hash::PLACE))
    }

    fn located(&self, depth: u32) -> Option<Box<dyn Located + '_>> {
        let converter = RefCell::new(Converter::new(self.tree));
        let roots = InMemory::new(&self.roots, depth);
        Some(Box::new(LocatedTrees { tree: self.tree, roots, converter }))
    }
}

/// The states of a worker with a number for each.
struct LocatedTrees<'a, C> {
    tree: &'a Tree<'a, C>,
    roots: InMemory<'a>,
    converter: RefCell<Converter>,
}

impl<C: Codec> LocatedTrees<'_, C> {
    fn number(&self, packed: &[u8]) -> Option<u64> {
        let mut root = vec![0; self.tree.stored_size()];
        // A state with a part for which there is no memory is not here: its parts would be.
        self.converter.borrow_mut().store(self.tree, packed, &mut root).ok()?;
        self.roots.number(&root, hash::hash(&root, hash::PLACE))
    }
}

impl<C: Codec> AtHand for LocatedTrees<'_, C> {
    fn number(&self, packed: &[u8], _hash: u64) -> Option<u64> {
        LocatedTrees::number(self, packed)
    }
}

impl<C: Codec> Located for LocatedTrees<'_, C> {
    fn end(&self) -> u64 {
        self.roots.end()
    }

    fn read(&self, order: Order) -> Box<dyn Reader + '_> {
        Box::new(TreeReader {
            tree: self.tree,
            roots: self.roots.read(order),
            converter: Converter::new(self.tree),
            read: Vec::new(),
        })
    }

    fn at_hand(&self) -> Option<&dyn AtHand> {
        Some(self)
    }

    fn find(
        &self,
        questions: &Questions,
        found: &mut dyn FnMut(&[u8], u64),
    ) -> Result<(), StoreError> {
        for question in (0..questions.count()).map(|number| questions.get(number)) {
            if let Some(number) = LocatedTrees::number(self, &question[1..questions.key]) {
                found(question, number);
            }
        }
        Ok(())
    }
}

struct TreeReader<'a, C> {
    tree: &'a Tree<'a, C>,
    roots: Box<dyn Reader + 'a>,
    converter: Converter,
    read: Vec<u8>,
}

impl<C: Codec> Reader for TreeReader<'_, C> {
    fn next(
        &mut self,
        most: usize,
        states: &mut Vec<u8>,
        places: &mut Vec<StatePlace>,
    ) -> Result<(), StoreError> {
        self.read.clear();
        self.roots.next(most, &mut self.read, places)?;
        self.converter.load_all(self.tree, &self.read, states);
        Ok(())
    }
}

/// States as they are packed, with the hints of trees.
#[derive(Debug)]
pub(crate) struct Packed<'a, C> {
    codec: &'a C,
    units: &'a Units,
    state_size: usize,
}

impl<'a, C: Codec> Packed<'a, C> {
    /// The storage for states of so many bytes, in units like those of the trees.
    pub(crate) fn new(codec: &'a C, units: &'a Units, state_size: usize) -> Self {
        Packed { codec, units, state_size }
    }
}

impl<C: Codec> Tree<'_, C> {
    /// The storage of a search whose stores keep trees.
    pub(crate) fn packed_storage(&self) -> Packed<'_, C> {
        Packed::new(self.codec, &self.units, self.state_size)
    }
}

/// The state that a thread loaded last, and its bytes, gathered.
#[derive(Debug)]
pub(crate) struct Loaded {
    state: Vec<u8>,
    gathered: RefCell<Vec<u8>>,
}

impl<C: Codec> Storage for Packed<'_, C> {
    const BY_WORDS: bool = false;

    type Scratch = Loaded;

    fn scratch(&self) -> Loaded {
        let gathered = RefCell::new(vec![0; self.units.gathered]);
        Loaded { state: vec![0; self.state_size], gathered }
    }

    fn stored_size(&self) -> usize {
        self.codec.packed_size()
    }

    fn store(
        &self,
        _: &mut Loaded,
        state: &[u8],
        _: Option<&[u32]>,
        stored: &mut [u8],
    ) -> Result<(), StoreError> {
        self.codec.pack(state, stored);
        Ok(())
    }

    fn load(&self, loaded: &mut Loaded, stored: &[u8], state: &mut [u8]) {
        self.codec.unpack(stored, state);
        loaded.state.copy_from_slice(state);
    }

    fn hint(&self, loaded: &Loaded, _stored: &[u8]) -> u8 {
        let mut gathered = loaded.gathered.borrow_mut();
        let sum = (0..self.units.gathered / LEAF).fold(0u64, |sum, leaf| {
            self.units.gather_leaf(leaf, &loaded.state, &mut gathered);
            let bytes = words_of(&gathered[leaf * LEAF..(leaf + 1) * LEAF]);
            sum.wrapping_add(mixed(&bytes, leaf))
        });
        hash::hint(sum)
    }

    fn hints_by_hash(&self) -> bool {
        false
    }

    fn packed(&self, _: &Loaded, stored: &[u8]) -> Vec<u8> {
        stored.to_vec()
    }
}
