//! Explaining what the recorded order does not explain, and finding violations that are certain.
//!
//! The open events are a history of their own, which begins with what memory holds after everything
//! that is closed. A witness of it, behind the witness of what is closed, is one of the whole: what is
//! closed comes before what is open, and every order that a model keeps between the two is kept. For
//! the same reason the first part of a witness can be closed and the rest stay open: it keeps writes
//! that are still in a store buffer from being closed too early. Causal models have no such
//! witnesses; of them only whole histories are judged.

use std::time::{Duration, Instant};

use evidence::{Verdict, Witness};
use history::{AddressId, EventId, History, Value};
use models::StoreRules;
use rustc_hash::{FxHashMap, FxHashSet};

use super::recent::{HistoryMaker, Item, Lines};
use super::{Finished, Loss, Session, Status, Violation};
use crate::store::recorded::{self, Recorded};
use crate::{Budget, Engine, Limits, Outcome, Reason, Undecided, judge, store};

/// What a question to the engines may take when nothing is said.
const DEFAULT_TIME: Duration = Duration::from_secs(20);

/// So many recent events are searched for a violation first.
const FIRST_SEARCHED: usize = 1 << 10;

/// A write that is recorded later than a read that sees it comes within so many events.
const SOON: usize = 1 << 12;

/// What came of trying to explain the open events.
enum Tried {
    /// They are explained, all or in part.
    Explained,
    /// All are explained but reads of values that nobody has written yet, and what is behind them.
    /// The first of them came so many events ago.
    Waiting(usize),
    /// A read has a value that nobody has written yet.
    Waits,
    /// They cannot follow what is closed.
    BlockedPairs,
    /// An engine gave up.
    GaveUp,
}

impl Session {
    /// An event that does not replay, or comes behind one that did not.
    #[cold]
    pub(super) fn unreplayed(&mut self, item: Item) -> Status {
        self.consistent = self.consistent();
        let item = self.recent.push(item);
        if self.unexplained.is_none() {
            if self.open.is_empty() {
                self.reopen(self.sizes.reopened, 1);
                (self.next_try, self.wait) = (self.open.len() + 1, self.sizes.first_wait);
            }
            self.open.push(item);
            if self.open.len() > self.sizes.open {
                self.lose(Loss::Memory);
            } else if self.open.len() >= self.next_try {
                self.look();
            }
        } else if self.recent.come() - self.searched >= self.sizes.searched as u64 {
            self.search(self.sizes.searched);
        }
        if self.recent.len() > self.sizes.recent {
            self.forget();
            self.replayed = self.replayed.min(self.recent.len().saturating_sub(self.open.len()));
        }
        self.status()
    }

    /// Tries now to explain what is open, or to find that it cannot be.
    pub fn ask(&mut self) -> Status {
        match self.status() {
            Status::Open(_) => self.look(),
            Status::Unexplained if self.searched < self.recent.come() => {
                self.search(self.sizes.searched);
            }
            Status::Explained | Status::Unexplained | Status::Violation => {}
        }
        self.status()
    }

    /// Opens events again that were replayed; `behind` events have come after them.
    fn reopen(&mut self, count: usize, behind: usize) {
        let count = count.min(self.replayed);
        let mut reopened: Vec<Item> =
            self.recent.last(count + behind).take(count).copied().collect();
        for item in reopened.iter().rev() {
            if let (Some(address), true) = (item.address(), item.writes()) {
                self.memory[address] = item.replaced;
            }
        }
        self.replayed -= count;
        reopened.append(&mut self.open);
        self.open = reopened;
    }

