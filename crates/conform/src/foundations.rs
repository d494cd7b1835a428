//! The assumptions of a verdict, and which of them are established.
//!
//! The answer of an observer that uses the values of the protocol needs no assumption about values.
//! An observer that distinguishes only a few classes of values assumes that the protocol only copies
//! values, and an observer that distinguishes stores by their classes assumes in addition that every
//! store can have its own value. Every composition states which kind its observer is ([`Values`]);
//! the assumptions follow from that in this file, and nowhere else.
//!
//! | observer | its values | assumptions |
//! |---|---|---|
//! | nice cycles, `sc.rs` | three classes, by which stores are distinguished | causality, data independence, free values, equal first values |
//! | timely loads, `sc_timely_loads.rs` | two classes: one value and all others | causality, data independence, equal first values |
//! | TSO-LB, `tso.rs`, `tso_flat.rs`, `tso_one_address.rs` | those of the protocol | equal first values |
//! | the same, if the protocol has one value | two classes, by which stores are distinguished | causality, data independence, free values, equal first values |
//! | news, `tso_by_address.rs` | three classes, by which stores are distinguished | causality, data independence, free values, equal first values |
//!
//! Ordering cycles (nice cycles in the paper) need free values: Theorem 8.1 of "Verifying sequential
//! consistency … by model checking" takes any run and renames the value of each store by its place in
//! the order of its address. If two stores share a value, or store the initial value, no choice of
//! values gives each store its class, and no lemma covers the run. For timely loads it is sufficient
//! to distinguish the value of one load from all others: two stores may share it. Equal initial
//! values are needed everywhere, because every observer starts with one value for all addresses.
//!
//! A verdict is "verified" only if every assumption of its lemmas is established, or the user has
//! allowed it. If the protocol is data independent, a run that an observer rejects is one of the
//! protocol with its own values; if that is not established, the protocol repeats the run
//! (`own_run.rs`).

use murphi::diagnostic::Diagnostic;

use crate::events::Protocol;
use crate::{free_values, start_states};

/// An assumption under which an observer's verdict is a verdict on the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Foundation {
    /// Every value comes from a choice of a rule, or from a start state.
    Causality,
    /// No decision depends on a value.
    DataIndependence,
    /// Every store has a value that was chosen for this store alone.
    FreeValues,
    /// In every start state, all defined values are equal.
    StartStates,
    /// The protocol has no error with values other than its own. Every search of a composition
    /// checks this.
    OtherValues,
    /// The protocol has loads and stores: otherwise a claim about all of them is vacuous.
    Events,
}

impl Foundation {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Foundation::Causality => "causality",
            Foundation::DataIndependence => "data-independence",
            Foundation::FreeValues => "free-values",
            Foundation::StartStates => "start-states",
            Foundation::OtherValues => "other-values",
            Foundation::Events => "events",
        }
    }

    /// Whether `--assume data-independence` includes this assumption. It does not include that all
    /// start states were checked, or that a search was complete.
    pub fn is_assumable(self) -> bool {
        match self {
            Foundation::Causality | Foundation::DataIndependence | Foundation::FreeValues => true,
            Foundation::StartStates | Foundation::OtherValues | Foundation::Events => false,
        }
    }
}

/// An assumption that is not established: where and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unestablished {
    /// The assumption.
    pub about: Foundation,
    /// The place in the protocol, and the reason.
    pub diagnostic: Diagnostic,
}

/// The values that a composition uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Values {
    /// The values of the protocol.
    Own,
    /// This number of values, each of which may stand for several. The observer's answer is the
    /// same if stores share a value.
    Classes(u64),
    /// This number of values, by which the observer distinguishes stores.
    ClassesOfStores(u64),
}

impl Values {
    /// The number of values, if it differs from that of the protocol.
    pub(crate) fn count(self) -> Option<u64> {
        match self {
            Values::Own => None,
            Values::Classes(count) | Values::ClassesOfStores(count) => Some(count),
        }
    }
}

/// The assumptions that an observer's verdict needs. They follow from `Values`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Premises(&'static [Foundation]);

impl Premises {
    /// The protocol itself, without an observer, needs no assumption.
    pub(crate) const NOTHING: Premises = Premises(&[]);

    pub(crate) fn of(values: Values) -> Self {
        use Foundation::{Causality, DataIndependence, FreeValues, StartStates};
        Premises(match values {
            Values::Own => &[StartStates],
            Values::Classes(_) => &[Causality, DataIndependence, StartStates],
            Values::ClassesOfStores(_) => &[Causality, DataIndependence, FreeValues, StartStates],
        })
    }

    /// Whether this assumption is among them. Every verdict assumes that there are loads and
    /// stores.
    pub fn includes(self, foundation: Foundation) -> bool {
        foundation == Foundation::Events || self.0.contains(&foundation)
    }
}

/// The assumptions that are not established for a protocol.
#[derive(Debug, Clone, Default)]
pub struct Foundations {
    doubts: Vec<Unestablished>,
}

impl Foundations {
    /// What the source alone establishes, for any number of processors.
    pub(crate) fn from_source(protocol: &Protocol) -> Self {
        let mut doubts = protocol.treatment.doubts.clone();
        doubts.extend(free_values::doubts(protocol));
        doubts.extend(start_states::doubts(protocol));
        doubts.extend(protocol.without_events.iter().map(|diagnostic| {
            let (about, diagnostic) = (Foundation::Events, diagnostic.clone());
            Unestablished { about, diagnostic }
        }));
        Foundations { doubts }
    }

    /// What the source and the start states establish, for the declared number of processors.
    pub(crate) fn of_instance(protocol: &Protocol) -> Self {
        let mut found = Foundations::from_source(protocol);
        if found.doubts_about(Foundation::StartStates) && start_states::are_equal(protocol) {
            found.establish(Foundation::StartStates);
        }
        found
    }

    /// All assumptions that are not established.
    pub fn doubts(&self) -> &[Unestablished] {
        &self.doubts
    }

    /// Whether causality, data independence and free values are established, so that a few values
    /// stand for any number.
    pub fn is_independent(&self) -> bool {
        !self.doubts.iter().any(|doubt| doubt.about.is_assumable())
    }

    /// Whether this assumption is not established.
    pub(crate) fn doubts_about(&self, foundation: Foundation) -> bool {
        self.doubts.iter().any(|doubt| doubt.about == foundation)
    }

    /// Records that an assumption was established.
    pub(crate) fn establish(&mut self, foundation: Foundation) {
        self.doubts.retain(|doubt| doubt.about != foundation);
    }

    /// The assumptions of these premises that are not established.
    pub fn against(&self, rests_on: &[Premises]) -> Vec<Unestablished> {
        let needed = |doubt: &&Unestablished| rests_on.iter().any(|one| one.includes(doubt.about));
        self.doubts.iter().filter(needed).cloned().collect()
    }

    /// The assumptions of these premises that are not established: first those that remain if data
    /// independence is assumed, then those that are assumed with it.
    pub fn assuming_independence(
        &self,
        rests_on: &[Premises],
    ) -> (Vec<Unestablished>, Vec<Unestablished>) {
        let stays = |doubt: &Unestablished| !doubt.about.is_assumable();
        self.against(rests_on).into_iter().partition(stays)
    }
}
