//! Names that mean something to the abstraction itself: `Other` and `Named` stand in the programs
//! that it makes, and `true`, `false` and `boolean` are recognised by their text. A program in which
//! one of them means something else is refused, unless it is a variable of a quantifier or loop, which
//! is given another name (transformation T2 of docs/abstraction.md).

use murphi::ast::{DeclarationKind, Item, Name, Program, Quantifier, TypeExpression, TypeKind};
use murphi::diagnostic::Diagnostic;
use murphi::transform::Flattened;

/// The abstract processor, which stands for all that are not concrete.
pub const OTHER: &str = "Other";

/// The processor that is known by name, of which nothing else is kept.
pub const NAMED: &str = "Named";

/// The names that are reserved.
pub const RESERVED: [&str; 5] = [OTHER, NAMED, "true", "false", "boolean"];

/// Refuses reserved names of declarations, parameters and variables.
pub(crate) fn nothing_reserved(
    program: &Program,
    flattened: &Flattened,
) -> Result<(), Vec<Diagnostic>> {
    let mut found: Vec<&Name> = Vec::new();
    for item in &program.items {
        if let Item::Declaration(declaration) = item {
            declared(&declaration.kind, &mut found);
        }
    }
    let rules = flattened.rules.iter().map(|rule| (&rule.quantifiers, Some(&rule.body)));
    let starts = flattened.start_states.iter();
    let starts = starts.map(|start| (&start.quantifiers, Some(&start.item.1)));
    let properties = flattened.properties.iter().map(|property| (&property.quantifiers, None));
    for (quantifiers, body) in rules.chain(starts).chain(properties) {
        found.extend(quantifiers.iter().map(|each: &Quantifier| &each.name));
        for declaration in body.iter().flat_map(|body| &body.declarations) {
            declared(&declaration.kind, &mut found);
        }
    }
    let is_reserved = |name: &&Name| RESERVED.contains(&name.text.as_str());
    let problem = |name: &Name| {
        let message = format!("the name `{}` is reserved in abstractions", name.text);
        Diagnostic::error(name.span, message).help("give this another name")
    };
    let problems: Vec<Diagnostic> = found.into_iter().filter(is_reserved).map(problem).collect();
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// The names that a declaration declares.
fn declared<'a>(kind: &'a DeclarationKind, found: &mut Vec<&'a Name>) {
    match kind {
        DeclarationKind::Constant { names, .. } => found.extend(names),
        DeclarationKind::Type { names, definition } => {
            found.extend(names);
            members(definition, found);
        }
        DeclarationKind::Variable(variables) => {
            found.extend(&variables.names);
            members(&variables.ty, found);
        }
    }
}

/// The members of all enumerations in a type.
fn members<'a>(ty: &'a TypeExpression, found: &mut Vec<&'a Name>) {
    match &ty.kind {
        TypeKind::Enumeration(names) => found.extend(names),
        TypeKind::Record(fields) => fields.iter().for_each(|field| members(&field.ty, found)),
        TypeKind::Array { index, element } => {
            members(index, found);
            members(element, found);
        }
        TypeKind::Multiset { element, .. } => members(element, found),
        TypeKind::Union(parts) => parts.iter().for_each(|part| members(part, found)),
        _ => {}
    }
}
