//! The abstract program as a text for other tools, with comments on what is abstract.

use std::fmt::Write as _;

use abstraction::{Abstraction, NAMED, OTHER, Prepared};
use murphi::print::{print, print_expression};

/// The abstract program as a text that any Murphi tool reads, with comments on what is abstract.
pub fn emit(abstraction: &Abstraction, prepared: &Prepared, origin: &str) -> String {
    let processor = &prepared.processor.name;
    let mut text = format!(
        "-- {} for any number of processors: those of type {processor} stay as they are, and\n\
         -- {OTHER} stands for all others. What belongs to {OTHER} is not kept; a parameter of a\n\
         -- rule stands for what is read of it. If everything here holds, it holds of the model\n\
         -- with any number of processors.\n",
        single_line(origin)
    );
    if abstraction.view.named {
        let _ = writeln!(
            text,
            "-- {NAMED} is one of the others, of which nothing is kept but who it is: {OTHER} is not it\n\
             -- but as an index, where {OTHER} is all that are not of type {processor}."
        );
    }
    text.push('\n');
    for line in print(&abstraction.portable).lines() {
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

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
}

fn single_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}
