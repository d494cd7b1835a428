//! Atoms: the smallest conditions on a row of observed values. An atom is about the value of a term,
//! about whether a term equals a variable, or about whether two terms are equal.
//!
//! An atom divides rows into *categories*. A fact says that a combination of categories does not occur;
//! this file writes such conditions as Murphi expressions.

use murphi::ast::{BinaryOperator, Expression};

use super::reader::{
    FIRST_CONSTANT, FIRST_VARIABLE, Label, MOST_CONSTANTS, OTHER, UNDEFINED, UNKNOWN,
};
use super::syntax::{binary, is_undefined, joined, not};
use super::vocabulary::{Origin, Vocabulary, constant_expression, name};

/// The category of an atom in a row. For values it is the label.
pub(crate) type Category = u8;

/// For comparisons: one side is undefined (the same as for values).
const NOT_COMPARABLE: Category = UNDEFINED;
/// For comparisons: equal.
pub(crate) const EQUAL: Category = 1;
/// For comparisons: different.
pub(crate) const DIFFERENT: Category = 2;
/// For values: some member of a scalarset.
const MEMBER: Category = 253;

/// An elementary condition on a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Atom {
    /// The value of a term if it is a constant, or whether it is defined.
    Value(usize),
    /// Whether a term equals a variable.
    Is(usize, usize),
    /// Whether two terms are equal.
    Same(usize, usize),
}

/// All atoms of a vocabulary.
pub(crate) fn atoms(vocabulary: &Vocabulary) -> Vec<Atom> {
    let mut atoms = Vec::new();
    for (at, term) in vocabulary.terms.iter().enumerate() {
        atoms.push(Atom::Value(at));
        for (variable, declared) in vocabulary.variables.iter().enumerate() {
            let is_itself = term.uses == 1 << variable && term.text == declared.name;
            let is_set = declared.type_name.as_ref().is_some_and(|ty| term.sort.sets.contains(ty));
            if is_set && !is_itself {
                atoms.push(Atom::Is(at, variable));
            }
        }
        for (earlier, other) in vocabulary.terms[..at].iter().enumerate() {
            let alike = other.sort.name.is_some() && other.sort.name == term.sort.name;
            // A term that is itself a variable is compared as the variable, where possible.
            let is_variable = |text: &str| {
                vocabulary.variables.iter().any(|variable| variable.name == text)
                    && !term.sort.sets.is_empty()
            };
            if term.sort.is_data && alike && !is_variable(&term.text) && !is_variable(&other.text) {
                atoms.push(Atom::Same(earlier, at));
            }
        }
    }
    atoms
}

/// When a term is defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Definedness {
    /// In every state.
    Always,
    /// In every state in which the rule is enabled, but not in every state.
    Here,
    /// Not in every state in which the rule is enabled.
    Sometimes,
}

/// On which side of the implication of a lemma an atom stands. The side matters for terms that are
/// defined whenever the rule is enabled: an undefined term makes the conclusion fail, and makes a
/// premise true. For abstract processors it is often unknown whether a term is defined, so a
/// premise must not require it: the lemma would exclude nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Assumed,
    Claimed,
}

impl Atom {
    /// Whether the atom is about an expression that has to be computed.
    pub(crate) fn is_probe(self, vocabulary: &Vocabulary) -> bool {
        let is_probe = |term: usize| vocabulary.terms[term].origin == Origin::Probe;
        match self {
            Atom::Value(term) | Atom::Is(term, _) => is_probe(term),
            Atom::Same(left, right) => is_probe(left) || is_probe(right),
        }
    }

    /// Whether it compares two stored processors. A view with a processor known by name can tell of
    /// each whether it is that processor; for other abstract processors it is unknown whether they
    /// are equal.
    pub(crate) fn is_pair(self, vocabulary: &Vocabulary) -> bool {
        let Atom::Same(term, _) = self else { return false };
        let sets = &vocabulary.terms[term].sort.sets;
        let mut processors = vocabulary.variables.iter().filter(|variable| variable.processor);
        processors.any(|variable| variable.type_name.as_ref().is_some_and(|ty| sets.contains(ty)))
    }

