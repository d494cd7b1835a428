//! Traces that are judged while they are read: events go from the reader to one [`Session`] for each
//! model, and the first violation ends it all.
//!
//! Who may be interrupted has that done in another thread ([`LiveJob::start`]): the reader may be
//! waiting for input, and a session may be searching.

mod answers;

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use evidence::Verdict;
use history::{
    AddressId, AddressLabel, BuildError, BuildErrorKind, Builder, InputError, Operation, Piece,
    Recorded, ThinAir, TraceReader,
};
use models::Model;

pub use self::answers::LiveAnswers;
use crate::{Finished, Limits, Session, Status};

/// How often events that are not explained yet are looked at while others come.
const PULSE: Duration = Duration::from_millis(200);

/// Looking takes at most one in so many parts of the time.
const SHARE: u32 = 8;

/// So many events are judged before it is told again how far their trace has come: fewer than make
/// a search take long.
const TELL: u32 = 64;

/// What is asked about traces that grow.
#[derive(Clone, Debug)]
pub struct LiveJob {
    /// The models.
    pub models: Vec<Model>,
    /// How long the judging of each trace by each model may take, without the time that is spent
    /// reading and waiting for input, and how large each session may get.
    pub limits: Limits,
    /// What a read of a value nobody wrote is.
    pub thin_air: ThinAir,
    /// Set from outside when no more answers are wanted.
    pub stop: Arc<AtomicBool>,
}

/// The answer about one trace and one model.
#[derive(Clone, Debug)]
pub struct LiveAnswer {
    /// The number of the trace in its input, from 1.
    pub trace: u64,
    /// What was found out.
    pub finished: Finished,
    /// Since the trace began.
    pub time: Duration,
}

impl LiveJob {
    /// Judges the traces of an input while they come, and reports each answer as soon as it is known.
    /// Ends with the input, with the first violation, or when it is asked to stop. Says how many
    /// events there were.
    ///
    /// ```
    /// use history::{ReadOptions, ThinAir, TraceReader};
    /// use tribunal_judge::live::LiveJob;
    ///
    /// let input = "0: x := 1\n1: x == 1\n1: x == 0\n1: x == 1\ncheck\n".as_bytes();
    /// let mut reader = TraceReader::new(input, "example", ReadOptions::default());
    /// let watch = LiveJob {
    ///     models: vec![models::Model::Sc],
    ///     limits: Default::default(),
    ///     thin_air: ThinAir::Malformed,
    ///     stop: Default::default(),
    /// };
    /// let mut verdicts = Vec::new();
    /// watch.follow(&mut reader, |watched| verdicts.push(watched.finished.verdict.of_trace()))?;
    /// assert_eq!(verdicts, ["violation"]);
    /// # Ok::<(), history::InputError>(())
    /// ```
    pub fn follow<R: Read>(
        &self,
        reader: &mut TraceReader<R>,
        mut report: impl FnMut(LiveAnswer),
    ) -> Result<u64, InputError> {
        self.follow_telling(reader, &|_, _, _| (), |answers| {
            answers.into_iter().for_each(&mut report)
        })
    }

    /// The same, telling how far the open trace has come, and reporting all answers about a trace at
    /// once.
    fn follow_telling<R: Read>(
        &self,
        reader: &mut TraceReader<R>,
        tell: Tell<'_>,
        mut report: impl FnMut(Vec<LiveAnswer>),
    ) -> Result<u64, InputError> {
        let mut events = 0;
        for trace in 1.. {
            let mut growing = LiveTrace::new(self, trace, tell);
            let reached = growing.read(reader)?;
            events += growing.events();
            if reached == Reached::Nothing {
                break;
            }
            let (start, mut is_broken) = (growing.start, false);
            let mut answers = Vec::new();
            for finished in growing.finish(reached) {
                if self.thin_air == ThinAir::Malformed
                    && let Some(error) = unwritten(&finished)
                {
                    report(answers);
                    return Err(reader.senseless(error));
                }
                is_broken |= matches!(finished.verdict, Verdict::Broken(_));
                answers.push(LiveAnswer { trace, finished, time: start.elapsed() });
            }
            report(answers);
            if is_broken {
                break;
            }
        }
        Ok(events)
    }
}

/// Hears how far a trace has come: its number, when it began, and each session.
type Tell<'t> = &'t dyn Fn(u64, Instant, &[Session]);

/// How far a trace came.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reached {
    /// There is no trace, or nobody wants to know.
    Nothing,
    /// Its end.
    End,
    /// A violation.
    Violation,
}

/// A trace that is being read.
struct LiveTrace<'w> {
    watch: &'w LiveJob,
    number: u64,
    tell: Tell<'w>,
    builder: Builder,
    sessions: Vec<Session>,
    /// The address of the sessions for each of the builder, and how many initial values were said.
    addresses: Vec<AddressId>,
    inits: usize,
    start: Instant,
    asked: Instant,
    /// How long nothing is asked then.
    pause: Duration,
}

