//! Sub-histories: what is left of a history when some of its events and lines go.
//!
//! A sub-history is exactly what reading the trace again without the lines of those events would
//! give, but without the reading: one pass over the tables, no hashing. Shrinking a violation takes
//! hundreds of these. Where accesses of mixed sizes overlap, cells change with what is left, and the
//! sub-history is built anew (`retain/rebuild.rs`).

mod rebuild;

pub(crate) use rebuild::EventContent;

use crate::build_error::{BuildError, BuildErrorKind};
use crate::columns::Columns;
use crate::commit::CommitColumns;
use crate::event::{AddressId, Event, EventId, Source, ThreadId, Times};
use crate::history::{Address, Final, History, OrderChain};
use crate::marks::Marks;
use crate::origin::{Classes, Origin};
use crate::times::TimeColumns;

/// Which `final` and `order` lines stay in a sub-history.
#[derive(Clone, Copy, Debug)]
pub enum Lines<'a> {
    /// All of them.
    All,
    /// None of them.
    None,
    /// All `order` lines, and the `final` lines whose value somebody still wrote.
    Supported,
    /// Those whose entry, in the order of [`History::finals`] and [`History::orders`], is true; a
    /// missing entry is false.
    Chosen {
        /// The `final` lines.
        finals: &'a [bool],
        /// The `order` lines.
        orders: &'a [bool],
    },
}

impl Lines<'_> {
    fn keeps_final(self, index: usize) -> bool {
        match self {
            Lines::All | Lines::Supported => true,
            Lines::None => false,
            Lines::Chosen { finals, .. } => finals.get(index).copied().unwrap_or(false),
        }
    }

    fn keeps_order(self, index: usize) -> bool {
        match self {
            Lines::All | Lines::Supported => true,
            Lines::None => false,
            Lines::Chosen { orders, .. } => orders.get(index).copied().unwrap_or(false),
        }
    }
}

impl History {
    /// The sub-history of the chosen events and lines.
    ///
    /// Kept events keep their thread, order, line, name, annotation and times, and their dependencies
    /// on kept reads; a store-conditional without its load is a plain write; ids and places in program order close up, ascending as before. `init` lines stay for
    /// addresses still in use. An `order` line loses the writes that are gone, and goes when fewer
    /// than two are left. A read that had sources and loses them all is an error, and so is a kept
    /// `final`; one that never had any (a thin-air value) stays as it is.
    ///
    /// ```
    /// use tribunal_history::{Lines, parse_text};
    ///
    /// let history = parse_text("0: x := 1\n0: y := 1\n1: y == 1\n1: x == 0").unwrap();
    /// let without_y = history.retain(|e| history.event(e).line % 3 == 1, Lines::All).unwrap();
    /// assert_eq!(without_y.len(), 2);
    /// let unread = history.retain(|e| history.event(e).line != 2, Lines::All).unwrap_err();
    /// assert_eq!(unread.line, 3);
    /// ```
    pub fn retain(
        &self,
        keep: impl Fn(EventId) -> bool,
        lines: Lines<'_>,
    ) -> Result<History, BuildError> {
        if self.mixed.is_some() {
            return self.rebuild(keep, lines);
        }
        let new_ids = renumber(self.event_ids().map(keep));
        let finals = self.kept_finals(&new_ids, lines)?;
        let orders = self.kept_orders(&new_ids, lines);
        let used = self.used_addresses(&new_ids, &finals, &orders);
        let new_addresses = renumber(used.into_iter());
        let mut kept = History {
            columns: Columns::default(),
            thread_labels: Vec::new(),
            thread_starts: vec![0],
            addresses: self.kept_addresses(&new_addresses, &new_ids),
            times: TimeColumns::default(),
            commits: CommitColumns::default(),
            dependencies: Vec::new(),
            dependency_kinds: Vec::new(),
            pairs: Vec::new(),
            marks: Marks::default(),
            names: Vec::new(),
            finals,
            orders,
            origins: Vec::new(),
            classes: Classes::new(Vec::new()),
            uppers: Vec::new(),
            mixed: None,
        };
        for f in &mut kept.finals {
            f.address = new_address(&new_addresses, f.address);
        }
        for chain in &mut kept.orders {
            chain.address = new_address(&new_addresses, chain.address);
        }
        self.keep_events(&mut kept, &new_ids, &new_addresses);
        self.keep_attributes(&mut kept, &new_ids);
        self.keep_sources(&mut kept, &new_ids)?;
        Ok(kept)
    }

