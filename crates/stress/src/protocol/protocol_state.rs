//! A protocol in one of its states: which steps are possible, and what is wrong with the protocol
//! itself. Free walks and programs both go on from here. Cost of a look: running all steps that
//! are possible.

use conform::Recording;
use explore::Deadlock;
use murphi::ir::PropertyKind;
use murphi::machine::{Check, Firing, Machine, Outcome, Successors};

use super::Protocol;
use super::parameters::Parameters;
use chance::Rng;

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

/// A protocol in a state.
pub(super) struct ProtocolState<'a> {
    protocol: &'a Protocol,
    machine: Box<dyn Machine>,
    /// Where it is.
    pub(super) state: Vec<u8>,
    successors: Successors,
    /// What is possible from there, since the last look.
    possible: Vec<EnabledStep>,
    /// Some of it, each with a weight: what is to be chosen from.
    choices: Vec<(usize, u64)>,
    /// Room for a state without events.
    plain: Vec<u8>,
    /// Whether there is anything to look at in a state, and whether that may exclude it.
    claims: bool,
    assumptions: bool,
}

/// A step that is possible. Those that neither change anything nor have an event are none.
#[derive(Clone, Copy)]
pub(super) struct EnabledStep {
    /// The how-manieth of the successors it leads to.
    number: usize,
    pub(super) firing: Firing,
    pub(super) has_events: bool,
    /// It changes nothing.
    pub(super) idle: bool,
}

impl<'a> ProtocolState<'a> {
    pub(super) fn new(protocol: &'a Protocol) -> Self {
        let model = protocol.recording.interpreter.model();
        let size = protocol.recording.interpreter.layout().size as usize;
        let has = |kind: PropertyKind| model.properties.iter().any(|p| p.kind == kind);
        ProtocolState {
            protocol,
            machine: protocol.machine(),
            state: Vec::new(),
            successors: Successors::new(size),
            possible: Vec::new(),
            choices: Vec::new(),
            plain: Vec::new(),
            claims: has(PropertyKind::Invariant),
            assumptions: has(PropertyKind::Assumption),
        }
    }

    pub(super) fn recording(&self) -> &'a Recording {
        &self.protocol.recording
    }

    pub(super) fn parameters(&self) -> &'a [Parameters] {
        &self.protocol.parameters
    }

    /// Goes to a random start state; gives what every address holds there.
    pub(super) fn start(&mut self, rng: &mut Rng) -> u64 {
        self.start_at(rng.below(self.starts()))
    }

    /// How many start states there are.
    pub(super) fn starts(&self) -> usize {
        self.protocol.starts.len()
    }

    /// Goes to the start state with this number; gives what every address holds there.
    pub(super) fn start_at(&mut self, number: usize) -> u64 {
        let (start, initial) = &self.protocol.starts[number];
        self.state.clone_from(start);
        *initial
    }

    /// Offers values that have not entered yet, every value but the one that was there at first;
    /// from the beginning when there are no more.
    pub(super) fn offer(&mut self, entered: u64, initial: u64) {
        let recording = &self.protocol.recording;
        for number in 0..recording.offers() {
            let fresh = (entered + number as u64) % (recording.values - 1);
            let value = if fresh >= initial { fresh + 1 } else { fresh };
            recording.offer(&mut self.state, number, value);
        }
    }

    /// Finds the possible steps. Gives what that shows to be wrong, if anything.
    pub(super) fn look(&mut self, deadlock: Deadlock) -> Option<Broken> {
        let recording = &self.protocol.recording;
        self.successors.clear();
        self.machine.expand(&self.state, &mut self.successors);
        self.possible.clear();
        let (mut applies, mut leads_on, mut failed) = (false, false, None);
        for (number, &firing) in self.successors.firings.iter().enumerate() {
            match firing.outcome {
                Outcome::Done => {}
                Outcome::Excluded => continue,
                Outcome::Failed | Outcome::GuardFailed => {
                    failed.get_or_insert(firing);
                    continue;
                }
            }
            applies = true;
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
            leads_on |= !idle;
            if has_events || !idle {
                self.possible.push(EnabledStep { number, firing, has_events, idle });
            }
        }
        let stuck = match deadlock {
            Deadlock::Off => false,
            Deadlock::Stuck => !applies,
            Deadlock::Stuttering => !leads_on,
        };
        let failed = failed.map(|Firing { rule, instance, .. }| Broken::Rule {
            rule,
            instance,
            state: self.state.clone(),
        });
        failed.or(stuck.then_some(Broken::Deadlock))
    }

    /// Has the possible steps chosen from by these weights, which are given the state that a step
    /// leads to, and by what rules are favoured; 0 for none.
    pub(super) fn weigh(&mut self, mut weight: impl FnMut(&EnabledStep, &[u8]) -> u64) {
        self.choices.clear();
        for (number, possible) in self.possible.iter().enumerate() {
            let weight = weight(possible, self.successors.state(possible.number));
            let weight = self.protocol.favour.weigh(possible.firing.rule, weight);
            if weight > 0 {
                self.choices.push((number, weight));
            }
        }
    }

    /// Chooses a step, if one leads on. It is not taken yet.
    pub(super) fn choose(&mut self, rng: &mut Rng) -> Option<EnabledStep> {
        while !self.choices.is_empty() {
            let at = pick(&self.choices, rng);
            let (choice, _) = self.choices.swap_remove(at);
            let possible = self.possible[choice];
            let next = self.successors.state(possible.number);
            if !self.assumptions || self.machine.check(next) != Check::Excluded {
                return Some(possible);
            }
        }
        None
    }

    /// The first of the possible steps that is as wanted: by its rule, its instance, and the state
    /// that it is taken in.
    pub(super) fn find(&self, wanted: impl Fn(u32, u64, &[u8]) -> bool) -> Option<EnabledStep> {
        let is_wanted = |possible: &&EnabledStep| {
            let Firing { rule, instance, .. } = possible.firing;
            wanted(rule, instance, &self.state)
        };
        self.possible.iter().find(is_wanted).copied()
    }

    /// Takes a step.
    pub(super) fn take(&mut self, possible: EnabledStep) {
        self.state.copy_from_slice(self.successors.state(possible.number));
    }

    /// What is wrong with the state, if anything.
    pub(super) fn wrong(&mut self) -> Option<Broken> {
        if !self.claims {
            return None;
        }
        match self.machine.check(&self.state) {
            Check::Broken(property) => Some(Broken::Invariant { property }),
            Check::Failed(property) => Some(Broken::Property { property }),
            Check::Holds | Check::Excluded => None,
        }
    }
}

/// One of the choices, by weight.
fn pick(choices: &[(usize, u64)], rng: &mut Rng) -> usize {
    let total: u128 = choices.iter().map(|(_, weight)| u128::from(*weight)).sum();
    let mut rest = u128::from(rng.bits()) % total;
    for (number, (_, weight)) in choices.iter().enumerate() {
        match rest.checked_sub(u128::from(*weight)) {
            Some(less) => rest = less,
            None => return number,
        }
    }
    choices.len() - 1
}
