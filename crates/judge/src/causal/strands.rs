//! The writes that a scope of happens-before may hear of, strand by strand, each strand in order.
//!
//! Where a scope is a thread, all writes, and a strand is a thread. Under po-loc causality stays
//! with one address: its writes, and a strand is a chain. A *slot* is the place of a write in a
//! table over all writes in which strands are ranges.

use std::ops::Range;

use history::AddressId;

use super::operations::{Op, Operations};
use super::program_order::ProgramOrderPart;

/// The strands of a scope.
#[derive(Debug)]
pub(super) struct Strands<'a> {
    ops: &'a Operations,
    /// Whether a strand is a chain.
    is_local: bool,
    all: Range<usize>,
}

impl<'a> Strands<'a> {
    pub(super) fn new(ops: &'a Operations, kept: ProgramOrderPart) -> Self {
        Strands { ops, is_local: kept == ProgramOrderPart::Location, all: 0..ops.thread_count() }
    }

    /// Turns to a scope of this address, if that matters.
    pub(super) fn look_at(&mut self, address: AddressId) {
        if self.is_local {
            self.all = self.ops.chains_of(address);
        }
    }

    pub(super) fn all(&self) -> Range<usize> {
        self.all.clone()
    }

    pub(super) fn thread(&self, strand: usize) -> usize {
        if self.is_local { self.ops.chain(strand).thread } else { strand }
    }

    pub(super) fn slots(&self, strand: usize) -> Range<usize> {
        if self.is_local { self.ops.chain(strand).places() } else { self.ops.numbers_of(strand) }
    }

    /// The slot after the last write of a strand among the first `count` writes of its thread,
    /// which is not before `start`.
    pub(super) fn end(&self, strand: usize, count: u32, start: usize) -> usize {
        if self.is_local {
            self.ops.end_of_prefix(strand, count).max(start)
        } else {
            (self.ops.numbers_of(strand).start + count as usize).max(start)
        }
    }

    pub(super) fn slot(&self, write: Op) -> usize {
        if self.is_local { self.ops.place_of(write) } else { self.ops.number_of(write) }
    }

    pub(super) fn write(&self, slot: usize) -> Op {
        if self.is_local { self.ops.write_at(slot) } else { self.ops.write_numbered(slot) }
    }
}
