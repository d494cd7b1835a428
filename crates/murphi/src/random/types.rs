//! The types of a random program.

use super::Random;

/// Names a type of [`Types`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ty(pub(super) usize);

/// What a type is.
#[derive(Debug, Clone)]
pub(super) enum Kind {
    Boolean,
    /// Of expressions only.
    Integer,
    Range {
        low: i64,
        high: i64,
    },
    Enumeration(Vec<String>),
    Scalarset(usize),
    Union(Vec<Ty>),
    Record(Vec<(String, Ty)>),
    Array {
        index: Ty,
        element: Ty,
    },
    Multiset {
        capacity: usize,
        element: Ty,
    },
}

/// All types, components before what is made of them.
#[derive(Debug)]
pub(super) struct Types {
    names: Vec<String>,
    kinds: Vec<Kind>,
}

/// Slots that a variable may have.
const GREATEST_SLOTS: usize = 16;

impl Types {
    pub(super) const BOOLEAN: Ty = Ty(0);
    pub(super) const INTEGER: Ty = Ty(1);

    pub(super) fn kind(&self, ty: Ty) -> &Kind {
        &self.kinds[ty.0]
    }

    pub(super) fn name(&self, ty: Ty) -> &str {
        &self.names[ty.0]
    }

    /// All types that a variable may have.
    pub(super) fn all(&self) -> Vec<Ty> {
        (0..self.kinds.len()).map(Ty).filter(|&ty| ty != Types::INTEGER).collect()
    }

    pub(super) fn such_that(&self, wanted: impl Fn(&Kind) -> bool) -> Vec<Ty> {
        self.all().into_iter().filter(|&ty| wanted(self.kind(ty))).collect()
    }

    pub(super) fn is_simple(&self, ty: Ty) -> bool {
        !matches!(self.kind(ty), Kind::Record(_) | Kind::Array { .. } | Kind::Multiset { .. })
    }

    pub(super) fn is_number(&self, ty: Ty) -> bool {
        matches!(self.kind(ty), Kind::Range { .. } | Kind::Integer)
    }

    /// How many values a simple type has, if that is a small number.
    pub(super) fn small(&self, ty: Ty) -> Option<usize> {
        let count = match self.kind(ty) {
            Kind::Boolean => 2,
            Kind::Range { low, high } => {
                usize::try_from(high.abs_diff(*low)).ok()?.checked_add(1)?
            }
            Kind::Enumeration(members) => members.len(),
            Kind::Scalarset(size) => *size,
            Kind::Union(members) => members.iter().filter_map(|&member| self.small(member)).sum(),
            _ => return None,
        };
        (count <= 8).then_some(count)
    }

    /// Simple components of a value, and one for each multiset.
    pub(super) fn slots(&self, ty: Ty) -> usize {
        match self.kind(ty) {
            Kind::Record(fields) => fields.iter().map(|&(_, ty)| self.slots(ty)).sum(),
            Kind::Array { index, element } => {
                self.small(*index).unwrap_or(1) * self.slots(*element)
            }
            Kind::Multiset { capacity, element } => 1 + capacity * self.slots(*element),
            _ => 1,
        }
    }

    /// Whether a value of `outer` has a component of a type with a property, or is one.
    pub(super) fn contains(&self, outer: Ty, wanted: &dyn Fn(Ty) -> bool) -> bool {
        wanted(outer)
            || match self.kind(outer) {
                Kind::Record(fields) => fields.iter().any(|&(_, ty)| self.contains(ty, wanted)),
                Kind::Array { element, .. } => self.contains(*element, wanted),
                _ => false,
            }
    }

    /// Whether `clear` is refused, since it would have to choose a member of a scalarset.
    pub(super) fn holds_scalarset(&self, ty: Ty) -> bool {
        self.contains(ty, &|ty| match self.kind(ty) {
            Kind::Scalarset(_) => true,
            Kind::Union(members) => members.iter().any(|&member| self.holds_scalarset(member)),
            _ => false,
        })
    }

    /// The declarations of all types.
    pub(super) fn declarations(&self) -> Vec<String> {
        let declared = self.all().into_iter().skip(1);
        declared.map(|ty| format!("{}: {};", self.name(ty), self.definition(ty))).collect()
    }