    /// Explains what is open, or finds a violation, or waits for more, or gives up.
    fn look(&mut self) {
        loop {
            if self.is_out_of_time() {
                return self.lose(Loss::Time);
            }
            let tried = self.explain(&[]);
            match tried {
                Tried::Explained => return,
                // What comes next will probably tell more than a search, which would look at what is
                // explained, too.
                Tried::Waiting(first)
                    if first < SOON || self.recent.come() - self.searched < first as u64 =>
                {
                    return;
                }
                _ => self.search(self.open.len().saturating_mul(16)),
            }
            if self.violation.is_some() {
                return;
            }
            if self.is_out_of_time() {
                continue;
            }
            match tried {
                Tried::Waiting(_) => return,
                Tried::BlockedPairs if self.replayed > 0 => {
                    self.reopen(self.open.len().saturating_mul(16), self.open.len());
                }
                // What was read may have been overwritten in a replay that was too early with it.
                Tried::Waits if self.may_reopen_for_reads() => {
                    self.reopen(self.open.len().saturating_mul(3), self.open.len());
                }
                Tried::BlockedPairs | Tried::GaveUp if self.wait >= self.sizes.wait / 8 => {
                    let loss = if matches!(tried, Tried::BlockedPairs) {
                        Loss::BlockedPairs
                    } else {
                        Loss::Time
                    };
                    self.search(self.sizes.searched);
                    return self.lose(loss);
                }
                _ => {
                    return self.wait_for_more();
                }
            }
        }
    }

    /// Whether what was replayed is opened again when a value that is read has not been written.
    fn may_reopen_for_reads(&self) -> bool {
        self.replayed > 0 && self.open.len() < 16 * self.sizes.reopened
    }

    /// From here on not everything is explained.
    pub(super) fn lose(&mut self, loss: Loss) {
        let line = self.open.first().map_or(0, |item| u64::from(item.line));
        self.consistent = self.consistent();
        self.unexplained = Some((loss, line));
        self.open = Vec::new();
    }

    fn budget(&self) -> Budget {
        let time = self.left.or(self.limits.time).or(Some(DEFAULT_TIME));
        Limits { time, ..self.limits }.budget(&self.stop)
    }

    /// Whether the time for all questions together is up.
    fn is_out_of_time(&self) -> bool {
        self.left.is_some_and(|left| left.is_zero())
    }

    /// Takes the time of a question from what is left for all.
    fn timed<T>(&mut self, question: impl FnOnce(&mut Self) -> T) -> T {
        let start = Instant::now();
        let answer = question(self);
        if let Some(left) = &mut self.left {
            *left = left.saturating_sub(start.elapsed());
        }
        answer
    }

    /// Explains the open events by themselves, if that can be done.
    fn explain(&mut self, finals: &[(AddressId, Value)]) -> Tried {
        self.timed(|session| session.explain_open(finals))
    }

    fn explain_open(&mut self, finals: &[(AddressId, Value)]) -> Tried {
        let Some(rules) = self.rules else { return Tried::BlockedPairs };
        let history =
            self.history(self.open.iter().copied(), finals, Lines::Places, &|at| self.memory[at]);
        let Some(history) = history else { return Tried::GaveUp };
        let unwritten = |event| history.kinds_of(event).reads && history.sources(event).is_empty();
        if history.event_ids().any(unwritten) {
            return match finals.is_empty() && !self.may_reopen_for_reads() {
                true => self.explain_all_but_waiting(&rules),
                false => Tried::Waits,
            };
        }
        match self.witness(&history, &rules) {
            Ok(Recorded { order, pending }) => {
                self.close(&history, &order, &pending, finals.is_empty());
                Tried::Explained
            }
            Err(tried) => tried,
        }
    }

    /// A witness of a history of open events, and the stores that may be in a buffer at its end.
    fn witness(&self, history: &History, rules: &StoreRules) -> Result<Recorded, Tried> {
        if let Some(recorded) = recorded::explain(history, rules) {
            return Ok(recorded);
        }
        match judge(history, self.model, Engine::Auto, &self.budget()).outcome {
            Outcome::Holds(Witness::Order(order)) => Ok(Recorded { order, pending: Vec::new() }),
            Outcome::Broken(_) => Err(Tried::BlockedPairs),
            Outcome::Holds(_) | Outcome::Undecided(_) => Err(Tried::GaveUp),
        }
    }

