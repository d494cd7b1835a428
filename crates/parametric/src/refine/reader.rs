//! Reads the terms of a vocabulary in a state, and writes them so that names do not matter.
//!
//! What is read is a row of labels, one for each variable and one for each term. A member of a
//! scalarset is labelled by the variable that has the same value, or else by the order in which
//! such members are met, so that two states that differ only in the names of members give the same
//! row. What is known of a processor that was abstracted is nothing.

use murphi::ir::{Model, Simple, TypeId, TypeKind};
use murphi::layout::Layout;
use rustc_hash::FxHashMap;

use super::vocabulary::{Origin, Step, Term, Vocabulary};
use crate::abstraction::{NAMED as NAMED_NAME, OTHER as OTHER_NAME};

/// What a term says in a state; see the constants below.
pub(crate) type Label = u8;

/// The term is undefined.
pub(crate) const UNDEFINED: Label = 0;
/// The constant with number n has the label `n + FIRST_CONSTANT`.
pub(crate) const FIRST_CONSTANT: Label = 1;
/// The value of variable n has the label `n + FIRST_VARIABLE`.
pub(crate) const FIRST_VARIABLE: Label = 120;
/// A member that no variable has.
pub(crate) const FIRST_ELSEWHERE: Label = 160;
/// Some processor that was abstracted.
pub(crate) const OTHER: Label = 254;
/// Nothing is known.
pub(crate) const UNKNOWN: Label = 255;

/// The number of the processor that is known by its name, among those of its type.
pub(crate) const NAMED_NUMBER: u64 = u64::MAX;

/// The most constants that have labels.
pub(crate) const MOST_CONSTANTS: usize = (FIRST_VARIABLE - FIRST_CONSTANT) as usize;
/// The most variables that have labels.
pub(crate) const MOST_VARIABLES: usize = (FIRST_ELSEWHERE - FIRST_VARIABLE) as usize;

/// A value before names are taken out of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Raw {
    Undefined,
    Unknown,
    Constant(u8),
    /// A member of the scalarset with this number among [`Names`].
    Member(u8, u64),
    Other,
}

/// A value before names are taken out of it, in two bytes: a label, or a member of a scalarset above
/// all labels.
type Code = u16;

/// The code of `false`.
const FALSE: Code = FIRST_CONSTANT as Code;

/// The code of the first member of the first scalarset.
const FIRST_MEMBER: Code = 256;

/// The most members of a scalarset that have codes of their own, the one with a name included.
const MOST_MEMBERS: u64 = 64;

impl Raw {
    /// The label of a value that is no member of a scalarset.
    pub(crate) fn label(self) -> Label {
        Label::try_from(self.code()).unwrap_or(UNKNOWN)
    }

    fn code(self) -> Code {
        match self {
            Raw::Undefined => UNDEFINED.into(),
            Raw::Unknown => UNKNOWN.into(),
            Raw::Other => OTHER.into(),
            Raw::Constant(number) => (FIRST_CONSTANT + number).into(),
            Raw::Member(set, value) => member(set, value),
        }
    }
}

fn member(set: u8, value: u64) -> Code {
    FIRST_MEMBER + Code::from(set) * MOST_MEMBERS as Code + value.min(MOST_MEMBERS - 1) as Code
}

/// What a reader has to know of abstracted processors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outside<'a> {
    /// The type of processors.
    pub(crate) processor: &'a str,
}

/// Numbers for the names of scalarsets.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names(FxHashMap<String, u8>);

impl Names {
    /// The number of a scalarset.
    fn number(&mut self, name: &str) -> u8 {
        let next = self.0.len().min(usize::from(u8::MAX)) as u8;
        *self.0.entry(name.to_owned()).or_insert(next)
    }
}

/// An index of a place.
#[derive(Debug, Clone, Copy)]
struct Stride {
    variable: usize,
    /// How far its elements are apart.
    apart: usize,
    /// Which element says whether any other is in a set of processors, if it is one.
    others: Option<usize>,
}

