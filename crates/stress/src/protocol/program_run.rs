//! A program run by a protocol: a random walk in which the processors load and store what the
//! program says, in its order, and nothing else.
//!
//! Steps without a load or store are free, whoever makes them: messages, misses, evictions. A step
//! with loads or stores is possible only if each is the next instruction of its thread. Among
//! what is possible, chance decides, by the taste of the run (see `taste`) and by what steps
//! usually lead to (see `rule_effects`). Where nothing has come of it for long, the run goes back to where
//! it was some instructions ago, each time a longer way, and tries on with another taste; so what
//! comes out is one run of the protocol from its start, as if by good luck. If luck does not come
//! within so many steps, the run has not come to an end, which is no verdict about the protocol:
//! it may be stuck, or only rarely do what the program wants.

use std::collections::VecDeque;

use conform::{EventKind, RecordedEvent};
use explore::Deadlock;
use history::Value;
use murphi::machine::Firing;

use super::Protocol;
use super::protocol_state::{Broken, ProtocolState};
use super::rule_effects::{NEUTRAL, NEVER, RuleEffects};
use super::rule_preferences::{Clients, RulePreferences};
use crate::outcome::Outcome;
use crate::program::{Action, Program};
use chance::Rng;

/// How many steps without a load or store are enough to go back.
const PATIENCE: u64 = 200;

/// How many steps a run may have: so many, and so many for each instruction.
const STEPS: u64 = 4_000;
const STEPS_EACH: u64 = 400;

/// How many places to go back to are kept.
const PLACES_KEPT: usize = 1024;

/// What is read where a value is nobody's: no store has it, or one to another address.
const NOBODYS: Value = 0x7fff_0000_0000_0000;

/// What a run of a program came to.
pub(super) struct ProgramRun {
    /// What its reads returned, as far as it came.
    pub(super) outcome: Outcome,
    /// How many instructions of each thread were done.
    pub(super) done: Vec<usize>,
    /// Whether that was all of them.
    pub(super) complete: bool,
    /// What is wrong with the protocol itself, and the steps that led there.
    pub(super) broken: Option<(Broken, Vec<Firing>)>,
}

/// Runs programs.
pub(super) struct ProgramRunner<'a> {
    stand: ProtocolState<'a>,
    rule_effects: &'a RuleEffects,
}

/// The program as a run sees it.
struct ThreadProgress<'p> {
    program: &'p Program,
    /// For each processor the thread that it runs, and for each place its address.
    threads: Vec<Option<usize>>,
    addresses: Vec<u32>,
}

/// A run under way.
struct Run {
    initial: u64,
    /// How many values have entered.
    entered: u64,
    /// The loads and stores so far, each with its thread.
    log: Vec<(usize, RecordedEvent)>,
    /// How many of them each thread has done.
    done: Vec<usize>,
    /// The steps so far.
    path: Vec<Firing>,
    broken: Option<(Broken, Vec<Firing>)>,
}

/// Where a run can go back to.
struct Place {
    state: Vec<u8>,
    entered: u64,
    events: usize,
    steps: usize,
}

impl<'a> ProgramRunner<'a> {
    pub(super) fn new(protocol: &'a Protocol, rule_effects: &'a RuleEffects) -> Self {
        ProgramRunner { stand: ProtocolState::new(protocol), rule_effects }
    }

    /// The run with this number. The program has loads and stores only, and no more threads and
    /// places than the protocol has processors and addresses.
    pub(super) fn follow(&mut self, program: &Program, seed: u64, number: u64) -> ProgramRun {
        let mut rng = Rng::numbered(seed, number);
        let script = self.cast(program, &mut rng);
        let mut run = Run::begin(program);
        let mut back = Backtracking::default();
        let mut taste = RulePreferences::draw(Clients::Swarm, &mut rng);
        let mut led = RunProgress::draw(&mut rng);
        self.start(&mut run, &mut rng);
        let limit = STEPS + STEPS_EACH * program.len() as u64;
        let (mut idle, mut steps) = (0, 0);
        while run.log.len() < program.len() && steps < limit {
            steps += 1;
            idle += 1;
            let fresh = idle < PATIENCE && self.step(&script, &mut run, &taste, led, &mut rng);
            taste.tick(&mut rng);
            if !fresh {
                idle = 0;
                match back.go(run.log.len()) {
                    Some(place) => self.restore(&mut run, place),
                    None => self.start(&mut run, &mut rng),
                }
                taste = RulePreferences::draw(Clients::Swarm, &mut rng);
                led = RunProgress::draw(&mut rng);
            } else if back.events() < run.log.len() {
                idle = 0;
                back.keep(self.place(&run));
            }
        }
        run.end(&script)
    }

