//! What a test bench needs: a trace that is judged while it grows, with the threads and the width of
//! values declared, the simulation time of every event, and the explanation of a violation as text.
//!
//! The C interface and the Python package are made of this. A call that makes no sense is a
//! [`Misuse`] and changes nothing.
//!
//! ```
//! use models::Model;
//! use tribunal_testbench::{Settings, TraceStatus, TestBench};
//!
//! let mut bench = TestBench::new(Model::Tso, Settings { threads: 2, ..Settings::default() })?;
//! bench.store(0, 0x10, 1, 100)?;
//! bench.store(0, 0x18, 1, 110)?;
//! bench.load(1, 0x18, 1, 120)?;
//! bench.load(1, 0x10, 0, 130)?;
//! assert_eq!(bench.ask()?, TraceStatus::Violation);
//! let why = bench.explanation();
//! assert!(why.contains("time 130"), "{why}");
//! assert!(bench.load(2, 0x10, 0, 140).is_err());
//! # Ok::<(), tribunal_testbench::Misuse>(())
//! ```

mod explain;
mod misuse;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use evidence::Verdict;
use history::{AddressLabel, Kinds, Operation, Times, Value};
use judge::{Finished, Limits, Session, Status};
use models::Model;

pub use misuse::Misuse;

/// The most threads that can be declared, as everywhere.
pub const MOST_THREADS: u32 = 1 << 16;

/// Events whose simulation times are remembered: as many as a violation may be made of.
const REMEMBERED: usize = 1 << 18;

/// What is declared before the first event.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How many threads there are: 0, 1, … up to this.
    pub threads: u32,
    /// How many bits a value has, 1 to 64.
    pub value_bits: u32,
    /// How long each question to the engines may take, and how large the whole may get.
    pub limits: Limits,
}

impl Default for Settings {
    /// One thread, values of 64 bits, the limits of a [`Session`].
    fn default() -> Self {
        Settings { threads: 1, value_bits: 64, limits: Limits::default() }
    }
}

/// The status of the trace so far; after `finish`, the verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TraceStatus {
    /// There is an order that explains every read.
    Consistent,
    /// There may be one: some of the last events are not explained yet.
    Open,
    /// Nothing is certain, and nothing will be, unless a violation is still found.
    Undecided,
    /// What has come violates the model, whatever is still to come.
    Violation,
}

impl TraceStatus {
    /// Its name, as verdicts are called everywhere.
    pub fn name(self) -> &'static str {
        match self {
            TraceStatus::Consistent => "consistent",
            TraceStatus::Open => "open",
            TraceStatus::Undecided => "undecided",
            TraceStatus::Violation => "violation",
        }
    }

    fn of(status: Status) -> TraceStatus {
        match status {
            Status::Explained => TraceStatus::Consistent,
            Status::Open(_) => TraceStatus::Open,
            Status::Unexplained => TraceStatus::Undecided,
            Status::Violation => TraceStatus::Violation,
        }
    }
}

/// A trace that is judged while it grows.
#[derive(Debug)]
pub struct TestBench {
    model: Model,
    settings: Settings,
    stage: Stage,
    /// The times of the last events, and how many came before them.
    times: VecDeque<u64>,
    forgotten: u64,
}

#[derive(Debug)]
enum Stage {
    Running(Box<Session>),
    Finished(Box<Finished>),
}

impl TestBench {
    /// An empty trace, to be judged by this model.
    pub fn new(model: Model, settings: Settings) -> Result<Self, Misuse> {
        if settings.threads == 0 || settings.threads > MOST_THREADS {
            return Err(Misuse::Threads { threads: settings.threads });
        }
        if settings.value_bits == 0 || settings.value_bits > 64 {
            return Err(Misuse::ValueBits { bits: settings.value_bits });
        }
        let session = Box::new(Session::new(model, settings.limits));
        let stage = Stage::Running(session);
        Ok(TestBench { model, settings, stage, times: VecDeque::new(), forgotten: 0 })
    }

    /// The same, whose questions to the engines end when `stop` is set.
    pub fn with_stop(self, stop: Arc<AtomicBool>) -> Self {
        let stage = match self.stage {
            Stage::Running(session) => Stage::Running(Box::new(session.with_stop(stop))),
            finished @ Stage::Finished(_) => finished,
        };
        TestBench { stage, ..self }
    }

    /// The model.
    pub fn model(&self) -> Model {
        self.model
    }

    /// Says what an address holds at first, 0 if nothing is said, before it is accessed.
    pub fn initial(&mut self, address: u64, value: Value) -> Result<(), Misuse> {
        self.running()?;
        self.fits(value)?;
        let session = self.running()?;
        let id = session.address(&AddressLabel::Number(address));
        match session.initial(id, value) {
            true => Ok(()),
            false => Err(Misuse::Late { address }),
        }
    }

