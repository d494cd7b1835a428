//! The result of an abstraction: the abstract program, and for each of its rules and choices the concrete
//! rule and the variable that they stand for.

use murphi::ast::{Expression, Program, TypeExpression};
use murphi::diagnostic::Diagnostic;

use crate::{RuleId, View};

/// A program in which a few processors stand for any number of them.
#[derive(Debug, Clone, Default)]
pub struct Abstraction {
    /// The program, with a union for references that may be `Other`. Processors are a scalarset.
    pub program: Program,
    /// What is kept of processors.
    pub view: View,
    /// The rules in which something is abstract, in the order of `program`.
    pub rules: Vec<OtherRule>,
    /// For each rule of `program`, the concrete rule it comes from and, where something in it is
    /// abstract, its number in `rules`.
    pub origins: Vec<(RuleId, Option<usize>)>,
    /// For each lemma, the name of the invariant that claims it.
    pub claims: Vec<String>,
    /// The names of the invariants that say that guards and properties can be evaluated.
    pub checks: Vec<String>,
    /// Invariants that were made stronger because an `exists` goes through concrete processors
    /// only: that they fail may mean nothing.
    pub strengthened: Vec<String>,
    /// What to say to the user about it, such as properties that are left out.
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
