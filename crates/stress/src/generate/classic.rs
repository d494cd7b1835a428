//! The names of litmus tests, as diy and the papers about it give them.
//!
//! A family is named after what its threads begin and end with (`WR+WR` is SB: each thread writes,
//! then reads); a member after how each thread gets from one to the other, where that is not plain
//! program order (`SB+mfence+po`; `SB+mfences` if all do it alike).

use super::edge::Edge;
use super::mark::{Dialect, Mark};

/// The families of different places.
const FAMILIES: [(&str, &str); 23] = [
    ("2+2W", "WW+WW"),
    ("LB", "RW+RW"),
    ("MP", "WW+RR"),
    ("R", "WW+WR"),
    ("S", "WW+RW"),
    ("SB", "WR+WR"),
    ("RWC", "W+RR+WR"),
    ("WRC", "W+RW+RR"),
    ("WRR+2W", "W+RR+WW"),
    ("WRW+2W", "W+RW+WW"),
    ("WRW+WR", "W+RW+WR"),
    ("WWC", "W+RW+RW"),
    ("IRIW", "W+RR+W+RR"),
    ("IRRWIW", "W+RR+W+RW"),
    ("IRWIW", "W+RW+W+RW"),
    ("ISA2", "WW+RW+RR"),
    ("W+RWC", "WW+RR+WR"),
    ("Z6.0", "WW+RW+WR"),
    ("Z6.1", "WW+WW+RW"),
    ("Z6.2", "WW+RW+RW"),
    ("Z6.3", "WW+WW+RR"),
    ("Z6.4", "WW+WR+WR"),
    ("Z6.5", "WW+WW+WR"),
];

/// The families of one place.
const COHERENCE: [(&str, &str); 4] =
    [("CoRR", "W+RR"), ("CoRW2", "W+RW"), ("CoWR", "W+WR"), ("CoWW", "W+WW")];

/// The families with three or more equal threads: `3.SB`, `4.SB`.
const RINGS: [(&str, &str); 3] = [("2W", "WW"), ("LB", "RW"), ("SB", "WR")];

/// The order in which threads are named in families without a name of their own.
const RANK: [&str; 6] = ["W", "R", "WW", "RW", "WR", "RR"];

/// One thread of a cycle.
#[derive(Clone)]
struct Thread {
    /// The kinds of its first and last access: `WR`, or `W` for a single access.
    ends: String,
    /// How it gets there: `mfence`, `po-rfi`; empty for a single access.
    way: String,
    /// How a single access is annotated.
    alone: &'static str,
}

/// The name of a cycle whose edges start with a thread.
pub(super) fn name(edges: &[Edge], dialect: Dialect) -> String {
    let threads = threads(edges, dialect);
    let one_place = !edges.iter().any(|edge| edge.changes_place());
    let families: &[(&str, &str)] = if one_place { &COHERENCE } else { &FAMILIES };
    let rotations = (0..threads.len()).map(|by| {
        let mut rotated = threads.clone();
        rotated.rotate_left(by);
        rotated
    });
    let best = rotations.min_by_key(|threads| key(threads, families)).unwrap_or_default();
    let family = known(&best, families).map(str::to_owned);
    let family = family.or_else(|| ring(&best)).unwrap_or_else(|| ends(&best));
    family + &suffix(&best, if one_place { "pos" } else { "po" })
}

fn threads(edges: &[Edge], dialect: Dialect) -> Vec<Thread> {
    let mut threads = Vec::new();
    for part in edges.split_inclusive(|edge| edge.is_external()) {
        let Some((last, way)) = part.split_last() else { continue };
        let way: Vec<String> = way.iter().map(|edge| edge.short(dialect)).collect();
        let (ends, alone) = match (way.len(), last.marks[0]) {
            (0, Mark::PLAIN) => (last.from().to_string(), ""),
            (0, mark) => (last.from().to_string(), mark.spelled(dialect)),
            _ => (format!("{}{}", part[0].from(), last.from()), ""),
        };
        threads.push(Thread { ends, way: way.join("-"), alone });
    }
    threads
}

fn ends(threads: &[Thread]) -> String {
    let ends: Vec<&str> = threads.iter().map(|thread| thread.ends.as_str()).collect();
    ends.join("+")
}

fn ring(threads: &[Thread]) -> Option<String> {
    let first = threads.first().filter(|_| threads.len() >= 3)?;
    let (name, _) = RINGS.iter().find(|(_, ends)| *ends == first.ends)?;
    let alike = threads.iter().all(|thread| thread.ends == first.ends);
    alike.then(|| format!("{}.{name}", threads.len()))
}

fn known(threads: &[Thread], families: &[(&'static str, &str)]) -> Option<&'static str> {
    let ends = ends(threads);
    families.iter().find(|(_, threads)| *threads == ends).map(|&(name, _)| name)
}

/// Of the rotations, the one whose family is known, then the first by rank, then the one whose
/// first ways are the simplest.
fn key(
    threads: &[Thread],
    families: &[(&'static str, &str)],
) -> (bool, Vec<usize>, Vec<(usize, String)>) {
    let rank = |thread: &Thread| RANK.iter().position(|ends| *ends == thread.ends).unwrap_or(9);
    let way = |thread: &Thread| (thread.way.matches('-').count(), thread.way.clone());
    (
        known(threads, families).is_none(),
        threads.iter().map(rank).collect(),
        threads.iter().map(way).collect(),
    )
}

fn suffix(threads: &[Thread], plain: &str) -> String {
    let ways = || threads.iter().map(|thread| thread.way.as_str()).filter(|way| !way.is_empty());
    let first = ways().next().unwrap_or(plain);
    let ways: String = match (ways().all(|way| way == first), ways().count()) {
        (true, _) if first == plain => String::new(),
        (true, 2..) => format!("+{first}s"),
        _ => ways().map(|way| format!("+{way}")).collect(),
    };
    let alone: String = threads.iter().map(|thread| thread.alone).collect();
    if alone.is_empty() { ways } else { format!("{ways}+{alone}") }
}
