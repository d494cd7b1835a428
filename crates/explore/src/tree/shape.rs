//! Which part of a tree is where: levels of parts, each part above some of the level below.
//!
//! The root has two to four parts, unless the state is smaller than that: more would make every
//! state larger, and fewer would make what is below it as many as there are states.

use std::ops::Range;

/// Words of a leaf.
pub(super) const LEAF_WORDS: usize = 8;
/// The most children of a node.
pub(super) const ARITY: usize = 8;
/// The most parts of a root.
const ROOT: usize = 4;

/// The levels of a tree. Parts are numbered through all levels, leaves first.
#[derive(Debug)]
pub(super) struct Shape {
    /// Bytes of a state.
    pub(super) state_size: usize,
    /// Where each level starts, and where the last one ends.
    starts: Vec<usize>,
    /// For each level but the first, how many children its nodes have.
    groups: Vec<usize>,
}

impl Shape {
    /// The tree of states with so many bytes.
    pub(super) fn of(state_size: usize) -> Shape {
        let mut parts = state_size.div_ceil(8 * LEAF_WORDS);
        let (mut starts, mut groups) = (vec![0, parts], Vec::new());
        while parts > ROOT {
            let group = parts.div_ceil(ROOT).min(ARITY);
            parts = parts.div_ceil(group);
            groups.push(group);
            starts.push(starts[starts.len() - 1] + parts);
        }
        Shape { state_size, starts, groups }
    }

    /// How many levels there are; the root is the last.
    #[inline(always)]
    pub(super) fn levels(&self) -> usize {
        self.starts.len() - 1
    }

    /// Where a level starts.
    #[inline(always)]
    pub(super) fn start(&self, level: usize) -> usize {
        self.starts[level]
    }

    /// How many leaves there are.
    pub(super) fn leaves(&self) -> usize {
        self.starts[1]
    }

    /// How many parts there are.
    pub(super) fn parts(&self) -> usize {
        self.starts[self.levels()]
    }

    /// The parts of the last level.
    #[inline(always)]
    pub(super) fn root(&self) -> Range<usize> {
        self.starts[self.levels() - 1]..self.starts[self.levels()]
    }

    /// How many children the nodes of a level have; that is not the lowest.
    #[inline(always)]
    pub(super) fn group(&self, level: usize) -> usize {
        self.groups[level - 1]
    }

    /// The parts below a part of a level, which is not the lowest.
    #[inline(always)]
    pub(super) fn children(&self, level: usize, at: u32) -> Range<usize> {
        let first = self.starts[level - 1] + at as usize * self.group(level);
        first..(first + self.group(level)).min(self.starts[level])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_has_one_parent_and_roots_are_short() {
        for size in (8..20_000).step_by(8) {
            let shape = Shape::of(size);
            let root = shape.root().len();
            assert!((1..=ROOT).contains(&root) && (root > 1 || size <= 8 * LEAF_WORDS), "{size}");
            for level in 1..shape.levels() {
                let nodes = 0..(shape.starts[level + 1] - shape.start(level)) as u32;
                let children: Vec<usize> = nodes.flat_map(|at| shape.children(level, at)).collect();
                let below: Vec<usize> = (shape.start(level - 1)..shape.start(level)).collect();
                assert_eq!(children, below);
                assert!(shape.group(level) <= ARITY);
            }
        }
    }
}
