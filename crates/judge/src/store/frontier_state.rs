//! The states that `frontiers.rs` searches: the machine of sc or tso with what each
//! thread has done, what it has issued, and what memory holds.
//!
//! A state is changed in place and taken back. Its key is a sum of random-looking numbers, one for
//! each part, so that a change of one part costs one addition.

use history::{EventId, History};

use super::frontiers::{Step, Steps, scramble};

const NONE: u32 = u32::MAX;

/// The steps of a history, with what the machine asks of them again and again.
pub(super) struct Machine {
    steps: Vec<(Step, EventId)>,
    starts: Vec<u32>,
    address: Vec<u32>,
    initial: Vec<u32>,
    last: Vec<Option<u32>>,
    /// For each step the last earlier write of its thread to its address.
    own: Vec<u32>,
    /// For each step the next write of its thread behind it, or the end of the thread.
    next_write: Vec<u32>,
    /// How often each class is written.
    writes: Vec<u32>,
    lines: Vec<u32>,
    buffered: bool,
}

impl Machine {
    pub(super) fn new(history: &History, buffered: bool) -> Self {
        let Steps { steps, starts, address, initial, last } = Steps::new(history, buffered);
        let mut own = vec![NONE; steps.len()];
        let mut next_write = vec![0; steps.len()];
        let mut writes = vec![0; address.len()];
        let mut latest = vec![(NONE, NONE); initial.len()];
        for thread in 0..starts.len() - 1 {
            for at in starts[thread] as usize..starts[thread + 1] as usize {
                let Some(class) = class(steps[at].0) else { continue };
                let latest = &mut latest[address[class as usize] as usize];
                if latest.0 == thread as u32 {
                    own[at] = latest.1;
                }
                if let Some(written) = written(steps[at].0) {
                    *latest = (thread as u32, at as u32);
                    writes[written as usize] += 1;
                }
            }
            let mut next = starts[thread + 1];
            for at in (starts[thread] as usize..starts[thread + 1] as usize).rev() {
                next_write[at] = next;
                if matches!(steps[at].0, Step::Write { .. }) {
                    next = at as u32;
                }
            }
        }
        let mut lines = vec![0; history.len()];
        for (at, event) in (0..).zip(history.recorded_order()) {
            lines[event.index()] = at;
        }
        Self { steps, starts, address, initial, last, own, next_write, writes, lines, buffered }
    }

    /// About what it takes.
    pub(super) fn bytes(&self) -> usize {
        self.steps.len() * (size_of::<(Step, EventId)>() + 3 * size_of::<u32>())
    }

    pub(super) fn threads(&self) -> usize {
        self.starts.len() - 1
    }

    /// When a step was recorded.
    pub(super) fn line(&self, step: usize) -> u32 {
        self.lines[self.steps[step].1.index()]
    }

    /// The class that a step writes.
    pub(super) fn written(&self, step: usize) -> u32 {
        written(self.steps[step].0).unwrap_or(NONE)
    }

    fn address_of(&self, class: u32) -> usize {
        self.address[class as usize] as usize
    }
}

/// The class of an access, by which its address is known.
fn class(step: Step) -> Option<u32> {
    match step {
        Step::Read { class } | Step::Write { class } => Some(class),
        Step::Atomic { read, .. } => Some(read),
        Step::Fence => None,
    }
}

fn written(step: Step) -> Option<u32> {
    match step {
        Step::Write { class } | Step::Atomic { written: class, .. } => Some(class),
        Step::Read { .. } | Step::Fence => None,
    }
}

/// Where the threads are and what memory holds.
#[derive(Clone)]
pub(super) struct State {
    /// The next step of each thread.
    next: Vec<u32>,
    /// The first of its writes that memory has not seen; its next step if there is none.
    pending: Vec<u32>,
    memory: Vec<u32>,
    /// How many writes of each class memory has not seen.
    to_come: Vec<u32>,
    /// How many steps, and how many writes to memory, are left.
    left: usize,
    key: u128,
}

/// What a write changed.
pub(super) struct Undo {
    /// The threads that moved, and where they were.
    moved: Vec<(u32, u32, u32)>,
    /// The address, what it held, and what was written.
    wrote: Option<(u32, u32, u32)>,
}

