//! From what a search found to what is reported: the counterexample is run again by the reference
//! interpreter, and what is broken at its end is taken apart.

use std::fmt;
use std::sync::Arc;

use cluster::Loss;
use evidence::Verdict;
use murphi::diagnostic::Diagnostic;
use murphi::instance;
use murphi::interpret::{End, Interpreter};
use murphi::ir::{Model, PropertyKind, Rule, TypeId};
use murphi::source::Span;

use super::fold::fold;
use super::reconstruct::{Contradiction, Firing, Reconstruction, kind_name, with};
use super::words::grouped;
use super::{
    Broken, Explanation, Finding, Open, Report, RuleCoverage, Settings, Totals, Unestablished,
};
use crate::asked::Watcher;
use crate::result::{Exploration, Liveness, Reason, Violation};

/// Puts what was found into words, confirmed by the reference interpreter. What was asked is not
/// known here: of the settings only the defaults are there.
pub fn confirmed(
    interpreter: &Interpreter,
    found: &Exploration,
    whole_states: bool,
) -> Result<Report, Contradiction> {
    confirmed_watching(interpreter, found, whole_states, &Watcher::default())
}

/// The same, with the values of expressions after each step.
pub(crate) fn confirmed_watching(
    interpreter: &Interpreter,
    found: &Exploration,
    whole_states: bool,
    watcher: &Watcher,
) -> Result<Report, Contradiction> {
    let model = interpreter.model();
    let mut reconstruction = Reconstruction::new(interpreter, whole_states, watcher);
    for (index, step) in found.counterexample().iter().enumerate() {
        let firing = Firing { rule: step.rule as usize, instance: step.instance };
        match index {
            0 => reconstruction.start(firing, &step.state)?,
            _ => reconstruction.step(firing, &step.state)?,
        }
    }
    let verdict = match &found.verdict {
        Verdict::Holds(()) => verified(interpreter, found),
        Verdict::Undecided(reason) => {
            let unchecked = unchecked(model, &[PropertyKind::Liveness]);
            Verdict::Undecided(Open::Ended { reason: reason.clone(), bound: None, unchecked })
        }
        Verdict::Broken(run) => {
            let broken = violated(interpreter, &mut reconstruction, run.violation)?;
            Verdict::Broken(Finding { broken, counterexample: Some(reconstruction.finish()) })
        }
    };
    let covered = |(rule, &fired): (&Rule, &u64)| RuleCoverage { rule: rule.name.clone(), fired };
    Ok(Report {
        model: model.source.name.clone(),
        verdict,
        settings: Settings::default(),
        totals: totals(found),
        rules: model.rules.iter().zip(&found.firings).map(covered).collect(),
        properties: facts(model),
        checkpoint: found.checkpoint.clone(),
        depths: found.depths.clone(),
        growth: Vec::new(),
    })
}

/// `2 invariants hold`, and so on for each kind of property the model has.
fn facts(model: &Model) -> Vec<String> {
    let of = |kind| model.properties.iter().filter(|p| p.kind == kind).count();
    let mut facts = Vec::new();
    match of(PropertyKind::Invariant) {
        0 => {}
        1 => facts.push("1 invariant holds".to_owned()),
        invariants => facts.push(format!("{invariants} invariants hold")),
    }
    match of(PropertyKind::Liveness) {
        0 => {}
        1 => facts.push("1 liveness property holds".to_owned()),
        properties => facts.push(format!("{properties} liveness properties hold")),
    }
    match of(PropertyKind::Cover) + model.covers.len() {
        0 => {}
        1 => facts.push("1 cover is reached".to_owned()),
        covers => facts.push(format!("{covers} covers are reached")),
    }
    facts
}

/// The scalarsets that are no symmetry of the model, because the order of their members may show; or
/// may show outside of loops that were run in all orders.
pub(crate) fn asymmetric(model: &Model, tried: bool) -> Vec<String> {
    let shown = model.ordered.iter().filter(|it| model.is_ordered(it.scalarset, tried));
    let mut types: Vec<_> = shown.map(|ordered| ordered.scalarset).collect();
    types.sort();
    types.dedup();
    let name = |ty: TypeId| model.types[ty.0 as usize].name.clone();
    types.into_iter().map(|ty| name(ty).unwrap_or_else(|| "a scalarset".to_owned())).collect()
}

