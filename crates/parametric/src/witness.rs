//! A second attempt to prove invariants that ask for *some* processor, by witnesses (transformation T17
//! of docs/abstraction.md).
//!
//! If the abstraction leaves such invariants undecided, the possible ways to claim them by witnesses are
//! tried on a small instance, which is cheap. The first way that holds there is claimed for any number of
//! processors, starting with the lemmas of the first attempt. If it fails, that says nothing about the
//! protocol, and the result of the first attempt stands.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use abstraction::{Prepared, View, Witness, possible_witnesses, with_processors, with_witnesses};
use explore::{Deadlock, Progress};
use murphi::interpret::Interpreter;
use murphi::print::print;
use murphi::source::Source;
use refine::Verdict;

use crate::carry_out::with_lemmas;
use crate::outcome::ClaimProof;
use crate::plan::Claim;
use crate::question::{Listener, Question};

/// The size of the instance in which a way to claim an invariant is tried: processors, and states.
const PROCESSORS: u64 = 3;
const STATES: u64 = 200_000;

/// How many times larger than without witnesses an abstraction may become.
const MORE_STATES: u64 = 10;

/// Proves the claim again with witnesses, if it left invariants undecided.
pub(crate) fn by_witnesses(
    question: &Question<'_>,
    shown: ClaimProof,
    listener: &mut Listener<'_>,
    interrupt: &AtomicBool,
) -> ClaimProof {
    if !shown.holds() || shown.found.left_out.is_empty() {
        return shown;
    }
    let mut attempt = Attempt { question, listener, interrupt };
    let open = &shown.found.left_out;
    let chosen: Vec<Vec<Witness>> =
        open.iter().filter_map(|name| attempt.chosen(&shown.claim.prepared, name)).collect();
    attempt.shown(&shown, &chosen.concat()).unwrap_or(shown)
}

struct Attempt<'a, 'b> {
    question: &'a Question<'a>,
    listener: &'a mut Listener<'b>,
    interrupt: &'a AtomicBool,
}

impl Attempt<'_, '_> {
    /// A witness for each `exists` of an invariant, such that the claim holds in a small instance.
    fn chosen(&mut self, prepared: &Prepared, invariant: &str) -> Option<Vec<Witness>> {
        let sites = possible_witnesses(prepared, invariant);
        let chosen: Option<Vec<Witness>> = sites
            .iter()
            .map(|ways| ways.iter().find(|way| self.holds_in_small(prepared, way)).cloned())
            .collect();
        chosen.filter(|chosen| !chosen.is_empty())
    }

    /// Whether a way to claim one `exists` holds in a small instance.
    fn holds_in_small(&mut self, prepared: &Prepared, way: &Witness) -> bool {
        let Ok(prepared) = with_witnesses(prepared, std::slice::from_ref(way)) else {
            return false;
        };
        let program = with_processors(&prepared.program, &prepared.processor, PROCESSORS);
        let refinement = self.question.refinement(Default::default(), &[]);
        let name = format!("{} with {PROCESSORS} processors", self.question.source.name);
        let source = Source { name, text: print(&program) };
        let Ok(checked) = murphi::load(source, &refinement.language) else { return false };
        let Ok(interpreter) = Interpreter::new(Arc::new(checked.model)) else { return false };
        let search =
            explore::Options { states: Some(STATES), deadlock: Deadlock::Off, ..refinement.search };
        let task = format!("a witness for \"{}\"", way.invariant);
        let listener = &mut self.listener;
        let mut progress = |now: &Progress| listener(&task, now);
        let symmetry = refinement.symmetry;
        let found = refine::explore(&interpreter, &search, symmetry, &mut progress, self.interrupt);
        !matches!(found.verdict, explore::Verdict::Broken(_))
    }

    /// The proof with witnesses, if it leaves fewer invariants undecided.
    fn shown(&mut self, before: &ClaimProof, witnesses: &[Witness]) -> Option<ClaimProof> {
        if witnesses.is_empty() {
            return None;
        }
        let prepared = with_witnesses(&before.claim.prepared, witnesses).ok()?;
        let named = self.question.named && prepared.stores_several_processors();
        let views = vec![View { concrete: before.view.concrete, named }];
        let claim = Claim { prepared, views, ..before.claim.clone() };
        // The limit is a number of states and not a time, so that the verdict is the same on every
        // machine.
        let states = before.found.exploration.as_ref().map_or(0, |last| last.states);
        let mut options = self.question.options.clone();
        let most = MORE_STATES.saturating_mul(states).saturating_add(STATES);
        options.search.states = Some(options.search.states.map_or(most, |given| given.min(most)));
        let question = Question { options: &options, ..*self.question };
        let lemmas: Vec<_> = before.found.lemmas.iter().map(|kept| kept.lemma.clone()).collect();
        let (view, mut found) =
            with_lemmas(&question, &claim, &lemmas, self.listener, self.interrupt).ok()?;
        let is_better = matches!(found.verdict, Verdict::Holds(()))
            && found.left_out.len() < before.found.left_out.len();
        for open in &mut found.left_out {
            let by = claim.prepared.witnessed.iter().find(|(_, by)| by == open);
            if let Some((invariant, _)) = by {
                open.clone_from(invariant);
            }
        }
        let (via, witnesses) = (before.via.clone(), witnesses.to_vec());
        is_better.then_some(ClaimProof { claim, found, view, via, witnesses })
    }
}
