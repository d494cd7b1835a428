//! Coordinates: where the columns, boxes and arrows of a panel are.

use super::super::picture::{Arrow, Cell, CellKind, Panel, Place, Role};
use super::geometry::{Curve, Piece, Point, Rect, point};
use super::route::{Plan, Route, Side, plan};

/// The size of the text in boxes, and the width of one of its characters. All text is measured as
/// if it were monospaced at 0.602 of its size, the width of the usual monospaced fonts.
pub(super) const BOX_TEXT: f64 = 13.0;
/// The size of labels on arrows.
pub(super) const LABEL_TEXT: f64 = 11.0;
/// The height of a line of text in a box.
pub(super) const LINE: f64 = 16.0;

/// Longer atomics take two lines.
const ONE_LINE_ATOMIC: usize = 24;

const BOX_PADDING: f64 = 12.0;
const SMALLEST_BOX: f64 = 96.0;
const LANE_PADDING: f64 = 14.0;
pub(super) const HEADER: f64 = 34.0;
const ROW_GAP: f64 = 50.0;
const SMALL_ROW_GAP: f64 = 36.0;
const EDGE_GAP: f64 = 16.0;
const LANE: f64 = 17.0;

/// The width of a text of this size.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * 0.602
}

/// A panel with coordinates.
pub(super) struct Layout {
    /// The background of each column, header included.
    pub(super) lanes: Vec<Rect>,
    /// The box of each cell.
    pub(super) boxes: Vec<Vec<Rect>>,
    /// The lines of text of each cell.
    pub(super) texts: Vec<Vec<Vec<String>>>,
    /// The curve of each arrow.
    pub(super) curves: Vec<Curve>,
    /// Where an arrow goes straight down; its label stands beside it.
    pub(super) downs: Vec<bool>,
    /// Program order not shown by arrows: from, to.
    pub(super) threads: Vec<(Point, Point)>,
}

/// The lines of text in a cell.
fn cell_lines(cell: &Cell) -> Vec<String> {
    let text = &cell.text;
    if let (CellKind::Event(_), Some((read, write))) = (cell.kind, text.split_once("; "))
        && text.chars().count() > ONE_LINE_ATOMIC
    {
        let lines = [format!("{read};"), format!(" {write}")];
        return lines.into_iter().chain(cell.commit.clone()).collect();
    }
    let commit = cell.commit.clone().filter(|_| matches!(cell.kind, CellKind::Event(_)));
    std::iter::once(text.clone()).chain(commit).collect()
}

fn cell_height(cell: &Cell, lines: usize) -> f64 {
    match cell.kind {
        CellKind::Event(_) | CellKind::Initial(_) => 26.0 + LINE * lines as f64,
        CellKind::Fence(_) => 22.0,
        CellKind::Gap(_) | CellKind::Blank => 20.0,
    }
}

/// The coordinates of a panel, starting at the origin.
pub(super) fn layout(panel: &Panel) -> Layout {
    let plan = plan(panel);
    let texts: Vec<Vec<Vec<String>>> =
        panel.columns.iter().map(|c| c.cells.iter().map(cell_lines).collect()).collect();
    let lefts = columns(panel, &plan, &texts);
    let (tops, heights) = rows(panel, &plan, &texts);
    let mut boxes = Vec::with_capacity(panel.columns.len());
    for (c, column) in panel.columns.iter().enumerate() {
        let (x, width) = lefts[c];
        let cell = |(row, cell): (usize, &Cell)| {
            let height = cell_height(cell, texts[c][row].len());
            let y = tops[row] + (heights[row] - height) / 2.0;
            Rect { x, y, width, height }
        };
        boxes.push(column.cells.iter().enumerate().map(cell).collect::<Vec<_>>());
    }
    let rows_end = tops.last().zip(heights.last()).map_or(HEADER, |(top, height)| top + height);
    let lane_of = |&(x, width): &(f64, f64)| Rect {
        x: x - LANE_PADDING,
        y: 0.0,
        width: width + 2.0 * LANE_PADDING,
        height: rows_end + LANE_PADDING,
    };
    let lanes: Vec<Rect> = lefts.iter().map(lane_of).collect();
    let streets = street_ys(&plan, &tops, &heights);
    let geometry = Geometry { panel, plan: &plan, boxes: &boxes, lanes: &lanes, streets: &streets };
    let curves = geometry.curves();
    let downs = plan.routes.iter().map(|r| *r == Route::Down).collect();
    let threads = geometry.threads();
    Layout { lanes, curves, downs, threads, boxes, texts }
}

