//! When two expressions are the same: by what they consist of, wherever they stand in the source.
//!
//! An [`Interner`] gives every expression a number, and the same number to the same expression, so
//! that what is known of an expression can be kept by its number. The path of a place is less: the
//! place without the values of its indices. `cache[p].state` and `cache[q].state` have one path.
//! Names mean one thing each (see `rename_apart.rs`), or else two variables would be taken for one.

use std::collections::HashMap;

use crate::ast::{
    BinaryOperator, Domain, Expression, ExpressionKind, Name, Quantifier, TypeExpression, TypeKind,
    UnaryOperator, Variables,
};

use super::visit::parts;

/// The number of an expression: the same for the same expression of one [`Interner`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExpressionId(u32);

/// Numbers for expressions.
#[derive(Debug, Clone, Default)]
pub struct Interner {
    ids: HashMap<Node, ExpressionId>,
}

/// An expression, given the numbers of the expressions in it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Node {
    head: Head,
    parts: Vec<ExpressionId>,
}

/// What an expression is, without the expressions in it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Head {
    Integer(i64),
    Real(String),
    Name(String),
    Undefined,
    Field(String),
    Index,
    Unary(UnaryOperator),
    Binary(BinaryOperator),
    Conditional,
    IsUndefined,
    IsMember(Type),
    Call(String),
    Quantified(bool, Vec<(String, Bound)>),
    MultisetCount(String),
}

/// What a variable goes through; the ends of a range are parts of the expression.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Bound {
    Type(Type),
    Range,
    RangeBy,
}

/// A type as it was written, without places in the source.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Type {
    Named(String),
    Enumeration(Vec<String>),
    Record(Vec<(Vec<String>, Type)>),
    Array(Box<Type>, Box<Type>),
    Multiset(ExpressionId, Box<Type>),
    Range(ExpressionId, ExpressionId),
    Scalarset(ExpressionId),
    Union(Vec<Type>),
    Real(ExpressionId, ExpressionId),
}

impl Interner {
    /// The number of an expression.
    pub fn id(&mut self, whole: &Expression) -> ExpressionId {
        let parts = parts(whole).into_iter().map(|part| self.id(part)).collect();
        let node = Node { head: self.head(whole), parts };
        let next = ExpressionId(self.ids.len() as u32);
        *self.ids.entry(node).or_insert(next)
    }

    fn head(&mut self, whole: &Expression) -> Head {
        match &whole.kind {
            ExpressionKind::Integer(number) => Head::Integer(*number),
            ExpressionKind::Real(number) => Head::Real(number.clone()),
            ExpressionKind::Name(name) => Head::Name(name.clone()),
            ExpressionKind::Undefined => Head::Undefined,
            ExpressionKind::Field(_, field) => Head::Field(field.text.clone()),
            ExpressionKind::Index(..) => Head::Index,
            ExpressionKind::Unary(operator, _) => Head::Unary(*operator),
            ExpressionKind::Binary(operator, ..) => Head::Binary(*operator),
            ExpressionKind::Conditional(..) => Head::Conditional,
            ExpressionKind::IsUndefined(_) => Head::IsUndefined,
            ExpressionKind::IsMember(_, ty) => Head::IsMember(self.ty(ty)),
            ExpressionKind::Call(call) => Head::Call(call.name.text.clone()),
            ExpressionKind::Quantified { all, quantifiers, .. } => {
                let bound = |each: &Quantifier| (each.name.text.clone(), self.bound(&each.domain));
                Head::Quantified(*all, quantifiers.iter().map(bound).collect())
            }
            ExpressionKind::MultisetCount(filter) => Head::MultisetCount(filter.name.text.clone()),
        }
    }

    fn bound(&mut self, domain: &Domain) -> Bound {
        match domain {
            Domain::Type(ty) => Bound::Type(self.ty(ty)),
            Domain::Range { by: None, .. } => Bound::Range,
            Domain::Range { by: Some(_), .. } => Bound::RangeBy,
        }
    }

    fn ty(&mut self, ty: &TypeExpression) -> Type {
        let names = |names: &[Name]| names.iter().map(|name| name.text.clone()).collect();
        match &ty.kind {
            TypeKind::Named(name) => Type::Named(name.text.clone()),
            TypeKind::Enumeration(members) => Type::Enumeration(names(members)),
            TypeKind::Record(fields) => {
                let field = |each: &Variables| (names(&each.names), self.ty(&each.ty));
                Type::Record(fields.iter().map(field).collect())
            }
            TypeKind::Array { index, element } => {
                Type::Array(Box::new(self.ty(index)), Box::new(self.ty(element)))
            }
            TypeKind::Multiset { capacity, element } => {
                Type::Multiset(self.id(capacity), Box::new(self.ty(element)))
            }
            TypeKind::Range(low, high) => Type::Range(self.id(low), self.id(high)),
            TypeKind::Scalarset(size) => Type::Scalarset(self.id(size)),
            TypeKind::Union(members) => {
                Type::Union(members.iter().map(|member| self.ty(member)).collect())
            }
            TypeKind::Real(digits, exponent) => Type::Real(self.id(digits), self.id(exponent)),
        }
    }
}

