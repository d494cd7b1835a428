//! Parameter abstraction: a Murphi program that over-approximates a protocol with any number of
//! processors. This is the trusted part of `verify --any-processors`.
//!
//! A protocol that is symmetric in its processors is reduced to a few *concrete* processors, which keep
//! their variables, and one *abstract* processor, `Other`, which stands for all the rest
//! ([`abstraction`]). The variables of abstract processors are not kept; where a rule reads one, its value
//! is a free choice. If all properties of the abstract program hold, they hold in the protocol with any
//! number of processors. Where the over-approximation is too coarse, noninterference [`Lemma`]s strengthen
//! the guards of the rules of `Other`; each lemma is checked as an invariant of the concrete processors in
//! the same search.
//!
//! Every transformation is from syntax tree to syntax tree: [`prepare`](fn@prepare) brings a program into
//! the form that is abstracted, and the result is plain Murphi, which any tool can check.
//!
//! Whatever view and lemmas are given, a search of the abstract program without a violation is a proof
//! (docs/abstraction.md). Where the lemmas come from (crate `refine`) does not matter.
//!
//! ```
//! use tribunal_abstraction::{Options, abstraction, prepare};
//!
//! let text = "type P: scalarset(3); var holds: array [P] of boolean; free: boolean;
//!   startstate begin for p: P do holds[p] := false; end; free := true; end;
//!   ruleset p: P do rule \"take\" free ==> begin free := false; holds[p] := true; end; end;
//!   invariant \"one\" forall p: P do forall q: P do p != q -> !(holds[p] & holds[q]) end end;";
//! let source = murphi::source::Source { name: "lock.m".into(), text: text.into() };
//! let prepared = prepare(&murphi::parse::parse(&source).0.unwrap(), None).unwrap();
//! let made = abstraction(&prepared, &Options::default(), &[]).unwrap();
//! assert_eq!(made.rules[0].name, "take, p = Other");
//! assert!(murphi::print::print(&made.program).contains("holds[Other] := true"));
//! ```

mod abstraction;
mod assemble;
mod exclusions;
mod lemma;
mod one_address;
mod product;
mod types;

use murphi::ast::{Expression, Quantifier};

pub use abstraction::{Claimable, NAMED, OTHER, Options, RunTimeErrors, abstraction, least_view};
pub use exclusions::{Exclusion, exclusion_program, possible_exclusions};
pub use murphi::transform::{FlatRule, RuleId, flatten};
pub use one_address::{by_address, of_one_address, one_address};
pub use prepare::{
    Prepared, Processor, Witness, find_processor, possible_witnesses, prepare, with_processors,
    with_witnesses,
};
pub use product::{Abstraction, Choice, Chosen, ChosenSet, Fixed, OtherRule};

/// The processors that an abstraction keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct View {
    /// The number of concrete processors, which keep their variables.
    pub concrete: u64,
    /// Whether one more processor is known by name: its variables are not kept, but references to
    /// it are distinguished from references to `Other`. Facts that compare two stored references
    /// need this, and nothing else of a third processor.
    pub named: bool,
}

/// A noninterference lemma, in terms of the prepared concrete program.
///
/// As a claim: for all parameters of the rule and all witnesses, which are distinct from each other
/// and from the parameters of their type, the guard of the rule implies the condition.
#[derive(Debug, Clone, PartialEq)]
pub struct Lemma {
    /// The rule.
    pub rule: RuleId,
    /// Further variables of the condition.
    pub witnesses: Vec<Quantifier>,
    /// The condition, over the parameters of the rule, the witnesses and the state. It calls no
    /// functions.
    pub condition: Expression,
}
