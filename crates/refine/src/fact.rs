//! A fact about a rule: a condition that held whenever the rule was enabled, in all observed rows.
//!
//! A combination of categories that no row has becomes an implication: if all but one of the categories
//! apply, the last one does not. The conclusion is made as strong as the rows allow: it excludes every
//! category of the last atom that no row has together with the premises.

use abstraction::{Lemma, RuleId};
use murphi::ast::{BinaryOperator, Domain, Expression, Name, Quantifier, TypeExpression, TypeKind};
use murphi::print::print_expression;
use murphi::source::Span;

use super::atoms::{Atom, Category, Role};
use super::implied_rows::Cube;
use super::reader::Label;
use super::syntax::{binary, joined};
use super::table::{Combination, Table};
use super::vocabulary::Vocabulary;

/// A fact about a rule, with the step that it excludes.
#[derive(Debug, Clone)]
pub(crate) struct Fact {
    /// The number of its vocabulary.
    pub(crate) vocabulary: usize,
    given: Combination,
    subject: Atom,
    allowed: Vec<Category>,
    pub(crate) lemma: Lemma,
    /// The condition as a text.
    pub(crate) text: String,
    /// The abstract step that the fact excludes, in one line.
    pub(crate) called_for: String,
}

impl Fact {
    /// The fact that a missing combination implies; `None` if it cannot be expressed.
    pub(crate) fn new(
        number: usize,
        vocabulary: &Vocabulary,
        table: &Table,
        combination: &Combination,
        called_for: &str,
    ) -> Option<Fact> {
        let at = subject(vocabulary, combination);
        let mut given = combination.clone();
        let (subject, met) = given.remove(at);
        let allowed = table.categories(subject, &given);
        if allowed.is_empty() || allowed.contains(&met) {
            return None;
        }
        let presence = |term: usize| table.presence(term);
        let before: Option<Vec<Expression>> = given
            .iter()
            .map(|(atom, category)| {
                atom.written(vocabulary, &[*category], &presence, Role::Assumed)
            })
            .collect();
        let behind = subject.written(vocabulary, &allowed, &presence, Role::Claimed)?;
        let condition = match joined(BinaryOperator::And, before?) {
            Some(before) => binary(BinaryOperator::Implies, before, behind),
            None => behind,
        };
        let uses = combination.iter().fold(0, |uses, (atom, _)| uses | atom.uses(vocabulary));
        if !uses_first_witnesses(vocabulary, uses) {
            return None;
        }
        let text = print_expression(&condition);
        let rule = RuleId(vocabulary.rule);
        let lemma = Lemma { rule, witnesses: witnesses(vocabulary, uses), condition };
        let called_for = called_for.to_owned();
        Some(Fact { vocabulary: number, given, subject, allowed, lemma, text, called_for })
    }

    /// A lemma about a single atom.
    pub(crate) fn claim_of(vocabulary: &Vocabulary, atom: Atom) -> Lemma {
        let condition = atom.shown(vocabulary);
        let witnesses = witnesses(vocabulary, atom.uses(vocabulary));
        Lemma { rule: RuleId(vocabulary.rule), witnesses, condition }
    }

    /// The number of atoms.
    pub(crate) fn atoms(&self) -> usize {
        self.given.len() + 1
    }

    /// Whether a row contradicts it.
    pub(crate) fn is_false(&self, vocabulary: &Vocabulary, row: &[Label], cube: &Cube) -> bool {
        let is_given = |(atom, category): &(Atom, Category)| {
            cube.category(*atom, vocabulary, row) == Some(*category)
        };
        let subject = cube.category(self.subject, vocabulary, row);
        self.given.iter().all(is_given)
            && subject.is_some_and(|category| !self.allowed.contains(&category))
    }
}

/// The atom that becomes the conclusion: one about a witness if possible, then one about data.
fn subject(vocabulary: &Vocabulary, combination: &Combination) -> usize {
    let witnesses = vocabulary.variables.iter().enumerate();
    let witnesses = witnesses.filter(|(_, variable)| variable.witness);
    let witnesses = witnesses.fold(0u64, |bits, (at, _)| bits | 1 << at);
    let rank = |atom: &Atom| match atom {
        _ if atom.uses(vocabulary) & witnesses != 0 => 3,
        Atom::Same(..) => 2,
        Atom::Is(..) => 1,
        Atom::Value(_) => i32::from(!atom.is_probe(vocabulary)),
    };
    let best = combination.iter().enumerate().max_by_key(|(_, (atom, _))| rank(atom));
    best.map_or(0, |(at, _)| at)
}

/// Whether, of several witnesses of one type, the fact uses the first ones. All choices of
/// witnesses are observed, so a fact about a later witness also holds for the first.
fn uses_first_witnesses(vocabulary: &Vocabulary, uses: u64) -> bool {
    let is_used = |at: usize| uses & 1 << at != 0;
    let mut variables = vocabulary.variables.iter().enumerate();
    variables.all(|(at, variable)| {
        let mut earlier = vocabulary.variables[..at].iter().enumerate();
        !variable.witness
            || !is_used(at)
            || earlier
                .all(|(before, other)| !other.witness || other.ty != variable.ty || is_used(before))
    })
}

/// The witnesses among these variables.
fn witnesses(vocabulary: &Vocabulary, uses: u64) -> Vec<Quantifier> {
    let span = Span::default();
    let declared = vocabulary.variables.iter().enumerate();
    let used = declared.filter(|(at, variable)| variable.witness && uses & 1 << at != 0);
    let quantifier = |(_, variable): (usize, &super::vocabulary::Variable)| {
        let ty = Name { text: variable.type_name.clone()?, span };
        let domain = Domain::Type(TypeExpression { kind: TypeKind::Named(ty), span });
        let name = Name { text: variable.name.clone(), span };
        Some(Quantifier { name, domain, span })
    };
    used.filter_map(quantifier).collect()
}
