//! A run reconstructed by the reference interpreter: each step is run again, compared with what the search
//! says it led to, and put into words.
//!
//! So no counterexample is shown that the reference does not confirm. If the two ever differ, the
//! difference is what is reported.

use std::fmt;
use std::sync::Arc;

use murphi::diagnostic::Diagnostic;
use murphi::goal::{Goal, Goals};
use murphi::interpret::{End, Interpreter, RuntimeError, RuntimeErrorKind};
use murphi::ir::{Model, PropertyKind};
use murphi::value::State;
use murphi::{instance, value};

use super::fold::fold;
use super::fold_step::fold_step;
use crate::asked::Watcher;
use crate::region::{self, Walk};

use super::{Broken, Change, Counterexample, Effect, Explanation, Start, Step, breach};

/// How many states are looked at to say what can still happen after a run.
const REGION: usize = 10_000;

/// A rule or start state with its parameters.
#[derive(Clone, Copy)]
pub(super) struct Firing {
    pub(super) rule: usize,
    pub(super) instance: u64,
}

/// A counterexample that grows step by step.
pub(super) struct Reconstruction<'i> {
    interpreter: &'i Interpreter,
    /// Whether each step is reported with the whole state.
    whole_states: bool,
    /// What is reported with each step.
    watcher: &'i Watcher,
    state: State,
    counterexample: Counterexample,
}

/// The search says what the reference denies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradiction(pub(super) String);

impl fmt::Display for Contradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let advice = "this is a bug in tribunal, please report it with the model";
        write!(f, "the reference interpreter disagrees: {}; {advice}", self.0)
    }
}

impl std::error::Error for Contradiction {}

impl<'i> Reconstruction<'i> {
    pub(super) fn new(
        interpreter: &'i Interpreter,
        whole_states: bool,
        watcher: &'i Watcher,
    ) -> Self {
        let state = State::undefined(interpreter.model());
        let counterexample = Counterexample::default();
        Reconstruction { interpreter, whole_states, watcher, state, counterexample }
    }

    pub(super) fn finish(self) -> Counterexample {
        self.counterexample
    }

    /// Where the run has got to.
    pub(super) fn state(&self) -> &State {
        &self.state
    }

