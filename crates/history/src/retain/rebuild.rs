//! Sub-histories of histories of mixed sizes: what is left is asked to a builder again.
//!
//! Which bytes belong together depends on every access that is left, and with it who may have
//! written what. So nothing of the old tables can be kept. Linear, with hashing.

use super::{Lines, kept_source, new_event, renumber};
use crate::annotation::DependencyKinds;
use crate::build_error::{BuildError, BuildErrorKind};
use crate::builder::{Builder, Draft, ThinAir, WriteName};
use crate::columns::Exchange;
use crate::event::{AddressId, AddressLabel, EventId, Operation, Source, Times};
use crate::history::{History, OrderChain};
use crate::marks::Mark;

/// What an event is now, where that may have changed.
pub(crate) struct EventContent<'a> {
    pub(crate) operation: Operation,
    pub(crate) upper: Exchange,
    pub(crate) name: Option<&'a str>,
}

impl History {
    /// The sub-history of the chosen events and lines, built anew.
    pub(super) fn rebuild(
        &self,
        keep: impl Fn(EventId) -> bool,
        lines: Lines<'_>,
    ) -> Result<History, BuildError> {
        let new_ids = renumber(self.event_ids().map(keep));
        let was_lost = self.lost_finals();
        let chosen = (0..self.finals.len()).filter(|&f| lines.keeps_final(f));
        let mut finals: Vec<usize> = chosen.collect();
        let mut kept = self.rebuilt(&new_ids, &finals, lines)?;
        let is_lost = |kept: &History, finals: &[usize]| -> Option<usize> {
            let lost = kept.lost_finals().into_iter().zip(finals);
            lost.into_iter().find(|&(lost, &f)| lost && !was_lost[f]).map(|(_, &f)| f)
        };
        while let Some(lost) = is_lost(&kept, &finals) {
            if !matches!(lines, Lines::Supported) {
                let f = &self.finals[lost];
                let address = self.address(f.address).label.clone();
                let kind = BuildErrorKind::FinalOfUnwritten { address, value: f.value };
                return Err(BuildError { kind, line: f.line });
            }
            finals.retain(|&f| f != lost);
            kept = self.rebuilt(&new_ids, &finals, lines)?;
        }
        let lost = self.event_ids().filter_map(|id| {
            let part = kept.unwritten_part(new_event(id, &new_ids)?)?;
            self.unwritten_part(id).is_none().then_some(part)
        });
        let of_part = |part| match &kept.mixed {
            Some(mixed) => mixed.unread(&kept, part),
            None => kept.unread(part),
        };
        match lost.map(of_part).min_by_key(|error| error.line) {
            None => Ok(kept),
            Some(error) => Err(error),
        }
    }

    fn rebuilt(
        &self,
        new_ids: &[Option<u32>],
        finals: &[usize],
        lines: Lines<'_>,
    ) -> Result<History, BuildError> {
        let mut builder = Builder::new();
        self.retell_initial(&mut builder, new_ids)?;
        for id in self.event_ids().filter(|id| new_ids[id.index()].is_some()) {
            self.retell_event(&mut builder, id, new_ids)?;
        }
        for f in finals.iter().map(|&f| &self.finals[f]) {
            let address = builder.address(&self.address(f.address).label);
            builder.final_value(address, f.value, f.line)?;
        }
        let orders = self.orders.iter().enumerate().filter(|&(at, _)| lines.keeps_order(at));
        for (_, chain) in orders {
            let is_kept = |write: &&Source| kept_source(**write, new_ids).is_some();
            let kept = chain.writes.iter().filter(is_kept);
            let names: Vec<WriteName> = kept.map(|&write| self.write_name(chain, write)).collect();
            if names.len() >= 2 {
                let address = builder.address(&self.address(chain.address).label);
                builder.order(address, names, chain.line);
            }
        }
        builder.finish(ThinAir::Violation)
    }

    /// How an `order` line calls a write.
    pub(crate) fn write_name(&self, chain: &OrderChain, write: Source) -> WriteName {
        match write {
            Source::Initial => WriteName::Value(self.address(chain.address).initial),
            Source::Write(id) => match self.name(id) {
                Some(name) => WriteName::Name(name.into()),
                None => {
                    WriteName::Value(self.event(id).operation.value_written().unwrap_or_default())
                }
            },
        }
    }

