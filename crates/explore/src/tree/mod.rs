//! States as trees of shared parts.
//!
//! The bytes of an unpacked state are gathered by [units](crate::units) and cut into leaves of 64
//! bytes. Each different leaf has a number; up to eight numbers in a row are a node, which has a
//! number again, and so on up to one number for a unit; the numbers of the units, or of a few nodes
//! above them, are the stored form of the state. (A. Laarman, J. van de Pol, M. Weber: Parallel
//! recursive state compression for free, SPIN 2011, with binary trees.) Equal parts have equal
//! numbers, so equal states have equal roots, and different states different ones: nothing rests on
//! hashes.
//!
//! A thread keeps the tree of the state that it loaded last. A successor differs from it in a few
//! leaves, so only these and what is above them are numbered; loading reads only the nodes that
//! differ from those of the state before. Where members of scalarsets change places, whole units
//! do, and a thread [remembers](memo) what they become. What a state costs in memory is its root and
//! the parts that no state before had.

mod memo;
mod nodes;
mod shape;
mod store;

use std::sync::Arc;

use crate::hash;
use crate::memory::Meter;
use crate::pack::Codec;
use crate::reduction::Renaming;
use crate::storage::Storage;
use crate::store::StoreError;
use crate::symmetry::{changed_words, copy_words};
use crate::units::{LEAF, Units};

use memo::{Memo, Question};
pub(crate) use store::{Packed, TreeStore};

use nodes::{Cache, Nodes, Part};
use shape::{ARITY, LEAF_WORDS, NO_PARENT, Shape};

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
    units: Units,
    shape: Shape,
    state_size: usize,
    codec: &'a C,
    leaves: Nodes<LEAF_WORDS>,
    nodes: Nodes<NODE_WORDS>,
    meter: Arc<Meter>,
}

/// The tree of the state that a thread loaded last, and what it remembers.
#[derive(Debug)]
pub(crate) struct Scratch {
    /// The state.
    state: Vec<u8>,
    /// Its bytes, gathered.
    gathered: Vec<u8>,
    /// The same of another state, as far as leaves are marked.
    changed: Vec<u8>,
    /// The numbers of all its parts.
    numbers: Vec<u32>,
    /// Whether a state was loaded.
    known: bool,
    /// A sum over what the leaves hold, which is the hash of the state.
    sum: u64,
    /// The numbers of another state, while it is stored; those of the loaded one otherwise.
    others: Vec<u32>,
    /// The parts whose numbers are those of another state.
    touched: Vec<u32>,
    /// Parts that are to be looked at.
    marks: Marks,
    /// Words that differ, where nobody says which.
    words: Vec<u32>,
    /// Words of the leaves that were loaded.
    loaded: Vec<u32>,
    /// Parts to be loaded.
    pending: Vec<u32>,
    leaf_cache: Cache<LEAF_WORDS>,
    node_cache: Cache<NODE_WORDS>,
    renaming: Renamed,
}

/// What is known while a state is stored whose members are renamed.
#[derive(Debug)]
struct Renamed {
    memo: Memo,
    /// For each unit before, what was asked about it.
    questions: Vec<Question>,
    /// For each unit before, which one it becomes.
    targets: Vec<u32>,
    /// For each unit after, its number, or [`UNKNOWN`].
    answers: Vec<u32>,
    /// The renamed state, gathered, as far as it is needed.
    gathered: Vec<u8>,
    /// The numbers of its parts, as far as they are needed.
    numbers: Vec<u32>,
}

impl<'a, C> Tree<'a, C> {
    /// For states of so many bytes with these units, which `codec` packs.
    pub(crate) fn new(
        state_size: usize,
        units: Units,
        codec: &'a C,
        workers: usize,
        meter: &Arc<Meter>,
    ) -> Result<Self, StoreError> {
        let memo = if units.units.len() > 1 { Memo::bytes() } else { 0 };
        let caches = Cache::<LEAF_WORDS>::bytes(LEAVES_REMEMBERED)
            + Cache::<NODE_WORDS>::bytes(NODES_REMEMBERED)
            + memo;
        if !meter.take((workers * caches) as u64) {
            return Err(StoreError::Memory);
        }
        Ok(Tree {
            shape: Shape::of(&units),
            units,
            state_size,
            codec,
            leaves: Nodes::new(meter)?,
            nodes: Nodes::new(meter)?,
            meter: Arc::clone(meter),
        })
    }

