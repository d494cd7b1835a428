//! `tribunal check`: one line for each trace and model, in order, each as soon as it is known.
//!
//! A thread reads, `--jobs` threads judge and render, this one prints. Whoever waits at the other
//! end of a pipe gets an answer as soon as all before it are there.

use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

use evidence::Certificate;
use history::{History, InputError};
use judge::{Engine, Judgement, judge};
use models::Model;

use super::{budget, count, remark};
use crate::arguments::{Asked, CheckArguments, LimitFlags, Stats};
use crate::ending::{self, Ending, Failure};
use crate::gradual::{Gradual, judge_gradually};
use crate::input;
use crate::interrupt::Interrupt;
use crate::output::{self, Output, Saved};
use crate::pipeline::{Closed, Pipeline, Questions};
use crate::progress::{Progress, Teller};

mod render;

pub(crate) fn run(arguments: CheckArguments, interrupt: &Interrupt) -> Result<Ending, Failure> {
    let certificates = certificate_file(&arguments, interrupt)?;
    let progress = Progress::start(arguments.quiet.quiet);
    let colour = output::colours(arguments.colour, &std::io::stdout());
    let court = Court {
        engine: arguments.engine,
        limits: arguments.limits.clone(),
        json: arguments.json.json,
        quiet: arguments.quiet.quiet,
        stats: arguments.stats,
        certify: certificates.is_some(),
        colour,
        interrupt: interrupt.clone(),
        teller: progress.teller(),
    };
    let (quiet, colour_flag) = (arguments.quiet.quiet, arguments.colour);
    let workers = arguments.jobs.count();
    let teller = progress.teller();
    let pipeline = Pipeline::start(
        workers,
        interrupt,
        move |questions| read(&arguments, questions, &teller),
        move |question| court.answer(question),
    );
    let mut printer = Printer {
        output: Output::stdout(),
        certificates,
        progress,
        tally: Tally { rows: Vec::new(), unread: Ending::Kept },
        colour_errors: output::colours(colour_flag, &std::io::stderr()),
    };
    let printed = printer.print_all(pipeline);
    printer.finish(printed, quiet, interrupt.happened())
}

fn certificate_file(
    arguments: &CheckArguments,
    interrupt: &Interrupt,
) -> Result<Option<Saved>, Failure> {
    let Some(path) = &arguments.certificate else { return Ok(None) };
    if arguments.files.len() > 1 {
        let sentence = "a certificate is about one trace file; check the files one by one";
        return Err(Failure::Usage(sentence.to_owned()));
    }
    Saved::create(path, interrupt).map(Some)
}

/// A trace of a file.
struct Trace {
    file: Arc<str>,
    number: u64,
    history: History,
}

/// One thing to decide, or the reason why a file ends early.
enum Question {
    Judge(Arc<Trace>, Asked),
    BadInput(InputError),
}

/// Asks every model about every trace of every file. A file that cannot be read any further does
/// not keep the next from being read.
fn read(arguments: &CheckArguments, questions: &mut Questions<Question, Reply>, teller: &Teller) {
    for file in &arguments.files {
        teller.say(|| format!("reading {}", input::shown(file)));
        if read_file(arguments, file, questions).is_err() {
            return;
        }
    }
}

fn read_file(
    arguments: &CheckArguments,
    file: &str,
    questions: &mut Questions<Question, Reply>,
) -> Result<(), Closed> {
    let options = arguments.input.options(file, &arguments.limits.memory);
    let traces = match input::traces_to_ask(questions, file, options) {
        Ok(traces) => traces,
        Err(error) => return questions.ask(Question::BadInput(error), 0),
    };
    let file: Arc<str> = input::shown(file).into();
    for (index, trace) in traces.enumerate() {
        let history = match trace {
            Ok(history) => history,
            Err(error) => return questions.ask(Question::BadInput(error), 0),
        };
        let load = history.len();
        let trace = Arc::new(Trace { file: file.clone(), number: index as u64 + 1, history });
        for model in distinct(&arguments.model) {
            questions.ask(Question::Judge(Arc::clone(&trace), model), load)?;
        }
    }
    Ok(())
}

/// The models asked for, without repetitions.
fn distinct(asked: &[Asked]) -> impl Iterator<Item = Asked> + '_ {
    asked.iter().enumerate().filter(|(i, a)| !asked[..*i].contains(a)).map(|(_, a)| *a)
}

/// What is printed about one question.
enum Reply {
    Judged {
        asked: Asked,
        ending: Ending,
        text: String,
        certificates: Vec<Certificate>,
        /// What the certificates are about, if there are any.
        trace: Option<Arc<Trace>>,
    },
    BadInput(InputError),
}

/// What the workers share.
struct Court {
    engine: Engine,
    limits: LimitFlags,
    json: bool,
    quiet: bool,
    stats: Option<Stats>,
    certify: bool,
    colour: bool,
    interrupt: Interrupt,
    teller: Teller,
}

impl Court {
    /// The reply; `None` if an interruption kept it from being found.
    fn answer(&self, question: Question) -> Option<Reply> {
        let (trace, asked) = match question {
            Question::Judge(trace, asked) => (trace, asked),
            Question::BadInput(error) => return Some(Reply::BadInput(error)),
        };
        self.teller.say(|| {
            let Trace { file, number, history } = &*trace;
            format!("judging {file} #{number} ({})", count(history.len(), "event"))
        });
        let start = Instant::now();
        let (ending, text, verdicts) = match asked {
            Asked::Model(model) => {
                let verdict = self.judge(&trace, model);
                let micros = micros_since(start);
                let text = self.verdict_text(&trace, &verdict, micros);
                (Ending::of(&verdict.outcome), text, vec![verdict])
            }
            Asked::Gradual => {
                let gradual = judge_gradually(|model| self.judge(&trace, model));
                let text = self.gradual_text(&trace, &gradual, micros_since(start));
                (gradual_ending(&gradual), text, gradual.verdicts)
            }
        };
        if ending == Ending::Undecided && self.interrupt.happened() {
            return None;
        }
        let certificates = match self.certify {
            true => certificates(&trace, verdicts),
            false => Vec::new(),
        };
        let trace = Some(trace).filter(|_| !certificates.is_empty());
        Some(Reply::Judged { asked, ending, text, certificates, trace })
    }

