//! Why there is no answer at all, and the steps of every verification and recording that may fail
//! for it: finding the loads and stores of a protocol, and reading what it was composed with.

use std::fmt;

use murphi::Refusal;
use murphi::ast::{Item, Program, Rule, RuleKind};
use murphi::check;
use murphi::diagnostic::Diagnostic;
use murphi::ir::Model;
use murphi::parse::parse;
use murphi::print::print;
use murphi::source::{Source, Span};

use crate::events::{self, EventNames, Protocol};

/// Why there is no answer at all.
#[derive(Debug, Clone)]
pub enum Failure {
    /// The protocol is unsuitable, for these reasons.
    Unsuitable(Vec<Diagnostic>),
    /// The composition with an observer cannot be run. The diagnostics are about the parts of the
    /// protocol that are refused.
    Composition(Vec<Diagnostic>),
    /// There is no mutant of this number among so many.
    NoSuchMutant {
        /// The number.
        number: usize,
        /// How many mutants the protocol has.
        mutants: usize,
    },
    /// The composition is too large to be run.
    TooLarge,
    /// A run could not be taken again, or its trace not be read: data is not independent.
    NotRepeatable(String),
}

impl Failure {
    /// What is wrong with the protocol, and where.
    pub fn refusal(self, source: &Source) -> Refusal {
        let sentence = self.to_string();
        match self {
            Failure::Unsuitable(problems) => Refusal::of(source, problems),
            Failure::Composition(problems) => {
                Refusal { source: source.clone(), problems, sentence }
            }
            Failure::TooLarge | Failure::NoSuchMutant { .. } | Failure::NotRepeatable(_) => {
                Refusal::whole(source, sentence)
            }
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Unsuitable(_) => f.write_str("the protocol cannot be verified"),
            Failure::Composition(_) => f.write_str(
                "the protocol composed with an observer is not a valid model; --emit DIR writes \
                 it out",
            ),
            Failure::TooLarge => f.write_str(
                "a state of the protocol composed with an observer is too large; use smaller \
                 constants",
            ),
            Failure::NoSuchMutant { number, mutants } => {
                write!(
                    f,
                    "--mutant {number} does not exist: the protocol has mutants 1 to {mutants}"
                )
            }
            Failure::NotRepeatable(why) => {
                write!(f, "a run cannot be repeated with other values: {why}")
            }
        }
    }
}

impl std::error::Error for Failure {}

/// The protocol of a source.
pub(crate) fn protocol(
    source: &Source,
    language: &check::Options,
    events: &EventNames,
) -> Result<Protocol, Failure> {
    events::find(source, language, events).map_err(Failure::Unsuitable)
}

/// Reads a composition from its own text, so that what is run is what can be written out.
pub(crate) fn composed(protocol: &Protocol, program: &Program) -> Result<Model, Failure> {
    let name = protocol.model.source.name.clone();
    let source = Source { name, text: print(program) };
    match murphi::load(source.clone(), &protocol.options) {
        Ok(checked) => Ok(checked.model),
        Err(problems) => {
            let program = parse(&source).0;
            let own = |problem: Diagnostic| {
                let span = program
                    .as_ref()
                    .and_then(|composed| place_in_protocol(protocol, composed, problem.span.start));
                Diagnostic::error(span.unwrap_or_default(), problem.message)
            };
            Err(Failure::Composition(problems.into_iter().map(own).collect()))
        }
    }
}

/// The rule, start state or function of the protocol that is at a place of the composed program.
fn place_in_protocol(protocol: &Protocol, composed: &Program, at: u32) -> Option<Span> {
    let model = &protocol.model;
    let (mut rules, mut starts) = (model.rules.iter(), model.start_states.iter());
    let mut last = None;
    for item in &composed.items {
        match item {
            Item::Function(function) if function.name.span.start <= at => {
                let own = model.functions.iter().find(|own| own.name == function.name.text);
                last = own.map(|own| own.span).or(last);
            }
            Item::Rule(rule) => visit(rule, &mut |rule| {
                let own = match rule.kind {
                    RuleKind::Simple { .. } => rules.next(),
                    RuleKind::StartState { .. } => starts.next(),
                    _ => None,
                };
                if let (Some(own), true) = (own, rule.span.start <= at) {
                    last = Some(own.span);
                }
            }),
            _ => {}
        }
    }
    last
}

/// Shows the rules in a rule, in the order of the text.
fn visit(rule: &Rule, see: &mut dyn FnMut(&Rule)) {
    match &rule.kind {
        RuleKind::Ruleset { rules, .. }
        | RuleKind::Alias { rules, .. }
        | RuleKind::Choose { rules, .. } => rules.iter().for_each(|rule| visit(rule, see)),
        _ => see(rule),
    }
}
