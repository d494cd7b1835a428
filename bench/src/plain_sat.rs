//! The baseline of gradual-consistency-checking (§5): sc and tso as plain propositional logic,
//! without saturation.
//!
//! The paper names "a standard encoding" without writing it down; this is the usual one. Every
//! unordered pair of events of an order gets a variable, `before(a, b)`; every triple gets the
//! clauses of transitivity; pairs that the model keeps of program order are constants, reads-from
//! is given as unit clauses, and from-reads as implications: if r reads w, then `before(w, w')`
//! implies `before(r, w')`. For sc one order of all events is asked for; for tso one that keeps
//! program order but for store–load pairs, and one order of each address's events that keeps all
//! of program order and agrees on writes. O(n²) variables and O(n³) clauses. It shares no code
//! with the engines. Needs unique values, and no `order` or `final` lines.

use std::time::Instant;

use batsat::{BasicCallbacks, BasicSolver, Lit, SolverInterface, SolverOpts, lbool};
use history::{AddressId, EventId, History, Kinds, Operation, Source};
use models::Model;

/// What the solver said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    /// The history satisfies the model.
    Consistent,
    /// It violates the model.
    Violation,
    /// The time ran out.
    OutOfTime,
}

/// Decides `sc` or `tso`; other models are taken for `tso`.
pub(crate) fn decide(history: &History, model: Model, deadline: Instant) -> Answer {
    let mut callbacks = BasicCallbacks::new();
    callbacks.set_stop(move || Instant::now() >= deadline);
    let mut encoding = Encoding {
        solver: BasicSolver::new(SolverOpts::default(), callbacks),
        clause: Vec::new(),
        deadline,
    };
    let answer = if encoding.history(history, model) {
        encoding.solver.solve_limited(&[])
    } else {
        lbool::UNDEF
    };
    match answer {
        answer if answer == lbool::TRUE => Answer::Consistent,
        answer if answer == lbool::FALSE => Answer::Violation,
        _ => Answer::OutOfTime,
    }
}

struct Encoding {
    solver: BasicSolver,
    clause: Vec<Lit>,
    deadline: Instant,
}

/// Whether one event comes before another: known, or a literal.
#[derive(Clone, Copy)]
enum Before {
    Known(bool),
    Open(Lit),
}

impl std::ops::Not for Before {
    type Output = Before;

    fn not(self) -> Before {
        match self {
            Before::Known(value) => Before::Known(!value),
            Before::Open(literal) => Before::Open(!literal),
        }
    }
}

/// A total order to be found.
struct Order {
    events: Vec<EventId>,
    /// `before[a * n + b]`, by position in `events`.
    before: Vec<Before>,
    /// Which pairs are known and have no third event known to be between. Transitivity over the
    /// other known pairs follows from these.
    adjacent: Vec<bool>,
}

impl Order {
    fn get(&self, a: usize, b: usize) -> Before {
        self.before[a * self.events.len() + b]
    }

    /// Whether transitivity has something new to say about this pair.
    fn counts(&self, a: usize, b: usize) -> bool {
        matches!(self.get(a, b), Before::Open(_)) || self.adjacent[a * self.events.len() + b]
    }

    fn find_adjacent(&mut self) {
        let count = self.events.len();
        let known = |a: usize, b: usize| matches!(self.get(a, b), Before::Known(true));
        let mut adjacent = vec![false; count * count];
        for a in 0..count {
            for b in (a + 1..count).filter(|&b| known(a, b)) {
                adjacent[a * count + b] = !(a + 1..b).any(|c| known(a, c) && known(c, b));
            }
        }
        self.adjacent = adjacent;
    }

    fn position(&self, event: EventId) -> Option<usize> {
        self.events.binary_search(&event).ok()
    }

    fn between(&self, a: EventId, b: EventId) -> Option<Before> {
        Some(self.get(self.position(a)?, self.position(b)?))
    }
}

impl Encoding {
    /// Encodes a history; false if time ran out on the way.
    fn history(&mut self, history: &History, model: Model) -> bool {
        let all: Vec<EventId> =
            history.event_ids().filter(|&e| history.address_of(e).is_some()).collect();
        let sequential = model == Model::Sc;
        let keeps = |a, b| if sequential { true } else { keeps_tso(history, a, b) };
        let Some(memory) = self.order(history, all, keeps) else { return false };
        self.reads(history, &memory, |read, write| {
            sequential || history.thread_of(read) != history.thread_of(write)
        });
        if !sequential {
            for address in history.address_ids() {
                let Some(location) = self.location(history, address) else { return false };
                self.agree_on_writes(history, &memory, &location);
            }
        }
        true
    }

    /// The order of one address's events.
    fn location(&mut self, history: &History, address: AddressId) -> Option<Order> {
        let here = history.event_ids().filter(|&e| history.address_of(e) == Some(address));
        let location = self.order(history, here.collect(), |_, _| true)?;
        self.reads(history, &location, |_, _| true);
        Some(location)
    }

