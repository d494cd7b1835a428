//! Claims that are enough for sequential consistency and are about one address at a time.
//!
//! They are tried before nice cycles are looked for: one address stands for all, so that they take
//! no longer with many addresses than with one, and the answer is for any number of them. One that
//! fails says nothing about the protocol, and neither does one that cannot be tried.

use conform::Composed;
use murphi::ast::Program;
use parametric::refine::{self, Verdict};
use parametric::{
    Exclusion, Prepared, View, exclusion_program, one_address, possible_exclusions, prepare,
    read_lemmas,
};

use super::super::Question;
use super::super::stop::Stop;
use super::{Addresses, Done, Searched, Task, options, refined, say, with_places};
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
    let mut claims = composed.timely.iter();
    let (name, program) = claims.next()?;
    attempt.holds(name, program, &[]).or_else(|| {
        claims.find_map(|(name, program)| {
            let exclusions = attempt.exclusions(program);
            attempt.holds(name, program, &exclusions)
        })
    })
}

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
        let (source, program) = with_places(question.source, name, program);
        let prepared = self.prepared(&program)?;
        let lemmas = match &question.arguments.any.lemmas {
            Some(file) => read_lemmas(&model::read_source(file).ok()?, &prepared).ok()?,
            None => Vec::new(),
        };
        let addresses = Some(Addresses::Any);
        let task = Task { name: name.to_owned(), source, addresses, prepared };
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