    /// The set of variables that it uses.
    pub(crate) fn uses(self, vocabulary: &Vocabulary) -> u64 {
        match self {
            Atom::Value(term) => vocabulary.terms[term].uses,
            Atom::Is(term, variable) => vocabulary.terms[term].uses | 1 << variable,
            Atom::Same(left, right) => vocabulary.terms[left].uses | vocabulary.terms[right].uses,
        }
    }

    /// The category of the atom in a row; `None` if unknown. `others` are the variables that stand
    /// for abstract processors.
    pub(crate) fn category(
        self,
        vocabulary: &Vocabulary,
        row: &[Label],
        others: u64,
    ) -> Option<Category> {
        let variables = vocabulary.variables.len();
        let label = |term: usize| row[variables + term];
        match self {
            Atom::Value(term) => match label(term) {
                UNKNOWN => None,
                constant if usize::from(constant) <= MOST_CONSTANTS => Some(constant),
                _ => Some(MEMBER),
            },
            Atom::Is(term, variable) => match label(term) {
                UNKNOWN => None,
                UNDEFINED => Some(NOT_COMPARABLE),
                _ if others & 1 << variable != 0 && label(term) == OTHER => None,
                found => {
                    let is_it = found.checked_sub(FIRST_VARIABLE) == Some(row[variable]);
                    Some(if is_it { EQUAL } else { DIFFERENT })
                }
            },
            Atom::Same(left, right) => match (label(left), label(right)) {
                (UNKNOWN, _) | (_, UNKNOWN) | (OTHER, OTHER) => None,
                (UNDEFINED, _) | (_, UNDEFINED) => Some(NOT_COMPARABLE),
                (left, right) => Some(if left == right { EQUAL } else { DIFFERENT }),
            },
        }
    }

    /// The expression that the atom is about.
    pub(crate) fn shown(self, vocabulary: &Vocabulary) -> Expression {
        let term = |number: usize| vocabulary.terms[number].expression.clone();
        match self {
            Atom::Value(subject) => is_undefined(term(subject)),
            Atom::Is(subject, variable) => {
                let variable = name(&vocabulary.variables[variable].name);
                binary(BinaryOperator::Equal, term(subject), variable)
            }
            Atom::Same(left, right) => binary(BinaryOperator::Equal, term(left), term(right)),
        }
    }

    /// The condition "the category is one of these" as Murphi; `None` if it cannot be expressed.
    /// `presence` says which terms are defined.
    pub(crate) fn written(
        self,
        vocabulary: &Vocabulary,
        categories: &[Category],
        presence: &dyn Fn(usize) -> Definedness,
        role: Role,
    ) -> Option<Expression> {
        let term = |number: usize| vocabulary.terms[number].expression.clone();
        let (compared, sides) = match self {
            Atom::Value(subject) => {
                return value_written(vocabulary, subject, categories, presence(subject), role);
            }
            Atom::Is(subject, variable) => {
                let sides = (term(subject), name(&vocabulary.variables[variable].name));
                (vec![subject], sides)
            }
            Atom::Same(left, right) => (vec![left, right], (term(right), term(left))),
        };
        let operator = match (categories.contains(&EQUAL), categories.contains(&DIFFERENT)) {
            (true, true) => None,
            (true, false) => Some(BinaryOperator::Equal),
            (false, true) => Some(BinaryOperator::NotEqual),
            (false, false) => Some(BinaryOperator::Less),
        };
        let with = |wanted: Definedness| -> Vec<usize> {
            compared.iter().copied().filter(|&subject| presence(subject) == wanted).collect()
        };
        let (unsure, here) = (with(Definedness::Sometimes), with(Definedness::Here));
        // A test for definedness is written only if the term can be undefined, or if there is
        // nothing else to test.
        let all_defined = || {
            let subjects = if unsure.is_empty() { &compared } else { &unsure };
            subjects.iter().map(|&subject| not(is_undefined(term(subject)))).collect()
        };
        let undefined = || unsure.iter().map(|&subject| is_undefined(term(subject))).collect();
        let defined = |subjects: &[usize]| -> Vec<Expression> {
            subjects.iter().map(|&subject| not(is_undefined(term(subject)))).collect()
        };
        let (left, right) = sides;
        match (operator, categories.contains(&NOT_COMPARABLE)) {
            (None, true) => None,
            (None, false) => joined(BinaryOperator::And, all_defined()),
            (Some(BinaryOperator::Less), true) => joined(BinaryOperator::Or, undefined()),
            (Some(BinaryOperator::Less), false) => None,
            (Some(operator), may_be) => {
                let comparison = binary(operator, left, right);
                let comparison = match may_be {
                    true => {
                        let parts: Vec<Expression> = undefined();
                        let parts = parts.into_iter().chain([comparison]).collect();
                        joined(BinaryOperator::Or, parts)?
                    }
                    false => {
                        let parts = defined(&unsure).into_iter().chain([comparison]).collect();
                        joined(BinaryOperator::And, parts)?
                    }
                };
                let (operator, guards): (_, Vec<Expression>) = match role {
                    Role::Assumed => {
                        let undefined = here.iter().map(|&subject| is_undefined(term(subject)));
                        (BinaryOperator::Or, undefined.collect())
                    }
                    Role::Claimed => (BinaryOperator::And, defined(&here)),
                };
                joined(operator, guards.into_iter().chain([comparison]).collect())
            }
        }
    }
}

