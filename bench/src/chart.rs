//! A line chart as SVG: points joined by lines over linear or logarithmic axes, with grid and
//! legend. Colours follow the reader's light or dark setting; each line also has its own mark. The
//! document carries its numbers, for the page that lets a reader ask for them (`page.rs`).

use std::fmt::Write;

use serde_json::{Value, json};

use crate::axis::{Axis, Placed};

const WIDTH: f64 = 850.0;
const HEIGHT: f64 = 440.0;
const LEFT: f64 = 78.0;
const RIGHT: f64 = 612.0;
const TOP: f64 = 46.0;
const BOTTOM: f64 = 380.0;

/// Colours that read on white and on near-black.
const COLOURS: [&str; 11] = [
    "#3b82c4", "#d9772b", "#2e9e6b", "#d64550", "#9a6fc9", "#b8921e", "#3fa3ab", "#c05b95",
    "#7d8a2e", "#8c7a6b", "#808aa0",
];

const STYLE: &str = "\
text{font:13px system-ui,sans-serif;fill:#24292f}\
.title{font-size:15px;font-weight:600}\
.sheet{fill:#ffffff}\
.grid{stroke:#d8dee4;stroke-width:1}\
.frame{stroke:#6e7781;stroke-width:1;fill:none}\
.line{fill:none;stroke-width:2;stroke-linejoin:round}\
@media(prefers-color-scheme:dark){\
text{fill:#e6edf3}.sheet{fill:#0d1117}.grid{stroke:#30363d}.frame{stroke:#8b949e}}";

/// A chart.
#[derive(Clone, Debug)]
pub(crate) struct Chart {
    /// What it shows.
    pub(crate) title: String,
    /// The horizontal axis.
    pub(crate) x: Axis,
    /// The vertical axis.
    pub(crate) y: Axis,
    /// The lines.
    pub(crate) lines: Vec<Line>,
}

/// One line of a chart.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// Its name in the legend.
    pub(crate) name: String,
    /// Its points, from left to right.
    pub(crate) points: Vec<Point>,
    /// Drawn with dashes: what we compare ourselves to.
    pub(crate) dashed: bool,
}

/// One point of a line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    /// Where.
    pub(crate) x: f64,
    /// How much.
    pub(crate) y: f64,
    /// The measurement was ended here: the true value lies higher. Drawn hollow.
    pub(crate) at_least: bool,
}

impl Line {
    /// A line through measured points.
    pub(crate) fn new(
        name: impl Into<String>,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) -> Self {
        let measured = |(x, y)| Point { x, y, at_least: false };
        Self {
            name: name.into(),
            points: points.into_iter().map(measured).collect(),
            dashed: false,
        }
    }
}

impl Chart {
    /// The chart as an SVG document.
    pub(crate) fn svg(&self) -> String {
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let x = self.x.place(points().map(|p| p.x), LEFT, RIGHT);
        let y = self.y.place(points().map(|p| p.y), BOTTOM, TOP);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             width=\"{WIDTH}\" height=\"{HEIGHT}\" role=\"img\">\n<style>{STYLE}</style>\n\
             <rect class=\"sheet\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>\n"
        );
        let numbers = escaped(&self.numbers().to_string());
        put(&mut svg, format_args!("{BEGIN}{numbers}{END}"));
        text(&mut svg, (LEFT, 26.0), "start", "title", &self.title);
        self.grid(&mut svg, &x, &y);
        for (number, line) in self.lines.iter().enumerate() {
            draw(&mut svg, line, number, &x, &y);
            legend(&mut svg, line, number);
        }
        svg.push_str("</svg>\n");
        svg
    }

    /// What it shows, as data.
    fn numbers(&self) -> Value {
        let line = |line: &Line| {
            let points = line.points.iter();
            let points = points.map(|p| json!([rounded(p.x), rounded(p.y), p.at_least]));
            let points: Vec<Value> = points.collect();
            json!({"name": line.name, "dashed": line.dashed, "points": points})
        };
        let lines: Vec<Value> = self.lines.iter().map(line).collect();
        json!({"title": self.title, "x": self.x.json(), "y": self.y.json(), "lines": lines})
    }

    fn grid(&self, svg: &mut String, x: &Placed, y: &Placed) {
        for (at, label) in &x.ticks {
            segment(svg, (*at, TOP), (*at, BOTTOM));
            text(svg, (*at, BOTTOM + 19.0), "middle", "tick", label);
        }
        for (at, label) in &y.ticks {
            segment(svg, (LEFT, *at), (RIGHT, *at));
            text(svg, (LEFT - 8.0, *at + 4.5), "end", "tick", label);
        }
        let (width, height) = (RIGHT - LEFT, BOTTOM - TOP);
        put(
            svg,
            format_args!(
                "<rect class=\"frame\" x=\"{LEFT}\" y=\"{TOP}\" width=\"{width}\" height=\"{height}\"/>"
            ),
        );
        text(svg, ((LEFT + RIGHT) / 2.0, BOTTOM + 44.0), "middle", "name", &self.x.name);
        let middle = (TOP + BOTTOM) / 2.0;
        put(
            svg,
            format_args!(
                "<text transform=\"translate(18 {middle:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
                escaped(&self.y.name)
            ),
        );
    }
}

