//! Verifies that a protocol implements a memory model.
//!
//! A memory model has lemmas, each a composition of the protocol with an observer (`plan.rs`). They
//! are searched one after the other, and alarms are judged (`trial.rs`). If all hold, the
//! assumptions that they need must be established (`conclude.rs`). The programs for proofs with any
//! number of processors are composed here, too, and searched by crate `parametric`
//! (`any_number.rs`).

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

pub use answer::{Counterexample, Lemma, Sizes, Unknown, Verdict, Verification, ViolationKind};
pub use any_number::{Composed, Grounds, composed_programs};
pub(crate) use plan::plan;
use plan::require_lemma;
use trial::{Trial, TrialResult};

/// The memory models that protocols can be verified against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryModel {
    /// Sequential consistency, relative to the simple witness: stores to a location count in the
    /// order in which they happen.
    Sc,
    /// Total store order, as refinement of TSO-LB, which is a little stricter.
    Tso,
}

impl MemoryModel {
    /// The name on the command line and in JSON.
    pub fn name(self) -> &'static str {
        self.of_traces().name()
    }

    /// The predicate in the headline of a protocol that implements it.
    pub fn kept(self) -> &'static str {
        match self {
            MemoryModel::Sc => "sequentially consistent",
            MemoryModel::Tso => "implements total store order",
        }
    }

    /// The model that the trace checker uses to judge an alarm.
    pub fn of_traces(self) -> Model {
        match self {
            MemoryModel::Sc => Model::Sc,
            MemoryModel::Tso => Model::Tso,
        }
    }
}

/// The default number of alarms that are passed over.
pub const MOST_ALARMS: usize = 100;

/// The options of a verification.
#[derive(Debug, Clone)]
pub struct Options {
    /// The memory model.
    pub memory_model: MemoryModel,
    /// The names of the procedures that mark loads and stores.
    pub events: EventNames,
    /// How the protocol is read.
    pub language: check::Options,
    /// How each lemma is searched. [`explore::Options::deadlock`] applies to the protocol itself.
    pub search: explore::Options,
    /// The symmetry reduction.
    pub symmetry: Symmetry,
    /// Whether the protocol's own properties, run-time errors and deadlocks are checked, too, after
    /// the lemmas.
    pub protocol: bool,
    /// Whether a `cover` that no state satisfies is an error. With few processors it may be
    /// unreachable because of their number.
    pub covers: bool,
    /// For `sc`: the only lemma to check.
    pub only: Option<u64>,
    /// For `tso`: the number of values, if it differs from that of the protocol.
    pub values: Option<u64>,
    /// For `tso`: whether to start with the exact observer.
    pub exact: bool,
    /// Whether causality, data independence and free values are assumed if they are not
    /// established.
    pub assume_independence: bool,
    /// The number of alarms to pass over, nearest first, in search of a violation; with 0 the first
    /// alarm ends the search.
    pub pass_over: usize,
    /// Whether a rule that fails counts as disabled. Otherwise it ends the search: the protocol is
    /// broken. With this flag, searches answer about the runs that random walks take.
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

/// Verifies a protocol. `watch` is called with the current lemma and the progress of its search.
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

/// Everything that searches and verdict depend on: a checkpoint of a verification is only valid for
/// the same identity.
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

/// Warnings about a protocol, including assumptions that are not established.
fn warnings(protocol: &Protocol, foundations: &Foundations) -> Vec<Diagnostic> {
    let doubts = foundations.doubts().iter().map(|doubt| doubt.diagnostic.clone());
    protocol.warnings.iter().cloned().chain(doubts).collect()
}

/// The composed models of all lemmas, with their names: the models that [`verify`] searches.
pub fn compositions(source: &Source, options: &Options) -> Result<Vec<(String, String)>, Failure> {
    let protocol = failure::protocol(source, &options.language, &options.events)?;
    let planned = plan(&protocol, options);
    Ok(planned.into_iter().map(|(name, composition)| (name, print(&composition.program))).collect())
}
