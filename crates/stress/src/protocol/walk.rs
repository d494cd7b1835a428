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
use murphi::machine::Firing;

use super::Protocol;
use super::protocol_state::{Broken, ProtocolState};
use super::rule_preferences::{Clients, RulePreferences};
use chance::Rng;

/// How many steps without a load or a store end a walk. A store that a wrong protocol commits over
/// and over is nothing that goes on.
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

impl Walk {
    /// One that has not taken a step yet, with room for so many events.
    pub(super) fn begin(number: u64, initial: u64, events: usize) -> Self {
        Walk {
            number,
            initial,
            events: Vec::with_capacity(events),
            length: 0,
            steps: Vec::new(),
            ending: Ending::Complete,
            broken: None,
        }
    }
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
    /// There were only steps without a load or a store for long.
    Idle,
}

/// Walks a protocol.
pub struct Walker<'a> {
    pub(super) stand: ProtocolState<'a>,
}

impl<'a> Walker<'a> {
    pub(super) fn new(protocol: &'a Protocol) -> Self {
        Walker { stand: ProtocolState::new(protocol) }
    }

    /// Takes the walk with this number.
    pub fn walk(&mut self, plan: &Plan, number: u64) -> Walk {
        let mut rng = Rng::numbered(plan.seed, number);
        let mut taste = RulePreferences::draw(plan.clients, &mut rng);
        let recording = self.stand.recording();
        let initial = self.stand.start(&mut rng);
        let mut walk = Walk::begin(number, initial, plan.operations + 8);
        recording.take_events(&mut self.stand.state, &mut walk.events);
        self.note(&mut walk);
        let mut operations = walk.events.len();
        let (mut entered, mut idle) = (0, 0);
        while operations < plan.operations && idle < PATIENCE {
            self.stand.offer(entered, walk.initial);
            let Some(firing) = self.step(plan, &taste, &mut rng, &mut walk) else {
                walk.ending = Ending::Stuck;
                return walk;
            };
            taste.tick(&mut rng);
            entered += recording.takes(firing.rule) as u64;
            let before = walk.events.len();
            recording.take_events(&mut self.stand.state, &mut walk.events);
            let new = walk.events[before..].iter();
            let new = new.filter(|event| event.kind != EventKind::Commit).count();
            operations += new;
            idle = if new > 0 { 0 } else { idle + 1 };
        }
        if operations < plan.operations {
            walk.ending = Ending::Idle;
        }
        walk
    }

    /// Takes a step, if one leads on.
    fn step(
        &mut self,
        plan: &Plan,
        taste: &RulePreferences,
        rng: &mut Rng,
        walk: &mut Walk,
    ) -> Option<Firing> {
        let broken = self.stand.look(plan.deadlock);
        if walk.broken.is_none() {
            walk.broken = broken.map(|broken| (broken, walk.events.len()));
        }
        let parameters = self.stand.parameters();
        self.stand.weigh(|possible, _| taste.weight(parameters, &possible.firing, possible.idle));
        let chosen = self.stand.choose(rng)?;
        let Firing { rule, instance, .. } = chosen.firing;
        if plan.steps {
            let from = self.stand.state.clone();
            walk.steps.push(Step { rule, instance, from, events: walk.events.len() });
        }
        self.stand.take(chosen);
        walk.length += 1;
        self.note(walk);
        Some(chosen.firing)
    }

    /// Notes what is wrong with the state, if that is the first thing.
    fn note(&mut self, walk: &mut Walk) {
        if walk.broken.is_none() {
            walk.broken = self.stand.wrong().map(|broken| (broken, walk.events.len()));
        }
    }
}
