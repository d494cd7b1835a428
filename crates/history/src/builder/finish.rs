//! From what a trace says to a history: find who wrote what, refuse what makes no sense, and bring
//! the events into thread-major order.
//!
//! Sources are found while the events are still in the order of the trace, where a read is near
//! the write it read from. What is no longer needed is freed before the next table is made: at its
//! peak this takes at most 54 bytes an event (22 for columns and origins, up to 32 for the index of
//! a write; 33 in all where values count up), 16 more for a read-modify-write and 17 for times.
//!
//! With several threads, reads are looked up in parts, and columns are moved side by side. What has
//! to look at one event after the other is left to one thread.

use rustc_hash::FxHashSet;

use super::{Builder, Draft, ThinAir, WriteName};
use crate::annotation::{DependencyKind, DependencyKinds};
use crate::build_error::{BuildError, BuildErrorKind, error};
use crate::columns::{Access, Columns, Exchange, for_each_write, scattered};
use crate::dense::Written;
use crate::event::{AddressId, AddressLabel, ByteRange, EventId, Source, ThreadId, Value};
use crate::history::{Address, History, OrderChain};
use crate::mixed::Mixed;
use crate::origin::{Classes, Origin};
use crate::workers::{both, worthwhile};
use crate::writers::{Origins, Writers};

/// Where each draft comes to stand.
struct Places(Vec<u32>);

impl Places {
    /// The final id of a draft.
    fn of(&self, Draft(draft): Draft) -> EventId {
        EventId::new(self.0[draft as usize] as usize)
    }

    /// The final id of what so far has the number of its draft for an id.
    #[inline]
    fn of_event(&self, event: EventId) -> EventId {
        EventId::new(self.0[event.index()] as usize)
    }
}

impl Builder {
    /// The history, if what was said makes sense.
    pub fn finish(mut self, thin_air: ThinAir) -> Result<History, BuildError> {
        let overlapping = self.settle_bytes()?;
        // Where accesses overlap, who wrote what is a question about their parts.
        let by_address = if overlapping.is_none() { thin_air } else { ThinAir::Violation };
        let workers = worthwhile(self.workers, self.columns.len());
        let written = self.written(workers);
        let (writers, origins) = self.writers(&written, workers);
        if by_address == ThinAir::Malformed && origins.unknown > 0 {
            self.refuse_unwritten(&origins.of)?;
        }
        let final_origins = self.final_origins(&writers, by_address)?;
        let mut orders = self.order_chains(&writers)?;
        let shared = writers.into_shared();

        let (thread_starts, places) = self.thread_major();
        let classes = classes(shared, &places);
        for (f, origin) in self.finals.iter_mut().zip(final_origins) {
            let origin = origin.renumbered(&places.0);
            f.sources = classes.sources(&origin).to_vec();
        }
        for write in orders.iter_mut().flat_map(|chain| &mut chain.writes) {
            *write = write.at(|write| places.of_event(write));
        }
        let (origins, columns) =
            in_place(origins.of, self.columns, &places, &thread_starts, workers, |accesses| {
                list_writes(accesses, &mut self.addresses, &written);
            });
        let (dependencies, dependency_kinds) =
            dependencies(&self.dependencies, &self.dependency_kinds, &places);
        let mut history = History {
            times: self.times.for_all(columns.len()).reordered(&places.0),
            commits: self.commits.reordered(&places.0),
            columns,
            thread_labels: self.thread_labels,
            thread_starts,
            addresses: self.addresses,
            dependencies,
            dependency_kinds,
            pairs: sorted_pairs(&self.pairs, &places),
            marks: self.marks.reordered(&places.0),
            names: names(self.names, &places),
            finals: self.finals,
            orders,
            origins,
            classes,
            uppers: uppers(&self.uppers, &places),
            mixed: None,
        };
        if let Some(bytes) = overlapping {
            take_apart(&mut history, &bytes, thin_air)?;
        }
        Ok(history)
    }

    /// What was written to each address.
    pub(crate) fn written(&self, workers: usize) -> Vec<Written> {
        Written::of_all(&self.columns, self.addresses.len(), workers)
    }

