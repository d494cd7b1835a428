//! `tribunal check`: prints one line for each trace and model, in order, as soon as the verdict is
//! known.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use evidence::{AnyCertificate, Verdict};
use judge::AnyModel;
use judge::stream::{Answers, Asked, Job, Trace, UnderWay, UnreadableTrace};
use report::check::{
    Listed, MOST_PAGES, Style, Tally, TracePage, index_page, interrupted_line, lines, trace_pages,
    unread_lines,
};
use report::ci::{self, Case, Complaint};

use super::{count, live, remark};
use crate::arguments::{CheckArguments, ModelArgument, Stats};
use crate::cases::Cases;
use crate::ending::{self, Ending, Failure};
use crate::input;
use crate::interrupt::Interrupt;
use crate::kind::Kind;
use crate::output::{self, Output, Saved};
use crate::progress::Progress;

pub(crate) fn run(arguments: CheckArguments, interrupt: &Interrupt) -> Result<Ending, Failure> {
    let mut cases = Cases::open(&arguments.ci, "check", interrupt)?;
    let subject = match &arguments.files[..] {
        [file] => input::shown(file).to_owned(),
        _ => "trace files".to_owned(),
    };
    let ended = match arguments.live {
        true => live::run(&arguments, &mut cases, interrupt),
        false => judge_all(arguments, &mut cases, interrupt),
    };
    cases.conclude(&subject, ended)
}

/// Judges whole traces.
fn judge_all(
    arguments: CheckArguments,
    cases: &mut Cases,
    interrupt: &Interrupt,
) -> Result<Ending, Failure> {
    let certificates = certificate_file(&arguments, interrupt)?;
    let pages = arguments.report.clone().map(|to| Pages::create(to, interrupt)).transpose()?;
    let quiet = arguments.quiet.quiet;
    let progress = Progress::start(quiet);
    let style = Style {
        json: arguments.json.json,
        quiet,
        stats: arguments.stats.is_some(),
        witness: arguments.stats == Some(Stats::Full),
        colour: output::colours(arguments.colour, &std::io::stdout()),
    };
    let colour_errors = output::colours(arguments.colour, &std::io::stderr());
    let (reporter, certify) = (progress.reporter(), certificates.is_some());
    let cases_wanted = cases.are_wanted();
    let asked = asked(&arguments)?;
    let expected = arguments.expect_traces;
    let wanted = pages.as_ref().map(|pages| Arc::clone(&pages.written));
    let (limits, stop) = (arguments.limits.limits(), interrupt.flag());
    let (only_violations, first) = (arguments.only_violations, arguments.first);
    let only_trace = arguments.trace;
    let under_way = UnderWay::default();
    let job = Job { under_way: Some(under_way.clone()), ..job(arguments, asked, interrupt) };
    let (asked, keep_going) = (job.distinct().collect(), job.keep_going);
    let mut answers = job.start(
        move |stage| reporter.say(|| stage.to_string()),
        move |judged| {
            let (asked, verdict) = (judged.asked.clone(), judged.verdict());
            let text = lines(&judged, style);
            let case = cases_wanted.then(|| ci::judged(&judged));
            let wants = |written: &Arc<AtomicUsize>| written.load(Ordering::Relaxed) < MOST_PAGES;
            let pages = match &wanted {
                Some(written) if matches!(verdict, Verdict::Broken(())) => {
                    let made = wants(written).then(|| trace_pages(&judged, &limits, &stop));
                    let made =
                        made.unwrap_or_default().into_iter().filter(|page| page.is_violation);
                    Some((judged.trace.history.len(), made.collect()))
                }
                _ => None,
            };
            let trace = (Arc::clone(&judged.trace.file), judged.trace.number);
            let uncertified = judged.why_no_certificate().filter(|_| certify);
            let evidence =
                certify.then(|| (Arc::clone(&judged.trace), judged.certificates(&limits, &stop)));
            Printed { trace, asked, verdict, text, case, pages, evidence, uncertified }
        },
    );
    interrupt.listen(answers.stopper());
    let mut printer = Printer {
        output: Output::stdout(),
        certificates,
        cases,
        pages,
        progress,
        tally: Tally::default(),
        last: None,
        traces: 0,
        under_way,
        unread: Ending::NoViolation,
        asked,
        keep_going,
        style,
        colour_errors,
        only_violations,
        first,
    };
    let mut printed = printer.print_all(&mut answers);
    if interrupt.happened() && printed.is_ok() {
        printed = printer.print_interrupted();
    }
    printer.expect(expected);
    if let (Some(wanted), 0, false) = (only_trace, printer.traces, interrupt.happened()) {
        remark(&format!("--trace {wanted} does not exist: no file has that many traces"));
        printer.unread = printer.unread.and(Ending::BadRequest);
    }
    printer.finish(printed, quiet, interrupt.happened())
}

