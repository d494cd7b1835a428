//! The causal models for one choice of reads-from, complete or partial: builds the relations of the
//! model's definition in the order in which they rest on each other, and stops at the first cycle.
//!
//! All rules are monotone: a read whose source is still open contributes nothing, so what a partial
//! choice violates, every completion of it violates.
//!
//! With n operations and k threads:
//!
//! | model | cost |
//! |---|---|
//! | cc, ccv | O(n·k) |
//! | cm | O(n·k), as long as the numbers of [`Observer`] sink a few times each |
//! | ccm, wccm | that, and O(n·k·(k + log n)) for the partial store order |
//!
//! Read-modify-writes add a round of clocks, O((n + edges)·k), for each round of [`Blocks::edges`].

use history::{AddressId, History, Source};
use models::CausalRules;

use super::atomic::{AtomicEdge, Blocks, Rivals};
use super::clocks::{Clocks, latest_writes};
use super::explain::{Broken, Lemma, explain};
use super::kept::{Base, Kept, Scopes};
use super::observe::Observer;
use super::operations::{From, Op, Operations, ReadsFrom};
use super::relation::{Edges, Relation, Tag, topological_order};
use super::store_order::{StoreOrder, StorePairs};
use crate::{Budget, Reason};

/// A history and a model, made ready for any number of choices of reads-from.
#[derive(Debug)]
pub(super) struct Problem<'a> {
    pub(super) history: &'a History,
    pub(super) rules: CausalRules,
    pub(super) ops: Operations,
    /// The parts of program order the model builds relations on: one, or two for `wccm`.
    pub(super) sides: Vec<Side>,
}

/// A part of program order and what happens-before over it is computed for.
#[derive(Debug)]
pub(super) struct Side {
    pub(super) base: Base,
    pub(super) scopes: Scopes,
}

impl<'a> Problem<'a> {
    pub(super) fn new(history: &'a History, rules: CausalRules) -> Self {
        let ops = Operations::new(history);
        let kept: &[Kept] =
            if rules.relaxed { &[Kept::Preserved, Kept::Location] } else { &[Kept::Program] };
        let side = |&kept: &Kept| Side {
            base: Base::new(history, &ops, kept),
            scopes: Scopes::new(&ops, kept),
        };
        let sides = kept.iter().map(side).collect();
        Problem { history, rules, ops, sides }
    }

    /// Whether `order` and `final` lines say anything to the model.
    pub(super) fn orders_writes(&self) -> bool {
        self.rules.convergent || self.rules.store_order
    }
}

/// Why a check ended without saying yes.
#[derive(Debug)]
pub(super) enum Stop {
    /// The choice violates the model.
    Broken(Box<Lemma>),
    /// Time or memory ran out.
    Spent(Reason),
}

impl std::convert::From<Reason> for Stop {
    fn from(reason: Reason) -> Self {
        Stop::Spent(reason)
    }
}

/// What a check found on its way to a yes.
#[derive(Debug, Default)]
pub(super) struct Established {
    /// `ccv`: all operations in an order that extends everything that was derived.
    pub(super) order: Vec<Op>,
    /// `cm`: what each thread heard of, in an order that explains its reads.
    pub(super) views: Vec<Vec<Op>>,
    /// `ccm`, `wccm`: the partial store order.
    pub(super) store_order: Option<StoreOrder>,
    /// How many edges were derived.
    pub(super) derived: u64,
}

/// The relations of a model, as far as they are built.
pub(super) struct Check<'a> {
    pub(super) problem: &'a Problem<'a>,
    pub(super) reads_from: &'a ReadsFrom,
    pub(super) budget: &'a Budget,
    /// Rule (2) of happens-before, on each side.
    pub(super) observed: Vec<Edges>,
    /// cf, and what `order` and `final` lines say.
    pub(super) conflicts: Edges,
    /// Happens-before of both sides together, once known.
    pub(super) happens_before: Option<Clocks>,
    /// pww, once known.
    pub(super) store_order: Option<StoreOrder>,
    /// pww as edges, for the relation over po-loc.
    pub(super) stored: Edges,
    /// rw[pww].
    pub(super) overwritten: Edges,
    pub(super) blocks: Option<Blocks>,
    pub(super) atomic_edges: Vec<AtomicEdge>,
    pub(super) atomic: Edges,
}

/// Decides whether a choice of reads-from satisfies the model.
pub(super) fn check(
    problem: &Problem<'_>,
    reads_from: &ReadsFrom,
    budget: &Budget,
) -> Result<Established, Stop> {
    let new = || Edges::new(&problem.ops);
    let check = Check {
        problem,
        reads_from,
        budget,
        observed: problem.sides.iter().map(|_| new()).collect(),
        conflicts: new(),
        happens_before: None,
        store_order: None,
        stored: new(),
        overwritten: new(),
        blocks: None,
        atomic_edges: Vec::new(),
        atomic: new(),
    };
    check.run()
}

