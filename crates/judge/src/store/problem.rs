//! A history prepared for one store model: what is known before any engine starts.
//!
//! Known are: who read from whom (where values tell), the fixed edges, what each thread saw of
//! each address, and what `order` and `final` lines say. If these alone contradict each other the
//! history is refuted here. Everything is O(n), but for histories in which times run backwards.

use evidence::{Because, Cycle, Edge, Graph as Which, Node, Proof, Step, Why};
use history::{AddressId, EventId, History, Source};
use models::{Keeps, StoreRules};

use super::coherence;
use super::graph::{Graph, Origin, node};
use super::program_order::{effective, fixed_graph};

/// A history and a store model, with what follows at once.
pub(crate) struct Problem<'a> {
    pub(crate) history: &'a History,
    /// The rules of the graph below.
    pub(crate) rules: StoreRules,
    /// The graph of the model that the graph below is: global, or location if there is only that.
    pub(crate) which: Which,
    /// What each event read from, where only one source is possible.
    pub(crate) sources: Vec<Option<Source>>,
    pub(crate) readers: Readers,
    pub(crate) graph: Graph,
}

/// Who is known to have read what, grouped by write.
#[derive(Clone, Debug, Default)]
pub(crate) struct Readers {
    /// `all[starts[e]..starts[e + 1]]` read the write `e`.
    starts: Vec<u32>,
    all: Vec<EventId>,
    of_initial: Vec<Vec<EventId>>,
}

impl Readers {
    /// Groups the readers of a history by what they read.
    pub(crate) fn new(history: &History, sources: &[Option<Source>]) -> Self {
        let mut starts = vec![0u32; history.len() + 1];
        let mut of_initial = vec![Vec::new(); history.address_count()];
        for (read, source) in sources.iter().enumerate() {
            match source {
                Some(Source::Write(write)) => starts[write.index() + 1] += 1,
                Some(Source::Initial) => {
                    let read = EventId::new(read);
                    let address = history.event(read).address().expect("a read has an address");
                    of_initial[address.index()].push(read);
                }
                None => {}
            }
        }
        for e in 0..history.len() {
            starts[e + 1] += starts[e];
        }
        let mut fill = starts.clone();
        let mut all = vec![EventId::new(0); starts[history.len()] as usize];
        for (read, source) in sources.iter().enumerate() {
            if let Some(Source::Write(write)) = source {
                all[fill[write.index()] as usize] = EventId::new(read);
                fill[write.index()] += 1;
            }
        }
        Self { starts, all, of_initial }
    }

    /// The known readers of a write, in id order.
    pub(crate) fn of(&self, write: EventId) -> &[EventId] {
        &self.all[self.starts[write.index()] as usize..self.starts[write.index() + 1] as usize]
    }

    /// The known readers of an initial write, in id order.
    pub(crate) fn of_initial(&self, address: AddressId) -> &[EventId] {
        &self.of_initial[address.index()]
    }
}

impl<'a> Problem<'a> {
    /// Prepares a history, or refutes it.
    pub(crate) fn new(history: &'a History, rules: StoreRules) -> Result<Self, Proof> {
        let readers_exist = history
            .event_ids()
            .all(|e| !history.event(e).is_read() || !history.sources(e).is_empty())
            && history.finals().iter().all(|f| !f.sources.is_empty());
        if !readers_exist {
            // "It read from one of its candidates" is false when there is none.
            return Err(Proof { steps: vec![Step { clause: vec![], why: Why::Propagation }] });
        }
        let sources = only_sources(history);
        let readers = Readers::new(history, &sources);
        if rules.dependencies {
            thin_air(history, &sources).map_err(by_cycle)?;
        }
        let orders = coherence::seen_orders(history, &rules, &sources).map_err(by_cycle)?;
        let mut graph = fixed_graph(history, &effective(rules), &sources);
        given_orders(history, &mut graph).map_err(by_cycle)?;
        for order in &orders {
            let origin = Origin::Coherence { first: order.first, second: order.second };
            graph.infer(order.before, order.after, origin);
        }
        let which = if rules.global { Which::Global } else { Which::Location };
        let mut problem = Self { history, rules, which, sources, readers, graph };
        problem.reads_of_initial();
        Ok(problem)
    }

    /// The first write of each thread to an address.
    fn thread_firsts(&self, address: AddressId) -> Vec<EventId> {
        let writes = &self.history.address(address).writes;
        writes.chunk_by(|a, b| self.same_thread(*a, *b)).map(|own| own[0]).collect()
    }

