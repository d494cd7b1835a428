//! An argument for people: the steps of a proof that matter, numbered, with what each rests on.
//!
//! A proof is written for a checker: clauses in the order an engine found them, most of them not
//! needed in the end, all of them referring to each other only by what they say. An [`Argument`]
//! is the same evidence for a reader: only what the contradiction needs, each fact with a number,
//! each link of each cycle with the fact it rests on, and case distinctions as a tree.

use evidence::{Graph, Literal, Node, Reader, Rule};
use history::{EventId, Source};

/// Why a history violates a model, ready to be put in words or drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Argument {
    /// In the order to be shown; the last one ends it.
    pub(crate) items: Vec<Item>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    /// A fact and its reason.
    Step(Step),
    /// This many facts that later ones rest on, too many to be shown.
    LeftOut(usize),
    /// One of these must be, and none can.
    Cases(Vec<Case>),
    /// The contradiction.
    End(Ending),
}

/// One case of a case distinction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Case {
    /// `1`, or `2.1` for a case within a case.
    pub(crate) label: String,
    /// The assumption of the case.
    pub(crate) assumes: Literal,
    /// Why it cannot be.
    pub(crate) items: Vec<Item>,
}

/// A numbered fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// `1`, or `2.1` for a step within a step.
    pub(crate) label: String,
    /// The claim of the step.
    pub(crate) claim: Claim,
    /// Why.
    pub(crate) reason: Reason,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    /// This literal is true.
    Literal(Literal),
    /// The first comes before the second.
    Edge(Node, Node),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// Suppose not: then these follow, and a cycle.
    Otherwise(Contradiction),
    /// A rule of a causal model.
    Rule { rule: Rule, via: Option<Node>, scope: Option<Node>, path: Walk },
    /// The reader took its value from somewhere, and all other candidates are excluded.
    LastCandidate { excluded: Vec<(Source, Ground)> },
}

/// How an argument, or a case of it, ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// In a cycle.
    Cycle(Walk),
    /// Nobody wrote what this reader returned.
    NobodyWrote(Reader),
    /// Every candidate source of this reader is excluded.
    NoCandidateLeft { reader: Reader, excluded: Vec<(Source, Ground)> },
    /// In a search too large to show.
    Search(Search),
    /// The proof has no empty clause: it shows nothing.
    Missing,
}

/// Steps that follow, and the cycle they close.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Contradiction {
    pub(crate) derived: Vec<Step>,
    pub(crate) cycle: Walk,
}

/// What can be said about a search without showing all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Search {
    /// Undecided facts the search chose between.
    pub(crate) choices: usize,
    /// Combinations excluded by a cycle each.
    pub(crate) excluded: usize,
    /// Combinations excluded by putting others together.
    pub(crate) combined: usize,
    /// The smallest of the combinations excluded by a cycle, with that cycle.
    pub(crate) example: Option<(Vec<Literal>, Contradiction)>,
}

/// Links in a row, each starting where the one before ended. A cycle ends where it began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Walk {
    pub(crate) graph: Graph,
    pub(crate) links: Vec<Link>,
}

/// Why one node comes before another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) from: Node,
    pub(crate) to: Node,
    pub(crate) kind: LinkKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LinkKind {
    ProgramOrder,
    Fence(Option<EventId>),
    Dependency,
    Time,
    ReadsFrom(Ground),
    /// The writes in between, if the order is known only through them.
    WriteOrder(Vec<Ordered>),
    /// `from` read `source`, and `source` comes before `to`.
    FromRead {
        source: Option<Source>,
        read: Ground,
        order: Vec<Ordered>,
    },
    /// A step of the same argument, and the rule that derives it.
    Derived(String, Rule),
    /// Links left out of a walk too long to be shown.
    Omitted(usize),
}

/// Two writes of one address, and why the first comes first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ordered {
    pub(crate) from: Node,
    pub(crate) to: Node,
    pub(crate) ground: Ground,
}

/// The justification of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ground {
    /// There is only one candidate.
    Given,
    /// Initial writes come first.
    Initial,
    /// One thread did both, in this order, on one address.
    SameThread,
    /// The `order` line at this line.
    OrderLine(u32),
    /// The `final` line at this line.
    FinalLine(u32),
    /// A fact that has not been looked up yet.
    Fact(Literal),
    /// The supposition that is being refuted.
    Supposed,
    /// What this case assumes.
    Case(String),
    /// This step.
    Step(String),
    /// One of the steps left out.
    LeftOut,
    /// Nothing that could be found.
    Unknown,
}

