//! x86-64 under Linux.

mod assemble;
mod code;
mod litmus;
mod processor;

pub(crate) use assemble::assemble;
pub(crate) use code::Code;
pub(crate) use litmus::assemble_litmus;
pub(crate) use processor::{check, now, warm_line};
