//! Proofs that no execution of a trace meets the axioms of a model: clauses, each shown by pairs
//! that would break an axiom or by unit propagation, the last one empty.

use cat::CatModel;
use cat::syntax::Test;
use evidence::file::{FileProof, FileWhy, Link};
use evidence::{Literal, Node};

use super::events::{Events, Id};
use super::links::ProofContext;
use super::mixed_sizes::MixedSizeRules;
use super::terms::Terms;
use super::{axiom_name, exists};
use crate::clauses::Clauses;
use crate::facts::Facts;
use crate::names;
use crate::proof::{is_literal, positive_order, someone_read_from_nobody};
use crate::rejection::{Fault, Rejection};

pub(super) fn check(
    model: &CatModel,
    terms: &Terms,
    mixed_sizes: &MixedSizeRules,
    events: &Events<'_>,
    proof: &FileProof,
) -> Result<(), Rejection> {
    let history = events.history;
    if proof.steps.last().is_none_or(|step| !step.clause.is_empty()) {
        return Err(Fault::NoEmptyClause.into());
    }
    let mut facts = Facts::new(history);
    let at = |step: usize| move |fault| Rejection { step: Some(step + 1), fault };
    let mut clauses = Vec::with_capacity(proof.steps.len());
    for (index, step) in proof.steps.iter().enumerate() {
        let clause: Vec<Literal> = step.clause.iter().map(|&l| positive_order(l)).collect();
        exists::clause(history, &clause).map_err(at(index))?;
        clause.iter().try_for_each(|&l| is_literal(&facts, l)).map_err(at(index))?;
        clauses.push(clause);
    }
    let mut proved = Clauses::new(clauses.iter().flatten().copied(), |reader| {
        facts.candidates(reader).map_or(0, <[_]>::len)
    });
    if someone_read_from_nobody(history) {
        proved.contradict();
    }
    for (index, (step, clause)) in proof.steps.iter().zip(&clauses).enumerate() {
        match &step.why {
            FileWhy::Propagation if proved.imply(clause) => {}
            FileWhy::Propagation => return Err(at(index)(Fault::NotPropagated)),
            FileWhy::Axiom { axiom, links } => {
                exists::links(history, links).map_err(at(index))?;
                facts.assume_false(clause);
                let known = ProofContext { terms, events, facts: &facts };
                breaks(model, &known, mixed_sizes, *axiom, links).map_err(at(index))?;
            }
        }
        proved.add(clause);
        facts.learn(clause);
    }
    Ok(())
}

/// Whether pairs are in the relation of an axiom and break it.
fn breaks(
    model: &CatModel,
    known: &ProofContext<'_>,
    mixed_sizes: &MixedSizeRules,
    number: usize,
    links: &[Link],
) -> Result<(), Fault> {
    let Some(axiom) = known.terms.axioms.get(number).filter(|axiom| !axiom.negated) else {
        return Err(Fault::NoSuchAxiom { number: number + 1 });
    };
    let name = || axiom_name(model, number);
    let Some(first) = links.first() else { return Err(Fault::EmptyCycle) };
    let is_broken = match axiom.test {
        Test::Acyclic => {
            let next = links.iter().cycle().skip(1);
            let events = known.events;
            let glued = events.are_parts() && mixed_sizes.is_about_wholes(number);
            links.iter().zip(next).all(|(link, next)| match glued {
                false => link.to == next.from,
                true => {
                    let step = (events.named(link.from), events.named(link.to));
                    mixed_sizes.continues(events, step, events.named(next.from))
                }
            })
        }
        Test::Irreflexive => links.len() == 1 && first.from == first.to,
        Test::Empty => links.len() == 1 && !known.terms.is_set(axiom.body),
    };
    if !is_broken {
        return Err(Fault::NotBroken { axiom: name() });
    }
    let unrelated = links.iter().find(|link| !known.relates(axiom.body, &walk(known.events, link)));
    match unrelated {
        None => Ok(()),
        Some(link) => {
            let node = |node: Node| names::node(known.events.history, node);
            Err(Fault::NotRelated { from: node(link.from), to: node(link.to), axiom: name() })
        }
    }
}

/// The events that a link passes.
pub(super) fn walk(events: &Events<'_>, link: &Link) -> Vec<Id> {
    let stops = std::iter::once(&link.from).chain(&link.through).chain([&link.to]);
    stops.map(|&node| events.named(node)).collect()
}
