//! Which types there are, which of them are the same, and what they are called.
//!
//! Every type expression makes a type of its own, so that messages can use the user's words. Two
//! types are *the same* if they have the same structure, down to enumerations and scalarsets,
//! which are the same only as themselves: CMurphi goes by declaration and Rumur by structure, and
//! everything that both refuse is refused here.

use std::collections::HashMap;

use super::{Check, Checker};
use crate::ast::{self, Name, TypeExpression};
use crate::diagnostic::Diagnostic;
use crate::ir::{Field, Model, Simple, Type, TypeId, TypeKind};
use crate::source::Span;

use super::scope::Symbol;

/// The most members a scalarset may have.
const LARGEST_SCALARSET: i64 = 1 << 20;

/// How many members of an enumeration or fields of a record a message shows.
const SHOWN: usize = 6;

/// The structure of a type, in terms of the first types that have that of its components.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Shape {
    Range(i64, i64),
    Union(Vec<TypeId>),
    Record(Vec<(String, TypeId)>),
    Array(TypeId, TypeId),
    Multiset(u32, TypeId),
    Position(TypeId),
}

/// What is known about types besides [`Type`].
#[derive(Debug, Default)]
pub(super) struct TypeTable {
    spans: Vec<Span>,
    /// For each type, the first one that is the same.
    first: Vec<TypeId>,
    shapes: HashMap<Shape, TypeId>,
    wide: Option<TypeId>,
}

impl TypeTable {
    /// Notes one of the types every model has.
    pub(super) fn push_built_in(&mut self) {
        self.first.push(TypeId(self.first.len() as u32));
        self.spans.push(Span::default());
    }

    /// Where a type was written.
    pub(super) fn span(&self, ty: TypeId) -> Span {
        self.spans[ty.0 as usize]
    }

    /// The first type that is the same.
    pub(super) fn first(&self, ty: TypeId) -> TypeId {
        self.first[ty.0 as usize]
    }
}

