//! The fields of a certificate line, each declared once, for reading and for writing.
//!
//! | what | as |
//! |---|---|
//! | event | `[thread, index]` |
//! | node | event, `{"initial":address}`, `{"read_of":event}` |
//! | source | `"initial"` or event |
//! | reader | event or `{"final":address}` |
//! | address | a number or a string, as the trace labels it |
//! | literal | `{"before":[event,event]}`, `{"reads":[reader,source]}`, `{"not_reads":[reader,source]}` |
//! | edge | `[node, node, because]` |
//! | because | `"program-order"`, `"reads-from"`, …, `{"derived":3}` |

use serde::{Deserialize, Serialize};

use crate::{Because, Graph, Rule};

/// What every version of the format starts with; the rest of the line is passed over.
#[derive(Deserialize)]
pub(super) struct Header {
    pub(super) tribunal: u64,
    pub(super) trace: u64,
    pub(super) model: Box<str>,
    /// Of a model that is a file.
    pub(super) digest: Option<String>,
}

/// A whole line. What can be long is read as a list and written as something that makes its items
/// one by one.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Shape<Events = Vec<Event>, Steps = Vec<Step>> {
    pub(super) tribunal: u64,
    pub(super) trace: u64,
    pub(super) model: Box<str>,
    pub(super) verdict: Verdict,
    pub(super) events: u64,
    /// Absent for an order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) kind: Option<Kind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) witness: Option<Events>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) views: Option<Vec<Events>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) orders: Option<Vec<Events>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) atomicity: Option<Vec<(Event, Event)>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reads: Option<Vec<(Reader, Source)>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) proof: Option<Steps>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Verdict {
    Consistent,
    Violation,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    Order,
    Arbitration,
    Views,
    Extensions,
    Choices,
}

pub(super) type Event = [u64; 2];

#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "an address is a number or a name")]
pub(super) enum Address {
    Number(u64),
    Name(Box<str>),
}

#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "a source is \"initial\" or [thread, index]")]
pub(super) enum Source {
    Initial(InitialWord),
    Write(Event),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum InitialWord {
    Initial,
}

#[derive(Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "a reader is [thread, index], {\"final\": address} or, of mixed sizes, \
                 {\"part\": [thread, index], \"cell\": number} or {\"final\": address, \"cell\": number}"
)]
pub(super) enum Reader {
    Event(Event),
    Part(PartOf),
    Final(FinalOf),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PartOf {
    #[serde(rename = "part")]
    pub(super) of: Event,
    pub(super) cell: u8,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FinalOf {
    #[serde(rename = "final")]
    pub(super) of: Address,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) cell: Option<u8>,
}

#[derive(Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "a node is [thread, index], {\"initial\": address} or {\"read_of\": [thread, index]}"
)]
pub(super) enum Node {
    Event(Event),
    Other(OtherNode),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum OtherNode {
    Initial(Address),
    ReadOf(Event),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Literal {
    Before(Event, Event),
    Reads(Reader, Source),
    NotReads(Reader, Source),
}

#[derive(Serialize, Deserialize)]
pub(super) struct Edge(pub(super) Node, pub(super) Node, pub(super) Because);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Cycle {
    pub(super) graph: Graph,
    pub(super) edges: Vec<Edge>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Derived {
    pub(super) from: Node,
    pub(super) to: Node,
    pub(super) rule: Rule,
    pub(super) graph: Graph,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) scope: Option<Node>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) via: Option<Node>,
    pub(super) path: Vec<Edge>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Step {
    pub(super) clause: Vec<Literal>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) derived: Option<Vec<Derived>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) cycle: Option<Cycle>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) propagation: Option<bool>,
}
