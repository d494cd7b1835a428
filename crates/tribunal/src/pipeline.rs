//! Questions in, answers out, in order: one thread reads, several answer, the caller prints.
//!
//! The order of answers is that of the questions, each handed out as soon as all before it are.
//! At most twice as many questions as workers are under way, whatever the length of the input.
//! The caller never waits for the threads: it may leave while one is blocked on its input.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use crate::interrupt::Interrupt;

/// What the threads tell the caller.
enum Message<A> {
    Answer(usize, A),
    /// There are this many questions in all.
    End(usize),
    Interrupted,
}

/// The end of the pipeline where answers come out.
pub(crate) struct Pipeline<A> {
    messages: Receiver<Message<A>>,
    /// One for each further question that may be read.
    permits: SyncSender<()>,
    early: BTreeMap<usize, A>,
    next: usize,
    total: Option<usize>,
    interrupted: bool,
}

/// The end where questions go in.
pub(crate) struct Questions<Q> {
    questions: SyncSender<(usize, Q)>,
    permits: Receiver<()>,
    asked: usize,
}

/// Nobody wants further questions answered.
pub(crate) struct Closed;

impl<Q> Questions<Q> {
    /// Asks the next question, once there is room for it.
    pub(crate) fn ask(&mut self, question: Q) -> Result<(), Closed> {
        self.permits.recv().map_err(|_| Closed)?;
        self.questions.send((self.asked, question)).map_err(|_| Closed)?;
        self.asked += 1;
        Ok(())
    }
}

impl<A: Send + 'static> Pipeline<A> {
    /// Starts `workers` threads that answer what `read` asks. A worker that returns `None` has no
    /// answer because of an interruption.
    pub(crate) fn start<Q: Send + 'static>(
        workers: usize,
        interrupt: &Interrupt,
        read: impl FnOnce(&mut Questions<Q>) + Send + 'static,
        answer: impl Fn(Q) -> Option<A> + Send + Sync + 'static,
    ) -> Self {
        let (question_sender, question_receiver) = sync_channel(workers);
        let (message_sender, messages) = channel();
        let (permits, permit_receiver) = sync_channel(2 * workers);
        for _ in 0..2 * workers {
            let _ = permits.send(());
        }
        let listener = message_sender.clone();
        interrupt.listen(move || {
            let _ = listener.send(Message::Interrupted);
        });
        let question_receiver = Arc::new(Mutex::new(question_receiver));
        let answer = Arc::new(answer);
        for _ in 0..workers {
            let questions = Arc::clone(&question_receiver);
            let answer = Arc::clone(&answer);
            let messages = message_sender.clone();
            thread::spawn(move || work(&questions, &*answer, &messages));
        }
        let mut questions =
            Questions { questions: question_sender, permits: permit_receiver, asked: 0 };
        thread::spawn(move || {
            read(&mut questions);
            let _ = message_sender.send(Message::End(questions.asked));
        });
        let early = BTreeMap::new();
        Self { messages, permits, early, next: 0, total: None, interrupted: false }
    }

    /// The next answer, if it is there.
    pub(crate) fn ready(&mut self) -> Option<A> {
        while let Ok(message) = self.messages.try_recv() {
            self.note(message);
        }
        self.next_in_order()
    }

    /// The next answer, when it is there; `None` after the last and after an interruption.
    pub(crate) fn wait(&mut self) -> Option<A> {
        loop {
            if let Some(answer) = self.next_in_order() {
                return Some(answer);
            }
            if self.interrupted || self.total == Some(self.next) {
                return None;
            }
            match self.messages.recv() {
                Ok(message) => self.note(message),
                Err(_) => return None,
            }
        }
    }

    /// Answers that came before those of earlier questions, which will not come any more.
    pub(crate) fn leftovers(&mut self) -> impl Iterator<Item = A> {
        while let Ok(message) = self.messages.try_recv() {
            self.note(message);
        }
        std::mem::take(&mut self.early).into_values()
    }

    fn note(&mut self, message: Message<A>) {
        match message {
            Message::Answer(number, answer) => {
                self.early.insert(number, answer);
            }
            Message::End(total) => self.total = Some(total),
            Message::Interrupted => self.interrupted = true,
        }
    }

    fn next_in_order(&mut self) -> Option<A> {
        let answer = self.early.remove(&self.next)?;
        self.next += 1;
        // There is room: as many permits as were taken out. The reader may be gone.
        let _ = self.permits.try_send(());
        Some(answer)
    }
}

fn work<Q, A>(
    questions: &Mutex<Receiver<(usize, Q)>>,
    answer: &(impl Fn(Q) -> Option<A> + ?Sized),
    messages: &Sender<Message<A>>,
) {
    loop {
        let question = questions.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((number, question)) = question else { return };
        if let Some(answer) = answer(question)
            && messages.send(Message::Answer(number, answer)).is_err()
        {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn answers_come_in_the_order_of_the_questions() {
        let mut pipeline = Pipeline::start(
            4,
            &Interrupt::default(),
            |questions| (0..100u64).for_each(|n| drop(questions.ask(n))),
            |n| {
                thread::sleep(Duration::from_micros(n * 7919 % 500));
                Some(n)
            },
        );
        let mut answers = Vec::new();
        while let Some(answer) = pipeline.wait() {
            answers.push(answer);
        }
        assert_eq!(answers, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn an_answer_does_not_wait_for_the_next_question() {
        let (go, gate) = channel::<()>();
        let read = move |questions: &mut Questions<u32>| {
            let _ = questions.ask(1);
            let _ = gate.recv();
            let _ = questions.ask(2);
        };
        let mut pipeline = Pipeline::start(2, &Interrupt::default(), read, Some);
        assert_eq!(pipeline.wait(), Some(1));
        go.send(()).unwrap();
        assert_eq!(pipeline.wait(), Some(2));
        assert_eq!(pipeline.wait(), None);
    }

    #[test]
    fn few_questions_are_under_way_while_the_first_is_hard() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        let read_so_far = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&read_so_far);
        let (go, gate) = channel::<()>();
        let gate = Mutex::new(gate);
        let mut pipeline = Pipeline::start(
            2,
            &Interrupt::default(),
            move |questions| {
                for n in 0..50 {
                    let _ = questions.ask(n);
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
        assert!(read_so_far.load(Ordering::SeqCst) <= 4);
        go.send(()).unwrap();
        let mut count = 0;
        while pipeline.wait().is_some() {
            count += 1;
        }
        assert_eq!(count, 50);
    }
}
