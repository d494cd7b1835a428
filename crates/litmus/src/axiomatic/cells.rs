//! Where the memory of a test is cut: the longest runs of bytes that no access divides.
//!
//! Most tests access whole locations, and then a cell is a location. Where accesses of several sizes
//! overlap, each cell has its own writes, their order and the sources of reads, and an access is one
//! event for each of its cells. The elements of an array are bytes of its first element here, one
//! behind the other, so that an access may be of several of them. Of an array that no access and no
//! observation divides further, eight bytes are a cell.

use std::collections::BTreeSet;

use crate::test::{Location, LocationId, Type};

/// Some bytes of a location, or of the array that begins there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Bytes {
    pub(crate) at: LocationId,
    pub(crate) start: u16,
    pub(crate) size: u8,
}

/// The most bytes that an access or a cell has.
const WORD: u16 = 8;

impl Bytes {
    pub(crate) fn end(self) -> u16 {
        self.start + u16::from(self.size)
    }

    /// What some of these bytes hold of a value of all of them.
    pub(crate) fn cut(self, value: u64, part: Bytes) -> u64 {
        let bits = 8 * u32::from(part.size);
        let low = value >> (8 * u32::from(part.start - self.start));
        low & u64::MAX.checked_shr(64 - bits).unwrap_or(0)
    }

    /// A value of all of these bytes that is this in some of them, and 0 in the others.
    pub(crate) fn place(self, value: u64, part: Bytes) -> u64 {
        value << (8 * u32::from(part.start - self.start))
    }

    fn overlaps(self, other: Bytes) -> bool {
        self.at == other.at && self.start < other.end() && other.start < self.end()
    }

    /// Whether others are all among these.
    pub(crate) fn contains(self, other: Bytes) -> bool {
        self.at == other.at && self.start <= other.start && other.end() <= self.end()
    }
}

/// The cells of all locations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Cells {
    /// All of them, by location and then by their first byte.
    pub(crate) all: Vec<Bytes>,
    /// The bytes of each location.
    wholes: Vec<Bytes>,
}

impl Cells {
    /// Every location by itself; arrays are cut only where `observed` begins or ends.
    pub(crate) fn whole(
        locations: &[Location],
        kinds: &[Type],
        observed: impl Iterator<Item = LocationId>,
    ) -> Self {
        let (mut all, mut wholes) = (Vec::new(), Vec::new());
        for (number, (location, kind)) in locations.iter().zip(kinds).enumerate() {
            let (id, size) = (LocationId(number as u32), (kind.size.bits() / 8) as u8);
            let Some(array) = &location.array else {
                let whole = Bytes { at: id, start: 0, size };
                all.push(whole);
                wholes.push(whole);
                continue;
            };
            let start = array.offset(id) as u16;
            wholes.push(Bytes { at: array.first, start, size });
            if array.first == id {
                let end = array.count as u16 * u16::from(size);
                let word = |start: u16| {
                    let size = WORD.min(end - start) as u8;
                    Bytes { at: id, start, size }
                };
                all.extend((0..end).step_by(usize::from(WORD)).map(word));
            }
        }
        let cells = Self { all, wholes };
        let elements = observed.filter(|id| locations[id.0 as usize].array.is_some());
        cells.cut_by(&elements.map(|id| cells.location(id)).collect())
    }

    /// The same, cut where some of these bytes begin or end.
    pub(crate) fn cut_by(&self, accesses: &BTreeSet<Bytes>) -> Self {
        let mut all = Vec::with_capacity(self.all.len());
        for &cell in &self.all {
            let mut cuts = BTreeSet::from([cell.start, cell.end()]);
            for access in accesses.iter().filter(|access| access.overlaps(cell)) {
                cuts.extend([access.start, access.end()]);
            }
            let inside: Vec<u16> =
                cuts.into_iter().filter(|cut| (cell.start..=cell.end()).contains(cut)).collect();
            all.extend(inside.windows(2).map(|pair| Bytes {
                start: pair[0],
                size: (pair[1] - pair[0]) as u8,
                ..cell
            }));
        }
        Self { all, wholes: self.wholes.clone() }
    }

    /// The numbers of the cells that some bytes are in.
    pub(crate) fn of(&self, bytes: Bytes) -> impl Iterator<Item = usize> + '_ {
        let overlapping = self.all.iter().enumerate().filter(move |(_, cell)| cell.overlaps(bytes));
        overlapping.map(|(number, _)| number)
    }

    /// The bytes of a whole location.
    pub(crate) fn location(&self, id: LocationId) -> Bytes {
        self.wholes[id.0 as usize]
    }

    /// How many bytes there are in a location, or in the array that begins with it.
    pub(crate) fn end(&self, at: LocationId) -> u16 {
        let inside = self.wholes.iter().filter(|whole| whole.at == at);
        inside.map(|whole| whole.end()).max().unwrap_or(0)
    }

    /// Some location that a cell has bytes of.
    pub(crate) fn location_of(&self, cell: Bytes) -> LocationId {
        let found = self.wholes.iter().position(|whole| whole.overlaps(cell));
        LocationId(found.unwrap_or(0) as u32)
    }

    /// What a cell holds, given what locations hold.
    pub(crate) fn value(&self, cell: Bytes, locations: &[u64]) -> u64 {
        let inside = self.wholes.iter().zip(locations).filter(|(whole, _)| whole.overlaps(cell));
        inside.fold(0, |so_far, (&whole, &value)| {
            let start = whole.start.max(cell.start);
            let size = (whole.end().min(cell.end()) - start) as u8;
            let part = Bytes { start, size, ..cell };
            so_far | cell.place(whole.cut(value, part), part)
        })
    }

    /// Whether every location is a cell.
    pub(crate) fn are_whole(&self) -> bool {
        self.all == self.wholes
    }
}