/// The text on the bar of a fence.
pub(super) fn fence_text(cell: &Cell) -> String {
    match &cell.commit {
        Some(commit) => format!("{} · {} · {commit}", cell.text, cell.place),
        None => format!("{} · {}", cell.text, cell.place),
    }
}

/// The left edge and width of each column's boxes.
fn columns(panel: &Panel, plan: &Plan, texts: &[Vec<Vec<String>>]) -> Vec<(f64, f64)> {
    let mut placed = Vec::with_capacity(panel.columns.len());
    let mut x = LANE_PADDING;
    for (c, column) in panel.columns.iter().enumerate() {
        let width_of = |(cell, lines): (&Cell, &Vec<String>)| match cell.kind {
            CellKind::Fence(_) => text_width(&fence_text(cell), LABEL_TEXT),
            _ => lines.iter().map(|line| text_width(line, BOX_TEXT)).fold(0.0, f64::max),
        };
        let widths = column.cells.iter().zip(&texts[c]).map(width_of);
        let widest = widths.fold(text_width(&column.title, BOX_TEXT), f64::max);
        let width = (widest + 2.0 * BOX_PADDING).max(SMALLEST_BOX);
        placed.push((x, width));
        x += width + gutter(panel, plan, c);
    }
    placed
}

/// The width of the gutter right of a column.
fn gutter(panel: &Panel, plan: &Plan, column: usize) -> f64 {
    let mut width: f64 = 2.0 * LANE_PADDING + 36.0;
    let (mut long, mut across) = (0, 0);
    for (arrow, route) in panel.arrows.iter().zip(&plan.routes) {
        let (left, right) = ends(arrow);
        match route {
            Route::Across if left == column => {
                width = width.max(label_width(arrow) + 2.0 * LANE_PADDING + 44.0);
                across += usize::from(is_labelled(arrow));
            }
            Route::Street { .. } if left == column || right == column + 1 => long += 1,
            _ => {}
        }
    }
    let next = plan.loop_lanes.get(column + 1).map_or(0, |lanes| lanes[0]);
    let loops = plan.loop_lanes[column][1].min(99) + next;
    let inner = column + 1 < panel.columns.len();
    let room_for_labels = if loops > 0 && inner { 50.0 } else { 0.0 };
    // Two that cross leave each other's labels little room.
    let crossings = if across > 1 { 44.0 } else { 0.0 };
    width + crossings + 10.0 * long as f64 + LANE * loops as f64 + room_for_labels
}

fn ends(arrow: &Arrow) -> (usize, usize) {
    let (a, b) = (arrow.from.column, arrow.to.column);
    (a.min(b), a.max(b))
}

/// Whether an arrow has a label. Who read from whom is plain from the values; where it is only
/// context it goes without.
pub(super) fn is_labelled(arrow: &Arrow) -> bool {
    !(arrow.role == Role::Context && arrow.label == "reads-from")
}

/// The width of an arrow's label with its badge.
pub(super) fn label_width(arrow: &Arrow) -> f64 {
    if !is_labelled(arrow) {
        return 0.0;
    }
    let badge = arrow.step.as_ref().map_or(0.0, |step| badge_width(step) + 4.0);
    text_width(arrow.label, LABEL_TEXT) + badge + 8.0
}

/// The width of the badge of a step.
pub(super) fn badge_width(step: &str) -> f64 {
    (text_width(step, LABEL_TEXT) + 9.0).max(17.0)
}

