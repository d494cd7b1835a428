//! Translates a run of a composed model into a memory trace of the protocol, with a distinct value
//! for every store.
//!
//! A lemma distinguishes few values, so its runs do not say which store a load has read from. By
//! data independence the protocol can take the same steps with other values. So the protocol alone
//! repeats the run, step by step, with as many values as are ever chosen: where a rule of the run
//! chose a value, it now takes a fresh value if possible (a store), or an existing one (a load that
//! names the value that it finds). Each step must lead to a state that equals the state of the run
//! when every value is renamed to its class. Renaming does not change the effect of rules, so the
//! first choice that satisfies this is as good as any. The protocol prints its events by `put`, and
//! the reference interpreter runs it. The cost is a few executions of a rule for each step, times
//! the number of values for rules that name one.

use std::sync::Arc;

use explore::Step;
use murphi::instance;
use murphi::interpret::{End, Interpreter};
use murphi::ir::{Domain, Model, Parameter, Rule, Simple, TypeId, TypeKind};
use murphi::print::print;
use murphi::source::Source;
use murphi::value::{State, Value, render_simple};

use super::{Commit, MemoryEvent, MemoryTrace, NotRepeatable};
use crate::compose::{Observer, announce, compose};
use crate::events::Protocol;
use crate::foundations::Values;

/// Repeats a run of `lemma`, a composition with `protocol`, with distinct values.
pub(crate) fn lift<'a>(
    protocol: &'a Protocol,
    lemma: &'a Interpreter,
    run: &[Step],
) -> Result<RepeatedRun<'a>, NotRepeatable> {
    let mut lifted = RepeatedRun::new(protocol, lemma, run)?;
    for (number, step) in run.iter().enumerate() {
        lifted.step(number, step)?;
    }
    Ok(lifted)
}

/// A repeated run.
pub(crate) struct RepeatedRun<'a> {
    protocol: &'a Protocol,
    pub(super) lemma: &'a Interpreter,
    /// The protocol alone, with many values.
    pub(super) interpreter: Interpreter,
    /// The types of values in the lemma and in the lifted protocol.
    pub(super) lemma_value: TypeId,
    pub(super) lifted_value: TypeId,
    /// The current state of the protocol.
    pub(super) state: State,
    /// For each value that was chosen, its class; both are counted from 0.
    pub(super) stands_for: Vec<i64>,
    /// The loads and stores so far.
    pub(crate) trace: MemoryTrace,
}

impl<'a> RepeatedRun<'a> {
    fn new(
        protocol: &'a Protocol,
        lemma: &'a Interpreter,
        run: &[Step],
    ) -> Result<Self, NotRepeatable> {
        let lemma_value = value_type(lemma.model(), protocol);
        let taken = run.iter().skip(1).map(|step| {
            let rule = &lemma.model().rules[step.rule as usize];
            values_taken(rule, lemma_value)
        });
        let values = (1 + taken.sum::<usize>() as u64).max(2);
        let interpreter = with_printed_events(protocol, Values::ClassesOfStores(values))?;
        let lifted_value = value_type(interpreter.model(), protocol);
        let state = State::undefined(interpreter.model());
        Ok(RepeatedRun {
            protocol,
            lemma,
            interpreter,
            lemma_value,
            lifted_value,
            state,
            stands_for: Vec::new(),
            trace: MemoryTrace::default(),
        })
    }

    fn step(&mut self, number: usize, step: &Step) -> Result<(), NotRepeatable> {
        let not_repeatable = |what: &str| NotRepeatable(format!("step {number}: {what}"));
        let goal = State::decode(self.lemma.model(), self.lemma.layout(), &step.state)
            .map_err(|malformed| not_repeatable(&malformed.to_string()))?;
        let at = step.rule as usize;
        let starting = number == 0;
        let rule = match starting {
            true => &self.lemma.model().start_states[at],
            false => &self.lemma.model().rules[at],
        };
        let taken = instance::decode(self.lemma.model(), &rule.parameters, step.instance);
        if starting {
            self.stands_for = vec![self.initial(rule, &taken)];
        }
        let lifted_model = Arc::clone(self.interpreter.model());
        let lifted_rule = match starting {
            true => &lifted_model.start_states[at],
            false => &lifted_model.rules[at],
        };
        for (values, entered) in self.candidates(lifted_rule, &taken, starting) {
            let Some(instance) = instance::encode(&lifted_model, &lifted_rule.parameters, &values)
            else {
                continue;
            };
            let run = match starting {
                true => self.interpreter.start(at, instance),
                false => self.interpreter.run_rule(&self.state, at, instance),
            };
            let End::Done(next) = run.end else { continue };
            let known = self.stands_for.len();
            self.stands_for.extend(entered);
            if self.reaches(&next, &goal) {
                self.state = next;
                let events = self.events(number, &run.output).ok_or_else(|| {
                    not_repeatable("the loads and stores of the step cannot be read back")
                })?;
                self.trace.append(events);
                return Ok(());
            }
            self.stands_for.truncate(known);
        }
        Err(not_repeatable("no choice of values leads to the same state"))
    }

