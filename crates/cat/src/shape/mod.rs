//! The shape of a model: whether its conditions are those that the engines for long traces know.
//!
//! Most hardware models ask for three things: each location on its own is coherent, nothing comes
//! between the halves of an atomic, and one global order has no cycle, which is what the model keeps
//! of program order together with `rf` or `rfe`, `co` and `fr`. A [`Shape`] says so, with what is
//! kept as a list of [`Path`]s: steps from event to event with a test at each stop. What is kept may
//! depend on who read what (rules 2, 3 and 12 of RVWMO), but not on the order of writes. Where a
//! condition is of another form, [`CatModel::shape`] says which.

mod coherence;
mod forms;
mod global;
mod paths;
mod sets;

use global::Hazards;

use crate::graph::{Graph, NodeId};
use crate::load::CatModel;
use crate::syntax::Test;

pub use global::Global;
pub use paths::{Path, Step};
pub use sets::{EventSort, SetTest};

/// What makes each location coherent: `acyclic po-loc | rf | co | fr`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Location {
    /// The axiom of this number says so.
    Axiom(usize),
    /// The global axiom implies it.
    Global,
    /// These axioms and the global one imply it together (`coherence`).
    Together([usize; 3]),
}

/// Which condition puts the read of an atomic before its write.
///
/// With `amo` in the global condition only, locations are coherent with `amo`, too, if no atomic reads
/// what it writes: let R and W be the halves and V the write that R read. If W co V, and V is of another
/// thread, then W co V rfe R amo W is a cycle of the global condition. If V is of this thread, it stands
/// before R and W, and W co V goes against `po-loc`, or behind them, and V rf R does. So V co W, and a
/// cycle of `po-loc | amo | rf | co | fr` would be one without `amo`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HalvesOrder {
    /// None.
    Open,
    /// The global one.
    Global,
    /// That of locations, or all those that make locations coherent together.
    Location,
}

/// The axiom that nothing comes between the halves of an atomic and between the accesses of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairAxiom {
    /// The number of the axiom.
    pub axiom: usize,
    /// Whether it says nothing of a pair if the thread itself writes the address in between.
    pub exempts_own_writes: bool,
}

/// A model that the engines for long traces know.
#[derive(Debug, Clone)]
pub struct Shape {
    /// What makes each location coherent.
    pub location: Location,
    /// Which condition orders the halves of an atomic.
    pub halves: HalvesOrder,
    /// Whether two reads of a location may swap, those of atomics aside.
    pub location_swaps_reads: bool,
    /// The axiom that no value depends on itself: dependencies of all kinds, and `rf`.
    pub thin_air: Option<usize>,
    /// The axiom of atomics and pairs.
    pub atomicity: Option<PairAxiom>,
    /// The global condition, if there is one.
    pub global: Option<Global>,
}

impl Shape {
    /// The axiom that asks for coherence of each location, if there is one for it alone.
    pub fn location_axiom(&self) -> Option<usize> {
        match self.location {
            Location::Axiom(number) => Some(number),
            Location::Global | Location::Together(_) => None,
        }
    }

    /// All axioms that coherence of locations rests on.
    pub fn location_axioms(&self) -> Vec<usize> {
        let global = self.global.as_ref().map(|global| global.axiom);
        match self.location {
            Location::Axiom(number) => vec![number],
            Location::Global => global.into_iter().collect(),
            Location::Together(three) => three.into_iter().chain(global).collect(),
        }
    }
}

impl CatModel {
    /// The axiom that asks for coherence of each location, if one has that form.
    pub fn location_axiom(&self) -> Option<usize> {
        let reader = Reader { graph: &self.graph };
        self.graph.axioms.iter().position(|axiom| {
            let mut parts = Vec::new();
            reader.parts(axiom.node, &mut parts);
            axiom.test == Test::Acyclic && !axiom.negated && reader.is_location(&parts)
        })
    }

    /// The shape of the model, or the number of an axiom that is of another form.
    pub fn shape(&self) -> Result<Shape, usize> {
        let reader = Reader { graph: &self.graph };
        let mut conditions = Conditions::default();
        for (number, axiom) in self.graph.axioms.iter().enumerate() {
            if axiom.negated {
                return Err(number);
            }
            let is_known = match axiom.test {
                Test::Acyclic => conditions.acyclic(&reader, number, axiom.node),
                Test::Empty => conditions.empty(&reader, number, axiom.node),
                Test::Irreflexive => conditions.irreflexive(&reader, number, axiom.node),
            };
            if !is_known {
                return Err(number);
            }
        }
        conditions.shape(&reader)
    }