impl<'w> LiveTrace<'w> {
    fn new(watch: &'w LiveJob, number: u64, tell: Tell<'w>) -> Self {
        let session = |&model: &Model| {
            let session = Session::new(model, watch.limits).with_stop(Arc::clone(&watch.stop));
            match watch.limits.time {
                Some(time) => session.with_total_time(time),
                None => session,
            }
        };
        let builder = watch.limits.memory.map_or_else(Builder::new, Builder::with_memory_limit);
        let (start, asked) = (Instant::now(), Instant::now());
        let sessions = watch.models.iter().map(session).collect();
        let addresses = Vec::new();
        Self {
            watch,
            number,
            tell,
            builder,
            sessions,
            addresses,
            inits: 0,
            start,
            asked,
            pause: PULSE,
        }
    }

    fn events(&self) -> u64 {
        self.sessions.first().map_or(0, Session::events)
    }

    fn read<R: Read>(&mut self, reader: &mut TraceReader<R>) -> Result<Reached, InputError> {
        loop {
            let piece = reader.next_piece(&mut self.builder)?;
            if piece == Piece::None || self.watch.stop.load(Ordering::SeqCst) {
                return Ok(Reached::Nothing);
            }
            self.feed().map_err(|error| reader.senseless(error))?;
            if self.sessions.iter().any(|session| session.violation().is_some()) {
                return Ok(Reached::Violation);
            }
            if piece == Piece::Last {
                return Ok(Reached::End);
            }
        }
    }

    /// Hands the events that have come to the sessions.
    fn feed(&mut self) -> Result<(), BuildError> {
        self.introduce()?;
        let Self { builder, sessions, addresses, number, tell, start, .. } = self;
        let at = |address: AddressId| addresses[address.index()];
        let mut untold = 0;
        builder.hand_over(|Recorded { thread, operation, times, line }| {
            let operation = match operation {
                Operation::Read { address, value } => {
                    Operation::Read { address: at(address), value }
                }
                Operation::Write { address, value } => {
                    Operation::Write { address: at(address), value }
                }
                Operation::ReadModifyWrite { address, read, write } => {
                    Operation::ReadModifyWrite { address: at(address), read, write }
                }
                fence @ Operation::Fence { .. } => fence,
            };
            for session in sessions.iter_mut() {
                session.event(thread, operation, times, line);
            }
            untold += 1;
            if untold == TELL {
                untold = 0;
                tell(*number, *start, sessions);
            }
        })?;
        tell(*number, *start, sessions);
        // Whoever waits at the other end of the pipe wants to know soon.
        if self.asked.elapsed() >= self.pause {
            let start = Instant::now();
            for session in &mut self.sessions {
                if session.status() != Status::Explained {
                    session.ask();
                }
            }
            self.asked = Instant::now();
            self.pause = PULSE.max(start.elapsed() * SHARE);
        }
        Ok(())
    }

    /// Declares to the sessions addresses that are new, and of initial values.
    fn introduce(&mut self) -> Result<(), BuildError> {
        let (addresses, inits) = self.builder.addresses_said();
        let first = if inits > self.inits { 0 } else { self.addresses.len() };
        for index in first..addresses {
            let (label, initial) = self.builder.address_said(AddressId::new(index));
            if matches!(label, AddressLabel::Bytes(_)) {
                return Err(BuildError { kind: BuildErrorKind::NeedsWholeTrace, line: 0 });
            }
            for session in &mut self.sessions {
                let id = session.address(label);
                if !session.initial(id, initial) {
                    return Err(BuildError { kind: BuildErrorKind::LateInitial, line: 0 });
                }
                if index == self.addresses.len() {
                    self.addresses.push(id);
                }
            }
        }
        self.inits = inits;
        Ok(())
    }

    /// The answers: of the sessions that found a violation, or of all at the end of the trace.
    fn finish(self, reached: Reached) -> Vec<Finished> {
        let Self { builder, sessions, addresses, .. } = self;
        let finals: Vec<_> = builder
            .finals_said()
            .filter_map(|(address, value)| Some((*addresses.get(address.index())?, value)))
            .collect();
        let is_known = |session: &Session| reached == Reached::End || session.violation().is_some();
        let sessions = sessions.into_iter().filter(is_known);
        sessions.map(|session| session.finish_with(&finals)).collect()
    }
}

/// The complaint about a read of a value that nobody wrote, if that is all there is.
fn unwritten(finished: &Finished) -> Option<BuildError> {
    let Verdict::Broken(violation) = &finished.verdict else { return None };
    let history = &violation.history;
    let mut events = history.event_ids();
    let read =
        events.find(|&event| history.kinds_of(event).reads && history.sources(event).is_empty())?;
    let event = history.event(read);
    let address = history.address(history.address_of(read)?).label.clone();
    let value = event.operation.value_read()?;
    let kind = BuildErrorKind::ReadOfUnwritten { address, value };
    Some(BuildError { kind, line: event.line })
}
