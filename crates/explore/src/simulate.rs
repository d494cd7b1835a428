//! Random simulation: walks through the states, without remembering any.
//!
//! A walk starts in a random start state and follows random rules, each with the same probability
//! among those that change the state, until it has its length or cannot go on. Walk i of seed S
//! draws from a generator seeded by (S, i), and walks are counted in the order of their numbers
//! until the steps are used up: so the answer does not depend on the number of threads. The first
//! walk that finds something wrong wins, and is walked once more to write it down; nothing else is
//! kept. States are walked through as they are: there is nothing to canonicalise.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use chance::Rng;
use murphi::machine::{Check, Firing, Machine, Outcome};

use crate::finding::{Finding, Kind};
use crate::memory::Meter;
use crate::options::{Deadlock, Options};
use crate::pack::Codec;
use crate::reduction::Reduction;
use crate::result::{Exploration, Reason, Step, Verdict, ViolatingRun};
use crate::runner::{Rules, Runner};
use crate::store::StoreError;
use crate::watch::{Caller, Watch};
use crate::{MOST_THREADS, System};

/// How much to walk.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    /// All walks together.
    pub(crate) steps: u64,
    pub(crate) seed: u64,
    /// One walk at most.
    pub(crate) length: u64,
}

/// Random simulation.
pub(crate) fn explore<M, F, C, R>(
    plan: Plan,
    system: &System<'_, F, C, R>,
    caller: &mut Caller,
) -> Exploration
where
    M: Machine,
    F: Fn() -> M + Sync,
    C: Codec,
    R: Reduction,
{
    let started = Instant::now();
    let options = caller.options;
    let (threads, meter) = (options.threads.clamp(1, MOST_THREADS), Meter::new(None));
    let watch = Watch::new(threads, started);
    let length = plan.length.clamp(1, u64::from(options.depth.unwrap_or(u32::MAX)).max(1));
    let plan = Plan { length, ..plan };
    let book = Mutex::new(Book::new(plan, system.rules));
    std::thread::scope(|scope| {
        for number in 0..threads {
            let (watch, book) = (&watch, &book);
            let walker = Walker::new(options, system, watch);
            scope.spawn(move || {
                let _ended = watch.worker();
                walker.work(plan, number, book);
            });
        }
        watch.watch(caller, &meter);
    });
    let book = book.into_inner().unwrap_or_else(PoisonError::into_inner);
    // To be walked once more, whatever ended the others.
    let undisturbed = Watch::new(1, started);
    let mut walker = Walker::new(options, system, &undisturbed);
    let mut found = book.finish(plan, &mut walker, watch.reason().unwrap_or(Reason::Simulated));
    found.seconds = started.elapsed().as_secs_f64();
    found
}

/// What one walk did.
struct Walk {
    steps: u64,
    firings: Vec<u64>,
    finding: Option<Finding>,
    /// It was ended by a reason to stop.
    stopped: bool,
}

/// The walks so far, counted in order.
struct Book {
    steps: u64,
    /// The next walk to be walked, and the next to be counted.
    next: u64,
    counted: u64,
    /// Walks that wait for one before them.
    waiting: BTreeMap<u64, Walk>,
    found: Exploration,
    /// For each property, the first walk in which it was covered.
    covered: Vec<u64>,
    finding: Option<Finding>,
    /// The last walk has only so many steps left.
    rest: Option<u64>,
    done: bool,
}

impl Book {
    fn new(plan: Plan, rules: usize) -> Self {
        Book {
            steps: plan.steps,
            next: 0,
            counted: 0,
            waiting: BTreeMap::new(),
            found: Exploration::nothing(rules),
            covered: Vec::new(),
            finding: None,
            rest: None,
            done: plan.steps == 0,
        }
    }

