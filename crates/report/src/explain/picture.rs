//! What is drawn, before where: threads as columns, events as cells, reasons as arrows.
//!
//! Graphviz and our own drawing share this. A picture has a panel for each cycle that ends a
//! branch of the argument; an argument without cases has one. A panel shows the cycle, the orders
//! of writes it rests on with the numbers of the steps that prove them, and who read from whom
//! where that matters.

use std::collections::BTreeMap;

use evidence::{Atom, Literal, Node, Rule};
use history::{AddressId, EventId, History, Source};

use super::argument::{
    Argument, Branch, Claim, Ground, Item, Link, LinkKind, Ordered, Reason, Step, Walk,
};
use super::explained_model::ExplainedModel;
use super::shown::{Shown, Slot};
use super::words::Words;
use crate::names::{address_of, event_text_within, place, shortened, source_node};

/// The most panels drawn; further cases are left to the words.
const MOST_PANELS: usize = 4;

/// With more steps than this only those that the cycle rests on directly are drawn.
const MOST_STEPS: usize = 6;

/// Longer addresses and values lose their middle.
const MOST_ADDRESS: usize = 20;
const MOST_VALUE: usize = 14;

/// The cells and arrows of one cycle.
pub(super) struct Panel {
    /// Which case this is, if there are several.
    pub(super) heading: Option<String>,
    pub(super) columns: Vec<Column>,
    pub(super) arrows: Vec<Arrow>,
}

/// A thread, or the initial writes.
pub(super) struct Column {
    pub(super) title: String,
    pub(super) cells: Vec<Cell>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CellKind {
    Event(EventId),
    Fence(EventId),
    Initial(AddressId),
    Gap(usize),
    /// Nothing, so that first events stand in one row though some have a gap above.
    Blank,
}

pub(super) struct Cell {
    pub(super) kind: CellKind,
    /// The text of the event.
    pub(super) text: String,
    /// The place of the event in the trace.
    pub(super) place: String,
    /// The instruction that it comes from.
    pub(super) commit: Option<String>,
    /// Whether the cycle goes through it.
    pub(super) on_cycle: bool,
}

/// Where a cell is: its column and its place in it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Place {
    pub(super) column: usize,
    pub(super) row: usize,
}

/// The role of an arrow, most important first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Role {
    /// Part of the cycle.
    Cycle,
    /// Assumed in this case.
    Assumed,
    /// Shown by a step.
    Step,
    /// Said by the trace, and used.
    Context,
}

pub(super) struct Arrow {
    pub(super) from: Place,
    pub(super) to: Place,
    pub(super) label: &'static str,
    /// The step that shows it.
    pub(super) step: Option<String>,
    pub(super) role: Role,
    /// Whether it is program order, which columns show anyway.
    pub(super) along_thread: bool,
    /// The rule of a model file that keeps it.
    pub(super) rule: Option<String>,
}

/// The panels of an argument, and the number of cases without a panel.
pub(super) fn panels(words: Words<'_>, argument: &Argument) -> (Vec<Panel>, usize) {
    let scenes = scenes(words, argument);
    let left_out = scenes.len().saturating_sub(MOST_PANELS);
    let panels = scenes.into_iter().take(MOST_PANELS).map(|s| panel(words, argument, s));
    (panels.collect(), left_out)
}

/// A cycle to draw and the steps before it.
struct PanelContent<'a> {
    heading: Option<String>,
    cycle: Option<&'a Walk>,
    steps: Vec<&'a Step>,
}

