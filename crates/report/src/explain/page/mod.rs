//! A trace as a page: why it violates a model, or the order that explains it, and the whole of it.
//!
//! Here a history and its evidence become the data that the script of the page draws. The events
//! are columns of plain values, about 40 bytes an event, so that a hundred thousand of them are a
//! few megabytes.

mod argument;
mod rows;

use std::collections::BTreeMap;

use evidence::{Node, Proof, Witness};
use history::{AddressId, EventId, History, Source};
use models::Model;
use page::{Kind, Page, html};
use serde::Serialize;

use super::explained_model::ExplainedModel;
use super::picture::panels;
use super::shown::Shown;
use super::svg::{PanelParts, node_number, parts};
use super::words::Words;
use super::{build, text};
use crate::names::event_line;
use argument::cycles;
pub(super) use argument::{ItemData, items, plain};

/// What goes with a page: whose trace it is, and what can be saved from it.
#[derive(Clone, Debug, Default)]
pub struct PageContext {
    /// The name of the file.
    pub file: String,
    /// The number of the trace in it, from 1.
    pub trace: u64,
    /// The verdict as `tribunal check --json` prints it; empty if there is none.
    pub answer: String,
    /// The smallest part of the trace that still violates the model, as a trace file.
    pub minimal: Option<String>,
    /// The certificate, a line of JSON.
    pub certificate: Option<String>,
}

/// Why a history violates a model, for a page about something else.
#[derive(Serialize)]
pub struct WhyData {
    panels: Vec<PanelParts>,
    more_panels: usize,
    argument: Vec<ItemData>,
    /// The names of the nodes in the pictures.
    names: BTreeMap<i64, String>,
}

/// Why a history violates a model, as data for a script.
pub fn why_data(history: &History, model: ExplainedModel<'_>, proof: &Proof) -> WhyData {
    let argument = build::argument(history, model, proof);
    let words = Words { history, model };
    let (panels, more_panels) = panels(words, &argument);
    let shown = Shown::of(history, &argument);
    let events = shown.events.iter().map(|&event| Node::Event(event));
    let nodes = events.chain(shown.initials.iter().map(|&address| Node::Initial(address)));
    WhyData {
        panels: panels.iter().map(|panel| parts(words, panel)).collect(),
        more_panels,
        argument: items(words, &argument.items),
        names: nodes.map(|node| (node_number(node), argument::plain(&words.name(node)))).collect(),
    }
}

/// A page, and its summary as a sentence.
#[derive(Clone, Debug)]
pub struct PageAndGist {
    /// The sentence.
    pub gist: String,
    /// The page.
    pub html: String,
}

/// Why a history violates a model, as a page.
pub fn violation(
    history: &History,
    model: ExplainedModel<'_>,
    proof: &Proof,
    attached: &PageContext,
) -> PageAndGist {
    let argument = build::argument(history, model, proof);
    let words = Words { history, model };
    let (panels, more_panels) = panels(words, &argument);
    let walks = cycles(&argument);
    let nodes = walks.iter().flat_map(|walk| walk.nodes()).map(node_number);
    let mut on_cycle: Vec<i64> = nodes.filter(|&node| node >= 0).collect();
    if walks.is_empty() {
        let shown = Shown::of(history, &argument);
        on_cycle.extend(shown.events.iter().map(|event| event.index() as i64));
    }
    on_cycle.sort_unstable();
    on_cycle.dedup();
    let pairs = walks.iter().flat_map(|walk| &walk.links);
    let pairs = pairs.map(|link| (node_number(link.from), node_number(link.to)));
    let pairs = pairs.filter(|&(from, to)| from >= 0 && to >= 0 && from != to);
    let (rows, row_of) = rows::by_program_order(history);
    let plain = text::write(history, model, &argument, false);
    let data = Data {
        verdict: "violation",
        gist: words.gist(&argument),
        panels: panels.iter().map(|panel| parts(words, panel)).collect(),
        more_panels,
        argument: items(words, &argument.items),
        on_cycle,
        cycle_pairs: pairs.collect(),
        rows_note: "Program order runs downwards. Where possible, a read is below the write that it \
                    read from. The cycle is drawn in orange.",
        text: &plain,
        ..Data::new(history, model, attached, rows, row_of)
    };
    written(&data, &plain)
}

/// A history that satisfies a model, as a page: the order that explains it, played on the model's
/// machine where the witness is one order.
pub fn consistent(
    history: &History,
    model: ExplainedModel<'_>,
    witness: Option<&Witness>,
    attached: &PageContext,
) -> PageAndGist {
    let order = match witness {
        Some(Witness::Order(order)) => Some(order.as_slice()),
        _ => None,
    };
    let (rows, row_of) = match order {
        Some(order) => rows::by_order(history, order),
        None => rows::by_program_order(history),
    };
    let plain = format!(
        "{} trace {}: consistent with {model}, {}\n",
        attached.file,
        attached.trace,
        model.title()
    );
    let data = Data {
        verdict: "consistent",
        gist: match order {
            Some(_) => "There is an order of the events that explains every read.".to_owned(),
            None => "The certificate shows which write each read took its value from.".to_owned(),
        },
        order: order.map(|order| order.iter().map(|event| event.index()).collect()),
        buffers: !matches!(model, ExplainedModel::Model(Model::Sc)),
        memory: history.mixed().is_none(),
        play_note: "A write is shown where it reaches memory, a read where it takes its value. A \
                    write that waits while later events of its thread are performed is in the \
                    store buffer of the thread.",
        rows_note: match order {
            Some(_) => "From top to bottom: the order that explains every read.",
            None => "Program order runs downwards; a read is below the write that it read from.",
        },
        text: &plain,
        ..Data::new(history, model, attached, rows, row_of)
    };
    written(&data, &plain)
}

