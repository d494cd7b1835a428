//! A machine with store buffers that follows the recorded order.
//!
//! Loads, atomics and fences happen where they were recorded, stores go into the buffer of their
//! thread. A store leaves the buffer at its deadline ([`Schedule`]), or before that if it does no
//! harm: nobody has yet to read the value it replaces, and while its own value is needed nothing else
//! is due at its address. If a store is due while the value it would replace is still needed, it
//! should have gone before that value: the machine goes back to a checkpoint before that value was
//! written, and takes it into account. What comes out is a run of a machine whose stores leave the
//! buffer in the order that the model keeps. O(n) and a few thousand events for each time of going
//! back; it ends when that adds up to as much as a number of passes over the trace.

use std::collections::VecDeque;

use history::{EventId, History, Operation, Value};

use super::checkpoints::Checkpoints;
use super::schedule::{NEVER, Schedule};

/// Writes that wait for each other in longer chains than this may do so in circles.
const DEEPEST: usize = 32;

/// How many times as many events as there are may be run.
const PASSES: usize = 12;

/// A run of the machine under way.
pub(super) struct Buffers<'r> {
    history: &'r History,
    schedule: &'r mut Schedule,
    /// What changes all the time and is small.
    state: State,
    /// Reads to come of each write.
    unread: Vec<u32>,
    /// When each write reached the memory, as a place in the recorded order, or [`NEVER`].
    committed_at: Vec<u32>,
    /// The place in the recorded order.
    now: u32,
    /// Whether the event at that place has read.
    has_read: bool,
    /// How many writes let others go first at the moment.
    depth: usize,
    /// Stores that may leave the buffer but for what their address holds or is due there.
    waiting: Vec<Vec<u32>>,
    is_waiting: Vec<bool>,
    /// Stores to look at.
    candidates: Vec<u32>,
    order: Vec<EventId>,
    /// A write that came too late, and the one that it belongs before.
    late: Option<(u32, u32)>,
    checkpoints: Checkpoints,
}

/// What addresses hold and what is in buffers.
#[derive(Clone)]
pub(super) struct State {
    memory: Vec<Value>,
    /// The write that each address holds, or [`NEVER`].
    current: Vec<u32>,
    /// Reads to come of each initial value.
    unread_initial: Vec<u32>,
    /// The store buffer of each thread: the stores of its oldest epoch and of those behind it.
    buffers: Vec<VecDeque<u32>>,
    /// How many stores of the oldest epoch are still to be committed.
    open: Vec<u32>,
    /// The first write of each address, by deadline, that may not be committed.
    pub(super) first_due: Vec<u32>,
    /// Forwarded reads, by the store they wait for, if reads follow what they read.
    forwarded: Vec<(u32, EventId)>,
}

impl<'r> Buffers<'r> {
    pub(super) fn new(history: &'r History, schedule: &'r mut Schedule) -> Self {
        let (addresses, threads) = (history.address_count(), history.thread_count());
        let initial = history.address_ids().map(|address| history.address(address).initial);
        let state = State {
            memory: initial.collect(),
            current: vec![NEVER; addresses],
            unread_initial: schedule.initial_readers.clone(),
            buffers: vec![VecDeque::new(); threads],
            open: vec![0; threads],
            first_due: vec![0; addresses],
            forwarded: Vec::new(),
        };
        Self {
            state,
            unread: schedule.readers.clone(),
            committed_at: vec![NEVER; history.len()],
            now: 0,
            has_read: false,
            depth: 0,
            waiting: vec![Vec::new(); addresses],
            is_waiting: vec![false; history.len()],
            candidates: Vec::new(),
            order: Vec::with_capacity(history.len()),
            late: None,
            checkpoints: Checkpoints::new(addresses + threads),
            history,
            schedule,
        }
    }

    /// Runs to the end, if it is reached: the accesses in the order in which they took effect.
    pub(super) fn run(mut self) -> Option<Vec<EventId>> {
        let end = self.schedule.order.len() as u32;
        let going_back = self.checkpoints.size();
        let mut left = PASSES * (self.schedule.order.len() + going_back);
        loop {
            let done = match self.now < end {
                true => self.step(),
                false => self.finish(),
            };
            match done {
                Some(()) if self.now < end => self.now += 1,
                Some(()) => return Some(self.order),
                None => {
                    self.go_back()?;
                    left = left.checked_sub(going_back)?;
                }
            }
            left = left.checked_sub(1)?;
        }
    }

