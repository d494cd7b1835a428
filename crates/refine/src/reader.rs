//! Reads the terms of a vocabulary in a state, independently of the names of scalarset members.
//!
//! The result is a row of labels (`label.rs`), one for each variable and term. A member of a scalarset is
//! labelled by the variable that has the same value, or else by the order in which new members occur, so
//! that states that differ only by a permutation give the same row. The variables of abstract processors
//! have no values.
//!
//! For given values of the variables, the position of each term in a state (`slot.rs`) and the meaning of
//! the stored number (`meaning.rs`) are computed once; then a row costs a few loads for each term.

mod label;
mod meaning;
mod slot;

use murphi::ir::{Model, Simple, TypeId, TypeKind};
use murphi::layout::Layout;

use super::vocabulary::{Origin, Term, Vocabulary};

use label::{Code, FALSE, label_of_member, member};
pub(crate) use label::{
    FIRST_CONSTANT, FIRST_VARIABLE, Label, MOST_CONSTANTS, MOST_VARIABLES, NAMED_NUMBER, OTHER,
    Raw, UNDEFINED, UNKNOWN,
};
pub(crate) use meaning::AbstractProcessors;
use meaning::{Names, meaning};
use slot::{Owner, Slot};

/// Reads a vocabulary in the states of one model.
#[derive(Debug, Clone)]
pub(crate) struct Reader {
    /// The slot of each term; `None` if the model does not have it.
    slots: Vec<Option<Slot>>,
    /// For each variable, the number of its scalarset.
    sets: Vec<Option<u8>>,
    /// For each variable, the meaning of each of its values.
    meanings: Vec<Vec<Raw>>,
    names: Names,
}

/// How the terms of a row are read, for given values of the variables.
#[derive(Debug, Clone)]
pub(crate) struct Reading {
    /// The labels of the variables.
    labels: Vec<Label>,
    /// The codes of the variables that are members of scalarsets.
    names: Vec<Code>,
    /// The source of each term.
    sources: Vec<Source>,
}

#[derive(Debug, Clone, Copy)]
enum Source {
    Fixed(Code),
    /// A slot in the state, at this offset.
    Read {
        offset: u32,
        slot: u32,
    },
    /// The element of a set that says whether it has members outside the view: if not, this
    /// processor is not a member.
    ReadOthers {
        offset: u32,
        slot: u32,
    },
}

impl Reader {
    /// Prepares to read `vocabulary` in the states of `model`. `outside` describes the abstract
    /// processors, if the model has any.
    pub(crate) fn new(
        vocabulary: &Vocabulary,
        model: &Model,
        layout: &Layout,
        outside: Option<AbstractProcessors<'_>>,
    ) -> Reader {
        let mut names = Names::default();
        let sets = vocabulary.variables.iter().map(|variable| {
            let name = variable.type_name.as_deref()?;
            let is_set = model.types.iter().any(|ty| {
                ty.name.as_deref() == Some(name)
                    && matches!(ty.kind, TypeKind::Simple(Simple::Scalarset(_)))
            });
            is_set.then(|| names.number(name))
        });
        let sets: Vec<Option<u8>> = sets.collect();
        let meanings = vocabulary.variables.iter().zip(&sets).map(|(variable, set)| {
            let value = |number: u64| match set {
                Some(set) => Raw::Member(*set, number),
                None => Raw::Constant(number as u8),
            };
            (0..variable.count.min(MOST_CONSTANTS as u64)).map(value).collect()
        });
        let meanings = meanings.collect();
        let slots = vocabulary.terms.iter();
        let slots = slots.map(|term| Slot::of(term, model, layout, outside, &mut names)).collect();
        Reader { slots, sets, meanings, names }
    }

    /// How rows are read for these values of the variables: the number of each in its type, from 0,
    /// or `None` for an abstract processor that is not known by name. `given` has the terms that
    /// are not read from the state.
    pub(crate) fn reading(
        &self,
        vocabulary: &Vocabulary,
        values: &[Option<u64>],
        given: &[(usize, Raw)],
    ) -> Reading {
        let labels = values.iter().enumerate().map(|(at, value)| {
            let is_first = |earlier: &usize| {
                self.sets[*earlier] == self.sets[at] && values[*earlier] == *value
            };
            (0..at).find(is_first).filter(|_| value.is_some()).unwrap_or(at) as Label
        });
        // If two variables are the same member, the first names it.
        let names = self.sets.iter().zip(values).map(|(set, value)| match (set, value) {
            (Some(set), Some(value)) => member(*set, *value),
            _ => 0,
        });
        let terms = vocabulary.terms.iter().zip(&self.slots).enumerate();
        let sources =
            terms.map(|(number, (term, slot))| match given.iter().find(|(at, _)| *at == number) {
                Some((_, raw)) => Source::Fixed(raw.code()),
                None => self.source(number, term, slot.as_ref(), values),
            });
        Reading { labels: labels.collect(), names: names.collect(), sources: sources.collect() }
    }

    /// The row of a state.
    pub(crate) fn read(&self, reading: &Reading, state: &[u8], row: &mut Vec<Label>) {
        row.clear();
        row.extend_from_slice(&reading.labels);
        let mut elsewhere: Vec<Code> = Vec::new();
        for source in &reading.sources {
            let code = match source {
                Source::Fixed(code) => *code,
                Source::Read { offset, slot } => self.code(*slot, *offset, state),
                Source::ReadOthers { offset, slot } => match self.code(*slot, *offset, state) {
                    FALSE => FALSE,
                    _ => UNKNOWN.into(),
                },
            };
            row.push(match Label::try_from(code) {
                Ok(label) => label,
                Err(_) => label_of_member(code, &reading.names, &mut elsewhere),
            });
        }
    }

    fn code(&self, slot: u32, offset: u32, state: &[u8]) -> Code {
        let slot = self.slots[slot as usize].as_ref();
        slot.map_or(UNKNOWN.into(), |slot| slot.read(state, offset as usize))
    }

    fn source(
        &self,
        number: usize,
        term: &Term,
        slot: Option<&Slot>,
        values: &[Option<u64>],
    ) -> Source {
        let code = match (&term.origin, slot) {
            (Origin::Variable(at), _) => {
                let value = values[*at].and_then(|value| self.meanings[*at].get(value as usize));
                value.map(|raw| raw.code())
            }
            (Origin::Place { .. }, Some(slot)) => match slot.at(values) {
                Some((offset, Owner::One)) => {
                    return Source::Read { offset: offset as u32, slot: number as u32 };
                }
                Some((offset, Owner::Others)) => {
                    return Source::ReadOthers { offset: offset as u32, slot: number as u32 };
                }
                None => None,
            },
            _ => None,
        };
        Source::Fixed(code.unwrap_or(UNKNOWN.into()))
    }

    /// The meaning of a value of a simple type of `model`.
    pub(crate) fn meaning(
        &self,
        model: &Model,
        ty: TypeId,
        number: u64,
        outside: Option<AbstractProcessors<'_>>,
    ) -> Raw {
        let meaning = meaning(model, ty, outside, &mut self.names.clone());
        meaning.get(number as usize + 1).copied().unwrap_or(Raw::Unknown)
    }

    /// The processor that is known by name.
    pub(crate) fn named(&self, outside: AbstractProcessors<'_>) -> Raw {
        Raw::Member(self.names.clone().number(outside.processor), NAMED_NUMBER)
    }
}
