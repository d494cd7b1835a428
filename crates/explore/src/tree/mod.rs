//! States as trees of shared parts.
//!
//! The bytes of an unpacked state are cut into leaves of 64 bytes. Each different leaf has a
//! number; up to eight numbers in a row are a node, which has a number again, and so on; the last
//! two to four numbers are the stored form of the state. (A. Laarman, J. van de Pol, M. Weber:
//! Parallel recursive state compression for free, SPIN 2011, with binary trees.) Equal parts have
//! equal numbers, so equal states have equal roots, and different states different ones: nothing
//! rests on hashes.
//!
//! A thread keeps the tree of the state that it loaded last. A successor differs from it in a few
//! leaves, so only these and what is above them are numbered; loading reads only the nodes that
//! differ from those of the state before. What a state costs in memory is its root and the parts
//! that no state before had.

mod nodes;
mod shape;

use std::sync::Arc;

use crate::hash;
use crate::memory::Meter;
use crate::pack::Codec;
use crate::storage::Storage;
use crate::store::StoreError;

use nodes::{Cache, Nodes, Part};
use shape::{ARITY, LEAF_WORDS, Shape};

/// Bytes of a leaf. A state is whole words, but not always whole leaves.
const LEAF: usize = 8 * LEAF_WORDS;
/// Words of a node: two numbers each.
const NODE_WORDS: usize = ARITY / 2;
/// How many leaves and nodes a thread remembers the numbers of.
const LEAVES_REMEMBERED: usize = 1 << 10;
const NODES_REMEMBERED: usize = 1 << 12;
/// The number of a part that is not known.
const UNKNOWN: u32 = u32::MAX;

/// The parts of all states of a search, shared by all threads.
#[derive(Debug)]
pub(crate) struct Tree<'a, C> {
    shape: Shape,
    codec: &'a C,
    leaves: Nodes<LEAF_WORDS>,
    nodes: Nodes<NODE_WORDS>,
    meter: Arc<Meter>,
}

/// The tree of the state that a thread loaded last, and what it remembers.
#[derive(Debug)]
pub(crate) struct Scratch {
    /// The state, filled up to whole leaves.
    state: Vec<u8>,
    /// The numbers of all its parts, level by level from the leaves on.
    numbers: Vec<u32>,
    /// Whether a state was loaded.
    known: bool,
    /// A sum over what the leaves hold, which is the hash of the state.
    sum: u64,
    /// The numbers of another state, while it is stored.
    others: Vec<u32>,
    /// The parts that differ, of a level and of the next.
    changed: Vec<u32>,
    next: Vec<u32>,
    marks: Marks,
    leaf_cache: Cache<LEAF_WORDS>,
    node_cache: Cache<NODE_WORDS>,
}

impl<'a, C> Tree<'a, C> {
    /// For states of so many bytes, which `codec` packs.
    pub(crate) fn new(
        state_size: usize,
        codec: &'a C,
        workers: usize,
        meter: &Arc<Meter>,
    ) -> Result<Self, StoreError> {
        let caches = Cache::<LEAF_WORDS>::bytes(LEAVES_REMEMBERED)
            + Cache::<NODE_WORDS>::bytes(NODES_REMEMBERED);
        if !meter.take((workers * caches) as u64) {
            return Err(StoreError::Memory);
        }
        Ok(Tree {
            shape: Shape::of(state_size),
            codec,
            leaves: Nodes::new(meter)?,
            nodes: Nodes::new(meter)?,
            meter: Arc::clone(meter),
        })
    }

    /// Numbers the leaves of `state` that differ from those of the state that was loaded: all that
    /// do are in the words `changed`, if that is given.
    #[inline(always)]
    fn number_leaves(
        &self,
        scratch: &mut Scratch,
        state: &[u8],
        changed: Option<&[u32]>,
    ) -> Result<(), StoreError> {
        let Scratch { state: old, others, marks, leaf_cache, .. } = scratch;
        match changed {
            _ if !scratch.known => marks.all(self.shape.leaves()),
            Some(words) => {
                for &word in words {
                    marks.mark(word as usize / LEAF_WORDS);
                }
            }
            None => {
                let leaves = old.chunks_exact(LEAF).zip(state.chunks(LEAF));
                for (at, (old, new)) in leaves.enumerate() {
                    if !same_words(&old[..new.len()], new) {
                        marks.mark(at);
                    }
                }
            }
        }
        scratch.changed.clear();
        marks.take(&mut scratch.changed);
        for &at in &scratch.changed {
            let at = at as usize;
            let end = ((at + 1) * LEAF).min(state.len());
            let leaf = words_of(&state[at * LEAF..end]);
            others[at] = leaf_cache.number(&self.leaves, &leaf, &self.meter)?;
        }
        Ok(())
    }