const BEGIN: &str = "<metadata>";
const END: &str = "</metadata>";

/// The numbers that a chart carries.
pub(crate) fn numbers(svg: &str) -> Option<Value> {
    let (inner, _) = svg.split_once(BEGIN)?.1.split_once(END)?;
    let plain = inner.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    serde_json::from_str(&plain).ok()
}

/// Five digits of a number: more mean nothing in a measurement.
fn rounded(number: f64) -> f64 {
    format!("{number:.4e}").parse().unwrap_or(number)
}

fn draw(svg: &mut String, line: &Line, number: usize, x: &Placed, y: &Placed) {
    let colour = COLOURS[number % COLOURS.len()];
    let dashes = if line.dashed { " stroke-dasharray=\"6 4\"" } else { "" };
    let places: Vec<(f64, f64)> = line.points.iter().map(|p| (x.at(p.x), y.at(p.y))).collect();
    let path: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    put(
        svg,
        format_args!(
            "<polyline class=\"line\" stroke=\"{colour}\"{dashes} points=\"{}\"/>",
            path.join(" ")
        ),
    );
    for (point, place) in line.points.iter().zip(places) {
        mark(svg, place, number, colour, point.at_least);
    }
}

fn legend(svg: &mut String, line: &Line, number: usize) {
    let colour = COLOURS[number % COLOURS.len()];
    let (x, y) = (RIGHT + 16.0, TOP + 12.0 + 22.0 * number as f64);
    let dashes = if line.dashed { " stroke-dasharray=\"6 4\"" } else { "" };
    put(
        svg,
        format_args!(
            "<polyline class=\"line\" stroke=\"{colour}\"{dashes} points=\"{x},{y} {},{y}\"/>",
            x + 26.0
        ),
    );
    mark(svg, (x + 13.0, y), number, colour, false);
    text(svg, (x + 34.0, y + 4.5), "start", "entry", &line.name);
}

/// Circle, square, diamond or triangle; filled, or hollow for "at least".
fn mark(svg: &mut String, (x, y): (f64, f64), number: usize, colour: &str, hollow: bool) {
    let fill = if hollow { "none" } else { colour };
    let paint = format!("fill=\"{fill}\" stroke=\"{colour}\" stroke-width=\"1.5\"");
    let corners: &[(f64, f64)] = match number % 4 {
        0 => {
            return put(svg, format_args!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" {paint}/>"));
        }
        1 => &[(-3.5, -3.5), (3.5, -3.5), (3.5, 3.5), (-3.5, 3.5)],
        2 => &[(0.0, -5.0), (5.0, 0.0), (0.0, 5.0), (-5.0, 0.0)],
        _ => &[(0.0, -5.0), (4.5, 3.5), (-4.5, 3.5)],
    };
    let points: Vec<String> =
        corners.iter().map(|(dx, dy)| format!("{:.1},{:.1}", x + dx, y + dy)).collect();
    put(svg, format_args!("<polygon points=\"{}\" {paint}/>", points.join(" ")));
}

fn segment(svg: &mut String, from: (f64, f64), to: (f64, f64)) {
    put(
        svg,
        format_args!(
            "<line class=\"grid\" x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\"/>",
            from.0, from.1, to.0, to.1
        ),
    );
}

fn text(svg: &mut String, at: (f64, f64), anchor: &str, class: &str, words: &str) {
    put(
        svg,
        format_args!(
            "<text class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
            at.0,
            at.1,
            escaped(words)
        ),
    );
}

fn put(svg: &mut String, element: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(svg, "{element}");
}

fn escaped(words: &str) -> String {
    words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axis::{Scale, Unit};

    #[test]
    fn a_chart_shows_every_line_with_its_name_and_hollow_marks_for_ended_measurements() {
        let ended = Point { x: 100.0, y: 10.0, at_least: true };
        let mut slow = Line::new("a < b", [(1.0, 1.0)]);
        slow.points.push(ended);
        let chart = Chart {
            title: "growth".into(),
            x: Axis::new("operations", Scale::Logarithmic, Unit::Count),
            y: Axis::new("time", Scale::Logarithmic, Unit::Seconds),
            lines: vec![Line::new("fast", [(1.0, 0.1), (100.0, 0.5)]), slow],
        };
        let svg = chart.svg();
        assert!(svg.contains("a &lt; b") && svg.contains(">fast<"));
        assert_eq!(svg.matches("fill=\"none\" stroke=").count(), 1);
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        let numbers = numbers(&svg).expect("it carries its numbers");
        assert_eq!(numbers["lines"][1]["name"], "a < b");
        assert_eq!(numbers["lines"][1]["points"][1], json!([100.0, 10.0, true]));
        assert_eq!(numbers["y"], json!({"name": "time", "log": true, "unit": "seconds"}));
    }
}
