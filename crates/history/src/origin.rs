//! Where the values of reads come from, in four bytes a read.
//!
//! Nearly every value is written once, and then the origin of a read is the one source itself.
//! Values written more than once form classes, which their readers share: a history in which a
//! thousand reads may each have seen a thousand writes stays linear.

use crate::builder::MAX_EVENTS;
use crate::event::{EventId, Source};

/// The only source of a value, or else its class: a write past all events that there can be stands
/// for one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Origin(Source);

impl Origin {
    /// The initial write and no other.
    pub(crate) const INITIAL: Origin = Origin(Source::Initial);
    /// No write at all: class 0.
    pub(crate) const NOBODY: Origin = Origin::of_class(0);

    /// This write and no other.
    #[inline]
    pub(crate) fn write(write: EventId) -> Self {
        Self(Source::Write(write))
    }

    /// As a number.
    #[inline]
    pub(crate) fn to_bits(self) -> u32 {
        match self.0 {
            Source::Initial => 0,
            Source::Write(write) => write.index() as u32 + 1,
        }
    }

    /// The origin of such a number.
    #[inline]
    pub(crate) fn from_bits(bits: u32) -> Self {
        match bits.checked_sub(1) {
            None => Self::INITIAL,
            Some(write) => Self::write(EventId::new(write as usize)),
        }
    }

    /// The sources of this class.
    #[inline]
    pub(crate) const fn of_class(class: u32) -> Self {
        Self(Source::Write(EventId::new(MAX_EVENTS + class as usize)))
    }

    /// The class, if the source is not a single one.
    #[inline]
    pub(crate) fn class(self) -> Option<u32> {
        match self.0 {
            Source::Write(write) => write.index().checked_sub(MAX_EVENTS).map(|class| class as u32),
            Source::Initial => None,
        }
    }

    /// The source, if it is a single one.
    #[inline]
    pub(crate) fn only(self) -> Option<Source> {
        if self.class().is_some() { None } else { Some(self.0) }
    }

    /// The same with the new number of its write, where `to` has the new numbers of all events.
    #[inline]
    pub(crate) fn renumbered(self, to: &[u32]) -> Self {
        let Source::Write(write) = self.0 else { return self };
        // Classes are past the end; a default instead of a branch, which would be hard to guess.
        let new = to.get(write.index()).map_or(write.index(), |&new| new as usize);
        Self::write(EventId::new(new))
    }
}

impl Default for Origin {
    fn default() -> Self {
        Self::NOBODY
    }
}

impl From<Source> for Origin {
    fn from(only: Source) -> Self {
        Self(only)
    }
}

/// The sources of the values that do not have exactly one.
#[derive(Clone, Debug)]
pub(crate) struct Classes {
    /// `starts[c]..starts[c + 1]` are the sources of class `c`; class 0 is empty.
    starts: Vec<u32>,
    sources: Vec<Source>,
}

impl Classes {
    /// The classes of these sources, numbered from 1 without a gap.
    pub(crate) fn new(mut shared: Vec<(u32, Source)>) -> Self {
        shared.sort_unstable();
        let mut classes = Self { starts: vec![0, 0], sources: Vec::new() };
        for class in shared.chunk_by(|a, b| a.0 == b.0) {
            classes.push(class.iter().map(|&(_, source)| source));
        }
        classes
    }

    /// One more class. If it turns out to have less than two sources, it is none, and its origin
    /// says what it has.
    pub(crate) fn push(&mut self, sources: impl Iterator<Item = Source>) -> Origin {
        let start = self.sources.len();
        self.sources.extend(sources);
        match self.sources[start..] {
            [] => Origin::NOBODY,
            [only] => {
                self.sources.truncate(start);
                only.into()
            }
            _ => {
                self.starts.push(self.sources.len() as u32);
                Origin::of_class(self.starts.len() as u32 - 2)
            }
        }
    }

    /// How many classes there are.
    pub(crate) fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The sources of an origin.
    #[inline]
    pub(crate) fn sources<'c>(&'c self, origin: &'c Origin) -> &'c [Source] {
        match origin.class() {
            None => std::slice::from_ref(&origin.0),
            Some(class) => {
                let class = class as usize;
                &self.sources[self.starts[class] as usize..self.starts[class + 1] as usize]
            }
        }
    }
}