impl Checker<'_> {
    /// Whether two types are the same.
    pub(super) fn same_type(&self, left: TypeId, right: TypeId) -> bool {
        self.table.first(left) == self.table.first(right)
    }

    /// Whether its values are numbers.
    pub(super) fn is_integer(&self, ty: TypeId) -> bool {
        matches!(self.model.simple(ty), Some(Simple::Range { .. } | Simple::Integer))
    }

    /// Whether its values are `false` and `true`.
    pub(super) fn is_boolean(&self, ty: TypeId) -> bool {
        matches!(self.model.simple(ty), Some(Simple::Boolean))
    }

    /// The members of a union.
    pub(super) fn union_members(&self, ty: TypeId) -> Option<&[TypeId]> {
        match self.model.simple(ty) {
            Some(Simple::Union(members)) => Some(members),
            _ => None,
        }
    }

    /// The scalarset inside a type that `clear` would set to its first member.
    pub(super) fn scalarset_inside(&self, ty: TypeId) -> Option<TypeId> {
        match self.model.kind(ty) {
            TypeKind::Simple(Simple::Scalarset(_)) => Some(ty),
            TypeKind::Simple(Simple::Union(members)) => {
                members.iter().find_map(|&member| self.scalarset_inside(member))
            }
            TypeKind::Simple(_) => None,
            TypeKind::Record(fields) => {
                fields.iter().find_map(|field| self.scalarset_inside(field.ty))
            }
            TypeKind::Array { element, .. } => self.scalarset_inside(*element),
            // Clearing a multiset empties it.
            TypeKind::Multiset { .. } => None,
        }
    }

    /// Adds a type.
    pub(super) fn add_type(&mut self, name: Option<&str>, kind: TypeKind, span: Span) -> TypeId {
        let id = TypeId(self.model.types.len() as u32);
        let first = match self.shape(&kind) {
            Some(shape) => *self.table.shapes.entry(shape).or_insert(id),
            None => id,
        };
        self.model.types.push(Type { name: name.map(str::to_owned), kind });
        self.table.first.push(first);
        self.table.spans.push(span);
        id
    }

    fn shape(&self, kind: &TypeKind) -> Option<Shape> {
        let first = |ty: TypeId| self.table.first(ty);
        Some(match kind {
            TypeKind::Simple(Simple::Range { low, high }) => Shape::Range(*low, *high),
            TypeKind::Simple(Simple::Union(members)) => {
                Shape::Union(members.iter().map(|&member| first(member)).collect())
            }
            TypeKind::Simple(Simple::Position { multiset }) => Shape::Position(first(*multiset)),
            TypeKind::Simple(_) => return None,
            TypeKind::Record(fields) => {
                let fields = fields.iter().map(|field| (field.name.clone(), first(field.ty)));
                Shape::Record(fields.collect())
            }
            TypeKind::Array { index, element } => Shape::Array(first(*index), first(*element)),
            TypeKind::Multiset { capacity, element } => Shape::Multiset(*capacity, first(*element)),
        })
    }

    /// The type of the positions of a multiset.
    pub(super) fn position_type(&mut self, multiset: TypeId) -> TypeId {
        let kind = TypeKind::Simple(Simple::Position { multiset });
        if let Some(known) = self.shape(&kind).and_then(|shape| self.table.shapes.get(&shape)) {
            return *known;
        }
        let span = self.table.span(multiset);
        self.add_type(None, kind, span)
    }

    /// The range of a loop with constant ends.
    pub(super) fn range_type(&mut self, from: i64, to: i64, span: Span) -> TypeId {
        let (low, high) = (from.min(to), from.max(to));
        self.add_type(None, TypeKind::Simple(Simple::Range { low, high }), span)
    }

    /// A range for integers that are held in a local without being of a declared type. It is not
    /// [`Model::INTEGER`], which has no layout.
    pub(super) fn wide_type(&mut self) -> TypeId {
        if let Some(wide) = self.table.wide {
            return wide;
        }
        let kind = TypeKind::Simple(Simple::Range { low: -(1 << 62), high: (1 << 62) - 1 });
        let wide = self.add_type(Some("integer"), kind, Span::default());
        self.table.wide = Some(wide);
        wide
    }

    /// A type in the words of the source.
    pub(super) fn type_name(&self, ty: TypeId) -> String {
        let Type { name, kind } = &self.model.types[ty.0 as usize];
        if let Some(name) = name {
            return name.clone();
        }
        match kind {
            TypeKind::Simple(Simple::Boolean) => "boolean".to_owned(),
            TypeKind::Simple(Simple::Integer) => "integer".to_owned(),
            TypeKind::Simple(Simple::Range { low, high }) => format!("{low}..{high}"),
            TypeKind::Simple(Simple::Enumeration(members)) => {
                format!("enum {{{}}}", shortened(members.iter().cloned()))
            }
            TypeKind::Simple(Simple::Scalarset(size)) => format!("scalarset({size})"),
            TypeKind::Simple(Simple::Union(members)) => {
                let members = members.iter().map(|&member| self.type_name(member));
                format!("union {{{}}}", shortened(members))
            }
            TypeKind::Simple(Simple::Position { multiset }) => {
                format!("position in {}", self.type_name(*multiset))
            }
            TypeKind::Record(fields) => {
                format!("record {{{}}}", shortened(fields.iter().map(|field| field.name.clone())))
            }
            TypeKind::Array { index, element } => {
                format!("array [{}] of {}", self.type_name(*index), self.type_name(*element))
            }
            TypeKind::Multiset { capacity, element } => {
                format!("multiset [{capacity}] of {}", self.type_name(*element))
            }
        }
    }

    /// The type that a type expression stands for. If it makes a new one, that is called `name`.
    pub(super) fn type_expression(
        &mut self,
        written: &TypeExpression,
        name: Option<&str>,
    ) -> Check<TypeId> {
        let span = written.span;
        match &written.kind {
            ast::TypeKind::Named(named) => self.named_type(named),
            ast::TypeKind::Range(low, high) => self.range(low, high, span, name),
            ast::TypeKind::Enumeration(members) => Ok(self.enumeration(members, span, name)),
            ast::TypeKind::Record(fields) => self.record(fields, span, name),
            ast::TypeKind::Array { index, element } => {
                let index = self.simple_type(index, "the index of an array");
                let element = self.type_expression(element, None);
                let (index, element) = (index?, element?);
                Ok(self.add_type(name, TypeKind::Array { index, element }, span))
            }
            ast::TypeKind::Multiset { capacity, element } => {
                let capacity = self.size(capacity, "the capacity of a multiset", u32::MAX.into());
                let element = self.type_expression(element, None);
                let (capacity, element) = (capacity?, element?);
                Ok(self.add_type(name, TypeKind::Multiset { capacity, element }, span))
            }
            ast::TypeKind::Scalarset(size) => self.scalarset(size, span, name),
            ast::TypeKind::Union(members) => self.union(members, span, name),
            ast::TypeKind::Real(..) => Err(self.unsupported(span, "real numbers")),
        }
    }

    fn named_type(&mut self, name: &Name) -> Check<TypeId> {
        let is_type = |symbol| matches!(symbol, Symbol::Type(_));
        match self.scopes.find(&name.text).map(|entry| entry.symbol) {
            Some(Symbol::Type(ty)) => Ok(ty),
            Some(Symbol::Broken) => Err(super::Reported),
            Some(_) => {
                let message = format!("`{}` is not a type", name.text);
                Err(self.error(Diagnostic::error(name.span, message)))
            }
            None => {
                let message = format!("unknown type `{}`", name.text);
                Err(self.unknown(&name.text, name.span, message, is_type))
            }
        }
    }

    /// A type whose values are single.
    pub(super) fn simple_type(&mut self, written: &TypeExpression, what: &str) -> Check<TypeId> {
        let ty = self.type_expression(written, None)?;
        if self.model.simple(ty).is_some() {
            return Ok(ty);
        }
        let message = format!("{what} cannot range over `{}`", self.type_name(ty));
        let help = "only ranges, booleans, enumerations, scalarsets and unions can be ranged over";
        Err(self.error(Diagnostic::error(written.span, message).help(help)))
    }

    fn range(
        &mut self,
        low: &ast::Expression,
        high: &ast::Expression,
        span: Span,
        name: Option<&str>,
    ) -> Check<TypeId> {
        let first = self.constant_integer(low, "the end of a range");
        let last = self.constant_integer(high, "the end of a range");
        let (low, high) = (first?, last?);
        if high < low {
            let message = format!("the range {low}..{high} is empty");
            let help = "its first value must not be above its last";
            return Err(self.error(Diagnostic::error(span, message).help(help)));
        }
        if high.abs_diff(low) >= 1 << 63 {
            let message = format!("the range {low}..{high} has too many values");
            return Err(self.error(Diagnostic::error(span, message)));
        }
        Ok(self.add_type(name, TypeKind::Simple(Simple::Range { low, high }), span))
    }

    fn enumeration(&mut self, members: &[Name], span: Span, name: Option<&str>) -> TypeId {
        let texts = members.iter().map(|member| member.text.clone()).collect();
        let kind = TypeKind::Simple(Simple::Enumeration(texts));
        let ty = self.add_type(name, kind, span);
        for (value, member) in members.iter().enumerate() {
            self.declare(member, Symbol::Constant { ty, value: value as i64 });
        }
        ty
    }

    fn record(
        &mut self,
        written: &[ast::Variables],
        span: Span,
        name: Option<&str>,
    ) -> Check<TypeId> {
        let mut fields: Vec<Field> = Vec::new();
        let mut seen: HashMap<&str, Span> = HashMap::new();
        let mut wrong = Ok(());
        for group in written {
            let ty = self.type_expression(&group.ty, None);
            for field in &group.names {
                if let Some(&earlier) = seen.get(field.text.as_str()) {
                    let message = format!("the record has two fields `{}`", field.text);
                    let diagnostic = Diagnostic::error(field.span, message);
                    wrong = Err(self.error(diagnostic.related(earlier, "the first one")));
                    continue;
                }
                seen.insert(&field.text, field.span);
                match ty {
                    Ok(ty) => fields.push(Field { name: field.text.clone(), ty }),
                    Err(reported) => wrong = Err(reported),
                }
            }
        }
        wrong?;
        Ok(self.add_type(name, TypeKind::Record(fields), span))
    }

    fn scalarset(
        &mut self,
        size: &ast::Expression,
        span: Span,
        name: Option<&str>,
    ) -> Check<TypeId> {
        let size = self.size(size, "the size of a scalarset", LARGEST_SCALARSET)?;
        if name.is_none() {
            let message = "a scalarset without a name cannot be used anywhere else";
            let help = "give it one: `type Name: scalarset(…)`";
            self.warn(Diagnostic::warning(span, message).help(help));
        }
        Ok(self.add_type(name, TypeKind::Simple(Simple::Scalarset(size)), span))
    }

    /// A constant from 1 to `most`.
    fn size(&mut self, written: &ast::Expression, what: &str, most: i64) -> Check<u32> {
        let size = self.constant_integer(written, what)?;
        if (1..=most).contains(&size) {
            return Ok(size as u32);
        }
        let message = format!("{what} cannot be {size}");
        let help = format!("it can be from 1 to {most}");
        Err(self.error(Diagnostic::error(written.span, message).help(help)))
    }

    fn union(
        &mut self,
        written: &[TypeExpression],
        span: Span,
        name: Option<&str>,
    ) -> Check<TypeId> {
        let mut members: Vec<TypeId> = Vec::new();
        let mut wrong = Ok(());
        for member in written {
            match self.union_member(member, &members) {
                Ok(mut parts) => members.append(&mut parts),
                Err(reported) => wrong = Err(reported),
            }
        }
        wrong?;
        Ok(self.add_type(name, TypeKind::Simple(Simple::Union(members)), span))
    }

    /// What a member adds to a union: itself, or its own members if it is a union.
    fn union_member(&mut self, written: &TypeExpression, before: &[TypeId]) -> Check<Vec<TypeId>> {
        let ty = self.type_expression(written, None)?;
        let parts = match self.model.simple(ty) {
            Some(Simple::Enumeration(_) | Simple::Scalarset(_)) => vec![ty],
            Some(Simple::Union(members)) => members.clone(),
            _ => {
                let message = format!("`{}` cannot be a member of a union", self.type_name(ty));
                let help = "only enumerations and scalarsets can";
                return Err(self.error(Diagnostic::error(written.span, message).help(help)));
            }
        };
        if let Some(twice) = parts.iter().find(|part| before.contains(part)) {
            let message = format!("`{}` is in the union twice", self.type_name(*twice));
            return Err(self.error(Diagnostic::error(written.span, message)));
        }
        Ok(parts)
    }
}

/// The first few of some names.
fn shortened(names: impl Iterator<Item = String>) -> String {
    let mut names: Vec<String> = names.take(SHOWN + 1).collect();
    if names.len() > SHOWN {
        names[SHOWN] = "…".to_owned();
    }
    names.join(", ")
}

/// What is declared in every model.
const _: () = assert!(Model::BOOLEAN.0 == 0 && Model::INTEGER.0 == 1);
