//! From a proof to an [`Argument`]: find what the contradiction needs, then number and items it.
//!
//! A proof whose last clause is shown by a cycle needs no search: going back from that cycle, the
//! facts of one literal that it uses, and those that they use, are the whole argument. Any other
//! proof goes through [`refute`]. Both give a [`Refutation`], which is then shown: each forced
//! literal becomes a numbered step, each case a case.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use evidence::{Cycle, Derived, Literal, Proof, Reader, Why};
use history::{EventId, History, Source};

use super::argument::{
    Argument, Case, Claim, Contradiction, Ending, Ground, Item, Link, LinkKind, Reason, Search,
    Step, Walk,
};
use super::explained_model::ExplainedModel;
use super::grounds::Grounds;
use super::refute::{Clause, End, Forced, Origin, Refutation, refute, sources_of};
use crate::names::event_of;

/// The most steps shown one after the other; those nearest to the end are kept.
const MOST_STEPS: usize = 40;

/// Above this many lemmas there is no point in looking for a small case distinction.
const MOST_LEMMAS: usize = 20_000;

/// The most links shown of a walk.
const MOST_LINKS: usize = 60;

/// The argument of a proof.
pub(crate) fn argument(history: &History, model: ExplainedModel<'_>, proof: &Proof) -> Argument {
    let reading = Reading::new(history, model, proof);
    let end = |ending| Argument { items: vec![Item::End(ending)] };
    let Some(last) = proof.steps.iter().position(|step| step.clause.is_empty()) else {
        return end(Ending::Missing);
    };
    if let Some(reader) = reading.unwritten(last) {
        return end(Ending::NobodyWrote(reader));
    }
    match reading.straight(last).or_else(|| reading.by_cases(last)) {
        Some(refutation) => {
            let mut builder =
                ArgumentBuilder { reading: &reading, scope: BTreeMap::new(), next: 1 };
            Argument { items: builder.items(refutation, "") }
        }
        None => end(Ending::Search(reading.search(last))),
    }
}

/// A proof with its lookup tables.
struct Reading<'a> {
    history: &'a History,
    proof: &'a Proof,
    grounds: Grounds<'a>,
    /// The first step that proves each literal.
    units: BTreeMap<Literal, usize>,
}

impl<'a> Reading<'a> {
    fn new(history: &'a History, model: ExplainedModel<'a>, proof: &'a Proof) -> Self {
        let mut units = BTreeMap::new();
        for (index, step) in proof.steps.iter().enumerate() {
            if let [literal] = step.clause[..] {
                units.entry(literal).or_insert(index);
            }
        }
        Self { history, proof, grounds: Grounds::new(history, model), units }
    }

    /// A reader of a value that was never written, if the empty clause has no other reason.
    fn unwritten(&self, last: usize) -> Option<Reader> {
        if self.proof.steps[last].why != Why::Propagation {
            return None;
        }
        let history = self.history;
        let read = history.event_ids().find(|&e| history.reads_unwritten(e)).map(Reader::Event);
        let last = || history.finals().iter().find(|f| f.sources.is_empty());
        read.or_else(|| last().map(|f| Reader::Final(f.address)))
    }

    /// The literals that the lemma at a step uses: the opposite of its clause, and facts of one
    /// literal proved before it.
    fn uses(&self, step: usize) -> BTreeSet<Literal> {
        let clause = &self.proof.steps[step].clause;
        let holds = |literal: Literal| {
            clause.contains(&literal.negated())
                || self.units.get(&literal).is_some_and(|&proved| proved < step)
        };
        let mut found = BTreeSet::new();
        let mut look = |walk: Walk, read: Option<Literal>| {
            found.extend(walk.grounds().filter_map(|ground| match ground {
                Ground::Fact(literal) => Some(*literal),
                _ => None,
            }));
            found.extend(read);
        };
        let (derived, cycle) = lemma(&self.proof.steps[step].why);
        let needed = needed(derived, cycle);
        for derived in derived.iter().zip(needed).filter(|(_, needed)| *needed).map(|(d, _)| d) {
            let path = self.grounds.walk(derived.graph, &derived.path, &[], &holds);
            look(path, self.via_read(derived, &holds));
        }
        if let Some(cycle) = cycle {
            look(self.grounds.walk(cycle.graph, &cycle.edges, &[], &holds), None);
        }
        found
    }