    /// Gives the parts of `state` numbers, which are then in [`Scratch::others`]: all words in which
    /// it differs from the state that was loaded are among `changed`.
    #[inline(always)]
    fn number(
        &self,
        scratch: &mut Scratch,
        state: &[u8],
        changed: &[u32],
    ) -> Result<(), StoreError> {
        let Scratch { gathered, changed: bytes, numbers, others, touched, marks, .. } = scratch;
        match scratch.known {
            true => {
                for &word in changed {
                    self.units.gather(word, state, bytes, |leaf, bytes| {
                        if marks.mark(leaf) {
                            let leaf = leaf * LEAF..(leaf + 1) * LEAF;
                            bytes[leaf.clone()].copy_from_slice(&gathered[leaf]);
                        }
                    });
                }
            }
            false => {
                for leaf in 0..self.shape.leaves() {
                    self.units.gather_leaf(leaf, state, bytes);
                    marks.mark(leaf);
                }
            }
        }
        let leaves = self.shape.leaves();
        let mut word = 0;
        // Parents come after their children, so they are marked before they are looked at.
        while let Some(part) = marks.take_from(&mut word) {
            let number = match part < leaves {
                true => {
                    let leaf = words_of(&bytes[part * LEAF..(part + 1) * LEAF]);
                    scratch.leaf_cache.number(&self.leaves, &leaf, &self.meter)
                }
                false => {
                    let node = node(self.shape.children(part), others);
                    scratch.node_cache.number(&self.nodes, &node, &self.meter)
                }
            };
            let number = number.inspect_err(|_| marks.clear())?;
            if number != numbers[part] {
                others[part] = number;
                touched.push(part as u32);
                let parent = self.shape.parent(part);
                if parent != NO_PARENT {
                    marks.mark(parent as usize);
                }
            }
        }
        Ok(())
    }

    /// Makes [`Scratch::others`] those of the loaded state again.
    #[inline(always)]
    fn forget(&self, scratch: &mut Scratch) {
        let Scratch { numbers, others, touched, .. } = scratch;
        for part in touched.drain(..) {
            others[part as usize] = numbers[part as usize];
        }
    }

    /// Writes the root of the tree whose numbers are given.
    #[inline(always)]
    fn write_root(&self, numbers: &[u32], stored: &mut [u8]) {
        for (four, &part) in stored.chunks_exact_mut(4).zip(self.shape.root()) {
            four.copy_from_slice(&numbers[part as usize].to_le_bytes());
        }
    }

    /// Numbers the nodes above units, whose numbers are known, and writes the root.
    #[inline(always)]
    fn number_above(&self, scratch: &mut Scratch, stored: &mut [u8]) -> Result<(), StoreError> {
        let Scratch { renaming: Renamed { answers, numbers, .. }, node_cache, .. } = scratch;
        for (unit, &answer) in self.shape.units().iter().zip(answers.iter()) {
            numbers[unit.top as usize] = answer;
        }
        for part in self.shape.above() {
            let node = node(self.shape.children(part as usize), numbers);
            numbers[part as usize] = node_cache.number(&self.nodes, &node, &self.meter)?;
        }
        self.write_root(numbers, stored);
        Ok(())
    }

    /// Makes the stored state the one that was loaded last, and notes the words of what has changed.
    #[inline(always)]
    fn replace(&self, scratch: &mut Scratch, stored: &[u8]) {
        scratch.loaded.clear();
        let mut pending = std::mem::take(&mut scratch.pending);
        let replace = |scratch: &mut Scratch, pending: &mut Vec<u32>, part: u32, number: u32| {
            if scratch.numbers[part as usize] != number {
                scratch.numbers[part as usize] = number;
                scratch.others[part as usize] = number;
                pending.push(part);
            }
        };
        for (four, &part) in stored.as_chunks::<4>().0.iter().zip(self.shape.root()) {
            replace(scratch, &mut pending, part, u32::from_le_bytes(*four));
        }
        while let Some(part) = pending.pop() {
            let part = part as usize;
            if part < self.shape.leaves() {
                self.load_leaf(scratch, part);
                continue;
            }
            let node = self.nodes.get(scratch.numbers[part]);
            for (position, &below) in self.shape.children(part).iter().enumerate() {
                replace(scratch, &mut pending, below, child(&node, position));
            }
        }
        scratch.pending = pending;
        scratch.known = true;
    }

