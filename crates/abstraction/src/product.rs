//! The result of an abstraction: the abstract program, and for each of its rules and choices the concrete
//! rule and the variable that they stand for.

use murphi::ast::{Expression, Program, TypeExpression};
use murphi::diagnostic::Diagnostic;

use crate::{RuleId, View};

/// A program in which a few processors stand for any number of them.
#[derive(Debug, Clone, Default)]
pub struct Abstraction {
    /// The abstract program. Processors are a scalarset, and references to processors have a union
    /// type.
    pub program: Program,
    /// The processors that are kept.
    pub view: View,
    /// The rules with an abstract processor, in the order of `program`.
    pub rules: Vec<OtherRule>,
    /// For each rule of `program`, the concrete rule that it comes from and, if a processor in it
    /// is abstract, its number in `rules`.
    pub origins: Vec<(RuleId, Option<usize>)>,
    /// For each lemma, the name of the invariant that claims it.
    pub claims: Vec<String>,
    /// The names of the invariants which claim that guards and properties can be evaluated.
    pub checks: Vec<String>,
    /// The names of invariants that were strengthened, because an `exists` ranges over concrete
    /// processors only: if one fails, the protocol may still satisfy it.
    pub strengthened: Vec<String>,
    /// Notes for the user, such as properties that are left out.
    pub notes: Vec<Diagnostic>,
}

/// An abstract instance of a rule.
#[derive(Debug, Clone)]
pub struct OtherRule {
    /// Its name in the abstract program.
    pub name: String,
    /// The parameters of the rule that are not concrete, by number.
    pub origin: RuleId,
    /// The parameters that are the processor known by name.
    pub others: Vec<usize>,
    /// Which of these are the processor that is known by its name.
    pub named: Vec<usize>,
    /// The choices that stand for unknown values.
    pub choices: Vec<Choice>,
}

/// A choice that stands for an unknown value.
#[derive(Debug, Clone)]
pub struct Choice {
    /// The parameter of the abstract rule; `None` if the choice is fixed in this rule.
    pub name: Option<String>,
    /// Its type.
    pub ty: TypeExpression,
    /// The expression that it stands for, over the parameters of the concrete rule.
    pub stands_for: Expression,
    /// Whether it is the value in the state before the rule fires.
    pub initial: bool,
    /// The fixed value, if there is no parameter.
    pub fixed: Option<Fixed>,
    /// For a set of processors: its parameters, of which there are several.
    pub set: Option<ChosenSet>,
}

/// An unknown set of processors, as parameters: a set of `n` concrete processors is empty, or
/// consists of `n` processors that need not be distinct.
#[derive(Debug, Clone)]
pub struct ChosenSet {
    /// The concrete processors in the set.
    pub members: Chosen,
    /// The parameter that says whether an abstract processor is in the set.
    pub others: String,
    /// The concrete processors for which it is undefined; `None` if it is defined for all or none.
    pub gaps: Option<Chosen>,
}

/// A choice of concrete processors, as parameters.
#[derive(Debug, Clone)]
pub struct Chosen {
    /// The parameter that says whether there are none.
    pub none: String,
    /// The parameters that name the processors, if there are any.
    pub each: Vec<String>,
}

/// The value of a fixed choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fixed {
    /// A processor that is neither concrete nor known by name.
    Other,
    /// The processor that is known by name.
    Named,
    /// The value is undefined.
    Undefined,
}