    fn model(&self) -> &'i Model {
        self.interpreter.model()
    }

    /// Adds the start, which led to `found`.
    pub(super) fn start(&mut self, firing: Firing, found: &[u8]) -> Result<(), Contradiction> {
        let run = self.interpreter.start(firing.rule, firing.instance);
        let End::Done(state) = run.end else {
            return Err(Contradiction(format!("the start state ends with {:?}", run.end)));
        };
        self.state = self.agreed(state, found)?;
        self.counterexample.start = self.start_report(firing, &run.output);
        let model = self.model();
        self.counterexample.start.state = Some(self.state.listing(model));
        self.counterexample.start.folded = fold(model, &self.state);
        self.counterexample.start.watched = self.watcher.values(model, &self.state);
        Ok(())
    }

    /// Adds a step, which led to `found`.
    pub(super) fn step(&mut self, firing: Firing, found: &[u8]) -> Result<(), Contradiction> {
        let run = self.interpreter.run_rule(&self.state, firing.rule, firing.instance);
        let End::Done(state) = run.end else {
            let name = &self.model().rules[firing.rule].name;
            return Err(Contradiction(format!("rule \"{name}\" ends with {:?}", run.end)));
        };
        let after = self.agreed(state, found)?;
        let mut step = self.step_report(firing, &run.output);
        step.effect = Effect::Changed(changes(&self.state, &after, self.model()));
        step.folded = fold_step(self.model(), &self.state, &after);
        step.state = self.whole_states.then(|| after.listing(self.model()));
        step.watched = self.watcher.values(self.model(), &after);
        self.counterexample.steps.push(step);
        self.state = after;
        Ok(())
    }

    /// The state that the search found, if it is the one that the reference made: multisets may
    /// be in another order.
    fn agreed(&self, made: State, found: &[u8]) -> Result<State, Contradiction> {
        let (model, layout) = (self.model(), self.interpreter.layout());
        let found =
            State::decode(model, layout, found).map_err(|e| Contradiction(e.to_string()))?;
        if made.sorted(model, layout) != found.sorted(model, layout) {
            let changes = changes(&found, &made, model);
            return Err(Contradiction(format!("the states differ: {changes:?}")));
        }
        Ok(found)
    }

    fn start_report(&self, firing: Firing, output: &str) -> Start {
        let rule = &self.model().start_states[firing.rule];
        let nothing = State::undefined(self.model());
        Start {
            rule: rule.name.clone(),
            bindings: instance::bindings(self.model(), rule, firing.instance, &nothing),
            printed: output.lines().map(str::to_owned).collect(),
            ..Start::default()
        }
    }

    fn step_report(&self, firing: Firing, output: &str) -> Step {
        Step {
            rule: self.model().rules[firing.rule].name.clone(),
            bindings: self.interpreter.bindings(&self.state, firing.rule, firing.instance),
            printed: output.lines().map(str::to_owned).collect(),
            ..Step::default()
        }
    }

    /// Adds that a start state fails.
    pub(super) fn start_fails(&mut self, firing: Firing) -> Result<Broken, Contradiction> {
        let run = self.interpreter.start(firing.rule, firing.instance);
        let (End::Failed(error) | End::GuardFailed(error)) = run.end else {
            return Err(Contradiction("the start state has no error".to_owned()));
        };
        self.counterexample.start = self.start_report(firing, &run.output);
        self.counterexample.start.error = Some(error.message.clone());
        let rule = &self.model().start_states[firing.rule];
        let who = format!("start state \"{}\"", rule.name);
        let note = format!("in {who}{}", with(&self.counterexample.start.bindings));
        let diagnostic = error.diagnostic().related(rule.span, note);
        Ok(self.failure(format!("{who} fails"), &error, diagnostic))
    }

    /// Adds that a rule fails, in its guard or in its body.
    pub(super) fn step_fails(&mut self, firing: Firing) -> Result<Broken, Contradiction> {
        let run = self.interpreter.run_rule(&self.state, firing.rule, firing.instance);
        let rule = &self.model().rules[firing.rule];
        let who = format!("rule \"{}\"", rule.name);
        let (what, error) = match run.end {
            End::Failed(error) => (format!("{who} fails"), error),
            End::GuardFailed(error) => (format!("evaluating the guard of {who} fails"), error),
            end => return Err(Contradiction(format!("{who} does not fail but ends with {end:?}"))),
        };
        let mut step = self.step_report(firing, &run.output);
        step.effect = Effect::Error(error.message.clone());
        let note = format!("in {who}{}", with(&step.bindings));
        let diagnostic = error.diagnostic().related(rule.span, note);
        self.counterexample.steps.push(step);
        Ok(self.failure(what, &error, diagnostic))
    }

    fn failure(&self, what: String, error: &RuntimeError, diagnostic: Diagnostic) -> Broken {
        Broken {
            kind: "error".to_owned(),
            property: property_of(error),
            sentence: format!("{what}: {}", error.message),
            place: Some(self.model().source.position(error.span.start)),
            explanation: self.explanation(diagnostic, Vec::new()),
        }
    }

    fn explanation(&self, diagnostic: Diagnostic, values: Vec<(String, String)>) -> Explanation {
        let source = Arc::clone(&self.model().source);
        Explanation::Place { source, diagnostic: Box::new(diagnostic), values }
    }

    /// Adds that a property is broken in the last state, or that evaluating it fails there.
    pub(super) fn property_breaks(&self, property: usize) -> Result<Broken, Contradiction> {
        let claimed = &self.model().properties[property];
        let who = format!("{} \"{}\"", kind_name(claimed.kind), claimed.name);
        let name = claimed.name.clone();
        match self.interpreter.check_property(&self.state, property) {
            Ok(None) => Err(Contradiction(format!("{who} holds"))),
            Ok(Some(_)) => {
                let broken = breach::find(self.interpreter, &self.state, property)
                    .ok_or_else(|| Contradiction(format!("{who} holds")))?;
                let with = with(&broken.bindings);
                let message = format!("{who} does not hold{with}");
                let diagnostic = Diagnostic::error(broken.span, message);
                Ok(Broken {
                    kind: kind_name(claimed.kind).to_owned(),
                    property: name,
                    sentence: format!("{who} does not hold"),
                    place: Some(self.model().source.position(claimed.span.start)),
                    explanation: self.explanation(diagnostic, broken.values),
                })
            }
            Err(error) => {
                let note = format!("in {who}");
                let diagnostic = error.diagnostic().related(claimed.span, note);
                let sentence = format!("{who} cannot be evaluated");
                let failure = self.failure(sentence, &error, diagnostic);
                Ok(Broken { kind: "property-error".to_owned(), property: name, ..failure })
            }
        }
    }
}

