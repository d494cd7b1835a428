//! The argument as plain text: the events, then the steps, then the contradiction.

use history::{History, OrderChain, Source};

use super::argument::{Argument, Case, Contradiction, Ending, Item, Reason, Step, Walk};
use super::explained_model::ExplainedModel;
use super::shown::{Shown, Slot};
use super::words::{NO_BREAK, Words, capitalised};
use crate::names::{event_line, place};
use crate::style::{Style, paint};

/// Lines are wrapped here, names permitting.
const WIDTH: usize = 100;

/// The explanation, ending in a newline.
pub(super) fn write(
    history: &History,
    model: ExplainedModel<'_>,
    argument: &Argument,
    colour: bool,
) -> String {
    let words = Words { history, model };
    let mut page = Page { words, width: WIDTH, lines: Vec::new() };
    page.push(0, "", &format!("{model}: violation of {}", model.title()), Style::Bad);
    page.paragraph(0, &words.gist(argument));
    if let Some(broken) = model.broken() {
        page.paragraph(0, broken);
    }
    page.blank();
    page.events(argument);
    page.blank();
    page.items(0, &argument.items);
    page.lines.iter().map(|line| line.text(colour)).collect()
}

/// The argument without its title and events, in lines of at most `width` characters: the legend
/// of a picture.
pub(super) fn legend(words: Words<'_>, argument: &Argument, width: usize) -> Vec<Line> {
    let mut page = Page { words, width, lines: Vec::new() };
    page.items(0, &argument.items);
    page.lines
}

/// A line of text.
pub(super) struct Line {
    /// The indentation in characters.
    pub(super) indent: usize,
    /// A number, case or bullet in front.
    pub(super) mark: String,
    pub(super) text: String,
    pub(super) style: Style,
}

impl Line {
    fn text(&self, colour: bool) -> String {
        let mark = paint(&self.mark, Style::Strong, colour);
        let text = paint(&self.text, self.style, colour);
        format!("{:indent$}{mark}{text}\n", "", indent = self.indent)
    }
}

struct Page<'h> {
    words: Words<'h>,
    width: usize,
    lines: Vec<Line>,
}