    pub(crate) fn writers(&self, written: &[Written], workers: usize) -> (Writers<'_>, Origins) {
        let finals = self.finals.iter().map(|f| (f.address, f.value));
        let orders = self.orders.iter().flat_map(|(address, names, _)| {
            names.iter().filter_map(|name| match name {
                WriteName::Value(value) => Some((*address, *value)),
                WriteName::Name(_) => None,
            })
        });
        let asked: FxHashSet<(AddressId, Value)> = finals.chain(orders).collect();
        let asked: Vec<(AddressId, Value)> = asked.into_iter().collect();
        Writers::new(&self.columns, &self.addresses, written, &asked, workers)
    }

    /// Every read returned what somebody wrote.
    fn refuse_unwritten(&self, origins: &[Origin]) -> Result<(), BuildError> {
        let unwritten = (0..origins.len()).filter(|&draft| {
            origins[draft] == Origin::NOBODY && self.columns.access(draft).kinds().reads
        });
        let Some(first) = unwritten.min_by_key(|&draft| self.columns.line(draft)) else {
            return Ok(());
        };
        let operation = self.columns.operation(first);
        let (Some(address), Some(value)) = (operation.address(), operation.value_read()) else {
            unreachable!("a read has an address and a value")
        };
        let address = self.label(address);
        let kind = BuildErrorKind::ReadOfUnwritten { address, value };
        Err(error(kind, self.columns.line(first)))
    }

    fn final_origins(
        &self,
        writers: &Writers,
        thin_air: ThinAir,
    ) -> Result<Vec<Origin>, BuildError> {
        let mut origins = Vec::with_capacity(self.finals.len());
        for f in &self.finals {
            let origin = writers.origin_asked(f.address, f.value);
            if origin == Origin::NOBODY && thin_air == ThinAir::Malformed {
                let address = self.label(f.address);
                let kind = BuildErrorKind::FinalOfUnwritten { address, value: f.value };
                return Err(error(kind, f.line));
            }
            origins.push(origin);
        }
        Ok(origins)
    }

    /// The `order` lines, their writes numbered as drafts.
    fn order_chains(&self, writers: &Writers) -> Result<Vec<OrderChain>, BuildError> {
        let mut chains = Vec::with_capacity(self.orders.len());
        for &(address, ref names, line) in &self.orders {
            let mut writes = Vec::with_capacity(names.len());
            for name in names {
                let write = self.named_write(writers, address, name);
                writes.push(write.map_err(|kind| error(kind, line))?);
            }
            let mut sorted = writes.clone();
            sorted.sort_unstable();
            sorted.dedup();
            if sorted.len() != writes.len() {
                let address = self.label(address);
                return Err(error(BuildErrorKind::OrderRepeats { address }, line));
            }
            chains.push(OrderChain { address, writes, line });
        }
        Ok(chains)
    }

    /// The one write of an address that has this name or value.
    fn named_write(
        &self,
        writers: &Writers,
        address: AddressId,
        name: &WriteName,
    ) -> Result<Source, BuildErrorKind> {
        let label = || self.label(address);
        match name {
            &WriteName::Value(value) => {
                let wide = matches!(label(), AddressLabel::Bytes(range) if range.size() > 8);
                if wide {
                    return Err(BuildErrorKind::OrderOfRepeated { address: label(), value });
                }
                let origin = writers.origin_asked(address, value);
                origin.only().ok_or_else(|| match origin {
                    Origin::NOBODY => BuildErrorKind::OrderOfUnwritten { address: label(), value },
                    _ => BuildErrorKind::OrderOfRepeated { address: label(), value },
                })
            }
            WriteName::Name(name) => {
                let writes_here = |draft: &&Draft| {
                    let access = self.columns.access(draft.0 as usize);
                    access.kinds().writes && access.address() == Some(address)
                };
                let draft = self.name_ids.get(name).filter(writes_here);
                draft.map(|draft| Source::Write(EventId::new(draft.0 as usize))).ok_or_else(|| {
                    BuildErrorKind::OrderNamesOther { address: label(), name: name.clone() }
                })
            }
        }
    }

    /// Where each thread starts in thread-major order, and the place of every draft.
    fn thread_major(&self) -> (Vec<u32>, Places) {
        let mut starts = Vec::with_capacity(self.thread_lengths.len() + 1);
        let mut total = 0;
        starts.push(0);
        for length in &self.thread_lengths {
            total += length;
            starts.push(total);
        }
        let mut next = starts.clone();
        let place = |thread: ThreadId| {
            let next = &mut next[thread.index()];
            *next += 1;
            *next - 1
        };
        let places = self.columns.threads().map(place).collect();
        (starts, Places(places))
    }
}

