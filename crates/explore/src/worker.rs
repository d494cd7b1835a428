//! A worker of a breadth-first search: one thread with its part of the states.
//!
//! It expands its own part of a level and passes the successors on to their owners (see
//! `exchange.rs`); between chunks it takes in what was sent to it. A level ends for a worker when
//! every other has sent the message that nothing more follows; then all meet and learn how large the
//! next level is. In one process, small levels are searched by one thread for all workers (see
//! `levels.rs`).

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

use murphi::machine::{Check, Machine, Outcome};
use serde::{Deserialize, Serialize};

use crate::System;
use crate::disk::{Checkpoints, Manifest, Part, PartProgress};
use crate::exchange::{Exchange, exchanges};
use crate::finding::{Finding, Kind};
use crate::growth::{Depths, Growth, Size};
use crate::hash::Partition;
use crate::link::{Link, Round, gather};
use crate::memory::Meter;
use crate::options::{Deadlock, Options};
use crate::reduction::Reduction;
use crate::rendezvous::Broken;
use crate::runner::{Portion, Rules, Runner};
use crate::storage::Storage;
use crate::store::{Store, StoreError};
use crate::watch::Watch;

/// What all workers of a process look at.
pub(crate) struct Shared<'a> {
    /// 0 while nothing is wrong, 1 once a finding makes the next level unnecessary, 2 once it
    /// makes expanding unnecessary.
    pub(crate) found: AtomicU8,
    /// How many states with a broken property were passed over.
    passed_over: AtomicU64,
    pub(crate) checkpoints: Option<&'a Checkpoints>,
}

impl<'a> Shared<'a> {
    pub(crate) fn new(checkpoints: Option<&'a Checkpoints>) -> Self {
        Shared { found: AtomicU8::new(0), passed_over: AtomicU64::new(0), checkpoints }
    }
}

/// The other workers, as one of them sees them.
#[derive(Clone, Copy)]
pub(crate) struct Peers<'a> {
    pub(crate) shared: &'a Shared<'a>,
    pub(crate) link: &'a dyn Link,
    /// Bytes of a full message.
    pub(crate) message_size: usize,
}

impl<'a> Peers<'a> {
    pub(crate) fn new(shared: &'a Shared<'a>, link: &'a dyn Link, stored_size: usize) -> Self {
        Peers { shared, link, message_size: link.message_size(stored_size + 1) }
    }
}

/// A worker.
pub(crate) struct Worker<'a, M, C: Storage, R: Reduction, S> {
    bound: u32,
    /// How many states are enough, and how many all workers have in this level and before it.
    most_states: u64,
    all_states: u64,
    /// What all workers together had done before this level.
    pub(crate) established: Round,
    pub(crate) watch: &'a Watch,
    meter: &'a Meter,
    pub(crate) runner: Runner<'a, M, C, R>,
    pub(crate) exchange: Exchange<'a, S>,
    pub(crate) tally: Tally,
    /// The counts before this level, for when it turns out to be the last.
    pub(crate) before: Count,
    /// States in this level and before it.
    pub(crate) through_level: u64,
    /// Whether a level was begun.
    pub(crate) begun: bool,
    /// The level that is being expanded, and the last one with a state that counts.
    pub(crate) level: u32,
    pub(crate) deepest: u32,
    /// Whether the last level was not expanded because of the bound.
    pub(crate) bounded: bool,
    pass_over: usize,
    /// What was passed over with its level: the nearest and least, as many as are asked for.
    pub(crate) passed_over: BTreeSet<(u32, Finding)>,
    /// How the search of all workers grew, kept by the first of each process.
    pub(crate) depths: Depths,
    pub(crate) growth: Growth,
    /// The depths before this level, for a checkpoint.
    earlier_depths: Depths,
}

/// What a worker counts.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Count {
    /// States that were stored.
    pub(crate) stored: u64,
    /// Those of them that an assumption excludes.
    pub(crate) excluded: u64,
    /// States that were looked at and count.
    pub(crate) looked_at: u64,
    pub(crate) fired: u64,
    pub(crate) firings: Vec<u64>,
}

/// What a worker has counted and found.
pub(crate) struct Tally {
    deadlock: Deadlock,
    pub(crate) count: Count,
    pub(crate) finding: Option<Finding>,
}