impl<'a> Check<'a> {
    fn run(mut self) -> Result<Established, Stop> {
        let rules = self.problem.rules;
        if rules.store_order {
            return self.convergent_memory();
        }
        let clocks = self.causality(0)?;
        if rules.memory {
            return self.causal_memory();
        }
        if !rules.convergent {
            return Ok(Established::default());
        }
        self.add_conflicts(0, &clocks);
        drop(clocks);
        self.add_declared()?;
        let order = self.close_with_atomicity()?;
        Ok(Established { order, derived: self.derived(), ..Established::default() })
    }

    pub(super) fn base(&self, side: usize) -> &'a Base {
        &self.problem.sides[side].base
    }

    fn relation<'r>(&'r self, side: usize, layers: Vec<&'r Edges>) -> Relation<'r> {
        Relation {
            ops: &self.problem.ops,
            base: self.base(side),
            reads_from: self.reads_from,
            layers,
        }
    }

    /// co.
    pub(super) fn causal(&self, side: usize) -> Relation<'_> {
        self.relation(side, Vec::new())
    }

    /// hb of one side.
    pub(super) fn happens_before_on(&self, side: usize) -> Relation<'_> {
        self.relation(side, vec![&self.observed[side]])
    }

    /// hb of both sides together, between writes. Of po-loc, ppo lacks only writes before reads of
    /// their own thread, and a path that leaves such a read goes on to a later write of the
    /// thread, which ppo reaches directly; so ppo with the observed edges of both is enough.
    pub(super) fn happens_before_together(&self) -> Relation<'_> {
        self.relation(0, self.observed.iter().collect())
    }

    /// The whole relation that must be acyclic. Over po-loc, pww holds pairs that come about over
    /// other addresses, so it is spelled out.
    pub(super) fn whole(&self, side: usize) -> Relation<'_> {
        let mut layers: Vec<&Edges> = vec![&self.overwritten, &self.atomic];
        if self.base(side).kept == Kept::Location {
            layers.push(&self.stored);
        } else {
            layers.push(&self.conflicts);
            layers.extend(&self.observed);
        }
        self.relation(side, layers)
    }

    /// The pairs whose closure is pww, once happens-before is known.
    pub(super) fn store_pairs(&self) -> Option<StorePairs<'_>> {
        Some(StorePairs {
            ops: &self.problem.ops,
            happens_before: self.happens_before.as_ref()?,
            further: &self.conflicts,
        })
    }

    fn broken(&self, broken: Broken) -> Stop {
        match explain(self, broken) {
            Ok(lemma) => Stop::Broken(Box::new(lemma)),
            Err(reason) => Stop::Spent(reason),
        }
    }

    fn spend(&self) -> Result<(), Stop> {
        if self.budget.is_spent() { Err(Stop::Spent(Reason::Time)) } else { Ok(()) }
    }

    fn order_of(
        &self,
        relation: &Relation<'_>,
        broken: impl FnOnce(Vec<Op>) -> Broken,
    ) -> Result<Vec<Op>, Stop> {
        self.spend()?;
        topological_order(relation, self.problem.ops.len(), self.problem.ops.all())
            .map_err(|cycle| self.broken(broken(cycle)))
    }

    fn clocks_of(&self, relation: &Relation<'_>, order: &[Op]) -> Result<Clocks, Stop> {
        Ok(Clocks::over(&self.problem.ops, relation, order, self.budget)?)
    }

    /// `cc`: co is acyclic, and no read has a write in its past that overwrote what it read.
    fn causality(&self, side: usize) -> Result<Clocks, Stop> {
        let ops = &self.problem.ops;
        let relation = self.causal(side);
        let order = self.order_of(&relation, |cycle| Broken::Causality { side, cycle })?;
        let clocks = self.clocks_of(&relation, &order)?;
        if self.base(side).kept == Kept::Preserved {
            return Ok(clocks);
        }
        let stale = latest_writes(ops, self.reads_from, &clocks, |read, write| {
            let is_stale = match self.reads_from.source(read) {
                From::Open => false,
                From::Initial => true,
                From::Write(source) => source != write && clocks.has(ops, source, write),
            };
            is_stale.then_some(Broken::Stale { side, read, write })
        });
        stale.map_or(Ok(clocks), |stale| Err(self.broken(stale)))
    }

    /// `cm`: hb_o is acyclic for the last read o of every thread.
    fn causal_memory(&self) -> Result<Established, Stop> {
        let ops = &self.problem.ops;
        let Side { base, scopes } = &self.problem.sides[0];
        let mut observer =
            Observer::new(ops, self.problem.history.address_count(), base, self.reads_from);
        let mut views: Vec<Vec<Op>> = vec![Vec::new(); ops.thread_count()];
        let mut derived = 0;
        for scope in 0..scopes.len() {
            self.spend()?;
            let reads = scopes.reads(scope);
            observer.run(reads, self.budget)?;
            if let Some(entry) = observer.before_initial() {
                return Err(self.broken(Broken::BeforeInitial { scope: scope as u32, entry }));
            }
            derived += observer.edges().count() as u64;
            match observer.order(reads) {
                Ok(order) => views[ops.thread(reads[0])] = order,
                Err(cycle) => {
                    return Err(self.broken(Broken::View { scope: scope as u32, cycle }));
                }
            }
        }
        // What no read of the thread comes after: its last writes.
        for (thread, view) in views.iter_mut().enumerate() {
            let trailing = ops.of_thread(thread).rev().take_while(|&op| ops.is_write(op)).count();
            let end = ops.of_thread(thread).count() - trailing;
            view.extend(ops.of_thread(thread).skip(end));
        }
        Ok(Established { views, derived, ..Established::default() })
    }

    /// `ccm`, `wccm`.
    fn convergent_memory(mut self) -> Result<Established, Stop> {
        self.refuse_own_later_writes()?;
        // po-loc first: happens-before over ppo takes for granted that no read takes a value its
        // own thread had overwritten.
        for side in (0..self.problem.sides.len()).rev() {
            let causality = self.causality(side)?;
            self.observe(side, &causality)?;
            drop(causality);
            let relation = self.happens_before_on(side);
            let order = self.order_of(&relation, |cycle| Broken::HappensBefore { side, cycle })?;
            let clocks = self.clocks_of(&relation, &order)?;
            self.add_conflicts(side, &clocks);
            if self.problem.sides.len() == 1 {
                self.happens_before = Some(clocks);
            }
        }
        if self.happens_before.is_none() {
            let relation = self.happens_before_together();
            let order = self.order_of(&relation, |cycle| Broken::Together { cycle })?;
            self.happens_before = Some(self.clocks_of(&relation, &order)?);
        }
        self.add_declared()?;
        self.close_store_order()?;
        self.add_overwritten();
        self.close_with_atomicity()?;
        let derived = self.derived();
        Ok(Established { store_order: self.store_order, derived, ..Established::default() })
    }

    fn derived(&self) -> u64 {
        let layers = [&self.conflicts, &self.overwritten, &self.atomic];
        layers.into_iter().chain(&self.observed).map(|layer| layer.len() as u64).sum()
    }

    /// Where reads of a thread's own writes are no edges, one from the future is no cycle.
    fn refuse_own_later_writes(&self) -> Result<(), Stop> {
        let ops = &self.problem.ops;
        for read in ops.all() {
            if let From::Write(write) = self.reads_from.source(read)
                && ops.program_order(read, write)
            {
                return Err(self.broken(Broken::FromTheFuture { read, write }));
            }
        }
        Ok(())
    }

    /// Rule (2) of happens-before, for every scope of a side.
    fn observe(&mut self, side: usize, causality: &Clocks) -> Result<(), Stop> {
        let ops = &self.problem.ops;
        let Side { base, scopes } = &self.problem.sides[side];
        let mut observer =
            Observer::new(ops, self.problem.history.address_count(), base, self.reads_from);
        for scope in 0..scopes.len() {
            if scope.is_multiple_of(64) {
                self.spend()?;
            }
            observer.run(scopes.reads(scope), self.budget)?;
            for (entry, from, to) in observer.edges() {
                if !causality.has(ops, from, to) {
                    let tag = Tag::Observed { side: side as u8, scope: scope as u32, entry };
                    self.observed[side].add(from, to, tag);
                }
            }
        }
        Ok(())
    }

    /// cf of a relation with these clocks: the last write of each chain before a read comes before
    /// what was read. A read of the initial write is left to rw.
    fn add_conflicts(&mut self, side: usize, clocks: &Clocks) {
        let ops = &self.problem.ops;
        let base = self.base(side);
        let conflicts = &mut self.conflicts;
        latest_writes(ops, self.reads_from, clocks, |read, write| {
            if let From::Write(source) = self.reads_from.source(read)
                && source != write
                && base.sees(ops, source, read)
                && !clocks.has(ops, write, source)
            {
                conflicts.add(write, source, Tag::Conflict { side: side as u8, read });
            }
            None::<()>
        });
    }

    /// What `order` and `final` lines say.
    fn add_declared(&mut self) -> Result<(), Stop> {
        let ops = &self.problem.ops;
        for chain in self.problem.history.orders() {
            for pair in chain.writes.windows(2) {
                match (pair[0], pair[1]) {
                    (Source::Initial, _) => {}
                    (Source::Write(a), Source::Write(b)) => {
                        let tag = Tag::Declared { final_line: None };
                        self.conflicts.add(ops.write_of(a), ops.write_of(b), tag);
                    }
                    (Source::Write(write), Source::Initial) => {
                        let write = ops.write_of(write);
                        let broken = Broken::DeclaredBeforeInitial { write, final_line: None };
                        return Err(self.broken(broken));
                    }
                }
            }
        }
        for (number, line) in self.problem.history.finals().iter().enumerate() {
            self.add_final(number as u32, line.address)?;
        }
        Ok(())
    }

    fn add_final(&mut self, number: u32, address: AddressId) -> Result<(), Stop> {
        let ops = &self.problem.ops;
        let source = self.reads_from.finals[number as usize];
        for chain in ops.chains_of(address) {
            let last = ops.write_at(ops.chain(chain).places().end - 1);
            match source {
                From::Write(end) if end != last => {
                    self.conflicts.add(last, end, Tag::Declared { final_line: Some(number) });
                }
                From::Initial => {
                    let broken =
                        Broken::DeclaredBeforeInitial { write: last, final_line: Some(number) };
                    return Err(self.broken(broken));
                }
                From::Write(_) | From::Open => {}
            }
        }
        Ok(())
    }

    fn close_store_order(&mut self) -> Result<(), Stop> {
        self.spend()?;
        let ops = &self.problem.ops;
        let Some(pairs) = self.store_pairs() else { return Ok(()) };
        let closure = match StoreOrder::closure(&pairs, self.budget)? {
            Ok(closure) => closure,
            Err(cycle) => return Err(self.broken(Broken::StoreOrder { cycle })),
        };
        if self.problem.rules.relaxed {
            for place in 0..ops.write_count() {
                let write = ops.write_at(place);
                for earlier in closure.nearest_before(ops, write) {
                    if ops.thread(earlier) != ops.thread(write) {
                        self.stored.add(earlier, write, Tag::StoreOrder);
                    }
                }
            }
        }
        self.store_order = Some(closure);
        Ok(())
    }

    /// rw[pww]: of the readers of a write, the last of each thread come before what overwrites it.
    fn add_overwritten(&mut self) {
        let ops = &self.problem.ops;
        let Some(store_order) = &self.store_order else { return };
        // Sources by place; the initial writes after all others.
        let mut readers: Vec<(usize, Op)> = (ops.all())
            .filter_map(|read| match self.reads_from.source(read) {
                From::Open => None,
                From::Initial => Some((ops.write_count() + ops.address(read).index(), read)),
                From::Write(write) => Some((ops.place_of(write), read)),
            })
            .collect();
        readers.sort_unstable();
        for readers in readers.chunk_by(|a, b| a.0 == b.0) {
            let (source, read) = readers[0];
            let overwriting = if source < ops.write_count() {
                store_order.nearest_after(ops, ops.write_at(source))
            } else {
                store_order.first_of(ops, ops.address(read))
            };
            for (i, &(_, read)) in readers.iter().enumerate() {
                let next = readers.get(i + 1).map(|next| ops.thread(next.1));
                if next == Some(ops.thread(read)) {
                    continue;
                }
                for &write in overwriting.iter().filter(|&&w| !ops.program_order(read, w)) {
                    self.overwritten.add(read, write, Tag::Overwritten);
                }
            }
        }
    }

    /// Whether the whole relation is acyclic with what atomicity adds, round by round; an order
    /// that extends it.
    fn close_with_atomicity(&mut self) -> Result<Vec<Op>, Stop> {
        let sides = self.problem.sides.len();
        let ops = &self.problem.ops;
        let mut round = 0;
        loop {
            round += 1;
            let mut orders = Vec::with_capacity(sides);
            for side in 0..sides {
                let relation = self.whole(side);
                orders.push(self.order_of(&relation, |cycle| Broken::Whole { side, cycle })?);
            }
            if self.blocks.is_none() {
                match Blocks::new(ops, self.reads_from) {
                    Ok(blocks) => self.blocks = Some(blocks),
                    Err(Rivals(a, b)) => return Err(self.broken(Broken::Rivals(a, b))),
                }
            }
            let edges = match &self.blocks {
                Some(blocks) if !blocks.is_empty() => {
                    let mut clocks = Vec::with_capacity(sides);
                    for (side, order) in orders.iter().enumerate() {
                        clocks.push(self.clocks_of(&self.whole(side), order)?);
                    }
                    blocks.edges(ops, &clocks, round)
                }
                _ => Vec::new(),
            };
            if edges.is_empty() {
                return Ok(orders.swap_remove(0));
            }
            for edge in edges {
                let tag = Tag::Atomic { edge: self.atomic_edges.len() as u32 };
                self.atomic_edges.push(edge);
                self.atomic.add(edge.from, edge.to, tag);
            }
        }
    }
}
