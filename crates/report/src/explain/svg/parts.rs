//! The same pictures as data, for a page whose script draws them: boxes and curves with their
//! coordinates, and which events they stand for.

use evidence::Node;
use serde::Serialize;

use super::super::picture::{CellKind, Panel, Place};
use super::super::words::Words;
use super::canvas::arrow_paths;
use super::geometry::{Point, Rect};
use super::layout::fence_text;
use super::{PlacedPanel, class_of};

/// A panel with coordinates.
#[derive(Serialize)]
pub(in crate::explain) struct PanelParts {
    heading: Option<String>,
    #[serde(flatten)]
    extent: Area,
    lanes: Vec<Lane>,
    /// Program order not shown by arrows: x and y of its ends.
    threads: Vec<[f64; 4]>,
    boxes: Vec<Box>,
    arrows: Vec<Arrow>,
}

#[derive(Serialize)]
struct Area {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

#[derive(Serialize)]
struct Lane {
    #[serde(flatten)]
    area: Area,
    title: String,
}

#[derive(Serialize)]
struct Box {
    #[serde(flatten)]
    area: Area,
    kind: &'static str,
    lines: Vec<String>,
    place: String,
    on: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<i64>,
}

#[derive(Serialize)]
struct Arrow {
    role: &'static str,
    path: String,
    head: String,
    label: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<String>,
    /// Where the label stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<Label>,
    from: i64,
    to: i64,
}

#[derive(Serialize)]
struct Label {
    #[serde(flatten)]
    area: Area,
    /// Whether it stands on the background of a column.
    within: bool,
}

/// A node as a page names it: the number of an event, or -1 minus the number of an address whose
/// initial value it is.
pub(in crate::explain) fn node_number(node: Node) -> i64 {
    match node {
        Node::Event(event) | Node::ReadOf(event) => event.index() as i64,
        Node::Initial(address) => -1 - address.index() as i64,
    }
}

/// The coordinates of a panel.
pub(in crate::explain) fn parts(words: Words<'_>, panel: &Panel) -> PanelParts {
    let drawn = PlacedPanel::new(words, panel);
    let lanes = drawn.layout.lanes.iter().zip(&panel.columns);
    let lanes = lanes.map(|(lane, column)| Lane { area: area(lane), title: column.title.clone() });
    let ends = |&(from, to): &(Point, Point)| [from.x, from.y, to.x, to.y].map(rounded);
    PanelParts {
        heading: panel.heading.clone(),
        extent: area(&drawn.extent),
        lanes: lanes.collect(),
        threads: drawn.layout.threads.iter().map(ends).collect(),
        boxes: boxes(&drawn),
        arrows: arrows(&drawn),
    }
}

fn boxes(drawn: &PlacedPanel<'_>) -> Vec<Box> {
    let mut boxes = Vec::new();
    for (c, column) in drawn.panel.columns.iter().enumerate() {
        for (row, cell) in column.cells.iter().enumerate() {
            let kind = match cell.kind {
                CellKind::Blank => continue,
                CellKind::Gap(_) => "gap",
                CellKind::Fence(_) => "fence",
                CellKind::Initial(_) => "initial",
                CellKind::Event(_) => "event",
            };
            let lines = match cell.kind {
                CellKind::Fence(_) => vec![fence_text(cell)],
                _ => drawn.layout.texts[c][row].clone(),
            };
            boxes.push(Box {
                area: area(&drawn.layout.boxes[c][row]),
                kind,
                lines,
                place: cell.place.clone(),
                on: cell.on_cycle,
                node: node_at(drawn.panel, Place { column: c, row }),
            });
        }
    }
    boxes
}

fn arrows(drawn: &PlacedPanel<'_>) -> Vec<Arrow> {
    let arrows = drawn.panel.arrows.iter().zip(&drawn.layout.curves).zip(&drawn.labels);
    let arrows = arrows.filter_map(|((arrow, curve), label)| {
        let (path, head) = arrow_paths(curve);
        let within = |rect: &Rect| drawn.layout.lanes.iter().any(|l| l.contains(rect.centre()));
        let label_of = |rect: &Rect| Label { area: area(rect), within: within(rect) };
        Some(Arrow {
            role: class_of(arrow.role),
            path,
            head,
            label: arrow.label.to_owned(),
            step: arrow.step.clone(),
            place: label.as_ref().map(label_of),
            from: node_at(drawn.panel, arrow.from)?,
            to: node_at(drawn.panel, arrow.to)?,
        })
    });
    arrows.collect()
}

fn node_at(panel: &Panel, place: Place) -> Option<i64> {
    match panel.columns[place.column].cells[place.row].kind {
        CellKind::Event(event) | CellKind::Fence(event) => Some(node_number(Node::Event(event))),
        CellKind::Initial(address) => Some(node_number(Node::Initial(address))),
        CellKind::Gap(_) | CellKind::Blank => None,
    }
}

fn area(rect: &Rect) -> Area {
    let [x, y, width, height] = [rect.x, rect.y, rect.width, rect.height].map(rounded);
    Area { x, y, width, height }
}

/// To a tenth, as pictures have it.
fn rounded(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}
