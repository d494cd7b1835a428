//! What depends on the machine: assembling a thread's code, the clock, the caches, the cores.
//!
//! A second architecture is a second module with the same four things: `Code`, `assemble`, `now`
//! and `warm`, and `check` that says whether this machine will do.

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod x86_64;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub(crate) use x86_64::{Code, assemble, check, now, warm_line};

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
mod elsewhere;
#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
pub(crate) use elsewhere::{Code, assemble, check, now, warm_line};