    /// The next event happens.
    fn step(&mut self) -> Option<()> {
        if self.checkpoints.is_due(self.now) {
            self.checkpoints.add(self.now, self.order.len(), &self.state);
        }
        self.has_read = false;
        let event = self.schedule.order[self.now as usize];
        let fence = self.schedule.fence[event.index()];
        if fence != NEVER {
            let thread = self.history.thread_of(event).index();
            self.drain(thread, |store| store < fence)?;
        }
        match self.history.operation_of(event) {
            Operation::Read { address, value } => {
                self.read(event, address.index(), value)?;
            }
            Operation::Write { .. } => self.issue(event.index() as u32),
            Operation::ReadModifyWrite { address, read, .. } => {
                let atomic = event.index() as u32;
                self.commit_earlier(atomic)?;
                self.commit_source(event)?;
                self.let_others_go_first(atomic)?;
                self.take(event, address.index(), read)?;
                self.commit_now(atomic)?;
            }
            Operation::Fence { .. } => {}
        }
        self.commit_what_does_no_harm()
    }

    /// What is left in the buffers reaches the memory.
    fn finish(&mut self) -> Option<()> {
        self.has_read = false;
        (0..self.state.buffers.len()).try_for_each(|thread| self.drain(thread, |_| true))?;
        let memory = &self.state.memory;
        let ends = self.history.finals().iter().all(|f| memory[f.address.index()] == f.value);
        ends.then_some(())
    }

    /// Goes back to before a write that another one belongs before. `None` if the run got stuck for
    /// another reason.
    fn go_back(&mut self) -> Option<()> {
        let (first, second) = self.late.take()?;
        let moved = self.schedule.learn(self.history, first, second);
        self.checkpoints.look_again(&moved);
        let (at, length, state) = self.checkpoints.before(self.committed_at[second as usize])?;
        let has_read = self.now + u32::from(self.has_read);
        for &event in &self.schedule.order[at as usize..has_read as usize] {
            if self.history.kinds_of(event).reads
                && let Some(unread) =
                    self.unread.get_mut(self.schedule.source[event.index()] as usize)
            {
                *unread += 1;
            }
        }
        for event in self.order.drain(length..) {
            self.committed_at[event.index()] = NEVER;
        }
        for waiting in &mut self.waiting {
            waiting.drain(..).for_each(|store| self.is_waiting[store as usize] = false);
        }
        self.state.clone_from(state);
        self.candidates.clear();
        self.candidates.extend(self.state.buffers.iter().flatten());
        (self.now, self.depth) = (at, 0);
        Some(())
    }

    fn is_committed(&self, write: u32) -> bool {
        self.committed_at[write as usize] != NEVER
    }

    /// A store goes into the buffer.
    fn issue(&mut self, store: u32) {
        let thread = self.thread(store);
        let front = self.state.buffers[thread].front().copied().unwrap_or(store);
        let is_oldest = self.schedule.epoch[front as usize] == self.schedule.epoch[store as usize];
        self.state.open[thread] += u32::from(is_oldest);
        self.state.buffers[thread].push_back(store);
        self.candidates.push(store);
    }

    fn read(&mut self, event: EventId, address: usize, value: Value) -> Option<()> {
        let own = self.schedule.own[event.index()];
        let source = self.schedule.source[event.index()];
        if own != NEVER && own != source && !self.is_committed(own) {
            self.commit_with_earlier(own)?;
        }
        if own != NEVER && own == source && !self.is_committed(own) {
            self.has_read = true;
            self.unread[own as usize] -= 1;
            if self.unread[own as usize] == 0 {
                self.candidates.push(own);
            }
            match self.schedule.reads_follow {
                true => self.state.forwarded.push((own, event)),
                false => self.order.push(event),
            }
            return Some(());
        }
        self.commit_source(event)?;
        self.take(event, address, value)?;
        self.order.push(event);
        Some(())
    }

