//! Events as columns: one table for each thing there is to know about an event.
//!
//! Whoever asks for the thread of an event does not bring its value into the cache, and what few
//! events have (a second value) takes no room in the others: 18 bytes an event, 16 more for a
//! read-modify-write.

use std::ops::Range;

use crate::event::{AddressId, EventId, Kinds, Operation, ThreadId, Value};

/// What an event does and where, in four bytes: whether it reads and whether it writes in the
/// highest two bits, below them the address, or for a fence what it orders.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Access(u32);

const READS: u32 = 1 << 31;
const WRITES: u32 = 1 << 30;

impl Access {
    #[inline]
    pub(crate) fn new(kinds: Kinds, address: AddressId) -> Self {
        let kinds = u32::from(kinds.reads) << 31 | u32::from(kinds.writes) << 30;
        Self(kinds | address.index() as u32)
    }

    fn fence(before: Kinds, after: Kinds) -> Self {
        Self([before.reads, before.writes, after.reads, after.writes].iter().fold(0, bit))
    }

    #[inline]
    pub(crate) fn kinds(self) -> Kinds {
        Kinds { reads: self.0 & READS != 0, writes: self.0 & WRITES != 0 }
    }

    #[inline]
    fn is_fence(self) -> bool {
        self.0 < WRITES
    }

    #[inline]
    fn is_atomic(self) -> bool {
        self.0 >= READS | WRITES
    }

    #[inline]
    pub(crate) fn address(self) -> Option<AddressId> {
        (!self.is_fence()).then(|| self.low_bits())
    }

    /// The address of what is no fence.
    #[inline]
    fn low_bits(self) -> AddressId {
        AddressId::new((self.0 & (WRITES - 1)) as usize)
    }

    /// What a fence orders, before and after it.
    fn orders(self) -> (Kinds, Kinds) {
        let is_set = |bit: u32| self.0 >> bit & 1 == 1;
        let before = Kinds { reads: is_set(3), writes: is_set(2) };
        (before, Kinds { reads: is_set(1), writes: is_set(0) })
    }
}

fn bit(bits: u32, next: &bool) -> u32 {
    bits << 1 | u32::from(*next)
}

/// The two values of a read-modify-write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Exchange {
    pub(crate) read: Value,
    pub(crate) written: Value,
}

/// The events of a trace.
#[derive(Clone, Debug, Default)]
pub(crate) struct Columns {
    accesses: Vec<Access>,
    threads: Vec<u16>,
    /// The value read or written; of a read-modify-write, where its exchange is.
    values: Vec<Value>,
    exchanges: Vec<Exchange>,
    lines: Vec<u32>,
}

impl Columns {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.accesses.len()
    }

    /// Forgets all events, and keeps the room they took.
    pub(crate) fn clear(&mut self) {
        self.accesses.clear();
        self.threads.clear();
        self.values.clear();
        self.exchanges.clear();
        self.lines.clear();
    }

    pub(crate) fn push(&mut self, thread: ThreadId, operation: Operation, line: u32) {
        match operation {
            Operation::Read { address, value } => {
                self.push_access(thread, Access::new(Kinds::READS, address), value, line);
            }
            Operation::Write { address, value } => {
                self.push_access(thread, Access::new(Kinds::WRITES, address), value, line);
            }
            Operation::ReadModifyWrite { address, read, write } => {
                let exchange = self.exchanges.len() as Value;
                self.exchanges.push(Exchange { read, written: write });
                self.push_access(thread, Access::new(Kinds::ALL, address), exchange, line);
            }
            Operation::Fence { before, after } => {
                self.push_access(thread, Access::fence(before, after), 0, line);
            }
        }
    }

    #[inline]
    fn push_access(&mut self, thread: ThreadId, access: Access, value: Value, line: u32) {
        self.accesses.push(access);
        self.threads.push(thread.index() as u16);
        self.values.push(value);
        self.lines.push(line);
    }

    /// Appends the threads of events of other columns, with the numbers that they have here. The
    /// other columns have to follow.
    pub(crate) fn append_threads(
        &mut self,
        others: &Columns,
        events: Range<usize>,
        mut here: impl FnMut(ThreadId) -> ThreadId,
    ) {
        let threads = others.threads[events].iter();
        self.threads.extend(threads.map(|&t| here(ThreadId::new(t.into())).index() as u16));
    }

    /// The same for what they do; addresses have other numbers here, too.
    pub(crate) fn append_accesses(
        &mut self,
        others: &Columns,
        events: Range<usize>,
        mut here: impl FnMut(AddressId) -> AddressId,
    ) {
        let accesses = others.accesses[events].iter();
        self.accesses.extend(accesses.map(|access| match access.address() {
            Some(address) => Access::new(access.kinds(), here(address)),
            None => *access,
        }));
    }

    /// The same for their values and lines, which count from this one. Gives how many of them are
    /// read-modify-writes.
    pub(crate) fn append_values(
        &mut self,
        others: &Columns,
        events: Range<usize>,
        line: u32,
    ) -> usize {
        self.lines.extend(others.lines[events.clone()].iter().map(|&there| line + there));
        let before = self.exchanges.len();
        let values = &others.values[events.clone()];
        for (&value, access) in values.iter().zip(&others.accesses[events]) {
            let mut value = value;
            if access.is_atomic() {
                self.exchanges.push(others.exchanges[value as usize]);
                value = self.exchanges.len() as Value - 1;
            }
            self.values.push(value);
        }
        self.exchanges.len() - before
    }

    #[inline]
    pub(crate) fn access(&self, event: usize) -> Access {
        self.accesses[event]
    }

    pub(crate) fn accesses(&self) -> &[Access] {
        &self.accesses
    }

    #[inline]
    pub(crate) fn thread(&self, event: usize) -> ThreadId {
        ThreadId::new(self.threads[event].into())
    }

    /// The thread of every event, in order.
    pub(crate) fn threads(&self) -> impl Iterator<Item = ThreadId> + '_ {
        self.threads.iter().map(|&thread| ThreadId::new(thread.into()))
    }

    #[inline]
    pub(crate) fn line(&self, event: usize) -> u32 {
        of(&self.lines, event)
    }

    /// The line of every event, in order.
    pub(crate) fn lines(&self) -> &[u32] {
        &self.lines
    }

    /// What an event read and what it wrote; meaningless where it did not.
    #[inline]
    pub(crate) fn exchange(&self, event: usize) -> Exchange {
        let value = of(&self.values, event);
        if of(&self.accesses, event).is_atomic() {
            self.exchanges[value as usize]
        } else {
            Exchange { read: value, written: value }
        }
    }

    #[inline]
    pub(crate) fn operation(&self, event: usize) -> Operation {
        let access = self.accesses[event];
        let Some(address) = access.address() else {
            let (before, after) = access.orders();
            return Operation::Fence { before, after };
        };
        let value = of(&self.values, event);
        match access.kinds() {
            Kinds { reads: true, writes: true } => {
                let Exchange { read, written } = of_exchange(&self.exchanges, value);
                Operation::ReadModifyWrite { address, read, write: written }
            }
            Kinds { reads: true, .. } => Operation::Read { address, value },
            _ => Operation::Write { address, value },
        }
    }

    /// The values, and the other columns.
    pub(crate) fn split_values(mut self) -> (Vec<Value>, OtherColumns) {
        let values = std::mem::take(&mut self.values);
        (values, OtherColumns(self))
    }

    /// The same events, in no more room than they need.
    pub(crate) fn trimmed(mut self) -> Self {
        self.accesses.shrink_to_fit();
        self.threads.shrink_to_fit();
        self.values.shrink_to_fit();
        self.exchanges.shrink_to_fit();
        self.lines.shrink_to_fit();
        self
    }
}

