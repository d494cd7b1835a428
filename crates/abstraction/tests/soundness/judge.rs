//! What is said about a program, and what is so.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use explore::symmetry::{Canonicalizer, Symmetry};
use explore::{BitCodec, Deadlock, Exploration, Options, System, Verdict, Violation};
use murphi::ast::Program;
use murphi::diagnostic::Diagnostic;
use murphi::interpret::Interpreter;
use murphi::parse::parse;
use murphi::print::print;
use murphi::source::Source;
use tribunal_abstraction::{
    Abstraction, Lemma, Prepared, Processor, View, abstraction, find_processor, prepare,
    with_processors,
};

use crate::sabotage::Sabotage;

/// What a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    /// Nothing is wrong in any state.
    Nothing,
    /// Something is, and this is what.
    Wrong(String),
    /// There were too many states.
    TooLarge,
}

/// What the abstraction says about a program for any number of processors.
#[derive(Debug)]
pub(crate) enum Said {
    /// It holds.
    Holds,
    /// It may not hold: something goes wrong in the abstraction.
    Open,
    /// It cannot be abstracted.
    Refused,
    /// What came out is no program.
    Broken(String),
    /// There were too many states.
    TooLarge,
}

/// How long a search may take.
const LONGEST: Duration = Duration::from_secs(2);

pub(crate) fn source(text: &str) -> Source {
    Source { name: "model.m".into(), text: text.to_owned() }
}

/// The syntax tree of a text that is a correct program.
pub(crate) fn read(text: &str) -> Program {
    let source = source(text);
    let shown = |problems: Vec<Diagnostic>| -> String {
        problems.iter().map(|problem| problem.render(&source, false)).collect()
    };
    if let Err(problems) = murphi::load(source.clone(), &murphi::check::Options::default()) {
        panic!("{}\n{text}", shown(problems));
    }
    parse(&source).0.expect("it was read just now")
}

/// The syntax tree of a text that was made to be a correct program.
pub(crate) fn parsed(text: &str) -> Program {
    parse(&source(text)).0.expect("it is made to be a program")
}

/// A program, ready to be run; or what is wrong with it.
pub(crate) fn runnable(program: &Program) -> Result<Interpreter, String> {
    let source = source(&print(program));
    let checked = murphi::load(source.clone(), &murphi::check::Options::default());
    let shown = |problems: Vec<Diagnostic>| -> String {
        problems.iter().map(|problem| problem.render(&source, false)).collect()
    };
    let checked = checked.map_err(shown)?;
    Ok(Interpreter::new(Arc::new(checked.model)).expect("it is small enough"))
}

/// Up to so many states a program is run by the interpreter: it takes longer to compile one.
const FEW_STATES: u64 = 60;

/// Searches all states of a program.
pub(crate) fn searched(interpreter: &Interpreter, symmetry: Symmetry) -> Found {
    let options = Options {
        deadlock: Deadlock::Off,
        time: Some(LONGEST),
        memory: Some(64 << 20),
        threads: 1,
        ..Options::default()
    };
    let few = Options { states: Some(FEW_STATES), ..options.clone() };
    match interpreted(interpreter, &few, symmetry) {
        Found::TooLarge => {}
        found => return found,
    }
    let never = AtomicBool::new(false);
    found(&refine::explore(interpreter, &options, symmetry, &mut |_| (), &never))
}

/// Searches without native code.
fn interpreted(interpreter: &Interpreter, options: &Options, symmetry: Symmetry) -> Found {
    let (model, layout) = (interpreter.model(), interpreter.layout());
    let codec = &BitCodec::new(model, layout);
    let reduction = &Canonicalizer::new(model, layout, symmetry);
    let (state_size, rules) = (layout.size as usize, model.rules.len());
    let machine = || interpreter.clone();
    let system = System { machine, codec, reduction, state_size, rules };
    found(&explore::explore(options, &system, &mut |_| (), &AtomicBool::new(false)))
}

fn found(exploration: &Exploration) -> Found {
    match &exploration.verdict {
        Verdict::Holds(()) => Found::Nothing,
        Verdict::Broken(run) if run.violation == Violation::Deadlock => {
            Found::Wrong("deadlock".into())
        }
        Verdict::Broken(run) => Found::Wrong(format!("{:?}", run.violation)),
        Verdict::Undecided(_) => Found::TooLarge,
    }
}

/// The program as it was written, with so many processors. Not even symmetry is relied on.
pub(crate) fn instance(program: &Program, processor: &Processor, processors: u64) -> Found {
    let program = with_processors(program, processor, processors);
    match runnable(&program) {
        Ok(interpreter) => searched(&interpreter, Symmetry::Off),
        Err(why) => panic!("{why}"),
    }
}

/// The abstraction of a program, or why there is none.
pub(crate) fn abstracted(
    program: &Program,
    view: View,
    lemmas: impl Fn(&Prepared) -> Vec<Lemma>,
) -> Result<(Prepared, Abstraction), String> {
    let said = |problems: Vec<Diagnostic>| problems[0].message.clone();
    let processor = find_processor(program, Some("P")).map_err(|problem| problem.message)?;
    let prepared = prepare(program, Some(&processor.name)).map_err(said)?;
    let options = tribunal_abstraction::Options { view, ..Default::default() };
    let made = abstraction(&prepared, &options, &lemmas(&prepared)).map_err(said)?;
    Ok((prepared, made))
}

/// What the whole loop says about a program, beginning with these lemmas.
pub(crate) fn by_the_loop(
    prepared: &Prepared,
    view: View,
    lemmas: Vec<Lemma>,
) -> Result<refine::Verification, refine::Failure> {
    let time = Some(Duration::from_secs(3));
    let search = Options { deadlock: Deadlock::Off, time, ..Default::default() };
    let abstraction = tribunal_abstraction::Options { view, ..Default::default() };
    let options = refine::Options { abstraction, search, lemmas, ..Default::default() };
    refine::verify(prepared, &options, &mut |_, _| (), &AtomicBool::new(false))
}

/// What the abstraction says, strengthened by some lemmas. It knows nothing of instances.
pub(crate) fn said(
    program: &Program,
    view: View,
    sabotage: Sabotage,
    lemmas: impl Fn(&Prepared) -> Vec<Lemma>,
) -> Said {
    let processor = find_processor(program, Some("P"));
    let prepared = processor.ok().and_then(|one| prepare(program, Some(&one.name)).ok());
    match prepared {
        None => Said::Refused,
        Some(prepared) => said_of(&prepared, view, sabotage, &lemmas(&prepared)),
    }
}

/// What the abstraction of a prepared program says, strengthened by some lemmas.
pub(crate) fn said_of(
    prepared: &Prepared,
    view: View,
    sabotage: Sabotage,
    lemmas: &[Lemma],
) -> Said {
    let options = tribunal_abstraction::Options { view, ..Default::default() };
    let Ok(mut made) = abstraction(prepared, &options, lemmas) else { return Said::Refused };
    sabotage.done(&mut made);
    match runnable(&made.program) {
        Err(why) => Said::Broken(why),
        Ok(interpreter) => match searched(&interpreter, Symmetry::Full) {
            Found::Nothing => Said::Holds,
            Found::Wrong(_) => Said::Open,
            Found::TooLarge => Said::TooLarge,
        },
    }
}