    /// Whether an event of a sort is in a set.
    pub fn is_in(&self, test: SetTest, sort: &EventSort) -> bool {
        Reader { graph: &self.graph }.passes(&test, sort)
    }
}

/// The conditions of a model by their forms.
#[derive(Default)]
struct Conditions {
    location: Option<usize>,
    location_orders_halves: bool,
    location_swaps_reads: bool,
    thin_air: Option<usize>,
    atomicity: Option<PairAxiom>,
    globals: Vec<(usize, Vec<NodeId>)>,
    /// By form of coherence within a thread, the axiom that asks for it.
    within_threads: [Option<usize>; 3],
}

impl Conditions {
    fn acyclic(&mut self, reader: &Reader<'_>, number: usize, node: NodeId) -> bool {
        let mut parts = Vec::new();
        reader.parts(node, &mut parts);
        if reader.is_location(&parts) {
            let swaps_reads = reader.has(&parts, |part| reader.is_but_reads(part));
            if self.location.is_some() && swaps_reads != self.location_swaps_reads {
                return false;
            }
            self.location = Some(number);
            self.location_swaps_reads = swaps_reads;
            self.location_orders_halves |= reader.orders_halves(&parts);
        } else if reader.is_thin_air(&parts) {
            self.thin_air = Some(number);
        } else {
            self.globals.push((number, parts));
        }
        true
    }

    fn empty(&mut self, reader: &Reader<'_>, number: usize, node: NodeId) -> bool {
        let found = reader.atomicity(node);
        if let Some(exempts_own_writes) = found {
            self.atomicity = Some(PairAxiom { axiom: number, exempts_own_writes });
        }
        found.is_some()
    }

    fn irreflexive(&mut self, reader: &Reader<'_>, number: usize, node: NodeId) -> bool {
        let form = reader.form_within_threads(node);
        if let Some(form) = form {
            self.within_threads[form as usize] = Some(number);
        }
        form.is_some()
    }

    fn shape(self, reader: &Reader<'_>) -> Result<Shape, usize> {
        let global = self.global(reader)?;
        let location = self.location(global.as_ref())?;
        let is_global = |is: fn(&Global) -> bool| global.as_ref().is_some_and(is);
        let halves = match location {
            Location::Axiom(_) if self.location_orders_halves => HalvesOrder::Location,
            Location::Axiom(_) if self.location_swaps_reads => HalvesOrder::Open,
            Location::Axiom(_) if is_global(|global| global.orders_halves) => HalvesOrder::Global,
            Location::Global if is_global(|global| global.halves_are_one) => HalvesOrder::Location,
            Location::Axiom(_) | Location::Global => HalvesOrder::Open,
            Location::Together(_) => HalvesOrder::Location,
        };
        Ok(Shape {
            location,
            halves,
            location_swaps_reads: self.location_swaps_reads,
            thin_air: self.thin_air,
            atomicity: self.atomicity,
            global,
        })
    }

    /// The global condition. An axiom whose parts are all among those of another follows from it.
    fn global(&self, reader: &Reader<'_>) -> Result<Option<Global>, usize> {
        let largest = self.globals.iter().max_by_key(|(_, parts)| parts.len());
        let Some((number, parts)) = largest else { return Ok(None) };
        let is_part = |part: &NodeId| parts.contains(part);
        let other = self.globals.iter().find(|(_, other)| !other.iter().all(is_part));
        if let Some(&(number, _)) = other {
            return Err(number);
        }
        reader.global(*number, parts).map(Some).ok_or(*number)
    }

    /// What makes locations coherent, or the number of an axiom that stands in the way.
    fn location(&self, global: Option<&Global>) -> Result<Location, usize> {
        if let Some(number) = self.location {
            // What is said of the accesses of a thread beside it follows from it, if it is about all
            // of them.
            let beside = self.within_threads.into_iter().flatten().next();
            let hazard = global.filter(|global| global.hazards != Hazards::None);
            let beside = beside.or(hazard.map(|global| global.axiom));
            let is_of_all = self.location_orders_halves && !self.location_swaps_reads;
            return match beside {
                Some(other) if !is_of_all => Err(other),
                _ => Ok(Location::Axiom(number)),
            };
        }
        let Some(global) = global else { return Err(0) };
        match self.within_threads {
            [None, None, None] => {
                global.implies_locations().then_some(Location::Global).ok_or(global.axiom)
            }
            [Some(a), Some(b), Some(c)] if global.hazards == Hazards::All => {
                Ok(Location::Together([a, b, c]))
            }
            _ => Err(global.axiom),
        }
    }
}

struct Reader<'a> {
    graph: &'a Graph,
}
