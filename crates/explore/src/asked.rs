//! What a command line adds to a model: conditions that have to stay within reach, and expressions to
//! watch along a counterexample.
//!
//! They are written below the text of the model, as a `liveness` property and as a rule that prints,
//! so that names, types and complaints are those of the language. The rules that print are taken off
//! again once the model is checked, so that no search ever sees them.

use std::sync::Arc;

use murphi::interpret::{End, Interpreter};
use murphi::ir::{Model, Rule};
use murphi::source::Source;
use murphi::value::State;

/// What is added.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked {
    /// Conditions that have to stay within reach of every state.
    pub liveness: Vec<String>,
    /// Expressions to watch.
    pub watched: Vec<String>,
    /// A condition for a best-first search to go towards.
    pub towards: Option<String>,
    /// Subranges and enumerations to treat as scalarsets.
    pub symmetric: Vec<String>,
}

impl Asked {
    /// The text of a model with what is added below it.
    pub(crate) fn below(&self, source: &Source) -> Source {
        let mut text = source.text.clone();
        for condition in &self.liveness {
            text.push_str(&property(condition));
        }
        text.push_str(&self.printing());
        Source { name: source.name.clone(), text }
    }

    /// The rules that print.
    fn printing(&self) -> String {
        let rule = |expression| format!("\nrule begin put {expression}; end;\n");
        self.watched.iter().map(rule).collect()
    }

    /// What was made by [`Asked::below`], without the rules that print.
    pub(crate) fn searched<'a>(&self, text: &'a str) -> &'a str {
        text.strip_suffix(&self.printing()[..]).unwrap_or(text)
    }

    /// The text of a model with its liveness properties, and below it the condition to go towards.
    pub(crate) fn with_condition(&self, source: &Source, condition: &str) -> Source {
        let searched = Asked { watched: Vec::new(), ..self.clone() }.below(source);
        let text = format!("{}\ninvariant \"towards\" {condition};\n", searched.text);
        Source { text, name: searched.name + " with --towards" }
    }

    /// The same with other properties in place of the condition.
    pub(crate) fn with_properties(&self, source: &Source, properties: &str) -> Source {
        let searched = Asked { watched: Vec::new(), ..self.clone() }.below(source);
        Source { text: searched.text + properties, ..searched }
    }

    /// Takes the rules that print off a model that was made from [`Asked::below`].
    pub(crate) fn take_off(&self, model: &mut Model) -> Watcher {
        let rules = model.rules.split_off(model.rules.len().saturating_sub(self.watched.len()));
        Watcher { expressions: self.watched.iter().cloned().zip(rules).collect() }
    }
}

/// A condition as a property. `ruleset p: Proc do c end` claims c of each p.
fn property(condition: &str) -> String {
    let name = named(condition);
    let of_each = |text: &str| {
        let text = text.trim();
        let inside = text.strip_prefix("ruleset")?.trim_end_matches(';').trim_end();
        let inside = inside.strip_suffix("end")?.trim_end();
        let (binders, inside) = inside.split_once(" do ")?;
        Some(format!("\nruleset{binders} do liveness \"{name}\" {inside}; end;\n"))
    };
    of_each(condition).unwrap_or_else(|| format!("\nliveness \"{name}\" {condition};\n"))
}

/// A condition as the name of a property: a name has no quotes in it.
fn named(condition: &str) -> String {
    condition.split_whitespace().collect::<Vec<_>>().join(" ").replace('"', "'")
}

/// Expressions, each with the rule that prints it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Watcher {
    expressions: Vec<(String, Rule)>,
}

impl Watcher {
    /// The expressions with their values in a state.
    pub(crate) fn values(&self, model: &Model, state: &State) -> Vec<(String, String)> {
        if self.expressions.is_empty() {
            return Vec::new();
        }
        let rules = self.expressions.iter().map(|(_, rule)| rule.clone()).collect();
        let asking = Model { rules, properties: Vec::new(), ..model.clone() };
        let Ok(interpreter) = Interpreter::new(Arc::new(asking)) else { return Vec::new() };
        let value = |(number, (expression, _)): (usize, &(String, Rule))| {
            let run = interpreter.run_rule(state, number, 0);
            let lines: Vec<&str> = run.output.lines().map(str::trim).collect();
            let value = match run.end {
                End::Done(_) => lines.join(" "),
                End::Failed(error) => format!("undefined: {}", error.message),
                End::Disabled | End::Excluded | End::GuardFailed(_) => "undefined".to_owned(),
            };
            (expression.clone(), value)
        };
        self.expressions.iter().enumerate().map(value).collect()
    }
}