/// The part of a key for one part of a state.
fn part(kind: u64, index: usize, value: u32) -> u128 {
    let id = kind << 62 | (index as u64) << 32 | u64::from(value);
    u128::from(scramble(1, id)) << 64 | u128::from(scramble(2, id))
}

impl State {
    pub(super) fn new(machine: &Machine) -> Self {
        let next: Vec<u32> = machine.starts[..machine.threads()].to_vec();
        let left = machine.steps.len() + machine.writes.iter().sum::<u32>() as usize;
        let (memory, to_come) = (machine.initial.clone(), machine.writes.clone());
        Self { pending: next.clone(), next, memory, to_come, left, key: 0 }
    }

    pub(super) fn key(&self) -> u128 {
        self.key
    }

    /// Whether everything is done and memory holds what it must.
    pub(super) fn is_through(&self, machine: &Machine) -> bool {
        let fits = |(held, last): (&u32, &Option<u32>)| last.is_none_or(|last| last == *held);
        self.left == 0 && self.memory.iter().zip(&machine.last).all(fits)
    }

    /// Whether a thread waits for a value that nobody will write any more.
    pub(super) fn is_hopeless(&self, machine: &Machine) -> bool {
        (0..machine.threads()).any(|thread| {
            self.waits_for(machine, thread).is_some_and(|class| self.to_come[class as usize] == 0)
        })
    }

    /// How many threads wait for a value.
    pub(super) fn waiting_for(&self, machine: &Machine, class: u32) -> usize {
        let waits = |&thread: &usize| self.waits_for(machine, thread) == Some(class);
        (0..machine.threads()).filter(waits).count()
    }

    /// The value that a thread needs before it can do anything else.
    fn waits_for(&self, machine: &Machine, thread: usize) -> Option<u32> {
        let at = self.next[thread] as usize;
        if at == machine.starts[thread + 1] as usize {
            return None;
        }
        match machine.steps[at].0 {
            Step::Read { class } | Step::Atomic { read: class, .. } => {
                (self.memory[machine.address_of(class)] != class).then_some(class)
            }
            Step::Write { .. } | Step::Fence => None,
        }
    }

    /// How many steps a thread has left.
    pub(super) fn left(&self, machine: &Machine, thread: usize) -> u32 {
        machine.starts[thread + 1] - self.pending[thread]
    }

    /// The step of a thread that may change memory next.
    pub(super) fn next_write(&self, machine: &Machine, thread: usize) -> Option<usize> {
        let (pending, next) = (self.pending[thread], self.next[thread]);
        if pending < next {
            return Some(pending as usize);
        }
        if next == machine.starts[thread + 1] {
            return None;
        }
        match machine.steps[next as usize].0 {
            Step::Write { .. } => Some(next as usize),
            Step::Atomic { read, .. } => {
                (self.memory[machine.address_of(read)] == read).then_some(next as usize)
            }
            Step::Read { .. } | Step::Fence => None,
        }
    }

    /// Does what the threads can do without changing memory.
    pub(super) fn settle_all(&mut self, machine: &Machine) -> Undo {
        let mut undo = Undo { moved: Vec::new(), wrote: None };
        self.settle(machine, &mut undo, &mut |_| ());
        undo
    }

    /// The same, noting the accesses that are performed.
    pub(super) fn settle_all_into(&mut self, machine: &Machine, order: &mut Vec<EventId>) {
        let mut undo = Undo { moved: Vec::new(), wrote: None };
        self.settle(machine, &mut undo, &mut |event| order.push(event));
    }

    /// Lets the next write of a thread reach memory, and then everybody do what they can.
    pub(super) fn write(&mut self, machine: &Machine, thread: usize) -> Undo {
        self.perform(machine, thread, &mut |_| ())
    }

    /// The same, noting the accesses that are performed.
    pub(super) fn write_into(
        &mut self,
        machine: &Machine,
        thread: usize,
        order: &mut Vec<EventId>,
    ) {
        self.perform(machine, thread, &mut |event| order.push(event));
    }

