//! The same protocol in another form: what a transformation over processors starts from.
//!
//! [`prepare`] finds the type of processors and brings a program into a form in which rules stand
//! alone, nothing is called, counters of processors are sets of them, and flags of observers are
//! errors. Each step is from syntax tree to syntax tree.
//!
//! This is trusted, and its promise is: the prepared program has the states, steps and errors of
//! the program, with any number of processors. Transformations T1 to T6 of docs/abstraction.md.
//! [`with_witnesses`] adds variables and claims to a prepared program, T17.
//!
//! ```
//! let text = "type P: scalarset(3); var busy: array [P] of boolean;
//!             function idle(p: P): boolean; begin return !busy[p]; end;
//!             ruleset p: P do rule \"begin\" idle(p) ==> begin busy[p] := true; end; end;";
//! let source = murphi::source::Source { name: "small.m".into(), text: text.into() };
//! let program = murphi::parse::parse(&source).0.unwrap();
//! let prepared = tribunal_prepare::prepare(&program, None).unwrap();
//! assert_eq!(prepared.processor.name, "P");
//! let guard = prepared.rules[0].guard.as_ref().unwrap();
//! assert_eq!(murphi::print::print_expression(guard), "!busy[p]");
//! ```

mod counters;
mod flags;
mod implications;
mod prepare;
mod processor;
mod reserved;
mod types;
mod witness;

use murphi::ast::Program;
use murphi::transform::FlatRule;

pub use prepare::prepare;
pub use processor::{Processor, find_processor, with_processors};
pub use reserved::{NAMED, OTHER, RESERVED};
pub use types::ProcessorTypes;
pub use witness::{Witness, possible_witnesses, with_witnesses};

/// A program in the form that is abstracted. It is still concrete: it has the declared number of
/// processors.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The program. Counters of processors are sets, and flags of observers are errors.
    pub program: Program,
    /// The type of processors.
    pub processor: Processor,
    /// Its rules, by their ids.
    pub rules: Vec<FlatRule>,
    /// Invariants with `exists` over processors that are claimed by witnesses, with the names of
    /// the invariants that claim them.
    pub witnessed: Vec<(String, String)>,
}

impl Prepared {
    /// The types of the program.
    pub fn types(&self) -> ProcessorTypes {
        ProcessorTypes::new(&self.program, &self.processor.name)
    }

    /// Whether an invariant is claimed by another one, by witnesses.
    pub fn is_witnessed(&self, invariant: &str) -> bool {
        self.witnessed.iter().any(|(claimed, _)| claimed == invariant)
    }

    /// Whether an invariant claims another one by witnesses: its failure means nothing.
    pub fn is_by_witnesses(&self, invariant: &str) -> bool {
        self.witnessed.iter().any(|(_, by)| by == invariant)
    }

    /// Whether two stored processors may be compared, so that a processor known by name is useful.
    pub fn stores_several_processors(&self) -> bool {
        self.types().stored_places() > 1
    }
}