fn certificate_file(
    arguments: &CheckArguments,
    interrupt: &Interrupt,
) -> Result<Option<Saved>, Failure> {
    let Some(path) = &arguments.certificate else { return Ok(None) };
    if arguments.files.len() > 1 {
        let sentence = "--certificate takes one trace file; check the files one by one";
        return Err(Failure::Usage(sentence.to_owned()));
    }
    Saved::create(path, interrupt).map(Some)
}

/// The models of the command line; model files are read.
fn asked(arguments: &CheckArguments) -> Result<Vec<Asked>, Failure> {
    let read = |model: &ModelArgument| match model {
        ModelArgument::Gradual => Ok(Asked::Gradual),
        ModelArgument::One(memory_model) => {
            memory_model.memory_model().map(|memory_model| match memory_model {
                AnyModel::Model(model) => Asked::Model(model),
                AnyModel::File(file) => Asked::File(file),
            })
        }
    };
    arguments.model.iter().map(read).collect()
}

fn job(arguments: CheckArguments, asked: Vec<Asked>, interrupt: &Interrupt) -> Job {
    Job {
        format: arguments.input.format,
        options: arguments.input.options_of_any(&arguments.limits.memory),
        asked,
        engine: arguments.engine,
        allow_empty: arguments.allow_empty,
        // A co-process waits for an answer to each trace that it sends, even to a malformed one.
        only: arguments.trace,
        keep_going: arguments.keep_going || arguments.files.iter().any(|file| file == "-"),
        limits: arguments.limits.limits(),
        jobs: arguments.jobs.count(),
        stop: interrupt.flag(),
        ..Job::new(arguments.files)
    }
}

/// The text about an answer, and its certificate.
struct Printed {
    /// The file, and the number of the trace in it.
    trace: (Arc<str>, u64),
    asked: Asked,
    verdict: Verdict<(), (), ()>,
    text: String,
    /// The case for CI systems, if requested.
    case: Option<Case>,
    /// For a violation: the number of events of the trace, and its pages, if requested.
    pages: Option<(usize, Vec<TracePage>)>,
    evidence: Option<(Arc<Trace>, Vec<AnyCertificate>)>,
    /// Why there is no certificate, if one was requested.
    uncertified: Option<&'static str>,
}

/// Prints answers and counts them.
struct Printer<'c> {
    output: Output,
    certificates: Option<Saved>,
    cases: &'c mut Cases,
    pages: Option<Pages>,
    progress: Progress,
    tally: Tally,
    /// The trace of the last answer, and the number of traces so far.
    last: Option<(Arc<str>, u64)>,
    traces: u64,
    under_way: UnderWay,
    /// The ending of the run because of input that could not be read.
    unread: Ending,
    /// The models that every trace is checked against.
    asked: Vec<Asked>,
    keep_going: bool,
    style: Style,
    colour_errors: bool,
    /// Whether consistent traces are not printed.
    only_violations: bool,
    /// Whether to stop at the first violation.
    first: bool,
}

