//! An adversary that wants orders of `ccv`, `ccm` and `wccm` to be accepted, and learns from each
//! rejection what has to come before what, and what atomicity adds. It learns nothing that is not so:
//! when what it knows is a cycle, no order would be accepted. So an order is accepted iff the model allows
//! the history. If the kernel left out a rule, an order that keeps all the others would be accepted of
//! histories that hang on it; `webs` are made of such.

mod webs;

use std::collections::BTreeSet;

use crate::common::mutate::mutated_history;
use crate::common::{self, choices, claim, shown};
use evidence::{Evidence, Reader, Witness};
use history::{EventId, History, Operation, Source};
use models::Model;
use oracle::{Origin, Rng, Shape, random_history};
use tribunal_certify::{Fault, certify};

const MODELS: [Model; 3] = [Model::Ccv, Model::Ccm, Model::Wccm];

/// An access, and whether it is its write.
type Half = (EventId, bool);

/// What is known of the orders that the kernel has to be shown.
struct Adversary<'h> {
    history: &'h History,
    model: Model,
    reads: Vec<(Reader, Source)>,
    halves: Vec<Half>,
    /// For each order, what comes before what.
    pairs: Vec<BTreeSet<(Half, Half)>>,
    atomicity: BTreeSet<(EventId, EventId)>,
}

/// How an attack ended.
enum Ending {
    Accepted {
        orders: Vec<Vec<EventId>>,
    },
    /// What was learned is a cycle, or the kernel says that no order will do.
    Refuted,
    /// Too many rejections.
    GivenUp,
}

impl<'h> Adversary<'h> {
    fn new(history: &'h History, model: Model, reads: Vec<(Reader, Source)>) -> Self {
        let of_event = |e: EventId| {
            let event = history.event(e);
            [(event.is_read(), (e, false)), (event.is_write(), (e, true))]
        };
        let halves = history.event_ids().flat_map(of_event);
        let halves: Vec<Half> =
            halves.filter_map(|(is_half, half)| is_half.then_some(half)).collect();
        let mut pairs = vec![BTreeSet::new(); if model == Model::Wccm { 2 } else { 1 }];
        for (at, &earlier) in halves.iter().enumerate() {
            for &later in &halves[at + 1..] {
                if history.event(earlier.0).thread != history.event(later.0).thread {
                    continue;
                }
                let is_at_one = history.address_of(earlier.0) == history.address_of(later.0);
                let is_kept = !earlier.1 || later.1 || has_fence(history, earlier.0, later.0);
                let kept = match model {
                    Model::Wccm => vec![is_kept, is_at_one],
                    _ => vec![true],
                };
                for (pairs, _) in pairs.iter_mut().zip(kept).filter(|(_, is_kept)| *is_kept) {
                    pairs.insert((earlier, later));
                }
            }
        }
        Self { history, model, reads, halves, pairs, atomicity: BTreeSet::new() }
    }

    /// A random order that has these pairs, unless they are a cycle.
    fn order(&self, rng: &mut Rng, pairs: &BTreeSet<(Half, Half)>) -> Option<Vec<Half>> {
        let mut left = self.halves.clone();
        let mut order = Vec::new();
        while !left.is_empty() {
            // An event stands for its read where it is listed first.
            let waits = |half: &Half| {
                half.1 && left.contains(&(half.0, false))
                    || left.iter().any(|&before| pairs.contains(&(before, *half)))
            };
            let ready: Vec<usize> = (0..left.len()).filter(|&at| !waits(&left[at])).collect();
            order.push(left.remove(*rng.pick(&ready)?));
        }
        Some(order)
    }

    /// Tries orders until one is accepted, or what was learned is a cycle.
    fn attack(&mut self, rng: &mut Rng) -> Ending {
        for _ in 0..400 {
            let orders: Option<Vec<Vec<Half>>> =
                self.pairs.iter().map(|pairs| self.order(rng, pairs)).collect();
            let Some(orders) = orders else { return Ending::Refuted };
            let events: Vec<Vec<EventId>> =
                orders.iter().map(|order| order.iter().map(|half| half.0).collect()).collect();
            match self.verdict(&events) {
                Ok(()) => return Ending::Accepted { orders: events },
                Err(fault) if self.learn(&orders, &fault) => {}
                Err(_) => return Ending::Refuted,
            }
        }
        Ending::GivenUp
    }