/// Where a place is in a state.
#[derive(Debug, Clone)]
struct Slot {
    offset: usize,
    strides: Vec<Stride>,
    width: usize,
    /// What each number in the slot means.
    meaning: Vec<Code>,
}

/// Where the terms of a row are read, with certain values of the variables.
#[derive(Debug, Clone)]
pub(crate) struct Reading {
    /// The labels of the variables.
    labels: Vec<Label>,
    /// Who they are, if they are members of scalarsets.
    names: Vec<Code>,
    /// For each term.
    sources: Vec<Source>,
}

#[derive(Debug, Clone, Copy)]
enum Source {
    Fixed(Code),
    /// In a slot, whose place is this.
    Read {
        offset: u32,
        slot: u32,
    },
    /// In a slot that says whether any other is in a set: if not, then not this one.
    ReadOthers {
        offset: u32,
        slot: u32,
    },
}

/// Reads a vocabulary in the states of one model.
#[derive(Debug, Clone)]
pub(crate) struct Reader {
    /// For each term; `None` if the model does not have it.
    slots: Vec<Option<Slot>>,
    /// For each variable the number of its scalarset.
    sets: Vec<Option<u8>>,
    /// For each variable, what its values mean.
    meanings: Vec<Vec<Raw>>,
    names: Names,
}

impl Reader {
    /// Prepares to read `vocabulary` in the states of `model`. `outside` tells of the abstracted
    /// processors in it, if there are such.
    pub(crate) fn new(
        vocabulary: &Vocabulary,
        model: &Model,
        layout: &Layout,
        outside: Option<Outside<'_>>,
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
        let slots = slots.map(|term| slot(term, model, layout, outside, &mut names)).collect();
        Reader { slots, sets, meanings, names }
    }

    /// How rows are read with these values of the variables: for each its number in its type, counted
    /// from 0, or `None` for an abstracted processor without a name. `given` tells of terms that are
    /// not read.
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
        // Who the variables are: the first of several that are the same comes first.
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
                Err(_) => label(code, &reading.names, &mut elsewhere),
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
                Some((offset, Whose::One)) => {
                    return Source::Read { offset: offset as u32, slot: number as u32 };
                }
                Some((offset, Whose::Others)) => {
                    return Source::ReadOthers { offset: offset as u32, slot: number as u32 };
                }
                None => None,
            },
            _ => None,
        };
        Source::Fixed(code.unwrap_or(UNKNOWN.into()))
    }

    /// What a value of a simple type of `model` means.
    pub(crate) fn meaning(
        &self,
        model: &Model,
        ty: TypeId,
        number: u64,
        outside: Option<Outside<'_>>,
    ) -> Raw {
        let meaning = meaning(model, ty, outside, &mut self.names.clone());
        meaning.get(number as usize + 1).copied().unwrap_or(Raw::Unknown)
    }

    /// The processor that is known by its name.
    pub(crate) fn named(&self, outside: Outside<'_>) -> Raw {
        Raw::Member(self.names.clone().number(outside.processor), NAMED_NUMBER)
    }
}

/// The label of a member of a scalarset, in a row whose variables are `met`.
fn label(code: Code, met: &[Code], elsewhere: &mut Vec<Code>) -> Label {
    if let Some(variable) = met.iter().position(|variable| *variable == code) {
        return FIRST_VARIABLE + variable as Label;
    }
    let known = elsewhere.iter().position(|member| *member == code);
    let at = known.unwrap_or_else(|| {
        elsewhere.push(code);
        elsewhere.len() - 1
    });
    FIRST_ELSEWHERE.saturating_add(at.min(90) as Label)
}

/// Of whom something says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    One,
    Others,
}

impl Slot {
    /// Where the place is with these values of the variables, unless it is that of a processor of
    /// which nothing is kept.
    fn at(&self, values: &[Option<u64>]) -> Option<(usize, Whose)> {
        let mut offset = self.offset;
        let mut whose = Whose::One;
        for stride in &self.strides {
            let at = match values[stride.variable] {
                Some(NAMED_NUMBER) | None => {
                    whose = Whose::Others;
                    stride.others?
                }
                Some(value) => value as usize,
            };
            offset += at * stride.apart;
        }
        Some((offset, whose))
    }