    /// The initial value in the lemma: the one that a start state has chosen, or the lowest.
    fn initial(&self, start: &Rule, taken: &[i64]) -> i64 {
        let chosen = format!("{}initial", self.protocol.prefix);
        let binders = instance::binders(&start.parameters).zip(taken);
        let mut chosen = binders
            .filter(|(binder, _)| start.frame.locals[binder.local.0 as usize].name == chosen);
        let lowest = self.lemma.model().lowest(self.lemma_value);
        chosen.next().map_or(0, |(_, value)| value - lowest)
    }

    /// The possible values of a step's parameters in the lifted protocol, and the classes of the
    /// fresh ones among them.
    fn candidates(&self, rule: &Rule, taken: &[i64], starting: bool) -> Vec<(Vec<i64>, Vec<i64>)> {
        let lowest = self.interpreter.model().lowest(self.lifted_value);
        let lemma_lowest = self.lemma.model().lowest(self.lemma_value);
        let mut candidates = vec![(Vec::new(), Vec::new())];
        for (binder, &taken) in instance::binders(&rule.parameters).zip(taken) {
            let mut longer = Vec::new();
            for (values, entered) in &candidates {
                let mut with = |value: i64, fresh: Option<i64>| {
                    let (mut values, mut entered) = (values.clone(), entered.clone());
                    values.push(value);
                    entered.extend(fresh);
                    longer.push((values, entered));
                };
                match &binder.domain {
                    Domain::Type(ty) if *ty == self.lifted_value => {
                        let class = taken - lemma_lowest;
                        if !starting {
                            let fresh = self.stands_for.len() + entered.len();
                            with(lowest + fresh as i64, Some(class));
                        }
                        for (value, &known) in (lowest..).zip(&self.stands_for) {
                            if known == class {
                                with(value, None);
                            }
                        }
                    }
                    Domain::Multiset(place) => {
                        // Positions have no meaning, so any of them may correspond.
                        with(taken, None);
                        let capacity = match self.interpreter.model().kind(place.ty) {
                            TypeKind::Multiset { capacity, .. } => i64::from(*capacity),
                            _ => 0,
                        };
                        for position in (0..capacity).filter(|&position| position != taken) {
                            with(position, None);
                        }
                    }
                    _ => with(taken, None),
                }
            }
            candidates = longer;
        }
        candidates
    }

    /// Whether a state equals the one of the lemma when its values are renamed. The variables of
    /// the observer are ignored.
    pub(super) fn reaches(&self, state: &State, goal: &State) -> bool {
        let (model, lemma) = (self.interpreter.model(), self.lemma.model());
        model.globals.iter().zip(&state.0).all(|(global, value)| {
            let mut candidates = lemma.globals.iter().zip(&goal.0);
            let wanted = candidates.find(|(other, _)| other.name == global.name);
            let renamed = self.renamed(value, global.ty);
            wanted.is_some_and(|(_, wanted)| renamed.same(wanted))
        })
    }

    fn renamed(&self, value: &Value, ty: TypeId) -> Value {
        let model = self.interpreter.model();
        let all = |values: &[Value], ty: TypeId| -> Vec<Value> {
            values.iter().map(|value| self.renamed(value, ty)).collect()
        };
        match (value, model.kind(ty)) {
            (Value::Simple(Some(number)), _) if ty == self.lifted_value => {
                let known = usize::try_from(number - model.lowest(ty)).ok();
                let class = known.and_then(|known| self.stands_for.get(known));
                let lowest = self.lemma.model().lowest(self.lemma_value);
                Value::Simple(class.map(|class| class + lowest))
            }
            (Value::Record(values), TypeKind::Record(fields)) => {
                let parts = values.iter().zip(fields);
                Value::Record(parts.map(|(value, field)| self.renamed(value, field.ty)).collect())
            }
            (Value::Array(values), TypeKind::Array { element, .. }) => {
                Value::Array(all(values, *element))
            }
            (Value::Multiset(values), TypeKind::Multiset { element, .. }) => {
                Value::Multiset(all(values, *element))
            }
            (value, _) => value.clone(),
        }
    }

