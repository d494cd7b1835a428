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

use super::{Plan, Protocol, Step};

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
pub(super) struct Guide {
    rules: Vec<Rule>,
    addresses: u64,
    /// How many loads and how many stores there were.
    kinds: [u64; 2],
}

/// What firing a rule leads to.
#[derive(Debug, Clone)]
struct Rule {
    roles: Vec<(Role, u64)>,
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

impl Guide {
    /// Learns from free walks.
    pub(super) fn learn(protocol: &Protocol) -> Self {
        let recording = &protocol.recording;
        let rules = (0..recording.rules()).map(|rule| Rule::new(recording.roles(rule))).collect();
        let addresses = recording.addresses.len() as u64;
        let mut guide = Guide { rules, addresses, kinds: [1, 1] };
        let mut walker = protocol.walker();
        let plan = Plan { operations: OPERATIONS, seed: SEED, steps: true, ..Plan::default() };
        let mut next = Vec::new();
        for number in 0..WALKS {
            let walk = walker.walk(&plan, number);
            next.clear();
            next.resize(recording.processors.len(), None);
            guide.watch(&walk.steps, &walk.events, &mut next);
        }
        guide
    }

    /// Counts what came after each step, from the last to the first.
    fn watch(
        &mut self,
        steps: &[Step],
        events: &[RecordedEvent],
        next: &mut [Option<RecordedEvent>],
    ) {
        let mut until = events.len();
        for step in steps.iter().rev() {
            let own = &events[step.events..until];
            until = step.events;
            if own.is_empty() {
                self.rules[step.rule as usize].count(step.instance, next);
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
        rule: u32,
        instance: u64,
        wanted: impl Fn(u32) -> Option<(EventKind, u32)>,
    ) -> u64 {
        let rule = &self.rules[rule as usize];
        let mut advice = NEUTRAL;
        let mut next = rule.next.iter();
        for (place, &(role, _)) in rule.roles.iter().enumerate() {
            let (Role::Processor, Some(next)) = (role, next.next()) else { continue };
            let Some((kind, address)) = wanted(rule.digit(instance, place) as u32)
                .and_then(|(wanted, address)| kind(wanted).zip(Some(address)))
            else {
                continue;
            };
            match self.likely(rule, next, instance, kind, address) {
                0 => return NEVER,
                likely => advice = (advice * likely / NEUTRAL).clamp(LEAST, MOST),
            }
        }
        advice
    }

    /// How much likelier than usual a processor does this next; 0 if it never does.
    fn likely(&self, rule: &Rule, next: &Next, instance: u64, kind: usize, address: u32) -> u64 {
        if next.seen < ENOUGH {
            return NEUTRAL;
        }
        let place = rule.place_of(instance, address);
        let others = self.addresses.saturating_sub(next.at.len() as u64 - 1).max(1);
        let ways = if place + 1 == next.at.len() { others } else { 1 };
        let seen = u64::from(next.at[place][kind]);
        // In comparison with an event of this kind at any address.
        let usual = self.kinds[kind] * u64::from(next.seen);
        let all = self.kinds[0] + self.kinds[1];
        match seen {
            0 => 0,
            seen => {
                (NEUTRAL * seen * self.addresses * all / (ways * usual).max(1)).clamp(LEAST, MOST)
            }
        }
    }
}

impl Rule {
    fn new(roles: Vec<(Role, u64)>) -> Self {
        let count = |wanted: Role| roles.iter().filter(|(role, _)| *role == wanted).count();
        let at = vec![[0; 2]; count(Role::Address) + 1];
        let next = vec![Next { seen: 0, at }; count(Role::Processor)];
        Rule { roles, next }
    }

    /// A parameter of an instance, counted from 0.
    fn digit(&self, instance: u64, place: usize) -> u64 {
        let inner = self.roles[place + 1..].iter();
        let below = inner.fold(1u64, |product, (_, radix)| product.saturating_mul(*radix).max(1));
        instance / below % self.roles[place].1.max(1)
    }

    /// Which parameter names an address, among those that do; behind the last if none does.
    fn place_of(&self, instance: u64, address: u32) -> usize {
        let places = (0..self.roles.len()).filter(|&place| self.roles[place].0 == Role::Address);
        let digits = places.map(|place| self.digit(instance, place));
        digits.take_while(|&digit| digit != u64::from(address)).count()
    }

    fn count(&mut self, instance: u64, next: &[Option<RecordedEvent>]) {
        let processors = (0..self.roles.len()).filter(|&at| self.roles[at].0 == Role::Processor);
        let digits: Vec<u64> = processors.map(|place| self.digit(instance, place)).collect();
        for (number, digit) in digits.into_iter().enumerate() {
            let Some(event) = next.get(digit as usize).copied().flatten() else { continue };
            let place = self.place_of(instance, event.address);
            let Some(kind) = kind(event.kind) else { continue };
            self.next[number].seen += 1;
            self.next[number].at[place][kind] += 1;
        }
    }
}

/// Loads are 0, stores 1.
fn kind(kind: EventKind) -> Option<usize> {
    match kind {
        EventKind::Load => Some(0),
        EventKind::Store => Some(1),
        EventKind::Commit => None,
    }
}
