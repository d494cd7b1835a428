//! How does this protocol run fast? Typed Murphi models to machine code, in-process.
//!
//! [`Program::compile`] translates the rules, functions and properties of a model with Cranelift.
//! Each thread then asks the program for a [`NativeMachine`], which does what the reference
//! interpreter does, on the same bytes and with the same outcomes, without its explanations: where a
//! rule fails, the interpreter is asked to say why. A program also packs and unpacks states. Programs
//! that have much in common share functions through a [`CodeCache`].
//!
//! `unsafe` is in `host` (what native code calls), `machine` (calling it), `code` (its memory),
//! `program` (its entries), `pack` and `processor` (instructions of the processor).

mod cache;
mod code;
mod facts;
mod host;
mod machine;
mod memo;
mod orders;
mod pack;
mod processor;
mod program;
mod shape;
mod translate;

use std::fmt;

pub use cache::CodeCache;
pub use machine::NativeMachine;
pub use processor::{equal_numbers, load_early};
pub use program::{Manner, Program};

/// Why a model cannot be compiled. The reference interpreter runs it all the same, unless it has
/// too many instances.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// The rule, start state or property of this name has more instances than can be counted.
    TooManyInstances(String),
    /// A function would be too large, or its locals.
    TooLarge,
    /// A function that calls itself and may remove elements of a multiset is given a reference to
    /// one of them.
    ElementInRecursion,
    /// There is no code generator for this processor.
    Host(String),
    /// The code generator refused what it was given.
    Compilation(String),
    /// It was no longer wanted.
    Stopped,
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::TooManyInstances(name) => {
                write!(out, "`{name}` has more instances than can be counted in 64 bits")
            }
            Error::TooLarge => out.write_str("the model is too large to be compiled"),
            Error::ElementInRecursion => out.write_str(
                "a function that calls itself and removes elements of a multiset is given one of \
                 them as a parameter, which is not supported: pass a copy",
            ),
            Error::Host(reason) => {
                write!(out, "native code is not available on this processor: {reason}")
            }
            Error::Compilation(reason) => {
                write!(out, "the model could not be compiled: {reason}")
            }
            Error::Stopped => out
                .write_str("the time limit was reached while compiling the model (raise --budget)"),
        }
    }
}

impl std::error::Error for Error {}