fn totals(found: &Exploration) -> Totals {
    let liveness_seconds = match found.liveness {
        Liveness::Holds { seconds } => Some(seconds),
        Liveness::Open | Liveness::Ended(_) => None,
    };
    Totals {
        states: found.states,
        rules_fired: found.rules_fired,
        depth: u64::from(found.depth),
        seconds: found.seconds,
        search_seconds: found.seconds - liveness_seconds.unwrap_or_default(),
        liveness_seconds,
        bytes_per_state: found.bytes_per_state(),
        nearest: found.nearest,
        disk_bytes_per_state: found.disk_bytes_per_state(),
        omission_probability: found.omission_probability,
    }
}

/// Everything was visited. What was to be reached and was not is a violation, too; of a property
/// that nothing looks at, nothing can be said.
fn verified(interpreter: &Interpreter, found: &Exploration) -> Verdict<(), Finding, Open> {
    let model = interpreter.model();
    if found.states == 0 {
        return Verdict::Undecided(Open::NoStart);
    }
    let Some((cover, span, sentence)) = missed_cover(model, &found.covered) else {
        let properties = unchecked(model, &[PropertyKind::Liveness]);
        let why = match &found.liveness {
            _ if properties.is_empty() => return Verdict::Holds(()),
            Liveness::Holds { .. } => return Verdict::Holds(()),
            Liveness::Open => Unestablished::NotAsked,
            Liveness::Ended(reason) => Unestablished::Ended(reason.clone()),
        };
        return Verdict::Undecided(Open::Liveness { properties, why });
    };
    let diagnostic = Diagnostic::error(span, sentence.clone());
    let source = Arc::clone(&model.source);
    let broken = Broken {
        kind: "cover".to_owned(),
        property: cover,
        sentence,
        place: Some(model.source.position(span.start)),
        explanation: Explanation::Place {
            source,
            diagnostic: Box::new(diagnostic),
            values: Vec::new(),
        },
    };
    Verdict::Broken(Finding { broken, counterexample: None })
}

/// Whether a search of all states has missed something that the model says is reached.
pub fn misses_cover(model: &Model, found: &Exploration) -> bool {
    missed_cover(model, &found.covered).is_some()
}

/// The properties of these kinds, and `cover` statements if covers are among them, as the source
/// calls them: `liveness "name"`. For whoever gives a verdict and looks at none of these.
pub fn unchecked(model: &Model, kinds: &[PropertyKind]) -> Vec<String> {
    let named = |kind: PropertyKind, name: &str| format!("{} \"{name}\"", kind_name(kind));
    let properties = model.properties.iter().filter(|property| kinds.contains(&property.kind));
    let statements = model.covers.iter().filter(|_| kinds.contains(&PropertyKind::Cover));
    let properties = properties.map(|property| named(property.kind, &property.name));
    properties.chain(statements.map(|cover| named(PropertyKind::Cover, &cover.name))).collect()
}

/// The first cover that held in no state, or `cover` statement that no run reached: its name, its
/// place, and what to say of it.
fn missed_cover(model: &Model, covered: &[bool]) -> Option<(String, Span, String)> {
    let properties = model.properties.iter().zip(covered).filter_map(|(property, &covered)| {
        let missed = property.kind == PropertyKind::Cover && !covered;
        let sentence = format!("cover \"{}\" holds in no state", property.name);
        missed.then(|| (property.name.clone(), property.span, sentence))
    });
    let reached = covered.iter().skip(model.properties.len());
    let statements = model.covers.iter().zip(reached).filter_map(|(cover, &covered)| {
        let sentence =
            format!("cover \"{}\" is never true when its statement is executed", cover.name);
        (!covered).then(|| (cover.name.clone(), cover.span, sentence))
    });
    properties.chain(statements).next()
}

