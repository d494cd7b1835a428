//! Accesses of mixed sizes: a history whose accesses overlap without being the same, taken apart.
//!
//! Memory is cut into *cells*, the longest runs of bytes that no access divides (and no more than
//! eight each, the width of a value). Every access that touches a cell covers it, so a cell behaves
//! as one plain address: who reads it reads all of it from one write. An access becomes its
//! *parts*, one for each cell it covers, and the parts of all accesses are a plain [`History`] over
//! the cells. In it, candidate sources are known cell by cell. What it does not say is that the
//! parts of one access happen at one time; whoever judges reads that from
//! [`Mixed::access_of`].
//!
//! Histories in which overlapping accesses agree in address and size are not taken apart: there an
//! address is its bytes already. Cost: linear in the number of parts, at most one for each byte.

use rustc_hash::FxHashMap;

use crate::build_error::{BuildError, BuildErrorKind, error};
use crate::builder::{Builder, ThinAir};
use crate::event::{AddressId, AddressLabel, ByteRange, EventId, Operation, Source, Times, Value};
use crate::history::{Final, History, OrderChain};
use crate::origin::{Classes, Origin};

/// The parts of a history of mixed sizes.
#[derive(Clone, Debug)]
pub struct Mixed {
    parts: Box<History>,
    /// By part: the access (or fence) it is of.
    accesses: Vec<EventId>,
    /// `starts[e]..starts[e + 1]` are the parts of event `e`.
    starts: Vec<u32>,
    cells: Cells,
}

impl Mixed {
    /// The parts as events of a plain history whose addresses are cells, with the threads of the
    /// whole history, in program order, the parts of an access side by side. Fences are parts, too.
    /// `init`, `final` and `order` lines are said of cells; annotations, dependencies, pairs and
    /// times of all parts. Names are those of accesses and only there.
    pub fn parts(&self) -> &History {
        &self.parts
    }

    /// The access that a part is of.
    #[inline]
    pub fn access_of(&self, part: EventId) -> EventId {
        self.accesses[part.index()]
    }

    /// The parts of an access, lowest byte first; a fence is its own part.
    #[inline]
    pub fn parts_of(
        &self,
        access: EventId,
    ) -> impl DoubleEndedIterator<Item = EventId> + ExactSizeIterator + use<> {
        let at = access.index();
        (self.starts[at] as usize..self.starts[at + 1] as usize).map(EventId::new)
    }

