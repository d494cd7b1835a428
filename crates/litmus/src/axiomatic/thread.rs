//! One thread, run step by step, with what each of its registers depends on.
//!
//! A step computes on registers, or asks for something that its thread cannot know: what a load
//! returns, whether a store-conditional succeeds. [`Program`] is what a thread does, for whichever
//! architecture; it is given the registers and says what is next. Dependencies are those of the
//! text: a register depends on the reads that any operand of the instruction which last wrote it
//! depended on, whatever was computed.

use history::{AccessOrder, FenceName, Kinds};

use crate::test::Size;

/// A set of events of one thread, by their numbers in its run.
pub(crate) type Sources = u128;
/// No more events in a run than a set has room for.
pub(crate) const MOST_EVENTS: usize = 128;

/// The registers of a thread, and the events that each depends on.
#[derive(Clone, Debug)]
pub(crate) struct Registers {
    pub(crate) values: Vec<u64>,
    pub(crate) sources: Vec<Sources>,
}

impl Registers {
    pub(crate) fn new(values: Vec<u64>) -> Self {
        let sources = vec![0; values.len()];
        Registers { values, sources }
    }
}

/// A value, and what it depends on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Operand {
    pub(crate) value: u64,
    pub(crate) sources: Sources,
}

/// An access that a thread is about to make.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) address: Operand,
    pub(crate) size: Size,
    pub(crate) order: Option<AccessOrder>,
}

/// What a thread does next.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ThreadAction {
    /// It has computed on its registers.
    Computed { next: u32 },
    /// It has gone on by a decision that depends on these events.
    Branched { sources: Sources, next: u32 },
    /// It reads; [`Program::loaded`] takes the value.
    Load { request: Request, exclusive: bool },
    /// It writes.
    Store { request: Request, value: Operand },
    /// It writes, or fails to; [`Program::stored`] is called.
    StoreConditional { request: Request, value: Operand },
    /// It reads and writes at once; [`Program::modified`] takes the value and says what is written.
    Modify { request: Request, operand: Sources, returns_nothing: bool },
    /// A fence.
    Fence { before: Kinds, after: Kinds, name: Option<FenceName> },
    /// It has ended.
    End,
}

/// What a thread does.
pub(crate) trait Program {
    /// The registers at first.
    fn start(&self) -> Registers;

    /// What it does at a step; computing is done at once.
    fn act(&self, step: u32, registers: &mut Registers) -> ThreadAction;

    /// The registers after the load at a step has returned a value by the event `by`.
    fn loaded(&self, step: u32, registers: &mut Registers, value: u64, by: usize);

    /// The registers after the store-conditional at a step: the event that wrote, if it succeeded.
    fn stored(&self, step: u32, registers: &mut Registers, by: Option<usize>);

    /// The registers after the atomic at a step has read a value by the event `by`, and what it
    /// writes; `None` if it writes nothing.
    fn modified(&self, step: u32, registers: &mut Registers, value: u64, by: usize) -> Option<u64>;

    /// Whether the two halves of an atomic are one event of the memory.
    fn has_atomics_as_one(&self) -> bool;

    /// Whether an access of part of a location is taken for one of all of it.
    fn ignores_sizes(&self) -> bool;
}
