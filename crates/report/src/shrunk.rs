//! The smallest part of a trace that still violates a model, as a trace file with a heading.

use std::fmt::Write as _;

use history::{Format, History};
use judge::Shrunk;

use crate::count;

/// The most lines whose numbers are listed.
const LISTED: usize = 40;

/// A part of a trace in the text format: its file and number, how many events are left, their
/// lines, and the events.
pub fn shrunk_text(
    (file, trace): (&str, u64),
    whole: &History,
    model: &str,
    shrunk: &Shrunk,
) -> String {
    let mut lines: Vec<u32> = shrunk.history.events().map(|e| e.line).collect();
    lines.sort_unstable();
    let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
    let mut text = format!(
        "# {} of the {} of {file}, trace {trace}: these alone violate {model}\n",
        shrunk.history.len(),
        count(whole.len(), "event"),
    );
    if lines.len() <= LISTED {
        let _ = writeln!(text, "# (lines {})", lines.join(", "));
    }
    if shrunk.sources_dropped {
        text.push_str(
            "# Some values are written twice; other writes of a read value were dropped \
             (--keep-sources keeps them).\n",
        );
    }
    text + &Format::Text.text(&shrunk.history)
}
