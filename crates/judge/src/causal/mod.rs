//! Causal models.

mod atomic;
mod check;
mod choices;
mod clocks;
mod explain;
mod guess;
mod kept;
mod observe;
mod operations;
mod outlook;
mod queue;
mod relation;
mod search;
mod store_order;

use evidence::{Proof, Reader, Step, Why, Witness};
use history::{EventId, History, Source};
use models::{CausalRules, Model};

use crate::{Budget, DecidedBy, Outcome, Reason, Stats, Undecided, Verdict};
use check::{Established, Problem};
use choices::{ambiguous, has_thin_air, sources};
use operations::{From, Op, ReadsFrom};
use search::{Found, search};

/// Decides whether a history satisfies a causal model.
pub(crate) fn decide(
    history: &History,
    model: Model,
    rules: CausalRules,
    budget: &Budget,
) -> Verdict {
    let mut stats = Stats::default();
    let outcome = if has_thin_air(history) {
        Outcome::Violation(no_candidate())
    } else {
        let problem = Problem::new(history, rules);
        let (found, effort) = search(&problem, budget);
        (stats.decisions, stats.conflicts) = (effort.decisions, effort.conflicts);
        match found {
            Found::Choice(reads_from, established) => {
                stats.inferred_edges = established.derived;
                Outcome::Consistent(witness(&problem, &reads_from, established))
            }
            Found::Refuted(proof) => Outcome::Violation(proof),
            Found::Spent(reason) => {
                Outcome::Undecided(Undecided { reason, established: String::new() })
            }
        }
    };
    Verdict { model, outcome, decided_by: DecidedBy::Causal, stats }
}

/// That every reader has a candidate is an axiom; where there is none, it is the empty clause.
fn no_candidate() -> Proof {
    Proof { steps: vec![Step { clause: Vec::new(), why: Why::Propagation }] }
}

fn witness(problem: &Problem<'_>, reads_from: &ReadsFrom, established: Established) -> Witness {
    let reads = chosen(problem, reads_from);
    if problem.rules.store_order {
        return Witness::Choices(reads);
    }
    if problem.rules.memory {
        return match views(problem, reads_from, &established.views) {
            Some(views) => Witness::Views { views, reads },
            None => Witness::Choices(reads),
        };
    }
    let has_atomics = problem.history.events().iter().any(|event| event.is_atomic());
    if problem.rules.convergent && !has_atomics {
        let order = established.order.into_iter().map(|op| problem.ops.event(op)).collect();
        return Witness::Arbitration { order, reads };
    }
    Witness::Choices(reads)
}

/// What each ambiguous reader read; one that the model does not ask about, anything.
fn chosen(problem: &Problem<'_>, reads_from: &ReadsFrom) -> Vec<(Reader, Source)> {
    let history = problem.history;
    ambiguous(history)
        .map(|reader| {
            let from = match reader {
                Reader::Event(event) => reads_from.source(problem.ops.read_of(event)),
                Reader::Final(address) => (history.finals().iter().zip(&reads_from.finals))
                    .find(|(line, _)| line.address == address)
                    .map_or(From::Open, |(_, &from)| from),
            };
            let source = match from {
                From::Write(write) => Source::Write(problem.ops.event(write)),
                From::Initial => Source::Initial,
                From::Open => sources(history, reader)[0],
            };
            (reader, source)
        })
        .collect()
}

/// The views as events: all writes, and the reads of the thread itself. A read-modify-write of the
/// thread stands where it read or, failing that, where it wrote. `cm` does not ask for it to be
/// atomic, so it may be that neither will do; then there are no such views.
fn views(
    problem: &Problem<'_>,
    reads_from: &ReadsFrom,
    views: &[Vec<Op>],
) -> Option<Vec<Vec<EventId>>> {
    let ops = &problem.ops;
    let mut memory = vec![From::Initial; problem.history.address_count()];
    let mut all = Vec::with_capacity(views.len());
    for (thread, view) in views.iter().enumerate() {
        let own = |op: Op| ops.thread(op) == thread;
        let placed = [true, false].into_iter().find_map(|halves_at_read| {
            let stands = |&op: &Op| match ops.is_half(op) && own(op) {
                true => ops.is_write(op) != halves_at_read,
                false => own(op) || ops.is_write(op),
            };
            let order: Vec<Op> = view.iter().copied().filter(stands).collect();
            explains(problem, reads_from, thread, &order, &mut memory).then_some(order)
        })?;
        all.push(placed.into_iter().map(|op| ops.event(op)).collect());
    }
    Some(all)
}

/// Whether each read of the thread sees what it read, in this order.
fn explains(
    problem: &Problem<'_>,
    reads_from: &ReadsFrom,
    thread: usize,
    view: &[Op],
    memory: &mut [From],
) -> bool {
    let ops = &problem.ops;
    let mut is_explained = true;
    for &op in view {
        let cell = &mut memory[ops.address(op).index()];
        let event = ops.event(op);
        if ops.thread(op) == thread && problem.history.event(event).is_read() {
            is_explained &= reads_from.source(ops.read_of(event)) == *cell;
        }
        if problem.history.event(event).is_write() {
            *cell = From::Write(ops.write_of(event));
        }
    }
    for &op in view {
        memory[ops.address(op).index()] = From::Initial;
    }
    is_explained
}
