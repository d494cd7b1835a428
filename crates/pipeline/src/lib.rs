//! Questions in, answers out, in order: one thread reads, several answer, the caller prints.
//!
//! All meet at one table under one lock. A question takes a place in the row of those under way
//! when it is asked, its answer is put there, and the caller takes answers from the front of the
//! row, so their order is that of the questions whatever the number of workers. How much is under
//! way is bounded, whatever the length of the input: a few large questions, or many small ones.
//!
//! A small trace is judged in microseconds, less than it takes to wake a thread. So nobody is woken
//! for a single question or answer while there are more to come: the reader calls workers when it
//! is about to wait, for input or for room, or has a handful of questions for them; and the caller
//! lets answers gather for a millisecond while further questions are under way.
//!
//! The caller never waits for the threads: it may leave while one is blocked on its input.
//!
//! ```
//! use tribunal_pipeline::Pipeline;
//!
//! let read = |questions: &mut tribunal_pipeline::Questions<u32, u32>| {
//!     (1..=3).for_each(|number| drop(questions.ask(number, 0)));
//! };
//! let mut squares = Pipeline::start(2, read, |number| Some(number * number));
//! assert_eq!(std::iter::from_fn(|| squares.wait()).collect::<Vec<_>>(), [1, 4, 9]);
//! ```

use std::collections::VecDeque;
use std::io::{self, Read};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How many questions are worth waking a worker for.
const HANDFUL: usize = 64;

/// The load that may be under way for each worker before the number of questions counts.
const SMALL_LOAD: usize = 1 << 14;

/// What a question of no load still is.
const LEAST_LOAD: usize = 16;

/// How long an interrupted caller waits for what workers are busy with: they may have been told to
/// end early, and to say what they have.
const GRACE: Duration = Duration::from_millis(300);

/// How long answers may gather while workers are busy.
const LINGER: Duration = Duration::from_millis(1);

/// A question under way: how much there is to it, and its answer once that is known.
struct Place<A> {
    load: usize,
    answer: Option<A>,
}

struct State<Q, A> {
    /// What no worker has taken yet, each with its number.
    questions: VecDeque<(usize, Q)>,
    /// The questions whose answers the caller has not taken, the first with the number `first`.
    under_way: VecDeque<Place<A>>,
    first: usize,
    load: usize,
    /// Workers that answer a question.
    busy: usize,
    /// Workers that wait to be called, and calls that none of them has heard yet.
    idle: usize,
    calls: usize,
    /// Whether the caller waits for the first answer.
    awaited: bool,
    /// There will be no more questions.
    ended: bool,
    /// There will be nobody to hear an answer.
    left: bool,
    interrupted: bool,
}

struct Table<Q, A> {
    state: Mutex<State<Q, A>>,
    workers: usize,
    /// Where workers wait for questions, the reader for room, the caller for the first answer.
    question: Condvar,
    room: Condvar,
    answer: Condvar,
}

impl<Q, A> Table<Q, A> {
    fn new(workers: usize) -> Self {
        let state = State {
            questions: VecDeque::new(),
            under_way: VecDeque::new(),
            first: 0,
            load: 0,
            busy: 0,
            idle: 0,
            calls: 0,
            awaited: false,
            ended: false,
            left: false,
            interrupted: false,
        };
        let (question, room, answer) = (Condvar::new(), Condvar::new(), Condvar::new());
        Self { state: Mutex::new(state), workers, question, room, answer }
    }

    fn lock(&self) -> MutexGuard<'_, State<Q, A>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(
        &self,
        bell: &Condvar,
        state: MutexGuard<'s, State<Q, A>>,
    ) -> MutexGuard<'s, State<Q, A>> {
        bell.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls workers for the questions that nobody was called for. They are woken when the table is
    /// free, so that they do not run into its lock.
    fn hand_out(&self, mut state: MutexGuard<'_, State<Q, A>>) {
        let calls = state.call_workers();
        drop(state);
        (0..calls).for_each(|_| self.question.notify_one());
    }

    /// Puts a worker's answer, if it has one, to the question that it took last on the table, and
    /// takes its next question, when there is one; `None` when there will be none.
    fn exchange(&self, done: Option<(usize, Option<A>)>) -> Option<(usize, Q)> {
        let mut state = self.lock();
        if let Some((number, answer)) = done {
            state.busy -= 1;
            let is_awaited = answer.is_some_and(|answer| state.put(number, answer));
            if is_awaited || (state.interrupted && state.busy == 0) {
                drop(state);
                self.answer.notify_one();
                state = self.lock();
            }
        }
        loop {
            if state.left || state.interrupted {
                return None;
            }
            if let Some(question) = state.questions.pop_front() {
                state.busy += 1;
                return Some(question);
            }
            if state.ended {
                return None;
            }
            state.idle += 1;
            while state.calls == 0 && !state.ended && !state.left && !state.interrupted {
                state = self.wait(&self.question, state);
            }
            state.calls = state.calls.saturating_sub(1);
        }
    }
}

