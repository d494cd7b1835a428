//! Any other target: a command that reads a test program and prints traces.
//!
//! The command is run by the shell, once for each program, in a process group of its own. It gets
//! one line of JSON on standard input and prints traces, as text or as JSON Lines, on standard
//! output; docs/targets.md is the description for those who write one. Whatever it does instead is
//! contained: a command that takes too long, prints too much, prints something else, or crashes is
//! ended with all it started, and is [`TargetError::Misbehaved`], with what it last said on
//! standard error.

mod child;
mod fit;
mod time_left;

use std::io::{Chain, Cursor, Read};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use history::{Format, History, InputError, ReadOptions, ThinAir, TraceReader, Value};

use crate::outcome::Outcome;
use crate::program::Program;
use crate::target::{RunResult, Runs, Target, TargetError};
use child::{Child, Ended};
use fit::fits;
use time_left::{TimeLeft, Timed};

/// A command that runs programs.
#[derive(Clone, Debug)]
pub struct Exec {
    command: String,
    timeout: Duration,
    output: u64,
}

/// How often a waiting caller checks whether to stop.
const PULSE: Duration = Duration::from_millis(20);

impl Exec {
    /// The time for a program and all its runs by default.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

    /// The bytes that a command may print for a program by default.
    pub const DEFAULT_OUTPUT: u64 = 256 << 20;

    /// A command for the shell.
    pub fn new(command: impl Into<String>) -> Self {
        Exec {
            command: command.into(),
            timeout: Exec::DEFAULT_TIMEOUT,
            output: Exec::DEFAULT_OUTPUT,
        }
    }

    /// Sets the time limit for all runs of a program. Only waiting for output counts: reading and
    /// judging it is not the command's time.
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Exec { timeout, ..self }
    }

    /// Sets the limit of output for a program, in bytes.
    pub fn with_output(self, output: u64) -> Self {
        Exec { output, ..self }
    }
}

impl Target for Exec {
    fn run(
        &mut self,
        program: &Program,
        runs: Runs<'_>,
        receive: &mut dyn FnMut(RunResult) -> ControlFlow<()>,
    ) -> Result<(), TargetError> {
        program.check()?;
        let patience = Arc::new(TimeLeft::new(self.timeout));
        let order = program.order(runs.count, runs.seed) + "\n";
        let mut child = Child::start(&self.command, order)?;
        let timed = |stdout| Timed { input: stdout, patience: Arc::clone(&patience) };
        let traces = child.stdout().map(|stdout| self.traces(timed(stdout)));
        let mut session = Session { exec: self, patience, traces: 0 };
        let outcome = match traces {
            Some(traces) => session.listen(&traces, program, runs, receive),
            None => Ok(InputEnd::Everything),
        };
        let heard = match outcome {
            Ok(heard) => heard,
            Err(what) => return Err(child.misbehaved(&what)),
        };
        match heard {
            InputEnd::Enough => Ok(()),
            InputEnd::Everything => session.end(child),
        }
    }
}

type Trace = Result<History, InputError>;

impl Exec {
    /// Reads traces in a thread of its own, which is left behind if the output never ends.
    fn traces(&self, stdout: impl Read + Send + 'static) -> Receiver<Trace> {
        let (sender, receiver) = sync_channel(4);
        let output = self.output;
        // Where there is no thread the receiver learns that there is nothing.
        let _ = thread::Builder::new().spawn(move || read(stdout, output, &sender));
        receiver
    }
}

fn read(stdout: impl Read, output: u64, sender: &SyncSender<Trace>) {
    // Nothing at all is no trace, though an empty file would be one.
    let Some((input, format)) = sniff(Limited { input: stdout, left: output }) else { return };
    let options = ReadOptions {
        format,
        thin_air: ThinAir::Violation,
        memory: Some(1 << 30),
        ..ReadOptions::default()
    };
    for trace in TraceReader::new(input, "output", options) {
        if sender.send(trace).is_err() {
            return;
        }
    }
}

/// Input whose beginning was read.
type PeekedInput<R> = Chain<Cursor<Vec<u8>>, R>;

