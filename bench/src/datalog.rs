//! The paper's own way to compute the partial store order of ccm: a Datalog program in clingo
//! (gradual-consistency-checking, §5). The rules are in `pww.lp`; this file writes the facts of a
//! history and reads the answer. Histories of reads and writes with unique values only.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use history::{EventId, History, Source};

const RULES: &str = include_str!("pww.lp");

/// What clingo found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct StoreOrder {
    /// Whether the history violates ccm.
    pub(crate) violation: bool,
    /// Pairs of writes of one address that pww leaves open.
    pub(crate) open: u64,
}

/// Writes rules and facts to a file for clingo.
pub(crate) fn write_program(history: &History, path: &Path) -> io::Result<()> {
    fs::write(path, format!("{RULES}\n{}", facts(history)))
}

/// Events are numbers; the initial write of address `a` is `init(a)`.
fn facts(history: &History) -> String {
    let mut facts = String::new();
    for address in history.address_ids() {
        let a = address.index();
        facts += &format!("write(init({a}),{a}).\n");
        for write in &history.address(address).writes {
            facts += &format!("write({},{a}).\n", write.index());
        }
    }
    for thread in history.threads() {
        let range = history.thread_range(thread);
        for a in 0..history.address_count() {
            facts += &format!("next(init({a}),{}).\n", range.start);
        }
        for at in range.start + 1..range.end {
            facts += &format!("next({},{at}).\n", at - 1);
        }
        facts += &format!("last({}).\n", range.end - 1);
    }
    for read in history.event_ids() {
        match (history.only_source(read), history.address_of(read)) {
            (Some(Source::Write(write)), _) => {
                facts += &format!("rf({},{}).\n", write.index(), read.index());
            }
            (Some(Source::Initial), Some(address)) => {
                facts += &format!("rf(init({}),{}).\n", address.index(), read.index());
            }
            _ => {}
        }
    }
    facts
}

/// Reads the answer: the atoms of the one answer set.
pub(crate) fn read_answer(history: &History, output: &str) -> StoreOrder {
    let mut violation = false;
    let mut ordered: BTreeSet<(usize, usize)> = BTreeSet::new();
    for atom in output.split_whitespace() {
        if atom == "violation" {
            violation = true;
        }
        let pair = atom.strip_prefix("pww(").and_then(|rest| rest.strip_suffix(')'));
        if let Some((Ok(a), Ok(b))) =
            pair.and_then(|pair| pair.split_once(',')).map(|(a, b)| (a.parse(), b.parse()))
        {
            let (a, b): (usize, usize) = (a, b);
            ordered.insert((a.min(b), a.max(b)));
        }
    }
    let pairs: u64 = history
        .address_ids()
        .map(|a| history.address(a).writes.len() as u64)
        .map(|writes| writes * writes.saturating_sub(1) / 2)
        .sum();
    let same_address = |&&(a, b): &&(usize, usize)| {
        a != b && history.address_of(EventId::new(a)) == history.address_of(EventId::new(b))
    };
    let ordered = ordered.iter().filter(same_address).count() as u64;
    StoreOrder { violation, open: pairs.saturating_sub(ordered) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_name_initial_writes_and_the_ends_of_threads() {
        let history = history::parse_text("0: x := 1\n1: x == 1\n1: y == 0").unwrap();
        let facts = facts(&history);
        for fact in ["write(0,0).", "rf(0,1).", "rf(init(1),2).", "next(1,2).", "last(0)."] {
            assert!(facts.contains(fact), "{fact} is missing in\n{facts}");
        }
    }

    #[test]
    fn open_pairs_are_those_that_no_atom_orders() {
        let history = history::parse_text("0: x := 1\n0: x := 2\n1: x := 3\n1: y := 1").unwrap();
        let answer = read_answer(&history, "pww(0,1) pww(init(0),0)\nSATISFIABLE");
        assert_eq!(answer, StoreOrder { violation: false, open: 2 });
        assert!(read_answer(&history, "violation pww(0,1)").violation);
    }
}