    fn kept_sources(&self, sources: &[Source], new_ids: &[Option<u32>]) -> Vec<Source> {
        sources.iter().filter_map(|&source| kept_source(source, new_ids)).collect()
    }

    fn kept_finals(
        &self,
        new_ids: &[Option<u32>],
        lines: Lines<'_>,
    ) -> Result<Vec<Final>, BuildError> {
        let mut finals = Vec::new();
        for (_, f) in self.finals.iter().enumerate().filter(|&(f, _)| lines.keeps_final(f)) {
            let sources = self.kept_sources(&f.sources, new_ids);
            if sources.is_empty() && !f.sources.is_empty() {
                if matches!(lines, Lines::Supported) {
                    continue;
                }
                let address = self.address(f.address).label.clone();
                let kind = BuildErrorKind::FinalOfUnwritten { address, value: f.value };
                return Err(BuildError { kind, line: f.line });
            }
            finals.push(Final { sources, ..*f });
        }
        Ok(finals)
    }

    fn kept_orders(&self, new_ids: &[Option<u32>], lines: Lines<'_>) -> Vec<OrderChain> {
        let kept = self.orders.iter().enumerate().filter(|&(chain, _)| lines.keeps_order(chain));
        kept.map(|(_, chain)| OrderChain {
            writes: self.kept_sources(&chain.writes, new_ids),
            ..*chain
        })
        .filter(|chain| chain.writes.len() >= 2)
        .collect()
    }

    fn used_addresses(
        &self,
        new_ids: &[Option<u32>],
        finals: &[Final],
        orders: &[OrderChain],
    ) -> Vec<bool> {
        let mut used = vec![false; self.addresses.len()];
        for (access, _) in
            self.columns.accesses().iter().zip(new_ids).filter(|(_, id)| id.is_some())
        {
            if let Some(address) = access.address() {
                used[address.index()] = true;
            }
        }
        let by_lines = finals.iter().map(|f| f.address).chain(orders.iter().map(|o| o.address));
        for address in by_lines {
            used[address.index()] = true;
        }
        used
    }

    fn kept_addresses(
        &self,
        new_addresses: &[Option<u32>],
        new_ids: &[Option<u32>],
    ) -> Vec<Address> {
        let kept = self.addresses.iter().zip(new_addresses).filter(|(_, id)| id.is_some());
        kept.map(|(address, _)| Address {
            label: address.label.clone(),
            writes: address.writes.iter().filter_map(|&w| new_event(w, new_ids)).collect(),
            ..*address
        })
        .collect()
    }

    /// Events with their threads.
    fn keep_events(
        &self,
        kept: &mut History,
        new_ids: &[Option<u32>],
        new_addresses: &[Option<u32>],
    ) {
        for thread in self.threads() {
            let start = kept.columns.len();
            let new_thread = ThreadId::new(kept.thread_labels.len());
            for id in self.thread_events(thread).filter(|id| new_ids[id.index()].is_some()) {
                let Event { operation, line, .. } = self.event(id);
                let operation = operation.at(|a| new_address(new_addresses, a));
                kept.columns.push(new_thread, operation, line);
            }
            if kept.columns.len() > start {
                kept.thread_labels.push(self.thread_label(thread));
                kept.thread_starts.push(kept.columns.len() as u32);
            }
        }
    }

