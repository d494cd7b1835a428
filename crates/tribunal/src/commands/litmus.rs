//! `tribunal litmus`: the outcomes of litmus tests, under models and on this machine.
//!
//! Several workers answer tests, and answers are printed in order. If a test cannot be read, the
//! others are still answered; the exit code reports the error.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Instant;

use ::host::Host;
use diagnostics::source::Source;
use evidence::Verdict;
use litmus::{
    Answer, FileError, Limits, Litmus, LitmusModel, LitmusPage, MOST_STATES, Stopped, Style,
    Unanswered, listed_files, read_text,
};
use pipeline::{Pipeline, Questions};
use report::ci::{Case, Complaint};
use stress::{Assembly, Cycle, TargetName};

use super::remark;
use crate::arguments::{Colour, ColourFlag, LitmusArguments, LitmusModelArgument};
use crate::cases::Cases;
use crate::ending::{Ending, Failure};
use crate::input;
use crate::interrupt::Interrupt;
use crate::kind::Kind;
use crate::output::{self, Output};
use crate::progress::{Progress, Reporter};

mod host;

/// A test and where it came from.
struct Test {
    file: String,
    litmus: Litmus,
}

pub(crate) fn run(arguments: &LitmusArguments, interrupt: &Interrupt) -> Result<Ending, Failure> {
    let mut cases = Cases::open(&arguments.ci, "litmus", interrupt)?;
    let ended = answer_files(arguments, &mut cases, interrupt);
    cases.conclude("litmus tests", ended)
}

/// Reads the tests and answers them.
fn answer_files(
    arguments: &LitmusArguments,
    cases: &mut Cases,
    interrupt: &Interrupt,
) -> Result<Ending, Failure> {
    let mut machine = machine(arguments.on.as_ref())?;
    let models = arguments.model.iter().map(model).collect::<Result<Vec<_>, _>>()?;
    interrupt.listen(|| {});
    let mut ending = Ending::NoViolation;
    let mut tests = Vec::new();
    for file in listed_files(&arguments.files)? {
        match read(&file, arguments.quiet.quiet, cases)? {
            Some(litmus) => tests.push(Arc::new(Test { file, litmus })),
            None => ending = Ending::BadRequest,
        }
    }
    if let Some(assembly) = arguments.to {
        return convert(&tests, assembly, ending, interrupt);
    }
    let progress = Progress::start(arguments.quiet.quiet);
    let asking = LitmusQuestion {
        arguments: arguments.clone(),
        models,
        interrupt: interrupt.clone(),
        reporter: progress.reporter(),
        cases_wanted: cases.are_wanted(),
        page_wanted: arguments.report.is_some(),
    };
    let mut output = Output::stdout();
    let mut records =
        Records { cases, page: arguments.report.as_ref().map(|_| LitmusPage::default()) };
    let answered = match &mut machine {
        Some(machine) => {
            host::run_all(&tests, &asking, machine, &progress, &mut output, &mut records)
        }
        None => answer_all(&tests, asking, &progress, &mut output, &mut records),
    };
    drop(progress);
    if let (Some(mut page), Some(path)) = (records.page, &arguments.report) {
        output::save(path, &page.html(), interrupt)?;
    }
    let answered = answered.and_then(|answered| output.flush().map(|()| answered));
    ending = ending.and(match answered {
        Ok(answered) => answered,
        Err(Failure::BrokenPipe) => Ending::NoViolation,
        Err(failure) => return Err(failure),
    });
    Ok(if interrupt.happened() { Ending::Interrupted } else { ending })
}

/// Translates tests to an architecture by their cycles.
fn convert(
    tests: &[Arc<Test>],
    assembly: Assembly,
    ending: Ending,
    interrupt: &Interrupt,
) -> Result<Ending, Failure> {
    let mut text = String::new();
    for test in tests {
        let named = |(_, value): &(String, String)| Some(value.parse::<Cycle>());
        let said = test.litmus.metadata.iter().filter(|(key, _)| key == "Orig" || key == "Cycle");
        let quoted = test.litmus.description.iter().map(|text| text.parse::<Cycle>());
        let cycle = said.filter_map(named).chain(quoted).find_map(Result::ok).ok_or_else(|| {
            Failure::Usage(format!(
                "{}: --to needs the cycle that the test was made from, as a line like `Orig=PodWR \
                 Fre PodWR Fre`",
                test.file
            ))
        })?;
        let made = cycle.litmus(assembly);
        text += &made.map_err(|no| Failure::Usage(format!("{}: {no}", test.file)))?;
    }
    output::deliver(&text, None, ending, interrupt)
}

/// The model of an argument; a model file is read.
fn model(argument: &LitmusModelArgument) -> Result<LitmusModel, Failure> {
    match argument {
        LitmusModelArgument::Named(name) => LitmusModel::named(name).ok_or_else(|| {
            Failure::Usage(format!("unknown model `{name}`; `tribunal models` lists them"))
        }),
        LitmusModelArgument::File(path) => {
            LitmusModel::open(path).map_err(|error| Failure::Model(Box::new(error)))
        }
    }
}

