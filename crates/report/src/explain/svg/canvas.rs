//! The few SVG elements a picture is made of, escaped and rounded.

use std::fmt::Write as _;

use super::geometry::{Curve, Piece, Point, Rect};

/// SVG being written.
#[derive(Default)]
pub(super) struct Canvas {
    pub(super) body: String,
}

impl Canvas {
    /// Everything drawn until [`Canvas::end`] is moved by this much.
    pub(super) fn shift(&mut self, by: Point) {
        let _ =
            writeln!(self.body, "<g transform=\"translate({} {})\">", number(by.x), number(by.y));
    }

    pub(super) fn end(&mut self) {
        self.body.push_str("</g>\n");
    }

    /// A box with round corners. `class` is a class of the style sheet.
    pub(super) fn rect(&mut self, class: &str, rect: &Rect, radius: f64) {
        let _ = writeln!(
            self.body,
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\"/>",
            number(rect.x),
            number(rect.y),
            number(rect.width),
            number(rect.height),
            number(radius)
        );
    }

    /// A line of text; its class says how it is aligned.
    pub(super) fn text(&mut self, class: &str, at: Point, text: &str) {
        let _ = writeln!(
            self.body,
            "<text class=\"{class}\" x=\"{}\" y=\"{}\">{}</text>",
            number(at.x),
            number(at.y),
            escaped(text)
        );
    }

    /// The tooltip of the elements until [`Canvas::end`].
    pub(super) fn tip(&mut self, text: &str) {
        let _ = writeln!(self.body, "<g><title>{}</title>", escaped(text));
    }

    pub(super) fn line(&mut self, class: &str, from: Point, to: Point) {
        let curve = Curve { pieces: vec![Piece::Move(from), Piece::Line(to)] };
        self.curve(class, &curve);
    }

    pub(super) fn curve(&mut self, class: &str, curve: &Curve) {
        let _ = writeln!(self.body, "<path class=\"{class}\" d=\"{}\"/>", path(curve));
    }

    /// A curve that ends in an arrowhead; the head's class is `class` with `-head` after it.
    pub(super) fn arrow(&mut self, class: &str, curve: &Curve) {
        let (line, head) = arrow_paths(curve);
        let _ = writeln!(self.body, "<path class=\"{class}\" d=\"{line}\"/>");
        let _ = writeln!(self.body, "<path class=\"{class}-head\" d=\"{head}\"/>");
    }
}

/// A curve as the data of a path.
fn path(curve: &Curve) -> String {
    let mut path = String::new();
    for piece in &curve.pieces {
        let pair = |p: Point| format!("{} {}", number(p.x), number(p.y));
        let _ = match *piece {
            Piece::Move(p) => write!(path, "M{}", pair(p)),
            Piece::Line(p) => write!(path, "L{}", pair(p)),
            Piece::Cubic(a, b, p) => write!(path, "C{},{},{}", pair(a), pair(b), pair(p)),
        };
    }
    path
}

/// A curve that ends in an arrowhead, and the head, as the data of two paths.
pub(super) fn arrow_paths(curve: &Curve) -> (String, String) {
    let (curve, tip, direction) = curve.clone().with_head(8.0);
    let corner = |along: f64, across: f64| {
        let x = tip.x - direction.x * along - direction.y * across;
        let y = tip.y - direction.y * along + direction.x * across;
        format!("{} {}", number(x), number(y))
    };
    let head = format!("M{} L{} L{}Z", corner(0.0, 0.0), corner(9.5, 4.6), corner(9.5, -4.6));
    (path(&curve), head)
}

/// A number with one decimal, without a useless one.
fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Text for XML: markup escaped, characters XML does not have replaced.
pub(in crate::explain) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push('\n'),
            c if c.is_control() => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}
