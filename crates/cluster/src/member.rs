//! A thread of a search that runs in several processes: one worker of timely dataflow.
//!
//! The dataflow is an input, an exchange by receiver, and a queue. The time of a message is the level
//! of the breadth-first search in which it was sent. When a worker has expanded its part of a level it
//! advances its input; timely's progress tracking then says when no message of the level is under
//! way any more, anywhere, and the level is complete.
//!
//! Timely bounds nothing: a sender that is faster than a receiver would fill the memory of both. So
//! records need *credit*: a worker may have [`WINDOW`] messages under way to each other worker, and gets
//! credit back when that one has taken them in. A worker that has none takes in what it was sent
//! itself while it waits, so no two workers wait for each other.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use timely::WorkerConfig;
use timely::communication::Allocator;
use timely::communication::allocator::zero_copy::allocator::TcpBuilder;
use timely::container::CapacityContainerBuilder;
use timely::dataflow::channels::pact::DistributorPact;
use timely::dataflow::operators::generic::operator::Operator;
use timely::dataflow::operators::{Input, Probe};
use timely::dataflow::{InputHandle, ProbeHandle};
use timely::worker::Worker;

use crate::packet::{ByReceiver, Content, Kind, Packet};
use crate::presence::{Lost, Presence, Share};

/// Messages with records that may be under way from one worker to another.
pub const WINDOW: usize = 8;
/// How long a worker that waits sleeps before it looks whether all processes are there.
const NAP: Duration = Duration::from_millis(50);
/// After how many looks at an empty inbox the dataflow goes on.
const STEP: u32 = 8;
/// How often a process reports its progress.
const REPORT: Duration = Duration::from_millis(200);

type Builder = CapacityContainerBuilder<Packet>;

/// A place for a thread, to be taken by the thread itself.
pub struct Seat {
    pub(crate) builder: TcpBuilder,
    pub(crate) presence: Arc<Presence>,
    /// Threads of each process.
    pub(crate) threads: usize,
    /// Whether the processes part after this search.
    pub(crate) is_last: bool,
}

/// A worker among those of all processes.
pub struct Member {
    /// Dropped first: closing it ends the dataflow.
    input: RefCell<Option<InputHandle<u32, Builder>>>,
    worker: RefCell<Worker>,
    probe: ProbeHandle<u32>,
    arrived: Rc<RefCell<VecDeque<Content>>>,
    number: usize,
    workers: usize,
    threads: usize,
    is_last: bool,
    presence: Arc<Presence>,
    level: Cell<u32>,
    /// Records that have arrived, in order.
    records: RefCell<VecDeque<(usize, Vec<u8>)>>,
    /// Notes of each worker that were not asked for yet.
    notes: RefCell<Vec<VecDeque<Vec<u8>>>>,
    /// For each worker, messages that may still be sent to it, and those of its own that were taken
    /// in without acknowledging them.
    credit: RefCell<Vec<usize>>,
    owed: RefCell<Vec<usize>>,
    /// A reason to stop that was received, and whether one was sent to the others.
    stop: Cell<Option<u8>>,
    stop_sent: Cell<bool>,
    reported: Cell<Instant>,
    /// Looks at an empty inbox since the last step.
    calls: Cell<u32>,
}

impl Seat {
    /// Takes the place. All threads of all processes have to.
    pub fn take(self) -> Member {
        let Seat { builder, presence, threads, is_last } = self;
        let allocator = Allocator::Tcp(builder.build());
        // Without a timer it would never sleep.
        let timer = Some(Instant::now());
        let mut worker = Worker::new(WorkerConfig::default(), allocator, timer);
        let arrived = Rc::new(RefCell::new(VecDeque::new()));
        let mut input: InputHandle<u32, Builder> = InputHandle::new_with_builder();
        let probe = ProbeHandle::new();
        let queue = Rc::clone(&arrived);
        worker.dataflow::<u32, _, _>(|scope| {
            let by_receiver = DistributorPact(|_| ByReceiver);
            scope
                .input_from(&mut input)
                .unary::<Builder, _, _, _>(by_receiver, "take in", move |_, _| {
                    move |packets, _| {
                        packets.for_each(|_, packet| queue.borrow_mut().extend(packet.take()));
                    }
                })
                .probe_with(&probe);
        });
        let (number, workers) = (worker.index(), worker.peers());
        Member {
            input: RefCell::new(Some(input)),
            worker: RefCell::new(worker),
            probe,
            arrived,
            number,
            workers,
            threads,
            is_last,
            presence,
            level: Cell::new(0),
            records: RefCell::default(),
            notes: RefCell::new(vec![VecDeque::new(); workers]),
            credit: RefCell::new(vec![WINDOW; workers]),
            owed: RefCell::new(vec![0; workers]),
            stop: Cell::new(None),
            stop_sent: Cell::new(false),
            reported: Cell::new(Instant::now()),
            calls: Cell::new(0),
        }
    }
}

impl Member {
    /// Its number among all workers.
    pub fn number(&self) -> usize {
        self.number
    }

    /// How many workers there are in all processes.
    pub fn workers(&self) -> usize {
        self.workers
    }

    fn send(&self, kind: Kind, to: usize, bytes: Vec<u8>) {
        if let Some(input) = &mut *self.input.borrow_mut() {
            input.send_batch(&mut Content { kind, from: self.number, to, bytes }.into());
        }
    }

    /// Sends something to all other workers.
    fn tell_all(&self, kind: Kind, bytes: &[u8]) {
        for to in (0..self.workers).filter(|&to| to != self.number) {
            self.send(kind, to, bytes.to_vec());
        }
    }

