//! Does this protocol implement its memory model?

mod compose;
mod events;
mod independence;
mod sc;

pub use events::EventNames;