impl Page<'_> {
    fn push(&mut self, indent: usize, mark: &str, text: &str, style: Style) {
        let line = Line { indent, mark: mark.to_owned(), text: text.to_owned(), style };
        self.lines.push(line);
    }

    fn blank(&mut self) {
        self.push(0, "", "", Style::Plain);
    }

    fn paragraph(&mut self, indent: usize, text: &str) {
        self.marked(indent, "", text, Style::Plain);
    }

    fn heading(&mut self, indent: usize, text: &str) {
        self.marked(indent, "", text, Style::Strong);
    }

    /// A paragraph with a mark in front, wrapped to stand right of it.
    fn marked(&mut self, indent: usize, mark: &str, text: &str, style: Style) {
        let hang = indent + mark.chars().count();
        for (at, line) in wrap(text, self.width.saturating_sub(hang)).into_iter().enumerate() {
            let (indent, mark) = if at == 0 { (indent, mark) } else { (hang, "") };
            self.push(indent, mark, &line, style);
        }
    }

    /// The events that matter, as the trace has them.
    fn events(&mut self, argument: &Argument) {
        let history = self.words.history;
        let shown = Shown::of(history, argument);
        self.heading(0, "The events that matter:");
        for &address in shown.initials.union(&shown.initial_reads) {
            let entry = history.address(address);
            if let Some(line) = entry.init_line {
                self.trace_line(line, &format!("init M[{}] == {}", entry.label, entry.initial));
            }
        }
        for thread in shown.threads(history) {
            let label = history.thread_label(thread);
            for slot in shown.column(history, thread) {
                let (place, text, style) = match slot {
                    Slot::Event(event) => {
                        (place(history, event), event_line(history, event), Style::Plain)
                    }
                    Slot::Gap(count) => (String::new(), format!("… {count} more"), Style::Faint),
                };
                self.push(2, "", &format!("{place:<8}  {label}: {text}"), style);
            }
        }
        self.order_lines(&shown);
    }

    fn trace_line(&mut self, line: u32, text: &str) {
        let place = format!("line {line}");
        self.push(2, "", &format!("{place:<8}  {text}"), Style::Plain);
    }

    fn order_lines(&mut self, shown: &Shown) {
        let history = self.words.history;
        for last in history.finals().iter().filter(|f| shown.lines.contains(&f.line)) {
            let label = &history.address(last.address).label;
            self.trace_line(last.line, &format!("final M[{label}] == {}", last.value));
        }
        for order in history.orders().iter().filter(|o| shown.lines.contains(&o.line)) {
            let text = order_text(history, order);
            for (at, line) in wrap(&text, self.width).into_iter().enumerate() {
                if at == 0 {
                    self.trace_line(order.line, &line);
                } else {
                    self.push(14, "", &line, Style::Plain);
                }
            }
        }
    }

    // Recursion is as deep as cases nest, which is bounded.
    fn items(&mut self, indent: usize, items: &[Item]) {
        let has_steps = items.len() > 1;
        for (at, item) in items.iter().enumerate() {
            if indent == 0 && at > 0 {
                self.blank();
            }
            match item {
                Item::Step(step) => self.step(indent, step),
                Item::LeftOut(count) => self.paragraph(
                    indent,
                    &format!("({count} earlier steps are not shown; their proofs are like these.)"),
                ),
                Item::Cases(cases) => {
                    let question = self.words.question(cases);
                    self.heading(indent, &question);
                    for case in cases {
                        self.blank();
                        self.case(indent, case);
                    }
                }
                Item::End(ending) => self.ending(indent, ending, has_steps),
            }
        }
    }

    fn case(&mut self, indent: usize, case: &Case) {
        let assumes = format!("{}.", capitalised(self.words.literal(case.assumes)));
        self.marked(indent, &format!("Case {}: ", case.label), &assumes, Style::Strong);
        self.items(indent + 2, &case.items);
    }

    fn step(&mut self, indent: usize, step: &Step) {
        let mark = format!("{}. ", step.label);
        let claim = format!("{}.", capitalised(self.words.claim(step)));
        self.marked(indent, &mark, &claim, Style::Strong);
        let inner = indent + mark.chars().count();
        self.paragraph(inner, &capitalised(self.words.reason(step)));
        match &step.reason {
            Reason::Otherwise(contradiction) => self.contradiction(inner, contradiction),
            Reason::Rule { path, .. } => self.walk(inner, path),
            Reason::LastCandidate { .. } => {}
        }
    }

    fn contradiction(&mut self, indent: usize, contradiction: &Contradiction) {
        contradiction.derived.iter().for_each(|step| self.step(indent, step));
        self.walk(indent, &contradiction.cycle);
        self.paragraph(indent, &self.words.closing(&contradiction.cycle));
    }

    fn walk(&mut self, indent: usize, walk: &Walk) {
        for link in &walk.links {
            self.marked(indent, "- ", &self.words.link(walk.graph, link), Style::Plain);
        }
    }

    fn ending(&mut self, indent: usize, ending: &Ending, has_steps: bool) {
        if let Ending::Cycle(cycle) = ending {
            let heading = if has_steps { "So there is a cycle:" } else { "There is a cycle:" };
            self.heading(indent, heading);
            self.walk(indent, cycle);
            self.paragraph(indent, &self.words.closing(cycle));
        }
        for sentence in self.words.ending(ending) {
            self.paragraph(indent, &capitalised(sentence));
        }
        if let Ending::Search(search) = ending
            && let Some((_, contradiction)) = &search.example
        {
            self.contradiction(indent, contradiction);
        }
    }
}

/// An `order` line as the trace has it.
fn order_text(history: &History, order: &OrderChain) -> String {
    let entry = history.address(order.address);
    let value = |write: &Source| match *write {
        Source::Initial => entry.initial.to_string(),
        Source::Write(write) => match history.name(write) {
            Some(name) => name.to_owned(),
            None => history.event(write).operation.value_written().unwrap_or_default().to_string(),
        },
    };
    let values: Vec<String> = order.writes.iter().map(value).collect();
    format!("order M[{}]: {}", entry.label, values.join(" < "))
}

/// Breaks a text into lines no wider than `width`, where it can, between words. Non-breaking
/// spaces, which hold names together, become spaces.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > width {
            lines.push(String::new());
            used = 0;
        }
        let line = lines.last_mut().expect("there is always a last line");
        if used > 0 {
            line.push(' ');
            used += 1;
        }
        line.push_str(&word.replace(NO_BREAK, " "));
        used += length;
    }
    lines
}