fn written(data: &Data<'_>, text: &str) -> PageAndGist {
    let title = format!("{} #{}: {}: {}", data.file, data.trace, data.model.name, data.verdict);
    let html = html(&Page { kind: Kind::Trace, title: &title, text, reload: None, data });
    PageAndGist { gist: data.gist.clone(), html }
}

/// The data of the script.
#[derive(Serialize)]
struct Data<'a> {
    file: &'a str,
    trace: u64,
    verdict: &'static str,
    model: ModelData,
    gist: String,
    /// The verdict as `check --json` prints it.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<serde_json::Value>,
    threads: Vec<Thread>,
    addresses: Vec<String>,
    initial: Vec<String>,
    events: Events,
    /// The number of rows of the lanes.
    rows: usize,
    rows_note: &'static str,
    panels: Vec<PanelParts>,
    more_panels: usize,
    argument: Vec<ItemData>,
    on_cycle: Vec<i64>,
    cycle_pairs: Vec<(i64, i64)>,
    /// The order that explains every read.
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<Vec<usize>>,
    /// Whether the machine of the model has store buffers.
    buffers: bool,
    /// Whether memory can be drawn: not where accesses overlap.
    memory: bool,
    play_note: &'static str,
    /// The page as text.
    text: &'a str,
    saves: Vec<Save>,
}

#[derive(Serialize)]
struct ModelData {
    name: String,
    title: String,
    summary: String,
}

/// A thread: its label, and the numbers of its events.
#[derive(Serialize)]
struct Thread {
    label: u64,
    start: usize,
    end: usize,
}

/// A file to save from the page.
#[derive(Serialize)]
struct Save {
    name: &'static str,
    label: &'static str,
    text: String,
}

/// The events, a column for each thing to know about them.
#[derive(Default, Serialize)]
struct Events {
    text: Vec<String>,
    line: Vec<u32>,
    /// A letter each: read, write, atomic, fence.
    kind: String,
    /// -1 for a fence.
    address: Vec<i64>,
    /// The source of each read: a write, -1 for the initial value, -2 if open, -3 for events that
    /// do not read.
    source: Vec<i64>,
    row: Vec<u32>,
    read: Vec<Option<String>>,
    written: Vec<Option<String>>,
}

impl<'a> Data<'a> {
    fn new(
        history: &'a History,
        model: ExplainedModel<'_>,
        attached: &'a PageContext,
        rows: usize,
        row_of: Vec<u32>,
    ) -> Self {
        let entry = |id: AddressId| history.address(id);
        let threads = history.threads().map(|thread| {
            let range = history.thread_range(thread);
            Thread { label: history.thread_label(thread), start: range.start, end: range.end }
        });
        let saved = |name, label, text: &Option<String>| {
            text.clone().map(|text| Save { name, label, text })
        };
        Data {
            file: &attached.file,
            trace: attached.trace,
            verdict: "",
            model: ModelData {
                name: model.to_string(),
                title: model.title().to_owned(),
                summary: model.summary().to_owned(),
            },
            gist: String::new(),
            answer: serde_json::from_str(&attached.answer).ok(),
            threads: threads.collect(),
            addresses: history.address_ids().map(|id| entry(id).label.to_string()).collect(),
            initial: history.address_ids().map(|id| entry(id).initial.to_string()).collect(),
            events: Events::of(history, row_of),
            rows,
            rows_note: "",
            panels: Vec::new(),
            more_panels: 0,
            argument: Vec::new(),
            on_cycle: Vec::new(),
            cycle_pairs: Vec::new(),
            order: None,
            buffers: false,
            memory: false,
            play_note: "",
            text: "",
            saves: [
                saved("minimal.trace", "Minimal trace", &attached.minimal),
                saved("certificate.jsonl", "Certificate", &attached.certificate),
            ]
            .into_iter()
            .flatten()
            .collect(),
        }
    }
}

impl Events {
    fn of(history: &History, row: Vec<u32>) -> Self {
        let mut events = Events { row, ..Events::default() };
        for id in history.event_ids() {
            let event = history.event(id);
            events.text.push(event_line(history, id));
            events.line.push(event.line);
            events.kind.push(match (event.is_fence(), event.is_read(), event.is_write()) {
                (true, ..) => 'f',
                (_, true, true) => 'a',
                (_, true, false) => 'r',
                (_, false, _) => 'w',
            });
            events.address.push(event.address().map_or(-1, |a| a.index() as i64));
            events.source.push(source_of(history, id));
            let shown = |value: Option<u128>| value.map(|value| history.value_text(id, value));
            events.read.push(shown(history.wide_value_read(id)));
            events.written.push(shown(history.wide_value_written(id)));
        }
        events
    }
}

/// The source of a read, as in [`Events::source`].
fn source_of(history: &History, event: EventId) -> i64 {
    match history.only_source(event) {
        _ if !history.event(event).is_read() => -3,
        _ if history.mixed().is_some() => -2,
        Some(Source::Write(write)) => write.index() as i64,
        Some(Source::Initial) => -1,
        None => -2,
    }
}
