//! Judging as Axe does (Naylor, Moore and Mujumdar, 2016): `OK` or `NO` for each trace, and a test
//! against a file of expected answers. Unlike Axe, values may repeat and 0 may be written.

use evidence::Verdict;
use history::{Format, InputError};

use crate::stream::{Answers, Job};

/// What is said of a trace; there is no third word, so "undecided" ends a run.
pub type Answer = Verdict<(), (), ()>;

/// The answers to all traces of a job, up to the first that cannot be read.
pub fn answers(mut job: Job) -> Answers<Answer> {
    job.format = Some(Format::Text);
    job.options.axe_addresses = true;
    job.start(|_| (), |judged| judged.verdict())
}

/// An expected answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expected {
    /// Whether it is `OK`.
    pub ok: bool,
    /// The name of the test, if it has one.
    pub name: String,
}

/// The expected answers of a file: `OK` or `NO` and perhaps a name, a line each. The error is the
/// number of the first line that is none.
///
/// ```
/// use tribunal_judge::axe::expected;
///
/// assert_eq!(expected("OK\n\nNO coherence\n").unwrap()[1].name, "coherence");
/// assert_eq!(expected("OK\nMAYBE\n"), Err(2));
/// ```
pub fn expected(text: &str) -> Result<Vec<Expected>, usize> {
    let mut answers = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let (word, name) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        let ok = match word {
            "OK" => true,
            "NO" => false,
            "" => continue,
            _ => return Err(number + 1),
        };
        answers.push(Expected { ok, name: name.trim().to_owned() });
    }
    Ok(answers)
}

/// What came of a test.
#[derive(Debug)]
pub enum Tested<'a> {
    /// All answers are as expected.
    Passed,
    /// The first that is not: its index, and what was expected.
    Failed(usize, &'a Expected),
    /// The trace of this number could not be decided.
    Undecided(usize),
    /// There are more traces than expected answers.
    Unexpected,
    /// There are only so many traces, or no more answers were wanted.
    Ended(usize),
    /// A trace could not be read.
    Unreadable(InputError),
}

/// Compares answers with the expected ones, up to the first difference.
pub fn compare<'a>(answers: &mut Answers<Answer>, expected: &'a [Expected]) -> Tested<'a> {
    for (index, expected) in expected.iter().enumerate() {
        let said = match answers.wait() {
            Some(Ok(Verdict::Holds(()))) => true,
            Some(Ok(Verdict::Broken(()))) => false,
            Some(Ok(Verdict::Undecided(()))) => return Tested::Undecided(index + 1),
            Some(Err(unread)) => return Tested::Unreadable(unread.error),
            None => return Tested::Ended(index),
        };
        if said != expected.ok {
            return Tested::Failed(index, expected);
        }
    }
    match answers.wait() {
        None => Tested::Passed,
        Some(_) => Tested::Unexpected,
    }
}