    /// The cells, as addresses of the parts, of an address of the whole history; lowest first.
    pub fn cells_of<'m>(
        &'m self,
        history: &'m History,
        address: AddressId,
    ) -> impl Iterator<Item = AddressId> + use<'m> {
        self.cells.addresses(history, &self.parts, address)
    }

    /// The number of a part among those of its access.
    #[inline]
    pub fn number_of(&self, part: EventId) -> u8 {
        (part.index() - self.starts[self.access_of(part).index()] as usize) as u8
    }

    /// Takes a history apart whose accesses use these bytes, sorted.
    pub(crate) fn new(history: &History, used: &[ByteRange]) -> Result<Self, BuildError> {
        let cells = Cells::new(used);
        let mut builder = Builder::new();
        for &cell in &cells.all {
            builder.address_of_bytes(cell);
        }
        for address in &history.addresses {
            if let Some(line) = address.init_line {
                let id = builder.address(&address.label);
                builder.initial(id, address.initial, line)?;
            }
        }
        let mut cutter =
            Splitter { history, cells, builder, accesses: Vec::new(), starts: vec![0] };
        for id in history.event_ids() {
            cutter.add_event(id)?;
        }
        for f in &history.finals {
            for (address, value) in cutter.cut_value(f.address, f.value.into()) {
                cutter.builder.final_value(address, value, f.line)?;
            }
        }
        let Splitter { cells, builder, accesses, starts, .. } = cutter;
        let mut parts = Box::new(builder.finish(ThinAir::Violation)?);
        for chain in &history.orders {
            let addresses: Vec<AddressId> =
                cells.addresses(history, &parts, chain.address).collect();
            for (at, address) in addresses.into_iter().enumerate() {
                let part = |write: EventId| EventId::new(starts[write.index()] as usize + at);
                let writes = chain.writes.iter().map(|source| source.at(part)).collect();
                parts.orders.push(OrderChain { address, writes, line: chain.line });
            }
        }
        let mut mixed = Self { parts, accesses, starts, cells };
        mixed.add_attributes(history);
        Ok(mixed)
    }

    /// What is said of accesses, said of their parts: annotations and names of fences, times,
    /// dependencies between all parts, and pairs of parts in one cell.
    fn add_attributes(&mut self, history: &History) {
        let part_count = self.accesses.len();
        for part in (0..part_count).map(EventId::new) {
            let access = self.access_of(part);
            if let Some(mark) = history.marks.get(access.index()) {
                self.parts.marks.set(part.index(), mark);
            }
            let times = history.times(access);
            if times != Times::default() {
                self.parts.times.set(part.index(), times);
            }
        }
        self.parts.times = std::mem::take(&mut self.parts.times).for_all(part_count);
        let mut dependencies = Vec::new();
        for (at, &(to, from)) in history.dependencies.iter().enumerate() {
            let kinds = history.kinds_of_dependency(at);
            for to in self.parts_of(to) {
                dependencies.extend(self.parts_of(from).map(|from| ((to, from), kinds)));
            }
        }
        dependencies.sort_unstable();
        if !history.dependency_kinds.is_empty() {
            self.parts.dependency_kinds = dependencies.iter().map(|&(_, kinds)| kinds).collect();
        }
        self.parts.dependencies = dependencies.into_iter().map(|(pair, _)| pair).collect();
        for &(store, load) in &history.pairs {
            let pairs: Vec<_> = self.parts_of(store).zip(self.parts_of(load)).collect();
            self.parts.pairs.extend(pairs);
        }
    }

    /// The first read or `final` of bytes that nobody wrote.
    pub(crate) fn refuse_unwritten(&self, history: &History) -> Result<(), BuildError> {
        let nobody = |&part: &EventId| {
            self.parts.kinds_of(part).reads && self.parts.sources(part).is_empty()
        };
        let unread = self.parts.event_ids().filter(nobody);
        if let Some(part) = unread.min_by_key(|&part| self.parts.event(part).line) {
            return Err(self.unread(history, part));
        }
        if let Some(f) = self.parts.finals().iter().find(|f| f.sources.is_empty()) {
            let address = self.parts.address(f.address).label.clone();
            let kind = match address {
                AddressLabel::Bytes(bytes) => {
                    BuildErrorKind::FinalBytesUnwritten { bytes, value: f.value }
                }
                address => BuildErrorKind::FinalOfUnwritten { address, value: f.value },
            };
            return Err(error(kind, f.line));
        }
        Ok(())
    }

    /// A part that read what nobody wrote.
    pub(crate) fn unread(&self, history: &History, part: EventId) -> BuildError {
        let event = self.parts.event(part);
        let whole = history.event(self.access_of(part)).address();
        let label = |history: &History, address| history.address(address).label.clone();
        let labels =
            event.address().map(|a| label(&self.parts, a)).zip(whole.map(|a| label(history, a)));
        let value = event.operation.value_read().unwrap_or_default();
        let kind = match labels {
            Some((AddressLabel::Bytes(bytes), AddressLabel::Bytes(access))) => {
                BuildErrorKind::BytesOfUnwritten { access, bytes, value }
            }
            Some((address, _)) => BuildErrorKind::ReadOfUnwritten { address, value },
            None => unreachable!("only accesses read"),
        };
        error(kind, event.line)
    }

    /// The accesses from which a list of parts comes, each once.
    fn accesses_of(&self, sources: impl Iterator<Item = Source>) -> Vec<Source> {
        let mut all: Vec<Source> =
            sources.map(|source| source.at(|part| self.access_of(part))).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Who may have written any byte of what each access read.
    pub(crate) fn origins(&self, history: &History) -> (Vec<Origin>, Classes) {
        let mut classes = Classes::new(Vec::new());
        let origins = history.event_ids().map(|id| {
            let sources =
                self.parts_of(id).flat_map(|part| self.parts.sources(part).iter().copied());
            classes.push(self.accesses_of(sources).into_iter())
        });
        (origins.collect(), classes)
    }

    /// Who may have written any byte of what each `final` line speaks of.
    pub(crate) fn final_sources(&self, history: &History) -> Vec<Vec<Source>> {
        let of_cells = |finals: Vec<&Final>| {
            self.accesses_of(finals.iter().flat_map(|f| f.sources.iter().copied()))
        };
        self.finals_of_cells(history).map(of_cells).collect()
    }

    /// For each `final` line, whether nobody wrote what it says of some bytes.
    pub(crate) fn lost_finals(&self, history: &History) -> Vec<bool> {
        let is_lost = |finals: Vec<&Final>| finals.iter().any(|f| f.sources.is_empty());
        self.finals_of_cells(history).map(is_lost).collect()
    }

    /// For each `final` line, what it says of each of its cells.
    fn finals_of_cells<'m>(
        &'m self,
        history: &'m History,
    ) -> impl Iterator<Item = Vec<&'m Final>> + 'm {
        let by_cell: FxHashMap<AddressId, &Final> =
            self.parts.finals().iter().map(|f| (f.address, f)).collect();
        history.finals.iter().map(move |f| {
            let cells = self.cells.addresses(history, &self.parts, f.address);
            cells.filter_map(|cell| by_cell.get(&cell).copied()).collect()
        })
    }
}

