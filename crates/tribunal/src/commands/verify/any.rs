//! `tribunal verify --any-processors`: does it hold for any number of processors?
//!
//! Each claim (of the memory model, or all invariants of the protocol together) is a program that is
//! abstracted and refined. What is found wrong with a definite number of processors is looked for
//! again in the protocol as it was written, and told as ever.

use std::time::Duration;

use abstraction::{Prepared, Processor, View};
use conform::Composed;
use explore::{Deadlock, Progress as Searched};
use murphi::ast::Program;
use murphi::parse::parse;
use murphi::print::print;
use murphi::source::Source;
use refine::{Kept, Unrunnable, Verdict, Verification};
use report::any_number::{self as told, json, text};
use report::verification as memory;

use super::stop::Stop;
use super::{Question, no_start, refused};
use crate::arguments::MemoryModelChoice;
use crate::commands::explore::model;
use crate::commands::explore::search::progress_line;
use crate::commands::remark;
use crate::ending::{Ending, Failure};
use crate::interrupt::Interrupt;
use crate::output::{self, Saved};
use crate::progress::{Progress, Teller};

/// How long each claim is looked at with few processors, before it is abstracted.
const GLANCE: Duration = Duration::from_secs(10);

mod by_address;
mod real;
mod tell;

/// Something to be shown: a program, and what it claims.
struct Task {
    name: String,
    /// What its places refer to.
    source: Source,
    /// How many addresses there are, if it is about memory.
    addresses: Option<Addresses>,
    prepared: Prepared,
    /// Lemmas about what happens at other addresses, which the program claims of its own.
    at_addresses: Vec<Kept>,
}

/// For how many addresses something is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Addresses {
    /// As many as the model has.
    Exactly(u64),
    Any,
}

/// A task with what came of it.
struct Done {
    task: Task,
    found: Verification,
    /// What was kept of processors.
    view: View,
}

impl Done {
    /// Whether nothing was looked at because there is nothing to begin with.
    fn begins_nowhere(&self) -> bool {
        self.found.small.iter().any(|small| small.complete && small.states == 0)
    }
}

pub(super) fn run(question: &Question<'_>, interrupt: &Interrupt) -> Result<Ending, Failure> {
    let Tasks { tasks, attempts, independent } = match tasks(question, interrupt)? {
        Ok(tasks) => tasks,
        Err(ending) => return Ok(ending),
    };
    let stop = Stop::new(question.arguments.limits.budget, interrupt);
    let progress = Progress::start(question.arguments.quiet.quiet);
    let mut done: Vec<Done> = Vec::new();
    let is_tried = attempts.is_some();
    // Timely loads are soon shown, and where they are not, it is time for a glance. TSO-LB one address
    // at a time takes long.
    let glance_first = question.arguments.model == Some(MemoryModelChoice::Tso);
    let glance = || refuted(question, &tasks, &progress.teller(), &stop);
    let mut tale = if is_tried && glance_first { glance()? } else { None };
    let shown = attempts.filter(|_| tale.is_none()).and_then(|attempts| {
        by_address::first_that_holds(question, &attempts, &progress.teller(), &stop)
    });
    if is_tried && !glance_first && shown.is_none() {
        tale = glance()?;
    }
    if let Some(tale) = tale {
        drop(progress);
        return super::deliver(question, tale, Vec::new(), interrupt);
    }
    let tasks = if shown.is_some() { Vec::new() } else { tasks };
    done.extend(shown);
    for task in tasks {
        let Some(lemmas) = lemmas(question, &task.prepared)? else { return Ok(Ending::Unasked) };
        let source = task.source.clone();
        match refined(question, task, &lemmas, &progress.teller(), &stop) {
            Ok(finished) => done.push(finished),
            Err(why) => {
                drop(progress);
                return unsuitable(question, &source, why);
            }
        }
        if is_settled(question, &done) {
            break;
        }
    }
    if question.arguments.model.is_some() && done.iter().any(Done::begins_nowhere) {
        return Err(no_start(question.source));
    }
    if let Some((processors, processor)) = violated(&done) {
        let teller = progress.teller();
        let mut listener = |now: &Searched| say(&teller, "a run", "", Some(now));
        let found = real::find(question, &processor, processors, None, &mut listener, &stop)?;
        drop(progress);
        return match found {
            real::Found::Memory(tale) => super::deliver(question, *tale, Vec::new(), interrupt),
            real::Found::Own(exploration) => {
                let shown = tell::violation(question, &done, processors, *exploration);
                deliver(question, &shown, interrupt)
            }
            real::Found::Nothing => {
                let shown = tell::unconfirmed(question, &done, processors);
                deliver(question, &shown, interrupt)
            }
        };
    }
    drop(progress);
    emit(question, &done, interrupt)?;
    let mut shown = tell::tell(question, &done, stop.timed_out())?;
    if !independent {
        let note = "causality and data independence are not established: see the warnings";
        shown.notes.push(note.to_owned());
    }
    deliver(question, &shown, interrupt)
}

