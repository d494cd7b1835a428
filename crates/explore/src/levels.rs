//! Who searches a level of a breadth-first search in one process: one thread for all workers, or each
//! worker by a thread of its own.
//!
//! Starting threads and having them meet takes some tens of microseconds, on a busy machine much more.
//! Small searches have dozens of levels with less work than that. So a level is shared among threads
//! only if one thread would need [`WORTH_THREADS`] for it, going by how long the states before it took;
//! and threads end when a level has less than [`WORTH_ONE`]. What each worker does is the same either
//! way: its states are those that it owns, and what it sends arrives. So nothing that is found depends
//! on who searches, or on the clock.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

use murphi::machine::Machine;

use crate::link::{Channels, Link, Message, Round, Rounds, Unsent};
use crate::options::Levels;
use crate::reduction::Reduction;
use crate::rendezvous::Broken;
use crate::storage::Storage;
use crate::store::Store;
use crate::worker::{Peers, Shared, Worker};

/// How long one thread has to need for a level at least, so that it is worth it to start others.
const WORTH_THREADS: Duration = Duration::from_millis(2);
/// How long it has to need at least, so that it is worth it to go on with others.
const WORTH_ONE: Duration = Duration::from_micros(500);

/// How many times as long as was expected a level may take.
const SURPRISE: u32 = 4;

/// How a search goes on after some levels.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// It has ended.
    End,
    /// With the level that all workers have entered, in the other way. It has so many states.
    Other(u64),
}

