//! One state for all that differ only in names: exact canonical forms under scalarset symmetry.
//!
//! The members of a scalarset are interchangeable, so a permutation of them (array elements move,
//! values are renamed) turns a state into one that behaves alike; and the order of a multiset
//! means nothing. The states that can be turned into each other are an *orbit*. Canonicalisation
//! turns a state into one that depends on its orbit only: two states are in the same orbit exactly
//! if their canonical bytes are equal.
//!
//! It is decided in steps, each for what the one before left open. `keys` reads the state
//! once and gives every member a key; members are put in the order of their keys. Those with equal
//! keys are mostly `twins`, whose order does not matter. Others may be distinguished by `refine`,
//! on the `graph` of who is mentioned together with whom. For the rest, `search` tries. `relabel`
//! carries out the permutation, and sorts multisets. All of it works on the flat tables that
//! `compile` makes of a layout. Small states take a shorter way, through `tables`; successors of a
//! large state cost what they change, by `incremental` keys.
//! Hashes only ever help to put members in order; no decision rests on two of them being equal.

mod bytes;
mod compile;
mod graph;
mod hash;
mod incremental;
mod keys;
mod multiset;
mod order;
mod permutation;
mod plan;
mod refine;
mod relabel;
mod search;
mod tables;
mod tabulate;
mod touch;
mod twins;
mod units;

use murphi::ir::Model;
use murphi::layout::Layout;

pub use permutation::Permutation;

pub(crate) use bytes::{changed_words, changed_words_in, copy_words};

use bytes::PADDING;
use compile::{Scalarsets, compile};
use graph::Graph;
use hash::Constants;
use incremental::{Base, Difference};
use keys::{Keys, same_rows};
use order::{image_of_keys, inverse, ranking_to_image};
use plan::Plan;
use refine::Colouring;
use relabel::Spare;
use search::{Search, Tree};
use tables::Decision;
use twins::{Subject, Twins};

use crate::{Reduction, Renaming, Successor, Units};

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

impl Symmetry {
    /// The name that commands and files use.
    pub fn name(self) -> &'static str {
        match self {
            Symmetry::Full => "full",
            Symmetry::Off => "off",
        }
    }
}

/// Canonicalises the states of a model. Never changes: threads share it, each with its own
/// [`Scratch`].
#[derive(Debug)]
pub struct Canonicalizer {
    plan: Plan,
    /// Whether successors are canonicalised by what changed.
    stepwise: bool,
    /// The parts of a state that stay whole when members are renamed, if there are any.
    units: Option<Units>,
}

/// Where the representative of a successor is.
enum Form {
    /// In the state that was given.
    Given,
    /// In [`Scratch::source`].
    Source,
    /// There, and the words that differ from the state before are known.
    Changed,
    /// There, but members have their old names.
    Renamed,
}

/// From how many bytes of a state on looking at what changed costs less than looking at all of it.
const LARGE: usize = 256;

/// The room that one thread canonicalises in.
#[derive(Debug)]
pub struct Scratch {
    /// The state as it was, padded.
    source: Vec<u8>,
    /// Whether `source` is the state of `base` but for the words of `difference`.
    clean: bool,
    keys: Keys,
    /// For each member whom it becomes, and for nobody.
    image: Vec<u32>,
    order: Vec<u32>,
    graph: Graph,
    colouring: Colouring,
    room: refine::Room,
    twins: Twins,
    tree: Tree,
    spare: Spare,
    small: tables::Room,
    /// The representative whose successors are canonicalised, and what differs from it.
    base: Base,
    difference: Difference,
    /// Room for a renamed state, padded.
    renamed: Vec<u8>,
    /// Room for the words in which two states differ.
    differing: Vec<u32>,
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
    /// Members with the same key were exchangeable, if not as simply.
    pub by_twins: u64,
    /// Colour refinement distinguished all members.
    pub by_colours: u64,
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
            clean: false,
            keys: Keys::default(),
            image: (0..=canonicalizer.plan.nobody()).collect(),
            order: Vec::new(),
            graph: Graph::default(),
            colouring: Colouring::default(),
            room: refine::Room::default(),
            twins: Twins::default(),
            tree: Tree::default(),
            spare: Spare::default(),
            small: tables::Room::default(),
            base: Base::default(),
            difference: Difference::default(),
            renamed: Vec::new(),
            differing: Vec::new(),
            decided: Decided::default(),
        }
    }
}

