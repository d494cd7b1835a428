//! The rows that a step of the abstraction implies about processors that are not concrete.
//!
//! A step of the abstraction is an instance of a concrete rule in which some processors are unknown. It
//! determines a row like the observed ones, with gaps: values of concrete processors are read from the
//! state, and chosen values from the parameters of the abstract rule.

use std::hash::BuildHasher;
use std::sync::Arc;

use abstraction::{Abstraction, Chosen, Fixed, OtherRule, Prepared};
use murphi::instance::{self, binders};
use murphi::interpret::Interpreter;
use murphi::ir::{Domain, Model};
use murphi::print::print_expression;
use murphi::value::State;
use rustc_hash::FxBuildHasher;

use super::atoms::{Atom, Category, DIFFERENT, EQUAL};
use super::observe::{each_witness, sizes};
use super::reader::{AbstractProcessors, Label, NAMED_NUMBER, Raw, Reader, Reading};
use super::vocabulary::Vocabulary;

/// The largest number of concrete instances that one abstract instance is compared with.
const MOST_CASES: usize = 64;

/// An abstract program that can be run, with readers of its states.
pub(crate) struct Abstract {
    pub(crate) abstraction: Abstraction,
    pub(crate) interpreter: Interpreter,
    vocabularies: Arc<Vec<Vocabulary>>,
    readers: Vec<Reader>,
    /// For each rule of the concrete program, the number of its vocabulary.
    of_rule: Vec<Option<usize>>,
    /// The type of processors.
    processor: String,
}

/// The rows of one step.
pub(crate) struct StepRows {
    /// The number of the vocabulary.
    pub(crate) vocabulary: usize,
    /// What is unknown in the rows.
    pub(crate) cube: Cube,
    /// One for each choice of witnesses.
    pub(crate) rows: Vec<Vec<Label>>,
}

/// The known part of a row of which some values are unknown, besides its labels.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Cube {
    /// The variables that are abstract processors other than the one known by name, as bits.
    others: u64,
    /// Values that parameters of the abstract rule choose.
    chosen: Vec<(Atom, Category)>,
    /// A hash of both.
    hash: u64,
}

impl Cube {
    fn new(others: u64, chosen: Vec<(Atom, Category)>) -> Cube {
        let hash = FxBuildHasher.hash_one((others, &chosen));
        Cube { others, chosen, hash }
    }

    /// The category of an atom in a row. A chosen value is used only if the state has none.
    pub(crate) fn category(
        &self,
        atom: Atom,
        vocabulary: &Vocabulary,
        row: &[Label],
    ) -> Option<Category> {
        let chosen = || {
            let chosen = self.chosen.iter().find(|(chosen, _)| *chosen == atom);
            chosen.map(|(_, category)| *category)
        };
        atom.category(vocabulary, row, self.others).or_else(chosen)
    }

    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }
}

/// What is known of an instance of a rule without a state.
#[derive(Debug, Clone)]
pub(crate) struct RuleInstance {
    /// The number of the vocabulary of its rows.
    pub(crate) vocabulary: usize,
    /// The concrete instances that it may stand for: one for each value of the parameters that it
    /// does not determine.
    pub(crate) cases: Vec<Case>,
}

/// A concrete instance of which some processors are unknown.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    /// What is unknown in its rows.
    pub(crate) cube: Cube,
    /// How its rows are read, one for each choice of witnesses.
    pub(crate) readings: Vec<Reading>,
}

/// A partially known row: its labels, and its cube.
pub(crate) type QueriedRow = (Vec<Label>, Cube);

impl Abstract {
    pub(crate) fn new(
        abstraction: Abstraction,
        interpreter: Interpreter,
        vocabularies: &Arc<Vec<Vocabulary>>,
        prepared: &Prepared,
    ) -> Abstract {
        let (model, layout) = (interpreter.model(), interpreter.layout());
        let processor = prepared.processor.name.clone();
        let outside = Some(AbstractProcessors { processor: &processor });
        let reader = |vocabulary: &Vocabulary| Reader::new(vocabulary, model, layout, outside);
        let readers = vocabularies.iter().map(reader).collect();
        let mut of_rule = vec![None; prepared.rules.len()];
        for (number, vocabulary) in vocabularies.iter().enumerate() {
            of_rule[vocabulary.rule] = Some(number);
        }
        let vocabularies = Arc::clone(vocabularies);
        Abstract { abstraction, interpreter, vocabularies, readers, of_rule, processor }
    }

    /// Tells its program from others.
    pub(crate) fn digest(&self) -> String {
        explore::digest(self.model().source.text.as_bytes())
    }

