//! The search itself: what the flags ask for, handed to the engine, and what the engine found, put
//! into words.

use std::fs::File;
use std::path::Path;
use std::time::Instant;

use explore::symmetry::{Canonicalizer, Symmetry};
use explore::{BitCodec, Codec, Deadlock, Options, Reason, Strategy, System, Verdict, Violation};
use murphi::diagnostic::Diagnostic;
use murphi::instance;
use murphi::interpret::{End, Interpreter};
use murphi::ir::{Model, PropertyKind, TypeId};
use murphi::machine::Machine;
use murphi::source::Span;
use report::exploration::text::counted;
use report::exploration::{self as told, Broken, Settings, Totals};

use super::fold::fold;
use super::narrate::{Contradiction, Firing, Narrator, with};
use super::{facts, memory};
use crate::arguments::{DeadlockChoice, ExploreArguments, SearchChoice, SymmetryChoice};
use crate::commands::remark;
use crate::ending::Failure;
use crate::interrupt::Interrupt;
use crate::progress::{Progress, Teller};

/// Steps of a random walk before the next begins, unless --bound says otherwise.
const WALK: u64 = 10_000;

/// Explores a model. What is known only to the caller is left at its default.
pub(super) fn search(
    interpreter: &Interpreter,
    arguments: &ExploreArguments,
    colour: bool,
    interrupt: &Interrupt,
) -> Result<told::Exploration, Failure> {
    let model = interpreter.model();
    let directory = arguments.search.disk.as_deref();
    directory.map_or(Ok(()), require_writable)?;
    let progress = Progress::start(arguments.quiet.quiet);
    let teller = progress.teller();
    teller.say(|| "compiling".to_owned());
    // Compiling is part of what the time budget is for.
    let mut options = options(arguments);
    let started = Instant::now();
    let is_over = || options.time.is_some_and(|budget| started.elapsed() >= budget);
    let compiled = native::Program::compile_unless(model, interpreter.layout(), &is_over);
    options.time = options.time.map(|budget| budget.saturating_sub(started.elapsed()));
    let options = &options;
    let (found, threads) = match compiled {
        Ok(program) => {
            let machine = || program.machine();
            explore_with(interpreter, arguments, options, machine, &*program, &teller, interrupt)
        }
        Err(why) => {
            if !arguments.quiet.quiet && why != native::Error::Stopped {
                remark(&format!("{why}; the model is interpreted, which is slow"));
            }
            let codec = BitCodec::new(model, interpreter.layout());
            let machine = || interpreter.clone();
            explore_with(interpreter, arguments, options, machine, &codec, &teller, interrupt)
        }
    };
    teller.say(|| "telling".to_owned());
    let told = tell(interpreter, arguments, &found, threads, colour);
    drop(progress);
    told.map_err(Failure::from)
}

impl From<Contradiction> for Failure {
    fn from(Contradiction(what): Contradiction) -> Self {
        let advice = "this is a bug in tribunal, please report it with the model";
        Failure::Usage(format!("the reference interpreter disagrees: {what}; {advice}"))
    }
}

/// Refuses a directory in which no file can be created.
fn require_writable(directory: &Path) -> Result<(), Failure> {
    let probe = directory.join(format!(".tribunal-{}", std::process::id()));
    let made = File::create_new(&probe).and_then(|_| std::fs::remove_file(&probe));
    let name = directory.display().to_string();
    made.map_err(|error| Failure::File { name, action: "write to", error })
}

/// Explores; says with how many threads.
fn explore_with<M: Machine>(
    interpreter: &Interpreter,
    arguments: &ExploreArguments,
    options: &Options,
    machine: impl Fn() -> M + Sync,
    codec: &impl Codec,
    teller: &Teller,
    interrupt: &Interrupt,
) -> (explore::Exploration, usize) {
    let (model, layout) = (interpreter.model(), interpreter.layout());
    let symmetry = symmetry_kind(arguments.search.symmetry);
    let reduction = Canonicalizer::new(model, layout, symmetry);
    let (state_size, rules) = (layout.size as usize, model.rules.len());
    let mut progress = |now: &explore::Progress| teller.say(|| progress_line(now));
    let stop = interrupt.flag();
    interrupt.listen(|| ());
    let threads = threads(options, codec.packed_size());
    if threads < options.threads && !arguments.quiet.quiet {
        let asked = options.threads;
        remark(&format!("{threads} threads instead of {asked}: more would take too much memory"));
    }
    let system = System { machine, codec, reduction: &reduction, state_size, rules };
    let found = explore::explore(options, &system, &mut progress, &stop);
    (found, threads)
}

