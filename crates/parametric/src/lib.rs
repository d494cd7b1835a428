//! Does it hold for any number of processors?
//!
//! A protocol that is symmetric in its processors is cut down to a few of them that stay as they
//! are, and one, `Other`, that stands for all the rest ([`abstraction`]). What the others do is
//! over-approximated: their own state is not kept, and whatever is read of it is a free choice. If
//! the small model keeps its promise, so does the protocol with any number of processors. Where the
//! over-approximation is too coarse, [`Lemma`]s say what the others never do; each is checked where
//! its processors are concrete and used where they are not, in one and the same run.
//!
//! Everything is a step from syntax tree to syntax tree: [`prepare`] brings a program into the form
//! that is abstracted (counters of processors become sets of them), and the result is a Murphi
//! program like any other, which any tool can check.

mod abstraction;
mod counters;
mod effects;
mod emit;
mod flags;
mod inline;
mod lemma;
mod one_address;
mod prepare;
mod processor;
mod projection;
pub mod refine;
mod returns;
mod rules;
mod substitute;
mod syntax;
mod tidy;
mod types;

use murphi::ast::{Expression, Program, Quantifier, TypeExpression};
use murphi::diagnostic::Diagnostic;

pub use abstraction::{Options, Wide, abstraction};
pub use emit::emit;
pub use lemma::read_lemmas;
pub use one_address::{
    Exclusion, by_address, exclusion_program, of_one_address, one_address, possible_exclusions,
};
pub use prepare::prepare;
pub use processor::{Processor, find_processor, with_processors};
pub use projection::project;
pub use rules::{FlatRule, flatten};

/// What is kept of processors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct View {
    /// How many stay as they are.
    pub concrete: u64,
    /// Whether one more is known by its name: nothing of its own is kept, but references to it can
    /// be told from those to others. Facts that compare two stored processors need it, and nothing
    /// else of a third one.
    pub named: bool,
}

/// Names a rule: its number in the order of the source, rulesets flattened, start states and
/// properties not counted. The number of the rule in the checked model as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleId(pub usize);

/// A fact that strengthens what a rule may do, in terms of the prepared concrete program.
///
/// As a claim: for all parameters of the rule and all witnesses, those of one type different from
/// each other and from the parameters, the guard of the rule implies the condition.
#[derive(Debug, Clone, PartialEq)]
pub struct Lemma {
    /// The rule.
    pub rule: RuleId,
    /// More variables that the condition speaks of.
    pub witnesses: Vec<Quantifier>,
    /// The condition, over the parameters of the rule, the witnesses and the state. It calls no
    /// functions.
    pub condition: Expression,
}

/// A program in the form that is abstracted, still concrete: it has as many processors as it says.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The program. Counters of processors are sets, and what its observers flag is an error.
    pub program: Program,
    /// The type of processors.
    pub processor: Processor,
    /// Its rules, by their ids.
    pub rules: Vec<FlatRule>,
    /// What to tell the user about it.
    pub notes: Vec<Diagnostic>,
}

impl Prepared {
    /// Whether two stored processors may be compared, so that it helps to know one more by its name.
    pub fn stores_several_processors(&self) -> bool {
        types::Types::new(&self.program, &self.processor.name).stored_places() > 1
    }
}

/// A program in which a few processors stand for any number of them.
#[derive(Debug, Clone)]
pub struct Abstraction {
    /// The program, with a union for references that may be `Other`. Processors are a scalarset.
    pub program: Program,
    /// The same with ranges for scalarset and union, for tools that have no unions.
    pub portable: Program,
    /// What is kept of processors.
    pub view: View,
    /// The rules in which something is abstract, in the order of `program`.
    pub rules: Vec<OtherRule>,
    /// For each rule of `program`, the concrete rule it comes from and, where something in it is
    /// abstract, its number in `rules`.
    pub origins: Vec<(RuleId, Option<usize>)>,
    /// For each lemma, the name of the invariant that claims it.
    pub claims: Vec<String>,
    /// Invariants that were made stronger because an `exists` goes through concrete processors
    /// only: that they fail may mean nothing.
    pub strengthened: Vec<String>,
    /// What to tell the user about it, such as properties that are left out.
    pub notes: Vec<Diagnostic>,
}

/// An abstract instance of a rule.
#[derive(Debug, Clone)]
pub struct OtherRule {
    /// Its name in the abstract program.
    pub name: String,
    /// The rule it is an instance of.
    pub origin: RuleId,
    /// Which parameters of the rule are not concrete, by their numbers.
    pub others: Vec<usize>,
    /// Which of these are the processor that is known by its name.
    pub named: Vec<usize>,
    /// What stands for values that are not known.
    pub choices: Vec<Choice>,
}

/// Something that stands for a value that is not known.
#[derive(Debug, Clone)]
pub struct Choice {
    /// The parameter of the abstract rule; `None` where the choice is fixed in this rule.
    pub name: Option<String>,
    /// Its type.
    pub ty: TypeExpression,
    /// What it stands for, over the parameters of the concrete rule.
    pub stands_for: Expression,
    /// Whether it is the value in the state before the rule.
    pub initial: bool,
    /// What is fixed, if there is no parameter.
    pub fixed: Option<Fixed>,
    /// The parameters of a set of processors, which has more than one.
    pub set: Option<ChosenSet>,
}

/// A set of processors that is not known, as parameters: any set of `n` concrete processors is empty
/// or consists of `n` that need not be different.
#[derive(Debug, Clone)]
pub struct ChosenSet {
    /// Which concrete processors are in it.
    pub members: Chosen,
    /// Whether any other is.
    pub others: String,
    /// For which concrete processors it is undefined, unless that is never so for single ones.
    pub gaps: Option<Chosen>,
}

/// Some concrete processors, as parameters.
#[derive(Debug, Clone)]
pub struct Chosen {
    /// Whether there are none.
    pub none: String,
    /// Who they are otherwise.
    pub each: Vec<String>,
}

/// What a choice may be fixed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fixed {
    /// A processor that is neither concrete nor known by its name.
    Other,
    /// The processor that is known by its name.
    Named,
    /// No value.
    Undefined,
}
