//! Is this recorded counterexample one?
//!
//! The reference interpreter runs what is recorded, rule by rule. Rules and parameters are found
//! by their names; where several fit (rules with one name, equal elements of a multiset), any of
//! them will do that does what is recorded. Nothing of the search or of native code is used.

mod recorded;

use murphi::goal::Goals;
use murphi::instance::{self, Scope};
use murphi::interpret::{End, Interpreter, Run};
use murphi::ir::{Binder, Domain, Model, PropertyKind, Rule, Simple, TypeId, TypeKind};
use murphi::value::{State, render_simple};

use crate::Deadlock;
use crate::region::{Walk, walk};
use crate::report::{changes, kind_name, property_of, with};

pub use recorded::{Recorded, RecordedStart, RecordedStep, read as read_recorded, read_run};

/// How many instances with the recorded parameters are tried at most. Only equal elements of
/// multisets give more than one.
const TRIALS: usize = 1 << 16;

/// How many states after the end of a run are looked at.
const MOST_CAUGHT: usize = 1_000_000;

/// Why the evidence does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refuted {
    /// `the start`, `step 3`, `the end`.
    pub place: String,
    /// What is wrong there.
    pub reason: String,
}

type Verdict<T> = Result<T, Refuted>;

fn refuted<T>(place: &str, reason: impl Into<String>) -> Verdict<T> {
    Err(Refuted { place: place.to_owned(), reason: reason.into() })
}

/// Runs a recorded counterexample. `deadlock` is what counts as one.
pub fn replay(interpreter: &Interpreter, recorded: &Recorded, deadlock: Deadlock) -> Verdict<()> {
    let replay = Replay { interpreter, model: interpreter.model() };
    let claims_error = recorded.kind == "error";
    let Some(mut state) = replay.start(recorded, claims_error)? else { return Ok(()) };
    let last = recorded.steps.len();
    for (index, step) in recorded.steps.iter().enumerate() {
        let place = format!("step {}", index + 1);
        if step.changed.is_none() {
            let is_claim = claims_error && index + 1 == last;
            return match is_claim {
                true => replay.failing_step(&place, &state, step, &recorded.property),
                false => refuted(&place, "the field `changed` is missing"),
            };
        }
        state = replay.step(&place, &state, step)?;
    }
    replay.end(&state, recorded, deadlock)
}

struct Replay<'i> {
    interpreter: &'i Interpreter,
    model: &'i Model,
}