    fn verdict(&self, orders: &[Vec<EventId>]) -> Result<(), Fault> {
        let witness = Witness::Extensions {
            orders: orders.to_vec(),
            atomicity: self.atomicity.iter().copied().collect(),
            reads: self.reads.clone(),
        };
        let claim = claim(self.model, Evidence::Consistent(witness));
        certify(self.history, &claim).map_err(|rejection| rejection.fault)
    }

    /// Whether another order may do after this rejection.
    fn learn(&mut self, orders: &[Vec<Half>], fault: &Fault) -> bool {
        match fault {
            Fault::OutOfOrder { earlier, later, why } => {
                let [earlier, later] = [earlier, later].map(|name| self.event(name));
                let pair = match *why {
                    "what it read" => ((earlier, true), (later, false)),
                    "what it overwrites" => ((earlier, false), (later, true)),
                    "program order" => unreachable!("the orders keep program order"),
                    _ => ((earlier, true), (later, true)),
                };
                // What has to be is learned only where it is not: a rule may be checked for one order.
                // Where it is in all, what a thread observed is not closed because something else is out
                // of order: another order will tell.
                for (order, pairs) in orders.iter().zip(&mut self.pairs) {
                    let place = |half: Half| order.iter().position(|&other| other == half);
                    if place(pair.0) > place(pair.1) {
                        pairs.insert(pair);
                    }
                }
                true
            }
            Fault::NotAtomic { atomic, other } => {
                let [atomic, other] = [atomic, other].map(|name| self.event(name));
                let place = |e| orders[0].iter().position(|&half| half == (e, true));
                let source = self.source(atomic);
                // The whole relation goes up in the order, so only one of two reasons is possible, unless
                // the other write stands in between; then another order will tell.
                let added = match source {
                    Some(source) if place(other) < place(source) => (other, source),
                    Some(_) if place(other) < place(atomic) => return true,
                    _ => (atomic, other),
                };
                self.pairs[0].insert(((added.0, true), (added.1, true)));
                self.atomicity.insert(added)
            }
            _ => false,
        }
    }

    /// The write that an event read.
    fn source(&self, read: EventId) -> Option<EventId> {
        let chosen = self.reads.iter().find(|(reader, _)| *reader == Reader::Event(read));
        let source = chosen.map(|&(_, source)| source);
        match source.or_else(|| self.history.only_source(read)) {
            Some(Source::Write(write)) => Some(write),
            Some(Source::Initial) | None => None,
        }
    }

    /// The event of a name, `[thread,index] (line n)`.
    fn event(&self, name: &str) -> EventId {
        let place = name.trim_start_matches('[').split(']').next().unwrap_or_default();
        let (thread, index) = place.split_once(',').expect("a name has a thread and an index");
        let thread = thread.parse().ok().and_then(|label| self.history.thread_by_label(label));
        let event = thread.zip(index.parse().ok()).and_then(|(t, i)| self.history.event_at(t, i));
        event.expect("a name is one of an event")
    }
}

/// Whether a fence between two events orders a write before a read.
fn has_fence(history: &History, earlier: EventId, later: EventId) -> bool {
    let is_between = |e: &EventId| *e > earlier && *e < later;
    history.event_ids().filter(is_between).any(|e| match history.operation_of(e) {
        Operation::Fence { before, after } => before.writes && after.reads,
        _ => false,
    })
}

/// What came of the attacks on histories of a model.
#[derive(Default, Debug)]
struct Tally {
    accepted: u64,
    rejected: u64,
    /// The model allows it, and the adversary gave up.
    missed: u64,
}