impl Canonicalizer {
    /// Prepares for the states of a model.
    pub fn new(model: &Model, layout: &Layout, mode: Symmetry) -> Canonicalizer {
        let constants = || Constants::Mixed(chance::Rng::new(0));
        let scalarsets = match mode {
            Symmetry::Full => Scalarsets::Known,
            Symmetry::Off => Scalarsets::None,
        };
        let plan = compile(model, layout, scalarsets, constants());
        let mut canonicalizer = Canonicalizer::of(plan);
        if canonicalizer.stepwise && mode == Symmetry::Off {
            // Members keep their names, but what belongs to each is alike all the same.
            let plan = compile(model, layout, Scalarsets::Known, constants());
            canonicalizer.units = units::worthwhile(&plan);
        }
        canonicalizer
    }

    /// The same with full symmetry, also of scalarsets whose order may show in loops of rules: the
    /// machines of the search have to [try](native::NativeMachine::try_orders) these in all orders,
    /// and where one finds that the order shows, the search is wrong.
    pub fn trying(model: &Model, layout: &Layout) -> Canonicalizer {
        let constants = Constants::Mixed(chance::Rng::new(0));
        Canonicalizer::of(compile(model, layout, Scalarsets::Tried, constants))
    }

    fn of(plan: Plan) -> Canonicalizer {
        let stepwise = plan.size >= LARGE && plan.tables.is_none();
        let units = if stepwise { units::worthwhile(&plan) } else { None };
        Canonicalizer { plan, stepwise, units }
    }

    /// Like `new` with full symmetry, but with hashes that nearly always collide: slow, and no
    /// less exact. For tests of that.
    #[doc(hidden)]
    pub fn with_colliding_hashes(model: &Model, layout: &Layout) -> Canonicalizer {
        Canonicalizer::of(compile(model, layout, Scalarsets::Known, Constants::Zeros))
    }

    /// The same, but as if every state were large. For tests of that.
    #[doc(hidden)]
    pub fn without_tables(mut self) -> Canonicalizer {
        self.plan.tables = None;
        self.stepwise = true;
        self.units = units::of(&self.plan);
        self
    }

    /// The same, but some of what a word of the state says is overlooked when it changes: wrong, for
    /// tests that this is noticed.
    #[doc(hidden)]
    pub fn overlooking(mut self) -> Canonicalizer {
        self.plan.touch.overlook();
        self
    }

    /// The same, but what the units of a state become is taken from whatever permutation they were
    /// renamed by before: wrong, for tests that this is noticed.
    #[doc(hidden)]
    pub fn confusing(mut self) -> Canonicalizer {
        if let Some(units) = &mut self.units {
            units.confused = true;
        }
        self
    }

    /// Turns a state into the canonical state of its orbit.
    #[inline]
    pub fn canonicalize(&self, scratch: &mut Scratch, state: &mut [u8]) {
        if self.look_up(scratch, state).is_none() {
            self.canonicalize_large(scratch, state);
        }
    }

    /// Canonicalises by tables, if they suffice; says by which permutation.
    #[inline(always)]
    fn look_up(&self, scratch: &mut Scratch, state: &mut [u8]) -> Option<usize> {
        let tables = self.plan.tables.as_ref()?;
        let (decision, permutation) = tables.canonicalize(&mut scratch.small, state)?;
        let decided = &mut scratch.decided;
        match decision {
            Decision::Keys => decided.by_keys += 1,
            Decision::Twins => decided.by_twins += 1,
            Decision::Trial { tried } => {
                decided.by_search += 1;
                decided.leaves += tried as u64;
            }
        }
        Some(permutation)
    }

    /// Canonicalises without tables; the permutation is left in [`Scratch::image`].
    fn canonicalize_large(&self, scratch: &mut Scratch, state: &mut [u8]) {
        if self.is_trivial() {
            return;
        }
        let size = self.plan.size;
        scratch.clean = false;
        scratch.source[..size].copy_from_slice(state);
        if self.decide(scratch, state) {
            state.copy_from_slice(&scratch.source[..size]);
        }
    }

    /// Remembers a representative, so that its successors are canonicalised at the cost of what
    /// they change.
    ///
    /// All words of eight bytes in which it differs from the one before are among `changed`, if that
    /// is given.
    #[inline]
    pub fn expand(&self, scratch: &mut Scratch, representative: &[u8], changed: Option<&[u32]>) {
        if self.stepwise && !Reduction::is_trivial(self) {
            self.clean(scratch);
            let Scratch { base, difference, source, .. } = scratch;
            base.replace(&self.plan, representative, changed, source, difference);
            difference.words.clear();
        }
    }

