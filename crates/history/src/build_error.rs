//! The ways in which a trace can be spelled right and still make no sense, each with its sentence.

use std::fmt;

use crate::annotation::AccessOrder;
use crate::builder::{MAX_ADDRESSES, MAX_EVENTS, MAX_THREADS};
use crate::event::{AddressLabel, ByteRange, MAX_ACCESS_SIZE, Value};

/// Something in a trace that is spelled right but makes no sense, and the line it is on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BuildError {
    /// What is wrong.
    pub kind: BuildErrorKind,
    /// The line it is on, from 1; 0 if it concerns no line.
    pub line: u32,
}

/// The ways in which a trace can make no sense.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // the fields are named in the sentence each variant prints
pub enum BuildErrorKind {
    TooManyThreads,
    TooManyEvents,
    TooManyAddresses,
    MemoryBudget { bytes: usize },
    NeedsWholeTrace,
    LateInitial,
    DuplicateName { name: Box<str> },
    UnknownName { name: Box<str> },
    DependencyOnOtherThread { name: Box<str> },
    DependencyOnNonRead { name: Box<str> },
    AnnotatedFence { order: AccessOrder },
    PairOnOtherThread { name: Box<str> },
    PairOfOthers { name: Box<str> },
    PairAddressesDiffer { name: Box<str> },
    PairedTwice { name: Box<str> },
    EndsBeforeItBegins,
    AtomicAddressesDiffer,
    InitTwice { address: AddressLabel },
    FinalTwice { address: AddressLabel },
    OrderOfUnwritten { address: AddressLabel, value: Value },
    OrderOfRepeated { address: AddressLabel, value: Value },
    OrderNamesOther { address: AddressLabel, name: Box<str> },
    OrderRepeats { address: AddressLabel },
    ReadOfUnwritten { address: AddressLabel, value: Value },
    FinalOfUnwritten { address: AddressLabel, value: Value },
    NoSuchSize { size: u64 },
    PastLastByte { start: u64, size: u8 },
    ValueTooWide { bytes: ByteRange, value: u128 },
    LineTooWide { bytes: ByteRange },
    SizeUnknown { number: u64, bytes: ByteRange },
    BytesOfUnwritten { access: ByteRange, bytes: ByteRange, value: Value },
    FinalBytesUnwritten { bytes: ByteRange, value: Value },
    Other { reason: Box<str> },
}

impl fmt::Display for BuildErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use BuildErrorKind::*;
        match self {
            Other { reason } => f.write_str(reason),
            TooManyThreads => write!(f, "more than {MAX_THREADS} threads in one trace"),
            TooManyEvents => write!(f, "more than {MAX_EVENTS} events in one trace"),
            TooManyAddresses => write!(f, "more than {MAX_ADDRESSES} addresses in one trace"),
            NeedsWholeTrace => write!(
                f,
                "--live does not support names, dependencies, pairs, annotations, sizes and \
                 `order` lines; check the trace without --live"
            ),
            LateInitial => write!(
                f,
                "with --live an `init` line must come before the first access of its address; \
                 move it, or check the trace without --live"
            ),
            MemoryBudget { bytes } => {
                let (amount, unit) = match bytes {
                    0..0x10_0000 => (bytes >> 10, "KiB"),
                    _ => (bytes >> 20, "MiB"),
                };
                write!(
                    f,
                    "the trace does not fit the memory limit of {amount} {unit} (raise --memory)"
                )
            }
            DuplicateName { name } => write!(f, "the name `{name}` is already taken in this trace"),
            UnknownName { name } => write!(f, "no earlier event is named `{name}`"),
            DependencyOnOtherThread { name } => {
                write!(
                    f,
                    "`{name}` is an event of another thread; a dependency is within one thread"
                )
            }
            DependencyOnNonRead { name } => {
                write!(f, "`{name}` does not read; a dependency starts at a read")
            }
            AnnotatedFence { order } => {
                let order = order.spelling();
                write!(f, "`{order}` annotates accesses; this is a fence")
            }
            PairOnOtherThread { name } => {
                write!(f, "`{name}` is an event of another thread; a pair is within one thread")
            }
            PairOfOthers { name } => write!(
                f,
                "`pair {name}` joins a store-conditional to its load: a plain write to a plain read"
            ),
            PairAddressesDiffer { name } => {
                write!(f, "`{name}` reads another address than the store-conditional writes")
            }
            PairedTwice { name } => {
                write!(f, "`{name}` or this write already belongs to a pair")
            }
            EndsBeforeItBegins => write!(f, "the event ends before it begins"),
            AtomicAddressesDiffer => {
                write!(f, "a read-modify-write reads and writes one address; these are two")
            }
            InitTwice { address } => write!(f, "a second `init` of M[{address}]"),
            FinalTwice { address } => write!(f, "a second `final` of M[{address}]"),
            OrderOfUnwritten { address, value } => {
                write!(
                    f,
                    "`order` names the value {value}, which was never written to M[{address}]"
                )
            }
            OrderOfRepeated { address, value } => write!(
                f,
                "`order` names the value {value}, which was written to M[{address}] more than \
                 once; name the writes with `as` and use the names here"
            ),
            OrderNamesOther { address, name } => {
                write!(f, "`order` names `{name}`, which is not a write of M[{address}]")
            }
            OrderRepeats { address } => {
                write!(f, "`order` names the same write of M[{address}] twice")
            }
            ReadOfUnwritten { address, value } => write!(
                f,
                "reads {value} from M[{address}], but {value} was never written there (--thin-air \
                 violation reports this as a violation)"
            ),
            FinalOfUnwritten { address, value } => write!(
                f,
                "the final value of M[{address}] is {value}, but {value} was never written there \
                 (--thin-air violation reports this as a violation)"
            ),
            NoSuchSize { size } => {
                write!(f, "an access of {size} bytes; sizes are from 1 to {MAX_ACCESS_SIZE} bytes")
            }
            PastLastByte { start, size } => {
                write!(f, "{size} bytes at {start:#x} would go past the last byte, 2^64 - 1")
            }
            ValueTooWide { bytes, value } => {
                write!(f, "{value:#x} does not fit the {} of M[{bytes}]", count(*bytes))
            }
            LineTooWide { bytes } => write!(
                f,
                "`init` and `final` lines take at most 8 bytes, and M[{bytes}] has more; use one \
                 line for each half"
            ),
            SizeUnknown { number, bytes } => write!(
                f,
                "M[{number:#x}] has no size, and it is a part of M[{bytes}]; give every access of \
                 these bytes a size, as in M[{number:#x}:4]"
            ),
            BytesOfUnwritten { access, bytes, value } => write!(
                f,
                "reads {value:#x} from the {} M[{bytes}] of M[{access}], but {value:#x} was never \
                 written there (--thin-air violation reports this as a violation)",
                count(*bytes)
            ),
            FinalBytesUnwritten { bytes, value } => write!(
                f,
                "the final value of the {} M[{bytes}] is {value:#x}, but {value:#x} was never \
                 written there (--thin-air violation reports this as a violation)",
                count(*bytes)
            ),
        }
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)
    }
}

impl std::error::Error for BuildError {}

fn count(bytes: ByteRange) -> String {
    match bytes.size() {
        1 => "byte".into(),
        size => format!("{size} bytes"),
    }
}

pub(crate) fn error(kind: BuildErrorKind, line: u32) -> BuildError {
    BuildError { kind, line }
}
