//! Which part of a tree is where: leaves, nodes above them, units above these, and the root.
//!
//! Each unit of a state has a tree of its own with one part at its top. The root is the tops of all
//! units, or, where these are many, nodes above them. A state that is one unit has a root of two to
//! four parts, unless it is smaller than that: more would make every state larger, and fewer would
//! make what is below the root as many as there are states.

use std::ops::Range;

use crate::units::Units;

/// Words of a leaf.
pub(super) const LEAF_WORDS: usize = 8;
/// The most children of a node.
pub(super) const ARITY: usize = 8;
/// The most parts of a root above nodes.
const ROOT: usize = 4;
/// The most units whose tops are the root.
const UNITS: usize = 6;
/// The parent of a part of the root.
pub(super) const NO_PARENT: u32 = u32::MAX;

/// The parts of a tree, numbered from the leaves on: a part has a greater number than its children.
#[derive(Debug)]
pub(super) struct Shape {
    leaves: usize,
    /// For each node, where its children are in the list.
    starts: Vec<u32>,
    children: Vec<u32>,
    /// For each part.
    parents: Vec<u32>,
    /// For each unit.
    units: Vec<UnitShape>,
    /// The nodes above the units.
    above: Range<u32>,
    /// The parts of the root.
    root: Vec<u32>,
}

/// The part of a tree that is a unit.
#[derive(Debug)]
pub(super) struct UnitShape {
    pub(super) leaves: Range<u32>,
    /// Its nodes, lower ones first.
    pub(super) nodes: Vec<u32>,
    /// The one part that stands for it; of a single unit, the first part of the root.
    pub(super) top: u32,
}

impl Shape {
    /// The tree of states with these units.
    pub(super) fn of(units: &Units) -> Shape {
        let leaves = units.units.iter().map(|unit| unit.leaves).sum::<u32>();
        let mut shape = Shape {
            leaves: leaves as usize,
            starts: vec![0],
            children: Vec::new(),
            parents: vec![NO_PARENT; leaves as usize],
            units: Vec::new(),
            above: 0..0,
            root: Vec::new(),
        };
        // For each unit, the parts that have no parent yet.
        let mut tops: Vec<Vec<u32>> = units
            .units
            .iter()
            .map(|unit| (unit.first..unit.first + unit.leaves).collect())
            .collect();
        let mut nodes = vec![Vec::new(); tops.len()];
        let enough = if tops.len() == 1 { ROOT } else { 1 };
        while tops.iter().any(|parts| parts.len() > enough) {
            for (parts, nodes) in tops.iter_mut().zip(&mut nodes) {
                if parts.len() > enough {
                    let group = match enough {
                        1 => parts.len().div_ceil(parts.len().div_ceil(ARITY)),
                        _ => parts.len().div_ceil(ROOT).min(ARITY),
                    };
                    *parts = shape.group(parts, group);
                    nodes.extend_from_slice(parts);
                }
            }
        }
        for ((unit, nodes), tops) in units.units.iter().zip(nodes).zip(&tops) {
            let leaves = unit.first..unit.first + unit.leaves;
            shape.units.push(UnitShape { leaves, nodes, top: tops[0] });
        }
        let mut root: Vec<u32> = tops.into_iter().flatten().collect();
        let above = shape.parts() as u32;
        while root.len() > UNITS {
            root = shape.group(&root, root.len().div_ceil(ROOT).min(ARITY));
        }
        shape.above = above..shape.parts() as u32;
        shape.root = root;
        shape
    }

    /// Adds nodes above parts.
    fn group(&mut self, parts: &[u32], group: usize) -> Vec<u32> {
        let nodes = parts.chunks(group).map(|children| {
            let node = self.parents.len() as u32;
            self.parents.push(NO_PARENT);
            for &child in children {
                self.parents[child as usize] = node;
            }
            self.children.extend_from_slice(children);
            self.starts.push(self.children.len() as u32);
            node
        });
        nodes.collect()
    }

    /// How many leaves there are.
    #[inline(always)]
    pub(super) fn leaves(&self) -> usize {
        self.leaves
    }

    /// How many parts there are.
    pub(super) fn parts(&self) -> usize {
        self.parents.len()
    }

    /// The parts of the root.
    #[inline(always)]
    pub(super) fn root(&self) -> &[u32] {
        &self.root
    }

    /// The units.
    #[inline(always)]
    pub(super) fn units(&self) -> &[UnitShape] {
        &self.units
    }

    /// The nodes above units.
    #[inline(always)]
    pub(super) fn above(&self) -> Range<u32> {
        self.above.clone()
    }

    /// The node above a part, or [`NO_PARENT`].
    #[inline(always)]
    pub(super) fn parent(&self, part: usize) -> u32 {
        self.parents[part]
    }

    /// The parts below a node.
    #[inline(always)]
    pub(super) fn children(&self, node: usize) -> &[u32] {
        let node = node - self.leaves;
        &self.children[self.starts[node] as usize..self.starts[node + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Ranges;

    fn assert_is_a_tree(shape: &Shape) {
        let mut seen = vec![0; shape.parts()];
        for node in shape.leaves()..shape.parts() {
            let children = shape.children(node);
            assert!((1..=ARITY).contains(&children.len()));
            for &child in children {
                assert!((child as usize) < node);
                assert_eq!(shape.parent(child as usize), node as u32);
                seen[child as usize] += 1;
            }
        }
        for &part in shape.root() {
            assert_eq!(shape.parent(part as usize), NO_PARENT);
            seen[part as usize] += 1;
        }
        assert!(seen.iter().all(|&times| times == 1));
    }

    #[test]
    fn every_part_has_one_parent_and_roots_are_short() {
        for size in (8..20_000).step_by(8) {
            let shape = Shape::of(&Units::whole(size));
            let root = shape.root().len();
            assert!((1..=ROOT).contains(&root) && (root > 1 || size <= 8 * LEAF_WORDS), "{size}");
            assert_is_a_tree(&shape);
        }
    }

    #[test]
    fn every_unit_has_a_tree_of_its_own() {
        for (members, bytes) in [(2, 100), (3, 350), (5, 64), (7, 700), (16, 5000)] {
            let parts = (0..members).map(|member| Ranges {
                kind: 0,
                owner: Some(member),
                ranges: vec![(member * bytes, bytes)],
            });
            let units = Units::of((members * bytes) as usize, parts.collect());
            let shape = Shape::of(&units);
            assert_is_a_tree(&shape);
            assert!((2..=UNITS).contains(&shape.root().len()));
            for unit in shape.units() {
                let mut top = unit.leaves.start;
                let within = |part: u32| shape.above().is_empty() || part < shape.above().start;
                while shape.parent(top as usize) != NO_PARENT && within(shape.parent(top as usize))
                {
                    top = shape.parent(top as usize);
                }
                assert_eq!(top, unit.top);
            }
        }
    }
}
