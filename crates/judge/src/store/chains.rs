//! Chains: sets of accesses of one thread that the model keeps in order.
//!
//! Clocks count along chains. What forms a chain depends on the model: all accesses of a thread
//! (sc), its writes and its reads (tso: the paper's two virtual processors), its reads and its
//! writes of each address (pso), or only the latter. A read-modify-write stands in two chains
//! where reads and writes have chains of their own. A place in a chain is the id of the event:
//! ids of one thread ascend in program order, so nothing has to be numbered anew.
//!
//! Chains of a thread and an address are as many as threads times addresses. Where clocks that
//! wide would be too large the chains are *thin*: the clock of an access has a chain for the writes
//! of each thread to its own address only (these are *local*, the first of its chains), and the
//! other chains are those of reads and fences. What comes before a read or a fence implies the
//! writes that were read or made before it; other ways from one access of an address to another
//! that pass accesses of other addresses are not known. That finds less, and what it does not find
//! is left to the search.

use history::{AddressId, EventId, History, Kinds, Operation, Source};
use models::{Keeps, StoreRules};

use super::problem::Problem;

const NO_CHAIN: u32 = u32::MAX;

/// Which accesses form chains.
pub(crate) struct Chains {
    count: usize,
    /// How many chains, the first ones, are local.
    local: usize,
    writes: Of,
    reads: Of,
    /// Fences that follow all earlier accesses, if the chains are thin.
    fences: Of,
    /// `parts[starts[a]..starts[a + 1]]` are the chains that write address `a`.
    starts: Vec<u32>,
    parts: Vec<Part>,
    /// In the same way the chains that read each address, if the chains are thin.
    reader_chains: Option<ReaderChains>,
}

/// Who has_source of the writes of an address where these have no chains.
struct ReaderChains {
    starts: Vec<u32>,
    parts: Vec<Part>,
    accesses: Vec<EventId>,
}

/// The chain of each access of a kind.
enum Of {
    /// That of its thread, counted from here.
    Thread(u32),
    /// By event.
    Table(Vec<u32>),
    /// None.
    Nothing,
}

/// The accesses of one thread and chain to one address, as a range of all such accesses.
#[derive(Clone, Copy)]
struct Part {
    thread: u32,
    chain: u32,
    start: u32,
    end: u32,
}

/// The writes of one chain to one address.
#[derive(Clone, Copy)]
pub(crate) struct AddressChain<'h> {
    /// The chain.
    pub(crate) chain: usize,
    /// Its writes to the address, in order. Never empty.
    pub(crate) writes: &'h [EventId],
}

/// The chains in which one event stands; twice the same if it is one.
#[derive(Clone, Copy)]
pub(crate) struct OwnChains {
    chains: Option<[usize; 2]>,
}

impl OwnChains {
    /// For what stands in no chain.
    pub(crate) const NONE: OwnChains = OwnChains { chains: None };

    /// The chains, each once.
    pub(crate) fn iter(self) -> impl Iterator<Item = usize> {
        let [first, second] = match self.chains {
            Some([a, b]) if a == b => [Some(a), None],
            Some([a, b]) => [Some(a), Some(b)],
            None => [None, None],
        };
        first.into_iter().chain(second)
    }
}

impl Chains {
    /// The chains of a problem.
    pub(crate) fn new(problem: &Problem) -> Self {
        let history = problem.history;
        let rules = &problem.rules;
        let threads = history.thread_count() as u32;
        let writes_chained = rules.global && rules.write_write == Keeps::Always;
        let reads_chained = rules.global && rules.read_read == Keeps::Always;
        // A model file may keep all but reads before writes: if every write acquires and every read
        // releases, rvwmo does.
        let all_chained = writes_chained
            && reads_chained
            && rules.write_read == Keeps::Always
            && rules.read_write == Keeps::Always;
        let mut chains = Self {
            count: 0,
            local: 0,
            writes: Of::Nothing,
            reads: Of::Nothing,
            fences: Of::Nothing,
            starts: Vec::with_capacity(history.address_count() + 1),
            parts: Vec::new(),
            reader_chains: None,
        };
        if problem.thin {
            chains.writes = chains.a_chain_a_thread(threads);
            chains.local = chains.count;
        }
        if reads_chained {
            chains.reads = chains.a_chain_a_thread(threads);
        }
        if all_chained {
            chains.writes = Of::Thread(0);
        } else if writes_chained {
            chains.writes = chains.a_chain_a_thread(threads);
        }
        chains.by_address(history, writes_chained || problem.thin);
        if problem.thin {
            if rules.global && history.event_ids().any(|e| history.event(e).is_fence()) {
                chains.fences = chains.a_chain_a_thread(threads);
            }
            chains.reader_chains = Some(chains.reader_chains_by_address(problem));
        }
        chains
    }