    /// Explains the open events without the reads of values that nobody has written yet, and without
    /// what stands behind these in their threads. A part of the witness can be closed all the same:
    /// what is left out comes behind it, in program order and because nothing in it reads what is
    /// left out.
    fn explain_all_but_waiting(&mut self, rules: &StoreRules) -> Tried {
        let (places, waiting) = self.places_before_waiting();
        if self.open.len() - waiting >= self.sizes.kept_open {
            // Nothing could be closed.
            self.wait_for_more();
            return Tried::Waiting(self.open.len() - waiting);
        }
        let items = places.iter().map(|&at| self.open[at]);
        let Some(history) = self.history(items, &[], Lines::Places, &|at| self.memory[at]) else {
            return Tried::GaveUp;
        };
        match self.witness(&history, rules) {
            Ok(Recorded { order, pending }) => {
                let came_before = self.open.len() - waiting;
                self.close_part(&history, &order, &pending, |at| places[at]);
                Tried::Waiting(came_before)
            }
            Err(tried) => tried,
        }
    }

    /// The places of the open events that neither read a value that nobody has written yet, nor
    /// stand behind such a read in their thread, nor read what is left out; and the first place that
    /// is left out.
    fn places_before_waiting(&self) -> (Vec<usize>, usize) {
        let mut writers: FxHashMap<(usize, Value), u32> = FxHashMap::default();
        for item in self.open.iter().filter(|item| item.writes()) {
            if let Some(address) = item.address() {
                *writers.entry((address, item.written)).or_default() += 1;
            }
        }
        let mut places: Vec<usize> = (0..self.open.len()).collect();
        let mut left_out = FxHashSet::default();
        loop {
            let before = places.len();
            left_out.clear();
            places.retain(|&at| {
                let item = &self.open[at];
                let Some(address) = item.address() else { return !left_out.contains(&item.thread) };
                let own = u32::from(item.writes() && item.written == item.read);
                let waits = item.reads()
                    && item.read != self.memory[address]
                    && writers.get(&(address, item.read)).copied().unwrap_or(0) <= own;
                let stays = !waits && !left_out.contains(&item.thread);
                if !stays {
                    left_out.insert(item.thread);
                    if let Some(count) = writers.get_mut(&(address, item.written))
                        && item.writes()
                    {
                        *count -= 1;
                    }
                }
                stays
            });
            if places.len() == before {
                let gap = (0..).zip(&places).find(|(at, place)| at != *place);
                let first = gap.map_or(places.len(), |(at, _)| at);
                return (places, first);
            }
        }
    }

    fn history(
        &self,
        items: impl Iterator<Item = Item>,
        finals: &[(AddressId, Value)],
        lines: Lines,
        initial: &dyn Fn(usize) -> Value,
    ) -> Option<History> {
        let label = |at: usize| self.addresses[at].label.clone();
        let (threads, addresses) = (&*self.threads, self.addresses.len());
        let maker = HistoryMaker { threads, addresses, label: &label, initial, lines };
        maker.history(items, finals).ok()
    }

    /// Closes what has its place in a witness of the open events: everything if enough of the last
    /// of them took effect as recorded, so that they could be replayed, or if nothing is to come;
    /// else what comes before the last of them, whose stores may still be in a buffer, except for
    /// the last pending stores of each thread, which may be in a buffer however old they are.
    fn close(&mut self, history: &History, order: &[EventId], pending: &[EventId], goes_on: bool) {
        self.consistent = self.recent.come();
        let place = |event: &EventId| history.line_of(*event) as usize - 1;
        let accesses = (0..self.open.len()).rev().filter(|&at| self.open[at].address().is_some());
        let tail = order.iter().rev().zip(accesses).take_while(|(event, at)| place(event) == *at);
        let tail = tail.count();
        if goes_on && !self.settles(tail, order.len()) {
            return self.close_part(history, order, pending, |at| at);
        }
        let (first, replayed) = order.split_at(order.len() - tail);
        self.perform(first.iter().map(place));
        let from = replayed.first().map_or(self.open.len(), place);
        for item in &mut self.open[from..] {
            if let (Some(address), true) = (item.address(), item.writes()) {
                item.replaced = std::mem::replace(&mut self.memory[address], item.written);
            }
        }
        self.replayed = self.recent.replayed(&self.open[from..]);
        self.open.clear();
    }