/// Runs all workers to their end while this thread does `meanwhile`.
pub(crate) fn run<'a, M, C, R, S>(
    mut workers: Vec<Worker<'a, M, C, R, S>>,
    levels: Levels,
    shared: &Shared<'_>,
    meanwhile: impl FnOnce(),
) -> Vec<Worker<'a, M, C, R, S>>
where
    M: Machine,
    C: Storage,
    R: Reduction,
    S: Store,
{
    std::thread::scope(|scope| {
        let search = scope.spawn(move || {
            let watches: Vec<_> = workers.iter().map(|worker| worker.watch).collect();
            let _ended: Vec<_> = watches.iter().map(|watch| watch.worker()).collect();
            // A broken rendezvous is the panic of a worker, which is passed on by who joins it.
            let _ = search(&mut workers, levels, shared);
            workers
        });
        meanwhile();
        search.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn search<M: Machine, C: Storage, R: Reduction, S: Store>(
    workers: &mut [Worker<'_, M, C, R, S>],
    levels: Levels,
    shared: &Shared<'_>,
) -> Result<(), Broken> {
    let mut pace = Pace { levels, states: 0, time: Duration::ZERO };
    // Where ending a level is work, each worker does its own, always.
    let together = workers.len() == 1 || !S::ENDS_LEVELS_AT_ONCE;
    let mut next = match together {
        true => with_threads(workers, shared, None)?,
        false => alone(workers, shared, &mut pace, None)?,
    };
    while next != Next::End {
        next = with_threads(workers, shared, Some(&pace))?;
        if let Next::Other(states) = next {
            next = alone(workers, shared, &mut pace, Some(states))?;
        }
    }
    workers.iter_mut().for_each(Worker::conclude);
    Ok(())
}

/// Searches with a thread for each worker, up to a level that is too small for that according to
/// `pace`, or to the end. Begins with the level that was entered, if one was.
fn with_threads<M: Machine, C: Storage, R: Reduction, S: Store>(
    workers: &mut [Worker<'_, M, C, R, S>],
    shared: &Shared<'_>,
    pace: Option<&Pace>,
) -> Result<Next, Broken> {
    let rounds = &Rounds::new(workers.len());
    let mut links = Channels::between(workers.len(), rounds).into_iter();
    let is_entered = pace.is_some();
    let work = |worker: &mut Worker<'_, M, C, R, S>, link: Channels<'_>| {
        let _guard = rounds.rendezvous.guard();
        let peers = Peers::new(shared, &link, worker.exchange.packed_size);
        let mut is_entered = is_entered;
        loop {
            if is_entered {
                worker.level(&peers)?;
                if worker.bounded {
                    return Ok(Next::End);
                }
            }
            is_entered = true;
            match worker.advance(&peers)? {
                None => return Ok(Next::End),
                Some(states) if pace.is_some_and(|pace| pace.is_small(worker.level, states)) => {
                    return Ok(Next::Other(states));
                }
                Some(_) => {}
            }
        }
    };
    let work = &work;
    std::thread::scope(|scope| {
        let (Some((first, others)), Some(link)) = (workers.split_first_mut(), links.next()) else {
            return Ok(Next::End);
        };
        let others: Vec<_> = others
            .iter_mut()
            .zip(links)
            .map(|(worker, link)| scope.spawn(move || work(worker, link)))
            .collect();
        let mut next = work(first, link);
        for other in others {
            // All come to the same, unless one of them panics.
            let ended = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            next = next.and(ended);
        }
        next
    })
}

/// Searches for all workers on this thread, up to a level that has been entered and is large enough for
/// threads, or to the end. Begins with the level that was entered, if one was, with so many states.
fn alone<M: Machine, C: Storage, R: Reduction, S: Store>(
    workers: &mut [Worker<'_, M, C, R, S>],
    shared: &Shared<'_>,
    pace: &mut Pace,
    mut entered: Option<u64>,
) -> Result<Next, Broken> {
    let queues: Queues = RefCell::new(vec![VecDeque::new(); workers.len()]);
    let links: Vec<Alone<'_>> =
        (0..workers.len()).map(|number| Alone { number, queues: &queues }).collect();
    let peers: Vec<Peers<'_>> = workers
        .iter()
        .zip(&links)
        .map(|(worker, link)| Peers::new(shared, link, worker.exchange.packed_size))
        .collect();
    loop {
        if let Some(states) = entered {
            let started = Instant::now();
            for (worker, peers) in workers.iter_mut().zip(&peers) {
                worker.level(peers)?;
            }
            // Those before it have sent more since then.
            for (worker, peers) in workers.iter_mut().zip(&peers) {
                worker.take_in(peers)?;
            }
            pace.note(states, started.elapsed());
            if workers.iter().any(|worker| worker.bounded) {
                return Ok(Next::End);
            }
        }
        let states: Vec<u64> = workers.iter_mut().map(Worker::close_level).collect();
        let round = |(worker, &states): (&Worker<'_, M, C, R, S>, _)| worker.round(shared, states);
        let all = Round::sum(workers.iter().zip(&states).map(round));
        entered = None;
        for ((worker, peers), states) in workers.iter_mut().zip(&peers).zip(states) {
            entered = worker.enter(peers, all, states)?;
        }
        let Some(states) = entered else { return Ok(Next::End) };
        if workers.first().is_some_and(|first| pace.is_large(first.level, states)) {
            return Ok(Next::Other(states));
        }
    }
}

/// How long states take.
struct Pace {
    levels: Levels,
    /// States that one thread has searched, and how long that took. Of each level before the last one,
    /// half as much counts as of the next.
    states: u64,
    time: Duration,
}

impl Pace {
    /// One thread has needed so long for a level. Of a level that seems to have taken many times what
    /// was expected, another program had the processor.
    fn note(&mut self, states: u64, time: Duration) {
        let most = match self.states {
            0 => time,
            _ => self.expected(states) * SURPRISE,
        };
        self.states = self.states / 2 + states;
        self.time = self.time / 2 + time.min(most);
    }

    /// How long one thread needs for so many states, about.
    fn expected(&self, states: u64) -> Duration {
        match self.states {
            0 => Duration::ZERO,
            known => self.time.mul_f64(states as f64 / known as f64),
        }
    }

    /// Whether a level is worth it to start threads.
    fn is_large(&self, level: u32, states: u64) -> bool {
        match self.levels {
            Levels::ByWork => self.expected(states) >= WORTH_THREADS,
            Levels::ByTurns => level % 4 >= 2,
        }
    }

    /// Whether a level is not worth it to go on with threads. All workers say the same.
    fn is_small(&self, level: u32, states: u64) -> bool {
        match self.levels {
            Levels::ByWork => self.expected(states) < WORTH_ONE,
            Levels::ByTurns => level % 4 < 2,
        }
    }
}

/// What was sent to each worker and is still to be taken in.
type Queues = RefCell<Vec<VecDeque<Vec<u8>>>>;

/// The connection of one of several workers that share a thread. There is nobody to wait for.
struct Alone<'a> {
    number: usize,
    queues: &'a Queues,
}

impl Link for Alone<'_> {
    fn try_send(&self, to: usize, message: Message) -> Result<(), Unsent> {
        match message {
            Message::Records(records) => self.queues.borrow_mut()[to].push_back(records),
            // Who searches for all knows.
            Message::End => {}
        }
        Ok(())
    }

    fn try_receive(&self) -> Result<Option<Vec<u8>>, Broken> {
        Ok(self.queues.borrow_mut()[self.number].pop_front())
    }

    fn wait(&self) -> Result<(), Broken> {
        Ok(())
    }

    fn rest_of_level(&self) -> Result<Option<Vec<u8>>, Broken> {
        self.try_receive()
    }

    fn meet(&self, _level: u32, _own: Round) -> Result<Round, Broken> {
        // A thread cannot wait for itself: who searches for all adds up what they report.
        Err(Broken)
    }

    fn gather(&self, _note: Vec<u8>) -> Result<Vec<Vec<u8>>, Broken> {
        Err(Broken)
    }

    fn share_stop(&self, _own: Option<u8>) -> Option<u8> {
        None
    }

    fn message_size(&self, record: usize) -> usize {
        crate::link::message_size(record)
    }
}
