//! An argument in sentences: each link, claim and rule in words.
//!
//! Events are named in full, `M[x] := 1 (thread 0, line 3)`, so that a sentence can be read on its
//! own. "Came before" means: took effect in memory before.

use evidence::{Atom, Graph, Literal, Node, Reader, Rule};
use history::{AddressId, EventId, History, Source};

use super::argument::{
    Argument, Claim, Ending, Ground, Item, Link, LinkKind, Ordered, Reason, Search, Step, Walk,
};
use super::explained_model::ExplainedModel;
use super::order_rule::{common_address, rule_in_words};
use crate::names::{
    address_of, event_brief, event_name, event_of, event_text, initial_name, source_node, thread_of,
};

/// A space that holds the parts of a name together when lines are broken.
pub(super) const NO_BREAK: char = '\u{a0}';

/// Names longer than this may be broken across lines.
const LONG_NAME: usize = 60;

/// Puts things in words for one history and model.
#[derive(Clone, Copy)]
pub(crate) struct Words<'h> {
    pub(crate) history: &'h History,
    pub(crate) model: ExplainedModel<'h>,
}

impl Words<'_> {
    fn is_causal(&self) -> bool {
        self.model.is_causal()
    }

    /// `M[x] := 1 (thread 0, line 3)`.
    pub(crate) fn name(&self, node: Node) -> String {
        self.named(node, event_name)
    }

    /// `M[x] := 1 (line 3)`.
    fn brief(&self, node: Node) -> String {
        self.named(node, event_brief)
    }

    fn named(&self, node: Node, name: fn(&History, EventId) -> String) -> String {
        let name = |event| held_together(name(self.history, event));
        match node {
            Node::Initial(address) => held_together(initial_name(self.history, address)),
            Node::ReadOf(event) => format!("the read of {}", name(event)),
            Node::Event(event) if self.is_causal() && self.history.event(event).is_atomic() => {
                format!("the write of {}", name(event))
            }
            Node::Event(event) => name(event),
        }
    }

    fn event(&self, event: EventId) -> String {
        held_together(event_name(self.history, event))
    }

    fn source_name(&self, source: Source, address: AddressId) -> String {
        self.name(source_node(source, address))
    }

    fn reader_name(&self, reader: Reader) -> String {
        match reader {
            Reader::Event(event) => self.event(event),
            Reader::Part(event, number) => match part_label(self.history, event, number) {
                Some(bytes) => format!("M[{bytes}] of {}", self.event(event)),
                None => self.event(event),
            },
            Reader::Final(address) | Reader::FinalPart(address, _) => {
                match self.history.finals().iter().find(|f| f.address == address) {
                    Some(f) => {
                        let label = &self.history.address(address).label;
                        format!("the final M[{label}] == {} (line {})", f.value, f.line)
                    }
                    None => "a final value".to_owned(),
                }
            }
        }
    }

    fn reader_address(&self, reader: Reader) -> Option<AddressId> {
        match reader {
            Reader::Event(event) | Reader::Part(event, _) => self.history.event(event).address(),
            Reader::Final(address) | Reader::FinalPart(address, _) => Some(address),
        }
    }

    /// A literal as a sentence without its full stop.
    pub(crate) fn literal(&self, literal: Literal) -> String {
        match literal.atom {
            Atom::Before(a, b) => self.before(Node::Event(a), Node::Event(b)),
            Atom::Reads(Reader::Event(reader), Source::Write(write)) if reader == write => {
                let verb = if literal.positive { "read" } else { "did not read" };
                format!("{} {verb} what it wrote itself", self.event(reader))
            }
            Atom::Reads(reader, source) => {
                let from = match self.reader_address(reader) {
                    Some(address) => self.source_name(source, address),
                    None => "nowhere".to_owned(),
                };
                let verb = match (reader, literal.positive) {
                    (Reader::Event(_) | Reader::Part(..), true) => "read from",
                    (Reader::Event(_) | Reader::Part(..), false) => "did not read from",
                    (Reader::Final(_) | Reader::FinalPart(..), true) => "was written by",
                    (Reader::Final(_) | Reader::FinalPart(..), false) => "was not written by",
                };
                format!("{} {verb} {from}", self.reader_name(reader))
            }
        }
    }

    fn before(&self, a: Node, b: Node) -> String {
        format!("{} came before {}", self.name(a), self.name(b))
    }

    /// The claim of a step, without its full stop.
    pub(crate) fn claim(&self, step: &Step) -> String {
        match (step.claim, &step.reason) {
            (Claim::Literal(literal), _) => self.literal(literal),
            (Claim::Edge(a, b), Reason::Rule { rule: Rule::Observed, scope: Some(o), .. })
                if event_of(*o).is_some() =>
            {
                let thread = event_of(*o).map(|e| thread_of(self.history, e)).unwrap_or_default();
                format!("As observed by {thread}, {}", self.before(a, b))
            }
            (Claim::Edge(a, b), _) => self.before(a, b),
        }
    }

    /// How the reason of a step begins: what its links then show.
    pub(crate) fn reason(&self, step: &Step) -> String {
        match (&step.reason, step.claim) {
            (Reason::Otherwise(_), Claim::Literal(Literal { positive: false, .. })) => {
                "Suppose it did. Then:".to_owned()
            }
            (Reason::Otherwise(_), _) => "Suppose not. Then:".to_owned(),
            (Reason::LastCandidate { excluded }, Claim::Literal(literal)) => {
                self.last_candidate(literal, excluded)
            }
            (Reason::Rule { rule, via, path, .. }, Claim::Edge(from, to)) => {
                self.rule(*rule, *via, path, from, to)
            }
            _ => String::new(),
        }
    }

    fn last_candidate(&self, literal: Literal, excluded: &[(Source, Ground)]) -> String {
        let Atom::Reads(reader, _) = literal.atom else { return String::new() };
        match self.excluded(reader, excluded, " and ") {
            others if others.is_empty() => {
                "There is no other write that it could have read.".to_owned()
            }
            others => format!("The other writes that it could have read are excluded: {others}."),
        }
    }

    /// The excluded candidates as a list, with `last` before the last.
    fn excluded(&self, reader: Reader, excluded: &[(Source, Ground)], last: &str) -> String {
        let Some(address) = self.reader_address(reader) else { return String::new() };
        let one = |(source, ground): &(Source, Ground)| {
            format!("{}{}", self.source_name(*source, address), self.ground(ground))
        };
        let names: Vec<String> = excluded.iter().map(one).collect();
        match names.split_last() {
            Some((end, [])) => end.clone(),
            Some((end, others)) => format!("{}{last}{end}", others.join(", ")),
            None => String::new(),
        }
    }

    fn rule(&self, rule: Rule, via: Option<Node>, path: &Walk, from: Node, to: Node) -> String {
        let via_name = via.map_or_else(|| "a read".to_owned(), |v| self.name(v));
        let address = address_of(self.history, from)
            .map(|a| self.history.address(a).label.to_string())
            .unwrap_or_default();
        let (short_from, short_to) = (self.short(from), self.short(to));
        match rule {
            Rule::Observed | Rule::Conflict => {
                format!("{via_name} read from {short_to}, and {short_from} came before that read:")
            }
            Rule::StoreOrder => {
                format!("Both write M[{address}], and one leads to the other:")
            }
            Rule::Overwritten if path.links.is_empty() => {
                format!("It read the initial value, which {short_to} overwrote.")
            }
            Rule::Overwritten => {
                let read = path.links.first().map(|l| self.short(l.from)).unwrap_or_default();
                format!("It read from {read}, and {short_to} came after that:")
            }
            Rule::Atomic => self.atomic(via, path, from, to),
        }
    }

    fn atomic(&self, via: Option<Node>, path: &Walk, from: Node, to: Node) -> String {
        let atomic = via.map_or_else(|| "an atomic".to_owned(), |v| self.short(v));
        let is_via = |node: Node| via.and_then(event_of) == event_of(node);
        let intro = "Nothing comes between an atomic and what it read.";
        match path.links.first() {
            None => format!("{intro} {atomic} read the initial value, so it is the first write."),
            Some(_) if is_via(from) => {
                let read = path.links.first().map(|l| self.short(l.from)).unwrap_or_default();
                format!("{intro} {atomic} read from {read}, which came before {}:", self.short(to))
            }
            Some(_) => format!(
                "{intro} {atomic} read from {}, and {} came before the atomic:",
                self.short(to),
                self.short(from)
            ),
        }
    }

    /// `M[x] := 1`, where it has just been named in full.
    fn short(&self, node: Node) -> String {
        held_together(match node {
            Node::Initial(address) => initial_name(self.history, address),
            Node::Event(event) | Node::ReadOf(event) => event_text(self.history, event),
        })
    }

    /// One link as a sentence.
    pub(crate) fn link(&self, graph: Graph, link: &Link) -> String {
        let (from, to) = (link.from, link.to);
        capitalised(match &link.kind {
            LinkKind::ProgramOrder => self.program_order(graph, from, to),
            LinkKind::Fence(fence) => self.fence(*fence, from, to),
            LinkKind::Dependency => format!(
                "{} depends on {}, and {} keeps dependencies.",
                self.name(to),
                self.brief(from),
                self.model
            ),
            LinkKind::Time => self.time(from, to),
            LinkKind::ReadsFrom(ground) => self.reads_from(ground, from, to),
            LinkKind::WriteOrder(order) => self.write_order(order, from, to),
            LinkKind::FromRead { source, read, order } => {
                self.overwritten(*source, read, order, from, to)
            }
            LinkKind::Derived(label, _) => {
                format!("{} (step\u{a0}{label}).", self.before(from, to))
            }
            LinkKind::Omitted(count) => {
                format!("{} by {count} more such steps, not shown here.", self.before(from, to))
            }
        })
    }

    fn program_order(&self, graph: Graph, from: Node, to: Node) -> String {
        match (from, to) {
            (Node::Initial(_), _) => {
                format!("{}: initial values come first.", self.before(from, to))
            }
            (Node::ReadOf(a), Node::Event(b)) if a == b => {
                format!("The atomic {} reads before it writes.", self.event(a))
            }
            // The store of a pair, back to its load.
            (Node::Event(a), Node::Event(b)) if b < a => {
                let rule = rule_in_words(self.history, self.model, graph, from, to);
                format!("{} and {} are a pair: {rule}.", self.brief(to), self.brief(from))
            }
            (Node::Event(a) | Node::ReadOf(a), Node::Event(_) | Node::ReadOf(_)) => {
                let thread = thread_of(self.history, a).replacen('t', "T", 1);
                let rule = rule_in_words(self.history, self.model, graph, from, to);
                format!("{thread} did {} before {}, and {rule}.", self.brief(from), self.brief(to))
            }
            _ => format!("{}, in program order.", self.before(from, to)),
        }
    }

    fn fence(&self, fence: Option<EventId>, from: Node, to: Node) -> String {
        let Some(fence) = fence else {
            return format!("{}: a fence stands between them.", self.before(from, to));
        };
        let thread = thread_of(self.history, fence).replacen('t', "T", 1);
        format!(
            "{thread} did {} before {}, and {} between them keeps that order.",
            self.brief(from),
            self.brief(to),
            held_together(event_brief(self.history, fence))
        )
    }

    fn time(&self, from: Node, to: Node) -> String {
        let times = |node| event_of(node).map(|e| self.history.times(e)).unwrap_or_default();
        let at = |time: Option<u64>| time.map_or_else(String::new, |t| format!(" at {t}"));
        let (later, kept) = match self.model {
            ExplainedModel::Model(_) => {
                (self.brief(to), "a read before operations that start after it completes")
            }
            ExplainedModel::File(_) => (self.name(to), "real time"),
        };
        format!(
            "{} ended{}, before {later} began{}, and {} keeps {kept}.",
            self.name(from),
            at(times(from).end),
            at(times(to).begin),
            self.model
        )
    }

    fn reads_from(&self, ground: &Ground, from: Node, to: Node) -> String {
        match from {
            _ if event_of(from) == event_of(to) => {
                format!("{} read what it wrote itself{}.", self.name(to), self.ground(ground))
            }
            Node::Initial(_) => {
                format!("{} read the initial value{}.", self.name(to), self.ground(ground))
            }
            _ => format!(
                "{} read from {}{}, so it came later.",
                self.name(to),
                self.name(from),
                self.ground(ground)
            ),
        }
    }

    fn write_order(&self, order: &[Ordered], from: Node, to: Node) -> String {
        match order {
            [one] => format!("{}{}.", self.before(from, to), self.ground(&one.ground)),
            several => {
                let steps: Vec<String> = several
                    .iter()
                    .map(|o| format!("before {}{}", self.name(o.to), self.ground(&o.ground)))
                    .collect();
                format!("{} came {}.", self.name(from), steps.join(", that "))
            }
        }
    }

    fn overwritten(
        &self,
        source: Option<Source>,
        read: &Ground,
        order: &[Ordered],
        from: Node,
        to: Node,
    ) -> String {
        let (reader, writer) = (self.name(from), self.name(to));
        match source {
            None => format!("{reader} read a value that {writer} overwrote, so it came before it."),
            Some(Source::Initial) => format!(
                "{reader} read the initial value{}, so it came before {writer}.",
                self.ground(read)
            ),
            Some(Source::Write(write)) => {
                let steps: Vec<String> = order
                    .iter()
                    .map(|o| format!("came before {}{}", self.name(o.to), self.ground(&o.ground)))
                    .collect();
                format!(
                    "{reader} read from {}{}. That write {}. So the read came before it too.",
                    self.event(write),
                    self.ground(read),
                    steps.join(", which ")
                )
            }
        }
    }

    /// What something rests on, to follow it in a sentence.
    fn ground(&self, ground: &Ground) -> String {
        match ground {
            Ground::Given | Ground::Initial | Ground::Unknown => String::new(),
            Ground::SameThread => ", in program order".to_owned(),
            Ground::OrderLine(line) => format!(", as the order in line\u{a0}{line} says"),
            Ground::FinalLine(line) => {
                format!(", which wrote the final value (line\u{a0}{line})")
            }
            Ground::Fact(_) | Ground::Supposed => " (supposed)".to_owned(),
            Ground::Case(label) => format!(" (case\u{a0}{label})"),
            Ground::Step(label) => format!(" (step\u{a0}{label})"),
            Ground::LeftOut => " (a step that is not shown)".to_owned(),
        }
    }

    /// The sentence that closes a cycle.
    pub(crate) fn closing(&self, walk: &Walk) -> String {
        match walk.links.first() {
            Some(link) => {
                format!("So {} came before itself, which is impossible.", self.name(link.from))
            }
            None => "That is impossible.".to_owned(),
        }
    }

    /// The common form of the cases of a distinction: "Either a came before b or b before a."
    pub(crate) fn question(&self, cases: &[super::argument::Case]) -> String {
        match cases.first().map(|case| case.assumes.atom) {
            Some(Atom::Before(a, b)) => format!(
                "Either {} or the other way round.",
                self.before(Node::Event(a), Node::Event(b))
            ),
            Some(Atom::Reads(reader, _)) => {
                format!("{} could come from {} writes.", self.reader_name(reader), cases.len())
            }
            None => String::new(),
        }
    }

    /// An ending that is no cycle, as sentences.
    pub(crate) fn ending(&self, ending: &Ending) -> Vec<String> {
        match ending {
            Ending::Cycle(_) => Vec::new(),
            Ending::NobodyWrote(reader) => vec![self.nobody_wrote(*reader)],
            Ending::NoCandidateLeft { reader, excluded } => vec![format!(
                "So {} has no source: not from {}. That is impossible.",
                self.reader_name(*reader),
                self.excluded(*reader, excluded, " or ")
            )],
            Ending::Search(search) => self.search(search),
            Ending::Missing => vec!["The proof does not end in a contradiction.".to_owned()],
        }
    }

    fn nobody_wrote(&self, reader: Reader) -> String {
        let value = match reader {
            Reader::Event(event) | Reader::Part(event, _) => {
                self.history.event(event).operation.value_read()
            }
            Reader::Final(address) | Reader::FinalPart(address, _) => {
                self.history.finals().iter().find(|f| f.address == address).map(|f| f.value)
            }
        };
        let label = self
            .reader_address(reader)
            .map(|a| self.history.address(a).label.to_string())
            .unwrap_or_default();
        let name = self.reader_name(reader);
        let verb =
            if matches!(reader, Reader::Event(_) | Reader::Part(..)) { "returned" } else { "is" };
        format!(
            "{name} {verb} {}, but that value was never written to M[{label}].",
            value.unwrap_or_default()
        )
    }

    fn search(&self, search: &Search) -> Vec<String> {
        let mut lines = vec![format!(
            "A search decided this: {} facts were open, {} combinations of them were excluded by \
             a cycle each, and {} resolution steps left no combination. The full proof is \
             too long to print; `tribunal certify` checks all of it.",
            search.choices, search.excluded, search.combined
        )];
        if let Some((supposed, _)) = &search.example {
            let supposed: Vec<String> = supposed.iter().map(|&l| self.literal(l)).collect();
            lines.push(format!(
                "The simplest of the excluded combinations: {}. Then:",
                supposed.join(", and ")
            ));
        }
        lines
    }

    /// The whole argument in a sentence.
    pub(crate) fn gist(&self, argument: &Argument) -> String {
        match argument.items.last() {
            Some(Item::End(Ending::NobodyWrote(_))) => {
                "A read returned a value that was never written.".to_owned()
            }
            Some(Item::End(Ending::Cycle(cycle))) => self.gist_of_cycle(cycle),
            Some(Item::End(Ending::NoCandidateLeft { reader, excluded })) => format!(
                "{} cannot come from any of the {} writes of its value.",
                self.reader_name(*reader),
                excluded.len()
            ),
            Some(Item::Cases(_)) => format!(
                "There are {} cases to distinguish, and each ends in a contradiction.",
                argument.count_ends()
            ),
            Some(Item::End(Ending::Search(_))) => {
                "A search excluded every combination of the open choices.".to_owned()
            }
            _ => format!("No order of these events satisfies {}.", self.model),
        }
    }

    fn gist_of_cycle(&self, cycle: &Walk) -> String {
        let count = cycle.length();
        let is_proved =
            |ground: &Ground| matches!(ground, Ground::Step(_) | Ground::Case(_) | Ground::LeftOut);
        let on_its_own = !self.is_causal() && !cycle.grounds().any(is_proved);
        let address = common_address(self.history, cycle.nodes()).filter(|_| on_its_own);
        match (cycle.graph, address) {
            (Graph::ThinAir, _) => {
                "A value depends on itself: dependencies and reads-from form a cycle.".to_owned()
            }
            (_, Some(address)) => format!(
                "On M[{}] alone, each of these {count} accesses must come before {}.",
                self.history.address(address).label,
                others(count)
            ),
            _ => format!(
                "Under {}, each of these {count} events must come before {}.",
                self.model,
                others(count)
            ),
        }
    }
}

/// What each event of a cycle of this length comes before.
fn others(count: usize) -> &'static str {
    match count {
        1 => "itself",
        2 => "the other",
        _ => "the next, in a cycle",
    }
}

/// The name with spaces that do not break, unless it is too long for that.
fn held_together(name: String) -> String {
    if name.chars().count() > LONG_NAME { name } else { name.replace(' ', "\u{a0}") }
}

/// The sentence with a capital first letter if it starts with an article.
pub(super) fn capitalised(sentence: String) -> String {
    let starts = sentence.starts_with("the ") || sentence.starts_with("the\u{a0}");
    if starts { sentence.replacen('t', "T", 1) } else { sentence }
}

/// The bytes of a part of an access, where it has more than one part.
fn part_label(history: &History, event: EventId, number: u8) -> Option<String> {
    let mixed = history.mixed()?;
    let mut parts = mixed.parts_of(event);
    if parts.len() < 2 {
        return None;
    }
    let cell = mixed.parts().address_of(parts.nth(number.into())?)?;
    Some(mixed.parts().address(cell).label.to_string())
}
