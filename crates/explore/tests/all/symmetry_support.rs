//! Models made of types only, and symmetry by definition: values as trees, every permutation of
//! every scalarset, multisets as sorted lists. Shares nothing with what it is compared to but the
//! layout of states.

use std::sync::Arc;

use murphi::ir::{Field, Model, Simple, Type, TypeId, TypeKind, Variable};
use murphi::layout::Layout;
use murphi::source::{Source, Span};

/// A model that is its types and state variables.
pub(crate) struct Types {
    pub(crate) model: Model,
}

impl Types {
    pub(crate) fn new() -> Types {
        let named = |simple| Type { name: None, kind: TypeKind::Simple(simple) };
        Types {
            model: Model {
                source: Arc::new(Source { name: "test.m".to_string(), text: String::new() }),
                language: murphi::check::Options::default(),
                types: vec![named(Simple::Boolean), named(Simple::Integer)],
                globals: Vec::new(),
                functions: Vec::new(),
                rules: Vec::new(),
                start_states: Vec::new(),
                properties: Vec::new(),
                loop_limit: 1000,
                call_limit: 1000,
                undefined_members: true,
                covers: Vec::new(),
                ordered: Vec::new(),
                elements_have_order: false,
                tried: Vec::new(),
                recast: Vec::new(),
            },
        }
    }

    pub(crate) fn add(&mut self, kind: TypeKind) -> TypeId {
        self.model.types.push(Type { name: None, kind });
        TypeId(self.model.types.len() as u32 - 1)
    }

    pub(crate) fn scalarset(&mut self, size: u32) -> TypeId {
        self.add(TypeKind::Simple(Simple::Scalarset(size)))
    }

    pub(crate) fn enumeration(&mut self, size: usize) -> TypeId {
        let members = (0..size).map(|member| format!("E{member}")).collect();
        self.add(TypeKind::Simple(Simple::Enumeration(members)))
    }

    pub(crate) fn range(&mut self, low: i64, high: i64) -> TypeId {
        self.add(TypeKind::Simple(Simple::Range { low, high }))
    }

    pub(crate) fn union(&mut self, members: &[TypeId]) -> TypeId {
        self.add(TypeKind::Simple(Simple::Union(members.to_vec())))
    }

    pub(crate) fn record(&mut self, fields: &[TypeId]) -> TypeId {
        let field = |(number, &ty)| Field { name: format!("f{number}"), ty };
        self.add(TypeKind::Record(fields.iter().enumerate().map(field).collect()))
    }

    pub(crate) fn array(&mut self, index: TypeId, element: TypeId) -> TypeId {
        self.add(TypeKind::Array { index, element })
    }

    pub(crate) fn multiset(&mut self, capacity: u32, element: TypeId) -> TypeId {
        self.add(TypeKind::Multiset { capacity, element })
    }

    pub(crate) fn global(&mut self, ty: TypeId) {
        let name = format!("v{}", self.model.globals.len());
        self.model.globals.push(Variable { name, ty, span: Span::default() });
    }

    pub(crate) fn layout(&self) -> Layout {
        Layout::of(&self.model).expect("test models are small")
    }
}

/// A value of any type. Simple values are the numbers of their slots.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Value {
    Simple(u64),
    Parts(Vec<Value>),
    Multiset(Vec<Value>),
}

/// One permutation for each scalarset.
pub(crate) type Permutations = Vec<(TypeId, Vec<u32>)>;

/// Reads and writes values, and permutes them by definition.
pub(crate) struct Oracle<'m> {
    pub(crate) model: &'m Model,
    pub(crate) layout: &'m Layout,
}