/// What to keep of processors, in the order in which it is tried: two, and one more by its name if
/// that may help; then three.
fn views(question: &Question<'_>, prepared: &Prepared) -> Vec<View> {
    let named = !question.arguments.any.no_name && prepared.stores_several_processors();
    match question.arguments.any.concrete {
        Some(concrete) => vec![View { concrete, named }],
        None => vec![View { concrete: 2, named }, View { concrete: 3, named: false }],
    }
}

/// Verifies one task, by the first view of it that does.
fn refined(
    question: &Question<'_>,
    task: Task,
    lemmas: &[abstraction::Lemma],
    teller: &Teller,
    stop: &Stop,
) -> Result<Done, refine::Failure> {
    let mut first = None;
    for view in views(question, &task.prepared) {
        let mut listener = |what: &str, now: Option<&Searched>| say(teller, &task.name, what, now);
        let options = options(question, view, lemmas);
        let found = refine::verify(&task.prepared, &options, &mut listener, stop.flag());
        let is_open = match &found {
            Ok(found) => matches!(found.verdict, Verdict::Missing(_)),
            Err(refine::Failure::Unsuitable(_)) => true,
            Err(_) => false,
        };
        let found = (view, found);
        match first {
            // The first attempt says more plainly why the second fails as well.
            Some(_) if is_open => break,
            _ if is_open => first = Some(found),
            _ => {
                let (view, found) = found;
                return found.map(|found| Done { task, found, view });
            }
        }
    }
    match first {
        Some((view, found)) => found.map(|found| Done { task, found, view }),
        None => Err(refine::Failure::Unsuitable(Vec::new())),
    }
}

/// What is wrong with few processors, if that is found soon. Where loads are not timely, a violation
/// is likely, and all lengths of cycles are worth a look before one of them is shown not to occur.
fn refuted(
    question: &Question<'_>,
    tasks: &[Task],
    teller: &Teller,
    stop: &Stop,
) -> Result<Option<memory::Verification>, Failure> {
    let Some(Task { prepared, .. }) = tasks.first() else { return Ok(None) };
    let least = question.arguments.any.concrete.unwrap_or(2);
    for processors in [least, least + 1] {
        let mut listener = |now: &Searched| say(teller, "a run", "", Some(now));
        let limit = Some(GLANCE);
        let processor = &prepared.processor;
        match real::find(question, processor, processors, limit, &mut listener, stop)? {
            real::Found::Memory(tale) if tale.verdict != memory::Verdict::FalseAlarm => {
                return Ok(Some(*tale));
            }
            _ => {}
        }
    }
    Ok(None)
}

fn say(teller: &Teller, name: &str, what: &str, now: Option<&Searched>) {
    // Without a search, a lemma has been found or given up.
    if let Some(now) = now {
        teller.say(|| format!("{name}: {what}: {}", progress_line(now)));
    }
}

/// With how many processors something is wrong.
fn violated(done: &[Done]) -> Option<(u64, Processor)> {
    let Done { task, found, .. } = done.last()?;
    match found.verdict {
        Verdict::Violation { processors, .. } => {
            Some((processors, task.prepared.processor.clone()))
        }
        _ => None,
    }
}

