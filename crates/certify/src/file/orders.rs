//! Whether a long execution meets the axioms of a model: numbers that grow along each relation that
//! must not have a cycle.
//!
//! Two sets of numbers are tried. The order of a certificate, in which fences follow what stands
//! before them in their thread; and for each address the place of the write that an access made or
//! read, which is an order that coherence follows if anything does.

use cat::syntax::Test;
use evidence::file::Execution;
use history::Kinds;

use super::execution::{NONE, Run};
use super::flow::Flow;
use super::terms::{AxiomTerm, Term, TermId, Terms};

/// Whether an axiom is met.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum AxiomStatus {
    Yes,
    No,
    /// It is of a form that is not evaluated for long executions.
    Unknown,
}

/// The first axiom that is not known to be met, by its number.
pub(super) fn unmet(
    terms: &Terms,
    run: &Run<'_>,
    execution: &Execution,
) -> Option<(usize, AxiomStatus)> {
    let flow = Flow::new(terms, run);
    let numbers = [by_order(run, execution), by_address(run)];
    let check = |axiom: &AxiomTerm| flow.check(axiom, &numbers);
    let numbered = terms.axioms.iter().enumerate();
    numbered.map(|(number, axiom)| (number, check(axiom))).find(|&(_, met)| met != AxiomStatus::Yes)
}

impl Flow<'_> {
    fn check(&self, axiom: &AxiomTerm, numbers: &[Vec<u64>]) -> AxiomStatus {
        let of = |holds: Option<bool>| match holds {
            Some(true) => AxiomStatus::Yes,
            Some(false) => AxiomStatus::No,
            None => AxiomStatus::Unknown,
        };
        if axiom.negated {
            return AxiomStatus::Unknown;
        }
        match axiom.test {
            Test::Empty => of(self.is_empty(axiom.body)),
            // Numbers that grow along a relation also show that nothing is related to itself.
            Test::Acyclic | Test::Irreflexive => {
                if let (Test::Acyclic, Some(true)) = (axiom.test, self.is_acyclic(axiom.body)) {
                    return AxiomStatus::Yes;
                }
                let mut met = AxiomStatus::No;
                for numbers in numbers {
                    match of(self.grows(axiom.body, numbers)) {
                        AxiomStatus::Yes => return AxiomStatus::Yes,
                        AxiomStatus::Unknown => met = AxiomStatus::Unknown,
                        AxiomStatus::No => {}
                    }
                }
                met
            }
        }
    }

    fn is_empty(&self, term: TermId) -> Option<bool> {
        if self.terms.is_set(term) {
            return Some(!self.members(term)?.contains(&true));
        }
        if let Some(pairs) = self.pairs(term) {
            return Some(pairs.is_empty());
        }
        let everywhere = vec![1u64; self.run.events.len()];
        Some(self.image(term, &everywhere, false)?.iter().all(|&number| number == 0))
    }

    /// Whether numbers grow along a relation.
    fn grows(&self, term: TermId, numbers: &[u64]) -> Option<bool> {
        match self.terms.get(term) {
            Term::Union(a, b) => Some(self.grows(a, numbers)? && self.grows(b, numbers)?),
            // Along steps that grow, walks of any length do.
            Term::Plus(inner) => self.grows(inner, numbers),
            _ => match self.image(term, numbers, false) {
                Some(image) => Some(image.iter().zip(numbers).all(|(before, own)| before < own)),
                None => match self.terms.get(term) {
                    Term::Sequence(a, b) => {
                        let both = self.grows(a, numbers)? && self.grows(b, numbers)?;
                        both.then_some(true)
                    }
                    _ => None,
                },
            },
        }
    }
}

/// By the order of a certificate.
fn by_order(run: &Run<'_>, execution: &Execution) -> Vec<u64> {
    let (events, history) = (run.events, run.events.history);
    // Between two places there is room for fences; initial writes come first.
    let place = |at: usize| (at as u64 + 1) << 32;
    let mut numbers: Vec<u64> = events.ids().map(|id| id as u64 + 1).collect();
    let mut is_placed = vec![false; history.len()];
    for (at, &event) in execution.order.iter().enumerate() {
        let parts = events.parts(event);
        // The first mention is where an atomic reads. Once mentioned, it writes right behind it.
        if !is_placed[event.index()] {
            is_placed[event.index()] = true;
            numbers[parts.start] = place(at);
            numbers[parts.end - 1] = place(at) + (parts.len() as u64 - 1);
        } else {
            numbers[parts.end - 1] = place(at);
        }
    }
    for thread in history.threads() {
        let mut latest = events.len() as u64;
        for event in history.thread_events(thread) {
            if history.kinds_of(event) == Kinds::NONE {
                latest += 2;
                numbers[events.parts(event).start] = latest;
            }
            events.parts(event).for_each(|part| latest = latest.max(numbers[part]));
        }
    }
    numbers
}

/// By the place of the write that an access made or read.
fn by_address(run: &Run<'_>) -> Vec<u64> {
    let number = |id: usize| match (run.source[id], run.place[id]) {
        (NONE, NONE) => id as u64 + 1,
        (NONE, place) => (u64::from(place) + 1) << 32,
        (write, _) => ((u64::from(run.place[write as usize]) + 1) << 32) + id as u64 + 1,
    };
    run.events.ids().map(number).collect()
}
