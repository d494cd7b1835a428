//! `tribunal explore`: model-check a Murphi model, or check a recorded counterexample.

use std::path::Path;
use std::time::Duration;

use explore::{
    Asked, Checkpointing, Deadlock, Disk, Event, Loaded, Question, Recorded, Refuted, StateGraph,
    Strategy,
};
use murphi::check::{self, Reading};
use murphi::ir::Model;
use report::exploration::{graph, json, text};
use report::run::Recognised;
use report::{ci, diagnostics_json, refusal_json};

use super::cluster::{self, ConnectedProcesses, Searches};
use super::{count, remark};
use crate::arguments::{
    DeadlockChoice, DialectChoice, ExploreArguments, LanguageFlags, SearchChoice, SearchFlags,
};
use crate::cases::Cases;
use crate::ending::{Ending, Failure};
use crate::input;
use crate::interrupt::Interrupt;
use crate::output::{self, Output, Saved};
use crate::progress::Progress;

pub(super) mod model;

pub(crate) fn run(arguments: &ExploreArguments, interrupt: &Interrupt) -> Result<Ending, Failure> {
    if arguments.file == "-" && arguments.evidence.replay.as_deref() == Some("-") {
        let sentence = "only one of the model and the counterexample can be standard input";
        return Err(Failure::Usage(sentence.to_owned()));
    }
    if let Some(model) = &arguments.model {
        let file = &arguments.file;
        return Err(Failure::Usage(format!(
            "explore checks a model's own properties and takes no --model; to check a memory model: \
             tribunal verify --model {model} {file}"
        )));
    }
    if arguments.list_constants {
        let source = model::read_source(&arguments.file)?;
        let text = murphi::constants(&source)
            .map_err(|refusal| model::refused(refusal, arguments.colour))?;
        let lines: String =
            text.iter().map(|(name, value)| format!("{name} = {value}\n")).collect();
        return output::deliver(&lines, None, Ending::NoViolation, interrupt);
    }
    if arguments.cluster.is_follower() {
        return follow(arguments, interrupt);
    }
    let mut cases = Cases::open(&arguments.ci, "explore", interrupt)?;
    let ended = match &arguments.evidence.replay {
        Some(file) => check(arguments, file),
        None if arguments.check_only => check_only(arguments),
        None => explore(arguments, &mut cases, interrupt),
    };
    cases.conclude(input::shown(&arguments.file), ended)
}

/// Searches the model and writes the results.
fn explore(
    arguments: &ExploreArguments,
    cases: &mut Cases,
    interrupt: &Interrupt,
) -> Result<Ending, Failure> {
    let model = load(arguments, &whole_language(arguments), &asked(arguments))?;
    if !arguments.quiet.quiet {
        suggest_symmetry(&model);
    }
    let page = match &arguments.page.report {
        Some(path) => {
            let recognised = Recognised::of(model.interpreter.model(), &arguments.page.lanes());
            recognised.map_err(|wrong| Failure::Usage(wrong.to_string()))?;
            Some(Saved::create(path, interrupt)?)
        }
        None => None,
    };
    let graph = match &arguments.graph {
        Some(path) => Some((graph_format(path)?, Saved::create(path, interrupt)?)),
        None => None,
    };
    let save = arguments.evidence.save.as_deref();
    let save = save.map(|path| Saved::create(path, interrupt)).transpose()?;
    if let Some(directory) = &arguments.search.disk {
        output::require_writable(directory)?;
    }
    let mut question = question(arguments)?;
    model.prepare(&mut question).map_err(|why| Failure::Usage(why.to_string()))?;
    let _joined = join(arguments, &model, &mut question, interrupt)?;
    let quiet = arguments.quiet.quiet;
    let progress = Progress::start(quiet);
    let reporter = progress.reporter();
    let mut events = |event: Event<'_>| match event {
        Event::Compiling | Event::Searching(_) | Event::Confirming => {
            reporter.say(|| event.to_string());
        }
        Event::Interpreting(_) | Event::FewerThreads { .. } => {
            if !quiet {
                remark(&event.to_string());
            }
        }
        Event::OrderMayShow(places) => {
            model::warn(places, model.source(), quiet, arguments.colour);
        }
    };
    let stop = interrupt.flag();
    interrupt.listen(|| ());
    if let Some((format, mut file)) = graph {
        let options = &question.options;
        let bound = options.depth.map(u64::from);
        let graph = StateGraph::new(&model.interpreter, options.deadlock, bound, &stop);
        let graph = graph.map_err(|why| Failure::Usage(why.to_string()))?;
        let name = input::shown(&arguments.file);
        file.write(format(&graph, model.interpreter.model(), name).as_bytes())?;
        file.finish()?;
    }
    let report = model.explore(&question, &mut events, &stop);
    drop(progress);
    let report = report.map_err(|wrong| Failure::Usage(wrong.to_string()))?;
    if let Some(mut file) = save {
        file.write((json::object(&report) + "\n").as_bytes())?;
        file.finish()?;
    }
    if let Some(mut file) = page {
        let lanes = arguments.page.lanes();
        let page = report::run::explored(&report, model.interpreter.model(), &lanes);
        file.write(page.map_err(|wrong| Failure::Usage(wrong.to_string()))?.as_bytes())?;
        file.finish()?;
    }
    if cases.are_wanted() {
        cases.add(&ci::exploration(&report));
    }
    deliver(arguments, &report, interrupt)
}

