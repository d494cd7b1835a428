//! Where the label of each arrow stands: on its arrow, clear of boxes, other labels and, as far as
//! there is room, other arrows.

use super::super::picture::{Panel, Role};
use super::geometry::{Point, Rect, point};
use super::layout::{Layout, is_labelled, label_width};

const HEIGHT: f64 = 14.0;

/// The box of each arrow's label; none where the picture says it
/// without, as a fence that the arrow goes through.
pub(super) fn place(panel: &Panel, layout: &Layout) -> Vec<Option<Rect>> {
    let points: Vec<Vec<Point>> = layout.curves.iter().map(|curve| curve.points()).collect();
    let mut obstacles: Vec<Rect> = layout.boxes.iter().flatten().map(|b| b.grown(3.0)).collect();
    obstacles.extend(layout.lanes.iter().map(|lane| Rect { height: 26.0, ..*lane }));
    let weights = panel.arrows.iter().map(|a| if a.role == Role::Context { 0.8 } else { 3.0 });
    let scene = LabelConstraints {
        points: &points,
        weights: weights.collect(),
        obstacles: &obstacles,
        lanes: &layout.lanes,
    };
    let mut placed: Vec<Option<Rect>> = Vec::with_capacity(panel.arrows.len());
    for (at, arrow) in panel.arrows.iter().enumerate() {
        if !is_labelled(arrow) || (layout.downs[at] && arrow.label == "fence") {
            placed.push(None);
            continue;
        }
        let best = candidates(&points[at], label_width(arrow))
            .into_iter()
            .map(|(rect, fault)| (rect, fault + scene.cost(&rect, at, &placed)))
            .min_by(|a, b| a.1.total_cmp(&b.1));
        placed.push(best.map(|(rect, _)| rect));
    }
    placed
}

/// Places for a label on or beside its arrow, each with a fault for being away from the middle, on
/// a slope, or not on the arrow.
fn candidates(points: &[Point], width: f64) -> Vec<(Rect, f64)> {
    let mut found = Vec::new();
    let last = points.len().saturating_sub(1);
    for percent in (6..=94).step_by(2) {
        let nth = last * percent / 100;
        let (before, after) = (points[nth.saturating_sub(2)], points[(nth + 2).min(last)]);
        let (across, down) = ((after.x - before.x).abs(), (after.y - before.y).abs());
        let slope = if across < 0.5 { 0.0 } else { (down / across).min(1.0) };
        let fault = (percent as f64 - 50.0).abs() * 0.1 + 2.0 * slope;
        let at = points[nth];
        let beside = width / 2.0 + 5.0;
        let shifts: &[(f64, f64, f64)] = if across < 0.5 {
            &[(0.0, 0.0, 0.0), (beside, 0.0, 1.0), (-beside, 0.0, 1.0)]
        } else if slope >= 1.0 {
            &[(0.0, 0.0, 0.0), (beside, 0.0, 4.0), (-beside, 0.0, 4.0)]
        } else {
            &[(0.0, 0.0, 0.0), (0.0, 10.0, 4.0), (0.0, -10.0, 4.0)]
        };
        for &(right, down, apart) in shifts {
            let centre = point(at.x + right, at.y + down);
            found.push((Rect::around(centre, width, HEIGHT), fault + apart));
        }
    }
    found
}

/// What labels must keep clear of.
struct LabelConstraints<'a> {
    points: &'a [Vec<Point>],
    /// How bad it is to cover a point of each arrow.
    weights: Vec<f64>,
    obstacles: &'a [Rect],
    lanes: &'a [Rect],
}

impl LabelConstraints<'_> {
    /// The cost of a place, given what is already there.
    fn cost(&self, rect: &Rect, own: usize, placed: &[Option<Rect>]) -> f64 {
        let boxes: f64 = self.obstacles.iter().map(|o| o.overlap(rect)).sum();
        let labels: f64 = placed.iter().flatten().map(|l| l.overlap(rect)).sum();
        let near = rect.grown(3.0);
        let inside = |points: &[Point]| points.iter().filter(|&&p| near.contains(p)).count();
        let others = (0..self.points.len()).filter(|&at| at != own);
        let crossed: f64 =
            others.map(|at| inside(&self.points[at]).min(5) as f64 * self.weights[at]).sum();
        // Neither the head nor the tail of its own arrow should be hidden.
        let own = &self.points[own];
        let hidden = inside(&own[..own.len().min(3)]) + inside(&own[own.len().saturating_sub(5)..]);
        // Labels look best within a column or between two.
        let straddles = |lane: &&Rect| {
            let edge = |x: f64| rect.x < x && x < rect.right();
            rect.overlap(lane) > 0.0 && (edge(lane.x) || edge(lane.right()))
        };
        let straddled = self.lanes.iter().filter(straddles).count();
        boxes * 2.0 + labels * 6.0 + crossed + hidden as f64 * 6.0 + straddled as f64 * 4.0
    }
}