    /// Canonicalises a successor of the representative that was remembered last. Any state may be
    /// given; it only costs more. The words of eight bytes in which it differs from that
    /// representative are `changed`, if that is given. With the representative of the successor come
    /// the words in which it differs from the one that was remembered, where they are known.
    #[inline]
    pub fn canonical_successor<'s>(
        &self,
        scratch: &'s mut Scratch,
        state: &'s mut [u8],
        changed: Option<&[u32]>,
    ) -> (&'s [u8], Option<&'s [u32]>) {
        let size = self.plan.size;
        match self.decide_successor(scratch, state, changed) {
            Form::Given => (state, None),
            Form::Source => (&scratch.source[..size], None),
            Form::Changed => (&scratch.source[..size], Some(&scratch.difference.words)),
            Form::Renamed => (self.rename_successor(scratch), None),
        }
    }

    /// Makes [`Scratch::source`] the state of the base again.
    #[inline(always)]
    fn clean(&self, scratch: &mut Scratch) {
        let Scratch { source, base, difference, .. } = scratch;
        match scratch.clean {
            true => copy_words(&difference.words, &base.state, source),
            false if base.state.is_empty() => {}
            false => source.copy_from_slice(&base.state),
        }
        scratch.clean = true;
    }

    /// Finds where the representative of a successor is. Where members are to be renamed, they are
    /// not yet, and multisets that changed are in order.
    #[inline(always)]
    fn decide_successor(
        &self,
        scratch: &mut Scratch,
        state: &mut [u8],
        changed: Option<&[u32]>,
    ) -> Form {
        if scratch.base.state.is_empty() {
            self.canonicalize(scratch, state);
            return Form::Given;
        }
        self.clean(scratch);
        let plan = &self.plan;
        let Scratch { source, keys, image, order, base, difference, .. } = scratch;
        keys.copy_from(&base.keys);
        difference.read(plan, (&base.state, state), changed, source, keys);
        if !plan.sets.is_empty() {
            if image_of_keys(plan, &keys.keys, image, order) {
                scratch.decided.by_keys += 1;
            } else if !self.break_ties(scratch) {
                scratch.clean = false;
                return Form::Source;
            }
        }
        let Scratch { source, image, base, difference, spare, .. } = scratch;
        difference.sort_multisets(plan, &base.state, source, spare);
        match (0..).zip(image.iter()).all(|(member, &image)| member == image) {
            true => Form::Changed,
            false => Form::Renamed,
        }
    }

    /// Renames members in the successor that was decided last.
    fn rename_successor<'s>(&self, scratch: &'s mut Scratch) -> &'s [u8] {
        scratch.clean = false;
        let Scratch { source, image, base, difference, renamed, spare, .. } = scratch;
        base.relabel(&self.plan, image, difference, source, renamed, spare);
        &renamed[..self.plan.size]
    }

    /// Like [`Canonicalizer::canonicalize`], and says which permutation it was: of each member of
    /// the state as it was, whom it became.
    pub fn canonicalize_tracked(&self, scratch: &mut Scratch, state: &mut [u8]) -> Permutation {
        if let (Some(number), Some(tables)) = (self.look_up(scratch, state), &self.plan.tables) {
            return Permutation::new(&self.plan.sets, &tables.permutations[number].image);
        }
        self.canonicalize_large(scratch, state);
        Permutation::new(&self.plan.sets, &scratch.image)
    }

    /// Permutes a state, and sorts its multisets.
    pub fn apply(&self, permutation: &Permutation, state: &mut [u8]) {
        let mut bytes = vec![0; self.plan.size + PADDING];
        bytes[..self.plan.size].copy_from_slice(state);
        let spare = &mut Spare::default();
        relabel::relabel(&self.plan, permutation.images(), state, &mut bytes, spare);
        state.copy_from_slice(&bytes[..self.plan.size]);
    }

    /// The permutation that changes nothing.
    pub fn identity(&self) -> Permutation {
        let image: Vec<u32> = (0..=self.plan.nobody()).collect();
        Permutation::new(&self.plan.sets, &image)
    }

    /// Canonicalises [`Scratch::source`], a copy of the state; the permutation is left in
    /// [`Scratch::image`]. Says whether anything may have changed.
    fn decide(&self, scratch: &mut Scratch, state: &[u8]) -> bool {
        let plan = &self.plan;
        if plan.sets.is_empty() {
            relabel::sort_multisets(plan, &mut scratch.source, &mut scratch.spare);
            return true;
        }
        let Scratch { source, keys, image, order, .. } = scratch;
        keys.read(plan, source);
        if image_of_keys(plan, &keys.keys, image, order) {
            scratch.decided.by_keys += 1;
        } else if !self.break_ties(scratch) {
            return true;
        }
        let Scratch { source, image, spare, .. } = scratch;
        if (0..).zip(image.iter()).any(|(member, &image)| member != image) {
            relabel::relabel(plan, image, state, source, spare);
            return true;
        }
        relabel::sort_multisets(plan, source, spare);
        !plan.state().bags.is_empty()
    }

    /// Decides where keys are equal. Says whether the permutation is still to be carried out.
    fn break_ties(&self, scratch: &mut Scratch) -> bool {
        let plan = &self.plan;
        let Scratch { source, keys, graph, colouring, image, order, .. } = scratch;
        let Scratch { room, twins, tree, spare, decided, .. } = scratch;
        inverse(image, order);
        let unlinked_alike = |left: u32, right: u32| {
            !keys.is_linked(left) && !keys.is_linked(right) && same_rows(plan, left, right, source)
        };
        if ties(plan, keys, order).all(|(left, right)| unlinked_alike(left, right)) {
            decided.by_rows += 1;
            return true;
        }
        relabel::sort_multisets(plan, source, spare);
        let subject = Subject { plan, keys, state: source };
        twins.reset(plan);
        if ties(plan, keys, order).all(|(left, right)| twins.are_twins(subject, left, right, spare))
        {
            decided.by_twins += 1;
            return true;
        }
        graph.read(plan, keys, source);
        colouring.of_keys(plan, graph);
        colouring.refine(plan, graph, room);
        if colouring.is_discrete(plan) {
            decided.by_colours += 1;
            ranking_to_image(&colouring.ranking, image);
            return true;
        }
        Search { subject, graph, twins, spare, tree }.run(colouring);
        decided.by_search += 1;
        decided.leaves += tree.leaves;
        source.copy_from_slice(&tree.best.state);
        image.copy_from_slice(&tree.best.image);
        false
    }
}

