//! `tribunal generate`: test programs, traces of reference machines, hard histories.

use std::io::BufReader;
use std::ops::ControlFlow;

use history::History;
use stress::{
    Assembly, Bug, Edge, Formula, Knobs, Machine, Outcome, PacketCounts, PacketError,
    PacketPrograms, Program, RunResult, Runs, Target, TargetError, Test, cycles,
};

use crate::arguments::{
    BugFlags, GenerateCommand, GenerateHardArguments, GenerateProgramArguments,
    GenerateTraceArguments, JsonFlag, KnobFlags,
};
use crate::ending::{Ending, Failure};
use crate::interrupt::Interrupt;
use crate::output::Sink;
use crate::progress::Progress;

pub(crate) fn run(command: &GenerateCommand, interrupt: &Interrupt) -> Result<Ending, Failure> {
    match command {
        GenerateCommand::Program(arguments) => programs(arguments, interrupt),
        GenerateCommand::Trace(arguments) => traces(arguments, interrupt),
        GenerateCommand::Hard(arguments) => hard(arguments, interrupt),
    }?;
    Ok(Ending::NoViolation)
}

fn programs(arguments: &GenerateProgramArguments, interrupt: &Interrupt) -> Result<(), Failure> {
    let mut sink = Sink::open(arguments.out.output.as_deref(), interrupt)?;
    let progress = Progress::start(arguments.quiet.quiet);
    let mut written = 0u64;
    if let Some(assembly) = arguments.litmus {
        litmus_tests(arguments, assembly, &mut sink)?;
        drop(progress);
        return sink.finish();
    }
    let mut write = |test: Test| {
        written += 1;
        progress.reporter().say(|| format!("programs: {written}"));
        match arguments.json.json {
            true => sink.write(|out| writeln!(out, "{}", test.to_json())),
            false => sink.write(|out| write!(out, "{test}")),
        }
    };
    if let Some(file) = &arguments.packets {
        packets(file, arguments.window, &mut write)?;
        drop(progress);
        return sink.finish();
    }
    match (&arguments.cycle, arguments.cycles) {
        (Some(cycle), _) => {
            if let Some(lost) = cycle.beyond_programs() {
                return Err(Failure::Usage(format!(
                    "a test program cannot express {lost}; write a litmus test instead: `--litmus \
                     riscv` or `--litmus aarch64`"
                )));
            }
            write(cycle.test())?;
        }
        (None, Some(size)) => {
            let edges = arguments.edges.as_ref().map_or(&Edge::BASIC[..], |edges| &edges.0);
            cycles(edges, size.into()).try_for_each(|cycle| write(cycle.test()))?;
            if written == 0 {
                return Err(no_cycles(size));
            }
        }
        (None, None) => {
            each_program(&arguments.knobs, |program, _| write(program.into()))?;
        }
    }
    drop(progress);
    sink.finish()
}

/// The programs of a packet trace.
fn packets(
    file: &str,
    window: u32,
    write: &mut dyn FnMut(Test) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let unreadable = |error: PacketError| Failure::Usage(error.to_string());
    let input = BufReader::new(history::open(file)?);
    let programs = PacketPrograms::new(input, history::shown(file), window as usize);
    let mut programs = programs.map_err(unreadable)?;
    let mut written = 0u64;
    for program in &mut programs {
        write(program.map_err(unreadable)?.into())?;
        written += 1;
    }
    if written == 0 {
        let PacketCounts { accesses, fetches, others, .. } = programs.counts();
        return Err(Failure::Usage(format!(
            "{}: no two requestors race within {window} packets ({accesses} loads and stores, \
             {fetches} fetches and prefetches, {others} other packets); use a larger --window",
            history::shown(file)
        )));
    }
    Ok(())
}

/// The litmus tests of the requested cycles, for an architecture. With --cycles, those for which
/// the architecture has no instructions are left out.
fn litmus_tests(
    arguments: &GenerateProgramArguments,
    assembly: Assembly,
    sink: &mut Sink,
) -> Result<(), Failure> {
    match (&arguments.cycle, arguments.cycles) {
        (Some(cycle), _) => {
            let text = cycle.litmus(assembly).map_err(|no| Failure::Usage(no.to_string()))?;
            sink.write(|out| write!(out, "{text}"))
        }
        (None, Some(size)) => {
            let edges = arguments.edges.as_ref().map_or(&Edge::BASIC[..], |edges| &edges.0);
            let mut tests =
                cycles(edges, size.into()).filter_map(|each| each.litmus(assembly).ok());
            let mut none = true;
            tests.try_for_each(|text| {
                none = false;
                sink.write(|out| writeln!(out, "{text}"))
            })?;
            if none { Err(no_cycles(size)) } else { Ok(()) }
        }
        (None, None) => {
            let sentence =
                "`--litmus` needs a cycle: `--cycle \"PodWR Fre PodWR Fre\"` or `--cycles 4`";
            Err(Failure::Usage(sentence.to_owned()))
        }
    }
}

/// The error about cycles without a test.
fn no_cycles(size: u8) -> Failure {
    Failure::Usage(format!(
        "no cycle of up to {size} edges is a litmus test with these edges; use --cycles 4 or more"
    ))
}

