//! `tribunal verify`: does a protocol implement its memory model?
//!
//! Crate `conform` verifies and has what it finds confirmed; here flags become a question, and what
//! came of it is printed and kept.

use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use conform::mutate;
use conform::report::{Open, Report, Unanswered, answer};
use conform::{EventNames, MOST_ALARMS, MemoryModel, Options};
use evidence::Verdict;
use explore::{CheckpointFolder, Checkpointing, Deadlock, SearchIdentity, Stop};
use murphi::check;
use murphi::source::Source;
use report::ci;
use report::run::{self, Lanes, Recognised, Unrecognised};
use report::verification::{json, keep, text};

use super::cluster::{self, ConnectedProcesses, Searches};
use super::explore::{deadlock_of, language, model, recorded_language, replayed};
use super::remark;
use crate::arguments::{AssumptionChoice, MemoryModelChoice, VerifyArguments, WitnessChoice};
use crate::cases::Cases;
use crate::ending::{Ending, Failure};
use crate::input;
use crate::interrupt::Interrupt;
use crate::output::{self, Saved};
use crate::progress::Progress;

mod any;

/// The number of alarms that `--continue` passes over.
const MORE_ALARMS: usize = 1_000;

pub(crate) fn run(arguments: &VerifyArguments, interrupt: &Interrupt) -> Result<Ending, Failure> {
    if arguments.file == "-" && arguments.replay.as_deref() == Some("-") {
        let sentence = "only one of the protocol and the counterexample can be standard input";
        return Err(Failure::Usage(sentence.to_owned()));
    }
    usable(arguments)?;
    cluster::require_file(&arguments.cluster, &arguments.file)?;
    if arguments.cluster.is_follower() {
        return follow(arguments, interrupt);
    }
    if let Some(file) = &arguments.replay {
        return replay(arguments, file);
    }
    let mut cases = Cases::open(&arguments.ci, "verify", interrupt)?;
    let ended = ask(arguments, &mut cases, interrupt);
    cases.conclude(input::shown(&arguments.file), ended)
}

/// Answers the question of the flags.
fn ask(
    arguments: &VerifyArguments,
    cases: &mut Cases,
    interrupt: &Interrupt,
) -> Result<Ending, Failure> {
    let language = language(&arguments.language);
    let source = protocol(arguments, &language)?;
    let options = options(arguments, &language);
    if let Some(directory) = &arguments.disk {
        output::require_writable(directory)?;
    }
    if arguments.mutants {
        return mutants(arguments, &source, options, interrupt);
    }
    let mut options = options;
    let any = arguments.any.any_processors;
    let folder = match any {
        true => any::folder(arguments, &source, &mut options)?,
        false => folder(&source, &mut options)?,
    };
    let joined = join(arguments, &source, &options, interrupt)?;
    options.search.cluster = joined.as_ref().map(|joined| joined.cluster.clone());
    let ended = match any {
        true => any::run(arguments, &source, (&options, folder), cases, interrupt),
        false => verify(arguments, &source, (&options, folder), cases, interrupt),
    };
    if let Some(joined) = joined {
        joined.dismiss(&ended);
    }
    ended
}

/// Waits for the other processes, if several search together.
fn join(
    arguments: &VerifyArguments,
    source: &Source,
    options: &Options,
    interrupt: &Interrupt,
) -> Result<Option<ConnectedProcesses>, Failure> {
    let flags = &arguments.cluster;
    if !flags.is_asked_for() {
        return Ok(None);
    }
    let mut identity = conform::identity(source, options);
    let any = arguments.any.any_processors.to_string();
    identity.push(("--any-processors".to_owned(), any));
    let of_all =
        |processes| explore::cluster_identity(identity.clone(), &options.search, processes);
    cluster::join(flags, (options.search.threads, Searches::Several), of_all, interrupt)
}

/// Takes part in the searches of the first process, which reports; ends as that one does.
fn follow(arguments: &VerifyArguments, interrupt: &Interrupt) -> Result<Ending, Failure> {
    let language = language(&arguments.language);
    let source = protocol(arguments, &language)?;
    let options = options(arguments, &language);
    let Some(joined) = join(arguments, &source, &options, interrupt)? else {
        return Ok(Ending::BadRequest);
    };
    let stop = interrupt.flag();
    interrupt.listen(|| ());
    let served = explore::serve(&joined.cluster, &options.search, &stop);
    cluster::name_loss(&joined.cluster);
    let ending = served.ok().and_then(Ending::of_code).unwrap_or(Ending::Undecided);
    Ok(ending.unless_interrupted(interrupt))
}

