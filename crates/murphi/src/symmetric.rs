//! Subranges and enumerations that are used as scalarsets are: their members compared for equality,
//! stored, indexed with and gone through, but neither ordered nor computed with nor named.
//!
//! The definition of such a type is replaced by a scalarset of as many members, in the text, so that
//! whatever reads a program sees a scalarset. The rules of the language for scalarsets then say
//! whether the type is used symmetrically, and where it is not: a constant, an order, a sum or a
//! conversion from or to a number does not fit, and where a loop shows the order of members it is
//! found (`check/order.rs`). What is left of a program that passes does the same as before, up to the
//! names of members, with one exception: in CMurphi an undefined member of a scalarset may be
//! compared, and an undefined number may not. So the checker is warning_here which scalarsets these are
//! ([`Options::symmetric`](crate::check::Options)), and they keep their old meaning.

use crate::ast::{Declaration, DeclarationKind, Item, TypeExpression, TypeKind as Written};
use crate::check::{self, Checked};
use crate::diagnostic::Diagnostic;
use crate::ir::{Model, Simple, TypeId, TypeKind};
use crate::parse::parse;
use crate::source::{Source, Span};

/// A type that is to be treated as a scalarset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symmetric {
    /// Its name.
    pub name: String,
    /// Whether it is written as an enumeration.
    pub is_enumeration: bool,
}

/// A program in which types are scalarsets that are not written as such.
#[derive(Debug, Clone)]
pub struct Treated {
    /// Its text.
    pub source: Source,
    /// The types.
    pub types: Vec<Symmetric>,
}

/// Why types cannot be treated as scalarsets: what is wrong, and the text that it is wrong with.
#[derive(Debug, Clone)]
pub struct Asymmetric {
    /// The text.
    pub source: Source,
    /// What is wrong.
    pub problems: Vec<Diagnostic>,
}

/// Treats the types of these names as scalarsets.
pub fn treat(
    source: &Source,
    names: &[String],
    options: &check::Options,
) -> Result<Treated, Asymmetric> {
    let mut treated = Treated { source: source.clone(), types: Vec::new() };
    if names.is_empty() {
        return Ok(treated);
    }
    let wrong = |problems| Asymmetric { source: source.clone(), problems };
    check::load(source.clone(), options).map_err(wrong)?;
    for name in names {
        treated = treat_one(treated, name).map_err(|problem| wrong(vec![problem]))?;
    }
    let options = check::Options { symmetric: treated.types.clone(), ..options.clone() };
    let refused = |problems| Asymmetric { source: treated.source.clone(), problems };
    let checked = check::load(treated.source.clone(), &options);
    let checked = checked.map_err(|errors| refused(not_symmetric(names, errors)))?;
    match shown_orders(&checked, names) {
        orders if orders.is_empty() => Ok(treated),
        orders => Err(refused(orders)),
    }
}

/// The types that could be treated as scalarsets: those that index a variable, are small, and pass.
pub fn candidates(source: &Source, model: &Model, options: &check::Options) -> Vec<String> {
    let index = |kind: &TypeKind| match kind {
        TypeKind::Array { index, .. } => Some(*index),
        _ => None,
    };
    let mut indices: Vec<TypeId> = model.types.iter().filter_map(|ty| index(&ty.kind)).collect();
    indices.sort();
    indices.dedup();
    let is_small = |ty: &TypeId| {
        let written =
            matches!(model.simple(*ty), Some(Simple::Range { .. } | Simple::Enumeration(_)));
        written && (2..=MOST_MEMBERS).contains(&model.count(*ty))
    };
    let name = |ty: TypeId| model.types[ty.0 as usize].name.clone();
    let mut names: Vec<String> = indices.into_iter().filter(is_small).filter_map(name).collect();
    names.dedup();
    names.truncate(MOST_TRIED);
    names.retain(|name| treat(source, std::slice::from_ref(name), options).is_ok());
    names
}

/// More members than these are no processors.
const MOST_MEMBERS: u64 = 16;
/// How many types are tried.
const MOST_TRIED: usize = 6;

/// Replaces the definition of one type.
fn treat_one(treated: Treated, name: &str) -> Result<Treated, Diagnostic> {
    let Treated { source, mut types } = treated;
    let (program, _) = parse(&source);
    let items = program.map(|program| program.items).unwrap_or_default();
    let Some(definition) = items.iter().find_map(|item| definition(item, name)) else {
        return Err(Diagnostic::error(Span::default(), format!("the model has no type `{name}`")));
    };
    let text = |span: Span| source.text[span.start as usize..span.end as usize].to_owned();
    let (size, is_enumeration) = match &definition.kind {
        Written::Range(low, high) => {
            (format!("({}) - ({}) + 1", text(high.span), text(low.span)), false)
        }
        Written::Enumeration(members) => (members.len().to_string(), true),
        _ => {
            let message = format!("`{name}` is neither a subrange nor an enumeration");
            return Err(Diagnostic::error(definition.span, message));
        }
    };
    let mut rewritten = source.text.clone();
    let place = definition.span.start as usize..definition.span.end as usize;
    rewritten.replace_range(place, &format!("scalarset({size})"));
    types.push(Symmetric { name: name.to_owned(), is_enumeration });
    Ok(Treated { source: Source { name: source.name, text: rewritten }, types })
}

/// What an item defines a type of this name to be.
fn definition<'a>(item: &'a Item, name: &str) -> Option<&'a TypeExpression> {
    match item {
        Item::Declaration(Declaration {
            kind: DeclarationKind::Type { names, definition },
            ..
        }) => names.iter().any(|one| one.text == name).then_some(definition),
        _ => None,
    }
}

/// The complaints about a program that is fine as it is written.
fn not_symmetric(names: &[String], errors: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let names = quoted(names);
    let is = |mut problem: Diagnostic| {
        if problem.severity == crate::diagnostic::Severity::Error {
            problem.message = format!("{names} not used symmetrically: {}", problem.message);
        }
        problem
    };
    errors.into_iter().map(is).collect()
}

/// The places where the order of one of these types may show.
fn shown_orders(checked: &Checked, names: &[String]) -> Vec<Diagnostic> {
    let model = &checked.model;
    let is_asked = |ty: TypeId| {
        let name = model.types[ty.0 as usize].name.as_ref();
        name.is_some_and(|name| names.contains(name))
    };
    let places: Vec<Span> = model
        .ordered
        .iter()
        .filter(|ordered| is_asked(ordered.scalarset))
        .map(|ordered| ordered.span)
        .collect();
    let mut orders: Vec<Diagnostic> = Vec::new();
    for span in places {
        let warning_here = checked.warnings.iter().find(|warning| warning.span == span);
        let why = warning_here
            .map_or("the model depends on the order of its members here", |warning_here| {
                &warning_here.message
            });
        let message = format!("{} not used symmetrically: {why}", quoted(names));
        let problem = Diagnostic::error(span, message);
        if !orders.contains(&problem) {
            orders.push(problem);
        }
    }
    orders
}

/// `` `A` is `` or `` `A` and `B` are ``.
fn quoted(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    format!("{} {}", quoted.join(" and "), if names.len() == 1 { "is" } else { "are" })
}
