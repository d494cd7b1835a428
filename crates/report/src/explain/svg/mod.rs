//! The explanation as a picture: a self-contained SVG, drawn without any other tool.
//!
//! From top to bottom: the title, the reason in a sentence, a panel for each cycle, and the
//! argument in words with the same step numbers as the badges in the panels. Colours are from the
//! palette of Okabe and Ito, which colour-blind readers can distinguish; line styles differ too.

mod canvas;
mod geometry;
mod labels;
mod layout;
mod parts;
mod route;

use history::History;

use super::argument::Argument;
use super::explained_model::ExplainedModel;
use super::picture::{Arrow, Cell, CellKind, Panel, Role, panels};
use super::text::{legend, wrap};
use super::words::Words;
use crate::names::event_name;
use crate::style::Style;
use canvas::Canvas;
pub(super) use canvas::escaped;
use geometry::{Rect, point};
use layout::{BOX_TEXT, LABEL_TEXT, LINE, Layout, badge_width, fence_text, layout};
pub(super) use parts::{PanelParts, node_number, parts};

const MARGIN: f64 = 28.0;
const SMALLEST_WIDTH: f64 = 760.0;
const WORDS_TEXT: f64 = 12.5;
const WORDS_LINE: f64 = 19.0;
/// The width of a character of running text, as a part of its size, on average and on the safe
/// side.
const WORDS_CHARACTER: f64 = 0.54;
/// The most lines of words; the text has them all.
const MOST_WORDS: usize = 160;
/// How wide the words may run, in characters.
const WORDS_WIDTH: usize = 120;

const STYLE: &str = "\
text{font-family:'Helvetica Neue',Arial,'DejaVu Sans',sans-serif;fill:#1f2328}\
.mono,.label,.fence-text,.code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace}\
.page{fill:#ffffff}\
.title{font-size:21px;font-weight:700}.subtitle{font-size:13px;fill:#59636e}\
.gist{font-size:14.5px}\
.panel{font-size:13.5px;font-weight:700}\
.lane{fill:#f6f7f9}.head{font-size:13px;font-weight:700;text-anchor:middle}\
.box{fill:#ffffff;stroke:#818b98;stroke-width:1.2}\
.box-on{fill:#fff3ea;stroke:#d55e00;stroke-width:1.8}\
.box-initial{stroke-dasharray:4 3}\
.mono{font-size:13px;text-anchor:middle}.place{font-size:10.5px;fill:#59636e;text-anchor:middle}\
.bar{fill:#d8dee4;stroke:#818b98;stroke-width:1}.fence-text{font-size:11px;text-anchor:middle}\
.gap{font-size:11.5px;fill:#59636e;text-anchor:middle}\
.thread{fill:none;stroke:#c3cad2;stroke-width:1.6}\
.cycle,.assumed,.step,.context{fill:none}\
.cycle{stroke:#d55e00;stroke-width:2.4}.cycle-head{fill:#d55e00}\
.assumed{stroke:#a0338f;stroke-width:1.8;stroke-dasharray:2.5 3}.assumed-head{fill:#a0338f}\
.step{stroke:#0072b2;stroke-width:1.8;stroke-dasharray:7 4}.step-head{fill:#0072b2}\
.context{stroke:#a3acb5;stroke-width:1.3}.context-head{fill:#a3acb5}\
.label{font-size:11px}.back{fill:#ffffff}.back-lane{fill:#f6f7f9}\
.cycle-text{fill:#a84800}.assumed-text{fill:#7d2470}.step-text{fill:#005a8c}.context-text{fill:#59636e}\
.badge{fill:#0072b2}.badge-text{font-size:11px;font-weight:700;fill:#ffffff;text-anchor:middle}\
.rule{stroke:#d8dee4;stroke-width:1}\
.words{font-size:12.5px}.strong{font-size:12.5px;font-weight:700}.key{font-size:11.5px;fill:#59636e}";