    fn model(&self) -> &Model {
        self.interpreter.model()
    }

    /// The abstract rule, unless all processors of the rule are concrete.
    pub(crate) fn other_rule(&self, rule: u32) -> Option<&OtherRule> {
        let (_, other) = self.abstraction.origins.get(rule as usize)?;
        self.abstraction.rules.get((*other)?)
    }

    /// The rows that firing a rule in a state requires, if one of its processors is abstract: one
    /// of them must be possible.
    pub(crate) fn suspects(&self, state: &[u8], rule: u32, number: u64) -> Vec<StepRows> {
        match self.other_rule(rule) {
            Some(_) => self.rows(state, rule, number),
            None => Vec::new(),
        }
    }

    /// The rows of a rule that is enabled in a state, with or without abstract processors.
    pub(crate) fn rows(&self, state: &[u8], rule: u32, number: u64) -> Vec<StepRows> {
        let Some(RuleInstance { vocabulary, cases }) = self.rule_instance(rule, number) else {
            return Vec::new();
        };
        let suspect = |case: &Case| {
            let rows = case.readings.iter().map(|reading| {
                let mut row = Vec::new();
                self.read(vocabulary, reading, state, &mut row);
                row
            });
            StepRows { vocabulary, cube: case.cube.clone(), rows: rows.collect() }
        };
        cases.iter().map(suspect).collect()
    }

    /// Reads one row of a vocabulary in a state.
    pub(crate) fn read(
        &self,
        vocabulary: usize,
        reading: &Reading,
        state: &[u8],
        row: &mut Vec<Label>,
    ) {
        self.readers[vocabulary].read(reading, state, row);
    }

    /// What is known of an instance of a rule without a state.
    pub(crate) fn rule_instance(&self, rule: u32, number: u64) -> Option<RuleInstance> {
        let (origin, _) = self.abstraction.origins.get(rule as usize)?;
        let vocabulary_number = self.of_rule[origin.0]?;
        let vocabulary = &self.vocabularies[vocabulary_number];
        let reader = &self.readers[vocabulary_number];
        let bound = self.bound(rule, number);
        let value_of = |name: &str| bound.iter().find(|bound| bound.name == name);
        let other = self.other_rule(rule);
        let outside = AbstractProcessors { processor: &self.processor };
        let is_other = |at: usize| other.is_some_and(|other| other.others.contains(&at));
        let is_named = |at: usize| other.is_some_and(|other| other.named.contains(&at));
        let mut possible: Vec<Vec<Option<u64>>> = Vec::new();
        let own = vocabulary.variables.iter().take_while(|variable| !variable.witness);
        let sizes = sizes(vocabulary, self.model());
        for (at, variable) in own.enumerate() {
            let value = value_of(&variable.name).map(|bound| bound.number);
            possible.push(match (is_named(at), is_other(at), value) {
                (true, ..) => vec![Some(NAMED_NUMBER)],
                (_, true, _) => vec![None],
                (.., Some(number)) => vec![Some(number)],
                // Its value has no effect on the row.
                (.., None) => {
                    let outside = [None, Some(NAMED_NUMBER)].into_iter();
                    let outside = outside.filter(|_| variable.processor);
                    (0..sizes[at]).map(Some).chain(outside).collect()
                }
            });
        }
        if possible.iter().map(Vec::len).product::<usize>() > MOST_CASES {
            return None;
        }
        let (mut given, mut chosen) = (Vec::new(), Vec::new());
        let mut sets: Vec<ChosenSet> = Vec::new();
        for choice in other.iter().flat_map(|other| &other.choices).filter(|choice| choice.initial)
        {
            let text = print_expression(&choice.stands_for);
            if let Some(atom) = vocabulary.equation(&choice.stands_for) {
                let value = choice.name.as_ref().and_then(|name| value_of(name));
                let is_equal = value.map(|bound| bound.number == 1);
                let category = is_equal.map(|equal| if equal { EQUAL } else { DIFFERENT });
                chosen.extend(category.map(|category| (atom, category)));
                continue;
            }
            if let Some(set) = &choice.set {
                let value = |name: &String| value_of(name).map_or(0, |bound| bound.number);
                let some = |chosen: &Chosen| match value(&chosen.none) {
                    1 => Vec::new(),
                    _ => chosen.each.iter().map(value).collect(),
                };
                let gaps = set.gaps.as_ref().map(some).unwrap_or_default();
                sets.push(ChosenSet { text, members: some(&set.members), gaps: Some(gaps) });
                continue;
            }
            let Some(term) = vocabulary.find(&text) else {
                if choice.fixed == Some(Fixed::Undefined) {
                    sets.push(ChosenSet { text, members: Vec::new(), gaps: None });
                }
                continue;
            };
            let raw = match (&choice.name, choice.fixed) {
                (_, Some(Fixed::Other)) => Raw::Other,
                (_, Some(Fixed::Named)) => reader.named(outside),
                (_, Some(Fixed::Undefined)) => Raw::Undefined,
                (Some(name), None) => match value_of(name) {
                    Some(bound) => {
                        reader.meaning(self.model(), bound.ty, bound.number, Some(outside))
                    }
                    None => continue,
                },
                (None, None) => continue,
            };
            given.push((term, raw));
        }
        let case = |mut numbers: Vec<Option<u64>>| {
            let is_other =
                |at: &usize| vocabulary.variables[*at].processor && numbers[*at].is_none();
            let others = (0..numbers.len()).filter(is_other).fold(0, |bits, at| bits | 1 << at);
            let mut readings = Vec::new();
            each_witness(vocabulary, &sizes, &mut numbers, &mut |numbers| {
                let mut given = given.clone();
                sets.iter().for_each(|set| set.elements(vocabulary, numbers, &mut given));
                readings.push(reader.reading(vocabulary, numbers, &given));
            });
            Case { cube: Cube::new(others, chosen.clone()), readings }
        };
        let cases = each_of(&possible).into_iter().map(case).collect();
        Some(RuleInstance { vocabulary: vocabulary_number, cases })
    }

