//! Machines for which there is no assembler yet. Nothing here can be reached: `check` refuses.

use stress::Instruction;

use crate::litmus::ThreadCode;
use crate::memory::Memory;
use crate::timing::Warm;

/// Code that cannot exist.
#[derive(Debug)]
pub(crate) enum Code {}

impl Code {
    pub(crate) fn results(&self) -> usize {
        match *self {}
    }

    pub(crate) fn loops(&self) -> bool {
        match *self {}
    }

    pub(crate) fn reach(&self) -> usize {
        match *self {}
    }

    /// # Safety
    ///
    /// Cannot be called.
    pub(crate) unsafe fn run(&self, _: *mut u8, _: u64, _: &mut [u64]) {
        match *self {}
    }
}

pub(crate) fn assemble(_: &[Instruction], _: &dyn Fn(u32) -> usize) -> Result<Code, String> {
    check().map(|()| unreachable!("check refuses"))
}

pub(crate) fn assemble_litmus(_: &ThreadCode<'_>) -> Result<Code, String> {
    check().map(|()| unreachable!("check refuses"))
}

pub(crate) fn check() -> Result<(), String> {
    Err("tests run on this machine's own cores only on x86-64 under Linux".into())
}

pub(crate) fn now() -> u64 {
    0
}

pub(crate) fn warm_line(_: &Memory, _: usize, _: Warm) {}