/// A writer of a state graph, with the name of the model.
type GraphWriter = fn(&StateGraph, &Model, &str) -> String;

/// The writer of state graphs for a file name.
fn graph_format(path: &Path) -> Result<GraphWriter, Failure> {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("dot" | "gv") => Ok(graph::dot),
        Some("json") => Ok(graph::json),
        _ => Err(Failure::Usage(format!(
            "cannot write the graph of states to {}: use a name that ends in .dot or .json",
            path.display()
        ))),
    }
}

/// Connects to the other processes, if several search together.
fn join(
    arguments: &ExploreArguments,
    model: &Loaded,
    question: &mut Question,
    interrupt: &Interrupt,
) -> Result<Option<ConnectedProcesses>, Failure> {
    let (flags, options) = (&arguments.cluster, &question.options);
    cluster::require_file(flags, &arguments.file)?;
    let identity = |processes| model.cluster_identity(question, processes);
    let searches = (options.threads, Searches::One);
    let joined = cluster::join(flags, searches, identity, interrupt)?;
    question.options.cluster = joined.as_ref().map(|joined| joined.cluster.clone());
    Ok(joined)
}

/// Takes part in a search that another process reports.
fn follow(arguments: &ExploreArguments, interrupt: &Interrupt) -> Result<Ending, Failure> {
    let source = model::read_source(&arguments.file)?;
    let model = Loaded::read(&source, &whole_language(arguments), &asked(arguments))
        .map_err(|refusal| model::refused(refusal, arguments.colour))?;
    let mut question = question(arguments)?;
    model.identify(&mut question);
    let joined = join(arguments, &model, &mut question, interrupt)?;
    let stop = interrupt.flag();
    interrupt.listen(|| ());
    let report = model.explore(&question, &mut |_| (), &stop);
    let report = report.map_err(|wrong| Failure::Usage(wrong.to_string()))?;
    joined.inspect(|joined| cluster::name_loss(&joined.cluster));
    Ok(Ending::of(&report.verdict).unless_interrupted(interrupt))
}

/// The options for reading the model, including the types to treat as scalarsets.
fn whole_language(arguments: &ExploreArguments) -> check::Options {
    let language = language(&arguments.language);
    let call_limit = arguments.call_limit.unwrap_or(language.call_limit);
    check::Options { call_limit, reading: Reading::Whole, ..language }
}

/// Checks the text of the model, without a search.
fn check_only(arguments: &ExploreArguments) -> Result<Ending, Failure> {
    let source = model::read_source(&arguments.file)?;
    let read = Loaded::read(&source, &whole_language(arguments), &asked(arguments));
    let (problems, source, ending) = match &read {
        Ok(loaded) => {
            let mut warnings = [&loaded.warnings[..], &loaded.order_warnings].concat();
            warnings.sort_by_key(|warning| warning.span.start);
            (Ok(warnings), loaded.source(), Ending::NoViolation)
        }
        Err(refusal) => (Err(refusal), &refusal.source, Ending::BadRequest),
    };
    let text = match (arguments.json.json, problems) {
        (true, Ok(warnings)) => diagnostics_json(source, &warnings),
        (true, Err(refusal)) => refusal_json(refusal),
        (false, Ok(warnings)) => {
            model::warn(&warnings, source, arguments.quiet.quiet, arguments.colour);
            format!("{}: no errors, {}\n", source.name, count(warnings.len(), "warning"))
        }
        (false, Err(refusal)) => {
            return Err(model::refused(refusal.clone(), arguments.colour));
        }
    };
    let mut output = Output::stdout();
    output.print(&text)?;
    output.flush()?;
    Ok(ending)
}

