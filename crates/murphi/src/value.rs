//! Value.
