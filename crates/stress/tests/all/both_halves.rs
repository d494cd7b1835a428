//! What verification says about a protocol, and what its traces say.
//!
//! `verify` visits all states, within so many bytes of memory; random walks record so many traces,
//! which the trace checker judges. So the answer is the same on every machine. Claims of the
//! protocol itself (invariants, assertions) are left out on both sides: what is compared is what
//! software would see.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use conform::mutate::without_claims;
use conform::{Failure, MemoryModel, Options, RecordOptions, Verdict, record, verify};
use judge::{Budget, Engine, Outcome, judge};
use models::Model;
use murphi::ast::Program;
use murphi::print::print;
use murphi::source::Source;
use tribunal_stress::protocol::{Clients, Ending, Fleet, Plan, Protocol, Scribe, Walk, walk_all};

/// How both halves are asked.
#[derive(Clone)]
pub(crate) struct Asked {
    /// `sc` or `tso`.
    pub(crate) model: Model,
    /// Constants of the model.
    pub(crate) constants: Vec<(String, String)>,
    /// How many traces, if none violates the model.
    pub(crate) traces: u64,
    /// So many more, if verification says that some should.
    pub(crate) more: u64,
    /// Loads and stores of each trace.
    pub(crate) operations: usize,
    pub(crate) clients: Clients,
    pub(crate) seed: u64,
    /// Bytes of memory for each lemma.
    pub(crate) memory: u64,
}

impl Default for Asked {
    fn default() -> Self {
        Asked {
            model: Model::Sc,
            constants: Vec::new(),
            traces: 1000,
            more: 20_000,
            operations: 64,
            clients: Clients::Swarm,
            seed: 0,
            memory: 256 << 20,
        }
    }
}

/// What both halves say.
pub(crate) struct Told {
    pub(crate) verified: Verified,
    pub(crate) traces: Traces,
}

/// What verification says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verified {
    Holds,
    Violated,
    FalseAlarm,
    /// A rule fails or gets stuck even without claims.
    Broken,
    Undecided,
}

/// What the traces say.
#[derive(Default)]
pub(crate) struct Traces {
    /// How many there are, up to the first that violates the model.
    pub(crate) count: u64,
    pub(crate) violates: bool,
    /// How many ended early.
    pub(crate) short: u64,
}

impl Told {
    /// Whether the two say the same; `None` where one of them has no answer.
    pub(crate) fn agree(&self) -> Option<bool> {
        match self.verified {
            Verified::Holds => Some(!self.traces.violates),
            Verified::Violated => Some(self.traces.violates),
            // What violates the model violates it, whatever the other half can say.
            _ => None,
        }
    }
}

/// Asks both; `None` if the protocol cannot be recorded at all.
pub(crate) fn ask(name: &str, program: &Program, asked: &Asked) -> Option<Told> {
    let source = Source { name: name.to_owned(), text: print(&without_claims(program)) };
    let constants = asked.constants.clone();
    let language = murphi::check::Options { constants, ..murphi::check::Options::default() };
    let options = RecordOptions {
        language: language.clone(),
        values: 2 * asked.operations as u64 + 32,
        ..RecordOptions::default()
    };
    let protocol = Protocol::new(record(&source, &options).ok()?).ok()?;
    let verified = verified(&source, language, asked);
    let count = asked.traces + if verified == Verified::Violated { asked.more } else { 0 };
    Some(Told { verified, traces: traces(&protocol, asked, count) })
}

fn verified(source: &Source, language: murphi::check::Options, asked: &Asked) -> Verified {
    let memory_model = match asked.model {
        Model::Tso => MemoryModel::Tso,
        _ => MemoryModel::Sc,
    };
    let mut options = Options { memory_model, language, protocol: false, ..Options::default() };
    options.search.memory = Some(asked.memory);
    options.pass_over = 20;
    match verify(source, &options, &mut |_, _| (), &AtomicBool::new(false)) {
        Ok(found) => match found.verdict {
            Verdict::Verified => Verified::Holds,
            Verdict::Violation(_) => Verified::Violated,
            Verdict::FalseAlarm(_) => Verified::FalseAlarm,
            Verdict::Broken => Verified::Broken,
            Verdict::Undecided(_) | Verdict::NoStart => Verified::Undecided,
        },
        Err(Failure::Unsuitable(_) | Failure::Composition(..)) => Verified::Broken,
        Err(Failure::TooLarge | Failure::NotRepeatable(_)) => Verified::Undecided,
    }
}

fn traces(protocol: &Protocol, asked: &Asked, count: u64) -> Traces {
    let plan = Plan {
        operations: asked.operations,
        seed: asked.seed,
        clients: asked.clients,
        ..Plan::default()
    };
    let scribe = Scribe::new(protocol);
    let stop = AtomicBool::new(false);
    let fleet = Fleet { count, jobs: 1, stop: &stop };
    let make = |walk: Walk| {
        let history = scribe.history(&walk, false).expect("what a protocol records is a history");
        let verdict = judge(&history, asked.model, Engine::Auto, &Budget::unlimited());
        (matches!(verdict.outcome, Outcome::Violation(_)), walk.ending != Ending::Complete)
    };
    let mut found = Traces::default();
    walk_all(protocol, &plan, fleet, make, &mut |(violates, short)| {
        found.count += 1;
        found.short += u64::from(short);
        found.violates = violates;
        if violates { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    found
}
