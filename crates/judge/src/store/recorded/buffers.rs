//! A machine with store buffers that follows the recorded order.
//!
//! Loads, atomics and fences happen where they were recorded, stores go into the buffer of their
//! thread. A store leaves the buffer at its deadline ([`Schedule`]), or before that if it does no
//! harm: nobody has yet to read the value it replaces, and while its own value is needed nothing else
//! is due at its address. If a store is due while the value it would replace is still needed, it
//! should have gone before that value: the next pass takes that into account. O(n) a pass, and what comes out is
//! a run of a machine whose stores leave the buffer in the order that the model keeps.

use std::collections::VecDeque;

use history::{EventId, History, Operation, Value};

use super::schedule::{NEVER, Schedule};

/// Writes that wait for each other in longer chains than this may do so in circles.
const DEEPEST: usize = 32;

/// What came of a pass.
pub(super) enum Pass {
    /// All went well: the accesses in the order in which they took effect.
    Through(Vec<EventId>),
    /// Writes came too late, each with the write that it belongs before.
    Late(Vec<(u32, u32)>),
}

/// One pass.
pub(super) struct Buffers<'r> {
    history: &'r History,
    schedule: &'r Schedule,
    memory: Vec<Value>,
    /// The write that each address holds, or [`NEVER`].
    current: Vec<u32>,
    /// Reads to come, of each write and of each initial value.
    unread: Vec<u32>,
    unread_initial: Vec<u32>,
    committed: Vec<bool>,
    /// The store buffer of each thread: the stores of its oldest epoch and of those behind it.
    buffers: Vec<VecDeque<u32>>,
    /// How many stores of the oldest epoch are still to be committed.
    open: Vec<u32>,
    /// The place in the recorded order.
    now: u32,
    /// How many writes let others go first at the moment.
    depth: usize,
    /// The first write of each address, by deadline, that may not be committed.
    first_due: Vec<u32>,
    /// Stores that may leave the buffer but for what their address holds or is due there.
    waiting: Vec<Vec<u32>>,
    is_waiting: Vec<bool>,
    /// Stores to look at.
    candidates: Vec<u32>,
    /// Forwarded reads, by the store they wait for, if reads follow what they read.
    forwarded: Vec<(u32, EventId)>,
    order: Vec<EventId>,
    /// Writes that came too late, each with the write that it belongs before.
    late: Vec<(u32, u32)>,
}

impl<'r> Buffers<'r> {
    pub(super) fn new(history: &'r History, schedule: &'r Schedule) -> Self {
        let addresses = history.address_count();
        let initial = history.address_ids().map(|address| history.address(address).initial);
        Self {
            memory: initial.collect(),
            current: vec![NEVER; addresses],
            unread: schedule.readers.clone(),
            unread_initial: schedule.initial_readers.clone(),
            committed: vec![false; history.len()],
            buffers: vec![VecDeque::new(); history.thread_count()],
            open: vec![0; history.thread_count()],
            now: 0,
            depth: 0,
            first_due: vec![0; addresses],
            waiting: vec![Vec::new(); addresses],
            is_waiting: vec![false; history.len()],
            candidates: Vec::new(),
            forwarded: Vec::new(),
            order: Vec::with_capacity(history.len()),
            late: Vec::new(),
            history,
            schedule,
        }
    }

