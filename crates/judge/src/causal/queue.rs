//! Which reader to decide next: the one that was part of a conflict last. A list that readers move
//! to the front of, with a cursor before which none is open.

const NONE: u32 = u32::MAX;

#[derive(Debug)]
pub(super) struct Queue {
    /// The neighbour towards the front, and towards the back.
    links: Vec<(u32, u32)>,
    /// Larger towards the front.
    stamps: Vec<u64>,
    front: u32,
    cursor: u32,
    clock: u64,
}

impl Queue {
    /// A queue of readers `0..count`, the first in front.
    pub(super) fn new(count: usize) -> Self {
        let link = |i: usize| {
            let back = if i + 1 < count { i as u32 + 1 } else { NONE };
            (if i > 0 { i as u32 - 1 } else { NONE }, back)
        };
        let front = if count > 0 { 0 } else { NONE };
        Queue {
            links: (0..count).map(link).collect(),
            stamps: (0..count as u64).rev().collect(),
            front,
            cursor: front,
            clock: count as u64,
        }
    }

    /// The first open reader.
    pub(super) fn next(&mut self, is_open: impl Fn(u32) -> bool) -> Option<u32> {
        while self.cursor != NONE && !is_open(self.cursor) {
            self.cursor = self.links[self.cursor as usize].1;
        }
        (self.cursor != NONE).then_some(self.cursor)
    }

    /// Says that a reader is open again.
    pub(super) fn reopen(&mut self, reader: u32) {
        let stamp = self.stamps[reader as usize];
        if self.cursor == NONE || stamp > self.stamps[self.cursor as usize] {
            self.cursor = reader;
        }
    }

    /// Moves a reader to the front. It counts as open until [`Queue::next`] looks at it.
    pub(super) fn bump(&mut self, reader: u32) {
        if self.front != reader {
            let (before, after) = self.links[reader as usize];
            if self.cursor == reader {
                self.cursor = after;
            }
            if before != NONE {
                self.links[before as usize].1 = after;
            }
            if after != NONE {
                self.links[after as usize].0 = before;
            }
            self.links[reader as usize] = (NONE, self.front);
            self.links[self.front as usize].0 = reader;
            self.front = reader;
        }
        self.stamps[reader as usize] = self.clock;
        self.clock += 1;
        self.cursor = self.front;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_bumped_last_comes_first_and_what_is_decided_is_skipped() {
        let mut queue = Queue::new(4);
        queue.bump(2);
        queue.bump(1);
        assert_eq!(queue.next(|_| true), Some(1));
        assert_eq!(queue.next(|reader| reader != 1), Some(2));
        assert_eq!(queue.next(|reader| reader == 3), Some(3));
        queue.reopen(0);
        assert_eq!(queue.next(|reader| reader == 0), Some(0));
        assert_eq!(queue.next(|_| false), None);
    }
}