/// Makes the workers of this process, the first of which has the number `first`.
pub(crate) fn workers<'a, M, F, C, R, S>(
    options: &Options,
    system: &System<'a, F, C, R>,
    stores: Vec<S>,
    (partition, first): (Partition, usize),
    (watch, meter): (&'a Watch, &'a Meter),
) -> Vec<Worker<'a, M, C, R, S>>
where
    M: Machine,
    F: Fn() -> M,
    C: Storage,
    R: Reduction,
{
    let count = Count { firings: vec![0; system.rules], ..Count::default() };
    let worker = |exchange| Worker {
        bound: options.depth.unwrap_or(u32::MAX),
        most_states: options.states.unwrap_or(u64::MAX),
        all_states: 0,
        established: Round::default(),
        watch,
        meter,
        runner: Runner::obeying(system, watch.halt()),
        exchange,
        tally: Tally { deadlock: options.deadlock, count: count.clone(), finding: None },
        before: count.clone(),
        through_level: 0,
        begun: false,
        level: 0,
        deepest: 0,
        bounded: false,
        pass_over: options.pass_over,
        passed_over: BTreeSet::new(),
        depths: Depths::default(),
        growth: Growth::default(),
        earlier_depths: Depths::default(),
    };
    let exchanges = exchanges(stores, (partition, first), system.codec.stored_size(), watch);
    exchanges.into_iter().map(worker).collect()
}

impl<'a, M: Machine, C: Storage, R: Reduction, S: Store> Worker<'a, M, C, R, S> {
    /// Goes on from where a search stood: the first worker takes over what was counted.
    pub(crate) fn resume(&mut self, begun: &Manifest) {
        let count = begun.count();
        (self.level, self.all_states) = (begun.level, count.stored);
        if self.exchange.here == 0 {
            self.depths.clone_from(&begun.depths);
        }
        if self.exchange.number == 0 {
            (self.through_level, self.deepest) = (count.stored, begun.deepest);
            self.tally.count.clone_from(&count);
            self.before = count;
        }
    }

    /// Level after level.
    pub(crate) fn run(&mut self, peers: &Peers<'_>) -> Result<(), Broken> {
        while self.advance(peers)?.is_some() {
            self.level(peers)?;
            if self.bounded {
                break;
            }
        }
        self.conclude();
        Ok(())
    }

    /// Goes to the next level together with the others. Says how many states it has; nothing if it is
    /// not to be searched.
    pub(crate) fn advance(&mut self, peers: &Peers<'_>) -> Result<Option<u64>, Broken> {
        let level = self.next_level();
        let states = self.close_level();
        let all = peers.link.meet(level, self.round(peers.shared, states))?;
        self.enter(peers, all, states)
    }

    /// The level that comes next.
    pub(crate) fn next_level(&self) -> u32 {
        self.level + u32::from(self.begun)
    }

    /// Ends the level being built. Says how many states of it this worker has.
    pub(crate) fn close_level(&mut self) -> u64 {
        let states = match self.watch.stopped() {
            true => None,
            false => self.exchange.store.next_level(self.watch).map(Some).unwrap_or_else(|error| {
                self.watch.fail(error);
                None
            }),
        };
        if let Some(states) = states {
            self.exchange.stored = self.through_level + states;
        }
        states.unwrap_or_default()
    }

    /// What the others have to know before the next level, of which this worker has so many states.
    pub(crate) fn round(&self, shared: &Shared<'_>, states: u64) -> Round {
        let is_first = self.exchange.number == 0;
        let due = |checkpoints: &Checkpoints| checkpoints.keeper().is_due();
        Round {
            states,
            excluded: self.tally.count.excluded,
            fired: self.tally.count.fired,
            // All workers of a process count these together.
            passed_over: match self.exchange.here {
                0 => shared.passed_over.load(Relaxed),
                _ => 0,
            },
            stop: self.watch.stopped() || shared.found.load(Relaxed) != 0,
            save: is_first && shared.checkpoints.is_some_and(due),
        }
    }

    /// Enters the next level, of which all workers have reported and this one has so many states. Says
    /// how many states all have; nothing if it is not to be searched.
    pub(crate) fn enter(
        &mut self,
        peers: &Peers<'_>,
        all: Round,
        states: u64,
    ) -> Result<Option<u64>, Broken> {
        let level = self.next_level();
        if self.exchange.here == 0 {
            self.earlier_depths.clone_from(&self.depths);
            self.note_growth(level, &all);
        }
        self.all_states += all.states;
        self.established = Round { states: self.all_states, ..all };
        let enough = self.pass_over > 0 && all.passed_over >= self.pass_over as u64;
        if all.states == 0 || all.stop || enough {
            return Ok(None);
        }
        self.level = level;
        self.begun = true;
        peers.link.enter_level(level);
        self.before.clone_from(&self.tally.count);
        self.before.stored = self.through_level;
        self.through_level += states;
        if all.save {
            self.save(peers)?;
        }
        if self.exchange.here == 0 {
            self.watch.depth.store(level, Relaxed);
        }
        self.bounded = level == self.bound || self.all_states >= self.most_states;
        Ok(Some(all.states))
    }

