//! One state for all that differ only in names: exact canonical forms under scalarset symmetry.
//!
//! The members of a scalarset are interchangeable, so a permutation of them (array elements move,
//! values are renamed) turns a state into one that behaves alike; and the order of a multiset
//! means nothing. The states that can be turned into each other are an *orbit*. Canonicalisation
//! turns a state into one that depends on its orbit only: two states are in the same orbit exactly
//! if their canonical bytes are equal.
//!
//! It is decided in three steps, each for what the one before left open. [`graph`] reads the state
//! once and gives every member a key; members are put in the order of their keys. Members with
//! equal keys may be told apart by [`refine`]. [`search`] decides about the rest: exchangeable
//! members may stay in any order, for others it tries. [`relabel`] carries out the permutation,
//! and sorts multisets. All of it works on the flat tables that [`compile`] makes of a layout.
//! Hashes only ever help to put members in order; no decision rests on two of them being equal.

mod bytes;
mod compile;
mod graph;
mod hash;
mod multiset;
mod permutation;
mod plan;
mod refine;
mod relabel;
mod search;

use murphi::ir::Model;
use murphi::layout::Layout;

pub use permutation::Permutation;

use bytes::PADDING;
use graph::Graph;
use plan::Plan;
use refine::Colouring;
use relabel::Spare;
use search::{Search, Subject, rank_to_image};

use crate::Reduction;

/// Which states count as the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Symmetry {
    /// Those that differ by a permutation of the members of scalarsets, or in the order of
    /// multisets.
    #[default]
    Full,
    /// Those that differ in the order of multisets only.
    Off,
}

/// Canonicalises the states of a model. Never changes: threads share it, each with its own
/// [`Scratch`].
#[derive(Debug)]
pub struct Canonicalizer {
    plan: Plan,
}

/// The room that one thread canonicalises in.
#[derive(Debug)]
pub struct Scratch {
    /// The state as it was, padded.
    source: Vec<u8>,
    graph: Graph,
    colouring: Colouring,
    image: Vec<u32>,
    room: refine::Room,
    search: Search,
    spare: Spare,
    /// How often each step decided.
    pub decided: Decided,
}

/// How many states each step decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Decided {
    /// No two members had the same key.
    pub by_keys: u64,
    /// Members with the same key had the same rows and were mentioned nowhere else.
    pub by_rows: u64,
    /// Colour refinement told all members apart.
    pub by_colours: u64,
    /// Tied members turned out to be exchangeable, without a search.
    pub by_twins: u64,
    /// The search had to try.
    pub by_search: u64,
    /// How many relabelled states the search looked at.
    pub leaves: u64,
}

impl Scratch {
    /// Room for the states of a canonicalizer.
    pub fn new(canonicalizer: &Canonicalizer) -> Scratch {
        Scratch {
            source: vec![0; canonicalizer.plan.size + PADDING],
            graph: Graph::default(),
            colouring: Colouring::default(),
            image: (0..canonicalizer.plan.members as u32).collect(),
            room: refine::Room::default(),
            search: Search::default(),
            spare: Spare::default(),
            decided: Decided::default(),
        }
    }
}

impl Canonicalizer {
    /// Prepares for the states of a model.
    pub fn new(model: &Model, layout: &Layout, mode: Symmetry) -> Canonicalizer {
        Canonicalizer { plan: compile::compile(model, layout, mode == Symmetry::Full) }
    }

    /// Whether canonicalising can change a state at all.
    pub fn is_trivial(&self) -> bool {
        self.plan.sets.is_empty() && self.plan.state().bags.is_empty()
    }

    /// Turns a state into the canonical state of its orbit.
    pub fn canonicalize(&self, scratch: &mut Scratch, state: &mut [u8]) {
        if self.is_trivial() {
            return;
        }
        let size = self.plan.size;
        scratch.source[..size].copy_from_slice(state);
        if self.decide(scratch) {
            state.copy_from_slice(&scratch.source[..size]);
        }
    }

    /// Like [`Canonicalizer::canonicalize`], and says which permutation it was: of each member of
    /// the state as it was, whom it became.
    pub fn canonicalize_tracked(&self, scratch: &mut Scratch, state: &mut [u8]) -> Permutation {
        self.canonicalize(scratch, state);
        Permutation::new(&self.plan.sets, &scratch.image)
    }

    /// Permutes a state, and sorts its multisets.
    pub fn apply(&self, permutation: &Permutation, state: &mut [u8]) {
        let mut bytes = vec![0; self.plan.size + PADDING];
        bytes[..self.plan.size].copy_from_slice(state);
        let spare = &mut Spare::default();
        relabel::relabel(&self.plan, permutation.images(), &mut bytes, spare);
        state.copy_from_slice(&bytes[..self.plan.size]);
    }

    /// The permutation that changes nothing.
    pub fn identity(&self) -> Permutation {
        let image: Vec<u32> = (0..self.plan.members as u32).collect();
        Permutation::new(&self.plan.sets, &image)
    }

    /// Canonicalises [`Scratch::source`]; the permutation is left in [`Scratch::image`]. Says
    /// whether anything may have changed.
    fn decide(&self, scratch: &mut Scratch) -> bool {
        let plan = &self.plan;
        let Scratch { source, graph, colouring, image, room, search, spare, decided } = scratch;
        if plan.sets.is_empty() {
            relabel::sort_multisets(plan, source, spare);
            return true;
        }
        graph.read(plan, source);
        colouring.of_keys(plan, graph);
        if colouring.is_discrete(plan) {
            decided.by_keys += 1;
        } else if ties_are_same_rows(plan, graph, colouring, source) {
            decided.by_rows += 1;
        } else {
            colouring.refine(plan, graph, room);
            if colouring.is_discrete(plan) {
                decided.by_colours += 1;
            } else {
                relabel::sort_multisets(plan, source, spare);
                let best = search.run(&Subject { plan, graph, state: source }, colouring, spare);
                source.copy_from_slice(&best.state);
                image.copy_from_slice(&best.image);
                match search.leaves {
                    1 => decided.by_twins += 1,
                    _ => decided.by_search += 1,
                }
                decided.leaves += search.leaves;
                return true;
            }
        }
        rank_to_image(colouring, image);
        if (0..).zip(image.iter()).any(|(member, &image)| member != image) {
            relabel::relabel(plan, image, source, spare);
            return true;
        }
        relabel::sort_multisets(plan, source, spare);
        !plan.state().bags.is_empty()
    }
}

impl Reduction for Canonicalizer {
    type Scratch = Scratch;

    fn scratch(&self) -> Scratch {
        Scratch::new(self)
    }

    fn canonicalize(&self, scratch: &mut Scratch, state: &mut [u8]) {
        Canonicalizer::canonicalize(self, scratch, state);
    }
}

/// Whether all members with the same colour can be exchanged because nothing mentions them and
/// their rows are the same.
fn ties_are_same_rows(plan: &Plan, graph: &Graph, colouring: &Colouring, state: &[u8]) -> bool {
    plan.sets.iter().all(|set| {
        colouring.ranking[set.members()].windows(2).all(|pair| {
            let [(left_colour, left), (right_colour, right)] = [pair[0], pair[1]];
            let linked = |member: u32| graph.linked[member as usize];
            left_colour != right_colour
                || !linked(left) && !linked(right) && Graph::same_rows(plan, left, right, state)
        })
    })
}
