//! A history prepared for one store model: what is known before any engine starts.
//!
//! Known are: who read from whom (where values identify the write), the fixed edges, what each thread saw of
//! each address, and what `order` and `final` lines say. If these alone contradict each other the
//! history is refuted here. Everything is O(n), but for histories in which times run backwards.

use evidence::{Because, Cycle, Edge, Graph as Which, Node, Proof, Step, Why};
use history::{AddressId, EventId, History, Source};
use models::{Keeps, StoreRules};

use super::coherence::{self, SeenOrder};
use super::graph::{EdgeSink, FixedEdges, Graph, Origin, node};
use super::program_order::{effective, fixed_graph, keeps};

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
    /// Clocks with chains for writes would be too large.
    pub(crate) thin: bool,
}

/// Who is known to have read what, grouped by write. Where the model keeps reads of one address in
/// order, the last reader of each thread stands for its others.
#[derive(Clone, Debug, Default)]
pub(crate) struct Readers {
    /// `all[starts[e]..starts[e + 1]]` read the write `e`.
    starts: Vec<u32>,
    all: Vec<EventId>,
    of_initial: Vec<(AddressId, EventId)>,
}

impl Readers {
    /// Groups the readers of a history by what they read.
    pub(crate) fn new(history: &History, rules: &StoreRules, sources: &[Option<Source>]) -> Self {
        let mut readers = Self { starts: vec![0; history.len() + 1], ..Self::default() };
        let one_a_thread = !rules.global || rules.read_read != Keeps::Never;
        let mut stands_for = LastReaders::new(history, one_a_thread);
        let mut by_write = 0;
        for thread in history.threads() {
            for read in history.thread_events(thread).rev() {
                match sources[read.index()] {
                    Some(Source::Write(write)) if stands_for.is_last(write, thread.index()) => {
                        readers.starts[write.index()] += 1;
                        by_write += 1;
                    }
                    Some(Source::Initial) => {
                        let address = history.address_of(read).expect("a read has an address");
                        readers.of_initial.push((address, read));
                    }
                    _ => {}
                }
            }
        }
        readers.fill(history, sources, one_a_thread, by_write);
        readers.sort_initial(history, one_a_thread);
        readers
    }

    fn fill(
        &mut self,
        history: &History,
        sources: &[Option<Source>],
        one_a_thread: bool,
        by_write: usize,
    ) {
        let mut end = 0;
        for start in &mut self.starts {
            end += *start;
            *start = end;
        }
        self.all = vec![EventId::new(0); by_write];
        let mut stands_for = LastReaders::new(history, one_a_thread);
        // Backwards, so that each group ends up in id order.
        for thread in history.threads().rev() {
            for read in history.thread_events(thread).rev() {
                if let Some(Source::Write(write)) = sources[read.index()]
                    && stands_for.is_last(write, thread.index())
                {
                    let place = &mut self.starts[write.index()];
                    *place -= 1;
                    self.all[*place as usize] = read;
                }
            }
        }
    }

    fn sort_initial(&mut self, history: &History, one_a_thread: bool) {
        self.of_initial.sort_unstable();
        if one_a_thread {
            let group =
                |&(address, read): &(AddressId, EventId)| (address, history.thread_of(read));
            self.of_initial.reverse();
            self.of_initial.dedup_by_key(|r| group(r));
            self.of_initial.reverse();
        }
    }

    /// The known readers of a write that stand for all, in id order.
    pub(crate) fn of(&self, write: EventId) -> &[EventId] {
        &self.all[self.starts[write.index()] as usize..self.starts[write.index() + 1] as usize]
    }

    /// The known readers of initial values that stand for all, grouped by address.
    pub(crate) fn of_initial(&self) -> &[(AddressId, EventId)] {
        &self.of_initial
    }
}

/// Finds the last reader of a write in each thread, walking threads backwards.
struct LastReaders {
    /// The thread whose last reader of each write has been met, plus one.
    met_in: Vec<u32>,
}

impl LastReaders {
    fn new(history: &History, one_a_thread: bool) -> Self {
        Self { met_in: if one_a_thread { vec![0; history.len()] } else { Vec::new() } }
    }

    fn is_last(&mut self, write: EventId, thread: usize) -> bool {
        let thread = thread as u32 + 1;
        match self.met_in.get_mut(write.index()) {
            Some(met) => std::mem::replace(met, thread) != thread,
            None => true,
        }
    }
}

impl<'a> Problem<'a> {
    /// Prepares a history, or refutes it.
    pub(crate) fn new(history: &'a History, rules: StoreRules, thin: bool) -> Result<Self, Proof> {
        let kept = effective(rules);
        let found = |order: &SeenOrder| !thin && rules_find(history, &kept, order);
        let fixed = |sources: &[Option<Source>]| fixed_graph(history, &kept, sources);
        Self::with_fixed(history, rules, thin, found, fixed)
    }

