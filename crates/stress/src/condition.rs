//! The outcome that a test is about.

use history::Value;

use crate::outcome::Outcome;
use crate::program::Program;

/// What some reads of a program return and some places hold at the end: the outcome that a litmus
/// test asks about. It says nothing of the others.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Condition {
    /// Reading instructions, as thread and index, in that order, and what each returns.
    pub reads: Vec<(u32, u32, Value)>,
    /// Places, ascending, and what each holds at the end.
    pub finals: Vec<(u32, Value)>,
}

impl Condition {
    /// Whether an outcome of a program is the one asked about. `None` if it does not say what
    /// memory held at the end and that matters.
    ///
    /// ```
    /// use tribunal_stress::{Cycle, Outcome};
    ///
    /// let test = "PodWR Fre PodWR Fre".parse::<Cycle>()?.test();
    /// let condition = test.condition.unwrap_or_default();
    /// let holds = |reads: [u64; 2]| {
    ///     condition.holds(&test.program, &Outcome { reads: reads.into(), finals: None })
    /// };
    /// assert_eq!(holds([0, 0]), Some(true));
    /// assert_eq!(holds([1, 0]), Some(false));
    /// # Ok::<(), tribunal_stress::CycleError>(())
    /// ```
    pub fn holds(&self, program: &Program, outcome: &Outcome) -> Option<bool> {
        let mut returned = program.readers().zip(&outcome.reads);
        let reads = self.reads.iter().all(|&(thread, index, value)| {
            returned.any(|((t, i, _), &read)| {
                (t, i) == (thread as usize, index as usize) && read == value
            })
        });
        if !reads || self.finals.is_empty() {
            return Some(reads);
        }
        let finals = outcome.finals.as_ref()?;
        Some(self.finals.iter().all(|&(place, value)| finals.get(place as usize) == Some(&value)))
    }

    /// Whether it speaks of instructions and places that the program has, each once and in order.
    pub(crate) fn fits(&self, program: &Program) -> bool {
        let reads = |&(thread, index, _): &(u32, u32, Value)| {
            let thread = program.threads.get(thread as usize);
            let instruction = thread.and_then(|thread| thread.get(index as usize));
            instruction.is_some_and(|instruction| instruction.action.reads())
        };
        self.reads.iter().all(reads)
            && self.reads.windows(2).all(|pair| (pair[0].0, pair[0].1) < (pair[1].0, pair[1].1))
            && self.finals.iter().all(|&(place, _)| (place as usize) < program.places.len())
            && self.finals.windows(2).all(|pair| pair[0].0 < pair[1].0)
    }
}

/// A program and the outcome that it is about, if it is about one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Test {
    /// The program.
    pub program: Program,
    /// The outcome.
    pub condition: Option<Condition>,
}

impl From<Program> for Test {
    fn from(program: Program) -> Self {
        Test { program, condition: None }
    }
}