/// The machine to run tests on; `None` without --on.
fn machine(target: Option<&TargetName>) -> Result<Option<Host>, Failure> {
    match target {
        None => Ok(None),
        Some(TargetName::Host) => {
            Host::new().map(Some).map_err(|why| Failure::Usage(why.to_string()))
        }
        Some(other) => Err(Failure::Usage(format!(
            "--on {other} cannot run litmus tests; use --on host, or leave --on out to enumerate \
             outcomes under --model"
        ))),
    }
}

/// Reads a test; prints a message and returns `None` if it cannot be read.
fn read(file: &str, quiet: bool, cases: &mut Cases) -> Result<Option<Litmus>, Failure> {
    let source = Source { name: input::shown(file).to_owned(), text: read_text(file)? };
    match litmus::parse(&source.text) {
        Ok(test) => {
            let mixed = litmus::mixed_widths(&test);
            if let (Some(&first), false) = (mixed.first(), quiet) {
                remark(&format!(
                    "{}: `{}` is accessed with several widths; each access counts as one of the \
                     whole location, as in herd7",
                    source.name,
                    test.location(first)
                ));
            }
            Ok(Some(test))
        }
        Err(problem) => {
            let colour = output::colours(ColourFlag { color: Colour::Auto }, &io::stderr());
            let message = problem.render(&source, colour) + &Kind::Litmus.hint(&source.name);
            let _ = io::stderr().write_all(message.as_bytes());
            let text = problem.render(&source, false);
            let complaint = Complaint::malformed(&problem.message, text);
            let complaint = complaint.at_each(&source, std::slice::from_ref(&problem));
            cases.add(&Case::failed(&source.name, "read", complaint));
            Ok(None)
        }
    }
}

/// The question about all tests.
struct LitmusQuestion {
    arguments: LitmusArguments,
    /// The requested models; empty for the model of each test's architecture.
    models: Vec<LitmusModel>,
    interrupt: Interrupt,
    reporter: Reporter,
    /// Whether files or annotations for CI systems were requested.
    cases_wanted: bool,
    /// Whether a page was requested.
    page_wanted: bool,
}

/// Results besides standard output.
struct Records<'c> {
    cases: &'c mut Cases,
    page: Option<LitmusPage>,
}

impl Records<'_> {
    fn add(&mut self, case: Option<&Case>, cell: Option<Cell>) {
        case.into_iter().for_each(|case| self.cases.add(case));
        if let (Some(page), Some(Cell { test, column, answer })) = (&mut self.page, cell) {
            page.add(input::shown(&test.file), &test.litmus, &column, answer);
        }
    }
}

/// An answer for the page.
struct Cell {
    test: Arc<Test>,
    column: String,
    answer: serde_json::Value,
}

impl LitmusQuestion {
    /// The models for a test.
    fn models(&self, test: &Test) -> Vec<LitmusModel> {
        match self.models.is_empty() {
            true => vec![LitmusModel::of_architecture(test.litmus.architecture)],
            false => self.models.clone(),
        }
    }