impl<Q, A> State<Q, A> {
    fn has_room(&self, workers: usize) -> bool {
        self.load < SMALL_LOAD * workers || self.under_way.len() < 2 * workers
    }

    /// Notes that a worker is called for each question that waits, as far as there are idle ones.
    /// Returns how many are to be woken.
    fn call_workers(&mut self) -> usize {
        let calls = self.idle.min(self.questions.len().saturating_sub(self.calls));
        self.idle -= calls;
        self.calls += calls;
        calls
    }

    /// Puts an answer in its place. Returns whether the caller waits for it.
    fn put(&mut self, number: usize, answer: A) -> bool {
        let place = number - self.first;
        self.under_way[place].answer = Some(answer);
        place == 0 && self.awaited
    }

    fn first_is_answered(&self) -> bool {
        self.under_way.front().is_some_and(|place| place.answer.is_some())
    }

    /// The answers that are next in order.
    fn take_answers(&mut self) -> VecDeque<A> {
        let mut answers = VecDeque::new();
        while let Some(answer) = self.under_way.front_mut().and_then(|place| place.answer.take()) {
            self.load -= self.under_way.pop_front().map_or(0, |place| place.load);
            self.first += 1;
            answers.push_back(answer);
        }
        answers
    }
}

/// The end where questions go in.
pub struct Questions<Q, A>(Arc<Table<Q, A>>);

/// Nobody wants further questions answered.
pub struct Closed;

impl<Q, A> Questions<Q, A> {
    /// Asks the next question, once there is room for it. Its load says how large it is, in events.
    pub fn ask(&mut self, question: Q, load: usize) -> Result<(), Closed> {
        let table = &*self.0;
        let load = load.saturating_add(LEAST_LOAD);
        let mut state = table.lock();
        while !state.has_room(table.workers) && !state.left {
            (0..state.call_workers()).for_each(|_| table.question.notify_one());
            state = table.wait(&table.room, state);
        }
        if state.left {
            return Err(Closed);
        }
        let number = state.first + state.under_way.len();
        state.under_way.push_back(Place { load, answer: None });
        state.load = state.load.saturating_add(load);
        state.questions.push_back((number, question));
        if state.questions.len() >= HANDFUL || load >= SMALL_LOAD {
            table.hand_out(state);
        }
        Ok(())
    }

    /// Has everything asked so far answered, before the caller waits for something else.
    pub fn hand_out(&self) {
        self.0.hand_out(self.0.lock());
    }

    /// An input that has everything asked so far answered before it waits for more.
    pub fn patient<R: Read>(&self, input: R) -> FlushingReader<R, Q, A> {
        FlushingReader { input, table: Arc::clone(&self.0) }
    }
}

/// An input of the thread that reads.
pub struct FlushingReader<R, Q, A> {
    input: R,
    table: Arc<Table<Q, A>>,
}

impl<R: Read, Q, A> Read for FlushingReader<R, Q, A> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.table.hand_out(self.table.lock());
        self.input.read(buffer)
    }
}

/// The end of the pipeline where answers come out.
pub struct Pipeline<Q, A> {
    table: Arc<Table<Q, A>>,
    /// Answers taken from the table.
    taken: VecDeque<A>,
}

impl<Q: Send + 'static, A: Send + 'static> Pipeline<Q, A> {
    /// Starts `workers` threads that answer what `read` asks. A worker that returns `None` has no
    /// answer because of an interruption.
    pub fn start(
        workers: usize,
        read: impl FnOnce(&mut Questions<Q, A>) + Send + 'static,
        answer: impl Fn(Q) -> Option<A> + Send + Sync + 'static,
    ) -> Self {
        let table = Arc::new(Table::new(workers));
        let answer = Arc::new(answer);
        for _ in 0..workers {
            let (table, answer) = (Arc::clone(&table), Arc::clone(&answer));
            thread::spawn(move || work(&table, &*answer));
        }
        let mut questions = Questions(Arc::clone(&table));
        thread::spawn(move || {
            read(&mut questions);
            let table = questions.0;
            table.lock().ended = true;
            table.question.notify_all();
            table.answer.notify_one();
        });
        Self { table, taken: VecDeque::new() }
    }