    /// The same with fixed edges that the caller makes, given what each event read where that is
    /// known. `found` says which orders that a thread saw follow from these edges by the rules.
    pub(crate) fn with_fixed(
        history: &'a History,
        rules: StoreRules,
        thin: bool,
        found: impl Fn(&SeenOrder) -> bool,
        fixed: impl FnOnce(&[Option<Source>]) -> Graph,
    ) -> Result<Self, Proof> {
        let readers_exist = history
            .event_ids()
            .all(|e| !history.event(e).is_read() || !history.sources(e).is_empty())
            && history.finals().iter().all(|f| !f.sources.is_empty());
        if !readers_exist {
            // "It read from one of its candidates" is false when there is none.
            return Err(Proof { steps: vec![Step { clause: vec![], why: Why::Propagation }] });
        }
        let sources = only_sources(history);
        let readers = Readers::new(history, &rules, &sources);
        if rules.dependencies {
            thin_air(history, &sources).map_err(by_cycle)?;
        }
        let mut graph = fixed(&sources);
        given_orders(history, &mut graph).map_err(by_cycle)?;
        coherence::seen_orders(history, &rules, &sources, |order| {
            if !found(&order) {
                let origin = Origin::Coherence { first: order.first, second: order.second };
                graph.infer(order.before, order.after, origin);
            }
        })
        .map_err(by_cycle)?;
        let which = if rules.global { Which::Global } else { Which::Location };
        let mut problem = Self { history, rules, which, sources, readers, graph, thin };
        problem.reads_of_initial();
        Ok(problem)
    }

    /// The first write of each thread to an address.
    fn thread_firsts(&self, address: AddressId) -> Vec<EventId> {
        let writes = &self.history.address(address).writes;
        writes.chunk_by(|a, b| self.same_thread(*a, *b)).map(|own| own[0]).collect()
    }

    fn same_thread(&self, a: EventId, b: EventId) -> bool {
        self.history.thread_of(a) == self.history.thread_of(b)
    }

    /// Whether a read comes after the write it read: where a thread sees its own writes early, it
    /// need not.
    pub(crate) fn follows_source(&self, read: EventId, source: EventId) -> bool {
        self.rules.own_reads_visible || !self.same_thread(read, source)
    }

    /// Whoever read an initial value came before every write of the address; the first write of
    /// each thread stands for the others.
    fn reads_of_initial(&mut self) {
        let readers = self.readers.of_initial().to_vec();
        for group in readers.chunk_by(|a, b| a.0 == b.0) {
            let address = group[0].0;
            let firsts = self.thread_firsts(address);
            for &(_, read) in group {
                for &write in firsts.iter().filter(|&&w| w != read) {
                    self.graph.infer(read, write, Origin::OverwritesInitial);
                }
                // A read-modify-write that is its thread's first write also precedes the second.
                if self.history.kinds_of(read).writes {
                    let writes = &self.history.address(address).writes;
                    let next = writes.partition_point(|&w| w <= read);
                    if let Some(&next) = writes.get(next)
                        && self.same_thread(read, next)
                    {
                        self.graph.infer(read, next, Origin::OverwritesInitial);
                    }
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

/// Whether rules R6 and R7 infer an order that a thread saw: the first access is known to follow
/// what it saw, and the model keeps the two accesses in order.
pub(crate) fn rules_find(history: &History, kept: &StoreRules, order: &SeenOrder) -> bool {
    let SeenOrder { before, first, second, .. } = *order;
    let follows = first == before
        || kept.own_reads_visible
        || kept.write_read != Keeps::Never
        || history.thread_of(first) != history.thread_of(before);
    follows && (first == second || keeps(kept, history.kinds_of(first), history.kinds_of(second)))
}

/// A proof of one cycle.
pub(crate) fn by_cycle(cycle: Cycle) -> Proof {
    Proof { steps: vec![Step { clause: vec![], why: Why::Cycle(cycle) }] }
}

/// dependencies ∪ rf must be acyclic.
pub(crate) fn thin_air(history: &History, sources: &[Option<Source>]) -> Result<(), Cycle> {
    let mut edges = FixedEdges::new(history);
    for &(to, from) in history.dependencies() {
        edges.fix(node(from), node(to), Because::Dependency);
    }
    for read in history.event_ids() {
        if let Some(Source::Write(write)) = sources[read.index()] {
            edges.fix(node(write), node(read), Because::ReadsFrom);
        }
    }
    let graph = edges.seal();
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
