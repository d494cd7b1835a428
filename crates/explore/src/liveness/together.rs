//! The same where every worker owns its states, in several processes or on disk: bits are with the
//! owner of a state, and workers ask each other.
//!
//! A worker goes through its states. For a state that misses a bit, the owner of each successor is
//! asked for the successor's bit. If that one is set, the owner answers; else it notes who waits for
//! it, and answers when it is set. So a state is expanded once, if there is memory for those who wait.
//! Whoever finds no room is not answered, and asks again in the next sweep. A sweep ends when nobody
//! has anything to send. Bits are a fixpoint if everybody who asked was noted, or if no bit was set in
//! the whole sweep.
//!
//! Where states are on disk, questions are collected, and answered many at a time in one pass over
//! the sorted states.

use std::collections::VecDeque;

use murphi::machine::{Check, Machine, Outcome};
use serde::{Deserialize, Serialize};

use super::bits::Bits;
use super::located::{Located, Order, Questions, StatePlace};
use super::waiting::Waiting;
use super::{Found, Question, finding_of, goal_image};
use crate::System;
use crate::finding::Kind;
use crate::hash;
use crate::link::{Channels, Link, Message, Rounds, gather, send};
use crate::reduction::Reduction;
use crate::rendezvous::Broken;
use crate::runner::{Rules, Runner};
use crate::storage::Storage;
use crate::store::StoreError;

/// States that are read at a time.
const CHUNK: usize = 64;
/// Bytes of a goal's number and of an origin.
const GOAL: usize = 4;
const ORIGIN: usize = 8;
/// Bits of the number of a bit in an origin; above are those of the worker.
const BIT: u32 = 48;
/// Bytes of questions that wait to be answered together, at least and at most.
const TOGETHER: (u64, u64) = (64 << 10, 1 << 30);
/// What follows in a message.
const ASK: u8 = 0;
const ANSWER: u8 = 1;

/// What a worker reports to the others between phases.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Vote {
    /// Whether it has something to send.
    busy: bool,
    /// Whether it has set a bit in this sweep, and whether it had no room for one who asked.
    changed: bool,
    dropped: bool,
    /// Whether a goal could not be evaluated.
    failed: bool,
    stop: bool,
}

/// What all workers say.
fn vote(link: &dyn Link, own: Vote) -> Result<Vote, Broken> {
    let all = gather(link, &own)?;
    Ok(all.into_iter().fold(Vote::default(), |sum, vote| Vote {
        busy: sum.busy | vote.busy,
        changed: sum.changed | vote.changed,
        dropped: sum.dropped | vote.dropped,
        failed: sum.failed | vote.failed,
        stop: sum.stop | vote.stop,
    }))
}

/// Which worker this is, and how it reaches the others.
#[derive(Clone, Copy)]
pub(crate) struct Seat<'a> {
    pub(crate) number: usize,
    pub(crate) link: &'a dyn Link,
}

/// Decides with one thread for each store; all of them are in this process.
pub(super) fn check_here<M, F, C, R>(
    system: &System<'_, F, C, R>,
    stores: Vec<Box<dyn Located + '_>>,
    question: &Question<'_>,
) -> Option<Found>
where
    M: Machine,
    F: Fn() -> M + Sync,
    C: Storage,
    R: Reduction,
{
    let rounds = &Rounds::new(stores.len());
    let links = Channels::between(stores.len(), rounds);
    let found = std::thread::scope(|scope| {
        let mut threads = Vec::with_capacity(stores.len());
        for (number, (located, link)) in stores.into_iter().zip(links).enumerate() {
            threads.push(scope.spawn(move || {
                let _guard = rounds.rendezvous.guard();
                check(system, located, Seat { number, link: &link }, question)
            }));
        }
        let join = |thread: std::thread::ScopedJoinHandle<'_, _>| match thread.join() {
            Ok(found) => found,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        threads.into_iter().map(join).collect::<Vec<_>>()
    });
    // A broken rendezvous is another worker's panic, which was passed on.
    found.into_iter().filter_map(Result::ok).flatten().min()
}