    /// The literal for the source of the read in a causal rule, if that was open.
    fn via_read(&self, derived: &Derived, holds: &dyn Fn(Literal) -> bool) -> Option<Literal> {
        let read = event_of(derived.via?)?;
        let literals =
            self.history.sources(read).iter().map(|&s| Literal::reads(Reader::Event(read), s));
        literals.into_iter().find(|&l| holds(l))
    }

    /// The lemma at a step as a clause that says all it rests on; `None` if it is no lemma.
    fn clause(&self, step: usize) -> Option<Clause> {
        lemma(&self.proof.steps[step].why).1?;
        let mut literals = self.proof.steps[step].clause.clone();
        for used in self.uses(step) {
            if !literals.contains(&used.negated()) {
                literals.push(used.negated());
            }
        }
        Some(Clause { literals, origin: Origin::Lemma(step) })
    }

    /// The refutation of a proof whose needed steps are all lemmas of one literal.
    fn straight(&self, last: usize) -> Option<Refutation> {
        let end = self.clause(last)?;
        let mut needed: BTreeMap<usize, Forced> = BTreeMap::new();
        let mut open: Vec<Literal> = end.literals.iter().map(|l| l.negated()).collect();
        while let Some(literal) = open.pop() {
            let &step = self.units.get(&literal)?;
            if needed.contains_key(&step) {
                continue;
            }
            let clause = self.clause(step)?;
            open.extend(clause.literals.iter().filter(|&&l| l != literal).map(|l| l.negated()));
            needed.insert(step, Forced { literal, clause });
        }
        Some(Refutation { forced: needed.into_values().collect(), end: End::Conflict(end) })
    }

    /// The refutation of any other proof, if it is small enough to be shown.
    fn by_cases(&self, last: usize) -> Option<Refutation> {
        let is_lemma = |step: &&evidence::Step| step.why != Why::Propagation;
        if self.proof.steps[..=last].iter().filter(is_lemma).count() > MOST_LEMMAS {
            return None;
        }
        let clauses = (0..=last).filter_map(|step| self.clause(step)).collect();
        refute(self.history, clauses)
    }

    /// The search in numbers, with its simplest lemma.
    fn search(&self, last: usize) -> Search {
        let steps = &self.proof.steps[..=last];
        let is_lemma = |why: &Why| lemma(why).1.is_some();
        let lemmas = steps.iter().enumerate().filter(|(_, s)| is_lemma(&s.why));
        let atoms: BTreeSet<Literal> = steps
            .iter()
            .flat_map(|s| &s.clause)
            .map(|&literal| literal.min(literal.negated()))
            .collect();
        let size = |step: usize| {
            let length = lemma(&steps[step].why).1.map_or(0, |c| c.edges.len());
            (steps[step].clause.len(), length)
        };
        let open = lemmas.clone().filter(|(_, s)| s.clause.len() > 1);
        let example = open.clone().map(|(step, _)| step).min_by_key(|&step| size(step));
        Search {
            choices: atoms.len(),
            excluded: lemmas.count(),
            combined: steps.iter().filter(|s| !is_lemma(&s.why)).count(),
            example: example.map(|step| {
                let supposed: Vec<Literal> =
                    steps[step].clause.iter().map(|l| l.negated()).collect();
                let mut builder =
                    ArgumentBuilder { reading: self, scope: BTreeMap::new(), next: 1 };
                for (&literal, &proved) in &self.units {
                    if proved < step {
                        builder.scope.insert(literal, Ground::LeftOut);
                    }
                }
                let contradiction = builder.contradiction(step, &supposed, "1");
                (supposed, contradiction)
            }),
        }
    }
}

/// The derived edges and the cycle of a lemma.
fn lemma(why: &Why) -> (&[Derived], Option<&Cycle>) {
    match why {
        Why::Cycle(cycle) => (&[], Some(cycle)),
        Why::Derivation { derived, cycle } => (derived, Some(cycle)),
        Why::Propagation => (&[], None),
    }
}

