//! Calls that make no sense, each with the sentence that says why.

use std::fmt;

use crate::MOST_THREADS;

/// A call that makes no sense. It has changed nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Misuse {
    /// No threads, or too many, are declared.
    Threads {
        /// How many.
        threads: u32,
    },
    /// Values are declared with no bits, or with too many.
    ValueBits {
        /// How many.
        bits: u32,
    },
    /// A thread was never declared.
    Thread {
        /// The thread.
        thread: u32,
        /// How many there are.
        threads: u32,
    },
    /// A value does not fit the declared width.
    Value {
        /// The value.
        value: u64,
        /// The width.
        bits: u32,
    },
    /// An initial value comes after the first access of its address.
    Late {
        /// The address.
        address: u64,
    },
    /// A fence orders nothing.
    Fence,
    /// An event or a question comes after the end.
    Finished,
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Misuse::Threads { threads } => {
                write!(f, "{threads} threads are declared; declare 1 to {MOST_THREADS}")
            }
            Misuse::ValueBits { bits } => {
                write!(f, "values of {bits} bits are declared; declare 1 to 64")
            }
            Misuse::Thread { thread, threads: 1 } => {
                write!(f, "thread {thread} was never declared; there is only thread 0")
            }
            Misuse::Thread { thread, threads } => {
                write!(f, "thread {thread} was never declared; there are 0 to {}", threads - 1)
            }
            Misuse::Value { value, bits } => {
                write!(f, "value {value:#x} does not fit {bits} bits, as declared")
            }
            Misuse::Late { address } => {
                let advice = "say initial values before the first access of the address";
                write!(f, "M[{address:#x}] has been accessed already; {advice}")
            }
            Misuse::Fence => {
                f.write_str("a fence orders loads, stores or both before loads, stores or both")
            }
            Misuse::Finished => f.write_str("the session is finished; open another one"),
        }
    }
}

impl std::error::Error for Misuse {}
