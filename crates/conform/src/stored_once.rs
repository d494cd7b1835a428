//! Decides by a search whether every value that a rule chooses is stored at most once.
//!
//! This observer is used if the source does not show that values are free (`free_values.rs`), as
//! for a request that carries its data and is stored when it is answered. It assumes causality and
//! data independence, like every observer with classes of values: then a run may be repeated with
//! any values in the place of those that rules choose. Take one choice of a run, make its value 1,
//! all other choices 2, and all initial values 0. Then the stores of 1 are the stores of that
//! choice, and the stores of 0 are those of initial values. So the claim that 1 is stored at most
//! once, and 0 never, holds in all runs in which 1 is chosen at most once if and only if, in every
//! run, each choice is stored at most once and no initial value is stored. A parameter whose value
//! a guard fixes is not a choice, and may have any value.
//!
//! The search has at most three times as many states as the protocol with three values.

use murphi::ast::{Body, Item, Program, Rule, RuleKind};

use crate::compose::{
    Composition, Observer, compose, fill_with_values, initially, literal, statements,
};
use crate::events::Protocol;
use crate::foundations::Values;
use crate::shadowing;

/// The claim.
pub(crate) const CLAIM: &str = "every chosen value is stored at most once";

/// Initial values, the value of one choice, and the value of all other choices.
const VALUES: u64 = 3;

/// The protocol with the observer. `None` if the name of a chosen value has another meaning in its
/// rule.
pub(crate) fn lemma(protocol: &Protocol) -> Option<Composition> {
    if !names_are_unique(protocol) {
        return None;
    }
    let text = |template: &str| fill_with_values(protocol, template, VALUES);
    let observer = Observer {
        declarations: text(DECLARATIONS),
        properties: text(&format!("invariant \"{CLAIM}\" !$_again;")),
        choices: String::new(),
        start: text("$_chosen := false; $_stored := false; $_again := false;"),
        assumptions: initially(protocol, &literal(protocol, 0)),
        on_load: text("$_load"),
        on_store: text("$_store"),
        on_commit: text("$_load"),
    };
    let mut composition = compose(protocol, Values::Classes(VALUES), &observer);
    report_choices(&mut composition.program, protocol);
    Some(composition)
}

/// Whether the names of the parameters that rules choose are unique in these rules.
fn names_are_unique(protocol: &Protocol) -> bool {
    let mut bodies = Vec::new();
    for item in &protocol.program.items {
        if let Item::Rule(rule) = item {
            add_bodies(rule, &mut bodies);
        }
    }
    let rules = protocol.model.rules.iter().zip(&protocol.treatment.chosen);
    bodies.len() == protocol.model.rules.len()
        && rules.zip(bodies).all(|((rule, chosen), body)| {
            let locals = &rule.frame.locals;
            let declared = shadowing::declared(&body.declarations);
            chosen.iter().all(|local| {
                let name = &locals[local.0 as usize].name;
                locals.iter().filter(|other| other.name == *name).count() == 1
                    && !declared.iter().any(|other| other.text == *name)
            })
        })
}

/// The bodies of the rules in a rule, in the order of the model.
fn add_bodies<'p>(rule: &'p Rule, bodies: &mut Vec<&'p Body>) {
    match &rule.kind {
        RuleKind::Simple { body, .. } => bodies.push(body),
        RuleKind::Ruleset { rules, .. }
        | RuleKind::Alias { rules, .. }
        | RuleKind::Choose { rules, .. } => {
            rules.iter().for_each(|rule| add_bodies(rule, bodies));
        }
        RuleKind::StartState { .. } | RuleKind::Property(_) => {}
    }
}

/// Makes every rule call the observer with the values that it chooses, before its other statements.
fn report_choices(program: &mut Program, protocol: &Protocol) {
    let rules = protocol.model.rules.iter().zip(&protocol.treatment.chosen);
    let mut calls = rules.map(|(rule, chosen)| {
        let names = chosen.iter().map(|local| &rule.frame.locals[local.0 as usize].name);
        names.map(|name| format!("{}choose({name}); ", protocol.prefix)).collect::<String>()
    });
    for item in &mut program.items {
        if let Item::Rule(rule) = item {
            add_call(rule, &mut calls);
        }
    }
}

/// The same for the rules in a rule, in the order of the model.
fn add_call(rule: &mut Rule, calls: &mut dyn Iterator<Item = String>) {
    match &mut rule.kind {
        RuleKind::Simple { body: Body { statements: own, .. }, .. } => {
            let call = calls.next().unwrap_or_default();
            own.splice(0..0, statements(&call));
        }
        RuleKind::Ruleset { rules, .. }
        | RuleKind::Alias { rules, .. }
        | RuleKind::Choose { rules, .. } => rules.iter_mut().for_each(|rule| add_call(rule, calls)),
        RuleKind::StartState { .. } | RuleKind::Property(_) => {}
    }
}

const DECLARATIONS: &str = "
var
  $_chosen: boolean;
  $_stored: boolean;
  $_again: boolean;

procedure $_choose($_v: $Value);
begin
  assume $_v = $1 | $_v = $2;
  if $_v = $1 then
    assume !$_chosen;
    $_chosen := true;
  end;
end;

procedure $_load($_p: $Processor; $_a: $Address; $_v: $Value);
begin
end;

procedure $_store($_p: $Processor; $_a: $Address; $_v: $Value);
begin
  if $_v = $0 then
    $_again := true;
  elsif $_v = $1 then
    if $_stored then
      $_again := true;
    end;
    $_stored := true;
  end;
end;
";
