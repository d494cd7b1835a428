//! Live answers from a thread of its own, for a caller who may have to stop at any moment: what is
//! known of the open trace is on a table that the caller can look at while the thread waits for
//! input or searches.

use std::collections::VecDeque;
use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use history::{InputError, TraceReader};

use super::{LiveAnswer, LiveJob};
use crate::Session;
use crate::session::Progress;

/// How many answers may lie on the table before the thread waits for the caller.
const MOST_ANSWERS: usize = 1 << 10;

/// What the thread and the caller share.
#[derive(Default)]
struct Table {
    state: Mutex<State>,
    /// Where the caller waits for an answer, and the thread for room.
    answer: Condvar,
    room: Condvar,
}

#[derive(Default)]
struct State {
    answers: VecDeque<LiveAnswer>,
    /// The trace that is being judged, unless it has no event yet.
    open: Option<OpenTrace>,
    ended: Option<Result<u64, InputError>>,
    /// Nobody wants to hear more.
    stopped: bool,
}

struct OpenTrace {
    number: u64,
    start: Instant,
    sessions: Vec<Progress>,
}

impl Table {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, number: u64, start: Instant, sessions: &[Session]) {
        let mut state = self.lock();
        let open =
            state.open.get_or_insert_with(|| OpenTrace { number, start, sessions: Vec::new() });
        open.sessions.clear();
        open.sessions.extend(sessions.iter().map(Session::progress));
    }

    /// Answers about the open trace, which is open no more.
    fn put(&self, answers: Vec<LiveAnswer>) {
        let mut state = self.lock();
        while state.answers.len() >= MOST_ANSWERS && !state.stopped {
            state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if !state.stopped {
            state.answers.extend(answers);
            state.open = None;
            self.answer.notify_one();
        }
    }

    fn end(&self, ended: Result<u64, InputError>) {
        self.lock().ended = Some(ended);
        self.answer.notify_one();
    }
}

/// The answers of a job that runs in a thread of its own.
pub struct LiveAnswers {
    table: Arc<Table>,
    stop: Arc<AtomicBool>,
    taken: VecDeque<LiveAnswer>,
}

impl LiveJob {
    /// Judges the traces of an input in a thread of its own, as [`LiveJob::follow`] does.
    ///
    /// ```
    /// use history::{ReadOptions, ThinAir, TraceReader};
    /// use tribunal_judge::live::LiveJob;
    ///
    /// let job = LiveJob {
    ///     models: vec![models::Model::Sc],
    ///     limits: Default::default(),
    ///     thin_air: ThinAir::Malformed,
    ///     stop: Default::default(),
    /// };
    /// let input = "0: x := 1\n1: x == 1\ncheck\n".as_bytes();
    /// let mut answers = job.start(TraceReader::new(input, "example", ReadOptions::default()));
    /// assert_eq!(answers.wait().unwrap().finished.verdict.of_trace(), "consistent");
    /// assert!(answers.wait().is_none());
    /// assert_eq!(answers.events()?, 2);
    /// # Ok::<(), history::InputError>(())
    /// ```
    pub fn start<R: Read + Send + 'static>(self, mut reader: TraceReader<R>) -> LiveAnswers {
        let table: Arc<Table> = Arc::default();
        let (theirs, stop) = (Arc::clone(&table), Arc::clone(&self.stop));
        thread::spawn(move || {
            let tell = |number, start, sessions: &[Session]| theirs.tell(number, start, sessions);
            let ended = self.follow_telling(&mut reader, &tell, |answers| theirs.put(answers));
            theirs.end(ended);
        });
        LiveAnswers { table, stop, taken: VecDeque::new() }
    }
}

impl LiveAnswers {
    /// The next answer, when it is there; `None` after the last. If the job is stopped, the trace
    /// that is open then has an answer for each model: undecided, with what is established so far.
    pub fn wait(&mut self) -> Option<LiveAnswer> {
        if self.taken.is_empty() {
            let mut state = self.table.lock();
            while state.answers.is_empty() && !state.stopped && state.ended.is_none() {
                state = self.table.answer.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            self.taken = std::mem::take(&mut state.answers);
            self.table.room.notify_one();
            if state.stopped {
                self.taken.extend(state.open.take().into_iter().flat_map(OpenTrace::interrupted));
            }
        }
        self.taken.pop_front()
    }

    /// How many events there were, or what is wrong with the input, once there are no more answers.
    /// Of a job that was stopped, 0.
    pub fn events(self) -> Result<u64, InputError> {
        let ended = self.table.lock().ended.take();
        ended.unwrap_or(Ok(0))
    }

    /// Something to call when no more answers are wanted: whoever waits for one has the last ones
    /// at once.
    pub fn stopper(&self) -> impl Fn() + Send + 'static + use<> {
        let (table, stop) = (Arc::clone(&self.table), Arc::clone(&self.stop));
        move || {
            // In this order: a search that ends because of the stop is no answer.
            table.lock().stopped = true;
            stop.store(true, Ordering::SeqCst);
            table.answer.notify_one();
            table.room.notify_one();
        }
    }
}

impl Drop for LiveAnswers {
    fn drop(&mut self) {
        self.stopper()();
    }
}

impl OpenTrace {
    fn interrupted(self) -> impl Iterator<Item = LiveAnswer> {
        let OpenTrace { number, start, sessions } = self;
        let time = start.elapsed();
        let known = sessions.into_iter().filter(|session| session.events > 0);
        known.map(move |session| LiveAnswer {
            trace: number,
            finished: session.interrupted(),
            time,
        })
    }
}
