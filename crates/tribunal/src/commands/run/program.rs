//! Programs on reference machines, on commands, on protocols and on this machine.
//!
//! Outcomes are counted, program by program. Without --check each is written as a trace, once; with
//! --check each is judged, once, and a table says how often it was seen.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use history::{Format, History, InputError, InputErrorKind};
use host::Host;
use judge::{Budget, Engine, judge};
use serde_json::{Value, json};
use stress::protocol::Programs;
use stress::{
    Exec, Exhaustive, Outcome, Ran, Runs, Target, TargetError, TargetName, Test, parse_programs,
    parse_programs_json,
};

use super::super::explore::model;
use super::super::record::{Wanted, prepare};
use super::TRACES;
use crate::arguments::RunArguments;
use crate::commands::convert::write_trace;
use crate::commands::{generate, remark};
use crate::ending::{Ending, Failure};
use crate::input;
use crate::interrupt::Interrupt;
use crate::output::{self, Sink};
use crate::progress::Progress;

/// The most bytes of a file of programs.
const MAX_BYTES: u64 = 1 << 30;

/// So many runs are made at a time while there is time left.
const SLICE: u64 = 1000;

/// So many runs a program has on the host if nothing is said, and at a time: they are cheap.
const HOST_RUNS: u64 = 1_000_000;
const HOST_SLICE: u64 = 1 << 18;

pub(super) fn run(
    arguments: &RunArguments,
    target: &TargetName,
    file: &str,
    interrupt: &Interrupt,
) -> Result<Ending, Failure> {
    let tests = read(file)?;
    let mut running = match running(arguments, target, &tests)? {
        Ok(running) => running,
        Err(ending) => return Ok(ending),
    };
    let mut sink = Sink::open(arguments.out.output.as_deref(), interrupt)?;
    let progress = Progress::start(arguments.quiet.quiet);
    let stop = interrupt.flag();
    interrupt.listen(|| ());
    let mut ending = Ending::Kept;
    // Each program has its share.
    let share = u32::try_from(tests.len()).unwrap_or(u32::MAX);
    let time = arguments.budget.map(|time| time / share);
    for test in &tests {
        let mut seen = Seen::default();
        let ran = seen.run(arguments, test, running.as_mut(), time, &stop, &progress);
        if let Err(error) = ran {
            progress.hide();
            ending = ending.and(complain(&error, test)?);
        }
        let broken = match arguments.check {
            Some(_) => seen.report(arguments, test, target, &mut sink)?,
            None => seen.write(arguments, test, target, &mut sink)?,
        };
        ending = ending.and(broken);
        sink.flush()?;
        if interrupt.happened() {
            ending = Ending::Interrupted;
            break;
        }
    }
    drop(progress);
    sink.finish()?;
    Ok(ending)
}

/// What runs the programs, or how the run ends without it.
fn running(
    arguments: &RunArguments,
    target: &TargetName,
    tests: &[Test],
) -> Result<Result<Box<dyn Target>, Ending>, Failure> {
    let random = !arguments.exhaustive && arguments.bug.bug.is_none();
    let running: Box<dyn Target> = match target {
        TargetName::Machine(model) if arguments.exhaustive => {
            Box::new(Exhaustive::new(*model, Exhaustive::DEFAULT_STATES))
        }
        TargetName::Machine(model) => Box::new(generate::machine(*model, arguments.bug)?),
        TargetName::Exec(_) | TargetName::Protocol(_) | TargetName::Host if !random => {
            let sentence = "--exhaustive and --bug are for reference machines, machine:MODEL";
            return Err(Failure::Usage(sentence.to_owned()));
        }
        TargetName::Exec(command) => {
            Box::new(Exec::new(command).with_timeout(arguments.timeout.timeout))
        }
        TargetName::Protocol(file) => {
            let source = model::read_source(file)?;
            let wanted = Wanted {
                flags: &arguments.protocol,
                stores: tests.iter().map(|test| test.program.len()).max().unwrap_or(0) as u64,
                colour: output::colours(arguments.colour, &std::io::stderr()),
                quiet: arguments.quiet.quiet,
            };
            match prepare(&source, &wanted)? {
                Ok(protocol) => Box::new(Programs::new(protocol).map_err(|why| {
                    Failure::Usage(format!("{file}: {why}; --values N insists on it"))
                })?),
                Err(ending) => return Ok(Err(ending)),
            }
        }
        TargetName::Host => Box::new(Host::new().map_err(|why| Failure::Usage(why.to_string()))?),
    };
    Ok(Ok(running))
}

/// The programs of a file; JSON Lines where it is called so or begins with a brace.
fn read(file: &str) -> Result<Vec<Test>, Failure> {
    let shown = input::shown(file);
    let unreadable = |error| Failure::File { name: shown.to_owned(), action: "read", error };
    let mut bytes = Vec::new();
    history::open(file)?.take(MAX_BYTES).read_to_end(&mut bytes).map_err(unreadable)?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..good].iter().filter(|&&byte| byte == b'\n').count() + 1;
        let kind = InputErrorKind::Other { reason: "this is not UTF-8 text".into() };
        InputError::in_line(shown, line as u64, "", (0, 0), kind)
    })?;
    let json = Format::guess(file) == Format::JsonLines || text.trim_start().starts_with('{');
    let tests = match json {
        true => parse_programs_json(shown, &text)?,
        false => parse_programs(shown, &text)?,
    };
    match tests.is_empty() {
        true => Err(Failure::Usage(format!("{shown} holds no program"))),
        false => Ok(tests),
    }
}

