//! Which traces have no answer yet: a run that is interrupted says so of each that was begun.
//!
//! The reader notes what it reads and asks, workers what they begin, and the caller what was answered.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Asked;

/// Traces without all their answers. Clones share it.
#[derive(Clone, Default, Debug)]
pub struct UnderWay(Arc<Mutex<Traces>>);

/// A trace that was begun, and what was asked about it, without an answer.
#[derive(Clone, Debug)]
pub struct Interrupted {
    /// What messages call the file.
    pub file: Arc<str>,
    /// The number of the trace in it, from 1.
    pub number: u64,
    /// What was asked.
    pub asked: Asked,
    /// How many events the trace has; `None` if its end was not read.
    pub events: Option<usize>,
}

#[derive(Default, Debug)]
struct Traces {
    /// The files so far, in order.
    files: Vec<Arc<str>>,
    /// By the index of the file and the number in it.
    read: BTreeMap<(usize, u64), ReadTrace>,
    reading: Option<PartialTrace>,
}

#[derive(Debug)]
struct ReadTrace {
    events: usize,
    unanswered: Vec<Asked>,
    is_begun: bool,
}

/// The trace that is being read.
#[derive(Debug)]
struct PartialTrace {
    number: u64,
    asked: Vec<Asked>,
    /// Where in the input it starts, and where the input that has come ends, without blanks.
    start: u64,
    come: Arc<AtomicU64>,
}

impl UnderWay {
    fn lock(&self) -> MutexGuard<'_, Traces> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// This file is read next. Gives the input, whose progress is noted.
    pub(super) fn opens<R: Read>(&self, file: &Arc<str>, input: R) -> NotedInput<R> {
        let mut traces = self.lock();
        traces.files.push(Arc::clone(file));
        traces.reading = None;
        NotedInput { input, offset: 0, come: Arc::default() }
    }

    /// The trace of this number is read next. It starts behind so many bytes of the input.
    pub(super) fn reads(&self, number: u64, asked: Vec<Asked>, start: u64, come: &Arc<AtomicU64>) {
        let come = Arc::clone(come);
        self.lock().reading = Some(PartialTrace { number, asked, start, come });
    }

    /// No trace is being read any more.
    pub(super) fn has_read(&self) {
        self.lock().reading = None;
    }

    /// All this is asked about a trace of the last file.
    pub(super) fn asks(&self, number: u64, events: usize, unanswered: Vec<Asked>) {
        let mut traces = self.lock();
        let file = traces.files.len().saturating_sub(1);
        traces.read.insert((file, number), ReadTrace { events, unanswered, is_begun: false });
    }

    /// Something is found out about a trace from now on.
    pub(super) fn begins(&self, file: &Arc<str>, number: u64) {
        let mut traces = self.lock();
        if let Some(trace) = traces.key(file, number).and_then(|key| traces.read.get_mut(&key)) {
            trace.is_begun = true;
        }
    }

    /// This was answered, and whoever asked has heard it.
    pub fn answered(&self, file: &Arc<str>, number: u64, asked: &Asked) {
        let mut traces = self.lock();
        let Some(key) = traces.key(file, number) else { return };
        if let Some(trace) = traces.read.get_mut(&key) {
            trace.unanswered.retain(|other| other != asked);
            if trace.unanswered.is_empty() {
                traces.read.remove(&key);
            }
        }
    }

    /// What was begun and is not answered: traces that some worker has begun with, and the one whose
    /// first lines have come.
    pub fn interrupted(&self) -> Vec<Interrupted> {
        let traces = self.lock();
        let mut interrupted = Vec::new();
        let mut add = |file: usize, number, asked: &[Asked], events| {
            let Some(file) = traces.files.get(file) else { return };
            let all = asked.iter().cloned();
            interrupted.extend(all.map(|asked| Interrupted {
                file: Arc::clone(file),
                number,
                asked,
                events,
            }));
        };
        for (&(file, number), trace) in traces.read.iter().filter(|(_, trace)| trace.is_begun) {
            add(file, number, &trace.unanswered, Some(trace.events));
        }
        if let Some(PartialTrace { number, asked, start, come }) = &traces.reading
            && come.load(Ordering::SeqCst) > *start
        {
            add(traces.files.len().saturating_sub(1), *number, asked, None);
        }
        interrupted
    }
}

impl Traces {
    fn key(&self, file: &Arc<str>, number: u64) -> Option<(usize, u64)> {
        // The last files are those under way.
        let file = self.files.iter().rposition(|other| Arc::ptr_eq(other, file))?;
        Some((file, number))
    }
}

/// An input that notes how far it has been read, up to the last byte that is no blank.
pub(super) struct NotedInput<R> {
    input: R,
    offset: u64,
    pub(super) come: Arc<AtomicU64>,
}

impl<R: Read> Read for NotedInput<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.input.read(buffer)?;
        if let Some(last) = buffer[..length].iter().rposition(|byte| !byte.is_ascii_whitespace()) {
            self.come.store(self.offset + last as u64 + 1, Ordering::SeqCst);
        }
        self.offset += length as u64;
        Ok(length)
    }
}