    /// A thread read a value, at this simulation time.
    pub fn load(
        &mut self,
        thread: u32,
        address: u64,
        value: Value,
        time: u64,
    ) -> Result<TraceStatus, Misuse> {
        self.event(thread, &[value], time, |session| {
            let address = session.address(&AddressLabel::Number(address));
            Operation::Read { address, value }
        })
    }

    /// A thread wrote a value, at this simulation time. Report a write no later than the reads that
    /// see it.
    pub fn store(
        &mut self,
        thread: u32,
        address: u64,
        value: Value,
        time: u64,
    ) -> Result<TraceStatus, Misuse> {
        self.event(thread, &[value], time, |session| {
            let address = session.address(&AddressLabel::Number(address));
            Operation::Write { address, value }
        })
    }

    /// A thread read a value and wrote another one, at once.
    pub fn atomic(
        &mut self,
        thread: u32,
        address: u64,
        (read, write): (Value, Value),
        time: u64,
    ) -> Result<TraceStatus, Misuse> {
        self.event(thread, &[read, write], time, |session| {
            let address = session.address(&AddressLabel::Number(address));
            Operation::ReadModifyWrite { address, read, write }
        })
    }

    /// A fence that keeps accesses of one kind before those of another.
    pub fn fence(
        &mut self,
        thread: u32,
        before: Kinds,
        after: Kinds,
        time: u64,
    ) -> Result<TraceStatus, Misuse> {
        if before == Kinds::NONE || after == Kinds::NONE {
            return Err(Misuse::Fence);
        }
        self.event(thread, &[], time, |_| Operation::Fence { before, after })
    }

    fn event(
        &mut self,
        thread: u32,
        values: &[Value],
        time: u64,
        operation: impl FnOnce(&mut Session) -> Operation,
    ) -> Result<TraceStatus, Misuse> {
        self.running()?;
        let threads = self.settings.threads;
        if thread >= threads {
            return Err(Misuse::Thread { thread, threads });
        }
        values.iter().try_for_each(|&value| self.fits(value))?;
        let session = self.running()?;
        let came = session.events();
        let line = u32::try_from(came + 1).unwrap_or(u32::MAX);
        let operation = operation(session);
        // Times count in no model here: a simulator says when an event was seen, which is not when
        // it happened to memory.
        let status = session.event(thread.into(), operation, Times::default(), line);
        // After a violation nothing is taken any more.
        if session.events() > came {
            self.remember(time);
        }
        Ok(TraceStatus::of(status))
    }

    fn remember(&mut self, time: u64) {
        if self.times.len() == REMEMBERED {
            self.times.pop_front();
            self.forgotten += 1;
        }
        self.times.push_back(time);
    }

    /// The simulation time of an event, by its number from 1, if it is remembered.
    fn time_of(&self, event: u64) -> Option<u64> {
        let at = event.checked_sub(self.forgotten + 1)?;
        self.times.get(usize::try_from(at).ok()?).copied()
    }

    fn fits(&self, value: Value) -> Result<(), Misuse> {
        let bits = self.settings.value_bits;
        match bits < 64 && value >> bits != 0 {
            true => Err(Misuse::Value { value, bits }),
            false => Ok(()),
        }
    }

    fn running(&mut self) -> Result<&mut Session, Misuse> {
        match &mut self.stage {
            Stage::Running(session) => Ok(session),
            Stage::Finished(_) => Err(Misuse::Finished),
        }
    }

    /// The status after a complete check of the events so far.
    pub fn ask(&mut self) -> Result<TraceStatus, Misuse> {
        Ok(TraceStatus::of(self.running()?.ask()))
    }

    /// The verdict on the whole trace. No event can come after it; asked again, it is the same.
    pub fn finish(&mut self) -> TraceStatus {
        if let Stage::Running(session) = &mut self.stage {
            let empty = Session::new(self.model, self.settings.limits);
            let session = std::mem::replace(&mut **session, empty);
            self.stage = Stage::Finished(Box::new(session.finish()));
        }
        self.standing()
    }

    /// The status so far, without a further check.
    pub fn standing(&self) -> TraceStatus {
        match &self.stage {
            Stage::Running(session) => TraceStatus::of(session.status()),
            Stage::Finished(finished) => match &finished.verdict {
                Verdict::Holds(()) => TraceStatus::Consistent,
                Verdict::Broken(_) => TraceStatus::Violation,
                Verdict::Undecided(_) => TraceStatus::Undecided,
            },
        }
    }

    /// How many events have come.
    pub fn events(&self) -> u64 {
        match &self.stage {
            Stage::Running(session) => session.events(),
            Stage::Finished(finished) => finished.events,
        }
    }
}