/// Says what went wrong with a target: one that misbehaved is a finding, any other cannot be asked.
fn complain(error: &TargetError, test: &Test) -> Result<Ending, Failure> {
    let name = match test.program.name.as_str() {
        "" => "a program",
        name => name,
    };
    match error {
        TargetError::Misbehaved(what) => {
            remark(&format!("{name}: {what}"));
            Ok(Ending::Broken)
        }
        TargetError::Unsuitable(why) | TargetError::Unavailable(why) => {
            Err(Failure::Usage(format!("{name}: {why}")))
        }
    }
}

/// What came of a program.
#[derive(Default)]
struct Seen {
    runs: u64,
    /// Runs that did not come to an end.
    unfinished: u64,
    outcomes: BTreeMap<Outcome, u64>,
    recorded: Vec<History>,
    /// What is known of those that did not come to an end.
    beginnings: Vec<History>,
}

/// A history, how often it came, and the outcome it is of, if it is one of outcomes.
type Counted<'a> = (History, u64, Option<&'a Outcome>);

impl Seen {
    fn run(
        &mut self,
        arguments: &RunArguments,
        test: &Test,
        target: &mut dyn Target,
        time: Option<Duration>,
        stop: &AtomicBool,
        progress: &Progress,
    ) -> Result<(), TargetError> {
        let ends = time.map(|time| Instant::now() + time);
        let on_host = arguments.on == TargetName::Host;
        let few = if on_host { HOST_RUNS } else { TRACES };
        let unbounded = if ends.is_some() { u64::MAX } else { few };
        let asked = arguments.traces.unwrap_or(unbounded);
        let mut left = if arguments.exhaustive { 1 } else { asked };
        let mut seed = arguments.seed;
        while left > 0 && !stop.load(Ordering::Relaxed) {
            if self.runs > 0 && ends.is_some_and(|ends| Instant::now() >= ends) {
                break;
            }
            let slice = if ends.is_some() {
                left.min(if on_host { HOST_SLICE } else { SLICE })
            } else {
                left
            };
            let runs = Runs { count: slice, seed, stop };
            target.run(&test.program, runs, &mut |ran| {
                match ran {
                    Ran::Outcome(outcome, count) => {
                        self.runs += count;
                        *self.outcomes.entry(outcome).or_default() += count;
                    }
                    Ran::Recorded(history) => {
                        self.runs += 1;
                        self.recorded.push(*history);
                    }
                    Ran::Unfinished(history) => {
                        self.runs += 1;
                        self.unfinished += 1;
                        self.beginnings.extend(history.map(|history| *history));
                    }
                }
                progress.teller().say(|| format!("{} runs", self.runs));
                ControlFlow::Continue(())
            })?;
            left -= slice;
            seed = seed.wrapping_add(1);
        }
        Ok(())
    }

