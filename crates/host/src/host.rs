//! The host as a target of test programs.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

use chance::Rng;
use stress::{Action, Outcome, Program, RunResult, Runs, Target, TargetError};

use crate::arch;
use crate::cores;
use crate::job::{self, Job, Word};
use crate::tally::Tally;
use crate::timing::TimingTuner;
use crate::workers::{self, BASE, LINE, Order};

/// Memory for all instances of a test, in bytes: some fit the caches, some do not.
const ROOMS: [usize; 3] = [1 << 18, 1 << 20, 1 << 22];

/// Runs between two ways of laying out memory.
const ROUND: u64 = 1 << 16;

/// The most and the fewest instances of a batch.
const INSTANCES: (usize, usize) = (1 << 14, 1 << 4);

/// Distances between the lines of a test, in bytes.
pub(crate) const DISTANCES: [usize; 5] = [LINE, LINE, 2 * LINE, 3 * LINE, 4096 + LINE];

/// The most bytes that one instance may need.
pub(crate) const MOST: usize = 1 << 26;

/// This machine's cores.
#[derive(Debug)]
pub struct Host {
    cores: Vec<usize>,
    tuner: TimingTuner,
}

impl Host {
    /// The cores this process may use. Fails where races cannot be run: on one core, or on a
    /// processor for which there is no assembler.
    pub fn new() -> Result<Self, TargetError> {
        Self::on(cores::allowed())
    }

    /// These cores only.
    pub fn on(cores: Vec<usize>) -> Result<Self, TargetError> {
        arch::check().map_err(TargetError::Unavailable)?;
        if cores.len() < 2 {
            let why = "a race needs two cores, and this process may use only one";
            return Err(TargetError::Unavailable(why.into()));
        }
        Ok(Host { cores, tuner: TimingTuner::new() })
    }

    /// The cores in use.
    pub fn cores(&self) -> &[usize] {
        &self.cores
    }

    /// A core for each thread, others every time. Where there are more threads than cores, some
    /// share one.
    fn seats(&self, threads: usize, random: &mut Rng) -> Vec<usize> {
        let mut cores = self.cores.clone();
        random.shuffle(&mut cores);
        let mut seats: Vec<usize> = (0..threads).map(|at| cores[at % cores.len()]).collect();
        random.shuffle(&mut seats);
        seats
    }

    /// Runs jobs until all runs are done: a new one for every round.
    pub(crate) fn rounds(
        &mut self,
        runs: Runs<'_>,
        prepare: &dyn Fn(&mut Rng) -> Result<Job, TargetError>,
        receive: &mut dyn FnMut(Tally) -> ControlFlow<()>,
    ) -> Result<(), TargetError> {
        let mut random = Rng::new(runs.seed);
        self.tuner.turn_to_another_test();
        let enough = AtomicBool::new(false);
        let mut done = 0;
        while done < runs.count && !stopped(&[runs.stop, &enough]) {
            let job = prepare(&mut random)?;
            let count = ROUND.min(runs.count - done);
            let seats = self.seats(job.threads.len(), &mut random);
            let order = Order {
                job: &job,
                cores: &seats,
                runs: count,
                instances: instances(&job, count, &mut random),
                stride: if random.percent(50) { 1 } else { random.bits() as usize | 1 },
                first: done,
                seed: random.bits(),
                stops: [runs.stop, &enough],
            };
            std::thread::scope(|scope| {
                let (sender, receiver) = mpsc::channel();
                let tuner = &mut self.tuner;
                scope.spawn(move || workers::run(order, tuner, &sender));
                for tally in receiver {
                    if receive(tally).is_break() {
                        enough.store(true, Ordering::Relaxed);
                    }
                }
            });
            done += count;
        }
        Ok(())
    }
}

/// Whether one of these flags is set.
pub(crate) fn stopped(stops: &[&AtomicBool; 2]) -> bool {
    stops.iter().any(|stop| stop.load(Ordering::Relaxed))
}

/// The number of instances for `runs` runs.
fn instances(job: &Job, runs: u64, random: &mut Rng) -> usize {
    let room = ROOMS[random.below(ROOMS.len())];
    let (most, fewest) = INSTANCES;
    let wanted = (room / job.instance.max(1)).clamp(fewest, most);
    let needed = usize::try_from(runs).map_or(most, |runs| runs.min(most));
    wanted.min(needed.next_power_of_two()).next_power_of_two()
}

impl Target for Host {
    fn run(
        &mut self,
        program: &Program,
        runs: Runs<'_>,
        receive: &mut dyn FnMut(RunResult) -> ControlFlow<()>,
    ) -> Result<(), TargetError> {
        program.check()?;
        if program.threads.is_empty() {
            return Ok(());
        }
        let readers = program.readers().count();
        self.rounds(runs, &|random| prepare(program, random), &mut |tally| {
            tally.sorted().into_iter().try_for_each(|(values, times)| {
                let (reads, finals) = values.split_at(readers);
                let outcome = Outcome { reads: reads.into(), finals: Some(finals.into()) };
                receive(RunResult::Outcome(outcome, times))
            })
        })
    }
}

/// Assembles a program for one way of laying out its memory.
fn prepare(program: &Program, random: &mut Rng) -> Result<Job, TargetError> {
    let mut lines: Vec<u32> = program.places.iter().map(|place| place.line).collect();
    lines.sort_unstable();
    lines.dedup();
    let distance = DISTANCES[random.below(DISTANCES.len())];
    let instance = (lines.len() * distance).next_multiple_of(LINE);
    if instance > MOST {
        let why = format!("its addresses need {instance} bytes; the limit is {MOST}");
        return Err(TargetError::Unsuitable(why));
    }
    let mut seats: Vec<usize> = (0..lines.len()).collect();
    random.shuffle(&mut seats);
    let offset = |place: u32| {
        let place = &program.places[place as usize];
        let line = lines.binary_search(&place.line).expect("it is the line of a place");
        seats[line] * distance + usize::from(place.word) * 8
    };
    let assemble = |thread: &Vec<_>| arch::assemble(thread, &offset);
    let threads = program.threads.iter().map(assemble).collect::<Result<Vec<_>, _>>();
    let threads = threads.map_err(TargetError::Unavailable)?;
    let word = |(index, place): (usize, &stress::Place)| Word {
        offset: offset(index as u32),
        initial: place.initial,
    };
    let words: Vec<Word> = program.places.iter().enumerate().map(word).collect();
    let (lines, based) = (job::lines(&words), values_are_small(program));
    Ok(Job { threads, lines, words, instance, based })
}

/// Whether all values that a run could meet stay below the distance of bases.
fn values_are_small(program: &Program) -> bool {
    let initial = program.places.iter().map(|place| u128::from(place.initial));
    let actions = program.threads.iter().flatten().map(|instruction| match instruction.action {
        Action::Store { value, .. } | Action::Swap { value, .. } => u128::from(value),
        Action::FetchAdd { amount, .. } => u128::from(amount),
        Action::CompareAndSwap { expected, new, .. } => u128::from(expected) + u128::from(new),
        Action::Load { .. } | Action::Fence { .. } => 0,
    });
    initial.chain(actions).sum::<u128>() < u128::from(BASE)
}