fn scenes<'a>(words: Words<'_>, argument: &'a Argument) -> Vec<PanelContent<'a>> {
    let branches = argument.branches();
    if !branches.is_empty() {
        let scene = |Branch { cases, steps, cycle }: Branch<'a>| {
            let heading = cases.last().map(|case| {
                let all: Vec<String> = cases.iter().map(|c| words.literal(c.assumes)).collect();
                format!("Case {}: {}", case.label, all.join(", and "))
            });
            PanelContent { heading, cycle: Some(cycle), steps }
        };
        return branches.into_iter().map(scene).collect();
    }
    // No branch ends in a cycle of its own: the cycles are those of the steps.
    let steps = argument.items.iter().filter_map(|item| match item {
        Item::Step(step) => Some(step),
        _ => None,
    });
    let mut scenes: Vec<PanelContent<'a>> = steps
        .filter_map(|step| match &step.reason {
            Reason::Otherwise(end) => Some(PanelContent {
                heading: Some(format!("Step {}: suppose {}", step.label, supposed(words, step))),
                cycle: Some(&end.cycle),
                steps: end.derived.iter().collect(),
            }),
            _ => None,
        })
        .collect();
    if scenes.is_empty() {
        scenes.push(PanelContent { heading: None, cycle: None, steps: Vec::new() });
    }
    scenes
}

/// The supposition that a step refutes.
fn supposed(words: Words<'_>, step: &Step) -> String {
    match step.claim {
        Claim::Literal(literal) => words.literal(literal.negated()),
        Claim::Edge(..) => "not".to_owned(),
    }
}

fn panel(words: Words<'_>, argument: &Argument, scene: PanelContent<'_>) -> Panel {
    let history = words.history;
    let drawn = scene.steps.len() <= MOST_STEPS;
    let mut shown = Shown::default();
    match scene.cycle {
        Some(cycle) => shown.add_walk(history, cycle),
        None => shown = Shown::of(history, argument),
    }
    let mut sketch =
        Sketch { history, arrows: BTreeMap::new(), model: words.model, rules: BTreeMap::new() };
    if let Some(cycle) = scene.cycle {
        cycle.links.iter().for_each(|link| sketch.link(link));
    }
    if drawn {
        for step in &scene.steps {
            shown.add_step(history, step);
            sketch.step(step);
        }
    }
    let (columns, places) = columns(history, &shown, scene.cycle);
    Panel { heading: scene.heading, arrows: sketch.arrows(&places), columns }
}

/// The cells of the events shown, and where each node is.
fn columns(
    history: &History,
    shown: &Shown,
    cycle: Option<&Walk>,
) -> (Vec<Column>, BTreeMap<Node, Place>) {
    let on_cycle = |node: Node| cycle.is_some_and(|c| c.nodes().any(|n| cell_of(n) == node));
    let slots: Vec<(String, Vec<Slot>)> = shown
        .threads(history)
        .into_iter()
        .map(|t| (format!("thread {}", history.thread_label(t)), shown.column(history, t)))
        .collect();
    let gap_above = slots.iter().any(|(_, column)| matches!(column[0], Slot::Gap(_)));
    let mut columns: Vec<Column> = Vec::new();
    if !shown.initials.is_empty() {
        let initials = shown.initials.iter().map(|&address| initial_cell(history, address));
        let cells = gap_above.then(Cell::blank).into_iter().chain(initials).collect();
        columns.push(Column { title: "initial".to_owned(), cells });
    }
    for (title, column) in slots {
        let blank = (gap_above && !matches!(column[0], Slot::Gap(_))).then(Cell::blank);
        let cells = column.into_iter().map(|slot| slot_cell(history, slot));
        columns.push(Column { title, cells: blank.into_iter().chain(cells).collect() });
    }
    let mut places = BTreeMap::new();
    for (column, Column { cells, .. }) in columns.iter_mut().enumerate() {
        for (row, cell) in cells.iter_mut().enumerate() {
            if let Some(node) = cell.node() {
                cell.on_cycle = on_cycle(node);
                places.insert(node, Place { column, row });
            }
        }
    }
    (columns, places)
}

fn initial_cell(history: &History, address: AddressId) -> Cell {
    let entry = history.address(address);
    let label = shortened(&entry.label.to_string(), MOST_ADDRESS);
    let text = format!("M[{label}] = {}", shortened(&entry.initial.to_string(), MOST_VALUE));
    let place = entry.init_line.map_or("initial value".to_owned(), |l| format!("line {l}"));
    Cell { kind: CellKind::Initial(address), text, place, commit: None, on_cycle: false }
}