impl Reconstruction<'_> {
    /// Adds that no run leads from the last state to one in which an instance of a liveness
    /// property holds, and what can still happen.
    pub(super) fn is_caught(
        &mut self,
        property: usize,
        instance: u64,
    ) -> Result<Broken, Contradiction> {
        let model = self.model();
        let claimed = &model.properties[property];
        let who = format!("liveness \"{}\"", claimed.name);
        let goals = Goals::of(model).map_err(|why| Contradiction(why.to_string()))?;
        let Walk { mut region, reached } =
            region::walk(self.interpreter, &goals, &self.state, REGION);
        let is_claim =
            |goal: &Goal| goal.property as usize == property && goal.instance == instance;
        let claim = (0..goals.len()).find(|&number| is_claim(goals.get(number)));
        if claim.is_none_or(|number| reached[number]) {
            return Err(Contradiction(format!("{who} can be reached")));
        }
        region.bindings = instance::bindings(model, claimed, instance, &self.state);
        let with = with(&region.bindings);
        self.counterexample.region = Some(region);
        let message = format!("{who} can never hold again{with}");
        let diagnostic = Diagnostic::error(claimed.condition.span, message.clone());
        Ok(Broken {
            kind: kind_name(claimed.kind).to_owned(),
            property: claimed.name.clone(),
            sentence: message,
            place: Some(model.source.position(claimed.span.start)),
            explanation: self.explanation(diagnostic, Vec::new()),
        })
    }
}

/// What is broken by a run-time error: an assertion with a text of its own by that text, else by
/// what happened.
pub(crate) fn property_of(error: &RuntimeError) -> String {
    let message = &error.message;
    let text = match error.kind {
        RuntimeErrorKind::AssertionFailed => message.strip_prefix("assertion failed: "),
        _ => None,
    };
    text.unwrap_or(message).to_owned()
}

/// What is different between two states. Elements of multisets have no order that means anything,
/// so those that came and went are sorted by how they are written.
pub(crate) fn changes(before: &State, after: &State, model: &Model) -> Vec<Change> {
    before.changes(after, model).into_iter().map(reported).collect()
}

pub(super) fn reported(change: value::Change) -> Change {
    match change {
        value::Change::Simple { path, before, after } => {
            Change { place: path, before, after, ..Change::default() }
        }
        value::Change::Multiset { path, mut removed, mut added } => {
            removed.sort();
            added.sort();
            let (gone, new) = (removed.clone(), added.clone());
            let after = value::Change::Multiset { path: path.clone(), removed, added }.result();
            Change { place: path, before: String::new(), after, removed: gone, added: new }
        }
    }
}

/// What the source calls a property.
pub(crate) fn kind_name(kind: PropertyKind) -> &'static str {
    match kind {
        PropertyKind::Invariant => "invariant",
        PropertyKind::Assumption => "assumption",
        PropertyKind::Cover => "cover",
        PropertyKind::Liveness => "liveness",
    }
}

/// ` with p = Proc_1, q = Proc_2`, or nothing.
pub(crate) fn with(bindings: &[(String, String)]) -> String {
    if bindings.is_empty() { String::new() } else { format!(" with {}", listed(bindings)) }
}

/// `p = Proc_1, q = Proc_2`
pub(super) fn listed(values: &[(String, String)]) -> String {
    let shown = values.iter().map(|(name, value)| format!("{name} = {value}"));
    shown.collect::<Vec<_>>().join(", ")
}
