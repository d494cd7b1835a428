//! A litmus test in the format of herdtools: name, initial state, one column of instructions a
//! thread, the locations to show, and a condition on the final state.

use std::collections::{BTreeMap, BTreeSet};

use history::Value;

use super::condition::Condition;
use super::instruction::{Assembler, Instruction, Locations, split_label};
use super::tokens::{Dialect, Place, Tokens};

#[derive(Debug)]
pub(crate) struct Litmus {
    pub(crate) dialect: Dialect,
    pub(crate) initial: BTreeMap<Place, Value>,
    pub(crate) threads: Vec<Vec<Instruction>>,
    pub(crate) locations: Locations,
    /// What a final state shows: the listed locations and those of the condition.
    pub(crate) observed: BTreeSet<Place>,
    pub(crate) condition: Condition,
}

impl Litmus {
    pub(crate) fn parse(text: &str) -> Result<Litmus, String> {
        let text = without_comments(text)?;
        let (head, rest) = text.split_once('{').ok_or("no initial state")?;
        let (initial, rest) = rest.split_once('}').ok_or("the initial state does not end")?;
        let (program, tail) = rest.split_at(end_of_program(rest).ok_or("no condition")?);

        let dialect = match head.split_whitespace().next() {
            Some("X86") => Dialect::X86,
            Some("X86_64") => Dialect::X86_64,
            other => return Err(format!("unknown architecture {other:?}")),
        };
        let initial = initial_state(initial)?;
        let mut tail = Tokens::new(tail);
        let mut observed = shown_locations(&mut tail)?;
        let condition = Condition::read(&mut tail)?;
        tail.end()?;
        condition.proposition.places(&mut observed);

        let mut locations = Locations::default();
        let threads = columns(program)
            .iter()
            .map(|cells| assemble(cells, dialect, &mut locations))
            .collect::<Result<_, String>>()?;
        for place in initial.keys().chain(&observed) {
            if let Place::Memory(name) = place {
                locations.address(name);
            }
        }
        Ok(Litmus { dialect, initial, threads, locations, observed, condition })
    }

    /// What a place holds at first.
    pub(crate) fn initial(&self, place: &Place) -> Value {
        self.initial.get(place).copied().unwrap_or(0)
    }
}

fn without_comments(text: &str) -> Result<String, String> {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("(*") {
        kept.push_str(before);
        rest = comment.split_once("*)").ok_or("a comment does not end")?.1;
    }
    kept.push_str(rest);
    Ok(kept)
}

/// Where the list of locations or the condition starts.
fn end_of_program(text: &str) -> Option<usize> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let first = line.trim_start();
        if ["locations", "exists", "~exists", "forall"].iter().any(|w| first.starts_with(w)) {
            return Some(start);
        }
        start += line.len();
    }
    None
}

/// `int x=5; int y; 0:rcx=7; [z]=1;`
fn initial_state(text: &str) -> Result<BTreeMap<Place, Value>, String> {
    let mut state = BTreeMap::new();
    for item in text.split(';').map(str::trim).filter(|item| !item.is_empty()) {
        let mut tokens = Tokens::new(item);
        tokens.accept("int");
        let place = tokens.place()?;
        let value = if tokens.accept("=") { tokens.value()? } else { 0 };
        tokens.end()?;
        state.insert(place, value);
    }
    Ok(state)
}

/// `locations [x; 0:rax;]`, if it is there.
fn shown_locations(tokens: &mut Tokens<'_>) -> Result<BTreeSet<Place>, String> {
    let mut shown = BTreeSet::new();
    if tokens.accept("locations") {
        tokens.expect("[")?;
        while !tokens.accept("]") {
            shown.insert(tokens.place()?);
            tokens.expect(";")?;
        }
    }
    Ok(shown)
}

/// The cells of each thread that are not empty, without the row of thread names.
fn columns(program: &str) -> Vec<Vec<&str>> {
    let mut columns = Vec::new();
    for row in program.split(';').filter(|row| !row.trim().is_empty()) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        if columns.is_empty() {
            columns.resize(cells.len(), Vec::new());
            continue;
        }
        for (column, cell) in columns.iter_mut().zip(cells) {
            if !cell.is_empty() {
                column.push(cell);
            }
        }
    }
    columns
}

fn assemble(
    cells: &[&str],
    dialect: Dialect,
    locations: &mut Locations,
) -> Result<Vec<Instruction>, String> {
    let mut labels = BTreeMap::new();
    let mut lines = Vec::new();
    for cell in cells {
        let (label, instruction) = split_label(cell);
        labels.extend(label.map(|label| (label, lines.len())));
        if !instruction.is_empty() {
            lines.push(instruction);
        }
    }
    let mut assembler = Assembler { dialect, labels: &labels, locations };
    lines.into_iter().map(|line| assembler.instruction(line)).collect()
}
