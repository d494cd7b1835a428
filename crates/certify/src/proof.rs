//! Proofs of violation: clauses, each shown by a cycle or by unit propagation, the last one empty.
//!
//! A clause shown by a cycle says: were all its literals false, this cycle would close in a
//! relation that the model wants acyclic. What the cycle may use is in `facts`; what its edges
//! mean is the business of `store` and `causal::derivation`.

use evidence::{Atom, Cycle, Derived, Edge, Literal, Node, Proof, Why};
use history::{EventId, History};
use models::{Model, Rules};

use crate::clauses::Clauses;
use crate::facts::Facts;
use crate::rejection::{Fault, Rejection};
use crate::{causal, names, store};

/// Checks that the proof shows a violation of the model.
pub(crate) fn check(history: &History, model: Model, proof: &Proof) -> Result<(), Rejection> {
    if proof.steps.last().is_none_or(|step| !step.clause.is_empty()) {
        return Err(Fault::NoEmptyClause.into());
    }
    let mut facts = Facts::new(history);
    let at = |step: usize| move |fault| Rejection { step: Some(step + 1), fault };
    let mut clauses = Vec::with_capacity(proof.steps.len());
    for (index, step) in proof.steps.iter().enumerate() {
        let clause: Vec<Literal> = step.clause.iter().map(|&l| positive_order(l)).collect();
        clause.iter().try_for_each(|&l| makes_sense(&facts, model, l)).map_err(at(index))?;
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
            Why::Propagation if proved.imply(clause) => {}
            Why::Propagation => return Err(at(index)(Fault::NotPropagated)),
            Why::Cycle(cycle) => {
                facts.assume_false(clause);
                lemma(&facts, model, None, cycle).map_err(at(index))?;
            }
            Why::Derivation { derived, cycle } => {
                facts.assume_false(clause);
                lemma(&facts, model, Some(derived), cycle).map_err(at(index))?;
            }
        }
        proved.add(clause);
        facts.learn(clause);
    }
    Ok(())
}

/// "Not a before b" is "b before a".
pub(crate) fn positive_order(literal: Literal) -> Literal {
    match (literal.atom, literal.positive) {
        (Atom::Before(a, b), false) => Literal::before(b, a),
        _ => literal,
    }
}

fn makes_sense(facts: &Facts<'_>, model: Model, literal: Literal) -> Result<(), Fault> {
    match literal.atom {
        Atom::Before(..) if model.causal_rules().is_some() => {
            Err(Fault::OrderUnderCausal { model })
        }
        _ => is_literal(facts, literal),
    }
}

/// Whether a literal is about two writes of an address, or a reader and who may have written what it
/// read.
pub(crate) fn is_literal(facts: &Facts<'_>, literal: Literal) -> Result<(), Fault> {
    let history = facts.history;
    match literal.atom {
        Atom::Before(a, b) => {
            let writes = |e: EventId| history.event(e).is_write();
            let one_address = match history.mixed() {
                None => history.event(a).address() == history.event(b).address(),
                Some(_) => overlap(history, a, b),
            };
            if a != b && writes(a) && writes(b) && one_address {
                return Ok(());
            }
            let name = |e| names::event(history, e);
            Err(Fault::OrderOfNonWrites { a: name(a), b: name(b) })
        }
        Atom::Reads(reader, source) => {
            let name = || names::reader(history, reader);
            if facts.candidates(reader).is_none() {
                return Err(Fault::NotAReader { reader: name() });
            }
            if !facts.is_candidate(reader, source) {
                let source = names::source(history, source);
                return Err(Fault::NotACandidate { reader: name(), source });
            }
            Ok(())
        }
    }
}

/// Whether two accesses of mixed sizes have a cell in common.
fn overlap(history: &History, a: EventId, b: EventId) -> bool {
    let Some(mixed) = history.mixed() else { return false };
    let cells = |e| mixed.parts_of(e).map(|part| mixed.parts().address_of(part));
    cells(a).any(|cell| cell.is_some() && cells(b).any(|other| other == cell))
}

/// A value out of thin air violates every model: no candidate is left from the start.
pub(crate) fn someone_read_from_nobody(history: &History) -> bool {
    let history = history.mixed().map_or(history, |mixed| mixed.parts());
    history.event_ids().any(|e| history.event(e).is_read() && history.sources(e).is_empty())
        || history.finals().iter().any(|f| f.sources.is_empty())
}

fn lemma(
    facts: &Facts<'_>,
    model: Model,
    derived: Option<&[Derived]>,
    cycle: &Cycle,
) -> Result<(), Fault> {
    is_walk(facts.history, &cycle.edges)?;
    let ends = (cycle.edges.first().map(|e| e.from), cycle.edges.last().map(|e| e.to));
    match ends {
        (Some(first), Some(last)) if first == last => {}
        (Some(first), Some(last)) => return Err(gap(facts.history, last, first)),
        _ => return Err(Fault::EmptyCycle),
    }
    match (model.rules(), derived) {
        (Rules::Store(rules), None) => store::cycle(facts, model, rules, cycle),
        (Rules::Store(_), Some(_)) => Err(Fault::WrongEvidence { model }),
        (Rules::Causal(rules), derived) => {
            causal::derivation::check(facts, model, rules, derived.unwrap_or_default(), cycle)
        }
    }
}

/// Whether each edge begins where the one before it ends.
pub(crate) fn is_walk(history: &History, edges: &[Edge]) -> Result<(), Fault> {
    let broken = edges.windows(2).find(|pair| pair[0].to != pair[1].from);
    broken.map_or(Ok(()), |pair| Err(gap(history, pair[0].to, pair[1].from)))
}

pub(crate) fn gap(history: &History, after: Node, before: Node) -> Fault {
    Fault::Gap { after: names::node(history, after), before: names::node(history, before) }
}
