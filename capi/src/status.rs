//! What calls return: how things stand, from 0 up, or what is wrong with the call, below 0.

use testbench::{Misuse, TraceStatus};

/// There is an order that explains every read.
pub const TRIBUNAL_CONSISTENT: i32 = 0;
/// There may be one: some of the last events are not explained yet.
pub const TRIBUNAL_OPEN: i32 = 1;
/// Nothing is certain.
pub const TRIBUNAL_UNDECIDED: i32 = 2;
/// What has come violates the model, whatever is still to come.
pub const TRIBUNAL_VIOLATION: i32 = 3;
/// There is no such session: it was never opened, or it is closed.
pub const TRIBUNAL_ERROR_SESSION: i32 = -1;
/// There is no such model.
pub const TRIBUNAL_ERROR_MODEL: i32 = -2;
/// A pointer is null, a text is not UTF-8, or a number is none of those that are possible.
pub const TRIBUNAL_ERROR_ARGUMENT: i32 = -3;
/// The thread was never declared.
pub const TRIBUNAL_ERROR_THREAD: i32 = -4;
/// The value does not fit the declared width.
pub const TRIBUNAL_ERROR_VALUE: i32 = -5;
/// An initial value comes after the first access of its address.
pub const TRIBUNAL_ERROR_LATE: i32 = -6;
/// The session is finished.
pub const TRIBUNAL_ERROR_FINISHED: i32 = -7;
/// A bug in Tribunal; the session cannot be used any more.
pub const TRIBUNAL_ERROR_INTERNAL: i32 = -8;

/// Accesses that a fence orders: loads.
pub const TRIBUNAL_LOADS: u32 = 1;
/// Accesses that a fence orders: stores.
pub const TRIBUNAL_STORES: u32 = 2;

/// What is wrong with a call.
#[derive(Debug)]
pub(crate) struct CallError {
    pub(crate) status: i32,
    pub(crate) sentence: String,
}

impl CallError {
    pub(crate) fn argument(sentence: impl Into<String>) -> CallError {
        CallError { status: TRIBUNAL_ERROR_ARGUMENT, sentence: sentence.into() }
    }
}

impl From<Misuse> for CallError {
    fn from(misuse: Misuse) -> Self {
        let status = match misuse {
            Misuse::Threads { .. } | Misuse::ValueBits { .. } | Misuse::Fence => {
                TRIBUNAL_ERROR_ARGUMENT
            }
            Misuse::Thread { .. } => TRIBUNAL_ERROR_THREAD,
            Misuse::Value { .. } => TRIBUNAL_ERROR_VALUE,
            Misuse::Late { .. } => TRIBUNAL_ERROR_LATE,
            Misuse::Finished => TRIBUNAL_ERROR_FINISHED,
        };
        CallError { status, sentence: misuse.to_string() }
    }
}

pub(crate) fn of_standing(standing: TraceStatus) -> i32 {
    match standing {
        TraceStatus::Consistent => TRIBUNAL_CONSISTENT,
        TraceStatus::Open => TRIBUNAL_OPEN,
        TraceStatus::Undecided => TRIBUNAL_UNDECIDED,
        TraceStatus::Violation => TRIBUNAL_VIOLATION,
    }
}

/// A status in a sentence.
pub(crate) fn sentence(status: i32) -> &'static std::ffi::CStr {
    match status {
        TRIBUNAL_CONSISTENT => c"consistent",
        TRIBUNAL_OPEN => c"open: some of the last events are not explained yet",
        TRIBUNAL_UNDECIDED => c"undecided",
        TRIBUNAL_VIOLATION => c"violation",
        TRIBUNAL_ERROR_SESSION => c"unknown session: it was never opened, or is closed",
        TRIBUNAL_ERROR_MODEL => c"unknown model",
        TRIBUNAL_ERROR_ARGUMENT => c"an argument is null, not UTF-8 or out of range",
        TRIBUNAL_ERROR_THREAD => c"the thread was never declared",
        TRIBUNAL_ERROR_VALUE => c"the value does not fit the declared width",
        TRIBUNAL_ERROR_LATE => c"an initial value comes after the first access of its address",
        TRIBUNAL_ERROR_FINISHED => c"the session is finished",
        TRIBUNAL_ERROR_INTERNAL => c"a bug in Tribunal; the session cannot be used any more",
        _ => c"not a status of Tribunal",
    }
}