    /// Something to call when no more answers are wanted: the caller is woken, and no worker takes
    /// another question.
    pub fn stopper(&self) -> impl Fn() + Send + 'static + use<Q, A> {
        let table = Arc::clone(&self.table);
        move || {
            table.lock().interrupted = true;
            table.answer.notify_one();
        }
    }

    /// Hands over the answers in order, and `None` whenever the next has to be waited for. Answers
    /// whose turn did not come because of an interruption are handed over at last; workers that are
    /// busy then have a moment to end.
    pub fn each<E>(&mut self, mut take: impl FnMut(Option<A>) -> Result<(), E>) -> Result<(), E> {
        while let Some(answer) = self.next_or(|| take(None))? {
            take(Some(answer))?;
        }
        self.wait_for_workers();
        self.leftovers().try_for_each(|answer| take(Some(answer)))
    }

    /// The next answer. Where it has to be waited for, this is called first.
    pub fn next_or<E>(&mut self, idle: impl FnOnce() -> Result<(), E>) -> Result<Option<A>, E> {
        match self.ready() {
            Some(answer) => Ok(Some(answer)),
            None => idle().map(|()| self.wait()),
        }
    }

    /// The next answer, if it is there.
    pub fn ready(&mut self) -> Option<A> {
        if self.taken.is_empty() {
            let table = Arc::clone(&self.table);
            self.take(&mut table.lock());
        }
        self.taken.pop_front()
    }

    /// The next answer, when it is there; `None` after the last and after an interruption.
    pub fn wait(&mut self) -> Option<A> {
        if let Some(answer) = self.taken.pop_front() {
            return Some(answer);
        }
        let table = Arc::clone(&self.table);
        let mut state = table.lock();
        while !state.first_is_answered() {
            if state.interrupted || (state.ended && state.under_way.is_empty()) {
                return None;
            }
            state.awaited = true;
            state = table.wait(&table.answer, state);
            state.awaited = false;
        }
        if state.under_way.len() > 1 {
            drop(state);
            thread::sleep(LINGER);
            state = table.lock();
        }
        self.take(&mut state);
        self.taken.pop_front()
    }

    /// Takes the answers that are next in order, which makes room for further questions.
    fn take(&mut self, state: &mut State<Q, A>) {
        self.taken = state.take_answers();
        if !self.taken.is_empty() {
            self.table.room.notify_one();
        }
    }

    /// After an interruption, waits for what workers are busy with, but not for long.
    fn wait_for_workers(&mut self) {
        let mut state = self.table.lock();
        let end = Instant::now() + GRACE;
        while state.interrupted && state.busy > 0 {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let waited = self.table.answer.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Answers that came before those of earlier questions, which will not come any more.
    pub fn leftovers(&mut self) -> impl Iterator<Item = A> {
        let mut state = self.table.lock();
        let places = state.under_way.iter_mut();
        let left: Vec<A> = places.filter_map(|place| place.answer.take()).collect();
        std::mem::take(&mut self.taken).into_iter().chain(left)
    }
}

impl<Q, A> Drop for Pipeline<Q, A> {
    fn drop(&mut self) {
        self.table.lock().left = true;
        self.table.question.notify_all();
        self.table.room.notify_one();
    }
}

fn work<Q, A>(table: &Table<Q, A>, answer: &impl Fn(Q) -> Option<A>) {
    let mut done = None;
    while let Some((number, question)) = table.exchange(done.take()) {
        done = Some((number, answer(question)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, channel};

    /// A load of which only a few may be under way.
    const LARGE: usize = 10 * SMALL_LOAD;

    fn all<Q: Send + 'static, A: Send + 'static>(pipeline: &mut Pipeline<Q, A>) -> Vec<A> {
        std::iter::from_fn(|| pipeline.wait()).collect()
    }

    #[test]
    fn answers_come_in_the_order_of_the_questions() {
        for (workers, load) in [(1, 0), (4, 0), (4, 1_000), (4, LARGE)] {
            let mut pipeline = Pipeline::start(
                workers,
                move |questions| (0..3_000u64).for_each(|n| drop(questions.ask(n, load))),
                |n| {
                    if n % 97 == 0 {
                        thread::sleep(Duration::from_micros(n * 7919 % 500));
                    }
                    Some(n)
                },
            );
            assert_eq!(all(&mut pipeline), (0..3_000).collect::<Vec<_>>());
        }
    }

    /// An input that gives nothing until it is asked to.
    struct Gate(Receiver<()>);

    impl Read for Gate {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            let _ = self.0.recv();
            Ok(0)
        }
    }

    #[test]
    fn an_answer_does_not_wait_for_the_next_question() {
        let (go, gate) = channel::<()>();
        let read = move |questions: &mut Questions<u32, u32>| {
            let mut input = questions.patient(Gate(gate));
            let _ = questions.ask(1, 0);
            let _ = input.read(&mut []);
            let _ = questions.ask(2, 0);
        };
        let mut pipeline = Pipeline::start(2, read, Some);
        assert_eq!(pipeline.wait(), Some(1));
        go.send(()).unwrap();
        assert_eq!(pipeline.wait(), Some(2));
        assert_eq!(pipeline.wait(), None);
    }

    /// How many questions are read while the first is hard, of those with this load.
    fn read_ahead(load: usize) -> usize {
        use std::sync::atomic::{AtomicUsize, Ordering};
        let read_so_far = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&read_so_far);
        let (go, gate) = channel::<()>();
        let gate = Mutex::new(gate);
        let mut pipeline = Pipeline::start(
            2,
            move |questions| {
                for n in 0..5_000 {
                    let _ = questions.ask(n, load);
                    counter.fetch_add(1, Ordering::SeqCst);
                }
            },
            move |n| {
                if n == 0 {
                    let _ = gate.lock().unwrap().recv();
                }
                Some(n)
            },
        );
        thread::sleep(Duration::from_millis(50));
        let ahead = read_so_far.load(Ordering::SeqCst);
        go.send(()).unwrap();
        assert_eq!(all(&mut pipeline).len(), 5_000);
        ahead
    }

    #[test]
    fn few_large_questions_are_under_way_while_the_first_is_hard() {
        assert!(read_ahead(LARGE) <= 4);
    }

    #[test]
    fn many_small_questions_are_under_way_while_the_first_is_hard_but_not_all() {
        let ahead = read_ahead(0);
        assert!((4..5_000).contains(&ahead), "{ahead}");
    }

    #[test]
    fn the_second_worker_does_not_wait_for_a_hard_question_of_the_first() {
        let (go, gate) = channel::<()>();
        let (sender, receiver) = channel();
        let (gate, sender) = (Mutex::new(gate), Mutex::new(sender));
        let mut pipeline = Pipeline::start(
            2,
            |questions| (0..40).for_each(|n| drop(questions.ask(n, 0))),
            move |n: u32| {
                match n {
                    3 => drop(gate.lock().unwrap().recv()),
                    n => drop(sender.lock().unwrap().send(n)),
                }
                Some(n)
            },
        );
        for _ in 0..39 {
            receiver.recv().unwrap();
        }
        for n in 0..3 {
            assert_eq!(pipeline.wait(), Some(n), "what came before the hard one is there");
        }
        assert_eq!(pipeline.ready(), None);
        assert_eq!(pipeline.leftovers().count(), 36);
        go.send(()).unwrap();
    }

    #[test]
    fn an_interrupted_caller_hears_what_workers_end_with() {
        use std::sync::atomic::{AtomicBool, Ordering};
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let read = |questions: &mut Questions<u32, u32>| {
            (0..4).for_each(|n| drop(questions.ask(n, LARGE)))
        };
        let mut pipeline = Pipeline::start(2, read, move |n| {
            while n < 2 && !told.load(Ordering::SeqCst) {
                thread::sleep(Duration::from_millis(1));
            }
            thread::sleep(Duration::from_millis(20));
            Some(n)
        });
        thread::sleep(Duration::from_millis(50));
        pipeline.stopper()();
        stop.store(true, Ordering::SeqCst);
        let mut heard = Vec::new();
        let each = pipeline.each(|answer| {
            heard.extend(answer);
            Ok::<_, ()>(())
        });
        assert_eq!((each, heard), (Ok(()), vec![0, 1]));
    }

    #[test]
    fn whoever_leaves_stops_the_reader_and_the_workers() {
        let (sender, receiver) = channel();
        let pipeline = Pipeline::start(
            2,
            move |questions| {
                while questions.ask((), LARGE).is_ok() {}
                let _ = sender.send(());
            },
            Some,
        );
        drop(pipeline);
        receiver.recv().unwrap();
    }
}
