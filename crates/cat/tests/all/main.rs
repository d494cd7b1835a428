//! All tests of the crate, in one program.

mod agreement;
mod language;
mod support;