    fn answer<'t>(&self, test: &'t Test, model: LitmusModel) -> Answer<'t> {
        let name = model.name().to_owned();
        let limits = &self.arguments.limits;
        let deadline = limits.budget.map(|budget| Instant::now() + budget);
        let go_on = |states| {
            self.reporter.say(|| format!("{} under {name}: {states} states", test.litmus.name));
            !self.interrupt.happened() && deadline.is_none_or(|end| Instant::now() < end)
        };
        let limits = Limits { memory: limits.memory.memory, go_on: &go_on };
        Answer::of(&test.litmus, model, &limits)
    }

    /// The case for CI systems, if requested.
    fn case(&self, test: &Test, answer: &Answer<'_>) -> Option<Case> {
        if !self.cases_wanted {
            return None;
        }
        let (file, model) = (input::shown(&test.file), answer.model.name());
        let complaint = match answer.verdict() {
            Verdict::Holds(()) => None,
            Verdict::Broken(()) => {
                let mut text = Vec::new();
                answer.write(file, Style::default(), &mut text).expect("a vector takes everything");
                let condition = test.litmus.condition.spelled(&test.litmus);
                let message = format!("{model} allows outcomes that violate {condition}");
                let text = String::from_utf8_lossy(&text).into_owned();
                Some(Complaint::violation(message, text))
            }
            Verdict::Undecided(stopped) => {
                let (why, ending) = self.why_stopped(stopped);
                Some(match ending {
                    Ending::BadRequest => Complaint::malformed(why, String::new()),
                    _ => Complaint::undecided(why, String::new()),
                })
            }
        };
        let case = Case::passed(file, format!("{} under {model}", test.litmus.name));
        Some(Case { complaint, ..case.took(answer.time) })
    }

    /// The cell of the page, if requested.
    fn cell(&self, test: &Arc<Test>, answer: &Answer<'_>) -> Option<Cell> {
        if !self.page_wanted {
            return None;
        }
        let (file, model) = (input::shown(&test.file), answer.model.name());
        let shown = answer.shown(file, MOST_STATES).unwrap_or_else(|| {
            let why = answer.found.as_ref().err().map(|stopped| self.why_stopped(stopped).0);
            serde_json::json!({ "why": why })
        });
        Some(Cell { test: Arc::clone(test), column: model.to_owned(), answer: shown })
    }

    /// Prints an answer, with its notes.
    fn print_answer(
        &self,
        test: &Test,
        answer: &Answer<'_>,
        out: &mut dyn Write,
    ) -> io::Result<Ending> {
        let (arguments, file, model) =
            (&self.arguments, input::shown(&test.file), answer.model.name());
        if let Err(stopped) = &answer.found {
            let (why, ending) = self.why_stopped(stopped);
            if arguments.json.json && ending != Ending::BadRequest {
                let object = Unanswered {
                    file,
                    micros: litmus::micros(answer.time),
                    seconds: answer.time.as_secs_f64(),
                    model: Some(model),
                    memory_model: Some(model),
                    on: None,
                    test: &test.litmus.name,
                    verdict: "undecided",
                    why: &why,
                };
                writeln!(out, "{}", object.json())?;
            }
            remark(&format!("{file}: {} under {model}: {why}", test.litmus.name));
            return Ok(ending);
        }
        let style = Style {
            json: arguments.json.json,
            witness: arguments.witness,
            heading: self.models.len() > 1,
            summary: arguments.summary,
            most_states: None,
        };
        answer.write(file, style, out)?;
        if let (Some(rounds), false) = (answer.unrolled(), arguments.quiet.quiet) {
            remark(&format!(
                "{file}: under {model}, loops were unrolled {rounds} times; longer runs were not \
                 enumerated"
            ));
        }
        if let Verdict::Undecided(stopped) = answer.verdict() {
            remark(&format!("{file}: {} under {model}: undecided: {stopped}", test.litmus.name));
        }
        Ok(Ending::of(&answer.verdict()))
    }

    /// The reason as a sentence, and the ending of the run.
    fn why_stopped(&self, stopped: &Stopped) -> (String, Ending) {
        match stopped {
            Stopped::Asked { .. } if self.interrupt.happened() => {
                ("interrupted".to_owned(), Ending::Interrupted)
            }
            Stopped::Fault { .. } | Stopped::Mixed { .. } => {
                (stopped.to_string(), Ending::BadRequest)
            }
            stopped => (stopped.to_string(), Ending::Undecided),
        }
    }
}

/// Answers every test and model: in order with one worker, ahead of printing with several.
fn answer_all(
    tests: &[Arc<Test>],
    asking: LitmusQuestion,
    progress: &Progress,
    output: &mut Output,
    records: &mut Records<'_>,
) -> Result<Ending, Failure> {
    let pairs = |test: &Arc<Test>| {
        let models = asking.models(test).into_iter();
        models.map(|model| (Arc::clone(test), model)).collect()
    };
    let asked: Vec<(Arc<Test>, LitmusModel)> = tests.iter().flat_map::<Vec<_>, _>(pairs).collect();
    let mut ending = Ending::NoViolation;
    let workers = asking.arguments.jobs.count();
    if asked.len() == 1 || workers == 1 {
        for (test, model) in asked {
            if asking.interrupt.happened() {
                break;
            }
            let answer = asking.answer(&test, model);
            progress.hide();
            let ended =
                asking.print_answer(&test, &answer, output.writer()).map_err(Failure::of_stdout)?;
            ending = ending.and(ended);
            output.flush()?;
            records.add(asking.case(&test, &answer).as_ref(), asking.cell(&test, &answer));
        }
        return Ok(ending);
    }
    type Printed = (Vec<u8>, Ending, Option<Case>, Option<Cell>);
    let interrupt = asking.interrupt.clone();
    let mut answers = Pipeline::start(
        workers.min(asked.len()),
        move |questions: &mut Questions<(Arc<Test>, LitmusModel), Printed>| {
            let _ = asked.into_iter().try_for_each(|question| questions.ask(question, 0));
        },
        move |(test, model)| {
            if asking.interrupt.happened() {
                return None;
            }
            let mut text = Vec::new();
            let answer = asking.answer(&test, model);
            let ended = asking.print_answer(&test, &answer, &mut text);
            let (case, cell) = (asking.case(&test, &answer), asking.cell(&test, &answer));
            Some((text, ended.expect("a vector takes everything"), case, cell))
        },
    );
    interrupt.listen(answers.stopper());
    answers.each(|answer| {
        let Some((text, ended, case, cell)) = answer else { return output.flush() };
        progress.hide();
        records.add(case.as_ref(), cell);
        ending = ending.and(ended);
        output.writer().write_all(&text).map_err(Failure::of_stdout)
    })?;
    Ok(ending)
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Input(error) => Failure::Input(error),
            FileError::File(name, error) => Failure::File { name, action: "read", error },
            FileError::NoText(..) | FileError::Nested(_) => Failure::Usage(error.to_string()),
        }
    }
}
