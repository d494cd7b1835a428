//! What a step of a proof may take as given: what the trace says, what earlier steps proved as
//! clauses of one literal, and what the step itself assumes, the negation of its clause.
//!
//! The trace says who read from where when there is only one candidate; which write came first
//! when an `order` line or a `final` line says so, or when one of the two is the initial write;
//! and where fences stand. Every question is answered in logarithmic time.

use std::collections::{BTreeMap, BTreeSet};

use evidence::{Atom, Literal, Reader};
use history::{AddressId, EventId, Final, History, Kinds, Operation, Source};

pub(crate) struct Facts<'a> {
    pub(crate) history: &'a History,
    /// (address or cell, write, `order` line) and the place in that line, sorted.
    lines: Vec<((AddressId, Source, usize), usize)>,
    finals: BTreeMap<AddressId, &'a Final>,
    /// The reader that a `final` line is, by address or cell.
    final_readers: BTreeMap<AddressId, Reader>,
    /// Fences by what they order: `fences[reads before?][reads after?]`, in id order.
    fences: [[Vec<EventId>; 2]; 2],
    proved: BTreeSet<Literal>,
    proved_source: BTreeMap<Reader, Source>,
    assumed: Vec<Literal>,
}

impl<'a> Facts<'a> {
    pub(crate) fn new(history: &'a History) -> Self {
        // Of mixed sizes, orders and last values are those of cells.
        let said = history.mixed().map_or(history, |mixed| mixed.parts());
        let mut lines = Vec::new();
        for (index, line) in said.orders().iter().enumerate() {
            for (place, &write) in line.writes.iter().enumerate() {
                lines.push(((line.address, whole(history, write), index), place));
            }
        }
        lines.sort_unstable();
        Self {
            history,
            lines,
            finals: said.finals().iter().map(|f| (f.address, f)).collect(),
            final_readers: final_readers(history),
            fences: fences(history),
            proved: BTreeSet::new(),
            proved_source: BTreeMap::new(),
            assumed: Vec::new(),
        }
    }

    /// Assumes the negation of every literal of a clause, and nothing else.
    pub(crate) fn assume_false(&mut self, clause: &[Literal]) {
        self.assumed = clause.iter().map(|literal| literal.negated()).collect();
        self.assumed.sort_unstable();
    }

    /// A clause has been proved; if it has one literal, that is a fact from now on.
    pub(crate) fn learn(&mut self, clause: &[Literal]) {
        if let [literal] = *clause {
            self.proved.insert(literal);
            if let (Atom::Reads(reader, source), true) = (literal.atom, literal.positive) {
                self.proved_source.insert(reader, source);
            }
        }
    }

    /// Whether a literal is proved or assumed.
    pub(crate) fn holds(&self, literal: Literal) -> bool {
        self.proved.contains(&literal) || self.assumed.binary_search(&literal).is_ok()
    }

