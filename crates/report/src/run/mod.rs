//! A run of a protocol as a page: a message-sequence chart to step through, with the state as a tree,
//! the source of each rule beside it, and what was found at its end.
//!
//! [`Recognised`] says which variables are messages and who acts in a rule, [`Chart`] draws a run by
//! it, and [`explored`], [`verified`] and [`any_number`] make the pages.

mod chart;
mod page;
mod recognise;
mod search;
mod states;

pub use chart::{Arrow, Chart};
pub use page::{any_number, explored, verified};
pub use recognise::{Lanes, Recognised, Unrecognised};