impl Walk {
    /// Every ground in the walk.
    pub(crate) fn grounds(&self) -> impl Iterator<Item = &Ground> {
        self.links.iter().flat_map(Link::grounds)
    }

    /// The number of links, including those left out.
    pub(crate) fn length(&self) -> usize {
        let links = self.links.iter().map(|link| match link.kind {
            LinkKind::Omitted(count) => count,
            _ => 1,
        });
        links.sum()
    }

    /// Every node of the walk, in order; the last is left out if it closes a cycle.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = Node> + '_ {
        let open = self.links.first().map(|l| l.from) != self.links.last().map(|l| l.to);
        let last = self.links.last().filter(|_| open).map(|l| l.to);
        self.links.iter().map(|l| l.from).chain(last)
    }
}

impl Link {
    /// The justifications of the link.
    pub(crate) fn grounds(&self) -> impl Iterator<Item = &Ground> {
        let (read, order): (Option<&Ground>, &[Ordered]) = match &self.kind {
            LinkKind::ReadsFrom(ground) => (Some(ground), &[]),
            LinkKind::WriteOrder(order) => (None, order),
            LinkKind::FromRead { read, order, .. } => (Some(read), order),
            _ => (None, &[]),
        };
        read.into_iter().chain(order.iter().map(|o| &o.ground))
    }

    /// The justifications of the link, to be changed.
    pub(crate) fn grounds_mut(&mut self) -> impl Iterator<Item = &mut Ground> {
        let (read, order): (Option<&mut Ground>, &mut [Ordered]) = match &mut self.kind {
            LinkKind::ReadsFrom(ground) => (Some(ground), &mut []),
            LinkKind::WriteOrder(order) => (None, order),
            LinkKind::FromRead { read, order, .. } => (Some(read), order),
            _ => (None, &mut []),
        };
        read.into_iter().chain(order.iter_mut().map(|o| &mut o.ground))
    }
}

/// A cycle at the end of a branch, and the cases that lead there.
pub(crate) struct Branch<'a> {
    pub(crate) cases: Vec<&'a Case>,
    /// Steps shown on the way, from the start of the argument.
    pub(crate) steps: Vec<&'a Step>,
    pub(crate) cycle: &'a Walk,
}

impl Argument {
    /// The number of cases at the ends of all case distinctions.
    pub(crate) fn count_ends(&self) -> usize {
        let mut count = 0;
        let mut open: Vec<&Item> = self.items.iter().collect();
        while let Some(item) = open.pop() {
            match item {
                Item::End(_) => count += 1,
                Item::Cases(cases) => open.extend(cases.iter().flat_map(|case| &case.items)),
                Item::Step(_) | Item::LeftOut(_) => {}
            }
        }
        count
    }

    /// The branches of the argument that end in a cycle, in order. An argument without cases has
    /// one.
    pub(crate) fn branches(&self) -> Vec<Branch<'_>> {
        let mut found = Vec::new();
        let mut open: Vec<(Vec<&Case>, Vec<&Step>, &[Item])> =
            vec![(Vec::new(), Vec::new(), &self.items)];
        while let Some((path, mut steps, items)) = open.pop() {
            for item in items {
                match item {
                    Item::Step(step) => steps.push(step),
                    Item::End(Ending::Cycle(cycle)) => {
                        found.push(Branch { cases: path.clone(), steps: steps.clone(), cycle });
                    }
                    Item::End(Ending::Search(Search { example: Some((_, end)), .. })) => {
                        let steps = steps.iter().copied().chain(&end.derived).collect();
                        found.push(Branch { cases: path.clone(), steps, cycle: &end.cycle });
                    }
                    Item::LeftOut(_) | Item::End(_) => {}
                    Item::Cases(cases) => {
                        for case in cases.iter().rev() {
                            let path = path.iter().copied().chain([case]).collect();
                            open.push((path, steps.clone(), &case.items));
                        }
                    }
                }
            }
        }
        found
    }
}