impl Reduction for Canonicalizer {
    type Scratch = Scratch;

    fn scratch(&self) -> Scratch {
        Scratch::new(self)
    }

    #[inline(always)]
    fn canonicalize(&self, scratch: &mut Scratch, state: &mut [u8]) {
        Canonicalizer::canonicalize(self, scratch, state);
    }

    fn canonicalize_tracked(&self, scratch: &mut Scratch, state: &mut [u8]) -> Option<Permutation> {
        Some(Canonicalizer::canonicalize_tracked(self, scratch, state))
    }

    #[inline(always)]
    fn expand(&self, scratch: &mut Scratch, representative: &[u8], changed: Option<&[u32]>) {
        Canonicalizer::expand(self, scratch, representative, changed);
    }

    #[inline(always)]
    fn canonical_successor<'s>(
        &self,
        scratch: &'s mut Scratch,
        state: &'s mut [u8],
        changed: Option<&'s [u32]>,
    ) -> (&'s [u8], Option<&'s [u32]>) {
        Canonicalizer::canonical_successor(self, scratch, state, changed)
    }

    #[inline(always)]
    fn successor<'s>(
        &self,
        scratch: &'s mut Scratch,
        state: &'s mut [u8],
        changed: Option<&'s [u32]>,
    ) -> Successor<'s> {
        let size = self.plan.size;
        let (state, changed) = match self.decide_successor(scratch, state, changed) {
            Form::Given => (&*state, None),
            Form::Source => (&scratch.source[..size], None),
            Form::Changed => (&scratch.source[..size], Some(&scratch.difference.words[..])),
            Form::Renamed => {
                let Scratch { source, image, difference, .. } = scratch;
                let (state, changed) = (&source[..size], &difference.words);
                return Successor::Renamed(Renaming { state, changed, image });
            }
        };
        Successor::Representative { state, changed }
    }

    fn rename<'s>(&self, scratch: &'s mut Scratch) -> &'s [u8] {
        self.rename_successor(scratch)
    }

    fn units(&self, state_size: usize) -> Units {
        self.units.clone().unwrap_or_else(|| Units::whole(state_size))
    }

    fn only_reorders(
        &self,
        scratch: &mut Scratch,
        representative: &[u8],
        state: &[u8],
        changed: Option<&[u32]>,
    ) -> bool {
        if self.plan.state().bags.is_empty() {
            return false;
        }
        let (plan, size) = (&self.plan, self.plan.size);
        let Scratch { differing, renamed, spare, .. } = scratch;
        let differing = changed.unwrap_or_else(|| {
            differing.clear();
            changed_words(representative, state, differing);
            differing
        });
        if !differing.iter().all(|&word| plan.touch.has_multiset(word)) {
            return false;
        }
        renamed.clear();
        renamed.extend_from_slice(state);
        renamed.resize(size + PADDING, 0);
        relabel::sort_multisets(plan, renamed, spare);
        renamed[..size] == *representative
    }

    /// Whether canonicalising cannot change any state.
    fn is_trivial(&self) -> bool {
        self.plan.sets.is_empty() && self.plan.state().bags.is_empty()
    }
}

/// The members with equal keys, each with the next, given the order of members by their keys.
fn ties(plan: &Plan, keys: &Keys, order: &[u32]) -> impl Iterator<Item = (u32, u32)> {
    plan.sets.iter().flat_map(move |set| {
        let pairs = order[set.members()].windows(2).map(|pair| (pair[0], pair[1]));
        pairs.filter(|&(left, right)| keys.keys[left as usize] == keys.keys[right as usize])
    })
}