    /// Gives the threads processors, and the places addresses.
    fn cast<'p>(&self, program: &'p Program, rng: &mut Rng) -> ThreadProgress<'p> {
        let recording = self.stand.recording();
        let mut processors: Vec<usize> = (0..recording.processors.len()).collect();
        let mut addresses: Vec<u32> = (0..recording.addresses.len() as u32).collect();
        rng.shuffle(&mut processors);
        rng.shuffle(&mut addresses);
        let mut threads = vec![None; processors.len()];
        for (thread, processor) in (0..program.threads.len()).zip(processors) {
            threads[processor] = Some(thread);
        }
        ThreadProgress { program, threads, addresses }
    }

    fn start(&mut self, run: &mut Run, rng: &mut Rng) {
        run.initial = self.stand.start(rng);
        run.go_back(0, 0);
        run.entered = 0;
        self.note(run);
    }

    /// Takes a step that the program allows, if one leads on.
    fn step(
        &mut self,
        script: &ThreadProgress<'_>,
        run: &mut Run,
        taste: &RulePreferences,
        led: RunProgress,
        rng: &mut Rng,
    ) -> bool {
        let recording = self.stand.recording();
        self.stand.offer(run.entered, run.initial);
        let broken = self.stand.look(Deadlock::Stuttering);
        run.note(broken);
        let mut events = Vec::new();
        let parameters = self.stand.parameters();
        self.stand.weigh(|possible, next| {
            let liked = taste.weight(parameters, &possible.firing, false);
            if possible.has_events {
                events.clear();
                recording.read_events(next, &mut events);
                if events.iter().any(|event| event.kind != EventKind::Commit) {
                    let fits = script.allows(run, &events);
                    return if fits { led.eager(liked) } else { 0 };
                }
            }
            let Firing { rule, instance, .. } = possible.firing;
            let wanted = |processor: u32| script.wanted(run, processor);
            let parameters = &parameters[rule as usize];
            led.weight(liked, self.rule_effects.advise(parameters, rule, instance, wanted))
        });
        let Some(chosen) = self.stand.choose(rng) else { return false };
        self.stand.take(chosen);
        run.path.push(chosen.firing);
        run.entered += recording.takes(chosen.firing.rule) as u64;
        self.note(run);
        events.clear();
        recording.take_events(&mut self.stand.state, &mut events);
        for event in events {
            if let Some(thread) = script.thread(&event) {
                run.log.push((thread, event));
                run.done[thread] += 1;
            }
        }
        true
    }

    fn note(&mut self, run: &mut Run) {
        if run.broken.is_none() {
            let broken = self.stand.wrong();
            run.note(broken);
        }
    }

    fn place(&self, run: &Run) -> Place {
        Place {
            state: self.stand.state.clone(),
            entered: run.entered,
            events: run.log.len(),
            steps: run.path.len(),
        }
    }

    fn restore(&mut self, run: &mut Run, place: &Place) {
        self.stand.state.clone_from(&place.state);
        run.entered = place.entered;
        run.go_back(place.events, place.steps);
    }
}

impl ThreadProgress<'_> {
    /// The thread of a load or store.
    fn thread(&self, event: &RecordedEvent) -> Option<usize> {
        let counts = event.kind != EventKind::Commit;
        if counts { self.threads[event.processor as usize] } else { None }
    }

    /// What a processor is to do next.
    fn wanted(&self, run: &Run, processor: u32) -> Option<(EventKind, u32)> {
        let thread = self.threads.get(processor as usize).copied().flatten()?;
        self.instruction(thread, run.done[thread])
    }

    fn instruction(&self, thread: usize, index: usize) -> Option<(EventKind, u32)> {
        let instruction = self.program.threads[thread].get(index)?;
        let address = |place: u32| self.addresses[place as usize];
        match instruction.action {
            Action::Load { place } => Some((EventKind::Load, address(place))),
            Action::Store { place, .. } => Some((EventKind::Store, address(place))),
            _ => None,
        }
    }

    /// Whether the events of a step are what the program says.
    fn allows(&self, run: &Run, events: &[RecordedEvent]) -> bool {
        let counts = |event: &&RecordedEvent| event.kind != EventKind::Commit;
        events.iter().filter(counts).enumerate().all(|(number, event)| {
            let Some(thread) = self.thread(event) else { return false };
            let earlier = events.iter().filter(counts).take(number);
            let more = earlier.filter(|earlier| earlier.processor == event.processor).count();
            self.instruction(thread, run.done[thread] + more) == Some((event.kind, event.address))
        })
    }
}

