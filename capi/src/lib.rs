//! The C interface of Tribunal, for simulators and test benches: open a session with a model, report
//! loads, stores, atomics and fences as they are seen, ask, finish, and get the explanation as
//! text. `include/tribunal.h` is the description for users, `dpi/tribunal_pkg.sv` the same for
//! SystemVerilog; a test compares both with this crate.
//!
//! Sessions are numbers, not pointers: a number that was never given or is closed is an error and
//! not a crash. Each session has a lock of its own, so that threads may share one and need not wait
//! for each other otherwise. Nothing unwinds across the border: a panic is caught, and the session is
//! unusable from then on.

mod border;
mod status;
mod table;

pub use border::*;
pub use status::*;
