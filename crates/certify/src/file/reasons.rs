//! Which lines of a model relate two events: for those who explain, not for the kernel.

use cat::CatModel;
use cat::syntax::Place;
use evidence::Literal;
use evidence::file::Link;
use history::History;

use super::events::Events;
use super::links::ProofContext;
use super::proof::walk;
use super::terms::Terms;
use crate::facts::Facts;

/// A model and a trace, with what the steps of a proof have shown so far.
pub struct Reasons<'a> {
    terms: Option<Terms>,
    events: Events<'a>,
    facts: Facts<'a>,
}

impl<'a> Reasons<'a> {
    /// With nothing shown yet. Of mixed sizes, links and clauses are those of parts.
    pub fn new(history: &'a History, model: &CatModel) -> Self {
        let events = Events::new(history);
        let facts = Facts::new(events.history);
        Reasons { terms: Terms::of(model).ok(), events, facts }
    }

    /// For each link of a step, the members of unions by which it is in the relation of its axiom,
    /// from the outside in: where each of them is written.
    pub fn of(&mut self, axiom: usize, links: &[Link], clause: &[Literal]) -> Vec<Vec<Place>> {
        self.facts.assume_false(clause);
        let none = || vec![Vec::new(); links.len()];
        let Some(terms) = &self.terms else { return none() };
        let Some(axiom) = terms.axioms.get(axiom) else { return none() };
        let known = ProofContext { terms, events: &self.events, facts: &self.facts };
        let places = |link: &Link| {
            let members = known.reasons(axiom.body, &walk(&self.events, link));
            members.into_iter().map(|(union, side)| terms.places(union)[side]).collect()
        };
        links.iter().map(places).collect()
    }

    /// A step is shown.
    pub fn learn(&mut self, clause: &[Literal]) {
        self.facts.learn(clause);
    }
}
