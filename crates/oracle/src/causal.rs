//! The causal models by definition (Zennou, Bouajjani, Enea, Erradi: Gradual Consistency Checking,
//! CAV 2019, sections 3 and 4), extended by atomics, fences, `order` and `final` lines.
//!
//! Every relation of the paper is computed as a matrix, by the least fixpoint that defines it, for
//! every choice of reads-from, and happens-before for every operation. A read-modify-write is two
//! operations: its read, then its write. Names follow the paper: `co` causality, `cf` conflict,
//! `hb` happens-before, `pww` partial store order, `rw` from-reads.

use history::{AddressId, EventId, History, Kinds, Source};
use models::Model;

use crate::combinations::combinations;
use crate::relation::Relation;
use crate::store::fence_between;

/// One read or one write: an event, a half of a read-modify-write, or an initial write.
struct Operation {
    address: AddressId,
    is_write: bool,
    /// The event it is of; `None` for an initial write.
    event: Option<EventId>,
}

/// A history as the paper has it: operations, program order, and who read from whom; and what our
/// traces say besides.
struct Computation<'h> {
    history: &'h History,
    operations: Vec<Operation>,
    /// Initial writes come before everything else.
    program_order: Relation,
    /// Pairs (read, the write it read from).
    reads: Vec<(usize, usize)>,
    /// Pairs of writes that `order` and `final` lines order.
    observed: Relation,
}

/// Whether the history satisfies the causal model: whether some choice of reads-from does.
pub(crate) fn allows(history: &History, model: Model) -> bool {
    let readers: Vec<EventId> =
        history.event_ids().filter(|&e| history.event(e).is_read()).collect();
    let counts: Vec<usize> = readers
        .iter()
        .map(|&r| history.sources(r).len())
        .chain(history.finals().iter().map(|f| f.sources.len()))
        .collect();
    combinations(&counts).any(|choice| {
        let (of_reads, of_finals) = choice.split_at(readers.len());
        let reads: Vec<(EventId, Source)> =
            readers.iter().zip(of_reads).map(|(&r, &c)| (r, history.sources(r)[c])).collect();
        let finals: Vec<Source> =
            history.finals().iter().zip(of_finals).map(|(f, &c)| f.sources[c]).collect();
        let computation = Computation::new(history, &reads, &finals);
        match model {
            Model::Cc => computation.is_causally_consistent(),
            Model::Ccv => computation.is_causally_convergent(),
            Model::Cm => computation.is_causal_memory(),
            Model::Ccm => computation.is_convergent_causal_memory(),
            Model::Wccm => computation.is_weak_convergent_causal_memory(),
            _ => unreachable!("{model} is a store model"),
        }
    })
}

impl<'h> Computation<'h> {
    fn new(history: &'h History, reads: &[(EventId, Source)], finals: &[Source]) -> Self {
        let operations = operations(history);
        let program_order = Relation::of(operations.len(), |a, b| {
            match (operations[a].event, operations[b].event) {
                (None, Some(_)) => true,
                (Some(e), Some(f)) => a < b && history.event(e).thread == history.event(f).thread,
                (_, None) => false,
            }
        });
        let mut computation = Computation {
            history,
            observed: Relation::empty(operations.len()),
            operations,
            program_order,
            reads: Vec::new(),
        };
        for &(read, source) in reads {
            let address = history.event(read).address().expect("a reader has an address");
            let write = computation.write(address, source);
            computation.reads.push((computation.read(read), write));
        }
        computation.observe_orders();
        computation.observe_finals(finals);
        computation
    }

    /// The write operation of a source.
    fn write(&self, address: AddressId, source: Source) -> usize {
        let event = match source {
            Source::Initial => None,
            Source::Write(event) => Some(event),
        };
        self.operations
            .iter()
            .position(|o| o.is_write && o.event == event && o.address == address)
            .expect("a source is a write of the address")
    }

    /// The read operation of an event.
    fn read(&self, event: EventId) -> usize {
        self.operations
            .iter()
            .position(|o| !o.is_write && o.event == Some(event))
            .expect("a reader has a read operation")
    }

    fn observe_orders(&mut self) {
        for chain in self.history.orders() {
            for pair in chain.writes.windows(2) {
                let (earlier, later) =
                    (self.write(chain.address, pair[0]), self.write(chain.address, pair[1]));
                self.observed.add(earlier, later);
            }
        }
    }

