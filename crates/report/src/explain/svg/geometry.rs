//! Points, boxes and curves.

/// A point, y growing downwards.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
}

pub(super) fn point(x: f64, y: f64) -> Point {
    Point { x, y }
}

/// A box by its upper left corner and size.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Rect {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Rect {
    /// The box of this size around a point.
    pub(super) fn around(centre: Point, width: f64, height: f64) -> Self {
        Self { x: centre.x - width / 2.0, y: centre.y - height / 2.0, width, height }
    }

    pub(super) fn right(&self) -> f64 {
        self.x + self.width
    }

    pub(super) fn bottom(&self) -> f64 {
        self.y + self.height
    }

    pub(super) fn centre(&self) -> Point {
        point(self.x + self.width / 2.0, self.y + self.height / 2.0)
    }

    /// The box, larger by a margin on all sides.
    pub(super) fn grown(&self, by: f64) -> Self {
        Self {
            x: self.x - by,
            y: self.y - by,
            width: self.width + 2.0 * by,
            height: self.height + 2.0 * by,
        }
    }

    pub(super) fn contains(&self, p: Point) -> bool {
        p.x >= self.x && p.x <= self.right() && p.y >= self.y && p.y <= self.bottom()
    }

    /// The area the two boxes share.
    pub(super) fn overlap(&self, other: &Rect) -> f64 {
        let width = self.right().min(other.right()) - self.x.max(other.x);
        let height = self.bottom().min(other.bottom()) - self.y.max(other.y);
        width.max(0.0) * height.max(0.0)
    }

    /// The smallest box around both.
    pub(super) fn union(&self, other: &Rect) -> Self {
        let (x, y) = (self.x.min(other.x), self.y.min(other.y));
        let (right, bottom) = (self.right().max(other.right()), self.bottom().max(other.bottom()));
        Self { x, y, width: right - x, height: bottom - y }
    }
}

/// One piece of a curve.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Piece {
    /// Lifts the pen and goes there.
    Move(Point),
    Line(Point),
    /// Two control points and the end.
    Cubic(Point, Point, Point),
}

impl Piece {
    fn end(&self) -> Point {
        match *self {
            Piece::Move(p) | Piece::Line(p) | Piece::Cubic(_, _, p) => p,
        }
    }
}

/// A curve, starting with a move.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Curve {
    pub(super) pieces: Vec<Piece>,
}

/// The distance of sampled points on a curve.
const SPACING: f64 = 4.0;

impl Curve {
    /// A curve that leaves and arrives horizontally, shaped like an S, along level stretches.
    pub(super) fn level(stops: &[Point]) -> Self {
        let mut pieces = Vec::new();
        let mut last: Option<Point> = None;
        for &stop in stops {
            pieces.push(match last {
                None => Piece::Move(stop),
                Some(before) if (before.y - stop.y).abs() < 0.5 => Piece::Line(stop),
                Some(before) => {
                    let middle = (before.x + stop.x) / 2.0;
                    Piece::Cubic(point(middle, before.y), point(middle, stop.y), stop)
                }
            });
            last = Some(stop);
        }
        Self { pieces }
    }

    /// Straight stretches with rounded corners.
    pub(super) fn cornered(stops: &[Point], radius: f64) -> Self {
        let mut pieces = vec![Piece::Move(stops[0])];
        for at in 1..stops.len() - 1 {
            let (before, corner, after) = (stops[at - 1], stops[at], stops[at + 1]);
            let room = distance(before, corner).min(distance(corner, after)) / 2.0;
            let radius = radius.min(room);
            let (start, end) = (towards(corner, before, radius), towards(corner, after, radius));
            pieces.push(Piece::Line(start));
            pieces.push(Piece::Cubic(
                towards(start, corner, radius * 0.6),
                towards(end, corner, radius * 0.6),
                end,
            ));
        }
        pieces.push(Piece::Line(stops[stops.len() - 1]));
        Self { pieces }
    }

    /// Points all along the curve, evenly spaced.
    pub(super) fn points(&self) -> Vec<Point> {
        let mut points = Vec::new();
        let mut at = point(0.0, 0.0);
        for piece in &self.pieces {
            let end = piece.end();
            let (c1, c2) = match *piece {
                Piece::Move(p) => {
                    points.push(p);
                    at = p;
                    continue;
                }
                Piece::Line(p) => (at, p),
                Piece::Cubic(c1, c2, _) => (c1, c2),
            };
            let length = distance(at, c1) + distance(c1, c2) + distance(c2, end);
            let count = (length / SPACING).ceil().max(1.0) as usize;
            for step in 1..=count {
                let t = step as f64 / count as f64;
                points.push(match piece {
                    Piece::Line(_) => towards(at, end, distance(at, end) * t),
                    _ => bezier(at, c1, c2, end, t),
                });
            }
            at = end;
        }
        points
    }

    /// The curve cut short at its end for an arrowhead of this length; its tip and its direction
    /// as a unit vector.
    pub(super) fn with_head(mut self, length: f64) -> (Self, Point, Point) {
        let count = self.pieces.len();
        let before = self.pieces[..count - 1].last().map_or(point(0.0, 0.0), Piece::end);
        let tip = self.pieces[count - 1].end();
        let from = match self.pieces[count - 1] {
            Piece::Cubic(_, control, _) if distance(control, tip) > 0.1 => control,
            _ => before,
        };
        let long = distance(from, tip).max(0.001);
        let direction = point((tip.x - from.x) / long, (tip.y - from.y) / long);
        let end = point(tip.x - direction.x * length, tip.y - direction.y * length);
        self.pieces[count - 1] = match self.pieces[count - 1] {
            Piece::Cubic(c1, c2, _) => Piece::Cubic(c1, c2, end),
            _ => Piece::Line(end),
        };
        (self, tip, direction)
    }
}

fn bezier(a: Point, b: Point, c: Point, d: Point, t: f64) -> Point {
    let u = 1.0 - t;
    let mix = |a: f64, b: f64, c: f64, d: f64| {
        u * u * u * a + 3.0 * u * u * t * b + 3.0 * u * t * t * c + t * t * t * d
    };
    point(mix(a.x, b.x, c.x, d.x), mix(a.y, b.y, c.y, d.y))
}

fn distance(a: Point, b: Point) -> f64 {
    (a.x - b.x).hypot(a.y - b.y)
}

/// The point at a distance from `a` in the direction of `b`.
fn towards(a: Point, b: Point, by: f64) -> Point {
    let long = distance(a, b).max(0.001);
    point(a.x + (b.x - a.x) / long * by, a.y + (b.y - a.y) / long * by)
}
