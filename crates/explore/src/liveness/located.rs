//! The states of one worker, each with a number, wherever they are: what deciding liveness needs of a
//! store if several workers own the states, or if states are on disk.

use crate::hash;
use crate::store::{Numbered, StoreError};

/// The states of one worker with a number for each.
pub(crate) trait Located: Send {
    /// Gets ready, which may take a pass over all states. To be called first.
    fn prepare(&mut self) -> Result<(), StoreError> {
        Ok(())
    }

    /// A number that is greater than those of all states.
    fn end(&self) -> u64;

    /// Begins to read all states.
    fn read(&self, order: Order) -> Box<dyn Reader + '_>;

    /// The number of a state, if that is known at once; else nothing is.
    fn at_hand(&self) -> Option<&dyn AtHand>;

    /// Finds the states of many questions together, which may take long, and returns the number of each
    /// that is there.
    fn find(
        &self,
        questions: &Questions,
        found: &mut dyn FnMut(&[u8], u64),
    ) -> Result<(), StoreError>;
}

/// States whose numbers are known at once.
pub(crate) trait AtHand {
    /// The number of a state.
    fn number(&self, packed: &[u8], hash: u64) -> Option<u64>;
}

/// Reads all states of a worker.
pub(crate) trait Reader {
    /// Appends up to `most` further states and where they are; nothing at the end.
    fn next(
        &mut self,
        most: usize,
        states: &mut Vec<u8>,
        places: &mut Vec<StatePlace>,
    ) -> Result<(), StoreError>;
}

/// Which state it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StatePlace {
    pub(crate) number: u64,
    pub(crate) level: u32,
}

/// In which order levels are gone through, where they are apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Deepest,
    First,
}

impl Order {
    /// The other one.
    pub(crate) fn reversed(self) -> Order {
        match self {
            Order::Deepest => Order::First,
            Order::First => Order::Deepest,
        }
    }
}

/// Questions about states, in records of one size that begin with the shard and the packed state.
#[derive(Debug, Default)]
pub(crate) struct Questions {
    pub(crate) records: Vec<u8>,
    /// Bytes of a record, and of the shard and the state.
    pub(crate) record: usize,
    pub(crate) key: usize,
}

impl Questions {
    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.records.len() / self.record
    }

    /// A question.
    pub(crate) fn get(&self, number: usize) -> &[u8] {
        &self.records[number * self.record..(number + 1) * self.record]
    }

    /// The numbers of all questions, those with lesser keys first.
    pub(crate) fn sorted(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.count() as u32).collect();
        let key = |number: &u32| &self.get(*number as usize)[..self.key];
        order.sort_unstable_by(|a, b| key(a).cmp(key(b)));
        order
    }
}

/// States in memory.
pub(crate) struct InMemory<'a> {
    states: &'a dyn Numbered,
    /// For each part, how many states come before it.
    first: Vec<u64>,
    end: u64,
    depth: u32,
}

impl<'a> InMemory<'a> {
    /// Those of a store, up to a level.
    pub(crate) fn new(states: &'a dyn Numbered, depth: u32) -> Self {
        let mut end = 0;
        let mut before = |length: u32| {
            end += u64::from(length);
            end - u64::from(length)
        };
        let first = states.parts().into_iter().map(&mut before).collect();
        InMemory { states, first, end, depth }
    }
}

impl AtHand for InMemory<'_> {
    fn number(&self, packed: &[u8], hash: u64) -> Option<u64> {
        let (part, number) = self.states.find(packed, hash)?;
        Some(self.first[part] + u64::from(number))
    }
}

impl Located for InMemory<'_> {
    fn end(&self) -> u64 {
        self.end
    }

    fn read(&self, order: Order) -> Box<dyn Reader + '_> {
        Box::new(InMemoryReader { located: self, order, passed: 0, part: 0, read: 0 })
    }

    fn at_hand(&self) -> Option<&dyn AtHand> {
        Some(self)
    }

    fn find(
        &self,
        questions: &Questions,
        found: &mut dyn FnMut(&[u8], u64),
    ) -> Result<(), StoreError> {
        for question in (0..questions.count()).map(|number| questions.get(number)) {
            let packed = &question[1..questions.key];
            if let Some(number) = self.number(packed, hash::hash(packed, hash::PLACE)) {
                found(question, number);
            }
        }
        Ok(())
    }
}

struct InMemoryReader<'a> {
    located: &'a InMemory<'a>,
    order: Order,
    /// Levels that were passed, the part that is read, and how much of it was.
    passed: u32,
    part: usize,
    read: u32,
}

impl Reader for InMemoryReader<'_> {
    fn next(
        &mut self,
        most: usize,
        states: &mut Vec<u8>,
        places: &mut Vec<StatePlace>,
    ) -> Result<(), StoreError> {
        let InMemory { states: store, first, depth, .. } = self.located;
        while self.passed <= *depth {
            let level = match self.order {
                Order::First => self.passed,
                Order::Deepest => depth - self.passed,
            };
            while self.part < first.len() {
                let range = store.level(self.part, level);
                let start = range.start + self.read;
                let end = range.end.min(start + (most - places.len()) as u32);
                for number in start..end {
                    states.extend_from_slice(store.state(self.part, number));
                    places.push(StatePlace { number: first[self.part] + u64::from(number), level });
                }
                self.read += end - start;
                if places.len() == most {
                    return Ok(());
                }
                (self.part, self.read) = (self.part + 1, 0);
            }
            (self.part, self.passed) = (0, self.passed + 1);
        }
        Ok(())
    }
}
