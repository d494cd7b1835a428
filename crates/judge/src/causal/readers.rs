//! Who read each write: the last read of it by each thread, which speaks for those before it.

use history::AddressId;

use super::operations::{From, Op, Operations, ReadsFrom};

/// The readers of each write, by place, and of each initial write.
#[derive(Debug)]
pub(super) struct Readers {
    starts: Vec<u32>,
    reads: Vec<Op>,
}

impl Readers {
    /// The readers of a choice of reads-from: O(n).
    pub(super) fn new(ops: &Operations, reads_from: &ReadsFrom) -> Self {
        let sources = ops.write_count() + ops.address_count();
        let source = |read: Op| match reads_from.source(read) {
            From::Open => None,
            From::Initial => Some(ops.write_count() + ops.address(read).index()),
            From::Write(write) => Some(ops.place_of(write)),
        };
        // The last reader of each source so far: reads are numbered thread by thread.
        let mut last = vec![Op::NONE; sources];
        let mut starts = vec![0_u32; sources + 1];
        let is_new_thread =
            |last: Op, read: Op| !last.is_some() || ops.thread(last) != ops.thread(read);
        for read in ops.all() {
            if let Some(source) = source(read) {
                starts[source] += u32::from(is_new_thread(last[source], read));
                last[source] = read;
            }
        }
        let mut end = 0;
        for start in &mut starts {
            end += *start;
            *start = end;
        }
        let mut reads = vec![Op::NONE; end as usize];
        last.fill(Op::NONE);
        for read in ops.all().rev() {
            if let Some(source) = source(read)
                && is_new_thread(std::mem::replace(&mut last[source], read), read)
            {
                starts[source] -= 1;
                reads[starts[source] as usize] = read;
            }
        }
        Readers { starts, reads }
    }

    /// The readers of the write at a place.
    pub(super) fn of(&self, place: usize) -> &[Op] {
        &self.reads[self.starts[place] as usize..self.starts[place + 1] as usize]
    }

    /// The readers of the initial write of an address.
    pub(super) fn of_initial(&self, ops: &Operations, address: AddressId) -> &[Op] {
        self.of(ops.write_count() + address.index())
    }
}
