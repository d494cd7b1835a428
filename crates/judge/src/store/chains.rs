//! Chains: sets of accesses of one thread that the model keeps in order.
//!
//! Clocks count along chains. What forms a chain depends on the model: all accesses of a thread
//! (sc), its writes and its reads (tso: the paper's two virtual processors), its reads and its
//! writes of each address (pso), or only the latter. A read-modify-write stands in two chains
//! where reads and writes have chains of their own. A place in a chain is the id of the event:
//! ids of one thread ascend in program order, so nothing has to be numbered anew.

use history::{AddressId, EventId, History};
use models::Keeps;

use super::problem::Problem;

const NO_CHAIN: u32 = u32::MAX;

/// Which accesses form chains.
pub(crate) struct Chains {
    count: usize,
    writes: Of,
    reads: Of,
    /// `parts[starts[a]..starts[a + 1]]` are the chains that write address `a`.
    starts: Vec<u32>,
    parts: Vec<Part>,
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

/// The writes of one chain to one address, as a range of the writes of that address.
#[derive(Clone, Copy)]
struct Part {
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

impl Chains {
    /// The chains of a problem.
    pub(crate) fn new(problem: &Problem) -> Self {
        let history = problem.history;
        let rules = &problem.rules;
        let threads = history.thread_count() as u32;
        let writes_chained = rules.global && rules.write_write == Keeps::Always;
        let reads_chained = rules.global && rules.read_read == Keeps::Always;
        let all_chained = writes_chained && reads_chained && rules.write_read == Keeps::Always;
        let mut chains = Self {
            count: 0,
            writes: Of::Nothing,
            reads: Of::Nothing,
            starts: Vec::with_capacity(history.address_count() + 1),
            parts: Vec::new(),
        };
        if reads_chained {
            chains.reads = chains.a_chain_a_thread(threads);
        }
        if all_chained {
            chains.writes = Of::Thread(0);
        } else if writes_chained {
            chains.writes = chains.a_chain_a_thread(threads);
        }
        chains.by_address(history, writes_chained);
        chains
    }

    fn a_chain_a_thread(&mut self, threads: u32) -> Of {
        let first = self.count as u32;
        self.count += threads as usize;
        Of::Thread(first)
    }

    /// Finds the writes of each chain to each address; where writes have no chain yet, these are
    /// the chains.
    fn by_address(&mut self, history: &History, writes_chained: bool) {
        let mut table = if writes_chained { Vec::new() } else { vec![NO_CHAIN; history.len()] };
        for address in history.address_ids() {
            self.starts.push(self.parts.len() as u32);
            let mut start = 0;
            let writes = &history.address(address).writes;
            for own in writes.chunk_by(|a, b| history.thread_of(*a) == history.thread_of(*b)) {
                let chain = match self.writes {
                    Of::Thread(first) => first + history.thread_of(own[0]).index() as u32,
                    _ => self.new_chain(&mut table, own),
                };
                let end = start + own.len() as u32;
                self.parts.push(Part { chain, start, end });
                start = end;
            }
        }
        self.starts.push(self.parts.len() as u32);
        if !writes_chained {
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

    /// A part, given its address.
    pub(crate) fn part<'h>(
        &self,
        history: &'h History,
        address: AddressId,
        part: usize,
    ) -> AddressChain<'h> {
        let Part { chain, start, end } = self.parts[part];
        let writes = &history.address(address).writes[start as usize..end as usize];
        AddressChain { chain: chain as usize, writes }
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