    /// What an event reads from memory has to be there.
    fn commit_source(&mut self, event: EventId) -> Option<()> {
        match self.schedule.source[event.index()] {
            NEVER => Some(()),
            source if self.is_committed(source) => Some(()),
            source => self.commit_with_earlier(source),
        }
    }

    /// A read takes its value from memory.
    fn take(&mut self, event: EventId, address: usize, value: Value) -> Option<()> {
        if self.state.memory[address] != value {
            return None;
        }
        let source = self.schedule.source[event.index()];
        let unread = match source {
            NEVER => &mut self.state.unread_initial[address],
            write => &mut self.unread[write as usize],
        };
        *unread -= 1;
        self.has_read = true;
        if *unread == 0 {
            self.look_again(address);
        }
        Some(())
    }

    /// Commits the stores of earlier epochs of its thread.
    fn drain_before(&mut self, write: u32) -> Option<()> {
        let epoch = self.schedule.epoch[write as usize];
        let thread = self.thread(write);
        let buffer = self.state.buffers[thread].iter().copied();
        let earlier = buffer.take_while(|&store| self.schedule.epoch[store as usize] < epoch);
        let end = earlier.last();
        self.drain(thread, |store| end.is_some_and(|end| store <= end))
    }

    /// The stores that wait for an address may be able to go.
    fn look_again(&mut self, address: usize) {
        for &store in &self.waiting[address] {
            self.is_waiting[store as usize] = false;
        }
        self.candidates.append(&mut self.waiting[address]);
    }

    /// Commits the stores at the front of a buffer for which this holds.
    fn drain(&mut self, thread: usize, goes: impl Fn(u32) -> bool) -> Option<()> {
        let stores = self.state.buffers[thread].iter().copied().take_while(|&store| goes(store));
        for store in stores.collect::<Vec<u32>>() {
            if !self.is_committed(store) {
                self.commit(store)?;
            }
        }
        Some(())
    }

    fn thread(&self, write: u32) -> usize {
        self.history.thread_of(EventId::new(write as usize)).index()
    }

    fn address(&self, write: u32) -> usize {
        let address = self.history.address_of(EventId::new(write as usize));
        address.map_or(0, |address| address.index())
    }

    /// Commits what must not be overtaken by a write, then the write.
    fn commit_with_earlier(&mut self, write: u32) -> Option<()> {
        self.commit_earlier(write)?;
        match self.is_committed(write) {
            true => Some(()),
            false => self.commit(write),
        }
    }

    fn commit_earlier(&mut self, write: u32) -> Option<()> {
        self.drain_before(write)?;
        // Of the same epoch only those of the same address.
        let mut same = Vec::new();
        let mut own = self.schedule.own[write as usize];
        while own != NEVER && !self.is_committed(own) {
            same.push(own);
            own = self.schedule.own[own as usize];
        }
        same.into_iter().rev().try_for_each(|own| self.commit(own))
    }

    /// A write reaches the memory, after those that earlier passes found to belong before it.
    fn commit(&mut self, write: u32) -> Option<()> {
        self.let_others_go_first(write)?;
        match self.is_committed(write) {
            true => Some(()),
            false => self.commit_now(write),
        }
    }

    fn let_others_go_first(&mut self, write: u32) -> Option<()> {
        let Some(others) = self.schedule.waits_for.get(&write).cloned() else { return Some(()) };
        if self.depth == DEEPEST {
            return None;
        }
        self.depth += 1;
        for other in others {
            if !self.is_committed(other) {
                self.go_first(other, write)?;
            }
        }
        self.depth -= 1;
        Some(())
    }

    fn commit_now(&mut self, write: u32) -> Option<()> {
        let address = self.address(write);
        if !self.is_free(address) {
            self.blame(address, write)?;
        }
        let event = EventId::new(write as usize);
        let value = self.history.operation_of(event).value_written()?;
        self.state.memory[address] = value;
        self.state.current[address] = write;
        self.committed_at[write as usize] = self.now;
        self.order.push(event);
        if !self.state.forwarded.is_empty() {
            let order = &mut self.order;
            self.state.forwarded.retain(|&(store, read)| {
                if store == write {
                    order.push(read);
                }
                store != write
            });
        }
        self.look_again(address);
        self.advance(write);
        Some(())
    }

