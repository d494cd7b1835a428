//! The source of randomness.

pub use chance::Rng;
