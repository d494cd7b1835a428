//! One random walk through a protocol, and the memory events on the way.
//!
//! From a random start state, one possible step after the other, chosen by the taste of the trace.
//! Steps that neither change anything nor have an event are never taken. The walk ends when it has
//! the operations asked for, when nothing leads on, or when nothing has happened for long. What is
//! wrong with the protocol itself on the way (a claim that does not hold, a rule that fails) is
//! noted, and the walk goes on: software would, too. Walk i of seed S depends on nothing else.
//! Cost: for each step, running all possible ones.

use conform::{EventKind, RecordedEvent};
use explore::Deadlock;
use murphi::ir::PropertyKind;
use murphi::machine::{Check, Firing, Machine, Outcome, Successors};

use super::Protocol;
use super::taste::{Clients, Taste};
use crate::rng::Rng;

/// How many steps without an event end a walk.
const PATIENCE: u64 = 10_000;

/// How to walk.
#[derive(Debug, Clone)]
pub struct Plan {
    /// How many loads and stores a trace has, if the protocol goes on for so long. A last step
    /// with several may go beyond.
    pub operations: usize,
    /// Everything that is random depends on this, and on the number of the walk.
    pub seed: u64,
    /// How clients choose.
    pub clients: Clients,
    /// What counts as a deadlock.
    pub deadlock: Deadlock,
    /// Whether the steps are written down, too.
    pub steps: bool,
}

impl Default for Plan {
    fn default() -> Self {
        Plan {
            operations: 64,
            seed: 0,
            clients: Clients::default(),
            deadlock: Deadlock::Stuttering,
            steps: false,
        }
    }
}

/// What a walk recorded.
#[derive(Debug, Clone)]
pub struct Walk {
    /// Its number.
    pub number: u64,
    /// What every address held at first.
    pub initial: u64,
    /// The memory events, in the order in which they happened.
    pub events: Vec<RecordedEvent>,
    /// How many steps were taken.
    pub length: u64,
    /// The steps, if they were asked for.
    pub steps: Vec<Step>,
    /// How it ended.
    pub ending: Ending,
    /// The first thing that is wrong with the protocol itself, and how many events were before it.
    pub broken: Option<(Broken, usize)>,
}

/// A step of a walk.
#[derive(Debug, Clone)]
pub struct Step {
    /// Which rule.
    pub rule: u32,
    /// With which parameters.
    pub instance: u64,
    /// The state it led from.
    pub from: Vec<u8>,
    /// How many events there were before it.
    pub events: usize,
}

/// How a walk ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It has its operations.
    Complete,
    /// Nothing leads on.
    Stuck,
    /// There were only steps without an event for long.
    Idle,
}

/// Something wrong with a protocol, whatever the memory model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Broken {
    /// An invariant does not hold.
    Invariant {
        /// Its number among the properties of the model.
        property: u32,
    },
    /// A property cannot be evaluated.
    Property {
        /// Its number among the properties of the model.
        property: u32,
    },
    /// A rule that applies fails, or its guard does.
    Rule {
        /// Which rule.
        rule: u32,
        /// With which parameters.
        instance: u64,
        /// In which state.
        state: Vec<u8>,
    },
    /// Nothing leads on.
    Deadlock,
}

/// Walks a protocol.
pub struct Walker<'a> {
    protocol: &'a Protocol,
    machine: Box<dyn Machine>,
    state: Vec<u8>,
    successors: Successors,
    /// Steps to choose from, each with its weight.
    choices: Vec<(usize, u64)>,
    /// Room for a state without events.
    plain: Vec<u8>,
    /// Whether there is anything to look at in a state, and whether that may exclude it.
    claims: bool,
    assumptions: bool,
}

/// What a look at the possible steps found.
#[derive(Default)]
struct Outlook {
    /// Some step applies.
    applies: bool,
    /// Some step leads to another state.
    leads_on: bool,
    failed: Option<Firing>,
}

impl<'a> Walker<'a> {
    pub(super) fn new(protocol: &'a Protocol) -> Self {
        let model = protocol.recording.interpreter.model();
        let size = protocol.recording.interpreter.layout().size as usize;
        let has = |kind: PropertyKind| model.properties.iter().any(|p| p.kind == kind);
        Walker {
            protocol,
            machine: protocol.machine(),
            state: Vec::new(),
            successors: Successors::new(size),
            choices: Vec::new(),
            plain: Vec::new(),
            claims: has(PropertyKind::Invariant),
            assumptions: has(PropertyKind::Assumption),
        }
    }

