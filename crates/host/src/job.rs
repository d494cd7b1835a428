//! What the workers is given: machine code for each thread, and the memory that one run works on.

use crate::arch::Code;
use crate::timing::PREPARED;
use crate::workers::LINE;

/// One test, assembled.
///
/// A *word* is a place of the test's memory. Each run works on an *instance*: fresh memory for all
/// words, laid out in the same way.
#[derive(Debug)]
pub(crate) struct Job {
    /// What each thread runs.
    pub(crate) threads: Vec<Code>,
    /// The words of an instance.
    pub(crate) words: Vec<Word>,
    /// Where in the instance the cache lines begin that are prepared before a run.
    pub(crate) lines: Vec<usize>,
    /// Bytes of an instance, a whole number of cache lines.
    pub(crate) instance: usize,
    /// Whether every value of a run counts from a base that no other run shares, so that a value
    /// left over by another run is not mistaken for one of this.
    pub(crate) based: bool,
}

/// A word of memory, whole and aligned.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Word {
    /// Where in the instance, in bytes; a multiple of 8.
    pub(crate) offset: usize,
    /// The initial value.
    pub(crate) initial: u64,
}

/// The offsets of the cache lines of words, in the order of the words, so that a line has the same
/// number in every memory layout.
pub(crate) fn lines(words: &[Word]) -> Vec<usize> {
    let mut lines: Vec<usize> = Vec::new();
    for word in words {
        let line = word.offset / LINE * LINE;
        if !lines.contains(&line) && lines.len() < PREPARED {
            lines.push(line);
        }
    }
    lines
}

impl Job {
    /// Whether a thread gave a run up, given its results of the run.
    pub(crate) fn gave_up(code: &Code, results: &[u64]) -> bool {
        code.loops() && results.last().is_some_and(|&last| last != 0)
    }

    /// The number of values of a run: the results of all threads, then the final value of each
    /// word.
    pub(crate) fn yields(&self) -> usize {
        self.threads.iter().map(Code::results).sum::<usize>() + self.words.len()
    }
}