    fn read(&self, state: &[u8], offset: usize) -> Code {
        let unknown = UNKNOWN.into();
        let Some(bytes) = state.get(offset..offset + self.width) else { return unknown };
        let number = match *bytes {
            [byte] => u64::from(byte),
            _ => bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)),
        };
        self.meaning.get(number as usize).copied().unwrap_or(unknown)
    }
}

fn slot(
    term: &Term,
    model: &Model,
    layout: &Layout,
    outside: Option<Outside<'_>>,
    names: &mut Names,
) -> Option<Slot> {
    let Origin::Place { global, steps } = &term.origin else { return None };
    let at = model.globals.iter().position(|candidate| candidate.name == *global)?;
    let mut offset = layout.globals[at] as usize;
    let mut ty = model.globals[at].ty;
    let mut strides = Vec::new();
    for step in steps {
        let shape = layout.of_type(ty);
        match (step, model.kind(ty)) {
            (Step::Field(name), TypeKind::Record(fields)) => {
                let field = fields.iter().position(|field| field.name == *name)?;
                offset += shape.fields[field] as usize;
                ty = fields[field].ty;
            }
            (Step::At(variable), TypeKind::Array { index, element }) => {
                let is_set = model.simple(*element) == Some(&Simple::Boolean);
                let others = is_set.then(|| others(model, *index, outside)).flatten();
                let apart = shape.stride as usize;
                strides.push(Stride { variable: *variable, apart, others });
                ty = *element;
            }
            (Step::Element(number), TypeKind::Array { element, .. }) => {
                if *number >= u64::from(shape.length) {
                    return None;
                }
                offset += *number as usize * shape.stride as usize;
                ty = *element;
            }
            _ => return None,
        }
    }
    model.simple(ty)?;
    let width = layout.of_type(ty).size as usize;
    let meaning = meaning(model, ty, outside, names).into_iter().map(Raw::code).collect();
    Some(Slot { offset, strides, width, meaning })
}

/// Which of the values of an index stands for the others.
fn others(model: &Model, index: TypeId, outside: Option<Outside<'_>>) -> Option<usize> {
    let values = meaning(model, index, outside, &mut Names::default());
    values[1..].iter().position(|value| *value == Raw::Other)
}

/// What the numbers in a slot of a simple type mean: undefined, then its values.
fn meaning(model: &Model, ty: TypeId, outside: Option<Outside<'_>>, names: &mut Names) -> Vec<Raw> {
    let mut meanings = vec![Raw::Undefined];
    let mut constants = 0;
    push_meanings(model, ty, outside, names, &mut constants, &mut meanings);
    meanings
}

fn push_meanings(
    model: &Model,
    ty: TypeId,
    outside: Option<Outside<'_>>,
    names: &mut Names,
    constants: &mut u8,
    meanings: &mut Vec<Raw>,
) {
    let is_outside = |members: &[String], called: &str| outside.is_some() && members == [called];
    match model.simple(ty) {
        Some(Simple::Scalarset(size)) => {
            let name = model.types[ty.0 as usize].name.clone().unwrap_or_default();
            let set = names.number(&name);
            meanings.extend((0..u64::from(*size)).map(|value| Raw::Member(set, value)));
        }
        Some(Simple::Union(members)) => {
            for &member in members {
                push_meanings(model, member, outside, names, constants, meanings);
            }
        }
        Some(Simple::Enumeration(members)) if is_outside(members, OTHER_NAME) => {
            meanings.push(Raw::Other);
        }
        Some(Simple::Enumeration(members)) if is_outside(members, NAMED_NAME) => {
            let set = names.number(outside.map_or("", |outside| outside.processor));
            meanings.push(Raw::Member(set, NAMED_NUMBER));
        }
        _ => {
            for _ in 0..model.count(ty).min(MOST_CONSTANTS as u64) {
                meanings.push(Raw::Constant((*constants).min(MOST_CONSTANTS as u8 - 1)));
                *constants = constants.saturating_add(1);
            }
        }
    }
}