    /// Runs to the end. `None` if another pass would not help.
    pub(super) fn run(mut self) -> Option<Pass> {
        for at in 0..self.schedule.order.len() {
            let event = self.schedule.order[at];
            self.now = at as u32;
            let fence = self.schedule.fence[event.index()];
            if fence != NEVER {
                let thread = self.history.thread_of(event).index();
                self.drain(thread, |store| store < fence)?;
            }
            match self.history.event(event).operation {
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
            self.commit_what_does_no_harm()?;
        }
        self.now = self.schedule.order.len() as u32;
        (0..self.buffers.len()).try_for_each(|thread| self.drain(thread, |_| true))?;
        let memory = &self.memory;
        let ends = self.history.finals().iter().all(|f| memory[f.address.index()] == f.value);
        match (self.late.is_empty(), ends) {
            (true, true) => Some(Pass::Through(self.order)),
            (true, false) => None,
            (false, _) => Some(Pass::Late(self.late)),
        }
    }

    /// A store goes into the buffer.
    fn issue(&mut self, store: u32) {
        let thread = self.thread(store);
        let front = self.buffers[thread].front().copied().unwrap_or(store);
        let is_oldest = self.schedule.epoch[front as usize] == self.schedule.epoch[store as usize];
        self.open[thread] += u32::from(is_oldest);
        self.buffers[thread].push_back(store);
        self.candidates.push(store);
    }

    fn read(&mut self, event: EventId, address: usize, value: Value) -> Option<()> {
        let own = self.schedule.own[event.index()];
        let source = self.schedule.source[event.index()];
        if own != NEVER && own != source && !self.committed[own as usize] {
            self.commit_with_earlier(own)?;
        }
        if own != NEVER && own == source && !self.committed[own as usize] {
            self.unread[own as usize] -= 1;
            if self.unread[own as usize] == 0 {
                self.candidates.push(own);
            }
            match self.schedule.reads_follow {
                true => self.forwarded.push((own, event)),
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
            source if self.committed[source as usize] => Some(()),
            source => self.commit_with_earlier(source),
        }
    }

    /// A read takes its value from memory.
    fn take(&mut self, event: EventId, address: usize, value: Value) -> Option<()> {
        if self.memory[address] != value && self.late.is_empty() {
            return None;
        }
        let source = self.schedule.source[event.index()];
        let unread = match source {
            NEVER => &mut self.unread_initial[address],
            write => &mut self.unread[write as usize],
        };
        *unread -= 1;
        if *unread == 0 {
            self.look_again(address);
        }
        Some(())
    }

    /// Commits the stores of earlier epochs of its thread.
    fn drain_before(&mut self, write: u32) -> Option<()> {
        let epoch = self.schedule.epoch[write as usize];
        let thread = self.thread(write);
        let buffer = self.buffers[thread].iter().copied();
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
        let stores = self.buffers[thread].iter().copied().take_while(|&store| goes(store));
        for store in stores.collect::<Vec<u32>>() {
            if !self.committed[store as usize] {
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
        match self.committed[write as usize] {
            true => Some(()),
            false => self.commit(write),
        }
    }

    fn commit_earlier(&mut self, write: u32) -> Option<()> {
        self.drain_before(write)?;
        // Of the same epoch only those of the same address.
        let mut same = Vec::new();
        let mut own = self.schedule.own[write as usize];
        while own != NEVER && !self.committed[own as usize] {
            same.push(own);
            own = self.schedule.own[own as usize];
        }
        same.into_iter().rev().try_for_each(|own| self.commit(own))
    }

    /// A write reaches the memory, after those that earlier passes found to belong before it.
    fn commit(&mut self, write: u32) -> Option<()> {
        self.let_others_go_first(write)?;
        match self.committed[write as usize] {
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
            if !self.committed[other as usize] {
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
        let value = self.history.event(event).operation.value_written()?;
        self.memory[address] = value;
        self.current[address] = write;
        self.committed[write as usize] = true;
        self.order.push(event);
        if !self.forwarded.is_empty() {
            let order = &mut self.order;
            self.forwarded.retain(|&(store, read)| {
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
        let buffer = &mut self.buffers[thread];
        // An atomic was never in the buffer.
        if self.history.kinds_of(EventId::new(write as usize)).reads {
            return;
        }
        let oldest = buffer.front().is_some_and(|&front| epoch(front) == epoch(write));
        debug_assert!(oldest, "only stores of the oldest epoch are committed");
        self.open[thread] -= 1;
        if self.open[thread] > 0 {
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
            self.open[thread] += 1;
            self.candidates.push(store);
        }
    }

    /// Whether everybody has read what an address holds.
    fn is_free(&self, address: usize) -> bool {
        match self.current[address] {
            NEVER => self.unread_initial[address] == 0,
            current => self.unread[current as usize] == 0,
        }
    }

    /// A write is due while what its address holds is still needed.
    fn blame(&mut self, address: usize, write: u32) -> Option<()> {
        let current = self.current[address];
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
        self.late.push((write, current));
        Some(())
    }

    fn commit_what_does_no_harm(&mut self) -> Option<()> {
        while let Some(store) = self.candidates.pop() {
            if self.committed[store as usize] || !self.is_next(store) {
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
        let front = self.buffers[self.thread(store)].front();
        front.is_some_and(|&front| epoch(front) == epoch(store))
            && (own == NEVER || self.committed[own as usize])
    }

    fn does_no_harm(&mut self, store: u32) -> bool {
        let address = self.address(store);
        if !self.is_free(address) {
            return false;
        }
        if let Some(others) = self.schedule.waits_for.get(&store)
            && others.iter().any(|&other| !self.committed[other as usize])
        {
            return false;
        }
        if self.unread[store as usize] == 0 {
            return true;
        }
        let needed = self.schedule.last_read[store as usize];
        let due = &self.schedule.by_deadline[address];
        let mut first = self.first_due[address] as usize;
        while due.get(first).is_some_and(|&write| self.committed[write as usize]) {
            first += 1;
        }
        self.first_due[address] = first as u32;
        let open = |&&write: &&u32| write != store && !self.committed[write as usize];
        let next = due[first..].iter().find(open);
        next.is_none_or(|&write| self.schedule.deadline[write as usize] > needed)
    }
}
