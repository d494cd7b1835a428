//! The vocabulary of an execution: events and the small types that name them.

use std::fmt;
use std::num::NonZeroU32;

/// A value read or written.
pub type Value = u64;

/// Declares a number for the items of a table. It counts from one inside, so that where one may be
/// missing (`Option<EventId>`, [`Source`]) that takes no room.
macro_rules! index {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(NonZeroU32);

        impl $name {
            /// The index of this item in the tables of its history.
            #[inline]
            pub const fn index(self) -> usize {
                self.0.get() as usize - 1
            }

            /// The item at an index. Histories are bounded to fewer than `u32::MAX` items when
            /// built.
            #[inline]
            pub const fn new(index: usize) -> Self {
                debug_assert!(index < u32::MAX as usize);
                Self(NonZeroU32::MIN.saturating_add(index as u32))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.index())
            }
        }
    };
}

index! {
    /// An event of a history. Ids are thread-major: the events of one thread are consecutive and
    /// ascending ids within a thread are program order.
    EventId
}
index! {
    /// A thread of a history, numbered by first appearance.
    ThreadId
}
index! {
    /// An address of a history, numbered by first appearance.
    AddressId
}

/// A set drawn from {reads, writes}: what a fence orders, or what an event counts as.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Kinds {
    /// Reads, and read-modify-writes as readers.
    pub reads: bool,
    /// Writes, and read-modify-writes as writers.
    pub writes: bool,
}

impl Kinds {
    /// Neither.
    pub const NONE: Kinds = Kinds { reads: false, writes: false };
    /// Reads only (`r`).
    pub const READS: Kinds = Kinds { reads: true, writes: false };
    /// Writes only (`w`).
    pub const WRITES: Kinds = Kinds { reads: false, writes: true };
    /// Both (`rw`).
    pub const ALL: Kinds = Kinds { reads: true, writes: true };

    /// Whether the two sets share a kind.
    #[inline]
    pub fn meets(self, other: Kinds) -> bool {
        (self.reads && other.reads) || (self.writes && other.writes)
    }

    /// The union of the two sets.
    #[inline]
    pub fn union(self, other: Kinds) -> Kinds {
        Kinds { reads: self.reads || other.reads, writes: self.writes || other.writes }
    }

    /// `r`, `w` or `rw`, as in the trace format.
    pub fn letters(self) -> &'static str {
        match (self.reads, self.writes) {
            (true, true) => "rw",
            (true, false) => "r",
            (false, true) => "w",
            (false, false) => "",
        }
    }
}

/// What an event did.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operation {
    /// `M[address] == value`
    Read {
        /// Where.
        address: AddressId,
        /// What it returned.
        value: Value,
    },
    /// `M[address] := value`
    Write {
        /// Where.
        address: AddressId,
        /// What it stored.
        value: Value,
    },
    /// `<M[address] == read; M[address] := write>`: both at once, nothing between.
    ReadModifyWrite {
        /// Where.
        address: AddressId,
        /// What it returned.
        read: Value,
        /// What it stored.
        write: Value,
    },
    /// `sync` (all, all) or `fence before,after`: earlier accesses of a kind in `before` come
    /// before later accesses of a kind in `after`.
    Fence {
        /// Which earlier accesses it orders.
        before: Kinds,
        /// Which later accesses it orders.
        after: Kinds,
    },
}

impl Operation {
    /// A full fence.
    pub const SYNC: Operation = Operation::Fence { before: Kinds::ALL, after: Kinds::ALL };

    /// The address accessed; `None` for a fence.
    #[inline]
    pub fn address(&self) -> Option<AddressId> {
        match *self {
            Operation::Read { address, .. }
            | Operation::Write { address, .. }
            | Operation::ReadModifyWrite { address, .. } => Some(address),
            Operation::Fence { .. } => None,
        }
    }

    /// The same operation on the address that `to` has for this one.
    pub(crate) fn at(self, to: impl Fn(AddressId) -> AddressId) -> Operation {
        match self {
            Operation::Read { address, value } => Operation::Read { address: to(address), value },
            Operation::Write { address, value } => Operation::Write { address: to(address), value },
            Operation::ReadModifyWrite { address, read, write } => {
                Operation::ReadModifyWrite { address: to(address), read, write }
            }
            Operation::Fence { .. } => self,
        }
    }

    /// The value read, if this reads.
    #[inline]
    pub fn value_read(&self) -> Option<Value> {
        match *self {
            Operation::Read { value, .. } => Some(value),
            Operation::ReadModifyWrite { read, .. } => Some(read),
            Operation::Write { .. } | Operation::Fence { .. } => None,
        }
    }

    /// The value written, if this writes.
    #[inline]
    pub fn value_written(&self) -> Option<Value> {
        match *self {
            Operation::Write { value, .. } => Some(value),
            Operation::ReadModifyWrite { write, .. } => Some(write),
            Operation::Read { .. } | Operation::Fence { .. } => None,
        }
    }

