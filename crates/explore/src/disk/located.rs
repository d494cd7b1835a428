//! The states of a worker on disk, each with a number: its place among the records of its run. To
//! find the numbers of many states, they are put in order and looked for in one pass over the runs.

use super::cursor::{Cursor, Section};
use crate::liveness::{AtHand, Located, Order, Questions, Reader, StatePlace};
use crate::store::StoreError;

/// The states of some runs.
pub(super) struct OnDiskStates {
    runs: Vec<Section>,
    /// For each run and each of its blocks, the number of the first record.
    first: Vec<Vec<u64>>,
    end: u64,
}

impl OnDiskStates {
    pub(super) fn new(runs: &[Section]) -> Self {
        OnDiskStates { runs: runs.to_vec(), first: Vec::new(), end: 0 }
    }

    fn number(&self, run: usize, cursor: &Cursor) -> u64 {
        let (block, before) = cursor.place();
        self.first[run][block] + before
    }
}

impl Located for OnDiskStates {
    fn prepare(&mut self) -> Result<(), StoreError> {
        let OnDiskStates { runs, first, end } = self;
        for run in runs {
            let mut blocks = Vec::new();
            for block in run.blocks() {
                blocks.push(*end);
                *end += run.file.records(block)?;
            }
            first.push(blocks);
        }
        Ok(())
    }

    fn end(&self) -> u64 {
        self.end
    }

    fn read(&self, _order: Order) -> Box<dyn Reader + '_> {
        Box::new(OnDiskReader { states: self, run: 0, cursor: None })
    }

    fn at_hand(&self) -> Option<&dyn AtHand> {
        None
    }

    fn find(
        &self,
        questions: &Questions,
        found: &mut dyn FnMut(&[u8], u64),
    ) -> Result<(), StoreError> {
        let mut cursors: Vec<Cursor> = self.runs.iter().map(Cursor::new).collect();
        for number in questions.sorted() {
            let question = questions.get(number as usize);
            for (run, cursor) in cursors.iter_mut().enumerate() {
                if cursor.seek(&question[..questions.key])? {
                    found(question, self.number(run, cursor));
                    break;
                }
            }
        }
        Ok(())
    }
}

struct OnDiskReader<'a> {
    states: &'a OnDiskStates,
    run: usize,
    cursor: Option<Cursor>,
}

impl Reader for OnDiskReader<'_> {
    fn next(
        &mut self,
        most: usize,
        states: &mut Vec<u8>,
        places: &mut Vec<StatePlace>,
    ) -> Result<(), StoreError> {
        while places.len() < most {
            let Some(run) = self.states.runs.get(self.run) else { break };
            let cursor = self.cursor.get_or_insert_with(|| Cursor::new(run));
            match cursor.advance()? {
                true => {
                    let number = self.states.number(self.run, cursor);
                    places.push(StatePlace { number, level: cursor.level() });
                    states.extend_from_slice(&cursor.key()[1..]);
                }
                false => (self.run, self.cursor) = (self.run + 1, None),
            }
        }
        Ok(())
    }
}
