//! The outcomes of a test under a model that is a file of cat.
//!
//! `thread` says what a thread is to this, `x86` and `risc` are the threads of the architectures;
//! `shapes` runs each of them on its own, and `join` puts a run of every thread together: who reads
//! from whom is chosen read by read, and what the model and the values of the runs rule out is not
//! followed.

mod cells;
mod join;
mod risc;
mod shapes;
mod text;
mod thread;
mod x86;

pub use join::Reached;
pub(crate) use join::explore;
