//! A verdict as one line: JSON for programs, a sentence for people.

use std::fmt::Write as _;

use evidence::{Because, Cycle, Derived, Edge, Literal, Node, Reader, Rule, Why, Witness};
use history::{AddressId, EventId, History, Source};
use judge::{Judgement, Outcome, Reason, Undecided};

use crate::style::{Style, paint};

/// The verdict as a JSON object in one line, without the newline.
///
/// The fields are those of docs/interface.md. A violation has `cycle`, the edges of the last cycle of
/// the proof; where search was needed that cycle holds under assumptions, and its edges that are
/// assumed say `"assumed":true`. A read of a value nobody wrote has no cycle: `cycle` is empty and
/// `unwritten` names the read. With `witness`, a consistent verdict has `witness`, a total order as
/// `[thread, index]`, or `views`, one order per thread, and `reads` for what readers with more than
/// one candidate read. An undecided verdict has `reason` and `established`.
pub fn verdict_json(
    file: &str,
    trace_number: u64,
    history: &History,
    verdict: &Judgement,
    micros: u64,
    witness: bool,
) -> String {
    let mut json = Object::new();
    json.text("file", file);
    json.raw("trace", trace_number);
    json.text("model", verdict.model.name());
    json.text("verdict", outcome_name(&verdict.outcome));
    json.text("decided_by", &verdict.decided_by.to_string());
    json.raw("events", history.len());
    json.raw("threads", history.thread_count());
    json.raw("addresses", history.address_count());
    json.raw("micros", micros);
    if let Some(pairs) = verdict.stats.write_pairs {
        json.raw("write_pairs", pairs);
    }
    if let Some(pairs) = verdict.stats.unordered_write_pairs {
        json.raw("unordered_write_pairs", pairs);
    }
    match &verdict.outcome {
        Outcome::Holds(found) if witness => add_witness(&mut json, history, found),
        Outcome::Holds(_) => {}
        Outcome::Broken(proof) => add_cycle(&mut json, history, proof),
        Outcome::Undecided(undecided) => {
            json.text("reason", &reason(&undecided.reason));
            json.text("established", &undecided.established);
        }
    }
    json.finish()
}

/// The verdict as a line for people, without the newline:
/// `t.trace #1: tso: violation (saturation, 6 events, 41 µs)`.
pub fn summary_line(
    file: &str,
    trace_number: u64,
    history: &History,
    verdict: &Judgement,
    micros: u64,
    colour: bool,
) -> String {
    let style = match verdict.outcome {
        Outcome::Holds(_) => Style::Good,
        Outcome::Broken(_) => Style::Bad,
        Outcome::Undecided(_) => Style::Open,
    };
    let name = paint(outcome_name(&verdict.outcome), style, colour);
    let events = match history.len() {
        1 => "1 event".to_owned(),
        count => format!("{count} events"),
    };
    let mut line = format!(
        "{file} #{trace_number}: {}: {name} ({}, {events}, {})",
        verdict.model,
        verdict.decided_by,
        duration(micros)
    );
    if let Outcome::Undecided(Undecided { reason: why, established }) = &verdict.outcome {
        let _ = write!(line, ": {}", reason(why));
        if !established.is_empty() {
            let _ = write!(line, "; {established}");
        }
    }
    line
}

fn outcome_name(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Holds(_) => "consistent",
        Outcome::Broken(_) => "violation",
        Outcome::Undecided(_) => "undecided",
    }
}

fn reason(reason: &Reason) -> String {
    match reason {
        Reason::Time => "the time budget ran out".to_owned(),
        Reason::Memory => "the memory budget ran out".to_owned(),
        Reason::Engine(sentence) => sentence.clone(),
    }
}

/// `41 µs`, `1.3 ms`, `2.0 s`.
fn duration(micros: u64) -> String {
    match micros {
        0..1_000 => format!("{micros} µs"),
        1_000..999_950 => format!("{:.1} ms", micros as f64 / 1e3),
        _ => format!("{:.1} s", micros as f64 / 1e6),
    }
}

/// The last cycle of the proof, with the derived edges and assumptions it speaks of.
fn add_cycle(json: &mut Object, history: &History, proof: &evidence::Proof) {
    let last = proof.steps.iter().rev().find_map(|step| match &step.why {
        Why::Cycle(cycle) => Some((cycle, &[][..], &step.clause)),
        Why::Derivation { derived, cycle } => Some((cycle, &derived[..], &step.clause)),
        Why::Propagation => None,
    });
    let edges = last.map_or_else(String::new, |(cycle, derived, clause)| {
        cycle_json(history, cycle, derived, clause)
    });
    json.raw("cycle", format_args!("[{edges}]"));
    if last.is_none() {
        let unwritten = |&e: &EventId| history.event(e).is_read() && history.sources(e).is_empty();
        if let Some(event) = history.event_ids().find(unwritten) {
            json.raw("unwritten", node_json(history, Node::Event(event)));
        }
    }
}

