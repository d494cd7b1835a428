//! Confirms a violation of a small instance in the protocol as written.
//!
//! The refinement works on a prepared program: counters are replaced by sets, and an observer may be
//! composed with it. A violation that it finds there is searched for again in the protocol itself, with
//! the same number of processors. So the counterexample that is reported is one of the protocol, and for
//! a memory model one that the trace checker has judged.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use abstraction::{Processor, with_processors};
use conform::{Unknown, Verdict};
use murphi::interpret::Interpreter;
use murphi::parse::parse;
use murphi::print::print;
use murphi::source::Source;

use crate::outcome::Found;
use crate::question::{Listener, Question};

/// The search of the protocol with a definite number of processors.
pub(crate) struct InstanceSearch {
    /// The violation or false alarm, if there is one.
    pub(crate) found: Option<Found>,
    /// How many states were visited.
    pub(crate) states: u64,
    /// Whether all states were visited without a violation.
    pub(crate) complete: bool,
}

/// Searches the protocol with this number of processors, up to `states` states in each search.
pub(crate) fn search_instance(
    question: &Question<'_>,
    processor: &Processor,
    processors: u64,
    states: Option<u64>,
    listener: &mut Listener<'_>,
    interrupt: &AtomicBool,
) -> InstanceSearch {
    let (source, mut options) = instance(question, processor, processors);
    options.search.states = states.or(options.search.states);
    let task = format!("the protocol with {processors} processors");
    let mut progress = |now: &explore::Progress| listener(&task, now);
    let looked = match question.memory_model {
        Some(_) => memory(source, options, &mut progress, interrupt),
        None => own(source, &options, processors, &mut progress, interrupt),
    };
    looked.unwrap_or(InstanceSearch { found: None, states: 0, complete: false })
}

/// Verifies the memory model of an instance; `None` if it cannot be composed with observers.
fn memory(
    source: Source,
    options: conform::Options,
    progress: &mut dyn FnMut(&explore::Progress),
    interrupt: &AtomicBool,
) -> Option<InstanceSearch> {
    let found = conform::verify(&source, &options, &mut |_, now| progress(now), interrupt).ok()?;
    let states = found.lemmas.iter().map(|lemma| lemma.exploration.states).sum();
    let complete = matches!(found.verdict, Verdict::Holds(()));
    let is_wrong = match found.verdict {
        Verdict::Broken(_) | Verdict::Undecided(Unknown::FalseAlarm(_)) => true,
        Verdict::Holds(()) | Verdict::Undecided(_) => false,
    };
    let (options, verification) = (Box::new(options), Box::new(found));
    let found = is_wrong.then_some(Found::Memory { source, options, verification });
    Some(InstanceSearch { found, states, complete })
}

/// Checks the invariants and assertions of an instance; `None` if it cannot be run.
fn own(
    source: Source,
    options: &conform::Options,
    processors: u64,
    progress: &mut dyn FnMut(&explore::Progress),
    interrupt: &AtomicBool,
) -> Option<InstanceSearch> {
    let checked = murphi::load(source, &options.language).ok()?;
    let interpreter = Interpreter::new(Arc::new(checked.model)).ok()?;
    let exploration =
        refine::explore(&interpreter, &options.search, options.symmetry, progress, interrupt);
    let is_wrong = matches!(exploration.verdict, explore::Verdict::Broken(_));
    let complete = exploration.verdict == explore::Verdict::Holds(());
    let states = exploration.states;
    let (interpreter, exploration) = (Box::new(interpreter), Box::new(exploration));
    let found = is_wrong.then_some(Found::Own { processors, interpreter, exploration });
    Some(InstanceSearch { found, states, complete })
}

/// The protocol with this number of processors: the constant that gives the number is overridden if
/// there is one, else the text of the scalarset is changed.
fn instance(
    question: &Question<'_>,
    processor: &Processor,
    processors: u64,
) -> (Source, conform::Options) {
    let mut source = question.source.clone();
    let mut options = conform::Options { covers: false, ..question.options.clone() };
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
