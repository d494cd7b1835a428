//! How often what happened: which kinds of programs were made, with how many processors they are
//! broken, and what was said about them.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

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
    pub(crate) fn made(&self) -> usize {
        self.broken_with.iter().sum()
    }

    /// Programs that only four or more processors break.
    pub(crate) fn broken_by_many(&self) -> usize {
        self.broken_with[4..].iter().sum()
    }

    pub(crate) fn add(&mut self, other: &Row) {
        for (sum, each) in self.broken_with.iter_mut().zip(other.broken_with) {
            *sum += each;
        }
        self.verified += other.verified;
        self.alarm += other.alarm;
        self.refused += other.refused;
        self.wrong += other.wrong;
    }

    /// A program was made.
    pub(crate) fn enter(&mut self, broken: Broken) {
        self.broken_with[broken.least_from(0).unwrap_or(0) as usize] += 1;
    }

    /// Counts an answer.
    pub(crate) fn count(&mut self, answer: &Answer, is_wrong: bool) {
        match answer {
            Answer::Verified => self.verified += 1,
            Answer::Alarm => self.alarm += 1,
            Answer::Refused => self.refused += 1,
            Answer::Malformed(_) => {}
        }
        self.wrong += usize::from(is_wrong);
    }
}

/// All that happened.
#[derive(Debug, Default)]
pub(crate) struct Mix {
    pub(crate) families: usize,
    /// By features, of which a program has several.
    pub(crate) features: BTreeMap<&'static str, Row>,
    /// All programs, without lemmas.
    pub(crate) total: Row,
    /// With lemmas of a hostile user.
    pub(crate) with_lemmas: Row,
    pub(crate) by_the_loop: Row,
    /// In views of four or five, where three are too few.
    pub(crate) in_wide_views: Row,
    /// How long the search for the truth took, and how long the answers.
    pub(crate) truth: Duration,
    pub(crate) answers: Duration,
}

/// A feature, and how many programs of [`Mix::FIXED`] families have it at least, how many of those
/// are broken by four or more processors only, and how many times one is verified.
type Least = (&'static str, usize, usize, usize);

const LEAST: &[Least] = &[
    ("A assertion", 70, 14, 7),
    ("A comparison of claims", 14, 0, 3),
    ("A conditional", 29, 5, 3),
    ("A function", 5, 4, 0),
    ("A implication", 53, 4, 9),
    ("A invariant", 175, 35, 22),
    ("A negation", 128, 32, 15),
    ("A over a range", 102, 18, 12),
    ("A over an enumeration", 28, 21, 0),
    ("A over another scalarset", 2, 0, 0),
    ("A over truth values", 58, 2, 7),
    ("A stored references", 35, 2, 3),
    ("B error with effect", 26, 5, 7),
    ("B error without effect", 67, 9, 23),
    ("C guard of three or more", 65, 18, 14),
    ("C guard of up to two", 52, 9, 14),
    ("rules alone", 2, 0, 0),
    ("with a counter up and down", 53, 5, 13),
    ("with a loop over processors", 53, 4, 10),
    ("with a multiset", 21, 2, 3),
    ("with a record of an array", 21, 2, 6),
    ("with a ruleset of starts", 76, 16, 15),
    ("with a union", 21, 0, 3),
    ("with a union of processors", 2, 0, 0),
    ("with a var parameter", 44, 9, 9),
    ("with an alias", 41, 16, 5),
    ("with an array by two processors", 12, 0, 0),
    ("with an assumption", 14, 0, 2),
    ("with an early return", 66, 14, 9),
    ("with choose", 9, 0, 0),
    ("with sets as arguments", 21, 0, 6),
    ("with switch", 33, 1, 7),
    ("with switch over processors", 16, 0, 0),
    ("with two scalarsets", 28, 0, 7),
    ("with undefined references", 33, 0, 1),
    ("with while", 14, 4, 0),
];

impl Mix {
    /// How many families of a fixed seed are made to measure the mix.
    pub(crate) const FIXED: u64 = 100;

    pub(crate) fn programs(&self) -> usize {
        self.total.made()
    }

    pub(crate) fn add(&mut self, other: &Mix) {
        self.families += other.families;
        for (feature, row) in &other.features {
            self.features.entry(feature).or_default().add(row);
        }
        self.total.add(&other.total);
        self.with_lemmas.add(&other.with_lemmas);
        self.by_the_loop.add(&other.by_the_loop);
        self.in_wide_views.add(&other.in_wide_views);
        self.truth += other.truth;
        self.answers += other.answers;
    }

    /// Changes the rows of a program with these features.
    pub(crate) fn each(&mut self, features: &[&'static str], change: impl Fn(&mut Row)) {
        change(&mut self.total);
        for feature in features {
            change(self.features.entry(feature).or_default());
        }
    }

    /// That every kind occurs, that many programs are broken by many processors only, and that not
    /// nearly all of them are refused: otherwise it would be easy to find nothing.
    pub(crate) fn is_aimed_well(&self) {
        for &(feature, made, by_many, verified) in LEAST {
            let row = self.features.get(feature).cloned().unwrap_or_default();
            assert!(row.made() >= made, "{feature}: few are made\n{self}");
            assert!(row.broken_by_many() >= by_many, "{feature}: few need many\n{self}");
            assert!(row.verified >= verified, "{feature}: few are verified\n{self}");
        }
        let total = &self.total;
        let late: usize = total.broken_with[5..].iter().sum();
        assert!(total.broken_by_many() * 6 > self.programs(), "few are broken by many\n{self}");
        assert!(late * 20 > self.programs(), "few are broken by five or more only\n{self}");
        assert!(total.broken_with[0] * 10 > self.programs(), "few are right\n{self}");
        let answers = total.verified + total.alarm + total.refused;
        assert!(total.refused * 5 < answers * 3, "most are refused\n{self}");
        assert!(total.verified * 20 > answers, "few are verified\n{self}");
        let lemmas = &self.with_lemmas;
        assert!(lemmas.verified + lemmas.alarm > 100, "few lemmas are taken\n{self}");
    }
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
            "{:32}{:>7} |{:>7}{:>6}{:>6}{:>6}{:>6}{:>6}{:>6} | {:>8}{:>8}{:>8}{:>7}",
            "broken with",
            "made",
            "none",
            2,
            3,
            4,
            5,
            6,
            7,
            "verified",
            "alarm",
            "refused",
            "wrong"
        )?;
        let mut row = |name: &str, row: &Row| {
            write!(out, "{name:32}{:>7} |{:>7}", row.made(), row.broken_with[0])?;
            for count in &row.broken_with[2..] {
                write!(out, "{count:>6}")?;
            }
            let Row { verified, alarm, refused, wrong, .. } = row;
            writeln!(out, " | {verified:>8}{alarm:>8}{refused:>8}{wrong:>7}")
        };
        for (feature, each) in &self.features {
            row(feature, each)?;
        }
        row("all", &self.total)?;
        row("with lemmas", &self.with_lemmas)?;
        row("by the loop", &self.by_the_loop)?;
        row("in wide views", &self.in_wide_views)
    }
}