    /// Numbers the nodes above parts that differ, level by level.
    #[inline(always)]
    fn number_nodes(&self, scratch: &mut Scratch) -> Result<(), StoreError> {
        let Scratch { others, changed, next, node_cache, .. } = scratch;
        for level in 1..self.shape.levels() {
            next.clear();
            let group = self.shape.group(level) as u32;
            for &child in changed.iter() {
                let at = child / group;
                if next.last() == Some(&at) {
                    continue;
                }
                let node = node(&others[self.shape.children(level, at)]);
                let number = node_cache.number(&self.nodes, &node, &self.meter)?;
                others[self.shape.start(level) + at as usize] = number;
                next.push(at);
            }
            std::mem::swap(changed, next);
        }
        Ok(())
    }

    /// Replaces leaf `at` of the loaded state.
    #[inline(always)]
    fn load_leaf(&self, scratch: &mut Scratch, at: usize, number: u32) {
        let place = &mut scratch.state[at * LEAF..(at + 1) * LEAF];
        let old = words_of(place);
        let new = self.leaves.get(number);
        scratch.sum = scratch.sum.wrapping_sub(mixed(&old, at)).wrapping_add(mixed(&new, at));
        for (eight, word) in place.chunks_exact_mut(8).zip(new) {
            eight.copy_from_slice(&word.to_le_bytes());
        }
    }
}

/// What a leaf adds to the hash of a state.
#[inline(always)]
fn mixed(leaf: &Part<LEAF_WORDS>, at: usize) -> u64 {
    let hash = nodes::hash(leaf) ^ (at as u64).wrapping_mul(hash::PLACE);
    hash.wrapping_mul(hash::SIGNATURE).rotate_left(31).wrapping_mul(hash::PLACE)
}

/// A leaf; its last words are zero if the state ends before them.
#[inline(always)]
fn words_of(bytes: &[u8]) -> Part<LEAF_WORDS> {
    let (eights, _) = bytes.as_chunks::<8>();
    std::array::from_fn(|word| eights.get(word).map_or(0, |&eight| u64::from_le_bytes(eight)))
}

/// The node of up to [`ARITY`] numbers.
#[inline(always)]
fn node(numbers: &[u32]) -> Part<NODE_WORDS> {
    let number = |at: usize| numbers.get(at).map_or(0, |&number| u64::from(number));
    std::array::from_fn(|word| number(2 * word) | number(2 * word + 1) << 32)
}

#[inline(always)]
fn child(node: &Part<NODE_WORDS>, at: usize) -> u32 {
    (node[at / 2] >> (32 * (at % 2))) as u32
}

/// Whether two strings of whole words are equal; written out, since a call costs more.
#[inline(always)]
fn same_words(left: &[u8], right: &[u8]) -> bool {
    let (left, right) = (left.as_chunks::<8>().0, right.as_chunks::<8>().0);
    let difference = |(left, right): (&[u8; 8], &[u8; 8])| {
        u64::from_le_bytes(*left) ^ u64::from_le_bytes(*right)
    };
    left.iter().zip(right).map(difference).fold(0, |sum, word| sum | word) == 0
}

/// A set of leaves.
#[derive(Debug)]
struct Marks(Vec<u64>);

impl Marks {
    fn new(leaves: usize) -> Self {
        Marks(vec![0; leaves.div_ceil(64)])
    }

    #[inline(always)]
    fn mark(&mut self, leaf: usize) {
        self.0[leaf / 64] |= 1 << (leaf % 64);
    }

    fn all(&mut self, leaves: usize) {
        (0..leaves).for_each(|leaf| self.mark(leaf));
    }

    /// Moves all leaves to a list, in ascending order.
    #[inline(always)]
    fn take(&mut self, leaves: &mut Vec<u32>) {
        for (number, word) in self.0.iter_mut().enumerate() {
            while *word != 0 {
                leaves.push(64 * number as u32 + word.trailing_zeros());
                *word &= *word - 1;
            }
        }
    }
}

