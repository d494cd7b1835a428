//! The machines for accesses of mixed sizes.
//!
//! The memory is one of cells, runs of bytes that no access divides. An access is performed at one
//! place of the order, with all of its cells; store buffers hold writes, and a read takes each cell
//! from the newest write of it in its own buffer, else from the memory. An access waits for earlier
//! ones of its address if they have a cell in common. `coherence` is a machine with buffers here,
//! in which reads that overlap stay in order and nothing else does.

use history::{EventId, History, Mixed, Source, ThreadId, Value};

use super::{Last, LastPerformed, Role, Run, buffered_waits, follows_order_lines, roles};
use crate::names;
use crate::rejection::Fault;
use models::Keeps;

/// What the walk along a thread remembers of a cell.
#[derive(Clone, Copy, Default)]
struct AtCell {
    thread: Option<ThreadId>,
    earlier: LastPerformed,
    write: Option<EventId>,
}

impl Run<'_> {
    /// Checks that the order is a run that explains a history of mixed sizes.
    pub(super) fn of_mixed_sizes(&self, mixed: &Mixed, order: &[EventId]) -> Result<(), Fault> {
        let parts = mixed.parts();
        let mut own_write = vec![None; parts.len()];
        let mut cells = vec![AtCell::default(); parts.address_count()];
        for thread in self.history.threads() {
            self.thread_of_cells(mixed, thread, &mut cells, &mut own_write)?;
            if self.rules.times && self.history.has_times() {
                self.times(thread)?;
            }
        }
        self.dependencies()?;
        let reads = self.values_of_cells(mixed, order, &own_write)?;
        follows_order_lines(self.history, &self.position)?;
        self.no_cause_of_itself(reads.into_iter())
    }

    /// One thread in program order: each access is performed after those it waits for. Notes for
    /// each part the last earlier write of its cell in its own thread.
    fn thread_of_cells(
        &self,
        mixed: &Mixed,
        thread: ThreadId,
        cells: &mut [AtCell],
        own_write: &mut [Option<EventId>],
    ) -> Result<(), Fault> {
        let parts = mixed.parts();
        let mut anywhere = LastPerformed::default();
        let mut fenced = LastPerformed::default();
        for e in self.history.thread_events(thread) {
            if self.history.address_of(e).is_none() {
                self.fence(e, anywhere, &mut fenced);
                continue;
            }
            let mut here = LastPerformed::default();
            for part in mixed.parts_of(e) {
                let Some(cell) = parts.address_of(part) else { continue };
                let at = &mut cells[cell.index()];
                if at.thread != Some(thread) {
                    *at = AtCell { thread: Some(thread), ..AtCell::default() };
                }
                own_write[part.index()] = at.write;
                here.reads.join(at.earlier.reads);
                here.writes.join(at.earlier.writes);
            }
            let kinds = self.history.kinds_of(e);
            for later in roles(kinds) {
                for earlier in [Role::Read, Role::Write] {
                    let held = match buffered_waits(&self.rules, earlier, later) {
                        Keeps::Always => *anywhere.of(earlier),
                        Keeps::SameAddress => *here.of(earlier),
                        Keeps::Never => Last::default(),
                    };
                    self.must_follow(e, held, "program order")?;
                }
                if self.rules.global {
                    self.must_follow(e, *fenced.of(later), "a fence")?;
                }
            }
            for role in roles(kinds) {
                anywhere.of(role).join(self.last(e));
            }
            for part in mixed.parts_of(e) {
                let Some(cell) = parts.address_of(part) else { continue };
                let at = &mut cells[cell.index()];
                for role in roles(kinds) {
                    at.earlier.of(role).join(self.last(e));
                }
                if kinds.writes {
                    at.write = Some(part);
                }
            }
        }
        Ok(())
    }

    /// Runs the memory along the order: what each part takes must be what it returned. Returns who
    /// read from whom, as pairs (write, read).
    fn values_of_cells(
        &self,
        mixed: &Mixed,
        order: &[EventId],
        own_write: &[Option<EventId>],
    ) -> Result<Vec<(EventId, EventId)>, Fault> {
        let parts = mixed.parts();
        let initial = |cell| (Source::Initial, parts.address(cell).initial);
        let mut memory: Vec<(Source, Value)> = parts.address_ids().map(initial).collect();
        let mut reads = Vec::new();
        for &e in order {
            for part in mixed.parts_of(e) {
                let operation = parts.event(part).operation;
                let (Some(cell), Some(returned)) = (operation.address(), operation.value_read())
                else {
                    continue;
                };
                let buffered = self.part_in_buffer(mixed, e, own_write[part.index()]);
                let (source, sees) = buffered.unwrap_or(memory[cell.index()]);
                if sees != returned {
                    return Err(Fault::WrongValue { event: names::event(self.history, e), sees });
                }
                if let Source::Write(write) = source {
                    reads.push((mixed.access_of(write), e));
                }
            }
            for part in mixed.parts_of(e) {
                let operation = parts.event(part).operation;
                if let (Some(cell), Some(written)) =
                    (operation.address(), operation.value_written())
                {
                    memory[cell.index()] = (Source::Write(part), written);
                }
            }
        }
        last_values(parts, &memory)?;
        Ok(reads)
    }

    fn part_in_buffer(
        &self,
        mixed: &Mixed,
        read: EventId,
        own: Option<EventId>,
    ) -> Option<(Source, Value)> {
        let part = own?;
        if self.position[mixed.access_of(part).index()] < self.position[read.index()] {
            return None;
        }
        let value = mixed.parts().event(part).operation.value_written()?;
        Some((Source::Write(part), value))
    }
}

/// Whether the memory ends as the `final` lines say.
fn last_values(parts: &History, memory: &[(Source, Value)]) -> Result<(), Fault> {
    let wrong = parts.finals().iter().find(|f| memory[f.address.index()].1 != f.value);
    wrong.map_or(Ok(()), |f| {
        let address = parts.address(f.address).label.clone();
        Err(Fault::WrongFinal { address })
    })
}