/// The top and height of each row.
fn rows(panel: &Panel, plan: &Plan, texts: &[Vec<Vec<String>>]) -> (Vec<f64>, Vec<f64>) {
    let count = plan.street_lanes.len() - 1;
    let mut heights = vec![0.0f64; count];
    let mut is_small = vec![true; count];
    for (c, column) in panel.columns.iter().enumerate() {
        for (row, cell) in column.cells.iter().enumerate() {
            let height = cell_height(cell, texts[c][row].len());
            heights[row] = heights[row].max(height);
            is_small[row] &= !matches!(cell.kind, CellKind::Event(_) | CellKind::Initial(_));
        }
    }
    let mut tops = Vec::with_capacity(count);
    let mut y = HEADER;
    for row in 0..count {
        let small = is_small[row] || (row > 0 && is_small[row - 1]);
        let gap = match (row, small) {
            (0, _) => EDGE_GAP,
            (_, true) => SMALL_ROW_GAP,
            _ => ROW_GAP,
        };
        y += gap.max(street_height(plan.street_lanes[row]));
        tops.push(y);
        y += heights[row];
    }
    (tops, heights)
}

fn street_height(lanes: usize) -> f64 {
    if lanes == 0 { 0.0 } else { 20.0 + LANE * lanes as f64 }
}

/// The height of every lane of every street.
fn street_ys(plan: &Plan, tops: &[f64], heights: &[f64]) -> Vec<Vec<f64>> {
    let count = tops.len();
    let lanes = |street: usize, middle: f64| -> Vec<f64> {
        let lanes = plan.street_lanes[street];
        (0..lanes).map(|l| middle + (l as f64 - (lanes as f64 - 1.0) / 2.0) * LANE).collect()
    };
    (0..=count)
        .map(|street| {
            if street == 0 {
                let top = tops.first().copied().unwrap_or_default();
                lanes(0, (HEADER + top) / 2.0)
            } else if street == count {
                // Below everything, the first lane nearest.
                let end = tops[count - 1] + heights[count - 1] + LANE_PADDING + LANE;
                (0..plan.street_lanes[count]).map(|l| end + l as f64 * LANE).collect()
            } else {
                lanes(street, (tops[street - 1] + heights[street - 1] + tops[street]) / 2.0)
            }
        })
        .collect()
}

struct Geometry<'a> {
    panel: &'a Panel,
    plan: &'a Plan,
    boxes: &'a [Vec<Rect>],
    lanes: &'a [Rect],
    streets: &'a [Vec<f64>],
}

