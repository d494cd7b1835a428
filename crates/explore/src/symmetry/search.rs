//! The members that colours leave tied: individualise one, refine, and so on, and of all the
//! states that come out take the least.
//!
//! This is the search of graph canonisation (McKay: Practical graph isomorphism, Congressus
//! Numerantium 30, 1981): a tree whose nodes are colourings. A node's first cell of tied members
//! that are not all [twins](super::twins) is its branching; a node without one is a leaf and
//! stands for a relabelled state. The canonical state is that of the leaf with the least sequence
//! of traces, and the least bytes among those. Which node branches where depends on the orbit of
//! the state only, so the result does too. Two leaves with the same state give an automorphism,
//! and branches that known automorphisms map to branches already taken are skipped. Each leaf
//! costs a relabelling, each node a refinement.

use std::cmp::Ordering;
use std::ops::Range;

use super::graph::Graph;
use super::order::{inverse, ranking_to_image};
use super::refine::{self, Colouring};
use super::relabel::{self, Spare};
use super::twins::{Classes, Subject, Twins};

/// More automorphisms than this are not remembered.
const REMEMBERED: usize = 64;

/// The room that searches work in.
#[derive(Debug, Default)]
pub(super) struct Tree {
    levels: Vec<Level>,
    /// The traces of the nodes on the current path.
    traces: Vec<u64>,
    orbits: Classes,
    automorphisms: Vec<Vec<u32>>,
    /// The state and the permutation of the current leaf.
    trial: Vec<u8>,
    trial_image: Vec<u32>,
    /// The inverse of the best permutation.
    origin: Vec<u32>,
    room: refine::Room,
    pub(super) best: Best,
    /// How many leaves the last search reached.
    pub(super) leaves: u64,
}

/// The best leaf so far.
#[derive(Debug, Default)]
pub(super) struct Best {
    found: bool,
    traces: Vec<u64>,
    path: Vec<u32>,
    /// The canonical state, padded.
    pub(super) state: Vec<u8>,
    /// The permutation that leads to it.
    pub(super) image: Vec<u32>,
}

/// A node on the current path.
#[derive(Debug, Default)]
struct Level {
    colouring: Colouring,
    /// The positions in the ranking of the members to branch over.
    cell: Range<usize>,
    /// The members branched on; the last is the one on the path.
    tried: Vec<u32>,
}

/// A search for the canonical form of one state.
pub(super) struct Search<'a> {
    pub(super) subject: Subject<'a>,
    pub(super) graph: &'a Graph,
    pub(super) twins: &'a mut Twins,
    pub(super) spare: &'a mut Spare,
    pub(super) tree: &'a mut Tree,
}