    /// Variables and transitivity of an order; `None` if time ran out.
    fn order(
        &mut self,
        history: &History,
        events: Vec<EventId>,
        keeps: impl Fn(EventId, EventId) -> bool,
    ) -> Option<Order> {
        let count = events.len();
        let mut before = vec![Before::Known(false); count * count];
        for a in 0..count {
            for b in a + 1..count {
                // Events are numbered thread by thread, so `a` is the earlier one of a thread.
                let kept =
                    history.program_order(events[a], events[b]) && keeps(events[a], events[b]);
                let known = if kept {
                    Before::Known(true)
                } else {
                    Before::Open(Lit::new(self.solver.new_var_default(), true))
                };
                before[a * count + b] = known;
                before[b * count + a] = !known;
            }
        }
        let mut order = Order { events, before, adjacent: Vec::new() };
        order.find_adjacent();
        self.transitive(&order).then_some(order)
    }

    fn transitive(&mut self, order: &Order) -> bool {
        let count = order.events.len();
        for a in 0..count {
            if Instant::now() >= self.deadline {
                return false;
            }
            for b in a + 1..count {
                for c in b + 1..count {
                    if !(order.counts(a, b) && order.counts(b, c) && order.counts(a, c)) {
                        continue;
                    }
                    let (ab, bc, ac) = (order.get(a, b), order.get(b, c), order.get(a, c));
                    self.clause([!ab, !bc, ac]);
                    self.clause([ab, bc, !ac]);
                }
            }
        }
        true
    }

    /// Reads-from where `counts` says so, and from-reads.
    fn reads(
        &mut self,
        history: &History,
        order: &Order,
        counts: impl Fn(EventId, EventId) -> bool,
    ) {
        for &read in &order.events {
            let (Some(source), Some(address)) =
                (history.only_source(read), history.address_of(read))
            else {
                continue;
            };
            if let Source::Write(write) = source
                && counts(read, write)
                && let Some(before) = order.between(write, read)
            {
                self.clause([before]);
            }
            for &other in &history.address(address).writes {
                self.reads_before(order, read, source, other);
            }
        }
    }

    /// If `read` reads `source` and `source` comes before `other`, so does `read`.
    fn reads_before(&mut self, order: &Order, read: EventId, source: Source, other: EventId) {
        if other == read || source == Source::Write(other) {
            return;
        }
        let Some(then) = order.between(read, other) else { return };
        match source {
            Source::Initial => self.clause([then]),
            Source::Write(write) => {
                if let Some(before) = order.between(write, other) {
                    self.clause([!before, then]);
                }
            }
        }
    }

    fn agree_on_writes(&mut self, history: &History, memory: &Order, location: &Order) {
        let writes: Vec<EventId> = location
            .events
            .iter()
            .copied()
            .filter(|&e| history.kinds_of(e).meets(Kinds::WRITES))
            .collect();
        for (at, &a) in writes.iter().enumerate() {
            for &b in &writes[at + 1..] {
                if let (Some(one), Some(other)) = (memory.between(a, b), location.between(a, b)) {
                    self.clause([!one, other]);
                    self.clause([one, !other]);
                }
            }
        }
    }

    /// Adds a clause, unless a known literal makes it true.
    fn clause<const N: usize>(&mut self, literals: [Before; N]) {
        self.clause.clear();
        for literal in literals {
            match literal {
                Before::Known(true) => return,
                Before::Known(false) => {}
                Before::Open(literal) => self.clause.push(literal),
            }
        }
        self.solver.add_clause_reuse(&mut self.clause);
    }
}

/// Whether tso keeps two events of a thread in order: all but a write and a later read, unless a
/// fence between them says so.
fn keeps_tso(history: &History, a: EventId, b: EventId) -> bool {
    let (first, second) = (history.kinds_of(a), history.kinds_of(b));
    if first.meets(Kinds::READS) || second.meets(Kinds::WRITES) {
        return true;
    }
    (a.index()..b.index()).any(|between| match history.event(EventId::new(between)).operation {
        Operation::Fence { before, after } => before.meets(first) && after.meets(second),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use oracle::{Shape, allows, random_histories};
    use std::time::Duration;

    #[test]
    fn the_baseline_agrees_with_brute_force() {
        let mut answers = [0; 4];
        for (seed, history) in random_histories(&Shape::rich(), 0..3000) {
            if !history.is_unambiguous()
                || !history.finals().is_empty()
                || !history.orders().is_empty()
            {
                continue;
            }
            for (m, model) in [Model::Sc, Model::Tso].into_iter().enumerate() {
                let deadline = Instant::now() + Duration::from_secs(60);
                let expected = allows(&history, model);
                let found = decide(&history, model, deadline);
                let shown = oracle::text(&history);
                assert_eq!(found == Answer::Consistent, expected, "seed {seed} {model}\n{shown}");
                answers[2 * m + usize::from(expected)] += 1;
            }
        }
        assert!(answers.iter().all(|count| *count > 50), "one-sided: {answers:?}");
    }
}