impl Replay<'_> {
    /// The state that the recorded start leads to; `None` if the claim is that it fails, and it
    /// does.
    fn start(&self, recorded: &Recorded, claims_error: bool) -> Verdict<Option<State>> {
        let place = "the start";
        let start = &recorded.start;
        let nothing = State::undefined(self.model);
        let rules = &self.model.start_states;
        let firings = find(self.model, rules, &start.rule, &start.bindings, &nothing);
        let firings = firings.map_err(|reason| Refuted { place: place.to_owned(), reason })?;
        let runs = firings.into_iter().map(|(rule, at)| self.interpreter.start(rule, at));
        let mut reason = String::new();
        for run in runs {
            let difference = match (run.end, &start.state) {
                (End::Done(state), Some(listed)) => {
                    let listing = unordered(state.listing(self.model));
                    match difference(&listing, &unordered(listed.clone())) {
                        None => return Ok(Some(state)),
                        Some(difference) => difference,
                    }
                }
                (End::Failed(error), None) if claims_error => {
                    if property_of(&error) == recorded.property {
                        return Ok(None);
                    }
                    other_message(&property_of(&error), &recorded.property)
                }
                (End::Done(_), None) => "the recorded error does not occur".to_owned(),
                (end, _) => ended(&end),
            };
            keep_first(&mut reason, difference);
        }
        refuted(place, reason)
    }

    /// The state that a recorded step leads to.
    fn step(&self, place: &str, state: &State, step: &RecordedStep) -> Verdict<State> {
        let mut reason = String::new();
        for run in self.runs(place, state, step)? {
            let difference = match run.end {
                End::Done(next) => match self.step_difference(state, &next, step) {
                    None => return Ok(next),
                    Some(difference) => difference,
                },
                end => ended(&end),
            };
            keep_first(&mut reason, difference);
        }
        refuted(place, format!("rule \"{}\"{}: {reason}", step.rule, with(&step.bindings)))
    }

    fn step_difference(&self, state: &State, next: &State, step: &RecordedStep) -> Option<String> {
        let changed = changes(state, next, self.model).into_iter();
        let changed: Vec<_> = changed.map(|change| (change.place, change.after)).collect();
        let recorded = step.changed.as_deref().unwrap_or_default();
        let whole =
            || difference(&unordered(next.listing(self.model)), &unordered(step.state.clone()?));
        difference(&changed, recorded).or_else(whole)
    }

    /// Whether a recorded step fails with this message.
    fn failing_step(
        &self,
        place: &str,
        state: &State,
        step: &RecordedStep,
        message: &str,
    ) -> Verdict<()> {
        let mut reason = String::new();
        for run in self.runs(place, state, step)? {
            let difference = match run.end {
                End::Failed(error) | End::GuardFailed(error) => match property_of(&error) {
                    property if property == message => return Ok(()),
                    property => other_message(&property, message),
                },
                End::Done(_) => "the recorded error does not occur".to_owned(),
                end => ended(&end),
            };
            keep_first(&mut reason, difference);
        }
        refuted(place, format!("rule \"{}\"{}: {reason}", step.rule, with(&step.bindings)))
    }

    /// What the rules do that the recorded one may be.
    fn runs<'r>(
        &'r self,
        place: &str,
        state: &'r State,
        step: &RecordedStep,
    ) -> Verdict<impl Iterator<Item = Run> + 'r> {
        let firings = find(self.model, &self.model.rules, &step.rule, &step.bindings, state);
        let firings = firings.map_err(|reason| Refuted { place: place.to_owned(), reason })?;
        Ok(firings.into_iter().map(|(rule, at)| self.interpreter.run_rule(state, rule, at)))
    }

    /// Whether the last state is as wrong as it is said to be.
    fn end(&self, state: &State, recorded: &Recorded, deadlock: Deadlock) -> Verdict<()> {
        let place = "the end";
        match &*recorded.kind {
            "deadlock" => self.no_way_out(state, deadlock),
            "invariant" | "property-error" => {
                let fails = recorded.kind == "property-error";
                self.broken_property(state, &recorded.property, fails)
            }
            "liveness" => self.out_of_reach(state, &recorded.property),
            "error" => refuted(place, "no step has the recorded error"),
            kind => refuted(place, format!("a \"{kind}\" cannot be replayed")),
        }
    }

    fn broken_property(&self, state: &State, name: &str, fails: bool) -> Verdict<()> {
        let place = "the end";
        let numbered = self.model.properties.iter().enumerate();
        let mut named = numbered
            .filter(|(_, property)| property.name == name)
            .filter(|(_, property)| fails || property.kind == PropertyKind::Invariant)
            .peekable();
        if named.peek().is_none() {
            return refuted(place, format!("the model has no invariant \"{name}\""));
        }
        let mut reason = String::new();
        for (number, property) in named {
            let who = format!("{} \"{name}\"", kind_name(property.kind));
            let difference = match (self.interpreter.check_property(state, number), fails) {
                (Ok(Some(_)), false) | (Err(_), true) => return Ok(()),
                (Ok(None), _) => format!("{who} holds"),
                (Ok(Some(_)), true) => {
                    format!("{who} does not hold, but its evaluation does not fail as recorded")
                }
                (Err(error), false) => format!("{who} cannot be evaluated: {error}"),
            };
            keep_first(&mut reason, difference);
        }
        refuted(place, reason)
    }

    /// Whether a liveness property of this name can no longer hold.
    fn out_of_reach(&self, state: &State, name: &str) -> Verdict<()> {
        let place = "the end";
        let goals = Goals::of(self.model);
        let goals =
            goals.map_err(|why| Refuted { place: place.to_owned(), reason: why.to_string() });
        let goals = goals?;
        let is_named = |number: &usize| {
            self.model.properties[goals.get(*number).property as usize].name == name
        };
        let mut named = (0..goals.len()).filter(is_named).peekable();
        if named.peek().is_none() {
            return refuted(place, format!("the model has no liveness property \"{name}\""));
        }
        let Walk { region, reached } = walk(self.interpreter, &goals, state, MOST_CAUGHT);
        if named.all(|number| reached[number]) {
            return refuted(place, format!("liveness \"{name}\" can still be reached"));
        }
        match region.complete {
            true => Ok(()),
            false => refuted(
                place,
                format!("more than {MOST_CAUGHT} states can be reached, and not all were visited"),
            ),
        }
    }

    /// Whether no rule leads out of a state.
    fn no_way_out(&self, state: &State, deadlock: Deadlock) -> Verdict<()> {
        let place = "the end";
        for (number, rule) in self.model.rules.iter().enumerate() {
            let instances = instance::count(self.model, &rule.parameters).unwrap_or_default();
            for at in 0..instances {
                let leads_out = match self.interpreter.run_rule(state, number, at).end {
                    End::Disabled | End::Excluded => false,
                    End::Done(next) => deadlock == Deadlock::Stuck || self.differ(state, &next),
                    End::GuardFailed(_) | End::Failed(_) => true,
                };
                if leads_out {
                    let with = with(&self.interpreter.bindings(state, number, at));
                    return refuted(place, format!("rule \"{}\"{with} is enabled", rule.name));
                }
            }
        }
        Ok(())
    }

    fn differ(&self, left: &State, right: &State) -> bool {
        let sorted = |state: &State| state.sorted(self.model, self.interpreter.layout());
        left != right && sorted(left) != sorted(right)
    }
}