    /// Replaces a leaf of the loaded state.
    #[inline(always)]
    fn load_leaf(&self, scratch: &mut Scratch, at: usize) {
        let place = &mut scratch.gathered[at * LEAF..(at + 1) * LEAF];
        let old = words_of(place);
        let new = self.leaves.get(scratch.numbers[at]);
        scratch.sum = scratch.sum.wrapping_sub(mixed(&old, at)).wrapping_add(mixed(&new, at));
        for (eight, word) in place.chunks_exact_mut(8).zip(new) {
            eight.copy_from_slice(&word.to_le_bytes());
        }
        self.units.scatter_leaf(at, &scratch.gathered, &mut scratch.state);
        scratch.loaded.extend_from_slice(self.units.words_of(at));
    }
}

/// What a leaf adds to the hash of a state.
#[inline(always)]
fn mixed(leaf: &Part<LEAF_WORDS>, at: usize) -> u64 {
    let hash = nodes::hash(leaf) ^ (at as u64).wrapping_mul(hash::PLACE);
    hash.wrapping_mul(hash::SIGNATURE).rotate_left(31).wrapping_mul(hash::PLACE)
}

/// A leaf.
#[inline(always)]
fn words_of(bytes: &[u8]) -> Part<LEAF_WORDS> {
    let (eights, _) = bytes.as_chunks::<8>();
    std::array::from_fn(|word| u64::from_le_bytes(eights[word]))
}

/// The node above up to [`ARITY`] parts.
#[inline(always)]
fn node(children: &[u32], numbers: &[u32]) -> Part<NODE_WORDS> {
    let mut node = [0; NODE_WORDS];
    for (at, &child) in children.iter().enumerate().take(ARITY) {
        node[at / 2] |= u64::from(numbers[child as usize]) << (32 * (at % 2));
    }
    node
}

#[inline(always)]
fn child(node: &Part<NODE_WORDS>, at: usize) -> u32 {
    (node[at / 2] >> (32 * (at % 2))) as u32
}

/// Who becomes whom, as a word: there are at most 16 members. Nobody is not among them.
#[inline(always)]
fn permutation(image: &[u32]) -> u64 {
    let members = &image[..image.len() - 1];
    members.iter().fold(0, |word, &image| word << 4 | u64::from(image))
}

/// A set of parts.
#[derive(Debug)]
struct Marks(Vec<u64>);

impl Marks {
    fn new(parts: usize) -> Self {
        Marks(vec![0; parts.div_ceil(64)])
    }

    /// Adds a part; says whether it was not there.
    #[inline(always)]
    fn mark(&mut self, part: usize) -> bool {
        let (word, bit) = (&mut self.0[part / 64], 1 << (part % 64));
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    /// Takes the least part out, if `word` is where that was looked for last, or 0.
    #[inline(always)]
    fn take_from(&mut self, word: &mut usize) -> Option<usize> {
        while let Some(marks) = self.0.get_mut(*word) {
            if *marks != 0 {
                let part = 64 * *word + marks.trailing_zeros() as usize;
                *marks &= *marks - 1;
                return Some(part);
            }
            *word += 1;
        }
        None
    }

    fn clear(&mut self) {
        self.0.fill(0);
    }
}

impl<C: Codec> Storage for Tree<'_, C> {
    const BY_WORDS: bool = true;

    type Scratch = Scratch;

