//! What is wrong with this text, and where? Shared by every language that is read here.
//!
//! A [`source::Source`] is a text with a name, a [`source::Span`] a piece of it, and a
//! [`diagnostic::Diagnostic`] something to say about such a piece, shown with the line underlined.

pub mod diagnostic;
pub mod excerpt;
mod refusal;
pub mod source;

pub use refusal::Refusal;
