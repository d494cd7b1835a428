//! How workers reach each other: by channels between the threads of a process, or through a cluster.
//!
//! Channels are bounded, and whoever finds one full gets its message back. A level ends for a worker
//! when every other has sent the message that nothing more follows; then all meet between levels.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::rendezvous::{Broken, Rendezvous};

/// What workers send each other.
pub(crate) enum Message {
    /// Records that the receiver owns.
    Records(Vec<u8>),
    /// This level has no more.
    End,
}

/// A message that was not sent.
pub(crate) enum Unsent {
    /// The receiver has no room.
    Full(Message),
    /// The search cannot go on.
    Broken,
}

/// What a worker reports to the others between levels, or the sum of all reports.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Round {
    /// States of its part of the next level.
    pub(crate) states: u64,
    /// States that were excluded so far, and rules that were fired.
    pub(crate) excluded: u64,
    pub(crate) fired: u64,
    /// States that were passed over so far.
    pub(crate) passed_over: u64,
    /// Whether it has seen a reason to stop.
    pub(crate) stop: bool,
    /// Whether it is time for a checkpoint; the first worker says so.
    pub(crate) save: bool,
}

impl Round {
    /// The sum of several reports.
    pub(crate) fn sum(rounds: impl IntoIterator<Item = Round>) -> Round {
        rounds.into_iter().fold(Round::default(), |sum, round| Round {
            states: sum.states + round.states,
            excluded: sum.excluded + round.excluded,
            fired: sum.fired + round.fired,
            passed_over: sum.passed_over + round.passed_over,
            stop: sum.stop | round.stop,
            save: sum.save | round.save,
        })
    }
}

/// A worker's connection to the others.
pub(crate) trait Link {
    /// Sends a message, if there is room for it.
    fn try_send(&self, to: usize, message: Message) -> Result<(), Unsent>;

    /// The next records that have arrived.
    fn try_receive(&self) -> Result<Option<Vec<u8>>, Broken>;

    /// Waits a moment, since somebody has no room.
    fn wait(&self) -> Result<(), Broken>;

    /// After the ends were sent: the next records of the level; none when it is complete.
    fn rest_of_level(&self) -> Result<Option<Vec<u8>>, Broken>;

    /// Meets the others, and returns the sum of all reports.
    fn meet(&self, level: u32, own: Round) -> Result<Round, Broken>;

    /// Sends a note to all others, and receives theirs: one note of each worker, in their order.
    /// All have to call it equally often.
    fn gather(&self, note: Vec<u8>) -> Result<Vec<Vec<u8>>, Broken>;

    /// Says which level is searched now, for whoever has to say how far the search had got.
    fn enter_level(&self, _level: u32) {}

    /// Tells other processes of a reason to stop, and says which one was heard of.
    fn share_stop(&self, own: Option<u8>) -> Option<u8>;

    /// Bytes of a full message of records of this size.
    fn message_size(&self, record: usize) -> usize;
}

/// What every worker says, in the order of workers.
pub(crate) fn gather<T: Serialize + for<'a> Deserialize<'a>>(
    link: &dyn Link,
    own: &T,
) -> Result<Vec<T>, Broken> {
    // All workers are the same program, so they understand each other.
    let note = serde_json::to_vec(own).map_err(|_| Broken)?;
    let notes = link.gather(note)?;
    notes.iter().map(|note| serde_json::from_slice(note).map_err(|_| Broken)).collect()
}

/// Sends a message. While the receiver has no room, `take_in` takes in what was sent here, and says
/// whether that was anything, so that two workers never wait for each other.
pub(crate) fn send(
    link: &dyn Link,
    to: usize,
    mut message: Message,
    mut take_in: impl FnMut() -> Result<bool, Broken>,
) -> Result<(), Broken> {
    loop {
        match link.try_send(to, message) {
            Ok(()) => return Ok(()),
            Err(Unsent::Full(back)) => message = back,
            Err(Unsent::Broken) => return Err(Broken),
        }
        if !take_in()? {
            link.wait()?;
        }
    }
}

/// What the threads of a process write before they meet, and read afterwards.
pub(crate) struct Rounds {
    pub(crate) rendezvous: Rendezvous,
    /// The notes of all workers.
    notes: Mutex<Vec<Vec<u8>>>,
    /// Two sets, used in turn, so that the next round does not write what is still being read.
    told: [Vec<Told>; 2],
}

#[derive(Default)]
#[repr(align(64))]
struct Told {
    states: AtomicU64,
    excluded: AtomicU64,
    passed_over: AtomicU64,
    stop: AtomicBool,
    save: AtomicBool,
}

impl Rounds {
    pub(crate) fn new(workers: usize) -> Self {
        let told = || (0..workers).map(|_| Told::default()).collect();
        let notes = Mutex::new(vec![Vec::new(); workers]);
        Rounds { rendezvous: Rendezvous::new(workers), notes, told: [told(), told()] }
    }