    /// A write that earlier passes found to belong before another one goes first.
    fn go_first(&mut self, other: u32, write: u32) -> Option<()> {
        let is_issued = self.schedule.position[other as usize] <= self.now;
        if !is_issued || self.thread(other) == self.thread(write) {
            return None;
        }
        self.commit_with_earlier(other)
    }

    /// Takes a write from its buffer, and offers the stores that waited only for it.
    fn advance(&mut self, write: u32) {
        let thread = self.thread(write);
        let epoch = |store: u32| self.schedule.epoch[store as usize];
        let buffer = &mut self.state.buffers[thread];
        // An atomic was never in the buffer.
        if self.history.kinds_of(EventId::new(write as usize)).reads {
            return;
        }
        let oldest = buffer.front().is_some_and(|&front| epoch(front) == epoch(write));
        debug_assert!(oldest, "only stores of the oldest epoch are committed");
        self.state.open[thread] -= 1;
        if self.state.open[thread] > 0 {
            let next = self.schedule.next_own[write as usize];
            if next != NEVER && self.schedule.position[next as usize] <= self.now {
                self.candidates.push(next);
            }
            return;
        }
        while buffer.front().is_some_and(|&store| epoch(store) == epoch(write)) {
            buffer.pop_front();
        }
        let Some(&front) = buffer.front() else { return };
        for &store in buffer.iter().take_while(|&&store| epoch(store) == epoch(front)) {
            self.state.open[thread] += 1;
            self.candidates.push(store);
        }
    }

    /// Whether everybody has read what an address holds.
    fn is_free(&self, address: usize) -> bool {
        match self.state.current[address] {
            NEVER => self.state.unread_initial[address] == 0,
            current => self.unread[current as usize] == 0,
        }
    }

    /// A write is due while what its address holds is still needed.
    fn blame(&mut self, address: usize, write: u32) -> Option<()> {
        let current = self.state.current[address];
        if current == NEVER || self.thread(current) == self.thread(write) {
            return None;
        }
        // It belongs before that one, if it was there by then.
        let deadline = self.schedule.deadline[current as usize];
        if self.schedule.position[write as usize] >= deadline {
            return None;
        }
        let known = self.schedule.waits_for.get(&current);
        if known.is_some_and(|known| known.contains(&write)) {
            return None;
        }
        self.late = Some((write, current));
        None
    }

    fn commit_what_does_no_harm(&mut self) -> Option<()> {
        while let Some(store) = self.candidates.pop() {
            if self.is_committed(store) || !self.is_next(store) {
                continue;
            }
            match self.does_no_harm(store) {
                true => self.commit(store)?,
                false if self.is_waiting[store as usize] => {}
                false => {
                    self.is_waiting[store as usize] = true;
                    let address = self.address(store);
                    self.waiting[address].push(store);
                }
            }
        }
        Some(())
    }

    /// Whether a buffered store would overtake nothing that must go before it.
    fn is_next(&self, store: u32) -> bool {
        let own = self.schedule.own[store as usize];
        let epoch = |store: u32| self.schedule.epoch[store as usize];
        let front = self.state.buffers[self.thread(store)].front();
        front.is_some_and(|&front| epoch(front) == epoch(store))
            && (own == NEVER || self.is_committed(own))
    }

    fn does_no_harm(&mut self, store: u32) -> bool {
        let address = self.address(store);
        if !self.is_free(address) {
            return false;
        }
        if let Some(others) = self.schedule.waits_for.get(&store)
            && others.iter().any(|&other| !self.is_committed(other))
        {
            return false;
        }
        if self.unread[store as usize] == 0 {
            return true;
        }
        let needed = self.schedule.last_read[store as usize];
        let due = &self.schedule.by_deadline[address];
        let mut first = self.state.first_due[address] as usize;
        while due.get(first).is_some_and(|&write| self.is_committed(write)) {
            first += 1;
        }
        self.state.first_due[address] = first as u32;
        let open = |&&write: &&u32| write != store && !self.is_committed(write);
        let next = due[first..].iter().find(open);
        next.is_none_or(|&write| self.schedule.deadline[write as usize] > needed)
    }
}