/// The explanation as SVG.
pub(super) fn write(history: &History, model: ExplainedModel<'_>, argument: &Argument) -> String {
    let words = Words { history, model };
    let (panels, left_out) = panels(words, argument);
    let drawn: Vec<PlacedPanel<'_>> =
        panels.iter().map(|panel| PlacedPanel::new(words, panel)).collect();
    let widest = drawn.iter().map(|d| d.extent.width).fold(0.0, f64::max);
    let width = (widest + 2.0 * MARGIN).max(SMALLEST_WIDTH);

    let mut page = Page { canvas: Canvas::default(), y: MARGIN, width };
    page.title(words, argument);
    page.key(&panels);
    for drawn in drawn {
        page.panel(drawn);
    }
    if left_out > 0 {
        let more = format!("{left_out} more cases are not drawn; the text below has them.");
        page.line("subtitle", MARGIN, WORDS_LINE, &more);
    }
    page.words(words, argument);
    page.finish(&format!("{model}: violation of {}", model.title()))
}

/// The whole picture, growing downwards.
struct Page {
    canvas: Canvas,
    y: f64,
    width: f64,
}

impl Page {
    /// Adds a line of text at the bottom.
    fn line(&mut self, class: &str, x: f64, height: f64, text: &str) {
        self.y += height;
        self.canvas.text(class, point(x, self.y - height * 0.3), text);
    }

    /// Lines of text of this size, as many as it takes.
    fn wrapped(&mut self, class: &str, size: f64, height: f64, text: &str) {
        let room = (self.width - 2.0 * MARGIN) / (size * WORDS_CHARACTER);
        for line in wrap(text, room as usize) {
            self.line(class, MARGIN, height, &line);
        }
    }

    fn title(&mut self, words: Words<'_>, argument: &Argument) {
        let model = words.model;
        self.line("title", MARGIN, 26.0, &format!("Violation of {model}"));
        let subtitle = format!("{}: {}", model.title(), model.summary());
        self.wrapped("subtitle", 13.0, 21.0, &subtitle);
        self.y += 4.0;
        self.wrapped("gist", 14.5, 23.0, &words.gist(argument));
        self.y += 12.0;
    }

    /// The legend of the kinds of arrows that occur.
    fn key(&mut self, panels: &[Panel]) {
        let mut x = MARGIN;
        let kinds = [
            (Role::Cycle, "the cycle: each event comes before the next"),
            (Role::Assumed, "assumed in this case"),
            (Role::Step, "shown by a step"),
            (Role::Context, "also used (unlabelled arrows: reads-from)"),
        ];
        let arrows = || panels.iter().flat_map(|p| &p.arrows);
        let occurring = kinds.into_iter().filter(|(role, _)| arrows().any(|a| a.role == *role));
        let mut entries: Vec<(Option<Role>, &str)> =
            occurring.map(|(role, text)| (Some(role), text)).collect();
        if arrows().any(|a| a.step.is_some()) {
            entries.push((None, "see step n below"));
        }
        for (role, text) in entries {
            let sign = if role.is_some() { 41.0 } else { 23.0 };
            let width = sign + text.len() as f64 * 11.5 * WORDS_CHARACTER;
            if x > MARGIN && x + width > self.width - MARGIN {
                x = MARGIN;
                self.y += 20.0;
            }
            let y = self.y + 6.0;
            match role {
                Some(role) => {
                    let curve = geometry::Curve::level(&[point(x, y), point(x + 34.0, y)]);
                    self.canvas.arrow(class_of(role), &curve);
                }
                None => badge(&mut self.canvas, "n", point(x + 9.0, y)),
            }
            self.canvas.text("key", point(x + sign, y + 4.0), text);
            x += width + 22.0;
        }
        self.y += 26.0;
    }

    fn panel(&mut self, drawn: PlacedPanel<'_>) {
        if let Some(heading) = &drawn.panel.heading {
            self.wrapped("panel", 14.5, 22.0, heading);
            self.y += 8.0;
        }
        let centred = (self.width - drawn.extent.width) / 2.0;
        self.canvas.shift(point(centred - drawn.extent.x, self.y - drawn.extent.y));
        drawn.draw(&mut self.canvas);
        self.canvas.end();
        self.y += drawn.extent.height + 26.0;
    }