fn slot_cell(history: &History, slot: Slot) -> Cell {
    match slot {
        Slot::Gap(count) => {
            Cell { kind: CellKind::Gap(count), text: format!("⋮ {count} more"), ..Cell::blank() }
        }
        Slot::Event(event) => {
            let is_fence = history.event(event).is_fence();
            let kind = if is_fence { CellKind::Fence(event) } else { CellKind::Event(event) };
            let text = event_text_within(history, event, MOST_ADDRESS, MOST_VALUE);
            let commit = history.commit(event).map(|commit| commit.to_string());
            Cell { kind, text, place: place(history, event), commit, on_cycle: false }
        }
    }
}

impl Cell {
    fn blank() -> Self {
        let (text, place) = (String::new(), String::new());
        Self { kind: CellKind::Blank, text, place, commit: None, on_cycle: false }
    }

    fn node(&self) -> Option<Node> {
        match self.kind {
            CellKind::Event(event) | CellKind::Fence(event) => Some(Node::Event(event)),
            CellKind::Initial(address) => Some(Node::Initial(address)),
            CellKind::Gap(_) | CellKind::Blank => None,
        }
    }
}

/// Arrows between nodes, one for each pair and kind, before nodes have places.
struct Sketch<'h> {
    history: &'h History,
    arrows: BTreeMap<(Node, Node, &'static str), (Role, Option<String>)>,
    model: ExplainedModel<'h>,
    /// The rules of a model file that keep program order.
    rules: BTreeMap<(Node, Node), String>,
}

impl Sketch<'_> {
    /// Adds an arrow, or makes the one there more important.
    fn add(&mut self, from: Node, to: Node, label: &'static str, role: Role, step: Option<String>) {
        let (from, to) = (cell_of(from), cell_of(to));
        if from == to {
            return;
        }
        let entry = self.arrows.entry((from, to, label)).or_insert((role, None));
        entry.0 = entry.0.min(role);
        entry.1 = entry.1.take().or(step);
    }

    /// An arrow of the cycle, with its justifications.
    fn link(&mut self, link: &Link) {
        let (label, step) = match &link.kind {
            LinkKind::Derived(step, rule) => (rule_label(*rule), Some(step.clone())),
            LinkKind::WriteOrder(order) => (link_label(&link.kind), only_step(order)),
            LinkKind::ProgramOrder if matches!(link.from, Node::Initial(_)) => ("initial", None),
            kind => (link_label(kind), None),
        };
        self.add(link.from, link.to, label, Role::Cycle, step);
        if let (ExplainedModel::File(rules), LinkKind::ProgramOrder) = (self.model, &link.kind) {
            let rule = rules.between(link.from, link.to);
            let rule = rule.split(" (").next().unwrap_or(rule).to_owned();
            self.rules.insert((link.from, link.to), rule);
        }
        match &link.kind {
            LinkKind::WriteOrder(order) if order.len() > 1 => self.order(order),
            LinkKind::FromRead { source: Some(Source::Write(write)), read, order } => {
                self.read(Node::Event(*write), link.from, read);
                self.order(order);
            }
            _ => {}
        }
    }

    fn read(&mut self, write: Node, reader: Node, ground: &Ground) {
        let (role, step) = role_of(ground);
        self.add(write, reader, "reads-from", role, step);
    }

    fn order(&mut self, order: &[Ordered]) {
        for Ordered { from, to, ground } in order {
            let (role, step) = role_of(ground);
            let label = if role == Role::Assumed { "assumed" } else { "write order" };
            self.add(*from, *to, label, role, step);
        }
    }

    /// The arrow of a step, and the reads it speaks of.
    fn step(&mut self, step: &Step) {
        let label = Some(step.label.clone());
        match (step.claim, &step.reason) {
            (Claim::Edge(from, to), Reason::Rule { rule, via, path, .. }) => {
                self.add(from, to, rule_label(*rule), Role::Step, label);
                if let (Rule::Observed | Rule::Conflict, Some(via)) = (rule, via) {
                    self.add(to, *via, "reads-from", Role::Context, None);
                }
                self.context(path);
            }
            (Claim::Literal(Literal { atom: Atom::Before(a, b), .. }), reason) => {
                self.add(Node::Event(a), Node::Event(b), "write order", Role::Step, label);
                if let Reason::Otherwise(end) = reason {
                    self.context(&end.cycle);
                }
            }
            (Claim::Literal(Literal { atom: Atom::Reads(reader, source), positive: true }), _) => {
                let (evidence::Reader::Event(read) | evidence::Reader::Part(read, _)) = reader
                else {
                    return;
                };
                let Some(address) = address_of(self.history, Node::Event(read)) else { return };
                let write = source_node(source, address);
                self.add(write, Node::Event(read), "reads-from", Role::Step, label);
            }
            _ => {}
        }
    }

    /// Who read from whom along a walk.
    fn context(&mut self, walk: &Walk) {
        for link in &walk.links {
            match (&link.kind, link.from) {
                (LinkKind::ReadsFrom(Ground::Given), Node::Event(_)) => {
                    self.add(link.from, link.to, "reads-from", Role::Context, None);
                }
                (LinkKind::FromRead { source: Some(Source::Write(write)), .. }, reader) => {
                    self.add(Node::Event(*write), reader, "reads-from", Role::Context, None);
                }
                _ => {}
            }
        }
    }

    /// The arrows between cells that are drawn, most important first.
    fn arrows(self, places: &BTreeMap<Node, Place>) -> Vec<Arrow> {
        let Sketch { arrows, rules, .. } = self;
        let arrow = |((from, to, label), (role, step)): (_, (Role, Option<String>))| {
            let along_thread = matches!(label, "program order" | "fence" | "time" | "dependency");
            let nodes = (from, to);
            let (from, to) = (*places.get(&from)?, *places.get(&to)?);
            let rule = rules.get(&nodes).cloned();
            Some(Arrow { from, to, label, step, role, along_thread, rule })
        };
        let mut arrows: Vec<Arrow> = arrows.into_iter().filter_map(arrow).collect();
        arrows.sort_by_key(|arrow| arrow.role);
        arrows
    }
}

