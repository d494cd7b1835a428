//! The annotations of the events of a trace: one entry an event where some event has one, nothing
//! at all where none has.

use crate::annotation::{AccessOrder, FenceName};
use crate::columns::scattered;

/// What an event is annotated with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mark {
    /// An access.
    Order(AccessOrder),
    /// A fence.
    Fence(FenceName),
}

/// The marks by event; empty when no event carries one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marks(Vec<Option<Mark>>);

impl Marks {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    #[inline]
    pub(crate) fn get(&self, event: usize) -> Option<Mark> {
        self.0.get(event).copied().flatten()
    }

    /// Marks an event. Events before it that say nothing have no mark.
    pub(crate) fn set(&mut self, event: usize, mark: Mark) {
        if self.0.len() <= event {
            self.0.resize(event + 1, None);
        }
        self.0[event] = Some(mark);
    }

    /// The same marks in another order: `to[event]` is the place of an event.
    pub(crate) fn reordered(self, to: &[u32]) -> Self {
        if self.is_empty() {
            return self;
        }
        let mut marks = self.0;
        marks.resize(to.len(), None);
        Marks(scattered(marks, to))
    }
}