/// Refuses incomplete questions.
fn usable(arguments: &VerifyArguments) -> Result<(), Failure> {
    let any = arguments.any.any_processors;
    if arguments.model.is_none() && !any && arguments.replay.is_none() {
        let file = &arguments.file;
        return Err(Failure::Usage(format!(
            "--model is missing\n  \
             tribunal verify --model sc {file}            check it against a memory model (sc, tso)\n  \
             tribunal verify --any-processors {file}      prove its invariants for any number of \
             processors\n  \
             tribunal explore {file}                      check its invariants in every reachable state"
        )));
    }
    Ok(())
}

/// The protocol, with scalarsets for the types of --symmetric.
fn protocol(arguments: &VerifyArguments, language: &check::Options) -> Result<Source, Failure> {
    let source = model::read_source(&arguments.file)?;
    let treated = murphi::symmetric::treat(&source, &arguments.symmetric, language);
    let refused = |wrong: murphi::symmetric::Asymmetric| {
        model::refused(murphi::Refusal::of(&wrong.source, wrong.problems), arguments.colour)
    };
    Ok(treated.map_err(refused)?.source)
}

/// Verifies the protocol and writes the results.
fn verify(
    arguments: &VerifyArguments,
    source: &Source,
    (options, folder): (&Options, Option<CheckpointFolder>),
    cases: &mut Cases,
    interrupt: &Interrupt,
) -> Result<Ending, Failure> {
    let refused = |why| refused(arguments, source, why);
    if let Some(directory) = &arguments.emit {
        let composed = conform::compositions(source, options)
            .map_err(|why| refused(Unanswered::Refused(why)))?;
        output::create_directory(directory)?;
        for (number, (name, text)) in composed.iter().enumerate() {
            let path = directory.join(format!("lemma-{}.m", number + 1));
            output::save(&path, &format!("-- {name}\n{text}"), interrupt)?;
        }
    }
    if let Some(directory) = &arguments.out {
        output::create_directory(directory)?;
    }
    let page = PageFile::open(arguments, source, &options.language, interrupt)?;
    let stop = interrupt.stop(arguments.limits.budget);
    let progress = Progress::start(arguments.quiet.quiet);
    let reporter = progress.reporter();
    let mut watch = |lemma: &str, now: &explore::Progress| {
        reporter.say(|| format!("{lemma}: {now}"));
    };
    let report = answer(source, options, &mut watch, &stop);
    drop(progress);
    let report = report.map_err(refused)?;
    model::warn(&report.warnings, source, arguments.quiet.quiet, arguments.colour);
    page.write(|model, lanes| run::verified(&report, model, lanes))?;
    let go_on = match &arguments.out {
        Some(directory) => {
            for file in keep::files(&report) {
                output::save(&directory.join(file.name), &file.text, interrupt)?;
            }
            keep::from_files(&report, &arguments.file, directory)
        }
        None => keep::go_on(&report, &arguments.file),
    };
    let is_open = match &report.verdict {
        Verdict::Undecided(Open::Ended(_)) => true,
        verdict => matches!(verdict, Verdict::Undecided(_)) && was_stopped(&stop),
    };
    conclude(arguments, folder, is_open);
    deliver(arguments, &report, &go_on, cases, interrupt)
}

/// Whether time ran out, or somebody interrupted.
fn was_stopped(stop: &Stop) -> bool {
    stop.flag().load(Relaxed)
}

/// Removes the checkpoints of a verification, unless a search was ended early: then says how to continue.
fn conclude(arguments: &VerifyArguments, folder: Option<CheckpointFolder>, is_open: bool) {
    let Some(folder) = folder else { return };
    match arguments.checkpoint.as_ref().or(arguments.resume.as_ref()).filter(|_| is_open) {
        Some(directory) => {
            remark(&format!("checkpoint: continue with --resume {}", directory.display()));
        }
        None => folder.finish(),
    }
}

/// The HTML page, if requested.
struct PageFile(Option<(Saved, murphi::ir::Model, Lanes)>);

