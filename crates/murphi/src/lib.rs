//! What does this protocol do? Murphi, from its source to something that runs.
//!
//! A text passes [`lex`], [`parse`] (to an [`ast`]) and [`check`] (to the typed [`ir`]), each of
//! which answers bad input with [`diagnostic`]s. The typed model is run by the reference
//! interpreter in [`interpret`], or compiled by the `native` crate; both are a
//! [`machine::Machine`] on states laid out by [`layout`].

pub mod ast;
pub mod check;
mod constants;
pub mod goal;
pub mod instance;
pub mod interpret;
pub mod ir;
pub mod layout;
pub mod lex;
pub mod machine;
pub mod parse;
pub mod print;
pub mod priority;
pub mod random;
pub mod symmetric;
pub mod transform;
pub mod value;
pub mod walk;

pub use check::load;
pub use constants::constants;
pub use diagnostics::{Refusal, diagnostic, source};