    /// Ends the search of this worker.
    pub(crate) fn conclude(&mut self) {
        self.tally.count.stored = self.exchange.stored;
    }

    /// Keeps how many states there are before a level and in it.
    fn note_growth(&mut self, level: u32, all: &Round) {
        let before = self.all_states - all.excluded;
        match self.depths.states.is_empty() {
            true => self.depths.before = before,
            false => self.depths.adjust(before, level),
        }
        if all.states > 0 {
            self.depths.push(level, all.states);
        }
        let size = Size { states: before + all.states, bytes: self.meter.used() };
        self.growth.push(self.watch.elapsed().as_secs_f64(), size);
    }

    /// Writes a checkpoint of this level, together with the other workers.
    #[cold]
    pub(crate) fn save(&mut self, peers: &Peers<'_>) -> Result<(), Broken> {
        let Some(checkpoints) = peers.shared.checkpoints else { return Ok(()) };
        let own = self.part(checkpoints).map_err(|error| self.watch.fail(error)).ok();
        let parts: Option<Vec<Part>> = gather(peers.link, &own)?.into_iter().collect();
        if self.exchange.number == 0
            && let Some(parts) = parts
            && let Err(error) = checkpoints.commit(self.level, parts)
        {
            // The one before is still there, and named in the report.
            self.watch.fail(error);
        }
        // Nobody writes files before those that are not needed any more are gone.
        gather(peers.link, &())?;
        Ok(())
    }

    /// Writes a checkpoint of the level in which a search was ended, unless there is one.
    pub(crate) fn save_last(&mut self, peers: &Peers<'_>) -> Result<(), Broken> {
        let Some(checkpoints) = peers.shared.checkpoints else { return Ok(()) };
        // The first process knows what was written.
        let is_first = self.exchange.number == 0;
        let own = is_first && self.begun && checkpoints.keeper().level() != Some(self.level);
        match gather(peers.link, &own)?.contains(&true) {
            true => self.save(peers),
            false => Ok(()),
        }
    }

    /// What a checkpoint of this level needs of this worker.
    pub(crate) fn part(&mut self, checkpoints: &Checkpoints) -> Result<Part, StoreError> {
        let runs = self.exchange.store.persist(self.level, self.watch)?;
        let progress = PartProgress {
            count: self.before.clone(),
            deepest: self.deepest,
            covered: self.runner.machine.covered().to_vec(),
            depths: (self.exchange.number == 0).then(|| self.earlier_depths.clone()),
        };
        Ok(checkpoints.part(progress, runs))
    }

    /// Searches this worker's part of a level.
    pub(crate) fn level(&mut self, peers: &Peers<'_>) -> Result<(), Broken> {
        let mut states = Vec::new();
        let (chunk, size) = (self.exchange.chunk, self.exchange.packed_size);
        while !self.watch.stopped() {
            states.clear();
            let read = self.exchange.store.read(chunk, &mut states).unwrap_or_else(|error| {
                self.watch.fail(error);
                0
            });
            if read == 0 {
                break;
            }
            for state in 0..read {
                self.visit(&states[state * size..(state + 1) * size], peers)?;
            }
            self.exchange.take_in(peers)?;
            self.publish();
        }
        self.exchange.end_level(peers)?;
        self.publish();
        Ok(())
    }

    /// Looks at a state and expands it.
    #[inline(always)]
    fn visit(&mut self, packed: &[u8], peers: &Peers<'_>) -> Result<(), Broken> {
        self.runner.load(packed);
        let check = self.runner.check();
        if self.watch.stopped() {
            // The look may have been cut short.
            return Ok(());
        }
        match check {
            Check::Holds => {}
            Check::Excluded => {
                self.tally.count.excluded += 1;
                return Ok(());
            }
            Check::Broken(property) if self.pass_over > 0 => {
                self.pass(peers, packed, property);
                return Ok(());
            }
            Check::Broken(property) => {
                let state = (self.runner.packed(packed), packed);
                self.tally.note(peers, Kind::Broken, state, property, 0);
            }
            Check::Failed(property) => {
                let state = (self.runner.packed(packed), packed);
                self.tally.note(peers, Kind::PropertyFailed, state, property, 0);
            }
        }
        self.tally.count.looked_at += 1;
        self.deepest = self.level;
        if self.bounded || peers.shared.found.load(Relaxed) == 2 {
            return Ok(());
        }
        self.expand(packed, peers)
    }

