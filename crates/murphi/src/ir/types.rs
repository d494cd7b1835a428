//! The types of a model, and the values that each has.

use super::Model;

/// Names a type of [`Model::types`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeId(pub u32);

/// A type, with the name it was declared by if any.
#[derive(Debug, Clone)]
pub struct Type {
    /// The declared name; members of a scalarset print as `Name_1`, `Name_2`, ….
    pub name: Option<String>,
    /// What it is.
    pub kind: TypeKind,
}

/// The kinds of types.
#[derive(Debug, Clone)]
pub enum TypeKind {
    /// Everything that is one integer at run time.
    Simple(Simple),
    /// A record, its fields in the order of their declaration.
    Record(Vec<Field>),
    /// An array over a simple index type.
    Array {
        /// The index type, always simple.
        index: TypeId,
        /// The type of the elements.
        element: TypeId,
    },
    /// An unordered collection with a greatest size. Which position an element has carries no
    /// meaning, and canonical states keep elements sorted.
    Multiset {
        /// The greatest number of elements.
        capacity: u32,
        /// The type of the elements.
        element: TypeId,
    },
}

/// The simple types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Simple {
    /// `false` and `true`.
    Boolean,
    /// The integers of a subrange, both ends included.
    Range {
        /// Its least value.
        low: i64,
        /// Its greatest value; never below `low`.
        high: i64,
    },
    /// The type of integer expressions and constants: all 64-bit integers. No variable has it.
    Integer,
    /// An enumeration with its members.
    Enumeration(Vec<String>),
    /// A scalarset with its number of members. Two scalarset types are different symmetries, also
    /// when they have the same size.
    Scalarset(u32),
    /// A union of enumerations and scalarsets, in the order of the declaration.
    Union(Vec<TypeId>),
    /// The positions of a multiset: the type of what `choose` and the multiset operations bind.
    Position {
        /// The multiset type.
        multiset: TypeId,
    },
}

/// A field of a record.
#[derive(Debug, Clone)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: TypeId,
}

impl Model {
    /// The type of conditions.
    pub const BOOLEAN: TypeId = TypeId(0);
    /// The type of integer expressions.
    pub const INTEGER: TypeId = TypeId(1);

    /// What a type is.
    pub fn kind(&self, ty: TypeId) -> &TypeKind {
        &self.types[ty.0 as usize].kind
    }

    /// The simple type behind an id, if it is simple.
    pub fn simple(&self, ty: TypeId) -> Option<&Simple> {
        match self.kind(ty) {
            TypeKind::Simple(simple) => Some(simple),
            _ => None,
        }
    }

    /// The least value of a simple type; 0 for records, arrays, multisets and plain integers.
    pub fn lowest(&self, ty: TypeId) -> i64 {
        match self.simple(ty) {
            Some(Simple::Range { low, .. }) => *low,
            _ => 0,
        }
    }

    /// How many values a simple type has; 0 for records, arrays, multisets and plain integers.
    pub fn count(&self, ty: TypeId) -> u64 {
        match self.simple(ty) {
            None | Some(Simple::Integer) => 0,
            Some(Simple::Boolean) => 2,
            Some(Simple::Range { low, high }) => high.abs_diff(*low).saturating_add(1),
            Some(Simple::Enumeration(members)) => members.len() as u64,
            Some(Simple::Scalarset(size)) => u64::from(*size),
            Some(Simple::Union(members)) => members.iter().map(|&member| self.count(member)).sum(),
            Some(Simple::Position { multiset }) => match self.kind(*multiset) {
                TypeKind::Multiset { capacity, .. } => u64::from(*capacity),
                _ => 0,
            },
        }
    }

    /// Whether undefined is a value of the type, which expressions may have and comparisons distinguish
    /// from all others.
    pub fn has_undefined_value(&self, ty: TypeId) -> bool {
        let has_members = matches!(self.simple(ty), Some(Simple::Scalarset(_) | Simple::Union(_)));
        self.undefined_members && has_members && self.recast_from(ty).is_none()
    }

    /// Whether an undefined variable of the type may be returned and added to a multiset. Where
    /// undefined is not a value of the type, the result is an error unless it is assigned or passed.
    pub fn hands_on_undefined(&self, ty: TypeId) -> bool {
        let is_enumeration = matches!(self.simple(ty), Some(Simple::Enumeration(_)))
            || self.recast_from(ty) == Some(true);
        self.has_undefined_value(ty) || self.undefined_members && is_enumeration
    }

    /// Whether values of the type have no order: a scalarset, or a union with one, of at least two
    /// members.
    pub fn is_unordered(&self, ty: TypeId) -> bool {
        match self.simple(ty) {
            Some(Simple::Scalarset(size)) => *size > 1,
            Some(Simple::Union(members)) => members.iter().any(|&member| self.is_unordered(member)),
            _ => false,
        }
    }

    /// Of a scalarset that is written as something else, whether that is an enumeration.
    fn recast_from(&self, ty: TypeId) -> Option<bool> {
        let recast = self.recast.iter().find(|(recast, _)| *recast == ty);
        recast.map(|&(_, is_enumeration)| is_enumeration)
    }

    /// Where the values of `member` begin among those of `union`.
    pub fn union_offset(&self, union: TypeId, member: TypeId) -> Option<i64> {
        let Some(Simple::Union(members)) = self.simple(union) else {
            return None;
        };
        let mut offset = 0;
        for &candidate in members {
            if candidate == member {
                return Some(offset);
            }
            offset += self.count(candidate) as i64;
        }
        None
    }
}