    /// Every other write of the address comes before the one that a `final` line saw.
    fn observe_finals(&mut self, finals: &[Source]) {
        for (line, &source) in self.history.finals().iter().zip(finals) {
            let last = self.write(line.address, source);
            for write in 0..self.operations.len() {
                if write != last && self.are_writes_of_one_address(write, last) {
                    self.observed.add(write, last);
                }
            }
        }
    }

    fn size(&self) -> usize {
        self.operations.len()
    }

    fn is_same_address(&self, a: usize, b: usize) -> bool {
        self.operations[a].address == self.operations[b].address
    }

    fn are_writes_of_one_address(&self, a: usize, b: usize) -> bool {
        self.operations[a].is_write && self.operations[b].is_write && self.is_same_address(a, b)
    }

    /// wr: from each write to its readers.
    fn reads_from(&self) -> Relation {
        let mut relation = Relation::empty(self.size());
        for &(read, write) in &self.reads {
            relation.add(write, read);
        }
        relation
    }

    /// co = (po ∪ wr)⁺.
    fn causality(&self) -> Relation {
        self.program_order.or(&self.reads_from()).closure()
    }

    /// CC: co is acyclic, and no read has a write in its causal past that causally overwrites what
    /// it read.
    fn is_causally_consistent(&self) -> bool {
        let co = self.causality();
        co.is_acyclic()
            && self.reads.iter().all(|&(read, write)| {
                !(0..self.size()).any(|other| {
                    other != write
                        && self.are_writes_of_one_address(write, other)
                        && co.has(write, other)
                        && co.has(other, read)
                })
            })
    }

    /// CCv: CC, and po ∪ wr ∪ cf is acyclic.
    fn is_causally_convergent(&self) -> bool {
        let cf = self.conflict(&self.causality(), &self.reads);
        let base = self.program_order.or(&self.reads_from()).or(&cf).or(&self.observed);
        self.is_causally_consistent() && self.all_acyclic_with_atomicity([base])
    }

    /// CM: CC, and every hb_o is acyclic.
    fn is_causal_memory(&self) -> bool {
        let co = self.causality();
        self.is_causally_consistent()
            && (0..self.size())
                .all(|o| self.happens_before(o, &co, &self.program_order).is_acyclic())
    }

    /// CCM: po ∪ wr ∪ pww ∪ rw[pww] is acyclic.
    fn is_convergent_causal_memory(&self) -> bool {
        let hb = self.all_happens_before(&self.causality(), &self.program_order);
        let pww = hb
            .only(|a, b| self.are_writes_of_one_address(a, b))
            .or(&self.conflict(&hb, &self.reads))
            .or(&self.observed)
            .closure();
        let base =
            self.program_order.or(&self.reads_from()).or(&pww).or(&self.read_before_writes(&pww));
        self.all_acyclic_with_atomicity([base])
    }

    /// wCCM: as CCM, over what TSO keeps of program order, and with the two graphs of TSO.
    fn is_weak_convergent_causal_memory(&self) -> bool {
        if self.reads.iter().any(|&(read, write)| self.program_order.has(read, write)) {
            return false;
        }
        let external: Vec<(usize, usize)> = self
            .reads
            .iter()
            .copied()
            .filter(|&(read, write)| !self.program_order.has(write, read))
            .collect();
        let mut wre = Relation::empty(self.size());
        for &(read, write) in &external {
            wre.add(write, read);
        }
        let orders = [self.preserved_program_order(), self.location_order()];
        let hbs = orders.map(|pi| self.all_happens_before(&pi.or(&wre).closure(), &pi));
        let whb = hbs[0].or(&hbs[1]).closure();
        let wpww = whb
            .only(|a, b| self.are_writes_of_one_address(a, b))
            .or(&self.conflict(&hbs[0], &external))
            .or(&self.conflict(&hbs[1], &external))
            .or(&self.observed)
            .closure();
        let rw = self.read_before_writes(&wpww);
        self.all_acyclic_with_atomicity(orders.map(|pi| pi.or(&wre).or(&wpww).or(&rw)))
    }

    /// ppo ∪ fences: program order without writes before reads, unless a fence orders them.
    fn preserved_program_order(&self) -> Relation {
        let kinds = |o: usize| match self.operations[o].is_write {
            true => Kinds::WRITES,
            false => Kinds::READS,
        };
        self.program_order.only(|a, b| {
            let fenced = match (self.operations[a].event, self.operations[b].event) {
                (Some(e), Some(f)) => {
                    fence_between(self.history, e.index(), kinds(a), f.index(), kinds(b))
                }
                _ => false,
            };
            fenced || !self.operations[a].is_write || self.operations[b].is_write
        })
    }

