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
//! | ccm, wccm | the same, and a factor of k for writes whose place in pww cf decides |
//!
//! Read-modify-writes add a sweep, O(n + edges), for each round of [`Blocks::edges`], and O(k) for
//! each operation that the round changes.

use history::{AddressId, History, Source};
use models::CausalRules;

use super::atomic::{AtomicEdge, Blocks};
use super::clocks::Clocks;
use super::explain::{Broken, Lemma, explain};
use super::frontier::Frontier;
use super::observe::Observer;
use super::operations::{From, Op, Operations, ReadsFrom};
use super::pairs::WritePairs;
use super::program_order::{Base, ProgramOrderPart, Scopes};
use super::readers::Readers;
use super::relation::{Edges, Relation, Tag};
use super::store_order::{StoreOrder, StorePairs};
use super::view::{CausalOrder, Cyclic, Viewer};
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
        let kept: &[ProgramOrderPart] = if rules.relaxed {
            &[ProgramOrderPart::Preserved, ProgramOrderPart::Location]
        } else {
            &[ProgramOrderPart::Program]
        };
        let side = |&kept: &ProgramOrderPart| Side {
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
    /// `ccv`, `ccm` and `wccm`: all operations in an order that extends everything that was derived, on
    /// each side.
    pub(super) orders: Vec<Vec<Op>>,
    /// The pairs of writes that atomicity added.
    pub(super) atomicity: Vec<(Op, Op)>,
    /// `cm`: what each thread heard of, in an order that explains its reads.
    pub(super) views: Vec<Vec<Op>>,
    /// How many pairs of writes are ordered: by the whole relation for `ccv`, where that is cheap
    /// to know, and by the partial store order for `ccm` and `wccm`.
    pub(super) pairs: Option<WritePairs>,
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
    /// Whether pww is known.
    pub(super) has_store_order: bool,
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
    Check::new(problem, reads_from, budget).run()
}

impl<'a> Check<'a> {
    /// Nothing is built yet.
    pub(super) fn new(
        problem: &'a Problem<'a>,
        reads_from: &'a ReadsFrom,
        budget: &'a Budget,
    ) -> Self {
        Check {
            problem,
            reads_from,
            budget,
            observed: problem.sides.iter().map(|_| Edges::default()).collect(),
            conflicts: Edges::default(),
            has_store_order: false,
            stored: Edges::default(),
            overwritten: Edges::default(),
            blocks: None,
            atomic_edges: Vec::new(),
            atomic: Edges::default(),
        }
    }

    fn run(mut self) -> Result<Established, Stop> {
        let rules = self.problem.rules;
        if rules.store_order {
            return self.convergent_memory();
        }
        if rules.memory {
            return self.causal_memory();
        }
        let clocks = self.causality(0)?;
        self.look_for_stale_reads(0, &clocks)?;
        if !rules.convergent {
            return Ok(Established::default());
        }
        drop(clocks);
        self.add_declared()?;
        let (orders, pairs) = self.close_with_atomicity()?;
        let (derived, atomicity) = (self.derived(), self.added());
        Ok(Established { orders, atomicity, pairs, derived, ..Established::default() })
    }