    /// Times, names, dependencies, pairs and annotations.
    fn keep_attributes(&self, kept: &mut History, new_ids: &[Option<u32>]) {
        for id in self.event_ids().filter(|_| self.has_times()) {
            let times = self.times(id);
            if let (Some(new), true) = (new_event(id, new_ids), times != Times::default()) {
                kept.times.set(new.index(), times);
            }
        }
        for id in self.event_ids().filter(|_| !self.commits.is_empty()) {
            if let (Some(new), Some(commit)) = (new_event(id, new_ids), self.commit(id)) {
                let text = commit.instruction.map(|text| kept.commits.text(text));
                let text = text.unwrap_or(CommitColumns::NO_TEXT);
                kept.commits.set(new.index(), commit.pc, text, commit.cycle);
            }
        }
        kept.times = std::mem::take(&mut kept.times).for_all(kept.columns.len());
        kept.names = self
            .names
            .iter()
            .filter_map(|(event, name)| Some((new_event(*event, new_ids)?, name.clone())))
            .collect();
        let new_pair = |&(to, from): &(EventId, EventId)| {
            Some((new_event(to, new_ids)?, new_event(from, new_ids)?))
        };
        kept.pairs = self.pairs.iter().filter_map(new_pair).collect();
        // A store-conditional without its load is a plain write, on which nothing depends.
        let new_dependency = |pair: &(EventId, EventId)| {
            let (to, from) = new_pair(pair)?;
            kept.may_be_depended_on(from).then_some((to, from))
        };
        let dependencies = self.dependencies.iter().filter_map(new_dependency).collect();
        if !self.dependency_kinds.is_empty() {
            let all = self.dependencies.iter().zip(&self.dependency_kinds);
            kept.dependency_kinds =
                all.filter_map(|(pair, &kinds)| new_dependency(pair).map(|_| kinds)).collect();
        }
        kept.dependencies = dependencies;
        for id in self.event_ids().filter(|_| self.has_annotations()) {
            if let (Some(new), Some(mark)) = (new_event(id, new_ids), self.marks.get(id.index())) {
                kept.marks.set(new.index(), mark);
            }
        }
    }

    /// Candidate sources: those still there. Every class is looked at once.
    fn keep_sources(&self, kept: &mut History, new_ids: &[Option<u32>]) -> Result<(), BuildError> {
        let mut new_classes: Vec<Option<Origin>> = vec![None; self.classes.count()];
        let mut first_error: Option<BuildError> = None;
        for id in self.event_ids().filter(|id| new_ids[id.index()].is_some()) {
            let old = self.origins[id.index()];
            let new = match (old.only(), old.class()) {
                (Some(only), _) => kept_source(only, new_ids).map_or(Origin::NOBODY, Origin::from),
                (None, class) => {
                    *new_classes[class.unwrap_or(0) as usize].get_or_insert_with(|| {
                        let sources = self.sources(id).iter();
                        kept.classes
                            .push(sources.filter_map(|&source| kept_source(source, new_ids)))
                    })
                }
            };
            let lost = new == Origin::NOBODY && old != Origin::NOBODY;
            let line = self.columns.line(id.index());
            if lost && first_error.as_ref().is_none_or(|e| line < e.line) {
                first_error = Some(self.unread(id));
            }
            kept.origins.push(new);
        }
        first_error.map_or(Ok(()), Err)
    }

    fn unread(&self, read: EventId) -> BuildError {
        let Event { operation, line, .. } = self.event(read);
        let address = operation.address().map(|a| self.address(a).label.clone());
        let (Some(address), Some(value)) = (address, operation.value_read()) else {
            unreachable!("only reads have sources to lose")
        };
        BuildError { kind: BuildErrorKind::ReadOfUnwritten { address, value }, line }
    }
}

/// Numbers the chosen items in order.
fn renumber(chosen: impl Iterator<Item = bool>) -> Vec<Option<u32>> {
    let mut next = 0;
    chosen
        .map(|chosen| {
            chosen.then(|| {
                next += 1;
                next - 1
            })
        })
        .collect()
}

fn new_event(event: EventId, new_ids: &[Option<u32>]) -> Option<EventId> {
    new_ids[event.index()].map(|id| EventId::new(id as usize))
}

fn kept_source(source: Source, new_ids: &[Option<u32>]) -> Option<Source> {
    match source {
        Source::Initial => Some(Source::Initial),
        Source::Write(write) => new_event(write, new_ids).map(Source::Write),
    }
}

fn new_address(new_addresses: &[Option<u32>], address: AddressId) -> AddressId {
    let new = new_addresses[address.index()].expect("an address in use is kept");
    AddressId::new(new as usize)
}
