//! The abstract program as Murphi text for other model checkers (`--emit-abstraction`), with comments
//! that explain `Other` and the parameters that stand for values of abstract processors.

use std::fmt::Write as _;

use abstraction::{Abstraction, NAMED, OTHER, Prepared};
use murphi::ast::{Declaration, DeclarationKind, ExpressionKind, Item, Program, TypeKind};
use murphi::print::{print, print_expression};
use murphi::transform::{expression, identifier};

/// The abstract program as a text that any Murphi tool reads, with comments on what is abstract.
pub fn emit(abstraction: &Abstraction, prepared: &Prepared, origin: &str) -> String {
    let processor = &prepared.processor.name;
    let mut text = format!(
        "-- Abstraction of {} for any number of processors. The processors of type {processor} \
         are\n-- concrete, and {OTHER} stands for all others. The variables of {OTHER} are not \
         kept; where a\n-- rule reads one, a parameter of the rule stands for its value. If every \
         property of this\n-- program holds, the properties of the model hold for any number of \
         processors.\n",
        single_line(origin)
    );
    if abstraction.view.named {
        let _ = writeln!(
            text,
            "-- {NAMED} is one of the other processors, known by name: a stored reference to it \
             is\n-- distinguished from {OTHER}. As an index, {OTHER} stands for all processors that are \
             not of type {processor}."
        );
    }
    text.push('\n');
    for line in print(&with_ranges(abstraction, prepared)).lines() {
        let trimmed = line.trim_start();
        if let Some(title) = trimmed.strip_prefix("rule ")
            && let Some(rule) = abstraction.rules.iter().find(|rule| title == quoted(&rule.name))
        {
            let indent = &line[..line.len() - trimmed.len()];
            for choice in &rule.choices {
                let names = choice.parameters();
                if !names.is_empty() {
                    let stands_for = single_line(&print_expression(&choice.stands_for));
                    let _ = writeln!(text, "{indent}-- {}: {stands_for}", names.join(", "));
                }
            }
        }
        let _ = writeln!(text, "{line}");
    }
    text
}

/// The abstract program with ranges for scalarset and unions, for tools that have no unions.
pub fn with_ranges(abstraction: &Abstraction, prepared: &Prepared) -> Program {
    let span = prepared.processor.span;
    let number = |value: u64| {
        let value = i64::try_from(value).unwrap_or(i64::MAX);
        expression(ExpressionKind::Integer(value), span)
    };
    let processor = &prepared.processor.name;
    let indexing = format!("{processor}Or{OTHER}");
    let stored = format!("{indexing}Or{NAMED}");
    let concrete = abstraction.view.concrete;
    let last = [(processor, concrete), (&indexing, concrete + 1), (&stored, concrete + 2)];
    let mut items = Vec::new();
    let outside = [OTHER].into_iter().chain(abstraction.view.named.then_some(NAMED));
    for (called, value) in outside.zip(concrete + 1..) {
        let (names, value) = (vec![identifier(called, span)], number(value));
        let kind = DeclarationKind::Constant { names, value };
        items.push(Item::Declaration(Declaration { kind, span }));
    }
    for item in &abstraction.program.items {
        let mut item = item.clone();
        if let Item::Declaration(Declaration { kind, .. }) = &mut item
            && let DeclarationKind::Type { names, definition } = kind
            && let Some((_, last)) =
                last.iter().find(|(ty, _)| names.iter().any(|name| name.text == **ty))
        {
            definition.kind = TypeKind::Range(Box::new(number(1)), Box::new(number(*last)));
        }
        items.push(item);
    }
    Program { items }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
}

fn single_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}