    /// The `init` lines of bytes that are still in use.
    fn retell_initial(
        &self,
        builder: &mut Builder,
        new_ids: &[Option<u32>],
    ) -> Result<(), BuildError> {
        let kept = self.event_ids().filter(|id| new_ids[id.index()].is_some());
        let mut used: Vec<AddressId> = kept.filter_map(|id| self.address_of(id)).collect();
        used.extend(self.finals.iter().map(|f| f.address));
        used.sort_unstable();
        used.dedup();
        let bytes = |address: AddressId| match self.address(address).label {
            AddressLabel::Bytes(range) => Some(range),
            AddressLabel::Number(_) | AddressLabel::Name(_) => None,
        };
        let mut ranges: Vec<_> = used.iter().filter_map(|&a| bytes(a)).collect();
        ranges.sort_unstable();
        for address in self.address_ids() {
            let entry = self.address(address);
            let in_use = match bytes(address) {
                None => used.binary_search(&address).is_ok(),
                Some(range) => {
                    let near = ranges.partition_point(|other| other.start() <= range.last());
                    let most = u64::from(crate::MAX_ACCESS_SIZE);
                    let close = ranges[..near].iter().rev();
                    close
                        .take_while(|other| other.start().saturating_add(most) > range.start())
                        .any(|other| other.overlaps(range))
                }
            };
            if let (Some(line), true) = (entry.init_line, in_use) {
                let address = builder.address(&entry.label);
                builder.initial(address, entry.initial, line)?;
            }
        }
        Ok(())
    }

    fn retell_event(
        &self,
        builder: &mut Builder,
        id: EventId,
        new_ids: &[Option<u32>],
    ) -> Result<(), BuildError> {
        let event = self.event(id);
        let address = event.address().map(|a| builder.address(&self.address(a).label));
        let operation = event.operation.at(|old| address.unwrap_or(old));
        let content = EventContent { operation, upper: self.upper_bytes(id), name: self.name(id) };
        let draft = self.add_as(builder, id, content)?;
        for (from, kinds) in self.dependencies_with_kinds(id) {
            if let (Some(_), Some(name)) = (new_event(from, new_ids), self.name(from)) {
                for kind in kinds.iter() {
                    builder.dependency_of_kind(draft, name, kind)?;
                }
            }
        }
        if let Some(load) = self.load_of(id)
            && let (Some(_), Some(name)) = (new_event(load, new_ids), self.name(load))
        {
            builder.pair(draft, name)?;
        }
        Ok(())
    }

    /// Says of an event, with this operation and name, what else the trace says about it, except for
    /// its dependencies and its pair.
    pub(crate) fn add_as(
        &self,
        builder: &mut Builder,
        id: EventId,
        content: EventContent<'_>,
    ) -> Result<Draft, BuildError> {
        let event = self.event(id);
        let thread = self.thread_label(event.thread);
        let draft = match self.marks.get(id.index()) {
            Some(Mark::Fence(name)) => builder.fence(thread, name, event.line)?,
            _ => builder.event(thread, content.operation, event.line)?,
        };
        builder.upper_bytes(draft, content.upper.read, content.upper.written)?;
        if let Some(name) = content.name {
            builder.name(draft, name)?;
        }
        if let Some(order) = self.access_order(id) {
            builder.annotate(draft, order)?;
        }
        if let Some(commit) = self.commit(id) {
            builder.committed(draft, commit)?;
        }
        let times = self.times(id);
        if times != Times::default() {
            builder.times(draft, times)?;
        }
        Ok(draft)
    }

    /// What an event depends on, and how.
    pub(crate) fn dependencies_with_kinds(
        &self,
        id: EventId,
    ) -> impl Iterator<Item = (EventId, DependencyKinds)> + '_ {
        let first = self.dependencies.partition_point(|&(to, _)| to < id);
        (first..self.dependencies.len())
            .take_while(move |&at| self.dependencies[at].0 == id)
            .map(|at| (self.dependencies[at].1, self.kinds_of_dependency(at)))
    }

    /// The load of a store-conditional.
    pub(crate) fn load_of(&self, store: EventId) -> Option<EventId> {
        let at = self.pairs.binary_search_by_key(&store, |&(write, _)| write).ok()?;
        Some(self.pairs[at].1)
    }

    /// For each `final` line, whether nobody wrote what it says, or some bytes of it.
    fn lost_finals(&self) -> Vec<bool> {
        match &self.mixed {
            None => self.finals.iter().map(|f| f.sources.is_empty()).collect(),
            Some(mixed) => mixed.lost_finals(self),
        }
    }
}