    /// What this counts as: a read-modify-write is both a read and a write, a fence neither.
    #[inline]
    pub fn kinds(&self) -> Kinds {
        Kinds { reads: self.value_read().is_some(), writes: self.value_written().is_some() }
    }
}

/// When an event began and ended, by its thread's clock; either may be unknown.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Times {
    /// When the request was submitted.
    pub begin: Option<u64>,
    /// When the response was received.
    pub end: Option<u64>,
}

/// One event: who did what, and where the trace says so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event {
    /// What it did.
    pub operation: Operation,
    /// The thread that did it.
    pub thread: ThreadId,
    /// Its place in the program order of its thread, from 0, fences included.
    pub index: u32,
    /// The line of the trace file it was read from, from 1; 0 when it was not read from a file.
    pub line: u32,
}

impl Event {
    /// The address accessed; `None` for a fence.
    #[inline]
    pub fn address(&self) -> Option<AddressId> {
        self.operation.address()
    }

    /// What it counts as.
    #[inline]
    pub fn kinds(&self) -> Kinds {
        self.operation.kinds()
    }

    /// Whether it reads (a read-modify-write does).
    #[inline]
    pub fn is_read(&self) -> bool {
        self.kinds().reads
    }

    /// Whether it writes (a read-modify-write does).
    #[inline]
    pub fn is_write(&self) -> bool {
        self.kinds().writes
    }

    /// Whether it is a fence.
    #[inline]
    pub fn is_fence(&self) -> bool {
        matches!(self.operation, Operation::Fence { .. })
    }

    /// Whether it is a read-modify-write.
    #[inline]
    pub fn is_atomic(&self) -> bool {
        matches!(self.operation, Operation::ReadModifyWrite { .. })
    }
}

/// Where a value came from: the initial write of the address, or a write event.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Source {
    /// The value the address held before any event.
    Initial,
    /// A write (or read-modify-write) of the same address.
    Write(EventId),
}

impl Source {
    /// The same source, its write being the one that `to` has for it.
    #[inline]
    pub(crate) fn at(self, to: impl Fn(EventId) -> EventId) -> Source {
        match self {
            Source::Initial => Source::Initial,
            Source::Write(write) => Source::Write(to(write)),
        }
    }
}

/// How a trace calls an address: a number (decimal and hexadecimal spellings are the same
/// address) or a name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum AddressLabel {
    /// `M[16]`, `M[0x10]`
    Number(u64),
    /// `M[x]`, or `x` for short. The trace formats can say names of the form
    /// `[A-Za-z_][A-Za-z0-9_.$']*`.
    Name(Box<str>),
    /// `M[0x1000:4]`: these bytes.
    Bytes(ByteRange),
}

impl fmt::Display for AddressLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AddressLabel::Number(number) => write!(f, "{number}"),
            AddressLabel::Name(name) => f.write_str(name),
            AddressLabel::Bytes(range) => write!(f, "{range}"),
        }
    }
}

/// The most bytes of one access.
pub const MAX_ACCESS_SIZE: u8 = 16;

/// The bytes that an access of a size covers: 1 to [`MAX_ACCESS_SIZE`], none past 2^64 - 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ByteRange {
    start: u64,
    size: u8,
}

impl ByteRange {
    /// So many bytes from here on; `None` if there are no such bytes.
    pub fn new(start: u64, size: u8) -> Option<Self> {
        let exists = (1..=MAX_ACCESS_SIZE).contains(&size)
            && start.checked_add(u64::from(size) - 1).is_some();
        exists.then_some(Self { start, size })
    }

    /// The bytes that a text like `0x1000:4` stands for.
    pub fn from_text(text: &str) -> Option<Self> {
        let (start, size) = text.strip_prefix("0x")?.split_once(':')?;
        let plain = !start.starts_with('+') && !size.starts_with('+');
        plain.then_some(())?;
        Self::new(u64::from_str_radix(start, 16).ok()?, size.parse().ok()?)
    }

    /// Its lowest byte.
    pub fn start(self) -> u64 {
        self.start
    }

    /// Its highest byte.
    pub fn last(self) -> u64 {
        self.start + (u64::from(self.size) - 1)
    }

    /// How many bytes it has.
    pub fn size(self) -> u8 {
        self.size
    }

    /// Whether both have a byte in common.
    pub fn overlaps(self, other: Self) -> bool {
        self.start <= other.last() && other.start <= self.last()
    }

    /// Whether it has all bytes of the other.
    pub fn covers(self, other: Self) -> bool {
        self.start <= other.start && other.last() <= self.last()
    }

    /// Whether its size is a power of two and its lowest byte a multiple of that.
    pub fn is_aligned(self) -> bool {
        self.size.is_power_of_two() && self.start.is_multiple_of(self.size.into())
    }

    /// Whether a value has no bits beyond these bytes.
    pub fn holds(self, value: u128) -> bool {
        value.checked_shr(8 * u32::from(self.size)).unwrap_or(0) == 0
    }
}

impl fmt::Display for ByteRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}:{}", self.start, self.size)
    }
}
