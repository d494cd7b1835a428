//! The two halves side by side: what verification says about a protocol, and what its traces say.
//!
//! For each protocol (and, with `--mutants`, each of its mutants) the memory model is asked twice:
//! `verify` visits all states, and random walks record traces that the trace checker judges. Where
//! both are within reach, "verify says violated" and "some trace violates" must agree. Claims of
//! the protocol itself (invariants, assertions) are left out on both sides: what is compared is
//! what software would see.
//!
//!     cargo run --release -p tribunal-stress --example crosscheck -- sc protocols/msi.m
//!     cargo run --release -p tribunal-stress --example crosscheck -- --mutants tso protocols/tso-cc.m

#![allow(clippy::unwrap_used)] // a tool for developers

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use conform::mutate::{Mutant, mutants, without_claims};
use conform::{EventNames, MemoryModel, Options, RecordOptions, Verdict, record, verify};
use judge::{Budget, Engine, Outcome, judge};
use models::Model;
use murphi::ast::Program;
use murphi::parse::parse;
use murphi::print::print;
use murphi::source::Source;
use tribunal_stress::protocol::{Clients, Ending, Fleet, Plan, Protocol, Scribe, walk_all};

struct Settings {
    model: Model,
    traces: u64,
    operations: usize,
    clients: Clients,
    seed: u64,
    constants: Vec<(String, String)>,
    verify: bool,
    mutants: bool,
    seconds: u64,
}

fn main() {
    let mut settings = Settings {
        model: Model::Sc,
        traces: 10_000,
        operations: 64,
        clients: Clients::Swarm,
        seed: 0,
        constants: Vec::new(),
        verify: true,
        mutants: false,
        seconds: 20,
    };
    let mut files = Vec::new();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut number = || words.next().and_then(|word| word.parse().ok()).expect("a number");
        match &*word {
            "sc" => settings.model = Model::Sc,
            "tso" => settings.model = Model::Tso,
            "--traces" => settings.traces = number(),
            "--operations" => settings.operations = number() as usize,
            "--seed" => settings.seed = number(),
            "--seconds" => settings.seconds = number(),
            "--uniform" => settings.clients = Clients::Uniform,
            "--mutants" => settings.mutants = true,
            "--no-verify" => settings.verify = false,
            word if word.contains('=') => {
                let (name, value) = word.split_once('=').unwrap();
                settings.constants.push((name.to_owned(), value.to_owned()));
            }
            _ => files.push(word),
        }
    }
    println!(
        "| protocol | model | verify | traces | violating | events to first | events/s | agree |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let source = Source { name: file.clone(), text };
        let name = file.rsplit('/').next().unwrap_or(&file).to_owned();
        let program = parse(&source).0.expect("it is Murphi");
        let bare = |program: &Program| Source {
            name: file.clone(),
            text: print(&without_claims(program)),
        };
        row(&settings, &name, &bare(&program));
        if settings.mutants {
            for mutant in mutants(&program, &EventNames::default()) {
                let Mutant { number, .. } = mutant;
                let name = format!("{name} {number}: {}", mutant.describe(&source));
                row(&settings, &name, &bare(&mutant.program));
            }
        }
    }
}

/// One protocol, asked both ways.
fn row(settings: &Settings, name: &str, source: &Source) {
    let language = murphi::check::Options {
        constants: settings.constants.clone(),
        ..murphi::check::Options::default()
    };
    let options = RecordOptions {
        language: language.clone(),
        values: 2 * settings.operations as u64 + 32,
        ..RecordOptions::default()
    };
    let recording = match record(source, &options) {
        Ok(recording) => recording,
        Err(why) => {
            let why = format!("{why:?}");
            return println!("| {name} | refused: {} |", &why[..why.len().min(80)]);
        }
    };
    let protocol = match Protocol::new(recording) {
        Ok(protocol) => protocol,
        Err(why) => return println!("| {name} | {why} |"),
    };
    let plan = Plan {
        operations: settings.operations,
        seed: settings.seed,
        clients: settings.clients,
        ..Plan::default()
    };
    let found = traces(settings, &protocol, &plan);
    let verdict = match settings.verify {
        true => verified(settings, source, language),
        false => "-",
    };
    let agree = match (verdict, found.violating > 0) {
        ("violation", true) | ("verified", false) => "yes",
        ("violation", false) => "NOT CAUGHT",
        ("verified", true) => "NOT VERIFIED",
        _ => "-",
    };
    let first = found.first.map_or("-".to_owned(), |events| events.to_string());
    println!(
        "| {name} | {} | {verdict} | {} | {} | {first} | {:.0} | {agree} |{}",
        settings.model,
        found.traces,
        found.violating,
        found.events as f64 / found.seconds,
        if found.stuck > 0 { format!(" {} stuck", found.stuck) } else { String::new() },
    );
}

#[derive(Default)]
struct Found {
    traces: u64,
    violating: u64,
    /// Events until the end of the first violating trace.
    first: Option<u64>,
    events: u64,
    stuck: u64,
    seconds: f64,
}

fn traces(settings: &Settings, protocol: &Protocol, plan: &Plan) -> Found {
    let stop = AtomicBool::new(false);
    let scribe = Scribe::new(protocol);
    let mut found = Found::default();
    let mut judging = 0.0;
    let started = Instant::now();
    let fleet = Fleet { count: settings.traces, jobs: 1, stop: &stop };
    let make = |walk: tribunal_stress::protocol::Walk| {
        let walked = Instant::now();
        let history = scribe.history(&walk, false).expect("it is a history");
        let budget = Budget::unlimited().with_time(Duration::from_secs(1));
        let verdict = judge(&history, settings.model, Engine::Auto, &budget);
        let violates = matches!(verdict.outcome, Outcome::Violation(_));
        (walk.events.len(), walk.ending, violates, walked.elapsed().as_secs_f64())
    };
    walk_all(protocol, plan, fleet, make, &mut |(events, ending, violates, seconds)| {
        found.traces += 1;
        found.events += events as u64;
        found.stuck += u64::from(ending != Ending::Complete);
        judging += seconds;
        if violates {
            found.violating += 1;
            found.first.get_or_insert(found.events);
        }
        match started.elapsed() > Duration::from_secs(settings.seconds) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    found.seconds = started.elapsed().as_secs_f64() - judging;
    found
}

fn verified(
    settings: &Settings,
    source: &Source,
    language: murphi::check::Options,
) -> &'static str {
    let memory_model = match settings.model {
        Model::Tso => MemoryModel::Tso,
        _ => MemoryModel::Sc,
    };
    let mut options = Options { memory_model, language, protocol: false, ..Options::default() };
    options.search.time = Some(Duration::from_secs(settings.seconds));
    options.search.memory = Some(512 << 20);
    options.pass_over = 20;
    match verify(source, &options, &mut |_, _| (), &AtomicBool::new(false)) {
        Err(_) => "refused",
        Ok(found) => match found.verdict {
            Verdict::Verified => "verified",
            Verdict::Violation(_) => "violation",
            Verdict::FalseAlarm(_) => "false alarm",
            Verdict::Broken => "broken",
            Verdict::Undecided(_) => "undecided",
            Verdict::NoStart => "no start",
        },
    }
}