/// Recognises the format by the first character after blanks and comments: JSON starts with a
/// brace, text never does.
fn sniff<R: Read>(mut input: R) -> Option<(PeekedInput<R>, Format)> {
    let mut seen = Vec::new();
    let mut piece = vec![0; 32 << 10];
    let mut comment = false;
    loop {
        let length = match input.read(&mut piece) {
            Ok(0) | Err(_) => return None,
            Ok(length) => length,
        };
        seen.extend_from_slice(&piece[..length]);
        let first = piece[..length].iter().copied().find(|&byte| {
            let is_blank = comment || byte.is_ascii_whitespace();
            match byte {
                b'\n' => comment = false,
                b'#' => comment = true,
                _ => return !is_blank,
            }
            false
        });
        if let Some(first) = first {
            let format = if first == b'{' { Format::JsonLines } else { Format::Text };
            return Some((Cursor::new(seen).chain(input), format));
        }
    }
}

/// An input that fails after a number of bytes.
struct Limited<R> {
    input: R,
    left: u64,
}

/// The text of the failure, which distinguishes it from others.
const TOO_MUCH: &str = "more output than allowed";

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.left == 0 {
            return Err(std::io::Error::other(TOO_MUCH));
        }
        let most = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let read = self.input.read(&mut buffer[..most])?;
        self.left -= read as u64;
        Ok(read)
    }
}

/// The final memory of a trace; `None` if the trace has more facts than reads and final values, so
/// that it must be kept unchanged.
#[allow(clippy::option_option)] // not said, and not to be said
fn finals(program: &Program, trace: &History) -> Option<Option<Vec<Value>>> {
    if trace.has_times() || !trace.orders().is_empty() {
        return None;
    }
    if trace.finals().is_empty() {
        return Some(None);
    }
    let held = program.places.iter().map(|place| {
        let here = |f: &&history::Final| trace.address(f.address).label == place.label;
        trace.finals().iter().find(here).map(|f| f.value)
    });
    held.collect::<Option<Vec<Value>>>().map(Some)
}

/// How listening ended.
enum InputEnd {
    /// The output has ended.
    Everything,
    /// The receiver wants no more traces.
    Enough,
}

/// A command at work.
struct Session<'e> {
    exec: &'e Exec,
    patience: Arc<TimeLeft>,
    traces: u64,
}

impl Session<'_> {
    /// Hands over traces as they arrive; an error describes the misbehaviour of the command.
    fn listen(
        &mut self,
        traces: &Receiver<Trace>,
        program: &Program,
        runs: Runs<'_>,
        receive: &mut dyn FnMut(RunResult) -> ControlFlow<()>,
    ) -> Result<InputEnd, String> {
        loop {
            if runs.stop.load(Ordering::Relaxed) {
                return Ok(InputEnd::Enough);
            }
            let trace = match traces.recv_timeout(PULSE) {
                Ok(trace) => trace.map_err(|error| self.not_a_trace(&error))?,
                Err(RecvTimeoutError::Disconnected) => return Ok(InputEnd::Everything),
                Err(RecvTimeoutError::Timeout) if self.patience.left().is_zero() => {
                    return Err(self.too_slow());
                }
                Err(RecvTimeoutError::Timeout) => continue,
            };
            self.traces += 1;
            let reads = fits(program, &trace).map_err(|why| {
                format!("printed a trace that is not a run of the program: {why}")
            })?;
            let ran = match finals(program, &trace) {
                Some(finals) => RunResult::Outcome(Outcome { reads, finals }, 1),
                None => RunResult::Recorded(Box::new(trace)),
            };
            if receive(ran).is_break() {
                return Ok(InputEnd::Enough);
            }
        }
    }

    fn too_slow(&self) -> String {
        format!(
            "did not finish within {:?} (--timeout), after {} traces",
            self.exec.timeout, self.traces
        )
    }

    fn not_a_trace(&self, error: &InputError) -> String {
        let text = error.render(false);
        match text.contains(TOO_MUCH) {
            true => format!("printed more than {} bytes", self.exec.output),
            false => format!("printed something that is not a trace:\n{}", text.trim_end()),
        }
    }

    /// Waits for the command to end after its output has.
    fn end(&self, mut child: Child) -> Result<(), TargetError> {
        match child.wait_until(Instant::now() + self.patience.left()) {
            Ended::Running => Err(child.misbehaved(&self.too_slow())),
            Ended::Badly(how) => Err(child.misbehaved(&how)),
            Ended::Well if self.traces == 0 => Err(child.misbehaved("printed no trace")),
            Ended::Well => Ok(()),
        }
    }
}