    /// The enabled instances of a rule in a state.
    pub(crate) fn applying(&self, state: &[u8], rule: u32) -> Vec<u64> {
        let Ok(state) = State::decode(self.model(), self.interpreter.layout(), state) else {
            return Vec::new();
        };
        let parameters = &self.model().rules[rule as usize].parameters;
        let count = instance::count(self.model(), parameters).unwrap_or(0);
        let applies = |number: &u64| {
            let enabled = self.interpreter.enabled(&state, rule as usize, *number);
            enabled.unwrap_or(false)
        };
        (0..count).filter(applies).collect()
    }

    /// The parameters of an instance of an abstract rule.
    fn bound(&self, rule: u32, number: u64) -> Vec<Bound> {
        let model = self.model();
        let rule = &model.rules[rule as usize];
        let values = instance::decode(model, &rule.parameters, number);
        let bound = |(binder, value): (&murphi::ir::Binder, i64)| {
            let local = &rule.frame.locals[binder.local.0 as usize];
            let ty = match binder.domain {
                Domain::Type(ty) => ty,
                _ => local.ty,
            };
            let number = value.wrapping_sub(model.lowest(ty)) as u64;
            Bound { name: local.name.clone(), ty, number }
        };
        binders(&rule.parameters).zip(values).map(bound).collect()
    }
}

/// All combinations of one value from each list.
fn each_of(possible: &[Vec<Option<u64>>]) -> Vec<Vec<Option<u64>>> {
    possible.iter().fold(vec![Vec::new()], |found, values| {
        let with = |taken: &Vec<Option<u64>>, value: &Option<u64>| [&taken[..], &[*value]].concat();
        found.iter().flat_map(|taken| values.iter().map(|value| with(taken, value))).collect()
    })
}

/// A set of processors that the parameters of an abstract rule choose.
struct ChosenSet {
    /// The expression that it stands for.
    text: String,
    /// The concrete processors in it.
    members: Vec<u64>,
    /// The processors for which it is undefined; `None` if it is undefined for all.
    gaps: Option<Vec<u64>>,
}

impl ChosenSet {
    /// Adds the membership of each variable that is a concrete processor.
    fn elements(
        &self,
        vocabulary: &Vocabulary,
        numbers: &[Option<u64>],
        given: &mut Vec<(usize, Raw)>,
    ) {
        for (variable, number) in vocabulary.variables.iter().zip(numbers) {
            let element = format!("{}[{}]", self.text, variable.name);
            let (true, Some(number)) = (variable.processor, number) else { continue };
            if *number == NAMED_NUMBER {
                continue;
            }
            let Some(term) = vocabulary.find(&element) else { continue };
            let raw = match self.gaps.as_ref().is_none_or(|gaps| gaps.contains(number)) {
                true => Raw::Undefined,
                false => Raw::Constant(u8::from(self.members.contains(number))),
            };
            given.push((term, raw));
        }
    }
}

/// A parameter and its value.
struct Bound {
    name: String,
    ty: murphi::ir::TypeId,
    /// The number of the value, from 0.
    number: u64,
}
