//! What a verdict rests on, and whether that is established.
//!
//! An observer that has the values of the protocol answers about the protocol as it is. An observer
//! that distinguishes only a few classes of values answers about it if values are cargo, and one that
//! distinguishes stores by their classes needs more: a value for each store. Which of these an
//! observer is, it says when it is composed ([`Values`]), and nothing can be composed without; what
//! its answer rests on follows from that here, and only here.
//!
//! | observer | its values | rests on |
//! |---|---|---|
//! | nice cycles, `sc.rs` | three classes, by which stores are distinguished | causality, data independence, free values, equal first values |
//! | timely loads, `sc_in_time.rs` | two classes: one value and all others | causality, data independence, equal first values |
//! | TSO-LB, `tso.rs`, `tso_flat.rs`, `tso_one_address.rs` | those of the protocol | equal first values |
//! | the same, if the protocol has one value | two classes, by which stores are distinguished | causality, data independence, free values, equal first values |
//! | news, `tso_by_address.rs` | three classes, by which stores are distinguished | causality, data independence, free values, equal first values |
//!
//! Nice cycles need free values: Theorem 8.1 of "Verifying sequential consistency … by model
//! checking" takes any run and renames the value of each store by its place in the order of its
//! location. If two stores share a value, or store what was there at first, no choice of values
//! gives each its class, and the run is one that no lemma looks at. For timely loads it is enough to
//! distinguish the value of one load from all others: two stores may share it. Equal first values are
//! needed everywhere, because every observer begins with one value for all addresses.
//!
//! A verdict is "verified" only if everything that its lemmas rest on is established, or assumed
//! because the user said so. A run that an observer objects to is one of the protocol with its own
//! values if data is independent; if that is in doubt, the protocol is asked (`own_run.rs`).

use murphi::diagnostic::Diagnostic;

use crate::events::Protocol;
use crate::{free_values, start_states};

/// Something that must be so for the answer of an observer to be one about the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Foundation {
    /// Every value comes from a choice of a rule, or from the start state.
    Causality,
    /// No decision depends on a value.
    DataIndependence,
    /// Every store has a value that was chosen for it alone.
    FreeValues,
    /// In every start state, all places that hold a value hold the same one.
    StartStates,
    /// The protocol does not fail with other values than it has. Every search of a composition
    /// shows it.
    OtherValues,
    /// There are loads and stores: what is said of all of them is not said of none.
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

    /// Whether it is part of what is assumed when data independence is. That an observer has not
    /// looked at all start states, or has not come to an end, cannot be assumed away.
    pub fn is_assumable(self) -> bool {
        match self {
            Foundation::Causality | Foundation::DataIndependence | Foundation::FreeValues => true,
            Foundation::StartStates | Foundation::OtherValues | Foundation::Events => false,
        }
    }
}

/// That something is not established: where and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unestablished {
    /// What is not established.
    pub about: Foundation,
    /// The place in the protocol, and the reason.
    pub diagnostic: Diagnostic,
}

/// Which values a composition has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Values {
    /// Those of the protocol.
    Own,
    /// So many, each of which may stand for several. What the observer distinguishes is distinguished
    /// whichever stores share a value.
    Classes(u64),
    /// So many, by which the observer distinguishes stores.
    ClassesOfStores(u64),
}

impl Values {
    /// How many there are, if it is not as many as the protocol has.
    pub(crate) fn count(self) -> Option<u64> {
        match self {
            Values::Own => None,
            Values::Classes(count) | Values::ClassesOfStores(count) => Some(count),
        }
    }
}

/// What the answer of an observer rests on. It is had from `Values` only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Premises(&'static [Foundation]);

impl Premises {
    /// The protocol as it is, without an observer.
    pub(crate) const NOTHING: Premises = Premises(&[]);

    pub(crate) fn of(values: Values) -> Self {
        use Foundation::{Causality, DataIndependence, FreeValues, StartStates};
        Premises(match values {
            Values::Own => &[StartStates],
            Values::Classes(_) => &[Causality, DataIndependence, StartStates],
            Values::ClassesOfStores(_) => &[Causality, DataIndependence, FreeValues, StartStates],
        })
    }

    /// Whether it rests on this. Every answer is about loads and stores.
    pub fn includes(self, foundation: Foundation) -> bool {
        foundation == Foundation::Events || self.0.contains(&foundation)
    }
}

/// What is not established about a protocol.
#[derive(Debug, Clone, Default)]
pub struct Foundations {
    doubts: Vec<Unestablished>,
}

impl Foundations {
    /// What the source shows for any number of processors.
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

    /// What the source and the start states show for as many processors as the protocol has.
    pub(crate) fn of_instance(protocol: &Protocol) -> Self {
        let mut found = Foundations::from_source(protocol);
        if found.doubts_about(Foundation::StartStates) && start_states::are_equal(protocol) {
            found.establish(Foundation::StartStates);
        }
        found
    }

    /// Everything that is not established.
    pub fn doubts(&self) -> &[Unestablished] {
        &self.doubts
    }

    /// Whether causality, data independence and free values are established: a few values stand
    /// for any number of them.
    pub fn is_independent(&self) -> bool {
        !self.doubts.iter().any(|doubt| doubt.about.is_assumable())
    }

    /// Whether this is not established.
    pub(crate) fn doubts_about(&self, foundation: Foundation) -> bool {
        self.doubts.iter().any(|doubt| doubt.about == foundation)
    }

    /// It has been shown.
    pub(crate) fn establish(&mut self, foundation: Foundation) {
        self.doubts.retain(|doubt| doubt.about != foundation);
    }

    /// What speaks against an answer that rests on all of these.
    pub fn against(&self, rests_on: &[Premises]) -> Vec<Unestablished> {
        let needed = |doubt: &&Unestablished| rests_on.iter().any(|one| one.includes(doubt.about));
        self.doubts.iter().filter(needed).cloned().collect()
    }

    /// What speaks against an answer that rests on all of these, parted into what is left if data
    /// independence is assumed, and what is assumed with it.
    pub fn assuming_independence(
        &self,
        rests_on: &[Premises],
    ) -> (Vec<Unestablished>, Vec<Unestablished>) {
        let stays = |doubt: &Unestablished| !doubt.about.is_assumable();
        self.against(rests_on).into_iter().partition(stays)
    }
}
