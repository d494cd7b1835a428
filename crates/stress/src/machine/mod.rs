//! Reference machines: sc, tso, pso, wmo, rmo, rvwmo and aarch64 as machines that perform instructions.
//!
//! Each machine has one memory. A load is performed when it takes its value, a store when it
//! reaches the memory, an atomic does both at once. Threads go through their instructions in
//! program order, but what has not been performed yet may be overtaken, as far as the model lets
//! it ([`rules`]); a load whose place its own thread is still to store to takes the value of that
//! store. A run performs every instruction once. `random` makes runs at random, fast; `exhaustive`
//! makes all of them.

mod bug;
mod compile;
mod exhaustive;
mod random;
mod rules;
mod walk;

pub use bug::{Bug, UnknownBug};
pub use exhaustive::Exhaustive;
pub use random::Machine;
pub use rules::{MemoryModel, NoMachine};