/// The condition "the term has one of these values".
fn value_written(
    vocabulary: &Vocabulary,
    term: usize,
    categories: &[Category],
    presence: Definedness,
    role: Role,
) -> Option<Expression> {
    let subject = || vocabulary.terms[term].expression.clone();
    let sort = &vocabulary.terms[term].sort;
    let undefined_allowed = categories.contains(&UNDEFINED);
    if sort.constants.is_empty() {
        return match (undefined_allowed, categories.contains(&MEMBER)) {
            (true, false) => Some(is_undefined(subject())),
            (false, true) => Some(not(is_undefined(subject()))),
            _ => None,
        };
    }
    let is_allowed = |number: usize| categories.contains(&(FIRST_CONSTANT + number as u8));
    let (allowed, excluded): (Vec<usize>, Vec<usize>) =
        (0..sort.constants.len()).partition(|&number| is_allowed(number));
    let members_allowed = categories.contains(&MEMBER) || sort.sets.is_empty();
    let compared = |operator: BinaryOperator, number: usize| {
        binary(operator, subject(), constant_expression(&sort.constants[number]))
    };
    let is_boolean = sort.constants == ["false", "true"];
    let values = if allowed.is_empty() && (sort.sets.is_empty() || !members_allowed) {
        None
    } else if excluded.is_empty() && members_allowed {
        return (!undefined_allowed).then(|| not(is_undefined(subject())));
    } else if is_boolean {
        Some(if allowed == [1] { subject() } else { not(subject()) })
    } else if members_allowed && (excluded.len() <= allowed.len() || !sort.sets.is_empty()) {
        let parts = excluded.iter().map(|&number| compared(BinaryOperator::NotEqual, number));
        joined(BinaryOperator::And, parts.collect())
    } else {
        let parts = allowed.iter().map(|&number| compared(BinaryOperator::Equal, number));
        joined(BinaryOperator::Or, parts.collect())
    };
    match (values, undefined_allowed, presence) {
        (None, true, _) => Some(is_undefined(subject())),
        (None, false, _) => None,
        (Some(values), _, Definedness::Always) => Some(values),
        (Some(values), false, Definedness::Here) if role == Role::Assumed => {
            Some(binary(BinaryOperator::Or, is_undefined(subject()), values))
        }
        (Some(values), true, _) => {
            Some(binary(BinaryOperator::Or, is_undefined(subject()), values))
        }
        (Some(values), false, _) => {
            Some(binary(BinaryOperator::And, not(is_undefined(subject())), values))
        }
    }
}
