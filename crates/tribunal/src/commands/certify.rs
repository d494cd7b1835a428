//! `tribunal certify`: checks every line of a certificate file against its trace, or the
//! certificate of a protocol (`protocol.rs`); the file says which kind it is.

use certify::stream::{Answer, Answers, Job, Problem};

use super::{count, remark};
use crate::arguments::{CertifyArguments, Given};
use crate::ending::{Ending, Failure};
use crate::input;
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::progress::Progress;

mod protocol;

/// Flags that apply to certificates of traces only.
const TRACE_FLAGS: [&str; 9] = [
    "model",
    "format",
    "thin_air",
    "misaligned",
    "shared_only",
    "keep_prefix",
    "discarded_amo",
    "skip_unknown",
    "xlen",
];

pub(crate) fn run(
    arguments: CertifyArguments,
    given: &Given<'_>,
    interrupt: &Interrupt,
) -> Result<Ending, Failure> {
    let is_protocol = protocol::is_asked(&arguments.certificate);
    let (flags, what): (&[&str], _) = match is_protocol {
        true => (&TRACE_FLAGS, "a trace"),
        false => (&["budget"], "a protocol"),
    };
    if let Some(flag) = flags.iter().find(|flag| given.has(flag)) {
        let (flag, file) = (flag.replace('_', "-"), arguments.certificate.display());
        return Err(Failure::Usage(format!(
            "--{flag} has no effect here: it needs a certificate of {what}, and {file} is not one"
        )));
    }
    if is_protocol {
        return protocol::run(&arguments, interrupt);
    }
    let progress = Progress::start(arguments.quiet.quiet);
    let reporter = progress.reporter();
    let job = Job {
        traces: arguments.trace.clone(),
        certificates: arguments.certificate.to_string_lossy().into_owned(),
        format: arguments.input.format,
        options: arguments.input.options_of_any(&arguments.memory),
        model: arguments.model.clone(),
        jobs: arguments.jobs.count(),
    };
    let mut answers = job.start(move |trace| reporter.say(|| format!("certifying trace {trace}")));
    interrupt.listen(answers.stopper());
    let mut printer = Printer {
        file: input::shown(&arguments.trace).to_owned(),
        json: arguments.json.json,
        quiet: arguments.quiet.quiet,
        output: Output::stdout(),
        ending: Ending::NoViolation,
        checked: 0,
        progress: &progress,
    };
    let printed = printer.print_all(&mut answers);
    let Printer { ending, checked, .. } = printer;
    drop(progress);
    match printed {
        Ok(()) if interrupt.happened() => {
            remark(&format!("interrupted; {} checked", count(checked, "certificate")));
            Ok(Ending::Interrupted)
        }
        Ok(()) => Ok(ending),
        // Not every certificate was checked, so the run is undecided at best.
        Err(Failure::BrokenPipe) => Ok(ending.and(Ending::Undecided)),
        Err(failure) => Err(failure),
    }
}

/// Prints findings as they arrive, counts them and keeps their endings.
struct Printer<'a> {
    file: String,
    json: bool,
    quiet: bool,
    output: Output,
    ending: Ending,
    checked: usize,
    progress: &'a Progress,
}

impl Printer<'_> {
    fn print_all(&mut self, answers: &mut Answers) -> Result<(), Failure> {
        answers.each(|answer| match answer {
            Some(Ok(answer)) => self.print(&answer),
            Some(Err(problem)) => self.output.flush().and(Err(problem.into())),
            None => self.output.flush(),
        })?;
        self.output.flush()
    }

    fn print(&mut self, answer: &Answer) -> Result<(), Failure> {
        self.progress.hide();
        match answer {
            Answer::Finding(finding) => {
                self.ending = self.ending.and(Ending::of(&finding.result));
                self.checked += 1;
                self.output
                    .print(&(report::certificate_line(&self.file, finding, self.json) + "\n"))
            }
            Answer::Bare { bare: 0, .. } => self.output.flush(),
            Answer::Bare { traces, bare } => {
                // Traces without a certificate were not checked.
                self.ending = self.ending.and(Ending::Undecided);
                self.output.flush()?;
                if !self.quiet {
                    remark(&format!(
                        "{bare} of {} have no certificate and were not checked",
                        count(*traces, "trace")
                    ));
                }
                Ok(())
            }
        }
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        match problem {
            Problem::Input(error) => Failure::Input(error),
            Problem::Model(error) => Failure::Model(error),
            Problem::Line { .. } => Failure::Usage(problem.to_string()),
            Problem::TooLong { .. } => Failure::Budget(problem.to_string()),
        }
    }
}
