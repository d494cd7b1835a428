//! Accesses of mixed sizes under a model that is a file.
//!
//! An access is one event for each of its cells; relations are between these, and every condition
//! but that of locations is about whole accesses: a cycle may enter an access at one cell and leave
//! it at another. Which condition is that of locations the shape of the model says, so models of
//! another shape are not judged.
//!
//! Cheapest first: the order of the lines, if it is an interleaving of whole accesses, which every
//! model of the shape allows; the parts, which the engines for plain addresses refute; the search,
//! for short traces.

use cat::{Location, Path, Shape, Step, Witness};
use evidence::file::{FileEvidence, FileWhy};
use evidence::{Node, Verdict};
use history::{EventId, History, Mixed, Source};
use models::Model;

use super::problem::MixedSizeProblem;
use super::{replay, translate};
use crate::by_file::{by_search, by_trying};
use crate::{Budget, DecidedBy, FileJudgement, FileOutcome, ModelFile, Reason, Undecided, store};

/// The longest history, in parts, that the search is tried on.
const MOST_PARTS: usize = 300;

/// The most events, with the initial write of each cell, that the kernel compares one by one.
const MOST_CERTIFIED: usize = 1_600;

/// Whether a history of mixed sizes satisfies the model of a file.
pub(crate) fn decide(
    history: &History,
    mixed: &Mixed,
    file: &ModelFile,
    budget: &Budget,
) -> FileJudgement {
    // Conditions on threads that make locations coherent would have to be about parts, too.
    let is_by_parts = |shape: &&Shape| !matches!(shape.location, Location::Together(_));
    let Some(shape) = file.shape.as_ref().ok().filter(is_by_parts) else {
        let why = "the trace has overlapping accesses of different sizes, and the model has other \
                   conditions than coherence, atomicity and one global order; such models are not \
                   judged on mixed sizes";
        return open(Reason::Engine(why.into()));
    };
    if let Some(witness) = recorded(history, mixed).filter(|_| !keeps_real_time(history, shape)) {
        return certified(mixed, shape, Verdict::Holds(witness), DecidedBy::Recorded);
    }
    if let Some(refuted) = refuted(history, mixed, file, shape, budget) {
        return refuted;
    }
    if mixed.parts().len() > MOST_PARTS {
        let why = format!(
            "the trace has overlapping accesses of different sizes; under a model file such traces \
             are searched up to {MOST_PARTS} parts of accesses, and this one has {}",
            mixed.parts().len()
        );
        return open(Reason::Engine(why));
    }
    certified(mixed, shape, by_search(history, file, budget), DecidedBy::Choices)
}

/// A verdict about parts as one about accesses, with its evidence.
fn certified(
    mixed: &Mixed,
    shape: &Shape,
    outcome: FileOutcome,
    decided_by: DecidedBy,
) -> FileJudgement {
    let evidence = by_trying(mixed.parts(), &outcome).filter(|e| is_certifiable(mixed, shape, e));
    let outcome = match outcome {
        Verdict::Holds(witness) => Verdict::Holds(of_accesses(mixed, &witness)),
        other => other,
    };
    FileJudgement { outcome, decided_by, proof: None, evidence }
}

/// Whether the kernel evaluates the model on such a trace. It compares parts one by one, and does not
/// know a condition of locations in which reads may swap.
fn is_certifiable(mixed: &Mixed, shape: &Shape, evidence: &FileEvidence) -> bool {
    let parts = mixed.parts();
    let atomics = parts.event_ids().filter(|&part| parts.event(part).is_atomic()).count();
    let fits = parts.address_count() + parts.len() + atomics <= MOST_CERTIFIED;
    !shape.location_swaps_reads && (fits || matches!(evidence, FileEvidence::Violation(_)))
}

fn open(reason: Reason) -> FileJudgement {
    let outcome = Verdict::Undecided(Undecided { reason, established: String::new() });
    FileJudgement { outcome, decided_by: DecidedBy::Choices, proof: None, evidence: None }
}

/// Whether interleavings have to follow the times of the trace.
fn keeps_real_time(history: &History, shape: &Shape) -> bool {
    let is_time = |path: &Path| path.steps.iter().any(|(step, _)| *step == Step::RealTime);
    history.has_times() && shape.global.iter().any(|global| global.kept.iter().any(is_time))
}

/// What the engines for plain addresses refute of the parts is impossible, unless the proof needs the
/// parts of an access to be in program order, as the engines take them to be.
fn refuted(
    history: &History,
    mixed: &Mixed,
    file: &ModelFile,
    shape: &Shape,
    budget: &Budget,
) -> Option<FileJudgement> {
    // Otherwise program order between parts of a read would say too much.
    file.model.own_steps_reach_reads().then_some(())?;
    let said = store::by_shape::decide(mixed.parts(), Some(mixed), &file.model, shape, budget)?;
    let Verdict::Broken(_) = said.outcome else { return None };
    if said.evidence.is_none() && parts_may_mislead(mixed, shape) {
        return None;
    }
    let evidence = said.evidence.map(|evidence| between_accesses(mixed, evidence));
    let evidence = evidence.or_else(|| by_trying(mixed.parts(), &said.outcome));
    let evidence = evidence.filter(|evidence| is_certifiable(mixed, shape, evidence));
    let proof = said.proof.map(|proof| translate::of_accesses(history, mixed, proof));
    Some(FileJudgement { proof, evidence, ..said })
}