    /// The argument in words.
    fn words(&mut self, words: Words<'_>, argument: &Argument) {
        let (left, right) = (point(MARGIN, self.y), point(self.width - MARGIN, self.y));
        self.canvas.line("rule", left, right);
        self.y += 14.0;
        let room = ((self.width - 2.0 * MARGIN) / (WORDS_TEXT * WORDS_CHARACTER)) as usize;
        let lines = legend(words, argument, room.min(WORDS_WIDTH));
        let left_out = lines.len().saturating_sub(MOST_WORDS);
        for line in lines.into_iter().take(MOST_WORDS) {
            let strong = line.style == Style::Strong;
            let class = if strong { "strong" } else { "words" };
            let x = MARGIN + line.indent as f64 * 7.0;
            let height = if line.text.is_empty() { WORDS_LINE * 0.45 } else { WORDS_LINE };
            self.y += height;
            let baseline = self.y - WORDS_LINE * 0.3;
            let text_x = x + line.mark.chars().count() as f64 * 7.0;
            match line.mark.trim_end().strip_suffix('.') {
                Some(step) => {
                    let width = badge_width(step);
                    badge(&mut self.canvas, step, point(x + width / 2.0, baseline - 4.0));
                    self.canvas.text(class, point(x + width + 6.0, baseline), &line.text);
                }
                None if line.mark == "- " => {
                    self.canvas.text(class, point(x, baseline), "•");
                    self.canvas.text(class, point(text_x, baseline), &line.text);
                }
                None => {
                    let text = format!("{}{}", line.mark, line.text);
                    self.canvas.text(class, point(x, baseline), &text);
                }
            }
        }
        if left_out > 0 {
            let more = format!(
                "… {left_out} more lines; `tribunal explain --to text` prints all of them."
            );
            self.line("subtitle", MARGIN, WORDS_LINE * 1.5, &more);
        }
    }

    fn finish(self, title: &str) -> String {
        let (width, height) = (self.width.ceil(), (self.y + MARGIN).ceil());
        let title = escaped(title);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{title}\">\n\
             <title>{title}</title>\n<style>{STYLE}</style>\n\
             <rect class=\"page\" width=\"{width}\" height=\"{height}\"/>\n{}</svg>\n",
            self.canvas.body
        )
    }
}

/// A panel with all its coordinates.
struct PlacedPanel<'p> {
    words: Words<'p>,
    panel: &'p Panel,
    layout: Layout,
    labels: Vec<Option<Rect>>,
    extent: Rect,
}

impl<'p> PlacedPanel<'p> {
    fn new(words: Words<'p>, panel: &'p Panel) -> Self {
        let layout = layout(panel);
        let labels = labels::place(panel, &layout);
        let points = layout.curves.iter().flat_map(|curve| curve.points());
        let spots = points.map(|p| Rect::around(p, 4.0, 4.0));
        let everything = layout.lanes.iter().chain(labels.iter().flatten()).copied().chain(spots);
        let extent = everything.reduce(|a, b| a.union(&b));
        let extent = extent.unwrap_or(Rect { x: 0.0, y: 0.0, width: 0.0, height: 0.0 });
        Self { words, panel, layout, labels, extent }
    }

    fn draw(&self, canvas: &mut Canvas) {
        for (lane, column) in self.layout.lanes.iter().zip(&self.panel.columns) {
            canvas.rect("lane", lane, 8.0);
            canvas.text("head", point(lane.centre().x, lane.y + 22.0), &column.title);
        }
        for &(from, to) in &self.layout.threads {
            canvas.line("thread", from, to);
        }
        // The most important come first; draw them last, on top.
        for (arrow, curve) in self.panel.arrows.iter().zip(&self.layout.curves).rev() {
            canvas.arrow(class_of(arrow.role), curve);
        }
        for (c, column) in self.panel.columns.iter().enumerate() {
            for (row, cell) in column.cells.iter().enumerate() {
                self.cell(canvas, cell, &self.layout.boxes[c][row], &self.layout.texts[c][row]);
            }
        }
        for (arrow, rect) in self.panel.arrows.iter().zip(&self.labels) {
            if let Some(rect) = rect {
                let within = self.layout.lanes.iter().any(|lane| lane.contains(rect.centre()));
                label(canvas, arrow, rect, if within { "back-lane" } else { "back" });
            }
        }
    }

