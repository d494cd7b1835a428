//! Refuses declarations that hide a name which an observer uses.
//!
//! An observer is added to the text of a protocol: to its start states, in which it uses the names
//! of variables, types and constants, and to the procedures that mark events, in which it uses the
//! names of their parameters. If an inner declaration hides one of these names, the observer would
//! refer to another thing. The cost is linear in the size of the program.

use std::collections::HashSet;

use murphi::ast::{
    Declaration, DeclarationKind, FunctionDefinition, Item, Name, Program, Rule, RuleKind,
    TypeExpression, TypeKind,
};
use murphi::diagnostic::Diagnostic;
use murphi::ir::{Model, TypeId};

use crate::compose::carries;
use crate::events::Marker;

/// A diagnostic for each declaration that hides a name which observers use.
pub(crate) fn errors(
    program: &Program,
    model: &Model,
    value: TypeId,
    markers: &[&Marker],
) -> Vec<Diagnostic> {
    let outer = spoken_of(program, model, value);
    let mut errors = Vec::new();
    for item in &program.items {
        match item {
            Item::Rule(rule) => in_start_states(rule, &[], &mut |name| {
                if outer.contains(&*name.text) {
                    let what = "the observer refers to the outer declaration in start states";
                    errors.push(hides(name, what));
                }
            }),
            Item::Function(function) => {
                let marker = markers.iter().find(|marker| marker.name == function.name.text);
                let (Some(marker), FunctionDefinition::Body(body)) = (marker, &function.definition)
                else {
                    continue;
                };
                for name in declared(&body.declarations) {
                    if marker.parameters.contains(&name.text) {
                        let what = "the observer refers to the parameters of the event by their \
                                    names";
                        errors.push(hides(name, what));
                    }
                }
            }
            Item::Declaration(_) => {}
        }
    }
    errors
}

fn hides(name: &Name, what: &str) -> Diagnostic {
    let message =
        format!("`{}` hides an outer declaration of the same name, and {what}", name.text);
    Diagnostic::error(name.span, message).help("give one of the two another name")
}

/// The names that observers use in start states: types, constants, and the state variables that
/// hold values.
fn spoken_of<'p>(program: &'p Program, model: &Model, value: TypeId) -> HashSet<&'p str> {
    let declarations = program.items.iter().filter_map(|item| match item {
        Item::Declaration(declaration) => Some(declaration),
        _ => None,
    });
    let holds = |name: &str| {
        let mut globals = model.globals.iter();
        globals.any(|global| global.name == name && carries(model, global.ty, value, false))
    };
    let names = declarations.flat_map(|declaration| {
        let is_variable = matches!(declaration.kind, DeclarationKind::Variable(_));
        let names = names_of(declaration).into_iter();
        names.filter(move |name| {
            let is_global = || model.globals.iter().any(|global| global.name == name.text);
            !is_variable || !is_global() || holds(&name.text)
        })
    });
    names.map(|name| &*name.text).collect()
}

/// Visits the names that are declared in and around the start states of a rule.
fn in_start_states<'p>(rule: &'p Rule, around: &[&'p Name], see: &mut dyn FnMut(&'p Name)) {
    let (own, rules): (Vec<&Name>, &[Rule]) = match &rule.kind {
        RuleKind::StartState { body, .. } => {
            around.iter().copied().chain(declared(&body.declarations)).for_each(see);
            return;
        }
        RuleKind::Ruleset { quantifiers, rules } => {
            (quantifiers.iter().map(|quantifier| &quantifier.name).collect(), rules)
        }
        RuleKind::Alias { aliases, rules } => {
            (aliases.iter().map(|alias| &alias.name).collect(), rules)
        }
        RuleKind::Choose { name, rules, .. } => (vec![name], rules),
        RuleKind::Simple { .. } | RuleKind::Property(_) => return,
    };
    let around = [around, &own].concat();
    rules.iter().for_each(|rule| in_start_states(rule, &around, see));
}

/// The names that declarations declare, with the members of their enumerations.
pub(crate) fn declared(declarations: &[Declaration]) -> Vec<&Name> {
    declarations.iter().flat_map(names_of).collect()
}

fn names_of(declaration: &Declaration) -> Vec<&Name> {
    match &declaration.kind {
        DeclarationKind::Constant { names, .. } => names.iter().collect(),
        DeclarationKind::Type { names, definition } => {
            names.iter().chain(members(definition)).collect()
        }
        DeclarationKind::Variable(variables) => {
            variables.names.iter().chain(members(&variables.ty)).collect()
        }
    }
}

/// The members of the enumerations in a type.
fn members(ty: &TypeExpression) -> Vec<&Name> {
    match &ty.kind {
        TypeKind::Enumeration(members) => members.iter().collect(),
        TypeKind::Record(fields) => fields.iter().flat_map(|field| members(&field.ty)).collect(),
        TypeKind::Array { index, element } => {
            members(index).into_iter().chain(members(element)).collect()
        }
        TypeKind::Multiset { element, .. } => members(element),
        TypeKind::Union(parts) => parts.iter().flat_map(members).collect(),
        TypeKind::Named(_) | TypeKind::Range(..) | TypeKind::Scalarset(_) | TypeKind::Real(..) => {
            Vec::new()
        }
    }
}