/// Origins and events in their final order. What the events do is listed as soon as that is known.
fn in_place(
    origins: Vec<Origin>,
    columns: Columns,
    places: &Places,
    thread_starts: &[u32],
    workers: usize,
    list: impl FnOnce(&[Access]),
) -> (Vec<Origin>, Columns) {
    if places.0.is_sorted() {
        let columns = columns.trimmed();
        list(columns.accesses());
        return (origins, columns);
    }
    let (values, others) = columns.split_values();
    let ((origins, values), others) = both(
        workers,
        || (origins_in_place(origins, places), scattered(values, &places.0)),
        || {
            let others = others.thread_major(&places.0, thread_starts);
            list(others.accesses());
            others
        },
    );
    (origins, others.with_values(values))
}

fn origins_in_place(origins: Vec<Origin>, places: &Places) -> Vec<Origin> {
    let mut moved = vec![Origin::NOBODY; origins.len()];
    for (origin, &place) in origins.into_iter().zip(&places.0) {
        moved[place as usize] = origin.renumbered(&places.0);
    }
    moved
}

fn classes(mut shared: Vec<(u32, Source)>, places: &Places) -> Classes {
    for (_, source) in &mut shared {
        *source = source.at(|write| places.of_event(write));
    }
    Classes::new(shared)
}

/// Lists the writes of every address.
fn list_writes(accesses: &[Access], addresses: &mut [Address], written: &[Written]) {
    for (address, written) in addresses.iter_mut().zip(written) {
        address.writes.reserve_exact(written.count as usize);
    }
    for_each_write(accesses, |write, address| addresses[address.index()].writes.push(write));
}

/// The dependencies and, where not all are of addresses, their kinds.
fn dependencies(
    drafts: &[(Draft, Draft)],
    kinds: &[DependencyKinds],
    places: &Places,
) -> (Vec<(EventId, EventId)>, Vec<DependencyKinds>) {
    let mut dependencies = sorted_pairs(drafts, places);
    dependencies.dedup();
    if kinds.is_empty() {
        return (dependencies, Vec::new());
    }
    let mut all = vec![DependencyKinds::default(); dependencies.len()];
    for (at, &(to, from)) in drafts.iter().enumerate() {
        let pair = (places.of(to), places.of(from));
        let address = DependencyKinds::only(DependencyKind::Address);
        let kind = kinds.get(at).copied().unwrap_or(address);
        if let Ok(position) = dependencies.binary_search(&pair) {
            all[position] = all[position].union(kind);
        }
    }
    (dependencies, all)
}

fn sorted_pairs(drafts: &[(Draft, Draft)], places: &Places) -> Vec<(EventId, EventId)> {
    let mut pairs: Vec<_> =
        drafts.iter().map(|&(to, from)| (places.of(to), places.of(from))).collect();
    pairs.sort_unstable();
    pairs
}

fn uppers(drafts: &[(Draft, Exchange)], places: &Places) -> Vec<(EventId, Exchange)> {
    let mut uppers: Vec<_> =
        drafts.iter().map(|&(draft, upper)| (places.of(draft), upper)).collect();
    uppers.sort_unstable_by_key(|&(event, _)| event);
    uppers
}

/// Finds the parts of a history whose accesses overlap, and with them who wrote what.
#[cold]
fn take_apart(
    history: &mut History,
    bytes: &[ByteRange],
    thin_air: ThinAir,
) -> Result<(), BuildError> {
    let mixed = Mixed::new(history, bytes)?;
    if thin_air == ThinAir::Malformed {
        mixed.refuse_unwritten(history)?;
    }
    (history.origins, history.classes) = mixed.origins(history);
    let finals = mixed.final_sources(history);
    for (f, sources) in history.finals.iter_mut().zip(finals) {
        f.sources = sources;
    }
    history.mixed = Some(mixed);
    Ok(())
}

fn names(drafts: Vec<(Draft, Box<str>)>, places: &Places) -> Vec<(EventId, Box<str>)> {
    let mut names: Vec<_> =
        drafts.into_iter().map(|(draft, name)| (places.of(draft), name)).collect();
    names.sort_unstable();
    names
}
