//! The vocabularies of a program: one for every rule of which the abstraction hides something.

use abstraction::{Abstraction, Prepared, RuleId, with_processors};
use murphi::ast::{TypeExpression, TypeKind};
use murphi::ir::{Model, TypeId};
use murphi::print::print_expression;
use rustc_hash::FxHashSet;

use super::instance;
use super::result::{Failure, Options};
use super::vocabulary::{self, Vocabulary};

/// A vocabulary for every rule that has an abstract instance.
pub(super) fn vocabularies(
    prepared: &Prepared,
    options: &Options,
    abstraction: &Abstraction,
) -> Result<Vec<Vocabulary>, Failure> {
    let program = with_processors(
        &prepared.program,
        &prepared.processor,
        options.abstraction.view.concrete + 1,
    );
    let interpreter = instance::interpreter(&program, &options.name, &options.language)?;
    let model = interpreter.model();
    let mut found: Vec<Vocabulary> = Vec::new();
    for origin in (0..prepared.rules.len()).map(RuleId) {
        let of_it: Vec<_> = abstraction.rules.iter().filter(|rule| rule.origin == origin).collect();
        if of_it.is_empty() {
            continue;
        }
        let processor = &prepared.processor.name;
        let Some(mut vocabulary) =
            Vocabulary::of(model, origin.0, processor, options.abstraction.view.concrete)
        else {
            continue;
        };
        let mut choices = FxHashSet::default();
        for choice in of_it.iter().flat_map(|rule| &rule.choices).filter(|choice| choice.initial) {
            let text = print_expression(&choice.stands_for);
            if choice.set.is_some() {
                let processors = vocabulary.variables.iter().filter(|variable| variable.processor);
                choices.extend(processors.map(|variable| format!("{text}[{}]", variable.name)));
                continue;
            }
            choices.insert(text);
            if vocabulary.equation(&choice.stands_for).is_some() {
                continue;
            }
            if let Some(sort) = type_of(model, &choice.ty)
                .and_then(|ty| vocabulary::sort(model, ty))
                .filter(|sort| sort.sets.is_empty())
            {
                vocabulary.add_probe(&choice.stands_for, sort);
            }
        }
        vocabulary.terms.retain(|term| {
            let is_visible = of_it
                .iter()
                .any(|rule| rule.others.iter().all(|other| term.uses & 1 << other == 0));
            is_visible || choices.contains(&term.text)
        });
        found.push(vocabulary);
    }
    Ok(found)
}

/// The type of a choice.
fn type_of(model: &Model, ty: &TypeExpression) -> Option<TypeId> {
    match &ty.kind {
        TypeKind::Named(name) if name.text == "boolean" => Some(Model::BOOLEAN),
        TypeKind::Named(name) => {
            let named = |ty: &murphi::ir::Type| ty.name.as_deref() == Some(&name.text);
            model.types.iter().position(named).map(|number| TypeId(number as u32))
        }
        _ => None,
    }
}
