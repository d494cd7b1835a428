//! A violation in a few lines: the last cycle of its proof, an event a line.
//!
//! Enough to see which lines of the trace clash. Where the cycle leans on earlier steps of the
//! proof, the last line says so, and the full argument is in [`explain`](crate::explain).

use evidence::{Cycle, Derived, Edge, Node, Proof, Why};
use history::{EventId, History};

use crate::names::{event_text, initial_name, place};
use crate::verdict::because;

/// The most edges shown.
const SHOWN: usize = 8;

/// The last cycle of a proof, one event a line with the reason why it comes before the next:
///
/// ```text
/// line 1  0: M[x] := 1  -- program-order -->
/// line 2  0: M[y] == 0  -- from-read -->
/// line 3  1: M[y] := 1  -- program-order -->
/// line 4  1: M[x] == 0  -- from-read --> line 1
/// ```
pub fn cycle_lines(history: &History, proof: &Proof) -> Vec<String> {
    let last = proof.steps.iter().rev().find_map(|step| match &step.why {
        Why::Cycle(cycle) => Some((cycle, &[][..])),
        Why::Derivation { derived, cycle } => Some((cycle, &derived[..])),
        Why::Propagation => None,
    });
    let mut lines = match last {
        Some((cycle, derived)) => cycle_rows(history, cycle, derived),
        None => unwritten(history).into_iter().collect(),
    };
    if proof.steps.len() > 1 {
        lines.push(format!(
            "(final cycle of a {}-step proof; `tribunal explain` shows all steps)",
            proof.steps.len()
        ));
    } else if last.is_some_and(|(_, derived)| !derived.is_empty()) {
        lines.push(
            "(some edges are derived by the rules of the model; `tribunal explain` shows how)"
                .to_owned(),
        );
    }
    lines
}

fn cycle_rows(history: &History, cycle: &Cycle, derived: &[Derived]) -> Vec<String> {
    let shown: Vec<&Edge> = match cycle.edges.len() {
        length if length > SHOWN + 1 => cycle.edges[..SHOWN - 1].iter().collect(),
        _ => cycle.edges.iter().collect(),
    };
    let skipped = cycle.edges.len() - shown.len();
    let mut cells: Vec<[String; 3]> = shown.iter().map(|e| cell(history, e, derived)).collect();
    if let (Some(edge), true) = (cycle.edges.last(), skipped > 0) {
        cells.push([format!("… {} more …", skipped - 1), String::new(), String::new()]);
        cells.push(cell(history, edge, derived));
    }
    let width = |column: usize| {
        let widths = cells.iter().filter(|row| !row[2].is_empty());
        widths.map(|row| row[column].chars().count()).max().unwrap_or_default()
    };
    let (first, second) = (width(0), width(1));
    let start = cells.first().map_or(String::new(), |row| row[0].clone());
    let end = cells.len().saturating_sub(1);
    let row = |(at, [place, event, why]): (usize, &[String; 3])| match why.is_empty() {
        true => place.clone(),
        false if at == end => format!("{place:<first$}  {event:<second$}  -- {why} --> {start}"),
        false => format!("{place:<first$}  {event:<second$}  -- {why} -->"),
    };
    cells.iter().enumerate().map(row).collect()
}

/// The place of an edge's source, its event, and the reason for the edge.
fn cell(history: &History, edge: &Edge, derived: &[Derived]) -> [String; 3] {
    let why = because(edge.because, derived).to_owned();
    match edge.from {
        Node::Initial(address) => ["init".to_owned(), initial_name(history, address), why],
        Node::Event(e) | Node::ReadOf(e) => [place(history, e), threaded(history, e), why],
    }
}

/// `0: M[x] := 1`
fn threaded(history: &History, event: EventId) -> String {
    let thread = history.thread_label(history.event(event).thread);
    let commit = history.commit(event).map(|commit| format!("  # {commit}"));
    format!("{thread}: {}{}", event_text(history, event), commit.unwrap_or_default())
}

/// The read, or `final` line, of a value that was never written.
fn unwritten(history: &History) -> Option<String> {
    let read = |&e: &EventId| history.reads_unwritten(e);
    if let Some(e) = history.event_ids().find(read) {
        let (place, event) = (place(history, e), threaded(history, e));
        return Some(format!("{place}  {event}  reads a value that was never written"));
    }
    let line = history.finals().iter().find(|line| line.sources.is_empty())?;
    let label = &history.address(line.address).label;
    Some(format!(
        "line {}  final M[{label}] == {}  names a value that was never written",
        line.line, line.value
    ))
}