    fn judge(&self, trace: &Trace, model: Model) -> Judgement {
        judge(&trace.history, model, self.engine, &budget(&self.limits, &self.interrupt))
    }
}

fn micros_since(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX)
}

/// Broken when no model holds; undecided while a model that might hold is not beaten by one that
/// does.
fn gradual_ending(gradual: &Gradual) -> Ending {
    match (gradual.undecided().is_empty(), gradual.strongest().is_empty()) {
        (false, _) => Ending::Undecided,
        (true, false) => Ending::Kept,
        (true, true) => Ending::Broken,
    }
}

/// What is certified: every verdict that was reached.
fn certificates(trace: &Trace, verdicts: Vec<Judgement>) -> Vec<Certificate> {
    let certified = verdicts.into_iter().filter_map(|verdict| {
        let evidence = verdict.outcome.into_evidence()?;
        Some(Certificate { trace: trace.number, model: verdict.model, evidence })
    });
    certified.collect()
}

/// Prints replies and counts them.
struct Printer {
    output: Output,
    certificates: Option<Saved>,
    progress: Progress,
    tally: Tally,
    colour_errors: bool,
}

impl Printer {
    fn print_all(&mut self, mut replies: Pipeline<Question, Reply>) -> Result<(), Failure> {
        loop {
            let reply = match replies.ready() {
                Some(reply) => Some(reply),
                None => {
                    self.output.flush()?;
                    replies.wait()
                }
            };
            match reply {
                Some(reply) => self.print(reply)?,
                None => break,
            }
        }
        for reply in replies.leftovers() {
            self.print(reply)?;
        }
        self.output.flush()
    }

    fn print(&mut self, reply: Reply) -> Result<(), Failure> {
        self.progress.hide();
        match reply {
            Reply::Judged { asked, ending, text, certificates, trace } => {
                self.tally.add(asked, ending);
                if let (Some(file), Some(trace)) = (&mut self.certificates, trace) {
                    for certificate in certificates {
                        file.line(|out| certificate.write(&trace.history, out))?;
                    }
                }
                self.output.print(&text)
            }
            Reply::BadInput(error) => {
                self.tally.unread = self.tally.unread.and(ending::of_input(&error));
                self.output.flush()?;
                let text = error.render(self.colour_errors);
                let _ = std::io::stderr().write_all(text.as_bytes());
                Ok(())
            }
        }
    }

    /// Saves the certificates, says the last words, and finds how the run ended.
    fn finish(
        self,
        printed: Result<(), Failure>,
        quiet: bool,
        interrupted: bool,
    ) -> Result<Ending, Failure> {
        let Printer { certificates, progress, tally, .. } = self;
        drop(progress);
        if let Some(file) = certificates {
            file.finish()?;
        }
        let ending = tally.ending();
        match printed {
            Ok(()) => {}
            // Not every trace was judged, so nothing better than "undecided" can be said.
            Err(Failure::BrokenPipe) => return Ok(ending.and(Ending::Undecided)),
            Err(failure) => return Err(failure),
        }
        if interrupted {
            remark(&format!("interrupted; {}", tally.summary()));
            return Ok(Ending::Interrupted);
        }
        if !quiet && tally.is_long() {
            remark(&tally.summary());
        }
        Ok(ending)
    }
}

/// How many traces were found to be what.
struct Tally {
    rows: Vec<(Asked, [usize; 3])>,
    /// What came of input that could not be read.
    unread: Ending,
}

impl Tally {
    fn add(&mut self, asked: Asked, ending: Ending) {
        let at = match self.rows.iter().position(|(a, _)| *a == asked) {
            Some(at) => at,
            None => {
                self.rows.push((asked, [0; 3]));
                self.rows.len() - 1
            }
        };
        let column = match ending {
            Ending::Kept => 0,
            Ending::Broken => 1,
            _ => 2,
        };
        self.rows[at].1[column] += 1;
    }

    fn ending(&self) -> Ending {
        let any = |column: usize| self.rows.iter().any(|(_, counts)| counts[column] > 0);
        let judged = match (any(1), any(2)) {
            (true, _) => Ending::Broken,
            (false, true) => Ending::Undecided,
            (false, false) => Ending::Kept,
        };
        judged.and(self.unread)
    }

    /// Whether there is more than fits a look.
    fn is_long(&self) -> bool {
        self.rows.iter().map(|(_, counts)| counts.iter().sum::<usize>()).sum::<usize>() > 10
    }

    /// `sc: 2000 traces: 150 consistent, 1850 violations`
    fn summary(&self) -> String {
        if self.rows.is_empty() {
            return "no trace was judged".to_owned();
        }
        let rows = self.rows.iter().map(|(asked, [kept, broken, undecided])| {
            let traces = count(kept + broken + undecided, "trace");
            let open = match undecided {
                0 => String::new(),
                undecided => format!(", {undecided} undecided"),
            };
            let name = asked.name();
            format!("{name}: {traces}: {kept} consistent, {}{open}", count(*broken, "violation"))
        });
        rows.collect::<Vec<_>>().join("; ")
    }
}
