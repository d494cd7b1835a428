//! Large traces read on several threads.
//!
//! A block of the input is cut into as many stretches as there are threads, at line ends. Each thread
//! looks for common lines (`common_line.rs`) in its stretch, one run of them after the other, and
//! collects their events in a builder of its own. The reader then goes over the block as ever, and
//! where it comes to the beginning of a run, between two statements, it takes over the events of the
//! run instead of reading its lines once more. So what is read, and what is refused and where, does not
//! depend on the threads: everything but common lines is read by the reader itself, and a run that it
//! does not come to the beginning of is never looked at. Common lines mean the same whatever was said
//! before them.

use std::collections::VecDeque;
use std::io::Read;
use std::ops::Range;
use std::thread;

use memchr::memchr;

use super::TextReader;
use super::common_line::CommonLine;
use crate::builder::{Builder, Stretch};
use crate::read::window::Window;
use crate::workers::joined;

/// How many events a trace has before more of its input is asked for than it may have.
const LARGE: usize = 1 << 16;

/// The bytes of a stretch, about.
const STRETCH: usize = 1 << 20;

/// The least part of a block that has to be in runs for the next one to be worth it.
const WORTH: usize = 2;

/// Common lines of a stretch, one after the other.
struct Run {
    /// Where they are in the input, in bytes.
    start: u64,
    end: u64,
    lines: u32,
    /// Their events in the stretch, whose lines count from this one.
    events: Range<usize>,
    first_line: u32,
}

/// Stretches that were read ahead, with what the reader has not come to yet.
#[derive(Default)]
pub(super) struct Ahead {
    stretches: VecDeque<(Stretch, VecDeque<Run>)>,
    /// Where the next run begins; 0 if there is none.
    next: u64,
    /// Where the last block ended.
    end: u64,
    /// Most lines are not common ones.
    is_useless: bool,
}

impl Ahead {
    /// Whether no run begins at the next byte.
    #[inline]
    pub(super) fn is_not_here<R: Read>(&self, window: &Window<R>) -> bool {
        self.next == 0 || window.place().offset < self.next
    }

    /// Drops the runs that begin before this place.
    fn skip_to(&mut self, offset: u64) {
        while let Some((_, runs)) = self.stretches.front_mut() {
            while runs.front().is_some_and(|run| run.start < offset) {
                runs.pop_front();
            }
            if let Some(run) = runs.front() {
                self.next = run.start;
                return;
            }
            self.stretches.pop_front();
        }
        self.next = 0;
    }
}

impl<R: Read> TextReader<R> {
    /// Takes over the runs of lines that begin here, at the beginning of a statement. Returns whether
    /// there were any.
    pub(super) fn lines_read_ahead(&mut self, builder: &mut Builder) -> bool {
        let mut any = false;
        loop {
            let place = self.input.window.place();
            if self.ahead.next == 0 && place.offset >= self.ahead.end {
                self.read_ahead(builder);
            }
            self.ahead.skip_to(place.offset);
            if self.ahead.next != place.offset || !self.take_run(builder, place.line) {
                return any;
            }
            any = true;
        }
    }

    /// Adds the next run to the trace.
    fn take_run(&mut self, builder: &mut Builder, line: u64) -> bool {
        let Some((stretch, runs)) = self.ahead.stretches.front_mut() else { return false };
        let Some(run) = runs.pop_front() else { return false };
        // Lines count from the first of the stretch, which is not before the first of the input.
        let Ok(line) = u32::try_from(line) else { return false };
        let Some(base) = line.checked_sub(run.first_line) else { return false };
        if !builder.add_stretch(stretch, run.events, base) {
            return false;
        }
        self.input.window.skip_lines((run.end - run.start) as usize, run.lines.into());
        true
    }

    /// Reads a block of the input on all threads, if the trace is large.
    fn read_ahead(&mut self, builder: &Builder) {
        let workers = self.input.workers;
        let is_large = builder.event_count() >= LARGE;
        if workers < 2 || !is_large || self.by_lines || self.ahead.is_useless {
            return;
        }
        let window = &mut self.input.window;
        window.read_ahead(workers * STRETCH);
        let (offset, block) = (window.place().offset, window.visible());
        self.ahead.end = offset + block.len() as u64;
        let axe_addresses = self.input.options.axe_addresses;
        let read = |bytes: Range<usize>| read_stretch(block, offset, bytes, axe_addresses);
        let mut parts = cut(block, workers).into_iter();
        let first = parts.next().unwrap_or(0..0);
        self.ahead.stretches = thread::scope(|scope| {
            let read = &read;
            let others: Vec<_> = parts.map(|bytes| scope.spawn(move || read(bytes))).collect();
            let first = read(first);
            std::iter::once(first).chain(others.into_iter().map(joined)).collect()
        });
        let runs = self.ahead.stretches.iter().flat_map(|(_, runs)| runs);
        let in_runs: u64 = runs.map(|run| run.end - run.start).sum();
        self.ahead.is_useless = (in_runs as usize) < block.len() / WORTH;
    }
}

/// So many parts of a block of about the same size, each of whole lines; the last line may have no
/// end.
fn cut(block: &[u8], parts: usize) -> Vec<Range<usize>> {
    let mut cuts = vec![0];
    for part in 1..parts {
        let about = block.len() * part / parts;
        let from = about.max(cuts[cuts.len() - 1]);
        let line_end = memchr(b'\n', &block[from..]);
        cuts.push(line_end.map_or(block.len(), |end| from + end + 1));
    }
    cuts.push(block.len());
    cuts.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

/// Reads the common lines that begin in these bytes of a block. The block begins at this place of the
/// input.
fn read_stretch(
    block: &[u8],
    offset: u64,
    bytes: Range<usize>,
    axe_addresses: bool,
) -> (Stretch, VecDeque<Run>) {
    let mut builder = Builder::new();
    let mut runs = VecDeque::new();
    let (mut at, mut line) = (bytes.start, 0_u32);
    while at < bytes.end {
        let (start, first_event, first_line) = (at, builder.event_count(), line);
        let mut events = first_event;
        while at < bytes.end
            && let Some(common) = CommonLine::scan(&block[at..])
            && add(&common, axe_addresses, line, &mut builder).is_some()
        {
            (at, line) = (at + common.length, line + 1);
            events = builder.event_count();
        }
        if at > start {
            runs.push_back(Run {
                start: offset + start as u64,
                end: offset + at as u64,
                lines: line - first_line,
                events: first_event..events,
                first_line,
            });
        }
        // The rest of a line that is not a common one.
        let Some(length) = memchr(b'\n', &block[at..]) else { break };
        (at, line) = (at + length + 1, line + 1);
    }
    (Stretch::new(builder), runs)
}

fn add(
    common: &CommonLine<'_>,
    axe_addresses: bool,
    line: u32,
    builder: &mut Builder,
) -> Option<()> {
    let operation = common.operation(axe_addresses, builder);
    let event = builder.event(common.thread, operation, line).ok()?;
    let times = common.times();
    if times != crate::Times::default() {
        builder.times(event, times).ok()?;
    }
    Some(())
}