/// Which of the derived edges the cycle needs, directly or through others.
fn needed(derived: &[Derived], cycle: Option<&Cycle>) -> Vec<bool> {
    let mut needed = vec![false; derived.len()];
    let mark = |edges: &[evidence::Edge], needed: &mut Vec<bool>| {
        for edge in edges {
            if let evidence::Because::Derived(index) = edge.because
                && let Some(flag) = needed.get_mut(index as usize)
            {
                *flag = true;
            }
        }
    };
    mark(cycle.map_or(&[], |c| &c.edges), &mut needed);
    for index in (0..derived.len()).rev() {
        if needed[index] {
            mark(&derived[index].path, &mut needed);
        }
    }
    needed
}

/// Turns a refutation into items: numbers its steps and names what each link rests on.
struct ArgumentBuilder<'a> {
    reading: &'a Reading<'a>,
    /// What has been established, and where.
    scope: BTreeMap<Literal, Ground>,
    next: usize,
}

impl ArgumentBuilder<'_> {
    // Recursion is as deep as cases nest, which `refute` bounds.
    fn items(&mut self, refutation: Refutation, prefix: &str) -> Vec<Item> {
        let Refutation { forced, end } = refutation;
        let mut items = Vec::new();
        let mut established = Vec::new();
        let shown = nearest(&forced, &end);
        if shown.len() < forced.len() {
            items.push(Item::LeftOut(forced.len() - shown.len()));
        }
        for forced in forced {
            let ground = if shown.contains(&forced.literal) {
                let label = self.label();
                items.push(Item::Step(self.step(&forced, label.clone())));
                Ground::Step(label)
            } else {
                Ground::LeftOut
            };
            self.scope.insert(forced.literal, ground);
            established.push(forced.literal);
        }
        match end {
            End::Conflict(clause) => self.end(clause, &mut items),
            End::Cases { cases, .. } => items.push(self.cases(cases, prefix)),
        }
        for literal in established {
            self.scope.remove(&literal);
        }
        items
    }

    fn label(&mut self) -> String {
        self.next += 1;
        (self.next - 1).to_string()
    }

    fn step(&self, forced: &Forced, label: String) -> Step {
        let reason = match forced.clause.origin {
            Origin::Lemma(step) => {
                Reason::Otherwise(self.contradiction(step, &[forced.literal.negated()], &label))
            }
            Origin::Candidates(reader) => Reason::LastCandidate { excluded: self.excluded(reader) },
        };
        Step { label, claim: Claim::Literal(forced.literal), reason }
    }

    fn end(&mut self, clause: Clause, items: &mut Vec<Item>) {
        let ending = match clause.origin {
            Origin::Candidates(reader) => {
                Ending::NoCandidateLeft { reader, excluded: self.excluded(reader) }
            }
            Origin::Lemma(step) => {
                let count = needed_count(self.reading, step);
                let labels: Vec<String> = (0..count).map(|_| self.label()).collect();
                let Contradiction { derived, cycle } =
                    self.contradiction_with(step, &[], &mut labels.into_iter());
                items.extend(derived.into_iter().map(Item::Step));
                Ending::Cycle(cycle)
            }
        };
        items.push(Item::End(ending));
    }

    fn cases(&mut self, cases: Vec<(Literal, Refutation)>, prefix: &str) -> Item {
        let mut shown = Vec::with_capacity(cases.len());
        for (at, (assumes, refutation)) in cases.into_iter().enumerate() {
            let label = format!("{prefix}{}", at + 1);
            self.scope.insert(assumes, Ground::Case(label.clone()));
            let items = self.items(refutation, &format!("{label}."));
            self.scope.remove(&assumes);
            shown.push(Case { label, assumes, items });
        }
        Item::Cases(shown)
    }

    /// Which candidates of a reader are excluded, and where.
    fn excluded(&self, reader: Reader) -> Vec<(Source, Ground)> {
        sources_of(self.reading.history, reader)
            .iter()
            .filter_map(|&source| {
                let not = Literal::reads(reader, source).negated();
                Some((source, self.scope.get(&not)?.clone()))
            })
            .collect()
    }

    fn contradiction(&self, step: usize, supposed: &[Literal], label: &str) -> Contradiction {
        let mut labels = (1..).map(|n| format!("{label}.{n}"));
        self.contradiction_with(step, supposed, &mut labels)
    }

    /// The lemma at a step, with its derived edges labelled in turn.
    fn contradiction_with(
        &self,
        step: usize,
        supposed: &[Literal],
        labels: &mut dyn Iterator<Item = String>,
    ) -> Contradiction {
        let (derived, cycle) = lemma(&self.reading.proof.steps[step].why);
        let holds = |l: Literal| supposed.contains(&l) || self.scope.contains_key(&l);
        let mut known: Vec<(String, evidence::Rule)> = Vec::with_capacity(derived.len());
        let mut steps = Vec::new();
        for (derived, needed) in derived.iter().zip(needed(derived, cycle)) {
            if !needed {
                known.push((String::new(), derived.rule));
                continue;
            }
            let path = self.reading.grounds.walk(derived.graph, &derived.path, &known, &holds);
            let label = labels.next().unwrap_or_default();
            known.push((label.clone(), derived.rule));
            let Derived { from, to, rule, via, scope, .. } = *derived;
            let path = shorten(self.reading.grounds.merged(self.settle(path, supposed)));
            let reason = Reason::Rule { rule, via, scope, path };
            steps.push(Step { label, claim: Claim::Edge(from, to), reason });
        }
        let cycle = match cycle {
            Some(c) => self.reading.grounds.walk(c.graph, &c.edges, &known, &holds),
            None => Walk { graph: evidence::Graph::Global, links: Vec::new() },
        };
        let cycle = rotate(self.settle(cycle, supposed), self.reading.history);
        Contradiction { derived: steps, cycle: shorten(self.reading.grounds.merged(cycle)) }
    }

    /// Replaces each literal a walk rests on by where it was established.
    fn settle(&self, mut walk: Walk, supposed: &[Literal]) -> Walk {
        for ground in walk.links.iter_mut().flat_map(Link::grounds_mut) {
            if let Ground::Fact(literal) = ground {
                *ground = if supposed.contains(literal) {
                    Ground::Supposed
                } else {
                    self.scope.get(literal).cloned().unwrap_or(Ground::Unknown)
                };
            }
        }
        walk
    }
}