    #[inline(always)]
    fn expand(&mut self, packed: &[u8], peers: &Peers<'_>) -> Result<(), Broken> {
        let Worker { runner, exchange, tally, watch, .. } = self;
        let hint = runner.hint(packed);
        let mut leaves = tally.deadlock == Deadlock::Off;
        let mut result = Ok(());
        runner.run(Rules::Applying, |portion| {
            // What was cut short means nothing.
            if result.is_ok() && !watch.stopped() {
                let took = tally.take(portion, exchange, packed, hint, peers);
                leaves |= *took.as_ref().unwrap_or(&true);
                if let Err(broken) = took {
                    watch.halt().store(true, Relaxed);
                    result = Err(broken);
                }
            }
        });
        if !leaves && !watch.stopped() {
            tally.note(peers, Kind::Deadlock, (runner.packed(packed), packed), 0, 0);
        }
        if let Err(error) = runner.count(self.meter) {
            watch.fail(error);
        }
        result
    }

    /// Keeps a broken property, and goes on.
    #[cold]
    fn pass(&mut self, peers: &Peers<'_>, packed: &[u8], property: u32) {
        self.tally.count.looked_at += 1;
        self.deepest = self.level;
        let (packed, stored) = (self.runner.packed(packed), packed.to_vec());
        let finding = Finding { kind: Kind::Broken, packed, rule: property, instance: 0, stored };
        self.passed_over.insert((self.level, finding));
        if self.passed_over.len() > self.pass_over {
            self.passed_over.pop_last();
        }
        peers.shared.passed_over.fetch_add(1, Relaxed);
    }

    /// Takes in what others have sent.
    pub(crate) fn take_in(&mut self, peers: &Peers<'_>) -> Result<(), Broken> {
        self.exchange.take_in(peers)?;
        self.publish();
        Ok(())
    }

    fn publish(&self) {
        let counters = &self.watch.counters[self.exchange.here];
        let count = &self.tally.count;
        counters.states.store(self.exchange.stored - count.excluded, Relaxed);
        counters.fired.store(count.fired, Relaxed);
        counters.expanded.store(count.looked_at, Relaxed);
    }
}

impl Tally {
    /// Passes the successors of a portion on to their owners, and keeps what is wrong. Says
    /// whether the state `packed` can be left.
    #[inline(always)]
    fn take<C: Storage, R: Reduction, S: Store>(
        &mut self,
        portion: &mut Portion<'_, '_, C, R>,
        exchange: &mut Exchange<'_, S>,
        packed: &[u8],
        hint: u8,
        peers: &Peers<'_>,
    ) -> Result<bool, Broken> {
        let mut leaves = false;
        for number in 0..portion.firings().len() {
            let firing = portion.firings()[number];
            let kind = match firing.outcome {
                Outcome::Done => {
                    self.count.fired += 1;
                    self.count.firings[firing.rule as usize] += 1;
                    // Where deadlocks do not matter, nobody asks.
                    let asks = !leaves && self.deadlock != Deadlock::Off;
                    let store = |room: &mut [u8]| portion.store(number, packed, asks, room);
                    leaves |= exchange.add(hint, store, peers)?;
                    leaves |= self.deadlock == Deadlock::Stuck;
                    continue;
                }
                Outcome::Excluded => continue,
                Outcome::Failed => Kind::RuleFailed,
                Outcome::GuardFailed => Kind::GuardFailed,
            };
            leaves = true;
            let state = (portion.packed(packed), packed);
            self.note(peers, kind, state, firing.rule, firing.instance);
        }
        Ok(leaves)
    }

    /// Keeps a finding at a state, packed and as it is stored, and informs the others what is no
    /// longer necessary.
    #[cold]
    fn note(
        &mut self,
        peers: &Peers<'_>,
        kind: Kind,
        (packed, stored): (Vec<u8>, &[u8]),
        rule: u32,
        instance: u64,
    ) {
        let stored = stored.to_vec();
        Finding { kind, packed, rule, instance, stored }.keep_least(&mut self.finding);
        peers.shared.found.fetch_max(1 + u8::from(kind.is_property()), Relaxed);
    }
}