/// All rules of this name with all parameters that are written like this.
fn find(
    model: &Model,
    rules: &[Rule],
    name: &str,
    bindings: &[(String, String)],
    state: &State,
) -> Result<Vec<(usize, u64)>, String> {
    let named = rules.iter().enumerate().filter(|(_, rule)| rule.name == name);
    let mut found = Vec::new();
    let mut known = false;
    for (number, rule) in named {
        known = true;
        let matches =
            |at: &u64| same_fields(&instance::bindings(model, rule, *at, state), bindings);
        let instances = candidates(model, rule.into(), bindings).into_iter().filter(matches);
        found.extend(instances.map(|at| (number, at)));
    }
    match (known, found.is_empty()) {
        (false, _) => Err(format!("the model has no rule \"{name}\"")),
        (true, true) => Err(format!("rule \"{name}\" has no instance{}", with(bindings))),
        (true, false) => Ok(found),
    }
}

/// Instances that may have these parameters: every element of a multiset may be the one.
fn candidates(model: &Model, scope: Scope<'_>, bindings: &[(String, String)]) -> Vec<u64> {
    let mut prefixes: Vec<Vec<i64>> = vec![Vec::new()];
    for binder in instance::binders(scope.parameters) {
        let local = &scope.frame.locals[binder.local.0 as usize];
        let Some((_, text)) = bindings.iter().find(|(name, _)| *name == local.name) else {
            return Vec::new();
        };
        let values = values(model, binder, local.ty, text);
        let extended = prefixes.iter().flat_map(|prefix| {
            values.iter().map(|&value| [&prefix[..], &[value]].concat()).collect::<Vec<_>>()
        });
        prefixes = extended.take(TRIALS).collect();
    }
    prefixes.iter().filter_map(|v| instance::encode(model, scope.parameters, v)).collect()
}

/// The values that are written like this.
fn values(model: &Model, binder: &Binder, ty: TypeId, text: &str) -> Vec<i64> {
    let ty = match &binder.domain {
        Domain::Type(ty) => *ty,
        Domain::Range { .. } => ty,
        Domain::Multiset(place) => {
            return (0..capacity(model, place.ty)).collect();
        }
    };
    match model.simple(ty) {
        Some(Simple::Range { .. } | Simple::Integer) => text.parse().into_iter().collect(),
        _ => {
            let values = (0..model.count(ty) as i64).map(|at| model.lowest(ty) + at);
            values.filter(|&value| render_simple(model, ty, value) == text).collect()
        }
    }
}

/// A listing without the positions of elements in multisets, which mean nothing.
fn unordered(mut listing: Vec<(String, String)>) -> Vec<(String, String)> {
    for (place, _) in &mut listing {
        if let Some(end) = place.find('{') {
            place.truncate(end);
        }
    }
    listing
}

/// How many elements a multiset has room for.
fn capacity(model: &Model, ty: TypeId) -> i64 {
    match model.kind(ty) {
        TypeKind::Multiset { capacity, .. } => i64::from(*capacity),
        _ => 0,
    }
}

/// Whether both have the same fields, in any order.
fn same_fields(left: &[(String, String)], right: &[(String, String)]) -> bool {
    difference(left, right).is_none()
}

/// The first difference between the true and the recorded fields, as a sentence.
fn difference(truth: &[(String, String)], recorded: &[(String, String)]) -> Option<String> {
    let sorted = |fields: &[(String, String)]| {
        let mut fields = fields.to_vec();
        fields.sort();
        fields
    };
    let (truth, recorded) = (sorted(truth), sorted(recorded));
    let missing = truth.iter().find(|field| recorded.binary_search(field).is_err());
    let extra = recorded.iter().find(|field| truth.binary_search(field).is_err());
    match (missing, extra) {
        (None, None) if truth.len() == recorded.len() => None,
        (None, None) => Some("the same change is recorded twice".to_owned()),
        (Some((place, value)), Some((wrong, other))) if place == wrong => {
            Some(format!("{place} becomes {value}, but {other} is recorded"))
        }
        (Some((place, value)), _) => {
            Some(format!("{place} becomes {value}, which is not recorded"))
        }
        (None, Some((place, value))) => Some(format!("{place} does not become {value}")),
    }
}

fn keep_first(reason: &mut String, other: String) {
    if reason.is_empty() {
        *reason = other;
    }
}

fn other_message(message: &str, recorded: &str) -> String {
    format!("it fails with \"{message}\", but \"{recorded}\" is recorded")
}

/// How a rule ended that was to lead to a state.
fn ended(end: &End) -> String {
    match end {
        End::Disabled => "the rule is not enabled here".to_owned(),
        End::Done(_) => "the rule ends without the recorded error".to_owned(),
        End::Excluded => "an assumption in the rule does not hold".to_owned(),
        End::GuardFailed(error) => format!("evaluating its guard fails: {error}"),
        End::Failed(error) => format!("it fails: {error}"),
    }
}