    fn cell(&self, canvas: &mut Canvas, cell: &Cell, rect: &Rect, lines: &[String]) {
        let middle = point(rect.centre().x, rect.centre().y + 4.0);
        match cell.kind {
            CellKind::Blank => {}
            CellKind::Gap(_) => canvas.text("gap", middle, &cell.text),
            CellKind::Fence(_) => {
                canvas.rect("bar", rect, 3.0);
                canvas.text("fence-text", middle, &fence_text(cell));
            }
            CellKind::Initial(_) => {
                let class = if cell.on_cycle { "box-on box-initial" } else { "box box-initial" };
                canvas.rect(class, rect, 7.0);
                lines_of_text(canvas, rect, lines, &cell.place);
            }
            CellKind::Event(event) => {
                canvas.tip(&event_name(self.words.history, event));
                canvas.rect(if cell.on_cycle { "box-on" } else { "box" }, rect, 7.0);
                lines_of_text(canvas, rect, lines, &cell.place);
                canvas.end();
            }
        }
    }
}

fn lines_of_text(canvas: &mut Canvas, rect: &Rect, lines: &[String], below: &str) {
    let x = rect.centre().x;
    for (at, line) in lines.iter().enumerate() {
        let y = rect.y + 5.0 + BOX_TEXT + at as f64 * LINE;
        canvas.text("mono", point(x, y), line);
    }
    canvas.text("place", point(x, rect.bottom() - 8.0), below);
}

fn label(canvas: &mut Canvas, arrow: &Arrow, rect: &Rect, back: &str) {
    let class = class_of(arrow.role);
    canvas.rect(back, rect, 4.0);
    let mut x = rect.x + 4.0;
    if let Some(step) = &arrow.step {
        let width = badge_width(step);
        badge(canvas, step, point(x + width / 2.0, rect.centre().y));
        x += width + 4.0;
    }
    let baseline = rect.centre().y + LABEL_TEXT * 0.35;
    canvas.text(&format!("label {class}-text"), point(x, baseline), arrow.label);
}

/// The number of a step on a coloured pill.
fn badge(canvas: &mut Canvas, step: &str, centre: geometry::Point) {
    canvas.rect("badge", &Rect::around(centre, badge_width(step), 16.0), 8.0);
    canvas.text("badge-text", point(centre.x, centre.y + 4.0), step);
}

fn class_of(role: Role) -> &'static str {
    match role {
        Role::Cycle => "cycle",
        Role::Assumed => "assumed",
        Role::Step => "step",
        Role::Context => "context",
    }
}

#[cfg(test)]
mod tests {
    use super::layout::text_width;
    use super::*;
    use crate::common::sketches;
    use crate::explain::build::argument;

    /// Every panel of every sketch, drawn.
    fn for_every_panel(check: impl Fn(&str, &PlacedPanel<'_>)) {
        for (name, (model, sketch)) in sketches::all() {
            let model = ExplainedModel::from(model);
            let words = Words { history: &sketch.history, model };
            let argument = argument(&sketch.history, model, &sketch.proof);
            for panel in panels(words, &argument).0 {
                check(name, &PlacedPanel::new(words, &panel));
            }
        }
    }

    #[test]
    fn no_arrow_runs_through_a_box() {
        for_every_panel(|name, drawn| {
            for curve in &drawn.layout.curves {
                for point in curve.points() {
                    let inside = |b: &&Rect| b.grown(-1.0).contains(point);
                    assert_eq!(drawn.layout.boxes.iter().flatten().find(inside), None, "{name}");
                }
            }
        });
    }

    #[test]
    fn no_label_covers_a_box_or_another_label() {
        for_every_panel(|name, drawn| {
            let labels: Vec<&Rect> = drawn.labels.iter().flatten().collect();
            for (at, label) in labels.iter().enumerate() {
                let others = labels[..at].iter().copied();
                for other in drawn.layout.boxes.iter().flatten().chain(others) {
                    assert_eq!(label.overlap(other), 0.0, "{name}: {label:?} {other:?}");
                }
            }
        });
    }

    #[test]
    fn text_fits_its_box() {
        for_every_panel(|name, drawn| {
            for (boxes, texts) in drawn.layout.boxes.iter().zip(&drawn.layout.texts) {
                for (rect, line) in
                    boxes.iter().zip(texts).flat_map(|(b, t)| t.iter().map(move |t| (b, t)))
                {
                    assert!(text_width(line, BOX_TEXT) <= rect.width, "{name}: {line}");
                }
            }
        });
    }
}