impl Oracle<'_> {
    /// The values of all state variables.
    pub(crate) fn decode(&self, state: &[u8]) -> Vec<Value> {
        let globals = self.model.globals.iter().zip(&self.layout.globals);
        globals.map(|(global, &at)| self.decode_at(global.ty, at as usize, state)).collect()
    }

    fn decode_at(&self, ty: TypeId, at: usize, state: &[u8]) -> Value {
        let layout = self.layout.of_type(ty);
        let number = |width: u32| {
            (0..width as usize)
                .rev()
                .fold(0, |number, byte| number << 8 | u64::from(state[at + byte]))
        };
        match self.model.kind(ty) {
            TypeKind::Simple(_) => Value::Simple(number(layout.size)),
            TypeKind::Record(fields) => Value::Parts(
                fields
                    .iter()
                    .zip(&layout.fields)
                    .map(|(field, &offset)| self.decode_at(field.ty, at + offset as usize, state))
                    .collect(),
            ),
            TypeKind::Array { element, .. } => Value::Parts(
                (0..layout.length as usize)
                    .map(|index| {
                        self.decode_at(*element, at + index * layout.stride as usize, state)
                    })
                    .collect(),
            ),
            TypeKind::Multiset { element, .. } => Value::Multiset(
                (0..number(layout.count_width) as usize)
                    .map(|index| {
                        let offset = layout.elements as usize + index * layout.stride as usize;
                        self.decode_at(*element, at + offset, state)
                    })
                    .collect(),
            ),
        }
    }

    /// The state in which all state variables have these values.
    pub(crate) fn encode(&self, values: &[Value]) -> Vec<u8> {
        let mut state = vec![0; self.layout.size as usize];
        for ((global, &at), value) in
            self.model.globals.iter().zip(&self.layout.globals).zip(values)
        {
            self.encode_at(global.ty, at as usize, value, &mut state);
        }
        state
    }

    fn encode_at(&self, ty: TypeId, at: usize, value: &Value, state: &mut [u8]) {
        let layout = self.layout.of_type(ty);
        match (self.model.kind(ty), value) {
            (TypeKind::Simple(_), Value::Simple(number)) => {
                let width = layout.size as usize;
                state[at..at + width].copy_from_slice(&number.to_le_bytes()[..width]);
            }
            (TypeKind::Record(fields), Value::Parts(parts)) => {
                for ((field, &offset), part) in fields.iter().zip(&layout.fields).zip(parts) {
                    self.encode_at(field.ty, at + offset as usize, part, state);
                }
            }
            (TypeKind::Array { element, .. }, Value::Parts(parts)) => {
                for (index, part) in parts.iter().enumerate() {
                    self.encode_at(*element, at + index * layout.stride as usize, part, state);
                }
            }
            (TypeKind::Multiset { element, .. }, Value::Multiset(parts)) => {
                let width = layout.count_width as usize;
                let count = (parts.len() as u64).to_le_bytes();
                state[at..at + width].copy_from_slice(&count[..width]);
                for (index, part) in parts.iter().enumerate() {
                    let offset = layout.elements as usize + index * layout.stride as usize;
                    self.encode_at(*element, at + offset, part, state);
                }
            }
            _ => panic!("a value of another type"),
        }
    }

    /// A random state; `spread` says how many of the values of a type may occur.
    pub(crate) fn random(&self, random: &mut Random, spread: u64) -> Vec<Value> {
        let types = self.model.globals.iter().map(|global| global.ty);
        types.map(|ty| self.random_value(ty, random, spread)).collect()
    }

    fn random_value(&self, ty: TypeId, random: &mut Random, spread: u64) -> Value {
        let layout = self.layout.of_type(ty);
        match self.model.kind(ty) {
            TypeKind::Simple(_) => {
                let names_members = !self.ranges(ty).is_empty();
                let count = self.model.count(ty);
                let limit = if names_members { count } else { count.min(spread) };
                Value::Simple(if random.below(5) == 0 { 0 } else { 1 + random.below(limit) })
            }
            TypeKind::Record(fields) => Value::Parts(
                fields.iter().map(|field| self.random_value(field.ty, random, spread)).collect(),
            ),
            TypeKind::Array { element, .. } => Value::Parts(
                (0..layout.length).map(|_| self.random_value(*element, random, spread)).collect(),
            ),
            TypeKind::Multiset { element, .. } => Value::Multiset(
                (0..random.below(u64::from(layout.length) + 1))
                    .map(|_| self.random_value(*element, random, spread))
                    .collect(),
            ),
        }
    }

    /// The value that `clear` gives.
    #[allow(dead_code)] // for examples/symmetry.rs
    pub(crate) fn lowest(&self, ty: TypeId) -> Value {
        match self.model.kind(ty) {
            TypeKind::Simple(_) => Value::Simple(1),
            TypeKind::Record(fields) => {
                Value::Parts(fields.iter().map(|field| self.lowest(field.ty)).collect())
            }
            TypeKind::Array { index, element } => {
                Value::Parts(vec![self.lowest(*element); self.model.count(*index) as usize])
            }
            TypeKind::Multiset { .. } => Value::Multiset(Vec::new()),
        }
    }

    /// The scalarsets that are a symmetry of the model, with their sizes.
    pub(crate) fn scalarsets(&self) -> Vec<(TypeId, u32)> {
        let types = (0..self.model.types.len() as u32).map(TypeId);
        let ordered =
            |ty: &TypeId| self.model.ordered.iter().any(|it| it.scalarset == *ty && !it.at_start);
        types
            .filter(|ty| !ordered(ty))
            .filter_map(|ty| match self.model.simple(ty) {
                Some(&Simple::Scalarset(size)) if size > 1 => Some((ty, size)),
                _ => None,
            })
            .collect()
    }

    /// The scalarsets among the values of a simple type: where each begins, its type, its size.
    fn ranges(&self, ty: TypeId) -> Vec<(u64, TypeId, u64)> {
        let members = match self.model.simple(ty) {
            Some(Simple::Union(members)) => members.clone(),
            _ => vec![ty],
        };
        let mut ranges = Vec::new();
        let mut start = 0;
        for member in members {
            let count = self.model.count(member);
            if let Some(Simple::Scalarset(_)) = self.model.simple(member) {
                ranges.push((start, member, count));
            }
            start += count;
        }
        ranges
    }

    /// Whom a value, counted from 0, becomes.
    fn renamed(&self, ty: TypeId, value: u64, permutations: &Permutations) -> u64 {
        for (start, scalarset, count) in self.ranges(ty) {
            if (start..start + count).contains(&value)
                && let Some((_, images)) = permutations.iter().find(|(ty, _)| *ty == scalarset)
            {
                return start + u64::from(images[(value - start) as usize]);
            }
        }
        value
    }

    pub(crate) fn permute(&self, values: &[Value], permutations: &Permutations) -> Vec<Value> {
        let globals = self.model.globals.iter().zip(values);
        globals.map(|(global, value)| self.permute_value(global.ty, value, permutations)).collect()
    }

    fn permute_value(&self, ty: TypeId, value: &Value, permutations: &Permutations) -> Value {
        match (self.model.kind(ty), value) {
            (TypeKind::Simple(_), Value::Simple(0)) => Value::Simple(0),
            (TypeKind::Simple(_), Value::Simple(number)) => {
                Value::Simple(self.renamed(ty, number - 1, permutations) + 1)
            }
            (TypeKind::Record(fields), Value::Parts(parts)) => Value::Parts(
                fields
                    .iter()
                    .zip(parts)
                    .map(|(field, part)| self.permute_value(field.ty, part, permutations))
                    .collect(),
            ),
            (TypeKind::Array { index, element }, Value::Parts(parts)) => {
                let mut moved = parts.clone();
                for (position, part) in parts.iter().enumerate() {
                    let to = self.renamed(*index, position as u64, permutations);
                    moved[to as usize] = self.permute_value(*element, part, permutations);
                }
                Value::Parts(moved)
            }
            (TypeKind::Multiset { element, .. }, Value::Multiset(parts)) => Value::Multiset(
                parts.iter().map(|part| self.permute_value(*element, part, permutations)).collect(),
            ),
            _ => panic!("a value of another type"),
        }
    }

    /// The least of all permutations, multisets sorted: the same exactly within an orbit.
    pub(crate) fn least(&self, values: &[Value]) -> Vec<Value> {
        let all = all_permutations(&self.scalarsets());
        all.iter()
            .map(|permutations| sorted(&self.permute(values, permutations)))
            .min()
            .expect("the identity is a permutation")
    }
}

