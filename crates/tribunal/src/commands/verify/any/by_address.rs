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

use abstraction::{
    Exclusion, Prepared, View, by_address, exclusion_program, find_processor, of_one_address,
    one_address, possible_exclusions, prepare, read_lemmas, with_processors,
};
use conform::Composed;
use murphi::ast::Program;
use refine::{Kept, Verdict};

use super::super::Question;
use super::super::stop::Stop;
use super::{Addresses, Done, Searched, Task, options, refined, say, with_places};
use crate::arguments::MemoryModelChoice;
use crate::commands::explore::model;
use crate::progress::Teller;

/// The first of these claims that holds for any number of processors and addresses.
pub(super) fn first_that_holds(
    question: &Question<'_>,
    composed: &Composed,
    teller: &Teller,
    stop: &Stop,
) -> Option<Done> {
    let attempt = Attempt { question, composed, teller, stop };
    let mut claims = composed.by_address.iter();
    if question.arguments.model == Some(MemoryModelChoice::Tso) {
        return claims.find_map(|(name, program)| {
            let (_, program) = with_places(question.source, name, program.clone());
            let exclusions = attempt.exclusions(&program);
            let (program, lemmas) = attempt.with_lemmas(name, &program, &exclusions)?;
            attempt.of_one_address(name, program, lemmas)
        });
    }
    let (name, program) = claims.next()?;
    attempt.holds(name, program, &[]).or_else(|| {
        claims.find_map(|(name, program)| {
            let exclusions = attempt.exclusions(program);
            attempt.holds(name, program, &exclusions)
        })
    })
}

/// How many processors there are while lemmas about addresses are looked for: more than two, so that
/// less is so by chance.
const PROCESSORS: u64 = 3;

struct Attempt<'a, 'q> {
    question: &'a Question<'q>,
    composed: &'a Composed,
    teller: &'a Teller,
    stop: &'a Stop,
}

impl Attempt<'_, '_> {
    /// A claim about one address, if it holds.
    fn holds(&self, name: &str, program: &Program, exclusions: &[Exclusion]) -> Option<Done> {
        let question = self.question;
        let (_, program) = with_places(question.source, name, program.clone());
        let program = one_address(&program, &self.composed.address, exclusions).ok()?;
        self.of_one_address(name, program, Vec::new())
    }

    /// A program in which one address stands for all, by lemmas about it.
    fn with_lemmas(
        &self,
        name: &str,
        program: &Program,
        exclusions: &[Exclusion],
    ) -> Option<(Program, Vec<Kept>)> {
        let processor = find_processor(program, Some(&self.composed.processor)).ok()?;
        let program = with_processors(program, &processor, PROCESSORS);
        let address = &self.composed.address;
        let (prepared, abstraction) = by_address(&program, address, exclusions).ok()?;
        let mut listener = |what: &str, now: Option<&Searched>| {
            say(self.teller, &format!("{name}, one address"), what, now);
        };
        let options = options(self.question, abstraction.view, &[]);
        let options = refine::Options { abstraction, ..options };
        let found = refine::verify(&prepared, &options, &mut listener, self.stop.flag()).ok()?;
        let is_verified = matches!(found.verdict, Verdict::Verified);
        let program = of_one_address(found.abstraction.filter(|_| is_verified)?, address);
        Some((program, found.lemmas))
    }

    /// A claim about the one address of a program, if it holds.
    fn of_one_address(&self, name: &str, program: Program, at: Vec<Kept>) -> Option<Done> {
        let question = self.question;
        let (source, program) = with_places(question.source, name, program);
        let prepared = self.prepared(&program)?;
        let lemmas = match &question.arguments.any.lemmas {
            Some(file) => read_lemmas(&model::read_source(file).ok()?, &prepared).ok()?,
            None => Vec::new(),
        };
        let addresses = Some(Addresses::Any);
        let task = Task { name: name.to_owned(), source, addresses, prepared, at_addresses: at };
        let done = refined(question, task, &lemmas, self.teller, self.stop).ok()?;
        matches!(done.found.verdict, Verdict::Verified).then_some(done)
    }

    /// What processors do at one address at a time.
    fn exclusions(&self, program: &Program) -> Vec<Exclusion> {
        let (_, program) = with_places(self.question.source, "exclusions", program.clone());
        let possible = possible_exclusions(&program, &self.composed.address);
        if possible.is_empty() || self.excludes(&program, &possible).is_some() {
            return possible;
        }
        let holds = |one: &Exclusion| self.excludes(&program, std::slice::from_ref(one)).is_some();
        possible.into_iter().filter(holds).collect()
    }

    /// Whether exclusions hold for any number of processors and addresses.
    fn excludes(&self, program: &Program, exclusions: &[Exclusion]) -> Option<()> {
        let program = exclusion_program(program, &self.composed.address, exclusions).ok()?;
        let (_, program) = with_places(self.question.source, "exclusions", program);
        let prepared = self.prepared(&program)?;
        let name = "one address at a time";
        let mut listener = |what: &str, now: Option<&Searched>| say(self.teller, name, what, now);
        let options = options(self.question, View { concrete: 1, named: false }, &[]);
        let found = refine::verify(&prepared, &options, &mut listener, self.stop.flag()).ok()?;
        matches!(found.verdict, Verdict::Verified).then_some(())
    }

    fn prepared(&self, program: &Program) -> Option<Prepared> {
        let processor = self.question.arguments.any.processors.as_deref();
        prepare(program, processor.or(Some(&self.composed.processor))).ok()
    }
}