    /// All different outcomes as histories, with how often each was seen.
    fn histories(&self, test: &Test) -> Result<Vec<Counted<'_>>, Failure> {
        let mut histories = Vec::new();
        for (outcome, &count) in &self.outcomes {
            let history = test.program.history(outcome);
            let history = history.map_err(|error| Failure::Usage(error.to_string()))?;
            histories.push((history, count, Some(outcome)));
        }
        let recorded = self.recorded.iter().chain(&self.beginnings);
        histories.extend(recorded.map(|history| (history.clone(), 1, None)));
        Ok(histories)
    }

    /// `, 2 did not come to an end`
    fn unfinished(&self) -> String {
        match self.unfinished {
            0 => String::new(),
            number => format!(", {number} did not come to an end"),
        }
    }

    /// Writes each different outcome as a trace.
    fn write(
        &self,
        arguments: &RunArguments,
        test: &Test,
        target: &TargetName,
        sink: &mut Sink,
    ) -> Result<Ending, Failure> {
        let format = arguments.format.unwrap_or(match arguments.json.json {
            true => Format::JsonLines,
            false => Format::Text,
        });
        let whole = self.outcomes.len() + self.recorded.len();
        for (number, (history, count, _)) in self.histories(test)?.into_iter().enumerate() {
            if format == Format::Text {
                let times = match count {
                    1 if number >= whole => ", as far as it came".to_owned(),
                    1 => String::new(),
                    count => format!(", {count} times"),
                };
                let name = &test.program.name;
                sink.write(|out| writeln!(out, "# {name} on {target}{times}"))?;
            }
            sink.write(|out| write_trace(&history, format, out))?;
        }
        if self.unfinished > 0 && !arguments.quiet.quiet {
            remark(&format!("{}: {} runs{}", test.program.name, self.runs, self.unfinished()));
        }
        Ok(self.ending(0))
    }

    /// Nothing is known if no run came to an end.
    fn ending(&self, violating: usize) -> Ending {
        match () {
            () if violating > 0 => Ending::Broken,
            () if self.runs > 0 && self.unfinished == self.runs => Ending::Undecided,
            () => Ending::Kept,
        }
    }

    /// Judges each different outcome and prints a table.
    fn report(
        &self,
        arguments: &RunArguments,
        test: &Test,
        target: &TargetName,
        sink: &mut Sink,
    ) -> Result<Ending, Failure> {
        let Some(model) = arguments.check else { return Ok(Ending::Kept) };
        let mut rows = Vec::new();
        for (history, count, outcome) in self.histories(test)? {
            let verdict = judge(&history, model, Engine::Auto, &Budget::unlimited());
            let violates = matches!(verdict.outcome, judge::Outcome::Broken(_));
            let asked = test.condition.as_ref().zip(outcome);
            let exists = asked.and_then(|(asked, outcome)| asked.holds(&test.program, outcome));
            rows.push(Row { outcome, count, violates, exists, history });
        }
        let violating = rows.iter().filter(|row| row.violates).count();
        let text = match arguments.json.json {
            true => {
                let rows: Vec<Value> = rows.iter().map(Row::json).collect();
                format!(
                    "{}\n",
                    json!({
                        "program": test.program.name,
                        "target": target.to_string(),
                        "model": model.name(),
                        "verdict": match self.ending(violating) {
                            Ending::Broken => "violation",
                            Ending::Undecided => "undecided",
                            _ => "consistent",
                        },
                        "runs": self.runs,
                        "unfinished": self.unfinished,
                        "outcomes": rows,
                    })
                )
            }
            false => self.table(arguments, test, model.name(), &rows, violating)?,
        };
        sink.write(|out| out.write_all(text.as_bytes()))?;
        Ok(self.ending(violating))
    }

    fn table(
        &self,
        arguments: &RunArguments,
        test: &Test,
        model: &str,
        rows: &[Row<'_>],
        violating: usize,
    ) -> Result<String, Failure> {
        let name = match test.program.name.as_str() {
            "" => "program",
            name => name,
        };
        let (runs, outcomes) = (self.runs, self.outcomes.len() + self.recorded.len());
        let unfinished = self.unfinished();
        let verdict = match violating {
            0 if self.ending(0) == Ending::Undecided => "nothing is known".to_owned(),
            0 => format!("all satisfy {model}"),
            number => format!("{number} violate {model}"),
        };
        let mut text =
            format!("{name}: {runs} runs{unfinished}, {outcomes} different outcomes, {verdict}\n");
        if arguments.quiet.quiet {
            return Ok(text);
        }
        for row in rows.iter().filter(|row| row.fits_a_line(test)) {
            let mark = match (row.violates, row.exists) {
                (true, _) => format!("  violates {model}"),
                (false, Some(true)) => "  as asked".to_owned(),
                (false, _) => String::new(),
            };
            let _ = writeln!(text, "{:>9}  {}{mark}", row.count, row.describe(test));
        }
        if let Some(row) = rows.iter().find(|row| row.violates && !row.fits_a_line(test)) {
            let mut trace = Vec::new();
            write_trace(&row.history, Format::Text, &mut trace).map_err(Failure::of_stdout)?;
            text += "# the first that does\n";
            text += &String::from_utf8_lossy(&trace);
        }
        Ok(text)
    }
}

/// An outcome, judged.
struct Row<'a> {
    outcome: Option<&'a Outcome>,
    count: u64,
    violates: bool,
    exists: Option<bool>,
    history: History,
}

impl Row<'_> {
    /// Whether it is short enough to be told in a line.
    fn fits_a_line(&self, test: &Test) -> bool {
        self.outcome.is_some_and(|outcome| outcome.reads.len() <= 8)
            && test.program.places.len() <= 8
    }

    /// `0: M[y] == 0, 1: M[x] == 0; M[x] == 1, M[y] == 1`
    fn describe(&self, test: &Test) -> String {
        let Some(outcome) = self.outcome else { return String::new() };
        let label = |place: usize| &test.program.places[place].label;
        let reads =
            test.program.readers().zip(&outcome.reads).map(|((thread, _, action), value)| {
                let place = action.place().unwrap_or_default() as usize;
                format!("{thread}: M[{}] == {value}", label(place))
            });
        let finals = outcome.finals.iter().flatten().enumerate();
        let finals = finals.map(|(place, value)| format!("M[{}] == {value}", label(place)));
        let (reads, finals): (Vec<String>, Vec<String>) = (reads.collect(), finals.collect());
        match finals.is_empty() {
            true => reads.join(", "),
            false => format!("{}; at the end {}", reads.join(", "), finals.join(", ")),
        }
    }

    fn json(&self) -> Value {
        let mut row = json!({
            "count": self.count,
            "verdict": if self.violates { "violation" } else { "consistent" },
        });
        if let Some(outcome) = self.outcome {
            row["reads"] = json!(outcome.reads);
            row["finals"] = json!(outcome.finals);
        }
        if let Some(exists) = self.exists {
            row["exists"] = json!(exists);
        }
        row
    }
}