impl PageFile {
    /// Creates the file, and checks the types and variables that flags name.
    fn open(
        arguments: &VerifyArguments,
        source: &Source,
        language: &check::Options,
        interrupt: &Interrupt,
    ) -> Result<Self, Failure> {
        let Some(path) = &arguments.page.report else { return Ok(PageFile(None)) };
        let refused = |wrong| model::refused(murphi::Refusal::of(source, wrong), arguments.colour);
        let model = murphi::load(source.clone(), language).map_err(refused)?.model;
        let lanes = arguments.page.lanes();
        Recognised::of(&model, &lanes).map_err(|wrong| Failure::Usage(wrong.to_string()))?;
        Ok(PageFile(Some((Saved::create(path, interrupt)?, model, lanes))))
    }

    /// Writes it.
    fn write(
        self,
        page: impl FnOnce(&murphi::ir::Model, &Lanes) -> Result<String, Unrecognised>,
    ) -> Result<(), Failure> {
        let Some((mut file, model, lanes)) = self.0 else { return Ok(()) };
        let page = page(&model, &lanes).map_err(|wrong| Failure::Usage(wrong.to_string()))?;
        file.write(page.as_bytes())?;
        file.finish()
    }
}

/// Prints the report, and determines how the run ended.
fn deliver(
    arguments: &VerifyArguments,
    report: &Report,
    go_on: &[String],
    cases: &mut Cases,
    interrupt: &Interrupt,
) -> Result<Ending, Failure> {
    if cases.are_wanted() {
        cases.add_only(ci::verification(report));
    }
    let text = match arguments.json.json {
        true => json::object(report) + "\n",
        false => text::report(report, go_on, arguments.quiet.quiet, in_colours(arguments)),
    };
    let ending = Ending::of(&report.verdict).unless_interrupted(interrupt);
    output::deliver(&text, None, ending, interrupt)
}

/// Tests all mutants and prints the report.
fn mutants(
    arguments: &VerifyArguments,
    source: &Source,
    verify: Options,
    interrupt: &Interrupt,
) -> Result<Ending, Failure> {
    let memory_model = verify.memory_model;
    let jobs = verify.search.threads;
    let usual = mutate::Options::default().verify.search;
    let mut options = mutate::Options { verify, ..mutate::Options::default() };
    options.survivors = arguments.survivors;
    options.only.clone_from(&arguments.mutant);
    options.jobs = jobs;
    options.verify.search.threads = 1;
    options.verify.search.time = arguments.limits.budget.or(usual.time);
    options.verify.search.memory = arguments.limits.memory.map(|m| m as u64).or(usual.memory);
    let stop = interrupt.stop(None);
    let progress = Progress::start(arguments.quiet.quiet);
    let reporter = progress.reporter();
    reporter.say(|| "verifying the protocol".to_owned());
    let mut watch = |now: &mutate::Progress| {
        reporter.say(|| format!("mutants: {} of {}", now.done, now.total));
    };
    let report = mutate::run(source, &options, &mut watch, stop.flag());
    drop(progress);
    let report = report.map_err(|why| refused(arguments, source, Unanswered::Refused(why)))?;
    let text = match arguments.json.json {
        true => report.json(source, memory_model) + "\n",
        false => {
            let text = report.text(source);
            let lines = if arguments.quiet.quiet { 1 } else { usize::MAX };
            let text = text.lines().take(lines).map(|line| format!("{line}\n"));
            format!("{}: {}", source.name, text.collect::<String>())
        }
    };
    let ending = match interrupt.happened() {
        true => Ending::Interrupted,
        false => Ending::of(&report.verdict()),
    };
    output::deliver(&text, None, ending, interrupt)
}

/// Replays a recorded counterexample. The recorded options apply unless flags override them.
fn replay(arguments: &VerifyArguments, file: &str) -> Result<Ending, Failure> {
    let name = input::shown(file);
    let unreadable = |reason: String| Failure::Usage(format!("{name}: {reason}"));
    let recorded = conform::Recorded::read(&model::read_text(file)?).map_err(unreadable)?;
    let language = recorded_language(&arguments.language, &recorded.run).map_err(unreadable)?;
    let deadlock = deadlock_of(arguments.deadlock, &recorded.run).map_err(unreadable)?;
    let mut options = options(arguments, &language);
    if let (None, Some(name)) = (arguments.model, &recorded.memory_model) {
        options.memory_model = MemoryModelChoice::of_name(name).map_err(unreadable)?.into();
    }
    if let Some(events) = &recorded.events {
        options.events.clone_from(events);
    }
    let source = protocol(arguments, &language)?;
    let result =
        conform::replay(&source, &options, &recorded, deadlock).map_err(|why| match why {
            conform::NotReplayed::Refused(why) => {
                refused(arguments, &source, Unanswered::Refused(why))
            }
            why => unreadable(why.to_string()),
        })?;
    replayed(input::shown(&arguments.file), name, arguments.json.json, &recorded.run, &result)
}

