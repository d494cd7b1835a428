//! Claims that are enough for sequential consistency and are about one address at a time.
//!
//! They are tried before nice cycles are looked for: one address stands for all, so that they take
//! no longer with many addresses than with one, and the answer is for any number of them. One that
//! fails says nothing about the protocol, and neither does one that cannot be tried.

use conform::Composed;
use parametric::refine::{self, Verdict};
use parametric::{one_address, prepare, read_lemmas};

use super::super::Question;
use super::super::stop::Stop;
use super::{Addresses, Done, Searched, Task, options, say, with_places};
use crate::commands::explore::model;
use crate::progress::Teller;

/// The first of these claims that holds for any number of processors and addresses.
pub(super) fn first_that_holds(
    question: &Question<'_>,
    composed: &Composed,
    teller: &Teller,
    stop: &Stop,
) -> Option<Done> {
    composed.timely.iter().find_map(|(name, program)| {
        let (_, program) = with_places(question.source, name, program.clone());
        let program = one_address(&program, &composed.address).ok()?;
        let (source, program) = with_places(question.source, name, program);
        let processor = question.arguments.any.processors.as_deref();
        let prepared = prepare(&program, processor.or(Some(&composed.processor))).ok()?;
        let addresses = Some(Addresses::Any);
        let task = Task { name: name.clone(), source, addresses, prepared };
        let lemmas = match &question.arguments.any.lemmas {
            Some(file) => read_lemmas(&model::read_source(file).ok()?, &task.prepared).ok()?,
            None => Vec::new(),
        };
        let concrete = question.arguments.any.concrete.unwrap_or(2);
        let mut listener = |what: &str, now: Option<&Searched>| say(teller, name, what, now);
        let options = options(question, concrete, &lemmas);
        let found = refine::verify(&task.prepared, &options, &mut listener, stop.flag()).ok()?;
        matches!(found.verdict, Verdict::Verified).then_some(Done { task, found, concrete })
    })
}