/// Calls a function with each requested random program and its seed.
fn each_program(
    flags: &KnobFlags,
    mut take: impl FnMut(Program, u64) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let knobs: Knobs = flags.knobs();
    for number in 0..flags.count {
        let seed = flags.seed.wrapping_add(number);
        let program = knobs.program(seed).map_err(|error| Failure::Usage(error.to_string()))?;
        take(program, seed)?;
    }
    Ok(())
}

fn traces(arguments: &GenerateTraceArguments, interrupt: &Interrupt) -> Result<(), Failure> {
    let bug = bug(arguments.bug)?;
    let mut machine = Machine::new(arguments.machine);
    if let Some((bug, rate)) = bug {
        machine = machine.with_bug(bug, rate).map_err(unsuitable)?;
    }
    let mut sink = Sink::open(arguments.out.output.as_deref(), interrupt)?;
    let progress = Progress::start(arguments.quiet.quiet);
    let mut written = 0u64;
    let stop = interrupt.flag();
    each_program(&arguments.knobs, |program, seed| {
        if arguments.recorded {
            return recorded(&mut sink, arguments, machine, &program, seed);
        }
        let mut failure = None;
        let mut receive = |ran: RunResult| {
            let RunResult::Outcome(outcome, count) = ran else { return ControlFlow::Continue(()) };
            written += 1;
            progress.reporter().say(|| format!("traces: {written}"));
            match write_outcome(&mut sink, arguments, &program, &outcome, count) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    failure = Some(error);
                    ControlFlow::Break(())
                }
            }
        };
        let runs = Runs { count: arguments.runs, seed, stop: &stop };
        machine.run(&program, runs, &mut receive).map_err(unsuitable)?;
        failure.map_or(Ok(()), Err)
    })?;
    drop(progress);
    sink.finish()
}

/// The runs of a program, in the order of a recorder.
fn recorded(
    sink: &mut Sink,
    arguments: &GenerateTraceArguments,
    machine: Machine,
    program: &Program,
    seed: u64,
) -> Result<(), Failure> {
    for run in 0..arguments.runs {
        let seed = seed.wrapping_add(run.wrapping_mul(GOLDEN));
        let history = machine.record(program, seed).map_err(unsuitable)?;
        write_trace(sink, arguments, program, &history, 1)?;
    }
    Ok(())
}

/// Separates the seeds of runs from those of programs, which are consecutive.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The requested fault, with its rate.
pub(super) fn bug(flags: BugFlags) -> Result<Option<(Bug, f64)>, Failure> {
    let Some(bug) = flags.bug else { return Ok(None) };
    match (0.0..=1.0).contains(&flags.rate) {
        true => Ok(Some((bug, flags.rate))),
        false => Err(Failure::Usage(format!("--rate {} is not between 0 and 1", flags.rate))),
    }
}

fn unsuitable(error: TargetError) -> Failure {
    Failure::Usage(error.to_string())
}

fn write_outcome(
    sink: &mut Sink,
    arguments: &GenerateTraceArguments,
    program: &Program,
    outcome: &Outcome,
    count: u64,
) -> Result<(), Failure> {
    let history = program.history(outcome).map_err(|error| Failure::Usage(error.to_string()))?;
    write_trace(sink, arguments, program, &history, count)
}

fn write_trace(
    sink: &mut Sink,
    arguments: &GenerateTraceArguments,
    program: &Program,
    history: &History,
    count: u64,
) -> Result<(), Failure> {
    if !arguments.json.json {
        let bug = arguments.bug.bug.map_or(String::new(), |bug| format!(" with a {bug}"));
        let times = if count == 1 { String::new() } else { format!(", {count} times") };
        let (name, machine) = (&program.name, arguments.machine);
        sink.write(|out| writeln!(out, "# {name} on machine:{machine}{bug}{times}"))?;
    }
    write_history(sink, history, arguments.json)
}

fn write_history(sink: &mut Sink, history: &History, json: JsonFlag) -> Result<(), Failure> {
    sink.write(|out| json.trace_format().write_recorded(history, out))
}

fn hard(arguments: &GenerateHardArguments, interrupt: &Interrupt) -> Result<(), Failure> {
    let GenerateHardArguments { variables, ratio, model, seed, .. } = *arguments;
    let clauses = (f64::from(variables) * ratio).round();
    if !(0.0..=f64::from(Formula::LIMIT)).contains(&clauses) {
        let limit = Formula::LIMIT;
        return Err(Failure::Usage(format!(
            "--variables times --ratio gives {clauses} clauses; the limit is {limit}"
        )));
    }
    let clauses = clauses as u32;
    let history = Formula::random(variables, clauses, seed).history(model).map_err(|error| {
        Failure::Usage(format!("the formula is too large: {error}; use fewer --variables"))
    })?;
    let mut sink = Sink::open(arguments.out.output.as_deref(), interrupt)?;
    if !arguments.json.json {
        sink.write(|out| {
            writeln!(
                out,
                "# consistent with {model} iff a random 3-SAT formula is satisfiable: seed \
                 {seed}, {variables} variables, {clauses} clauses"
            )
        })?;
    }
    write_history(&mut sink, &history, arguments.json)?;
    sink.finish()
}
