//! Claims that are enough for the memory model and are about one address at a time.
//!
//! They are tried before observers that look at all addresses of the model: one address stands for
//! all, so that they take no longer with many addresses than with one, and the answer is for any
//! number of them. One that fails says nothing about the protocol, and neither does one that cannot
//! be tried.
//!
//! Addresses are abstracted first and processors of what comes out of it then. What a processor does
//! at another address may need lemmas of its own. They are found where there are a few processors,
//! and what they claim of the address in view is claimed for any number of them in the end.

use std::sync::atomic::AtomicBool;

use abstraction::{
    Exclusion, Prepared, View, by_address, exclusion_program, find_processor, of_one_address,
    one_address, possible_exclusions, prepare, with_processors,
};
use explore::Progress;
use murphi::ast::Program;
use refine::{Kept, Verdict};

use crate::carry_out::refined;
use crate::outcome::{AddressProof, Addresses, Excluded, Shown, Via};
use crate::plan::{Claim, OneAddress, with_places};
use crate::question::{Listener, Question};

/// A claim about one address at a time, if it holds for any number of processors and addresses.
pub(crate) fn shown(
    question: &Question<'_>,
    claim: &OneAddress,
    listener: &mut Listener<'_>,
    interrupt: &AtomicBool,
) -> Option<Shown> {
    Attempt { question, claim, listener, interrupt }.shown()
}

struct Attempt<'a, 'b> {
    question: &'a Question<'a>,
    claim: &'a OneAddress,
    listener: &'a mut Listener<'b>,
    interrupt: &'a AtomicBool,
}

impl Attempt<'_, '_> {
    fn shown(mut self) -> Option<Shown> {
        let OneAddress { name, program, address, .. } = self.claim;
        let (_, program) = with_places(self.question.source, name, program.clone());
        let excluded = if self.claim.exclusions { self.exclusions(&program) } else { Vec::new() };
        let exclusions: Vec<Exclusion> =
            excluded.iter().flat_map(|excluded| excluded.exclusions.clone()).collect();
        let (program, lemmas) = match self.claim.lemmas {
            Some(processors) => self.with_lemmas(&program, &exclusions, processors)?,
            None => {
                let dialect = self.question.options.language.dialect;
                (one_address(&program, address, &exclusions, dialect).ok()?, Vec::new())
            }
        };
        let proof = AddressProof { exclusions: excluded, lemmas, processors: self.claim.lemmas };
        self.of_one_address(program, proof)
    }

    /// A program in which one address stands for all, by lemmas about it.
    fn with_lemmas(
        &mut self,
        program: &Program,
        exclusions: &[Exclusion],
        processors: u64,
    ) -> Option<(Program, Vec<Kept>)> {
        let OneAddress { name, address, processor, .. } = self.claim;
        let processor = find_processor(program, Some(processor)).ok()?;
        let program = with_processors(program, &processor, processors);
        let dialect = self.question.options.language.dialect;
        let (prepared, abstraction) = by_address(&program, address, exclusions, dialect).ok()?;
        let options = self.question.refinement(abstraction.view, &[]);
        let options = refine::Options { abstraction, ..options };
        let found = self.verified(&format!("{name}, one address"), &prepared, &options)?;
        Some((of_one_address(found.abstraction?, address), found.lemmas))
    }

    /// The claim about the one address of a program, if it holds.
    fn of_one_address(&mut self, program: Program, proof: AddressProof) -> Option<Shown> {
        let question = self.question;
        let (source, program) = with_places(question.source, &self.claim.name, program);
        let prepared = self.prepared(&program)?;
        let claim = Claim {
            name: self.claim.name.clone(),
            source,
            addresses: Some(Addresses::Any),
            views: question.views(&prepared),
            prepared,
        };
        let (view, found) = refined(question, &claim, self.listener, self.interrupt).ok()?;
        let shown =
            Shown { claim, found, view, via: Via::OneAddress(proof), witnesses: Vec::new() };
        (shown.holds() && shown.found.left_out.is_empty()).then_some(shown)
    }

    /// What processors do at one address at a time.
    fn exclusions(&mut self, program: &Program) -> Vec<Excluded> {
        let (_, program) = with_places(self.question.source, "exclusions", program.clone());
        let possible = possible_exclusions(&program, &self.claim.address);
        if possible.is_empty() {
            return Vec::new();
        }
        match self.excluded(&program, possible.clone()) {
            Some(all) => vec![all],
            None => {
                possible.into_iter().filter_map(|one| self.excluded(&program, vec![one])).collect()
            }
        }
    }

    /// Exclusions, if they hold for any number of processors and addresses.
    fn excluded(&mut self, program: &Program, exclusions: Vec<Exclusion>) -> Option<Excluded> {
        let program = exclusion_program(program, &self.claim.address, &exclusions).ok()?;
        let (_, program) = with_places(self.question.source, "exclusions", program);
        let prepared = self.prepared(&program)?;
        let view = View { concrete: 1, named: false };
        let options = self.question.refinement(view, &[]);
        let found = self.verified("one address at a time", &prepared, &options)?;
        Some(Excluded { exclusions, view, lemmas: found.lemmas })
    }

    /// What was found, if a program keeps all that it claims.
    fn verified(
        &mut self,
        name: &str,
        prepared: &Prepared,
        options: &refine::Options,
    ) -> Option<refine::Verification> {
        let mut progress = |what: &str, now: Option<&Progress>| {
            if let Some(now) = now {
                (self.listener)(&format!("{name}: {what}"), now);
            }
        };
        let found = refine::verify(prepared, options, &mut progress, self.interrupt).ok()?;
        let is_verified = matches!(found.verdict, Verdict::Holds(())) && found.left_out.is_empty();
        is_verified.then_some(found)
    }

    fn prepared(&self, program: &Program) -> Option<Prepared> {
        prepare(program, self.question.processors.or(Some(&self.claim.processor))).ok()
    }
}