/// Suggests types that could be treated as scalarsets.
fn suggest_symmetry(model: &Loaded) {
    let types = model.symmetric_types();
    if !types.is_empty() {
        let flags: Vec<String> = types.iter().map(|name| format!("--symmetric {name}")).collect();
        let (is, s) = if types.len() == 1 { ("is", "") } else { ("are", "s") };
        let names = types.join(", ");
        let flags = flags.join(" ");
        remark(&format!(
            "hint: type{s} {names} {is} used symmetrically; {flags} adds symmetry reduction"
        ));
    }
}

/// The question for the library.
fn question(arguments: &ExploreArguments) -> Result<Question, Failure> {
    let (search, limits) = (&arguments.search, &arguments.limits);
    let disk = disk(search)?;
    let flags = &arguments.cluster;
    if flags.is_asked_for() && search.search != SearchChoice::Bfs {
        let sentence = "several processes search breadth-first only, not with --search dfs or best";
        return Err(Failure::Usage(sentence.to_owned()));
    }
    let here = flags.on_this_machine();
    if search.search == SearchChoice::Best && search.towards.is_none() {
        let sentence = "--search best needs --towards EXPR, the condition to search towards";
        return Err(Failure::Usage(sentence.to_owned()));
    }
    let strategy = match (search.simulate, search.compact, search.search) {
        (Some(steps), _, _) => {
            let length = search.bound.unwrap_or(explore::WALK);
            Strategy::Simulate { steps, seed: search.seed, length }
        }
        (None, Some(bits), _) => Strategy::Compact { bits: u32::from(bits) },
        (None, None, SearchChoice::Bfs) => Strategy::Breadth,
        (None, None, SearchChoice::Dfs) => Strategy::Depth,
        (None, None, SearchChoice::Best) => Strategy::Best,
    };
    let options = explore::Options {
        strategy,
        threads: limits.threads_of_each(here),
        deadlock: search.deadlock.unwrap_or(DeadlockChoice::Stuttering).into(),
        time: limits.budget,
        memory: Some(limits.memory.unwrap_or_else(|| explore::default_budget() / here) as u64),
        depth: match search.simulate {
            Some(_) => None,
            None => search.bound.map(|bound| u32::try_from(bound).unwrap_or(u32::MAX)),
        },
        directory: search.disk.clone(),
        disk,
        ..explore::Options::default()
    };
    let whole_states = arguments.evidence.trace_all;
    Ok(Question { options, symmetry: search.symmetry.into(), whole_states })
}

/// The directory for states that do not fit into memory.
fn disk(search: &SearchFlags) -> Result<Option<Disk>, Failure> {
    let checkpoint = search.checkpoint.as_ref().or(search.resume.as_ref());
    let Some(directory) = search.disk.as_ref().or(checkpoint).filter(|_| search.compact.is_none())
    else {
        return Ok(None);
    };
    if search.search != SearchChoice::Bfs {
        let sentence = "--disk, --checkpoint and --resume need a breadth-first search, not \
                        --search dfs or best";
        return Err(Failure::Usage(sentence.to_owned()));
    }
    let checkpoint = checkpoint.map(|directory| Checkpointing {
        directory: directory.clone(),
        every: search.every.unwrap_or(Duration::from_secs(1)),
        resume: search.resume.is_some(),
        identity: Vec::new(),
        keep: false,
    });
    Ok(Some(Disk { directory: directory.clone(), checkpoint, most_in_memory: None }))
}

/// Prints the report, and determines how the run ended.
fn deliver(
    arguments: &ExploreArguments,
    report: &explore::Report,
    interrupt: &Interrupt,
) -> Result<Ending, Failure> {
    let colour = output::colours(arguments.colour, &std::io::stdout()) && !arguments.json.json;
    let detail = text::Detail {
        colour,
        quiet: arguments.quiet.quiet,
        coverage: arguments.coverage,
        hidden: &arguments.evidence.hide,
    };
    let text = match arguments.json.json {
        true => json::object(report) + "\n",
        false => text::report(report, detail),
    };
    let ending = Ending::of(&report.verdict).unless_interrupted(interrupt);
    output::deliver(&text, None, ending, interrupt)
}