    fn same_thread(&self, a: EventId, b: EventId) -> bool {
        self.history.event(a).thread == self.history.event(b).thread
    }

    /// Of reads of one address, in id order, those that stand for all: where the model keeps such
    /// reads in order, the last of each thread.
    pub(crate) fn latest(&self, reads: &[EventId]) -> Vec<EventId> {
        if self.rules.global && self.rules.read_read == Keeps::Never {
            return reads.to_vec();
        }
        reads.chunk_by(|a, b| self.same_thread(*a, *b)).map(|own| own[own.len() - 1]).collect()
    }

    /// Whoever read an initial value came before every write of the address; the first write of
    /// each thread stands for the others.
    fn reads_of_initial(&mut self) {
        for address in self.history.address_ids() {
            if self.readers.of_initial(address).is_empty() {
                continue;
            }
            let firsts = self.thread_firsts(address);
            for read in self.latest(self.readers.of_initial(address)) {
                for &write in firsts.iter().filter(|&&w| w != read) {
                    self.graph.infer(read, write, Origin::OverwritesInitial);
                }
                // A read-modify-write that is its thread's first write also precedes the second.
                if self.history.event(read).is_write()
                    && let Some(&next) = self
                        .history
                        .address(address)
                        .writes
                        .iter()
                        .find(|&&w| self.history.program_order(read, w))
                {
                    self.graph.infer(read, next, Origin::OverwritesInitial);
                }
            }
        }
    }

    /// The cycle as evidence in the graph of this problem.
    pub(crate) fn cycle(&self, edges: Vec<Edge>) -> Cycle {
        Cycle { graph: self.which, edges }
    }
}

/// The source of each event that has only one.
fn only_sources(history: &History) -> Vec<Option<Source>> {
    history
        .event_ids()
        .map(|e| match history.sources(e) {
            [only] => Some(*only),
            _ => None,
        })
        .collect()
}

/// A proof of one cycle.
pub(crate) fn by_cycle(cycle: Cycle) -> Proof {
    Proof { steps: vec![Step { clause: vec![], why: Why::Cycle(cycle) }] }
}

/// dependencies ∪ rf must be acyclic.
pub(crate) fn thin_air(history: &History, sources: &[Option<Source>]) -> Result<(), Cycle> {
    let mut graph = Graph::new(history);
    for &(to, from) in history.dependencies() {
        graph.fix(node(from), node(to), Because::Dependency);
    }
    for read in history.event_ids() {
        if let Some(Source::Write(write)) = sources[read.index()] {
            graph.fix(node(write), node(read), Because::ReadsFrom);
        }
    }
    match graph.topological_order() {
        Ok(_) => Ok(()),
        Err(cycle) => Err(Cycle { graph: Which::ThinAir, edges: graph.evidence(history, &cycle) }),
    }
}

/// What `order` and `final` lines say about the order of writes.
fn given_orders(history: &History, graph: &mut Graph) -> Result<(), Cycle> {
    for chain in history.orders() {
        for pair in chain.writes.windows(2) {
            given(chain.address, pair[0], pair[1], graph)?;
        }
    }
    for f in history.finals() {
        let [last] = f.sources[..] else { continue };
        let writes = &history.address(f.address).writes;
        let thread = |w: &EventId| history.event(*w).thread;
        for own in writes.chunk_by(|a, b| thread(a) == thread(b)) {
            let latest = own.iter().rev().find(|&&w| Source::Write(w) != last);
            if let Some(&write) = latest {
                given(f.address, Source::Write(write), last, graph)?;
            }
        }
    }
    Ok(())
}

fn given(
    address: AddressId,
    before: Source,
    after: Source,
    graph: &mut Graph,
) -> Result<(), Cycle> {
    match (before, after) {
        (Source::Initial, _) => Ok(()),
        (Source::Write(a), Source::Write(b)) => {
            graph.infer(a, b, Origin::Given);
            Ok(())
        }
        (Source::Write(write), Source::Initial) => {
            let (initial, write) = (Node::Initial(address), Node::Event(write));
            let edge = |from, to| Edge { from, to, because: Because::WriteOrder };
            let edges = vec![edge(initial, write), edge(write, initial)];
            Err(Cycle { graph: Which::Location, edges })
        }
    }
}
