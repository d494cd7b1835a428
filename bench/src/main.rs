//! Measurements in one run: the papers' figures, growth in time and memory, hard histories, and
//! Murphi models beside other model checkers.
//!
//! `cargo run --release -p tribunal-bench -- all` writes `bench/RESULTS.md` and its plots. Each
//! part is a file: `grid`, `gradual` (with `open_pairs`), `growth`, `hard`, `explore`,
//! `generated`, `beyond`, `verify`, and `any`, which takes longer than all others and is run alone. They draw traces from
//! `machine` and `traces`, measure with `clock` (this process) and `child` (other programs), and
//! report with `table`, `chart` and `report`.

mod any;
mod arguments;
mod axis;
mod beyond;
mod chart;
mod child;
mod clock;
mod context;
mod datalog;
mod environment;
mod explore;
mod generated;
mod gradual;
mod grid;
mod growth;
mod hard;
mod machine;
mod open_pairs;
mod page;
mod plain_sat;
mod report;
mod statistics;
mod table;
mod traces;
mod verify;

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use history::{ReadOptions, TraceReader};
use judge::{Budget, Outcome, judge};

use arguments::{Arguments, Command, RunFlags, ShapeFlags, TraceFlags, TryFlags};
use child::Limits;
use clock::cpu_seconds;
use context::{Context, Settings, workspace};
use machine::{Fault, Machine, Shape};
use report::Section;

/// A part of the results.
type Part = fn(&Context) -> io::Result<Section>;

/// Seconds of CPU time for one measurement of [`any`].
const LIMIT_OF_ANY: u64 = 1_800;

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::All(flags) => {
            let own: [Part; 8] = [
                grid::run,
                gradual::run,
                growth::run,
                hard::run,
                explore::run,
                generated::run,
                beyond::run,
                verify::run,
            ];
            run(&flags, &own)
        }
        Command::Grid(flags) => run(&flags, &[grid::run]),
        Command::Gradual(flags) => run(&flags, &[gradual::run]),
        Command::Growth(flags) => run(&flags, &[growth::run]),
        Command::Hard(flags) => run(&flags, &[hard::run]),
        Command::Explore(flags) => run(&flags, &[explore::run]),
        Command::Generated(flags) => run(&flags, &[generated::run]),
        Command::Beyond(flags) => run(&flags, &[beyond::run]),
        Command::Verify(flags) => run(&flags, &[verify::run]),
        Command::Any(flags) => {
            let limit = flags.limit.or((!flags.quick).then_some(LIMIT_OF_ANY));
            run(&RunFlags { limit, ..flags }, &[any::run])
        }
        Command::Page { folder } => {
            page::save(&folder.unwrap_or_else(|| workspace().join("bench")))
        }
        Command::Try(flags) => {
            try_one(&flags);
            Ok(())
        }
        Command::Trace(flags) => write_one(&flags),
        Command::Model(flags) => {
            std::fs::write(&flags.output, generated::model::source(&flags.knobs()))
        }
        Command::Read { file } => read_only(&file),
        Command::Supervise(flags) => {
            let limits = Limits { seconds: flags.seconds, memory: flags.memory };
            child::supervise(&flags.words, &flags.output, limits)
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Measures parts and saves each as soon as it is done.
fn run(flags: &RunFlags, parts: &[Part]) -> io::Result<()> {
    let context = Context::new(Settings {
        quick: flags.quick,
        seeds: flags.seeds,
        limit: flags.limit,
        results: results_folder(flags)?,
        tribunal: flags.tribunal.clone(),
    })?;
    let run_line = environment::run_line(workspace());
    for part in parts {
        part(&context)?.save(&context.settings.results, &run_line)?;
    }
    context.progress(format!("results are in {}", context.settings.results.display()));
    Ok(())
}

/// A quick run must not replace the results of a real one.
fn results_folder(flags: &RunFlags) -> io::Result<PathBuf> {
    if let Some(out) = &flags.out {
        return Ok(out.clone());
    }
    if !flags.quick {
        return Ok(workspace().join("bench"));
    }
    let own = std::env::current_exe()?;
    Ok(own.with_file_name("bench-quick"))
}

fn shape(flags: &ShapeFlags) -> Shape {
    let shape = Shape::tsotool(flags.events, flags.threads, flags.addresses, flags.buffer);
    if flags.faulty { shape.with_fault(Fault::MissedInvalidation) } else { shape }
}

fn try_one(flags: &TryFlags) {
    let history = traces::history(shape(&flags.shape), flags.shape.seed);
    for &model in &flags.model {
        let (verdict, seconds) =
            cpu_seconds(|| judge(&history, model, flags.engine, &Budget::unlimited()));
        let word = match verdict.outcome {
            Outcome::Holds(_) => "consistent",
            Outcome::Broken(_) => "violation",
            Outcome::Undecided(_) => "undecided",
        };
        println!(
            "{model:<9} {word}, by {}, {} ({:.0} ns an event), {} open pairs, {} inferred edges, \
             {} conflicts",
            verdict.decided_by,
            axis::seconds(seconds),
            seconds * 1e9 / history.len() as f64,
            verdict.stats.unordered_write_pairs.map_or_else(table::dash, |open| open.to_string()),
            verdict.stats.inferred_edges,
            verdict.stats.conflicts,
        );
    }
}

fn write_one(flags: &TraceFlags) -> io::Result<()> {
    if flags.polling {
        return traces::trace_file(&flags.output, traces::polling(flags.shape.events));
    }
    traces::trace_file(&flags.output, Machine::new(shape(&flags.shape), flags.shape.seed))
}

/// Reads all traces of a file, as a check does before it judges.
fn read_only(file: &std::path::Path) -> io::Result<()> {
    let name = file.to_string_lossy();
    let input = history::open(&name).map_err(|error| io::Error::other(error.to_string()))?;
    let traces = TraceReader::new(input, &name, ReadOptions::default());
    let mut events = 0;
    for trace in traces {
        let trace = trace.map_err(|error| io::Error::other(error.to_string()))?;
        events += trace.len();
    }
    println!("{events}");
    Ok(())
}
