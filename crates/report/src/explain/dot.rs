//! The explanation for Graphviz: a cluster per thread, the cycle in red.

use std::fmt::Write as _;

use history::History;

use super::argument::Argument;
use super::explained_model::ExplainedModel;
use super::picture::{Arrow, Cell, CellKind, Panel, Place, Role, panels};
use super::words::Words;

/// The explanation as a DOT graph.
pub(super) fn write(history: &History, model: ExplainedModel<'_>, argument: &Argument) -> String {
    let words = Words { history, model };
    let (panels, _) = panels(words, argument);
    let gist = words.gist(argument).replace(super::words::NO_BREAK, " ");
    let mut dot = String::from("digraph violation {\n");
    let title = quoted(&format!("Violation of {model}: {gist}"));
    let _ = writeln!(dot, "  label={title}; labelloc=t; fontname=\"Helvetica\"; rankdir=TB;");
    dot.push_str("  node [shape=box, style=rounded, fontname=\"monospace\"];\n");
    dot.push_str("  edge [fontname=\"Helvetica\", fontsize=10];\n");
    for (number, panel) in panels.iter().enumerate() {
        write_panel(&mut dot, number, panel);
    }
    dot.push_str("}\n");
    dot
}

fn write_panel(dot: &mut String, number: usize, panel: &Panel) {
    if let Some(heading) = &panel.heading {
        let heading = heading.replace(super::words::NO_BREAK, " ");
        let _ = writeln!(dot, "  subgraph cluster_{number} {{ label={};", quoted(&heading));
    }
    for (c, column) in panel.columns.iter().enumerate() {
        let title = quoted(&column.title);
        let _ = writeln!(dot, "  subgraph cluster_{number}_{c} {{\n    label={title};");
        for (row, cell) in column.cells.iter().enumerate() {
            let name = name(number, Place { column: c, row });
            let _ = writeln!(dot, "    {name} [{}];", attributes(cell));
        }
        let is_initial = |cell: &Cell| matches!(cell.kind, CellKind::Initial(_));
        if !column.cells.iter().any(is_initial) {
            for row in 1..column.cells.len() {
                let (from, to) = (Place { column: c, row: row - 1 }, Place { column: c, row });
                if !panel.arrows.iter().any(|a| a.along_thread && a.from == from && a.to == to) {
                    let (from, to) = (name(number, from), name(number, to));
                    let _ = writeln!(dot, "    {from} -> {to} [color=grey80, arrowhead=none];");
                }
            }
        }
        dot.push_str("  }\n");
    }
    for arrow in &panel.arrows {
        write_arrow(dot, number, arrow);
    }
    if panel.heading.is_some() {
        dot.push_str("  }\n");
    }
}

fn name(number: usize, place: Place) -> String {
    format!("e{number}_{}_{}", place.column, place.row)
}

fn attributes(cell: &Cell) -> String {
    match cell.kind {
        CellKind::Event(_) => {
            let commit = cell.commit.iter().map(|commit| format!("{commit}\n"));
            let commit: String = commit.collect();
            let label = quoted(&format!("{}\n{commit}{}", cell.text, cell.place));
            let colour = if cell.on_cycle { ", color=\"#d55e00\", penwidth=1.6" } else { "" };
            format!("label={label}{colour}")
        }
        CellKind::Initial(_) => {
            format!("label={}, style=\"rounded,dashed\"", quoted(&cell.text))
        }
        CellKind::Fence(_) => {
            let label = quoted(&format!("{} ({})", cell.text, cell.place));
            format!("label={label}, style=filled, fillcolor=grey90, height=0.1")
        }
        CellKind::Blank => "style=invis".to_owned(),
        CellKind::Gap(_) => format!("label={}, shape=plaintext", quoted(&cell.text)),
    }
}

fn write_arrow(dot: &mut String, number: usize, arrow: &Arrow) {
    let style = match arrow.role {
        Role::Cycle => "color=\"#d55e00\", fontcolor=\"#a84800\", penwidth=2.2, style=bold",
        Role::Assumed => "color=\"#a0338f\", fontcolor=\"#7d2470\", style=dotted",
        Role::Step => "color=\"#0072b2\", fontcolor=\"#005a8c\", style=dashed",
        Role::Context => "color=grey60, fontcolor=grey40",
    };
    let label = match (&arrow.step, &arrow.rule) {
        (Some(step), _) => quoted(&format!("{} (step {step})", arrow.label)),
        (None, Some(rule)) => quoted(rule),
        (None, None) => quoted(arrow.label),
    };
    // Only program order may rank nodes; anything else would tear the threads apart.
    let rank = if arrow.along_thread { "" } else { ", constraint=false" };
    let (from, to) = (name(number, arrow.from), name(number, arrow.to));
    let _ = writeln!(dot, "  {from} -> {to} [label={label}, {style}{rank}];");
}

/// A DOT string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
