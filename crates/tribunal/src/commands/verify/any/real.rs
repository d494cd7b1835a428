//! A definite number of processors with which something is wrong: the run, in the protocol as it was
//! written.
//!
//! The refinement works on a prepared program (counters are sets, an observer is composed with it).
//! What it finds there is looked for again in the protocol itself, so that what is told is a run of
//! that, and for a memory model one that the trace checker has judged.

use std::sync::Arc;
use std::time::Duration;

use abstraction::{Processor, with_processors};
use explore::Progress as Searched;
use murphi::interpret::Interpreter;
use murphi::print::print;
use murphi::source::Source;
use report::exploration;
use report::verification as memory;

use super::super::stop::Stop;
use super::super::{Question, tell};
use crate::commands::explore::{Language, search};
use crate::ending::Failure;

/// What was found again.
pub(super) enum Found {
    /// A verdict of the memory model.
    Memory(Box<memory::Verification>),
    /// The protocol breaks a claim of its own.
    Own(Box<exploration::Exploration>),
    /// Nothing is wrong with the protocol itself.
    Nothing,
}

/// Looks for what is wrong with so many processors, for so long at most.
pub(super) fn find(
    question: &Question<'_>,
    processor: &Processor,
    processors: u64,
    limit: Option<Duration>,
    listener: &mut dyn FnMut(&Searched),
    stop: &Stop,
) -> Result<Found, Failure> {
    let (source, language) = instance(question, processor, processors);
    let mut options = conform::Options { language: language.options(), ..question.options.clone() };
    options.search.time = limit.or(options.search.time);
    if question.arguments.model.is_none() {
        let Ok(checked) = murphi::load(source, &options.language) else {
            return Ok(Found::Nothing);
        };
        let Ok(interpreter) = Interpreter::new(Arc::new(checked.model)) else {
            return Ok(Found::Nothing);
        };
        let found =
            refine::explore(&interpreter, &options.search, options.symmetry, listener, stop.flag());
        return Ok(match found.verdict {
            explore::Verdict::Violation(_) | explore::Verdict::Deadlock => {
                Found::Own(Box::new(search::told(&interpreter, &found, false, question.colour)?))
            }
            _ => Found::Nothing,
        });
    }
    let found = conform::verify(&source, &options, &mut |_, now| listener(now), stop.flag());
    let Ok(found) = found else { return Ok(Found::Nothing) };
    let again = Question {
        arguments: question.arguments,
        source: &source,
        language: &language,
        options: &options,
        colour: question.colour,
    };
    let tale = tell::tell(&again, &found, stop.timed_out())?;
    Ok(match tale.verification.verdict {
        memory::Verdict::Violation | memory::Verdict::Broken | memory::Verdict::FalseAlarm => {
            Found::Memory(Box::new(tale.verification))
        }
        memory::Verdict::Verified | memory::Verdict::Undecided => Found::Nothing,
    })
}

/// The protocol with so many processors: by its constant if there is one, else as another text.
fn instance(question: &Question<'_>, processor: &Processor, processors: u64) -> (Source, Language) {
    let Question { source, language, .. } = question;
    let mut constants = language.constants.clone();
    let language = |constants| Language {
        constants,
        dialect: language.dialect,
        loop_limit: language.loop_limit,
    };
    if let Some(size) = &processor.size {
        constants.retain(|(name, _)| name != size);
        constants.push((size.clone(), processors.to_string()));
        return ((*source).clone(), language(constants));
    }
    let text = match murphi::parse::parse(source).0 {
        Some(program) => print(&with_processors(&program, processor, processors)),
        None => source.text.clone(),
    };
    (Source { name: source.name.clone(), text }, language(constants))
}