impl Search<'_> {
    /// Searches, given a colouring that refinement leaves as it is. The result is in
    /// [`Tree::best`].
    pub(super) fn run(&mut self, colouring: &Colouring) {
        self.tree.leaves = 0;
        self.tree.best.found = false;
        self.tree.automorphisms.clear();
        self.tree.traces.clear();
        self.tree.traces.push(0);
        self.open(0);
        self.tree.levels[0].colouring.copy_from(colouring);
        if self.branches(0) {
            self.descend();
        } else {
            self.leaf(0);
        }
    }

    fn descend(&mut self) {
        let mut depth = 0;
        loop {
            let Some(member) = self.next_branch(depth) else {
                match depth {
                    0 => return,
                    _ => depth -= 1,
                }
                continue;
            };
            self.tree.levels[depth].tried.push(member);
            self.individualize(depth, member);
            if self.is_worse(depth + 1) {
                continue;
            }
            if self.branches(depth + 1) {
                depth += 1;
            } else if let Some(common) = self.leaf(depth + 1) {
                depth = common;
            }
        }
    }

    fn open(&mut self, depth: usize) {
        if self.tree.levels.len() <= depth {
            self.tree.levels.push(Level::default());
        }
        self.tree.levels[depth].tried.clear();
    }

    /// Makes the child of the node at `depth` in which `member` has a colour of its own.
    fn individualize(&mut self, depth: usize, member: u32) {
        self.open(depth + 1);
        let plan = self.subject.plan;
        let (above, below) = self.tree.levels.split_at_mut(depth + 1);
        let colouring = &mut below[0].colouring;
        colouring.copy_from(&above[depth].colouring);
        colouring.individualize(member, depth);
        colouring.refine(plan, self.graph, &mut self.tree.room);
        self.tree.traces.truncate(depth + 1);
        self.tree.traces.push(colouring.trace(plan));
    }

    /// Whether no leaf below the node at `depth` can be better than the best.
    fn is_worse(&self, depth: usize) -> bool {
        let best = &self.tree.best;
        let known = best.traces.len().min(depth + 1);
        best.found && self.tree.traces[..=depth].cmp(&best.traces[..known]) == Ordering::Greater
    }

    /// Whether the node at `depth` branches; finds out over which members.
    fn branches(&mut self, depth: usize) -> bool {
        for set in &self.subject.plan.sets {
            let mut start = set.members().start;
            while start < set.members().end {
                let ranking = &self.tree.levels[depth].colouring.ranking;
                let colour = ranking[start].0;
                let members = &ranking[start..set.members().end];
                let length = members.iter().take_while(|member| member.0 == colour).count();
                if !self.all_twins(depth, start..start + length) {
                    self.tree.levels[depth].cell = start..start + length;
                    return true;
                }
                start += length;
            }
        }
        false
    }

    /// Whether all members at these positions of the ranking are twins of each other.
    fn all_twins(&mut self, depth: usize, cell: Range<usize>) -> bool {
        self.tree.levels[depth].colouring.ranking[cell].windows(2).all(|pair| {
            let (left, right) = (pair[0].1, pair[1].1);
            self.twins.are_twins(self.subject, left, right, self.spare)
        })
    }

    /// A member of the cell at `depth` that no known automorphism maps to one already tried.
    fn next_branch(&mut self, depth: usize) -> Option<u32> {
        self.find_orbits(depth);
        let Tree { levels, orbits, .. } = &mut *self.tree;
        let level = &levels[depth];
        let members = level.colouring.ranking[level.cell.clone()].iter();
        members.map(|&(_, member)| member).find(|&member| {
            !level.tried.iter().any(|&other| {
                orbits.same(member, other)
                    || self.twins.are_twins(self.subject, member, other, self.spare)
            })
        })
    }

    /// The orbits of the automorphisms that keep what is individualised above `depth` in place.
    fn find_orbits(&mut self, depth: usize) {
        let Tree { levels, orbits, automorphisms, .. } = &mut *self.tree;
        orbits.reset(self.subject.plan.members + 1);
        for automorphism in automorphisms {
            let keeps = |level: &Level| {
                level.tried.last().is_none_or(|&member| automorphism[member as usize] == member)
            };
            if levels[..depth].iter().all(keeps) {
                for (member, &image) in (0..).zip(automorphism.iter()) {
                    orbits.unite(member, image);
                }
            }
        }
    }

    /// Looks at a leaf. If its state is the best one again, the node to go back to.
    fn leaf(&mut self, depth: usize) -> Option<usize> {
        let Subject { plan, state, .. } = self.subject;
        let tree = &mut *self.tree;
        tree.leaves += 1;
        ranking_to_image(&tree.levels[depth].colouring.ranking, &mut tree.trial_image);
        tree.trial.clear();
        tree.trial.extend_from_slice(state);
        relabel::relabel(plan, &tree.trial_image, state, &mut tree.trial, self.spare);
        let order = match tree.best.found {
            false => Ordering::Less,
            true => {
                let traces = tree.traces.cmp(&tree.best.traces);
                traces.then_with(|| tree.trial.cmp(&tree.best.state))
            }
        };
        match order {
            Ordering::Greater => None,
            Ordering::Less => {
                tree.keep_best(depth);
                None
            }
            Ordering::Equal => {
                tree.find_automorphism();
                tree.mirrored(depth)
            }
        }
    }
}

impl Tree {
    fn keep_best(&mut self, depth: usize) {
        self.best.found = true;
        self.best.traces.clone_from(&self.traces);
        self.best.path.clear();
        let path = self.levels[..depth].iter().filter_map(|level| level.tried.last());
        self.best.path.extend(path);
        std::mem::swap(&mut self.best.state, &mut self.trial);
        std::mem::swap(&mut self.best.image, &mut self.trial_image);
    }

    /// Two permutations with the same result differ by an automorphism.
    fn find_automorphism(&mut self) {
        inverse(&self.best.image, &mut self.origin);
        for image in &mut self.trial_image {
            *image = self.origin[*image as usize];
        }
        if self.automorphisms.len() < REMEMBERED {
            self.automorphisms.push(self.trial_image.clone());
        }
    }

    /// The last node above both this leaf and the best one, if the automorphism just found maps
    /// its child on the way to this leaf to that on the way to the best. All below the latter has
    /// been seen, so what is below the former need not be.
    fn mirrored(&self, depth: usize) -> Option<usize> {
        let path = self.levels[..depth].iter().filter_map(|level| level.tried.last());
        for (node, (&here, &there)) in path.zip(&self.best.path).enumerate() {
            if self.trial_image[here as usize] != there {
                return None;
            }
            if here != there {
                return Some(node);
            }
        }
        None
    }
}
