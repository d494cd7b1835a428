//! Where the locations of a test are cut: the longest runs of bytes that no access divides.
//!
//! Most tests access whole locations, and then a cell is a location. Where accesses of several sizes
//! overlap, each cell has its own writes, their order and the sources of reads, and an access is one
//! event for each of its cells.

use std::collections::BTreeSet;

use crate::test::{LocationId, Type};

/// Some bytes of a location.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Bytes {
    pub(crate) at: LocationId,
    pub(crate) start: u8,
    pub(crate) size: u8,
}

impl Bytes {
    pub(crate) fn end(self) -> u8 {
        self.start + self.size
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
}

/// The cells of all locations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Cells {
    /// All of them, by location and then by their first byte.
    pub(crate) all: Vec<Bytes>,
}

impl Cells {
    /// Every location by itself.
    pub(crate) fn whole(locations: &[Type]) -> Self {
        let bytes = |(id, kind): (usize, &Type)| Bytes {
            at: LocationId(id as u32),
            start: 0,
            size: (kind.size.bits() / 8) as u8,
        };
        Self { all: locations.iter().enumerate().map(bytes).collect() }
    }

    /// The same, cut where some of these bytes begin or end.
    pub(crate) fn cut_by(&self, accesses: &BTreeSet<Bytes>) -> Self {
        let mut all = Vec::with_capacity(self.all.len());
        for &cell in &self.all {
            let mut cuts = BTreeSet::from([cell.start, cell.end()]);
            for access in accesses.iter().filter(|access| access.overlaps(cell)) {
                cuts.extend([access.start, access.end()]);
            }
            let inside: Vec<u8> =
                cuts.into_iter().filter(|cut| (cell.start..=cell.end()).contains(cut)).collect();
            all.extend(inside.windows(2).map(|pair| Bytes {
                start: pair[0],
                size: pair[1] - pair[0],
                ..cell
            }));
        }
        Self { all }
    }

    /// The numbers of the cells that some bytes are in.
    pub(crate) fn of(&self, bytes: Bytes) -> impl Iterator<Item = usize> + '_ {
        let overlapping = self.all.iter().enumerate().filter(move |(_, cell)| cell.overlaps(bytes));
        overlapping.map(|(number, _)| number)
    }

    /// The bytes of a whole location.
    pub(crate) fn location(&self, id: LocationId) -> Bytes {
        let cells = self.all.iter().filter(|cell| cell.at == id);
        Bytes { at: id, start: 0, size: cells.map(|cell| cell.size).sum() }
    }

    /// Whether every location is a cell.
    pub(crate) fn are_whole(&self) -> bool {
        self.all.iter().all(|cell| cell.start == 0 && self.location(cell.at) == *cell)
    }
}