/// Takes part in the decision, as one of all workers. Says which of its own states is the first from
/// which a goal is out of reach, or in which one cannot be evaluated. What stops early is noted in
/// the watch.
pub(crate) fn check<M, F, C, R>(
    system: &System<'_, F, C, R>,
    mut located: Box<dyn Located + '_>,
    seat: Seat<'_>,
    question: &Question<'_>,
) -> Result<Option<Found>, Broken>
where
    M: Machine,
    F: Fn() -> M,
    C: Storage,
    R: Reduction,
{
    let prepared = located.prepare();
    let sweeper = prepared.and_then(|()| Sweeper::new(system, &*located, seat, question));
    if let Err(error) = &sweeper {
        question.watch.fail_for(error);
    }
    let stop = question.watch.stopped();
    let all = vote(seat.link, Vote { stop, ..Vote::default() })?;
    let Ok(mut sweeper) = sweeper else { return Ok(None) };
    let found = match all.stop {
        true => Ok(None),
        false => sweeper.decide(),
    };
    sweeper.free();
    found
}

/// One worker.
struct Sweeper<'w, 's, M, C: Storage, R: Reduction> {
    question: &'w Question<'w>,
    located: &'w dyn Located,
    link: &'w dyn Link,
    number: usize,
    runner: Runner<'s, M, C, R>,
    bits: Bits,
    waiting: Waiting,
    /// Questions that wait to be answered together, how many bytes of them, and what was counted.
    questions: Questions,
    together: usize,
    counted: u64,
    /// Messages that wait to be sent, for each worker.
    outgoing: Vec<VecDeque<Vec<u8>>>,
    message_size: usize,
    /// Bits that were set and whose waiters have not been notified.
    set: Vec<u64>,
    changed: bool,
    dropped: bool,
}

impl<'w, 's, M: Machine, C: Storage, R: Reduction> Sweeper<'w, 's, M, C, R> {
    fn new<F: Fn() -> M>(
        system: &System<'s, F, C, R>,
        located: &'w dyn Located,
        Seat { number, link }: Seat<'w>,
        question: &'w Question<'w>,
    ) -> Result<Self, StoreError> {
        let Question { goals, meter, watch, partition, threads, .. } = *question;
        let runner = Runner::obeying(system, watch.halt());
        let key = runner.packed_size() + 1;
        let record = key + GOAL + ORIGIN;
        let bits = Bits::new(located.end(), goals.len(), meter)?;
        let mut sweeper = Sweeper {
            question,
            located,
            link,
            number,
            runner,
            bits,
            waiting: Waiting::default(),
            questions: Questions { records: Vec::new(), record, key },
            together: 0,
            counted: 0,
            outgoing: vec![VecDeque::new(); partition.workers],
            message_size: link.message_size(key),
            set: Vec::new(),
            changed: false,
            dropped: false,
        };
        if located.at_hand().is_none() {
            let room = meter.left() / (4 * threads as u64);
            let bytes = room.clamp(TOGETHER.0, TOGETHER.1);
            // Beside the questions, their order.
            let counted = bytes + bytes / record as u64 * 4;
            if !meter.take(counted) {
                sweeper.free();
                return Err(StoreError::Memory);
            }
            (sweeper.together, sweeper.counted) = (bytes as usize, counted);
        }
        sweeper.waiting = Waiting::new(located.end() * goals.len() as u64, meter);
        Ok(sweeper)
    }

    /// Gives its memory back.
    fn free(self) {
        let meter = self.question.meter;
        meter.give(self.counted);
        self.waiting.free(meter);
        self.bits.free(meter);
    }

    /// Finds the bits of all states, and the first state that misses one.
    fn decide(&mut self) -> Result<Option<Found>, Broken> {
        let watch = self.question.watch;
        let failed = self.note_goals();
        let own = Vote { failed: failed.is_some(), stop: watch.stopped(), ..Vote::default() };
        let all = vote(self.link, own)?;
        if all.stop || all.failed {
            return Ok(failed.filter(|_| !all.stop));
        }
        let mut order = Order::Deepest;
        loop {
            (self.changed, self.dropped) = (false, false);
            self.waiting.clear();
            self.sweep(order)?;
            self.settle()?;
            let Sweeper { changed, dropped, .. } = *self;
            let own = Vote { changed, dropped, stop: watch.stopped(), ..Vote::default() };
            let all = vote(self.link, own)?;
            if all.stop {
                return Ok(None);
            }
            if !(all.changed && all.dropped) {
                break;
            }
            order = order.reversed();
        }
        let found = self.first_out_of_reach();
        // What was cut short anywhere means nothing.
        let all = vote(self.link, Vote { stop: watch.stopped(), ..Vote::default() })?;
        Ok(found.filter(|_| !all.stop))
    }

