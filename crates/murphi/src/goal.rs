//! What has to stay within reach: a liveness property with values for its parameters.
//!
//! `liveness c` in a `ruleset p: Proc` says of each p that c(p) can be reached from every state, so
//! each instance of the property is a claim, and a search keeps one bit for each of them and each
//! state. Members of scalarsets may be renamed on the way from a state to the next: [`Goals::image`]
//! says which claim becomes which.

use crate::instance;
use crate::ir::{Domain, Model, Property, PropertyKind, Simple, TypeId};

/// The most instances of all liveness properties together.
const MOST: u64 = 4096;

/// An instance of a liveness property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Goal {
    /// The number of the property.
    pub property: u32,
    /// Which instance of it.
    pub instance: u64,
    /// The values of its `Each` parameters.
    values: Vec<i64>,
}

/// All instances of the liveness properties of a model, property after property.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Goals {
    goals: Vec<Goal>,
    properties: Vec<Parameters>,
    has_assumptions: bool,
}

/// The `Each` parameters of a liveness property.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Parameters {
    property: u32,
    /// The number of its first goal.
    first: usize,
    /// For each parameter, its least value, the distance between values, and how many it has.
    radices: Vec<(i64, i64, u64)>,
    /// For each parameter the scalarsets it may be a member of: the type, the value of the first
    /// member, and how many there are.
    scalarsets: Vec<Vec<(TypeId, i64, u32)>>,
}

/// Why the instances of a liveness property are not goals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoGoals {
    /// The property of this name is claimed of the elements of a multiset, which come and go.
    OfElements(String),
    /// There are too many.
    TooMany,
}

impl std::fmt::Display for NoGoals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NoGoals::OfElements(name) => write!(
                f,
                "liveness \"{name}\" is about elements of a multiset, which are added and \
                 removed; use arrays"
            ),
            NoGoals::TooMany => {
                write!(f, "the liveness properties have more than {MOST} instances")
            }
        }
    }
}

impl Goals {
    /// The goals of a model.
    pub fn of(model: &Model) -> Result<Goals, NoGoals> {
        let is_assumption = |property: &Property| property.kind == PropertyKind::Assumption;
        let has_assumptions = model.properties.iter().any(is_assumption);
        let mut goals = Goals { has_assumptions, ..Goals::default() };
        for (number, property) in (0..).zip(&model.properties) {
            if property.kind == PropertyKind::Liveness {
                goals.add(model, number, property)?;
            }
        }
        Ok(goals)
    }

    fn add(&mut self, model: &Model, number: u32, property: &Property) -> Result<(), NoGoals> {
        let binders = || instance::binders(&property.parameters);
        if binders().any(|binder| matches!(binder.domain, Domain::Multiset(_))) {
            return Err(NoGoals::OfElements(property.name.clone()));
        }
        let count = instance::count(model, &property.parameters).unwrap_or(u64::MAX);
        if count.saturating_add(self.goals.len() as u64) > MOST {
            return Err(NoGoals::TooMany);
        }
        let radices = instance::radices(model, &property.parameters);
        let digits = |at: u64| instance::decode(model, &property.parameters, at);
        let lowest = digits(0);
        let second = digits(count.saturating_sub(1));
        let step = |(&radix, (&low, &high)): (&u64, (&i64, &i64))| match radix {
            0 | 1 => (low, 1, radix),
            _ => (low, (high - low) / (radix as i64 - 1), radix),
        };
        let radices = radices.iter().zip(lowest.iter().zip(&second)).map(step).collect();
        let scalarsets = binders().map(|binder| match &binder.domain {
            Domain::Type(ty) => scalarsets(model, *ty),
            Domain::Range { .. } | Domain::Multiset(_) => Vec::new(),
        });
        let (first, scalarsets) = (self.goals.len(), scalarsets.collect());
        self.properties.push(Parameters { property: number, first, radices, scalarsets });
        let goal = |instance| Goal { property: number, instance, values: digits(instance) };
        self.goals.extend((0..count).map(goal));
        Ok(())
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.goals.len()
    }

    /// Whether nothing has to stay within reach.
    pub fn is_empty(&self) -> bool {
        self.goals.is_empty()
    }

    /// The goal with this number.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn get(&self, number: usize) -> &Goal {
        &self.goals[number]
    }

    /// Whether there are states that do not count.
    pub fn has_assumptions(&self) -> bool {
        self.has_assumptions
    }

    /// Whether renaming members may turn one goal into another.
    pub fn name_members(&self) -> bool {
        let mut sets = self.properties.iter().flat_map(|property| &property.scalarsets);
        sets.any(|sets| !sets.is_empty())
    }

    /// The number of the goal that a goal becomes when members are renamed: `rename` says whom a
    /// member of a scalarset becomes.
    pub fn image(&self, number: usize, rename: impl Fn(TypeId, u32) -> u32) -> usize {
        let goal = &self.goals[number];
        let of_goal = |parameters: &&Parameters| parameters.property == goal.property;
        let Some(parameters) = self.properties.iter().find(of_goal) else { return number };
        let mut instance = 0;
        for (at, &value) in goal.values.iter().enumerate() {
            let renamed = |&(ty, first, size): &(TypeId, i64, u32)| {
                let member = u32::try_from(value - first).ok().filter(|&member| member < size)?;
                Some(first + i64::from(rename(ty, member)))
            };
            let value = parameters.scalarsets[at].iter().find_map(renamed).unwrap_or(value);
            let (low, by, radix) = parameters.radices[at];
            instance = instance * radix as usize + ((value - low) / by) as usize;
        }
        parameters.first + instance
    }

    /// For each goal a property without parameters to choose: a cover, since what is asked of a
    /// state is whether it holds there.
    pub fn covers(&self, model: &Model) -> Vec<Property> {
        let cover = |goal: &Goal| {
            let property = &model.properties[goal.property as usize];
            Property {
                kind: PropertyKind::Cover,
                parameters: instance::fixed(model, property, goal.instance),
                ..property.clone()
            }
        };
        self.goals.iter().map(cover).collect()
    }
}

/// The scalarsets that a value of a type may be a member of.
fn scalarsets(model: &Model, ty: TypeId) -> Vec<(TypeId, i64, u32)> {
    match model.simple(ty) {
        Some(&Simple::Scalarset(size)) => vec![(ty, 0, size)],
        Some(Simple::Union(members)) => {
            let part = |&member: &TypeId| match model.simple(member) {
                Some(&Simple::Scalarset(size)) => {
                    Some((member, model.union_offset(ty, member)?, size))
                }
                _ => None,
            };
            members.iter().filter_map(part).collect()
        }
        _ => Vec::new(),
    }
}
