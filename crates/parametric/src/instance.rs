//! A definite number of processors with which something is wrong: the run, in the protocol as it was
//! written.
//!
//! The refinement works on a prepared program (counters are sets, an observer is composed with it).
//! What it finds there is looked for again in the protocol itself, so that what is reported is a run
//! of that, and for a memory model one that the trace checker has judged.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use abstraction::{Processor, with_processors};
use conform::Verdict;
use murphi::interpret::Interpreter;
use murphi::parse::parse;
use murphi::print::print;
use murphi::source::Source;

use crate::outcome::Found;
use crate::question::{Listener, Question};

/// Looks for what is wrong with so many processors, in so many states of each search at most.
pub(crate) fn find(
    question: &Question<'_>,
    processor: &Processor,
    processors: u64,
    states: Option<u64>,
    listener: &mut Listener<'_>,
    interrupt: &AtomicBool,
) -> Option<Found> {
    let (source, mut options) = instance(question, processor, processors);
    options.search.states = states.or(options.search.states);
    let task = format!("the protocol with {processors} processors");
    if question.memory_model.is_some() {
        let mut progress = |_: &str, now: &explore::Progress| listener(&task, now);
        let found = conform::verify(&source, &options, &mut progress, interrupt).ok()?;
        let is_wrong = match found.verdict {
            Verdict::Violation(_) | Verdict::Broken | Verdict::FalseAlarm(_) => true,
            Verdict::Verified | Verdict::Undecided(_) | Verdict::NoStart => false,
        };
        let (options, verification) = (Box::new(options), Box::new(found));
        return is_wrong.then_some(Found::Memory { source, options, verification });
    }
    let checked = murphi::load(source, &options.language).ok()?;
    let interpreter = Interpreter::new(Arc::new(checked.model)).ok()?;
    let mut progress = |now: &explore::Progress| listener(&task, now);
    let exploration =
        refine::explore(&interpreter, &options.search, options.symmetry, &mut progress, interrupt);
    let is_wrong =
        matches!(exploration.verdict, explore::Verdict::Violation(_) | explore::Verdict::Deadlock);
    let (interpreter, exploration) = (Box::new(interpreter), Box::new(exploration));
    is_wrong.then_some(Found::Own { processors, interpreter, exploration })
}

/// The protocol with so many processors: by its constant if there is one, else as another text.
fn instance(
    question: &Question<'_>,
    processor: &Processor,
    processors: u64,
) -> (Source, conform::Options) {
    let mut source = question.source.clone();
    let mut options = question.options.clone();
    let constants = &mut options.language.constants;
    match &processor.size {
        Some(size) => {
            constants.retain(|(name, _)| name != size);
            constants.push((size.clone(), processors.to_string()));
        }
        None => {
            if let Some(program) = parse(&source).0 {
                source.text = print(&with_processors(&program, processor, processors));
            }
        }
    }
    (source, options)
}