/// The node that stands for a cell: the two halves of an atomic share one.
fn cell_of(node: Node) -> Node {
    match node {
        Node::ReadOf(event) => Node::Event(event),
        other => other,
    }
}

fn role_of(ground: &Ground) -> (Role, Option<String>) {
    match ground {
        Ground::Step(label) => (Role::Step, Some(label.clone())),
        ground if is_assumption(ground) => (Role::Assumed, None),
        _ => (Role::Context, None),
    }
}

fn is_assumption(ground: &Ground) -> bool {
    matches!(ground, Ground::Case(_) | Ground::Supposed)
}

fn only_step(order: &[Ordered]) -> Option<String> {
    match order {
        [Ordered { ground: Ground::Step(label), .. }] => Some(label.clone()),
        _ => None,
    }
}

pub(super) fn link_label(kind: &LinkKind) -> &'static str {
    match kind {
        LinkKind::ProgramOrder => "program order",
        LinkKind::Fence(_) => "fence",
        LinkKind::Dependency => "dependency",
        LinkKind::Time => "time",
        LinkKind::ReadsFrom(_) => "reads-from",
        LinkKind::WriteOrder(order) if order.iter().any(|o| is_assumption(&o.ground)) => "assumed",
        LinkKind::WriteOrder(_) => "write order",
        LinkKind::FromRead { .. } => "overwritten by",
        LinkKind::Derived(_, rule) => rule_label(*rule),
        LinkKind::Omitted(_) => "more steps",
    }
}

fn rule_label(rule: Rule) -> &'static str {
    match rule {
        Rule::Observed => "observed before",
        Rule::Conflict => "conflict",
        Rule::StoreOrder => "store order",
        Rule::Overwritten => "overwritten by",
        Rule::Atomic => "atomic",
    }
}