    /// Goes to a state. Says whether it counts.
    fn load(&mut self, packed: &[u8]) -> bool {
        self.runner.load(packed);
        !self.question.goals.has_assumptions() || self.runner.check() != Check::Excluded
    }

    /// Calls `visit` with all states, until the search is to stop.
    fn each(
        &mut self,
        order: Order,
        mut visit: impl FnMut(&mut Self, StatePlace, &[u8]) -> Result<(), Broken>,
        mut between: impl FnMut(&mut Self) -> Result<(), Broken>,
    ) -> Result<(), Broken> {
        let (located, watch, size) = (self.located, self.question.watch, self.runner.packed_size());
        let mut reader = located.read(order);
        let (mut states, mut places) = (Vec::new(), Vec::new());
        while !watch.stopped() {
            states.clear();
            places.clear();
            if let Err(error) = reader.next(CHUNK, &mut states, &mut places) {
                watch.fail(error);
            }
            if places.is_empty() {
                break;
            }
            for (&place, packed) in places.iter().zip(states.chunks_exact(size.max(1))) {
                visit(self, place, packed)?;
            }
            between(self)?;
        }
        Ok(())
    }

    /// Sets the bits of goals that hold. Says where the first one is that cannot be evaluated.
    fn note_goals(&mut self) -> Option<Found> {
        let mut reached = vec![false; self.question.goals.len()];
        let mut failed: Option<Found> = None;
        let mut note = |worker: &mut Self, place: StatePlace, packed: &[u8]| {
            if !worker.load(packed) {
                return Ok(());
            }
            let Sweeper { runner, bits, question, .. } = worker;
            match runner.machine.goals(&runner.state, &mut reached) {
                Ok(()) => {
                    let held = reached.iter().enumerate().filter(|(_, reached)| **reached);
                    held.for_each(|(goal, _)| bits.set_alone(bits.number(place.number, goal)));
                }
                Err(_) if question.watch.stopped() => {}
                Err(goal) => {
                    let kind = Kind::PropertyFailed;
                    let finding = finding_of(runner, question.goals, kind, packed, goal);
                    let found = Found { level: place.level, finding, goal };
                    if failed.as_ref().is_none_or(|failed| found < *failed) {
                        failed = Some(found);
                    }
                }
            }
            Ok(())
        };
        // Nothing is sent here, so nothing breaks.
        let _ = self.each(Order::First, &mut note, |_| Ok(()));
        failed
    }

    /// Goes through all states once, and asks for what the successors of those that miss a bit have.
    fn sweep(&mut self, order: Order) -> Result<(), Broken> {
        let ask = |worker: &mut Self, place: StatePlace, packed: &[u8]| {
            if !worker.bits.all(place.number) && worker.load(packed) {
                worker.ask_of(place.number);
            }
            Ok(())
        };
        self.each(order, ask, |worker| {
            worker.take_in()?;
            worker.send_full()
        })
    }