impl Run {
    fn begin(program: &Program) -> Self {
        Run {
            initial: 0,
            entered: 0,
            log: Vec::with_capacity(program.len()),
            done: vec![0; program.threads.len()],
            path: Vec::new(),
            broken: None,
        }
    }

    fn note(&mut self, broken: Option<Broken>) {
        if let (None, Some(broken)) = (&self.broken, broken) {
            self.broken = Some((broken, self.path.clone()));
        }
    }

    fn go_back(&mut self, events: usize, steps: usize) {
        for (thread, _) in self.log.drain(events..) {
            self.done[thread] -= 1;
        }
        self.path.truncate(steps);
    }

    /// What the run came to, with the values of the program for those of the protocol.
    fn end(self, script: &ThreadProgress<'_>) -> ProgramRun {
        let ThreadProgress { program, addresses, .. } = script;
        let initial = |address: u32| {
            let place = addresses.iter().position(|&other| other == address);
            place.and_then(|place| program.places.get(place)).map_or(0, |place| place.initial)
        };
        // By value of the protocol: where it was stored, and what the program calls it.
        let mut stored: Vec<(u64, u32, Value)> = Vec::new();
        let mut index = vec![0; program.threads.len()];
        for &(thread, event) in &self.log {
            if let Action::Store { value, .. } = program.threads[thread][index[thread]].action {
                stored.push((event.value, event.address, value));
            }
            index[thread] += 1;
        }
        stored.sort_unstable();
        let named = |event: &RecordedEvent| {
            let at =
                stored.binary_search_by_key(&(event.value, event.address), |&(v, a, _)| (v, a));
            match at {
                Ok(at) => stored[at].2,
                Err(_) if event.value == self.initial => initial(event.address),
                Err(_) => NOBODYS + event.value,
            }
        };
        let mut reads = vec![Vec::new(); program.threads.len()];
        for (thread, event) in &self.log {
            if event.kind == EventKind::Load {
                reads[*thread].push(named(event));
            }
        }
        let complete = self.log.len() == program.len();
        let outcome = Outcome { reads: reads.concat(), finals: None };
        ProgramRun { outcome, done: self.done, complete, broken: self.broken }
    }
}

/// How a run goes for what the program wants.
#[derive(Clone, Copy)]
struct RunProgress {
    /// How much likelier a load or store of the program is, as a power of two.
    eager: u32,
    /// Whether what usually leads there is preferred, or only what never does is avoided.
    led: bool,
}

impl RunProgress {
    fn draw(rng: &mut Rng) -> Self {
        RunProgress { eager: [0, 2, 4, 8][rng.below(4)], led: rng.percent(75) }
    }

    fn eager(self, liked: u64) -> u64 {
        (liked * NEUTRAL) << self.eager
    }

    fn weight(self, liked: u64, advice: u64) -> u64 {
        let advice = if self.led || advice == NEVER { advice } else { NEUTRAL };
        liked * advice
    }
}

/// Where a run has been, and how far it goes back next time.
#[derive(Default)]
struct Backtracking {
    places: VecDeque<Place>,
    /// The most loads and stores that a run had when it went back, and how often since.
    most: usize,
    times: u32,
}

impl Backtracking {
    /// The loads and stores at the last place.
    fn events(&self) -> usize {
        self.places.back().map_or(0, |place| place.events)
    }

    fn keep(&mut self, place: Place) {
        if self.places.len() == PLACES_KEPT {
            self.places.pop_front();
        }
        self.places.push_back(place);
    }

    /// A place to go back to: the last one at first, then twice as far each time, until the run
    /// has come further than ever before. None where the start is.
    fn go(&mut self, events: usize) -> Option<&Place> {
        if events > self.most {
            (self.most, self.times) = (events, 0);
        }
        let distance = match self.times {
            0 => 0,
            times => 1usize << (times - 1).min(20),
        };
        self.times += 1;
        let left = self.places.len().saturating_sub(distance);
        self.places.truncate(left);
        if left == 0 {
            (self.most, self.times) = (0, 0);
        }
        self.places.back()
    }
}