    /// Closes what comes in a witness before the last of the open events. The witness is of the open
    /// events at these places.
    fn close_part(
        &mut self,
        history: &History,
        order: &[EventId],
        pending: &[EventId],
        places: impl Fn(usize) -> usize,
    ) {
        let place = |event: &EventId| places(history.line_of(*event) as usize - 1);
        let late = self.open.len().saturating_sub(self.sizes.kept_open);
        let closed = order.iter().position(|event| place(event) >= late).unwrap_or(order.len());
        let mut is_closed = vec![false; self.open.len()];
        order[..closed].iter().for_each(|event| is_closed[place(event)] = true);
        for store in last_of_each_thread(history, pending, self.sizes.pending) {
            is_closed[place(store)] = false;
        }
        self.perform(order[..closed].iter().map(place).filter(|&at| is_closed[at]));
        let mut opened = FxHashSet::default();
        let mut at = 0;
        self.open.retain(|item| {
            let stays = match item.address() {
                Some(_) => !is_closed[at],
                // A fence orders what is behind it after what is open before it.
                None => opened.contains(&item.thread),
            };
            at += 1;
            if stays {
                opened.insert(item.thread);
            }
            stays
        });
        // What was replayed before the open events can be opened again as long as all of them are.
        if self.open.len() < at {
            self.replayed = 0;
        }
        self.wait_for_more();
    }

    /// Tries the open part again when it has grown.
    fn wait_for_more(&mut self) {
        self.next_try = self.open.len() + self.wait;
        self.wait = (self.wait * 2).min(self.sizes.wait);
    }

    /// Whether replaying can go on behind a witness of the open events, the last `tail` of whose
    /// `accesses` stand as they were recorded.
    fn settles(&self, tail: usize, accesses: usize) -> bool {
        if tail == accesses && self.recent.ends_with(&self.open) {
            return true;
        }
        match self.rules.is_some_and(|rules| store::has_buffers(&rules)) {
            true => tail >= self.sizes.kept_open,
            false => tail >= self.sizes.reopened.min(accesses / 4).max(1),
        }
    }

    /// Lets the writes among these open events reach memory, in this order.
    fn perform(&mut self, places: impl Iterator<Item = usize>) {
        for at in places {
            let item = &self.open[at];
            if let (Some(address), true) = (item.address(), item.writes()) {
                self.memory[address] = item.written;
            }
        }
    }

    /// Looks for a violation among the recent events, first a few, then up to `most`.
    fn search(&mut self, most: usize) {
        let most = most.max(FIRST_SEARCHED).min(self.sizes.searched);
        if self.recent.is_whole() {
            return self.search_last(self.recent.len());
        }
        // Of causal models only whole histories are judged.
        if self.rules.is_none() {
            return;
        }
        let mut count = FIRST_SEARCHED.min(most);
        loop {
            self.search_last(count);
            if self.violation.is_some() || count >= most.min(self.recent.len()) {
                return;
            }
            count = (count * 8).min(most);
        }
    }

    fn search_last(&mut self, count: usize) {
        if !self.is_out_of_time() {
            self.timed(|session| session.search_last_events(count));
        }
    }