    /// Asks for the bits of the successors of the state that was loaded.
    fn ask_of(&mut self, at: u64) {
        let Sweeper { question, located, runner, bits, questions, number, .. } = self;
        let goals = question.goals;
        let (key, worker, watch) = (questions.key, *number, question.watch);
        let mut missing: Vec<usize> = bits.missing(at).collect();
        let tracks = goals.name_members();
        let mut record = vec![0; questions.record];
        let mut reached = Vec::new();
        // Whose answer is not known here at once.
        let mut asked: Vec<(usize, Vec<u8>)> = Vec::new();
        let mut known: Vec<(u64, u64)> = Vec::new();
        runner.run(Rules::Applying, |portion| {
            for firing in 0..portion.firings().len() {
                if missing.is_empty() || watch.stopped() {
                    return;
                }
                if portion.firings()[firing].outcome != Outcome::Done || !portion.changes(firing) {
                    continue;
                }
                let packed = &mut record[1..key];
                let renaming = match tracks {
                    true => portion.pack_tracked(firing, packed),
                    false => portion.pack(firing, packed).map(|()| None),
                };
                let renaming = match renaming {
                    Ok(renaming) => renaming,
                    Err(error) => return watch.fail(error),
                };
                let hash = hash::hash(&record[1..key], hash::PLACE);
                let owner = question.partition.owner(hash);
                record[0] = question.partition.shard(hash) as u8;
                let at_hand = located.at_hand().filter(|_| owner == worker);
                let target = at_hand.map(|states| states.number(&record[1..key], hash));
                missing.retain(|&goal| {
                    let image = goal_image(goals, renaming.as_ref(), goal);
                    let own = bits.number(at, goal);
                    match target {
                        Some(Some(target)) if bits.is_set(bits.number(target, image)) => {
                            reached.push(own);
                            return false;
                        }
                        Some(Some(target)) => known.push((bits.number(target, image), own)),
                        // A state that was never reached, if the machine does not do the same twice.
                        Some(None) => {}
                        None => {
                            record[key..key + GOAL].copy_from_slice(&(image as u32).to_le_bytes());
                            let origin = (worker as u64) << BIT | own;
                            record[key + GOAL..].copy_from_slice(&origin.to_le_bytes());
                            asked.push((owner, record.clone()));
                        }
                    }
                    true
                });
            }
        });
        for bit in reached {
            self.set(bit);
        }
        for (bit, own) in known {
            // It may have been set meanwhile, by one of those above.
            match (self.bits.is_set(own), self.bits.is_set(bit)) {
                (true, _) => {}
                (false, true) => self.set(own),
                (false, false) => self.wait_for(bit, (worker as u64) << BIT | own),
            }
        }
        for (owner, record) in asked {
            let own = origin_of(&record) & ((1 << BIT) - 1);
            if self.bits.is_set(own) {
                continue;
            }
            match owner == worker {
                true => self.hear_question(&record),
                false => self.post(owner, ASK, &record),
            }
        }
    }

    /// Puts something into a message to another worker.
    fn post(&mut self, to: usize, kind: u8, record: &[u8]) {
        let queue = &mut self.outgoing[to];
        let is_full = |message: &Vec<u8>| message.len() + record.len() >= self.message_size;
        if queue.back().is_none_or(is_full) {
            queue.push_back(Vec::new());
        }
        if let Some(message) = queue.back_mut() {
            message.push(kind);
            message.extend_from_slice(record);
        }
    }

    /// Hears a question about a state of this worker.
    fn hear_question(&mut self, record: &[u8]) {
        let key = self.questions.key;
        match self.located.at_hand() {
            Some(states) => {
                let packed = &record[1..key];
                if let Some(state) = states.number(packed, hash::hash(packed, hash::PLACE)) {
                    self.answer(record, state);
                }
            }
            None => {
                self.questions.records.extend_from_slice(record);
                if self.questions.records.len() + record.len() > self.together {
                    self.answer_all();
                }
            }
        }
    }

    /// Answers the questions that wait.
    fn answer_all(&mut self) {
        if self.questions.records.is_empty() {
            return;
        }
        let questions = Questions { records: Vec::new(), ..self.questions };
        let mut questions = std::mem::replace(&mut self.questions, questions);
        if !self.question.watch.stopped() {
            let located = self.located;
            let found = located.find(&questions, &mut |record, state| self.answer(record, state));
            if let Err(error) = found {
                self.question.watch.fail(error);
            }
        }
        questions.records.clear();
        self.questions = questions;
    }

    /// Answers a question about a state, now or when its bit is set.
    fn answer(&mut self, record: &[u8], state: u64) {
        let key = self.questions.key;
        let goal = record[key..].first_chunk().map_or(0, |&four| u32::from_le_bytes(four));
        let bit = self.bits.number(state, goal as usize);
        let origin = origin_of(record);
        match self.bits.is_set(bit) {
            true => self.tell(origin),
            false => self.wait_for(bit, origin),
        }
    }

    fn wait_for(&mut self, bit: u64, origin: u64) {
        self.dropped |= !self.waiting.add(bit, origin, self.question.meter);
    }

    /// Tells a bit that it can be set.
    fn tell(&mut self, origin: u64) {
        let (worker, bit) = ((origin >> BIT) as usize, origin & ((1 << BIT) - 1));
        match worker == self.number {
            true => self.set(bit),
            false => self.post(worker, ANSWER, &bit.to_le_bytes()),
        }
    }

