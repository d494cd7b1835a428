//! Which candidates a reader can still have, going by the causality of the choices made so far.
//!
//! A write that comes after the read, or that a write in the past of the read has overwritten,
//! violates every model that keeps program order, and nearly always `wccm` as well. This is advice
//! to the search, not a deduction: it may be out of date, and nothing rests on it.

use super::check::Problem;
use super::clocks::Clocks;
use super::operations::{From, Op, Operations, ReadsFrom};
use super::program_order::{Base, ProgramOrderPart};
use super::relation::Relation;
use crate::Budget;

/// Causality as it was not long ago.
#[derive(Debug)]
pub(super) struct CandidateFilter {
    base: Base,
    clocks: Option<Clocks>,
    /// How many choices were made since.
    age: usize,
    /// How old it may get.
    lasts: usize,
}

/// Work that is done for one decision without a second thought, in entries of clocks.
const CHEAP: usize = 1 << 16;

impl CandidateFilter {
    pub(super) fn new(problem: &Problem<'_>) -> Self {
        let ops = &problem.ops;
        let lasts = ops.len().saturating_mul(ops.thread_count()) / CHEAP;
        let base = Base::new(problem.history, ops, ProgramOrderPart::Program);
        CandidateFilter { base, clocks: None, age: lasts, lasts }
    }

    /// Brings it up to date, if it is old enough to be worth it.
    pub(super) fn refresh(&mut self, ops: &Operations, reads_from: &ReadsFrom, budget: &Budget) {
        self.age += 1;
        if self.age <= self.lasts {
            return;
        }
        self.age = 0;
        let relation = Relation { ops, base: &self.base, reads_from, layers: Vec::new() };
        self.clocks = Clocks::over(&relation, budget, |_| ()).ok().and_then(Result::ok);
    }

    /// Whether nothing speaks against this source.
    pub(super) fn allows(&self, ops: &Operations, read: Op, source: From) -> bool {
        let Some(clocks) = &self.clocks else { return true };
        let row = clocks.view(ops, read);
        let mut past = (ops.chains_of(ops.address(read)))
            .filter_map(|chain| ops.last_of_prefix(chain, row.count(ops.chain(chain).thread)));
        match source {
            From::Open => true,
            From::Initial => past.next().is_none(),
            From::Write(write) => {
                let comes_after = clocks.count(ops, write, ops.thread(read)) > ops.rank(read);
                let is_stale = |other: Op| other != write && clocks.has(ops, write, other);
                !comes_after && !ops.program_order(read, write) && !past.any(is_stale)
            }
        }
    }
}
