//! Is every value that a rule chooses stored once at most? An observer that asks the states.
//!
//! Where the source does not show that values are free (`free_values.rs`), as with a request that
//! carries its data and is stored when it is answered, this does. It needs causality and data
//! independence, as every observer of classes does: then a run may be taken with any values in the
//! place of those that rules choose. Take one choice of a run, make its value 1, make all other
//! choices 2 and all first values 0. Then the stores of 1 are the stores of that choice, and the
//! stores of 0 are those of first values. So the claim that 1 is stored once at most, and 0 never,
//! holds in all runs in which 1 is chosen once at most if and only if each choice of every run is
//! stored once at most, and no first value is. A parameter that a guard gives the value of a place
//! is no choice, and may be anything.
//!
//! The search has as many states as the protocol with three values, times three at most.

use murphi::ast::{Body, Item, Program, Rule, RuleKind};

use crate::compose::{
    Composition, Observer, compose, fill_with_values, initially, literal, statements,
};
use crate::events::Protocol;
use crate::foundations::Values;
use crate::shadowing;

/// What is claimed.
pub(crate) const CLAIM: &str = "every chosen value is stored at most once";

/// First values, the value of one choice, and those of all others.
const VALUES: u64 = 3;

/// The protocol with the observer. `None` if it cannot be asked: a name that a rule chooses a value
/// by means something else in it.
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
    hear_of_choices(&mut composition.program, protocol);
    Some(composition)
}

/// Whether the names of what rules choose are those of nothing else in these rules.
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

/// The bodies of the rules in one, in the order of the model.
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

/// Lets every rule add_call which values it chooses, before it does anything else.
fn hear_of_choices(program: &mut Program, protocol: &Protocol) {
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

/// The same for the rules in one, which are in the order of the model.
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