    fn notes(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Channels between the threads of a process.
pub(crate) struct Channels<'a> {
    number: usize,
    senders: Vec<SyncSender<Message>>,
    inbox: Receiver<Message>,
    /// Workers that have ended this level.
    ended: Cell<usize>,
    rounds: &'a Rounds,
}

impl<'a> Channels<'a> {
    /// One for each worker.
    pub(crate) fn between(workers: usize, rounds: &'a Rounds) -> Vec<Channels<'a>> {
        let channel = || sync_channel(inbox_capacity(workers));
        let (senders, inboxes): (Vec<_>, Vec<_>) = (0..workers).map(|_| channel()).unzip();
        let channels = |(number, inbox)| Channels {
            number,
            senders: senders.clone(),
            inbox,
            ended: Cell::new(0),
            rounds,
        };
        inboxes.into_iter().enumerate().map(channels).collect()
    }

    fn unless_ended(&self, message: Message) -> Option<Vec<u8>> {
        match message {
            Message::Records(records) => Some(records),
            Message::End => {
                self.ended.set(self.ended.get() + 1);
                None
            }
        }
    }
}

impl Link for Channels<'_> {
    fn try_send(&self, to: usize, message: Message) -> Result<(), Unsent> {
        self.senders[to].try_send(message).map_err(|error| match error {
            TrySendError::Full(message) => Unsent::Full(message),
            TrySendError::Disconnected(_) => Unsent::Broken,
        })
    }

    fn try_receive(&self) -> Result<Option<Vec<u8>>, Broken> {
        while let Ok(message) = self.inbox.try_recv() {
            let records = self.unless_ended(message);
            if records.is_some() {
                return Ok(records);
            }
        }
        Ok(None)
    }

    fn wait(&self) -> Result<(), Broken> {
        if self.rounds.rendezvous.is_broken() {
            return Err(Broken);
        }
        std::thread::yield_now();
        Ok(())
    }

    fn rest_of_level(&self) -> Result<Option<Vec<u8>>, Broken> {
        while self.ended.get() + 1 < self.senders.len() {
            match self.inbox.recv_timeout(Duration::from_millis(100)) {
                Ok(message) => {
                    let records = self.unless_ended(message);
                    if records.is_some() {
                        return Ok(records);
                    }
                }
                Err(RecvTimeoutError::Timeout) if !self.rounds.rendezvous.is_broken() => {}
                Err(_) => return Err(Broken),
            }
        }
        self.ended.set(0);
        Ok(None)
    }

    fn meet(&self, level: u32, own: Round) -> Result<Round, Broken> {
        let told = &self.rounds.told[level as usize % 2];
        told[self.number].states.store(own.states, Relaxed);
        told[self.number].excluded.store(own.excluded, Relaxed);
        told[self.number].passed_over.store(own.passed_over, Relaxed);
        told[self.number].stop.store(own.stop, Relaxed);
        told[self.number].save.store(own.save, Relaxed);
        self.rounds.rendezvous.wait()?;
        Ok(Round::sum(told.iter().map(|told| Round {
            states: told.states.load(Relaxed),
            excluded: told.excluded.load(Relaxed),
            passed_over: told.passed_over.load(Relaxed),
            stop: told.stop.load(Relaxed),
            save: told.save.load(Relaxed),
            // In one process nobody asks for it.
            fired: 0,
        })))
    }

    fn gather(&self, note: Vec<u8>) -> Result<Vec<Vec<u8>>, Broken> {
        self.rounds.notes()[self.number] = note;
        self.rounds.rendezvous.wait()?;
        let notes = self.rounds.notes().clone();
        // Nobody writes the next note while another reads this one.
        self.rounds.rendezvous.wait()?;
        Ok(notes)
    }

    fn share_stop(&self, _own: Option<u8>) -> Option<u8> {
        None
    }

    fn message_size(&self, record: usize) -> usize {
        message_size(record)
    }
}

/// Bytes of a message between workers, about, and records of it.
const MESSAGE: (usize, usize) = (256, 8192);

/// How many records of this size are at most so many and so many bytes; at least one.
pub(crate) fn within((records, bytes): (usize, usize), record: usize) -> usize {
    (bytes / record).clamp(1, records)
}

/// Bytes of a full message between threads: whole records.
pub(crate) fn message_size(record: usize) -> usize {
    within(MESSAGE, record) * record
}

/// Messages that may wait for a worker: enough for the time in which it enlarges a table.
fn inbox_capacity(workers: usize) -> usize {
    128 + 2 * workers
}

/// Bytes of all messages to and from a worker among so many.
pub(crate) fn message_bytes(workers: usize, record: usize) -> usize {
    match workers {
        1 => 0,
        _ => (inbox_capacity(workers) + 2 * workers) * message_size(record),
    }
}