fn needed_count(reading: &Reading<'_>, step: usize) -> usize {
    let (derived, cycle) = lemma(&reading.proof.steps[step].why);
    needed(derived, cycle).into_iter().filter(|&n| n).count()
}

/// The facts to be shown: all of them, or those nearest to the end if they are too many.
fn nearest(forced: &[Forced], end: &End) -> BTreeSet<Literal> {
    if forced.len() <= MOST_STEPS {
        return forced.iter().map(|f| f.literal).collect();
    }
    let reasons: BTreeMap<Literal, &Clause> =
        forced.iter().map(|f| (f.literal, &f.clause)).collect();
    let mut queue: VecDeque<Literal> = match end {
        End::Conflict(clause) => clause.literals.iter().map(|l| l.negated()).collect(),
        End::Cases { .. } => forced.iter().rev().map(|f| f.literal).collect(),
    };
    let mut shown = BTreeSet::new();
    while let Some(literal) = queue.pop_front() {
        if shown.len() == MOST_STEPS {
            break;
        }
        if let Some(clause) = reasons.get(&literal)
            && shown.insert(literal)
        {
            queue.extend(clause.literals.iter().map(|l| l.negated()));
        }
    }
    shown
}

/// The cycle, rotated to its best start: the supposition, or else the first event of the trace.
fn rotate(mut cycle: Walk, history: &History) -> Walk {
    let supposed =
        |link: &Link| link.grounds().any(|g| matches!(g, Ground::Supposed | Ground::Case(_)));
    let line = |link: &Link| event_of(link.from).map(|e: EventId| (history.event(e).line, e));
    let start = (0..cycle.links.len())
        .min_by_key(|&at| (!supposed(&cycle.links[at]), line(&cycle.links[at])));
    cycle.links.rotate_left(start.unwrap_or(0));
    cycle
}

/// The walk, without its middle if it is too long to be shown.
fn shorten(mut walk: Walk) -> Walk {
    let count = walk.links.len();
    if count > MOST_LINKS {
        let keep = MOST_LINKS / 2;
        let (from, to) = (walk.links[keep].from, walk.links[count - keep].from);
        let omitted = Link { from, to, kind: LinkKind::Omitted(count - 2 * keep) };
        walk.links.splice(keep..count - keep, [omitted]);
    }
    walk
}
