//! Traces out: the text format and JSON Lines, thread by thread, which is easier to read, or in the
//! order in which the events were recorded.
//!
//! What is written says everything the history says, so that reading it again gives an equal
//! history.

use std::fmt::Write as _;
use std::io::{self, Write};

use serde_json::json;

use crate::annotation::{DependencyKind, DependencyKinds};
use crate::event::{AddressId, AddressLabel, EventId, Kinds, Operation, Source, Value};
use crate::history::{History, OrderChain};

/// Writes a history in the text format, with its `check` line.
///
/// ```
/// let history = tribunal_history::parse_text("1: {x == 0; x := 1} @ 5:\n0: sync").unwrap();
/// let mut text = Vec::new();
/// tribunal_history::write_text(&history, &mut text).unwrap();
/// assert_eq!(text, b"1: <M[x] == 0; M[x] := 1> @ 5:\n0: sync\ncheck\n");
/// ```
pub fn write_text(history: &History, out: &mut impl Write) -> io::Result<()> {
    text(history, history.event_ids(), out)
}

/// The events in the given order, with what belongs before and behind them.
pub(crate) fn text(
    history: &History,
    events: impl IntoIterator<Item = EventId>,
    out: &mut (impl Write + ?Sized),
) -> io::Result<()> {
    let mut line = String::new();
    for address in history.address_ids() {
        let entry = history.address(address);
        if entry.init_line.is_some() {
            writeln!(out, "init M[{}] == {}", entry.label, entry.initial)?;
        }
    }
    for event in events {
        line.clear();
        text_event(history, event, &mut line).map_err(io::Error::other)?;
        out.write_all(line.as_bytes())?;
    }
    for f in history.finals() {
        writeln!(out, "final M[{}] == {}", history.address(f.address).label, f.value)?;
    }
    for chain in history.orders() {
        write!(out, "order M[{}]:", history.address(chain.address).label)?;
        for (at, &write) in chain.writes.iter().enumerate() {
            let before = if at == 0 { "" } else { " <" };
            match call_write(history, chain, write) {
                Call::Name(name) => write!(out, "{before} {name}")?,
                Call::Value(value) => write!(out, "{before} {value}")?,
            }
        }
        writeln!(out)?;
    }
    out.write_all(b"check\n")
}

fn text_event(history: &History, id: EventId, line: &mut String) -> std::fmt::Result {
    let event = history.event(id);
    let label = |address: AddressId| &history.address(address).label;
    write!(line, "{}: ", history.thread_label(event.thread))?;
    let read = history.value_text(id, history.wide_value_read(id).unwrap_or_default());
    let written = history.value_text(id, history.wide_value_written(id).unwrap_or_default());
    match event.operation {
        Operation::Read { address, .. } => write!(line, "M[{}] == {read}", label(address))?,
        Operation::Write { address, .. } => write!(line, "M[{}] := {written}", label(address))?,
        Operation::ReadModifyWrite { address, .. } => {
            let label = label(address);
            write!(line, "<M[{label}] == {read}; M[{label}] := {written}>")?;
        }
        Operation::Fence { .. } if let Some(name) = history.fence_name(id) => {
            line.push_str(name.spelling());
        }
        Operation::SYNC => line.push_str("sync"),
        Operation::Fence { before, after } => {
            let letters = |kinds: Kinds| match kinds.letters() {
                "" => "-",
                letters => letters,
            };
            write!(line, "fence {},{}", letters(before), letters(after))?;
        }
    }
    if let Some(order) = history.access_order(id) {
        write!(line, " {}", order.spelling())?;
    }
    if let Some(load) = pair_name(history, id) {
        write!(line, " pair {load}")?;
    }
    if let Some(name) = history.name(id) {
        write!(line, " as {name}")?;
    }
    for kind in DependencyKind::ALL {
        let word = match kind {
            DependencyKind::Address => "dep",
            other => other.spelling(),
        };
        let names = dependencies(history, id).filter(|(_, kinds)| kinds.contains(kind));
        for (at, (name, _)) in names.enumerate() {
            match at {
                0 => write!(line, " {word} {name}")?,
                _ => write!(line, ",{name}")?,
            }
        }
    }
    let times = history.times(id);
    match (times.begin, times.end) {
        (None, None) => {}
        (Some(begin), None) => write!(line, " @ {begin}:")?,
        (None, Some(end)) => write!(line, " @ :{end}")?,
        (Some(begin), Some(end)) => write!(line, " @ {begin}:{end}")?,
    }
    if let Some(commit) = history.commit(id) {
        write!(line, "  # {commit}")?;
    }
    line.push('\n');
    Ok(())
}

/// Writes a history as JSON Lines, with its `end` line.
///
/// ```
/// let history = tribunal_history::parse_text("0: x := 1 as a").unwrap();
/// let mut lines = Vec::new();
/// tribunal_history::write_jsonl(&history, &mut lines).unwrap();
/// assert_eq!(
///     String::from_utf8(lines).unwrap(),
///     "{\"thread\":0,\"op\":\"write\",\"addr\":\"x\",\"value\":1,\"name\":\"a\"}\n\
///      {\"op\":\"end\"}\n"
/// );
/// ```
pub fn write_jsonl(history: &History, out: &mut impl Write) -> io::Result<()> {
    json_lines(history, history.event_ids(), out)
}