impl Tally {
    /// Attacks a history with every choice of what was read.
    fn add(&mut self, history: &History, model: Model, rng: &mut Rng) {
        let choices = choices(history);
        if choices.len() > 64 {
            return;
        }
        let allowed = oracle::allows(history, model);
        let (mut is_accepted, mut is_open) = (false, false);
        for reads in choices {
            let mut adversary = Adversary::new(history, model, reads);
            match adversary.attack(rng) {
                Ending::Accepted { orders } => {
                    is_accepted = true;
                    corrupt(&adversary, &orders, rng);
                }
                Ending::Refuted => {}
                Ending::GivenUp => is_open = true,
            }
        }
        let place = || format!("{model}:\n{}", shown(history));
        assert!(allowed || !is_accepted, "accepted, and violates {}", place());
        assert!(!allowed || is_accepted || is_open, "rejected, and allowed by {}", place());
        match (is_accepted, allowed) {
            (true, _) => self.accepted += 1,
            (false, true) => self.missed += 1,
            (false, false) => self.rejected += 1,
        }
    }

    fn is_of_use(&self, least: u64) -> bool {
        self.accepted > least && self.rejected > least && self.missed * 50 < self.accepted
    }
}

/// Orders that have an operation too many or too few are not accepted.
fn corrupt(adversary: &Adversary<'_>, orders: &[Vec<EventId>], rng: &mut Rng) {
    for at in 0..orders.len() {
        let mut orders = orders.to_vec();
        let length = orders[at].len();
        if length == 0 {
            continue;
        }
        let (one, other) = (rng.below(length), rng.below(length));
        match rng.below(4) {
            0 => drop(orders[at].remove(one)),
            1 => {
                let twice = orders[at][one];
                orders[at].insert(other, twice);
            }
            2 if orders[at][one] != orders[at][other] => orders[at][one] = orders[at][other],
            _ => orders.push(orders[at].clone()),
        }
        assert!(adversary.verdict(&orders).is_err(), "{orders:?}");
    }
}

/// Histories with much that these models look at.
fn shapes() -> Vec<Shape> {
    let origins = &[Origin::Replicas, Origin::ConvergentReplicas, Origin::Tso, Origin::Cycle];
    let busy = Shape { atomics: 45, fences: 10, addresses: 2, ..Shape::causal() };
    let declared = Shape { finals: 50, orders: 50, atomics: 25, addresses: 2, ..Shape::causal() };
    let mut shapes = Shape::all().to_vec();
    shapes.push(Shape { name: "busy", origins, ..busy });
    shapes.push(Shape { name: "declared", origins, ..declared });
    shapes.push(Shape { name: "guessed", repeated: 100, atomics: 30, ..Shape::causal() });
    shapes
}

#[test]
fn orders_of_random_histories_are_accepted_iff_the_model_allows_them() {
    let mut tallies: [[Tally; 2]; 3] = Default::default();
    for shape in shapes() {
        for seed in 0..common::effort(60) {
            let mut rng = Rng::new(seed);
            let shape = shape.clone().with_events(5 + seed as usize % 6);
            let history = random_history(&mut rng, &shape);
            let history = mutated_history(&mut rng, &history);
            let is_atomic = history.events().any(|event| event.is_atomic());
            for (model, tallies) in MODELS.into_iter().zip(&mut tallies) {
                tallies[usize::from(is_atomic)].add(&history, model, &mut rng);
            }
        }
    }
    println!("{tallies:#?}");
    assert!(tallies.iter().flatten().all(|tally| tally.is_of_use(30)), "{tallies:?}");
}

#[test]
fn orders_of_webs_are_accepted_iff_the_model_allows_them() {
    let mut tallies: [Tally; 3] = Default::default();
    for seed in 0..common::effort(1500) {
        let mut rng = Rng::new(seed);
        let history = webs::web(&mut rng);
        if history.len() > 16 || history.len() + history.address_count() > 20 {
            continue;
        }
        for (model, tally) in MODELS.into_iter().zip(&mut tallies) {
            tally.add(&history, model, &mut rng);
        }
    }
    println!("{tallies:#?}");
    assert!(tallies.iter().all(|tally| tally.is_of_use(30)), "{tallies:?}");
}