/// Whether the other tasks need not be looked at. For `tso` each is an attempt at the same, with an
/// observer that objects to less than the one before: one that holds is enough.
fn is_settled(question: &Question<'_>, done: &[Done]) -> bool {
    let is_tso = question.arguments.model == Some(MemoryModelChoice::Tso);
    match done.last().map(|done| &done.found.verdict) {
        Some(Verdict::Verified) => is_tso,
        Some(Verdict::Violation { .. } | Verdict::Missing(_)) => !is_tso,
        Some(Verdict::Undecided(_)) => true,
        None => false,
    }
}

/// What is to be shown.
struct Tasks {
    tasks: Vec<Task>,
    /// Claims each of which is enough by itself, if there are any.
    attempts: Option<Composed>,
    /// Whether a few values stand for any number of them, if it is about memory.
    independent: bool,
}

/// The programs to be abstracted; an ending if there are none and that has been said.
fn tasks(question: &Question<'_>, interrupt: &Interrupt) -> Result<Result<Tasks, Ending>, Failure> {
    let Question { arguments, source, options, .. } = question;
    let mut addresses = None;
    let mut attempts = None;
    let mut independent = true;
    let (processor, programs): (Option<String>, Vec<(String, Program)>) = match arguments.model {
        Some(_) => match conform::composed_programs(source, options) {
            Ok(mut composed) => {
                addresses = Some(Addresses::Exactly(composed.addresses));
                let programs = std::mem::take(&mut composed.programs);
                let processor = composed.processor.clone();
                independent = composed.independent;
                warn(question, &composed.warnings);
                attempts = Some(composed).filter(|composed| !composed.by_address.is_empty());
                (Some(processor), programs)
            }
            Err(why) => return refused(question, why, interrupt).map(Err),
        },
        None => {
            let (program, problems) = parse(source);
            let program = match (program, murphi::load((*source).clone(), &options.language)) {
                (Some(program), Ok(_)) => program,
                (_, Err(problems)) => return Ok(Err(complain(question, source, &problems))),
                (None, Ok(_)) => return Ok(Err(complain(question, source, &problems))),
            };
            let program = conform::with_constants(program, &options.language.constants);
            (None, vec![("the protocol's own claims".to_owned(), program)])
        }
    };
    let processor = arguments.any.processors.clone().or(processor);
    let is_tso = arguments.model == Some(MemoryModelChoice::Tso);
    let mut tasks: Vec<Task> = Vec::new();
    for (name, program) in programs {
        let (source, program) = match arguments.model {
            Some(_) => with_places(source, &name, program),
            None => ((*source).clone(), program),
        };
        match abstraction::prepare(&program, processor.as_deref()) {
            Ok(prepared) => {
                tasks.push(Task { name, source, addresses, prepared, at_addresses: Vec::new() })
            }
            // Another attempt at the same, which there is no need for if one before it succeeds.
            Err(_) if is_tso && !tasks.is_empty() => {}
            Err(problems) => return Ok(Err(complain(question, &source, &problems))),
        }
    }
    Ok(Ok(Tasks { tasks, attempts, independent }))
}

/// A composed program as a text of its own, in which each of its parts has a place.
fn with_places(source: &Source, name: &str, program: Program) -> (Source, Program) {
    let name = format!("{}, to show: {name}", source.name);
    let composed = Source { name, text: print(&program) };
    let program = parse(&composed).0.unwrap_or(program);
    (composed, program)
}

/// Says what may be wrong with the protocol.
fn warn(question: &Question<'_>, warnings: &[murphi::diagnostic::Diagnostic]) {
    if !question.arguments.quiet.quiet {
        let colour = output::colours(question.arguments.colour, &std::io::stderr());
        model::complain(warnings, question.source, colour);
    }
}