    pub(super) fn base(&self, side: usize) -> &'a Base {
        &self.problem.sides[side].base
    }

    fn relation<'r>(&'r self, side: usize, mut layers: Vec<&'r Edges>) -> Relation<'r> {
        layers.retain(|layer| layer.len() > 0);
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
        if self.base(side).kept == ProgramOrderPart::Location {
            layers.push(&self.stored);
        } else {
            layers.push(&self.conflicts);
            layers.extend(&self.observed);
        }
        self.relation(side, layers)
    }

    /// The pairs whose closure is pww, given the clocks of happens-before.
    pub(super) fn store_pairs<'p>(&'p self, happens_before: &'p Clocks) -> StorePairs<'p> {
        StorePairs { ops: &self.problem.ops, happens_before, further: &self.conflicts }
    }

    pub(super) fn broken(&self, broken: Broken) -> Stop {
        match explain(self, broken) {
            Ok(lemma) => Stop::Broken(Box::new(lemma)),
            Err(reason) => Stop::Spent(reason),
        }
    }

    pub(super) fn spend(&self) -> Result<(), Stop> {
        if self.budget.is_spent() { Err(Stop::Spent(Reason::Time)) } else { Ok(()) }
    }

    pub(super) fn order_of(
        &self,
        relation: &Relation<'_>,
        broken: impl FnOnce(Vec<Op>) -> Broken,
    ) -> Result<Vec<Op>, Stop> {
        self.spend()?;
        let mut order = Vec::with_capacity(self.problem.ops.len());
        match relation.sweep(|op| order.push(op)) {
            Ok(()) => Ok(order),
            Err(cycle) => Err(self.broken(broken(cycle))),
        }
    }

    /// The clocks of a relation that must be acyclic; calls `visit` in an order that extends it.
    fn clocks_of(
        &self,
        relation: &Relation<'_>,
        broken: impl FnOnce(Vec<Op>) -> Broken,
        visit: impl FnMut(Op),
    ) -> Result<Clocks, Stop> {
        self.spend()?;
        Clocks::over(relation, self.budget, visit)?.map_err(|cycle| self.broken(broken(cycle)))
    }

    /// co, which must be acyclic.
    fn causality(&self, side: usize) -> Result<Clocks, Stop> {
        self.clocks_of(&self.causal(side), |cycle| Broken::Causality { side, cycle }, |_| ())
    }

    /// `cc`: no read has a write in its past that overwrote what it read. What else a read has in
    /// its past and what was read has not is a conflict for `ccv`.
    fn look_for_stale_reads(&mut self, side: usize, clocks: &Clocks) -> Result<(), Stop> {
        let ops = &self.problem.ops;
        let rules = self.problem.rules;
        let adds_conflicts = rules.convergent && !rules.store_order;
        let conflicts = &mut self.conflicts;
        let mut stale = None;
        let mut frontier = Frontier::new(ops, self.reads_from);
        for thread in 0..ops.thread_count() {
            frontier.restart();
            for read in ops.of_thread(thread).filter(|&op| !ops.is_write(op)) {
                frontier.advance(clocks, read, |write| match self.reads_from.source(read) {
                    From::Write(source) if !clocks.has(ops, source, write) => {
                        if adds_conflicts {
                            let tag = Tag::Conflict { side: side as u8, read };
                            conflicts.add(ops, write, source, tag);
                        }
                    }
                    _ => stale = stale.or(Some((read, write))),
                });
                if let Some((read, write)) = stale {
                    return Err(self.broken(Broken::Stale { side, read, write }));
                }
            }
        }
        Ok(())
    }

    /// `cm`: hb_o is acyclic for the last read o of every thread.
    fn causal_memory(&mut self) -> Result<Established, Stop> {
        let ops = &self.problem.ops;
        let Side { base, scopes } = &self.problem.sides[0];
        let mut order = CausalOrder::new(ops);
        let visit = |op| {
            if ops.is_write(op) {
                order.push(ops, op);
            }
        };
        let broken = |cycle| Broken::Causality { side: 0, cycle };
        let clocks = self.clocks_of(&self.causal(0), broken, visit)?;
        self.look_for_stale_reads(0, &clocks)?;
        let mut observer = Observer::new(ops, base, self.reads_from, &clocks);
        let mut viewer = Viewer::new(ops, &clocks, &order);
        let mut views: Vec<Vec<Op>> = vec![Vec::new(); ops.thread_count()];
        let mut derived = 0;
        for scope in 0..scopes.len() {
            self.spend()?;
            let reads = scopes.reads(scope);
            observer.run(reads, self.budget)?;
            derived += observer.len() as u64;
            let number = scope as u32;
            if let Some(entry) = observer.before_initial() {
                return Err(self.broken(Broken::BeforeInitial { scope: number, entry }));
            }
            match viewer.view(&observer, reads) {
                Ok(view) => views[ops.thread(reads[0])] = view,
                Err(Cyclic) => {
                    let cycle = observer.cycle(reads).unwrap_or_default();
                    return Err(self.broken(Broken::View { side: 0, scope: number, cycle }));
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
        let store_order = self.partial_store_order()?;
        let pairs = Some(store_order.pairs(&self.problem.ops));
        self.add_overwritten(&store_order);
        drop(store_order);
        let (orders, _) = self.close_with_atomicity()?;
        let (derived, atomicity) = (self.derived(), self.added());
        Ok(Established { orders, atomicity, pairs, derived, ..Established::default() })
    }

    /// pww, or wpww for `wccm`.
    pub(super) fn partial_store_order(&mut self) -> Result<StoreOrder, Stop> {
        self.refuse_own_later_writes()?;
        let mut happens_before = None;
        // po-loc first: happens-before over ppo takes for granted that no read takes a value its
        // own thread had overwritten.
        for side in (0..self.problem.sides.len()).rev() {
            let causality = self.causality(side)?;
            if self.base(side).kept != ProgramOrderPart::Preserved {
                self.look_for_stale_reads(side, &causality)?;
            }
            self.observe(side, &causality)?;
            drop(causality);
            let relation = self.happens_before_on(side);
            let broken = |cycle| Broken::HappensBefore { side, cycle };
            let clocks = self.clocks_of(&relation, broken, |_| ())?;
            self.add_conflicts(side, &clocks);
            happens_before = (self.problem.sides.len() == 1).then_some(clocks);
        }
        let happens_before = match happens_before {
            Some(clocks) => clocks,
            None => {
                let broken = |cycle| Broken::Together { cycle };
                self.clocks_of(&self.happens_before_together(), broken, |_| ())?
            }
        };
        self.add_declared()?;
        self.spend()?;
        let closure = StoreOrder::closure(&self.store_pairs(&happens_before), self.budget)?;
        self.has_store_order = closure.is_ok();
        closure.map_err(|cycle| self.broken(Broken::StoreOrder { cycle }))
    }

    /// The pairs that atomicity added.
    fn added(&self) -> Vec<(Op, Op)> {
        self.atomic_edges.iter().map(|edge| (edge.from, edge.to)).collect()
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
        let mut observer = Observer::new(ops, base, self.reads_from, causality);
        for scope in 0..scopes.len() {
            if scope.is_multiple_of(64) {
                self.spend()?;
            }
            observer.run(scopes.reads(scope), self.budget)?;
            if observer.is_cyclic() {
                let cycle = observer.cycle(scopes.reads(scope)).unwrap_or_default();
                return Err(self.broken(Broken::View { side, scope: scope as u32, cycle }));
            }
            for (entry, from, to) in observer.edges() {
                let tag = Tag::Observed { side: side as u8, scope: scope as u32, entry };
                self.observed[side].add(ops, from, to, tag);
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
        let mut frontier = Frontier::new(ops, self.reads_from);
        for thread in 0..ops.thread_count() {
            frontier.restart();
            for read in ops.of_thread(thread).filter(|&op| !ops.is_write(op)) {
                let source = self.reads_from.write(read);
                if source.is_some() && base.sees(ops, source, read) {
                    frontier.advance(clocks, read, |write| {
                        conflicts.add(ops, write, source, Tag::Conflict { side: side as u8, read });
                    });
                }
            }
        }
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
                        self.conflicts.add(ops, ops.write_of(a), ops.write_of(b), tag);
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
                    self.conflicts.add(ops, last, end, Tag::Declared { final_line: Some(number) });
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

    /// rw[pww]: of the readers of a write, the last of each thread come before what overwrites it.
    /// For the relation over po-loc, pww itself.
    fn add_overwritten(&mut self, store_order: &StoreOrder) {
        let ops = &self.problem.ops;
        let readers = Readers::new(ops, self.reads_from);
        let (stored, overwritten) = (&mut self.stored, &mut self.overwritten);
        store_order.neighbours(ops, |before, place| {
            let write = ops.write_at(place);
            if let Some(before) = before
                && self.problem.rules.relaxed
                && ops.thread(ops.write_at(before)) != ops.thread(write)
            {
                stored.add(ops, ops.write_at(before), write, Tag::StoreOrder);
            }
            let readers = match before {
                Some(before) => readers.of(before),
                None => readers.of_initial(ops, ops.address(write)),
            };
            for &read in readers.iter().filter(|&&read| !ops.program_order(read, write)) {
                overwritten.add(ops, read, write, Tag::Overwritten);
            }
        });
    }
}
