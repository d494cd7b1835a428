//! A verdict as one line: JSON for programs, a sentence for people.

use std::fmt::{Display, Write as _};

use evidence::{Atom, Because, Derived, Edge, Literal, Node, Reader, Rule, Verdict, Why, Witness};
use history::{AddressId, EventId, History, Source};
use judge::{Judgement, Outcome, Reason, Undecided};
use serde::Serialize;

use crate::style::{Style, paint};
use crate::{count, json};

/// A judgement of one trace, as it is printed.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// The name of the file.
    pub file: &'a str,
    /// The number of the trace in it, from 1.
    pub trace: u64,
    /// The trace.
    pub history: &'a History,
    /// The verdict on it.
    pub judgement: &'a Judgement,
    /// What that took, in microseconds.
    pub micros: u64,
}

/// How much a JSON object says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Fields {
    /// The witness of a consistent trace.
    pub witness: bool,
    /// Whether to include statistics of the search.
    pub stats: bool,
}

/// The fields of a verdict, in the order in which they are printed.
#[derive(Serialize)]
pub(crate) struct Object<'a> {
    pub(crate) file: &'a str,
    pub(crate) trace: u64,
    #[serde(flatten)]
    pub(crate) model: json::MemoryModelName<'a>,
    pub(crate) verdict: &'static str,
    pub(crate) decided_by: String,
    pub(crate) events: usize,
    pub(crate) threads: usize,
    pub(crate) addresses: usize,
    #[serde(flatten)]
    pub(crate) took: json::CheckTime,
    pub(crate) write_pairs: Option<u64>,
    pub(crate) unordered_write_pairs: Option<u64>,
    #[serde(flatten)]
    pub(crate) evidence: Evidence,
    #[serde(flatten)]
    pub(crate) stats: Option<Stats>,
}

/// The evidence for a verdict.
#[derive(Serialize, Default)]
pub(crate) struct Evidence {
    #[serde(skip_serializing_if = "Option::is_none")]
    cycle: Option<Vec<EdgeObject>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unwritten: Option<NodeObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    witness: Option<Order>,
    #[serde(skip_serializing_if = "Option::is_none")]
    views: Option<Vec<Order>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reads: Option<Vec<Choice>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    established: Option<String>,
}

/// Events as pairs of thread and index.
type Order = Vec<(u64, u32)>;

/// The statistics of a search.
#[derive(Serialize)]
pub(crate) struct Stats {
    inferred_edges: u64,
    decisions: u64,
    conflicts: u64,
}

#[derive(Serialize)]
struct EdgeObject {
    from: NodeObject,
    to: NodeObject,
    because: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    assumed: bool,
}

