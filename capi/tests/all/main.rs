//! The tests of the C interface: from C, from SystemVerilog, and by calls at random.

#![allow(clippy::unwrap_used)] // a test may fail

mod driver;
mod header;
mod languages;
mod random;
