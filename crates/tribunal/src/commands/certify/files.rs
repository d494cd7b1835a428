//! The two files of `tribunal certify`: lines of certificates, and traces by their number.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use evidence::Certificate;
use history::History;
use models::Model;

use crate::ending::Failure;
use crate::input::{self, Traces};
use crate::pipeline::Questions;

/// How much more memory than its text the evidence of a line may take, about.
const EVIDENCE: usize = 8;

/// A line of a certificate file.
pub(super) struct Line {
    /// Which trace it is about, and which model.
    pub(super) trace: u64,
    pub(super) model: Model,
    pub(super) text: String,
    file: Arc<str>,
    number: usize,
}

impl Line {
    /// This line is no certificate.
    pub(super) fn unreadable(&self, reason: &str) -> Failure {
        unreadable(&self.file, self.number, reason)
    }
}

fn unreadable(file: &str, number: usize, reason: &str) -> Failure {
    Failure::Usage(format!("{file}:{number}: {reason}"))
}

/// The lines of a certificate file.
pub(super) struct CertificateLines {
    input: BufReader<Box<dyn Read + Send>>,
    file: Arc<str>,
    /// The line read last.
    number: usize,
    /// The most bytes a line may have.
    longest: u64,
}

impl CertificateLines {
    pub(super) fn open<Q: Send + 'static, A: Send + 'static>(
        questions: &Questions<Q, A>,
        file: &Path,
        memory: Option<usize>,
    ) -> Result<Self, Failure> {
        let file = file.to_string_lossy();
        let input: Box<dyn Read + Send> = Box::new(questions.patient(history::open(&file)?));
        let input = BufReader::with_capacity(1 << 16, input);
        let longest = memory.map_or(u64::MAX, |bytes| (bytes / EVIDENCE) as u64);
        Ok(Self { input, file: input::shown(&file).into(), number: 0, longest })
    }

    /// The next line that is not blank, if it begins like a certificate.
    pub(super) fn next_line(&mut self) -> Result<Option<Line>, Failure> {
        loop {
            self.number += 1;
            let Some(text) = self.next_text()? else { return Ok(None) };
            if text.trim().is_empty() {
                continue;
            }
            let (file, number) = (Arc::clone(&self.file), self.number);
            return match Certificate::quick_header(&text) {
                Ok((trace, model)) => Ok(Some(Line { trace, model, text, file, number })),
                Err(error) => Err(self.unreadable(&error.message)),
            };
        }
    }

    fn next_text(&mut self) -> Result<Option<String>, Failure> {
        let mut text = Vec::new();
        let mut limited = (&mut self.input).take(self.longest.saturating_add(1));
        let read = limited.read_until(b'\n', &mut text);
        read.map_err(|error| self.unreadable(&error.to_string()))?;
        if text.len() as u64 > self.longest {
            let (file, number, longest) = (&self.file, self.number, self.longest);
            return Err(Failure::Budget(format!(
                "{file}:{number}: the line is longer than the {longest} bytes that --memory allows"
            )));
        }
        if text.is_empty() {
            return Ok(None);
        }
        if text.last() == Some(&b'\n') {
            text.pop();
        }
        let no_text = |_| self.unreadable("this is not a certificate: it is not text");
        String::from_utf8(text).map(Some).map_err(no_text)
    }

    /// The line read last is no certificate.
    pub(super) fn unreadable(&self, reason: &str) -> Failure {
        unreadable(&self.file, self.number, reason)
    }
}

/// The traces of a file with the number of the latest.
pub(super) struct Numbered {
    traces: Traces,
    pub(super) number: u64,
    current: Option<Arc<History>>,
}

impl Numbered {
    pub(super) fn new(traces: Traces) -> Self {
        Self { traces, number: 0, current: None }
    }

    /// The trace of this number, which is the latest or a later one.
    pub(super) fn advance_to(&mut self, number: u64) -> Result<Option<Arc<History>>, Failure> {
        while self.number < number {
            // Before the next, so that no two are in memory.
            self.current = None;
            self.current = self.traces.next_trace()?.map(Arc::new);
            if self.current.is_none() {
                return Ok(None);
            }
            self.number += 1;
        }
        Ok(self.current.clone())
    }

    /// How many traces there are in all.
    pub(super) fn count_rest(&mut self) -> Result<usize, Failure> {
        self.current = None;
        while self.traces.next_trace()?.is_some() {
            self.number += 1;
        }
        Ok(usize::try_from(self.number).unwrap_or(usize::MAX))
    }
}