impl Geometry<'_> {
    fn cell(&self, place: Place) -> &Rect {
        &self.boxes[place.column][place.row]
    }

    fn curves(&self) -> Vec<Curve> {
        let ports = self.ports();
        let mut curves = Vec::with_capacity(self.panel.arrows.len());
        for (at, arrow) in self.panel.arrows.iter().enumerate() {
            let [start, end] = ports[at];
            curves.push(match self.plan.routes[at] {
                Route::Down => self.down(arrow),
                Route::Across => Curve::level(&[start, end]),
                Route::Loop { side, lane } => self.loop_curve(side, lane, start, end),
                Route::Street { street, lane } => {
                    self.street(arrow, self.streets[street][lane], start, end)
                }
                Route::Around { lane } => {
                    let y = self.streets[self.streets.len() - 1][lane];
                    self.around(start, end, y, lane)
                }
            });
        }
        curves
    }

    /// Straight down, with the pen lifted over fences and gaps.
    fn down(&self, arrow: &Arrow) -> Curve {
        let x = self.cell(arrow.from).centre().x;
        let mut pieces = Vec::new();
        let column = &self.boxes[arrow.from.column];
        for row in arrow.from.row..arrow.to.row {
            pieces.push(Piece::Move(point(x, column[row].bottom())));
            pieces.push(Piece::Line(point(x, column[row + 1].y)));
        }
        Curve { pieces }
    }

    fn loop_curve(&self, side: Side, lane: usize, start: Point, end: Point) -> Curve {
        let out = LANE_PADDING + 8.0 + LANE * lane as f64;
        let x = match side {
            Side::Left => start.x - out,
            Side::Right => start.x + out,
        };
        Curve::cornered(&[start, point(x, start.y), point(x, end.y), end], 12.0)
    }

    /// Into the gutter, along the street, out of the last gutter.
    fn street(&self, arrow: &Arrow, y: f64, start: Point, end: Point) -> Curve {
        let (from, to) = (arrow.from.column, arrow.to.column);
        let (enter, leave) = if from < to {
            (self.lanes[from + 1].x, self.lanes[to - 1].right())
        } else {
            (self.lanes[from - 1].right(), self.lanes[to + 1].x)
        };
        Curve::level(&[start, point(enter, y), point(leave, y), end])
    }

    fn around(&self, start: Point, end: Point, y: f64, lane: usize) -> Curve {
        let out = LANE_PADDING + 12.0 + LANE * lane as f64;
        let beyond = if start.x > end.x { out } else { -out };
        let stops = [
            start,
            point(start.x + beyond, start.y),
            point(start.x + beyond, y),
            point(end.x - beyond, y),
            point(end.x - beyond, end.y),
            end,
        ];
        Curve::cornered(&stops, 14.0)
    }

    /// Where each arrow leaves and enters a side of a box: spread out, in the order of where they
    /// go, so that they do not cross at once.
    fn ports(&self) -> Vec<[Point; 2]> {
        let mut sides: Vec<(Place, Side, f64, usize, usize)> = Vec::new();
        for (at, arrow) in self.panel.arrows.iter().enumerate() {
            let [leaves, enters] = self.sides(at);
            sides.push((arrow.from, leaves, self.heading(at, arrow.to), at, 0));
            sides.push((arrow.to, enters, self.heading(at, arrow.from), at, 1));
        }
        sides.retain(|&(.., at, _)| self.plan.routes[at] != Route::Down);
        sides.sort_by(|a, b| {
            (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)).then((a.3, a.4).cmp(&(b.3, b.4)))
        });
        let mut ports = vec![[point(0.0, 0.0); 2]; self.panel.arrows.len()];
        for group in sides.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let cell = self.cell(group[0].0);
            let room = cell.height - 14.0;
            let step = (room / (group.len() as f64 - 1.0).max(1.0)).min(18.0);
            for (nth, &(_, side, _, at, end)) in group.iter().enumerate() {
                let x = if side == Side::Left { cell.x } else { cell.right() };
                let offset = (nth as f64 - (group.len() as f64 - 1.0) / 2.0) * step;
                ports[at][end] = point(x, cell.centre().y + offset);
            }
        }
        ports
    }

    /// The sides at which an arrow leaves and enters.
    fn sides(&self, at: usize) -> [Side; 2] {
        let arrow = &self.panel.arrows[at];
        let rightwards = arrow.from.column < arrow.to.column;
        match (self.plan.routes[at], rightwards) {
            (Route::Loop { side, .. }, _) => [side, side],
            (Route::Around { .. }, false) => [Side::Right, Side::Left],
            (Route::Around { .. }, true) => [Side::Left, Side::Right],
            (_, true) => [Side::Right, Side::Left],
            (_, false) => [Side::Left, Side::Right],
        }
    }

    /// The height an arrow heads for from one of its ends.
    fn heading(&self, at: usize, other: Place) -> f64 {
        match self.plan.routes[at] {
            Route::Street { street, lane } => self.streets[street][lane],
            Route::Around { .. } => f64::MAX,
            _ => self.cell(other).centre().y,
        }
    }

    /// Program order where no arrow shows it.
    fn threads(&self) -> Vec<(Point, Point)> {
        let mut lines = Vec::new();
        for (c, column) in self.boxes.iter().enumerate() {
            let is_initial = |cell: &Cell| matches!(cell.kind, CellKind::Initial(_));
            if self.panel.columns[c].cells.iter().any(is_initial) {
                continue;
            }
            let cells = &self.panel.columns[c].cells;
            for row in 1..column.len() {
                if cells[row - 1].kind == CellKind::Blank {
                    continue;
                }
                let shown = self.panel.arrows.iter().zip(&self.plan.routes).any(|(a, r)| {
                    *r == Route::Down && a.from.column == c && a.from.row < row && a.to.row >= row
                });
                if !shown {
                    let x = column[row].centre().x;
                    lines.push((point(x, column[row - 1].bottom()), point(x, column[row].y)));
                }
            }
        }
        lines
    }
}