    /// The events that a step printed.
    pub(super) fn events(&self, step: usize, output: &str) -> Option<MemoryTrace> {
        let stands_for = |number: u64| self.stands_for.get(number as usize).copied();
        printed_events(self.protocol, self.interpreter.model(), step, output, &stands_for)
    }
}

/// The events that a step of [`with_printed_events`] printed, where each value has a class.
pub(crate) fn printed_events(
    protocol: &Protocol,
    model: &Model,
    step: usize,
    output: &str,
    class: &dyn Fn(u64) -> Option<i64>,
) -> Option<MemoryTrace> {
    let store = model.functions.iter().find(|other| other.name == protocol.store.name)?;
    let [processors, _, values] = [0, 1, 2].map(|parameter| store.frame.locals[parameter].ty);
    let mut trace = MemoryTrace::default();
    for line in output.lines() {
        let Some(events) = line.strip_prefix(&protocol.prefix) else { continue };
        let mut words = events.split(' ');
        let kind = words.next()?;
        let (processor, address, value) = (words.next()?, words.next()?, words.next()?);
        let number = position(model, values, value)?;
        if kind == "commit" {
            trace.commits.push(Commit {
                after: trace.events.len(),
                processor: processor.to_owned(),
                address: address.to_owned(),
                value: number,
            });
            continue;
        }
        trace.events.push(MemoryEvent {
            step,
            is_store: kind == "store",
            processor: processor.to_owned(),
            thread: thread(model, processors, processor)?,
            address: address.to_owned(),
            value: number,
            class: class(number)?,
        });
    }
    Some(trace)
}

/// The protocol alone, printing its events.
pub(crate) fn with_printed_events(
    protocol: &Protocol,
    values: Values,
) -> Result<Interpreter, NotRepeatable> {
    let prefix = &protocol.prefix;
    let procedure = |kind: &str| {
        let parameters = format!(
            "{prefix}p: {}; {prefix}a: {}; {prefix}v: {}",
            protocol.processor.text, protocol.address.text, protocol.value.text
        );
        let said = announce(protocol, kind, &format!("{prefix}v"));
        format!("procedure {prefix}print_{kind}({parameters}); begin {said} end; ")
    };
    let observer = Observer {
        declarations: procedure("load") + &procedure("store") + &procedure("commit"),
        on_load: format!("{prefix}print_load"),
        on_store: format!("{prefix}print_store"),
        on_commit: format!("{prefix}print_commit"),
        ..Observer::default()
    };
    let composition = compose(protocol, values, &observer);
    let text = print(&composition.program);
    let source = Source { name: protocol.model.source.name.clone(), text };
    let count = values.count().unwrap_or(protocol.value.count);
    let refused = |why: &str| NotRepeatable(format!("with {count} values the protocol {why}"));
    let checked = murphi::load(source, &protocol.options)
        .map_err(|problems| refused(problems.first().map_or("is refused", |p| &p.message)))?;
    Interpreter::new(Arc::new(checked.model)).map_err(|_| refused("is too large"))
}

/// The type of values in a composition.
pub(crate) fn value_type(model: &Model, protocol: &Protocol) -> TypeId {
    let store = model.functions.iter().find(|function| function.name == protocol.store.name);
    store.map_or(protocol.value.ty, |store| store.frame.locals[2].ty)
}

/// How many values a rule takes as parameters.
fn values_taken(rule: &Rule, value: TypeId) -> usize {
    let takes = |parameter: &&Parameter| match parameter {
        Parameter::Each(binder) => matches!(&binder.domain, Domain::Type(ty) if *ty == value),
        Parameter::Alias { .. } => false,
    };
    rule.parameters.iter().filter(takes).count()
}

/// The number, from 0, of the value that is written like this.
fn position(model: &Model, ty: TypeId, text: &str) -> Option<u64> {
    let lowest = model.lowest(ty);
    (0..model.count(ty)).find(|&at| render_simple(model, ty, lowest + at as i64) == text)
}

/// The number of a processor's thread: the processor itself if it is a number, else its place in
/// the type, from 1.
pub(crate) fn thread(model: &Model, ty: TypeId, text: &str) -> Option<u64> {
    let at = position(model, ty, text)?;
    match model.simple(ty) {
        Some(Simple::Range { low, .. }) if *low >= 0 => Some(*low as u64 + at),
        _ => Some(at + 1),
    }
}