impl<C: Codec> Storage for Tree<'_, C> {
    type Scratch = Scratch;

    fn scratch(&self) -> Scratch {
        let leaves = self.shape.leaves();
        let zero = [0; LEAF_WORDS];
        Scratch {
            state: vec![0; leaves * LEAF],
            known: false,
            numbers: vec![UNKNOWN; self.shape.parts()],
            sum: (0..leaves).fold(0, |sum: u64, at| sum.wrapping_add(mixed(&zero, at))),
            others: Vec::new(),
            changed: Vec::new(),
            next: Vec::new(),
            marks: Marks::new(leaves),
            leaf_cache: Cache::new(LEAVES_REMEMBERED),
            node_cache: Cache::new(NODES_REMEMBERED),
        }
    }

    fn stored_size(&self) -> usize {
        4 * self.shape.root().len()
    }

    #[inline(always)]
    fn store(
        &self,
        scratch: &mut Scratch,
        state: &[u8],
        changed: Option<&[u32]>,
        stored: &mut [u8],
    ) -> Result<(), StoreError> {
        scratch.others.clone_from(&scratch.numbers);
        self.number_leaves(scratch, state, changed)?;
        self.number_nodes(scratch)?;
        let root = &scratch.others[self.shape.root()];
        for (four, number) in stored.chunks_exact_mut(4).zip(root) {
            four.copy_from_slice(&number.to_le_bytes());
        }
        Ok(())
    }

    #[inline(always)]
    fn load(&self, scratch: &mut Scratch, stored: &[u8], state: &mut [u8]) {
        let root = self.shape.root();
        scratch.changed.clear();
        for (at, (four, part)) in stored.as_chunks::<4>().0.iter().zip(root).enumerate() {
            let number = u32::from_le_bytes(*four);
            if scratch.numbers[part] != number {
                scratch.numbers[part] = number;
                scratch.changed.push(at as u32);
            }
        }
        for level in (1..self.shape.levels()).rev() {
            let (start, below) = (self.shape.start(level), self.shape.start(level - 1));
            scratch.next.clear();
            for &at in &scratch.changed {
                let node = self.nodes.get(scratch.numbers[start + at as usize]);
                for (position, part) in self.shape.children(level, at).enumerate() {
                    let number = child(&node, position);
                    if scratch.numbers[part] != number {
                        scratch.numbers[part] = number;
                        scratch.next.push((part - below) as u32);
                    }
                }
            }
            std::mem::swap(&mut scratch.changed, &mut scratch.next);
        }
        let changed = std::mem::take(&mut scratch.changed);
        for &at in &changed {
            self.load_leaf(scratch, at as usize, scratch.numbers[at as usize]);
        }
        scratch.changed = changed;
        scratch.known = true;
        state.copy_from_slice(&scratch.state[..state.len()]);
    }

    #[inline(always)]
    fn hint(&self, scratch: &Scratch, _stored: &[u8]) -> u8 {
        hash::hint(scratch.sum)
    }

    fn hints_by_hash(&self) -> bool {
        false
    }

    fn packed(&self, scratch: &Scratch, _stored: &[u8]) -> Vec<u8> {
        let mut packed = vec![0; self.codec.packed_size()];
        self.codec.pack(&scratch.state[..self.shape.state_size], &mut packed);
        packed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BitCodec;
    use chance::Rng;
    use murphi::layout::Leaf;

    /// A random walk through states of a size, some bytes at a time.
    fn walk(size: usize, random: &mut Rng) -> Vec<Vec<u8>> {
        let mut state = vec![0; size];
        let mut states = vec![state.clone()];
        for _ in 0..300 {
            for _ in 0..random.below(4) {
                state[random.below(size)] = random.below(3) as u8;
            }
            states.push(state.clone());
        }
        states
    }

    #[test]
    fn states_are_loaded_as_they_were_stored_and_equal_ones_are_stored_alike() {
        let mut random = Rng::new(1);
        for size in [8, 16, 32, 40, 136, 512, 1000, 2056, 9000] {
            let leaves: Vec<Leaf> = (0..size)
                .map(|offset| Leaf { offset: offset as u32, width: 1, bits: 2, ty: None })
                .collect();
            let codec = BitCodec::of_leaves(&leaves);
            let meter = Arc::new(Meter::new(None));
            let tree = Tree::new(size, &codec, 2, &meter).unwrap();
            let (mut left, mut right) = (tree.scratch(), tree.scratch());
            let states = walk(size, &mut random);
            let mut roots = Vec::new();
            for state in &states {
                let mut stored = vec![0; tree.stored_size()];
                tree.store(&mut left, state, None, &mut stored).unwrap();
                let mut again = stored.clone();
                tree.store(&mut right, state, None, &mut again).unwrap();
                assert_eq!(stored, again);
                if random.percent(30) {
                    tree.load(&mut left, &stored, &mut vec![0; size]);
                }
                roots.push(stored);
            }
            for (state, root) in states.iter().zip(&roots) {
                let mut loaded = vec![7; size];
                tree.load(&mut left, root, &mut loaded);
                assert_eq!(&loaded, state);
                // The hint depends on the state, not on the way to it.
                let mut fresh = tree.scratch();
                tree.load(&mut fresh, root, &mut loaded);
                assert_eq!(tree.hint(&fresh, root), tree.hint(&left, root));
                assert_eq!(tree.packed(&fresh, root), tree.packed(&left, root));
            }
            for (left, left_root) in states.iter().zip(&roots) {
                for (right, right_root) in states.iter().zip(&roots) {
                    assert_eq!(left == right, left_root == right_root);
                }
            }
        }
    }
}