    fn scratch(&self) -> Scratch {
        let (leaves, parts) = (self.shape.leaves(), self.shape.parts());
        let zero = [0; LEAF_WORDS];
        Scratch {
            state: vec![0; self.state_size],
            gathered: vec![0; self.units.gathered],
            changed: vec![0; self.units.gathered],
            known: false,
            numbers: vec![UNKNOWN; parts],
            sum: (0..leaves).fold(0, |sum: u64, at| sum.wrapping_add(mixed(&zero, at))),
            others: vec![UNKNOWN; parts],
            touched: Vec::new(),
            marks: Marks::new(parts),
            words: Vec::new(),
            loaded: Vec::new(),
            pending: Vec::new(),
            leaf_cache: Cache::new(LEAVES_REMEMBERED),
            node_cache: Cache::new(NODES_REMEMBERED),
            renaming: Renamed {
                memo: if self.shape.units().len() > 1 { Memo::new() } else { Memo::none() },
                questions: Vec::new(),
                targets: Vec::new(),
                answers: Vec::new(),
                gathered: vec![0; self.units.gathered],
                numbers: vec![UNKNOWN; parts],
            },
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
        let mut words = std::mem::take(&mut scratch.words);
        let changed = changed.unwrap_or_else(|| {
            words.clear();
            changed_words(&scratch.state, state, &mut words);
            &words
        });
        let numbered = self.number(scratch, state, changed);
        self.write_root(&scratch.others, stored);
        self.forget(scratch);
        scratch.words = words;
        numbered
    }

    #[inline(always)]
    fn store_renamed(
        &self,
        scratch: &mut Scratch,
        renaming: &Renaming<'_>,
        stored: &mut [u8],
    ) -> Result<bool, StoreError> {
        if self.shape.units().len() == 1 {
            return Ok(false);
        }
        let numbered = self.number(scratch, renaming.state, renaming.changed);
        let Scratch { others, renaming: renamed, .. } = scratch;
        let Renamed { memo, questions, targets, answers, .. } = renamed;
        questions.clear();
        targets.clear();
        answers.resize(self.shape.units().len(), UNKNOWN);
        let permutation = if self.units.confused { 0 } else { permutation(renaming.image) };
        let mut known = true;
        for (number, (unit, shape)) in self.units.units.iter().zip(self.shape.units()).enumerate() {
            let question =
                Question { permutation, kind: unit.kind, number: others[shape.top as usize] };
            let target = self.units.target(number, renaming.image);
            let answer = memo.get(question);
            answers[target] = answer.unwrap_or(UNKNOWN);
            known &= answer.is_some();
            questions.push(question);
            targets.push(target as u32);
        }
        self.forget(scratch);
        numbered?;
        if known {
            self.number_above(scratch, stored)?;
        }
        Ok(known)
    }

    fn store_whole(
        &self,
        scratch: &mut Scratch,
        state: &[u8],
        stored: &mut [u8],
    ) -> Result<(), StoreError> {
        if self.shape.units().len() == 1 {
            return self.store(scratch, state, None, stored);
        }
        let Scratch { leaf_cache, node_cache, renaming, .. } = scratch;
        let Renamed { memo, questions, targets, answers, gathered, numbers } = renaming;
        for (&question, &target) in questions.iter().zip(targets.iter()) {
            if answers[target as usize] != UNKNOWN {
                continue;
            }
            let unit = &self.shape.units()[target as usize];
            for leaf in unit.leaves.clone() {
                let at = leaf as usize;
                self.units.gather_leaf(at, state, gathered);
                let leaf = words_of(&gathered[at * LEAF..(at + 1) * LEAF]);
                numbers[at] = leaf_cache.number(&self.leaves, &leaf, &self.meter)?;
            }
            for &part in &unit.nodes {
                let node = node(self.shape.children(part as usize), numbers);
                numbers[part as usize] = node_cache.number(&self.nodes, &node, &self.meter)?;
            }
            let answer = numbers[unit.top as usize];
            answers[target as usize] = answer;
            memo.put(question, answer);
        }
        self.number_above(scratch, stored)
    }

    fn load(&self, scratch: &mut Scratch, stored: &[u8], state: &mut [u8]) {
        self.replace(scratch, stored);
        state.copy_from_slice(&scratch.state);
    }

    #[inline(always)]
    fn advance<'s>(
        &self,
        scratch: &'s mut Scratch,
        stored: &[u8],
        state: &mut [u8],
    ) -> Option<&'s [u32]> {
        self.replace(scratch, stored);
        copy_words(&scratch.loaded, &scratch.state, state);
        Some(&scratch.loaded)
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
        self.codec.pack(&scratch.state, &mut packed);
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
            let tree = Tree::new(size, Units::whole(size), &codec, 2, &meter).unwrap();
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
            let mut before = vec![7; size];
            tree.load(&mut left, &roots[0], &mut before);
            for (state, root) in states.iter().zip(&roots) {
                let mut loaded = before.clone();
                let words = tree.advance(&mut left, root, &mut loaded).unwrap();
                assert_eq!(&loaded, state);
                let differ = (0..size).filter(|&at| before[at] != loaded[at]);
                assert!(differ.map(|at| at as u32 / 8).all(|word| words.contains(&word)));
                before = loaded.clone();
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