impl Printer<'_> {
    fn print_all(&mut self, answers: &mut Answers<Printed>) -> Result<(), Failure> {
        answers.each(|answer| match answer {
            Some(Ok(printed)) => self.print(printed),
            Some(Err(unread)) => self.complain(&unread),
            None => self.output.flush(),
        })?;
        self.output.flush()
    }

    fn print(&mut self, printed: Printed) -> Result<(), Failure> {
        self.progress.hide();
        if let Some(why) = printed.uncertified {
            let ((file, number), model) = (&printed.trace, printed.asked.name());
            self.output.flush()?;
            remark(&format!("{file} #{number}: {model}: no certificate: {why}"));
        }
        if let Some(case) = &printed.case {
            self.output.flush()?;
            self.cases.add(case);
        }
        if let (Some(pages), Some((events, made))) = (&mut self.pages, printed.pages) {
            pages.add(&printed.trace, printed.asked.name(), events, made)?;
        }
        let verdict = printed.verdict;
        let (file, number) = &printed.trace;
        self.under_way.answered(file, *number, &printed.asked);
        self.tally.add(printed.asked, verdict);
        if self.last.as_ref() != Some(&printed.trace) {
            self.traces += 1;
            self.last = Some(printed.trace);
        }
        if let (Some(file), Some((trace, certificates))) =
            (&mut self.certificates, printed.evidence)
        {
            for certificate in certificates {
                file.line(|out| certificate.write(&trace.history, out))?;
            }
        }
        if !self.only_violations || !matches!(verdict, Verdict::Holds(())) {
            self.output.print(&printed.text)?;
        }
        match self.first && matches!(verdict, Verdict::Broken(())) {
            // Ends the run like a reader of standard output that has gone away.
            true => self.output.flush().and(Err(Failure::BrokenPipe)),
            false => Ok(()),
        }
    }

    /// Says of each trace that was begun that there is no answer.
    fn print_interrupted(&mut self) -> Result<(), Failure> {
        self.progress.hide();
        for interrupted in self.under_way.interrupted() {
            if self.cases.are_wanted() {
                self.cases.add(&ci::interrupted(&interrupted));
            }
            self.output.print(&interrupted_line(&interrupted, self.style))?;
            self.tally.add(interrupted.asked, Verdict::Undecided(()));
        }
        self.output.flush()
    }

    fn complain(&mut self, unread: &UnreadableTrace) -> Result<(), Failure> {
        self.progress.hide();
        self.unread = self.unread.and(ending::of_input(&unread.error));
        ci::unread(unread, &self.asked).iter().for_each(|case| self.cases.add(case));
        if unread.is_too_large() {
            for asked in &self.asked {
                self.tally.add(asked.clone(), Verdict::Undecided(()));
            }
        }
        if unread.number.is_some() && (unread.is_too_large() || self.keep_going) {
            self.traces += 1;
            self.output.print(&unread_lines(unread, &self.asked, self.style))?;
        }
        self.output.flush()?;
        let text = ending::unreadable(&unread.error, Kind::Trace, self.colour_errors);
        let _ = std::io::stderr().write_all(text.as_bytes());
        Ok(())
    }

    /// Reports a number of traces that differs from --expect-traces.
    fn expect(&mut self, expected: Option<u64>) {
        if let Some(expected) = expected.filter(|&expected| expected != self.traces) {
            self.progress.hide();
            let found = count(self.traces as usize, "trace");
            let wanted = count(expected as usize, "trace");
            let sentence = format!("expected {wanted} (--expect-traces), found {found}");
            remark(&sentence);
            let complaint = Complaint::malformed(sentence, String::new());
            self.cases.add(&Case::failed("trace files", "number of traces", complaint));
            self.unread = self.unread.and(Ending::BadRequest);
        }
    }

    /// Saves the certificates, prints the summary, and determines how the run ended.
    fn finish(
        self,
        printed: Result<(), Failure>,
        quiet: bool,
        interrupted: bool,
    ) -> Result<Ending, Failure> {
        let Printer { certificates, pages, progress, tally, unread, only_violations, .. } = self;
        drop(progress);
        if let Some(pages) = pages {
            pages.finish(&tally)?;
        }
        if let Some(file) = certificates {
            file.finish()?;
        }
        let ending = Ending::of(&tally.verdict()).and(unread);
        match printed {
            Ok(()) => {}
            // Not every trace was judged, so the run is undecided at best.
            Err(Failure::BrokenPipe) => return Ok(ending.and(Ending::Undecided)),
            Err(failure) => return Err(failure),
        }
        if interrupted {
            remark(&format!("interrupted; {}", tally.summary()));
            return Ok(Ending::Interrupted);
        }
        if !quiet && (tally.is_long() || only_violations) {
            remark(&tally.summary());
        }
        Ok(ending)
    }
}

/// The directory of pages.
struct Pages {
    directory: PathBuf,
    listed: Vec<Listed>,
    /// The number of pages so far; there is a limit.
    written: Arc<AtomicUsize>,
    interrupt: Interrupt,
}

impl Pages {
    fn create(directory: PathBuf, interrupt: &Interrupt) -> Result<Self, Failure> {
        output::create_directory(&directory)?;
        let (listed, written) = (Vec::new(), Arc::default());
        Ok(Pages { directory, listed, written, interrupt: interrupt.clone() })
    }

    /// Lists a violation, and writes its pages unless the limit is reached.
    fn add(
        &mut self,
        (file, number): &(Arc<str>, u64),
        asked: &str,
        events: usize,
        pages: Vec<TracePage>,
    ) -> Result<(), Failure> {
        let mut list = |model: &str, page: Option<String>, gist: String| {
            let (file, model) = (file.to_string(), model.to_owned());
            self.listed.push(Listed { file, trace: *number, model, events, page, gist });
        };
        let room = MOST_PAGES.saturating_sub(self.written.load(Ordering::Relaxed));
        if pages.is_empty() || room == 0 {
            list(asked, None, String::new());
        }
        for TracePage { model, gist, html, .. } in pages.into_iter().take(room) {
            let count = self.written.fetch_add(1, Ordering::Relaxed) + 1;
            let stem = |name: &str| {
                let stem = Path::new(name).file_stem().unwrap_or_default().to_string_lossy();
                let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
                stem.chars().take(40).map(plain).collect::<String>()
            };
            let name = format!("{count:04}-{}-{number}-{}.html", stem(file), stem(&model));
            output::save(&self.directory.join(&name), &html, &self.interrupt)?;
            list(&model, Some(name), gist);
        }
        Ok(())
    }

    /// Writes the index.
    fn finish(self, tally: &Tally) -> Result<(), Failure> {
        let index = index_page(tally, &self.listed);
        output::save(&self.directory.join("index.html"), &index, &self.interrupt)
    }
}
