//! What is printed, compared with what is expected of it.

pub(crate) use snapshot::assert_printed;
