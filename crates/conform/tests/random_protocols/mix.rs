//! What was tried and what was answered, by kinds: whether a collection of protocols is worth
//! anything.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::brute_force::Found;
use crate::comparison::Answer;
use crate::protocol::{Protocol, Start};

/// What was made of one kind, and what was said about it.
#[derive(Debug, Default, Clone)]
pub(crate) struct Row {
    /// Protocols.
    pub(crate) made: u64,
    /// Those with a trace that is not sequentially consistent.
    pub(crate) broken: u64,
    /// Those with such a trace only while stores are pending.
    pub(crate) pending: u64,
    /// Answers, by whether a forbidden trace is known.
    pub(crate) answers: BTreeMap<(Answer, bool), u64>,
    /// Verified although a trace is forbidden, or a violation that is none.
    pub(crate) wrong: u64,
}

impl Row {
    fn add(&mut self, other: &Row) {
        self.made += other.made;
        self.broken += other.broken;
        self.pending += other.pending;
        for (answer, count) in &other.answers {
            *self.answers.entry(*answer).or_default() += count;
        }
        self.wrong += other.wrong;
    }

    pub(crate) fn of(&self, answer: Answer) -> u64 {
        [false, true].iter().filter_map(|broken| self.answers.get(&(answer, *broken))).sum()
    }
}

/// Counts by what was seen.
#[derive(Default, Clone)]
pub(crate) struct Mix {
    pub(crate) all: Row,
    pub(crate) kinds: BTreeMap<String, Row>,
    /// Answers about total store order.
    pub(crate) tso: Row,
    /// The claims of alarms, with the answer.
    pub(crate) claims: BTreeMap<String, u64>,
    /// How long brute force took, and how long the answers.
    pub(crate) truth: Duration,
    pub(crate) answers: Duration,
}

impl Mix {
    pub(crate) fn add(&mut self, other: &Mix) {
        self.all.add(&other.all);
        self.tso.add(&other.tso);
        self.truth += other.truth;
        self.answers += other.answers;
        for (kind, row) in &other.kinds {
            self.kinds.entry(kind.clone()).or_default().add(row);
        }
        for (claim, count) in &other.claims {
            *self.claims.entry(claim.clone()).or_default() += count;
        }
    }

    /// How many of the violations that are shown brute force has found, too.
    pub(crate) fn violations_found(&self) -> (u64, u64) {
        let found = self.all.answers.get(&(Answer::Violation, true)).copied().unwrap_or(0);
        (found, self.all.of(Answer::Violation))
    }

    pub(crate) fn of(&self, kind: &str) -> Row {
        self.kinds.get(kind).cloned().unwrap_or_default()
    }

    /// A protocol was made.
    pub(crate) fn made(&mut self, protocol: &Protocol, found: &Found) {
        let is_broken = found.not_sc.is_some();
        let is_pending = protocol.commits && is_broken && !found.settled;
        self.each(protocol, |row| {
            row.made += 1;
            row.broken += u64::from(is_broken);
            row.pending += u64::from(is_pending);
        });
    }

    /// Something was said about sequential consistency.
    pub(crate) fn said(&mut self, protocol: &Protocol, answer: Answer, broken: bool, wrong: bool) {
        self.each(protocol, |row| row.said(answer, broken, wrong));
    }

    /// Changes the rows of a protocol.
    fn each(&mut self, protocol: &Protocol, change: impl Fn(&mut Row)) {
        change(&mut self.all);
        for kind in kinds(protocol) {
            change(self.kinds.entry(kind).or_default());
        }
    }
}

impl Row {
    pub(crate) fn said(&mut self, answer: Answer, broken: bool, wrong: bool) {
        *self.answers.entry((answer, broken)).or_default() += 1;
        self.wrong += u64::from(wrong);
    }
}

