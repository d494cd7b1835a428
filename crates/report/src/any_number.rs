//! What came of verifying a protocol for any number of processors: [`text`] shows it to a person,
//! [`json`] to a program.

pub mod json;
pub mod text;
