//! What random histories are made of: how many of which events, and where they come from.

/// Where a random history comes from: a run of a machine, or a pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// An interleaving.
    Sc,
    /// A machine with a store buffer a thread.
    Tso,
    /// A machine with a store buffer a thread and address.
    Pso,
    /// Every address is sequentially consistent on its own; nothing else is kept.
    PerLocation,
    /// Every thread has a copy of the memory and hears of writes in causal order; the last one it
    /// hears of counts.
    Replicas,
    /// As [`Origin::Replicas`], but the write that was issued last counts, whenever it is heard of.
    ConvergentReplicas,
    /// Each read returns any value that its address ever had.
    Chance,
    /// A cycle of accesses that sequential consistency forbids.
    Cycle,
    /// Two threads that do the same and see the same of each other.
    Mirror,
    /// An example of the literature, changed a little.
    Classic,
}

/// A recipe for random histories. Shares are in percent.
#[derive(Clone, Debug)]
pub struct Shape {
    /// What it is called.
    pub name: &'static str,
    /// The most events, fences included.
    pub events: usize,
    /// The most threads.
    pub threads: usize,
    /// The most addresses.
    pub addresses: usize,
    /// Histories whose writes draw from two values an address, so that reads are ambiguous.
    pub repeated: u32,
    /// Events that are read-modify-writes.
    pub atomics: u32,
    /// Events that are fences.
    pub fences: u32,
    /// Events that depend on an earlier read, where there is one.
    pub dependencies: u32,
    /// Events with times.
    pub times: u32,
    /// Addresses with an `init` line.
    pub initials: u32,
    /// Addresses with a `final` line.
    pub finals: u32,
    /// Addresses with an `order` line.
    pub orders: u32,
    /// Histories in which one value was changed after the run.
    pub mutated: u32,
    /// Histories with a read of a value nobody wrote.
    pub thin_air: u32,
    /// Where they come from; one is drawn for each history.
    pub origins: &'static [Origin],
}

const ALL_ORIGINS: &[Origin] = &[
    Origin::Sc,
    Origin::Tso,
    Origin::Pso,
    Origin::PerLocation,
    Origin::Replicas,
    Origin::ConvergentReplicas,
    Origin::Chance,
    Origin::Cycle,
    Origin::Cycle,
    Origin::Cycle,
    Origin::Mirror,
    Origin::Mirror,
    Origin::Classic,
    Origin::Classic,
];

const STORE_ORIGINS: &[Origin] = &[
    Origin::Tso,
    Origin::Pso,
    Origin::PerLocation,
    Origin::Chance,
    Origin::Cycle,
    Origin::Cycle,
    Origin::Classic,
    Origin::Classic,
];

const RELAXED_ORIGINS: &[Origin] = &[
    Origin::PerLocation,
    Origin::PerLocation,
    Origin::Chance,
    Origin::Cycle,
    Origin::Cycle,
    Origin::Cycle,
];

const CAUSAL_ORIGINS: &[Origin] = &[
    Origin::Replicas,
    Origin::ConvergentReplicas,
    Origin::Tso,
    Origin::Chance,
    Origin::Cycle,
    Origin::Mirror,
    Origin::Classic,
];

impl Shape {
    /// Reads and writes only, every value written once.
    pub fn plain() -> Self {
        Shape {
            name: "plain",
            events: 8,
            threads: 4,
            addresses: 3,
            repeated: 0,
            atomics: 0,
            fences: 0,
            dependencies: 0,
            times: 0,
            initials: 0,
            finals: 0,
            orders: 0,
            mutated: 25,
            thin_air: 0,
            origins: ALL_ORIGINS,
        }
    }

    /// Everything a trace can say.
    pub fn rich() -> Self {
        Shape {
            name: "rich",
            repeated: 25,
            atomics: 15,
            fences: 15,
            dependencies: 20,
            times: 25,
            initials: 15,
            finals: 15,
            orders: 15,
            ..Self::plain()
        }
    }

    /// Many read-modify-writes.
    pub fn atomics() -> Self {
        Shape { name: "atomics", atomics: 40, finals: 10, orders: 10, ..Self::plain() }
    }

    /// Many fences, of all kinds.
    pub fn fences() -> Self {
        Shape { name: "fences", fences: 30, atomics: 5, origins: STORE_ORIGINS, ..Self::plain() }
    }

    /// Few values, so that most reads have several candidate sources.
    pub fn repeated() -> Self {
        Shape {
            name: "repeated",
            repeated: 100,
            atomics: 10,
            initials: 15,
            finals: 15,
            orders: 10,
            ..Self::plain()
        }
    }

    /// Dependencies and times, for the models that read them.
    pub fn relaxed() -> Self {
        Shape {
            name: "relaxed",
            fences: 10,
            dependencies: 50,
            times: 60,
            origins: RELAXED_ORIGINS,
            ..Self::plain()
        }
    }

    /// Runs of replicated memories, few addresses.
    pub fn causal() -> Self {
        Shape { name: "causal", atomics: 5, mutated: 15, origins: CAUSAL_ORIGINS, ..Self::plain() }
    }

    /// As `rich`, and some reads return what nobody wrote: such a history violates every model.
    pub fn thin_air() -> Self {
        Shape { name: "thin-air", thin_air: 50, ..Self::rich() }
    }

    /// Every shape but the one with thin-air reads, whose histories the default parser refuses.
    pub fn all() -> [Shape; 7] {
        [
            Self::plain(),
            Self::rich(),
            Self::atomics(),
            Self::fences(),
            Self::repeated(),
            Self::relaxed(),
            Self::causal(),
        ]
    }

    /// The same with at most this many events.
    pub fn with_events(self, events: usize) -> Self {
        Shape { events, ..self }
    }
}
