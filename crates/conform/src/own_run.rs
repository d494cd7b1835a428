//! Decides whether a run of an alarm is a run of the protocol with its own values.
//!
//! A lemma has its own values, and its run is repeated with a distinct value for every store before
//! it is judged. If the protocol is data independent, it takes the same steps with any values. If
//! that is not established, it may take them only with values that it does not have, and the
//! violation would not be one of the protocol. Then the protocol itself repeats the steps, with
//! each value as in the lemma, or with other values of its own in the place of some. Steps that it
//! can take are a run of the protocol, whatever the lemma was, and the loads and stores are judged
//! with their actual values. The cost is one run for each way to replace the few values of the
//! lemma, up to a limit.

use std::sync::Arc;

use explore::Step;
use murphi::instance;
use murphi::interpret::{End, Interpreter};
use murphi::ir::{Domain, Model, Rule, TypeId};

use crate::alarm::judge_trace;
use crate::events::Protocol;
use crate::foundations::Values;
use crate::start_states::{begin_with_the_lowest, first_of};
use crate::trace::{MemoryTrace, printed_events, value_type, with_printed_events};
use crate::verify::MemoryModel;

/// The largest number of ways to replace the values of a lemma.
const MOST_WAYS: u64 = 1000;

/// Whether the protocol, with its own values, has a run with the steps of a lemma's run that the
/// memory model forbids.
pub(crate) fn is_violation(
    protocol: &Protocol,
    lemma: &Interpreter,
    run: &[Step],
    memory_model: MemoryModel,
) -> bool {
    let Ok(own) = with_printed_events(protocol, Values::Own) else { return false };
    let again = OwnRun { protocol, lemma, own, run };
    again.ways().any(|way| {
        let refused = |trace: MemoryTrace| {
            let judged = judge_trace(&trace, false, memory_model);
            judged.is_ok_and(|(_, verdict)| matches!(verdict.outcome, judge::Outcome::Broken(_)))
        };
        again.trace(&way).is_some_and(refused)
    })
}

/// The steps of a run of a lemma, for the protocol itself.
struct OwnRun<'a> {
    protocol: &'a Protocol,
    lemma: &'a Interpreter,
    own: Interpreter,
    run: &'a [Step],
}

impl OwnRun<'_> {
    fn value(&self) -> TypeId {
        value_type(self.own.model(), self.protocol)
    }

    /// For each value of the lemma, the value of the protocol that replaces it, both counted from
    /// 0. The first way replaces nothing.
    fn ways(&self) -> impl Iterator<Item = Vec<u64>> + use<> {
        let classes = self.lemma.model().count(value_type(self.lemma.model(), self.protocol));
        let values = self.own.model().count(self.value());
        let itself = (values >= classes).then(|| (0..classes).collect());
        // With many values there are too many ways; then the protocol has each value of the lemma.
        let ways = values.checked_pow(u32::try_from(classes).unwrap_or(u32::MAX));
        let ways = ways.filter(|&ways| ways <= MOST_WAYS).unwrap_or(0);
        let others = (0..ways).map(move |way| {
            let digit = |class: u64| way / values.pow(class as u32) % values;
            (0..classes).map(digit).collect()
        });
        itself.into_iter().chain(others)
    }

    /// The loads and stores, if the protocol can take all steps.
    fn trace(&self, way: &[u64]) -> Option<MemoryTrace> {
        let mut trace = MemoryTrace::default();
        let (mut state, mut first) = (None, 0);
        for (number, step) in self.run.iter().enumerate() {
            let at = step.rule as usize;
            let taken = match &state {
                None => {
                    let instance = self.instance(step, at, true, way)?;
                    self.own.start(at, instance)
                }
                Some(state) => {
                    let instance = self.instance(step, at, false, way)?;
                    self.own.run_rule(state, at, instance)
                }
            };
            let End::Done(next) = taken.end else { return None };
            if number == 0 {
                first = self.first_value(&next)?;
            }
            trace.append(printed_events(
                self.protocol,
                self.own.model(),
                number,
                &taken.output,
                &|_| Some(0),
            )?);
            state = Some(next);
        }
        trace.begin_with(first);
        Some(trace)
    }

    /// The initial value, from 0, if all places have the same one.
    fn first_value(&self, state: &murphi::value::State) -> Option<u64> {
        let (model, value) = (self.own.model(), self.value());
        let lowest = model.lowest(value);
        match first_of(model, value, state)? {
            Some(first) => u64::try_from(first - lowest).ok(),
            None => begin_with_the_lowest(self.protocol).then_some(0),
        }
    }

    /// The instance of the protocol's rule or start state that a step of the lemma stands for.
    fn instance(&self, step: &Step, at: usize, starting: bool, way: &[u64]) -> Option<u64> {
        let rule_of = |model: &Arc<Model>| -> Option<Rule> {
            let rules = if starting { &model.start_states } else { &model.rules };
            rules.get(at).cloned()
        };
        let (lemma, own) = (self.lemma.model(), self.own.model());
        let (theirs, ours) = (rule_of(lemma)?, rule_of(own)?);
        let lemma_value = value_type(lemma, self.protocol);
        let taken = instance::decode(lemma, &theirs.parameters, step.instance);
        let mut values = Vec::new();
        for (binder, taken) in instance::binders(&theirs.parameters).zip(taken) {
            let name = &theirs.frame.locals[binder.local.0 as usize].name;
            if name.starts_with(&self.protocol.prefix) {
                continue;
            }
            values.push(match &binder.domain {
                Domain::Type(ty) if *ty == lemma_value => {
                    let class = usize::try_from(taken - lemma.lowest(lemma_value)).ok()?;
                    own.lowest(self.value()) + i64::try_from(*way.get(class)?).ok()?
                }
                _ => taken,
            });
        }
        instance::encode(own, &ours.parameters, &values)
    }
}