/// Whether two expressions are the same.
pub fn same(left: &Expression, right: &Expression) -> bool {
    let mut interner = Interner::default();
    interner.id(left) == interner.id(right)
}

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Step {
    /// The name that a path begins with.
    Name(String),
    /// A field of a record.
    Field(String),
    /// An element of an array or multiset, any one.
    Element,
}

/// A place without the values of its indices.
pub type Path = Vec<Step>;

/// The path of a place; of what is no place, nothing.
pub fn path(place: &Expression) -> Path {
    let (mut path, last) = match &place.kind {
        ExpressionKind::Name(name) => (Vec::new(), Step::Name(name.clone())),
        ExpressionKind::Field(inner, field) => (path(inner), Step::Field(field.text.clone())),
        ExpressionKind::Index(inner, _) => (path(inner), Step::Element),
        _ => return Vec::new(),
    };
    path.push(last);
    path
}

/// Whether a change of one place may change the other.
pub fn overlap(left: &[Step], right: &[Step]) -> bool {
    left.iter().zip(right).all(|(left, right)| left == right)
}

/// The places that an expression reads, the whole ones first, then those that their indices read.
pub fn places_read(whole: &Expression) -> Vec<&Expression> {
    let mut found = Vec::new();
    gather_places(whole, &mut found);
    found
}

fn gather_places<'e>(whole: &'e Expression, found: &mut Vec<&'e Expression>) {
    match &whole.kind {
        ExpressionKind::Name(_) | ExpressionKind::Field(..) | ExpressionKind::Index(..) => {
            found.push(whole);
            indices(whole).into_iter().for_each(|at| gather_places(at, found));
        }
        _ => parts(whole).into_iter().for_each(|part| gather_places(part, found)),
    }
}

/// The indices of a place, from left to right.
pub fn indices(place: &Expression) -> Vec<&Expression> {
    match &place.kind {
        ExpressionKind::Field(inner, _) => indices(inner),
        ExpressionKind::Index(inner, at) => {
            let mut found = indices(inner);
            found.push(at);
            found
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Interner, path, same};
    use crate::ast::{Expression, Item, RuleKind};
    use crate::parse::parse;
    use crate::source::Source;

    fn condition(text: &str) -> Expression {
        let text = format!("invariant \"x\" {text};");
        let program = parse(&Source { name: "x.m".into(), text }).0.expect("it is Murphi");
        let Item::Rule(rule) = &program.items[0] else { panic!("it is an invariant") };
        let RuleKind::Property(property) = &rule.kind else { panic!("it is an invariant") };
        property.condition.clone()
    }

    #[test]
    fn expressions_are_the_same_wherever_they_stand() {
        for (left, right) in [
            ("a[p].x = 1", "(a [ p ] . x) = 1"),
            ("forall p: P do a[p] end", "forall p : P do (a[p]) end"),
            ("exists i: 1..N do b[i] end", "exists i: 1 .. N do b[i] end"),
        ] {
            assert!(same(&condition(left), &condition(right)), "{left} and {right}");
        }
    }

    #[test]
    fn expressions_differ_by_any_part() {
        let different = [
            "a[p].x = 1",
            "a[q].x = 1",
            "a[p].y = 1",
            "a[p].x = 2",
            "a[p].x != 1",
            "a = 1",
            "forall p: P do a[p] end",
            "exists p: P do a[p] end",
            "forall p: Q do a[p] end",
            "forall q: P do a[p] end",
            "forall p: 1..2 do a[p] end",
            "forall p: 1..3 do a[p] end",
            "forall p := 1 to 2 do a[p] end",
            "forall p := 1 to 2 by 1 do a[p] end",
            "a & b -> c",
            "a & (b -> c)",
            "isundefined(a)",
            "ismember(a, P)",
            "ismember(a, Q)",
            "multisetcount(i: a, b[i])",
            "multisetcount(j: a, b[i])",
            "f(a)",
            "g(a)",
            "c ? a : b",
        ];
        let mut interner = Interner::default();
        let ids: std::collections::HashSet<_> =
            different.iter().map(|text| interner.id(&condition(text))).collect();
        assert_eq!(ids.len(), different.len());
    }

    #[test]
    fn a_path_has_no_indices() {
        assert_eq!(path(&condition("a[p].x")), path(&condition("a[b[q] + 1].x")));
        assert_ne!(path(&condition("a[p].x")), path(&condition("a[p].y")));
        assert_ne!(path(&condition("a[p]")), path(&condition("a")));
    }
}