    fn perform(&mut self, machine: &Machine, thread: usize, note: &mut dyn FnMut(EventId)) -> Undo {
        let mut undo = Undo { moved: Vec::new(), wrote: None };
        let Some(at) = self.next_write(machine, thread) else { return undo };
        let (step, event) = machine.steps[at];
        let Some(written) = written(step) else { return undo };
        let address = machine.address_of(written);
        undo.moved.push((thread as u32, self.next[thread], self.pending[thread]));
        undo.wrote = Some((address as u32, self.memory[address], written));
        self.key = self.key.wrapping_sub(part(2, address, self.memory[address]));
        self.key = self.key.wrapping_add(part(2, address, written));
        self.memory[address] = written;
        self.to_come[written as usize] -= 1;
        note(event);
        let issued = self.next[thread] as usize > at;
        let next = if issued { self.next[thread] } else { at as u32 + 1 };
        let pending = machine.next_write[at].min(next);
        self.left -= if issued { 1 } else { 2 };
        self.move_to(thread, next, pending);
        self.settle(machine, &mut undo, note);
        undo
    }

    /// Puts a thread somewhere. What is left is for the caller to count.
    fn move_to(&mut self, thread: usize, next: u32, pending: u32) {
        let before =
            part(0, thread, self.next[thread]).wrapping_add(part(1, thread, self.pending[thread]));
        let after = part(0, thread, next).wrapping_add(part(1, thread, pending));
        self.key = self.key.wrapping_sub(before).wrapping_add(after);
        (self.next[thread], self.pending[thread]) = (next, pending);
    }

    fn settle(&mut self, machine: &Machine, undo: &mut Undo, note: &mut dyn FnMut(EventId)) {
        for thread in 0..machine.threads() {
            let (next, pending) = self.advance(machine, thread, note);
            if (next, pending) != (self.next[thread], self.pending[thread]) {
                undo.moved.push((thread as u32, self.next[thread], self.pending[thread]));
                self.move_to(thread, next, pending);
            }
        }
    }

    /// How far a thread comes without changing memory.
    fn advance(
        &mut self,
        machine: &Machine,
        thread: usize,
        note: &mut dyn FnMut(EventId),
    ) -> (u32, u32) {
        let end = machine.starts[thread + 1];
        let (mut next, mut pending) = (self.next[thread], self.pending[thread]);
        while next < end {
            let (step, event) = machine.steps[next as usize];
            let is_drained = pending == next;
            match step {
                Step::Read { class } => {
                    let own = machine.own[next as usize];
                    let is_forwarded = own != NONE && own >= pending && !is_drained;
                    let seen = match is_forwarded {
                        true => machine.written(own as usize),
                        false => self.memory[machine.address_of(class)],
                    };
                    if seen != class {
                        break;
                    }
                    note(event);
                }
                Step::Fence if is_drained => {}
                Step::Write { .. } if machine.buffered => {
                    // It is pending; if it is the first, `pending` stays behind.
                    self.left -= 1;
                    next += 1;
                    continue;
                }
                Step::Atomic { read, written }
                    if is_drained
                        && read == written
                        && self.memory[machine.address_of(read)] == read =>
                {
                    note(event);
                    self.to_come[written as usize] -= 1;
                    self.left -= 1;
                }
                Step::Write { .. } | Step::Fence | Step::Atomic { .. } => break,
            }
            self.left -= 1;
            next += 1;
            if is_drained {
                pending = next;
            }
        }
        (next, pending)
    }

    /// Takes a write back, with what followed from it.
    pub(super) fn take_back(&mut self, machine: &Machine, undo: Undo) {
        for &(thread, next, pending) in undo.moved.iter().rev() {
            let thread = thread as usize;
            self.left += (self.next[thread] - next) as usize;
            for at in next..self.next[thread] {
                if let Step::Atomic { written, .. } = machine.steps[at as usize].0 {
                    self.left += 1;
                    self.to_come[written as usize] += 1;
                }
            }
            self.move_to(thread, next, pending);
        }
        if let Some((address, held, written)) = undo.wrote {
            let address = address as usize;
            self.key = self.key.wrapping_sub(part(2, address, self.memory[address]));
            self.key = self.key.wrapping_add(part(2, address, held));
            self.memory[address] = held;
            // An atomic was counted with the steps of its thread.
            let is_atomic = undo.moved.first().is_some_and(|&(_, next, pending)| {
                matches!(machine.steps[next.min(pending) as usize].0, Step::Atomic { .. })
            });
            if !is_atomic {
                self.to_come[written as usize] += 1;
                self.left += 1;
            }
        }
    }
}
