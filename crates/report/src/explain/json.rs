//! The argument as one JSON object: what the text says, for scripts.
//!
//! Events have numbers, and links name them by number; an initial value has a negative number. The
//! items are those of a page (`page/argument.rs`), so that both say the same.

use evidence::Node;
use history::{AddressId, EventId, History};
use serde::Serialize;

use super::argument::Argument;
use super::explained_model::ExplainedModel;
use super::page::{ItemData, items, plain};
use super::shown::Shown;
use super::svg::node_number;
use super::words::Words;
use crate::json::MemoryModelName;
use crate::names::event_line;

/// An explanation, in the order in which fields are printed.
#[derive(Serialize)]
struct Object<'a> {
    file: &'a str,
    trace: u64,
    #[serde(flatten)]
    model: MemoryModelName<'a>,
    verdict: &'static str,
    summary: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    condition: Option<&'a str>,
    events: Vec<EventObject>,
    initial: Vec<InitialObject>,
    argument: Vec<ItemData>,
}

/// An event that the argument names.
#[derive(Serialize)]
struct EventObject {
    number: i64,
    thread: u64,
    index: u32,
    line: u32,
    text: String,
}

/// An initial value that the argument names.
#[derive(Serialize)]
struct InitialObject {
    number: i64,
    text: String,
}

/// The explanation in one line, without the newline. `of` is the file and the number of the trace.
pub(super) fn write(
    history: &History,
    model: ExplainedModel<'_>,
    argument: &Argument,
    (file, trace): (&str, u64),
) -> String {
    let words = Words { history, model };
    let shown = Shown::of(history, argument);
    let event = |&id: &EventId| {
        let event = history.event(id);
        EventObject {
            number: node_number(Node::Event(id)),
            thread: history.thread_label(event.thread),
            index: event.index,
            line: event.line,
            text: event_line(history, id),
        }
    };
    let initial = |&address: &AddressId| InitialObject {
        number: node_number(Node::Initial(address)),
        text: plain(&words.name(Node::Initial(address))),
    };
    let name = model.to_string();
    crate::json::line(&Object {
        file,
        trace,
        model: MemoryModelName::new(&name),
        verdict: "violation",
        summary: plain(&words.gist(argument)),
        condition: model.broken(),
        events: shown.events.iter().map(event).collect(),
        initial: shown.initials.iter().map(initial).collect(),
        argument: items(words, &argument.items),
    })
}
