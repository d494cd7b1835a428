//! Logs of what simulators of RISC-V harts commit: from instructions to a history.
//!
//! A log is one trace. Each line is read by the reader of its format into what it says of an
//! instruction ([`words::CommitRecord`]); [`run`] finds out what the instruction did to memory, and when the
//! log has ended, [`assemble`] makes a history of it: what can be left out ([`left_out`]), what memory
//! held at first ([`memory`]), who depends on whom ([`dependencies`]).
//!
//! The order of a hart's lines is program order. The order between harts is the order of commit,
//! which is kept as the recorded order and decides nothing. Logs of several files are one input with
//! lines `==> NAME <==` between, as `tail` and `head` print them; then each file is a hart, by its
//! place, if the lines do not distinguish the harts.
//!
//! One pass over the lines, one over the instructions; what is kept is about 70 bytes an instruction.

mod assemble;
mod dependencies;
mod gem5;
mod left_out;
mod m3;
mod memory;
mod run;
mod rvfi;
mod spike;
mod whisper;
mod words;

use std::io::Read;

use riscv::Xlen;

use super::error::{InputError, InputErrorKind};
use super::window::Place;
use super::{Input, Piece, Token};
use crate::build_error::BuildErrorKind;
use crate::builder::Builder;
use crate::history::History;
pub use run::DiscardedAmo;
use run::Run;
use words::{CommitRecord, LineError};

/// The longest line that is looked at: registers of vectors are long.
const LINE_LIMIT: usize = 1 << 16;

/// How logs of commits are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CommitOptions {
    /// Leave out accesses of memory that is private to a hart or never written.
    pub shared_only: bool,
    /// Keep what the first hart did before others began.
    pub keep_prefix: bool,
    /// Take instructions that are not known to depend on nothing.
    pub skip_unknown: bool,
    /// What to do with AMOs whose result nobody saw.
    pub discarded_amo: DiscardedAmo,
    /// How wide registers are; as the log suggests if `None`.
    pub xlen: Option<Xlen>,
}

/// What a line turned out to be.
pub(in crate::read) enum CommitLine {
    /// A commit, which is in what was said.
    Commit,
    /// The beginning of a commit; the next line goes on.
    More,
    /// Nothing that counts.
    Nothing,
}

/// The lines of a format.
pub(in crate::read) trait Lines: Default {
    /// What a line looks like.
    const HELP: &'static str;

    /// What a line says.
    fn hear(&mut self, line: &[u8], said: &mut CommitRecord) -> Result<CommitLine, LineError>;

    /// What can be said only at the end of the log, one after the other, each with its line.
    fn rest(&mut self, _said: &mut CommitRecord) -> Option<u64> {
        None
    }
}

/// Reads logs of Spike.
pub(super) type SpikeReader<R> = CommitReader<R, spike::Spike>;

/// Reads what RVFI tracers print.
pub(super) type RvfiReader<R> = CommitReader<R, rvfi::Rvfi>;
/// Reads logs of Whisper.
pub(super) type WhisperReader<R> = CommitReader<R, whisper::Whisper>;
/// Reads events of m3.
pub(super) type M3Reader<R> = CommitReader<R, m3::M3>;
/// Reads what gem5 prints of executed instructions.
pub(super) type Gem5Reader<R> = CommitReader<R, gem5::Gem5>;

/// Reads logs of a format.
pub(super) struct CommitReader<R, L> {
    input: Input<R>,
    lines: L,
    /// The file that is being read, where several are joined.
    file: Option<File>,
    ended: bool,
}

/// One of several files that are joined.
struct File {
    name: String,
    number: u64,
    /// The line of its heading.
    heading: u64,
}

impl<R: Read, L: Lines> CommitReader<R, L> {
    pub(super) fn new(input: Input<R>) -> Self {
        Self { input, lines: L::default(), file: None, ended: false }
    }

    pub(super) fn next_trace(&mut self) -> Result<Option<History>, InputError> {
        if std::mem::replace(&mut self.ended, true) {
            return Ok(None);
        }
        self.trace().map_err(|error| self.of_file(error))
    }

