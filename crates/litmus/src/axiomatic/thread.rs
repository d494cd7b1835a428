//! One thread, run step by step, with what each of its registers depends on.
//!
//! A step computes on registers, or asks for something that its thread cannot know: what a load
//! returns, whether a store-conditional succeeds. [`Program`] is what a thread does, for whichever
//! architecture; it is given the registers and says what is next. Dependencies are those of the
//! text: a register depends on the reads that any operand of the instruction which last wrote it
//! depended on, whatever was computed.
//!
//! A conditional select of Arm has another kind besides, the *pick dependency*: its result depends on
//! the operand that it selects, and is picked by what the flags depend on. The manual orders what is
//! picked as if there were a branch: nothing before a read, but writes ("pick-ordered-before"), so
//! `shapes` makes control dependencies of picks.

use std::ops::{BitOr, BitOrAssign};

use history::{AccessOrder, FenceName, Kinds};

use crate::test::Size;

/// A set of events of one thread, by their numbers in its run.
pub(crate) type Events = u128;
/// No more events in a run than a set has room for.
pub(crate) const MOST_EVENTS: usize = 128;

/// What a value depends on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Sources {
    /// The reads that it is computed from.
    pub(crate) carried: Events,
    /// The reads that decided from what.
    pub(crate) picked: Events,
}

impl Sources {
    /// What a constant depends on.
    pub(crate) const NONE: Sources = Sources { carried: 0, picked: 0 };

    /// What an event returns.
    pub(crate) fn event(by: usize) -> Self {
        Sources { carried: 1 << by, ..Sources::NONE }
    }

    /// All of it.
    pub(crate) fn all(self) -> Events {
        self.carried | self.picked
    }

    /// What this decides about depends on.
    pub(crate) fn as_pick(self) -> Self {
        Sources { picked: self.all(), ..Sources::NONE }
    }
}

impl BitOr for Sources {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Sources { carried: self.carried | other.carried, picked: self.picked | other.picked }
    }
}

impl BitOrAssign for Sources {
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}

/// The registers of a thread, and the events that each depends on.
#[derive(Clone, Debug)]
pub(crate) struct Registers {
    pub(crate) values: Vec<u64>,
    pub(crate) sources: Vec<Sources>,
}

impl Registers {
    pub(crate) fn new(values: Vec<u64>) -> Self {
        let sources = vec![Sources::NONE; values.len()];
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
    Modify { request: Request, returns_nothing: bool },
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

    /// The registers after the load at a step has returned a value, which depends on these.
    fn loaded(&self, step: u32, registers: &mut Registers, value: u64, from: Sources);

    /// The registers after the store-conditional at a step: the event that wrote, if it succeeded.
    fn stored(&self, step: u32, registers: &mut Registers, by: Option<usize>);

    /// The registers after the atomic at a step has read a value, which depends on these, and what it
    /// writes, with what that depends on besides the value; `None` if it writes nothing.
    fn modified(
        &self,
        step: u32,
        registers: &mut Registers,
        value: u64,
        from: Sources,
    ) -> Option<Operand>;

    /// The same if the atomic has another way to do it.
    fn modified_otherwise(
        &self,
        _step: u32,
        _registers: &mut Registers,
        _value: u64,
        _from: Sources,
    ) -> Option<Operand> {
        None
    }

    /// Whether the two halves of an atomic are one event of the memory.
    fn has_atomics_as_one(&self) -> bool;

    /// Whether an access of part of a location is taken for one of all of it.
    fn ignores_sizes(&self) -> bool;
}
