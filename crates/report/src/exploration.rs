//! What came of exploring a model, as [`text`] for a person and as [`json`] for a program.

pub mod graph;
pub mod json;
pub mod text;