/// A history being taken apart.
struct Splitter<'h> {
    history: &'h History,
    cells: Cells,
    builder: Builder,
    accesses: Vec<EventId>,
    starts: Vec<u32>,
}

impl Splitter<'_> {
    /// The addresses of the parts of an address, and what each holds of a value.
    fn cut_value(&mut self, address: AddressId, value: u128) -> Vec<(AddressId, Value)> {
        match &self.history.address(address).label {
            &AddressLabel::Bytes(range) => {
                let (first, cells) = self.cells.of(range);
                let id = |at| AddressId::new(first + at);
                cells
                    .iter()
                    .enumerate()
                    .map(|(at, &cell)| (id(at), cut(range, cell, value)))
                    .collect()
            }
            plain => vec![(self.builder.address(plain), value as Value)],
        }
    }

    fn add_event(&mut self, id: EventId) -> Result<(), BuildError> {
        let event = self.history.event(id);
        let thread = self.history.thread_label(event.thread);
        let read = self.history.wide_value_read(id);
        let written = self.history.wide_value_written(id);
        let cut = |this: &mut Self, value: Option<u128>| match event.address() {
            Some(address) => this.cut_value(address, value.unwrap_or(0)),
            None => vec![(AddressId::new(0), 0)],
        };
        let (old, new) = (cut(self, read), cut(self, written));
        for ((address, read), (_, write)) in old.into_iter().zip(new) {
            let operation = match event.operation {
                Operation::Read { .. } => Operation::Read { address, value: read },
                Operation::Write { .. } => Operation::Write { address, value: write },
                Operation::ReadModifyWrite { .. } => {
                    Operation::ReadModifyWrite { address, read, write }
                }
                fence @ Operation::Fence { .. } => fence,
            };
            self.accesses.push(id);
            self.builder.event(thread, operation, event.line)?;
        }
        self.starts.push(self.accesses.len() as u32);
        Ok(())
    }
}

/// The cells, lowest first. As addresses of the parts, they have the first numbers in this order.
#[derive(Clone, Debug)]
struct Cells {
    all: Vec<ByteRange>,
}

impl Cells {
    fn new(used: &[ByteRange]) -> Self {
        let mut cuts: Vec<u128> =
            used.iter().flat_map(|range| [range.start().into(), end(*range)]).collect();
        cuts.sort_unstable();
        cuts.dedup();
        let mut all = Vec::with_capacity(cuts.len());
        let mut used = used.iter().peekable();
        let mut covered = 0;
        for pair in cuts.windows(2) {
            while let Some(range) = used.next_if(|range| u128::from(range.start()) <= pair[0]) {
                covered = covered.max(end(*range));
            }
            // Between two cuts there is a cell or nobody's memory. A cell has at most 16 bytes.
            let (mut start, end) = (pair[0], pair[1].min(covered));
            while start < end {
                let size = (end - start).min(8);
                all.extend(ByteRange::new(start as u64, size as u8));
                start += size;
            }
        }
        Self { all }
    }

    /// The cells of a range, and the number of the first.
    fn of(&self, range: ByteRange) -> (usize, &[ByteRange]) {
        let first = self.all.partition_point(|cell| cell.start() < range.start());
        let rest = &self.all[first..];
        (first, &rest[..rest.partition_point(|cell| cell.last() <= range.last())])
    }

    /// The addresses that the parts have for an address of the whole history.
    fn addresses<'c>(
        &'c self,
        history: &'c History,
        parts: &'c History,
        address: AddressId,
    ) -> impl Iterator<Item = AddressId> + use<'c> {
        let label = &history.address(address).label;
        let range = match *label {
            AddressLabel::Bytes(range) => {
                let (first, cells) = self.of(range);
                first..first + cells.len()
            }
            _ => {
                let at = parts.address_by_label(label).map_or(0, AddressId::index);
                at..at + 1
            }
        };
        range.map(AddressId::new)
    }
}

/// The byte after a range.
fn end(range: ByteRange) -> u128 {
    u128::from(range.last()) + 1
}

/// What a cell holds of a value of a range.
fn cut(range: ByteRange, cell: ByteRange, value: u128) -> Value {
    let shifted = value >> (8 * (cell.start() - range.start()));
    let bits = 8 * u32::from(cell.size());
    shifted as Value & Value::MAX.checked_shr(64 - bits).unwrap_or(0)
}
