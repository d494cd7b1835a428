//! What depends on the machine: assembling a thread's code, the clock, the caches, the cores.
//!
//! A second architecture is a second module with the same things: `Code`, `assemble` for programs,
//! `assemble_litmus` for litmus tests (in its own language), `now` and `warm_line`, and `check` that
//! says whether this machine will do.

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod x86_64;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub(crate) use x86_64::{Code, assemble, assemble_litmus, check, now, warm_line};

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
mod elsewhere;
#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
pub(crate) use elsewhere::{Code, assemble, assemble_litmus, check, now, warm_line};