/// The number of threads that search.
fn threads(options: &Options, packed_size: usize) -> usize {
    match options.strategy {
        Strategy::Depth => options.threads,
        Strategy::Simulate { .. } => options.threads.min(explore::MOST_THREADS),
        Strategy::Breadth | Strategy::Compact { .. } => explore::threads(options, packed_size),
    }
}

/// What counts as a deadlock, for the engine.
pub(in crate::commands) fn deadlock_kind(choice: DeadlockChoice) -> Deadlock {
    match choice {
        DeadlockChoice::Off => Deadlock::Off,
        DeadlockChoice::Stuck => Deadlock::Stuck,
        DeadlockChoice::Stuttering => Deadlock::Stuttering,
    }
}

/// Which states are one, for the engine.
pub(in crate::commands) fn symmetry_kind(choice: SymmetryChoice) -> Symmetry {
    match choice {
        SymmetryChoice::Full => Symmetry::Full,
        SymmetryChoice::Off => Symmetry::Off,
    }
}

fn options(arguments: &ExploreArguments) -> Options {
    let (search, limits) = (&arguments.search, &arguments.limits);
    Options {
        strategy: strategy(arguments),
        threads: limits.threads(),
        deadlock: deadlock_kind(deadlock(arguments)),
        time: limits.budget,
        memory: Some(limits.memory.unwrap_or_else(memory::default_budget) as u64),
        depth: match search.simulate {
            Some(_) => None,
            None => search.bound.map(|bound| u32::try_from(bound).unwrap_or(u32::MAX)),
        },
        directory: search.disk.clone(),
        ..Options::default()
    }
}

fn strategy(arguments: &ExploreArguments) -> Strategy {
    let search = &arguments.search;
    match (search.simulate, search.compact, search.search) {
        (Some(steps), _, _) => {
            let length = search.bound.unwrap_or(WALK);
            Strategy::Simulate { steps, seed: search.seed, length }
        }
        (None, Some(bits), _) => Strategy::Compact { bits: u32::from(bits) },
        (None, None, SearchChoice::Bfs) => Strategy::Breadth,
        (None, None, SearchChoice::Dfs) => Strategy::Depth,
    }
}

fn deadlock(arguments: &ExploreArguments) -> DeadlockChoice {
    arguments.search.deadlock.unwrap_or(DeadlockChoice::Stuttering)
}

/// `4.06M states, 16.5M rules fired, 888k states/s, 429k waiting, depth 41, 60 MiB`
pub(in crate::commands) fn progress_line(now: &explore::Progress) -> String {
    let rate = now.states as f64 / now.seconds.max(0.001);
    format!(
        "{} states, {} rules fired, {} states/s, {} waiting, depth {}, {} MiB",
        brief(now.states),
        brief(now.rules_fired),
        brief(rate as u64),
        brief(now.frontier),
        now.depth,
        now.bytes >> 20,
    )
}

/// Three digits of a number: `999`, `1.23k`, `45.6M`.
fn brief(number: u64) -> String {
    let mut value = number as f64;
    for unit in ["", "k", "M", "G"] {
        match value {
            value if value < 1000.0 && unit.is_empty() => return number.to_string(),
            value if value < 9.995 => return format!("{value:.2}{unit}"),
            value if value < 99.95 => return format!("{value:.1}{unit}"),
            value if value < 999.5 => return format!("{value:.0}{unit}"),
            _ => {}
        }
        value /= 1000.0;
    }
    format!("{value:.0}T")
}

/// Puts what was found into words, with what was asked.
fn tell(
    interpreter: &Interpreter,
    arguments: &ExploreArguments,
    found: &explore::Exploration,
    threads: usize,
    colour: bool,
) -> Result<told::Exploration, Contradiction> {
    let told = told(interpreter, found, arguments.evidence.trace_all, colour)?;
    let reason = match &found.verdict {
        Verdict::Undecided(reason) => Some(reason_line(reason, arguments.search.bound)),
        _ => told.reason,
    };
    Ok(told::Exploration {
        settings: settings(interpreter.model(), arguments, threads),
        reason,
        ..told
    })
}