fn violated(
    interpreter: &Interpreter,
    reconstruction: &mut Reconstruction<'_>,
    violation: Violation,
) -> Result<Broken, Contradiction> {
    let firing = |rule: u32, instance: u64| Firing { rule: rule as usize, instance };
    match violation {
        Violation::Deadlock => Ok(no_way_out(interpreter, reconstruction)),
        Violation::Broken { property } | Violation::PropertyFailed { property } => {
            reconstruction.property_breaks(property as usize)
        }
        Violation::GuardFailed { rule, instance } | Violation::RuleFailed { rule, instance } => {
            reconstruction.step_fails(firing(rule, instance))
        }
        Violation::OutOfReach { property, instance } => {
            reconstruction.is_caught(property as usize, instance)
        }
        Violation::StartFailed { rule, instance } => {
            reconstruction.start_fails(firing(rule, instance))
        }
    }
}

/// Why a state is a deadlock: no rule applies, or those that do change nothing.
fn no_way_out(interpreter: &Interpreter, reconstruction: &Reconstruction<'_>) -> Broken {
    let (model, state) = (interpreter.model(), reconstruction.state());
    let mut idle = Vec::new();
    for (number, rule) in model.rules.iter().enumerate() {
        let instances = instance::count(model, &rule.parameters).unwrap_or_default();
        let applies =
            |at: &u64| !matches!(interpreter.run_rule(state, number, *at).end, End::Disabled);
        if let Some(at) = (0..instances).find(applies) {
            let with = with(&interpreter.bindings(state, number, at));
            idle.push(format!(
                "rule \"{}\"{with} is enabled but leaves the state unchanged\n",
                rule.name
            ));
        }
    }
    let sentence = match idle.is_empty() {
        true => "no rule is enabled",
        false => "every enabled rule leaves the state unchanged",
    };
    let state_lines = fold(model, state).into_iter();
    let state_lines: String =
        state_lines.map(|(place, value)| format!("    {place} = {value}\n")).collect();
    Broken {
        kind: "deadlock".to_owned(),
        property: "deadlock".to_owned(),
        sentence: sentence.to_owned(),
        place: None,
        explanation: Explanation::Lines(format!(
            "{sentence} in this state:\n{state_lines}{}",
            idle.concat()
        )),
    }
}

/// Why there is no answer, in words.
impl fmt::Display for Open {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (reason, bound, unchecked) = match self {
            Open::Liveness { properties, why } => {
                let is = if properties.len() == 1 { "is" } else { "are" };
                let names = properties.join(" and ");
                match why {
                    Unestablished::NotAsked => write!(f, "{names} {is} not checked")?,
                    Unestablished::Unsuited(why) => write!(f, "{names} {is} not checked: {why}")?,
                    Unestablished::Ended(reason) => {
                        write!(f, "{names} {is} not decided: {}", ended(reason))?;
                    }
                }
                return f.write_str("; all other properties hold");
            }
            Open::NoStart => {
                return f.write_str(
                    "the model has no start state (it declares none, or its assumptions exclude all)",
                );
            }
            Open::Ended { reason, bound, unchecked } => {
                (reason, bound.unwrap_or_default(), unchecked)
            }
        };
        match reason {
            Reason::Depth => {
                write!(f, "the search stopped at distance {} (--bound)", grouped(bound))?;
            }
            reason => f.write_str(&ended(reason))?,
        }
        f.write_str("; no violation found")?;
        match &unchecked[..] {
            [] => Ok(()),
            [one] => write!(f, "; {one} is not checked"),
            several => write!(f, "; {} are not checked", several.join(" and ")),
        }
    }
}

/// Why something was ended early.
fn ended(reason: &Reason) -> String {
    match reason {
        Reason::Time => "the time limit was reached (raise --budget)".to_owned(),
        Reason::Memory => "the memory limit was reached (raise --memory)".to_owned(),
        Reason::Depth => "the search was limited by --bound".to_owned(),
        Reason::Interrupted => "interrupted".to_owned(),
        Reason::Simulated => "a random walk does not visit every state".to_owned(),
        Reason::Disk(message) => {
            format!("a file of states cannot be used: {message}")
        }
        Reason::Lost(Loss { process, address, level }) => {
            format!("process {process} ({address}) was lost at depth {level}")
        }
    }
}