impl fmt::Display for Mix {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = [self.truth, self.answers].map(|time| time.as_secs_f64());
        writeln!(out, "brute force {:.1} s, answers {:.1} s", seconds[0], seconds[1])?;
        write!(out, "{:34}{:>8}{:>8}{:>8} |", "", "made", "not sc", "pending")?;
        let names = ["verified", "violation", "alarm", "open", "broken", "refused", "wrong"];
        names.iter().try_for_each(|name| write!(out, "{name:>10}"))?;
        writeln!(out)?;
        let mut row = |name: &str, row: &Row| {
            let Row { made, broken, pending, wrong, .. } = row;
            write!(out, "{name:34}{made:>8}{broken:>8}{pending:>8} |")?;
            Answer::ALL.iter().try_for_each(|&answer| write!(out, "{:>10}", row.of(answer)))?;
            writeln!(out, "{wrong:>10}")
        };
        for (kind, each) in &self.kinds {
            row(kind, each)?;
        }
        row("all", &self.all)?;
        row("all, asked about tso", &self.tso)?;
        let (found, of) = self.violations_found();
        writeln!(out, "{found} of {of} violations are found by brute force, too")?;
        for (claim, count) in &self.claims {
            writeln!(out, "{count:>8} {claim}")?;
        }
        Ok(())
    }
}

/// The ways in which a verification can be led astray, each of which must occur: how many of the
/// protocols with it there are at least among [`Mix::FIXED`], and how many of those have a trace
/// that is not sequentially consistent.
pub(crate) const HARD: [(&str, u64, u64); 16] = [
    ("E: constant loaded", 10, 3),
    ("E: decision by data", 30, 10),
    ("F: commit changed", 10, 5),
    ("F: commit misplaced", 10, 5),
    ("F: commits", 100, 50),
    ("F: store lost", 5, 3),
    ("G: one value stored twice", 10, 5),
    ("G: value copied", 10, 5),
    ("H: high start", 10, 3),
    ("H: unequal addresses", 10, 3),
    ("H: unequal start", 3, 1),
    ("guard weakened", 30, 10),
    ("old value loaded", 10, 5),
    ("statement doubled", 10, 3),
    ("statement dropped", 30, 10),
    ("statements swapped", 10, 3),
];

impl Mix {
    /// How many protocols of fixed seeds are made to measure the mix.
    pub(crate) const FIXED: u64 = 600;

    /// That every kind occurs and is broken now and then, that some are broken only while stores
    /// are pending, and that right ones are frequent: otherwise it would be easy to find nothing.
    pub(crate) fn is_aimed_well(&self) {
        for (kind, made, broken) in HARD {
            let row = self.of(kind);
            assert!(row.made >= made, "{kind}: only {} are made\n{self}", row.made);
            assert!(row.broken >= broken, "{kind}: only {} are broken\n{self}", row.broken);
        }
        assert!(self.all.pending >= 10, "few are broken only while stores are pending\n{self}");
        assert!(4 * self.all.broken < 3 * self.all.made, "few are right\n{self}");
        for shape in crate::shapes::NAMES {
            assert!(self.of(&format!("shape: {shape}")).made >= 20, "few are {shape}\n{self}");
        }
    }
}

/// What a verification has to take notice of in a protocol. Four of these have letters: E for values
/// that decide, F for pending stores, G for values that are not free, H for unequal start states.
pub(crate) fn kinds(protocol: &Protocol) -> Vec<String> {
    let mut kinds: Vec<String> = protocol.twists.iter().map(|twist| lettered(twist)).collect();
    if protocol.commits {
        kinds.push("F: commits".to_owned());
    }
    kinds.push(match protocol.start {
        Start::Unequal if protocol.mentions("cache[") => "H: unequal start".to_owned(),
        Start::Highest => "H: high start".to_owned(),
        Start::EachAddress => "H: unequal addresses".to_owned(),
        _ => "equal start".to_owned(),
    });
    kinds.push(format!("shape: {}", protocol.shape));
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

/// A twist with its letter.
fn lettered(twist: &str) -> String {
    let letter = match twist {
        "decision by data" | "constant loaded" => "E: ",
        "commit misplaced" | "commit changed" | "store lost" => "F: ",
        "one value stored twice" | "value copied" => "G: ",
        _ => "",
    };
    format!("{letter}{twist}")
}

/// Whether values are only copied from stores that choose them freely.
pub(crate) fn treats_values_alike(protocol: &Protocol) -> bool {
    let special = ["decision by data", "one value stored twice", "value copied", "constant loaded"];
    !protocol.twists.iter().any(|twist| special.contains(twist))
}
