//! Cases for continuous integration: every command that decides something adds its cases here, and
//! the requested files and annotations are written from them.

use std::io::Write;
use std::time::Instant;

use report::ci::{Case, CodeQuality, Complaint, Junit, github};

use crate::arguments::{Annotate, CiFlags};
use crate::ending::{Ending, Failure};
use crate::interrupt::Interrupt;
use crate::output::Saved;

/// The cases of a run.
pub(crate) struct Cases {
    command: &'static str,
    junit: Option<(Junit, Saved)>,
    github: bool,
    gitlab: Option<(CodeQuality, Saved)>,
    has_case: bool,
    started: Instant,
    interrupt: Interrupt,
}

impl Cases {
    /// The cases of this command, written to the files that the flags name.
    pub(crate) fn open(
        flags: &CiFlags,
        command: &'static str,
        interrupt: &Interrupt,
    ) -> Result<Self, Failure> {
        let junit = flags.junit.as_deref().map(|path| Saved::create(path, interrupt));
        let gitlab = match &flags.annotate {
            Some(Annotate::Gitlab(path)) => Some(Saved::create(path, interrupt)?),
            Some(Annotate::Github) | None => None,
        };
        let suite = Junit::new(format!("tribunal {command}"));
        Ok(Cases {
            command,
            junit: junit.transpose()?.map(|file| (suite, file)),
            github: flags.annotate == Some(Annotate::Github),
            gitlab: gitlab.map(|file| (CodeQuality::default(), file)),
            has_case: false,
            started: Instant::now(),
            interrupt: interrupt.clone(),
        })
    }

    /// Whether a file or annotations were requested.
    pub(crate) fn are_wanted(&self) -> bool {
        self.junit.is_some() || self.github || self.gitlab.is_some()
    }

    /// Adds a case.
    pub(crate) fn add(&mut self, case: &Case) {
        self.has_case = true;
        if let Some((junit, _)) = &mut self.junit {
            junit.add(case);
        }
        if self.github {
            let _ = std::io::stderr().write_all(github(case).as_bytes());
        }
        if let Some((report, _)) = &mut self.gitlab {
            report.add(case);
        }
    }

    /// Adds the only case of a command; its time is that of the whole run.
    pub(crate) fn add_only(&mut self, case: Case) {
        self.add(&case.took(self.started.elapsed()));
    }

    /// Writes the files. A failure of the command is a case, too, and so is Ctrl-C, since questions
    /// may be left without an answer.
    pub(crate) fn conclude(
        mut self,
        subject: &str,
        ended: Result<Ending, Failure>,
    ) -> Result<Ending, Failure> {
        if !self.are_wanted() {
            return ended;
        }
        match &ended {
            Err(Failure::BrokenPipe) => {}
            Err(failure) => {
                let case = Case::failed(subject, self.command, of_failure(failure));
                self.add(&case);
            }
            Ok(ending) if !self.has_case => self.add(&of_ending(subject, self.command, *ending)),
            Ok(_) => {}
        }
        if self.interrupt.happened() {
            let sentence = "interrupted: cases that had no verdict yet are missing";
            let complaint = Complaint::undecided(sentence, String::new());
            self.add(&Case::failed(subject, format!("{} interrupted", self.command), complaint));
        }
        let written = self.write();
        ended.and_then(|ending| written.map(|()| ending))
    }

    fn write(self) -> Result<(), Failure> {
        let junit = self.junit.map(|(junit, file)| (junit.text(), file));
        let gitlab = self.gitlab.map(|(report, file)| (report.text(), file));
        for (text, mut file) in junit.into_iter().chain(gitlab) {
            file.write(text.as_bytes())?;
            file.finish()?;
        }
        Ok(())
    }
}

/// The case of a command with a single answer, which the command has printed.
fn of_ending(subject: &str, name: &str, ending: Ending) -> Case {
    let complaint = match ending {
        Ending::NoViolation => None,
        Ending::Violation => Some(Complaint::violation("exit code 1", String::new())),
        Ending::BadRequest => Some(Complaint::malformed("exit code 2", String::new())),
        Ending::Undecided | Ending::Interrupted => {
            Some(Complaint::undecided(format!("exit code {}", ending.code()), String::new()))
        }
    };
    Case { complaint, ..Case::passed(subject, name) }
}

fn of_failure(failure: &Failure) -> Complaint {
    let (message, text) = (failure.to_string(), failure.render(false));
    match failure {
        Failure::Budget(_) => Complaint::undecided(message, text),
        Failure::Input(error) | Failure::Program(error) => {
            let complaint = Complaint::malformed(message, text);
            complaint.at(&error.file, Some(error.line), Some(error.column))
        }
        Failure::Refused(refusal, _) => {
            let complaint = Complaint::malformed(message, refusal.render(false));
            complaint.at_each(&refusal.source, &refusal.problems)
        }
        Failure::Model(error) => {
            let complaint = Complaint::malformed(message, text);
            complaint.at_each(&error.source, std::slice::from_ref(&*error.diagnostic))
        }
        Failure::Usage(_) | Failure::File { .. } | Failure::BrokenPipe => {
            Complaint::malformed(message, text)
        }
    }
}