    /// Whether clocks would be too large with a chain for each thread and address it writes.
    pub(crate) fn would_be_too_many(
        history: &History,
        rules: &StoreRules,
        most_bytes: usize,
    ) -> bool {
        if rules.global && rules.write_write == Keeps::Always {
            return false;
        }
        let writers = history.address_ids().map(|address| {
            let writes = &history.address(address).writes;
            writes.chunk_by(|a, b| history.thread_of(*a) == history.thread_of(*b)).count()
        });
        let cells = writers.sum::<usize>().saturating_mul(history.len());
        cells.saturating_mul(size_of::<i32>()) > most_bytes
    }

    /// What comes before a read of a chain has_source of the reads of its thread before it; what comes
    /// before a fence, of all accesses of its thread before it. A read that need not follow what it
    /// read, because that is its thread's own, has_source nothing.
    fn reader_chains_by_address(&self, problem: &Problem) -> ReaderChains {
        let history = problem.history;
        let has_source = |event: EventId| match problem.sources[event.index()] {
            Some(Source::Write(source)) => {
                history.kinds_of(event).writes || problem.follows_source(event, source)
            }
            _ => history.kinds_of(event).writes,
        };
        let mut by_address: Vec<(AddressId, u32, u32, EventId)> = Vec::new();
        for thread in history.threads() {
            let chain = |of: &Of| match of {
                Of::Thread(first) => Some(first + thread.index() as u32),
                _ => None,
            };
            for event in history.thread_events(thread) {
                let Some(address) = history.address_of(event).filter(|_| has_source(event)) else {
                    continue;
                };
                let reads = chain(&self.reads).filter(|_| history.kinds_of(event).reads);
                for chain in reads.into_iter().chain(chain(&self.fences)) {
                    by_address.push((address, chain, thread.index() as u32, event));
                }
            }
        }
        by_address.sort_unstable();
        let mut reader_chains =
            ReaderChains { starts: Vec::new(), parts: Vec::new(), accesses: Vec::new() };
        let mut groups = by_address.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).peekable();
        for address in history.address_ids() {
            reader_chains.starts.push(reader_chains.parts.len() as u32);
            while let Some(group) = groups.next_if(|group| group[0].0 == address) {
                let start = reader_chains.accesses.len() as u32;
                reader_chains.accesses.extend(group.iter().map(|entry| entry.3));
                let (_, chain, thread, _) = group[0];
                reader_chains.parts.push(Part {
                    thread,
                    chain,
                    start,
                    end: start + group.len() as u32,
                });
            }
        }
        reader_chains.starts.push(reader_chains.parts.len() as u32);
        reader_chains
    }

    fn a_chain_a_thread(&mut self, threads: u32) -> Of {
        let first = self.count as u32;
        self.count += threads as usize;
        Of::Thread(first)
    }

    /// Finds the writes of each chain to each address; where writes have no chain yet, these are
    /// the chains.
    fn by_address(&mut self, history: &History, given: bool) {
        let mut table = if given { Vec::new() } else { vec![NO_CHAIN; history.len()] };
        for address in history.address_ids() {
            self.starts.push(self.parts.len() as u32);
            let mut start = 0;
            let writes = &history.address(address).writes;
            for own in writes.chunk_by(|a, b| history.thread_of(*a) == history.thread_of(*b)) {
                let thread = history.thread_of(own[0]).index() as u32;
                let chain = match self.writes {
                    Of::Thread(first) => first + thread,
                    _ if given => NO_CHAIN,
                    _ => self.new_chain(&mut table, own),
                };
                let end = start + own.len() as u32;
                self.parts.push(Part { thread, chain, start, end });
                start = end;
            }
        }
        self.starts.push(self.parts.len() as u32);
        if !given {
            self.writes = Of::Table(table);
        }
    }

    fn new_chain(&mut self, table: &mut [u32], writes: &[EventId]) -> u32 {
        let chain = self.count as u32;
        self.count += 1;
        for write in writes {
            table[write.index()] = chain;
        }
        chain
    }

    /// How many chains there are.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// How many chains are local: a clock says of them what comes before its node only of the writes
    /// to the address of the node. They are the first ones, one for each thread.
    pub(crate) fn local(&self) -> usize {
        self.local
    }

    /// How many pairs of a chain and an address it writes there are.
    pub(crate) fn part_count(&self) -> usize {
        self.parts.len()
    }

    /// The indices of the parts of an address.
    pub(crate) fn parts_of(&self, address: AddressId) -> std::ops::Range<usize> {
        self.starts[address.index()] as usize..self.starts[address.index() + 1] as usize
    }

    /// The chain of a part.
    pub(crate) fn chain_of_part(&self, part: usize) -> usize {
        self.parts[part].chain as usize
    }

    /// The part of a write.
    pub(crate) fn part_of(&self, history: &History, write: EventId) -> Option<usize> {
        let thread = history.thread_of(write).index() as u32;
        let parts = self.parts_of(history.address_of(write)?);
        let found = self.parts[parts.clone()].binary_search_by_key(&thread, |p| p.thread).ok();
        found.map(|i| parts.start + i)
    }

    /// Whether the chains of writes are local.
    pub(crate) fn are_thin(&self) -> bool {
        self.reader_chains.is_some()
    }

    /// The indices of the chains that stand for the writes of an address: those that write it, or
    /// read it if the chains are thin.
    pub(crate) fn reader_chains_of(&self, address: AddressId) -> std::ops::Range<usize> {
        match &self.reader_chains {
            None => self.parts_of(address),
            Some(reader_chains) => {
                let start = |a: usize| reader_chains.starts[a] as usize;
                start(address.index())..start(address.index() + 1)
            }
        }
    }

    /// The chain of a reader_chain and its accesses of the address.
    pub(crate) fn reader_chain<'c>(
        &'c self,
        history: &'c History,
        address: AddressId,
        reader_chain: usize,
    ) -> (usize, &'c [EventId]) {
        match &self.reader_chains {
            None => {
                let part = self.part(history, address, reader_chain);
                (part.chain, part.writes)
            }
            Some(reader_chains) => {
                let Part { chain, start, end, .. } = reader_chains.parts[reader_chain];
                (chain as usize, &reader_chains.accesses[start as usize..end as usize])
            }
        }
    }

    /// A part, given its address.
    pub(crate) fn part<'h>(
        &self,
        history: &'h History,
        address: AddressId,
        part: usize,
    ) -> AddressChain<'h> {
        let Part { chain, start, end, .. } = self.parts[part];
        let writes = &history.address(address).writes[start as usize..end as usize];
        AddressChain { chain: chain as usize, writes }
    }

    /// All parts of all addresses.
    pub(crate) fn all_parts<'h>(
        &self,
        history: &'h History,
    ) -> impl Iterator<Item = AddressChain<'h>> {
        history.address_ids().flat_map(move |address| self.of_address(history, address))
    }

    /// The chains that write an address.
    pub(crate) fn of_address<'h>(
        &self,
        history: &'h History,
        address: AddressId,
    ) -> impl Iterator<Item = AddressChain<'h>> + Clone {
        self.parts_of(address).map(move |part| self.part(history, address, part))
    }

    /// The chain in which an event stands as a write.
    pub(crate) fn of_write(&self, history: &History, write: EventId) -> Option<usize> {
        Self::of(&self.writes, history, write)
    }

    /// The chain in which an event stands as a read.
    pub(crate) fn of_read(&self, history: &History, read: EventId) -> Option<usize> {
        Self::of(&self.reads, history, read)
    }

    /// The chains in which an event of these kinds stands.
    pub(crate) fn own_chains(&self, history: &History, event: EventId, kinds: Kinds) -> OwnChains {
        if kinds == Kinds::NONE {
            return self.own_chains_of_fence(history, event);
        }
        let write = if kinds.writes { self.of_write(history, event) } else { None };
        let read = if kinds.reads { self.of_read(history, event) } else { None };
        let chains = match (write, read) {
            (Some(a), Some(b)) => Some([a, b]),
            (Some(one), None) | (None, Some(one)) => Some([one, one]),
            (None, None) => None,
        };
        OwnChains { chains }
    }

    fn own_chains_of_fence(&self, history: &History, fence: EventId) -> OwnChains {
        let follows_all =
            matches!(history.event(fence).operation, Operation::Fence { before: Kinds::ALL, .. });
        let chain = Self::of(&self.fences, history, fence).filter(|_| follows_all);
        OwnChains { chains: chain.map(|chain| [chain, chain]) }
    }

    fn of(chains: &Of, history: &History, event: EventId) -> Option<usize> {
        match chains {
            Of::Thread(first) => Some(*first as usize + history.thread_of(event).index()),
            Of::Table(table) => {
                Some(table[event.index()]).filter(|&c| c != NO_CHAIN).map(|c| c as usize)
            }
            Of::Nothing => None,
        }
    }
}