fn cycle_json(history: &History, cycle: &Cycle, derived: &[Derived], clause: &[Literal]) -> String {
    let edges = cycle.edges.iter().map(|edge| {
        let assumed = if is_assumed(edge, clause) { ",\"assumed\":true" } else { "" };
        format!(
            "{{\"from\":{},\"to\":{},\"because\":\"{}\"{assumed}}}",
            node_json(history, edge.from),
            node_json(history, edge.to),
            because(edge.because, derived)
        )
    });
    edges.collect::<Vec<_>>().join(",")
}

/// Whether an edge is itself what the clause denies.
fn is_assumed(edge: &Edge, clause: &[Literal]) -> bool {
    let (Node::Event(to), because) = (edge.to, edge.because) else { return false };
    let denied = |literal: Literal| clause.contains(&literal.negated());
    match (edge.from, because) {
        (Node::Event(from), Because::WriteOrder) => denied(Literal::before(from, to)),
        (Node::Event(from), Because::ReadsFrom) => {
            denied(Literal::reads(Reader::Event(to), Source::Write(from)))
        }
        (Node::Initial(_), Because::ReadsFrom) => {
            denied(Literal::reads(Reader::Event(to), Source::Initial))
        }
        _ => false,
    }
}

fn node_json(history: &History, node: Node) -> String {
    match node {
        Node::Initial(address) => format!("{{\"initial\":{}}}", address_json(history, address)),
        Node::Event(event) => event_json(history, event, ""),
        Node::ReadOf(event) => event_json(history, event, ",\"half\":\"read\""),
    }
}

fn address_json(history: &History, address: AddressId) -> String {
    quoted(&history.address(address).label.to_string())
}

fn event_json(history: &History, event: EventId, more: &str) -> String {
    let e = history.event(event);
    let thread = history.thread_label(e.thread);
    format!("{{\"thread\":{thread},\"index\":{},\"line\":{}{more}}}", e.index, e.line)
}

/// The name of an edge's kind, as in docs/interface.md: that of its rule if it is derived.
pub(crate) fn because(because: Because, derived: &[Derived]) -> String {
    match because {
        Because::Derived(index) => match derived.get(index as usize) {
            Some(derived) => rule(derived.rule).to_owned(),
            None => because.to_string(),
        },
        _ => because.to_string(),
    }
}

/// The name of a causal rule, as in docs/interface.md.
fn rule(rule: Rule) -> &'static str {
    match rule {
        Rule::Observed => "observed",
        Rule::Conflict => "conflict",
        Rule::StoreOrder => "store-order",
        Rule::Overwritten => "overwritten",
        Rule::Atomic => "atomic",
    }
}

fn add_witness(json: &mut Object, history: &History, witness: &Witness) {
    let order = |events: &[EventId]| {
        let pairs = events.iter().map(|&event| {
            let e = history.event(event);
            format!("[{},{}]", history.thread_label(e.thread), e.index)
        });
        format!("[{}]", pairs.collect::<Vec<_>>().join(","))
    };
    let reads = match witness {
        Witness::Order(events) => {
            json.raw("witness", order(events));
            return;
        }
        Witness::Arbitration { order: events, reads } => {
            json.raw("witness", order(events));
            reads
        }
        Witness::Views { views, reads } => {
            let views: Vec<String> = views.iter().map(|view| order(view)).collect();
            json.raw("views", format_args!("[{}]", views.join(",")));
            reads
        }
        Witness::Choices(reads) => reads,
    };
    let reads: Vec<String> = reads.iter().map(|&(r, s)| choice_json(history, r, s)).collect();
    json.raw("reads", format_args!("[{}]", reads.join(",")));
}

fn choice_json(history: &History, reader: Reader, source: Source) -> String {
    let (reader, address) = match reader {
        Reader::Event(event) => (event_json(history, event, ""), history.event(event).address()),
        Reader::Final(address) => {
            (format!("{{\"final\":{}}}", address_json(history, address)), Some(address))
        }
    };
    let source = match (source, address) {
        (Source::Write(write), _) => event_json(history, write, ""),
        (Source::Initial, Some(address)) => node_json(history, Node::Initial(address)),
        (Source::Initial, None) => "null".to_owned(),
    };
    format!("{{\"reader\":{reader},\"source\":{source}}}")
}

/// A JSON object being written, fields in the order of docs/interface.md.
pub(crate) struct Object(String);

impl Object {
    pub(crate) fn new() -> Self {
        Self("{".to_owned())
    }

    /// Adds a field whose value is already JSON.
    pub(crate) fn raw(&mut self, name: &str, value: impl std::fmt::Display) {
        let comma = if self.0.len() > 1 { "," } else { "" };
        let _ = write!(self.0, "{comma}\"{name}\":{value}");
    }

    /// Adds a field with a string.
    pub(crate) fn text(&mut self, name: &str, value: &str) {
        self.raw(name, quoted(value));
    }

    pub(crate) fn finish(self) -> String {
        self.0 + "}"
    }
}

/// A JSON string.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