/// The events in the given order, with what belongs before and behind them.
pub(crate) fn json_lines(
    history: &History,
    events: impl IntoIterator<Item = EventId>,
    out: &mut (impl Write + ?Sized),
) -> io::Result<()> {
    for address in history.address_ids() {
        let entry = history.address(address);
        if entry.init_line.is_some() {
            write_line(out, "init", history, address, ("value", entry.initial.into()))?;
        }
    }
    for event in events {
        write_object(out, &json_event(history, event))?;
    }
    for f in history.finals() {
        write_line(out, "final", history, f.address, ("value", f.value.into()))?;
    }
    for chain in history.orders() {
        let values = chain.writes.iter().map(|&write| match call_write(history, chain, write) {
            Call::Name(name) => json!(name),
            Call::Value(value) => json!(value),
        });
        write_line(out, "order", history, chain.address, ("values", values.collect()))?;
    }
    out.write_all(b"{\"op\":\"end\"}\n")
}

/// Writes a line that says something of an address.
fn write_line(
    out: &mut (impl Write + ?Sized),
    operation: &'static str,
    history: &History,
    address: AddressId,
    said: JsonField,
) -> io::Result<()> {
    let mut fields = vec![op(operation)];
    fields.extend(addr(history, address));
    fields.push(said);
    write_object(out, &fields)
}

type JsonField = (&'static str, serde_json::Value);

/// Writes an object with its fields in the given order.
fn write_object(out: &mut (impl Write + ?Sized), fields: &[JsonField]) -> io::Result<()> {
    for (at, (key, value)) in fields.iter().enumerate() {
        write!(out, "{}\"{key}\":{value}", if at == 0 { '{' } else { ',' })?;
    }
    out.write_all(b"}\n")
}

fn op(name: &'static str) -> JsonField {
    ("op", name.into())
}

/// The address, and its size if it has one.
fn addr(history: &History, address: AddressId) -> Vec<JsonField> {
    match &history.address(address).label {
        AddressLabel::Number(number) => vec![("addr", json!(number))],
        AddressLabel::Name(name) => vec![("addr", json!(name))],
        AddressLabel::Bytes(range) => {
            vec![("addr", json!(range.start())), ("size", json!(range.size()))]
        }
    }
}

/// A value as a number, or as a string of hexadecimal digits if it is wider than 64 bits.
fn whole(value: Option<u128>) -> serde_json::Value {
    let value = value.unwrap_or_default();
    match u64::try_from(value) {
        Ok(value) => value.into(),
        Err(_) => format!("{value:#x}").into(),
    }
}

fn json_event(history: &History, id: EventId) -> Vec<JsonField> {
    let event = history.event(id);
    let mut fields = vec![("thread", history.thread_label(event.thread).into())];
    let read = whole(history.wide_value_read(id));
    let written = whole(history.wide_value_written(id));
    match event.operation {
        Operation::Read { address, .. } => {
            fields.push(op("read"));
            fields.extend(addr(history, address));
            fields.push(("value", read));
        }
        Operation::Write { address, .. } => {
            fields.push(op("write"));
            fields.extend(addr(history, address));
            fields.push(("value", written));
        }
        Operation::ReadModifyWrite { address, .. } => {
            fields.push(op("rmw"));
            fields.extend(addr(history, address));
            fields.extend([("read", read), ("value", written)]);
        }
        Operation::Fence { .. } if let Some(name) = history.fence_name(id) => {
            fields.extend([op("fence"), ("fence", name.spelling().into())]);
        }
        Operation::Fence { before, after } => fields.extend([
            op("fence"),
            ("before", before.letters().into()),
            ("after", after.letters().into()),
        ]),
    }
    let times = history.times(id);
    fields.extend(times.begin.map(|time| ("begin", time.into())));
    fields.extend(times.end.map(|time| ("end", time.into())));
    fields.extend(history.name(id).map(|name| ("name", name.into())));
    if let Some(commit) = history.commit(id) {
        fields.extend(commit.pc.map(|pc| ("pc", pc.into())));
        fields.extend(commit.instruction.map(|text| ("insn", text.into())));
        fields.extend(commit.cycle.map(|cycle| ("cycle", cycle.into())));
    }
    let dependencies: Vec<_> = dependencies(history, id)
        .flat_map(|(name, kinds)| {
            kinds.iter().map(move |kind| match kind {
                DependencyKind::Address => json!(name),
                other => json!({"on": name, "kind": other.spelling()}),
            })
        })
        .collect();
    if !dependencies.is_empty() {
        fields.push(("deps", dependencies.into()));
    }
    fields.extend(history.access_order(id).map(|order| ("order", order.spelling().into())));
    fields.extend(pair_name(history, id).map(|load| ("pair", load.into())));
    fields
}

/// The names of the reads an event depends on, and how; what is depended on was named to say so.
fn dependencies(
    history: &History,
    id: EventId,
) -> impl Iterator<Item = (&str, DependencyKinds)> + '_ {
    let all = history.dependencies();
    let first = all.partition_point(|&(to, _)| to < id);
    let of_event = (first..all.len()).take_while(move |&at| all[at].0 == id);
    of_event.filter_map(|at| Some((history.name(all[at].1)?, history.kinds_of_dependency(at))))
}

/// The name of the load-reserved of a store-conditional.
fn pair_name(history: &History, id: EventId) -> Option<&str> {
    let at = history.pairs().binary_search_by_key(&id, |&(write, _)| write).ok()?;
    history.name(history.pairs()[at].1)
}

/// How an `order` line calls a write.
enum Call<'h> {
    Name(&'h str),
    Value(Value),
}

/// By its name if it has one, else by its value, which is then the only one of its kind.
fn call_write<'h>(history: &'h History, chain: &OrderChain, write: Source) -> Call<'h> {
    match write {
        Source::Initial => Call::Value(history.address(chain.address).initial),
        Source::Write(id) => match history.name(id) {
            Some(name) => Call::Name(name),
            None => Call::Value(history.event(id).operation.value_written().unwrap_or_default()),
        },
    }
}