    /// Sets a bit of this worker, and all that wait for it.
    fn set(&mut self, bit: u64) {
        if self.bits.is_set(bit) {
            return;
        }
        self.bits.set_alone(bit);
        self.changed = true;
        self.set.push(bit);
        while let Some(bit) = self.set.pop() {
            let (mut others, number) = (Vec::new(), self.number);
            let Sweeper { waiting, bits, set, .. } = self;
            waiting.take(bit, |origin| {
                let (worker, waiter) = ((origin >> BIT) as usize, origin & ((1 << BIT) - 1));
                if worker != number {
                    others.push((worker, waiter));
                } else if !bits.is_set(waiter) {
                    bits.set_alone(waiter);
                    set.push(waiter);
                }
            });
            for (worker, waiter) in others {
                self.post(worker, ANSWER, &waiter.to_le_bytes());
            }
        }
    }

    /// Takes in what has arrived. Says whether anything had.
    fn take_in(&mut self) -> Result<bool, Broken> {
        let mut any = false;
        while let Some(message) = self.link.try_receive()? {
            any = true;
            self.hear(&message);
        }
        let watch = self.question.watch;
        watch.hear(self.link.share_stop(watch.stop_code()));
        Ok(any)
    }

    /// Hears a message.
    fn hear(&mut self, message: &[u8]) {
        let (mut at, record) = (0, self.questions.record);
        while let Some(&kind) = message.get(at) {
            let length = if kind == ASK { record } else { ORIGIN };
            let content = &message[at + 1..at + 1 + length];
            match kind {
                ASK => self.hear_question(content),
                _ => self.set(content.first_chunk().map_or(0, |&bit| u64::from_le_bytes(bit))),
            }
            at += 1 + length;
        }
    }

    /// Sends messages that are full.
    fn send_full(&mut self) -> Result<(), Broken> {
        self.send_while(|queue| queue.len() > 1)
    }

    fn send_while(&mut self, more: impl Fn(&VecDeque<Vec<u8>>) -> bool) -> Result<(), Broken> {
        for to in 0..self.outgoing.len() {
            while more(&self.outgoing[to])
                && let Some(message) = self.outgoing[to].pop_front()
            {
                let link = self.link;
                send(link, to, Message::Records(message), || self.take_in())?;
            }
        }
        Ok(())
    }

    /// After the last question: sends and hears until nobody has anything to send.
    fn settle(&mut self) -> Result<(), Broken> {
        loop {
            self.answer_all();
            if self.question.watch.stopped() {
                self.outgoing.iter_mut().for_each(VecDeque::clear);
            }
            self.send_while(|queue| !queue.is_empty())?;
            let (link, number) = (self.link, self.number);
            for to in (0..self.outgoing.len()).filter(|&to| to != number) {
                send(link, to, Message::End, || self.take_in())?;
            }
            while let Some(message) = self.link.rest_of_level()? {
                self.hear(&message);
            }
            self.answer_all();
            let is_stopped = self.question.watch.stopped();
            let busy = !is_stopped && self.outgoing.iter().any(|queue| !queue.is_empty());
            if !vote(self.link, Vote { busy, ..Vote::default() })?.busy {
                return Ok(());
            }
        }
    }

    /// The first state of the least level from which a goal is out of reach.
    fn first_out_of_reach(&mut self) -> Option<Found> {
        let mut best: Option<Found> = None;
        let look = |worker: &mut Self, place: StatePlace, packed: &[u8]| {
            let StatePlace { number, level } = place;
            let Some(goal) = worker.bits.missing(number).next() else { return Ok(()) };
            if best.as_ref().is_some_and(|best| best.level < level) || !worker.load(packed) {
                return Ok(());
            }
            let goals = worker.question.goals;
            let finding = finding_of(&worker.runner, goals, Kind::OutOfReach, packed, goal);
            let found = Found { level, finding, goal };
            if best.as_ref().is_none_or(|best| found < *best) {
                best = Some(found);
            }
            Ok(())
        };
        // Nothing is sent here, so nothing breaks.
        let _ = self.each(Order::First, look, |_| Ok(()));
        best
    }
}

/// Who asks a question.
fn origin_of(record: &[u8]) -> u64 {
    record.last_chunk().map_or(0, |&eight| u64::from_le_bytes(eight))
}