    /// What the readers of all formats share.
    pub(super) fn input(&mut self) -> &mut Input<R> {
        &mut self.input
    }

    /// What memory held at first is known only when a log has ended, so that there are no pieces.
    pub(super) fn next_piece(&mut self, _: &mut Builder) -> Result<Piece, InputError> {
        let reason = "--live does not support commit logs".into();
        let help = "convert the log to text first, or check it without --live";
        let error = InputError::of_file(&self.input.file, InputErrorKind::Other { reason });
        Err(error.with_help(Some(help)))
    }

    /// A log is one trace: behind an error there is no other.
    pub(super) fn skip_trace(&mut self) -> bool {
        false
    }

    /// The same error in terms of the file that is being read.
    fn of_file(&self, mut error: InputError) -> InputError {
        if let Some(File { name, heading, .. }) = &self.file
            && error.line > *heading
        {
            error.file.clone_from(name);
            error.line -= heading;
        }
        error
    }

    fn trace(&mut self) -> Result<Option<History>, InputError> {
        let mut run = Run::default();
        let mut said = CommitRecord::default();
        let mut line = Vec::new();
        let mut continues = false;
        self.input.window.skip_byte_order_mark();
        loop {
            let place = match self.input.window.take_line(LINE_LIMIT) {
                None => break,
                Some(Ok((place, text))) => {
                    line.clear();
                    line.extend_from_slice(text);
                    place
                }
                Some(Err(place)) => {
                    let kind = InputErrorKind::LineTooLong { limit: LINE_LIMIT };
                    return Err(self.input.error(Token { place, length: 1 }, kind));
                }
            };
            if let Some(name) = heading(&line) {
                self.next_file(name, place);
                continue;
            }
            if !continues {
                said.clear();
            }
            let heard = self.lines.hear(&line, &mut said).map_err(|wrong| {
                let place = Place { offset: place.offset + wrong.at as u64, ..place };
                self.input.unexpected_at(place, wrong.expected, L::HELP)
            })?;
            continues = matches!(heard, CommitLine::More);
            if matches!(heard, CommitLine::Commit) {
                self.add(&mut run, &said, place, line.len())?;
            }
        }
        if let Some(failure) = self.input.failure() {
            return Err(failure);
        }
        said.clear();
        while let Some(line) = self.lines.rest(&mut said) {
            let place = Place { line, ..self.input.window.place() };
            self.add(&mut run, &said, place, 1)?;
            said.clear();
        }
        if run.commits.is_empty() {
            return Ok(None);
        }
        run.in_order &= self.file.is_none();
        let mut builder = self.input.builder();
        let options = self.input.options.commits;
        assemble::assemble(&run, &options, &mut builder)
            .map_err(|error| self.input.unfinished(error))?;
        drop(run);
        self.input.finish(builder).map(Some)
    }

    fn next_file(&mut self, name: String, place: Place) {
        let number = self.file.as_ref().map_or(0, |file| file.number + 1);
        self.file = Some(File { name, number, heading: place.line });
    }

    fn add(
        &mut self,
        run: &mut Run,
        said: &CommitRecord,
        place: Place,
        length: usize,
    ) -> Result<(), InputError> {
        let by_file = self.file.as_ref().map(|file| file.number);
        let hart = by_file.or(said.hart).unwrap_or(0);
        let heading = self.file.as_ref().map_or(0, |file| file.heading);
        let line = u32::try_from(place.line - heading).unwrap_or(u32::MAX);
        let token = Token { place, length };
        run.add(said, hart, line, &self.input.options.commits).map_err(|reason| {
            let kind = InputErrorKind::Other { reason: reason.into() };
            self.input.error(token, kind)
        })?;
        match self.input.options.memory {
            Some(bytes) if run.bytes() > bytes => {
                Err(self.input.senseless(token, BuildErrorKind::MemoryBudget { bytes }))
            }
            _ => Ok(()),
        }
    }
}

/// The name in a line `==> NAME <==`.
fn heading(line: &[u8]) -> Option<String> {
    let name = line.strip_prefix(b"==> ")?.trim_ascii_end().strip_suffix(b" <==")?;
    Some(String::from_utf8_lossy(name).into_owned())
}