/// Replays a recorded counterexample.
fn check(arguments: &ExploreArguments, file: &str) -> Result<Ending, Failure> {
    let unreadable = |reason| Failure::Usage(format!("{}: {reason}", input::shown(file)));
    let recorded = explore::read_recorded(&model::read_text(file)?).map_err(unreadable)?;
    let language = recorded_language(&arguments.language, &recorded).map_err(unreadable)?;
    let call_limit = arguments.call_limit.or(recorded.call_limit).unwrap_or(language.call_limit);
    let language = check::Options { call_limit, reading: Reading::Whole, ..language };
    let deadlock = deadlock_of(arguments.search.deadlock, &recorded).map_err(unreadable)?;
    let mut asked = asked(arguments);
    asked.liveness.extend(recorded.liveness.iter().cloned());
    let is_new = |name: &&String| !arguments.symmetric.contains(*name);
    asked.symmetric.extend(recorded.symmetric.iter().filter(is_new).cloned());
    let model = load(arguments, &language, &asked)?;
    let result = model.replay(&recorded, deadlock);
    let name = input::shown(file);
    replayed(input::shown(&arguments.file), name, arguments.json.json, &recorded, &result)
}

/// Prints the result of a replay.
pub(super) fn replayed(
    model: &str,
    file: &str,
    json: bool,
    recorded: &Recorded,
    result: &Result<(), Refuted>,
) -> Result<Ending, Failure> {
    let line = match json {
        true => json::replayed(model, file, recorded, result),
        false => text::replayed(model, file, recorded, result),
    };
    let mut output = Output::stdout();
    output.print(&(line + "\n"))?;
    output.flush()?;
    Ok(if result.is_ok() { Ending::NoViolation } else { Ending::Violation })
}

/// The last value of each constant.
fn last_of_each(constants: &[(String, String)]) -> Vec<(String, String)> {
    let is_last = |(at, (name, _)): &(usize, &(String, String))| {
        constants[at + 1..].iter().all(|(later, _)| later != name)
    };
    constants.iter().enumerate().filter(is_last).map(|(_, constant)| constant.clone()).collect()
}

/// The options for reading the model.
pub(super) fn language(flags: &LanguageFlags) -> check::Options {
    let usual = check::Options::default();
    check::Options {
        constants: last_of_each(&flags.constants),
        dialect: flags.dialect.map_or(usual.dialect, Into::into),
        loop_limit: flags.loop_limit.unwrap_or(usual.loop_limit),
        ..usual
    }
}

/// The options with which the recorded model was read; flags override them.
pub(super) fn recorded_language(
    flags: &LanguageFlags,
    recorded: &Recorded,
) -> Result<check::Options, String> {
    let usual = check::Options::default();
    let mut constants = recorded.constants.clone();
    constants.extend(flags.constants.iter().cloned());
    let constants = last_of_each(&constants);
    let dialect = match (flags.dialect, recorded.dialect.as_deref()) {
        (Some(asked), _) => asked,
        (None, Some(name)) => DialectChoice::of_name(name)?,
        (None, None) => DialectChoice::Cmurphi,
    };
    let loop_limit = flags.loop_limit.or(recorded.loop_limit).unwrap_or(usual.loop_limit);
    Ok(check::Options { constants, dialect: dialect.into(), loop_limit, ..usual })
}

/// The definition of deadlock of the recorded search; a flag overrides it.
pub(super) fn deadlock_of(
    asked: Option<DeadlockChoice>,
    recorded: &Recorded,
) -> Result<Deadlock, String> {
    let choice = match (asked, recorded.deadlock.as_deref()) {
        (Some(asked), _) => asked,
        (None, Some(name)) => DeadlockChoice::of_name(name)?,
        (None, None) => DeadlockChoice::Stuttering,
    };
    Ok(choice.into())
}

/// The properties and expressions that flags add to the model.
fn asked(arguments: &ExploreArguments) -> Asked {
    Asked {
        liveness: arguments.liveness.clone(),
        watched: arguments.evidence.show.clone(),
        towards: arguments.search.towards.clone(),
        symmetric: arguments.symmetric.clone(),
    }
}

/// Loads the model of the command line.
fn load(
    arguments: &ExploreArguments,
    language: &check::Options,
    asked: &Asked,
) -> Result<Loaded, Failure> {
    let source = model::read_source(&arguments.file)?;
    let loaded = Loaded::read(&source, language, asked)
        .map_err(|refusal| model::refused(refusal, arguments.colour))?;
    model::warn(&loaded.warnings, loaded.source(), arguments.quiet.quiet, arguments.colour);
    Ok(loaded)
}
