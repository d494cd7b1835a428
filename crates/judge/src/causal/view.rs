//! The view of a thread under causal memory: what it heard of, in an order that explains its reads.
//!
//! The numbers of the fixpoint put every write into a layer, before the first read it comes before.
//! Within a layer an order of causality will do, unless a write is attached to one that causality
//! happens to put before it; then the layer is sorted by itself. A cycle of happens-before lies in
//! one layer, or it passes a read of the thread, which the fixpoint notices. O(writes + attachments) a thread, and O(threads) for each write of a layer that
//! has to be sorted.

use super::clocks::Clocks;
use super::observe::{NEVER, Observer};
use super::operations::{Op, Operations};

/// All writes in an order of causality, and where each stands in it.
pub(super) struct CausalOrder {
    writes: Vec<Op>,
    /// By the number of the write.
    positions: Vec<u32>,
}

impl CausalOrder {
    pub(super) fn new(ops: &Operations) -> Self {
        let writes = Vec::with_capacity(ops.write_count());
        CausalOrder { writes, positions: vec![0; ops.write_count()] }
    }

    /// The next write of the order.
    pub(super) fn push(&mut self, ops: &Operations, write: Op) {
        self.positions[ops.number_of(write)] = self.writes.len() as u32;
        self.writes.push(write);
    }
}

/// Happens-before of the scope has a cycle.
pub(super) struct Cyclic;

/// Views of one thread after the other; tables are kept.
pub(super) struct Viewer<'a> {
    ops: &'a Operations,
    causality: &'a Clocks,
    order: &'a CausalOrder,
    /// Where each layer starts.
    starts: Vec<u32>,
    /// Where a write is while its layer is sorted, by number.
    states: Vec<State>,
    stack: Vec<(Op, bool)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Open,
    Done,
}

impl<'a> Viewer<'a> {
    pub(super) fn new(ops: &'a Operations, causality: &'a Clocks, order: &'a CausalOrder) -> Self {
        let states = vec![State::New; ops.write_count()];
        Viewer { ops, causality, order, starts: Vec::new(), states, stack: Vec::new() }
    }

    /// What comes before the reads of a scope, layer by layer, each with its read at the end.
    pub(super) fn view(
        &mut self,
        observer: &Observer<'_>,
        reads: &[Op],
    ) -> Result<Vec<Op>, Cyclic> {
        if observer.is_cyclic() {
            return Err(Cyclic);
        }
        let mut view = self.layers(observer, reads);
        for layer in self.unsorted(observer) {
            let range =
                self.starts[layer as usize] as usize..self.starts[layer as usize + 1] as usize - 1;
            let sorted = self.sorted(observer, layer, &view[range.clone()])?;
            view[range].copy_from_slice(&sorted);
        }
        Ok(view)
    }

    fn layers(&mut self, observer: &Observer<'_>, reads: &[Op]) -> Vec<Op> {
        self.starts.clear();
        self.starts.resize(reads.len() + 1, 1);
        for &first in observer.first.iter().filter(|&&first| first != NEVER) {
            self.starts[first as usize] += 1;
        }
        let mut end = 0;
        for start in &mut self.starts {
            let size = std::mem::replace(start, end);
            end += size;
        }
        let mut view = vec![Op::NONE; self.starts[reads.len()] as usize];
        let mut next = self.starts.clone();
        for &write in &self.order.writes {
            let first = observer.first[self.ops.number_of(write)];
            if let Some(next) = next.get_mut(first as usize) {
                view[*next as usize] = write;
                *next += 1;
            }
        }
        for (&read, &end) in reads.iter().zip(&next) {
            view[end as usize] = read;
        }
        view
    }

    /// The layers in which a write is attached to one before it.
    fn unsorted(&self, observer: &Observer<'_>) -> Vec<u32> {
        let mut layers: Vec<u32> = (observer.edges())
            .filter_map(|(_, write, source)| {
                let [a, b] = [write, source].map(|write| self.ops.number_of(write));
                let [before, after] = [a, b].map(|number| self.order.positions[number]);
                let layer = observer.first[a];
                (layer == observer.first[b] && before > after).then_some(layer)
            })
            .collect();
        layers.sort_unstable();
        layers.dedup();
        layers
    }

    /// The writes of a layer in an order that extends happens-before.
    fn sorted(
        &mut self,
        observer: &Observer<'_>,
        layer: u32,
        writes: &[Op],
    ) -> Result<Vec<Op>, Cyclic> {
        let mut sorted = Vec::with_capacity(writes.len());
        for &write in writes {
            self.states[self.ops.number_of(write)] = State::New;
        }
        for &root in writes {
            self.stack.push((root, false));
            while let Some((write, leave)) = self.stack.pop() {
                let state = &mut self.states[self.ops.number_of(write)];
                if leave {
                    *state = State::Done;
                    sorted.push(write);
                    continue;
                }
                match *state {
                    State::Done => continue,
                    State::Open => {
                        self.stack.clear();
                        return Err(Cyclic);
                    }
                    State::New => *state = State::Open,
                }
                self.stack.push((write, true));
                self.push_before(observer, layer, write);
            }
        }
        Ok(sorted)
    }

    /// The writes of the layer that come right before a write.
    fn push_before(&mut self, observer: &Observer<'_>, layer: u32, write: Op) {
        let ops = self.ops;
        let known = self.causality.view(ops, write);
        for thread in 0..ops.thread_count() {
            let itself = usize::from(thread == ops.thread(write));
            let numbers = ops.numbers_of(thread);
            let end = numbers.start + known.count(thread) as usize - itself;
            if end > numbers.start && observer.first[end - 1] == layer {
                self.push(ops.write_numbered(end - 1));
            }
        }
        let first = |write: Op| observer.first[ops.number_of(write)];
        observer.attached_to(write, |before, _| {
            if first(before) == layer {
                self.push(before);
            }
        });
    }

    fn push(&mut self, write: Op) {
        if self.states[self.ops.number_of(write)] != State::Done {
            self.stack.push((write, false));
        }
    }
}