#[derive(Serialize)]
#[serde(untagged)]
enum NodeObject {
    Initial { initial: String },
    Final { r#final: String },
    Event(EventObject),
}

#[derive(Serialize)]
struct EventObject {
    thread: u64,
    index: u32,
    line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    half: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pc: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    insn: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cycle: Option<u64>,
}

#[derive(Serialize)]
struct Choice {
    reader: NodeObject,
    source: Option<NodeObject>,
}

/// The verdict as a JSON object in one line, without the newline.
///
/// The fields are those of docs/interface.md. A violation has `cycle`, the edges of the last cycle of
/// the proof; where search was needed that cycle holds under assumptions, and its edges that are
/// assumed say `"assumed":true`. A read of a value nobody wrote has no cycle: `cycle` is empty and
/// `unwritten` names the read. With `witness`, a consistent verdict has `witness`, a total order as
/// `[thread, index]`, or `views`, one order per thread, and `reads` for what readers with more than
/// one candidate read. An undecided verdict has `reason` and `established`. With `stats`, every
/// verdict has `inferred_edges`, `decisions` and `conflicts`.
pub fn verdict_json(line: &Line<'_>, fields: Fields) -> String {
    let Line { file, trace, history, judgement, micros } = *line;
    let stats = &judgement.stats;
    let evidence = match &judgement.outcome {
        Outcome::Holds(found) if fields.witness => witness(history, found),
        Outcome::Holds(_) => Evidence::default(),
        Outcome::Broken(proof) => cycle(history, proof),
        Outcome::Undecided(why) => undecided(why),
    };
    json::line(&Object {
        file,
        trace,
        model: json::MemoryModelName::new(judgement.model.name()),
        verdict: judgement.outcome.of_trace(),
        decided_by: judgement.decided_by.to_string(),
        events: history.len(),
        threads: history.thread_count(),
        addresses: history.address_count(),
        took: json::CheckTime::micros(micros),
        write_pairs: stats.write_pairs,
        unordered_write_pairs: stats.unordered_write_pairs,
        evidence,
        stats: fields.stats.then_some(Stats {
            inferred_edges: stats.inferred_edges,
            decisions: stats.decisions,
            conflicts: stats.conflicts,
        }),
    })
}

/// Why a trace is undecided, and what was established.
pub(crate) fn undecided(why: &Undecided) -> Evidence {
    Evidence {
        reason: Some(reason(&why.reason)),
        established: Some(why.established.clone()),
        ..Evidence::default()
    }
}

/// The verdict as a line for people, without the newline:
/// `t.trace #1: tso: violation (decided by saturation, 6 events, 41 µs)`.
pub fn summary_line(line: &Line<'_>, colour: bool) -> String {
    let Line { file, trace, history, judgement, micros } = *line;
    let name = decorated(&judgement.outcome, colour);
    let events = count(history.len(), "event");
    let mut text = format!(
        "{file} #{trace}: {}: {name} ({}, {events}, {})",
        judgement.model,
        engine(&judgement.outcome, judgement.decided_by),
        duration(micros)
    );
    if let Outcome::Undecided(Undecided { reason: why, established }) = &judgement.outcome {
        let _ = write!(text, ": {}", reason(why));
        if !established.is_empty() {
            let _ = write!(text, "; {established}");
        }
    }
    text
}

/// Which engine decided, or gave up.
pub(crate) fn engine<H, B, U>(verdict: &Verdict<H, B, U>, engine: impl Display) -> String {
    match verdict {
        Verdict::Holds(_) | Verdict::Broken(_) => format!("decided by {engine}"),
        Verdict::Undecided(_) => engine.to_string(),
    }
}

/// The word for a verdict on a trace, in its colour.
pub(crate) fn decorated<H, B, U>(verdict: &Verdict<H, B, U>, colour: bool) -> String {
    let style = match verdict {
        Verdict::Holds(_) => Style::Good,
        Verdict::Broken(_) => Style::Bad,
        Verdict::Undecided(_) => Style::Open,
    };
    paint(verdict.of_trace(), style, colour)
}

/// Why a trace is undecided.
pub fn reason(reason: &Reason) -> String {
    match reason {
        Reason::Time => "the time limit was reached (raise --budget)".to_owned(),
        Reason::Memory => "the memory limit was reached (raise --memory)".to_owned(),
        Reason::Interrupted => "interrupted".to_owned(),
        Reason::Engine(sentence) => sentence.clone(),
    }
}

/// `41 µs`, `1.3 ms`, `2.0 s`.
pub(crate) fn duration(micros: u64) -> String {
    match micros {
        0..1_000 => format!("{micros} µs"),
        1_000..999_950 => format!("{:.1} ms", micros as f64 / 1e3),
        _ => format!("{:.1} s", micros as f64 / 1e6),
    }
}

/// The last cycle of the proof, with the derived edges and assumptions it speaks of.
pub(crate) fn cycle(history: &History, proof: &evidence::Proof) -> Evidence {
    let last = proof.steps.iter().rev().find_map(|step| match &step.why {
        Why::Cycle(cycle) => Some((cycle, &[][..], &step.clause)),
        Why::Derivation { derived, cycle } => Some((cycle, &derived[..], &step.clause)),
        Why::Propagation => None,
    });
    let edges = last.map_or_else(Vec::new, |(cycle, derived, clause)| {
        let edges = cycle.edges.iter();
        edges.map(|edge| edge_object(history, edge, derived, clause)).collect()
    });
    let unwritten = |&e: &EventId| history.reads_unwritten(e);
    let unwritten = match last {
        Some(_) => None,
        None => history.event_ids().find(unwritten).map(|event| event_object(history, event, None)),
    };
    Evidence { cycle: Some(edges), unwritten, ..Evidence::default() }
}

fn edge_object(
    history: &History,
    edge: &Edge,
    derived: &[Derived],
    clause: &[Literal],
) -> EdgeObject {
    EdgeObject {
        from: node_object(history, edge.from),
        to: node_object(history, edge.to),
        because: because(edge.because, derived),
        assumed: is_assumed(edge, clause),
    }
}

/// Whether the clause denies the edge itself.
fn is_assumed(edge: &Edge, clause: &[Literal]) -> bool {
    let (Node::Event(to), because) = (edge.to, edge.because) else { return false };
    let denied = |literal: Literal| clause.contains(&literal.negated());
    match (edge.from, because) {
        (Node::Event(from), Because::WriteOrder) => denied(Literal::before(from, to)),
        (Node::Event(from), Because::ReadsFrom) => denied_read(clause, to, Source::Write(from)),
        (Node::Initial(_), Because::ReadsFrom) => denied_read(clause, to, Source::Initial),
        _ => false,
    }
}

/// Whether the clause denies that an event, or a part of it, read from there.
fn denied_read(clause: &[Literal], read: EventId, source: Source) -> bool {
    clause.iter().any(|literal| match literal.atom {
        Atom::Reads(Reader::Event(e) | Reader::Part(e, _), from) => {
            !literal.positive && e == read && from == source
        }
        _ => false,
    })
}

fn node_object(history: &History, node: Node) -> NodeObject {
    match node {
        Node::Initial(address) => NodeObject::Initial { initial: label(history, address) },
        Node::Event(event) => event_object(history, event, None),
        Node::ReadOf(event) => event_object(history, event, Some("read")),
    }
}

fn label(history: &History, address: AddressId) -> String {
    history.address(address).label.to_string()
}

fn event_object(history: &History, event: EventId, half: Option<&'static str>) -> NodeObject {
    let e = history.event(event);
    let thread = history.thread_label(e.thread);
    let commit = history.commit(event);
    NodeObject::Event(EventObject {
        thread,
        index: e.index,
        line: e.line,
        half,
        pc: commit.and_then(|commit| commit.pc),
        insn: commit.and_then(|commit| commit.instruction).map(str::to_owned),
        cycle: commit.and_then(|commit| commit.cycle),
    })
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

fn witness(history: &History, witness: &Witness) -> Evidence {
    let order = |events: &[EventId]| -> Order {
        let pair = |&event: &EventId| {
            let e = history.event(event);
            (history.thread_label(e.thread), e.index)
        };
        events.iter().map(pair).collect()
    };
    let choices = |reads: &[(Reader, Source)]| {
        Some(reads.iter().map(|&(reader, source)| choice(history, reader, source)).collect())
    };
    let none = Evidence::default();
    match witness {
        Witness::Order(events) => Evidence { witness: Some(order(events)), ..none },
        Witness::Arbitration { order: events, reads } => {
            Evidence { witness: Some(order(events)), reads: choices(reads), ..none }
        }
        Witness::Views { views, reads } => {
            let views = views.iter().map(|view| order(view)).collect();
            Evidence { views: Some(views), reads: choices(reads), ..none }
        }
        Witness::Extensions { reads, .. } | Witness::Choices(reads) => {
            Evidence { reads: choices(reads), ..none }
        }
    }
}

fn choice(history: &History, reader: Reader, source: Source) -> Choice {
    let (reader, address) = match reader {
        Reader::Event(event) | Reader::Part(event, _) => {
            (event_object(history, event, None), history.event(event).address())
        }
        Reader::Final(address) | Reader::FinalPart(address, _) => {
            (NodeObject::Final { r#final: label(history, address) }, Some(address))
        }
    };
    let source = match source {
        Source::Write(write) => Some(event_object(history, write, None)),
        Source::Initial => address.map(|address| node_object(history, Node::Initial(address))),
    };
    Choice { reader, source }
}
