//! Which way each arrow goes, before anything has coordinates.
//!
//! Columns stand side by side with gutters between them; the rows of all columns share a grid, so
//! that between two rows a street runs free across all columns. An arrow within a column goes
//! straight down if nothing is in the way, else around the side. An arrow to the next column
//! crosses the gutter. An arrow further away goes into a street, along it, and out again; from one
//! edge of the picture to the other it may go around everything. So no arrow crosses a box.

use super::super::picture::{Arrow, CellKind, Panel, Place, Role};

/// A side of a box.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Side {
    Left,
    Right,
}

/// The way of an arrow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Route {
    /// Straight down its column.
    Down,
    /// Out at a side of its column and in again, the lane counted from the box.
    Loop { side: Side, lane: usize },
    /// Across the gutter to the next column.
    Across,
    /// Through the street above row `street`, in a lane of it.
    Street { street: usize, lane: usize },
    /// Out at the edge of the picture, through the street below everything, in at the other edge.
    Around { lane: usize },
}

/// The routes of all arrows, and the number of lanes that they need.
pub(super) struct Plan {
    pub(super) routes: Vec<Route>,
    /// Lanes of each street; the first is above all rows, the last below.
    pub(super) street_lanes: Vec<usize>,
    /// Lanes of loops at the left and right of each column.
    pub(super) loop_lanes: Vec<[usize; 2]>,
}

/// The part of a street or of a column's side that an arrow occupies.
type Span = (usize, usize);

struct Planner<'p> {
    panel: &'p Panel,
    rows: usize,
    /// Rows each column's straight arrows leave from and go to.
    downs: Vec<Vec<Span>>,
    streets: Vec<Vec<Vec<Span>>>,
    loops: Vec<[Vec<Vec<Span>>; 2]>,
}

/// Plans the ways of a panel's arrows.
pub(super) fn plan(panel: &Panel) -> Plan {
    let rows = panel.columns.iter().map(|c| c.cells.len()).max().unwrap_or_default();
    let mut planner = Planner {
        panel,
        rows,
        downs: vec![Vec::new(); panel.columns.len()],
        streets: vec![Vec::new(); rows + 1],
        loops: vec![[Vec::new(), Vec::new()]; panel.columns.len()],
    };
    let mut routes = vec![Route::Across; panel.arrows.len()];
    for at in planner.easiest_first() {
        routes[at] = planner.route(&panel.arrows[at]);
    }
    let street_lanes = planner.streets.iter().map(Vec::len).collect();
    let loop_lanes = planner.loops.iter().map(|[l, r]| [l.len(), r.len()]).collect();
    Plan { routes, street_lanes, loop_lanes }
}

impl Planner<'_> {
    /// Straight arrows first, then short before long, so that long ones go around short ones.
    fn easiest_first(&self) -> Vec<usize> {
        let arrows = &self.panel.arrows;
        let mut order: Vec<usize> = (0..arrows.len()).collect();
        order.sort_by_key(|&at| {
            let Arrow { from, to, along_thread, role, .. } = &arrows[at];
            let columns = from.column.abs_diff(to.column);
            (columns, !along_thread, from.row.abs_diff(to.row), *role)
        });
        order
    }

    fn route(&mut self, arrow: &Arrow) -> Route {
        let (from, to) = (arrow.from, arrow.to);
        match from.column.abs_diff(to.column) {
            0 if self.is_straight(from, to) => {
                self.downs[from.column].push((from.row, to.row));
                Route::Down
            }
            0 => self.route_loop(from, to),
            1 => Route::Across,
            columns if columns + 1 == self.panel.columns.len() && arrow.role != Role::Context => {
                self.route_around(from, to)
            }
            _ => self.route_street(from, to),
        }
    }

    /// Whether only fences and gaps are between the two, and no other arrow.
    fn is_straight(&self, from: Place, to: Place) -> bool {
        let cells = &self.panel.columns[from.column].cells;
        let is_free = |row: usize| matches!(cells[row].kind, CellKind::Fence(_) | CellKind::Gap(_));
        from.row < to.row
            && (from.row + 1..to.row).all(is_free)
            && !self.downs[from.column].iter().any(|&(a, b)| a < to.row && from.row < b)
    }

    fn route_loop(&mut self, from: Place, to: Place) -> Route {
        let span = (from.row.min(to.row), from.row.max(to.row));
        let loops = &mut self.loops[from.column];
        let last = self.panel.columns.len() - 1;
        let side = match from.column {
            0 if last > 0 => Side::Left,
            column if column == last => Side::Right,
            _ if loops[0].len() < loops[1].len() => Side::Left,
            _ => Side::Right,
        };
        Route::Loop { side, lane: free_lane(&mut loops[side as usize], span) }
    }

    /// Around the bottom, unless a street does it better.
    fn route_around(&mut self, from: Place, to: Place) -> Route {
        let (street, cost) = self.best_street(from, to);
        let below = (2 * self.rows - from.row - to.row) as f64;
        if cost <= below {
            return self.take_street(street, from, to);
        }
        let lane = free_lane(&mut self.streets[self.rows], (0, self.panel.columns.len()));
        Route::Around { lane }
    }

    fn route_street(&mut self, from: Place, to: Place) -> Route {
        let (street, _) = self.best_street(from, to);
        self.take_street(street, from, to)
    }

    fn take_street(&mut self, street: usize, from: Place, to: Place) -> Route {
        let span = (from.column.min(to.column), from.column.max(to.column));
        Route::Street { street, lane: free_lane(&mut self.streets[street], span) }
    }

    /// The street with the shortest way that crosses the fewest arrows, and its cost.
    fn best_street(&self, from: Place, to: Place) -> (usize, f64) {
        let between = from.column.min(to.column) + 1..from.column.max(to.column);
        let cost = |street: usize| {
            let away = |row: usize| (row as f64 + 0.5 - street as f64).abs();
            let crossed = between.clone().filter(|&column| {
                self.downs[column].iter().any(|&(a, b)| a < street && street <= b)
            });
            let edge = if street == 0 || street == self.rows { 0.3 } else { 0.0 };
            away(from.row)
                + away(to.row)
                + 0.5 * crossed.count() as f64
                + 0.4 * self.streets[street].len() as f64
                + edge
        };
        let costs = (0..=self.rows).map(|street| (street, cost(street)));
        costs.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, 0.0))
    }
}

/// The first lane in which the span meets no other; it is then taken.
fn free_lane(lanes: &mut Vec<Vec<Span>>, span: Span) -> usize {
    let meets = |other: &Span| other.0 <= span.1 && span.0 <= other.1;
    let lane = lanes.iter().position(|lane| !lane.iter().any(meets)).unwrap_or(lanes.len());
    if lane == lanes.len() {
        lanes.push(Vec::new());
    }
    lanes[lane].push(span);
    lane
}
