//! Where a step leads: what a processor does next once a rule has been fired for it.
//!
//! A processor whose program says "load x" must not be made to miss on y: in most protocols that
//! miss ends with a load of y, which the program does not have, and the processor waits for ever.
//! Nothing in a rule says so, but free walks show it: after "read miss" of p and a, the next event
//! of p is a load of a, always. So some free walks are taken first, and for each rule is counted
//! what the processors among its parameters did next, and whether that was at an address among its
//! parameters or at another. The numbers of processors and addresses do not matter, so few walks
//! are enough. This is advice only: whatever the tables say, a program is run by steps of the
//! protocol, and what does not lead on is taken back.

use conform::{EventKind, RecordedEvent, Role};

use super::parameters::Parameters;
use super::{Plan, Protocol, Walk};

/// How many free walks are taken, and how many loads and stores each has.
const WALKS: u64 = 48;
const OPERATIONS: usize = 48;

/// The seed of these walks: what is learned does not depend on what is asked later.
const SEED: u64 = 0x6775_6964;

/// The advice not to change anything.
pub(super) const NEUTRAL: u64 = 1 << 8;

/// The most and the least that is advised, but for what was never seen.
const MOST: u64 = NEUTRAL << 3;
const LEAST: u64 = NEUTRAL >> 3;

/// What was never seen, though it could have been so often, is all but ruled out.
const ENOUGH: u32 = 8;
pub(super) const NEVER: u64 = 1;

/// What rules lead to.
#[derive(Debug, Clone)]
pub(super) struct RuleEffects {
    rules: Vec<Rule>,
    addresses: u64,
    /// How many loads and how many stores there were.
    kinds: [u64; 2],
}

/// What firing a rule leads to.
#[derive(Debug, Clone)]
struct Rule {
    /// For each parameter that is a processor: what it did next.
    next: Vec<Next>,
}

/// What a processor did next: loads and stores, by the parameter that named the address. The last
/// place is for addresses that none did.
#[derive(Debug, Clone)]
struct Next {
    seen: u32,
    at: Vec<[u32; 2]>,
}

impl RuleEffects {
    /// Learns from free walks.
    pub(super) fn learn(protocol: &Protocol) -> Self {
        let recording = &protocol.recording;
        let rules = protocol.parameters.iter().map(Rule::new).collect();
        let addresses = recording.addresses.len() as u64;
        let mut rule_effects = RuleEffects { rules, addresses, kinds: [1, 1] };
        let mut walker = protocol.walker();
        let plan = Plan { operations: OPERATIONS, seed: SEED, steps: true, ..Plan::default() };
        let mut next = Vec::new();
        for number in 0..WALKS {
            let walk = walker.walk(&plan, number);
            next.clear();
            next.resize(recording.processors.len(), None);
            rule_effects.watch(protocol, &walk, &mut next);
        }
        rule_effects
    }

    /// Counts what came after each step, from the last to the first.
    fn watch(&mut self, protocol: &Protocol, walk: &Walk, next: &mut [Option<RecordedEvent>]) {
        let mut until = walk.events.len();
        for step in walk.steps.iter().rev() {
            let own = &walk.events[step.events..until];
            until = step.events;
            if own.is_empty() {
                let rule = step.rule as usize;
                self.rules[rule].count(&protocol.parameters[rule], step.instance, next);
            }
            for event in own.iter().rev() {
                if let Some(kind) = kind(event.kind) {
                    self.kinds[kind] += 1;
                    next[event.processor as usize] = Some(*event);
                }
            }
        }
    }

    /// How much a step should be liked where processors are to do this next, [`NEUTRAL`] if it
    /// does not matter.
    pub(super) fn advise(
        &self,
        parameters: &Parameters,
        rule: u32,
        instance: u64,
        wanted: impl Fn(u32) -> Option<(EventKind, u32)>,
    ) -> u64 {
        let mut advice = NEUTRAL;
        let processors = parameters.named(Role::Processor, instance);
        for (next, processor) in self.rules[rule as usize].next.iter().zip(processors) {
            let Some((wanted, address)) = wanted(processor) else { continue };
            let Some(kind) = kind(wanted) else { continue };
            match self.likely(next, place_of(parameters, instance, address), kind) {
                0 => return NEVER,
                likely => advice = (advice * likely / NEUTRAL).clamp(LEAST, MOST),
            }
        }
        advice
    }

    /// How much likelier than usual a processor does this next; 0 if it never does.
    fn likely(&self, next: &Next, place: usize, kind: usize) -> u64 {
        if next.seen < ENOUGH {
            return NEUTRAL;
        }
        let named = next.at.len() as u64 - 1;
        let ways =
            if place as u64 == named { self.addresses.saturating_sub(named).max(1) } else { 1 };
        // In comparison with an event of this kind at any address.
        let usual = self.kinds[kind] * u64::from(next.seen) * ways;
        let all = self.kinds[0] + self.kinds[1];
        match u64::from(next.at[place][kind]) {
            0 => 0,
            seen => (NEUTRAL * seen * self.addresses * all / usual.max(1)).clamp(LEAST, MOST),
        }
    }
}

impl Rule {
    fn new(parameters: &Parameters) -> Self {
        let at = vec![[0; 2]; parameters.count(Role::Address) + 1];
        let next = vec![Next { seen: 0, at }; parameters.count(Role::Processor)];
        Rule { next }
    }

    fn count(&mut self, parameters: &Parameters, instance: u64, next: &[Option<RecordedEvent>]) {
        let processors = parameters.named(Role::Processor, instance);
        for (counts, processor) in self.next.iter_mut().zip(processors) {
            let Some(event) = next.get(processor as usize).copied().flatten() else { continue };
            let Some(kind) = kind(event.kind) else { continue };
            counts.seen += 1;
            counts.at[place_of(parameters, instance, event.address)][kind] += 1;
        }
    }
}

/// Which parameter names an address, among those that do; behind the last if none does.
fn place_of(parameters: &Parameters, instance: u64, address: u32) -> usize {
    parameters.named(Role::Address, instance).take_while(|&other| other != address).count()
}

/// Loads are 0, stores 1.
fn kind(kind: EventKind) -> Option<usize> {
    match kind {
        EventKind::Load => Some(0),
        EventKind::Store => Some(1),
        EventKind::Commit => None,
    }
}
