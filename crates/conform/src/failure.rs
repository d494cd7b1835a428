//! The reasons why a protocol cannot be verified or recorded, and the steps that may fail: finding
//! the memory events, and checking the composed program.

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

/// Why a protocol cannot be verified.
#[derive(Debug, Clone)]
pub enum Failure {
    /// The protocol is unsuitable, for these reasons.
    Unsuitable(Vec<Diagnostic>),
    /// The composition with an observer cannot be run. The diagnostics point to the parts of the
    /// protocol that cause this.
    Composition(Vec<Diagnostic>),
    /// The protocol has no mutant with this number.
    NoSuchMutant {
        /// The number.
        number: usize,
        /// How many mutants the protocol has.
        mutants: usize,
    },
    /// The composition is too large to be run.
    TooLarge,
    /// A run cannot be repeated with other values, or its trace cannot be read: the protocol is not
    /// data independent.
    NotRepeatable(String),
}

impl Failure {
    /// The diagnostics, with the source that they refer to.
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

/// Finds the memory events of a source.
pub(crate) fn protocol(
    source: &Source,
    language: &check::Options,
    events: &EventNames,
) -> Result<Protocol, Failure> {
    events::find(source, language, events).map_err(Failure::Unsuitable)
}

/// Parses a composition from its printed text, so that the program that is searched is the one that
/// can be written out.
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

/// The rule, start state or function of the protocol at this offset of the composed program.
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

/// Visits the rules in a rule, in the order of the text.
fn visit(rule: &Rule, see: &mut dyn FnMut(&Rule)) {
    match &rule.kind {
        RuleKind::Ruleset { rules, .. }
        | RuleKind::Alias { rules, .. }
        | RuleKind::Choose { rules, .. } => rules.iter().for_each(|rule| visit(rule, see)),
        _ => see(rule),
    }
}
