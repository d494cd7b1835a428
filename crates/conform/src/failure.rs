//! Why there is no answer at all, and the steps of every verification and recording that may fail
//! for it: finding the loads and stores of a protocol, and reading what it was composed with.

use murphi::ast::Program;
use murphi::check;
use murphi::diagnostic::Diagnostic;
use murphi::ir::Model;
use murphi::print::print;
use murphi::source::Source;

use crate::events::{self, EventNames, Protocol};

/// Why there is no answer at all.
#[derive(Debug, Clone)]
pub enum Failure {
    /// The protocol is unsuitable, for these reasons.
    Unsuitable(Vec<Diagnostic>),
    /// The composition with an observer cannot be run. The diagnostics are about this source.
    Composition(Source, Vec<Diagnostic>),
    /// The composition is too large to be run.
    TooLarge,
    /// A run could not be taken again, or its trace not be read: data is not independent.
    NotRepeatable(String),
}

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
        Err(problems) => Err(Failure::Composition(source, problems)),
    }
}