    /// Counts what can be counted in order.
    fn count(&mut self) {
        while !self.done {
            let Some(walk) = self.waiting.remove(&self.counted) else {
                return;
            };
            let left = self.steps - self.found.rules_fired;
            if walk.steps > left {
                self.rest = Some(left);
                self.done = true;
                return;
            }
            self.add(&walk);
            self.counted += 1;
            // A walk of no steps at all would repeat for ever: there is no way out of the start.
            let stuck = self.found.rules_fired == 0 && self.counted >= 1000;
            self.done |= walk.stopped || self.finding.is_some() || walk.steps == left || stuck;
        }
    }

    fn add(&mut self, walk: &Walk) {
        self.found.states += walk.steps + 1;
        self.found.rules_fired += walk.steps;
        self.found.depth = self.found.depth.max(walk.steps as u32);
        for (sum, firings) in self.found.firings.iter_mut().zip(&walk.firings) {
            *sum += firings;
        }
        self.finding.clone_from(&walk.finding);
    }

    /// Notes what a walk has covered.
    fn cover(&mut self, number: u64, covered: &[bool]) {
        self.covered.resize(self.covered.len().max(covered.len()), u64::MAX);
        for (first, _) in self.covered.iter_mut().zip(covered).filter(|(_, covered)| **covered) {
            *first = number.min(*first);
        }
    }

    fn finish<M: Machine, C: Codec, R: Reduction>(
        mut self,
        plan: Plan,
        walker: &mut Walker<'_, M, C, R>,
        reason: Reason,
    ) -> Exploration {
        let mut last = self.counted.saturating_sub(1);
        if let Some(rest) = self.rest {
            let walk = walker.walk(plan.seed, self.counted, rest, None);
            self.add(&walk);
            last = self.counted;
        }
        let whole = self.counted;
        self.found.covered = self.covered.iter().map(|&first| first < whole).collect();
        let covered = walker.runner.machine.covered();
        self.found.covered.resize(covered.len(), false);
        for (any, &covered) in self.found.covered.iter_mut().zip(covered) {
            *any |= covered;
        }
        self.found.verdict = Verdict::Undecided(reason);
        if let Some(finding) = self.finding {
            let mut steps = Vec::new();
            let length = self.rest.unwrap_or(plan.length);
            walker.walk(plan.seed, last, length, Some(&mut steps));
            let violation = finding.violation(finding.instance);
            self.found.verdict = Verdict::Broken(ViolatingRun { violation, steps });
        }
        self.found
    }
}

fn lock(book: &Mutex<Book>) -> MutexGuard<'_, Book> {
    book.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A machine that walks.
struct Walker<'a, M, C: Codec, R: Reduction> {
    runner: Runner<'a, M, C, R>,
    deadlock: Deadlock,
    /// Bytes that successors may take.
    memory: usize,
    watch: &'a Watch,
    rules: usize,
    /// Successors to choose from.
    choices: Vec<usize>,
}

impl<'a, M: Machine, C: Codec, R: Reduction> Walker<'a, M, C, R> {
    fn new<F: Fn() -> M>(
        options: &Options,
        system: &System<'a, F, C, R>,
        watch: &'a Watch,
    ) -> Self {
        let (runner, rules) = (Runner::obeying(system, watch.halt()), system.rules);
        let threads = options.threads.clamp(1, MOST_THREADS);
        let memory = options.memory.map_or(usize::MAX, |bytes| bytes as usize / threads);
        Walker { runner, deadlock: options.deadlock, memory, watch, rules, choices: Vec::new() }
    }

    /// Runs rules; a walk chooses among all that they lead to.
    fn run(&mut self, rules: Rules) {
        if !self.runner.run_whole(rules, self.memory) {
            self.watch.fail(StoreError::Memory);
        }
    }

    /// Walks until there is no more to do.
    fn work(mut self, plan: Plan, number: usize, book: &Mutex<Book>) {
        use std::sync::atomic::Ordering::Relaxed;
        loop {
            let walk = {
                let mut book = lock(book);
                if book.done || self.watch.stopped() {
                    break;
                }
                book.next += 1;
                book.next - 1
            };
            let walked = self.walk(plan.seed, walk, plan.length, None);
            let counters = &self.watch.counters[number];
            counters.states.fetch_add(walked.steps + 1, Relaxed);
            counters.expanded.fetch_add(walked.steps + 1, Relaxed);
            counters.fired.fetch_add(walked.steps, Relaxed);
            let mut book = lock(book);
            book.cover(walk, self.runner.machine.covered());
            book.waiting.insert(walk, walked);
            book.count();
        }
    }