/// Whether parts in program order may be ordered as their accesses are not: an atomic of several
/// parts is two nodes, and its write would come before its read; and a path that stops at one part
/// would lead to another part of the same access.
fn parts_may_mislead(mixed: &Mixed, shape: &Shape) -> bool {
    let parts = mixed.parts();
    let is_cut = |part: EventId| mixed.parts_of(mixed.access_of(part)).len() > 1;
    let mut atomics = parts.event_ids().filter(|&part| parts.event(part).is_atomic());
    let mut paths = shape.global.iter().flat_map(|global| &global.kept);
    atomics.any(is_cut) || paths.any(|path| path.steps.len() > 1)
}

/// A proof without the steps within an access, which is one node of every cycle but those of
/// locations, where there are none. From the read to the write of an atomic it is a step of one cell.
fn between_accesses(mixed: &Mixed, mut evidence: FileEvidence) -> FileEvidence {
    let access = |node: Node| match node {
        Node::Event(part) => Some((mixed.access_of(part), true)),
        Node::ReadOf(part) => Some((mixed.access_of(part), false)),
        Node::Initial(_) => None,
    };
    if let FileEvidence::Violation(proof) = &mut evidence {
        for step in &mut proof.steps {
            if let FileWhy::Axiom { links, .. } = &mut step.why {
                links.retain(|link| {
                    access(link.from).is_none() || access(link.from) != access(link.to)
                });
                for link in links {
                    if let (Node::ReadOf(read), Node::Event(write)) = (link.from, link.to)
                        && mixed.access_of(read) == mixed.access_of(write)
                    {
                        link.to = Node::Event(read);
                    }
                }
            }
        }
    }
    evidence
}

/// The order of the lines, as a witness of parts, if it is an interleaving of whole accesses. Models of the shape keep
/// parts of program order, so they allow all interleavings; only the accesses of a pair have to be
/// looked at, since others may come between them.
fn recorded(history: &History, mixed: &Mixed) -> Option<Witness> {
    let rules = Model::Sc.store_rules()?;
    let glued = MixedSizeProblem::new(history, mixed, rules).ok()?;
    let mut order = history.recorded_order();
    order.retain(|&event| history.address_of(event).is_some());
    if !replay::explains(&glued, &order) || !pairs_are_whole(history, mixed, &order) {
        return None;
    }
    let parts = mixed.parts();
    let mut writes: Vec<Vec<EventId>> = vec![Vec::new(); parts.address_count()];
    let mut reads_from = Vec::new();
    for part in order.iter().flat_map(|&access| mixed.parts_of(access)) {
        let Some(cell) = parts.address_of(part) else { continue };
        if parts.kinds_of(part).reads {
            let last = writes[cell.index()].last();
            reads_from.push((part, last.map_or(Source::Initial, |&write| Source::Write(write))));
        }
        if parts.kinds_of(part).writes {
            writes[cell.index()].push(part);
        }
    }
    Some(Witness { reads_from, write_orders: writes })
}

/// Whether no other thread writes what a load-reserved read before its store-conditional does.
fn pairs_are_whole(history: &History, mixed: &Mixed, order: &[EventId]) -> bool {
    if history.pairs().is_empty() {
        return true;
    }
    let parts = mixed.parts();
    let mut position = vec![0usize; history.len()];
    for (at, event) in order.iter().enumerate() {
        position[event.index()] = at;
    }
    history.pairs().iter().all(|&(store, load)| {
        mixed.parts_of(load).filter_map(|part| parts.address_of(part)).all(|cell| {
            let between = |&write: &EventId| {
                let write = mixed.access_of(write);
                let at = position[write.index()];
                position[load.index()] < at
                    && at < position[store.index()]
                    && history.thread_of(write) != history.thread_of(store)
            };
            !parts.address(cell).writes.iter().any(between)
        })
    })
}

/// A witness of parts in terms of their accesses: the sources of all parts of a read one after the
/// other, and the order of the writes of each cell.
fn of_accesses(mixed: &Mixed, witness: &Witness) -> Witness {
    let access = |part: EventId| mixed.access_of(part);
    let reads = witness.reads_from.iter().map(|&(part, source)| {
        let source = match source {
            Source::Initial => Source::Initial,
            Source::Write(write) => Source::Write(access(write)),
        };
        (access(part), source)
    });
    let orders = witness.write_orders.iter();
    Witness {
        reads_from: reads.collect(),
        write_orders: orders.map(|order| order.iter().map(|&w| access(w)).collect()).collect(),
    }
}
