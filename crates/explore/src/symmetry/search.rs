//! The members that colours leave tied: individualise one, refine, and so on, and of all the
//! states that come out take the least.
//!
//! This is the search of graph canonisation (McKay: Practical graph isomorphism, Congressus
//! Numerantium 30, 1981): a tree whose nodes are colourings. A node's first cell of tied members
//! that are not *twins* (exchanging two of them changes nothing in the state) is its branching; a
//! node without one is a leaf and stands for a relabelled state. The canonical state is that of
//! the leaf with the least sequence of traces, and the least bytes among those. Which node
//! branches where depends on the orbit of the state only, so the result does too. Two leaves with
//! the same state give an automorphism, and branches that known automorphisms map to branches
//! already taken are skipped. Each leaf costs a relabelling, each node a refinement.

use std::cmp::Ordering;
use std::ops::Range;

use super::graph::Graph;
use super::order::ranking_to_image;
use super::refine::{self, Colouring};
use super::relabel::{self, Spare};
use super::twins::{Classes, Subject, Twins};

/// More automorphisms than this are not remembered.
const REMEMBERED: usize = 64;

/// What the search works on and leaves behind.
#[derive(Debug, Default)]
pub(super) struct Search {
    levels: Vec<Level>,
    /// The traces of the nodes on the current path.
    traces: Vec<u64>,
    orbits: Classes,
    automorphisms: Vec<Vec<u32>>,
    /// Relabelled states: one to try, and the best so far.
    trial: Vec<u8>,
    trial_image: Vec<u32>,
    /// The inverse of the best permutation.
    origin: Vec<u32>,
    best: Best,
    room: refine::Room,
    /// How many leaves were reached.
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

impl Search {
    /// Finds the canonical form of a state, given a colouring that refinement leaves as it is.
    pub(super) fn run(
        &mut self,
        subject: &Subject,
        colouring: &Colouring,
        spare: &mut Spare,
    ) -> &Best {
        self.leaves = 0;
        self.best.found = false;
        self.automorphisms.clear();
        self.traces.clear();
        self.traces.push(0);
        self.twins.reset(subject.plan.members);
        self.open(0);
        self.levels[0].colouring.copy_from(colouring);
        if self.branches(subject, 0, spare) {
            self.descend(subject, spare);
        } else {
            self.leaf(subject, 0, spare);
        }
        &self.best
    }

    fn descend(&mut self, subject: &Subject, spare: &mut Spare) {
        let mut depth = 0;
        loop {
            let Some(member) = self.next_branch(subject, depth, spare) else {
                match depth {
                    0 => return,
                    _ => depth -= 1,
                }
                continue;
            };
            self.levels[depth].tried.push(member);
            self.individualize(subject, depth, member);
            if self.is_worse(depth + 1) {
                continue;
            }
            if self.branches(subject, depth + 1, spare) {
                depth += 1;
            } else if let Some(common) = self.leaf(subject, depth + 1, spare) {
                depth = common;
            }
        }
    }

    fn open(&mut self, depth: usize) {
        if self.levels.len() <= depth {
            self.levels.push(Level::default());
        }
        self.levels[depth].tried.clear();
    }

    /// Makes the child of the node at `depth` in which `member` has a colour of its own.
    fn individualize(&mut self, subject: &Subject, depth: usize, member: u32) {
        self.open(depth + 1);
        let (above, below) = self.levels.split_at_mut(depth + 1);
        let colouring = &mut below[0].colouring;
        colouring.copy_from(&above[depth].colouring);
        colouring.individualize(member, depth);
        colouring.refine(subject.plan, subject.graph, &mut self.room);
        self.traces.truncate(depth + 1);
        self.traces.push(colouring.trace(subject.plan));
    }

    /// Whether no leaf below the node at `depth` can be better than the best.
    fn is_worse(&self, depth: usize) -> bool {
        let known = self.best.traces.len().min(depth + 1);
        self.best.found
            && self.traces[..=depth].cmp(&self.best.traces[..known]) == Ordering::Greater
    }

    /// Whether the node at `depth` branches; finds out over which members.
    fn branches(&mut self, subject: &Subject, depth: usize, spare: &mut Spare) -> bool {
        for set in &subject.plan.sets {
            let mut start = set.members().start;
            while start < set.members().end {
                let ranking = &self.levels[depth].colouring.ranking;
                let colour = ranking[start].0;
                let members = &ranking[start..set.members().end];
                let length = members.iter().take_while(|member| member.0 == colour).count();
                if !self.all_twins(subject, depth, start..start + length, spare) {
                    self.levels[depth].cell = start..start + length;
                    return true;
                }
                start += length;
            }
        }
        false
    }

    /// Whether all members at these positions of the ranking are twins of each other.
    fn all_twins(
        &mut self,
        subject: &Subject,
        depth: usize,
        cell: Range<usize>,
        spare: &mut Spare,
    ) -> bool {
        (cell.start + 1..cell.end).all(|position| {
            let ranking = &self.levels[depth].colouring.ranking;
            let (left, right) = (ranking[position - 1].1, ranking[position].1);
            self.are_twins(subject, left, right, spare)
        })
    }

    /// A member of the cell at `depth` that no known automorphism maps to one already tried.
    fn next_branch(&mut self, subject: &Subject, depth: usize, spare: &mut Spare) -> Option<u32> {
        self.find_orbits(subject, depth);
        for position in self.levels[depth].cell.clone() {
            let level = &self.levels[depth];
            let member = level.colouring.ranking[position].1;
            let tried = level.tried.len();
            let known = (0..tried).any(|index| {
                let other = self.levels[depth].tried[index];
                self.orbits.same(member, other) || self.are_twins(subject, member, other, spare)
            });
            if !known {
                return Some(member);
            }
        }
        None
    }

    /// The orbits of the automorphisms that keep what is individualised above `depth` in place.
    fn find_orbits(&mut self, subject: &Subject, depth: usize) {
        self.orbits.reset(subject.plan.members + 1);
        let path = &self.levels[..depth];
        for automorphism in &self.automorphisms {
            let keeps = |level: &Level| {
                level.tried.last().is_none_or(|&member| automorphism[member as usize] == member)
            };
            if path.iter().all(keeps) {
                for (member, &image) in (0..).zip(automorphism) {
                    self.orbits.unite(member, image);
                }
            }
        }
    }

    /// Looks at a leaf. If its state is the best one again, the node to go back to.
    fn leaf(&mut self, subject: &Subject, depth: usize, spare: &mut Spare) -> Option<usize> {
        self.leaves += 1;
        ranking_to_image(&self.levels[depth].colouring.ranking, &mut self.trial_image);
        self.trial.clear();
        self.trial.extend_from_slice(subject.state);
        let Subject { plan, state, .. } = *subject;
        relabel::relabel(plan, &self.trial_image, state, &mut self.trial, spare);
        let order = match self.best.found {
            false => Ordering::Less,
            true => {
                let traces = self.traces.cmp(&self.best.traces);
                traces.then_with(|| self.trial.cmp(&self.best.state))
            }
        };
        match order {
            Ordering::Greater => None,
            Ordering::Less => {
                self.keep_best(depth);
                None
            }
            Ordering::Equal => {
                self.find_automorphism();
                self.mirrored(depth)
            }
        }
    }

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
        self.origin.resize(self.best.image.len(), 0);
        for (member, &image) in (0..).zip(&self.best.image) {
            self.origin[image as usize] = member;
        }
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