    /// Takes the walk with this number.
    pub fn walk(&mut self, plan: &Plan, number: u64) -> Walk {
        let mut rng =
            Rng::new(Rng::new(plan.seed).bits() ^ number.wrapping_mul(0xd134_2543_de82_ef95));
        let mut taste = Taste::draw(plan.clients, &mut rng);
        let starts = &self.protocol.starts;
        let (start, initial) = &starts[rng.below(starts.len())];
        self.state.clone_from(start);
        let mut walk = Walk {
            number,
            initial: *initial,
            events: Vec::with_capacity(plan.operations + 8),
            length: 0,
            steps: Vec::new(),
            ending: Ending::Complete,
            broken: None,
        };
        self.protocol.recording.take_events(&mut self.state, &mut walk.events);
        self.note(&mut walk);
        let mut operations = walk.events.len();
        let (mut entered, mut idle) = (0, 0);
        while operations < plan.operations && idle < PATIENCE {
            self.offer(entered, walk.initial);
            let Some(firing) = self.step(plan, &taste, &mut rng, &mut walk) else {
                walk.ending = Ending::Stuck;
                return walk;
            };
            taste.tick(&mut rng);
            entered += self.protocol.recording.takes(firing.rule) as u64;
            let before = walk.events.len();
            self.protocol.recording.take_events(&mut self.state, &mut walk.events);
            let new = &walk.events[before..];
            operations += new.iter().filter(|event| event.kind != EventKind::Commit).count();
            idle = if walk.events.len() > before { 0 } else { idle + 1 };
        }
        if operations < plan.operations {
            walk.ending = Ending::Idle;
        }
        walk
    }

    /// Offers values that have not entered yet; from the beginning when there are no more.
    fn offer(&mut self, entered: u64, initial: u64) {
        let recording = &self.protocol.recording;
        for number in 0..recording.offers() {
            // Every value but the one that was there at first.
            let fresh = (entered + number as u64) % (recording.values - 1);
            let value = if fresh >= initial { fresh + 1 } else { fresh };
            recording.offer(&mut self.state, number, value);
        }
    }

    /// Takes a step, if one leads on.
    fn step(
        &mut self,
        plan: &Plan,
        taste: &Taste,
        rng: &mut Rng,
        walk: &mut Walk,
    ) -> Option<Firing> {
        let outlook = self.look(taste);
        if walk.broken.is_none() {
            let stuck = match plan.deadlock {
                Deadlock::Off => false,
                Deadlock::Stuck => !outlook.applies,
                Deadlock::Stuttering => !outlook.leads_on,
            };
            let failed = outlook.failed.map(|firing| Broken::Rule {
                rule: firing.rule,
                instance: firing.instance,
                state: self.state.clone(),
            });
            let broken = failed.or(stuck.then_some(Broken::Deadlock));
            walk.broken = broken.map(|broken| (broken, walk.events.len()));
        }
        while !self.choices.is_empty() {
            let at = pick(&self.choices, rng);
            let (choice, _) = self.choices.swap_remove(at);
            let next = self.successors.state(choice);
            if self.assumptions && self.machine.check(next) == Check::Excluded {
                continue;
            }
            let firing = self.successors.firings[choice];
            if plan.steps {
                let (rule, instance) = (firing.rule, firing.instance);
                let from = self.state.clone();
                walk.steps.push(Step { rule, instance, from, events: walk.events.len() });
            }
            self.state.copy_from_slice(next);
            walk.length += 1;
            self.note(walk);
            return Some(firing);
        }
        None
    }

    /// Finds the possible steps and weighs them.
    fn look(&mut self, taste: &Taste) -> Outlook {
        let recording = &self.protocol.recording;
        self.successors.clear();
        self.machine.expand(&self.state, &mut self.successors);
        self.choices.clear();
        let mut outlook = Outlook::default();
        for (number, firing) in self.successors.firings.iter().enumerate() {
            match firing.outcome {
                Outcome::Done => {}
                Outcome::Excluded => continue,
                Outcome::Failed | Outcome::GuardFailed => {
                    outlook.failed.get_or_insert(*firing);
                    continue;
                }
            }
            outlook.applies = true;
            let next = self.successors.state(number);
            let has_events = recording.has_events(next);
            let idle = match has_events {
                false => next == self.state,
                true => {
                    self.plain.clear();
                    self.plain.extend_from_slice(next);
                    recording.forget_events(&mut self.plain);
                    self.plain == self.state
                }
            };
            outlook.leads_on |= !idle;
            if has_events || !idle {
                self.choices.push((number, taste.weight(firing, idle)));
            }
        }
        outlook
    }

    /// Notes what is wrong with the state, if that is the first thing.
    fn note(&mut self, walk: &mut Walk) {
        if !self.claims || walk.broken.is_some() {
            return;
        }
        let broken = match self.machine.check(&self.state) {
            Check::Broken(property) => Broken::Invariant { property },
            Check::Failed(property) => Broken::Property { property },
            Check::Holds | Check::Excluded => return,
        };
        walk.broken = Some((broken, walk.events.len()));
    }
}

/// One of the choices, by weight.
fn pick(choices: &[(usize, u64)], rng: &mut Rng) -> usize {
    let total: u64 = choices.iter().map(|(_, weight)| weight).sum();
    let mut rest = rng.bits() % total;
    for (number, (_, weight)) in choices.iter().enumerate() {
        match rest.checked_sub(*weight) {
            Some(less) => rest = less,
            None => return number,
        }
    }
    choices.len() - 1
}
