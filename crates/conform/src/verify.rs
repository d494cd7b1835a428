//! Does a protocol implement a memory model? What can be asked, and how the answer comes about.
//!
//! A memory model has lemmas, each a composition of the protocol with an observer (`plan.rs`). They
//! are searched one after the other, and alarms are judged (`trial.rs`). If they hold, it is asked
//! whether what they rest on is established (`conclude.rs`). What would show the same for
//! any number of processors is composed here too, and searched elsewhere (`any_number.rs`).

mod answer;
mod any_number;
mod conclude;
mod plan;
mod trial;

use std::sync::atomic::AtomicBool;

use explore::report::unchecked;
use explore::symmetry::Symmetry;
use explore::{Progress, SearchIdentity};
use models::Model;
use murphi::check;
use murphi::diagnostic::Diagnostic;
use murphi::ir::PropertyKind;
use murphi::print::print;
use murphi::source::Source;

use crate::events::{self, EventNames, Protocol};
use crate::failure::{self, Failure};
use crate::foundations::Foundations;

pub use answer::{Breach, Counterexample, Lemma, Sizes, Unknown, Verdict, Verification};
pub use any_number::{Composed, Grounds, composed_programs};
pub(crate) use plan::plan;
use plan::require_lemma;
use trial::{Trial, TrialResult};

/// The memory models that protocols are verified against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryModel {
    /// Sequential consistency, relative to the simple witness: stores to a location count in the
    /// order in which they happen.
    Sc,
    /// Total store order, as refinement of TSO-LB, which is a little stricter.
    Tso,
}

impl MemoryModel {
    /// Its name on command lines and in JSON.
    pub fn name(self) -> &'static str {
        self.of_traces().name()
    }

    /// What is said of a protocol that implements it.
    pub fn kept(self) -> &'static str {
        match self {
            MemoryModel::Sc => "sequentially consistent",
            MemoryModel::Tso => "implements total store order",
        }
    }

    /// The model of traces that decides about an alarm.
    pub fn of_traces(self) -> Model {
        match self {
            MemoryModel::Sc => Model::Sc,
            MemoryModel::Tso => Model::Tso,
        }
    }
}

/// How many alarms that the memory model allows are passed over, unless said otherwise.
pub const MOST_ALARMS: usize = 100;

/// What to verify, and how.
#[derive(Debug, Clone)]
pub struct Options {
    /// Against which memory model.
    pub memory_model: MemoryModel,
    /// What the procedures that mark loads and stores are called.
    pub events: EventNames,
    /// How the protocol is read.
    pub language: check::Options,
    /// How each lemma is searched. [`explore::Options::deadlock`] is about the protocol itself.
    pub search: explore::Options,
    /// Which states count as the same.
    pub symmetry: Symmetry,
    /// Whether the protocol's own claims, run-time errors and deadlocks are looked at, too, after
    /// the lemmas.
    pub protocol: bool,
    /// Whether a `cover` that no state fulfils breaks the protocol. With few processors it may only
    /// be that there are too few.
    pub covers: bool,
    /// For `sc`: the only lemma to look at, if not all.
    pub only: Option<u64>,
    /// For `tso`: how many values there are, if not as many as the protocol says.
    pub values: Option<u64>,
    /// For `tso`: whether to begin with the exact observer.
    pub exact: bool,
    /// Whether causality, data independence and free values are assumed where they are not
    /// established.
    pub assume_independence: bool,
    /// How many alarms that the memory model allows to pass over, nearest first, for one that is a
    /// violation; with 0 the first one ends the search.
    pub pass_over: usize,
    /// Whether a rule that fails counts as one that does not apply. Else it ends the search: the
    /// protocol is broken. Searches with it answer about the runs that random walks take.
    pub forgiving: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            memory_model: MemoryModel::Sc,
            events: EventNames::default(),
            language: check::Options::default(),
            search: explore::Options::default(),
            symmetry: Symmetry::Full,
            protocol: true,
            covers: true,
            only: None,
            values: None,
            exact: false,
            assume_independence: false,
            pass_over: MOST_ALARMS,
            forgiving: false,
        }
    }
}

/// Verifies a protocol. `watch` hears of the lemma being searched and how far it has got.
pub fn verify(
    source: &Source,
    options: &Options,
    watch: &mut dyn FnMut(&str, &Progress),
    interrupt: &AtomicBool,
) -> Result<Verification, Failure> {
    let protocol = failure::protocol(source, &options.language, &options.events)?;
    let mut foundations = Foundations::of_instance(&protocol);
    let count = |domain: &events::Domain| domain.count;
    let sizes = Sizes {
        processors: count(&protocol.processor),
        addresses: count(&protocol.address),
        values: count(&protocol.value),
    };
    require_lemma(&protocol, options)?;
    let commits = protocol.commit.is_some();
    let trial = Trial::new(&protocol, options, watch, interrupt, &mut foundations);
    let TrialResult { lemmas, verdict, broken, rests_on, assumed } = trial.hold()?;
    let warnings = warnings(&protocol, &foundations);
    let independent = foundations.is_independent();
    let unchecked = unchecked(&protocol.model, &[PropertyKind::Liveness]);
    Ok(Verification {
        lemmas,
        verdict,
        broken,
        warnings,
        foundations,
        rests_on,
        assumed,
        independent,
        unchecked,
        commits,
        sizes,
    })
}

/// What is asked, as far as searches and verdict depend on it: checkpoints of a verification are good
/// for this and nothing else.
pub fn identity(source: &Source, options: &Options) -> SearchIdentity {
    let language = &options.language;
    let constants = language.constants.iter().map(|(name, value)| format!("{name}={value}"));
    let shown = |value: Option<u64>| value.map_or(String::new(), |value| value.to_string());
    let EventNames { load, store, commit } = &options.events;
    let limits = (language.loop_limit, language.call_limit);
    let entries = [
        ("protocol", explore::digest(source.text.as_bytes())),
        ("memory model", options.memory_model.name().to_owned()),
        ("constants", constants.collect::<Vec<_>>().join(" ")),
        ("dialect", format!("{:?}", language.dialect).to_lowercase()),
        ("limits of loops and calls", format!("{limits:?}")),
        ("memory events", format!("{load:?} {store:?} {commit:?}")),
        ("symmetry", options.symmetry.name().to_owned()),
        ("deadlock", options.search.deadlock.name().to_owned()),
        ("lemma", shown(options.only)),
        ("exact observer", options.exact.to_string()),
        ("assumed independence", options.assume_independence.to_string()),
        ("alarms passed over", options.pass_over.to_string()),
        ("build of tribunal", explore::build()),
    ];
    entries.map(|(name, value)| (name.to_owned(), value)).to_vec()
}

/// What may be wrong with a protocol, and what is not established about it.
fn warnings(protocol: &Protocol, foundations: &Foundations) -> Vec<Diagnostic> {
    let doubts = foundations.doubts().iter().map(|doubt| doubt.diagnostic.clone());
    protocol.warnings.iter().cloned().chain(doubts).collect()
}

/// The composed models of all lemmas with their names: what [`verify`] would search.
pub fn compositions(source: &Source, options: &Options) -> Result<Vec<(String, String)>, Failure> {
    let protocol = failure::protocol(source, &options.language, &options.events)?;
    let planned = plan(&protocol, options);
    Ok(planned.into_iter().map(|(name, composition)| (name, print(&composition.program))).collect())
}
