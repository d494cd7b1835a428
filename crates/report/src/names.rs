//! How events are called, everywhere the same: `M[x] := 1 (thread 0, line 3)`.

use std::fmt::Display;

use evidence::Node;
use history::{AddressId, EventId, History, Kinds, Operation, Source};

/// What an event did, as a trace writes it after the thread: `M[x] := 1`, `sync`,
/// `<M[x] == 0; M[x] := 1>`.
///
/// ```
/// let history = history::parse_text("0: x := 1\n0: fence w,r")?;
/// let texts: Vec<String> =
///     history.event_ids().map(|e| tribunal_report::event_text(&history, e)).collect();
/// assert_eq!(texts, ["M[x] := 1", "fence w,r"]);
/// # Ok::<(), history::InputError>(())
/// ```
pub fn event_text(history: &History, event: EventId) -> String {
    event_text_within(history, event, usize::MAX, usize::MAX)
}

/// As above; the middle of longer addresses and values is left out.
pub(crate) fn event_text_within(
    history: &History,
    event: EventId,
    address: usize,
    value: usize,
) -> String {
    let label = |id: AddressId| shortened(&history.address(id).label.to_string(), address);
    let value = |number: Option<u128>| {
        shortened(&history.value_text(event, number.unwrap_or_default()), value)
    };
    let read = || value(history.wide_value_read(event));
    let written = || value(history.wide_value_written(event));
    match history.event(event).operation {
        Operation::Read { address, .. } => format!("M[{}] == {}", label(address), read()),
        Operation::Write { address, .. } => format!("M[{}] := {}", label(address), written()),
        Operation::ReadModifyWrite { address, .. } => {
            let label = label(address);
            format!("<M[{label}] == {}; M[{label}] := {}>", read(), written())
        }
        Operation::Fence { .. } if let Some(name) = history.fence_name(event) => {
            name.spelling().to_owned()
        }
        Operation::Fence { before: Kinds::ALL, after: Kinds::ALL } => "sync".to_owned(),
        Operation::Fence { before, after } => {
            let letters = |kinds: Kinds| match kinds.letters() {
                "" => "-",
                letters => letters,
            };
            format!("fence {},{}", letters(before), letters(after))
        }
    }
}

/// The text, without its middle if it has more characters than this.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    let characters: Vec<char> = text.chars().collect();
    if characters.len() <= most {
        return text.to_owned();
    }
    let (start, end) = (most.div_ceil(2), characters.len() - most / 2);
    let mut short: String = characters[..start].iter().collect();
    short.push('…');
    short.extend(&characters[end..]);
    short
}

/// An event as its line of the trace has it, without the thread: with name, dependencies and times.
pub(crate) fn event_line(history: &History, event: EventId) -> String {
    let mut line = event_text(history, event);
    if let Some(name) = history.name(event) {
        line += &format!(" as {name}");
    }
    let names: Vec<&str> =
        history.dependencies_of(event).filter_map(|read| history.name(read)).collect();
    if !names.is_empty() {
        line += &format!(" dep {}", names.join(","));
    }
    let times = history.times(event);
    let time = |time: Option<u64>| time.map_or_else(String::new, |t| t.to_string());
    if times.begin.is_some() || times.end.is_some() {
        line += &format!(" @ {}:{}", time(times.begin), time(times.end));
    }
    if let Some(commit) = history.commit(event) {
        line += &format!("  # {commit}");
    }
    line
}

/// Where an event stands in its thread: `line 3`, or `index 2` if the trace came from no file.
pub(crate) fn place(history: &History, event: EventId) -> String {
    match history.event(event) {
        e if e.line == 0 => format!("index {}", e.index),
        e => format!("line {}", e.line),
    }
}

/// `thread 0`, by the label the trace gives it.
pub(crate) fn thread_of(history: &History, event: EventId) -> String {
    format!("thread {}", history.thread_label(history.event(event).thread))
}

/// `M[x] := 1 (thread 0, line 3)`.
pub(crate) fn event_name(history: &History, event: EventId) -> String {
    let text = event_text(history, event);
    let commit = commit_of(history, event);
    format!("{text} ({}, {}{commit})", thread_of(history, event), place(history, event))
}

/// `, 0x80000010 lw a0,0(a1), cycle 67`: the origin of an event, if the trace has it.
fn commit_of(history: &History, event: EventId) -> String {
    history.commit(event).map_or_else(String::new, |commit| format!(", {commit}"))
}

/// `M[x] := 1 (line 3)`, where the thread has just been named.
pub(crate) fn event_brief(history: &History, event: EventId) -> String {
    let commit = commit_of(history, event);
    format!("{} ({}{commit})", event_text(history, event), place(history, event))
}

/// `the initial M[x] = 0`.
pub(crate) fn initial_name(history: &History, address: AddressId) -> String {
    let entry = history.address(address);
    match entry.init_line {
        Some(line) => format!("the initial M[{}] = {} (line {line})", entry.label, entry.initial),
        None => format!("the initial M[{}] = {}", entry.label, entry.initial),
    }
}

/// The event of a node, if it is one.
pub(crate) fn event_of(node: Node) -> Option<EventId> {
    match node {
        Node::Initial(_) => None,
        Node::Event(event) | Node::ReadOf(event) => Some(event),
    }
}

/// The address of a node; `None` for a fence.
pub(crate) fn address_of(history: &History, node: Node) -> Option<AddressId> {
    match node {
        Node::Initial(address) => Some(address),
        Node::Event(event) | Node::ReadOf(event) => history.event(event).address(),
    }
}

/// The node of a write that something was read from.
pub(crate) fn source_node(source: Source, address: AddressId) -> Node {
    match source {
        Source::Initial => Node::Initial(address),
        Source::Write(write) => Node::Event(write),
    }
}

/// A number with what it counts.
///
/// ```
/// assert_eq!(tribunal_report::count(1, "trace"), "1 trace");
/// assert_eq!(tribunal_report::count(2_u64, "trace"), "2 traces");
/// ```
pub fn count<N: Display + PartialEq + From<u8>>(number: N, what: &str) -> String {
    let plural = if number == N::from(1) { "" } else { "s" };
    format!("{number} {what}{plural}")
}
