//! `tribunal litmus`: the outcomes of litmus tests, under models and on this machine.
//!
//! Tests are answered by several workers and printed in order. A test that cannot be read is told
//! about and the others go on; the exit code remembers.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;

use diagnostics::source::Source;
use litmus::Litmus;
use models::Model;

use super::remark;
use crate::arguments::{Colour, ColourFlag, LitmusArguments};
use crate::ending::{Ending, Failure};
use crate::input;
use crate::interrupt::Interrupt;
use crate::output::{self, Output};
use crate::progress::Progress;

mod answer;
mod files;
mod host;

use answer::Asking;

/// A test and where it came from.
struct Test {
    file: String,
    litmus: Litmus,
}

pub(crate) fn run(arguments: &LitmusArguments, interrupt: &Interrupt) -> Result<Ending, Failure> {
    let mut machine = host::asked(arguments.on.as_ref())?;
    interrupt.listen(|| {});
    let mut ending = Ending::Kept;
    let mut tests = Vec::new();
    for file in files::listed(&arguments.files)? {
        match read(&file, arguments.quiet.quiet)? {
            Some(litmus) => tests.push(Test { file, litmus }),
            None => ending = Ending::Unasked,
        }
    }
    let models = &arguments.model;
    let questions: Vec<(&Test, Model)> =
        tests.iter().flat_map(|test| models.iter().map(move |&model| (test, model))).collect();
    let progress = Progress::start(arguments.quiet.quiet);
    let asking = Asking { arguments, interrupt, teller: progress.teller() };
    let mut output = Output::stdout();
    let answered = match (questions.as_slice(), arguments.jobs.count()) {
        _ if let Some(machine) = &mut machine => {
            host::run_all(&tests, &asking, machine, &progress, &mut output)
        }
        ([_], _) | (_, 1) => one_by_one(&questions, &asking, &progress, &mut output),
        (_, workers) => together(&questions, &asking, workers, &progress, &mut output),
    };
    drop(progress);
    let answered = answered.and_then(|answered| output.flush().map(|()| answered));
    ending = ending.and(match answered {
        Ok(answered) => answered,
        Err(Failure::BrokenPipe) => Ending::Kept,
        Err(failure) => return Err(failure),
    });
    Ok(if interrupt.happened() { Ending::Interrupted } else { ending })
}

/// Reads a test, or says on standard error why it cannot be.
fn read(file: &str, quiet: bool) -> Result<Option<Litmus>, Failure> {
    let text = files::text(file)?;
    let source = Source { name: input::shown(file).to_owned(), text };
    match litmus::parse(&source.text) {
        Ok(test) => {
            let mixed = litmus::mixed_widths(&test);
            if let (Some(&first), false) = (mixed.first(), quiet) {
                remark(&format!(
                    "{}: `{}` is accessed with several widths; each access is taken as one of the \
                     whole location, as herd7 does",
                    source.name,
                    test.location(first)
                ));
            }
            Ok(Some(test))
        }
        Err(problem) => {
            let colour = output::colours(ColourFlag { color: Colour::Auto }, &io::stderr());
            let _ = io::stderr().write_all(problem.render(&source, colour).as_bytes());
            Ok(None)
        }
    }
}

/// Answers as it prints.
fn one_by_one(
    questions: &[(&Test, Model)],
    asking: &Asking<'_>,
    progress: &Progress,
    output: &mut Output,
) -> Result<Ending, Failure> {
    let mut ending = Ending::Kept;
    for &(test, model) in questions {
        if asking.interrupt.happened() {
            break;
        }
        let start = Instant::now();
        let answer = asking.answer(test, model);
        progress.hide();
        let written = asking.write(&answer, test, model, start.elapsed(), output.writer());
        ending = ending.and(written.map_err(Failure::of_stdout)?);
        output.flush()?;
    }
    Ok(ending)
}

/// Lets several workers answer, and prints in order.
fn together(
    questions: &[(&Test, Model)],
    asking: &Asking<'_>,
    workers: usize,
    progress: &Progress,
    output: &mut Output,
) -> Result<Ending, Failure> {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    let work = |sender: mpsc::Sender<(usize, Vec<u8>, Ending)>| {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(&(test, model)) = questions.get(index) else { return };
            if asking.interrupt.happened() {
                return;
            }
            let start = Instant::now();
            let answer = asking.answer(test, model);
            let mut text = Vec::new();
            let ending = asking
                .write(&answer, test, model, start.elapsed(), &mut text)
                .expect("a vector takes everything");
            if sender.send((index, text, ending)).is_err() {
                return;
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..workers.min(questions.len()) {
            let sender = sender.clone();
            scope.spawn(|| work(sender));
        }
        drop(sender);
        let mut ending = Ending::Kept;
        let mut early = BTreeMap::new();
        let mut printed = 0;
        for (index, text, ended) in receiver {
            early.insert(index, text);
            ending = ending.and(ended);
            while let Some(text) = early.remove(&printed) {
                progress.hide();
                let written = output.writer().write_all(&text).map_err(Failure::of_stdout);
                if let Err(failure) = written.and_then(|()| output.flush()) {
                    next.store(questions.len(), Ordering::Relaxed);
                    return Err(failure);
                }
                printed += 1;
            }
        }
        Ok(ending)
    })
}