    /// Walks one walk, writing down its steps if there is something to write on.
    fn walk(
        &mut self,
        seed: u64,
        number: u64,
        length: u64,
        mut steps: Option<&mut Vec<Step>>,
    ) -> Walk {
        let mut random = Rng::numbered(seed, number);
        let firings = vec![0; self.rules];
        let mut walk = Walk { steps: 0, firings, finding: None, stopped: false };
        self.run(Rules::Start);
        let failed = self.first_failure(Kind::StartFailed, Kind::StartFailed);
        if failed.is_some() {
            walk.stopped = self.watch.stopped();
            walk.finding = failed.filter(|_| !walk.stopped);
            return walk;
        }
        self.choices.clear();
        self.choices.extend(self.runner.done());
        for started in std::iter::once(false).chain(std::iter::repeat(true)) {
            let Some((check, firing)) = self.step(&mut random) else {
                break;
            };
            if started {
                walk.steps += 1;
                walk.firings[firing.rule as usize] += 1;
            }
            if let Some(steps) = &mut steps {
                let (rule, instance, state) = (firing.rule, firing.instance, &self.runner.state);
                steps.push(Step { rule, instance, state: state.clone() });
            }
            walk.finding = match check {
                Check::Broken(property) => Some(finding(Kind::Broken, property, 0)),
                Check::Failed(property) => Some(finding(Kind::PropertyFailed, property, 0)),
                _ => self.expand(),
            };
            if self.watch.stopped() {
                break;
            }
            if walk.finding.is_some() || walk.steps == length {
                return walk;
            }
        }
        if self.watch.stopped() {
            // What was cut short means nothing.
            (walk.stopped, walk.finding) = (true, None);
        }
        walk
    }

    /// Goes to one of the choices that no assumption excludes. `None` if there is none.
    fn step(&mut self, random: &mut Rng) -> Option<(Check, Firing)> {
        while !self.choices.is_empty() {
            let choice = self.choices.swap_remove(random.scaled(self.choices.len()));
            let check = self.runner.machine.check(self.runner.successors.state(choice));
            if check != Check::Excluded {
                self.runner.follow(choice);
                return Some((check, self.runner.successors.firings[choice]));
            }
        }
        None
    }

    /// Expands the state: choices of where to go, or what is wrong with it.
    fn expand(&mut self) -> Option<Finding> {
        self.run(Rules::Applying);
        let failed = self.first_failure(Kind::RuleFailed, Kind::GuardFailed);
        if failed.is_some() {
            return failed;
        }
        self.choices.clear();
        let runner = &self.runner;
        self.choices.extend(runner.done().filter(|&firing| runner.changes(firing)));
        let leaves = match self.deadlock {
            Deadlock::Off => true,
            Deadlock::Stuck => runner.done().next().is_some(),
            Deadlock::Stuttering => !self.choices.is_empty(),
        };
        (!leaves).then(|| finding(Kind::Deadlock, 0, 0))
    }

    /// The first rule that failed.
    fn first_failure(&self, rule: Kind, guard: Kind) -> Option<Finding> {
        self.runner.successors.firings.iter().find_map(|firing| match firing.outcome {
            Outcome::Failed => Some(finding(rule, firing.rule, firing.instance)),
            Outcome::GuardFailed => Some(finding(guard, firing.rule, firing.instance)),
            _ => None,
        })
    }
}

/// A finding at the end of a walk, which needs no packed state to be found again.
fn finding(kind: Kind, rule: u32, instance: u64) -> Finding {
    Finding { kind, packed: Vec::new(), rule, instance, stored: Vec::new() }
}
