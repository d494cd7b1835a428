//! How often what happened: which kinds of programs were made, with how many processors they are
//! broken, and what was said about them.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use super::faults::Kind;
use super::truth::{Broken, MOST};

/// What was said.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Answer {
    Verified,
    /// Undecided, or a violation.
    Alarm,
    Refused,
    /// The abstraction is no program.
    Malformed(String),
}

/// What was made of one kind, and what was said about it.
#[derive(Debug, Default, Clone)]
pub(crate) struct Row {
    /// Programs that are broken first with so many processors; at 0 those that are not broken.
    pub(crate) broken_with: [usize; MOST as usize + 1],
    pub(crate) verified: usize,
    pub(crate) alarm: usize,
    pub(crate) refused: usize,
    /// Verified although broken, or no program.
    pub(crate) wrong: usize,
}

impl Row {
    /// Programs that only four or more processors break.
    pub(crate) fn broken_by_many(&self) -> usize {
        self.broken_with[4..].iter().sum()
    }

    fn add(&mut self, other: &Row) {
        for (sum, each) in self.broken_with.iter_mut().zip(other.broken_with) {
            *sum += each;
        }
        self.verified += other.verified;
        self.alarm += other.alarm;
        self.refused += other.refused;
        self.wrong += other.wrong;
    }
}

/// All that happened.
#[derive(Debug, Default)]
pub(crate) struct Mix {
    pub(crate) families: usize,
    /// Without lemmas.
    pub(crate) kinds: BTreeMap<Kind, Row>,
    /// With lemmas of a hostile user.
    pub(crate) with_lemmas: Row,
    pub(crate) by_the_loop: Row,
    /// In views of four or five, where three are too few.
    pub(crate) in_wide_views: Row,
    /// How long the search for the truth took, and how long the answers.
    pub(crate) truth: Duration,
    pub(crate) answers: Duration,
}

impl Mix {
    pub(crate) fn programs(&self) -> usize {
        self.total().broken_with.iter().sum()
    }

    pub(crate) fn total(&self) -> Row {
        let mut total = Row::default();
        self.kinds.values().for_each(|row| total.add(row));
        total
    }

    /// That every kind occurs, that many programs are broken by many processors only, and that not
    /// nearly all of them are refused: otherwise it would be easy to find nothing.
    pub(crate) fn is_aimed_well(&self) {
        let total = self.total();
        for (kind, row) in &self.kinds {
            let made: usize = row.broken_with.iter().sum();
            assert!(made > 0, "nothing of this kind is made: {kind:?}\n{self}");
        }
        assert!(self.kinds.len() >= 6, "kinds are missing\n{self}");
        let late: usize = total.broken_with[5..].iter().sum();
        assert!(total.broken_by_many() * 12 > self.programs(), "few are broken by many\n{self}");
        assert!(late > 0, "none is broken by five or more only\n{self}");
        assert!(total.broken_with[0] * 20 > self.programs(), "few are right\n{self}");
        let answers = total.verified + total.alarm + total.refused;
        assert!(total.refused * 4 < answers * 3, "most are refused\n{self}");
        assert!(total.verified * 20 > answers, "few are verified\n{self}");
        let lemmas = &self.with_lemmas;
        assert!(lemmas.alarm + lemmas.verified > 0, "few lemmas are taken\n{self}");
    }

    /// A program was made.
    pub(crate) fn made(&mut self, kind: Kind, broken: Broken) {
        let row = self.kinds.entry(kind).or_default();
        row.broken_with[broken.least_from(0).unwrap_or(0) as usize] += 1;
    }
}

/// Counts an answer.
pub(crate) fn count(row: &mut Row, answer: &Answer, is_wrong: bool) {
    match answer {
        Answer::Verified => row.verified += 1,
        Answer::Alarm => row.alarm += 1,
        Answer::Refused => row.refused += 1,
        Answer::Malformed(_) => {}
    }
    row.wrong += usize::from(is_wrong);
}

impl fmt::Display for Mix {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            out,
            "{} families, {} programs; truth {:.1} s, answers {:.1} s",
            self.families,
            self.programs(),
            self.truth.as_secs_f64(),
            self.answers.as_secs_f64()
        )?;
        writeln!(
            out,
            "{:16}{:>7}{:>6}{:>6}{:>6}{:>6}{:>6}{:>6} | {:>8}{:>8}{:>8}{:>7}",
            "broken with", "none", 2, 3, 4, 5, 6, 7, "verified", "alarm", "refused", "wrong"
        )?;
        let mut row = |name: &str, row: &Row| {
            write!(out, "{name:16}{:>7}", row.broken_with[0])?;
            for count in &row.broken_with[2..] {
                write!(out, "{count:>6}")?;
            }
            let Row { verified, alarm, refused, wrong, .. } = row;
            writeln!(out, " | {verified:>8}{alarm:>8}{refused:>8}{wrong:>7}")
        };
        for (kind, each) in &self.kinds {
            row(&format!("{kind:?}"), each)?;
        }
        row("all", &self.total())?;
        row("with lemmas", &self.with_lemmas)?;
        row("by the loop", &self.by_the_loop)?;
        row("in wide views", &self.in_wide_views)
    }
}
