//! Proofs that abstract addresses as well: claims about one address at a time that imply the memory
//! model.
//!
//! They are tried before the observers that watch all addresses of the model, because with one concrete
//! address the cost does not grow with the number of addresses, and the verdict is for any number of
//! them. If such a claim fails, or cannot be abstracted, that says nothing about the protocol, and the
//! plan continues.
//!
//! Addresses are abstracted first (transformation T15 of docs/abstraction.md), then the processors of the
//! result. What a processor does at other addresses may need lemmas of its own: they are found in
//! instances with few processors, and proved for any number of processors together with the claim.

use std::sync::atomic::AtomicBool;

use abstraction::{
    Exclusion, Prepared, View, by_address, exclusion_program, find_processor, of_one_address,
    one_address, possible_exclusions, prepare, with_processors,
};
use explore::Progress;
use murphi::ast::Program;
use refine::{UsedLemma, Verdict};

use crate::carry_out::refined;
use crate::outcome::{Abstracted, AddressProof, Addresses, ClaimProof, ProvedExclusion};
use crate::plan::{Claim, OneAddress, with_places};
use crate::question::{Listener, Question};

/// Proves a claim about one address at a time, for any number of processors and addresses.
pub(crate) fn shown(
    question: &Question<'_>,
    claim: &OneAddress,
    listener: &mut Listener<'_>,
    interrupt: &AtomicBool,
) -> Option<ClaimProof> {
    Attempt { question, claim, listener, interrupt }.shown()
}

struct Attempt<'a, 'b> {
    question: &'a Question<'a>,
    claim: &'a OneAddress,
    listener: &'a mut Listener<'b>,
    interrupt: &'a AtomicBool,
}

impl Attempt<'_, '_> {
    fn shown(mut self) -> Option<ClaimProof> {
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
    ) -> Option<(Program, Vec<UsedLemma>)> {
        let OneAddress { name, address, processor, .. } = self.claim;
        let processor = find_processor(program, Some(processor)).ok()?;
        let program = with_processors(program, &processor, processors);
        let dialect = self.question.options.language.dialect;
        let (prepared, abstraction) = by_address(&program, address, exclusions, dialect).ok()?;
        let options = self.question.refinement(abstraction.view, &[]);
        let options = refine::Options { abstraction, ..options };
        let found = self.verified(&format!("{name}, with one address"), &prepared, &options)?;
        Some((of_one_address(found.abstraction?, address), found.lemmas))
    }

    /// Proves the claim of a program that has one address.
    fn of_one_address(&mut self, program: Program, proof: AddressProof) -> Option<ClaimProof> {
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
        let shown = ClaimProof {
            claim,
            found,
            view,
            via: Abstracted::OneAddress(proof),
            witnesses: Vec::new(),
        };
        (shown.holds() && shown.found.left_out.is_empty()).then_some(shown)
    }

    /// The exclusions (transformation T16) that hold: what a processor does at one address at a
    /// time.
    fn exclusions(&mut self, program: &Program) -> Vec<ProvedExclusion> {
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

    /// Proves exclusions for any number of processors and addresses.
    fn excluded(
        &mut self,
        program: &Program,
        exclusions: Vec<Exclusion>,
    ) -> Option<ProvedExclusion> {
        let program = exclusion_program(program, &self.claim.address, &exclusions).ok()?;
        let (_, program) = with_places(self.question.source, "exclusions", program);
        let prepared = self.prepared(&program)?;
        let view = View { concrete: 1, named: false };
        let options = self.question.refinement(view, &[]);
        let found = self.verified("one address at a time", &prepared, &options)?;
        Some(ProvedExclusion { exclusions, view, lemmas: found.lemmas })
    }

    /// The result of a refinement if it proved every claim of its program.
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
