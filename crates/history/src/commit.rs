//! Where events come from, for traces of simulators that say so: the program counter, the
//! instruction and the cycle, so that an engineer finds the place in a waveform.
//!
//! Twenty bytes an event and each text once, or nothing at all. None of it takes part in a verdict.

use std::fmt;

use rustc_hash::FxHashMap;

use crate::columns::scattered;

/// The commit of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Commit<'h> {
    /// The program counter.
    pub pc: Option<u64>,
    /// The text of the instruction.
    pub instruction: Option<&'h str>,
    /// The cycle, or the time, by the clock of the simulator.
    pub cycle: Option<u64>,
}

/// `0x80000010 lw a0,0(a1), cycle 67`
impl fmt::Display for Commit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        if let Some(pc) = self.pc {
            write!(f, "{pc:#x}")?;
            separator = " ";
        }
        if let Some(text) = self.instruction {
            write!(f, "{separator}{text}")?;
            separator = ", ";
        }
        if let Some(cycle) = self.cycle {
            let separator = if separator == " " { ", " } else { separator };
            write!(f, "{separator}cycle {cycle}")?;
        }
        Ok(())
    }
}

/// The commits of the events of a trace; empty where none is known.
#[derive(Clone, Debug, Default)]
pub(crate) struct CommitColumns {
    pcs: Vec<u64>,
    cycles: Vec<u64>,
    texts: Vec<u32>,
    /// The texts by their numbers, and their numbers.
    table: Vec<Box<str>>,
    numbers: FxHashMap<Box<str>, u32>,
}

/// What stands for a missing number. A program counter is even.
const NONE: u64 = u64::MAX;

impl CommitColumns {
    /// The number of a text that is missing.
    pub(crate) const NO_TEXT: u32 = u32::MAX;

    pub(crate) fn is_empty(&self) -> bool {
        self.pcs.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.pcs.len()
    }

    /// The number of a text.
    pub(crate) fn text(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let number = self.table.len() as u32;
        self.table.push(text.into());
        self.numbers.insert(text.into(), number);
        number
    }

    /// Says where an event comes from; the text by its number.
    pub(crate) fn set(&mut self, event: usize, pc: Option<u64>, text: u32, cycle: Option<u64>) {
        if self.len() <= event {
            self.resize(event + 1);
        }
        self.pcs[event] = pc.unwrap_or(NONE);
        self.texts[event] = text;
        self.cycles[event] = cycle.unwrap_or(NONE);
    }

    fn resize(&mut self, length: usize) {
        self.pcs.resize(length, NONE);
        self.cycles.resize(length, NONE);
        self.texts.resize(length, Self::NO_TEXT);
    }

    pub(crate) fn get(&self, event: usize) -> Option<Commit<'_>> {
        let known = |number: u64| Some(number).filter(|&number| number != NONE);
        let commit = Commit {
            pc: known(*self.pcs.get(event)?),
            instruction: self.table.get(self.texts[event] as usize).map(|text| &**text),
            cycle: known(self.cycles[event]),
        };
        let says = commit.pc.is_some() || commit.instruction.is_some() || commit.cycle.is_some();
        says.then_some(commit)
    }

    /// The same in another order: `to[event]` is the place of an event.
    pub(crate) fn reordered(mut self, to: &[u32]) -> Self {
        if self.is_empty() {
            return self;
        }
        self.resize(to.len());
        self.pcs = scattered(std::mem::take(&mut self.pcs), to);
        self.cycles = scattered(std::mem::take(&mut self.cycles), to);
        self.texts = scattered(std::mem::take(&mut self.texts), to);
        self
    }
}