/// Puts what was found into words, confirmed by the reference interpreter.
pub(in crate::commands) fn told(
    interpreter: &Interpreter,
    found: &explore::Exploration,
    whole_states: bool,
    colour: bool,
) -> Result<told::Exploration, Contradiction> {
    let model = interpreter.model();
    let mut told = told::Exploration {
        totals: totals(found),
        rules: names(model).zip(found.firings.iter().copied()).collect(),
        properties: facts(model),
        ..told::Exploration::default()
    };
    let mut narrator = Narrator::new(interpreter, whole_states, colour);
    for (index, step) in found.counterexample.iter().enumerate() {
        let firing = Firing { rule: step.rule as usize, instance: step.instance };
        match index {
            0 => narrator.start(firing, &step.state)?,
            _ => narrator.step(firing, &step.state)?,
        }
    }
    match &found.verdict {
        Verdict::Verified => verified(&mut told, interpreter, found, colour),
        Verdict::Undecided(_) => told.verdict = told::Verdict::Undecided,
        Verdict::Deadlock => {
            told.verdict = told::Verdict::Deadlock;
            told.broken = Some(no_way_out(interpreter, &narrator));
            told.counterexample = Some(narrator.finish());
        }
        Verdict::Violation(violation) => {
            told.verdict = told::Verdict::Violation;
            told.broken = Some(violated(&mut narrator, *violation)?);
            told.counterexample = Some(narrator.finish());
        }
    }
    Ok(told)
}

fn names(model: &Model) -> impl Iterator<Item = String> + '_ {
    model.rules.iter().map(|rule| rule.name.clone())
}

/// What the contract calls a choice of symmetry.
pub(in crate::commands) fn symmetry_name(choice: SymmetryChoice) -> &'static str {
    match choice {
        SymmetryChoice::Full => "full",
        SymmetryChoice::Off => "off",
    }
}

/// The scalarsets that are no symmetry of the model, because the order of their members may show.
fn asymmetric(model: &Model) -> Vec<String> {
    let mut types: Vec<_> = model.ordered.iter().map(|ordered| ordered.scalarset).collect();
    types.sort();
    types.dedup();
    let name = |ty: TypeId| model.types[ty.0 as usize].name.clone();
    types.into_iter().map(|ty| name(ty).unwrap_or_else(|| "a scalarset".to_owned())).collect()
}

fn settings(model: &Model, arguments: &ExploreArguments, threads: usize) -> Settings {
    let search = &arguments.search;
    Settings {
        asymmetric: match search.symmetry {
            SymmetryChoice::Full => asymmetric(model),
            SymmetryChoice::Off => Vec::new(),
        },
        symmetry: symmetry_name(search.symmetry).to_owned(),
        deadlock: deadlock(arguments).name().to_owned(),
        search: match (search.simulate, search.search) {
            (Some(_), _) => "simulate".to_owned(),
            (None, SearchChoice::Bfs) => "bfs".to_owned(),
            (None, SearchChoice::Dfs) => "dfs".to_owned(),
        },
        jobs: match (search.simulate, search.search) {
            (None, SearchChoice::Dfs) => 1,
            _ => threads,
        },
        seed: search.simulate.map(|_| search.seed),
        bound: search.bound,
        compact: search.compact,
        ..Settings::default()
    }
}

fn totals(found: &explore::Exploration) -> Totals {
    Totals {
        states: found.states,
        rules_fired: found.rules_fired,
        depth: u64::from(found.depth),
        seconds: found.seconds,
        search_seconds: found.seconds,
        bytes_per_state: found.bytes_per_state(),
        omission_probability: found.omission_probability,
    }
}