/// The same values with multisets sorted.
pub(crate) fn sorted(values: &[Value]) -> Vec<Value> {
    values
        .iter()
        .map(|value| match value {
            Value::Simple(number) => Value::Simple(*number),
            Value::Parts(parts) => Value::Parts(sorted(parts)),
            Value::Multiset(parts) => {
                let mut parts = sorted(parts);
                parts.sort();
                Value::Multiset(parts)
            }
        })
        .collect()
}

/// The same values with multisets in a random order.
pub(crate) fn shuffled(values: &[Value], random: &mut Random) -> Vec<Value> {
    values
        .iter()
        .map(|value| match value {
            Value::Simple(number) => Value::Simple(*number),
            Value::Parts(parts) => Value::Parts(shuffled(parts, random)),
            Value::Multiset(parts) => {
                let mut parts = shuffled(parts, random);
                random.shuffle(&mut parts);
                Value::Multiset(parts)
            }
        })
        .collect()
}

/// Every product of permutations.
pub(crate) fn all_permutations(scalarsets: &[(TypeId, u32)]) -> Vec<Permutations> {
    let mut all: Vec<Permutations> = vec![Vec::new()];
    for &(ty, size) in scalarsets {
        let orders = orders(size);
        all = all
            .iter()
            .flat_map(|permutations| {
                orders.iter().map(|order| {
                    let mut longer = permutations.clone();
                    longer.push((ty, order.clone()));
                    longer
                })
            })
            .collect();
    }
    all
}

/// All orders of `0 … size − 1`.
fn orders(size: u32) -> Vec<Vec<u32>> {
    let mut orders = vec![Vec::new()];
    for next in 0..size {
        orders = orders
            .iter()
            .flat_map(|order: &Vec<u32>| {
                (0..=order.len()).map(|position| {
                    let mut longer = order.clone();
                    longer.insert(position, next);
                    longer
                })
            })
            .collect();
    }
    orders
}

/// A random permutation of each scalarset.
pub(crate) fn random_permutations(
    scalarsets: &[(TypeId, u32)],
    random: &mut Random,
) -> Permutations {
    scalarsets
        .iter()
        .map(|&(ty, size)| {
            let mut order: Vec<u32> = (0..size).collect();
            random.shuffle(&mut order);
            (ty, order)
        })
        .collect()
}

/// Random numbers that depend on nothing but a seed: xorshift.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.below(end as u64 + 1) as usize);
        }
    }
}