    fn definition(&self, ty: Ty) -> String {
        match self.kind(ty) {
            Kind::Boolean | Kind::Integer => unreachable!("these are not declared"),
            Kind::Range { low, high } => format!("{low}..{high}"),
            Kind::Enumeration(members) => format!("enum {{ {} }}", members.join(", ")),
            Kind::Scalarset(size) => format!("scalarset({size})"),
            Kind::Union(members) => {
                let members = members.iter().map(|&member| self.name(member));
                format!("union {{ {} }}", members.collect::<Vec<_>>().join(", "))
            }
            Kind::Record(fields) => {
                let fields = fields.iter().map(|(name, ty)| format!("{name}: {};", self.name(*ty)));
                format!("record {} end", fields.collect::<Vec<_>>().join(" "))
            }
            Kind::Array { index, element } => {
                format!("array [{}] of {}", self.name(*index), self.name(*element))
            }
            Kind::Multiset { capacity, element } => {
                format!("multiset [{capacity}] of {}", self.name(*element))
            }
        }
    }

    fn push(&mut self, prefix: &str, kind: Kind) -> Ty {
        let ty = Ty(self.kinds.len());
        self.names.push(format!("{prefix}{}", ty.0));
        self.kinds.push(kind);
        ty
    }

    /// Some types of every kind.
    pub(super) fn random(random: &mut Random) -> Types {
        let mut types = Types { names: Vec::new(), kinds: Vec::new() };
        types.push("boolean", Kind::Boolean);
        types.names[0] = "boolean".to_owned();
        types.push("integer", Kind::Integer);
        types.push_simple(random);
        for _ in 0..2 + random.below(5) {
            types.push_compound(random);
        }
        types
    }

    fn push_simple(&mut self, random: &mut Random) {
        let low = random.between(-3, 2);
        let high = low + random.between(1, 4);
        self.push("Small", Kind::Range { low, high });
        for _ in 0..1 + random.below(3) {
            let (low, high) = WIDE[random.below(WIDE.len())];
            self.push("Wide", Kind::Range { low, high });
        }
        let mut members = Vec::new();
        for _ in 0..1 + random.below(2) {
            let name = ["Red", "Op", "Msg"][random.below(3)];
            let id = self.kinds.len();
            let size = 1 + random.below(4);
            let names = (0..size).map(|member| format!("{name}{id}x{member}")).collect();
            members.push(self.push("Enum", Kind::Enumeration(names)));
        }
        for _ in 0..1 + random.below(2) {
            members.push(self.push("Proc", Kind::Scalarset(1 + random.below(3))));
        }
        for _ in 0..random.below(3) {
            let mut chosen = members.clone();
            while chosen.len() > 2 && random.chance(40) {
                chosen.remove(random.below(chosen.len()));
            }
            if random.chance(50) {
                chosen.reverse();
            }
            self.push("Union", Kind::Union(chosen));
        }
    }

    fn push_compound(&mut self, random: &mut Random) {
        let elements: Vec<Ty> = self.all();
        let element = elements[random.below(elements.len())];
        let indices: Vec<Ty> =
            elements.iter().copied().filter(|&ty| self.small(ty).is_some()).collect();
        let (prefix, kind) = match random.below(3) {
            0 => {
                let count = 1 + random.below(3);
                let fields = (0..count)
                    .map(|field| (format!("f{field}"), elements[random.below(elements.len())]));
                ("Record", Kind::Record(fields.collect()))
            }
            1 => ("Array", Kind::Array { index: indices[random.below(indices.len())], element }),
            _ => ("Bag", Kind::Multiset { capacity: 1 + random.below(4), element }),
        };
        let ty = self.push(prefix, kind);
        if self.slots(ty) > GREATEST_SLOTS {
            self.names.pop();
            self.kinds.pop();
        }
    }
}

/// Ranges whose slots have 1, 2, 4 and 8 bytes, and whose values overflow when multiplied.
const WIDE: [(i64, i64); 8] = [
    (0, 253),
    (0, 254),
    (-100, 155),
    (0, 1000),
    (-40_000, 40_000),
    (-2_147_483_648, 2_147_483_647),
    (0, 5_000_000_000),
    (-4_611_686_018_427_387_904, 4_611_686_018_427_387_903),
];
