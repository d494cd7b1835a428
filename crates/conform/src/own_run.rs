//! Is a run that an observer objects to one of the protocol, with the values that the protocol has?
//!
//! A lemma has values of its own, and a run of it is taken again with a value for every store before
//! it is judged. If data is independent, the protocol takes the same steps with any values. If that is
//! not established it may take them only with values that it does not have, so that the violation
//! would not be one of the protocol. Then the steps of the run are taken once more, by the protocol as
//! it is: with each value as it was in the lemma, or with others of its own in the place of some. What
//! can be taken is a run of the protocol, whatever the lemma was, and its loads and stores are judged
//! with the values that they have. Cost: the run, as often as there are ways to replace the few values
//! of the lemma, up to a limit.

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

/// How many ways to replace the values of a lemma are tried.
const MOST_WAYS: u64 = 1000;

/// Whether the protocol, with its own values, takes the steps of a run of a lemma in some way that the
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

/// The steps of a run of a lemma, for the protocol as it is.
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

    /// What each value of the lemma may stand for, both counted from 0: itself first.
    fn ways(&self) -> impl Iterator<Item = Vec<u64>> + use<> {
        let classes = self.lemma.model().count(value_type(self.lemma.model(), self.protocol));
        let values = self.own.model().count(self.value());
        let itself = (values >= classes).then(|| (0..classes).collect());
        // With many values there are too many ways, and each value of the lemma is one of them.
        let ways = values.checked_pow(u32::try_from(classes).unwrap_or(u32::MAX));
        let ways = ways.filter(|&ways| ways <= MOST_WAYS).unwrap_or(0);
        let others = (0..ways).map(move |way| {
            let digit = |class: u64| way / values.pow(class as u32) % values;
            (0..classes).map(digit).collect()
        });
        itself.into_iter().chain(others)
    }

    /// The loads and stores, if all steps can be taken.
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

    /// The value that everything holds at first, from 0, if there is one.
    fn first_value(&self, state: &murphi::value::State) -> Option<u64> {
        let (model, value) = (self.own.model(), self.value());
        let lowest = model.lowest(value);
        match first_of(model, value, state)? {
            Some(first) => u64::try_from(first - lowest).ok(),
            None => begin_with_the_lowest(self.protocol).then_some(0),
        }
    }

    /// The instance of a rule or a start state that a step of the lemma stands for.
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
