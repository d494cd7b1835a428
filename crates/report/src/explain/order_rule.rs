//! Which rule of the model a program-order edge rests on, to be named in words.

use evidence::{Graph, Node};
use history::{AddressId, Event, EventId, History};
use models::{Keeps, Model, Rules, StoreRules};

use super::explained_model::ExplainedModel;
use crate::names::{address_of, event_of};

/// Whether `graph` of the model keeps `a` before `b`, two events of one thread in program order,
/// without the help of fences, dependencies or times.
pub(super) fn keeps(
    history: &History,
    model: ExplainedModel<'_>,
    graph: Graph,
    a: Node,
    b: Node,
) -> bool {
    // If a file keeps two steps in order, each of them is explained.
    let ExplainedModel::Model(model) = model else { return false };
    let (Some((a, first)), Some((b, second))) = (half(history, a), half(history, b)) else {
        return false;
    };
    let (left, right) = (history.event(a), history.event(b));
    if left.thread != right.thread || a > b {
        return false;
    }
    let same_address = left.address() == right.address();
    match (model.rules(), graph) {
        (_, Graph::ThinAir) => false,
        (Rules::Causal(rules), Graph::Location) if rules.relaxed => same_address,
        (Rules::Causal(rules), _) => {
            !rules.relaxed || first == AccessHalf::Read || second == AccessHalf::Write
        }
        (Rules::Store(rules), Graph::Location) => {
            let two_reads = !left.is_write() && !right.is_write();
            same_address && !(rules.same_address_reads_swap && two_reads)
        }
        (Rules::Store(rules), Graph::Global) => keeps_globally(&rules, left, right, same_address),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum AccessHalf {
    Read,
    Write,
}

/// The event of a node and its half: a causal model treats the two halves of a read-modify-write as
/// two operations.
fn half(history: &History, node: Node) -> Option<(EventId, AccessHalf)> {
    match node {
        Node::Initial(_) => None,
        Node::ReadOf(event) => Some((event, AccessHalf::Read)),
        Node::Event(event) if history.event(event).is_write() => Some((event, AccessHalf::Write)),
        Node::Event(event) => Some((event, AccessHalf::Read)),
    }
}

fn keeps_globally(rules: &StoreRules, a: Event, b: Event, same_address: bool) -> bool {
    let holds = |keeps| match keeps {
        Keeps::Always => true,
        Keeps::SameAddress => same_address,
        Keeps::Never => false,
    };
    (a.is_read() && b.is_read() && holds(rules.read_read))
        || (a.is_read() && b.is_write() && holds(rules.read_write))
        || (a.is_write() && b.is_read() && holds(rules.write_read))
        || (a.is_write() && b.is_write() && holds(rules.write_write))
}

/// "tso keeps writes in order": the rule that keeps `a` before `b`.
pub(super) fn rule_in_words(
    history: &History,
    model: ExplainedModel<'_>,
    graph: Graph,
    a: Node,
    b: Node,
) -> String {
    let model = match model {
        ExplainedModel::Model(model) => model,
        ExplainedModel::File(rules) => {
            return format!("they stay in order by {}", rules.between(a, b));
        }
    };
    let everywhere = match model.rules() {
        Rules::Store(rules) if rules.global && rules.own_reads_visible => {
            return format!("{model} keeps all of program order");
        }
        Rules::Causal(rules) if !rules.relaxed => {
            return format!("{model} keeps all of program order");
        }
        Rules::Store(rules) => match (event_of(a), event_of(b)) {
            (Some(a), Some(b)) => keeps_globally(&rules, history.event(a), history.event(b), false),
            _ => false,
        },
        Rules::Causal(_) => true,
    };
    let which = if graph == Graph::Global && everywhere { "" } else { " of one address" };
    match (noun(history, model, a), noun(history, model, b)) {
        (a, b) if a == b => format!("{model} keeps {a}{which} in order"),
        (a, b) => format!("{model} keeps {a} before later {b}{which}"),
    }
}

/// What kind of operation a node is, as a noun in the plural.
fn noun(history: &History, model: Model, node: Node) -> &'static str {
    let is_atomic = |event: EventId| history.event(event).is_atomic();
    match (half(history, node), model.rules()) {
        (Some((event, _)), Rules::Store(_)) if is_atomic(event) => "atomics",
        (Some((_, AccessHalf::Read)), _) => "reads",
        (Some((_, AccessHalf::Write)), _) => "writes",
        (None, _) => "initial values",
    }
}

/// The first fence that keeps `a` before `b`.
pub(super) fn fence_between(history: &History, a: Node, b: Node) -> Option<EventId> {
    let (a, b) = (event_of(a)?, event_of(b)?);
    let (before, after) = (history.event(a).kinds(), history.event(b).kinds());
    if !history.program_order(a, b) {
        return None;
    }
    (a.index() + 1..b.index()).map(EventId::new).find(|&fence| {
        matches!(history.event(fence).operation,
            history::Operation::Fence { before: f, after: g }
                if f.meets(before) && g.meets(after))
    })
}

/// The address all these nodes access, if it is one.
pub(super) fn common_address(
    history: &History,
    nodes: impl Iterator<Item = Node>,
) -> Option<AddressId> {
    let mut nodes = nodes.map(|node| address_of(history, node));
    let first = nodes.next()??;
    nodes.all(|address| address == Some(first)).then_some(first)
}