    /// Who may have written what this reader read; `None` if it is no reader. Of mixed sizes only
    /// parts are readers, and the sources are parts.
    pub(crate) fn candidates(&self, reader: Reader) -> Option<&'a [Source]> {
        match (reader, self.history.mixed()) {
            (Reader::Event(e), None) => {
                self.history.event(e).is_read().then(|| self.history.sources(e))
            }
            (Reader::Final(address), None) => self.finals.get(&address).map(|f| &f.sources[..]),
            (Reader::Part(e, number), Some(mixed)) => {
                let part = mixed.parts_of(e).nth(number.into())?;
                mixed.parts().event(part).is_read().then(|| mixed.parts().sources(part))
            }
            (Reader::FinalPart(..), Some(_)) => {
                let cell = self.cell_of_final(reader)?;
                self.finals.get(&cell).map(|f| &f.sources[..])
            }
            _ => None,
        }
    }

    fn cell_of_final(&self, reader: Reader) -> Option<AddressId> {
        let Reader::FinalPart(address, number) = reader else { return None };
        let speaks = self.history.finals().iter().any(|f| f.address == address);
        let mut cells = self.history.mixed()?.cells_of(self.history, address);
        cells.nth(number.into()).filter(|_| speaks)
    }

    /// The only one who may have written what this reader read, if there is only one.
    fn only_candidate(&self, reader: Reader) -> Option<Source> {
        match self.candidates(reader) {
            Some(&[source]) => Some(whole(self.history, source)),
            _ => None,
        }
    }

    /// Whether the source wrote the value that the reader read, at its address or cell.
    pub(crate) fn is_candidate(&self, reader: Reader, source: Source) -> bool {
        let said = self.history.mixed().map_or(self.history, |mixed| mixed.parts());
        let of_event = |e: EventId| {
            let operation = said.event(e).operation;
            operation.address().zip(operation.value_read())
        };
        let of_final = |address| self.finals.get(&address).map(|f| (address, f.value));
        let read = match (reader, self.history.mixed()) {
            (Reader::Event(e), None) => of_event(e),
            (Reader::Final(address), None) => of_final(address),
            (Reader::Part(e, number), Some(mixed)) => {
                mixed.parts_of(e).nth(number.into()).and_then(of_event)
            }
            (Reader::FinalPart(..), Some(_)) => self.cell_of_final(reader).and_then(of_final),
            _ => None,
        };
        let Some((address, value)) = read else { return false };
        let wrote = |e: EventId| {
            let operation = said.event(e).operation;
            operation.address() == Some(address) && operation.value_written() == Some(value)
        };
        match (source, self.history.mixed()) {
            (Source::Initial, _) => said.address(address).initial == value,
            (Source::Write(e), None) => wrote(e),
            (Source::Write(e), Some(mixed)) => mixed.parts_of(e).any(wrote),
        }
    }

    /// Whether this reader is known to have read from this source.
    pub(crate) fn reads(&self, reader: Reader, source: Source) -> bool {
        self.only_candidate(reader) == Some(source) || self.holds(Literal::reads(reader, source))
    }

    /// The sources that this reader is known to have read from: one, unless the step assumes
    /// what is absurd.
    pub(crate) fn sources(&self, reader: Reader) -> impl Iterator<Item = Source> + '_ {
        let only = self.only_candidate(reader).or_else(|| self.proved_source.get(&reader).copied());
        let assumed = self.assumed.iter().filter_map(move |literal| match literal.atom {
            Atom::Reads(r, source) if r == reader && literal.positive => Some(source),
            _ => None,
        });
        only.into_iter().chain(assumed)
    }

    /// Whether the first of two writes of an address, or of a cell, is known to come before the
    /// second.
    pub(crate) fn before(&self, address: AddressId, a: Source, b: Source) -> bool {
        let proved = match (a, b) {
            _ if a == b => return false,
            (Source::Initial, _) => true,
            (Source::Write(a), Source::Write(b)) => self.holds(Literal::before(a, b)),
            (_, Source::Initial) => false,
        };
        let last = |cell| self.final_readers.get(&cell).is_some_and(|&f| self.reads(f, b));
        let said = |cell| self.ordered_by_line(cell, a, b) || last(cell);
        proved || said(address) || self.common_cells(a, b).into_iter().any(said)
    }

    /// The cells of mixed sizes that two writes share: in one order there, they are in it everywhere.
    fn common_cells(&self, a: Source, b: Source) -> Vec<AddressId> {
        let (Some(mixed), Source::Write(a), Source::Write(b)) = (self.history.mixed(), a, b) else {
            return Vec::new();
        };
        let cells = |e| mixed.parts_of(e).filter_map(|part| mixed.parts().address_of(part));
        cells(a).filter(|cell| cells(b).any(|other| other == *cell)).collect()
    }

    fn ordered_by_line(&self, address: AddressId, a: Source, b: Source) -> bool {
        let first = self.lines.partition_point(|&(key, _)| key < (address, a, 0));
        let lines_of_a = self.lines[first..]
            .iter()
            .take_while(|((at, write, _), _)| (*at, *write) == (address, a));
        lines_of_a.into_iter().any(|&((_, _, line), place_of_a)| {
            let key = (address, b, line);
            self.lines
                .binary_search_by_key(&key, |&(key, _)| key)
                .is_ok_and(|at| place_of_a < self.lines[at].1)
        })
    }

    /// Whether a fence between two events of one thread orders something of the first kinds
    /// before something of the second.
    pub(crate) fn fenced(&self, a: EventId, b: EventId, before: Kinds, after: Kinds) -> bool {
        let between = |fences: &[EventId]| {
            let next = fences.partition_point(|&fence| fence <= a);
            fences.get(next).is_some_and(|&fence| fence < b)
        };
        self.history.program_order(a, b)
            && (0..2).any(|i| {
                meets(before, i) && (0..2).any(|j| meets(after, j) && between(&self.fences[i][j]))
            })
    }
}

/// The write that a source is: of a part, that of its access.
fn whole(history: &History, source: Source) -> Source {
    match (source, history.mixed()) {
        (Source::Write(part), Some(mixed)) => Source::Write(mixed.access_of(part)),
        _ => source,
    }
}

fn final_readers(history: &History) -> BTreeMap<AddressId, Reader> {
    let mut readers = BTreeMap::new();
    for f in history.finals() {
        match history.mixed() {
            None => {
                readers.insert(f.address, Reader::Final(f.address));
            }
            Some(mixed) => {
                for (number, cell) in (0..).zip(mixed.cells_of(history, f.address)) {
                    readers.entry(cell).or_insert(Reader::FinalPart(f.address, number));
                }
            }
        }
    }
    readers
}

/// Whether the kinds include reads (1) or writes (0).
fn meets(kinds: Kinds, reads: usize) -> bool {
    if reads == 1 { kinds.reads } else { kinds.writes }
}

fn fences(history: &History) -> [[Vec<EventId>; 2]; 2] {
    let mut fences: [[Vec<EventId>; 2]; 2] = Default::default();
    for e in history.event_ids() {
        if let Operation::Fence { before, after } = history.event(e).operation {
            for (i, row) in fences.iter_mut().enumerate() {
                for (j, list) in row.iter_mut().enumerate() {
                    if meets(before, i) && meets(after, j) {
                        list.push(e);
                    }
                }
            }
        }
    }
    fences
}