/// The options for the library.
fn options(arguments: &VerifyArguments, language: &check::Options) -> Options {
    let limits = &arguments.limits;
    let here = arguments.cluster.on_this_machine();
    let passes = arguments.pass_over || arguments.witness == Some(WitnessChoice::None);
    Options {
        memory_model: arguments.model.map_or(MemoryModel::Sc, Into::into),
        events: EventNames {
            load: arguments.events.load.clone(),
            store: arguments.events.store.clone(),
            commit: arguments.commit.clone(),
        },
        language: language.clone(),
        search: explore::Options {
            threads: limits.threads_of_each(here),
            deadlock: deadlock(arguments),
            memory: Some(limits.memory.unwrap_or_else(|| explore::default_budget() / here) as u64),
            disk: disk(arguments),
            ..explore::Options::default()
        },
        symmetry: arguments.symmetry.into(),
        only: arguments.lemma,
        exact: arguments.exact,
        assume_independence: arguments.assume.contains(&AssumptionChoice::DataIndependence),
        pass_over: if passes { MORE_ALARMS } else { MOST_ALARMS },
        ..Options::default()
    }
}

/// Where states go that do not fit into memory, and where they are saved. A verification for any number
/// of processors saves what its searches find, and no states.
fn disk(arguments: &VerifyArguments) -> Option<explore::Disk> {
    let kept = arguments.checkpoint.as_ref().or(arguments.resume.as_ref());
    let kept = kept.filter(|_| !arguments.any.any_processors);
    let directory = arguments.disk.as_ref().or(kept)?.clone();
    let checkpoint = kept.map(|directory| Checkpointing {
        directory: directory.clone(),
        every: every(arguments),
        resume: arguments.resume.is_some(),
        identity: Vec::new(),
        keep: true,
    });
    Some(explore::Disk { directory, checkpoint, most_in_memory: None })
}

/// Opens the folder of checkpoints, if requested, and adds to the options what identifies the
/// verification.
fn folder(source: &Source, options: &mut Options) -> Result<Option<CheckpointFolder>, Failure> {
    let kept = options.search.disk.as_ref().and_then(|disk| disk.checkpoint.as_ref());
    let Some(Checkpointing { directory, resume, .. }) = kept else { return Ok(None) };
    let identity = conform::identity(source, options);
    let folder = open(directory, *resume, &identity)?;
    let disk = options.search.disk.as_mut();
    if let Some(kept) = disk.and_then(|disk| disk.checkpoint.as_mut()) {
        kept.identity = identity;
    }
    Ok(Some(folder))
}

/// Opens a folder of checkpoints, to begin or to go on.
fn open(
    directory: &Path,
    resume: bool,
    identity: &SearchIdentity,
) -> Result<CheckpointFolder, Failure> {
    let folder = match resume {
        true => CheckpointFolder::resume(directory, identity),
        false => CheckpointFolder::begin(directory, identity),
    };
    folder.map_err(|why| Failure::Usage(why.to_string()))
}

/// How much time passes at least between two checkpoints.
fn every(arguments: &VerifyArguments) -> Duration {
    arguments.every.unwrap_or(Duration::from_secs(1))
}

/// The definition of deadlock. Proofs for any number of processors claim nothing about deadlocks,
/// so small instances are checked for them only if a flag asks for it.
fn deadlock(arguments: &VerifyArguments) -> Deadlock {
    arguments.deadlock.map_or(
        match arguments.any.any_processors {
            true => Deadlock::Off,
            false => Deadlock::Stuttering,
        },
        Into::into,
    )
}

/// The failure without a report.
fn refused(arguments: &VerifyArguments, source: &Source, why: Unanswered) -> Failure {
    match why {
        Unanswered::Refused(why) => model::refused(why.refusal(source), arguments.colour),
        Unanswered::NoStart => Failure::Usage(format!("{}: {why}", source.name)),
        Unanswered::NotJudged => Failure::Budget(why.to_string()),
        Unanswered::Contradicted(_) | Unanswered::Rejected(_) => Failure::Usage(why.to_string()),
    }
}

/// Whether the report has colours.
fn in_colours(arguments: &VerifyArguments) -> bool {
    output::colours(arguments.colour, &std::io::stdout()) && !arguments.json.json
}