    fn search_last_events(&mut self, count: usize) {
        self.searched = self.recent.come();
        let initial = |at: usize| self.addresses[at].initial;
        let items = self.recent.certain(count, self.addresses.len(), initial);
        let history = self.history(items.into_iter(), &[], Lines::Recorded, &initial);
        if let Some(history) = history
            && let Outcome::Broken(proof) =
                judge(&history, self.model, Engine::Auto, &self.budget()).outcome
        {
            let events = self.recent.come();
            self.violation = Some(Box::new(Violation { history, proof, events }));
        }
    }

    /// The end: there are no more events.
    pub fn finish(self) -> Finished {
        self.finish_with(&[])
    }

    /// The end, with what addresses hold then.
    pub fn finish_with(mut self, finals: &[(AddressId, Value)]) -> Finished {
        let verdict = self.last_word(finals);
        self.progress().finished(verdict)
    }

    fn last_word(
        &mut self,
        finals: &[(AddressId, Value)],
    ) -> Verdict<(), Box<Violation>, Undecided> {
        if let Some(violation) = self.violation.take() {
            return Verdict::Broken(violation);
        }
        let fits = |(address, value): &(AddressId, Value)| self.memory[address.index()] == *value;
        if self.unexplained.is_none() {
            if self.open.is_empty() && finals.iter().all(fits) {
                return Verdict::Holds(());
            }
            if self.open.is_empty() {
                self.reopen(self.sizes.reopened, 0);
            }
            if self.is_out_of_time() {
                self.lose(Loss::Time);
            } else if matches!(self.explain(finals), Tried::Explained) {
                return Verdict::Holds(());
            }
        }
        if self.recent.is_whole() && !self.is_out_of_time() {
            return self.timed(|session| session.whole(finals));
        }
        self.search(self.sizes.searched);
        match self.violation.take() {
            Some(violation) => Verdict::Broken(violation),
            None => Verdict::Undecided(self.undecided()),
        }
    }

    /// The verdict on a history of which nothing was forgotten.
    fn whole(&mut self, finals: &[(AddressId, Value)]) -> Verdict<(), Box<Violation>, Undecided> {
        let events = self.recent.come();
        let items = self.recent.last(self.recent.len()).copied();
        let initial = |at: usize| self.addresses[at].initial;
        let Some(history) = self.history(items, finals, Lines::Recorded, &initial) else {
            return Verdict::Undecided(self.undecided());
        };
        match judge(&history, self.model, Engine::Auto, &self.budget()).outcome {
            Outcome::Holds(_) => Verdict::Holds(()),
            Outcome::Broken(proof) => {
                Verdict::Broken(Box::new(Violation { history, proof, events }))
            }
            Outcome::Undecided(why) => Verdict::Undecided(why),
        }
    }

    fn undecided(&self) -> Undecided {
        let (loss, line) = self.unexplained.unwrap_or_else(|| {
            (Loss::BlockedPairs, self.open.first().map_or(0, |item| u64::from(item.line)))
        });
        let reason = match loss {
            Loss::Memory => Reason::Memory,
            Loss::Time => Reason::Time,
            Loss::BlockedPairs => Reason::Engine(
                "the recorded order is not a witness, and the events that would decide have been \
                 discarded; check the trace without --live"
                    .into(),
            ),
            Loss::Sizes => Reason::Engine(
                "accesses with sizes are not supported by --live; check the trace without --live"
                    .into(),
            ),
        };
        let established = match line {
            0 => String::new(),
            line => {
                format!("no violation is certain; everything before line {line} is explained")
            }
        };
        Undecided { reason, established }
    }
}

/// The last `most` of these events of each thread; they come thread by thread, in program order.
fn last_of_each_thread<'e>(
    history: &History,
    events: &'e [EventId],
    most: usize,
) -> impl Iterator<Item = &'e EventId> {
    let threads = events.chunk_by(|a, b| history.thread_of(*a) == history.thread_of(*b));
    threads.flat_map(move |of_one| &of_one[of_one.len().saturating_sub(most)..])
}