/// The columns of events but for their values.
pub(crate) struct OtherColumns(Columns);

impl OtherColumns {
    pub(crate) fn accesses(&self) -> &[Access] {
        &self.0.accesses
    }

    pub(crate) fn with_values(self, values: Vec<Value>) -> Columns {
        Columns { values, ..self.0 }
    }

    /// The same events in thread-major order: `to[event]` is the place of an event, and
    /// `starts[t]..starts[t + 1]` are those of a thread. One column after the other, so that there
    /// are never two copies of more than one, and one of values.
    pub(crate) fn thread_major(mut self, to: &[u32], starts: &[u32]) -> Self {
        let columns = &mut self.0;
        for (thread, bounds) in starts.windows(2).enumerate() {
            columns.threads[bounds[0] as usize..bounds[1] as usize].fill(thread as u16);
        }
        columns.threads.shrink_to_fit();
        columns.accesses = scattered(std::mem::take(&mut columns.accesses), to);
        columns.lines = scattered(std::mem::take(&mut columns.lines), to);
        columns.exchanges.shrink_to_fit();
        self
    }
}

/// An entry of a column. A caller that drops the result then pays nothing for it: unlike an index
/// out of bounds, a default is no effect that must be kept.
#[inline]
fn of<T: Copy + Default>(column: &[T], event: usize) -> T {
    column.get(event).copied().unwrap_or_default()
}

#[inline]
fn of_exchange(exchanges: &[Exchange], at: Value) -> Exchange {
    exchanges.get(at as usize).copied().unwrap_or(Exchange { read: 0, written: 0 })
}

/// Calls `f` with every write and its address, in order.
///
/// Whether an event writes is not something that a processor can guess, and guessing wrong costs more
/// than the rest of a short loop. So the writes are picked from a stretch of events without a branch
/// first.
#[inline]
pub(crate) fn for_each_write(accesses: &[Access], mut f: impl FnMut(EventId, AddressId)) {
    const STRETCH: usize = 256;
    let mut picked = [0_u8; STRETCH];
    for (s, stretch) in accesses.chunks(STRETCH).enumerate() {
        let mut count = 0;
        for (i, access) in stretch.iter().enumerate() {
            picked[count % STRETCH] = i as u8;
            count += usize::from(access.kinds().writes);
        }
        for &i in &picked[..count] {
            let (event, access) = (s * STRETCH + usize::from(i), stretch[usize::from(i)]);
            f(EventId::new(event), access.low_bits());
        }
    }
}

/// The items of a column, each at its new place.
pub(crate) fn scattered<T: Copy + Default>(column: Vec<T>, to: &[u32]) -> Vec<T> {
    let mut moved = vec![T::default(); column.len()];
    for (item, &place) in column.into_iter().zip(to) {
        moved[place as usize] = item;
    }
    moved
}