/// Says what is wrong with the protocol.
fn complain(
    question: &Question<'_>,
    source: &Source,
    problems: &[murphi::diagnostic::Diagnostic],
) -> Ending {
    let colour = output::colours(question.arguments.colour, &std::io::stderr());
    model::complain(problems, source, colour);
    remark(&model::verdict_on(problems, source));
    Ending::Unasked
}

/// The lemmas of the user; `None` if they are wrong and that has been said.
fn lemmas(
    question: &Question<'_>,
    prepared: &Prepared,
) -> Result<Option<Vec<abstraction::Lemma>>, Failure> {
    let Some(file) = &question.arguments.any.lemmas else { return Ok(Some(Vec::new())) };
    let source: Source = model::read_source(file)?;
    match abstraction::read_lemmas(&source, prepared) {
        Ok(lemmas) => Ok(Some(lemmas)),
        Err(problems) => {
            let colour = output::colours(question.arguments.colour, &std::io::stderr());
            model::complain(&problems, &source, colour);
            remark(&model::verdict_on(&problems, &source));
            Ok(None)
        }
    }
}

fn options(question: &Question<'_>, view: View, lemmas: &[abstraction::Lemma]) -> refine::Options {
    let options = question.options;
    let is_composed = question.arguments.model.is_some();
    let mut search = options.search.clone();
    if is_composed {
        // What an observer assumes away may leave a state without successors.
        search.deadlock = Deadlock::Off;
    }
    refine::Options {
        name: question.source.name.clone(),
        abstraction: abstraction::Options { view, ..abstraction::Options::default() },
        language: murphi::check::Options { constants: Vec::new(), ..options.language.clone() },
        search,
        symmetry: options.symmetry,
        lemmas: lemmas.to_vec(),
    }
}

/// Says why the protocol cannot be abstracted.
fn unsuitable(
    question: &Question<'_>,
    source: &Source,
    why: refine::Failure,
) -> Result<Ending, Failure> {
    match why {
        refine::Failure::Unsuitable(problems) => Ok(complain(question, source, &problems)),
        refine::Failure::Unrunnable(Unrunnable::Refused(source, problems)) => {
            let colour = output::colours(question.arguments.colour, &std::io::stderr());
            model::complain(&problems, &source, colour);
            remark("an instance of the protocol, or its abstraction, is refused");
            Ok(Ending::Unasked)
        }
        refine::Failure::Unrunnable(Unrunnable::TooLarge) => {
            let sentence = "a state is too large; make the model smaller";
            Err(Failure::Usage(format!("{}: {sentence}", question.source.name)))
        }
    }
}

/// Writes the abstractions.
fn emit(question: &Question<'_>, done: &[Done], interrupt: &Interrupt) -> Result<(), Failure> {
    let Some(path) = &question.arguments.any.emit_abstraction else { return Ok(()) };
    let abstracted =
        done.iter().filter_map(|done| Some((&done.task, done.found.abstraction.as_ref()?)));
    for (number, (task, abstraction)) in abstracted.enumerate() {
        let text = abstraction::emit(abstraction, &task.prepared, &question.source.name);
        let mut path = path.clone();
        if number > 0 {
            let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
            path.set_file_name(format!("{}-{}.m", stem.unwrap_or_default(), number + 1));
        }
        let mut file = Saved::create(&path, interrupt)?;
        file.write(text.as_bytes())?;
        file.finish()?;
    }
    Ok(())
}

fn deliver(
    question: &Question<'_>,
    shown: &told::AnyNumber,
    interrupt: &Interrupt,
) -> Result<Ending, Failure> {
    let arguments = question.arguments;
    let report = match arguments.json.json {
        true => json::object(shown) + "\n",
        false => text::report(shown, arguments.quiet.quiet, question.colour),
    };
    let ending = match shown.verdict {
        told::Verdict::Verified => Ending::Kept,
        told::Verdict::Violation => Ending::Broken,
        told::Verdict::Undecided if interrupt.happened() => Ending::Interrupted,
        told::Verdict::Undecided => Ending::Undecided,
    };
    output::deliver(&report, None, ending, interrupt)
}