    /// po-loc.
    fn location_order(&self) -> Relation {
        self.program_order.only(|a, b| self.is_same_address(a, b))
    }

    /// cf[R]: (w1, w2) if w1 R r for a read r of w2, on one address. For cfe[R], only some reads.
    fn conflict(&self, relation: &Relation, reads: &[(usize, usize)]) -> Relation {
        let mut conflict = Relation::empty(self.size());
        for &(read, write) in reads {
            for other in 0..self.size() {
                if other != write
                    && self.are_writes_of_one_address(other, write)
                    && relation.has(other, read)
                {
                    conflict.add(other, write);
                }
            }
        }
        conflict
    }

    /// rw[R]: (r, w') if r read w and (w, w') ∈ R.
    fn read_before_writes(&self, relation: &Relation) -> Relation {
        let mut rw = Relation::empty(self.size());
        for &(read, write) in &self.reads {
            for other in 0..self.size() {
                if self.are_writes_of_one_address(write, other) && relation.has(write, other) {
                    rw.add(read, other);
                }
            }
        }
        rw
    }

    /// hb_o, the smallest transitive relation that (1) has co among what is causally before o, and
    /// (2) has w1 before w2 if it has w1 before a read of w2 by the thread of o, up to o.
    fn happens_before(&self, o: usize, co: &Relation, order: &Relation) -> Relation {
        let own_reads: Vec<(usize, usize)> = self
            .reads
            .iter()
            .copied()
            .filter(|&(read, _)| read == o || order.has(read, o))
            .collect();
        let mut hb = co.only(|a, b| co.has(a, o) && (b == o || co.has(b, o))).closure();
        loop {
            let grown = hb.or(&self.conflict(&hb, &own_reads)).closure();
            if grown == hb {
                return hb;
            }
            hb = grown;
        }
    }

    /// hb = (⋃ hb_o)⁺ over every operation o.
    fn all_happens_before(&self, co: &Relation, order: &Relation) -> Relation {
        (0..self.size())
            .map(|o| self.happens_before(o, co, order))
            .fold(Relation::empty(self.size()), |all, hb| all.or(&hb))
            .closure()
    }

    /// Whether the relations are acyclic together with what atomicity adds: nothing comes between
    /// a read-modify-write and the write it read. What lies on a path in one of the relations is
    /// added to all.
    fn all_acyclic_with_atomicity<const N: usize>(&self, mut relations: [Relation; N]) -> bool {
        loop {
            let mut added = Relation::empty(self.size());
            for relation in &relations {
                added = added.or(&self.atomicity(&relation.closure()));
            }
            let grown = relations.map(|relation| relation.or(&added));
            if grown == relations {
                return relations.iter().all(Relation::is_acyclic);
            }
            relations = grown;
        }
    }

    /// For a read-modify-write u that read w, and another write v: u before v if w comes before v,
    /// v before w if v comes before u.
    fn atomicity(&self, paths: &Relation) -> Relation {
        let mut atomicity = Relation::empty(self.size());
        for &(read, source) in &self.reads {
            let Some(update) = self.update_of(read) else { continue };
            for other in 0..self.size() {
                if other == source
                    || other == update
                    || !self.are_writes_of_one_address(other, update)
                {
                    continue;
                }
                if paths.has(source, other) {
                    atomicity.add(update, other);
                }
                if paths.has(other, update) {
                    atomicity.add(other, source);
                }
            }
        }
        atomicity
    }

    /// The write half of the read-modify-write that this read is a half of.
    fn update_of(&self, read: usize) -> Option<usize> {
        let event = self.operations[read].event?;
        self.history.event(event).is_atomic().then(|| read + 1)
    }
}

/// The operations of a history: the initial writes, then each thread in program order.
fn operations(history: &History) -> Vec<Operation> {
    let mut operations: Vec<Operation> = history
        .address_ids()
        .map(|address| Operation { address, is_write: true, event: None })
        .collect();
    for id in history.event_ids() {
        let event = history.event(id);
        let Some(address) = event.address() else { continue };
        if event.is_read() {
            operations.push(Operation { address, is_write: false, event: Some(id) });
        }
        if event.is_write() {
            operations.push(Operation { address, is_write: true, event: Some(id) });
        }
    }
    operations
}