/// Everything was visited. What was to be reached and was not is a violation, too; of a property
/// that nothing looks at, nothing can be said.
fn verified(
    told: &mut told::Exploration,
    interpreter: &Interpreter,
    found: &explore::Exploration,
    colour: bool,
) {
    let model = interpreter.model();
    let Some((cover, span, sentence)) = missed_cover(model, &found.covered) else {
        let unchecked = model.properties.iter().find(|p| p.kind == PropertyKind::Liveness);
        told.verdict = match unchecked {
            None => told::Verdict::Verified,
            Some(_) => told::Verdict::Undecided,
        };
        told.reason = unchecked.map(|property| {
            format!("liveness \"{}\" is not checked; everything else holds", property.name)
        });
        return;
    };
    let diagnostic = Diagnostic::error(span, sentence.clone());
    told.verdict = told::Verdict::Violation;
    told.broken = Some(Broken {
        kind: "cover".to_owned(),
        property: cover,
        sentence,
        place: Some(model.source.position(span.start)),
        explanation: diagnostic.render(&model.source, colour),
    });
}

/// The first cover that held in no state, or `cover` statement that no run reached: its name, its
/// place, and what to say of it.
fn missed_cover(model: &Model, covered: &[bool]) -> Option<(String, Span, String)> {
    let properties = model.properties.iter().zip(covered).filter_map(|(property, &covered)| {
        let missed = property.kind == PropertyKind::Cover && !covered;
        let sentence = format!("cover \"{}\" holds in no state", property.name);
        missed.then(|| (property.name.clone(), property.span, sentence))
    });
    let reached = covered.iter().skip(model.properties.len());
    let statements = model.covers.iter().zip(reached).filter_map(|(cover, &covered)| {
        let sentence = format!("cover \"{}\" is true in no run that reaches it", cover.name);
        (!covered).then(|| (cover.name.clone(), cover.span, sentence))
    });
    properties.chain(statements).next()
}

fn violated(narrator: &mut Narrator<'_>, violation: Violation) -> Result<Broken, Contradiction> {
    let firing = |rule: u32, instance: u64| Firing { rule: rule as usize, instance };
    match violation {
        Violation::Broken { property } | Violation::PropertyFailed { property } => {
            narrator.property_breaks(property as usize)
        }
        Violation::GuardFailed { rule, instance } | Violation::RuleFailed { rule, instance } => {
            narrator.step_fails(firing(rule, instance))
        }
        Violation::StartFailed { rule, instance } => narrator.start_fails(firing(rule, instance)),
    }
}

/// Why a state is a deadlock: no rule applies, or those that do change nothing.
fn no_way_out(interpreter: &Interpreter, narrator: &Narrator<'_>) -> Broken {
    let (model, state) = (interpreter.model(), narrator.state());
    let mut idle = Vec::new();
    for (number, rule) in model.rules.iter().enumerate() {
        let instances = instance::count(model, &rule.parameters).unwrap_or_default();
        let applies =
            |at: &u64| !matches!(interpreter.run_rule(state, number, *at).end, End::Disabled);
        if let Some(at) = (0..instances).find(applies) {
            let with = with(&interpreter.bindings(state, number, at));
            idle.push(format!("rule \"{}\"{with} applies but leads nowhere else\n", rule.name));
        }
    }
    let sentence = match idle.is_empty() {
        true => "no rule applies",
        false => "no rule leads to another state",
    };
    let state_lines = fold(model, state).into_iter();
    let state_lines: String =
        state_lines.map(|(place, value)| format!("    {place} = {value}\n")).collect();
    Broken {
        kind: "deadlock".to_owned(),
        property: "deadlock".to_owned(),
        sentence: sentence.to_owned(),
        place: None,
        explanation: format!("{sentence} in this state:\n{state_lines}{}", idle.concat()),
    }
}

/// Why there is no answer.
pub(in crate::commands) fn reason_line(reason: &Reason, bound: Option<u64>) -> String {
    let why = match reason {
        Reason::Time => "the time budget ran out".to_owned(),
        Reason::Memory => "the memory budget ran out".to_owned(),
        Reason::Depth => {
            format!(
                "nothing was looked for more than {} away",
                counted(bound.unwrap_or_default(), "step")
            )
        }
        Reason::Interrupted => "interrupted".to_owned(),
        Reason::Simulated => "random walks do not visit every state".to_owned(),
        Reason::Disk(message) => format!("a temporary file failed: {message}"),
    };
    format!("{why}; nothing wrong so far")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brief_numbers_have_three_digits() {
        let shown = [0, 999, 1_000, 12_345, 999_499, 999_999, 45_600_000, 7_000_000_000].map(brief);
        assert_eq!(shown, ["0", "999", "1.00k", "12.3k", "999k", "1.00M", "45.6M", "7.00G"]);
    }
}