    /// Lets the dataflow go on, for a while at most if nothing happens, and sorts what arrived.
    fn step(&self, patience: Duration) -> Result<(), Lost> {
        self.presence.all_there()?;
        let mut worker = self.worker.borrow_mut();
        // What was sent goes out before anybody sleeps.
        worker.step();
        if patience > Duration::ZERO && self.arrived.borrow().is_empty() {
            worker.step_or_park(Some(patience));
            // It sleeps or works, not both.
            worker.step();
        }
        drop(worker);
        for content in self.arrived.borrow_mut().drain(..) {
            let Content { kind, from, bytes, .. } = content;
            match kind {
                Kind::Records => self.records.borrow_mut().push_back((from, bytes)),
                Kind::Credit => self.credit.borrow_mut()[from] += number_of(&bytes) as usize,
                Kind::Note => self.notes.borrow_mut()[from].push_back(bytes),
                Kind::Stop => self.stop.set(self.stop.get().or(bytes.first().copied())),
                Kind::Share => self.presence.put_share(from / self.threads, share_of(&bytes)),
            }
        }
        Ok(())
    }

    /// Sends records to their owner, unless it has too many on their way: then they come back.
    pub fn try_send(&self, to: usize, records: Vec<u8>) -> Result<Option<Vec<u8>>, Lost> {
        if self.credit.borrow()[to] == 0 {
            return Ok(Some(records));
        }
        self.credit.borrow_mut()[to] -= 1;
        self.send(Kind::Records, to, records);
        Ok(None)
    }

    /// The next records that have arrived, as far as is known: the dataflow goes on every few calls,
    /// and when somebody waits.
    pub fn receive(&self) -> Result<Option<Vec<u8>>, Lost> {
        if self.records.borrow().is_empty() {
            let calls = self.calls.get() + 1;
            self.calls.set(calls % STEP);
            if calls < STEP {
                return Ok(None);
            }
            self.step(Duration::ZERO)?;
        }
        Ok(self.next_records())
    }

    fn next_records(&self) -> Option<Vec<u8>> {
        let (from, records) = self.records.borrow_mut().pop_front()?;
        let mut owed = self.owed.borrow_mut();
        owed[from] += 1;
        if owed[from] >= WINDOW / 2 {
            let credit = std::mem::take(&mut owed[from]) as u64;
            self.send(Kind::Credit, from, credit.to_le_bytes().to_vec());
        }
        Some(records)
    }

    /// Waits a moment for whatever happens.
    pub fn wait(&self) -> Result<(), Lost> {
        self.step(Duration::from_millis(1))
    }

    /// After the last records of this worker: the next ones of the level that have arrived; none when
    /// the level is complete everywhere.
    pub fn rest_of_level(&self) -> Result<Option<Vec<u8>>, Lost> {
        let next = self.level.get() + 1;
        if let Some(input) = &mut *self.input.borrow_mut() {
            input.advance_to(next);
        }
        loop {
            let is_complete = !self.probe.less_than(&next);
            if let Some(records) = self.next_records() {
                return Ok(Some(records));
            }
            if is_complete {
                self.level.set(next);
                return Ok(None);
            }
            self.step(NAP)?;
        }
    }

    /// Sends a note to all other workers, and receives theirs: one note of each, in the order of
    /// workers. All have to call it equally often.
    pub fn gather(&self, note: Vec<u8>) -> Result<Vec<Vec<u8>>, Lost> {
        self.tell_all(Kind::Note, &note);
        self.notes.borrow_mut()[self.number].push_back(note);
        while self.notes.borrow().iter().any(VecDeque::is_empty) {
            self.step(NAP)?;
        }
        let mut notes = self.notes.borrow_mut();
        Ok(notes.iter_mut().filter_map(VecDeque::pop_front).collect())
    }

    /// Says which level of the search this process is at, for when another is lost.
    pub fn enter_level(&self, level: u32) {
        self.presence.enter_level(level);
    }

    /// Tells all others once that there is a reason to stop, if there is; says which one was heard of.
    pub fn share_stop(&self, own: Option<u8>) -> Option<u8> {
        if let Some(reason) = own
            && !self.stop_sent.replace(true)
        {
            self.tell_all(Kind::Stop, &[reason]);
        }
        self.stop.get()
    }

    /// Tells the first process what this one has done, now and then.
    pub fn report(&self, share: impl FnOnce() -> Share) {
        if self.reported.get().elapsed() < REPORT {
            return;
        }
        self.reported.set(Instant::now());
        let Share { states, rules_fired, expanded, bytes } = share();
        let numbers = [states, rules_fired, expanded, bytes].map(u64::to_le_bytes);
        match self.number / self.threads {
            0 => self.presence.put_share(0, Share { states, rules_fired, expanded, bytes }),
            _ => self.send(Kind::Share, 0, numbers.concat()),
        }
    }

    /// Leaves the search, together with all others. If it was the last one, nobody is missed from now
    /// on.
    pub fn leave(self) -> Result<(), Lost> {
        if self.is_last {
            self.presence.end();
        }
        self.gather(Vec::new()).map(drop)
    }
}

fn number_of(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |&eight| u64::from_le_bytes(eight))
}

fn share_of(bytes: &[u8]) -> Share {
    let number = |at: usize| bytes.get(8 * at..).map_or(0, number_of);
    Share { states: number(0), rules_fired: number(1), expanded: number(2), bytes: number(3) }
}
